/* signals.c: Ctrl-C, SIGTERM and SIGHUP. Between cli_interrupt_begin and cli_interrupt_end the first of them sets a
 * flag and prints a message, so that work in progress can end without loss. A second one ends the program. One handler
 * is installed for the life of the program: a signal that ends it removes temporary files first. */
#define _POSIX_C_SOURCE 200809L
#include "cli/common/cli.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TWICE_S 1 /* SIGTERM or SIGHUP again within that time is the same request */

static atomic_int  caught, catching; /* caught: the signal */
static atomic_long caught_s;
static char       message[256]; /* formatted in advance: a handler must not call printf */
static size_t     message_length;

/* Removes temporary files, then lets the signal end the program, as the shell expects. */
static void end(int signal_number)
{
    struct sigaction usual = {.sa_handler = SIG_DFL};
    ct_file_drop_all();
    /* The status line or ^C is on the terminal: start a new line. */
    if (signal_number == SIGINT && isatty(STDERR_FILENO)) (void)!write(STDERR_FILENO, "\n", 1);
    sigemptyset(&usual.sa_mask);
    sigaction(signal_number, &usual, NULL);
    raise(signal_number); /* delivered when this handler returns */
}

static long seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long)now.tv_sec + 1; /* never 0 */
}

/* timeout(1) sends SIGTERM to the program and to its group, a shell passes SIGHUP on: both arrive twice. The second may
 * find the program at its last files, when it no longer catches. */
static int is_echo(int signal_number)
{
    return signal_number != SIGINT && atomic_load(&caught) && seconds() - atomic_load(&caught_s) <= TWICE_S;
}

static void on_signal(int signal_number)
{
    const int why = errno;
    int       none = 0;
    long      never = 0;
    if (is_echo(signal_number)) return; /* errno is as it was */
    if (!atomic_load(&catching)) end(signal_number);
    else {
        atomic_compare_exchange_strong(&caught_s, &never, seconds());
        if (atomic_compare_exchange_strong(&caught, &none, signal_number))
            (void)!write(STDERR_FILENO, message, message_length);
        else end(signal_number);
    }
    errno = why;
}

void cli_signals_init(void)
{
    static const int ENDS[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction ours = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, before;
    sigemptyset(&ours.sa_mask);
    for (size_t i = 0; i < sizeof ENDS / sizeof *ENDS; i++) sigaddset(&ours.sa_mask, ENDS[i]);
    for (size_t i = 0; i < sizeof ENDS / sizeof *ENDS; i++) {
        if (sigaction(ENDS[i], NULL, &before) || before.sa_handler == SIG_IGN)
            continue; /* ignored by a script that started it in the background: stays so */
        sigaction(ENDS[i], &ours, NULL);
    }
    ours.sa_handler = SIG_IGN; /* a write beyond `ulimit -f` fails with a reason, as on a full disk */
    sigaction(SIGXFSZ, &ours, NULL);
}

void cli_interrupt_begin(const cli_io *io, const char *what)
{
    /* On a terminal it starts a new line, after the echoed ^C. */
    const int terminal = isatty(STDERR_FILENO);
    char      text[256];
    FILE     *out = cli_check_alloc(fmemopen(message, sizeof message, "w"));
    snprintf(text, sizeof text, "covtune %s: %s; Ctrl-C again stops at once", io->command, what);
    if (terminal) putc('\n', out);
    cli_wrap(out, 0, 0, terminal ? cli_width() : INT_MAX, text);
    fclose(out);
    message_length = strlen(message);
    atomic_store(&catching, 1);
}

int cli_interrupted(void) { return atomic_load(&caught) != 0; }

int cli_interrupt_code(void)
{
    const int signal_number = atomic_load(&caught);
    return 128 + (signal_number ? signal_number : SIGINT); /* 0: another rank was interrupted */
}

void cli_interrupt_end(void) { atomic_store(&catching, 0); }
