/* values.c: conversion between a noise table and parameters.
 *
 * ct_theta_apply writes values that are feasible to the bit. Variances are clipped after the exponential, by their
 * bounds and to the range T .. spread * T. T is chosen such that every block has a non-empty range after rounding.
 *
 * A full covariance is stored as rounded entries, which moves its eigenvalues by about eps |Sigma|. That is negligible
 * for the largest eigenvalue and can be large for the smallest. So eigenvalues keep that margin from their bounds, and
 * an eigendecomposition of the stored matrix finds them inside. The margin also keeps the matrix positive definite. A
 * diagonal matrix is stored exactly and needs no margin.
 *
 * The table holds U Sigma U. Multiplication by u^2 and division cost one or two roundings: ct_theta_is_feasible
 * tolerates these, and the margin of full matrices is doubled. */
#include "theta/check_noise.h"
#include "theta/theta.h"
#include "base/base.h"
#include "base/eigen.h"
#include "noise/noise.h"

#include <float.h>
#include <math.h>

/* Relative error of a variance: half a bit for the product with u^2 and for the quotient, at both ends of a spread. */
#define UNIT_ROUNDING (4 * DBL_EPSILON)

static double clip(double x, double lower, double upper) { return CT_MIN(CT_MAX(x, lower), upper); }

/* Entry (i, j) of a model's covariance. */
static double entry(const ct_noise_model *m, int i, int j)
{
    if (m->kind == CT_NOISE_FULL) return m->covariance[i * m->dim + j];
    return i == j ? m->covariance[i] : 0;
}

int ct__theta_matches(const ct_theta *theta, const ct_noise *noise)
{
    if (ct_noise_count(noise) < theta->models) return 0;
    for (int32_t i = 0; i < theta->models; i++)
        if (ct_noise_get(noise, i)->dim != theta->model[i].dim) return 0;
    return 1;
}

ct_status ct__theta_check_noise(const ct_theta *theta, const ct_noise *noise, ct_err *err)
{
    if (ct__theta_matches(theta, noise)) return CT_OK;
    return ct_fail(
        err, CT_E_ARGUMENT,
        "the parameters are those of another noise table: %d models, and here are %d, or some have another dimension",
        theta->models, ct_noise_count(noise));
}

/* The same in units. */
static double entry_in_units(const ct__theta_model *mine, const ct_noise_model *m, int i, int j)
{
    return entry(m, i, j) / ct__unit2(mine, i, j);
}

static int has_units(const ct__theta_model *mine)
{
    for (int c = 0; c < mine->dim; c++)
        if (mine->unit[c] != 1) return 1;
    return 0;
}

/* ---- Table to parameters --------------------------------------------------------------------- */

/* x <- the table's value of the block of coordinate c, in log space. */
static void read_block(const ct__theta_model *mine, const ct_noise_model *m, int c, double *x)
{
    if (mine->kind == CT_NOISE_DIAGONAL) x[0] = log(entry_in_units(mine, m, c, c));
    else if (mine->kind == CT_NOISE_ISOTROPIC) {
        x[0] = 0;
        for (int i = 0; i < m->dim; i++) x[0] += log(entry_in_units(mine, m, i, i)) / m->dim;
    } else {
        double S[CT__BLOCK_MAX];
        for (int i = 0; i < m->dim; i++)
            for (int j = 0; j < m->dim; j++) S[i * m->dim + j] = entry_in_units(mine, m, i, j);
        ct__sym_pack(m->dim, S, x);
        ct__sym_log(m->dim, x);
    }
}

void ct_theta_get(const ct_theta *theta, const ct_noise *noise, double *p)
{
    const int same = ct__theta_matches(theta, noise);
    for (int32_t i = 0; i < theta->count; i++) p[i] = same ? 0 : NAN;
    if (!same) return;
    for (int32_t i = 0; i < theta->models; i++)
        for (int c = 0; c < theta->model[i].dim; c++) {
            double x[CT__PACKED_MAX];
            if (theta->model[i].block[c] < 0) continue;
            const ct__theta_block *block = &theta->block[theta->model[i].block[c]];
            read_block(&theta->model[i], ct_noise_get(noise, i), c, x);
            for (int k = 0; k < ct__packed(block->dim); k++) p[block->first + k] += x[k] / block->uses;
        }
}

/* ---- Parameters to table --------------------------------------------------------------------- */

/* The variances floor .. spread * floor, as rounded, that the spread permits. Every block has a non-empty range there:
 * floor <= its upper bound, and its lower bound <= spread * floor. */
