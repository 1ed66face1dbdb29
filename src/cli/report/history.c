/* history.c: how learning went: loss, spread and variances, evaluation by evaluation; what folds of the runs were
 * tried on stands apart. */
#include "cli/report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LINES_MAX 6 /* of one picture: more cannot be told apart */

/* Evaluations of one view: those on all training runs, or those on folds. */
typedef struct {
    report_job *job;
    const char *tag; /* for ids, "learn" or "folds" */
    int64_t     n;
    const json_t **of;
    double     *at;  /* their numbers, from 1 */
} view;

/* What "start" evaluates are single points, no path: the closed form, and the start values. */
static view gather(report_job *job, int folds)
{
    const size_t all = json_array_size(job->evaluations);
    view v = {.job = job,
              .tag = folds ? "folds" : "learn",
              .of = cli_alloc((int64_t)all, sizeof *v.of),
              .at = cli_alloc((int64_t)all, sizeof *v.at)};
    for (size_t i = 0; i < all; i++) {
        const json_t *o = json_array_get(job->evaluations, i);
        const char   *phase = json_string_value(json_object_get(o, "phase"));
        if (!phase || !strcmp(phase, "start") || !strcmp(phase, "scale") || (strcmp(phase, "folds") == 0) != folds)
            continue;
        v.of[v.n] = o;
        v.at[v.n] = (double)v.n + 1;
        v.n++;
    }
    return v;
}

static void release(view *v)
{
    free(v->of);
    free(v->at);
}

