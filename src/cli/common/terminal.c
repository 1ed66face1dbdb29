/* terminal.c: messages, rows of results, and what the terminal can show. */
#define _POSIX_C_SOURCE 200809L
#include "cli/common/cli.h"

#include <errno.h>
#include <langinfo.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define LABEL     13   /* columns of a row's label           */
#define NARROW    40   /* below, the text goes under it      */
#define NARROWEST 20   /* columns: below, no word fits       */
#define WIDEST    1000 /* columns: above, COLUMNS is a mistake */

/* ---- stderr ---- */

static int shown; /* the status line is on the terminal */

void cli_status_clear(void)
{
    if (shown) fputs("\r\033[K", stderr);
    shown = 0;
}

/* Replaces control characters: names come from files, and a file must not control the terminal. */
static void defuse(char *text)
{
    for (; *text; text++)
        if (((unsigned char)*text < ' ' && *text != '\n') || *text == 0x7f) *text = '?';
}

/* Columns of the terminal; 0: unknown. */
static int columns(int fd)
{
    const char    *text = getenv("COLUMNS");
    const int      asked = text ? atoi(text) : 0;
    struct winsize size;
    if (asked > 0) return asked;
    return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

static int reasonable(int n) { return n == 0 ? 80 : n < NARROWEST ? NARROWEST : n > WIDEST ? WIDEST : n; }

/* Prints a message: wrapped between words on a terminal, so that no path is broken; one line in a file or pipe. */
static void sentence(const cli_io *io, const char *fmt, va_list args)
{
    char text[4096], whole[4096 + 512];
    vsnprintf(text, sizeof text, fmt, args);
    snprintf(whole, sizeof whole, "covtune%s%s: %s%s%s", io->command ? " " : "", io->command ? io->command : "",
             io->file ? io->file : "", io->file ? ": " : "", text);
    defuse(whole);
    cli_status_clear();
    fflush(stdout); /* keeps the order if both go to one terminal */
    if (isatty(STDERR_FILENO)) cli_wrap(stderr, 0, 0, reasonable(columns(STDERR_FILENO)), whole);
    else fprintf(stderr, "%s\n", whole);
}

/* Prints a command from column `indent` on. Lines are continued by a backslash between words, so that the command can
 * be copied. Quoted text is one word. */
static void put_command(FILE *out, int indent, int width, const char *text)
{
    for (int at = indent, begun = 0; *text;) {
        int n = 0, quoted = 0;
        for (; text[n] && (quoted || text[n] != ' '); n++) quoted ^= text[n] == '\'';
        if (begun && n + 3 > width - at) {
            fprintf(out, " \\\n%*s", indent + 2, "");
            at = indent + 2;
        } else if (begun) {
            at += fprintf(out, " ");
        }
        begun = 1;
        at += fprintf(out, "%.*s", n, text);
        text += n + (text[n] == ' ');
    }
    putc('\n', out);
}

void cli_print_command(const char *fmt, ...)
{
    char    text[4096];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    defuse(text);
    fputs("  ", stderr);
    put_command(stderr, 2, isatty(STDERR_FILENO) ? reasonable(columns(STDERR_FILENO)) : INT_MAX, text);
}

cli_exit cli_fail(const cli_io *io, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    sentence(io, fmt, args);
    va_end(args);
    return CLI_FAILED;
}

cli_exit cli_misuse(const cli_io *io, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    sentence(io, fmt, args);
    va_end(args);
    const char *topic = io->topic ? io->topic : io->command;
    fprintf(stderr, "See covtune%s%s --help.\n", topic ? " " : "", topic ? topic : "");
    return CLI_MISUSED;
}

void cli_remark(const cli_io *io, const char *fmt, ...)
{
    if (io->quiet) return;
    va_list args;
    va_start(args, fmt);
    sentence(io, fmt, args);
    va_end(args);
}

cli_exit cli_finish(const cli_io *io, cli_exit code)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) return code;
    cli_fail(io, "stdout could not be written: %s", errno ? strerror(errno) : "the disk may be full");
    return CLI_FAILED;
}

/* ---- the terminal ---- */

int cli_width(void) { return reasonable(columns(STDOUT_FILENO)); }

int cli_result_width(void) { return columns(STDOUT_FILENO) ? cli_width() : INT_MAX; }

int cli_utf8(void) { return !strcmp(nl_langinfo(CODESET), "UTF-8"); }

