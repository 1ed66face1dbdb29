/* covtune/tune.h: noise parameters of an estimator that is not covtune's, learned from its runs.
 *
 *     TUNE.yaml -> tuning -> queue of runs -> residual vectors -> method -> held-out logs decide -> the user's files
 *                ct_tuning   ct_tune_queue                       ct_tune
 *
 * A run of the estimator maps parameter values and a log to a trajectory. Compared with the truth it is a residual
 * vector r whose half square sum is the loss (score.h). Nothing else is known of the estimator. Methods work on
 * residual vectors; runs are served by a queue, which may be processes of this machine (ct_tuning_queue), a journal in
 * front of another queue (ct_tune_journal), ranks of a cluster, or functions of the caller:
 *
 *     ct_tuning *tuning;  ct_tune_queue *processes, *queue;  ct_tune_result result;
 *     CT_TRY(ct_tuning_read("tune.yaml", &tuning, err));
 *     CT_TRY(ct_tuning_queue(tuning, &local, &processes, err));
 *     CT_TRY(ct_tune_journal("out/runs.journal", ct_tuning_digest(tuning), parameters, 1, processes, &queue, err));
 *     CT_TRY(ct_tune(ct_tuning_problem(tuning), NULL, queue, &result, err));
 *     CT_TRY(ct_tuning_write(tuning, result.value, "out/best", err));
 *
 * Methods are deterministic functions of outcomes, and wait for whole batches of runs. The number of jobs, and which
 * run ends first, change no bit; a journal that answers the runs of a killed process leads to the same result.
 */
#ifndef COVTUNE_TUNE_H
#define COVTUNE_TUNE_H

#include <covtune/comm.h>
#include <covtune/config.h>
#include <covtune/learn.h>
#include <covtune/recipe.h>
#include <covtune/score.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The problem ------------------------------------------------------------------------------ */

/* What a number of the estimator is. Its log variance is `sign` times its logarithm times `power`, plus a constant.
 * X(constant, name, log variance per logarithm of the number, description) */
#define CT_QUANTITY_LIST(X)                                                                                            \
    X(CT_QUANTITY_SIGMA, "sigma", 2, "standard deviation")                                                             \
    X(CT_QUANTITY_VARIANCE, "variance", 1, "variance")                                                                 \
    X(CT_QUANTITY_INFORMATION, "information", -1, "inverse variance, or a weight")                                     \
    X(CT_QUANTITY_DENSITY, "density", 2, "noise density: standard deviation per root Hz")                              \
    X(CT_QUANTITY_NUMBER, "number", 0, "any other number: a delay, a width of a kernel; it has no spread")

typedef enum {
#define X(constant, name, power, description) constant,
    CT_QUANTITY_LIST(X)
#undef X
    CT_QUANTITY_COUNT
} ct_quantity;

const char *ct_quantity_name(ct_quantity quantity);
int         ct_quantity_find(const char *name); /* a ct_quantity, or -1 */

/* Values are numbers as the estimator's files have them. */
typedef struct {
    char        name[64];
    double      start, lower, upper; /* bounds are hard: no run is outside                                       */
    ct_quantity quantity;
    int         log;                 /* 1: searched in its logarithm; start and bounds are positive              */
    int32_t     tie;                 /* index of an earlier parameter that it is `factor` times; -1: none        */
    double      factor;
    int32_t     group;               /* for spreads: index in ct_tune_problem.spread; -1: in none                */
} ct_tune_parameter;

typedef struct {
    const char *name, *recording;    /* logs of one recording are held out together                              */
    int         test;                /* 1: never learned from; start and answer are compared on it at the end    */
} ct_tune_log;

typedef struct {
    int32_t                  parameters, logs, spreads;
    const ct_tune_parameter *parameter;
    const ct_tune_log       *log;
    const double            *spread; /* of each group: largest over smallest variance (their ratio to the start values
                                        of the group's first is not taken: numbers are compared as they are)     */
} ct_tune_problem;

/* CT_E_ARGUMENT with a sentence: no training log, bounds that are empty or exclude the start, ties that form a chain,
 * names that are there twice, spreads that cannot be met. ct_tune checks it itself. */
ct_status ct_tune_check(const ct_tune_problem *problem, ct_err *err);

/* ---- Runs ------------------------------------------------------------------------------------- */

