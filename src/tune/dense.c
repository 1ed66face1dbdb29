/* dense.c: Cholesky of small dense matrices. */
#include "tune/search.h"

#include <math.h>

int ct__cholesky(int32_t n, double *A)
{
    for (int32_t j = 0; j < n; j++) {
        double d = A[j * n + j];
        for (int32_t k = 0; k < j; k++) d -= A[j * n + k] * A[j * n + k];
        if (!(d > 0) || !isfinite(d)) return 0;
        const double root = sqrt(d);
        A[j * n + j] = root;
        for (int32_t i = j + 1; i < n; i++) {
            double a = A[i * n + j];
            for (int32_t k = 0; k < j; k++) a -= A[i * n + k] * A[j * n + k];
            A[i * n + j] = a / root;
        }
    }
    return 1;
}

void ct__cholesky_solve(int32_t n, const double *L, double *b)
{
    for (int32_t i = 0; i < n; i++) {
        for (int32_t k = 0; k < i; k++) b[i] -= L[i * n + k] * b[k];
        b[i] /= L[i * n + i];
    }
    for (int32_t i = n - 1; i >= 0; i--) {
        for (int32_t k = i + 1; k < n; k++) b[i] -= L[k * n + i] * b[k];
        b[i] /= L[i * n + i];
    }
}
