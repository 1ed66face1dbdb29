/* factor_bearing.c: bearing_*, the direction from a sensor on the body to a point, or to a point of another body.
 *
 *     r = Log(z^-1 direction((x o s)^-1 p))        s: the sensor's pose in the body frame
 *
 * In the plane an angle. In space the Log on the sphere at z: arcs along azimuth and elevation as
 * seen from the sensor's z axis, so in a plane z = 0 the first row is the planar bearing. Behaviour
 * at the antipode and at no distance: line_of_sight_inline.h. To a pose p = tb + Rb c, c: the target's position in the
 * frame of that body, zero unless given.
 */
#include "graph/sight_model_inline.h"

CT__KERNEL void plane(const double *z, const double *sensor, const double *d, double *r, double *G)
{
    r[0] = ct__sight_bearing2(ct__so2_load(z), ct__so2_load(sensor + 2), d, G);
}

static void plane_bend(const double *z, const double *sensor, const double *d, const double *u, double *H)
{
    (void)z, (void)sensor;
    ct__sight_bearing2_bend(d, u[0], H);
}

CT__KERNEL void space(const double *z, const double *sensor, const double *d, double *r, double *G)
{
    ct__sight_bearing3(z, ct__so3_load(sensor + 3), d, r, G);
}

static void space_bend(const double *z, const double *sensor, const double *d, const double *u, double *H)
{
    ct__sight_bearing3_bend(z, ct__so3_load(sensor + 3), d, u, H);
}

CT__SIGHT_TO_POINTS(plane, plane_bend, 1, 2, 2)
CT__SIGHT_TO_POINTS(space, space_bend, 2, 3, 3)
CT__SIGHT_TO_POSE(plane, plane_bend, 1, 2, 4, 2)
CT__SIGHT_TO_POSE(space, space_bend, 2, 3, 7, 3)

const ct_factor_ops ct_bearing_se2_r2 = {
    .name = "bearing_se2_r2",
    .rows = 1,
    .arity = 2,
    .kind = {CT_SE2, CT_R2},
    .fields = 2,
    .required = 1,
    .field = {CT_SO2, CT_SE2},
    .eval = plane_variable,
    .curvature = plane_variable_curve,
    .coordinate = {"bearing"},
    .unit = {"rad"},
};

const ct_factor_ops ct_bearing_se2_point = {
    .name = "bearing_se2_point",
    .rows = 1,
    .arity = 1,
    .kind = {CT_SE2},
    .fields = 3,
    .required = 2,
    .field = {CT_SO2, CT_R2, CT_SE2},
    .absolute = 1,
    .eval = plane_known,
    .curvature = plane_known_curve,
    .coordinate = {"bearing"},
    .unit = {"rad"},
};

const ct_factor_ops ct_bearing_se3_r3 = {
    .name = "bearing_se3_r3",
    .rows = 2,
    .arity = 2,
    .kind = {CT_SE3, CT_R3},
    .fields = 2,
    .required = 1,
    .field = {CT_R3, CT_SE3},
    .eval = space_variable,
    .curvature = space_variable_curve,
    .refuse = ct__refuse_direction,
    .coordinate = {"azimuth", "elevation"},
    .unit = {"rad", "rad"},
};

const ct_factor_ops ct_bearing_se3_point = {
    .name = "bearing_se3_point",
    .rows = 2,
    .arity = 1,
    .kind = {CT_SE3},
    .fields = 3,
    .required = 2,
    .field = {CT_R3, CT_R3, CT_SE3},
    .absolute = 1,
    .eval = space_known,
    .curvature = space_known_curve,
    .refuse = ct__refuse_direction,
    .coordinate = {"azimuth", "elevation"},
    .unit = {"rad", "rad"},
};

const ct_factor_ops ct_bearing_se2_se2 = {
    .name = "bearing_se2_se2",
    .rows = 1,
    .arity = 2,
    .kind = {CT_SE2, CT_SE2},
    .fields = 3,
    .required = 1,
    .field = {CT_SO2, CT_SE2, CT_R2},
    .eval = plane_pose,
    .curvature = plane_pose_curve,
    .coordinate = {"bearing"},
    .unit = {"rad"},
};

const ct_factor_ops ct_bearing_se3_se3 = {
    .name = "bearing_se3_se3",
    .rows = 2,
    .arity = 2,
    .kind = {CT_SE3, CT_SE3},
    .fields = 3,
    .required = 1,
    .field = {CT_R3, CT_SE3, CT_R3},
    .eval = space_pose,
    .curvature = space_pose_curve,
    .refuse = ct__refuse_direction,
    .coordinate = {"azimuth", "elevation"},
    .unit = {"rad", "rad"},
};
