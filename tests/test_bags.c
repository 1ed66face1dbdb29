/* test_bags.c: one recording in every container and compression gives the same records. */
#include "bag_writer.h"

#include "source/bag.h"

#include <sys/stat.h>

#define STEPS 200

static char path_buf[512];
static const char *scratch(const char *name)
{
    snprintf(path_buf, sizeof path_buf, "%s/%s", ct_test_folder(), name);
    return path_buf;
}

/* ---- What must be read ---- */

static void check_topic(const ct_bag *bag, const char *name, int64_t count, int64_t first, int64_t last)
{
    for (int32_t i = 0; i < bag->topics; i++) {
        if (strcmp(bag->topic[i].name, name) != 0) continue;
        CHECK(bag->topic[i].count == count);
        CHECK(bag->topic[i].first == first);
        CHECK(bag->topic[i].last == last);
        return;
    }
    CHECK(!"the topic is listed");
}

static void check_info(const char *path, ct_source_format format, const char *compression)
{
    ct_err err = {0};
    ct_bag *bag = NULL;
    CHECK(ct_bag_is(path));
    CHECK_OK(ct_bag_read(path, &bag, &err), err);
    if (!bag) return;
    const int last_tf = (STEPS - 1) / 2 * 2, last_fix = (STEPS - 1) / 5 * 5;
    CHECK(bag->format == format);
    CHECK(!strcmp(bag->compression, compression));
    CHECK(bag->topics == BAG_TOPICS && bag->damaged == 0);
    CHECK(bag->messages == STEPS + STEPS / 2 + STEPS / 5);
    CHECK(!strcmp(bag->topic[0].name, "/fix") && !strcmp(bag->topic[2].name, "/tf")); /* by name */
    check_topic(bag, "/odom", STEPS, bag_log(0), bag_log(STEPS - 1));
    check_topic(bag, "/tf", STEPS / 2, bag_log(0) + 200, bag_log(last_tf) + 200);
    check_topic(bag, "/fix", STEPS / 5, bag_log(0) + 100, bag_log(last_fix) + 100);
    ct_bag_free(bag);
}

/* Counts from the index, which ct_bag_read uses for large files, are those of a scan. */
static void check_index(const char *path, ct_source_format format)
{
    ct_err err = {0};
    ct__bag *a = NULL, *b = NULL;
    CHECK_OK(ct__bag_open(path, format, CT__COUNTS, &a, &err), err);
    CHECK_OK(ct__bag_open(path, format, CT__COUNTS_AND_CHECKSUMS, &b, &err), err);
    CHECK(a && b && a->connections == b->connections && a->damaged == b->damaged && a->codecs == b->codecs);
    for (int64_t i = 0; a && b && i < a->connections && i < b->connections; i++) {
        const ct__connection *x = &a->connection[i], *y = &b->connection[i];
        CHECK(!strcmp(x->topic, y->topic) && !strcmp(x->definition, y->definition));
        CHECK(x->count == y->count && x->first == y->first && x->last == y->last);
    }
    ct__bag_close(a);
    ct__bag_close(b);
}

static ct_source *open_topic(const char *path, const char *topic, const char *each)
{
    ct_err err = {0};
    ct_source *source = NULL;
    ct_source_options options = ct_source_defaults();
    options.topic = topic;
    options.each = each;
    CHECK_OK(ct_source_open(path, &options, &source, &err), err);
    return source;
}

