/* progress.c: runs a solve with progress and Ctrl-C. */
#include "cli/solve/solve.h"

#include <math.h>

#define SHOW_EVERY 0.1 /* s between updates */

typedef struct {
    const cli_io *io;
    int           trace;
    double        shown_s;
} watcher;

static void print_trace(const ct_progress *p)
{
    if (p->iteration == 0)
        fprintf(stderr, "%9s %15s %11s %11s %11s\n", "iteration", "error", "step", "gradient", "damping");
    fprintf(stderr, "%9d %15.9g %11.4g %11.4g %11.4g%s\n", p->iteration, p->error, p->step, p->gradient, p->damping,
            p->accepted ? "" : "  not taken");
}

static int watch(void *user, const ct_progress *p)
{
    watcher *w = user;
    char     time[24];
    if (w->trace) {
        print_trace(p);
    } else if (p->seconds >= w->shown_s + SHOW_EVERY) {
        w->shown_s = p->seconds;
        cli_status_show(w->io, "iteration %d, error %.6g, %s", p->iteration, p->error,
                        cli_format_time(p->seconds, time));
    }
    return cli_interrupted();
}

/* The estimate of the sequence with its anchor. */
static ct_status infer(solve_job *job, const ct_inference *inference, ct_err *err)
{
    ct_sequence         anchored = *job->seq;
    ct_inference_result found;
    anchored.graph = job->graph;
    const ct_status status = ct_infer(&anchored, job->table, job->solver, inference, job->x, &found, err);
    if (status != CT_OK) return status;
    job->result = found.solve;
    job->replay = found.replay;
    job->from = found.start;
    job->starts = found.starts;
    return CT_OK;
}

ct_status solve_watched(const cli_io *io, const solve_request *request, solve_job *job, ct_err *err)
{
    watcher          w = {.io = io, .trace = request->trace};
    ct_solve_options options = ct_solve_defaults();
    options.method = (ct_method)request->method;
    options.max_iterations = request->max_iterations;
    options.absolute *= request->tolerance / options.relative;
    options.step *= request->tolerance / options.relative;
    options.distance *= sqrt(fmax(1, request->tolerance / options.relative)); /* the error is quadratic in it */
    options.relative = request->tolerance;
    options.threads = request->threads;
    options.progress = watch;
    options.user = &w;

    ct_inference inference = ct_inference_defaults();
    inference.start = job->start;
    inference.at_x = 1;
    inference.incremental = 0;
    inference.solve = options;
    cli_interrupt_begin(io, "stopping after this iteration");
    const ct_status status = infer(job, &inference, err);
    cli_interrupt_end();
    cli_status_clear();
    return status;
}

/* ---- incremental ---- */

typedef struct {
    const cli_io *io;
    int           trace;
    double        begin_s, shown_s;
} step_watcher;

static int watch_step(void *user, const ct_smoother *smoother, int32_t step, int32_t steps,
                      const ct_smoother_stats *stats)
{
    step_watcher *w = user;
    char          time[24];
    const double  now = ct_now_s();
    if (w->trace) {
        if (w->shown_s == 0)
            fprintf(stderr, "%9s %15s %11s %11s %11s %11s\n", "step", "error", "eliminated", "moved", "visited", "ms");
        fprintf(stderr, "%9d %15.9g %11d %11d %11d %11.4g\n", step, ct_smoother_error(smoother), stats->eliminated,
                stats->relinearised, stats->visited, 1e3 * stats->seconds);
        w->shown_s = now;
    } else if (now >= w->shown_s + SHOW_EVERY) { /* the error costs a pass over all factors */
        w->shown_s = now;
        cli_status_show(w->io, "step %d of %d, error %.6g, %d variable%s eliminated, %s a step", step + 1, steps,
                 ct_smoother_error(smoother), stats->eliminated, CLI_S(stats->eliminated),
                 cli_format_time(step > 0 ? (now - w->begin_s) / step : stats->seconds, time));
    }
    return cli_interrupted();
}

ct_status solve_replayed(const cli_io *io, const solve_request *request, solve_job *job, ct_err *err)
{
    step_watcher      w = {.io = io, .trace = request->trace, .begin_s = ct_now_s()};
    ct_inference      inference = ct_inference_defaults();
    ct_replay_options *options = &inference.replay;
    inference.start = job->start;
    inference.incremental = 1;
    options->entry = (ct_entry)request->entry;
    for (int k = 0; k < CT_KIND_COUNT && request->relinearise >= 0; k++)
        options->smoother.relinearise[k] = request->relinearise;
    if (request->relinearise >= 0) options->extent = 0; /* the threshold is as given */
    if (request->wildfire >= 0) options->smoother.wildfire = request->wildfire;
    if (request->skip) options->smoother.skip = request->skip;
    options->smoother.window = request->window;
    options->progress = watch_step;
    options->user = &w;
    if (!w.trace) w.shown_s = w.begin_s;
    ct_status status = ct_inference_choose(1, &job->seq, &inference, err);
    job->entry = options->entry;
    cli_interrupt_begin(io, "stopping after this step");
    if (status == CT_OK) status = infer(job, &inference, err);
    cli_interrupt_end();
    cli_status_clear();
    job->result.distance = NAN;
    if (status != CT_OK || request->window || job->replay.stop != CT_STOP_STEP) return status;
    return ct_solver_distance(job->solver, job->table, job->x, &job->result.distance, err);
}
