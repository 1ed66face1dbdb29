/* build_stream.c: streams of records, merged by corrected stamp.
 *
 * A stream reads the files of a source one after the other and holds its next record, converted by each of its
 * channels. Channels that are functions of time have a stream of their own, because their next record may lie behind
 * many that others use: the truth in a table whose rows are mostly empty there. The other channels of a source share
 * one. */
#include "recipe/build.h"

#include <math.h>

/* ---- making ---- */

static ct_status add_number(int32_t **list, int32_t *count, int32_t number, ct_err *err)
{
    int32_t *longer = realloc(*list, (size_t)(*count + 1) * sizeof *longer);
    if (!longer) return ct__no_memory(err, "streams", *count + 1);
    longer[(*count)++] = number;
    *list = longer;
    return CT_OK;
}

static ct_status new_stream(ct__import *imp, int64_t *capacity, const ct__channel *c, int32_t source, int32_t body,
                            int lonely)
{
    CT_TRY(ct__grow(&imp->stream, capacity, imp->streams + 1, sizeof *imp->stream, "streams", imp->err));
    ct__stream *s = &imp->stream[imp->streams++];
    *s = (ct__stream){.source = source,
                      .body = body,
                      .delay_s = c->corrected.delay_s,
                      .drift = c->corrected.drift,
                      .steps_s = c->corrected.steps_s,
                      .lonely = lonely,
                      .ordered = !c->steady};
    for (int32_t f = 0; f < imp->plan.source[source].files; f++)
        if (ct__recordings_has(imp->recipe, &imp->plan, source, f, imp->r, body))
            CT_TRY(add_number(&s->file, &s->files, f, imp->err));
    return CT_OK;
}

ct_status ct__streams_make(ct__import *imp)
{
    int64_t capacity = 0;
    for (int32_t i = 0; i < imp->channels; i++) {
        const ct__channel *c = &imp->channel[i];
        if (c->sensor && c->sensor->type == CT__SENSOR_RELATIVE_POSE) continue; /* read whole: build_relative.c */
        const int32_t source = c->sensor ? c->sensor->source : imp->recipe->truth.source;
        const int32_t body = ct__recordings_has_bodies(imp->recipe, &imp->plan, source) ? c->body : -1;
        const int lonely = c->steady || imp->body[c->body].at == i;
        int32_t k = 0;
        for (; !lonely && k < imp->streams; k++) {
            const ct__stream *s = &imp->stream[k];
            if (!s->lonely && s->source == source && s->body == body && s->delay_s == c->corrected.delay_s &&
                s->drift == c->corrected.drift && s->steps_s == c->corrected.steps_s)
                break;
        }
        if (lonely || k == imp->streams) {
            CT_TRY(new_stream(imp, &capacity, c, source, body, lonely));
            k = imp->streams - 1;
        }
        CT_TRY(add_number(&imp->stream[k].channel, &imp->stream[k].channels, i, imp->err));
    }
    return CT_OK;
}

/* Remember a bag that was cut short, once for each sensor. */
static void note_damage(ct__import *imp, const ct__stream *s, const ct__channel *c, int64_t bytes)
{
    ct__seen   *seen = &imp->seen[c->number];
    const char *path = imp->plan.source[s->source].file[s->file[s->at]];
    if (!seen->damaged) snprintf(seen->damaged_in, sizeof seen->damaged_in, "%s", path);
    seen->damaged += bytes;
}

/* The condition of the source leaves out the same records for each of its channels. */
static void close_file(ct__import *imp, ct__stream *s)
{
    if (!s->reading) return;
    const ct_source_counts n = ct__reading_count(s);
    for (int32_t i = 0; i < s->channels; i++) {
        const ct__channel *c = &imp->channel[s->channel[i]];
        ct__channel_drop(imp, c, CT_DROP_CONDITION, n.left_out);
        ct__channel_drop(imp, c, CT_DROP_MISSING, n.no_stamp);
        imp->result.count[c->number].records += n.left_out + n.no_stamp;
        if (n.damaged) note_damage(imp, s, c, n.damaged);
    }
    ct__reading_close(s);
}

void ct__streams_free(ct__import *imp)
{
    for (int32_t k = 0; k < imp->streams; k++) {
        ct__reading_close(&imp->stream[k]);
        ct__held_free(imp->stream[k].held);
        free(imp->stream[k].file);
        free(imp->stream[k].channel);
    }
    free(imp->stream);
    imp->stream = NULL;
    imp->streams = 0;
}

/* ---- reading ---- */

