/* tune.h: covtune tune: noise parameters of another program's estimator.
 *
 *   tune.c          options; tuning, --check, --schema
 *   run_folder.c    the run folder, and what a run leaves there
 *   history.c       history.csv and history.jsonl, and examples of failures
 *   trajectories.c  trajectories.json, for the report
 *   print.c         the result as text
 *   result_json.c   the result as JSON: tune.json, --json; covtune report reads it
 *   try_runs.c      --try: one run of every log
 *   init.c          --init: a first file, from flags or questions
 *
 * RUN has tune.json, tune.yaml, history.csv, history.jsonl, runs.journal, best/, failures/ (docs/tune.md). */
#ifndef CT_CLI_TUNE_H
#define CT_CLI_TUNE_H

#include "cli/common/cli.h"

typedef struct {
    const char *path, *out;
    int         resume, force, check, schema, try_runs, init;
    int         jobs, method, points, seed, folds; /* -1: as the file says */
    const char *command, *params, *log, *truth, *test, *test_truth, *format; /* of --init */
} tune_request;

/* An example of a failure of each kind. */
typedef struct {
    int32_t log;
    int     code;
    double *value;
    char   *message;
} tune_failure;

/* A file with a line for every run. */
typedef struct {
    char      *path;
    FILE      *file; /* NULL: not begun                   */
    cli_buffer text; /* lines that are not in the file yet */
} tune_lines;

typedef struct {
    ct_tuning             *tuning;
    const ct_tune_problem *problem;
    ct_tune_options        options;
    ct_tune_result         result;
    ct_tune_queue         *queue;
    ct_run_folder         *folder;
    char                  *best, *journal, *json, *yaml, *failures, *report; /* paths */
    char                  *estimates, *trajectories;
    int                    no_files; /* best/ would be empty: no file has a parameter                    */
    double                 best_loss, best_s;  /* of what best/ has, and when it was written; 0: not yet */
    tune_lines             csv, jsonl; /* the history                               */
    int64_t                line;       /* runs written there                        */
    tune_failure           failure[CT_TUNE_END_COUNT];
    int                    interrupted; /* another rank was                         */
    cli_progress           bar;
    double                 begin_s, line_s; /* of tuning; the next line without a terminal */
    const cli_io          *io;
    ct_status              status;     /* of files that progress writes             */
    ct_err                 err;
} tune_job;

/* run_folder.c */
cli_exit  tune_open_folder(const cli_io *io, const tune_request *request, tune_job *job);
/* A run that goes on has no result: that of an earlier end is not of the files that are in the folder now. */
void      tune_drop_result(const tune_job *job);
ct_status tune_close_folder(tune_job *job, const json_t *summary, ct_err *err);
void      tune_folder_free(tune_job *job);

/* history.c */
void      tune_history_open(tune_job *job);
void      tune_history_add(tune_job *job, const ct_tune_progress *progress);
ct_status tune_history_close(tune_job *job, ct_err *err);
void      tune_history_free(tune_job *job);

/* Loss per row of an outcome: half the mean square; NaN: it has no residuals. */
double tune_loss(const ct_tune_outcome *outcome);
/* "3 crashed, 1 time", or "". Returns buf. */
const char *tune_failures_text(const int64_t failed[CT_TUNE_END_COUNT], char *buf, size_t size);

/* trajectories.c */
ct_status tune_write_trajectories(const tune_job *job, ct_err *err);

/* result_json.c */
json_t *tune_json(const tune_request *request, const tune_job *job);

/* print.c */
void tune_print(const tune_request *request, const tune_job *job);

/* try_runs.c, init.c */
cli_exit tune_try(const cli_io *io, const tune_request *request, tune_job *job);
cli_exit tune_init(const cli_io *io, const tune_request *request);

#endif
