/* theta.h: parameter blocks.
 *
 * A block is a symmetric d x d matrix with d (d + 1) / 2 parameters: a full covariance, or, with d = 1, a variance.
 * Both are treated alike: a scalar is a 1 x 1 matrix and its own eigenvalue. Coordinates of models refer to blocks.
 * Tied coordinates refer to the same block. Blocks, bounds and windows are in units of the rows, U^-1 Sigma U^-1; only
 * values.c and jacobian.c, which convert between blocks and noise tables, multiply by units. */
#ifndef CT_THETA_PRIVATE_H
#define CT_THETA_PRIVATE_H

#include "base/symmetric.h"

#include <covtune/theta.h>

#define CT__BLOCK_MAX (CT_NOISE_DIM_MAX * CT_NOISE_DIM_MAX)
#define CT__PACKED_MAX CT__SYM_PACKED_MAX

typedef struct {
    int     dim;          /* of the matrix; 1 for a variance                              */
    double  lower, upper; /* bounds of the eigenvalues, as variances in units             */
    ct_bound_origin origin; /* of the bounds                                              */
    int32_t first;        /* index of its first parameter                                 */
    int32_t uses;         /* coordinates that refer to it                                 */
    int32_t model;        /* the model of the first such coordinate ...                   */
    int     coordinate;   /* ... and the coordinate; -1: the whole model                  */
} ct__theta_block;

/* block[c] is the block of coordinate c, -1: frozen. Isotropic and full models have one block, block[0]. */
typedef struct {
    int64_t       name, rows; /* into text; rows: dim names of 16 bytes, or -1 */
    int           dim;
    ct_noise_kind kind;       /* as which it is learned */
    int32_t       block[CT_NOISE_DIM_MAX];
    double        unit[CT_NOISE_DIM_MAX]; /* a sigma per row */
} ct__theta_model;

struct ct_theta {
    ct__theta_model *model;
    ct__theta_block       *block, *spare; /* `room` of each: a block per coordinate of the table, and one more model */
    int32_t         *map;           /* scratch for renumbering */
    char            *text;
    int64_t          text_size;
    int32_t          models, blocks, room, count;
    int32_t          end;    /* no model from this one on is learned */
    double           spread;
};

/* Entry (r, s) of a covariance in units is Sigma_rs / ct__unit2. */
static inline double ct__unit2(const ct__theta_model *m, int r, int s) { return m->unit[r] * m->unit[s]; }

/* 1 if all rows have the same unit. */
static inline int ct__one_unit(const ct__theta_model *m)
{
    for (int c = 1; c < m->dim; c++)
        if (m->unit[c] != m->unit[0]) return 0;
    return 1;
}

/* The block of parameter i. */
const ct__theta_block *ct__theta_find_block(const ct_theta *theta, int32_t i);

/* "odom.x", or "odom" for coordinate -1. Returns buf. */
const char *ct__theta_label(const ct_theta *theta, int32_t model, int coordinate, char *buf, size_t size);

/* ---- The set, reduced to eigenvalues (spread.c) ---------------------------------------------- */

/* The range floor <= lambda <= top that the spread permits for all eigenvalues, in the numbers of the space. */
typedef struct {
    double floor, top;
} ct__window;

void ct__block_bounds(const ct__theta_block *block, ct_space space, double *lower, double *upper);

/* The windows of the projection of q and of the minimum of g's. With `forgive`, a spread that is exceeded by the
 * rounding of eigenvalues only does not count as exceeded. */
ct__window ct__window_project(const ct_theta *theta, ct_space space, const double *q, int forgive);
ct__window ct__window_minimise(const ct_theta *theta, ct_space space, const double *g);

/* Rounding error of the eigenvalues of a matrix of this norm, as stored or computed; 0 for a scalar. */
double ct__block_rounding(int dim, double norm);

#endif