/* *more <- 1 and the next record of any file. */
static ct_status next_record(ct__import *imp, ct__stream *s, ct_record *record, int *more)
{
    *more = 0;
    while (s->at < s->files) {
        if (!s->reading) CT_TRY(ct__reading_open(imp, s));
        CT_TRY(ct__reading_next(imp, s, record, more));
        if (*more) return CT_OK;
        imp->bytes_done += ct__file_bytes(imp->plan.source[s->source].file[s->file[s->at]]);
        close_file(imp, s);
        s->at++;
    }
    return CT_OK;
}

/* The stamp without the long steps so far: one goes on by the mean of the others. */
static ct_ns without_steps(ct__stream *s, ct_ns stamp)
{
    const double step = ((double)stamp - (double)s->raw_last) * 1e-9;
    if (!(s->steps_s > 0)) return stamp;
    if (s->begun && fabs(step) > s->steps_s)
        s->removed_s += step - (s->ordinary ? s->ordinary_s / (double)s->ordinary : 0);
    else if (s->begun)
        s->ordinary_s += step, s->ordinary++;
    s->raw_last = stamp;
    return fabs(s->removed_s) < 9.2e9 ? stamp - (ct_ns)llround(1e9 * s->removed_s) : stamp;
}

/* True time of a stamp; 0: it is beyond what ct_ns holds. */
static int correct_stamp(const ct__stream *s, ct_ns stamp, ct_ns *corrected)
{
    *corrected = stamp;
    if (s->delay_s == 0 && s->drift == 0) return 1;
    const double shift = s->delay_s * 1e9 + s->drift * ((double)stamp - (double)s->raw_first);
    const double whole = (double)stamp + shift;
    if (!(fabs(whole) < 9.2e18)) return 0;
    *corrected = stamp + (ct_ns)llround(shift);
    return 1;
}

/* Remember the first record whose stamp is not after those before it. */
static void note_place(ct__import *imp, const ct__stream *s, const ct__channel *c)
{
    ct__seen *seen = &imp->seen[c->number];
    if (!*seen->where) ct__reading_where(imp, s, seen->where, sizeof seen->where);
}

/* Each channel of the stream takes or drops the record; *any <- 1 if one took it. */
static ct_status offer(ct__import *imp, ct__stream *s, const ct_record *record, ct_ns stamp, ct__sample *sample,
                       uint8_t *took, int *any)
{
    for (int32_t i = 0; i < s->channels; i++) {
        ct__channel *c = &imp->channel[s->channel[i]];
        int drop = -1;
        CT_TRY(ct__sample_make(imp, c, record, stamp, &sample[i], &drop));
        took[i] = drop < 0;
        if (drop < 0 || drop == CT_DROP_STAMP) ct__clock_note(&c->clock, stamp);
        *any |= took[i];
        imp->result.count[c->number].records++;
        if (drop >= 0) ct__channel_drop(imp, c, (ct_drop)drop, 1);
        if (drop == CT_DROP_STAMP) note_place(imp, s, c);
        if (took[i] && s->begun && stamp < s->newest) {
            imp->seen[c->number].unordered++;
            note_place(imp, s, c);
        }
    }
    if (*any && (!s->begun || stamp > s->newest)) s->newest = stamp;
    s->begun |= *any;
    return CT_OK;
}

/* Bytes that open files have given so far. */
static int64_t bytes_open(const ct__import *imp)
{
    int64_t sum = 0;
    for (int32_t k = 0; k < imp->streams; k++)
        if (imp->stream[k].reading) sum += ct__reading_bytes(&imp->stream[k]);
    return sum;
}

int64_t ct__bytes_read(const ct__import *imp) { return CT_MIN(imp->bytes_done + bytes_open(imp), imp->bytes_all); }

static ct_status report(ct__import *imp)
{
    if (!imp->options.progress || ++imp->records_since < CT__PROGRESS_RECORDS) return CT_OK;
    imp->records_since = 0;
    if (!imp->options.progress(imp->options.user, ct__bytes_read(imp), imp->bytes_all)) return CT_OK;
    return ct_fail(imp->err, CT_E_EMPTY, "stopped");
}

