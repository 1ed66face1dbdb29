/* covtune/learn.h: noise models learned from runs whose truth is known.
 *
 *     minimise over theta in its set   L(theta) = mean over sequences of 1/2 |e(x(theta))|^2,
 *     where x(theta) minimises the error of the sequence's graph under theta
 *
 * e is the weighted difference from the truth (evaluate.h). The inner minimum depends on theta through its
 * stationarity h(x, theta) = 0, so with the Hessian H = dh/dx, S = dx/dtheta = -H^-1 dh/dtheta. Everything is
 * computed in p, theta's log space (theta.h).
 *
 *   ct_outer    the outer problem: L, its gradient, and the matrix A'A of its Gauss-Newton method, A = de/dp, at any p
 *   ct_learn    a method that minimises it, with what belongs to that: a start in closed form, folds, scale, error bars
 *   ct_checkpoint   what a run was given so far, in a file that a killed run is resumed from
 *
 * Sequences are independent and run on `jobs` threads; what they give is added up in their order. The number of
 * threads changes no bit.
 */
#ifndef COVTUNE_LEARN_H
#define COVTUNE_LEARN_H

#include <covtune/evaluate.h>
#include <covtune/finding.h>
#include <covtune/theta.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The outer problem ----------------------------------------------------------------------- */

/* Where derivatives come from. X(constant, name) */
#define CT_GRADIENT_LIST(X)                                                                                           \
    X(CT_GRADIENT_ADJOINT, "adjoint")         /* the gradient by one back-substitution, whatever their number */      \
    X(CT_GRADIENT_SENSITIVITY, "sensitivity") /* S by one back-substitution a parameter, as whenever A'A is wanted */ \
    X(CT_GRADIENT_NUMERIC, "numeric")         /* the paper's: a perturbed solve a parameter; through any inner solver */

typedef enum {
#define X(constant, name) constant,
    CT_GRADIENT_LIST(X)
#undef X
    CT_GRADIENT_COUNT
} ct_gradient;

/* Which Hessian of the inner problem. X(constant, name) */
#define CT_HESSIAN_LIST(X)                                                                          \
    X(CT_HESSIAN_EXACT, "exact") /* second derivatives included: right */                           \
    X(CT_HESSIAN_GAUSS_NEWTON, "gn") /* J'J: wrong by as much as residuals are large */

typedef enum {
#define X(constant, name) constant,
    CT_HESSIAN_LIST(X)
#undef X
    CT_HESSIAN_COUNT
} ct_hessian;

const char *ct_gradient_name(ct_gradient gradient);
int         ct_gradient_find(const char *name); /* a ct_gradient, or -1 */
const char *ct_hessian_name(ct_hessian hessian);
int         ct_hessian_find(const char *name); /* a ct_hessian, or -1 */

typedef struct {
    ct_loss          loss;
    ct_gradient      gradient;
    ct_hessian       hessian;
    ct_solve_options inner; /* tight: derivatives are only as good as the minimum */
    double           step;  /* numeric: by which log variances are perturbed      */
    int              jobs;
    /* Inner estimates made step by step, as deployment makes them (ct_replay, from measurements), and not by
     * `inner`. They are minima only as far as their thresholds let them: differences of them are what they are;
     * adjoint and sensitivity take the factor at the estimate, and are right as far as its stationarity is small. */
    int               incremental;
    ct_replay_options replay;
} ct_outer_options;

ct_outer_options ct_outer_defaults(void);
/* The inference of the outer problem's estimates, for ct_evaluate: batch from the truth, or as `incremental` says. */
ct_inference ct_outer_inference(const ct_outer_options *options);

typedef struct ct_outer ct_outer;

/* Borrows sequences and theta; copies noise, whose frozen models are used as they are. Inner solves start from the
 * truth at first, later from the last accepted solution. Refuses, with a sentence: a sequence without truth, a
 * learned model that no factor uses, a table that does not fit. */
ct_status ct_outer_new(int32_t count, const ct_sequence *const seq[], const ct_noise *noise, const ct_theta *theta,
                       const ct_outer_options *options, ct_outer **out, ct_err *err);
void      ct_outer_free(ct_outer *outer);

int32_t         ct_outer_sequences(const ct_outer *outer);
const ct_theta *ct_outer_theta(const ct_outer *outer);

