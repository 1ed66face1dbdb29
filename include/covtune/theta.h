/* covtune/theta.h: the parameters that are learned, and their feasible set.
 *
 * A ct_theta describes which numbers of a noise table are parameters. Each model is learned as an isotropic, diagonal
 * or full covariance, or is frozen. Single rows can be frozen or tied together. Parameter values are plain vectors of
 * ct_theta_count() doubles, in one of two spaces:
 *
 *   CT_SPACE_LOG       log variance; of a full covariance the matrix logarithm, log Sigma
 *   CT_SPACE_VARIANCE  variance; of a full covariance Sigma itself
 *
 * A symmetric d x d matrix is a vector of d (d + 1) / 2 coordinates: its upper triangle row by row, entries off the
 * diagonal times sqrt 2. The Euclidean norm of the vector is the Frobenius norm of the matrix.
 *
 * Units. Each row has a unit u, a sigma that counts as one; 1 by default, which is the table's m and rad. Both spaces,
 * the bounds and the spread refer to U^-1 Sigma U^-1 with U = diag(u). A noise table and the derivatives of its
 * covariances hold Sigma itself. So one pair of bounds suits rows of different scales. Units of 1 change no bit.
 *
 * Feasible set. lower <= lambda <= upper for every variance or eigenvalue lambda; with a spread also
 * max lambda <= spread * min lambda over everything learned. The set is the same in both spaces, and convex in both.
 * Projection and linear minimisation have closed forms: an eigendecomposition reduces each full block to scalars, and
 * a search over the breakpoints of one piecewise function solves the scalar problem.
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

/* Bounds on variances, in units: wide ones for numbers in m and rad, and the paper's two. */
#define CT_BOUND_WIDE_LOWER  1e-10
#define CT_BOUND_WIDE_UPPER  1e6
#define CT_BOUND_LOOSE_LOWER 1e-3
#define CT_BOUND_LOOSE_UPPER 1e3
#define CT_BOUND_TIGHT_LOWER 0.1
#define CT_BOUND_TIGHT_UPPER 10.0

/* ---- Definition: what is learned ------------------------------------------------------------- */

/* A ct_theta that learns nothing yet. Copies names, dimensions and row names of the table. Allocates room for
 * everything that can be learned, so the definitions below need no memory. A definition that is refused
 * (CT_E_ARGUMENT) changes nothing. Each takes time in proportion to the table. */
ct_status ct_theta_new(const ct_noise *noise, ct_theta **out, ct_err *err);
ct_status ct_theta_copy(const ct_theta *theta, ct_theta **out, ct_err *err);
void      ct_theta_free(ct_theta *theta);

/* Learn a model as this kind, with variances (full: eigenvalues) between lower and upper. Replaces an earlier
 * definition of the model, ties included. CT_E_ARGUMENT unless 1e-150 <= lower <= upper <= 1e150, in units and in the
 * table's numbers, or if the bounds of all models cannot satisfy the spread. */
ct_status ct_theta_learn(ct_theta *theta, int32_t model, ct_noise_kind kind, double lower, double upper, ct_err *err);
/* Set the unit of a row (coordinate -1: of all rows) of a model, learned or not: a sigma in the table's numbers. Bounds
 * and spread keep their numbers and refer to the new unit. CT_E_ARGUMENT unless 1e-50 <= unit <= 1e50, if bounds times
 * unit^2 leave 1e-150 .. 1e150, or if a tied row has another unit. */
ct_status ct_theta_set_unit(ct_theta *theta, int32_t model, int coordinate, double unit, ct_err *err);
/* Set the bounds of one coordinate of a diagonal model, and of everything tied to it. */
ct_status ct_theta_bound(ct_theta *theta, int32_t model, int coordinate, double lower, double upper, ct_err *err);
/* Where bounds come from. X(constant, name) */
#define CT_BOUND_ORIGIN_LIST(X)                                                                     \
    X(CT_BOUND_GIVEN, "given")                                                                      \
    X(CT_BOUND_DEFAULT, "default")     /* nobody asked for them: ct_theta_bound_around replaces them */ \
    X(CT_BOUND_FROM_DATA, "data")      /* it has                                                   */

typedef enum {
#define X(constant, name) constant,
    CT_BOUND_ORIGIN_LIST(X)
#undef X
    CT_BOUND_ORIGIN_COUNT
} ct_bound_origin;

/* Say that the bounds of a model (coordinate -1), or of one coordinate of a diagonal model, are defaults. Bounds that
 * are set later are given. Tied bounds are defaults if both are. */
