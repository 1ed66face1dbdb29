/* learn.h: what the files of this module share.
 *
 *   outer_problem.c         the loss over all sequences, its gradient and Gauss-Newton matrix
 *   share_sequences.c       sequences over ranks
 *   inner_problem.c         one sequence: solve, loss, derivatives
 *   measurement_gradient.c  derivatives by measurements
 *   numeric_gradient.c      derivatives by perturbed solves
 *   check_gradient.c        derivatives against differences of the loss
 *   deployment.c            estimates as in deployment, evaluated
 *   checkpoint.c, digest.c  values of a run in a file; the digest that identifies it
 *   residual_samples.c      residuals at the truth
 *   closed_form.c           their second moments
 *   reference.c             the closed form, or the maximum of the likelihood
 *
 *   method_table.c          the table of methods
 *   learn.c                 a run in order: starts, candidates, method, scale, error bars
 *   objective.c             the loss plus a prior, counted and reported
 *   levenberg_marquardt.c, frank_wolfe.c, projected_gradient.c, nlopt.c, nelder_mead.c, powell.c, leo.c
 *                           one method each
 *   derivative_free.c       the loss on a box, for methods without derivatives
 *   brent.c                 the minimum along a line
 *   leo_energy.c            the loss of LEO, by samples
 *
 *   right_models.c          residuals at the truth that are what the reference says
 *   candidates.c            which candidate is chosen, given held-out losses
 *   paired.c                two candidates compared on the same sequences
 *   cross_validation.c      held-out losses of the candidates
 *   recordings.c            sequences grouped by recording
 *   common_scale.c          the common scale: which factor, and whether it is applied
 *   scale_from_chi.c        the factor that residuals ask for
 *   scale_from_nees.c       the factor that errors ask for
 *   error_bars.c            standard errors, and directions that the data do not determine
 *   covariance.c            the covariance of the answer
 *   diagnostics.c           checks that append findings
 *   warnings.c              findings that no user of a result may miss
 *   default_bounds.c        bounds from the data, for methods that go to corners
 *   write_noise.c           the result row by row, and as a noise file
 */
#ifndef CT_LEARN_PRIVATE_H
#define CT_LEARN_PRIVATE_H

#include "base/base.h"
#include "comm/comm.h"
#include "data/store.h"
#include "solve/solver_pool.h"

#include <covtune/learn.h>
#include <covtune/likelihood.h>
#include <pthread.h>
#include <stdarg.h>

/* ---- The outer problem ----------------------------------------------------------------------- */

/* The inner problem of one sequence, and the result of its last evaluation. */
typedef struct {
    const ct_sequence *seq;
    ct_solver         *solver;               /* while it is open (inner_state.c); else NULL        */
    int32_t            scalars;              /* unknowns                                           */
    int64_t            size;                 /* doubles of its values                              */
    int                unplaced;             /* measurements do not determine its poses            */
    double            *start, *x;            /* values: where solves start; the last solution      */
    int64_t            place[2];             /* of these in outer->spill                           */
    uint64_t           digest;               /* of the sequence                                    */
    double             loss;
    ct_model_fit *fit;                       /* per noise model, if wanted                         */
    double            *gradient;             /* m                                                  */
    double            *weight_gradient;      /* by weights of functions; NULL: not wanted          */
    const ct_measurement_gradient *watch;    /* by measurements, the caller's; NULL: not wanted    */
    int32_t           *watched;              /* per factor: its place in watch, -1: none           */
    double            *matrix;               /* m x m                                              */
    double            *gradient_covariance;  /* m x m                                              */
    ct_stop            stop;
    ct_status          status;               /* CT_E_MEMORY ends an evaluation, nothing else does  */
    int                iterations, solves;
    int                inexact;              /* the exact Hessian was not positive definite        */
    double             stationarity;
    int                took_part;            /* in the last evaluation                             */
    int64_t           *samples;              /* per slot, until they are collected                 */
    double             seconds;              /* that it took                                       */
} ct__inner_problem;

