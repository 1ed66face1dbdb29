/* build_states.c: when states are made, and which sequence they belong to.
 *
 * A state exists where the odometry of its body is, and the truth, if there is one: not before their first stamps, not
 * after their last ones, not in a gap of the odometry. A sequence ends at a gap, or at the end of a segment; the states
 * of all bodies after that belong to the next. Where the first pose is to be known, the first state of a body in a
 * sequence is the first that has a truth. */
#include "recipe/build.h"

#include <math.h>

/* Is the channel, a function of time, there at t? */
static int is_there(const ct__channel *c, ct_ns t)
{
    const int begun = (c->has_cur && c->cur.stamp <= t) || (c->has_next && c->next.stamp <= t);
    return begun && (c->has_next || c->cur.stamp >= t);
}

static int is_possible(const ct__import *imp, int32_t b, ct_ns t)
{
    const ct__body *body = &imp->body[b];
    const ct__recipe_states *states = &imp->recipe->states;
    const double since = (double)(t - imp->base) * 1e-9;
    if (body->stuck || since < states->from_s || since > states->to_s) return 0;
    const ct__channel *motion = body->motion >= 0 ? &imp->channel[body->motion] : NULL;
    if (motion && !is_there(motion, t)) return 0;
    if (motion && motion->turn >= 0 && !is_there(&imp->channel[motion->turn], t)) return 0;
    if (body->truth >= 0 && !is_there(&imp->channel[body->truth], t)) return 0;
    return !ct__body_in_gap(imp, b, t);
}

/* ---- sequences ---- */

static int32_t states_in(const ct__open *open, int32_t b)
{
    int32_t n = 0;
    for (int32_t i = 0; i < open->states; i++) n += open->state[i].body == b;
    return n;
}

/* Does a state at t belong to a new sequence? */
static int is_new_segment(const ct__import *imp, const ct__open *open, int32_t b, ct_ns t)
{
    const ct__recipe_split *split = &imp->recipe->split;
    if (imp->cut) return 1;
    if (split->segment_s > 0) {
        const ct_ns length = CT_MAX((ct_ns)llround(split->segment_s * 1e9), 1);
        return (t - imp->begin) / length > (open->begin - imp->begin) / length;
    }
    if (split->segment_states <= 0) return 0;
    return (imp->bodies == 1 ? open->states : states_in(open, b)) >= split->segment_states;
}

/* The sequence of a new state. The one before it stays open until all bodies have left it: measurements that wait may
 * still belong to its last states. */
static ct_status open_for(ct__import *imp, int32_t b, ct_ns t, ct__open **open)
{
    *open = imp->opens ? imp->open[imp->opens - 1] : NULL;
    if (*open && !is_new_segment(imp, *open, b, t)) return CT_OK;
    if (*open && imp->cut) (*open)->broken = 1;
    if (imp->opens == 2) CT_TRY(ct__opens_finish_first(imp));
    imp->cut = 0;
    return ct__open_new(imp, t, open);
}

static ct_status finish_left(ct__import *imp)
{
    if (imp->opens < 2) return CT_OK;
    for (int32_t b = 0; b < imp->bodies; b++)
        if (imp->body[b].started && imp->body[b].open == imp->open[0]->number) return CT_OK;
    return ct__opens_finish_first(imp);
}

/* ---- one state ---- */

unsigned ct__truth_known(const ct__import *imp, const ct__channel *c)
{
    const ct__list *known = &imp->recipe->truth.known;
    const int dim = ct_kind_dim(imp->kind), first = imp->kind == CT_SE2 ? 0 : 3; /* of the position */
    const int n = c->role[CT__ROLE_MATRIX].count     ? 3
                  : c->role[CT__ROLE_GEODETIC].count ? c->role[CT__ROLE_GEODETIC].count
                                                     : c->role[CT__ROLE_POSITION].count;
    unsigned bits = 0, wanted = 0;
    for (int i = 0; i < n && first + i < dim; i++) bits |= 1u << (first + i);
    if (imp->kind == CT_SE2) bits &= 3u;
    if (c->rotates) bits |= imp->kind == CT_SE2 ? 4u : 7u;
    for (int32_t i = 0; i < known->count; i++) {
        const int k = ct_kind_find_coordinate(imp->kind, known->item[i].text);
        if (k >= 0) wanted |= 1u << k;
    }
    return known->count ? bits & wanted : bits;
}

