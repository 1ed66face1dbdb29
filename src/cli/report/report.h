/* report.h: the parts of `covtune report`.
 *
 *   report.c                options, order of the sections, the result
 *   load_run.c              the files of a run folder
 *   estimates.c             the sequences, estimated before and after learning
 *   baselines.c             the reference and the latent noise, for comparison
 *   alignment.c             --align
 *   verdict.c               better or worse on unseen sequences
 *   headline.c              warnings, the numbers to be seen first
 *   learned.c               sigmas, error bars, bounds, correlations
 *   functions.c             noise that depends on features
 *   biases.c                errors that last, along the sequences
 *   accuracy.c              errors of position and rotation, sequence by sequence
 *   without_truth.c         held-out measurements and smoothness, where sequences have no truth
 *   relative_error.c        relative pose error over distances
 *   trajectories.c          maps, errors along the way
 *   history.c               cross-validation, iterations
 *   consistency.c           NEES, chi-square
 *   residual_histograms.c   residuals at the truth
 *   doctor.c                findings of the doctor, with pictures
 *   conditioning.c          condition numbers
 *   commands.c              how to repeat and use it
 *   push_scene.c            moving pictures of pushing
 *   bodies.c                object and finger apart, units of length
 *
 * Before is start.json, after is noise.json: numbers, tables and pictures with two sides have them in this order. */
#ifndef CT_CLI_REPORT_H
#define CT_CLI_REPORT_H

#include "cli/common/findings.h"
#include "cli/eval/eval.h"
#include "cli/learn/learn.h"

/* What was asked for. */
typedef struct {
    const char *run, *out, *dataset; /* out, dataset: NULL: the run's own; dataset "none": without */
    const char *truth_sigma;         /* NULL: the run's own                                        */
    int         drawn, solver, jobs;  /* solver: -1: the run's own                                  */
    int align;                       /* a ct_align_kind                                            */
} report_request;

enum { BEFORE, AFTER, SIDES };

/* A row of a learned noise model. */
typedef struct {
    int32_t model; /* of job->file[AFTER]                                        */
    int     row;
    char    name[24], unit[24]; /* "x", "m"; "all" of an isotropic model         */
    double  sigma[SIDES];
    double closed_form, latent; /* sigmas, NaN: not known                       */
    double  percent;       /* standard error of sigma, NaN: none                 */
    double  lower, upper;  /* of sigma, NaN: none                                */
    double  one;           /* sigma that counts as one for bounds and spread     */
    int     at_bound;      /* -1, 0, +1                                          */
    int     frozen, bare, undetermined; /* not learned; without an error bar; named by a finding */
} report_row;

/* A unit of lengths. */
typedef struct {
    double      per_m;
    const char *name;
} report_unit;

/* A sequence of the dataset. */
typedef struct {
    const ct_sequence *seq;
    double            *x[SIDES];       /* estimates; NULL: none               */
    double            *nees[SIDES];    /* per variable, as ct_nees_each has it; NULL: none */
    int               *degrees[SIDES];
    ct_conditioning    condition[SIDES];
    int                conditioned[SIDES];
    ct_accuracy aligned[SIDES]; /* with --align                        */
} report_track;

typedef struct {
    char          *config, *noise, *start, *history, *summary, *out; /* paths */
    /* the state of the folder when it was read */
    ct_run_folder_info    found;
    cli_config    *held;
    const char    *truth_sigma; /* NULL: as in the files */
    char          *plugin;      /* cli_plugin_words */
    learn_request  learn;
    json_t        *noise_json, *summary_json; /* the latter NULL: not there, the run is not over */
    ct_findings    findings;                  /* of the summary                                   */
    json_t        *evaluations;               /* lines of the history              */
    int            cut;                       /* its last line is not whole        */
    int            finished;
    ct_noise      *file[SIDES];               /* start.json, noise.json            */
    int32_t        rows;
    report_row    *row;
    int            in_units;                  /* not all rows have one = 1         */

    ct_dataset *dataset;    /* NULL: --dataset none          */
    const char    *path;    /* of it                         */
    int part;               /* CT_DATASET_TEST, or _TRAIN without test sequences */
    ct_noise      *table[SIDES]; /* the dataset's, with the files' numbers */
    ct_inference   inference;
    int32_t        count, averaged;
    int32_t        with_truth; /* sequences. Where some have none, held-out measurements are predicted */
    report_track  *track;
    ct_evaluation *of[SIDES];
    ct_evaluation *closed;               /* under the reference; NULL: not known          */
    int closed_form_known, latent_known; /* of some row           */
    int align;                           /* a ct_align_kind                               */
    uint8_t       *use;     /* sequences that have an estimate on both sides */
    ct_summary     overall[SIDES]; /* over these                             */
    int32_t        failed[SIDES];
    double         mean[SIDES][EVAL_COUNT];
    report_unit    unit;    /* of errors in position: m, cm or mm, by what they are after learning */
    int bodies;             /* 1: all poses are of one */
    ct_body body[SIDES][CT_BODIES_MAX];                      /* means over sequences */
    char object[CT_BODY_NAME_MAX], finger[CT_BODY_NAME_MAX]; /* that touch each other; "": none */
    int32_t shown, *show;                                    /* sequences whose trajectories are drawn */
    int32_t        most_improved, most_worsened; /* -1: none        */

    ct_diagnosis  *diagnosis;      /* NULL: none */
    int            examined_whole; /* of all sequences, not of the report's part alone */

    json_t        *warnings;
    int32_t grave; /* the first so many warnings concern all numbers */
    ct_page       *page;
} report_job;

