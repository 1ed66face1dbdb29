/* run_files.c: writes the files of a run. read_run.c reads them.
 *
 *   config.yaml   all options, resolved            start.json     the noise models before learning
 *   noise.json    the best so far, then the result history.jsonl  one line per evaluation
 *   checkpoint    the state that --resume needs    summary.json   what --json prints
 *   report.html   written by covtune report
 *
 * Files are replaced whole; only the history grows. A new run replaces all files in one step (ct_run_folder_commit). A
 * resumed run replays its evaluations from the checkpoint and produces the lines of the history again. No byte of the
 * history and of noise.json depends on time, threads or interruptions. */
#define _POSIX_C_SOURCE 200809L
#include "cli/learn/learn.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- files ---- */

static ct_status failed(const char *path, ct_err *err)
{
    return ct_fail(err, CT_E_IO, "%s: cannot be written: %s", path, strerror(errno));
}

/* Reads the existing lines. */
static ct_status open_lines(learn_lines *l, const char *path, ct_err *err)
{
    struct stat entry;
    l->file = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (l->file < 0 || fstat(l->file, &entry)) return failed(path, err);
    if (!S_ISREG(entry.st_mode)) return ct_fail(err, CT_E_IO, "%s: is not a regular file; remove it", path);
    l->known = cli_alloc(entry.st_size + 1, 1);
    for (ssize_t n = 1; n > 0; l->length += (size_t)n) {
        n = read(l->file, l->known + l->length, (size_t)entry.st_size - l->length);
        if (n < 0) return ct_fail(err, CT_E_IO, "%s: cannot be read: %s", path, strerror(errno));
    }
    return CT_OK;
}

/* Cuts the file after the last line that was put. */
static ct_status end_lines(learn_lines *l, const char *path, ct_err *err)
{
    free(l->known);
    l->known = NULL;
    return ftruncate(l->file, l->at) ? failed(path, err) : CT_OK;
}

static ct_status put_line(learn_lines *l, const char *line, size_t length, const char *path, ct_err *err)
{
    const size_t at = (size_t)l->at;
    if (l->known && at + length <= l->length && !memcmp(l->known + at, line, length)) {
        l->at += (off_t)length;
        return CT_OK;
    }
    ct_status status = l->known ? end_lines(l, path, err) : CT_OK;
    for (size_t done = 0; status == CT_OK && done < length;) {
        const ssize_t n = pwrite(l->file, line + done, length - done, l->at);
        if (n <= 0) return failed(path, err);
        done += (size_t)n;
        l->at += n;
    }
    return status;
}

/* ---- start ---- */

static ct_status write_noise(const learn_job *job, const ct_noise *noise, const ct_learn_result *result, int finished,
                             const char *path, ct_err *err)
{
    const ct_learn_origin origin = {
        .command = job->command, .dataset = job->dataset->path, .digest = job->digest, .finished = finished};
    return ct_learn_write_noise(job->theta, noise, job->start, result, &origin, path, err);
}

/* Opens the checkpoint. The error for one of another run names the command that continues that run. */
static ct_status open_checkpoint(const learn_request *request, learn_job *job, ct_err *err)
{
    learn_folder   *f = &job->folder;
    ct_err          inner = {0};
    const ct_status status =
        ct_checkpoint_open(f->checkpoint, 1, job->digest, request->checkpoint_s, &job->checkpoint, &inner);
    if (status == CT_E_ARGUMENT)
        return ct_fail(err, status, "%s; to continue that run: covtune learn %s --out %s "
                                    "--resume", inner.text, f->config,
                       request->out);
    if (status != CT_OK) return ct_fail(err, status, "%s", inner.text);
    return CT_OK;
}

