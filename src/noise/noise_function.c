/* noise_function.c: the functions of a table's models, and covariances at given features. */
#include "base/base.h"
#include "base/eigen.h"
#include "noise/noise.h"

#include <math.h>

#define EQUAL 1e-9 /* relative: eigenvalues that differ by rounding only */

/* Smallest and largest eigenvalue, with a matrix function in its units, all of them, l, and eigenvectors in the columns
 * of V: 1. Of other models the variance of each row: 0. */
static int find_extremes(const ct_noise_model *m, double low[], double high[], double l[CT_NOISE_DIM_MAX],
                         double V[CT__NOISE_NUMBERS_MAX])
{
    double        A[CT__NOISE_NUMBERS_MAX];
    const double *unit = m->function->unit;
    if (m->kind != CT_NOISE_FULL && !m->function->matrix) {
        for (int i = 0; i < m->dim; i++) low[i] = high[i] = m->covariance[i];
        return 0;
    }
    for (int i = 0; i < m->dim; i++)
        for (int k = 0; k < m->dim; k++)
            A[i * m->dim + k] = ct_noise_covariance(m, i, k) / (m->function->matrix ? unit[i] * unit[k] : 1);
    ct__eigen_symmetric(m->dim, A, l, V); /* ascending */
    for (int i = 0; i < m->dim; i++) low[i] = l[0], high[i] = l[m->dim - 1];
    return 1;
}

void ct__noise_update_cuts(const ct_noise_model *m)
{
    double low[CT_NOISE_DIM_MAX], high[CT_NOISE_DIM_MAX], l[CT_NOISE_DIM_MAX], V[CT__NOISE_NUMBERS_MAX];
    if (!m->function) return;
    find_extremes(m, low, high, l, V);
    ct__function_set_cuts((ct_function *)m->function, m->dim, low, high); /* const to readers only */
}

/* With the cut log(bound / l), l = v'D^-1 Sigma D^-1 v of an eigenvector v, or the variance of a row:
 * B = D^-1 v v'D^-1 / l. Of several equal eigenvalues, as of the D^2 that learning begins with, the mean: the extreme
 * one then has a kink, and no direction is preferred. */
int ct__noise_cut_slope(const ct_noise_model *m, int row, int upper, double B[])
{
    double    low[CT_NOISE_DIM_MAX], high[CT_NOISE_DIM_MAX], l[CT_NOISE_DIM_MAX], V[CT__NOISE_NUMBERS_MAX];
    const int n = m->dim, eigen = find_extremes(m, low, high, l, V);
    const int of = ct__function_cut_row(m->function, n, row, upper, upper ? high : low);
    int       equal = 0;
    if (of < 0) return 0;
    const double extreme = upper ? high[of] : low[of];
    memset(B, 0, (size_t)(n * n) * sizeof *B);
    if (!eigen) B[of * n + of] = 1 / extreme;
    for (int e = 0; eigen && e < n; e++) equal += fabs(l[e] - extreme) <= EQUAL * extreme;
    for (int e = 0; eigen && e < n; e++)
        for (int i = 0; fabs(l[e] - extreme) <= EQUAL * extreme && i < n * n; i++) {
            const double unit2 = m->function->matrix ? m->function->unit[i / n] * m->function->unit[i % n] : 1;
            B[i] += V[i / n * n + e] * V[i % n * n + e] / (unit2 * extreme * equal);
        }
    return 1;
}

ct_status ct_noise_set_function(ct_noise *noise, int32_t index, const ct_function *function, ct_err *err)
{
    ct_function          *own = NULL;
    const ct_noise_model *m = ct_noise_get(noise, index);
    if (!m) return ct_fail(err, CT_E_ARGUMENT, "there is no noise model number %d: the table has %d", index,
                           ct_noise_count(noise));
    if (function) {
        CT_TRY(ct__function_check(m->name, m->dim, function, err));
        if (!(own = ct_function_copy(function))) return ct__no_memory(err, "functions of noise models", 1);
    }
    ct__noise_put_function(noise, index, own);
    return CT_OK;
}

ct_status ct_noise_set_weights(ct_noise *noise, int32_t index, const double weight[], ct_err *err)
{
    const ct_noise_model *m = ct_noise_get(noise, index);
    if (!m || !m->function)
        return ct_fail(err, CT_E_NOISE, "noise model %s%s%s has no function", m ? "\"" : "", m ? m->name : "?",
                       m ? "\"" : "");
    for (int i = 0; i < m->function->weights; i++)
        if (!isfinite(weight[i]))
            return ct_fail(err, CT_E_NOISE, "noise model \"%s\": weight %d of its function is %g", m->name, i,
                           weight[i]);
    if (m->function->weights) memcpy(m->function->weight, weight, (size_t)m->function->weights * sizeof *weight);
    return CT_OK;
}

void ct__noise_congruence(const ct_noise_model *m, const double *F, double *out)
{
    const int n = m->dim;
    double    FS[CT__NOISE_NUMBERS_MAX];
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
            FS[i * n + k] = 0;
            for (int j = 0; j < n; j++) FS[i * n + k] += F[i * n + j] * ct_noise_covariance(m, j, k);
        }
    for (int i = 0; i < n; i++)
        for (int k = i; k < n; k++) {
            double sum = 0;
            for (int j = 0; j < n; j++) sum += FS[i * n + j] * F[k * n + j];
            out[i * n + k] = out[k * n + i] = sum;
        }
}

void ct_noise_covariance_at(const ct_noise_model *m, const double x[], double covariance[])
{
    double    u[CT_NOISE_DIM_MAX] = {0};
    ct__scaling F;
    if (m->function && m->function->matrix) {
        ct__function_scale(m->function, m->dim, x, 1, &F);
        ct__noise_congruence(m, F.t, covariance);
        return;
    }
    if (m->function) ct__function_rows(m->function, m->dim, x, u, NULL);
    for (int i = 0; i < m->dim; i++)
        for (int k = 0; k < m->dim; k++)
            covariance[i * m->dim + k] = exp(0.5 * (u[i] + u[k])) * ct_noise_covariance(m, i, k);
}
