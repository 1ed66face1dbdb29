/* runtime.c: covtune reproduce runtime. The paper's figure of training error over time: D3, loose bounds, from the
 * far start, all methods.
 *
 * Times are of learning alone: errors along the way are computed when it is over. Methods run one after the other,
 * after one that warms the machine up; what is over soon is run three times, and the run of the median time counts. */
#include "studies/reproduce/reproduce.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define METHODS 12
#define WITHIN  0.05 /* of the oracle's training errors: there */
#define REPEATS 3
#define SOON    3.0  /* s: below, a run is repeated; quick: half a second */

static const char ORDER[] = "lm,lm-alone,fw,fw-numeric,pg,lbfgs,leo,nelder-mead,powell,bobyqa,subplex,crs";

typedef struct {
    const method_preset *who;
    int               done;
    ct_trial          trial;
    int32_t           reached; /* point of its trace, -1: never */
} entry;

typedef struct {
    reproduce_job *job;
    nav_size       size;
    nav_data       data;
    grid_data      grid; /* the same */
    ct_theta      *theta;
    ct_summary     oracle; /* on the training sequences */
    int            count;
    entry          entry[METHODS];
} runtime;

/* ---- trials ---- */

static int by_time(const void *a, const void *b)
{
    const double x = ((const ct_trial *)a)->seconds, y = ((const ct_trial *)b)->seconds;
    return (x > y) - (x < y);
}

static double soon(const runtime *r) { return r->job->request->quick ? 0.5 : SOON; }

static ct_status measure(runtime *r, entry *e, ct_err *err)
{
    ct_trial  trial[REPEATS];
    int       n = 0;
    ct_status status = CT_OK;
    do {
        status = grid_learn(&r->job->runner, e->who, &r->grid, r->theta, 1, &trial[n], err);
        if (status != CT_OK) ct_trial_free(&trial[n]);
        else n++;
    } while (status == CT_OK && !cli_interrupted() && n < REPEATS && trial[0].seconds < soon(r));
    e->done = status == CT_OK && !cli_interrupted();
    qsort(trial, (size_t)n, sizeof *trial, by_time);
    for (int i = 0; i < n; i++) {
        if (i == n / 2 && e->done) e->trial = trial[i];
        else ct_trial_free(&trial[i]);
    }
    if (e->done)
        e->reached = ct_trace_reaches(&e->trial, r->oracle.accuracy.translation, r->oracle.accuracy.rotation, WITHIN);
    return status;
}

/* ---- the grid: a column is a method ---- */

static double cost(const void *user, grid_index at) { return ((const runtime *)user)->entry[at.column].who->cost; }

/* The first trial warms the machine up and does not count. */
static ct_status open(void *user, grid_index at, ct_err *err)
{
    runtime     *r = user;
    grid_runner *runner = &r->job->runner;
    ct_trial     warm;
    ct_status    status = nav_data_make("D3", (uint64_t)at.seed + 1, &r->size, &r->data, err);
    r->grid = nav_data_grid(&r->data);
    if (status == CT_OK)
        status = nav_data_theta(&r->data, CT_NOISE_DIAGONAL, CT_BOUND_LOOSE_LOWER, CT_BOUND_LOOSE_UPPER, &r->theta,
                                err);
    if (status == CT_OK) status = grid_evaluate(runner, 1, &r->grid, r->data.latent, &r->oracle, err);
    if (status != CT_OK) return status;
    snprintf(runner->label, sizeof runner->label, "warming up");
    status = grid_learn(runner, preset_find("fw"), &r->grid, r->theta, 0, &warm, err);
    ct_trial_free(&warm);
    return status;
}

static ct_status fill_cell(void *user, grid_index at, ct_err *err)
{
    runtime     *r = user;
    grid_runner *runner = &r->job->runner;
    snprintf(runner->label, sizeof runner->label, "%s", r->entry[at.column].who->key);
    return measure(r, &r->entry[at.column], err);
}

/* ---- tables ---- */

/* The row of a method: for people, or as data with more columns. */
static void put_row(ct_table *t, const runtime *r, const entry *e, int data)
{
    const ct_trace_point *at = e->reached >= 0 ? &e->trial.trace[e->reached] : NULL;
    ct_table_text(t, "%s", data ? e->who->key : e->who->name);
    if (at || data) ct_table_number(t, at ? at->seconds : NAN);
    else {
        ct_table_text(t, "never");
        ct_table_mark(t, 2);
    }
    ct_table_number(t, at ? (double)at->solves : NAN);
    ct_table_number(t, at ? (double)at->evaluations : NAN);
    ct_table_number(t, e->trial.train.accuracy.translation / r->oracle.accuracy.translation);
    ct_table_number(t, e->trial.train.accuracy.rotation / r->oracle.accuracy.rotation);
    ct_table_number(t, e->trial.seconds);
    if (data) {
        ct_table_number(t, (double)e->trial.result.inner_solves);
        ct_table_number(t, e->trial.result.evaluations);
        ct_table_number(t, e->trial.train.loss);
    }
    ct_table_text(t, "%s", ct_learn_stop_name(e->trial.result.stop));
}

