/* repeated.c: measurements that are equal to the one before, to the bit, though what is measured changed: a driver
 * that gives its last value again. Records that are there twice, at one pose with all fields, are counted too. Of these
 * there must be more than chance gives.
 *
 * Values of a sensor with steps q are equal by chance in a share of about q / (2 sqrt(pi) sigma) of a row. Steps are
 * the smallest difference of two values. The share that is found must be well above that of chance. Odometry may
 * measure what does not change (commanded velocities): there the true value must have changed by MOVED_STEP sigmas.
 *
 * A sensor that stands still for a time gives its last value RUN times or more, odometry the last velocity. From pose
 * to pose little changes then, over the run much does. It is frozen if over its later half the true value is off that
 * at its beginning, and the residual off its median, by OFF sigmas: those of samples in no run, and in one row. A robot
 * that follows its command late begins with such a residual instead, and ends without. */
#include "doctor/doctor.h"

#include <math.h>
#include <stdio.h>

#define LEAST      5
#define SHARE      0.02 /* of the measurements                                             */
#define CHANCE     5.0  /* times the share of chance                                       */
#define MOVED      0.1  /* sigmas by which the true value changed                          */
#define MOVED_STEP 3.0
#define TWICE      3    /* records                                                         */
#define TWICE_MORE 2.0  /* times the number that chance is taken to give: steps are a guess */
#define RUN        8    /* samples of one value                                            */
#define OFF        3.0  /* sigmas, of a root mean square                                   */
#define ROUNDING   1e-9 /* of the largest value: differences below are none                */

typedef struct {
    double  *value, *r, *w; /* rows x samples: measured, residual, predicted; NaN: there is none */
    double  *room;
    uint8_t *again;  /* per sample: a repetition                          */
    int32_t *before; /* per sample: the one before of its target, or -1   */
    double   sigma[CT_ROWS_MAX];
    int32_t *after;  /* the inverse of before, or -1                      */
    double   middle[CT_ROWS_MAX], largest[CT_ROWS_MAX];
    int64_t  pairs, repeated, twice, together; /* together: pairs at one pose */
    int32_t  runs;                             /* that are frozen             */
} work;

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The step of a row: the smallest difference of two values that is more than rounding. */
static double find_step(const ct__sensor *s, work *t, int row)
{
    double largest = 0, step = INFINITY;
    memcpy(t->room, t->value + (int64_t)row * s->samples, (size_t)s->samples * sizeof *t->room);
    qsort(t->room, (size_t)s->samples, sizeof *t->room, compare_doubles);
    for (int32_t k = 0; k < s->samples; k++) largest = fmax(largest, fabs(t->room[k]));
    for (int32_t k = 1; k < s->samples; k++) {
        const double d = t->room[k] - t->room[k - 1];
        if (d > ROUNDING * largest) step = fmin(step, d);
    }
    return step;
}

/* The share of pairs that are equal by chance. */
static double chance(const ct__sensor *s, work *t)
{
    double p = 1;
    for (int i = 0; i < s->rows; i++) p *= fmin(1, find_step(s, t, i) / (3.545 * t->sigma[i]));
    return p;
}

static ct_status link_samples(const ct__sensor *s, work *t, ct_err *err)
{
    ct__place *p = ct__order_by_target(s);
    if (!p) return ct__no_memory(err, "samples", s->samples);
    for (int32_t k = 0; k < s->samples; k++)
        t->before[p[k].at] = k && ct__same_place(&p[k], &p[k - 1]) ? p[k - 1].at : -1;
    free(p);
    return CT_OK;
}

static int has_moved(const ct__sensor *s, const work *t, int32_t a, int32_t b)
{
    for (int i = 0; i < s->rows; i++) {
        const double *w = t->w + (int64_t)i * s->samples;
        if (fabs(w[b] - w[a]) > (s->odometry ? MOVED_STEP : MOVED) * t->sigma[i]) return 1;
    }
    return 0;
}

static int is_equal(const ct__sensor *s, const work *t, int32_t a, int32_t b)
{
    for (int i = 0; i < s->rows; i++) {
        const double *w = t->value + (int64_t)i * s->samples;
        if (w[a] < w[b] || w[a] > w[b]) return 0;
    }
    return 1;
}

