/* draft_inspect.c: what a file or a topic holds: fields with meanings, the period of its stamps, units by the size of
 * values, names of landmarks. The first records are looked at, not the whole file. */
#include "recipe/draft.h"

#include <math.h>

#define LOOK 4000 /* records: enough for a robot to turn by more than 7 rad if its heading is in degrees */

ct_status ct__draft_note(ct__draft *d, const char *text)
{
    CT_TRY(ct__grow(&d->note, &d->note_capacity, d->notes + 1, sizeof *d->note, "notes", d->err));
    char *kept = ct__draft_print(d, "%s", text);
    if (!kept) return CT_E_MEMORY;
    for (char *p = kept; *p; p++)
        if ((unsigned char)*p < ' ') *p = ' '; /* a comment is one line */
    d->note[d->notes++] = kept;
    return CT_OK;
}

static ct_status add_source(ct__draft *d, const ct__draft_source *s)
{
    CT_TRY(ct__grow(&d->source, &d->capacity, d->sources + 1, sizeof *d->source, "sources", d->err));
    d->source[d->sources++] = *s;
    return CT_OK;
}

/* ---- fields ---- */

/* The unit in the brackets of a type, "number [deg]"; NULL: none. */
static const char *unit_of_type(ct__draft *d, const char *type)
{
    const char *open = strchr(type, '['), *close = open ? strchr(open, ']') : NULL;
    return close && close > open + 1 && !strncmp(type, "number", 6)
               ? ct__draft_print(d, "%.*s", (int)(close - open - 1), open + 1)
               : NULL;
}

/* Expressions have names of letters, digits, _ and dots; others are in backquotes. */
static const char *quoted(ct__draft *d, const char *name)
{
    static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
    const int plain = !name[strspn(name, PLAIN)] && !(name[0] >= '0' && name[0] <= '9');
    return ct__draft_print(d, plain ? "%s" : "`%s`", name);
}

/* Which columns of a table belong together: those named for the truth, for the GPS, for the odometry, and the rest. */
static const char *kind_of(const char *name)
{
    return ct__draft_has_word(name, CT__DRAFT_TRUTH_WORDS)      ? "truth"
           : ct__draft_has_word(name, CT__DRAFT_GPS_WORDS)      ? "gps"
           : ct__draft_has_word(name, CT__DRAFT_ODOMETRY_WORDS) ? "odom"
                                                                : NULL;
}

/* The same, of a column by what it means: latitude, longitude and the height beside them are the GPS's, whatever else
 * the table has. */
static const char *kind_of_column(const char *name, int geodetic)
{
    const char       *unit, *kind = kind_of(name);
    const ct__meaning m = ct__draft_meaning(name, &unit);
    const int         mine = m == CT__MEANS_LATITUDE || m == CT__MEANS_LONGITUDE || m == CT__MEANS_HEIGHT;
    return !kind && geodetic && mine ? kind_of("gps") : kind;
}

static ct_status take_field(ct__draft *d, ct__draft_source *s, const ct_source_field *field, size_t prefix)
{
    const char *unit;
    if (strlen(field->name) <= prefix) return CT_OK;
    const char *name = field->name + prefix;
    ct__meaning m = ct__draft_meaning(name, &unit);
    if (m == CT__MEANS_ID && ct__draft_has(s, m)) m = CT__MEANS_ID2;
    if (m == CT__MEANS_NOTHING || ct__draft_has(s, m)) return CT_OK;
    if (m != CT__MEANS_ID && m != CT__MEANS_ID2 && (!strcmp(field->type, "text") || !strcmp(field->type, "string")))
        return CT_OK;
    if (m == CT__MEANS_TIME && s->topic) return CT_OK; /* bags have stamps of their own */
    s->field[m] = m == CT__MEANS_ID || m == CT__MEANS_ID2 ? ct__draft_print(d, "%s", name) : quoted(d, name);
    if (!s->field[m]) return CT_E_MEMORY;
    const char *written = unit_of_type(d, field->type);
    s->unit[m] = written ? written : unit;
    return CT_OK;
}

