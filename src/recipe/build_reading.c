/* build_reading.c: files that are open. Streams of one source share the reading of a table.
 *
 * Streams of a recording advance together in time, so that they want the same lines a few records apart. The last
 * KEPT records of a table stay in a ring until every stream has had them. A stream that must know a record further
 * ahead (the truth in a table whose rows are mostly empty there) reads the file by itself from then on: it opens it
 * again and skips what it has had.
 *
 * All streams of a source select the values of all of them, in the same order, whoever opens a file: so the places of
 * values are the same in every reading, while one stream is in the next file already. Bags are read by each stream
 * alone: decoding a topic is cheap beside their bytes. */
#include "recipe/build.h"
#include "source/source.h"

#define KEPT 8192

struct ct__reading {
    int32_t    source, file;
    ct_source *open;
    int32_t    users;
    int        is_shared; /* records are kept                          */
    int64_t    records;   /* read so far; the last KEPT of them are here */
    int64_t    values, texts;
    ct_record  record[KEPT];
    ct_source_counts count[KEPT]; /* up to the record                  */
    double    *value;     /* KEPT x values                             */
    char     **text;      /* KEPT x texts                              */
    const char **shown;   /* the texts of one record, for its reader   */
};

/* ---- opening ---- */

static int is_of_group(const ct__stream *a, const ct__stream *b)
{
    return a->source == b->source && a->body == b->body;
}

static int32_t streams_of_group(const ct__import *imp, const ct__stream *s)
{
    int32_t count = 0;
    for (int32_t k = 0; k < imp->streams; k++) count += is_of_group(&imp->stream[k], s);
    return count;
}

static const char *path_of(const ct__import *imp, const ct__stream *s)
{
    return imp->plan.source[s->source].file[s->file[s->at]];
}

static void free_reading(ct__reading *r)
{
    if (!r) return;
    for (int64_t i = 0; r->text && i < KEPT * r->texts; i++) free(r->text[i]);
    free(r->text);
    free(r->shown);
    free(r->value);
    ct_source_free(r->open);
    free(r);
}

static ct_status select_values(ct__import *imp, const ct__stream *s, ct__reading *r)
{
    for (int32_t k = 0; k < imp->streams; k++) {
        const ct__stream *other = &imp->stream[k];
        if (!is_of_group(other, s)) continue;
        for (int32_t i = 0; i < other->channels; i++)
            CT_TRY(ct__channel_select(imp, &imp->channel[other->channel[i]], r->open));
    }
    return CT_OK;
}

static ct_status make_room(ct__import *imp, ct__reading *r)
{
    ct__source_selected(r->open, &r->values, &r->texts);
    r->value = ct__zalloc(KEPT * r->values + 1, sizeof *r->value);
    r->text = ct__zalloc(KEPT * r->texts + 1, sizeof *r->text);
    r->shown = ct__zalloc(r->texts + 1, sizeof *r->shown);
    return r->value && r->text && r->shown ? CT_OK : ct__no_memory(imp->err, "records", KEPT);
}

static void join(ct__stream *s, ct__reading *r)
{
    s->reading = r;
    s->had = 0;
    s->count = (ct_source_counts){0};
}

/* Remember a table whose records are numbered, once for each sensor. KITTI's poses never have stamps. */
static void note_numbers(ct__import *imp, const ct__stream *s, const ct_source *open)
{
    const ct_source_field *first = ct_source_field_at(open, 0);
    if (ct_source_timed(open) || (first && !strcmp(first->name, "m11"))) return;
    for (int32_t i = 0; i < s->channels; i++) {
        ct__seen *seen = &imp->seen[imp->channel[s->channel[i]].number];
        if (!*seen->numbered_in) snprintf(seen->numbered_in, sizeof seen->numbered_in, "%.255s", path_of(imp, s));
    }
}

static ct_status begin(ct__import *imp, ct__stream *s, int is_shared)
{
    ct__reading *r = ct__zalloc(1, sizeof *r);
    if (!r) return ct__no_memory(imp->err, "readings", 1);
    r->source = s->source;
    r->file = s->file[s->at];
    r->is_shared = is_shared;
    ct_status status = ct__source_begin(imp->recipe, &imp->plan, r->source, r->file, &r->open, imp->err);
    if (status == CT_OK) status = select_values(imp, s, r);
    if (status == CT_OK && is_shared) status = make_room(imp, r);
    if (status != CT_OK) {
        free_reading(r);
        return status;
    }
    r->users = 1;
    join(s, r);
    note_numbers(imp, s, r->open);
    return CT_OK;
}

