/* test_theta_feasible_set.c: the set: projection, minimisation, room, and what is at its bound. */
#include "theta_test.h"

#define POINTS 100 /* of a set, to compare with */

static const ct_space SPACES[] = {CT_SPACE_LOG, CT_SPACE_VARIANCE};

/* A point of the set in the space. */
static void feasible(ct_rng *rng, const ct_theta *theta, ct_space space, double *q)
{
    random_point(rng, theta, q);
    if (space == CT_SPACE_VARIANCE) ct_theta_convert(theta, CT_SPACE_LOG, q, q);
}

/* Any point, mostly outside. */
static void anywhere(ct_rng *rng, const ct_theta *theta, double *q)
{
    const double scale = pow(10, uniform(rng, -2, 3)), offset = scale * ct_rng_normal(rng) * below(rng, 2);
    for (int32_t i = 0; i < ct_theta_count(theta); i++) q[i] = offset + scale * ct_rng_normal(rng);
}

/* ---- Minimisation ---------------------------------------------------------------------------- */

typedef struct {
    int         n;
    long double gamma[MANY], lower[MANY], upper[MANY]; /* eigenvalues of g, bounds in the space */
    long double w, k;                                   /* top(t) = w t + k                     */
} linear;

static linear linear_problem(const ct_theta *theta, ct_space space, const double *g)
{
    const int logs = space == CT_SPACE_LOG;
    linear    l = {.w = logs ? 1 : ct_theta_spread_limit(theta), .k = logs ? logl(ct_theta_spread_limit(theta)) : 0};
    for (int32_t b = 0; b < theta->blocks; b++) {
        const int n = lambdas(theta, b, g, l.gamma + l.n);
        for (int k = 0; k < n; k++, l.n++) {
            l.lower[l.n] = logs ? logl(theta->block[b].lower) : (long double)theta->block[b].lower;
            l.upper[l.n] = logs ? logl(theta->block[b].upper) : (long double)theta->block[b].upper;
        }
    }
    return l;
}

/* min over x for this t; INFINITY if t leaves no room. */
static long double value_at(const linear *l, long double t)
{
    long double f = 0;
    for (int c = 0; c < l->n; c++) {
        const long double from = fmaxl(l->lower[c], t), to = fminl(l->upper[c], l->w * t + l->k);
        if (from > to + 1e-15L * fabsl(to)) return INFINITY;
        f += l->gamma[c] * (l->gamma[c] > 0 ? from : to);
    }
    return f;
}

/* The least of all breakpoints, each tried: slow and sure. */
static long double least_value(const ct_theta *theta, ct_space space, const double *g)
{
    const linear l = linear_problem(theta, space, g);
    long double  best = INFINITY;
    if (isinf(ct_theta_spread_limit(theta))) {
        best = 0;
        for (int c = 0; c < l.n; c++) best += l.gamma[c] * (l.gamma[c] > 0 ? l.lower[c] : l.upper[c]);
        return best;
    }
    for (int c = 0; c < l.n; c++) {
        best = fminl(best, value_at(&l, l.lower[c]));
        best = fminl(best, value_at(&l, l.upper[c]));
        best = fminl(best, value_at(&l, (l.lower[c] - l.k) / l.w));
        best = fminl(best, value_at(&l, (l.upper[c] - l.k) / l.w));
    }
    return best;
}

static double norm(const ct_theta *theta, const double *x) { return sqrt(dot(theta, x, x)); }

static void test_minimise_is_attained_inside_and_below_every_point(void)
{
    if (!ct_test_long_double()) SKIP("long double is no more than double here");
    ct_rng    rng = ct_rng_seed(21);
    ct_noise *noise = new_table();
    for (int trial = 0; trial < 1000; trial++) {
        ct_theta      *theta = random_theta(&rng, noise, trial);
        const ct_space space = SPACES[trial / 2 % 2];
        double         g[MANY], s[MANY], x[MANY];
        anywhere(&rng, theta, g);
        if (trial % 7 == 0) g[below(&rng, ct_theta_count(theta))] = 0;
        ct_theta_minimise_linear(theta, space, g, s);
        CHECK(outside(theta, space, s) <= 1e-14);
        const double found = dot(theta, g, s), size = norm(theta, g) * (1 + norm(theta, s));
        CHECK_NEAR(found, (double)least_value(theta, space, g), 1e-13 * size);
        for (int k = 0; k < POINTS; k++) {
            feasible(&rng, theta, space, x);
            CHECK(found <= dot(theta, g, x) + 1e-13 * size);
        }
        ct_theta_minimise_linear(theta, space, g, g); /* in place */
        for (int32_t i = 0; i < ct_theta_count(theta); i++) CHECK(g[i] == s[i]);
        ct_theta_free(theta);
    }
    ct_noise_free(noise);
}

