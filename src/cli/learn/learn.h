/* learn.h: the parts of `covtune learn`.
 *
 *   learn.c        options, and all of it in order      define_theta.c  parameters from dataset and options
 *   run_files.c    the files of a run                   print.c  the result
 *   check_options.c  what options allow, their defaults  examine.c  the doctor in brief
 *   check_gradient.c  --check-gradient                     unused_options.c   options without effect
 *   open_run_folder.c  the folder of a run: may it be used, who has it     read_run.c  reads such a folder */
#ifndef CT_CLI_LEARN_H
#define CT_CLI_LEARN_H

#include "cli/common/cli.h"

#include <sys/types.h>

/* The options. Lists are as on the command line; NULL: not given. */
typedef struct {
    const char *path, *out, *noise;
    const char *weights, *prior, *truth_sigma, *robust, *bias, *model, *memory;
    int         no_truth; /* --truth: 1 none, 0 use, -1 not given */
    ct_theta_options theta;
    int method, difference, gradient, hessian, deployment_start, scale, scale_from, inner, deployment, entry;
    /* -1, -1, 0, -1: the default of the method; iterations -1: a number per parameter */
    int         from, space, iterations, folds;
    int         seed, samples;                  /* -1: the default of the method; the same: NaN in M, rate, decay */
    int         check_gradient, resume, force, jobs, repair, learn_kernels, no_doctor;
    int         entry_given, start_given; /* --entry, --deployment-start are on the command line */
    double      M, rate, decay, checkpoint_s;
} learn_request;

/* How config.yaml begins. */
#define LEARN_CONFIG_BEGINS                                                                                            \
    "# covtune learn THIS --out RUN repeats the run; paths are as seen from where covtune was started\n"

/* The history as a file of lines. A resumed run produces its lines again: equal ones are kept, and the file is cut at
 * the first difference. */
typedef struct {
    int    file;  /* -1: not open                                    */
    off_t  at;    /* where the next line goes                        */
    char  *known; /* the old content of the file; NULL: passed or cut */
    size_t length;
} learn_lines;

/* The open run folder. */
typedef struct {
    ct_run_folder     *run; /* locked                                        */
    char  *noise, *start, *history, *config, *checkpoint, *summary, *report; /* paths */
    learn_lines lines;      /* the history                                   */
    int    resumed;    /* a run is continued                            */
    int         adopted;    /* it has no covtune-run.json: an older version wrote it */
    int         answered;   /* its noise.json is the final result            */
    double best, written_s;
    ct_noise *table;   /* noise models of the best parameters so far    */
    ct_err    err;     /* of a write during learning                    */
    ct_status status;
} learn_folder;

typedef struct learn_examination learn_examination;

typedef struct {
    ct_dataset     *dataset;
    ct_noise       *start; /* the table before learning; dataset->noise is what is learned */
    ct_theta       *theta;
    ct_outer       *outer;
    ct_checkpoint      *checkpoint;
    char           *command; /* repeats the run; only options that change numbers          */
    char           *config;  /* the text of config.yaml                                    */
    char           *identity; /* what the digest is made from, beside the data             */
    uint64_t        digest;
    learn_folder    folder;
    ct_learn_result result;
    ct_learn_options options;
    char                 *forms;     /* of functions: of --model or dataset.yaml; NULL: none */
    ct_conditional_result functions; /* where there are forms */
    void           *watcher;   /* of learn.c, while learning; NULL: none                     */
    learn_examination *examination; /* under way; NULL: none                                 */
    ct_diagnosis    *diagnosis; /* in brief; NULL: none                                     */
    int32_t          mistakes;  /* findings of it that are in the result                     */
} learn_job;

/* Texts that the parser does not check: pairs, numbers, lists of names. For command lines and config.yaml alike. */
cli_exit learn_check_values(const cli_io *io, const learn_request *request);
/* Combinations of options. `given` is the command line without the config file, which may have options of a method that
 * the command line replaced. */
cli_exit learn_check_options(const cli_io *io, const learn_request *request, const learn_request *given);
/* Fills in defaults that depend on the method. Options of other methods are unset. */
void learn_resolve(learn_request *request);
/* "T:R", two numbers; 0 if the text is something else. */
int learn_parse_weights(const char *text, double *translation, double *rotation);
const ct_learn_method_info *learn_method_info(const learn_request *request);
/* Options on the command line that would change nothing; CLI_GO: none. Those that depend on how --deployment auto
 * decides are left to learn_check_deployment. */
cli_exit  learn_refuse_unused(const cli_io *io, learn_request *request, int argc, char **argv);
ct_status learn_check_deployment(const learn_request *request, const learn_job *job, ct_err *err);
/* job->theta from dataset and options. Numbered models of learned groups are pooled, and start values read. */
ct_status learn_theta(const cli_io *io, const learn_request *request, learn_job *job, ct_err *err);

