/* method_dfgn.c: derivative-free Gauss-Newton.
 *
 *     s minimises 1/2 |r + J s|^2 within bounds, spreads and |s_k| <= radius
 *
 * J is the linear model of the residuals from points that were evaluated (linear_model.c): n + 1 points at first, all
 * in one batch, then one a step. Every point, good or bad, refines the model. As in DFO-LS and POUNDERS the radius
 * follows the ratio of the decrease to the predicted one, and points are added where the model does not know a
 * direction: after a step that failed, and before the method ends.
 *
 * Far from the minimum a linear model may not hold at any distance: estimates follow one sensor alone, and residuals do
 * not change until a parameter has moved by decades. Two steps of which the model was far off, and none of which it was
 * right in much, are the sign. Then points of the whole bounds are looked at (search_global.c). A search may end on
 * such a plateau, too. So before the end, coordinates without curvature are moved far, one at a time.
 *
 * With several training logs the search begins on one of them (pilot_logs.c), and with one point less: most estimates
 * follow from ratios of variances, so that the model takes a common factor to change nothing. That point is added after
 * the first step, or when that does not gain. The first step that gains is run on all
 * logs: if they lose by it, the log does not stand for them. When the logs that are used promise no more, others are
 * added, at the best point by all of them: perturbed runs are of the added logs alone, at last of all of them.
 *
 * A step to a point without an estimate is shortened; such points are never part of a model. */
#include "tune/search.h"

#include <math.h>

#define FIRST_STEP   2.0   /* of a log variance: far above rounding, six digits of output and most noise         */
#define FIRST_RADIUS 3.0   /* a start ten times off is 2.3 away in every coordinate                            */
#define MOST_RADIUS  8.0
#define DAMPING      1e-4  /* of the mean curvature: a common factor on all variances does not change the loss  */
#define SECOND_STEP  0.5   /* of the Jacobian that tells whether this is a minimum; with noise up to FIRST_STEP  */
#define ABOVE_NOISE  2.0   /* times the noise of runs: what a step should change residuals by                  */
#define LEAST_ROUNDS 3     /* of the model's minimum, run several times, where the program has noise           */
#define LAST_ROUNDS  6     /* the same, at most                                                                */
#define SETTLED      0.005 /* of the loss: a round whose model promises no more is the last                    */
#define SETTLE_RADIUS 1.0  /* of these rounds, after a gain                                                    */
#define REFRESHED    0.99  /* a gain of a percent since the last fresh Jacobian asks for another               */
#define FRESH_WITHIN 1.0   /* and so does a way of that length, in a coordinate                                */
#define NOISE        0.3   /* of the noise of the loss: smaller decreases are not looked for                     */
#define STUCK        0.05  /* of the loss: a decrease that a model predicts within a distance of one             */
#define RESOLVED     1e-4  /* of the loss at the start: a minimum without loss is not searched for further      */
#define MOST_BAD     2     /* steps without gain, then a fresh Jacobian                                        */
#define SURPRISE     0.01  /* of the loss: a model that predicts less is not called wrong                      */
#define SURPRISES    2     /* then points of the whole bounds are looked at                                    */
#define HOLDS        0.1   /* of the loss: a model that predicts so much, and is right, is not far off         */
#define MOST_LOOKS   3
#define JUMPS        6     /* steps without gain that a fresh Jacobian should have, two of them                   */
#define PILOT_JUMPS  3     /* the same on the first log, where another search costs little                        */
#define RESTARTS     3     /* of these searches                                                                   */
#define PILOT_ENDS   0.02  /* of the loss: a decrease on one log that is less is within its sampling error        */
#define CONFIRMED    0.05  /* of the loss: while the first log promises more than that, no other log is run        */
#define UNCONFIRMED  3     /* steps that gain on the first log, at most, before all logs are run               */
#define NEARLY       1.05  /* times the loss: a far point that has less may lie in another valley               */
#define LEAST_VARIANCES 3  /* with fewer, a common factor may well be all that there is to learn               */
#define SHORTER      4     /* sizes of the first steps: each a quarter of the one before, where runs fail      */