/* 1 if the first state of a sequence needs a truth. */
static int needs_truth(const ct__import *imp, int32_t b)
{
    return imp->body[b].truth >= 0 && imp->recipe->anchor != CT__ANCHOR_NONE;
}

/* The first end on state `number` or a later one; ends are sorted. */
static int64_t first_numbered(const ct__import *imp, int64_t number)
{
    int64_t low = 0, high = imp->numbereds;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (imp->numbered[middle].stamp < number) low = middle + 1;
        else high = middle;
    }
    return low;
}

static ct_status visit_numbered(ct__import *imp, int32_t b, int32_t open, int32_t state)
{
    const int64_t number = imp->body[b].states;
    for (int64_t i = first_numbered(imp, number); i < imp->numbereds && imp->numbered[i].stamp == number; i++) {
        const ct__visit *v = &imp->numbered[i];
        ct__relative    *r = &imp->relative[v->relative];
        if (r->end[v->end].body != b) continue;
        r->end[v->end] = (ct__end){.body = b, .done = 1, .moved = ct_se3_identity(), .open = open, .state = state};
        if (r->end[0].done && r->end[1].done) CT_TRY(ct__factor_of_relative(imp, r));
    }
    return CT_OK;
}

static ct_status add_state(ct__import *imp, int32_t b, ct_ns t, ct__state_row *row)
{
    ct__body *body = &imp->body[b];
    ct__open *open;
    int32_t state;
    CT_TRY(open_for(imp, b, t, &open));
    CT_TRY(ct__open_add_state(imp, open, row, &state));
    if (body->started && body->open == open->number) CT_TRY(ct__factors_of_step(imp, b, t, open, body->state, state));
    CT_TRY(ct__pending_resolve(imp, b, t, open->number, state));
    if (imp->numbereds) CT_TRY(visit_numbered(imp, b, open->number, state));
    body->before = body->last;
    body->has_before = body->started;
    body->started = 1;
    body->last = t;
    body->open = open->number;
    body->state = state;
    body->states++;
    ct__body_restart(imp, b);
    return finish_left(imp);
}

ct_status ct__state_make(ct__import *imp, int32_t b, ct_ns t)
{
    ct__body *body = &imp->body[b];
    ct__state_row row = {.body = b, .stamp = t, .value = ct_se3_identity()};
    if (body->started && t <= body->last) return CT_OK;
    ct__body_advance(imp, b, t);
    if (!is_possible(imp, b, t)) return CT_OK;
    if (body->motion >= 0 && body->started && imp->channel[body->motion].covered_from > body->last) {
        CT_TRY(ct__pending_close(imp, b));
        imp->cut = 1;
    }
    row.truth = ct__truth_at(imp, b, t, &row.value);
    if (row.truth) {
        row.rotates = imp->channel[body->truth].rotates;
        row.known = ct__truth_known(imp, &imp->channel[body->truth]);
    }
    if (!row.truth && needs_truth(imp, b)) {
        const ct__open *last = imp->opens ? imp->open[imp->opens - 1] : NULL;
        const int begins = !body->started || !last || body->open != last->number || is_new_segment(imp, last, b, t);
        if (begins && body->started) CT_TRY(ct__pending_close(imp, b));
        if (begins) return CT_OK;
    }
    return add_state(imp, b, t, &row);
}

/* ---- when ---- */

static ct_ns grid_time(const ct__import *imp, int64_t k)
{
    const double since = (double)k * imp->recipe->states.every_s * 1e9;
    return since < 9e18 - fabs((double)imp->begin) ? imp->begin + (ct_ns)llround(since) : INT64_MAX;
}

/* The time of the next state of a body. It is asked for at every record, and changes with every state. */
static ct_ns next_on_grid(const ct__import *imp, ct__body *body)
{
    if (body->grid_of != body->grid) {
        body->grid_of = body->grid;
        body->grid_stamp = grid_time(imp, body->grid);
    }
    return body->grid_stamp;
}

/* The first place of the grid at or after t. */
static int64_t grid_after(const ct__import *imp, ct_ns t)
{
    const double every = imp->recipe->states.every_s * 1e9;
    int64_t k = (int64_t)fmax(0, floor((double)(t - imp->begin) / every) - 1);
    while (grid_time(imp, k) < t) k++;
    return k;
}

/* Has the channel no record at t or after it? */
static int is_past(const ct__channel *c, ct_ns t) { return !c->has_next && (!c->has_cur || t > c->cur.stamp); }

