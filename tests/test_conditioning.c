/* test_conditioning.c: the ends of a whitened system's spectrum, and what they are made of. */
#include <covtune/simulate.h>
#include "base/eigen.h"
#include "graph_test.h"

#include <covtune/evaluate.h>

/* ---- A dense oracle -------------------------------------------------------------------------- */

typedef struct {
    int     n;
    double *H, *V, *lambda, *D; /* D: the scaling, ones or diag H; V: eigenvectors of D^-1/2 H D^-1/2, in columns */
} spectrum;

/* From the measurement models' own derivatives, every eigenvalue by Jacobi's method. */
static spectrum spectrum_of(world *w, ct_solver *solver, const double *x, int scaled)
{
    const int    n = ct_sparse_describe(ct_solver_system(solver)).scalars;
    const size_t square = (size_t)n * (size_t)n;
    spectrum s = {.n = n,
                  .H = calloc(square, sizeof(double)),
                  .V = calloc(square, sizeof(double)),
                  .lambda = calloc((size_t)n, sizeof(double)),
                  .D = calloc((size_t)n, sizeof(double))};
    double      *g = calloc((size_t)n, sizeof *g), *M = calloc(square, sizeof *M);
    dense_system(w, solver, x, n, s.H, g);
    for (int i = 0; i < n; i++) s.D[i] = scaled ? s.H[i * n + i] : 1;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) M[i * n + j] = s.H[i * n + j] / sqrt(s.D[i]) / sqrt(s.D[j]);
    ct__eigen_symmetric(n, M, s.lambda, s.V);
    free(g);
    free(M);
    return s;
}

static void spectrum_free(spectrum *s)
{
    free(s->H);
    free(s->V);
    free(s->lambda);
    free(s->D);
}

/* What every model and row adds to the eigenvalue of column k: e' W e, e = J v / sqrt(D), split by rows of W's
 * Cholesky factor. */
static void shares_of(world *w, ct_solver *solver, const double *x, const spectrum *s, int k, double *share)
{
    memset(share, 0, (size_t)ct_noise_count(w->noise) * 6 * sizeof *share);
    for (int32_t f = 0; f < ct_graph_factors(w->graph); f++) {
        const ct_factor       factor = ct_graph_factor(w->graph, f);
        const ct_noise_model *model = ct_noise_get(w->noise, factor.noise);
        const int             rows = factor.ops->rows;
        double                r[6], space[CT_ARITY_MAX][36], *J[CT_ARITY_MAX], W[36], e[6] = {0}, d2 = 0, weight;
        const double         *arg[CT_ARITY_MAX];
        for (int i = 0; i < factor.ops->arity; i++)
            arg[i] = x + ct_graph_offset(w->graph, factor.var[i]), J[i] = space[i];
        ct_factor_eval(factor.ops, factor.z, factor.context, arg, r, J);
        dense_information(model, W);
        for (int i = 0; i < rows * rows; i++) d2 += r[i / rows] * W[i] * r[i % rows];
        ct_robust_error(model->robust, d2, &weight);
        for (int i = 0; i < factor.ops->arity; i++) {
            const int column = ct_solver_column(solver, factor.var[i]), dim = ct_kind_dim(factor.ops->kind[i]);
            for (int c = 0; column >= 0 && c < rows * dim; c++)
                e[c / dim] += J[i][c] * s->V[(column + c % dim) * s->n + k] / sqrt(s->D[column + c % dim]);
        }
        for (int i = 0; i < rows; i++) { /* W = R'R, R's row i: what is left of W once the rows before are taken out */
            double Re = 0, pivot = sqrt(W[i * rows + i]);
            for (int j = i; j < rows; j++) Re += W[i * rows + j] / pivot * e[j];
            share[factor.noise * 6 + i] += weight * Re * Re / s->lambda[k];
            for (int a = rows - 1; a > i; a--)
                for (int b = rows - 1; b > i; b--)
                    W[a * rows + b] -= W[i * rows + a] * W[i * rows + b] / (pivot * pivot);
        }
    }
}

