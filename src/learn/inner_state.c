/* inner_state.c: what an inner problem has in memory, and when.
 *
 * Solvers are of a pool: sequences of equal structure share them. Starts and solutions are in memory, unless the
 * sequences are in a cache (data/store.h): then they are in its file, and in memory while the problem is open. */
#include "graph/graph.h"
#include "learn/learn.h"
#include "noise/noise.h"
#include "solve/solve.h"

#define EVALUATIONS 12 /* of a sequence: in the checkpoint, of every candidate, the start and the scale */
#define SOLVERS 4 /* one part in so many of the memory that is left is for solvers that nobody uses */

void ct__outer_tell(ct_outer *o, int32_t i, ct_status status, const ct_err *err)
{
    pthread_mutex_lock(&o->telling);
    if (o->failed < 0 || i < o->failed) {
        o->failed = i;
        o->why = *err;
        o->why.status = status;
    }
    pthread_mutex_unlock(&o->telling);
}

/* ---- Values ---------------------------------------------------------------------------------- */

ct_status ct__inner_get(const ct_outer *o, int32_t i, int which, double *to, ct_err *err)
{
    const ct__inner_problem *inner = &o->inner[i];
    const int64_t            bytes = inner->size * (int64_t)sizeof *to;
    if (o->spill) return ct__spill_read(o->spill, inner->place[which], to, bytes, err);
    memcpy(to, which ? inner->x : inner->start, (size_t)bytes);
    return CT_OK;
}

ct_status ct__inner_put(ct_outer *o, int32_t i, int which, const double *from, ct_err *err)
{
    const ct__inner_problem *inner = &o->inner[i];
    const int64_t            bytes = inner->size * (int64_t)sizeof *from;
    if (o->spill) return ct__spill_write(o->spill, inner->place[which], from, bytes, err);
    memcpy(which ? inner->x : inner->start, from, (size_t)bytes);
    return CT_OK;
}

void ct__inner_swap(ct__inner_problem *inner)
{
    double *const start = inner->start;
    inner->start = inner->x;
    inner->x = start;
    CT__SWAP(int64_t, inner->place[0], inner->place[1]);
}

/* ---- Open and close -------------------------------------------------------------------------- */

static ct_status open_inner(ct_outer *o, int32_t i, int worker, ct_err *err)
{
    ct__inner_problem *inner = &o->inner[i];
    ct_status          status = CT_OK;
    if (!inner->solver) status = ct__solver_pool_take(o->pool, inner->seq->graph, &inner->solver, err);
    if (status != CT_OK) return status;
    inner->solver->keep_layers = o->keep_layers;
    if (!o->spill) return CT_OK;
    inner->start = o->scratch[worker].values[0];
    inner->x = o->scratch[worker].values[1];
    status = ct__inner_get(o, i, 0, inner->start, err);
    if (status == CT_OK) return CT_OK;
    ct__solver_pool_give(o->pool, inner->solver);
    inner->solver = NULL;
    return status;
}

ct_status ct__inner_open(ct_outer *o, int32_t i, int worker)
{
    ct__inner_problem *inner = &o->inner[i];
    ct_err             err = {0};
    ct_status          status = ct_sequence_acquire(inner->seq, &err);
    if (status == CT_OK) {
        status = open_inner(o, i, worker, &err);
        if (status != CT_OK) ct_sequence_release(inner->seq);
    }
    inner->status = status;
    if (status != CT_OK) ct__outer_tell(o, i, status, &err);
    return status;
}

void ct__inner_close(ct_outer *o, int32_t i, int worker)
{
    ct__inner_problem *inner = &o->inner[i];
    ct_err             err = {0};
    (void)worker;
    if (!o->own) {
        ct__solver_pool_give(o->pool, inner->solver);
        inner->solver = NULL;
    }
    if (o->spill) {
        const ct_status status = ct__inner_put(o, i, 1, inner->x, &err);
        if (status != CT_OK) {
            inner->status = status;
            ct__outer_tell(o, i, status, &err);
        }
        inner->start = inner->x = NULL;
    }
    ct_sequence_release(inner->seq);
}

/* ---- The plan -------------------------------------------------------------------------------- */

/* Bytes that an inner problem takes all the time: what is in it, its result, its part of lists over all sequences. */
static int64_t bytes_of_inner(const ct_outer *o)
{
    const int64_t m = o->m;
    int64_t       bytes = (int64_t)sizeof *o->inner + (int64_t)sizeof(ct_evaluation) * EVALUATIONS + 256;
    bytes += (m + 2 * m * m) * (int64_t)sizeof(double) + o->models * (int64_t)sizeof(ct_model_fit);
    bytes += 3 * m * (int64_t)sizeof(double); /* gradients, jackknife */
    for (int32_t g = 0; g < o->models; g++) {
        const int64_t dim = ct_noise_get(o->base, g)->dim;
        if (o->slot[g] >= 0) bytes += dim * dim * (int64_t)sizeof(double) + 8;
    }
    return bytes;
}

