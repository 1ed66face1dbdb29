/* feasible_set.c: the feasible set: projection, linear minimisation, range of the common scale, active bounds.
 *
 * spread.c finds the range that the spread permits; the rest is done per eigenvalue. The nearest matrix with
 * eigenvalues in an interval has the same eigenvectors. tr(G S) is least for an S with the eigenvectors of G (von
 * Neumann). */
#include "theta/theta.h"
#include "base/base.h"

#include <float.h>
#include <math.h>

/* A few roundings of a log variance, which is at most 345. */
#define LOG_ROUNDING 1e-12

void ct_theta_convert(const ct_theta *theta, ct_space from, const double *in, double *out)
{
    for (int32_t i = 0; i < theta->count; i++) out[i] = in[i];
    for (int32_t b = 0; b < theta->blocks; b++) {
        const ct__theta_block *block = &theta->block[b];
        if (from == CT_SPACE_LOG) ct__sym_exp(block->dim, out + block->first);
        else ct__sym_log(block->dim, out + block->first);
    }
}

/* ---- Projection and minimisation ------------------------------------------------------------- */

/* The permitted range of a block's eigenvalues. */
static void interval(const ct__theta_block *block, ct_space space, ct__window window, double *lower, double *upper)
{
    double from, to;
    ct__block_bounds(block, space, &from, &to);
    *lower = CT_MIN(CT_MAX(from, window.floor), to); /* a window may miss a bound by rounding: bounds take precedence */
    *upper = CT_MAX(CT_MIN(to, window.top), from);
}

int ct_theta_project(const ct_theta *theta, ct_space space, double *q)
{
    const ct__window window = ct__window_project(theta, space, q, 1);
    int              moved = 0;
    for (int32_t b = 0; b < theta->blocks; b++) {
        const ct__theta_block *block = &theta->block[b];
        const int        d = block->dim;
        double           lambda[CT_NOISE_DIM_MAX], V[CT__BLOCK_MAX], X[CT__BLOCK_MAX], lower, upper;
        interval(block, space, window, &lower, &upper);
        ct__sym_spectrum(d, q + block->first, lambda, V);
        /* a projected matrix must not move again, and its eigenvalues are known up to rounding */
        const double rounding = ct__block_rounding(d, CT_MAX(fabs(lambda[0]), fabs(lambda[d - 1])));
        if (lambda[0] >= lower - rounding && lambda[d - 1] <= upper + rounding) continue;
        for (int k = 0; k < d; k++) lambda[k] = CT_MIN(CT_MAX(lambda[k], lower), upper);
        ct__sym_recompose(d, lambda, V, X);
        ct__sym_pack(d, X, q + block->first);
        moved = 1;
    }
    return moved;
}

void ct_theta_minimise_linear(const ct_theta *theta, ct_space space, const double *g, double *s)
{
    const ct__window window = ct__window_minimise(theta, space, g);
    for (int32_t b = 0; b < theta->blocks; b++) {
        const ct__theta_block *block = &theta->block[b];
        double           gamma[CT_NOISE_DIM_MAX], V[CT__BLOCK_MAX], X[CT__BLOCK_MAX], lower, upper;
        interval(block, space, window, &lower, &upper);
        /* for a zero gradient: the same point in both spaces */
        const double middle = space == CT_SPACE_LOG ? 0.5 * lower + 0.5 * upper : sqrt(lower) * sqrt(upper);
        ct__sym_spectrum(block->dim, g + block->first, gamma, V);
        for (int k = 0; k < block->dim; k++) gamma[k] = gamma[k] > 0 ? lower : gamma[k] < 0 ? upper : middle;
        ct__sym_recompose(block->dim, gamma, V, X);
        ct__sym_pack(block->dim, X, s + block->first);
    }
}

/* ---- Spread and scale ------------------------------------------------------------------------ */

static void extremes(const ct__theta_block *block, const double *p, double *min, double *max)
{
    double lambda[CT_NOISE_DIM_MAX], V[CT__BLOCK_MAX];
    ct__sym_spectrum(block->dim, p + block->first, lambda, V);
    *min = lambda[0];
    *max = lambda[block->dim - 1];
}

