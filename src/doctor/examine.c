/* examine.c: the examination of a dataset, from large faults to small ones, and then of the noise. */
#include "doctor/doctor.h"

#include <math.h>

#define LEVEL       0.01
#define TESTS_NOISE 12 /* of a sensor beside its faults */

ct_doctor_options ct_doctor_defaults(void) { return (ct_doctor_options){.level = LEVEL}; }

static ct_status check(const ct_doctor_options *o, ct_err *err)
{
    if (!(o->level > 0 && o->level < 1))
        return ct_fail(err, CT_E_ARGUMENT, "the level of the doctor is between 0 and 1, found %g", o->level);
    return CT_OK;
}

static void count_tests(ct__exam *e)
{
    for (int32_t i = 0; i < e->sensors; i++) e->tests += e->sensor[i].params + TESTS_NOISE;
    e->alpha = e->options.level / (double)CT_MAX(1, e->tests);
    e->out->tests = e->tests;
}

static int has_large_fault(const ct__sensor *s)
{
    for (int i = 0; i < CT_ROWS_MAX; i++)
        if (s->fault.axis[i] != i + 1 || s->fault.unit[i] < 1 || s->fault.unit[i] > 1) return 1;
    return 0;
}

/* Units and axes. *wait: they are to be corrected by an import first; what else there is may be their doing. */
static ct_status examine_large(ct__exam *e, int *wait, ct_err *err)
{
    *wait = 0;
    for (int32_t i = 0; i < e->sensors; i++) {
        ct__sensor *s = &e->sensor[i];
        ct__find_centre(e, s);
        CT_TRY(ct__find_large_faults(e, s, err));
        *wait |= has_large_fault(s) && e->options.recipe && !e->options.brief;
    }
    for (int32_t i = 0; *wait && i < e->sensors; i++)
        if (has_large_fault(&e->sensor[i])) CT_TRY(ct__correct_sensor(e, &e->sensor[i], &e->sensor[i].fault, -1, err));
    return CT_OK;
}

/* What a truth that copies a sensor does to others is no fault of theirs. */
static void explain_by_truth(ct__exam *e)
{
    ct_diagnosis *d = e->out;
    if (ct_findings_find(&d->findings, CT_FINDING_TRUTH_COPIES_SENSOR) < 0) return;
    for (int32_t i = d->findings.count - 1; i >= 0; i--) {
        const ct_finding_code code = d->findings.item[i].code;
        if (ct_finding_get_info(code)->topic == CT_TOPIC_SENSORS && code != CT_FINDING_MEASUREMENTS_REPEATED)
            ct__remove_finding(d, i);
    }
    d->corrections = 0;
}

static ct_status report_estimated(ct__exam *e, ct_err *err)
{
    for (int32_t i = 0; i < e->sensors; i++) {
        const ct__sensor *s = &e->sensor[i];
        if (s->estimated && s->samples >= CT__SAMPLES_LEAST)
            CT_TRY(ct__report(e, s, -1, CT_FINDING_WITHOUT_FULL_TRUTH, 0, NULL, err));
    }
    return CT_OK;
}

/* Measurements between two states are attached by the motion in between. Where its turns are not measured, headings
 * stay where they were, as with a delay. */
static void close_delays(ct__exam *e)
{
    int unseen = 0;
    for (int32_t i = 0; i < e->sensors; i++) unseen |= ct__turns_unseen(&e->sensor[i]);
    for (int32_t i = 0; unseen && i < e->sensors; i++) {
        ct__sensor *s = &e->sensor[i];
        int         turns = 0;
        for (int k = 0; k < s->rows; k++) turns |= !s->odometry && ct__row_turns(s, k);
        for (int j = 0; j < s->params; j++)
            if (turns && (s->param[j].kind == CT__FAULT_DELAY || s->param[j].kind == CT__FAULT_DRIFT)) s->closed[j] = 1;
    }
}

static ct_status examine_sensors(ct__exam *e, ct_err *err)
{
    int wait;
    CT_TRY(examine_large(e, &wait, err));
    if (wait) return CT_OK;
    CT_TRY(ct__find_unrelated_truth(e, &wait, err));
    if (wait) return CT_OK;
    for (int32_t i = 0; i < e->sensors; i++) ct__describe(e, &e->sensor[i]);
    close_delays(e);
    e->delay = NAN;
    for (int32_t k = 0; k < 2 * e->sensors; k++) { /* odometry first */
        ct__sensor *s = &e->sensor[k % e->sensors];
        if (s->copied || s->odometry != (k < e->sensors)) continue;
        if (s->spoiled) CT_TRY(ct__correct_sensor(e, s, &s->fault, -1, err));
        else CT_TRY(ct__find_faults(e, s, err));
    }
    CT_TRY(ct__correct_frames(e, err));
    CT_TRY(ct__find_common_delay(e, err));
    CT_TRY(ct__find_truth_noise(e, err));
    for (int32_t i = 0; !e->options.brief && i < e->sensors; i++) {
        ct__sensor *s = &e->sensor[i];
        if (!s->fit || s->samples < CT__SAMPLES_LEAST) continue;
        CT_TRY(ct__report_held(e, s, err));
        if (s->frozen) continue;
        CT_TRY(ct__choose_noise_rows(e, s, err));
        CT_TRY(ct__test_dependence(e, s, err));
        CT_TRY(ct__level_groups(e, s, err));
        CT_TRY(ct__test_tails(e, s, err));
        CT_TRY(ct__test_noise(e, s, err));
    }
    CT_TRY(ct__find_truth_made_of(e, err));
    explain_by_truth(e);
    const int worthless = ct_findings_find(&e->out->findings, CT_FINDING_TRUTH_COPIES_SENSOR) >= 0;
    return e->options.brief || worthless ? CT_OK : ct__test_influence(e, err);
}

