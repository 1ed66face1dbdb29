/* factor_sweep.h: every factor at an estimate, with the joint covariance of its variables. */
#ifndef CT_FACTOR_SWEEP_H
#define CT_FACTOR_SWEEP_H

#include "graph/graph.h"
#include "solve/solve.h"

/* r and J are those of the model's own covariance: multiplied by T of the factor (ct__item_scale). Columns of J are
 * the estimated coordinates that the residual depends on, and P is their covariance. */
typedef struct {
    int32_t               factor; /* in the graph */
    int32_t               noise;
    const ct_factor_ops  *ops;
    const ct_noise_model *model;
    ct__scaling             scale;  /* T */
    int                   n;
    double                r[CT_ROWS_MAX], raw[CT_ROWS_MAX]; /* raw: before T */
    double                J[CT_ROWS_MAX * CT__SIDE_MAX]; /* rows x n */
    const double         *P;                             /* n x n    */
} ct__factor_at;

typedef void (*ct__factor_at_fn)(void *user, ct__factor_at *factor);

/* Calls fn for every factor with estimated variables, in the order of the tree, from one sweep over the fronts: the
 * work of a few factorisations. P is (J'WJ)^-1 of all factors at x. wanted: a byte per factor, 0 leaves it out; NULL:
 * all. CT_E_SINGULAR as ct_solver_linearise. */
ct_status ct__factor_sweep(ct_solver *solver, const ct_noise *noise, const double *x, const uint8_t *wanted,
                           ct__factor_at_fn fn, void *user, ct_err *err);

#endif
