/* queue_ranks.c: slots of other ranks, from the side of rank 0; see queue.h. */
#define _GNU_SOURCE
#include "tune/queue.h"

#include <sched.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define ABANDON_S 30.0 /* how long ranks may take to stop their runs: a second of grace and then some */

static const char *host_of(const ct_comm *comm, int rank) { return comm->host ? comm->host(comm->user, rank) : "?"; }

/* Processors that this process may use; those of one machine are divided between its ranks unless each is bound. */
int ct__usual_jobs(const ct_comm *comm)
{
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    cpu_set_t  set;
    int        count = (int)CT_MAX(1, online), ranks = 0;
    if (!comm || sched_getaffinity(0, sizeof set, &set)) return count;
    if (CPU_COUNT(&set) < count) return CT_MAX(1, CPU_COUNT(&set));
    for (int r = 0; r < comm->size; r++) ranks += !strcmp(host_of(comm, r), host_of(comm, comm->rank));
    return CT_MAX(1, count / CT_MAX(1, ranks));
}

static ct_status send(const ct__local *q, int to, const ct__message *head, ct_err *err)
{
    return q->comm->send(q->comm->user, to, head, sizeof *head, err);
}

/* ---- Answers ---------------------------------------------------------------------------------- */

/* A file that a run left: name, ended by 0; size; bytes. Into the run's folder here. */
static const char *take_file(const ct__run *run, const char *at, ct_err *err, ct_status *status)
{
    const char *name = at, *bytes = name + strlen(name) + 1 + sizeof(int64_t);
    int64_t     size;
    char       *path = ct__join_path(run->folder, name);
    memcpy(&size, name + strlen(name) + 1, sizeof size);
    char *slash = path ? strrchr(path, '/') : NULL;
    if (!path) *status = ct__no_memory(err, "file names", 1);
    if (slash && strchr(name, '/')) { /* an estimate that is a folder */
        *slash = 0;
        *status = ct__make_folders(path, err);
        *slash = '/';
    }
    if (*status == CT_OK) *status = ct__write_plain(path, bytes, (size_t)size, err);
    free(path);
    return bytes + size;
}

static ct_status copy(const char *from, int64_t size, char **out, ct_err *err)
{
    char *text = malloc((size_t)size + 1);
    if (!text) return ct__no_memory(err, "output of a run", size);
    if (size) memcpy(text, from, (size_t)size);
    text[size] = 0;
    *out = text;
    return CT_OK;
}

/* Report, outcome and files of an answer, into the run. */
static ct_status take_answer(ct__run *run, const ct__message *head, const char *at, ct_err *err)
{
    const ct__end_message *end = &head->report;
    ct__report_free(&run->report);
    run->report = (ct__report){.end = (ct__child_end)end->end,
                               .step = (ct__child_step)end->step,
                               .code = end->code,
                               .seconds = end->seconds,
                               .peak = end->peak,
                               .out = {.head = end->out_head, .kept = end->out_kept, .total = end->out_total},
                               .err = {.head = end->err_head, .kept = end->err_kept, .total = end->err_total}};
    CT_TRY(copy(at, end->out_kept, &run->report.out.bytes, err));
    CT_TRY(copy(at += end->out_kept, end->err_kept, &run->report.err.bytes, err));
    at += end->err_kept;
    run->outcome.end = (ct_tune_end)head->end;
    run->outcome.code = head->code;
    run->outcome.seconds = head->seconds;
    if (head->message) CT_TRY(copy(at, head->message, &run->outcome.message, err));
    at += head->message;
    ct_status status = CT_OK;
    for (const char *stop = at + head->files; at < stop && status == CT_OK;) at = take_file(run, at, err, &status);
    return status;
}

static ct__slot *slot_of(ct__local *q, int rank, int64_t number)
{
    for (int i = 0; i < q->slots; i++)
        if (q->slot[i].rank == rank && q->slot[i].run && q->slot[i].run->number == number) return &q->slot[i];
    return NULL;
}

/* A message of another rank. Answers to runs that were abandoned are not wanted. */
static ct_status take_message(ct__local *q, int from, const char *bytes, int64_t size, ct_err *err)
{
    ct__message head;
    memcpy(&head, bytes, sizeof head);
    if (head.kind == CT__MESSAGE_ERROR)
        return ct_fail(err, CT_E_IO, "rank %d on %s: %.*s", from, host_of(q->comm, from),
                       (int)(size - (int64_t)sizeof head), bytes + sizeof head);
    if (head.kind == CT__MESSAGE_INTERRUPT && q->interrupted) *q->interrupted = 1;
    ct__slot *slot = head.kind == CT__MESSAGE_ANSWER ? slot_of(q, from, head.number) : NULL;
    if (!slot) return CT_OK;
    CT_TRY(take_answer(slot->run, &head, bytes + sizeof head, err));
    return ct__run_ends(q, slot, (ct__stage)head.stage, err);
}

