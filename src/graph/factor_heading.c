/* factor_heading.c: heading_P, the yaw of a sensor on the body (a compass, two antennas, a sun sensor).
 *
 *     r = yaw - z in [-pi, pi],    yaw = atan2(v1, v0),  v = R S e0        S: the sensor's rotation, or the identity
 *
 * v is the sensor's x axis in the world; seen from above it has the direction yaw. With c = S e0 a rotation by w gives
 * v = R (c + w x c + 1/2 w x (w x c) + ...). A vertical axis has no yaw: residual and derivatives are 0 there.
 * Positions have no part in it, which `depends` tells the solvers.
 */
#include "graph/sight_model_inline.h"

static void eval_se2(const double *z, const void *context, const double *const x[], double *r, double *const J[])
{
    (void)context;
    const ct_so2 yaw = ct__so2_compose(ct__so2_load(x[0] + 2), ct__so2_load(z + 2));
    r[0] = ct__so2_log(ct__so2_between(ct__so2_load(z), yaw));
    if (J && J[0]) J[0][0] = J[0][1] = 0, J[0][2] = 1;
}

/* c, v = R c, the yaw from z, and the gradient of it by v in axes of the body, g = R' dr/dv. */
typedef struct {
    double c[3], v[3], g[3], r;
} axis;

static axis axis_of(const double *z, const double *pose)
{
    const ct_so3 R = ct__se3_rotation(ct__se3_load(pose)), S = ct__so3_load(z + 2);
    const double ahead[3] = {1, 0, 0};
    double       g[3] = {0};
    axis         a;
    ct__so3_rotate(S, ahead, a.c);
    ct__so3_rotate(R, a.c, a.v);
    a.r = ct__sight_bearing2(ct__so2_load(z), (ct_so2){1, 0}, a.v, g);
    ct__so3_rotate(ct__so3_inverse(R), g, a.g);
    return a;
}

static void eval_se3(const double *z, const void *context, const double *const x[], double *r, double *const J[])
{
    (void)context;
    const axis a = axis_of(z, x[0]);
    r[0] = a.r;
    if (!J || !J[0]) return;
    ct__cross3(a.c, a.g, J[0]); /* g . (w x c) */
    J[0][3] = J[0][4] = J[0][5] = 0;
}

/* Of w alone: D'H D with D = -[c], and the term of second order. */
static void curve_se3(const double *z, const void *context, const double *const x[], const double *u, double *K)
{
    (void)context;
    const axis a = axis_of(z, x[0]);
    double     R[9], H[9] = {0}, plane[4] = {0}, D[9], W[9];
    ct__so3_matrix(ct__se3_rotation(ct__se3_load(x[0])), R);
    ct__sight_bearing2_bend(a.v, u[0], plane);
    H[0] = plane[0], H[1] = plane[1], H[3] = plane[2], H[4] = plane[3];
    ct__mul33_skew(R, a.c, D); /* the sign of D does not matter */
    ct__sight_fold(3, 3, H, D, W);
    const double gc = u[0] * ct__dot3(a.g, a.c);
    memset(K, 0, 36 * sizeof *K);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            K[6 * i + j] = W[3 * i + j] + u[0] * (a.g[i] * a.c[j] + a.c[i] * a.g[j]) / 2 - (i == j ? gc : 0);
}

const ct_factor_ops ct_heading_se2 = {
    .name = "heading_se2",
    .rows = 1,
    .arity = 1,
    .kind = {CT_SE2},
    .fields = 2,
    .required = 1,
    .field = {CT_SO2, CT_SO2},
    .absolute = 1,
    .eval = eval_se2,
    .flat = 1,
    .depends = {1 << 2},
    .coordinate = {"heading"},
    .unit = {"rad"},
};

const ct_factor_ops ct_heading_se3 = {
    .name = "heading_se3",
    .rows = 1,
    .arity = 1,
    .kind = {CT_SE3},
    .fields = 2,
    .required = 1,
    .field = {CT_SO2, CT_SO3},
    .absolute = 1,
    .eval = eval_se3,
    .curvature = curve_se3,
    .depends = {1 << 0 | 1 << 1 | 1 << 2},
    .coordinate = {"heading"},
    .unit = {"rad"},
};
