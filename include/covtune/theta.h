/* covtune/theta.h: the parameters that are learned, and the set they may not leave.
 *
 * A ct_theta says which numbers of a noise table are parameters: models as isotropic, diagonal or full
 * covariances, whole or coordinate by coordinate, some tied together; what is not mentioned is frozen.
 * It is a description; values are plain vectors of ct_theta_count() doubles, in one of two spaces:
 *
 *   CT_SPACE_LOG       log variance; of a full covariance the matrix logarithm, log Sigma
 *   CT_SPACE_VARIANCE  variance; of a full covariance Sigma itself
 *
 * A symmetric matrix X of dimension d is d (d + 1) / 2 coordinates, its upper triangle row by row, entries off the
 * diagonal times sqrt 2: so the vector's Euclidean norm is the matrix' Frobenius norm.
 *
 * Rows have units, a sigma u that counts as one (1 unless said: the table's own, metres and radians). Whatever is
 * said of variances here, in both spaces, by bounds and by the spread, is said of Sigma in units, U^-1 Sigma U^-1
 * with U = diag(u); a noise table and the derivatives of its covariances have Sigma itself. So one box means the
 * same for rows of different scales. Units of 1 change nothing, to the bit.
 *
 * The set, the same in both spaces, and convex in both: lower <= lambda <= upper for every variance or eigenvalue
 * lambda, and, if a spread is set, max lambda <= spread * min lambda over all that is learned. Minimising a linear
 * function over it and projecting on it have closed forms: by an eigen-decomposition of each full block to scalars,
 * of scalars to a search over the breakpoints of one piecewise function.
 */
#ifndef COVTUNE_THETA_H
#define COVTUNE_THETA_H

#include <covtune/base.h>
#include <covtune/noise.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ct_theta ct_theta;

typedef enum { CT_SPACE_LOG, CT_SPACE_VARIANCE } ct_space;

/* Bounds on variances, in units: hardly any, for numbers in metres and radians; and the paper's two. */
#define CT_BOUND_WIDE_LOWER  1e-10
#define CT_BOUND_WIDE_UPPER  1e6
#define CT_BOUND_LOOSE_LOWER 1e-3
#define CT_BOUND_LOOSE_UPPER 1e3
#define CT_BOUND_TIGHT_LOWER 0.1
#define CT_BOUND_TIGHT_UPPER 10.0

/* ---- What is learned ------------------------------------------------------------------------- */

/* Nothing is, at first. Names, dimensions and names of rows are those of the table at this moment (copied). Room for
 * all that could be learned of it is made here: the sayings below can be refused (CT_E_ARGUMENT, and all is as it
 * was), but need no memory. Each costs time in proportion to the table. */
ct_status ct_theta_new(const ct_noise *noise, ct_theta **out, ct_err *err);
ct_status ct_theta_copy(const ct_theta *theta, ct_theta **out, ct_err *err);
void      ct_theta_free(ct_theta *theta);

/* Learn a model, as this kind, its variances (full: eigenvalues) between lower and upper. Said again, it replaces
 * what was said, ties included. CT_E_ARGUMENT with a sentence unless 1e-150 <= lower <= upper <= 1e150, in units and
 * in the table's numbers, or if the spread cannot be met within the bounds of all. */
ct_status ct_theta_learn(ct_theta *theta, int32_t model, ct_noise_kind kind, double lower, double upper, ct_err *err);
/* The unit of a row (coordinate -1: of all rows) of a model, learned or not yet: a sigma, in the table's numbers.
 * Bounds and spread stay the numbers that they are, and from now on are of this unit. CT_E_ARGUMENT unless 1e-50 <=
 * unit <= 1e50, if bounds times unit^2 leave 1e-150 .. 1e150, or if something is tied to the row that would have
 * another unit. */
ct_status ct_theta_set_unit(ct_theta *theta, int32_t model, int coordinate, double unit, ct_err *err);
/* Other bounds for one coordinate of a model that is learned as diagonal, and for all that is tied to it. */
ct_status ct_theta_bound(ct_theta *theta, int32_t model, int coordinate, double lower, double upper, ct_err *err);
/* Do not learn this coordinate of a model that is learned as diagonal; coordinate -1: nothing of the model. What was
 * tied to it stays learned. */
