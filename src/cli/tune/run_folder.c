/* run_folder.c: the run folder of covtune tune: checked, locked, begun or resumed; the files of its end.
 *
 * A new run replaces an old one in one step (ct_run_folder_commit); folders of the old one are removed before. Runs of
 * the estimator are safe in the journal; every other file is made again from it by --resume. */
#define _XOPEN_SOURCE 700
#include "cli/tune/tune.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The open run folder. Staged files are removed also if the program ends in cli_check_alloc. */
static ct_run_folder *held;

static void let_go(void)
{
    ct_run_folder_free(held);
    held = NULL;
}

static void hold(ct_run_folder *run)
{
    static int registered;
    if (!registered) registered = !atexit(let_go);
    held = run;
}

static void name_files(const char *out, tune_job *job)
{
    job->best = cli_path_join(out, "best");
    job->csv.path = cli_path_join(out, "history.csv");
    job->jsonl.path = cli_path_join(out, "history.jsonl");
    job->journal = cli_path_join(out, "runs.journal");
    job->json = cli_path_join(out, "tune.json");
    job->yaml = cli_path_join(out, "tune.yaml");
    job->failures = cli_path_join(out, "failures");
    job->report = cli_path_join(out, "report.html");
    job->estimates = cli_path_join(out, "estimates");
    job->trajectories = cli_path_join(out, "trajectories.json");
}

/* ---- begin ---- */

/* A folder of the old run with all that is in it; links are not followed. */
static ct_status remove_folder(const char *path, ct_err *err)
{
    struct stat entry;
    if (lstat(path, &entry) != 0 || !S_ISDIR(entry.st_mode)) return CT_OK;
    return ct_folder_remove(path, err);
}

static ct_status read_file(const char *path, cli_buffer *text, ct_err *err)
{
    char bytes[4096];
    FILE *file = cli_open(path, "rb");
    if (!file) return ct_fail(err, CT_E_IO, "%s: %s", path, strerror(errno));
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, file)) > 0;) cli_buffer_put(text, bytes, n);
    fclose(file);
    return CT_OK;
}

/* The bytes of TUNE.yaml, into a copy. */
static ct_status copy_file(const char *from, const char *to, ct_err *err)
{
    cli_buffer text = {0};
    ct_status status = read_file(from, &text, err);
    if (status == CT_OK) status = ct_file_replace(to, cli_buffer_text(&text), text.used, err);
    free(text.text);
    return status;
}

static ct_status begin(const tune_request *request, tune_job *job, ct_err *err)
{
    const char *const removed[] = {"tune.json", "runs.journal", "trajectories.json",
                                   cli_is_page(job->report) ? "report.html" : NULL, NULL};
    ct_status status = remove_folder(job->best, err);
    if (status == CT_OK) status = remove_folder(job->failures, err);
    if (status == CT_OK) status = remove_folder(job->estimates, err);
    if (status == CT_OK) status = ct_run_folder_begin(job->folder, ct_tuning_digest(job->tuning), err);
    if (status != CT_OK) return status;
    char *yaml = cli_path_join(ct_run_folder_staged(job->folder), "tune.yaml");
    char *csv = cli_path_join(ct_run_folder_staged(job->folder), "history.csv");
    char *jsonl = cli_path_join(ct_run_folder_staged(job->folder), "history.jsonl");
    status = copy_file(request->path, yaml, err);
    if (status == CT_OK) status = ct_file_replace(csv, "", 0, err);
    if (status == CT_OK) status = ct_file_replace(jsonl, "", 0, err);
    if (status == CT_OK) status = ct_run_folder_commit(job->folder, removed, err);
    free(yaml);
    free(csv);
    free(jsonl);
    return status;
}

/* Runs that tell nothing about the present: is it TUNE.yaml that changed, or what it names? */
static ct_status refuse(const tune_request *request, const tune_job *job, ct_err *err)
{
    cli_buffer now = {0}, then = {0};
    const int both = read_file(request->path, &now, NULL) == CT_OK && read_file(job->yaml, &then, NULL) == CT_OK;
    const int same = both && now.used == then.used && !memcmp(cli_buffer_text(&now), cli_buffer_text(&then), now.used);
    free(now.text);
    free(then.text);
    return ct_fail(err, CT_E_ARGUMENT,
                   "%s: its runs were made with another command, other files, logs or options of the comparison than "
                   "those of %s now%s%s%s; --force starts anew, another --out keeps it", request->out, request->path,
                   same ? ", which is as it was: what it names has changed" : ", which differs from ",
                   same ? "" : job->yaml, same ? " (program, script, file, log or truth)" : "");
}

static ct_status resume(const tune_request *request, tune_job *job, ct_err *err)
{
    if (ct_run_folder_get(job->folder)->key != ct_tuning_digest(job->tuning))
        return refuse(request, job, err);
    return copy_file(request->path, job->yaml, err);
}

/* Decides between a new and a resumed run, once the folder is locked. */
static cli_exit check_state(const cli_io *io, const tune_request *request, tune_job *job)
{
    ct_err err = {0};
    const int is_run = ct_run_folder_get(job->folder)->state == CT_RUN_FOLDER_HERE;
    if (is_run && !request->resume && !request->force)
        return cli_fail(io, "%s: it has a run; --resume continues it, --force replaces it, another --out keeps it",
                        request->out);
    if (request->resume && !is_run) cli_remark(io, "%s: there is no run to resume; a new one is started", request->out);
    const ct_status status = is_run && request->resume ? resume(request, job, &err) : begin(request, job, &err);
    return status == CT_OK ? CLI_GO : cli_fail(io, "%s", err.text);
}

cli_exit tune_open_folder(const cli_io *io, const tune_request *request, tune_job *job)
{
    ct_err err = {0};
    ct_run_folder_info found;
    name_files(request->out, job);
    if (ct_run_folder_inspect(request->out, &found, &err) != CT_OK) return cli_fail(io, "%s", err.text);
    if (found.state == CT_RUN_FOLDER_OTHER)
        return cli_fail(io, "%s: this folder has other files and no run of covtune tune; choose a new folder for --out",
                        request->out);
    if (cli_make_folders(request->out))
        return cli_fail(io, "%s: the folder cannot be created: %s", request->out, strerror(errno));
    if (ct_run_folder_open(request->out, "tune", 0, &job->folder, &err) != CT_OK) return cli_fail(io, "%s", err.text);
    hold(job->folder);
    return check_state(io, request, job);
}

void tune_drop_result(const tune_job *job)
{
    remove(job->json);
    remove(job->trajectories);
}

/* ---- end ---- */

ct_status tune_close_folder(tune_job *job, const json_t *summary, ct_err *err)
{
    char *text = cli_check_alloc(json_dumps(summary, JSON_INDENT(1) | JSON_REAL_PRECISION(17)));
    ct_status status = ct_tuning_write(job->tuning, job->result.value, job->best, err);
    job->no_files = rmdir(job->best) == 0; /* it is empty */
    if (status == CT_OK) status = tune_write_trajectories(job, err);
    if (status == CT_OK) status = ct_file_replace(job->json, text, strlen(text), err);
    free(text);
    return status;
}

void tune_folder_free(tune_job *job)
{
    char *const paths[] = {job->best,   job->journal,   job->json,        job->yaml, job->failures,
                           job->report, job->estimates, job->trajectories};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) free(paths[i]);
    tune_history_free(job);
    if (job->folder == held) held = NULL;
    ct_run_folder_free(job->folder); /* unlocks */
}
