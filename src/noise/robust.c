/* robust.c: robust kernels, formulas in covtune/noise.h. They lose no precision near zero, have their limits at an
 * infinite norm, and propagate NaN. */
#include "base/base.h"
#include "base/file.h"
#include "noise/noise.h"

#include <covtune/noise.h>
#include <math.h>
#include <stdio.h>

static double huber(double k, double d2, double *w)
{
    const double d = sqrt(d2);
    *w = d <= k ? 1 : k / d;
    return d <= k ? 0.5 * d2 : k * (d - 0.5 * k);
}

static double cauchy(double k, double d2, double *w)
{
    const double k2 = k * k;
    *w = 1 / (1 + d2 / k2);
    return 0.5 * k2 * log1p(d2 / k2);
}

static double geman_mcclure(double k, double d2, double *w)
{
    const double k2 = k * k, s = k2 / (k2 + d2);
    *w = s * s;
    return d2 < k2 ? 0.5 * d2 * s : 0.5 * k2 * (1 - s);
}

static double tukey(double k, double d2, double *w)
{
    const double k2 = k * k, u = d2 / k2;
    if (u > 1) {
        *w = 0;
        return k2 / 6;
    }
    *w = (1 - u) * (1 - u);
    return d2 / 6 * (3 - 3 * u + u * u); /* 1 - (1 - u)^3 = u (3 - 3u + u^2) */
}

#define DEFAULT_RATIO 10.0 /* of max_mixture */

/* q: 0 is the default. */
static double ratio_of(ct_robust robust) { return robust.ratio > 0 ? robust.ratio : DEFAULT_RATIO; }

/* c of the wide component: both are equal at d = k. */
static double offset(double k, double q) { return 0.5 * k * k * (1 - 1 / (q * q)); }

static double max_mixture(double k, double q, double d2, double *w)
{
    if (!(d2 > k * k)) return 0.5 * d2;
    *w = 1 / (q * q);
    return 0.5 * d2 * *w + offset(k, q);
}

double ct_robust_error(ct_robust robust, double d2, double *w)
{
    double weight = 1, error = 0.5 * d2;
    switch (robust.kind) {
    case CT_ROBUST_HUBER: error = huber(robust.width, d2, &weight); break;
    case CT_ROBUST_CAUCHY: error = cauchy(robust.width, d2, &weight); break;
    case CT_ROBUST_GEMAN_MCCLURE: error = geman_mcclure(robust.width, d2, &weight); break;
    case CT_ROBUST_TUKEY: error = tukey(robust.width, d2, &weight); break;
    case CT_ROBUST_MAX_MIXTURE: error = max_mixture(robust.width, ratio_of(robust), d2, &weight); break;
    case CT_ROBUST_NONE:
    case CT_ROBUST_COUNT: break;
    }
    if (w) *w = weight;
    return error;
}

/* With s = d^2, k the width: huber k s^-1/2, cauchy 1 / (1 + s/k^2), geman_mcclure (k^2 / (k^2 + s))^2, tukey (1 -
 * s/k^2)^2. */
double ct_robust_slope(ct_robust robust, double d2)
{
    const double k = robust.width, k2 = k * k, share = k2 / (k2 + d2);
    switch (robust.kind) {
    case CT_ROBUST_HUBER: return d2 < k2 ? 0 : -0.5 * k / (d2 * sqrt(d2));
    case CT_ROBUST_CAUCHY: return -share * share / k2;
    case CT_ROBUST_GEMAN_MCCLURE: return -2 * share * share * share / k2;
    case CT_ROBUST_TUKEY: return d2 >= k2 ? 0 : -2 * (1 - d2 / k2) / k2;
    case CT_ROBUST_MAX_MIXTURE: return isnan(d2) ? d2 : 0; /* both components are quadratic */
    case CT_ROBUST_NONE:
    case CT_ROBUST_COUNT: break;
    }
    return 0;
}

/* ---- normalisers ----
 *
 * With the area of the unit sphere and (2 pi)^(n/2) put together, the ratio of integrals is
 *     2^(1 - n/2) / Gamma(n/2) int_0^inf d^(n-1) exp(-rho(d)) dd. */

/* The lower incomplete gamma function by its series: x^a e^-x sum_j x^j / (a (a+1) .. (a+j)). */
static double lower_gamma(double a, double x)
{
    double term = 1 / a, sum = term;
    for (int j = 1; j < 10000 && term > 1e-17 * sum; j++) {
        term *= x / (a + j);
        sum += term;
    }
    return sum * exp(a * log(x) - x);
}

