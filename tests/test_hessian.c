/* test_hessian.c: the exact Hessian against second differences of the error, on random graphs of every kind, at
 * minima and off them. */
#include "graph_test.h"

#include "solve/solve.h"
#include "sparse/sparse.h"

static const int PARTS[] = {
    PLANE,
    PLANE | LOOPS | LANDMARKS,
    SPACE,
    SPACE | LOOPS | LANDMARKS,
    VECTORS,
    PLANE | SPACE | VECTORS | LOOPS | LANDMARKS | FIXED,
    PLANE | LOOPS | LANDMARKS | ROBUST,
    SPACE | LOOPS | LANDMARKS | ROBUST,
    EVERYTHING,
    PLANE | VECTORS | PARTIAL,
    EVERYTHING | PARTIAL,
};
enum { ROUNDS = 3, CASES = sizeof PARTS / sizeof *PARTS };

static void for_all(void (*law)(world *w)) { for_worlds(CASES, PARTS, ROUNDS, law); }

/* The error at x o Exp(t d), d over the scalars of the solver. */
static double error_along(const world *w, const ct_solver *solver, const double *x, const double *d, double t)
{
    double *y = copy_values(w->graph, x), error;
    for (int32_t v = 0; v < ct_graph_variables(w->graph); v++) {
        const int32_t column = ct_solver_column(solver, v);
        const ct_kind kind = ct_graph_kind(w->graph, v);
        double        step[CT_DIM_MAX];
        for (int i = 0; column >= 0 && i < ct_kind_dim(kind); i++) step[i] = t * d[column + i];
        if (column >= 0)
            ct_kind_retract(kind, x + ct_graph_offset(w->graph, v), step, y + ct_graph_offset(w->graph, v));
    }
    error = ct_graph_error(w->graph, w->noise, y);
    free(y);
    return error;
}

static double second_difference(const world *w, const ct_solver *solver, const double *x, const double *d, double t)
{
    const double middle = error_along(w, solver, x, d, 0);
    const double near = (error_along(w, solver, x, d, t) - middle) + (error_along(w, solver, x, d, -t) - middle);
    const double far = (error_along(w, solver, x, d, 2 * t) - middle) + (error_along(w, solver, x, d, -2 * t) - middle);
    return (4 * near - far / 4) / (3 * t * t);
}

/* d'Hd along random directions, some of one variable alone. Where two steps disagree, a kernel has its kink there. */
static void check_hessian_at(world *w, ct_solver *solver, const double *x)
{
    const int n = ct_sparse_describe(ct_solver_system(solver)).scalars;
    double   *d = calloc((size_t)n, sizeof *d), *y = malloc((size_t)n * sizeof *y);
    int       compared = 0;
    for (int round = 0; round < 30; round++) {
        double form = 0;
        memset(d, 0, (size_t)n * sizeof *d);
        for (int i = 0; i < n; i++)
            if (round % 3 || i / 3 == round % (n / 3 + 1)) d[i] = ct_rng_normal(&w->rng) / (round % 3 ? sqrt(n) : 1);
        ct_sparse_multiply(ct_solver_system(solver), d, y);
        for (int i = 0; i < n; i++) form += d[i] * y[i];
        const double want = second_difference(w, solver, x, d, 2e-4), other = second_difference(w, solver, x, d, 3e-4),
                     size = 1 + fabs(want);
        if (!(fabs(want - other) <= 1e-5 * size)) continue;
        CHECK_NEAR(form, want, 3e-5 * size);
        compared++;
    }
    CHECK(compared >= (w->parts & ROBUST ? 5 : 20));
    free(d);
    free(y);
}

/* H solved for is H multiplied with: what the factor leaves out would show, on open chains too. */
static void check_factor_is_of_the_hessian(ct_solver *solver)
{
    ct_sparse *system = ct_solver_system(solver);
    const int  n = ct_sparse_describe(system).scalars;
    ct_err     err = {0};
    double    *b = malloc(2 * (size_t)n * sizeof *b), *x = b + n, *dx = malloc((size_t)n * sizeof *dx), largest = 0;
    for (int i = 0; i < n; i++) b[i] = x[i] = 100 * cos(i);
    CHECK_OK(ct_sparse_solve(system, x, 1, &err), err);
    ct_sparse_multiply(system, x, dx);
    for (int i = 0; i < n; i++) CHECK_NEAR(dx[i], b[i], 1e-7);
    ct_sparse_step(system, dx);
    ct_sparse_multiply(system, dx, x);
    const double *g = ct_sparse_gradient(system);
    for (int i = 0; i < n; i++) largest = fmax(largest, fabs(g[i]));
    for (int i = 0; i < n; i++) CHECK_NEAR(x[i], -g[i], 1e-9 * (1 + largest));
    free(b);
    free(dx);
}

