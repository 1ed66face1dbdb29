/* black_box.h: covtune's own batch estimates as the estimator of `tune`: variances in, residuals out. Estimates start
 * from measurements, as in deployment. Noise, crashes and rounded output can be added. */
#ifndef CT_STUDIES_BLACK_BOX_H
#define CT_STUDIES_BLACK_BOX_H

#include "studies/nav_data.h"

#include <covtune/tune.h>

typedef struct {
    double   noise;   /* relative standard deviation of the loss of one run                                     */
    double   crashes; /* share of runs that crash                                                               */
    int      digits;  /* significant digits of the poses in the output; 0: all                                  */
    uint64_t seed;    /* of noise and crashes                                                                   */
} box_faults;

/* Logs 0 .. trains - 1 are the training sequences, the others the test sequences. Parameters are the variances of all
 * models but that of the first pose. */
typedef struct {
    const nav_data    *data;
    box_faults         faults;
    int32_t            m, logs;
    ct_tune_parameter *parameter;
    ct_tune_log       *log;
    char             (*name)[24];
    ct_tune_problem    problem;
    int32_t           *model, *row;  /* of each parameter                                                         */
    ct_noise          *noise;
    ct_solver        **solver;       /* per log                                                                   */
    ct_inference       inference;
    double            *x;
    int64_t            runs;
    ct_tune_queue      queue;
    int                compares;     /* the method compares losses alone: see box_forget                          */
    double            *now;          /* values of the point under way                                             */
    double             sum, least;   /* of losses over its training logs; the least sum of a point                */
    int32_t            summed;       /* training logs in the sum                                                  */
    int64_t            ticket;       /* of the run that is to be collected; -1: none                              */
    ct_tune_outcome    outcome;
} black_box;

/* The data are borrowed. Start values are the oracle's; box_start changes them. */
ct_status box_new(const nav_data *data, const box_faults *faults, black_box *out, ct_err *err);
void      box_free(black_box *box);
/* Before a search. compares: of a method that keeps the best point and looks at nothing else. When some logs of a point
 * have a larger sum of losses than all logs of the best one, runs of its other logs are counted but not computed: they
 * cannot change what comes. */
void      box_forget(black_box *box, int compares);
/* One run. */
ct_status box_run(black_box *box, const double *value, int32_t log, int32_t repeat, ct_tune_outcome *out, ct_err *err);
/* Mean loss per row over the test logs, or the training logs, without faults; INFINITY: one has no estimate, or it is
 * above the limit. Logs are run until the sum tells. */
ct_status box_loss(black_box *box, const double *value, int test, double limit, double *loss, ct_err *err);

#endif
