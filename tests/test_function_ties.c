/* test_function_ties.c: functions of features under ties and a limit of the spread: what is tied has one function, and
 * the limit holds for every measurement. */
#define _XOPEN_SOURCE 700
#include "ct_test.h"

#include <covtune/covtune.h>
#include <math.h>
#include <string.h>

typedef struct {
    ct_noise    *noise;
    ct_theta    *theta;
    ct_sequence *seq[8];
    int          count;
    ct_err       err;
} data;

static const ct_sequence *const *list(const data *d) { return (const ct_sequence *const *)d->seq; }

/* With two regimes "gps@0" and "gps@1". Constant models; theta learns all but the first pose. */
static data make(int regimes, int runs)
{
    data           d = {.count = runs};
    ct_nav_options o;
    CHECK(ct_nav_preset(regimes > 1 ? "D3" : "D1", CT_SE2, &o));
    CHECK(o.regimes == regimes);
    o.least = o.most = 80;
    o.situation = CT_SITUATION_LINEAR;
    CHECK_OK(ct_noise_new(&d.noise, &d.err), d.err);
    for (int i = 0; i < runs; i++) CHECK_OK(ct_simulate_nav(&o, (uint64_t)i, d.noise, &d.seq[i], &d.err), d.err);
    CHECK_OK(ct_theta_new(d.noise, &d.theta, &d.err), d.err);
    for (int32_t g = 0; g < ct_noise_count(d.noise); g++) {
        CHECK_OK(ct_noise_set_function(d.noise, g, NULL, &d.err), d.err);
        if (strncmp(ct_noise_get(d.noise, g)->name, "first", 5))
            CHECK_OK(ct_theta_learn(d.theta, g, CT_NOISE_DIAGONAL, 1e-8, 1e6, &d.err), d.err);
    }
    return d;
}

static void release(data *d)
{
    for (int i = 0; i < d->count; i++) ct_sequence_free(d->seq[i]);
    ct_theta_free(d->theta);
    ct_noise_free(d->noise);
}

static void give(data *d, const char *model, const char *form)
{
    CHECK_OK(
        ct_conditional_form(d->count, list(d), d->noise, ct_noise_find(d->noise, model), form, NULL, NULL, &d->err),
        d->err);
}

/* The constant answer, from which functions are learned; a form later. */
static void learn_constant(data *d)
{
    const ct_outer_options how = ct_outer_defaults();
    ct_outer              *outer;
    ct_learn_result        result;
    CHECK_OK(ct_outer_new(d->count, list(d), d->noise, d->theta, &how, &outer, &d->err), d->err);
    CHECK_OK(ct_learn(outer, NULL, d->noise, &result, &d->err), d->err);
    ct_learn_result_free(&result);
    ct_outer_free(outer);
}

static ct_conditional_candidate learn(data *d, int folds, int truth)
{
    ct_outer_options       outer = ct_outer_defaults();
    ct_conditional_options how = ct_conditional_defaults();
    ct_conditional_result  result;
    how.folds = folds;
    outer.no_truth = !truth;
    CHECK_OK(ct_conditional_learn(d->count, list(d), d->theta, &outer, &how, d->noise, &result, &d->err), d->err);
    const ct_conditional_candidate chosen = result.chosen;
    ct_conditional_result_free(&result);
    return chosen;
}

static const ct_function *function_of(const data *d, const char *model)
{
    return ct_noise_get(d->noise, ct_noise_find(d->noise, model))->function;
}

static void test_tied_rows_share_one_function(void)
{
    static const char *const FORM[] = {"linear:sky,traffic", "network:sky,traffic/6"};
    for (int k = 0; k < 2; k++) {
        data          d = make(1, 5);
        const int32_t gps = ct_noise_find(d.noise, "gps");
        CHECK_OK(ct_theta_tie(d.theta, gps, 0, gps, 1, &d.err), d.err);
        learn_constant(&d);
        give(&d, "gps", FORM[k]);
        CHECK(learn(&d, 3, 1) != CT_CONDITIONAL_CONSTANT); /* through tracking, by Gauss-Newton */
        const ct_function *f = function_of(&d, "gps");
        for (double s = 0; f && s <= 1; s += 0.125) {
            const double x[2] = {s, 0.3 + 0.5 * s};
            double       u[3];
            ct_function_evaluate(f, x, u);
            CHECK(u[0] == u[1] && u[0] != u[2]);
        }
        CHECK(ct_noise_get(d.noise, gps)->covariance[0] == ct_noise_get(d.noise, gps)->covariance[1]);
        release(&d);
    }
}

