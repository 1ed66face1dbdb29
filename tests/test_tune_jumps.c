/* test_tune_jumps.c: estimators with gates, switches and hysteresis: residuals jump wherever a measurement more is
 * rejected, and differences of two points tell little. Answers under a prior that is far from the minimum. */
#include "tune_test.h"

#define STARTS 40
#define NUMBERS 4
#define UNSEEN 100 /* logs that no search sees */
static const ct_tune_log LOGS[] = {{"a", "a", 0}, {"b", "b", 0}, {"c", "c", 0},
                                   {"d", "d", 0}, {"e", "e", 0}, {"f", "f", 1}};
#define LOW  0.22313016014842982 /* exp(-1.5) */
#define HIGH 4.4816890703380645
static const double MINIMUM[NUMBERS] = {LOW, HIGH, LOW, HIGH};
static double height; /* of jumps */

/* A bowl in the logarithms of the values, and a saw of its own direction for every twenty rows. */
static void saws(const toy *t, const double *value, int32_t log_, double *r)
{
    for (int64_t i = 0; i < t->rows; i++) {
        const int k = (int)(i % NUMBERS), block = (int)(i / 20);
        double    s = 3 * toy_noise(log_ + 90, block, 0);
        for (int j = 0; j < NUMBERS; j++) s += log(value[j]) * toy_noise(log_ + 50, block, j);
        r[i] = 0.1 * toy_noise(log_, i, 0) + 0.1 * log(value[k] / MINIMUM[k]) + height * (floor(s) - s + 0.5);
    }
}

static void start_of(int k, ct_tune_parameter *p)
{
    ct_rng rng = ct_rng_seed(100 + (uint64_t)k);
    for (int i = 0; i < NUMBERS; i++) {
        p[i] = toy_parameter("v", exp(2 * ct_rng_uniform(&rng) - 1));
        p[i].name[0] = (char)('a' + i);
    }
}

static void test_a_search_among_jumps_does_not_end_at_the_first_of_them(void)
{
    double mean = 0;
    height = 0.2;
    for (int k = 0; k < STARTS; k++) {
        ct_tune_parameter p[NUMBERS];
        const ct_tune_problem problem = {NUMBERS, 6, 0, p, LOGS, NULL};
        toy t = {.rows = 200, .residual = saws};
        start_of(k, p);
        ct_tune_result r = toy_tune(&t, &problem, NULL);
        mean += log(toy_loss(&t, r.best, 0, 5) / toy_loss(&t, MINIMUM, 0, 5)) / STARTS;
        ct_tune_result_free(&r);
    }
    printf("  loss over that of the bowl's minimum: %.3f\n", exp(mean));
    CHECK(exp(mean) < 1.03);
}

/* A model is steep at a jump, and promises a fold's answer that is far away. What the held-out logs gain by having been
 * learned from is no more than a run of that answer says. */
static void test_what_held_out_logs_gain_is_not_overstated_among_jumps(void)
{
    int kept = 0;
    height = 0.6;
    for (int k = 0; k < STARTS; k++) {
        ct_tune_parameter p[NUMBERS];
        const ct_tune_problem problem = {NUMBERS, 6, 0, p, LOGS, NULL};
        double start[NUMBERS];
        toy t = {.rows = 200, .residual = saws};
        start_of(k, p);
        for (int i = 0; i < NUMBERS; i++) start[i] = p[i].start;
        ct_tune_result r = toy_tune(&t, &problem, NULL);
        const double ratio = toy_loss(&t, r.best, UNSEEN, UNSEEN + 20) / toy_loss(&t, start, UNSEEN, UNSEEN + 20);
        if (r.candidate[0].chosen && ratio < 0.7) {
            kept++;
            printf("  start %d stays: log ratio %.2f +- %.2f, loss on unseen logs %.2f times that of the start\n", k,
                   r.candidate[3].log_ratio, r.candidate[3].log_ratio_error, ratio);
        }
        ct_tune_result_free(&r);
    }
    CHECK(kept == 0);
}

/* The largest ratio of the first value to its start, up or down, in the first runs of a search. */
static double farthest;
static int    seen;
static void bowl(const toy *t, const double *value, int32_t log_, double *r)
{
    const double x = log(value[0]), y = log(value[1]);
    if (++seen <= 9) farthest = fmax(farthest, fabs(x - log(t->problem->parameter[0].start)));
    for (int64_t i = 0; i < t->rows; i++) r[i] = (i % 2 ? x - 0.4 : y - 1) + 0.1 * toy_noise(log_, i, 0);
}