/* Leap over a gap, which may be long: from one day to another in one file. */
static void skip_gap(ct__import *imp, int32_t b, ct_ns t)
{
    ct__body *body = &imp->body[b];
    const ct__channel *c = body->motion >= 0 ? &imp->channel[body->motion] : NULL;
    const ct__channel *turn = c && c->turn >= 0 ? &imp->channel[c->turn] : NULL;
    const ct_ns at = next_on_grid(imp, body);
    if (c && ct__body_in_gap(imp, b, at))
        body->grid = grid_after(imp, ct__gap_end(imp, b, at));
    else if ((c && is_past(c, at)) || (turn && is_past(turn, at)))
        body->grid = INT64_MAX;
    else if (!c && (double)t - (double)imp->previous > imp->recipe->states.gap_s * 1e9 && at > imp->previous &&
             at < t) {
        body->grid = grid_after(imp, t);
        imp->cut = imp->opens > 0;
    }
}

#define LEAP_MAX 1000000 /* states between two records: more is a mistake in units or a jump */

static ct_status grid_until(ct__import *imp, ct_ns t)
{
    for (int64_t made = 0;; made++) {
        if (made > LEAP_MAX)
            return ct_fail(imp->err, CT_E_LIMIT,
                           "%s:%d: states: every %g s there would be more than %d states between two records, after "
                           "%.6f s",
                           imp->recipe->name, imp->recipe->states.line, imp->recipe->states.every_s, LEAP_MAX,
                           (double)imp->previous * 1e-9);
        int32_t first = -1;
        for (int32_t b = 0; b < imp->bodies; b++) {
            if (imp->body[b].grid < INT64_MAX) skip_gap(imp, b, t);
            if (imp->body[b].grid < INT64_MAX && (first < 0 || imp->body[b].grid < imp->body[first].grid)) first = b;
        }
        if (first < 0 || next_on_grid(imp, &imp->body[first]) > t) return CT_OK;
        CT_TRY(ct__state_make(imp, first, next_on_grid(imp, &imp->body[first])));
        imp->body[first].grid++;
    }
}

/* By distance or turn: within a record's interval both grow linearly. */
static ct_status distance_until(ct__import *imp, int32_t b, ct_ns t)
{
    const ct__recipe_states *states = &imp->recipe->states;
    ct__body *body = &imp->body[b];
    if (body->motion < 0) return CT_OK;
    ct__channel *c = &imp->channel[body->motion];
    for (int64_t made = 0;; made++) {
        double    u[6];
        const int moves = ct__channel_twist(imp, c, u);
        if (!body->started && is_possible(imp, b, imp->begin) && imp->begin <= t && imp->begin >= body->now)
            CT_TRY(ct__state_make(imp, b, imp->begin));
        if (!body->started && c->has_cur && c->cur.stamp >= imp->begin) CT_TRY(ct__state_make(imp, b, body->now));
        if (!body->started || !moves || ct__body_in_gap(imp, b, t)) return CT_OK;
        const double speed = sqrt(u[3] * u[3] + u[4] * u[4] + u[5] * u[5]);
        const double rate = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
        const double by_way = speed > 0 ? (states->distance_m - c->length_m) / speed : INFINITY;
        const double by_turn =
            rate > 0 && isfinite(states->turn_rad) ? (states->turn_rad - c->turn_rad) / rate : INFINITY;
        const double wait = fmax(fmin(by_way, by_turn), 0) * 1e9;
        if (!(wait <= (double)(t - body->now))) return CT_OK;
        const ct_ns at = CT_MAX(body->now + (ct_ns)llround(wait), body->last + 1);
        if (at > t) return CT_OK;
        if (made > LEAP_MAX)
            return ct_fail(imp->err, CT_E_LIMIT,
                           "%s:%d: sensor %s moves %.6g m/s after %.6f s: more than %d states between two records",
                           imp->recipe->name, states->line, c->sensor->name, speed, (double)c->cur.stamp * 1e-9,
                           LEAP_MAX);
        CT_TRY(ct__state_make(imp, b, at));
        if (body->last != at) return CT_OK; /* none is possible here */
    }
}

ct_status ct__states_until(ct__import *imp, ct_ns t)
{
    if (imp->recipe->states.by == CT__STATES_EVERY) return grid_until(imp, t);
    if (imp->recipe->states.by == CT__STATES_AT) return CT_OK;
    for (int32_t b = 0; b < imp->bodies; b++) CT_TRY(distance_until(imp, b, t));
    return CT_OK;
}
