/* factor_view.h: a factor at given values under a noise table, as derivatives by noise parameters need it.
 *
 * W = Sigma^-1, y = W r, w is the robust weight at d2 = r'W r, and w' = dw/d(d2). r and J of a factor with another
 * covariance are multiplied by T (ct__item_scale); Sigma is the model's. */
#ifndef CT_FACTOR_VIEW_H
#define CT_FACTOR_VIEW_H

#include "solve/solve.h"

#include <covtune/theta.h>

#define CT__VIEW_BLOCK (CT_ROWS_MAX * CT_DIM_MAX)

/* Where bounds cut a function, its cuts follow the model's covariance. With T^-1 = F, covariance F Sigma F':
 * F^-1 dF = 1/2 sum_k dc_k p_k q_k',  dc_k = -tr(B_k dSigma). */
typedef struct {
    int    count; /* 0: nothing is cut, or only by constants */
    double p[CT_ROWS_MAX][CT_ROWS_MAX], q[CT_ROWS_MAX][CT_ROWS_MAX], B[CT_ROWS_MAX][CT_ROWS_MAX * CT_ROWS_MAX];
} ct__cuts;

typedef struct {
    const ct_noise_model *model;
    int                   rows, arity, cols[CT_ARITY_MAX];
    int32_t               column[CT_ARITY_MAX]; /* first scalar of each variable; -1: fixed */
    double               *J[CT_ARITY_MAX];      /* rows x cols; NULL: fixed                 */
    double                r[CT_ROWS_MAX], y[CT_ROWS_MAX], w, slope;
    ct__scaling             scale;                /* T: of second derivatives too             */
    ct__cuts              cuts;
    double                space[CT_ARITY_MAX * CT__VIEW_BLOCK];
} ct__factor_view;

/* Item k of a batch at values x. Does not allocate. */
void ct__view_factor(const ct_solver *solver, const ct_noise *noise, const ct__batch *batch, int32_t k, const double *x,
                     ct__factor_view *view);
/* v <- W v. */
void ct__apply_information(const ct_noise_model *model, int rows, double *v);
/* factor_cuts.c: the cuts of item k, view->model being set. */
void ct__view_find_cuts(const ct_solver *solver, int32_t k, ct__factor_view *view);
/* dSigma by term t of the Jacobian of theta as the view's residual has it: the table's, or in room with the change of
 * cuts. */
const double *ct__view_slope(const ct__factor_view *view, const ct_theta_jacobian *slopes, int32_t t,
                             double room[CT_NOISE_DIM_MAX * CT_NOISE_DIM_MAX]);
/* G += the gradient by the model's Sigma, from that of this factor at fixed cuts. */
void ct__view_add_through_cuts(const ct__factor_view *view, const double *of_factor, double *G);
/* q <- w W (dSigma y) + w' (y' dSigma y) y for one term of the Jacobian of theta. J'q is -dh/dp. */
void ct__view_weigh(const ct__factor_view *view, const ct_theta_jacobian *slopes, int32_t term, double q[CT_ROWS_MAX]);
/* G += w sym(v y') + w' ((J l)'y) y y', v = W J l: the gradient by Sigma of l'H x, at fixed cuts. For a diagonal
 * model only the diagonal, unless it has a matrix function. */
void ct__view_add_gradient_at_fixed_cuts(const ct__factor_view *view, const double *l, double *G);
/* The same with the change of cuts: by the Sigma of the model. */
void ct__view_add_covariance_gradient(const ct__factor_view *view, const double *l, double *G);

#endif
