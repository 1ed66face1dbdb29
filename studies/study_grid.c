/* study_grid.c: the grid of the studies. */
#include "studies/study_grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Progress -------------------------------------------------------------------------------- */

int grid_cancelled(const grid_runner *r) { return r->cancelled && r->cancelled(r->user); }

static void show(grid_runner *r, double done)
{
    if (r->show) r->show(r->user, r->done + r->cost * (isfinite(done) ? done : 0), r->label);
}

static int on_cancel(void *user)
{
    grid_runner *r = user;
    show(r, 0);
    return grid_cancelled(r);
}

static int on_evaluation(void *user, int32_t done, int32_t count)
{
    (void)done, (void)count;
    return on_cancel(user);
}

static int on_learning(void *user, const ct_learn_progress *p)
{
    grid_runner *r = user;
    show(r, p->done);
    r->evaluations += p->phase == CT_LEARN_PHASE_LEARN;
    return grid_cancelled(r);
}

static int on_limited_learning(void *user, const ct_learn_progress *p)
{
    grid_runner *r = user;
    return on_learning(user, p) || r->evaluations >= r->max_evaluations;
}

/* ---- Cells ----------------------------------------------------------------------------------- */

ct_evaluate_options grid_evaluation(grid_runner *r)
{
    ct_evaluate_options o = r->options.test;
    o.progress = on_evaluation;
    o.user = r;
    return o;
}

ct_status grid_learn(grid_runner *r, const method_preset *who, const grid_data *data, const ct_theta *theta,
                     int with_trace, ct_trial *out, ct_err *err)
{
    const int        limited = r->max_evaluations && preset_is_zero_order(who);
    ct_trial_options o = r->options;
    preset_options(who, &o);
    o.test = grid_evaluation(r);
    o.cancel = on_cancel;
    o.user = r;
    o.learn.progress = limited ? on_limited_learning : on_learning;
    o.learn.user = r;
    o.trace = o.errors = with_trace;
    if (r->quick && !limited) o.learn.max_iterations = who->quick;
    r->evaluations = 0;
    return ct_trial_run(data->trains, data->train, data->tests, data->test, data->start, theta, &o, out, err);
}

grid_cell grid_cell_of(const grid_runner *r, const ct_trial *trial)
{
    return (grid_cell){.done = !grid_cancelled(r),
                       .test = trial->test,
                       .train = trial->train,
                       .spread = trial->result.spread,
                       .seconds = trial->seconds,
                       .solves = trial->result.inner_solves,
                       .evaluations = trial->result.evaluations,
                       .stop = trial->result.stop};
}

ct_status grid_evaluate(grid_runner *r, int training, const grid_data *data, const ct_noise *noise, ct_summary *out,
                        ct_err *err)
{
    ct_evaluate_options o = grid_evaluation(r);
    if (!training) return ct_evaluate(data->tests, data->test, noise, &o, NULL, out, err);
    o.inference = ct_outer_inference(&r->options.outer);
    o.loss = r->options.outer.loss;
    o.nees = o.conditioning = 0;
    return ct_evaluate(data->trains, data->train, noise, &o, NULL, out, err);
}

ct_status grid_table(grid_runner *r, const grid_data *data, const ct_noise *noise, const ct_theta *theta,
                     grid_cell *out, ct_err *err)
{
    double *p = malloc(((size_t)ct_theta_count(theta) + 1) * sizeof *p);
    *out = (grid_cell){.seconds = NAN, .solves = -1, .evaluations = -1};
    if (!p) return ct_fail(err, CT_E_MEMORY, "no memory for %d parameters", ct_theta_count(theta));
    ct_theta_get(theta, noise, p);
    out->spread = ct_theta_spread(theta, p);
    free(p);
    ct_status status = grid_evaluate(r, 1, data, noise, &out->train, err);
    if (status == CT_OK) status = grid_evaluate(r, 0, data, noise, &out->test, err);
    out->done = status == CT_OK && !grid_cancelled(r);
    return status;
}

/* ---- Iteration ------------------------------------------------------------------------------- */

static int wanted(const grid *g, grid_index at)
{
    at.seed = 0;
    return !g->wanted || g->wanted(g->user, at);
}

static int any_wanted(const grid *g, grid_index at, int all_bounds)
{
    const int first = all_bounds ? 0 : at.bounds, last = all_bounds ? g->bounds - 1 : at.bounds;
    for (at.bounds = first; at.bounds <= last; at.bounds++)
        for (at.column = 0; at.column < g->columns; at.column++)
            if (wanted(g, at)) return 1;
    return 0;
}

double grid_cost(const grid *g)
{
    double     sum = 0;
    grid_index at = {0};
    for (at.data = 0; at.data < g->data; at.data++)
        for (at.bounds = 0; at.bounds < g->bounds; at.bounds++)
            for (at.column = 0; at.column < g->columns; at.column++)
                if (wanted(g, at)) sum += g->seeds * g->cost(g->user, at);
    return sum;
}

static ct_status run_bounds(const grid *g, grid_runner *r, grid_index at, ct_err *err)
{
    if (!any_wanted(g, at, 0)) return CT_OK;
    ct_status status = g->bound ? g->bound(g->user, at, err) : CT_OK;
    for (at.column = 0; at.column < g->columns && status == CT_OK && !grid_cancelled(r); at.column++) {
        if (!wanted(g, at)) continue;
        r->cost = g->cost(g->user, at);
        status = g->cell(g->user, at, err);
        r->done += r->cost;
        r->cost = 0;
    }
    return status;
}

static ct_status run_data(const grid *g, grid_runner *r, grid_index at, ct_err *err)
{
    if (!any_wanted(g, at, 1) || grid_cancelled(r)) return CT_OK;
    ct_status status = g->open ? g->open(g->user, at, err) : CT_OK;
    for (at.bounds = 0; at.bounds < g->bounds && status == CT_OK && !grid_cancelled(r); at.bounds++)
        status = run_bounds(g, r, at, err);
    if (g->close) g->close(g->user);
    return status;
}

ct_status grid_run(const grid *g, grid_runner *r, ct_err *err)
{
    const int outer = g->seed_first ? g->seeds : g->data, inner = g->seed_first ? g->data : g->seeds;
    ct_status status = CT_OK;
    for (int i = 0; i < outer * inner && status == CT_OK; i++) {
        const int        a = i / inner, b = i % inner;
        const grid_index at = {.data = g->seed_first ? b : a, .seed = g->seed_first ? a : b};
        status = run_data(g, r, at, err);
    }
    return status;
}

/* ---- Numbers --------------------------------------------------------------------------------- */

double grid_mean(int n, const double value[], double *deviation, int *count)
{
    double sum = 0, square = 0;
    int    known = 0;
    for (int i = 0; i < n; i++)
        if (!isnan(value[i])) sum += value[i], known++;
    const double mean = known ? sum / known : NAN;
    for (int i = 0; i < n; i++)
        if (!isnan(value[i])) square += (value[i] - mean) * (value[i] - mean);
    if (deviation) *deviation = known > 1 ? sqrt(square / (known - 1)) : NAN;
    if (count) *count = known;
    return mean;
}
