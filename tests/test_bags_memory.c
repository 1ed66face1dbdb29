/* test_bags_memory.c: no memory at any moment. Every allocation that listing and reading a bag make is failed once,
 * each in a run of its own: the run ends in CT_E_MEMORY with nothing lost, which the sanitizers see. */
#include "bag_writer.h"
#include "memory_test.h"

#include <covtune/source.h>

#include <sys/stat.h>

static char path[512];
static int  repeats; /* 1: a folder's list of files is read again after a failure */

/* List the bag and read /tf by its elements, with allocation k failing; 1: there is no such allocation any more. */
static int read_once(int64_t k)
{
    ct_err err = {0};
    ct_bag *bag = NULL;
    ct_source *s = NULL;
    ct_source_options o = ct_source_defaults();
    ct_record r;
    int32_t at;
    int more = 1, records = 0;
    o.topic = "/tf";
    o.each = "transforms";
    left = k;
    ct_status status = ct_bag_read(path, &bag, &err);
    if (status == CT_OK) status = ct_source_open(path, &o, &s, &err);
    if (status == CT_OK) status = ct_source_select(s, "transform.translation.x", &at, &err);
    if (status == CT_OK) status = ct_source_select(s, "^.transforms[1].header.stamp", &at, &err);
    if (status == CT_OK) status = ct_source_select_text(s, "child_frame_id", &at, &err);
    for (; status == CT_OK && more; records += more) status = ct_source_next(s, &r, &more, &err);
    const int through = left >= 0;
    left = -1;
    if (status == CT_OK) CHECK(records > 0 && (through || repeats));
    else CHECK(!through && status == CT_E_MEMORY && strstr(err.text, "memory"));
    if (status != CT_OK && status != CT_E_MEMORY) fprintf(stderr, "allocation %lld: %s\n", (long long)k, err.text);
    CHECK(status == CT_OK || (bag && s) || !s);
    ct_source_free(s);
    ct_bag_free(bag);
    return through;
}

static void sweep(void)
{
    int64_t k = 0;
    while (k < 5000 && !read_once(k)) k++;
    CHECK(k > 40 && k < 5000);
}

static void sweep_bytes(bw b, const char *name)
{
    snprintf(path, sizeof path, "%s/%s", ct_test_folder(), name);
    bw_save(&b, b.n, path);
    free(b.b);
    sweep();
}

static void test_containers(void)
{
    bag_run ros1 = bag_run_new(BAG_ROS1, 20), cdr = bag_run_new(BAG_CDR, 20);
    for (int way = 0; way < 2; way++) {
        sweep_bytes(ros1_write(&ros1, &(ros1_options){"none", 7, way, 1}), "memory.bag");
        sweep_bytes(mcap_write(&cdr, &(mcap_options){.codec = "", .per_chunk = 7, .no_summary = way}), "memory.mcap");
    }
    sweep_bytes(mcap_write(&cdr, &(mcap_options){.codec = "", .per_chunk = 0}), "memory.mcap");
#if COVTUNE_HAS_BZIP2 && COVTUNE_HAS_LZ4 && COVTUNE_HAS_ZSTD
    sweep_bytes(ros1_write(&ros1, &(ros1_options){"bz2", 7, 0, 0}), "memory.bag");
    sweep_bytes(mcap_write(&cdr, &(mcap_options){.codec = "lz4", .per_chunk = 7}), "memory.mcap");
    sweep_bytes(mcap_write(&cdr, &(mcap_options){.codec = "zstd", .per_chunk = 7}), "memory.mcap");
#endif
    static const char IDL[] = "module tf2_msgs { module msg { typedef double pair[2]; const long N = 3; enum E { A };\n"
                              "struct TFMessage { sequence<T> transforms; E e; pair p; }; }; };\n"
                              "module tf2_msgs { module msg { struct T { std_msgs::msg::Header header; string "
                              "child_frame_id; geometry_msgs::msg::Transform transform; }; }; };\n";
    sweep_bytes(
        mcap_write(&cdr, &(mcap_options){.codec = "", .per_chunk = 7, .schema = "ros2idl", .text = {"", "", IDL}}),
        "memory.mcap");
    bag_run_free(&ros1);
    bag_run_free(&cdr);
}

static void test_folders(void)
{
#if COVTUNE_HAS_SQLITE3
    bag_run run = bag_run_new(BAG_CDR, 20);
    char file[600];
    snprintf(path, sizeof path, "%s/memory", ct_test_folder());
    mkdir(path, 0777);
    for (int i = 0; i < 2; i++) {
        snprintf(file, sizeof file, "%s/run_%d.db3", path, i);
        sqlite_write(&run, &(sqlite_options){.version = 4, .from = 17 * i, .to = 17 * (i + 1)}, file);
    }
    snprintf(file, sizeof file, "%s/metadata.yaml", path);
    remove(file);
    repeats = 1;
    sweep();
    FILE *f = fopen(file, "wb");
    if (!f ||
        fputs("rosbag2_bagfile_information:\n  storage_identifier: sqlite3\n  relative_file_paths: [run_0.db3, "
              "run_1.db3]\n",
              f) < 0 ||
        fclose(f) != 0)
        abort();
    sweep();
    bag_run_free(&run);
#endif
}

int main(void)
{
    RUN(test_containers);
    RUN(test_folders);
    return ct_test_end();
}
