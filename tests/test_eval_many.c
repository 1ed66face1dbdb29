/* test_eval_many.c: models that evaluate all their factors in one call give what eval gives: estimates, exact Hessians,
 * gradients of learning; in few calls. Variables and factors by the array are those added one by one. */
#include "graph_test.h"
#include "learn_test.h"

/* ---- models in disguise ------------------------------------------------------------------------ */

/* A copy of a built-in model. Its context is the built-in model itself, so that one function serves all copies. */
enum { OWN_CURVATURE = 1, NUMERIC = 2, MANY = 4 };
enum { MODELS_MAX = 64 };

static int64_t singles, calls, calls_with_jacobians;
static int     fail_at = -1; /* the call that fails */

static void eval_one(const double *z, const void *context, const double *const x[], double *r, double *const J[])
{
    singles++;
    ((const ct_factor_ops *)context)->eval(z, NULL, x, r, J);
}

static void eval_all(int64_t n, const double *z, const void *const context[], const double *const x[], double *r,
                     double *const J[])
{
    const ct_factor_ops *ops = context[0];
    const int            numbers = ct_factor_z_size(ops);
    calls++;
    calls_with_jacobians += J != NULL;
    for (int64_t k = 0; k < n; k++) {
        const double *arg[CT_ARITY_MAX];
        double       *D[CT_ARITY_MAX];
        CHECK(context[k] == ops);
        for (int i = 0; i < ops->arity; i++) {
            arg[i] = x[i] + k * ct_kind_size(ops->kind[i]);
            D[i] = J && J[i] ? J[i] + k * ops->rows * ct_kind_dim(ops->kind[i]) : NULL;
        }
        ops->eval(z + k * numbers, NULL, arg, r + k * ops->rows, J ? D : NULL);
        if (calls == fail_at) r[k * ops->rows] = NAN;
    }
}

static void curve_one(const double *z, const void *context, const double *const x[], const double *u, double *K)
{
    ct_factor_curvature(context, z, NULL, x, u, K);
}

static const ct_factor_ops *disguised(const ct_factor_ops *ops, int how)
{
    static ct_factor_ops store[8][MODELS_MAX];
    int                  at = 0;
    while (ct_factor_at(at) != ops) at++;
    ct_factor_ops *copy = &store[how][at];
    *copy = *ops;
    copy->eval = eval_one;
    copy->eval_many = how & MANY ? eval_all : NULL;
    copy->curvature = how & OWN_CURVATURE ? curve_one : NULL;
    if (how & NUMERIC) copy->jacobian = CT_JACOBIAN_NUMERIC;
    return copy;
}

static ct_graph *disguise(const ct_graph *graph, int how)
{
    ct_graph *out = NULL;
    ct_err    err = {0};
    CHECK_OK(ct_graph_new(&out, &err), err);
    for (int32_t v = 0; v < ct_graph_variables(graph); v++) {
        char name[64];
        CHECK_OK(ct_graph_add_variable(out, ct_graph_name(graph, v, name, sizeof name), ct_graph_kind(graph, v),
                                       ct_graph_initial_const(graph) + ct_graph_offset(graph, v), NULL, &err), err);
        ct_graph_fix(out, v, ct_graph_fixed(graph, v));
    }
    for (int32_t f = 0; f < ct_graph_factors(graph); f++) {
        const ct_factor k = ct_graph_factor(graph, f);
        CHECK_OK(ct_graph_add_factor(out, k.context ? k.ops : disguised(k.ops, how), k.var, k.z,
                                     k.context ? k.context : k.ops, k.noise, &err), err);
        CHECK_OK(ct_graph_set_multiplier(out, f, f % 3 ? 1 : 1.7, &err), err);
    }
    return out;
}

static double *solve(const ct_graph *graph, const ct_noise *noise, ct_method method, ct_solve_result *result)
{
    ct_err           err = {0};
    ct_solver       *solver = NULL;
    ct_solve_options options = ct_solve_defaults();
    double          *x = copy_values(graph, ct_graph_initial_const(graph));
    options.method = method;
    CHECK_OK(ct_solver_new(graph, NULL, &solver, &err), err);
    CHECK_OK(ct_solver_run(solver, noise, x, &options, result, &err), err);
    ct_solver_free(solver);
    return x;
}

