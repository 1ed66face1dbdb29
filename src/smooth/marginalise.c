/* marginalise.c: variables are marginalised.
 *
 * All factors of the variable form one small front with the variable as its pivot:
 *
 *     [ H_mm H_mn ]        Lambda = H_nn - H_nm H_mm^-1 H_mn,   eta = g_n - H_nm H_mm^-1 g_m
 *     [      H_nn ]
 *
 * Lambda and eta are a prior on the neighbours about their linearisation points. The factors are removed with the
 * variable.
 *
 * The tree need not be detached if the variable is the first pivot of a clique and in no child's separator. Its rows
 * are removed; the rest of the clique equals what eliminating the prior gives, and nothing above changes. In a window
 * over a path this is the usual case, so the work of an update does not depend on the window's width. */
#include "smooth/smooth.h"

/* Whether the variable can be removed from its clique without detaching it. The prior must then have a pivot of the
 * clique among its variables or, if the clique is left without pivots, one of its parent. */
static int can_leave_its_clique(const ct_smoother *s, int32_t slot)
{
    if (s->var[slot].clique == CT_NONE || s->work[slot].affected == s->stamp) return 0;
    const ct__clique *c = &s->clique[s->var[slot].clique];
    if (ct__variables_of(s, c)[0] != slot) return 0;
    for (int32_t child = c->child; child != CT_NONE; child = s->clique[child].sibling) {
        const ct__clique *below = &s->clique[child];
        for (int32_t i = below->pivots; i < below->pivots + below->separators; i++)
            if (ct__variables_of(s, below)[i] == slot) return 0;
    }
    const int32_t owner = c->pivots > 1 ? s->var[slot].clique : c->parent;
    if (owner == CT_NONE) return 0;
    for (int32_t node = s->var[slot].incidence; node != CT_NONE; node = ct__nodes(s, node)->next) {
        const ct__smooth_factor *f = &s->factor[ct__nodes(s, node)->factor];
        for (int32_t i = 0; i < f->members && !f->gone; i++) {
            const int32_t other = ct__nodes(s, f->node + i)->var;
            if (other != slot && !s->var[other].fixed && s->var[other].clique == owner) return 1;
        }
    }
    return 0;
}

static ct_status leave(ct_smoother *s, int32_t slot, ct_err *err)
{
    if (s->work[slot].leaves) return CT_OK;
    const int alone = !s->change.leaving.count;
    CT_TRY(ct__list_push(&s->change.leaving, slot, err));
    s->work[slot].leaves = 1;
    if (alone && can_leave_its_clique(s, slot)) return CT_OK;
    CT_TRY(ct__affect(s, slot, err));
    for (int32_t node = s->var[slot].incidence; node != CT_NONE; node = ct__nodes(s, node)->next)
        if (!s->factor[ct__nodes(s, node)->factor].gone) CT_TRY(ct__affect_factor(s, ct__nodes(s, node)->factor, err));
    return CT_OK;
}

ct_status ct__choose_marginalised(ct_smoother *s, const ct_increment *inc, ct_err *err)
{
    int64_t moving = s->moving;
    for (int32_t k = 0; k < inc->marginals; k++) CT_TRY(leave(s, ct__slot(&s->var_map, inc->marginal[k]), err));
    if (!s->options.window) return CT_OK;
    for (int64_t k = 0; k < s->change.new_vars.count; k++) moving += !s->var[s->change.new_vars.item[k]].fixed;
    moving -= s->change.leaving.count;
    for (int32_t v = CT_MAX(s->oldest, s->var_map.base); moving > s->options.window; v++) {
        const int32_t slot = ct__slot(&s->var_map, v);
        s->change.oldest = v + 1;
        if (slot == CT_NONE || s->var[slot].fixed || s->work[slot].leaves) continue;
        CT_TRY(leave(s, slot, err));
        moving--;
    }
    return CT_OK;
}

/* A front under construction: variables (the marginalised one first) and factors. */
typedef struct {
    ct__list *var, *factor;
    int64_t   width;
} star;

static ct_status add_factor(ct_smoother *s, star *w, int32_t slot, ct_err *err)
{
    const ct__smooth_factor *f = &s->factor[slot];
    CT_TRY(ct__list_push(w->factor, slot, err));
    for (int32_t i = 0; i < f->members; i++) {
        const int32_t var = ct__nodes(s, f->node + i)->var;
        if (s->var[var].fixed || s->work[var].seen == s->seen) continue;
        CT_TRY(ct__list_push(w->var, var, err));
        s->work[var].seen = s->seen;
        s->work[var].column = (int32_t)w->width;
        w->width += s->var[var].dim;
    }
    return CT_OK;
}

