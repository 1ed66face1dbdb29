/* spread.c: tasks over ranks and threads; see comm.h. */
#include "base/base.h"
#include "comm/comm.h"

#include <math.h>

static int is_alone(const ct_comm *comm) { return !comm || comm->size < 2; }

static int is_wanted(const ct__spread *s, int64_t i) { return !s->wanted || s->wanted(s->user, i); }

static int owner_of(const ct__spread *s, int64_t i)
{
    return s->owner ? s->owner[i] : (int)(i % s->comm->size);
}

int ct__spread_owns(const ct__spread *s, int64_t i) { return is_alone(s->comm) || owner_of(s, i) == s->comm->rank; }

typedef struct {
    const ct__spread *spread;
    int64_t          *list;
} own;

static void run_task(void *user, int64_t k, int worker)
{
    const own *o = user;
    o->spread->task(o->spread->user, o->list[k], worker);
}

ct_status ct__spread_run(const ct__spread *s, ct_err *err)
{
    own     mine = {.spread = s, .list = ct__zalloc(s->count, sizeof *mine.list)};
    int64_t n = 0;
    if (!mine.list) return ct__no_memory(err, "tasks", s->count);
    for (int64_t i = 0; i < s->count; i++)
        if (is_wanted(s, i) && ct__spread_owns(s, i)) mine.list[n++] = i;
    ct__parallel(s->jobs, n, run_task, &mine);
    free(mine.list);
    return CT_OK;
}

/* Tasks first .. end - 1, and the bytes of their records by rank. */
typedef struct {
    const ct__spread *spread;
    int64_t           first, end, *bytes;
} piece;

#define PIECE ((int64_t)16 << 20) /* bytes of records that are exchanged at a time */

/* Records of one rank after the other, each rank's in the order of tasks. bytes <- where each rank's end. */
static void unpack(const piece *p, const char *all)
{
    const ct__spread *s = p->spread;
    int64_t           at = 0;
    for (int r = 0; r < s->comm->size; r++) {
        const int64_t next = at + p->bytes[r];
        p->bytes[r] = at;
        at = next;
    }
    for (int64_t i = p->first; i < p->end; i++) {
        if (!is_wanted(s, i)) continue;
        const int r = owner_of(s, i);
        if (r != s->comm->rank) s->unpack(s->user, i, all + p->bytes[r]);
        p->bytes[r] += s->size(s->user, i);
    }
}

static ct_status exchange_piece(const piece *p, int64_t total, ct_err *err)
{
    const ct__spread *s = p->spread;
    char             *mine = ct__zalloc(p->bytes[s->comm->rank], 1), *all = ct__zalloc(total, 1);
    ct_status         status = mine && all ? CT_OK : ct__no_memory(err, "bytes of results", total);
    int64_t           at = 0;
    for (int64_t i = p->first; status == CT_OK && i < p->end; i++) {
        if (!is_wanted(s, i) || owner_of(s, i) != s->comm->rank) continue;
        s->pack(s->user, i, mine + at);
        at += s->size(s->user, i);
    }
    if (status == CT_OK) status = s->comm->exchange(s->comm->user, mine, p->bytes, all, err);
    if (status == CT_OK) unpack(p, all);
    free(mine);
    free(all);
    return status;
}

ct_status ct__spread_exchange(const ct__spread *s, ct_err *err)
{
    if (is_alone(s->comm)) return CT_OK;
    piece p = {.spread = s, .bytes = ct__zalloc(s->comm->size, sizeof *p.bytes)};
    if (!p.bytes) return ct__no_memory(err, "ranks", s->comm->size);
    ct_status status = CT_OK;
    for (; status == CT_OK && p.first < s->count; p.first = p.end) {
        int64_t total = 0;
        memset(p.bytes, 0, (size_t)s->comm->size * sizeof *p.bytes);
        for (p.end = p.first; p.end < s->count && total < PIECE; p.end++) {
            const int64_t bytes = is_wanted(s, p.end) ? s->size(s->user, p.end) : 0;
            if (bytes) p.bytes[owner_of(s, p.end)] += bytes;
            total += bytes;
        }
        if (total) status = exchange_piece(&p, total, err);
    }
    free(p.bytes);
    return status;
}