static void fill(const ct__exam *e, const ct__sensor *s, work *t)
{
    for (int32_t k = 0; k < s->samples; k++) {
        const ct_graph *g = e->sequence[s->sample[k].sequence].seq->graph;
        double          r[CT_ROWS_MAX], w[CT_ROWS_MAX], z[CT_ROWS_MAX];
        const int       there = ct__sample_row(e, s, &s->sample[k], &s->fault, r, NULL, w);
        ct__value_of(s, ct_graph_factor(g, s->sample[k].factor).z, z);
        for (int i = 0; i < s->rows; i++) {
            const int64_t at = (int64_t)i * s->samples + k;
            t->value[at] = z[i], t->r[at] = there ? r[i] : NAN, t->w[at] = there ? w[i] : NAN;
        }
    }
}

/* Robust sigmas of residuals about their medians. */
static void measure(const ct__sensor *s, work *t)
{
    for (int i = 0; i < s->rows; i++) {
        double middle = 0;
        for (int pass = 0; pass < 2; pass++) {
            const double *r = t->r + (int64_t)i * s->samples;
            int64_t       n = 0;
            for (int32_t k = 0; k < s->samples; k++)
                if (isfinite(r[k])) t->room[n++] = r[k] - middle;
            if (pass) t->sigma[i] = n ? ct__robust_sigma(n, t->room) : 0;
            else middle = n ? ct_median(n, t->room) : 0;
        }
    }
}

/* Two measurements at one pose. */
static int is_together(const ct__exam *e, const ct__sensor *s, int32_t a, int32_t b)
{
    const ct_graph *g = e->sequence[s->sample[a].sequence].seq->graph;
    return !s->odometry &&
           ct_graph_factor(g, s->sample[a].factor).var[0] == ct_graph_factor(g, s->sample[b].factor).var[0];
}

/* One record, there twice. */
static int is_twice(const ct__exam *e, const ct__sensor *s, int32_t a, int32_t b)
{
    const ct_graph *g = e->sequence[s->sample[a].sequence].seq->graph;
    const ct_factor f = ct_graph_factor(g, s->sample[a].factor), h = ct_graph_factor(g, s->sample[b].factor);
    return is_together(e, s, a, b) && !memcmp(f.z, h.z, (size_t)ct_factor_z_size(s->ops) * sizeof *f.z);
}

static void count_repeated(const ct__exam *e, const ct__sensor *s, work *t)
{
    for (int32_t k = 0; k < s->samples; k++) {
        const int32_t a = t->before[k];
        if (a < 0) continue;
        t->pairs++;
        t->together += is_together(e, s, a, k);
        t->twice += is_twice(e, s, a, k);
        t->again[k] = is_equal(s, t, a, k) && has_moved(s, t, a, k);
        t->repeated += t->again[k];
    }
}

/* ---- Runs ------------------------------------------------------------------------------------- */

static void find_largest(const ct__sensor *s, work *t)
{
    for (int i = 0; i < s->rows; i++)
        for (int32_t k = 0; k < s->samples; k++)
            t->largest[i] = fmax(t->largest[i], fabs(t->value[(int64_t)i * s->samples + k]));
}

/* Equal, but for the rounding of what was integrated. */
static int is_alike(const ct__sensor *s, const work *t, int32_t a, int32_t b)
{
    for (int i = 0; i < s->rows; i++) {
        const double *w = t->value + (int64_t)i * s->samples;
        if (!(fabs(w[a] - w[b]) <= ROUNDING * t->largest[i])) return 0;
    }
    return 1;
}

static int continues(const ct__sensor *s, const work *t, int32_t k)
{
    return t->before[k] >= 0 && is_alike(s, t, t->before[k], k);
}

/* Medians and robust sigmas of residuals of samples that are in no run; 0: there are too few. */
static int measure_loose(const ct__sensor *s, work *t, double sigma[])
{
    for (int i = 0; i < s->rows; i++) {
        const double *r = t->r + (int64_t)i * s->samples;
        t->middle[i] = 0;
        for (int pass = 0; pass < 2; pass++) {
            int64_t n = 0;
            for (int32_t k = 0; k < s->samples; k++)
                if (isfinite(r[k]) && !continues(s, t, k)) t->room[n++] = r[k] - t->middle[i];
            if (n < CT__SAMPLES_LEAST) return 0;
            if (pass) sigma[i] = ct__robust_sigma(n, t->room);
            else t->middle[i] = ct_median(n, t->room);
        }
    }
    return 1;
}

