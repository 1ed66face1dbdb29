/* factor.c: the walk up the tree. Each front is filled from H, receives what its children left on
 * their separators, and is eliminated. */
#include "sparse/sparse.h"

/* H's blocks, damping and -g into the panel; the pivots as they are before any elimination. */
static void fill_panel(ct_sparse *sp, const ct__front *front, double lambda, const double *scale, double *original)
{
    const int32_t ld = front->p + front->s + 1;
    double       *A = sp->panel + front->panel;
    memset(A, 0, (size_t)front->p * (size_t)ld * sizeof *A);
    for (int64_t k = front->scatter; k < front[1].scatter; k++) {
        const ct__scatter *t = &sp->scatter[k];
        const double      *from = sp->h + t->at;
        double            *to = A + t->to;
        for (int i = 0; i < t->rows; i++, from += t->cols, to += ld)
            for (int j = 0; j < t->cols; j++) to[j] = from[j];
    }
    for (int32_t j = front->first, i = 0; j < front->first + front->pivots; j++) {
        const int32_t block = sp->order[j], column = sp->column[block];
        for (int32_t k = 0; k < sp->dim[block]; k++, i++) {
            double *row = A + (int64_t)i * ld;
            if (lambda != 0) row[i] += lambda * (scale ? scale[column + k] : 1);
            row[ld - 1] = -sp->g[column + k];
            original[i] = row[i];
        }
    }
}

/* Adds child's update to front's matrix, run by run. Row r of the matrix lies in the panel if r < p,
 * else in the update; either way column c of it is entry c of the pointer `row_of` gives. */
static void add_child(ct_sparse *sp, const ct__front *front, const ct__front *child)
{
    const ct__run *run = sp->run + child->run;
    const int32_t  ld = front->p + front->s + 1, width = child->s + 1;
    for (int32_t a = 0; a < child->runs; a++)
        for (int32_t i = 0; i < run[a].len; i++) {
            const int32_t r = run[a].to + i;
            const double *from = sp->stack + child->update + (int64_t)(run[a].from + i) * width;
            double       *to;
            int32_t       shift = 0; /* columns of the update begin at p */
            if (r < front->p) to = sp->panel + front->panel + (int64_t)r * ld;
            else {
                to = sp->stack + front->update + (int64_t)(r - front->p) * (front->s + 1);
                shift = front->p;
            }
            double *dst = to + (run[a].to - shift);
            for (int32_t j = i; j < run[a].len; j++) dst[j] += from[run[a].from + j];
            for (int32_t b = a + 1; b < child->runs; b++) {
                const double *src = from + run[b].from;
                dst = to + (run[b].to - shift);
                for (int32_t j = 0; j < run[b].len; j++) dst[j] += src[j];
            }
            to[ld - 1 - shift] += from[width - 1];
        }
}

int32_t ct_sparse_factor(ct_sparse *sp, double lambda, const double *scale)
{
    sp->weak_count = 0;
    for (int32_t f = 0; f < sp->fronts; f++) {
        ct__front *front = &sp->front[f];
        double    *original = sp->local;
        fill_panel(sp, front, lambda, scale, original);
        const int  spent = front->spent && lambda == 0;
        if (front->below_writes && !spent) memset(sp->stack + front->update, 0, (size_t)front->s * (size_t)(front->s + 1) * sizeof *sp->stack);
        for (int32_t c = front->child; c != -1; c = sp->front[c].sibling)
            if (!sp->front[c].spent || lambda != 0) add_child(sp, front, &sp->front[c]);
        ct__front_factor(sp, front, spent, original);
    }
    return sp->weak_count;
}