/* Writes the first files of a run: what --resume needs, and a noise.json that exists from the start. */
static ct_status stage(learn_job *job, ct_err *err)
{
    const char *to = ct_run_folder_staged(job->folder.run);
    char       *config = cli_path_join(to, "config.yaml"), *start = cli_path_join(to, "start.json");
    char       *noise = cli_path_join(to, "noise.json"), *history = cli_path_join(to, "history.jsonl");
    char       *checkpoint = cli_path_join(to, "checkpoint");
    ct_checkpoint  *empty = NULL;
    ct_status   status = ct_file_replace(config, job->config, strlen(job->config), err);
    if (status == CT_OK) status = write_noise(job, job->start, NULL, 0, start, err);
    if (status == CT_OK) status = write_noise(job, job->start, NULL, 0, noise, err);
    if (status == CT_OK) status = ct_file_replace(history, "", 0, err);
    if (status == CT_OK) status = ct_checkpoint_open(checkpoint, 0, job->digest, 0, &empty, err);
    ct_checkpoint_free(empty);
    char *const paths[] = {config, start, noise, history, checkpoint};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) free(paths[i]);
    return status;
}

/* Starts a new run in place of an old one, whose summary is removed, and its report if covtune wrote it. */
static ct_status begin(learn_job *job, ct_err *err)
{
    learn_folder     *f = &job->folder;
    const char *const removed[] = {"summary.json", learn_is_report(f->report) ? "report.html" : NULL, NULL};
    ct_status         status = ct_run_folder_begin(f->run, job->digest, err);
    if (status == CT_OK) status = stage(job, err);
    if (status == CT_OK) status = ct_run_folder_commit(f->run, removed, err);
    return status;
}

/* Adds covtune-run.json to a run folder of an older version. start.json is written again: it may belong to a run that
 * was being replaced when it was killed. */
static ct_status adopt(learn_job *job, ct_err *err)
{
    learn_folder     *f = &job->folder;
    const char *const none[] = {NULL};
    ct_status         status = ct_run_folder_begin(f->run, job->digest, err);
    char             *start = status == CT_OK ? cli_path_join(ct_run_folder_staged(f->run), "start.json") : NULL;
    if (status == CT_OK) status = write_noise(job, job->start, NULL, 0, start, err);
    if (status == CT_OK) status = ct_run_folder_commit(f->run, none, err);
    free(start);
    return status;
}

/* Is noise.json the final result? Then the replay does not overwrite it. */
static int is_answered(const char *path)
{
    json_t   *root = cli_load_json(path, NULL);
    const int finished = json_is_true(json_object_get(json_object_get(root, "provenance"), "finished"));
    json_decref(root);
    return finished;
}

static ct_status resume(const learn_request *request, learn_job *job, ct_err *err)
{
    learn_folder *f = &job->folder;
    ct_status     status = open_checkpoint(request, job, err); /* before any file is changed */
    if (status == CT_OK && !f->adopted && ct_run_folder_get(f->run)->key != job->digest)
        status = ct_fail(err, CT_E_ARGUMENT,
                         "%s: its run was made from other data or with other options; to continue that run: "
                         "covtune learn %s --out %s --resume",
                         request->out, f->config, request->out);
    if (status == CT_OK && f->adopted) status = adopt(job, err);
    if (status == CT_OK) status = ct_file_replace(f->config, job->config, strlen(job->config), err);
    if (status == CT_OK && !learn_exists(f->start)) status = write_noise(job, job->start, NULL, 0, f->start, err);
    if (status == CT_OK && !learn_exists(f->noise)) status = write_noise(job, job->start, NULL, 0, f->noise, err);
    f->answered = is_answered(f->noise);
    return status;
}

ct_status learn_open(const learn_request *request, learn_job *job, ct_err *err)
{
    learn_folder *f = &job->folder;
    f->best = INFINITY;
    f->written_s = ct_now_s();
    ct_status status = f->resumed ? resume(request, job, err) : begin(job, err);
    if (status == CT_OK && !f->resumed) status = open_checkpoint(request, job, err);
    if (status == CT_OK) status = ct_noise_copy(job->start, &f->table, err);
    return status == CT_OK ? open_lines(&f->lines, f->history, err) : status;
}

/* ---- progress ---- */

/* The key of a parameter is its name, of any length. If two names are equal (a model may be called "odom.x"), the later
 * one gets its number as a suffix. The caller frees it. */
static char *key_of(const ct_theta *theta, int32_t i, const json_t *taken)
{
    size_t size = 512;
    char  *name = cli_alloc((int64_t)size, 1);
    while (strlen(ct_theta_name(theta, i, name, size)) + 1 >= size) { /* the name may be truncated */
        free(name);
        size *= 2;
        name = cli_alloc((int64_t)size, 1);
    }
    const size_t length = strlen(name);
    if (json_object_get(taken, name)) {
        name = cli_check_alloc(realloc(name, length + 16));
        snprintf(name + length, 16, "/%d", i);
    }
    return name;
}