static void check_end(world *w, ct_solver *solver, const double *x, const spectrum *s, int k, double value,
                      int32_t variable, const ct_contribution cause[CT_CONTRIBUTIONS])
{
    double *share = calloc((size_t)ct_noise_count(w->noise) * 6, sizeof *share), sum = 0, most = -1;
    int32_t place = -1;
    CHECK_NEAR(value / s->lambda[k], 1, 1e-6);
    const int    beside = k ? k - 1 : 1;
    const double apart = fabs(s->lambda[k] - s->lambda[beside]) / fmax(s->lambda[k], s->lambda[beside]);
    for (int i = 0; i < CT_CONTRIBUTIONS; i++) {
        CHECK(cause[i].model >= 0 && cause[i].model < ct_noise_count(w->noise) && cause[i].row >= 0 &&
              cause[i].row < ct_noise_get(w->noise, cause[i].model)->dim);
        CHECK(cause[i].share > 0 && (i == 0 || cause[i].share <= cause[i - 1].share));
        sum += cause[i].share;
    }
    CHECK(sum <= 1 + 1e-12);
    if (apart > 1e-2) { /* else the vector is any of several */
        shares_of(w, solver, x, s, k, share);
        for (int i = 0; i < CT_CONTRIBUTIONS; i++) {
            double largest = 0;
            for (int j = 0; j < 6 * ct_noise_count(w->noise); j++) largest = fmax(largest, share[j]);
            CHECK_NEAR(cause[i].share, largest, 3e-3);
            CHECK_NEAR(share[cause[i].model * 6 + cause[i].row], largest, 3e-3); /* two may be as large */
            share[cause[i].model * 6 + cause[i].row] = 0;
        }
        for (int32_t v = 0; v < ct_graph_variables(w->graph); v++) {
            const int column = ct_solver_column(solver, v);
            double    lies = 0;
            for (int i = 0; column >= 0 && i < ct_kind_dim(ct_graph_kind(w->graph, v)); i++)
                lies += s->V[(column + i) * s->n + k] * s->V[(column + i) * s->n + k];
            if (column >= 0 && lies > most * (1 + 1e-2)) most = lies, place = v;
            else if (lies > most * (1 - 1e-2)) place = -2; /* two alike */
        }
        CHECK(place == -2 || variable == place);
    }
    free(share);
}

static void check_condition(world *w, ct_solver *solver, const double *x, int scaled, const ct_condition *c)
{
    spectrum s = spectrum_of(w, solver, x, scaled);
    check_end(w, solver, x, &s, s.n - 1, c->largest, c->stiff, c->stiffest);
    check_end(w, solver, x, &s, 0, c->smallest, c->weak, c->weakest);
    CHECK_NEAR(c->condition / sqrt(s.lambda[s.n - 1] / s.lambda[0]), 1, 1e-6);
    spectrum_free(&s);
}

static void law_of_the_spectrum(world *w)
{
    ct_solver      *solver = new_solver(w, NULL);
    ct_conditioning c;
    const double   *x = ct_graph_initial(w->graph);
    CHECK_OK(ct_conditioning_at(w->graph, w->noise, solver, x, &c, &w->err), w->err);
    check_condition(w, solver, x, 0, &c.plain);
    check_condition(w, solver, x, 1, &c.scaled);
    ct_solver_free(solver);
}

static void test_ends_and_causes_are_those_of_the_dense_matrix(void)
{
    static const int PARTS[] = {PLANE,
                                SPACE,
                                PLANE | LOOPS,
                                PLANE | LANDMARKS,
                                SPACE | LOOPS | LANDMARKS,
                                VECTORS,
                                PLANE | LANDMARKS | ROBUST,
                                PLANE | LOOPS | FIXED,
                                SPACE | ROBUST | FIXED};
    for_worlds((int)(sizeof PARTS / sizeof *PARTS), PARTS, ct_test_slow() ? 1 : 4, law_of_the_spectrum);
}

/* ---- Spectra known in closed form ------------------------------------------------------------- */

/* A chain of n numbers, steps of variance 1, a prior of variance 1 / g on each; on the ends of variance 1 / (g + 1):
 * H = tridiag(-1, 2 + g, -1), whose eigenvalues are g + 4 sin^2(k pi / (2 (n + 1))). */
