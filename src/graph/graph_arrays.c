/* graph_arrays.c: variables and factors by the array. All of an array is added, or nothing. */
#include "graph/graph.h"

static ct_status check_count(int64_t count, int64_t present, const char *what, ct_err *err)
{
    if (count < 0)
        return ct_fail(err, CT_E_ARGUMENT, "%lld %s: there cannot be less than none", (long long)count, what);
    if (count > INT32_MAX - present)
        return ct_fail(err, CT_E_LIMIT, "a graph holds at most %d %s: there are %lld, and %lld more are to be added",
                       INT32_MAX, what, (long long)present, (long long)count);
    return CT_OK;
}

ct_status ct_graph_add_variables(ct_graph *g, ct_kind kind, int64_t count, const double *values, int32_t *first,
                                 ct_err *err)
{
    const int32_t before = g->variables;
    const int64_t size_before = g->size;
    CT_TRY(check_count(count, before, "variables", err));
    CT_TRY(ct__check_kind("of an array", kind, err));
    ct_status status = CT_OK;
    for (int64_t k = 0; status == CT_OK && k < count; k++)
        status = ct_graph_add_variable(g, NULL, kind, values ? values + k * ct_kind_size(kind) : NULL, NULL, err);
    if (status == CT_OK) {
        if (first) *first = before;
        return CT_OK;
    }
    for (; g->variables > before; g->variables--) ct__names_drop_last(&g->names);
    g->size = size_before;
    return status;
}

ct_status ct_graph_add_factors(ct_graph *g, const ct_factor_ops *ops, int64_t count, const int32_t var[],
                               const double z[], const void *context, int32_t noise, ct_err *err)
{
    const int32_t before = g->factors;
    const int64_t var_before = g->var_used, z_before = g->z_used;
    CT_TRY(check_count(count, before, "factors", err));
    CT_TRY(ct__check_ops(before, ops, err));
    const int numbers = ct_factor_z_size(ops);
    ct_status status = CT_OK;
    for (int64_t k = 0; status == CT_OK && k < count; k++)
        status = ct_graph_add_factor(g, ops, var + k * ops->arity, z + k * numbers, context, noise, err);
    if (status == CT_OK) return CT_OK;
    if (g->factors > before) g->noise_use[noise].factors -= g->factors - before;
    g->factors = before;
    g->var_used = var_before;
    g->z_used = z_before;
    return status;
}
