/* history.c: a line for every run of the estimator as it ends, in history.csv and, with what failed runs said, in
 * history.jsonl; an example of each kind of failure.
 *
 * A resumed run writes the files anew: completed runs come from the journal first. Their lines are kept until the first
 * run that is not from there; then they replace the file, and further lines are appended. */
#define _POSIX_C_SOURCE 200809L
#include "cli/tune/tune.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double tune_loss(const ct_tune_outcome *o)
{
    double sum = 0;
    if (!o->residual || o->rows < 1) return NAN;
    for (int64_t i = 0; i < o->rows; i++) sum += o->residual[i] * o->residual[i];
    return sum / 2 / (double)o->rows;
}

const char *tune_failures_text(const int64_t failed[CT_TUNE_END_COUNT], char *buf, size_t size)
{
    size_t used = 0;
    buf[0] = 0;
    for (int k = 0; k < CT_TUNE_END_COUNT; k++)
        if (k != CT_TUNE_DONE && failed[k] && used < size)
            used += (size_t)snprintf(buf + used, size - used, "%s%lld %s", used ? ", " : "", (long long)failed[k],
                                     ct_tune_end_name((ct_tune_end)k));
    return buf;
}

/* ---- Lines of both files ---------------------------------------------------------------------- */

static ct_status failed(const tune_lines *lines, ct_err *err)
{
    return ct_fail(err, CT_E_IO, "%s: cannot be written: %s", lines->path, strerror(errno));
}

/* The lines so far go to the file: the first time in its place, then at its end. */
static ct_status flush(tune_lines *lines, ct_err *err)
{
    if (!lines->file) {
        const ct_status status = ct_file_replace(lines->path, cli_buffer_text(&lines->text), lines->text.used, err);
        if (status != CT_OK) return status;
        if (!(lines->file = cli_open(lines->path, "ab"))) return failed(lines, err);
    } else if (fwrite(lines->text.text, 1, lines->text.used, lines->file) != lines->text.used || fflush(lines->file))
        return failed(lines, err);
    lines->text.used = 0;
    return CT_OK;
}

static ct_status close_lines(tune_lines *lines, ct_err *err)
{
    const ct_status status = lines->file ? CT_OK : flush(lines, err);
    FILE *file = lines->file;
    lines->file = NULL;
    free(lines->text.text);
    lines->text = (cli_buffer){0};
    return (file && fclose(file)) && status == CT_OK ? failed(lines, err) : status;
}

/* ---- A line ----------------------------------------------------------------------------------- */

/* A name as a cell: quoted where it has a comma, a quote or a line break. */
static void put_name(cli_buffer *out, const char *name)
{
    const int quoted = strpbrk(name, ",\"\r\n") != NULL;
    if (quoted) cli_buffer_put(out, "\"", 1);
    for (; *name; name++) {
        if (*name == '"') cli_buffer_put(out, "\"", 1);
        cli_buffer_put(out, name, 1);
    }
    if (quoted) cli_buffer_put(out, "\"", 1);
}

/* Numbers that are not known are empty cells. */
static void put_number(cli_buffer *out, double value)
{
    cli_buffer_put(out, ",", 1);
    if (isfinite(value)) cli_buffer_printf(out, "%.17g", value);
}

void tune_history_open(tune_job *job)
{
    const ct_tune_problem *p = job->problem;
    cli_buffer_printf(&job->csv.text, "run,phase,log,part,repeat,end,code,seconds,poses,lost,loss,translation,rotation,"
                                  "rpe_translation,rpe_rotation,nees");
    for (int32_t i = 0; i < p->parameters; i++) {
        cli_buffer_put(&job->csv.text, ",", 1);
        put_name(&job->csv.text, p->parameter[i].name);
    }
    cli_buffer_put(&job->csv.text, "\n", 1);
}

static void keep_failure(tune_job *job, const ct_tune_request *request, const ct_tune_outcome *o)
{
    tune_failure *f = &job->failure[o->end];
    const size_t size = (size_t)job->problem->parameters * sizeof *f->value;
    if (o->end == CT_TUNE_DONE) return;
    free(f->message);
    f->message = o->message ? cli_check_alloc(strdup(o->message)) : NULL;
    if (!f->value) f->value = cli_alloc(job->problem->parameters, sizeof *f->value);
    memcpy(f->value, request->value, size);
    f->log = request->log;
    f->code = o->code;
}

