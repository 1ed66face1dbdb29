/* back_substitute.c: triangular solves with the factored tree.
 *
 * Down the tree (parents first): R_pp x_p = d_p - R_ps x_s. Up (children first), for new right-hand
 * sides: R_pp' y_p = b_p, b_s -= R_ps' y_p. Vectors are in eliminated order inside, so a front's
 * pivots are one piece of memory; its separator is gathered from a few. */
#include "sparse/cpu_dispatch.h"
#include "sparse/sparse.h"


/* Caller's order <-> eliminated order, m numbers per scalar. */
static void permute(const ct_sparse *sp, int32_t m, const double *from, double *to, int into_eliminated)
{
    for (int32_t k = 0; k < sp->blocks; k++) {
        const int32_t b = sp->order[k];
        const int64_t e = (int64_t)sp->scalar[k] * m, c = (int64_t)sp->column[b] * m;
        const size_t  bytes = (size_t)sp->dim[b] * (size_t)m * sizeof *from;
        if (into_eliminated) memcpy(to + e, from + c, bytes);
        else memcpy(to + c, from + e, bytes);
    }
}

static void gather(const ct_sparse *sp, const ct__front *front, const double *x, double *xs)
{
    const ct__interval *interval = sp->gather + front->gather;
    for (int32_t k = 0; k < front->gathers; k++)
        for (int32_t i = 0; i < interval[k].len; i++) xs[interval[k].from + i] = x[interval[k].to + i];
}

