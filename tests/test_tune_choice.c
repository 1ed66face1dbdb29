/* test_tune_choice.c: tuning in the face of failures, noise, ties, spreads, parameters without effect; what held-out
 * logs choose; refusals. */
#include "tune_test.h"

#define SENSORS 4
static const double TRUE_VARIANCE[SENSORS] = {0.01, 1, 4, 0.25};
static const ct_tune_log LOGS[] = {{"a", "a", 0}, {"b", "b", 0}, {"c", "c", 0},
                                   {"d", "d", 0}, {"e", "e", 0}, {"f", "f", 1}};
static const ct_tune_log ONE[] = {{"a", "a", 0}, {"f", "f", 1}};

/* The mean of SENSORS readings, weighted by the inverse of the first SENSORS values. */
static void weighted_mean(const toy *t, const double *value, int32_t log_, double *r)
{
    double weight[SENSORS], sum = 0;
    for (int k = 0; k < SENSORS; k++) sum += weight[k] = 1 / value[k];
    for (int64_t i = 0; i < t->rows; i++) {
        r[i] = 0;
        for (int k = 0; k < SENSORS; k++) r[i] += weight[k] / sum * sqrt(TRUE_VARIANCE[k]) * toy_noise(log_, i, k);
    }
}

static void sensors(ct_tune_parameter *p, double off)
{
    for (int k = 0; k < SENSORS; k++) {
        char name[16];
        snprintf(name, sizeof name, "v%d", k);
        p[k] = toy_parameter(name, TRUE_VARIANCE[k] * (k % 2 ? 1 / off : off));
    }
}

static int has(const ct_tune_result *r, ct_finding_code code) { return ct_findings_find(&r->findings, code) >= 0; }

/* ---- Choice ------------------------------------------------------------------------------------ */

static void test_a_bad_start_is_replaced_and_a_good_one_stays(void)
{
    ct_tune_parameter p[SENSORS];
    ct_tune_problem problem = {SENSORS, 6, 0, p, LOGS, NULL};
    toy t = {.rows = 300, .residual = weighted_mean};
    sensors(p, 3);
    ct_tune_result r = toy_tune(&t, &problem, NULL);
    CHECK(!r.candidate[0].chosen && r.candidates == 4 && r.recordings == 5);
    CHECK(r.after[5].loss < 0.9 * r.before[5].loss);
    CHECK_NEAR(r.after[5].loss, toy_loss(&t, r.value, 5, 6), 1e-12);
    CHECK_NEAR(r.before[0].loss, toy_loss(&t, (double[]){p[0].start, p[1].start, p[2].start, p[3].start}, 0, 1), 1e-12);
    CHECK(isnan(r.candidate[0].prior) && r.candidate[3].prior == 0 && r.candidate[3].log_ratio < 0);
    ct_tune_result_free(&r);
    sensors(p, 100); /* more than ten times the loss: a start that answers should not stay near to */
    t = (toy){.rows = 300, .residual = weighted_mean};
    r = toy_tune(&t, &problem, NULL);
    CHECK(r.loss_start > 10 * r.loss && r.candidates == 2 && r.candidate[1].chosen && r.candidate[1].prior == 0);
    ct_tune_result_free(&r);
    sensors(p, 1);
    t = (toy){.rows = 300, .residual = weighted_mean};
    r = toy_tune(&t, &problem, NULL);
    CHECK(r.candidate[0].chosen && has(&r, CT_FINDING_START_KEPT));
    for (int k = 0; k < SENSORS; k++) CHECK(r.value[k] == p[k].start);
    ct_tune_result_free(&r);
}

static void test_one_recording_is_held_out_in_parts_and_said_so(void)
{
    ct_tune_parameter p[SENSORS];
    ct_tune_problem problem = {SENSORS, 2, 0, p, ONE, NULL};
    toy t = {.rows = 1500, .residual = weighted_mean};
    sensors(p, 10);
    ct_tune_result r = toy_tune(&t, &problem, NULL);
    CHECK(has(&r, CT_FINDING_FEW_RECORDINGS) && !r.candidate[0].chosen);
    CHECK(r.after[1].loss < 0.9 * r.before[1].loss);
    ct_tune_result_free(&r);
}

