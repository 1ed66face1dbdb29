/* test_solve.c: what an estimate is: the minimum, whatever the method, the order of elimination, the
 * frame of the world and the unit of the noise. On random graphs of every kind and model. */
#include "graph_test.h"

static const int PARTS[] = {
    PLANE,
    PLANE | LOOPS,
    PLANE | LOOPS | LANDMARKS,
    SPACE,
    SPACE | LOOPS,
    SPACE | LOOPS | LANDMARKS,
    VECTORS,
    PLANE | SPACE | VECTORS | LOOPS | LANDMARKS | FIXED,
    PLANE | LOOPS | LANDMARKS | ROBUST,
    SPACE | LOOPS | LANDMARKS | ROBUST,
    EVERYTHING,
    PLANE | VECTORS | PARTIAL,
    EVERYTHING | PARTIAL,
};
static void for_all(void (*law)(world *w)) { for_worlds((int)(sizeof PARTS / sizeof *PARTS), PARTS, 4, law); }

/* The gradient of the error by central differences, each coordinate in units of its curvature, is zero. */
static void check_is_minimum(world *w, double *x)
{
    ct_solver *solver = new_solver(w, NULL);
    const int  n = ct_sparse_describe(ct_solver_system(solver)).scalars;
    double    *H = malloc((size_t)n * (size_t)n * sizeof *H), *g = malloc((size_t)n * sizeof *g), y[CT_SIZE_MAX];
    dense_system(w, solver, x, n, H, g);
    for (int32_t v = 0; v < ct_graph_variables(w->graph); v++) {
        const int32_t column = ct_solver_column(solver, v);
        const ct_kind kind = ct_graph_kind(w->graph, v);
        double       *at = x + ct_graph_offset(w->graph, v);
        CHECK((column < 0) == ct_graph_fixed(w->graph, v));
        for (int i = 0; column >= 0 && i < ct_kind_dim(kind); i++) {
            const double sigma = 1 / sqrt(H[(column + i) * (n + 1)]);
            double       d[CT_DIM_MAX] = {0}, error[2];
            memcpy(y, at, sizeof *y * (size_t)ct_kind_size(kind));
            for (int side = 0; side < 2; side++) {
                d[i] = (side ? 1e-4 : -1e-4) * sigma;
                ct_kind_retract(kind, y, d, at);
                error[side] = ct_graph_error(w->graph, w->noise, x);
            }
            memcpy(at, y, sizeof *y * (size_t)ct_kind_size(kind));
            CHECK_NEAR((error[1] - error[0]) / 2e-4, 0, 1e-6);
        }
    }
    free(H);
    free(g);
    ct_solver_free(solver);
}

static void all_methods_reach_one_minimum(world *w)
{
    double *x[CT_METHOD_COUNT];
    for (int m = 0; m < CT_METHOD_COUNT; m++) {
        ct_solve_result result;
        x[m] = estimate(w, (ct_method)m, &result);
        CHECK_NEAR(result.final_error / ct_graph_error(w->graph, w->noise, x[m]), 1, 1e-12);
        CHECK_NEAR(result.initial_error / ct_graph_error(w->graph, w->noise, ct_graph_initial(w->graph)), 1, 1e-12);
        CHECK(result.final_error < result.initial_error);
        CHECK_NEAR(distance(w->graph, x[m], x[0]), 0, w->parts & ROBUST ? 1e-6 : 1e-9);
        for (int32_t v = 0; v < ct_graph_variables(w->graph); v++) {
            const int64_t at = ct_graph_offset(w->graph, v);
            if (ct_graph_fixed(w->graph, v))
                CHECK(!memcmp(x[m] + at, ct_graph_initial(w->graph) + at,
                              sizeof(double) * (size_t)ct_kind_size(ct_graph_kind(w->graph, v))));
        }
    }
    check_is_minimum(w, x[0]);
    if (!(w->parts & FIXED)) CHECK(distance(w->graph, x[0], w->truth) < 2 && distance(w->graph, x[0], w->truth) > 1e-4);
    for (int m = 0; m < CT_METHOD_COUNT; m++) free(x[m]);
}
static void test_all_methods_reach_one_minimum(void) { for_all(all_methods_reach_one_minimum); }