/* ---- laws -------------------------------------------------------------------------------------- */

static int alike(const double *a, const double *b, int64_t n, double tolerance)
{
    for (int64_t i = 0; i < n; i++)
        if (!(fabs(a[i] - b[i]) <= tolerance * (1 + fabs(a[i])))) return 0;
    return 1;
}

/* With own second derivatives to the bit. By differences their sums are in another order, and numbers are alike. */
static void test_estimates_are_those_with_eval(void)
{
    for (uint64_t seed = 1; seed <= 4; seed++)
        for (int how = 0; how < 4; how++)
            for (int method = 0; method < CT_METHOD_COUNT; method++) {
                world           w;
                ct_solve_result a = {0}, b = {0};
                world_make(&w, seed, seed % 2 ? EVERYTHING : EVERYTHING & ~ROBUST);
                ct_graph *one = disguise(w.graph, how), *many = disguise(w.graph, how | MANY);
                double   *x = solve(one, w.noise, (ct_method)method, &a);
                singles = calls = 0;
                double *y = solve(many, w.noise, (ct_method)method, &b);
                CHECK(calls > 0);
                if (how == OWN_CURVATURE) {
                    CHECK(!memcmp(x, y, (size_t)ct_graph_size(one) * sizeof *x));
                    CHECK(a.iterations == b.iterations && a.final_error == b.final_error && singles == 0);
                } else CHECK(alike(x, y, ct_graph_size(one), 1e-7));
                free(x);
                free(y);
                ct_graph_free(one);
                ct_graph_free(many);
                world_free(&w);
            }
}

/* Marginals of the exact Hessian: every second derivative is in them. */
static void test_exact_hessians_are_those_with_eval(void)
{
    for (uint64_t seed = 1; seed <= 4; seed++)
        for (int how = 0; how < 4; how++) {
            world w;
            world_make(&w, seed, EVERYTHING);
            ct_graph       *graph[2] = {disguise(w.graph, OWN_CURVATURE), disguise(w.graph, how | MANY)};
            ct_solve_result result = {0};
            double         *x = solve(graph[0], w.noise, CT_NEWTON, &result), P[2][36];
            ct_solver      *solver[2];
            for (int k = 0; k < 2; k++) {
                CHECK_OK(ct_solver_new(graph[k], NULL, &solver[k], &w.err), w.err);
                CHECK_OK(ct_solver_hessian(solver[k], w.noise, x, &w.err), w.err);
            }
            for (int32_t v = 0; v < ct_graph_variables(graph[0]); v++) {
                const int dim = ct_kind_dim(ct_graph_kind(graph[0], v));
                if (ct_graph_fixed(graph[0], v)) continue;
                for (int k = 0; k < 2; k++)
                    CHECK_OK(ct_solver_marginals(solver[k], 1, &v, (double *[]){P[k]}, &w.err), w.err);
                CHECK(alike(P[0], P[1], dim * dim, how & NUMERIC ? 1e-4 : 1e-6));
            }
            for (int k = 0; k < 2; k++) {
                ct_solver_free(solver[k]);
                ct_graph_free(graph[k]);
            }
            free(x);
            world_free(&w);
        }
}

/* One call a model and sweep: an iteration of Levenberg-Marquardt linearises and evaluates once each. */
static void test_calls_do_not_grow_with_the_number_of_factors(void)
{
    int64_t made[2];
    for (int k = 0; k < 2; k++) {
        lesson          l = lesson_of("D1", CT_SE2, 1, k ? 400 : 50, 7);
        ct_graph       *many = disguise(l.seq[0]->graph, OWN_CURVATURE | MANY);
        ct_solve_result result = {0};
        singles = calls = 0;
        free(solve(many, l.noise, CT_LEVENBERG_MARQUARDT, &result));
        made[k] = calls;
        CHECK(singles == 0 && calls <= 3 * (2 * result.iterations + 6));
        ct_graph_free(many);
        lesson_free(&l);
    }
    CHECK(made[1] <= 2 * made[0]);
}

