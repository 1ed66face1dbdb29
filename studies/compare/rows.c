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
    compare_job         *job;
    cli_progress              bar;
    grid_runner          runner;
    int                  columns;
    const method_preset *column[1 + COMPARE_METHODS]; /* the closed form, then the methods */
} comparison;

static int cancelled(void *user)
{
    (void)user;
    return cli_interrupted();
}

static void show(void *user, double done, const char *label)
{
    comparison *c = user;
    cli_progress_show(&c->bar, done, "%s", label);
}

/* ---- failures ---- */

/* A sentence that names the sequences without a minimum. */
static ct_status name_failures(comparison *c, const compare_row *row, const ct_noise *noise, ct_err *err)
{
    compare_job        *job = c->job;
    const size_t        used = strlen(job->failures), room = sizeof job->failures - used;
    ct_evaluation      *each = cli_alloc(job->tests, sizeof *each);
    ct_evaluate_options options = grid_evaluation(&c->runner);
    int                 named = 0, n = 0;
    options.nees = options.conditioning = 0;
    const ct_status status = ct_evaluate(job->tests, job->test, noise, &options, each, NULL, err);
    n = snprintf(job->failures + used, room, "%s%s%s: no minimum%s in %d of %d sequences:", row->method,
                 *row->bounds ? ", " : "", row->bounds, row->cell.test.diverged ? ", or a far one," : "",
                 row->cell.test.failed, job->tests);
    for (int32_t i = 0; i < job->tests && n < (int)room; i++) {
        if (!ct_evaluation_failed(&each[i]) || ++named > NAMED) continue;
        n += snprintf(job->failures + used + n, room - (size_t)n, "%s %s (%s)", named > 1 ? "," : "",
                      ct_sequence_label(job->test[i]),
                      ct_evaluation_reason(&each[i]));
    }
    if (n < (int)room) snprintf(job->failures + used + n, room - (size_t)n, "%s\n", named > NAMED ? ", ..." : "");
    free(each);
    return status;
}

/* ---- rows ---- */

/* The next row; it stays a row once add_row is called. */
static compare_row *begin_row(comparison *c, const char *method, int group)
{
    compare_job *job = c->job;
    compare_row *row = &job->row[job->rows];
    *row = (compare_row){.method = method,
                         .group = group,
                         .cell = {.spread = NAN, .seconds = NAN, .solves = -1, .evaluations = -1}};
    if (group >= 0) memcpy(row->bounds, job->bound[group], sizeof row->bounds);
    snprintf(c->runner.label, sizeof c->runner.label, "%s%s%s", method, *row->bounds ? ", " : "", row->bounds);
    return row;
}

static ct_status add_row(comparison *c, const compare_row *row, const ct_noise *noise, ct_err *err)
{
    if (cli_interrupted()) return CT_OK;
    c->job->rows++;
    return noise && row->cell.test.failed ? name_failures(c, row, noise, err) : CT_OK;
}

static grid_data data_of(const compare_job *job)
{
    const ct_dataset *d = job->dataset;
    return (grid_data){
        .trains = d->trains, .train = d->train, .tests = job->tests, .test = job->test, .start = d->noise};
}

/* A row of the start values, or of the oracle's. */
static ct_status add_table(comparison *c, const char *name, const ct_noise *noise, ct_err *err)
{
    const grid_data data = data_of(c->job);
    compare_row    *row = begin_row(c, name, -1);
    const ct_status status = grid_table(&c->runner, &data, noise, c->job->theta[0], &row->cell, err);
    c->runner.done += EVALUATION;
    return status == CT_OK ? add_row(c, row, noise, err) : status;
}

/* A row of a method. If it does not support the request, such as a limit on the spread, the row has the reason. */
static ct_status add_method(void *user, grid_index at, ct_err *err)
{
    comparison          *c = user;
    const method_preset *who = c->column[at.column];
    const grid_data      data = data_of(c->job);
    compare_row         *row = begin_row(c, who->key, at.bounds);
    ct_trial             trial;
    const ct_status status = grid_learn(&c->runner, who, &data, c->job->theta[at.bounds], 0, &trial, err);
    if (status == CT_OK) row->cell = grid_cell_of(&c->runner, &trial);
    else snprintf(row->reason, sizeof row->reason, "%s", err->text);
    const ct_status end = status == CT_E_MEMORY ? status : add_row(c, row, trial.noise, err);
    ct_trial_free(&trial);
    return end;
}

static double cost(const void *user, grid_index at)
{
    const comparison *c = user;
    return c->column[at.column]->cost + EVALUATION;
}

ct_status compare_rows(const cli_io *io, compare_job *job, ct_err *err)
{
    const method_preset *closed = preset_find("closed-form");
    comparison           c = {.job = job, .columns = !job->untold, .column = {closed}};
    c.runner = (grid_runner){.options = job->options, .cancelled = cancelled, .show = show, .user = &c};
    for (int k = 0; k < job->methods; k++)
        if (job->method[k] != closed || job->untold) c.column[c.columns++] = job->method[k];
    const grid g = {.data = 1,
                    .bounds = job->bounds,
                    .columns = c.columns,
                    .seeds = 1,
                    .cost = cost,
                    .cell = add_method,
                    .user = &c};
    c.bar = cli_progress_new(io, grid_cost(&g) + EVALUATION * (1 + (job->oracle != NULL)));
    cli_interrupt_begin(io, "stopping; what is done is printed");
    ct_status status = add_table(&c, "initial", job->dataset->noise, err);
    if (status == CT_OK && job->oracle && !cli_interrupted()) status = add_table(&c, "oracle", job->oracle, err);
    if (status == CT_OK) status = grid_run(&g, &c.runner, err);
    job->interrupted = cli_interrupted();
    cli_interrupt_end();
    cli_status_clear();
    job->seconds = ct_now_s() - c.bar.begin_s;
    return status;
}

static double error_of(const compare_row *row, int which)
{
    const ct_innovation *n = &row->cell.test.innovation;
    if (which == 2) return n->measurements ? -n->log_density / (double)n->measurements : NAN;
    return which ? row->cell.test.accuracy.rotation : row->cell.test.accuracy.translation;
}

int compare_is_best(const compare_job *job, int i, int which)
{
    double least = INFINITY;
    if (job->row[i].group < 0 || *job->row[i].reason) return 0;
    for (int k = 0; k < job->rows; k++)
        if (job->row[k].group == job->row[i].group && !*job->row[k].reason)
            least = fmin(least, error_of(&job->row[k], which));
    return error_of(&job->row[i], which) <= least + SAME * fabs(least);
}