ct_status ct_theta_freeze(ct_theta *theta, int32_t model, int coordinate, ct_err *err);
/* One parameter for two coordinates (of models learned as diagonal), or for two whole models (coordinates -1) that
 * are learned as the same kind and have the same dimension (isotropic ones may differ in it) and the same
 * coordinates frozen. Bounds are intersected; CT_E_ARGUMENT if nothing is left, or if units differ. */
ct_status ct_theta_tie(ct_theta *theta, int32_t a, int coordinate_a, int32_t b, int coordinate_b, ct_err *err);
/* max <= spread * min over everything learned; spread >= 1, INFINITY for none. CT_E_ARGUMENT, naming two
 * coordinates, if bounds keep them further apart. */
ct_status ct_theta_set_spread(ct_theta *theta, double spread, ct_err *err);

/* ---- Parameters ------------------------------------------------------------------------------ */

/* Numbered by models and coordinates, in the order of the table: what is learned decides, not the order in which it
 * was said. A tied one has the place of its first use. Functions below that take a const ct_theta allocate nothing
 * and may be called from several threads. */
int32_t ct_theta_count(const ct_theta *theta);
int32_t ct_theta_models(const ct_theta *theta);                     /* of the table it was made for */
int     ct_theta_learns(const ct_theta *theta, int32_t model);      /* something of it              */
double  ct_theta_spread_limit(const ct_theta *theta);

/* Parameter i, for people: "odom@0.x", of a full model "gps[x,y]", "odom" of an isotropic one; tied ones
 * "odom.x=gps.x". Coordinates are numbered from 0 where the table does not name them: "odom.0", "gps[0,1]". A name
 * that does not fit ends in "...". Returns buf. */
const char *ct_theta_name(const ct_theta *theta, int32_t i, char *buf, size_t size);
/* 1 for a parameter that scales a variance: a scalar, or a diagonal entry of a full block. */
int ct_theta_is_scale(const ct_theta *theta, int32_t i);
/* Bounds of the variance or eigenvalues that parameter i belongs to, in units. */
void ct_theta_bounds(const ct_theta *theta, int32_t i, double *lower, double *upper);
/* The unit of a row, 1 unless said; whether anything that is learned has one other than 1; and what turns variance
 * space into the table's numbers: Sigma_rc is coordinate i there (off the diagonal over sqrt 2) times u_r u_c, which
 * is this. Of an isotropic model it is that of the first row. */
double ct_theta_unit(const ct_theta *theta, int32_t model, int coordinate);
int    ct_theta_has_units(const ct_theta *theta);
double ct_theta_unit_squared(const ct_theta *theta, int32_t i);
/* The parameter of a coordinate of a model learned as diagonal or isotropic, -1: none. */
int32_t ct_theta_find(const ct_theta *theta, int32_t model, int coordinate);

/* p <- the table's values, in log space; tied ones their mean. They need not lie in the set. A full model that is
 * learned as diagonal gives its diagonal; a diagonal one learned as full has log Sigma diagonal; any one learned as
 * isotropic the mean of its log variances. All of it in units. */
void ct_theta_get(const ct_theta *theta, const ct_noise *noise,
                  double *p); /* NaN: of a table that theta was not made for */
/* The table's models <- p (log space), projected where p lies outside the set: what the table then holds lies in it
 * to the bit. Eigenvalues of full matrices, known to the rounding of the largest, are kept so far inside their
 * bounds (8 dim DBL_EPSILON times that) that a decomposition finds them inside. A model that is learned becomes of
 * the kind it is learned as; an isotropic one whose rows have different units, Sigma = v U^2, is diagonal in the
 * table. Coordinates that are frozen keep their values. CT_E_ARGUMENT if p is not finite, and nothing is changed. */
ct_status ct_theta_apply(const ct_theta *theta, const double *p, ct_noise *noise, ct_err *err);
/* The same without the set: p as it is, for derivatives at the edge. Variances of the table outside 1e-150 .. 1e150
 * are CT_E_NOISE; models before the one refused are changed. */
