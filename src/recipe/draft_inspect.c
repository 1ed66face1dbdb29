/* draft_inspect.c: what a file or a topic holds: fields with meanings, by their names. */
#define _POSIX_C_SOURCE 200809L
#include "recipe/draft.h"

#include <math.h>

#define LOOK 4000 /* transforms that are looked at */

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

/* The same, of a column by what it means: latitude, longitude and the height beside them are the GPS's, if the table
 * has motion, too. */
static const char *kind_of_column(const char *name, int geodetic)
{
    const char *unit, *kind = kind_of(name);
    const ct__meaning m = ct__draft_meaning(name, &unit);
    const int mine = m == CT__MEANS_LATITUDE || m == CT__MEANS_LONGITUDE || m == CT__MEANS_HEIGHT;
    if (m == CT__MEANS_LEFT || m == CT__MEANS_RIGHT || m == CT__MEANS_LEFT_SPEED || m == CT__MEANS_RIGHT_SPEED)
        return kind == kind_of("odom") ? NULL : kind; /* "encoder_left" beside "right_ticks" */
    return !kind && geodetic && mine ? kind_of("gps") : kind;
}

/* MATLAB's "position_2" is element 1 of a vector, if there is no "position_0". */
static const char *as_element(const ct_source *source, const char *name, char buf[300])
{
    const size_t n = strlen(name);
    if (n < 3 || n > 200 || name[n - 2] != '_' || name[n - 1] < '1' || name[n - 1] > '4') return name;
    for (int32_t i = 0; i < ct_source_fields(source); i++) {
        const char *other = ct_source_field_at(source, i)->name;
        if (strlen(other) == n && !strncmp(other, name, n - 1) && other[n - 1] == '0') return name;
    }
    snprintf(buf, 300, "%.*s[%d]", (int)n - 2, name, name[n - 1] - '1');
    return buf;
}

/* A header's stamp is of the measurement, others are of the recording. */
static int is_header_stamp(const char *name) { return ct__draft_has_word(name, "header"); }

/* Is this name better than that of the field that the source has for a meaning? */
static int is_better(const ct__draft_source *s, ct__meaning m, const char *name)
{
    if (!ct__draft_has(s, m)) return 1;
    if (m == CT__MEANS_TIME) return is_header_stamp(name) && !is_header_stamp(s->field[m]);
    return m == CT__MEANS_YAW && ct__draft_has_word(s->field[m], "course cog head") &&
           !ct__draft_has_word(name, "course cog head"); /* which is where it travels to */
}

static void note_axes(ct__draft_source *s, ct__meaning m, const char *name)
{
    if ((m == CT__MEANS_X || m == CT__MEANS_Y) && ct__draft_has_word(name, "e n east easting north northing utm"))
        s->north = 1;
    if (m == CT__MEANS_LATITUDE) s->north = 1;
    if (m == CT__MEANS_YAW && ct__draft_is_compass(name)) s->compass = 1;
    if (m == CT__MEANS_QW && strchr(name, '[')) s->ned = 1; /* PX4 */
    if (m == CT__MEANS_TIME && ct__draft_has_word(name, "source destination from to start end begin")) s->interval++;
    if (m == CT__MEANS_DOWN && !ct__draft_has_word(name, "depth")) s->ned = 1;
    if (m == CT__MEANS_VY && ct__draft_has_word(name, "sway")) s->factor[m] = -1;  /* to starboard */
    if (m == CT__MEANS_VZ && ct__draft_has_word(name, "heave")) s->factor[m] = -1; /* down         */
}

/* geometry_msgs/Vector3Stamped: what its elements are, the name of the file or topic says. */
static ct__meaning vector_of(const ct__draft_source *s, const char *name, ct__meaning m)
{
    if (m < CT__MEANS_X || m > CT__MEANS_Z || !ct__draft_has_word(name, "vector")) return m;
    const char *of = s->topic ? s->topic : s->pattern;
    if (ct__draft_has_word(of, "velocity vel speed twist")) return (ct__meaning)(CT__MEANS_VX + (m - CT__MEANS_X));
    return ct__draft_has_word(of, "position pos point location") ? m : CT__MEANS_NOTHING;
}

