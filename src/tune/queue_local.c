/* queue_local.c: runs as processes of this machine, one in each slot.
 *
 * One thread. Waiting is poll on the sockets of supervisors. Runs are kept in the order of requests, because sites are
 * those of the first estimate in that order: an estimate of a log without sites is held until earlier runs of that log
 * have ended. */
#define _GNU_SOURCE
#include "tune/queue.h"

#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define DISK_BYTES 65536 /* with less room than this a disk is full: a trajectory is larger */
#define PAUSE_MS   8     /* short beside a run, long beside a poll                           */
#define SUSPENDED_S 0.5  /* beyond the end of a wait: longer than a busy machine makes one wait */

void ct__run_free(ct__run *run)
{
    for (char **at = run->file; at && *at; at++) free(*at);
    free(run->file);
    free(run->value);
    free(run->folder);
    free(run->estimate);
    free(run->command);
    ct__report_free(&run->report);
    ct_trajectory_free(run->trajectory);
    ct_tune_outcome_free(&run->outcome);
    free(run);
}

static int is_server(const ct__local *q) { return q->tuning->server.count > 0; }

/* ---- A run goes on ---------------------------------------------------------------------------- */

static ct__log_sites *sites_of(ct__local *q, const ct__run *run) { return &q->sites[run->log]; }

ct_status ct__disk_check(const ct__local *q, ct_err *err)
{
    struct statvfs disk;
    if (!ct__folder_is_there(q))
        return ct_fail(err, CT_E_IO,
                       "%s: was moved or removed while runs are under way; put it back, or resume it where it is",
                       q->folder);
    if (statvfs(q->folder, &disk)) return CT_OK;
    const double bytes = (double)disk.f_bavail * (double)disk.f_frsize;
    if (bytes >= DISK_BYTES && (disk.f_files == 0 || disk.f_favail > 0)) return CT_OK;
    if (bytes >= DISK_BYTES)
        return ct_fail(err, CT_E_IO,
                       "%s: the disk has no room for another file, and what a run wrote may be missing; make room, and "
                       "resume", q->folder);
    return ct_fail(err, CT_E_IO,
                   "%s: the disk may be full: %.0f kB are left, and what a run wrote may lack its end; make room, and "
                   "resume", q->folder, 1e-3 * bytes);
}

/* The run has its outcome. */
static ct_status end_run(ct__local *q, ct__run *run, ct_err *err)
{
    const ct_tune_end end = run->outcome.end;
    if (end != CT_TUNE_TIME && end != CT_TUNE_MEMORY) CT_TRY(ct__disk_check(q, err));
    ct__estimate_keep(q, run);
    ct_trajectory_free(run->trajectory);
    run->trajectory = NULL;
    run->state = CT__RUN_ENDED;
    if (run->outcome.end != CT_TUNE_DONE) CT_TRY(ct__outcome_quote(&run->outcome, &run->report, err));
    ct__folder_close(q, run, 0);
    return CT_OK;
}

/* Compare estimates that are held and need not be. */
static ct_status release_held(ct__local *q, int32_t log, ct_err *err)
{
    for (ct__run *run = q->first; run; run = run->next) {
        if (run->log != log || run->state == CT__RUN_ENDED) continue;
        const int known = q->sites[log].rows > 0;
        if (run->state == CT__RUN_HELD) {
            if (run->trajectory)
                CT_TRY(ct__estimate_compare(q->tuning, sites_of(q, run), run->trajectory, &run->outcome, err));
            else CT_TRY(ct__score_read(sites_of(q, run), &run->report.out, &run->outcome, err));
            CT_TRY(end_run(q, run, err));
        } else if (!known) return CT_OK; /* an earlier run may have the first estimate */
    }
    return CT_OK;
}

static ct_status open_sites(ct__local *q, const ct__run *run, ct_err *err)
{
    ct__log_sites *sites = sites_of(q, run);
    return sites->first ? CT_OK : ct__sites_open(q->tuning, run->log, q->folder, q->here, sites, err);
}

ct_status ct__run_ends(ct__local *q, ct__slot *slot, ct__stage stage, ct_err *err)
{
    ct__run *run = slot->run;
    slot->run = NULL;
    if (q->serving) return ct__answer(q, run, stage, err);
    if (stage == CT__STAGE_FAILED) CT_TRY(end_run(q, run, err));
    else run->state = CT__RUN_HELD;
    CT_TRY(open_sites(q, run, err));
    if (stage == CT__STAGE_ESTIMATE) {
        CT_TRY(ct__estimate_read(q->tuning, run->estimate, &run->trajectory, &run->outcome, err));
        if (!run->trajectory) CT_TRY(end_run(q, run, err));
        else ct__estimate_place(q->tuning, sites_of(q, run), run->trajectory);
    }
    return release_held(q, run->log, err);
}

