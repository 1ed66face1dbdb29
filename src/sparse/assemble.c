/* assemble.c: H = sum J'J and g = sum J'r from the edges' rows; products with H.
 *
 * Where an edge's blocks go was settled by the analysis (slots), so an edge costs its arithmetic:
 * rows * (sum of dims)^2 / 2 multiplications. Poses (3 or 6 rows and columns) have loops with
 * constant bounds. */
#include "sparse/sparse.h"

#define CT_INLINE static inline __attribute__((always_inline))

void ct_sparse_clear(ct_sparse *sp)
{
    memset(sp->h, 0, (size_t)sp->h_size * sizeof *sp->h);
    memset(sp->g, 0, (size_t)sp->scalars * sizeof *sp->g);
}

/* C += A'B, A rows x m, B rows x n. */
CT_INLINE void add_product(int rows, int m, int n, const double *restrict A, const double *restrict B, double *restrict C)
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < rows; k++) sum += A[k * m + i] * B[k * n + j];
            C[i * n + j] += sum;
        }
}

/* Edge of `members` blocks, all of dimension d. */
CT_INLINE void add_uniform(ct_sparse *sp, int64_t edge, int members, int rows, int d, const double *const J[], const double *r)
{
    const int32_t *member = sp->member + sp->edge_start[edge];
    const int64_t *slot = sp->slot + sp->slot_start[edge];
    for (int a = 0; a < members; a++) {
        add_product(rows, d, 1, J[a], r, sp->g + sp->column[member[a]]);
        for (int b = a; b < members; b++, slot++) {
            const int flip = (int)(*slot & 1);
            add_product(rows, d, d, J[flip ? b : a], J[flip ? a : b], sp->h + (*slot >> 1));
        }
    }
}

static void add_mixed(ct_sparse *sp, int64_t edge, int rows, const double *const J[], const double *r)
{
    const int      members = (int)(sp->edge_start[edge + 1] - sp->edge_start[edge]);
    const int32_t *member = sp->member + sp->edge_start[edge];
    const int64_t *slot = sp->slot + sp->slot_start[edge];
    for (int a = 0; a < members; a++) {
        add_product(rows, sp->dim[member[a]], 1, J[a], r, sp->g + sp->column[member[a]]);
        for (int b = a; b < members; b++, slot++) {
            const int first = *slot & 1 ? b : a, second = *slot & 1 ? a : b;
            add_product(rows, sp->dim[member[first]], sp->dim[member[second]], J[first], J[second], sp->h + (*slot >> 1));
        }
    }
}

void ct_sparse_add(ct_sparse *sp, int64_t edge, int rows, const double *const J[], const double *r)
{
    const int      members = (int)(sp->edge_start[edge + 1] - sp->edge_start[edge]);
    const int32_t *member = sp->member + sp->edge_start[edge];
    const int      d = sp->dim[member[0]];
    const int      pair = members == 2 && sp->dim[member[1]] == d;
    if (rows == 3 && d == 3 && pair) add_uniform(sp, edge, 2, 3, 3, J, r);
    else if (rows == 3 && d == 3 && members == 1) add_uniform(sp, edge, 1, 3, 3, J, r);
    else if (rows == 6 && d == 6 && pair) add_uniform(sp, edge, 2, 6, 6, J, r);
    else if (rows == 6 && d == 6 && members == 1) add_uniform(sp, edge, 1, 6, 6, J, r);
    else add_mixed(sp, edge, rows, J, r);
}

double *ct_sparse_gradient(ct_sparse *sp) { return sp->g; }

void ct_sparse_diagonal(const ct_sparse *sp, double *d)
{
    memset(d, 0, (size_t)sp->scalars * sizeof *d);
    for (int64_t k = 0; k < sp->block_count; k++) {
        const ct__block *block = &sp->block[k];
        if (block->row != block->col) continue;
        double *to = d + sp->column[sp->order[block->row]];
        for (int i = 0; i < block->rows; i++) to[i] += sp->h[block->at + i * block->rows + i];
    }
}

void ct_sparse_multiply(const ct_sparse *sp, const double *x, double *y)
{
    memset(y, 0, (size_t)sp->scalars * sizeof *y);
    for (int64_t k = 0; k < sp->block_count; k++) {
        const ct__block *block = &sp->block[k];
        const int32_t    a = sp->column[sp->order[block->row]], b = sp->column[sp->order[block->col]];
        const double    *B = sp->h + block->at;
        for (int i = 0; i < block->rows; i++)
            for (int j = 0; j < block->cols; j++) {
                y[a + i] += B[i * block->cols + j] * x[b + j];
                if (a != b) y[b + j] += B[i * block->cols + j] * x[a + i];
            }
    }
}
