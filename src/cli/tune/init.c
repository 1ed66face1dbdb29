/* init.c: --init: a first TUNE.yaml, from options; what they do not say is asked for on a terminal. */
#define _POSIX_C_SOURCE 200809L
#include "cli/tune/tune.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

typedef struct {
    const char **place;
    const char *question;
    int needed;
} question;

/* Asks for what is missing. The answers are kept in `held`. */
static void ask_all(tune_request *r, char *held[], int *count)
{
    const question list[] = {
        {&r->command, "Command of one run, with {params}, {log} and {estimate}", 1},
        {&r->params, "Configuration file with the noise (empty: none)", 0},
        {&r->log, "Logs to learn from, such as train/*.csv", 1},
        {&r->truth, "Their truths, such as train/*.tum", 1},
        {&r->test, "Logs to test with (empty: none)", 0},
        {&r->test_truth, "Their truths", 0},
        {&r->format, "Format of the estimate: tum, euroc, kitti, table (empty: by content)", 0},
    };
    int ended = 0;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        if (*list[i].place || (list[i].place == &r->test_truth && !r->test)) continue;
        for (char *answer = NULL; !answer && !ended;) {
            answer = ask(list[i].question, &ended);
            if (answer) *list[i].place = held[(*count)++] = answer;
            if (!list[i].needed) break;
        }
    }
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
    for (int i = 0; i < count; i++) free(held[i]);
    return code;
}
