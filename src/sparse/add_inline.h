/* add_inline.h: H += J'J and g += J'r, or H += K, for one edge. Inline: where dimensions are constants, as for all
 * factors of one model, loop bounds are constants too.
 *
 * The analysis has fixed the place of each block of an edge (slots). Only the upper triangle of diagonal blocks is
 * stored. */
#ifndef CT_ADD_INLINE_H
#define CT_ADD_INLINE_H

#include "sparse/cpu_dispatch.h"
#include "sparse/sparse.h"

/* C += A'B, A rows x m, B rows x n. */
CT_INLINE void ct__add_product(int rows, int m, int n, const double *restrict A, const double *restrict B,
                               double *restrict C)
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double sum = A[i] * B[j];
            for (int k = 1; k < rows; k++) sum += A[k * m + i] * B[k * n + j];
            C[i * n + j] += sum;
        }
}

/* C += A'A, upper triangle; d += its diagonal. */
CT_INLINE void ct__add_square(int rows, int m, const double *restrict A, double *restrict C, double *restrict d)
{
    for (int i = 0; i < m; i++)
        for (int j = i; j < m; j++) {
            double sum = A[i] * A[j];
            for (int k = 1; k < rows; k++) sum += A[k * m + i] * A[k * m + j];
            C[i * m + j] += sum;
            if (i == j) d[i] += sum;
        }
}

/* C += A'B, 6 x 6; if d is not NULL, d += the diagonal of A'B. Of a square it writes both triangles. */
CT_INLINE void ct__add_product_six(const double *A, const double *B, double *C, double *d)
{
    ct__vector6 row[6];
    for (int k = 0; k < 6; k++) ct__vector6_load(&row[k], B + 6 * k);
    for (int i = 0; i < 6; i++) {
        ct__vector6 sum = row[0], c;
        ct__vector6_scale(&sum, A[i]);
        for (int k = 1; k < 6; k++) ct__vector6_add(&sum, A[6 * k + i], &row[k]);
        if (d) d[i] += i < 4 ? sum.lo[i & 3] : sum.hi[i & 1];
        ct__vector6_load(&c, C + 6 * i);
        ct__vector6_add(&c, 1, &sum);
        ct__vector6_store(&c, C + 6 * i);
    }
}

/* What an edge adds to g and to the diagonal of H, where threads keep it apart until all are done: for each member g,
 * the diagonal of J'J, the diagonal of K. */
#define CT_TERMS 3

/* d > 0: every member has that dimension; 0: look them up. terms: where to keep what is added to g and the diagonal,
 * zero before; NULL: it is added. */
CT_INLINE void ct__sparse_add(ct_sparse *sp, int64_t edge, int members, int rows, int d, const double *const J[],
                              const double *r, double *terms)
{
    const int32_t *member = sp->member + sp->edge_start[edge];
    const int64_t *slot = sp->slot + sp->slot_start[edge];
    for (int a = 0; a < members; a++) {
        const int m = d ? d : sp->dim[member[a]];
        double   *g = terms ? terms : sp->g + sp->column[member[a]];
        double   *diagonal = terms ? terms + m : sp->diagonal + sp->column[member[a]];
        if (terms) terms += CT_TERMS * m;
        ct__add_product(rows, m, 1, J[a], r, g);
        if (d == 6 && rows == 6) ct__add_product_six(J[a], J[a], sp->h + (*slot++ >> 1), diagonal);
        else ct__add_square(rows, m, J[a], sp->h + (*slot++ >> 1), diagonal);
        for (int b = a + 1; b < members; b++, slot++) {
            const int n = d ? d : sp->dim[member[b]];
            if (d == 6 && rows == 6)
                ct__add_product_six(J[*slot & 1 ? b : a], J[*slot & 1 ? a : b], sp->h + (*slot >> 1), NULL);
            else if (*slot & 1) ct__add_product(rows, n, m, J[b], J[a], sp->h + (*slot >> 1));
            else ct__add_product(rows, m, n, J[a], J[b], sp->h + (*slot >> 1));
        }
    }
}

/* The front an edge belongs to: the one that eliminates its first member. */
CT_INLINE ct__front *ct__edge_front(const ct_sparse *sp, int64_t edge, int members)
{
    const int32_t *member = sp->member + sp->edge_start[edge];
    int32_t        first = sp->position[member[0]];
    for (int a = 1; a < members; a++) first = CT_MIN(first, sp->position[member[a]]);
    return &sp->front[sp->front_of[first]];
}

/* H += K, n x n over the members; d and terms as above. *curved is set. */
CT_INLINE void ct__sparse_add_symmetric(ct_sparse *sp, int64_t edge, int members, int n, int d, const double *K,
                                        double *terms, uint8_t *curved)
{
    const int32_t *member = sp->member + sp->edge_start[edge];
    const int64_t *slot = sp->slot + sp->slot_start[edge];
    ct__edge_front(sp, edge, members)->curved = *curved = 1;
    for (int a = 0, row = 0; a < members; a++) {
        const int m = d ? d : sp->dim[member[a]];
        double   *own = sp->h + (*slot++ >> 1);
        double   *diagonal = terms ? terms + 2 * m : sp->diagonal + sp->column[member[a]];
        if (terms) terms += CT_TERMS * m;
        for (int i = 0; i < m; i++) {
            for (int j = i; j < m; j++) own[i * m + j] += K[(row + i) * n + row + j];
            diagonal[i] += K[(row + i) * n + row + i];
        }
        for (int b = a + 1, column = row + m; b < members; b++, slot++) {
            const int w = d ? d : sp->dim[member[b]];
            double   *to = sp->h + (*slot >> 1);
            if (*slot & 1) /* stored b before a */
                for (int i = 0; i < w; i++)
                    for (int j = 0; j < m; j++) to[i * m + j] += K[(column + i) * n + row + j];
            else
                for (int i = 0; i < m; i++)
                    for (int j = 0; j < w; j++) to[i * w + j] += K[(row + i) * n + column + j];
            column += w;
        }
        row += m;
    }
}

#endif
