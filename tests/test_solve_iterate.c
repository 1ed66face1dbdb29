/* test_solve_iterate.c: how a run goes: every stop by name, options, progress, and models that users write. */
#include "graph_test.h"

/* ---- stops ------------------------------------------------------------------------------------- */

static ct_solve_result run(world *w, const ct_solve_options *options, double *x)
{
    ct_solver      *solver = new_solver(w, NULL);
    ct_solve_result result = {0};
    CHECK_OK(ct_solver_run(solver, w->noise, x, options, &result, &w->err), w->err);
    ct_solver_free(solver);
    return result;
}

/* The stop of a run from the initial values, which must be that. */
static ct_solve_result check_stop(world *w, const ct_solve_options *options, ct_stop want)
{
    double               *x = copy_values(w->graph, ct_graph_initial(w->graph));
    const ct_solve_result result = run(w, options, x);
    if (result.stop != want) {
        ct_test_failed_checks++;
        fprintf(stderr, "%s: wanted stop %s, got %s after %d iterations\n", ct_method_name(options->method),
                ct_stop_name(want), ct_stop_name(result.stop), result.iterations);
    }
    CHECK(result.final_error == ct_graph_error(w->graph, w->noise, x) ||
          fabs(result.final_error / ct_graph_error(w->graph, w->noise, x) - 1) < 1e-12 || isnan(result.final_error));
    free(x);
    return result;
}

static void test_names_of_stops_and_methods(void)
{
    for (int i = 0; i < CT_STOP_COUNT; i++) {
        CHECK(strlen(ct_stop_name((ct_stop)i)) > 2 && strlen(ct_stop_meaning((ct_stop)i)) > 5);
        for (int j = 0; j < i; j++)
            CHECK(strcmp(ct_stop_name((ct_stop)i), ct_stop_name((ct_stop)j)) &&
                  strcmp(ct_stop_meaning((ct_stop)i), ct_stop_meaning((ct_stop)j)));
        CHECK(ct_stop_converged((ct_stop)i) == (i == CT_STOP_ERROR || i == CT_STOP_STEP || i == CT_STOP_GRADIENT));
    }
    for (int i = 0; i < CT_METHOD_COUNT; i++) CHECK(ct_method_find(ct_method_name((ct_method)i)) == i);
    CHECK(ct_method_find("newtons") == -1 && !strcmp(ct_method_name(CT_METHOD_COUNT), "?") &&
          !strcmp(ct_stop_name(CT_STOP_COUNT), "?"));
    CHECK(!strcmp(ct_stop_meaning(CT_STOP_COUNT), "?"));
}

/* Each tolerance alone. */
static void test_every_tolerance_stops_a_run(void)
{
    world w;
    world_make(&w, 11, PLANE | LOOPS | LANDMARKS);
    for (int m = 0; m < CT_METHOD_COUNT; m++) {
        const ct_solve_options never = {.method = (ct_method)m, .max_iterations = 50, .lambda = 1e-4, .radius = 1e4};
        ct_solve_options       o = never;
        o.relative = m == CT_NEWTON ? 0.1 : 1e-6; /* what is left is squared with every step of Newton's */
        const ct_solve_result loose = check_stop(&w, &o, CT_STOP_ERROR);
        o.relative = 1e-11;
        CHECK(check_stop(&w, &o, CT_STOP_ERROR).iterations > loose.iterations);
        o = never;
        o.absolute = 1e-4;
        check_stop(&w, &o, CT_STOP_ERROR);
        o = never;
        o.step = 1e-3;
        const int steps = check_stop(&w, &o, CT_STOP_STEP).iterations;
        o.step = 1e-10;
        CHECK(check_stop(&w, &o, CT_STOP_STEP).iterations > steps);
        o = never;
        o.gradient = 1;
        CHECK(check_stop(&w, &o, CT_STOP_GRADIENT).gradient < 1);
        o = never;
        o.max_iterations = 2;
        CHECK(check_stop(&w, &o, CT_STOP_ITERATIONS).iterations == 2);
        o.max_iterations = 0;
        const ct_solve_result none = check_stop(&w, &o, CT_STOP_ITERATIONS);
        CHECK(none.iterations == 0 && none.final_error == none.initial_error);
    }
    world_free(&w);
}

/* Downhill is uphill: a step of any length raises the error. */
static void wrong_way(const double *z, const void *context, const double *const x[], double *r, double *const J[])
{
    ct_between_se2.eval(z, context, x, r, J);
    for (int v = 0; J && v < 2; v++)
        for (int i = 0; J[v] && i < 9; i++) J[v][i] = -J[v][i];
}

