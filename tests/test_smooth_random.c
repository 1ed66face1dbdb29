/* Thousands of small random graphs that grow, lose factors, are asked and refused at random: a batch solve is the
 * judge of every one. */
#include "smooth_test.h"

#define FACTORS_MAX 256

typedef struct {
    world        w;
    ct_smoother *smoother;
    int32_t      n;                      /* variables added so far                    */
    uint8_t      without[FACTORS_MAX];   /* factors of the graph that were taken out  */
    int32_t      number[FACTORS_MAX];    /* what the smoother calls them              */
    ct_err       err;
} story;

static int compared, restless;

static uint64_t draw(story *t, uint64_t below) { return ct_rng_bits(&t->w.rng) % below; }

static void begin(story *t, uint64_t seed)
{
    static const int kinds[] = {PLANE,
                                SPACE,
                                VECTORS,
                                PLANE | LOOPS,
                                PLANE | LOOPS | LANDMARKS,
                                SPACE | LANDMARKS,
                                PLANE | LOOPS | ROBUST,
                                VECTORS | PLANE | FIXED};
    ct_smoother_options options = ct_smoother_defaults();
    *t = (story){.n = 0};
    world_make(&t->w, seed, kinds[seed % (sizeof kinds / sizeof *kinds)]);
    CHECK(ct_graph_factors(t->w.graph) <= FACTORS_MAX);
    if (draw(t, 3) == 0) options = exact_options();
    else if (draw(t, 2)) {
        for (int k = 0; k < CT_KIND_COUNT; k++) options.relinearise[k] = 0.01;
        options.skip = 1 + (int)draw(t, 4);
        options.wildfire = draw(t, 2) ? 0 : 1e-4;
    }
    t->smoother = new_smoother(t->w.noise, &options);
}

/* A few variables at once, with their factors. */
static void grow(story *t)
{
    ct_new_variable variable[4];
    ct_new_factor   factor[FACTORS_MAX];
    ct_increment    inc = {.variable = variable, .factor = factor};
    const int32_t   all = ct_graph_variables(t->w.graph), end = t->n + 1 + (int32_t)draw(t, 4);
    int32_t         number = ct_smoother_factors(t->smoother);
    for (int32_t v = t->n; v < end && v < all; v++) {
        variable[inc.variables++] = variable_at(t->w.graph, v, ct_graph_initial(t->w.graph));
        for (int32_t f = 0; f < ct_graph_factors(t->w.graph); f++) {
            const ct_factor k = ct_graph_factor(t->w.graph, f);
            if (newest_of(&k) != v) continue;
            t->number[f] = number++;
            factor[inc.factors++] = factor_at(t->w.graph, f);
        }
    }
    CHECK_OK(ct_smoother_update(t->smoother, &inc, NULL, &t->err), t->err);
    t->n += inc.variables;
}

/* The graph as the smoother should have it, at its estimates. */
static ct_graph *present(story *t, double **x)
{
    ct_graph *part;
    double   *from = copy_values(t->w.graph, ct_graph_initial(t->w.graph));
    read_estimates(t->smoother, t->w.graph, t->n, from);
    CHECK_OK(ct_graph_new(&part, &t->err), t->err);
    for (int32_t v = 0; v < t->n; v++) {
        CHECK_OK(ct_graph_add_variable(part, NULL, ct_graph_kind(t->w.graph, v), from + ct_graph_offset(t->w.graph, v),
                                       NULL, &t->err),
                 t->err);
        ct_graph_fix(part, v, ct_graph_fixed(t->w.graph, v));
    }
    for (int32_t f = 0; f < ct_graph_factors(t->w.graph); f++) {
        const ct_factor k = ct_graph_factor(t->w.graph, f);
        if (newest_of(&k) < t->n && !t->without[f])
            CHECK_OK(ct_graph_add_factor(part, k.ops, k.var, k.z, k.context, k.noise, &t->err), t->err);
    }
    free(from);
    *x = copy_values(part, ct_graph_initial(part));
    return part;
}

static int is_determined(story *t)
{
    double    *x;
    ct_graph  *part = present(t, &x);
    ct_solver *solver = NULL;
    ct_err     err = {0};
    CHECK_OK(ct_solver_new(part, NULL, &solver, &t->err), t->err);
    const ct_status status = ct_solver_linearise(solver, t->w.noise, x, &err);
    CHECK(status == CT_OK || status == CT_E_SINGULAR);
    ct_solver_free(solver);
    ct_graph_free(part);
    free(x);
    return status == CT_OK;
}

