/* se3.c: SE(3), the public functions. The mathematics is in se3_inline.h. */
#include <string.h>

#include "lie/se3_inline.h"

static void identity6(double J[36])
{
    memset(J, 0, 36 * sizeof *J);
    for (int i = 0; i < 6; i++) J[7 * i] = 1;
}

/* sign * Ad(a^-1). */
static void adjoint_inverse(ct_se3 a, double sign, double Ad[36])
{
    double M[9], N[9];
    ct__se3_adjoint_inverse_blocks(a, M, N);
    for (int i = 0; i < 9; i++) M[i] *= sign, N[i] *= sign;
    ct__se3_blocks(M, N, Ad);
}

ct_se3 ct_se3_identity(void) { return (ct_se3){0, 0, 0, 0, 0, 0, 1}; }
ct_se3 ct_se3_make(const double t[3], ct_so3 q) { return ct__se3_make(t, q); }
ct_so3 ct_se3_rotation(ct_se3 a) { return ct__se3_rotation(a); }
ct_se3 ct_se3_exp(const double v[6]) { return ct__se3_exp(v); }

void ct_se3_log(ct_se3 a, double v[6])
{
    const ct__se3_chart at = ct__se3_chart_at(a);
    ct__se3_chart_tangent(&at, v);
}

/* dc/da = Ad(b^-1), dc/db = I. */
ct_se3 ct_se3_compose(ct_se3 a, ct_se3 b, double Ja[36], double Jb[36])
{
    if (Ja) adjoint_inverse(b, 1, Ja);
    if (Jb) identity6(Jb);
    return ct__se3_compose(a, b);
}

/* dc/da = -Ad(a) = -Ad(c^-1). */
ct_se3 ct_se3_inverse(ct_se3 a, double Ja[36])
{
    const ct_se3 c = ct__se3_inverse(a);
    if (Ja) adjoint_inverse(c, -1, Ja);
    return c;
}

/* dd/da = -Ad(d^-1), dd/db = I. */
ct_se3 ct_se3_between(ct_se3 a, ct_se3 b, double Ja[36], double Jb[36])
{
    const ct_se3 d = ct__se3_between(a, b);
    if (Ja) adjoint_inverse(d, -1, Ja);
    if (Jb) identity6(Jb);
    return d;
}

ct_se3 ct_se3_normalize(ct_se3 a)
{
    return ct__se3_make((const double[3]){a.x, a.y, a.z}, ct_so3_normalize(ct__se3_rotation(a)));
}

void ct_se3_adjoint(ct_se3 a, double Ad[36])
{
    const double t[3] = {a.x, a.y, a.z};
    double       R[9], tR[9];
    ct__so3_matrix(ct__se3_rotation(a), R);
    for (int j = 0; j < 3; j++) { /* [t] R, a column at a time */
        double column[3] = {R[j], R[3 + j], R[6 + j]};
        ct__cross3(t, column, column);
        for (int i = 0; i < 3; i++) tR[3 * i + j] = column[i];
    }
    ct__se3_blocks(R, tR, Ad);
}

/* q = R p + t: dq/da = [-R [p], R]. */
void ct_se3_act(ct_se3 a, const double p[3], double q[3], double Ja[18], double Jp[9])
{
    double Jrot[9], R[9];
    ct_so3_act(ct__se3_rotation(a), p, q, Ja ? Jrot : NULL, Ja || Jp ? R : NULL);
    for (int i = 0; Ja && i < 3; i++) {
        memcpy(Ja + 6 * i, Jrot + 3 * i, 3 * sizeof *Ja);
        memcpy(Ja + 6 * i + 3, R + 3 * i, 3 * sizeof *Ja);
    }
    if (Jp) memcpy(Jp, R, sizeof R);
    q[0] += a.x, q[1] += a.y, q[2] += a.z;
}

void ct_se3_jl(const double v[6], double M[36])
{
    const double      u = ct__dot3(v, v);
    const ct__jl_coef f = ct__jl_coef_at(u);
    double            J[9], K[9];
    ct__skew_polynomial(v, u, f.b, f.c, J);
    ct__se3_dual_block(v, v + 3, u, f.b, f.c, ct__coef_db(u, f), ct__coef_dc(u, f), K);
    ct__se3_blocks(J, K, M);
}

void ct_se3_jr_inv(const double v[6], double M[36])
{
    ct__se3_chart at = {.rot = {.w = {v[0], v[1], v[2]}, .u = ct__dot3(v, v)}, .rho = {v[3], v[4], v[5]}};
    double        J[9], K[9];
    at.d = ct__coef_d(at.rot.u, ct__hcot_at(at.rot.u));
    ct__se3_jr_inv_blocks(&at, J, K);
    ct__se3_blocks(J, K, M);
}

void ct_se3_jr(const double v[6], double M[36])
{
    ct_se3_jl((const double[6]){-v[0], -v[1], -v[2], -v[3], -v[4], -v[5]}, M);
}
void ct_se3_jl_inv(const double v[6], double M[36])
{
    ct_se3_jr_inv((const double[6]){-v[0], -v[1], -v[2], -v[3], -v[4], -v[5]}, M);
}
