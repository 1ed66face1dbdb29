/* noise_bias.c: what the noise of runs adds to a linear model, taken away.
 *
 * The columns of J are differences of residuals that have noise of variance nu / runs each, independent from run to
 * run. Squares of it do not average out:
 *
 *     E J'J = J'J + B,   B = sum over k of nu_k C_k C_k' + nu_b S S',            S = sum over k of C_k
 *     E J'r = J'r + b,   b = sum over k of nu_k C_k C_k0 - nu_b S (1 - S_0)
 *
 * With B left in, slopes look steeper than they are: steps are too short and error bars too small. J'J - B may be
 * indefinite. So it is formed in the basis in which J'J is the identity and B diagonal, and there B is at most MOST:
 * beyond, noise alone is known. */
#include "tune/search.h"
#include "base/eigen.h"

#include <math.h>

#define MOST  0.75  /* of a curvature is noise, at most          */
#define RIDGE 1e-12 /* of the largest diagonal entry of J'J      */

/* B, b <- more by those of one log, from the coefficients. */
static void add_bias(const ct__linear_model *m, const ct__tuner *t, int32_t log, double share, double *B, double *b)
{
    const int32_t n = m->n, w = n + 1;
    const double  base = ct__noise_of(t, m->base, log);
    double        S_0 = 0;
    for (int32_t k = 0; k < m->count; k++) S_0 += m->C[k * w];
    for (int32_t i = 0; i < n; i++) {
        double own = 0, mixed = 0;
        for (int32_t k = 0; k < m->count; k++) {
            own += m->C[k * w + i + 1];
            mixed += ct__noise_of(t, m->point[k], log) * m->C[k * w + i + 1] * m->C[k * w];
        }
        b[i] += share * (mixed - base * own * (1 - S_0));
        for (int32_t j = 0; j <= i; j++) {
            double other = 0, sum = 0;
            for (int32_t k = 0; k < m->count; k++) {
                const double *c = m->C + k * w + 1;
                other += c[j];
                sum += ct__noise_of(t, m->point[k], log) * c[i] * c[j];
            }
            B[i * n + j] += share * (sum + base * own * other);
            B[j * n + i] = B[i * n + j];
        }
    }
}

/* Columns of A: n x n <- L^-1 A. */
static void forward(int32_t n, const double *L, int32_t columns, double *A)
{
    for (int32_t i = 0; i < n; i++)
        for (int32_t c = 0; c < columns; c++) {
            double sum = A[i * columns + c];
            for (int32_t k = 0; k < i; k++) sum -= L[i * n + k] * A[k * columns + c];
            A[i * columns + c] = sum / L[i * n + i];
        }
}

static void transpose(int32_t n, double *A)
{
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < i; j++) {
            const double a = A[i * n + j];
            A[i * n + j] = A[j * n + i];
            A[j * n + i] = a;
        }
}

void ct__model_remove_noise(ct__linear_model *m, const ct__tuner *t, double *H, double *g)
{
    const int32_t n = m->n;
    double *B = m->noise, *L = B + n * n, *V = L + n * n, *mu = V + n * n, *b = mu + n, most = 0;
    if (!(t->noise > 0)) return;
    memset(B, 0, (size_t)(n * n) * sizeof *B);
    memset(b, 0, (size_t)n * sizeof *b);
    for (int32_t l = 0; l < t->problem->logs; l++) {
        if (!ct__is_active(t, l)) continue;
        ct__model_use_log(m, l);
        add_bias(m, t, l, 1.0 / ct__actives(t), B, b);
    }
    memcpy(L, H, (size_t)(n * n) * sizeof *L);
    for (int32_t i = 0; i < n; i++) most = CT_MAX(most, H[i * n + i]);
    for (int32_t i = 0; i < n; i++) L[i * n + i] += RIDGE * most;
    if (!(most > 0) || !ct__cholesky(n, L)) return;
    forward(n, L, n, B);   /* L^-1 B L^-T, of which both steps are the same by symmetry */
    transpose(n, B);
    forward(n, L, n, B);
    ct__eigen_symmetric(n, B, mu, V);
    for (int32_t i = 0; i < n; i++) /* B <- L V */
        for (int32_t j = 0; j < n; j++) {
            B[i * n + j] = 0;
            for (int32_t k = 0; k <= i; k++) B[i * n + j] += L[i * n + k] * V[k * n + j];
        }
    for (int32_t i = 0; i < n; i++) {
        g[i] -= b[i];
        for (int32_t j = 0; j < n; j++) {
            H[i * n + j] = 0;
            for (int32_t k = 0; k < n; k++)
                H[i * n + j] += B[i * n + k] * (1 - CT_MIN(MOST, CT_MAX(0, mu[k]))) * B[j * n + k];
        }
    }
}