/* The factors of a variable: its own, and those that this update adds, including priors made before. */
static ct_status collect(ct_smoother *s, int32_t slot, star *w, ct_err *err)
{
    *w = (star){.var = &s->top.stage, .factor = &s->top.cuts, .width = s->var[slot].dim};
    w->var->count = w->factor->count = 0;
    s->work[slot].seen = ++s->seen;
    s->work[slot].column = 0;
    CT_TRY(ct__list_push(w->var, slot, err));
    for (int32_t node = s->var[slot].incidence; node != CT_NONE; node = ct__nodes(s, node)->next)
        if (!s->factor[ct__nodes(s, node)->factor].gone) CT_TRY(add_factor(s, w, ct__nodes(s, node)->factor, err));
    for (int64_t k = 0; k < s->change.new_factors.count; k++) {
        const ct__smooth_factor *f = &s->factor[s->change.new_factors.item[k]];
        int             touches = 0;
        for (int32_t i = 0; i < f->members && !f->gone; i++) touches |= ct__nodes(s, f->node + i)->var == slot;
        if (touches) CT_TRY(add_factor(s, w, s->change.new_factors.item[k], err));
    }
    return CT_OK;
}

/* U s x (s + 1), upper, as a prior on the star's other variables. */
static ct_status make_prior(ct_smoother *s, const star *w, const double *U, int32_t n, ct_err *err)
{
    int32_t   slot;
    int64_t   z;
    const int32_t members = (int32_t)w->var->count - 1;
    CT_TRY(ct__new_factor(s, members, &slot, err));
    ct__smooth_factor *f = &s->factor[slot];
    f->n = n;
    for (int32_t i = 0; i < members; i++)
        *ct__nodes(s, f->node + i) =
            (ct__node){.var = w->var->item[i + 1], .factor = slot, .next = CT_NONE, .before = CT_NONE};
    CT_TRY(ct__pool_take(&s->numbers, ct__z_numbers(f), &z, err));
    f->z = z;
    double *x0 = ct__numbers(s, z), *Lambda = x0 + (int64_t)CT_SIZE_MAX * members, *eta = Lambda + (int64_t)n * n;
    for (int32_t i = 0; i < members; i++)
        memcpy(x0 + (int64_t)CT_SIZE_MAX * i, s->var[w->var->item[i + 1]].point, CT_SIZE_MAX * sizeof *x0);
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = i; j < n; j++)
            Lambda[(int64_t)i * n + j] = Lambda[(int64_t)j * n + i] = U[(int64_t)i * (n + 1) + j];
        eta[i] = -U[(int64_t)i * (n + 1) + n];
    }
    return ct__linearise_factor(s, slot, err);
}

/* Removes the marginalised variable from the graph; it is no longer in the tree. */
static ct_status marginalise(ct_smoother *s, int32_t slot, ct_err *err)
{
    ct__top *t = &s->top;
    star     w;
    char     name[64];
    CT_TRY(collect(s, slot, &w, err));
    const int32_t p = s->var[slot].dim, n = (int32_t)(w.width - p);
    CT_TRY(ct__grow(&s->vector[0], &s->vector_capacity[0], ct__clique_numbers(p, n), sizeof **s->vector,
                    "numbers of a front", err));
    CT_TRY(ct__grow(&t->original, &t->original_capacity, w.width, sizeof *t->original, "rows of a front", err));
    CT_TRY(
        ct__grow(&t->tiles, &t->tiles_capacity, CT_STRIP * (w.width + 17), sizeof *t->tiles, "tiles of a front", err));
    double          *A = s->vector[0], *U = A + (int64_t)p * (w.width + 1), inverse[CT_DIM_MAX];
    int32_t          weak[CT_DIM_MAX];
    const ct__extend front = {.A = A, .U = U, .p = p, .s = n};
    memset(A, 0, (size_t)ct__clique_numbers(p, n) * sizeof *A);
    memset(t->original, 0, (size_t)w.width * sizeof *t->original);
    for (int64_t k = 0; k < w.factor->count; k++)
        ct__assemble_factor(s, &s->factor[w.factor->item[k]], &front, t->original);
    ct__dense dense = {
        .A = A, .p = p, .s = n, .original = t->original, .inverse = inverse, .tiles = t->tiles, .weak = weak};
    ct__dense_factor(&dense, U, 1);
    for (int32_t i = 0; i < dense.weak_count; i++)
        if (weak[i] < 0)
            return ct_fail(err, CT_E_SINGULAR, "%s cannot be marginalised out: no factor fixes it",
                           ct__var_name(s, slot, name));
    if (n) CT_TRY(make_prior(s, &w, U, n, err));
    for (int64_t k = 0; k < w.factor->count; k++) {
        CT_TRY(ct__unprove_group_of(s, &s->factor[w.factor->item[k]], err));
        CT_TRY(ct__list_push(&s->change.gone, w.factor->item[k], err));
        s->factor[w.factor->item[k]].gone = 1;
    }
    s->stats.marginalised++;
    return CT_OK;
}

