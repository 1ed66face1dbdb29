/* build_motion.c: motion of a body from odometry, as time passes.
 *
 * Between two records the body has a constant velocity u (a twist): that of the earlier record for velocities (zero-
 * order hold), Log(step) / duration for increments and differences of poses. Over a part of that time it moves by
 * Exp(u dt), so an interval that a state divides is divided on the group, in proportion to time. The motion since
 * the last state is the product of these. Nothing is stored but that product. */
#include "recipe/build.h"

#include <math.h>

/* The channel that has the turns of an odometry; NULL: it has them itself. */
static const ct__channel *turn_of(const ct__import *imp, const ct__channel *c)
{
    return c->motion && c->turn >= 0 ? &imp->channel[c->turn] : NULL;
}

static int has_gap(const ct__import *imp, const ct__channel *c)
{
    return c->has_cur && c->has_next && (double)c->next.stamp - (double)c->cur.stamp > (double)imp->gap;
}

int ct__channel_twist(const ct__import *imp, const ct__channel *c, double twist[6])
{
    const ct__channel *turn = turn_of(imp, c);
    if (!c->has_cur || !c->has_next || c->turn == CT__TURN_MISSING) return 0;
    memcpy(twist, c->motion == CT__MOTION_VELOCITY ? c->cur.value : c->next.twist, 6 * sizeof *twist);
    if (!turn) return 1;
    if (!turn->has_cur || !turn->has_next) return 0;
    ct__join_turns(imp, c, turn->rates == CT__MOTION_VELOCITY ? turn->cur.value : turn->next.twist, twist);
    return 1;
}

static void advance_channel(const ct__import *imp, ct__channel *c, ct_ns from, ct_ns to)
{
    const ct__channel *turn = turn_of(imp, c);
    double twist[6];
    if (has_gap(imp, c) || (turn && has_gap(imp, turn)) || !ct__channel_twist(imp, c, twist)) {
        c->covered_from = to;
        return;
    }
    const double dt = (double)(to - from) * 1e-9;
    c->moved = ct_se3_compose(c->moved, ct__exp_part(twist, dt), NULL, NULL);
    for (int i = 0; i < 6; i++) c->sum[i] += twist[i] * dt;
    c->length_m += dt * sqrt(twist[3] * twist[3] + twist[4] * twist[4] + twist[5] * twist[5]);
    c->turn_rad += dt * sqrt(twist[0] * twist[0] + twist[1] * twist[1] + twist[2] * twist[2]);
    c->step_regime = c->motion == CT__MOTION_VELOCITY ? c->cur.regime : c->next.regime;
    ct__features_advance(c, c->motion == CT__MOTION_VELOCITY ? c->cur.feature : c->next.feature, dt);
}

void ct__body_advance(ct__import *imp, int32_t b, ct_ns t)
{
    ct__body *body = &imp->body[b];
    if (t <= body->now) return;
    for (int32_t i = 0; i < imp->channels; i++)
        if (imp->channel[i].body == b && imp->channel[i].motion) advance_channel(imp, &imp->channel[i], body->now, t);
    body->now = t;
}

void ct__body_restart(ct__import *imp, int32_t b)
{
    for (int32_t i = 0; i < imp->channels; i++) {
        ct__channel *c = &imp->channel[i];
        if (c->body != b) continue;
        c->moved = ct_se3_normalize(ct_se3_identity());
        c->length_m = c->turn_rad = 0;
        memset(c->sum, 0, sizeof c->sum);
        memset(c->feature_sum, 0, sizeof c->feature_sum);
        memset(c->feature_s, 0, sizeof c->feature_s);
    }
}

ct_se3 ct__body_moved(const ct__import *imp, int32_t b)
{
    const int32_t m = imp->body[b].motion;
    return m < 0 ? ct_se3_identity() : ct_se3_normalize(imp->channel[m].moved);
}

ct_ns ct__gap_end(const ct__import *imp, int32_t b, ct_ns t)
{
    const int32_t m = imp->body[b].motion;
    const ct__channel *part[2] = {m < 0 ? NULL : &imp->channel[m], m < 0 ? NULL : turn_of(imp, &imp->channel[m])};
    ct_ns end = t;
    for (int i = 0; i < 2; i++)
        if (part[i] && has_gap(imp, part[i]) && t > part[i]->cur.stamp && t < part[i]->next.stamp)
            end = CT_MAX(end, part[i]->next.stamp);
    return end;
}

int ct__body_in_gap(const ct__import *imp, int32_t b, ct_ns t)
{
    return ct__gap_end(imp, b, t) != t;
}

void ct__channel_take(ct__import *imp, ct__channel *c)
{
    if (has_gap(imp, c) && (c->motion || c->rates)) {
        ct__seen *seen = &imp->seen[c->number];
        const double length = (double)(c->next.stamp - c->cur.stamp) * 1e-9;
        seen->gaps++;
        seen->longest_gap_s = fmax(seen->longest_gap_s, length);
    }
    if (!c->has_cur) c->covered_from = c->next.stamp;
    c->cur = c->next;
    c->has_cur = 1;
    c->has_next = 0;
}

/* ---- truth ---- */

/* Position linear, rotation along the shortest arc. */
static ct_se3 interpolate(ct_se3 a, ct_se3 b, double u)
{
    double w[3];
    const double t[3] = {a.x + u * (b.x - a.x), a.y + u * (b.y - a.y), a.z + u * (b.z - a.z)};
    ct_so3_log(ct_so3_between(ct_se3_rotation(a), ct_se3_rotation(b), NULL, NULL), w);
    for (int i = 0; i < 3; i++) w[i] *= u;
    return ct_se3_make(t, ct_so3_normalize(ct_so3_compose(ct_se3_rotation(a), ct_so3_exp(w), NULL, NULL)));
}

int ct__truth_at(const ct__import *imp, int32_t b, ct_ns t, ct_se3 *pose)
{
    const ct__recipe_truth *truth = &imp->recipe->truth;
    if (imp->body[b].truth < 0) return 0;
    const ct__channel *c = &imp->channel[imp->body[b].truth];
    if (c->has_cur && c->cur.stamp == t)
        *pose = ct__sample_pose(imp, c, &c->cur);
    else if (c->has_next && c->next.stamp == t)
        *pose = ct__sample_pose(imp, c, &c->next);
    else if (!c->has_cur || !c->has_next || c->cur.stamp > t)
        return 0;
    else {
        const double dt = (double)(c->next.stamp - c->cur.stamp) * 1e-9, u = (double)(t - c->cur.stamp) * 1e-9 / dt;
        if (dt > truth->gap_s) return 0;
        if (truth->nearest)
            *pose = ct__sample_pose(imp, c, u <= 0.5 ? &c->cur : &c->next);
        else
            *pose = interpolate(ct__sample_pose(imp, c, &c->cur), ct__sample_pose(imp, c, &c->next), u);
    }
    return 1;
}
