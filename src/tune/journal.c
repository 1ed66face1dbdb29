/* journal.c: a queue that answers runs from a file, and has another serve and append those that it lacks.
 *
 * A run that is asked for twice at once is served once. Answers from the file are given in the order of requests. */
#include "tune/journal.h"

#include <math.h>

typedef enum { SERVED, DOUBLE, READY } state;

typedef struct entry {
    struct entry   *next; /* in the order of requests */
    state           state;
    int64_t         ticket;
    int32_t         log, repeat;
    double         *value;
    ct_tune_outcome outcome; /* of READY */
} entry;

typedef struct {
    ct__journal_file file;
    ct_tune_queue   *inner;
    int32_t          parameters;
    entry           *first;
} journal;

static void free_entry(entry *e)
{
    ct_tune_outcome_free(&e->outcome);
    free(e->value);
    free(e);
}

static ct__journal_key key_of(const journal *j, const entry *e)
{
    return (ct__journal_key){j->file.digest, e->log, e->repeat, j->parameters, e->value};
}

static int is_same(const journal *j, const entry *a, const entry *b)
{
    if (a->log != b->log || a->repeat != b->repeat) return 0;
    for (int32_t i = 0; i < j->parameters; i++)
        if (a->value[i] != b->value[i]) return 0;
    return 1;
}

/* Is the run being served for an earlier request? */
static int is_under_way(const journal *j, const entry *e)
{
    for (const entry *other = j->first; other; other = other->next)
        if (other != e && other->state == SERVED && is_same(j, other, e)) return 1;
    return 0;
}

static ct_status serve(journal *j, entry *e, ct_err *err)
{
    const ct_tune_request request = {.ticket = e->ticket, .log = e->log, .repeat = e->repeat, .value = e->value};
    e->state = SERVED;
    return j->inner->submit(j->inner->user, &request, err);
}

/* From the file, by an earlier request, or by the inner queue. */
static ct_status look_up(journal *j, entry *e, ct_err *err)
{
    const ct__journal_key key = key_of(j, e);
    int                   found;
    CT_TRY(ct__journal_find(&j->file, &key, &found, &e->outcome, err));
    if (found) e->state = READY;
    else if (is_under_way(j, e)) e->state = DOUBLE;
    else return serve(j, e, err);
    return CT_OK;
}

static ct_status submit(void *user, const ct_tune_request *request, ct_err *err)
{
    journal *j = user;
    entry   *e = ct__zalloc(1, sizeof *e);
    double  *value = ct__zalloc(j->parameters, sizeof *value);
    if (!e || !value) {
        free(e);
        free(value);
        return ct__no_memory(err, "runs", 1);
    }
    if (j->parameters) memcpy(value, request->value, (size_t)j->parameters * sizeof *value);
    *e = (entry){.ticket = request->ticket, .log = request->log, .repeat = request->repeat, .value = value};
    entry **last = &j->first;
    while (*last) last = &(*last)->next;
    *last = e;
    return look_up(j, e, err);
}

/* Takes an answered request out of the list. */
static int take_ready(journal *j, int64_t *ticket, ct_tune_outcome *outcome)
{
    for (entry **at = &j->first; *at; at = &(*at)->next) {
        entry *e = *at;
        if (e->state != READY) continue;
        *at = e->next;
        *ticket = e->ticket;
        *outcome = e->outcome;
        e->outcome = (ct_tune_outcome){0};
        free_entry(e);
        return 1;
    }
    return 0;
}

/* A run of the inner queue has ended: it is appended, then given away. */
static ct_status take_served(journal *j, int64_t ticket, ct_tune_outcome *outcome, ct_err *err)
{
    entry **at = &j->first;
    while (*at && !((*at)->state == SERVED && (*at)->ticket == ticket)) at = &(*at)->next;
    entry *e = *at;
    if (!e) return ct_fail(err, CT_E_ARGUMENT, "a run %lld ended that was not asked for", (long long)ticket);
    const ct__journal_key key = key_of(j, e);
    CT_TRY(ct__journal_append(&j->file, &key, outcome, err));
    *at = e->next;
    free_entry(e);
    for (entry *other = j->first; other; other = other->next)
        if (other->state == DOUBLE) CT_TRY(look_up(j, other, err));
    return CT_OK;
}

static ct_status collect(void *user, double wait_s, int64_t *ticket, ct_tune_outcome *outcome, ct_err *err)
{
    journal *j = user;
    *ticket = -1;
    *outcome = (ct_tune_outcome){0};
    if (take_ready(j, ticket, outcome) || !j->first) return CT_OK;
    CT_TRY(j->inner->collect(j->inner->user, wait_s, ticket, outcome, err));
    if (*ticket < 0) return CT_OK;
    const ct_status status = take_served(j, *ticket, outcome, err);
    if (status != CT_OK) {
        ct_tune_outcome_free(outcome);
        *ticket = -1;
    }
    return status;
}

static void abandon(void *user)
{
    journal *j = user;
    if (j->inner && j->inner->abandon) j->inner->abandon(j->inner->user);
    while (j->first) {
        entry *e = j->first;
        j->first = e->next;
        free_entry(e);
    }
}

static void free_journal(void *user)
{
    journal *j = user;
    abandon(j);
    ct_tune_queue_free(j->inner);
    ct__journal_close(&j->file);
    free(j);
}

int64_t ct_tune_journal_runs(const ct_tune_queue *queue)
{
    return queue && queue->submit == submit ? ((const journal *)queue->user)->file.runs : 0;
}

ct_status ct_tune_journal(const char *path, uint64_t digest, int32_t parameters, int resume, ct_tune_queue *inner,
                          ct_tune_queue **out, ct_err *err)
{
    *out = NULL;
    journal       *j = ct__zalloc(1, sizeof *j);
    ct_tune_queue *queue = ct__zalloc(1, sizeof *queue);
    ct_status      status = CT_OK;
    if (parameters < 0) status = ct_fail(err, CT_E_ARGUMENT, "a journal of %ld parameters", (long)parameters);
    else if (!j || !queue) status = ct__no_memory(err, "queues", 1);
    else status = ct__journal_open(path, digest, resume, &j->file, err);
    if (status != CT_OK) {
        free(j);
        free(queue);
        return status;
    }
    j->inner = inner;
    j->parameters = parameters;
    *queue = (ct_tune_queue){.user = j,
                             .slots = inner->slots,
                             .submit = submit,
                             .collect = collect,
                             .abandon = abandon,
                             .free = free_journal};
    *out = queue;
    return CT_OK;
}