/* The length that is shown in `room` columns: all of the line, or whole parts of it, or whole words. */
static int fitting(const char *line, int room)
{
    int parts = 0, words = 0;
    if ((int)strlen(line) <= room) return room;
    for (int i = 1; i <= room; i++) {
        if (line[i] == ' ') words = i;
        if (line[i] && strchr(",;:", line[i]) && line[i + 1] == ' ') parts = i;
    }
    return parts ? parts : words ? words : room;
}

void cli_status_show(const cli_io *io, const char *fmt, ...)
{
    const char *term = getenv("TERM");
    if (io->quiet || !isatty(STDERR_FILENO) || !term || !strcmp(term, "dumb")) return;
    cli_status_clear();
    char    line[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    defuse(line);
    fprintf(stderr, "%.*s", fitting(line, reasonable(columns(STDERR_FILENO)) - 1), line);
    shown = 1;
}

/* ---- stdout ---- */

void cli_wrap(FILE *out, int at, int indent, int width, const char *text)
{
    int begun = 0, glued = 0; /* the line has a word; the next word continues it after a | */
    while (*text) {
        int n = (int)strcspn(text, " \n|");
        n += text[n] == '|';
        if (begun && n && at + !glued + n > width) {
            fprintf(out, "\n%*s", indent, "");
            at = indent;
            begun = 0;
        }
        at += fprintf(out, "%s%.*s", begun && n && !glued ? " " : "", n, text);
        begun = begun || n;
        text += n;
        glued = n && text[-1] == '|' && *text && *text != ' ' && *text != '\n';
        if (glued) continue;
        if (*text == '\n' && text[1]) {
            fprintf(out, "\n%*s", text[1] == '\n' ? 0 : indent, "");
            at = indent;
            begun = 0;
        }
        if (*text) text++;
    }
    putc('\n', out);
}

/* Prints the label; returns the column where the text starts. */
static int put_label(const char *label, int width)
{
    char name[256];
    snprintf(name, sizeof name, "%s", label);
    defuse(name);
    if (width >= NARROW) return printf("%-*s ", LABEL - 1, name);
    printf("%s%s  ", name, *name ? "\n" : "");
    return 2;
}

/* Prints a label and its text, wrapped, or continued by backslashes if it is a command. */
static void put_row(const char *label, int command, const char *fmt, va_list args)
{
    char text[4096];
    vsnprintf(text, sizeof text, fmt, args);
    defuse(text);
    const int width = cli_result_width(), at = put_label(label, width);
    if (command) put_command(stdout, at, width, text);
    else cli_wrap(stdout, at, width < NARROW ? 2 : LABEL, width, text);
}

void cli_row(const char *label, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    put_row(label, 0, fmt, args);
    va_end(args);
}

void cli_row_command(const char *label, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    put_row(label, 1, fmt, args);
    va_end(args);
}

const char *cli_format_time(double seconds, char buf[24])
{
    if (seconds < 1e-3) snprintf(buf, 24, "%.3g us", 1e6 * seconds);
    else if (seconds < 1) snprintf(buf, 24, "%.3g ms", 1e3 * seconds);
    else if (seconds < 1000) snprintf(buf, 24, "%.3g s", seconds);
    else if (seconds < 6000) snprintf(buf, 24, "%.1f min", seconds / 60);
    else snprintf(buf, 24, "%.1f h", seconds / 3600);
    return buf;
}

/* ---- memory ---- */

void *cli_check_alloc(void *p)
{
    if (p) return p;
    ct_file_drop_all();
    fputs("covtune: out of memory\n", stderr);
    exit(CLI_FAILED);
}

void *cli_alloc(int64_t count, size_t size)
{
    if (count < 0 || (uint64_t)count > PTRDIFF_MAX / size) cli_check_alloc(NULL);
    return cli_check_alloc(calloc(count ? (size_t)count : 1, size));
}

char *cli_shell_quote(const char *word)
{
    static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./@:=,+-";
    cli_buffer          text = {0};
    if (word[0] && !word[strspn(word, PLAIN)]) return cli_check_alloc(strdup(word));
    cli_buffer_printf(&text, "'"); /* a quote becomes '\'' */
    for (const char *c = word; *c; c++) cli_buffer_printf(&text, *c == '\'' ? "'\\''" : "%c", *c);
    cli_buffer_printf(&text, "'");
    return text.text;
}
