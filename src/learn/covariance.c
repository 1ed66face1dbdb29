/* covariance.c: the covariance of the answer, from its standard errors and from correlations.
 *
 *     Cov(p)_ij = rho_ij s_i s_j
 *
 * s are the standard errors, of which there may be two: by formula, and by the scatter of sequences. The larger one
 * counts (error_bars.c). rho are the correlations by formula, which need far fewer sequences than a scatter. So the
 * matrix is positive semidefinite, and its diagonal has the squared standard errors. */
#include "base/eigen.h"
#include "learn/learn.h"

#include <math.h>

void ct__set_covariance(ct_learn_result *r, const double *A)
{
    const int64_t m = r->parameters;
    const double *s = r->standard_error;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < m; j++) {
            double rho = 0;
            if (A) rho = A[i * m + j] / sqrt(A[i * m + i] * A[j * m + j]);
            if (!isfinite(rho)) rho = 0; /* no variance by formula: only sequences tell */
            r->covariance[i * m + j] = i == j                                ? s[i] * s[i]
                                       : isfinite(s[i]) && isfinite(s[j]) ? CT_MAX(-1, CT_MIN(1, rho)) * s[i] * s[j]
                                                                             : NAN;
        }
}

/* A <- the inverse of the information of parameters with a standard error, m x m. Curvature below a thousandth of the
 * prior's (two decades of variance) is raised to that: where the data say nothing there are no correlations. */
static void invert(const ct_learn_result *r, const double *information, double *work, double *A)
{
    const double  LEAST = 1e-3 / (4.6 * 4.6);
    const int64_t m = r->parameters;
    double       *K = work, *V = K + m * m, *lambda = V + m * m, *place = lambda + m;
    int64_t       n = 0;
    for (int64_t i = 0; i < m; i++)
        if (isfinite(r->standard_error[i])) place[n++] = (double)i;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) K[i * n + j] = information[(int64_t)place[i] * m + (int64_t)place[j]];
    ct__eigen_symmetric((int)n, K, lambda, V);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = 0;
            for (int64_t k = 0; k < n; k++) sum += V[i * n + k] * V[j * n + k] / CT_MAX(lambda[k], LEAST);
            A[(int64_t)place[i] * m + (int64_t)place[j]] = sum;
        }
}

ct_status ct__likelihood_covariance(ct__learning *l)
{
    ct__objective   *e = &l->objective;
    ct_learn_result *r = e->result;
    const int64_t    m = r->parameters;
    if (ct__objective_cancelled(e)) return CT_OK;
    double *information = ct__zalloc(4 * m * m + 2 * m, sizeof *information), *A = information + m * m;
    if (!information) return ct__no_memory(e->err, "parameters", m);
    ct_likelihood      *likelihood = ct__likelihood_of(e->outer);
    ct_likelihood_value value = {.information = information};
    ct_likelihood_start_over(likelihood); /* the same bits in a run that was resumed */
    const ct_status status = ct_likelihood_evaluate(likelihood, l->p, NULL, &value, e->err);
    if (status == CT_OK && !value.failed) {
        invert(r, information, A + m * m, A);
        ct__set_covariance(r, A);
    } else if (status == CT_OK) ct__set_covariance(r, NULL);
    free(information);
    return status;
}
