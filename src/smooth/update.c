/* update.c: the steps of an update, in their order. */
#include "smooth/smooth.h"

static ct_status affect_all(ct_smoother *s, const ct_increment *inc, ct_err *err)
{
    const ct__change *c = &s->change;
    for (int64_t k = 0; k < c->gone.count; k++) CT_TRY(ct__affect_factor(s, c->gone.item[k], err));
    const int due = inc->relinearise_due || (s->options.skip > 0 && (s->updates + 1) % s->options.skip == 0);
    if (inc->relinearise || due) CT_TRY(ct__relinearise_due(s, inc->relinearise, err));
    for (int64_t k = 0; k < c->new_factors.count; k++) CT_TRY(ct__affect_factor(s, c->new_factors.item[k], err));
    return CT_OK;
}

/* Whitens and eliminates everything again at the same linearisation points. */
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

/* Eliminates the affected part and computes the new estimate. */
static ct_status redo_top(ct_smoother *s, ct_err *err)
{
    ct_sparse sp = {0};
    CT_TRY(ct__detach_top(s, err));
    if (!s->change.renews) CT_TRY(ct__relinearise_free(s, err));
    CT_TRY(ct__linearise_changed(s, err));
    CT_TRY(ct__marginalise(s, err));
    for (int64_t k = 0; k < s->change.new_factors.count; k++)
        if (!s->factor[s->change.new_factors.item[k]].housed)
            CT_TRY(ct__list_push(&s->top.factor, s->change.new_factors.item[k], err));
    keep_remaining(s);
    if (!s->top.var.count) return CT_OK;
    ct_status status = ct__top_analyse(s, &sp, err);
    if (status == CT_OK) status = ct__eliminate(s, &sp, err);
    s->stats.eliminated = sp.blocks;
    s->stats.fronts = sp.fronts;
    ct__top_release(&sp);
    CT_TRY(status);
    if (s->top.weak.count) CT_TRY(ct__check_weak_pivots(s, err));
    return ct__back_substitute(s, err);
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
    if (status == CT_OK) status = ct__choose_marginalised(s, inc, err);
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

/* A Gauss-Newton step that is measured and then undone. */
ct_status ct_smoother_stationarity(ct_smoother *s, double *largest, double *distance, ct_err *err)
{
    const double wildfire = s->options.wildfire;
    /* delta'H delta = |R delta|^2 = |d|^2; cliques that stay have delta = 0 and contribute nothing */
    double       square = 0;
    *largest = 0;
    ct__change_begin(s);
    s->options.wildfire = 0;
    ct_status status = ct__relinearise_due(s, 1, err);
    if (status == CT_OK) status = redo_top(s, err);
    s->options.wildfire = wildfire;
    for (int64_t v = 0; status == CT_OK && v < s->vars; v++)
        for (int k = 0; k < s->var[v].dim && s->var[v].index != CT_NONE; k++)
            *largest = CT_MAX(*largest, fabs(s->var[v].delta[k]));
    for (int64_t k = 0; status == CT_OK && k < s->top.clique.count; k++) {
        const ct__clique *c = &s->clique[s->top.clique.item[k]];
        const int32_t     ld = c->p + c->s + 1;
        for (int32_t i = 0; i < c->p; i++) {
            const double d = ct__panel(s, c)[(int64_t)i * ld + ld - 1];
            square += d * d;
        }
    }
    if (status != CT_OK) *largest = square = NAN;
    if (distance) *distance = sqrt(square);
    ct__change_undo(s);
    return status;
}
