/* test_doctor_robots.c: what the doctor must not say on sound recordings of wheels: speed and turn rate with white
 * noise, no sideways motion. Each test is named after a false alarm. */
#include "ct_test.h"

#include "doctor/doctor.h"

#include <covtune/doctor.h>

#include <math.h>

#define RUNS    4
#define STATES  240
#define RECORDS 10   /* of odometry, in a step  */
#define DT      0.05 /* s, of a record          */

typedef struct {
    uint64_t seed;
    int      rests;      /* stands still half of the time; wheels then give exactly 0 */
    int      no_turns;   /* odometry has a turn rate of 0                             */
    int      no_yaw;     /* the truth has positions alone                             */
    int      headings;   /* a compass with digits of 0.002 rad, three times a state   */
    int      twice;      /* every tenth of its records is there again                 */
    int      flat;       /* positions have y = 0 with a sigma of 100 m, as of another sensor */
} robot;

static double speed_at(const robot *w, int run, double t)
{
    const double phase = 2.1 * run + 0.37 * (double)w->seed;
    const double share = w->rests ? fmax(0, fmin(1, 1.5 * sin(0.21 * t))) : 1;
    return share * (1 + 0.35 * sin(0.31 * t + phase) + 0.2 * sin(0.83 * t + 2 * phase));
}

static double turn_at(const robot *w, int run, double t)
{
    const double phase = 1.3 * run + 0.71 * (double)w->seed;
    if (w->rests && !(speed_at(w, run, t) > 0)) return 0;
    return 0.3 * sin(0.43 * t + phase) + 0.2 * sin(1.1 * t + 3 * phase);
}

/* x <- the true pose a step later; z <- what wheels measure of it. */
static void travel(const robot *w, int run, double t, ct_rng *rng, ct_se2 *x, ct_se2 *z)
{
    *z = ct_se2_make(0, 0, 0);
    for (int k = 0; k < RECORDS; k++, t += DT) {
        const double v = speed_at(w, run, t + DT / 2), o = turn_at(w, run, t + DT / 2), still = w->rests && !(v > 0);
        const double n = still ? 0 : ct_rng_normal(rng), m = still ? 0 : ct_rng_normal(rng);
        const double truth[3] = {v * DT, 0, o * DT};
        const double measured[3] = {(v + 0.05 * n) * DT, 0, w->no_turns ? 0 : (o + 0.03 * m) * DT};
        *x = ct_se2_compose(*x, ct_se2_exp(truth), NULL, NULL);
        *z = ct_se2_compose(*z, ct_se2_exp(measured), NULL, NULL);
    }
}

static void add_position(const robot *w, ct_graph *g, int32_t k, ct_se2 x, ct_rng *rng, int32_t model)
{
    double z[4] = {x.x + 0.3 * ct_rng_normal(rng), w->flat ? 0 : x.y + 0.3 * ct_rng_normal(rng), 0, 0};
    ct_graph_add_factor(g, &ct_position_se2, &k, z, NULL, model, NULL);
}

static void add_headings(const robot *w, ct_graph *g, int32_t k, ct_se2 x, ct_rng *rng, int32_t model)
{
    for (int i = 0; i < 3; i++) {
        const double a = 0.002 * round((atan2(x.s, x.c) + 0.05 * ct_rng_normal(rng)) / 0.002);
        const double z[4] = {cos(a), sin(a), 1, 0}; /* the sensor is not turned */
        const int    again = w->twice && k % 10 == 0 && i == 0;
        for (int n = 0; n < 1 + again; n++)
            ct_graph_add_factor(g, &ct_heading_se2, &k, z, NULL, model, NULL);
    }
}

static ct_sequence *make_run(const robot *w, int run, ct_noise *noise)
{
    ct_graph    *g;
    ct_sequence *seq;
    ct_rng       rng = ct_rng_seed(w->seed * 100 + (uint64_t)run);
    ct_se2       x = ct_se2_make(3 * run, 5, 0.4 * run), z;
    ct_graph_new(&g, NULL);
    for (int32_t k = 0; k < STATES; k++) {
        double odometry[4];
        ct_graph_add_se2(g, NULL, x, NULL, NULL);
        if (k) {
            odometry[0] = z.x, odometry[1] = z.y, odometry[2] = z.c, odometry[3] = z.s;
            ct_graph_add_between(g, k - 1, k, odometry, ct_noise_find(noise, "odom"), NULL);
        }
        add_position(w, g, k, x, &rng, ct_noise_find(noise, "gps"));
        if (w->headings) add_headings(w, g, k, x, &rng, ct_noise_find(noise, "compass"));
        travel(w, run, k * RECORDS * DT, &rng, &x, &z);
    }
    ct_sequence_new(g, &seq, NULL);
    seq->name = malloc(32);
    snprintf(seq->name, 32, "run%d", run);
    seq->truth = malloc((size_t)ct_graph_size(g) * sizeof(double));
    memcpy(seq->truth, ct_graph_initial(g), (size_t)ct_graph_size(g) * sizeof(double));
    seq->known = malloc(STATES);
    memset(seq->known, w->no_yaw ? 3 : 7, STATES);
    seq->stamp = malloc(STATES * sizeof(double));
    for (int k = 0; k < STATES; k++) seq->stamp[k] = 100 + k * RECORDS * DT;
    return seq;
}

