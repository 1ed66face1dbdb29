/* relinearise.c: which linearisation points move to the estimate.
 *
 * A variable is due if its delta is beyond its threshold. All its factors are linearised again, so all their variables
 * are affected, and a larger part of the tree is detached. A variable that is detached anyway with all its factors (it
 * is in no orphan's separator) can be relinearised without further elimination. That is done from a smaller delta on,
 * where it is worth the evaluation of its factors. */
#include "smooth/smooth.h"

#define FREE_SHARE 0.1 /* of the threshold */

static int is_beyond(const ct__var *var, double threshold)
{
    for (int k = 0; k < var->dim; k++)
        if (fabs(var->delta[k]) > threshold) return 1;
    return 0;
}

static ct_status move(ct_smoother *s, int32_t slot, ct_err *err)
{
    CT_TRY(ct__save_var(s, slot, err));
    CT_TRY(ct__list_push(&s->moved, slot, err));
    ct__var *var = &s->var[slot];
    ct_kind_retract(var->kind, var->point, var->delta, var->point);
    memset(var->delta, 0, sizeof var->delta);
    memset(var->sent, 0, sizeof var->sent);
    s->stats.relinearised++;
    return CT_OK;
}

static ct_status move_due(ct_smoother *s, int32_t slot, ct_err *err)
{
    CT_TRY(move(s, slot, err));
    CT_TRY(ct__affect(s, slot, err));
    for (int32_t node = s->var[slot].incidence; node != CT_NONE; node = ct__nodes(s, node)->next)
        if (!s->factor[ct__nodes(s, node)->factor].gone) CT_TRY(ct__affect_factor(s, ct__nodes(s, node)->factor, err));
    return CT_OK;
}

ct_status ct__relinearise_due(ct_smoother *s, int all, ct_err *err)
{
    const ct__list *far = &s->far[s->far_at];
    for (int32_t slot = 0; all && slot < s->vars; slot++)
        if (s->var[slot].index != CT_NONE && is_beyond(&s->var[slot], 0)) CT_TRY(move_due(s, slot, err));
    for (int64_t k = 0; k < far->count; k++) {
        const int32_t slot = far->item[k];
        CT_TRY(ct__save_var(s, slot, err));
        if (!all && is_beyond(&s->var[slot], s->options.relinearise[s->var[slot].kind])) CT_TRY(move_due(s, slot, err));
        s->var[slot].far = 0;
    }
    s->change.relinearised = 1;
    s->far[!s->far_at].count = 0;
    return CT_OK;
}

ct_status ct__relinearise_free(ct_smoother *s, ct_err *err)
{
    s->seen++;
    for (int64_t k = 0; k < s->top.orphan.count; k++) {
        const ct__clique *c = &s->clique[s->top.orphan.item[k]];
        for (int32_t i = c->pivots; i < c->pivots + c->separators; i++)
            s->work[ct__variables_of(s, c)[i]].seen = s->seen;
    }
    for (int64_t k = 0; k < s->top.var.count; k++) {
        const int32_t slot = s->top.var.item[k];
        if (s->work[slot].seen == s->seen ||
            !is_beyond(&s->var[slot], FREE_SHARE * s->options.relinearise[s->var[slot].kind]))
            continue;
        CT_TRY(move(s, slot, err));
    }
    return CT_OK;
}

ct_status ct__linearise_changed(ct_smoother *s, ct_err *err)
{
    for (int64_t k = 0; k < s->moved.count; k++)
        for (int32_t node = s->var[s->moved.item[k]].incidence; node != CT_NONE; node = ct__nodes(s, node)->next)
            if (!s->factor[ct__nodes(s, node)->factor].gone)
                CT_TRY(ct__linearise_factor(s, ct__nodes(s, node)->factor, err));
    for (int64_t k = 0; k < s->change.new_factors.count; k++)
        CT_TRY(ct__linearise_factor(s, s->change.new_factors.item[k], err));
    return CT_OK;
}