static world line(int n, double g)
{
    world   w = {0};
    int32_t step, inner = -1, outer = -1, last = -1;
    CHECK_OK(ct_graph_new(&w.graph, &w.err), w.err);
    CHECK_OK(ct_noise_new(&w.noise, &w.err), w.err);
    CHECK_OK(ct_noise_add_isotropic(w.noise, "step", 1, 1, &step, &w.err), w.err);
    if (g > 0) CHECK_OK(ct_noise_add_isotropic(w.noise, "inner", 1, 1 / g, &inner, &w.err), w.err);
    CHECK_OK(ct_noise_add_isotropic(w.noise, "outer", 1, 1 / (g + 1), &outer, &w.err), w.err);
    for (int i = 0; i < n; i++) {
        int32_t v;
        CHECK_OK(ct_graph_add_variable(w.graph, NULL, CT_R1, NULL, &v, &w.err), w.err);
        if (i) CHECK_OK(ct_graph_add_between(w.graph, last, v, (const double[]){0}, step, &w.err), w.err);
        if (i == 0 || i == n - 1) CHECK_OK(ct_graph_add_prior(w.graph, v, (const double[]){0}, outer, &w.err), w.err);
        else if (g > 0) CHECK_OK(ct_graph_add_prior(w.graph, v, (const double[]){0}, inner, &w.err), w.err);
        last = v;
    }
    return w;
}

/* Eigenvalues cluster at both ends, 1e-7 apart, where vectors cannot be told from each other. */
static void test_crowded_ends_are_found_all_the_same(void)
{
    static const double G[] = {0, 1e-6, 1, 1e4};
    for (size_t k = 0; k < sizeof G / sizeof *G; k++)
        for (int n = 2; n <= 20000; n *= 10) {
            world           w = line(n, G[k]);
            ct_solver      *solver = new_solver(&w, NULL);
            ct_conditioning c;
            const double    edge = sin(acos(-1.0) / (2 * (n + 1.0)));
            CHECK_OK(ct_conditioning_at(w.graph, w.noise, solver, ct_graph_initial(w.graph), &c, &w.err), w.err);
            CHECK_NEAR(c.plain.largest / (G[k] + 4 * (1 - edge * edge)), 1, 1e-6);
            CHECK_NEAR(c.plain.smallest / (G[k] + 4 * edge * edge), 1, 1e-6);
            /* all of H's diagonal is 2 + g */
            CHECK_NEAR(c.scaled.largest / ((G[k] + 4 * (1 - edge * edge)) / (2 + G[k])), 1, 1e-6);
            CHECK_NEAR(c.scaled.smallest / ((G[k] + 4 * edge * edge) / (2 + G[k])), 1, 1e-6);
            ct_solver_free(solver);
            world_free(&w);
        }
}

/* Is H + shift D positive definite? */
static int positive_definite(ct_sparse *system, double shift, const double *D)
{
    const int32_t weak = ct_sparse_factor(system, shift, D);
    int           held = 0;
    for (int32_t i = 0, one; i < weak; i++) {
        ct_sparse_weak(system, i, NULL, &one);
        held |= one;
    }
    return !held;
}

/* Rayleigh quotients of H D^-1 H D^-1 ... v: they climb to the largest eigenvalue from below. */
static double climb(const ct_sparse *system, int n, const double *D, int steps)
{
    double *v = malloc((size_t)n * sizeof *v), *w = malloc((size_t)n * sizeof *w), quotient = 0;
    ct_rng  rng = ct_rng_seed(8);
    for (int i = 0; i < n; i++) v[i] = ct_rng_normal(&rng);
    for (int k = 0; k < steps; k++) {
        double vw = 0, vv = 0, length = 0;
        ct_sparse_multiply(system, v, w);
        for (int i = 0; i < n; i++) {
            vw += v[i] * w[i];
            vv += D[i] * v[i] * v[i];
            v[i] = w[i] / D[i];
            length += v[i] * v[i];
        }
        quotient = vw / vv;
        for (int i = 0; i < n; i++) v[i] /= sqrt(length);
    }
    free(v);
    free(w);
    return quotient;
}

static void look_at_large(const char *what, world *w, const double *x)
{
    ct_solver      *solver = new_solver(w, NULL);
    ct_sparse      *system = ct_solver_system(solver);
    const int       n = ct_sparse_describe(system).scalars;
    double         *D = malloc((size_t)n * sizeof *D);
    ct_conditioning c;
    const double    start = ct_now_s();
    CHECK_OK(ct_conditioning_at(w->graph, w->noise, solver, x, &c, &w->err), w->err);
    printf("  %s: %.1f ms, condition %.4g, with column scaling %.4g\n", what, 1e3 * (ct_now_s() - start),
           c.plain.condition, c.scaled.condition);
    for (int scaled = 0; scaled < 2; scaled++) {
        const ct_condition *q = scaled ? &c.scaled : &c.plain;
        ct_sparse_diagonal(system, D);
        for (int i = 0; i < n && !scaled; i++) D[i] = 1;
        CHECK(positive_definite(system, -q->smallest * (1 - 2e-6), D) &&
              !positive_definite(system, -q->smallest * (1 + 2e-6), D));
        const double below = climb(system, n, D, 300);
        CHECK(below <= q->largest * (1 + 1e-6) && below > 0.99 * q->largest);
    }
    free(D);
    ct_solver_free(solver);
}