/* What is known at a point. A sequence whose inner solve fails makes the loss infinite and the rest zero. */
typedef struct {
    double  loss;      /* mean over the sequences that took part       */
    double *gradient;  /* m, by p; the caller's memory, NULL: not wanted */
    double *matrix;    /* m x m, mean of A'A; NULL: not wanted         */
    /* m x m, mean of A' D P D' A, P = H^-1: the covariance of the gradient if claimed uncertainty is right; NULL: not
     * wanted */
    double *gradient_covariance;
    double *each;      /* the loss of each sequence (NaN: not in `part`); NULL: not wanted */
    int32_t failed;    /* how many inner solves did not reach a minimum */
    int32_t which;     /* the first of them, or -1                     */
    ct_stop stop;      /* how that one ended                           */
    int     solves, iterations; /* of inner solvers, over all          */
    int32_t inexact;   /* sequences where the exact Hessian was not positive definite, and J'J stood in */
    /* Of the factors of learned models, where no derivative is wanted (else 0): sum of 2 rho, each over what is
     * expected of its kernel; and what that sum should be if their models are right, their rows less their share of
     * the unknowns. */
    double  chi_squared, degrees;
    double *gradients; /* sequences x m, the gradient of each; NULL: not wanted */
    double  stationarity; /* largest |H^-1 h| left: how far from the minimum derivatives were taken */
} ct_outer_value;

/* Evaluate at p (log space). part: a byte per sequence, 0 leaves it out; NULL: all. CT_OK also where inner solves
 * fail: see `failed`. */
ct_status ct_outer_evaluate(ct_outer *outer, const double *p, const uint8_t *part, ct_outer_value *value, ct_err *err);
/* Inner solves start from here on at the solutions of the last evaluation, of those sequences that took part. What
 * was evaluated so far is settled: a checkpoint (below) may be written. */
ct_status ct_outer_accept(ct_outer *outer, ct_err *err);

/* Second moments of residuals at the truth, which are samples of the noise: theta of most likelihood in closed form.
 * p (log space, not projected); samples[i] (may be NULL): how many residuals parameter i rests on, 0 where the truth
 * is not known well enough or all are exactly zero, and p keeps the table's value. */
ct_status ct_outer_closed_form(const ct_outer *outer, const uint8_t *part, double *p, int64_t *samples, ct_err *err);

/* Inference as in deployment, under p: sequence by sequence. out: per sequence; those not in part are left alone. */
ct_status ct_outer_validate(ct_outer *outer, const double *p, const uint8_t *part, const ct_inference *inference,
                            int nees, ct_evaluation *out, ct_err *err);

/* How far derivatives are from central differences of the loss, Richardson-extrapolated, at p: |g - d| / |d| (|g|
 * where d is zero). Inner solves start from the truth again after it. */
typedef struct {
    double difference_norm;                                 /* |d|                          */
    double error[CT_GRADIENT_COUNT][CT_HESSIAN_COUNT];      /* NaN: cannot be had (numeric has no Hessian: [..][0]) */
    /* |sum of d over scales| / sum |d|: 0 where everything is learned and Gaussian */
    double invariance;
} ct_gradient_check;

ct_status ct_outer_check(ct_outer *outer, const double *p, ct_gradient_check *out, ct_err *err);

int64_t ct_outer_solves(const ct_outer *outer); /* inner solves so far */

/* ---- Learning -------------------------------------------------------------------------------- */

/* The table of learning methods. Library, program and documents read it and nothing else.
 *
 * X(constant, name, start, iterations, limit, space, traits, text)
 *   start       where it starts unless told otherwise: CLOSED_FORM, or TABLE, the start values
 *   iterations  their limit unless told otherwise; 0: it does not iterate
 *   limit       TOTAL, or PER_PARAMETER: the limit is so many times the number of parameters
 *   space       coordinates that it steps in: VARIANCE, or LOG, their logarithms
 *   traits      see ct_learn_trait
 *   text        one line for --help and reports
 * To add a method: a line here, its function in src/learn, and a case in run_method (src/learn/learn.c). */
