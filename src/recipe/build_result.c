/* build_result.c: what an import counts and finds: records that became nothing and why, rates, gaps, stamps. */
#include "recipe/build.h"

#include <math.h>

#define ZONE_S 900.0

static const char *const DROP_NAME[] = {
#define X(constant, name, sentence) name,
    CT_DROP_LIST(X)
#undef X
};
static const char *const DROP_TEXT[] = {
#define X(constant, name, sentence) sentence,
    CT_DROP_LIST(X)
#undef X
};

const char *ct_drop_name(ct_drop drop) { return ct__name_at(DROP_NAME, CT_DROP_COUNT, (int)drop); }
const char *ct_drop_text(ct_drop drop) { return ct__name_at(DROP_TEXT, CT_DROP_COUNT, (int)drop); }

ct_import_options ct_import_defaults(void) { return (ct_import_options){0}; }

void ct_import_result_free(ct_import_result *result)
{
    for (int32_t i = 0; result->count && i < result->counts; i++) {
        free(result->count[i].step_at);
        free(result->count[i].step);
    }
    free(result->count);
    ct_findings_free(&result->findings);
    *result = (ct_import_result){0};
}

/* ---- after a recording ---- */

ct_status ct__result_recording(ct__import *imp)
{
    for (int32_t i = 0; i < imp->channels; i++) {
        const ct__channel *c = &imp->channel[i];
        ct__seen *seen = &imp->seen[c->number];
        if (!c->taken) continue;
        if (!seen->any || c->first < seen->first) seen->first = c->first;
        if (!seen->any || c->last > seen->last) seen->last = c->last;
        seen->any = 1;
        const double span = (double)(c->last - c->first) * 1e-9;
        if (c->taken < 2 || !(span > 0)) continue;
        CT_TRY(ct__grow(&seen->rate, &seen->rate_capacity, seen->rates + 1, sizeof *seen->rate, "rates", imp->err));
        seen->rate[seen->rates++] = (double)(c->taken - 1) / span;
    }
    imp->result.recordings++;
    return ct__clocks_find(imp);
}

/* First and last stamp of a channel in s. */
static void span_of(const ct__import *imp, int32_t channel, double span[2])
{
    const ct__channel *c = channel >= 0 ? &imp->channel[channel] : NULL;
    span[0] = c && c->taken ? (double)c->first * 1e-9 : NAN;
    span[1] = c && c->taken ? (double)c->last * 1e-9 : NAN;
}

ct_status ct__result_empty(ct__import *imp)
{
    const char *name = imp->plan.recording[imp->r].name;
    double value[4];
    span_of(imp, imp->body[0].motion, value);
    span_of(imp, imp->body[0].truth, value + 2);
    CT_TRY(ct_findings_add(&imp->result.findings, CT_FINDING_RECORDING_EMPTY, 4, value, imp->err));
    return ct_findings_add_subject(&imp->result.findings, CT_SUBJECT_SEQUENCE, imp->r, 0, name, imp->err);
}

/* ---- findings ---- */

static ct_status find_one(ct__import *imp, ct_finding_code code, int values, const double value[], int32_t sensor,
                          const char *cause)
{
    const ct_recipe *recipe = imp->recipe;
    const char *name = sensor >= 0 && sensor < recipe->sensors ? recipe->sensor[sensor].name : "truth";
    CT_TRY(ct_findings_add(&imp->result.findings, code, values, value, imp->err));
    if (sensor >= 0)
        CT_TRY(
            ct_findings_add_subject(&imp->result.findings, CT_SUBJECT_SENSOR, sensor, cause ? 1 : 0, name, imp->err));
    if (cause) CT_TRY(ct_findings_add_subject(&imp->result.findings, CT_SUBJECT_CAUSE, -1, -1, cause, imp->err));
    return CT_OK;
}

#define LONG_BYTES 3e8  /* of memory: what an import in segments stays below            */
#define COPIES     3.0  /* of what is held of a sequence: itself, its graph, its values */
#define SEGMENT    3000 /* states of the segments that are proposed                     */

/* To two digits. */
static double about(double x)
{
    const double unit = pow(10, floor(log10(x)) - 1);
    return round(x / unit) * unit;
}

