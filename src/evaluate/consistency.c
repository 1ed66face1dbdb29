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

#include <math.h>

ct_consistency ct__fit(const ct_graph *graph, double error)
{
    ct_consistency fit = {.chi_squared = isfinite(error) ? 2 * error : NAN, .nees = NAN};
    for (int32_t f = 0; f < graph->factors; f++) fit.degrees += graph->factor[f].ops->rows;
    for (int32_t v = 0; v < graph->variables; v++)
        if (!graph->fixed[v]) fit.degrees -= ct_kind_dim((ct_kind)graph->kind[v]);
    return fit;
}

/* S = D P D' + Q on the rows that D has; returns how many, with e of those rows first. q: variance of each row. */
static int pick(int dim, const double *D, const double *P, const double *q, double *e, double *S)
{
    double DP[CT_DIM_MAX * CT_DIM_MAX] = {0};
    int    row[CT_DIM_MAX], n = 0;
    for (int i = 0; i < dim; i++) {
        int any = 0;
        for (int j = 0; j < dim; j++) any |= D[i * dim + j] != 0;
        if (!any) continue;
        e[n] = e[i];
        row[n++] = i;
    }
    for (int a = 0; a < n; a++)
        for (int k = 0; k < dim; k++)
            for (int j = 0; j < dim; j++) DP[a * dim + j] += D[row[a] * dim + k] * P[k * dim + j];
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) {
            S[a * n + b] = a == b ? q[row[a]] : 0;
            for (int j = 0; j < dim; j++) S[a * n + b] += DP[a * dim + j] * D[row[b] * dim + j];
        }
    return n;
}

/* e' S^-1 e = |y|^2, L y = e, by Cholesky's S = L L' in place. NaN if S is not positive definite. */
static double mahalanobis(int n, double *S, double *e)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            for (int k = 0; k < j; k++) S[i * n + j] -= S[i * n + k] * S[j * n + k];
            S[i * n + j] = j < i ? S[i * n + j] / S[j * n + j] : sqrt(S[i * n + i]);
        }
        for (int k = 0; k < i; k++) e[i] -= S[i * n + k] * e[k];
        e[i] /= S[i * n + i];
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
        truth_variance(seq, (ct_kind)seq->graph->kind[var[k]], q);
        ct_loss_variable(&local, seq, var[k], x + seq->graph->offset[var[k]], e, D);
        degrees[var[k]] = pick(dim, D, P[k], q, e, S);
        nees[var[k]] = mahalanobis(degrees[var[k]], S, e);
    }
}

ct_status ct_nees_each(const ct_sequence *seq, const ct_noise *noise, ct_solver *solver, const double *x, double *nees,
                       int *degrees, ct_err *err)
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
    free(var);
    free(P);
    free(block);
    return status;
}

ct_status ct__nees(const ct_sequence *seq, const ct_noise *noise, ct_solver *solver, const double *x, double *nees,
                   int *degrees, ct_consistency *out, ct_err *err)
{
    ct_err          why = {0};
    const ct_status status = ct_nees_each(seq, noise, solver, x, nees, degrees, &why);
    double          sum = 0;
    int64_t         coordinates = 0;
    for (int32_t v = 0; status == CT_OK && v < seq->graph->variables; v++) {
        if (!degrees[v]) continue;
        sum += nees[v];
        coordinates += degrees[v];
    }
    if (coordinates) {
        out->nees = sum;
        out->nees_degrees = coordinates;
    }
    return status == CT_E_MEMORY ? ct_fail(err, status, "%s", why.text) : CT_OK;
}
