/* test_multiplier.c: a factor whose covariance is a known multiple m of its model's. The oracle is the same graph in
 * which every factor has a model of its own, with m Sigma and no multiplier. */
#include "graph_test.h"
#include "learn/learn.h"
#include "learn_test.h"

#include <covtune/likelihood.h>
#include <covtune/smooth.h>

/* ---- The same graph with models of its own --------------------------------------------------- */

/* A third of the multipliers stay 1; the others go from 0.05 to 20. */
static void multiply(ct_graph *graph, ct_rng *rng)
{
    for (int32_t f = 0; f < ct_graph_factors(graph); f++) {
        ct_err err;
        if (f % 3) CHECK_OK(ct_graph_set_multiplier(graph, f, exp(3 * (2 * ct_rng_uniform(rng) - 1)), &err), err);
    }
}

/* Adds the model of factor f to the table, with m Sigma. */
static int32_t own_model(const ct_noise *from, const ct_factor *f, ct_noise *to)
{
    const ct_noise_model *m = ct_noise_get(from, f->noise);
    char                  name[64];
    double                S[36];
    int32_t               index = -1;
    ct_err                err;
    snprintf(name, sizeof name, "own%d", ct_noise_count(to));
    for (int i = 0; i < m->dim * m->dim; i++) S[i] = f->multiplier * ct_noise_covariance(m, i / m->dim, i % m->dim);
    if (m->kind == CT_NOISE_FULL) CHECK_OK(ct_noise_add_full(to, name, m->dim, S, &index, &err), err);
    else if (m->kind == CT_NOISE_ISOTROPIC) CHECK_OK(ct_noise_add_isotropic(to, name, m->dim, S[0], &index, &err), err);
    else {
        for (int i = 0; i < m->dim; i++) S[i] = S[i * m->dim + i];
        CHECK_OK(ct_noise_add_diagonal(to, name, m->dim, S, &index, &err), err);
    }
    CHECK_OK(ct_noise_set_robust(to, index, m->robust, &err), err);
    return index;
}

/* *out <- the graph without multipliers. of[g] (room for as many as there are factors): the model that own model g of
 * `to` is a multiple of. */
static void expand(const ct_graph *graph, const ct_noise *noise, ct_graph **out, ct_noise *to, int32_t *of)
{
    ct_err err;
    CHECK_OK(ct_graph_new(out, &err), err);
    for (int32_t v = 0; v < ct_graph_variables(graph); v++) {
        const double *x = ct_graph_initial_const(graph) + ct_graph_offset(graph, v);
        CHECK_OK(ct_graph_add_variable(*out, NULL, ct_graph_kind(graph, v), x, NULL, &err), err);
        ct_graph_fix(*out, v, ct_graph_fixed(graph, v));
    }
    for (int32_t f = 0; f < ct_graph_factors(graph); f++) {
        const ct_factor k = ct_graph_factor(graph, f);
        const int32_t   own = own_model(noise, &k, to);
        CHECK_OK(ct_graph_add_factor(*out, k.ops, k.var, k.z, k.context, own, &err), err);
        of[own] = k.noise;
    }
}

static world expand_world(world *w)
{
    world    e = {.rng = ct_rng_seed(7)};
    int32_t *of = calloc((size_t)ct_graph_factors(w->graph) + 1, sizeof *of);
    multiply(w->graph, &e.rng);
    CHECK_OK(ct_noise_new(&e.noise, &e.err), e.err);
    expand(w->graph, w->noise, &e.graph, e.noise, of);
    free(of);
    return e;
}

/* ---- Estimates ------------------------------------------------------------------------------- */

static const int KINDS[] = {PLANE | LOOPS | LANDMARKS, SPACE | LOOPS | LANDMARKS, EVERYTHING & ~ROBUST, EVERYTHING,
                            PLANE | SPACE | VECTORS | PARTIAL};
#define KIND_COUNT ((int)(sizeof KINDS / sizeof *KINDS))