static void test_large_graphs_have_their_ends_where_shifted_ones_stop_being_definite(void)
{
    for (int k = 0; k < 4; k++) {
        static const char *const WHAT[] = {"500 poses in the plane", "500 poses in space", "3500 poses with loops",
                                           "1000 poses on a sphere"};
        world          w = {0};
        ct_sequence   *seq = NULL;
        ct_nav_options nav;
        ct_pose_graph_options loops = ct_pose_graph_defaults(k % 2 ? CT_SE3 : CT_SE2);
        CHECK(ct_nav_preset("D1", k % 2 ? CT_SE3 : CT_SE2, &nav));
        nav.least = nav.most = 500;
        loops.poses = k < 3 ? 3500 : 1000;
        CHECK_OK(ct_noise_new(&w.noise, &w.err), w.err);
        if (k < 2) CHECK_OK(ct_simulate_nav(&nav, 0, w.noise, &seq, &w.err), w.err);
        else CHECK_OK(ct_simulate_pose_graph(&loops, w.noise, &seq, &w.err), w.err);
        w.graph = seq->graph;
        look_at_large(WHAT[k], &w, seq->truth);
        ct_sequence_free(seq);
        ct_noise_free(w.noise);
    }
}

/* ---- Invariance ------------------------------------------------------------------------------ */

static ct_conditioning conditioning_of(world *w, const double *x)
{
    ct_solver      *solver = new_solver(w, NULL);
    ct_conditioning c = {0};
    CHECK_OK(ct_conditioning_at(w->graph, w->noise, solver, x, &c, &w->err), w->err);
    ct_solver_free(solver);
    return c;
}

static void law_of_a_common_factor(world *w)
{
    const double         *x = ct_graph_initial(w->graph);
    const ct_conditioning before = conditioning_of(w, x);
    for (int32_t g = 0; g < ct_noise_count(w->noise); g++) {
        const ct_noise_model *m = ct_noise_get(w->noise, g);
        double                S[36];
        const int numbers = m->kind == CT_NOISE_FULL ? m->dim * m->dim : m->kind == CT_NOISE_DIAGONAL ? m->dim : 1;
        for (int i = 0; i < numbers; i++) S[i] = 1024 * m->covariance[i];
        if (m->kind == CT_NOISE_FULL) CHECK_OK(ct_noise_set_covariance(w->noise, g, S, &w->err), w->err);
        else CHECK_OK(ct_noise_set_variance(w->noise, g, S, &w->err), w->err);
    }
    const ct_conditioning after = conditioning_of(w, x);
    CHECK_NEAR(after.plain.condition / before.plain.condition, 1, 1e-9);
    CHECK_NEAR(after.scaled.condition / before.scaled.condition, 1, 1e-9);
    CHECK_NEAR(1024 * after.plain.largest / before.plain.largest, 1, 1e-9);
    CHECK_NEAR(after.scaled.smallest / before.scaled.smallest, 1, 1e-9);
    CHECK(after.plain.stiff == before.plain.stiff && after.scaled.weak == before.scaled.weak);
}

static void test_a_common_factor_on_variances_changes_no_condition_number(void)
{
    for_worlds(2, (const int[]){PLANE | LOOPS | LANDMARKS, SPACE | LOOPS}, 3, law_of_a_common_factor);
}

/* Points in the plane whose x is in metres, or in units of `unit` metres, variances and all. */
static ct_conditioning in_units(double unit)
{
    world        w = {0};
    const double s[2] = {unit, 1}, S[2][4] = {{4, 1, 1, 2}, {0.3, -0.1, -0.1, 0.2}};
    int32_t      model[2], point[6];
    CHECK_OK(ct_graph_new(&w.graph, &w.err), w.err);
    CHECK_OK(ct_noise_new(&w.noise, &w.err), w.err);
    for (int k = 0; k < 2; k++) {
        double in[4];
        for (int i = 0; i < 4; i++) in[i] = S[k][i] / s[i / 2] / s[i % 2];
        CHECK_OK(ct_noise_add_full(w.noise, k ? "step" : "fix", 2, in, &model[k], &w.err), w.err);
    }
    for (int i = 0; i < 6; i++) {
        const double at[2] = {i / unit, i % 3}, step[2] = {1 / unit, 0.5};
        CHECK_OK(ct_graph_add_variable(w.graph, NULL, CT_R2, at, &point[i], &w.err), w.err);
        if (i) CHECK_OK(ct_graph_add_between(w.graph, point[i - 1], point[i], step, model[1], &w.err), w.err);
        if (i % 4 == 0) CHECK_OK(ct_graph_add_prior(w.graph, point[i], at, model[0], &w.err), w.err);
    }
    const ct_conditioning c = conditioning_of(&w, ct_graph_initial(w.graph));
    world_free(&w);
    return c;
}

