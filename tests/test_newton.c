/* test_newton.c: the method newton: few iterations where residuals are large, the same minimum, the same names for
 * every stop. */
#include "graph_test.h"

enum { POSES = 200 };

/* A path with an odometry and a compass-like pose fix on every pose, whose noise is far larger than the tables of
 * other tests: `quiet` times 10 cm, 1 degree and 1 m, 30 degrees. The models are said to be alike, which makes the
 * estimate a poor one with large residuals. */
static void nav_make(world *w, ct_kind kind, uint64_t seed, double quiet)
{
    const int    dim = ct_kind_dim(kind), ahead = kind == CT_SE3 ? 3 : 0;
    double       x[CT_SIZE_MAX], z[CT_SIZE_MAX], d[CT_DIM_MAX], turn = 0;
    int32_t      first, odom, fix;
    const double tight = 1e-6;
    *w = (world){.rng = ct_rng_seed(seed)};
    CHECK_OK(ct_graph_new(&w->graph, &w->err), w->err);
    CHECK_OK(ct_noise_new(&w->noise, &w->err), w->err);
    CHECK_OK(ct_noise_add_isotropic(w->noise, "first", dim, tight, &first, &w->err), w->err);
    CHECK_OK(ct_noise_add_isotropic(w->noise, "odom", dim, 1, &odom, &w->err), w->err);
    CHECK_OK(ct_noise_add_isotropic(w->noise, "fix", dim, 1, &fix, &w->err), w->err);
    ct_kind_identity(kind, x);
    for (int i = 0; i < POSES; i++) {
        const int32_t v = add_variable(w, kind, x);
        const double *at = w->truth + ct_graph_offset(w->graph, v);
        if (i == 0) CHECK_OK(ct_graph_add_prior(w->graph, v, at, first, &w->err), w->err);
        else {
            ct_kind_identity(kind, z);
            ct_kind_local(kind, w->truth + ct_graph_offset(w->graph, v - 1), at, d);
            for (int k = 0; k < dim; k++)
                d[k] += quiet * (k == 2 || (ahead && k < 3) ? 0.02 : 0.1) * ct_rng_normal(&w->rng);
            ct_kind_retract(kind, z, d, z);
            CHECK_OK(ct_graph_add_between(w->graph, v - 1, v, z, odom, &w->err), w->err);
            for (int k = 0; k < dim; k++)
                d[k] = quiet * (k == 2 || (ahead && k < 3) ? 0.5 : 1) * ct_rng_normal(&w->rng);
            ct_kind_retract(kind, at, d, z);
            CHECK_OK(ct_graph_add_prior(w->graph, v, z, fix, &w->err), w->err);
        }
        turn = 0.9 * turn + 0.05 * ct_rng_normal(&w->rng);
        memset(d, 0, sizeof d);
        d[ahead] = 0.6;
        d[2] = turn;
        ct_kind_retract(kind, x, d, x);
    }
}

static double *run(world *w, ct_solver *solver, ct_method method, double step, ct_solve_result *result)
{
    ct_solve_options options = ct_solve_defaults();
    double          *x = copy_values(w->graph, ct_graph_initial(w->graph));
    options.method = method;
    options.relative = options.absolute = 0;
    options.step = step;
    options.max_iterations = 300;
    CHECK_OK(ct_solver_run(solver, w->noise, x, &options, result, &w->err), w->err);
    return x;
}

static void test_large_residuals_take_few_iterations(void)
{
    for (int round = 0; round < 6; round++) {
        world           w;
        ct_solve_result lm, newton;
        nav_make(&w, round % 2 ? CT_SE3 : CT_SE2, 40 + (uint64_t)round, round % 2 ? 0.6 : 1);
        ct_solver *solver = new_solver(&w, NULL);
        double *x = run(&w, solver, CT_LEVENBERG_MARQUARDT, 1e-9, &lm), *y = run(&w, solver, CT_NEWTON, 1e-9, &newton);
        CHECK(lm.stop == CT_STOP_STEP && newton.stop == CT_STOP_STEP);
        CHECK(lm.iterations >= 15 && newton.iterations <= 9);
        CHECK(newton.gradient < 1e-11); /* curvatures are of order one */
        CHECK_NEAR(distance(w.graph, x, y), 0, 1e-8);
        CHECK_NEAR(newton.final_error / lm.final_error, 1, 1e-12);
        free(x);
        free(y);
        ct_solver_free(solver);
        world_free(&w);
    }
}

/* Steps from the first one below 1e-2 on are at most the square of the one before, times a constant. */
typedef struct {
    double last;
    int    shrank, quadratic;
} trace;

static int watch(void *user, const ct_progress *p)
{
    trace *t = user;
    if (p->iteration && t->last < 1e-2 && p->step > 1e-12) {
        t->shrank++;
        t->quadratic += p->step <= 30 * t->last * t->last;
    }
    t->last = p->iteration ? p->step : INFINITY;
    return 0;
}