static void test_derivatives_of_the_wrong_sign_are_not_called_convergence(void)
{
    ct_factor_ops ops = ct_between_se2;
    ops.name = "between_wrong_way";
    ops.eval = wrong_way;
    for (int m = 0; m < CT_METHOD_COUNT; m++) {
        world            w;
        ct_solve_options o = ct_solve_defaults();
        world_make(&w, 12, PLANE);
        for (int k = 0; k < 10; k++) tie(&w, &ops, w.pose[0][k], w.pose[0][k + 2]);
        o.method = (ct_method)m;
        const ct_solve_result result = check_stop(&w, &o, CT_STOP_STUCK);
        CHECK(result.final_error <= result.initial_error);
        world_free(&w);
    }
}

static void test_numbers_that_are_not_finite_stop_a_run(void)
{
    world w;
    world_make(&w, 13, PLANE | LOOPS);
    for (int m = 0; m < CT_METHOD_COUNT; m++) {
        ct_solve_options o = ct_solve_defaults();
        o.method = (ct_method)m;
        double *x = copy_values(w.graph, ct_graph_initial(w.graph));
        x[0] = NAN;
        CHECK(run(&w, &o, x).stop == CT_STOP_NOT_FINITE);
        x[0] = 1e200; /* whose square is not a number that fits */
        CHECK(run(&w, &o, x).stop == CT_STOP_NOT_FINITE);
        free(x);
    }
    world_free(&w);
}

static void test_a_graph_without_an_anchor_stops_for_rank(void)
{
    ct_graph *graph = NULL;
    world     w = {0};
    CHECK_OK(ct_graph_new(&graph, &w.err), w.err);
    CHECK_OK(ct_noise_new(&w.noise, &w.err), w.err);
    w.graph = graph;
    w.rng = ct_rng_seed(14);
    for (int i = 0; i < 4; i++) add_variable(&w, CT_SE2, (const double[]){i, 0, 1, 0});
    for (int i = 1; i < 4; i++) tie(&w, &ct_between_se2, i - 1, i);
    for (int m = 0; m < CT_METHOD_COUNT; m++) {
        ct_solve_options o = ct_solve_defaults();
        o.method = (ct_method)m;
        CHECK(check_stop(&w, &o, CT_STOP_RANK).undetermined == 4);
    }
    world_free(&w);
}

/* ---- progress ---------------------------------------------------------------------------------- */

typedef struct {
    int    calls, cancel_at, out_of_order, rises;
    double error, first_step, first_damping;
} listener;

static int listen(void *user, const ct_progress *p)
{
    listener *l = user;
    l->out_of_order += p->iteration != l->calls || p->seconds < 0 || !(p->gradient >= 0);
    l->rises += l->calls > 0 && p->error > l->error * (1 + 1e-12);
    if (l->calls == 1) l->first_step = p->step, l->first_damping = p->damping;
    l->error = p->error;
    return l->calls++ == l->cancel_at;
}

static void test_progress_is_told_of_every_iteration_and_can_cancel(void)
{
    world w;
    world_make(&w, 15, EVERYTHING);
    for (int m = 0; m < CT_METHOD_COUNT; m++) {
        listener         l = {.cancel_at = -1};
        ct_solve_options o = ct_solve_defaults();
        o.method = (ct_method)m;
        o.progress = listen;
        o.user = &l;
        double               *x = copy_values(w.graph, ct_graph_initial(w.graph)), *y = copy_values(w.graph, x);
        const ct_solve_result whole = run(&w, &o, x);
        CHECK(ct_stop_converged(whole.stop) && l.calls == whole.iterations + 1 && l.error == whole.final_error);
        CHECK(l.out_of_order == 0 && l.rises == 0 && l.first_step > 0);
        CHECK(m == CT_DOGLEG ? l.first_damping > 0 : l.first_damping == 0);
        for (int at = 0; at < 3; at++) {
            l = (listener){.cancel_at = at};
            memcpy(y, ct_graph_initial(w.graph), (size_t)ct_graph_size(w.graph) * sizeof *y);
            const ct_solve_result part = run(&w, &o, y);
            CHECK(part.stop == CT_STOP_CANCELLED && part.iterations == at && l.calls == at + 1);
            CHECK_NEAR(part.final_error / ct_graph_error(w.graph, w.noise, y), 1, 1e-12); /* what is left is usable */
        }
        free(x);
        free(y);
    }
    world_free(&w);
}

/* ---- options ----------------------------------------------------------------------------------- */

