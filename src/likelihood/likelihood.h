/* likelihood.h: what the files of the likelihood share.
 *
 *   truth_factor.c          truth as a measurement; graphs with it
 *   factor_view.c           a factor at an estimate: residual, Jacobians, weights
 *   sequence_likelihood.c   L of one sequence, its gradient and information
 *   likelihood.c            L over all sequences
 *   sequence_state.c        what of a sequence is in memory, and when
 *   maximise.c              its minimum in the feasible set, standard errors
 *   kernels.c               widths of kernels
 *   time_constants.c        time constants of biases
 *   targets.c               measurements by model, target and time
 *   lasting_errors.c        autocorrelation of their residuals
 *   thin.c                  graphs with fewer of them
 */
#ifndef CT_LIKELIHOOD_PRIVATE_H
#define CT_LIKELIHOOD_PRIVATE_H

#include "base/base.h"
#include "data/store.h"
#include "solve/solver_pool.h"

#include <covtune/likelihood.h>

/* Truth of one variable, the context of its factor. */
typedef struct {
    const ct_sequence *seq;
    int32_t            variable;
} ct__truth;

/* One sequence, and the result of its last evaluation. If sequences are in a cache (data/store.h), graphs, solver and
 * values are in memory while it is open (sequence_state.c). */
typedef struct {
    const ct_sequence *seq;
    int64_t            size;    /* doubles of its values                        */
    int32_t            truth_model[CT_KIND_COUNT]; /* -1: none                  */
    uint8_t           *left_out; /* per factor of `whole`, if it is thinned and not always open; else NULL */
    int64_t            place[3]; /* of values in the file: at first, and two more */
    int                start_at, x_at; /* which of these start and x are        */
    ct_graph          *whole;  /* with factors of the truth                     */
    ct_graph          *graph;  /* in use: `whole`, or a copy with fewer factors */
    ct__truth         *truth;  /* their contexts                                */
    double             truth_sigma[2];
    ct_solver         *solver;
    int32_t           *item_of; /* per edge of the system: its item             */
    /* values: at first; where solves start; the last solution; scratch */
    double            *first, *start, *x, *other;
    double             steps;   /* normalisers of Gauss-Markov steps            */
    double             value;
    double            *gradient, *information; /* m, m x m                      */
    ct_stop            stop;
    ct_status          status;
    int                iterations, solves, inexact, took_part;
} ct__likelihood_sequence;

/* Memory of one thread. */
typedef struct {
    double *g;         /* scalars: derivative of 1/2 log det H by x   */
    double *S, *PS;    /* scalars x m                                 */
    double *dL_dSigma; /* slots x 36                                  */
    double *floor;     /* m: a lower limit of the information         */
} ct__likelihood_scratch;

struct ct_likelihood {
    const ct_theta          *theta;
    int32_t                  m, count, models; /* models of theta's table; those of the truth follow */
    ct__likelihood_sequence *sequence;
    ct_noise                *noise;      /* under the p of the current evaluation                 */
    ct_theta_jacobian       *slopes;     /* at that p                                             */
    int32_t                 *slot;       /* per model: its index among those learned, -1: frozen  */
    double                  *normaliser; /* per model: log Z                                      */
    double                  *constant;   /* per model: 1/2 log det Sigma + log Z; 0: frozen       */
    int32_t                  slots;
    int64_t                  scalars;    /* of the largest system                                 */
    ct_likelihood_options    options;
    ct__store               *store;      /* NULL: sequences are always open                       */
    ct__spill               *spill;
    ct__solver_pool         *pool;
    int64_t                  reserved;   /* bytes of the cache's limit                            */
    uint8_t                 *retimed;    /* per model: its bias is another than that of the sequences */
    int64_t                 *thinned;    /* per model: factors that are left out                  */
    int                      both;       /* solves also run from their first start; the lower error wins */
    ct__likelihood_scratch  *scratch;    /* per job */
};

/* truth_factor.c: models of the sequence's truth, appended to the table; s->truth_sigma, 0 without truth. Then s->whole
 * <- its graph with a factor for each variable whose truth is known. */
ct_status ct__add_truth_models(ct__likelihood_sequence *s, const ct_likelihood_options *options, int32_t number,
                               ct_noise *noise, ct_err *err);
ct_status ct__add_truth(ct__likelihood_sequence *s, ct_err *err);

/* sequence_state.c: memory for what stays, within the limit of the cache; the solver of s->graph, in place of the one
 * before. */
ct_status ct__likelihood_plan(ct_likelihood *l, ct_err *err);
ct_status ct__likelihood_build_solver(const ct_likelihood *l, ct__likelihood_sequence *s, ct_err *err);
/* From open to close the sequence is acquired and all of it is in memory. _close: `solved`: x is kept. _release: graphs
 * and values are freed. */
ct_status ct__likelihood_open(const ct_likelihood *l, int32_t i, ct_err *err);
ct_status ct__likelihood_close(const ct_likelihood *l, int32_t i, int solved, ct_err *err);
void      ct__likelihood_release(const ct_likelihood *l, ct__likelihood_sequence *s);
/* Graphs, solver and room for values of a sequence that is acquired. Then its first values, once they are found, are
 * kept. */
ct_status ct__likelihood_build(const ct_likelihood *l, ct__likelihood_sequence *s, ct_err *err);
ct_status ct__likelihood_keep_first(ct_likelihood *l, ct__likelihood_sequence *s, ct_err *err);
/* The last solution as numbers, to or from a record: out 1: into it. */
ct_status ct__likelihood_copy_x(const ct_likelihood *l, int32_t i, double *record, int out, ct_err *err);

/* A measurement with a target. */
typedef struct {
    int32_t model, thing[CT_ARITY_MAX]; /* bodies and landmarks                  */
    double  point[3];                   /* a known point                         */
    double  t;                          /* s, or the number of its pose          */
    int32_t factor;
} ct__measurement;

/* targets.c: 1 if every pose of every sequence has a time. */
ct_status ct__has_times(const ct_likelihood *l, int *seconds, ct_err *err);
/* *out <- the measurements of a model (-1: of all) in a graph of the sequence that have a target, in the order of
 * models, targets and times. The caller frees it. */
ct_status ct__list_measurements(const ct_sequence *seq, const ct_graph *graph, int32_t model, int seconds,
                                ct__measurement **out, int32_t *count, ct_err *err);
int       ct__same_target(const ct__measurement *a, const ct__measurement *b);

/* time_constants.c: sum over Gauss-Markov steps of rows / 2 log(1 - f^2). Times of biases in a graph <- those of the
 * table, of models where they are others. */
double ct__likelihood_steps(const ct_graph *graph);
void   ct__likelihood_put_times(const ct_likelihood *l, ct_graph *graph);

/* likelihood.c: the sentence for a kernel without a normaliser. */
ct_status ct__no_normaliser(const ct_noise_model *model, ct_robust robust, ct_err *err);

/* What is wanted from an evaluation beside the value. */
enum { CT__LIKELIHOOD_GRADIENT = 1, CT__LIKELIHOOD_INFORMATION = 2 };
/* sequence_likelihood.c */
void ct__likelihood_evaluate_sequence(const ct_likelihood *l, ct__likelihood_sequence *s,
                                      ct__likelihood_scratch *scratch, int want);

#endif