/* int_0^k d^(n-1) e^(-d^2/2) = 2^(n/2-1) gamma(n/2, k^2/2);  int_k^inf d^(n-1) e^(-kd + k^2/2) = e^(k^2/2) k^-n
 * Gamma(n, k^2), where Gamma(n, x) = (n-1)! e^-x sum_(j<n) x^j / j!. */
static double huber_integral(double k, int n)
{
    const double x = k * k, inside = exp2(0.5 * n - 1) * (x > 1400 ? tgamma(0.5 * n) : lower_gamma(0.5 * n, 0.5 * x));
    double       term = 1, sum = 1;
    for (int j = 1; j < n; j++) sum += term *= x / j;
    return inside + exp(-0.5 * x) * pow(k, -n) * tgamma(n) * sum;
}

/* With P the regularised lower gamma function: P(n/2, k^2/2) + q^n e^-c (1 - P(n/2, k^2 / 2q^2)). */
static double max_mixture_log_normaliser(double k, double q, int n)
{
    const double a = 0.5 * n, x = 0.5 * k * k, y = x / (q * q);
    const double narrow = x > 700 ? 1 : lower_gamma(a, x) / tgamma(a);
    const double wide = y > 700 ? 1 : lower_gamma(a, y) / tgamma(a);
    return log(narrow + exp(n * log(q) - offset(k, q)) * fmax(0, 1 - wide));
}

double ct_robust_log_normaliser(ct_robust robust, int n)
{
    const double k = robust.width, k2 = k * k;
    switch (robust.kind) {
    case CT_ROBUST_NONE: return 0;
    case CT_ROBUST_HUBER: return log(huber_integral(k, n)) + (1 - 0.5 * n) * log(2) - lgamma(0.5 * n);
    case CT_ROBUST_CAUCHY: /* int d^(n-1) (1 + d^2/k^2)^(-k^2/2) = k^n / 2 B(n/2, (k^2 - n)/2) */
        if (!(k2 > n)) return INFINITY;
        return n * log(k) - 0.5 * n * log(2) + lgamma(0.5 * (k2 - n)) - lgamma(0.5 * k2);
    case CT_ROBUST_MAX_MIXTURE: return max_mixture_log_normaliser(k, ratio_of(robust), n);
    case CT_ROBUST_GEMAN_MCCLURE:
    case CT_ROBUST_TUKEY:
    case CT_ROBUST_COUNT: break;
    }
    return INFINITY;
}

static const char *const NAME[] = {
#define X(constant, name, width) name,
    CT_ROBUST_LIST(X)
#undef X
};

static const double WIDTH[] = {
#define X(constant, name, width) width,
    CT_ROBUST_LIST(X)
#undef X
};

const char *ct_robust_name(ct_robust_kind kind) { return kind < CT_ROBUST_COUNT ? NAME[kind] : "unknown"; }

int ct_robust_find(const char *name) { return ct__find_name(name, NAME, CT_ROBUST_COUNT); }

double ct_robust_default_width(ct_robust_kind kind) { return kind < CT_ROBUST_COUNT ? WIDTH[kind] : 0; }

double ct_robust_default_ratio(ct_robust_kind kind) { return kind == CT_ROBUST_MAX_MIXTURE ? DEFAULT_RATIO : 0; }

ct_robust ct__robust_default(ct_robust_kind kind)
{
    return (ct_robust){kind, ct_robust_default_width(kind), ct_robust_default_ratio(kind)};
}

double ct_robust_share(ct_robust robust, int rows)
{
    if (robust.kind != CT_ROBUST_MAX_MIXTURE) return 0;
    const double q = ratio_of(robust);
    return 1 / (1 + exp(offset(robust.width, q) - rows * log(q)));
}

ct_robust ct_robust_of_share(double share, double ratio, int rows)
{
    const double c = log((1 - share) / share) + rows * log(ratio); /* negative: NaN */
    return (ct_robust){CT_ROBUST_MAX_MIXTURE, sqrt(2 * c / (1 - 1 / (ratio * ratio))), ratio};
}

const char *ct_robust_text(ct_robust robust, char buf[CT_ROBUST_TEXT_MAX])
{
    char      width[32], ratio[32];
    const int numbers = (robust.kind != CT_ROBUST_NONE) + (robust.kind == CT_ROBUST_MAX_MIXTURE);
    snprintf(buf, CT_ROBUST_TEXT_MAX, "%s%s%s%s%s", ct_robust_name(robust.kind), numbers > 0 ? ":" : "",
             numbers > 0 ? ct__format_double(robust.width, width) : "", numbers > 1 ? ":" : "",
             numbers > 1 ? ct__format_double(ratio_of(robust), ratio) : "");
    return buf;
}