/* Length of the way from the initial values to x in units of sqrt(d). */
static double scaled_way(const world *w, const ct_solver *solver, const double *d, const double *x)
{
    double size = 0, step[3];
    for (int32_t v = 0; v < ct_graph_variables(w->graph); v++) {
        ct_kind_local(CT_SE2, ct_graph_initial(w->graph) + 4 * v, x + 4 * v, step);
        for (int i = 0; i < 3; i++) size += d[ct_solver_column(solver, v) + i] * step[i] * step[i];
    }
    return sqrt(size);
}

/* The first dogleg step is as long as its radius, in units of sqrt(diag H), until that of Gauss-Newton fits: along
 * the gradient first, then around the bend. */
static void test_a_first_dogleg_step_is_as_long_as_its_radius(void)
{
    world            w;
    ct_solve_options o = precise(CT_GAUSS_NEWTON);
    ct_solve_result  result;
    world_make(&w, 16, PLANE | LOOPS);
    ct_solver *solver = new_solver(&w, NULL);
    double *d = malloc((size_t)ct_sparse_describe(ct_solver_system(solver)).scalars * sizeof *d),
           *x = copy_values(w.graph, ct_graph_initial(w.graph));
    CHECK_OK(ct_solver_linearise(solver, w.noise, x, &w.err), w.err);
    ct_sparse_diagonal(ct_solver_system(solver), d);
    o.max_iterations = 1;
    CHECK_OK(ct_solver_run(solver, w.noise, x, &o, &result, &w.err), w.err);
    const double newton = scaled_way(&w, solver, d, x);
    o.method = CT_DOGLEG;
    for (int i = -10; i <= 2; i++) {
        o.radius = newton * pow(1.3, i);
        memcpy(x, ct_graph_initial(w.graph), (size_t)ct_graph_size(w.graph) * sizeof *x);
        CHECK_OK(ct_solver_run(solver, w.noise, x, &o, &result, &w.err), w.err);
        CHECK_NEAR(scaled_way(&w, solver, d, x) / fmin(o.radius, newton), 1, 1e-7);
    }
    ct_solver_free(solver);
    world_free(&w);
    free(d);
    free(x);
}

static void test_a_first_damped_step_shrinks_as_lambda_grows(void)
{
    world            w;
    ct_solve_options o = precise(CT_LEVENBERG_MARQUARDT);
    double           last = INFINITY;
    world_make(&w, 16, PLANE | LOOPS);
    o.max_iterations = 1;
    for (o.lambda = 1e-3; o.lambda < 2e3; o.lambda *= 100) {
        listener l = {.cancel_at = -1};
        o.progress = listen;
        o.user = &l;
        double *x = copy_values(w.graph, ct_graph_initial(w.graph));
        run(&w, &o, x);
        CHECK(l.first_step < last);
        last = l.first_step;
        free(x);
    }
    CHECK(last < 1e-3);
    world_free(&w);
}

static void test_defaults_are_what_no_options_mean(void)
{
    world w;
    world_make(&w, 17, SPACE | LOOPS);
    const ct_solve_options o = ct_solve_defaults();
    double                *x = copy_values(w.graph, ct_graph_initial(w.graph)), *y = copy_values(w.graph, x);
    const ct_solve_result  a = run(&w, &o, x), b = run(&w, NULL, y);
    CHECK(o.method == CT_LEVENBERG_MARQUARDT && a.stop == b.stop && a.iterations == b.iterations &&
          a.final_error == b.final_error);
    CHECK(!memcmp(x, y, (size_t)ct_graph_size(w.graph) * sizeof *x));
    CHECK(a.linearisations >= 2 && a.factorisations >= a.iterations && a.undetermined == 0);
    CHECK(a.seconds >= a.linearise_s + a.factor_s + a.solve_s - 1e-6 && a.factor_s > 0 && a.linearise_s > 0 &&
          a.solve_s > 0);
    free(x);
    free(y);
    world_free(&w);
}

static void test_a_noise_table_that_does_not_fit_is_refused_and_values_stay(void)
{
    world           w;
    ct_solve_result result;
    ct_noise       *empty = NULL;
    world_make(&w, 18, PLANE);
    CHECK_OK(ct_noise_new(&empty, &w.err), w.err);
    ct_solver *solver = new_solver(&w, NULL);
    double    *x = copy_values(w.graph, ct_graph_initial(w.graph));
    CHECK_REFUSED(ct_solver_run(solver, empty, x, NULL, &result, &w.err), w.err,
                  "factors of 3 rows use noise model 0, the table has 0");
    CHECK_REFUSED(ct_solver_linearise(solver, empty, x, &w.err), w.err, "the table has 0");
    CHECK(w.err.status == CT_E_NOISE &&
          !memcmp(x, ct_graph_initial(w.graph), (size_t)ct_graph_size(w.graph) * sizeof *x));
    int32_t *stage = calloc((size_t)ct_graph_variables(w.graph), sizeof *stage);
    ct_solver *other = solver;
    stage[2] = -1;
    CHECK_REFUSED(ct_solver_new(w.graph, &(ct_sparse_options){.stage = stage}, &other, &w.err), w.err,
                  "stage -1 of block 2");
    CHECK(other == NULL);
    free(stage);
    free(x);
    ct_solver_free(solver);
    ct_noise_free(empty);
    world_free(&w);
}

