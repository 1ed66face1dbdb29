/* spread.c: projection and linear minimisation under a limit on the spread.
 *
 * Both problems are invariant under rotations of each block, so they are problems in eigenvalues. Let l be the
 * eigenvalues of q, or gamma those of g. Wanted is x with lower_c <= x_c <= upper_c and, for one t common to all,
 *
 *     t <= x_c <= top(t),   top(t) = w t + k:   w = spread, k = 0 in variances;  w = 1, k = log spread in logarithms.
 *
 * For given t the x_c are independent. A convex function of t remains:
 *
 *   projection     F(t) = 1/2 sum (x_c - l_c)^2,  x_c = l_c clipped.
 *                  Quadratic between breakpoints, where an x_c starts or stops to move with t. F' is continuous. If the
 *                  minimum of a piece lies in the piece, it is the answer; else it gives the side to continue on.
 *   minimisation   F(t) = sum gamma_c x_c,  x_c = max(lower_c, t) if gamma_c > 0, min(upper_c, top(t)) if gamma_c < 0.
 *                  Linear between the breakpoints lower_c and top^-1(upper_c). The answer is the first breakpoint at
 *                  which the slope is not negative.
 *
 * The smallest t has top(t) >= every lower bound; the largest is the smallest upper bound. Definitions for which this
 * range is empty are refused.
 *
 * Breakpoints are bisected, not stored and sorted: each pass over the blocks finds the nearest on either side of a
 * trial. So nothing is allocated, one theta can be used by any number of threads, and the answer is a breakpoint or the
 * minimum of a piece, without an iteration tolerance. A pass decomposes each full block again, 4 us for dimension 6:
 * little beside the solve that every point costs. */
#include "theta/theta.h"
#include "base/base.h"

#include <float.h>
#include <math.h>

/* Bisection takes at most 64 steps, the bits of a double, and every second step bisects. Eight are typical. */
#define PASSES_MAX 200

typedef struct {
    const ct_theta *theta;
    ct_space        space;
    const double   *q;    /* the point, or the gradient         */
    double          w, k; /* top(t) = w t + k                   */
    double          low;  /* t must be in [low, high]           */
    double          high;
} search;

void ct__block_bounds(const ct__theta_block *block, ct_space space, double *lower, double *upper)
{
    *lower = space == CT_SPACE_LOG ? log(block->lower) : block->lower;
    *upper = space == CT_SPACE_LOG ? log(block->upper) : block->upper;
}

/* V diag V' sums d products of three, with V orthogonal to a few roundings; the error of eigen.c is as large again. */
double ct__block_rounding(int dim, double norm) { return dim == 1 ? 0 : 8 * dim * DBL_EPSILON * norm; }

static double top(const search *s, double t) { return s->w * t + s->k; }
static double bottom(const search *s, double x) { return (x - s->k) / s->w; }

/* For every block, top(t) >= its lower bound and t <= its upper bound. A t below all lower bounds has no effect, and
 * underflows with a spread of 1e300. */
static search begin(const ct_theta *theta, ct_space space, const double *q)
{
    const int logs = space == CT_SPACE_LOG;
    search    s = {theta, space, q, logs ? 1 : theta->spread, logs ? log(theta->spread) : 0, -INFINITY, INFINITY};
    double    least = INFINITY;
    for (int32_t b = 0; b < theta->blocks; b++) {
        double lower, upper;
        ct__block_bounds(&theta->block[b], space, &lower, &upper);
        least = CT_MIN(least, lower);
        s.low = CT_MAX(s.low, bottom(&s, lower));
        s.high = CT_MIN(s.high, upper);
    }
    s.low = CT_MAX(s.low, least); /* may exceed high by rounding; users of a window give bounds precedence */
    return s;
}

static double middle(const search *s, double a, double b)
{
    return s->space == CT_SPACE_VARIANCE && a > 0 ? sqrt(a) * sqrt(b) : 0.5 * a + 0.5 * b;
}

/* ---- Projection ------------------------------------------------------------------------------ */

/* The piece of F around t: its minimum, and the breakpoints at its ends. */
typedef struct {
    double below, above; /* sums of l over those at the floor, of l - k over those at the top */
    double n_below, n_above;
    double left, right;
} piece;

static void put_break(piece *p, double t, double at)
{
    if (at <= t) p->left = CT_MAX(p->left, at);
    else p->right = CT_MIN(p->right, at);
}

static void add_value(piece *p, const search *s, double t, double l, double lower, double upper)
{
    if (l < t && lower < t) p->below += l, p->n_below++;
    if (l > top(s, t) && upper > top(s, t)) p->above += l - s->k, p->n_above++;
    put_break(p, t, CT_MAX(l, lower));            /* from here on it moves with the floor */
    put_break(p, t, bottom(s, CT_MIN(l, upper))); /* up to here it moves with the top     */
}