/* Memory of one thread. */
typedef struct {
    double    *S;         /* scalars x m of the largest sequence     */
    double    *Y;         /* as large, for gradient_covariance       */
    double    *dL_dSigma; /* learned models x 36                     */
    ct_solver *solver;    /* numeric: of the sequence worked on      */
    int32_t    solver_of;
    double    *x;
    double    *e;         /* scalars                                 */
    double    *values[2]; /* start and solution of a sequence that is open, if they are in a file */
} ct__scratch;

enum { CT__LAGS = 6, CT__SHAPE = 2 + CT__LAGS };

/* Residuals at the truth of the factors of a learned model, sequence by sequence. */
typedef struct {
    double  *r;     /* count x dim; NULL: they are not kept, as their moments are all that is needed */
    int      robust;
    int64_t *first; /* per sequence (+1): where its samples begin      */
    double  *sum;   /* per sequence: dim x dim, the sum of r r'        */
    double  *shape; /* per sequence: dim x CT__SHAPE, sums of r, r^4, and of r times r of 1, 2 .. factors before */
    int64_t  count;
    int      dim;
} ct__samples;

struct ct_outer {
    const ct_theta    *theta;
    int32_t            m, count, models; /* parameters, sequences, noise models                   */
    ct__inner_problem *inner;            /* per sequence with truth                               */
    int32_t            extras;
    const ct_sequence **extra;           /* sequences without truth                               */
    ct_noise          *base;             /* the caller's table                                    */
    ct_noise          *noise;            /* under the p of the current evaluation                 */
    ct_theta_jacobian *slopes;           /* at that p                                             */
    int32_t *slot;                       /* per model: its index among those learned, -1: frozen  */
    int32_t            slots;
    ct__samples       *samples;          /* per slot                                              */
    ct_outer_options   options;
    int32_t            scratches;
    ct__scratch       *scratch;
    int64_t            solves;
    ct_likelihood     *likelihood[2];    /* of measurements alone; with truth. NULL: not needed yet */
    ct_reference       reference;
    ct_checkpoint     *checkpoint;
    int                fresh;            /* the last evaluation was computed, not replayed        */
    int32_t           *owner;            /* per sequence: the rank that computes it               */
    int                timed, balanced;  /* times of all sequences are known; how often they decided */
    int32_t            weights;          /* of functions whose gradient is wanted                 */
    int32_t           *weight_of;        /* per model: its first weight, -1: none; NULL: not wanted */
    ct__solver_pool   *pool;
    int                own;              /* inner problems keep their solvers, with what is factored in them */
    int                keep_layers;      /* of networks, in all solvers                           */
    int                unplaced;         /* measurements do not determine the poses of a sequence */
    /* sequences in a cache: NULL without one. Starts and solutions of inner problems are in its file */
    ct__store         *store;
    ct__spill         *spill;
    int64_t            reserved;         /* bytes of the cache's limit                            */
    pthread_mutex_t    telling;          /* guards failed and why                                 */
    int32_t            failed;           /* the first sequence that could not be read, or -1      */
    ct_err             why;
};

/* Derivatives wanted from an evaluation. */
typedef enum { CT_WANT_GRADIENT = 1, CT_WANT_MATRIX = 2, CT_WANT_COVARIANCE = 4, CT_WANT_FIT = 8 } ct__want;
#define CT__WANT_DERIVATIVES (CT_WANT_GRADIENT | CT_WANT_MATRIX | CT_WANT_COVARIANCE)

/* inner_problem.c: solve an inner problem under outer->noise from its start; loss and derivatives there. */
void ct__inner_evaluate(const ct_outer *outer, ct__inner_problem *inner, ct__scratch *scratch, int want);
/* x <- the estimate under a noise table: from x by the inner solver, or incrementally from the start. */
ct_stop ct__inner_estimate(const ct_outer *outer, const ct__inner_problem *inner, ct_solver *solver,
                           const ct_noise *noise, double *x, int *iterations, ct_status *status);