static void check_odometry(const char *path)
{
    ct_err err = {0};
    ct_source *s = open_topic(path, "/odom", NULL);
    ct_record r;
    int32_t x, z, w, c, log, frame, child;
    int k = 0, more = 1;
    if (!s) return;
    CHECK_OK(ct_source_select(s, "twist.twist.angular.z", &w, &err), err); /* later fields first */
    CHECK_OK(ct_source_select(s, "pose.pose.position.x", &x, &err), err);
    CHECK_OK(ct_source_select(s, "pose.pose.orientation.z", &z, &err), err);
    CHECK_OK(ct_source_select(s, "pose.covariance[7]", &c, &err), err);
    CHECK_OK(ct_source_select(s, "(log_time - header.stamp) * 1000", &log, &err), err);
    CHECK_OK(ct_source_select_text(s, "header.frame_id", &frame, &err), err);
    CHECK_OK(ct_source_select_text(s, "child_frame_id", &child, &err), err);
    for (; more; k++) {
        CHECK_OK(ct_source_next(s, &r, &more, &err), err);
        if (!more || err.text[0]) break;
        CHECK(r.stamp == bag_stamp(k) && r.line == k + 1);
        CHECK(r.value[x] == bag_value(k, 0) && r.value[z] == bag_value(k, 5));
        CHECK(r.value[c] == bag_value(k, 7 + 7) && r.value[w] == bag_value(k, 7 + 36 + 5));
        CHECK_NEAR(r.value[log], 1.5 + 0.001 * (k % 5), 1e-3);
        CHECK(!strcmp(r.text[frame], "odom") && !strcmp(r.text[child], k % 2 ? "base" : "base_link"));
    }
    CHECK(k == STEPS);
    ct_source_free(s);
}

static void check_fix(const char *path)
{
    ct_err err = {0};
    ct_source *s = open_topic(path, "/fix", NULL);
    ct_record r;
    int32_t status, service, latitude, type;
    int k = 0, more = 1;
    if (!s) return;
    CHECK_OK(ct_source_select(s, "status.status", &status, &err), err);
    CHECK_OK(ct_source_select(s, "status.service", &service, &err), err);
    CHECK_OK(ct_source_select(s, "latitude", &latitude, &err), err);
    CHECK_OK(ct_source_select(s, "position_covariance_type", &type, &err), err);
    for (; more; k += 5) {
        CHECK_OK(ct_source_next(s, &r, &more, &err), err);
        if (!more || err.text[0]) break;
        CHECK(r.stamp == bag_stamp(k));
        CHECK(r.value[status] == -1 && r.value[service] == 513 && r.value[type] == 2);
        CHECK(r.value[latitude] == bag_value(k, 0));
    }
    CHECK(k == STEPS);
    ct_source_free(s);
}

static void check_transforms(const char *path)
{
    ct_err err = {0};
    ct_source *s = open_topic(path, "/tf", "transforms");
    ct_record r;
    int32_t x, w, second, child;
    int more = 1, records = 0;
    if (!s) return;
    CHECK_OK(ct_source_select(s, "transform.translation.x", &x, &err), err);
    CHECK_OK(ct_source_select(s, "transform.rotation.w", &w, &err), err);
    CHECK_OK(ct_source_select(s, "^.transforms[1].transform.translation.y", &second, &err), err);
    CHECK_OK(ct_source_select_text(s, "child_frame_id", &child, &err), err);
    for (int k = 0; k < STEPS; k += 2)
        for (int j = 0; j < k % 3; j++, records++) {
            CHECK_OK(ct_source_next(s, &r, &more, &err), err);
            if (!more || err.text[0]) goto end;
            CHECK(r.stamp == bag_stamp(k) + j && r.line == k / 2 + 1);
            CHECK(r.value[x] == bag_value(k, 0) + 10 * j && r.value[w] == bag_value(k, 6) + 10 * j);
            CHECK(k % 3 == 2 ? r.value[second] == bag_value(k, 1) + 10 : isnan(r.value[second]));
            CHECK(!strcmp(r.text[child], j ? "camera" : "base"));
        }
end:
    CHECK(more);
    CHECK_OK(ct_source_next(s, &r, &more, &err), err);
    CHECK(!more);
    CHECK(ct_source_count(s).records == records);
    ct_source_free(s);
}