static void hessian_at_the_minimum(world *w)
{
    ct_solve_result result;
    double         *x = estimate(w, CT_LEVENBERG_MARQUARDT, &result);
    ct_solver      *solver = new_solver(w, NULL);
    CHECK_OK(ct_solver_hessian(solver, w->noise, x, &w->err), w->err);
    check_hessian_at(w, solver, x);
    check_factor_is_of_the_hessian(solver);
    ct_solver_free(solver);
    free(x);
}
static void test_the_hessian_is_that_of_the_error_at_the_minimum(void) { for_all(hessian_at_the_minimum); }

/* Far off it need not be positive definite; it is the Hessian all the same. */
static void hessian_off_the_minimum(world *w)
{
    ct_solver *solver = new_solver(w, NULL);
    double    *x = copy_values(w->graph, ct_graph_initial(w->graph));
    const int  definite = ct_solver_hessian(solver, w->noise, x, &w->err) == CT_OK;
    check_hessian_at(w, solver, x);
    if (definite) check_factor_is_of_the_hessian(solver);
    else CHECK(strstr(w->err.text, "not a minimum") != NULL);
    ct_solver_free(solver);
    free(x);
}
static void test_the_hessian_is_that_of_the_error_anywhere(void) { for_all(hessian_off_the_minimum); }

/* Rows of an open chain are used up at its minimum, where residuals are zero, and are not all there is elsewhere. */
static void test_open_chains_are_solved_for_off_their_minimum(void)
{
    for (int space = 0; space < 2; space++)
        for (int round = 0; round < 10; round++) {
            world w;
            world_make(&w, 700 + (uint64_t)round, space ? SPACE : PLANE);
            ct_solver *solver = new_solver(&w, NULL);
            CHECK(solver->system->any_zero_update);
            double *x = copy_values(w.graph, w.truth);
            CHECK_OK(ct_solver_hessian(solver, w.noise, x, &w.err), w.err);
            CHECK(solver->system->curved);
            check_hessian_at(&w, solver, x);
            check_factor_is_of_the_hessian(solver);
            ct_solve_result result;
            free(x);
            x = estimate(&w, CT_NEWTON, &result);
            CHECK_OK(ct_solver_hessian(solver, w.noise, x, &w.err), w.err);
            CHECK(!solver->system->curved);
            check_factor_is_of_the_hessian(solver);
            free(x);
            ct_solver_free(solver);
            world_free(&w);
        }
}

/* After a run by newton there is little left to do, and the result is the same. */
static int at_hand;

static void hessian_of_the_last_run(world *w)
{
    ct_solver       *solver = new_solver(w, NULL), *other = new_solver(w, NULL);
    const int        n = ct_sparse_describe(ct_solver_system(solver)).scalars;
    ct_solve_options options = ct_solve_defaults();
    ct_solve_result  result;
    double *x = copy_values(w->graph, ct_graph_initial(w->graph)), *a = malloc(2 * (size_t)n * sizeof *a), *b = a + n;
    options.method = CT_NEWTON;
    for (int i = 0; i < 3; i++) { /* factored, assembled, neither */
        if (i == 0) options.relative = options.absolute = 0;
        else options = ct_solve_defaults();
        options.method = i < 2 ? CT_NEWTON : CT_LEVENBERG_MARQUARDT;
        CHECK_OK(ct_solver_run(solver, w->noise, x, &options, &result, &w->err), w->err);
        CHECK(ct_stop_converged(result.stop));
        at_hand += solver->exact == CT_EXACT_FACTORED;
        CHECK(i < 2 || solver->exact == CT_EXACT_NOT);
        CHECK_OK(ct__solver_hessian_here(solver, w->noise, x, &w->err), w->err);
        CHECK_OK(ct_solver_hessian(other, w->noise, x, &w->err), w->err);
        for (int k = 0; k < n; k++) a[k] = b[k] = sin(k);
        CHECK_OK(ct_sparse_solve(ct_solver_system(solver), a, 1, &w->err), w->err);
        CHECK_OK(ct_sparse_solve(ct_solver_system(other), b, 1, &w->err), w->err);
        for (int k = 0; k < n; k++) CHECK_NEAR(a[k], b[k], 1e-7 * (1e-3 + fabs(b[k])));
    }
    free(a);
    free(x);
    ct_solver_free(solver);
    ct_solver_free(other);
}
static void test_the_hessian_of_the_last_run_is_at_hand(void)
{
    at_hand = 0;
    for_all(hessian_of_the_last_run);
    CHECK(at_hand >= CASES * ROUNDS / 2); /* not where Levenberg-Marquardt came to the end first */
}

/* ---- refusals ------------------------------------------------------------------------------------ */

