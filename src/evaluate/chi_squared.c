/* chi_squared.c: quantiles of the chi-square distribution of n degrees.
 *
 *     a = n/2, x = q/2, D = x^a e^-x / Gamma(a + 1)
 *     P(a, x) = D (1 + x/(a+1) + x^2/((a+1)(a+2)) + ...)                      x < a + 1
 *     1 - P   = a D / (x+1-a - 1(1-a)/(x+3-a - 2(2-a)/(x+5-a - ...)))         x >= a + 1, by Lentz
 *
 * D by Stirling: log D = -b h(x/b) - 1/2 log(2 pi b) - (1/(12 b) - ...) for b large, h(t) = t - 1 - log t, where no
 * large numbers cancel; b = a + k, with k factors taken off again, for a small. The equation is solved by Newton's
 * method for the logarithm of the smaller tail as a function of log x, which is nearly linear, and by bisection if a
 * step leaves the bracket.
 */
#include "base/base.h"

#include <covtune/evaluate.h>
#include <float.h>
#include <math.h>

#define STIRLING   16.0    /* from here on four terms of the series are good to 1e-14                          */
#define TERMS      1000000 /* some sqrt(a) are needed                                                         */
#define ITERATIONS 200     /* of which Newton's need 5 to 10                                                  */
#define TWO_PI     6.283185307179586

/* log(x^a e^-x / Gamma(a + 1)). */
static double log_d(double a, double x)
{
    double b = a, taken = 0;
    while (b < STIRLING) taken += log(++b / x); /* D(a) = D(a + 1) (a + 1) / x */
    const double t = x / b, mu = (x - b) / b, h = fabs(mu) < 0.5 ? mu - log1p(mu) : t - 1 - log(t), i = 1 / (b * b);
    return taken - b * h - 0.5 * log(TWO_PI * b) - (1.0 / 12 - i * (1.0 / 360 - i * (1.0 / 1260 - i / 1680))) / b;
}

/* The logarithm of the lower tail, or the upper one, and its slope by log x. */
static double log_tail(double a, double x, int upper, double *slope)
{
    const double d = log_d(a, x);
    double       tail; /* its logarithm: of the lower one if x < a + 1, else of the upper one */
    const int    above = x >= a + 1;
    if (!above) {
        double sum = 1, term = 1;
        for (int k = 1; k < TERMS && term > DBL_EPSILON / 8 * sum; k++) sum += term *= x / (a + k);
        tail = d + log(sum);
    } else {
        double b = x + 1 - a, c = 1 / DBL_MIN, e = 1 / b, f = e;
        for (int k = 1; k < TERMS; k++) {
            const double n = k * (a - k);
            b += 2;
            e = 1 / (b + n * e);
            c = b + n / c;
            f *= c * e;
            if (fabs(c * e - 1) < DBL_EPSILON) break;
        }
        tail = d + log(a * f);
    }
    if (above != upper) tail = log1p(-exp(tail));
    *slope = (upper ? -1 : 1) * exp(d + log(a) - tail);
    return tail;
}

double ct_chi_squared_quantile(double p, double n)
{
    if (!(p >= 0 && p <= 1 && n > 0 && n < INFINITY)) return NAN;
    if (p == 0 || p == 1) return p == 0 ? 0 : INFINITY;
    const double a = n / 2;
    const int    upper = p > 0.5;
    const double wanted = log(upper ? 1 - p : p);
    double       low = log(DBL_MIN), high = log(DBL_MAX), t = log(a); /* of x, their logarithms */
    for (int i = 0; i < ITERATIONS; i++) {
        double       slope;
        const double miss = log_tail(a, exp(t), upper, &slope) - wanted;
        if (miss == 0) break;
        if ((miss > 0) == (upper != 0)) low = t;
        else high = t;
        double next = t - miss / slope;
        if (!(next > low && next < high)) next = 0.5 * (low + high);
        if (fabs(next - t) <= DBL_EPSILON * CT_MAX(1, fabs(t))) break;
        t = next;
    }
    return 2 * exp(t);
}