static ct_status take_field(ct__draft *d, ct__draft_source *s, const ct_source *source, const ct_source_field *field,
                            size_t prefix)
{
    char buf[300];
    const char *unit;
    if (strlen(field->name) <= prefix) return CT_OK;
    const char *name = field->name + prefix;
    const char *meant = s->topic ? name : as_element(source, name, buf);
    ct__meaning m = vector_of(s, name, ct__draft_meaning(meant, &unit));
    const int text = !strcmp(field->type, "text") || !strcmp(field->type, "string");
    if (m == CT__MEANS_ID && ct__draft_has(s, m)) {
        const int better = ct__draft_has_word(name, "anchor beacon landmark") && !ct__draft_has(s, CT__MEANS_ID2) &&
                           !ct__draft_has_word(s->field[m], "anchor beacon landmark"); /* not the tag that measures */
        if (better) s->field[CT__MEANS_ID2] = s->field[m];
        if (!better) m = CT__MEANS_ID2;
    } else if (m == CT__MEANS_NOTHING || !is_better(s, m, name)) {
        note_axes(s, m == CT__MEANS_TIME ? m : CT__MEANS_NOTHING, name);
        return CT_OK;
    }
    if (m == CT__MEANS_ID2 && ct__draft_has(s, m)) return CT_OK;
    if (m != CT__MEANS_ID && m != CT__MEANS_ID2 && text) return CT_OK;
    if (s->topic && (m == CT__MEANS_TIME || m == CT__MEANS_NANOSECONDS)) return CT_OK; /* bags have their own */
    s->field[m] = m == CT__MEANS_ID || m == CT__MEANS_ID2 ? ct__draft_print(d, "%s", name) : quoted(d, name);
    if (!s->field[m]) return CT_E_MEMORY;
    const char *written = unit_of_type(d, field->type);
    s->unit[m] = written ? written : unit;
    if (m == CT__MEANS_TIME) s->date = !strcmp(field->type, "time") && !s->topic;
    note_axes(s, m, name);
    return CT_OK;
}

