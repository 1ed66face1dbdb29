/* functions.c: noise models that are functions of features: sigma over each feature, the others at their means. */
#include "cli/report/report.h"

#include <math.h>
#include <stdio.h>

#define POINTS 81
#define ROWS   CT_NOISE_DIM_MAX
#define PAIRS  (ROWS * (ROWS - 1) / 2)

/* Sigma of every row over feature k: its range, the others at their means. */
static void put_picture(report_job *job, const ct_noise_model *m, int k)
{
    const ct_function *f = m->function;
    double             x[CT_FUNCTION_FEATURES_MAX], at[POINTS], sigma[ROWS][POINTS], S[ROWS * ROWS];
    ct_series          series[ROWS];
    char               id[400], title[400], label[ROWS][48], text[400];
    for (int i = 0; i < f->features; i++) x[i] = f->feature[i].mean;
    for (int p = 0; p < POINTS; p++) {
        x[k] = at[p] = f->feature[k].low + (f->feature[k].high - f->feature[k].low) * p / (POINTS - 1);
        ct_noise_covariance_at(m, x, S);
        for (int i = 0; i < m->dim; i++) sigma[i][p] = sqrt(S[i * m->dim + i]);
    }
    for (int i = 0; i < m->dim; i++) {
        if (m->row)
            snprintf(label[i], sizeof label[i], "%s%s%s", m->row[i].name, *m->row[i].unit ? ", " : "", m->row[i].unit);
        else snprintf(label[i], sizeof label[i], "row %d", i);
        series[i] = (ct_series){label[i], (ct_role)(CT_ROLE_FIRST + i), CT_MARK_LINE, POINTS, at, sigma[i], NULL};
    }
    snprintf(id, sizeof id, "function-%.200s-%s", m->name, f->feature[k].name);
    snprintf(title, sizeof title, "Sigma of %.200s over %s", m->name, f->feature[k].name);
    snprintf(text, sizeof text, "Over the range seen in training, beyond which sigma stays%s.",
             f->features > 1 ? "; the other features at their means" : "");
    const ct_plot plot = {.id = id,
                          .title = title,
                          .text = text,
                          .x_label = f->feature[k].name,
                          .y_label = "sigma",
                          .y_log = 1,
                          .small = 1,
                          .count = m->dim,
                          .series = series};
    ct_page_plot(job->page, &plot);
}

/* Correlations of a matrix function over feature k, as sigma. */
static void put_correlations(report_job *job, const ct_noise_model *m, int k)
{
    const ct_function *f = m->function;
    double             x[CT_FUNCTION_FEATURES_MAX], at[POINTS], value[PAIRS][POINTS], S[ROWS * ROWS];
    ct_series          series[PAIRS];
    char               id[400], title[400], label[PAIRS][48];
    int                pairs = 0;
    for (int i = 0; i < f->features; i++) x[i] = f->feature[i].mean;
    for (int p = 0; p < POINTS; p++) {
        x[k] = at[p] = f->feature[k].low + (f->feature[k].high - f->feature[k].low) * p / (POINTS - 1);
        ct_noise_covariance_at(m, x, S);
        pairs = 0;
        for (int i = 0; i < m->dim; i++)
            for (int j = i + 1; j < m->dim; j++)
                value[pairs++][p] = S[i * m->dim + j] / sqrt(S[i * m->dim + i] * S[j * m->dim + j]);
    }
    pairs = 0;
    for (int i = 0; i < m->dim; i++)
        for (int j = i + 1; j < m->dim; j++, pairs++) {
            if (m->row) snprintf(label[pairs], sizeof label[pairs], "%s, %s", m->row[i].name, m->row[j].name);
            else snprintf(label[pairs], sizeof label[pairs], "rows %d, %d", i, j);
            series[pairs] = (ct_series){label[pairs], (ct_role)(CT_ROLE_FIRST + pairs % ROWS), CT_MARK_LINE, POINTS, at,
                                        value[pairs], NULL};
        }
    snprintf(id, sizeof id, "correlation-%.200s-%s", m->name, f->feature[k].name);
    snprintf(title, sizeof title, "Correlation of %.200s over %s", m->name, f->feature[k].name);
    const ct_plot plot = {.id = id, .title = title, .text = "Over the range seen in training.",
                          .x_label = f->feature[k].name, .y_label = "correlation", .small = 1, .count = pairs,
                          .series = series};
    ct_page_plot(job->page, &plot);
}

static const char *text_of(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));
    return text ? text : "";
}

/* The weights with their standard errors, from summary.json. */
static void put_weights(report_job *job, const json_t *functions)
{
    const json_t *terms = json_object_get(functions, "terms");
    ct_table     *table = report_table("Weights of standardised terms in log variance");
    size_t        i;
    json_t       *t;
    ct_table_column(table, "model", "noise model", NULL, 0);
    ct_table_column(table, "row", "row", NULL, 0);
    ct_table_column(table, "term", "term", NULL, 0);
    ct_table_column(table, "weight", "weight", NULL, 4);
    ct_table_column(table, "error", "standard error", NULL, 2);
    json_array_foreach((json_t *)terms, i, t)
    {
        const json_t *weight = json_object_get(t, "weight"), *error = json_object_get(t, "standard_error");
        ct_table_row(table, 0);
        ct_table_text(table, "%s", text_of(t, "model"));
        ct_table_text(table, "%s%s%s", *text_of(t, "row") ? text_of(t, "row") : "all",
                      *text_of(t, "column") ? ", " : "", text_of(t, "column"));
        ct_table_text(table, "%s", text_of(t, "term"));
        ct_table_number(table, json_is_number(weight) ? json_number_value(weight) : NAN);
        ct_table_number(table, json_is_number(error) ? json_number_value(error) : NAN);
    }
    report_put_table(job, table);
}

void report_functions(report_job *job)
{
    const json_t *functions = json_object_get(job->summary_json, "functions");
    int           any = 0;
    for (int32_t g = 0; g < ct_noise_count(job->file[AFTER]); g++)
        any |= ct_noise_get(job->file[AFTER], g)->function != NULL;
    if (!any && !functions) return;
    ct_page_section(job->page, "functions", "Noise that depends on the situation");
    if (!any)
        ct_page_text(job->page, "Functions of features were tried. On held-out recordings they gained nothing beyond a "
                                "standard error; the models are constant.");
    for (int32_t g = 0; g < ct_noise_count(job->file[AFTER]); g++) {
        const ct_noise_model *m = ct_noise_get(job->file[AFTER], g);
        for (int k = 0; m->function && k < m->function->features; k++) {
            put_picture(job, m, k);
            if (m->function->matrix) put_correlations(job, m, k);
        }
    }
    if (functions) put_weights(job, functions);
}
