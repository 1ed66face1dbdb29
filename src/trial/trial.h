/* trial.h: what the files of this module share.
 *
 *   trial.c   learns and evaluates      trace.c   the points of learning over time
 */
#ifndef CT_TRIAL_PRIVATE_H
#define CT_TRIAL_PRIVATE_H

#include "base/base.h"

#include <covtune/trial.h>

/* ---- Trace ----------------------------------------------------------------------------------- */

/* Records learning. Zero it and set the first group. trace = 0: records only the time. */
typedef struct {
    const ct_trial_options *options;
    ct_outer               *outer;
    const ct_learn_result  *result; /* of the learning in progress                                   */
    double                  start_s;
    int                     trace;
    /* private */
    double          away_s;         /* spent here and in the caller's progress                       */
    ct_trace_point *point;          /* those of the start phase, then the incumbents                 */
    double         *p;              /* parameters of each, m numbers                                 */
    int32_t         count, starts;
    int64_t         point_capacity, p_capacity;
    ct_trace_point  now;            /* the last evaluation, of any phase                             */
    ct_status       status;         /* no memory: learning was stopped                               */
    ct_err          err;
} ct__tracer;

/* Seconds since the start, without away_s. */
double ct__tracer_seconds(const ct__tracer *tracer);
/* A ct_learn_progress_fn; user is the tracer. Calls the caller's progress and options->cancel. */
int ct__tracer_progress(void *user, const ct_learn_progress *progress);
/* After learning: keeps the incumbents, the answer last, KEPT at most. */
ct_status ct__tracer_finish(ct__tracer *tracer, ct_err *err);
/* Training rmse at each point, unless cancelled. */
ct_status ct__tracer_errors(ct__tracer *tracer, const ct_inference *inference, ct_err *err);
/* Moves the points to out (NULL: frees them), and frees the rest. */
void ct__tracer_end(ct__tracer *tracer, ct_trial *out);

#endif