#define CT_LEARN_LIST(X)                                                                                               \
    X(CT_LEARN_LM, "lm", CLOSED_FORM, 50, TOTAL, LOG, CT_LEARN_GRADIENT | CT_LEARN_DESCENDS | CT_LEARN_PRIOR,          \
      "bounded Levenberg-Marquardt in log theta, prior by cross-validation")                                           \
    X(CT_LEARN_CLOSED_FORM, "closed-form", CLOSED_FORM, 0, TOTAL, LOG, CT_LEARN_DESCENDS,                              \
      "second moments of residuals at the truth")                                                                      \
    X(CT_LEARN_FRANK_WOLFE, "fw", TABLE, 100, TOTAL, VARIANCE, CT_LEARN_GRADIENT | CT_LEARN_OPEN_LOOP,                 \
      "Frank-Wolfe as the paper has it")                                                                               \
    X(CT_LEARN_FRANK_WOLFE_LOG, "fw-log", TABLE, 100, TOTAL, LOG, CT_LEARN_GRADIENT | CT_LEARN_OPEN_LOOP,              \
      "Frank-Wolfe in log theta")                                                                                      \
    X(CT_LEARN_PROJECTED_GRADIENT, "pg", CLOSED_FORM, 100, TOTAL, LOG, CT_LEARN_GRADIENT | CT_LEARN_DESCENDS,          \
      "projected gradient in log theta, spectral steps")                                                               \
    X(CT_LEARN_LBFGS, "lbfgs", CLOSED_FORM, 100, TOTAL, LOG,                                                           \
      CT_LEARN_GRADIENT | CT_LEARN_DESCENDS | CT_LEARN_BOX_ONLY,                                                       \
      "NLopt's L-BFGS in log theta")                                                                                   \
    X(CT_LEARN_TNEWTON, "tnewton", CLOSED_FORM, 100, TOTAL, LOG,                                                       \
      CT_LEARN_GRADIENT | CT_LEARN_DESCENDS | CT_LEARN_BOX_ONLY,                                                       \
      "NLopt's truncated Newton in log theta")                                                                         \
    X(CT_LEARN_MMA, "mma", CLOSED_FORM, 100, TOTAL, LOG, CT_LEARN_GRADIENT | CT_LEARN_DESCENDS | CT_LEARN_BOX_ONLY,    \
      "NLopt's method of moving asymptotes in log theta")                                                              \
    X(CT_LEARN_SLSQP, "slsqp", CLOSED_FORM, 100, TOTAL, LOG,                                                           \
      CT_LEARN_GRADIENT | CT_LEARN_DESCENDS | CT_LEARN_BOX_ONLY,                                                       \
      "NLopt's sequential quadratic programming in log theta")                                                         \
    X(CT_LEARN_NELDER_MEAD, "nelder-mead", TABLE, 200, PER_PARAMETER, VARIANCE,                                        \
      CT_LEARN_DESCENDS | CT_LEARN_BOX_ONLY | CT_LEARN_EITHER_SPACE,                                                   \
      "adaptive Nelder-Mead simplex with bounds, as SciPy's; no derivatives")                                          \
    X(CT_LEARN_POWELL, "powell", TABLE, 1000, PER_PARAMETER, VARIANCE,                                                 \
      CT_LEARN_DESCENDS | CT_LEARN_BOX_ONLY | CT_LEARN_EITHER_SPACE,                                                   \
      "Powell's direction set with Brent's line search, as SciPy's; no derivatives")                                   \
    X(CT_LEARN_LEO, "leo", TABLE, 100, TOTAL, VARIANCE, CT_LEARN_RANDOM,                                               \
      "LEO: the likelihood of the truth, by samples of the posterior, with Adam")                                      \
    X(CT_LEARN_BOBYQA, "bobyqa", CLOSED_FORM, 200, PER_PARAMETER, LOG, CT_LEARN_DESCENDS | CT_LEARN_BOX_ONLY,          \
      "NLopt's BOBYQA in log theta: quadratic models, no derivatives")                                                 \
    X(CT_LEARN_SUBPLEX, "subplex", CLOSED_FORM, 200, PER_PARAMETER, LOG, CT_LEARN_DESCENDS | CT_LEARN_BOX_ONLY,        \
      "NLopt's Subplex in log theta: Nelder-Mead in subspaces, no derivatives")                                        \
    X(CT_LEARN_CRS, "crs", CLOSED_FORM, 1000, PER_PARAMETER, LOG,                                                      \
      CT_LEARN_DESCENDS | CT_LEARN_BOX_ONLY | CT_LEARN_RANDOM,                                                         \
      "NLopt's controlled random search in log theta: global, no derivatives")

