/* queue_serve.c: another rank than 0 runs the estimator for the queue of rank 0; see queue.h. */
#define _GNU_SOURCE
#include "tune/queue.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define FAILURE_BYTES (INT64_C(16) << 20) /* of files that a failed run left: enough to see why */
#define DEPTH         8                   /* of folders in a run's                              */
#define WAIT_S        0.5                 /* between looks for an interrupt                     */

/* ---- Files of a run --------------------------------------------------------------------------- */

static ct_status add_file(ct__text *out, const char *path, const char *name, int64_t size, ct_err *err)
{
    char      buf[65536];
    int64_t   left = size;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return CT_OK; /* the program keeps it to itself: rank 0 says that it is not there */
    ct__text_bytes(out, name, strlen(name) + 1);
    ct__text_bytes(out, (const char *)&size, sizeof size);
    while (left > 0) {
        const ssize_t n = read(file, buf, CT_MIN(sizeof buf, (size_t)left));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        ct__text_bytes(out, buf, (size_t)n);
        left -= n;
    }
    close(file);
    if (left) return ct_fail(err, CT_E_IO, "%s: cannot be read: %s", path, strerror(errno));
    return out->failed ? ct__no_memory(err, "bytes of an estimate", size) : CT_OK;
}

/* The file, or the files of the folder, at folder/name. most: bytes of all; larger files are left out. */
static ct_status add_tree(ct__text *out, const char *folder, const char *name, int64_t most, int depth, ct_err *err)
{
    struct stat entry;
    char       *path = ct__join_path(folder, name);
    ct_status   status = path ? CT_OK : ct__no_memory(err, "file names", 1);
    if (status == CT_OK && stat(path, &entry) == 0) {
        DIR *entries = S_ISDIR(entry.st_mode) && depth < DEPTH ? opendir(path) : NULL;
        if (S_ISREG(entry.st_mode) && out->used + entry.st_size <= most)
            status = add_file(out, path, name, entry.st_size, err);
        for (const struct dirent *e; entries && status == CT_OK && (e = readdir(entries));) {
            if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..")) continue;
            char *inside = name[0] ? ct__join_path(name, e->d_name) : ct__strdup(e->d_name);
            status = inside ? add_tree(out, folder, inside, most, depth + 1, err) : ct__no_memory(err, "file names", 1);
            free(inside);
        }
        if (entries) closedir(entries);
    }
    free(path);
    return status;
}

/* ---- Messages --------------------------------------------------------------------------------- */

static ct_status send(const ct__local *q, ct__message_kind kind, int64_t number, ct_err *err)
{
    const ct__message head = {.kind = (int32_t)kind, .number = number};
    return q->comm->send(q->comm->user, 0, &head, sizeof head, err);
}

static ct_status put_answer(const ct__run *run, ct__stage stage, const ct__text *files, ct__text *out, ct_err *err)
{
    const ct__report *r = &run->report;
    const char       *message = run->outcome.message;
    const ct__message head = {.kind = CT__MESSAGE_ANSWER,
                              .number = run->number,
                              .stage = (int32_t)stage,
                              .end = (int32_t)run->outcome.end,
                              .code = run->outcome.code,
                              .seconds = run->outcome.seconds,
                              .message = message ? (int64_t)strlen(message) : 0,
                              .files = files->used,
                              .report = {.end = (int32_t)r->end,
                                         .step = (int32_t)r->step,
                                         .code = r->code,
                                         .seconds = r->seconds,
                                         .peak = r->peak,
                                         .out_head = r->out.head,
                                         .out_kept = r->out.kept,
                                         .out_total = r->out.total,
                                         .err_head = r->err.head,
                                         .err_kept = r->err.kept,
                                         .err_total = r->err.total}};
    ct__text_bytes(out, (const char *)&head, sizeof head);
    if (r->out.kept) ct__text_bytes(out, r->out.bytes, (size_t)r->out.kept);
    if (r->err.kept) ct__text_bytes(out, r->err.bytes, (size_t)r->err.kept);
    if (message) ct__text_put(out, message);
    if (files->used) ct__text_bytes(out, files->bytes, (size_t)files->used);
    return out->failed || files->failed ? ct__no_memory(err, "bytes of an answer", head.files) : CT_OK;
}

