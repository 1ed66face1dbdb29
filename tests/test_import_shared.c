/* test_import_shared.c: sensors and truth in one table. One source for all of them, whose lines are read once, gives
 * what three sources give that each read the table by themselves: dense and sparse columns, gaps beyond what is kept of
 * a reading, delays, conditions, several files. */
#include "import_test.h"

static int pick(ct_rng *rng, int n) { return (int)(ct_rng_uniform(rng) * n); }

/* Rows at 100 Hz; a column is filled every `step` rows. */
static void write_log(ct_rng *rng, const char *name, int first, int rows, int gps, int radio, int truth)
{
    FILE *file = table_open(name, "t,v,w,gx,gy,post,range,x,y,yaw");
    for (int i = first; i < first + rows; i++) {
        const double yaw = 0.001 * i, x = 10 * sin(yaw), y = 10 - 10 * cos(yaw);
        const double late = pick(rng, 50) ? 0 : -0.03; /* a stamp that runs backwards */
        fprintf(file, "%.6f,%.6f,%.6f", 100 + 0.01 * i + late, 1 + 0.1 * ct_rng_normal(rng), 0.1);
        if (i % gps) fprintf(file, ",,");
        else fprintf(file, ",%.6f,%.6f", x + ct_rng_normal(rng), y + ct_rng_normal(rng));
        if (i % radio) fprintf(file, ",,");
        else fprintf(file, ",%s,%.6f", pick(rng, 2) ? "north post" : "7", 5 + pick(rng, 3) + ct_rng_normal(rng));
        if (i % truth) fprintf(file, ",,,\n");
        else fprintf(file, ",%.6f,%.6f,%.6f\n", x, y, yaw);
    }
    fclose(file);
}

#define ALL "log*.csv"

static ct_dataset *import_by(int sources, const char *rest, ct_import_result *result)
{
    static const char *const NAMES[2][4] = {{"log", "log", "log", "log"}, {"a", "b", "b", "c"}};
    static const char *const SOURCES[2] = {"{log: " ALL "}",
                                           "{a: " ALL ", b: " ALL ", c: " ALL "}"};
    const char *const *name = NAMES[sources];
    char    text[2048];
    ct_err  err;
    snprintf(text, sizeof text,
             "format: covtune-recipe\nversion: 1\nrecording: one\nsources: %s\nstates: {type: SE2, every: 0.2}\n"
             "landmarks: {posts: {}}\nsensors:\n"
             "  odom: {type: odometry, source: %s, velocity: [v, 0, w]}\n"
             "  gps: {type: position, source: %s, position: [gx, gy], every: 3}\n"
             "  radio: {type: range, source: %s, landmarks: posts, id: post, range: range, where: range > 4}\n"
             "truth: {source: %s, position: [x, y], yaw: yaw, gap: 500}\n%s",
             SOURCES[sources], name[0], name[1], name[2], name[3], rest);
    ct_dataset *d = import_text(text, result, &err);
    if (!d) CT_TEST_SAY("%s\n", err.text);
    return d;
}

static void check_equal(const ct_sequence *a, const ct_sequence *b)
{
    const int32_t variables = ct_graph_variables(a->graph), factors = ct_graph_factors(a->graph);
    CHECK(ct_graph_variables(b->graph) == variables && ct_graph_factors(b->graph) == factors);
    CHECK(ct_graph_size(a->graph) == ct_graph_size(b->graph) && !strcmp(a->name, b->name));
    if (ct_graph_factors(b->graph) != factors || ct_graph_size(a->graph) != ct_graph_size(b->graph)) return;
    const size_t size = (size_t)ct_graph_size(a->graph) * sizeof(double);
    CHECK(!memcmp(ct_graph_initial_const(a->graph), ct_graph_initial_const(b->graph), size));
    CHECK(!memcmp(a->stamp, b->stamp, (size_t)variables * sizeof *a->stamp));
    for (int32_t f = 0; f < factors; f++) {
        const ct_factor p = ct_graph_factor(a->graph, f), q = ct_graph_factor(b->graph, f);
        CHECK(p.ops == q.ops && p.noise == q.noise && p.multiplier == q.multiplier);
        CHECK(!memcmp(p.z, q.z, (size_t)ct_factor_z_size(p.ops) * sizeof *p.z));
    }
}

static void check_case(const char *rest)
{
    ct_import_result one = {0}, three = {0};
    ct_dataset *a = import_by(0, rest, &one), *b = import_by(1, rest, &three);
    CHECK(a && b);
    if (!a || !b) return;
    CHECK(a->trains == b->trains && one.states == three.states && one.counts == three.counts && one.states > 20);
    for (int32_t i = 0; i < a->trains && i < b->trains; i++) check_equal(a->train[i], b->train[i]);
    for (int32_t i = 0; i < one.counts && i < three.counts; i++) {
        CHECK(one.count[i].records == three.count[i].records && one.count[i].factors == three.count[i].factors);
        for (int k = 0; k < CT_DROP_COUNT; k++) CHECK(one.count[i].dropped[k] == three.count[i].dropped[k]);
    }
    ct_dataset_free(a);
    ct_dataset_free(b);
    ct_import_result_free(&one);
    ct_import_result_free(&three);
}

