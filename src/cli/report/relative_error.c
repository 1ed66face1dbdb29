/* relative_error.c: relative pose error over distances along the path, before and after learning: how fast estimates
 * drift, whatever the frame of the world.
 *
 * Lengths are the same for all sequences: shares of the median path, rounded to 1, 2 or 5 times a power of ten. Each
 * sequence that is long enough counts once. */
#include "cli/report/report.h"

#include <math.h>
#include <stdlib.h>

#define LENGTHS 5

static int ascending(const void *a, const void *b)
{
    const double d = *(const double *)a - *(const double *)b;
    return d > 0 ? 1 : d < 0 ? -1 : 0;
}

/* The nearest of 1, 2, 5, 10 times a power of ten, by ratio. */
static double rounded(double value)
{
    static const double STEP[] = {1, 2, 5, 10};
    const double power = pow(10, floor(log10(value)));
    double best = power;
    for (int i = 1; i < 4; i++)
        if (fabs(log(value / (STEP[i] * power))) < fabs(log(value / best))) best = STEP[i] * power;
    return best;
}

/* Lengths in m, ascending; returns how many. */
static int choose_lengths(const report_job *job, const char *body, double length[LENGTHS])
{
    static const double SHARE[LENGTHS] = {0.01, 0.05, 0.1, 0.2, 0.5};
    double *path = cli_alloc(job->count, sizeof *path);
    int32_t n = 0;
    int count = 0;
    for (int32_t i = 0; i < job->count; i++) {
        const double l = job->use[i] ? ct_truth_length(job->track[i].seq, body) : 0;
        if (l > 0 && isfinite(l)) path[n++] = l;
    }
    qsort(path, (size_t)n, sizeof *path, ascending);
    for (int k = 0; n && k < LENGTHS; k++) {
        const double l = rounded(SHARE[k] * path[n / 2]);
        if (!count || l > length[count - 1]) length[count++] = l;
    }
    free(path);
    return count;
}

/* Mean over sequences and its standard error. */
typedef struct {
    int32_t n;
    double sum, square;
} statistics;

static void add(statistics *s, double value)
{
    if (!isfinite(value)) return;
    s->n++;
    s->sum += value;
    s->square += value * value;
}

static double mean_of(const statistics *s) { return s->n ? s->sum / s->n : NAN; }
static double error_of(const statistics *s)
{
    const double variance = s->n > 1 ? fmax(0, s->square - s->sum * s->sum / s->n) / (s->n - 1) : NAN;
    return sqrt(variance / s->n);
}

typedef struct {
    int count;
    double length[LENGTHS];
    int64_t segments[LENGTHS];
    statistics translation[SIDES][LENGTHS], rotation[SIDES][LENGTHS]; /* m, rad */
} relative;

static relative measure(const report_job *job, const char *body)
{
    relative r = {0};
    r.count = choose_lengths(job, body, r.length);
    for (int32_t i = 0; r.count && i < job->count; i++) {
        if (!job->use[i]) continue;
        for (int side = BEFORE; side <= AFTER; side++) {
            ct_rpe rpe[LENGTHS];
            if (ct_rpe_over(job->track[i].seq, job->track[i].x[side], body, r.count, r.length, rpe, NULL) != CT_OK)
                cli_check_alloc(NULL);
            for (int k = 0; k < r.count; k++) {
                add(&r.translation[side][k], rpe[k].translation);
                add(&r.rotation[side][k], rpe[k].rotation);
                r.segments[k] += side == AFTER ? rpe[k].segments : 0;
            }
        }
    }
    while (r.count && !r.segments[r.count - 1]) r.count--;
    return r;
}

static void put_table(report_job *job, const relative *r, const char *title)
{
    ct_table *t = report_table(title);
    ct_table_column(t, "length", "over", "m", 3);
    ct_table_column(t, "translation_before", "position before", job->unit.name, 3);
    ct_table_column(t, "translation", "after", job->unit.name, 3);
    ct_table_column(t, "drift", "after, of the distance", "%", 3);
    ct_table_column(t, "rotation_before", "rotation before", "rad", 3);
    ct_table_column(t, "rotation", "after", "rad", 3);
    ct_table_column(t, "sequences", "sequences", NULL, 6);
    ct_table_column(t, "segments", "segments", NULL, 9);
    for (int k = 0; k < r->count; k++) {
        const double m = job->unit.per_m;
        ct_table_row(t, 0);
        ct_table_number(t, r->length[k]);
        for (int side = BEFORE; side <= AFTER; side++)
            ct_table_deviation(t, m * mean_of(&r->translation[side][k]), m * error_of(&r->translation[side][k]));
        ct_table_number(t, 100 * mean_of(&r->translation[AFTER][k]) / r->length[k]);
        for (int side = BEFORE; side <= AFTER; side++)
            ct_table_deviation(t, mean_of(&r->rotation[side][k]), error_of(&r->rotation[side][k]));
        ct_table_number(t, r->translation[AFTER][k].n);
        ct_table_number(t, (double)r->segments[k]);
    }
    ct_table_note(t,
                  "Root mean square over segments of that length along the true path; mean over sequences \u00b1 one "
                  "standard error. No alignment changes it.");
    report_put_table(job, t);
}

static void put_picture(report_job *job, const relative *r, int rotation, const char *whose)
{
    double y[SIDES][LENGTHS], bar[SIDES][LENGTHS];
    char label[64], title[128];
    const char *unit = rotation ? "rad" : job->unit.name;
    for (int side = BEFORE; side <= AFTER; side++)
        for (int k = 0; k < r->count; k++) {
            const statistics *s = rotation ? &r->rotation[side][k] : &r->translation[side][k];
            const double scale = rotation ? 1 : job->unit.per_m;
            y[side][k] = scale * mean_of(s);
            bar[side][k] = scale * error_of(s);
        }
    const ct_series series[] = {{"before", CT_ROLE_BEFORE, CT_MARK_LINE, r->count, r->length, y[BEFORE], bar[BEFORE]},
                                {"after", CT_ROLE_AFTER, CT_MARK_LINE, r->count, r->length, y[AFTER], bar[AFTER]}};
    snprintf(label, sizeof label, "relative error in %s", unit);
    snprintf(title, sizeof title, "Relative error in %s%s%s", rotation ? "rotation" : "position", *whose ? ": " : "",
             whose);
    const ct_plot plot = {.id = rotation ? "relative-rotation" : "relative-position",
                          .title = title,
                          .text =
                              "Error of the motion over a distance, \u00b1 one standard error over sequences. A flat "
                              "line is noise of single poses, a rising one is drift.",
                          .x_label = "distance along the true path in m",
                          .y_label = label,
                          .x_log = 1,
                          .y_log = 1,
                          .count = 2,
                          .series = series};
    ct_page_plot(job->page, &plot);
}

void report_relative_error(report_job *job)
{
    const char *body[CT_BODIES_MAX];
    const int bodies = report_each_body(job, body);
    for (int b = 0; b < bodies; b++) {
        const relative r = measure(job, body[b]);
        char name[64], title[128];
        report_body(job, body[b], name);
        snprintf(title, sizeof title, "Relative error over distances%s%s", *name ? ": " : "", name);
        if (!r.count && b == 0) ct_page_text(job->page, "Relative error needs poses whose truth is known in full.");
        if (!r.count) continue;
        for (int rotation = 0; rotation < 2; rotation++) put_picture(job, &r, rotation, name);
        put_table(job, &r, title);
    }
}
