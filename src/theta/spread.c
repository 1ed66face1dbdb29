/* spread.c: what a bound on the spread means for projecting on the set and for minimising over it.
 *
 * Both problems are invariant under rotations of each block, so they are problems in eigenvalues: with l the
 * eigenvalues of q, or gamma those of g, they ask for x with lower_c <= x_c <= upper_c and, for some t, the same for
 * all,
 *
 *     t <= x_c <= top(t),   top(t) = w t + k:   w = spread, k = 0 in variances;  w = 1, k = log spread in logarithms.
 *
 * For given t every x_c has its best value by itself, and what is left is a convex function of t alone:
 *
 *   projection     F(t) = 1/2 sum (x_c - l_c)^2,  x_c = l_c clipped.  Quadratic between breakpoints, where an x_c
 *                                                                     begins to move with t or ceases
 *                  to. F' is continuous. A piece's own minimum, if it lies in the piece, is the answer; if not, it
 *                  says on which side to go on.
 *   minimisation   F(t) = sum gamma_c x_c,  x_c = max(lower_c, t) where gamma_c > 0, min(upper_c, top(t)) where
 *                                           gamma_c < 0. Linear between
 *                  breakpoints lower_c and top^-1(upper_c); the answer is the first at which the slope is not negative.
 *
 * t may be as low as top(t) >= every lower bound asks, and as high as the smallest upper bound; sayings that leave
 * nothing between were refused.
 *
 * The breakpoints are not stored and sorted but halved: each pass over the blocks finds the nearest on either side
 * of a trial. So nothing is allocated, any number of threads may use one theta, and the answer is a breakpoint or a
 * piece's minimum, not the end of an iteration. A pass decomposes each full block anew, 4 us for one of dimension 6:
 * nothing beside the solve that every point costs. */
#include "theta/theta.h"
#include "base/base.h"

#include <float.h>
#include <math.h>

/* Halving takes 64 steps at most, since no more bits decide between doubles, and every second step halves. Eight are
 * what is seen. */
#define PASSES_MAX 200

typedef struct {
    const ct_theta *theta;
    ct_space        space;
    const double   *q;    /* the point, or the gradient         */
    double          w, k; /* top(t) = w t + k                   */
    double          low;  /* t must be in [low, high]           */
    double          high;
} search;

void ct__block_bounds(const ct__block *block, ct_space space, double *lower, double *upper)
{
    *lower = space == CT_SPACE_LOG ? log(block->lower) : block->lower;
    *upper = space == CT_SPACE_LOG ? log(block->upper) : block->upper;
}

/* V diag V' is d products of three a sum, V orthogonal to a few roundings; what eigen.c then finds is off by as much
 * again. */
double ct__block_rounding(int dim, double norm) { return dim == 1 ? 0 : 8 * dim * DBL_EPSILON * norm; }

static double top(const search *s, double t) { return s->w * t + s->k; }
static double bottom(const search *s, double x) { return (x - s->k) / s->w; }

/* t must leave room for every block: top(t) >= its lower bound, t <= its upper one. Below all lower bounds it is of
 * no use, and with a spread of 1e300 no number. */
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
    s.low = CT_MAX(s.low, least); /* which may exceed high by rounding; whoever uses a window puts bounds first */
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
    put_break(p, t, CT_MAX(l, lower));            /* the floor takes it along from here on */
    put_break(p, t, bottom(s, CT_MIN(l, upper))); /* the top does up to here               */
}

/* F'(t) = sum_below (t - l) + w sum_above (w t + k - l), divided by w lest w^2 be too large. */
static double piece_minimum(const search *s, double t, double *left, double *right)
{
    piece p = {.left = -INFINITY, .right = INFINITY};
    for (int32_t b = 0; b < s->theta->blocks; b++) {
        const ct__block *block = &s->theta->block[b];
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

/* Trials are the last piece's minimum and the middle by turns. Each narrows [low, high] by a piece at least, as F'
 * has a sign there. */
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
        const ct__block *block = &theta->block[b];
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
    /* At t = min no floor is above an eigenvalue, at top(t) = max no top below one: F falls before, and grows after. */
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
        const ct__block *block = &s->theta->block[b];
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
    /* F falls after low; it does not after high, or may not go further */
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
