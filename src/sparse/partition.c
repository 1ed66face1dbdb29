/* partition.c: which fronts several threads may eliminate at once.
 *
 * A subtree depends on no front outside of it. The largest subtrees with no more than a SHARES-th of all operations
 * are given to threads, as *parts*; small neighbours make one part together. What is above them are *tops*, a few large
 * fronts. Those of a larger subtree, a *branch*, are eliminated by the thread that ends its last part. What is above
 * all branches, threads share among themselves one after the other (front_large.c).
 *
 * The partition follows from the structure alone. */
#include "sparse/sparse.h"

/* Parts are this small a share of the whole or smaller: eight threads are kept busy by 32, as sizes differ. */
#define SHARES     32.0
/* Branches are this share or smaller. Two threads share a front of 400 rows hardly faster than one eliminates it, as
 * the matrix moves between their caches. So few fronts should be above branches, and branches should be more than the
 * threads of small machines. */
#define BRANCHES   3.0
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

/* Is f the root of the largest subtree of at most `limit` operations that it is in? */
static int is_root(const ct_sparse *sp, const double *work, double limit, int32_t f)
{
    const int32_t up = sp->front[f].parent;
    return work[f] <= limit && (up < 0 || work[up] > limit);
}

/* Lists a front above the parts, in its branch, if it is in one. Fronts of a branch follow each other. */
static void add_top(ct_sparse *sp, int32_t f, int in_branch, int is_branch_root)
{
    const int32_t t = sp->tops++;
    const int     continued = in_branch && t > 0 && sp->top[t - 1].branch >= 0 &&
                          sp->front[sp->top[t - 1].front].stack == CT__STACK_BRANCH;
    if (in_branch && !continued) sp->branch[sp->branches++].first = t;
    sp->top[t] = (ct__top_front){.front = f, .branch = in_branch ? sp->branches - 1 : -1};
    sp->front[f].stack = is_branch_root ? CT__STACK_NONE : in_branch ? CT__STACK_BRANCH : CT__STACK_SHARED;
    if (in_branch) sp->branch[sp->branches - 1].last = t;
}

/* Lists parts, of subtrees up to `limit`, and tops, in branches up to `branch_limit`. */
static void divide(ct_sparse *sp, const double *work, double limit, double branch_limit)
{
    double sum = 0; /* of the part at hand */
    for (int32_t f = 0; f < sp->fronts; f++) {
        ct__front *front = &sp->front[f];
        const int  small = work[f] <= limit, root = is_root(sp, work, limit, f);
        if (!small) {
            add_top(sp, f, work[f] <= branch_limit, is_root(sp, work, branch_limit, f));
            sum = 0;
        } else front->stack = root ? CT__STACK_NONE : CT__STACK_PART;
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

static int by_front(const void *a, const void *b)
{
    const ct__top_front *x = a, *y = b;
    return (x->front > y->front) - (x->front < y->front);
}

/* Which branch waits for which part: that of the front above the part's last subtree. Fronts above its other subtrees
 * are in the same branch, or above all branches. */
static void tie_parts(ct_sparse *sp)
{
    for (int32_t k = 0; k < sp->parts; k++) {
        const ct__top_front  key = {.front = sp->front[sp->part[k].last].parent};
        const ct__top_front *up = key.front < 0 ? NULL : bsearch(&key, sp->top, (size_t)sp->tops, sizeof key, by_front);
        sp->part[k].branch = up ? up->branch : -1;
        if (sp->part[k].branch >= 0) sp->branch[sp->part[k].branch].parts++;
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
        sp->branch = ct__zalloc(tops, sizeof *sp->branch);
        if (sp->part && sp->top && sp->branch) {
            divide(sp, work, limit, total / BRANCHES);
            tie_parts(sp);
        } else status = ct__no_memory(err, "subtrees", roots);
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