static void check_bag(const char *path, ct_source_format format, const char *compression)
{
    char own[512];
    snprintf(own, sizeof own, "%s", path);
    check_info(own, format, compression);
    check_index(own, format);
    check_odometry(own);
    check_fix(own);
    check_transforms(own);
}

static int has(const char *codec)
{
    bw w = {0};
    const int yes = bw_pack(&w, (const uint8_t *)"x", 1, codec);
    free(w.b);
    return yes;
}

/* Messages of one chunk, and of two that follow each other, in another order than that of their times. */
static void shuffle(bag_run *run)
{
    for (int i = 0; i + 3 < run->messages; i += 3) {
        const bag_message m = run->message[i];
        run->message[i] = run->message[i + 3];
        run->message[i + 3] = m;
    }
}

/* ---- Containers ---- */

static void test_ros1_bags(void)
{
    bag_run run = bag_run_new(BAG_ROS1, STEPS);
    for (int way = 0; way < 16; way++) {
        const char *codec = (const char *const[]){"none", "bz2", "lz4", "none"}[way % 4];
        const ros1_options o = {codec, way % 4 == 3 ? 1 : 37, way / 4 % 2, way / 8};
        if (!has(codec)) continue;
        bw b = ros1_write(&run, &o);
        bw_save(&b, b.n, scratch("run.bag"));
        check_bag(scratch("run.bag"), CT_SOURCE_ROS1, codec);
        free(b.b);
    }
    bag_run_free(&run);
}

static void test_mcap_files(void)
{
    for (bag_encoding e = BAG_ROS1; e <= BAG_CDR_BIG; e++) {
        bag_run run = bag_run_new(e, STEPS);
        for (int way = 0; way < 28; way++) {
            const char *codec = (const char *const[]){"", "lz4", "zstd", ""}[way % 4];
            const mcap_options o = {.codec = codec,
                                    .per_chunk = way % 4 == 3 ? 0 : 29,
                                    .no_summary = way / 4 == 1,
                                    .no_index = way / 4 == 2,
                                    .no_crc = way / 4 == 3,
                                    .no_statistics = way / 4 == 4,
                                    .data_crc = way / 4 == 5,
                                    .no_schemas = way / 4 == 6};
            if (!has(codec)) continue;
            bw b = mcap_write(&run, &o);
            bw_save(&b, b.n, scratch("run.mcap"));
            check_bag(scratch("run.mcap"), CT_SOURCE_MCAP, *codec ? codec : "none");
            free(b.b);
        }
        bag_run_free(&run);
    }
}

static void test_messages_come_in_the_order_of_their_times(void)
{
    bag_run ros1 = bag_run_new(BAG_ROS1, STEPS), cdr = bag_run_new(BAG_CDR, STEPS);
    shuffle(&ros1);
    shuffle(&cdr);
    for (int way = 0; way < 4; way++) {
        bw b = ros1_write(&ros1, &(ros1_options){"none", way < 2 ? 7 : 1, way % 2, 0});
        bw_save(&b, b.n, scratch("run.bag"));
        check_bag(scratch("run.bag"), CT_SOURCE_ROS1, "none");
        free(b.b);
        b = mcap_write(&cdr, &(mcap_options){.codec = "", .per_chunk = way < 2 ? 7 : 0, .no_summary = way % 2});
        bw_save(&b, b.n, scratch("run.mcap"));
        check_bag(scratch("run.mcap"), CT_SOURCE_MCAP, "none");
        free(b.b);
    }
    bag_run_free(&ros1);
    bag_run_free(&cdr);
}

#if COVTUNE_HAS_SQLITE3
static void test_sqlite_bags(void)
{
    for (bag_encoding e = BAG_CDR; e <= BAG_CDR_BIG; e++) {
        bag_run run = bag_run_new(e, STEPS);
        shuffle(&run);
        for (int version = 1; version <= 4; version++) { /* before 4 without definitions: the types are known */
            sqlite_write(&run, &(sqlite_options){.version = version}, scratch("run.db3"));
            check_bag(scratch("run.db3"), CT_SOURCE_ROS2, "none");
        }
        bag_run_free(&run);
    }
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0) abort();
}

