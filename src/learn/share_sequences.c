/* share_sequences.c: the sequences of the outer problem over ranks.
 *
 * Every rank has all sequences. A rank solves those that it owns; the results of single sequences are exchanged, so
 * that sums over sequences are made on every rank in the same order. Owners follow from the number of factors at first,
 * then from measured times: whoever computes a sequence, its bits are the same. Starts of inner solves are with the
 * owner. They move with the ownership, and to rank 0 when it writes the checkpoint. */
#include "graph/graph.h"
#include "learn/learn.h"

#define BALANCED 3 /* evaluations whose times decide; later ones take about as long */

typedef struct {
    double  loss, stationarity, seconds, extra;
    int32_t stop, status, iterations, solves, inexact, zero;
} head;

/* What a spread of sequences refers to. */
typedef struct {
    ct_outer   *outer;
    ct__task_fn task;
    void       *user;
    int         want;
    double     *extra;
} shared;

static int is_alone(const ct_outer *o) { return !o->options.comm || o->options.comm->size < 2; }

int ct__outer_owns(const ct_outer *o, int32_t i) { return is_alone(o) || o->owner[i] == o->options.comm->rank; }

ct_status ct__outer_share_owners(ct_outer *o, ct_err *err)
{
    if (is_alone(o)) return CT_OK;
    double *cost = ct__zalloc(o->count, sizeof *cost);
    o->owner = ct__zalloc(o->count, sizeof *o->owner);
    ct_status status = cost && o->owner ? CT_OK : ct__no_memory(err, "sequences", o->count);
    for (int32_t i = 0; status == CT_OK && i < o->count; i++) cost[i] = o->inner[i].seq->graph->factors;
    if (status == CT_OK) status = ct_comm_assign(o->options.comm->size, o->count, cost, o->owner, err);
    free(cost);
    return status;
}

/* ---- Starts of inner solves ---- */

/* Starts go from the ranks that own the sequences to others. */
typedef struct {
    ct_outer      *outer;
    const int32_t *to; /* per sequence; NULL: rank 0 */
} moving;

static int receiver(const moving *m, int64_t i) { return m->to ? m->to[i] : 0; }

static int moves(const void *user, int64_t i)
{
    const moving *m = user;
    return m->outer->owner[i] != receiver(m, i);
}

static int64_t start_size(const void *user, int64_t i)
{
    return ((const moving *)user)->outer->inner[i].size * (int64_t)sizeof(double);
}

static void pack_start(const void *user, int64_t i, void *record)
{
    const moving   *m = user;
    ct_err          err = {0};
    const ct_status status = ct__inner_get(m->outer, (int32_t)i, 0, record, &err);
    if (status != CT_OK) ct__outer_tell(m->outer, (int32_t)i, status, &err);
}

static void unpack_start(void *user, int64_t i, const void *record)
{
    const moving *m = user;
    ct_err        err = {0};
    if (m->outer->options.comm->rank != receiver(m, i)) return;
    const ct_status status = ct__inner_put(m->outer, (int32_t)i, 0, record, &err);
    if (status != CT_OK) ct__outer_tell(m->outer, (int32_t)i, status, &err);
}

static ct_status move_starts(ct_outer *o, const int32_t *to, ct_err *err)
{
    moving           m = {.outer = o, .to = to};
    const ct__spread spread = {.comm = o->options.comm,
                               .owner = o->owner,
                               .count = o->count,
                               .user = &m,
                               .wanted = moves,
                               .size = start_size,
                               .pack = pack_start,
                               .unpack = unpack_start};
    o->failed = -1;
    CT_TRY(ct__spread_exchange(&spread, err));
    return ct__outer_agree(o, err);
}

ct_status ct__outer_gather_starts(ct_outer *o, ct_err *err)
{
    return is_alone(o) ? CT_OK : move_starts(o, NULL, err);
}

/* ---- Who computes what ---- */

/* Owners by the times of an evaluation of all sequences, which all ranks have. Before the next evaluation: until then
 * solutions are with those who found them. */
static ct_status balance(ct_outer *o, ct_err *err)
{
    if (!o->timed || o->balanced == BALANCED) return CT_OK;
    o->timed = 0;
    double  *cost = ct__zalloc(o->count, sizeof *cost);
    int32_t *owner = ct__zalloc(o->count, sizeof *owner);
    ct_status status = cost && owner ? CT_OK : ct__no_memory(err, "sequences", o->count);
    for (int32_t i = 0; status == CT_OK && i < o->count; i++) cost[i] = CT_MAX(0, o->inner[i].seconds);
    if (status == CT_OK) status = ct_comm_assign(o->options.comm->size, o->count, cost, owner, err);
    if (status == CT_OK) status = move_starts(o, owner, err);
    if (status == CT_OK) memcpy(o->owner, owner, (size_t)o->count * sizeof *owner);
    o->balanced++;
    free(cost);
    free(owner);
    return status;
}

/* ---- Failures ---- */

typedef struct {
    int64_t sequence;
    ct_err  why;
} failure;

