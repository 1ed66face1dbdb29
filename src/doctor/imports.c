/* imports.c: the examination of a dataset with its recipe. The corrections that one examination gives are applied by
 * importing again, and the new dataset is examined; faults that were found stay in the fit, so that their sizes settle
 * to what the files say. It ends when no fault moves by half a standard error, and none is new. */
#include "doctor/doctor.h"
#include "recipe/recipe.h"

#include <math.h>
#include <stdio.h>

#define IMPORTS_MOST 5
#define RESTARTS     3
#define SCALE_MOST   4.0 /* a factor beyond is none */
#define SETTLED      0.5 /* standard errors */
#define REMAINS      3.0 /* standard errors that a fault has after the corrections of others */

typedef struct {
    const ct_dataset  *given;
    ct_doctor_options  options;
    ct_dataset        *imported; /* NULL at first */
    ct_recipe         *recipe;   /* with corrections; NULL at first */
    ct__forced        *forced;
    int32_t            forceds;
    int                frames_apart; /* frames are those of single sensors */
    int                truth_late;   /* a delay of all sensors is the truth's */
    int64_t            capacity;
    ct__exact_list     exact; /* sensors whose noise is not in what they measure */
    ct__forced        *excluded; /* faults that others explain */
    int32_t            excludeds;
    int64_t            excluded_capacity;
    int                settled; /* 1: their delays are given                     */
    double             moved; /* largest step of a forced fault, in standard errors; INFINITY: a new one */
} rounds;

/* ---- Merging ---------------------------------------------------------------------------------- */

static int same_subjects(const ct_finding *a, const ct_finding *b)
{
    if (a->code != b->code || a->subjects != b->subjects) return 0;
    for (int32_t i = 0; i < a->subjects; i++)
        if (strcmp(a->subject[i].name, b->subject[i].name)) return 0;
    return 1;
}

/* Findings whose sizes add up over imports; the number of values that do. Scales multiply: -1. */
static int adds_up(ct_finding_code code)
{
    switch (code) {
    case CT_FINDING_SENSOR_DELAY:
    case CT_FINDING_CLOCK_DRIFT:
    case CT_FINDING_SENSOR_BIAS:
    case CT_FINDING_RATE_BIAS: return 1;
    case CT_FINDING_SENSOR_MOUNT:
    case CT_FINDING_SENSOR_TURNED: return 3;
    case CT_FINDING_SENSOR_IN_OTHER_FRAME: return 4;
    case CT_FINDING_SENSOR_SCALE: return -1;
    default: return 0;
    }
}

static int stays(ct_finding_code code)
{
    return code == CT_FINDING_SENSOR_UNITS || code == CT_FINDING_SENSOR_AXES || code == CT_FINDING_QUATERNION_ORDER ||
           code == CT_FINDING_CAMERA_AXES || code == CT_FINDING_NED_AXES || code == CT_FINDING_COMPASS_HEADING ||
           code == CT_FINDING_INVERSE_POSES || code == CT_FINDING_STAMPS_REPEATED || code == CT_FINDING_TRUTH_TURNED ||
           ct__is_of_import(code);
}

/* to += from: sizes of the same fault in a dataset that was corrected by `to`. */
static void add_sizes(ct_finding *to, const ct_finding *from)
{
    const int n = adds_up(to->code);
    for (int i = 0; i < n; i++) to->value[i] += from->value[i];
    if (n < 0) to->value[0] *= from->value[0];
    const int error = n == 3 ? 3 : n == 4 ? 4 : 1, by_recording = error == 1 && isfinite(to->value[3]);
    /* Of recordings that differ the error is what they scatter by. After their own corrections they do not. */
    to->value[error] = by_recording ? fmax(to->value[error], from->value[error]) : from->value[error];
    if (n == 4) to->value[5] = from->value[5];
}

static int find_same(const ct_diagnosis *d, const ct_finding *f)
{
    for (int32_t i = 0; i < d->findings.count; i++)
        if (same_subjects(&d->findings.item[i], f)) return i;
    return -1;
}

static ct_status take_evidence(ct__exam *e, const ct_diagnosis *from, int32_t i, ct_err *err)
{
    for (int32_t k = 0; k < from->evidences; k++) {
        const ct_evidence *v = &from->evidence[k];
        if (v->finding != i) continue;
        CT_TRY(ct__report_evidence(e, v->x_label, v->y_label, v->points, v->x, v->y, v->lines, v->line_x, v->line_y,
                                   err));
        e->out->evidence[e->out->evidences - 1].of_reading = v->of_reading;
    }
    return CT_OK;
}

