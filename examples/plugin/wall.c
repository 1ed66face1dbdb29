/* wall.c: a measurement model of your own, as a plugin: distance from a flat wall, by a sonar at the body's origin.
 *
 *     r = h - n.t - z        n: the direction in which the wall is (world), h: its distance from the origin, m
 *
 * A right perturbation (x, y, yaw) of the pose moves t by R (x, y), so dr/d(x, y, yaw) = (-R'n, 0).
 *
 *     cc -shared -fPIC -I../../include -o libwall.so wall.c
 *     covtune solve room.ctseq --plugin libwall.so
 */
#include <covtune/plugin.h>

static void eval(const double *z, const void *context, const double *const x[], double *r, double *const J[])
{
    const double tx = x[0][0], ty = x[0][1], c = x[0][2], s = x[0][3]; /* stored as x, y, cos, sin */
    const double nx = z[1], ny = z[2], h = z[3];
    (void)context;
    r[0] = h - (nx * tx + ny * ty) - z[0];
    if (J && J[0]) J[0][0] = -(c * nx + s * ny), J[0][1] = -(c * ny - s * nx), J[0][2] = 0;
}

static const char *refuse(const double *z) { return z[0] >= 0 ? NULL : "distance must not be negative"; }

static const ct_factor_ops wall = {
    .name = "wall_se2",
    .rows = 1,
    .arity = 1,
    .kind = {CT_SE2},
    .fields = 3,
    .required = 3,
    .field = {CT_R1, CT_SO2, CT_R1}, /* distance, direction of the wall, its distance from the origin */
    .absolute = 1,
    .eval = eval,
    .refuse = refuse,
    .coordinate = {"distance"},
    .unit = {"m"},
};

static const ct_factor_ops *const models[] = {&wall};
CT_PLUGIN("wall", models)
