/* marginal_covariance.c: blocks of the inverse without the inverse.
 *
 * Inside a front the inverse follows from the parent's, top down (Takahashi; Kaess and Dellaert 2009):
 *     G = R_pp^-1 R_ps,   S_ps = -G S_ss,   S_pp = R_pp^-1 R_pp^-T + G S_ss G',
 * sums of positive terms, S_ss a part of the parent's matrix. Only the fronts above the requested
 * blocks are visited; a front's matrix is dropped when its last child has read it.
 *
 * For two blocks that share no front, or only a few requests: with w_a = R^-T e_a, which is zero off the path
 * from a to its root, S_ab = w_a' w_b, a sum over the fronts that both paths share. */
#include "sparse/sparse.h"

typedef struct {
    const ct_sparse *sp;
    const int32_t   *a, *b;      /* requested blocks, and the place of their covariance */
    double *const   *out;
    int64_t         *head, *next; /* requests per front: head[f], next[k]; -1 ends       */
    int32_t         *waiting;     /* per front: children that still need its matrix; -1: not visited */
    double         **S;           /* per front: (p + s)^2, row-major                     */
} job;

int32_t ct__row_in_front(const ct_sparse *sp, const ct__front *front, int32_t j)
{
    if (j < front->first) return -1;
    if (j < front->first + front->pivots) return sp->scalar[j] - front->scalar;
    const int32_t *list = sp->separator + front->separator;
    for (int32_t t = 0, row = front->p; t < front->separators && list[t] <= j; t++) {
        if (list[t] == j) return row;
        row += sp->scalar[list[t] + 1] - sp->scalar[list[t]];
    }
    return -1;
}

/* Reads S_ss out of the parent's matrix. */
static void read_parent(const ct_sparse *sp, const ct__front *front, const double *parent, double *S)
{
    const ct__front *up = &sp->front[front->parent];
    const ct__interval   *interval = sp->interval + front->interval;
    const int32_t    n = front->p + front->s, ldp = up->p + up->s;
    for (int32_t a = 0; a < front->intervals; a++)
        for (int32_t b = 0; b < front->intervals; b++)
            for (int32_t i = 0; i < interval[a].len; i++)
                memcpy(S + (int64_t)(front->p + interval[a].from + i) * n + front->p + interval[b].from,
                       parent + (int64_t)(interval[a].to + i) * ldp + interval[b].to,
                       (size_t)interval[b].len * sizeof *S);
}

/* X <- R^-1 X, R upper p x p of stride ld, X p x m of stride m. */
static void upper_solve(const ct_sparse *sp, const ct__front *front, int32_t m, double *X)
{
    const int32_t ld = front->p + front->s + 1;
    for (int32_t i = front->p - 1; i >= 0; i--) {
        const double *row = sp->panel + front->panel + (int64_t)i * ld;
        for (int32_t k = i + 1; k < front->p; k++) ct__axpy(m, -row[k], X + (int64_t)k * m, X + (int64_t)i * m);
        for (int32_t j = 0; j < m; j++) X[(int64_t)i * m + j] *= sp->inverse[front->scalar + i];
    }
}

/* C(i, j) += alpha sum_k A(i, k) B(k, j); strides lda, ldb, ldc. */
static void add_product(int32_t rows, int32_t cols, int32_t inner, double alpha, const double *A, int32_t lda,
                        const double *B, int32_t ldb, double *C, int32_t ldc)
{
    for (int32_t i = 0; i < rows; i++)
        for (int32_t k = 0; k < inner; k++)
            ct__axpy(cols, alpha * A[(int64_t)i * lda + k], B + (int64_t)k * ldb, C + (int64_t)i * ldc);
}

static void transpose(int32_t rows, int32_t cols, const double *A, int32_t lda, double *B, int32_t ldb)
{
    for (int32_t i = 0; i < rows; i++)
        for (int32_t j = 0; j < cols; j++) B[(int64_t)j * ldb + i] = A[(int64_t)i * lda + j];
}