static ct_status take(ct__exam *e, const ct_diagnosis *from, int32_t i, ct_err *err)
{
    const ct_finding *f = &from->findings.item[i];
    int               values = 0;
    while (ct_finding_get_info(f->code)->value[values]) values++;
    CT_TRY(ct__report(e, NULL, -1, f->code, values, f->value, err));
    for (int32_t k = 0; k < f->subjects; k++)
        CT_TRY(ct_findings_add_subject(&e->out->findings, f->subject[k].kind, f->subject[k].index, f->subject[k].sign,
                                       f->subject[k].name, err));
    return take_evidence(e, from, i, err);
}

/* *all <- findings of faults of both, with sizes over both; findings on noise and truth of the later one. */
static ct_status merge(ct_diagnosis **all, const ct_diagnosis *now, ct_err *err)
{
    ct__exam e = {.out = ct__zalloc(1, sizeof *e.out)};
    if (!e.out) return ct__no_memory(err, "diagnoses", 1);
    ct_status status = CT_OK;
    for (int32_t i = 0; *all && status == CT_OK && i < (*all)->findings.count; i++) {
        const ct_finding *f = &(*all)->findings.item[i];
        const int         again = find_same(now, f);
        if (!adds_up(f->code) && !stays(f->code)) continue;
        status = take(&e, *all, i, err);
        if (status == CT_OK && again >= 0 && adds_up(f->code))
            add_sizes(&e.out->findings.item[e.out->findings.count - 1], &now->findings.item[again]);
    }
    for (int32_t i = 0; status == CT_OK && i < now->findings.count; i++) {
        const ct_finding *f = &now->findings.item[i];
        if (*all && (adds_up(f->code) || stays(f->code)) && find_same(*all, f) >= 0) continue;
        status = take(&e, now, i, err);
    }
    e.out->tests = now->tests;
    if (status != CT_OK) {
        ct_diagnosis_free(e.out);
        return status;
    }
    ct_diagnosis_free(*all);
    *all = e.out;
    return CT_OK;
}

/* Is a fault that was found before another was corrected still one? */
static int remains(const ct_finding *f)
{
    const int n = adds_up(f->code), error = n == 3 ? 3 : n == 4 ? 4 : 1;
    double    size = n < 0 ? fabs(f->value[0] - 1) : 0;
    for (int i = 0; i < CT_MIN(n, 3); i++) size = fmax(size, fabs(f->value[i]));
    const int by_recording = (n == 1 || n < 0) && f->value[3] > 0;
    const int turned = n == 4 && fabs(f->value[3]) > REMAINS * f->value[5];
    return !n || by_recording || turned || size > REMAINS * f->value[error];
}

static int is_explained(const ct_diagnosis *d, const ct_correction *c)
{
    for (int32_t i = 0; i < d->findings.count; i++)
        if (d->correction_of[i] >= 0 && d->correction[d->correction_of[i]].kind == c->kind &&
            !strcmp(d->correction[d->correction_of[i]].sensor, c->sensor))
            return 1;
    return 0;
}

static void drop_unexplained(ct_diagnosis *d, const ct_recipe *recipe)
{
    int32_t n = 0;
    ct__assign_corrections(d, recipe);
    for (int32_t k = 0; k < d->corrections; k++) d->correction_error[k] *= is_explained(d, &d->correction[k]) ? 1 : NAN;
    for (int32_t k = 0; k < d->corrections; k++) {
        if (isnan(d->correction_error[k])) continue;
        d->correction_error[n] = d->correction_error[k];
        d->correction[n++] = d->correction[k];
    }
    d->corrections = n;
}

/* Without faults that do not remain, and corrections that no finding explains. */
static ct_status tidy(ct_diagnosis **all, const ct_recipe *recipe, ct_err *err)
{
    ct__exam  e = {.out = ct__zalloc(1, sizeof *e.out)};
    ct_status status = e.out ? CT_OK : ct__no_memory(err, "diagnoses", 1);
    for (int32_t i = 0; status == CT_OK && i < (*all)->findings.count; i++)
        if (remains(&(*all)->findings.item[i])) status = take(&e, *all, i, err);
    for (int32_t k = 0; status == CT_OK && k < (*all)->corrections; k++) {
        const ct_correction *c = &(*all)->correction[k];
        status = ct__report_correction(&e, NULL, -1, c->kind, c->count, c->value, (*all)->correction_error[k], err);
        if (status == CT_OK) e.out->correction[k] = *c;
    }
    if (status == CT_OK) drop_unexplained(e.out, recipe);
    if (status != CT_OK) {
        ct_diagnosis_free(e.out);
        return status;
    }
    e.out->tests = (*all)->tests;
    e.out->imports = (*all)->imports;
    ct_diagnosis_free(*all);
    *all = e.out;
    ct__assign_corrections(*all, recipe);
    return CT_OK;
}

