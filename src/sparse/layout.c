/* layout.c: ct_sparse_new, and the place of every number. The order is given; the numeric steps only fill. */
#include "sparse/sparse.h"

#include <assert.h>

/* Each front's size in scalars, its panel, the cost of factoring it. */
static ct_status place_panels(ct_sparse *sp, ct_err *err)
{
    for (int32_t f = 0; f < sp->fronts; f++) {
        ct__front *front = &sp->front[f];
        front->scalar = sp->scalar[front->first];
        front->p = sp->scalar[front->first + front->pivots] - front->scalar;
        for (int32_t j = front->first; j < front->first + front->pivots; j++) sp->front_of[j] = f;
        int64_t s = 0;
        for (int32_t t = 0; t < front->separators; t++) {
            const int32_t j = sp->separator[front->separator + t];
            s += sp->scalar[j + 1] - sp->scalar[j];
        }
        front->s = (int32_t)s;
        const int64_t entries = front->p * (front->p + s + 1), square = s * (s + 1);
        if (entries > INT32_MAX || square > INT32_MAX)
            return ct_fail(err, CT_E_LIMIT,
                           "a front of %d pivots and %lld separators is larger than this build can hold", front->p,
                           (long long)s);
        front->panel = sp->panel_size;
        sp->panel_size += entries;
        sp->largest = CT_MAX(sp->largest, front->p + front->s);
        const double p = front->p, m = front->s + 1;
        sp->flops += p * p * p / 3 + p * p * m + p * m * m;
    }
    sp->front[sp->fronts].first = sp->blocks;
    return CT_OK;
}

/* The depth of every front, roots of trees 0. */
static ct_status find_depths(ct_sparse *sp, int32_t **out, ct_err *err)
{
    int32_t *depth = *out = ct__zalloc(sp->fronts, sizeof *depth);
    if (!depth) return ct__no_memory(err, "fronts", sp->fronts);
    for (int32_t f = sp->fronts - 1; f >= 0; f--) {
        const int32_t up = sp->front[f].parent;
        depth[f] = up < 0 ? 0 : depth[up] + 1;
        sp->height = CT_MAX(sp->height, depth[f] + 1);
    }
    return CT_OK;
}

/* Updates of fronts first .. last of this kind live on two stacks, by parity of depth: a front's own never shares a
 * stack with its children's, so it can be formed while they are read, and both are popped in order. The places are
 * fixed here once, from `base` on; the second stack lies behind the first. Returns the end of both. */
static int64_t place_stacks(ct_sparse *sp, const int32_t *depth, int32_t first, int32_t last, ct__stack kind,
                            int64_t base)
{
    int64_t top[2] = {0, 0}, peak[2] = {0, 0};
    for (int32_t f = first; f <= last; f++) {
        ct__front *front = &sp->front[f];
        const int  side = depth[f] & 1;
        for (int32_t c = front->child; c != -1; c = sp->front[c].sibling) /* popped once f is formed */
            if (sp->front[c].stack == kind)
                top[!side] -= (int64_t)sp->front[c].s * (sp->front[c].s + 1);
        if (front->stack != kind) continue;
        front->update = base + top[side];
        top[side] += (int64_t)front->s * (front->s + 1);
        peak[side] = CT_MAX(peak[side], top[side]);
    }
    for (int32_t f = first; f <= last; f++)
        if (depth[f] & 1 && sp->front[f].stack == kind) sp->front[f].update += peak[0];
    return base + peak[0] + peak[1];
}

/* Updates inside of parts are in the stack of the thread, which the next part uses again. Those of the roots of parts
 * and branches wait for the fronts above, all at once. Behind them are the stacks of branches, which may be worked on
 * at the same time, and those of the fronts above all branches. */
