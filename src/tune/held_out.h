/* held_out.h: the choice by held-out logs, and what its files share.
 *
 *   held_out.c         candidates, their comparison, the choice
 *   held_out_folds.c   answers of folds, which runs confirm; their runs on held-out logs
 *   held_out_prior.c   the answer of all logs under a prior */
#ifndef CT_TUNE_HELD_OUT_H
#define CT_TUNE_HELD_OUT_H

#include "tune/search.h"
#include "learn/learn.h"

#define CT__HELD_WORSE  0.01 /* of the loss: what an answer may lose beyond its model, or the best point */
#define CT__HELD_NOISE  3.0  /* times that of the loss: what noise may add to it                         */
#define CT__HELD_RADIUS 3.0  /* of a step from the minimum: the model holds near it                      */

/* What is held out together: rows of a training log. */
typedef struct {
    int32_t log;
    int64_t from, to;
    int     fold;
} ct__held_part;

typedef struct {
    ct__tuner        *t;
    ct__tune_point   *best;
    ct__linear_model  model;
    int32_t           parts, recordings;
    ct__held_part    *part;
    int               folds, candidates;
    int               strong;   /* stronger priors are tried, as errors vetoed the usual ones */
    double            prior[CT_TUNE_CANDIDATES_MAX];
    ct__tune_point  **point;    /* candidates x folds                                   */
    ct__tune_point  **replaced; /* the same: the answer of which a point took the place; NULL: none did */
    int8_t           *unconfirmed; /* folds: the farthest answer was not confirmed      */
    ct__scores        scores;   /* per part                                             */
    double           *H, *g, *s, *work;
    double           *H_part, *g_part, *with, *without;
} ct__held_out;

/* ---- held_out_folds.c ------------------------------------------------------------------------- */

/* x <- p_-fold under a prior; fold -1: from all logs. */
void ct__fold_answer(ct__held_out *h, int fold, double prior, double *x);
/* h->point <- the answers of all folds, run on what they were not learned from. */
ct_status ct__run_folds(ct__held_out *h);
ct__score ct__held_score(const ct__held_out *h, const ct__tune_point *p, const ct__held_part *part);
/* The loss of p by the rows that a fold is learned from, and the prior's part. INFINITY: p was not run on them all. */
double ct__fold_loss(const ct__held_out *h, const ct__tune_point *p, int fold, double prior);
/* The best of all points by a fold's own rows, under a prior; fold -1: by all rows. */
ct__tune_point *ct__best_of_fold(const ct__held_out *h, double prior, int fold, double *least);

/* ---- held_out_prior.c ------------------------------------------------------------------------- */

/* *answer <- that of the chosen candidate, which has a prior; the start if that has too much loss and the minimum was
 * vetoed. */
ct_status ct__prior_answer(ct__held_out *h, int chosen, ct__tune_point **answer);
/* *answer <- the minimum of the loss and the prior's part. */
ct_status ct__prior_minimum(ct__held_out *h, double prior, ct__tune_point **answer);

#endif
