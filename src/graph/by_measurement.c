/* by_measurement.c: derivatives of a residual by its measurement, for measurements that are learned.
 *
 * With z <- z o Exp(d) part by part and l a direction of the variables:
 *
 *     M = dr/dd,   N = d(sum_i J_i l_i)/dd
 *
 * For r = Log(z^-1 g(x)) on R^n and SO(2), which commute, r(d) = r - d: M = -I and N = 0, exactly. All other models use
 * differences of fourth order,
 *
 *     f' = (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12 h + O(h^4),
 *
 * whose error is about 1e-11 of the values of f. */
#include <covtune/graph.h>

#include "graph/graph.h"

#include <math.h>

int ct_factor_z_dim(const ct_factor_ops *ops, int parts)
{
    int n = 0;
    for (int i = 0; i < parts && i < ops->fields; i++) n += ct_kind_dim(ops->field[i]);
    return n;
}

/* Models whose residual is the prediction less the measurement, in a space that commutes. */
static int subtracts(const ct_factor_ops *ops)
{
    static const ct_factor_ops *const MODELS[] = {
        &ct_prior_r1,   &ct_prior_r2,   &ct_prior_r3,   &ct_prior_so2,   &ct_tactile_yaw,
        &ct_between_r1, &ct_between_r2, &ct_between_r3, &ct_between_so2,
    };
    for (size_t i = 0; i < sizeof MODELS / sizeof *MODELS; i++)
        if (ops == MODELS[i]) return 1;
    return 0;
}

/* out <- r, and sum_i J_i l_i behind it. */
static void evaluate(const ct_factor_ops *ops, const double *z, const void *context, const double *const x[],
                     const double *const l[], double out[2 * CT_ROWS_MAX])
{
    double  space[CT_ARITY_MAX][CT_ROWS_MAX * CT_DIM_MAX];
    double *J[CT_ARITY_MAX] = {0};
    for (int i = 0; l && i < ops->arity; i++) J[i] = l[i] ? space[i] : NULL;
    ct_factor_eval(ops, z, context, x, out, l ? J : NULL);
    for (int row = 0; row < ops->rows; row++) {
        double sum = 0;
        for (int i = 0; i < ops->arity; i++) {
            const int cols = ct_kind_dim(ops->kind[i]);
            for (int c = 0; J[i] && c < cols; c++) sum += J[i][row * cols + c] * l[i][c];
        }
        out[CT_ROWS_MAX + row] = sum;
    }
}

/* The step along coordinate c of a part with stored values z: a thousandth of what it is, or of a radian. */
static double step_along(ct_kind kind, const double *z, int c)
{
    const int planar = kind == CT_SE2, spatial = kind == CT_SE3;
    double    largest = 1;
    if (kind == CT_SO2 || kind == CT_SO3 || (planar && c == 2) || (spatial && c < 3)) return 1e-3;
    if (!planar && !spatial) return 1e-5 + 1e-3 * fabs(z[c]);
    for (int i = 0; i < ct_kind_size(kind); i++) largest = fmax(largest, fabs(z[i]));
    return 1e-3 * largest;
}

void ct_factor_by_measurement(const ct_factor_ops *ops, const double *z, const void *context, const double *const x[],
                              const double *const l[], int parts, double *M, double *N)
{
    const int rows = ops->rows, n = ct_factor_z_dim(ops, parts);
    double    moved[CT_FIELDS_MAX * CT_SIZE_MAX];
    if (subtracts(ops)) {
        for (int i = 0; i < rows * n; i++) M[i] = i % (n + 1) ? 0 : -1;
        for (int i = 0; N && i < rows * n; i++) N[i] = 0;
        return;
    }
    memcpy(moved, z, (size_t)ct_factor_z_size(ops) * sizeof *moved);
    for (int part = 0, column = 0, at = 0; part < parts && part < ops->fields; part++) {
        const ct_kind kind = ops->field[part];
        for (int c = 0; c < ct_kind_dim(kind); c++, column++) {
            const double h = step_along(kind, z + at, c);
            double       f[4][2 * CT_ROWS_MAX];
            for (int k = 0; k < 4; k++) { /* h, -h, 2h, -2h */
                double d[CT_DIM_MAX] = {0};
                d[c] = (k % 2 ? -h : h) * (1 + k / 2);
                ct_kind_retract(kind, z + at, d, moved + at);
                evaluate(ops, moved, context, x, N ? l : NULL, f[k]);
            }
            memcpy(moved + at, z + at, (size_t)ct_kind_size(kind) * sizeof *z);
            for (int row = 0; row < rows; row++) {
                const int b = CT_ROWS_MAX + row;
                M[row * n + column] = (8 * (f[0][row] - f[1][row]) - (f[2][row] - f[3][row])) / (12 * h);
                if (N) N[row * n + column] = (8 * (f[0][b] - f[1][b]) - (f[2][b] - f[3][b])) / (12 * h);
            }
        }
        at += ct_kind_size(kind);
    }
}
