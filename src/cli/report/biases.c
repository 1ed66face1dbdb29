/* biases.c: errors that last: strength and times of every bias, and its estimate along the sequences that are drawn,
 * with a band of two sigmas from the marginal covariance of each state. */
#include "cli/report/report.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define DRAWN 3 /* sequences a bias */

/* States of a bias in a sequence: of its first chain, where each target has one. */
typedef struct {
    int32_t  count, *var;
    double  *t, *y, *spread; /* y, spread: rows x count */
    int      rows, seconds;
} course;

/* 1 for states of the first chain: "gps_bias12", "gps_bias:0:12". */
static int is_state(const char *name, const char *model)
{
    const size_t n = strlen(model);
    if (strncmp(name, model, n)) return 0;
    name += n;
    if (!strncmp(name, ":0:", 3)) name += 3;
    if (!*name) return 0;
    for (; *name; name++)
        if (!isdigit((unsigned char)*name)) return 0;
    return 1;
}

static void release(course *c)
{
    free(c->var);
    free(c->t);
    free(c->y);
    free(c->spread);
}

static void find_states(const ct_sequence *seq, const ct_noise_model *m, course *c)
{
    const int32_t n = ct_graph_variables(seq->graph);
    c->var = cli_alloc(n, sizeof *c->var);
    c->t = cli_alloc(n, sizeof *c->t);
    c->rows = m->bias->rows;
    for (int32_t v = 0; v < n; v++) {
        char name[400];
        if (!is_state(ct_graph_name(seq->graph, v, name, sizeof name), m->name)) continue;
        c->t[c->count] = seq->stamp && isfinite(seq->stamp[v]) ? seq->stamp[v] : c->count;
        c->seconds = seq->stamp && isfinite(seq->stamp[v]);
        c->var[c->count++] = v;
    }
}

/* Estimates and two sigmas of the states. 0: there are none, or no covariance. */
static int read_states(const ct_noise *noise, const report_track *track, course *c)
{
    ct_solver *solver = NULL;
    ct_err     err;
    const int  d = c->rows;
    c->y = cli_alloc((int64_t)d * c->count + 1, sizeof *c->y);
    c->spread = cli_alloc((int64_t)d * c->count + 1, sizeof *c->spread);
    double    *P = cli_alloc((int64_t)d * d * c->count + 1, sizeof *P), **out = cli_alloc(c->count + 1, sizeof *out);
    for (int32_t k = 0; k < c->count; k++) out[k] = P + (int64_t)k * d * d;
    ct_status status = ct_solver_new(track->seq->graph, NULL, &solver, &err);
    if (status == CT_OK) status = ct_solver_linearise(solver, noise, track->x[AFTER], &err);
    if (status == CT_OK) status = ct_solver_marginals(solver, c->count, c->var, out, &err);
    for (int32_t k = 0; status == CT_OK && k < c->count; k++)
        for (int i = 0; i < d; i++) {
            c->y[(int64_t)i * c->count + k] = track->x[AFTER][ct_graph_offset(track->seq->graph, c->var[k]) + i];
            c->spread[(int64_t)i * c->count + k] = 2 * sqrt(P[(int64_t)k * d * d + i * d + i]);
        }
    ct_solver_free(solver);
    free(P);
    free(out);
    return status == CT_OK;
}

static void put_course(report_job *job, const ct_noise_model *m, int32_t sequence, const course *c)
{
    ct_series   series[2 * CT_BIAS_ROWS_MAX];
    char        id[400], title[500], label[CT_BIAS_ROWS_MAX][48];
    const char *unit = m->row && m->row[0].unit[0] ? m->row[0].unit : "";
    for (int i = 0; i < c->rows; i++) {
        const int64_t at = (int64_t)i * c->count;
        snprintf(label[i], sizeof label[i], "%s", m->bias->row[i]);
        series[i] = (ct_series){NULL, (ct_role)(CT_ROLE_FIRST + i), CT_MARK_BAND, c->count, c->t, c->y + at,
                                c->spread + at};
        series[c->rows + i] =
            (ct_series){label[i], (ct_role)(CT_ROLE_FIRST + i), CT_MARK_LINE, c->count, c->t, c->y + at, NULL};
    }
    snprintf(id, sizeof id, "bias-%.200s-%d", m->name, sequence);
    snprintf(title, sizeof title, "%.200s, sequence %.200s", m->name, ct_sequence_label(job->track[sequence].seq));
    const ct_plot plot = {.id = id,
                          .title = title,
                          .text = "The estimated bias under the learned noise models, with two sigmas either way.",
                          .x_label = c->seconds ? "s" : "state",
                          .y_label = m->bias->process == CT_BIAS_RANDOM_WALK ? "bias" : *unit ? unit : "bias",
                          .count = 2 * c->rows,
                          .series = series};
    ct_page_plot(job->page, &plot);
}

static void put_bias(report_job *job, const ct_noise_model *m)
{
    for (int32_t k = 0; k < job->shown && k < DRAWN; k++) {
        const report_track *track = &job->track[job->show[k]];
        course              c = {0};
        if (!track->x[AFTER]) continue;
        find_states(track->seq, m, &c);
        if (c.count > 1 && read_states(job->table[AFTER], track, &c)) put_course(job, m, job->show[k], &c);
        release(&c);
    }
}

/* "25.3 +- 10 %". */
static void put_time(ct_table *table, double value, double error)
{
    if (!(value > 0)) ct_table_text(table, "%s", "");
    else if (isfinite(error)) ct_table_text(table, "%.4g ± %.2g %%", value, 100 * error);
    else ct_table_text(table, "%.4g%s", value, isinf(error) ? ", not told by the data" : "");
}

static void put_strengths(report_job *job)
{
    ct_table *table = report_table("Biases: strength, time constant and period");
    ct_table_column(table, "bias", "bias", NULL, 0);
    ct_table_column(table, "process", "process", NULL, 0);
    ct_table_column(table, "row", "row", NULL, 0);
    ct_table_column(table, "unit", "unit", NULL, 0);
    ct_table_column(table, "sigma", "sigma", NULL, 4);
    ct_table_column(table, "tau", "time constant", NULL, 0);
    ct_table_column(table, "period", "period", NULL, 0);
    for (int32_t g = 0; g < ct_noise_count(job->file[AFTER]); g++) {
        const ct_noise_model *m = ct_noise_get(job->file[AFTER], g);
        for (int i = 0; m->bias && i < m->dim; i++) {
            ct_table_row(table, 0);
            ct_table_text(table, "%s", m->name);
            ct_table_text(table, "%s", ct_bias_process_name(m->bias->process));
            ct_table_text(table, "%s", m->bias->row[i]);
            ct_table_text(table, "%s", m->row ? m->row[i].unit : "");
            ct_table_number(table, ct_noise_sigma(m, i));
            put_time(table, m->bias->tau, m->bias->tau_error);
            put_time(table, m->bias->period, m->bias->period_error);
        }
    }
    report_put_table(job, table);
}

void report_biases(report_job *job)
{
    int any = 0;
    for (int32_t g = 0; g < ct_noise_count(job->file[AFTER]); g++)
        any |= ct_noise_get(job->file[AFTER], g)->bias != NULL;
    if (!any) return;
    ct_page_section(job->page, "biases", "Errors that last");
    put_strengths(job);
    for (int32_t g = 0; job->dataset && g < ct_noise_count(job->file[AFTER]); g++)
        if (ct_noise_get(job->file[AFTER], g)->bias) put_bias(job, ct_noise_get(job->file[AFTER], g));
}