/* Columns without names: by their number, and what the file is called. */
static void name_by_count(ct__draft_source *s, int32_t columns)
{
    static const struct {
        const char *file;
        int32_t columns;
        ct__meaning meaning[8];
    } GUESS[] = {
        {CT__DRAFT_TRUTH_WORDS " ref",
         7,
         {CT__MEANS_TIME, CT__MEANS_X, CT__MEANS_Y, CT__MEANS_Z, CT__MEANS_ROLL, CT__MEANS_PITCH, CT__MEANS_YAW}},
        {CT__DRAFT_ODOMETRY_WORDS,
         7,
         {CT__MEANS_TIME, CT__MEANS_X, CT__MEANS_Y, CT__MEANS_Z, CT__MEANS_ROLL, CT__MEANS_PITCH, CT__MEANS_YAW}},
        {CT__DRAFT_TRUTH_WORDS " ref", 4, {CT__MEANS_TIME, CT__MEANS_X, CT__MEANS_Y, CT__MEANS_YAW}},
        {CT__DRAFT_TRUTH_WORDS " ref", 3, {CT__MEANS_TIME, CT__MEANS_X, CT__MEANS_Y}},
        {"gps gnss position positions fix uwb", 3, {CT__MEANS_TIME, CT__MEANS_X, CT__MEANS_Y}},
        {"odom odometry wheel wheels", 3, {CT__MEANS_TIME, CT__MEANS_VX, CT__MEANS_WZ}},
        {"odom odometry wheel wheels", 4, {CT__MEANS_TIME, CT__MEANS_VX, CT__MEANS_VY, CT__MEANS_WZ}},
        {"measurement measurements sighting sightings observation observations",
         4,
         {CT__MEANS_TIME, CT__MEANS_ID, CT__MEANS_RANGE, CT__MEANS_BEARING}},
        {"range ranges", 3, {CT__MEANS_TIME, CT__MEANS_ID, CT__MEANS_RANGE}},
        {"landmark landmarks map beacon beacons anchors", 3, {CT__MEANS_ID, CT__MEANS_X, CT__MEANS_Y}},
    };
    static const char *const COLUMN[] = {"`#1`", "`#2`", "`#3`", "`#4`", "`#5`", "`#6`", "`#7`"};
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

/* What other fields say about one: sec and nanosec, a height above east and north, speeds of wheels like pixels. */
static ct_status relate_fields(ct__draft *d, ct__draft_source *s)
{
    static const struct {
        ct__meaning from, to;
    } WHEEL[] = {{CT__MEANS_V, CT__MEANS_LEFT_SPEED}, {CT__MEANS_V_RIGHT, CT__MEANS_RIGHT_SPEED}};
    for (int i = 0; i < 2; i++) {
        if (ct__draft_has(s, CT__MEANS_U) || !ct__draft_has(s, WHEEL[i].from)) continue;
        s->field[WHEEL[i].to] = s->field[WHEEL[i].from];
        s->unit[WHEEL[i].to] = s->unit[WHEEL[i].from];
        s->field[WHEEL[i].from] = NULL;
    }
    const int placed = ct__draft_has(s, CT__MEANS_X) || ct__draft_has(s, CT__MEANS_LATITUDE);
    const int sighted = ct__draft_has(s, CT__MEANS_RANGE) || ct__draft_has(s, CT__MEANS_ID);
    if (placed && !sighted && !ct__draft_has(s, CT__MEANS_YAW) && ct__draft_has(s, CT__MEANS_BEARING) &&
        ct__draft_has_word(s->field[CT__MEANS_BEARING], "azimuth azimut")) { /* of the body, clockwise from north */
        s->field[CT__MEANS_YAW] = s->field[CT__MEANS_BEARING];
        s->unit[CT__MEANS_YAW] = s->unit[CT__MEANS_BEARING];
        s->field[CT__MEANS_BEARING] = NULL;
        s->compass = 1;
    }
    const char *ns = s->field[CT__MEANS_NANOSECONDS], *sec = s->field[CT__MEANS_TIME];
    if (ns && sec && ct__draft_has_word(sec, "sec secs"))
        s->field[CT__MEANS_TIME] = ct__draft_print(d, "%s + (%s in ns)", sec, ns);
    else if (ns && !sec)
        s->field[CT__MEANS_TIME] = ns, s->unit[CT__MEANS_TIME] = "ns";
    s->field[CT__MEANS_NANOSECONDS] = NULL;
    if (!ct__draft_has(s, CT__MEANS_Z) && ct__draft_has(s, CT__MEANS_X) && !ct__draft_has(s, CT__MEANS_LATITUDE) &&
        ct__draft_has(s, CT__MEANS_HEIGHT)) {
        s->field[CT__MEANS_Z] = s->field[CT__MEANS_HEIGHT];
        s->unit[CT__MEANS_Z] = s->unit[CT__MEANS_HEIGHT];
        s->field[CT__MEANS_HEIGHT] = NULL;
    }
    return s->field[CT__MEANS_TIME] || !ns ? CT_OK : CT_E_MEMORY;
}

/* Has the table motion of a body beside latitudes? Then the latitudes are a source of their own. */
static int has_motion(const ct_source *source)
{
    int moves = 0, turns = 0, geodetic = 0;
    const char *unit;
    for (int32_t i = 0; i < ct_source_fields(source); i++) {
        const ct__meaning m = ct__draft_meaning(ct_source_field_at(source, i)->name, &unit);
        geodetic |= m == CT__MEANS_LATITUDE;
        moves |= m == CT__MEANS_VX || m == CT__MEANS_DX || m == CT__MEANS_LEFT || m == CT__MEANS_LEFT_SPEED;
        turns |= m == CT__MEANS_WZ || m == CT__MEANS_DYAW || m == CT__MEANS_RIGHT || m == CT__MEANS_RIGHT_SPEED;
    }
    return geodetic && moves && turns;
}

/* Names of the first columns, for people. */
static ct_status list_columns(ct__draft *d, ct__draft_source *s, const ct_source *source, int names)
{
    const int32_t fields = ct_source_fields(source);
    char          list[700] = "";
    size_t        n = 0;
    for (int32_t i = 0; names && i < fields && i < 13; i++)
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%.40s", i ? ", " : "",
                              i < 12 ? ct_source_field_at(source, i)->name : "...");
    if (!names && fields > 1)
        snprintf(list, sizeof list, "%d without names; name them in the source, columns: [t, ...]", (int)fields);
    s->columns = ct__draft_print(d, "%s", list);
    return s->columns ? CT_OK : CT_E_MEMORY;
}

