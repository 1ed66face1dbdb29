/* test_tune_spread.c: points and steps of tuning within bounds and spreads, against searches over the floors. */
#include "tune_test.h"
#include "tune/search.h"

#define MOST 4

static const ct_tune_log LOGS[] = {{"a", "a", 0}};

/* A problem drawn by chance: one group of all, or two of two; a third of them with a constant. */
typedef struct {
    ct_tune_parameter parameter[MOST + 1];
    double            spread[2];
    int               group[MOST], constant;
    ct_tune_problem   problem;
    ct__coordinates   c;
} drawing;

static int draw(drawing *d, int groups, ct_rng *rng)
{
    ct_err err = {0};
    const int n = groups == 2 ? 4 : 2 + (int)(3 * ct_rng_uniform(rng));
    d->constant = groups == 1 && ct_rng_uniform(rng) < 0.3;
    for (int i = 0; i < n + d->constant; i++) {
        char name[16];
        snprintf(name, sizeof name, "p%d", i);
        d->parameter[i] = toy_parameter(name, 1);
        d->parameter[i].group = groups == 2 ? i / 2 : 0;
        d->parameter[i].lower = exp(-3 * ct_rng_uniform(rng));
        d->parameter[i].upper = ct_rng_uniform(rng) < 0.2 ? 1 : exp(3 * ct_rng_uniform(rng));
        if (i == n) d->parameter[i].lower = d->parameter[i].upper = 1;
        if (i < n) d->group[i] = d->parameter[i].group;
    }
    for (int g = 0; g < groups; g++) d->spread[g] = exp(0.3 + 1.5 * ct_rng_uniform(rng));
    d->problem = (ct_tune_problem){n + d->constant, 1, groups, d->parameter, LOGS, d->spread};
    CHECK_OK(ct_tune_check(&d->problem, &err), err);
    CHECK_OK(ct__coordinates_new(&d->problem, &d->c, &err), err);
    return d->c.n;
}

/* By how much a group exceeds its spread at x. */
static double excess(const drawing *d, const double *x)
{
    double worst = -INFINITY;
    for (int g = 0; g < d->problem.spreads; g++) {
        double least = d->constant ? 0 : INFINITY, most = d->constant ? 0 : -INFINITY;
        for (int i = 0; i < d->c.n; i++)
            if (d->group[i] == g) least = fmin(least, x[i]), most = fmax(most, x[i]);
        worst = fmax(worst, most - least - log(d->spread[g]));
    }
    return worst;
}

/* Limits of s around x with these floors; 0: there is none. */
static int limits_at(const drawing *d, const double *x, double radius, const double floor[2], double *low, double *high)
{
    if (d->constant && (floor[0] > 0 || floor[0] + log(d->spread[0]) < 0)) return 0;
    for (int i = 0; i < d->c.n; i++) {
        const double t = floor[d->group[i]];
        low[i] = fmax(fmax(d->c.lower[i], t) - x[i], -radius);
        high[i] = fmin(fmin(d->c.upper[i], t + log(d->spread[d->group[i]])) - x[i], radius);
        if (low[i] > high[i]) return 0;
    }
    return 1;
}

/* The minimum of 1/2 s'Hs + g's within limits, by one coordinate after the other. */
static double minimum_in(int n, const double *H, const double *g, const double *low, const double *high)
{
    double s[MOST] = {0}, value = 0;
    for (int pass = 0, moved = 1; pass < 3000 && moved; pass++) {
        moved = 0;
        for (int i = 0; i < n; i++) {
            double slope = g[i];
            for (int k = 0; k < n; k++) slope += k == i ? 0 : H[i * n + k] * s[k];
            const double to = fmax(low[i], fmin(high[i], -slope / H[i * n + i]));
            moved |= fabs(to - s[i]) > 1e-12;
            s[i] = to;
        }
    }
    for (int i = 0; i < n; i++) {
        value += g[i] * s[i];
        for (int k = 0; k < n; k++) value += 0.5 * s[i] * H[i * n + k] * s[k];
    }
    return value;
}

/* The same within spreads, by grids of floors, each finer than the one before. */
static double least_over_floors(const drawing *d, const double *H, const double *g, const double *x, double radius)
{
    double least = INFINITY, best[2] = {0, 0};
    for (double span = 6; span > 1e-4; span /= 6) {
        const double at[2] = {best[0], best[1]};
        for (int i = -12; i <= 12; i++)
            for (int j = d->problem.spreads > 1 ? -12 : 12; j <= 12; j++) {
                const double floor[2] = {at[0] + span * i / 12, at[1] + span * j / 12};
                double low[MOST], high[MOST];
                if (!limits_at(d, x, radius, floor, low, high)) continue;
                const double value = minimum_in(d->c.n, H, g, low, high);
                if (!(value < least)) continue;
                least = value;
                best[0] = floor[0], best[1] = floor[1];
            }
    }
    return least;
}

