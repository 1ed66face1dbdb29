/* eval.h: the parts of `covtune eval`. */
#ifndef CT_CLI_EVAL_H
#define CT_CLI_EVAL_H

#include "cli/common/cli.h"

/* What was asked for. */
typedef struct {
    const char *path, *noise, *against, *truth_sigma, *robust;
    int         part, start, solver, entry, method, difference, nees, each, by_name, jobs; /* solver: of cli_solvers */
    int         start_given; /* --start is on the command line */
} eval_request;

/* Columns of the table, of one sequence or of a ct_summary. X(name, label, unit) */
#define EVAL_LIST(X)                                                                               \
    X(EVAL_TRANSLATION, "rmse translation", "m per coordinate")                                    \
    X(EVAL_ROTATION, "rmse rotation", "rad")                                                       \
    X(EVAL_APE, "ape translation", "m of distance")                                                \
    X(EVAL_LOSS, "loss", "mean over sequences of 1/2 sum of squared differences, ") /* ... local */     \
    X(EVAL_CHI_SQUARED, "chi-square", "per degree: 1 if noise models are right")                   \
    X(EVAL_NEES, "nees", "per coordinate: 1 if sigmas are right")

enum {
#define X(name, label, unit) name,
    EVAL_LIST(X)
#undef X
    EVAL_COUNT
};

/* The sequences under one noise table. */
typedef struct {
    const char    *file; /* of its noise; NULL: the dataset's own */
    ct_noise      *noise;
    ct_evaluation *of;   /* one a sequence                        */
    ct_summary     summary;
} eval_column;

typedef struct {
    ct_dataset   *dataset;
    ct_sequence **seq; /* those of the part, borrowed */
    int32_t       count;
    int           columns;
    eval_column   column[2];   /* --noise, --against      */
    int           incremental; /* the inference           */
    int           interrupted;
    double        seconds;
} eval_job;

/* NaN: not known, or not asked for. */
void eval_metrics(const ct_summary *summary, double value[EVAL_COUNT]);
/* The metrics of one sequence; NaN without an estimate. */
void eval_sequence_metrics(const ct_evaluation *evaluation, double value[EVAL_COUNT]);

/* bodies.c: {"o": {"poses": .., "rmse": .., "ape": ..}, ..} */
json_t *eval_bodies_json(int bodies, const ct_body body[]);
void    eval_print_bodies(const eval_job *job);

/* Columns of a name and of a number: a row has 100. "-" where there is no number. */
#define EVAL_NAME   22
#define EVAL_NUMBER 10
void eval_print_name(const char *name);
void eval_print_number(double value);

/* The result, on stdout. */
void eval_print(const eval_request *request, const eval_job *job);
void eval_print_json(const eval_request *request, const eval_job *job);

#endif