static void same_estimates(story *t, const double *before)
{
    double *after = copy_values(t->w.graph, before);
    read_estimates(t->smoother, t->w.graph, t->n, after);
    CHECK(!memcmp(before, after, (size_t)ct_graph_size(t->w.graph) * sizeof *after));
    free(after);
}

/* Takes a factor out; where that would leave something loose, it is refused, as batch says. */
static void take_out(story *t)
{
    const int32_t   f = (int32_t)draw(t, (uint64_t)ct_graph_factors(t->w.graph));
    const ct_factor k = ct_graph_factor(t->w.graph, f);
    if (newest_of(&k) >= t->n || t->without[f]) return;
    double *before = copy_values(t->w.graph, ct_graph_initial(t->w.graph));
    read_estimates(t->smoother, t->w.graph, t->n, before);
    t->without[f] = 1;
    const int       fine = is_determined(t);
    const ct_status status =
        ct_smoother_update(t->smoother, &(ct_increment){.removals = 1, .removal = &t->number[f]}, NULL, &t->err);
    CHECK(status == (fine ? CT_OK : CT_E_SINGULAR));
    if (status != CT_OK) {
        t->without[f] = 0;
        same_estimates(t, before);
    }
    free(before);
}

static void put_back(story *t)
{
    for (int32_t f = 0; f < ct_graph_factors(t->w.graph); f++) {
        if (!t->without[f]) continue;
        const ct_new_factor factor = factor_at(t->w.graph, f);
        t->number[f] = ct_smoother_factors(t->smoother);
        CHECK_OK(ct_smoother_update(t->smoother, &(ct_increment){.factors = 1, .factor = &factor}, NULL, &t->err),
                 t->err);
        t->without[f] = 0;
        return;
    }
}

/* A pose that nothing ties: refused, and nothing has changed. */
static void dream(story *t)
{
    const ct_new_variable variable = {.kind = (ct_kind)draw(t, CT_KIND_COUNT)};
    double               *before = copy_values(t->w.graph, ct_graph_initial(t->w.graph));
    read_estimates(t->smoother, t->w.graph, t->n, before);
    CHECK(ct_smoother_update(t->smoother, &(ct_increment){.variables = 1, .variable = &variable, .relinearise = 1},
                             NULL, &t->err) == CT_E_SINGULAR);
    same_estimates(t, before);
    free(before);
}

/* At rest: estimates, error and covariances are those of a batch solve. 0 where it does not come to rest. */
static int compare(story *t, uint64_t seed)
{
    double     *x;
    ct_err      err = {0};
    const double rest = iterate(t->smoother, 1e-13);
    compared++;
    if (!(rest <= 1e-9)) { /* full Gauss-Newton steps do not always come to rest, whoever takes them */
        restless++;
        return 0;
    }
    /* points are where estimates are */
    for (int k = 0; k < 2; k++)
        CHECK_OK(ct_smoother_update(t->smoother, &(ct_increment){.relinearise = 1}, NULL, &err), err);
    ct_graph   *part = present(t, &x);
    ct_solver  *solver = NULL;
    ct_solve_result        result;
    const ct_solve_options options = precise(CT_LEVENBERG_MARQUARDT);
    CHECK_OK(ct_solver_new(part, NULL, &solver, &err), err);
    CHECK_OK(ct_solver_run(solver, t->w.noise, x, &options, &result, &err), err);
    const double off = off_by(t->smoother, part, x);
    if (!(off <= 1e-9)) printf("  seed %d, %d variables: off by %.3g, step left %.3g\n", (int)seed, t->n, off, rest);
    CHECK(off <= 1e-9);
    CHECK_NEAR(ct_smoother_error(t->smoother), ct_graph_error(part, t->w.noise, x), 1e-8 * (1 + result.final_error));
    CHECK_OK(ct_solver_linearise(solver, t->w.noise, x, &err), err);
    for (int32_t v = 0; v < t->n; v++) {
        double    P[36], Q[36] = {0}, *out[1] = {Q};
        const int dim = ct_kind_dim(ct_graph_kind(part, v));
        CHECK_OK(ct_smoother_marginal(t->smoother, v, P, &err), err);
        if (!ct_graph_fixed(part, v)) CHECK_OK(ct_solver_marginals(solver, 1, &v, out, &err), err);
        for (int i = 0; i < dim * dim; i++)
            CHECK_NEAR(P[i], Q[i], 1e-7 * (fabs(Q[i]) + sqrt(Q[i / dim * (dim + 1)] * Q[i % dim * (dim + 1)])));
    }
    ct_solver_free(solver);
    ct_graph_free(part);
    free(x);
    return 1;
}

