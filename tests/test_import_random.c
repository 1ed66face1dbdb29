/* test_import_random.c: tables at random, with everything that logs have: gaps, jumps of the clock, repeated and
 * unordered stamps, missing and huge values, sensors that begin late or never; states and splits of any sort. An
 * import succeeds, or fails with a sentence; every record of a measurement is a factor or is counted; values are
 * finite; the same again. */
#include "import_test.h"

static double uniform(ct_rng *rng, double a, double b) { return a + (b - a) * ct_rng_uniform(rng); }
static int pick(ct_rng *rng, int n) { return (int)(ct_rng_uniform(rng) * n); }

/* A value, or one of those that a parser or an estimator dislikes. */
static void put_value(ct_rng *rng, FILE *file, double v, double wild)
{
    static const char *const BAD[] = {"", "nan", "inf", "-inf", "1e300", "-1e300", "1e-320", "0", "-0.0"};
    if (ct_rng_uniform(rng) < wild)
        fprintf(file, ",%s", BAD[pick(rng, 9)]);
    else
        fprintf(file, ",%.9g", v);
}

static void write_random(ct_rng *rng, const char *name, const char *header, int columns, double wild)
{
    static const double RATE[] = {0.003, 0.05, 0.1, 0.7, 5};
    FILE *file = table_open(name, header);
    double t = pick(rng, 25) ? uniform(rng, 0, 3) : uniform(rng, -1e3, 1e6), dt = RATE[pick(rng, 5)];
    const int rows = pick(rng, 20) ? 20 + pick(rng, 200) : pick(rng, 3);
    for (int i = 0; i < rows; i++) {
        const double u = ct_rng_uniform(rng);
        if (u < wild / 4)
            t += uniform(rng, -2, 30);
        else if (u < wild / 3)
            t += 1e8;
        else if (u < wild / 2)
            t -= 0.02;
        else if (u > wild)
            t += dt * uniform(rng, 0.5, 1.5); /* else it is repeated */
        fprintf(file, "%.9f", t);
        for (int k = 0; k < columns; k++) put_value(rng, file, ct_rng_normal(rng), wild);
        fputc('\n', file);
    }
    fclose(file);
}

static void random_recipe(ct_rng *rng, char *text, size_t size)
{
    static const char *const STATES[] = {"every: 0.2",
                                         "every: 1.5",
                                         "at: odom",
                                         "at: gps",
                                         "at: truth",
                                         "distance: 0.5",
                                         "distance: 1, turn: 0.3",
                                         "every: 0.5, from: 1, to: 8",
                                         "every: 0.1, gap: 0.2"};
    static const char *const SPLIT[] = {"", "split: {segment: 3}\n", "split: {segment: {states: 5}}\n",
                                        "split: {test: 1/2}\n"};
    static const char *const ODOM[2][3] = {{"velocity: [a, b, c]", "increment: [a, b, c]", "position: [a, b], yaw: c"},
                                           {"velocity: [a, b, c], angular_velocity: [d, e, f]",
                                            "increment: [a, b, c, d, e, f, g]",
                                            "position: [a, b, c], quaternion: [d, e, f, g]"}};
    static const char *const ANCHOR[] = {"", "anchor: none\n", "anchor: {sigma: [0.1, 0.2]}\n"};
    static const char *const FIX[] = {"", "corrections:\n  - {sensor: odom, delay: 0.3, drift: 0.01, scale: 1.1}\n",
                                      "corrections:\n  - {sensor: gps, delay: -2}\n  - {sensor: truth, delay: 0.1}\n"};
    const int space = pick(rng, 2);
    snprintf(
        text, size,
        "format: covtune-recipe\nversion: 1\nsources: {odometry: odometry.csv, gps: gps.csv, seen: seen.csv, mocap: "
        "truth.csv, loops: loops.csv}\nstates: {type: %s, %s}\nlandmarks: {posts: {}}\nsensors:\n"
        "  odom: {type: odometry, source: odometry, %s, noise: {per: %s}}\n"
        "  gps: {type: position, source: gps, position: %s%s}\n"
        "  radio: {type: range, source: seen, landmarks: posts, id: i, range: abs(a), regime: b, every: %d}\n"
        "  loop: {type: relative_pose, source: loops, from: a, to: b, %s%s}\n"
        "truth: {source: mocap, %s, gap: %s}\n%s%s%s",
        space ? "SE3" : "SE2", STATES[pick(rng, 9)], ODOM[space][pick(rng, 3)], pick(rng, 2) ? "second" : "metre",
        space ? "[a, b, c]" : "[a, b]", pick(rng, 2) ? "" : ", attach: nearest, tolerance: 0.1", 1 + pick(rng, 3),
        space ? "position: [c, d, e], rotation_vector: [f, g, h]" : "position: [c, d], yaw: e",
        pick(rng, 2) ? "" : ", index: true",
        space          ? ODOM[1][2]
        : pick(rng, 2) ? "position: [a, b]"
                       : ODOM[0][2],
        pick(rng, 2) ? "0.5" : "20", SPLIT[pick(rng, 4)], ANCHOR[pick(rng, 3)], FIX[pick(rng, 3)]);
}

