/* projected_gradient.c: the spectral projected gradient method for convex sets (Birgin, Martinez and Raydan 2000).
 *
 *     d = projection(p - t g) - p,    p <- p + a d,    a halved until f decreases by C a g'd,    t = |dp|^2 / dp'dg
 *
 * f = log F and g is its gradient. The loss at a bad start may be a hundred times that of the answer; step lengths of F
 * would not carry over, those of log F do. */
#include "learn/learn.h"

#include <math.h>

#define C       1e-4
#define T_LEAST 1e-8
#define T_MOST  1e8

static double dot(int32_t m, const double *a, const double *b)
{
    double sum = 0;
    for (int32_t i = 0; i < m; i++) sum += a[i] * b[i];
    return sum;
}

/* Evaluates log F and its gradient. */
static ct_status evaluate(ct__objective *e, ct__point *at)
{
    CT_TRY(ct__objective_evaluate(e, at));
    if (at->failed) return CT_OK;
    for (int32_t i = 0; i < e->outer->m; i++) at->gradient[i] /= at->F;
    at->F = log(at->F);
    return CT_OK;
}

/* d <- projection(p - t g) - p; returns its largest entry. */
static double direction(const ct__objective *e, const ct__point *at, double t, double *d)
{
    double largest = 0;
    for (int32_t i = 0; i < e->outer->m; i++) d[i] = at->p[i] - t * at->gradient[i];
    ct_theta_project(e->outer->theta, CT_SPACE_LOG, d);
    for (int32_t i = 0; i < e->outer->m; i++) {
        d[i] -= at->p[i];
        largest = CT_MAX(largest, fabs(d[i]));
    }
    return largest;
}

/* One accepted step along d, or *stop. */
static ct_status search(ct__objective *e, ct__point *at, ct__point *trial, const double *d, double largest,
                        ct_learn_stop *stop)
{
    const ct_learn_options *o = e->options;
    const double            slope = dot(e->outer->m, at->gradient, d);
    for (double a = 1; a * largest > o->step; a *= 0.5) {
        for (int32_t i = 0; i < e->outer->m; i++) trial->p[i] = at->p[i] + a * d[i];
        ct_theta_project(e->outer->theta, CT_SPACE_LOG, trial->p);
        CT_TRY(evaluate(e, trial));
        if (!trial->failed && trial->F <= at->F + C * a * slope) {
            if (at->F - trial->F <= o->relative) *stop = CT_LEARN_STOP_LOSS;
            ct__point_swap(at, trial);
            return ct__objective_accept(e);
        }
        if (ct__objective_cancelled(e)) return CT_OK;
    }
    *stop = CT_LEARN_STOP_STEP;
    return CT_OK;
}

static ct_status iterate(ct__objective *e, int max_iterations, ct__point *at, ct__point *trial, double *d,
                         ct_learn_stop *stop)
{
    const int32_t m = e->outer->m;
    double        g = 0;
    ct__objective_begin(e);
    CT_TRY(evaluate(e, at));
    if (at->failed) {
        *stop = CT_LEARN_STOP_STUCK;
        return CT_OK;
    }
    CT_TRY(ct__objective_accept(e));
    for (int32_t i = 0; i < m; i++) g = CT_MAX(g, fabs(at->gradient[i]));
    double t = g > 0 ? 1 / g : 1; /* the first step changes a log variance by 1 */
    for (int i = 0; *stop == CT_LEARN_STOP_NONE; i++) {
        const double largest = direction(e, at, t, d);
        if (i == max_iterations) *stop = CT_LEARN_STOP_ITERATIONS;
        else if (largest <= e->options->step) *stop = CT_LEARN_STOP_GRADIENT;
        else CT_TRY(search(e, at, trial, d, largest, stop));
        if (ct__objective_cancelled(e)) *stop = CT_LEARN_STOP_CANCELLED;
        if (*stop) break;
        for (int32_t k = 0; k < m; k++) { /* after the swap, trial is the previous point */
            d[k] = at->p[k] - trial->p[k];
            trial->gradient[k] = at->gradient[k] - trial->gradient[k];
        }
        const double curve = dot(m, d, trial->gradient);
        t = curve > 0 ? CT_MAX(T_LEAST, CT_MIN(T_MOST, dot(m, d, d) / curve)) : 1;
    }
    return CT_OK;
}

ct_status ct__learn_projected_gradient(ct__objective *e, int max_iterations, double *p, ct_learn_stop *stop)
{
    const int32_t m = e->outer->m;
    ct__point     at = {0}, trial = {0};
    double       *d = ct__zalloc(m, sizeof *d);
    ct_status     status = d ? CT_OK : ct__no_memory(e->err, "parameters", m);
    *stop = CT_LEARN_STOP_NONE;
    if (status == CT_OK) status = ct__point_new(e, 0, &at, e->err);
    if (status == CT_OK) status = ct__point_new(e, 0, &trial, e->err);
    if (status == CT_OK) {
        memcpy(at.p, p, (size_t)m * sizeof *p);
        status = iterate(e, max_iterations, &at, &trial, d, stop);
    }
    if (status == CT_OK) memcpy(p, at.p, (size_t)m * sizeof *p);
    ct__point_free(&at);
    ct__point_free(&trial);
    free(d);
    return status;
}
