/* options.c: the parser of command lines. `--name value` and `--name=value` are the same, -o is --out, `--` ends the
 * options. Unknown options are refused with the most similar known one. Words of a list match in any case, with _ or -.
 * */
#define _POSIX_C_SOURCE 200809L
#include "cli/common/cli.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORD_MAX 64 /* characters of an unknown option in its error message */

static const char *word_at(const void *list, int i) { return ((const char *const *)list)[i]; }

const char *cli_nearest(const char *word, const char *const list[]) { return ct_nearest(word, word_at, list); }

#define ROW(name, help) {#name, NULL, CLI_IO_FLAG, offsetof(cli_io, name), help, 0, 0, NULL}
const cli_option cli_common_options[] = {
    ROW(json, "print one JSON object instead"),
    ROW(quiet, "print nothing but errors, and JSON if that is asked for"),
    ROW(help, "print this"),
    ROW(version, "print the version"),
    CLI_ROW_END,
};
#undef ROW
#define COMMON ((int)(sizeof cli_common_options / sizeof *cli_common_options))

int cli_is_flag(const cli_option *row) { return row->type == CLI_FLAG || row->type == CLI_IO_FLAG; }

char cli_option_letter(const cli_option *row)
{
    return !strcmp(row->name, "out") ? 'o' : !strcmp(row->name, "help") ? 'h' : !strcmp(row->name, "version") ? 'V' : 0;
}

/* ---- values ---- */

static cli_exit bad_choice(const cli_io *io, const cli_option *o, const char *text)
{
    char list[256];
    int  n = 0;
    for (const char *c = o->value; *c && n < (int)sizeof list - 3; c++) {
        if (*c == '|') list[n++] = ',', list[n++] = ' ';
        else list[n++] = *c;
    }
    list[n] = 0;
    return cli_misuse(io, "--%s is one of %s, found \"%s\"", o->name, list, text);
}

static cli_exit put_integer(const cli_io *io, const cli_option *o, int *to, const char *text)
{
    char *end;
    errno = 0;
    const long value = strtol(text, &end, 10);
    if (end == text || *end || errno || (double)value < o->low || (double)value > o->high)
        return cli_misuse(io, "--%s is a whole number from %.0f to %.0f, found \"%s\"", o->name, o->low, o->high, text);
    *to = (int)value;
    return CLI_GO;
}

static cli_exit put_seed(const cli_io *io, const cli_option *o, uint64_t *to, const char *text)
{
    char *end;
    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno)
        return cli_misuse(io, "--%s is a whole number from 0 to 18446744073709551615, found \"%s\"", o->name, text);
    *to = value;
    return CLI_GO;
}

static cli_exit put_number(const cli_io *io, const cli_option *o, double *to, const char *text)
{
    char        *end;
    const double value = strtod(text, &end);
    if (end == text || *end || !(value >= o->low && value <= o->high))
        return cli_misuse(io, "--%s is a number from %g to %g, found \"%s\"", o->name, o->low, o->high, text);
    *to = value;
    return CLI_GO;
}

int cli_same_word(const char *a, const char *b, size_t n)
{
    size_t i = 0;
    for (; i < n && a[i]; i++)
        if ((a[i] == '_' ? '-' : tolower((unsigned char)a[i])) != (b[i] == '_' ? '-' : tolower((unsigned char)b[i])))
            return 0;
    return i == n && !a[i];
}

/* find(text), or find(word) for the word of "a|b|c" that the text spells in another way. */
static int find_choice(const cli_option *o, const char *text)
{
    char buf[64];
    for (const char *word = o->value; o->find(text) < 0 && *word;) {
        const size_t n = strcspn(word, "|");
        snprintf(buf, sizeof buf, "%.*s", (int)n, word);
        if (cli_same_word(text, word, n)) return o->find(buf);
        word += n + (word[n] == '|');
    }
    return o->find(text);
}

static cli_exit put_value(cli_io *io, const cli_option *o, void *request, const char *text)
{
    void *to = (char *)(o->type == CLI_IO_FLAG || o->type == CLI_IO_TEXT ? (void *)io : request) + o->place;
    switch (o->type) {
    case CLI_FLAG:
    case CLI_IO_FLAG: *(int *)to = 1; break;
    case CLI_TEXT:
    case CLI_IO_TEXT:
        if (!*text) return cli_misuse(io, "--%s needs a value: %s", o->name, o->value);
        *(const char **)to = text;
        break;
    case CLI_INTEGER: return put_integer(io, o, to, text);
    case CLI_SEED: return put_seed(io, o, to, text);
    case CLI_NUMBER: return put_number(io, o, to, text);
    case CLI_CHOICE: {
        const int value = find_choice(o, text);
        if (value < 0) return bad_choice(io, o, text);
        *(int *)to = value;
        break;
    }
    case CLI_HEADING:
    case CLI_ALIAS: break;
    }
    return CLI_GO;
}

