/* covtune/evaluate.h: estimates compared with the truth: loss, accuracy, consistency, conditioning; of one sequence and
 * of many.
 *
 *     loss of a sequence = 1/2 sum_v sum_i w_i e_vi^2,   e_v = Log(truth_v^-1 o x_v)   (local)
 *                                                    or   Log(x_v o truth_v^-1)   (left, the paper's)
 *
 * Only known coordinates of the truth count. A pose whose truth is partly known enters in parts, with either
 * difference: position as t - t_truth in the world, coordinate by coordinate; rotation as Log(R_truth^-1 R), if all of
 * it is known.
 *
 * The local difference does not depend on the origin of the world. The left one multiplies a heading error by the
 * distance from the origin: on paths of 100 m its loss is 40 to 170 times the local one.
 */
#ifndef COVTUNE_EVALUATE_H
#define COVTUNE_EVALUATE_H

#include <covtune/comm.h>
#include <covtune/data.h>
#include <covtune/finding.h>
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

/* Over poses whose truth is known, fixed ones included, without alignment. rmse is that of LEO and the paper:
 * translation is the root mean square of the coordinates of t - t_truth in the world; rotation that of the angle of
 * R_truth^-1 R. ape is the root mean square of |t - t_truth| over poses whose position is known in full: sqrt 2 larger
 * in the plane, sqrt 3 in space. NaN if nothing is known, or values are not finite. */
typedef struct {
    int64_t poses;                 /* with truth, at least in part */
    double  translation, rotation; /* m, rad */
    double  ape_translation;       /* m      */
} ct_accuracy;

ct_accuracy ct_accuracy_of(const ct_sequence *seq, const double *x);

/* A body is the poses of one name but for the number at its end. A robot is x0, x1, ...; an object o0, o1, ... and the
 * finger e0, e1, ... that pushes it are two bodies, whose errors differ in size. */
#define CT_BODIES_MAX     8
#define CT_BODY_NAME_MAX 32

typedef struct {
    char        name[CT_BODY_NAME_MAX]; /* "o" of o0, o1, ...; of a longer one the first 31 bytes */
    ct_accuracy accuracy;
} ct_body;

/* Accuracy over the poses of one body ("o"). */
ct_accuracy ct_accuracy_of_body(const ct_sequence *seq, const double *x, const char *body);
/* Accuracy of each body whose truth is known, in the order of the variables; at most CT_BODIES_MAX. Returns how
 * many. */
int ct_accuracy_of_bodies(const ct_sequence *seq, const double *x, ct_body out[CT_BODIES_MAX]);

/* ---- Alignment and relative error ------------------------------------------------------------ */

/* How an estimate is moved as a whole onto the truth before errors are measured. X(constant, name, what it is) */
#define CT_ALIGN_LIST(X)                                                                           \
    X(CT_ALIGN_NONE, "none", "as estimated")                                                       \
    X(CT_ALIGN_FIRST, "first", "the first pose is made equal to its truth")                        \
    X(CT_ALIGN_RIGID, "rigid", "rotation and translation of least squares over positions")

typedef enum {
#define X(constant, name, what) constant,
    CT_ALIGN_LIST(X)
#undef X
    CT_ALIGN_COUNT
} ct_align_kind;

const char *ct_align_name(ct_align_kind kind);
int         ct_align_find(const char *name); /* a ct_align_kind, or -1 */

/* y_v = T x_v for every variable; y may be x. T (may be NULL) is returned; of a graph in the plane it turns about z.
 * CT_E_ARGUMENT without truth to align with, CT_E_SINGULAR where positions do not determine a rotation. O(n). */
ct_status ct_align(const ct_sequence *seq, ct_align_kind kind, const double *x, double *y, ct_se3 *T, ct_err *err);

