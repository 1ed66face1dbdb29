/* covtune/assess.h: how good an estimate is: its loss against the truth, accuracy in words that others use, and whether
 * its claimed uncertainty is honest.
 *
 *     loss of a sequence = 1/2 sum_v sum_i w_i e_vi^2,   e_v = Log(truth_v^-1 o x_v)   (local)
 *                                                    or   Log(x_v o truth_v^-1)   (left, the paper's)
 *
 * Only coordinates of truth that are known count. Where not all of a pose's truth is known, the rest enters in
 * parts, whatever the choice: position as t - t_truth in the world, coordinate by coordinate; rotation as
 * Log(R_truth^-1 R), if all of it is known.
 *
 * The local difference does not depend on where the world's origin lies. The left one multiplies a heading error by
 * the distance from the origin: on runs of 100 m its value is 40 to 170 times the local one's, nearly all of it that
 * lever arm.
 */
#ifndef COVTUNE_ASSESS_H
#define COVTUNE_ASSESS_H

#include <covtune/data.h>
#include <covtune/smooth.h>
#include <covtune/solve.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Loss ------------------------------------------------------------------------------------ */

/* X(constant, name) */
#define CT_DIFFERENCE_LIST(X)                                                                      \
    X(CT_DIFFERENCE_LOCAL, "local")                                                                \
    X(CT_DIFFERENCE_LEFT, "left")

typedef enum {
#define X(constant, name) constant,
    CT_DIFFERENCE_LIST(X)
#undef X
    CT_DIFFERENCE_COUNT
} ct_difference;

const char *ct_difference_name(ct_difference difference);
int         ct_difference_find(const char *name); /* a ct_difference, or -1 */

typedef struct {
    ct_difference difference;
    /* weights w of a coordinate, by its unit: metres (points too), radians; >= 0 */
    double        translation, rotation;
} ct_loss;

ct_loss ct_loss_defaults(void); /* local, 1, 1 */

/* Coordinates of truth that count: known, with a weight above zero, on variables that are not fixed. */
int64_t ct_loss_terms(const ct_loss *loss, const ct_sequence *seq);

/* Variable v at x (its stored values): sqrt(w) e in `e` (CT_DIM_MAX), and, if D is not NULL, its derivative by a
 * right perturbation of v, dim x dim row-major. Coordinates that do not count are zero, with zero rows. Returns 1/2
 * |e|^2. */
double ct_loss_variable(const ct_loss *loss, const ct_sequence *seq, int32_t v, const double *x, double e[CT_DIM_MAX],
                        double *D);

/* The loss of the sequence at values x. */
double ct_loss_value(const ct_loss *loss, const ct_sequence *seq, const double *x);

/* ---- Accuracy -------------------------------------------------------------------------------- */

/* Over poses whose truth is known, fixed ones too, without alignment. rmse as LEO and the paper have it: translation
 * is the root of the mean square over all coordinates' differences in the world, rotation over angles between (in
 * space: the angle of the rotation between). ape is the root of the mean square of the Euclidean distance, over
 * poses whose position is known in full: sqrt 2 larger in the plane, sqrt 3 in space. NaN where nothing is known, or
 * values are not finite. */
typedef struct {
    int64_t poses;                 /* with truth, at least in part */
    double  translation, rotation; /* m, rad */
    double  ape_translation;       /* m      */
} ct_accuracy;

ct_accuracy ct_accuracy_of(const ct_sequence *seq, const double *x);

/* A body is what a run estimates over and over: poses of one name but for the number at its end. A robot is x0, x1,
 * ...; an object o0, o1, ... and the finger e0, e1, ... that pushes it are two bodies, and the mean over both says
 * little of either. */
#define CT_BODIES_MAX     8
#define CT_BODY_NAME_MAX 32

typedef struct {
    char        name[CT_BODY_NAME_MAX]; /* "o" of o0, o1, ...; of a longer one the first 31 bytes */
    ct_accuracy accuracy;
} ct_body;

