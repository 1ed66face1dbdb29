/* factor_range_bearing.c: range_bearing_*, distance and direction of a point, or of a point of another body, by one
 * sensor.
 *
 *     r = (|m| - z_range, Log(z_direction^-1 direction(m))),  m = (x o s)^-1 p
 *
 * Range first. The parts are those of factor_range.c and factor_bearing.c and share the line of sight.
 */
#include "graph/sight_model_inline.h"

CT__KERNEL void plane(const double *z, const double *sensor, const double *d, double *r, double *G)
{
    r[0] = ct__sight_range(2, d, G) - z[0];
    r[1] = ct__sight_bearing2(ct__so2_load(z + 1), ct__so2_load(sensor + 2), d, G ? G + 2 : NULL);
}

static void plane_bend(const double *z, const double *sensor, const double *d, const double *u, double *H)
{
    (void)z, (void)sensor;
    ct__sight_range_bend(2, d, u[0], H);
    ct__sight_bearing2_bend(d, u[1], H);
}

CT__KERNEL void space(const double *z, const double *sensor, const double *d, double *r, double *G)
{
    r[0] = ct__sight_range(3, d, G) - z[0];
    ct__sight_bearing3(z + 1, ct__so3_load(sensor + 3), d, r + 1, G ? G + 3 : NULL);
}

static void space_bend(const double *z, const double *sensor, const double *d, const double *u, double *H)
{
    ct__sight_range_bend(3, d, u[0], H);
    ct__sight_bearing3_bend(z + 1, ct__so3_load(sensor + 3), d, u + 1, H);
}

CT__SIGHT_TO_POINTS(plane, plane_bend, 2, 3, 2)
CT__SIGHT_TO_POINTS(space, space_bend, 3, 4, 3)
CT__SIGHT_TO_POSE(plane, plane_bend, 2, 3, 4, 2)
CT__SIGHT_TO_POSE(space, space_bend, 3, 4, 7, 3)

static const char *refuse_plane(const double *z) { return ct__refuse_range(z[0]); }

static const char *refuse_space(const double *z)
{
    const char *why = ct__refuse_range(z[0]);
    return why ? why : ct__refuse_direction(z + 1);
}

const ct_factor_ops ct_range_bearing_se2_r2 = {
    .name = "range_bearing_se2_r2",
    .rows = 2,
    .arity = 2,
    .kind = {CT_SE2, CT_R2},
    .fields = 3,
    .required = 2,
    .field = {CT_R1, CT_SO2, CT_SE2},
    .eval = plane_variable,
    .curvature = plane_variable_curve,
    .refuse = refuse_plane,
    .coordinate = {"range", "bearing"},
    .unit = {"m", "rad"},
};

const ct_factor_ops ct_range_bearing_se2_point = {
    .name = "range_bearing_se2_point",
    .rows = 2,
    .arity = 1,
    .kind = {CT_SE2},
    .fields = 4,
    .required = 3,
    .field = {CT_R1, CT_SO2, CT_R2, CT_SE2},
    .absolute = 1,
    .eval = plane_known,
    .curvature = plane_known_curve,
    .refuse = refuse_plane,
    .coordinate = {"range", "bearing"},
    .unit = {"m", "rad"},
};

const ct_factor_ops ct_range_bearing_se3_r3 = {
    .name = "range_bearing_se3_r3",
    .rows = 3,
    .arity = 2,
    .kind = {CT_SE3, CT_R3},
    .fields = 3,
    .required = 2,
    .field = {CT_R1, CT_R3, CT_SE3},
    .eval = space_variable,
    .curvature = space_variable_curve,
    .refuse = refuse_space,
    .coordinate = {"range", "azimuth", "elevation"},
    .unit = {"m", "rad", "rad"},
};

const ct_factor_ops ct_range_bearing_se3_point = {
    .name = "range_bearing_se3_point",
    .rows = 3,
    .arity = 1,
    .kind = {CT_SE3},
    .fields = 4,
    .required = 3,
    .field = {CT_R1, CT_R3, CT_R3, CT_SE3},
    .absolute = 1,
    .eval = space_known,
    .curvature = space_known_curve,
    .refuse = refuse_space,
    .coordinate = {"range", "azimuth", "elevation"},
    .unit = {"m", "rad", "rad"},
};

const ct_factor_ops ct_range_bearing_se2_se2 = {
    .name = "range_bearing_se2_se2",
    .rows = 2,
    .arity = 2,
    .kind = {CT_SE2, CT_SE2},
    .fields = 4,
    .required = 2,
    .field = {CT_R1, CT_SO2, CT_SE2, CT_R2},
    .eval = plane_pose,
    .curvature = plane_pose_curve,
    .refuse = refuse_plane,
    .coordinate = {"range", "bearing"},
    .unit = {"m", "rad"},
};

const ct_factor_ops ct_range_bearing_se3_se3 = {
    .name = "range_bearing_se3_se3",
    .rows = 3,
    .arity = 2,
    .kind = {CT_SE3, CT_SE3},
    .fields = 4,
    .required = 2,
    .field = {CT_R1, CT_R3, CT_SE3, CT_R3},
    .eval = space_pose,
    .curvature = space_pose_curve,
    .refuse = refuse_space,
    .coordinate = {"range", "azimuth", "elevation"},
    .unit = {"m", "rad", "rad"},
};
