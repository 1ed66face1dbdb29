/* covtune/study.h: methods against each other, on the same runs.
 *
 *   ct_summary   how a noise table does on runs: accuracy, consistency, conditioning
 *   ct_trial     a method under bounds: what it learned, at what cost, how that does on unseen runs, and how it got
 *                there
 */
#ifndef COVTUNE_STUDY_H
#define COVTUNE_STUDY_H

#include <covtune/learn.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Verdict --------------------------------------------------------------------------------- */

/* Means over the runs that have an estimate (accuracy, loss), sums over sums (chi-square, NEES), medians
 * (conditioning, at the estimates). */
typedef struct {
    /* runs: looked at, fewer than there are if cancelled; failed: inference found no minimum, these do not count */
    int32_t     runs, failed;
    ct_accuracy accuracy;
    double      loss;
    double      chi_squared, nees;     /* per degree; nees NaN if it was not asked for                          */
    /* of the whitened system, without and with column scaling; NaN: not asked for */
    double      condition, condition_scaled;
    double      seconds;               /* a run                                                                 */
    /* that runs estimate (ct_body), in the order in which they come; of more than CT_BODIES_MAX the first */
    int         bodies;
    ct_body    body[CT_BODIES_MAX];  /* accuracy of each: means over the runs that have it                    */
} ct_summary;

typedef struct {
    ct_inference inference;
    ct_loss      loss;
    int          nees, conditioning, jobs;
    int        (*cancel)(void *user);  /* asked now and then, one call at a time; not 0: stop. May be NULL      */
    void        *user;
} ct_summary_options;

/* incremental inference (isam2), as in deployment; conditioning; one job */
ct_summary_options ct_summary_defaults(void);

/* each: an assessment a run, may be NULL. The number of jobs changes no bit, `seconds` apart. */
ct_status ct_summarise(int32_t count, ct_sequence *const seq[], const ct_noise *noise,
                       const ct_summary_options *options, ct_evaluation *each, ct_summary *out, ct_err *err);
/* Of the body of that name ("o"); no poses and NaN where there is none. */
ct_accuracy ct_summary_body(const ct_summary *verdict, const char *name);

/* ---- Trial ----------------------------------------------------------------------------------- */

/* A point on the way: what the method would answer if stopped there, the best of those it evaluated on all runs (of
 * methods that do not descend, fw, fw-log and leo, the last one). The first is where it set out from, the last its
 * answer. Where there are more than 400, the last ones of 400 intervals of time, even in its logarithm. */
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
    ct_summary_options test;
    int                trace;     /* keep the way                                          */
    int                errors;    /* training rmse along it: computed when learning is over */
} ct_trial_options;

ct_trial_options ct_trial_defaults(void); /* those of its parts; a trace, without errors */

typedef struct {
    ct_noise       *noise;   /* what was learned            */
    ct_learn_result result;
    /* of learning, as the trace counts them; scale and error bars included, which come after its last point */
    double          seconds;
    ct_summary      train;   /* by batch from the truth: what was minimised */
    ct_summary      test;    /* as the field estimates      */
    ct_trace_point *trace;   /* NULL if it was not asked for */
    int32_t         points;
} ct_trial;

/* Learns from train under theta, from the start values in `noise` (copied), and judges on test; tests may be 0: then
 * test is all NaN. train is judged with test's nees, conditioning and jobs. A trial is freed whatever the status,
 * and empty unless that is CT_OK. Cancelled as options->test.cancel says, or options->learn.progress, during
 * learning as well: result.stop tells. */
ct_status ct_trial_run(int32_t trains, ct_sequence *const train[], int32_t tests, ct_sequence *const test[],
                       const ct_noise *noise, const ct_theta *theta, const ct_trial_options *options, ct_trial *out,
                       ct_err *err);
void      ct_trial_free(ct_trial *trial);

/* The first point of the trace from which on translation and rotation stay below (1 + within) times a reference's
 * (0.05: 5 %; NaN: whatever they are); -1: never. */
int32_t ct_trace_reaches(const ct_trial *trial, double translation, double rotation, double within);

/* Do the variances of a table that theta learns fit into its set, times some common factor? For "the oracle lies in
 * the box". -1: no memory to find out. */
int ct_fits(const ct_noise *noise, const ct_theta *theta);

#ifdef __cplusplus
}
#endif
#endif