/* H, g and one whole step, against dense algebra that shares no code with the solver. */
static void first_step_is_that_of_dense_gauss_newton(world *w)
{
    ct_solver       *solver = new_solver(w, NULL);
    const int        n = ct_sparse_describe(ct_solver_system(solver)).scalars;
    double *H = malloc((size_t)n * (size_t)n * sizeof *H), *S = malloc((size_t)n * (size_t)n * sizeof *S),
           *g = malloc((size_t)n * sizeof *g);
    double *x = copy_values(w->graph, ct_graph_initial(w->graph)), *want = copy_values(w->graph, x), largest = 0;
    ct_solve_options options = precise(CT_GAUSS_NEWTON);
    ct_solve_result  result;
    options.max_iterations = 1;
    dense_system(w, solver, x, n, H, g);
    dense_inverse(n, H, S);
    for (int32_t v = 0; v < ct_graph_variables(w->graph); v++) {
        const int32_t column = ct_solver_column(solver, v);
        double        d[CT_DIM_MAX] = {0};
        if (column < 0) continue;
        for (int i = 0; i < ct_kind_dim(ct_graph_kind(w->graph, v)); i++)
            for (int j = 0; j < n; j++) d[i] -= S[(column + i) * n + j] * g[j];
        ct_kind_retract(ct_graph_kind(w->graph, v), x + ct_graph_offset(w->graph, v), d,
                        want + ct_graph_offset(w->graph, v));
    }
    for (int i = 0; i < n; i++) largest = fmax(largest, fabs(g[i]));
    CHECK_OK(ct_solver_run(solver, w->noise, x, &options, &result, &w->err), w->err);
    CHECK(result.stop == CT_STOP_ITERATIONS && result.iterations == 1 && result.linearisations == 2 &&
          result.factorisations == 1);
    CHECK_NEAR(distance(w->graph, x, want), 0, 1e-9);
    CHECK_OK(ct_solver_linearise(solver, w->noise, ct_graph_initial(w->graph), &w->err), w->err);
    for (int i = 0; i < n; i++) CHECK_NEAR(ct_sparse_gradient(ct_solver_system(solver))[i], g[i], 1e-12 * largest);
    void *const owned[] = {H, S, g, x, want};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
    ct_solver_free(solver);
}
static void test_the_first_step_is_that_of_dense_gauss_newton(void)
{
    for_all(first_step_is_that_of_dense_gauss_newton);
}

static void estimate_does_not_depend_on_the_order(world *w)
{
    const int32_t          n = ct_graph_variables(w->graph);
    int32_t               *stage = calloc((size_t)n, sizeof *stage);
    const ct_solve_options options = precise(CT_GAUSS_NEWTON);
    ct_solve_result        result;
    double                *want = estimate(w, CT_GAUSS_NEWTON, &result);
    for (int32_t v = 0; v < n; v++) stage[v] = v % 3;
    for (int order = 0; order < 2 * CT_ORDER_COUNT; order++) {
        const ct_sparse_options how = {.order = (ct_order)(order % CT_ORDER_COUNT),
                                       .stage = order < CT_ORDER_COUNT ? NULL : stage};
        ct_solver              *solver = new_solver(w, &how);
        double                 *x = copy_values(w->graph, ct_graph_initial(w->graph));
        CHECK_OK(ct_solver_run(solver, w->noise, x, &options, &result, &w->err), w->err);
        CHECK_NEAR(distance(w->graph, x, want), 0, w->parts & ROBUST ? 1e-6 : 1e-9);
        free(x);
        ct_solver_free(solver);
    }
    free(want);
    free(stage);
}
static void test_the_estimate_does_not_depend_on_the_order(void) { for_all(estimate_does_not_depend_on_the_order); }

/* ---- noise ---------------------------------------------------------------------------------- */