/* Of the poses of one body: "o". */
ct_accuracy ct_accuracy_of_body(const ct_sequence *seq, const double *x, const char *body);
/* Of each body whose truth is known, in the order in which they come; of more than CT_BODIES_MAX the first. Returns
 * how many. */
int ct_accuracy_of_bodies(const ct_sequence *seq, const double *x, ct_body out[CT_BODIES_MAX]);

/* ---- Inference ------------------------------------------------------------------------------- */

/* Where an estimate starts from. X(constant, name, what it is) */
#define CT_START_LIST(X)                                                                           \
    X(CT_START_MEASURED, "measurements", "poses measured absolutely there, others composed to them") \
    X(CT_START_ODOMETRY, "odometry", "measurements composed from the first pose on")               \
    X(CT_START_INITIAL, "file", "the initial values in the file")                                  \
    X(CT_START_TRUTH, "truth", "the truth")

typedef enum {
#define X(constant, name, what) constant,
    CT_START_LIST(X)
#undef X
    CT_START_COUNT
} ct_start;

const char *ct_start_name(ct_start start);
int         ct_start_find(const char *name); /* a ct_start, or -1 */

#define CT_INFERENCE_AUTO 2

/* How estimates are made: all at once, or incrementally (ct_replay), a variable at a time in their order, as in
 * deployment. Where measurements do not say where bodies are (an object under a finger), there is nothing for an
 * estimate at once to start from but a guess, and it ends in some minimum near that; step by step each pose has the
 * one before it. CT_INFERENCE_AUTO is incremental where more than a tenth of the poses are such. */
typedef struct {
    ct_start          start; /* incremental: the given values, which replay.entry says what to make of */
    ct_solve_options  solve;
    int               incremental; /* 0: all at once, 1: step by step, or CT_INFERENCE_AUTO */
    ct_replay_options replay;
} ct_inference;

/* inference->incremental <- 0 or 1 where it is CT_INFERENCE_AUTO: 1 if one of the sequences is better estimated so. */
ct_status ct_inference_choose(int32_t count, ct_sequence *const seq[], ct_inference *inference, ct_err *err);

/* from measurements; CT_INFERENCE_AUTO; ct_replay_defaults, from the pose before, with 5 updates to settle and
 * thresholds for a world of 10 m; ct_solve_defaults, with a tighter `relative`, as losses feel what errors do not */
ct_inference ct_inference_defaults(void);

/* x <- where inference starts from. Where the truth is asked for and (partly) unknown, those coordinates are the
 * file's; so are fixed variables. */
ct_status ct_start_values(const ct_sequence *seq, ct_start start, double *x, ct_err *err);

/* Normalised chi-square: chi_squared / degrees, 1 for an estimator whose noise models are right; less with robust
 * kernels, where the error is a sum of rho. NEES: e' P^-1 e, e the local difference and P the marginal covariance of
 * each variable whose truth is known; nees / nees_degrees is 1 if claimed and real uncertainty agree. Poses whose
 * truth is partial take part with the coordinates that are known, P turned into the world as those are. */
typedef struct {
    double  chi_squared;  /* 2 * error                                               */
    int64_t degrees;      /* rows of all factors - unknowns                          */
    double  nees;         /* sum of e' P^-1 e; NaN if not asked for, or not to be had */
    int64_t nees_degrees; /* coordinates of all e                                    */
} ct_consistency;

typedef struct {
    ct_solve_result solve;
    double          loss;
    ct_accuracy     accuracy;
    ct_consistency  consistency; /* nees only if it was asked for */
    int             bodies;
    ct_body        body[CT_BODIES_MAX]; /* accuracy, body by body */
} ct_evaluation;

/* Estimate the sequence under a noise table and say how good that is. solver is one of seq->graph; x (ct_graph_size
 * doubles) receives the estimate. An estimate that did not converge is assessed all the same, and still CT_OK:
 * solve.stop tells (of an incremental one: step if it came to the end; iterations are its updates, those that settle
 * a step among them). What is not a finite number is NaN. With nees, marginal covariances are computed, unless the
 * system is singular or the solve was cancelled. CT_INFERENCE_AUTO looks at this sequence alone. */
