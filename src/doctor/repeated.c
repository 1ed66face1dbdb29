/* repeated.c: measurements that are equal to the one before, to the bit, though the body moves: a sensor that was read
 * more often than it measured. They are taken out before faults are fitted: old values look like a delay. Records that
 * are there twice, with stamp and value, are counted too. */
#include "doctor/doctor.h"

#include <math.h>

#define SHARE 0.02 /* of the measurements                                             */
#define LEAST 5
#define MOVED 0.3  /* of the usual change of the true value from one to the next      */
#define TWICE 3    /* records                                                         */

typedef struct {
    int32_t sequence, target, at;
} place;

static int compare(const void *a, const void *b)
{
    const place *x = a, *y = b;
    if (x->sequence != y->sequence) return x->sequence < y->sequence ? -1 : 1;
    if (x->target != y->target) return x->target < y->target ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* Size of the change of the true value; negative: not known. */
static double change(const ct__exam *e, const ct__sensor *s, const ct__sample *a, const ct__sample *b)
{
    double r[CT_ROWS_MAX], v[CT_ROWS_MAX], w[CT_ROWS_MAX], square = 0;
    if (!ct__sample_row(e, s, a, &s->fault, r, NULL, v) || !ct__sample_row(e, s, b, &s->fault, r, NULL, w)) return -1;
    for (int i = 0; i < s->rows; i++) square += (w[i] - v[i]) * (w[i] - v[i]);
    return sqrt(square);
}

/* 1: equal measured values; 2: of one pose, with mount and all. */
static int equals(const ct__exam *e, const ct__sensor *s, const ct__sample *a, const ct__sample *b)
{
    const ct_graph *g = e->sequence[a->sequence].seq->graph;
    const ct_factor f = ct_graph_factor(g, a->factor), h = ct_graph_factor(g, b->factor);
    size_t          size = 0;
    for (int i = 0; i < s->measured; i++) size += (size_t)ct_kind_size(s->ops->field[i]);
    if (memcmp(f.z, h.z, size * sizeof *f.z)) return 0;
    const size_t all = (size_t)ct_factor_z_size(s->ops);
    return 1 + (f.var[0] == h.var[0] && !memcmp(f.z, h.z, all * sizeof *f.z));
}

static ct_status report(ct__exam *e, ct__sensor *s, int64_t repeated, int64_t twice, uint8_t *drop, ct_err *err)
{
    const double share = 100.0 * (double)repeated / s->samples;
    if (twice >= TWICE) {
        const double value[] = {(double)twice, 100.0 * (double)twice / s->samples};
        CT_TRY(ct__report(e, s, -1, CT_FINDING_STAMPS_REPEATED, 2, value, err));
    }
    if (repeated < LEAST || share < 100 * SHARE) return CT_OK;
    int32_t n = 0;
    for (int32_t k = 0; k < s->samples; k++)
        if (!drop[k]) s->sample[n++] = s->sample[k];
    s->samples = n;
    return ct__report(e, s, -1, CT_FINDING_MEASUREMENTS_REPEATED, 1, &share, err);
}

ct_status ct__find_repeated(ct__exam *e, ct__sensor *s, ct_err *err)
{
    if (!s->measured || s->samples < CT__SAMPLES_LEAST || s->odometry || s->loops) return CT_OK;
    place   *p = ct__zalloc(s->samples, sizeof *p);
    double  *size = ct__zalloc(s->samples, sizeof *size), *room = ct__zalloc(s->samples, sizeof *room);
    uint8_t *drop = ct__zalloc(s->samples, 1);
    int64_t  repeated = 0, twice = 0, n = 0;
    ct_status status = p && size && room && drop ? CT_OK : ct__no_memory(err, "samples", s->samples);
    for (int32_t k = 0; status == CT_OK && k < s->samples; k++)
        p[k] = (place){s->sample[k].sequence, s->sample[k].target, k};
    if (status == CT_OK) qsort(p, (size_t)s->samples, sizeof *p, compare);
    for (int32_t k = 1; status == CT_OK && k < s->samples; k++) {
        size[k] = -1;
        if (p[k].sequence != p[k - 1].sequence || p[k].target != p[k - 1].target) continue;
        size[k] = change(e, s, &s->sample[p[k - 1].at], &s->sample[p[k].at]);
        if (size[k] > 0) room[n++] = size[k];
    }
    const double usual = n ? ct_median(n, room) : 0;
    for (int32_t k = 1; status == CT_OK && k < s->samples; k++) {
        if (size[k] < 0) continue;
        const int same = equals(e, s, &s->sample[p[k - 1].at], &s->sample[p[k].at]);
        twice += same == 2;
        drop[p[k].at] = same == 1 && size[k] > MOVED * usual;
        repeated += drop[p[k].at];
    }
    if (status == CT_OK) status = report(e, s, repeated, twice, drop, err);
    free(p);
    free(size);
    free(room);
    free(drop);
    return status;
}
