/* interrupt.c: Ctrl-C as a request. The first one is remembered, and said to be; work that looks here comes to an end that loses
 * nothing. The handler then is gone, so a second one ends the program. */
#define _POSIX_C_SOURCE 200809L
#include "cli.h"

#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static atomic_int       caught;
static char             promise[256]; /* made before the handler is there, which may not format */
static size_t           promise_length;
static struct sigaction theirs;
static int              ignored;

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    atomic_store(&caught, 1);
    (void)!write(STDERR_FILENO, promise, promise_length);
}

/* A line of progress, or ^C, stands on the terminal; what comes next begins a new one. Then the signal ends the program, as the shell expects. */
static void end_line(int signal_number)
{
    (void)!write(STDERR_FILENO, "\n", 1);
    raise(signal_number); /* by now back to its default, and held back until this returns */
}

void cli_mind(void)
{
    struct sigaction ours = {.sa_handler = end_line, .sa_flags = (int)SA_RESETHAND}, before;
    sigemptyset(&ours.sa_mask);
    if (!isatty(STDERR_FILENO) || sigaction(SIGINT, NULL, &before) || before.sa_handler == SIG_IGN) return;
    sigaction(SIGINT, &ours, NULL);
}

void cli_catch(const cli_io *io, const char *what)
{
    struct sigaction ours = {.sa_handler = on_interrupt, .sa_flags = (int)(SA_RESETHAND | SA_RESTART)};
    /* On a terminal it begins with a new line, after the ^C that is there. */
    const int terminal = isatty(STDERR_FILENO);
    char      text[256];
    FILE     *out = cli_need(fmemopen(promise, sizeof promise, "w"));
    snprintf(text, sizeof text, "covtune %s: %s; Ctrl-C again stops at once", io->command, what);
    if (terminal) putc('\n', out);
    cli_wrap(out, 0, 0, terminal ? cli_width() : INT_MAX, text);
    fclose(out);
    promise_length = strlen(promise);
    sigemptyset(&ours.sa_mask);
    sigaction(SIGINT, NULL, &theirs);
    ignored = theirs.sa_handler == SIG_IGN; /* started in the background by a script: as the script wants it */
    if (!ignored) sigaction(SIGINT, &ours, NULL);
}

int cli_caught(void) { return atomic_load(&caught); }

void cli_release(void)
{
    if (!ignored) sigaction(SIGINT, &theirs, NULL);
}
