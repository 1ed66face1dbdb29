/* test_default_bounds.c: bounds that nobody gave come from the data, for methods that go to their corners. */
#include "ct_test.h"

#include <covtune/covtune.h>

/* ---- origins of bounds ----------------------------------------------------------------------- */

static ct_noise *make_table(void)
{
    ct_noise *noise = NULL;
    ct_err    err = {0};
    CHECK_OK(ct_noise_new(&noise, &err), err);
    CHECK_OK(ct_noise_add_diagonal(noise, "odom", 2, (const double[]){0.01, 4}, NULL, &err), err);
    CHECK_OK(ct_noise_add_full(noise, "gps", 2, (const double[]){2, 1, 1, 2}, NULL, &err), err); /* 1 and 3 */
    CHECK_OK(ct_noise_add_isotropic(noise, "range", 1, 9, NULL, &err), err);
    return noise;
}

static void check_range(const ct_theta *theta, int32_t i, double lower, double upper, ct_bound_origin origin)
{
    double l, u;
    ct_theta_bounds(theta, i, &l, &u);
    CHECK_NEAR(l, lower, 1e-9 * lower);
    CHECK_NEAR(u, upper, 1e-9 * upper);
    CHECK(ct_theta_bound_origin(theta, i) == origin);
}

static void test_only_default_bounds_move_around_values(void)
{
    ct_noise *noise = make_table();
    ct_theta *theta = NULL;
    ct_err    err = {0};
    double    p[8];
    int32_t   changed;
    CHECK_OK(ct_theta_new(noise, &theta, &err), err);
    CHECK_OK(ct_theta_learn(theta, 0, CT_NOISE_DIAGONAL, 1e-10, 1e6, &err), err);
    CHECK_OK(ct_theta_learn(theta, 1, CT_NOISE_FULL, 1e-10, 1e6, &err), err);
    CHECK_OK(ct_theta_learn(theta, 2, CT_NOISE_ISOTROPIC, 1e-10, 1e6, &err), err);
    CHECK_OK(ct_theta_bound_is_default(theta, 0, -1, &err), err);
    CHECK_OK(ct_theta_bound(theta, 0, 1, 1, 5, &err), err); /* given after all */
    CHECK_OK(ct_theta_bound_is_default(theta, 1, -1, &err), err);
    ct_theta_get(theta, noise, p);
    CHECK(ct_theta_bound_around(theta, p, 0.5, NULL, &err) == CT_E_ARGUMENT);
    CHECK_OK(ct_theta_bound_around(theta, p, 100, &changed, &err), err);
    CHECK(changed == 2);
    check_range(theta, 0, 1e-4, 1, CT_BOUND_FROM_DATA);
    check_range(theta, 1, 1, 5, CT_BOUND_GIVEN);
    check_range(theta, 2, 0.01, 300, CT_BOUND_FROM_DATA);
    check_range(theta, 5, 1e-10, 1e6, CT_BOUND_GIVEN);
    CHECK(ct_theta_bound_origin(theta, 6) == CT_BOUND_ORIGIN_COUNT);
    CHECK_OK(ct_theta_bound_around(theta, p, 10, &changed, &err), err);
    CHECK(changed == 0); /* they are no defaults any more */
    ct_theta_free(theta);
    ct_noise_free(noise);
}

static void test_tied_bounds_are_defaults_if_both_are(void)
{
    for (int given = 0; given < 2; given++) {
        ct_noise *noise = make_table();
        ct_theta *theta = NULL;
        ct_err    err = {0};
        CHECK_OK(ct_theta_new(noise, &theta, &err), err);
        CHECK_OK(ct_theta_learn(theta, 0, CT_NOISE_DIAGONAL, 1e-10, 1e6, &err), err);
        CHECK_OK(ct_theta_bound_is_default(theta, 0, 0, &err), err);
        if (!given) CHECK_OK(ct_theta_bound_is_default(theta, 0, 1, &err), err);
        CHECK_OK(ct_theta_tie(theta, 0, 0, 0, 1, &err), err);
        CHECK(ct_theta_bound_origin(theta, 0) == (given ? CT_BOUND_GIVEN : CT_BOUND_DEFAULT));
        ct_theta_free(theta);
        ct_noise_free(noise);
    }
}

static void test_a_spread_that_cannot_be_kept_leaves_bounds_as_they_are(void)
{
    ct_noise *noise = make_table();
    ct_theta *theta = NULL;
    ct_err    err = {0};
    double    p[2];
    CHECK_OK(ct_theta_new(noise, &theta, &err), err);
    CHECK_OK(ct_theta_learn(theta, 0, CT_NOISE_DIAGONAL, 1e-10, 1e6, &err), err);
    CHECK_OK(ct_theta_bound_is_default(theta, 0, -1, &err), err);
    CHECK_OK(ct_theta_set_spread(theta, 3, &err), err);
    ct_theta_get(theta, noise, p);
    CHECK(ct_theta_bound_around(theta, p, 2, NULL, &err) == CT_E_ARGUMENT); /* 0.02 and 2: a hundred apart */
    check_range(theta, 0, 1e-10, 1e6, CT_BOUND_DEFAULT);
    ct_theta_free(theta);
    ct_noise_free(noise);
}

/* ---- learning -------------------------------------------------------------------------------- */

