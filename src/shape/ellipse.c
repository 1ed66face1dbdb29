/* ellipse.c: the distance from an ellipse about the origin, axes along those of the frame.
 *
 * Let a >= b be the half axes, x along a and y along b, both made positive. The nearest point q has p - q = t
 * grad/2, which is q = (a^2 x / (t + a^2), b^2 y / (t + b^2)), for the largest t that puts it on the ellipse. In s =
 * t + b^2 > 0 and k = a^2 - b^2 >= 0:
 *
 *     N(s) = (a x / (s + k))^2 + (b y / s)^2 = 1
 *
 * 1/sqrt(N) is concave and rises, and nearly straight, so Newton's method on it rises to the root from any s below:
 *
 *     s <- s + N (sqrt(N) - 1) / D,   D = (a x)^2 / (s + k)^3 + (b y)^2 / s^3
 *
 * N >= 1 at b y, and at hypot(a x, b y) - k (as s <= s + k), where it begins: on a circle that is the root. With n =
 * (x / (s + k), y / s), m = |n|:
 *
 *     d = t m,   g = n / m,   radius of the outline at q: R = a^2 b^2 m^3,   H = (I - g g') / (R + d)
 *
 * s, not t, is what is iterated on because near the long axis, between the centres of curvature, s is as small as y:
 * t + b^2 would have none of its digits. */
#include "shape/shape.h"

#include <float.h>
#include <math.h>

/* 4 near the outline; 40 at a centre of curvature on the axis, with y close to zero */
#define STEPS_MAX 100
/* a relative step of this size leaves its square: quadratic convergence */
#define CLOSE     1e-9
/* of b: substitute for y on the long axis, so that y / s is the direction of one side */
#define TINY      1e-150

ct_status ct_shape_ellipse(double a, double b, ct_shape **out, ct_err *err)
{
    return ct__shape_pair(CT_SHAPE_ELLIPSE, a, b, "axis a", "axis b", out, err);
}

static double root(double ax, double by, double k)
{
    double s = fmax(by, sqrt(ax * ax + by * by) - k);
    for (int i = 0; i < STEPS_MAX; i++) {
        const double iu = 1 / (s + k), iv = 1 / s, u = ax * iu, v = by * iv, u2 = u * u, v2 = v * v, N = u2 + v2;
        const double step = N * (sqrt(N) - 1) / (u2 * iu + v2 * iv);
        s += step;
        if (!(step > CLOSE * s)) break; /* a NaN as well */
    }
    return s;
}

double ct__ellipse_distance(const double half[2], const double p[2], double g[2], double H[4])
{
    const int    tall = half[1] > half[0];
    const double a = half[tall], b = half[!tall], k = (a - b) * (a + b), least = TINY * b;
    const double x = fabs(p[tall]), away = fabs(p[!tall]), y = away < least ? least : away;
    const double s = root(a * x, b * y, k), nx = x / (s + k), ny = y / s, m = sqrt(nx * nx + ny * ny),
                 d = (s - b * b) * m;
    const double gx = copysign(nx / m, p[tall]), gy = copysign(ny / m, p[!tall]);
    const double n[2] = {tall ? gy : gx, tall ? gx : gy};
    if (g) g[0] = n[0], g[1] = n[1];
    if (H) {
        const double R = a * a * b * b * m * m * m;
        /* H does not exist at a centre of curvature; a finite number is returned */
        ct__bend_round(1 / fmax(R + d, DBL_EPSILON * R), n, H);
    }
    return d;
}
