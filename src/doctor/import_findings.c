/* import_findings.c: what an import says of the files: stamps that do not ascend, clocks that were set, counters that
 * begin again, sensors of which nothing is used. */
#include "doctor/doctor.h"

#include <math.h>
#include <stdio.h>

/* Steps between records over time: those that are not above 0 were dropped. */
static ct_status show_steps(ct__exam *e, const ct_import_count *c, ct_err *err)
{
    double line_x[2] = {INFINITY, -INFINITY};
    for (int32_t i = 0; i < c->steps; i++) {
        line_x[0] = fmin(line_x[0], c->step_at[i]);
        line_x[1] = fmax(line_x[1], c->step_at[i]);
    }
    return ct__report_evidence(e, "time (s)", "time since the record before (s)", c->steps, c->step_at, c->step, 2,
                               line_x, (const double[]){0, 0}, err);
}

static ct_status report_stamps(ct__exam *e, const ct_import_count *c, ct_err *err)
{
    const int64_t bad = c->dropped[CT_DROP_STAMP];
    const double  value[] = {(double)bad, 100.0 * (double)bad / (double)CT_MAX(1, c->records)};
    if (!bad) return CT_OK;
    CT_TRY(ct__report(e, NULL, -1, CT_FINDING_STAMPS_REPEATED, 2, value, err));
    CT_TRY(ct_findings_add_subject(&e->out->findings, CT_SUBJECT_MODEL, -1, 0, c->name, err));
    return c->steps ? show_steps(e, c, err) : CT_OK;
}

/* A sensor that the dataset does not have cannot be examined: that is to be said. */
static ct_status repeat(ct__exam *e, const ct_finding *f, ct_err *err)
{
    int values = 0;
    if (!ct__is_of_import(f->code)) return CT_OK;
    while (ct_finding_get_info(f->code)->value[values]) values++;
    CT_TRY(ct__report(e, NULL, -1, f->code, values, f->value, err));
    for (int32_t k = 0; k < f->subjects; k++)
        CT_TRY(ct_findings_add_subject(&e->out->findings, f->subject[k].kind, f->subject[k].index, f->subject[k].sign,
                                       f->subject[k].name, err));
    return CT_OK;
}

int ct__is_of_import(ct_finding_code code)
{
    return code == CT_FINDING_CLOCK_JUMPS || code == CT_FINDING_COUNTERS_WRAP || code == CT_FINDING_SENSOR_UNUSED ||
           code == CT_FINDING_NO_COMMON_TIME || code == CT_FINDING_SENSOR_WITHOUT_RECORDS;
}

ct_status ct__report_import(const ct_import_result *result, ct_diagnosis **all, ct_err *err)
{
    ct__exam  e = {.out = ct__zalloc(1, sizeof *e.out)};
    ct_status status = e.out ? CT_OK : ct__no_memory(err, "diagnoses", 1);
    for (int32_t i = 0; status == CT_OK && i < result->counts; i++) status = report_stamps(&e, &result->count[i], err);
    for (int32_t i = 0; status == CT_OK && i < result->findings.count; i++)
        status = repeat(&e, &result->findings.item[i], err);
    *all = e.out;
    return status;
}

/* Corrections of stamps and counts, without which nothing else is right. */
ct_status ct__correct_import(const ct_import_result *result, ct_diagnosis **out, ct_err *err)
{
    ct__exam  e = {.out = ct__zalloc(1, sizeof *e.out)};
    ct_status status = e.out ? CT_OK : ct__no_memory(err, "diagnoses", 1);
    for (int32_t i = 0; status == CT_OK && i < result->findings.count; i++) {
        const ct_finding *f = &result->findings.item[i];
        const int         clock = f->code == CT_FINDING_CLOCK_JUMPS;
        if (!clock && f->code != CT_FINDING_COUNTERS_WRAP) continue;
        const int32_t n = e.out->corrections;
        status = ct__report_correction(&e, NULL, -1, clock ? CT_CORRECT_STEPS : CT_CORRECT_WRAP, 1,
                                       &f->value[clock ? 3 : 0], 0, err);
        if (status != CT_OK || e.out->corrections == n) continue;
        ct_correction *c = &e.out->correction[n];
        snprintf(c->sensor, sizeof c->sensor, "%.63s", f->subject[0].name);
        if (clock) snprintf(c->recording, sizeof c->recording, "%.63s", f->subject[1].name);
    }
    *out = e.out;
    return status;
}