static ct_table *table_of(const runtime *r, int data)
{
    ct_table *t =
        document_new_table("Within 5 % of the oracle's training error, in translation and rotation, from when on?");
    ct_table_column(t, "method", "method", NULL, 0);
    ct_table_column(t, "reached_seconds", "after", "s", 3);
    ct_table_column(t, "reached_solves", "inner solves", NULL, 6);
    ct_table_column(t, "reached_evaluations", "evaluations", NULL, 6);
    ct_table_column(t, "translation_over_oracle", "translation at the end / oracle", NULL, 4);
    ct_table_column(t, "rotation_over_oracle", "rotation at the end / oracle", NULL, 4);
    ct_table_column(t, "seconds", "all of it", "s", 3);
    if (data) {
        ct_table_column(t, "solves", "solves", NULL, 17);
        ct_table_column(t, "evaluations", "evaluations", NULL, 17);
        ct_table_column(t, "train_loss", "loss", NULL, 17);
    }
    ct_table_column(t, "stop", "stop", NULL, 0);
    for (int i = 0; i < r->count; i++) {
        if (!r->entry[i].done) continue;
        ct_table_row(t, i && preset_is_zero_order(r->entry[i].who) != preset_is_zero_order(r->entry[i - 1].who));
        put_row(t, r, &r->entry[i], data);
    }
    ct_table_note(t, "Methods below the line see values of the loss alone; LEO minimises another one. All but the "
                     "default start from the far values, the default from second moments of residuals at the truth.");
    return t;
}

static void put_traces(runtime *r)
{
    ct_table *t = document_new_data("$method seconds solves evaluations loss translation rotation");
    for (int i = 0; i < r->count; i++) {
        const ct_trial *trial = &r->entry[i].trial;
        for (int32_t k = 0; k < trial->points; k++) {
            const ct_trace_point *p = &trial->trace[k];
            const int same =
                k && k + 1 < trial->points && p->translation == p[-1].translation && p->rotation == p[-1].rotation;
            if (same) continue; /* the best so far is still that */
            const double value[] = {p->seconds, (double)p->solves, p->evaluations,
                                    p->loss,    p->translation,    p->rotation};
            ct_table_row(t, 0);
            ct_table_text(t, "%s", r->entry[i].who->key);
            for (size_t v = 0; v < sizeof value / sizeof *value; v++) ct_table_number(t, value[v]);
        }
    }
    document_csv(&r->job->document, t, "-trace");
}

/* ---- pictures ---- */

static void put_picture(runtime *r, int rotation)
{
    ct_series series[METHODS + 1];
    double   *x[METHODS] = {NULL}, *y[METHODS] = {NULL}, span[2] = {INFINITY, 0}, level[2];
    int       n = 0;
    for (int i = 0; i < r->count; i++) {
        const ct_trial *trial = &r->entry[i].trial;
        if (!trial->points) continue;
        x[n] = cli_alloc((int64_t)trial->points + 1, sizeof **x);
        y[n] = cli_alloc((int64_t)trial->points + 1, sizeof **y);
        for (int32_t k = 0; k < trial->points; k++) {
            x[n][k] = trial->trace[k].seconds;
            y[n][k] = rotation ? trial->trace[k].rotation : trial->trace[k].translation;
            if (x[n][k] > 0) span[0] = fmin(span[0], x[n][k]);
        }
        x[n][trial->points] = trial->seconds; /* until then it went on, to no avail */
        y[n][trial->points] = y[n][trial->points - 1];
        span[1] = fmax(span[1], trial->seconds);
        series[n] = (ct_series){.label = r->entry[i].who->name,
                                .role = r->entry[i].who->role,
                                .mark = CT_MARK_STEPS,
                                .count = trial->points + 1,
                                .x = x[n],
                                .y = y[n]};
        n++;
    }
    level[0] = level[1] = rotation ? r->oracle.accuracy.rotation : r->oracle.accuracy.translation;
    const int series_count = n + (span[1] > span[0]);
    series[n] =
        (ct_series){.label = "oracle", .role = CT_ROLE_TRUTH, .mark = CT_MARK_LINE, .count = 2, .x = span, .y = level};
    const ct_plot plot = {.id = rotation ? "runtime-rotation" : "runtime-translation",
                          .title = rotation ? "Rotation on training sequences" : "Translation on training sequences",
                          .x_label = "time, s",
                          .y_label = rotation ? "rotation rmse, rad" : "translation rmse, m",
                          .x_log = 1,
                          .y_log = 1,
                          .zoom = 1,
                          .height = 0.75,
                          .count = series_count,
                          .series = series,
                          .text = "The best of what was evaluated until then, under the loss; of Frank-Wolfe and LEO, "
                                  "which do not descend, the last."};
    if (n) document_plot(&r->job->document, &plot);
    for (int i = 0; i < n; i++) free(x[i]), free(y[i]);
}

