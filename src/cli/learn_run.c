/* learn_run.c: the folder of a run.
 *
 *   config.yaml    what was asked for, resolved           start.json    the noise models before
 *   noise.json     the best so far, at the end the answer  history.jsonl a line an evaluation
 *   checkpoint     what a killed run is resumed from       summary.json  what --json prints
 *   report.html    what covtune report makes of it all
 *
 * Files are replaced whole, but for the history, which grows. A resumed run lives through all its evaluations again, those that it knows in no time, and so
 * writes its history from the beginning on; nothing in it, or in noise.json, depends on time, threads or interruptions. */
#define _POSIX_C_SOURCE 200809L
#include "learn.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- files ---- */

static ct_status failed(const char *path, ct_err *err) { return ct_fail(err, CT_E_IO, "%s: cannot be written: %s", path, strerror(errno)); }

/* ---- the place ---- */

static int exists(const char *path)
{
    struct stat entry;
    return stat(path, &entry) == 0;
}

/* A file of a run that was killed before it was put in place. */
static int is_litter(const char *name)
{
    static const char *const OURS[] = {"noise.json.", "start.json.", "checkpoint.", "config.yaml.", "summary.json.", "report.html."};
    const char              *end = strrchr(name, '.');
    for (size_t i = 0; end && i < sizeof OURS / sizeof *OURS; i++)
        if (!strncmp(name, OURS[i], strlen(OURS[i]))) return !strcmp(end, ".tmp") || !strcmp(end, ".new");
    return 0;
}

/* Things in the folder, litter apart; -1 if it cannot be looked into. */
static int count_entries(const char *path)
{
    DIR *folder = opendir(path);
    int  n = 0;
    if (!folder) return -1;
    for (const struct dirent *entry; (entry = readdir(folder));) n += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") && !is_litter(entry->d_name);
    closedir(folder);
    return n;
}

static void name_files(const char *out, learn_folder *f)
{
    f->noise = cli_inside(out, "noise.json");
    f->start = cli_inside(out, "start.json");
    f->history = cli_inside(out, "history.jsonl");
    f->config = cli_inside(out, "config.yaml");
    f->checkpoint = cli_inside(out, "checkpoint");
    f->summary = cli_inside(out, "summary.json");
    f->report = cli_inside(out, "report.html");
}

cli_exit learn_place(const cli_io *io, const learn_request *request, learn_job *job)
{
    learn_folder *f = &job->folder;
    const char   *out = request->out;
    const int     there = exists(out), entries = there ? count_entries(out) : 0;
    name_files(out, f);
    if (entries < 0) return cli_fail(io, "%s: cannot be the folder of a run: %s", out, strerror(errno));
    const int is_run = entries && (exists(f->config) || exists(f->checkpoint));
    if (entries && !is_run) return cli_fail(io, "%s: is a folder with other things in it; choose a new one for --out", out);
    if (is_run && !request->resume && !request->force)
        return cli_fail(io, "%s: there is a run in it: --resume goes on with it, --force replaces it, another --out leaves it", out);
    f->resumed = is_run && request->resume;
    if (request->resume && !is_run) cli_remark(io, "%s: there is no run to resume; a new one begins", out);
    if (cli_make_folders(out)) return cli_fail(io, "%s: the folder cannot be made: %s", out, strerror(errno));
    return CLI_GO;
}

/* ---- the beginning ---- */

static ct_status write_noise(const learn_job *job, const ct_noise *noise, const ct_learn_result *result, int finished, const char *path, ct_err *err)
{
    const ct_learn_origin origin = {.command = job->command, .dataset = job->dataset->path, .digest = job->digest, .finished = finished};
    return ct_learn_write_noise(job->theta, noise, job->start, result, &origin, path, err);
}

static ct_status open_ledger(const learn_request *request, learn_job *job, ct_err *err)
{
    learn_folder   *f = &job->folder;
    ct_err          inner = {0};
    const ct_status status = ct_ledger_open(f->checkpoint, f->resumed, job->digest, request->checkpoint_s, &job->ledger, &inner);
    if (status == CT_E_ARGUMENT && exists(f->config)) return ct_fail(err, status, "%s; covtune learn %s --out %s --resume has them", inner.text, f->config, request->out);
    if (status != CT_OK) return ct_fail(err, status, "%s", inner.text);
    return CT_OK;
}

/* What runs that were killed had begun to write. */
static void remove_litter(const char *out)
{
    DIR *folder = opendir(out);
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        if (!is_litter(entry->d_name)) continue;
        char *path = cli_inside(out, entry->d_name);
        unlink(path);
        free(path);
    }
    if (folder) closedir(folder);
}

