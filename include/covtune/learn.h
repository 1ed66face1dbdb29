/* covtune/learn.h: noise parameters learned from sequences with ground truth.
 *
 * The problem is bilevel:
 *
 *     minimise over theta in its set   L(theta) = mean over sequences of 1/2 |e(x(theta))|^2       (outer problem)
 *     where x(theta) minimises the error of the sequence's factor graph under theta                (inner problem)
 *
 * e is the weighted difference of the estimate from the truth (evaluate.h). At the inner minimum h(x, theta) = 0, so
 * S = dx/dtheta = -H^-1 dh/dtheta, with H = dh/dx. Everything is computed in p, the log space of theta (theta.h).
 *
 *   ct_outer       the outer problem: L, its gradient and its Gauss-Newton matrix A'A, A = de/dp, at any p
 *   ct_learn       minimises L by a method, and adds: closed-form start, cross-validation of the prior, common scale,
 *                  standard errors, findings
 *   ct_checkpoint  the values of a run in a file, from which an interrupted run resumes
 *
 * Sequences are independent and run on `jobs` threads. Their values are added in the order of the sequences, so the
 * number of threads changes no bit of a result. No function here prints.
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

/* How derivatives of the loss are computed. X(constant, name)
 *   adjoint      one back-substitution, for any number of parameters
 *   sensitivity  S = dx/dp: one back-substitution per parameter. A'A always uses it
 *   numeric      differences of one perturbed solve per parameter, as in the paper. Works with any inner solver */
#define CT_GRADIENT_LIST(X)                                                                         \
    X(CT_GRADIENT_ADJOINT, "adjoint")                                                               \
    X(CT_GRADIENT_SENSITIVITY, "sensitivity")                                                       \
    X(CT_GRADIENT_NUMERIC, "numeric")

typedef enum {
#define X(constant, name) constant,
    CT_GRADIENT_LIST(X)
#undef X
    CT_GRADIENT_COUNT
} ct_gradient;

/* The Hessian of the inner problem that derivatives use. X(constant, name)
 *   exact  with second derivatives of the residuals
 *   gn     Gauss-Newton, J'J. Its error grows with the residuals */
#define CT_HESSIAN_LIST(X)                                                                          \
    X(CT_HESSIAN_EXACT, "exact")                                                                    \
    X(CT_HESSIAN_GAUSS_NEWTON, "gn")

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
    ct_solve_options inner; /* tight tolerances: derivatives are as accurate as the minimum  */
    double           step;  /* numeric: perturbation of log variances                        */
    int              jobs;  /* threads                                                       */
    /* 1: inner estimates are incremental, as in deployment (ct_replay, from measurements), and `inner` is not used.
     * They are minima up to the thresholds of `replay`. Numeric derivatives are differences of them. Adjoint and
     * sensitivity use the factorisation at the estimate; their error grows with its stationarity. */
    int               incremental;
    ct_replay_options replay;
    /* 1: truth is neither needed nor used. There is no loss; only CT_LEARN_TRUTHLESS methods learn. */
    int               no_truth;
    const ct_comm    *comm; /* sequences are shared between its ranks; borrowed; NULL: one process */
    /* called when another sequence of a pass over them is done, by any thread, one call at a time; may be NULL */
    void (*visited)(void *user, int64_t done, int64_t count);
    void *user;
} ct_outer_options;

ct_outer_options ct_outer_defaults(void);
/* The inference of the outer problem's estimates, for ct_evaluate: batch from the truth, or as `incremental` says. */
ct_inference ct_outer_inference(const ct_outer_options *options);

typedef struct ct_outer ct_outer;

/* Borrows sequences and theta; copies noise, whose frozen models are used as they are. Inner solves start from the
 * truth, later from the last accepted solution. Sequences without truth have no loss and do not count below; the
 * likelihood alone uses them (ct_learn). CT_E_ARGUMENT or CT_E_NOISE: no sequence has truth, a learned model that no
 * factor uses, a table that does not match. */
