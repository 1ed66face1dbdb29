/* reorder.c: which part of the tree an update detaches, and the order in which it is eliminated again.
 *
 * Affected are the variables of factors that are added, removed or relinearised. The cliques that eliminate them are
 * detached with all cliques above. Their remaining children are orphans, each with an update on its separator. Factors
 * and orphans are the edges of a small system. CCOLAMD orders it, the variables of the new factors last, and sparse's
 * analysis makes its fronts. */
#include "smooth/smooth.h"

#include <ccolamd.h>

ct_status ct__affect(ct_smoother *s, int32_t slot, ct_err *err)
{
    if (s->var[slot].fixed || s->work[slot].affected == s->stamp) return CT_OK;
    CT_TRY(ct__list_push(&s->affected, slot, err));
    s->work[slot].affected = s->stamp;
    return CT_OK;
}

ct_status ct__affect_factor(ct_smoother *s, int32_t f, ct_err *err)
{
    for (int32_t i = 0; i < s->factor[f].members; i++)
        CT_TRY(ct__affect(s, ct__nodes(s, s->factor[f].node + i)->var, err));
    return CT_OK;
}

/* Roots are a doubly linked list; other cliques are detached with their parent. */
static ct_status unlink_root(ct_smoother *s, const ct__clique *c, ct_err *err)
{
    const int32_t before = c->before, after = c->sibling;
    if (before != CT_NONE) {
        CT_TRY(ct__save_clique(s, before, err));
        s->clique[before].sibling = after;
    } else s->root = after;
    if (after != CT_NONE) {
        CT_TRY(ct__save_clique(s, after, err));
        s->clique[after].before = before;
    }
    return CT_OK;
}

ct_status ct__detach_top(ct_smoother *s, ct_err *err)
{
    ct__list *taken = &s->change.taken;
    for (int64_t k = 0; k < s->affected.count; k++)
        for (int32_t c = s->var[s->affected.item[k]].clique; c != CT_NONE && s->clique[c].taken != s->stamp;
             c = s->clique[c].parent) {
            CT_TRY(ct__list_push(taken, c, err));
            s->clique[c].taken = s->stamp;
            if (s->clique[c].parent == CT_NONE) CT_TRY(unlink_root(s, &s->clique[c], err));
        }
    for (int64_t k = 0; k < taken->count; k++) {
        const ct__clique *c = &s->clique[taken->item[k]];
        for (int32_t i = 0; i < c->pivots; i++) CT_TRY(ct__list_push(&s->top.var, ct__variables_of(s, c)[i], err));
        for (int32_t i = 0; i < c->factors; i++)
            if (!s->factor[ct__factors_of(s, c)[i]].gone)
                CT_TRY(ct__list_push(&s->top.factor, ct__factors_of(s, c)[i], err));
        for (int32_t child = c->child; child != CT_NONE; child = s->clique[child].sibling) {
            if (s->clique[child].taken == s->stamp) continue;
            CT_TRY(ct__save_clique(s, child, err));
            CT_TRY(ct__list_push(&s->top.orphan, child, err));
        }
    }
    for (int64_t k = 0; k < s->change.new_vars.count; k++)
        if (!s->var[s->change.new_vars.item[k]].fixed)
            CT_TRY(ct__list_push(&s->top.var, s->change.new_vars.item[k], err));
    return CT_OK;
}

/* ---- order ---- */

/* Variables and factors in the order of their indices, whatever slots they lie in: the same graph is eliminated the
 * same way. */
static void sort_vars(const ct_smoother *s, ct__list *list)
{
    int32_t *v = list->item;
    /* Shell's sort: mostly sorted already, and needs no memory */
    for (int64_t gap = list->count / 2; gap > 0; gap = gap == 2 ? 1 : gap * 5 / 11)
        for (int64_t i = gap; i < list->count; i++) {
            const int32_t x = v[i];
            int64_t       j = i;
            for (; j >= gap && s->var[v[j - gap]].index > s->var[x].index; j -= gap) v[j] = v[j - gap];
            v[j] = x;
        }
}

/* Edges: the columns of each factor's estimated variables, then those of each orphan's separator. */
static ct_status list_edges(ct_smoother *s, ct_err *err)
{
    ct__top      *t = &s->top;
    const int64_t edges = t->factor.count + t->orphan.count;
    CT_TRY(ct__grow(&t->start, &t->start_capacity, edges + 1, sizeof *t->start, "edges", err));
    t->member.count = 0;
    for (int64_t k = 0; k < t->factor.count; k++) {
        const ct__smooth_factor *f = &s->factor[t->factor.item[k]];
        t->start[k] = t->member.count;
        for (int32_t i = 0; i < f->members; i++) {
            const int32_t var = ct__nodes(s, f->node + i)->var;
            if (!s->var[var].fixed) CT_TRY(ct__list_push(&t->member, s->work[var].column, err));
        }
    }
    for (int64_t k = 0; k < t->orphan.count; k++) {
        const ct__clique *c = &s->clique[t->orphan.item[k]];
        t->start[t->factor.count + k] = t->member.count;
        for (int32_t i = 0; i < c->separators; i++)
            CT_TRY(ct__list_push(&t->member, s->work[ct__variables_of(s, c)[c->pivots + i]].column, err));
    }
    t->start[edges] = t->member.count;
    return CT_OK;
}