/* In the slot's process; one that was killed between two runs is replaced. */
static ct_status start_in(const ct__local *q, ct__run *run, ct__child *child, const ct__tune_words *command,
                          const char *program, ct_err *err)
{
    if (ct__child_gone(child)) ct__child_close(child);
    if (!child->reaper) CT_TRY(ct__child_open(child, 0, err));
    return ct__run_start(q, run, child, command, program, err);
}

/* The program of a run ended well: its estimate is scored, or read. */
static ct_status after_program(ct__local *q, ct__slot *slot, ct_err *err)
{
    ct__run *run = slot->run;
    if (!q->tuning->score.count) return ct__run_ends(q, slot, CT__STAGE_ESTIMATE, err);
    run->state = CT__RUN_SCORE;
    ct__report_free(&run->report);
    return start_in(q, run, is_server(q) ? &slot->scorer : &slot->child, &q->tuning->score, q->score_program, err);
}

/* The supervisor of a slot has a report. */
static ct_status take_report(ct__local *q, ct__slot *slot, ct_err *err)
{
    ct__run  *run = slot->run;
    ct_status status;
    ct__child *child = is_server(q) ? &slot->scorer : &slot->child;
    CT_TRY(ct__child_report(child, &run->report, err));
    const int   was_score = run->state == CT__RUN_SCORE;
    const char *program = was_score ? q->score_program : q->program;
    const char *who = was_score ? "the scoring command" : "the program";
    const int   well =
        ct__outcome_of_report(q->tuning, &run->report, who, program ? program : who, &run->outcome, &status, err);
    if (run->report.end == CT__CHILD_LOST) {
        ct__child_close(child);
        ct__folder_end_strays(q, run->number);
    }
    CT_TRY(status);
    if (!well) return ct__run_ends(q, slot, CT__STAGE_FAILED, err);
    return was_score ? ct__run_ends(q, slot, CT__STAGE_SCORED, err) : after_program(q, slot, err);
}

static ct_status begin(ct__local *q, ct__slot *slot, ct__run *run, ct_err *err)
{
    CT_TRY(ct__run_prepare(q, run, err));
    run->state = CT__RUN_PROGRAM;
    slot->run = run;
    if (slot->rank > 0) return ct__rank_start(q, slot, err);
    if (is_server(q)) return ct__server_ask(q, slot, err);
    return start_in(q, run, &slot->child, &q->tuning->command, q->program, err);
}

ct_status ct__local_begin(ct__local *q, ct_err *err)
{
    int free_slot = 0;
    for (ct__run *run = q->first; run; run = run->next) {
        if (run->state != CT__RUN_WAITING) continue;
        while (free_slot < q->slots && q->slot[free_slot].run) free_slot++;
        if (free_slot == q->slots) return CT_OK;
        CT_TRY(begin(q, &q->slot[free_slot], run, err));
    }
    return CT_OK;
}

/* ---- The interface ---------------------------------------------------------------------------- */

ct_status ct__local_add(ct__local *q, const ct_tune_request *request, ct__run **out, ct_err *err)
{
    const int32_t n = q->tuning->problem.parameters;
    *out = NULL;
    if (request->log < 0 || request->log >= q->tuning->problem.logs || request->repeat < 0)
        return ct_fail(err, CT_E_ARGUMENT, "a run of log %ld, repetition %ld: there are %ld logs", (long)request->log,
                       (long)request->repeat, (long)q->tuning->problem.logs);
    ct__run *run = ct__zalloc(1, sizeof *run);
    double  *value = ct__zalloc(n, sizeof *value);
    if (!run || !value) {
        free(run);
        free(value);
        return ct__no_memory(err, "runs", 1);
    }
    memcpy(value, request->value, (size_t)n * sizeof *value);
    *run = (ct__run){.ticket = request->ticket, .log = request->log, .repeat = request->repeat, .value = value};
    run->outcome.translation = run->outcome.rotation = run->outcome.nees = NAN;
    run->outcome.rpe_translation = run->outcome.rpe_rotation = run->outcome.covered = NAN;
    ct__run **last = &q->first;
    while (*last) last = &(*last)->next;
    *out = *last = run;
    return CT_OK;
}

static ct_status submit(void *user, const ct_tune_request *request, ct_err *err)
{
    ct__local *q = user;
    ct__run   *run;
    CT_TRY(ct__local_add(q, request, &run, err));
    return ct__local_begin(q, err);
}

ct__run *ct__local_take(ct__local *q)
{
    for (ct__run **at = &q->first; *at; at = &(*at)->next) {
        ct__run *run = *at;
        if (run->state != CT__RUN_ENDED) continue;
        *at = run->next;
        return run;
    }
    return NULL;
}

