/* model_fit.c: how well the factors of each noise model fit, and what their fit is expected to be.
 *
 * At the minimum the whitened Jacobian A = sqrt(w) R J of all factors has the hat matrix A P A', P = (A'A)^-1. The
 * trace of a factor's block is the leverage of the factor: the number of unknowns that its rows determine,
 *
 *     h_f = tr(A_f P A_f'),     sum over all factors of h_f = number of unknowns.
 *
 * If the models are right, the expectation of the squared residuals of a model is its rows less its leverage. Unknowns
 * are not shared in proportion to rows: odometry of a run with rare GPS has nearly as many unknowns as rows.
 *
 * P of the variables of every factor comes from one sweep over the fronts (ct_sparse_edge_covariances). */
#include "evaluate/evaluate.h"
#include "evaluate/factor_sweep.h"
#include "graph/whiten.h"

static void add_fit(void *user, ct__factor_at *f)
{
    ct_model_fit *fit = (ct_model_fit *)user + f->noise;
    double        square = 0, *const J[1] = {f->J};
    const double  error = ct__whiten(f->model, f->ops->rows, f->r, 1, J, &f->n);
    for (int row = 0; row < f->ops->rows; row++) square += f->r[row] * f->r[row];
    fit->factors++;
    for (int row = 0; row < f->ops->rows; row++) {
        const double *a = f->J + row * f->n;
        fit->chi_squared[row] += square > 0 ? 2 * error * f->r[row] * f->r[row] / square : 0;
        for (int i = 0; i < f->n; i++)
            for (int k = 0; k < f->n; k++) fit->leverage[row] += a[i] * f->P[i * f->n + k] * a[k];
    }
}

ct_status ct_model_fit_at(const ct_noise *noise, ct_solver *solver, const double *x, ct_model_fit fit[], ct_err *err)
{
    memset(fit, 0, (size_t)ct_noise_count(noise) * sizeof *fit);
    return ct__factor_sweep(solver, noise, x, NULL, add_fit, fit, err);
}
