/* test_tune_jumps.c: estimators with gates, switches and hysteresis: residuals jump wherever a measurement more is
 * rejected, and differences of two points tell little. */
#include "tune_test.h"

#define STARTS 40
#define NUMBERS 4
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

int main(void)
{
    RUN(test_a_search_among_jumps_does_not_end_at_the_first_of_them);
    RUN(test_a_threshold_is_moved_as_far_as_a_sigma);
    return ct_test_end();
}
