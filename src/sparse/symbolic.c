/* symbolic.c: from an order of elimination to a tree of fronts.
 *
 *  1. Elimination tree (Liu): parent(j) is the first later block that eliminating j ties to it.
 *  2. Postorder, so that a subtree is a range of positions.
 *  3. Size of every column of R, by walking each row's subtree: O(|R|) blocks.
 *  4. Supernodes: intervals of columns with the same structure.
 *  5. Amalgamation: a child joins its parent where the zeros that this stores cost less than
 *     another small front would.
 *  6. A final postorder in which every front's pivots are consecutive, and the separators.
 *
 * Trees are arrays of (first child, next sibling); a chain of a million poses is a tree as deep. */
#include "sparse/sparse.h"

#include <assert.h>

/* Shared by the steps; positions refer to the order after step 2. */
typedef struct {
    int32_t  n;
    int32_t *parent;          /* per position */
    int64_t *low_start;       /* per position (+1): earlier (at the end: later) neighbours, into low */
    int32_t *low;
    int32_t *count;           /* blocks in column j of R below the diagonal */
    int64_t *weight;          /* scalars in them                            */
    int32_t *child, *sibling, *stack, *mark;
    /* supernodes */
    int32_t  nodes;
    int32_t *node_of;         /* per position */
    int32_t *node_first;      /* per node (+1): first position */
    int32_t *node_parent;
    int32_t *joined;          /* per node: node it was merged into, or itself */
} plan;

static void plan_free(plan *w)
{
    free(w->parent);
    free(w->low_start);
    free(w->low);
    free(w->count);
    free(w->weight);
    free(w->child);
    free(w->sibling);
    free(w->stack);
    free(w->mark);
    free(w->node_of);
    free(w->node_first);
    free(w->node_parent);
    free(w->joined);
}

static ct_status plan_new(plan *w, int32_t n, int64_t pairs, ct_err *err)
{
    *w = (plan){.n = n};
    w->parent = ct__zalloc(n, sizeof(int32_t));
    w->low_start = ct__zalloc((int64_t)n + 2, sizeof(int64_t));
    w->low = ct__zalloc(pairs, sizeof(int32_t));
    w->count = ct__zalloc(n, sizeof(int32_t));
    w->weight = ct__zalloc(n, sizeof(int64_t));
    w->child = ct__zalloc((int64_t)n + 1, sizeof(int32_t));
    w->sibling = ct__zalloc(n, sizeof(int32_t));
    w->stack = ct__zalloc(n, sizeof(int32_t));
    w->mark = ct__zalloc(n, sizeof(int32_t));
    w->node_of = ct__zalloc(n, sizeof(int32_t));
    w->node_first = ct__zalloc((int64_t)n + 1, sizeof(int32_t));
    w->node_parent = ct__zalloc(n, sizeof(int32_t));
    w->joined = ct__zalloc(n, sizeof(int32_t));
    const int complete = w->parent && w->low_start && w->low && w->count && w->weight && w->child && w->sibling &&
                         w->stack && w->mark && w->node_of && w->node_first && w->node_parent && w->joined;
    return complete ? CT_OK : ct__no_memory(err, "blocks to analyse", n);
}

static void invert(int32_t n, const int32_t *order, int32_t *position)
{
    for (int32_t k = 0; k < n; k++) position[order[k]] = k;
}

/* For each position the neighbours before it (later = 0) or after it (later = 1), into w->low. */
static void list_neighbours(plan *w, const int32_t *position, const int64_t *start, const int32_t *pair, int later)
{
    memset(w->low_start, 0, ((size_t)w->n + 2) * sizeof *w->low_start);
    for (int pass = 0; pass < 2; pass++) { /* count, then fill */
        for (int32_t a = 0; a < w->n; a++)
            for (int64_t t = start[a]; t < start[a + 1]; t++) {
                const int32_t i = CT_MIN(position[a], position[pair[t]]), j = CT_MAX(position[a], position[pair[t]]);
                const int32_t owner = later ? i : j, other = later ? j : i;
                if (pass == 0) w->low_start[owner + 2]++;
                else w->low[w->low_start[owner + 1]++] = other;
            }
        for (int32_t k = 0; pass == 0 && k < w->n; k++) w->low_start[k + 2] += w->low_start[k + 1];
    }
}