/* ---- Rounds ----------------------------------------------------------------------------------- */

static int is_forced(rounds *r, const ct__sensor *s, int j)
{
    for (int32_t i = 0; i < r->forceds; i++) {
        if (!ct__forces(&r->forced[i], s, j)) continue;
        r->forced[i].by_recording |= s->fit->use[j] == 3;
        return 1;
    }
    return 0;
}

/* Remembers the faults in use, and how far they moved. */
static ct_status remember(rounds *r, const ct__exam *e, ct_err *err)
{
    double frame = INFINITY; /* of sensors with frames of their own, the best: not all can be corrected */
    int    framed = 0;
    r->moved = ct_findings_find(&e->out->findings, CT_FINDING_TRUTH_TURNED) >= 0 ? INFINITY : 0;
    for (int32_t i = 0; i < e->sensors; i++) {
        const ct__sensor *s = &e->sensor[i];
        for (int k = 0; k < CT_ROWS_MAX; k++)
            if (s->fault.axis[k] != k + 1 || s->fault.unit[k] < 1 || s->fault.unit[k] > 1) r->moved = INFINITY;
        double mine = -1;
        for (int j = 0; s->fit && j < s->params; j++) {
            if (!s->fit->use[j]) continue;
            if (is_forced(r, s, j)) {
                double *most = s->param[j].kind == CT__FAULT_FRAME ? &mine : &r->moved;
                *most = fmax(*most, fabs(ct__fault_value(s, &s->fault, j)) / s->fit->error[j]);
                continue;
            }
            r->moved = INFINITY;
            CT_TRY(ct__grow(&r->forced, &r->capacity, (int64_t)r->forceds + 1, sizeof *r->forced, "faults", err));
            ct__forced f = {.loops = s->loops, .param = s->param[j], .by_recording = s->fit->use[j] == 3};
            snprintf(f.name, sizeof f.name, "%s", s->name);
            const int row = f.param.kind == CT__FAULT_BIAS || f.param.kind == CT__FAULT_SCALE ? f.param.row : -1;
            ct__subject_name(s, f.param.kind == CT__FAULT_WHEEL ? CT__ROW_WHEELS + f.param.row : row, f.subject);
            r->forced[r->forceds++] = f;
        }
        if (mine >= 0) frame = fmin(frame, mine), framed = 1;
    }
    if (framed) r->moved = fmax(r->moved, e->frame_moved > 0 ? e->frame_moved : frame);
    return CT_OK;
}

/* Corrections with names of the recipe's sensors; those that no one sensor of the recipe has are left out. */
static int32_t rename_sensors(const ct_recipe *recipe, ct_diagnosis *d)
{
    int32_t n = 0;
    for (int32_t i = 0; i < d->corrections; i++) {
        ct_correction c = d->correction[i];
        char          name[64];
        if (strcmp(c.sensor, "truth")) {
            if (!ct__recipe_sensor_of(recipe, c.sensor, name)) continue;
            snprintf(c.sensor, sizeof c.sensor, "%.63s", name);
        }
        d->correction_error[n] = d->correction_error[i];
        d->correction[n++] = c;
    }
    return d->corrections = n;
}

/* The dataset of a recipe's text. */
static ct_status import(rounds *r, const char *text, ct_import_result *counts, ct_err *err)
{
    const ct_recipe  *base = r->options.recipe;
    ct_import_options options = ct_import_defaults();
    ct_recipe        *recipe = NULL;
    ct_dataset       *dataset = NULL;
    options.folder = r->options.folder;
    CT_TRY(ct_recipe_parse(text, base->name, base->folder, &recipe, err));
    const ct_status status = ct_recipe_dataset(recipe, &options, &dataset, counts, err);
    if (status != CT_OK) {
        ct_recipe_free(recipe);
        return status;
    }
    ct_recipe_free(r->recipe);
    ct_dataset_free(r->imported);
    r->recipe = recipe;
    r->imported = dataset;
    return CT_OK;
}