/* Columns without names: by their number, and what the file is called. */
static void name_by_count(ct__draft_source *s, int32_t columns)
{
    static const struct {
        const char *file;
        int32_t columns;
        ct__meaning meaning[6];
    } GUESS[] = {
        {"truth groundtruth gt mocap vicon reference ref",
         4,
         {CT__MEANS_TIME, CT__MEANS_X, CT__MEANS_Y, CT__MEANS_YAW}},
        {"truth groundtruth gt mocap vicon reference ref", 3, {CT__MEANS_TIME, CT__MEANS_X, CT__MEANS_Y}},
        {"gps gnss position positions fix uwb", 3, {CT__MEANS_TIME, CT__MEANS_X, CT__MEANS_Y}},
        {"odom odometry wheel wheels", 3, {CT__MEANS_TIME, CT__MEANS_VX, CT__MEANS_WZ}},
        {"odom odometry wheel wheels", 4, {CT__MEANS_TIME, CT__MEANS_VX, CT__MEANS_VY, CT__MEANS_WZ}},
        {"measurement measurements sighting sightings observation observations",
         4,
         {CT__MEANS_TIME, CT__MEANS_ID, CT__MEANS_RANGE, CT__MEANS_BEARING}},
        {"range ranges", 3, {CT__MEANS_TIME, CT__MEANS_ID, CT__MEANS_RANGE}},
        {"landmark landmarks map beacon beacons anchors", 3, {CT__MEANS_ID, CT__MEANS_X, CT__MEANS_Y}},
    };
    static const char *const COLUMN[] = {"`#1`", "`#2`", "`#3`", "`#4`", "`#5`", "`#6`"};
    for (size_t i = 0; i < sizeof GUESS / sizeof *GUESS; i++) {
        if (columns != GUESS[i].columns || !ct__draft_has_word(s->pattern, GUESS[i].file)) continue;
        for (int32_t k = 0; k < columns; k++) {
            const ct__meaning m = GUESS[i].meaning[k];
            s->field[m] = m == CT__MEANS_ID ? (k ? "#2" : "#1") : COLUMN[k];
            s->guessed[m] = 1;
        }
        return;
    }
}

static ct_status take_fields(ct__draft *d, ct__draft_source *s, const ct_source *source, const char *prefix)
{
    const int32_t fields = ct_source_fields(source);
    const size_t length = strlen(prefix);
    const char *unit;
    int names = 0, geodetic = 0;
    for (int32_t i = 0; i < fields; i++)
        geodetic |= ct__draft_meaning(ct_source_field_at(source, i)->name, &unit) == CT__MEANS_LATITUDE;
    for (int32_t i = 0; i < fields; i++) {
        const ct_source_field *f = ct_source_field_at(source, i);
        names += f->name[0] != '#';
        const int time = !s->topic && ct__draft_meaning(f->name, &unit) == CT__MEANS_TIME;
        if (!s->topic && !time && s->kind != kind_of_column(f->name, geodetic)) continue; /* literals: one of each */
        if (!strncmp(f->name, prefix, length)) CT_TRY(take_field(d, s, f, length));
    }
    if (!names) name_by_count(s, fields);
    return CT_OK;
}

/* ---- first records ---- */

typedef struct {
    int32_t at[CT__MEANS_COUNT]; /* place of a value, or -1 */
    int32_t text[2];
    double most[CT__MEANS_COUNT]; /* largest magnitude */
    double time[LOOK];
    int64_t records;
    int rotation; /* a quaternion other than zero */
} looks;

static int is_known(const ct__draft_source *s, int which, const char *text)
{
    for (int32_t i = 0; i < CT__DRAFT_IDS_MAX && s->id[which][i]; i++)
        if (!strcmp(s->id[which][i], text)) return 1;
    return 0;
}

static ct_status take_id(ct__draft *d, ct__draft_source *s, int which, const char *text)
{
    int32_t n = 0;
    while (n < CT__DRAFT_IDS_MAX && s->id[which][n]) n++;
    if (n == CT__DRAFT_IDS_MAX || is_known(s, which, text)) return CT_OK;
    s->id[which][n] = ct__draft_print(d, "%s", text);
    return s->id[which][n] ? CT_OK : CT_E_MEMORY;
}

