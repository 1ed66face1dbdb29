/* factor_position.c: position_P, the world position of a point of the body (a GPS antenna); height_se3, its z alone (a
 * barometer, a depth cell).
 *
 *     r = t + R l - z        l: lever arm in the body frame, zero unless given
 *
 * The residual is in world axes, as is the noise of a receiver (east, north). With q = R'u the terms of second
 * order in Exp(w, rho) l = l + (w x l + rho) + 1/2 w x (w x l + rho) + ... are
 *
 *     u'r = ... + 1/2 ((q.w)(l.w) - (q.l)(w.w)) - 1/2 w.(q x rho)
 */
#include <covtune/graph.h>

#include "lie/se2_inline.h"
#include "lie/se3_inline.h"

#include <string.h>

static void eval_se2(const double *z, const void *context, const double *const x[], double *r, double *const J[])
{
    (void)context;
    ct_se2_act(ct__se2_load(x[0]), z + 2, r, J ? J[0] : NULL, NULL);
    ct_rn_between(2, z, r, r);
}

static void eval_se3(const double *z, const void *context, const double *const x[], double *r, double *const J[])
{
    (void)context;
    ct_se3_act(ct__se3_load(x[0]), z + 3, r, J ? J[0] : NULL, NULL);
    ct_rn_between(3, z, r, r);
}

static void curve_se2(const double *z, const void *context, const double *const x[], const double *u, double *K)
{
    (void)context;
    const double c = x[0][2], s = x[0][3], qx = c * u[0] + s * u[1], qy = c * u[1] - s * u[0];
    K[0] = K[1] = K[3] = K[4] = 0;
    K[2] = K[6] = qy / 2, K[5] = K[7] = -qx / 2;
    K[8] = -(qx * z[2] + qy * z[3]);
}

static void eval_height(const double *z, const void *context, const double *const x[], double *r, double *const J[])
{
    (void)context;
    double p[3], Jp[18];
    ct_se3_act(ct__se3_load(x[0]), z + 1, p, J && J[0] ? Jp : NULL, NULL);
    r[0] = p[2] - z[0];
    if (J && J[0]) memcpy(J[0], Jp + 12, 6 * sizeof *Jp); /* the row of z */
}

/* u'r of a position with the lever arm l. */
static void curve_at(const double *pose, const double l[3], const double u[3], double K[36])
{
    double q[3];
    ct__so3_rotate(ct__so3_inverse(ct__se3_rotation(ct__se3_load(pose))), u, q);
    /* -[q]/2 */
    const double ql = ct__dot3(q, l),
                 half[9] = {0, q[2] / 2, -q[1] / 2, -q[2] / 2, 0, q[0] / 2, q[1] / 2, -q[0] / 2, 0};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            K[6 * i + j] = (q[i] * l[j] + l[i] * q[j]) / 2 - (i == j ? ql : 0);
            K[6 * i + 3 + j] = K[6 * (3 + j) + i] = half[3 * i + j];
            K[6 * (3 + i) + 3 + j] = 0;
        }
}

static void curve_se3(const double *z, const void *context, const double *const x[], const double *u, double *K)
{
    (void)context;
    curve_at(x[0], z + 3, u, K);
}

static void curve_height(const double *z, const void *context, const double *const x[], const double *u, double *K)
{
    (void)context;
    curve_at(x[0], z + 1, (const double[]){0, 0, u[0]}, K);
}

const ct_factor_ops ct_position_se2 = {
    .name = "position_se2",
    .rows = 2,
    .arity = 1,
    .kind = {CT_SE2},
    .fields = 2,
    .required = 1,
    .field = {CT_R2, CT_R2},
    .absolute = 1,
    .eval = eval_se2,
    .curvature = curve_se2,
    .coordinate = {"x", "y"},
    .unit = {"m", "m"},
};

const ct_factor_ops ct_position_se3 = {
    .name = "position_se3",
    .rows = 3,
    .arity = 1,
    .kind = {CT_SE3},
    .fields = 2,
    .required = 1,
    .field = {CT_R3, CT_R3},
    .absolute = 1,
    .eval = eval_se3,
    .curvature = curve_se3,
    .coordinate = {"x", "y", "z"},
    .unit = {"m", "m", "m"},
};

const ct_factor_ops ct_height_se3 = {
    .name = "height_se3",
    .rows = 1,
    .arity = 1,
    .kind = {CT_SE3},
    .fields = 2,
    .required = 1,
    .field = {CT_R1, CT_R3},
    .absolute = 1,
    .eval = eval_height,
    .curvature = curve_height,
    .coordinate = {"height"},
    .unit = {"m"},
};