typedef enum {
#define X(constant, ...) constant,
    CT_LEARN_LIST(X)
#undef X
    CT_LEARN_COUNT
} ct_learn_method;

typedef enum {
    CT_LEARN_GRADIENT = 1,      /* needs the gradient of the loss                                          */
    CT_LEARN_DESCENDS = 2,      /* answers with the smallest loss it has evaluated; others with the last   */
    CT_LEARN_BOX_ONLY = 4,      /* needs a box: no spread limit, no bounds on eigenvalues                  */
    CT_LEARN_RANDOM = 8,        /* draws random numbers, from options.seed                                 */
    CT_LEARN_EITHER_SPACE = 16, /* options.space replaces `space`                                          */
    CT_LEARN_PRIOR = 32,        /* has a prior towards the closed form, weighted by cross-validation       */
    CT_LEARN_OPEN_LOOP = 64     /* steps of fixed length 2 / (options.M + iteration)                       */
} ct_learn_trait;

typedef enum { CT_LEARN_FROM_CLOSED_FORM, CT_LEARN_FROM_TABLE } ct_learn_from;

/* A line of the table. */
typedef struct {
    const char   *name;
    ct_learn_from start;
    int           iterations;
    int           per_parameter; /* 1: `iterations` are per parameter   */
    ct_space      space;
    unsigned      traits;        /* of ct_learn_trait                   */
    const char   *text;
} ct_learn_method_info;

const ct_learn_method_info *ct_learn_method_get_info(ct_learn_method method); /* NULL: no such method */
const char                 *ct_learn_method_name(ct_learn_method method);
int                         ct_learn_method_find(const char *name); /* a ct_learn_method, or -1 */
/* Does it have that trait? 0 also where there is no such method. */
int ct_learn_method_has(ct_learn_method method, ct_learn_trait trait);
/* The default limit of iterations for m parameters. */
int ct_learn_method_iterations(ct_learn_method method, int32_t m);

/* Why learning stopped. X(constant, name, what it means) */
#define CT_LEARN_STOP_LIST(X)                                                                               \
    X(CT_LEARN_STOP_NONE, "none", "nothing was run")                                                        \
    X(CT_LEARN_STOP_LOSS, "loss", "the loss no longer decreases")                                           \
    X(CT_LEARN_STOP_STEP, "step", "the step is smaller than asked for")                                     \
    X(CT_LEARN_STOP_GRADIENT, "gradient", "no direction inside the bounds decreases the loss")              \
    X(CT_LEARN_STOP_ITERATIONS, "iterations", "the limit of iterations is reached")                         \
    X(CT_LEARN_STOP_CLOSED_FORM, "closed_form", "nothing did better than the closed form on held-out runs") \
    X(CT_LEARN_STOP_START, "start", "nothing did better than the start values on held-out runs")            \
    X(CT_LEARN_STOP_STUCK, "stuck", "no step decreases the loss")                                           \
    X(CT_LEARN_STOP_CANCELLED, "cancelled", "the caller said stop; this is the best so far")

typedef enum {
#define X(constant, name, what) constant,
    CT_LEARN_STOP_LIST(X)
#undef X
    CT_LEARN_STOP_COUNT
} ct_learn_stop;

const char *ct_learn_stop_name(ct_learn_stop stop);
const char *ct_learn_stop_meaning(ct_learn_stop stop);

/* Told after every evaluation; return non-zero to stop at the best so far. */
typedef struct {
    const char   *phase;     /* "start", "folds", "learn", "scale"                 */
    int           iteration; /* of the phase, from 0                               */
    int           iterations; /* there will be at most                             */
    double        train, heldout; /* loss; NaN: not known                          */
    double        spread;    /* largest over smallest variance, in theta's units   */
    double        done;      /* of the whole run, 0 to 1, as far as can be told     */
    double        seconds;
    const double *p;         /* log space                                          */
} ct_learn_progress;
typedef int (*ct_learn_progress_fn)(void *user, const ct_learn_progress *progress);

/* X(constant, name, what it is) */
#define CT_SCALE_LIST(X)                                                                            \
    X(CT_SCALE_FIT, "fit", "as far as the bounds allow")                                            \
    X(CT_SCALE_FREE, "free", "wholly, bounds or not")                                               \
    X(CT_SCALE_NONE, "none", "reported only")