/* Bounds of a gate are narrow: a step of e in variance is one of e^2 in a sigma, and from 3 to 20 in a gate. */
static void test_a_threshold_is_moved_as_far_as_a_sigma(void)
{
    ct_tune_parameter p[2] = {toy_parameter("gate", 3), toy_parameter("sigma", 1)};
    const ct_tune_problem problem = {2, 6, 0, p, LOGS, NULL};
    toy t = {.rows = 100, .residual = bowl};
    p[0].quantity = CT_QUANTITY_NUMBER;
    p[1].quantity = CT_QUANTITY_SIGMA;
    p[0].lower = 0.5;
    p[0].upper = 20;
    ct_tune_result r = toy_tune(&t, &problem, NULL);
    CHECK(farthest > 0.5 && farthest < 1 + 1e-9);
    CHECK_NEAR(log(r.best[0]), 0.4, 0.05);
    ct_tune_result_free(&r);
}

/* The first value is the width of a kernel, and has an effect where it is below the residuals of about one. */
static void kernel(const toy *t, const double *value, int32_t log_, double *r)
{
    const double width = fmin(value[0], 1), y = log(value[1]);
    for (int64_t i = 0; i < t->rows; i++)
        r[i] = 0.1 * toy_noise(log_, i, 0) + (i % 2 ? fabs(log(width) - log(0.2)) : 0.2 * (y - 1));
}

/* Forty times is not far for a width: its slope is looked for over a thousand times. */
static void test_a_kernel_that_is_too_wide_at_the_start_is_learned(void)
{
    ct_tune_parameter p[2] = {toy_parameter("width", 50), toy_parameter("b", 1)};
    const ct_tune_problem problem = {2, 6, 0, p, LOGS, NULL};
    toy t = {.rows = 100, .residual = kernel};
    p[0].quantity = CT_QUANTITY_NUMBER;
    p[0].lower = 0.05;
    p[0].upper = 100;
    ct_tune_result r = toy_tune(&t, &problem, NULL);
    CHECK(ct_findings_find(&r.findings, CT_FINDING_PARAMETER_WITHOUT_EFFECT) < 0);
    CHECK_NEAR(log(r.best[0]), log(0.2), 0.1);
    ct_tune_result_free(&r);
}

/* Steep below the start, flat above: one step of a linear model from the minimum is far from the prior's answer. */
static void bend(const toy *t, const double *value, int32_t log_, double *r)
{
    const double x = log(value[0]), y = log(value[1]);
    for (int64_t i = 0; i < t->rows; i++)
        r[i] = 0.3 * toy_noise(log_, i, 0) + (i % 2 ? 0.5 * exp(-0.5 * x) : 0.3 * (y - 0.1 * x * x));
}

static double with_prior(const toy *t, const double *value, double prior, double least)
{
    double square = 0;
    for (int k = 0; k < 2; k++) square += log(value[k]) * log(value[k]);
    return toy_loss(t, value, 0, 5) + 0.5 * prior * least * square;
}

static void test_the_answer_under_a_prior_is_its_minimum(void)
{
    ct_tune_parameter p[2] = {toy_parameter("a", 1), toy_parameter("b", 1)};
    const ct_tune_problem problem = {2, 6, 0, p, LOGS, NULL};
    ct_tune_options o = ct_tune_defaults();
    toy t = {.rows = 200, .residual = bend};
    o.prior = 0.1;
    o.folds = 0;
    ct_tune_result r = toy_tune(&t, &problem, &o);
    const double least = toy_loss(&t, r.best, 0, 5), own = with_prior(&t, r.value, o.prior, least);
    for (int side = 0; side < 4; side++) {
        const double step = exp(side % 2 ? 0.5 : -0.5);
        const double value[2] = {r.value[0] * (side < 2 ? step : 1), r.value[1] * (side < 2 ? 1 : step)};
        CHECK(with_prior(&t, value, o.prior, least) > own);
    }
    ct_tune_result_free(&r);
}

int main(void)
{
    RUN(test_a_search_among_jumps_does_not_end_at_the_first_of_them);
    RUN(test_what_held_out_logs_gain_is_not_overstated_among_jumps);
    RUN(test_a_threshold_is_moved_as_far_as_a_sigma);
    RUN(test_a_kernel_that_is_too_wide_at_the_start_is_learned);
    RUN(test_the_answer_under_a_prior_is_its_minimum);
    return ct_test_end();
}
