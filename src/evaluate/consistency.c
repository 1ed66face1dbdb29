/* consistency.c: chi-square and NEES of an estimate.
 *
 *     chi-square   twice the error is, on average, rows - unknowns, if the noise models are right
 *     NEES         x_true = x o Exp(d), d ~ N(0, P), and the truth that was recorded differs from x_true by N(0, Q) in
 *                  each coordinate: the difference e of loss.c is N(0, D P D' + Q) to first order, and
 *                  e' (D P D' + Q)^-1 e has as its mean the number of its coordinates
 *
 * Q = diag(truth_sigma^2) of lengths and angles, in the frame of e. For a variable known in full Jr^-1(e) e = e: if Q
 * is zero, the value is e' P^-1 e without approximation. For a pose known in part D selects the known coordinates and
 * rotates them into the world.
 */
#include "evaluate/consistency.h"
#include "solve/solve.h"

#include <math.h>

ct_consistency ct__fit(const ct_graph *graph, double error)
{
    ct_consistency fit = {.chi_squared = isfinite(error) ? 2 * error : NAN, .nees = NAN, .nees_deviation = NAN};
    for (int32_t f = 0; f < graph->factors; f++) fit.degrees += graph->factor[f].ops->rows;
    for (int32_t v = 0; v < graph->variables; v++)
        if (!graph->fixed[v]) fit.degrees -= ct_kind_dim((ct_kind)graph->kind[v]);
    return fit;
}

/* The rows that D has; returns how many. */
static int rows_of(int dim, const double *D, int row[CT_DIM_MAX])
{
    int n = 0;
    for (int i = 0; i < dim; i++) {
        int any = 0;
        for (int j = 0; j < dim; j++) any |= D[i * dim + j] != 0;
        if (any) row[n++] = i;
    }
    return n;
}

/* S = D P D' + Q on these rows. q: variance of each. */
static void covariance_of(int dim, const double *D, const double *P, const double *q, int n, const int row[], double *S)
{
    double DP[CT_DIM_MAX * CT_DIM_MAX] = {0};
    for (int a = 0; a < n; a++)
        for (int k = 0; k < dim; k++)
            for (int j = 0; j < dim; j++) DP[a * dim + j] += D[row[a] * dim + k] * P[k * dim + j];
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) {
            S[a * n + b] = a == b ? q[row[a]] : 0;
            for (int j = 0; j < dim; j++) S[a * n + b] += DP[a * dim + j] * D[row[b] * dim + j];
        }
}

/* Cholesky's S = L L' in place; NaN if S is not positive definite. */
static void factor(int n, double *S)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            for (int k = 0; k < j; k++) S[i * n + j] -= S[i * n + k] * S[j * n + k];
            S[i * n + j] = j < i ? S[i * n + j] / S[j * n + j] : sqrt(S[i * n + i]);
        }
}

/* e' S^-1 e = |y|^2, L y = e, in place. */
static double mahalanobis(int n, const double *L, double *e)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++) e[i] -= L[i * n + k] * e[k];
        e[i] /= L[i * n + i];
        sum += e[i] * e[i];
    }
    return isfinite(sum) ? sum : NAN;
}

/* Variables whose truth is known, at least in part, and which are estimated; how many doubles their covariances are. */
static int32_t list_known(const ct_sequence *seq, int32_t *var, int64_t *doubles)
{
    const ct_graph *graph = seq->graph;
    int32_t         n = 0;
    *doubles = 0;
    for (int32_t v = 0; v < graph->variables; v++) {
        const int dim = ct_kind_dim((ct_kind)graph->kind[v]);
        if (graph->fixed[v] || !ct__known(seq, v)) continue;
        if (var) var[n] = v;
        n++;
        *doubles += dim * dim;
    }
    return n;
}

/* The truth's own variance, coordinate by coordinate. */
static void truth_variance(const ct_sequence *seq, ct_kind kind, double q[CT_DIM_MAX])
{
    for (int i = 0; i < ct_kind_dim(kind); i++) {
        const double sigma = seq->truth_sigma[ct__turns[kind] >> i & 1];
        q[i] = sigma * sigma;
    }
}

/* e' (P + Q)^-1 e of each, and the coordinates of e. */
static void weigh(const ct_sequence *seq, const double *x, int32_t count, const int32_t *var, double *const *P,
                  double *nees, int *degrees)
{
    const ct_loss local = ct_loss_defaults();
    for (int32_t k = 0; k < count; k++) {
        const int dim = ct_kind_dim((ct_kind)seq->graph->kind[var[k]]);
        double    e[CT_DIM_MAX], q[CT_DIM_MAX], D[CT_DIM_MAX * CT_DIM_MAX], S[CT_DIM_MAX * CT_DIM_MAX];
        int       row[CT_DIM_MAX];
        truth_variance(seq, (ct_kind)seq->graph->kind[var[k]], q);
        ct_loss_variable(&local, seq, var[k], x + seq->graph->offset[var[k]], e, D);
        const int n = degrees[var[k]] = rows_of(dim, D, row);
        covariance_of(dim, D, P[k], q, n, row, S);
        factor(n, S);
        for (int i = 0; i < n; i++) e[i] = e[row[i]];
        nees[var[k]] = mahalanobis(n, S, e);
    }
}

/* ---- Scatter ------------------------------------------------------------------------------------ */

#define DRAWS 16 /* a standard deviation is then known to a sixth */