/* Error bars: answers of many datasets scatter as the standard errors say. A common factor is not determined: ratios
 * to the mean are compared. */
static int64_t dataset;
static void other_logs(const toy *t, const double *value, int32_t log_, double *r)
{
    weighted_mean(t, value, (int32_t)(log_ + 100 * dataset), r);
}

static void test_answers_scatter_as_error_bars_say(void)
{
    ct_tune_parameter p[SENSORS];
    ct_tune_problem problem = {SENSORS, 5, 0, p, LOGS, NULL};
    ct_tune_options o = ct_tune_defaults();
    double sum[SENSORS] = {0}, square[SENSORS] = {0}, said[SENSORS] = {0};
    const int repeats = 30;
    o.folds = 0;
    sensors(p, 1);
    for (dataset = 1; dataset <= repeats; dataset++) {
        toy t = {.rows = 400, .residual = other_logs};
        double mean = 0;
        ct_tune_result r = toy_tune(&t, &problem, &o);
        for (int k = 0; k < SENSORS; k++) mean += log(r.value[k] / p[k].start) / SENSORS;
        for (int k = 0; k < SENSORS; k++) {
            const double x = log(r.value[k] / p[k].start) - mean;
            CHECK(r.standard_error[k] > 0 && (k == 2 || isfinite(r.standard_error[k]))); /* sensor 2 hardly counts */
            sum[k] += x / repeats;
            square[k] += x * x / repeats;
            said[k] += r.standard_error[k] * r.standard_error[k] / repeats;
        }
        CHECK(r.parts > 0 && r.sensitivity[0] > 0 && isfinite(r.sensitivity[0]));
        ct_tune_result_free(&r);
    }
    for (int k = 0; k < SENSORS; k++) {
        const double scatter = sqrt(square[k] - sum[k] * sum[k]);
        printf("  %s: scatter %.3f, standard error %.3f\n", p[k].name, scatter, sqrt(said[k]));
        CHECK(sqrt(said[k]) > 0.5 * scatter && (k == 2 || sqrt(said[k]) < 2 * scatter));
    }
}

/* The mean of two readings, weighted by the inverse of both values. */
static void mean_of_two(const toy *t, const double *value, int32_t log_, double *r)
{
    const double share = value[1] / (value[0] + value[1]);
    for (int64_t i = 0; i < t->rows; i++)
        r[i] = share * toy_noise(log_, i, 0) + (1 - share) * 2 * toy_noise(log_, i, 1);
}

/* Only the ratio matters: rounding does not decide which of both has no standard error, and the pair is named. */
static void test_a_common_factor_that_does_not_matter_is_said(void)
{
    ct_tune_parameter p[2] = {toy_parameter("a", 5), toy_parameter("b", 1)};
    ct_tune_problem problem = {2, 5, 0, p, LOGS, NULL};
    toy t = {.rows = 400, .residual = mean_of_two};
    ct_tune_result r = toy_tune(&t, &problem, NULL);
    const int32_t at = ct_findings_find(&r.findings, CT_FINDING_PRODUCT_UNDETERMINED);
    CHECK(at >= 0 && r.findings.item[at].subjects == 2 && r.findings.item[at].value[0] < 1);
    CHECK(isfinite(r.standard_error[0]) && isfinite(r.standard_error[1]));
    ct_tune_result_free(&r);
}

/* ---- Failures and noise ------------------------------------------------------------------------ */

static int half_space(const toy *t, const double *value, int32_t log_)
{
    (void)t;
    (void)log_;
    return value[0] < TRUE_VARIANCE[0] / 1.5; /* just beyond the minimum */
}