/* Relative pose error over segments of the true path: E = (G_i^-1 G_j)^-1 (X_i^-1 X_j) for every pose i, with j the
 * first pose at least `length` further along the path. Root mean squares of |t(E)| and of the angle of R(E), over
 * poses whose truth is known in full. NaN without a segment. Alignment does not change it. */
typedef struct {
    double  length;      /* m                                  */
    int64_t segments;
    double  translation; /* m; over `length` it is the drift   */
    double  rotation;    /* rad                                */
} ct_rpe;

/* out[k] <- over length[k], of the poses of a body ("x" of x0, x1, ...; NULL: of all). O(n count). */
ct_status ct_rpe_over(const ct_sequence *seq, const double *x, const char *body, int count, const double *length,
                      ct_rpe *out, ct_err *err);
/* Length of the true path through those poses, m; 0 without any. */
double ct_truth_length(const ct_sequence *seq, const char *body);

/* ---- Inference ------------------------------------------------------------------------------- */

/* Where an estimate starts from. X(constant, name, what it is) */
#define CT_START_LIST(X)                                                                           \
    X(CT_START_MEASURED, "measurements", "from known landmarks, positions, priors and odometry")   \
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
#define CT_ENTRY_AUTO     CT_ENTRY_COUNT

/* How estimates are made: in batch, or incrementally (ct_replay), one variable at a time in their order, as on a robot.
 * Where measurements do not determine initial poses (an object under a finger), a batch solve starts from a guess and
 * may end in a wrong minimum. An incremental one starts each pose from the one before. CT_INFERENCE_AUTO is incremental
 * if more than a tenth of the poses are such. CT_ENTRY_AUTO is then CT_ENTRY_PREVIOUS, else CT_ENTRY_MOTION, which
 * ranges and bearings to known landmarks need: poses that wait for enough of them must not all be at one place. */
typedef struct {
    ct_start          start; /* incremental: the given values of replay.entry */
    int               one_start; /* 1: batch estimates are made from `start` alone   */
    int               at_x;      /* 1: x has the values of `start` already           */
    ct_solve_options  solve;
    int               incremental; /* 0: batch, 1: incremental, or CT_INFERENCE_AUTO */
    ct_replay_options replay;      /* its entry may be CT_ENTRY_AUTO                 */
} ct_inference;

/* Resolves CT_INFERENCE_AUTO, to 1 if one of the sequences is such, and CT_ENTRY_AUTO. */
ct_status ct_inference_choose(int32_t count, ct_sequence *const seq[], ct_inference *inference, ct_err *err);

/* From measurements; CT_INFERENCE_AUTO; ct_replay_defaults with CT_ENTRY_AUTO, 5 further updates and thresholds for a
 * world of 10 m; ct_solve_defaults with a tighter `relative`, as a loss is first order in x. */
ct_inference ct_inference_defaults(void);

/* x <- the values that inference starts from. Fixed variables have the values of the file. Unknown coordinates of the
 * truth have those of CT_START_MEASURED, carried along with the nearest pose whose truth is known. */
ct_status ct_start_values(const ct_sequence *seq, ct_start start, double *x, ct_err *err);

#define CT_START_INCREMENTAL CT_START_COUNT /* the incremental estimate was the start of a batch solve */

typedef struct {
    ct_solve_result  solve;  /* incremental: stop, updates, error and time of `replay` */
    ct_replay_result replay; /* incremental only                                       */
    int              start;  /* the start of the estimate: a ct_start, or CT_START_INCREMENTAL */
    int              starts; /* batch solves made                                      */
} ct_inference_result;

/* Estimate one sequence into x (ct_graph_size doubles). All commands, folds and reports estimate by this function.
 *
 * A batch estimate from CT_START_MEASURED that is doubtful is made from other starts as well, and the lowest error
 * under the noise table wins. It is doubtful if the solve ended without a minimum, or if the tension of a noise model
 * is above 6. The other starts are composed odometry, if its error differs from that of the first start by a
 * thousandth, and then, if the estimate still looks diverged, the incremental estimate. Other estimates cost one solve.
 * solver: of seq->graph. CT_OK if the estimate did not converge: solve.stop says why. */