static ct_status take_fields(ct__draft *d, ct__draft_source *s, const ct_source *source, const char *prefix)
{
    const int32_t fields = ct_source_fields(source);
    const size_t length = strlen(prefix);
    const char *unit;
    const int apart = has_motion(source) && !ct__draft_has_word(s->pattern, CT__DRAFT_TRUTH_WORDS);
    int names = 0;
    for (int32_t i = 0; i < fields; i++) {
        const ct_source_field *f = ct_source_field_at(source, i);
        names += f->name[0] != '#';
        if (ct__draft_has_word(f->name, "ned")) s->ned = 1;
        const ct__meaning m = ct__draft_meaning(f->name, &unit);
        s->north |= m == CT__MEANS_LATITUDE;
        const int time = !s->topic && (m == CT__MEANS_TIME || m == CT__MEANS_NANOSECONDS);
        if (!s->topic && !time && s->kind != kind_of_column(f->name, apart)) continue; /* literals: one of each */
        if (!strncmp(f->name, prefix, length)) CT_TRY(take_field(d, s, source, f, length));
    }
    if (!s->topic && ct__draft_has_word(s->pattern, "vehicle") &&
        ct__draft_has_word(s->pattern, "local visual odometry"))
        s->ned = 1; /* PX4's messages */
    if (!names && !s->kind) name_by_count(s, fields);
    if (!s->topic) CT_TRY(list_columns(d, s, source, names));
    return relate_fields(d, s);
}

/* ---- tables ---- */

/* One source of the columns of a kind; none if they have no meaning. */
static ct_status inspect_columns(ct__draft *d, const ct__draft_group *g, const char *kind)
{
    ct_err why = {0};
    ct_source *source;
    ct_source_options options = ct_source_defaults();
    ct__draft_source s = {.pattern = g->pattern, .file = g->file, .files = g->files, .format = CT_SOURCE_AUTO};
    int meanings = 0;
    s.kind = kind;
    s.period_s = NAN;
    CT_TRY(ct__draft_skip(d, g->file, &s.skip, &s.rate_hz));
    options.skip = s.skip;
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
        CT_TRY(ct__draft_read_records(d, &s, &options));
    s.has_time = ct__draft_has(&s, CT__MEANS_TIME);
    if (!graph && !s.records && !kind) s.why_unused = fields ? "the table has no records" : "the file is empty";
    if (s.files > 9 && s.records == 1)
        s.why_unused = "each file has one record; join them into one table that has the stamps as a column";
    if (ct__draft_has(&s, CT__MEANS_MATRIX) && !s.has_time)
        s.has_time = 1, s.format = CT_SOURCE_KITTI; /* line by line */
    s.has_time |= ct__draft_has(&s, CT__MEANS_FRAME);
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
    ct__draft_source s = {
        .pattern = g->pattern, .file = g->file, .files = g->files, .format = CT_SOURCE_AUTO, .has_time = 1};
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
    CT_TRY(ct__draft_read_records(d, &s, &options));
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
