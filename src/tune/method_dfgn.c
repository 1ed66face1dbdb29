/* method_dfgn.c: derivative-free Gauss-Newton.
 *
 *     s minimises 1/2 |r + J s|^2 within bounds, spreads and |s_k| <= radius
 *
 * J is the linear model of the residuals from points that were evaluated (linear_model.c): n + 1 points at first, all
 * in one batch, then one a step. Every point, good or bad, refines the model. As in DFO-LS and POUNDERS the radius
 * follows the ratio of the decrease to the predicted one, and points are added where the model does not know a
 * direction: after a step that failed, and before the method ends.
 *
 * A step to a point without an estimate is shortened; such points are never part of a model. */
#include "tune/search.h"

#include <math.h>

#define FIRST_STEP   0.5   /* of a log variance: far above rounding and six digits of output                   */
#define FIRST_RADIUS 3.0   /* a start ten times off is 2.3 away in every coordinate                            */
#define MOST_RADIUS  8.0
#define DAMPING      1e-4  /* of the mean curvature: a common factor on all variances does not change the loss  */
#define KNOWN        1.0   /* distance within which points say what a direction does                           */
#define SHORTER      4     /* sizes of the first steps: each a quarter of the one before, where runs fail      */

typedef struct {
    ct__tuner        *t;
    int32_t           n;
    ct__linear_model  model;
    ct__tune_point   *base;
    double            radius;
    double           *x, *s, *H, *work;
    int               bad;       /* steps in a row that did not gain         */
    int               explored;  /* points in a row for the model alone      */
    int               small;     /* steps in a row that gained little        */
    ct_tune_stop      stop;
} dfgn;

static ct_status begin(dfgn *d, ct_err *err)
{
    const int64_t n = d->n;
    CT_TRY(ct__model_new(d->n, 3 * d->n + 6, &d->model, err));
    d->x = ct__zalloc(2 * n + n * n + 2 * n * n + 8 * n, sizeof *d->x);
    if (!d->x) return ct__no_memory(err, "parameters", n);
    d->s = d->x + n;
    d->H = d->s + n;
    d->work = d->H + n * n;
    return CT_OK;
}

static void end(dfgn *d)
{
    ct__model_free(&d->model);
    free(d->x);
}

static void note_stop(dfgn *d)
{
    if (d->t->cancelled) d->stop = CT_TUNE_STOP_CANCELLED;
    else if (d->stop == CT_TUNE_STOP_NONE && !ct__points_left(d->t)) d->stop = CT_TUNE_STOP_POINTS;
}

/* Evaluate x; *out <- the point. */
static ct_status try_point(dfgn *d, const double *x, ct__tune_point **out)
{
    CT_TRY(ct__point_at(d->t, x, out));
    CT_TRY(ct__evaluate(d->t, 1, out, CT__TRAIN, d->t->repeats));
    note_stop(d);
    return CT_OK;
}

/* The loss counts as smaller. */
static void take_best(dfgn *d, ct__tune_point *p)
{
    if (ct__is_done(p) && p->loss < d->base->loss) d->base = p;
}

ct_status ct__first_points(ct__tuner *t, const ct__tune_point *from, double step, ct__tune_point **point)
{
    const int32_t n = t->c.n;
    for (int32_t k = 0; k < n; k++) point[k] = NULL;
    for (int round = 0; round < 2 * SHORTER && !t->cancelled; round++) {
        const double h = step * pow(0.25, round / 2);
        ct__tune_point **fresh = point + n;
        int32_t count = 0;
        for (int32_t k = 0; k < n; k++) {
            if (ct__coordinates_held(&t->c, k) || (point[k] && ct__is_done(point[k]))) continue;
            if (count >= ct__points_left(t)) break;
            const int up = from->x[k] + h <= t->c.upper[k] || t->c.upper[k] - from->x[k] >= from->x[k] - t->c.lower[k];
            memcpy(t->c.work, from->x, (size_t)n * sizeof *from->x);
            t->c.work[k] += up == !(round % 2) ? h : -h;
            CT_TRY(ct__point_at(t, t->c.work, &point[k]));
            if (point[k] != from) fresh[count++] = point[k];
        }
        if (!count) break;
        CT_TRY(ct__evaluate(t, count, fresh, CT__TRAIN, t->repeats));
    }
    return CT_OK;
}

