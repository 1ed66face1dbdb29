/* eigen.c: cyclic Jacobi (Golub and Van Loan 8.5; the update is Rutishauser's).
 *
 * Each rotation makes one entry a_pq zero: with tau = (a_qq - a_pp) / (2 a_pq),
 *     t = sgn(tau) / (|tau| + sqrt(1 + tau^2)),   c = 1 / sqrt(1 + t^2),   s = t c,
 *     a_pp <- a_pp - t a_pq,   a_qq <- a_qq + t a_pq.
 *
 * Covariances are graded: metres beside radians, variances from 1e-150 to 1e150. For positive definite D A D with D
 * diagonal, Jacobi computes even the smallest eigenvalue to the accuracy that A determines; QR only to the rounding of
 * the largest (Demmel and Veselic 1992). This requires that an entry is dropped only if it is small relative to both
 * its diagonal entries (`negligible`). The order of rotations is fixed, so results are reproducible to the bit. */
#include "base/eigen.h"

#include <float.h>
#include <math.h>
#include <stdint.h>

/* Convergence is quadratic, a 6 x 6 matrix needs five or six sweeps. This limit is only reached with NaN. */
#define SWEEPS_MAX 40

/* Well below the rounding of the eigenvalues: it costs a few rotations more, and V diag V' is as near to A as
 * rounding lets it. */
#define NEGLIGIBLE (DBL_EPSILON / 16)

static int negligible(int n, const double *A, int p, int q)
{
    return fabs(A[p * n + q]) <= NEGLIGIBLE * sqrt(fabs(A[p * n + p])) * sqrt(fabs(A[q * n + q]));
}

/* (g, h) <- (c g - s h, s g + c h) of two rows, with rho = s / (1 + c): what is added is small when the angle is. */
static void turn(int n, double s, double rho, double *restrict g, double *restrict h)
{
    for (int r = 0; r < n; r++) {
        const double a = g[r], b = h[r];
        g[r] = a - s * (b + rho * a);
        h[r] = b + s * (a - rho * b);
    }
}

/* V holds eigenvectors as rows here. A is symmetric to the bit, and stays so: rows are turned, columns are copies of
 * them. */
static void rotate(int n, double *A, double *V, int p, int q)
{
    double      *P = A + (int64_t)p * n, *Q = A + (int64_t)q * n;
    const double apq = P[q], tau = (0.5 * Q[q] - 0.5 * P[p]) / apq;
    /* tau^2 may overflow */
    const double size = fabs(tau) < 1e150 ? fabs(tau) + sqrt(1 + tau * tau) : 2 * fabs(tau);
    const double t = copysign(1 / size, tau), c = 1 / sqrt(1 + t * t), s = t * c, rho = s / (1 + c);
    const double app = P[p] - t * apq, aqq = Q[q] + t * apq;
    turn(n, s, rho, V + (int64_t)p * n, V + (int64_t)q * n);
    turn(n, s, rho, P, Q);
    P[p] = app;
    Q[q] = aqq;
    P[q] = Q[p] = 0;
    for (int r = 0; r < n; r++) {
        A[(int64_t)r * n + p] = P[r];
        A[(int64_t)r * n + q] = Q[r];
    }
}

static void transpose(int n, double *V)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            const double v = V[(int64_t)i * n + j];
            V[(int64_t)i * n + j] = V[(int64_t)j * n + i];
            V[(int64_t)j * n + i] = v;
        }
}

/* Ascending, by insertion: equal ones keep their order. */
static void sort(int n, double *lambda, double *V)
{
    for (int k = 1; k < n; k++)
        for (int j = k; j > 0 && lambda[j] < lambda[j - 1]; j--) {
            const double l = lambda[j];
            double      *row = V + (int64_t)j * n, *before = row - n;
            lambda[j] = lambda[j - 1];
            lambda[j - 1] = l;
            for (int r = 0; r < n; r++) {
                const double v = row[r];
                row[r] = before[r];
                before[r] = v;
            }
        }
}

void ct__eigen_symmetric(int n, double *A, double *lambda, double *V)
{
    for (int i = 0; i < n * n; i++) V[i] = i % (n + 1) == 0;
    for (int sweep = 0, rotations = 1; rotations && sweep < SWEEPS_MAX; sweep++) {
        rotations = 0;
        for (int p = 0; p < n - 1; p++)
            for (int q = p + 1; q < n; q++) {
                if (negligible(n, A, p, q)) continue;
                rotate(n, A, V, p, q);
                rotations++;
            }
    }
    for (int i = 0; i < n; i++) lambda[i] = A[i * n + i];
    sort(n, lambda, V);
    transpose(n, V);
}