/* S <- -dh/dp, a row of `columns` numbers for each scalar of the system: the first m are set, the others zero. */
void ct__inner_right_hand_sides(const ct_outer *outer, const ct__inner_problem *inner, int32_t columns, double *S);
/* weight_sensitivity.c: matrix ((m + weights) squared) <- mean of A'A over the sequences of the last evaluation with a
 * gradient, A the derivative of the weighted difference from the truth by p and by all weights. */
ct_status ct__outer_weight_matrix(ct_outer *outer, double *matrix, ct_err *err);
/* measurement_gradient.c: watch <- derivatives by measurements, with the adjoint l; watch <- zeros. */
void ct__measurement_gradient(const ct_outer *outer, const ct__inner_problem *inner, const double *l);
void ct__clear_measurement_gradient(const ct__inner_problem *inner);
/* e at values x, in the order of the scalars of the solver's system. Returns 1/2 |e|^2. */
double ct__inner_residual(const ct_outer *outer, const ct_sequence *seq, const ct_solver *solver, const double *x,
                          double *e);
/* matrix += A'A, gradient += A'e, for `rows` rows of A (row-major, m wide). gradient may be NULL. */
void ct__add_normal(int32_t m, int rows, const double *A, const double *e, double *matrix, double *gradient);

/* inner_state.c: an inner problem is open while a thread works on it: the sequence is acquired, it has a solver, and
 * start and x are in memory. On failure, which outer->why has, its status is set and it is not open. At the end x is
 * kept. Values of a problem that is not open: which 0: start, 1: x. */
ct_status ct__inner_open(ct_outer *outer, int32_t i, int worker);
void      ct__inner_close(ct_outer *outer, int32_t i, int worker);
ct_status ct__inner_get(const ct_outer *outer, int32_t i, int which, double *to, ct_err *err);
ct_status ct__inner_put(ct_outer *outer, int32_t i, int which, const double *from, ct_err *err);
/* x becomes the start. */
void      ct__inner_swap(ct__inner_problem *inner);
/* What a task on sequence i could not do; the first of them is the error of the evaluation. */
void      ct__outer_tell(ct_outer *outer, int32_t i, ct_status status, const ct_err *err);
/* Memory for the starts of all inner problems, for solvers and threads, within the limit of the cache. */
ct_status ct__outer_plan_memory(ct_outer *outer, ct_err *err);
/* task(user, i, worker) for the sequences that this rank owns, on threads, each acquired, in an order that the cache
 * knows. The error is that of the first that ct__outer_tell was called for, on any rank. */
ct_status ct__outer_each(ct_outer *outer, ct__task_fn task, void *user, ct_err *err);
/* The same; then the records of all sequences are on all ranks. */
typedef struct {
    int64_t (*size)(const void *user, int64_t i);
    void (*pack)(const void *user, int64_t i, void *record);
    void (*unpack)(void *user, int64_t i, const void *record);
} ct__records;
ct_status ct__outer_each_shared(ct_outer *outer, ct__task_fn task, const ct__records *records, void *user,
                                ct_err *err);
/* ct__spread_run of tasks that are sequences of the outer problem. */
ct_status ct__outer_spread_run(ct_outer *outer, const ct__spread *spread, ct_err *err);

/* residual_samples.c: room for them; those of one sequence, acquired; then all of them in order. _bytes, _copy: those
 * of a sequence as a record for other ranks; out 1: into the record. */
ct_status ct__samples_begin(ct_outer *outer, ct_err *err);
ct_status ct__samples_of(ct_outer *outer, int32_t i, ct_err *err);
int64_t   ct__samples_bytes(const ct_outer *outer, int32_t i);
void      ct__samples_copy(ct_outer *outer, int32_t i, char *record, int out);
ct_status ct__samples_end(ct_outer *outer, ct_err *err);
void      ct__free_samples(ct_outer *outer);
/* closed_form.c: without block k of `blocks` blocks of neighbouring sequences, for all k. p, samples: blocks x m. */
ct_status ct__closed_forms_left_out(const ct_outer *outer, int64_t blocks, double *p, int64_t *samples, ct_err *err);
/* E[2 rho(d)] / n of a kernel where noise is Gaussian: d^2 chi-square of n degrees. 1 without a kernel. */
double ct__kernel_mean(ct_robust robust, int n);

