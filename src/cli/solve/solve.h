/* solve.h: the parts of `covtune solve`. */
#ifndef CT_CLI_SOLVE_H
#define CT_CLI_SOLVE_H

#include "cli/common/cli.h"

/* The options. */
typedef struct {
    const char *path, *out, *noise, *robust, *anchor, *sigmas;
    int         format, out_format, method, order, max_iterations, threads, like;
    int         trace, map, lossy;
    double      tolerance, anchor_sigma;
    double      anchor_sigma_given; /* --anchor-sigma; 0: not given */
    double      relinearise, wildfire; /* isam2; below 0: the default */
    int         skip, window;
    int         start, entry; /* a ct_start or SOLVE_START_AUTO; a ct_entry or CT_ENTRY_AUTO */
} solve_request;

/* Input and result. `graph` and `table` are solved: the sequence's graph and `noise`, or copies of them with the
 * anchor, which is not written to the output file. */
typedef struct {
    ct_format       format;
    ct_sequence    *seq;
    ct_noise       *noise, *table;
    ct_graph       *graph;           /* the sequence's, or a copy               */
    ct_solver      *solver;
    double         *x;
    int32_t         anchor;          /* variable, or -1                         */
    int32_t         asked;           /* variables whose sigmas are wanted       */
    int32_t        *asked_var;
    double         *sigma;           /* CT_DIM_MAX for each, or NULL: none      */
    ct_solve_result result;
    ct_replay_result replay;         /* --method isam2                          */
    ct_entry        entry;           /* the same                                */
    ct_start        start;
    int             from, starts;    /* as ct_inference_result has them         */
    double          read_s, analyse_s;
    ct_accuracy     before, after;
    cli_written     written;
    int             is_written;
    char            undetermined[512];      /* empty unless the rank is deficient      */
} solve_job;

/* Copies the graph if an anchor or --like changes it, and adds the prior of the anchor; copies the noise. */
ct_status solve_anchor(const solve_request *request, solve_job *job, ct_err *err);

/* Finds the variables of --sigmas; computes their standard deviations at job->x. */
ct_status solve_ask(const solve_request *request, solve_job *job, ct_err *err);
ct_status solve_sigmas(solve_job *job, ct_err *err);

/* job->start, and job->x <- its values. */
ct_status solve_choose_start(const solve_request *request, solve_job *job, ct_err *err);
/* The same, its accuracy, and job->solver <- the analysed structure of the graph. */
ct_status solve_analyse(const solve_request *request, solve_job *job, ct_err *err);

#define SOLVE_START_AUTO CT_START_COUNT
#define SOLVE_ISAM2 CT_METHOD_COUNT /* beyond the methods of a batch solve */
const char *solve_method_name(const solve_request *request);
/* Is the estimate the minimum? isam2 reaches it only within its thresholds. */
int solve_at_minimum(const solve_request *request, const solve_job *job);

/* ct_infer, in batch or incrementally, with progress, trace, and Ctrl-C. */
ct_status solve_replayed(const cli_io *io, const solve_request *request, solve_job *job, ct_err *err);
ct_status solve_watched(const cli_io *io, const solve_request *request, solve_job *job, ct_err *err);

/* The result, on stdout. */
void solve_print(const solve_request *request, const solve_job *job);
void solve_print_json(const solve_request *request, const solve_job *job);

#endif
