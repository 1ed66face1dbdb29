/* covtune/function.h: noise that depends on the situation of a measurement.
 *
 * A noise model with a function has the covariance
 *
 *     Sigma(x) = S(x) Sigma S(x),   S = diag(exp(u_i(x) / 2)),   so that  log Sigma_ii(x) = log Sigma_ii + u_i(x)
 *
 * Sigma: the model's own numbers; x: features of the factor (ct_graph_set_feature); u: a function of x with weights w.
 *
 *     linear       u_i = sum_j w_ij phi_j(x),  phi_j a standardised feature or the product of two
 *     piecewise    the same with hat functions: u_i is linear between knots, and zero at the middle knot
 *     network      u = W_n tanh(... tanh(W_1 x + b_1) ...) + b_n, of standardised features
 *
 * A function has one output for all rows (then log Sigma(x) = log Sigma + u(x) I, also of a full covariance), or one a
 * row. A feature outside the range that was seen in training is set to its end. Bounds hold for every factor, whatever
 * its features: u is cut so that variances (of a full covariance: eigenvalues) stay within `lower` and `upper`.
 *
 * A matrix function has rows (rows + 1) / 2 outputs, the coordinates of a symmetric matrix U: its upper triangle row by
 * row, entries off the diagonal times sqrt 2. With D = diag(unit) the covariance is
 *
 *     Sigma(x) = D exp(U(x)/2) D^-1 Sigma D^-1 exp(U(x)/2) D
 *
 * For Sigma = s D^2, which learning chooses, log(D^-1 Sigma(x) D^-1) = log s + U(x). Correlations depend on features
 * then. Eigenvalues of U are cut so that those of D^-1 Sigma(x) D^-1 lie within the bounds over unit^2, the tightest
 * row's.
 */
#ifndef COVTUNE_FUNCTION_H
#define COVTUNE_FUNCTION_H

#include <covtune/base.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CT_FUNCTION_FEATURES_MAX 16
#define CT_FUNCTION_TERMS_MAX    256
#define CT_FUNCTION_LAYERS_MAX   3     /* hidden */
#define CT_FUNCTION_WIDTH_MAX    128   /* of a hidden layer */
#define CT_FUNCTION_ROWS_MAX     6
#define CT_FUNCTION_OUTPUTS_MAX  21    /* of a matrix function of 6 rows */
#define CT_FEATURE_NAME_MAX      31

/* X(constant, name) */
#define CT_FUNCTION_LIST(X)               \
    X(CT_FUNCTION_LINEAR, "linear")       \
    X(CT_FUNCTION_PIECEWISE, "piecewise") \
    X(CT_FUNCTION_NETWORK, "network")

typedef enum {
#define X(constant, name) constant,
    CT_FUNCTION_LIST(X)
#undef X
    CT_FUNCTION_COUNT
} ct_function_kind;

const char *ct_function_kind_name(ct_function_kind kind); /* "?": none */
int         ct_function_kind_find(const char *name);      /* -1: none  */

typedef struct {
    char   name[CT_FEATURE_NAME_MAX + 1];
    double mean, deviation; /* of the training set; standardised: (x - mean) / deviation */
    double low, high;       /* the range that was seen                                  */
} ct_function_feature;

/* phi_j: feature a; 1 where a is -1; the product of a and b (b >= 0); with hat 1 the hat function of feature a: 1 at
 * `at`, 0 at `left` and `right` and beyond; a left of -INFINITY or a right of INFINITY: 1 on that side. Knots are in
 * its unit. */
typedef struct {
    int    a, b, hat;
    double left, at, right;
} ct_function_term;

typedef struct ct_function {
    ct_function_kind    kind;
    int                 outputs;  /* 1: the same for all rows; else the rows of the model, or coordinates of U */
    int                 matrix;   /* 1: its value is a symmetric matrix */
    double              unit[CT_FUNCTION_ROWS_MAX]; /* of a matrix function: D, a sigma per row */
    int                 features;
    ct_function_feature feature[CT_FUNCTION_FEATURES_MAX];
    int                 terms;    /* not of a network */
    ct_function_term   *term;
    int                 layers;   /* hidden layers of a network, and their widths */
    int                 width[CT_FUNCTION_LAYERS_MAX];
    double              lower[CT_FUNCTION_ROWS_MAX], upper[CT_FUNCTION_ROWS_MAX]; /* of variances; 0, INFINITY: none */
    int                 weights;
    double             *weight;   /* outputs x terms; of a network layer by layer W (out x in, row-major), then b */
    double              u_low[CT_FUNCTION_ROWS_MAX], u_high[CT_FUNCTION_ROWS_MAX]; /* cuts (of a matrix
                                                    * function the first); set by the noise table                */
} ct_function;

/* An own copy of a function's arrays; NULL: out of memory. */
ct_function *ct_function_copy(const ct_function *function);
void         ct_function_free(ct_function *function);
/* The number of weights that a function of this form has. */
int ct_function_weights(const ct_function *function);

/* u <- the function's outputs at features x (raw, `features` of them), before cuts. NaN if a feature is. Does not
 * allocate; any number of threads. */
void ct_function_evaluate(const ct_function *function, const double x[], double u[]);
/* gradient += sum_o d_o du_o/dw: the weights' derivative of sum_o d_o u_o. */
void ct_function_gradient(const ct_function *function, const double x[], const double d[], double gradient[]);

#ifdef __cplusplus
}
#endif
#endif
