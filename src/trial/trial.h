/* trial.h: what the files of this module share.
 *
 *   trial.c   learns and evaluates      trace.c   the points that learning went by
 */
#ifndef CT_TRIAL_PRIVATE_H
#define CT_TRIAL_PRIVATE_H

#include "base/base.h"

#include <covtune/trial.h>

/* ---- Trace ----------------------------------------------------------------------------------- */

/* Watches learning. Zero it, set the first group, and say trace = 0 to have no more than the time. */
typedef struct {
    const ct_trial_options *options;
    ct_outer               *outer;
    const ct_learn_result  *result; /* under way                                                     */
    double                  start_s;
    int                     trace;
    /* its own */
    double          away_s;         /* spent in here, and in the caller's progress                   */
    ct_trace_point *point;          /* those of the start phase, then the incumbents                 */
    double         *p;              /* where each was, m numbers                                     */
    int32_t         count, starts;
    int64_t         point_capacity, p_capacity;
    ct_trace_point  now;            /* the last evaluation, of whatever phase                        */
    ct_status       status;         /* no memory: learning was stopped                               */
    ct_err          err;
} ct__tracer;

/* Seconds since the start, without those spent away. */
double ct__tracer_seconds(const ct__tracer *tracer);
/* A ct_learn_progress_fn; user is the tracer. Asks the caller's progress and options->cancel whether to stop. */
int ct__tracer_watch(void *user, const ct_learn_progress *progress);
/* Learning is over: to the points that the method stood at, the answer last, and not too many of them. */
ct_status ct__tracer_finish(ct__tracer *tracer, ct_err *err);
/* Training rmse at each, until the caller says stop. */
ct_status ct__tracer_errors(ct__tracer *tracer, const ct_inference *inference, ct_err *err);
/* The points, which are the caller's from now on, unless out is NULL; and frees the rest. */
void ct__tracer_end(ct__tracer *tracer, ct_trial *out);

#endif
