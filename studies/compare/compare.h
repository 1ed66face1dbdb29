/* compare.h: the parts of `covtune compare`.
 *
 *   compare.c  options, and the steps in order     rows.c  learns and evaluates a row     print.c  the table */
#ifndef CT_CLI_COMPARE_H
#define CT_CLI_COMPARE_H

#include "studies/study_grid.h"
#include "cli/eval/eval.h"
#include "cli/learn/learn.h"

#define COMPARE_METHODS 24 /* at most   */
#define COMPARE_BOUNDS  8
#define COMPARE_ROWS    (2 + COMPARE_BOUNDS * (1 + COMPARE_METHODS))

/* What was asked for. */
typedef struct {
    const char *path, *methods, *bounds, *oracle, *out, *full, *truth_sigma, *robust;
    /* deployment: as ct_inference.incremental; format: -1 not given */
    int         difference, deployment, iterations, format, by_name, jobs;
    double      spread;
    uint64_t    seed;
} compare_request;

typedef struct {
    const char *method;
    char        bounds[64];  /* "": none                                             */
    int         group;       /* rows of the same bounds are compared; -1: not compared */
    grid_cell   cell;
    char        reason[512]; /* why there are no numbers; "": there are              */
} compare_row;

typedef struct {
    ct_dataset        *dataset;
    int32_t            tests;
    ct_sequence      **test;       /* borrowed: test sequences, or training ones if there are none */
    int                seen;       /* these are also what is learned from                     */
    int                blind;      /* none of them has truth: held-out measurements are predicted */
    int                untold;     /* no training sequence has truth: the likelihood alone learns */
    ct_noise          *oracle;     /* NULL: not known                                         */
    char              *oracle_path;
    int                bounds;
    char               bound[COMPARE_BOUNDS][64];
    ct_theta          *theta[COMPARE_BOUNDS];
    int                methods;
    const method_preset  *method[COMPARE_METHODS];
    ct_trial_options   options;
    int                bodies;     /* shown one by one: with --by-name, those of the first row that has any */
    ct_body           body[CT_BODIES_MAX];
    int                rows;
    compare_row        row[COMPARE_ROWS];
    /* sentences on estimates that failed, one a line; as many as there is room for */
    char               failures[16384];
    int                interrupted;
    double             seconds;
} compare_job;

/* All rows, in order. Those that cannot be had say why; CT_OK with job->interrupted after a Ctrl-C. */
ct_status compare_rows(const cli_io *io, compare_job *job, ct_err *err);

/* Is a row's error the least of its group? which: 0 translation, 1 rotation, 2 minus the log predictive density. */
int compare_is_best(const compare_job *job, int i, int which);

/* The result, for that format. The caller frees the table. */
ct_status compare_table(const compare_request *request, const compare_job *job, ct_table_format format, ct_table **out,
                        ct_err *err);
/* The result as one object: on stdout, or into the file that was asked for, replaced whole. */
void      compare_print_json(const compare_request *request, const compare_job *job);
ct_status compare_write_json(const compare_request *request, const compare_job *job, ct_err *err);

#endif