/* The regression of tied rows is that of all their squares: the same as of a shared function, where all rows are
 * tied. */
static void test_all_rows_tied_are_a_shared_function(void)
{
    data          a = make(1, 4), b = make(1, 4);
    const int32_t gps = ct_noise_find(a.noise, "gps");
    for (int row = 1; row < 3; row++) CHECK_OK(ct_theta_tie(a.theta, gps, 0, gps, row, &a.err), a.err);
    for (int row = 1; row < 3; row++) CHECK_OK(ct_theta_tie(b.theta, gps, 0, gps, row, &b.err), b.err);
    give(&a, "gps", "linear:sky,traffic");
    give(&b, "gps", "linear:sky,traffic/shared");
    learn(&a, 0, 1);
    learn(&b, 0, 1);
    for (int j = 0; j < 2; j++) {
        CHECK_NEAR(function_of(&a, "gps")->weight[j], function_of(&b, "gps")->weight[j], 1e-9);
        CHECK(function_of(&a, "gps")->weight[j] == function_of(&a, "gps")->weight[4 + j]);
    }
    release(&a);
    release(&b);
}

static void test_tied_models_share_one_function(void)
{
    static const char *const FORM[] = {"linear:sky,traffic", "piecewise:sky/4", "linear:sky,traffic/matrix"};
    for (int k = 0; k < 6; k++) { /* with truth, then without */
        data          d = make(2, 4);
        const int32_t a = ct_noise_find(d.noise, "gps@0"), b = ct_noise_find(d.noise, "gps@1");
        CHECK_OK(ct_theta_tie(d.theta, a, -1, b, -1, &d.err), d.err);
        learn_constant(&d);
        give(&d, "gps@0", FORM[k % 3]);
        give(&d, "gps@1", FORM[k % 3]);
        const double low = fmin(function_of(&d, "gps@0")->feature[0].low, function_of(&d, "gps@1")->feature[0].low);
        learn(&d, k < 3 ? 3 : 0, k < 3);
        const ct_function *f = function_of(&d, "gps@0"), *g = function_of(&d, "gps@1");
        CHECK(!f == !g && (f || k == 1)); /* four knots of one feature gain nothing in tracking */
        if (!f || !g) {
            release(&d);
            continue;
        }
        CHECK(f->weights == g->weights && !memcmp(f->weight, g->weight, (size_t)f->weights * sizeof *f->weight));
        CHECK(f->feature[0].low == low && g->feature[0].low == low && f->feature[0].mean == g->feature[0].mean);
        for (double s = -0.2; s <= 1.2; s += 0.1) { /* one covariance for one situation */
            const double x[2] = {s, 1 - s};
            double       S[9], T[9];
            ct_noise_covariance_at(ct_noise_get(d.noise, a), x, S);
            ct_noise_covariance_at(ct_noise_get(d.noise, b), x, T);
            CHECK(!memcmp(S, T, sizeof S));
        }
        release(&d);
    }
}

static void test_ties_that_no_function_can_have_are_refused(void)
{
    data          d = make(2, 2);
    const int32_t a = ct_noise_find(d.noise, "gps@0"), b = ct_noise_find(d.noise, "gps@1");
    CHECK_OK(ct_theta_tie(d.theta, a, 0, b, 0, &d.err), d.err);
    give(&d, "gps@0", "linear:sky");
    CHECK_REFUSED(
        ct_conditional_check(d.theta, d.noise, &d.err), d.err,
        "noise models gps@0 and gps@1 are tied in some rows, not row by row; a function of features needs all "
        "rows tied, or none");
    CHECK_OK(ct_theta_tie(d.theta, a, -1, b, -1, &d.err), d.err);
    CHECK_REFUSED(ct_conditional_check(d.theta, d.noise, &d.err), d.err,
                  "noise models gps@0 and gps@1 are tied, so that they have one function; give both the same form, or "
                  "remove the tie");
    give(&d, "gps@1", "linear:traffic");
    CHECK_REFUSED(ct_conditional_check(d.theta, d.noise, &d.err), d.err, "give both the same form");
    give(&d, "gps@1", "linear:sky");
    CHECK_OK(ct_conditional_check(d.theta, d.noise, &d.err), d.err);
    release(&d);
}

/* ---- The spread ---------------------------------------------------------------------------------- */

