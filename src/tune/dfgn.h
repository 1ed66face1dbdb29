/* dfgn.h: the state of derivative-free Gauss-Newton, and what its files share.
 *
 *   method_dfgn.c    begin and end; the search on all logs
 *   dfgn_step.c      the model's minimum within the radius; steps; fresh Jacobians
 *   dfgn_far.c       where models do not hold: points of the whole bounds, coordinates without slope
 *   dfgn_pilot.c     the search on few logs, before all of them are used
 *   dfgn_average.c   the last points, where runs differ */
#ifndef CT_TUNE_DFGN_H
#define CT_TUNE_DFGN_H

#include "tune/search.h"

#define CT__FIRST_STEP   2.0  /* of a log variance: far above rounding, six digits of output and most noise         */
#define CT__FIRST_RADIUS 3.0  /* a start ten times off is 2.3 away in every coordinate                            */
#define CT__SECOND_STEP  0.5  /* of the Jacobian that tells whether this is a minimum; with noise up to FIRST_STEP  */
#define CT__ABOVE_NOISE  2.0  /* times the noise of runs: what a step should change residuals by                  */
#define CT__REFRESHED    0.99 /* a gain of a percent since the last fresh Jacobian asks for another               */
#define CT__NOISE        0.3  /* of the noise of the loss: smaller decreases are not looked for                   */
#define CT__MUCH         0.05 /* of the loss: a decrease that a model predicts, and that a minimum has not left   */
#define CT__RESOLVED     1e-4 /* of the loss at the start: a minimum without loss is not searched for further    */
#define CT__MOST_BAD     2    /* steps without gain, then a fresh Jacobian                                        */

typedef struct {
    ct__tuner        *t;
    int32_t           n;
    ct__linear_model  model;
    ct__tune_point   *from, *base;
    double            radius, predicted;
    double           *x, *s, *H, *work;
    ct__tune_point  **first;        /* 2 n: points of the last Jacobian                                        */
    double            fresh;        /* the loss where that was taken; INFINITY: none since the start           */
    const ct__tune_point *fresh_at; /* the base there                                                          */
    double            probed;       /* the loss where flat coordinates were moved; INFINITY: not since then    */
    /* steps: */
    int               bad;          /* in a row that did not gain                                              */
    int               small;        /* in a row that gained little                                             */
    int               mispredicted; /* of which the model was far off                                          */
    int               valid;        /* a model was right over a long step                                      */
    int               jumps;        /* without gain where the model promised much, since it was last right     */
    /* far points: */
    int               coarse;       /* times that points of the whole bounds were run                          */
    int               elsewhere;    /* ends after which points elsewhere were run                              */
    int               jumped;       /* a step within a fresh Jacobian did not gain: residuals jump near the end */
    int               far_steps;    /* from points that were nearly as good                                    */
    int               on_loss;      /* searches of the loss alone                                              */
    /* few logs: */
    int32_t           used;         /* logs that the models are of                                             */
    int               restarts;     /* on the first log                                                        */
    int               confirmed;    /* a step on the first log was run on all logs                             */
    int               unconfirmed;  /* steps that gained before that                                           */
    ct_rng            rng;
    ct_tune_stop      stop;
} ct__dfgn;

/* ---- dfgn_step.c ------------------------------------------------------------------------------ */

/* Cancelled, or no points left: d->stop. */
void ct__dfgn_note_stop(ct__dfgn *d);
/* d->s <- the minimum of the model around the base, within the radius; its decrease and largest entry (or NULL). */
ct_status ct__dfgn_minimise(ct__dfgn *d, double *predicted, double *size);
/* Runs the base + s; takes it if it is better; sets the radius. */
ct_status ct__dfgn_step(ct__dfgn *d, double predicted, double size);
/* New points along all coordinates, near the base: a fresh Jacobian. */
ct_status ct__dfgn_refresh(ct__dfgn *d, double step);
/* The step of a Jacobian near the minimum. */
double ct__dfgn_second_step(const ct__dfgn *d);
/* The base <- p if that is done and has less loss. */
void ct__dfgn_take_best(ct__dfgn *d, ct__tune_point *p);

/* ---- dfgn_far.c ------------------------------------------------------------------------------- */

/* Two models were far off, and none was right: points of the whole bounds should be run. */
int ct__dfgn_is_far(const ct__dfgn *d);
/* May the end be a local minimum? Points of the whole bounds were not run yet, or residuals jump. */
int ct__dfgn_may_be_local(const ct__dfgn *d);
ct_status ct__dfgn_search_elsewhere(ct__dfgn *d);
ct_status ct__dfgn_search_bounds(ct__dfgn *d);
/* Coordinates without curvature are moved far, one at a time. The search goes on where that gains. */
ct_status ct__dfgn_probe_flat(ct__dfgn *d);
/* Did steps fail down to the least radius, and was the loss alone not searched yet? */
int ct__dfgn_is_among_jumps(const ct__dfgn *d);
/* A search of the loss alone. It goes on with models where that gains. */
ct_status ct__dfgn_search_loss(ct__dfgn *d);
/* The first point that was put off. */
ct_status ct__dfgn_complete_first(ct__dfgn *d);

/* ---- dfgn_pilot.c, dfgn_average.c -------------------------------------------------------------- */

/* The coordinate whose first point is put off until after the first step; -1: none. */
int32_t ct__dfgn_put_off(const ct__tuner *t);
/* The search on few logs, then on more, until all are used. */
ct_status ct__dfgn_pilot(ct__dfgn *d);
/* The last points, run several times, where runs differ. */
ct_status ct__dfgn_average(ct__dfgn *d);

#endif