static void test_minimise_puts_what_is_not_felt_in_the_middle(void)
{
    ct_err       err = {0};
    ct_noise    *noise = new_table();
    ct_theta    *theta = new_theta(noise);
    const double g[6] = {1, 0, -1, 0, 0, 0};
    double       s[6];
    CHECK_OK(ct_theta_learn(theta, ODOM, CT_NOISE_DIAGONAL, 0.01, 100, &err), err);
    CHECK_OK(ct_theta_learn(theta, GPS, CT_NOISE_FULL, 0.25, 4, &err), err);
    ct_theta_minimise_linear(theta, CT_SPACE_VARIANCE, g, s);
    const double middle[6] = {0.01, 1, 100, 1, 0, 1};
    for (int i = 0; i < 6; i++) CHECK_NEAR(s[i], middle[i], 1e-15);
    /* g . s = t - 16 t: as high as gps lets t be, until 16 t is 100 */
    CHECK_OK(ct_theta_set_spread(theta, 16, &err), err);
    ct_theta_minimise_linear(theta, CT_SPACE_VARIANCE, g, s);
    const double window[6] = {4, sqrt(4 * 64), 64, 4, 0, 4};
    for (int i = 0; i < 6; i++) CHECK_NEAR(s[i], window[i], 1e-13);
    ct_theta_free(theta);
    ct_noise_free(noise);
}

/* How large a point of the set can be. */
static double extent(const ct_theta *theta, ct_space space)
{
    double s = 1;
    for (int32_t b = 0; b < theta->blocks; b++) {
        double lower, upper;
        ct__block_bounds(&theta->block[b], space, &lower, &upper);
        s += theta->block[b].dim * fmax(lower * lower, upper * upper);
    }
    return sqrt(s);
}

/* ---- Projection ------------------------------------------------------------------------------ */

/* z is the nearest point if (q - z)'(x - z) <= 0 for every x of the set; the x for which that is largest is a linear
 * minimum. */
static void test_projection_is_the_nearest_point(void)
{
    if (!ct_test_long_double()) SKIP("long double is no more than double here");
    ct_rng    rng = ct_rng_seed(22);
    ct_noise *noise = new_table();
    for (int trial = 0; trial < 1500; trial++) {
        ct_theta      *theta = random_theta(&rng, noise, trial);
        const ct_space space = SPACES[trial / 2 % 2];
        const int      n = ct_theta_count(theta);
        double         q[MANY], z[MANY], away[MANY], x[MANY];
        anywhere(&rng, theta, q);
        memcpy(z, q, sizeof z);
        const int moved = ct_theta_project(theta, space, z);
        CHECK(moved == (memcmp(q, z, (size_t)n * sizeof *q) != 0) && (moved || outside(theta, space, q) < 1e-13));
        CHECK(outside(theta, space, z) <= 2e-14);

        for (int i = 0; i < n; i++) away[i] = z[i] - q[i];
        /* roundings of q - z, times x */
        const double tolerance = 1e-14 * (norm(theta, away) + norm(theta, q)) * extent(theta, space);
        CHECK((double)least_value(theta, space, away) >= dot(theta, away, z) - tolerance);
        const double distance = norm(theta, away);
        for (int k = 0; k < POINTS; k++) {
            feasible(&rng, theta, space, x);
            for (int i = 0; i < n; i++) x[i] -= q[i];
            CHECK(norm(theta, x) >= distance * (1 - 1e-13));
        }
        ct_theta_free(theta);
    }
    ct_noise_free(noise);
}