/* ---- claims ---- */

static double arrival(const entry *e)
{
    return e->done && e->reached >= 0 ? e->trial.trace[e->reached].seconds : INFINITY;
}

/* Claim: every method with gradients reaches the oracle before every method without. LEO has another loss and is listed
 * separately. */
static void state(runtime *r)
{
    char   text[1200] = "";
    double first = INFINITY;
    int    pairs = 0, misses = 0, others = 0;
    size_t used = 0;
    for (int i = 0; i < r->count; i++) {
        if (!preset_is_zero_order(r->entry[i].who) || !r->entry[i].done) continue;
        first = fmin(first, arrival(&r->entry[i]));
        others++;
    }
    for (int i = 0; i < r->count && used < sizeof text; i++) {
        const entry *e = &r->entry[i];
        if (!e->done || preset_is_zero_order(e->who) || e->who->method == CT_LEARN_LEO) continue;
        const double at = arrival(e);
        const int    late = !(at < first);
        misses += late;
        if (isinf(at))
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s never", pairs++ ? ", " : "", e->who->key);
        else
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %.3g s%s", pairs++ ? ", " : "", e->who->key,
                                     at, late ? " (behind)" : "");
    }
    if (used < sizeof text && isfinite(first))
        snprintf(text + used, sizeof text - used, "; the first without gradients %.3g s", first);
    else if (used < sizeof text) snprintf(text + used, sizeof text - used, "; none without gradients gets there");
    if (pairs && others)
        document_state(&r->job->document, !misses, text,
                       "Methods with gradients of the loss are within 5 %% of the oracle's training error before all "
                       "methods without");
}

static void print(runtime *r)
{
    document *b = &r->job->document;
    document_open(
        b, r->job->request, "Runtime: training error over time",
        "D3, loose bounds, from the far start: how fast each method gets to the error of the noise that was drawn");
    document_text(b,
                  "%d training sequences of %d to %d poses, %d threads. On them the oracle has %.4g m and %.4g rad. "
                  "Time is "
                  "of learning alone, one method after the other; those that take less than %g s were run %d times, "
                  "the median counts.",
                  r->size.trains, r->size.least, r->size.most, r->job->request->jobs, r->oracle.accuracy.translation,
                  r->oracle.accuracy.rotation, soon(r), REPEATS);
    if (r->job->request->quick) document_text(b, "Quick: short sequences, and methods without gradients are cut off "
                                                 "early.");
    if (cli_interrupted()) document_warn(b, "Interrupted: methods that were not done are not here.");
    state(r);
    document_claims(b);
    document_section(b, "table", "When each gets there");
    document_table(b, table_of(r, 0));
    reproduce_show(r->job, table_of(r, 0));
    document_section(b, "curves", "How each gets there");
    for (int k = 0; k < 2; k++) put_picture(r, k);
    document_csv(b, table_of(r, 1), "");
    put_traces(r);
    document_close(b, r->job->request);
}

static ct_status run(reproduce_job *job, ct_err *err)
{
    const method_preset *all[METHODS];
    char              bad[64];
    const int         n = preset_list(ORDER, all, METHODS, bad);
    runtime r = {.job = job, .size = job->request->quick ? (nav_size){5, 0, 150, 200} : (nav_size){5, 0, 300, 500}};
    for (int i = 0; i < n; i++)
        if (reproduce_wants(job, all[i]->key))
            r.entry[r.count++] = (entry){.who = all[i], .reached = -1};
    const grid      g = {.data = 1,
                         .bounds = 1,
                         .columns = r.count,
                         .seeds = 1,
                         .cost = cost,
                         .open = open,
                         .cell = fill_cell,
                         .user = &r};
    const ct_status status = reproduce_grid(job, &g, err);
    if (status == CT_OK) print(&r);
    for (int i = 0; i < r.count; i++) ct_trial_free(&r.entry[i].trial);
    ct_theta_free(r.theta);
    nav_data_free(&r.data);
    return status;
}

const reproduce_study reproduce_runtime = {.name = "runtime", .methods = ORDER, .run = run};
