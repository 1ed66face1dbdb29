/* partition.c: which fronts several threads may eliminate at once.
 *
 * A subtree depends on no front outside of it. The largest subtrees with no more than a SHARES-th of all operations
 * are given to threads, as *parts*; small neighbours make one part together. What is above them, *tops*, is a few large
 * fronts, which threads share among themselves one after the other (front_large.c).
 *
 * The partition follows from the structure alone. */
#include "sparse/sparse.h"

/* Parts are this small a share of the whole or smaller: eight threads are kept busy by 32, as sizes differ. */
#define SHARES     32.0
/* Operations of a factorisation from which on there are parts: about a millisecond. */
#define WORTHWHILE 5e6
/* Operations that filling and adding cost per front and per entry of its matrix, beside those of the elimination. */
#define PER_FRONT  600.0
#define PER_ENTRY  3.0

static double front_work(const ct__front *front)
{
    const double p = front->p, m = front->s + 1;
    return p * p * p / 3 + p * p * m + p * m * m + PER_FRONT + PER_ENTRY * (p + m) * (p + m);
}

/* Marks in_part for fronts of subtrees up to `limit`, part_root for their roots, and lists both kinds. */
static void divide(ct_sparse *sp, const double *work, double limit)
{
    double sum = 0; /* of the part at hand */
    for (int32_t f = 0; f < sp->fronts; f++) {
        ct__front *front = &sp->front[f];
        const int  small = work[f] <= limit;
        const int  root = small && (front->parent < 0 || work[front->parent] > limit);
        front->in_part = (uint8_t)(small && !root);
        front->part_root = (uint8_t)root;
        if (!small) {
            sp->top[sp->tops++].front = f;
            sum = 0;
        }
        if (!root) continue;
        int32_t first = f; /* of its subtree */
        while (sp->front[first].child != -1) first = sp->front[first].child;
        if (sum == 0 || sum + work[f] > limit) {
            sp->part[sp->parts++].first = first;
            sum = 0;
        }
        sp->part[sp->parts - 1].last = f;
        sum += work[f];
    }
}

ct_status ct__partition(ct_sparse *sp, ct_err *err)
{
    double *work = ct__zalloc(sp->fronts, sizeof *work), total = 0;
    if (!work) return ct__no_memory(err, "fronts", sp->fronts);
    for (int32_t f = 0; f < sp->fronts; f++) {
        work[f] += front_work(&sp->front[f]);
        if (sp->front[f].parent >= 0) work[sp->front[f].parent] += work[f];
        else total += work[f];
    }
    int32_t roots = 0, tops = 0;
    const double limit = total / SHARES;
    for (int32_t f = 0; f < sp->fronts; f++) {
        const int32_t up = sp->front[f].parent;
        if (work[f] > limit) tops++;
        else if (up < 0 || work[up] > limit) roots++;
    }
    ct_status status = CT_OK;
    if (total >= WORTHWHILE) {
        sp->part = ct__zalloc(roots, sizeof *sp->part);
        sp->top = ct__zalloc(tops, sizeof *sp->top);
        if (sp->part && sp->top) divide(sp, work, limit);
        else status = ct__no_memory(err, "subtrees", roots);
    }
    free(work);
    return status;
}

ct_status ct__sparse_workers(ct_sparse *sp, int threads, ct_err *err)
{
    if (threads <= sp->workers) return CT_OK;
    ct__worker *more = realloc(sp->worker, (size_t)threads * sizeof *more);
    if (!more) return ct__no_memory(err, "threads", threads);
    sp->worker = more;
    while (sp->workers < threads) {
        ct__worker *w = &sp->worker[sp->workers];
        *w = (ct__worker){.stack = ct__zalloc(sp->worker_stack, sizeof *w->stack),
                          .local = ct__zalloc(2 * (int64_t)sp->largest + 2, sizeof *w->local),
                          /* two ranges of columns, each padded to 8 */
                          .tiles = ct__zalloc(CT_STRIP * ((int64_t)sp->largest + 17), sizeof *w->tiles)};
        if (!w->stack || !w->local || !w->tiles) {
            free(w->stack);
            free(w->local);
            free(w->tiles);
            return ct__no_memory(err, "rows of the largest front", sp->largest);
        }
        sp->workers++;
    }
    return CT_OK;
}

ct__team *ct__sparse_enter(ct_sparse *sp, ct__team *own)
{
    own->size = 0;
    if (sp->team || sp->threads < 2 || !sp->parts || sp->workers < 2) return sp->team;
    ct__team_begin(own, CT_MIN(sp->threads, sp->workers));
    return sp->team = own;
}

void ct__sparse_leave(ct_sparse *sp, ct__team *own)
{
    if (own->size == 0) return;
    ct__team_end(own);
    sp->team = NULL;
}
