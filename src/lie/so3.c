/* so3.c: SO(3), the public functions. The mathematics is in so3_inline.h. */
#include <string.h>

#include "lie/so3_inline.h"

static const double I3[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

ct_so3 ct_so3_identity(void) { return (ct_so3){0, 0, 0, 1}; }
ct_so3 ct_so3_exp(const double w[3]) { return ct__so3_exp(w); }

void ct_so3_log(ct_so3 a, double w[3])
{
    const ct__so3_chart at = ct__so3_chart_at(a);
    memcpy(w, at.w, sizeof at.w);
}

/* dc/da = Ad(b^-1) = Rb^T. */
ct_so3 ct_so3_compose(ct_so3 a, ct_so3 b, double Ja[9], double Jb[9])
{
    if (Ja) ct__so3_matrix(ct__so3_inverse(b), Ja);
    if (Jb) memcpy(Jb, I3, sizeof I3);
    return ct__so3_compose(a, b);
}

ct_so3 ct_so3_inverse(ct_so3 a, double Ja[9])
{
    if (Ja) {
        ct__so3_matrix(a, Ja);
        for (int i = 0; i < 9; i++) Ja[i] = -Ja[i];
    }
    return ct__so3_inverse(a);
}

ct_so3 ct_so3_between(ct_so3 a, ct_so3 b, double Ja[9], double Jb[9])
{
    const ct_so3 d = ct__so3_between(a, b);
    if (Ja) {
        ct__so3_matrix(ct__so3_inverse(d), Ja);
        for (int i = 0; i < 9; i++) Ja[i] = -Ja[i];
    }
    if (Jb) memcpy(Jb, I3, sizeof I3);
    return d;
}

/* Scaled by the largest component first, so that any non-zero quaternion can be made unit. */
ct_so3 ct_so3_normalize(ct_so3 a)
{
    const double m = fmax(fmax(fabs(a.x), fabs(a.y)), fmax(fabs(a.z), fabs(a.w)));
    const double x = a.x / m, y = a.y / m, z = a.z / m, w = a.w / m;
    const double n = sqrt(x * x + y * y + z * z + w * w);
    return (ct_so3){x / n, y / n, z / n, w / n};
}

void ct_so3_matrix(ct_so3 a, double R[9]) { ct__so3_matrix(a, R); }
void ct_so3_adjoint(ct_so3 a, double Ad[9]) { ct__so3_matrix(a, Ad); }

/* Shepperd (1978): of 4x^2, 4y^2, 4z^2, 4w^2, sums of diagonal entries, the largest is at least 1;
 * dividing by its root loses nothing. The result has w >= 0. */
ct_so3 ct_so3_from_matrix(const double R[9])
{
    const double trace = R[0] + R[4] + R[8];
    ct_so3       q;
    if (trace >= R[0] && trace >= R[4] && trace >= R[8])
        q = (ct_so3){R[7] - R[5], R[2] - R[6], R[3] - R[1], 1 + trace};
    else if (R[0] >= R[4] && R[0] >= R[8])
        q = (ct_so3){1 + R[0] - R[4] - R[8], R[1] + R[3], R[2] + R[6], R[7] - R[5]};
    else if (R[4] >= R[8])
        q = (ct_so3){R[1] + R[3], 1 + R[4] - R[0] - R[8], R[5] + R[7], R[2] - R[6]};
    else
        q = (ct_so3){R[2] + R[6], R[5] + R[7], 1 + R[8] - R[0] - R[4], R[3] - R[1]};
    if (q.w < 0) q = (ct_so3){-q.x, -q.y, -q.z, -q.w};
    return ct_so3_normalize(q);
}

/* q = R p: dq/da = -R [p]. */
void ct_so3_act(ct_so3 a, const double p[3], double q[3], double Ja[9], double Jp[9])
{
    double R[9];
    if (Ja || Jp) ct__so3_matrix(a, R);
    if (Ja) ct__mul33_skew(R, (const double[3]){-p[0], -p[1], -p[2]}, Ja);
    if (Jp) memcpy(Jp, R, sizeof R);
    ct__so3_rotate(a, p, q);
}

void ct_so3_jl(const double w[3], double J[9])
{
    const double      u = ct__dot3(w, w);
    const ct__jl_coef f = ct__jl_coef_at(u);
    ct__skew_polynomial(w, u, f.b, f.c, J);
}

void ct_so3_jl_inv(const double w[3], double J[9])
{
    const double u = ct__dot3(w, w);
    ct__skew_polynomial(w, u, -0.5, ct__coef_d(u, ct__hcot_at(u)), J);
}

void ct_so3_jr(const double w[3], double J[9]) { ct_so3_jl((const double[3]){-w[0], -w[1], -w[2]}, J); }
void ct_so3_jr_inv(const double w[3], double J[9]) { ct_so3_jl_inv((const double[3]){-w[0], -w[1], -w[2]}, J); }