static void test_the_end_is_quadratic(void)
{
    world            w;
    trace            t = {.last = INFINITY};
    ct_solve_result  result;
    ct_solve_options options = precise(CT_NEWTON);
    nav_make(&w, CT_SE2, 3, 1);
    ct_solver *solver = new_solver(&w, NULL);
    double    *x = copy_values(w.graph, ct_graph_initial(w.graph));
    options.progress = watch;
    options.user = &t;
    CHECK_OK(ct_solver_run(solver, w.noise, x, &options, &result, &w.err), w.err);
    CHECK(t.shrank >= 1 && t.quadratic == t.shrank);
    free(x);
    ct_solver_free(solver);
    world_free(&w);
}

/* Kernels that bend back make H indefinite in many places: no harm but more iterations. */
static void test_indefinite_hessians_are_left_to_levenberg_marquardt(void)
{
    static const ct_robust kernel[] = {
        {CT_ROBUST_CAUCHY, 0.3, 0}, {CT_ROBUST_GEMAN_MCCLURE, 1.5, 0}, {CT_ROBUST_HUBER, 0.2, 0}};
    for (int round = 0; round < 6; round++) {
        world           w;
        ct_solve_result result;
        nav_make(&w, CT_SE2, 60 + (uint64_t)round, 0.5);
        CHECK_OK(ct_noise_set_robust(w.noise, 2, kernel[round % 3], &w.err), w.err);
        ct_solver   *solver = new_solver(&w, NULL);
        double      *x = run(&w, solver, CT_NEWTON, 1e-9, &result);
        const double start = ct_graph_error(w.graph, w.noise, ct_graph_initial(w.graph));
        CHECK(ct_stop_converged(result.stop) && result.final_error < start);
        CHECK(result.iterations < 60 && result.gradient < 1e-8);
        CHECK_OK(ct_solver_hessian(solver, w.noise, x, &w.err), w.err); /* a minimum, not a saddle */
        free(x);
        ct_solver_free(solver);
        world_free(&w);
    }
}

static void test_approximate_derivatives_are_left_to_levenberg_marquardt(void)
{
    world           w;
    ct_solve_result lm, newton;
    nav_make(&w, CT_SE2, 8, 0.1);
    CHECK_OK(ct_graph_like_gtsam(w.graph, &w.err), w.err);
    ct_solver *solver = new_solver(&w, NULL);
    double    *x = run(&w, solver, CT_LEVENBERG_MARQUARDT, 1e-9, &lm), *y = run(&w, solver, CT_NEWTON, 1e-9, &newton);
    CHECK(!memcmp(x, y, (size_t)ct_graph_size(w.graph) * sizeof *x));
    CHECK(lm.stop == newton.stop && lm.iterations == newton.iterations);
    free(x);
    free(y);
    ct_solver_free(solver);
    world_free(&w);
}

static void test_limits_rank_and_nonsense_stop_it_as_they_do_others(void)
{
    world            w;
    ct_solve_result  result;
    ct_solve_options options = precise(CT_NEWTON);
    nav_make(&w, CT_SE2, 9, 1);
    ct_solver *solver = new_solver(&w, NULL);
    for (int limit = 0; limit < 7; limit++) {
        double *x = copy_values(w.graph, ct_graph_initial(w.graph));
        options.max_iterations = limit;
        CHECK_OK(ct_solver_run(solver, w.noise, x, &options, &result, &w.err), w.err);
        CHECK(result.iterations <= limit &&
              (result.iterations < limit || result.stop == CT_STOP_ITERATIONS || ct_stop_converged(result.stop)));
        CHECK_NEAR(result.final_error / ct_graph_error(w.graph, w.noise, x), 1, 1e-12);
        free(x);
    }
    double *x = copy_values(w.graph, ct_graph_initial(w.graph));
    x[0] = NAN;
    CHECK_OK(ct_solver_run(solver, w.noise, x, &options, &result, &w.err), w.err);
    CHECK(result.stop == CT_STOP_NOT_FINITE);
    free(x);
    ct_solver_free(solver);
    world_free(&w);

    world_make(&w, 10, PLANE | LOOPS);
    int32_t far = add_variable(&w, CT_R2, (const double[]){1, 2}),
            near = add_variable(&w, CT_R2, (const double[]){2, 3});
    tie(&w, &ct_between_r2, near, far);
    x = copy_values(w.graph, ct_graph_initial(w.graph));
    solver = new_solver(&w, NULL);
    options.max_iterations = 100;
    CHECK_OK(ct_solver_run(solver, w.noise, x, &options, &result, &w.err), w.err);
    CHECK(result.stop == CT_STOP_RANK && result.undetermined == 2 && ct_solver_undetermined(solver, far) &&
          ct_solver_undetermined(solver, near));
    free(x);
    ct_solver_free(solver);
    world_free(&w);
}

int main(void)
{
    RUN(test_large_residuals_take_few_iterations);
    RUN(test_the_end_is_quadratic);
    RUN(test_indefinite_hessians_are_left_to_levenberg_marquardt);
    RUN(test_approximate_derivatives_are_left_to_levenberg_marquardt);
    RUN(test_limits_rank_and_nonsense_stop_it_as_they_do_others);
    return ct_test_end();
}
