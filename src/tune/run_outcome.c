/* run_outcome.c: how a run ended, in a sentence and the last lines of what the program wrote. */
#define _GNU_SOURCE
#include "base/file.h"
#include "base/json.h"
#include "tune/run.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>

#define QUOTE_LINES 20
#define QUOTE_BYTES 2000

ct_status ct__outcome_end(ct_tune_outcome *outcome, ct_tune_end end, ct_err *err, const char *fmt, ...)
{
    ct__text text = {0};
    va_list  args;
    va_start(args, fmt);
    ct__text_vprintf(&text, fmt, args);
    va_end(args);
    outcome->end = end;
    free(outcome->message);
    outcome->message = NULL;
    return ct__text_take(&text, &outcome->message, err);
}

/* Lines as a terminal shows them: of one with carriage returns, as progress is printed, the last part that is no
 * blank. */
static void put_shown(ct__text *text, const ct__output *output)
{
    const char *const end = output->bytes + output->kept;
    for (const char *at = output->bytes; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at)), *from = at;
        const char *next = stop ? stop + 1 : end;
        if (!stop) stop = end;
        while (stop > at && (stop[-1] == '\r' || stop[-1] == ' ')) stop--;
        for (const char *p = at; p < stop; p++)
            if (*p == '\r') from = p + 1;
        ct__text_bytes(text, from, (size_t)(stop - from));
        ct__text_put(text, "\n");
        at = next;
    }
}

/* The last lines of a text: at most QUOTE_LINES and QUOTE_BYTES. */
static const char *last_lines(const ct__text *text, size_t *size)
{
    const char *end = text->bytes + text->used, *at = end;
    while (end > text->bytes && end[-1] == '\n') end--;
    at = end;
    for (int lines = 0; at > text->bytes && end - at < QUOTE_BYTES; at--)
        if (at[-1] == '\n' && ++lines == QUOTE_LINES) break;
    *size = (size_t)(end - at);
    return at;
}

/* Controls of terminals, also those of two bytes. */
static int is_control(const char *at, int n)
{
    const unsigned char c = (unsigned char)at[0];
    if (n == 2) return c == 0xc2 && (unsigned char)at[1] < 0xa0;
    return n == 1 && ((c < 32 && c != '\n' && c != '\t') || c == 127);
}

/* Text as it is, other bytes as "?"; its beginning. */
static void put_clean(ct__text *text, const char *at, size_t size)
{
    char copy[QUOTE_BYTES + 1];
    size = CT_MIN(size, (size_t)QUOTE_BYTES);
    memcpy(copy, at, size);
    copy[size] = 0;
    for (size_t i = 0; i < size;) {
        const int n = copy[i] ? ct__json_sequence(copy + i) : 0;
        if (n <= 0 || is_control(copy + i, n)) {
            ct__text_put(text, copy[i] == '\r' ? "" : "?");
            i += (size_t)CT_MAX(n, 1);
        } else {
            ct__text_bytes(text, copy + i, (size_t)n);
            i += (size_t)n;
        }
    }
}

ct_status ct__outcome_quote(ct_tune_outcome *outcome, const ct__report *report, ct_err *err)
{
    const ct__output *from = report->err.kept ? &report->err : &report->out;
    ct__text          text = {0}, shown = {0};
    size_t            size = 0;
    if (!from->kept || !outcome->message) return CT_OK;
    put_shown(&shown, from);
    if (shown.failed) {
        ct__text_free(&shown);
        return ct__no_memory(err, "bytes of output", from->kept);
    }
    const char *lines = last_lines(&shown, &size);
    const int printed = outcome->end == CT_TUNE_NO_ESTIMATE && from == &report->out;
    if (size) {
        ct__text_printf(&text, "%s.%s The last lines of its %s:\n", outcome->message,
                        printed ? " If it prints its trajectory, shell: true and >{estimate} keep it." : "",
                        from == &report->err ? "stderr" : "stdout");
        put_clean(&text, lines, size);
    }
    ct__text_free(&shown);
    if (!size) return CT_OK;
    free(outcome->message);
    outcome->message = NULL;
    return ct__text_take(&text, &outcome->message, err);
}