static ct_status place_updates(ct_sparse *sp, ct_err *err)
{
    int32_t *depth;
    CT_TRY(find_depths(sp, &depth, err));
    for (int32_t k = 0; k < sp->parts; k++)
        sp->worker_stack =
            CT_MAX(sp->worker_stack, place_stacks(sp, depth, sp->part[k].first, sp->part[k].last, CT__STACK_PART, 0));
    for (int32_t f = 0; f < sp->fronts; f++) {
        if (sp->front[f].stack != CT__STACK_NONE) continue;
        sp->front[f].update = sp->stack_size;
        sp->stack_size += (int64_t)sp->front[f].s * (sp->front[f].s + 1);
    }
    for (int32_t b = 0; b < sp->branches; b++) {
        const ct__branch *branch = &sp->branch[b];
        sp->stack_size = place_stacks(sp, depth, sp->top[branch->first].front, sp->top[branch->last].front,
                                      CT__STACK_BRANCH, sp->stack_size);
    }
    sp->stack_size = place_stacks(sp, depth, 0, sp->fronts - 1, CT__STACK_SHARED, sp->stack_size);
    free(depth);
    return CT_OK;
}

/* Where eliminated position j begins in front's matrix: a pivot, or found in the sorted separator
 * from entry *t on. */
static int32_t local_row(const ct_sparse *sp, const ct__front *front, int32_t j, int32_t *t, int32_t *row)
{
    if (j < front->first + front->pivots) return sp->scalar[j] - front->scalar;
    for (; sp->separator[front->separator + *t] != j; ++*t) {
        const int32_t i = sp->separator[front->separator + *t];
        *row += sp->scalar[i + 1] - sp->scalar[i];
    }
    return front->p + *row;
}

/* For every front: how its separator maps into the parent's matrix, and into the solution. */
static ct_status place_intervals(ct_sparse *sp, ct_err *err)
{
    int64_t total = 0;
    for (int32_t f = 0; f < sp->fronts; f++) total += sp->front[f].separators;
    sp->interval = ct__zalloc(total, sizeof *sp->interval);
    sp->gather = ct__zalloc(total, sizeof *sp->gather);
    if (!sp->interval || !sp->gather) return ct__no_memory(err, "separator blocks", total);
    int64_t at = 0;
    for (int32_t f = 0; f < sp->fronts; f++) {
        ct__front *front = &sp->front[f];
        ct__front *up = front->parent < 0 ? NULL : &sp->front[front->parent];
        front->interval = front->gather = at;
        for (int32_t k = 0, from = 0, t = 0, row = 0; k < front->separators; k++) {
            const int32_t j = sp->separator[front->separator + k], len = sp->scalar[j + 1] - sp->scalar[j];
            ct__append_interval(sp->gather + at, &front->gathers, from, sp->scalar[j], len, -1);
            assert(up);
            ct__append_interval(sp->interval + at, &front->intervals, from, local_row(sp, up, j, &t, &row), len, up->p);
            from += len;
        }
        at += front->separators;
        if (front->intervals && sp->interval[front->interval + front->intervals - 1].to >= up->p) up->update_fed = 1;
    }
    return CT_OK;
}

/* The front that eliminates edge e's first member, -1 for an edge without members. */
static int32_t front_of_edge(const ct_sparse *sp, int64_t e)
{
    int32_t first = sp->blocks;
    for (int64_t i = sp->edge_start[e]; i < sp->edge_start[e + 1]; i++)
        first = CT_MIN(first, sp->position[sp->member[i]]);
    return first < sp->blocks ? sp->front_of[first] : -1;
}

static int by_row_and_column(const void *a, const void *b)
{
    const ct__hessian_block *x = a, *y = b;
    return x->row != y->row ? (x->row > y->row) - (x->row < y->row) : (x->col > y->col) - (x->col < y->col);
}

/* Most fronts have a few blocks, for which calls of qsort take longer than the sorting. */
#define FEW 24
static void sort_blocks(ct__hessian_block *block, int64_t count)
{
    if (count > FEW) {
        qsort(block, (size_t)count, sizeof *block, by_row_and_column);
        return;
    }
    for (int64_t k = 1; k < count; k++) {
        const ct__hessian_block moved = block[k];
        int64_t                 to = k;
        for (; to > 0 && by_row_and_column(&block[to - 1], &moved) > 0; to--) block[to] = block[to - 1];
        block[to] = moved;
    }
}