/* Adds NEES of variable v to the sum of each draw; X: draws of the solver's unknowns. */
static void weigh_draws(const ct_sequence *seq, const double *x, int32_t v, const double *P, const double *X,
                        ct_rng *rng, double sum[DRAWS])
{
    const ct_loss local = ct_loss_defaults();
    const int     dim = ct_kind_dim((ct_kind)seq->graph->kind[v]);
    double        e[CT_DIM_MAX], q[CT_DIM_MAX], D[CT_DIM_MAX * CT_DIM_MAX], S[CT_DIM_MAX * CT_DIM_MAX];
    int           row[CT_DIM_MAX];
    truth_variance(seq, (ct_kind)seq->graph->kind[v], q);
    ct_loss_variable(&local, seq, v, x + seq->graph->offset[v], e, D);
    const int n = rows_of(dim, D, row);
    covariance_of(dim, D, P, q, n, row, S);
    factor(n, S);
    for (int c = 0; c < DRAWS; c++) {
        for (int i = 0; i < n; i++) {
            e[i] = q[row[i]] > 0 ? sqrt(q[row[i]]) * ct_rng_normal(rng) : 0;
            for (int j = 0; j < dim; j++) e[i] += D[row[i] * dim + j] * X[j * DRAWS + c];
        }
        sum[c] += mahalanobis(n, S, e);
    }
}

/* Standard deviation of the sum of NEES if the models are right. Errors of neighbouring poses are correlated: a smooth
 * path has few that are independent. Draws of all unknowns together, d ~ N(0, P), have these correlations. The solver
 * has the factor of the estimate. Draws are the same at every call. */
static ct_status scatter(const ct_sequence *seq, ct_solver *solver, const double *x, int32_t count, const int32_t *var,
                         double *const *P, double *deviation, ct_err *err)
{
    const int64_t scalars = solver->scalars;
    ct_rng        rng = ct_rng_seed(1);
    double        sum[DRAWS] = {0}, mean = 0, square = 0;
    double       *X = ct__zalloc(scalars * DRAWS, sizeof *X);
    if (!X) return ct__no_memory(err, "draws", scalars * DRAWS);
    for (int64_t i = 0; i < scalars * DRAWS; i++) X[i] = ct_rng_normal(&rng);
    const ct_status status = ct_sparse_draw(solver->system, X, DRAWS, err);
    for (int32_t k = 0; status == CT_OK && k < count; k++)
        weigh_draws(seq, x, var[k], P[k], X + (int64_t)ct_solver_column(solver, var[k]) * DRAWS, &rng, sum);
    free(X);
    for (int c = 0; c < DRAWS; c++) mean += sum[c] / DRAWS;
    for (int c = 0; c < DRAWS; c++) square += (sum[c] - mean) * (sum[c] - mean);
    *deviation = sqrt(square / (DRAWS - 1));
    return status;
}

/* deviation: NULL, or that of the sum. */
static ct_status each(const ct_sequence *seq, const ct_noise *noise, ct_solver *solver, const double *x, double *nees,
                      int *degrees, double *deviation, ct_err *err)
{
    int64_t       doubles;
    const int32_t count = list_known(seq, NULL, &doubles);
    for (int32_t v = 0; v < seq->graph->variables; v++) {
        nees[v] = NAN;
        degrees[v] = 0;
    }
    if (!count) return CT_OK;
    CT_TRY(ct_solver_linearise(solver, noise, x, err));

    int32_t *var = ct__zalloc(count, sizeof *var);
    double **P = ct__zalloc(count, sizeof *P), *block = ct__zalloc(doubles, sizeof *block);
    ct_status status = var && P && block ? CT_OK : ct__no_memory(err, "covariances", count);
    if (status == CT_OK) {
        list_known(seq, var, &doubles);
        double *next = block;
        for (int32_t k = 0; k < count; k++) {
            const int dim = ct_kind_dim((ct_kind)seq->graph->kind[var[k]]);
            P[k] = next;
            next += dim * dim;
        }
        status = ct_solver_marginals(solver, count, var, P, err);
    }
    if (status == CT_OK) weigh(seq, x, count, var, P, nees, degrees);
    if (status == CT_OK && deviation) status = scatter(seq, solver, x, count, var, P, deviation, err);
    free(var);
    free(P);
    free(block);
    return status;
}

ct_status ct_nees_each(const ct_sequence *seq, const ct_noise *noise, ct_solver *solver, const double *x, double *nees,
                       int *degrees, ct_err *err)
{
    return each(seq, noise, solver, x, nees, degrees, NULL, err);
}

ct_status ct__nees(const ct_sequence *seq, const ct_noise *noise, ct_solver *solver, const double *x, int deviation,
                   double *nees, int *degrees, ct_consistency *out, ct_err *err)
{
    ct_err          why = {0};
    double          sum = 0, wide = NAN;
    const ct_status status = each(seq, noise, solver, x, nees, degrees, deviation ? &wide : NULL, &why);
    int64_t         coordinates = 0;
    for (int32_t v = 0; status == CT_OK && v < seq->graph->variables; v++) {
        if (!degrees[v]) continue;
        sum += nees[v];
        coordinates += degrees[v];
    }
    if (coordinates) {
        out->nees = sum;
        out->nees_degrees = coordinates;
        out->nees_deviation = wide;
    }
    return status == CT_E_MEMORY ? ct_fail(err, status, "%s", why.text) : CT_OK;
}
