/* robust.c: robust kernels, formulas in covtune/noise.h. They lose no precision near zero, have their limits at an
 * infinite norm, and propagate NaN. */
#include "base/base.h"

#include <covtune/noise.h>
#include <math.h>

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

double ct_robust_error(ct_robust robust, double d2, double *w)
{
    double weight = 1, error = 0.5 * d2;
    switch (robust.kind) {
    case CT_ROBUST_HUBER: error = huber(robust.width, d2, &weight); break;
    case CT_ROBUST_CAUCHY: error = cauchy(robust.width, d2, &weight); break;
    case CT_ROBUST_GEMAN_MCCLURE: error = geman_mcclure(robust.width, d2, &weight); break;
    case CT_ROBUST_TUKEY: error = tukey(robust.width, d2, &weight); break;
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
    case CT_ROBUST_NONE:
    case CT_ROBUST_COUNT: break;
    }
    return 0;
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