static void test_steps_into_failure_are_shortened(void)
{
    ct_tune_parameter p[SENSORS];
    ct_tune_problem problem = {SENSORS, 6, 0, p, LOGS, NULL};
    toy t = {.rows = 200, .residual = weighted_mean, .fails = half_space};
    sensors(p, 10);
    ct_tune_result r = toy_tune(&t, &problem, NULL);
    CHECK(r.failed[CT_TUNE_CRASHED] > 0 && has(&r, CT_FINDING_RUNS_FAILED));
    CHECK(!half_space(&t, r.value, 0));
    CHECK(toy_loss(&t, r.best, 0, 5) < 1.02 * toy_loss(&t, TRUE_VARIANCE, 0, 5));
    ct_tune_result_free(&r);
}

/* ---- Where linear models do not hold ----------------------------------------------------------- */

static int far_beyond(const toy *t, const double *value, int32_t log_)
{
    (void)t;
    (void)log_;
    return value[0] < 3 * TRUE_VARIANCE[0]; /* the minimum is where runs crash */
}

static void test_runs_that_crash_at_the_minimum_do_not_keep_the_start(void)
{
    ct_tune_parameter p[SENSORS];
    ct_tune_problem problem = {SENSORS, 6, 0, p, LOGS, NULL};
    toy t = {.rows = 200, .residual = weighted_mean, .fails = far_beyond};
    sensors(p, 30);
    ct_tune_result r = toy_tune(&t, &problem, NULL);
    CHECK(!r.candidate[0].chosen && !far_beyond(&t, r.value, 0));
    CHECK(r.value[0] < 6 * TRUE_VARIANCE[0] && r.loss < 0.5 * r.loss_start);
    CHECK(!r.candidate[1].failed && !r.candidate[3].failed);
    ct_tune_result_free(&r);
}

/* Errors of one size: large on a plateau, small in a hollow of the first value. */
static void hollow(const toy *t, const double *value, int32_t log_, double *r)
{
    const double a = log(value[0]) / log(10), b = log(value[1]) / log(10);
    const double size = a > 0 ? 1 : 1 - 0.9 * exp(-2 * (a + 3) * (a + 3));
    for (int64_t i = 0; i < t->rows; i++)
        r[i] = toy_noise(log_, i / 2, 0) * (i % 2 ? 0.025 * (b - 0.6) : size);
}

static void test_a_hollow_in_a_plateau_does_not_keep_the_start(void)
{
    static const double START[][2] = {{0.0042, 0.0125}, {0.043, 200}, {0.0012, 0.17}, {0.027, 0.43}};
    for (size_t k = 0; k < sizeof START / sizeof *START; k++) {
        ct_tune_parameter p[2] = {toy_parameter("a", START[k][0]), toy_parameter("b", START[k][1])};
        ct_tune_problem problem = {2, 6, 0, p, LOGS, NULL};
        toy t = {.rows = 200, .residual = hollow};
        ct_tune_result r = toy_tune(&t, &problem, NULL);
        CHECK(r.after[0].loss < 1.1 * toy_loss(&t, r.best, 0, 1));
        CHECK(r.after[5].loss < 1.1 * toy_loss(&t, r.best, 5, 6));
        CHECK(!isinf(r.standard_error[0])); /* it matters, though residuals have no slope there */
        ct_tune_result_free(&r);
    }
}

/* Runs with another seed differ; those of one seed have the same noise at all values. */
static void test_points_of_one_seed_are_not_taken_for_noisy(void)
{
    ct_tune_parameter p[SENSORS];
    ct_tune_problem problem = {SENSORS, 6, 0, p, LOGS, NULL};
    toy t = {.rows = 400, .residual = weighted_mean, .seeded = 0.1};
    sensors(p, 10);
    ct_tune_result r = toy_tune(&t, &problem, NULL);
    const int64_t runs = t.runs;
    CHECK(!has(&r, CT_FINDING_ESTIMATOR_NOISY) && r.noise == 0);
    CHECK(toy_loss(&t, r.value, 0, 5) < 1.05 * toy_loss(&t, TRUE_VARIANCE, 0, 5));
    ct_tune_result_free(&r);
    t = (toy){.rows = 400, .residual = weighted_mean, .noise = 0.1};
    r = toy_tune(&t, &problem, NULL);
    CHECK(has(&r, CT_FINDING_ESTIMATOR_NOISY) && r.noise > 0);
    CHECK(runs < t.runs);
    ct_tune_result_free(&r);
}