ct_status ct__reading_open(ct__import *imp, ct__stream *s)
{
    for (int32_t k = 0; k < imp->streams; k++) {
        ct__reading *r = imp->stream[k].reading;
        if (!r || !r->is_shared || !is_of_group(&imp->stream[k], s) || r->file != s->file[s->at] || r->records > KEPT)
            continue;
        r->users++;
        join(s, r);
        note_numbers(imp, s, r->open);
        return CT_OK;
    }
    const int many = streams_of_group(imp, s) > 1;
    return begin(imp, s, many && ct_bag_is(path_of(imp, s)) == 0);
}

void ct__reading_close(ct__stream *s)
{
    if (s->reading && --s->reading->users == 0) free_reading(s->reading);
    s->reading = NULL;
}

/* ---- records ---- */

/* Is the file, or that record of it, still to come for the stream? */
static int is_to_come(const ct__stream *s, const ct__reading *r, int64_t record)
{
    if (s->reading == r) return s->had <= record;
    for (int32_t f = s->at + (s->reading != NULL); !s->ended && f < s->files; f++)
        if (s->file[f] == r->file) return 1;
    return 0;
}

/* Has another stream not had the record that is `distance` before the next one, which the stream would read? */
static int is_ahead_by(const ct__import *imp, const ct__stream *s, int64_t distance)
{
    const ct__reading *r = s->reading;
    if (!r || !r->is_shared || s->had < r->records || r->records < distance) return 0;
    for (int32_t k = 0; k < imp->streams; k++)
        if (is_of_group(&imp->stream[k], s) && is_to_come(&imp->stream[k], r, r->records - distance)) return 1;
    return 0;
}

int ct__reading_is_ahead(const ct__import *imp, const ct__stream *s) { return is_ahead_by(imp, s, KEPT / 2); }

static ct_status keep(ct__import *imp, ct__reading *r, const ct_record *record)
{
    const int64_t at = r->records % KEPT;
    r->record[at] = *record;
    r->count[at] = *ct__source_counted(r->open);
    if (r->values) memcpy(r->value + at * r->values, record->value, (size_t)r->values * sizeof *r->value);
    for (int64_t i = 0; i < r->texts; i++) {
        char *copy = ct__strdup(record->text[i]);
        if (!copy) return ct__no_memory(imp->err, "characters", 1);
        free(r->text[at * r->texts + i]);
        r->text[at * r->texts + i] = copy;
    }
    r->records++;
    return CT_OK;
}

/* The file again, for this stream alone. */
static ct_status leave(ct__import *imp, ct__stream *s)
{
    const int64_t had = s->had;
    ct_record skipped;
    int       more = 1;
    ct__reading_close(s);
    CT_TRY(begin(imp, s, 0));
    for (; s->had < had && more; s->had++) CT_TRY(ct_source_next(s->reading->open, &skipped, &more, imp->err));
    return CT_OK;
}

static void give(ct__stream *s, ct_record *record)
{
    ct__reading  *r = s->reading;
    const int64_t at = s->had++ % KEPT;
    *record = r->record[at];
    for (int64_t i = 0; i < r->texts; i++) r->shown[i] = r->text[at * r->texts + i];
    record->value = r->value + at * r->values;
    record->text = r->shown;
    s->line = record->line;
    s->count = r->count[at];
}

ct_status ct__reading_next(ct__import *imp, ct__stream *s, ct_record *record, int *more)
{
    ct__reading *r = s->reading;
    *more = 1;
    if (r->is_shared && s->had < r->records) return give(s, record), CT_OK;
    if (is_ahead_by(imp, s, KEPT)) {
        CT_TRY(leave(imp, s));
        r = s->reading;
    }
    CT_TRY(ct_source_next(r->open, record, more, imp->err));
    if (!*more) s->count = ct_source_count(r->open);
    if (!*more || !r->is_shared) return CT_OK;
    CT_TRY(keep(imp, r, record));
    give(s, record);
    return CT_OK;
}

/* ---- looking ---- */

ct_source_counts ct__reading_count(const ct__stream *s)
{
    return s->reading->is_shared ? s->count : ct_source_count(s->reading->open);
}

int64_t ct__reading_bytes(const ct__stream *s) { return ct_source_count(s->reading->open).bytes; }

const char *ct__reading_where(const ct__import *imp, const ct__stream *s, char *buf, size_t size)
{
    if (!s->reading->is_shared) return ct_source_where(s->reading->open, buf, size);
    snprintf(buf, size, "%s:%lld", path_of(imp, s), (long long)s->line); /* as tables say it */
    return buf;
}
