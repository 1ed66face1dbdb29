/* method_dfgn.c: derivative-free Gauss-Newton.
 *
 *     s minimises 1/2 |r + J s|^2 within bounds, spreads and |s_k| <= radius
 *
 * J is the linear model of the residuals from points that were evaluated (linear_model.c): n + 1 points at first, all
 * in one batch, then one a step. Every point, good or bad, refines the model. As in DFO-LS and POUNDERS the radius
 * follows the ratio of the decrease to the predicted one, and points are added where the model does not know a
 * direction: after steps that failed, and before the method ends.
 *
 * With several training logs most of the search is on few of them (dfgn_pilot.c). Where models do not hold, points far
 * away are run (dfgn_far.c). Where residuals jump, steps fail that a fresh Jacobian promised: the search is stuck, and
 * begins again elsewhere (search_global.c).
 *
 * A step to a point without an estimate is shortened; such points are never part of a model. */
#include "tune/dfgn.h"

#include <math.h>

#define FRESH_WITHIN 1.0  /* of the base in each coordinate: a Jacobian is fresh                              */
#define JUMPS        6    /* of steps, two Jacobians' worth: the search is stuck                              */

static ct_status begin(ct__dfgn *d, ct_err *err)
{
    const int64_t n = d->n;
    CT_TRY(ct__model_new(d->n, 3 * d->n + 6, &d->model, err));
    d->x = ct__zalloc(2 * n + n * n + 2 * n * n + 8 * n, sizeof *d->x);
    d->first = ct__zalloc(2 * n, sizeof *d->first);
    if (!d->x || !d->first) return ct__no_memory(err, "parameters", n);
    d->s = d->x + n;
    d->H = d->s + n;
    d->work = d->H + n * n;
    return CT_OK;
}

static void end(ct__dfgn *d)
{
    ct__model_free(&d->model);
    free(d->x);
    free(d->first);
}

/* Does the model promise much more than a minimum has left? */
static int wants_more(const ct__dfgn *d, double predicted)
{
    return predicted > CT__MUCH * d->base->loss && predicted > d->t->noise_loss;
}

/* The step is short. It is no minimum if the radius made it so, or if residuals jump near the base, and the model wants
 * much more. */
static ct_status end_by_step(ct__dfgn *d, double predicted, double size)
{
    const ct__tune_point *before = d->base;
    d->stop = CT_TUNE_STOP_STEP;
    if (d->radius > d->t->options.step) {
        if (!wants_more(d, predicted) || !(predicted > CT__RESOLVED * d->t->start->loss)) return CT_OK;
        CT_TRY(ct__dfgn_step(d, predicted, size));
        if (d->t->cancelled || d->base != before) return CT_OK;
    }
    d->radius = 1;
    CT_TRY(ct__dfgn_minimise(d, &d->predicted, NULL));
    if (wants_more(d, d->predicted)) d->stop = CT_TUNE_STOP_STUCK;
    return CT_OK;
}

/* Was the last Jacobian taken near the base, and at its loss? */
static int is_fresh(const ct__dfgn *d)
{
    if (!(d->base->loss >= CT__REFRESHED * d->fresh)) return 0; /* equal: a loss of 0 */
    for (int32_t i = 0; i < d->n; i++)
        if (fabs(d->base->x[i] - d->fresh_at->x[i]) > FRESH_WITHIN) return 0;
    return 1;
}

/* Residuals jump: no model holds at any distance. */
static ct_status end_among_jumps(ct__dfgn *d)
{
    d->stop = CT_TUNE_STOP_STUCK;
    d->radius = 1;
    return ct__dfgn_minimise(d, &d->predicted, NULL);
}

/* One step, or a fresh Jacobian, or the end. */
static ct_status advance(ct__dfgn *d)
{
    const ct_tune_options *o = &d->t->options;
    double predicted, size;
    CT_TRY(ct__renew_noise(d->t, d->base));
    if (d->t->cancelled) return CT_OK;
    if (ct__dfgn_is_far(d)) return ct__dfgn_search_bounds(d);
    if (d->jumps >= JUMPS && o->global) return end_among_jumps(d);
    CT_TRY(ct__dfgn_minimise(d, &predicted, &size));
    const double least = fmax(0.1 * o->relative * d->base->loss, CT__NOISE * d->t->noise_loss);
    const int little = predicted <= least || d->small > 1, end = size <= o->step;
    if (little || end || d->bad > CT__MOST_BAD) {
        if (o->global && (little || end) && !(d->base->loss >= CT__REFRESHED * d->probed))
            return ct__dfgn_probe_flat(d);
        if (!is_fresh(d)) return ct__dfgn_refresh(d, ct__dfgn_second_step(d));
        if (ct__dfgn_may_be_local(d)) return ct__dfgn_search_elsewhere(d);
        if (little) d->stop = d->t->noise_loss > o->relative * d->base->loss ? CT_TUNE_STOP_NOISE : CT_TUNE_STOP_LOSS;
        else if (end && ct__dfgn_is_among_jumps(d)) return ct__dfgn_search_loss(d);
        else if (end) return end_by_step(d, predicted, size);
        if (d->stop) return CT_OK;
    }
    return ct__dfgn_step(d, predicted, size);
}

/* The first points, without those of coordinates that have no effect. */
static void take_first(ct__dfgn *d)
{
    d->base = d->from;
    for (int32_t k = 0; k < d->n; k++)
        if (d->first[k] && !ct__coordinates_held(&d->t->c, k)) ct__dfgn_take_best(d, d->first[k]);
    d->fresh = INFINITY;
    d->radius = CT__FIRST_RADIUS;
    ct__dfgn_note_stop(d);
}

static ct_status run(ct__dfgn *d)
{
    d->used = ct__first_logs(d->t);
    ct__use_logs(d->t, 0, d->used);
    d->t->put_off = d->used < d->t->trains && !d->t->effects_known ? ct__dfgn_put_off(d->t) : -1;
    CT_TRY(ct__dfgn_refresh(d, CT__FIRST_STEP));
    if (d->t->cancelled) return CT_OK;
    if (d->used == d->t->trains) CT_TRY(ct__find_effects(d->t, d->from, d->first));
    take_first(d);
    CT_TRY(ct__dfgn_pilot(d));
    while (d->stop == CT_TUNE_STOP_NONE) {
        CT_TRY(advance(d));
        ct__dfgn_note_stop(d);
    }
    return ct__dfgn_average(d);
}

ct_status ct__tune_dfgn(ct__tuner *t, ct__tune_point *from, ct__tune_point **answer, ct_tune_stop *stop)
{
    ct__dfgn d = {
        .t = t,
        .n = t->c.n,
        .from = from,
        .base = from,
        .radius = CT__FIRST_RADIUS,
        .probed = INFINITY,
        .rng = ct__rng_stream(t->options.seed, 5, 0),
    };
    ct_status status = begin(&d, t->err);
    if (status == CT_OK) status = run(&d);
    ct__use_logs(t, 0, t->trains);
    if (!ct__is_done(d.base)) d.base = t->best; /* a stop while few logs were used */
    *answer = d.base;
    *stop = d.stop;
    t->put_off = -1;
    if (status == CT_OK && d.stop == CT_TUNE_STOP_STUCK) status = ct__note_stuck(t, d.base, d.predicted, d.s);
    end(&d);
    return status;
}
