/* rectangle.c: a rectangle about the origin, sides along the axes.
 *
 *     w = |p| - h;    d = |w| at a corner (both w > 0), else the larger of the two
 *
 * Inside, the nearest side decides. On a corner's bisector and on the axes, where two are equally near, one is used. */
#include "shape/shape.h"

#include <math.h>

ct_status ct_shape_rectangle(double hx, double hy, ct_shape **out, ct_err *err)
{
    return ct__shape_pair(CT_SHAPE_RECTANGLE, hx, hy, "length hx", "length hy", out, err);
}

double ct__rectangle_distance(const double half[2], const double p[2], double g[2], double H[4])
{
    const double wx = fabs(p[0]) - half[0], wy = fabs(p[1]) - half[1];
    if (wx > 0 && wy > 0) {
        const double d = sqrt(wx * wx + wy * wy), n[2] = {copysign(wx / d, p[0]), copysign(wy / d, p[1])};
        if (g) g[0] = n[0], g[1] = n[1];
        if (H) ct__bend_round(1 / d, n, H);
        return d;
    }
    const int x = wx > wy;
    if (g) g[0] = x ? copysign(1, p[0]) : 0, g[1] = x ? 0 : copysign(1, p[1]);
    if (H) ct__bend_none(H);
    return isnan(wx) || x ? wx : wy; /* a NaN stays one */
}