ct_status ct__outer_agree(ct_outer *o, ct_err *err)
{
    const ct_comm *comm = o->options.comm;
    int            any;
    CT_TRY(ct_comm_any(comm, o->failed >= 0, &any, err));
    if (!any) return CT_OK;
    const int size = is_alone(o) ? 1 : comm->size;
    failure   mine = {o->failed < 0 ? INT64_MAX : o->failed, o->why};
    failure  *all = ct__zalloc(size, sizeof *all);
    int64_t  *bytes = ct__zalloc(size, sizeof *bytes);
    ct_status status = all && bytes ? CT_OK : ct__no_memory(err, "ranks", size);
    for (int r = 0; status == CT_OK && r < size; r++) bytes[r] = (int64_t)sizeof mine;
    if (status == CT_OK && !is_alone(o)) status = comm->exchange(comm->user, &mine, bytes, all, err);
    for (int r = 0; status == CT_OK && !is_alone(o) && r < size; r++)
        if (all[r].sequence < mine.sequence) mine = all[r];
    if (status == CT_OK) {
        if (err) *err = mine.why;
        status = mine.why.status;
    }
    free(all);
    free(bytes);
    return status;
}

static int took_part(const void *user, int64_t i) { return ((const shared *)user)->outer->inner[i].took_part; }

static void run_task(void *user, int64_t i, int worker)
{
    const shared *s = user;
    const double  begin = ct_now_s();
    s->task(s->user, i, worker);
    s->outer->inner[i].seconds = ct_now_s() - begin;
}

/* The numbers behind the head: gradient, matrix, covariance, fit, gradient by weights of functions. */
enum { BLOCKS = 5 };

static int64_t blocks(const shared *s, int64_t length[BLOCKS])
{
    const int64_t m = s->outer->m;
    length[0] = m;
    length[1] = s->want & (CT_WANT_MATRIX | CT_WANT_COVARIANCE) ? m * m : 0;
    length[2] = s->want & CT_WANT_COVARIANCE ? m * m : 0;
    length[3] = s->want & CT_WANT_FIT ? s->outer->models * (int64_t)(sizeof(ct_model_fit) / sizeof(double)) : 0;
    length[4] = s->outer->weights;
    return length[0] + length[1] + length[2] + length[3] + length[4];
}

static int64_t size(const void *user, int64_t i)
{
    int64_t length[BLOCKS];
    (void)i;
    return (int64_t)sizeof(head) + blocks(user, length) * (int64_t)sizeof(double);
}

static void copy(const shared *s, int64_t i, char *record, int out)
{
    ct__inner_problem *inner = &s->outer->inner[i];
    double *const      block[BLOCKS] = {inner->gradient, inner->matrix, inner->gradient_covariance,
                                        (double *)inner->fit, inner->weight_gradient};
    int64_t            length[BLOCKS];
    blocks(s, length);
    record += sizeof(head);
    for (int b = 0; b < BLOCKS; b++) {
        const size_t bytes = (size_t)length[b] * sizeof(double);
        if (bytes) memcpy(out ? record : (char *)block[b], out ? (char *)block[b] : record, bytes);
        record += bytes;
    }
}

static void pack(const void *user, int64_t i, void *record)
{
    const shared            *s = user;
    const ct__inner_problem *inner = &s->outer->inner[i];
    const head h = {inner->loss, inner->stationarity, inner->seconds,       s->extra ? s->extra[i] : 0,
                    (int32_t)inner->stop, (int32_t)inner->status, inner->iterations, inner->solves,
                    inner->inexact, 0};
    memcpy(record, &h, sizeof h);
    copy(s, i, record, 1);
}

static void unpack(void *user, int64_t i, const void *record)
{
    const shared      *s = user;
    ct__inner_problem *inner = &s->outer->inner[i];
    head               h;
    memcpy(&h, record, sizeof h);
    inner->loss = h.loss;
    inner->stationarity = h.stationarity;
    inner->seconds = h.seconds;
    inner->stop = (ct_stop)h.stop;
    inner->status = (ct_status)h.status;
    inner->iterations = h.iterations;
    inner->solves = h.solves;
    inner->inexact = h.inexact;
    if (s->extra) s->extra[i] = h.extra;
    copy(s, i, (char *)(uintptr_t)record, 0);
}

static ct__spread spread_of(shared *s)
{
    ct_outer *o = s->outer;
    return (ct__spread){.comm = o->options.comm,
                        .owner = o->owner,
                        .jobs = o->scratches,
                        .count = o->count,
                        .task = run_task,
                        .user = s,
                        .wanted = took_part,
                        .size = size,
                        .pack = pack,
                        .unpack = unpack};
}

ct_status ct__outer_run(ct_outer *o, ct__task_fn task, void *user, ct_err *err)
{
    shared           s = {.outer = o, .task = task, .user = user};
    CT_TRY(balance(o, err));
    const ct__spread spread = spread_of(&s);
    return ct__outer_spread_run(o, &spread, err);
}

ct_status ct__outer_exchange(ct_outer *o, int want, double *extra, ct_err *err)
{
    shared           s = {.outer = o, .want = want, .extra = extra};
    const ct__spread spread = spread_of(&s);
    if (is_alone(o)) return CT_OK;
    CT_TRY(ct__spread_exchange(&spread, err));
    o->timed = 1;
    for (int32_t i = 0; i < o->count; i++) o->timed = o->timed && o->inner[i].took_part;
    return CT_OK;
}
