/* push2d_diagnose.c: a closer look at what the default has learned of pushing: where a new pose starts, whether it
 * matters where learning starts, and run by run whether estimates come to a minimum. */
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
static ct_status try_entries(push2d *n, const reproduce_runs *runs, const ct_noise *noise, push2d_closer *c,
                             ct_err *err)
{
    ct_status status = CT_OK;
    for (int e = 0; status == CT_OK && e < CT_ENTRY_COUNT; e++) {
        ct_evaluate_options o = reproduce_evaluation(n->job);
        o.inference.replay.entry = (ct_entry)e;
        status = ct_evaluate(runs->tests, runs->test, noise, &o, NULL, &c->entry[e], err);
    }
    return status;
}

/* Where learning starts. */
static ct_status try_centre(push2d *n, reproduce_runs runs, const ct_dataset *data, const ct_theta *theta,
                            push2d_closer *c, ct_err *err)
{
    ct_noise   *ones = NULL;
    push2d_cell cell = {0};
    ct_status   status = push2d_ones(data, &ones, err);
    runs.start = ones;
    if (status == CT_OK) status = push2d_try(n, preset_find("lm"), &runs, theta, &cell, NULL, err);
    if (status == CT_OK) c->centre = cell.test;
    ct_noise_free(ones);
    return status;
}

/* Values of an estimate step by step; x has room for them. */
static ct_status by_steps(const ct_sequence *seq, const ct_noise *noise, double *x, ct_replay_result *result,
                          ct_err *err)
{
    const ct_inference inference = ct_inference_defaults();
    const ct_status    status = ct_start_values(seq, inference.start, x, err);
    return status == CT_OK ? ct_replay(seq->graph, noise, &inference.replay, x, result, err) : status;
}

static ct_status look_at_run(const ct_sequence *seq, const ct_noise *noise, double *x, push2d_run *run, ct_err *err)
{
    ct_evaluate_options truth = ct_evaluate_defaults();
    ct_solver          *solver = NULL;
    ct_evaluation       found;
    ct_solve_result     settled;
    ct_replay_result    replayed;
    truth.inference = reproduce_from_truth();
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

static ct_status look_at_runs(const reproduce_runs *runs, const ct_noise *noise, push2d_closer *c, ct_err *err)
{
    ct_status status = CT_OK;
    for (int32_t i = 0; status == CT_OK && i < runs->tests && !cli_interrupted(); i++) {
        double *x = cli_alloc(ct_graph_size(runs->test[i]->graph), sizeof *x);
        status = look_at_run(runs->test[i], noise, x, &c->run[i], err);
        c->tests += status == CT_OK;
        free(x);
    }
    return status;
}

/* The first test run, before and after. */
static ct_status film(push2d *n, int push, int tight, const reproduce_runs *runs, const ct_noise *noise, ct_err *err)
{
    const ct_sequence *seq = runs->test[0];
    ct_replay_result   replayed;
    double *before = cli_alloc(ct_graph_size(seq->graph), sizeof *before),
           *after = cli_alloc(ct_graph_size(seq->graph), sizeof *after);
    ct_status          status = by_steps(seq, runs->start, before, &replayed, err);
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

ct_status push2d_look(push2d *n, int push, int tight, int seed, const ct_dataset *data, const ct_theta *theta,
                      const ct_noise *noise, ct_err *err)
{
    const reproduce_runs runs = {
        .trains = data->trains, .tests = data->tests, .train = data->train, .test = data->test, .start = data->noise};
    push2d_closer       *c = &n->closer[push][tight][seed];
    ct_status            status = try_entries(n, &runs, noise, c, err);
    if (status == CT_OK) status = look_at_runs(&runs, noise, c, err);
    if (status == CT_OK && seed == 0) status = film(n, push, tight, &runs, noise, err);
    if (status == CT_OK && tight && !cli_interrupted()) status = try_centre(n, runs, data, theta, c, err);
    c->done = status == CT_OK && !cli_interrupted();
    return status;
}