static void same_estimates(world *w)
{
    world        e = expand_world(w);
    const double error = ct_graph_error(e.graph, e.noise, ct_graph_initial(e.graph));
    CHECK_NEAR(ct_graph_error(w->graph, w->noise, ct_graph_initial(w->graph)), error, 1e-12 * error);
    for (int method = 0; method < CT_METHOD_COUNT; method++) {
        ct_solve_result a, b;
        double         *x = estimate(w, (ct_method)method, &a), *y = estimate(&e, (ct_method)method, &b);
        CHECK_NEAR(a.final_error, b.final_error, 1e-9 * b.final_error);
        CHECK_NEAR(distance(w->graph, x, y), 0, 1e-6);
        free(x);
        free(y);
    }
    world_free(&e);
}

static void test_every_solver_ends_at_the_minimum_with_models_of_their_own(void)
{
    for_worlds(KIND_COUNT, KINDS, 4, same_estimates);
}

/* Marginals by J'J, by the exact Hessian where there is one, and by inverting a dense matrix that knows multipliers
 * only as models. */
static void check_marginals(world *w, world *e, ct_solver *a, ct_solver *b, double *x)
{
    const int n = ct_sparse_describe(ct_solver_system(b)).scalars;
    double   *H = calloc((size_t)n * (size_t)n, sizeof *H), *P = calloc((size_t)n * (size_t)n, sizeof *P);
    double   *g = calloc((size_t)n, sizeof *g);
    dense_system(e, b, x, n, H, g);
    dense_inverse(n, H, P);
    for (int exact = 0; exact < 2; exact++) {
        const ct_status is = exact ? ct_solver_hessian(a, w->noise, x, &w->err)
                                   : ct_solver_linearise(a, w->noise, x, &w->err);
        const ct_status was = exact ? ct_solver_hessian(b, e->noise, x, &e->err)
                                    : ct_solver_linearise(b, e->noise, x, &e->err);
        CHECK(is == was && (exact || is == CT_OK));
        for (int32_t v = 0; is == CT_OK && was == CT_OK && v < ct_graph_variables(w->graph); v++) {
            const int d = ct_kind_dim(ct_graph_kind(w->graph, v)), at = ct_solver_column(a, v);
            double    M[36], N[36], *m[1] = {M}, *other[1] = {N};
            if (at < 0) continue;
            CHECK_OK(ct_solver_marginals(a, 1, &v, m, &w->err), w->err);
            CHECK_OK(ct_solver_marginals(b, 1, &v, other, &e->err), e->err);
            for (int i = 0; i < d * d; i++) {
                const double size = sqrt(N[i / d * (d + 1)] * N[i % d * (d + 1)]);
                CHECK_NEAR(M[i], N[i], 1e-9 * size);
                if (!exact) CHECK_NEAR(M[i], P[(at + i / d) * n + at + i % d], 1e-8 * size);
            }
        }
    }
    free(H);
    free(P);
    free(g);
}

static void same_uncertainty(world *w)
{
    world           e = expand_world(w);
    ct_solve_result result;
    double         *x = estimate(&e, CT_LEVENBERG_MARQUARDT, &result), near_a, near_b;
    ct_solver      *a = new_solver(w, NULL), *b = new_solver(&e, NULL);
    ct_conditioning c, d;
    check_marginals(w, &e, a, b, x);
    CHECK_OK(ct_conditioning_at(w->graph, w->noise, a, x, &c, &w->err), w->err);
    CHECK_OK(ct_conditioning_at(e.graph, e.noise, b, x, &d, &e.err), e.err);
    CHECK_NEAR(c.plain.condition, d.plain.condition, 1e-6 * d.plain.condition);
    CHECK_NEAR(c.plain.smallest, d.plain.smallest, 1e-6 * d.plain.smallest);
    jitter(w, ct_graph_kind(w->graph, 0), 1e-3, x); /* a little off the minimum the distance is a number */
    CHECK_OK(ct_solver_distance(a, w->noise, x, &near_a, &w->err), w->err);
    CHECK_OK(ct_solver_distance(b, e.noise, x, &near_b, &e.err), e.err);
    CHECK_NEAR(near_a, near_b, 1e-9 * (1 + near_b));
    ct_solver_free(a);
    ct_solver_free(b);
    free(x);
    world_free(&e);
}

