/* covtune/likelihood.h: noise parameters by maximum likelihood, from measurements and, where there is any, truth.
 *
 *     L(theta) = sum over sequences of -log p(z, truth | theta)
 *
 * The estimate x is integrated out by Laplace's approximation at the minimum of the sequence's graph:
 *
 *     L = E(x) + 1/2 log det H(x) + sum over factors of [ 1/2 log det Sigma + log Z ],     H = J'W J
 *
 * E is the error of the graph, Z the normaliser of a factor's kernel (ct_robust_log_normaliser). For linear Gaussian
 * graphs this is exact. Truth is one more measurement, of the coordinates that are known, with a sigma of its own. So
 *   - with full truth, L tends to the likelihood of residuals at the truth as that sigma goes to zero, and its minimum
 *     to second moments of residuals there;
 *   - with partial truth (positions only, some poses, some sequences) every parameter has a value and a standard error;
 *   - without truth L is the evidence p(z | theta). Errors that last (a bias, a scale factor) are outside the models
 *     and do not show in it.
 *
 * The gradient is exact: it includes the dependence of x and H(x) on theta. Per evaluation: a solve, two
 * factorisations, and one sweep over the fronts for the joint covariance of every factor's variables.
 *
 * Sequences are independent and run on `jobs` threads; their number changes no bit of a result.
 */
#ifndef COVTUNE_LIKELIHOOD_H
#define COVTUNE_LIKELIHOOD_H

#include <covtune/evaluate.h>
#include <covtune/theta.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ct_likelihood ct_likelihood;

typedef struct {
    int              truth;          /* 1: truth is a measurement, where there is any; 0: it is not used     */
    double           truth_sigma[2]; /* m, rad, of sequences that give none; 0: CT_TRUTH_SIGMA_STEP          */
    ct_solve_options inner;          /* tight tolerances: derivatives are as accurate as the minimum         */
    int              jobs;           /* threads                                                              */
    const ct_comm   *comm;           /* sequences are shared between its ranks; borrowed; NULL: one process  */
} ct_likelihood_options;

/* The default sigma of the truth is this fraction of the root mean square of the true motion from one pose to the next:
 * small against the residuals of any odometry. */
#define CT_TRUTH_SIGMA_STEP 1e-4

ct_likelihood_options ct_likelihood_defaults(void); /* truth used, default sigma, tight inner solves, one job */

/* Borrows sequences and theta; copies noise, whose frozen models are used as they are. CT_E_ARGUMENT: no sequence,
 * nothing to learn, a learned model that no factor uses. CT_E_NOISE: a table that does not match; a kernel that has no
 * normaliser, which names the model. */
ct_status ct_likelihood_new(int32_t count, const ct_sequence *const seq[], const ct_noise *noise, const ct_theta *theta,
                            const ct_likelihood_options *options, ct_likelihood **out, ct_err *err);
void      ct_likelihood_free(ct_likelihood *likelihood);

/* Sigma of the truth of sequence i, in use: m, rad. 0: it has none. */
void ct_likelihood_truth_sigma(const ct_likelihood *likelihood, int32_t i, double sigma[2]);

/* L at a point; m is the number of parameters. Arrays are the caller's; NULL: not wanted. */
typedef struct {
    double  value;              /* nats; INFINITY if a solve failed                                          */
    double *gradient;           /* m: dL/dp                                                                  */
    double *information;        /* m x m: average of observed and expected information of p (Gilmour et al. 1995) */
    double *each;               /* per sequence: its L, NaN where it did not take part                       */
    double *gradients;          /* sequences x m: the gradient of each                                       */
    int32_t failed, which;      /* solves without a minimum; the first of them, or -1                        */
    ct_stop stop;               /* how that one ended                                                        */
    int     solves, iterations; /* of inner solvers, summed                                                  */
    int32_t inexact;            /* sequences whose exact Hessian is not positive definite: J'W J was used    */
} ct_likelihood_value;