cli_exit cli_put_option(cli_io *io, const cli_option *o, void *request, const char *text)
{
    if (!cli_is_flag(o)) return put_value(io, o, request, text);
    if (strcmp(text, "true") && strcmp(text, "false"))
        return cli_misuse(io, "--%s is true or false, found \"%s\"", o->name, text);
    if (!strcmp(text, "true")) return put_value(io, o, request, "");
    if (o->type == CLI_FLAG) *(int *)((char *)request + o->place) = 0;
    return CLI_GO;
}

/* The word w of "a|b|c" with find(w) == value. */
static const char *choice_text(const cli_option *o, int value, char *buf, size_t size)
{
    for (const char *word = o->value; *word;
         word += word[strcspn(word, "|")] == '|' ? strcspn(word, "|") + 1 : strcspn(word, "|")) {
        snprintf(buf, size, "%.*s", (int)strcspn(word, "|"), word);
        if (o->find(buf) == value) return buf;
    }
    return NULL;
}

const char *cli_option_text(const cli_option *o, const void *request, char *buf, size_t size)
{
    const void *from = (const char *)request + o->place;
    switch (o->type) {
    case CLI_FLAG: return *(const int *)from ? "true" : "false";
    case CLI_TEXT: return *(const char *const *)from;
    case CLI_INTEGER: snprintf(buf, size, "%d", *(const int *)from); break;
    case CLI_SEED: snprintf(buf, size, "%llu", (unsigned long long)*(const uint64_t *)from); break;
    case CLI_NUMBER:
        for (int digits = 6; digits <= 17; digits++) {
            snprintf(buf, size, "%.*g", digits, *(const double *)from);
            if (strtod(buf, NULL) == *(const double *)from) break;
        }
        break;
    case CLI_CHOICE: return choice_text(o, *(const int *)from, buf, size);
    case CLI_IO_FLAG:
    case CLI_IO_TEXT:
    case CLI_HEADING:
    case CLI_ALIAS: return NULL;
    }
    return buf;
}

const char *const cli_solvers[3] = {"batch", "isam2", [CT_INFERENCE_AUTO] = "auto"};

int cli_find_name(const char *name, const char *const list[], int count)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(name, list[i])) return i;
    return -1;
}

int cli_find_solver(const char *name) { return cli_find_name(name, cli_solvers, CT_INFERENCE_AUTO); }

int cli_find_entry_or_auto(const char *name)
{
    return name && !strcmp(name, "auto") ? (int)CT_ENTRY_AUTO : ct_entry_find(name);
}

int cli_find_solver_or_auto(const char *name) { return cli_find_name(name, cli_solvers, CT_INFERENCE_AUTO + 1); }

int cli_processors(void)
{
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > CLI_JOBS_MAX ? CLI_JOBS_MAX : (int)n;
}

/* ---- rows ---- */

int cli_is_option(const cli_option *row) { return row->type != CLI_HEADING && row->type != CLI_ALIAS; }

const cli_option *cli_option_resolve(const cli_option options[], const cli_option *row)
{
    if (row->type != CLI_ALIAS) return row;
    const cli_option *o = options;
    while (o->name && (!cli_is_option(o) || strcmp(o->name, row->value))) o++;
    assert(o->name); /* an alias of nothing is a mistake in the table */
    return o;
}

const char *cli_option_first_name(const cli_option options[], const cli_option *row)
{
    for (const cli_option *o = options; o->name; o++)
        if (o->type == CLI_ALIAS && !strcmp(o->value, row->name)) return o->name;
    return row->name;
}

/* ---- arguments ---- */

static cli_exit unknown(const cli_io *io, const cli_option rows[], const char *word, int length)
{
    const char *names[CLI_ROWS_MAX + 1];
    char        name[WORD_MAX + 1];
    int         n = 0;
    for (int i = 0; rows[i].name; i++)
        if (cli_is_option(&rows[i])) names[n++] = rows[i].name;
    names[n] = NULL;
    snprintf(name, sizeof name, "%.*s", length, word);
    if (!strcmp(name, "-o")) return cli_misuse(io, "there is no option -o, as %s has no --out", io->command);
    const char *near = cli_nearest(name + strspn(name, "-"), names);
    if (near) return cli_misuse(io, "there is no option %s; did you mean --%s?", name, near);
    return cli_misuse(io, "there is no option %s", name);
}