ct_status ct_infer(const ct_sequence *seq, const ct_noise *noise, ct_solver *solver, const ct_inference *inference,
                   double *x, ct_inference_result *out, ct_err *err);

/* Signs of a far minimum, without truth. The tension of a noise model is the mean of 2 rho over its factors, divided
 * by the mean of the smallest four fifths: 1.3 to 2.3 of normal residuals, whatever the scale of the model. */
typedef struct {
    /* the largest tension of models of relative and of absolute measurements with 20 factors or more; NaN: none */
    double  relative, absolute;
    int32_t on_points; /* factors whose sensor is on top of a point that it measures from a distance */
} ct_tension;

#define CT_TENSION_DIVERGED 50.0 /* of relative measurements: their rms is seven times the typical one */

/* O(n log n), about an iteration of a solve. */
ct_status ct_tension_at(const ct_graph *graph, const ct_noise *noise, const double *x, ct_tension *out, ct_err *err);

/* ---- Conditioning ---------------------------------------------------------------------------- */

/* The whitened linear system of an estimate is A dx = b, with the rows R_k J_k of all factors in A. Its condition
 * number is cond A = sqrt(lmax / lmin) of A'A. Orthogonal elimination loses log10(cond A) digits, Cholesky twice that.
 * Units change it as noise does; column scaling (A D^-1/2, D = diag A'A) removes them. */
#define CT_CONTRIBUTIONS 3

/* A row of a noise model and its share of an eigenvalue l = sum over rows of |row v|^2. */
typedef struct {
    int32_t model; /* of the noise table; -1: none                                                   */
    int     row;   /* of the whitened residual; of a full model: this coordinate given those after it */
    double  share; /* 0 to 1                                                                         */
} ct_contribution;

typedef struct {
    double          largest, smallest; /* eigenvalues of A'A, to 1e-6 of themselves; smallest 0: singular      */
    double          condition;         /* of A; INFINITY if smallest is 0                                      */
    int32_t         stiff, weak;       /* the variables with the largest part of the two eigenvectors          */
    ct_contribution stiffest[CT_CONTRIBUTIONS], weakest[CT_CONTRIBUTIONS]; /* largest share first              */
} ct_condition;

typedef struct {
    ct_condition plain, scaled; /* without and with column scaling */
} ct_conditioning;

/* Conditioning at values x under a noise table. solver is one of graph, and is left linearised at x. CT_OK also if the
 * system is singular: weak is then an undetermined variable. NaN and -1 if nothing is estimated. Allocates; costs some
 * 20 factorisations. */
ct_status ct_conditioning_at(const ct_graph *graph, const ct_noise *noise, ct_solver *solver, const double *x,
                             ct_conditioning *out, ct_err *err);

/* ---- Without truth --------------------------------------------------------------------------- */

/* The fit of a noise model's factors at the minimum, row by row. Factors without estimated variables have no part. If
 * the models are right, the expectation of chi_squared[i] is factors - leverage[i]; less with a kernel. */
typedef struct {
    double factors;
    double chi_squared[CT_NOISE_DIM_MAX]; /* sum of 2 rho, shared by the squares of the whitened rows              */
    double leverage[CT_NOISE_DIM_MAX];    /* diagonal of the hat matrix: unknowns that the row determines; all sum to
                                           * the number of unknowns                                                */
} ct_model_fit;

/* fit[g] (ct_noise_count) <- the fit of model g at values x. solver is one of the graph; it is left linearised at x.
 * CT_E_SINGULAR if the system is. Costs a few factorisations. */
ct_status ct_model_fit_at(const ct_noise *noise, ct_solver *solver, const double *x, ct_model_fit fit[], ct_err *err);

