/* build_relative.c: relative poses between states that may lie far apart in time: loop closures.
 *
 * Their records are read before the recording, because a record of a loop tells of times in the past. They are few.
 * Each has two ends: a body at a time, or a numbered state of a body. Ends are visited as time passes, like
 * measurements. */
#include "recipe/build.h"

#include <math.h>

void ct__relative_drop(ct__import *imp, ct__relative *r, ct_drop why)
{
    if (!r->gone) ct__channel_drop(imp, &imp->channel[r->channel], why, 1);
    r->gone = 1;
}

void ct__relatives_close(ct__import *imp)
{
    for (int64_t i = 0; i < imp->relatives; i++) ct__relative_drop(imp, &imp->relative[i], CT_DROP_OUTSIDE);
}

static int by_stamp(const void *a, const void *b)
{
    const ct__visit *x = a, *y = b;
    if (x->stamp != y->stamp) return x->stamp < y->stamp ? -1 : 1;
    return x->relative < y->relative ? -1 : x->relative > y->relative;
}

static ct_status add_visit(ct__import *imp, int by_index, ct_ns stamp, int end)
{
    ct__visit **list = by_index ? &imp->numbered : &imp->visit;
    int64_t *count = by_index ? &imp->numbereds : &imp->visits;
    CT_TRY(ct__grow(list, by_index ? &imp->numbered_capacity : &imp->visit_capacity, *count + 1, sizeof **list,
                    "relative poses", imp->err));
    (*list)[(*count)++] = (ct__visit){stamp, imp->relatives - 1, end};
    return CT_OK;
}

/* Time or number of an end; 0: it is none. */
static int take_end(const ct__channel *c, const ct_record *record, ct__role role, ct_ns *stamp)
{
    const double v = record->value[c->place[role][0]];
    if (c->sensor->index) {
        if (!(v >= 0 && v < 1e15)) return 0;
        *stamp = (ct_ns)llround(v);
        return 1;
    }
    if (!(fabs(v) < 9e9)) return 0;
    *stamp = (ct_ns)llround(v * 1e9) + (ct_ns)llround(c->corrected.delay_s * 1e9);
    return 1;
}

static ct_status take_record(ct__import *imp, int32_t channel, const ct_record *record, ct_drop *why, int *dropped)
{
    ct__channel *c = &imp->channel[channel];
    ct_ns from, to;
    ct_se3 raw;
    *dropped = 1;
    *why = CT_DROP_CONDITION;
    if (c->where >= 0 && !(record->value[c->where] == 1)) return CT_OK;
    if (c->sensor->every > 1 && c->seen++ % c->sensor->every) return CT_OK;
    *why = CT_DROP_MISSING;
    if (!take_end(c, record, CT__ROLE_FROM, &from) || !take_end(c, record, CT__ROLE_TO, &to)) return CT_OK;
    const int bad = ct__sample_raw_pose(imp, c, record, &raw);
    if (bad >= 0) {
        *why = (ct_drop)bad;
        return CT_OK;
    }
    CT_TRY(ct__grow(&imp->relative, &imp->relative_capacity, imp->relatives + 1, sizeof *imp->relative,
                    "relative poses", imp->err));
    imp->relative[imp->relatives++] = (ct__relative){
        .channel = channel,
        .stamp = record->stamp,
        .pose = ct__relative_pose(imp, c, raw),
        .regime = c->role[CT__ROLE_REGIME].count ? record->value[c->place[CT__ROLE_REGIME][0]] : NAN,
        .end = {{.body = c->body}, {.body = c->body}},
    };
    ct__features_of_record(c, record, imp->relative[imp->relatives - 1].feature);
    *dropped = 0;
    CT_TRY(add_visit(imp, c->sensor->index, from, 0));
    return add_visit(imp, c->sensor->index, to, 1);
}

static ct_status read_file(ct__import *imp, int32_t channel, int32_t f)
{
    ct__channel *c = &imp->channel[channel];
    ct_import_count *count = &imp->result.count[c->number];
    ct_source *source = NULL;
    ct_record record;
    int more = 1;
    CT_TRY(ct__source_begin(imp->recipe, &imp->plan, c->sensor->source, f, &source, imp->err));
    ct_status status = ct__channel_select(imp, c, source);
    while (status == CT_OK && more) {
        ct_drop why;
        int dropped = 0;
        status = ct_source_next(source, &record, &more, imp->err);
        if (status != CT_OK || !more) break;
        count->records++;
        status = take_record(imp, channel, &record, &why, &dropped);
        if (status == CT_OK && dropped) count->dropped[why]++;
    }
    ct_source_free(source);
    imp->bytes_done += ct__file_bytes(imp->plan.source[c->sensor->source].file[f]);
    return status;
}

ct_status ct__relatives_read(ct__import *imp)
{
    for (int32_t i = 0; i < imp->channels; i++) {
        const ct__channel *c = &imp->channel[i];
        if (!c->sensor || c->sensor->type != CT__SENSOR_RELATIVE_POSE) continue;
        const int32_t source = c->sensor->source;
        for (int32_t f = 0; f < imp->plan.source[source].files; f++)
            if (ct__recordings_has(imp->recipe, &imp->plan, source, f, imp->r, c->body)) CT_TRY(read_file(imp, i, f));
    }
    if (imp->visits) qsort(imp->visit, (size_t)imp->visits, sizeof *imp->visit, by_stamp);
    if (imp->numbereds) qsort(imp->numbered, (size_t)imp->numbereds, sizeof *imp->numbered, by_stamp);
    return CT_OK;
}