static void add_csv(tune_job *job, const ct_tune_progress *progress)
{
    const ct_tune_request *q = progress->request;
    const ct_tune_outcome *o = progress->outcome;
    const ct_tune_log *log = &job->problem->log[q->log];
    cli_buffer *out = &job->csv.text;
    cli_buffer_printf(out, "%lld,%s,", (long long)job->line, progress->phase);
    put_name(out, log->name);
    cli_buffer_printf(out, ",%s,%d,%s,%d", log->test ? "test" : "train", q->repeat, ct_tune_end_name(o->end), o->code);
    put_number(out, o->seconds);
    cli_buffer_printf(out, ",%lld,%lld", (long long)o->poses, (long long)o->lost);
    put_number(out, tune_loss(o));
    put_number(out, o->translation);
    put_number(out, o->rotation);
    put_number(out, o->rpe_translation);
    put_number(out, o->rpe_rotation);
    put_number(out, o->nees);
    for (int32_t i = 0; i < job->problem->parameters; i++) put_number(out, q->value[i]);
    cli_buffer_put(out, "\n", 1);
}

/* The columns of history.csv as keys, null for what is not known; parameters and the message of a failure besides. */
static void add_jsonl(tune_job *job, const ct_tune_progress *progress)
{
    const ct_tune_request *q = progress->request;
    const ct_tune_outcome *o = progress->outcome;
    const ct_tune_log *log = &job->problem->log[q->log];
    json_t *line = cli_object(), *parameters = cli_object();
    cli_put(line, "run", cli_integer(job->line));
    cli_put(line, "phase", cli_text(progress->phase));
    cli_put(line, "log", cli_text(log->name));
    cli_put(line, "part", cli_text(log->test ? "test" : "train"));
    cli_put(line, "repeat", cli_integer(q->repeat));
    cli_put(line, "end", cli_text(ct_tune_end_name(o->end)));
    cli_put(line, "code", cli_integer(o->code));
    cli_put(line, "seconds", cli_number(o->seconds));
    cli_put(line, "poses", cli_integer(o->poses));
    cli_put(line, "lost", cli_integer(o->lost));
    cli_put(line, "loss", cli_number(tune_loss(o)));
    cli_put(line, "translation", cli_number(o->translation));
    cli_put(line, "rotation", cli_number(o->rotation));
    cli_put(line, "rpe_translation", cli_number(o->rpe_translation));
    cli_put(line, "rpe_rotation", cli_number(o->rpe_rotation));
    cli_put(line, "nees", cli_number(o->nees));
    for (int32_t i = 0; i < job->problem->parameters; i++)
        cli_put(parameters, job->problem->parameter[i].name, cli_number(q->value[i]));
    cli_put(line, "parameters", parameters);
    if (o->end != CT_TUNE_DONE) cli_put(line, "message", cli_text(o->message));
    char *text = cli_check_alloc(json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(17)));
    cli_buffer_put(&job->jsonl.text, text, strlen(text));
    cli_buffer_put(&job->jsonl.text, "\n", 1);
    free(text);
    json_decref(line);
}

void tune_history_add(tune_job *job, const ct_tune_progress *progress)
{
    const ct_tune_outcome *o = progress->outcome;
    keep_failure(job, progress->request, o);
    if (job->status != CT_OK) return;
    job->line++;
    add_csv(job, progress);
    add_jsonl(job, progress);
    if (!o->cached && !job->csv.file) tune_drop_result(job);
    if (o->cached && !job->csv.file) return;
    job->status = flush(&job->csv, &job->err);
    if (job->status == CT_OK) job->status = flush(&job->jsonl, &job->err);
}

ct_status tune_history_close(tune_job *job, ct_err *err)
{
    const ct_status status = close_lines(&job->csv, err);
    return status == CT_OK ? close_lines(&job->jsonl, err) : status;
}

void tune_history_free(tune_job *job)
{
    tune_lines *const both[] = {&job->csv, &job->jsonl};
    for (int k = 0; k < 2; k++) {
        if (both[k]->file) fclose(both[k]->file);
        free(both[k]->text.text);
        free(both[k]->path);
    }
}
