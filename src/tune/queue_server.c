/* queue_server.c: a program that stays, and answers runs line by line (docs/tune.md, "The server's protocol").
 *
 * It is below a supervisor as every program, with its stdin and stdout as pipes to this process. It is started by the
 * first run of its slot, and again by the next run after it ended, was stopped or broke the protocol. */
#define _GNU_SOURCE
#include "base/json.h"
#include "tune/queue.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#define LINE_BYTES (1 << 20) /* of an answer */

/* ---- Requests --------------------------------------------------------------------------------- */

static json_t *path_json(const char *here, const char *path)
{
    ct__text text = {0};
    ct__put_path(here, path, &text);
    json_t *value = text.failed ? NULL : json_string(text.bytes);
    ct__text_free(&text);
    return value;
}

/* NULL: no memory, or a path that is not UTF-8. */
static json_t *request_json(const ct__local *q, const ct__run *run)
{
    const ct_tuning    *t = q->tuning;
    const ct__tune_log *log = &t->log[run->log];
    json_t             *root = json_object(), *parameters = json_object();
    json_t             *files = json_object(), *logs = json_object();
    int                 bad = !root || !parameters || !files || !logs;
    for (int32_t i = 0; !bad && i < t->problem.parameters; i++)
        bad = json_object_set_new(parameters, t->parameter[i].name, json_real(run->value[i]));
    for (int32_t i = 0; !bad && i < t->files; i++)
        bad = json_object_set_new(files, t->file[i].name, json_string(run->file[i]));
    for (int32_t i = 0; !bad && i < log->files; i++)
        bad = json_object_set_new(logs, log->file_name[i], path_json(q->here, log->file_path[i]));
    bad = bad || json_object_set_new(root, "id", json_integer(run->number)) ||
          json_object_set(root, "parameters", parameters) || json_object_set(root, "files", files) ||
          json_object_set(root, "log", logs) ||
          (log->truth && json_object_set_new(root, "truth", path_json(q->here, log->truth))) ||
          json_object_set_new(root, "estimate", json_string(run->estimate)) ||
          json_object_set_new(root, "folder", json_string(run->folder)) ||
          json_object_set_new(root, "seed", json_integer(1 + run->repeat % CT_TUNE_SAME_SEED));
    json_decref(parameters);
    json_decref(files);
    json_decref(logs);
    if (!bad) return root;
    json_decref(root);
    return NULL;
}

static ct_status request_line(const ct__local *q, const ct__run *run, ct__text *line, ct_err *err)
{
    json_t *root = request_json(q, run);
    if (!root)
        return ct_fail(err, CT_E_ARGUMENT,
                       "%s: a request to the server cannot be written as JSON: a path is not UTF-8, or no memory",
                       q->tuning->path);
    ct__json_print(line, root, 0);
    ct__text_put(line, "\n");
    json_decref(root);
    return line->failed ? ct__no_memory(err, "requests", 1) : CT_OK;
}