/* Lists per front every pair of members of its edges, and every pivot with itself; with duplicates. `at` of a pair is
 * 2 * its slot + 1 if the earlier member is eliminated later; of a pivot -1. */
static ct_status list_blocks(ct_sparse *sp, const int32_t *edge_front, ct_err *err)
{
    const int64_t total = sp->slot_start[sp->edges] + sp->blocks;
    sp->block = ct__zalloc(total, sizeof *sp->block);
    if (!sp->block) return ct__no_memory(err, "blocks of H", total);
    for (int32_t f = 0; f < sp->fronts; f++) sp->front[f + 1].block = sp->front[f].pivots;
    for (int64_t e = 0; e < sp->edges; e++) {
        const int32_t f = edge_front[e];
        if (f >= 0) sp->front[f + 1].block += sp->slot_start[e + 1] - sp->slot_start[e];
    }
    for (int32_t f = 0; f < sp->fronts; f++) sp->front[f + 1].block += sp->front[f].block;
    int64_t *next = ct__zalloc(sp->fronts, sizeof *next);
    if (!next) return ct__no_memory(err, "fronts", sp->fronts);
    for (int32_t f = 0; f < sp->fronts; f++) {
        next[f] = sp->front[f].block;
        for (int32_t j = sp->front[f].first; j < sp->front[f].first + sp->front[f].pivots; j++)
            sp->block[next[f]++] = (ct__hessian_block){.at = -1, .row = j, .col = j};
    }
    for (int64_t e = 0, slot = 0; e < sp->edges; e++) {
        const int32_t f = edge_front[e];
        for (int64_t a = sp->edge_start[e]; a < sp->edge_start[e + 1]; a++)
            for (int64_t b = a; b < sp->edge_start[e + 1]; b++) {
                const int32_t i = sp->position[sp->member[a]], j = sp->position[sp->member[b]];
                sp->block[next[f]++] = (ct__hessian_block){
                    .at = 2 * slot++ + (i > j), .row = CT_MIN(i, j), .col = CT_MAX(i, j)};
            }
    }
    free(next);
    return CT_OK;
}

/* Where row and column position lie in the front's panel or update. */
static void place_block(ct_sparse *sp, ct__front *front, ct__hessian_block *block)
{
    int32_t       t = 0, before = 0;
    const int32_t row = local_row(sp, front, block->row, &t, &before),
                  col = local_row(sp, front, block->col, &t, &before);
    block->rows = (uint8_t)(sp->scalar[block->row + 1] - sp->scalar[block->row]);
    block->cols = (uint8_t)(sp->scalar[block->col + 1] - sp->scalar[block->col]);
    block->in_update = row >= front->p;
    block->to =
        block->in_update ? (row - front->p) * (front->s + 1) + col - front->p : row * (front->p + front->s + 1) + col;
    block->at = sp->h_size;
    sp->h_size += block->rows * block->cols;
    if (block->in_update) front->update_fed = 1;
}

/* Sorts each front's blocks, keeps one of each, and gives it its place, which the slots of its pairs of members get. */
static ct_status place_h(ct_sparse *sp, const int32_t *edge_front, ct_err *err)
{
    CT_TRY(list_blocks(sp, edge_front, err));
    sp->slot = ct__zalloc(sp->slot_start[sp->edges], sizeof *sp->slot);
    if (!sp->slot) return ct__no_memory(err, "pairs of blocks", sp->slot_start[sp->edges]);
    int64_t kept = 0;
    for (int32_t f = 0; f < sp->fronts; f++) {
        ct__front    *front = &sp->front[f];
        const int64_t from = front->block, end = sp->front[f + 1].block;
        sort_blocks(sp->block + from, end - from);
        front->block = kept;
        for (int64_t k = from; k < end; k++) {
            const int64_t pair = sp->block[k].at;
            if (kept == front->block || by_row_and_column(&sp->block[kept - 1], &sp->block[k])) {
                sp->block[kept] = sp->block[k];
                place_block(sp, front, &sp->block[kept++]);
            }
            if (pair >= 0) sp->slot[pair / 2] = 2 * sp->block[kept - 1].at + pair % 2;
        }
    }
    sp->front[sp->fronts].block = sp->block_count = kept;
    ct__hessian_block *fewer = realloc(sp->block, (size_t)CT_MAX(kept, 1) * sizeof *sp->block);
    if (fewer) sp->block = fewer;
    return CT_OK;
}

