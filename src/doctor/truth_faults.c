/* truth_faults.c: truth that is missing between states that have one, and truth that is one of the sensors.
 *
 * A copy: residuals of a row at the truth are rounding errors. The median of |r| is below COPY of the spread of what
 * the row measures. Files may have few digits: then it is below COPY_ROUNDED of the spread and COPY_SIGMA of the
 * model's sigma, and |r| is spread evenly: 19 of 20 are below 1.9 medians, of normal errors below 2.9. Measurements
 * that are equal to their median are left out, so that a body at rest proves nothing. */
#include "doctor/doctor.h"

#include <math.h>

#define GAP_SECONDS  5.0
#define GAP_SHARE    0.03
#define COPY         1e-6
#define COPY_ROUNDED 1e-4
#define COPY_SIGMA   1e-3
#define COPY_EVEN    2.4

/* ---- Gaps ------------------------------------------------------------------------------------- */

typedef struct {
    int64_t poses, missing;
    int32_t longest, sequence;
    double  seconds;
    ct__picture picture; /* states without truth: time, number of the sequence; the line is the longest gap */
} gaps;

/* States of a body in order, from the first to the last that has a truth. */
static ct_status count_gaps(const ct__exam *e, int32_t i, int32_t body, gaps *out, ct_err *err)
{
    const ct__exam_sequence *s = &e->sequence[i];
    int32_t                  last = -1;
    for (int32_t k = s->first[body]; k < s->first[body + 1]; k++) {
        const int32_t v = s->order[k];
        if (s->seq->graph->fixed[v]) continue;
        if (!ct__known(s->seq, v)) continue;
        out->poses++;
        if (last >= 0 && k - last > 1) {
            const int32_t missing = k - last - 1;
            const double  seconds = s->timed ? s->t[v] - s->t[s->order[last]] : NAN;
            out->poses += missing, out->missing += missing;
            for (int32_t m = last + 1; m < k; m++)
                CT_TRY(ct__picture_add(&out->picture, ct__time_of(s, s->order[m]), i + 1, err));
            if (s->timed && isfinite(out->seconds) ? seconds > out->seconds : missing > out->longest) {
                out->longest = missing, out->seconds = seconds, out->sequence = i;
                out->picture.line_x[0] = ct__time_of(s, s->order[last]);
                out->picture.line_x[1] = ct__time_of(s, v);
                out->picture.line_y[0] = out->picture.line_y[1] = i + 1;
            }
        }
        last = k;
    }
    return CT_OK;
}

static ct_status report_gaps(ct__exam *e, const gaps *all, double share, ct_err *err)
{
    const ct__exam_sequence *s = &e->sequence[all->sequence];
    const double             value[] = {100 * share, all->longest, all->seconds};
    CT_TRY(ct__report(e, NULL, -1, CT_FINDING_TRUTH_GAPS, 3, value, err));
    const char *label = ct_sequence_label(s->seq);
    CT_TRY(ct_findings_add_subject(&e->out->findings, CT_SUBJECT_SEQUENCE, s->index, 0, label, err));
    return ct__picture_report(e, &all->picture, ct__time_label(s), "number of the sequence", err);
}

ct_status ct__find_truth_gaps(ct__exam *e, ct_err *err)
{
    gaps      all = {0};
    ct_status status = CT_OK;
    for (int32_t i = 0; i < e->sequences; i++) {
        const ct__exam_sequence *s = &e->sequence[i];
        for (int32_t b = 0; status == CT_OK && s->seq->truth && b < s->bodies.count; b++)
            if (s->first[b + 1] - s->first[b] > 1 && s->moving[s->order[s->first[b]]])
                status = count_gaps(e, i, b, &all, err);
    }
    const double share = all.poses ? (double)all.missing / (double)all.poses : 0;
    const int    matters = all.missing && (share >= GAP_SHARE || all.seconds > GAP_SECONDS);
    if (status == CT_OK && matters) status = report_gaps(e, &all, share, err);
    ct__picture_free(&all.picture);
    return status;
}