typedef struct {
    ct__tuner        *t;
    int32_t           n;
    ct__linear_model  model;
    ct__tune_point   *from, *base;
    double            radius, predicted;
    double           *x, *s, *H, *work;
    ct__tune_point  **first;     /* 2 n                                      */
    double            fresh;     /* the loss where the last fresh Jacobian was taken; INFINITY: none since the start */
    const ct__tune_point *fresh_at; /* where that was                         */
    int               bad;       /* steps in a row that did not gain         */
    int               small;     /* steps in a row that gained little        */
    int               surprises; /* steps of which the model was far off     */
    int               holds;     /* a model has held over a long step        */
    int               looks;     /* at points of the whole bounds            */
    double            probed;    /* the loss where flat coordinates were moved; INFINITY: not since the last Jacobian */
    int               jumps;     /* steps without gain of which the model promised much, since one that it was right in */
    int               restarts;  /* on the first log                         */
    ct__tune_point   *rival;     /* where a search before such a restart ended */
    int               detours;   /* steps from far points that are nearly as good */
    int32_t           used;      /* logs that the models are of              */
    int               confirmed; /* a step on the first log was run on all logs */
    int               unconfirmed; /* steps that gained before that            */
    ct_rng            rng;
    ct_tune_stop      stop;
} dfgn;

static ct_status begin(dfgn *d, ct_err *err)
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