ct_status ct_outer_new(int32_t count, const ct_sequence *const seq[], const ct_noise *noise, const ct_theta *theta,
                       const ct_outer_options *options, ct_outer **out, ct_err *err);
void      ct_outer_free(ct_outer *outer);

int32_t         ct_outer_sequences(const ct_outer *outer); /* those with truth */
const ct_theta *ct_outer_theta(const ct_outer *outer);

/* Chi-square of a row of a model over its expectation, 1 if its variance is right; row -1: of all rows. *degrees (may
 * be NULL) <- factors less leverage. NaN if no degrees are left, or no such row. */
double ct_model_fit_chi(const ct_noise_model *model, const ct_model_fit *fit, int row, double *degrees);

/* The outer problem at a point; m is the number of parameters. Arrays are the caller's; NULL: not wanted. If an inner
 * solve fails, the loss is infinite and arrays are zero. */
typedef struct {
    double  loss;                /* mean over the sequences that took part                             */
    double *gradient;            /* m: dL/dp                                                           */
    double *matrix;              /* m x m: mean of A'A                                                 */
    double *gradient_covariance; /* m x m: mean of A' D P D' A, P = H^-1. The covariance of a sequence's gradient if
                                  * the estimator's covariance P is right                              */
    double *each;                /* per sequence: its loss, NaN where it did not take part             */
    int32_t failed;              /* inner solves that did not reach a minimum                          */
    int32_t which;               /* the first of them, or -1                                           */
    ct_stop stop;                /* how that one ended                                                 */
    int     solves, iterations;  /* of inner solvers, summed                                           */
    int32_t inexact;             /* sequences whose exact Hessian is not positive definite: J'J was used */
    ct_model_fit *fit;           /* per noise model. Costs a few factorisations a sequence             */
    double *gradients;           /* sequences x m: the gradient of each                                */
    double  stationarity;        /* largest |H^-1 h|: distance from the minimum where derivatives were taken */
} ct_outer_value;

/* Evaluate at p (log space). part: a byte per sequence, 0 leaves it out; NULL: all. Failed inner solves are CT_OK: see
 * `failed`. */
ct_status ct_outer_evaluate(ct_outer *outer, const double *p, const uint8_t *part, ct_outer_value *value, ct_err *err);
/* Later inner solves start at the solutions of the last evaluation, for sequences that took part. The checkpoint may be
 * written from here on. */
ct_status ct_outer_accept(ct_outer *outer, ct_err *err);

/* The loss of a sequence by the measurements of some of its factors, all of one model, and by the logarithms of their
 * multipliers (ct_graph_set_multiplier). The caller's, borrowed; every evaluation with a gradient fills it: zeros if
 * the inner solve failed. A sequence that has no part in an evaluation keeps its numbers. */
typedef struct {
    int32_t        count;
    const int32_t *factor;         /* of the sequence's graph, each once                                     */
    double        *measurement;    /* count x n: by the first part of z, perturbed on the right, n its dimension */
    double        *log_multiplier; /* count; NULL: not wanted                                                */
} ct_measurement_gradient;

/* Ask for it; watch NULL: no longer. sequence: its number among those with truth. Measurements and multipliers of the
 * graphs may change between evaluations. One adjoint solve a sequence, for any number of factors. CT_E_UNSUPPORTED:
 * numeric derivatives, several processes. CT_E_ARGUMENT: no such sequence or factor, factors of several models. */
ct_status ct_outer_watch_measurements(ct_outer *outer, int32_t sequence, const ct_measurement_gradient *watch,
                                      ct_err *err);

/* Maximum-likelihood theta in closed form: second moments of the residuals at the truth, which are samples of the
 * noise. p: log space, not projected into the set. samples[i] (may be NULL): residuals that parameter i is estimated
 * from; 0 if the truth does not determine them or all are zero: p[i] is then the value of the table. */
ct_status ct_outer_closed_form(const ct_outer *outer, const uint8_t *part, double *p, int64_t *samples, ct_err *err);

/* Estimate each sequence under p by `inference`, as in deployment, and evaluate it. out: per sequence; entries that are
 * not in `part` are unchanged. nees: 1 computes NEES as well. */