/* Innovations: a tenth of the measurements is held out and predicted from the rest. At the minimum x of the rest, with
 * its covariance P, a held-out measurement has
 *
 *     nu = r(x),   S = J P J' + Sigma,   nu ~ N(0, S) if the models are right.
 *
 * Held out are absolute measurements, landmarks, loop closures: all but the odometry from pose to pose (of any body).
 * They are spread over the sequence, a tenth of every group of models, with an offset from the seed; one of groups of
 * 4 to 9, none of smaller ones. None is held out that leaves a variable undetermined. The choice does not depend on
 * variances, so that scores of two noise tables are of the same measurements.
 *
 * log_density is the logarithm of p(nu), the predictive density: a proper score, by which noise models are compared
 * without truth; higher is better. p is N(0, S); with a kernel exp(-rho(d)) / (Z sqrt|S|), d^2 = nu' S^-1 nu; where
 * that has no integral, 0.99 N(0, S) + 0.01 N(0, 100 S). */
#define CT_INNOVATION_BLOCKS 10

typedef struct {
    int64_t measurements, rows;         /* held out and predicted; 0: none could be                      */
    double  normalised;                 /* sum of nu' S^-1 nu; its expectation is rows                   */
    double  log_density;                /* sum; in m, rad, ... as the residuals                          */
    int64_t beyond;                     /* rows with |nu_i| > 3 sqrt(S_ii); their expectation is 0.0027 rows */
    double  row_square[CT_ROWS_MAX];    /* by row: sum of nu_i^2,                                        */
    double  row_ratio[CT_ROWS_MAX];     /* of nu_i^2 / S_ii,                                             */
    int64_t row_beyond[CT_ROWS_MAX];    /* and of rows beyond                                            */
    /* sums over contiguous tenths of the held-out measurements, in their order                          */
    double  block_log_density[CT_INNOVATION_BLOCKS];
    int64_t block_measurements[CT_INNOVATION_BLOCKS];
} ct_innovation;

/* each[g] (ct_noise_count; without blocks; may be NULL) <- innovations of the factors of model g; total <- of all, by
 * row those of no model. x: an estimate, where the solve without the held-out measurements starts (options: of that
 * solve). Without a minimum, or without anything that can be held out, measurements is 0 and log_density NaN. Costs a
 * solve and some ten factorisations. */
ct_status ct_innovations(const ct_graph *graph, const ct_noise *noise, const double *x, uint64_t seed,
                         const ct_solve_options *options, ct_innovation each[], ct_innovation *total, ct_err *err);
/* to += from. */
void ct_innovation_add(const ct_innovation *from, ct_innovation *to);

/* The mean log density of a less that of b, per measurement, in pairs: of sequences, each once; with one sequence, of
 * its blocks. Sequences that have no innovations in one of them, or not equally many, are left out. */
typedef struct {
    int32_t pairs;
    int     of_blocks; /* 1: of one sequence, whose blocks are not independent                            */
    double  difference, standard_error; /* NaN: no pair; fewer than two                                  */
} ct_score_difference;

ct_score_difference ct_innovation_compare(int32_t count, const ct_innovation a[], const ct_innovation b[]);

/* Second differences along the poses of each body, in their order: with times (s),
 *     a = 2 (u_k - u_(k-1)) / (t_(k+1) - t_(k-1)),   u_k = (p_(k+1) - p_k) / (t_(k+1) - t_k),
 * and the same of rotations, u_k = Log(R_k^-1 R_(k+1)) / (t_(k+1) - t_k). Without times, or if some are missing, steps
 * take their place. Root mean squares of |a|; NaN: fewer than three poses. */
typedef struct {
    int64_t triples;
    int64_t timed;                 /* 1: per s^2, 0: per step^2; no padding: checkpoints hold evaluations as bytes */
    double  translation, rotation; /* m, rad                    */
} ct_smoothness;

ct_smoothness ct_smoothness_of(const ct_sequence *seq, const double *x);

