/* update.c: the steps of an update, in their order. */
#include "smooth/smooth.h"

/* Moves the point of a variable to its estimate; its factors are to be linearised anew. */
static ct_status relinearise_var(ct_smoother *s, int32_t slot, ct_err *err)
{
    CT_TRY(ct__save_var(s, slot, err));
    ct__var *var = &s->var[slot];
    ct_kind_retract(var->kind, var->point, var->delta, var->point);
    memset(var->delta, 0, sizeof var->delta);
    memset(var->sent, 0, sizeof var->sent);
    s->stats.relinearised++;
    CT_TRY(ct__list_push(&s->stack, slot, err));
    CT_TRY(ct__affect(s, slot, err));
    for (int32_t node = var->incidence; node != CT_NONE; node = ct__nodes(s, node)->next)
        if (!s->factor[ct__nodes(s, node)->factor].gone) CT_TRY(ct__affect_factor(s, ct__nodes(s, node)->factor, err));
    return CT_OK;
}

static int is_beyond(const ct__var *var, double threshold)
{
    for (int k = 0; k < var->dim; k++)
        if (fabs(var->delta[k]) > threshold) return 1;
    return 0;
}

/* The variables that are due; then, as all points stand where they will, their factors. */
static ct_status relinearise(ct_smoother *s, int all, ct_err *err)
{
    const ct__list *far = &s->far[s->far_at];
    s->stack.count = 0; /* the variables that moved */
    for (int32_t slot = 0; all && slot < s->vars; slot++)
        if (s->var[slot].index != CT_NONE && is_beyond(&s->var[slot], 0)) CT_TRY(relinearise_var(s, slot, err));
    for (int64_t k = 0; k < far->count; k++) {
        const int32_t slot = far->item[k];
        CT_TRY(ct__save_var(s, slot, err));
        if (!all && is_beyond(&s->var[slot], s->options.relinearise[s->var[slot].kind])) CT_TRY(relinearise_var(s, slot, err));
        s->var[slot].far = 0;
    }
    s->change.looked = 1;
    s->far[!s->far_at].count = 0;
    for (int64_t k = 0; k < s->stack.count; k++)
        for (int32_t node = s->var[s->stack.item[k]].incidence; node != CT_NONE; node = ct__nodes(s, node)->next)
            if (!s->factor[ct__nodes(s, node)->factor].gone) CT_TRY(ct__linearise_factor(s, ct__nodes(s, node)->factor, err));
    return CT_OK;
}

static ct_status affect_all(ct_smoother *s, const ct_increment *inc, ct_err *err)
{
    const ct__change *c = &s->change;
    for (int64_t k = 0; k < c->gone.count; k++) CT_TRY(ct__affect_factor(s, c->gone.item[k], err));
    const int due = s->options.skip > 0 && (s->updates + 1) % s->options.skip == 0;
    if (inc->relinearise || due) CT_TRY(relinearise(s, inc->relinearise, err));
    for (int64_t k = 0; k < c->new_factors.count; k++) {
        CT_TRY(ct__affect_factor(s, c->new_factors.item[k], err));
        CT_TRY(ct__linearise_factor(s, c->new_factors.item[k], err));
    }
    return CT_OK;
}

/* Everything is weighed and eliminated anew where it is. */
static ct_status affect_everything(ct_smoother *s, ct_err *err)
{
    s->change.renews = 1;
    for (int64_t f = 0; f < s->factors; f++)
        if (s->factor[f].node != CT_NONE && s->factor[f].ops) CT_TRY(ct__linearise_factor(s, (int32_t)f, err));
    for (int32_t v = 0; v < s->vars; v++)
        if (s->var[v].index != CT_NONE) CT_TRY(ct__affect(s, v, err));
    return CT_OK;
}

static void keep_remaining(ct_smoother *s)
{
    int64_t kept = 0;
    for (int64_t k = 0; k < s->top.factor.count; k++)
        if (!s->factor[s->top.factor.item[k]].gone) s->top.factor.item[kept++] = s->top.factor.item[k];
    s->top.factor.count = kept;
    kept = 0;
    for (int64_t k = 0; k < s->top.var.count; k++)
        if (!s->work[s->top.var.item[k]].leaves) s->top.var.item[kept++] = s->top.var.item[k];
    s->top.var.count = kept;
}

/* From what is affected to the new estimate. */
static ct_status redo_top(ct_smoother *s, ct_err *err)
{
    ct_sparse sp = {0};
    CT_TRY(ct__take_off(s, err));
    CT_TRY(ct__marginalise(s, err));
    for (int64_t k = 0; k < s->change.new_factors.count; k++) CT_TRY(ct__list_push(&s->top.factor, s->change.new_factors.item[k], err));
    keep_remaining(s);
    ct_status status = ct__top_analyse(s, &sp, err);
    if (status == CT_OK) status = ct__eliminate(s, &sp, err);
    s->stats.eliminated = sp.blocks;
    s->stats.fronts = sp.fronts;
    ct__top_release(&sp);
    CT_TRY(status);
    if (s->top.weak.count) CT_TRY(ct__judge(s, err));
    return ct__descend(s, err);
}

static ct_status end(ct_smoother *s, ct_status status, double start_s)
{
    if (status != CT_OK) {
        ct__change_undo(s);
        return status;
    }
    ct__change_keep(s);
    s->updates++;
    s->stats.variables = s->live_vars;
    s->stats.factors = s->live_factors;
    s->stats.seconds = ct_now_s() - start_s;
    return CT_OK;
}

ct_status ct_smoother_update(ct_smoother *s, const ct_increment *increment, ct_smoother_stats *stats, ct_err *err)
{
    const ct_increment nothing = {0}, *inc = increment ? increment : &nothing;
    const double       start_s = ct_now_s();
    CT_TRY(ct__increment_check(s, inc, err));
    ct__change_begin(s);
    ct_status status = ct__increment_add(s, inc, err);
    if (status == CT_OK) status = affect_all(s, inc, err);
    if (status == CT_OK) status = ct__choose_leaving(s, inc, err);
    if (status == CT_OK) status = redo_top(s, err);
    CT_TRY(end(s, status, start_s));
    if (stats) *stats = s->stats;
    return CT_OK;
}

ct_status ct_smoother_renew(ct_smoother *s, ct_err *err)
{
    const double start_s = ct_now_s();
    ct__change_begin(s);
    ct_status status = affect_everything(s, err);
    if (status == CT_OK) status = redo_top(s, err);
    return end(s, status, start_s);
}
