/* tracking.c: the loss through the solver as a function of log variances p and weights w,
 *
 *     F(p, w) = L(p, w) + nu/2 [ (p - p0)' diag(a) (p - p0) + (w - w0)' diag(b) (w - w0) ],
 *
 * by Levenberg-Marquardt (gauss_newton.c) or L-BFGS over all sequences, or, for networks of many weights, by Adam over
 * batches of sequences. One adjoint solve a sequence gives dL/dSigma_k of every factor, and a backward pass of the
 * function the gradient by all weights (inner_problem.c). */
#include "conditional/conditional.h"
#include "noise/noise.h"
#include "solve/solve.h"

#include <math.h>
#include <nlopt.h>

#define MANY  500  /* weights from which batches of sequences are used */
#define BATCH 4    /* sequences */
#define RATE  3e-3 /* of Adam   */

ct_status ct__outer_watch_weights(ct_outer *o, ct_err *err)
{
    o->weights = 0;
    if (!o->weight_of) o->weight_of = ct__zalloc(o->models, sizeof *o->weight_of);
    if (!o->weight_of) return ct__no_memory(err, "noise models", o->models);
    for (int32_t g = 0; g < o->models; g++) {
        const ct_function *f = ct_noise_get(o->noise, g)->function;
        o->weight_of[g] = f && o->slot[g] >= 0 ? o->weights : -1;
        if (f && o->slot[g] >= 0) o->weights += f->weights;
    }
    if (o->store) {
        const int64_t bytes = o->count * (int64_t)CT_MAX(1, o->weights) * (int64_t)sizeof(double);
        CT_TRY(ct__store_reserve(o->store, bytes, o->scratches, "gradients by weights of functions", err));
        o->reserved += bytes;
    }
    o->own = !o->store;
    o->keep_layers = 1;
    for (int32_t i = 0; i < o->count; i++) {
        free(o->inner[i].weight_gradient);
        o->inner[i].weight_gradient = ct__zalloc(CT_MAX(1, o->weights), sizeof(double));
        if (!o->inner[i].weight_gradient) return ct__no_memory(err, "weights", o->weights);
    }
    return CT_OK;
}

ct_status ct__outer_set_weights(ct_outer *o, const double *w, ct_err *err)
{
    for (int32_t g = 0; g < o->models; g++) {
        if (o->weight_of[g] < 0) continue;
        CT_TRY(ct_noise_set_weights(o->noise, g, w + o->weight_of[g], err));
        CT_TRY(ct_noise_set_weights(o->base, g, w + o->weight_of[g], err));
    }
    return CT_OK;
}

void ct__outer_get_weights(const ct_outer *o, double *w)
{
    for (int32_t g = 0; g < o->models; g++) {
        const ct_function *f = ct_noise_get(o->noise, g)->function;
        if (o->weight_of[g] >= 0) memcpy(w + o->weight_of[g], f->weight, (size_t)f->weights * sizeof *w);
    }
}

ct_status ct__tracking_value(ct__tracking *t, const double *p, const double *w, double *F, double *gp, double *gw)
{
    ct_outer      *o = t->outer;
    ct_outer_value value = {.gradient = gp};
    int32_t        parts = 0;
    CT_TRY(ct__outer_set_weights(o, w, t->err));
    CT_TRY(ct_outer_evaluate(o, p, t->part, &value, t->err));
    for (int32_t i = 0; i < o->count; i++) parts += o->inner[i].took_part;
    *F = value.loss;
    for (int32_t j = 0; j < t->weights; j++) gw[j] = 0;
    for (int32_t i = 0; i < o->count && !value.failed; i++)
        for (int32_t j = 0; o->inner[i].took_part && j < t->weights; j++)
            gw[j] += o->inner[i].weight_gradient[j] / parts;
    ct__average_ties(t->weights, t->same, gw); /* what is one stays one */
    for (int32_t i = 0; t->nu > 0 && i < o->m; i++) {
        const double pull = t->nu * t->p_weight[i], away = p[i] - t->p0[i];
        *F += 0.5 * pull * away * away;
        gp[i] += pull * away;
    }
    for (int32_t j = 0; t->nu > 0 && j < t->weights; j++) {
        const double pull = t->nu * t->w_weight[j], away = w[j] - t->w0[j];
        *F += 0.5 * pull * away * away;
        gw[j] += pull * away;
    }
    return CT_OK;
}

/* ---- L-BFGS ---- */

typedef struct {
    ct__tracking *t;
    double       *best;
    double        least;
    nlopt_opt     opt;
} descent;

