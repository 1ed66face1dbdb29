/* eliminate.c: the numbers of the fronts that an update computes.
 *
 * A front is the sum of J'[J -r] of its factors and of the updates of its children. The dense kernels are those of
 * sparse. Its children are fronts of this update, and orphans of earlier ones, whose separators may be ordered
 * differently here. */
#include "smooth/smooth.h"
#include "sparse/cpu_dispatch.h"

/* Where entry (row, col), row <= col, of a front's matrix lies. */
CT_INLINE double *entry(const ct__extend *front, int32_t row, int32_t col)
{
    return row < front->p ? front->A + (int64_t)row * (front->p + front->s + 1) + col
                          : front->U + (int64_t)(row - front->p) * (front->s + 1) + col - front->p;
}

CT_INLINE int32_t stride(const ct__extend *front, int32_t row)
{
    return row < front->p ? front->p + front->s + 1 : front->s + 1;
}

/* C += A'B, C with stride ldc; its upper triangle alone if `square`. */
CT_INLINE void add_block(int rows, int m, int n, const double *restrict A, const double *restrict B, double *restrict C,
                         int32_t ldc, int square)
{
    for (int i = 0; i < m; i++)
        for (int j = square ? i : 0; j < n; j++) {
            double sum = A[i] * B[j];
            for (int k = 1; k < rows; k++) sum += A[k * m + i] * B[k * n + j];
            C[(int64_t)i * ldc + j] += sum;
        }
}

/* d > 0: every member has that dimension. */
CT_INLINE void assemble_rows(const ct_smoother *s, const ct__smooth_factor *f, const ct__extend *front, double *before,
                             int rows, int members, int d)
{
    const double *J[CT_ARITY_MAX], *r = ct__numbers(s, f->linear);
    int32_t       row[CT_ARITY_MAX], last = front->p + front->s;
    int           dim[CT_ARITY_MAX];
    for (int i = 0; i < members; i++) {
        const int32_t var = ct__nodes(s, f->node + i)->var;
        J[i] = r;
        dim[i] = d ? d : s->var[var].dim;
        row[i] = s->var[var].fixed ? CT_NONE : s->work[var].column;
        r += rows * dim[i];
    }
    for (int a = 0; a < members; a++) {
        if (row[a] == CT_NONE) continue;
        const int32_t ld = stride(front, row[a]);
        double       *own = entry(front, row[a], row[a]), *rhs = entry(front, row[a], last);
        for (int i = 0; i < dim[a]; i++) {
            double sum = 0, square = 0;
            for (int k = 0; k < rows; k++) {
                const double x = J[a][k * dim[a] + i];
                sum += x * r[k];
                square += x * x;
            }
            rhs[(int64_t)i * ld] -= sum;
            before[row[a] + i] += square;
        }
        add_block(rows, dim[a], dim[a], J[a], J[a], own, ld, 1);
        for (int b = 0; b < members; b++)
            if (row[b] > row[a]) add_block(rows, dim[a], dim[b], J[a], J[b], entry(front, row[a], row[b]), ld, 0);
    }
}

static void assemble_prior(const ct_smoother *s, const ct__smooth_factor *f, const ct__extend *front, double *before)
{
    const double *H = ct__numbers(s, f->linear), *g = H + (int64_t)f->n * f->n;
    for (int32_t i = 0, a = 0; i < f->members; i++) {
        const int32_t u = ct__nodes(s, f->node + i)->var, ru = s->work[u].column;
        for (int k = 0; k < s->var[u].dim; k++, a++) {
            *entry(front, ru + k, front->p + front->s) -= g[a];
            before[ru + k] += H[(int64_t)a * f->n + a];
            for (int32_t j = 0, b = 0; j < f->members; j++) {
                const int32_t v = ct__nodes(s, f->node + j)->var, rv = s->work[v].column;
                for (int l = 0; l < s->var[v].dim; l++, b++)
                    if (rv + l >= ru + k) *entry(front, ru + k, rv + l) += H[(int64_t)a * f->n + b];
            }
        }
    }
}