static void test_uncertainty_is_that_of_models_of_their_own(void)
{
    for_worlds(KIND_COUNT, KINDS, 3, same_uncertainty);
}

/* A solver that exists follows a multiplier that changes. */
static void test_a_solver_follows_a_multiplier_that_changes(void)
{
    world           w;
    ct_solve_result result;
    const ct_solve_options options = precise(CT_LEVENBERG_MARQUARDT);
    world_make(&w, 3, PLANE | LOOPS);
    ct_solver *solver = new_solver(&w, NULL);
    double    *x = copy_values(w.graph, ct_graph_initial(w.graph));
    for (int32_t f = 0; f < ct_graph_factors(w.graph); f += 2)
        CHECK_OK(ct_graph_set_multiplier(w.graph, f, 9, &w.err), w.err);
    CHECK_OK(ct_solver_run(solver, w.noise, x, &options, &result, &w.err), w.err);
    double *y = estimate(&w, CT_LEVENBERG_MARQUARDT, &result);
    CHECK_NEAR(distance(w.graph, x, y), 0, 1e-9);
    ct_solver_free(solver);
    free(x);
    free(y);
    world_free(&w);
}

/* All factors times 9: the same estimate, covariances times 9, a ninth of the error. */
static void test_a_common_multiplier_scales_covariances_alone(void)
{
    world           w;
    ct_solve_result before, after;
    double          P[9], Q[9], *p[1] = {P}, *q[1] = {Q};
    const int32_t   v = 5;
    world_make(&w, 4, PLANE | LOOPS | LANDMARKS);
    ct_solver *solver = new_solver(&w, NULL);
    double    *x = estimate(&w, CT_LEVENBERG_MARQUARDT, &before);
    CHECK_OK(ct_solver_linearise(solver, w.noise, x, &w.err), w.err);
    CHECK_OK(ct_solver_marginals(solver, 1, &v, p, &w.err), w.err);
    for (int32_t f = 0; f < ct_graph_factors(w.graph); f++)
        CHECK_OK(ct_graph_set_multiplier(w.graph, f, 9, &w.err), w.err);
    double *y = estimate(&w, CT_LEVENBERG_MARQUARDT, &after);
    CHECK_OK(ct_solver_linearise(solver, w.noise, y, &w.err), w.err);
    CHECK_OK(ct_solver_marginals(solver, 1, &v, q, &w.err), w.err);
    CHECK_NEAR(distance(w.graph, x, y), 0, 1e-7);
    CHECK_NEAR(after.final_error, before.final_error / 9, 1e-9 * before.final_error);
    for (int i = 0; i < 9; i++) CHECK_NEAR(Q[i], 9 * P[i], 1e-7 * P[0]);
    ct_solver_free(solver);
    free(x);
    free(y);
    world_free(&w);
}

/* ---- Incremental ----------------------------------------------------------------------------- */

static void check_replay(const lesson *l, const ct_graph *own, const ct_noise *models, int window)
{
    ct_replay_options options = ct_replay_defaults();
    ct_replay_result  a, b;
    ct_err            err;
    const ct_graph   *graph = l->seq[0]->graph;
    double           *x = copy_values(graph, ct_graph_initial_const(graph)), *y = copy_values(graph, x);
    options.smoother.window = window;
    CHECK_OK(ct_replay(graph, l->noise, &options, x, &a, &err), err);
    CHECK_OK(ct_replay(own, models, &options, y, &b, &err), err);
    CHECK(ct_stop_converged(a.stop) && ct_stop_converged(b.stop) && a.updates == b.updates);
    CHECK_NEAR(distance(graph, x, y), 0, 1e-9);
    CHECK_NEAR(a.error, b.error, 1e-9 * b.error);
    free(x);
    free(y);
}