static void test_gradients_of_learning_are_those_with_eval(void)
{
    for (int how = 0; how < 2; how++) {
        double gradient[2][12], loss[2];
        for (int k = 0; k < 2; k++) {
            lesson l = lesson_of("D3", CT_SE2, 2, 60, 3);
            for (int i = 0; i < l.runs; i++) {
                ct_graph *other = disguise(l.seq[i]->graph, how | (k ? MANY : 0));
                ct_graph_free(l.seq[i]->graph);
                l.seq[i]->graph = other;
            }
            learn_all(&l, CT_NOISE_DIAGONAL, 1e-8, 1e8);
            start_far(&l);
            open_outer(&l, NULL);
            const int32_t  m = ct_theta_count(l.theta);
            double         p[12];
            ct_outer_value value = {.gradient = gradient[k]};
            CHECK(m <= 12);
            ct_theta_get(l.theta, l.noise, p);
            singles = 0;
            CHECK_OK(ct_outer_evaluate(l.outer, p, NULL, &value, &l.err), l.err);
            loss[k] = value.loss;
            CHECK(!k || singles < 10 * 60);
            if (k) CHECK(alike(gradient[0], gradient[1], m, 1e-6) && fabs(loss[0] - loss[1]) < 1e-9 * loss[0]);
            lesson_free(&l);
        }
    }
}

static void test_a_call_that_fails_ends_the_solve(void)
{
    lesson           l = lesson_of("D1", CT_SE2, 1, 50, 7);
    ct_graph        *many = disguise(l.seq[0]->graph, OWN_CURVATURE | MANY);
    ct_solver       *solver = NULL;
    ct_solve_options options = ct_solve_defaults();
    ct_solve_result  result = {0};
    double          *x = copy_values(many, ct_graph_initial_const(many));
    CHECK_OK(ct_solver_new(many, NULL, &solver, &l.err), l.err);
    calls = 0;
    fail_at = 1;
    CHECK_OK(ct_solver_run(solver, l.noise, x, &options, &result, &l.err), l.err);
    fail_at = -1;
    CHECK(result.stop == CT_STOP_NOT_FINITE);
    CHECK_OK(ct_solver_run(solver, l.noise, x, &options, &result, &l.err), l.err); /* and the next one is whole */
    ct_solver_free(solver);
    free(x);
    ct_graph_free(many);
    lesson_free(&l);
}

/* ---- the checker ------------------------------------------------------------------------------- */

static void eval_wrong(int64_t n, const double *z, const void *const context[], const double *const x[], double *r,
                       double *const J[])
{
    eval_all(n, z, context, x, r, J);
    r[(n - 1) * 3 + 2] += 1e-6;
}

static void eval_wrong_derivative(int64_t n, const double *z, const void *const context[], const double *const x[],
                                  double *r, double *const J[])
{
    eval_all(n, z, context, x, r, J);
    if (J && J[1]) J[1][(n - 1) * 9 + 4] += 1e-6;
}

static void test_the_checker_compares_both_forms(void)
{
    ct_factor_ops ops = *disguised(&ct_between_se2, MANY);
    ct_err        err = {0};
    const ct_se2  a = ct_se2_make(1, 2, 0.3), b = ct_se2_make(2, 1, -0.4), z = ct_se2_make(1, 0, 0.1);
    const double *x[2] = {(const double *)&a, (const double *)&b};
    CHECK_OK(ct_factor_check(&ops, (const double *)&z, &ct_between_se2, x, 1e-7, &err), err);
    ops.eval_many = eval_wrong;
    CHECK(ct_factor_check(&ops, (const double *)&z, &ct_between_se2, x, 1e-7, &err) == CT_E_ARGUMENT);
    CHECK(strstr(err.text, "yaw of factor 3 of 3") != NULL);
    ops.eval_many = eval_wrong_derivative;
    CHECK(ct_factor_check(&ops, (const double *)&z, &ct_between_se2, x, 1e-7, &err) == CT_E_ARGUMENT);
    CHECK(strstr(err.text, "derivative") != NULL);
}

/* ---- arrays ------------------------------------------------------------------------------------ */