/* Answers under two priors differ by half a percent of the loss. Runs that differ by more cannot tell them apart. */
static void test_priors_are_not_chosen_by_noise(void)
{
    for (int noisy = 0; noisy < 2; noisy++) {
        ct_tune_parameter p[SENSORS];
        ct_tune_problem problem = {SENSORS, 6, 0, p, LOGS, NULL};
        toy t = {.rows = 400, .residual = weighted_mean, .scaled = noisy ? 0.1 : 0};
        sensors(p, 3);
        ct_tune_result r = toy_tune(&t, &problem, NULL);
        CHECK(r.candidates == (noisy ? 2 : 4));
        CHECK(!r.candidate[0].chosen && r.candidate[r.candidates - 1].prior == 0);
        ct_tune_result_free(&r);
    }
}

static void exact(const toy *t, const double *value, int32_t log_, double *r)
{
    (void)log_;
    for (int64_t i = 0; i < t->rows; i++) r[i] = log(value[0]) < -100; /* 0 */
}

static void test_a_loss_of_zero_at_the_start_ends_at_once(void)
{
    ct_tune_parameter p[1] = {toy_parameter("a", 1)};
    ct_tune_problem problem = {1, 6, 0, p, LOGS, NULL};
    toy t = {.rows = 10, .residual = exact};
    ct_tune_result r = {0};
    ct_err err = {0};
    toy_begin(&t, &problem);
    CHECK_REFUSED(ct_tune(&problem, NULL, &t.queue, &r, &err), err, "the loss is 0");
    CHECK(t.runs == 5);
    ct_tune_result_free(&r);
}

static void test_a_limit_of_points_before_convergence_is_said(void)
{
    ct_tune_parameter p[SENSORS];
    ct_tune_problem problem = {SENSORS, 6, 0, p, LOGS, NULL};
    ct_tune_options o = ct_tune_defaults();
    toy t = {.rows = 100, .residual = weighted_mean};
    o.method = CT_TUNE_FW;
    o.points = 30;
    sensors(p, 10);
    ct_tune_result r = toy_tune(&t, &problem, &o);
    CHECK(has(&r, CT_FINDING_SEARCH_UNFINISHED) && r.points <= 30);
    ct_tune_result_free(&r);
}

static int64_t other_truth;
static void wrong_truth(const toy *t, const double *value, int32_t log_, double *r)
{
    weighted_mean(t, value, log_, r);
    for (int64_t i = 0; i < t->rows && log_ < 5; i++) r[i] += (double)other_truth;
}

static void test_training_logs_with_another_truth_are_said(void)
{
    ct_tune_parameter p[SENSORS];
    ct_tune_problem problem = {SENSORS, 6, 0, p, LOGS, NULL};
    sensors(p, 1);
    for (other_truth = 0; other_truth < 60; other_truth += 30) {
        toy t = {.rows = 100, .residual = wrong_truth};
        ct_tune_result r = toy_tune(&t, &problem, NULL);
        CHECK(has(&r, CT_FINDING_TEST_LOGS_DIFFER) == (other_truth > 0));
        ct_tune_result_free(&r);
    }
}

static int start_fails(const toy *t, const double *value, int32_t log_)
{
    (void)t;
    return log_ == 1 && value[1] < TRUE_VARIANCE[1] / 8; /* the start is there */
}

static void test_a_start_that_fails_is_left(void)
{
    ct_tune_parameter p[SENSORS];
    ct_tune_problem problem = {SENSORS, 6, 0, p, LOGS, NULL};
    toy t = {.rows = 200, .residual = weighted_mean, .fails = start_fails};
    sensors(p, 10);
    ct_tune_result r = toy_tune(&t, &problem, NULL);
    CHECK(has(&r, CT_FINDING_START_FAILS) && r.before[1].end == CT_TUNE_CRASHED);
    CHECK(toy_loss(&t, r.best, 0, 5) < 1.02 * toy_loss(&t, TRUE_VARIANCE, 0, 5));
    CHECK(!r.candidate[0].chosen);
    ct_tune_result_free(&r);
}