/* How a run ended. X(constant, name, description) */
#define CT_TUNE_END_LIST(X)                                                                                            \
    X(CT_TUNE_DONE, "done", "a trajectory was compared with the truth")                                                \
    X(CT_TUNE_CRASHED, "crashed", "the program ended by a signal or with another exit code than 0")                    \
    X(CT_TUNE_TIME, "time", "the program was stopped at its time limit")                                               \
    X(CT_TUNE_MEMORY, "memory", "the program reached its memory limit")                                                \
    X(CT_TUNE_NO_ESTIMATE, "no_estimate", "the program wrote no estimate, or an empty one")                            \
    X(CT_TUNE_BAD_ESTIMATE, "bad_estimate", "the estimate cannot be read, or has no pose at the truth's times")        \
    X(CT_TUNE_NOT_FINITE, "not_finite", "residuals are not finite")                                                    \
    X(CT_TUNE_SHORT, "short", "less than half of the poses have an estimate")

typedef enum {
#define X(constant, name, description) constant,
    CT_TUNE_END_LIST(X)
#undef X
    CT_TUNE_END_COUNT
} ct_tune_end;

const char *ct_tune_end_name(ct_tune_end end);
int         ct_tune_end_find(const char *name); /* a ct_tune_end, or -1 */

/* Repeat numbers from here on have the seeds of 0, 1, ... again: are runs with equal seeds equal? */
#define CT_TUNE_SAME_SEED 1000000

typedef struct {
    int64_t       ticket; /* chosen by the caller, unique among runs under way            */
    int32_t       log;
    int32_t       repeat; /* 0, 1, ...: the same values again; its seed is that of repeat % CT_TUNE_SAME_SEED */
    const double *value;  /* of all parameters, ties resolved; borrowed by submit only    */
} ct_tune_request;

typedef struct {
    ct_tune_end end;
    int64_t     rows;
    double     *residual;  /* of CT_TUNE_DONE and CT_TUNE_SHORT: `rows` numbers, as many for every run of a log; owned
                              by the receiver                                                                     */
    int64_t     poses, lost;
    int64_t     broken;                /* records of the estimate that are no poses: not finite, no rotation, no stamp;
                                          those between poses count as lost                                       */
    int64_t     unordered;             /* records whose stamp repeats or goes back: the estimate is sorted        */
    double      translation, rotation; /* root mean square errors, m and rad; NaN: not known                      */
    double      rpe_translation, rpe_rotation; /* root mean squares of relative errors over the loss's delta; NaN   */
    double      nees;                  /* mean per coordinate; NaN: no covariances                                */
    double      covered;               /* share of the truth's time between the estimate's first and last pose; NaN:
                                          all of it counts, or has no times                                       */
    ct_conventions conventions;        /* of the first run of a log that this queue compares; else 0              */
    double      seconds;               /* of the run                                                              */
    int         cached;                /* 1: from a journal                                                       */
    int         code;                  /* exit code, or minus the signal                                          */
    char       *message;               /* of failures: the last lines of what the program wrote; or NULL; owned   */
} ct_tune_outcome;

void ct_tune_outcome_free(ct_tune_outcome *outcome); /* what it points to */

/* Who serves runs. Functions are called from one thread. A failed run is an outcome; a status other than CT_OK ends
 * tuning (the program cannot be started at all, the disk is full). */
typedef struct ct_tune_queue {
    void *user;
    int   slots; /* runs that are worth having under way at once */
    ct_status (*submit)(void *user, const ct_tune_request *request, ct_err *err);
    /* Waits for any run. At most wait_s seconds: then *ticket is -1, and the caller may look after signals. */
    ct_status (*collect)(void *user, double wait_s, int64_t *ticket, ct_tune_outcome *outcome, ct_err *err);
    void (*abandon)(void *user); /* stops all runs under way, and forgets them */
    void (*free)(void *user);
} ct_tune_queue;

void ct_tune_queue_free(ct_tune_queue *queue); /* abandons its runs; NULL: nothing */

/* A journal in front of a queue, which it owns: runs that the file has are answered from it, others are served by
 * `inner` and appended. Records are checksummed and appended whole; what kill -9 cut is removed on opening, so that no
 * completed run is repeated. Runs are identified by `digest` (what is not in a request: command, files, logs, options)
 * and the request's values, log and repeat. CT_E_BUSY: another process writes it. CT_E_PARSE: no journal.
 * resume 0: the file must not exist, or is empty. parameters: how many values a request has. On failure inner stays the
 * caller's. */
ct_status ct_tune_journal(const char *path, uint64_t digest, int32_t parameters, int resume, ct_tune_queue *inner,
                          ct_tune_queue **out, ct_err *err);