/* Checks the run folder, creates it if needed, and locks it. Sets job->folder.resumed. */
cli_exit learn_open_folder(const cli_io *io, const learn_request *request, learn_job *job);
int learn_exists(const char *path);
/* Is it a run folder of an older version, without covtune-run.json? config.yaml and checkpoint are those of learn. */
int learn_is_old_run(const char *folder);
/* A page that covtune wrote? */
int learn_is_report(const char *path);
/* Writes the first files of the run, or continues with the existing ones, and opens the checkpoint. */
ct_status learn_open(const learn_request *request, learn_job *job, ct_err *err);
/* A progress event: a line of history, and the noise file if it is the best so far and the last one is old. Not 0:
 * it could not be written. */
int learn_record(const learn_request *request, learn_job *job, const ct_learn_progress *progress);
/* The doctor in brief, on a thread of its own, until its end: job->diagnosis. Its warnings into the findings of the
 * result. */
ct_status learn_examine_begin(const learn_request *request, learn_job *job, ct_err *err);
ct_status learn_examine_end(learn_job *job, ct_err *err);
ct_status learn_add_diagnosis(learn_job *job, ct_err *err);
/* Writes the final noise file, the checkpoint and the summary. */
ct_status learn_close(learn_job *job, const json_t *summary, ct_err *err);
void      learn_folder_free(learn_folder *folder);
void      learn_close_folder(learn_folder *folder); /* of its run: open_run_folder.c */

/* The result. */
/* print_candidates.c */
json_t *learn_candidates_json(const ct_learn_result *result);
void learn_print_candidates(const ct_learn_result *result);
/* functions.c: --model. Checks the forms; learns constant models, then functions, and makes the outer problem anew. */
ct_status learn_check_functions(const learn_request *request, learn_job *job, ct_err *err); /* fills job->forms */
ct_status learn_functions(const ct_outer_options *how, learn_job *job, ct_err *err);
json_t   *learn_functions_json(const learn_job *job);
void      learn_print_functions(const learn_job *job);
json_t *learn_json(const learn_request *request, const learn_job *job);
void    learn_print(const cli_io *io, const learn_request *request, const learn_job *job);

/* The weight of lm's prior and its origin, "; prior 0.1, chosen by cross-validation". INFINITY: the reference itself;
 * NaN: "". chosen: the weight was not given; held: sequences were held out; sequences: number of training sequences.
 * Returns buf. */
const char *learn_prior_text(double prior, ct_reference reference, int chosen, int held, int sequences, char *buf,
                             size_t size);
/* Why a run stopped, in words. */
const char *learn_stop_text(ct_learn_method method, ct_learn_stop stop);
/* The reference of a run, from its summary.json; the closed form where that does not say. */
ct_reference learn_reference(const json_t *summary);

/* ---- reading a run ---- */

/* What is in the folder of a run. */
typedef struct {
    ct_run_folder_info found;
    char              *config, *noise, *start, *history, *summary; /* paths */
    learn_request      learn;        /* config.yaml, resolved; its texts are in `held` */
    cli_config        *held;
    ct_noise          *table[2];     /* start.json (NULL: not there, or damaged) and noise.json */
    json_t            *noise_json;   /* noise.json with what a table does not hold    */
    json_t            *summary_json; /* NULL: not there, the run is not over          */
    json_t            *evaluations;  /* lines of the history                          */
    int                cut;          /* the last line of the history is not whole     */
    int                finished;     /* noise.json is the result, not the best so far */
} learn_run;

/* Is it a folder with a run in it? */
int learn_is_run(const char *path);
/* Reads the folder. needs_start: without start.json it fails; else a damaged one is a remark. The caller frees *run
 * with learn_run_free whatever is returned. */
cli_exit learn_run_read(cli_io *io, const char *folder, int needs_start, learn_run *run);
void     learn_run_free(learn_run *run);
/* Fails if another run was begun in the folder since it was found. */
cli_exit learn_run_unchanged(const cli_io *io, const char *folder, const ct_run_folder_info *found);

/* The options of a run, from its config.yaml, resolved; texts stay in *held, which the caller frees whatever is
 * returned. */
cli_exit     learn_read_config(cli_io *io, const char *path, learn_request *request, cli_config **held);
ct_inference learn_deployment(const learn_request *request); /* how sequences are estimated in deployment */
ct_loss      learn_loss(const learn_request *request);
/* The digest that a run with these options has, of the training sequences of the dataset at this path. start: the file
 * of start values, if the run was given one. */
ct_status learn_digest(const cli_io *io, const learn_request *request, const char *dataset, const char *start,
                       uint64_t *digest, ct_err *err);

/* --check-gradient. */
cli_exit learn_check(const cli_io *io, const learn_job *job);

#endif
