/* groups.c: groups of samples with sigmas of their own: of each noise model, and of each by its activity. Errors often
 * grow with motion. One sigma for all, that of a robot at rest, would take what moves for outliers, and nothing else
 * tells scales and delays. */
#include "doctor/doctor.h"

#include <math.h>

#define BIN_LEAST 150 /* samples of a group                                        */
#define REST_LEAST 20 /* the same of rest and motion: as one group either would have the sigma of the other */
#define BINS_MOST 5
#define TURN      4.0 /* m^2 a rad^2, where motion is measured as one number       */
#define SPREAD    6.0 /* of activities over that of errors, for groups by activity */
#define WITHIN    30.0 /* median squared errors: an activity below is that of errors */

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

typedef struct {
    double size;   /* of true and measured values alike: groups by one of them would choose the errors of the other */
    double error;  /* what the two differ by           */
    double square; /* of the difference of their rows  */
} activity;

/* How much a sample has to measure: its motion or its range; of absolute values nothing. h: the true value. */
static activity find_activity(const ct__exam *e, const ct__sensor *s, const ct__sample *q, const double *h)
{
    double truth = 0, measured = 0, square = 0, w[CT_ROWS_MAX] = {0};
    if (!s->measured || (s->tied && s->ops->arity == 1 && s->measured == 1 && s->ops->field[0] != CT_R1))
        return (activity){0};
    ct__value_of(s, ct_graph_factor(e->sequence[q->sequence].seq->graph, q->factor).z, w);
    for (int i = 0; i < s->rows; i++) {
        const double unit = ct__row_turns(s, i) ? TURN : 1;
        measured += unit * w[i] * w[i];
        truth += unit * h[i] * h[i];
        square += unit * (w[i] - h[i]) * (w[i] - h[i]);
    }
    return (activity){measured + truth, fabs(measured - truth), square};
}

/* Where motion hardly changes, activities differ by errors alone: groups by activity would be groups by error, and give
 * the errors of one sign another weight. */
static int differ(int32_t count, const double *sorted, double *error)
{
    const double spread = sorted[(int64_t)9 * (count - 1) / 10] - sorted[(count - 1) / 10];
    return spread > SPREAD * ct__median(count, error);
}

/* edge[0 .. n - 1] <- upper ends of all groups but the last; returns n. The first `rest` activities are those of
 * errors, as of a robot that waits: one group, if there are enough, so that it is not divided by its errors. */
static int find_edges(int most, int32_t count, int32_t rest, const double *sorted, double *edge)
{
    int n = 0;
    if (most < 2 || rest < REST_LEAST || count - rest < REST_LEAST) rest = 0;
    else edge[n++] = sorted[rest - 1];
    const int32_t moving = count - rest;
    const int     bins = CT_MAX(1, CT_MIN(most - n, moving / BIN_LEAST));
    for (int b = 1; b < bins; b++) edge[n++] = sorted[rest + (int64_t)b * moving / bins];
    return n;
}

void ct__group_samples(const ct__exam *e, const ct__sensor *s, int32_t count, const int32_t *from, const double *w,
                       double *room, int32_t *group)
{
    const int most = CT_MAX(1, CT_MIN(BINS_MOST, CT__GROUPS_MAX / CT_MAX(1, s->models)));
    double    edge[CT__GROUPS_MAX], *error = room + count;
    int32_t   rest = 0;
    for (int32_t k = 0; k < count; k++)
        error[k] = find_activity(e, s, &s->sample[from[k]], w + (int64_t)k * CT_ROWS_MAX).square;
    const double within = count ? WITHIN * ct__median(count, error) : 0;
    for (int32_t k = 0; k < count; k++) {
        const activity a = find_activity(e, s, &s->sample[from[k]], w + (int64_t)k * CT_ROWS_MAX);
        room[k] = a.size;
        error[k] = a.error;
        rest += a.size <= within;
    }
    qsort(room, (size_t)count, sizeof *room, compare);
    const int edges = count && differ(count, room, error) ? find_edges(most, count, rest, room, edge) : 0;
    for (int32_t k = 0; k < count; k++) {
        const double a = find_activity(e, s, &s->sample[from[k]], w + (int64_t)k * CT_ROWS_MAX).size;
        int          b = 0;
        while (b < edges && a > edge[b]) b++;
        group[k] = s->sample[from[k]].model * (edges + 1) + b;
    }
}