/* Completed runs of this digest that it holds; of any queue that is no journal 0. */
int64_t ct_tune_journal_runs(const ct_tune_queue *journal);

/* ---- Methods ---------------------------------------------------------------------------------- */

/* X(constant, name, description) */
#define CT_TUNE_METHOD_LIST(X)                                                                                         \
    X(CT_TUNE_DFGN, "dfgn", "derivative-free Gauss-Newton: a linear interpolation model of each residual in a trust "  \
                            "region")                                                                                  \
    X(CT_TUNE_LM, "lm", "Levenberg-Marquardt with numerical Jacobians, Broyden updates between")                       \
    X(CT_TUNE_FW, "fw", "Frank-Wolfe with numerical Jacobians, the paper's")                                           \
    X(CT_TUNE_BOBYQA, "bobyqa", "NLopt's BOBYQA on the loss")                                                          \
    X(CT_TUNE_NELDER_MEAD, "nelder-mead", "NLopt's Nelder-Mead on the loss")                                           \
    X(CT_TUNE_POWELL, "powell", "NLopt's PRAXIS on the loss")                                                          \
    X(CT_TUNE_GLOBAL, "global", "NLopt's DIRECT-L on the loss")                                                        \
    X(CT_TUNE_RANDOM, "random", "random search, uniform within the bounds")

typedef enum {
#define X(constant, name, description) constant,
    CT_TUNE_METHOD_LIST(X)
#undef X
    CT_TUNE_METHOD_COUNT
} ct_tune_method;

const char *ct_tune_method_name(ct_tune_method method);
int         ct_tune_method_find(const char *name); /* a ct_tune_method, or -1 */

/* Where tuning stands, for progress. Returning non-zero stops at the best so far. */
typedef struct {
    const char *phase;         /* "start", "noise", "search", "heldout", "test": static                         */
    int64_t     runs, running, failed, cached; /* runs of the estimator: ended, under way, failed, from a journal */
    int64_t     expected;      /* of `runs` at the end, estimated                                               */
    double      loss_start, loss;  /* mean over training logs, at the start values and the best so far; NaN     */
    double      seconds, left_s;   /* left: estimated; NaN                                                      */
    const double *value;       /* the best so far                                                               */
    const ct_tune_request *request; /* the run that ended, or NULL; with its outcome                            */
    const ct_tune_outcome *outcome;
} ct_tune_progress;
typedef int (*ct_tune_progress_fn)(void *user, const ct_tune_progress *progress);

/* The loss of a point is the mean over training logs of half the mean square of their residuals: every log counts
 * alike, whatever its length. With a prior w the method's minimum p is followed by that of
 *     loss + w / 2 loss(p) |x|^2,   x the log variances (of linear numbers eighths of their range) from the start. */
typedef struct {
    ct_tune_method method;
    int64_t  points;   /* to try at most, as runs of all training logs: one of few logs counts in part; 0: its own */
    int      folds;    /* of held-out recordings, at most; < 2: none, and the answer is not compared with the start   */
    double   prior;    /* weight of the prior towards the start; 0: none; NaN: held-out logs decide                   */
    int      repeats;  /* runs averaged at every point; 0: as many as the noise of the estimator needs                */
    int      global;   /* coarse search of the box: 0 never, 1 first, -1 where models do not hold or it is stuck  */
    int      free_translation, free_rotation; /* 1: no weight in the loss; may get worse for a smaller loss           */
    uint64_t seed;     /* of methods that draw random numbers                                                         */
    double   relative; /* stop: relative decrease of the loss: 1e-3                                                   */
    double   step;     /* stop: largest change of a logarithm: 0.02                                                   */
    ct_tune_progress_fn progress; /* may be NULL */
    void    *user;
} ct_tune_options;

ct_tune_options ct_tune_defaults(void);

/* Why it stopped. X(constant, name, what it means) */
#define CT_TUNE_STOP_LIST(X)                                                                                           \
    X(CT_TUNE_STOP_NONE, "none", "the method did not start")                                                           \
    X(CT_TUNE_STOP_LOSS, "loss", "the relative decrease of the loss is below its tolerance")                           \
    X(CT_TUNE_STOP_STEP, "step", "the step is below its tolerance")                                                    \
    X(CT_TUNE_STOP_NOISE, "noise", "the decrease is below the noise of the estimator")                                 \
    X(CT_TUNE_STOP_POINTS, "points", "the limit of points is reached")                                                 \
    X(CT_TUNE_STOP_STUCK, "stuck", "no step decreases the loss, and it is no minimum")                                 \
    X(CT_TUNE_STOP_FAILED, "failed", "no parameter values gave estimates on all training logs")                        \
    X(CT_TUNE_STOP_CANCELLED, "cancelled", "interrupted; this is the best so far")

