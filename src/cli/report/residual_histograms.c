/* residual_histograms.c: what measurements say at the truth are samples of their noise. Whitened by a model that is
 * right they are normal, of mean 0 and deviation 1: a histogram for each row of a learned model against that
 * density, and moments. Of skewed or heavy-tailed rows the kurtosis, 3 for the normal density, says more than the
 * deviation. */
#include "cli/report/report.h"

#include <math.h>
#include <stdlib.h>

#define BINS  40
#define REACH 5.0 /* sigmas: what is beyond is counted, not drawn */
#define OFF   3.0 /* factor of a sigma from which on its histogram has a width of its own */
#define CURVE 101

typedef struct {
    int64_t count, beyond;
    double  mean, deviation, kurtosis;
    double  density[BINS];
} sample;

/* Row `row` of n residuals of dim rows each. */
static sample measure(int64_t n, int dim, int row, const double *r)
{
    sample s = {.count = n, .mean = NAN, .deviation = NAN, .kurtosis = NAN};
    double sum = 0, second = 0, fourth = 0;
    for (int64_t i = 0; i < n; i++) sum += r[i * dim + row];
    s.mean = n ? sum / (double)n : NAN;
    for (int64_t i = 0; i < n; i++) {
        const double v = r[i * dim + row], d = v - s.mean;
        second += d * d;
        fourth += d * d * d * d;
        s.beyond += !(fabs(v) < REACH);
    }
    if (n > 1) s.deviation = sqrt(second / (double)(n - 1));
    if (n > 1 && second > 0) s.kurtosis = (double)n * fourth / (second * second);
    return s;
}

/* The bin of a value below `reach`, either sign. Just below it 1 + v / reach is rounded to 2, the end of the last
 * bin. */
static int bin_of(double v, double reach)
{
    const int bin = (int)((1 + v / reach) / 2 * BINS);
    return bin < BINS ? bin : BINS - 1;
}

/* Its density from -reach to reach. */
static void sort_into_bins(sample *s, int64_t n, int dim, int row, const double *r, double reach)
{
    const double each = 1 / ((double)n * 2 * reach / BINS);
    for (int64_t i = 0; i < n; i++) {
        const double v = r[i * dim + row];
        if (fabs(v) < reach) s->density[bin_of(v, reach)] += each;
    }
}

/* The deviation that a histogram is drawn for: 1, or where sigma is far off the residuals' own, of which there would
 * be a needle or a plain to see. */
static double width_of(const sample *s)
{
    return s->deviation > 0 && isfinite(s->deviation) && fabs(log(s->deviation)) > log(OFF) ? s->deviation : 1;
}

/* Residuals of a model in all runs, whitened by the table of that side; the caller frees them. */
static double *collect(const report_job *job, const ct_noise_model *m, int side, int64_t *count)
{
    const ct_noise *noise = job->table[side];
    const int32_t   model = ct_noise_find(noise, m->name); /* what the dataset has not may have another number there */
    const int       dim = m->dim;
    int64_t         n = 0, used = 0;
    for (int32_t i = 0; i < job->count; i++) n += ct_truth_residuals(job->track[i].seq, model, NULL, 0, NULL);
    double *r = cli_alloc(n * dim, sizeof *r);
    for (int32_t i = 0; i < job->count; i++)
        used += ct_truth_residuals(job->track[i].seq, model, noise, n - used, r + used * dim);
    *count = used;
    return r;
}

static void put_histogram(report_job *job, const char *name, int number, double width, const sample s[SIDES])
{
    const double reach = REACH * width;
    double       edge[BINS + 1], x[CURVE], normal[CURVE], most = 0.4 / width;
    char         id[32];
    for (int k = 0; k <= BINS; k++) edge[k] = -reach + 2 * reach * k / BINS;
    for (int k = 0; k < CURVE; k++) {
        x[k] = -reach + 2 * reach * k / (CURVE - 1);
        normal[k] = exp(-x[k] * x[k] / (2 * width * width)) / (sqrt(8 * atan(1)) * width);
    }
    for (int k = 0; k < BINS; k++) most = fmax(most, s[AFTER].density[k]);
    double before[BINS + 1];
    for (int k = 0; k < BINS; k++) before[k] = s[BEFORE].density[k];
    before[BINS] = before[BINS - 1];
    const ct_series series[] = {{NULL, CT_ROLE_AFTER, CT_MARK_BARS, BINS, edge, s[AFTER].density, NULL},
                                {NULL, CT_ROLE_BEFORE, CT_MARK_STEPS, BINS + 1, edge, before, NULL},
                                {NULL, CT_ROLE_TRUTH, CT_MARK_LINE, CURVE, x, normal, NULL}};
    snprintf(id, sizeof id, "residuals-%d", number);
    /* What the start values make of it may be a needle: it is cut, so that the rest is seen. */
    const ct_plot plot = {.id = id,
                          .title = name,
                          .x_label = "residual in \u03c3",
                          .small = 1,
                          .height = 0.6,
                          .x_low = -reach,
                          .x_high = reach,
                          .y_low = 0,
                          .y_high = 1.25 * most,
                          .count = 3,
                          .series = series};
    ct_page_plot(job->page, &plot);
}

