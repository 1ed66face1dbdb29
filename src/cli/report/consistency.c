/* consistency.c: do claimed and real uncertainty agree? NEES by sequence and by pose, chi-square.
 *
 * NEES of a pose is e' P^-1 e, with e its error and P the covariance that the estimator claims. If they agree it is
 * chi-square of n = dim e degrees. Divided by n it has mean 1 and lies between the 2.5 % and 97.5 % quantiles over n
 * for 95 % of the poses. Errors of neighbouring poses are correlated, so that sequences scatter more widely than a
 * band for independent poses. */
#include "cli/report/report.h"

#include <math.h>
#include <stdlib.h>

#define LOW  0.025
#define HIGH 0.975
/* NEES beyond these is called inconsistent: sigmas off by a fifth. */
#define SURE     1.44
#define CAUTIOUS (1 / 1.44)

/* ---- in words ---- */

static void put_nees(report_job *job)
{
    const double before = job->mean[BEFORE][EVAL_NEES], after = job->mean[AFTER][EVAL_NEES];
    ct_page_text(job->page,
                 "NEES compares errors with the covariance that the estimator claims. It is 1 per coordinate if they "
                 "agree, more if the estimator is overconfident, less if it is underconfident.");
    if (isnan(after)) {
        ct_page_text(job->page, "NEES is not known here: there are no covariances, or no truth.");
        return;
    }
    const char *is = after > SURE ? "overconfident" : after < CAUTIOUS ? "underconfident" : "consistent";
    ct_page_text(job->page,
                 "After learning the estimator is %s: its errors are %.2f times as large as it claims. Before, the "
                 "factor was %.2g.",
                 is, sqrt(after), sqrt(before));
}

static const char *verdict(double value)
{
    return isnan(value) ? "" : value > SURE ? "overconfident" : value < CAUTIOUS ? "underconfident" : "consistent";
}

static void put_table(report_job *job)
{
    static const struct {
        int         metric;
        const char *what;
    } ROW[] = {{EVAL_NEES, "NEES per coordinate"}, {EVAL_CHI_SQUARED, "chi-square per degree of freedom"}};
    ct_table *t = report_table("All sequences together");
    ct_table_column(t, "what", "", NULL, 0);
    ct_table_column(t, "before", "before", NULL, 4);
    ct_table_column(t, "verdict_before", "the estimator is", NULL, 0);
    ct_table_column(t, "after", "after", NULL, 4);
    ct_table_column(t, "verdict", "the estimator is", NULL, 0);
    for (int k = 0; k < 2; k++) {
        ct_table_row(t, 0);
        ct_table_text(t, "%s", ROW[k].what);
        for (int side = BEFORE; side <= AFTER; side++) {
            ct_table_number(t, job->mean[side][ROW[k].metric]);
            ct_table_text(t, "%s", verdict(job->mean[side][ROW[k].metric]));
        }
    }
    ct_table_note(t,
                  "Consistent is from %.2f to %.2f: sigmas right to a fifth. Chi-square compares measurements with the "
                  "estimate, NEES compares the estimate with the truth. Robust kernels make chi-square smaller.",
                  CAUTIOUS, SURE);
    report_put_table(job, t);
}

/* The band of NEES over degrees, as its middle and half its width; NaN where nothing counts. */
static void put_band(double degrees, double *middle, double *half)
{
    const double low = degrees > 0 ? ct_chi_squared_quantile(LOW, degrees) / degrees : NAN,
                 high = degrees > 0 ? ct_chi_squared_quantile(HIGH, degrees) / degrees : NAN;
    *middle = (low + high) / 2;
    *half = (high - low) / 2;
}

/* ---- by sequence ---- */

static void put_sequences(report_job *job, int k, const char *id, const char *title, const char *label)
{
    const int64_t n = job->count;
    double *x = cli_alloc(5 * n, sizeof *x), *y[SIDES] = {x + n, x + 2 * n}, *middle = x + 3 * n, *half = x + 4 * n;
    const char  **names = cli_alloc(n, sizeof *names);
    int           known = 0;
    for (int64_t i = 0; i < n; i++) {
        const ct_consistency *c = &job->of[AFTER][i].consistency;
        put_band((double)(k == EVAL_NEES ? c->nees_degrees : c->degrees), &middle[i], &half[i]);
        x[i] = (double)i;
        names[i] = ct_sequence_label(job->track[i].seq);
        for (int side = BEFORE; side <= AFTER; side++) {
            double value[EVAL_COUNT];
            eval_sequence_metrics(&job->of[side][i], value);
            y[side][i] = value[k];
            known = known || isfinite(value[k]);
        }
    }
    const ct_series series[] = {{k == EVAL_NEES ? "95 % if poses were independent" : "95 % of sequences", CT_ROLE_QUIET,
                                 n > 1 ? CT_MARK_BAND : CT_MARK_POINTS, n, x, middle, half},
                                {"before", CT_ROLE_BEFORE, CT_MARK_POINTS, n, x, y[BEFORE], NULL},
                                {"after", CT_ROLE_AFTER, CT_MARK_POINTS, n, x, y[AFTER], NULL}};
    const ct_plot plot = {
        .id = id,
        .title = title,
        .text =
            k == EVAL_NEES
                ? "Errors of neighbouring poses are correlated: consistent sequences scatter more widely than the band."
                : NULL,
        .x_label = "sequence",
        .y_label = label,
        .y_log = report_wants_log(n, y[BEFORE], n, y[AFTER]),
        .count = 3,
        .series = series,
        .x_names = names,
        .names = (int32_t)n};
    if (known) ct_page_plot(job->page, &plot);
    free(names);
    free(x);
}