/* 1. `mark` serves as the path-compressed ancestor. */
static void elimination_tree(plan *w)
{
    for (int32_t k = 0; k < w->n; k++) {
        w->parent[k] = w->mark[k] = -1;
        for (int64_t t = w->low_start[k]; t < w->low_start[k + 1]; t++)
            for (int32_t i = w->low[t]; i != -1 && i < k;) {
                const int32_t next = w->mark[i];
                w->mark[i] = k;
                if (next == -1) w->parent[i] = k;
                i = next;
            }
    }
}

/* Links children (ascending) below their parents; roots hang under index n. Nodes that joined
 * another (joined may be NULL) are left out. */
static void link_children(int32_t n, const int32_t *parent, const int32_t *joined, int32_t *child, int32_t *sibling)
{
    for (int32_t k = 0; k <= n; k++) child[k] = -1;
    for (int32_t k = n - 1; k >= 0; k--) {
        if (joined && joined[k] != k) continue;
        const int32_t up = parent[k] < 0 ? n : parent[k];
        sibling[k] = child[up];
        child[up] = k;
    }
}

/* Visits nodes children first: post[k] = k-th node visited. Destroys child[], returns how many. */
static int32_t postorder(int32_t n, int32_t *child, const int32_t *sibling, int32_t *stack, int32_t *post)
{
    int32_t k = 0;
    for (int32_t root = child[n]; root != -1; root = sibling[root]) {
        int32_t depth = 0;
        stack[0] = root;
        while (depth >= 0) {
            const int32_t node = stack[depth];
            if (child[node] == -1) {
                post[k++] = node;
                depth--;
            } else {
                stack[++depth] = child[node];
                child[node] = sibling[child[node]];
            }
        }
    }
    return k;
}

/* 2. Renumbers order, position and parent by postorder. */
static void renumber(plan *w, int32_t *order, int32_t *position)
{
    int32_t *post = w->count; /* free until step 3 */
    link_children(w->n, w->parent, NULL, w->child, w->sibling);
    postorder(w->n, w->child, w->sibling, w->stack, post);
    int32_t *rank = w->mark, *old = w->stack;
    for (int32_t k = 0; k < w->n; k++) rank[post[k]] = k;
    memcpy(old, order, (size_t)w->n * sizeof *order);
    for (int32_t k = 0; k < w->n; k++) order[k] = old[post[k]];
    for (int32_t k = 0; k < w->n; k++) old[k] = w->parent[post[k]] < 0 ? -1 : rank[w->parent[post[k]]];
    memcpy(w->parent, old, (size_t)w->n * sizeof *old);
    invert(w->n, order, position);
}

/* 3. Column j of R holds row k iff j lies on the tree path from a neighbour i < k up to k. */
static void column_counts(plan *w, const int32_t *order, const int32_t *dim)
{
    memset(w->count, 0, (size_t)w->n * sizeof *w->count);
    memset(w->weight, 0, (size_t)w->n * sizeof *w->weight);
    for (int32_t k = 0; k < w->n; k++) {
        w->mark[k] = k;
        for (int64_t t = w->low_start[k]; t < w->low_start[k + 1]; t++)
            for (int32_t j = w->low[t]; w->mark[j] != k; j = w->parent[j]) {
                w->mark[j] = k;
                w->count[j]++;
                w->weight[j] += dim[order[k]];
            }
    }
}

/* 4. j + 1 continues j's supernode if it is its parent and loses exactly itself. */
static void supernodes(plan *w)
{
    w->nodes = 0;
    for (int32_t j = 0; j < w->n; j++) {
        const int same = j > 0 && w->parent[j - 1] == j && w->count[j - 1] == w->count[j] + 1;
        if (!same) w->node_first[w->nodes++] = j;
        w->node_of[j] = w->nodes - 1;
    }
    w->node_first[w->nodes] = w->n;
    for (int32_t node = 0; node < w->nodes; node++) {
        const int32_t up = w->parent[w->node_first[node + 1] - 1];
        w->node_parent[node] = up < 0 ? -1 : w->node_of[up];
    }
}

