/* eval.h: the parts of `covtune eval`. */
#ifndef CT_CLI_EVAL_H
#define CT_CLI_EVAL_H

#include "cli/common/cli.h"

/* What was asked for. */
typedef struct {
    const char *path, *noise, *against;
    int         part, start, solver, entry, method, difference, nees, each, by_name, jobs; /* solver: of cli_solvers */
    int         start_said; /* --start is on the command line */
} eval_request;

/* What is said of one sequence, or of many: rmse, ape and loss are means over sequences, chi-square and NEES sums
 * over sums. X(name, label, unit) */
#define EVAL_LIST(X)                                                                               \
    X(EVAL_TRANSLATION, "rmse translation", "m per coordinate")                                    \
    X(EVAL_ROTATION, "rmse rotation", "rad")                                                       \
    X(EVAL_APE, "ape translation", "m of distance")                                                \
    X(EVAL_LOSS, "loss", "mean over runs of 1/2 sum of squared differences, ") /* ... local */     \
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
    const char    *file;  /* of its noise; NULL: the dataset's own       */
    ct_noise      *noise;
    ct_evaluation *of;    /* one a sequence                              */
    int32_t        done;  /* sequences that were not cut short           */
    int32_t        failed, averaged;
    double         value[EVAL_COUNT]; /* NaN: not known, or not asked for */
    int            bodies;
    ct_body       body[CT_BODIES_MAX]; /* means over sequences, as above; poses: of all of them */
} eval_column;

typedef struct {
    ct_dataset   *dataset;
    ct_sequence **seq;   /* those of the part, borrowed                  */
    int32_t       count;
    int           columns;
    eval_column   column[2]; /* --noise, --against                       */
    int           incremental; /* how they were estimated                */
    int           interrupted;
    double        seconds;
} eval_job;

/* An estimate of which one may speak: not where the graph is undetermined, its error no number, or Ctrl-C came
 * first. */
int eval_usable(const ct_evaluation *a);
/* A minimum was looked for and not found. */
int eval_failed(const ct_evaluation *a);

/* Over those of a[0..n) that are marked in `use`. */
void eval_sum(const ct_evaluation *a, int32_t n, const uint8_t *use, double value[EVAL_COUNT]);
/* Of one, if it may be spoken of. */
void eval_numbers(const ct_evaluation *a, double value[EVAL_COUNT]);

/* The same, body by body: of those a[0..n) that are marked, in the order in which bodies come. Returns how many.
 * bodies.c */
int     eval_sum_bodies(const ct_evaluation *a, int32_t n, const uint8_t *use, ct_body body[CT_BODIES_MAX]);
json_t *eval_things_json(int bodies, const ct_body body[]); /* {"o": {"poses": .., "rmse": .., "ape": ..}, ..} */
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