static void test_incremental_estimates_are_those_with_models_of_their_own(void)
{
    lesson    l = lesson_of("D3", CT_SE2, 1, 120, 3);
    ct_rng    rng = ct_rng_seed(5);
    ct_graph *own = NULL;
    ct_noise *models = NULL;
    int32_t  *of = calloc((size_t)ct_graph_factors(l.seq[0]->graph), sizeof *of);
    multiply(l.seq[0]->graph, &rng);
    CHECK_OK(ct_noise_new(&models, &l.err), l.err);
    expand(l.seq[0]->graph, l.noise, &own, models, of);
    check_replay(&l, own, models, 0);
    check_replay(&l, own, models, 20); /* marginalises */
    free(of);
    ct_graph_free(own);
    ct_noise_free(models);
    lesson_free(&l);
}

/* ---- Learning -------------------------------------------------------------------------------- */

/* Navigation runs with multipliers, and the same with models of their own. of[g]: what own model g is a multiple of. */
typedef struct {
    lesson  one, own;
    int32_t of[2000];
} pair;

static pair pair_of(const char *preset, ct_kind space, ct_noise_kind kind, ct_robust robust)
{
    pair   p = {.one = lesson_of(preset, space, 2, 40, 5), .own = {.runs = 2}};
    ct_rng rng = ct_rng_seed(11);
    learn_all(&p.one, kind, 1e-9, 1e9);
    CHECK_OK(ct_noise_new(&p.own.noise, &p.own.err), p.own.err);
    double at[64];
    ct_theta_get(p.one.theta, p.one.noise, at); /* the latent models are diagonal: the table gets those of the kind */
    CHECK_OK(ct_theta_apply(p.one.theta, at, p.one.noise, &p.one.err), p.one.err);
    for (int32_t g = 0; g < ct_noise_count(p.one.noise); g++)
        CHECK_OK(ct_noise_set_robust(p.one.noise, g, robust, &p.one.err), p.one.err);
    for (int i = 0; i < 2; i++) {
        ct_graph *graph = NULL;
        multiply(p.one.seq[i]->graph, &rng);
        expand(p.one.seq[i]->graph, p.one.noise, &graph, p.own.noise, p.of);
        CHECK_OK(ct_sequence_new(graph, &p.own.seq[i], &p.own.err), p.own.err);
        p.own.seq[i]->truth = copy_values(graph, p.one.seq[i]->truth);
        p.own.seq[i]->known = malloc((size_t)ct_graph_variables(graph));
        memcpy(p.own.seq[i]->known, p.one.seq[i]->known, (size_t)ct_graph_variables(graph));
    }
    CHECK_OK(ct_theta_new(p.own.noise, &p.own.theta, &p.own.err), p.own.err);
    for (int32_t g = 0; g < ct_noise_count(p.own.noise); g++)
        if (ct_theta_learns(p.one.theta, p.of[g]))
            CHECK_OK(ct_theta_learn(p.own.theta, g, ct_noise_get(p.own.noise, g)->kind, 1e-9, 1e9, &p.own.err),
                     p.own.err);
    open_outer(&p.one, NULL);
    open_outer(&p.own, NULL);
    return p;
}

static void pair_free(pair *p)
{
    lesson_free(&p->one);
    lesson_free(&p->own);
}

/* Sums the gradient by log variances of own models to that by their origins: d log(m v) = d log v. */
static void sum_gradient(const pair *p, const double *at, const double *own_at, const double *own, double *sum)
{
    ct_theta_jacobian *a = NULL, *b = NULL;
    ct_err             err;
    memset(sum, 0, (size_t)ct_theta_count(p->one.theta) * sizeof *sum);
    CHECK_OK(ct_theta_jacobian_new(p->one.theta, &a, &err), err);
    CHECK_OK(ct_theta_jacobian_new(p->own.theta, &b, &err), err);
    ct_theta_jacobian_at(p->one.theta, at, a);
    ct_theta_jacobian_at(p->own.theta, own_at, b);
    for (int32_t g = 0; g < ct_noise_count(p->own.noise); g++)
        for (int32_t t = b->first[g], to = a->first[p->of[g]]; t < b->first[g + 1]; t++, to++)
            sum[a->parameter[to]] += own[b->parameter[t]];
    free(a);
    free(b);
}