ct_status ct_outer_validate(ct_outer *outer, const double *p, const uint8_t *part, const ct_inference *inference,
                            int nees, ct_evaluation *out, ct_err *err);

/* Derivatives at p against d, Richardson-extrapolated central differences of the loss: |g - d| / |d|, or |g| if d is
 * zero. Afterwards inner solves start from the truth. */
typedef struct {
    double difference_norm;                            /* |d|                                                       */
    double error[CT_GRADIENT_COUNT][CT_HESSIAN_COUNT]; /* NaN: not available. Numeric needs no Hessian: [numeric][0] */
    double invariance; /* |sum of d over scale parameters| / sum |d|: 0 if all models are learned and Gaussian      */
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
    X(CT_LEARN_LIKELIHOOD, "likelihood", TABLE, 100, TOTAL, LOG, CT_LEARN_DESCENDS | CT_LEARN_TRUTHLESS,               \
      "maximum likelihood of measurements and truth; without truth, of the measurements alone")                        \
    X(CT_LEARN_FRANK_WOLFE, "fw", TABLE, 100, TOTAL, VARIANCE,                                                         \
      CT_LEARN_GRADIENT | CT_LEARN_OPEN_LOOP | CT_LEARN_CORNERS,                                                       \
      "Frank-Wolfe as the paper has it")                                                                               \
    X(CT_LEARN_FRANK_WOLFE_LOG, "fw-log", TABLE, 100, TOTAL, LOG,                                                      \
      CT_LEARN_GRADIENT | CT_LEARN_OPEN_LOOP | CT_LEARN_CORNERS,                                                       \
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
      CT_LEARN_DESCENDS | CT_LEARN_BOX_ONLY | CT_LEARN_RANDOM | CT_LEARN_CORNERS,                                      \
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
    CT_LEARN_OPEN_LOOP = 64,    /* steps of fixed length 2 / (options.M + iteration)                       */
    CT_LEARN_TRUTHLESS = 128,   /* needs no truth                                                          */
    CT_LEARN_CORNERS = 256      /* goes to corners of the bounds, or searches all that they hold: see
                                 * ct_learn_default_bounds                                                 */
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
#define CT_LEARN_STOP_LIST(X)                                                                                    \
    X(CT_LEARN_STOP_NONE, "none", "the method did not start")                                                    \
    X(CT_LEARN_STOP_LOSS, "loss", "the relative decrease of the loss is below its tolerance")                    \
    X(CT_LEARN_STOP_STEP, "step", "the step is below its tolerance")                                             \
    X(CT_LEARN_STOP_GRADIENT, "gradient", "no direction inside the bounds decreases the loss")                   \
    X(CT_LEARN_STOP_ITERATIONS, "iterations", "the limit of iterations is reached")                              \
    X(CT_LEARN_STOP_CLOSED_FORM, "closed_form", "no candidate is better than the closed form on held-out sequences") \
    X(CT_LEARN_STOP_LIKELIHOOD, "likelihood", "the maximum of the likelihood; no candidate is better")                 \
    X(CT_LEARN_STOP_START, "start", "no candidate is better than the start values on held-out sequences")        \
    X(CT_LEARN_STOP_STUCK, "stuck", "no step decreases the loss")                                                \
    X(CT_LEARN_STOP_CANCELLED, "cancelled", "the caller cancelled; this is the best so far")

typedef enum {
#define X(constant, name, what) constant,
    CT_LEARN_STOP_LIST(X)
#undef X
    CT_LEARN_STOP_COUNT
} ct_learn_stop;

const char *ct_learn_stop_name(ct_learn_stop stop);
int         ct_learn_stop_find(const char *name); /* a ct_learn_stop, or -1 */
const char *ct_learn_stop_meaning(ct_learn_stop stop);

/* The phases of a run, in their order. X(constant, name in history.jsonl) */
#define CT_LEARN_PHASE_LIST(X)                                                            \
    X(CT_LEARN_PHASE_START, "start") /* start values and closed form, evaluated once */   \
    X(CT_LEARN_PHASE_FOLDS, "folds") /* cross-validation, on a part of the sequences */   \
    X(CT_LEARN_PHASE_LEARN, "learn") /* the method, on all training sequences        */   \
    X(CT_LEARN_PHASE_SCALE, "scale") /* consistency under the common scale           */

typedef enum {
#define X(constant, name) constant,
    CT_LEARN_PHASE_LIST(X)
#undef X
    CT_LEARN_PHASE_COUNT
} ct_learn_phase;

const char *ct_learn_phase_name(ct_learn_phase phase);
int         ct_learn_phase_find(const char *name); /* a ct_learn_phase, or -1 */

/* Progress, reported after every evaluation. A callback that returns non-zero stops at the best so far. */
typedef struct {
    ct_learn_phase phase;
    int            iteration;      /* of the phase, from 0                              */
    int            iterations;     /* their limit                                       */
    double         train, heldout; /* losses; NaN: not known                            */
    double         spread;         /* largest over smallest variance, in theta's units  */
    double         done;           /* fraction of the run, 0 to 1, estimated            */
    double         seconds;
    const double  *p;              /* log space                                         */
} ct_learn_progress;
typedef int (*ct_learn_progress_fn)(void *user, const ct_learn_progress *progress);

/* The common scale: the loss determines ratios of variances, consistency their common factor. Which part of that factor
 * is applied. X(constant, name, what it is) */
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

/* Which consistency determines the factor. X(constant, name, what it is) */
#define CT_SCALE_FROM_LIST(X)                                                                                          \
    X(CT_SCALE_FROM_NEES, "nees", "errors of held-out sequences are as large as claimed")                              \
    X(CT_SCALE_FROM_CHI2, "chi2", "residuals have their expected size")

typedef enum {
#define X(constant, name, what) constant,
    CT_SCALE_FROM_LIST(X)
#undef X
        CT_SCALE_FROM_COUNT
} ct_scale_from;

const char *ct_scale_from_name(ct_scale_from from);
int ct_scale_from_find(const char *name); /* a ct_scale_from, or -1 */

const char *ct_scale_name(ct_scale scale);
int         ct_scale_find(const char *name); /* a ct_scale, or -1 */

/* Options of LEO (Sodhi et al. 2021), energy-based learning. The gradient is that of E(truth) - mean of E(samples), E
 * the error of the factors of learned models over their number. Samples are drawn from N(x, H^-1) around the estimate.
 * Adam steps in precisions (1 / variance, in theta's units). Defaults are those of LEO's public code. */
typedef struct {
    int    samples;     /* per sequence and iteration: 10                        */
    double rate, decay; /* of Adam: 0.1, multiplied by 0.95 after each iteration */
    double l2;          /* weight of the sum of squared precisions: 1e-3         */
    double clip;        /* smallest precision: 1e-4                              */
} ct_leo;

typedef struct {
    ct_learn_method method;
    int             max_iterations; /* 0: the default of the method, see CT_LEARN_LIST                      */
    double          relative;       /* stop: relative decrease of the loss                                  */
    double          step;           /* stop: largest change of a log variance                               */
    double          M;              /* CT_LEARN_OPEN_LOOP: the step is 2 / (M + iteration)                  */
    int             from_table;     /* start: 1 the values of the table, 0 the closed form, -1 the default  */
    ct_space        space;          /* CT_LEARN_EITHER_SPACE: variances, as in the paper, or logarithms     */
    ct_leo          leo;
    uint64_t        seed;           /* CT_LEARN_RANDOM                                                      */
    /* CT_LEARN_PRIOR: weight of the prior towards the closed form; 0: none; NaN: by cross-validation. Without folds NaN
     * means the closed form or the start values, and from the values of the table none. */
    double          prior;
    int             learn_kernels;  /* 1: widths of the kernels of learned models are learned first, by likelihood */
    int             folds;          /* of cross-validation, at most; < 2: none                              */
    /* 1: the start values are the user's own; they stay unless held-out sequences tell others apart from them. 0: they
     * are arbitrary, and the closed form takes their place there */
    int             given;
    ct_inference    deployment;     /* inference of held-out sequences and of the validation of the answer  */
    ct_scale        scale;
    /* CT_SCALE_FROM_NEES needs truth; without, chi-square is used. Chi-square's factor, which scatters less, is also
     * used where held-out NEES agrees with it in a 95 % interval and to 25 %. */
    ct_scale_from scale_from;
    ct_learn_progress_fn progress;  /* may be NULL                                                          */
    void           *user;           /* for progress                                                         */
} ct_learn_options;

ct_learn_options ct_learn_defaults(void);

/* The candidate that does not look at the tracking loss. X(constant, name, what it is) */
#define CT_REFERENCE_LIST(X)                                                                                           \
    X(CT_REFERENCE_CLOSED_FORM, "closed form", "the second moment of the residuals at the truth")                      \
    X(CT_REFERENCE_LIKELIHOOD, "likelihood", "the maximum of the likelihood of measurements and truth")                \
    X(CT_REFERENCE_EVIDENCE, "evidence", "the maximum of the likelihood of the measurements alone")

typedef enum {
#define X(constant, name, meaning) constant,
    CT_REFERENCE_LIST(X)
#undef X
    CT_REFERENCE_COUNT
} ct_reference;

const char *ct_reference_name(ct_reference reference);
const char *ct_reference_meaning(ct_reference reference);
int         ct_reference_find(const char *name); /* -1: there is none */

/* Why a candidate was chosen or not. X(constant, name, what it means) */
#define CT_CHOICE_LIST(X)                                                                                              \
    X(CT_CHOICE_CHOSEN, "chosen", "chosen")                                                                            \
    X(CT_CHOICE_NOT_BETTER, "not_better", "not better by more than a standard error")                                  \
    X(CT_CHOICE_FEW, "few", "learned from the loss of fewer than three recordings")                                   \
    X(CT_CHOICE_SMALL, "small", "better by less than 2 %, which chance makes, too")                                    \
    X(CT_CHOICE_OTHER, "other", "no better than start values and reference both")                                      \
    X(CT_CHOICE_NEEDLESS, "needless", "residuals at the truth are what the reference says: gains are chance")          \
    X(CT_CHOICE_REFUTED, "refuted", "residuals at the truth are of another size")                                      \
    X(CT_CHOICE_WORSE, "worse", "worse by more than a standard error")                                                 \
    X(CT_CHOICE_TRANSLATION, "translation", "positions are worse")                                                     \
    X(CT_CHOICE_ROTATION, "rotation", "rotations are worse")                                                           \
    X(CT_CHOICE_FAILS, "fails", "more sequences fail")                                                                 \
    X(CT_CHOICE_WEAKER_PRIOR, "weaker_prior", "a stronger prior does as well")                                         \
    X(CT_CHOICE_TRAINING, "training", "worse on training sequences, learned from all")

typedef enum {
#define X(constant, name, what) constant,
    CT_CHOICE_LIST(X)
#undef X
    CT_CHOICE_COUNT
} ct_choice;

const char *ct_choice_name(ct_choice verdict);
int         ct_choice_find(const char *name); /* a ct_choice, or -1 */
const char *ct_choice_meaning(ct_choice verdict);

/* A candidate of cross-validation (lm): a weight of the prior, its parameters fitted on each fold's training part. */
#define CT_LEARN_CANDIDATES_MAX 8

typedef struct {
    /* weight; INFINITY: the closed form; 0: no prior, from the start values; NaN: the start values themselves */
    double prior;
    double heldout, heldout_error; /* mean held-out loss of a sequence, its standard error over sequences      */
    double translation, rotation;  /* mean held-out errors, m and rad; NaN: not known                          */
    /* robust mean of log(loss / loss of the chosen one) over recordings, paired, and its standard error (NaN: one) */
    double log_ratio, log_ratio_error;
    double translation_ratio, rotation_ratio; /* of errors to those of the chosen one, by the same mean        */
    int failed; /* sequences without an estimate                                            */
    int chosen;
    ct_choice verdict;
} ct_learn_candidate;

typedef struct {
    ct_learn_method method;
    ct_learn_stop   stop;
    int             iterations, evaluations;
    int64_t         inner_solves;
    double          seconds;
    /* training loss: at the start values (projected), at the closed form (projected), at the answer */
    double          loss_start, loss_closed_form, loss_train;
    /* held-out loss, estimated as in deployment: of the answer's candidate, the closed form, the start values; NaN: no
     * folds */
    double          loss_heldout, loss_heldout_closed_form, loss_heldout_start;
    /* training loss of the answer, estimated as in deployment; NaN: not evaluated */
    double          loss_deployment;
    /* 1: inference in deployment is incremental, given or chosen (CT_INFERENCE_AUTO) */
    int             incremental;
    /* of cross-validation; 0: it was not used. A loss that is not finite is NaN */
    int                candidates;
    /* recordings that the sequences of cross-validation are from; 0: it was not used */
    int recordings;
    ct_learn_candidate candidate[CT_LEARN_CANDIDATES_MAX];
    /* weight used; INFINITY: the answer is the closed form; NaN: it is the start values */
    double          prior;
    /* largest over smallest learned variance, in theta's units */
    double          spread;
    /* common factor on variances: from chi-square, and from NEES; NaN: not available */
    double scale_chi, scale_nees;
    /* the one of them that is used, and its factor */
    ct_scale_from scale_from;
    double scale_wanted;
    /* what was applied: wanted, less where bounds do not allow it, 1 where it makes NEES or held-out losses worse.
     * Kernel widths of learned models are divided by its square root */
    double scale_applied;
    /* 1: estimates do not depend on the scale (no frozen models) */
    int             scale_free;
    /* per degree, on held-out sequences (without folds on training sequences), before and after the scale. NEES is the
     * mean over sequences. Under a factor from NEES it is that of each recording under the factor of the others */
    double          chi_before, chi_after, nees_before, nees_after;
    /* 1: these are of held-out sequences */
    int             heldout;
    /* |sum of the gradient over scale parameters| / sum |gradient| at the answer */
    double          invariance;
    /* largest |H^-1 h| of an inner estimate at the answer: distance from the minimum where derivatives were taken */
    double          stationarity;
    /* the fit of each noise model at the answer, on training sequences; zero if it was not evaluated */
    int32_t models;
    ct_model_fit *fit;
    int32_t         parameters;
    /* the answer: log space, scale applied */
    double         *p;
    /* what takes part as the closed form: itself, or the maximum of the likelihood */
    ct_reference    reference;
    /* that of all training sequences, projected into the bounds, log space, without that scale */
    double         *closed_form;
    /* of each log variance; INFINITY: not determined; NaN: none */
    double         *standard_error;
    /* parameters x parameters: of log variances, their squares on the diagonal. NaN beside what has no finite one */
    double         *covariance;
    /* -1, 0, +1 per parameter (of full blocks in rotated coordinates) */
    int8_t         *at_bound;
    /* facts that the caller should know; finding.h lists the codes */
    ct_findings     findings;
} ct_learn_result;

/* Is the method applicable? CT_E_ARGUMENT where ct_learn would refuse: a CT_LEARN_BOX_ONLY method on a set that is no
 * box; leo with full covariances or incomplete truth. */
ct_status ct_learn_check(const ct_outer *outer, ct_learn_method method, ct_err *err);
/* Learn time constants and periods of biases (ct_noise_model.bias) whose strengths theta learns, by the
 * likelihood of measurements and truth (without truth: options->no_truth), with the variances at their maximum for each
 * value. Table and sequences get them. It comes before ct_outer_new: tracking then learns the variances under them.
 * Nothing happens if there is none. Where the likelihood does not exist (a kernel without normaliser), they stay:
 * *learned (may be NULL) <- how many were learned. */
ct_status ct_learn_time_constants(int32_t count, ct_sequence *const seq[], ct_noise *noise, const ct_theta *theta,
                                  const ct_outer_options *options, int32_t *learned, ct_err *err);
/* Methods with CT_LEARN_CORNERS: bounds of theta that are defaults (ct_theta_bound_is_default) become two decades each
 * way of the closed form; of rows without one, of maximum likelihood, else of the start values. theta is that of outer,
 * and must not be in use elsewhere. Other methods, and bounds that were given: nothing changes. ct_learn has a finding
 * with the numbers. */
ct_status ct_learn_default_bounds(const ct_outer *outer, ct_learn_method method, ct_theta *theta, ct_err *err);
/* Learn. noise: start values in, learned models out; frozen models are unchanged. On failure noise is unchanged. Free
 * the result with ct_learn_result_free whatever the status. options may be NULL: the defaults. */
ct_status ct_learn(ct_outer *outer, const ct_learn_options *options, ct_noise *noise, ct_learn_result *result,
                   ct_err *err);
void      ct_learn_result_free(ct_learn_result *result);

/* The result for one model, row by row. standard_error: of log variances; NaN: frozen or on a bound; INFINITY: not
 * determined. at_bound: -1, 0, +1 for the variance of each row; for a full covariance of its eigenvalues, ascending. */
void ct_learn_rows(const ct_theta *theta, const ct_learn_result *result, int32_t model,
                   double standard_error[CT_NOISE_DIM_MAX], int8_t at_bound[CT_NOISE_DIM_MAX]);

/* Where a noise file comes from; texts may be NULL. */
typedef struct {
    const char *command, *dataset;
    uint64_t    digest;   /* ct_outer_digest                        */
    int         finished; /* 0: the best so far, of an unfinished run */
} ct_learn_origin;

/* Write the noise file of a table, atomically. Each model is marked as learned or not. Learned models have bounds, the
 * value in `start`, and, unless result is NULL, standard errors (of log variance; of sigma in percent) and bounds that
 * are active. Models "group#number" of a learned "group" are left out. There is no date: the same run gives the same
 * bytes. */
ct_status ct_learn_write_noise(const ct_theta *theta, const ct_noise *noise, const ct_noise *start,
                               const ct_learn_result *result, const ct_learn_origin *origin, const char *path,
                               ct_err *err);

/* ---- Checkpoints ----------------------------------------------------------------------------- */

/* Methods are deterministic functions of the values that ct_outer returns. A checkpoint holds these values in order. A
 * resumed run replays them, then continues to the same bits. The file is replaced atomically and synced, at most every
 * `every_s` seconds, with the values that inner solves start from. */
typedef struct ct_checkpoint ct_checkpoint;

/* A new checkpoint, written to path at once; with resume, the one at path. CT_E_ARGUMENT: it has another `key` (see
 * ct_outer_digest). CT_E_PARSE: the file is damaged. */
ct_status ct_checkpoint_open(const char *path, int resume, uint64_t key, double every_s, ct_checkpoint **out,
                             ct_err *err);
void      ct_checkpoint_free(ct_checkpoint *checkpoint);
/* Replay values of outer from the checkpoint, then add new ones to it. Borrowed until outer is freed. */
void ct_outer_set_checkpoint(ct_outer *outer, ct_checkpoint *checkpoint);
/* Write it now. Over ranks all call it, and rank 0 writes. */
ct_status ct_checkpoint_write(ct_checkpoint *checkpoint, ct_err *err);
/* Number of values replayed so far; 1 while there are more to replay. */
int64_t ct_checkpoint_replayed(const ct_checkpoint *checkpoint);
int     ct_checkpoint_replays(const ct_checkpoint *checkpoint);
/* 1: the file has the signature of a checkpoint. 0 also if it cannot be read. */
int ct_checkpoint_is(const char *path);

/* A digest of sequences, truth, noise, theta and options of an outer problem, and of `text` (other options; may be
 * NULL). */
uint64_t ct_outer_digest(const ct_outer *outer, const char *text);

#ifdef __cplusplus
}
#endif
#endif
