/* init.c: --init: a first TUNE.yaml, from options; what they do not say is asked for on a terminal. */
#define _POSIX_C_SOURCE 200809L
#include "cli/tune/tune.h"

#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WHY_SIZE 512 /* of a reason, as ct_err has it */

/* An answer, or NULL for an empty line; the caller frees it. *ended: there are no more lines. */
static char *ask(const char *question, int *ended)
{
    char *line = NULL;
    size_t size = 0;
    if (*ended) return NULL;
    fprintf(stderr, "%s: ", question);
    const ssize_t n = cli_getline(&line, &size, stdin);
    *ended = n < 0;
    if (n > 0 && line[n - 1] == '\n') line[n - 1] = 0;
    if (n > 0 && line[0]) return line;
    free(line);
    return NULL;
}

/* ---- answers ---- */

typedef enum { COMMAND, PARAMS, PATTERN, FORMAT } kind;

/* Does the pattern match a file or folder? Named parts {run} are wildcards. */
static int matches(const char *pattern, char why[WHY_SIZE])
{
    ct_matches *found = NULL;
    ct_err      err = {0};
    glob_t      any = {0};
    if (ct_files_match(".", pattern, &found, &err) == CT_OK) {
        ct_matches_free(found);
        return 1;
    }
    snprintf(why, WHY_SIZE, "%s", err.text);
    char *plain = cli_check_alloc(strdup(pattern)), *to = plain; /* ct_files_match has no folders, which may be logs */
    for (const char *at = pattern; *at; at++) {
        const char *close = *at == '{' ? strchr(at, '}') : NULL;
        *to++ = close ? '*' : *at;
        if (close) at = close;
    }
    *to = 0;
    const int yes = glob(plain, 0, NULL, &any) == 0;
    globfree(&any);
    free(plain);
    return yes;
}

/* 0: the answer is wrong, and why. */
static int is_right(kind of, const char *answer, char why[WHY_SIZE])
{
    switch (of) {
    case COMMAND:
        if (strstr(answer, "{log}") && strstr(answer, "{estimate}")) return 1;
        snprintf(why, WHY_SIZE, "it has no %s: that is where the path %s goes",
                 strstr(answer, "{log}") ? "{estimate}" : "{log}",
                 strstr(answer, "{log}") ? "of the trajectory that is written" : "of a log");
        return 0;
    case PARAMS:
        if (access(answer, R_OK) == 0) return 1;
        snprintf(why, WHY_SIZE, "%.200s: %s", answer, strerror(errno));
        return 0;
    case PATTERN: return matches(answer, why);
    default:
        if (!strcmp(answer, "auto") || ct_source_format_find(answer) >= 0) return 1;
        snprintf(why, WHY_SIZE, "there is no format \"%.40s\": it is tum, euroc, kitti, table, g2o, ros1, ros2 or mcap",
                 answer);
        return 0;
    }
}

typedef struct {
    const char **place;
    kind         of;
    int          needed;
    const char  *question;
} question;

/* Asks until the answer is right. A pattern that is given again is taken: the files may come later. */
static char *ask_one(const question *q, int *ended)
{
    char why[WHY_SIZE], *last = NULL;
    while (!*ended) {
        char *answer = ask(q->question, ended);
        if (!answer && q->needed) continue;
        const int again = answer && last && !strcmp(answer, last) && q->of == PATTERN;
        free(last);
        last = NULL;
        if (!answer || again || is_right(q->of, answer, why)) return answer;
        fprintf(stderr, "  %s%s\n", why, q->of == PATTERN ? "; the same again keeps it" : "");
        last = answer;
    }
    free(last);
    return NULL;
}

/* Asks for what is missing. The answers are kept in `held`. */
static void ask_all(tune_request *r, char *held[], int *count)
{
    const question list[] = {
        {&r->command, COMMAND, 1,
         "Command of one run, with {params}, {log} and {estimate} in place of their paths"},
        {&r->params, PARAMS, 0, "Configuration file with the noise (empty: none)"},
        {&r->log, PATTERN, 1, "Logs to learn from, such as train/*.csv"},
        {&r->truth, PATTERN, 1, "Their truths, such as train/*.tum"},
        {&r->test, PATTERN, 0, "Other logs to test with (empty: none)"},
        {&r->test_truth, PATTERN, 1, "Their truths"},
        {&r->format, FORMAT, 0, "Format of the trajectory: tum, euroc, kitti, table, .. (empty: by content)"},
    };
    int ended = 0;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        if (*list[i].place || (list[i].place == &r->test_truth && !r->test)) continue;
        char *answer = ask_one(&list[i], &ended);
        if (answer) *list[i].place = held[(*count)++] = answer;
    }
    if (ended) fprintf(stderr, "\n");
}

/* Patterns of options that match nothing yet. */
static void remark(const cli_io *io, const tune_request *r)
{
    const char *const pattern[] = {r->log, r->truth, r->test, r->test_truth};
    char why[WHY_SIZE];
    for (size_t i = 0; i < sizeof pattern / sizeof *pattern && !io->quiet; i++)
        if (pattern[i] && !matches(pattern[i], why)) fprintf(stderr, "covtune tune: %s\n", why);
}

static cli_exit write_text(const cli_io *io, const tune_request *r, const char *text)
{
    ct_err err = {0};
    if (!r->path) {
        fputs(text, stdout);
        return CLI_DONE;
    }
    if (ct_file_replace(r->path, text, strlen(text), &err) != CT_OK) return cli_fail(io, "%s", err.text);
    if (io->quiet) return CLI_DONE;
    char *path = cli_shell_quote(r->path);
    cli_row("written", "%s; look at its parameters, then:", r->path);
    cli_row_command("", "covtune tune %s --try", path);
    free(path);
    return CLI_DONE;
}

static cli_exit write_draft(const cli_io *io, const tune_request *r)
{
    const char *slash = r->path ? strrchr(r->path, '/') : NULL;
    char *folder =
        slash ? cli_check_alloc(strndup(r->path, (size_t)(slash - r->path > 0 ? slash - r->path : 1))) : NULL;
    const ct_tuning_draft_options options = {.command = r->command,
                                             .params = r->params,
                                             .log = r->log,
                                             .truth = r->truth,
                                             .test = r->test,
                                             .test_truth = r->test_truth,
                                             .format = r->format,
                                             .folder = folder};
    ct_err err = {0};
    char *text = NULL;
    const ct_status status = ct_tuning_draft(&options, &text, &err);
    const cli_exit code = status == CT_OK ? write_text(io, r, text) : cli_fail(io, "%s", err.text);
    free(text);
    free(folder);
    return code;
}

cli_exit tune_init(const cli_io *io, const tune_request *request)
{
    tune_request r = *request;
    char *held[8];
    int count = 0;
    if (r.path && access(r.path, F_OK) == 0)
        return cli_fail(io, "%s: is there already; --init does not replace it", r.path);
    if (isatty(STDIN_FILENO)) ask_all(&r, held, &count);
    const char *missing = !r.command ? "command" : !r.log ? "log" : !r.truth ? "truth" : NULL;
    const cli_exit code = missing ? cli_misuse(io, "--init needs --%s", missing) : write_draft(io, &r);
    if (code == CLI_DONE) remark(io, &r);
    for (int i = 0; i < count; i++) free(held[i]);
    return code;
}
