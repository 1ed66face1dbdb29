/* coef_inline.h: the scalar functions that every exponential, logarithm and Jacobian is made of.
 *
 * With u = theta^2 and h = theta/2, all are even in theta, hence smooth functions of u:
 *
 *     A(u) = sin(theta)/theta                        = k cos h            k = sin(h)/h
 *     B(u) = (1 - cos theta)/theta^2                 = k^2 / 2            no cancellation
 *     C(u) = (theta - sin theta)/theta^3             = (1 - A)/u
 *     D(u) = (1 - h cot h)/theta^2                   = (1 - hcot)/u
 *     B' = (A - 2B)/(2u)    C' = (B - 3C)/(2u)    D' = (1 - 12D + 4uD^2)/(8u)    (d/du)
 *     D'' = (D^2 + 2uDD' - 5D')/(2u)              for second derivatives of logarithms
 *
 * Jl(w) = I + B [w] + C [w]^2 and Jl(w)^-1 = I - [w]/2 + D [w]^2 on SO(3). The Jacobians of SE(3)
 * are the same functions of the dual rotation vector w + e rho, so their off-diagonal block is the
 * derivative of the SO(3) one along rho: that needs B', C', D' and nothing else.
 *
 * The right-hand forms with denominator u lose eps/u (C, D, B') or eps/u^2 (C', D'). Their users multiply
 * them by theta^2 to theta^3, so the loss matters only as theta -> 0. Series below CT__SERIES
 * (theta = 1/4) bound it to 12 eps. Six terms leave less than 1e-17 there.
 */
#ifndef CT_LIE_COEF_INLINE_H
#define CT_LIE_COEF_INLINE_H

#include <math.h>

#define CT__SERIES 0.0625

/* The angle of a unit vector (c, s) = (cos, sin). Residuals are small rotations. For these the series of asin
 * is three times faster than atan2: at |s| = 1/8 the first term left out is 5e-19 of the sum. */
static inline double ct__angle(double s, double c)
{
    if (!(c > 0 && fabs(s) < 0.125)) return atan2(s, c);
    const double u = s * s, u2 = u * u;
    const double low = 1. / 6 + u * (3. / 40) + u2 * (5. / 112 + u * (35. / 1152));
    const double high = 63. / 2816 + u * (231. / 13312) + u2 * (143. / 10240 + u * (6435. / 557056));
    return s + s * u * (low + u2 * u2 * high);
}

typedef struct {
    double ch, k;   /* cos h, sin(h)/h */
    double a, b, c; /* A, B, C         */
} ct__jl_coef;

static inline double ct__coef_c_series(double u)
{
    return 1. / 6 - u * (1. / 120 - u * (1. / 5040 - u * (1. / 362880 - u * (1. / 39916800 - u / 6227020800))));
}

static inline double ct__coef_db_series(double u)
{
    return -1. / 24 + u * (1. / 360 - u * (1. / 13440 - u * (1. / 907200 - u * (1. / 95800320 - u / 14529715200))));
}

static inline double ct__coef_dc_series(double u)
{
    return -1. / 120 +
           u * (1. / 2520 - u * (1. / 120960 - u * (1. / 9979200 - u * (1. / 1245404160 - u / 217945728000))));
}

/* D = sum |B_2n| u^(n-1) / (2n)! with the Bernoulli numbers B_2n; D' term by term. */
static inline double ct__coef_d_series(double u)
{
    return 1. / 12 +
           u * (1. / 720 + u * (1. / 30240 + u * (1. / 1209600 + u * (1. / 47900160 + u * (691. / 1307674368000)))));
}

static inline double ct__coef_dd_series(double u)
{
    return 1. / 720 +
           u * (1. / 15120 + u * (1. / 403200 + u * (1. / 11975040 + u * (691. / 261534873600 + u / 12454041600))));
}

static inline double ct__coef_ddd_series(double u)
{
    return 1. / 15120 +
           u * (1. / 201600 +
                u * (1. / 3991680 + u * (691. / 65383718400 + u * (1. / 2490808320 + u * (3617. / 254062448640000)))));
}

/* A, B, C at u: one sqrt, one sincos. */
static inline ct__jl_coef ct__jl_coef_at(double u)
{
    const double h = sqrt(u) / 2;
    const double sh = sin(h), ch = cos(h);
    const double k = h > 0 ? sh / h : 1;
    const double a = k * ch;
    return (ct__jl_coef){
        .ch = ch, .k = k, .a = a, .b = k * k / 2, .c = u < CT__SERIES ? ct__coef_c_series(u) : (1 - a) / u};
}

static inline double ct__coef_db(double u, ct__jl_coef f)
{
    return u < CT__SERIES ? ct__coef_db_series(u) : (f.a - 2 * f.b) / (2 * u);
}
static inline double ct__coef_dc(double u, ct__jl_coef f)
{
    return u < CT__SERIES ? ct__coef_dc_series(u) : (f.b - 3 * f.c) / (2 * u);
}

/* D and D' from hcot = h cot h, which a logarithm has at hand without trigonometry. */
static inline double ct__coef_d(double u, double hcot)
{
    return u < CT__SERIES ? ct__coef_d_series(u) : (1 - hcot) / u;
}
static inline double ct__coef_dd(double u, double d)
{
    return u < CT__SERIES ? ct__coef_dd_series(u) : (1 - 12 * d + 4 * u * d * d) / (8 * u);
}
static inline double ct__coef_ddd(double u, double d, double dd)
{
    return u < CT__SERIES ? ct__coef_ddd_series(u) : (d * d + 2 * u * d * dd - 5 * dd) / (2 * u);
}

/* h cot h at u, for tangents that did not come from a logarithm. */
static inline double ct__hcot_at(double u)
{
    const double h = sqrt(u) / 2;
    return h > 0 ? h * cos(h) / sin(h) : 1;
}

#endif