/* Whether a front of p pivots and s separators with `zeros` explicit zero entries is still
 * better than the two it came from. Small fronts cost their overhead, large ones their arithmetic
 * (measured on chains, grids and spheres; see docs/performance.md). */
static int worth_merging(int64_t p, int64_t s, double zeros)
{
    const double entries = 0.5 * (double)p * (double)(p + 1) + (double)p * (double)s;
    const double share = zeros / entries;
    if (p <= 12) return share < 0.25;
    if (p <= 32) return share < 0.15;
    return share < 0.06;
}

/* 5. Bottom-up over parents; the children of a merged child are tested next. */
static ct_status amalgamate(plan *w, const int32_t *order, const int32_t *dim, ct_err *err)
{
    const int32_t n = w->nodes;
    int64_t      *p = ct__zalloc(n, sizeof *p), *s = ct__zalloc(n, sizeof *s);
    double       *zeros = ct__zalloc(n, sizeof *zeros);
    ct_status     status = p && s && zeros ? CT_OK : ct__no_memory(err, "supernodes", n);
    if (status != CT_OK) goto done;
    for (int32_t k = 0; k < n; k++) {
        for (int32_t j = w->node_first[k]; j < w->node_first[k + 1]; j++) p[k] += dim[order[j]];
        s[k] = w->weight[w->node_first[k + 1] - 1];
        w->joined[k] = k;
    }
    link_children(n, w->node_parent, NULL, w->child, w->sibling);
    for (int32_t k = 0; k < n; k++) {
        int32_t *link = &w->child[k];
        while (*link != -1) {
            const int32_t c = *link;
            const double  wasted = zeros[c] + zeros[k] + (double)p[c] * (double)(p[k] + s[k] - s[c]);
            const int both_chains =
                p[c] == 3 && s[c] == 3 && p[k] == 3 && s[k] == 3; /* faster apart: see planar_chain.c */
            if (both_chains || !worth_merging(p[c] + p[k], s[k], wasted)) {
                link = &w->sibling[c];
                continue;
            }
            w->joined[c] = k;
            p[k] += p[c];
            zeros[k] = wasted;
            /* c's children take its place and are tested next */
            const int32_t after = w->sibling[c];
            *link = w->child[c] == -1 ? after : w->child[c];
            for (int32_t g = w->child[c]; g != -1; g = w->sibling[g]) {
                w->node_parent[g] = k;
                if (w->sibling[g] == -1) {
                    w->sibling[g] = after;
                    break;
                }
            }
        }
    }
done:
    free(p);
    free(s);
    free(zeros);
    return status;
}

/* Nodes that joined k, in their order, then k itself. joined[k] >= k, so going down each is final. */
static void list_members(plan *w, int32_t *head, int32_t *next)
{
    for (int32_t k = 0; k < w->nodes; k++) head[k] = -1;
    for (int32_t k = w->nodes - 1; k >= 0; k--) {
        const int32_t final = w->joined[k] = w->joined[w->joined[k]];
        next[k] = head[final];
        head[final] = k;
    }
}

/* 6. Numbers the surviving nodes children first and lays their pivots out one after the other. */
static ct_status make_fronts(ct_sparse *sp, plan *w, ct_err *err)
{
    const int32_t n = w->nodes;
    int32_t *head = ct__zalloc(n, sizeof *head), *next = ct__zalloc(n, sizeof *next),
            *post = ct__zalloc(n, sizeof *post);
    int32_t      *number = ct__zalloc(n, sizeof *number), *old = ct__zalloc(w->n, sizeof *old);
    ct_status     status = head && next && post && number && old ? CT_OK : ct__no_memory(err, "fronts", n);
    if (status != CT_OK) goto done;
    list_members(w, head, next);
    link_children(n, w->node_parent, w->joined, w->child, w->sibling);
    sp->fronts = postorder(n, w->child, w->sibling, w->stack, post);
    sp->front = ct__zalloc((int64_t)sp->fronts + 1, sizeof *sp->front);
    if (!sp->front) {
        status = ct__no_memory(err, "fronts", sp->fronts);
        goto done;
    }
    memcpy(old, sp->order, (size_t)w->n * sizeof *old);
    int32_t at = 0;
    for (int32_t f = 0; f < sp->fronts; f++) {
        ct__front *front = &sp->front[f];
        number[post[f]] = f;
        front->first = at;
        front->separators = w->count[w->node_first[post[f] + 1] - 1];
        for (int32_t m = head[post[f]]; m != -1; m = next[m])
            for (int32_t j = w->node_first[m]; j < w->node_first[m + 1]; j++) sp->order[at++] = old[j];
        front->pivots = at - front->first;
    }
    for (int32_t f = 0; f < sp->fronts; f++) {
        const int32_t up = w->node_parent[post[f]];
        sp->front[f].parent = up < 0 ? -1 : number[up];
    }
    invert(w->n, sp->order, sp->position);
done:
    free(head);
    free(next);
    free(post);
    free(number);
    free(old);
    return status;
}

