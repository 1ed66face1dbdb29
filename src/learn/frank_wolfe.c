/* frank_wolfe.c: Frank-Wolfe, Algorithms 1 and 2 of the paper.
 *
 *     s = argmin over the set of s'g,    alpha = 2 / (M + itr),    q <- q + alpha (s - q),    itr = 0, 1, ...
 *
 * q are the variances and g the gradient of the loss by them; fw-log has both in log space. Iterates are means of
 * points of the set, so they stay inside. There is no line search, and the only stop is the number of iterations. The
 * answer is the last iterate, as in the paper. After K iterations the weight of the start is
 * (M-1)(M-2) / ((M+K-1)(M+K-2)). It is zero for M = 2: the first step goes to a vertex.
 *
 * A sequence may have no estimate at a vertex. The paper does not treat this case. Here alpha is halved until all
 * sequences have estimates. */
#include "learn/learn.h"

#include <math.h>

#define HALVINGS 20 /* of alpha, if a sequence has no estimate; 2^-20 of a step is at the start */

/* at.p <- the next iterate. q and s are scratch. */
static void fw_step(const ct__objective *e, ct_space space, double alpha, const ct__point *from, double *q, double *s,
                    double *p)
{
    const ct_theta *theta = e->outer->theta;
    const int32_t   m = e->outer->m;
    double         *g = p; /* p is written last */
    if (space == CT_SPACE_LOG) {
        memcpy(q, from->p, (size_t)m * sizeof *q);
        memcpy(g, from->gradient, (size_t)m * sizeof *g);
    } else {
        ct_theta_convert(theta, CT_SPACE_LOG, from->p, q);
        ct_theta_convert_gradient(theta, from->p, CT_SPACE_VARIANCE, from->gradient, g);
    }
    ct_theta_minimise_linear(theta, space, g, s);
    for (int32_t i = 0; i < m; i++) q[i] += alpha * (s[i] - q[i]);
    ct_theta_project(theta, space, q); /* removes rounding */
    if (space == CT_SPACE_LOG) memcpy(p, q, (size_t)m * sizeof *p);
    else ct_theta_convert(theta, CT_SPACE_VARIANCE, q, p);
}

/* Evaluates the iterate after `from`. *found = 0: there is none. */
static ct_status advance(ct__objective *e, ct_space space, int itr, const ct__point *from, ct__point *to, double *q,
                         int *found)
{
    double alpha = 2 / (e->options->M + itr);
    *found = 0;
    for (int i = 0; !*found && i <= HALVINGS && !ct__objective_cancelled(e); i++, alpha /= 2) {
        fw_step(e, space, alpha, from, q, q + e->outer->m, to->p);
        CT_TRY(ct__objective_evaluate(e, to));
        *found = !to->failed;
    }
    return CT_OK;
}

/* q: two scratch vectors and the best iterate, which is the answer if the caller cancels. */
static ct_status iterate(ct__objective *e, ct_space space, int max_iterations, ct__point *at, ct__point *next,
                         double *q, ct_learn_stop *stop)
{
    const size_t bytes = (size_t)e->outer->m * sizeof *q;
    double      *best = q + 2 * (int64_t)e->outer->m;
    int          found;
    ct__objective_begin(e);
    CT_TRY(ct__objective_evaluate(e, at));
    found = !at->failed;
    for (int itr = 0;; itr++) {
        *stop = found ? CT_LEARN_STOP_NONE : CT_LEARN_STOP_STUCK; /* the previous iterate is the answer */
        if (found) CT_TRY(ct__objective_accept(e));
        if (found && (itr == 0 || at->F < e->best)) {
            e->best = at->F;
            e->best_iteration = itr;
            memcpy(best, at->p, bytes);
        }
        if (found && itr == max_iterations) *stop = CT_LEARN_STOP_ITERATIONS;
        if (ct__objective_cancelled(e)) {
            *stop = CT_LEARN_STOP_CANCELLED;
            if (itr || found) memcpy(at->p, best, bytes);
        }
        if (*stop) return CT_OK;
        CT_TRY(advance(e, space, itr, at, next, q, &found));
        if (found) ct__point_swap(at, next);
    }
}

ct_status ct__learn_frank_wolfe(ct__objective *e, ct_space space, int max_iterations, double *p, ct_learn_stop *stop)
{
    const int32_t m = e->outer->m;
    ct__point     at = {0}, next = {0};
    double       *q = ct__zalloc(3 * (int64_t)m, sizeof *q);
    ct_status     status = q ? CT_OK : ct__no_memory(e->err, "parameters", m);
    if (status == CT_OK) status = ct__point_new(e, 0, &at, e->err);
    if (status == CT_OK) status = ct__point_new(e, 0, &next, e->err);
    if (status == CT_OK) {
        memcpy(at.p, p, (size_t)m * sizeof *p);
        status = iterate(e, space, max_iterations, &at, &next, q, stop);
    }
    if (status == CT_OK) memcpy(p, at.p, (size_t)m * sizeof *p);
    ct__point_free(&at);
    ct__point_free(&next);
    free(q);
    return status;
}
