/* rows.c: the rows of a comparison. A row is a noise table: the start values, the oracle's, or the result of a method
 * under bounds. All are evaluated on the same sequences with the same options. */
#include "studies/compare/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EVALUATION 1.5  /* cost of an evaluation, in units of the progress bar                  */
#define SAME       1e-6 /* relative: methods whose errors agree to this are best together       */
#define NAMED      3    /* failed sequences that are named in a row; the others are counted      */

typedef struct {
    compare_job *job;
    cli_progress      bar;
    char         what[128];
    double       cost; /* of the row under way */
} watcher;

static int stop(void *user)
{
    watcher *w = user;
    cli_progress_show(&w->bar, 0, "%s", w->what);
    return cli_interrupted();
}

static int on_progress(void *user, int32_t done, int32_t count)
{
    (void)done, (void)count;
    return stop(user);
}

static int watch(void *user, const ct_learn_progress *p)
{
    watcher *w = user;
    cli_progress_show(&w->bar, w->cost * (isfinite(p->done) ? p->done : 0), "%s", w->what);
    return cli_interrupted();
}

/* ---- failures ---- */

/* A sentence that names the sequences without a minimum. */
static ct_status name_failures(compare_job *job, const compare_row *row, const ct_noise *noise, ct_err *err)
{
    const size_t        used = strlen(job->failures), room = sizeof job->failures - used;
    ct_evaluation      *each = cli_alloc(job->tests, sizeof *each);
    ct_evaluate_options options = job->options.test;
    int                 named = 0, n = 0;
    options.nees = options.conditioning = 0;
    const ct_status status = ct_evaluate(job->tests, job->test, noise, &options, each, NULL, err);
    n = snprintf(job->failures + used, room, "%s%s%s: no minimum in %d of %d sequences:", row->method,
                 *row->bounds ? ", " : "", row->bounds, row->test.failed, job->tests);
    for (int32_t i = 0; i < job->tests && n < (int)room; i++) {
        if (!ct_evaluation_failed(&each[i]) || ++named > NAMED) continue;
        n += snprintf(job->failures + used + n, room - (size_t)n, "%s %s (%s)", named > 1 ? "," : "",
                      ct_sequence_label(job->test[i]),
                      ct_stop_meaning(each[i].solve.stop));
    }
    if (n < (int)room) snprintf(job->failures + used + n, room - (size_t)n, "%s\n", named > NAMED ? ", ..." : "");
    free(each);
    return status;
}

/* ---- given tables ---- */

static void set_label(watcher *w, const char *method, const char *bounds)
{
    snprintf(w->what, sizeof w->what, "%s%s%s", method, *bounds ? ", " : "", bounds);
}

/* A row of the start values, or of the oracle's. */
static ct_status add_table(watcher *w, const char *name, const ct_noise *noise, ct_err *err)
{
    compare_job        *job = w->job;
    ct_evaluate_options train = job->options.test;
    compare_row        *row = &job->row[job->rows];
    *row = (compare_row){.method = name,
                         .group = -1,
                         .spread = preset_spread(job->theta[0], noise),
                         .seconds = NAN,
                         .solves = -1,
                         .evaluations = -1};
    set_label(w, name, "");
    train.inference = ct_outer_inference(&job->options.outer);
    train.loss = job->options.outer.loss;
    train.nees = train.conditioning = 0;
    ct_status status = ct_evaluate(job->dataset->trains, job->dataset->train, noise, &train, NULL, &row->train, err);
    if (status == CT_OK) status = ct_evaluate(job->tests, job->test, noise, &job->options.test, NULL, &row->test, err);
    if (status != CT_OK || cli_interrupted()) return status;
    job->rows++;
    cli_progress_add(&w->bar, EVALUATION);
    return row->test.failed ? name_failures(job, row, noise, err) : CT_OK;
}

/* ---- learned tables ---- */

/* A row of a method. If it does not support the request, such as a limit on the spread, the row has the reason. */
static ct_status add_method(watcher *w, int bounds, const method_preset *who, ct_err *err)
{
    compare_job     *job = w->job;
    ct_trial_options options = job->options;
    ct_trial         trial;
    compare_row     *row = &job->row[job->rows];
    *row = (compare_row){
        .method = who->key, .group = bounds, .spread = NAN, .seconds = NAN, .solves = -1, .evaluations = -1};
    memcpy(row->bounds, job->bound[bounds], sizeof row->bounds);
    set_label(w, who->key, row->bounds);
    w->cost = who->cost;
    preset_options(who, &options);
    if (job->options.outer.loss.difference != CT_DIFFERENCE_LOCAL)
        options.outer.loss.difference = job->options.outer.loss.difference;
    const ct_status status = ct_trial_run(job->dataset->trains, job->dataset->train, job->tests, job->test,
                                          job->dataset->noise, job->theta[bounds], &options, &trial, err);
    ct_status       end = status == CT_E_MEMORY ? status : CT_OK;
    if (status != CT_OK) snprintf(row->reason, sizeof row->reason, "%s", err->text);
    else {
        row->test = trial.test;
        row->train = trial.train;
        row->spread = trial.result.spread;
        row->seconds = trial.seconds;
        row->solves = trial.result.inner_solves;
        row->evaluations = trial.result.evaluations;
        row->stop = ct_learn_stop_name(trial.result.stop);
    }
    if (!cli_interrupted()) {
        job->rows++;
        cli_progress_add(&w->bar, who->cost + EVALUATION);
        if (status == CT_OK && row->test.failed) end = name_failures(job, row, trial.noise, err);
    }
    ct_trial_free(&trial);
    return end;
}

ct_status compare_rows(const cli_io *io, compare_job *job, ct_err *err)
{
    const method_preset *closed = preset_find("closed-form");
    double            all = EVALUATION * (1 + (job->oracle != NULL)) + job->bounds * (closed->cost + EVALUATION);
    for (int k = 0; k < job->methods; k++) all += job->bounds * (job->method[k]->cost + EVALUATION);
    watcher w = {.job = job, .bar = cli_progress_new(io, all)};
    job->options.test.progress = on_progress;
    job->options.test.user = &w;
    job->options.cancel = stop;
    job->options.user = &w;
    job->options.learn.progress = watch;
    job->options.learn.user = &w;
    cli_interrupt_begin(io, "stopping; what is done is printed");
    ct_status status = add_table(&w, "initial", job->dataset->noise, err);
    if (status == CT_OK && job->oracle && !cli_interrupted()) status = add_table(&w, "oracle", job->oracle, err);
    for (int b = 0; b < job->bounds; b++) {
        if (status == CT_OK && !cli_interrupted()) status = add_method(&w, b, closed, err);
        for (int k = 0; k < job->methods && status == CT_OK && !cli_interrupted(); k++)
            if (job->method[k] != closed) status = add_method(&w, b, job->method[k], err);
    }
    job->interrupted = cli_interrupted();
    cli_interrupt_end();
    cli_status_clear();
    job->seconds = ct_now_s() - w.bar.begin_s;
    return status;
}

static double error_of(const compare_row *row, int which)
{
    return which ? row->test.accuracy.rotation : row->test.accuracy.translation;
}

int compare_is_best(const compare_job *job, int i, int which)
{
    double least = INFINITY;
    if (job->row[i].group < 0 || *job->row[i].reason) return 0;
    for (int k = 0; k < job->rows; k++)
        if (job->row[k].group == job->row[i].group && !*job->row[k].reason)
            least = fmin(least, error_of(&job->row[k], which));
    return error_of(&job->row[i], which) <= least * (1 + SAME);
}