static void test_what_was_projected_does_not_move_again(void)
{
    ct_rng    rng = ct_rng_seed(23);
    ct_noise *noise = new_table();
    for (int trial = 0; trial < 2000; trial++) {
        ct_theta      *theta = random_theta(&rng, noise, trial);
        const ct_space space = SPACES[trial / 2 % 2];
        double         q[MANY], z[MANY];
        anywhere(&rng, theta, q);
        ct_theta_project(theta, space, q);
        memcpy(z, q, sizeof z);
        CHECK(!ct_theta_project(theta, space, z));
        for (int32_t i = 0; i < ct_theta_count(theta); i++) CHECK(q[i] == z[i]);
        feasible(&rng, theta, space, q);
        CHECK(ct_theta_project(theta, space, q) == 0 || outside(theta, space, q) <= 2e-14);
        ct_theta_free(theta);
    }
    ct_noise_free(noise);
}

/* By hand: (0, 0, 6) with spread e: t, t, t + 1, nearest for 2 t^2 + (t - 5)^2; and 1, 1, 30 with spread 3 in
 * variances. */
static void test_projection_on_a_spread_as_by_hand(void)
{
    ct_err    err = {0};
    ct_noise *noise = new_table();
    ct_theta *theta = new_theta(noise);
    double    q[3] = {0, 0, 6}, v[3] = {1, 1, 30};
    CHECK_OK(ct_theta_learn(theta, ODOM, CT_NOISE_DIAGONAL, 1e-100, 1e100, &err), err);
    CHECK_OK(ct_theta_set_spread(theta, exp(1), &err), err);
    CHECK(ct_theta_project(theta, CT_SPACE_LOG, q));
    for (int i = 0; i < 3; i++) CHECK_NEAR(q[i], i < 2 ? 5 / 3.0 : 8 / 3.0, 1e-15);
    CHECK_OK(ct_theta_set_spread(theta, 3, &err), err); /* 2 (t - 1) + 3 (3 t - 30) = 0 */
    CHECK(ct_theta_project(theta, CT_SPACE_VARIANCE, v));
    for (int i = 0; i < 3; i++) CHECK_NEAR(v[i], i < 2 ? 92 / 11.0 : 3 * 92 / 11.0, 1e-14);
    CHECK_OK(ct_theta_bound(theta, ODOM, 1, 1e-100, 2, &err), err); /* which keeps t at 2 */
    memcpy(v, (double[]){1, 1, 30}, sizeof v);
    CHECK(ct_theta_project(theta, CT_SPACE_VARIANCE, v));
    CHECK(v[0] == 2 && v[1] == 2 && v[2] == 6);

    CHECK_OK(ct_theta_bound(theta, ODOM, 1, 1e-100, 1e100, &err), err);
    CHECK_OK(ct_theta_set_spread(theta, 1, &err), err); /* all equal: the mean */
    memcpy(v, (double[]){1, 5, 9}, sizeof v);
    CHECK(ct_theta_project(theta, CT_SPACE_VARIANCE, v));
    CHECK(v[0] == 5 && v[1] == 5 && v[2] == 5);
    ct_theta_free(theta);
    ct_noise_free(noise);
}

