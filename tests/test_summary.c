/* test_summary.c: which evaluations count, and what the estimate function receives. */
#include "trial_test.h"

/* A sequence that stopped at the limit of iterations has an estimate: it counts in all means, and failed. */
static void test_an_estimate_at_a_limit_counts_and_failed(void)
{
    course              c = course_of("D1", 2, 40, 1e-3, 1e3);
    ct_evaluate_options options = ct_evaluate_defaults();
    ct_evaluation       each[TESTS];
    ct_summary          s;
    options.inference.incremental = 0;
    options.inference.solve.max_iterations = 1;
    options.nees = options.conditioning = 1;
    CHECK_OK(ct_evaluate(TESTS, c.test, c.l.noise, &options, each, &s, &c.l.err), c.l.err);
    CHECK(s.sequences == TESTS && s.failed == TESTS && s.averaged == TESTS);
    double loss = 0, nees = 0, degrees = 0;
    for (int i = 0; i < TESTS; i++) {
        CHECK(each[i].solve.stop == CT_STOP_ITERATIONS);
        CHECK(ct_evaluation_has_estimate(&each[i]) && ct_evaluation_failed(&each[i]));
        CHECK(each[i].condition > 1 && each[i].condition_scaled > 1);
        loss += each[i].loss;
        nees += each[i].consistency.nees;
        degrees += (double)each[i].consistency.nees_degrees;
    }
    CHECK(s.loss == loss / TESTS && s.nees == nees / degrees && s.condition > 1 && s.seconds > 0);
    course_free(&c);
}

/* Stops by hand: what counts and what failed. */
static void test_stops_decide_what_counts(void)
{
    static const struct {
        ct_stop stop;
        double  distance, chi;
        int     has, failed, tried;
    } CASE[] = {
        {CT_STOP_NONE, 0, 1, 0, 0, 0},       {CT_STOP_ERROR, 0, 1, 1, 0, 1},          {CT_STOP_STEP, 0, 1, 1, 0, 1},
        {CT_STOP_GRADIENT, 0, 1, 1, 0, 1},   {CT_STOP_ITERATIONS, 0, 1, 1, 1, 1},     {CT_STOP_STUCK, 0, 1, 1, 1, 1},
        {CT_STOP_ROUNDING, 0, 1, 1, 0, 1},   {CT_STOP_ROUNDING, INFINITY, 1, 0, 1, 1}, {CT_STOP_RANK, 0, 1, 0, 1, 1},
        {CT_STOP_CANCELLED, 0, 1, 0, 0, 0},  {CT_STOP_NOT_FINITE, 0, NAN, 0, 1, 1},   {CT_STOP_STEP, 0, NAN, 0, 1, 1},
    };
    for (size_t k = 0; k < sizeof CASE / sizeof *CASE; k++) {
        const ct_evaluation e = {.solve = {.stop = CASE[k].stop, .distance = CASE[k].distance},
                                 .loss = 2,
                                 .consistency = {.chi_squared = CASE[k].chi, .degrees = 1, .nees = NAN}};
        ct_summary          s;
        ct_err              err = {0};
        CHECK(ct_evaluation_has_estimate(&e) == CASE[k].has && ct_evaluation_failed(&e) == CASE[k].failed);
        CHECK_OK(ct_summarise(1, &e, NULL, &s, &err), err);
        CHECK(s.sequences == CASE[k].tried && s.averaged == CASE[k].has && s.failed == CASE[k].failed);
        CHECK(CASE[k].has ? s.loss == 2 : isnan(s.loss));
    }
}

static void test_sequences_left_out_are_not_in_the_means(void)
{
    course              c = course_of("D1", 2, 30, 1e-3, 1e3);
    ct_evaluate_options options = ct_evaluate_defaults();
    ct_evaluation       each[TESTS];
    ct_summary          one, all;
    const uint8_t       use[TESTS] = {0, 1, 0};
    options.nees = options.conditioning = 1;
    CHECK_OK(ct_evaluate(TESTS, c.test, c.l.noise, &options, each, &all, &c.l.err), c.l.err);
    CHECK_OK(ct_summarise(TESTS, each, use, &one, &c.l.err), c.l.err);
    CHECK(one.sequences == TESTS && one.averaged == 1 && one.failed == 0 && all.averaged == TESTS);
    CHECK(one.loss == each[1].loss && one.condition == each[1].condition && one.loss != all.loss);
    CHECK(one.nees == each[1].consistency.nees / (double)each[1].consistency.nees_degrees);
    CHECK_REFUSED(ct_summarise(-1, each, NULL, &one, &c.l.err), c.l.err, "-1 evaluations");
    CHECK(one.sequences == 0 && isnan(one.loss));
    course_free(&c);
}

typedef struct {
    course *c;
    double *x[TESTS], nees[TESTS], condition[TESTS];
    int     calls, refuse_at; /* refuse_at: -1 never */
} keeper;

static ct_status keep(void *user, int32_t i, const ct_evaluation *evaluation, const ct_estimate *estimate, ct_err *err)
{
    keeper        *k = user;
    const ct_graph *graph = k->c->test[i]->graph;
    const size_t    bytes = (size_t)ct_graph_size(graph) * sizeof(double);
    k->calls++;
    if (i == k->refuse_at) return ct_fail(err, CT_E_ARGUMENT, "not this one");
    CHECK(ct_evaluation_has_estimate(evaluation) && estimate->nees && estimate->conditioning);
    k->x[i] = malloc(bytes);
    memcpy(k->x[i], estimate->x, bytes);
    for (int32_t v = 0; v < ct_graph_variables(graph); v++)
        if (estimate->nees_degrees[v]) k->nees[i] += estimate->nees[v];
    k->condition[i] = estimate->conditioning->plain.condition;
    return CT_OK;
}

/* The values, NEES and conditioning that the estimate function receives are those of the result, on any threads. */
static void test_estimates_are_given_to_the_caller(void)
{
    course              c = course_of("D2", 2, 30, 1e-3, 1e3);
    ct_evaluate_options options = ct_evaluate_defaults();
    options.nees = options.conditioning = 1;
    options.estimate = keep;
    for (options.jobs = 1; options.jobs <= 3; options.jobs++) {
        keeper        k = {.c = &c, .refuse_at = -1};
        ct_evaluation each[TESTS];
        options.user = &k;
        CHECK_OK(ct_evaluate(TESTS, c.test, c.l.noise, &options, each, NULL, &c.l.err), c.l.err);
        CHECK(k.calls == TESTS);
        for (int i = 0; i < TESTS; i++) {
            CHECK(ct_loss_value(&options.loss, c.test[i], k.x[i]) == each[i].loss);
            CHECK(k.nees[i] == each[i].consistency.nees && k.condition[i] == each[i].condition);
            free(k.x[i]);
        }
    }
    keeper k = {.c = &c, .refuse_at = 0};
    options.jobs = 1;
    options.user = &k;
    CHECK_REFUSED(ct_evaluate(TESTS, c.test, c.l.noise, &options, NULL, NULL, &c.l.err), c.l.err, "not this one");
    CHECK(k.calls == 1);
    course_free(&c);
}

int main(void)
{
    RUN(test_an_estimate_at_a_limit_counts_and_failed);
    RUN(test_stops_decide_what_counts);
    RUN(test_sequences_left_out_are_not_in_the_means);
    RUN(test_estimates_are_given_to_the_caller);
    return ct_test_end();
}
