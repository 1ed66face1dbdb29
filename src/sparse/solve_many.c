/* solve_many.c: (R'R)^-1 X for many right-hand sides at once, and R^-1 X, which turns white noise into draws of
 * covariance (R'R)^-1.
 *
 * Up the tree (children first) R' Y = X, down again (parents first) R X = Y; draws go down only. Learning needs a
 * dozen columns on chains of small fronts. So X is kept in eliminated order with its columns padded to a multiple of
 * four, one vector wide, and a front's pivots are taken in strips of 6, 3, 2 or 1 that live in registers for as long
 * as a vector of columns goes past:
 *
 *     up    y_k = (x_k - sum_{l<k} R_lk y_l) / R_kk,  X_j -= sum_k R_kj y_k   for all later rows j of the front
 *     down  x_k = (y_k - sum_j R_kj X_j - sum_{l>k} R_kl x_l) / R_kk */
#include "sparse/cpu_dispatch.h"
#include "sparse/sparse.h"

#define WIDTH 4

typedef double v4 __attribute__((vector_size(32)));

CT_INLINE void load(v4 *v, const double *from) { memcpy(v, from, sizeof *v); }
CT_INLINE void store(const v4 *v, double *to) { memcpy(to, v, sizeof *v); }

/* A strip of P pivots from k0 of a front, and one vector of columns of X, rows m apart. */
typedef struct {
    const double  *R;       /* its rows, from the pivots' own columns on: R[k * ld + ...] */
    const double  *inverse;
    const ct__interval *gather;
    int32_t        ld, p, k0, gathers;
    int64_t        m;
    double        *X, *own; /* all of X; the front's pivots */
} strip;

/* X_j -= sum_k R_kj y_k. */
CT_INLINE void spread(int P, const double *R, int32_t ld, const v4 y[], double *to)
{
    v4 x;
    load(&x, to);
    for (int k = 0; k < P; k++) x -= R[k * ld] * y[k];
    store(&x, to);
}

CT_INLINE void strip_up(const strip *s, int P)
{
    v4 y[6];
    for (int k = 0; k < P; k++) {
        load(&y[k], s->own + (s->k0 + k) * s->m);
        for (int l = 0; l < k; l++) y[k] -= s->R[l * s->ld + s->k0 + k] * y[l];
        y[k] *= s->inverse[k];
        store(&y[k], s->own + (s->k0 + k) * s->m);
    }
    for (int32_t j = s->k0 + P; j < s->p; j++) spread(P, s->R + j, s->ld, y, s->own + j * s->m);
    for (int32_t t = 0; t < s->gathers; t++)
        for (int32_t i = 0; i < s->gather[t].len; i++)
            spread(P, s->R + s->p + s->gather[t].from + i, s->ld, y, s->X + (s->gather[t].to + i) * s->m);
}

/* y_k -= R_kj X_j. */
CT_INLINE void collect(int P, const double *R, int32_t ld, v4 y[], const double *from)
{
    v4 x;
    load(&x, from);
    for (int k = 0; k < P; k++) y[k] -= R[k * ld] * x;
}

CT_INLINE void strip_down(const strip *s, int P)
{
    v4 y[6];
    for (int k = 0; k < P; k++) load(&y[k], s->own + (s->k0 + k) * s->m);
    for (int32_t t = 0; t < s->gathers; t++)
        for (int32_t i = 0; i < s->gather[t].len; i++)
            collect(P, s->R + s->p + s->gather[t].from + i, s->ld, y, s->X + (s->gather[t].to + i) * s->m);
    for (int32_t j = s->k0 + P; j < s->p; j++) collect(P, s->R + j, s->ld, y, s->own + j * s->m);
    for (int k = P - 1; k >= 0; k--) {
        for (int l = k + 1; l < P; l++) y[k] -= s->R[k * s->ld + s->k0 + l] * y[l];
        y[k] *= s->inverse[k];
        store(&y[k], s->own + (s->k0 + k) * s->m);
    }
}

/* Strips of 6, then 3, 2 or 1; down takes them from the last. */
CT_INLINE int strip_size(int32_t left) { return left >= 6 ? 6 : left >= 3 ? 3 : left; }

CT_INLINE strip strip_at(const ct_sparse *sp, const ct__front *front, int32_t k0, double *X, int64_t m)
{
    const int32_t ld = front->p + front->s + 1;
    return (strip){.R = sp->panel + front->panel + (int64_t)k0 * ld,
                   .inverse = sp->inverse + front->scalar + k0,
                   .gather = sp->gather + front->gather,
                   .ld = ld,
                   .p = front->p,
                   .k0 = k0,
                   .gathers = front->gathers,
                   .m = m,
                   .X = X,
                   .own = X + front->scalar * m};
}

