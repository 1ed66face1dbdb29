/* front_assemble.c: a large front is filled and receives its children's updates, by several threads.
 *
 * Each thread takes some rows of the front, and of every child the rows that are added to them. Every entry is the same
 * sum in the same order as in factorise.c. */
#include "sparse/sparse.h"

#define ROWS 16 /* at a time */

typedef struct {
    ct_sparse        *sp;
    const ct__front  *front;
    const ct__worker *w;
    double            lambda;
    const double     *scale;
    double           *A, *U, *original;
    int               zero_update;
} job;

/* Row i, [0, p + s), of the front's matrix, from its own column i - shift on; where it has column 0. */
static double *row_of(const job *j, int32_t i, int32_t *shift)
{
    const int32_t p = j->front->p, s = j->front->s;
    *shift = i < p ? 0 : p;
    return i < p ? j->A + (int64_t)i * (p + s + 1) : j->U + (int64_t)(i - p) * (s + 1);
}

static void clear_rows(const job *j, int32_t first, int32_t end)
{
    const int32_t n = j->front->p + j->front->s;
    for (int32_t i = first; i < end; i++) {
        int32_t shift;
        double *row = row_of(j, i, &shift);
        if (shift && j->zero_update) row[n - shift] = 0;
        else if (!shift || j->front->update_fed) memset(row, 0, (size_t)(n + 1 - shift) * sizeof *row);
    }
}

/* H's blocks in these rows. */
static void fill_rows(const job *j, int32_t first, int32_t end)
{
    const int32_t p = j->front->p, s = j->front->s;
    for (int64_t k = j->front->block; k < j->front[1].block; k++) {
        const ct__hessian_block *t = &j->sp->block[k];
        const int32_t stride = t->in_update ? s + 1 : p + s + 1, row = t->to / stride + (t->in_update ? p : 0);
        if (row >= end || row + t->rows <= first || (t->in_update && j->zero_update)) continue;
        const double *from = j->sp->h + t->at;
        double       *to = (t->in_update ? j->U : j->A) + t->to;
        for (int i = 0; i < t->rows; i++, from += t->cols, to += stride)
            if (row + i >= first && row + i < end) memcpy(to, from, t->cols * sizeof *to);
    }
}

/* Damping and -g, and the pivots before any elimination. */
static void fill_pivots(const job *j)
{
    const ct_sparse *sp = j->sp;
    const int32_t    ld = j->front->p + j->front->s + 1;
    for (int32_t k = j->front->first, i = 0; k < j->front->first + j->front->pivots; k++) {
        const int32_t block = sp->order[k], column = sp->column[block];
        for (int32_t c = 0; c < sp->dim[block]; c++, i++) {
            const double damping = j->lambda == 0 ? 0 : j->lambda * (j->scale ? j->scale[column + c] : 1);
            double      *row = j->A + (int64_t)i * ld;
            row[i] += damping;
            row[ld - 1] = -sp->g[column + c];
            j->original[i] = CT_MAX(sp->diagonal[column + c] + damping, 0);
        }
    }
}

/* Of a child's update what is added to these rows. Its separator is sorted, and so are its intervals. */
static void add_rows(const job *j, const ct__front *child, int32_t first, int32_t end)
{
    const ct__interval *interval = j->sp->interval + child->interval;
    const int32_t       n = j->front->p + j->front->s, width = child->s + 1;
    const double       *U = ct__update_of(j->sp, child, j->w);
    const int           rhs_only = ct__has_zero_update(child);
    for (int32_t a = 0; a < child->intervals; a++)
        for (int32_t i = CT_MAX(first, interval[a].to); i < CT_MIN(end, interval[a].to + interval[a].len); i++) {
            int32_t       shift;
            double       *to = row_of(j, i, &shift);
            const int32_t own = interval[a].from + i - interval[a].to;
            const double *from = U + (int64_t)own * width;
            to[n - shift] += from[width - 1];
            if (rhs_only || (shift && j->zero_update)) continue;
            for (int32_t b = a; b < child->intervals; b++) {
                const int32_t skip = b == a ? i - interval[a].to : 0;
                const double *src = from + interval[b].from;
                double       *dst = to + interval[b].to - shift;
                for (int32_t c = skip; c < interval[b].len; c++) dst[c] += src[c];
            }
        }
}

static void clear_and_fill(void *user, int64_t first, int64_t end)
{
    clear_rows(user, (int32_t)first, (int32_t)end);
    fill_rows(user, (int32_t)first, (int32_t)end);
}

static void add_children(void *user, int64_t first, int64_t end)
{
    const job *j = user;
    for (int32_t c = j->front->child; c != -1; c = j->sp->front[c].sibling)
        add_rows(j, &j->sp->front[c], (int32_t)first, (int32_t)end);
}

void ct__assemble_shared(ct_sparse *sp, const ct__front *front, const ct__worker *w, double lambda, const double *scale,
                         int zero_update, double *original)
{
    job j = {.sp = sp,
             .front = front,
             .w = w,
             .lambda = lambda,
             .scale = scale,
             .A = sp->panel + front->panel,
             .U = ct__update_of(sp, front, w),
             .original = original,
             .zero_update = zero_update};
    const int32_t n = front->p + front->s;
    ct__team_ranges(sp->team, n, ROWS, clear_and_fill, &j);
    fill_pivots(&j);
    ct__team_ranges(sp->team, n, ROWS, add_children, &j);
}