ct_status ct__result_long(ct__import *imp, const ct__open *open)
{
    const double done = (double)ct__bytes_read(imp), n = open->states;
    const double whole = done > 0 ? n * fmax(1, (double)imp->bytes_all / done) : n;
    const double held = n * sizeof *open->state + open->factors * (double)sizeof *open->factor +
                        (double)open->numbers * sizeof *open->z;
    const double bytes = COPIES * held / n * whole;
    if (imp->said_long || !(bytes > LONG_BYTES)) return CT_OK;
    imp->said_long = 1;
    const double dt = (double)(open->state[open->states - 1].stamp - open->begin) * 1e-9 / n;
    const double value[3] = {about(whole), about(1e-6 * bytes), fmax(1, round(SEGMENT * dt))};
    const char  *name = imp->plan.recording[imp->r].name;
    CT_TRY(ct_findings_add(&imp->result.findings, CT_FINDING_LONG_SEQUENCE, 3, value, imp->err));
    CT_TRY(ct_findings_add_subject(&imp->result.findings, CT_SUBJECT_SEQUENCE, imp->r, 0, name, imp->err));
    if (imp->options.notice)
        imp->options.notice(imp->options.user, &imp->result.findings.item[imp->result.findings.count - 1]);
    return CT_OK;
}

static ct_drop main_reason(const ct_import_count *n)
{
    int best = 0;
    for (int i = 1; i < CT_DROP_COUNT; i++)
        if (n->dropped[i] > n->dropped[best]) best = i;
    return (ct_drop)best;
}

static ct_status findings_of(ct__import *imp, int32_t i)
{
    const ct_import_count *n = &imp->result.count[i];
    const ct__seen *seen = &imp->seen[i];
    if (!n->factors && n->records) {
        const double value[2] = {(double)n->records, (double)n->dropped[main_reason(n)]};
        CT_TRY(find_one(imp, CT_FINDING_SENSOR_UNUSED, 2, value, i, ct_drop_text(main_reason(n))));
    } else if (!n->records)
        CT_TRY(find_one(imp, CT_FINDING_SENSOR_WITHOUT_RECORDS, 0, NULL, i, NULL));
    if (seen->missing) {
        const double value[1] = {(double)seen->missing};
        CT_TRY(find_one(imp, CT_FINDING_FILES_MISSING, 1, value, i, seen->missing_in));
    }
    if (n->dropped[CT_DROP_STAMP] && *seen->where) {
        const double value[2] = {(double)n->dropped[CT_DROP_STAMP],
                                 100 * (double)n->dropped[CT_DROP_STAMP] / (double)n->records};
        CT_TRY(find_one(imp, CT_FINDING_STAMPS_REPEATED, 2, value, i, seen->where));
    }
    if (seen->damaged) {
        const double value[1] = {(double)seen->damaged};
        CT_TRY(find_one(imp, CT_FINDING_FILE_CUT_SHORT, 1, value, i, seen->damaged_in));
    }
    if (*seen->numbered_in) CT_TRY(find_one(imp, CT_FINDING_RECORDS_NUMBERED, 0, NULL, i, seen->numbered_in));
    if (seen->unordered) {
        const double value[1] = {(double)seen->unordered};
        CT_TRY(find_one(imp, CT_FINDING_RECORDS_UNORDERED, 1, value, i, seen->where));
    }
    if (seen->gaps) {
        const double value[3] = {(double)seen->gaps, imp->recipe->states.gap_s, seen->longest_gap_s};
        CT_TRY(find_one(imp, CT_FINDING_ODOMETRY_GAPS, 3, value, i, NULL));
    }
    int          wraps = 0;
    const double wrap = ct__counters_wrap(&seen->counters, &wraps);
    if (wraps) {
        const double value[2] = {wrap, wraps};
        CT_TRY(find_one(imp, CT_FINDING_COUNTERS_WRAP, 2, value, i, NULL));
    }
    return CT_OK;
}

/* The part of time that a sensor shares with the odometry. */
static ct_status find_overlap(ct__import *imp, int32_t i, int32_t motion)
{
    const ct__seen *a = &imp->seen[i], *b = &imp->seen[motion];
    if (i == motion || !a->any || !b->any || (a->first <= b->last && b->first <= a->last)) return CT_OK;
    const double first = (double)a->first * 1e-9, last = (double)a->last * 1e-9;
    const double begin = (double)b->first * 1e-9, end = (double)b->last * 1e-9;
    const double quarters = ZONE_S * round((begin - first) / ZONE_S); /* zones differ by quarters of an hour */
    const int    fits = first + quarters <= end && begin <= last + quarters;
    const double value[5] = {first, last, begin, end, fits ? quarters : begin - first};
    return find_one(imp, CT_FINDING_NO_COMMON_TIME, 5, value, i, NULL);
}

static int32_t first_motion(const ct_recipe *recipe)
{
    for (int32_t i = 0; i < recipe->sensors; i++)
        if (recipe->sensor[i].type == CT__SENSOR_ODOMETRY) return i;
    for (int32_t i = 0; i < recipe->sensors; i++)
        if (recipe->sensor[i].type == CT__SENSOR_VELOCITY) return i;
    return -1;
}