ct_status ct_theta_bound_is_default(ct_theta *theta, int32_t model, int coordinate, ct_err *err);
/* Bounds that are defaults become [v / factor, v factor], v the variance at p (log space); of a full block from its
 * smallest to its largest eigenvalue. *changed (may be NULL) <- the number of blocks. CT_E_ARGUMENT, and nothing
 * changes, unless 1 <= factor <= 1e10 and p is finite, or if the spread cannot be satisfied. */
ct_status ct_theta_bound_around(ct_theta *theta, const double *p, double factor, int32_t *changed, ct_err *err);
/* Of parameter i; CT_BOUND_ORIGIN_COUNT: there is none. */
ct_bound_origin ct_theta_bound_origin(const ct_theta *theta, int32_t i);
/* Freeze one coordinate of a diagonal model; coordinate -1: the whole model. What was tied to it stays learned. */
ct_status ct_theta_freeze(ct_theta *theta, int32_t model, int coordinate, ct_err *err);
/* Use one parameter for two coordinates of diagonal models, or for two whole models (coordinates -1). Whole models
 * must have the same kind, the same dimension (isotropic ones may differ) and the same frozen coordinates. Bounds are
 * intersected. CT_E_ARGUMENT if the intersection is empty or units differ. */
ct_status ct_theta_tie(ct_theta *theta, int32_t a, int coordinate_a, int32_t b, int coordinate_b, ct_err *err);
/* Demand max <= spread * min over everything learned; spread >= 1, INFINITY: no limit. CT_E_ARGUMENT, naming two
 * coordinates, if their bounds are further apart. */
ct_status ct_theta_set_spread(ct_theta *theta, double spread, ct_err *err);
/* Bounds of all parameters become t .. spread t, as far as they were wider, with t so that the eigenvalues at p (log
 * space) lie in the middle: the spread then holds by bounds alone, also for what is bounded apart (functions of
 * features). Nothing changes without a limit. CT_E_ARGUMENT: p is not finite, or breaks the limit by more than
 * rounding. */
ct_status ct_theta_bound_spread(ct_theta *theta, const double *p, ct_err *err);

/* ---- Parameters ------------------------------------------------------------------------------ */

/* Parameters are numbered by model and coordinate in the order of the table, whatever the order of definitions. A tied
 * parameter has the place of its first use. The functions below take a const ct_theta, allocate nothing and may be
 * called from several threads. */
int32_t ct_theta_count(const ct_theta *theta);
int32_t ct_theta_models(const ct_theta *theta);                /* models of the table it was made for */
int     ct_theta_learns(const ct_theta *theta, int32_t model); /* 1 if any row of the model is learned */
double  ct_theta_spread_limit(const ct_theta *theta);

/* The name of parameter i: "odom@0.x", "gps[x,y]" of a full model, "odom" of an isotropic one, "odom.x=gps.x" of a tied
 * one. Rows without names are numbered from 0: "odom.0", "gps[0,1]". A name that does not fit ends in "...". Returns
 * buf. */
const char *ct_theta_name(const ct_theta *theta, int32_t i, char *buf, size_t size);
/* 1 if parameter i scales a variance: a scalar, or a diagonal entry of a full block. */
int ct_theta_is_scale(const ct_theta *theta, int32_t i);
/* Bounds of the variance or eigenvalues that parameter i belongs to, in units. */
void ct_theta_bounds(const ct_theta *theta, int32_t i, double *lower, double *upper);
/* The unit of a row. 1 if any learned row has a unit other than 1. The factor u_r u_c that turns coordinate i of
 * variance space (off the diagonal over sqrt 2) into Sigma_rc of the table; of an isotropic model that of row 0. */
double ct_theta_unit(const ct_theta *theta, int32_t model, int coordinate);
int    ct_theta_has_units(const ct_theta *theta);
double ct_theta_unit_squared(const ct_theta *theta, int32_t i);
/* The parameter of a coordinate of a diagonal or isotropic model, -1: none. */
int32_t ct_theta_find(const ct_theta *theta, int32_t model, int coordinate);

/* ---- Between parameters and a noise table ----------------------------------------------------- */

/* p <- the table's values in log space, in units; tied ones their mean. They may lie outside the feasible set. A full
 * model learned as diagonal gives its diagonal. A diagonal one learned as full gives a diagonal log Sigma. Any model
 * learned as isotropic gives the mean of its log variances. NaN if theta was made for another table. */