/* Kernels, full covariances and biases change no residual. With them the noise would not be tested again, and what was
 * found of it would be lost. The caller frees the list; NULL: no memory. */
static ct_correction *values_alone(const ct_diagnosis *d, int32_t *count)
{
    ct_correction *list = ct__zalloc(CT_MAX(1, d->corrections), sizeof *list);
    *count = 0;
    for (int32_t i = 0; list && i < d->corrections; i++)
        if (d->correction[i].kind < CT_CORRECT_KERNEL)
            list[(*count)++] = d->correction[i];
    return list;
}

static ct_status apply(rounds *r, ct_diagnosis *now, ct_err *err)
{
    const ct_recipe *recipe = r->recipe ? r->recipe : r->options.recipe;
    ct_correction   *list = NULL;
    int32_t          count = 0;
    char            *text = NULL;
    int32_t          values = 0;
    ct_correction   *value = values_alone(now, &values);
    ct_status        status = value ? CT_OK : ct__no_memory(err, "corrections", now->corrections);
    if (status == CT_OK) status = ct__compose_corrections(recipe, values, value, &list, &count, err);
    if (status == CT_OK) status = ct_recipe_correct(recipe, list, count, &text, err);
    if (status == CT_OK) status = import(r, text, NULL, err);
    free(value);
    free(list);
    free(text);
    return status;
}

/* Of a delay that was found before the last examination. */
static double delay_error(const ct_diagnosis *d, const ct_recipe *recipe, const char *sensor)
{
    char name[64];
    for (int32_t i = 0; i < d->findings.count; i++) {
        const ct_finding *f = &d->findings.item[i];
        if (f->code == CT_FINDING_SENSOR_DELAY && f->subjects &&
            ct__recipe_sensor_of(recipe, f->subject[0].name, name) && !strcmp(name, sensor))
            return f->value[1];
    }
    return 0;
}

/* Corrections of the last recipe that the first does not have. */
static ct_status conclude(rounds *r, ct_diagnosis *all, ct_diagnosis *last, ct_err *err)
{
    ct__exam         e = {.out = all};
    const ct_recipe *first = r->options.recipe;
    int32_t          count = 0;
    ct_correction   *list = NULL;
    const ct_recipe *recipe = r->recipe ? r->recipe : first;
    CT_TRY(ct__compose_corrections(recipe, last->corrections, last->correction, &list, &count, err));
    ct_status status = CT_OK;
    for (int32_t pass = 0; status == CT_OK && pass < 2; pass++)
        for (int32_t i = 0; status == CT_OK && i < (pass ? recipe->corrections : count); i++) {
            const ct_correction *c = pass ? &recipe->correction[i] : &list[i];
            int                  known = 0;
            double               error = 0;
            for (int32_t k = 0; k < all->corrections; k++)
                known |= all->correction[k].kind == c->kind && !strcmp(all->correction[k].sensor, c->sensor) &&
                         !strcmp(all->correction[k].recording, c->recording);
            for (int32_t k = 0; pass && k < first->corrections; k++)
                known |= !memcmp(&first->correction[k], c, sizeof *c);
            if (known) continue;
            for (int32_t k = 0; k < last->corrections; k++)
                if (last->correction[k].kind == c->kind && !strcmp(last->correction[k].sensor, c->sensor))
                    error = last->correction_error[k];
            if (c->kind == CT_CORRECT_DELAY && !(error > 0)) error = delay_error(all, first, c->sensor);
            status = ct__report_correction(&e, NULL, -1, c->kind, c->count, c->value, error, err);
            if (status == CT_OK) all->correction[all->corrections - 1] = *c;
        }
    free(list);
    return status;
}

static ct_status examine_round(rounds *r, ct_diagnosis **now, ct_err *err)
{
    ct__exam e = {.dataset = r->imported ? r->imported : r->given,
                  .options = r->options,
                  .forced = r->forced,
                  .forceds = r->forceds,
                  .frames_apart = r->frames_apart,
                  .truth_late = r->truth_late,
                  .excluded = r->excluded,
                  .excludeds = r->excludeds,
                  .settled = r->settled ? &r->exact : NULL};
    ct_status status = ct__examine(&e, err);
    if (status == CT_OK) status = remember(r, &e, err);
    r->frames_apart = e.frames_apart;
    r->truth_late = e.truth_late;
    ct__exact_add(&r->exact, &e);
    ct__exam_free(&e);
    *now = e.out;
    if (status == CT_OK) rename_sensors(r->options.recipe, e.out);
    return status;
}

