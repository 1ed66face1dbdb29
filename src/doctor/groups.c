/* groups.c: groups of samples with sigmas of their own: of each noise model, and of each by its activity. Errors often
 * grow with motion. One sigma for all, that of a robot at rest, would take what moves for outliers, and nothing else
 * tells scales and delays. */
#include "doctor/doctor.h"

#define BIN_LEAST 150 /* samples of a group                                        */
#define BINS_MOST 5
#define TURN      4.0 /* m^2 a rad^2, where motion is measured as one number       */

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* How much a sample has to measure: its motion or its range; of absolute values nothing. By true (h) and measured
 * values alike: groups by one of them would choose the errors of the other. */
static double activity(const ct__exam *e, const ct__sensor *s, const ct__sample *q, const double *h)
{
    double square = 0, w[CT_ROWS_MAX] = {0};
    if (!s->measured || (s->tied && s->ops->arity == 1 && s->measured == 1 && s->ops->field[0] != CT_R1)) return 0;
    ct__value_of(s, ct_graph_factor(e->sequence[q->sequence].seq->graph, q->factor).z, w);
    for (int i = 0; i < s->rows; i++) square += (ct__row_turns(s, i) ? TURN : 1) * (w[i] * w[i] + h[i] * h[i]);
    return square;
}

void ct__group_samples(const ct__exam *e, const ct__sensor *s, int32_t count, const int32_t *from, const double *w,
                       double *room, int32_t *group)
{
    const int bins = CT_MAX(1, CT_MIN(CT_MIN(BINS_MOST, CT__GROUPS_MAX / CT_MAX(1, s->models)), count / BIN_LEAST));
    double    edge[CT__GROUPS_MAX];
    for (int32_t k = 0; k < count; k++) room[k] = activity(e, s, &s->sample[from[k]], w + (int64_t)k * CT_ROWS_MAX);
    qsort(room, (size_t)count, sizeof *room, compare);
    for (int b = 0; b + 1 < bins; b++) edge[b] = room[(int64_t)(b + 1) * count / bins];
    for (int32_t k = 0; k < count; k++) {
        const double a = activity(e, s, &s->sample[from[k]], w + (int64_t)k * CT_ROWS_MAX);
        int          b = 0;
        while (b + 1 < bins && a > edge[b]) b++;
        group[k] = s->sample[from[k]].model * bins + b;
    }
}
