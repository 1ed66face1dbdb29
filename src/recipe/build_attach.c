/* build_attach.c: measurements between states.
 *
 * A measurement at time t waits for the next state of its body. Then it belongs to the nearer one of the two. The
 * motion of the body from that state to t, by the odometry, is part of the sensor's pose: with M from the last state
 * to t and D from the last state to the next, it is M for the last one and D^-1 M for the next.
 *
 * Before the first state and after the last one, a measurement belongs to it within half the time to its neighbour. */
#include "recipe/build.h"

#include <math.h>

/* Waiting measurements. A robot that stands still for hours makes no state by distance; then they go to the last state,
 * with the motion since. */
#define PENDING_MAX 65536

static const ct__recipe_sensor *sensor_of(const ct__import *imp, const ct__pending *p)
{
    return imp->channel[p->channel].sensor;
}

/* ---- adding ---- */

static ct__end end_of(const ct__import *imp, const ct__recipe_sensor *sensor, int32_t b)
{
    const int with_motion = sensor->attach == CT__ATTACH_MOTION;
    return (ct__end){.body = b,
                     .moved = with_motion ? ct__body_moved(imp, b) : ct_se3_identity(),
                     .early = !imp->body[b].started,
                     .open = -1,
                     .state = -1};
}

static ct_status push(ct__import *imp, const ct__pending *p)
{
    CT_TRY(ct__grow(&imp->pending, &imp->pending_capacity, imp->pendings + 1, sizeof *imp->pending, "measurements",
                    imp->err));
    imp->pending[imp->pendings++] = *p;
    return CT_OK;
}

static void drop(ct__import *imp, const ct__pending *p, ct_drop why)
{
    if (p->relative >= 0)
        ct__relative_drop(imp, &imp->relative[p->relative], why);
    else
        ct__channel_drop(imp, &imp->channel[p->channel], why, 1);
}

/* All ends have their state: make the factor. */
static ct_status complete(ct__import *imp, const ct__pending *p)
{
    if (p->relative >= 0) {
        ct__relative *r = &imp->relative[p->relative];
        r->end[p->relative_end] = p->end[0];
        return r->end[0].done && r->end[1].done ? ct__factor_of_relative(imp, r) : CT_OK;
    }
    if (p->ends == 2 && p->end[0].open != p->end[1].open) {
        drop(imp, p, CT_DROP_OUTSIDE);
        return CT_OK;
    }
    return ct__factor_of_pending(imp, p);
}

/* Room for more: to the last state, or, before the first one, the older half is outside. */
static ct_status relieve(ct__import *imp)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < imp->pendings; i++) {
        ct__pending *p = &imp->pending[i];
        int late = 1;
        for (int k = 0; k < p->ends; k++)
            late &= p->end[k].done || (!p->end[k].early && imp->body[p->end[k].body].started);
        for (int k = 0; late && k < p->ends; k++) {
            ct__end *e = &p->end[k];
            if (e->done) continue;
            e->done = 1;
            e->open = imp->body[e->body].open;
            e->state = imp->body[e->body].state;
        }
        if (late)
            CT_TRY(complete(imp, p));
        else if (i < imp->pendings / 2)
            drop(imp, p, CT_DROP_OUTSIDE);
        else
            imp->pending[kept++] = *p;
    }
    imp->pendings = kept;
    return CT_OK;
}

static int in_gap(const ct__import *imp, const ct__pending *p)
{
    for (int k = 0; k < p->ends; k++)
        if (ct__body_in_gap(imp, p->end[k].body, p->stamp)) return 1;
    return 0;
}

ct_status ct__pending_add(ct__import *imp, int32_t channel)
{
    const ct__channel *c = &imp->channel[channel];
    ct__pending p = {.stamp = c->cur.stamp, .channel = channel, .sample = c->cur, .ends = 1, .relative = -1};
    p.end[0] = end_of(imp, c->sensor, c->body);
    if (c->role[CT__ROLE_TO_BODY].count) p.end[p.ends++] = end_of(imp, c->sensor, c->cur.target);
    if (in_gap(imp, &p)) {
        drop(imp, &p, CT_DROP_GAP);
        return CT_OK;
    }
    if (imp->pendings >= PENDING_MAX) CT_TRY(relieve(imp));
    return push(imp, &p);
}

ct_status ct__pending_visit(ct__import *imp, const ct__visit *visit)
{
    const ct__relative *r = &imp->relative[visit->relative];
    const ct__channel *c = &imp->channel[r->channel];
    ct__pending p = {.stamp = visit->stamp,
                     .channel = r->channel,
                     .ends = 1,
                     .relative = visit->relative,
                     .relative_end = visit->end};
    p.end[0] = end_of(imp, c->sensor, r->end[visit->end].body);
    if (in_gap(imp, &p)) {
        drop(imp, &p, CT_DROP_GAP);
        return CT_OK;
    }
    if (imp->pendings >= PENDING_MAX) CT_TRY(relieve(imp));
    return push(imp, &p);
}

