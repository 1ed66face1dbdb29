/* test_import_clocks.c: clocks that are set while they record, and counters of wheels that begin again: an import
 * names them, the corrections `steps` and `wrap` mend them. Sensors that are off for a time, clocks that are set
 * together with all others, and counters that are wrong once, are none. */
#include "import_test.h"

#define START 5000000000LL
#define GRID  300000000LL
#define TOL   1e-6
#define NAMES 3

static const char *const NAME[NAMES] = {"odom", "gps", "truth"};
static const char *const FILE_OF[NAMES] = {"odometry.csv", "gps.csv", "truth.csv"};
static const ct_ns       EVERY[NAMES] = {WORLD_STEP_NS, 130000000, GRID};

#define HEAD                                                                                                           \
    "format: covtune-recipe\nversion: 1\nsources:\n"                                                                   \
    "  odometry: {files: odometry.csv, time: t in ns}\n  mocap: {files: truth.csv, time: t in ns}\n"                   \
    "  gps: {files: gps.csv, time: t in ns}\n"
#define ROBOT                                                                                                          \
    HEAD "states: {type: SE2, every: 0.3}\ntruth: {source: mocap, position: [x, y], yaw: yaw}\n"                       \
         "sensors:\n  odom: {type: odometry, source: odometry, velocity: [vx, vy, wz]}\n"                              \
         "  gps: {type: position, source: gps, position: [x, y]}\n"

/* Stamps from `at` on step by `step`; without_s: records in the seconds before `at` are left out. */
typedef struct {
    ct_ns  at, step;
    double without_s;
} clock_fault;

static void write_table(const world *w, int which, const clock_fault *f)
{
    FILE *file = table_open(FILE_OF[which], which ? "t,x,y,yaw" : "t,vx,vy,wz");
    for (ct_ns t = 0; t <= WORLD_STEPS * WORLD_STEP_NS; t += EVERY[which]) {
        const int     i = t < WORLD_STEPS * WORLD_STEP_NS ? (int)(t / WORLD_STEP_NS) : WORLD_STEPS - 1;
        const int     off = t < f->at && (double)(f->at - t) < f->without_s * 1e9;
        const double *u = w->twist[i];
        const ct_ns   stamp = START + t + (t >= f->at ? f->step : 0);
        if (off) continue;
        if (which) put_pose(file, stamp, CT_SE2, world_at(w, START + t));
        else put_row(file, stamp, 3, (const double[]){u[3], u[4], u[2]});
    }
    fclose(file);
}

/* One table has the fault, or all. */
static world write_world(int which, const clock_fault *f)
{
    const clock_fault none = {.at = 0};
    const world       w = world_make(CT_SE2, START);
    import_begin("clocks");
    for (int k = 0; k < NAMES; k++) write_table(&w, k, which == k || which == NAMES ? f : &none);
    return w;
}

static const ct_finding *finding_of(const ct_import_result *result, ct_finding_code code, const char *name)
{
    for (int32_t i = 0; i < result->findings.count; i++) {
        const ct_finding *f = &result->findings.item[i];
        if (f->code == code && (!name || !strcmp(f->subject[0].name, name))) return f;
    }
    return NULL;
}

/* Forward by hours, and back, as a computer whose clock is set, or one that starts again. */
static void test_a_clock_that_was_set_is_named_and_mended(void)
{
    static const ct_ns STEP[] = {7200000000000LL, -4500000000LL};
    for (int k = 0; k < 2 * NAMES; k++) {
        const clock_fault f = {.at = 5070000000LL, .step = STEP[k / NAMES]};
        const char       *name = NAME[k % NAMES];
        ct_import_result  result = {0}, mended = {0};
        char              text[2048];
        write_world(k % NAMES, &f);
        MUST_IMPORT(d, ROBOT, &result);
        const ct_finding *found = finding_of(&result, CT_FINDING_CLOCK_JUMPS, name);
        CHECK(found && fabs(found->value[0] - (double)f.step * 1e-9) < 0.5 && found->value[1] == 1);
        CHECK(found && !strcmp(found->subject[1].name, "test"));
        CHECK(found && fabs(found->value[2] - 10) < 0.4); /* the stamp before it */
        for (int other = 0; other < NAMES; other++)
            CHECK(other == k % NAMES || !finding_of(&result, CT_FINDING_CLOCK_JUMPS, NAME[other]));
        if (found)
            snprintf(text, sizeof text, "%scorrections: [{sensor: %s, recording: test, steps: %.6g}]\n", ROBOT, name,
                     found->value[3]);
        ct_err      err;
        ct_dataset *again = found ? import_text(text, &mended, &err) : NULL;
        CHECK(again && states_of(again->train[0]) >= 33 && worst_residual(again, again->train[0], NULL, NULL) < TOL);
        CHECK(!finding_of(&mended, CT_FINDING_CLOCK_JUMPS, NULL));
        ct_dataset_free(d);
        ct_dataset_free(again);
        ct_import_result_free(&result);
        ct_import_result_free(&mended);
    }
}

