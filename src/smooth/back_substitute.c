/* back_substitute.c: the solution, from the root down.
 *
 *     R_pp delta_p = d_p - R_ps delta_s
 *
 * All cliques of this update are computed, parents first. Below them a clique is computed if a variable of its
 * separator, or another of its clique, has changed by more than `wildfire` since it was last propagated. Each variable
 * stores the delta that was propagated, so small changes accumulate until they count.
 *
 * Below a bundle (hub_sums.c) nothing is computed until a variable of its separator has changed by more than
 * `wildfire` since the bundle's children last used it; then all of them are. A hub's clique changes with every new
 * variable in it, and its children must not be visited each time. */
#include "smooth/smooth.h"

static int moved(const ct_smoother *s, const ct__var *var)
{
    for (int k = 0; k < var->dim; k++)
        if (fabs(var->delta[k] - var->sent[k]) > s->options.wildfire) return 1;
    return 0;
}

static int beyond(const ct_smoother *s, const ct__var *var)
{
    for (int k = 0; k < var->dim; k++)
        if (fabs(var->delta[k]) > s->options.relinearise[var->kind]) return 1;
    return 0;
}

/* Stores the delta of a variable, and lists it if the delta is beyond its threshold. */
static ct_status set_delta(ct_smoother *s, int32_t slot, const double *x, ct_err *err)
{
    ct__var *var = &s->var[slot];
    double   sum = 0;
    for (int k = 0; k < var->dim; k++) sum += fabs(x[k]);
    if (!isfinite(sum)) {
        char name[64];
        return ct_fail(err, CT_E_ARGUMENT, "the estimate of %s is not finite", ct__var_name(s, slot, name));
    }
    memcpy(var->delta, x, var->dim * sizeof *x);
    if (!var->far && beyond(s, var)) {
        ct__list *far = &s->far[s->far_at ^ s->change.relinearised];
        var->far = 1;
        far->item[far->count++] = slot; /* there is room: see ct__new_var */
    }
    s->stats.visited++;
    return CT_OK;
}

static ct_status solve_clique(ct_smoother *s, int32_t id, ct_err *err)
{
    const ct__clique *c = &s->clique[id];
    const int32_t    *var = ct__variables_of(s, c), p = c->p, ld = c->p + c->s + 1;
    const double     *A = ct__panel(s, c), *inverse = ct__inverse(s, c);
    CT_TRY(ct__grow(&s->vector[0], &s->vector_capacity[0], ld, sizeof **s->vector, "rows of a front", err));
    double *x = s->vector[0];
    int     goes_on = 0;
    for (int32_t i = c->pivots, at = p; i < c->pivots + c->separators; i++) {
        memcpy(x + at, s->var[var[i]].delta, s->var[var[i]].dim * sizeof *x);
        at += s->var[var[i]].dim;
    }
    for (int32_t i = p - 1; i >= 0; i--) {
        const double *row = A + (int64_t)i * ld;
        x[i] = (row[ld - 1] - ct__dot(ld - i - 2, row + i + 1, x + i + 1)) * inverse[i];
    }
    for (int32_t i = 0, at = 0; i < c->pivots; at += s->var[var[i++]].dim) {
        CT_TRY(ct__save_var(s, var[i], err));
        CT_TRY(set_delta(s, var[i], x + at, err));
        goes_on |= moved(s, &s->var[var[i]]);
    }
    for (int32_t i = 0; goes_on && i < c->pivots; i++) {
        memcpy(s->var[var[i]].sent, s->var[var[i]].delta, s->var[var[i]].dim * sizeof *x);
        s->work[var[i]].changed = s->stamp;
    }
    return CT_OK;
}

/* A new bundle has NaN: its children are computed. */
static int bundle_hears(const ct_smoother *s, const ct__clique *c)
{
    const double *sent = ct__sent_delta(s, c);
    for (int32_t i = 0; i < c->separators; i++) {
        const ct__var *var = &s->var[ct__variables_of(s, c)[i]];
        for (int k = 0; k < var->dim; k++)
            if (!(fabs(var->delta[k] - *sent++) <= s->options.wildfire)) return 1;
    }
    return 0;
}

/* A bundle of an earlier update gets a block of its own, so that this one can be undone. */
static ct_status tell(ct_smoother *s, int32_t id, ct_err *err)
{
    int64_t numbers;
    if (!isnan(ct__sent_delta(s, &s->clique[id])[0])) {
        const int64_t n = ct__clique_numbers(0, s->clique[id].s);
        CT_TRY(ct__save_clique(s, id, err));
        CT_TRY(ct__pool_take(&s->numbers, n, &numbers, err));
        memcpy(ct__numbers(s, numbers), ct__panel(s, &s->clique[id]), (size_t)n * sizeof(double));
        s->clique[id].numbers = numbers;
    }
    const ct__clique *c = &s->clique[id];
    double           *sent = ct__sent_delta(s, c);
    for (int32_t i = 0; i < c->separators; i++) {
        const ct__var *var = &s->var[ct__variables_of(s, c)[i]];
        memcpy(sent, var->delta, var->dim * sizeof *sent);
        sent += var->dim;
    }
    return CT_OK;
}

static inline int hears(const ct_smoother *s, const ct__clique *c)
{
    const int32_t *var = ct__variables_of(s, c) + c->pivots;
    if (!c->pivots) return bundle_hears(s, c);
    for (int32_t i = 0; i < c->separators; i++)
        if (s->work[var[i]].changed == s->stamp) return 1;
    return 0;
}

ct_status ct__back_substitute(ct_smoother *s, ct_err *err)
{
    for (int64_t k = s->top.clique.count - 1; k >= 0; k--) CT_TRY(solve_clique(s, s->top.clique.item[k], err));
    s->stack.count = 0;
    for (int64_t k = 0; k < s->top.orphan.count; k++)
        if (s->top.orphan.item[k] != CT_NONE && hears(s, &s->clique[s->top.orphan.item[k]]))
            CT_TRY(ct__list_push(&s->stack, s->top.orphan.item[k], err));
    while (s->stack.count) {
        const int32_t id = s->stack.item[--s->stack.count], bundle = !s->clique[id].pivots;
        CT_TRY(bundle ? tell(s, id, err) : solve_clique(s, id, err));
        for (int32_t child = s->clique[id].child; child != CT_NONE; child = s->clique[child].sibling)
            if (bundle || hears(s, &s->clique[child])) CT_TRY(ct__list_push(&s->stack, child, err));
    }
    return CT_OK;
}