/* outer_problem.c: mark the checkpoint as ct_outer_accept does. The starts of inner solves do not change. */
ct_status ct__outer_checkpoint(ct_outer *outer, ct_err *err);
/* Inner solves start from the truth again. */
ct_status ct__outer_start_over(ct_outer *outer, ct_err *err);

/* share_sequences.c: sequences over ranks. Sequence i is computed by this one. */
int ct__outer_owns(const ct_outer *outer, int32_t i);
/* Task i of the sequences that take part, on the ranks that own them; results are then on all ranks. `want` says which
 * derivatives they have. extra: a number more a sequence, or NULL. _run: those of this rank alone, on threads. */
ct_status ct__outer_share_owners(ct_outer *outer, ct_err *err);
ct_status ct__outer_run(ct_outer *outer, ct__task_fn task, void *user, ct_err *err);
ct_status ct__outer_exchange(ct_outer *outer, int want, double *extra, ct_err *err);
/* Starts of inner solves are with the ranks that own the sequences. Before they are written: rank 0 has them all. */
ct_status ct__outer_gather_starts(ct_outer *outer, ct_err *err);
/* The failure of the first sequence that ct__outer_tell was called for, on all ranks; CT_OK if there is none. */
ct_status ct__outer_agree(ct_outer *outer, ct_err *err);

/* numeric_gradient.c: gradient and matrix of every sequence that took part, by perturbed solves from its solution. */
ct_status ct__numeric_derivatives(ct_outer *outer, const double *p, ct_err *err);

/* leo_energy.c: LEO's loss and its gradient by p, with samples of the posterior. */
typedef struct {
    int      samples, iteration;
    uint64_t seed;
} ct__draws;

typedef struct {
    double  loss;      /* of the estimates, as in ct_outer_value; infinite if an inner solve failed  */
    double  energy;    /* mean over estimated sequences of [E(truth) - mean of E(samples)] / factors */
    double *gradient;  /* m, of energy by p; the caller's memory                                     */
    int32_t failed, estimated;
    int     solves;
} ct__energy;

/* Learned models must be diagonal or isotropic. Inner solves start as those of ct_outer_evaluate do. */
ct_status ct__outer_energy(ct_outer *outer, const double *p, const uint8_t *part, const ct__draws *draws,
                           ct__energy *value, ct_err *err);

/* ---- Checkpoint -------------------------------------------------------------------------------- */

/* 1 if the checkpoint holds the value of this call, which is then in *value. A checkpoint that holds another one is
 * CT_E_ARGUMENT. */
ct_status ct__checkpoint_take(ct_checkpoint *checkpoint, const ct_outer *outer, int32_t tag, const double *p,
                              const uint8_t *part, int64_t numbers, double *number, int *taken, ct_err *err);
ct_status ct__checkpoint_put(ct_checkpoint *checkpoint, const ct_outer *outer, int32_t tag, const double *p,
                             const uint8_t *part, int64_t numbers, const double *number, ct_err *err);
/* Everything so far may be written, with the starts of the inner problems. At the end of a replay the starts become
 * those that were written. */
ct_status ct__checkpoint_mark(ct_checkpoint *checkpoint, ct_outer *outer, ct_err *err);
/* Everything up to the last mark is written, for the last time: starts change without marks from now on. The next
 * ct_checkpoint_write has the error of this one. */
void ct__checkpoint_seal(ct_checkpoint *checkpoint);

/* ---- Methods --------------------------------------------------------------------------------- */

/* The last values of the loss, in a ring, found by the bits of p. A method that starts where another one stopped, under
 * another prior, does not evaluate again. */
#define CT__MEMO 48

typedef struct {
    int64_t   length;             /* doubles an entry                              */
    double   *entry;              /* CT__MEMO entries: p, loss, gradient, matrix   */
    const uint8_t *part[CT__MEMO];
    int       used, next;
} ct__memo;