typedef enum {
#define X(constant, name, what) constant,
    CT_SCALE_LIST(X)
#undef X
    CT_SCALE_COUNT
} ct_scale;

const char *ct_scale_name(ct_scale scale);
int         ct_scale_find(const char *name); /* a ct_scale, or -1 */

/* LEO (energy-based learning): the gradient of E(truth) - mean of E(samples), E the error of a run's factors of
 * learned models over their number, samples drawn from the Gaussian N(x, H^-1) around its estimate; Adam's steps on
 * precisions (1 / variance, in theta's units), an iteration a step. Defaults are those of LEO's public code. */
typedef struct {
    int    samples;     /* a run and iteration: 10                              */
    double rate, decay; /* of Adam: 0.1, times 0.95 after each iteration        */
    double l2;          /* weight of the sum of squares of precisions: 1e-3     */
    double clip;        /* precisions are not below: 1e-4                       */
} ct_leo;

typedef struct {
    ct_learn_method method;
    /* 0: the default of the method, see CT_LEARN_LIST */
    int             max_iterations;
    double          relative, step; /* stop: relative fall of the loss; largest change of a log variance   */
    double          M;              /* fw: alpha = 2 / (M + iteration)                                     */
    /* start from: 1 the table's values, 0 the closed form, -1 the default of the method */
    int             from_table;
    /* nelder-mead, powell: coordinates they search in; variances, as the paper, or their logarithms */
    ct_space        space;
    ct_leo          leo;
    uint64_t        seed;           /* leo, crs: of what they draw                                         */
    /* lm: weight of the prior towards the closed form; NaN: by folds (0.1 without folds, none from the table's values);
     * 0: none */
    double          prior;
    int             folds;          /* lm: at most so many; < 2: none                                      */
    ct_inference    deployment;         /* what estimates will be made with: judges held-out runs, and the answer */
    ct_scale        scale;
    ct_learn_progress_fn progress;  /* may be NULL */
    void           *user;
} ct_learn_options;

ct_learn_options ct_learn_defaults(void);

/* A candidate of cross-validation (lm): a weight of the prior, its parameters fitted on each fold's training part. */
#define CT_LEARN_CANDIDATES_MAX 8

typedef struct {
    /* weight; INFINITY: the closed form; 0: no prior, from the start values; NaN: the start values themselves */
    double prior;
    double heldout, heldout_error;     /* mean held-out loss of a sequence, its standard error over sequences     */
    double log_ratio, log_ratio_error; /* mean of log(loss / loss of the chosen one), paired, its standard error */
    int    chosen;
} ct_learn_candidate;

typedef struct {
    ct_learn_method method;
    ct_learn_stop   stop;
    int             iterations, evaluations;
    int64_t         inner_solves;
    double          seconds;
    /* at the table's values (projected), the closed form (projected), the answer */
    double          loss_start, loss_closed_form, loss_train;
    /* mean over folds, judged as in deployment; NaN: no folds */
    double          loss_heldout;
    /* the same of these two; NaN: no folds */
    double          loss_heldout_closed_form, loss_heldout_start;
    /* of the training runs under the answer, estimated as in deployment; NaN: not looked at */
    double          loss_deployment;
    /* 1: in deployment estimates are made step by step (options.deployment, where that is CT_INFERENCE_AUTO as
     * chosen) */
    int             incremental;
    /* what cross-validation compared; 0: it was not used. A loss that is not finite is NaN */
    int                candidates;
    ct_learn_candidate candidate[CT_LEARN_CANDIDATES_MAX];
    /* weight used; INFINITY: the closed form itself; NaN: the start stays */
    double          prior;
    double          spread;
    /* common factor on variances: from consistency; what was applied. NaN: could not be had */
    double          scale_wanted, scale_applied;
    /* 1: tracking does not see it, as frozen models have no say */
    int             scale_free;
    /* per degree, on held-out runs (on training runs if there are no folds), before and after the scale */
    double          chi_before, chi_after, nees_before, nees_after;
    /* 1: on held-out runs */
    int             heldout;
    /* |sum of gradient over scales| / sum |gradient| at the answer */
    double          invariance;
    /* largest |H^-1 h| of an inner estimate at the answer: how far from a minimum derivatives were taken */
    double          stationarity;
    int32_t         parameters;
    /* the answer, log space, scale applied */
    double         *p;
    /* the closed form of all training sequences, projected into the bounds, log space, without that scale */
    double         *closed_form;
    /* of each log variance; INFINITY: not determined; NaN: not learned */
    double         *standard_error;
    /* -1, 0, +1 per parameter (turned coordinates of full blocks) */
    int8_t         *at_bound;
    /* what the caller should know without having asked: finding.h lists the codes */
    ct_findings     findings;
} ct_learn_result;

