/* draft_records.c: the first records of a source: the period of its stamps, units by the size of values, names of
 * landmarks. The whole file is not read. */
#define _POSIX_C_SOURCE 200809L
#include "recipe/draft.h"

#include <math.h>

#define LOOK 4000 /* records: enough for a robot to turn by more than 7 rad if its heading is in degrees */

/* ---- first records ---- */

typedef struct {
    int32_t at[CT__MEANS_COUNT]; /* place of a value, or -1 */
    int32_t text[2];
    double most[CT__MEANS_COUNT]; /* largest magnitude */
    double sum[CT__MEANS_COUNT];  /* of magnitudes     */
    int64_t count[CT__MEANS_COUNT];
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
        if (isnan(s->first[m]) && !isnan(v)) s->first[m] = record->value[l->at[m]];
        if (v > l->most[m]) l->most[m] = v;
        if (v < INFINITY) l->sum[m] += v, l->count[m]++;
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
        s->first[m] = NAN;
        if (!ct__draft_has(s, (ct__meaning)m) || m == CT__MEANS_ID || m == CT__MEANS_ID2) continue;
        if (m == CT__MEANS_TIME && s->date) continue;
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

/* ---- units ---- */

double ct__draft_seconds(const char *unit)
{
    return !unit ? 1 : !strcmp(unit, "ns") ? 1e-9 : !strcmp(unit, "us") ? 1e-6 : !strcmp(unit, "ms") ? 1e-3 : 1;
}

/* The unit of a stamp by its size, if it counts from 1970: seconds are about 1.7e9, whatever the rate. Clocks that
 * begin anywhere: by the step, as no sensor waits for five seconds. */
static const char *time_unit(double most, double step)
{
    if (most > 1e17) return "ns";
    if (most > 1e14) return "us";
    if (most > 3e11) return "ms";
    if (most > 3e8 && most < 1e10 && step < 1e5) return NULL;
    return step > 3e5 ? "ns" : step > 3e3 ? "us" : step > 5 ? "ms" : NULL;
}

/* Latitudes of receivers are in 1e-7 degrees, with heights in mm; some sets have radians. */
static void guess_degrees(ct__draft_source *s, const looks *l)
{
    static const ct__meaning ANGLE[] = {CT__MEANS_LATITUDE, CT__MEANS_LONGITUDE};
    const double latitude = l->most[CT__MEANS_LATITUDE], longitude = l->most[CT__MEANS_LONGITUDE];
    if (!ct__draft_has(s, CT__MEANS_LATITUDE) || !ct__draft_has(s, CT__MEANS_LONGITUDE)) return;
    const int whole = latitude > 1e4 || longitude > 1e4, rad = latitude < 1.6 && longitude < 3.2 && latitude > 0;
    const int written = s->unit[CT__MEANS_LATITUDE] != NULL;
    for (int i = 0; i < 2 && (whole || (rad && !written)); i++) {
        s->factor[ANGLE[i]] = whole ? 1e-7 : 57.29577951308232;
        s->guessed[ANGLE[i]] = 1;
    }
    if (whole && ct__draft_has(s, CT__MEANS_HEIGHT) && !s->unit[CT__MEANS_HEIGHT])
        s->factor[CT__MEANS_HEIGHT] = 1e-3, s->guessed[CT__MEANS_HEIGHT] = 1;
}

/* Fields without any value are left out. Does the body stay in the plane? */
static void leave_out_empty(ct__draft_source *s, const looks *l)
{
    static const ct__meaning RATE[] = {CT__MEANS_VZ, CT__MEANS_WX, CT__MEANS_WY};
    int level = 1;
    for (int m = 0; m < CT__MEANS_COUNT; m++)
        if (l->at[m] >= 0 && m != CT__MEANS_TIME && !l->count[m]) s->field[m] = NULL;
    for (int i = 0; i < 3; i++) level = level && !(l->most[RATE[i]] > 0);
    s->level = l->records > 10 && level && !(l->most[CT__MEANS_Z] > 0);
}

static void guess_units(ct__draft_source *s, const looks *l)
{
    static const struct {
        ct__meaning meaning;
        double most, mean; /* larger ones are in this unit. A turn rate may be large for a moment */
        const char *unit;
    } SIZE[] = {{CT__MEANS_YAW, 13, 0, "deg"},  {CT__MEANS_BEARING, 7, 0, "deg"}, {CT__MEANS_DYAW, 7, 0, "deg"},
                {CT__MEANS_WZ, 20, 6, "deg/s"}, {CT__MEANS_RANGE, 2000, 0, "mm"}, {CT__MEANS_VX, 200, 0, "mm/s"}};
    if (!s->unit[CT__MEANS_YAW] && l->most[CT__MEANS_YAW] > 7) s->guessed[CT__MEANS_YAW] = 1; /* or turns add up */
    static const ct__meaning EULER[] = {CT__MEANS_ROLL, CT__MEANS_PITCH};
    for (size_t i = 0; i < sizeof SIZE / sizeof *SIZE; i++) {
        const ct__meaning m = SIZE[i].meaning;
        if (!ct__draft_has(s, m) || s->unit[m] || !(l->most[m] > SIZE[i].most)) continue;
        if (!(l->sum[m] > SIZE[i].mean * (double)l->count[m])) continue;
        s->unit[m] = SIZE[i].unit;
        s->guessed[m] = 1;
    }
    for (int i = 0; i < 2; i++) /* angles of one pose have one unit */
        if (ct__draft_has(s, EULER[i]) && !s->unit[EULER[i]] && s->guessed[CT__MEANS_YAW])
            s->unit[EULER[i]] = s->unit[CT__MEANS_YAW], s->guessed[EULER[i]] = 1;
    guess_degrees(s, l);
    leave_out_empty(s, l);
    const int clock = ct__draft_has(s, CT__MEANS_TIME) && !s->date;
    if (!ct__draft_has(s, CT__MEANS_TIME) && ct__draft_has(s, CT__MEANS_FRAME) && !s->topic)
        s->period_s = 1 / (s->rate_hz > 0 ? s->rate_hz : 100);
    else {
        const double step = s->step = median_step(l);
        if (clock && !s->unit[CT__MEANS_TIME]) {
            s->unit[CT__MEANS_TIME] = time_unit(l->most[CT__MEANS_TIME], step);
            s->guessed[CT__MEANS_TIME] = s->unit[CT__MEANS_TIME] != NULL;
        }
        s->period_s = step * (clock ? ct__draft_seconds(s->unit[CT__MEANS_TIME]) : 1);
    }
    s->begin = l->time[0];
    s->end = l->time[l->records - 1];
    s->whole = l->records < LOOK;
    s->zero_rotation = ct__draft_has(s, CT__MEANS_QW) && !l->rotation;
}

ct_status ct__draft_read_records(ct__draft *d, ct__draft_source *s, const ct_source_options *options)
{
    ct_err why = {0};
    ct_source *source;
    ct_source_options how = *options;
    looks *l = ct__zalloc(1, sizeof *l);
    if (!l) return ct__no_memory(d->err, "records", LOOK);
    if (s->date)
        how.time = s->field[CT__MEANS_TIME];
    else if (ct__draft_has(s, CT__MEANS_TIME))
        how.time = "0"; /* the column is read as a number, whatever its unit */
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

/* ---- clocks ---- */

static int has_clock(const ct__draft_source *s)
{
    return s->records > 1 && ct__draft_has(s, CT__MEANS_TIME) && !s->topic && !s->date;
}

/* Have the stamps of two tables nothing in common? Ends that were not seen are unknown. */
static int are_apart(const ct__draft_source *a, const ct__draft_source *b)
{
    const double p = ct__draft_seconds(a->unit[CT__MEANS_TIME]), q = ct__draft_seconds(b->unit[CT__MEANS_TIME]);
    const double day = 86400;
    if (a->begin * p < b->begin * q) return a->whole ? a->end * p < b->begin * q : b->begin * q - a->begin * p > day;
    return b->whole ? b->end * q < a->begin * p : a->begin * p - b->begin * q > day;
}

/* Is its unit unknown: a clock that begins anywhere, without a word about it? */
static int is_open(const ct__draft_source *s)
{
    return has_clock(s) && s->end < 3e8 * 1e6 && (s->guessed[CT__MEANS_TIME] || !s->unit[CT__MEANS_TIME]) &&
           !(s->end > 3e8 && s->end < 1e10 && !s->unit[CT__MEANS_TIME]);
}

/* Do the numbers of two clocks meet, whatever their unit? What was not seen may be ten times as long. */
static int meet(const ct__draft_source *a, const ct__draft_source *b)
{
    const double p = a->whole ? 0.1 : 10, q = b->whole ? 0.1 : 10;
    return a->begin < b->end + q * (b->end - b->begin) && b->begin < a->end + p * (a->end - a->begin);
}

/* Tables of one clock have one unit, that of the densest of them: a slow sensor does not tell it. */
static void share_unit(const ct__draft *d, ct__draft_source *s)
{
    double step = s->step;
    for (int64_t i = 0; i < d->sources; i++) {
        const ct__draft_source *o = &d->source[i];
        if (is_open(o) && meet(s, o) && o->step > 0) step = fmin(step, o->step);
    }
    s->unit[CT__MEANS_TIME] = time_unit(0, step);
    s->guessed[CT__MEANS_TIME] = s->unit[CT__MEANS_TIME] != NULL;
    s->period_s = s->step * ct__draft_seconds(s->unit[CT__MEANS_TIME]);
}

void ct__draft_clocks(ct__draft *d)
{
    const ct__draft_source *dense = NULL;
    for (int64_t i = 0; i < d->sources; i++) {
        ct__draft_source *s = &d->source[i];
        if (is_open(s)) share_unit(d, s);
    }
    for (int64_t i = 0; i < d->sources; i++) {
        const ct__draft_source *s = &d->source[i];
        if (has_clock(s) && s->period_s > 0 && (!dense || s->period_s < dense->period_s)) dense = s;
    }
    for (int64_t i = 0; dense && i < d->sources; i++) {
        ct__draft_source *s = &d->source[i];
        const int one = s != dense && has_clock(s) && s->files == dense->files; /* of the same run */
        if (one && are_apart(s, dense)) s->clock = dense->pattern;
    }
}

/* ---- lines above a table ---- */

#define TITLE_LINES 12

static int recognised(const char *file, int64_t skip, ct_status *status)
{
    ct_err why = {0};
    ct_source *source = NULL;
    ct_source_options options = ct_source_defaults();
    int n = 0;
    options.skip = skip;
    *status = ct_source_open(file, &options, &source, &why);
    if (*status != CT_OK) return 0;
    for (int32_t i = 0; i < ct_source_fields(source); i++) {
        const char *unit;
        n += ct__draft_meaning(ct_source_field_at(source, i)->name, &unit) != CT__MEANS_NOTHING;
    }
    ct_record record;
    int more = 0;
    if (n && (ct_source_next(source, &record, &more, &why) != CT_OK || !more)) n = 0; /* lines are no records of it */
    ct_source_free(source);
    return n;
}

/* A number that stands alone on a line: Vicon's frames a second. */
static double lone_number(const char *file, int64_t lines)
{
    char line[200];
    double rate = 0;
    FILE *in = fopen(file, "r");
    for (int64_t i = 0; in && i < lines && fgets(line, sizeof line, in); i++) {
        char *end;
        const double value = strtod(line, &end);
        if (end > line && !end[strspn(end, ",; \t\r\n")] && value > 0 && value < 1e5) rate = value;
    }
    if (in) fclose(in);
    return rate;
}

ct_status ct__draft_skip(ct__draft *d, const char *file, int64_t *skip, double *rate_hz)
{
    ct_status status;
    *skip = 0;
    *rate_hz = 0;
    int best = recognised(file, 0, &status);
    if (status == CT_E_MEMORY) return ct__no_memory(d->err, "sources", 1);
    for (int64_t k = 1; best < 2 && k <= TITLE_LINES; k++) {
        const int n = recognised(file, k, &status);
        if (status == CT_E_MEMORY) return ct__no_memory(d->err, "sources", 1);
        if (n > best && n > 1) *skip = k, best = n;
    }
    if (*skip) *rate_hz = lone_number(file, *skip);
    return CT_OK;
}
