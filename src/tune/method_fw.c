/* method_fw.c: Frank-Wolfe with numerical Jacobians, as the paper has it.
 *
 *     s = argmin over the set of s'g,    alpha = 2 / (M + itr),    q <- q + alpha (s - q),    M = 2, itr = 0, 1, ...
 *
 * q are variances (of linear parameters the numbers), g = J'r the gradient of the loss by them, J by forward
 * differences of n perturbed runs. With a spread the set's floor is found by golden section: the minimum over a window
 * is a convex function of its floor. There is no line search; where the next iterate has no estimates alpha is halved.
 * The answer is the best point, be it an iterate or a perturbed one. */
#include "tune/search.h"

#include <math.h>

#define STEP     0.1  /* of differences, in log variance */
#define FIRST_M  2.0
#define HALVINGS 10
#define SECTIONS 80
#define GOLDEN   0.6180339887498949

typedef struct {
    ct__tuner        *t;
    ct__linear_model  model;
    ct__tune_point  **first; /* 2 n */
    double           *slope, *lower, *upper, *x;
} fw;

/* Variance over that of the start; of a linear parameter the coordinate. */
static double q_of(const ct__coordinates *c, int32_t k, double x) { return c->power[k] != 0 ? exp(x) : x; }
static double x_of(const ct__coordinates *c, int32_t k, double q) { return c->power[k] != 0 ? log(q) : q; }

/* The least slope's at a floor of one group. */
static double vertex_value(fw *f, double *floor)
{
    const ct__coordinates *c = &f->t->c;
    double sum = 0;
    ct__coordinates_limits(c, floor, f->lower, f->upper);
    for (int32_t k = 0; k < c->n; k++)
        sum += f->slope[k] * q_of(c, k, f->slope[k] > 0 ? f->lower[k] : f->upper[k]);
    return sum;
}

/* The floor of a group that minimises. */
static void choose_floor(fw *f, int32_t group, double *floor)
{
    const ct__coordinates *c = &f->t->c;
    double low, high;
    ct__spread_floors(c, group, c->lower, c->upper, &low, &high);
    if (isinf(high)) return; /* it has no members */
    low = CT_MIN(low, high);
    for (int i = 0; i < SECTIONS; i++) {
        const double a = high - GOLDEN * (high - low), b = low + GOLDEN * (high - low);
        floor[group] = a;
        const double at_a = vertex_value(f, floor);
        floor[group] = b;
        if (at_a < vertex_value(f, floor)) high = b;
        else low = a;
    }
    floor[group] = 0.5 * (low + high);
}

/* x <- the next iterate from p. */
static void fw_step(fw *f, const ct__tune_point *p, double alpha)
{
    const ct__coordinates *c = &f->t->c;
    double floor[CT__SPREADS_MAX];
    for (int k = 0; k < CT__SPREADS_MAX; k++) floor[k] = NAN;
    for (int32_t k = 0; k < c->n; k++)
        f->slope[k] = c->power[k] != 0 ? f->model.g[k] / exp(p->x[k]) : f->model.g[k];
    for (int32_t group = 0; c->members && group < c->problem->spreads; group++) choose_floor(f, group, floor);
    ct__coordinates_limits(c, floor, f->lower, f->upper);
    for (int32_t k = 0; k < c->n; k++) {
        const double q = q_of(c, k, p->x[k]), vertex = f->slope[k] > 0 ? f->lower[k] : f->upper[k],
                     s = f->slope[k] == 0 ? q : q_of(c, k, vertex);
        f->x[k] = x_of(c, k, q + alpha * (s - q));
    }
}

static ct_status iterate(fw *f, ct__tune_point *at, ct__tune_point **answer, ct_tune_stop *stop)
{
    ct__tuner *t = f->t;
    for (int itr = 0; ct__points_left(t) > t->c.n && !t->cancelled; itr++) {
        double alpha = 2 / (FIRST_M + itr);
        ct__tune_point *next = NULL;
        CT_TRY(ct__first_points(t, at, STEP, f->first));
        if (t->cancelled) break;
        if (!itr) CT_TRY(ct__find_effects(t, at, f->first));
        CT_TRY(ct__model_fit(&f->model, t, at));
        for (int k = 0; k < HALVINGS && !(next && ct__is_done(next)) && ct__points_left(t); k++, alpha /= 2) {
            fw_step(f, at, alpha);
            CT_TRY(ct__point_at(t, f->x, &next));
            CT_TRY(ct__evaluate(t, 1, &next, CT__TRAIN, t->repeats));
            if (t->cancelled) break;
        }
        if (!next || !ct__is_done(next)) break;
        if (next == at) {
            *stop = CT_TUNE_STOP_STEP;
            return CT_OK;
        }
        at = next;
        if (at->loss < (*answer)->loss) *answer = at;
    }
    *stop = t->cancelled ? CT_TUNE_STOP_CANCELLED : CT_TUNE_STOP_POINTS;
    return CT_OK;
}

ct_status ct__tune_fw(ct__tuner *t, ct__tune_point *from, ct__tune_point **answer, ct_tune_stop *stop)
{
    const int64_t n = t->c.n;
    fw f = {.t = t};
    ct_status status = ct__model_new(t->c.n, 3 * t->c.n + 6, &f.model, t->err);
    f.model.near = 1e-6;
    f.first = ct__zalloc(2 * n, sizeof *f.first);
    f.slope = ct__zalloc(4 * n, sizeof *f.slope);
    if (status == CT_OK && (!f.first || !f.slope)) status = ct__no_memory(t->err, "parameters", n);
    *answer = from;
    if (status == CT_OK) {
        f.lower = f.slope + n;
        f.upper = f.lower + n;
        f.x = f.upper + n;
        status = iterate(&f, from, answer, stop);
        if (t->best && t->best->loss < (*answer)->loss) *answer = t->best;
    }
    ct__model_free(&f.model);
    free(f.first);
    free(f.slope);
    return status;
}
