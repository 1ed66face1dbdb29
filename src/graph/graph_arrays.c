/* graph_arrays.c: variables, factors, residuals and Jacobians by the array. All of an array is added, or nothing. */
#include "graph/graph.h"
#include "graph/whiten.h"

#include <string.h>

static ct_status check_count(int64_t count, int64_t present, const char *what, ct_err *err)
{
    if (count < 0)
        return ct_fail(err, CT_E_ARGUMENT, "%lld %s: there cannot be less than none", (long long)count, what);
    if (count > INT32_MAX - present)
        return ct_fail(err, CT_E_LIMIT, "a graph holds at most %d %s: there are %lld, and %lld more are to be added",
                       INT32_MAX, what, (long long)present, (long long)count);
    return CT_OK;
}

ct_status ct__graph_reserve(ct_graph *g, int64_t variables, int64_t values, int64_t factors, int64_t factor_variables,
                            int64_t numbers, ct_err *err)
{
    CT_TRY(check_count(variables, g->variables, "variables", err));
    CT_TRY(check_count(factors, g->factors, "factors", err));
    CT_TRY(ct__names_reserve(&g->names, variables, err));
    CT_TRY(ct__grow(&g->kind, &g->kind_capacity, g->variables + variables, sizeof *g->kind, "variables", err));
    CT_TRY(ct__grow(&g->fixed, &g->fixed_capacity, g->variables + variables, sizeof *g->fixed, "variables", err));
    CT_TRY(ct__grow(&g->offset, &g->offset_capacity, g->variables + variables, sizeof *g->offset, "variables", err));
    CT_TRY(ct__grow(&g->initial, &g->initial_capacity, g->size + values, sizeof *g->initial, "values", err));
    CT_TRY(ct__grow(&g->factor, &g->factor_capacity, g->factors + factors, sizeof *g->factor, "factors", err));
    CT_TRY(ct__grow(&g->var_pool, &g->var_capacity, g->var_used + factor_variables, sizeof *g->var_pool,
                    "factor variables", err));
    return ct__grow(&g->z_pool, &g->z_capacity, g->z_used + numbers, sizeof *g->z_pool, "measurements", err);
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

/* ---- Reading --------------------------------------------------------------------------------- */

void ct_graph_describe_variables(const ct_graph *g, uint8_t kind[], uint8_t fixed[], int64_t offset[])
{
    const size_t n = (size_t)g->variables;
    if (!n) return;
    if (kind) memcpy(kind, g->kind, n * sizeof *kind);
    if (fixed) memcpy(fixed, g->fixed, n * sizeof *fixed);
    if (offset) memcpy(offset, g->offset, n * sizeof *offset);
}

const ct_factor_ops *ct_graph_model(const ct_graph *g, int i)
{
    const ct_factor_ops *found[64];
    int                  models = 0;
    for (int32_t f = 0; i >= 0 && f < g->factors; f++) {
        const ct_factor_ops *ops = g->factor[f].ops;
        int                  m = 0;
        while (m < models && found[m] != ops) m++;
        if (m < models) continue;
        if (models == i) return ops;
        if (models == 64) return NULL;
        found[models++] = ops;
    }
    return NULL;
}

int64_t ct_graph_factors_of(const ct_graph *g, const ct_factor_ops *ops, int32_t factor[], int32_t var[])
{
    int64_t count = 0;
    for (int32_t f = 0; f < g->factors; f++) {
        if (g->factor[f].ops != ops) continue;
        if (factor) factor[count] = f;
        if (var) memcpy(var + count * ops->arity, g->var_pool + g->factor[f].var, (size_t)ops->arity * sizeof *var);
        count++;
    }
    return count;
}

/* Gathers what eval_many wants, and calls it. */
static ct_status evaluate_many(const ct_graph *g, const ct_factor_ops *ops, const double *x, int64_t count,
                               const int32_t factor[], double *r, double *const J[], ct_err *err)
{
    const int      numbers = ct_factor_z_size(ops);
    double        *z = ct__zalloc(count * CT_MAX(numbers, 1), sizeof *z), *value[CT_ARITY_MAX] = {NULL};
    const void   **context = ct__zalloc(count, sizeof *context);
    int            ok = z && context;
    for (int i = 0; i < ops->arity; i++) {
        const int size = ct_kind_size(ops->kind[i]);
        value[i] = ct__zalloc(count * size, sizeof **value);
        ok = ok && value[i];
        for (int64_t k = 0; ok && k < count; k++) {
            const int32_t v = g->var_pool[g->factor[factor[k]].var + i];
            memcpy(value[i] + k * size, x + g->offset[v], (size_t)size * sizeof *x);
        }
    }
    for (int64_t k = 0; ok && k < count; k++) {
        memcpy(z + k * numbers, g->z_pool + g->factor[factor[k]].z, (size_t)numbers * sizeof *z);
        context[k] = g->factor[factor[k]].context;
    }
    if (ok) ops->eval_many(count, z, context, (const double *const *)value, r, J);
    for (int i = 0; i < ops->arity; i++) free(value[i]);
    free(z);
    free((void *)context);
    return ok ? CT_OK : ct__no_memory(err, "factors", count);
}

static ct_status check_factors(const ct_graph *g, int64_t count, const int32_t factor[], ct_err *err)
{
    for (int64_t k = 0; k < count; k++) {
        if (factor[k] < 0 || factor[k] >= g->factors)
            return ct_fail(err, CT_E_ARGUMENT, "there is no factor %d: the graph has %d", factor[k], g->factors);
        if (g->factor[factor[k]].ops != g->factor[factor[0]].ops)
            return ct_fail(err, CT_E_ARGUMENT, "factor %d is a %s, factor %d a %s: one model is evaluated at a time",
                           factor[0], g->factor[factor[0]].ops->name, factor[k], g->factor[factor[k]].ops->name);
    }
    return CT_OK;
}

/* Whitens factor k of the arrays in place. */
static void whiten_at(const ct_graph *g, const ct_noise *noise, int32_t f, int64_t k, double *r, double *const J[])
{
    const ct__factor    *factor = &g->factor[f];
    const ct_factor_ops *ops = factor->ops;
    double              *D[CT_ARITY_MAX];
    int                  cols[CT_ARITY_MAX];
    for (int i = 0; i < ops->arity; i++) {
        cols[i] = ct_kind_dim(ops->kind[i]);
        D[i] = J && J[i] ? J[i] + k * ops->rows * cols[i] : NULL;
    }
    ct__divide_by_factor_scale(g, noise, f, r + k * ops->rows, ops->arity, D, cols);
    ct__whiten(ct_noise_get(noise, factor->noise), ops->rows, r + k * ops->rows, ops->arity, D, cols);
}

/* Evaluates factor k of the arrays alone. */
static void evaluate_at(const ct_graph *g, const double *x, int32_t f, int64_t k, double *r, double *const J[])
{
    const ct__factor    *factor = &g->factor[f];
    const ct_factor_ops *ops = factor->ops;
    const double        *arg[CT_ARITY_MAX];
    double              *D[CT_ARITY_MAX];
    for (int i = 0; i < ops->arity; i++) {
        arg[i] = x + g->offset[g->var_pool[factor->var + i]];
        D[i] = J && J[i] ? J[i] + k * ops->rows * ct_kind_dim(ops->kind[i]) : NULL;
    }
    ct_factor_eval(ops, g->z_pool + factor->z, factor->context, arg, r + k * ops->rows, J ? D : NULL);
}

ct_status ct_graph_evaluate(const ct_graph *g, const ct_noise *noise, const double *x, int64_t count,
                            const int32_t factor[], double *r, double *const J[], ct_err *err)
{
    if (count < 1) return CT_OK;
    if (noise) CT_TRY(ct_graph_check_noise(g, noise, err));
    CT_TRY(check_factors(g, count, factor, err));
    const ct_factor_ops *ops = g->factor[factor[0]].ops;
    double              *own = r ? NULL : ct__zalloc(count * ops->rows, sizeof *own);
    if (!r && !own) return ct__no_memory(err, "factors", count);
    double   *residual = r ? r : own;
    ct_status status = CT_OK;
    if (ops->eval_many && (ops->jacobian != CT_JACOBIAN_NUMERIC || !J))
        status = evaluate_many(g, ops, x, count, factor, residual, J, err);
    else
        for (int64_t k = 0; k < count; k++) evaluate_at(g, x, factor[k], k, residual, J);
    for (int64_t k = 0; noise && status == CT_OK && k < count; k++) whiten_at(g, noise, factor[k], k, residual, J);
    free(own);
    return status;
}