/* ---- gathering ---- */

cli_exit report_read_run(cli_io *io, const report_request *request, report_job *job);
/* Fails if another run was begun in the folder since it was read. */
cli_exit report_same_run(const cli_io *io, const char *run, const report_job *job);
cli_exit report_read_dataset(const cli_io *io, const report_request *request, report_job *job);
/* Estimates all sequences before and after, and chooses those that are drawn. CLI_INTERRUPTED: Ctrl-C. */
cli_exit report_estimate(const cli_io *io, const report_request *request, report_job *job);
/* job->diagnosis, where there is truth, and learning used it. CLI_INTERRUPTED: Ctrl-C. */
cli_exit report_examine(const cli_io *io, const report_request *request, report_job *job);
void     report_free(report_job *job);
/* closed_form and latent of the rows. */
void report_read_baselines(report_job *job);
/* The name of the run's reference: closed form, likelihood or evidence. The keys closed_form hold its numbers. */
const char *report_reference(const report_job *job);
/* job->closed, after report_estimate. CLI_INTERRUPTED: Ctrl-C. */
cli_exit report_estimate_closed_form(const cli_io *io, const report_request *request, report_job *job);
/* Aligns the estimates that are drawn (job->align) and keeps their errors. */
void report_align(report_job *job);
/* Over sequences: rms of distances, or of angles; NaN: none is aligned. */
double report_mean_aligned(const report_job *job, int side, int rotation);

/* A warning for the top of the page. */
void report_warn(report_job *job, const char *fmt, ...) CT_PRINTF(2, 3);

/* ---- text ---- */

/* "odom@0.x", for pictures. Returns buf. */
const char *report_row_name(const report_job *job, const report_row *row, char *buf, size_t size);
/* Three digits: "0.176", "1.00", "1.2e-05"; "-" for NaN. Returns buf. */
const char *report_number(double value, char buf[32]);
/* "m^2" as people write it. Returns buf. */
const char *report_written_unit(const char *unit, char buf[24]);
const char *report_part(const report_job *job); /* "test", "training" */
const char *report_method(const report_job *job); /* of learning: its name */

/* A new table; and puts it on the page and frees it. */
ct_table *report_table(const char *title);
void      report_put_table(report_job *job, ct_table *table);
/* Is a logarithmic axis needed to show all values? Only finite, positive ones count. */
int report_wants_log(int64_t n, const double *a, int64_t m, const double *b);

/* ---- bodies (bodies.c) ---- */

/* job->unit, body, object, finger; after the estimates. */
void report_find_bodies(report_job *job);
/* "object (o)", "finger (e)", "poses x". NULL: "". Returns buf. */
const char *report_body(const report_job *job, const char *name, char buf[64]);
/* Accuracy of a body (NULL: of all poses) in sequence i; NaN without an estimate. */
ct_accuracy report_accuracy_of(const report_job *job, int side, int32_t i, const char *body);
/* The same of an evaluation. */
ct_accuracy report_accuracy_in(const ct_evaluation *evaluation, const char *body);
/* The same, means over sequences. */
ct_accuracy report_mean_of(const report_job *job, int side, const char *body);
/* Bodies with numbers of their own; one, NULL, if all poses are of one body. Returns how many. */
int report_each_body(const report_job *job, const char *name[CT_BODIES_MAX]);
/* "5.58 mm". Returns buf. */
const char *report_length(const report_job *job, double metres, char buf[48]);

/* ---- the page, section by section ---- */

void report_warnings(report_job *job); /* job->warnings; before report_top */
void report_verdict(report_job *job);
/* "Learned noise models: better than the start values, ..., on 8 unseen sequences." */
ct_verdict report_verdict_headline(const report_job *job, char *text, size_t size);
/* By candidate: the outcome, and the paired difference (m or rad) with its standard error. Empty: no verdict. */
json_t *report_verdict_json(const report_job *job);
void report_top(report_job *job);
void report_learned(report_job *job);
void report_functions(report_job *job); /* nothing where no model is a function */
void report_biases(report_job *job);    /* nothing where there is none         */
void report_accuracy(report_job *job);
/* Nothing where all sequences have truth. */
void report_without_truth(report_job *job);
void report_relative_error(report_job *job); /* within report_accuracy's section */
void report_paths(report_job *job);
void report_history(report_job *job);
void report_trust(report_job *job);
void report_residuals(report_job *job);
void report_doctor(report_job *job); /* nothing where there is no diagnosis */
void report_condition(report_job *job);
void report_repeat(report_job *job);

/* For each sequence that is drawn: "0007 (most improved)". report_choices_free frees the list. */
char **report_choices(const report_job *job);
void   report_choices_free(const report_job *job, char **names);
/* x of a plot over the poses of a body (NULL: all): time from the first pose on if all have stamps, else the index.
 * at[0..poses) <- variables. Returns how many; *label <- the label of x. */
int32_t report_poses(const ct_sequence *seq, const char *body, int32_t *at, double *x, const char **label);
/* A moving picture of sequence job->show[number] if it has contacts. Returns whether. */
int report_scene(report_job *job, int32_t number);
/* Decimates two lines over one x to about `most` points, in place. The minimum and maximum of each part stay, so that
 * no peak is lost. Returns how many points are left. */
int64_t report_thin(int64_t n, int64_t most, double *x, double *y, double *z);
#define REPORT_LINE 24000 /* points of such lines, of all sequences together */

#endif
