/* conditional.h: what the files of this module share.
 *
 *   form.c          the form of a function as text; standardisation, knots, unfit features
 *   ties.c          rows and models that share parameters share functions
 *   samples.c       squared residuals with their features: at the truth, or expected ones
 *   regression.c    gamma regression on bases: Fisher scoring, ridge, standard errors
 *   matrix_regression.c   the likelihood of residuals' outer products, for matrix functions
 *   network.c       the same likelihood for networks: L-BFGS, early stopping
 *   tracking.c      the loss through the solver and its gradient by weights
 *   gauss_newton.c  tracking by Levenberg-Marquardt, for tens of weights
 *   without_truth.c EM over the measurements alone
 *   learn.c         all in order; held-out losses of the candidates, the choice
 */
#ifndef CT_CONDITIONAL_PRIVATE_H
#define CT_CONDITIONAL_PRIVATE_H

#include "base/base.h"
#include "function/function.h"
#include "learn/learn.h"

#include <covtune/conditional.h>

/* Squares of the residuals of one model, with features. */
typedef struct {
    int32_t  model;
    int      dim, features;
    int      same_row[CT_FUNCTION_ROWS_MAX]; /* the first row that shares its function: ct__tied_rows */
    int64_t  count, r_capacity, x_capacity, s_capacity, m_capacity;
    double  *square;   /* count x dim: r^2, or its expectation            */
    double  *moment;   /* of matrix functions: count x packed, D^-1 r r'D^-1 or its expectation; else NULL */
    double  *x;        /* count x features                               */
    int32_t *sequence; /* per sample                                     */
    ct__store *store;  /* of the sequences; NULL: none                    */
    int64_t  reserved; /* bytes of its limit                             */
} ct__squares;

void      ct__squares_begin(const ct_theta *theta, const ct_noise *noise, int32_t model, ct__squares *out);
/* Adds those of a model: that of ct__squares_begin, or one that is tied to it. */
ct_status ct__squares_at_truth(int32_t count, const ct_sequence *const seq[], const ct_noise *noise, int32_t model,
                               ct__squares *out, ct_err *err);
/* Squares expected given the measurements under the table: r^2 + (J P J')_ii at the estimate; moments likewise. truth:
 * given the truth of all variables that it knows in full, too; sequences without truth are left out. */
ct_status ct__squares_expected(int32_t count, const ct_sequence *const seq[], const ct_noise *noise, int32_t model,
                               int truth, ct__squares *out, ct_err *err);
void      ct__squares_free(ct__squares *squares);

/* A fit of log v_i + u_i(x) to squares. group: per sequence; part: per sequence 1 where it takes part, NULL: all. */
typedef struct {
    double  log_v[CT_FUNCTION_ROWS_MAX];
    double *weight;         /* of the function            */
    double *error;          /* standard errors; may be NULL */
    double  deviance;       /* mean over samples and rows of 1/2 (eta + s e^-eta), s clipped */
} ct__fit;

/* regression.c: bases. ridge: weight of 1/2 |w|^2 per sample. */
ct_status ct__fit_bases(const ct_function *f, const ct__squares *s, const uint8_t *part, const int32_t *group,
                        double ridge, ct__fit *fit, ct_err *err);
/* The ridge with the least held-out deviance over folds of groups. */
ct_status ct__choose_ridge(const ct_function *f, const ct__squares *s, const uint8_t *part, const int32_t *group,
                           int32_t groups, double *ridge, ct_err *err);
/* Mean deviance of a fit over samples of a part. */
double ct__deviance(const ct_function *f, const ct__squares *s, const uint8_t *part, const double log_v[],
                    const double weight[]);
/* A = L L', lower; 0: not positive definite. b <- (L L')^-1 b. */
int  ct__lower_factor(int n, const double *A, double *L);
void ct__lower_solve(int n, const double *L, double *b);

/* matrix_regression.c: 1/2 (tr L + rho(<e^-L, Z>)) of one sample, L and Z packed; its gradient by L, and the Fisher
 * information (with the gradient), unless NULL. */
