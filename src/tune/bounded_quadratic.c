/* bounded_quadratic.c: a convex quadratic minimised in a box that bounds, spreads and a trust region make.
 *
 * In a box: a primal active set. The free coordinates take a Newton step up to the first bound, which becomes active;
 * at the minimum over the free ones, the active bound with the most negative multiplier is released.
 *
 * A spread is a box as well, once the floor of its group is known. The minimum over the box is a convex function of the
 * floors, and its derivative by a floor is the sum of the multipliers at the limits that move with it. So where the
 * minimum without spreads exceeds one, its floor is found by bisection. The derivative is continuous, so that with
 * several groups bisections in turn come to the minimum over all floors. */
#include "tune/search.h"

#include <math.h>

#define PASSES 60  /* of a bisection: to 1e-17 of its range         */
#define ROUNDS 50  /* over groups                                   */
#define LITTLE 1e-6 /* of the decrease: a round that adds no more is the last */
#define NEAR   1e-9 /* in log variance: at a limit                  */

typedef struct {
    int32_t       n;
    const double *H, *g;
    double       *low, *high;    /* of s                              */
    double       *s, *gradient;  /* n                                 */
    double       *L, *d;         /* n x n; n                          */
} box;

static void gradient_at(box *b)
{
    for (int32_t i = 0; i < b->n; i++) {
        double sum = b->g[i];
        for (int32_t k = 0; k < b->n; k++) sum += b->H[i * b->n + k] * b->s[k];
        b->gradient[i] = sum;
    }
}

static double value_at(const box *b)
{
    double sum = 0;
    for (int32_t i = 0; i < b->n; i++) sum += b->s[i] * (b->gradient[i] + b->g[i]);
    return 0.5 * sum;
}

/* d <- the Newton step of the free coordinates. */
static int newton(box *b, const int8_t *active)
{
    const int32_t n = b->n;
    for (int32_t i = 0; i < n; i++) {
        for (int32_t k = 0; k < n; k++)
            b->L[i * n + k] = active[i] || active[k] ? (double)(i == k) : b->H[i * n + k];
        b->d[i] = active[i] ? 0 : -b->gradient[i];
    }
    if (!ct__cholesky(n, b->L)) return 0;
    ct__cholesky_solve(n, b->L, b->d);
    return 1;
}

/* s += d up to the first bound, which becomes active. 1: all of d. */
static int advance(box *b, int8_t *active)
{
    double  t = 1;
    int32_t hit = -1;
    for (int32_t i = 0; i < b->n; i++) {
        const double room = b->d[i] > 0 ? b->high[i] - b->s[i] : b->low[i] - b->s[i];
        if (active[i] || b->d[i] == 0 || fabs(room) >= t * fabs(b->d[i])) continue;
        t = room / b->d[i];
        hit = i;
    }
    for (int32_t i = 0; i < b->n; i++)
        if (!active[i]) b->s[i] = CT_MAX(b->low[i], CT_MIN(b->high[i], b->s[i] + t * b->d[i]));
    if (hit < 0) return 1;
    active[hit] = b->d[hit] > 0 ? 1 : -1;
    b->s[hit] = b->d[hit] > 0 ? b->high[hit] : b->low[hit];
    return 0;
}

/* Releases the bound that holds back most. 0: none does. */
static int release(const box *b, int8_t *active)
{
    int32_t worst = -1;
    double  most = 0;
    for (int32_t i = 0; i < b->n; i++) {
        if (!active[i] || !(b->low[i] < b->high[i])) continue;
        const double pull = active[i] < 0 ? -b->gradient[i] : b->gradient[i];
        const double scale = 1e-12 * (fabs(b->g[i]) + b->H[i * b->n + i]);
        if (pull > scale && pull > most) most = pull, worst = i;
    }
    if (worst >= 0) active[worst] = 0;
    return worst >= 0;
}

static double minimise_box(box *b, int8_t *active)
{
    for (int32_t i = 0; i < b->n; i++) {
        b->s[i] = CT_MAX(b->low[i], CT_MIN(b->high[i], b->s[i]));
        active[i] = b->s[i] <= b->low[i] ? -1 : b->s[i] >= b->high[i] ? 1 : 0;
    }
    for (int pass = 0; pass < 20 * (b->n + 2); pass++) {
        gradient_at(b);
        if (!newton(b, active)) break;
        if (!advance(b, active)) continue;
        gradient_at(b);
        if (!release(b, active)) break;
    }
    gradient_at(b);
    return value_at(b);
}

