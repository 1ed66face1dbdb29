/* smoother.c: construction and queries. */
#include "smooth/smooth.h"

ct_smoother_options ct_smoother_defaults(void)
{
    ct_smoother_options options = {.skip = 10, .wildfire = 0.001};
    for (int k = 0; k < CT_KIND_COUNT; k++) options.relinearise[k] = 0.1;
    return options;
}

static ct_status check_options(const ct_smoother_options *o, ct_err *err)
{
    for (int k = 0; k < CT_KIND_COUNT; k++)
        if (!(o->relinearise[k] >= 0))
            return ct_fail(err, CT_E_ARGUMENT, "the relinearisation threshold of %s is %g, it must not be negative",
                           ct_kind_name((ct_kind)k), o->relinearise[k]);
    if (!(o->wildfire >= 0))
        return ct_fail(err, CT_E_ARGUMENT, "the wildfire threshold is %g, it must not be negative", o->wildfire);
    if (o->skip < 0)
        return ct_fail(err, CT_E_ARGUMENT, "skip is %d updates, it must not be negative", o->skip);
    if (o->window < 0) return ct_fail(err, CT_E_ARGUMENT, "a window of %d variables is negative", o->window);
    return CT_OK;
}

ct_status ct_smoother_new(const ct_noise *noise, const ct_smoother_options *options, ct_smoother **out, ct_err *err)
{
    const ct_smoother_options wanted = options ? *options : ct_smoother_defaults();
    *out = NULL;
    CT_TRY(check_options(&wanted, err));
    ct_smoother *s = ct__zalloc(1, sizeof *s);
    if (!s) return ct__no_memory(err, "smoother", 1);
    s->noise = noise;
    s->options = wanted;
    s->free_var = s->free_factor = s->free_clique = s->root = CT_NONE;
    s->numbers.unit = sizeof(double);
    s->lists.unit = sizeof(int32_t);
    s->nodes.unit = sizeof(ct__node);
    *out = s;
    return CT_OK;
}

void ct_smoother_free(ct_smoother *s)
{
    if (!s) return;
    ct__smoother_release(s);
    free(s);
}

int32_t ct_smoother_variables(const ct_smoother *s) { return s->var_map.base + (int32_t)s->var_map.count; }
int32_t ct_smoother_factors(const ct_smoother *s) { return s->factor_map.base + (int32_t)s->factor_map.count; }
int     ct_smoother_has(const ct_smoother *s, int32_t var) { return ct__slot(&s->var_map, var) != CT_NONE; }

ct_kind ct_smoother_kind(const ct_smoother *s, int32_t var)
{
    return ct_smoother_has(s, var) ? (ct_kind)s->var[ct__slot(&s->var_map, var)].kind : CT_KIND_COUNT;
}

void ct_smoother_estimate(const ct_smoother *s, int32_t var, double *x)
{
    if (!ct_smoother_has(s, var)) return;
    const ct__var *v = &s->var[ct__slot(&s->var_map, var)];
    if (v->fixed) memcpy(x, v->point, (size_t)ct_kind_size(v->kind) * sizeof *x);
    else ct_kind_retract(v->kind, v->point, v->delta, x);
}

int64_t ct_smoother_estimates(const ct_smoother *s, double *x)
{
    int64_t size = 0;
    for (int32_t v = 0; v < ct_smoother_variables(s); v++) {
        if (!ct_smoother_has(s, v)) continue;
        if (x) ct_smoother_estimate(s, v, x + size);
        size += ct_kind_size(ct_smoother_kind(s, v));
    }
    return size;
}