static double *numbers(int32_t n) { return calloc((size_t)n, sizeof(double)); }
static void    free_all(double *const owned[5])
{
    for (int i = 0; i < 5; i++) free(owned[i]);
}

/* Chi-square and leverage by model and row. */
static void check_fit(pair *p, const double *at, const double *own)
{
    const int32_t  models = ct_noise_count(p->one.noise);
    ct_model_fit  *one = calloc((size_t)models, sizeof *one), *sum = calloc((size_t)models, sizeof *sum);
    ct_model_fit  *each = calloc((size_t)ct_noise_count(p->own.noise), sizeof *each);
    ct_outer_value a = {.fit = one}, b = {.fit = each};
    CHECK_OK(ct_outer_evaluate(p->one.outer, at, NULL, &a, &p->one.err), p->one.err);
    CHECK_OK(ct_outer_evaluate(p->own.outer, own, NULL, &b, &p->own.err), p->own.err);
    for (int32_t g = 0; g < ct_noise_count(p->own.noise); g++) {
        sum[p->of[g]].factors += each[g].factors;
        for (int i = 0; i < CT_NOISE_DIM_MAX; i++) {
            sum[p->of[g]].chi_squared[i] += each[g].chi_squared[i];
            sum[p->of[g]].leverage[i] += each[g].leverage[i];
        }
    }
    for (int32_t g = 0; g < models; g++) {
        CHECK(one[g].factors == sum[g].factors && sum[g].factors > 0);
        for (int i = 0; i < ct_noise_get(p->one.noise, g)->dim; i++) {
            CHECK_NEAR(one[g].chi_squared[i], sum[g].chi_squared[i], 1e-8 * (1 + sum[g].chi_squared[i]));
            CHECK_NEAR(one[g].leverage[i], sum[g].leverage[i], 1e-8 * (1 + sum[g].leverage[i]));
        }
    }
    free(one);
    free(sum);
    free(each);
}

static void check_gradients(const char *what, ct_kind space, ct_noise_kind kind, ct_robust robust)
{
    pair          p = pair_of("D3", space, kind, robust);
    const int32_t m = ct_theta_count(p.one.theta), n = ct_theta_count(p.own.theta);
    double       *at = numbers(m), *g = numbers(m), *sum = numbers(m), *own = numbers(n), *h = numbers(n), size = 0;
    ct_theta_get(p.one.theta, p.one.noise, at);
    ct_theta_get(p.own.theta, p.own.noise, own);
    ct_outer_value a = {.gradient = g}, b = {.gradient = h};
    CHECK_OK(ct_outer_evaluate(p.one.outer, at, NULL, &a, &p.one.err), p.one.err);
    CHECK_OK(ct_outer_evaluate(p.own.outer, own, NULL, &b, &p.own.err), p.own.err);
    CHECK_NEAR(a.loss, b.loss, 1e-9 * b.loss);
    sum_gradient(&p, at, own, h, sum);
    for (int32_t i = 0; i < m; i++) size = fmax(size, fabs(sum[i]));
    for (int32_t i = 0; i < m; i++) CHECK_NEAR(g[i], sum[i], 1e-7 * size);

    check_fit(&p, at, own);
    ct_gradient_check check;
    CHECK_OK(ct_outer_check(p.one.outer, at, &check, &p.one.err), p.one.err);
    printf("  %-24s adjoint %.1e  sensitivity %.1e  numeric %.1e\n", what,
           check.error[CT_GRADIENT_ADJOINT][CT_HESSIAN_EXACT], check.error[CT_GRADIENT_SENSITIVITY][CT_HESSIAN_EXACT],
           check.error[CT_GRADIENT_NUMERIC][0]);
    CHECK(check.error[CT_GRADIENT_ADJOINT][CT_HESSIAN_EXACT] < 1e-6);
    CHECK(check.error[CT_GRADIENT_SENSITIVITY][CT_HESSIAN_EXACT] < 1e-6);
    CHECK(check.error[CT_GRADIENT_NUMERIC][0] < 0.02);
    free_all((double *[]){at, g, sum, own, h});
    pair_free(&p);
}