typedef enum {
#define X(constant, name, what) constant,
    CT_TUNE_STOP_LIST(X)
#undef X
    CT_TUNE_STOP_COUNT
} ct_tune_stop;

const char *ct_tune_stop_name(ct_tune_stop stop);
const char *ct_tune_stop_meaning(ct_tune_stop stop);

/* One value of the parameters on one log. */
typedef struct {
    ct_tune_end end;
    double      loss;                        /* per row; NaN: none */
    double      translation, rotation, nees; /* NaN: not known     */
} ct_tune_figures;

/* The candidates that held-out logs decide between: 0 the start values; then weights of the prior. */
typedef struct {
    double    prior;                      /* NaN: the start values themselves; 0: no prior                        */
    double    heldout;                    /* mean loss of held-out logs                                           */
    double    log_ratio, log_ratio_error; /* of losses to the start's, over recordings; robust mean, standard error */
    double    translation_ratio, rotation_ratio;
    int       failed;                     /* logs without an estimate                                             */
    int       chosen;
    ct_choice verdict;
} ct_tune_candidate;
#define CT_TUNE_CANDIDATES_MAX 6

typedef struct {
    ct_tune_method method;
    ct_tune_stop   stop;
    int32_t  parameters, logs;
    int64_t  points;                       /* parameter values tried                                             */
    int64_t  runs, cached, failed[CT_TUNE_END_COUNT];
    double   seconds, run_seconds;         /* wall clock; sum over runs                                          */
    double   loss_start, loss;             /* mean over training logs, per row                                   */
    double   noise;                        /* relative standard deviation of the loss from run to run; 0: none   */
    double  *value;                        /* the answer; equal to the start where nothing beats it              */
    double  *standard_error;               /* of the logarithm (log) or the value; INFINITY: not determined      */
    int8_t  *at_bound;                     /* -1, 0, +1                                                          */
    double  *best;                         /* the minimum of the training loss, whether chosen or not            */
    int      candidates;
    ct_tune_candidate candidate[CT_TUNE_CANDIDATES_MAX];
    int32_t  recordings;
    ct_tune_figures *before, *after;       /* per log (training and test) at the start, at the answer            */
    /* Root mean square over the rows of a part of a log of d r / d log value, per parameter, at the answer:
     * sensitivity[(log * parts + part) * parameters + i]; NaN: not known. Parts are equal numbers of rows. */
    int32_t  parts;
    double  *sensitivity;
    ct_findings findings;
} ct_tune_result;

/* Learn. result: free with ct_tune_result_free whatever the status. options may be NULL: the defaults. The queue is
 * borrowed; nothing is under way when ct_tune returns. */
ct_status ct_tune(const ct_tune_problem *problem, const ct_tune_options *options, ct_tune_queue *queue,
                  ct_tune_result *result, ct_err *err);
void      ct_tune_result_free(ct_tune_result *result);

/* Findings of most logs whose estimate is off by a constant: a frame, unit, clock, body, sign. of: of each log, 0 where
 * it is not known. */
ct_status ct_tune_note_conventions(const ct_tune_problem *problem, const ct_conventions of[], ct_findings *list,
                                   ct_err *err);

/* ---- The file --------------------------------------------------------------------------------- */

/* A tuning is what TUNE.yaml says (docs/tune.md). Reading checks all of it: paths, places of parameters in files,
 * placeholders that are missing or unused, that the program is executable, that truths can be read. */
typedef struct ct_tuning ct_tuning;

ct_status ct_tuning_read(const char *path, ct_tuning **out, ct_err *err);
void      ct_tuning_free(ct_tuning *tuning);
/* All mistakes, by line, as ct_recipe_check; for the caller to free with ct_recipe_mistakes_free. */
ct_status ct_tuning_check(const char *path, ct_recipe_mistakes *out, ct_err *err);
/* The JSON Schema of the file; for the caller to free. */
ct_status ct_tuning_schema(char **text, ct_err *err);

/* A first file with comments. Numbers of the configuration whose keys sound like noise are its parameters; those that
 * are uncertain are in comments. CT_E_ARGUMENT: something is missing, or the command lacks {log} or {estimate}.
 * CT_E_EMPTY: there is nothing to learn. For the caller to free. */