/* The row named by the first `length` bytes of the word, or the end of the table. */
static const cli_option *find_row(const cli_option rows[], const char *word, int length)
{
    if (length == 2 && !strncmp(word, "-o", 2)) return find_row(rows, "--out", 5);
    if (length == 2 && !strncmp(word, "-V", 2)) return find_row(rows, "--version", 9);
    const cli_option *o = rows;
    for (; o->name; o++)
        if (o->type != CLI_HEADING && !strncmp(word, "--", 2) && (int)strlen(o->name) == length - 2 &&
            !strncmp(word + 2, o->name, strlen(o->name)))
            break;
    return o;
}

/* Replaces the old name in argv[i] by the new one, so that cli_option_given finds it. The new word is never freed, like
 * argv. */
static void rename_word(const cli_io *io, const cli_option *alias, int argc, char **argv, int i)
{
    const char  *equals = strchr(argv[i], '='), *rest = equals ? equals : "";
    const size_t size = strlen(alias->value) + strlen(rest) + sizeof "--";
    char        *word = cli_alloc((int64_t)size, 1);
    snprintf(word, size, "--%s%s", alias->value, rest);
    argv[i] = word;
    if (!cli_option_given(argc, argv, "quiet")) cli_remark(io, "--%s is now called --%s", alias->name, alias->value);
}

/* One option at argv[*i]; moves *i on if the value is the next word. */
static cli_exit take(cli_io *io, const cli_option rows[], void *request, int argc, char **argv, int *i)
{
    const char       *word = argv[*i], *equals = strchr(word, '=');
    const int         length = equals ? (int)(equals - word) : (int)strlen(word);
    const cli_option *o = find_row(rows, word, length);
    if (!o->name) return unknown(io, rows, word, length);
    if (o->type == CLI_ALIAS) {
        rename_word(io, o, argc, argv, *i);
        return take(io, rows, request, argc, argv, i);
    }
    if (cli_is_flag(o)) {
        if (equals) return cli_misuse(io, "--%s takes no value, found \"%s\"", o->name, equals + 1);
        return put_value(io, o, request, "");
    }
    if (equals) return put_value(io, o, request, equals + 1);
    if (*i + 1 >= argc) return cli_misuse(io, "--%s needs a value: %s", o->name, o->value);
    const char *next = argv[++*i];
    if (!strncmp(next, "--", 2) || !strcmp(next, "-o") || !strcmp(next, "-V"))
        return cli_misuse(io, "--%s needs a value (%s), found %s; if that is the value, write --%s=%s", o->name,
                          o->value, next, o->name, next);
    return put_value(io, o, request, next);
}

/* An argument that starts with '-' is an option; "-" itself and everything after "--" are operands. */
static cli_exit walk(const cli_command *command, cli_io *io, const cli_option rows[], void *request, int argc,
                     char **argv, const char *operand[])
{
    int n = 0, ended = 0;
    for (int i = 0; i < command->most; i++) operand[i] = NULL;
    for (int i = 1; i < argc; i++) {
        if (!ended && !strcmp(argv[i], "--")) {
            ended = 1;
        } else if (!ended && !strcmp(argv[i], "-h")) {
            io->help = 1;
        } else if (!ended && argv[i][0] == '-' && argv[i][1]) {
            const cli_exit code = take(io, rows, request, argc, argv, &i);
            if (code != CLI_GO) return code;
        } else {
            if (n == command->most)
                return cli_misuse(io, "unexpected operand \"%s\": covtune %s takes %s", argv[i], command->name,
                                  command->operands);
            operand[n++] = argv[i];
        }
    }
    if (io->help || io->version || n >= command->least) return CLI_GO;
    return cli_misuse(io, "%s is missing", n == 0 ? command->operands : strchr(command->operands, ' ') + 1);
}

int cli_option_given(int argc, char **argv, const char *name)
{
    const size_t n = strlen(name);
    for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) /* a value starts with -- only after = */
        if (!strncmp(argv[i], "--", 2) && !strncmp(argv[i] + 2, name, n) && (!argv[i][n + 2] || argv[i][n + 2] == '='))
            return 1;
    return 0;
}

cli_exit cli_parse(const cli_command *command, void *request, int argc, char **argv, cli_io *io,
                   const char *operand[])
{
    cli_option rows[CLI_ROWS_MAX + 1];
    int        n = 0;
    *io = (cli_io){.command = command->name, .topic = command->topic};
    for (; command->options[n].name; n++) rows[n] = command->options[n];
    assert(n + COMMON <= CLI_ROWS_MAX + 1);
    memcpy(rows + n, cli_common_options, sizeof cli_common_options);
    const cli_exit code = walk(command, io, rows, request, argc, argv, operand);
    if (io->help) {
        cli_help(command);
        return cli_finish(io, CLI_DONE);
    }
    if (io->version && code == CLI_GO) return cli_print_version(io);
    return code == CLI_GO ? cli_load_plugins(io) : code;
}