/* Truth that jumps and measurements that repeat: what follows is examined without. */
static ct_status examine_truth(ct__exam *e, ct_err *err)
{
    CT_TRY(ct__find_truth_gaps(e, err));
    for (int32_t i = 0; i < e->sensors; i++) {
        ct__drop_without_truth(e, &e->sensor[i]);
        CT_TRY(ct__find_truth_copies(e, &e->sensor[i], err));
    }
    CT_TRY(ct__drop_frozen_truth(e, err));
    CT_TRY(ct__mend_truth_jumps(e, err));
    for (int32_t i = 0; i < e->sensors; i++) CT_TRY(ct__drop_repeated(e, &e->sensor[i], err));
    return CT_OK;
}

ct_status ct__examine(ct__exam *e, ct_err *err)
{
    e->out = ct__zalloc(1, sizeof *e->out);
    if (!e->out) return ct__no_memory(err, "diagnoses", 1);
    CT_TRY(ct__exam_survey(e, err));
    count_tests(e);
    int turned;
    CT_TRY(ct__find_truth_turned(e, &turned, err));
    if (turned) { /* estimates begin at wrong headings: what else there is may be their doing */
        ct__assign_corrections(e->out, NULL);
        return CT_OK;
    }
    if (!e->options.recipe || e->options.brief) CT_TRY(ct__change_conventions(e, err));
    CT_TRY(examine_truth(e, err));
    CT_TRY(examine_sensors(e, err));
    CT_TRY(report_estimated(e, err));
    ct__assign_corrections(e->out, NULL);
    return CT_OK;
}

static ct_status examine_once(const ct_dataset *dataset, const ct_doctor_options *options, ct_diagnosis **out,
                              ct_err *err)
{
    ct__exam        e = {.dataset = dataset, .options = *options};
    const ct_status status = ct__examine(&e, err);
    ct__exam_free(&e);
    if (status == CT_OK) *out = e.out;
    else ct_diagnosis_free(e.out);
    return status;
}

/* The dataset as it is, and why it was not imported again. */
static ct_status examine_instead(const ct_dataset *dataset, const ct_doctor_options *options, const char *why,
                                 ct_diagnosis **out, ct_err *err)
{
    ct_doctor_options alone = *options;
    alone.recipe = NULL;
    CT_TRY(examine_once(dataset, &alone, out, err));
    ct__exam  e = {.out = *out};
    ct_status status = ct__report(&e, NULL, -1, CT_FINDING_NOT_IMPORTED, 0, NULL, err);
    if (status == CT_OK) status = ct_findings_add_subject(&(*out)->findings, CT_SUBJECT_CAUSE, -1, 0, why, err);
    if (status == CT_OK) return CT_OK;
    ct_diagnosis_free(*out);
    *out = NULL;
    return status;
}

/* The caller's progress, and whether it stopped the examination. */
typedef struct {
    const ct_doctor_options *options;
    int                      stopped;
} watch;

static int watch_progress(void *user, double done, const char *what)
{
    watch *w = user;
    w->stopped = w->options->progress && w->options->progress(w->options->user, done, what);
    return w->stopped;
}

ct_status ct_doctor_examine(const ct_dataset *dataset, const ct_doctor_options *options, ct_diagnosis **out,
                            ct_err *err)
{
    const ct_doctor_options o = options ? *options : ct_doctor_defaults();
    ct_err                  why = {0};
    *out = NULL;
    CT_TRY(check(&o, err));
    if (!o.recipe || o.brief) return examine_once(dataset, &o, out, err);
    watch             w = {.options = &o};
    ct_doctor_options watched = o;
    watched.progress = watch_progress;
    watched.user = &w;
    ct_status status = ct__examine_with_imports(dataset, &watched, out, &why);
    if (status == CT_OK) status = ct__explain_held_velocities(&o, *out, &why);
    if (status == CT_OK) return CT_OK;
    ct_diagnosis_free(*out);
    *out = NULL;
    /* A correction that cannot be imported must not lose what was found. Without files, or stopped, nothing was. */
    if (!w.stopped && (status == CT_E_PARSE || status == CT_E_ARGUMENT || status == CT_E_EMPTY))
        return examine_instead(dataset, &o, why.text, out, err);
    return ct_fail(err, status, "%s", why.text);
}

void ct_diagnosis_free(ct_diagnosis *d)
{
    if (!d) return;
    for (int32_t i = 0; i < d->evidences; i++) {
        free(d->evidence[i].x);
        free(d->evidence[i].y);
        free(d->evidence[i].line_x);
        free(d->evidence[i].line_y);
    }
    ct_findings_free(&d->findings);
    free(d->correction_of);
    free(d->correction);
    free(d->correction_error);
    free(d->evidence);
    free(d);
}
