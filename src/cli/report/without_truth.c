/* without_truth.c: what sequences without truth say: measurements that were held out, predicted from the others;
 * chi-square; second differences of the estimate. `covtune eval` has the same numbers. */
#include "cli/report/report.h"

#include <math.h>

static void put_row(const report_job *job, ct_table *t, int metric, const char *what, const char *unit,
                    const char *right)
{
    if (isnan(job->mean[AFTER][metric])) return;
    ct_table_row(t, 0);
    ct_table_text(t, "%s", what);
    ct_table_text(t, "%s", unit);
    ct_table_number(t, job->mean[BEFORE][metric]);
    ct_table_number(t, job->mean[AFTER][metric]);
    ct_table_text(t, "%s", right);
}

void report_without_truth(report_job *job)
{
    const char *per = job->overall[AFTER].smoothness.timed ? "s\u00b2" : "step\u00b2";
    char        unit[2][24];
    if (job->with_truth == job->count || !job->averaged) return;
    ct_page_section(job->page, "measurements", "Held-out measurements");
    ct_page_text(job->page,
                 "%d of the %d %s sequences %s no truth. A tenth of the absolute measurements is held out and "
                 "predicted from the rest: if noise models are right, errors of prediction are as large as claimed. "
                 "Errors that last, as a bias, do not show here.",
                 job->count - job->with_truth, job->count, report_part(job),
                 job->count - job->with_truth == 1 ? "has" : "have");
    ct_table *t = report_table("Held-out measurements and smoothness");
    ct_table_column(t, "what", "", NULL, 0);
    ct_table_column(t, "unit", "unit", NULL, 0);
    ct_table_column(t, "before", "before", NULL, 4);
    ct_table_column(t, "after", "after", NULL, 4);
    ct_table_column(t, "right", "right is", NULL, 0);
    snprintf(unit[0], sizeof unit[0], "m / %s", per);
    snprintf(unit[1], sizeof unit[1], "rad / %s", per);
    put_row(job, t, EVAL_INNOVATION, "squared innovation per row", "", "1");
    put_row(job, t, EVAL_BEYOND, "rows beyond 3 \u03c3", "", "0.0027, if noise is Gaussian");
    put_row(job, t, EVAL_LOG_DENSITY, "log predictive density of a measurement", "", "larger");
    put_row(job, t, EVAL_CHI_SQUARED, "chi-square per degree", "", "1");
    put_row(job, t, EVAL_ROUGH_TRANSLATION, "second differences of positions, rms", unit[0], "that of the motion");
    put_row(job, t, EVAL_ROUGH_ROTATION, "second differences of rotations, rms", unit[1], "that of the motion");
    ct_table_note(t, "Over %d sequence%s, all held-out measurements together.", job->averaged, CLI_S(job->averaged));
    report_put_table(job, t);
}