/* The next record that a channel takes; *more is 0 at the end of the files. */
static ct_status next_taken(ct__import *imp, ct__stream *s, ct__sample *sample, uint8_t *took, ct_ns *stamp, int *more)
{
    ct_record record;
    for (int any = 0; !any;) {
        CT_TRY(report(imp));
        CT_TRY(next_record(imp, s, &record, more));
        if (!*more) return CT_OK;
        if (!s->begun) s->raw_first = record.stamp;
        if (!correct_stamp(s, without_steps(s, record.stamp), stamp)) {
            char where[200];
            return ct_fail(imp->err, CT_E_PARSE, "%s: its stamp of %lld ns cannot be corrected: it is too large",
                           ct__reading_where(imp, s, where, sizeof where), (long long)record.stamp);
        }
        CT_TRY(offer(imp, s, &record, *stamp, sample, took, &any));
    }
    return CT_OK;
}

static void give(ct__import *imp, const ct__stream *s, const ct__sample *sample, const uint8_t *took)
{
    for (int32_t i = 0; i < s->channels; i++) {
        ct__channel *c = &imp->channel[s->channel[i]];
        c->has_next = took[i];
        if (took[i]) c->next = sample[i];
    }
}

static void end_stream(ct__import *imp, ct__stream *s)
{
    s->ended = 1;
    for (int32_t i = 0; i < s->channels; i++) {
        imp->channel[s->channel[i]].has_next = 0;
        imp->channel[s->channel[i]].ended = 1;
    }
}

static ct_status fill(ct__import *imp, ct__stream *s)
{
    while (!s->drained && !ct__held_is_full(s->held) &&
           (ct__held_is_empty(s->held) || !ct__reading_is_ahead(imp, s))) {
        ct__sample *sample;
        uint8_t *took;
        ct_ns stamp;
        int more = 1;
        ct__held_slot(s->held, &sample, &took);
        CT_TRY(next_taken(imp, s, sample, took, &stamp, &more));
        if (more)
            ct__held_push(s->held, stamp);
        else
            s->drained = 1;
    }
    return CT_OK;
}

/* Measurements, in order of their stamps. */
static ct_status advance_ordered(ct__import *imp, ct__stream *s)
{
    ct__sample *sample;
    uint8_t *took;
    if (!s->held) CT_TRY(ct__held_new(s->channels, &s->held, imp->err));
    for (;;) {
        CT_TRY(fill(imp, s));
        if (ct__held_is_empty(s->held)) break;
        const ct_ns stamp = ct__held_pop(s->held, &sample, &took);
        if (!s->given || stamp >= s->stamp) {
            s->given = 1;
            s->stamp = stamp;
            give(imp, s, sample, took);
            return CT_OK;
        }
        for (int32_t i = 0; i < s->channels; i++) /* too late even so */
            if (took[i]) ct__channel_drop(imp, &imp->channel[s->channel[i]], CT_DROP_STAMP, 1);
    }
    end_stream(imp, s);
    return CT_OK;
}

ct_status ct__stream_advance(ct__import *imp, ct__stream *s)
{
    ct__sample sample;
    uint8_t took;
    int more = 1;
    if (s->ordered) return advance_ordered(imp, s);
    CT_TRY(next_taken(imp, s, &sample, &took, &s->stamp, &more));
    if (more)
        give(imp, s, &sample, &took);
    else
        end_stream(imp, s);
    return CT_OK;
}

void ct__streams_close(ct__import *imp)
{
    for (int32_t k = 0; k < imp->streams; k++) {
        ct__stream *s = &imp->stream[k];
        ct__sample *sample;
        uint8_t *took;
        for (int32_t i = 0; i < s->channels; i++)
            if (imp->channel[s->channel[i]].has_next)
                ct__channel_drop(imp, &imp->channel[s->channel[i]], CT_DROP_OUTSIDE, 1);
        while (s->held && !ct__held_is_empty(s->held)) {
            ct__held_pop(s->held, &sample, &took);
            for (int32_t i = 0; i < s->channels; i++)
                if (took[i]) ct__channel_drop(imp, &imp->channel[s->channel[i]], CT_DROP_OUTSIDE, 1);
        }
        close_file(imp, s);
    }
}

/* 1 if states are made at the stamps of this stream: at equal stamps it comes first, so that what others measure at
 * that stamp finds its state. */
static int is_at(const ct__import *imp, const ct__stream *s)
{
    return s->channels == 1 && imp->body[imp->channel[s->channel[0]].body].at == s->channel[0];
}

ct__stream *ct__streams_first(const ct__import *imp)
{
    ct__stream *best = NULL;
    for (int32_t k = 0; k < imp->streams; k++) {
        ct__stream *s = &imp->stream[k];
        if (s->ended) continue;
        if (!best || s->stamp < best->stamp || (s->stamp == best->stamp && is_at(imp, s) && !is_at(imp, best)))
            best = s;
    }
    return best;
}