/* ---- cutting it off ---- */

/* New lists of a clique: without removed factors, with the prior; and without its first `cut`
 * variables. */
static ct_status relist(ct_smoother *s, int32_t id, int32_t cut, int32_t prior, ct_err *err)
{
    int64_t list;
    CT_TRY(ct__save_clique(s, id, err));
    ct__clique now = s->clique[id];
    now.factors = 1;
    for (int32_t i = 0; i < s->clique[id].factors; i++)
        now.factors += !s->factor[ct__factors_of(s, &s->clique[id])[i]].gone;
    now.pivots -= cut;
    CT_TRY(ct__pool_take(&s->lists, ct__clique_list(&now), &list, err));
    now.list = list;
    const ct__clique *was = &s->clique[id];
    memcpy(ct__ints(s, list), ct__variables_of(s, was) + cut, (size_t)(now.pivots + now.separators) * sizeof(int32_t));
    int32_t *factor = ct__factors_of(s, &now);
    for (int32_t i = 0; i < was->factors; i++)
        if (!s->factor[ct__factors_of(s, was)[i]].gone) *factor++ = ct__factors_of(s, was)[i];
    *factor = prior;
    s->clique[id] = now;
    return CT_OK;
}

/* The clique's numbers without its first d rows and columns. */
static ct_status cut_rows(ct_smoother *s, int32_t id, int32_t d, ct_err *err)
{
    int64_t           numbers;
    const ct__clique  was = s->clique[id];
    ct__clique       *now = &s->clique[id];
    CT_TRY(ct__pool_take(&s->numbers, ct__clique_numbers(was.p - d, was.s), &numbers, err));
    now->p -= d;
    now->numbers = numbers;
    const int32_t width = now->p + now->s + 1, old = was.p + was.s + 1;
    for (int32_t i = 0; i < now->p; i++)
        memcpy(ct__panel(s, now) + (int64_t)i * width, ct__panel(s, &was) + (int64_t)(i + d) * old + d,
               (size_t)width * sizeof(double));
    memcpy(ct__inverse(s, now), ct__inverse(s, &was) + d, (size_t)now->p * sizeof(double));
    memcpy(ct__update(s, now), ct__update(s, &was), (size_t)(was.s * (was.s + 2)) * sizeof(double));
    for (int32_t i = 0; i < now->pivots; i++) {
        const int32_t var = ct__variables_of(s, now)[i];
        CT_TRY(ct__save_var(s, var, err));
        s->var[var].row -= d;
    }
    return CT_OK;
}

/* Takes a clique without children out of its parent's list. */
static ct_status unlink_clique(ct_smoother *s, int32_t id, ct_err *err)
{
    const int32_t up = s->clique[id].parent, after = s->clique[id].sibling;
    int32_t       before = CT_NONE;
    for (int32_t c = s->clique[up].child; c != id; c = s->clique[c].sibling) before = c;
    CT_TRY(ct__save_clique(s, before == CT_NONE ? up : before, err));
    if (before == CT_NONE) s->clique[up].child = after;
    else s->clique[before].sibling = after;
    return ct__list_push(&s->change.taken, id, err);
}

/* The variable has been marginalised, and its clique was not detached. */
static ct_status cut_off(ct_smoother *s, int32_t slot, ct_err *err)
{
    const int32_t id = s->var[slot].clique, prior = s->change.new_factors.item[s->change.new_factors.count - 1];
    /* an orphan whose whole information is the prior, a factor of the detached part */
    if (s->clique[id].pivots == 1 && s->clique[s->clique[id].parent].taken == s->stamp) {
        int64_t kept = 0;
        for (int64_t k = 0; k < s->top.orphan.count; k++)
            if (s->top.orphan.item[k] != id) s->top.orphan.item[kept++] = s->top.orphan.item[k];
        s->top.orphan.count = kept;
        return ct__list_push(&s->change.taken, id, err);
    }
    s->factor[prior].housed = 1;
    if (s->clique[id].pivots == 1) {
        CT_TRY(relist(s, s->clique[id].parent, 0, prior, err));
        return unlink_clique(s, id, err);
    }
    CT_TRY(relist(s, id, 1, prior, err));
    return cut_rows(s, id, s->var[slot].dim, err);
}

ct_status ct__marginalise(ct_smoother *s, ct_err *err)
{
    for (int64_t k = 0; k < s->change.leaving.count; k++) {
        const int32_t slot = s->change.leaving.item[k], clique = s->var[slot].clique;
        CT_TRY(marginalise(s, slot, err));
        if (clique != CT_NONE && s->clique[clique].taken != s->stamp) CT_TRY(cut_off(s, slot, err));
    }
    return CT_OK;
}