static ct__window variance_window(const ct_theta *theta, const double *p)
{
    if (isinf(theta->spread) || !theta->blocks) return (ct__window){0, INFINITY};
    double largest_lower = 0, smallest_upper = INFINITY;
    for (int32_t b = 0; b < theta->blocks; b++) {
        largest_lower = CT_MAX(largest_lower, theta->block[b].lower);
        smallest_upper = CT_MIN(smallest_upper, theta->block[b].upper);
    }
    double floor = CT_MIN(exp(ct__window_project(theta, CT_SPACE_LOG, p, 0).floor), smallest_upper);
    if (theta->spread * floor < largest_lower) floor = CT_MIN(largest_lower / theta->spread, smallest_upper);
    /* ends at smallest_upper at the latest */
    while (theta->spread * floor < largest_lower) floor = nextafter(floor, INFINITY);
    return (ct__window){floor, theta->spread * floor};
}

static int is_diagonal(int dim, const double *x)
{
    for (int i = 0; i < dim; i++)
        for (int j = i; j < dim; j++, x++)
            if (i != j && *x != 0) return 0;
    return 1;
}

/* S <- exp of block b at p, in units, its eigenvalues in the set; as they are if the window is NULL. */
static void write_block(const ct__theta_block *block, const double *p, const ct__window *window, int units, double *S)
{
    const int d = block->dim;
    double    lambda[CT_NOISE_DIM_MAX], V[CT__BLOCK_MAX];
    ct__sym_spectrum(d, p + block->first, lambda, V);
    if (!window) {
        for (int k = 0; k < d; k++) lambda[k] = exp(lambda[k]);
        ct__sym_recompose(d, lambda, V, S);
        return;
    }
    const double lower = CT_MAX(block->lower, window->floor), upper = CT_MIN(block->upper, window->top);
    for (int k = 0; k < d; k++) lambda[k] = clip(exp(lambda[k]), lower, upper);
    if (!is_diagonal(d, p + block->first)) {
        const double margin = (units ? 2 : 1) * ct__block_rounding(d, lambda[d - 1]);
        if (lower + margin <= upper - margin)
            for (int k = 0; k < d; k++) lambda[k] = clip(lambda[k], lower + margin, upper - margin);
        else { /* the range is smaller than rounding: a multiple of the identity has no rounding */
            for (int k = 0; k < d; k++) lambda[k] = lower + 0.5 * (upper - lower);
            for (int i = 0; i < d * d; i++) V[i] = i % (d + 1) == 0;
        }
    }
    ct__sym_recompose(d, lambda, V, S);
}

static ct_status write_model(const ct_theta *theta, int32_t i, const double *p, const ct__window *window,
                             ct_noise *noise, ct_err *err)
{
    const ct__theta_model *mine = &theta->model[i];
    const ct_noise_model  *m = ct_noise_get(noise, i);
    ct__noise_numbers      numbers;
    double                 S[CT__BLOCK_MAX], variance[CT_NOISE_DIM_MAX];
    if (mine->kind == CT_NOISE_FULL) {
        write_block(&theta->block[mine->block[0]], p, window, has_units(mine), S);
        for (int k = 0; k < m->dim * m->dim; k++) S[k] *= ct__unit2(mine, k / m->dim, k % m->dim);
        CT_TRY(ct__noise_full(m->name, m->dim, S, &numbers, err));
    } else {
        for (int c = 0; c < m->dim; c++) {
            const int32_t block = mine->block[mine->kind == CT_NOISE_ISOTROPIC ? 0 : c];
            variance[c] = entry(m, c, c);
            if (block < 0) continue;
            write_block(&theta->block[block], p, window, 0, &variance[c]);
            variance[c] *= ct__unit2(mine, c, c);
        }
        if (mine->kind == CT_NOISE_ISOTROPIC && ct__one_unit(mine))
            CT_TRY(ct__noise_isotropic(m->name, m->dim, variance[0], &numbers, err));
        else CT_TRY(ct__noise_diagonal(m->name, m->dim, variance, &numbers, err));
    }
    ct__noise_put(noise, i, &numbers);
    return CT_OK;
}

static ct_status check_finite(const ct_theta *theta, const double *p, ct_err *err)
{
    for (int32_t i = 0; i < theta->count; i++)
        if (!isfinite(p[i])) {
            char name[300];
            return ct_fail(err, CT_E_ARGUMENT, "%s: parameter %d is %g; it must be finite",
                           ct_theta_name(theta, i, name, sizeof name), i, p[i]);
        }
    return CT_OK;
}

