/* groups.c: groups of samples with sigmas of their own: of each noise model, and of each by its activity. Errors often
 * grow with motion. One sigma for all, that of a robot at rest, would take what moves for outliers, and nothing else
 * tells scales and delays. */
#include "doctor/doctor.h"

#include <math.h>

#define BIN_LEAST 150 /* samples of a group                                        */
#define BINS_MOST 5
#define TURN      4.0 /* m^2 a rad^2, where motion is measured as one number       */
#define SPREAD    6.0 /* of activities over that of errors, for groups by activity */

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* How much a sample has to measure: its motion or its range; of absolute values nothing. By true (h) and measured
 * values alike: groups by one of them would choose the errors of the other. *error <- the difference of the two. */
static double activity(const ct__exam *e, const ct__sensor *s, const ct__sample *q, const double *h, double *error)
{
    double truth = 0, measured = 0, w[CT_ROWS_MAX] = {0};
    *error = 0;
    if (!s->measured || (s->tied && s->ops->arity == 1 && s->measured == 1 && s->ops->field[0] != CT_R1)) return 0;
    ct__value_of(s, ct_graph_factor(e->sequence[q->sequence].seq->graph, q->factor).z, w);
    for (int i = 0; i < s->rows; i++) {
        const double unit = ct__row_turns(s, i) ? TURN : 1;
        measured += unit * w[i] * w[i];
        truth += unit * h[i] * h[i];
    }
    *error = fabs(measured - truth);
    return measured + truth;
}

/* Where motion hardly changes, activities differ by errors alone: groups by activity would be groups by error, and give
 * the errors of one sign another weight. */
static int differ(int32_t count, const double *sorted, double *error)
{
    const double spread = sorted[(int64_t)9 * (count - 1) / 10] - sorted[(count - 1) / 10];
    return spread > SPREAD * ct__median(count, error);
}

void ct__group_samples(const ct__exam *e, const ct__sensor *s, int32_t count, const int32_t *from, const double *w,
                       double *room, int32_t *group)
{
    int       bins = CT_MAX(1, CT_MIN(CT_MIN(BINS_MOST, CT__GROUPS_MAX / CT_MAX(1, s->models)), count / BIN_LEAST));
    double    edge[CT__GROUPS_MAX];
    double   *error = room + count, none;
    for (int32_t k = 0; k < count; k++)
        room[k] = activity(e, s, &s->sample[from[k]], w + (int64_t)k * CT_ROWS_MAX, &error[k]);
    qsort(room, (size_t)count, sizeof *room, compare);
    if (count && !differ(count, room, error)) bins = 1;
    for (int b = 0; b + 1 < bins; b++) edge[b] = room[(int64_t)(b + 1) * count / bins];
    for (int32_t k = 0; k < count; k++) {
        const double a = activity(e, s, &s->sample[from[k]], w + (int64_t)k * CT_ROWS_MAX, &none);
        int          b = 0;
        while (b + 1 < bins && a > edge[b]) b++;
        group[k] = s->sample[from[k]].model * bins + b;
    }
}