static int always(const toy *t, const double *value, int32_t log_)
{
    (void)t;
    (void)value;
    (void)log_;
    return 1;
}

static void test_a_program_that_always_fails_is_no_error(void)
{
    ct_tune_parameter p[SENSORS];
    ct_tune_problem problem = {SENSORS, 6, 0, p, LOGS, NULL};
    toy t = {.rows = 20, .residual = weighted_mean, .fails = always};
    sensors(p, 10);
    ct_tune_result r = toy_tune(&t, &problem, NULL);
    CHECK(r.stop == CT_TUNE_STOP_FAILED && has(&r, CT_FINDING_NO_ESTIMATE));
    CHECK(r.runs <= 6 + 3 + 4 * (SENSORS + 1)); /* the start on all logs, repeats, other points on one log */
    for (int k = 0; k < SENSORS; k++) CHECK(r.value[k] == p[k].start);
    ct_tune_result_free(&r);
}

static void test_random_crashes_and_noise_change_the_answer_little(void)
{
    static const struct {
        double noise, crashes;
    } CASE[] = {{0, 0.1}, {0.02, 0}, {0.05, 0.1}};
    ct_tune_parameter p[SENSORS];
    ct_tune_problem problem = {SENSORS, 6, 0, p, LOGS, NULL};
    sensors(p, 10);
    for (int k = 0; k < 3; k++) {
        toy t = {.rows = 200, .residual = weighted_mean, .noise = CASE[k].noise, .crashes = CASE[k].crashes};
        ct_tune_result r = toy_tune(&t, &problem, NULL);
        CHECK((r.noise > 0) == (CASE[k].noise > 0) && has(&r, CT_FINDING_ESTIMATOR_NOISY) == (CASE[k].noise > 0));
        CHECK(toy_loss(&t, r.value, 0, 5) < 1.05 * toy_loss(&t, TRUE_VARIANCE, 0, 5));
        ct_tune_result_free(&r);
    }
}

/* Runs that fail because of their values teach nothing of those that fail at random. */
static int one_side(const toy *t, const double *value, int32_t log_)
{
    (void)t;
    (void)log_;
    return value[1] > 1.5 * TRUE_VARIANCE[1];
}

static void test_random_crashes_beside_values_that_fail_do_not_keep_the_start(void)
{
    ct_tune_parameter p[SENSORS];
    ct_tune_problem problem = {SENSORS, 6, 0, p, LOGS, NULL};
    for (int k = 0; k < 10; k++) {
        toy t = {.rows = 200, .residual = weighted_mean, .crashes = 0.1, .fails = one_side};
        sensors(p, 10 + k);
        p[1].start = 1.4 * TRUE_VARIANCE[1];
        ct_tune_result r = toy_tune(&t, &problem, NULL);
        CHECK(!r.candidate[0].chosen && toy_loss(&t, r.value, 0, 5) < 1.05 * toy_loss(&t, TRUE_VARIANCE, 0, 5));
        ct_tune_result_free(&r);
    }
}

/* Residuals of two runs differ by more than the best parameters are worth: slopes are steeper than they are, and single
 * points tell little. */