static ct_status take_record(ct__draft *d, ct__draft_source *s, looks *l, const ct_record *record)
{
    for (int m = 0; m < CT__MEANS_COUNT; m++) {
        const double v = l->at[m] < 0 ? NAN : fabs(record->value[l->at[m]]);
        if (v > l->most[m]) l->most[m] = v;
        if (m >= CT__MEANS_QX && m <= CT__MEANS_QW && v > 0) l->rotation = 1;
    }
    l->time[l->records++] =
        l->at[CT__MEANS_TIME] >= 0 ? record->value[l->at[CT__MEANS_TIME]] : 1e-9 * (double)record->stamp;
    for (int k = 0; k < 2; k++)
        if (l->text[k] >= 0) CT_TRY(take_id(d, s, k, record->text[l->text[k]]));
    return CT_OK;
}

static ct_status select_fields(ct__draft_source *s, ct_source *source, looks *l)
{
    ct_err ignored;
    for (int m = 0; m < CT__MEANS_COUNT; m++) {
        l->at[m] = -1;
        if (!ct__draft_has(s, (ct__meaning)m) || m == CT__MEANS_ID || m == CT__MEANS_ID2) continue;
        const ct_status status = ct_source_select(source, s->field[m], &l->at[m], &ignored);
        if (status == CT_E_MEMORY) return status;
        if (status != CT_OK) l->at[m] = -1, s->field[m] = NULL; /* a text after all */
    }
    for (int k = 0; k < 2; k++) {
        const char *name = s->field[k ? CT__MEANS_ID2 : CT__MEANS_ID];
        l->text[k] = -1;
        if (name && ct_source_select_text(source, name, &l->text[k], &ignored) == CT_E_MEMORY) return CT_E_MEMORY;
    }
    return CT_OK;
}

static double median_step(const looks *l)
{
    double step[LOOK];
    int64_t n = 0;
    for (int64_t i = 1; i < l->records; i++)
        if (l->time[i] > l->time[i - 1]) step[n++] = l->time[i] - l->time[i - 1];
    return n ? ct_median(n, step) : NAN;
}

/* The unit of a stamp by its size: seconds since 1970 are 9e8 (1998) to 4.3e9 (2106). Else by its steps: no sensor
 * waits for five seconds. */
static const char *time_unit(double most, double step)
{
    static const char *const UNIT[] = {NULL, "ms", "us", "ns"};
    double date = most;
    for (int i = 0; i < 4; i++, date /= 1000)
        if (date > 9e8 && date < 4.3e9) return UNIT[i];
    return step > 3e5 ? "ns" : step > 3e3 ? "us" : step > 5 ? "ms" : NULL;
}

static double seconds(const char *unit)
{
    return !unit ? 1 : !strcmp(unit, "ns") ? 1e-9 : !strcmp(unit, "us") ? 1e-6 : !strcmp(unit, "ms") ? 1e-3 : 1;
}

static void guess_units(ct__draft_source *s, const looks *l)
{
    static const struct {
        ct__meaning meaning;
        double most;
        const char *unit;
    } SIZE[] = {{CT__MEANS_YAW, 7, "deg"},   {CT__MEANS_BEARING, 7, "deg"}, {CT__MEANS_DYAW, 7, "deg"},
                {CT__MEANS_WZ, 20, "deg/s"}, {CT__MEANS_RANGE, 2000, "mm"}, {CT__MEANS_VX, 200, "mm/s"}};
    for (size_t i = 0; i < sizeof SIZE / sizeof *SIZE; i++) {
        const ct__meaning m = SIZE[i].meaning;
        if (!ct__draft_has(s, m) || s->unit[m] || !(l->most[m] > SIZE[i].most)) continue;
        s->unit[m] = SIZE[i].unit;
        s->guessed[m] = 1;
    }
    s->scaled = ct__draft_has(s, CT__MEANS_LATITUDE) && l->most[CT__MEANS_LATITUDE] > 1e4;
    s->guessed[CT__MEANS_LATITUDE] |= s->scaled;
    if (s->scaled && !s->unit[CT__MEANS_HEIGHT] && l->most[CT__MEANS_HEIGHT] > 1e4) s->unit[CT__MEANS_HEIGHT] = "mm";
    const double step = median_step(l);
    const char *unit = s->unit[CT__MEANS_TIME];
    if (ct__draft_has(s, CT__MEANS_TIME) && !unit) {
        unit = s->unit[CT__MEANS_TIME] = time_unit(l->most[CT__MEANS_TIME], step);
        s->guessed[CT__MEANS_TIME] = unit != NULL;
    }
    s->period_s = step * (ct__draft_has(s, CT__MEANS_TIME) ? seconds(unit) : 1);
    s->zero_rotation = ct__draft_has(s, CT__MEANS_QW) && !l->rotation;
}