/* ---- by pose ---- */

/* Share of poses within the band, of those that have a value. */
static double inside(int32_t n, const double *y, const double *middle, const double *half)
{
    int32_t in = 0, all = 0;
    for (int32_t i = 0; i < n; i++) {
        all += isfinite(y[i]) != 0;
        in += fabs(y[i] - middle[i]) <= half[i];
    }
    return all ? (double)in / all : NAN;
}

static int ascending(const void *a, const void *b)
{
    const double d = *(const double *)a - *(const double *)b;
    return d > 0 ? 1 : d < 0 ? -1 : 0;
}

/* The ends of the axis. The smallest few values are cut off: a pose that is fixed to its truth has nearly none. */
static void span(int32_t n, const double *a, const double *b, double *low, double *high)
{
    double *v = cli_alloc(2 * (int64_t)n, sizeof *v);
    int64_t used = 0;
    for (int32_t i = 0; i < n; i++) {
        if (a[i] > 0 && isfinite(a[i])) v[used++] = a[i];
        if (b[i] > 0 && isfinite(b[i])) v[used++] = b[i];
    }
    qsort(v, (size_t)used, sizeof *v, ascending);
    *low = used ? fmin(v[used / 25], 0.05) : NAN; /* the band begins a little above */
    *high = used ? fmax(1.3 * v[used - 1], 5) : NAN;
    free(v);
}

static void put_poses(report_job *job, int32_t k, const char *body)
{
    const report_track *t = &job->track[job->show[k]];
    const int64_t       all = ct_graph_variables(t->seq->graph);
    int32_t            *at = cli_alloc(all, sizeof *at);
    double *x = cli_alloc(6 * all, sizeof *x), *y[SIDES] = {x + all, x + 2 * all}, *middle = x + 3 * all,
           *half = x + 4 * all, *time = x + 5 * all;
    const char         *label;
    char                id[32], share[SIDES][32], name[64] = "", title[128], text[512];
    const int32_t       n = report_poses(t->seq, body, at, x, &label);
    for (int32_t i = 0, before = 0; i < n; i++) {
        const int d = t->degrees[AFTER][at[i]];
        time[i] = x[i];
        if (i && d == before)
            middle[i] = middle[i - 1], half[i] = half[i - 1]; /* a quantile is costly */
        else put_band(d, &middle[i], &half[i]);
        before = d;
        for (int side = BEFORE; side <= AFTER; side++)
            y[side][i] = t->degrees[side][at[i]] ? t->nees[side][at[i]] / t->degrees[side][at[i]] : NAN;
    }
    double low, high;
    span(n, y[BEFORE], y[AFTER], &low, &high);
    for (int side = BEFORE; side <= AFTER; side++)
        snprintf(share[side], sizeof share[side], "%.3g", 100 * inside(n, y[side], middle, half));
    snprintf(text, sizeof text, "%s: %s %% of its poses lie in the band before, %s %% after.",
             body ? report_body(job, body, name) : ct_sequence_label(t->seq), share[BEFORE], share[AFTER]);
    if (!body) ct_page_text(job->page, "%s", text);
    const int64_t   drawn = report_thin(n, REPORT_LINE / job->shown, x, y[BEFORE], y[AFTER]);
    const ct_series series[] = {{"95 % of poses", CT_ROLE_QUIET, CT_MARK_BAND, n, time, middle, half},
                                {"before", CT_ROLE_BEFORE, CT_MARK_LINE, drawn, x, y[BEFORE], NULL},
                                {"after", CT_ROLE_AFTER, CT_MARK_LINE, drawn, x, y[AFTER], NULL}};
    snprintf(id, sizeof id, "nees-%d", k);
    snprintf(title, sizeof title, "NEES%s%s", body ? ": " : " over time", name);
    const ct_plot plot = {.id = id,
                          .title = title,
                          .text = body ? text : NULL,
                          .x_label = label,
                          .y_label = "NEES per coordinate",
                          .y_log = 1,
                          .zoom = 1,
                          .y_low = low,
                          .y_high = high,
                          .count = 3,
                          .series = series};
    if (n) ct_page_plot(job->page, &plot);
    free(at);
    free(x);
}

void report_trust(report_job *job)
{
    ct_page_section(job->page, "consistency", "Consistency");
    if (!job->averaged) return;
    put_nees(job);
    put_table(job);
    put_sequences(job, EVAL_NEES, "nees-sequences", "NEES by sequence", "NEES per coordinate");
    put_sequences(job, EVAL_CHI_SQUARED, "chi-sequences", "Chi-square by sequence", "chi-square per degree");
    if (!job->shown || isnan(job->mean[AFTER][EVAL_NEES])) return;
    const char *body[CT_BODIES_MAX];
    const int   bodies = report_each_body(job, body);
    char      **names = report_choices(job);
    if (job->shown > 1) ct_page_choices(job->page, "nees", "sequence", job->shown, (const char *const *)names);
    for (int32_t k = 0; k < job->shown; k++) {
        if (job->shown > 1) ct_page_choice(job->page, k);
        for (int i = 0; i < bodies; i++) put_poses(job, k, body[i]);
    }
    if (job->shown > 1) ct_page_choices_end(job->page);
    report_choices_free(job, names);
}