/* F'(t) = sum_below (t - l) + w sum_above (w t + k - l), divided by w to avoid overflow of w^2. */
static double piece_minimum(const search *s, double t, double *left, double *right)
{
    piece p = {.left = -INFINITY, .right = INFINITY};
    for (int32_t b = 0; b < s->theta->blocks; b++) {
        const ct__theta_block *block = &s->theta->block[b];
        double           lambda[CT_NOISE_DIM_MAX], V[CT__BLOCK_MAX], lower, upper;
        ct__block_bounds(block, s->space, &lower, &upper);
        ct__sym_spectrum(block->dim, s->q + block->first, lambda, V);
        for (int c = 0; c < block->dim; c++) add_value(&p, s, t, lambda[c], lower, upper);
    }
    *left = p.left;
    *right = p.right;
    const double n = p.n_below / s->w + s->w * p.n_above;
    return n > 0 ? (p.below / s->w + p.above) / n : t;
}

/* Trials alternate between the minimum of the last piece and the midpoint. Each removes at least one piece from
 * [low, high], by the sign of F'. */
static double best_floor(const search *s, double low, double high)
{
    double t = middle(s, low, high);
    for (int pass = 0; low < high && pass < PASSES_MAX; pass++) {
        double       left, right;
        const double best = piece_minimum(s, t, &left, &right);
        if (best >= left && best <= right) return CT_MIN(CT_MAX(best, low), high);
        if (best > right) low = CT_MIN(CT_MAX(low, right), high);
        else high = CT_MAX(CT_MIN(high, left), low);
        t = pass % 2 == 0 && best > low && best < high ? best : middle(s, low, high);
    }
    return low;
}

ct__window ct__window_project(const ct_theta *theta, ct_space space, const double *q, int forgive)
{
    if (isinf(theta->spread) || !theta->blocks) return (ct__window){-INFINITY, INFINITY};
    const search s = begin(theta, space, q);
    double       min = INFINITY, max = -INFINITY, rounding = 0; /* of the eigenvalues within their own bounds */
    for (int32_t b = 0; b < theta->blocks; b++) {
        const ct__theta_block *block = &theta->block[b];
        double           lambda[CT_NOISE_DIM_MAX], V[CT__BLOCK_MAX], lower, upper;
        ct__block_bounds(block, space, &lower, &upper);
        ct__sym_spectrum(block->dim, q + block->first, lambda, V);
        min = CT_MIN(min, CT_MIN(CT_MAX(lambda[0], lower), upper));
        max = CT_MAX(max, CT_MIN(CT_MAX(lambda[block->dim - 1], lower), upper));
        rounding =
            CT_MAX(rounding, ct__block_rounding(block->dim, CT_MAX(fabs(lambda[0]), fabs(lambda[block->dim - 1]))));
    }
    if (max <= top(&s, min)) return (ct__window){min, top(&s, min)};
    if (forgive && max <= top(&s, min + rounding) + rounding) return (ct__window){min, max};
    /* at t = min no floor is above an eigenvalue, at top(t) = max no top is below one: F falls before and grows
     * after */
    const double low = CT_MAX(min, s.low), high = CT_MIN(bottom(&s, max), s.high),
                 t = best_floor(&s, low, CT_MAX(low, high));
    return (ct__window){t, top(&s, t)};
}

/* ---- Minimisation ---------------------------------------------------------------------------- */

/* The slope of F right of t, divided by w, and the breakpoints nearest to `around` that lie strictly between low and
 * high. */
static double slope_after(const search *s, double t, double around, double *low, double *high)
{
    double       up = 0, down = 0, before = -INFINITY, after = INFINITY;
    const double from = *low, to = *high;
    for (int32_t b = 0; b < s->theta->blocks; b++) {
        const ct__theta_block *block = &s->theta->block[b];
        double           gamma[CT_NOISE_DIM_MAX], V[CT__BLOCK_MAX], lower, upper;
        ct__block_bounds(block, s->space, &lower, &upper);
        ct__sym_spectrum(block->dim, s->q + block->first, gamma, V);
        for (int c = 0; c < block->dim; c++) {
            const double at = gamma[c] > 0 ? lower : bottom(s, upper);
            if (gamma[c] == 0) continue;
            if (gamma[c] > 0 && at <= t) up += gamma[c];
            if (gamma[c] < 0 && at > t) down += gamma[c];
            if (at > from && at < to && at < around) before = CT_MAX(before, at);
            if (at > from && at < to && at >= around) after = CT_MIN(after, at);
        }
    }
    *low = before;
    *high = after;
    return up / s->w + down;
}

ct__window ct__window_minimise(const ct_theta *theta, ct_space space, const double *g)
{
    if (isinf(theta->spread) || !theta->blocks) return (ct__window){-INFINITY, INFINITY};
    const search s = begin(theta, space, g);
    double       low = s.low, high = s.high, before = low, after = high;
    if (slope_after(&s, low, low, &before, &after) >= 0) return (ct__window){low, top(&s, low)};
    /* F falls after low; it does not fall after high, or high is the limit */
    for (int pass = 0; pass < PASSES_MAX; pass++) {
        before = low, after = high;
        slope_after(&s, low, middle(&s, low, high), &before, &after);
        const double trial = after < high ? after : before;
        if (!(trial > low)) break;
        before = low, after = high;
        if (slope_after(&s, trial, trial, &before, &after) >= 0) high = trial;
        else low = trial;
    }
    return (ct__window){high, top(&s, high)};
}
