/* se2_inline.h: SO(2) and SE(2) as inline functions, for the public ones and for factors.
 *
 * In complex numbers a pose is (t, e^{i theta}) and a tangent (rho, theta). With h = theta/2,
 *
 *     Exp: t = V rho,    V = sin(h)/h e^{ih}           one sincos, of h; smooth through zero
 *     Log: rho = t / V,  1/V = h cot h - i h           one angle; cot h from c and s
 *
 * The inverse of the right Jacobian uses only values that Log has computed:
 *
 *     Jr^-1 = [ hcot  -h   theta D rho_x + rho_y/2 ]
 *             [  h   hcot  theta D rho_y - rho_x/2 ]       D = (1 - hcot)/theta^2
 *             [  0    0               1            ]
 *
 * Jl^-1(v) = Jr^-1(-v). The workload is planar pose graphs: Log and Jr^-1 of small rotations, once
 * per factor and iteration.
 */
#ifndef CT_LIE_SE2_INLINE_H
#define CT_LIE_SE2_INLINE_H

#include <covtune/lie.h>

#include "lie/coef_inline.h"

/* ---- SO(2) ------------------------------------------------------------------------------------ */

static inline ct_so2 ct__so2_load(const double *x) { return (ct_so2){x[0], x[1]}; }
static inline ct_so2 ct__so2_exp(double theta) { return (ct_so2){cos(theta), sin(theta)}; }
static inline double ct__so2_log(ct_so2 a) { return ct__angle(a.s, a.c); }
static inline ct_so2 ct__so2_inverse(ct_so2 a) { return (ct_so2){a.c, -a.s}; }
static inline ct_so2 ct__so2_compose(ct_so2 a, ct_so2 b)
{
    return (ct_so2){a.c * b.c - a.s * b.s, a.s * b.c + a.c * b.s};
}
static inline ct_so2 ct__so2_between(ct_so2 a, ct_so2 b)
{
    return (ct_so2){a.c * b.c + a.s * b.s, a.c * b.s - a.s * b.c};
}

/* ---- SE(2) ------------------------------------------------------------------------------------ */

static inline ct_se2 ct__se2_load(const double *x) { return (ct_se2){x[0], x[1], x[2], x[3]}; }
static inline ct_so2 ct__se2_rotation(ct_se2 a) { return (ct_so2){a.c, a.s}; }

static inline ct_se2 ct__se2_compose(ct_se2 a, ct_se2 b)
{
    return (ct_se2){
        .x = a.x + a.c * b.x - a.s * b.y,
        .y = a.y + a.s * b.x + a.c * b.y,
        .c = a.c * b.c - a.s * b.s,
        .s = a.s * b.c + a.c * b.s,
    };
}

static inline ct_se2 ct__se2_inverse(ct_se2 a)
{
    return (ct_se2){.x = -a.c * a.x - a.s * a.y, .y = a.s * a.x - a.c * a.y, .c = a.c, .s = -a.s};
}

static inline ct_se2 ct__se2_between(ct_se2 a, ct_se2 b)
{
    const double dx = b.x - a.x, dy = b.y - a.y;
    return (ct_se2){
        .x = a.c * dx + a.s * dy,
        .y = a.c * dy - a.s * dx,
        .c = a.c * b.c + a.s * b.s,
        .s = a.c * b.s - a.s * b.c,
    };
}

/* Ad = [c -s y; s c -x; 0 0 1]. */
static inline void ct__se2_adjoint(ct_se2 a, double Ad[9])
{
    Ad[0] = a.c, Ad[1] = -a.s, Ad[2] = a.y;
    Ad[3] = a.s, Ad[4] = a.c, Ad[5] = -a.x;
    Ad[6] = 0, Ad[7] = 0, Ad[8] = 1;
}

/* cos theta = 1 - 2 sin^2 h keeps (c, s) unit to eps however small theta is. */
static inline ct_se2 ct__se2_exp(const double v[3])
{
    const double h = v[2] / 2;
    const double sh = sin(h), ch = cos(h);
    const double k = h != 0 ? sh / h : 1;
    return (ct_se2){
        .x = k * (ch * v[0] - sh * v[1]),
        .y = k * (sh * v[0] + ch * v[1]),
        .c = 1 - 2 * sh * sh,
        .s = 2 * sh * ch,
    };
}

/* A logarithm together with hcot = h cot h, for the Jacobian at it. */
typedef struct {
    double v[3];
    double hcot;
} ct__se2_chart;

/* cot h = (1 + c)/s = s/(1 - c): the form without cancellation. */
static inline ct__se2_chart ct__se2_chart_at(ct_se2 a)
{
    const double theta = ct__angle(a.s, a.c), h = theta / 2;
    const double num = a.c >= 0 ? 1 + a.c : a.s;
    const double den = a.c >= 0 ? a.s : 1 - a.c;
    const double hcot = den != 0 ? h * num / den : 1;
    return (ct__se2_chart){.v = {hcot * a.x + h * a.y, hcot * a.y - h * a.x, theta}, .hcot = hcot};
}

static inline void ct__se2_jr_inv(const ct__se2_chart *at, double J[9])
{
    const double x = at->v[0], y = at->v[1], theta = at->v[2];
    const double d = theta * ct__coef_d(theta * theta, at->hcot);
    J[0] = at->hcot, J[1] = -theta / 2, J[2] = d * x + y / 2;
    J[3] = theta / 2, J[4] = at->hcot, J[5] = d * y - x / 2;
    J[6] = 0, J[7] = 0, J[8] = 1;
}

#endif
