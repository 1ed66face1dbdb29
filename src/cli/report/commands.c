/* commands.c: how to repeat the run, and how to use its result. */
#define _POSIX_C_SOURCE 200809L
#include "cli/report/report.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* The whole file, or "". The caller frees it. */
static char *slurp(const char *path)
{
    FILE    *file = cli_open(path, "r");
    cli_buffer text = {0};
    char     part[4096];
    size_t   n;
    while (file && (n = fread(part, 1, sizeof part, file)) > 0) cli_buffer_put(&text, part, n);
    if (file) fclose(file);
    return cli_buffer_text(&text);
}

/* A command, as printf has it. */
static void put_command(report_job *job, const char *fmt, ...) CT_PRINTF(2, 3);
static void put_command(report_job *job, const char *fmt, ...)
{
    char    text[4096];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    ct_page_code(job->page, text);
}

void report_repeat(report_job *job)
{
    const json_t *from = json_object_get(job->noise_json, "provenance");
    char         *config = slurp(job->config);
    const size_t  n = strlen(config);
    char         *folder = cli_check_alloc(strdup(job->noise));
    if (n && config[n - 1] == '\n') config[n - 1] = 0;
    *strrchr(folder, '/') = 0;
    const size_t size = strlen(folder) + 7;
    char        *again = cli_alloc((int64_t)size, 1);
    snprintf(again, size, "%s-again", folder);
    char *const run = cli_shell_quote(folder), *const other = cli_shell_quote(again),
                *const options = cli_shell_quote(job->config),
                *const data = cli_shell_quote(job->dataset ? job->path : job->learn.path);
    char *const noise = cli_shell_quote(job->noise), *const start = cli_shell_quote(job->start);
    ct_page_section(job->page, "repeat", "Repeat and use");
    ct_page_text(job->page, "To repeat the run, with the same bits, from where covtune was started:");
    put_command(job, "%s --out %s", text_of(from, "command"), other);
    ct_page_text(job->page, "All options of the run (%s):", job->config);
    ct_page_code(job->page, config);
    ct_page_text(job->page, "Digest of data and options: %s. covtune %s.", text_of(from, "digest"),
                 text_of(from, "version"));
    if (!job->finished) {
        ct_page_text(job->page, "To continue the run:");
        put_command(job, "covtune learn %s%s --out %s --resume", options, job->plugin, run);
    }
    ct_page_text(job->page, "To print the numbers of this page on a terminal:");
    put_command(job, "covtune eval %s%s%s%s%s%s --noise %s --against %s --nees --each", data, job->plugin,
                job->learn.repair ? " --repair" : "", job->truth_sigma ? " --truth-sigma " : "",
                job->truth_sigma ? job->truth_sigma : "",
                job->dataset && job->part == CT_DATASET_TRAIN ? " --part train" : "", noise, start);
    ct_page_text(job->page, "To export the learned noise models for another program (also gtsam-python, ros, "
                            "robot-localization, g2o, c, json):");
    put_command(job, "covtune export %s --to gtsam-cpp", noise);
    char *const owned[] = {config, folder, again, run, other, options, data, noise, start};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
}
