/* alignment.c: --align: estimates moved as a whole onto the truth. Errors are measured again after it; maps and errors
 * along the way are of the moved estimates. All other numbers are of the estimates as they are. */
#include "cli/report/report.h"

#include <math.h>
#include <stdlib.h>

void report_align(report_job *job)
{
    int32_t failed = 0;
    ct_err why = {0};
    for (int32_t i = 0; job->align != CT_ALIGN_NONE && i < job->count; i++)
        for (int side = BEFORE; side <= AFTER; side++) {
            report_track *t = &job->track[i];
            ct_err err = {0};
            t->aligned[side] = (ct_accuracy){.translation = NAN, .rotation = NAN, .ape_translation = NAN};
            if (!job->use[i]) continue;
            if (ct_align(t->seq, (ct_align_kind)job->align, t->x[side], t->x[side], NULL, &err) == CT_OK)
                t->aligned[side] = ct_accuracy_of(t->seq, t->x[side]);
            else if (!failed++)
                why = err;
        }
    if (failed) report_warn(job, "%d estimates could not be aligned; the first: %s.", failed, why.text);
}

double report_mean_aligned(const report_job *job, int side, int rotation)
{
    double sum = 0;
    int32_t n = 0;
    for (int32_t i = 0; i < job->count; i++) {
        const ct_accuracy *a = &job->track[i].aligned[side];
        const double value = rotation ? a->rotation : a->ape_translation;
        if (!job->use[i] || !isfinite(value)) continue;
        sum += value;
        n++;
    }
    return n ? sum / n : NAN;
}