CT_INLINE void take(const strip *s, int P, int down)
{
    if (down) strip_down(s, P);
    else strip_up(s, P);
}

/* One strip, all vectors of columns. */
CT_INLINE void take_columns(strip s, int P, int down)
{
    for (int64_t c = 0; c < s.m; c += WIDTH, s.X += WIDTH, s.own += WIDTH) {
        if (P == 6) take(&s, 6, down);
        else if (P == 3) take(&s, 3, down);
        else if (P == 2) take(&s, 2, down);
        else take(&s, 1, down);
    }
}

CT_CLONES static void up_all(const ct_sparse *sp, double *X, int64_t m)
{
    for (int32_t f = 0; f < sp->fronts; f++) {
        const ct__front *front = &sp->front[f];
        for (int32_t k0 = 0; k0 < front->p;) {
            const int P = strip_size(front->p - k0);
            take_columns(strip_at(sp, front, k0, X, m), P, 0);
            k0 += P;
        }
    }
}

CT_CLONES static void down_all(const ct_sparse *sp, double *X, int64_t m)
{
    for (int32_t f = sp->fronts - 1; f >= 0; f--) {
        const ct__front *front = &sp->front[f];
        for (int32_t end = front->p; end > 0;) {
            const int P = strip_size(end);
            take_columns(strip_at(sp, front, end - P, X, m), P, 1);
            end -= P;
        }
    }
}

/* Caller's order and m columns to eliminated order and `padded` of them, zeros at the end; or back. */
static void pack(const ct_sparse *sp, int32_t m, int64_t padded, const double *X, double *Y)
{
    for (int32_t k = 0; k < sp->blocks; k++) {
        const int32_t b = sp->order[k];
        const double *from = X + (int64_t)sp->column[b] * m;
        double       *to = Y + sp->scalar[k] * padded;
        for (int32_t i = 0; i < sp->dim[b]; i++, from += m, to += padded) {
            memcpy(to, from, (size_t)m * sizeof *to);
            for (int64_t c = m; c < padded; c++) to[c] = 0;
        }
    }
}

static void unpack(const ct_sparse *sp, int32_t m, int64_t padded, const double *Y, double *X)
{
    for (int32_t k = 0; k < sp->blocks; k++) {
        const int32_t b = sp->order[k];
        const double *from = Y + sp->scalar[k] * padded;
        double       *to = X + (int64_t)sp->column[b] * m;
        for (int32_t i = 0; i < sp->dim[b]; i++, from += padded, to += m) memcpy(to, from, (size_t)m * sizeof *to);
    }
}

/* Columns kept for m: one, or whole vectors of them; and room for those. */
static ct_status make_room(ct_sparse *sp, int32_t m, int64_t *padded, ct_err *err)
{
    *padded = m == 1 ? 1 : ((int64_t)m + WIDTH - 1) / WIDTH * WIDTH;
    if (m < 0) return ct_fail(err, CT_E_ARGUMENT, "%d right-hand sides: there cannot be less than none", m);
    const int64_t need = sp->scalars * *padded;
    if (need <= sp->many_capacity) return CT_OK;
    double *more = ct__zalloc(need, sizeof *more);
    if (!more) return ct__no_memory(err, "right-hand sides", m);
    free(sp->many);
    sp->many = more;
    sp->many_capacity = need;
    return CT_OK;
}

ct_status ct_sparse_solve(ct_sparse *sp, double *X, int32_t m, ct_err *err)
{
    int64_t padded;
    CT_TRY(make_room(sp, m, &padded, err));
    if (m == 0) return CT_OK;
    if (m == 1) {
        ct__sparse_solve_one(sp, X, sp->many);
        return CT_OK;
    }
    pack(sp, m, padded, X, sp->many);
    up_all(sp, sp->many, padded);
    down_all(sp, sp->many, padded);
    unpack(sp, m, padded, sp->many, X);
    return CT_OK;
}

ct_status ct_sparse_draw(ct_sparse *sp, double *X, int32_t m, ct_err *err)
{
    int64_t padded;
    CT_TRY(make_room(sp, m, &padded, err));
    if (m == 0) return CT_OK;
    if (m == 1) {
        ct__sparse_draw_one(sp, X, sp->many);
        return CT_OK;
    }
    pack(sp, m, padded, X, sp->many);
    for (int32_t i = 0; i < sp->weak_count; i++) /* unknowns held at zero have R_kk = 1 */
        if (sp->weak[i] < 0) memset(sp->many + ~sp->weak[i] * padded, 0, (size_t)padded * sizeof *sp->many);
    down_all(sp, sp->many, padded);
    unpack(sp, m, padded, sp->many, X);
    return CT_OK;
}