void ct__front_inverse(const ct_sparse *sp, const ct__front *front, const double *parent, double *S, double *G,
                       double *T)
{
    const int32_t p = front->p, s = front->s, n = p + s, ld = n + 1;
    const double *A = sp->panel + front->panel;
    double       *S_ps = S + p, *S_sp = S + (int64_t)p * n, *S_ss = S_sp + p, *flip = T + (int64_t)p * p;
    memset(T, 0, (size_t)p * (size_t)p * sizeof *T);
    for (int32_t i = 0; i < p; i++) T[(int64_t)i * p + i] = 1;
    upper_solve(sp, front, p, T);                                            /* T = R_pp^-1          */
    transpose(p, p, T, p, flip, p);
    add_product(p, p, p, 1, T, p, flip, p, S, n);                            /* S_pp = T T'          */
    if (!s) return;
    read_parent(sp, front, parent, S);
    for (int32_t i = 0; i < p; i++) memcpy(G + (int64_t)i * s, A + (int64_t)i * ld + p, (size_t)s * sizeof *G);
    upper_solve(sp, front, s, G);                                            /* G = R_pp^-1 R_ps     */
    add_product(p, s, s, -1, G, s, S_ss, n, S_ps, n);                        /* S_ps = -G S_ss       */
    transpose(p, s, G, s, flip, p);
    add_product(p, p, s, -1, S_ps, n, flip, p, S, n);                        /* S_pp -= S_ps G'      */
    transpose(p, s, S_ps, n, S_sp, n);
}

/* Writes the requested blocks whose earlier block is eliminated in front f. */
static void answer(const job *w, int32_t f)
{
    const ct_sparse *sp = w->sp;
    const ct__front *front = &sp->front[f];
    const int32_t    n = front->p + front->s;
    for (int64_t k = w->head[f]; k != -1; k = w->next[k]) {
        const int32_t row = ct__row_in_front(sp, front, sp->position[w->a[k]]),
                      col = ct__row_in_front(sp, front, sp->position[w->b[k]]);
        const int32_t cols = sp->dim[w->b[k]];
        for (int32_t i = 0; i < sp->dim[w->a[k]]; i++)
            memcpy(w->out[k] + (int64_t)i * cols, w->S[f] + (int64_t)(row + i) * n + col,
                   (size_t)cols * sizeof(double));
    }
}

static void drop(job *w, int32_t f)
{
    free(w->S[f]);
    w->S[f] = NULL;
}

/* Top down over the fronts marked in w->waiting. */
static ct_status visit_fronts(job *w, ct_err *err)
{
    const ct_sparse *sp = w->sp;
    double          *scratch = ct__zalloc(3 * (int64_t)sp->largest * sp->largest, sizeof *scratch);
    ct_status        status = scratch ? CT_OK : ct__no_memory(err, "rows of the largest front", sp->largest);
    for (int32_t f = sp->fronts - 1; f >= 0 && status == CT_OK; f--) {
        if (w->waiting[f] < 0) continue;
        const ct__front *front = &sp->front[f];
        const int64_t    n = (int64_t)front->p + front->s;
        if (!(w->S[f] = ct__zalloc(n * n, sizeof **w->S))) {
            status = ct__no_memory(err, "entries of a covariance", n * n);
            break;
        }
        const double *parent = front->parent < 0 ? NULL : w->S[front->parent];
        ct__front_inverse(sp, front, parent, w->S[f], scratch, scratch + (int64_t)front->p * front->s);
        answer(w, f);
        if (w->waiting[f] == 0) drop(w, f);
        if (front->parent >= 0 && --w->waiting[front->parent] == 0) drop(w, front->parent);
    }
    free(scratch);
    return status;
}

/* W <- R^-T E for the block at `position`, d columns; zero but on the path, where it was zero before. */
static void path_forward(const ct_sparse *sp, int32_t position, int32_t d, double *W)
{
    for (int32_t i = 0; i < d; i++) W[(int64_t)(sp->scalar[position] + i) * d + i] = 1;
    for (int32_t f = sp->front_of[position]; f >= 0; f = sp->front[f].parent) ct__front_up(sp, &sp->front[f], W, d);
}

static void path_clear(const ct_sparse *sp, int32_t position, int32_t d, double *W)
{
    for (int32_t f = sp->front_of[position]; f >= 0; f = sp->front[f].parent)
        memset(W + (int64_t)sp->front[f].scalar * d, 0, (size_t)sp->front[f].p * (size_t)d * sizeof *W);
}