static void test_units_change_the_plain_condition_number_and_not_the_scaled_one(void)
{
    const ct_conditioning metres = in_units(1), millimetres = in_units(1e-3), kilometres = in_units(1e3);
    CHECK(metres.scaled.condition > 2);
    CHECK_NEAR(millimetres.scaled.condition / metres.scaled.condition, 1, 1e-9);
    CHECK_NEAR(kilometres.scaled.condition / metres.scaled.condition, 1, 1e-9);
    CHECK(millimetres.plain.condition > 100 * metres.plain.condition &&
          kilometres.plain.condition > 100 * metres.plain.condition);
}

/* ---- Who is to blame ------------------------------------------------------------------------- */

static void test_the_tight_prior_on_the_first_pose_is_named(void)
{
    ct_nav_options o;
    ct_noise      *noise = NULL;
    ct_sequence   *seq = NULL;
    ct_err         err = {0};
    CHECK(ct_nav_preset("D2", CT_SE2, &o));
    o.least = o.most = 60;
    CHECK_OK(ct_noise_new(&noise, &err), err);
    CHECK_OK(ct_simulate_nav(&o, 0, noise, &seq, &err), err);
    world                 w = {.graph = seq->graph, .noise = noise};
    const ct_conditioning c = conditioning_of(&w, seq->truth);
    CHECK(c.plain.stiff == 0 && !strcmp(ct_noise_get(noise, c.plain.stiffest[0].model)->name, "first_pose"));
    /* 1 / sigma^2, sigma 1e-3, and a little of odometry */
    CHECK(c.plain.stiffest[0].share > 0.3 && c.plain.largest > 1e6);
    /* sigma 2 m, of all the largest */
    CHECK(!strcmp(ct_noise_get(noise, c.plain.weakest[0].model)->name, "gps") && c.plain.weakest[0].row == 0);
    ct_sequence_free(seq);
    ct_noise_free(noise);
}

/* One row of one model is 1e6 times as sure as the others. */
static void test_the_row_that_is_too_sure_is_named(void)
{
    for (int row = 0; row < 3; row++) {
        world   w;
        int32_t model, pose = 7;
        double  variance[3] = {1e-2, 1e-2, 1e-2};
        variance[row] = 1e-8;
        world_make(&w, 5, PLANE | LOOPS | LANDMARKS);
        CHECK_OK(ct_noise_add_diagonal(w.noise, "sure", 3, variance, &model, &w.err), w.err);
        CHECK_OK(ct_graph_add_prior(w.graph, w.pose[0][pose], w.truth + ct_graph_offset(w.graph, w.pose[0][pose]),
                                    model, &w.err),
                 w.err);
        const ct_conditioning c = conditioning_of(&w, w.truth);
        CHECK(c.plain.stiff == w.pose[0][pose] && c.plain.stiffest[0].model == model && c.plain.stiffest[0].row == row);
        CHECK(c.plain.stiffest[0].share > 0.99);
        CHECK_NEAR(c.plain.largest / 1e8, 1, 1e-3);
        world_free(&w);
    }
}

/* ---- Edges ----------------------------------------------------------------------------------- */