ct_status ct__outcome_say(ct_tune_outcome *outcome, const char *before, const char *why, ct_err *err)
{
    ct__text text = {0};
    ct__text_put(&text, before);
    put_clean(&text, why, strlen(why));
    outcome->end = CT_TUNE_CRASHED;
    free(outcome->message);
    outcome->message = NULL;
    return ct__text_take(&text, &outcome->message, err);
}

static const char *signal_name(int number)
{
    static const struct {
        int         number;
        const char *name;
    } NAMES[] = {{SIGABRT, "SIGABRT, abort"},          {SIGBUS, "SIGBUS, bad memory access"},
                 {SIGFPE, "SIGFPE, division by zero"}, {SIGILL, "SIGILL, bad instruction"},
                 {SIGINT, "SIGINT"},                   {SIGKILL, "SIGKILL: by somebody, or memory ran out"},
                 {SIGPIPE, "SIGPIPE"},                 {SIGSEGV, "SIGSEGV, bad memory access"},
                 {SIGTERM, "SIGTERM"},                 {SIGXCPU, "SIGXCPU, limit of processor time"},
                 {SIGXFSZ, "SIGXFSZ, limit of file size"}};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (NAMES[i].number == number) return NAMES[i].name;
    return "another signal";
}

/* Programs that cannot be started at all end tuning. */
static ct_status not_started(const ct_tuning *tuning, const ct__report *report, const char *program, ct_err *err)
{
    const char *why = strerror(report->code);
    if (report->step == CT__STEP_FOLDER)
        return ct_fail(err, CT_E_IO, "%s: the program cannot be started in its working folder: %s", tuning->path, why);
    if (report->step == CT__STEP_EXECUTE)
        return ct_fail(err, CT_E_IO, "%s: %s cannot be executed: %s%s", tuning->path, program, why,
                       report->code == ENOEXEC  ? "; does a script lack its first line, such as #!/usr/bin/env python3?"
                       : report->code == ENOENT ? "; is the interpreter that its first line names there?"
                                                : "");
    return ct_fail(err, report->code == ENOMEM ? CT_E_MEMORY : CT_E_IO, "no process can be started: %s", why);
}

/* Does a line of what the program wrote say that this file is not there? */
static int is_missed(const ct__output *err, const char *word)
{
    static const char *const PHRASE[] = {"No such file", "not found", "an't open", "annot open"};
    for (const char *at = err->bytes ? err->bytes : ""; *at;) {
        const size_t length = strcspn(at, "\n");
        const char  *name = strstr(at, word);
        for (size_t k = 0; k < sizeof PHRASE / sizeof *PHRASE && name && name < at + length; k++) {
            const char *phrase = strstr(at, PHRASE[k]);
            if (phrase && phrase < at + length) return 1;
        }
        at += length + (at[length] != 0);
    }
    return 0;
}

/* The first word of a shell's text that is a file where paths are relative to, and that the shell did not find where it
 * was started. Of configuration files a copy is there. *word: to be freed; NULL: none. */
static ct_status stray_word(const ct_tuning *t, const ct__output *said, char **word, ct_err *err)
{
    *word = NULL;
    if (!t->shell || t->working_folder || !t->command.count) return CT_OK;
    for (const char *at = t->command.word[0]; *at && !*word;) {
        const size_t length = strcspn(at, " \t\n;|&<>()'\"`$=");
        ct__text     text = {0};
        char        *path;
        if (length) ct__text_bytes(&text, at, length);
        at += length + (at[length] != 0);
        if (!length) continue;
        CT_TRY(ct__text_take(&text, word, err));
        const ct_status status = ct__tuning_script(t, *word, &path, err);
        int is_there = status != CT_OK || !path || (*word)[0] == '/' || !is_missed(said, *word);
        for (int32_t i = 0; i < t->files; i++) is_there |= !strcmp(ct__base_name(t->file[i].path), *word);
        free(path);
        if (is_there) {
            free(*word);
            *word = NULL;
        }
        CT_TRY(status);
    }
    return CT_OK;
}

