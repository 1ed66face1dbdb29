/* factorise.c: the walk up the tree. Each front is filled from H, receives the updates of its
 * children, and is eliminated. Parts (partition.c) are walked by several threads at once; who ends the last part of a
 * branch goes on with the fronts of that branch. The fronts above are walked one after the other, each by all threads
 * if it is large. */
#include "sparse/sparse.h"

/* H's blocks, damping and -g into panel and update; the pivots as they are before any elimination. */
static void fill(ct_sparse *sp, const ct__front *front, const ct__worker *w, double lambda, const double *scale,
                 int zero_update, double *original)
{
    const int32_t ld = front->p + front->s + 1;
    double       *A = sp->panel + front->panel, *U = ct__update_of(sp, front, w);
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

static void add_child(ct_sparse *sp, const ct__front *front, const ct__front *child, const ct__worker *w,
                      int child_zero_update, int zero_update)
{
    const ct__extend up = {.A = sp->panel + front->panel,
                           .U = ct__update_of(sp, front, w),
                           .p = front->p,
                           .s = front->s,
                           .rhs_only = child_zero_update,
                           .panel_only = zero_update};
    ct__extend_add(&up, sp->interval + child->interval, child->intervals, ct__update_of(sp, child, w), child->s);
}

static void assemble(ct_sparse *sp, const ct__front *front, const ct__worker *w, double lambda, const double *scale,
                     int zero_update, double *original)
{
    fill(sp, front, w, lambda, scale, zero_update, original);
    double *rhs = ct__update_of(sp, front, w) + front->s;
    for (int32_t i = 0; zero_update && i < front->s; i++) rhs[(int64_t)i * (front->s + 1)] = 0;
    for (int32_t c = front->child; c != -1; c = sp->front[c].sibling)
        add_child(sp, front, &sp->front[c], w, ct__has_zero_update(&sp->front[c]), zero_update);
}

/* One front, whose children are done. A team shares the work of a large one. */
static void factor_front(ct_sparse *sp, ct__front *front, ct__worker *w, double lambda, const double *scale,
                         ct__team *team)
{
    front->whole = lambda != 0 || front->curved;
    for (int32_t c = front->child; c != -1 && sp->curved; c = sp->front[c].sibling)
        front->whole |= sp->front[c].whole;
    if (front->planar_chain && ct__planar_chain_factor(sp, front, w, lambda, scale)) return;
    const int zero_update = ct__has_zero_update(front);
    if (team && front->p + front->s >= CT_SHARED_FRONT)
        ct__assemble_shared(sp, front, w, lambda, scale, zero_update, w->local);
    else assemble(sp, front, w, lambda, scale, zero_update, w->local);
    ct__front_factor(sp, front, w, zero_update, w->local, team);
}

typedef struct {
    ct_sparse    *sp;
    double        lambda;
    const double *scale;
} job;

/* A front above the parts. */
static void factor_top(const job *j, ct__top_front *top, ct__worker *w, ct__team *team)
{
    ct__front *front = &j->sp->front[top->front];
    w->weak = j->sp->weak + front->scalar;
    w->weak_count = 0;
    factor_front(j->sp, front, w, j->lambda, j->scale, team);
    top->weak = w->weak_count;
}

static void factor_branch(const job *j, const ct__branch *branch, ct__worker *w)
{
    for (int32_t t = branch->first; t <= branch->last; t++) factor_top(j, &j->sp->top[t], w, NULL);
}

static void factor_part(const job *j, ct__part *part, ct__worker *w)
{
    w->weak = j->sp->weak + j->sp->front[part->first].scalar;
    w->weak_count = 0;
    for (int32_t f = part->first; f <= part->last; f++)
        factor_front(j->sp, &j->sp->front[f], w, j->lambda, j->scale, NULL);
    part->weak = w->weak_count;
}

/* A part, then branches without parts. */
static void factor_task(void *user, int64_t k, int worker)
{
    const job  *j = user;
    ct_sparse  *sp = j->sp;
    ct__worker *w = &sp->worker[worker];
    if (k >= sp->parts) {
        if (!sp->branch[k - sp->parts].parts) factor_branch(j, &sp->branch[k - sp->parts], w);
        return;
    }
    ct__part   *part = &sp->part[k];
    ct__branch *branch = part->branch < 0 ? NULL : &sp->branch[part->branch];
    factor_part(j, part, w);
    if (branch && atomic_fetch_sub(&branch->left, 1) == 1) factor_branch(j, branch, w);
}

/* Weak pivots were noted where the scalars of their part or front begin. */
static void collect_weak(ct_sparse *sp)
{
    int32_t total = 0;
    for (int32_t p = 0, t = 0; p < sp->parts || t < sp->tops;) {
        const int     is_part = t == sp->tops || (p < sp->parts && sp->part[p].first < sp->top[t].front);
        const int32_t front = is_part ? sp->part[p].first : sp->top[t].front;
        const int32_t count = is_part ? sp->part[p++].weak : sp->top[t++].weak;
        memmove(sp->weak + total, sp->weak + sp->front[front].scalar, (size_t)count * sizeof *sp->weak);
        total += count;
    }
    sp->weak_count = total;
}

static void factor_parts(job *j)
{
    ct_sparse  *sp = j->sp;
    ct__team    own, *team = ct__sparse_enter(sp, &own);
    for (int32_t b = 0; b < sp->branches; b++) atomic_store(&sp->branch[b].left, sp->branch[b].parts);
    ct__team_run(team, (int64_t)sp->parts + sp->branches, factor_task, j);
    for (int32_t t = 0; t < sp->tops; t++)
        if (sp->top[t].branch < 0) factor_top(j, &sp->top[t], &sp->worker[0], team);
    ct__sparse_leave(sp, &own);
    collect_weak(sp);
}

int32_t ct_sparse_factor(ct_sparse *sp, double lambda, const double *scale)
{
    ct__worker *w = &sp->worker[0];
    sp->lambda = lambda;
    if (sp->parts) {
        factor_parts(&(job){.sp = sp, .lambda = lambda, .scale = scale});
        return sp->weak_count;
    }
    w->weak = sp->weak;
    w->weak_count = 0;
    for (int32_t f = 0; f < sp->fronts; f++) factor_front(sp, &sp->front[f], w, lambda, scale, NULL);
    return sp->weak_count = w->weak_count;
}
