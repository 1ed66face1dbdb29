/* distributions.c: tails of the distributions that tests are of. */
#include "doctor/doctor.h"

#include <math.h>

/* log Gamma is in libm; the series and the continued fraction of the incomplete gamma function. */
double ct__chi_squared_tail(double x, double degrees)
{
    const double a = degrees / 2, y = x / 2;
    if (!(y > 0)) return 1;
    const double head = exp(a * log(y) - y - lgamma(a));
    if (y < a + 1) {
        double sum = 1 / a, term = sum;
        for (int k = 1; k < 10000 && term > 1e-17 * sum; k++) sum += term *= y / (a + k);
        return fmax(0, 1 - head * sum);
    }
    double b = y + 1 - a, c = 1e300, d = 1 / b, h = d;
    for (int k = 1; k < 10000; k++) {
        const double n = k * (a - k);
        b += 2;
        d = 1 / (b + n * d);
        c = b + n / c;
        h *= c * d;
        if (fabs(c * d - 1) < 1e-15) break;
    }
    return head * h;
}

/* Wallace's normal approximation: good to a few percent of the tail from 5 degrees on. */
double ct__student_tail(double t, double degrees)
{
    const double n = fmax(degrees, 2), z = (8 * n + 1) / (8 * n + 3) * sqrt(n * log1p(t * t / n));
    return erfc(z / sqrt(2));
}

/* The continued fraction of the incomplete beta function (Lentz), for x < (a + 1) / (a + b + 2). */
static double beta_fraction(double x, double a, double b)
{
    double c = 1, d = 1 / (1 - (a + b) * x / (a + 1)), h = d;
    for (int m = 1; m < 1000; m++) {
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / (1 + even * d);
        c = 1 + even / c;
        h *= c * d;
        d = 1 / (1 + odd * d);
        c = 1 + odd / c;
        h *= c * d;
        if (fabs(c * d - 1) < 1e-14) break;
    }
    return h;
}

/* P(F > f) = I_x(n/2, m/2), x = n / (n + m f): m degrees above, n below. */
double ct__variance_ratio_tail(double f, double m, double n)
{
    if (!(f > 0)) return 1;
    const double a = n / 2, b = m / 2, x = n / (n + m * f);
    const double head = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2)) return head * beta_fraction(x, a, b) / a;
    return 1 - head * beta_fraction(1 - x, b, a) / b;
}
