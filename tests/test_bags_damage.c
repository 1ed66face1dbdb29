/* test_bags_damage.c: bags that were cut short are read as far as they go; damaged ones are refused with a sentence. */
#include "bag_writer.h"

#include <covtune/source.h>

#define STEPS 60

static char path[512];

static void save(const bw *b, size_t n, const char *name)
{
    snprintf(path, sizeof path, "%s/%s", ct_test_folder(), name);
    bw_save(b, n, path);
}

static int64_t damage; /* that the last source said */

/* All records of /odom: their number, -1 if reading fails. Stamps must be those of the first ones. */
static int read_all(ct_err *err)
{
    ct_source *s = NULL;
    ct_source_options o = ct_source_defaults();
    ct_record r;
    int32_t x;
    int k = 0, more = 1;
    o.topic = "/odom";
    if (ct_source_open(path, &o, &s, err) != CT_OK) return -1;
    if (ct_source_select(s, "pose.pose.position.x", &x, err) != CT_OK) k = -1;
    while (k >= 0) {
        if (ct_source_next(s, &r, &more, err) != CT_OK)
            k = -1;
        else if (!more)
            break;
        else {
            CHECK(r.stamp == bag_stamp(k) && r.value[x] == bag_value(k, 0));
            k++;
        }
    }
    damage = ct_source_count(s).damaged;
    ct_source_free(s);
    return k;
}

/* Where the first record with this opcode begins. */
static size_t find_mcap(const bw *b, int op)
{
    size_t at = 8;
    while (at + 9 < b->n && b->b[at] != op) {
        uint64_t size = 0;
        for (int i = 0; i < 8; i++) size |= (uint64_t)b->b[at + 1 + (size_t)i] << 8 * i;
        at += 9 + size;
    }
    return at;
}

/* Cut at every place, or every few: never a failure but at the very beginning, never a wrong value, more bytes never
 * give fewer messages. */
static void cut_everywhere(const bw *b, const char *name, size_t from, size_t step)
{
    int64_t before = 0;
    for (size_t n = from; n < b->n; n += step) {
        ct_err err = {0};
        ct_bag *bag = NULL;
        save(b, n, name);
        CHECK_OK(ct_bag_read(path, &bag, &err), err);
        if (!bag) return;
        CHECK(bag->messages >= before && bag->damaged >= 0 && bag->damaged <= (int64_t)n);
        before = bag->messages;
        int64_t odometry = 0;
        for (int32_t i = 0; i < bag->topics; i++)
            if (!strcmp(bag->topic[i].name, "/odom")) odometry = bag->topic[i].count;
        if (bag->topics) CHECK(read_all(&err) == odometry);
        ct_bag_free(bag);
    }
    CHECK(before > 0);
}

static void test_cut_mcap_gives_its_whole_records(void)
{
    bag_run run = bag_run_new(BAG_CDR, STEPS);
    for (int way = 0; way < 2; way++) {
        bw b = mcap_write(&run, &(mcap_options){.codec = "", .per_chunk = way ? 7 : 0, .no_statistics = way});
        cut_everywhere(&b, "cut.mcap", 8, ct_test_slow() ? 5003 : 401);
        const size_t whole = find_mcap(&b, 15);
        ct_err err = {0};
        ct_bag *bag = NULL;
        save(&b, whole - 3, "cut.mcap"); /* within the last record before DataEnd */
        CHECK_OK(ct_bag_read(path, &bag, &err), err);
        CHECK(bag && bag->damaged > 0 && (way || bag->messages == run.messages - 1));
        CHECK(read_all(&err) >= 0 && bag && damage == bag->damaged); /* an import says so */
        ct_bag_free(bag);
        save(&b, whole, "cut.mcap");
        CHECK_OK(ct_bag_read(path, &bag, &err), err);
        CHECK(bag && bag->damaged == 0 && bag->messages == run.messages);
        CHECK(read_all(&err) >= 0 && damage == 0);
        ct_bag_free(bag);
        free(b.b);
    }
    bag_run_free(&run);
}

static void test_cut_ros1_bags_give_their_whole_records(void)
{
    bag_run run = bag_run_new(BAG_ROS1, STEPS);
    bw b = ros1_write(&run, &(ros1_options){"none", 7, 0, 0});
    cut_everywhere(&b, "cut.bag", 13, ct_test_slow() ? 5003 : 401);
    free(b.b);
    bag_run_free(&run);
}

