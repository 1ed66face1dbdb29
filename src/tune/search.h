/* search.h: what the methods of tune share.
 *
 *   check_problem.c     ct_tune_check
 *   coordinates.c       parameters as coordinates: logarithms, ties, bounds, spreads
 *   bounded_quadratic.c a quadratic minimised within bounds and spreads
 *   dense.c             Cholesky of small matrices
 *   evaluate_points.c   points of the coordinates evaluated by runs: batches, repeats, failures
 *   linear_model.c      a linear model of each residual, from points
 *   noise_bias.c        what the noise of runs adds to it
 *   first_points.c      a point along each coordinate
 *   method_*.c          one method each; dfgn.h has the files of the default
 *   find_start.c        a first point with an estimate; the noise of the estimator
 *   find_effects.c      parameters without effect
 *   pilot_logs.c        few training logs that stand for all of them while a search is far from its end
 *   search_global.c     a method, with restarts; points far away
 *   held_out*.c         held-out logs choose between answers and the start values
 *   tune_error_bars.c   standard errors, sensitivities
 *   tune_findings.c, tune_conventions.c
 *   tune.c              a run in order
 *
 * The loss of a point is the mean over training logs of half the mean square of their residuals: every log counts
 * alike, whatever its length. Residual vectors are compared in the norm whose half square is that loss,
 *
 *     |r|^2 = mean over training logs of (1 / rows) sum of r_row^2. */
#ifndef CT_TUNE_SEARCH_H
#define CT_TUNE_SEARCH_H

#include "base/base.h"

#include <covtune/tune.h>

/* ---- Coordinates ------------------------------------------------------------------------------ */

#define CT__SPREADS_MAX 64

/* A parameter in a spread group: its log variance is x[coordinate] + offset, or offset alone (coordinate -1). */
typedef struct {
    int32_t group, coordinate;
    double  offset;
} ct__spread_member;

/* One coordinate for each parameter that is not tied and has lower < upper. It is zero at the start value:
 *     log        x = power log(value / start), power as in CT_QUANTITY_LIST (1 for a number): log variance
 *     linear     x = (value - start) / scale, scale an eighth of the range */
typedef struct {
    const ct_tune_problem *problem;
    int32_t            n;
    int32_t           *parameter;     /* n                                                       */
    double            *power, *scale; /* n: power 0 is linear                                    */
    double            *lower, *upper; /* n: bounds, those of ties included; equal: it is held    */
    double            *limit;         /* 2 n: bounds as they were before                         */
    int32_t            members;
    ct__spread_member *member;
    double            *work;          /* 4 n                                                     */
} ct__coordinates;

/* The problem has passed ct_tune_check and is borrowed. Free also on failure. */
ct_status ct__coordinates_new(const ct_tune_problem *problem, ct__coordinates *out, ct_err *err);
void      ct__coordinates_free(ct__coordinates *c);
/* value: of all parameters, ties resolved, within bounds. x = 0 gives the start values to the bit. */
void ct__coordinates_values(const ct__coordinates *c, const double *x, double *value);
/* x <- the nearest point within bounds and spreads. */
void ct__coordinates_project(const ct__coordinates *c, double *x);
/* The limits of each coordinate if the least log variance of each group is floor[group]. */
void ct__coordinates_limits(const ct__coordinates *c, const double *floor, double *lower, double *upper);
/* Coordinate k stays at x_k from now on. */
void ct__coordinates_hold(ct__coordinates *c, int32_t k, double x_k);
/* It moves within its bounds again. */
void ct__coordinates_release(ct__coordinates *c, int32_t k);
int  ct__coordinates_held(const ct__coordinates *c, int32_t k);
/* Bounds of a parameter without tie, narrowed by those of parameters that are tied to it. */
void ct__tied_bounds(const ct_tune_problem *problem, int32_t i, double *lower, double *upper);
/* Log variance per logarithm of the number, as in CT_QUANTITY_LIST; of a number 0. */
double ct__quantity_power(ct_quantity quantity);
/* log(spread of the group). */
double ct__spread_width(const ct__coordinates *c, int32_t group);
/* Least and largest log variance of a group at x. */
void ct__spread_range(const ct__coordinates *c, int32_t group, const double *x, double *min, double *max);
/* Floors of a group with which every member has a place between lower and upper limits of the coordinates. */
void ct__spread_floors(const ct__coordinates *c, int32_t group, const double *lower, const double *upper,
                       double *least, double *most);

/* ---- Small matrices --------------------------------------------------------------------------- */

/* A = L L' in the lower triangle, n x n row-major. 0: not positive definite. */
int  ct__cholesky(int32_t n, double *A);
void ct__cholesky_solve(int32_t n, const double *L, double *b);

/* ---- A quadratic within bounds ---------------------------------------------------------------- */