/* What a slot waits for: a report, or its server. The number of descriptors. */
static int watch(const ct__local *q, const ct__slot *slot, struct pollfd fd[2])
{
    if (!slot->run || slot->rank > 0) return 0;
    const int served = is_server(q) && slot->run->state == CT__RUN_PROGRAM;
    const int scored = is_server(q) && slot->run->state == CT__RUN_SCORE;
    fd[0] = (struct pollfd){scored ? slot->scorer.socket : slot->child.socket, POLLIN, 0};
    if (served) fd[1] = (struct pollfd){slot->child.from, POLLIN, 0};
    return served ? 2 : 1;
}

static ct_status go_on(ct__local *q, ct__slot *slot, int readable, ct_err *err)
{
    int ended = 0, well = 0;
    if (!is_server(q) || slot->run->state == CT__RUN_SCORE) return readable ? take_report(q, slot, err) : CT_OK;
    if (readable) CT_TRY(ct__server_hear(q, slot, &ended, &well, err));
    else if (ct_now_s() >= slot->deadline) {
        CT_TRY(ct__server_late(q, slot, err));
        ended = 1;
    }
    if (!ended) return CT_OK;
    return well ? after_program(q, slot, err) : ct__run_ends(q, slot, CT__STAGE_FAILED, err);
}

/* Slots whose descriptors have something, and servers whose time is over. */
static ct_status go_on_all(ct__local *q, int any, ct_err *err)
{
    nfds_t count = 0;
    for (int i = 0; i < q->slots; i++) {
        struct pollfd scratch[2];
        const int     had = watch(q, &q->slot[i], scratch);
        int           readable = 0;
        for (int k = 0; any && k < had; k++) readable |= q->poll[count + (nfds_t)k].revents;
        count += (nfds_t)had;
        if (had) CT_TRY(go_on(q, &q->slot[i], readable, err));
    }
    return CT_OK;
}

/* Descriptors that something is expected from; *busy 1: a run is under way, or messages are waited for. */
static nfds_t watch_all(const ct__local *q, double *until, int *busy)
{
    nfds_t count = 0;
    *busy = q->serving;
    for (int i = 0; i < q->slots; i++) {
        const ct__slot *slot = &q->slot[i];
        count += (nfds_t)watch(q, slot, &q->poll[count]);
        *busy |= slot->run != NULL;
        if (slot->run && !slot->rank && is_server(q)) *until = fmin(*until, slot->deadline);
    }
    return count;
}

/* A wait of this process ended much later than it should: it was suspended, as batch systems do with all processes of a
 * job, and so were the servers. That time is not of their runs. */
static void wait_is_over(ct__local *q, double until)
{
    const double late = ct_now_s() - until;
    for (int i = 0; late > SUSPENDED_S && i < q->slots; i++) {
        q->slot[i].asked += late;
        q->slot[i].deadline += late;
    }
}

/* Messages of other ranks have no descriptor: between pauses of at most PAUSE_MS they are asked for. */
ct_status ct__local_wait(ct__local *q, double until, int *any, ct_err *err)
{
    for (int pause_ms = 1;; pause_ms = CT_MIN(2 * pause_ms, PAUSE_MS)) {
        int          heard = 0;
        const nfds_t count = watch_all(q, &until, any);
        if (!*any) return CT_OK;
        if (q->hear) CT_TRY(q->hear(q, &heard, err));
        *any = heard;
        if (heard) return CT_OK;
        const double left_ms = fmin(fmax(0, ceil(1e3 * (until - ct_now_s()))), 1e9);
        const int    last = !q->hear || left_ms <= pause_ms;
        const double end = ct_now_s() + 1e-3 * (last ? left_ms : pause_ms);
        const int    n = poll(q->poll, count, last ? (int)left_ms : pause_ms);
        wait_is_over(q, end);
        if (n < 0 && errno != EINTR) return ct_fail(err, CT_E_IO, "waiting for runs fails: %s", strerror(errno));
        *any = n > 0;
        CT_TRY(go_on_all(q, n > 0, err));
        if (last || n) return CT_OK;
    }
}

static ct_status collect(void *user, double wait_s, int64_t *ticket, ct_tune_outcome *outcome, ct_err *err)
{
    ct__local   *q = user;
    const double until = ct_now_s() + fmax(0, wait_s);
    *ticket = -1;
    *outcome = (ct_tune_outcome){0};
    for (int any = 1;;) {
        CT_TRY(ct__local_begin(q, err));
        ct__run *run = ct__local_take(q);
        if (run) {
            *ticket = run->ticket;
            *outcome = run->outcome;
            run->outcome = (ct_tune_outcome){0};
            ct__run_free(run);
        }
        if (run || !any) return CT_OK;
        CT_TRY(ct__local_wait(q, until, &any, err));
    }
}