/* ---- Evaluation ------------------------------------------------------------------------------ */

/* Normalised chi-square is chi_squared / degrees: 1 if the noise models are right, less with robust kernels, where
 * the error is a sum of rho. NEES is e' (P + Q)^-1 e, with e the local difference, P the marginal covariance of each
 * variable whose truth is known, and Q = diag(truth_sigma^2) of the sequence, the truth's own covariance (0: none is
 * given). nees / nees_degrees is 1 if claimed and real uncertainty agree. A pose with partial truth takes part with its
 * known coordinates, P turned into the world frame. */
typedef struct {
    double  chi_squared;  /* 2 * error                                      */
    int64_t degrees;      /* rows of all factors - unknowns                 */
    double  nees;         /* sum of the above; NaN: not asked for, or no P  */
    int64_t nees_degrees; /* coordinates of all e                           */
    double  nees_deviation; /* standard deviation of nees if the models are right, by draws of the whole estimate, whose
                               errors are correlated; NaN: not asked for */
} ct_consistency;

/* Estimates in a far minimum. X(constant, name, what it means) */
#define CT_DIVERGED_LIST(X)                                                                                            \
    X(CT_DIVERGED_NO, "no", "it has not diverged")                                                                     \
    X(CT_DIVERGED_ON_POINT, "on_landmark", "diverged: it is on top of a landmark that was measured from a distance")   \
    X(CT_DIVERGED_TENSION, "tension", "diverged: a stretch of odometry is off by many times what is usual")            \
    X(CT_DIVERGED_CHI_SQUARED, "chi_squared", "diverged: its chi-square is over 100 times that of other sequences")    \
    X(CT_DIVERGED_NEES, "nees", "diverged: its errors are over 100 sigma, and its residuals are not")                  \
    X(CT_DIVERGED_TRUTH, "truth", "diverged: it is over 10 sigma from the truth, farther than a single point would be")

typedef enum {
#define X(constant, name, meaning) constant,
    CT_DIVERGED_LIST(X)
#undef X
    CT_DIVERGED_COUNT
} ct_diverged;

const char *ct_diverged_name(ct_diverged diverged);

/* The evaluation of one sequence. It has diverged (the first that holds) if
 *   on_landmark   ct_tension has on_points
 *   tension       that of relative measurements is above CT_TENSION_DIVERGED
 *   nees          NEES per coordinate is above 1e4 times chi-square per degree (at least 1)
 *   truth         the rms distance from the truth is above that of the true positions from their mean, and NEES per
 *                 coordinate above 100 times chi-square per degree (at least 1)
 *   chi_squared   chi-square per degree is above 100 times the median of three or more sequences (ct_evaluate)
 * NEES is looked at if it was asked for, or if a run is that far from the truth. */
typedef struct {
    ct_solve_result solve;
    ct_diverged     diverged;
    int             start, starts;               /* as ct_inference_result has them            */
    double          loss;                        /* NaN without truth                          */
    ct_accuracy     accuracy;
    ct_consistency  consistency;                 /* nees: with options.nees                    */
    double          condition, condition_scaled; /* with options.conditioning, else NaN        */
    ct_innovation   innovation;                  /* with options.innovations, else of none     */
    ct_smoothness   smoothness;
    int             bodies;
    ct_body         body[CT_BODIES_MAX]; /* accuracy of each body */
} ct_evaluation;

/* 1 if there is an estimate: the solve reached a minimum, or stopped at the limit of iterations, or found no better
 * step, and the error is finite. An undetermined graph, an error that is not finite, a cancelled solve have none. */
int ct_evaluation_has_estimate(const ct_evaluation *evaluation);
/* 1 if it counts in means: it has an estimate, as a deployed estimator returns these values, that has not diverged. */
int ct_evaluation_counts(const ct_evaluation *evaluation);
/* 1 if a solve ended without a minimum (ct_solve_usable is 0), or diverged. One that stopped at a limit failed and has
 * an estimate. A cancelled solve did not fail. */