/* A file of one chunk: the messages before the cut are read, of compressed chunks those that can be decompressed. */
static void test_cut_chunks_give_their_whole_messages(void)
{
    bag_run cdr = bag_run_new(BAG_CDR, 600), ros1 = bag_run_new(BAG_ROS1, 600);
    for (int way = 0; way < 5; way++) {
        const char *codec = (const char *const[]){"", "lz4", "zstd", "none", "lz4"}[way];
        bw probe = {0};
        const int has = bw_pack(&probe, (const uint8_t *)"", 0, codec);
        free(probe.b);
        if (!has) continue;
        bw b = way < 3 ? mcap_write(&cdr, &(mcap_options){.codec = codec, .per_chunk = 1 << 20})
                       : ros1_write(&ros1, &(ros1_options){codec, 1 << 20, 0, 0});
        for (int tenth = 5; tenth < 10; tenth++) {
            ct_err err = {0};
            ct_bag *bag = NULL;
            save(&b, b.n / 10 * (size_t)tenth, way < 3 ? "chunk.mcap" : "chunk.bag");
            CHECK_OK(ct_bag_read(path, &bag, &err), err);
            if (!bag) continue;
            CHECK(bag->topics == BAG_TOPICS && bag->messages > cdr.messages / 5);
            CHECK(bag->messages < cdr.messages || tenth > 6); /* behind the chunk lie its indexes */
            CHECK(bag->damaged > 0 && (way % 3 || bag->damaged < 2000)); /* less than a message, where it is exact */
            CHECK(read_all(&err) == bag->topic[1].count);
            ct_bag_free(bag);
        }
        free(b.b);
    }
    bag_run_free(&cdr);
    bag_run_free(&ros1);
}

/* A recorder writes the length of a chunk when it ends. One that was killed leaves an empty chunk, and its records
 * after it. */
static void test_ros1_records_outside_of_chunks(void)
{
    bag_run run = bag_run_new(BAG_ROS1, STEPS);
    bw out = {0}, h = {0};
    bw_put(&out, "#ROSBAG V2.0\n", 13);
    ros1_bag_header(&out, 0, 0, 0);
    ros1_number(&h, "op", 5, 1);
    ros1_field(&h, "compression", "none", 4);
    ros1_number(&h, "size", 0, 4);
    ros1_record(&out, &h, "", 0);
    for (int t = 0; t < BAG_TOPICS; t++) ros1_connection(&out, t, &BAG_TOPIC[t]);
    for (int i = 0; i < run.messages; i++) {
        const bag_message *m = &run.message[i];
        h.n = 0;
        ros1_number(&h, "op", 2, 1);
        ros1_number(&h, "conn", (uint64_t)m->topic, 4);
        ros1_time(&h, "time", m->log);
        ros1_record(&out, &h, m->bytes, m->size);
    }
    ct_err err = {0};
    save(&out, out.n, "active.bag");
    CHECK(read_all(&err) == STEPS);
    save(&out, out.n - 10, "active.bag");
    CHECK(read_all(&err) >= STEPS - 1);
    free(out.b);
    free(h.b);
    bag_run_free(&run);
}

static void check_refused(const bw *b, const char *name, const char *part)
{
    ct_err err = {0};
    ct_bag *bag = NULL;
    save(b, b->n, name);
    CHECK_REFUSED(ct_bag_read(path, &bag, &err), err, part);
    CHECK(bag == NULL && strstr(err.text, name));
    ct_bag_free(bag);
}

static void test_checksums_of_mcap(void)
{
    bag_run run = bag_run_new(BAG_CDR, STEPS);
    ct_err err = {0};
    bw b = mcap_write(&run, &(mcap_options){.codec = "", .per_chunk = 7, .data_crc = 1});
    save(&b, b.n, "crc.mcap");
    CHECK(read_all(&err) == STEPS);
    const size_t chunk = find_mcap(&b, 6), inside = chunk + 9 + 40 + 6000;
    b.b[inside] ^= 1; /* within the data of a message */
    check_refused(&b, "crc.mcap", "the data section is damaged: its CRC-32 is");
    CHECK(read_all(&err) == -1 && strstr(err.text, "the chunk that begins here is damaged: its CRC-32 is"));
    b.b[inside] ^= 1;
    const size_t summary = find_mcap(&b, 15) + 13;
    b.b[summary + 30] ^= 1;
    check_refused(&b, "crc.mcap", "the summary is damaged: its CRC-32 is");
    free(b.b);
    b = mcap_write(&run, &(mcap_options){.codec = "", .per_chunk = 7});
    b.b[inside] ^= 1;
    check_refused(&b, "crc.mcap", "byte 50: the chunk that begins here is damaged: its CRC-32 is");
    free(b.b);
    b = mcap_write(&run, &(mcap_options){.codec = "", .per_chunk = 7, .no_summary = 1});
    b.b[inside] ^= 1;
    check_refused(&b, "crc.mcap", "its CRC-32 is");
    free(b.b);
    bag_run_free(&run);
}