static void test_arrays_add_what_single_calls_add(void)
{
    enum { N = 50 };
    ct_graph *one = NULL, *all = NULL;
    ct_err    err = {0};
    ct_se2    pose[N], step[N - 1];
    int32_t   var[2 * (N - 1)], first = -1;
    CHECK_OK(ct_graph_new(&one, &err), err);
    CHECK_OK(ct_graph_new(&all, &err), err);
    for (int i = 0; i < N; i++) {
        pose[i] = ct_se2_make(i, 0.1 * i, 0.01 * i);
        CHECK_OK(ct_graph_add_se2(one, NULL, pose[i], NULL, &err), err);
    }
    for (int i = 0; i + 1 < N; i++) {
        step[i] = ct_se2_between(pose[i], pose[i + 1], NULL, NULL);
        var[2 * i] = i, var[2 * i + 1] = i + 1;
        CHECK_OK(ct_graph_add_between_se2(one, i, i + 1, step[i], 2, &err), err);
    }
    CHECK_OK(ct_graph_add_variables(all, CT_SE2, N, (const double *)pose, &first, &err), err);
    CHECK_OK(ct_graph_add_factors(all, &ct_between_se2, N - 1, var, (const double *)step, NULL, 2, &err), err);
    CHECK(first == 0 && ct_graph_variables(all) == N && ct_graph_factors(all) == N - 1);
    CHECK(!memcmp(ct_graph_initial(one), ct_graph_initial(all), sizeof pose));
    for (int32_t f = 0; f < N - 1; f++) {
        const ct_factor a = ct_graph_factor(one, f), b = ct_graph_factor(all, f);
        CHECK(a.ops == b.ops && a.noise == b.noise && !memcmp(a.z, b.z, sizeof *step));
        CHECK(a.var[0] == b.var[0] && a.var[1] == b.var[1]);
    }
    uint8_t kind[N], fixed[N];
    int64_t offset[N];
    ct_graph_fix(all, 1, 1);
    ct_graph_describe_variables(all, kind, fixed, offset);
    ct_graph_describe_variables(all, NULL, NULL, NULL);
    for (int32_t v = 0; v < N; v++)
        CHECK(kind[v] == ct_graph_kind(all, v) && fixed[v] == (v == 1) && offset[v] == ct_graph_offset(all, v));
    ct_graph_free(one);
    ct_graph_free(all);
}

/* The last of an array is refused: none is there, and what comes next is as if nothing had happened. */
static void test_an_array_is_added_whole_or_not_at_all(void)
{
    ct_graph    *graph = NULL;
    ct_err       err = {0};
    const ct_se2 z[2] = {ct_se2_make(1, 0, 0), {NAN, 0, 1, 0}};
    CHECK_OK(ct_graph_new(&graph, &err), err);
    CHECK(ct_graph_add_variables(graph, CT_SE2, 2, (const double *)z, NULL, &err) == CT_E_ARGUMENT);
    CHECK(ct_graph_variables(graph) == 0 && ct_graph_size(graph) == 0 && ct_graph_find(graph, "x0") == -1);
    CHECK_OK(ct_graph_add_variables(graph, CT_SE2, 3, NULL, NULL, &err), err);
    CHECK(ct_graph_add_factors(graph, &ct_between_se2, 2, (const int32_t[]){0, 1, 1, 2}, (const double *)z, NULL, 0,
                               &err) == CT_E_ARGUMENT);
    CHECK(ct_graph_factors(graph) == 0);
    const double range[1] = {1}; /* the index of the noise model is free for other rows */
    CHECK(ct_graph_add_factors(graph, &ct_between_se2, -1, NULL, NULL, NULL, 0, &err) == CT_E_ARGUMENT);
    CHECK(ct_graph_add_factors(graph, NULL, 1, NULL, NULL, NULL, 0, &err) == CT_E_ARGUMENT);
    CHECK(ct_graph_add_variables(graph, CT_KIND_COUNT, 1, NULL, NULL, &err) == CT_E_ARGUMENT);
    CHECK(ct_graph_add_variables(graph, CT_SE2, INT32_MAX, NULL, NULL, &err) == CT_E_LIMIT);
    CHECK_OK(ct_graph_add_variables(graph, CT_R1, 1, NULL, NULL, &err), err);
    CHECK_OK(ct_graph_add_factor(graph, &ct_prior_r1, (const int32_t[]){3}, range, NULL, 0, &err), err);
    ct_graph_free(graph);
}