/* Smallest and largest log eigenvalue. */
static ct__window hull(const ct_theta *theta, const double *p)
{
    ct__window all = {INFINITY, -INFINITY};
    for (int32_t b = 0; b < theta->blocks; b++) {
        double min, max;
        extremes(&theta->block[b], p, &min, &max);
        all.floor = CT_MIN(all.floor, min);
        all.top = CT_MAX(all.top, max);
    }
    return all;
}

/* exp(l), or the bound whose logarithm l is up to rounding, as ct_theta_apply writes it. */
static double variance_near(const ct__theta_block *block, double l)
{
    double lower, upper;
    ct__block_bounds(block, CT_SPACE_LOG, &lower, &upper);
    const double rounding = 4 * DBL_EPSILON * CT_MAX(1, fabs(l));
    return fabs(l - lower) <= rounding ? block->lower : fabs(l - upper) <= rounding ? block->upper : exp(l);
}

double ct_theta_spread(const ct_theta *theta, const double *p)
{
    double least = INFINITY, most = 0;
    for (int32_t b = 0; b < theta->blocks; b++) {
        double min, max;
        extremes(&theta->block[b], p, &min, &max);
        least = CT_MIN(least, variance_near(&theta->block[b], min));
        most = CT_MAX(most, variance_near(&theta->block[b], max));
    }
    return theta->blocks ? most / least : 1;
}

void ct_theta_scale_range(const ct_theta *theta, const double *p, double *low, double *high)
{
    *low = -INFINITY;
    *high = INFINITY;
    for (int32_t b = 0; b < theta->blocks; b++) {
        double lower, upper, min, max;
        ct__block_bounds(&theta->block[b], CT_SPACE_LOG, &lower, &upper);
        extremes(&theta->block[b], p, &min, &max);
        *low = CT_MAX(*low, lower - min);
        *high = CT_MIN(*high, upper - max);
    }
    const ct__window all = hull(theta, p);
    if (all.top - all.floor > log(theta->spread) + LOG_ROUNDING) { /* a common factor does not change the spread */
        *low = INFINITY;
        *high = -INFINITY;
    } else if (*low > *high && *low <= *high + LOG_ROUNDING) *low = *high = 0.5 * *low + 0.5 * *high;
}

/* ---- Active bounds --------------------------------------------------------------------------- */

static void rotate(const ct_theta *theta, const double *p, int back, double *v)
{
    for (int32_t b = 0; b < theta->blocks; b++) {
        const ct__theta_block *block = &theta->block[b];
        double           lambda[CT_NOISE_DIM_MAX], V[CT__BLOCK_MAX];
        if (block->dim == 1) continue;
        ct__sym_spectrum(block->dim, p + block->first, lambda, V);
        ct__sym_rotate(block->dim, V, back, v + block->first);
    }
}

void ct_theta_to_eigenbasis(const ct_theta *theta, const double *p, double *v) { rotate(theta, p, 0, v); }
void ct_theta_from_eigenbasis(const ct_theta *theta, const double *p, double *v) { rotate(theta, p, 1, v); }

void ct_theta_active(const ct_theta *theta, const double *p, int8_t *active)
{
    ct__window window = hull(theta, p);
    /* the spread is below its limit */
    if (window.top - window.floor < log(theta->spread) - LOG_ROUNDING) window = (ct__window){-INFINITY, INFINITY};
    for (int32_t i = 0; i < theta->count; i++) active[i] = 0;
    for (int32_t b = 0; b < theta->blocks; b++) {
        const ct__theta_block *block = &theta->block[b];
        const int        d = block->dim;
        double           lambda[CT_NOISE_DIM_MAX], V[CT__BLOCK_MAX], lower, upper;
        interval(block, CT_SPACE_LOG, window, &lower, &upper);
        ct__sym_spectrum(d, p + block->first, lambda, V);
        int8_t *diagonal = active + block->first; /* entries (k, k) of a triangle are d, d - 1, ... apart */
        for (int k = 0; k < d; diagonal += d - k, k++) {
            /* ct_theta_apply keeps an eigenvalue inside by the rounding of the largest. */
            const double near = LOG_ROUNDING + 2 * ct__block_rounding(d, exp(lambda[d - 1] - lambda[k]));
            *diagonal = lambda[k] <= lower + near ? -1 : lambda[k] >= upper - near ? 1 : 0;
        }
    }
}
