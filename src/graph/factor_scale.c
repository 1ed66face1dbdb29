/* factor_scale.c: the covariance of one factor, S Sigma S with S = diag(s): s_i = sqrt(m e^u_i), m its multiplier, u
 * the function of its model at its features; of a matrix function m F Sigma F' (function/matrix_function.c). Residuals
 * and Jacobians are multiplied by T, the inverse of S or sqrt(m) F; every formula with the model's own Sigma then
 * holds. */
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

/* T of the function alone; with the sign 1 its inverse. */
static void function_scale(const ct_graph *g, const ct_noise_model *m, int32_t f, double sign, ct__scaling *T)
{
    int    column[CT_FUNCTION_FEATURES_MAX];
    double x[CT_FUNCTION_FEATURES_MAX];
    ct__feature_columns(g, m->function, column);
    ct__factor_features(g, f, m->function, column, x);
    ct__function_scale(m->function, m->dim, x, sign, T);
}

int ct__factor_scale(const ct_graph *g, const ct_noise *noise, int32_t f, ct__scaling *T)
{
    const ct__factor     *k = &g->factor[f];
    const ct_noise_model *model = ct_noise_get(noise, k->noise);
    const double          root = k->multiplier == 1 ? 1 : 1 / sqrt(k->multiplier);
    const int             rows = k->ops->rows;
    T->full = 0;
    if (!model || !model->function) {
        for (int i = 0; i < rows; i++) T->t[i] = root;
        return k->multiplier != 1;
    }
    function_scale(g, model, f, -1, T);
    for (int i = 0; i < (T->full ? rows * rows : rows); i++) T->t[i] *= root;
    return 1;
}

double ct__scale_log_det(const ct__scaling *T, int rows)
{
    ct__scaling A = *T;
    double    sum = 0;
    for (int i = 0; i < rows; i++) {
        const double pivot = A.t[T->full ? i * rows + i : i];
        sum += log(pivot);
        for (int k = i + 1; T->full && k < rows; k++)
            for (int j = i + 1; j < rows; j++)
                A.t[k * rows + j] -= A.t[k * rows + i] / pivot * A.t[i * rows + j];
    }
    return sum;
}

void ct__scale_invert(const ct__scaling *T, int rows, ct__scaling *out)
{
    double A[CT__SYM_MAX];
    out->full = T->full;
    for (int i = 0; !T->full && i < rows; i++) out->t[i] = 1 / T->t[i];
    if (!T->full) return;
    memcpy(A, T->t, (size_t)(rows * rows) * sizeof *A);
    for (int i = 0; i < rows * rows; i++) out->t[i] = i % (rows + 1) == 0;
    for (int i = 0; i < rows; i++) {
        const double pivot = A[i * rows + i];
        for (int j = 0; j < rows; j++) A[i * rows + j] /= pivot, out->t[i * rows + j] /= pivot;
        for (int k = 0; k < rows; k++) {
            const double by = A[k * rows + i];
            for (int j = 0; k != i && j < rows; j++) {
                A[k * rows + j] -= by * A[i * rows + j];
                out->t[k * rows + j] -= by * out->t[i * rows + j];
            }
        }
    }
}

void ct__divide_by_factor_scale(const ct_graph *g, const ct_noise *noise, int32_t f, double *r, int blocks,
                                double *const J[], const int cols[])
{
    ct__scaling T;
    if (ct__factor_scale(g, noise, f, &T)) ct__apply_scale(&T, g->factor[f].ops->rows, r, blocks, J, cols);
}

void ct__divide_by_function(const ct_graph *g, const ct_noise *noise, int32_t f, double *r)
{
    const double root = sqrt(g->factor[f].multiplier);
    const int    rows = g->factor[f].ops->rows;
    ct__scaling    T;
    if (!ct_noise_get(noise, g->factor[f].noise)->function) return;
    ct__factor_scale(g, noise, f, &T);
    for (int i = 0; i < (T.full ? rows * rows : rows); i++) T.t[i] *= root;
    ct__apply_scale(&T, rows, r, 0, NULL, NULL);
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
    ct__scaling T;
    if (f < 0 || f >= g->factors)
        return ct_fail(err, CT_E_ARGUMENT, "there is no factor %d: the graph has %d", f, g->factors);
    CT_TRY(ct_graph_check_noise(g, noise, err));
    const ct_noise_model *m = ct_noise_get(noise, g->factor[f].noise);
    if (m->function && m->function->matrix) {
        function_scale(g, m, f, 1, &T);
        ct__noise_congruence(m, T.t, covariance);
        for (int i = 0; i < m->dim * m->dim; i++) covariance[i] *= g->factor[f].multiplier;
        return CT_OK;
    }
    ct__factor_scale(g, noise, f, &T);
    for (int i = 0; i < m->dim; i++)
        for (int k = 0; k < m->dim; k++)
            covariance[i * m->dim + k] = ct_noise_covariance(m, i, k) / (T.t[i] * T.t[k]);
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
