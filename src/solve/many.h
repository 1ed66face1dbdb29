/* many.h: models that evaluate all their factors in one call (ct_factor_ops.eval_many). */
#ifndef CT_MANY_H
#define CT_MANY_H

#include "solve/solve.h"

/* The factors of a batch, with results at the values where they were last evaluated. *out is for ct__many_free, also on
 * failure. The solver's items must be filled. */
ct_status ct__many_new(const ct_solver *solver, const ct__batch *batch, ct__many **out, ct_err *err);
void      ct__many_free(ct__many *many);
/* As ct_factor_eval and ct_factor_curvature of item k at x; batch->many is not NULL. */
void ct__many_eval(const ct_solver *solver, const ct__batch *batch, int32_t k, const double *x, double *r,
                   double *const J[]);
void ct__many_curvature(const ct_solver *solver, const ct__batch *batch, int32_t k, const double *x, const double *u,
                        double *K);

/* Residual and Jacobians of item k of any batch at x, before its multiplier is divided out; J may be NULL. K as in
 * ct_factor_curvature. */
void ct__item_eval(const ct_solver *solver, const ct__batch *batch, int32_t k, const double *x, double *r,
                   double *const J[]);
void ct__item_curvature(const ct_solver *solver, const ct__batch *batch, int32_t k, const double *x, const double *u,
                        double *K);

#endif