static void test_a_spread_holds_for_every_measurement(void)
{
    static const char *const FORM[] = {"linear:sky,traffic", "linear:sky,traffic/matrix"};
    for (int k = 0; k < 2; k++) {
        const double  limit = 60;
        data          d = make(1, 5);
        double        p[16], lower[3], upper[3], least = INFINITY, most = 0;
        const int32_t gps = ct_noise_find(d.noise, "gps"), odom = ct_noise_find(d.noise, "odom");
        /* units of the rows: the sigmas of the constant models, which are then about one */
        for (int row = 0; row < 3; row++) {
            CHECK_OK(ct_theta_set_unit(d.theta, gps, row, ct_noise_sigma(ct_noise_get(d.noise, gps), row), &d.err),
                     d.err);
            CHECK_OK(ct_theta_set_unit(d.theta, odom, row, ct_noise_sigma(ct_noise_get(d.noise, odom), row), &d.err),
                     d.err);
        }
        CHECK_OK(ct_theta_set_spread(d.theta, limit, &d.err), d.err);
        give(&d, "gps", FORM[k]);
        ct_outer_options       outer = ct_outer_defaults();
        ct_conditional_options how = ct_conditional_defaults();
        ct_conditional_result  result;
        how.folds = 0;
        CHECK_REFUSED(ct_conditional_learn(d.count, list(&d), d.theta, &outer, &how, d.noise, &result, &d.err), d.err,
                      "call ct_theta_bound_spread first");
        ct_theta_get(d.theta, d.noise, p);
        CHECK_OK(ct_theta_bound_spread(d.theta, p, &d.err), d.err);
        for (int row = 0; row < 3; row++) {
            const double unit = ct_theta_unit(d.theta, gps, row);
            ct_theta_bounds(d.theta, ct_theta_find(d.theta, gps, row), &lower[row], &upper[row]);
            lower[row] *= unit * unit;
            upper[row] *= unit * unit;
        }
        CHECK_OK(ct_conditional_form(d.count, list(&d), d.noise, gps, FORM[k], lower, upper, &d.err), d.err);
        CHECK_OK(ct_conditional_learn(d.count, list(&d), d.theta, &outer, &how, d.noise, &result, &d.err), d.err);
        CHECK(result.chosen == CT_CONDITIONAL_REGRESSION);
        ct_conditional_result_free(&result);
        for (int i = 0; i < d.count; i++)
            for (int32_t f = 0; f < ct_graph_factors(d.seq[i]->graph); f++) {
                const int32_t g = ct_graph_factor(d.seq[i]->graph, f).noise;
                double        S[9];
                if (g != gps && g != odom) continue;
                CHECK_OK(ct_graph_covariance(d.seq[i]->graph, d.noise, f, S, &d.err), d.err);
                for (int row = 0; row < 3; row++) {
                    const double unit = ct_theta_unit(d.theta, g, row), v = S[4 * row] / (unit * unit);
                    least = fmin(least, v);
                    most = fmax(most, v);
                }
            }
        if (!(most / least <= limit * (1 + 1e-9) && most / least > 0.5 * limit))
            fprintf(stderr, "%s: spread %g\n", FORM[k], most / least);
        CHECK(most / least <= limit * (1 + 1e-9));
        CHECK(most / least > 0.5 * limit); /* without a limit the function has a factor of 400 */
        release(&d);
    }
}

static void test_bounds_of_a_spread_lie_around_the_values(void)
{
    data   d = make(1, 1);
    double p[6], lower, upper;
    CHECK_OK(ct_theta_set_spread(d.theta, 1e4, &d.err), d.err);
    for (int i = 0; i < 6; i++) p[i] = log(i < 3 ? 0.1 : 10.0);
    CHECK_OK(ct_theta_bound_spread(d.theta, p, &d.err), d.err);
    for (int i = 0; i < 6; i++) {
        ct_theta_bounds(d.theta, i, &lower, &upper);
        CHECK_NEAR(lower, 0.01, 1e-12);
        CHECK_NEAR(upper, 100, 1e-9);
    }
    p[0] = log(1e-9);
    CHECK_REFUSED(ct_theta_bound_spread(d.theta, p, &d.err), d.err, "have a spread of 1e+10; at most 10000 is allowed");
    p[0] = NAN;
    CHECK_REFUSED(ct_theta_bound_spread(d.theta, p, &d.err), d.err, "parameter 0 is nan");
    release(&d);
}

int main(void)
{
    RUN(test_tied_rows_share_one_function);
    RUN(test_all_rows_tied_are_a_shared_function);
    RUN(test_tied_models_share_one_function);
    RUN(test_ties_that_no_function_can_have_are_refused);
    RUN(test_a_spread_holds_for_every_measurement);
    RUN(test_bounds_of_a_spread_lie_around_the_values);
    return ct_test_end();
}