static void test_noise_above_the_effects_hides_no_parameter(void)
{
    ct_tune_parameter p[SENSORS];
    ct_tune_problem problem = {SENSORS, 6, 0, p, LOGS, NULL};
    sensors(p, 10);
    for (int k = 0; k < 3; k++) {
        toy t = {.rows = 400, .residual = weighted_mean, .noise = (double[]){0.1, 0.2, 0.4}[k]};
        ct_tune_result r = toy_tune(&t, &problem, NULL);
        const double least = toy_loss(&t, TRUE_VARIANCE, 0, 5);
        printf("  noise %.1f: loss of the answer %.3f times the least, of the start %.1f\n", t.noise,
               toy_loss(&t, r.value, 0, 5) / least, toy_loss(&t, (double[]){0.1, 0.1, 40, 0.025}, 0, 5) / least);
        CHECK(!has(&r, CT_FINDING_PARAMETER_WITHOUT_EFFECT));
        CHECK(toy_loss(&t, r.value, 0, 5) < (k < 2 ? 1.1 : 1.3) * least);
        ct_tune_result_free(&r);
    }
}

/* From run to run the noise of the loss is known from one pair of runs at first: chance must not make it an effect. */
#define NOISY_STARTS 40
static void test_a_parameter_without_effect_is_named_and_stays(void)
{
    ct_tune_parameter p[SENSORS + 1];
    ct_tune_problem problem = {SENSORS + 1, 6, 0, p, LOGS, NULL};
    int missed = 0;
    for (int start = 0; start < 1 + NOISY_STARTS; start++) {
        toy t = {.rows = 200, .residual = weighted_mean, .noise = start ? 1e-4 : 0};
        sensors(p, 10 + 0.01 * start);
        p[SENSORS] = toy_parameter("idle", 3);
        ct_tune_result r = toy_tune(&t, &problem, NULL);
        const int32_t i = ct_findings_find(&r.findings, CT_FINDING_PARAMETER_WITHOUT_EFFECT);
        CHECK(start || i >= 0);
        missed += i < 0;
        CHECK(i < 0 || (r.findings.item[i].subjects == 1 && !strcmp(r.findings.item[i].subject[0].name, "idle")));
        CHECK(i < 0 || (r.value[SENSORS] == 3 && isinf(r.standard_error[SENSORS])));
        CHECK(toy_loss(&t, r.best, 0, 5) < 1.02 * toy_loss(&t, TRUE_VARIANCE, 0, 5));
        ct_tune_result_free(&r);
    }
    printf("  with noise: missed from %d of %d starts\n", missed, NOISY_STARTS);
    CHECK(missed <= NOISY_STARTS / 20);
}

/* ---- Ties, spreads, quantities ----------------------------------------------------------------- */

static void test_ties_hold_in_every_run(void)
{
    ct_tune_parameter p[SENSORS];
    ct_tune_problem problem = {SENSORS, 6, 0, p, LOGS, NULL};
    toy t = {.rows = 200, .residual = weighted_mean};
    sensors(p, 10);
    p[3].tie = 1; /* as it is in truth */
    p[3].factor = 0.25;
    ct_tune_result r = toy_tune(&t, &problem, NULL);
    CHECK(r.value[3] == 0.25 * r.value[1] && r.best[3] == 0.25 * r.best[1]);
    CHECK(toy_loss(&t, r.best, 0, 5) < 1.02 * toy_loss(&t, TRUE_VARIANCE, 0, 5));
    ct_tune_result_free(&r);
}

/* Under a spread the answer is within it, and no neighbour within it is better. */
static void test_a_spread_is_kept_and_used_to_its_limit(void)
{
    const double spread[] = {50};
    ct_tune_parameter p[SENSORS];
    ct_tune_problem problem = {SENSORS, 6, 1, p, LOGS, spread};
    toy t = {.rows = 300, .residual = weighted_mean};
    sensors(p, 1);
    for (int k = 0; k < SENSORS; k++) {
        p[k].group = 0;
        p[k].start = 0.3;
        p[k].lower = 1e-4;
        p[k].upper = 1e3;
    }
    ct_tune_result r = toy_tune(&t, &problem, NULL);
    double low = INFINITY, high = 0;
    for (int k = 0; k < SENSORS; k++) low = fmin(low, r.best[k]), high = fmax(high, r.best[k]);
    CHECK(high / low <= 50 * (1 + 1e-9) && high / low > 45); /* the truth has 400 */
    const double at = toy_loss(&t, r.best, 0, 5);
    for (int k = 0; k < SENSORS; k++)
        for (int side = -1; side < 2; side += 2) {
            double v[SENSORS], least = INFINITY, most = 0;
            memcpy(v, r.best, sizeof v);
            v[k] *= exp(0.2 * side);
            for (int i = 0; i < SENSORS; i++) least = fmin(least, v[i]), most = fmax(most, v[i]);
            if (most / least <= 50) CHECK(toy_loss(&t, v, 0, 5) > at * (1 - 2e-3));
        }
    ct_tune_result_free(&r);
}

