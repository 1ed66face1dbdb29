/* new_factors.c: the variables and factors of an increment: checked as a graph checks them, then stored in slots. */
#include "graph/graph.h"
#include "smooth/smooth.h"

#include <math.h>
#include <stdio.h>

const char *ct__var_name(const ct_smoother *s, int32_t slot, char buf[64])
{
    if (s->var[slot].name) snprintf(buf, 64, "%s", s->var[slot].name);
    else snprintf(buf, 64, "x%d", s->var[slot].index);
    return buf;
}

/* A variable of the graph or of the increment. */
typedef struct {
    int     known, fixed;
    ct_kind kind;
    char    name[64];
} about;

static about find_variable(const ct_smoother *s, const ct_increment *inc, int32_t index)
{
    about         a = {.known = 0};
    const int32_t next = ct_smoother_variables(s), slot = ct__slot(&s->var_map, index);
    if (slot != CT_NONE) {
        a = (about){.known = 1, .kind = s->var[slot].kind, .fixed = s->var[slot].fixed};
        ct__var_name(s, slot, a.name);
    } else if (index >= next && index - next < inc->variables) {
        const ct_new_variable *v = &inc->variable[index - next];
        a = (about){.known = 1, .kind = v->kind, .fixed = v->fixed};
        if (v->name) snprintf(a.name, sizeof a.name, "%s", v->name);
        else snprintf(a.name, sizeof a.name, "x%d", index);
    }
    return a;
}

static ct_status check_noise(const ct_smoother *s, int32_t f, const ct_new_factor *factor, ct_err *err)
{
    if (factor->noise < 0 || factor->noise >= ct_noise_count(s->noise))
        return ct_fail(err, CT_E_NOISE, "factor %d (%s): noise model %d does not exist, the table has %d", f,
                       factor->ops->name, factor->noise, ct_noise_count(s->noise));
    const ct_noise_model *model = ct_noise_get(s->noise, factor->noise);
    if (model->dim != factor->ops->rows)
        return ct_fail(err, CT_E_NOISE, "factor %d (%s) has %d rows, noise model \"%s\" has %d coordinates", f,
                       factor->ops->name, factor->ops->rows, model->name, model->dim);
    for (int i = 0; model->function && i < model->function->features; i++)
        if (!factor->feature || isnan(factor->feature[i]))
            return ct_fail(err, CT_E_NOISE, "noise model \"%s\" depends on %s, which factor %d (%s) has not",
                           model->name, model->function->feature[i].name, f, factor->ops->name);
    return CT_OK;
}

static ct_status check_factor(const ct_smoother *s, const ct_increment *inc, int32_t k, ct_err *err)
{
    const ct_new_factor *factor = &inc->factor[k];
    const ct_factor_ops *ops = factor->ops;
    const int32_t        f = ct_smoother_factors(s) + k;
    about                first = {0};
    CT_TRY(ct__check_ops(f, ops, err));
    for (int i = 0; i < ops->arity; i++) {
        const about a = find_variable(s, inc, factor->var[i]);
        if (!a.known)
            return ct_fail(err, CT_E_ARGUMENT, "factor %d (%s): variable %d %s", f, ops->name, factor->var[i],
                           factor->var[i] >= 0 && factor->var[i] < ct_smoother_variables(s) ? "was marginalised out"
                                                                                            : "does not exist");
        if (a.kind != ops->kind[i])
            return ct_fail(err, CT_E_ARGUMENT, "factor %d (%s): %s is %s, it must be %s", f, ops->name, a.name,
                           ct_kind_name(a.kind), ct_kind_name(ops->kind[i]));
        for (int j = 0; j < i; j++)
            if (factor->var[i] == factor->var[j])
                return ct_fail(err, CT_E_ARGUMENT, "factor %d (%s): %s is named twice", f, ops->name, a.name);
        if (i == 0) first = a;
    }
    CT_TRY(ct__check_measurement(f, ops, first.name, factor->z, factor->context, err));
    if (factor->multiplier != 0) CT_TRY(ct__check_multiplier(f, ops, factor->multiplier, err));
    return check_noise(s, f, factor, err);
}

