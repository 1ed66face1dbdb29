/* factor_range.c: range_*, the distance from a sensor on the body to a point, or to a point of another body.
 *
 *     r = |p - (t + R s)| - z        s: the sensor's position in the body frame, zero unless given
 *
 * To a pose p = tb + Rb c, c: the target's position in the frame of that body, zero unless given. In the plane a point
 * may be above the sensor by h, the same at every pose: r = sqrt(dx^2 + dy^2 + h^2) - z, a slant range.
 */
#include "graph/sight_model_inline.h"

CT__KERNEL void plane(const double *z, const double *sensor, const double *d, double *r, double *G)
{
    (void)sensor;
    r[0] = ct__sight_range(2, d, G) - z[0];
}

static void plane_bend(const double *z, const double *sensor, const double *d, const double *u, double *H)
{
    (void)z, (void)sensor;
    ct__sight_range_bend(2, d, u[0], H);
}

/* The height follows the sensor's position. At height 0 the bits are those of the plane. */
CT__KERNEL void slant(const double *z, const double *sensor, const double *d, double *r, double *G)
{
    const double line[3] = {d[0], d[1], sensor[2]};
    double       g[3];
    r[0] = ct__sight_range(3, line, G ? g : NULL) - z[0];
    if (G) G[0] = g[0], G[1] = g[1];
}

static void slant_bend(const double *z, const double *sensor, const double *d, const double *u, double *H)
{
    const double line[3] = {d[0], d[1], sensor[2]};
    double       K[9] = {0};
    (void)z;
    ct__sight_range_bend(3, line, u[0], K);
    H[0] += K[0], H[1] += K[1], H[2] += K[3], H[3] += K[4];
}

CT__KERNEL void space(const double *z, const double *sensor, const double *d, double *r, double *G)
{
    (void)sensor;
    r[0] = ct__sight_range(3, d, G) - z[0];
}

static void space_bend(const double *z, const double *sensor, const double *d, const double *u, double *H)
{
    (void)z, (void)sensor;
    ct__sight_range_bend(3, d, u[0], H);
}

CT__SIGHT_TO_POINTS(slant, slant_bend, 1, 1, 2)
CT__SIGHT_TO_POINTS(space, space_bend, 1, 1, 3)
CT__SIGHT_TO_POSE(plane, plane_bend, 1, 1, 2, 2)
CT__SIGHT_TO_POSE(space, space_bend, 1, 1, 3, 3)

static const char *refuse(const double *z) { return ct__refuse_range(z[0]); }

const ct_factor_ops ct_range_se2_r2 = {
    .name = "range_se2_r2",
    .rows = 1,
    .arity = 2,
    .kind = {CT_SE2, CT_R2},
    .fields = 3,
    .required = 1,
    .field = {CT_R1, CT_R2, CT_R1},
    .eval = slant_variable,
    .curvature = slant_variable_curve,
    .refuse = refuse,
    .coordinate = {"range"},
    .unit = {"m"},
};

const ct_factor_ops ct_range_se2_point = {
    .name = "range_se2_point",
    .rows = 1,
    .arity = 1,
    .kind = {CT_SE2},
    .fields = 4,
    .required = 2,
    .field = {CT_R1, CT_R2, CT_R2, CT_R1},
    .absolute = 1,
    .eval = slant_known,
    .curvature = slant_known_curve,
    .refuse = refuse,
    .coordinate = {"range"},
    .unit = {"m"},
};

const ct_factor_ops ct_range_se3_r3 = {
    .name = "range_se3_r3",
    .rows = 1,
    .arity = 2,
    .kind = {CT_SE3, CT_R3},
    .fields = 2,
    .required = 1,
    .field = {CT_R1, CT_R3},
    .eval = space_variable,
    .curvature = space_variable_curve,
    .refuse = refuse,
    .coordinate = {"range"},
    .unit = {"m"},
};

const ct_factor_ops ct_range_se3_point = {
    .name = "range_se3_point",
    .rows = 1,
    .arity = 1,
    .kind = {CT_SE3},
    .fields = 3,
    .required = 2,
    .field = {CT_R1, CT_R3, CT_R3},
    .absolute = 1,
    .eval = space_known,
    .curvature = space_known_curve,
    .refuse = refuse,
    .coordinate = {"range"},
    .unit = {"m"},
};

const ct_factor_ops ct_range_se2_se2 = {
    .name = "range_se2_se2",
    .rows = 1,
    .arity = 2,
    .kind = {CT_SE2, CT_SE2},
    .fields = 3,
    .required = 1,
    .field = {CT_R1, CT_R2, CT_R2},
    .eval = plane_pose,
    .curvature = plane_pose_curve,
    .refuse = refuse,
    .coordinate = {"range"},
    .unit = {"m"},
};

const ct_factor_ops ct_range_se3_se3 = {
    .name = "range_se3_se3",
    .rows = 1,
    .arity = 2,
    .kind = {CT_SE3, CT_SE3},
    .fields = 3,
    .required = 1,
    .field = {CT_R1, CT_R3, CT_R3},
    .eval = space_pose,
    .curvature = space_pose_curve,
    .refuse = refuse,
    .coordinate = {"range"},
    .unit = {"m"},
};
