/* Incremental smoothing: at rest it stands where a batch solve does, whatever came and went on the way. */
#include "smooth/smooth.h"
#include "smooth_test.h"

static void follow(uint64_t seed, int parts, const char *what)
{
    world                     w;
    ct_err                    err = {0};
    const ct_smoother_options options = exact_options();
    world_make(&w, seed, parts);
    ct_smoother  *smoother = new_smoother(w.noise, &options);
    const double *start = ct_graph_initial(w.graph);
    for (int32_t v = 0; v < ct_graph_variables(w.graph); v++) {
        ct_graph *part;
        CHECK_OK(add_step(smoother, w.graph, v, start, NULL, &err), err);
        iterate(smoother, 1e-13);
        /* with robust kernels there may be other minima: that one is to stay where it is */
        double *from = copy_values(w.graph, start);
        if (parts & ROBUST) read_estimates(smoother, w.graph, v + 1, from);
        double      *x = batch_estimate(w.graph, w.noise, v + 1, NULL, from, &part);
        const double off = off_by(smoother, part, x);
        if (!(off <= 1e-9)) printf("  %s, seed %d, after %d variables: off by %.3g\n", what, (int)seed, v + 1, off);
        CHECK(off <= 1e-9);
        CHECK_NEAR(ct_smoother_error(smoother), ct_graph_error(part, w.noise, x),
                   1e-7 * (1 + ct_graph_error(part, w.noise, x)));
        ct_graph_free(part);
        free(from);
        free(x);
    }
    ct_smoother_free(smoother);
    world_free(&w);
}