/* At a minimum variables may go, some at a time: the others stay where they are, and as sure. */
static void let_go(story *t, uint64_t seed)
{
    double *x = copy_values(t->w.graph, ct_graph_initial(t->w.graph)), worst = 0;
    double  P[64][36];
    for (int32_t v = 0; v < t->n; v++) {
        ct_smoother_estimate(t->smoother, v, x + ct_graph_offset(t->w.graph, v));
        CHECK(ct_smoother_kind(t->smoother, v) == ct_graph_kind(t->w.graph, v));
        CHECK_OK(ct_smoother_marginal(t->smoother, v, P[v], &t->err), t->err);
    }
    for (int round = 0; round < 3; round++) {
        int32_t      leaving[3];
        ct_increment inc = {.marginal = leaving};
        for (int k = 0; k < 3; k++) {
            const int32_t v = (int32_t)draw(t, (uint64_t)t->n);
            if (ct_smoother_has(t->smoother, v) && !ct_graph_fixed(t->w.graph, v)) leaving[inc.marginals++] = v;
        }
        CHECK_OK(ct_smoother_update(t->smoother, &inc, NULL, &t->err), t->err);
        for (int k = 0; k < inc.marginals; k++) CHECK(!ct_smoother_has(t->smoother, leaving[k]));
        if (round == 1)
            CHECK_OK(ct_smoother_update(t->smoother, &(ct_increment){.relinearise = 1}, NULL, &t->err), t->err);
        for (int32_t v = 0; v < t->n; v++) {
            double    y[CT_SIZE_MAX], d[CT_DIM_MAX], Q[36];
            const int dim = ct_kind_dim(ct_graph_kind(t->w.graph, v));
            if (!ct_smoother_has(t->smoother, v)) continue;
            ct_smoother_estimate(t->smoother, v, y);
            ct_kind_local(ct_graph_kind(t->w.graph, v), x + ct_graph_offset(t->w.graph, v), y, d);
            CHECK_OK(ct_smoother_marginal(t->smoother, v, Q, &t->err), t->err);
            for (int k = 0; k < dim; k++) worst = fmax(worst, fabs(d[k]) / (1e-9 + 1e-7 * sqrt(P[v][k * (dim + 1)])));
            for (int k = 0; k < dim * dim; k++)
                CHECK_NEAR(Q[k], P[v][k],
                           1e-7 * (fabs(P[v][k]) + sqrt(P[v][k / dim * (dim + 1)] * P[v][k % dim * (dim + 1)])));
        }
    }
    if (!(worst <= 1))
        printf("  seed %d: off by %.3g times what it may after variables were let go\n", (int)seed, worst);
    CHECK(worst <= 1);
    free(x);
}

static void test_whatever_comes_and_goes_batch_agrees(void)
{
    const uint64_t stories = ct_test_slow() ? 150 : 3000;
    for (uint64_t seed = 1; seed <= stories; seed++) {
        story t;
        begin(&t, seed);
        while (t.n < ct_graph_variables(t.w.graph)) {
            switch (draw(&t, 6)) {
            case 0: take_out(&t); break;
            case 1: put_back(&t); break;
            case 2:
                if (draw(&t, 4) == 0) dream(&t);
                break;
            default: grow(&t);
            }
            if (draw(&t, 12) == 0 && t.n && !compare(&t, seed)) break;
        }
        for (int k = 0; k < 4; k++) take_out(&t);
        if (compare(&t, seed)) let_go(&t, seed);
        ct_smoother_free(t.smoother);
        world_free(&t.w);
        if (ct_test_failed_checks > 10) break;
    }
    CHECK(100 * restless < compared);
    printf("  %d comparisons, %d not at rest\n", compared, restless);
}

/* ---- windows over linear graphs: what is let go changes nothing for the others ---- */

typedef struct {
    ct_rng       rng;
    ct_noise    *noise;
    ct_smoother *some, *whole; /* with and without a window; both have the same numbers for everything */
    int32_t      loose;        /* variables that neighbours reach back over */
    ct_err       err;
} flatland;

static uint64_t any(flatland *t, uint64_t below) { return ct_rng_bits(&t->rng) % below; }

