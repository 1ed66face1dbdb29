/* function.h: functions of features as later modules evaluate them. */
#ifndef CT_FUNCTION_PRIVATE_H
#define CT_FUNCTION_PRIVATE_H

#include "base/symmetric.h"

#include <covtune/function.h>

/* phi_j(x) of a function that is linear in its weights. */
void ct__function_terms(const ct_function *function, const double x[], double phi[]);
/* Of a network: how many numbers its layers have at one x; the outputs, with those numbers kept; and the gradient from
 * them, without another forward pass. */
int  ct__function_kept(const ct_function *function);
void ct__function_evaluate_kept(const ct_function *function, const double x[], double u[], double kept[]);
void ct__function_gradient_kept(const ct_function *function, const double kept[], const double d[], double gradient[]);
/* u_i of every row, cut; free[i] (may be NULL): 1 where it is not cut, so that weights move it. */
void ct__function_rows(const ct_function *function, int dim, const double x[], double u[], int free[]);

/* T, by which residual and Jacobians of a factor are multiplied before its model is applied: T Sigma(x) T' = Sigma. */
typedef struct {
    int    full;           /* 0: diagonal, t[i]; else row-major */
    double t[CT__SYM_MAX];
} ct__scaling;

/* T at raw features; with the sign 1 its inverse, -1: T itself. */
void ct__function_scale(const ct_function *function, int dim, const double x[], double sign, ct__scaling *T);

/* matrix_function.c: U = V diag(lambda) V', lambda ascending, before cuts. */
typedef struct {
    double lambda[CT__SYM_DIM_MAX], V[CT__SYM_MAX];
} ct__spectrum;

void   ct__function_spectrum(int dim, const double u[], ct__spectrum *spectrum);
/* D exp(sign c(U) / 2) D^-1: T for the sign -1. */
void   ct__function_root(const ct_function *f, int dim, const ct__spectrum *s, double sign, double T[CT__SYM_MAX]);
double ct__function_least(const ct_function *f, const ct__spectrum *s);           /* eigenvalue of U, cut */
int    ct__function_is_cut(const ct_function *f, int dim, const ct__spectrum *s); /* 1: an eigenvalue is  */
/* d <- dL/du of all outputs, from SG = Sigma G, G = dL/dSigma of the factor as its multiplied residual has it. */
void   ct__function_matrix_gradient(const ct_function *f, int dim, const ct__spectrum *s, const double *SG, double d[]);
/* X <- T d(T^-1)/du of one output: Sigma as the multiplied residual has it changes by X Sigma + Sigma X'. */
void   ct__function_matrix_slope(const ct_function *f, int dim, const ct__spectrum *s, int output,
                                 double X[CT__SYM_MAX]);

/* check_function.c: CT_E_NOISE with a sentence that names the model, unless it is a function for a model of `dim`
 * rows. */
ct_status ct__function_check(const char *model, int dim, const ct_function *function, ct_err *err);
/* Sets the cuts: variances low[i] .. high[i] (of a row, or of all eigenvalues; of a matrix function those of
 * D^-1 Sigma D^-1) times e^u stay within the bounds. */
void ct__function_set_cuts(ct_function *function, int dim, const double low[], const double high[]);
/* The row whose bound is the lower (upper 0) or upper cut of row i, given that end of the variances; -1: the cut is a
 * constant. Of a matrix function row 0. */
int  ct__function_cut_row(const ct_function *function, int dim, int i, int upper, const double variance[]);

#endif