static void put_row(ct_table *t, const char *name, const sample s[SIDES])
{
    const double error = 1 / sqrt((double)s[AFTER].count);
    ct_table_row(t, 0);
    ct_table_text(t, "%s", name);
    ct_table_number(t, (double)s[AFTER].count);
    ct_table_number(t, s[BEFORE].deviation);
    ct_table_number(t, s[AFTER].deviation);
    if (fabs(log(s[AFTER].deviation)) > 0.2) ct_table_mark(t, 2);
    ct_table_text(t, "%.3f", fabs(s[AFTER].mean) < 0.0005 ? 0 : s[AFTER].mean); /* no -0.000 */
    if (fabs(s[AFTER].mean) > 0.1 + 3 * error) ct_table_mark(t, 2);
    ct_table_number(t, s[AFTER].kurtosis);
    if (s[AFTER].kurtosis > 4 + 15 * error) ct_table_mark(t, 2);
    ct_table_number(t, (double)s[AFTER].beyond);
}

static ct_table *new_table(void)
{
    ct_table *t = report_table("Moments of residuals");
    ct_table_column(t, "row", "row", NULL, 0);
    ct_table_column(t, "count", "residuals", NULL, 9);
    ct_table_column(t, "deviation_before", "deviation before", NULL, 3);
    ct_table_column(t, "deviation", "deviation after", NULL, 3);
    ct_table_column(t, "mean", "mean", NULL, 3);
    ct_table_column(t, "kurtosis", "kurtosis", NULL, 3);
    ct_table_column(t, "beyond", "beyond 5 \u03c3", NULL, 9);
    ct_table_note(t, "Normal noise whose model is right has deviation 1, mean 0 and kurtosis 3; what is far from that "
                     "is marked. A deviation below 1 is one that learning took for larger than it is.");
    return t;
}

/* Returns how many of its rows are drawn over a width of their own. */
static int put_model(report_job *job, int32_t first, ct_table *t, int *number)
{
    const ct_noise_model *m = ct_noise_get(job->file[AFTER], job->row[first].model);
    double               *r[SIDES];
    int64_t               n[SIDES];
    int                   off = 0;
    for (int side = BEFORE; side <= AFTER; side++) r[side] = collect(job, m, side, &n[side]);
    for (int row = 0; n[AFTER] && row < m->dim; row++) {
        char         name[300];
        sample       s[SIDES] = {measure(n[BEFORE], m->dim, row, r[BEFORE]), measure(n[AFTER], m->dim, row, r[AFTER])};
        const double width = width_of(&s[AFTER]);
        off += width != 1;
        for (int side = BEFORE; side <= AFTER; side++)
            sort_into_bins(&s[side], n[side], m->dim, row, r[side], REACH * width);
        if (m->row && m->row[row].name[0]) snprintf(name, sizeof name, "%s.%s", m->name, m->row[row].name);
        else snprintf(name, sizeof name, "%s.%d", m->name, row);
        put_histogram(job, name, ++*number, width, s);
        put_row(t, name, s);
    }
    if (!n[AFTER]) {
        ct_table_row(t, 0);
        ct_table_text(t, "%s: its truth is not known", m->name);
    }
    for (int side = BEFORE; side <= AFTER; side++) free(r[side]);
    return off;
}

void report_residuals(report_job *job)
{
    ct_table *t = new_table();
    int       number = 0, full = 0, off = 0;
    ct_page_section(job->page, "residuals", "Residuals at the truth");
    ct_page_text(job->page,
                 "What measurements say at the true states is their noise. Divided by the \u03c3 of a model that is "
                 "right it is normal, of deviation 1. Bars are residuals of %s runs after learning, the dashed line is "
                 "before, the smooth one the normal density.",
                 report_part(job));
    for (int32_t i = 0; i < job->rows; i++)
        full = full || ct_noise_get(job->file[AFTER], job->row[i].model)->kind == CT_NOISE_FULL;
    if (full)
        ct_page_text(job->page, "Full covariances are divided by their root, which mixes rows: each stands for what is "
                                "new in it given the rows after it.");
    for (int32_t i = 0; i < job->rows; i++)
        if (!i || job->row[i - 1].model != job->row[i].model) off += put_model(job, i, t, &number);
    if (off)
        ct_page_text(job->page,
                     "Where \u03c3 is off by more than a factor of %g the picture is as wide as the residuals are, and "
                     "the smooth line the normal density of their own deviation: it shows their shape, the table how "
                     "far off \u03c3 is.",
                     OFF);
    report_put_table(job, t);
}