/* A point in the direction that the model knows least, at a distance where it is linear. */
static ct_status explore(dfgn *d)
{
    const double length = CT_MIN(FIRST_STEP, CT_MAX(d->radius, 0.1));
    ct__tune_point *p;
    ct__model_weakest(&d->model, d->s);
    double slope = 0;
    for (int32_t i = 0; i < d->n; i++) slope += d->s[i] * d->model.g[i];
    for (int32_t i = 0; i < d->n; i++) d->x[i] = d->base->x[i] - (slope > 0 ? length : -length) * d->s[i];
    d->explored++;
    CT_TRY(try_point(d, d->x, &p));
    if (p == d->base) return CT_OK; /* the bounds do not let it go there */
    if (!ct__is_done(p)) d->radius *= 0.5;
    take_best(d, p);
    return CT_OK;
}

static int knows_all(dfgn *d) { return !(ct__model_weakest(&d->model, d->work) > KNOWN); }

/* The radius after a step that gained `gain` times what was predicted. */
static void set_radius(dfgn *d, double gain, double size)
{
    if (gain > 0.7) d->radius = CT_MIN(MOST_RADIUS, CT_MAX(d->radius, 2 * size));
    else if (gain < 0.1) d->radius = 0.4 * size;
    else if (gain < 0.25) d->radius = 0.7 * size;
}

static ct_status take_step(dfgn *d, double predicted, double size)
{
    const double before = d->base->loss;
    ct__tune_point *p;
    for (int32_t i = 0; i < d->n; i++) d->x[i] = d->base->x[i] + d->s[i];
    CT_TRY(try_point(d, d->x, &p));
    if (d->t->cancelled) return CT_OK;
    if (!ct__is_done(p)) {
        d->radius = 0.25 * size;
        d->bad++;
        return CT_OK;
    }
    const double gain = (before - p->loss) / predicted;
    set_radius(d, gain, size);
    d->bad = gain < 0.1 ? d->bad + 1 : 0;
    d->explored = 0;
    take_best(d, p);
    d->small = gain > 0 && before - p->loss <= d->t->options.relative * before ? d->small + 1 : 0;
    return CT_OK;
}

/* One step, or one point for the model. */
static ct_status advance(dfgn *d)
{
    const ct_tune_options *o = &d->t->options;
    double trace = 0, size = 0;
    CT_TRY(ct__model_fit(&d->model, d->t, d->base));
    for (int32_t i = 0; i < d->n; i++) trace += d->model.H[i * d->n + i] / d->n;
    memcpy(d->H, d->model.H, (size_t)(d->n * d->n) * sizeof *d->H);
    for (int32_t i = 0; i < d->n; i++) d->H[i * d->n + i] += DAMPING * trace + 1e-300;
    const double predicted =
        ct__bounded_quadratic(&d->t->c, d->H, d->model.g, d->base->x, d->radius, d->s, d->work);
    for (int32_t i = 0; i < d->n; i++) size = CT_MAX(size, fabs(d->s[i]));
    const int little = predicted <= 0.1 * o->relative * d->base->loss || d->small > 1, short_ = size <= o->step;
    if (little || short_ || d->bad > 1) {
        if (d->explored < d->n && !knows_all(d)) {
            d->bad = 0;
            return explore(d);
        }
        if (little || short_) {
            d->stop = !little && d->radius <= o->step ? CT_TUNE_STOP_STUCK
                      : little                        ? CT_TUNE_STOP_LOSS
                                                      : CT_TUNE_STOP_STEP;
            return CT_OK;
        }
    }
    return take_step(d, predicted, size);
}

static ct_status run(dfgn *d)
{
    ct__tune_point **first = ct__zalloc(2 * (int64_t)d->n, sizeof *first);
    if (!first) return ct__no_memory(d->t->err, "parameters", d->n);
    const ct_status status = ct__first_points(d->t, d->base, FIRST_STEP, first);
    for (int32_t k = 0; k < d->n && status == CT_OK; k++)
        if (first[k]) take_best(d, first[k]);
    free(first);
    CT_TRY(status);
    note_stop(d);
    while (d->stop == CT_TUNE_STOP_NONE) {
        CT_TRY(advance(d));
        note_stop(d);
    }
    return CT_OK;
}

ct_status ct__tune_dfgn(ct__tuner *t, ct__tune_point *from, ct__tune_point **answer, ct_tune_stop *stop)
{
    dfgn      d = {.t = t, .n = t->c.n, .base = from, .radius = FIRST_RADIUS};
    ct_status status = begin(&d, t->err);
    if (status == CT_OK) status = run(&d);
    *answer = d.base;
    *stop = d.stop;
    end(&d);
    return status;
}