static ct_status count_slots(ct_sparse *sp, ct_err *err)
{
    sp->slot_start = ct__zalloc(sp->edges + 1, sizeof *sp->slot_start);
    if (!sp->slot_start) return ct__no_memory(err, "edges", sp->edges);
    for (int64_t e = 0; e < sp->edges; e++) {
        const int64_t m = sp->edge_start[e + 1] - sp->edge_start[e];
        sp->slot_start[e + 1] = sp->slot_start[e] + m * (m + 1) / 2;
    }
    return CT_OK;
}

/* Rows minus unknowns, summed over each front's subtree; an edge belongs to the front that eliminates its
 * first member. Sums are cut off at 0 from below: a subtree short of rows is rank-deficient in itself and lends
 * nothing to the others. */
static ct_status find_zero_updates(ct_sparse *sp, const int32_t *edge_front, const int32_t *edge_rows, ct_err *err)
{
    int64_t *surplus = ct__zalloc(sp->fronts, sizeof *surplus);
    if (!surplus) return ct__no_memory(err, "fronts", sp->fronts);
    for (int64_t e = 0; e < sp->edges; e++) {
        const int32_t f = edge_front[e];
        if (f >= 0) surplus[f] += edge_rows[e];
    }
    for (int32_t f = 0; f < sp->fronts; f++) {
        ct__front *front = &sp->front[f];
        surplus[f] -= front->p;
        front->zero_update = surplus[f] <= 0;
        sp->any_zero_update |= front->zero_update;
        if (front->parent >= 0 && surplus[f] > 0) surplus[front->parent] += surplus[f];
    }
    free(surplus);
    return CT_OK;
}

/* Places of the blocks of H, and what edges leave for separators. */
static ct_status place_edges(ct_sparse *sp, const int32_t *edge_rows, ct_err *err)
{
    int32_t  *edge_front = ct__zalloc(sp->edges, sizeof *edge_front);
    ct_status status = edge_front ? count_slots(sp, err) : ct__no_memory(err, "edges", sp->edges);
    for (int64_t e = 0; status == CT_OK && e < sp->edges; e++) edge_front[e] = front_of_edge(sp, e);
    if (status == CT_OK) status = place_h(sp, edge_front, err);
    if (status == CT_OK && edge_rows) status = find_zero_updates(sp, edge_front, edge_rows, err);
    free(edge_front);
    return status;
}

