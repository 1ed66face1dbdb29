/* derivative_free.h: what methods without derivatives stand on: the loss as a function on a box, in variances or
 * their logarithms.
 *
 * Coordinates are the parameters whose bounds leave room; others stay where they are. Inner solves start from the
 * truth always, so that a value depends on its point alone, and where they fail it is INFINITY, worse than any
 * other. The best point seen is the answer, however a method ends. */
#ifndef CT_LEARN_SEARCH_H
#define CT_LEARN_SEARCH_H

#include "learn/learn.h"

typedef struct {
    ct__objective   *objective;
    ct_space      space;
    int32_t       n;             /* coordinates                                                   */
    int32_t      *parameter;     /* n: which each is                                              */
    double       *start;         /* n: where the method begins                                    */
    double       *lower, *upper; /* n                                                             */
    ct__point     at;            /* of the evaluation at hand, without derivatives                */
    double       *best;          /* m, log space                                                  */
    double        best_F;        /* INFINITY: none yet                                            */
    int           evaluations, most;
    ct_learn_stop stop;          /* why no more values are to be had: a limit, or the caller      */
    ct_status     status;
} ct__search;

/* Begin at p (log space, in the set), with at most so many evaluations. Refuses sets that are no box. Freed by
 * ct__search_end whatever the status. */
ct_status ct__search_begin(ct__objective *objective, ct_space space, int most, const double *p, ct__search *out);
/* p <- the best point, if there is one. */
void ct__search_end(ct__search *search, double *p);

/* q <- into the box, *F <- the loss there. 0: there is none, and the method is at its end: search->stop,
 * search->status. */
int ct__search_loss(ct__search *search, double *q, double *F);

/* Minimise f between a and b by Brent's method: parabolas where they can be trusted, else golden sections. *t, *F:
 * the best point found, which lies inside, and is no better than any other if f has several minima. At most `most`
 * values of f, which returns 0 to break off; so does this then. */
int ct__brent(double a, double b, double tolerance, int most, int (*f)(void *user, double t, double *F), void *user,
              double *t, double *F);

#endif