/* Three sequences of D1, start values far off. With `positions`, the truth is positions alone. */
static ct_dataset *make_dataset(int positions)
{
    ct_nav_options options;
    ct_dataset    *d = NULL;
    ct_err         err = {0};
    CHECK(ct_nav_preset("D1", CT_SE2, &options));
    options.least = options.most = 120;
    CHECK_OK(ct_dataset_new(&d, &err), err);
    d->train = calloc(3, sizeof *d->train);
    for (; d->trains < 3; d->trains++) {
        CHECK_OK(ct_simulate_nav(&options, (uint64_t)d->trains, d->noise, &d->train[d->trains], &err), err);
        for (int32_t v = 0; positions && v < 120; v++) d->train[d->trains]->known[v] = 3;
    }
    ct_graph_name_rows(d->train[0]->graph, d->noise);
    for (int32_t g = 0; g < ct_noise_count(d->noise); g++)
        if (strcmp(ct_noise_get(d->noise, g)->name, "first_pose"))
            CHECK_OK(ct_noise_set_variance(d->noise, g, (const double[]){20, 20, 20}, &err), err);
    return d;
}

typedef struct {
    ct_theta *theta;
    ct_outer *outer;
} problem;

static problem define(const ct_dataset *d, const char *bound, ct_learn_method method)
{
    ct_theta_options       options = ct_theta_defaults();
    const ct_outer_options outer = ct_outer_defaults();
    problem                p = {0};
    ct_err                 err = {0};
    options.bound = bound;
    CHECK_OK(ct_dataset_theta(d, &options, &p.theta, &err), err);
    CHECK_OK(ct_outer_new(d->trains, (const ct_sequence *const *)d->train, d->noise, p.theta, &outer, &p.outer, &err),
             err);
    CHECK_OK(ct_learn_default_bounds(p.outer, method, p.theta, &err), err);
    return p;
}

static void free_problem(problem *p)
{
    ct_outer_free(p->outer);
    ct_theta_free(p->theta);
}

static void test_frank_wolfe_is_bounded_by_the_closed_form(void)
{
    ct_dataset *d = make_dataset(0);
    problem     p = define(d, "gps.x=0.5:2", CT_LEARN_FRANK_WOLFE);
    double      closed[6];
    ct_err      err = {0};
    CHECK(ct_theta_count(p.theta) == 6);
    CHECK_OK(ct_outer_closed_form(p.outer, NULL, closed, NULL, &err), err);
    for (int32_t i = 0; i < 6; i++) {
        char name[64];
        ct_theta_name(p.theta, i, name, sizeof name);
        if (!strcmp(name, "gps.x")) check_range(p.theta, i, 0.5, 2, CT_BOUND_GIVEN);
        else check_range(p.theta, i, exp(closed[i]) / 100, exp(closed[i]) * 100, CT_BOUND_FROM_DATA);
    }
    ct_learn_options how = ct_learn_defaults();
    ct_learn_result  result;
    how.method = CT_LEARN_FRANK_WOLFE;
    how.max_iterations = 20;
    CHECK_OK(ct_learn(p.outer, &how, d->noise, &result, &err), err);
    const int32_t why = ct_findings_find(&result.findings, CT_FINDING_BOUNDS_FROM_DATA),
                  used = ct_findings_find(&result.findings, CT_FINDING_BOUNDS_USED);
    CHECK(why >= 0 && result.findings.item[why].subjects == 5);
    CHECK(used >= 0 && result.findings.item[used].subjects == 1);
    CHECK_NEAR(result.findings.item[used].value[1], exp(closed[0]) * 100, 1e-9);
    CHECK(result.loss_train < result.loss_start);
    ct_learn_result_free(&result);
    free_problem(&p);
    ct_dataset_free(d);
}

static void test_other_methods_keep_wide_bounds(void)
{
    ct_dataset *d = make_dataset(0);
    const ct_learn_method METHODS[] = {CT_LEARN_LM, CT_LEARN_NELDER_MEAD, CT_LEARN_BOBYQA};
    for (int k = 0; k < 3; k++) {
        problem p = define(d, NULL, METHODS[k]);
        for (int32_t i = 0; i < 6; i++)
            check_range(p.theta, i, CT_BOUND_WIDE_LOWER, CT_BOUND_WIDE_UPPER, CT_BOUND_DEFAULT);
        free_problem(&p);
    }
    ct_dataset_free(d);
}

/* Headings without truth have no closed form: likelihood says where they are, from start values three decades off. */
static void test_rows_without_a_closed_form_are_bounded_by_likelihood(void)
{
    ct_dataset  *d = make_dataset(1);
    problem      p = define(d, NULL, CT_LEARN_FRANK_WOLFE_LOG);
    const double LATENT[] = {0.01, 0.01, 0.01, 1, 1, 0.01};
    for (int32_t i = 0; i < 6; i++) {
        double lower, upper;
        ct_theta_bounds(p.theta, i, &lower, &upper);
        CHECK(lower < 0.03 * LATENT[i] && upper > 30 * LATENT[i]);
        CHECK(ct_theta_bound_origin(p.theta, i) == CT_BOUND_FROM_DATA);
    }
    free_problem(&p);
    ct_dataset_free(d);
}

int main(void)
{
    RUN(test_only_default_bounds_move_around_values);
    RUN(test_tied_bounds_are_defaults_if_both_are);
    RUN(test_a_spread_that_cannot_be_kept_leaves_bounds_as_they_are);
    RUN(test_frank_wolfe_is_bounded_by_the_closed_form);
    RUN(test_other_methods_keep_wide_bounds);
    RUN(test_rows_without_a_closed_form_are_bounded_by_likelihood);
    return ct_test_end();
}
