/* test_import_memory.c: no memory at any moment. Every allocation of an import is failed once, each in a run of its
 * own: the run ends in CT_E_MEMORY with a sentence, nothing is lost (the sanitizers see that), and the dataset that
 * was in the folder before is there, or the new one. */
#include "memory_test.h"
#include "import_test.h"

static const char TEXT[] =
    "format: covtune-recipe\nversion: 1\nrecording: run{run}\nbodies: robot\n"
    "sources:\n"
    "  odometry: {files: 'odometry-{run}-{robot}.csv', time: t in ns}\n"
    "  mocap: {files: 'truth-{run}-{robot}.csv', time: t in ns}\n"
    "  seen: {files: seen.csv, time: t in ns}\n"
    "  met: {files: met.csv, time: t in ns}\n"
    "  loops: {files: loops.csv}\n"
    "  map: map.csv\n"
    "  codes: codes.csv\n"
    "states: {type: SE2, every: 0.5}\n"
    "landmarks: {posts: {source: map, id: name, position: [x, y], ids: {source: codes, from: code, to: name}, "
    "unknown: estimate}}\n"
    "sensors:\n"
    "  odom: {type: odometry, source: odometry, velocity: [vx, vy, wz], noise: {per: second, learn: false}}\n"
    "  radio: {type: range, source: seen, landmarks: posts, id: post, range: range, regime: mode, body: a}\n"
    "  meet: {type: range, source: met, to_body: who, range: range, body: a}\n"
    "  loop: {type: relative_pose, source: loops, index: true, from: i, to: j, position: [x, y], yaw: yaw, body: b}\n"
    "truth: {source: mocap, position: [x, y], yaw: yaw, known: [x, y]}\n"
    "split: {segment: 2.5}\n"
    "corrections:\n  - {sensor: odom, recording: run1, delay: 0.01, scale: [1, 1, 1]}\n";

static void write_tables(void)
{
    const world  w = world_make(CT_SE2, 1000000000LL);
    const ct_se3 identity = {0, 0, 0, 0, 0, 0, 1};
    import_begin("memory");
    for (int i = 0; i < 2; i++) {
        write_velocities(&w, i ? "odometry-1-b.csv" : "odometry-1-a.csv", identity);
        write_poses(&w, i ? "truth-1-b.csv" : "truth-1-a.csv", identity, 0, 100000000);
    }
    FILE *seen = table_open("seen.csv", "t,post,range,mode"), *met = table_open("met.csv", "t,who,range");
    for (int i = 0; i < 40; i++) {
        fprintf(seen, "%lld,%d,%d,%d\n", 1100000000LL + i * 200000000LL, i % 3, 3 + i % 4, i % 2);
        fprintf(met, "%lld,b,%d\n", 1150000000LL + i * 200000000LL, 2);
    }
    fclose(seen);
    fclose(met);
    write_text_file("map.csv", "name,x,y\nA,1,2\nB,5,6\n");
    write_text_file("codes.csv", "code,name\n0,A\n1,B\n");
    write_text_file("loops.csv", "t,i,j,x,y,yaw\n0,0,3,1,0,0\n1,1,4,1,0,0\n");
}

static int count_sequences(const char *folder)
{
    ct_dataset *d = NULL;
    ct_err      err = {0};
    const int   n = ct_dataset_read(folder, CT_DATASET_ALL, &d, &err) == CT_OK ? d->trains + d->tests : -1;
    ct_dataset_free(d);
    return n;
}

static void test_an_import_survives_the_failure_of_every_allocation(void)
{
    ct_recipe *recipe = NULL;
    ct_err     err = {0};
    write_tables();
    CHECK_OK(ct_recipe_parse(TEXT, "test.yaml", import_folder, &recipe, &err), err);
    if (!recipe) return;
    CHECK_OK(ct_recipe_import(recipe, NULL, import_path("data"), NULL, &err), err);
    const int whole = count_sequences(import_path("data"));
    CHECK(whole == 4);
    const int64_t step = ct_test_slow() ? 37 : 11; /* files are synced: not every one */
    for (int into_memory = 0; into_memory < 2; into_memory++) {
        int64_t k = into_memory;
        for (int through = 0; !through && k < 1000000; k += into_memory || k < 100 ? 1 : step) {
            ct_import_result result = {0};
            ct_dataset      *d = NULL;
            err = (ct_err){0};
            left = k;
            const ct_status status = into_memory ? ct_recipe_dataset(recipe, NULL, &d, &result, &err)
                                                 : ct_recipe_import(recipe, NULL, import_path("data"), &result, &err);
            through = left >= 0;
            left = -1;
            if (through ? status != CT_OK : status != CT_E_MEMORY && status != CT_OK)
                CT_TEST_SAY("allocation %lld: status %d, %s\n", (long long)k, (int)status, err.text);
            if (!into_memory && k % 50 == 0) CHECK(count_sequences(import_path("data")) == whole);
            ct_dataset_free(d);
            ct_import_result_free(&result);
        }
        CHECK(k > 500 && k < 1000000);
    }
    CHECK(count_sequences(import_path("data")) == whole);
    ct_recipe_free(recipe);
}

int main(void)
{
    RUN(test_an_import_survives_the_failure_of_every_allocation);
    return ct_test_end();
}
