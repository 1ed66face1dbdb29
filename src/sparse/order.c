/* order.c: elimination orders, by SuiteSparse: AMD on the pattern of H, CAMD if some blocks must come last, CCOLAMD on
 * the pattern of the edges. */
#include "sparse/sparse.h"

#include <amd.h>
#include <camd.h>
#include <ccolamd.h>

static const char *const names[] = {
#define X(constant, name) name,
    CT_ORDER_LIST(X)
#undef X
};

const char *ct_order_name(ct_order order) { return ct__name_at(names, CT_ORDER_COUNT, (int)order); }

int ct_order_find(const char *name) { return ct__find_name(name, names, CT_ORDER_COUNT); }

/* Writes each unordered pair once under its smaller block: count with duplicates, fill, then squeeze
 * the duplicates out in place with a mark per block. O(pairs). */
ct_status ct__pattern(int32_t blocks, int64_t edges, const int64_t edge_start[], const int32_t member[],
                      int64_t **out_start, int32_t **out_pair, ct_err *err)
{
    int64_t *start = *out_start = ct__zalloc((int64_t)blocks + 2, sizeof *start);
    int32_t *mark = ct__zalloc(blocks, sizeof *mark);
    if (!start || !mark) {
        free(mark);
        return ct__no_memory(err, "blocks", blocks);
    }
    /* start[a + 2] counts, so that after summing start[a + 1] is where a's list is filled from */
    for (int64_t e = 0; e < edges; e++)
        for (int64_t i = edge_start[e]; i < edge_start[e + 1]; i++)
            for (int64_t j = i + 1; j < edge_start[e + 1]; j++) start[CT_MIN(member[i], member[j]) + 2]++;
    for (int32_t a = 0; a < blocks; a++) start[a + 2] += start[a + 1];
    const int64_t pairs = start[blocks + 1];
    int32_t      *pair = *out_pair = ct__zalloc(pairs, sizeof *pair);
    if (!pair) {
        free(mark);
        return ct__no_memory(err, "pairs of blocks", pairs);
    }
    for (int64_t e = 0; e < edges; e++)
        for (int64_t i = edge_start[e]; i < edge_start[e + 1]; i++)
            for (int64_t j = i + 1; j < edge_start[e + 1]; j++)
                pair[start[CT_MIN(member[i], member[j]) + 1]++] = CT_MAX(member[i], member[j]);
    int64_t kept = 0, from = 0;
    for (int32_t a = 0; a < blocks; a++) {
        const int64_t end = start[a + 1];
        start[a] = kept;
        for (; from < end; from++) {
            if (mark[pair[from]] == a + 1) continue;
            mark[pair[from]] = a + 1;
            pair[kept++] = pair[from];
        }
    }
    start[blocks] = kept;
    free(mark);
    return CT_OK;
}

static ct_status order_amd(int32_t n, const int64_t *start, const int32_t *pair, const int32_t *stage, int32_t *order,
                           ct_err *err)
{
    if (start[n] >= INT32_MAX / 2)
        return ct_fail(err, CT_E_LIMIT, "%lld pairs of blocks share a factor, AMD takes %d", (long long)start[n],
                       INT32_MAX / 2);
    int32_t *narrow = ct__zalloc((int64_t)n + 1, sizeof *narrow);
    if (!narrow) return ct__no_memory(err, "blocks", n);
    for (int32_t a = 0; a <= n; a++) narrow[a] = (int32_t)start[a];
    const int answer =
        stage ? camd_order(n, narrow, pair, order, NULL, NULL, stage) : amd_order(n, narrow, pair, order, NULL, NULL);
    free(narrow);
    if (answer == AMD_OUT_OF_MEMORY) return ct__no_memory(err, "blocks to order", n);
    if (answer < 0) return ct_fail(err, CT_E_ARGUMENT, "AMD refused the pattern of %d blocks (%d)", n, answer);
    return CT_OK;
}