ct_status ct__layout(ct_sparse *sp, const int32_t *edge_rows, ct_err *err)
{
    for (int32_t k = 0; k < sp->blocks; k++) sp->scalar[k + 1] = sp->scalar[k] + sp->dim[sp->order[k]];
    CT_TRY(place_panels(sp, err));
    CT_TRY(ct__partition(sp, err));
    CT_TRY(place_updates(sp, err));
    CT_TRY(place_intervals(sp, err));
    CT_TRY(place_edges(sp, edge_rows, err));
    for (int32_t f = 0; f < sp->fronts; f++)
        sp->front[f].planar_chain = (uint8_t)ct__is_planar_chain(sp, &sp->front[f]);
    sp->h = ct__zalloc(sp->h_size, sizeof *sp->h);
    sp->g = ct__zalloc(sp->scalars, sizeof *sp->g);
    sp->panel = ct__zalloc(sp->panel_size, sizeof *sp->panel);
    sp->stack = ct__zalloc(sp->stack_size, sizeof *sp->stack);
    sp->diagonal = ct__zalloc(sp->scalars, sizeof *sp->diagonal);
    sp->inverse = ct__zalloc(sp->scalars, sizeof *sp->inverse);
    sp->work = ct__zalloc(sp->scalars, sizeof *sp->work);
    sp->weak = ct__zalloc(sp->scalars, sizeof *sp->weak);
    if (!sp->h || !sp->g || !sp->panel || !sp->stack || !sp->diagonal || !sp->inverse || !sp->work || !sp->weak)
        return ct__no_memory(err, "numbers of the factor", sp->panel_size + sp->stack_size + sp->h_size);
    CT_TRY(ct__sparse_workers(sp, 1, err));
    sp->bytes = (int64_t)sizeof *sp +
                8 * (sp->h_size + sp->panel_size + sp->stack_size + sp->worker_stack + 4 * (int64_t)sp->scalars) +
                4 * (int64_t)sp->scalars + 24 * (int64_t)sp->blocks + (int64_t)sizeof(ct__front) * sp->fronts +
                (int64_t)sizeof(ct__hessian_block) * sp->block_count +
                (int64_t)(2 * sizeof(ct__interval) + sizeof *sp->separator) * sp->front[sp->fronts].separator +
                16 * sp->edges + 4 * sp->edge_start[sp->edges] + 8 * sp->slot_start[sp->edges];
    return CT_OK;
}

/* Copies of what the caller passed, and the arrays whose size follows from it alone. */
static ct_status take_structure(ct_sparse *sp, int32_t blocks, const int32_t dim[], int64_t edges,
                                const int64_t start[], const int32_t member[], ct_err *err)
{
    sp->blocks = blocks;
    sp->edges = edges;
    sp->dim = ct__zalloc(blocks, sizeof *sp->dim);
    sp->column = ct__zalloc((int64_t)blocks + 1, sizeof *sp->column);
    sp->order = ct__zalloc(blocks, sizeof *sp->order);
    sp->position = ct__zalloc(blocks, sizeof *sp->position);
    sp->scalar = ct__zalloc((int64_t)blocks + 1, sizeof *sp->scalar);
    sp->front_of = ct__zalloc(blocks, sizeof *sp->front_of);
    sp->edge_start = ct__zalloc(edges + 1, sizeof *sp->edge_start);
    sp->member = ct__zalloc(start[edges], sizeof *sp->member);
    if (!sp->dim || !sp->column || !sp->order || !sp->position || !sp->scalar || !sp->front_of || !sp->edge_start ||
        !sp->member)
        return ct__no_memory(err, "blocks", blocks);
    int64_t scalars = 0;
    for (int32_t b = 0; b < blocks; b++) {
        if (dim[b] < 1 || dim[b] > UINT8_MAX)
            return ct_fail(err, CT_E_ARGUMENT, "block %d has %d scalars; it may have 1 to %d", b, dim[b], UINT8_MAX);
        sp->dim[b] = dim[b];
        sp->column[b] = (int32_t)scalars;
        scalars += dim[b];
        if (scalars > INT32_MAX) return ct_fail(err, CT_E_LIMIT, "more than %d unknowns", INT32_MAX);
    }
    sp->column[blocks] = sp->scalars = (int32_t)scalars;
    memcpy(sp->edge_start, start, (size_t)(edges + 1) * sizeof *start);
    if (start[edges]) memcpy(sp->member, member, (size_t)start[edges] * sizeof *member);
    return CT_OK;
}