/* Evaluate at p (log space). part: a byte per sequence, 0 leaves it out; NULL: all. Solves start from the solutions
 * that ct_likelihood_accept kept, at first from truth and measurements. */
ct_status ct_likelihood_evaluate(ct_likelihood *likelihood, const double *p, const uint8_t *part,
                                 ct_likelihood_value *value, ct_err *err);
void      ct_likelihood_accept(ct_likelihood *likelihood);
/* Solves start as in a new object. */
void      ct_likelihood_start_over(ct_likelihood *likelihood);

/* Called after every evaluation with the best L so far; non-zero cancels. */
typedef int (*ct_likelihood_fn)(void *user, int iteration, double value, const double *p);

typedef struct {
    /* Prior of each log variance around its start value: normal near it, with heavy tails. Two decades of variance: it
     * decides what the data do not tell, and nothing else. INFINITY: none. */
    double           prior_deviation;
    const double    *centre;    /* of the prior; NULL: the start */
    double           tolerance; /* stop: decrease of L still possible, nats */
    int              max_iterations;
    ct_likelihood_fn progress; /* may be NULL */
    void            *user;
} ct_maximise_options;

ct_maximise_options ct_maximise_defaults(void); /* log 100, 1e-4, 100 */

/* Why a search stopped. */
typedef enum {
    CT_MAXIMISE_NONE,
    CT_MAXIMISE_CONVERGED,  /* the decrease still possible is below the tolerance  */
    CT_MAXIMISE_ITERATIONS, /* the limit of iterations is reached                  */
    CT_MAXIMISE_STUCK,      /* no step decreases L, though a decrease is predicted */
    CT_MAXIMISE_CANCELLED
} ct_maximise_stop;

typedef struct {
    ct_maximise_stop stop;
    int              iterations, evaluations;
    int64_t          inner_solves;
    double           value, value_start; /* L at the answer and at the start; without the prior                      */
    int32_t          left_out;           /* sequences without an estimate at the start: they take no part            */
    int32_t          parameters;
    /* Of each log variance: from the information of data and prior, or, if it is larger and there are three or more
     * recordings, from the scatter of their gradients. INFINITY: the prior tells more than the data */
    double          *standard_error;
    /* m x m: of the data alone, at the answer                                                                     */
    double          *information;
} ct_maximise_result;

/* Minimise L plus the prior from p (log space), in the feasible set; p <- the answer. Starts over. Free the result
 * whatever the status. CT_E_SINGULAR if no sequence has an estimate at the start. */
ct_status ct_likelihood_maximise(ct_likelihood *likelihood, const uint8_t *part, const ct_maximise_options *options,
                                 double *p, ct_maximise_result *result, ct_err *err);
void      ct_maximise_result_free(ct_maximise_result *result);

/* Learn the widths of the kernels of learned models, to about 10 %, with the parameters at their maximum for each
 * width; p: the start, on return that maximum, to 0.01 nats. The object has the new widths afterwards. The sequences
 * have to tell the tails: a width that they do not tell stays. */
ct_status ct_likelihood_learn_kernels(ct_likelihood *likelihood, const uint8_t *part,
                                      const ct_maximise_options *options, double *p, ct_err *err);
/* The kernel of a model; and another one. CT_E_NOISE, naming the model, if it has no normaliser. */
ct_robust ct_likelihood_robust(const ct_likelihood *likelihood, int32_t model);
ct_status ct_likelihood_set_robust(ct_likelihood *likelihood, int32_t model, ct_robust robust, ct_err *err);

/* Learn time constants and periods of biases (ct_noise_model.bias) whose strengths are learned, with the
 * parameters at their maximum for each; p: the start, on return that maximum, to 0.01 nats. The object has the new
 * values afterwards. The standard error of log tau is that of the profile; INFINITY: the sequences do not tell it. A
 * period whose standard error is INFINITY is first looked for from 3 steps to the longest sequence. */