void ct_theta_get(const ct_theta *theta, const ct_noise *noise, double *p);
/* Write p (log space) to the table, projected onto the feasible set. The table then satisfies the constraints to the
 * bit: eigenvalues of full matrices keep a margin of 8 dim DBL_EPSILON times the largest from their bounds, so that an
 * eigendecomposition of the result finds them inside. Learned models take the kind they are learned as. An isotropic
 * model with different units per row, Sigma = v U^2, becomes diagonal. Frozen rows keep their values. CT_E_ARGUMENT if
 * p is not finite; the table is then unchanged. */
ct_status ct_theta_apply(const ct_theta *theta, const double *p, ct_noise *noise, ct_err *err);
/* The same without projection, for finite differences at the boundary. CT_E_NOISE if a variance leaves 1e-150 .. 1e150;
 * models before the refused one are changed. */
ct_status ct_theta_apply_unprojected(const ct_theta *theta, const double *p, ct_noise *noise, ct_err *err);
/* 1 if the table satisfies the constraints as ct_theta_apply leaves it. Exact: tied values are equal, diagonal and
 * isotropic models have no correlations, computed eigenvalues lie within bounds and spread. With units other than 1,
 * up to the rounding of one multiplication and one division. */
int ct_theta_is_feasible(const ct_theta *theta, const ct_noise *noise);

/* Convert a point from `from` to the other space; out may be in. To log space, variances and eigenvalues must be
 * positive. To variance space, values far outside the set may overflow. */
void ct_theta_convert(const ct_theta *theta, ct_space from, const double *in, double *out);

/* Largest over smallest learned variance or eigenvalue at p (log space), in units; 1 if nothing is learned. */
double ct_theta_spread(const ct_theta *theta, const double *p);
/* The range low <= s <= high of common factors exp(s) under which p (log space) is feasible; low > high: there is
 * none. */
void ct_theta_scale_range(const ct_theta *theta, const double *p, double *low, double *high);

/* ---- Derivatives ----------------------------------------------------------------------------- */

/* Derivatives of the table's covariances by the parameters, at a point of log space: d Sigma_model / d p_i is the sum
 * of dSigma[t], dim x dim, over the terms t in first[model] .. first[model + 1] - 1 with parameter[t] = i. There is at
 * most one such term unless coordinates of the same model are tied to each other. */
typedef struct {
    int32_t        models, terms;
    const int32_t *first;     /* models + 1 */
    const int32_t *parameter; /* per term   */
    const double (*dSigma)[CT_NOISE_DIM_MAX * CT_NOISE_DIM_MAX];
    const int *coordinate; /* per term: the row of a diagonal model; -1: a matrix; -2: a multiple of U^2 (isotropic) */
} ct_theta_jacobian;

/* Allocates for theta as it is now. ct_theta_jacobian_at fills it at p without allocating; NaN if it was made for
 * another theta. Free with free(). */
ct_status ct_theta_jacobian_new(const ct_theta *theta, ct_theta_jacobian **out, ct_err *err);
void      ct_theta_jacobian_at(const ct_theta *theta, const double *p, ct_theta_jacobian *jacobian);

/* Convert a gradient at p (log space) to the other space by the chain rule. `to` is the space of the result; out may be
 * in. */
void ct_theta_convert_gradient(const ct_theta *theta, const double *p, ct_space to, const double *in, double *out);

/* ---- The feasible set ------------------------------------------------------------------------ */

/* Project q (finite) onto the set, in the norm of the space; 1 if q moved. Idempotent. */
int ct_theta_project(const ct_theta *theta, ct_space space, double *q);
/* s <- argmin g's over the set: the vertex of a Frank-Wolfe step. s may be g. Directions with zero gradient (or a zero
 * eigenvalue) are set to the geometric mean of their remaining range. */
void ct_theta_minimise_linear(const ct_theta *theta, ct_space space, const double *g, double *s);

/* Rotate v to coordinates in which the bounds at p are bounds on single coordinates, and back. Full blocks are rotated
 * to the eigenvectors of log Sigma; scalars do not change. */
void ct_theta_to_eigenbasis(const ct_theta *theta, const double *p, double *v);
void ct_theta_from_eigenbasis(const ct_theta *theta, const double *p, double *v);
/* active[i] <- -1 or +1 where eigenbasis coordinate i of p is at its lower or upper bound within rounding, -1 if at
 * both, else 0. If the spread is at its limit, the smallest values are at a lower bound and the largest at an upper
 * one. Of a full block only the diagonal, the eigenvalues of log Sigma, can be active: an off-diagonal coordinate
 * rotates eigenvectors, which changes distinct eigenvalues to second order only. Equal eigenvalues at one bound are
 * changed to first order; ct_theta_project reverts that. */
void ct_theta_active(const ct_theta *theta, const double *p, int8_t *active);

#ifdef __cplusplus
}
#endif
#endif