int ct_evaluation_failed(const ct_evaluation *evaluation);
/* Why it failed, as a text: how it diverged, or what its stop means. */
const char *ct_evaluation_reason(const ct_evaluation *evaluation);
/* Adds a finding that counts and names the sequences that diverged, if there are any. */
ct_status ct_diverged_find(int32_t count, ct_sequence *const seq[], const ct_evaluation each[], ct_findings *findings,
                           ct_err *err);

/* The estimate of one sequence, borrowed until the call returns. */
typedef struct {
    const double          *x;            /* ct_graph_size                                                  */
    const double          *nees;         /* per variable, as ct_nees_each has it; NULL: none               */
    const int             *nees_degrees; /* the same                                                       */
    const ct_conditioning *conditioning; /* NULL: not asked for, or no estimate                            */
    const ct_innovation   *innovation;   /* per noise model; NULL: not asked for, or no estimate           */
    const ct_model_fit    *fit;          /* the same                                                       */
} ct_estimate;

/* Receives the estimate of sequence i, from the thread that made it, one call at a time; not of cancelled ones. A
 * status other than CT_OK ends the evaluation with that error. */
typedef ct_status (*ct_estimate_fn)(void *user, int32_t i, const ct_evaluation *evaluation, const ct_estimate *estimate,
                                    ct_err *err);
/* Called after every iteration of a solve and after every sequence, from the thread that did it, one call at a time;
 * `done` of `count` sequences are evaluated. Return non-zero to cancel. */
typedef int (*ct_evaluate_fn)(void *user, int32_t done, int32_t count);

typedef struct {
    ct_inference   inference;
    ct_loss        loss;
    int            nees;         /* 1: compute marginal covariances and NEES; 2: nees_deviation, too */
    int            conditioning; /* compute condition numbers: some 20 factorisations a sequence  */
    int            innovations;  /* predict held-out measurements: a solve and ten factorisations */
    uint64_t       seed;         /* of the choice of these                                        */
    int            jobs;         /* threads; their number changes no bit, times apart             */
    ct_evaluate_fn progress;     /* may be NULL                                                   */
    ct_estimate_fn estimate;     /* may be NULL                                                   */
    void          *user;         /* of both                                                       */
    /* sequences are shared between its ranks; borrowed; NULL: one process. `estimate` is then called on the rank that
     * made it                                                                                    */
    const ct_comm *comm;
} ct_evaluate_options;

/* ct_inference_defaults, ct_loss_defaults, neither nees nor conditioning nor innovations, seed 1, one job */
ct_evaluate_options ct_evaluate_defaults(void);

/* Means over the sequences that count: of accuracy, loss and seconds each sequence counts once, over those
 * where it is known. chi_squared and nees are sums over sums of degrees. Conditions are medians. NaN: not known, or
 * not asked for. */
typedef struct {
    int32_t     sequences; /* evaluated: fewer than there are if cancelled */
    int32_t     averaged;  /* of these, that count                         */
    int32_t     failed;    /* of these, without a minimum, or diverged     */
    int32_t     diverged;  /* of these, diverged                           */
    ct_accuracy accuracy;  /* poses: the sum                               */
    double      loss;
    double      chi_squared, nees; /* per degree                           */
    double      condition, condition_scaled;
    /* innovations: sums over all sequences, without blocks; of smoothness the mean square over all triples of sequences
     * with times if any has them, else of all */
    ct_innovation innovation;
    ct_smoothness smoothness;
    double      seconds;
    int         bodies; /* in the order in which they come; of more than CT_BODIES_MAX the first */
    ct_body     body[CT_BODIES_MAX]; /* means over the sequences that have this body              */
    struct {
        double translation, rotation, loss, chi_squared, nees;
    } with_diverged; /* the same means over all estimates, diverged ones too */
} ct_summary;