/* Can the method learn that? CT_E_ARGUMENT with a sentence where ct_learn would refuse: box methods and what is no
 * box, leo and full covariances or a truth that is not whole. */
ct_status ct_learn_check(const ct_outer *outer, ct_learn_method method, ct_err *err);
/* Learn. noise: start values in, learned models out (those frozen stay). On failure noise is as it was. The result
 * is freed by ct_learn_result_free whatever the status. */
ct_status ct_learn(ct_outer *outer, const ct_learn_options *options, ct_noise *noise, ct_learn_result *result,
                   ct_err *err);
void      ct_learn_result_free(ct_learn_result *result);

/* What the result says of a model, row by row (CT_NOISE_DIM_MAX of each): standard errors of log variances, NaN:
 * frozen, or held by a bound; INFINITY: not determined. at_bound: -1, 0, +1 for each row's variance; of a full
 * covariance for its eigenvalues, which ascend. */
void ct_learn_rows(const ct_theta *theta, const ct_learn_result *result, int32_t model,
                   double standard_error[CT_NOISE_DIM_MAX], int8_t at_bound[CT_NOISE_DIM_MAX]);

/* Where a noise file comes from; texts may be NULL. */
typedef struct {
    const char *command, *dataset;
    uint64_t    digest;   /* ct_outer_digest                        */
    int         finished; /* 0: a best so far, of a run under way   */
} ct_learn_origin;

/* Write the noise file of a table (replaced atomically), each model marked as learned or not, and beside each
 * learned one's numbers its bounds, its value in `start`, and, unless result is NULL, standard errors (of log
 * variance; of sigma in percent) and the bounds reached; and the origin. Models "group#number" of a learned "group"
 * are left out. No time or date: the same run, the same bytes. */
ct_status ct_learn_write_noise(const ct_theta *theta, const ct_noise *noise, const ct_noise *start,
                               const ct_learn_result *result, const ct_learn_origin *origin, const char *path,
                               ct_err *err);

/* ---- Runs that survive ----------------------------------------------------------------------- */

/* Everything a method does follows from the values that ct_outer gives it. A ct_checkpoint keeps those, in order: a
 * method that is run again is given them back until there are no more, and goes on from there with the same bits. It
 * is written to a file (replaced atomically, synced) as learning goes, at most every `every_s` seconds, with the
 * solutions that inner solves start from. */
typedef struct ct_checkpoint ct_checkpoint;

/* An empty one, written to path at once; or, with resume, the one found there, which must have been made with the
 * same `key` (a digest of data and options, see ct_outer_digest); CT_E_ARGUMENT if not. A file cut short or changed
 * is refused. */
ct_status ct_checkpoint_open(const char *path, int resume, uint64_t key, double every_s, ct_checkpoint **out,
                             ct_err *err);
void      ct_checkpoint_free(ct_checkpoint *checkpoint);
/* From now on outer's values are taken from and put into it; it is borrowed until outer is freed. */
void ct_outer_set_checkpoint(ct_outer *outer, ct_checkpoint *checkpoint);
/* Write it now. */
ct_status ct_checkpoint_write(ct_checkpoint *checkpoint, ct_err *err);
/* Values that were given back so far; and whether there are more to be given back. */
int64_t ct_checkpoint_replayed(const ct_checkpoint *checkpoint);
int     ct_checkpoint_replays(const ct_checkpoint *checkpoint);
/* Does that file begin as one does? 0 also where it cannot be read. */
int ct_checkpoint_is(const char *path);

/* A digest of sequences, truth, noise, theta and options of an outer problem, and of `text` (other options; may be
 * NULL). */
uint64_t ct_outer_digest(const ct_outer *outer, const char *text);

#ifdef __cplusplus
}
#endif
#endif