typedef struct {
    const char *command;     /* words of a command line with placeholders                                     */
    const char *params;      /* path of the configuration file; NULL: none                                    */
    const char *log, *truth; /* patterns, with * or {run}                                                      */
    const char *test, *test_truth; /* of logs that are not learned from; NULL: none                           */
    const char *format;      /* of the estimate, a ct_source_format; NULL: by content                         */
    const char *folder;      /* where the file will be; paths above are of the present folder. NULL: "."      */
} ct_tuning_draft_options;
ct_status ct_tuning_draft(const ct_tuning_draft_options *options, char **text, ct_err *err);

const ct_tune_problem *ct_tuning_problem(const ct_tuning *tuning);
ct_tune_options        ct_tuning_options(const ct_tuning *tuning); /* as the file has them */
/* 1: a configuration file has the number of this parameter; 0: command, environment or server alone take it. */
int ct_tuning_in_file(const ct_tuning *tuning, int32_t parameter);
/* Of everything that a run depends on beside its request: command, contents of files, logs and truths, options. */
uint64_t ct_tuning_digest(const ct_tuning *tuning);
/* Are contents of programs, files, logs and truths what they were when the tuning was read? CT_E_ARGUMENT: they are
 * not, and runs in between are of some of both. Reads all of them. */
ct_status ct_tuning_unchanged(const ct_tuning *tuning, ct_err *err);
/* Write the user's files with these values into a folder, which is made, under their own names. */
ct_status ct_tuning_write(const ct_tuning *tuning, const double value[], const char *folder, ct_err *err);

/* Processes of this machine. */
typedef struct {
    int         jobs;    /* at once; 0: as many as processors                                                  */
    const char *folder;  /* runs have folders in it; made if it is not there                                   */
    int         keep;    /* 1: folders of runs stay; 0: those of the last failures only, at most 20            */
    const char *estimates; /* NULL, or a folder, which is made: positions of estimates and truths of test logs (of all,
                              where there are none) for pictures, "t x y z" a line, aligned, at most 2000 lines  */
    const ct_comm *comm; /* NULL: this process alone. Else each rank has `jobs`: rank 0 has the queue, and the other
                            ranks call ct_tuning_serve. borrowed                                                 */
    int        *interrupted; /* may be NULL; of rank 0: set to 1 if another rank was interrupted                 */
} ct_tuning_local;

/* The name of such a file: the estimate of these values, or the truth if value is NULL. Returns name. */
const char *ct_tuning_estimate_name(const ct_tuning *tuning, int32_t log, const double value[], char name[64]);

/* The tuning is borrowed until the queue is freed. Children are in process groups of their own; abandon and free kill
 * them with all their descendants and wait for them; they also end when this process is killed. A process is forked per
 * job when its first run starts: the programs are its children, so signals and waits of the caller do not see them.
 * Estimates of a log are compared at the times of its first one, in the order of requests; it is kept in the folder, so
 * that a resumed tuning compares at the same times. CT_E_BUSY: another queue uses the folder. */
ct_status ct_tuning_queue(ct_tuning *tuning, const ct_tuning_local *local, ct_tune_queue **out, ct_err *err);

/* ---- Ranks ------------------------------------------------------------------------------------ */

/* ct_tuning_read by all ranks of comm. Ranks that do not see the same files as rank 0, by their contents, receive them
 * into `folder`, and read them there: the file, its folder (but for hidden files and folders of runs), logs, truths,
 * files of the command. Programs outside that folder are not sent; a rank that lacks them is named with its host. */
ct_status ct_tuning_read_shared(const char *path, const ct_comm *comm, const char *folder, ct_tuning **out,
                                ct_err *err);
/* Other ranks than 0: run the estimator for the queue of rank 0, below local->folder, until ct_tuning_dismiss. Every
 * run's outcome, output and estimate go to rank 0. interrupted (may be NULL): asked often; once it returns 1 rank 0 is
 * told. A status is of this rank: its programs cannot be started, its disk is full. Rank 0 is told that, too. */
ct_status ct_tuning_serve(ct_tuning *tuning, const ct_tuning_local *local, int (*interrupted)(void *user), void *user,
                          ct_err *err);
/* Rank 0, at the end, whether there was a queue or not: the other ranks return from ct_tuning_serve. */
ct_status ct_tuning_dismiss(const ct_comm *comm, ct_err *err);

#ifdef __cplusplus
}
#endif
#endif