/* Variances by parameter name, in the table's numbers; the first row's for an isotropic model, covariances off the
 * diagonal of a full one. */
static json_t *variances(const ct_theta *theta, const double *p)
{
    const int32_t m = ct_theta_count(theta);
    double       *q = cli_alloc(m, sizeof *q);
    json_t       *o = cli_object();
    ct_theta_convert(theta, CT_SPACE_LOG, p, q);
    for (int32_t i = 0; i < m; i++) {
        char *name = key_of(theta, i, o);
        const double variance = ct_theta_is_scale(theta, i) ? q[i] : q[i] / sqrt(2);
        cli_put(o, name, cli_number(variance * ct_theta_unit_squared(theta, i)));
        free(name);
    }
    free(q);
    return o;
}

static ct_status write_history(learn_job *job, const ct_learn_progress *p, ct_err *err)
{
    json_t *o = cli_object();
    cli_put(o, "phase", cli_text(ct_learn_phase_name(p->phase)));
    cli_put(o, "iteration", cli_integer(p->iteration));
    cli_put(o, "train", cli_number(p->train));
    cli_put(o, "heldout", cli_number(p->heldout));
    cli_put(o, "spread", cli_number(p->spread));
    cli_put(o, "variances", variances(job->theta, p->p));
    char        *line = cli_check_alloc(json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(17)));
    const size_t n = strlen(line);
    line[n] = '\n'; /* replaces the terminating zero */
    const ct_status status = put_line(&job->folder.lines, line, n + 1, job->folder.history, err);
    json_decref(o);
    free(line);
    return status;
}

/* Results of folds are not used: they are learned from a part of the sequences. */
static ct_status keep_best(const learn_request *request, learn_job *job, const ct_learn_progress *p, ct_err *err)
{
    learn_folder *f = &job->folder;
    if (p->phase != CT_LEARN_PHASE_FOLDS && p->train < f->best) {
        const ct_status status = ct_theta_apply(job->theta, p->p, f->table, err);
        if (status != CT_OK) return status;
        f->best = p->train;
    }
    if (f->answered || ct_checkpoint_replays(job->checkpoint)) return CT_OK; /* the file is at least as good */
    if (isinf(f->best) || ct_now_s() < f->written_s + request->checkpoint_s) return CT_OK;
    f->written_s = ct_now_s();
    return write_noise(job, f->table, NULL, 0, f->noise, err);
}

int learn_record(const learn_request *request, learn_job *job, const ct_learn_progress *progress)
{
    learn_folder *f = &job->folder;
    if (f->status == CT_OK) f->status = write_history(job, progress, &f->err);
    if (f->status == CT_OK) f->status = keep_best(request, job, progress, &f->err);
    return f->status != CT_OK;
}

/* ---- end ---- */

ct_status learn_close(learn_job *job, const json_t *summary, ct_err *err)
{
    learn_folder *f = &job->folder;
    const int     cancelled = job->result.stop == CT_LEARN_STOP_CANCELLED;
    if (cancelled && (f->answered || ct_checkpoint_replays(job->checkpoint)))
        return CT_OK; /* stopped during the replay: the files are more recent */
    char     *text = cli_check_alloc(json_dumps(summary, JSON_INDENT(1) | JSON_REAL_PRECISION(17)));
    ct_status status = write_noise(job, job->dataset->noise, &job->result, !cancelled, f->noise, err);
    if (status == CT_OK) status = ct_checkpoint_write(job->checkpoint, err);
    if (status == CT_OK) status = end_lines(&f->lines, f->history, err);
    if (status == CT_OK) status = ct_file_replace(f->summary, text, strlen(text), err);
    free(text);
    return status;
}

void learn_folder_free(learn_folder *f)
{
    char *const paths[] = {f->noise, f->start, f->history, f->config, f->checkpoint, f->summary, f->report};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) free(paths[i]);
    ct_noise_free(f->table);
    if (f->run && f->lines.file >= 0) close(f->lines.file);
    free(f->lines.known);
    learn_close_folder(f); /* unlocks, so it is last */
}