ct_status ct_evaluate(const ct_sequence *seq, const ct_noise *noise, ct_solver *solver, const ct_inference *inference,
                      const ct_loss *loss, int nees, double *x, ct_evaluation *out, ct_err *err);

/* Told after every iteration of a solve and after every sequence, by the thread that did it, one call at a time;
 * `done` sequences of `count` are. Return non-zero to stop. */
typedef int (*ct_evaluate_fn)(void *user, int32_t done, int32_t count);

/* ct_evaluate for every sequence (CT_INFERENCE_AUTO: the same for all), on at most `jobs` threads; the number of
 * them changes no bit of the results, times apart. progress may be NULL; inference->solve.progress and
 * inference->replay.progress are called in the same way. If they say stop, sequences not begun keep CT_STOP_NONE,
 * those under way CT_STOP_CANCELLED. Fails with what went wrong in the first sequence where something did. */
ct_status ct_evaluate_all(int32_t count, ct_sequence *const seq[], const ct_noise *noise, const ct_inference *inference,
                          const ct_loss *loss, int nees, int jobs, ct_evaluate_fn progress, void *user,
                          ct_evaluation out[], ct_err *err);

/* ---- A closer look --------------------------------------------------------------------------- */

/* The whitened linear system of an estimate is A dx = b, A the rows R_k J_k of all factors. Its condition number,
 * cond A = sqrt(lmax / lmin) of A'A, says how many digits are lost in solving it by orthogonal elimination, and its
 * square how many by Cholesky's. Units decide it as well as noise does; column scaling (A times D^-1/2, D = diag
 * A'A) takes them out. */
#define CT_CAUSES 3

typedef struct {
    int32_t model; /* of the noise table; -1: no more                                                  */
    int     row;   /* of the whitened residual: of a full model what this coordinate says, given those after it */
    double  share; /* of the eigenvalue, l = sum over rows of |row v|^2: 0 to 1                         */
} ct_cause;

typedef struct {
    /* eigenvalues of A'A, to 1e-6 of themselves; smallest 0: singular, as far as numbers tell */
    double   largest, smallest;
    /* of A; INFINITY where smallest is 0 */
    double   condition;
    /* the variables that most of the two eigenvectors lie on */
    int32_t  stiff, weak;
    /* whose rows the two eigenvalues are made of, largest share first */
    ct_cause stiffest[CT_CAUSES], weakest[CT_CAUSES];
} ct_condition;

typedef struct {
    ct_condition plain, scaled; /* without and with column scaling */
} ct_conditioning;

/* At values x under a noise table. solver is one of graph, and is left linearised there. CT_OK also where it is
 * singular: weak is then a variable that is loose. NaN and -1 where nothing is estimated. Allocates; costs some 20
 * factorisations. */
ct_status ct_conditioning_at(const ct_graph *graph, const ct_noise *noise, ct_solver *solver, const double *x,
                             ct_conditioning *out, ct_err *err);

/* e' P^-1 e of every variable (nees) and its coordinates that count (degrees); NaN and 0 where the truth is not
 * known, or the variable fixed. Arrays of ct_graph_variables. CT_E_SINGULAR where there are no covariances. */
ct_status ct_nees_each(const ct_sequence *seq, const ct_noise *noise, ct_solver *solver, const double *x, double *nees,
                       int *degrees, ct_err *err);

/* What every factor of a noise model says at the truth: samples of its noise. r: dim doubles each, up to `most` of
 * them, may be NULL; whitened by the model if `noise` is not NULL, else as they are. Returns how many there are: a
 * factor whose truth is not known well enough gives none. */
int64_t ct_truth_residuals(const ct_sequence *seq, int32_t model, const ct_noise *noise, int64_t most, double *r);

/* P(chi-square of n degrees <= q) = p: the quantile q, for bands. */
double ct_chi_squared_quantile(double p, double n);

#ifdef __cplusplus
}
#endif
#endif
