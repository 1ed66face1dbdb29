/* rounding.c: numbers with as many digits as are significant. Error bars of learned sigmas are some percent, so that 17
 * digits of a variance only cost reading. The noise file keeps all.
 *
 * Correlations near one put the small eigenvalues of a matrix into its last digits. So a rounded matrix B must agree
 * with A in A's own metric,
 *     max |R (B - A) R'| <= TOLERANCE,   R'R = A^-1,
 * and gets more digits until it does. Then the variance of any combination of coordinates is off by about that part of
 * itself at most, and B is positive definite as A is. */
#include "export/export.h"
#include "base/base.h"
#include "noise/noise.h"

#include <math.h>
#include <stdlib.h>

#define DIGITS_MAX 17   /* of a double                                             */
#define TOLERANCE  1e-4 /* 0.005 % of a sigma: error bars are a hundred times that */

static double rounded(double value, int digits)
{
    char text[40];
    snprintf(text, sizeof text, "%.*e", digits - 1, value);
    return strtod(text, NULL); /* of the same locale */
}

void ct__export_round(const ct__export *e, int n, double value[])
{
    for (int i = 0; e->options.digits && i < n; i++) value[i] = rounded(value[i], e->options.digits);
}

/* max |R D R'| of symmetric D, R upper triangular. */
static double size_of_change(int n, const double *R, const double *D)
{
    double worst = 0;
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++) {
            double s = 0;
            for (int k = i; k < n; k++)
                for (int l = j; l < n; l++) s += R[i * n + k] * D[k * n + l] * R[j * n + l];
            worst = fmax(worst, fabs(s));
        }
    return worst;
}

void ct__export_round_matrix(const ct__export *e, int n, double A[])
{
    ct__noise_numbers numbers;
    double            B[CT__NOISE_NUMBERS_MAX], change[CT__NOISE_NUMBERS_MAX];
    /* refused: nothing to compare with */
    if (!e->options.digits || ct__noise_full("", n, A, &numbers, NULL) != CT_OK) return;
    for (int digits = e->options.digits; digits < DIGITS_MAX; digits++) {
        for (int i = 0; i < n * n; i++) {
            B[i] = rounded(A[i], digits);
            change[i] = B[i] - A[i];
        }
        if (!(size_of_change(n, numbers.sqrt_info, change) <= TOLERANCE)) continue;
        memcpy(A, B, (size_t)(n * n) * sizeof *A);
        return;
    }
}