/* The same problem in sigmas or information has the same answer. */
static void as_variance(const toy *t, const double *value, int32_t log_, double *r)
{
    const double v[SENSORS] = {value[0] * value[0], 1 / value[1], value[2], value[3]};
    weighted_mean(t, v, log_, r);
}

static void test_what_a_number_is_changes_the_answer_by_rounding(void)
{
    ct_tune_parameter p[SENSORS];
    ct_tune_problem problem = {SENSORS, 6, 0, p, LOGS, NULL};
    toy a = {.rows = 200, .residual = weighted_mean}, b = {.rows = 200, .residual = as_variance};
    sensors(p, 10);
    ct_tune_result first = toy_tune(&a, &problem, NULL);
    p[0].quantity = CT_QUANTITY_SIGMA;
    p[0].start = sqrt(p[0].start), p[0].lower = sqrt(p[0].lower), p[0].upper = sqrt(p[0].upper);
    const ct_tune_parameter v = p[1];
    p[1].quantity = CT_QUANTITY_INFORMATION;
    p[1].start = 1 / v.start, p[1].lower = 1 / v.upper, p[1].upper = 1 / v.lower;
    ct_tune_result r = toy_tune(&b, &problem, NULL);
    CHECK(r.points == first.points);
    CHECK_NEAR(log(r.best[0] * r.best[0] / first.best[0]), 0, 1e-6);
    CHECK_NEAR(log(1 / r.best[1] / first.best[1]), 0, 1e-6);
    CHECK_NEAR(2 * r.standard_error[0], first.standard_error[0], 1e-6);
    ct_tune_result_free(&r);
    ct_tune_result_free(&first);
}

/* ---- Progress and refusals ---------------------------------------------------------------------- */

static int stop_after(void *user, const ct_tune_progress *p)
{
    CHECK(p->runs >= 0 && p->phase);
    return p->runs >= *(int64_t *)user;
}

static void test_cancelling_keeps_the_best_so_far(void)
{
    ct_tune_parameter p[SENSORS];
    ct_tune_problem problem = {SENSORS, 6, 0, p, LOGS, NULL};
    sensors(p, 10);
    for (int64_t after = 1; after < 90; after += 17) { /* fewer than all runs */
        ct_tune_options o = ct_tune_defaults();
        ct_tune_result r = {0};
        ct_err err = {0};
        toy t = {.rows = 50, .residual = weighted_mean};
        o.progress = stop_after;
        o.user = &after;
        toy_begin(&t, &problem);
        CHECK_OK(ct_tune(&problem, &o, &t.queue, &r, &err), err);
        CHECK(r.stop == CT_TUNE_STOP_CANCELLED && !t.running);
        CHECK(r.value[0] > 0 && (after < 6 || toy_loss(&t, r.value, 0, 5) <= r.loss_start * (1 + 1e-12)));
        ct_tune_result_free(&r);
    }
}

