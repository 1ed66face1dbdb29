/* whiten.h: whitening and robust weights, in one place for all factors.
 *
 * With R the square-root information and w the robust weight at d = |R r|:
 *     r <- sqrt(w) R r,   J <- sqrt(w) R J,   error = rho(d),
 * so that J'r is the error's gradient and J'J its Gauss-Newton matrix (iteratively reweighted).
 *
 * A factor whose covariance is m times its model's is first divided by sqrt(m), r and J alike. After that every formula
 * with the model's own covariance holds. One whose model has a function is multiplied by T, a diagonal or a matrix,
 * with T Sigma(x) T' = Sigma (factor_scale.c).
 * Inline because it runs once per factor and iteration on 3 or 6 rows. */
#ifndef CT_WHITEN_H
#define CT_WHITEN_H

#include "base/vector6.h"
#include "function/function.h"

#include <covtune/noise.h>
#include <math.h>

/* r <- r / sqrt(m), J <- J / sqrt(m); m = 1, as it mostly is, changes no bit. `blocks` Jacobian blocks J[i] (rows x
 * cols[i]); NULL ones are skipped. */
CT_INLINE void ct__divide_by_multiplier(double m, int rows, double *r, int blocks, double *const J[], const int cols[])
{
    if (m == 1) return;
    const double scale = 1 / sqrt(m);
    for (int i = 0; i < rows; i++) r[i] *= scale;
    for (int b = 0; b < blocks; b++)
        for (int i = 0; J[b] && i < rows * cols[b]; i++) J[b][i] *= scale;
}

/* r <- diag(s) r, J <- diag(s) J. */
CT_INLINE void ct__multiply_rows(const double *s, int rows, double *r, int blocks, double *const J[], const int cols[])
{
    for (int i = 0; i < rows; i++) r[i] *= s[i];
    for (int b = 0; b < blocks; b++)
        for (int i = 0; J[b] && i < rows; i++)
            for (int j = 0; j < cols[b]; j++) J[b][i * cols[b] + j] *= s[i];
}

/* M <- T M, rows x cols, in place. */
CT_INLINE void ct__matrix_rows(const double *T, int rows, int cols, double *M)
{
    for (int j = 0; j < cols; j++) {
        double v[CT__SYM_DIM_MAX];
        for (int i = 0; i < rows; i++) v[i] = M[i * cols + j];
        for (int i = 0; i < rows; i++) {
            double sum = 0;
            for (int k = 0; k < rows; k++) sum += T[i * rows + k] * v[k];
            M[i * cols + j] = sum;
        }
    }
}

/* r <- T r, J <- T J. */
CT_INLINE void ct__apply_scale(const ct__scaling *T, int rows, double *r, int blocks, double *const J[],
                               const int cols[])
{
    if (!T->full) {
        ct__multiply_rows(T->t, rows, r, blocks, J, cols);
        return;
    }
    ct__matrix_rows(T->t, rows, 1, r);
    for (int b = 0; b < blocks; b++)
        if (J[b]) ct__matrix_rows(T->t, rows, cols[b], J[b]);
}

/* v <- T'v. */
CT_INLINE void ct__apply_scale_back(const ct__scaling *T, int rows, double *v)
{
    double u[CT__SYM_DIM_MAX];
    for (int i = 0; i < rows; i++) u[i] = v[i];
    for (int i = 0; i < rows; i++) {
        v[i] = T->full ? 0 : T->t[i] * u[i];
        for (int k = 0; T->full && k < rows; k++) v[i] += T->t[k * rows + i] * u[k];
    }
}

/* M <- diag(s) M, rows x cols. */
CT_INLINE void ct__scale_rows(int rows, int cols, const double *s, double *M)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++) M[i * cols + j] *= s[i];
}

/* M <- R M, 6 x 6. */
CT_INLINE void ct__upper_six(const double *R, double *M)
{
    ct__vector6 row[6];
    for (int k = 0; k < 6; k++) ct__vector6_load(&row[k], M + 6 * k);
    for (int i = 0; i < 6; i++) {
        ct__vector6_scale(&row[i], R[7 * i]);
        for (int k = i + 1; k < 6; k++) ct__vector6_add(&row[i], R[6 * i + k], &row[k]);
        ct__vector6_store(&row[i], M + 6 * i);
    }
}

/* M <- R M, R upper triangular: row i needs rows i and below only, so it can be done in place. */
CT_INLINE void ct__upper_rows(int rows, int cols, const double *R, double *M)
{
    if (rows == 6 && cols == 6) {
        ct__upper_six(R, M);
        return;
    }
    for (int j = 0; j < cols; j++)
        for (int i = 0; i < rows; i++) {
            double sum = R[i * rows + i] * M[i * cols + j];
            for (int k = i + 1; k < rows; k++) sum += R[i * rows + k] * M[k * cols + j];
            M[i * cols + j] = sum;
        }
}

CT_INLINE void ct__apply_sqrt_info(const ct_noise_model *model, int rows, int cols, double *M)
{
    if (model->kind == CT_NOISE_FULL) ct__upper_rows(rows, cols, model->sqrt_info, M);
    else ct__scale_rows(rows, cols, model->sqrt_info, M);
}

/* M <- R' M, one column. */
CT_INLINE void ct__apply_sqrt_info_back(const ct_noise_model *model, int rows, double *v)
{
    if (model->kind == CT_NOISE_FULL)
        for (int i = rows - 1; i >= 0; i--) { /* row i of R' needs rows up to i, so from the last to the first */
            double sum = 0;
            for (int k = 0; k <= i; k++) sum += model->sqrt_info[k * rows + i] * v[k];
            v[i] = sum;
        }
    else ct__scale_rows(rows, 1, model->sqrt_info, v);
}

/* Whitens r (rows) and `blocks` Jacobian blocks J[i] (rows x cols[i]; NULL ones are skipped). *d2 and *w are d^2
 * and the robust weight. Returns the factor's error rho(d). */
CT_INLINE double ct__whiten_weighed(const ct_noise_model *model, int rows, double *r, int blocks, double *const J[],
                                    const int cols[], double *d2, double *w)
{
    ct__apply_sqrt_info(model, rows, 1, r);
    *d2 = 0;
    *w = 1;
    for (int i = 0; i < rows; i++) *d2 += r[i] * r[i];
    for (int b = 0; b < blocks; b++)
        if (J[b]) ct__apply_sqrt_info(model, rows, cols[b], J[b]);
    if (model->robust.kind == CT_ROBUST_NONE) return 0.5 * *d2;

    const double error = ct_robust_error(model->robust, *d2, w);
    const double sqrt_w = sqrt(*w);
    for (int i = 0; i < rows; i++) r[i] *= sqrt_w;
    for (int b = 0; b < blocks; b++)
        for (int i = 0; J[b] && i < rows * cols[b]; i++) J[b][i] *= sqrt_w;
    return error;
}

CT_INLINE double ct__whiten(const ct_noise_model *model, int rows, double *r, int blocks, double *const J[],
                            const int cols[])
{
    double d2, w;
    return ct__whiten_weighed(model, rows, r, blocks, J, cols, &d2, &w);
}

#endif
