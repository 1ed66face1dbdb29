/* factor_range.c: range_*, the distance from a sensor on the body to a point.
 *
 *     r = |p - (t + R s)| - z        s: the sensor's position in the body frame, zero unless given
 */
#include "graph/line_of_sight_inline.h"

static void plane(const double *z, const double *sensor, const double *pose, const double *point, double *r, double *Jx,
                  double *Jp)
{
    const ct_se2    x = ct__se2_load(pose);
    const ct__sight at = ct__sight2(x, point, sensor);
    double          gradient[2], *g = Jx || Jp ? gradient : NULL;
    r[0] = ct__sight_range(2, at.d, g) - z[0];
    ct__sight2_chain(x, &at, 1, g, Jx, Jp);
}

static void space(const double *z, const double *sensor, const double *pose, const double *point, double *r, double *Jx,
                  double *Jp)
{
    const ct_se3    x = ct__se3_load(pose);
    const ct__sight at = ct__sight3(x, point, sensor);
    double          gradient[3], *g = Jx || Jp ? gradient : NULL;
    r[0] = ct__sight_range(3, at.d, g) - z[0];
    ct__sight3_chain(x, &at, 1, g, Jx, Jp);
}

CT__SIGHT_EVALS(plane, 1, 2)
CT__SIGHT_EVALS(space, 1, 3)

static const char *refuse(const double *z) { return ct__refuse_range(z[0]); }

const ct_factor_ops ct_range_se2_r2 = {
    .name = "range_se2_r2",
    .rows = 1,
    .arity = 2,
    .kind = {CT_SE2, CT_R2},
    .fields = 2,
    .required = 1,
    .field = {CT_R1, CT_R2},
    .eval = plane_variable,
    .refuse = refuse,
    .coordinate = {"range"},
    .unit = {"m"},
};

const ct_factor_ops ct_range_se2_point = {
    .name = "range_se2_point",
    .rows = 1,
    .arity = 1,
    .kind = {CT_SE2},
    .fields = 3,
    .required = 2,
    .field = {CT_R1, CT_R2, CT_R2},
    .absolute = 1,
    .eval = plane_known,
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
    .refuse = refuse,
    .coordinate = {"range"},
    .unit = {"m"},
};
