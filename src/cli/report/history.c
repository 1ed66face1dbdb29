/* history.c: how learning went. Cross-validation: which candidate has the smallest held-out loss, and is the difference
 * larger than its standard error? Iterations: has the loss stopped falling, and have the variances settled? */
#include "cli/report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LINES_MAX 6   /* of one picture: more cannot be told apart                              */
#define FAR_OFF   3.0 /* times the chosen one's loss: such a candidate is in the table, not in the picture */

/* Evaluations of one view: those on all training sequences, or those on folds. */
typedef struct {
    report_job *job;
    const char *tag; /* for ids, "learn" or "folds" */
    int64_t     n;
    const json_t **of;
    double     *at;  /* their numbers, from 1 */
} view;

/* Evaluations of the phases "start" and "scale" are single points and are left out. */
static view gather(report_job *job, int folds)
{
    const size_t all = json_array_size(job->evaluations);
    view v = {.job = job,
              .tag = folds ? "folds" : "learn",
              .of = cli_alloc((int64_t)all, sizeof *v.of),
              .at = cli_alloc((int64_t)all, sizeof *v.at)};
    for (size_t i = 0; i < all; i++) {
        const json_t *o = json_array_get(job->evaluations, i);
        const int     phase = ct_learn_phase_find(json_string_value(json_object_get(o, "phase")));
        if (phase != (folds ? CT_LEARN_PHASE_FOLDS : CT_LEARN_PHASE_LEARN)) continue;
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

/* ---- loss ---- */

static void put_loss(const view *v)
{
    const json_t *loss = json_object_get(v->job->summary_json, "loss");
    const int     folds = !strcmp(v->tag, "folds");
    double *train = cli_alloc(2 * v->n, sizeof *train), *best = train + v->n;
    const double closed = number(loss, "closed_form"), ends[2] = {v->at[0], v->at[v->n - 1]};
    const double level[2] = {closed, closed};
    int count = 0;
    char          id[32];
    ct_series     series[3];
    for (int64_t i = 0; i < v->n; i++) {
        train[i] = number(v->of[i], "train");
        best[i] = i && !(train[i] < best[i - 1]) ? best[i - 1] : train[i];
    }
    if (!folds && isfinite(closed))
        series[count++] = (ct_series){report_reference(v->job), CT_ROLE_QUIET, CT_MARK_LINE, 2, ends, level, NULL};
    series[count++] =
        (ct_series){"each evaluation", (ct_role)(CT_ROLE_FIRST + 2), CT_MARK_POINTS, v->n, v->at, train, NULL};
    if (!folds) series[count++] = (ct_series){"best so far", CT_ROLE_AFTER, CT_MARK_STEPS, v->n, v->at, best, NULL};
    snprintf(id, sizeof id, "loss-%s", v->tag);
    const ct_plot plot = {.id = id,
                          .title = folds ? "Training loss on folds" : "Loss on all training sequences",
                          .text = folds ? "Evaluations of the folds under way, one after the other."
                                        : "The loss has converged where the line of the best is flat at the end.",
                          .x_label = "evaluation",
                          .y_label = "mean loss of a sequence",
                          .y_log = report_wants_log(v->n, train, 0, NULL),
                          .count = count,
                          .series = series};
    ct_page_plot(v->job->page, &plot);
    free(train);
}

/* ---- variances ---- */

/* The learned model of a parameter: the longest name that the parameter's name begins with. -1: none. */
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

/* The variance at the best evaluation so far, over that at the best of all. */
static void settle(const view *v, const char *key, double *y)
{
    double least = INFINITY;
    for (int64_t i = 0; i < v->n; i++) {
        const double loss = number(v->of[i], "train"), value = number(json_object_get(v->of[i], "variances"), key);
        y[i] = i && !(loss < least) ? y[i - 1] : value;
        least = fmin(least, loss);
    }
    const double last = y[v->n - 1];
    for (int64_t i = 0; i < v->n; i++) y[i] /= last;
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
    size_t left = json_object_size(variances);
    int           n = 0;
    snprintf(title, sizeof title, "Variances of %s over their last values", name);
    json_object_foreach((json_t *)variances, key, value) {
        left--;
        if (model_of(v->job, key) == model && !is_covariance(key)) {
            settle(v, key, y + n * v->n);
            series[n] = (ct_series){key, (ct_role)(CT_ROLE_FIRST + n), CT_MARK_STEPS, v->n, v->at, y + n * v->n, NULL};
            n++;
        }
        if (n < LINES_MAX && (left || !n)) continue;
        snprintf(id, sizeof id, "variances-%s-%d", v->tag, ++*part);
        const ct_plot plot = {.id = id,
                              .title = title,
                              .text = "At the best evaluation so far. A line that still moves at the end has not "
                                      "settled.",
                              .x_label = "evaluation",
                              .y_label = "variance / last variance",
                              .y_log = 1,
                              .count = n,
                              .series = series};
        ct_page_plot(v->job->page, &plot);
        n = 0;
    }
    free(y);
}

/* ---- cross-validation ---- */

/* "closed form", "start", "prior 0.1", "no prior". Returns buf. */
static const char *name_candidate(const json_t *o, char buf[32])
{
    const char *kind = json_string_value(json_object_get(o, "candidate"));
    const double prior = number(o, "prior");
    if (prior == 0) snprintf(buf, 32, "no prior");
    else if (isfinite(prior)) snprintf(buf, 32, "prior %g", prior);
    else if (!kind) snprintf(buf, 32, "not named");
    else
        snprintf(buf, 32, "%s", strcmp(kind, "closed_form") ? kind : "closed form");
    return buf;
}

/* Percent that a ratio is above 1, and its standard error. */
static double percent(const json_t *o) { return 100 * expm1(number(o, "log_ratio")); }
static double percent_error(const json_t *o)
{
    return 100 * exp(number(o, "log_ratio")) * number(o, "log_ratio_error");
}

static void put_candidate_table(report_job *job, const json_t *list)
{
    ct_table *t = report_table("Candidates of cross-validation");
    ct_table_column(t, "candidate", "candidate", NULL, 0);
    ct_table_column(t, "heldout", "held-out loss", NULL, 4);
    ct_table_column(t, "difference", "more than the chosen one", "%", 3);
    ct_table_column(t, "translation", "positions", "m", 4);
    ct_table_column(t, "rotation", "rotations", "rad", 4);
    ct_table_column(t, "failed", "failed", NULL, 0);
    ct_table_column(t, "chosen", "", NULL, 0);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *o = json_array_get(list, i);
        const int chosen = json_is_true(json_object_get(o, "chosen"));
        char name[32];
        ct_table_row(t, 0);
        ct_table_text(t, "%s", name_candidate(o, name));
        if (isfinite(number(o, "heldout_error")))
            ct_table_deviation(t, number(o, "heldout"), number(o, "heldout_error"));
        else
            ct_table_number(t, number(o, "heldout"));
        if (!chosen && isfinite(percent_error(o)))
            ct_table_deviation(t, percent(o), percent_error(o));
        else
            ct_table_number(t, chosen ? NAN : percent(o));
        ct_table_number(t, number(o, "translation"));
        ct_table_number(t, number(o, "rotation"));
        if (json_is_integer(json_object_get(o, "failed")))
            ct_table_text(t, "%d", (int)number(o, "failed"));
        else
            ct_table_text(t, "%s", "");
        const int why = ct_choice_find(json_string_value(json_object_get(o, "verdict")));
        ct_table_text(t, "%s", why >= 0 ? ct_choice_meaning((ct_choice)why) : chosen ? "chosen" : "");
        if (chosen) ct_table_mark(t, 1);
    }
    ct_table_note(
        t, "Mean loss of a sequence that was held out, \u00b1 one standard error over sequences. Differences are "
           "paired: robust means of log ratios over recordings. A sequence without an estimate counts as a loss ten "
           "times as large.");
    report_put_table(job, t);
}

static void put_candidates(report_job *job, const json_t *list)
{
    const int64_t all = (int64_t)json_array_size(list);
    double *x = cli_alloc(3 * all, sizeof *x), *y = x + all, *bar = y + all, zero = 0, chosen = NAN;
    char(*name)[32] = cli_alloc(all, sizeof *name);
    const char **names = cli_alloc(all, sizeof *names);
    int64_t n = 0, left_out = 0;
    for (int64_t i = 0; i < all; i++) {
        const json_t *o = json_array_get(list, (size_t)i);
        if (!(percent(o) < 100 * (FAR_OFF - 1))) {
            left_out++;
            continue;
        }
        x[n] = (double)n;
        y[n] = percent(o);
        bar[n] = percent_error(o);
        if (json_is_true(json_object_get(o, "chosen"))) chosen = (double)n;
        names[n] = name_candidate(o, name[n]);
        n++;
    }
    const double ends[2] = {-0.5, (double)n - 0.5}, level[2] = {0, 0};
    const ct_series series[] = {
        {NULL, CT_ROLE_QUIET, CT_MARK_LINE, 2, ends, level, NULL},
        {"candidate, \u00b1 one standard error", (ct_role)(CT_ROLE_FIRST + 2), CT_MARK_POINTS, n, x, y, bar},
        {"chosen", CT_ROLE_AFTER, CT_MARK_POINTS, 1, &chosen, &zero, NULL}};
    char text[512];
    snprintf(
        text, sizeof text,
        "Held-out loss of each candidate, in percent above the chosen one. Candidates whose error bars reach 0 are as "
        "good: then the start values stay, and of two priors the stronger one is preferred.%s",
        left_out ? " Candidates of more than three times the loss are in the table alone." : "");
    const ct_plot plot = {.id = "candidates",
                          .title = "Which candidate has the smallest held-out loss?",
                          .text = text,
                          .y_label = "held-out loss above the chosen one in %",
                          .count = 3,
                          .series = series,
                          .x_names = names,
                          .names = (int32_t)n};
    ct_page_heading(job->page, "Cross-validation");
    ct_page_text(job->page,
                 "A prior pulls the parameters towards the %s. Its weight is chosen by cross-validation: each "
                 "candidate is fitted on all folds but one and evaluated on the fold that was held out.",
                 report_reference(job));
    if (n > 1) ct_page_plot(job->page, &plot);
    put_candidate_table(job, list);
    free(names);
    free(name);
    free(x);
}

/* ---- the section ---- */

static void put_losses(report_job *job)
{
    const json_t *loss = json_object_get(job->summary_json, "loss");
    const double start = number(loss, "start"), closed = number(loss, "closed_form"), train = number(loss, "train"),
                 heldout = number(loss, "heldout");
    ct_table     *t;
    if (!job->finished || isnan(train)) return;
    t = report_table("Mean loss of a sequence");
    ct_table_column(t, "noise", "noise models", NULL, 0);
    ct_table_column(t, "train", "training", NULL, 5);
    if (isfinite(heldout)) ct_table_column(t, "heldout", "held out", NULL, 5);
    const char  *name[] = {"start", report_reference(job), "learned"};
    const double on_train[] = {start, closed, train},
                 on_heldout[] = {number(loss, "heldout_start"), number(loss, "heldout_closed_form"), heldout};
    for (int i = 0; i < 3; i++) {
        ct_table_row(t, 0);
        ct_table_text(t, "%s", name[i]);
        ct_table_number(t, on_train[i]);
        if (isfinite(heldout)) ct_table_number(t, on_heldout[i]);
    }
    ct_table_note(t, "The %s is %s.", report_reference(job), ct_reference_meaning(learn_reference(job->summary_json)));
    if (isfinite(heldout))
        ct_table_note(t, "Held-out sequences are estimated as in deployment, training sequences from their truth.");
    report_put_table(job, t);
}

void report_history(report_job *job)
{
    const json_t *candidates = json_object_get(job->summary_json, "candidates");
    view learn = gather(job, 0), folds = gather(job, 1);
    int part = 0;
    ct_page_section(job->page, "learning", "How learning went");
    put_losses(job);
    if (json_array_size(candidates))
        put_candidates(job, candidates);
    else if (folds.n)
        put_loss(&folds);
    if (learn.n)
        ct_page_heading(job->page, "Iterations on all training sequences");
    else if (folds.n)
        ct_page_text(job->page, "No iteration on all training sequences followed: cross-validation chose a candidate "
                                "that needs none.");
    else
        ct_page_text(job->page, "There is no history: the method does not iterate.");
    if (learn.n) put_loss(&learn);
    for (int32_t i = 0; learn.n && i < job->rows; i++)
        if (!i || job->row[i - 1].model != job->row[i].model) put_model(&learn, job->row[i].model, &part);
    release(&learn);
    release(&folds);
}
