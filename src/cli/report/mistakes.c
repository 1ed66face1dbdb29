/* mistakes.c: what the doctor finds in the sequences of the report, with a picture of each finding. */
#include "cli/doctor/doctor.h"
#include "cli/report/report.h"

#include <math.h>
#include <stdlib.h>

static void put_evidence(report_job *job, const ct_evidence *v, int number)
{
    char            id[32];
    const ct_series series[] = {{NULL, CT_ROLE_AFTER, CT_MARK_POINTS, v->points, v->x, v->y, NULL},
                                {NULL, CT_ROLE_TRUTH, CT_MARK_LINE, v->lines, v->line_x, v->line_y, NULL}};
    snprintf(id, sizeof id, "mistake-%d", number);
    const ct_plot plot = {.id = id,
                          .title = v->y_label,
                          .x_label = v->x_label,
                          .y_label = v->y_label,
                          .small = 1,
                          .height = 0.6,
                          .x_low = NAN,
                          .x_high = NAN,
                          .y_low = NAN,
                          .y_high = NAN,
                          .count = v->lines > 1 ? 2 : 1,
                          .series = series};
    ct_page_plot(job->page, &plot);
}

static void put_finding(report_job *job, const ct_diagnosis *d, int32_t i, int *number)
{
    const ct_finding      *f = &d->findings.item[i];
    const ct_finding_info *info = ct_finding_get_info(f->code);
    char                   text[CLI_FINDING_TEXT];
    ct_finding_text(f, text, sizeof text);
    if (info->severity == CT_SEVERITY_INFO) ct_page_text(job->page, "%s", text);
    else ct_page_warn(job->page, "%s", text);
    for (int32_t k = 0; k < d->corrections; k++) {
        if (!doctor_belongs(d, i, k)) continue;
        char *line = doctor_correction_line(&d->correction[k]);
        ct_page_code(job->page, line);
        free(line);
    }
    for (int32_t k = 0; k < d->evidences; k++)
        if (d->evidence[k].finding == i && d->evidence[k].points > 1) put_evidence(job, &d->evidence[k], ++*number);
}

void report_mistakes(report_job *job)
{
    ct_diagnosis *d = NULL;
    ct_err        err = {0};
    int           number = 0;
    ct_page_section(job->page, "mistakes", "Mistakes that no covariance mends");
    if (ct_doctor_examine(job->dataset, NULL, &d, &err) != CT_OK) {
        ct_page_text(job->page, "The sequences could not be examined: %s", err.text);
        return;
    }
    ct_page_text(job->page,
                 "covtune doctor, on the %s sequences: what is in residuals at the truth beside noise. Pictures have "
                 "the error of a measured value over what would cause it, and the line that was fitted. Lines of code "
                 "are for the block corrections of an import recipe.",
                 report_part(job));
    if (!d->findings.count)
        ct_page_text(job->page, "Nothing was found, with %lld tests.", (long long)d->tests);
    for (int severity = CT_SEVERITY_COUNT - 1; severity >= 0; severity--)
        for (int32_t i = 0; i < d->findings.count; i++)
            if ((int)ct_finding_get_info(d->findings.item[i].code)->severity == severity)
                put_finding(job, d, i, &number);
    ct_diagnosis_free(d);
}
