/* push2d_diagnose.c: diagnoses of what the default has learned of pushing: how the start of a new pose matters, how the
 * start of learning matters, and for each sequence whether its estimates reach a minimum. */
#include "studies/reproduce/push2d.h"

#include <math.h>
#include <stdlib.h>

#define SAME 1e-3 /* relative, of the errors of two minima: they are one         */
#define NEAR 0.01 /* m, rad: a step of that size hardly shows in the errors     */

int push2d_reached_truth(const push2d_run *run) { return ct_stop_converged(run->truth) && isfinite(run->loss_truth); }
int push2d_reached_steps(const push2d_run *run)
{
    return ct_stop_converged(run->steps) && isfinite(run->loss_steps) && run->left <= NEAR;
}
int push2d_elsewhere(const push2d_run *run)
{
    return ct_stop_converged(run->settled) && fabs(run->error_settled - run->error_truth) > SAME * run->error_truth;
}

/* Where new poses start. */
static ct_status try_entries(push2d *n, const grid_data *data, const ct_noise *noise, push2d_diagnosis *c,
                             ct_err *err)
{
    ct_status status = CT_OK;
    for (int e = 0; status == CT_OK && e < CT_ENTRY_COUNT; e++) {
        ct_evaluate_options o = grid_evaluation(&n->job->runner);
        o.inference.replay.entry = (ct_entry)e;
        status = ct_evaluate(data->tests, data->test, noise, &o, NULL, &c->entry[e], err);
    }
    return status;
}

/* Where learning starts. */
static ct_status try_centre(push2d *n, push2d_diagnosis *c, ct_err *err)
{
    ct_noise   *ones = NULL;
    push2d_cell cell = {0};
    grid_data   data = push2d_grid_data(n);
    ct_status   status = push2d_ones(n->data, &ones, err);
    data.start = ones;
    if (status == CT_OK) status = push2d_learn(n, preset_find("lm"), &data, &cell, NULL, err);
    if (status == CT_OK) c->centre = cell.cell.test;
    ct_noise_free(ones);
    return status;
}

/* Values of an estimate incrementally; x has room for them. */
static ct_status by_steps(const ct_sequence *seq, const ct_noise *noise, double *x, ct_replay_result *result,
                          ct_err *err)
{
    const ct_inference inference = ct_inference_defaults();
    const ct_status    status = ct_start_values(seq, inference.start, x, err);
    return status == CT_OK ? ct_replay(seq->graph, noise, &inference.replay, x, result, err) : status;
}

static ct_status evaluate_run(const ct_outer_options *outer, const ct_sequence *seq, const ct_noise *noise, double *x,
                              push2d_run *run, ct_err *err)
{
    ct_evaluate_options truth = ct_evaluate_defaults();
    ct_solver          *solver = NULL;
    ct_evaluation       found;
    ct_solve_result     settled;
    ct_replay_result    replayed;
    truth.inference = ct_outer_inference(outer);
    ct_status status = by_steps(seq, noise, x, &replayed, err);
    if (status == CT_OK) {
        run->steps = replayed.stop;
        run->left = replayed.stationarity;
        run->loss_steps = ct_loss_value(&truth.loss, seq, x);
        status = ct_solver_new(seq->graph, NULL, &solver, err);
    }
    if (status == CT_OK) status = ct_solver_run(solver, noise, x, &truth.inference.solve, &settled, err);
    if (status == CT_OK) {
        run->settled = settled.stop;
        run->error_settled = settled.final_error;
    }
    if (status == CT_OK) status = ct_evaluate_sequence(seq, noise, solver, &truth, x, &found, err);
    if (status == CT_OK) {
        run->truth = found.solve.stop;
        run->loss_truth = found.loss;
        run->error_truth = found.solve.final_error;
    }
    ct_solver_free(solver);
    return status;
}

static ct_status evaluate_runs(const ct_outer_options *outer, const grid_data *data, const ct_noise *noise,
                               push2d_diagnosis *c, ct_err *err)
{
    ct_status status = CT_OK;
    for (int32_t i = 0; status == CT_OK && i < data->tests && !cli_interrupted(); i++) {
        double *x = cli_alloc(ct_graph_size(data->test[i]->graph), sizeof *x);
        status = evaluate_run(outer, data->test[i], noise, x, &c->run[i], err);
        c->tests += status == CT_OK;
        free(x);
    }
    return status;
}

/* The first test run, before and after. */
static ct_status film(push2d *n, int push, int tight, const grid_data *data, const ct_noise *noise, ct_err *err)
{
    const ct_sequence *seq = data->test[0];
    ct_replay_result   replayed;
    double *before = cli_alloc(ct_graph_size(seq->graph), sizeof *before),
           *after = cli_alloc(ct_graph_size(seq->graph), sizeof *after);
    ct_status          status = by_steps(seq, data->start, before, &replayed, err);
    if (status == CT_OK) status = by_steps(seq, noise, after, &replayed, err);
    if (status == CT_OK) {
        push_scene_free(n->scene[push]);
        n->scene[push] = push_scene_new(seq, before, after, 1);
        n->scene_bounds[push] = paper_bounds[tight];
    }
    free(before);
    free(after);
    return status;
}

ct_status push2d_diagnose(push2d *n, grid_index at, const ct_noise *noise, ct_err *err)
{
    const grid_data data = push2d_grid_data(n);
    push2d_diagnosis  *c = &n->diagnosis[at.data][at.bounds][at.seed];
    ct_status       status = try_entries(n, &data, noise, c, err);
    if (status == CT_OK) status = evaluate_runs(&n->job->runner.options.outer, &data, noise, c, err);
    if (status == CT_OK && at.seed == 0) status = film(n, at.data, at.bounds, &data, noise, err);
    if (status == CT_OK && at.bounds && !cli_interrupted()) status = try_centre(n, c, err);
    c->done = status == CT_OK && !cli_interrupted();
    return status;
}