/* s minimises 1/2 s'Hs + g's with x + s within bounds and spreads and |s_k| <= radius. H: n x n, positive definite.
 * Returns the decrease, >= 0. work: 2 n^2 + 8 n. */
double ct__bounded_quadratic(const ct__coordinates *c, const double *H, const double *g, const double *x, double radius,
                             double *s, double *work);

/* ---- Points ----------------------------------------------------------------------------------- */

typedef struct {
    double *x, *value;        /* coordinates; parameters                                              */
    double  loss;             /* mean over active logs; INFINITY: one has failed; NaN: not run        */
    double  whole;            /* the same over all training logs                                      */
    int32_t counted;          /* training logs that count against the limit of points; 0: none yet      */
    /* per log: */
    ct_tune_figures *figures; /* means over runs; end: CT_TUNE_DONE, or how the last run failed       */
    double **residual;        /* mean over runs; NULL: none                                           */
    int32_t *runs;            /* that ended well                                                      */
    int32_t *tried;           /* repeat numbers used                                                  */
    int32_t *good;            /* repeat number of the last run that ended well                        */
} ct__tune_point;

/* The state of ct_tune. */
typedef struct {
    const ct_tune_problem *problem;
    ct_tune_options  options;
    ct_tune_queue   *queue;
    ct_tune_result  *result;
    ct_err          *err;
    ct__coordinates  c;
    int64_t         *rows;        /* per log; -1: not known yet                         */
    double          *covered;     /* per log: outcome's, of the first run at the start  */
    double          *lost;        /* per log: share of poses, of that run               */
    ct_conventions  *conventions; /* per log: outcome's, of that run; 0: not known      */
    int64_t         *broken, *unordered; /* per log: outcome's, the most of any run     */
    int32_t          trains;
    int32_t         *rank;        /* per log: its place in the order of training logs   */
    int32_t          used_from, used_to; /* active are the training logs of these ranks */
    ct__tune_point **point;       /* all points                                         */
    int64_t          points, capacity;
    ct__tune_point  *start, *best;/* best: smallest loss on all training logs           */
    const ct__tune_point *base;   /* of the model under way: its residuals stay         */
    int64_t          limit;       /* of points on all training logs                     */
    int64_t          spent;       /* of that, times training logs                       */
    int64_t          most_numbers;/* of residuals in memory                             */
    int32_t          repeats;     /* averaged at every point                            */
    double           noise;       /* |r - E r|^2 of one run of all training logs        */
    int32_t          blocks;      /* equal numbers of rows of a log                     */
    double          *noise_block; /* logs x blocks: mean square of r - E r; NaN         */
    double           noise_loss;  /* standard deviation of the loss of a point, one run */
    int32_t          noise_pairs; /* of runs that it was estimated from: one a log      */
    double           noise_at;    /* the loss of the point where these were measured    */
    int              noise_common;/* runs differ by their seeds alone, near that point  */
    double           noise_power; /* noise is in proportion to this power of the loss   */
    int              retried, log_retries, recovered; /* failed runs that were repeated; with success */
    int              effects_known;      /* coordinates without effect are held          */
    double          *silent;      /* n: share of the range over which it is held; 0: it is free */
    int              noise_known;        /* runs were repeated                           */
    int32_t          put_off;            /* a coordinate without a first point yet; -1   */
    int              searched;           /* points do not count any more                 */
    int64_t          searched_at;        /* runs until then                              */
    const char      *phase;
    int64_t          running, waiting; /* runs of the batch under way                    */
    int              testing;          /* the search and its held-out runs are over      */
    double           start_s;
    int              cancelled;
} ct__tuner;

/* Which logs: the active training logs, all training logs, test logs. */
typedef enum { CT__TRAIN, CT__TRAIN_ALL, CT__TEST } ct__log_set;

ct_status ct__tuner_new(const ct_tune_problem *problem, const ct_tune_options *options, ct_tune_queue *queue,
                        ct_tune_result *result, ct__tuner *out, ct_err *err);
void      ct__tuner_free(ct__tuner *t);
/* The point at x (projected), made if it is new. Owned by the tuner. */
ct_status ct__point_at(ct__tuner *t, const double *x, ct__tune_point **out);
/* All points on all logs of the set, as one batch, until each has `repeats` runs, or has failed. Cancelling is CT_OK:
 * see t->cancelled. */
ct_status ct__evaluate(ct__tuner *t, int64_t count, ct__tune_point *const point[], ct__log_set logs, int32_t repeats);
/* One point on one log; `repeats` runs in all; 0: one more than it has. */
ct_status ct__evaluate_log(ct__tuner *t, int64_t count, ct__tune_point *const point[], const int32_t log[],
                           int32_t repeats);