/* Where most samples of a sensor are at the truth, the rest is left out: at the estimate residuals are smaller. */
void ct__drop_without_truth(const ct__exam *e, ct__sensor *s)
{
    double  r[CT_ROWS_MAX];
    int32_t n = 0;
    for (int32_t k = 0; k < s->samples; k++)
        n += ct__truth_residual(e->sequence[s->sample[k].sequence].seq, s->sample[k].factor, r);
    if (n < CT__SAMPLES_LEAST || 2 * n < s->samples || n == s->samples) return;
    n = 0;
    for (int32_t k = 0; k < s->samples; k++)
        if (ct__truth_residual(e->sequence[s->sample[k].sequence].seq, s->sample[k].factor, r))
            s->sample[n++] = s->sample[k];
    s->samples = n;
}

/* ---- Copies ----------------------------------------------------------------------------------- */

typedef struct {
    double *r, *w, *room; /* rows x samples, and one row */
    int64_t count, most;
} residuals;

static void take_residuals(const ct__exam *e, const ct__sensor *s, residuals *t)
{
    for (int32_t k = 0; k < s->samples; k++) {
        const ct_sequence *seq = e->sequence[s->sample[k].sequence].seq;
        double             r[CT_ROWS_MAX], w[CT_ROWS_MAX];
        if (!seq->truth || !ct__truth_residual(seq, s->sample[k].factor, r)) continue;
        ct__value_of(s, ct_graph_factor(seq->graph, s->sample[k].factor).z, w);
        for (int i = 0; i < s->rows; i++) t->r[i * t->most + t->count] = r[i], t->w[i * t->most + t->count] = w[i];
        t->count++;
    }
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Medians of |r| and of the distance from the median, of measurements that are not the median. most: 19 of 20 |r| are
 * below. 0: too few. */
static int measure(const residuals *t, int row, double *residual, double *most, double *spread)
{
    const double *r = t->r + row * t->most, *w = t->w + row * t->most;
    int64_t       n = 0;
    memcpy(t->room, w, (size_t)t->count * sizeof *w);
    const double middle = ct_median(t->count, t->room);
    for (int64_t k = 0; k < t->count; k++)
        if (w[k] < middle || w[k] > middle) t->room[n++] = fabs(w[k] - middle);
    if (n < CT__SAMPLES_LEAST) return 0;
    *spread = ct_median(n, t->room);
    n = 0;
    for (int64_t k = 0; k < t->count; k++)
        if (w[k] < middle || w[k] > middle) t->room[n++] = fabs(r[k]);
    qsort(t->room, (size_t)n, sizeof *t->room, compare_doubles);
    *residual = t->room[n / 2];
    *most = t->room[n * 19 / 20];
    return 1;
}

static ct_status find_copies(ct__exam *e, ct__sensor *s, const residuals *t, ct_err *err)
{
    for (int i = 0; i < s->rows; i++) {
        double residual, most, spread;
        if (!measure(t, i, &residual, &most, &spread)) continue;
        const int rounded = residual < COPY_ROUNDED * spread && most < COPY_EVEN * residual &&
                            residual < COPY_SIGMA * ct_noise_sigma(ct_noise_get(e->dataset->noise, s->model[0]), i);
        if (!(residual < COPY * spread) && !rounded) continue;
        const double value[] = {residual, (rounded ? COPY_ROUNDED : COPY) * spread};
        CT_TRY(ct__report(e, s, i, CT_FINDING_TRUTH_COPIES_SENSOR, 2, value, err));
        s->copied = 1;
        const double *w = t->w + i * t->most;
        for (int64_t k = 0; k < t->count; k++) t->room[k] = w[k] + t->r[i * t->most + k]; /* the true value */
        const ct__values shown = {.n = (int32_t)t->count, .stride = 1, .row = i, .column = i, .measured = w,
                                  .predicted = t->room};
        CT_TRY(ct__show_values(e, s, &shown, 1, err));
    }
    return CT_OK;
}

ct_status ct__find_truth_copies(ct__exam *e, ct__sensor *s, ct_err *err)
{
    residuals t = {.most = s->samples};
    if (!s->measured || s->samples < CT__SAMPLES_LEAST) return CT_OK;
    t.r = ct__zalloc(t.most * s->rows, sizeof *t.r);
    t.w = ct__zalloc(t.most * s->rows, sizeof *t.w);
    t.room = ct__zalloc(t.most, sizeof *t.room);
    ct_status status = t.r && t.w && t.room ? CT_OK : ct__no_memory(err, "samples", t.most);
    if (status == CT_OK) {
        take_residuals(e, s, &t);
        if (t.count >= CT__SAMPLES_LEAST) status = find_copies(e, s, &t, err);
    }
    free(t.r);
    free(t.w);
    free(t.room);
    return status;
}
