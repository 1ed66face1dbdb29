/* test_bags_large.c: memory does not grow with a bag. An MCAP file with odometry and a topic of large messages that
 * nobody asks for: COVTUNE_BAG_MB megabytes, 96 if that is not set. Speed is printed. */
#define _POSIX_C_SOURCE 200809L
#include "bag_writer.h"

#include <covtune/source.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS_PER_CHUNK 10 /* each: 100 odometry messages, a fix, a message of transforms of 100 kB */

static long peak_mb(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;
}

static void flush(bw *out, FILE *file)
{
    if (fwrite(out->b, 1, out->n, file) != out->n) abort();
    out->before += out->n;
    out->n = 0;
}

/* A chunk's messages, of steps k, k + 1, ... */
static bag_run make_round(int *k)
{
    bag_run run = {.encoding = BAG_CDR};
    bw w = {0};
    for (int r = 0; r < ROUNDS_PER_CHUNK; r++) {
        for (int i = 0; i < 100; i++, (*k)++) {
            bag_odometry(&w, BAG_CDR, *k);
            bag_run_add(&run, 0, bag_log(*k), &w);
        }
        bag_fix(&w, BAG_CDR, *k);
        bag_run_add(&run, 1, bag_log(*k), &w);
        bag_transforms(&w, BAG_CDR, 0);
        for (int i = 0; i < 25000; i++) bw_int(&w, (uint64_t)(i * 7919) * (uint64_t)*k, 4);
        bag_run_add(&run, 2, bag_log(*k), &w);
    }
    free(w.b);
    return run;
}

/* Returns the number of odometry messages. */
static int write_large(const char *path, int64_t bytes, const char *codec)
{
    const mcap_options o = {.codec = codec, .per_chunk = 1};
    bw out = {0}, indexes = {0};
    bag_run all = {.encoding = BAG_CDR};
    int k = 0, chunks = 0;
    remove(path);
    FILE *file = fopen(path, "wb");
    if (!file) abort();
    mcap_begin(&out, &all);
    mcap_channels(&out, &all, &o, 1);
    for (; (int64_t)(out.before + out.n) < bytes; chunks++) {
        bag_run run = make_round(&k);
        mcap_chunk(&out, &indexes, &run, 0, run.messages, &o);
        flush(&out, file);
        /* for the statistics: how many of which topic */
        all.message = realloc(all.message, (size_t)(all.messages + run.messages) * sizeof *all.message);
        for (int i = 0; i < run.messages; i++)
            all.message[all.messages++] = (bag_message){.topic = run.message[i].topic};
        bag_run_free(&run);
    }
    mcap_end(&out, &indexes, &all, chunks, &o);
    flush(&out, file);
    if (fclose(file) != 0) abort();
    free(out.b);
    free(indexes.b);
    free(all.message);
    return k;
}

static void read_large(const char *path, int count, int64_t bytes)
{
    ct_err err = {0};
    ct_bag *bag = NULL;
    ct_source *s = NULL;
    ct_source_options o = ct_source_defaults();
    ct_record r;
    int32_t x, w;
    int k = 0, more = 1;
    const double begin = ct_now_s();
    CHECK_OK(ct_bag_read(path, &bag, &err), err);
    CHECK(bag && bag->topics == 3 && bag->topic[1].count == count && bag->topic[1].last == bag_log(count - 1));
    ct_bag_free(bag);
    const double listed = ct_now_s();
    o.topic = "/odom";
    CHECK_OK(ct_source_open(path, &o, &s, &err), err);
    CHECK_OK(ct_source_select(s, "pose.pose.position.x", &x, &err), err);
    CHECK_OK(ct_source_select(s, "twist.twist.angular.z", &w, &err), err);
    for (; s && more; k += more) {
        if (ct_source_next(s, &r, &more, &err) != CT_OK) break;
        if (more && (r.stamp != bag_stamp(k) || r.value[x] != bag_value(k, 0) || r.value[w] != bag_value(k, 48)))
            CHECK(!"the values are those that were written");
    }
    CHECK(k == count && ct_source_count(s).bytes == ct_source_count(s).size);
    const double seconds = ct_now_s() - listed, mb = (double)bytes / 1e6;
    printf("  %.0f MB, %d messages of %.0f MB: listed in %.2f s, read in %.2f s, %.0f MB/s\n", mb, count,
           (double)count * 740 / 1e6, listed - begin, seconds, mb / seconds);
    ct_source_free(s);
}

/* In a process of its own, so that writing takes none of our memory. */
static int write_apart(const char *path, int64_t bytes, const char *codec)
{
    int channel[2], count = 0, status = 1;
    if (pipe(channel) != 0) abort();
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        count = write_large(path, bytes, codec);
        _exit(write(channel[1], &count, sizeof count) != sizeof count);
    }
    if (child < 0 || read(channel[0], &count, sizeof count) != sizeof count || waitpid(child, &status, 0) != child)
        abort();
    close(channel[0]);
    close(channel[1]);
    CHECK(status == 0);
    return count;
}

static void test_memory_does_not_grow_with_the_file(void)
{
    char path[512];
    const char *size = getenv("COVTUNE_BAG_MB");
    const int64_t bytes = (size ? atoll(size) : ct_test_slow() ? 16 : 96) * 1000000;
    snprintf(path, sizeof path, "%s/large.mcap", ct_test_folder());
    for (const char *const *codec = (const char *const[]){"", "lz4", "zstd", NULL}; *codec; codec++) {
        bw probe = {0};
        const int has = bw_pack(&probe, (const uint8_t *)"", 0, *codec);
        free(probe.b);
        if (!has) continue;
        read_large(path, write_apart(path, bytes, *codec), bytes);
        printf("  %s: %ld MB of memory\n", **codec ? *codec : "none", peak_mb());
        if (!ct_test_slow()) CHECK(peak_mb() < 40);
    }
    remove(path);
}

int main(void)
{
    RUN(test_memory_does_not_grow_with_the_file);
    return ct_test_end();
}