static void test_what_cannot_be_tuned_is_refused(void)
{
    const double spread[] = {2};
    ct_tune_parameter p[2] = {toy_parameter("a", 1), toy_parameter("b", 1)};
    const ct_tune_parameter a = p[0], b = p[1];
    ct_tune_problem problem = {2, 1, 0, p, LOGS, NULL};
    ct_err err = {0};
    CHECK_OK(ct_tune_check(&problem, &err), err);
#define REFUSED(change, part)                                      \
    do {                                                           \
        change;                                                    \
        CHECK_REFUSED(ct_tune_check(&problem, &err), err, part);   \
        p[0] = a, p[1] = b;                                        \
        problem = (ct_tune_problem){2, 1, 0, p, LOGS, NULL};       \
    } while (0)
    REFUSED(problem.parameters = 0, "no parameter");
    REFUSED(problem.logs = 0, "no log to learn from");
    REFUSED(problem.log = LOGS + 5, "no log to learn from");
    REFUSED(strcpy(p[1].name, "a"), "two parameters are called a");
    REFUSED(p[1].start = 1e9, "outside the bounds");
    REFUSED(p[0].lower = 0, "not positive");
    REFUSED(p[0].upper = NAN, "finite");
    REFUSED(p[0].lower = 5; p[0].upper = 4, "no number is in");
    REFUSED(p[0].tie = 1, "does not come before");
    REFUSED(p[1].tie = 0; p[1].factor = 0, "not possible");
    REFUSED(p[1].tie = 0; p[1].factor = 1e6, "outside");
    REFUSED(p[1].group = 3, "no group");
    REFUSED(p[0].group = p[1].group = 0; problem.spreads = 1; problem.spread = spread; p[1].lower = 0.5; p[0].upper = 1;
            p[1].start = 900; p[1].lower = 800, "cannot be met");
    REFUSED(p[0].group = p[1].group = 0; problem.spreads = 1; problem.spread = spread; p[1].tie = 0; p[1].factor = 200,
            "are tied, and their variances have the ratio 200");
    ct_tune_options o = ct_tune_defaults();
    ct_tune_result  r;
    toy t = {.rows = 2, .residual = weighted_mean};
    toy_begin(&t, &problem);
    o.method = CT_TUNE_METHOD_COUNT;
    CHECK_REFUSED(ct_tune(&problem, &o, &t.queue, &r, &err), err, "not a method");
    ct_tune_result_free(&r);
    CHECK(ct_tune_method_find("lm") == CT_TUNE_LM && ct_tune_method_find("?") == -1);
    CHECK(ct_quantity_find("sigma") == CT_QUANTITY_SIGMA && !strcmp(ct_quantity_name(CT_QUANTITY_NUMBER), "number"));
    CHECK(!strcmp(ct_tune_stop_name(CT_TUNE_STOP_STUCK), "stuck") && ct_tune_stop_meaning(CT_TUNE_STOP_NOISE)[0]);
}

int main(void)
{
    RUN(test_a_bad_start_is_replaced_and_a_good_one_stays);
    RUN(test_one_recording_is_held_out_in_parts_and_said_so);
    RUN(test_answers_scatter_as_error_bars_say);
    RUN(test_a_common_factor_that_does_not_matter_is_said);
    RUN(test_runs_that_crash_at_the_minimum_do_not_keep_the_start);
    RUN(test_a_hollow_in_a_plateau_does_not_keep_the_start);
    RUN(test_points_of_one_seed_are_not_taken_for_noisy);
    RUN(test_priors_are_not_chosen_by_noise);
    RUN(test_a_loss_of_zero_at_the_start_ends_at_once);
    RUN(test_a_limit_of_points_before_convergence_is_said);
    RUN(test_training_logs_with_another_truth_are_said);
    RUN(test_steps_into_failure_are_shortened);
    RUN(test_a_start_that_fails_is_left);
    RUN(test_a_program_that_always_fails_is_no_error);
    RUN(test_random_crashes_and_noise_change_the_answer_little);
    RUN(test_random_crashes_beside_values_that_fail_do_not_keep_the_start);
    RUN(test_noise_above_the_effects_hides_no_parameter);
    RUN(test_a_parameter_without_effect_is_named_and_stays);
    RUN(test_ties_hold_in_every_run);
    RUN(test_a_spread_is_kept_and_used_to_its_limit);
    RUN(test_what_a_number_is_changes_the_answer_by_rounding);
    RUN(test_cancelling_keeps_the_best_so_far);
    RUN(test_what_cannot_be_tuned_is_refused);
    return ct_test_end();
}
