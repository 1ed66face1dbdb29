/* progress_bar.c: a progress bar with the time left: [########............]  40 %, about 12 s left: D1 loose, powell.
 *
 * The task chooses units of work that take about the same time each. The end is predicted from the units done so far. A
 * task that ends early or stalls makes the prediction jump, so the shown value is low-pass filtered:
 *     end <- end + (1 - exp(-dt / TAU)) (guess - end),   left = end - now. */
#include "cli/common/cli.h"

#include <math.h>
#include <stdarg.h>

#define CELLS      20   /* characters of the bar                                   */
#define SHOW_EVERY 0.1  /* s between updates: faster ones cannot be read           */
#define LEAST_DONE 0.02 /* fraction done: below, the prediction is too uncertain   */
#define LEAST_S    0.5  /* s elapsed: the same                                     */
#define TAU        4.0  /* s: time constant of the filter                          */

cli_progress cli_progress_new(const cli_io *io, double all)
{
    return (cli_progress){.io = io, .all = all, .begin_s = ct_now_s()};
}

void cli_progress_add(cli_progress *bar, double units)
{
    bar->done += units;
    bar->part = 0;
}

/* ", about 12 s left", in whole seconds or minutes. */
static void say_left(double seconds, char text[48])
{
    if (seconds < 100) snprintf(text, 48, ", about %.0f s left", fmax(1, seconds));
    else if (seconds < 6000) snprintf(text, 48, ", about %.0f min left", seconds / 60);
    else snprintf(text, 48, ", about %.1f h left", seconds / 3600);
}

/* Seconds left at time `now` if the fraction `done` is finished. */
static double time_left(cli_progress *bar, double now, double done)
{
    const double guess = now + (now - bar->begin_s) * (1 - done) / (done - bar->free);
    if (bar->end_s > 0) bar->end_s += (1 - exp(-(now - bar->guessed_s) / TAU)) * (guess - bar->end_s);
    else bar->end_s = guess;
    bar->guessed_s = now;
    return bar->end_s - now;
}

void cli_progress_show(cli_progress *bar, double part, const char *fmt, ...)
{
    const double now = ct_now_s();
    if (part > bar->part) bar->part = part;
    if (now < bar->shown_s + SHOW_EVERY) return;
    bar->shown_s = now;
    char         cells[CELLS + 1], what[160], left[48] = "";
    va_list      args;
    const double done = fmin(1, bar->all > 0 ? (bar->done + bar->part) / bar->all : 0);
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    for (int i = 0; i < CELLS; i++) cells[i] = i + 0.5 < CELLS * done ? '#' : '.';
    cells[CELLS] = 0;
    if (done - bar->free > LEAST_DONE && now - bar->begin_s > LEAST_S) say_left(time_left(bar, now, done), left);
    cli_status_show(bar->io, "[%s] %3.0f %%%s: %s", cells, 100 * done, left, what);
}