/* ---- resolving ---- */

static double seconds(ct_ns a, ct_ns b) { return fabs((double)(b - a)) * 1e-9; }

/* 1 if the state at `at` is near enough; of an end of a chain, `neighbour` is the other state. */
static int is_near(const ct__import *imp, const ct__pending *p, ct_ns at, int outside, ct_ns neighbour)
{
    const double tolerance = sensor_of(imp, p)->tolerance_s;
    if (!isnan(tolerance)) return seconds(p->stamp, at) <= tolerance;
    return !outside || seconds(p->stamp, at) <= seconds(at, neighbour) / 2;
}

typedef struct {
    int32_t b, open, state;
    ct_ns t;
    ct_se3 back; /* D^-1 */
} arrival;

/* *why <- -1, or why the measurement is dropped. */
static void resolve_end(const ct__import *imp, const ct__pending *p, ct__end *e, const arrival *a, int *why)
{
    const ct__body *body = &imp->body[a->b];
    const int with_motion = sensor_of(imp, p)->attach == CT__ATTACH_MOTION;
    if (!body->started) { /* the first state: it comes later than the measurement, and how far is yet to be known */
        if (with_motion) e->moved = ct_se3_compose(a->back, e->moved, NULL, NULL);
        e->open = a->open;
        e->state = a->state;
        e->early = 1;
        return;
    }
    e->done = 1;
    if (e->early) {
        if (!is_near(imp, p, body->last, 1, a->t)) *why = CT_DROP_OUTSIDE;
        return;
    }
    const int later = a->t - p->stamp < p->stamp - body->last;
    const ct_ns at = later ? a->t : body->last;
    if (later && with_motion) e->moved = ct_se3_compose(a->back, e->moved, NULL, NULL);
    e->open = later ? a->open : body->open;
    e->state = later ? a->state : body->state;
    if (!is_near(imp, p, at, 0, at)) *why = CT_DROP_FAR;
}

static int is_complete(const ct__pending *p) { return p->end[0].done && (p->ends == 1 || p->end[1].done); }

/* A measurement whose ends were looked at: dropped, made a factor, or kept waiting. */
static ct_status settle(ct__import *imp, const ct__pending *p, int why, int64_t *kept)
{
    if (why < 0 && is_complete(p)) return complete(imp, p);
    if (why < 0) imp->pending[(*kept)++] = *p;
    else drop(imp, p, (ct_drop)why);
    return CT_OK;
}

/* After a failure: what was not looked at stays. */
static void keep_rest(ct__import *imp, int64_t from, int64_t kept)
{
    for (int64_t i = from; i < imp->pendings; i++) imp->pending[kept++] = imp->pending[i];
    imp->pendings = kept;
}

ct_status ct__pending_resolve(ct__import *imp, int32_t b, ct_ns t, int32_t open, int32_t state)
{
    const arrival a = {b, open, state, t, ct_se3_inverse(ct__body_moved(imp, b), NULL)};
    int64_t kept = 0, i = 0;
    ct_status status = CT_OK;
    for (; status == CT_OK && i < imp->pendings; i++) {
        ct__pending *p = &imp->pending[i];
        int why = -1;
        for (int k = 0; k < p->ends; k++)
            if (p->end[k].body == b && !p->end[k].done) resolve_end(imp, p, &p->end[k], &a, &why);
        status = settle(imp, p, why, &kept);
    }
    keep_rest(imp, i, kept);
    return status;
}

ct_status ct__pending_close(ct__import *imp, int32_t b)
{
    ct__body *body = &imp->body[b];
    int64_t kept = 0, i = 0;
    ct_status status = CT_OK;
    for (; status == CT_OK && i < imp->pendings; i++) {
        ct__pending *p = &imp->pending[i];
        int why = -1;
        for (int k = 0; k < p->ends; k++) {
            ct__end *e = &p->end[k];
            if (e->body != b || e->done) continue;
            const int alone = isnan(sensor_of(imp, p)->tolerance_s) && !body->has_before;
            if (!body->started || alone || !is_near(imp, p, body->last, 1, body->before)) why = CT_DROP_OUTSIDE;
            e->done = 1;
            e->open = body->open;
            e->state = body->state;
        }
        status = settle(imp, p, why, &kept);
    }
    keep_rest(imp, i, kept);
    body->started = body->has_before = 0;
    ct__body_restart(imp, b);
    return status;
}