static ct_diagnosis *examine(const robot *w)
{
    const double  variance[3] = {0.008 * 0.008, 0.003 * 0.003, 0.005 * 0.005}, flat[2] = {0.09, 1e4};
    ct_dataset   *d;
    ct_diagnosis *out = NULL;
    ct_err        err = {0};
    ct_dataset_new(&d, NULL);
    ct_noise_add_diagonal(d->noise, "odom", 3, variance, NULL, NULL);
    if (w->flat) ct_noise_add_diagonal(d->noise, "gps", 2, flat, NULL, NULL);
    else ct_noise_add_isotropic(d->noise, "gps", 2, 0.09, NULL, NULL);
    ct_noise_add_isotropic(d->noise, "compass", 1, 0.05 * 0.05, NULL, NULL);
    d->train = calloc(RUNS, sizeof *d->train);
    for (int i = 0; i < RUNS; i++) d->train[d->trains++] = make_run(w, i, d->noise);
    CHECK_OK(ct_doctor_examine(d, NULL, &out, &err), err);
    ct_dataset_free(d);
    return out;
}

/* Findings beside remarks, of `seeds` datasets; they are printed. By its level the doctor may give one in a hundred
 * datasets. */
static int count_alarms(robot w, int seeds)
{
    int alarms = 0;
    for (int i = 0; i < seeds; i++) {
        w.seed = 1 + (uint64_t)i;
        ct_diagnosis *d = examine(&w);
        for (int32_t k = 0; d && k < d->findings.count; k++) {
            char text[1024];
            if (ct_finding_get_info(d->findings.item[k].code)->severity == CT_SEVERITY_INFO) continue;
            ct_finding_text(&d->findings.item[k], text, sizeof text);
            printf("    seed %d: %s\n", i + 1, text);
            alarms++;
        }
        ct_diagnosis_free(d);
    }
    return alarms;
}

static int has(const ct_diagnosis *d, ct_finding_code code)
{
    return d && ct_findings_find(&d->findings, code) >= 0;
}

static void test_wheels_without_sideways_motion_have_no_heavy_tails(void)
{
    CHECK(count_alarms((robot){.seed = 0}, 20) <= 1);
}

static void test_the_truth_of_a_robot_that_rests_does_not_jump(void)
{
    CHECK(count_alarms((robot){.rests = 1}, 20) <= 1);
}

static void test_errors_at_estimated_headings_do_not_last(void)
{
    CHECK(count_alarms((robot){.no_yaw = 1}, 5) == 0);
}

/* Three values at a state, in digits of a 25th of sigma: some are equal by chance. */
static void test_values_that_are_equal_by_chance_are_no_repeated_stamps(void)
{
    CHECK(count_alarms((robot){.headings = 1}, 5) == 0);
    ct_diagnosis *d = examine(&(robot){.seed = 1, .headings = 1, .twice = 1});
    CHECK(has(d, CT_FINDING_STAMPS_REPEATED));
    ct_diagnosis_free(d);
}

static void test_an_odometry_without_turns_has_no_mount(void)
{
    ct_diagnosis *d = examine(&(robot){.seed = 3, .no_turns = 1, .headings = 1});
    const int32_t i = d ? ct_findings_find(&d->findings, CT_FINDING_ROW_NOT_MEASURED) : -1;
    CHECK(i >= 0 && !strcmp(d->findings.item[i].subject[0].name, "odom.yaw"));
    CHECK(!has(d, CT_FINDING_SENSOR_MOUNT) && !has(d, CT_FINDING_RATE_BIAS) && !has(d, CT_FINDING_SENSOR_SCALE));
    CHECK(!has(d, CT_FINDING_ERRORS_AUTOCORRELATED) && !has(d, CT_FINDING_HEAVY_TAILS));
    ct_diagnosis_free(d);
}

/* A position of which one row is written as 0, with a sigma of 100 m. */
static void test_a_row_that_is_always_0_has_no_lasting_errors(void)
{
    ct_diagnosis *d = examine(&(robot){.seed = 5, .flat = 1});
    CHECK(has(d, CT_FINDING_ROW_NOT_MEASURED) && !has(d, CT_FINDING_ERRORS_AUTOCORRELATED));
    CHECK(!has(d, CT_FINDING_SENSOR_IN_OTHER_FRAME) && !has(d, CT_FINDING_SENSOR_SCALE));
    ct_diagnosis_free(d);
}

static void test_numbers_that_no_recipe_takes_are_no_corrections(void)
{
    CHECK(!ct__can_correct(CT_CORRECT_LASTING, 1, (const double[]){0}));
    CHECK(!ct__can_correct(CT_CORRECT_LASTING, 1, (const double[]){NAN}));
    CHECK(ct__can_correct(CT_CORRECT_LASTING, 1, (const double[]){0.5}));
    CHECK(!ct__can_correct(CT_CORRECT_SCALE, 2, (const double[]){1, INFINITY}));
    CHECK(!ct__can_correct(CT_CORRECT_SIGMA, 2, (const double[]){0.01, -1}));
}

int main(void)
{
    RUN(test_wheels_without_sideways_motion_have_no_heavy_tails);
    RUN(test_the_truth_of_a_robot_that_rests_does_not_jump);
    RUN(test_errors_at_estimated_headings_do_not_last);
    RUN(test_values_that_are_equal_by_chance_are_no_repeated_stamps);
    RUN(test_an_odometry_without_turns_has_no_mount);
    RUN(test_a_row_that_is_always_0_has_no_lasting_errors);
    RUN(test_numbers_that_no_recipe_takes_are_no_corrections);
    return ct_test_end();
}