static void test_gradients_are_sums_over_models_of_their_own_and_those_of_differences(void)
{
    check_gradients("plane, diagonal", CT_SE2, CT_NOISE_DIAGONAL, (ct_robust){0});
    check_gradients("plane, isotropic", CT_SE2, CT_NOISE_ISOTROPIC, (ct_robust){0});
    check_gradients("plane, full", CT_SE2, CT_NOISE_FULL, (ct_robust){0});
    check_gradients("plane, huber", CT_SE2, CT_NOISE_DIAGONAL, (ct_robust){CT_ROBUST_HUBER, 1.345, 0});
    check_gradients("plane, full, cauchy", CT_SE2, CT_NOISE_FULL, (ct_robust){CT_ROBUST_CAUCHY, 4, 0});
    check_gradients("space, diagonal", CT_SE3, CT_NOISE_DIAGONAL, (ct_robust){0});
}

static void test_the_energy_of_leo_is_that_with_models_of_their_own(void)
{
    pair            p = pair_of("D3", CT_SE2, CT_NOISE_DIAGONAL, (ct_robust){0});
    const int32_t   m = ct_theta_count(p.one.theta), n = ct_theta_count(p.own.theta);
    const ct__draws draws = {.seed = 3, .iteration = 1, .samples = 7};
    double       *at = numbers(m), *g = numbers(m), *sum = numbers(m), *own = numbers(n), *h = numbers(n);
    ct__energy a = {.gradient = g}, b = {.gradient = h};
    ct_theta_get(p.one.theta, p.one.noise, at);
    ct_theta_get(p.own.theta, p.own.noise, own);
    CHECK_OK(ct__outer_energy(p.one.outer, at, NULL, &draws, &a, &p.one.err), p.one.err);
    CHECK_OK(ct__outer_energy(p.own.outer, own, NULL, &draws, &b, &p.own.err), p.own.err);
    CHECK_NEAR(a.energy, b.energy, 1e-8 * fabs(b.energy));
    sum_gradient(&p, at, own, h, sum);
    for (int32_t i = 0; i < m; i++) CHECK_NEAR(g[i], sum[i], 1e-8);
    free_all((double *[]){at, g, sum, own, h});
    pair_free(&p);
}

/* With truth and without. */
static void test_the_likelihood_is_that_with_models_of_their_own(void)
{
    for (int truth = 0; truth < 2; truth++) {
        pair                  p = pair_of("D1", CT_SE2, CT_NOISE_DIAGONAL, (ct_robust){0});
        const int32_t         m = ct_theta_count(p.one.theta), n = ct_theta_count(p.own.theta);
        double               *at = numbers(m), *g = numbers(m), *sum = numbers(m), *own = numbers(n), *h = numbers(n);
        ct_likelihood_options o = ct_likelihood_defaults();
        ct_likelihood        *l[2] = {NULL, NULL};
        ct_likelihood_value   a = {.gradient = g}, b = {.gradient = h};
        o.truth = truth;
        for (int i = 0; i < 2; i++) {
            lesson *k = i ? &p.own : &p.one;
            CHECK_OK(ct_likelihood_new(2, (const ct_sequence *const *)k->seq, k->noise, k->theta, &o, &l[i], &k->err),
                     k->err);
            ct_theta_get(k->theta, k->noise, i ? own : at);
            CHECK_OK(ct_likelihood_evaluate(l[i], i ? own : at, NULL, i ? &b : &a, &k->err), k->err);
            ct_likelihood_free(l[i]);
        }
        double logs = 0; /* of m: constants, which L leaves out */
        for (int i = 0; i < 2; i++)
            for (int32_t f = 0; f < ct_graph_factors(p.one.seq[i]->graph); f++) {
                const ct_factor k = ct_graph_factor(p.one.seq[i]->graph, f);
                if (ct_theta_learns(p.one.theta, k.noise)) logs += 0.5 * k.ops->rows * log(k.multiplier);
            }
        CHECK_NEAR(a.value + logs, b.value, 1e-8 * fabs(b.value));
        sum_gradient(&p, at, own, h, sum);
        for (int32_t i = 0; i < m; i++) CHECK_NEAR(g[i], sum[i], 1e-6);
        free_all((double *[]){at, g, sum, own, h});
        pair_free(&p);
    }
}