ct_status ct__outer_plan_memory(ct_outer *o, ct_err *err)
{
    int64_t limit = 0;
    o->own = !o->store && ct__noise_functions(o->base) != 0;
    if (o->store) {
        const int64_t fixed = bytes_of_inner(o) * o->count;
        CT_TRY(ct__store_spill(o->store, &o->spill, err));
        CT_TRY(ct__store_reserve(o->store, fixed, o->scratches, "results of the sequences", err));
        o->reserved = fixed;
        limit = CT_MAX(1, ct__store_room(o->store) / SOLVERS);
        CT_TRY(ct__store_reserve(o->store, limit, o->scratches, "solvers", err));
        o->reserved += limit;
        for (int32_t i = 0; i < o->count; i++) {
            ct__inner_problem *inner = &o->inner[i];
            const int64_t      bytes = inner->size * (int64_t)sizeof(double);
            for (int k = 0; k < 2; k++) inner->place[k] = ct__spill_take(o->spill, bytes);
        }
    }
    return ct__solver_pool_new(limit, 0, o->own, &o->pool, err);
}

/* ---- Passes over the sequences --------------------------------------------------------------- */

typedef struct {
    ct_outer         *outer;
    const ct__spread *spread;
    int64_t           done, count;
} pass;

static int is_wanted(const void *user, int64_t i)
{
    const ct__spread *spread = ((const pass *)user)->spread;
    return !spread->wanted || spread->wanted(spread->user, i);
}

static void run_task(void *user, int64_t i, int worker)
{
    pass     *p = user;
    ct_outer *o = p->outer;
    p->spread->task(p->spread->user, i, worker);
    if (!o->options.visited) return;
    pthread_mutex_lock(&o->telling);
    o->options.visited(o->options.user, ++p->done, p->count);
    pthread_mutex_unlock(&o->telling);
}

ct_status ct__outer_spread_run(ct_outer *o, const ct__spread *spread, ct_err *err)
{
    pass       all = {.outer = o, .spread = spread};
    ct__spread watched = *spread;
    watched.task = run_task;
    watched.wanted = is_wanted;
    watched.user = &all;
    const ct_sequence **seq = o->store ? ct__zalloc(o->count, sizeof *seq) : NULL;
    ct__prefetch       *prefetch = NULL;
    int64_t             n = 0;
    if (o->store && !seq) return ct__no_memory(err, "sequences", o->count);
    for (int32_t i = 0; i < o->count; i++) {
        if (!is_wanted(&all, i) || !ct__spread_owns(spread, i)) continue;
        if (seq) seq[n++] = o->inner[i].seq;
        all.count++;
    }
    if (seq) ct__prefetch_begin(n, seq, o->scratches, &prefetch);
    o->failed = -1;
    const ct_status status = ct__spread_run(&watched, err);
    ct__prefetch_end(prefetch);
    free(seq);
    if (status != CT_OK || o->failed < 0) return status;
    if (err) *err = o->why;
    return o->why.status;
}

typedef struct {
    ct_outer   *outer;
    ct__task_fn task;
    void       *user;
} visit;

static void visit_sequence(void *user, int64_t i, int worker)
{
    const visit       *v = user;
    const ct_sequence *seq = v->outer->inner[i].seq;
    ct_err             err = {0};
    const ct_status    status = ct_sequence_acquire(seq, &err);
    if (status != CT_OK) {
        ct__outer_tell(v->outer, (int32_t)i, status, &err);
        return;
    }
    v->task(v->user, i, worker);
    ct_sequence_release(seq);
}

ct_status ct__outer_each(ct_outer *o, ct__task_fn task, void *user, ct_err *err)
{
    return ct__outer_each_shared(o, task, NULL, user, err);
}

ct_status ct__outer_each_shared(ct_outer *o, ct__task_fn task, const ct__records *records, void *user, ct_err *err)
{
    visit      v = {o, task, user};
    ct__spread spread = {.comm = o->options.comm,
                         .owner = o->owner,
                         .jobs = o->scratches,
                         .count = o->count,
                         .task = visit_sequence,
                         .user = &v};
    ct_err    own = {0};
    ct_status status = ct__outer_spread_run(o, &spread, &own);
    if (status != CT_OK && o->failed < 0) { /* no sequence's: memory */
        if (err) *err = own;
        return status;
    }
    CT_TRY(ct__outer_agree(o, err));
    if (!records) return CT_OK;
    spread.user = user;
    spread.size = records->size;
    spread.pack = records->pack;
    spread.unpack = records->unpack;
    return ct__spread_exchange(&spread, err);
}
