/* polygon.c: a polygon that does not cross itself, in either orientation.
 *
 * The nearest side decides. If the nearest point is inside that side, d is the signed distance from its line. If it is
 * a corner c, |d| = |p - c|, and its sign is that of (n1 + n2)'(p - c), with n1 and n2 the outward normals of both
 * sides: the points nearest to a convex corner are outside, those nearest to a reflex corner inside. For nearly
 * collinear sides the sign agrees with that of the line. So no crossings are counted. O(corners). */
#include "shape/shape.h"

#include <math.h>

/* ---- making ---- */

static const double *at(const double *xy, int32_t corners, int32_t i) { return xy + 2 * (i % corners); }

/* Twice the area of the triangle. */
static double turn(const double a[2], const double b[2], const double c[2])
{
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

static int sign(double value) { return (value > 0) - (value < 0); }

static int apart(double a, double b, double c, double d) { return fmax(a, b) < fmin(c, d) || fmax(c, d) < fmin(a, b); }

/* Do the segments ab and cd share a point? */
static int meet(const double a[2], const double b[2], const double c[2], const double d[2])
{
    if (apart(a[0], b[0], c[0], d[0]) || apart(a[1], b[1], c[1], d[1])) return 0;
    return sign(turn(a, b, c)) * sign(turn(a, b, d)) <= 0 && sign(turn(c, d, a)) * sign(turn(c, d, b)) <= 0;
}

static ct_status check_corners(int32_t corners, const double *xy, ct_err *err)
{
    if (corners < 3 || corners > CT__CORNERS_MAX)
        return ct_fail(err, CT_E_ARGUMENT, "polygon: it must have 3 to %d corners, it has %d", CT__CORNERS_MAX,
                       corners);
    for (int32_t i = 0; i < corners; i++) {
        const double *a = at(xy, corners, i), *b = at(xy, corners, i + 1);
        if (!(fabs(a[0]) <= CT__LENGTH_MOST && fabs(a[1]) <= CT__LENGTH_MOST))
            return ct_fail(err, CT_E_ARGUMENT,
                           "polygon: corner %d is (%g, %g), coordinates must be finite and at most %g", i, a[0], a[1],
                           CT__LENGTH_MOST);
        const double length = hypot(b[0] - a[0], b[1] - a[1]);
        if (length < CT__LENGTH_LEAST)
            return ct_fail(err, CT_E_ARGUMENT,
                           "polygon: the side from corner %d to corner %d must be at least %g long, it is %g", i,
                           (i + 1) % corners, CT__LENGTH_LEAST, length);
    }
    return CT_OK;
}

/* Sides that are not neighbours have no point in common, neighbours their corner alone: a side does not go back on
 * the one before. */
static ct_status check_sides(int32_t corners, const double *xy, ct_err *err)
{
    for (int32_t i = 0; i < corners; i++) {
        const double *a = at(xy, corners, i), *b = at(xy, corners, i + 1), *c = at(xy, corners, i + 2);
        if (turn(a, b, c) == 0 && (b[0] - a[0]) * (c[0] - b[0]) + (b[1] - a[1]) * (c[1] - b[1]) < 0)
            return ct_fail(err, CT_E_ARGUMENT, "polygon: the side from corner %d goes back along the one before",
                           (i + 1) % corners);
        for (int32_t j = i + 2; j < corners - (i == 0); j++)
            if (meet(a, b, at(xy, corners, j), at(xy, corners, j + 1)))
                return ct_fail(err, CT_E_ARGUMENT,
                               "polygon: the sides from corner %d and from corner %d cross or touch", i, j);
    }
    return CT_OK;
}

/* Twice the area, of corners counted from the first so that a far origin costs no digits. */
static double doubled_area(int32_t corners, const double *xy)
{
    double sum = 0;
    for (int32_t i = 1; i + 1 < corners; i++) sum += turn(xy, xy + 2 * i, xy + 2 * i + 2);
    return sum;
}

ct_status ct_shape_polygon(int32_t corners, const double xy[], ct_shape **out, ct_err *err)
{
    *out = NULL;
    CT_TRY(check_corners(corners, xy, err));
    double around = 0;
    for (int32_t i = 0; i < corners; i++)
        around += hypot(at(xy, corners, i + 1)[0] - xy[2 * i], at(xy, corners, i + 1)[1] - xy[2 * i + 1]);
    const double area = doubled_area(corners, xy) / 2;
    CT_TRY(check_sides(corners, xy, err));
    if (!(fabs(area) > 1e-9 * around * around)) /* a needle of 1 : 1e8, below the precision of its corners */
        return ct_fail(err, CT_E_ARGUMENT, "polygon: it has no area: %g, and %g around", fabs(area), around);
    CT_TRY(ct__shape_new(CT_SHAPE_POLYGON, 2 * (int64_t)corners, out, err));
    memcpy((*out)->number, xy, (size_t)corners * 2 * sizeof *xy);
    (*out)->sense = area > 0 ? 1 : -1;
    return CT_OK;
}

/* ---- measuring ---- */

/* The outward normal of side i. */
static void normal(const ct_shape *shape, int32_t corners, int32_t i, double n[2])
{
    const double *a = at(shape->number, corners, i), *b = at(shape->number, corners, i + 1);
    const double  ex = b[0] - a[0], ey = b[1] - a[1], scale = shape->sense / sqrt(ex * ex + ey * ey);
    n[0] = scale * ey;
    n[1] = -scale * ex;
}

/* Of corner i, p - c = w. */
static double from_corner(const ct_shape *shape, int32_t corners, int32_t i, const double w[2], double g[2],
                          double H[4])
{
    double before[2], after[2];
    normal(shape, corners, i + corners - 1, before);
    normal(shape, corners, i, after);
    const double sum[2] = {before[0] + after[0], before[1] + after[1]}, length = sqrt(w[0] * w[0] + w[1] * w[1]);
    const double d = copysign(length, sum[0] * w[0] + sum[1] * w[1]);
    const double n[2] = {length > 0 ? w[0] / d : after[0], length > 0 ? w[1] / d : after[1]};
    if (g) g[0] = n[0], g[1] = n[1];
    if (H && length > 0) ct__bend_round(1 / d, n, H);
    else if (H) ct__bend_none(H);
    return d;
}

double ct__polygon_distance(const ct_shape *shape, const double p[2], double g[2], double H[4])
{
    const int32_t corners = (int32_t)(shape->count / 2);
    int32_t       side = 0;
    /* of the nearest side: squared distance, and where on it, 0 to 1 within */
    double        least = INFINITY, along = NAN;
    for (int32_t i = 0; i < corners; i++) {
        const double *a = at(shape->number, corners, i), *b = at(shape->number, corners, i + 1);
        const double ex = b[0] - a[0], ey = b[1] - a[1], wx = p[0] - a[0], wy = p[1] - a[1], dot = wx * ex + wy * ey,
                     e2 = ex * ex + ey * ey;
        const double  cross = wx * ey - wy * ex, vx = p[0] - b[0], vy = p[1] - b[1];
        const double  d2 = dot < 0 ? wx * wx + wy * wy : dot > e2 ? vx * vx + vy * vy : cross * cross / e2;
        if (d2 < least) least = d2, side = i, along = dot / e2;
    }
    if (along < 0 || along > 1) {
        const int32_t corner = (side + (along > 1)) % corners;
        const double *c = shape->number + 2 * corner, w[2] = {p[0] - c[0], p[1] - c[1]};
        return from_corner(shape, corners, corner, w, g, H);
    }
    const double *a = at(shape->number, corners, side);
    double        n[2];
    normal(shape, corners, side, n);
    if (g) g[0] = n[0], g[1] = n[1];
    if (H) ct__bend_none(H);
    return n[0] * (p[0] - a[0]) + n[1] * (p[1] - a[1]);
}

/* ---- corners ---- */

int32_t ct__corners(const ct_shape *shape)
{
    return shape->kind == CT_SHAPE_RECTANGLE ? 4 : (int32_t)(shape->count / 2);
}

void ct__corner(const ct_shape *shape, int32_t i, double xy[2])
{
    const double *n = shape->number;
    const int32_t k = i % ct__corners(shape);
    if (shape->kind == CT_SHAPE_RECTANGLE) {
        xy[0] = k == 0 || k == 3 ? -n[0] : n[0];
        xy[1] = k < 2 ? -n[1] : n[1];
    } else {
        xy[0] = n[2 * k];
        xy[1] = n[2 * k + 1];
    }
}