/* 1 for the variables of new factors, if there are others. Returns whether there are both. */
static int stage_newest(ct_smoother *s)
{
    ct__top *t = &s->top;
    int64_t  last = 0;
    memset(t->stage.item, 0, (size_t)t->var.count * sizeof *t->stage.item);
    for (int64_t k = 0; k < s->change.new_factors.count; k++) {
        const ct__smooth_factor *f = &s->factor[s->change.new_factors.item[k]];
        for (int32_t i = 0; f->ops && !f->gone && i < f->members; i++) {
            const int32_t var = ct__nodes(s, f->node + i)->var;
            if (s->var[var].fixed || s->work[var].leaves || t->stage.item[s->work[var].column]) continue;
            t->stage.item[s->work[var].column] = 1;
            last++;
        }
    }
    return last > 0 && last < t->var.count;
}

static ct_status order_columns(ct_smoother *s, int32_t *order, ct_err *err)
{
    ct__top      *t = &s->top;
    const int64_t n = t->var.count, edges = t->factor.count + t->orphan.count, nonzeros = t->member.count;
    CT_TRY(ct__list_room(&t->stage, n, err));
    const int staged = stage_newest(s);
    if (n <= 2) { /* any order will do */
        for (int32_t k = 0; k < n; k++) order[k] = k;
        if (n == 2 && staged && t->stage.item[0]) order[0] = 1, order[1] = 0;
        return CT_OK;
    }
    const size_t length =
        nonzeros < INT32_MAX && edges < INT32_MAX ? ccolamd_recommended((int)nonzeros, (int)edges, (int)n) : 0;
    if (!length || length > INT32_MAX)
        return ct_fail(err, CT_E_LIMIT, "%lld factors are more than CCOLAMD takes", (long long)edges);
    CT_TRY(ct__list_room(&t->rows, (int64_t)length, err));
    CT_TRY(ct__list_room(&t->cuts, n + 2, err));
    int32_t *start = t->cuts.item, *rows = t->rows.item;
    memset(start, 0, ((size_t)n + 2) * sizeof *start);
    for (int64_t i = 0; i < nonzeros; i++) start[t->member.item[i] + 2]++;
    for (int64_t a = 0; a < n; a++) start[a + 2] += start[a + 1];
    for (int64_t e = 0; e < edges; e++)
        for (int64_t i = t->start[e]; i < t->start[e + 1]; i++) rows[start[t->member.item[i] + 1]++] = (int32_t)e;
    double knobs[CCOLAMD_KNOBS];
    int    stats[CCOLAMD_STATS];
    ccolamd_set_defaults(knobs);
    knobs[CCOLAMD_DENSE_ROW] = knobs[CCOLAMD_DENSE_COL] = -1; /* dense rows are separators, and must be ordered */
    if (!ccolamd((int)edges, (int)n, (int)length, rows, start, knobs, stats, staged ? t->stage.item : NULL))
        return stats[CCOLAMD_STATUS] == CCOLAMD_ERROR_out_of_memory
                   ? ct__no_memory(err, "variables to order", n)
                   : ct_fail(err, CT_E_ARGUMENT, "CCOLAMD refused the pattern of %lld variables (%d)", (long long)n,
                             stats[CCOLAMD_STATUS]);
    memcpy(order, start, (size_t)n * sizeof *order);
    return CT_OK;
}

/* An edge connects its first column to each other one, as eliminating that column does. */
static ct_status list_pairs(ct_smoother *s, const ct_sparse *sp, ct_err *err)
{
    ct__top      *t = &s->top;
    const int64_t edges = t->factor.count + t->orphan.count;
    int64_t       total = 0;
    CT_TRY(ct__grow(&t->pair_start, &t->pair_start_capacity, (int64_t)sp->blocks + 2, sizeof *t->pair_start,
                    "variables", err));
    CT_TRY(ct__list_room(&t->pair, t->member.count, err));
    int64_t *start = t->pair_start;
    memset(start, 0, ((size_t)sp->blocks + 2) * sizeof *start);
    for (int pass = 0; pass < 2; pass++) { /* count, then fill */
        for (int64_t e = 0; e < edges; e++) {
            if (t->start[e + 1] - t->start[e] < 2) continue;
            int32_t first = t->member.item[t->start[e]];
            for (int64_t i = t->start[e] + 1; i < t->start[e + 1]; i++)
                if (sp->position[t->member.item[i]] < sp->position[first]) first = t->member.item[i];
            for (int64_t i = t->start[e]; i < t->start[e + 1]; i++) {
                if (t->member.item[i] == first) continue;
                if (pass == 0) start[first + 2]++, total++;
                else t->pair.item[start[first + 1]++] = t->member.item[i];
            }
        }
        for (int32_t a = 0; pass == 0 && a < sp->blocks; a++) start[a + 2] += start[a + 1];
    }
    return CT_OK;
}

ct_status ct__top_analyse(ct_smoother *s, ct_sparse *sp, ct_err *err)
{
    ct__top      *t = &s->top;
    const int32_t n = (int32_t)t->var.count;
    *sp = (ct_sparse){.blocks = n};
    sp->dim = ct__zalloc(n, sizeof *sp->dim);
    sp->order = ct__zalloc(n, sizeof *sp->order);
    sp->position = ct__zalloc(n, sizeof *sp->position);
    if (!sp->dim || !sp->order || !sp->position) return ct__no_memory(err, "variables to eliminate", n);
    sort_vars(s, &t->var);
    for (int32_t k = 0; k < n; k++) {
        s->work[t->var.item[k]].column = k;
        sp->dim[k] = s->var[t->var.item[k]].dim;
    }
    CT_TRY(list_edges(s, err));
    CT_TRY(order_columns(s, sp->order, err));
    for (int32_t k = 0; k < n; k++) sp->position[sp->order[k]] = k;
    CT_TRY(list_pairs(s, sp, err));
    return ct__symbolic(sp, t->pair_start, t->pair.item, err);
}

void ct__top_release(ct_sparse *sp)
{
    free(sp->dim);
    free(sp->order);
    free(sp->position);
    free(sp->front);
    free(sp->separator);
}
