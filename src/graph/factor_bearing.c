/* factor_bearing.c: bearing_*, the direction from a sensor on the body to a point.
 *
 *     r = Log(z^-1 direction((x o s)^-1 p))        s: the sensor's pose in the body frame
 *
 * In the plane an angle. In space the Log on the sphere at z: arcs along azimuth and elevation as
 * seen from the sensor's z axis, so in a plane z = 0 the first row is the planar bearing. Behaviour
 * at the antipode and at no distance: line_of_sight_inline.h.
 */
#include "graph/line_of_sight_inline.h"

static void plane(const double *z, const double *sensor, const double *pose, const double *point, double *r, double *Jx,
                  double *Jp)
{
    const ct_se2    x = ct__se2_load(pose);
    const ct__sight at = ct__sight2(x, point, sensor);
    double          gradient[2], *g = Jx || Jp ? gradient : NULL;
    r[0] = ct__sight_bearing2(ct__so2_load(z), ct__so2_load(sensor + 2), at.d, g);
    ct__sight2_chain(x, &at, 1, g, Jx, Jp);
}

static void space(const double *z, const double *sensor, const double *pose, const double *point, double *r, double *Jx,
                  double *Jp)
{
    const ct_se3    x = ct__se3_load(pose);
    const ct__sight at = ct__sight3(x, point, sensor);
    double          gradient[6], *G = Jx || Jp ? gradient : NULL;
    ct__sight_bearing3(z, ct__so3_load(sensor + 3), at.d, r, G);
    ct__sight3_chain(x, &at, 2, G, Jx, Jp);
}

CT__SIGHT_EVALS(plane, 2, 2)
CT__SIGHT_EVALS(space, 3, 3)

const ct_factor_ops ct_bearing_se2_r2 = {
    .name = "bearing_se2_r2",
    .rows = 1,
    .arity = 2,
    .kind = {CT_SE2, CT_R2},
    .fields = 2,
    .required = 1,
    .field = {CT_SO2, CT_SE2},
    .eval = plane_variable,
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
    .refuse = ct__refuse_direction,
    .coordinate = {"azimuth", "elevation"},
    .unit = {"rad", "rad"},
};