static void test_a_sensor_that_is_off_has_no_clock_that_was_set(void)
{
    const clock_fault off = {.at = 8000000000LL, .without_s = 4};
    const clock_fault paused = {.at = 5000000000LL, .step = 3600000000000LL};
    for (int k = 0; k <= NAMES; k++) { /* the last: all pause together */
        ct_import_result result = {0};
        write_world(k, k < NAMES ? &off : &paused);
        MUST_IMPORT(d, ROBOT, &result);
        CHECK(!finding_of(&result, CT_FINDING_CLOCK_JUMPS, NULL));
        ct_dataset_free(d);
        ct_import_result_free(&result);
    }
}

/* ---- counters ---- */

/* A body that drives 0.6 m/s on an arc; counters of 2 mm begin again after `wrap` m (0: they do not). wrong: one count
 * of the left wheel, and those after it, by so many m. */
static void write_counts(double wrap, double once, double ever)
{
    world  w = world_make(CT_SE2, START);
    double way[2] = {3.1, 0.7}, pose[6];
    import_begin("counters");
    FILE *file = table_open("odometry.csv", "t,left,right");
    for (int i = 0; i <= WORLD_STEPS; i++) {
        double now[2] = {way[0] + (i == 90 ? once : 0) + (i >= 90 ? ever : 0), way[1]};
        for (int k = 0; k < 2 && wrap > 0; k++) now[k] = fmod(now[k], wrap);
        fprintf(file, "%lld,%.17g,%.17g\n", (long long)(w.start + i * WORLD_STEP_NS), 500 * now[0], 500 * now[1]);
        if (i == WORLD_STEPS) break;
        const double turn = 0.5 * sin(0.07 * i);
        const double u[6] = {0, 0, turn, 0.6 + 0.1 * sin(0.3 * i), 0, 0};
        memcpy(w.twist[i], u, sizeof u);
        for (int k = 0; k < 2; k++) way[k] += 0.05 * (u[3] + (k ? 0.2 : -0.2) * turn);
        for (int r = 0; r < 6; r++) pose[r] = 0.05 * u[r];
        w.pose[i + 1] = ct_se3_compose(w.pose[i], ct_se3_exp(pose), NULL, NULL);
    }
    fclose(file);
    write_poses(&w, "truth.csv", (ct_se3){0, 0, 0, 0, 0, 0, 1}, 0, GRID);
}

#define WHEELS                                                                                                         \
    HEAD "states: {type: SE2, every: 0.3}\ntruth: {source: mocap, position: [x, y], yaw: yaw}\nsensors:\n"             \
         "  odom: {type: odometry, source: odometry, wheels: [left * 0.002, right * 0.002], track: 0.4}\n"

static void test_counters_that_begin_again_are_named_and_mended(void)
{
    ct_import_result result = {0}, mended = {0};
    write_counts(2, 0, 0);
    MUST_IMPORT(d, WHEELS, &result);
    const ct_finding *f = finding_of(&result, CT_FINDING_COUNTERS_WRAP, "odom");
    CHECK(f && fabs(f->value[0] - 2) < 0.01 && f->value[1] == 6); /* about 3.1 to 9.1 m and 0.7 to 6.7 m */
    CHECK(worst_residual(d, d->train[0], "odom", NULL) > 0.5);
    ct_dataset *again = import_text(WHEELS "corrections: [{sensor: odom, wrap: 2}]\n", &mended, &import_err);
    CHECK(again && worst_residual(again, again->train[0], "odom", NULL) < TOL);
    CHECK(!finding_of(&mended, CT_FINDING_COUNTERS_WRAP, NULL));
    ct_dataset_free(d);
    ct_dataset_free(again);
    ct_import_result_free(&result);
    ct_import_result_free(&mended);
}

static void test_counters_that_do_not_begin_again_are_not_named(void)
{
    static const double WRONG[][2] = {{0, 0}, {5, 0}};
    for (int k = 0; k < 2; k++) {
        ct_import_result result = {0};
        write_counts(0, WRONG[k][0], WRONG[k][1]);
        MUST_IMPORT(d, WHEELS, &result);
        CHECK(!finding_of(&result, CT_FINDING_COUNTERS_WRAP, NULL));
        ct_dataset_free(d);
        ct_import_result_free(&result);
    }
}

int main(void)
{
    RUN(test_a_clock_that_was_set_is_named_and_mended);
    RUN(test_a_sensor_that_is_off_has_no_clock_that_was_set);
    RUN(test_counters_that_begin_again_are_named_and_mended);
    RUN(test_counters_that_do_not_begin_again_are_not_named);
    return ct_test_end();
}