static void write_metadata(const char *folder, const char *storage, const char *mode, int files, const char *ending)
{
    char text[4096], path[600];
    int n =
        snprintf(text, sizeof text,
                 "rosbag2_bagfile_information:\n  version: 5\n  storage_identifier: %s\n  compression_format: \"%s\"\n"
                 "  compression_mode: \"%s\"\n  relative_file_paths:\n",
                 storage, *mode ? "zstd" : "", mode);
    for (int i = 0; i < files; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "    - old_folder/run_%d.%s\n", i, ending);
    snprintf(path, sizeof path, "%s/metadata.yaml", folder);
    write_text(path, text);
}

static void compress_file(const char *path)
{
    bw raw = {0}, packed = {0};
    char to[700];
    FILE *file = fopen(path, "rb");
    for (int c; file && (c = fgetc(file)) != EOF;) bw_int(&raw, (uint64_t)c, 1);
    if (!file || fclose(file) != 0 || !bw_pack(&packed, raw.b, raw.n, "zstd")) abort();
    snprintf(to, sizeof to, "%s.zstd", path);
    bw_save(&packed, packed.n, to);
    remove(path);
    free(raw.b);
    free(packed.b);
}

/* A folder of 12 files, which follow each other or (overlap) have every 12th message. */
static void write_parts(const bag_run *run, const char *folder, int zstd, int compress)
{
    const int parts = 12, each = run->messages / parts + 1;
    for (int i = 0; i < parts; i++) {
        char path[600];
        const int from = i * each, to = (i + 1) * each < run->messages ? (i + 1) * each : run->messages;
        snprintf(path, sizeof path, "%s/run_%d.db3", folder, i);
        sqlite_write(run, &(sqlite_options){.version = 3, .zstd = zstd, .from = from, .to = to}, path);
        if (compress) compress_file(path);
    }
}

static void clear_folder(const char *folder)
{
    char command[700];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0 || mkdir(folder, 0777) != 0) abort();
}

static void test_folders_of_ros2(void)
{
    bag_run run = bag_run_new(BAG_CDR, STEPS);
    char folder[512];
    snprintf(folder, sizeof folder, "%s", scratch("folder"));
    clear_folder(folder);
    write_parts(&run, folder, 0, 0);
    check_bag(folder, CT_SOURCE_ROS2, "none"); /* a recorder that was killed leaves no metadata.yaml */
    write_metadata(folder, "sqlite3", "", 12, "db3");
    check_bag(folder, CT_SOURCE_ROS2, "none");
    if (has("zstd")) {
        clear_folder(folder);
        write_parts(&run, folder, 1, 0);
        write_metadata(folder, "sqlite3", "MESSAGE", 12, "db3");
        check_bag(folder, CT_SOURCE_ROS2, "zstd");
        clear_folder(folder);
        write_parts(&run, folder, 0, 1);
        write_metadata(folder, "sqlite3", "FILE", 12, "db3.zstd");
        check_bag(folder, CT_SOURCE_ROS2, "zstd");
    }
    clear_folder(folder);
    shuffle(&run); /* so that the files overlap in time */
    write_parts(&run, folder, 0, 0);
    write_metadata(folder, "sqlite3", "", 12, "db3");
    check_bag(folder, CT_SOURCE_ROS2, "none");
    bag_run_free(&run);
}