/* The objective: F(p) = L(p) + nu/2 (p - centre)' diag(weight) (p - centre), over part of the sequences. */
typedef struct {
    ct_outer               *outer;
    const ct_learn_options *options;
    ct_learn_result        *result;
    const uint8_t          *part;
    const double           *centre, *weight; /* m; not used if nu == 0 */
    double                  nu;
    ct__memo               *memo; /* may be NULL */
    /* for the caller's progress */
    ct_learn_phase phase;
    int            iteration, iterations;
    int         fold_iteration; /* -1: not in cross-validation */
    double      best;           /* of the iterates of a method that does not descend */
    int         best_iteration;
    /* Nelder-Mead: bounds that the simplex collapsed onto although the loss is smaller inside */
    int         collapsed;
    int32_t     collapsed_parameter; /* the one with the smallest loss inside its bound */
    double      collapsed_loss;      /* that loss                                       */
    int         begun, steps; /* the start is accepted; accepted steps since then, of all methods */
    double      heldout, done_from, done_to;
    double      start_s;
    int        *cancelled; /* shared by all objectives of a run */
    ct_err     *err;
} ct__objective;

/* A point p with F, dF/dp and the Gauss-Newton matrix of F. */
typedef struct {
    double *p, *gradient, *matrix; /* one block; matrix, gradient NULL: not wanted */
    double  F, loss;
    int     failed;
} ct__point;

ct_status ct__memo_new(int32_t m, ct__memo *memo, ct_err *err);
void      ct__memo_free(ct__memo *memo);

ct_status ct__point_new(const ct__objective *objective, int matrix, ct__point *out, ct_err *err);
void      ct__point_free(ct__point *point);
void      ct__point_swap(ct__point *a, ct__point *b);
/* Evaluate at point->p, count the evaluation, and report it to the caller, who may cancel. */
ct_status ct__objective_evaluate(ct__objective *objective, ct__point *point);
/* Report a value to the caller. ct__objective_evaluate does so itself. */
void ct__objective_report(ct__objective *objective, const double *p, double loss);
/* A method starts. The first point that it accepts is its start and counts as no step. */
void ct__objective_begin(ct__objective *objective);
/* An iteration is complete. */
void ct__objective_step(ct__objective *objective);
/* The same, and the last point is accepted: inner solves start from its solutions. */
ct_status ct__objective_accept(ct__objective *objective);
int       ct__objective_cancelled(const ct__objective *objective);

/* derivative_free.c: CT_E_ARGUMENT if the set is not a box. */
ct_status ct__box_check(const ct_outer *outer, ct_learn_method method, ct_err *err);
/* leo.c: CT_E_ARGUMENT if a learned covariance is full or the truth is incomplete. */
ct_status ct__leo_check(const ct_outer *outer, ct_err *err);

/* One file each. p: the start, inside the set; on return the answer. */
ct_status ct__learn_lm(ct__objective *objective, int max_iterations, double *p, ct_learn_stop *stop);
ct_status ct__learn_frank_wolfe(ct__objective *objective, ct_space space, int max_iterations, double *p,
                                ct_learn_stop *stop);
ct_status ct__learn_projected_gradient(ct__objective *objective, int max_iterations, double *p, ct_learn_stop *stop);
ct_status ct__learn_leo(ct__objective *objective, int max_iterations, double *p, ct_learn_stop *stop);
ct_status ct__learn_nlopt(ct__objective *objective, ct_learn_method method, int max_iterations, double *p,
                          ct_learn_stop *stop);
ct_status ct__learn_nelder_mead(ct__objective *objective, ct_space space, int max_iterations, double *p,
                                ct_learn_stop *stop);
ct_status ct__learn_powell(ct__objective *objective, ct_space space, int max_iterations, double *p,
                           ct_learn_stop *stop);

/* ---- A run ----------------------------------------------------------------------------------- */

#define CT__PRIOR_ALONE 0.1 /* weight of the prior without cross-validation; see cross_validation.c */