/* Bounds so far apart that they are none, and a spread of 1e300: no overflow, no lost answer. */
static void test_extreme_bounds_and_spreads_are_met(void)
{
    ct_rng       rng = ct_rng_seed(24);
    ct_err       err = {0};
    ct_noise    *noise = new_table();
    const double spread[] = {1, 2, 1e150, 1e299, 1e308};
    for (int trial = 0; trial < 200; trial++) {
        ct_theta      *theta = new_theta(noise);
        const ct_space space = SPACES[trial % 2];
        double         q[MANY], z[MANY], vertex[MANY];
        CHECK_OK(ct_theta_learn(theta, ODOM, CT_NOISE_DIAGONAL, 1e-150, 1e150, &err), err);
        CHECK_OK(ct_theta_learn(theta, ODO2, CT_NOISE_DIAGONAL, 1e-150, 1e150, &err), err);
        CHECK_OK(ct_theta_set_spread(theta, spread[trial / 2 % 5], &err), err);
        for (int i = 0; i < 6; i++)
            q[i] = space == CT_SPACE_LOG ? uniform(&rng, -500, 500)
                                         : copysign(pow(10, uniform(&rng, -160, 160)), uniform(&rng, -1, 3));
        memcpy(z, q, sizeof z);
        ct_theta_project(theta, space, z);
        ct_theta_minimise_linear(theta, space, q, vertex);
        CHECK(outside(theta, space, z) <= 1e-15 && outside(theta, space, vertex) <= 1e-15);
        for (int i = 0; i < 6; i++) CHECK(isfinite(z[i]) && isfinite(vertex[i]));
        ct_theta_free(theta);
    }
    ct_theta    *tiny = new_theta(noise); /* the upper bound over the spread is 0 */
    const double down[3] = {-1, -1, 1};
    double       s[3];
    CHECK_OK(ct_theta_learn(tiny, ODOM, CT_NOISE_DIAGONAL, 1e-150, 1e-149, &err), err);
    CHECK_OK(ct_theta_set_spread(tiny, 1e308, &err), err);
    ct_theta_minimise_linear(tiny, CT_SPACE_VARIANCE, down, s);
    CHECK(s[0] == 1e-149 && s[1] == 1e-149 && s[2] == 1e-150);
    ct_theta_free(tiny);
    ct_noise_free(noise);
}

/* One upper bound is another lower bound over the spread: a set without inside, and rounding must not lead out of
 * the bounds. */
static void test_bounds_that_just_allow_the_spread_hold_to_the_bit(void)
{
    ct_rng    rng = ct_rng_seed(29);
    ct_err    err = {0};
    ct_noise *noise = new_table();
    for (int trial = 0; trial < 500; trial++) {
        ct_theta      *theta = new_theta(noise);
        const ct_space space = SPACES[trial % 2];
        const double upper = pow(10, uniform(&rng, -2, 2)), spread = pow(10, uniform(&rng, 0, 3)),
                     lower = spread * upper;
        double         q[4], s[4];
        CHECK_OK(ct_theta_learn(theta, ODOM, CT_NOISE_DIAGONAL, upper / 2, lower * 2, &err), err);
        CHECK_OK(ct_theta_learn(theta, ONE, CT_NOISE_DIAGONAL, lower, 2 * lower, &err), err);
        CHECK_OK(ct_theta_bound(theta, ODOM, 1, upper / 3, upper, &err), err);
        CHECK_OK(ct_theta_set_spread(theta, spread, &err), err);
        for (int i = 0; i < 4; i++) q[i] = 1000 * ct_rng_normal(&rng);
        ct_theta_minimise_linear(theta, space, q, s);
        ct_theta_project(theta, space, q);
        const int    logs = space == CT_SPACE_LOG;
        const double high = logs ? log(upper) : upper, low = logs ? log(lower) : lower;
        CHECK(q[1] <= high && s[1] <= high && q[3] >= low && s[3] >= low);
        CHECK_NEAR(fmin(q[1], s[1]), high, 1e-15 * (10 + fabs(high)));
        CHECK_NEAR(fmax(q[3], s[3]), low, 1e-15 * (10 + fabs(low)));
        CHECK(!ct_theta_project(theta, space, q));
        if (!logs) ct_theta_convert(theta, CT_SPACE_VARIANCE, q, q);
        CHECK_OK(ct_theta_apply(theta, q, noise, &err), err);
        CHECK(ct_theta_is_feasible(theta, noise));
        ct_theta_free(theta);
    }
    ct_noise_free(noise);
}

static void test_a_set_of_nothing_is_met_by_nothing(void)
{
    ct_noise *noise = new_table();
    ct_theta *theta = new_theta(noise);
    ct_err    err = {0};
    double    low, high;
    CHECK_OK(ct_theta_set_spread(theta, 2, &err), err);
    CHECK(!ct_theta_project(theta, CT_SPACE_LOG, NULL) && ct_theta_spread(theta, NULL) == 1 &&
          ct_theta_is_feasible(theta, noise));
    ct_theta_minimise_linear(theta, CT_SPACE_LOG, NULL, NULL);
    ct_theta_scale_range(theta, NULL, &low, &high);
    CHECK(low == -INFINITY && high == INFINITY);
    ct_theta_get(theta, noise, NULL);
    CHECK_OK(ct_theta_apply(theta, NULL, noise, &err), err);
    ct_theta_active(theta, NULL, NULL);
    ct_theta_free(theta);
    ct_noise_free(noise);
}