static void add_step(ct__steps *s, double at, double step)
{
    if (!s->every) s->every = 1;
    if (s->seen++ % s->every) return;
    if (s->count == CT__STEPS) { /* every other one stays */
        for (int32_t i = 0; i < CT__STEPS / 2; i++) s->at[i] = s->at[2 * i], s->step[i] = s->step[2 * i];
        s->count = CT__STEPS / 2;
        s->every *= 2;
        if ((s->seen - 1) % s->every) return;
    }
    s->at[s->count] = at;
    s->step[s->count++] = step;
}

void ct__result_step(ct__import *imp, const ct__channel *c, ct_ns stamp)
{
    ct__seen *seen = &imp->seen[c->number];
    add_step(stamp > c->last_stamp ? &seen->steady : &seen->late, (double)(stamp - imp->base) * 1e-9,
             (double)(stamp - c->last_stamp) * 1e-9);
}

/* Steps of a sensor whose stamps do not ascend. */
static ct_status keep_steps(ct__import *imp, int32_t i)
{
    const ct__steps *const list[] = {&imp->seen[i].steady, &imp->seen[i].late};
    ct_import_count       *n = &imp->result.count[i];
    const int32_t          all = list[0]->count + list[1]->count;
    if (!list[1]->count) return CT_OK;
    n->step_at = ct__zalloc(all, sizeof *n->step_at);
    n->step = ct__zalloc(all, sizeof *n->step);
    if (!n->step_at || !n->step) return ct__no_memory(imp->err, "steps", all);
    for (int k = 0; k < 2; k++) {
        memcpy(n->step_at + n->steps, list[k]->at, (size_t)list[k]->count * sizeof *n->step_at);
        memcpy(n->step + n->steps, list[k]->step, (size_t)list[k]->count * sizeof *n->step);
        n->steps += list[k]->count;
    }
    return CT_OK;
}

ct_status ct__result_finish(ct__import *imp)
{
    const int32_t motion = first_motion(imp->recipe);
    for (int32_t i = 0; i < imp->result.counts; i++) {
        CT_TRY(keep_steps(imp, i));
        imp->result.count[i].rate_hz = ct_median(imp->seen[i].rates, imp->seen[i].rate);
        CT_TRY(findings_of(imp, i));
        if (motion >= 0) CT_TRY(find_overlap(imp, i, motion));
    }
    if (imp->short_segments) {
        const double value[2] = {(double)imp->short_segments, (double)imp->short_states};
        CT_TRY(find_one(imp, CT_FINDING_SHORT_SEQUENCES, 2, value, -1, NULL));
    }
    if (imp->few_points) {
        const double value[1] = {(double)imp->few_points};
        CT_TRY(find_one(imp, CT_FINDING_POINTS_LEFT_OUT, 1, value, -1, NULL));
    }
    return CT_OK;
}

/* ---- nothing at all ---- */

/* Why nothing of a sensor, or of the truth, can be used. */
static ct_status without_records(const ct__import *imp, int32_t i, int line)
{
    const ct_import_count *n = &imp->result.count[i];
    if (!n->records)
        return ct_fail(imp->err, CT_E_EMPTY, "%s:%d: %s: its files have no records", imp->recipe->name, line, n->name);
    return ct_fail(imp->err, CT_E_EMPTY, "%s:%d: %s: none of its %lld records can be used; %lld of them: %s",
                   imp->recipe->name, line, n->name, (long long)n->records, (long long)n->dropped[main_reason(n)],
                   ct_drop_text(main_reason(n)));
}

ct_status ct__result_nothing(ct__import *imp)
{
    const ct_recipe *recipe = imp->recipe;
    const int32_t motion = first_motion(recipe), truth = recipe->sensors;
    const ct__seen *a = motion >= 0 ? &imp->seen[motion] : NULL, *b = &imp->seen[truth];
    if (a && !a->any) return without_records(imp, motion, recipe->sensor[motion].line);
    if (recipe->truth.given && !b->any) return without_records(imp, truth, recipe->truth.line);
    if (a && b->any && (a->first > b->last || b->first > a->last))
        return ct_fail(imp->err, CT_E_EMPTY,
                       "%s:%d: the truth runs from %.3f to %.3f s, sensor %s from %.3f to %.3f s: they have no time in "
                       "common (units of stamps? `delay`?)",
                       recipe->name, recipe->truth.line, (double)b->first * 1e-9, (double)b->last * 1e-9,
                       recipe->sensor[motion].name, (double)a->first * 1e-9, (double)a->last * 1e-9);
    return ct_fail(
        imp->err, CT_E_EMPTY,
        "%s:%d: no sequence has two states: odometry and truth are together for less than two of them, or gaps "
        "of more than %g s divide them (states: gap)",
        recipe->name, recipe->states.line, recipe->states.gap_s);
}