static int ascending(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Most separators have a few blocks, for which calls of qsort take longer than the sorting. */
#define FEW 24
static void sort_positions(int32_t *list, int32_t count)
{
    if (count > FEW) {
        qsort(list, (size_t)count, sizeof *list, ascending);
        return;
    }
    for (int32_t k = 1; k < count; k++) {
        const int32_t moved = list[k];
        int32_t       to = k;
        for (; to > 0 && list[to - 1] > moved; to--) list[to] = list[to - 1];
        list[to] = moved;
    }
}

/* Each separator is what the pivots' neighbours and the children's separators hold beyond the front. */
static ct_status separators(ct_sparse *sp, plan *w, ct_err *err)
{
    int32_t *mark = w->mark;
    int64_t total = 0;
    for (int32_t f = 0; f < sp->fronts; f++) {
        sp->front[f].separator = total;
        total += sp->front[f].separators;
        sp->front[f].child = sp->front[f].sibling = -1;
    }
    sp->front[sp->fronts].separator = total;
    for (int32_t f = sp->fronts - 1; f >= 0; f--) {
        const int32_t up = sp->front[f].parent;
        if (up < 0) continue;
        sp->front[f].sibling = sp->front[up].child;
        sp->front[up].child = f;
    }
    sp->separator = ct__zalloc(total, sizeof *sp->separator);
    if (!sp->separator) return ct__no_memory(err, "separator blocks", total);
    for (int32_t k = 0; k < sp->blocks; k++) mark[k] = -1;
    for (int32_t f = 0; f < sp->fronts; f++) {
        const ct__front *front = &sp->front[f];
        const int32_t    end = front->first + front->pivots;
        int32_t         *list = sp->separator + front->separator, found = 0;
        for (int64_t t = w->low_start[front->first]; t < w->low_start[end]; t++) {
            const int32_t j = w->low[t];
            if (j < end || mark[j] == f) continue;
            mark[j] = f;
            list[found++] = j;
        }
        for (int32_t c = front->child; c != -1; c = sp->front[c].sibling)
            for (int32_t t = 0; t < sp->front[c].separators; t++) {
                const int32_t j = sp->separator[sp->front[c].separator + t];
                if (j < end || mark[j] == f) continue;
                mark[j] = f;
                list[found++] = j;
            }
        assert(found == front->separators);
        sort_positions(list, found);
    }
    return CT_OK;
}

ct_status ct__symbolic(ct_sparse *sp, const int64_t *start, const int32_t *pair, ct_err *err)
{
    plan      w;
    ct_status status = plan_new(&w, sp->blocks, start[sp->blocks], err);
    if (status == CT_OK) {
        invert(sp->blocks, sp->order, sp->position);
        list_neighbours(&w, sp->position, start, pair, 0);
        elimination_tree(&w);
        renumber(&w, sp->order, sp->position);
        list_neighbours(&w, sp->position, start, pair, 0);
        column_counts(&w, sp->order, sp->dim);
        supernodes(&w);
        status = amalgamate(&w, sp->order, sp->dim, err);
    }
    if (status == CT_OK) status = make_fronts(sp, &w, err);
    if (status == CT_OK) {
        list_neighbours(&w, sp->position, start, pair, 1);
        status = separators(sp, &w, err);
    }
    plan_free(&w);
    return status;
}
