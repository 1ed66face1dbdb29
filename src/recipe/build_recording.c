/* build_recording.c: one recording, from its first record to its last. */
#include "recipe/build.h"

#include <math.h>

/* ---- beginning ---- */

static ct_ns later_of(ct_ns a, ct_ns b) { return a > b ? a : b; }

/* First stamp of the recording, and the first at which states can be: every body has its odometry and its truth. */
static void find_begin(ct__import *imp)
{
    int any = 0;
    imp->base = 0;
    for (int32_t k = 0; k < imp->streams; k++) {
        const ct__stream *s = &imp->stream[k];
        if (s->ended) continue;
        if (!any || s->stamp < imp->base) imp->base = s->stamp;
        any = 1;
    }
    imp->begin = imp->previous = imp->base;
    const double from = imp->recipe->states.from_s;
    if (from > 0 && from < 9e9) imp->begin += (ct_ns)llround(from * 1e9);
    for (int32_t i = 0; i < imp->channels; i++) {
        const ct__channel *c = &imp->channel[i];
        const int32_t m = imp->body[c->body].motion;
        const int decides = m == i || (m >= 0 && imp->channel[m].turn == i) || imp->body[c->body].truth == i;
        if (decides && c->has_next) imp->begin = later_of(imp->begin, c->next.stamp);
    }
    for (int32_t b = 0; b < imp->bodies; b++) imp->body[b].now = imp->base, imp->body[b].grid_of = -1;
}

static ct_status begin(ct__import *imp)
{
    const ct_recipe *recipe = imp->recipe;
    imp->gap = recipe->states.gap_s < 9e9 ? (ct_ns)llround(recipe->states.gap_s * 1e9) : INT64_MAX;
    imp->points = ct__zalloc(recipe->landmarks, sizeof *imp->points);
    if (!imp->points) return ct__no_memory(imp->err, "landmarks", recipe->landmarks);
    for (int32_t i = 0; i < recipe->landmarks; i++)
        CT_TRY(ct__points_read(recipe, &imp->plan, i, imp->r, &imp->points[i], imp->err));
    CT_TRY(ct__channels_make(imp));
    CT_TRY(ct__streams_make(imp));
    CT_TRY(ct__relatives_read(imp));
    for (int32_t k = 0; k < imp->streams; k++) CT_TRY(ct__stream_advance(imp, &imp->stream[k]));
    find_begin(imp);
    return CT_OK;
}

static void end(ct__import *imp)
{
    ct__streams_free(imp);
    ct__channels_free(imp);
    for (int32_t i = 0; imp->points && i < imp->recipe->landmarks; i++) ct__points_free(&imp->points[i]);
    free(imp->points);
    imp->points = NULL;
    for (int32_t i = 0; i < imp->opens; i++) ct__open_free(imp->open[i]);
    imp->opens = imp->segments = imp->cut = 0;
    imp->pendings = imp->relatives = imp->visits = imp->visit_at = imp->numbereds = 0;
}

/* ---- the present ---- */

/* The record of a stream at the present. */
static ct_status process(ct__import *imp, ct__stream *s)
{
    for (int32_t i = 0; i < s->channels; i++) {
        ct__channel *c = &imp->channel[s->channel[i]];
        if (!c->has_next) continue;
        ct__body_advance(imp, c->body, s->stamp);
        if (imp->body[c->body].at == s->channel[i]) CT_TRY(ct__state_make(imp, c->body, s->stamp));
        ct__channel_take(imp, c);
        if (c->steady) continue;
        if (c->role[CT__ROLE_TO_BODY].count) ct__body_advance(imp, c->cur.target, s->stamp);
        CT_TRY(ct__pending_add(imp, s->channel[i]));
    }
    imp->previous = s->stamp;
    return ct__stream_advance(imp, s);
}

static ct_status visit(ct__import *imp)
{
    const ct__visit *v = &imp->visit[imp->visit_at++];
    const int32_t b = imp->relative[v->relative].end[v->end].body;
    if (v->stamp >= imp->body[b].now) {
        ct__body_advance(imp, b, v->stamp);
        return ct__pending_visit(imp, v);
    }
    ct__relative_drop(imp, &imp->relative[v->relative], CT_DROP_OUTSIDE);
    return CT_OK;
}

/* Behind the interval of the recipe nothing is made of the records. */
static int is_over(const ct__import *imp, ct_ns t)
{
    const ct__recipe_states *states = &imp->recipe->states;
    const double rest = (double)(t - imp->base) * 1e-9 - states->to_s;
    return rest > fmax(states->every_s, 1);
}

static ct_status run(ct__import *imp)
{
    for (;;) {
        ct__stream *s = ct__streams_first(imp);
        const int visits = imp->visit_at < imp->visits;
        if (!s) break;
        const ct_ns t =
            visits && imp->visit[imp->visit_at].stamp < s->stamp ? imp->visit[imp->visit_at].stamp : s->stamp;
        if (is_over(imp, t)) break;
        CT_TRY(ct__states_until(imp, t));
        if (t < s->stamp)
            CT_TRY(visit(imp));
        else
            CT_TRY(process(imp, s));
    }
    while (imp->visit_at < imp->visits) CT_TRY(visit(imp));
    return CT_OK;
}

static ct_status finish(ct__import *imp)
{
    for (int32_t b = 0; b < imp->bodies; b++) CT_TRY(ct__pending_close(imp, b));
    for (int64_t i = 0; i < imp->pendings; i++)
        if (imp->pending[i].relative < 0)
            ct__channel_drop(imp, &imp->channel[imp->pending[i].channel], CT_DROP_OUTSIDE, 1);
    imp->pendings = 0;
    ct__relatives_close(imp);
    ct__streams_close(imp);
    while (imp->opens) CT_TRY(ct__opens_finish_first(imp));
    CT_TRY(ct__result_recording(imp));
    const int none = !imp->sink.count || imp->sink.item[imp->sink.count - 1].of != imp->r;
    return none ? ct__result_empty(imp) : CT_OK;
}

ct_status ct__recording_import(ct__import *imp)
{
    ct_status status = begin(imp);
    if (status == CT_OK) status = run(imp);
    if (status == CT_OK) status = finish(imp);
    end(imp);
    return status;
}