/* As many runs as each point has on its log once more, with the same seeds. */
ct_status ct__evaluate_again(ct__tuner *t, int64_t count, ct__tune_point *const point[], const int32_t log[]);
/* Runs p again on training logs whose residuals were dropped; a journal answers them. *here 0: some still lack, for
 * runs failed, or the caller cancelled. */
ct_status ct__recall(ct__tuner *t, ct__tune_point *p, int *here);
int ct__is_done(const ct__tune_point *p); /* finite loss on all active logs */
int ct__is_active(const ct__tuner *t, int32_t log);
int32_t ct__actives(const ct__tuner *t); /* how many */
/* Losses and models are of the training logs of these ranks from now on. Points that were not run on all of them have
 * the loss NaN. */
void ct__use_logs(ct__tuner *t, int32_t from, int32_t to);
int32_t ct__runs_of(const ct__tuner *t, const ct__tune_point *p); /* averaged at the point on each active log, >= 1 */
/* How many more points may be evaluated. */
int64_t ct__points_left(const ct__tuner *t);
/* Mean over active logs of (1 / rows) sum of (a - b)^2. b NULL: 0. INFINITY: residuals were dropped. */
double ct__distance2(const ct__tuner *t, const ct__tune_point *a, const ct__tune_point *b);

/* ---- Linear models ---------------------------------------------------------------------------- */

/* r(x_b + s) = r_b + sum over k of (r_k - r_b) (C_k0 + sum over i of C_ki s_i), for the residuals of each log: points
 * are those that were run on it. Everything that a step needs is in products of residual vectors, so Jacobians are
 * never stored. */
typedef struct {
    int32_t n, count, capacity;
    const ct__tuner *t;
    ct__tune_point  *base;
    int     noisy;           /* noise has a part in the weights of points   */
    double  kappa;           /* curvature, for these weights                */
    ct__tune_point **point;  /* count: of the log that was fitted last      */
    double *C;               /* count x (n + 1): of this log                */
    double *H, *g;           /* n x n: J'J; n: J'r at the base              */
    double  half;            /* 1/2 |r|^2 of the model at the base          */
    double *work;
    double *noise;           /* 3 n^2 + 2 n: room of ct__model_remove_noise */
    double  near;            /* points that are nearer count as if they were so far */
} ct__linear_model;

ct_status ct__model_new(int32_t n, int32_t capacity, ct__linear_model *out, ct_err *err);
void      ct__model_free(ct__linear_model *model);
/* The model of the active logs around base, from the nearest of all points of the tuner. */
ct_status ct__model_fit(ct__linear_model *model, ct__tuner *t, ct__tune_point *base);
/* point, count, C <- those of one log. */
void ct__model_use_log(ct__linear_model *model, int32_t log);
/* H and g from the rows of one log alone: rows from..to; H, g are added to, with that weight. */
void ct__model_add(ct__linear_model *model, int32_t log, int64_t from, int64_t to, double weight, double *H,
                   double *g, double *half);
/* H, g of all rows <- without what the noise of runs adds to them on average. */
void ct__model_remove_noise(ct__linear_model *model, const ct__tuner *t, double *H, double *g);

#define CT__QUIET 1e-18 /* of squared residuals: changes below are rounding */

/* ---- Before the search ------------------------------------------------------------------------ */

/* *first <- the start, or a point near it that has estimates on all training logs; NULL: none was found. */
ct_status ct__find_first(ct__tuner *t, ct__tune_point **first);
/* Ranks of training logs: those that stand best for all of them come first. */
ct_status ct__order_logs(ct__tuner *t, const ct__tune_point *first);
/* How many logs a search begins with; how many it goes on with. trains: all of them. */
int32_t ct__first_logs(const ct__tuner *t);
int32_t ct__more_logs(const ct__tuner *t, int32_t logs);
/* Runs p again on active logs: t->noise, t->noise_loss, result->noise. */
ct_status ct__find_noise(ct__tuner *t, ct__tune_point *p);
/* The same where noise was seen on one log: on all of them. */
ct_status ct__extend_noise(ct__tuner *t, ct__tune_point *p);
/* Runs p again if its loss is much smaller than that of the point where noise was measured: it may have less. */
ct_status ct__renew_noise(ct__tuner *t, ct__tune_point *p);
/* |r - E r|^2 of the mean over the runs at p on a log. */
double ct__noise_of(const ct__tuner *t, const ct__tune_point *p, int32_t log);
/* Runs of the last points of a search: more than one if the program has noise. */
int32_t ct__last_repeats(const ct__tuner *t);
/* Mean square of the difference of two residual vectors of a log over a block of its rows; *share: of rows. */
double ct__block_distance(const ct__tuner *t, int32_t log, int32_t k, const double *a, const double *b, double *share);
/* Holds coordinates that change nothing; point[k] differs from `from` in coordinate k. If one has an effect on other
 * logs than the pilot, all logs are active afterwards. */