typedef struct {
    const ct__coordinates *c;
    const double *x;
    double        radius, *lower, *upper; /* n: of x */
    double        floor[CT__SPREADS_MAX];
} limits;

static void set_limits(const limits *l, box *b)
{
    ct__coordinates_limits(l->c, l->floor, l->lower, l->upper);
    for (int32_t i = 0; i < b->n; i++) {
        b->low[i] = CT_MAX(l->lower[i] - l->x[i], -l->radius);
        b->high[i] = CT_MIN(l->upper[i] - l->x[i], l->radius);
        if (b->low[i] > b->high[i]) b->low[i] = b->high[i] = CT_MAX(-l->radius, CT_MIN(l->radius, b->low[i]));
    }
}

/* The derivative of the minimum by the floor of a group: multipliers of the limits that move with it. */
static double floor_slope(const limits *l, int32_t group, const box *b)
{
    const double width = ct__spread_width(l->c, group), t = l->floor[group];
    double slope = 0;
    for (int32_t j = 0; j < l->c->members; j++) {
        const ct__spread_member *m = &l->c->member[j];
        const int32_t k = m->coordinate;
        if (m->group != group || k < 0) continue;
        const double v = l->x[k] + b->s[k] + m->offset, near = NEAR * (1 + fabs(v));
        if ((fabs(v - t) < near && b->gradient[k] > 0) || (fabs(v - t - width) < near && b->gradient[k] < 0))
            slope += b->gradient[k];
    }
    return slope;
}

/* Does the group exceed its spread at x + s? l->lower is room. */
static int exceeds(const limits *l, int32_t group, const box *b)
{
    double min, max;
    for (int32_t i = 0; i < b->n; i++) l->lower[i] = l->x[i] + b->s[i];
    ct__spread_range(l->c, group, l->lower, &min, &max);
    return max - min > ct__spread_width(l->c, group) + NEAR;
}

static double minimise_group(limits *l, int32_t group, box *b, int8_t *active)
{
    double low, high;
    l->floor[group] = NAN;
    set_limits(l, b);
    for (int32_t i = 0; i < b->n; i++) {
        l->lower[i] = l->x[i] + b->low[i];
        l->upper[i] = l->x[i] + b->high[i];
    }
    ct__spread_floors(l->c, group, l->lower, l->upper, &low, &high);
    for (int pass = 0; pass < PASSES && low < high; pass++) {
        l->floor[group] = 0.5 * (low + high);
        set_limits(l, b);
        minimise_box(b, active);
        if (floor_slope(l, group, b) < 0) low = l->floor[group];
        else high = l->floor[group];
    }
    l->floor[group] = high;
    set_limits(l, b);
    return minimise_box(b, active);
}

double ct__bounded_quadratic(const ct__coordinates *c, const double *H, const double *g, const double *x, double radius,
                             double *s, double *work)
{
    const int32_t n = c->n;
    box    b = {n, H, g, work, work + n, s, work + 2 * n, work + 5 * n, work + 3 * n};
    limits l = {.c = c, .x = x, .radius = radius, .lower = work + 5 * n + n * n, .upper = work + 6 * n + n * n};
    int8_t *active = (int8_t *)(work + 4 * n);
    for (int32_t i = 0; i < n; i++) s[i] = 0;
    for (int k = 0; k < CT__SPREADS_MAX; k++) l.floor[k] = NAN;
    set_limits(&l, &b);
    double value = minimise_box(&b, active);
    int32_t last = -1; /* the group whose floor is the best already */
    for (int round = 0, more = c->members > 0; more && round < ROUNDS; round++) {
        const double before = value;
        more = 0;
        for (int32_t group = 0; group < c->problem->spreads; group++) {
            const int is_new = isnan(l.floor[group]);
            if (group == last || (is_new && !exceeds(&l, group, &b))) continue;
            value = minimise_group(&l, group, &b, active);
            last = group;
            more |= is_new || fabs(value - before) > LITTLE * fabs(value);
        }
    }
    return CT_MAX(0, -value);
}
