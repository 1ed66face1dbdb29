/* dfgn_step.c: steps of derivative-free Gauss-Newton.
 *
 *     s minimises 1/2 |r + J s|^2 within bounds, spreads and |s_k| <= radius
 *
 * The radius follows the ratio of the decrease to the predicted one, as in other trust-region methods. What steps tell
 * of the model is counted: it was far off, right over a long way, or promised much where the loss did not decrease. */
#include "tune/dfgn.h"

#include <math.h>

#define MOST_RADIUS 8.0
#define DAMPING     1e-4 /* of the mean curvature: a common factor on all variances does not change the loss */
#define WRONG       0.01 /* of the loss: a model that predicts less is not called wrong                      */
#define LONG        0.1  /* of the loss: a model that predicts so much, and is right, is not far off         */

ct_status ct__dfgn_minimise(ct__dfgn *d, double *predicted, double *size)
{
    double trace = 0, largest = 0;
    CT_TRY(ct__model_fit(&d->model, d->t, d->base));
    for (int32_t i = 0; i < d->n; i++) trace += d->model.H[i * d->n + i] / d->n;
    memcpy(d->H, d->model.H, (size_t)(d->n * d->n) * sizeof *d->H);
    for (int32_t i = 0; i < d->n; i++) d->H[i * d->n + i] += DAMPING * trace + 1e-300;
    const double decrease =
        ct__bounded_quadratic(&d->t->c, d->H, d->model.g, d->base->x, d->radius, d->s, d->work);
    for (int32_t i = 0; i < d->n; i++) largest = CT_MAX(largest, fabs(d->s[i]));
    if (predicted) *predicted = decrease;
    if (size) *size = largest;
    return CT_OK;
}

void ct__dfgn_note_stop(ct__dfgn *d)
{
    if (d->t->cancelled) d->stop = CT_TUNE_STOP_CANCELLED;
    else if (d->stop == CT_TUNE_STOP_NONE && !ct__points_left(d->t)) d->stop = CT_TUNE_STOP_POINTS;
}

void ct__dfgn_take_best(ct__dfgn *d, ct__tune_point *p)
{
    if (ct__is_done(p) && p->loss < d->base->loss) d->base = p;
}

/* Evaluate x; *out <- the point. */
static ct_status try_point(ct__dfgn *d, const double *x, ct__tune_point **out)
{
    CT_TRY(ct__point_at(d->t, x, out));
    CT_TRY(ct__evaluate(d->t, 1, out, CT__TRAIN, d->t->repeats));
    ct__dfgn_note_stop(d);
    return CT_OK;
}

/* A longer step has more error from curvature, a shorter one more from noise. Slopes
 * are those of the model that was fitted last. */
double ct__dfgn_second_step(const ct__dfgn *d)
{
    double trace = 0;
    for (int32_t i = 0; i < d->n; i++) trace += d->model.H[i * d->n + i] / d->n;
    if (!(d->t->noise > 0) || !(trace > 0)) return CT__SECOND_STEP;
    return CT_MIN(CT__FIRST_STEP, CT_MAX(CT__SECOND_STEP, CT__ABOVE_NOISE * sqrt(d->t->noise / trace)));
}

ct_status ct__dfgn_refresh(ct__dfgn *d, double step)
{
    ct_status status = ct__first_points(d->t, d->base, step, d->first);
    d->fresh = d->base->loss;
    d->fresh_at = d->base;
    d->probed = INFINITY;
    for (int32_t k = 0; k < d->n && status == CT_OK; k++)
        if (d->first[k]) ct__dfgn_take_best(d, d->first[k]);
    d->radius = CT_MAX(d->radius, 1);
    d->bad = d->small = 0;
    return status;
}

/* The radius after a step that gained `gain` times what was predicted. */
static void set_radius(ct__dfgn *d, double gain, double size)
{
    if (gain > 0.7) d->radius = CT_MIN(MOST_RADIUS, CT_MAX(d->radius, 2 * size));
    else if (gain < 0.1) d->radius = 0.4 * size;
    else if (gain < 0.25) d->radius = 0.7 * size;
}

ct_status ct__dfgn_step(ct__dfgn *d, double predicted, double size)
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
    d->valid |= predicted > LONG * before && gain > 0.25 && gain < 4;
    if (predicted > fmax(WRONG * before, 2 * d->t->noise_loss) && (gain < 0.1 || gain > 4)) d->mispredicted++;
    if (predicted > CT__MUCH * before && predicted > 2 * d->t->noise_loss && gain < 0.1) {
        d->jumps++;
        d->jumped |= !(d->t->noise > 0) && before >= CT__REFRESHED * d->fresh && size <= 2 * CT__SECOND_STEP;
    } else if (gain > 0.5) d->jumps = 0;
    set_radius(d, gain, size);
    d->bad = gain < 0.1 ? d->bad + 1 : 0;
    ct__dfgn_take_best(d, p);
    d->small = gain > 0 && before - p->loss <= d->t->options.relative * before ? d->small + 1 : 0;
    return CT_OK;
}