static void scale_all_noise(ct_noise *noise, double factor)
{
    ct_err err = {0};
    for (int32_t i = 0; i < ct_noise_count(noise); i++) {
        const ct_noise_model *m = ct_noise_get(noise, i);
        double                S[36];
        const int             count = m->kind == CT_NOISE_FULL ? m->dim * m->dim : m->dim;
        for (int k = 0; k < count; k++) S[k] = factor * m->covariance[k];
        if (m->kind == CT_NOISE_FULL) CHECK_OK(ct_noise_set_covariance(noise, i, S, &err), err);
        else CHECK_OK(ct_noise_set_variance(noise, i, S, &err), err);
    }
}

/* ---- a world moved as a whole ----------------------------------------------------------------- */

/* x <- T x for poses and points of the plane and space. */
static void move_value(ct_kind kind, const ct_se2 *T2, const ct_se3 *T3, double *x)
{
    ct_se2 p;
    ct_se3 q;
    if (kind == CT_R2) ct_se2_act(*T2, x, x, NULL, NULL);
    else if (kind == CT_R3) ct_se3_act(*T3, x, x, NULL, NULL);
    else if (kind == CT_SE2) {
        memcpy(&p, x, sizeof p);
        p = ct_se2_compose(*T2, p, NULL, NULL);
        memcpy(x, &p, sizeof p);
    } else {
        memcpy(&q, x, sizeof q);
        q = ct_se3_compose(*T3, q, NULL, NULL);
        memcpy(x, &q, sizeof q);
    }
}

/* The same graph with every absolute measurement moved: priors, and known points. */
static void move_world(const world *w, const ct_se2 *T2, const ct_se3 *T3, world *moved)
{
    *moved = (world){.parts = w->parts};
    CHECK_OK(ct_graph_new(&moved->graph, &moved->err), moved->err);
    CHECK_OK(ct_noise_copy(w->noise, &moved->noise, &moved->err), moved->err);
    for (int32_t v = 0; v < ct_graph_variables(w->graph); v++) {
        double        x[CT_SIZE_MAX];
        const ct_kind kind = ct_graph_kind(w->graph, v);
        memcpy(x, ct_graph_initial(w->graph) + ct_graph_offset(w->graph, v), sizeof *x * (size_t)ct_kind_size(kind));
        move_value(kind, T2, T3, x);
        CHECK_OK(ct_graph_add_variable(moved->graph, NULL, kind, x, NULL, &moved->err), moved->err);
    }
    for (int32_t f = 0; f < ct_graph_factors(w->graph); f++) {
        const ct_factor factor = ct_graph_factor(w->graph, f);
        double          z[32];
        memcpy(z, factor.z, sizeof *z * (size_t)ct_factor_z_size(factor.ops));
        for (int k = 0, at = 0; factor.ops->absolute && k < factor.ops->fields;
             at += ct_kind_size(factor.ops->field[k++])) {
            const int world_point = strstr(factor.ops->name, "_point") && k == factor.ops->required - 1;
            if (begins(factor.ops->name, "prior") || world_point) move_value(factor.ops->field[k], T2, T3, z + at);
        }
        CHECK_OK(ct_graph_add_factor(moved->graph, factor.ops, factor.var, z, NULL, factor.noise, &moved->err),
                 moved->err);
    }
}

/* Position fixes measure in world axes, so their noise does not turn with it: there are none here. */
static void test_the_estimate_moves_with_the_world(void)
{
    ct_rng rng = ct_rng_seed(7);
    for (int round = 0; round < 8; round++) {
        world           w, moved;
        ct_solve_result result, other;
        double          a[3], b[6];
        for (int i = 0; i < 3; i++) a[i] = ct_rng_normal(&rng);
        for (int i = 0; i < 6; i++) b[i] = ct_rng_normal(&rng);
        const ct_se2 T2 = ct_se2_exp(a);
        const ct_se3 T3 = ct_se3_exp(b);
        world_make(&w, 900 + (uint64_t)round, (round % 2 ? SPACE : PLANE) | LOOPS);
        move_world(&w, &T2, &T3, &moved);
        double *x = estimate(&w, CT_LEVENBERG_MARQUARDT, &result),
               *y = estimate(&moved, CT_LEVENBERG_MARQUARDT, &other);
        for (int32_t v = 0; v < ct_graph_variables(w.graph); v++)
            move_value(ct_graph_kind(w.graph, v), &T2, &T3, x + ct_graph_offset(w.graph, v));
        CHECK_NEAR(distance(w.graph, x, y), 0, 1e-9);
        CHECK_NEAR(result.final_error / other.final_error, 1, 1e-11);
        free(x);
        free(y);
        world_free(&w);
        world_free(&moved);
    }
}