static ct_status look(ct__draft *d, ct__draft_source *s, const ct_source_options *options)
{
    ct_err why = {0};
    ct_source *source;
    ct_source_options how = *options;
    looks *l = ct__zalloc(1, sizeof *l);
    if (!l) return ct__no_memory(d->err, "records", LOOK);
    if (ct__draft_has(s, CT__MEANS_TIME)) how.time = "0"; /* the column is read as a number, whatever its unit */
    ct_status status = ct_source_open(s->file, &how, &source, &why);
    if (status == CT_OK) {
        status = select_fields(s, source, l);
        for (int more = 1; status == CT_OK && l->records < LOOK;) {
            ct_record record;
            status = ct_source_next(source, &record, &more, &why);
            if (status != CT_OK || !more) break;
            status = take_record(d, s, l, &record);
        }
        ct_source_free(source);
    }
    s->records = l->records;
    if (status != CT_E_MEMORY && l->records)
        guess_units(s, l);
    else
        s->period_s = NAN;
    free(l);
    if (status == CT_E_MEMORY) return ct__no_memory(d->err, "records", LOOK);
    return status == CT_OK ? CT_OK : ct__draft_note(d, why.text); /* what came before is of use */
}

/* ---- tables ---- */

/* One source of the columns of a kind; none if they have no meaning. */
static ct_status inspect_columns(ct__draft *d, const ct__draft_group *g, const char *kind)
{
    ct_err why = {0};
    ct_source *source;
    ct_source_options options = ct_source_defaults();
    ct__draft_source s = {.pattern = g->pattern, .file = g->file, .format = CT_SOURCE_AUTO, .kind = kind};
    int meanings = 0;
    s.period_s = NAN;
    const ct_status opened = ct_source_open(g->file, &options, &source, &why);
    if (opened == CT_E_MEMORY) return ct__no_memory(d->err, "sources", 1);
    if (opened != CT_OK) return kind ? CT_OK : ct__draft_note(d, why.text);
    const int32_t fields = ct_source_fields(source);
    const char *first = fields ? ct_source_field_at(source, 0)->name : "";
    const int graph = fields == 11 && !strcmp(first, "tag"); /* g2o's own columns */
    ct_status status = graph ? CT_OK : take_fields(d, &s, source, "");
    ct_source_free(source);
    CT_TRY(status);
    for (int m = 0; m < CT__MEANS_COUNT; m++) meanings += m != CT__MEANS_TIME && ct__draft_has(&s, (ct__meaning)m);
    if (kind && !meanings) return CT_OK;
    if (graph)
        s.role = CT__DRAFT_GRAPH;
    else
        CT_TRY(look(d, &s, &options));
    s.has_time = ct__draft_has(&s, CT__MEANS_TIME);
    if (ct__draft_has(&s, CT__MEANS_MATRIX) && !s.has_time)
        s.has_time = 1, s.format = CT_SOURCE_KITTI; /* line by line */
    return add_source(d, &s);
}

static ct_status inspect_table(ct__draft *d, const ct__draft_group *g)
{
    static const char *const KIND[] = {"odom", "gps", "truth"};
    const int64_t before = d->sources;
    for (int k = 0; k < 3; k++) CT_TRY(inspect_columns(d, g, kind_of(KIND[k])));
    const int64_t kinds = d->sources;
    CT_TRY(inspect_columns(d, g, NULL));
    const ct__draft_source *rest = d->sources > kinds ? &d->source[d->sources - 1] : NULL;
    int meanings = 0;
    for (int m = 0; rest && m < CT__MEANS_COUNT; m++)
        meanings += m != CT__MEANS_TIME && ct__draft_has(rest, (ct__meaning)m);
    if (rest && !meanings && kinds > before) d->sources--; /* the kinds have all columns */
    return CT_OK;
}

/* ---- bags ---- */

static int is_type(const char *type, const char *name)
{
    const char *slash = strrchr(type, '/');
    return !strcmp(slash ? slash + 1 : type, name);
}

#define FRAMES_MAX 16

