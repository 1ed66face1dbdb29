/* describe.c: of a sensor: rows that do not vary, whether residuals are at the estimate, the middle of its poses. */
#include "doctor/doctor.h"

#include <math.h>

#define STILL 0.02 /* of the sigma of a row: a row that varies by less has no scale */

/* Rows of the measured value that do not vary, and whether residuals are at the estimate. */
void ct__describe(const ct__exam *e, ct__sensor *s)
{
    double  sum[CT_ROWS_MAX] = {0}, square[CT_ROWS_MAX] = {0};
    int64_t estimated = 0;
    for (int32_t k = 0; k < s->samples; k++) {
        const ct_sequence *seq = e->sequence[s->sample[k].sequence].seq;
        const ct_factor    f = ct_graph_factor(seq->graph, s->sample[k].factor);
        double             w[CT_ROWS_MAX] = {0}, r[CT_ROWS_MAX];
        if (s->measured) ct__value_of(s, f.z, w);
        for (int i = 0; i < s->rows; i++) sum[i] += w[i], square[i] += w[i] * w[i];
        estimated += !ct__truth_residual(seq, s->sample[k].factor, r);
    }
    for (int i = 0; i < s->rows; i++) {
        const double n = CT_MAX(1, s->samples), mean = sum[i] / n;
        const double sigma = ct_noise_sigma(ct_noise_get(e->dataset->noise, s->model[0]), i);
        s->still[i] = s->measured && sqrt(fmax(0, square[i] / n - mean * mean)) < STILL * sigma;
    }
    s->estimated = 2 * estimated > s->samples;
}

/* Frames turn about the middle of the poses: about a far origin, turns and shifts would be one. */
void ct__find_centre(const ct__exam *e, ct__sensor *s)
{
    const int n = s->pose == CT_SE2 ? 2 : 3;
    memset(s->centre, 0, sizeof s->centre);
    if (!s->tied || !ct__is_pose(s->pose)) return;
    for (int32_t k = 0; k < s->samples; k++) {
        const ct__exam_sequence *q = &e->sequence[s->sample[k].sequence];
        const ct_factor          f = ct_graph_factor(q->seq->graph, s->sample[k].factor);
        const double            *x = q->x + q->seq->graph->offset[f.var[0]];
        for (int i = 0; i < n && ct__is_pose(s->ops->kind[0]); i++) s->centre[i] += x[i] / s->samples;
    }
}