/* S_ab = w_a' w_b; Wa and Wb (scalars x dim) are zero before and after. */
static void path_product(const ct_sparse *sp, int32_t a, int32_t b, double *Wa, double *Wb, double *out)
{
    const int32_t i = sp->position[a], j = sp->position[b], da = sp->dim[a], db = sp->dim[b];
    path_forward(sp, i, da, Wa);
    path_forward(sp, j, db, Wb);
    memset(out, 0, (size_t)da * (size_t)db * sizeof *out);
    for (int32_t f = sp->front_of[CT_MAX(i, j)]; f >= 0; f = sp->front[f].parent)
        for (int32_t k = sp->front[f].scalar; k < sp->front[f].scalar + sp->front[f].p; k++)
            for (int32_t r = 0; r < da; r++)
                for (int32_t c = 0; c < db; c++) out[r * db + c] += Wa[(int64_t)k * da + r] * Wb[(int64_t)k * db + c];
    path_clear(sp, i, da, Wa);
    path_clear(sp, j, db, Wb);
}

static ct_status path_pairs(const job *w, int64_t count, const uint8_t *apart, ct_err *err)
{
    const ct_sparse *sp = w->sp;
    int32_t          widest = 1;
    for (int32_t b = 0; b < sp->blocks; b++) widest = CT_MAX(widest, sp->dim[b]);
    double *W = ct__zalloc(2 * (int64_t)sp->scalars * widest, sizeof *W);
    if (!W) return ct__no_memory(err, "columns of a covariance", 2 * (int64_t)widest);
    for (int64_t k = 0; k < count; k++)
        if (apart[k]) path_product(sp, w->a[k], w->b[k], W, W + (int64_t)sp->scalars * widest, w->out[k]);
    free(W);
    return CT_OK;
}

/* Up to this many requests are cheaper along their own paths, whose cost is linear in the width of a front. */
#define FEW 8

/* Sorts requests by the front that holds both blocks, or marks them as apart; counts the children
 * that will read each front above. Returns how many are apart. */
static int64_t plan_visits(job *w, int64_t count, uint8_t *apart)
{
    const ct_sparse *sp = w->sp;
    int64_t          far = 0;
    for (int32_t f = 0; f < sp->fronts; f++) w->head[f] = w->waiting[f] = -1;
    for (int64_t k = 0; k < count; k++) {
        const int32_t i = sp->position[w->a[k]], j = sp->position[w->b[k]], f = sp->front_of[CT_MIN(i, j)];
        apart[k] = count <= FEW || ct__row_in_front(sp, &sp->front[f], CT_MAX(i, j)) < 0;
        far += apart[k];
        if (apart[k]) continue;
        w->next[k] = w->head[f];
        w->head[f] = k;
        if (w->waiting[f] >= 0) continue;
        w->waiting[f] = 0;
        for (int32_t up = sp->front[f].parent; up >= 0; up = sp->front[up].parent) {
            if (w->waiting[up] >= 0) {
                w->waiting[up]++;
                break;
            }
            w->waiting[up] = 1;
        }
    }
    return far;
}

ct_status ct_sparse_covariance(const ct_sparse *sp, int64_t count, const int32_t a[], const int32_t b[],
                               double *const out[], ct_err *err)
{
    job      w = {.sp = sp, .a = a, .b = b, .out = out};
    for (int64_t k = 0; k < count; k++)
        if (a[k] < 0 || a[k] >= sp->blocks || b[k] < 0 || b[k] >= sp->blocks)
            return ct_fail(err, CT_E_ARGUMENT, "covariance of blocks %d and %d: there are %d", a[k], b[k], sp->blocks);
    uint8_t *apart = ct__zalloc(count, sizeof *apart);
    w.head = ct__zalloc(sp->fronts, sizeof *w.head);
    w.next = ct__zalloc(count, sizeof *w.next);
    w.waiting = ct__zalloc(sp->fronts, sizeof *w.waiting);
    w.S = ct__zalloc(sp->fronts, sizeof *w.S);
    ct_status status = apart && w.head && w.next && w.waiting && w.S ? CT_OK : ct__no_memory(err, "covariances", count);
    if (status == CT_OK) {
        const int64_t far = plan_visits(&w, count, apart);
        if (far < count) status = visit_fronts(&w, err);
        if (far && status == CT_OK) status = path_pairs(&w, count, apart, err);
    }
    for (int32_t f = 0; w.S && f < sp->fronts; f++) free(w.S[f]);
    free(apart);
    free(w.head);
    free(w.next);
    free(w.waiting);
    free(w.S);
    return status;
}