static void test_unknown_compression_is_named(void)
{
    bag_run cdr = bag_run_new(BAG_CDR, STEPS), ros1 = bag_run_new(BAG_ROS1, STEPS);
    for (int way = 0; way < 2; way++) {
        bw b = mcap_write(&cdr, &(mcap_options){.codec = "snappy", .per_chunk = 7, .no_summary = way});
        check_refused(&b, "odd.mcap", "compressed by \"snappy\"; read are none, lz4, zstd");
        free(b.b);
        b = ros1_write(&ros1, &(ros1_options){"snappy", 7, way, 0});
        check_refused(&b, "odd.bag", "compressed by \"snappy\"; read are none, bz2 and lz4");
        free(b.b);
    }
    bag_run_free(&cdr);
    bag_run_free(&ros1);
}

/* A length that no file has, at every place of the first chunk's head and of the summary, ends in a sentence or in the
 * right values. */
static void test_hostile_lengths(void)
{
    bag_run run = bag_run_new(BAG_CDR, 12);
    for (int way = 0; way < 2; way++) {
        bw b = mcap_write(&run, &(mcap_options){.codec = "", .per_chunk = 7, .no_crc = 1, .no_summary = way});
        const size_t chunk = find_mcap(&b, 6), end = find_mcap(&b, 15);
        for (size_t at = chunk; at + 8 < b.n; at += at > chunk + 60 && at < end ? 499 : 3) {
            uint8_t old[8];
            ct_err err = {0};
            ct_bag *bag = NULL;
            memcpy(old, b.b + at, 8);
            bw_set(&b, at, at % 2 ? UINT64_MAX : 0x0000000100000000ull, 8);
            save(&b, b.n, "hostile.mcap");
            if (ct_bag_read(path, &bag, &err) != CT_OK) CHECK(err.text[0] && err.status != CT_E_MEMORY);
            ct_bag_free(bag);
            memcpy(b.b + at, old, 8);
        }
        free(b.b);
    }
    bag_run_free(&run);
}

static void test_other_versions(void)
{
    bw b = {0};
    bw_put(&b, "#ROSBAG V1.2\nxxxxxxxxxx", 23);
    check_refused(&b, "old.bag", "another version than 2.0");
    b.n = 0;
    bw_put(&b, "\x89MCAP1\r\nxxx", 11);
    check_refused(&b, "new.mcap", "MCAP of version 0");
    b.n = 0;
    bw_put(&b, "SQLite format 3\0nothing of it", 28);
    check_refused(&b, "no.db3", "SQLite");
    free(b.b);
}

static void test_encodings_that_are_not_decoded(void)
{
    bag_run run = bag_run_new(BAG_CDR, 12);
    ct_err err = {0};
    bw b = mcap_write(&run, &(mcap_options){.codec = "", .per_chunk = 7, .encoding = "protobuf", .schema = "protobuf"});
    save(&b, b.n, "proto.mcap");
    CHECK(read_all(&err) == -1 && strstr(err.text, "encoded as \"protobuf\""));
    free(b.b);
    b = mcap_write(&run, &(mcap_options){.codec = "", .per_chunk = 7, .text = {"pkg/Missing a\n"}});
    save(&b, b.n, "proto.mcap");
    CHECK(read_all(&err) == -1 && strstr(err.text, "type pkg/Missing of nav_msgs/Odometry.a is not defined"));
    free(b.b);
    /* a message that ends early names its place */
    run.message[4].size -= 400; /* odometry: 0, 3, 4, ... */
    b = mcap_write(&run, &(mcap_options){.codec = "", .per_chunk = 7});
    save(&b, b.n, "short.mcap");
    err.text[0] = 0;
    ct_source *s = NULL;
    ct_source_options o = ct_source_defaults();
    ct_record r;
    int32_t x;
    int more = 1, k = 0;
    o.topic = BAG_TOPIC[run.message[4].topic].topic;
    CHECK_OK(ct_source_open(path, &o, &s, &err), err);
    CHECK_OK(ct_source_select(s, "twist.covariance[35]", &x, &err), err);
    while (ct_source_next(s, &r, &more, &err) == CT_OK && more) k++;
    CHECK(k >= 1 && strstr(err.text, "short.mcap: /odom, message ") && strstr(err.text, "does not fit its type"));
    ct_source_free(s);
    free(b.b);
    bag_run_free(&run);
}

int main(void)
{
    RUN(test_cut_mcap_gives_its_whole_records);
    RUN(test_cut_ros1_bags_give_their_whole_records);
    RUN(test_cut_chunks_give_their_whole_messages);
    RUN(test_ros1_records_outside_of_chunks);
    RUN(test_checksums_of_mcap);
    RUN(test_unknown_compression_is_named);
    RUN(test_hostile_lengths);
    RUN(test_other_versions);
    RUN(test_encodings_that_are_not_decoded);
    return ct_test_end();
}