/* Into the server's stdin. 0: it does not read, or is gone. The pipe takes 64 kB at once; a request is a few. */
static int send_line(const ct__child *child, const ct__text *line)
{
    sigset_t pipe_signal, before;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
    int64_t sent = 0;
    int     pending = 0;
    while (sent < line->used) {
        const ssize_t n = write(child->to, line->bytes + sent, (size_t)(line->used - sent));
        if (n < 0 && errno == EINTR) continue;
        pending = n < 0 && errno == EPIPE;
        if (n <= 0) break;
        sent += n;
    }
    if (pending) { /* the signal is taken back, unless the host program had one pending already */
        const struct timespec none = {0};
        if (!sigismember(&before, SIGPIPE)) (void)sigtimedwait(&pipe_signal, NULL, &none);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return sent == line->used;
}

static ct_status start_server(ct__local *q, ct__slot *slot, ct_err *err)
{
    CT_TRY(ct__child_open(&slot->child, 1, err));
    (void)fcntl(slot->child.from, F_SETFL, O_NONBLOCK);
    (void)fcntl(slot->child.to, F_SETFL, O_NONBLOCK);
    slot->line.used = 0;
    slot->answers = 0;
    slot->number = slot->run->number;
    return ct__run_start(q, slot->run, &slot->child, &q->tuning->server, q->program, err);
}

/* The request to the server that runs, or to a new one. One that ran and reads no more has left, too. */
static ct_status hand_over(ct__local *q, ct__slot *slot, const ct__text *line, ct_err *err)
{
    const int ran = slot->child.reaper != 0;
    if (!ran) CT_TRY(start_server(q, slot, err));
    slot->deadline = q->tuning->time_limit_s > 0 ? ct_now_s() + q->tuning->time_limit_s : INFINITY;
    slot->asked = ct_now_s();
    if (send_line(&slot->child, line)) return CT_OK;
    if (ran) {
        ct__child_close(&slot->child);
        return hand_over(q, slot, line, err);
    }
    ct__child_stop(&slot->child); /* its report says more */
    return CT_OK;
}

ct_status ct__server_ask(ct__local *q, ct__slot *slot, ct_err *err)
{
    ct__text line = {0};
    if (ct__child_gone(&slot->child)) ct__child_close(&slot->child); /* after its last answer: no run is to blame */
    ct_status status = request_line(q, slot->run, &line, err);
    if (status == CT_OK) status = hand_over(q, slot, &line, err);
    ct__text_free(&line);
    return status;
}

/* ---- Answers ---------------------------------------------------------------------------------- */

/* Stop the server; its report goes to the run. */
static ct_status stop_server(ct__slot *slot, ct_err *err)
{
    ct__child_stop(&slot->child);
    const ct_status status = ct__child_report(&slot->child, &slot->run->report, err);
    ct__child_close(&slot->child);
    return status;
}

/* The beginning of a line, for messages. */
static const char *excerpt(const char *line, char buf[104])
{
    size_t n = 0;
    for (; line[n] && n < 100; n++) {
        const int plain = (unsigned char)line[n] >= 32 && (unsigned char)line[n] < 127;
        buf[n] = plain ? line[n] : '?';
    }
    strcpy(buf + n, line[n] ? "..." : "");
    return buf;
}

static ct_status broken(ct__slot *slot, const char *line, const char *why, ct_err *err)
{
    char buf[104];
    CT_TRY(stop_server(slot, err));
    slot->run->report.code = 0;
    return ct__outcome_end(&slot->run->outcome, CT_TUNE_CRASHED, err,
                           "the server's answer %s: \"%s\"; an answer is one line {\"id\": %lld, \"ok\": true}, and "
                           "other output goes to stderr", why, excerpt(line, buf), (long long)slot->run->number);
}

/* A whole line of the server. */
static ct_status take_answer(ct__slot *slot, const char *line, int *well, ct_err *err)
{
    ct__run     *run = slot->run;
    json_error_t where;
    json_t      *root = json_loads(line, JSON_DECODE_INT_AS_REAL | JSON_REJECT_DUPLICATES, &where);
    const json_t *id = json_object_get(root, "id"), *ok = json_object_get(root, "ok"),
                 *message = json_object_get(root, "message");
    ct_status status = CT_OK;
    run->outcome.seconds = ct_now_s() - slot->asked;
    if (!root) status = broken(slot, line, "is no JSON", err);
    else if (!json_is_object(root)) status = broken(slot, line, "is no object", err);
    else if (!json_is_number(id)) status = broken(slot, line, "has no number \"id\"", err);
    else if (json_number_value(id) != (double)run->number) status = broken(slot, line, "has another \"id\"", err);
    else if (!json_is_boolean(ok)) status = broken(slot, line, "has no \"ok\" that is true or false", err);
    else if (json_is_true(ok)) *well = 1;
    else
        status = ct__outcome_say(&run->outcome, "the server could not make the estimate: ",
                                 json_is_string(message) ? json_string_value(message) : "it does not say why", err);
    json_decref(root);
    slot->answers++;
    return status;
}

/* The server ended, or closed its stdout. One that answered before, and ends well, may have done so before it saw this
 * run: a new one is asked, *ended <- 0. */
static ct_status take_end(ct__local *q, ct__slot *slot, int *ended, ct_err *err)
{
    ct__run  *run = slot->run;
    ct_status status = CT_OK;
    CT_TRY(ct__child_report(&slot->child, &run->report, err));
    ct__child_close(&slot->child);
    if (run->report.end == CT__CHILD_LOST) ct__folder_end_strays(q, slot->number);
    if (run->report.end == CT__CHILD_ENDED && !run->report.code && slot->answers > 0 && !slot->line.used) {
        *ended = 0;
        ct__report_free(&run->report);
        return ct__server_ask(q, slot, err);
    }
    run->report.seconds = ct_now_s() - slot->asked;
    if (run->report.end == CT__CHILD_STOPPED) {
        run->outcome.seconds = run->report.seconds;
        return ct__outcome_end(&run->outcome, CT_TUNE_CRASHED, err, "the server does not read its stdin");
    }
    if (!ct__outcome_of_report(q->tuning, &run->report, "the server", q->program ? q->program : "the server",
                               &run->outcome, &status, err))
        return status;
    return ct__outcome_end(&run->outcome, CT_TUNE_CRASHED, err,
                           "the server ended before it answered, with exit code 0");
}

/* Read what the server wrote; 0: it has closed its stdout. */
static int read_more(ct__slot *slot)
{
    char buf[4096];
    for (;;) {
        const ssize_t n = read(slot->child.from, buf, sizeof buf);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return 1;
        if (n == 0) return 0;
        ct__text_bytes(&slot->line, buf, (size_t)n);
        if (memchr(buf, '\n', (size_t)n) || slot->line.used > LINE_BYTES) return 1;
    }
}

ct_status ct__server_hear(ct__local *q, ct__slot *slot, int *ended, int *well, ct_err *err)
{
    struct pollfd report = {slot->child.socket, POLLIN, 0};
    const int     gone = poll(&report, 1, 0) > 0; /* asked before reading: what it wrote is all there then */
    const int     open = read_more(slot);
    char         *end = slot->line.used ? memchr(slot->line.bytes, '\n', (size_t)slot->line.used) : NULL;
    *ended = *well = 0;
    if (slot->line.failed) return ct__no_memory(err, "answers of the server", 1);
    if (end) {
        const int64_t rest = slot->line.used - (end + 1 - slot->line.bytes);
        *ended = 1;
        *end = 0;
        if (rest) { /* before the next request */
            *end = ' ';
            return broken(slot, slot->line.bytes, "has more than one line", err);
        }
        slot->line.used = 0;
        return take_answer(slot, slot->line.bytes, well, err);
    }
    if (slot->line.used > LINE_BYTES) {
        *ended = 1;
        return broken(slot, slot->line.bytes, "has no end", err);
    }
    if (gone || (!open && poll(&report, 1, 1000) > 0)) { /* a program that closes its stdout usually ends */
        *ended = 1;
        return take_end(q, slot, ended, err);
    }
    if (open) return CT_OK;
    *ended = 1;
    CT_TRY(stop_server(slot, err));
    return ct__outcome_end(&slot->run->outcome, CT_TUNE_CRASHED, err,
                           "the server closed its stdout before it answered");
}

/* What is wrong with a server that never answered: half of a line, or nothing. */
static ct_status say_unheard(const ct__slot *slot, ct_tune_outcome *outcome, ct_err *err)
{
    char  buf[104];
    char *late = outcome->message;
    outcome->message = NULL;
    const ct_status status =
        slot->line.used
            ? ct__outcome_end(outcome, CT_TUNE_TIME, err, "%s; it wrote \"%s\", and no end of line", late,
                              excerpt(slot->line.bytes, buf))
            : ct__outcome_end(outcome, CT_TUNE_TIME, err,
                              "%s; it never answered: does it flush its output after each line?", late);
    free(late);
    return status;
}

ct_status ct__server_late(ct__local *q, ct__slot *slot, ct_err *err)
{
    ct_tune_outcome *outcome = &slot->run->outcome;
    ct_status        status = CT_OK;
    CT_TRY(stop_server(slot, err));
    slot->run->report.end = CT__CHILD_TIME;
    slot->run->report.seconds = ct_now_s() - slot->asked;
    (void)ct__outcome_of_report(q->tuning, &slot->run->report, "the server", "", outcome, &status, err);
    return status == CT_OK && !slot->answers ? say_unheard(slot, outcome, err) : status;
}
