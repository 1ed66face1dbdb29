/* se2.c: SE(2), the public functions. The mathematics is in se2_inline.h. */
#include <string.h>

#include "lie/se2_inline.h"

static const double I3[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

static void negate(double J[9])
{
    for (int i = 0; i < 9; i++) J[i] = -J[i];
}

ct_se2 ct_se2_identity(void) { return (ct_se2){0, 0, 1, 0}; }
ct_se2 ct_se2_make(double x, double y, double yaw) { return (ct_se2){x, y, cos(yaw), sin(yaw)}; }
double ct_se2_yaw(ct_se2 a) { return atan2(a.s, a.c); }
ct_se2 ct_se2_exp(const double v[3]) { return ct__se2_exp(v); }

void ct_se2_log(ct_se2 a, double v[3])
{
    const ct__se2_chart at = ct__se2_chart_at(a);
    memcpy(v, at.v, sizeof at.v);
}

ct_se2 ct_se2_compose(ct_se2 a, ct_se2 b, double Ja[9], double Jb[9])
{
    if (Ja) ct__se2_adjoint(ct__se2_inverse(b), Ja);
    if (Jb) memcpy(Jb, I3, sizeof I3);
    return ct__se2_compose(a, b);
}

ct_se2 ct_se2_inverse(ct_se2 a, double Ja[9])
{
    if (Ja) {
        ct__se2_adjoint(a, Ja);
        negate(Ja);
    }
    return ct__se2_inverse(a);
}

ct_se2 ct_se2_between(ct_se2 a, ct_se2 b, double Ja[9], double Jb[9])
{
    const ct_se2 d = ct__se2_between(a, b);
    if (Ja) {
        ct__se2_adjoint(ct__se2_inverse(d), Ja);
        negate(Ja);
    }
    if (Jb) memcpy(Jb, I3, sizeof I3);
    return d;
}

ct_se2 ct_se2_normalize(ct_se2 a)
{
    const ct_so2 r = ct_so2_normalize(ct__se2_rotation(a));
    return (ct_se2){a.x, a.y, r.c, r.s};
}

void ct_se2_adjoint(ct_se2 a, double Ad[9]) { ct__se2_adjoint(a, Ad); }

/* q = t + R p: dq/da = [R, R S p]. */
void ct_se2_act(ct_se2 a, const double p[2], double q[2], double Ja[6], double Jp[4])
{
    double rp[2], rsp[2], R[4];
    ct_so2_act(ct__se2_rotation(a), p, rp, rsp, R);
    if (Ja) Ja[0] = R[0], Ja[1] = R[1], Ja[2] = rsp[0], Ja[3] = R[2], Ja[4] = R[3], Ja[5] = rsp[1];
    if (Jp) memcpy(Jp, R, sizeof R);
    q[0] = a.x + rp[0], q[1] = a.y + rp[1];
}

/* Jr = [V^T (theta C + B S) rho; 0 1] with V^T = A - theta B S, S = [0 -1; 1 0]; Jl(v) = Jr(-v). */
void ct_se2_jr(const double v[3], double J[9])
{
    const double      x = v[0], y = v[1], theta = v[2];
    const ct__jl_coef f = ct__jl_coef_at(theta * theta);
    J[0] = f.a, J[1] = theta * f.b, J[2] = theta * f.c * x - f.b * y;
    J[3] = -theta * f.b, J[4] = f.a, J[5] = theta * f.c * y + f.b * x;
    J[6] = 0, J[7] = 0, J[8] = 1;
}

void ct_se2_jl(const double v[3], double J[9]) { ct_se2_jr((const double[3]){-v[0], -v[1], -v[2]}, J); }

void ct_se2_jr_inv(const double v[3], double J[9])
{
    const ct__se2_chart at = {.v = {v[0], v[1], v[2]}, .hcot = ct__hcot_at(v[2] * v[2])};
    ct__se2_jr_inv(&at, J);
}

void ct_se2_jl_inv(const double v[3], double J[9]) { ct_se2_jr_inv((const double[3]){-v[0], -v[1], -v[2]}, J); }
