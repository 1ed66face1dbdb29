/* factor_point.c: point_*, the position of a point in a sensor's frame (a depth camera, a lidar).
 *
 *     r = (x o s)^-1 p - z = Rs^T d - z        s: the sensor's pose in the body frame
 */
#include "graph/line_of_sight_inline.h"

static void plane(const double *z, const double *sensor, const double *pose, const double *point, double *r, double *Jx,
                  double *Jp)
{
    const ct_se2    x = ct__se2_load(pose);
    const ct_so2    s = ct__so2_load(sensor + 2);
    const ct__sight at = ct__sight2(x, point, sensor);
    const double    G[4] = {s.c, s.s, -s.s, s.c};
    for (int i = 0; i < 2; i++) r[i] = G[2 * i] * at.d[0] + G[2 * i + 1] * at.d[1] - z[i];
    ct__sight2_chain(x, &at, 2, G, Jx, Jp);
}

static void space(const double *z, const double *sensor, const double *pose, const double *point, double *r, double *Jx,
                  double *Jp)
{
    const ct_se3    x = ct__se3_load(pose);
    const ct__sight at = ct__sight3(x, point, sensor);
    double          G[9];
    ct__so3_matrix(ct__so3_inverse(ct__so3_load(sensor + 3)), G);
    for (int i = 0; i < 3; i++) r[i] = ct__dot3(G + 3 * i, at.d) - z[i];
    ct__sight3_chain(x, &at, 3, G, Jx, Jp);
}

CT__SIGHT_EVALS(plane, 2, 2)
CT__SIGHT_EVALS(space, 3, 3)

const ct_factor_ops ct_point_se2_r2 = {
    .name = "point_se2_r2",
    .rows = 2,
    .arity = 2,
    .kind = {CT_SE2, CT_R2},
    .fields = 2,
    .required = 1,
    .field = {CT_R2, CT_SE2},
    .eval = plane_variable,
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
    .coordinate = {"x", "y", "z"},
    .unit = {"m", "m", "m"},
};