ct_status ct__answer(ct__local *q, ct__run *run, ct__stage stage, ct_err *err)
{
    ct__text  files = {0}, text = {0};
    ct_status status = CT_OK;
    run->state = CT__RUN_ENDED;
    if (stage != CT__STAGE_FAILED || run->outcome.end == CT_TUNE_CRASHED) CT_TRY(ct__disk_check(q, err));
    if (stage == CT__STAGE_FAILED) status = add_tree(&files, run->folder, "", FAILURE_BYTES, 0, err);
    else if (stage == CT__STAGE_ESTIMATE)
        status = add_tree(&files, run->folder, run->estimate + strlen(run->folder) + 1, INT64_MAX / 2, 0, err);
    if (status == CT_OK) status = put_answer(run, stage, &files, &text, err);
    if (status == CT_OK) status = q->comm->send(q->comm->user, 0, text.bytes, text.used, err);
    ct__text_free(&files);
    ct__text_free(&text);
    (void)ct_folder_remove(run->folder, NULL);
    return status;
}

static ct_status take_run(ct__local *q, const ct__message *head, const char *bytes, int64_t size, ct_err *err)
{
    const int32_t         n = q->tuning->problem.parameters;
    ct_tune_request       request = {.ticket = head->number, .log = head->log, .repeat = head->repeat};
    ct__run              *run;
    double               *value = ct__zalloc(n, sizeof *value);
    if (!value) return ct__no_memory(err, "values", n);
    memcpy(value, bytes, CT_MIN((size_t)size, (size_t)n * sizeof *value));
    request.value = value;
    const ct_status status = ct__local_add(q, &request, &run, err);
    if (status == CT_OK) run->number = head->number;
    free(value);
    return status;
}

/* What rank 0 says. */
static ct_status hear(ct__local *q, int *heard, ct_err *err)
{
    *heard = 0;
    while (!q->dismissed) {
        void       *bytes;
        int64_t     size;
        int         from;
        ct__message head;
        ct_status   status = CT_OK;
        CT_TRY(q->comm->receive(q->comm->user, 0, &from, &bytes, &size, err));
        if (from < 0) return CT_OK;
        *heard = 1;
        memcpy(&head, bytes, sizeof head);
        if (head.kind == CT__MESSAGE_RUN)
            status = take_run(q, &head, (char *)bytes + sizeof head, size - (int64_t)sizeof head, err);
        if (head.kind == CT__MESSAGE_DISMISS) q->dismissed = 1;
        if (head.kind == CT__MESSAGE_ABANDON) {
            ct__local_abandon(q);
            status = send(q, CT__MESSAGE_ABANDONED, 0, err);
        }
        free(bytes);
        if (status != CT_OK) return status;
    }
    return CT_OK;
}

/* ---- Serving ---------------------------------------------------------------------------------- */

static ct_status serve(ct__local *q, int (*interrupted)(void *user), void *user, ct_err *err)
{
    int told = 0, any;
    q->hear = hear;
    CT_TRY(send(q, CT__MESSAGE_READY, q->slots, err));
    while (!q->dismissed) {
        CT_TRY(ct__local_begin(q, err));
        CT_TRY(ct__local_wait(q, ct_now_s() + WAIT_S, &any, err));
        for (ct__run *run; (run = ct__local_take(q));) ct__run_free(run);
        if (told || !interrupted || !interrupted(user)) continue;
        told = 1;
        CT_TRY(send(q, CT__MESSAGE_INTERRUPT, 0, err));
    }
    return CT_OK;
}

static void tell_error(const ct_comm *comm, const ct_err *what)
{
    const ct__message head = {.kind = CT__MESSAGE_ERROR};
    ct__text          text = {0};
    ct_err            err;
    ct__text_bytes(&text, (const char *)&head, sizeof head);
    ct__text_put(&text, what->text);
    if (!text.failed) (void)comm->send(comm->user, 0, text.bytes, text.used, &err);
    ct__text_free(&text);
}

ct_status ct_tuning_serve(ct_tuning *tuning, const ct_tuning_local *local, int (*interrupted)(void *user), void *user,
                          ct_err *err)
{
    ct_err     own = {0};
    ct__local *q = NULL;
    if (!local->comm || local->comm->rank == 0 || !local->comm->send)
        return ct_fail(err, CT_E_ARGUMENT, "runs are served by other ranks than 0, whose comm has messages");
    ct_status status = ct__local_new(tuning, local, &q, &own);
    if (status == CT_OK) status = serve(q, interrupted, user, &own);
    if (status != CT_OK) {
        tell_error(local->comm, &own);
        if (err) *err = own;
    }
    ct__local_free(q);
    return status;
}