/* What the recipe misreads is corrected before anything is examined. */
static ct_status correct_conventions(rounds *r, ct_diagnosis **all, int32_t *imports, ct_err *err)
{
    ct_diagnosis *found = NULL;
    CT_TRY(ct__find_conventions(r->imported, r->recipe, &r->options, &found, err));
    ct_status status = found->findings.count ? merge(all, found, err) : CT_OK;
    if (status == CT_OK && found->corrections) {
        status = apply(r, found, err);
        ++*imports;
    }
    ct_diagnosis_free(found);
    return status;
}

/* Stamps and counts are corrected before that. */
static ct_status correct_records(rounds *r, const ct_import_result *counts, int32_t *imports, ct_err *err)
{
    ct_diagnosis *found = NULL;
    ct_status     status = ct__correct_import(counts, &found, err);
    if (status == CT_OK && found->corrections) {
        status = apply(r, found, err);
        ++*imports;
    }
    ct_diagnosis_free(found);
    return status;
}

/* The finding on the delay of a sensor has what is added in the mean, with the standard error of that mean. */
static void add_delays(const ct_recipe *recipe, const ct_diagnosis *found, ct_diagnosis *all)
{
    for (int32_t i = 0; i < all->findings.count; i++) {
        ct_finding *f = &all->findings.item[i];
        char        name[64];
        double      sum = 0, variance = 0;
        int32_t     n = 0;
        if (f->code != CT_FINDING_SENSOR_DELAY || !f->subjects) continue;
        if (!ct__recipe_sensor_of(recipe, f->subject[0].name, name)) continue;
        for (int32_t k = 0; k < found->corrections; k++)
            if (!strcmp(found->correction[k].sensor, name)) {
                sum += found->correction[k].value[0];
                variance += pow(found->correction_error[k], 2);
                n++;
            }
        if (n) f->value[0] += sum / n;
        if (n && variance > 0) f->value[1] = sqrt(variance) / n;
    }
}

/* Delays of commands are those that fit best; then what else there is, with these. */
static ct_status polish(rounds *r, ct_diagnosis **all, ct_diagnosis **now, int32_t *imports, ct_err *err)
{
    ct_diagnosis *found = ct__zalloc(1, sizeof *found);
    ct_status     status = found ? CT_OK : ct__no_memory(err, "diagnoses", 1);
    for (int32_t i = 0; status == CT_OK && i < r->forceds; i++) {
        const ct__forced *f = &r->forced[i];
        if (f->param.kind != CT__FAULT_DELAY || f->loops || !ct__exact_has(&r->exact, f->name)) continue;
        status = ct__polish_delay(r->recipe, r->imported, &r->options, f, found, imports, err);
    }
    if (status == CT_OK && found->corrections) {
        r->settled = 1;
        add_delays(r->options.recipe, found, *all);
        ct_diagnosis_free(*now);
        *now = NULL;
        status = apply(r, found, err);
        ++*imports;
        if (status == CT_OK) status = examine_round(r, now, err);
        if (status == CT_OK) status = merge(all, *now, err);
    }
    ct_diagnosis_free(found);
    return status;
}

/* From the recipe as it is until corrections stay. *now <- the last examination, for the caller to free. */
static ct_status settle(rounds *r, ct_diagnosis **all, ct_diagnosis **now, int32_t *imports, ct_err *err)
{
    ct_import_result counts = {0};
    ct_status        status = import(r, ct_recipe_text(r->options.recipe), &counts, err);
    ++*imports;
    if (status == CT_OK) status = ct__report_import(&counts, all, err);
    if (status == CT_OK) status = correct_records(r, &counts, imports, err);
    ct_import_result_free(&counts);
    if (status == CT_OK) status = correct_conventions(r, all, imports, err);
    for (int i = 0; status == CT_OK; i++) {
        ct_diagnosis_free(*now);
        *now = NULL;
        status = examine_round(r, now, err);
        if (status == CT_OK) status = merge(all, *now, err);
        if (status != CT_OK || i == IMPORTS_MOST || !(r->moved > SETTLED) || !(*now)->corrections) break;
        if (r->options.progress && r->options.progress(r->options.user, (i + 1.0) / (IMPORTS_MOST + 1), "importing"))
            status = ct_fail(err, CT_E_EMPTY, "stopped");
        if (status == CT_OK) status = apply(r, *now, err);
        ++*imports;
    }
    return status == CT_OK ? polish(r, all, now, imports, err) : status;
}