/* Parameters of the chosen candidate, learned without the held-out sequences of each fold. */
typedef struct {
    int folds;     /* 0: every sequence is under the answer */
    uint8_t *part; /* folds x sequences: 1 where held out   */
    double *p;     /* folds x m                             */
} ct__heldout;

/* The state of a run of ct_learn. */
typedef struct {
    ct__objective objective;             /* over all sequences           */
    double    *p;                  /* m: the answer                */
    double    *closed;             /* m: the closed form, in the set */
    double    *weight;             /* m: weights of the prior      */
    double    *start;              /* m: values of the table, in the set; at the end the answer before the scale */
    int64_t   *samples;            /* m                            */
    double     degrees;            /* of the chi-square that determines the scale */
    double scale_variance;         /* of log scale_wanted; INFINITY: not known     */
    ct__heldout held;              /* the chosen candidate on held-out sequences  */
    int        rescale;            /* the closed form was scaled by the factor that brings it nearest to the set */
    double    *error;              /* m: standard errors of the likelihood */
    int        complete;           /* every parameter has residuals at the truth */
    ct_maximise_stop search;       /* how the last search of the likelihood ended */
    int32_t    left_out;           /* sequences that the likelihood leaves out */
    int        alone;              /* the chosen candidate: from the start values, without prior */
    ct__memo   memo;
} ct__learning;

/* Append a finding to the result. CT__VALUES(a, b): its numbers; CT__NO_VALUES: none. */
ct_status ct__find(ct__learning *l, ct_finding_code code, int values, const double value[]);
/* Append parameter i to its subjects. */
ct_status ct__find_parameter(ct__learning *l, int32_t i, int sign);
#define CT__VALUES(...) (int)(sizeof(double[]){__VA_ARGS__} / sizeof(double)), (double[]){__VA_ARGS__}
#define CT__NO_VALUES   0, NULL
#define CT__SWAP(type, a, b)   \
    do {                       \
        const type t_ = (a);   \
        (a) = (b);             \
        (b) = t_;              \
    } while (0)

/* p <- its projection into the set; with rescale, after the common factor that brings it nearest. */
ct_status ct__enter_set(const ct_theta *theta, int rescale, double *p, ct_err *err);
/* reference.c: does the truth determine every residual? */
int ct__closed_form_exists(const ct__learning *l);
/* 1 if the truth is exact and knows all but biases: the likelihood with it is then as sure as a closed form. */
int ct__truth_lacks_biases_alone(const ct_outer *o);
/* learn.c: the weights of the prior, from samples and loss of the reference. */
void ct__set_weights(ct__learning *l);
/* reference.c: *possible <- 1 if there is a likelihood of the measurements alone. */
ct_status ct__need_evidence(ct__learning *l, int *possible);
/* reference.c: widths of kernels by likelihood, before anything else; every candidate has them. */
ct_status ct__learn_kernels(ct__learning *l);
/* reference.c: which reference a run has, outer->reference. */
ct_status ct__choose_reference(ct__learning *l);
/* p <- the reference of a part, in the set. from: where a search begins, another array. samples, error may be NULL:
 * residuals per parameter, or as many as it is worth, 0: none; standard errors of log variances, of the likelihood. */
ct_status ct__reference(ct__learning *l, const uint8_t *part, int rescale, const double *from, double *p,
                        int64_t *samples, double *error);
/* Why a run of method likelihood stops: at its maximum, or at the limit of iterations. */
ct_learn_stop ct__likelihood_stop(const ct__learning *l);
/* Why a run stops whose answer is the reference. */
ct_learn_stop ct__reference_stop(const ct__learning *l);
ct_status     ct__diagnose_likelihood(ct__learning *l);
/* The likelihood whose maximum is the reference. */
ct_likelihood *ct__likelihood_of(const ct_outer *outer);
/* lasting_errors.c: l->p and result->standard_error <- the maximum without truth of measurements that are thinned
 * where their errors last. At first l->p is the maximum with all of them. Sigmas and widths of kernels of thinned
 * models, in outer->noise, are then those for all measurements. With a finding for each. */
