/* residual_histograms.c: residuals at the truth are samples of the measurement noise. Divided by the sigma of a right
 * model they are standard normal. Each row of a learned model has a histogram of its residuals over the learned sigma,
 * the densities that the learned and the start sigma claim, and moments. The kurtosis is 3 for a normal density; it
 * shows heavy tails that a deviation does not. */
#include "cli/report/report.h"

#include <math.h>
#include <stdlib.h>

#define BINS  40
#define REACH 5.0 /* sigmas: residuals beyond are counted, not drawn */
#define OFF   3.0 /* a sigma that is off by this factor: the histogram has the residuals' own width */
/* start sigma over learned: outside, its density is a needle or flat, and the caption has the numbers instead */
#define NARROW 0.3
#define WIDE   8.0
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

/* The bin of |v| < reach. Just below reach, 1 + v / reach rounds to 2, the end of the last bin. */
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

/* The width of a histogram: 1, or the residuals' own deviation where sigma is far off. */
static double width_of(const sample *s)
{
    return s->deviation > 0 && isfinite(s->deviation) && fabs(log(s->deviation)) > log(OFF) ? s->deviation : 1;
}

/* Residuals of a model in all sequences, whitened by the table of that side; the caller frees them. */
static double *collect(const report_job *job, const ct_noise_model *m, int side, int64_t *count)
{
    const ct_noise *noise = job->table[side];
    const int32_t model = ct_noise_find(noise, m->name); /* tables may number models differently */
    const int       dim = m->dim;
    int64_t         n = 0, used = 0;
    for (int32_t i = 0; i < job->count; i++) n += ct_truth_residuals(job->track[i].seq, model, NULL, 0, NULL);
    double *r = cli_alloc(n * dim, sizeof *r);
    for (int32_t i = 0; i < job->count; i++)
        used += ct_truth_residuals(job->track[i].seq, model, noise, n - used, r + used * dim);
    *count = used;
    return r;
}

static double normal_density(double x, double deviation)
{
    return exp(-x * x / (2 * deviation * deviation)) / (sqrt(8 * atan(1)) * deviation);
}

/* start: deviation of the start model's density in learned sigmas. */
static void put_histogram(report_job *job, const char *name, int number, double width, double start, const sample *s)
{
    const double reach = REACH * width;
    double edge[BINS + 1], x[CURVE], learned[CURVE], before[CURVE], most = 0;
    char id[32], text[160] = "", ratio[32];
    const int drawn = start >= NARROW * width && start <= WIDE * width;
    for (int k = 0; k <= BINS; k++) edge[k] = -reach + 2 * reach * k / BINS;
    for (int k = 0; k < CURVE; k++) {
        x[k] = -reach + 2 * reach * k / (CURVE - 1);
        learned[k] = normal_density(x[k], width);
        before[k] = normal_density(x[k], start);
        most = fmax(most, fmax(learned[k], drawn ? before[k] : 0));
    }
    for (int k = 0; k < BINS; k++) most = fmax(most, s->density[k]);
    if (start > 0 && isfinite(start))
        snprintf(text, sizeof text, "The start \u03c3 is %s times the learned one%s.", report_number(start, ratio),
                 drawn ? "" : "; not drawn");
    const ct_series series[] = {{NULL, CT_ROLE_AFTER, CT_MARK_BARS, BINS, edge, s->density, NULL},
                                {NULL, CT_ROLE_TRUTH, CT_MARK_LINE, CURVE, x, learned, NULL},
                                {NULL, CT_ROLE_BEFORE, CT_MARK_LINE, CURVE, x, before, NULL}};
    snprintf(id, sizeof id, "residuals-%d", number);
    const ct_plot plot = {.id = id,
                          .title = name,
                          .text = *text ? text : NULL,
                          .x_label = "residual in learned \u03c3",
                          .small = 1,
                          .height = 0.6,
                          .x_low = -reach,
                          .x_high = reach,
                          .y_low = 0,
                          .y_high = 1.08 * most,
                          .count = drawn ? 3 : 2,
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
    ct_table_note(
        t, "Normal noise with the right \u03c3 has deviation 1, mean 0 and kurtosis 3; values far from these are "
           "marked. A deviation below 1 means that \u03c3 is larger than the residuals are.");
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
        sort_into_bins(&s[AFTER], n[AFTER], m->dim, row, r[AFTER], REACH * width);
        if (m->row && m->row[row].name[0]) snprintf(name, sizeof name, "%s.%s", m->name, m->row[row].name);
        else snprintf(name, sizeof name, "%s.%d", m->name, row);
        put_histogram(job, name, ++*number, width, s[AFTER].deviation / s[BEFORE].deviation, &s[AFTER]);
        put_row(t, name, s);
    }
    if (!n[AFTER]) {
        ct_table_row(t, 0);
        ct_table_text(t, "%s: the truth it needs is not known", m->name);
    }
    for (int side = BEFORE; side <= AFTER; side++) free(r[side]);
    return off;
}

void report_residuals(report_job *job)
{
    ct_table *t = new_table();
    int       number = 0, full = 0, off = 0;
    ct_page_section(job->page, "residuals", "Residuals at the truth");
    ct_page_text(
        job->page,
        "Residuals at the true states are samples of the measurement noise. Bars are their histogram on the %s "
        "sequences, over the learned \u03c3. The solid line is the density that the learned \u03c3 claims: the "
        "bars should follow it. The dashed line is the same of the start \u03c3.",
        report_part(job));
    for (int32_t i = 0; i < job->rows; i++)
        full = full || ct_noise_get(job->file[AFTER], job->row[i].model)->kind == CT_NOISE_FULL;
    if (full)
        ct_page_text(job->page, "Residuals of a full covariance are multiplied by the inverse of its root. Each row is "
                                "then what is new in it, given the rows after it.");
    for (int32_t i = 0; i < job->rows; i++)
        if (!i || job->row[i - 1].model != job->row[i].model) off += put_model(job, i, t, &number);
    if (off)
        ct_page_text(
            job->page,
            "Where \u03c3 is off by more than a factor of %g, the axis has the width of the residuals, and the "
            "solid line is the normal density of their own deviation. The table has the factor.",
            OFF);
    report_put_table(job, t);
}