static void both(flatland *t, const ct_increment *inc, const ct_increment *leaving)
{
    ct_increment with = *inc;
    with.marginals = leaving->marginals;
    with.marginal = leaving->marginal;
    CHECK_OK(ct_smoother_update(t->whole, inc, NULL, &t->err), t->err);
    CHECK_OK(ct_smoother_update(t->some, &with, NULL, &t->err), t->err);
}

/* A new place, tied to the one before, often to others that are there, sometimes to the world. */
static void walk_on(flatland *t)
{
    const int32_t         n = ct_smoother_variables(t->some);
    const ct_new_variable variable = {.kind = CT_R2};
    ct_new_factor         factor[8];
    int32_t               pair[8][2], away[2];
    double                z[8][2];
    ct_increment          inc = {.variables = 1, .variable = &variable, .factor = factor}, leaving = {.marginal = away};
    for (int k = 0; k < 8; k++) {
        const int32_t back = n - 1 - (int32_t)any(t, (uint64_t)t->loose);
        const int     alone = n == 0 || any(t, 4) == 0;
        pair[k][0] = k == 0 ? n - 1 : back;
        pair[k][1] = n;
        for (int i = 0; i < 2; i++) z[k][i] = 1 + ct_rng_normal(&t->rng);
        if (k > 2 && any(t, 2)) continue;
        if (alone)
            factor[inc.factors++] = (ct_new_factor){.ops = &ct_prior_r2, .var = &pair[k][1], .z = z[k], .noise = 1};
        else if (ct_smoother_has(t->some, pair[k][0]))
            factor[inc.factors++] = (ct_new_factor){.ops = &ct_between_r2, .var = pair[k], .z = z[k], .noise = 0};
    }
    if (any(t, 5) == 0)
        for (int k = 0; k < 2; k++) {
            const int32_t v = n - (int32_t)any(t, 8);
            if (v >= 0 && (v == n || ct_smoother_has(t->some, v))) away[leaving.marginals++] = v;
        }
    if (inc.factors) both(t, &inc, &leaving);
}

static void compare_flat(flatland *t, uint64_t seed)
{
    double worst = 0;
    for (int32_t v = 0; v < ct_smoother_variables(t->some); v++) {
        double x[2], y[2], P[4], Q[4];
        if (!ct_smoother_has(t->some, v)) continue;
        ct_smoother_estimate(t->some, v, x);
        ct_smoother_estimate(t->whole, v, y);
        CHECK_OK(ct_smoother_marginal(t->some, v, P, &t->err), t->err);
        CHECK_OK(ct_smoother_marginal(t->whole, v, Q, &t->err), t->err);
        for (int k = 0; k < 2; k++) worst = fmax(worst, fabs(x[k] - y[k]));
        for (int k = 0; k < 4; k++) worst = fmax(worst, fabs(P[k] - Q[k]) * 100);
    }
    if (!(worst <= 1e-9)) printf("  seed %d: off by %.3g\n", (int)seed, worst);
    CHECK(worst <= 1e-9);
}

static void test_a_window_over_a_linear_graph_is_exact(void)
{
    const uint64_t stories = ct_test_slow() ? 60 : 1000;
    for (uint64_t seed = 1; seed <= stories && ct_test_failed_checks < 10; seed++) {
        flatland            t = {.rng = ct_rng_seed(seed)};
        ct_smoother_options options = exact_options();
        if (seed % 3) options.relinearise[CT_R2] = 1e9; /* points stay */
        t.loose = 1 + (int32_t)any(&t, 6);
        CHECK_OK(ct_noise_new(&t.noise, &t.err), t.err);
        CHECK_OK(ct_noise_add_isotropic(t.noise, "step", 2, 0.01, NULL, &t.err), t.err);
        CHECK_OK(ct_noise_add_isotropic(t.noise, "fix", 2, 1, NULL, &t.err), t.err);
        t.whole = new_smoother(t.noise, &options);
        options.window = 1 + (int32_t)any(&t, 12);
        t.some = new_smoother(t.noise, &options);
        for (int k = 0; k < 50 && ct_test_failed_checks < 10; k++) {
            walk_on(&t);
            if (any(&t, 3) == 0) compare_flat(&t, seed);
        }
        compare_flat(&t, seed);
        ct_smoother_free(t.some);
        ct_smoother_free(t.whole);
        ct_noise_free(t.noise);
    }
}

int main(void)
{
    RUN(test_a_window_over_a_linear_graph_is_exact);
    RUN(test_whatever_comes_and_goes_batch_agrees);
    return ct_test_end();
}