static ct_status write_table(const ct_theta *theta, const double *p, const ct__window *window, ct_noise *noise,
                             ct_err *err)
{
    for (int32_t i = 0; i < theta->models; i++)
        if (ct_theta_learns(theta, i)) CT_TRY(write_model(theta, i, p, window, noise, err));
    return CT_OK;
}

ct_status ct_theta_apply(const ct_theta *theta, const double *p, ct_noise *noise, ct_err *err)
{
    CT_TRY(ct__theta_check_noise(theta, noise, err));
    CT_TRY(check_finite(theta, p, err));
    const ct__window window = variance_window(theta, p);
    return write_table(theta, p, &window, noise, err);
}

ct_status ct_theta_apply_unprojected(const ct_theta *theta, const double *p, ct_noise *noise, ct_err *err)
{
    CT_TRY(ct__theta_check_noise(theta, noise, err));
    CT_TRY(check_finite(theta, p, err));
    return write_table(theta, p, NULL, noise, err);
}

/* ---- Feasibility ----------------------------------------------------------------------------- */

/* 1 if coordinate c of this model equals that of the block's first user, to the bit. */
static int equals_first_use(const ct_theta *theta, const ct_noise *noise, int32_t i, int c)
{
    const ct__theta_model *mine = &theta->model[i];
    const ct__theta_block       *block = &theta->block[mine->block[c]];
    const ct_noise_model  *m = ct_noise_get(noise, i), *first = ct_noise_get(noise, block->model);
    if (mine->kind == CT_NOISE_DIAGONAL) return entry(m, c, c) == entry(first, block->coordinate, block->coordinate);
    if (mine->kind == CT_NOISE_ISOTROPIC) return entry(m, 0, 0) == entry(first, 0, 0);
    for (int r = 0; r < m->dim; r++)
        for (int s = 0; s < m->dim; s++)
            if (entry(m, r, s) != entry(first, r, s)) return 0;
    return 1;
}

/* 1 if a diagonal or isotropic model has no correlations, and an isotropic one a single variance in units. */
static int has_form(const ct__theta_model *mine, const ct_noise_model *m)
{
    const double slack = ct__one_unit(mine) ? 0 : UNIT_ROUNDING, first = entry_in_units(mine, m, 0, 0);
    for (int r = 0; mine->kind != CT_NOISE_FULL && r < m->dim; r++) {
        if (mine->kind == CT_NOISE_ISOTROPIC && !(fabs(entry_in_units(mine, m, r, r) - first) <= slack * first))
            return 0;
        for (int s = 0; s < m->dim; s++)
            if (r != s && entry(m, r, s) != 0) return 0;
    }
    return 1;
}

/* Smallest and largest eigenvalue that the table has for a block, in units. */
static void extremes(const ct_theta *theta, const ct_noise *noise, const ct__theta_block *block, double *min,
                     double *max)
{
    const ct__theta_model *mine = &theta->model[block->model];
    const ct_noise_model  *m = ct_noise_get(noise, block->model);
    const int              at = CT_MAX(block->coordinate, 0), d = block->dim;
    double                 S[CT__BLOCK_MAX], lambda[CT_NOISE_DIM_MAX], V[CT__BLOCK_MAX];
    for (int r = 0; r < d; r++)
        for (int s = 0; s < d; s++) S[r * d + s] = entry_in_units(mine, m, at + r, at + s);
    ct__eigen_symmetric(d, S, lambda, V);
    *min = lambda[0];
    *max = lambda[d - 1];
}

int ct_theta_is_feasible(const ct_theta *theta, const ct_noise *noise)
{
    double least = INFINITY, most = 0, slack = 0;
    if (!ct__theta_matches(theta, noise)) return 0;
    for (int32_t i = 0; i < theta->models; i++) {
        if (ct_theta_learns(theta, i) && !has_form(&theta->model[i], ct_noise_get(noise, i))) return 0;
        for (int c = 0; c < theta->model[i].dim; c++)
            if (theta->model[i].block[c] >= 0 && !equals_first_use(theta, noise, i, c)) return 0;
    }
    for (int32_t b = 0; b < theta->blocks; b++) {
        const double off = has_units(&theta->model[theta->block[b].model]) ? UNIT_ROUNDING : 0;
        double       min, max;
        extremes(theta, noise, &theta->block[b], &min, &max);
        if (min < theta->block[b].lower * (1 - off) || max > theta->block[b].upper * (1 + off)) return 0;
        slack = CT_MAX(slack, off);
        least = CT_MIN(least, min);
        most = CT_MAX(most, max);
    }
    return !theta->blocks || isinf(theta->spread) || most <= theta->spread * least * (1 + slack);
}