/* Nothing to estimate is an answer, not a fault. */
static void test_a_graph_with_nothing_to_estimate(void)
{
    world w;
    world_make(&w, 19, PLANE | LOOPS);
    for (int32_t v = 0; v < ct_graph_variables(w.graph); v++) ct_graph_fix(w.graph, v, 1);
    double                *x = copy_values(w.graph, ct_graph_initial(w.graph));
    const ct_solve_result  result = run(&w, NULL, x);
    CHECK(result.stop == CT_STOP_GRADIENT && result.iterations == 0 && result.final_error == result.initial_error &&
          result.initial_error > 1);
    CHECK(!memcmp(x, ct_graph_initial(w.graph), (size_t)ct_graph_size(w.graph) * sizeof *x));
    free(x);
    world_free(&w);
    w = (world){0};
    CHECK_OK(ct_graph_new(&w.graph, &w.err), w.err);
    CHECK_OK(ct_noise_new(&w.noise, &w.err), w.err);
    double none = 0;
    CHECK(run(&w, NULL, &none).stop == CT_STOP_GRADIENT);
    world_free(&w);
}

/* ---- user models --------------------------------------------------------------------------------- */

/* The same graph, its models' derivatives by differences. */
static void test_numerical_derivatives_give_the_same_estimate(void)
{
    world         w;
    ct_factor_ops numeric[128];
    world_make(&w, 20, PLANE | SPACE | VECTORS | LOOPS | LANDMARKS);
    ct_solve_result result;
    double         *want = estimate(&w, CT_LEVENBERG_MARQUARDT, &result);
    ct_graph       *other = NULL, *graph = w.graph;
    CHECK_OK(ct_graph_new(&other, &w.err), w.err);
    for (int32_t v = 0; v < ct_graph_variables(graph); v++)
        CHECK_OK(ct_graph_add_variable(other, NULL, ct_graph_kind(graph, v),
                                       ct_graph_initial(graph) + ct_graph_offset(graph, v), NULL, &w.err),
                 w.err);
    CHECK(ct_graph_factors(graph) <= 128);
    for (int32_t f = 0; f < ct_graph_factors(graph) && f < 128; f++) {
        const ct_factor k = ct_graph_factor(graph, f);
        numeric[f] = *k.ops;
        numeric[f].jacobian = CT_JACOBIAN_NUMERIC;
        CHECK_OK(ct_graph_add_factor(other, &numeric[f], k.var, k.z, NULL, k.noise, &w.err), w.err);
    }
    w.graph = other;
    const ct_solve_options o = ct_solve_defaults();
    double                *x = copy_values(other, ct_graph_initial(other));
    CHECK(ct_stop_converged(run(&w, &o, x).stop));
    CHECK_NEAR(distance(other, x, want), 0, 1e-6);
    ct_graph_free(graph);
    free(want);
    free(x);
    world_free(&w);
}

/* Four points in a plane, at their corners' mean: a model of four variables with a context. */
static void centroid(const double *z, const void *context, const double *const x[], double *r, double *const J[])
{
    const double *weight = context;
    for (int i = 0; i < 2; i++) {
        r[i] = -z[i];
        for (int k = 0; k < 4; k++) r[i] += weight[k] * x[k][i];
    }
    for (int k = 0; J && k < 4; k++)
        for (int i = 0; J[k] && i < 4; i++) J[k][i] = i % 3 == 0 ? weight[k] : 0;
}