void ct__assemble_factor(const ct_smoother *s, const ct__smooth_factor *f, const ct__extend *front, double *before)
{
    if (!f->ops) assemble_prior(s, f, front, before);
    else if (f->ops->rows == 3 && f->n == 6 && f->members == 2 && f->ops->kind[0] == CT_SE2)
        assemble_rows(s, f, front, before, 3, 2, 3);
    else if (f->ops->rows == 6 && f->n == 12 && f->members == 2) assemble_rows(s, f, front, before, 6, 2, 6);
    else assemble_rows(s, f, front, before, f->ops->rows, f->members, 0);
}

/* Assigns edges, in order, to the front that eliminates their first column. */
static ct_status file_edges(ct_smoother *s, const ct_sparse *sp, ct_err *err)
{
    ct__top      *t = &s->top;
    const int64_t edges = t->factor.count + t->orphan.count;
    CT_TRY(ct__list_room(&t->head, sp->fronts, err));
    CT_TRY(ct__list_room(&t->next, edges, err));
    CT_TRY(ct__list_room(&t->front_of, sp->blocks, err));
    for (int32_t f = 0; f < sp->fronts; f++) {
        t->head.item[f] = CT_NONE;
        for (int32_t j = sp->front[f].first; j < sp->front[f].first + sp->front[f].pivots; j++) t->front_of.item[j] = f;
    }
    for (int64_t e = edges - 1; e >= 0; e--) {
        int32_t first = INT32_MAX;
        for (int64_t i = t->start[e]; i < t->start[e + 1]; i++) first = CT_MIN(first, sp->position[t->member.item[i]]);
        if (first == INT32_MAX) continue; /* all its variables are fixed */
        t->next.item[e] = t->head.item[t->front_of.item[first]];
        t->head.item[t->front_of.item[first]] = (int32_t)e;
    }
    return CT_OK;
}

void ct__add_child(ct_smoother *s, int32_t id, int32_t child_id, const ct__extend *front, double *before)
{
    ct__clique   *child = &s->clique[child_id];
    const int32_t *var = ct__variables_of(s, child) + child->pivots;
    const double *diagonal = ct__before(s, child);
    int32_t       runs = 0;
    for (int32_t i = 0, from = 0; i < child->separators; i++) {
        const int32_t to = s->work[var[i]].column, len = s->var[var[i]].dim;
        ct__append_interval(s->top.interval, &runs, from, to, len, front->p);
        for (int k = 0; k < len; k++) before[to + k] += diagonal[from + k];
        from += len;
    }
    ct__extend_add(front, s->top.interval, runs, ct__update(s, child), child->s);
    child->parent = id;
    child->before = CT_NONE;
    child->sibling = s->clique[id].child;
    s->clique[id].child = child_id;
}

/* A clique for front f: sizes, blocks, and its variables' rows. */
static ct_status make_clique(ct_smoother *s, const ct_sparse *sp, const ct__front *front, int32_t f, int32_t *id,
                             ct_err *err)
{
    ct__top *t = &s->top;
    int64_t  list, numbers, p = 0, width = 0;
    CT_TRY(ct__new_clique(s, id, err));
    ct__clique made = s->clique[*id];
    made.pivots = front->pivots;
    made.separators = front->separators;
    for (int32_t e = t->head.item[f]; e != CT_NONE; e = t->next.item[e]) made.factors += e < t->factor.count;
    CT_TRY(ct__pool_take(&s->lists, ct__clique_list(&made), &list, err));
    made.list = s->clique[*id].list = list;
    int32_t *var = ct__ints(s, list), n = 0;
    for (int32_t j = 0; j < front->pivots; j++) var[n++] = t->var.item[sp->order[front->first + j]];
    for (int32_t j = 0; j < front->separators; j++)
        var[n++] = t->var.item[sp->order[sp->separator[front->separator + j]]];
    for (int32_t e = t->head.item[f]; e != CT_NONE; e = t->next.item[e])
        if (e < t->factor.count) var[n++] = t->factor.item[e];
    for (int32_t j = 0; j < made.pivots + made.separators; j++) {
        s->work[var[j]].column = (int32_t)width;
        width += s->var[var[j]].dim;
        if (j + 1 == made.pivots) p = width;
    }
    made.p = (int32_t)p;
    made.s = (int32_t)(width - p);
    s->clique[*id] = made;
    if (width * width > INT32_MAX)
        return ct_fail(err, CT_E_LIMIT, "a front of %lld scalars is larger than this build can hold", (long long)width);
    CT_TRY(ct__pool_take(&s->numbers, ct__clique_numbers(made.p, made.s), &numbers, err));
    s->clique[*id].numbers = numbers;
    CT_TRY(
        ct__grow(&t->interval, &t->interval_capacity, made.pivots + made.separators, sizeof *t->interval, "runs", err));
    CT_TRY(ct__grow(&t->original, &t->original_capacity, width, sizeof *t->original, "rows of a front", err));
    CT_TRY(ct__grow(&t->tiles, &t->tiles_capacity, CT_STRIP * (width + 17), sizeof *t->tiles, "tiles of a front", err));
    return ct__list_room(&t->weak, t->weak.count + 3 * p, err);
}

