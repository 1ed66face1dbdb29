/* factor_scale.c: the covariance of one factor, S Sigma S with S = diag(s): s_i = sqrt(m e^u_i), m its multiplier, u
 * the function of its model at its features. Residuals and Jacobians are divided by s; every formula with the model's
 * own Sigma then holds. */
#include "graph/graph.h"
#include "graph/whiten.h"
#include "noise/noise.h"

#include <math.h>

void ct__feature_columns(const ct_graph *g, const ct_function *function, int column[CT_FUNCTION_FEATURES_MAX])
{
    for (int i = 0; i < function->features; i++) column[i] = ct_graph_find_feature(g, function->feature[i].name);
}

void ct__factor_features(const ct_graph *g, int32_t f, const ct_function *function,
                         const int column[CT_FUNCTION_FEATURES_MAX], double x[CT_FUNCTION_FEATURES_MAX])
{
    for (int i = 0; i < function->features; i++) x[i] = ct_graph_feature(g, f, column[i]);
}

int ct__factor_inverse_scale(const ct_graph *g, const ct_noise *noise, int32_t f, double inverse[CT_ROWS_MAX])
{
    const ct__factor     *k = &g->factor[f];
    const ct_noise_model *model = ct_noise_get(noise, k->noise);
    const double          root = k->multiplier == 1 ? 1 : 1 / sqrt(k->multiplier);
    int                   column[CT_FUNCTION_FEATURES_MAX];
    double                x[CT_FUNCTION_FEATURES_MAX], u[CT_ROWS_MAX];
    if (!model || !model->function) {
        for (int i = 0; i < k->ops->rows; i++) inverse[i] = root;
        return k->multiplier != 1;
    }
    ct__feature_columns(g, model->function, column);
    ct__factor_features(g, f, model->function, column, x);
    ct__function_rows(model->function, model->dim, x, u, NULL);
    for (int i = 0; i < k->ops->rows; i++) inverse[i] = root * exp(-0.5 * u[i]);
    return 1;
}

void ct__divide_by_factor_scale(const ct_graph *g, const ct_noise *noise, int32_t f, double *r, int blocks,
                                double *const J[], const int cols[])
{
    double inverse[CT_ROWS_MAX];
    if (ct__factor_inverse_scale(g, noise, f, inverse))
        ct__multiply_rows(inverse, g->factor[f].ops->rows, r, blocks, J, cols);
}

void ct__divide_by_function(const ct_graph *g, const ct_noise *noise, int32_t f, double *r)
{
    const double root = sqrt(g->factor[f].multiplier);
    double       inverse[CT_ROWS_MAX];
    if (!ct_noise_get(noise, g->factor[f].noise)->function) return;
    ct__factor_inverse_scale(g, noise, f, inverse);
    for (int i = 0; i < g->factor[f].ops->rows; i++) r[i] *= inverse[i] * root;
}

/* Every factor of the model has the features of its function. */
static ct_status check_features(const ct_graph *g, const ct_noise_model *m, int32_t index, ct_err *err)
{
    int column[CT_FUNCTION_FEATURES_MAX];
    ct__feature_columns(g, m->function, column);
    for (int32_t f = 0; f < g->factors; f++) {
        if (g->factor[f].noise != index) continue;
        for (int i = 0; i < m->function->features; i++)
            if (isnan(ct_graph_feature(g, f, column[i])))
                return ct_fail(err, CT_E_NOISE,
                               "noise model \"%s\" depends on %s, which factor %d (%s on %s) has not; its line needs "
                               "%s=NUMBER",
                               m->name, m->function->feature[i].name, f, g->factor[f].ops->name,
                               ct__names_get(&g->names, g->var_pool[g->factor[f].var]), m->function->feature[i].name);
    }
    return CT_OK;
}

ct_status ct__graph_check_features(const ct_graph *g, const ct_noise *noise, ct_err *err)
{
    for (int32_t i = 0; i < g->noise_count; i++) {
        const ct_noise_model *m = g->noise_use[i].factors ? ct_noise_get(noise, i) : NULL;
        if (m && m->function) CT_TRY(check_features(g, m, i, err));
    }
    return CT_OK;
}

ct_status ct_graph_covariance(const ct_graph *g, const ct_noise *noise, int32_t f, double covariance[], ct_err *err)
{
    double inverse[CT_ROWS_MAX];
    if (f < 0 || f >= g->factors)
        return ct_fail(err, CT_E_ARGUMENT, "there is no factor %d: the graph has %d", f, g->factors);
    CT_TRY(ct_graph_check_noise(g, noise, err));
    const ct_noise_model *m = ct_noise_get(noise, g->factor[f].noise);
    ct__factor_inverse_scale(g, noise, f, inverse);
    for (int i = 0; i < m->dim; i++)
        for (int k = 0; k < m->dim; k++)
            covariance[i * m->dim + k] = ct_noise_covariance(m, i, k) / (inverse[i] * inverse[k]);
    return CT_OK;
}

ct_status ct__graph_gather_features(const ct_graph *g, const ct_noise *noise, int32_t from, int32_t to, double **out,
                                    ct_err *err)
{
    *out = NULL;
    if (!ct__noise_functions(noise) || to <= from) return CT_OK;
    *out = ct__zalloc((int64_t)(to - from) * CT_FUNCTION_FEATURES_MAX, sizeof **out);
    if (!*out) return ct__no_memory(err, "features", to - from);
    for (int32_t f = from; f < to; f++) {
        const ct_noise_model *m = ct_noise_get(noise, g->factor[f].noise);
        int                   column[CT_FUNCTION_FEATURES_MAX];
        if (!m || !m->function) continue;
        ct__feature_columns(g, m->function, column);
        ct__factor_features(g, f, m->function, column, *out + (int64_t)(f - from) * CT_FUNCTION_FEATURES_MAX);
    }
    return CT_OK;
}