static void test_a_model_of_four_variables_with_a_context(void)
{
    static const ct_factor_ops ops = {.name = "centroid",
                                      .rows = 2,
                                      .arity = 4,
                                      .kind = {CT_R2, CT_R2, CT_R2, CT_R2},
                                      .fields = 1,
                                      .required = 1,
                                      .field = {CT_R2},
                                      .absolute = 1,
                                      .eval = centroid,
                                      .coordinate = {"x", "y"},
                                      .unit = {"m", "m"}};
    const double weight[4] = {0.1, 0.2, 0.3, 0.4}, z[2] = {5, -1}, corner[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    world        w = {.rng = ct_rng_seed(21)};
    CHECK_OK(ct_graph_new(&w.graph, &w.err), w.err);
    CHECK_OK(ct_noise_new(&w.noise, &w.err), w.err);
    CHECK_OK(ct_noise_add_isotropic(w.noise, "n", 2, 1, NULL, &w.err), w.err);
    for (int i = 0; i < 4; i++) add_variable(&w, CT_R2, corner[i]);
    for (int i = 0; i < 4; i++) CHECK_OK(ct_graph_add_prior(w.graph, i, corner[i], 0, &w.err), w.err);
    CHECK_OK(ct_graph_add_factor(w.graph, &ops, (const int32_t[]){3, 1, 0, 2}, z, weight, 0, &w.err), w.err);
    ct_graph_fix(w.graph, 1, 1); /* a fixed one among them */
    ct_graph_initial(w.graph)[2] = 1, ct_graph_initial(w.graph)[3] = 0;
    ct_solve_result result;
    double         *x = estimate(&w, CT_GAUSS_NEWTON, &result);
    /* order 3 1 0 2, number 1 fixed at its corner: x_k = c_k + w_k s, s = (z - sum w c) / (1 + sum of free w^2) */
    const double of[4] = {0.3, 0, 0.4, 0.1}, square = 1 + 0.09 + 0.16 + 0.01;
    const double s[2] = {(5 - (0.2 * 1 + 0.4 * 1)) / square, (-1 - (0.1 * 1 + 0.4 * 1)) / square};
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < 2; i++) CHECK_NEAR(x[2 * k + i], corner[k][i] + of[k] * s[i], 1e-12);
    free(x);
    world_free(&w);
}

/* Approximate Jacobians: no minimum of the error, but one point where J'r = 0, for all methods. */
static void test_approximate_derivatives_end_at_one_point_by_any_method(void)
{
    for (int round = 0; round < 8; round++) {
        world           w;
        ct_solve_result exact, result;
        world_make(&w, 30 + (uint64_t)round, (round % 2 ? SPACE : PLANE) | LOOPS | LANDMARKS);
        free(estimate(&w, CT_LEVENBERG_MARQUARDT, &exact));
        CHECK_OK(ct_graph_like_gtsam(w.graph, &w.err), w.err);
        ct_solver    *solver = new_solver(&w, NULL);
        double       *x[CT_METHOD_COUNT];
        const int32_t n = ct_sparse_describe(ct_solver_system(solver)).scalars;
        for (int m = 0; m < CT_METHOD_COUNT; m++) {
            ct_solve_options o = ct_solve_defaults();
            o.method = (ct_method)m;
            x[m] = copy_values(w.graph, ct_graph_initial(w.graph));
            CHECK_OK(ct_solver_run(solver, w.noise, x[m], &o, &result, &w.err), w.err);
            CHECK(result.stop == CT_STOP_STEP);
            CHECK_NEAR(distance(w.graph, x[m], x[0]), 0, 1e-8);
        }
        CHECK_OK(ct_solver_linearise(solver, w.noise, x[0], &w.err), w.err);
        for (int32_t i = 0; i < n; i++) CHECK_NEAR(ct_sparse_gradient(ct_solver_system(solver))[i], 0, 1e-4);
        /* the same residual, not its minimum */
        if (round % 2) CHECK(result.final_error > exact.final_error * (1 + 1e-9));
        for (int m = 0; m < CT_METHOD_COUNT; m++) free(x[m]);
        ct_solver_free(solver);
        world_free(&w);
    }
}

int main(void)
{
    RUN(test_names_of_stops_and_methods);
    RUN(test_every_tolerance_stops_a_run);
    RUN(test_derivatives_of_the_wrong_sign_are_not_called_convergence);
    RUN(test_numbers_that_are_not_finite_stop_a_run);
    RUN(test_a_graph_without_an_anchor_stops_for_rank);
    RUN(test_progress_is_told_of_every_iteration_and_can_cancel);
    RUN(test_a_first_dogleg_step_is_as_long_as_its_radius);
    RUN(test_a_first_damped_step_shrinks_as_lambda_grows);
    RUN(test_defaults_are_what_no_options_mean);
    RUN(test_a_noise_table_that_does_not_fit_is_refused_and_values_stay);
    RUN(test_a_graph_with_nothing_to_estimate);
    RUN(test_numerical_derivatives_give_the_same_estimate);
    RUN(test_a_model_of_four_variables_with_a_context);
    RUN(test_approximate_derivatives_end_at_one_point_by_any_method);
    return ct_test_end();
}