/* Mean of r^2 / m by hand; and the samples that the report shows. */
static void test_closed_form_is_the_mean_of_squares_over_multipliers(void)
{
    pair         p = pair_of("D1", CT_SE2, CT_NOISE_DIAGONAL, (ct_robust){0});
    double       sum[6][3] = {{0}}, value[6];
    int64_t      count[6] = {0}, samples[6];
    const double first = ct_noise_find(p.one.noise, "first_pose");
    for (int i = 0; i < 2; i++) {
        const ct_graph *graph = p.one.seq[i]->graph;
        for (int32_t f = 0; f < ct_graph_factors(graph); f++) {
            const ct_factor k = ct_graph_factor(graph, f);
            const double   *x[2];
            double          r[3];
            for (int a = 0; a < k.ops->arity; a++) x[a] = p.one.seq[i]->truth + ct_graph_offset(graph, k.var[a]);
            ct_factor_eval(k.ops, k.z, NULL, x, r, NULL);
            for (int c = 0; c < 3; c++) sum[k.noise][c] += r[c] * r[c] / k.multiplier;
            count[k.noise]++;
        }
    }
    CHECK_OK(ct_outer_closed_form(p.one.outer, NULL, value, samples, &p.one.err), p.one.err);
    int at = 0;
    for (int32_t g = 0; g < ct_noise_count(p.one.noise); g++) {
        if (g == first) continue;
        for (int c = 0; c < 3; c++, at++) {
            CHECK_NEAR(exp(value[at]), sum[g][c] / (double)count[g], 1e-12 * sum[g][c]);
            CHECK(samples[at] == count[g]);
        }
        double squares = 0;
        for (int i = 0; i < 2; i++) {
            const int64_t n = ct_truth_residuals(p.one.seq[i], g, NULL, 0, NULL);
            double       *r = numbers((int32_t)(3 * n));
            CHECK(ct_truth_residuals(p.one.seq[i], g, NULL, n, r) == n);
            for (int64_t k = 0; k < 3 * n; k++) squares += r[k] * r[k];
            free(r);
        }
        CHECK_NEAR(squares, sum[g][0] + sum[g][1] + sum[g][2], 1e-9 * squares);
    }
    pair_free(&p);
}

/* Steps of unequal duration: the density that measurements were drawn with is learned, by closed form and by loss. */
static void test_the_density_of_uneven_steps_is_learned(void)
{
    static const ct_learn_method METHOD[] = {CT_LEARN_CLOSED_FORM, CT_LEARN_LM};
    for (int i = 0; i < 2; i++) {
        lesson         l = {.runs = 6};
        ct_nav_options nav;
        ct_noise      *latent = NULL;
        CHECK(ct_nav_preset("D1", CT_SE2, &nav));
        nav.least = nav.most = 300;
        nav.uneven = 20;
        CHECK_OK(ct_noise_new(&l.noise, &l.err), l.err);
        for (int k = 0; k < l.runs; k++)
            CHECK_OK(ct_simulate_nav(&nav, (uint64_t)k, l.noise, &l.seq[k], &l.err), l.err);
        CHECK_OK(ct_noise_copy(l.noise, &latent, &l.err), l.err);
        start_far(&l);
        learn_all(&l, CT_NOISE_DIAGONAL, 1e-6, 1e6);
        open_outer(&l, NULL);
        ct_learn_options options = ct_learn_defaults();
        options.method = METHOD[i];
        ct_learn_result result = learn(&l, &options);
        ct_learn_result_free(&result);
        for (int32_t g = 0; g < ct_noise_count(latent); g++)
            for (int c = 0; c < 3; c++) { /* 1800 samples: a standard error of 3.3 % */
                const double ratio = ct_noise_covariance(ct_noise_get(l.noise, g), c, c) /
                                     ct_noise_covariance(ct_noise_get(latent, g), c, c);
                CHECK_NEAR(ratio, 1, 0.15);
            }
        ct_noise_free(latent);
        lesson_free(&l);
    }
}