/* Columns are blocks, rows are edges. */
static ct_status order_ccolamd(const ct_sparse *sp, const int32_t *stage, int32_t *order, ct_err *err)
{
    const int32_t n = sp->blocks;
    const int64_t nnz = sp->edge_start[sp->edges];
    const size_t length =
        nnz < INT32_MAX && sp->edges < INT32_MAX ? ccolamd_recommended((int)nnz, (int)sp->edges, n) : 0;
    if (!length || length > INT32_MAX)
        return ct_fail(err, CT_E_LIMIT, "%lld factors are more than CCOLAMD takes", (long long)sp->edges);
    int32_t *rows = ct__zalloc((int64_t)length, sizeof *rows);
    int32_t *start = ct__zalloc((int64_t)n + 2, sizeof *start);
    int32_t *member_stage = ct__zalloc(n, sizeof *member_stage);
    ct_status status = CT_OK;
    if (!rows || !start || !member_stage) {
        status = ct__no_memory(err, "blocks to order", n);
        goto done;
    }
    for (int64_t i = 0; i < nnz; i++) start[sp->member[i] + 2]++;
    for (int32_t a = 0; a < n; a++) start[a + 2] += start[a + 1];
    for (int64_t e = 0; e < sp->edges; e++)
        for (int64_t i = sp->edge_start[e]; i < sp->edge_start[e + 1]; i++)
            rows[start[sp->member[i] + 1]++] = (int32_t)e;
    if (stage) memcpy(member_stage, stage, (size_t)n * sizeof *stage);
    int stats[CCOLAMD_STATS];
    if (!ccolamd((int)sp->edges, n, (int)length, rows, start, NULL, stats, stage ? member_stage : NULL))
        status = stats[CCOLAMD_STATUS] == CCOLAMD_ERROR_out_of_memory
                     ? ct__no_memory(err, "blocks to order", n)
                     : ct_fail(err, CT_E_ARGUMENT, "CCOLAMD refused the pattern of %d blocks (%d)", n,
                               stats[CCOLAMD_STATUS]);
    else memcpy(order, start, (size_t)n * sizeof *order);
done:
    free(rows);
    free(start);
    free(member_stage);
    return status;
}

/* Stable counting sort by stage; stages are small numbers. */
static ct_status order_natural(int32_t n, const int32_t *stage, int32_t *order, ct_err *err)
{
    int32_t highest = 0;
    for (int32_t b = 0; stage && b < n; b++) highest = CT_MAX(highest, stage[b]);
    int32_t *start = ct__zalloc((int64_t)highest + 2, sizeof *start);
    if (!start) return ct__no_memory(err, "stages", highest);
    for (int32_t b = 0; b < n; b++) start[(stage ? stage[b] : 0) + 1]++;
    for (int32_t k = 0; k <= highest; k++) start[k + 1] += start[k];
    for (int32_t b = 0; b < n; b++) order[start[stage ? stage[b] : 0]++] = b;
    free(start);
    return CT_OK;
}

static int ascending(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Stages renumbered 0, 1, 2 ... without gaps: CAMD and CCOLAMD want them below n. */
static ct_status compact_stages(int32_t n, const int32_t *stage, int32_t **out, ct_err *err)
{
    for (int32_t b = 0; b < n; b++)
        if (stage[b] < 0) return ct_fail(err, CT_E_ARGUMENT, "stage %d of block %d is negative", stage[b], b);
    int32_t *value = ct__zalloc(n, sizeof *value), *compact = *out = ct__zalloc(n, sizeof *compact), values = 0;
    if (!value || !compact) {
        free(value);
        return ct__no_memory(err, "stages", n);
    }
    for (int32_t b = 0; b < n; b++) value[b] = stage[b];
    qsort(value, (size_t)n, sizeof *value, ascending);
    for (int32_t b = 0; b < n; b++)
        if (!values || value[values - 1] != value[b]) value[values++] = value[b];
    for (int32_t b = 0; b < n; b++)
        compact[b] = (int32_t)((int32_t *)bsearch(&stage[b], value, (size_t)values, sizeof *value, ascending) - value);
    free(value);
    return CT_OK;
}

ct_status ct__order(const ct_sparse *sp, const int64_t *start, const int32_t *pair, const ct_sparse_options *options,
                    int32_t *order, ct_err *err)
{
    const int32_t n = sp->blocks;
    int32_t      *stage = NULL;
    ct_status     status = CT_OK;
    if (n == 0) return CT_OK;
    if (options->stage) status = compact_stages(n, options->stage, &stage, err);
    if (status == CT_OK) switch (options->order) {
        case CT_ORDER_AMD: status = order_amd(n, start, pair, stage, order, err); break;
        case CT_ORDER_CCOLAMD: status = order_ccolamd(sp, stage, order, err); break;
        default: status = order_natural(n, stage, order, err); break;
        }
    free(stage);
    return status;
}