/* Estimate every sequence under a noise table and compare with its truth. This is the evaluation of all commands,
 * folds and studies. each (may be NULL): one result a sequence. summary (may be NULL): their means. CT_INFERENCE_AUTO
 * is resolved once, for all sequences. An estimate that did not converge is CT_OK: solve.stop says why. Of an
 * incremental solve, stop is CT_STOP_STEP if it came to the end, and iterations are its updates.
 * inference.solve.progress and inference.replay.progress are called one at a time as well. After a cancel, sequences
 * not begun keep CT_STOP_NONE, those under way CT_STOP_CANCELLED. Fails with the error of the first sequence, in
 * their order, that has one. */
ct_status ct_evaluate(int32_t count, ct_sequence *const seq[], const ct_noise *noise,
                      const ct_evaluate_options *options, ct_evaluation each[], ct_summary *summary, ct_err *err);

/* What ct_evaluate does with one sequence, with the caller's solver of seq->graph; x (ct_graph_size doubles) receives
 * the estimate. options->progress, estimate and jobs are not used. */
ct_status ct_evaluate_sequence(const ct_sequence *seq, const ct_noise *noise, ct_solver *solver,
                               const ct_evaluate_options *options, double *x, ct_evaluation *out, ct_err *err);

/* The means over evaluations that are in hand. use: a byte per sequence, 0 leaves it out of the means (it still counts
 * in sequences and failed); NULL: all. Fails without memory alone. */
ct_status ct_summarise(int32_t count, const ct_evaluation each[], const uint8_t *use, ct_summary *out, ct_err *err);
/* Accuracy of the body of that name ("o"); no poses and NaN if there is none. */
ct_accuracy ct_summary_body(const ct_summary *summary, const char *name);

/* ---- Diagnostics ------------------------------------------------------------------------------- */

/* nees <- e' (P + Q)^-1 e of every variable, degrees <- its coordinates that count; NaN and 0 if the truth is not
 * known, or the variable fixed. Arrays of ct_graph_variables. CT_E_SINGULAR if the system is singular. */
ct_status ct_nees_each(const ct_sequence *seq, const ct_noise *noise, ct_solver *solver, const double *x, double *nees,
                       int *degrees, ct_err *err);

/* Residuals of the factors of a noise model at the truth, each divided by the square root of the factor's multiplier:
 * samples of its noise. r (may be NULL): dim doubles each, up to `most` of them; whitened by the model if `noise` is
 * not NULL. Returns how many there are. A factor whose variables
 * lack truth has none. */
int64_t ct_truth_residuals(const ct_sequence *seq, int32_t model, const ct_noise *noise, int64_t most, double *r);

/* Is the truth in the frame of the measurements? Poses as the measurements place them (CT_START_MEASURED) against the
 * truth: differs is 1 if a rigid motion removes nine tenths of the difference, and residuals of what ties the graph to
 * the world are much smaller at the truth so moved. Few of these must be 10 sigma of the table from the truth; of five
 * and more the noise shows. Needs five poses with known positions; differs is 0 otherwise. O(n). */
typedef struct {
    int    differs;
    double before, after; /* m, median distance of positions: as they are, after the rigid motion; NaN: not known */
    double shift[3];      /* m, of the truth's mean position from that of the measurements                       */
    double angle;         /* rad                                                                                 */
} ct_frame_difference;

ct_status ct_truth_frame(const ct_sequence *seq, const ct_noise *noise, ct_frame_difference *out, ct_err *err);
/* Appends CT_FINDING_TRUTH_IN_OTHER_FRAME for each sequence whose truth is. */
ct_status ct_truth_frame_findings(int32_t count, const ct_sequence *const seq[], const ct_noise *noise,
                                  ct_findings *out, ct_err *err);

/* The quantile q with P(chi-square of n degrees <= q) = p. */
double ct_chi_squared_quantile(double p, double n);

#ifdef __cplusplus
}
#endif
#endif
