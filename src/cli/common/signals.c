/* signals.c: Ctrl-C as a request. The first one is remembered, and said to be; work that looks here comes to an end
 * that loses nothing. A second one ends the program. One handler for all of the program's life sees to it that a signal
 * that ends it leaves no temporary file. */
#define _POSIX_C_SOURCE 200809L
#include "cli/common/cli.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static atomic_int caught, catching;
static char       promise[256]; /* made before it is needed: a handler may not format */
static size_t     promise_length;

/* No half-written file stays. Then the signal ends the program, as the shell expects. */
static void end(int signal_number)
{
    struct sigaction usual = {.sa_handler = SIG_DFL};
    ct_file_drop_all();
    /* A line of progress, or ^C, stands on the terminal; what comes next begins a new one. */
    if (signal_number == SIGINT && isatty(STDERR_FILENO)) (void)!write(STDERR_FILENO, "\n", 1);
    sigemptyset(&usual.sa_mask);
    sigaction(signal_number, &usual, NULL);
    raise(signal_number); /* held back until this returns */
}

static void on_signal(int signal_number)
{
    const int why = errno;
    if (signal_number != SIGINT || !atomic_load(&catching) || atomic_exchange(&caught, 1)) end(signal_number);
    else (void)!write(STDERR_FILENO, promise, promise_length);
    errno = why;
}

void cli_signals_init(void)
{
    static const int ENDS[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction ours = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, before;
    sigemptyset(&ours.sa_mask);
    for (size_t i = 0; i < sizeof ENDS / sizeof *ENDS; i++) {
        if (sigaction(ENDS[i], NULL, &before) || before.sa_handler == SIG_IGN)
            continue; /* started in the background by a script: as the script wants it */
        sigaction(ENDS[i], &ours, NULL);
    }
}

void cli_interrupt_begin(const cli_io *io, const char *what)
{
    /* On a terminal it begins with a new line, after the ^C that is there. */
    const int terminal = isatty(STDERR_FILENO);
    char      text[256];
    FILE     *out = cli_check_alloc(fmemopen(promise, sizeof promise, "w"));
    snprintf(text, sizeof text, "covtune %s: %s; Ctrl-C again stops at once", io->command, what);
    if (terminal) putc('\n', out);
    cli_wrap(out, 0, 0, terminal ? cli_width() : INT_MAX, text);
    fclose(out);
    promise_length = strlen(promise);
    atomic_store(&catching, 1);
}

int cli_interrupted(void) { return atomic_load(&caught); }

void cli_interrupt_end(void) { atomic_store(&catching, 0); }
