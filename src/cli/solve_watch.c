/* solve_watch.c: a solve that can be watched and interrupted: the best so far is reported and written. */
#include "solve.h"

#define SHOW_EVERY 0.1 /* s: faster than that nobody reads */

typedef struct {
    const cli_io *io;
    int           trace;
    double        shown_s;
} watcher;

static void print_trace(const ct_progress *p)
{
    if (p->iteration == 0) fprintf(stderr, "%9s %15s %11s %11s %11s\n", "iteration", "error", "step", "gradient", "damping");
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
        cli_show(w->io, "iteration %d, error %.6g, %s", p->iteration, p->error, cli_time(p->seconds, time));
    }
    return cli_caught();
}

ct_status solve_watched(const cli_io *io, const solve_request *request, solve_job *job, ct_err *err)
{
    watcher          w = {.io = io, .trace = request->trace};
    ct_solve_options options = ct_solve_defaults();
    options.method = (ct_method)request->method;
    options.max_iterations = request->max_iterations;
    options.absolute *= request->tolerance / options.relative;
    options.step *= request->tolerance / options.relative;
    options.relative = request->tolerance;
    options.progress = watch;
    options.user = &w;

    cli_catch(io, "stopping after this iteration");
    const ct_status status = ct_solver_run(job->solver, job->table, job->x, &options, &job->result, err);
    cli_release();
    cli_hide();
    return status;
}