/* a'b in eight partial sums, which are independent of each other; always the same eight. */
CT_CLONES double ct__dot(int32_t n, const double *restrict a, const double *restrict b)
{
    double  part[8] = {0};
    int32_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int k = 0; k < 8; k++) part[k] += a[i + k] * b[i + k];
    double sum = ((part[0] + part[4]) + (part[1] + part[5])) + ((part[2] + part[6]) + (part[3] + part[7]));
    for (; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* x <- solution, where x holds d in eliminated order (or, with carried = 1, d is the panel's last column and x is
 * only written). One right-hand side; fronts from `last` down to `first`, as what lies above is solved or zero. */
static void solve_fronts(const ct_sparse *sp, int32_t last, int32_t first, double *x, int carried, double *xs)
{
    for (int32_t f = last; f >= first; f--) {
        const ct__front *front = &sp->front[f];
        if (front->planar_chain && carried) {
            ct__planar_chain_solve(sp, front, x);
            continue;
        }
        const int32_t p = front->p, s = front->s, ld = p + s + 1;
        const double *A = sp->panel + front->panel;
        double       *xp = x + front->scalar;
        gather(sp, front, x, xs);
        for (int32_t i = p - 1; i >= 0; i--) {
            const double *row = A + (int64_t)i * ld;
            const double  d = carried ? row[ld - 1] : xp[i];
            xp[i] = (d - ct__dot(s, row + p, xs) - ct__dot(p - i - 1, row + i + 1, xp + i + 1)) *
                    sp->inverse[front->scalar + i];
        }
    }
}

typedef struct {
    const ct_sparse *sp;
    double          *x;
    int              carried;
} sweep;

static void solve_part(void *user, int64_t k, int worker)
{
    const sweep    *w = user;
    const ct__part *part = &w->sp->part[k];
    solve_fronts(w->sp, part->last, part->first, w->x, w->carried, w->sp->worker[worker].local);
}

static void solve_branch(void *user, int64_t k, int worker)
{
    const sweep      *w = user;
    const ct__branch *branch = &w->sp->branch[k];
    for (int32_t t = branch->last; t >= branch->first; t--)
        solve_fronts(w->sp, w->sp->top[t].front, w->sp->top[t].front, w->x, w->carried, w->sp->worker[worker].local);
}

/* All fronts: those above the branches first, then branches at once, then parts at once. */
static void solve_down(ct_sparse *sp, double *x, int carried)
{
    sweep    w = {.sp = sp, .x = x, .carried = carried};
    ct__team own, *team;
    if (!sp->parts) {
        solve_fronts(sp, sp->fronts - 1, 0, x, carried, sp->worker[0].local);
        return;
    }
    for (int32_t t = sp->tops - 1; t >= 0; t--)
        if (sp->top[t].branch < 0)
            solve_fronts(sp, sp->top[t].front, sp->top[t].front, x, carried, sp->worker[0].local);
    team = ct__sparse_enter(sp, &own);
    ct__team_run(team, sp->branches, solve_branch, &w);
    ct__team_run(team, sp->parts, solve_part, &w);
    ct__sparse_leave(sp, &own);
}

void ct_sparse_step(ct_sparse *sp, double *dx)
{
    solve_down(sp, sp->work, 1);
    permute(sp, 1, sp->work, dx, 0);
}

int32_t ct_sparse_weak_count(const ct_sparse *sp) { return sp->weak_count; }

int32_t ct_sparse_weak(ct_sparse *sp, int32_t i, double *z, int *held)
{
    if (i < 0 || i >= sp->weak_count) return -1;
    const int32_t pivot = sp->weak[i] < 0 ? ~sp->weak[i] : sp->weak[i];
    if (held) *held = sp->weak[i] < 0;
    if (z) {
        /* R z = R_kk e_k: z_k = 1, later scalars 0, of the earlier ones those of its subtree follow: a range of
         * fronts */
        double *x = sp->work;
        int32_t k = 0;
        while (sp->front[k].scalar + sp->front[k].p <= pivot) k++;
        int32_t first = k;
        while (sp->front[first].child != -1) first = sp->front[first].child; /* the lowest of its children */
        const ct__front *front = &sp->front[k];
        const int32_t    row = pivot - front->scalar, ld = front->p + front->s + 1;
        memset(x, 0, (size_t)sp->scalars * sizeof *x);
        x[pivot] = sp->panel[front->panel + (int64_t)row * ld + row];
        solve_fronts(sp, k, first, x, 0, sp->worker[0].local);
        permute(sp, 1, x, z, 0);
    }
    int32_t low = 0, high = sp->blocks - 1; /* the position whose scalars hold the pivot */
    while (low < high) {
        const int32_t middle = low + (high - low + 1) / 2;
        if (sp->scalar[middle] <= pivot) low = middle;
        else high = middle - 1;
    }
    return sp->column[sp->order[low]] + pivot - sp->scalar[low];
}

CT_CLONES void ct__axpy(int32_t m, double factor, const double *restrict source, double *restrict target)
{
    for (int32_t i = 0; i < m; i++) target[i] += factor * source[i];
}

void ct__front_up(const ct_sparse *sp, const ct__front *front, double *X, int32_t m)
{
    const int32_t  p = front->p, ld = p + front->s + 1;
    const ct__interval *interval = sp->gather + front->gather;
    double        *Xp = X + (int64_t)front->scalar * m;
    for (int32_t k = 0; k < p; k++) {
        const double *row = sp->panel + front->panel + (int64_t)k * ld;
        double       *y = Xp + (int64_t)k * m;
        for (int32_t i = 0; i < m; i++) y[i] *= sp->inverse[front->scalar + k];
        if (m == 1) { /* along the row of R rather than along X's, which have one number each */
            ct__axpy(p - k - 1, -y[0], row + k + 1, Xp + k + 1);
            for (int32_t t = 0; t < front->gathers; t++)
                ct__axpy(interval[t].len, -y[0], row + p + interval[t].from, X + interval[t].to);
            continue;
        }
        for (int32_t j = k + 1; j < p; j++) ct__axpy(m, -row[j], y, Xp + (int64_t)j * m);
        for (int32_t t = 0; t < front->gathers; t++)
            for (int32_t j = 0; j < interval[t].len; j++)
                ct__axpy(m, -row[p + interval[t].from + j], y, X + (int64_t)(interval[t].to + j) * m);
    }
}

void ct__sparse_solve_one(ct_sparse *sp, double *v, double *y)
{
    permute(sp, 1, v, y, 1);
    for (int32_t f = 0; f < sp->fronts; f++) ct__front_up(sp, &sp->front[f], y, 1);
    solve_down(sp, y, 0);
    permute(sp, 1, y, v, 0);
}

void ct__sparse_draw_one(ct_sparse *sp, double *v, double *y)
{
    permute(sp, 1, v, y, 1);
    for (int32_t i = 0; i < sp->weak_count; i++)
        if (sp->weak[i] < 0) y[~sp->weak[i]] = 0; /* held there; its R_kk is 1 */
    solve_down(sp, y, 0);
    permute(sp, 1, y, v, 0);
}

void ct__sparse_correct(ct_sparse *sp, double *v)
{
    double *y = sp->work;
    permute(sp, 1, v, y, 1);
    for (int32_t f = 0; f < sp->fronts; f++) ct__front_up(sp, &sp->front[f], y, 1);
    for (int32_t i = 0; i < sp->weak_count; i++) y[sp->weak[i] < 0 ? ~sp->weak[i] : sp->weak[i]] = 0;
    solve_down(sp, y, 0);
    permute(sp, 1, y, v, 0);
}