/* MCAP files, with messages as they are or compressed one by one. */
static void test_folders_of_mcap(void)
{
    for (int zstd = 0; zstd < 1 + has("zstd"); zstd++) {
        bag_run run = bag_run_new(BAG_CDR, STEPS);
        char folder[512];
        snprintf(folder, sizeof folder, "%s", scratch("folder"));
        clear_folder(folder);
        for (int i = 0; i < run.messages && zstd; i++) {
            bw packed = {0};
            if (!bw_pack(&packed, run.message[i].bytes, run.message[i].size, "zstd")) abort();
            free(run.message[i].bytes);
            run.message[i].bytes = packed.b;
            run.message[i].size = packed.n;
        }
        for (int i = 0; i < 3; i++) {
            char path[600];
            const bag_run part = {run.encoding, run.message + i * (run.messages / 3),
                                  i < 2 ? run.messages / 3 : run.messages - 2 * (run.messages / 3)};
            bw b = mcap_write(&part, &(mcap_options){.codec = "", .per_chunk = 9});
            snprintf(path, sizeof path, "%s/run_%d.mcap", folder, i);
            bw_save(&b, b.n, path);
            free(b.b);
        }
        if (!zstd) check_bag(folder, CT_SOURCE_MCAP, "none");
        write_metadata(folder, "mcap", zstd ? "message" : "", 3, "mcap");
        check_bag(folder, CT_SOURCE_MCAP, zstd ? "zstd" : "none");
        bag_run_free(&run);
    }
}

static void test_folders_are_refused_with_a_reason(void)
{
    ct_err err = {0};
    ct_bag *bag = NULL;
    char folder[512], file[600];
    snprintf(folder, sizeof folder, "%s", scratch("folder"));
    snprintf(file, sizeof file, "%s/metadata.yaml", folder);
    clear_folder(folder);
    CHECK(!ct_bag_is(folder));
    CHECK_REFUSED(ct_bag_read(folder, &bag, &err), err, "no ROS 2 bag");
    write_metadata(folder, "sqlite3", "", 1, "db3");
    CHECK_REFUSED(ct_bag_read(folder, &bag, &err), err, "run_0.db3: is not there");
    write_metadata(folder, "rocksdb", "", 1, "db3");
    CHECK_REFUSED(ct_bag_read(folder, &bag, &err), err, "rocksdb");
    write_text(file, "rosbag2_bagfile_information:\n  version: [5\n");
    CHECK_REFUSED(ct_bag_read(folder, &bag, &err), err, "metadata.yaml:3:");
    write_text(file, "rosbag2_bagfile_information: {storage_identifier: mcap, compression_mode: FILE, "
                     "compression_format: brotli}\n");
    CHECK_REFUSED(ct_bag_read(folder, &bag, &err), err, "brotli");
    CHECK(bag == NULL);
}
#endif

static void test_topics_are_found_or_named(void)
{
    bag_run run = bag_run_new(BAG_CDR, 5);
    bw b = mcap_write(&run, &(mcap_options){.codec = "", .per_chunk = 10});
    ct_err err = {0};
    ct_source *s = NULL;
    ct_source_options o = ct_source_defaults();
    int32_t at;
    bw_save(&b, b.n, scratch("run.mcap"));
    CHECK_REFUSED(ct_source_open(scratch("run.mcap"), &o, &s, &err), err,
                  "several topics, and none is named: topic is one of /odom, /fix");
    o.topic = "/odmo";
    CHECK_REFUSED(ct_source_open(scratch("run.mcap"), &o, &s, &err), err, "is it /odom?");
    o.topic = "/tf";
    o.each = "transform";
    CHECK_REFUSED(ct_source_open(scratch("run.mcap"), &o, &s, &err), err, "no field transform");
    o.each = "transforms[0].header";
    CHECK_REFUSED(ct_source_open(scratch("run.mcap"), &o, &s, &err), err, "is no array but std_msgs/Header");
    o.each = NULL;
    CHECK_OK(ct_source_open(scratch("run.mcap"), &o, &s, &err), err);
    CHECK(ct_source_fields(s) == 12);
    CHECK(!strcmp(ct_source_field_at(s, 0)->name, "transforms[]"));
    CHECK(!strcmp(ct_source_field_at(s, 1)->name, "transforms[].header.stamp"));
    CHECK(!strcmp(ct_source_field_at(s, 1)->type, "time"));
    CHECK_REFUSED(ct_source_select(s, "transforms", &at, &err), err, "name an element, transforms[0]");
    CHECK_REFUSED(ct_source_select(s, "transforms[0].header", &at, &err), err, "name a field of it");
    CHECK_REFUSED(ct_source_select(s, "transforms[0].header.stampp", &at, &err), err, "is it");
    ct_source_free(s);
    free(b.b);
    bag_run_free(&run);
}