ct_status ct_comm_any(const ct_comm *comm, int mine, int *any, ct_err *err)
{
    *any = mine != 0;
    if (is_alone(comm)) return CT_OK;
    int64_t      *bytes = ct__zalloc(comm->size, sizeof *bytes);
    unsigned char byte = mine != 0, *all = ct__zalloc(comm->size, 1);
    for (int r = 0; bytes && r < comm->size; r++) bytes[r] = 1;
    const ct_status status = bytes && all ? comm->exchange(comm->user, &byte, bytes, all, err)
                                          : ct__no_memory(err, "ranks", comm->size);
    for (int r = 0; status == CT_OK && r < comm->size; r++) *any |= all[r];
    free(bytes);
    free(all);
    return status;
}

ct_status ct_comm_give(const ct_comm *comm, void *bytes, int64_t size, ct_err *err)
{
    if (is_alone(comm) || size <= 0) return CT_OK;
    int64_t  *sizes = ct__zalloc(comm->size, sizeof *sizes);
    char     *all = ct__zalloc(size, 1);
    ct_status status = sizes && all ? CT_OK : ct__no_memory(err, "bytes of results", size);
    if (status == CT_OK) sizes[0] = size;
    if (status == CT_OK) status = comm->exchange(comm->user, bytes, sizes, all, err);
    if (status == CT_OK && comm->rank > 0) memcpy(bytes, all, (size_t)size);
    free(sizes);
    free(all);
    return status;
}

/* ---- Who computes what ----------------------------------------------------------------------- */

typedef struct {
    double  cost;
    int64_t task;
} priced;

static int by_cost(const void *a, const void *b)
{
    const priced *x = a, *y = b;
    if (x->cost != y->cost) return x->cost > y->cost ? -1 : 1;
    return x->task < y->task ? -1 : 1;
}

/* A heap of ranks: the least load first, of equal ones the lowest rank. */
static int is_before(const double *load, int32_t a, int32_t b)
{
    return load[a] < load[b] || (load[a] == load[b] && a < b);
}

static void sink(int32_t *heap, int size, const double *load)
{
    for (int k = 0;;) {
        int least = k;
        for (int child = 2 * k + 1; child <= 2 * k + 2 && child < size; child++)
            if (is_before(load, heap[child], heap[least])) least = child;
        if (least == k) return;
        const int32_t t = heap[k];
        heap[k] = heap[least];
        heap[least] = t;
        k = least;
    }
}

ct_status ct_comm_assign(int size, int64_t count, const double cost[], int32_t owner[], ct_err *err)
{
    if (size < 1 || count < 0) return ct_fail(err, CT_E_ARGUMENT, "%d ranks: there must be one or more", size);
    for (int64_t i = 0; i < count; i++)
        if (!(cost[i] >= 0) || isinf(cost[i]))
            return ct_fail(err, CT_E_ARGUMENT, "task %lld costs %g; a cost is finite and not negative", (long long)i,
                           cost[i]);
    priced  *order = ct__zalloc(count, sizeof *order);
    double  *load = ct__zalloc(size, sizeof *load);
    int32_t *heap = ct__zalloc(size, sizeof *heap);
    for (int64_t i = 0; order && i < count; i++) order[i] = (priced){cost[i], i};
    for (int r = 0; heap && r < size; r++) heap[r] = r;
    const int ok = order && load && heap;
    if (ok && count) qsort(order, (size_t)count, sizeof *order, by_cost);
    for (int64_t k = 0; ok && k < count; k++) {
        owner[order[k].task] = heap[0];
        load[heap[0]] += order[k].cost;
        sink(heap, size, load);
    }
    free(order);
    free(load);
    free(heap);
    return ok ? CT_OK : ct__no_memory(err, "tasks", count);
}
