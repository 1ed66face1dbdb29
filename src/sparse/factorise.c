/* factorise.c: the walk up the tree. Each front is filled from H, receives the updates of its
 * children, and is eliminated. */
#include "sparse/sparse.h"

/* H's blocks, damping and -g into panel and update; the pivots as they are before any elimination. */
static void fill(ct_sparse *sp, const ct__front *front, double lambda, const double *scale, int zero_update,
                 double *original)
{
    const int32_t ld = front->p + front->s + 1;
    double       *A = sp->panel + front->panel, *U = sp->stack + front->update;
    memset(A, 0, (size_t)front->p * (size_t)ld * sizeof *A);
    if (front->update_fed && !zero_update) memset(U, 0, (size_t)front->s * (size_t)(front->s + 1) * sizeof *U);
    for (int64_t k = front->block; k < front[1].block; k++) {
        const ct__hessian_block *t = &sp->block[k];
        if (t->in_update && zero_update) continue;
        const double *from = sp->h + t->at;
        double       *to = (t->in_update ? U : A) + t->to;
        const int32_t stride = t->in_update ? front->s + 1 : ld;
        for (int i = 0; i < t->rows; i++, from += t->cols, to += stride)
            for (int j = 0; j < t->cols; j++) to[j] = from[j];
    }
    for (int32_t j = front->first, i = 0; j < front->first + front->pivots; j++) {
        const int32_t block = sp->order[j], column = sp->column[block];
        for (int32_t k = 0; k < sp->dim[block]; k++, i++) {
            const double damping = lambda == 0 ? 0 : lambda * (scale ? scale[column + k] : 1);
            double      *row = A + (int64_t)i * ld;
            row[i] += damping;
            row[ld - 1] = -sp->g[column + k];
            /* negative: H is indefinite, and the pivot will be weak */
            original[i] = CT_MAX(sp->diagonal[column + k] + damping, 0);
        }
    }
}

/* The lower triangle of a pair of intervals: rows of `from` become columns. */
static void add_flipped(int32_t rows, int32_t cols, const double *from, int32_t width, double *to, int32_t stride)
{
    for (int32_t i = 0; i < rows; i++, from += width)
        for (int32_t j = 0; j < cols; j++) to[(int64_t)j * stride + i] += from[j];
}

void ct__extend_add(const ct__extend *up, const ct__interval *interval, int32_t intervals, const double *U, int32_t s)
{
    const int32_t ld = up->p + up->s + 1, width = s + 1;
    for (int32_t a = 0; a < intervals; a++) {
        const int     in_update = interval[a].to >= up->p;
        const int32_t shift = in_update ? up->p : 0, stride = in_update ? up->s + 1 : ld;
        const double *from = U + (int64_t)interval[a].from * width;
        double *to =
            in_update ? up->U + (int64_t)(interval[a].to - shift) * stride : up->A + (int64_t)interval[a].to * ld;
        for (int32_t i = 0; i < interval[a].len; i++, from += width, to += stride) {
            to[ld - 1 - shift] += from[width - 1];
            if (up->rhs_only || (in_update && up->panel_only)) continue;
            double *dst = to + (interval[a].to - shift);
            for (int32_t j = i; j < interval[a].len; j++) dst[j] += from[interval[a].from + j];
            for (int32_t b = a + 1; b < intervals; b++) {
                if (interval[b].to < interval[a].to) continue;
                const double *src = from + interval[b].from;
                dst = to + (interval[b].to - shift);
                for (int32_t j = 0; j < interval[b].len; j++) dst[j] += src[j];
            }
        }
        for (int32_t b = a + 1; b < intervals && !up->rhs_only; b++) {
            if (interval[b].to > interval[a].to) continue;
            const int     low = interval[b].to >= up->p;
            const int32_t step = low ? up->s + 1 : ld, off = low ? up->p : 0;
            if (low && up->panel_only) continue;
            add_flipped(interval[a].len, interval[b].len, U + (int64_t)interval[a].from * width + interval[b].from,
                        width, (low ? up->U : up->A) + (int64_t)(interval[b].to - off) * step + interval[a].to - off,
                        step);
        }
    }
}

static void add_child(ct_sparse *sp, const ct__front *front, const ct__front *child, int child_zero_update,
                      int zero_update)
{
    const ct__extend up = {.A = sp->panel + front->panel,
                           .U = sp->stack + front->update,
                           .p = front->p,
                           .s = front->s,
                           .rhs_only = child_zero_update,
                           .panel_only = zero_update};
    ct__extend_add(&up, sp->interval + child->interval, child->intervals, sp->stack + child->update, child->s);
}

int32_t ct_sparse_factor(ct_sparse *sp, double lambda, const double *scale)
{
    sp->weak_count = 0;
    sp->lambda = lambda;
    for (int32_t f = 0; f < sp->fronts; f++) {
        ct__front *front = &sp->front[f];
        double    *original = sp->local;
        front->whole = lambda != 0 || front->curved;
        for (int32_t c = front->child; c != -1 && sp->curved; c = sp->front[c].sibling)
            front->whole |= sp->front[c].whole;
        if (front->planar_chain && ct__planar_chain_factor(sp, front, lambda, scale)) continue;
        const int zero_update = ct__has_zero_update(front);
        fill(sp, front, lambda, scale, zero_update, original);
        if (zero_update)
            for (int32_t i = 0; i < front->s; i++)
                sp->stack[front->update + (int64_t)i * (front->s + 1) + front->s] = 0;
        for (int32_t c = front->child; c != -1; c = sp->front[c].sibling)
            add_child(sp, front, &sp->front[c], ct__has_zero_update(&sp->front[c]), zero_update);
        ct__front_factor(sp, front, zero_update, original);
    }
    return sp->weak_count;
}