ct_status ct_likelihood_learn_time_constants(ct_likelihood *likelihood, const uint8_t *part,
                                             const ct_maximise_options *options, double *p, ct_err *err);
/* The time constant of a model, NaN if it is not the strength of a Gauss-Markov or oscillating bias; log_error may be
 * NULL. And another one, which the sequences' own graphs do not get. CT_E_ARGUMENT: no such bias. */
double    ct_likelihood_time_constant(const ct_likelihood *likelihood, int32_t model, double *log_error);
ct_status ct_likelihood_set_time_constant(ct_likelihood *likelihood, int32_t model, double tau, double log_error,
                                          ct_err *err);
/* The same of the period of an oscillating bias. */
double    ct_likelihood_period(const ct_likelihood *likelihood, int32_t model, double *log_error);
ct_status ct_likelihood_set_period(ct_likelihood *likelihood, int32_t model, double period, double log_error,
                                   ct_err *err);

/* ---- Errors that last ------------------------------------------------------------------------- */

/* The likelihood takes errors of measurements for independent. Errors of one target may last instead: a landmark whose
 * range is too long for seconds, multipath of a GPS. Learning without truth takes them for motion, so that sigmas of
 * odometry come out too large. They show as correlation of whitened residuals u, which are nearly white otherwise:
 *
 *     rho(lag) = sum u_i u_j / sqrt(sum u_i^2 sum u_j^2)    over pairs of one model, target and row, lag apart
 *
 * A target is what is measured from the poses of a body: a landmark (a variable or a known point), or the world, for
 * absolute measurements. Odometry, loop closures and contacts of two bodies have none. Rows are clipped at 3 sigmas.
 * Bin 0 has neighbours, up to sqrt 2 times their median distance d. Bin k has pairs 2^(k - 1/2) to 2^(k + 1/2) times d
 * apart, one for every measurement. */
#define CT_LASTING_RHO   0.3 /* errors last if neighbours (bins 0 and 1) correlate by more, and by 3 standard errors */
#define CT_LASTING_OVER  0.2 /* they are over where the correlation is below                                         */
#define CT_LASTING_PAIRS 30  /* a bin with fewer pairs does not count                                                */
#define CT_LASTING_BINS  16

typedef struct {
    int     seconds; /* 1: lags are in s; 0: in poses, as some have no time stamp                                     */
    int     row;     /* of the largest rho between neighbours; -1: too few pairs                                      */
    double  rho;     /* that rho; NaN: too few pairs                                                                  */
    /* at which errors of all rows are over. If those of a row are nowhere, at which half of its rho is left. 0: no
     * errors last; INFINITY: they do, and there is no such lag                                                       */
    double  lag;
    int64_t pairs[CT_LASTING_BINS];
    double  lag_of[CT_LASTING_BINS]; /* mean over the pairs of a bin */
    double  rho_of[CT_LASTING_BINS][CT_ROWS_MAX];
} ct_lasting_errors;

/* Of a learned model, over the sequences that took part in the last evaluation, at their estimates, without what
 * ct_likelihood_thin leaves out. */
ct_status ct_likelihood_lasting_errors(const ct_likelihood *likelihood, int32_t model, ct_lasting_errors *out,
                                       ct_err *err);

/* Measurements of a target take part from now on that are `lag` apart or more, from the first on. lag: one per noise
 * model, in the unit of ct_likelihood_lasting_errors; 0: all. Measurements without which a variable is undetermined at
 * the last estimate stay. Solves start over. */
ct_status ct_likelihood_thin(ct_likelihood *likelihood, const double *lag, ct_err *err);
/* Factors of a model that take part; *all (may be NULL) <- all of them. */
int64_t   ct_likelihood_factors(const ct_likelihood *likelihood, int32_t model, int64_t *all);

#ifdef __cplusplus
}
#endif
#endif