/* Sets the clique and row of its pivots. */
static ct_status own_pivots(ct_smoother *s, int32_t id, ct_err *err)
{
    const ct__clique *c = &s->clique[id];
    for (int32_t i = 0; i < c->pivots; i++) {
        const int32_t var = ct__variables_of(s, c)[i];
        CT_TRY(ct__save_var(s, var, err));
        s->var[var].clique = id;
        s->var[var].row = s->work[var].column;
    }
    return CT_OK;
}

static void note_weak(ct__list *weak, int32_t id, const int32_t *found, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        const int32_t row = found[i];
        weak->item[weak->count++] = id;
        weak->item[weak->count++] = row;
    }
}

static ct_status eliminate_front(ct_smoother *s, const ct_sparse *sp, int32_t f, int32_t *id, ct_err *err)
{
    ct__top         *t = &s->top;
    const ct__front *front = &sp->front[f];
    CT_TRY(ct__sum_orphans(s, f, err));
    CT_TRY(make_clique(s, sp, front, f, id, err));
    const ct__clique *c = &s->clique[*id];
    const ct__extend  matrix = {.A = ct__panel(s, c), .U = ct__update(s, c), .p = c->p, .s = c->s};
    double           *before = t->original;
    memset(ct__panel(s, c), 0, (size_t)ct__clique_numbers(c->p, c->s) * sizeof *before);
    memset(before, 0, (size_t)(c->p + c->s) * sizeof *before);
    for (int32_t e = t->head.item[f]; e != CT_NONE; e = t->next.item[e]) {
        if (e < t->factor.count) ct__assemble_factor(s, &s->factor[t->factor.item[e]], &matrix, before);
        else ct__add_child(s, *id, t->orphan.item[e - t->factor.count], &matrix, before);
    }
    for (int32_t child = front->child; child != -1; child = sp->front[child].sibling)
        ct__add_child(s, *id, t->clique.item[child], &matrix, before);
    memcpy(ct__before(s, c), before + c->p, (size_t)c->s * sizeof *before);
    ct__dense dense = {.A = matrix.A,
                       .p = c->p,
                       .s = c->s,
                       .original = before,
                       .inverse = ct__inverse(s, c),
                       .tiles = t->tiles,
                       .weak = t->weak.item + t->weak.count + 2 * c->p};
    ct__dense_factor(&dense, matrix.U, 1);
    note_weak(&t->weak, *id, dense.weak, dense.weak_count);
    return own_pivots(s, *id, err);
}

ct_status ct__eliminate(ct_smoother *s, const ct_sparse *sp, ct_err *err)
{
    ct__top *t = &s->top;
    CT_TRY(file_edges(s, sp, err));
    CT_TRY(ct__list_room(&t->clique, sp->fronts, err));
    for (int32_t f = 0; f < sp->fronts; f++) {
        CT_TRY(eliminate_front(s, sp, f, &t->clique.item[f], err));
        t->clique.count = f + 1;
        const int32_t id = t->clique.item[f];
        if (sp->front[f].parent >= 0) continue;
        if (s->root != CT_NONE) {
            CT_TRY(ct__save_clique(s, s->root, err));
            s->clique[s->root].before = id;
        }
        s->clique[id].sibling = s->root;
        s->clique[id].before = CT_NONE;
        s->root = id;
    }
    return CT_OK;
}