/* Is the run of n samples from `first` on frozen? */
static int is_frozen(const ct__sensor *s, const work *t, int32_t first, int32_t n, const double sigma[])
{
    for (int i = 0; i < s->rows; i++) {
        const double *r = t->r + (int64_t)i * s->samples, *w = t->w + (int64_t)i * s->samples;
        double        moved = 0, off = 0;
        int32_t       count = 0, k = first;
        for (int32_t place = 0; place < n; place++, k = t->after[k]) {
            if (2 * place < n || !isfinite(r[k]) || !isfinite(w[first])) continue;
            moved += (w[k] - w[first]) * (w[k] - w[first]);
            off += (r[k] - t->middle[i]) * (r[k] - t->middle[i]);
            count++;
        }
        const double least = OFF * OFF * sigma[i] * sigma[i] * count;
        if (sigma[i] > 0 && moved > least && off > least) return 1;
    }
    return 0;
}

static void find_runs(const ct__sensor *s, work *t)
{
    double sigma[CT_ROWS_MAX];
    find_largest(s, t);
    if (!measure_loose(s, t, sigma)) return;
    for (int32_t k = 0; k < s->samples; k++) t->after[k] = -1;
    for (int32_t k = 0; k < s->samples; k++)
        if (t->before[k] >= 0) t->after[t->before[k]] = k;
    for (int32_t k = 0; k < s->samples; k++) {
        int32_t n = 1, last = k;
        if (continues(s, t, k)) continue;
        for (; t->after[last] >= 0 && continues(s, t, t->after[last]); last = t->after[last]) n++;
        if (n < RUN || !is_frozen(s, t, k, n, sigma)) continue;
        t->runs++;
        if (s->odometry && t->after[last] >= 0) last = t->after[last]; /* a step that was frozen in part */
        for (int32_t m = k; m != last;) {
            m = t->after[m];
            t->repeated += !t->again[m];
            t->again[m] = 1;
        }
    }
}

static void drop(ct__sensor *s, const work *t)
{
    int32_t n = 0;
    for (int32_t k = 0; k < s->samples; k++)
        if (!t->again[k]) s->sample[n++] = s->sample[k];
    s->samples = n;
}

/* Time since the measurement before of the same target: 0 where a record is there twice. */
static ct_status show_twice(ct__exam *e, const ct__sensor *s, const work *t, ct_err *err)
{
    ct__picture p = {0};
    ct_status   status = CT_OK;
    for (int32_t k = 0; status == CT_OK && k < s->samples; k++)
        if (t->before[k] >= 0)
            status = ct__picture_add(&p, s->sample[k].t - e->sequence[s->sample[k].sequence].t0,
                                     s->sample[k].t - s->sample[t->before[k]].t, err);
    ct__picture_level(&p, 0);
    if (status == CT_OK)
        status = ct__picture_report(e, &p, s->timed ? "time (s)" : "number of the pose",
                                    "since the measurement before", err);
    ct__picture_free(&p);
    return status;
}

/* Changes of the measured value over those of the true one, of the row that changes most, in sigmas. */
static ct_status show_repeated(ct__exam *e, const ct__sensor *s, const work *t, ct_err *err)
{
    ct__picture p = {0};
    double      most = -1;
    int         row = 0;
    for (int i = 0; i < s->rows; i++) {
        double        sum = 0;
        const double *w = t->w + (int64_t)i * s->samples;
        for (int32_t k = 0; k < s->samples; k++)
            if (t->before[k] >= 0 && isfinite(w[k] - w[t->before[k]])) sum += fabs(w[k] - w[t->before[k]]);
        if (t->sigma[i] > 0 && sum / t->sigma[i] > most) most = sum / t->sigma[i], row = i;
    }
    const double *v = t->value + (int64_t)row * s->samples, *w = t->w + (int64_t)row * s->samples;
    ct_status     status = CT_OK;
    for (int32_t k = 0; status == CT_OK && k < s->samples; k++)
        if (t->before[k] >= 0) status = ct__picture_add(&p, w[k] - w[t->before[k]], v[k] - v[t->before[k]], err);
    ct__picture_slope(&p, 1);
    char        x_label[64], y_label[64];
    const char *name = s->ops->coordinate[row] ? s->ops->coordinate[row] : "value";
    const char *unit = s->ops->unit[row] && *s->ops->unit[row] ? s->ops->unit[row] : "1";
    snprintf(x_label, sizeof x_label, "true change of %.20s (%.8s)", name, unit);
    snprintf(y_label, sizeof y_label, "measured change of %.20s (%.8s)", name, unit);
    if (status == CT_OK) status = ct__picture_report(e, &p, x_label, y_label, err);
    ct__picture_free(&p);
    return status;
}