static void test_a_singular_graph_has_no_smallest_eigenvalue_and_a_loose_variable(void)
{
    world w;
    world_make(&w, 9, PLANE | LOOPS);
    int32_t lost, alone, far, model;
    CHECK_OK(ct_graph_add_variable(w.graph, "lost", CT_SE2, NULL, &lost, &w.err), w.err);
    const ct_conditioning c = conditioning_of(&w, ct_graph_initial(w.graph));
    CHECK(c.plain.smallest == 0 && c.plain.condition == INFINITY && c.plain.weak == lost &&
          c.plain.weakest[0].model == -1);
    CHECK(c.scaled.smallest == 0 && c.scaled.condition == INFINITY && c.scaled.weak == lost &&
          c.scaled.weakest[0].model == -1);
    ct_graph_fix(w.graph, lost, 1);
    const ct_conditioning without = conditioning_of(&w, ct_graph_initial(w.graph));
    CHECK_NEAR(c.plain.largest / without.plain.largest, 1, 1e-6);
    CHECK_NEAR(c.scaled.largest / without.scaled.largest, 1, 1e-6);
    CHECK(c.plain.stiff == without.plain.stiff && isfinite(without.plain.condition));
    world_free(&w);

    world_make(&w, 9, VECTORS); /* two points that know of each other alone */
    CHECK_OK(ct_graph_add_variable(w.graph, "alone", CT_R2, NULL, &alone, &w.err), w.err);
    CHECK_OK(ct_graph_add_variable(w.graph, "far", CT_R2, NULL, &far, &w.err), w.err);
    CHECK_OK(ct_noise_add_isotropic(w.noise, "apart", 2, 0.1, &model, &w.err), w.err);
    CHECK_OK(ct_graph_add_between(w.graph, alone, far, (const double[]){1, 2}, model, &w.err), w.err);
    const ct_conditioning loose = conditioning_of(&w, ct_graph_initial(w.graph));
    CHECK(loose.plain.smallest == 0 && (loose.plain.weak == alone || loose.plain.weak == far));
    world_free(&w);
}

static void test_a_graph_without_unknowns_has_no_conditioning(void)
{
    world w;
    world_make(&w, 9, PLANE);
    for (int32_t v = 0; v < ct_graph_variables(w.graph); v++) ct_graph_fix(w.graph, v, 1);
    const ct_conditioning c = conditioning_of(&w, ct_graph_initial(w.graph));
    CHECK(isnan(c.plain.condition) && isnan(c.scaled.condition) && c.plain.stiff == -1 && c.plain.weak == -1 &&
          c.scaled.stiffest[0].model == -1);
    world_free(&w);
}

static void test_values_that_are_no_numbers_are_refused(void)
{
    world w;
    world_make(&w, 9, PLANE);
    ct_solver      *solver = new_solver(&w, NULL);
    double         *x = copy_values(w.graph, ct_graph_initial(w.graph));
    ct_conditioning c;
    x[4] = NAN;
    CHECK_REFUSED(ct_conditioning_at(w.graph, w.noise, solver, x, &c, &w.err), w.err, "not finite");
    CHECK(isnan(c.plain.condition));
    free(x);
    ct_solver_free(solver);
    world_free(&w);
}

/* Covariances can be asked for right afterwards, and are what they would have been. */
static void test_the_solver_is_left_linearised(void)
{
    world w;
    world_make(&w, 11, PLANE | SPACE | LOOPS | LANDMARKS);
    ct_solver      *solver = new_solver(&w, NULL);
    const double   *x = ct_graph_initial(w.graph);
    double          P[2][9], *out[1] = {P[0]};
    ct_conditioning c;
    CHECK_OK(ct_solver_linearise(solver, w.noise, x, &w.err), w.err);
    CHECK_OK(ct_solver_marginals(solver, 1, &w.pose[0][6], out, &w.err), w.err);
    CHECK_OK(ct_conditioning_at(w.graph, w.noise, solver, x, &c, &w.err), w.err);
    out[0] = P[1];
    CHECK_OK(ct_solver_marginals(solver, 1, &w.pose[0][6], out, &w.err), w.err);
    CHECK(!memcmp(P[0], P[1], sizeof P[0]));
    ct_solver_free(solver);
    world_free(&w);
}

int main(void)
{
    RUN(test_ends_and_causes_are_those_of_the_dense_matrix);
    RUN(test_crowded_ends_are_found_all_the_same);
    RUN(test_large_graphs_have_their_ends_where_shifted_ones_stop_being_definite);
    RUN(test_a_common_factor_on_variances_changes_no_condition_number);
    RUN(test_units_change_the_plain_condition_number_and_not_the_scaled_one);
    RUN(test_the_tight_prior_on_the_first_pose_is_named);
    RUN(test_the_row_that_is_too_sure_is_named);
    RUN(test_a_singular_graph_has_no_smallest_eigenvalue_and_a_loose_variable);
    RUN(test_a_graph_without_unknowns_has_no_conditioning);
    RUN(test_values_that_are_no_numbers_are_refused);
    RUN(test_the_solver_is_left_linearised);
    return ct_test_end();
}