ct_status     ct__learn_thinned(ct__learning *l);
/* A finding for each model whose errors last, at the maximum p of the likelihood. */
ct_status     ct__diagnose_lasting_errors(ct__learning *l, const double *p);
/* A run without truth: the maximum of the likelihood is the answer. */
ct_status     ct__learn_without_truth(ct__learning *l, ct_noise *noise);

/* recordings.c: group <- a number per sequence, the same for those of one recording. *groups <- their number. */
ct_status ct__outer_groups(const ct_outer *outer, int32_t *group, int32_t *groups, ct_err *err);

/* recordings.c: the t with P(|T| <= t) = 0.95 for a mean over n groups, n - 1 degrees. INFINITY for n < 2. */
double ct__t_quantile(int n);

/* paired.c: how a candidate did on a sequence, and candidates compared. */
typedef struct {
    double loss, translation, rotation; /* NaN: not known   */
    int failed;                         /* no estimate      */
} ct__score;

typedef enum { CT_METRIC_LOSS, CT_METRIC_TRANSLATION, CT_METRIC_ROTATION } ct__metric;

typedef struct {
    int32_t n, groups; /* sequences, recordings           */
    int candidates;
    ct__score *score; /* candidates x n                  */
    int32_t *group;   /* per sequence                    */
    double *work;     /* 2 n: scratch                    */
    int traded;       /* 1: an error may get worse where its square does so by less than the loss gets better */
    int right;        /* 1: residuals at the truth are what the reference says (ct__models_are_right)         */
    int refuted;      /* 1: and not what the start values say                                                  */
    int unweighted;   /* bits 1 << metric of errors that the loss does not have: they may get worse           */
} ct__scores;

/* Log(a / b) over recordings: robust mean, its standard error (NaN: one), least, largest, how many there are. */
typedef struct {
    double mean, error, best, worst;
    int    units;
} ct__paired;

ct__paired ct__compare(const ct__scores *scores, int a, int b, ct__metric metric);
double ct__score_of(const ct__score *score, ct__metric metric); /* INFINITY: failed */
int ct__count_failed(const ct__scores *scores, int candidate);
/* One standard error of a mean over few units: a factor above 1 on it. INFINITY for one. */
double ct__standard_errors(int units);
/* candidates.c. _new: with the groups of the sequences; free also on failure. */
ct_status ct__scores_new(const ct_outer *outer, int candidates, ct__scores *scores, ct_err *err);
void ct__scores_free(ct__scores *scores);
void ct__score_evaluation(const ct_evaluation *evaluation, ct__score *out);

/* cross_validation.c: chooses result->prior by held-out losses, and evaluates the chosen candidate on them. */
ct_status ct__choose_prior(ct__learning *l);

/* right_models.c: *right <- 1 if residuals at the truth do not contradict the reference, which is the closed form.
 * *refuted <- 1 if they then contradict the start values. */
ct_status ct__models_are_right(const ct__learning *l, int *right, int *refuted);
/* Enlarges the weights of the prior of those models that are right, so that they keep the closed form. */
ct_status ct__hold_right_models(ct__learning *l);
/* candidates.c. Do the start values have a smaller training loss than the closed form? */
int ct__start_is_better(const ct__learning *l);
/* Do the start values stay where nothing beats them? They are the user's, or the reference has no estimates. */
int ct__start_is_incumbent(const ct__learning *l);
/* Does every parameter have samples? */
int ct__closed_form_is_complete(const ct__learning *l);
/* INFINITY if a sequence has no estimate. */
double ct__mean_loss(int64_t n, const double *loss);
/* Without folds: the reference or the start values, by training sequences estimated as in deployment. */
ct_status ct__choose_without_folds(ct__learning *l);
/* Chooses among all candidates of the scores; `reference` and `start` are two of them, the others are ordered from the
 * strongest prior. given: the start values are the user's. verdict: per candidate. */
int ct__choose_candidate(const ct__scores *scores, int reference, int start, int given, ct_choice *verdict);
/* Evaluates the answer as in deployment. The closed form or the start values replace it if their loss is smaller. */
ct_status ct__validate_answer(ct__learning *l);
/* The table of candidates, with ratios against the chosen one. */
void ct__record_candidates(ct_learn_result *r, const ct__scores *scores, const double *prior, const ct_choice *verdict,
                           int chosen);