ct_status ct_theta_apply_unprojected(const ct_theta *theta, const double *p, ct_noise *noise, ct_err *err);

/* From one space to the other; out may be in. To log: variances and eigenvalues must be positive. To variance: p
 * beyond the set may overflow. */
void ct_theta_convert(const ct_theta *theta, ct_space from, const double *in, double *out);

/* Largest over smallest variance or eigenvalue of what is learned, in units, at p (log space); 1 if nothing is. */
double ct_theta_spread(const ct_theta *theta, const double *p);
/* Common factors exp(s), low <= s <= high, that bring all that is learned into the set, or leave it there; low >
 * high: none does. */
void ct_theta_scale_range(const ct_theta *theta, const double *p, double *low, double *high);

/* ---- Derivatives ----------------------------------------------------------------------------- */

/* The derivative of every model's covariance, the table's, by every parameter at a point of log space, ready for
 * use: d Sigma_model / d p_i is the sum of dSigma[t], dim x dim, over the terms t in first[model] .. first[model +
 * 1] - 1 with parameter[t] = i. There is one such term, or none, unless coordinates of one model are tied to each
 * other. */
typedef struct {
    int32_t        models, terms;
    const int32_t *first;     /* models + 1 */
    const int32_t *parameter; /* per term   */
    const double (*dSigma)[CT_NOISE_DIM_MAX * CT_NOISE_DIM_MAX];
    /* A term of a diagonal model touches one coordinate, of which this is the number; -1: a matrix; -2: a multiple
     * of U^2, of the identity where units are 1 (isotropic). */
    const int *coordinate;
} ct_theta_jacobian;

/* Memory for the terms of theta as it is now; ct_theta_jacobian_at fills it for p, without allocating. Free with
 * free(). */
ct_status ct_theta_jacobian_new(const ct_theta *theta, ct_theta_jacobian **out, ct_err *err);
void      ct_theta_jacobian_at(const ct_theta *theta, const double *p,
                         ct_theta_jacobian *slopes); /* NaN where they were made for another */

/* A gradient by p (log space) as one by the coordinates of the other space at p, and back: the chain rule. `to` is
 * the space of the result; out may be in. */
void ct_theta_convert_gradient(const ct_theta *theta, const double *p, ct_space to, const double *in, double *out);

/* ---- The set --------------------------------------------------------------------------------- */

/* q (finite) <- the nearest point of the set, in the space's own norm; 1 if q was moved. A point that was projected
 * does not move again. */
int ct_theta_project(const ct_theta *theta, ct_space space, double *q);
/* s <- argmin over the set of g's, in that space: the vertex that Frank-Wolfe steps towards; s may be g. What g does
 * not feel (zero, or a zero eigenvalue) is put in the geometric middle of what is left to it. */
void ct_theta_minimise_linear(const ct_theta *theta, ct_space space, const double *g, double *s);
/* Is the table inside, as ct_theta_apply leaves it? To the bit: tied ones are equal, a model learned as less than a
 * full covariance has no correlations, eigenvalues as computed lie within bounds and spread; where units are not 1,
 * to the rounding of a multiplication by them and a division. */
int ct_theta_is_feasible(const ct_theta *theta, const ct_noise *noise);

/* Rotate v into coordinates in which the bounds of the set at p are bounds on single coordinates, and back. Full blocks
 * are rotated to the eigenvectors of log Sigma; scalars stay. */
void ct_theta_to_eigenbasis(const ct_theta *theta, const double *p, double *v);
void ct_theta_from_eigenbasis(const ct_theta *theta, const double *p, double *v);
/* active[i] = -1, +1 where turned coordinate i of p is at its lower or upper bound (within rounding; -1 if it is at
 * both), else 0. If the spread is as large as it may be, the smallest of all are at a lower bound, the largest at an
 * upper one. Of a full block only the diagonal, the eigenvalues of log Sigma, can be: off it, a turned coordinate
 * turns eigenvectors, which moves eigenvalues that differ to second order only. (Equal ones at one bound it moves
 * apart to first order; ct_theta_project takes that back.) */
void ct_theta_active(const ct_theta *theta, const double *p, int8_t *active);

#ifdef __cplusplus
}
#endif
#endif