static double evaluate(unsigned n, const double *y, double *gradient, void *user)
{
    descent      *d = user;
    ct__tracking *t = d->t;
    const int32_t m = t->outer->m;
    double        F = INFINITY, *g = gradient ? gradient : d->best + n;
    t->status = ct__tracking_value(t, y, y + m, &F, g, g + m);
    t->used++;
    if (t->status != CT_OK) nlopt_force_stop(d->opt);
    if (t->status == CT_OK && F < d->least) {
        d->least = F;
        memcpy(d->best, y, n * sizeof *y);
    }
    if (isfinite(F)) return F;
    for (unsigned i = 0; i < n; i++) g[i] = 0;
    return 1e300; /* no estimate there: a line search comes back */
}

static ct_status descend(ct__tracking *t, double *y)
{
    const int32_t m = t->outer->m;
    const unsigned n = (unsigned)(m + t->weights);
    descent  d = {.t = t, .least = INFINITY, .best = ct__zalloc(4 * (int64_t)n, sizeof *d.best)};
    if (!d.best) return ct__no_memory(t->err, "weights", n);
    double *low = d.best + 2 * n, *high = d.best + 3 * n, F;
    for (unsigned i = 0; i < n; i++) low[i] = -INFINITY, high[i] = INFINITY;
    for (int32_t i = 0; i < m; i++) {
        double lower, upper;
        ct_theta_bounds(t->outer->theta, i, &lower, &upper);
        if (!ct_theta_is_scale(t->outer->theta, i)) continue;
        low[i] = fmin(log(lower), y[i]);
        high[i] = fmax(log(upper), y[i]);
    }
    d.opt = nlopt_create(NLOPT_LD_LBFGS, n);
    if (!d.opt) {
        free(d.best);
        return ct__no_memory(t->err, "weights", n);
    }
    memcpy(d.best, y, n * sizeof *y);
    nlopt_set_min_objective(d.opt, evaluate, &d);
    nlopt_set_lower_bounds(d.opt, low);
    nlopt_set_upper_bounds(d.opt, high);
    nlopt_set_maxeval(d.opt, t->evaluations);
    nlopt_set_ftol_rel(d.opt, 1e-5);
    nlopt_optimize(d.opt, y, &F);
    nlopt_destroy(d.opt);
    memcpy(y, d.best, n * sizeof *y);
    free(d.best);
    return t->status;
}

/* ---- Adam over batches of sequences ---- */

/* The sequences of the part, BATCH at a time, in turn. Returns how many. */
static int next_batch(const ct_outer *o, const uint8_t *part, int32_t *at, uint8_t *batch)
{
    int taken = 0;
    memset(batch, 0, (size_t)o->count);
    for (int32_t tries = 0; tries < o->count && taken < BATCH; tries++, *at = (*at + 1) % o->count)
        if (!part || part[*at]) batch[*at] = 1, taken++;
    return taken;
}

static ct_status adam(ct__tracking *t, double *y)
{
    ct_outer      *o = t->outer;
    const int64_t  n = o->m + t->weights;
    double        *g = ct__zalloc(3 * n, sizeof *g), *m1 = g + n, *m2 = g + 2 * n;
    uint8_t       *batch = ct__zalloc(o->count, 1);
    const uint8_t *part = t->part;
    int32_t        at = 0;
    ct_status      status = g && batch ? CT_OK : ct__no_memory(t->err, "weights", n);
    for (int k = 1; status == CT_OK && k <= t->evaluations; k++) {
        double F;
        if (!next_batch(o, part, &at, batch)) break;
        t->part = batch;
        status = ct__tracking_value(t, y, y + o->m, &F, g, g + o->m);
        t->used++;
        if (status != CT_OK || !isfinite(F)) break;
        const double c1 = 1 - pow(0.9, k), c2 = 1 - pow(0.999, k);
        for (int64_t i = 0; i < n; i++) {
            m1[i] = 0.9 * m1[i] + 0.1 * g[i];
            m2[i] = 0.999 * m2[i] + 0.001 * g[i] * g[i];
            y[i] -= RATE * (m1[i] / c1) / (sqrt(m2[i] / c2) + 1e-12);
        }
        ct_theta_project(o->theta, CT_SPACE_LOG, y);
    }
    t->part = part;
    free(g);
    free(batch);
    return status;
}

ct_status ct__track(ct__tracking *t, double *p, double *w)
{
    const int32_t m = t->outer->m;
    double       *y = ct__zalloc((int64_t)m + t->weights, sizeof *y);
    if (!y) return ct__no_memory(t->err, "weights", t->weights);
    memcpy(y, p, (size_t)m * sizeof *y);
    memcpy(y + m, w, (size_t)t->weights * sizeof *y);
    ct_status status = t->weights >= MANY    ? adam(t, y)
                       : t->weights <= t->few ? ct__track_gauss_newton(t, y)
                                              : descend(t, y);
    if (status == CT_OK) {
        memcpy(p, y, (size_t)m * sizeof *y);
        memcpy(w, y + m, (size_t)t->weights * sizeof *y);
        ct__copy_ties(t->weights, t->same, w); /* equal up to rounding so far */
        ct_theta_project(t->outer->theta, CT_SPACE_LOG, p);
    }
    free(y);
    return status;
}