/* Sigmas <- those of differences of measurements at one pose, where they are smaller: residuals may have faults. */
static void measure_together(const ct__exam *e, const ct__sensor *s, work *t)
{
    for (int i = 0; i < s->rows; i++) {
        const double *v = t->value + (int64_t)i * s->samples;
        int64_t       n = 0;
        for (int32_t k = 0; k < s->samples; k++)
            if (t->before[k] >= 0 && is_together(e, s, t->before[k], k)) t->room[n++] = v[k] - v[t->before[k]];
        const double sigma = n ? ct__robust_sigma(n, t->room) / sqrt(2) : 0;
        if (sigma > 0) t->sigma[i] = fmin(t->sigma[i], sigma);
    }
}

/* More than chance gives, by Poisson's distribution: values of few digits are equal now and then. */
static int are_there_twice(const ct__exam *e, const ct__sensor *s, work *t)
{
    double own[CT_ROWS_MAX];
    if (t->twice < TWICE) return 0;
    memcpy(own, t->sigma, sizeof own);
    measure_together(e, s, t);
    const double mean = TWICE_MORE * chance(s, t) * (double)t->together;
    memcpy(t->sigma, own, sizeof own);
    return 1 - ct__chi_squared_tail(2 * mean, 2 * (double)t->twice) < e->alpha;
}

static ct_status examine(ct__exam *e, ct__sensor *s, work *t, ct_err *err)
{
    CT_TRY(link_samples(s, t, err));
    fill(e, s, t);
    measure(s, t);
    count_repeated(e, s, t);
    if (are_there_twice(e, s, t)) {
        const double value[] = {(double)t->twice, 100.0 * (double)t->twice / s->samples};
        CT_TRY(ct__report(e, s, -1, CT_FINDING_STAMPS_REPEATED, 2, value, err));
        CT_TRY(show_twice(e, s, t, err));
    }
    find_runs(s, t);
    const double share = t->pairs ? (double)t->repeated / (double)t->pairs : 0;
    const int    scattered = t->repeated >= LEAST && share >= SHARE && share >= CHANCE * chance(s, t);
    if (!scattered && !t->runs) return CT_OK;
    const double value = 100 * share;
    CT_TRY(ct__report(e, s, -1, CT_FINDING_MEASUREMENTS_REPEATED, 1, &value, err));
    CT_TRY(show_repeated(e, s, t, err));
    drop(s, t);
    return CT_OK;
}

ct_status ct__drop_repeated(ct__exam *e, ct__sensor *s, ct_err *err)
{
    const int64_t n = s->samples;
    work          t = {0};
    if (!s->measured || n < CT__SAMPLES_LEAST) return CT_OK;
    t.value = ct__zalloc(n * s->rows, sizeof *t.value);
    t.r = ct__zalloc(n * s->rows, sizeof *t.r);
    t.w = ct__zalloc(n * s->rows, sizeof *t.w);
    t.room = ct__zalloc(n, sizeof *t.room);
    t.again = ct__zalloc(n, 1);
    t.before = ct__zalloc(n, sizeof *t.before);
    t.after = ct__zalloc(n, sizeof *t.after);
    const ct_status status = t.value && t.r && t.w && t.room && t.again && t.before && t.after
                                 ? examine(e, s, &t, err)
                                 : ct__no_memory(err, "samples", n);
    free(t.value);
    free(t.r);
    free(t.w);
    free(t.room);
    free(t.again);
    free(t.before);
    free(t.after);
    return status;
}