static const char *const REST[] = {"",
                                   "corrections:\n  - {sensor: odom, delay: 0.3}\n  - {sensor: truth, delay: -7}\n",
                                   "corrections:\n  - {sensor: gps, delay: 30}\n",
                                   "split: {segment: 20}\n"};

static void test_a_table_read_once_gives_what_three_readings_give(void)
{
    static const int GPS[] = {1, 1, 10, 700}, RADIO[] = {1, 25, 1, 3}, TRUTH[] = {1, 5, 1000, 9999};
    ct_rng rng = ct_rng_seed(3);
    import_begin("shared");
    for (int k = 0; k < 4; k++) {
        write_log(&rng, "log1.csv", 0, 20000, GPS[k], RADIO[k], TRUTH[k]);
        write_log(&rng, "log2.csv", 20000, 3000, GPS[k], RADIO[k], TRUTH[k]);
        write_log(&rng, "log3.csv", 23000, 12000, GPS[k], RADIO[k], TRUTH[k]);
        check_case(REST[0]);
        check_case(REST[1 + k % 3]);
    }
}

/* The place of a record is that of the stream which reads it, whoever is further on. */
static void test_a_place_in_a_shared_table_is_the_readers_own(void)
{
    ct_err err;
    import_begin("place");
    FILE *file = table_open("log1.csv", "t,v,w,gx,gy,post,range,x,y,yaw");
    for (int i = 0; i < 20000; i++)
        fprintf(file, "%.2f,1,0,%.2f,0,a,5,%.2f,0,%s\n", 0.01 * i, 0.01 * i, 0.01 * i, i == 15000 ? "north" : "0");
    fclose(file);
    ct_dataset *d = import_text("format: covtune-recipe\nversion: 1\nsources: {log: log1.csv}\n"
                                "states: {type: SE2, every: 0.2}\nsensors:\n"
                                "  odom: {type: odometry, source: log, velocity: [v, 0, w]}\n"
                                "  gps: {type: position, source: log, position: [gx, gy]}\n"
                                "truth: {source: log, position: [x, y], yaw: yaw}\n",
                                NULL, &err);
    CHECK(!d && strstr(err.text, "log1.csv:15002"));
    ct_dataset_free(d);
}

typedef struct {
    int64_t done, all;
    int     noticed;
    double  states, megabytes;
} heard;

static int hear(void *user, int64_t done, int64_t all)
{
    heard *h = user;
    CHECK(done >= h->done && done <= all);
    h->done = done, h->all = all;
    return h->noticed;
}

static void hear_notice(void *user, const ct_finding *f)
{
    heard *h = user;
    CHECK(f->code == CT_FINDING_LONG_SEQUENCE && f->subjects == 1);
    h->noticed++, h->states = f->value[0], h->megabytes = f->value[1];
}

/* Bytes of a table that three streams share are told as they are read; a long sequence, long before it ends. */
static void test_a_sequence_that_will_need_much_memory_is_told_at_the_beginning(void)
{
    ct_err     err = {0};
    ct_recipe *recipe = NULL;
    import_begin("long");
    FILE *file = table_open("log1.csv", "t,v,x");
    for (int i = 0; i < 1000000; i++) fprintf(file, "%07.2f,1,%07.2f\n", 0.01 * i, 0.01 * i);
    fclose(file);
    const char *text = "format: covtune-recipe\nversion: 1\nsources: {log: log1.csv}\n"
                       "states: {type: SE2, every: %s}\nsensors:\n"
                       "  odom: {type: odometry, source: log, velocity: [v, 0, 0]}\n"
                       "  gps: {type: position, source: log, position: [x, 0]}\n"
                       "truth: {source: log, position: [x, 0], yaw: 0 * x}\n%s";
    for (int k = 0; k < 2; k++) {
        char              whole[1024];
        heard             h = {0};
        ct_dataset       *d = NULL;
        ct_import_options options = ct_import_defaults();
        options.progress = hear, options.notice = hear_notice, options.user = &h;
        snprintf(whole, sizeof whole, text, k ? "0.2" : "0.01", k ? "split: {segment: 1000}\n" : "");
        CHECK_OK(ct_recipe_parse(whole, "test.yaml", import_folder, &recipe, &err), err);
        const ct_status status = ct_recipe_dataset(recipe, &options, &d, NULL, &err);
        CHECK(h.noticed == !k && h.done > 0);
        if (!k) CHECK(status == CT_E_EMPTY && h.done < h.all / 10);
        if (!k) CHECK(h.states > 700000 && h.states < 1300000 && h.megabytes > 300 && h.megabytes < 1000);
        if (k) CHECK(status == CT_OK && h.done > h.all / 2);
        ct_dataset_free(d);
        ct_recipe_free(recipe);
    }
}

int main(void)
{
    RUN(test_a_table_read_once_gives_what_three_readings_give);
    RUN(test_a_place_in_a_shared_table_is_the_readers_own);
    RUN(test_a_sequence_that_will_need_much_memory_is_told_at_the_beginning);
    return ct_test_end();
}
