/* truth_unrelated.c: recordings whose truth has nothing to do with what their sensors measure: that of another body, of
 * another recording, or by another clock.
 *
 * With v the true and w the measured values of a sensor, of lengths or of angles, and robust sigmas over a recording,
 *
 *     sigma(v - w)^2 > APART sigma(w)^2      and      sigma(v)^2 > MOVES sigma(w)^2
 *
 * of independent v and w of one size the first ratio is 2, whatever the noise of a sensor that sees v: below APART, or
 * so large that the second fails. What is tied to the world is compared without its mean: frames are other faults. All
 * sensors of a recording must say so, of motion and of the world. */
#include "doctor/doctor.h"

#include <math.h>

#define APART 0.81
#define MOVES 0.25

typedef struct {
    int32_t n, most;
    double *r, *v, *w, *room; /* one row at a time */
} columns;

static double spread(const ct__sensor *s, int row, int32_t n, double *x, double *room)
{
    double sum[2] = {0, 0};
    if (!s->tied) return ct__robust_sigma(n, x);
    memcpy(room, x, (size_t)n * sizeof *x);
    for (int32_t k = 0; k < n; k++) sum[0] += cos(x[k]), sum[1] += sin(x[k]);
    const int    turns = ct__row_turns(s, row) != 0;
    const double at = turns ? atan2(sum[1], sum[0]) : ct__median(n, room);
    for (int32_t k = 0; k < n; k++) x[k] = turns ? remainder(x[k] - at, 6.283185307179586) : x[k] - at;
    return ct__robust_sigma(n, x);
}

static void fill(const ct__exam *e, const ct__sensor *s, int32_t recording, int row, columns *c)
{
    ct__fault none;
    ct__fault_none(s, &none);
    c->n = 0;
    for (int32_t k = 0; k < s->samples && c->n < c->most; k++) {
        const ct__sample *q = &s->sample[k];
        double            r[CT_ROWS_MAX], v[CT_ROWS_MAX], w[CT_ROWS_MAX];
        if (q->rest || e->sequence[q->sequence].recording != recording) continue;
        if (!ct__sample_row(e, s, q, &none, r, NULL, v)) continue;
        ct__value_of(s, ct_graph_factor(e->sequence[q->sequence].seq->graph, q->factor).z, w);
        c->r[c->n] = r[row];
        c->v[c->n] = v[row];
        c->w[c->n++] = w[row];
    }
}

/* 1: its truth is another; 0: not; -1: too few samples, or they do not vary. */
static int is_unrelated(const ct__exam *e, const ct__sensor *s, int32_t recording, columns *c)
{
    double left[2] = {0, 0}, seen[2] = {0, 0}, moved[2] = {0, 0};
    if (!s->measured) return -1;
    for (int i = 0; i < s->rows; i++) {
        const int turns = ct__row_turns(s, i) != 0;
        fill(e, s, recording, i, c);
        if (c->n < CT__SAMPLES_LEAST) return -1;
        left[turns] += pow(spread(s, i, c->n, c->r, c->room), 2);
        moved[turns] += pow(spread(s, i, c->n, c->v, c->room), 2);
        seen[turns] += pow(spread(s, i, c->n, c->w, c->room), 2);
    }
    for (int k = 0; k < 2; k++)
        if (seen[k] > 0 && left[k] > APART * seen[k] && moved[k] > MOVES * seen[k]) return 1;
    return 0;
}

/* Measured over true values of a sensor that is tied to the world. */
static ct_status show(ct__exam *e, int32_t recording, columns *c, ct_err *err)
{
    const ct__sensor *s = NULL;
    ct__picture       p = {0};
    ct_status         status = CT_OK;
    for (int32_t i = 0; i < e->sensors && !s; i++)
        if (e->sensor[i].tied && e->sensor[i].measured) s = &e->sensor[i];
    if (!s) return CT_OK;
    fill(e, s, recording, 0, c);
    for (int32_t k = 0; status == CT_OK && k < c->n; k++) status = ct__picture_add(&p, c->v[k], c->w[k], err);
    ct__picture_slope(&p, 1);
    if (status == CT_OK) status = ct__picture_report(e, &p, "true value", "measured value", err);
    ct__picture_free(&p);
    return status;
}

static int judge(const ct__exam *e, int32_t recording, columns *c)
{
    int motion = 0, world = 0;
    for (int32_t i = 0; i < e->sensors; i++) {
        const ct__sensor *s = &e->sensor[i];
        const int         other = is_unrelated(e, s, recording, c);
        if (!other) return 0;
        if (other < 0) continue;
        motion |= s->odometry;
        world |= s->tied;
    }
    return motion && world;
}

static void drop_samples(ct__exam *e, int32_t recording)
{
    for (int32_t i = 0; i < e->sensors; i++) {
        ct__sensor *s = &e->sensor[i];
        int32_t     n = 0;
        for (int32_t k = 0; k < s->samples; k++)
            if (e->sequence[s->sample[k].sequence].recording != recording) s->sample[n++] = s->sample[k];
        s->samples = n;
    }
}

ct_status ct__find_unrelated_truth(ct__exam *e, int *most, ct_err *err)
{
    columns c = {0};
    int32_t found = 0;
    for (int32_t i = 0; i < e->sensors; i++) c.most = CT_MAX(c.most, e->sensor[i].samples);
    double   *room = ct__zalloc(4 * (int64_t)CT_MAX(1, c.most), sizeof *room);
    ct_status status = room ? CT_OK : ct__no_memory(err, "samples", c.most);
    c.r = room, c.v = room + c.most, c.w = room + 2 * (int64_t)c.most, c.room = room + 3 * (int64_t)c.most;
    for (int32_t i = 0; status == CT_OK && i < e->recordings; i++) {
        if (!judge(e, i, &c)) continue;
        found++;
        status = ct__report(e, NULL, -1, CT_FINDING_TRUTH_UNRELATED, 0, NULL, err);
        if (status == CT_OK)
            status = ct_findings_add_subject(&e->out->findings, CT_SUBJECT_SEQUENCE, -1, 0, e->recording[i], err);
        if (status == CT_OK) status = show(e, i, &c, err);
        drop_samples(e, i);
    }
    *most = found && 2 * found >= e->recordings; /* the others may only resemble theirs: robots follow one course */
    free(room);
    return status;
}
