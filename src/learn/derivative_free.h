/* derivative_free.h: the loss as a function on a box, in variances or logarithms. For methods without derivatives.
 *
 * Coordinates are the parameters with lower < upper; the others are constant. Inner solves always start from the truth,
 * so a value depends on its point alone. It is INFINITY if they fail. The answer is the best point evaluated. */
#ifndef CT_LEARN_SEARCH_H
#define CT_LEARN_SEARCH_H

#include "learn/learn.h"

typedef struct {
    ct__objective   *objective;
    ct_space      space;
    int32_t       n;             /* coordinates                                                   */
    int32_t      *parameter;     /* n: the parameter of each coordinate                           */
    double       *start;         /* n: start of the method                                        */
    double       *lower, *upper; /* n                                                             */
    ct__point     at;            /* the current evaluation, without derivatives                   */
    double       *best;          /* m, log space                                                  */
    double        best_F;        /* INFINITY: none yet                                            */
    int           evaluations, most;
    ct_learn_stop stop;          /* why the search has ended: a limit, or the caller              */
    ct_status     status;
} ct__search;

/* Start at p (log space, in the set), with a limit of evaluations. CT_E_ARGUMENT: the set is not a box. Free with
 * ct__search_end whatever the status. */
ct_status ct__search_begin(ct__objective *objective, ct_space space, int most, const double *p, ct__search *out);
/* p <- the best point, if there is one. */
void ct__search_end(ct__search *search, double *p);

/* q <- clipped to the box, *F <- the loss there. 0: the search has ended; see search->stop and search->status. */
int ct__search_loss(ct__search *search, double *q, double *F);

/* Minimise f on (a, b) by Brent's method. *t, *F: the best point found; a local minimum if f has several. At most
 * `most` evaluations. f returns 0 to stop, and then so does this. */
int ct__brent(double a, double b, double tolerance, int most, int (*f)(void *user, double t, double *F), void *user,
              double *t, double *F);

#endif