/* A run is another one if a multiplier differs; a multiplier of 1 is none. */
static void test_digests_tell_multipliers_apart(void)
{
    lesson         l = lesson_of("D1", CT_SE2, 1, 20, 3);
    const uint64_t before = ct__sequence_digest(l.seq[0]);
    CHECK_OK(ct_graph_set_multiplier(l.seq[0]->graph, 3, 1, &l.err), l.err);
    CHECK(ct__sequence_digest(l.seq[0]) == before);
    CHECK_OK(ct_graph_set_multiplier(l.seq[0]->graph, 3, 2, &l.err), l.err);
    CHECK(ct__sequence_digest(l.seq[0]) != before);
    lesson_free(&l);
}

/* ---- The graph ------------------------------------------------------------------------------- */

static void test_a_copy_keeps_multipliers(void)
{
    world     w;
    ct_graph *copy = NULL;
    ct_rng    rng = ct_rng_seed(1);
    world_make(&w, 3, EVERYTHING);
    for (int32_t f = 0; f < ct_graph_factors(w.graph); f++) CHECK(ct_graph_factor(w.graph, f).multiplier == 1);
    multiply(w.graph, &rng);
    CHECK_OK(ct_graph_copy(w.graph, &copy, &w.err), w.err);
    for (int32_t f = 0; f < ct_graph_factors(w.graph); f++)
        CHECK(ct_graph_factor(w.graph, f).multiplier == ct_graph_factor(copy, f).multiplier);
    ct_graph_free(copy);
    world_free(&w);
}

static void test_multipliers_that_cannot_be_are_refused(void)
{
    world w;
    world_make(&w, 3, PLANE);
    const double bad[] = {0, -1, NAN, INFINITY, 1e13, 1e-13};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_REFUSED(ct_graph_set_multiplier(w.graph, 1, bad[i], &w.err), w.err,
                      "factor 1 (between_se2): its covariance must be 1e-12 to 1e+12 times its model's, not ");
    CHECK(ct_graph_factor(w.graph, 1).multiplier == 1);
    CHECK_REFUSED(ct_graph_set_multiplier(w.graph, -1, 2, &w.err), w.err, "there is no factor -1: the graph has ");
    CHECK_REFUSED(ct_graph_set_multiplier(w.graph, 1000, 2, &w.err), w.err, "there is no factor 1000");
    CHECK_OK(ct_graph_set_multiplier(w.graph, 1, CT_MULTIPLIER_MIN, &w.err), w.err);
    CHECK_OK(ct_graph_set_multiplier(w.graph, 1, CT_MULTIPLIER_MAX, &w.err), w.err);
    world_free(&w);
}

int main(void)
{
    RUN(test_every_solver_ends_at_the_minimum_with_models_of_their_own);
    RUN(test_uncertainty_is_that_of_models_of_their_own);
    RUN(test_a_solver_follows_a_multiplier_that_changes);
    RUN(test_a_common_multiplier_scales_covariances_alone);
    RUN(test_incremental_estimates_are_those_with_models_of_their_own);
    RUN(test_gradients_are_sums_over_models_of_their_own_and_those_of_differences);
    RUN(test_the_likelihood_is_that_with_models_of_their_own);
    RUN(test_the_energy_of_leo_is_that_with_models_of_their_own);
    RUN(test_closed_form_is_the_mean_of_squares_over_multipliers);
    RUN(test_the_density_of_uneven_steps_is_learned);
    RUN(test_digests_tell_multipliers_apart);
    RUN(test_a_copy_keeps_multipliers);
    RUN(test_multipliers_that_cannot_be_are_refused);
    return ct_test_end();
}