/* Half the square sum of whitened residuals is the error; J'r its gradient, by differences. */
static void test_evaluated_arrays_are_the_error_and_its_gradient(void)
{
    for (int how = 0; how < 8; how += 4) {
        world w;
        world_make(&w, 5, EVERYTHING & ~ROBUST);
        ct_graph *graph = disguise(w.graph, how | OWN_CURVATURE);
        double   *x = copy_values(graph, ct_graph_initial_const(graph)), error = 0, slope = 0;
        double    d[CT_DIM_MAX] = {1e-6, -2e-6, 1.5e-6, 1e-6, 2e-6, -1e-6}, moved[CT_SIZE_MAX];
        const int32_t       v = w.pose[0][3];
        int64_t             factors = 0;
        const ct_factor_ops *ops;
        for (int m = 0; (ops = ct_graph_model(graph, m)); m++) {
            const int64_t n = ct_graph_factors_of(graph, ops, NULL, NULL);
            int32_t      *factor = malloc((size_t)n * sizeof *factor), *var = malloc((size_t)(n * 4) * sizeof *var);
            double       *r = malloc((size_t)(n * ops->rows) * sizeof *r), *J[CT_ARITY_MAX];
            CHECK(ct_graph_factors_of(graph, ops, factor, var) == n);
            factors += n;
            for (int i = 0; i < ops->arity; i++) J[i] = malloc((size_t)(n * 36) * sizeof **J);
            CHECK_OK(ct_graph_evaluate(graph, w.noise, x, n, factor, r, J, &w.err), w.err);
            for (int64_t k = 0; k < n * ops->rows; k++) {
                error += r[k] * r[k] / 2;
                for (int i = 0; i < ops->arity; i++) {
                    const int dim = ct_kind_dim(ops->kind[i]);
                    for (int c = 0; var[k / ops->rows * ops->arity + i] == v && c < dim; c++)
                        slope += r[k] * J[i][k * dim + c] * d[c];
                }
            }
            for (int i = 0; i < ops->arity; i++) free(J[i]);
            free(factor);
            free(var);
            free(r);
        }
        CHECK(factors == ct_graph_factors(graph));
        CHECK(fabs(error - ct_graph_error(graph, w.noise, x)) <= 1e-12 * error);
        double *at = x + ct_graph_offset(graph, v), ahead, behind;
        const ct_kind kind = ct_graph_kind(graph, v);
        memcpy(moved, at, (size_t)ct_kind_size(kind) * sizeof *moved);
        ct_kind_retract(kind, moved, d, at);
        ahead = ct_graph_error(graph, w.noise, x);
        for (int c = 0; c < CT_DIM_MAX; c++) d[c] = -d[c];
        ct_kind_retract(kind, moved, d, at);
        behind = ct_graph_error(graph, w.noise, x);
        CHECK(fabs((ahead - behind) / 2 - slope) <= 1e-6 * fabs(slope) + 1e-12 * error);
        CHECK(ct_graph_evaluate(graph, w.noise, x, 1, (const int32_t[]){ct_graph_factors(graph)}, NULL, NULL, &w.err) ==
              CT_E_ARGUMENT);
        CHECK(ct_graph_model(graph, -1) == NULL && ct_graph_factors_of(graph, NULL, NULL, NULL) == 0);
        free(x);
        ct_graph_free(graph);
        world_free(&w);
    }
}

int main(void)
{
    RUN(test_evaluated_arrays_are_the_error_and_its_gradient);
    RUN(test_estimates_are_those_with_eval);
    RUN(test_exact_hessians_are_those_with_eval);
    RUN(test_calls_do_not_grow_with_the_number_of_factors);
    RUN(test_gradients_of_learning_are_those_with_eval);
    RUN(test_a_call_that_fails_ends_the_solve);
    RUN(test_the_checker_compares_both_forms);
    RUN(test_arrays_add_what_single_calls_add);
    RUN(test_an_array_is_added_whole_or_not_at_all);
    return ct_test_end();
}
