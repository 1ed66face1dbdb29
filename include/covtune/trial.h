/* covtune/trial.h: one method learns under bounds and is evaluated on held-out sequences: the result, its cost, its
 * accuracy, and the trace of points on the way. */
#ifndef COVTUNE_TRIAL_H
#define COVTUNE_TRIAL_H

#include <covtune/learn.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Trial ----------------------------------------------------------------------------------- */

/* A point of the trace: the answer if learning were stopped there. It is the best of the evaluated parameters, or the
 * last of methods that do not descend (fw, fw-log, leo). The first point is the start of the method, the last its
 * answer. At most 400 are kept, one in each of 400 intervals, even in the logarithm of time. */
typedef struct {
    double  seconds;               /* since the start, without the time of tracing                  */
    int64_t solves;                /* inner solves until then                                       */
    int     evaluations;
    double  loss;                  /* NaN if the method minimises another one                       */
    double  translation, rotation; /* training rmse; NaN: not computed                              */
} ct_trace_point;

typedef struct {
    ct_outer_options    outer;
    ct_learn_options    learn;
    ct_evaluate_options test;   /* of the held-out sequences                                         */
    int                 trace;  /* keep the points                                                   */
    int                 errors; /* training rmse at the points: computed when learning is over       */
    int               (*cancel)(void *user); /* called regularly, by one thread at a time; not 0: stop. May be NULL */
    void               *user;
} ct_trial_options;

ct_trial_options ct_trial_defaults(void); /* those of its parts; with conditioning and a trace, without errors */

typedef struct {
    ct_noise       *noise;   /* the learned table           */
    ct_learn_result result;
    double          seconds; /* of learning, as in the trace; scale and error bars, which come last, included */
    ct_summary      train;   /* of the training sequences, by the inference of the outer problem           */
    ct_summary      test;    /* of the held-out ones, by options.test                                      */
    ct_trace_point *trace;   /* NULL without options.trace */
    int32_t         points;
} ct_trial;

/* Learns from train under theta, from the values in `noise` (copied), and evaluates on test. With no tests, the test
 * summary is empty. train is evaluated with nees, conditioning and jobs of options->test. A trial is freed whatever the
 * status, and empty unless that is CT_OK. cancel and options->learn.progress stop learning; cancel and
 * options->test.progress stop evaluation. result.stop is then cancelled. */
ct_status ct_trial_run(int32_t trains, ct_sequence *const train[], int32_t tests, ct_sequence *const test[],
                       const ct_noise *noise, const ct_theta *theta, const ct_trial_options *options, ct_trial *out,
                       ct_err *err);
void      ct_trial_free(ct_trial *trial);

/* The first point of the trace from which on translation and rotation stay below (1 + within) times the reference
 * values (NaN: not compared); -1: never. */
int32_t ct_trace_reaches(const ct_trial *trial, double translation, double rotation, double within);

/* 1 if the learned variances of a table, times some common factor, are in the feasible set of theta: "the oracle is in
 * the box". -1: no memory. */
int ct_fits(const ct_noise *noise, const ct_theta *theta);

#ifdef __cplusplus
}
#endif
#endif
