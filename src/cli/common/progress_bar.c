/* progress_bar.c: how far a long task is, and how long it will take: [########............]  40 %, about 12 s left:
 * D1 loose, powell.
 *
 * Work is counted in units that the task chooses, such that a unit takes about as long as any other; what is left is
 * guessed from what was done. A task that ends early, or stays where it is, makes that guess jump; what is shown
 * follows it slowly,
 *     end <- end + (1 - exp(-dt / SETTLE)) (guess - end),   left = end - now. */
#include "cli/common/cli.h"

#include <math.h>
#include <stdarg.h>

#define CELLS      20   /* of the bar                                              */
#define SHOW_EVERY 0.1  /* s: faster than that nobody reads                        */
#define SURE       0.02 /* done: below, the time left is a guess at random         */
#define SURE_S     0.5  /* s: the same                                             */
#define SETTLE     4.0  /* s: in which what is shown comes to what is guessed      */

cli_progress cli_progress_new(const cli_io *io, double all)
{
    return (cli_progress){.io = io, .all = all, .begin_s = ct_now_s()};
}

void cli_progress_add(cli_progress *bar, double units)
{
    bar->done += units;
    bar->part = 0;
}

/* ", about 12 s left", to whole seconds and minutes: more nobody knows. */
static void say_left(double seconds, char text[48])
{
    if (seconds < 100) snprintf(text, 48, ", about %.0f s left", fmax(1, seconds));
    else snprintf(text, 48, ", about %.0f min left", seconds / 60);
}

/* Seconds left at `now`, of which part `done` is over. */
static double time_left(cli_progress *bar, double now, double done)
{
    const double guess = now + (now - bar->begin_s) * (1 - done) / done;
    if (bar->end_s > 0) bar->end_s += (1 - exp(-(now - bar->guessed_s) / SETTLE)) * (guess - bar->end_s);
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
    if (done > SURE && now - bar->begin_s > SURE_S) say_left(time_left(bar, now, done), left);
    cli_status_show(bar->io, "[%s] %3.0f %%%s: %s", cells, 100 * done, left, what);
}