static void test_after_every_step_it_stands_where_a_batch_solve_does(void)
{
    static const struct {
        int         parts;
        const char *what;
    } cases[] = {{PLANE, "plane"},
                 {SPACE, "space"},
                 {VECTORS, "vectors"},
                 {PLANE | LOOPS, "plane with loops"},
                 {SPACE | LOOPS, "space with loops"},
                 {PLANE | LANDMARKS, "landmarks"},
                 {SPACE | LANDMARKS | LOOPS, "landmarks in space"},
                 {PLANE | LOOPS | ROBUST, "robust"},
                 {EVERYTHING & ~FIXED, "everything"},
                 {EVERYTHING, "everything, some fixed"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (uint64_t seed = 1; seed <= 3; seed++) follow(seed, cases[k].parts, cases[k].what);
}

/* ---- small chains of planar poses ---- */

typedef struct {
    ct_noise    *noise;
    ct_smoother *smoother;
    int32_t      odom, fix, tight;
    ct_se2       at;
    ct_rng       rng;
    ct_err       err;
} chain;

static void chain_make(chain *c, const ct_smoother_options *options)
{
    *c = (chain){.at = ct_se2_identity(), .rng = ct_rng_seed(7)};
    CHECK_OK(ct_noise_new(&c->noise, &c->err), c->err);
    CHECK_OK(ct_noise_add_diagonal(c->noise, "odom", 3, (double[]){0.01, 0.01, 0.001}, &c->odom, &c->err), c->err);
    CHECK_OK(ct_noise_add_isotropic(c->noise, "fix", 2, 1, &c->fix, &c->err), c->err);
    CHECK_OK(ct_noise_add_isotropic(c->noise, "tight", 3, 1e-6, &c->tight, &c->err), c->err);
    c->smoother = new_smoother(c->noise, options);
}

static void chain_free(chain *c)
{
    ct_smoother_free(c->smoother);
    ct_noise_free(c->noise);
}

/* The next pose, with odometry and a position fix; the first is held. */
static ct_status chain_step(chain *c, ct_smoother_stats *stats)
{
    const int32_t i = ct_smoother_variables(c->smoother), pair[2] = {i - 1, i};
    ct_new_factor factor[2];
    ct_increment  inc = {.variables = 1, .factor = factor};
    ct_se2        z = c->at, start = c->at, before;
    if (i) {
        const ct_se2 motion = ct_se2_make(1, 0, 0.02 * ct_rng_normal(&c->rng));
        const double e[3] = {0.1 * ct_rng_normal(&c->rng), 0.1 * ct_rng_normal(&c->rng), 0.03 * ct_rng_normal(&c->rng)};
        c->at = ct_se2_normalize(ct_se2_compose(c->at, motion, NULL, NULL));
        z = ct_se2_normalize(ct_se2_compose(motion, ct_se2_exp(e), NULL, NULL));
        double x[4];
        ct_smoother_estimate(c->smoother, i - 1, x);
        before = (ct_se2){x[0], x[1], x[2], x[3]};
        start = ct_se2_normalize(ct_se2_compose(before, z, NULL, NULL));
    }
    const double          measured[4] = {z.x, z.y, z.c, z.s}, value[4] = {start.x, start.y, start.c, start.s};
    const double          fix[4] = {c->at.x + ct_rng_normal(&c->rng), c->at.y + ct_rng_normal(&c->rng), 0, 0};
    const ct_new_variable variable = {.kind = CT_SE2, .value = value};
    if (i)
        factor[inc.factors++] = (ct_new_factor){.ops = &ct_between_se2, .var = pair, .z = measured, .noise = c->odom};
    else
        factor[inc.factors++] =
            (ct_new_factor){.ops = &ct_prior_se2, .var = pair + 1, .z = measured, .noise = c->tight};
    factor[inc.factors++] = (ct_new_factor){.ops = &ct_position_se2, .var = pair + 1, .z = fix, .noise = c->fix};
    inc.variable = &variable;
    return ct_smoother_update(c->smoother, &inc, stats, &c->err);
}

static void test_work_per_step_does_not_grow_with_the_length_of_a_chain(void)
{
    const int32_t     steps = ct_test_slow() ? 3000 : 100000;
    chain             c;
    ct_smoother_stats stats;
    int64_t           early = 0, late = 0;
    int32_t           most = 0;
    chain_make(&c, NULL);
    for (int32_t i = 0; i < steps; i++) {
        CHECK_OK(chain_step(&c, &stats), c.err);
        if (i >= 100 && i < 1100) early += stats.eliminated;
        if (i >= steps - 1000) late += stats.eliminated;
        most = stats.eliminated > most ? stats.eliminated : most;
    }
    CHECK(late < 1.2 * (double)early && late < 8 * 1000);
    CHECK(most < 150);
    CHECK(stats.variables == steps && stats.factors == 2 * steps);
    chain_free(&c);
}

static void test_a_window_costs_the_same_for_ever(void)
{
    const int32_t       steps = ct_test_slow() ? 4000 : 100000;
    ct_smoother_options options = ct_smoother_defaults();
    ct_smoother_stats   stats;
    chain               c;
    int64_t             eliminated = 0, numbers = 0, lists = 0, nodes = 0, slots = 0;
    options.window = 100;
    chain_make(&c, &options);
    for (int32_t i = 0; i < steps; i++) {
        CHECK_OK(chain_step(&c, &stats), c.err);
        eliminated += stats.eliminated;
        if (i != steps / 4) continue;
        numbers = c.smoother->numbers.capacity;
        lists = c.smoother->lists.capacity;
        nodes = c.smoother->nodes.capacity;
        slots = c.smoother->var_capacity + c.smoother->factor_capacity + c.smoother->clique_capacity +
                c.smoother->var_map.capacity + c.smoother->factor_map.capacity;
    }
    CHECK(c.smoother->numbers.capacity == numbers && c.smoother->lists.capacity == lists &&
          c.smoother->nodes.capacity == nodes);
    CHECK(c.smoother->var_capacity + c.smoother->factor_capacity + c.smoother->clique_capacity +
              c.smoother->var_map.capacity + c.smoother->factor_map.capacity ==
          slots);
    CHECK(numbers < 100000 && slots < 2000);
    CHECK(eliminated < 8 * (int64_t)steps); /* whatever the window's width */
    CHECK(stats.variables == 100 && ct_smoother_variables(c.smoother) == steps);
    chain_free(&c);
}

static void test_a_window_keeps_so_many_and_what_the_others_knew(void)
{
    /* positions on a line: linear, so the estimate is that of the whole history */
    ct_smoother_options options = exact_options(), all = options;
    ct_noise           *noise = NULL;
    ct_err              err = {0};
    ct_rng              rng = ct_rng_seed(3);
    int32_t             odom = -1, fix = -1;
    options.window = 5;
    CHECK_OK(ct_noise_new(&noise, &err), err);
    CHECK_OK(ct_noise_add_isotropic(noise, "odom", 2, 0.01, &odom, &err), err);
    CHECK_OK(ct_noise_add_isotropic(noise, "fix", 2, 1, &fix, &err), err);
    ct_smoother *some = new_smoother(noise, &options), *whole = new_smoother(noise, &all);
    for (int32_t i = 0; i < 60; i++) {
        const double motion[2] = {1 + 0.1 * ct_rng_normal(&rng), 0.1 * ct_rng_normal(&rng)},
                     place[2] = {i + ct_rng_normal(&rng), ct_rng_normal(&rng)};
        const int32_t         pair[2] = {i - 1, i}, far[2] = {i - 4, i};
        const double          jump[2] = {4 + 0.1 * ct_rng_normal(&rng), 0.1};
        const ct_new_variable variable = {.kind = CT_R2};
        ct_new_factor         factor[3] = {{.ops = &ct_prior_r2, .var = pair + 1, .z = place, .noise = fix}};
        ct_increment          inc = {.variables = 1, .variable = &variable, .factors = 1, .factor = factor};
        ct_smoother_stats     stats;
        if (i) factor[inc.factors++] = (ct_new_factor){.ops = &ct_between_r2, .var = pair, .z = motion, .noise = odom};
        if (i % 3 == 0 && i >= 4)
            factor[inc.factors++] = (ct_new_factor){.ops = &ct_between_r2, .var = far, .z = jump, .noise = odom};
        CHECK_OK(ct_smoother_update(some, &inc, &stats, &err), err);
        CHECK(stats.variables == (i < 5 ? i + 1 : 5) && stats.marginalised == (i >= 5));
        CHECK_OK(ct_smoother_update(whole, &inc, NULL, &err), err);
        for (int32_t v = 0; v <= i; v++) {
            double x[2], y[2], P[4], Q[4];
            CHECK(ct_smoother_has(some, v) == (v > i - 5));
            if (!ct_smoother_has(some, v)) continue;
            ct_smoother_estimate(some, v, x);
            ct_smoother_estimate(whole, v, y);
            for (int k = 0; k < 2; k++) CHECK_NEAR(x[k], y[k], 1e-10);
            CHECK_OK(ct_smoother_marginal(some, v, P, &err), err);
            CHECK_OK(ct_smoother_marginal(whole, v, Q, &err), err);
            for (int k = 0; k < 4; k++) CHECK_NEAR(P[k], Q[k], 1e-12);
        }
    }
    CHECK_REFUSED(ct_smoother_update(some,
                                     &(ct_increment){.factors = 1,
                                                     .factor = &(ct_new_factor){.ops = &ct_prior_r2,
                                                                                .var = (int32_t[]){3},
                                                                                .z = (double[]){0, 0},
                                                                                .noise = fix}},
                                     NULL, &err),
                  err, "variable 3 was marginalised out");
    ct_smoother_free(some);
    ct_smoother_free(whole);
    ct_noise_free(noise);
}

static void test_a_window_of_poses_is_near_the_whole(void)
{
    ct_smoother_options options = ct_smoother_defaults();
    chain               some, whole;
    options.window = 20;
    chain_make(&some, &options);
    chain_make(&whole, NULL);
    for (int32_t i = 0; i < 500; i++) {
        double x[4], y[4], d[3];
        CHECK_OK(chain_step(&some, NULL), some.err);
        CHECK_OK(chain_step(&whole, NULL), whole.err);
        ct_smoother_estimate(some.smoother, i, x);
        ct_smoother_estimate(whole.smoother, i, y);
        ct_kind_local(CT_SE2, x, y, d);
        for (int k = 0; k < 3; k++) CHECK_NEAR(d[k], 0, k < 2 ? 0.05 : 0.01); /* a fix is good to 1 */
    }
    double all[20 * 4], one[4]; /* those that are there, in their order */
    CHECK(ct_smoother_estimates(some.smoother, NULL) == 80 && ct_smoother_estimates(some.smoother, all) == 80 &&
          ct_smoother_estimates(whole.smoother, NULL) == 2000);
    for (int32_t i = 480; i < 500; i++) {
        ct_smoother_estimate(some.smoother, i, one);
        CHECK(!memcmp(one, all + 4 * (i - 480), sizeof one));
    }
    CHECK(iterate(some.smoother, 1e-9) <= 1e-9); /* what was left behind moves with the points it rests on */
    chain_free(&some);
    chain_free(&whole);
}

static void test_changed_noise_is_taken_over_by_renewing(void)
{
    const ct_smoother_options options = exact_options();
    chain                     a, b;
    chain_make(&a, &options);
    chain_make(&b, &options);
    CHECK_OK(ct_noise_set_variance(b.noise, b.fix, (double[]){4}, &b.err), b.err);
    for (int i = 0; i < 40; i++) {
        CHECK_OK(chain_step(&a, NULL), a.err);
        CHECK_OK(chain_step(&b, NULL), b.err);
    }
    CHECK_OK(ct_noise_set_variance(a.noise, a.fix, (double[]){4}, &a.err), a.err);
    CHECK_OK(ct_smoother_renew(a.smoother, &a.err), a.err);
    iterate(a.smoother, 1e-13);
    iterate(b.smoother, 1e-13);
    for (int32_t v = 0; v < 40; v++) {
        double x[4], y[4], P[9], Q[9];
        ct_smoother_estimate(a.smoother, v, x);
        ct_smoother_estimate(b.smoother, v, y);
        for (int k = 0; k < 4; k++) CHECK_NEAR(x[k], y[k], 1e-10);
        CHECK_OK(ct_smoother_marginal(a.smoother, v, P, &a.err), a.err);
        CHECK_OK(ct_smoother_marginal(b.smoother, v, Q, &b.err), b.err);
        for (int k = 0; k < 9; k++) CHECK_NEAR(P[k], Q[k], 1e-10);
    }
    chain_free(&a);
    chain_free(&b);
}

/* ---- refusals ---- */

static void expect_refused(chain *c, const ct_increment *inc, ct_status status, const char *part)
{
    const int32_t n = ct_smoother_variables(c->smoother), m = ct_smoother_factors(c->smoother);
    double        before[64][4], x[4];
    for (int32_t v = 0; v < n; v++) ct_smoother_estimate(c->smoother, v, before[v]);
    CHECK_REFUSED(ct_smoother_update(c->smoother, inc, NULL, &c->err), c->err, part);
    CHECK(c->err.status == status);
    CHECK(ct_smoother_variables(c->smoother) == n && ct_smoother_factors(c->smoother) == m);
    for (int32_t v = 0; v < n; v++) {
        ct_smoother_estimate(c->smoother, v, x);
        CHECK(!memcmp(x, before[v], sizeof x));
    }
}

static void test_what_cannot_be_is_refused_and_nothing_has_happened(void)
{
    const double               one[4] = {0, 0, 1, 0}, nan[4] = {NAN, 0, 1, 0}, half[4] = {0, 0, 0.5, 0};
    const int32_t              pair[2] = {3, 50}, inner[2] = {3, 10}, self[2] = {3, 3}, removal[2] = {4, 4};
    const ct_new_variable pose = {.kind = CT_SE2, .value = one}, bad = {.kind = CT_SE2, .value = nan, .name = "bad"},
                          bent = {.kind = CT_SE2, .value = half}, point = {.kind = CT_R2, .name = "tree"};
    const ct_new_factor lost = {.ops = &ct_between_se2, .var = pair, .z = one},
                        sick = {.ops = &ct_between_se2, .var = inner, .z = nan};
    const ct_new_factor twice = {.ops = &ct_between_se2, .var = self, .z = one},
                        wide = {.ops = &ct_between_se2, .var = inner, .z = one, .noise = 1};
    const ct_new_factor        none = {.ops = &ct_between_se2, .var = inner, .z = one, .noise = 9};
    const ct_new_factor seen = {
        .ops = &ct_bearing_se2_r2, .var = (int32_t[]){5, 10}, .z = (double[]){1, 0, 0, 0, 1, 0}, .noise = 3};
    chain                      c;
    chain_make(&c, NULL);
    CHECK_OK(ct_noise_add_isotropic(c.noise, "bearing", 1, 0.01, NULL, &c.err), c.err);
    for (int i = 0; i < 10; i++) CHECK_OK(chain_step(&c, NULL), c.err);
    expect_refused(&c, &(ct_increment){.factors = 1, .factor = &lost}, CT_E_ARGUMENT,
                   "factor 20 (between_se2): variable 50 does not exist");
    expect_refused(&c, &(ct_increment){.variables = 1, .variable = &pose, .factors = 1, .factor = &sick}, CT_E_ARGUMENT,
                   "measurement is not finite");
    expect_refused(&c, &(ct_increment){.variables = 1, .variable = &pose, .factors = 1, .factor = &twice},
                   CT_E_ARGUMENT, "x3 is named twice");
    expect_refused(&c, &(ct_increment){.variables = 1, .variable = &pose, .factors = 1, .factor = &wide}, CT_E_NOISE,
                   "noise model \"fix\" has 2 coordinates");
    expect_refused(&c, &(ct_increment){.variables = 1, .variable = &pose, .factors = 1, .factor = &none}, CT_E_NOISE,
                   "noise model 9 does not exist");
    expect_refused(&c, &(ct_increment){.variables = 1, .variable = &bad}, CT_E_ARGUMENT,
                   "variable bad: its initial value is not finite");
    expect_refused(&c, &(ct_increment){.variables = 1, .variable = &bent}, CT_E_ARGUMENT, "is not a unit");
    expect_refused(&c, &(ct_increment){.variables = 1, .variable = &point, .factors = 1, .factor = &wide},
                   CT_E_ARGUMENT, "tree is R2, it must be SE2");
    expect_refused(&c, &(ct_increment){.variables = 1, .variable = &pose}, CT_E_SINGULAR,
                   "x10: no factor would fix its");
    expect_refused(&c, &(ct_increment){.variables = 1, .variable = &point, .factors = 1, .factor = &seen},
                   CT_E_SINGULAR, "tree: no factor would fix its");
    expect_refused(&c, &(ct_increment){.removals = 2, .removal = removal}, CT_E_ARGUMENT,
                   "factor 4 is to be removed twice");
    expect_refused(&c, &(ct_increment){.removals = 1, .removal = (int32_t[]){40}}, CT_E_ARGUMENT,
                   "factor 40 cannot be removed: it does not exist");
    expect_refused(&c, &(ct_increment){.marginals = 1, .marginal = (int32_t[]){-1}}, CT_E_ARGUMENT,
                   "variable -1 cannot be marginalised");
    CHECK_OK(chain_step(&c, NULL), c.err);
    CHECK_OK(ct_smoother_update(c.smoother, NULL, NULL, &c.err), c.err); /* nothing is fine */
    chain_free(&c);
}

static void test_nothing_is_an_update_too(void)
{
    const double          one[4] = {0, 0, 1, 0};
    const ct_new_variable fixed = {.kind = CT_SE2, .value = one, .fixed = 1};
    const ct_new_factor   factor = {.ops = &ct_prior_se2, .var = (int32_t[]){0}, .z = one, .noise = 2};
    ct_smoother_stats     stats;
    chain                 c;
    double                P[9];
    chain_make(&c, NULL);
    CHECK_OK(ct_smoother_update(c.smoother, NULL, &stats, &c.err), c.err);
    CHECK(stats.variables == 0 && stats.eliminated == 0 && stats.fronts == 0);
    CHECK_OK(ct_smoother_renew(c.smoother, &c.err), c.err);
    CHECK_OK(ct_smoother_update(
                 c.smoother,
                 &(ct_increment){.variables = 1, .variable = &fixed, .factors = 1, .factor = &factor, .relinearise = 1},
                 &stats, &c.err),
             c.err);
    CHECK(stats.variables == 1 && stats.factors == 1 && stats.eliminated == 0 && ct_smoother_error(c.smoother) == 0);
    CHECK_OK(ct_smoother_marginal(c.smoother, 0, P, &c.err), c.err);
    CHECK(P[0] == 0 && P[8] == 0);
    CHECK_REFUSED(
        ct_smoother_update(c.smoother, &(ct_increment){.marginals = 1, .marginal = (int32_t[]){0}}, NULL, &c.err),
        c.err, "x0 cannot be marginalised out: it is fixed");
    chain_free(&c);
}

static void test_options_out_of_their_range_are_refused(void)
{
    ct_smoother_options options = ct_smoother_defaults();
    ct_smoother        *smoother = NULL;
    ct_noise           *noise = NULL;
    ct_err              err = {0};
    CHECK_OK(ct_noise_new(&noise, &err), err);
    options.wildfire = NAN;
    CHECK_REFUSED(ct_smoother_new(noise, &options, &smoother, &err), err, "wildfire");
    options = ct_smoother_defaults();
    options.relinearise[CT_SE2] = -1;
    CHECK_REFUSED(ct_smoother_new(noise, &options, &smoother, &err), err, "SE2");
    options = ct_smoother_defaults();
    options.window = -3;
    CHECK_REFUSED(ct_smoother_new(noise, &options, &smoother, &err), err, "-3");
    options = ct_smoother_defaults();
    options.skip = -1;
    CHECK_REFUSED(ct_smoother_new(noise, &options, &smoother, &err), err, "-1");
    CHECK(!smoother);
    ct_smoother_free(NULL);
    ct_noise_free(noise);
}

static void test_an_open_chain_may_be_long(void)
{
    ct_smoother_options options = ct_smoother_defaults();
    chain               c;
    ct_se2              z = ct_se2_make(1, 0, 0.01);
    const double        motion[4] = {z.x, z.y, z.c, z.s};
    double              x[4], sum = 0;
    chain_make(&c, &options);
    CHECK_OK(chain_step(&c, NULL), c.err);
    /* no fix but the first pose's: pivots of the end are 1e-12 of what they were */
    for (int32_t i = 1; i < 3000; i++) {
        const int32_t         pair[2] = {i - 1, i};
        const ct_new_factor   odom = {.ops = &ct_between_se2, .var = pair, .z = motion, .noise = c.odom};
        const ct_new_variable pose = {.kind = CT_SE2, .value = x};
        ct_smoother_stats     stats;
        ct_smoother_estimate(c.smoother, i - 1, x);
        const ct_se2 next = ct_se2_normalize(ct_se2_compose((ct_se2){x[0], x[1], x[2], x[3]}, z, NULL, NULL));
        x[0] = next.x, x[1] = next.y, x[2] = next.c, x[3] = next.s;
        CHECK_OK(ct_smoother_update(c.smoother,
                                    &(ct_increment){.variables = 1, .variable = &pose, .factors = 1, .factor = &odom},
                                    &stats, &c.err),
                 c.err);
        sum += stats.eliminated;
    }
    CHECK(sum < 8 * 3000);
    chain_free(&c);
}

/* ---- known multipliers: test_multiplier.c has the rest ---- */

/* One number, two priors; the second one's multiplier is m. */
static double error_of_two_priors(world *w, const ct_factor *k, double m)
{
    ct_smoother          *s = NULL;
    const ct_new_variable v = {.kind = CT_R1, .value = k->z};
    const int32_t         var = 0;
    const double          z[1] = {k->z[0] + 0.5};
    const ct_new_factor f[2] = {{.ops = k->ops, .var = &var, .z = k->z, .noise = k->noise},
                                {.ops = k->ops, .var = &var, .z = z, .noise = k->noise, .multiplier = m}};
    CHECK_OK(ct_smoother_new(w->noise, NULL, &s, &w->err), w->err);
    CHECK_OK(ct_smoother_update(s, &(ct_increment){.variables = 1, .variable = &v, .factors = 2, .factor = f}, NULL,
                                &w->err),
             w->err);
    for (int i = 0; i < 20; i++)
        CHECK_OK(ct_smoother_update(s, &(ct_increment){.relinearise = 1}, NULL, &w->err), w->err);
    const double error = ct_smoother_error(s);
    ct_smoother_free(s);
    return error;
}

/* Means of z1 with variance 1 and z2 with variance m: the least error is |z2 - z1|^2 / (2 (1 + m)). */
static void test_the_error_of_a_smoother_knows_multipliers(void)
{
    world w;
    world_make(&w, 3, VECTORS);
    const ct_factor k = ct_graph_factor(w.graph, 0);
    CHECK(k.ops == &ct_prior_r1);
    const double error = error_of_two_priors(&w, &k, 1);
    CHECK_NEAR(error_of_two_priors(&w, &k, 7), error / 4, 1e-9 * error);
    world_free(&w);
}

static void test_a_smoother_refuses_multipliers_that_cannot_be(void)
{
    world        w;
    ct_smoother *s = NULL;
    world_make(&w, 3, PLANE);
    CHECK_OK(ct_smoother_new(w.noise, NULL, &s, &w.err), w.err);
    const ct_factor       k = ct_graph_factor(w.graph, 0);
    const ct_new_variable v = {.kind = CT_SE2};
    const int32_t         var = 0;
    ct_new_factor         f = {.ops = k.ops, .var = &var, .z = k.z, .noise = k.noise, .multiplier = -1};
    const ct_increment    add = {.variables = 1, .variable = &v, .factors = 1, .factor = &f};
    CHECK_REFUSED(ct_smoother_update(s, &add, NULL, &w.err), w.err, "must be 1e-12 to 1e+12 times its model's, not -1");
    f.multiplier = 0; /* not given: 1 */
    CHECK_OK(ct_smoother_update(s, &add, NULL, &w.err), w.err);
    ct_smoother_free(s);
    world_free(&w);
}

int main(void)
{
    RUN(test_after_every_step_it_stands_where_a_batch_solve_does);
    RUN(test_work_per_step_does_not_grow_with_the_length_of_a_chain);
    RUN(test_an_open_chain_may_be_long);
    RUN(test_a_window_costs_the_same_for_ever);
    RUN(test_a_window_keeps_so_many_and_what_the_others_knew);
    RUN(test_a_window_of_poses_is_near_the_whole);
    RUN(test_changed_noise_is_taken_over_by_renewing);
    RUN(test_what_cannot_be_is_refused_and_nothing_has_happened);
    RUN(test_nothing_is_an_update_too);
    RUN(test_options_out_of_their_range_are_refused);
    RUN(test_the_error_of_a_smoother_knows_multipliers);
    RUN(test_a_smoother_refuses_multipliers_that_cannot_be);
    return ct_test_end();
}