static void draw_quadratic(int n, ct_rng *rng, double *H, double *g)
{
    for (int i = 0; i < n * n; i++) H[i] = i % (n + 1) ? 0 : 0.05;
    for (int row = 0; row <= n; row++) {
        double a[MOST];
        for (int i = 0; i < n; i++) a[i] = ct_rng_normal(rng);
        for (int i = 0; i < n * n; i++) H[i] += a[i / n] * a[i % n];
    }
    for (int i = 0; i < n; i++) g[i] = 3 * ct_rng_normal(rng);
}

/* Some bounds are nearer than the spread, and some numbers are constant: they decide where the others may be. */
static void test_a_step_within_bounds_and_spreads_is_the_least(void)
{
    ct_rng rng = ct_rng_seed(7);
    for (int trial = 0; trial < 600; trial++) {
        drawing d;
        double  x[MOST], H[MOST * MOST], g[MOST], s[MOST], work[2 * MOST * MOST + 8 * MOST];
        const int n = draw(&d, 1 + trial % 2, &rng);
        for (int i = 0; i < n; i++) x[i] = d.c.lower[i] + (d.c.upper[i] - d.c.lower[i]) * ct_rng_uniform(&rng);
        ct__coordinates_project(&d.c, x);
        draw_quadratic(n, &rng, H, g);
        const double radius = 0.5 + 3 * ct_rng_uniform(&rng);
        const double decrease = ct__bounded_quadratic(&d.c, H, g, x, radius, s, work);
        const double least = least_over_floors(&d, H, g, x, radius);
        for (int i = 0; i < n; i++) s[i] += x[i];
        CHECK(excess(&d, s) < 1e-6);
        CHECK(decrease > -least - 1e-3 * (1 + fabs(least)));
        ct__coordinates_free(&d.c);
    }
}

/* Half the squared distance is a quadratic, too. */
static void test_a_point_is_moved_to_the_nearest_within_bounds_and_spreads(void)
{
    ct_rng rng = ct_rng_seed(8);
    for (int trial = 0; trial < 600; trial++) {
        drawing d;
        double  from[MOST], x[MOST], H[MOST * MOST] = {0}, g[MOST] = {0}, way = 0;
        const int n = draw(&d, 1 + trial % 2, &rng);
        for (int i = 0; i < n; i++) {
            H[i * n + i] = 1;
            x[i] = from[i] = d.c.lower[i] + (d.c.upper[i] - d.c.lower[i]) * ct_rng_uniform(&rng);
        }
        ct__coordinates_project(&d.c, x);
        CHECK(excess(&d, x) < 1e-11);
        for (int i = 0; i < n; i++) {
            CHECK(x[i] >= d.c.lower[i] && x[i] <= d.c.upper[i]);
            way += 0.5 * (x[i] - from[i]) * (x[i] - from[i]);
        }
        CHECK(way < least_over_floors(&d, H, g, from, 100) + 1e-3 * (1 + way));
        ct__coordinates_free(&d.c);
    }
}

/* b is a tenth of a constant, whatever its own bounds are; c is above 1. Or a is where b, its tenth, is above 0.1. */
static void test_ties_whose_bounds_exceed_the_spread_are_refused(void)
{
    const double spread[] = {2};
    ct_err       err = {0};
    ct_tune_parameter p[3] = {toy_parameter("a", 1), toy_parameter("b", 0.1), toy_parameter("c", 2)};
    const ct_tune_problem problem = {3, 1, 1, p, LOGS, spread};
    p[0].lower = p[0].upper = 1;
    p[1].tie = 0;
    p[1].factor = 0.1;
    p[1].group = p[2].group = 0;
    p[2].lower = 1;
    CHECK_REFUSED(ct_tune_check(&problem, &err), err, "the bounds of c and b are further apart");
    p[2].lower = 0.15;
    CHECK_OK(ct_tune_check(&problem, &err), err);
    p[0] = toy_parameter("a", 1);
    p[0].group = 0;
    p[1].group = -1;
    p[1].lower = 0.1;
    p[2].start = p[2].upper = 0.4;
    CHECK_REFUSED(ct_tune_check(&problem, &err), err, "the bounds of a and c are further apart");
    p[2].start = p[2].upper = 0.6;
    CHECK_OK(ct_tune_check(&problem, &err), err);
}

int main(void)
{
    RUN(test_ties_whose_bounds_exceed_the_spread_are_refused);
    RUN(test_a_step_within_bounds_and_spreads_is_the_least);
    RUN(test_a_point_is_moved_to_the_nearest_within_bounds_and_spreads);
    return ct_test_end();
}