double    ct__matrix_loss(int dim, const double *L, const double *Z, double *gradient, double *information);
/* Bases of a matrix function, phi their terms at the samples. */
ct_status ct__fit_matrix(const ct_function *f, const ct__squares *s, const uint8_t *part, const int32_t *group,
                         const double *phi, double ridge, const char *what, ct__fit *fit, ct_err *err);
/* The constant part of a matrix function becomes L; mean <- the mean moment of a part, whose size is returned. */
void      ct__matrix_constant(const ct_function *f, const double *L, double *weight);
int64_t   ct__mean_moment(const ct__squares *s, const uint8_t *part, double *mean);

/* network.c: trained on most groups of the part, stopped early on the others. */
ct_status ct__fit_network(const ct_function *f, const ct__squares *s, const uint8_t *part, const int32_t *group,
                          int32_t groups, uint64_t seed, ct__fit *fit, ct_err *err);

/* ties.c: the first model with a function that g is tied to row by row, or g; the first row that each row of g is tied
 * to. */
int32_t   ct__tied_model(const ct_theta *theta, const ct_noise *noise, int32_t g);
void      ct__tied_rows(const ct_theta *theta, int32_t g, int same[CT_FUNCTION_ROWS_MAX]);
/* CT_E_ARGUMENT unless the bounds keep theta's spread. */
ct_status ct__check_spread_bounds(const ct_theta *theta, ct_err *err);
/* Functions of tied models become one: that of the first model, over the ranges of all. */
void      ct__share_forms(const ct_theta *theta, const ct_noise *noise);
/* same[i] <- the first weight that weight i of f is equal to, counted from `first`; row: of tied rows the first. */
void      ct__weight_ties(const ct_function *f, const int row[], int32_t first, int32_t *same);
/* v <- its mean over those that are one; v <- that of the first of them. same NULL: nothing is. */
void      ct__average_ties(int32_t n, const int32_t *same, double *v);
void      ct__copy_ties(int32_t n, const int32_t *same, double *v);

/* learn.c: the covariance of a model with a matrix function becomes D^2, its kind stays. */
ct_status ct__matrix_base(ct_noise *noise, int32_t model, ct_err *err);

/* without_truth.c: squares of a model and of those tied to it, whose residuals truth does not determine, as with states
 * of a bias: given measurements and truth, under the function that maximises their likelihood (EM). */
ct_status ct__squares_with_states(const ct_outer *outer, const ct_sequence *const seq[], const int32_t *group,
                                  int32_t groups, uint64_t seed, int32_t model, ct__squares *squares, ct_err *err);
/* EM; noise: in and out. */
ct_status ct__learn_without_truth_functions(const ct_outer *outer, const ct_sequence *const seq[], const int32_t *group,
                                            int32_t groups, uint64_t seed, ct_noise *noise,
                                            ct_conditional_result *result, ct_err *err);

#define CT__CLIP 12.25 /* 3.5^2: squares beyond so many variances count as this; 0.05 % of a Gaussian's */

/* tracking.c: F = L + prior over p (m) and w (all functions, models in order), from *p and *w to a lower one. */
typedef struct {
    ct_outer     *outer;
    int32_t       weights;
    const uint8_t *part;
    const double *p0, *w0;          /* centre of the prior           */
    const double *p_weight, *w_weight; /* its diagonal               */
    double        nu;
    int           evaluations;      /* most                          */
    int32_t       few;              /* weights up to which Gauss-Newton is used */
    const int32_t *same;            /* per weight: the first that it is equal to; NULL: none */
    int           used;             /* evaluations, counted          */
    ct_err       *err;
    ct_status     status;
} ct__tracking;

ct_status ct__outer_watch_weights(ct_outer *outer, ct_err *err);
ct_status ct__outer_set_weights(ct_outer *outer, const double *w, ct_err *err);
void      ct__outer_get_weights(const ct_outer *outer, double *w);
ct_status ct__track(ct__tracking *t, double *p, double *w);
/* gauss_newton.c: from y = (p, w) to a lower F. */
ct_status ct__track_gauss_newton(ct__tracking *t, double *y);
ct_status ct__tracking_value(ct__tracking *t, const double *p, const double *w, double *F, double *gp, double *gw);

#endif