static void end(dfgn *d)
{
    ct__model_free(&d->model);
    free(d->x);
    free(d->first);
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
    t->base = from;
    for (int32_t k = 0; k < n; k++) point[k] = NULL;
    for (int round = 0; round < 2 * SHORTER && !t->cancelled; round++) {
        const double h = step * pow(0.25, round / 2);
        ct__tune_point **fresh = point + n;
        int32_t count = 0;
        for (int32_t k = 0; k < n; k++) {
            if (ct__coordinates_held(&t->c, k) || k == t->put_off || (point[k] && ct__is_done(point[k]))) continue;
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

/* Of a Jacobian near the minimum. A longer step has more error from curvature, a shorter one more from noise. Slopes
 * are those of the model that was fitted last. */
static double second_step(const dfgn *d)
{
    double trace = 0;
    for (int32_t i = 0; i < d->n; i++) trace += d->model.H[i * d->n + i] / d->n;
    if (!(d->t->noise > 0) || !(trace > 0)) return SECOND_STEP;
    return CT_MIN(FIRST_STEP, CT_MAX(SECOND_STEP, ABOVE_NOISE * sqrt(d->t->noise / trace)));
}

/* New points along all coordinates, near the base: a fresh Jacobian. */
static ct_status refresh(dfgn *d, double step)
{
    ct_status status = ct__first_points(d->t, d->base, step, d->first);
    d->fresh = d->base->loss;
    d->fresh_at = d->base;
    d->probed = INFINITY;
    for (int32_t k = 0; k < d->n && status == CT_OK; k++)
        if (d->first[k]) take_best(d, d->first[k]);
    d->radius = CT_MAX(d->radius, 1);
    d->bad = d->small = 0;
    return status;
}

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
    d->holds |= predicted > HOLDS * before && gain > 0.25 && gain < 4;
    if (predicted > fmax(SURPRISE * before, 2 * d->t->noise_loss) && (gain < 0.1 || gain > 4)) d->surprises++;
    if (predicted > STUCK * before && predicted > 2 * d->t->noise_loss && gain < 0.1) d->jumps++;
    else if (gain > 0.5) d->jumps = 0;
    set_radius(d, gain, size);
    d->bad = gain < 0.1 ? d->bad + 1 : 0;
    take_best(d, p);
    d->small = gain > 0 && before - p->loss <= d->t->options.relative * before ? d->small + 1 : 0;
    return CT_OK;
}

/* s <- the minimum of the model within the radius; its decrease and largest entry. */
static ct_status minimise_model(dfgn *d, double *predicted, double *size)
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

/* Does the model promise much more than a minimum has left? */
static int wants_more(const dfgn *d, double predicted)
{
    return predicted > STUCK * d->base->loss && predicted > d->t->noise_loss;
}

/* The step is short. It is no minimum if the radius made it so, or if residuals jump near the base, and the model wants
 * much more. */
static ct_status end_by_step(dfgn *d, double predicted, double size)
{
    const ct__tune_point *before = d->base;
    d->stop = CT_TUNE_STOP_STEP;
    if (d->radius > d->t->options.step) {
        if (!wants_more(d, predicted) || !(predicted > RESOLVED * d->t->start->loss)) return CT_OK;
        CT_TRY(take_step(d, predicted, size));
        if (d->t->cancelled || d->base != before) return CT_OK;
    }
    d->radius = 1;
    CT_TRY(minimise_model(d, &d->predicted, NULL));
    if (wants_more(d, d->predicted)) d->stop = CT_TUNE_STOP_STUCK;
    return CT_OK;
}

/* The search goes on at p, if that is better by more than noise. */
static int move_to(dfgn *d, ct__tune_point *p)
{
    const double least = fmax(d->t->options.relative * d->base->loss, 2 * d->t->noise_loss);
    if (d->stop || !p || !(p->loss < d->base->loss - least)) return 0;
    d->base = p;
    d->fresh = INFINITY;
    d->radius = FIRST_RADIUS;
    d->bad = d->small = 0;
    return 1;
}

/* Most estimates follow from ratios of variances: a common factor on all of them changes nothing. So the last of three
 * or more is not moved before the first step: its slope is the one that makes this true. */
static int32_t put_off_one(const ct__tuner *t)
{
    int32_t variances = 0, last = -1;
    for (int32_t k = 0; k < t->c.n; k++)
        if (t->problem->parameter[t->c.parameter[k]].quantity != CT_QUANTITY_NUMBER) variances++, last = k;
    return variances < LEAST_VARIANCES ? -1 : last;
}

/* The first point that was put off. */
static ct_status complete_first(dfgn *d)
{
    ct__tuner    *t = d->t;
    const int32_t k = t->put_off;
    t->put_off = -1;
    return k < 0 || t->cancelled ? CT_OK : ct__first_points(t, d->from, FIRST_STEP, d->first);
}

static ct_status look_elsewhere(dfgn *d)
{
    ct__tune_point *best = NULL;
    d->surprises = 0;
    d->looks++;
    CT_TRY(complete_first(d));
    if (d->t->cancelled) return CT_OK;
    CT_TRY(ct__coarse_points(d->t, &d->rng, d->base, &best));
    note_stop(d);
    if (!move_to(d, best)) return CT_OK;
    CT_TRY(refresh(d, FIRST_STEP));
    d->fresh = INFINITY;
    return CT_OK;
}

/* A far point that is nearly as good as the base may lie in another valley, where the other coordinates have another
 * minimum: one step from there tells. */
static ct_status step_from(dfgn *d, ct__tune_point *far)
{
    dfgn   before = *d;
    double predicted, size;
    d->base = far;
    CT_TRY(refresh(d, SECOND_STEP));
    if (d->t->cancelled) return CT_OK;
    CT_TRY(minimise_model(d, &predicted, &size));
    if (predicted > 0) CT_TRY(take_step(d, predicted, size));
    ct__tune_point *found = d->base;
    before.stop = d->stop;
    before.detours++;
    *d = before;
    d->model.base = d->base;
    move_to(d, found);
    return CT_OK;
}

static ct_status probe_flat(dfgn *d)
{
    ct__tune_point *best = NULL;
    d->probed = d->base->loss;
    CT_TRY(ct__flat_points(d->t, d->base, d->model.H, &best));
    note_stop(d);
    if (move_to(d, best) || d->stop || !best || d->detours || d->t->noise > 0 || d->used < d->t->trains) return CT_OK;
    return best->loss < NEARLY * d->base->loss ? step_from(d, best) : CT_OK;
}

/* Was the last Jacobian taken near the base, and at its loss? */
static int is_fresh(const dfgn *d)
{
    if (!(d->base->loss >= REFRESHED * d->fresh)) return 0; /* equal: a loss of 0 */
    for (int32_t i = 0; i < d->n; i++)
        if (fabs(d->base->x[i] - d->fresh_at->x[i]) > FRESH_WITHIN) return 0;
    return 1;
}

/* Residuals jump: no model holds at any distance. */
static ct_status end_among_jumps(dfgn *d)
{
    d->stop = CT_TUNE_STOP_STUCK;
    d->radius = 1;
    return minimise_model(d, &d->predicted, NULL);
}

/* One step, or a fresh Jacobian, or the end. */
static ct_status advance(dfgn *d)
{
    const ct_tune_options *o = &d->t->options;
    double predicted, size;
    CT_TRY(ct__renew_noise(d->t, d->base));
    if (d->t->cancelled) return CT_OK;
    if (d->surprises >= SURPRISES && !d->holds && d->looks < MOST_LOOKS && o->global) return look_elsewhere(d);
    if (d->jumps >= JUMPS && o->global) return end_among_jumps(d);
    CT_TRY(minimise_model(d, &predicted, &size));
    const double least = fmax(0.1 * o->relative * d->base->loss, NOISE * d->t->noise_loss);
    const int little = predicted <= least || d->small > 1, end = size <= o->step;
    if (little || end || d->bad > MOST_BAD) {
        if (o->global && (little || end) && !(d->base->loss >= REFRESHED * d->probed)) return probe_flat(d);
        if (!is_fresh(d)) return refresh(d, second_step(d));
        if (little) d->stop = d->t->noise_loss > o->relative * d->base->loss ? CT_TUNE_STOP_NOISE : CT_TUNE_STOP_LOSS;
        else if (end) return end_by_step(d, predicted, size);
        if (d->stop) return CT_OK;
    }
    return take_step(d, predicted, size);
}

/* More points around the base, one for each coordinate: up or down, at a distance at which its slope is above the
 * noise. Those that have no estimate are left out. */
static ct_status add_points(dfgn *d, int up)
{
    ct__tuner *t = d->t;
    int64_t    count = 0;
    for (int32_t k = 0; k < d->n && count < ct__points_left(t); k++) {
        const double slope = fmax(1e-300, d->model.H[k * d->n + k]);
        const double h = CT_MIN(FIRST_STEP, CT_MAX(SECOND_STEP, ABOVE_NOISE * sqrt(t->noise / slope)));
        if (ct__coordinates_held(&t->c, k)) continue;
        memcpy(d->x, d->base->x, (size_t)d->n * sizeof *d->x);
        const int room = up ? d->x[k] + h <= t->c.upper[k] : d->x[k] - h >= t->c.lower[k];
        d->x[k] += up == room ? h : -h;
        CT_TRY(ct__point_at(t, d->x, &d->first[count++]));
    }
    CT_TRY(ct__evaluate(t, count, d->first, CT__TRAIN, t->repeats));
    return CT_OK;
}

/* With noise the smallest loss is that of a lucky run, and steps from there fail for that alone: their radius says
 * little. So it begins anew. The minimum of the model and the base are run several times. What that tells refines the
 * model, so that its next minimum is a candidate, too. So do points on both sides of the base, as long as the model
 * promises more. */
static ct_status settle(dfgn *d)
{
    ct__tuner    *t = d->t;
    const int32_t repeats = ct__last_repeats(t);
    double predicted = INFINITY, size;
    d->radius = SETTLE_RADIUS;
    for (int round = 0; round < LAST_ROUNDS && t->noise > 0 && !t->cancelled; round++) {
        ct__tune_point *pair[2] = {d->base, NULL};
        if (round >= LEAST_ROUNDS && !(predicted > SETTLED * d->base->loss)) break;
        CT_TRY(minimise_model(d, &predicted, &size));
        if (round) CT_TRY(add_points(d, round % 2));
        if (t->cancelled) break;
        if (round) CT_TRY(minimise_model(d, &predicted, &size));
        for (int32_t i = 0; i < d->n; i++) d->x[i] = d->base->x[i] + d->s[i];
        CT_TRY(ct__point_at(t, d->x, &pair[1]));
        CT_TRY(ct__evaluate(t, 2, pair, CT__TRAIN, repeats));
        if (t->cancelled) break;
        const int gains = ct__is_done(pair[1]) && pair[1]->loss < d->base->loss;
        d->radius = gains ? SETTLE_RADIUS : 0.5 * size;
        if (gains) d->base = pair[1];
    }
    return CT_OK;
}

/* The first points, without those of coordinates that have no effect. */
static void take_first(dfgn *d)
{
    d->base = d->from;
    for (int32_t k = 0; k < d->n; k++)
        if (d->first[k] && !ct__coordinates_held(&d->t->c, k)) take_best(d, d->first[k]);
    d->fresh = INFINITY;
    d->radius = FIRST_RADIUS;
    note_stop(d);
}

/* ---- Few logs --------------------------------------------------------------------------------- */

/* What was put off until after the first step: is there noise, and which parameters have no effect? */
static ct_status examine(dfgn *d)
{
    ct__tuner *t = d->t;
    CT_TRY(complete_first(d));
    if (t->cancelled) return CT_OK;
    if (!t->noise_known) CT_TRY(ct__find_noise(t, d->base));
    t->phase = "search";
    return t->cancelled ? CT_OK : ct__find_effects(t, d->from, d->first);
}

/* The base on all logs. *gains 0: it is not the best by all of them. */
static ct_status confirm(dfgn *d, int *gains)
{
    const ct__tune_point *before = d->t->best;
    CT_TRY(ct__evaluate(d->t, 1, &d->base, CT__TRAIN_ALL, d->t->repeats));
    *gains = d->t->best != before || d->t->best == d->base;
    return CT_OK;
}

/* Among jumps: another search on the first log, from the best of some points of the whole bounds. */
static ct_status restart_pilot(dfgn *d, int *ends)
{
    ct__tuner      *t = d->t;
    ct__tune_point *best = NULL;
    if (!t->effects_known) CT_TRY(examine(d));
    if (t->cancelled || t->used_to > d->used) return CT_OK;
    CT_TRY(ct__coarse_points(t, &d->rng, d->base, &best));
    if (!best || t->cancelled) return CT_OK;
    *ends = 0;
    if (!d->rival || d->base->loss < d->rival->loss) d->rival = d->base;
    d->base = best;
    d->radius = FIRST_RADIUS;
    d->restarts++;
    d->jumps = 0;
    CT_TRY(refresh(d, FIRST_STEP));
    d->fresh = INFINITY;
    return CT_OK;
}

/* One step, or points far away. *ends 1: the logs that are used promise no more; 2: they do not stand for others. */
static ct_status advance_pilot(dfgn *d, int *ends)
{
    const ct__tune_point *before = d->base;
    ct__tuner *t = d->t;
    double predicted, size;
    int    gains = 1;
    CT_TRY(ct__renew_noise(t, d->base));
    if (t->cancelled) return CT_OK;
    if (d->surprises >= SURPRISES && !d->holds && d->looks < MOST_LOOKS && t->options.global) return look_elsewhere(d);
    CT_TRY(minimise_model(d, &predicted, &size));
    *ends = predicted <= fmax(PILOT_ENDS / d->used * d->base->loss, NOISE * t->noise_loss) || size <= t->options.step ||
            d->bad > MOST_BAD;
    if (*ends && t->options.global && d->used == ct__first_logs(t) && !(d->base->loss >= REFRESHED * d->probed)) {
        if (!t->effects_known) CT_TRY(examine(d)); /* it needs the first points, which change below */
        if (t->cancelled || t->used_to > d->used) return CT_OK;
        CT_TRY(probe_flat(d)); /* a plateau: cheaper on one log than later */
        if (t->cancelled) return CT_OK;
        if (d->base != before) {
            *ends = 0;
            return refresh(d, FIRST_STEP);
        }
    }
    if (*ends && d->jumps >= PILOT_JUMPS && d->restarts < RESTARTS && t->options.global && d->used == ct__first_logs(t))
        return restart_pilot(d, ends);
    if (*ends) return CT_OK;
    CT_TRY(take_step(d, predicted, size));
    if (d->bad) CT_TRY(complete_first(d));
    if (!d->confirmed && d->base != before && !t->cancelled) {
        CT_TRY(minimise_model(d, &predicted, NULL));
        if (predicted > CONFIRMED * d->base->loss && ++d->unconfirmed < UNCONFIRMED) return CT_OK;
        d->confirmed = 1;
        CT_TRY(confirm(d, &gains));
    }
    if (!t->cancelled && !t->effects_known) CT_TRY(examine(d));
    if (!gains || t->used_to > d->used) *ends = 2;
    return CT_OK;
}

/* More logs, and their Jacobians at the best point by all logs. */
static ct_status add_logs(dfgn *d, int all)
{
    ct__tuner    *t = d->t;
    const int32_t to = all ? t->trains : ct__more_logs(t, d->used);
    int gains;
    CT_TRY(confirm(d, &gains));
    if (t->cancelled) return CT_OK;
    d->base = t->best;
    ct__use_logs(t, to < t->trains ? d->used : 0, to); /* error bars and held-out logs need slopes near the minimum */
    CT_TRY(ct__first_points(t, d->base, gains ? second_step(d) : FIRST_STEP, d->first));
    ct__use_logs(t, 0, d->used = to);
    CT_TRY(ct__extend_noise(t, d->base));
    d->radius = gains ? 1 : FIRST_RADIUS;
    d->fresh = gains ? d->base->loss : INFINITY;
    d->fresh_at = d->base;
    d->probed = INFINITY;
    d->bad = d->small = 0;
    return CT_OK;
}

static ct_status run_pilot(dfgn *d)
{
    while (d->used < d->t->trains && d->stop == CT_TUNE_STOP_NONE) {
        int ends = 0;
        while (d->stop == CT_TUNE_STOP_NONE && !ends) {
            CT_TRY(advance_pilot(d, &ends));
            note_stop(d);
        }
        if (d->rival && d->used == ct__first_logs(d->t) && !(d->base->loss <= d->rival->loss)) d->base = d->rival;
        if (!d->t->cancelled && !d->t->effects_known) CT_TRY(examine(d));
        if (!d->t->cancelled) CT_TRY(add_logs(d, ends != 1));
        note_stop(d);
    }
    return CT_OK;
}

static ct_status run(dfgn *d)
{
    d->used = ct__first_logs(d->t);
    ct__use_logs(d->t, 0, d->used);
    d->t->put_off = d->used < d->t->trains && !d->t->effects_known ? put_off_one(d->t) : -1;
    CT_TRY(refresh(d, FIRST_STEP));
    if (d->t->cancelled) return CT_OK;
    if (d->used == d->t->trains) CT_TRY(ct__find_effects(d->t, d->from, d->first));
    take_first(d);
    CT_TRY(run_pilot(d));
    while (d->stop == CT_TUNE_STOP_NONE) {
        CT_TRY(advance(d));
        note_stop(d);
    }
    return settle(d);
}

ct_status ct__tune_dfgn(ct__tuner *t, ct__tune_point *from, ct__tune_point **answer, ct_tune_stop *stop)
{
    dfgn      d = {.t = t, .n = t->c.n, .from = from, .base = from, .radius = FIRST_RADIUS, .probed = INFINITY};
    d.rng = ct__rng_stream(t->options.seed, 5, 0);
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
