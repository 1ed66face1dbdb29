/* factor_range_bearing.c: range_bearing_*, distance and direction of a point by one sensor.
 *
 *     r = (|m| - z_range, Log(z_direction^-1 direction(m))),  m = (x o s)^-1 p
 *
 * Range first. The parts are those of factor_range.c and factor_bearing.c and share the line of sight.
 */
#include "graph/line_of_sight_inline.h"

static void plane(const double *z, const double *sensor, const double *pose, const double *point, double *r, double *Jx,
                  double *Jp)
{
    const ct_se2    x = ct__se2_load(pose);
    const ct__sight at = ct__sight2(x, point, sensor);
    double          gradient[4], *G = Jx || Jp ? gradient : NULL;
    r[0] = ct__sight_range(2, at.d, G) - z[0];
    r[1] = ct__sight_bearing2(ct__so2_load(z + 1), ct__so2_load(sensor + 2), at.d, G ? G + 2 : NULL);
    ct__sight2_chain(x, &at, 2, G, Jx, Jp);
}

static void space(const double *z, const double *sensor, const double *pose, const double *point, double *r, double *Jx,
                  double *Jp)
{
    const ct_se3    x = ct__se3_load(pose);
    const ct__sight at = ct__sight3(x, point, sensor);
    double          gradient[9], *G = Jx || Jp ? gradient : NULL;
    r[0] = ct__sight_range(3, at.d, G) - z[0];
    ct__sight_bearing3(z + 1, ct__so3_load(sensor + 3), at.d, r + 1, G ? G + 3 : NULL);
    ct__sight3_chain(x, &at, 3, G, Jx, Jp);
}

CT__SIGHT_EVALS(plane, 3, 2)
CT__SIGHT_EVALS(space, 4, 3)

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
    .refuse = refuse_space,
    .coordinate = {"range", "azimuth", "elevation"},
    .unit = {"m", "rad", "rad"},
};