static void check_sequence(const ct_sequence *seq, uint64_t seed)
{
    const int64_t n = ct_graph_size(seq->graph);
    const double *x = ct_graph_initial_const(seq->graph);
    int finite = 1;
    for (int64_t i = 0; i < n; i++) finite &= isfinite(x[i]) && (!seq->truth || isfinite(seq->truth[i]));
    if (!finite) CT_TEST_SAY("seed %llu: a value is not finite\n", (unsigned long long)seed);
    CHECK(states_of(seq) >= 2 && seq->recording && seq->name);
}

static void check_counts(const ct_import_result *r, uint64_t seed)
{
    for (int32_t i = 1; i < 4; i++) { /* gps, radio, loop */
        int64_t sum = r->count[i].factors;
        for (int k = 0; k < CT_DROP_COUNT; k++) sum += r->count[i].dropped[k];
        if (sum != r->count[i].records)
            CT_TEST_SAY("seed %llu: %s: %lld records, %lld counted\n", (unsigned long long)seed, r->count[i].name,
                        (long long)r->count[i].records, (long long)sum);
    }
}

static int run_case(uint64_t seed)
{
    ct_rng rng = ct_rng_seed(seed);
    char text[4096];
    ct_err err, again;
    ct_import_result result = {0};
    const double wild = pick(&rng, 2) ? 0 : uniform(&rng, 0, 0.1);
    write_random(&rng, "odometry.csv", "t,a,b,c,d,e,f,g", 7, wild);
    write_random(&rng, "gps.csv", "t,a,b,c", 3, wild);
    write_random(&rng, "seen.csv", "t,a,b,i", 3, wild);
    write_random(&rng, "truth.csv", "t,a,b,c,d,e,f,g", 7, wild);
    write_random(&rng, "loops.csv", "t,a,b,c,d,e,f,g,h", 8, wild);
    random_recipe(&rng, text, sizeof text);
    ct_dataset *d = import_text(text, &result, &err), *e = import_text(text, NULL, &again);
    if (!d && (!*err.text || strncmp(err.text, again.text, sizeof err.text)))
        CT_TEST_SAY("seed %llu: no sentence, or another: %s\n", (unsigned long long)seed, err.text);
    CHECK(!d == !e && (!d || (d->trains == e->trains && d->tests == e->tests)));
    if (d) check_counts(&result, seed);
    for (int32_t i = 0; d && i < d->trains; i++) check_sequence(d->train[i], seed);
    for (int32_t i = 0; d && i < d->tests; i++) check_sequence(d->test[i], seed);
    const int made = d != NULL;
    ct_dataset_free(d);
    ct_dataset_free(e);
    ct_import_result_free(&result);
    return made;
}

static void test_any_tables_are_imported_or_refused(void)
{
    const char *more = getenv("COVTUNE_IMPORT_CASES");
    const uint64_t cases = more ? strtoull(more, NULL, 10) : ct_test_slow() ? 100 : 300;
    int made = 0;
    import_begin("random");
    for (uint64_t seed = 1; seed <= cases; seed++) made += run_case(seed);
    CHECK(made > (int)cases / 5 && made < (int)cases); /* of both sorts there are many */
}

int main(void)
{
    RUN(test_any_tables_are_imported_or_refused);
    return ct_test_end();
}
