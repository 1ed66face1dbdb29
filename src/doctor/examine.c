/* examine.c: the examination of a dataset, from large faults to small ones, and then of the noise. */
#include "doctor/doctor.h"

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

static ct_status examine_sensors(ct__exam *e, ct_err *err)
{
    for (int32_t i = 0; i < e->sensors; i++) {
        ct__sensor *s = &e->sensor[i];
        ct__find_centre(e, s);
        CT_TRY(ct__find_large_faults(e, s, err));
        if (s->spoiled) CT_TRY(ct__correct_sensor(e, s, &s->fault, -1, err));
        else CT_TRY(ct__find_faults(e, s, err));
    }
    CT_TRY(ct__correct_frames(e, err));
    for (int32_t i = 0; i < e->sensors; i++) {
        ct__sensor *s = &e->sensor[i];
        if (!s->fit || s->samples < CT__SAMPLES_LEAST) continue;
        CT_TRY(ct__test_dependence(e, s, err));
        CT_TRY(ct__test_tails(e, s, err));
        CT_TRY(ct__test_noise(e, s, err));
    }
    return CT_OK;
}

static ct_status examine(ct__exam *e, ct_err *err)
{
    CT_TRY(ct__exam_survey(e, err));
    count_tests(e);
    CT_TRY(examine_sensors(e, err));
    ct__assign_corrections(e->out);
    return CT_OK;
}

ct_status ct_doctor_examine(const ct_dataset *dataset, const ct_doctor_options *options, ct_diagnosis **out,
                            ct_err *err)
{
    ct__exam e = {.dataset = dataset, .options = options ? *options : ct_doctor_defaults()};
    *out = NULL;
    CT_TRY(check(&e.options, err));
    e.out = ct__zalloc(1, sizeof *e.out);
    if (!e.out) return ct__no_memory(err, "diagnoses", 1);
    const ct_status status = examine(&e, err);
    ct__exam_free(&e);
    if (status == CT_OK) *out = e.out;
    else ct_diagnosis_free(e.out);
    return status;
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
