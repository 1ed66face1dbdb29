/* so2.c: SO(2), the public functions. The mathematics is in se2_inline.h. */
#include "lie/se2_inline.h"

ct_so2 ct_so2_identity(void) { return (ct_so2){1, 0}; }
ct_so2 ct_so2_exp(double yaw) { return ct__so2_exp(yaw); }
double ct_so2_log(ct_so2 a) { return ct__so2_log(a); }
ct_so2 ct_so2_compose(ct_so2 a, ct_so2 b) { return ct__so2_compose(a, b); }
ct_so2 ct_so2_inverse(ct_so2 a) { return ct__so2_inverse(a); }
ct_so2 ct_so2_between(ct_so2 a, ct_so2 b) { return ct__so2_between(a, b); }

ct_so2 ct_so2_normalize(ct_so2 a)
{
    const double n = hypot(a.c, a.s);
    return (ct_so2){a.c / n, a.s / n};
}

void ct_so2_act(ct_so2 a, const double p[2], double q[2], double Ja[2], double Jp[4])
{
    const double x = a.c * p[0] - a.s * p[1], y = a.s * p[0] + a.c * p[1];
    if (Ja) Ja[0] = -y, Ja[1] = x; /* R S p = S R p */
    if (Jp) Jp[0] = a.c, Jp[1] = -a.s, Jp[2] = a.s, Jp[3] = a.c;
    q[0] = x, q[1] = y;
}