static ct_status hear(ct__local *q, int *heard, ct_err *err)
{
    *heard = 0;
    for (ct_status status = CT_OK;;) {
        void   *bytes;
        int64_t size;
        int     from;
        CT_TRY(q->comm->receive(q->comm->user, 0, &from, &bytes, &size, err));
        if (from < 0) return CT_OK;
        *heard = 1;
        status = take_message(q, from, bytes, size, err);
        free(bytes);
        if (status != CT_OK) return status;
    }
}

/* ---- Requests --------------------------------------------------------------------------------- */

ct_status ct__rank_start(ct__local *q, ct__slot *slot, ct_err *err)
{
    const ct__run    *run = slot->run;
    const ct__message head = {.kind = CT__MESSAGE_RUN, .number = run->number, .log = run->log, .repeat = run->repeat};
    const int32_t     n = q->tuning->problem.parameters;
    ct__text          text = {0};
    if (!q->tuning->server.count) CT_TRY(ct__run_command(q, slot->run, err));
    ct__text_bytes(&text, (const char *)&head, sizeof head);
    ct__text_bytes(&text, (const char *)run->value, (size_t)n * sizeof *run->value);
    const ct_status status = text.failed ? ct__no_memory(err, "values", n)
                                         : q->comm->send(q->comm->user, slot->rank, text.bytes, text.used, err);
    ct__text_free(&text);
    return status;
}

void ct__ranks_abandon(ct__local *q)
{
    const ct__message head = {.kind = CT__MESSAGE_ABANDON};
    const double      until = ct_now_s() + ABANDON_S;
    int               asked = 0;
    ct_err            err;
    for (int r = 1; r < q->comm->size; r++) {
        int busy = 0;
        for (int i = 0; i < q->slots; i++) busy |= q->slot[i].rank == r && q->slot[i].run;
        if (busy && send(q, r, &head, &err) == CT_OK) asked++;
    }
    while (asked > 0 && ct_now_s() < until) {
        void   *bytes = NULL;
        int64_t size;
        int     from;
        if (q->comm->receive(q->comm->user, 1, &from, &bytes, &size, &err) != CT_OK) return;
        ct__message it = {0};
        if (from >= 0) memcpy(&it, bytes, sizeof it);
        asked -= from >= 0 && (it.kind == CT__MESSAGE_ABANDONED || it.kind == CT__MESSAGE_ERROR);
        free(bytes);
    }
}

ct_status ct_tuning_dismiss(const ct_comm *comm, ct_err *err)
{
    const ct__message head = {.kind = CT__MESSAGE_DISMISS};
    for (int r = 1; comm && comm->send && r < comm->size; r++)
        CT_TRY(comm->send(comm->user, r, &head, sizeof head, err));
    return CT_OK;
}

/* ---- Opening ---------------------------------------------------------------------------------- */

/* How many runs each rank takes at once. */
static ct_status count_jobs(ct__local *q, int local, int64_t *jobs, ct_err *err)
{
    jobs[0] = local;
    for (int missing = q->comm->size - 1; missing > 0;) {
        void       *bytes = NULL;
        int64_t     size;
        int         from;
        ct__message head = {0};
        CT_TRY(q->comm->receive(q->comm->user, 1, &from, &bytes, &size, err));
        if (from < 0) continue;
        memcpy(&head, bytes, sizeof head);
        const ct_status status = take_message(q, from, bytes, size, err);
        free(bytes);
        if (status != CT_OK) return status;
        if (head.kind != CT__MESSAGE_READY) continue;
        jobs[from] = head.number;
        missing--;
    }
    return CT_OK;
}

/* One slot of each rank after the other: a few runs go to many ranks. */
ct_status ct__ranks_open(ct__local *q, int local, ct_err *err)
{
    int64_t *jobs = ct__zalloc(q->comm->size, sizeof *jobs), slots = 0;
    if (!jobs) return ct__no_memory(err, "ranks", q->comm->size);
    q->hear = hear;
    ct_status status = count_jobs(q, local, jobs, err);
    for (int r = 0; r < q->comm->size; r++) slots += jobs[r];
    if (status == CT_OK && !(q->slot = ct__zalloc(slots, sizeof *q->slot))) status = ct__no_memory(err, "slots", slots);
    for (int64_t k = 0; status == CT_OK && q->slots < slots; k++)
        for (int r = 0; r < q->comm->size; r++)
            if (k < jobs[r]) q->slot[q->slots++].rank = r;
    free(jobs);
    return status;
}
