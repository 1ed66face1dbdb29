/* factor_point.c: point_*, the position of a point in a sensor's frame (a depth camera, a lidar).
 *
 *     r = (x o s)^-1 p - z = Rs^T d - z        s: the sensor's pose in the body frame
 */
#include "graph/sight_model_inline.h"

CT__KERNEL void plane(const double *z, const double *sensor, const double *d, double *r, double *G)
{
    const ct_so2 s = ct__so2_load(sensor + 2);
    const double turn[4] = {s.c, s.s, -s.s, s.c};
    for (int i = 0; i < 2; i++) r[i] = turn[2 * i] * d[0] + turn[2 * i + 1] * d[1] - z[i];
    if (G) memcpy(G, turn, sizeof turn);
}

CT__KERNEL void space(const double *z, const double *sensor, const double *d, double *r, double *G)
{
    double turn[9];
    ct__so3_matrix(ct__so3_inverse(ct__so3_load(sensor + 3)), turn);
    for (int i = 0; i < 3; i++) r[i] = ct__dot3(turn + 3 * i, d) - z[i];
    if (G) memcpy(G, turn, sizeof turn);
}

CT__SIGHT_TO_POINTS(plane, NULL, 2, 2, 2)
CT__SIGHT_TO_POINTS(space, NULL, 3, 3, 3)

const ct_factor_ops ct_point_se2_r2 = {
    .name = "point_se2_r2",
    .rows = 2,
    .arity = 2,
    .kind = {CT_SE2, CT_R2},
    .fields = 2,
    .required = 1,
    .field = {CT_R2, CT_SE2},
    .eval = plane_variable,
    .curvature = plane_variable_curve,
    .coordinate = {"x", "y"},
    .unit = {"m", "m"},
};

const ct_factor_ops ct_point_se2_point = {
    .name = "point_se2_point",
    .rows = 2,
    .arity = 1,
    .kind = {CT_SE2},
    .fields = 3,
    .required = 2,
    .field = {CT_R2, CT_R2, CT_SE2},
    .absolute = 1,
    .eval = plane_known,
    .curvature = plane_known_curve,
    .coordinate = {"x", "y"},
    .unit = {"m", "m"},
};

const ct_factor_ops ct_point_se3_r3 = {
    .name = "point_se3_r3",
    .rows = 3,
    .arity = 2,
    .kind = {CT_SE3, CT_R3},
    .fields = 2,
    .required = 1,
    .field = {CT_R3, CT_SE3},
    .eval = space_variable,
    .curvature = space_variable_curve,
    .coordinate = {"x", "y", "z"},
    .unit = {"m", "m", "m"},
};

const ct_factor_ops ct_point_se3_point = {
    .name = "point_se3_point",
    .rows = 3,
    .arity = 1,
    .kind = {CT_SE3},
    .fields = 3,
    .required = 2,
    .field = {CT_R3, CT_R3, CT_SE3},
    .absolute = 1,
    .eval = space_known,
    .curvature = space_known_curve,
    .coordinate = {"x", "y", "z"},
    .unit = {"m", "m", "m"},
};