ct_status ct__increment_check(const ct_smoother *s, const ct_increment *inc, ct_err *err)
{
    for (int32_t k = 0; k < inc->variables; k++) {
        const ct_new_variable *v = &inc->variable[k];
        const about            a = find_variable(s, inc, ct_smoother_variables(s) + k);
        CT_TRY(ct__check_kind(a.name, v->kind, err));
        if (v->value) CT_TRY(ct__check_value(a.name, v->kind, v->value, err));
    }
    for (int32_t k = 0; k < inc->factors; k++) CT_TRY(check_factor(s, inc, k, err));
    for (int32_t k = 0; k < inc->removals; k++) {
        if (ct__slot(&s->factor_map, inc->removal[k]) == CT_NONE)
            return ct_fail(err, CT_E_ARGUMENT, "factor %d cannot be removed: it %s", inc->removal[k],
                           inc->removal[k] >= 0 && inc->removal[k] < ct_smoother_factors(s) ? "is there no more"
                                                                                            : "does not exist");
    }
    for (int32_t k = 0; k < inc->marginals; k++) {
        const about a = find_variable(s, inc, inc->marginal[k]);
        if (!a.known)
            return ct_fail(err, CT_E_ARGUMENT, "variable %d cannot be marginalised out: it is not there",
                           inc->marginal[k]);
        if (a.fixed) return ct_fail(err, CT_E_ARGUMENT, "variable %s cannot be marginalised out: it is fixed", a.name);
    }
    return CT_OK;
}

/* group: first index of the variables added together; peers: their number. */
static ct_status add_variable(ct_smoother *s, const ct_new_variable *v, int32_t group, int32_t peers, ct_err *err)
{
    int32_t slot;
    CT_TRY(ct__new_var(s, &slot, err));
    ct__var *var = &s->var[slot];
    *var = (ct__var){.index = CT_NONE,
                     .kind = (uint8_t)v->kind,
                     .dim = (uint8_t)ct_kind_dim(v->kind),
                     .fixed = v->fixed != 0,
                     .clique = CT_NONE,
                     .incidence = CT_NONE,
                     .group = group,
                     .peers = (uint8_t)peers};
    if (v->value) memcpy(var->point, v->value, (size_t)ct_kind_size(v->kind) * sizeof *v->value);
    else ct_kind_identity(v->kind, var->point);
    if (v->name && !(var->name = ct__strdup(v->name)))
        return ct__no_memory(err, "bytes of a name", (int64_t)strlen(v->name));
    const int32_t index = ct_smoother_variables(s);
    CT_TRY(ct__map_append(&s->var_map, slot, err));
    s->var[slot].index = index;
    return v->fixed ? CT_OK : ct__unprove(s, slot, err);
}

static ct_status add_factor(ct_smoother *s, const ct_new_factor *factor, ct_err *err)
{
    int32_t slot;
    int64_t z;
    CT_TRY(ct__new_factor(s, factor->ops->arity, &slot, err));
    ct__smooth_factor *f = &s->factor[slot];
    f->ops = factor->ops;
    f->context = factor->context;
    f->noise = factor->noise;
    f->multiplier = factor->multiplier == 0 ? 1 : factor->multiplier;
    const ct_function *function = ct_noise_get(s->noise, factor->noise)->function;
    f->features = function ? function->features : 0;
    for (int i = 0; i < f->members; i++) {
        *ct__nodes(s, f->node + i) = (ct__node){
            .var = ct__slot(&s->var_map, factor->var[i]), .factor = slot, .next = CT_NONE, .before = CT_NONE};
        f->n += ct_kind_dim(factor->ops->kind[i]);
    }
    CT_TRY(ct__pool_take(&s->numbers, ct__z_numbers(f), &z, err));
    f->z = z;
    const int numbers = ct_factor_z_size(factor->ops);
    memcpy(ct__numbers(s, z), factor->z, (size_t)numbers * sizeof *factor->z);
    if (f->features)
        memcpy(ct__numbers(s, z) + numbers, factor->feature, (size_t)f->features * sizeof *factor->feature);
    const int32_t index = ct_smoother_factors(s);
    CT_TRY(ct__map_append(&s->factor_map, slot, err));
    f->index = index;
    return CT_OK;
}

ct_status ct__increment_add(ct_smoother *s, const ct_increment *inc, ct_err *err)
{
    const int32_t first = ct_smoother_variables(s), together = ct__is_one_group(inc);
    for (int32_t k = 0; k < inc->variables; k++)
        CT_TRY(add_variable(s, &inc->variable[k], together ? first : first + k, together ? inc->variables : 1, err));
    for (int32_t k = 0; k < inc->factors; k++) CT_TRY(add_factor(s, &inc->factor[k], err));
    for (int32_t k = 0; k < inc->removals; k++) {
        const int32_t slot = ct__slot(&s->factor_map, inc->removal[k]);
        if (s->factor[slot].gone)
            return ct_fail(err, CT_E_ARGUMENT, "factor %d is to be removed twice", inc->removal[k]);
        CT_TRY(ct__unprove_group_of(s, &s->factor[slot], err));
        CT_TRY(ct__list_push(&s->change.gone, slot, err));
        s->factor[slot].gone = 1;
    }
    return CT_OK;
}
