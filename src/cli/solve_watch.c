/* solve_watch.c: a solve that can be watched and interrupted.
 *
 * The first Ctrl-C asks the solver to stop after the iteration it is in: the best so far is reported and
 * written. The handler then is gone, so a second one ends the program. */
#define _POSIX_C_SOURCE 200809L
#include "solve.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#define SHOW_EVERY 0.1 /* s: faster than that nobody reads */

/* On a terminal it begins with a new line, after the ^C that is there. */
static const char            STOPPING[] = "\ncovtune solve: stopping after this iteration; Ctrl-C again stops at once\n";
static volatile sig_atomic_t interrupted, on_terminal;

static void on_interrupt(int signal_number)
{
    const int skip = on_terminal ? 0 : 1;
    (void)signal_number;
    interrupted = 1;
    (void)!write(STDERR_FILENO, STOPPING + skip, sizeof STOPPING - 1 - (size_t)skip);
}

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
    return interrupted;
}

ct_status solve_watched(const cli_io *io, const solve_request *request, solve_job *job, ct_err *err)
{
    watcher          w = {.io = io, .trace = request->trace};
    ct_solve_options options = ct_solve_defaults();
    struct sigaction ours = {.sa_handler = on_interrupt, .sa_flags = (int)(SA_RESETHAND | SA_RESTART)}, theirs;
    options.method = (ct_method)request->method;
    options.max_iterations = request->max_iterations;
    options.absolute *= request->tolerance / options.relative;
    options.step *= request->tolerance / options.relative;
    options.relative = request->tolerance;
    options.progress = watch;
    options.user = &w;

    on_terminal = isatty(STDERR_FILENO);
    sigemptyset(&ours.sa_mask);
    sigaction(SIGINT, NULL, &theirs);
    const int ignored = theirs.sa_handler == SIG_IGN; /* started in the background by a script: as the script wants it */
    if (!ignored) sigaction(SIGINT, &ours, NULL);
    const ct_status status = ct_solver_run(job->solver, job->table, job->x, &options, &job->result, err);
    if (!ignored) sigaction(SIGINT, &theirs, NULL);
    cli_hide();
    return status;
}
