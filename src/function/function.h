/* function.h: functions of features as later modules evaluate them. */
#ifndef CT_FUNCTION_PRIVATE_H
#define CT_FUNCTION_PRIVATE_H

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

/* check_function.c: CT_E_NOISE with a sentence that names the model, unless it is a function for a model of `dim`
 * rows. */
ct_status ct__function_check(const char *model, int dim, const ct_function *function, ct_err *err);
/* Sets the cuts: variances low[i] .. high[i] (of a row, or of all eigenvalues) times e^u stay within the bounds. */
void ct__function_set_cuts(ct_function *function, int dim, const double low[], const double high[]);

#endif