/* Checks that edges have existing members, each once. */
static ct_status check_structure(int32_t blocks, int64_t edges, const int64_t start[], const int32_t member[],
                                 ct_err *err)
{
    if (blocks < 0 || edges < 0)
        return ct_fail(err, CT_E_ARGUMENT, "%d blocks and %lld edges: neither may be negative", blocks,
                       (long long)edges);
    if (start[0] != 0)
        return ct_fail(err, CT_E_ARGUMENT, "edge 0 begins at member %lld, not at 0", (long long)start[0]);
    int64_t *last = ct__zalloc(blocks, sizeof *last); /* edge + 1 that a block was last seen in */
    if (!last) return ct__no_memory(err, "blocks", blocks);
    ct_status status = CT_OK;
    for (int64_t e = 0; status == CT_OK && e < edges; e++) {
        if (start[e + 1] < start[e])
            status = ct_fail(err, CT_E_ARGUMENT, "edge %lld ends before it begins", (long long)e);
        for (int64_t i = start[e]; status == CT_OK && i < start[e + 1]; i++) {
            if (member[i] < 0 || member[i] >= blocks)
                status = ct_fail(err, CT_E_ARGUMENT, "edge %lld ties block %d: there are %d", (long long)e, member[i],
                                 blocks);
            else if (last[member[i]] == e + 1)
                status = ct_fail(err, CT_E_ARGUMENT, "edge %lld ties block %d twice", (long long)e, member[i]);
            else last[member[i]] = e + 1;
        }
    }
    free(last);
    return status;
}

ct_status ct_sparse_new(int32_t blocks, const int32_t dim[], int64_t edges, const int64_t start[],
                        const int32_t member[], const ct_sparse_options *options, ct_sparse **out, ct_err *err)
{
    const ct_sparse_options wanted = options ? *options : (ct_sparse_options){.order = CT_ORDER_AMD};
    int64_t *pair_start = NULL;
    int32_t *pair = NULL;
    *out = NULL;
    CT_TRY(check_structure(blocks, edges, start, member, err));
    if ((unsigned)wanted.order >= CT_ORDER_COUNT)
        return ct_fail(err, CT_E_ARGUMENT, "order %d of elimination is not one", (int)wanted.order);
    ct_sparse *sp = ct__zalloc(1, sizeof *sp);
    if (!sp) return ct__no_memory(err, "sparse system", 1);
    ct_status status = take_structure(sp, blocks, dim, edges, start, member, err);
    if (status == CT_OK) status = ct__pattern(blocks, edges, start, member, &pair_start, &pair, err);
    if (status == CT_OK) status = ct__order(sp, pair_start, pair, &wanted, sp->order, err);
    if (status == CT_OK) status = ct__symbolic(sp, pair_start, pair, err);
    if (status == CT_OK) status = ct__layout(sp, wanted.rows, err);
    free(pair_start);
    free(pair);
    if (status != CT_OK) {
        ct_sparse_free(sp);
        return status;
    }
    *out = sp;
    return CT_OK;
}

void ct_sparse_free(ct_sparse *sp)
{
    if (!sp) return;
    void *const owned[] = {sp->dim,    sp->column,     sp->order,   sp->position, sp->scalar, sp->front_of,
                           sp->front,  sp->separator,  sp->interval,     sp->gather,   sp->block,  sp->edge_start,
                           sp->member, sp->slot_start, sp->slot,    sp->h,        sp->g,      sp->panel,
                           sp->stack,  sp->diagonal,   sp->inverse, sp->work,     sp->weak,   sp->many,
                           sp->part,   sp->top,        sp->branch,    sp->worker};
    for (int32_t k = 0; k < sp->workers; k++) {
        free(sp->worker[k].stack);
        free(sp->worker[k].local);
        free(sp->worker[k].tiles);
    }
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
    free(sp);
}

ct_sparse_info ct_sparse_describe(const ct_sparse *sp)
{
    int64_t entries = 0;
    for (int32_t f = 0; f < sp->fronts; f++)
        entries += (int64_t)sp->front[f].p * (sp->front[f].p + 1) / 2 + (int64_t)sp->front[f].p * sp->front[f].s;
    return (ct_sparse_info){.scalars = sp->scalars,
                            .fronts = sp->fronts,
                            .largest_front = sp->largest,
                            .tree_height = sp->height,
                            .h_nonzeros = sp->h_size,
                            .r_nonzeros = entries,
                            .flops = sp->flops,
                            .bytes = sp->bytes};
}