/* Map coordinates, 5000 km from their origin, and sigmas of a millimetre or two: the same estimate to the
 * micrometre, and an end even where a step is asked for that rounding (a nanometre) makes unreachable. */
static void test_far_from_the_origin_an_estimate_is_as_good(void)
{
    const ct_se2 T2 = ct_se2_make(5e6, 4e5, 1);
    const ct_se3 T3 = ct_se3_make((const double[]){5e6, 4e5, 100}, ct_so3_exp((const double[]){0.3, 0.2, 1}));
    for (int round = 0; round < 6; round++) {
        world           w, moved;
        ct_solve_result result;
        world_make(&w, 950 + (uint64_t)round, (round % 2 ? SPACE : PLANE) | LOOPS);
        scale_all_noise(w.noise, 0.0025);
        move_world(&w, &T2, &T3, &moved);
        double *x = estimate(&w, CT_GAUSS_NEWTON, &result);
        for (int32_t v = 0; v < ct_graph_variables(w.graph); v++)
            move_value(ct_graph_kind(w.graph, v), &T2, &T3, x + ct_graph_offset(w.graph, v));
        for (int m = 0; m < CT_METHOD_COUNT; m++) {
            double *y = estimate(&moved, (ct_method)m, &result);
            CHECK(result.iterations < 60);
            CHECK_NEAR(distance(w.graph, x, y), 0, 1e-6);
            free(y);
        }
        free(x);
        world_free(&w);
        world_free(&moved);
    }
}


/* Twice every variance: the same estimate, half the error, twice the covariance. */
static void one_scale_of_all_noise_changes_no_estimate(world *w)
{
    if (w->parts & ROBUST) return;
    ct_solve_result result, other;
    double         *x = estimate(w, CT_GAUSS_NEWTON, &result), S[36], T[36], *out = S, *twice = T;
    ct_solver      *solver = new_solver(w, NULL);
    const int32_t   last = ct_graph_variables(w->graph) - 1;
    CHECK_OK(ct_solver_linearise(solver, w->noise, x, &w->err), w->err);
    CHECK_OK(ct_solver_marginals(solver, 1, &last, &out, &w->err), w->err);
    scale_all_noise(w->noise, 2);
    double *y = estimate(w, CT_GAUSS_NEWTON, &other);
    CHECK_NEAR(distance(w->graph, x, y), 0, 1e-9);
    /* an open chain has none */
    CHECK_NEAR(other.final_error, result.final_error / 2, 1e-10 * result.final_error + 1e-20);
    CHECK_OK(ct_solver_linearise(solver, w->noise, x, &w->err), w->err);
    CHECK_OK(ct_solver_marginals(solver, 1, &last, &twice, &w->err), w->err);
    const int dim = ct_kind_dim(ct_graph_kind(w->graph, last));
    for (int i = 0; i < dim * dim; i++) CHECK_NEAR(T[i], 2 * S[i], 1e-10 * S[i / dim * (dim + 1)]);
    ct_solver_free(solver);
    free(x);
    free(y);
}
static void test_one_scale_of_all_noise_changes_no_estimate(void)
{
    for_all(one_scale_of_all_noise_changes_no_estimate);
}

int main(void)
{
    RUN(test_all_methods_reach_one_minimum);
    RUN(test_the_first_step_is_that_of_dense_gauss_newton);
    RUN(test_the_estimate_does_not_depend_on_the_order);
    RUN(test_the_estimate_moves_with_the_world);
    RUN(test_far_from_the_origin_an_estimate_is_as_good);
    RUN(test_one_scale_of_all_noise_changes_no_estimate);
    return ct_test_end();
}