ct_status ct__find_effects(ct__tuner *t, ct__tune_point *from, ct__tune_point **point);
/* Releases coordinates that were held, and change residuals at the answer of a search. *released: how many. */
ct_status ct__review_effects(ct__tuner *t, ct__tune_point *answer, int *released);
/* Those that are held, as findings. */
ct_status ct__note_silent(ct__tuner *t);

/* ---- Methods ---------------------------------------------------------------------------------- */

/* point[k] <- from and `step` along coordinate k, evaluated in one batch; where that fails on the other side, then
 * nearer. NULL or not done: none was found, or the coordinate is held. point: room for 2 n. */
ct_status ct__first_points(ct__tuner *t, const ct__tune_point *from, double step, ct__tune_point **point);

/* tune_findings.c: logs whose truth is longer than the estimate. */
ct_status ct__note_covered(ct__tuner *t);
/* Logs whose estimates miss many poses. */
ct_status ct__note_lost(ct__tuner *t);
/* Logs whose estimates have records that are no poses, or stamps out of order. */
ct_status ct__note_records(ct__tuner *t);
/* tune_conventions.c: estimates off by a constant, of logs that the answer did not mend. */
ct_status ct__note_conventions(ct__tuner *t);
/* Losses of training and test logs that are far apart. */
ct_status ct__note_test_logs(ct__tuner *t);
/* Runs that failed. */
ct_status ct__note_failures(ct__tuner *t);
/* A finding: stuck at p, where a model predicts that decrease along s. */
ct_status ct__note_stuck(ct__tuner *t, const ct__tune_point *p, double predicted, const double *s);

/* Each begins at `from`, which has been evaluated with success, and leaves its answer in *answer. */
ct_status ct__tune_dfgn(ct__tuner *t, ct__tune_point *from, ct__tune_point **answer, ct_tune_stop *stop);
ct_status ct__tune_lm(ct__tuner *t, ct__tune_point *from, ct__tune_point **answer, ct_tune_stop *stop);
ct_status ct__tune_fw(ct__tuner *t, ct__tune_point *from, ct__tune_point **answer, ct_tune_stop *stop);
ct_status ct__tune_nlopt(ct__tuner *t, ct__tune_point *from, ct__tune_point **answer, ct_tune_stop *stop);
/* A method of NLopt, which sees the loss of each point alone; as many new points at most. */
ct_status ct__minimise_loss(ct__tuner *t, ct_tune_method method, int64_t points, ct__tune_point *from,
                            ct__tune_point **answer, ct_tune_stop *stop);
ct_status ct__tune_random(ct__tuner *t, ct__tune_point *from, ct__tune_point **answer, ct_tune_stop *stop);

/* search_global.c: the method, with restarts where it is stuck. */
ct_status ct__search(ct__tuner *t, ct__tune_point *first, ct__tune_point **answer, ct_tune_stop *stop);

/* *best <- the best of n + 1 points, at least six, spread over the bounds within the radius of base. NULL: none has
 * estimates. */
ct_status ct__points_around(ct__tuner *t, ct_rng *rng, const ct__tune_point *base, double radius,
                            ct__tune_point **best);
/* The same over the whole bounds, and as many more where they come near to the loss of base. */
ct_status ct__coarse_points(ct__tuner *t, ct_rng *rng, const ct__tune_point *base, ct__tune_point **best);
/* *best <- the best of points that differ from base in one coordinate, by half of the way to a bound; NULL: none. H,
 * n x n: those of hardly any curvature, to the farther bound; H NULL: all, to both. */
ct_status ct__axis_points(ct__tuner *t, const ct__tune_point *base, const double *H, ct__tune_point **best);

/* method_lm.c: the step of forward differences from the errors of r and its curvature, and the error of a derivative
 * that it promises, in the norm of residuals; NaN: not known. */
ct_status ct__difference_step(ct__tuner *t, ct__tune_point *from, double *step, double *error);
/* Of that step: nearer points, such as those of the table, differ by noise, and count as if they were so far. */
#define CT__NEAR_STEP 0.5
/* Points drawn uniformly within bounds and `width` of the centre; *best <- the best of them and *best. log >= 0: those
 * without an estimate of this log are not run on the others. */
ct_status ct__random_points(ct__tuner *t, ct_rng *rng, const double *centre, double width, int64_t count, int32_t log,
                            ct__tune_point **best);

/* ---- After the search ------------------------------------------------------------------------- */

/* held_out.c: *answer <- the candidate that held-out logs choose; result->candidate. */
ct_status ct__choose_held_out(ct__tuner *t, ct__tune_point *best, ct__tune_point **answer);
/* tune_error_bars.c: result->standard_error, result->sensitivity at the answer. */
ct_status ct__tune_error_bars(ct__tuner *t, ct__tune_point **answer);

#endif