/* Of a run that is replaced nothing stays. */
static void remove_old(const learn_folder *f)
{
    const char *const old[] = {f->checkpoint, f->noise, f->history, f->summary, f->start, f->config, f->report};
    for (size_t i = 0; i < sizeof old / sizeof *old; i++) unlink(old[i]);
}

ct_status learn_open(const learn_request *request, learn_job *job, ct_err *err)
{
    learn_folder *f = &job->folder;
    f->best = INFINITY;
    f->written_s = ct_now_s();
    ct_status status = open_ledger(request, job, err); /* before anything is touched */
    if (status != CT_OK) return status;
    remove_litter(request->out);
    if (!f->resumed) remove_old(f);
    status = cli_replace(f->config, job->config, err);
    if (status == CT_OK) status = ct_noise_copy(job->start, &f->table, err);
    if (status == CT_OK && !(f->resumed && exists(f->start))) status = write_noise(job, job->start, NULL, 0, f->start, err);
    if (status == CT_OK && !(f->resumed && exists(f->noise))) status = write_noise(job, job->start, NULL, 0, f->noise, err);
    if (status != CT_OK) return status;
    f->stream = fopen(f->history, "w");
    return f->stream ? CT_OK : failed(f->history, err);
}

/* ---- on the way ---- */

/* Keys are names of parameters, whatever their length, as names of models and ties go into them. Two that are the same
 * ("odom.x" is also what a model may be called) would be one key: the later one has the parameter's number behind it.
 * The caller frees it. */
static char *key_of(const ct_theta *theta, int32_t i, const json_t *taken)
{
    size_t size = 512;
    char  *name = cli_alloc((int64_t)size, 1);
    while (strlen(ct_theta_name(theta, i, name, size)) + 1 >= size) { /* it may have been cut */
        free(name);
        size *= 2;
        name = cli_alloc((int64_t)size, 1);
    }
    const size_t length = strlen(name);
    if (json_object_get(taken, name)) {
        name = cli_need(realloc(name, length + 16));
        snprintf(name + length, 16, "/%d", i);
    }
    return name;
}

/* Variances by the parameters' names, in the table's numbers (of an isotropic model those of its first row); off the diagonal of full covariances the covariances. */
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

static ct_status write_history(const learn_job *job, const ct_learn_progress *p, ct_err *err)
{
    json_t *o = cli_object();
    cli_put(o, "phase", cli_text(p->phase));
    cli_put(o, "iteration", cli_integer(p->iteration));
    cli_put(o, "train", cli_number(p->train));
    cli_put(o, "heldout", cli_number(p->heldout));
    cli_put(o, "spread", cli_number(p->spread));
    cli_put(o, "variances", variances(job->theta, p->p));
    FILE     *stream = job->folder.stream;
    const int ok = json_dumpf(o, stream, JSON_COMPACT | JSON_REAL_PRECISION(17)) == 0 && putc('\n', stream) != EOF && fflush(stream) == 0;
    json_decref(o);
    return ok ? CT_OK : failed(job->folder.history, err);
}

/* What folds learn is not for use: they see part of the runs. */
static ct_status keep_best(const learn_request *request, learn_job *job, const ct_learn_progress *p, ct_err *err)
{
    learn_folder *f = &job->folder;
    if (strcmp(p->phase, "folds") && p->train < f->best) {
        const ct_status status = ct_theta_put(job->theta, p->p, f->table, err);
        if (status != CT_OK) return status;
        f->best = p->train;
    }
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

/* ---- the end ---- */

ct_status learn_close(const learn_job *job, const json_t *summary, ct_err *err)
{
    const learn_folder *f = &job->folder;
    char               *text = cli_need(json_dumps(summary, JSON_INDENT(1) | JSON_REAL_PRECISION(17)));
    ct_status           status = write_noise(job, job->dataset->noise, &job->result, job->result.stop != CT_LEARN_STOP_CANCELLED, f->noise, err);
    if (status == CT_OK) status = ct_ledger_write(job->ledger, err);
    if (status == CT_OK) status = cli_replace(f->summary, text, err);
    free(text);
    return status;
}

void learn_folder_free(learn_folder *f)
{
    char *const paths[] = {f->noise, f->start, f->history, f->config, f->checkpoint, f->summary, f->report};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) free(paths[i]);
    ct_noise_free(f->table);
    if (f->stream) fclose(f->stream);
}
