/* covtune/study.h: methods against each other, on the same runs.
 *
 *   ct_verdict   how a noise table does on runs: accuracy, consistency, conditioning
 *   ct_trial     a method under bounds: what it learned, at what cost, how that does on unseen runs, and how it got there
 */
#ifndef COVTUNE_STUDY_H
#define COVTUNE_STUDY_H

#include <covtune/learn.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Verdict --------------------------------------------------------------------------------- */

/* Means over the runs that have an estimate (accuracy, loss), sums over sums (chi-square, NEES), medians (conditioning, at the estimates). */
typedef struct {
    int32_t     runs, failed;          /* failed: inference found no minimum; these do not count                */
    ct_accuracy accuracy;
    double      loss;
    double      chi_squared, nees;     /* per degree; nees NaN if it was not asked for                          */
    double      condition, condition_scaled; /* of the whitened system, without and with column scaling; NaN: not asked for */
    double      seconds;               /* a run                                                                 */
} ct_verdict;

typedef struct {
    ct_inference inference;
    ct_loss      loss;
    int          nees, conditioning, jobs;
    int        (*cancel)(void *user);  /* asked now and then, one call at a time; not 0: stop. May be NULL      */
    void        *user;
} ct_verdict_options;

ct_verdict_options ct_verdict_defaults(void); /* incremental inference (isam2), as in the field; conditioning; one job */

/* each: an assessment a run, may be NULL. */
ct_status ct_verdict_of(int32_t count, ct_sequence *const seq[], const ct_noise *noise, const ct_verdict_options *options, ct_assessment *each, ct_verdict *out, ct_err *err);

/* ---- Trial ----------------------------------------------------------------------------------- */

/* A point on the way: the best of those evaluated until then (of methods that do not descend, fw and leo, the last one). */
typedef struct {
    double  seconds;     /* since the start, the time that tracing itself took not counted */
    int64_t solves;      /* inner solves until then                                        */
    int     evaluations;
    double  loss;        /* NaN where the method looks at another one, and this was not computed */
    double  translation, rotation; /* training rmse there; NaN: not asked for               */
} ct_trace_point;

typedef struct {
    ct_outer_options   outer;
    ct_learn_options   learn;
    ct_verdict_options test;
    int                trace;     /* keep the way                                          */
    int                errors;    /* training rmse along it: computed when learning is over */
} ct_trial_options;

ct_trial_options ct_trial_defaults(void);

typedef struct {
    ct_noise       *noise;   /* what was learned            */
    ct_learn_result result;
    double          seconds; /* of learning, as the trace counts them */
    ct_verdict      train;   /* by batch from the truth: what was minimised */
    ct_verdict      test;    /* as the field estimates      */
    ct_trace_point *trace;   /* NULL if it was not asked for */
    int32_t         points;
} ct_trial;

/* Learns from train under theta, from the start values in `noise` (copied), and judges on test; tests may be 0: then test is all NaN. A trial is freed whatever the status. Cancelled as
 * options->test.cancel says, during learning as well: result.stop tells. */
ct_status ct_trial_run(int32_t trains, ct_sequence *const train[], int32_t tests, ct_sequence *const test[], const ct_noise *noise, const ct_theta *theta,
                       const ct_trial_options *options, ct_trial *out, ct_err *err);
void      ct_trial_free(ct_trial *trial);

/* The first point of the trace from which on translation and rotation stay within `within` (0.05: 5 %) of a reference's; -1: never. */
int32_t ct_trace_reaches(const ct_trial *trial, double translation, double rotation, double within);

/* Do the table's learned variances fit in a box, times any common factor? For "the oracle lies in the box". */
int ct_fits(const ct_noise *noise, const ct_theta *theta);

#ifdef __cplusplus
}
#endif
#endif