/* ---- Room, spread, bounds as bounds on coordinates ------------------------------------------- */

static void shift(const ct_theta *theta, double *p, double s)
{
    for (int32_t i = 0; i < ct_theta_count(theta); i++)
        if (ct_theta_is_scale(theta, i)) p[i] += s;
}

static void test_room_is_how_far_a_common_factor_may_go(void)
{
    ct_rng    rng = ct_rng_seed(25);
    ct_noise *noise = new_table();
    for (int trial = 0; trial < 400; trial++) {
        ct_theta *theta = random_theta(&rng, noise, trial);
        double    p[MANY], low, high;
        random_point(&rng, theta, p);
        ct_theta_scale_range(theta, p, &low, &high);
        CHECK(low <= high && low <= 1e-12 && high >= -1e-12);
        shift(theta, p, low);
        CHECK(outside(theta, CT_SPACE_LOG, p) <= 1e-12);
        shift(theta, p, high - low);
        CHECK(outside(theta, CT_SPACE_LOG, p) <= 1e-12);
        shift(theta, p, 1e-6);
        CHECK(outside(theta, CT_SPACE_LOG, p) > 1e-8);
        shift(theta, p, low - high - 2e-6);
        CHECK(outside(theta, CT_SPACE_LOG, p) > 1e-8);
        ct_theta_free(theta);
    }
    ct_noise_free(noise);
}

static void test_there_is_no_room_where_no_factor_helps(void)
{
    ct_err    err = {0};
    ct_noise *noise = new_table();
    ct_theta *theta = new_theta(noise);
    double    p[3] = {log(0.05), log(1), log(2)}, low, high;
    CHECK_OK(ct_theta_learn(theta, ODOM, CT_NOISE_DIAGONAL, 0.1, 10, &err), err);
    ct_theta_scale_range(theta, p, &low, &high); /* outside, and twice as much is inside */
    CHECK_NEAR(low, log(2), 1e-15);
    CHECK_NEAR(high, log(5), 1e-15);
    CHECK_NEAR(ct_theta_spread(theta, p), 40, 1e-13);
    CHECK_OK(ct_theta_set_spread(theta, 39, &err), err);
    ct_theta_scale_range(theta, p, &low, &high);
    CHECK(low > high);
    CHECK_OK(ct_theta_set_spread(theta, INFINITY, &err), err);
    p[2] = log(20);
    ct_theta_scale_range(theta, p, &low, &high);
    CHECK(low > high);
    p[0] = log(0.1), p[2] = log(10) + 1e-14; /* rounding is forgiven */
    ct_theta_scale_range(theta, p, &low, &high);
    CHECK(low == high);
    ct_theta_free(theta);
    ct_noise_free(noise);
}

/* Turned p has log Sigma's eigenvalues on the diagonal and nothing beside it. */
static void test_turning_is_orthogonal_and_diagonalises(void)
{
    ct_rng    rng = ct_rng_seed(26);
    ct_noise *noise = new_table();
    for (int trial = 0; trial < 100; trial++) {
        ct_theta *theta = random_theta(&rng, noise, trial);
        const int n = ct_theta_count(theta);
        double    p[MANY], v[MANY], w[MANY], tv[MANY], tw[MANY];
        for (int i = 0; i < n; i++)
            p[i] = ct_rng_normal(&rng), v[i] = tv[i] = ct_rng_normal(&rng), w[i] = tw[i] = ct_rng_normal(&rng);
        ct_theta_to_eigenbasis(theta, p, tv);
        ct_theta_to_eigenbasis(theta, p, tw);
        CHECK_NEAR(dot(theta, tv, tw), dot(theta, v, w), 1e-13 * n);
        ct_theta_from_eigenbasis(theta, p, tv);
        for (int i = 0; i < n; i++) CHECK_NEAR(tv[i], v[i], 1e-14 * 10);
        memcpy(tw, p, sizeof tw);
        ct_theta_to_eigenbasis(theta, p, tw);
        for (int i = 0; i < n; i++)
            if (!ct_theta_is_scale(theta, i)) CHECK_NEAR(tw[i], 0, 1e-14 * 10);
        ct_theta_free(theta);
    }
    ct_noise_free(noise);
}