/* One number measured under a Cauchy kernel, looked at beyond the kernel's inflection: there the error curves down. */
static void test_values_that_are_no_minimum_are_told(void)
{
    ct_graph    *graph;
    ct_noise    *noise;
    ct_solver   *solver;
    ct_err       err = {0};
    const double zero = 0;
    double       x = 3;
    CHECK_OK(ct_graph_new(&graph, &err), err);
    CHECK_OK(ct_noise_new(&noise, &err), err);
    CHECK_OK(ct_noise_add_isotropic(noise, "level", 1, 1, NULL, &err), err);
    CHECK_OK(ct_noise_set_robust(noise, 0, (ct_robust){CT_ROBUST_CAUCHY, 1, 0}, &err), err);
    CHECK_OK(ct_graph_add_variable(graph, "height", CT_R1, &zero, NULL, &err), err);
    CHECK_OK(ct_graph_add_prior(graph, 0, &zero, 0, &err), err);
    CHECK_OK(ct_solver_new(graph, NULL, &solver, &err), err);
    CHECK_REFUSED(ct_solver_hessian(solver, noise, &x, &err), err,
                  "these values are not a minimum: the error curves downwards with height");
    CHECK(err.status == CT_E_SINGULAR);
    x = 0.5; /* rho'' = (1 - d^2) / (1 + d^2)^2 */
    CHECK_OK(ct_solver_hessian(solver, noise, &x, &err), err);
    double d = 1, h;
    ct_sparse_multiply(ct_solver_system(solver), &d, &h);
    CHECK_NEAR(h, 0.75 / (1.25 * 1.25), 1e-14);
    x = NAN;
    CHECK_REFUSED(ct_solver_hessian(solver, noise, &x, &err), err, "not finite");
    ct_solver_free(solver);
    ct_graph_free(graph);
    ct_noise_free(noise);
}

static void test_a_loose_graph_has_no_hessian_to_factor(void)
{
    ct_graph    *graph;
    ct_noise    *noise;
    ct_solver   *solver;
    ct_err       err = {0};
    const ct_se2 ahead = ct_se2_make(1, 0, 0.1);
    double       x[8] = {0, 0, 1, 0, 1, 0, cos(0.1), sin(0.1)};
    CHECK_OK(ct_graph_new(&graph, &err), err);
    CHECK_OK(ct_noise_new(&noise, &err), err);
    CHECK_OK(ct_noise_add_isotropic(noise, "odom", 3, 0.01, NULL, &err), err);
    for (int i = 0; i < 2; i++) CHECK_OK(ct_graph_add_variable(graph, NULL, CT_SE2, x + 4 * i, NULL, &err), err);
    CHECK_OK(ct_graph_add_between(graph, 0, 1, &ahead.x, 0, &err), err);
    CHECK_OK(ct_solver_new(graph, NULL, &solver, &err), err);
    CHECK_REFUSED(ct_solver_hessian(solver, noise, x, &err), err,
                  "x0 and 1 other: no factor fixes their position and heading");
    CHECK(err.status == CT_E_SINGULAR);
    ct_solver_free(solver);
    ct_graph_free(graph);
    ct_noise_free(noise);
}

static void test_approximate_derivatives_have_no_exact_hessian(void)
{
    world w;
    world_make(&w, 5, PLANE | LOOPS);
    CHECK_OK(ct_graph_like_gtsam(w.graph, &w.err), w.err);
    ct_solver *solver = new_solver(&w, NULL);
    CHECK_REFUSED(ct_solver_hessian(solver, w.noise, w.truth, &w.err), w.err, "gtsam_");
    CHECK(w.err.status == CT_E_UNSUPPORTED);
    ct_solver_free(solver);
    world_free(&w);
}

/* Covariances after it are of its inverse. */
static void test_covariances_are_of_the_matrix_factored_last(void)
{
    world           w;
    ct_solve_result result;
    world_make(&w, 6, PLANE | LOOPS);
    double       *x = estimate(&w, CT_NEWTON, &result);
    ct_solver    *solver = new_solver(&w, NULL);
    const int32_t last = w.pose[0][11], column = ct_solver_column(solver, last);
    const int     n = ct_sparse_describe(ct_solver_system(solver)).scalars;
    double        S[9], *out = S, *b = calloc((size_t)n, sizeof *b);
    CHECK_OK(ct_solver_hessian(solver, w.noise, x, &w.err), w.err);
    CHECK_OK(ct_solver_marginals(solver, 1, &last, &out, &w.err), w.err);
    b[column] = 1;
    CHECK_OK(ct_sparse_solve(ct_solver_system(solver), b, 1, &w.err), w.err);
    for (int i = 0; i < 3; i++) CHECK_NEAR(S[i], b[column + i], 1e-12);
    free(b);
    free(x);
    ct_solver_free(solver);
    world_free(&w);
}

int main(void)
{
    RUN(test_the_hessian_is_that_of_the_error_at_the_minimum);
    RUN(test_the_hessian_is_that_of_the_error_anywhere);
    RUN(test_open_chains_are_solved_for_off_their_minimum);
    RUN(test_the_hessian_of_the_last_run_is_at_hand);
    RUN(test_values_that_are_no_minimum_are_told);
    RUN(test_a_loose_graph_has_no_hessian_to_factor);
    RUN(test_approximate_derivatives_have_no_exact_hessian);
    RUN(test_covariances_are_of_the_matrix_factored_last);
    return ct_test_end();
}