/* Messages as JSON; fields are those of the first. A time by an integer field is exact. */
static void test_json_topics(void)
{
    bag_run run = {.encoding = BAG_CDR};
    bw w = {0};
    for (int k = 0; k < 5; k++) {
        char text[256];
        const int n = snprintf(text, sizeof text, "{\"t\": %lld, \"v\": [%d, 0.5], \"who\": \"r%d\"}",
                               (long long)bag_stamp(k), k, k);
        w.n = 0;
        bw_put(&w, text, (size_t)n);
        bag_run_add(&run, 0, bag_log(k), &w);
    }
    bw b = mcap_write(&run, &(mcap_options){.codec = "", .per_chunk = 2, .schema = "jsonschema", .encoding = "json"});
    bw_save(&b, b.n, scratch("json.mcap"));
    ct_err err = {0};
    ct_source *s = NULL;
    ct_source_options o = ct_source_defaults();
    ct_record r;
    int32_t v, who;
    int more = 1;
    o.topic = "/odom";
    o.time = "t in ns";
    o.where = "who != 'r3'";
    CHECK_OK(ct_source_open(scratch("json.mcap"), &o, &s, &err), err);
    CHECK(ct_source_fields(s) == 4 && !strcmp(ct_source_field_at(s, 2)->name, "who"));
    CHECK_OK(ct_source_select(s, "v[0] + v[1]", &v, &err), err);
    CHECK_OK(ct_source_select_text(s, "who", &who, &err), err);
    for (int k = 0; k < 5; k++) {
        if (k == 3) continue;
        CHECK_OK(ct_source_next(s, &r, &more, &err), err);
        CHECK(more && r.stamp == bag_stamp(k) && r.value[v] == k + 0.5 && r.text[who][1] == '0' + k);
    }
    CHECK_OK(ct_source_next(s, &r, &more, &err), err);
    CHECK(!more);
    ct_source_free(s);
    free(b.b);
    free(w.b);
    bag_run_free(&run);
}

static void test_names_with_control_characters_are_shown_without(void)
{
    bag_run run = bag_run_new(BAG_CDR, 5);
    bw b = mcap_write(&run, &(mcap_options){.codec = "", .per_chunk = 0, .no_summary = 1, .no_crc = 1});
    ct_err err = {0};
    ct_bag *bag = NULL;
    for (size_t i = 0; i + 5 < b.n; i++)
        if (!memcmp(b.b + i, "/odom", 5)) b.b[i + 1] = 27;
    bw_save(&b, b.n, scratch("escape.mcap"));
    CHECK_OK(ct_bag_read(scratch("escape.mcap"), &bag, &err), err);
    CHECK(bag && !strcmp(bag->topic[0].name, "/?dom"));
    ct_bag_free(bag);
    free(b.b);
    bag_run_free(&run);
}

int main(void)
{
    RUN(test_ros1_bags);
    RUN(test_mcap_files);
    RUN(test_messages_come_in_the_order_of_their_times);
#if COVTUNE_HAS_SQLITE3
    RUN(test_sqlite_bags);
    RUN(test_folders_of_ros2);
    RUN(test_folders_of_mcap);
    RUN(test_folders_are_refused_with_a_reason);
#endif
    RUN(test_topics_are_found_or_named);
    RUN(test_json_topics);
    RUN(test_names_with_control_characters_are_shown_without);
    return ct_test_end();
}
