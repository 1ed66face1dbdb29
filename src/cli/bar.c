/* bar.c: how far a long task is, and how long it will take: [########............]  40 %, about 12 s left: D1 loose, powell.
 *
 * Work is counted in units that the task chooses, such that a unit takes about as long as any other; what is left is guessed from what was done. */
#include "cli.h"

#include <math.h>
#include <stdarg.h>

#define CELLS      20  /* of the bar                          */
#define SHOW_EVERY 0.1 /* s: faster than that nobody reads    */
#define SURE       0.02 /* done: below, the time left is a guess at random */

cli_bar cli_bar_new(const cli_io *io, double all) { return (cli_bar){.io = io, .all = all, .begin_s = ct_now_s()}; }

void cli_bar_add(cli_bar *bar, double units)
{
    bar->done += units;
    bar->part = 0;
}

/* "about 12 s" */
static void say_left(double seconds, char text[48])
{
    char time[24];
    if (seconds < 100) snprintf(text, 48, ", about %s left", cli_time(seconds, time));
    else snprintf(text, 48, ", about %.0f min left", seconds / 60);
}

void cli_bar_show(cli_bar *bar, double part, const char *fmt, ...)
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
    if (done > SURE) say_left((now - bar->begin_s) * (1 - done) / done, left);
    cli_show(bar->io, "[%s] %3.0f %%%s: %s", cells, 100 * done, left, what);
}
