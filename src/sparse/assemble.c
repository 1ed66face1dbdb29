/* assemble.c: H = sum J'J (+ K) and g = sum J'r from the edges' rows; products with H. */
#include "sparse/add_inline.h"

void ct_sparse_clear(ct_sparse *sp)
{
    memset(sp->h, 0, (size_t)sp->h_size * sizeof *sp->h);
    memset(sp->g, 0, (size_t)sp->scalars * sizeof *sp->g);
    memset(sp->diagonal, 0, (size_t)sp->scalars * sizeof *sp->diagonal);
    for (int32_t f = 0; sp->curved && f < sp->fronts; f++) sp->front[f].curved = 0;
    sp->curved = 0;
}

static int has_edge(const ct_sparse *sp, int64_t edge) { return edge >= 0 && edge < sp->edges; }

void ct_sparse_add(ct_sparse *sp, int64_t edge, int rows, const double *const J[], const double *r)
{
    if (!has_edge(sp, edge) || rows < 1) return;
    ct__sparse_add(sp, edge, (int)(sp->edge_start[edge + 1] - sp->edge_start[edge]), rows, 0, J, r, NULL);
}

void ct_sparse_add_symmetric(ct_sparse *sp, int64_t edge, const double *K)
{
    if (!has_edge(sp, edge)) return;
    const int64_t begin = sp->edge_start[edge], end = sp->edge_start[edge + 1];
    int           n = 0;
    for (int64_t i = begin; i < end; i++) n += sp->dim[sp->member[i]];
    if (n) ct__sparse_add_symmetric(sp, edge, (int)(end - begin), n, 0, K, NULL, &sp->curved);
}

void ct__sparse_negate(ct_sparse *sp)
{
    for (int64_t k = 0; k < sp->h_size; k++) sp->h[k] = -sp->h[k];
    for (int32_t i = 0; i < sp->scalars; i++) sp->diagonal[i] = -sp->diagonal[i];
}

double *ct_sparse_gradient(ct_sparse *sp) { return sp->g; }

void ct_sparse_diagonal(const ct_sparse *sp, double *d) { memcpy(d, sp->diagonal, (size_t)sp->scalars * sizeof *d); }

void ct_sparse_multiply(const ct_sparse *sp, const double *x, double *y)
{
    memset(y, 0, (size_t)sp->scalars * sizeof *y);
    for (int64_t k = 0; k < sp->block_count; k++) {
        const ct__hessian_block *block = &sp->block[k];
        const int32_t    a = sp->column[sp->order[block->row]], b = sp->column[sp->order[block->col]];
        const double    *B = sp->h + block->at;
        for (int i = 0; i < block->rows; i++)
            for (int j = a == b ? i : 0; j < block->cols; j++) {
                y[a + i] += B[i * block->cols + j] * x[b + j];
                if (a + i != b + j) y[b + j] += B[i * block->cols + j] * x[a + i];
            }
    }
}
