/* eval.h: the parts of `covtune eval`. */
#ifndef CT_CLI_EVAL_H
#define CT_CLI_EVAL_H

#include "cli/common/cli.h"

/* What was asked for. */
typedef struct {
    const char *path, *noise, *against, *truth_sigma, *robust, *memory;
    int         part, start, solver, entry, method, difference, nees, each, by_name, jobs; /* solver: of cli_solvers */
    int         innovations;
    uint64_t    seed;
    int         start_given; /* --start is on the command line */
} eval_request;

/* Columns of the table, of one sequence or of a ct_summary. X(name, label, unit) */
#define EVAL_LIST(X)                                                                               \
    X(EVAL_TRANSLATION, "rmse translation", "m per coordinate")                                    \
    X(EVAL_ROTATION, "rmse rotation", "rad")                                                       \
    X(EVAL_APE, "ape translation", "m of distance")                                                \
    X(EVAL_LOSS, "loss", "mean over sequences of 1/2 sum of squared differences, ") /* ... local */     \
    X(EVAL_CHI_SQUARED, "chi-square", "per degree: 1 if noise models are right")                   \
    X(EVAL_NEES, "nees", "per coordinate: 1 if sigmas are right")                                  \
    X(EVAL_INNOVATION, "innovation", "per row of held-out measurements: 1 if predicted as well as claimed") \
    X(EVAL_BEYOND, "beyond 3 sigma", "share of these rows: 0.0027 if Gaussian")                    \
    X(EVAL_LOG_DENSITY, "log density", "mean log predictive density of held-out measurements: higher is better") \
    X(EVAL_ROUGH_TRANSLATION, "second diff. m", "rms second difference of positions per ") /* ... s^2 */ \
    X(EVAL_ROUGH_ROTATION, "second diff. rad", "rms second difference of rotations per ") /* ... s^2 */

enum {
#define X(name, label, unit) name,
    EVAL_LIST(X)
#undef X
    EVAL_COUNT
};

/* Of a group of models: "loop" of loop#1, loop#2. */
typedef struct {
    ct_model_fit  fit;
    ct_innovation innovation;
} eval_sum;

/* The sequences under one noise table. */
typedef struct {
    const char    *file; /* of its noise; NULL: the dataset's own */
    ct_noise      *noise;
    ct_sequence  **seq;  /* borrowed; or with the bias states of the table, own  */
    int            own;
    ct_evaluation *of;   /* one a sequence                        */
    ct_summary     summary;
    int32_t        groups, *group_of; /* of models                               */
    int32_t       *first;             /* model of each group                     */
    eval_sum      *sum;               /* sequences x groups                      */
} eval_column;

typedef struct {
    ct_dataset   *dataset;
    ct_sequence **seq; /* those of the part, borrowed */
    int32_t       count;
    int           columns;
    eval_column   column[2];   /* --noise, --against      */
    int           incremental; /* the inference           */
    ct_entry      entry;
    int           interrupted;
    int           apart;         /* 1: no sequence has an estimate in every column, or Ctrl-C        */
    int32_t       with_truth;  /* sequences               */
    uint8_t      *use;         /* per sequence: it is in the means of both columns */
    int           innovations; /* held-out measurements are predicted */
    double        seconds;
    ct_findings   findings;
} eval_job;

/* NaN: not known, or not asked for. */
void eval_metrics(const ct_summary *summary, double value[EVAL_COUNT]);
/* The metrics of one sequence; NaN without an estimate. */
void eval_sequence_metrics(const ct_evaluation *evaluation, double value[EVAL_COUNT]);

/* bodies.c: {"o": {"poses": .., "rmse": .., "ape": ..}, ..} */
json_t *eval_bodies_json(int bodies, const ct_body body[]);
void    eval_print_bodies(const eval_job *job);

/* without_truth.c: chi-square and innovations by model; the score against a second table. */
void                eval_group_models(eval_column *column, int32_t count);
void                eval_keep_sums(eval_column *column, int32_t i, const ct_estimate *estimate);
ct_score_difference eval_score(const eval_job *job);
json_t             *eval_innovation_json(const ct_innovation *innovation);
json_t             *eval_smoothness_json(const ct_smoothness *smoothness);
json_t             *eval_models_json(const eval_job *job, const eval_column *column);
json_t             *eval_score_json(const eval_job *job);
void                eval_print_models(const eval_job *job);
void                eval_print_score(const eval_job *job);

/* Is the metric in the table? */
int eval_shows(const eval_request *request, const eval_job *job, int metric);

/* Columns of a label, a name and a number: a row has 100. "-" where there is no number. */
#define EVAL_LABEL  16 /* "rmse translation" */
#define EVAL_NAME   22
#define EVAL_NUMBER 10
void eval_print_name(const char *name);
void eval_print_number(double value);

/* The result, on stdout. */
void eval_print(const eval_request *request, const eval_job *job);
void eval_print_json(const eval_request *request, const eval_job *job);

#endif