/* A source for each child frame of transforms. */
static ct_status inspect_transforms(ct__draft *d, const ct__draft_group *g, const ct__draft_source *whole)
{
    ct_err why = {0};
    ct_source *source;
    ct_source_options options = ct_source_defaults();
    const char *child[FRAMES_MAX] = {NULL};
    int32_t parent_at, child_at, frames = 0;
    options.topic = whole->topic;
    options.each = "transforms";
    ct_status status = ct_source_open(g->file, &options, &source, &why);
    if (status != CT_OK)
        return status == CT_E_MEMORY ? ct__no_memory(d->err, "sources", 1) : ct__draft_note(d, why.text);
    status = ct_source_select_text(source, "header.frame_id", &parent_at, &why);
    if (status == CT_OK) status = ct_source_select_text(source, "child_frame_id", &child_at, &why);
    for (int64_t n = 0, more = 1; status == CT_OK && more && n < LOOK; n++) {
        ct_record record;
        int next, known = 0;
        status = ct_source_next(source, &record, &next, &why);
        more = next;
        if (status != CT_OK || !next) break;
        for (int32_t i = 0; i < frames; i++) known |= !strcmp(child[i], record.text[child_at]);
        if (known || frames == FRAMES_MAX || strchr(record.text[child_at], '\'')) continue;
        ct__draft_source s = *whole;
        s.each = "transforms";
        child[frames] = ct__draft_print(d, "%s", record.text[child_at]);
        s.where = ct__draft_print(d, "child_frame_id == '%s'", record.text[child_at]);
        s.type = ct__draft_print(d, "%s to %s", record.text[parent_at], record.text[child_at]);
        status = child[frames] && s.where && s.type ? add_source(d, &s) : CT_E_MEMORY;
        frames++;
    }
    ct_source_free(source);
    if (status == CT_E_MEMORY) return ct__no_memory(d->err, "sources", 1);
    return status == CT_OK ? CT_OK : ct__draft_note(d, why.text);
}

static ct_status inspect_topic(ct__draft *d, const ct__draft_group *g, const ct_bag *bag, const ct_bag_topic *t)
{
    ct_err why = {0};
    ct_source *source;
    ct_source_options options = ct_source_defaults();
    ct__draft_source s = {.pattern = g->pattern, .file = g->file, .format = CT_SOURCE_AUTO, .has_time = 1};
    const int transforms = is_type(t->type, "TFMessage") || is_type(t->type, "tfMessage");
    s.topic = options.topic = ct__draft_print(d, "%s", t->name);
    s.type = ct__draft_print(d, "%s", t->type);
    s.period_s = t->count > 1 ? 1e-9 * (double)(t->last - t->first) / (double)(t->count - 1) : NAN;
    (void)bag;
    if (!s.topic || !s.type) return CT_E_MEMORY;
    ct_status status = ct_source_open(g->file, &options, &source, &why);
    if (status == CT_E_MEMORY) return ct__no_memory(d->err, "sources", 1);
    if (status != CT_OK) {
        s.why_unused = ct__draft_print(d, "%s", why.text);
        return s.why_unused ? add_source(d, &s) : CT_E_MEMORY;
    }
    status = take_fields(d, &s, source, transforms ? "transforms[]." : "");
    ct_source_free(source);
    CT_TRY(status);
    if (is_type(t->type, "NavSatFix")) s.where = "status.status >= 0"; /* else there is no fix */
    if (transforms) return strstr(s.topic, "static") ? add_source(d, &s) : inspect_transforms(d, g, &s);
    const double period_s = s.period_s;
    CT_TRY(look(d, &s, &options));
    s.period_s = period_s;
    return add_source(d, &s);
}

ct_status ct__draft_inspect(ct__draft *d, const ct__draft_group *g)
{
    ct_err why = {0};
    ct_bag *bag = NULL;
    ct_status status = ct_bag_read(g->file, &bag, &why);
    if (status == CT_E_MEMORY) return ct__no_memory(d->err, "topics", 1);
    if (status == CT_E_UNSUPPORTED) return inspect_table(d, g);
    if (status != CT_OK) return ct__draft_note(d, why.text);
    for (int32_t i = 0; status == CT_OK && i < bag->topics; i++) status = inspect_topic(d, g, bag, &bag->topic[i]);
    ct_bag_free(bag);
    return status;
}