void ct__local_abandon(void *user)
{
    ct__local *q = user;
    if (q->comm && !q->serving) ct__ranks_abandon(q);
    for (int i = 0; i < q->slots; i++) {
        ct__slot *slot = &q->slot[i];
        ct__child_close(&slot->child);
        ct__child_close(&slot->scorer);
        ct__text_free(&slot->line);
        slot->run = NULL;
    }
    while (q->first) {
        ct__run *run = q->first;
        q->first = run->next;
        if (run->state != CT__RUN_ENDED) ct__folder_close(q, run, 1);
        ct__run_free(run);
    }
}

void ct__local_free(void *user)
{
    ct__local *q = user;
    if (!q) return;
    if (q->slot) ct__local_abandon(q);
    for (int32_t i = 0; q->sites && i < q->tuning->problem.logs; i++) ct__sites_close(&q->sites[i]);
    ct__lock_drop(&q->lock);
    free(q->sites);
    free(q->slot);
    free(q->poll);
    free(q->program);
    free(q->score_program);
    free(q->folder);
    free(q->estimates);
    free(q->here);
    free(q);
}

/* Slots of this process; rank 0 has those of the others, too. */
static ct_status open_slots(ct__local *q, const ct_tuning_local *local, ct_err *err)
{
    const int jobs = local->jobs > 0 ? local->jobs : ct__usual_jobs(q->comm);
    if (q->comm && !q->serving) CT_TRY(ct__ranks_open(q, jobs, err));
    else {
        q->slots = jobs;
        q->slot = ct__zalloc(q->slots, sizeof *q->slot);
    }
    q->poll = ct__zalloc(2 * (int64_t)q->slots, sizeof *q->poll);
    q->sites = ct__zalloc(q->tuning->problem.logs, sizeof *q->sites);
    return q->slot && q->poll && q->sites ? CT_OK : ct__no_memory(err, "slots", q->slots);
}

/* Folders, programs, room. */
static ct_status open_local(ct__local *q, const ct_tuning_local *local, ct_err *err)
{
    const ct_tuning *t = q->tuning;
    q->keep = local->keep;
    CT_TRY(open_slots(q, local, err));
    CT_TRY(ct__make_folders(local->folder, err));
    if (!(q->here = getcwd(NULL, 0)))
        return ct_fail(err, ct__io_status(), "the present folder has no path: %s", strerror(errno));
    if (!(q->folder = realpath(local->folder, NULL)))
        return ct_fail(err, ct__io_status(), "%s: its path cannot be found: %s", local->folder, strerror(errno));
    if (local->estimates) {
        CT_TRY(ct__make_folders(local->estimates, err));
        if (!(q->estimates = realpath(local->estimates, NULL)))
            return ct_fail(err, ct__io_status(), "%s: its path cannot be found: %s", local->estimates, strerror(errno));
    }
    CT_TRY(ct__tuning_program(t, t->server.count ? &t->server : &t->command, &q->program, err));
    if (t->score.count) CT_TRY(ct__tuning_program(t, &t->score, &q->score_program, err));
    return ct__folders_open(q, err);
}

ct_status ct__local_new(ct_tuning *tuning, const ct_tuning_local *local, ct__local **out, ct_err *err)
{
    *out = NULL;
    if (local->jobs < 0 || local->jobs > 4096)
        return ct_fail(err, CT_E_ARGUMENT, "%d jobs: from 1 to 4096, or 0 for as many as processors", local->jobs);
    ct__local *q = ct__zalloc(1, sizeof *q);
    if (!q) return ct__no_memory(err, "queues", 1);
    q->tuning = tuning;
    q->comm = local->comm && local->comm->size > 1 && local->comm->send ? local->comm : NULL;
    q->serving = q->comm && q->comm->rank > 0;
    q->interrupted = local->interrupted;
    const ct_status status = open_local(q, local, err);
    if (status == CT_OK) *out = q;
    else ct__local_free(q);
    return status;
}

ct_status ct_tuning_queue(ct_tuning *tuning, const ct_tuning_local *local, ct_tune_queue **out, ct_err *err)
{
    ct__local     *q = NULL;
    ct_tune_queue *queue = ct__zalloc(1, sizeof *queue);
    *out = NULL;
    const ct_status status = queue ? ct__local_new(tuning, local, &q, err) : ct__no_memory(err, "queues", 1);
    if (status != CT_OK) {
        free(queue);
        return status;
    }
    *queue = (ct_tune_queue){.user = q,
                             .slots = q->slots,
                             .submit = submit,
                             .collect = collect,
                             .abandon = ct__local_abandon,
                             .free = ct__local_free};
    *out = queue;
    return CT_OK;
}
