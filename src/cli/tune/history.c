/* history.c: history.csv, a line for every run of the estimator as it ends, and an example of each kind of failure.
 *
 * A resumed run writes the file anew: completed runs come from the journal first. Their lines are kept until the first
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

static ct_status failed(const tune_job *job, ct_err *err)
{
    return ct_fail(err, CT_E_IO, "%s: cannot be written: %s", job->history, strerror(errno));
}

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
    cli_buffer_printf(&job->text, "run,phase,log,part,repeat,end,code,seconds,poses,lost,loss,translation,rotation,"
                                  "rpe_translation,rpe_rotation,nees");
    for (int32_t i = 0; i < p->parameters; i++) {
        cli_buffer_put(&job->text, ",", 1);
        put_name(&job->text, p->parameter[i].name);
    }
    cli_buffer_put(&job->text, "\n", 1);
}

/* The lines so far go to the file: the first time in its place, then at its end. */
static ct_status flush(tune_job *job, ct_err *err)
{
    if (!job->lines) {
        const ct_status status = ct_file_replace(job->history, cli_buffer_text(&job->text), job->text.used, err);
        if (status != CT_OK) return status;
        if (!(job->lines = cli_open(job->history, "ab"))) return failed(job, err);
    } else if (fwrite(job->text.text, 1, job->text.used, job->lines) != job->text.used || fflush(job->lines))
        return failed(job, err);
    job->text.used = 0;
    return CT_OK;
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

void tune_history_add(tune_job *job, const ct_tune_progress *progress)
{
    const ct_tune_request *q = progress->request;
    const ct_tune_outcome *o = progress->outcome;
    const ct_tune_log *log = &job->problem->log[q->log];
    cli_buffer *out = &job->text;
    keep_failure(job, q, o);
    if (job->status != CT_OK) return;
    cli_buffer_printf(out, "%lld,%s,", (long long)++job->line, progress->phase);
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
    if (!o->cached && !job->lines) tune_drop_result(job);
    if (!o->cached || job->lines) job->status = flush(job, &job->err);
}

ct_status tune_history_close(tune_job *job, ct_err *err)
{
    const ct_status status = job->lines ? CT_OK : flush(job, err);
    FILE *lines = job->lines;
    job->lines = NULL;
    free(job->text.text);
    job->text = (cli_buffer){0};
    return (lines && fclose(lines)) && status == CT_OK ? failed(job, err) : status;
}
