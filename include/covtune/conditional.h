/* covtune/conditional.h: learning of noise that depends on the situation: functions of features (function.h).
 *
 * The form of a function is a text, WHAT:FEATURES, with options after strokes:
 *
 *     linear:hdop,speed            u = w1 hdop + w2 speed, standardised
 *     linear:hdop,speed,hdop*speed with a product
 *     piecewise:range/6            linear between 6 knots, at quantiles of the training set; 5 by default
 *     network:hdop,speed/16x16     two hidden layers of 16 units; one of 16 by default
 *     linear:hdop/shared           the same for all rows; by default each row has its own weights
 *     linear:c,s/matrix            of any form: the logarithm of the covariance as a matrix, with a constant part, so
 *                                  that correlations depend on features too
 *
 * Learning has two stages. Regression: squared residuals at the truth are gamma distributed about v e^u; their
 * likelihood is maximised (robust, ridge chosen on held-out recordings; networks by L-BFGS and early stopping). Without
 * truth, squares are expected ones given the measurements (EM), so that energy and normaliser of the likelihood are
 * maximised. Tracking: from there the loss through the solver is minimised, by the exact adjoint gradient. Held-out
 * recordings decide between the constant model, the regression and tracking.
 */
#ifndef COVTUNE_CONDITIONAL_H
#define COVTUNE_CONDITIONAL_H

#include <covtune/data.h>
#include <covtune/evaluate.h>
#include <covtune/learn.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(constant, name, meaning) */
#define CT_CONDITIONAL_LIST(X)                                                                           \
    X(CT_CONDITIONAL_CONSTANT, "constant", "the constant model: nothing was gained")                     \
    X(CT_CONDITIONAL_REGRESSION, "regression", "likelihood of squared residuals, given the features")    \
    X(CT_CONDITIONAL_TRACKING, "tracking", "the loss through the solver, from the regression")

typedef enum {
#define X(constant, name, meaning) constant,
    CT_CONDITIONAL_LIST(X)
#undef X
    CT_CONDITIONAL_COUNT
} ct_conditional_candidate;

const char *ct_conditional_name(ct_conditional_candidate candidate); /* "?": none */

typedef struct {
    int      folds;    /* of cross-validation over recordings; 0: the regression is taken as it is */
    int      tracking; /* 1: with the second stage                                                 */
    int      evaluations; /* most evaluations of the loss in the second stage                      */
    int      gauss_newton; /* weights up to which it is Levenberg-Marquardt; above L-BFGS, from 500 Adam */
    double   prior;    /* of the second stage, towards the regression                              */
    uint64_t seed;     /* of the first weights of a network                                        */
    int      jobs;
    ct_inference deployment; /* how held-out sequences are estimated */
} ct_conditional_options;

ct_conditional_options ct_conditional_defaults(void);

/* Values of feature number `feature` of a model's function that factors of a graph have outside of the range that it
 * was learned in, by more than a tenth of it. There the function has its value at the end of the range. Adds to *out,
 * which begins with zeros. */
typedef struct {
    int64_t factors, outside; /* of the model; those of them that are outside */
    double  low, high;        /* the least and the largest value outside      */
} ct_feature_outside;

void ct_feature_count_outside(const ct_graph *graph, const ct_noise *noise, int32_t model, int feature,
                              ct_feature_outside *out);

/* One term of a learned function, or one output's whole network. */
typedef struct {
    int32_t model;
    int     row;              /* -1: shared by all rows                                                  */
    int     column;           /* of a matrix function: the entry (row, column) of U; else -1             */
    char    term[80];         /* "hdop", "hdop*speed", "range at 5", "network"                            */
    double  weight, error;    /* standard error from the scatter over recordings; NaN: a network, or one recording */
    double  deviance;         /* what it gains: log likelihood per measurement lost without the feature   */
} ct_conditional_term;

typedef struct {
    ct_conditional_candidate chosen;
    double  heldout[CT_CONDITIONAL_COUNT];       /* mean held-out loss; NaN: not evaluated                  */
    double  log_ratio[CT_CONDITIONAL_COUNT];     /* of held-out losses to those of the constant model: robust mean */
    double  log_ratio_error[CT_CONDITIONAL_COUNT];
    double  translation_ratio[CT_CONDITIONAL_COUNT]; /* of held-out position errors                         */
    double  ridge;                               /* weight of the ridge that held-out recordings chose; NaN: none */
    int32_t terms, models, clamped;              /* clamped: measurements whose function is cut by bounds   */
    ct_conditional_term *term;
    int32_t recordings;
    int     evaluations;                         /* of the loss in the second stage, folds included         */
} ct_conditional_result;

void ct_conditional_result_free(ct_conditional_result *result);

/* Set the form of a model's function, with weights of zero: mean, deviation, range and knots from the factors of the
 * sequences. CT_E_ARGUMENT with a sentence: a form that is none, a feature that a factor of the model lacks, one that
 * is constant, or equal to another up to scale and offset. Bounds: of variances, lower[i] and upper[i]; NULL: none. */
ct_status ct_conditional_form(int32_t count, const ct_sequence *const seq[], ct_noise *noise, int32_t model,
                              const char *form, const double lower[], const double upper[], ct_err *err);

/* Rows and models that are tied share one function: the same weights. CT_E_ARGUMENT with a sentence where that cannot
 * be: two models tied in some rows only, or of different forms; rows of a matrix function. Called by
 * ct_conditional_learn. */
ct_status ct_conditional_check(const ct_theta *theta, const ct_noise *noise, ct_err *err);

/* Learn the weights of all functions that models of the table have and that theta learns, with the outer problem's
 * sequences. noise: the table with functions of any weights and with the answer of ct_learn for constant models. On
 * return its functions and variances are the chosen ones; without a gain the functions are removed. A spread limit of
 * theta needs bounds that keep it (ct_theta_bound_spread), and functions with these bounds: else CT_E_ARGUMENT. */
ct_status ct_conditional_learn(int32_t count, const ct_sequence *const seq[], const ct_theta *theta,
                               const ct_outer_options *outer, const ct_conditional_options *options, ct_noise *noise,
                               ct_conditional_result *result, ct_err *err);

/* Loss of an outer problem over all its sequences under the table, and its gradient by log variances (theta's count)
 * and by the weights of all functions that theta's models have, in the order of models. For gradient checks. */
int32_t   ct_conditional_weights(const ct_theta *theta, const ct_noise *noise);
ct_status ct_conditional_gradient(int32_t count, const ct_sequence *const seq[], const ct_theta *theta,
                                  const ct_outer_options *outer, const ct_noise *noise, double *loss,
                                  double *gradient, double *weight_gradient, ct_err *err);
/* The Gauss-Newton matrix there: mean over sequences of A'A, A the derivative of the weighted difference from the truth
 * by log variances and weights, in the order of the gradients; row-major, as wide as both together. */
ct_status ct_conditional_matrix(int32_t count, const ct_sequence *const seq[], const ct_theta *theta,
                                const ct_outer_options *outer, const ct_noise *noise, double *matrix, ct_err *err);

#ifdef __cplusplus
}
#endif
#endif