/* Marks the candidate of that prior as the chosen one. */
void ct__choose_recorded(ct_learn_result *r, double prior);
/* Start of a path of priors: the closed form, or the start values if it is incomplete and its loss is larger. */
const double *ct__path_start(const ct__learning *l, const double *closed);
/* Minimise along a path of decreasing priors down to nu. */
ct_status ct__learn_path(ct__objective *objective, double nu, double *p, ct_learn_stop *stop);

/* deployment.c: resolves deployment->incremental if it is CT_INFERENCE_AUTO. */
ct_status ct__outer_deployment(const ct_outer *outer, ct_inference *deployment, ct_err *err);
/* The loss of a held-out sequence in cross-validation: that of ct_evaluate; INFINITY without an estimate, so that a
 * candidate whose solves fail is not chosen. */
double ct__deployment_loss(const ct_evaluation *evaluation);

/* scale_from_chi.c: the common factor on variances at p that is consistent with part of the sequences. */
typedef struct {
    double factor;  /* NaN: not available                                             */
    double degrees; /* log factor scatters by sqrt(2 / degrees)                       */
    double loss;    /* at p                                                           */
} ct__scale_estimate;

ct_status ct__scale_from_fit(ct_outer *outer, const double *p, const uint8_t *part, ct__scale_estimate *out,
                             ct_err *err);
/* Kernel widths of learned models in outer->noise: those of the table over sqrt(factor). */
void ct__scale_kernels(ct_outer *outer, double factor);
/* scale_from_nees.c: NEES of held-out sequences (l->held; without folds of all of them under l->start) with variances
 * times a factor, estimated as in deployment. loss: per sequence. */
typedef struct {
    double nees;        /* mean over sequences, per coordinate; NaN: no truth     */
    double error;       /* its relative standard error, over recordings; NaN: one */
    double crossed;     /* nees of each recording over that of the others, mean   */
    double deviation;   /* of nees, relative, if the models are right; NaN: not asked for */
    double chi_squared; /* per degree                                             */
    int groups;         /* recordings; with one its sequences                     */
} ct__nees_measure;

/* diagnose: a finding if estimates diverged; and deviation. */
ct_status ct__measure_nees(ct__learning *l, double factor, int diagnose, double *loss, ct__nees_measure *out);

/* common_scale.c: application of a factor to p, within the set or not, as the options say. Returns what was applied. */
double    ct__scale_apply(const ct_theta *theta, ct_scale scale, double factor, double *p);
ct_status ct__scale(ct__learning *l);

/* warnings.c */
ct_status ct__warn(ct__learning *l);
/* diagnostics.c */
/* default_bounds.c */
ct_status ct__diagnose_bounds(ct__learning *l);
/* diagnostics.c: truth in another frame than the measurements. */
ct_status ct__diagnose_frames(ct__learning *l);
ct_status ct__diagnose_missing_samples(ct__learning *l);
ct_status ct__diagnose_duplicates(ct__learning *l);
ct_status ct__diagnose_deployment(ct__learning *l);
ct_status ct__diagnose_inconsistency(ct__learning *l);
/* seen: estimates of all sequences under the chosen values, held out where there were folds. */
ct_status ct__diagnose_divergence(ct__learning *l, const ct_evaluation *seen);
ct_status ct__diagnose_collapse(ct__learning *l);
/* digest.c: of a graph with its measurements, start and truth. */
uint64_t ct__sequence_digest(const ct_sequence *seq);

/* error_bars.c */
ct_status ct__error_bars(ct__learning *l);
/* covariance.c: result.covariance <- standard errors with the correlations of A, a covariance of all parameters (m x
 * m); NULL: no correlations. */
void ct__set_covariance(ct_learn_result *r, const double *A);
/* The same with those of the information of the likelihood at l->p. One evaluation of it. */
ct_status ct__likelihood_covariance(ct__learning *l);

#endif