static double number(const json_t *o, const char *key)
{
    const json_t *value = json_object_get(o, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* ---- loss and spread ---- */

static void put_loss(const view *v)
{
    const json_t *loss = json_object_get(v->job->summary_json, "loss");
    const int     folds = !strcmp(v->tag, "folds");
    double       *train = cli_alloc(3 * v->n, sizeof *train), *best = train + v->n, *heldout = best + v->n;
    const double closed = number(loss, "closed_form"), ends[2] = {v->at[0], v->at[v->n - 1]},
                 level[2] = {closed, closed};
    int           count = 0, judged = 0;
    char          id[32];
    ct_series     series[3];
    for (int64_t i = 0; i < v->n; i++) {
        train[i] = number(v->of[i], "train");
        heldout[i] = number(v->of[i], "heldout");
        best[i] = i && !(train[i] < best[i - 1]) ? best[i - 1] : train[i];
        judged = judged || isfinite(heldout[i]);
    }
    if (!folds && isfinite(closed))
        series[count++] = (ct_series){"closed form", CT_ROLE_QUIET, CT_MARK_LINE, 2, ends, level, NULL};
    series[count++] = (ct_series){folds ? "runs learned from" : "each evaluation",
                                  (ct_role)(CT_ROLE_FIRST + 2),
                                  CT_MARK_POINTS,
                                  v->n,
                                  v->at,
                                  train,
                                  NULL};
    if (!folds) series[count++] = (ct_series){"best so far", CT_ROLE_AFTER, CT_MARK_STEPS, v->n, v->at, best, NULL};
    else if (judged)
        series[count++] =
            (ct_series){"runs held out, mean of all folds", CT_ROLE_AFTER, CT_MARK_STEPS, v->n, v->at, heldout, NULL};
    snprintf(id, sizeof id, "loss-%s", v->tag);
    const ct_plot plot = {.id = id,
                          .title = folds ? "Loss on folds" : "Loss on all training runs",
                          .x_label = "evaluation",
                          .y_label = "mean loss of a run",
                          .y_log = report_wants_log(v->n, train, v->n, heldout),
                          .count = count,
                          .series = series};
    ct_page_plot(v->job->page, &plot);
    free(train);
}

static void put_spread(const view *v)
{
    double *spread = cli_alloc(v->n, sizeof *spread);
    char    id[32];
    for (int64_t i = 0; i < v->n; i++) spread[i] = number(v->of[i], "spread");
    const ct_series series = {
        NULL, CT_ROLE_AFTER, strcmp(v->tag, "folds") ? CT_MARK_LINE : CT_MARK_POINTS, v->n, v->at, spread, NULL};
    snprintf(id, sizeof id, "spread-%s", v->tag);
    const ct_plot plot = {.id = id,
                          .title = "Spread",
                          .text = v->job->in_units ? "Largest variance over smallest, in the dataset's units."
                                                   : "Largest variance over smallest.",
                          .x_label = "evaluation",
                          .y_label = "spread",
                          .y_log = 1,
                          .count = 1,
                          .series = &series};
    ct_page_plot(v->job->page, &plot);
    free(spread);
}

/* ---- variances ---- */

/* The learned model that a parameter is of: the longest name that it begins with. -1: none. */
static int32_t model_of(const report_job *job, const char *parameter)
{
    int32_t found = -1;
    size_t  longest = 0;
    for (int32_t i = 0; i < job->rows; i++) {
        const char  *name = ct_noise_get(job->file[AFTER], job->row[i].model)->name;
        const size_t n = strlen(name);
        if (n <= longest || strncmp(parameter, name, n) || (parameter[n] && !strchr(".[=", parameter[n]))) continue;
        found = job->row[i].model;
        longest = n;
    }
    return found;
}

/* "gps[x,y]" is a covariance, "gps[x,x]" a variance. */
static int is_covariance(const char *parameter)
{
    const char  *open = strrchr(parameter, '['), *comma = open ? strchr(open, ',') : NULL;
    const size_t n = comma ? (size_t)(comma - open - 1) : 0;
    return comma && (strncmp(open + 1, comma + 1, n) || comma[1 + n] != ']');
}

/* Variances of one model, up to LINES_MAX a picture. */
static void put_model(const view *v, int32_t model, int *part)
{
    const json_t *variances = json_object_get(v->of[0], "variances");
    const char   *name = ct_noise_get(v->job->file[AFTER], model)->name, *key;
    double       *y = cli_alloc(LINES_MAX * v->n, sizeof *y);
    char          id[48], title[320];
    ct_series     series[LINES_MAX];
    json_t       *value;
    size_t        left = json_object_size(variances);
    const int     folds = !strcmp(v->tag, "folds"); /* which take turns: no path leads from one to the next */
    int           n = 0;
    snprintf(title, sizeof title, "Variances of %s", name);
    json_object_foreach((json_t *)variances, key, value) {
        left--;
        if (model_of(v->job, key) == model && !is_covariance(key)) {
            for (int64_t i = 0; i < v->n; i++) y[n * v->n + i] = number(json_object_get(v->of[i], "variances"), key);
            series[n] = (ct_series){
                key, (ct_role)(CT_ROLE_FIRST + n), folds ? CT_MARK_POINTS : CT_MARK_LINE, v->n, v->at, y + n * v->n,
                NULL};
            n++;
        }
        if (n < LINES_MAX && (left || !n)) continue;
        snprintf(id, sizeof id, "variances-%s-%d", v->tag, ++*part);
        const ct_plot plot = {.id = id,
                              .title = title,
                              .x_label = "evaluation",
                              .y_label = "variance",
                              .y_log = 1,
                              .count = n,
                              .series = series};
        ct_page_plot(v->job->page, &plot);
        n = 0;
    }
    free(y);
}

static void put_view(const view *v)
{
    const report_job *job = v->job;
    int               part = 0;
    put_loss(v);
    put_spread(v);
    for (int32_t i = 0; i < job->rows; i++)
        if (!i || job->row[i - 1].model != job->row[i].model) put_model(v, job->row[i].model, &part);
}

/* ---- the section ---- */

static void say_losses(report_job *job)
{
    const json_t *loss = json_object_get(job->summary_json, "loss");
    const double start = number(loss, "start"), closed = number(loss, "closed_form"), train = number(loss, "train"),
                 heldout = number(loss, "heldout");
    ct_table     *t;
    if (!job->finished || isnan(train)) return;
    t = report_table("Loss, mean of a run");
    ct_table_column(t, "noise", "noise models", NULL, 0);
    ct_table_column(t, "train", "training runs", NULL, 5);
    if (isfinite(heldout)) ct_table_column(t, "heldout", "runs held out", NULL, 5);
    const char  *name[] = {"start", "closed form", "learned"};
    const double on_train[] = {start, closed, train},
                 on_heldout[] = {number(loss, "heldout_start"), number(loss, "heldout_closed_form"), heldout};
    for (int i = 0; i < 3; i++) {
        ct_table_row(t, 0);
        ct_table_text(t, "%s", name[i]);
        ct_table_number(t, on_train[i]);
        if (isfinite(heldout)) ct_table_number(t, on_heldout[i]);
    }
    ct_table_note(t, "The closed form are the second moments of residuals at the truth.");
    if (isfinite(heldout))
        ct_table_note(t, "Runs held out are estimated as in deployment, training runs from their truth.");
    report_put_table(job, t);
}

void report_history(report_job *job)
{
    view                     learn = gather(job, 0), folds = gather(job, 1);
    static const char *const NAMES[] = {"all training runs", "folds"};
    ct_page_section(job->page, "learning", "How learning went");
    say_losses(job);
    if (!learn.n && !folds.n) ct_page_text(job->page, "There is no history: nothing was searched for.");
    else if (!learn.n)
        ct_page_text(
            job->page,
            "Nothing was searched for on all training runs: folds of them decided. Below is what was tried on folds.");
    if (folds.n)
        ct_page_text(job->page, "Folds are parts of the training runs that are held out in turn, with a pull towards "
                                "the closed form that gets weaker. They tell how strong it should be.");
    if (learn.n && folds.n) ct_page_choices(job->page, "phase", "evaluations on", 2, NAMES);
    for (int k = 0; k < 2; k++) {
        const view *v = k ? &folds : &learn;
        if (learn.n && folds.n) ct_page_choice(job->page, k);
        if (v->n) put_view(v);
    }
    if (learn.n && folds.n) ct_page_choices_end(job->page);
    release(&learn);
    release(&folds);
}