/* Turned coordinates of a projected point against the bounds, one by one. */
static void check_active(const ct_theta *theta, const double *p)
{
    const double limit = log(ct_theta_spread_limit(theta));
    int8_t       active[MANY];
    double       turned[MANY], least = INFINITY, most = -INFINITY;
    memcpy(turned, p, sizeof turned);
    ct_theta_to_eigenbasis(theta, p, turned);
    ct_theta_active(theta, p, active);
    for (int32_t i = 0; i < ct_theta_count(theta); i++)
        if (ct_theta_is_scale(theta, i)) least = fmin(least, turned[i]), most = fmax(most, turned[i]);
    for (int32_t i = 0; i < ct_theta_count(theta); i++) {
        double    lower, upper;
        const int reached = most - least > limit - 1e-11;
        ct_theta_bounds(theta, i, &lower, &upper);
        const int down = turned[i] <= log(lower) + 1e-11 || (reached && turned[i] <= least + 1e-11);
        const int up = turned[i] >= log(upper) - 1e-11 || (reached && turned[i] >= most - 1e-11);
        CHECK(active[i] == (!ct_theta_is_scale(theta, i) ? 0 : down ? -1 : up ? 1 : 0));
    }
}

static void test_active_are_those_at_a_bound_or_at_the_spreads_ends(void)
{
    ct_rng    rng = ct_rng_seed(27);
    ct_noise *noise = new_table();
    for (int trial = 0; trial < 400; trial++) {
        ct_theta *theta = random_theta(&rng, noise, trial);
        double    p[MANY];
        for (int32_t i = 0; i < ct_theta_count(theta); i++) p[i] = 3 * ct_rng_normal(&rng);
        ct_theta_project(theta, CT_SPACE_LOG, p);
        check_active(theta, p);
        ct_theta_free(theta);
    }
    ct_noise_free(noise);
}

/* What put leaves a rounding away from its bound is at its bound when it is read again. */
static void test_active_survives_the_table(void)
{
    ct_err       err = {0};
    ct_rng       rng = ct_rng_seed(28);
    ct_noise    *noise = new_table();
    ct_theta    *theta = new_theta(noise);
    const double l[6] = {log(1e-3), log(1e-3), 0, 1, log(1e3), log(1e3)};
    int          count[3] = {0};
    double       V[36], X[36], p[21];
    int8_t       active[21];
    CHECK_OK(ct_theta_learn(theta, IMU, CT_NOISE_FULL, 1e-3, 1e3, &err), err);
    random_rotation(&rng, 6, V);
    ct__sym_recompose(6, l, V, X);
    ct__sym_pack(6, X, p);
    CHECK_OK(ct_theta_apply(theta, p, noise, &err), err);
    ct_theta_get(theta, noise, p);
    ct_theta_active(theta, p, active);
    for (int i = 0; i < 21; i++) count[active[i] + 1]++;
    CHECK(count[0] == 2 && count[1] == 17 && count[2] == 2);
    ct_theta_free(theta);
    ct_noise_free(noise);
}

int main(void)
{
    RUN(test_minimise_is_attained_inside_and_below_every_point);
    RUN(test_minimise_puts_what_is_not_felt_in_the_middle);
    RUN(test_projection_is_the_nearest_point);
    RUN(test_what_was_projected_does_not_move_again);
    RUN(test_projection_on_a_spread_as_by_hand);
    RUN(test_extreme_bounds_and_spreads_are_met);
    RUN(test_bounds_that_just_allow_the_spread_hold_to_the_bit);
    RUN(test_a_set_of_nothing_is_met_by_nothing);
    RUN(test_room_is_how_far_a_common_factor_may_go);
    RUN(test_there_is_no_room_where_no_factor_helps);
    RUN(test_turning_is_orthogonal_and_diagonalises);
    RUN(test_active_are_those_at_a_bound_or_at_the_spreads_ends);
    RUN(test_active_survives_the_table);
    return ct_test_end();
}