/* A factor that grew with every import: values of this row have nothing to do with the true ones. */
static int is_wild(const ct_finding *f)
{
    return f->code == CT_FINDING_SENSOR_SCALE && fabs(log(fabs(f->value[0]))) > log(SCALE_MOST);
}

/* Size over standard error of a fault that one number has for all recordings; NaN: it is none. */
static double ratio_of(const ct_finding *f)
{
    const int n = adds_up(f->code);
    if ((n != 1 && n != -1) || !f->subjects || f->value[3] > 0 || !(f->value[1] > 0)) return NAN;
    return fabs(f->value[0] - (n < 0)) / f->value[1];
}

/* "uwb" of "uwb.range". */
static size_t sensor_length(const char *subject) { return strcspn(subject, "."); }

/* Is it the weakest of several faults of its sensor, and too weak beside them? Every import is another look at the same
 * data, so that the level is divided by their number: a fault that some look finds beside a stronger one may be no more
 * than what the other leaves. */
static int is_weak(const ct_diagnosis *all, const ct_finding *f, double level)
{
    const double mine = ratio_of(f);
    int          others = 0;
    if (isnan(mine)) return 0;
    for (int32_t i = 0; i < all->findings.count; i++) {
        const ct_finding *other = &all->findings.item[i];
        const double      ratio = ratio_of(other);
        if (other == f || isnan(ratio)) continue;
        const char  *a = f->subject[0].name, *b = other->subject[0].name;
        const size_t length = sensor_length(a);
        if (sensor_length(b) != length || memcmp(a, b, length)) continue;
        if (ratio < mine) return 0;
        others++;
    }
    return others && erfc(mine / sqrt(2)) > level / ((double)CT_MAX(1, all->tests) * (IMPORTS_MOST + 1));
}

/* A fault that was found first, and that one found later explains, is not looked for again: the size of the other is
 * right without it only. 1: there is one. */
static ct_status exclude(rounds *r, const ct_diagnosis *all, int *any, ct_err *err)
{
    *any = 0;
    for (int32_t i = 0; i < all->findings.count; i++) {
        const ct_finding *f = &all->findings.item[i];
        const int         keeps = remains(f) && !is_wild(f) && !is_weak(all, f, r->options.level);
        if (keeps || !f->subjects || (adds_up(f->code) != 1 && adds_up(f->code) != -1)) continue;
        for (int32_t k = 0; k < r->forceds; k++) {
            const ct__fault_kind kind = r->forced[k].param.kind;
            const int            scale = kind == CT__FAULT_SCALE || kind == CT__FAULT_WHEEL;
            if (strcmp(r->forced[k].subject, f->subject[0].name) || scale != (adds_up(f->code) < 0)) continue;
            CT_TRY(ct__grow(&r->excluded, &r->excluded_capacity, (int64_t)r->excludeds + 1, sizeof *r->excluded,
                            "faults", err));
            r->excluded[r->excludeds++] = r->forced[k];
            *any = 1;
        }
    }
    return CT_OK;
}

static ct_status run(rounds *r, ct_diagnosis **all, ct_err *err)
{
    ct_diagnosis *now = NULL;
    int32_t       imports = 0;
    ct_status     status = CT_OK;
    for (int i = 0, again = 1; status == CT_OK && again; i++) {
        ct_diagnosis_free(*all);
        *all = NULL;
        r->forceds = 0;
        r->frames_apart = r->truth_late = 0;
        r->settled = 0;
        status = settle(r, all, &now, &imports, err);
        again = 0;
        if (status == CT_OK && i < RESTARTS) status = exclude(r, *all, &again, err);
    }
    if (status == CT_OK) status = conclude(r, *all, now, err);
    if (status == CT_OK) (*all)->imports = imports;
    if (status == CT_OK) status = tidy(all, r->options.recipe, err);
    if (status == CT_OK) status = ct__guard_corrections(r->options.recipe, &r->options, &r->exact, *all, err);
    ct_diagnosis_free(now);
    return status;
}

ct_status ct__examine_with_imports(const ct_dataset *dataset, const ct_doctor_options *options, ct_diagnosis **out,
                                   ct_err *err)
{
    rounds          r = {.given = dataset, .options = *options};
    const ct_status status = run(&r, out, err);
    if (status != CT_OK) {
        ct_diagnosis_free(*out);
        *out = NULL;
    }
    ct_recipe_free(r.recipe);
    ct_dataset_free(r.imported);
    free(r.forced);
    free(r.excluded);
    return status;
}