/* A word of a list that the program did not find, and that is no file where paths are relative to; *out NULL: none. */
static ct_status missing_word(const ct_tuning *t, const ct__output *said, const char **out, ct_err *err)
{
    const ct__tune_words *command = t->server.count ? &t->server : &t->command;
    *out = NULL;
    for (int32_t i = 1; !t->shell && !t->working_folder && i < command->count && !*out; i++) {
        const char *word = command->word[i];
        char       *path = NULL;
        if (strpbrk(word, "{} ") || !strchr(word, '.') || word[0] == '/' || !is_missed(said, word)) continue;
        CT_TRY(ct__tuning_script(t, word, &path, err));
        if (!path) *out = word;
        free(path);
    }
    return CT_OK;
}

/* The program said itself that it failed. */
static ct_status end_by_code(const ct_tuning *tuning, const ct__report *report, const char *who,
                             ct_tune_outcome *outcome, ct_err *err)
{
    const int code = report->code;
    char     *word;
    CT_TRY(stray_word(tuning, &report->err, &word, err));
    const char *missing = NULL;
    if (!word) CT_TRY(missing_word(tuning, &report->err, &missing, err));
    if (missing)
        return ct__outcome_end(outcome, CT_TUNE_CRASHED, err,
                               "%s ended with exit code %d. There is no %s/%s, and it is started in the run's folder",
                               who, code, tuning->folder, missing);
    const ct_status status =
        word ? ct__outcome_end(outcome, CT_TUNE_CRASHED, err,
                               "%s ended with exit code %d. %s is not where a shell is started, in the run's "
                               "folder: write {here}/%s",
                               who, code, word, strncmp(word, "./", 2) ? word : word + 2)
             : ct__outcome_end(outcome, CT_TUNE_CRASHED, err, "%s ended with exit code %d", who, code);
    free(word);
    return status;
}

int ct__outcome_of_report(const ct_tuning *tuning, const ct__report *report, const char *who, const char *program,
                          ct_tune_outcome *outcome, ct_status *status, ct_err *err)
{
    char limit[32];
    outcome->seconds += report->seconds;
    outcome->code = report->code;
    *status = CT_OK;
    switch (report->end) {
    case CT__CHILD_NOT_STARTED: *status = not_started(tuning, report, program, err); return 0;
    case CT__CHILD_TIME:
        *status = ct__outcome_end(outcome, CT_TUNE_TIME, err, "%s was stopped at its time limit of %s s", who,
                                  ct__format_double(tuning->time_limit_s, limit));
        break;
    case CT__CHILD_MEMORY:
        *status = ct__outcome_end(outcome, CT_TUNE_MEMORY, err,
                                  "%s was stopped at its memory limit of %lld MB; it had %lld MB", who,
                                  (long long)(tuning->memory_limit >> 20), (long long)(report->peak >> 20));
        break;
    case CT__CHILD_LOST:
        *status = ct__outcome_end(outcome, CT_TUNE_CRASHED, err,
                                  "the process that watches the program was killed: by the program, or the system ran "
                                  "out of memory");
        break;
    default:
        if (report->code == 0) return 1;
        if (report->code > 0)
            *status = end_by_code(tuning, report, who, outcome, err);
        else
            *status = ct__outcome_end(outcome, CT_TUNE_CRASHED, err, "%s ended by signal %d (%s)", who,
                                      -report->code, signal_name(-report->code));
    }
    return 0;
}
