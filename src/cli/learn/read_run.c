/* read_run.c: reads the folder of a run: options, noise models before and after, history, summary. `covtune info` and
 * `covtune report` read it here. run_files.c writes it. */
#define _POSIX_C_SOURCE 200809L
#include "cli/learn/learn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int has(const char *folder, const char *name)
{
    char     *path = cli_path_join(folder, name);
    const int there = access(path, F_OK) == 0;
    free(path);
    return there;
}

/* ---- is it one? ---- */

int learn_is_run(const char *path)
{
    struct stat        entry;
    ct_run_folder_info info;
    if (stat(path, &entry) || !S_ISDIR(entry.st_mode) || has(path, "dataset.yaml")) return 0;
    if (ct_run_folder_inspect(path, &info, NULL) == CT_OK && info.state == CT_RUN_FOLDER_CUT) return 1;
    char     *config = cli_path_join(path, "config.yaml");
    const int is = cli_is_config(config, "dataset") && (has(path, "noise.json") || has(path, "checkpoint"));
    free(config);
    return is;
}

static cli_exit check_folder(const cli_io *io, const char *folder, int needs_start, learn_run *run)
{
    static const char EXPECTED[] = "expected a run folder, as covtune learn and tune make with --out RUN";
    ct_err            err = {0};
    struct stat       entry;
    if (stat(folder, &entry)) return cli_fail(io, "%s: %s; %s", folder, strerror(errno), EXPECTED);
    if (!S_ISDIR(entry.st_mode)) return cli_fail(io, "%s: this is a file; %s", folder, EXPECTED);
    if (access(folder, R_OK | X_OK)) return cli_fail(io, "%s: %s", folder, strerror(errno));
    if (cli_check_run(folder, &run->found, &err) != CT_OK) return cli_fail(io, "%s", err.text);
    if (has(folder, "dataset.yaml") || (!has(folder, "config.yaml") && (has(folder, "train") || has(folder, "test"))))
        return cli_fail(io, "%s: this is a dataset; %s", folder, EXPECTED);
    if (!has(folder, "config.yaml")) return cli_fail(io, "%s: there is no config.yaml in it; %s", folder, EXPECTED);
    for (int i = 0; i < 1 + needs_start; i++) {
        static const char *const NEEDED[] = {"noise.json", "start.json"};
        const int                resumable = run->found.state == CT_RUN_FOLDER_HERE || learn_is_old_run(folder);
        if (!has(folder, NEEDED[i]))
            return cli_fail(io, "%s: there is no %s in it; to write it%s: covtune learn %s --out %s%s", folder,
                            NEEDED[i], resumable ? "" : ", repeat the run", run->config, resumable ? folder : "NEW",
                            resumable ? " --resume" : "");
    }
    return CLI_GO;
}

cli_exit learn_run_unchanged(const cli_io *io, const char *folder, const ct_run_folder_info *found)
{
    ct_run_folder_info now;
    ct_err             err = {0};
    if (cli_check_run(folder, &now, &err) != CT_OK) return cli_fail(io, "%s", err.text);
    if (now.state == found->state && !strcmp(now.id, found->id)) return CLI_GO;
    return cli_fail(io, "%s: another run was begun in it meanwhile; covtune %s %s reads that", folder, io->command,
                    folder);
}

/* ---- files ---- */

static ct_status read_table(const char *path, ct_noise **noise, ct_err *err)
{
    ct_status status = ct_noise_new(noise, err);
    if (status == CT_OK) status = ct_noise_read(*noise, path, err);
    if (status == CT_OK) return CT_OK;
    ct_noise_free(*noise);
    *noise = NULL;
    return status;
}

static cli_exit read_noise(const cli_io *io, learn_run *run, int needs_start)
{
    ct_err       err = {0};
    json_error_t why;
    if (read_table(run->noise, &run->table[1], &err) != CT_OK) return cli_fail(io, "%s", err.text);
    if ((needs_start || access(run->start, F_OK) == 0) && read_table(run->start, &run->table[0], &err) != CT_OK) {
        if (needs_start) return cli_fail(io, "%s", err.text);
        if (err.status == CT_E_MEMORY) cli_check_alloc(NULL);
        cli_remark(io, "%s", err.text);
    }
    run->noise_json = cli_load_json(run->noise, &why);
    if (!run->noise_json) return cli_fail(io, "%s: cannot be read: %s", run->noise, why.text);
    run->finished = json_is_true(json_object_get(json_object_get(run->noise_json, "provenance"), "finished"));
    return CLI_GO;
}

/* A killed run may have left half of a line at the end. */
static cli_exit read_history(const cli_io *io, learn_run *run)
{
    FILE   *file = cli_open(run->history, "r");
    char   *line = NULL;
    size_t  size = 0;
    ssize_t n;
    run->evaluations = cli_array();
    if (!file && errno == ENOENT) return CLI_GO;
    if (!file) return cli_fail(io, "%s: %s", run->history, strerror(errno));
    while (!run->cut && (n = cli_getline(&line, &size, file)) > 0) {
        json_t *o = json_loadb(line, (size_t)n, 0, NULL);
        if (json_is_object(o)) cli_append(run->evaluations, o);
        else json_decref(o), run->cut = 1;
    }
    const int why = run->cut || feof(file) ? 0 : errno;
    free(line);
    fclose(file);
    return why ? cli_fail(io, "%s: cannot be read: %s", run->history, strerror(why)) : CLI_GO;
}

static cli_exit read_summary(const cli_io *io, learn_run *run)
{
    json_error_t where;
    FILE        *file = cli_open(run->summary, "r");
    if (!file && errno == ENOENT) return CLI_GO;
    if (!file)
        return cli_fail(io,
                        "%s: cannot be read: %s; make it readable, or remove it: the run then counts as unfinished",
                        run->summary, strerror(errno));
    run->summary_json = json_loadf(file, 0, &where);
    fclose(file);
    if (json_is_object(run->summary_json)) return CLI_GO;
    if (run->summary_json)
        return cli_fail(io, "%s: is not an object of JSON, as covtune learn writes it; --resume writes it again",
                        run->summary);
    return cli_fail(io, "%s:%d: is not JSON: %s; --resume writes it again", run->summary, where.line, where.text);
}

/* ---- all of it ---- */

cli_exit learn_run_read(cli_io *io, const char *folder, int needs_start, learn_run *run)
{
    *run = (learn_run){
        .config = cli_path_join(folder, "config.yaml"),
        .noise = cli_path_join(folder, "noise.json"),
        .start = cli_path_join(folder, "start.json"),
        .history = cli_path_join(folder, "history.jsonl"),
        .summary = cli_path_join(folder, "summary.json"),
    };
    cli_exit code = check_folder(io, folder, needs_start, run);
    if (code == CLI_GO) code = learn_read_config(io, run->config, &run->learn, &run->held);
    if (code == CLI_GO) code = read_noise(io, run, needs_start);
    if (code == CLI_GO) code = read_history(io, run);
    if (code == CLI_GO) code = read_summary(io, run);
    return code == CLI_GO ? learn_run_unchanged(io, folder, &run->found) : code;
}

void learn_run_free(learn_run *run)
{
    char *const paths[] = {run->config, run->noise, run->start, run->history, run->summary};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) free(paths[i]);
    for (int side = 0; side < 2; side++) ct_noise_free(run->table[side]);
    json_decref(run->noise_json);
    json_decref(run->summary_json);
    json_decref(run->evaluations);
    cli_config_free(run->held);
}
