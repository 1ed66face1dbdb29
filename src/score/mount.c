/* mount.c: which point of the body two trajectories are compared at.
 *
 * A trajectory tracks a sensor (an antenna, a marker, a camera) whose pose on the body is its mount M: the body is at
 * X M^-1. Where both trajectories have rotations, bodies are compared. Positions alone do not say where the body is:
 * there the other trajectory is moved to the point that they track. Poses are moved by X <- X A:
 *
 *     rotations of     A of the estimate     A of the truth     compared at
 *     both             M_e^-1                M_t^-1             the body
 *     the estimate     M_e^-1 M_t            1                  M_t
 *     the truth        1                     M_t^-1 M_e         M_e
 *     neither          1                     1                  both: the points must be one
 */
#include "score/score.h"

#include <math.h>

#define OFF  1e-2 /* of the length of a quaternion: a number that is not one */
#define SAME 1e-9 /* m */

static ct_se3 mount_of(const ct_trajectory *t) { return t->mounted ? t->mount : ct_se3_identity(); }

ct_status ct__mount_set(ct_trajectory *t, const ct_trajectory_options *o, ct_err *err)
{
    const double *m = o->mount;
    const int n = o->mounts, turned = n == 3 && t->planar;
    if (n == 0) return CT_OK;
    if (n != 2 && n != 3 && n != 7)
        return ct_fail(err, CT_E_ARGUMENT, "a mount has 2, 3 or 7 numbers (x, y; x, y, z, or x, y, yaw of poses in the "
                       "plane; x, y, z, qx, qy, qz, qw), here it has %d", n);
    if (o->geodetic)
        return ct_fail(err, CT_E_ARGUMENT,
                       "a mount is in the axes of a body, and rotations are not in those of the Earth, as geodetic "
                       "positions are");
    for (int i = 0; i < n; i++)
        if (!isfinite(m[i])) return ct_fail(err, CT_E_ARGUMENT, "number %d of the mount is not finite", i + 1);
    const double length = n < 7 ? 1 : sqrt(m[3] * m[3] + m[4] * m[4] + m[5] * m[5] + m[6] * m[6]);
    if (!(fabs(length - 1) <= OFF))
        return ct_fail(err, CT_E_ARGUMENT,
                       "the quaternion of the mount (its last four numbers) must have length 1, it has %.4g", length);
    const double p[3] = {m[0], m[1], n == 2 || turned ? 0 : m[2]};
    ct_so3 q = ct_so3_identity();
    if (turned) q = (ct_so3){0, 0, sin(m[2] / 2), cos(m[2] / 2)};
    if (n == 7) q = ct_so3_normalize((ct_so3){m[3], m[4], m[5], m[6]});
    t->mount = ct_se3_make(p, q);
    t->mounted = 1;
    return CT_OK;
}

static int is_moved(ct_se3 by) { return sqrt(by.x * by.x + by.y * by.y + by.z * by.z) > SAME; }

ct_status ct__mounts_meet(const ct_trajectory *estimate, const ct_trajectory *truth, ct__mounts *out, ct_err *err)
{
    const ct_se3 one = ct_se3_identity(), e = mount_of(estimate), t = mount_of(truth);
    const ct_se3 apart = ct_se3_between(e, t, NULL, NULL);
    *out = (ct__mounts){one, one, one, estimate->mounted || truth->mounted};
    if (!out->mounted) return CT_OK;
    if (estimate->rotations && truth->rotations) {
        out->by_estimate = ct_se3_inverse(e, NULL);
        out->by_truth = ct_se3_inverse(t, NULL);
    } else if (estimate->rotations) {
        out->by_estimate = apart;
        out->at = t;
    } else if (truth->rotations) {
        out->by_truth = ct_se3_inverse(apart, NULL);
        out->at = e;
    } else if (is_moved(apart))
        return ct_fail(err, CT_E_ARGUMENT,
                       "the mounts are %.4g m apart, and neither the estimate nor the truth has rotations: they are "
                       "needed to know in which direction", sqrt(apart.x * apart.x + apart.y * apart.y +
                                                                 apart.z * apart.z));
    else
        out->at = e;
    if (estimate->covariance && estimate->covariance_dim == (estimate->planar ? 2 : 3) && is_moved(out->by_estimate))
        return ct_fail(err, CT_E_ARGUMENT,
                       "the estimate is compared at another point than it tracks, and its covariances are of positions "
                       "alone: those of whole poses are needed there, or none");
    return CT_OK;
}

/* x Exp(d) A = x A Exp(Ad(A^-1) d), so that P becomes Ad P Ad'. In the plane: x, y, yaw of the mount. */
void ct__covariance_move(int n, ct_se3 by, double *P)
{
    double Ad[36], T[36];
    const ct_se3 back = ct_se3_inverse(by, NULL);
    if (n == 6)
        ct_se3_adjoint(back, Ad);
    else
        ct_se2_adjoint(ct_se2_make(back.x, back.y, 2 * atan2(back.qz, back.qw)), Ad);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            T[n * i + j] = 0;
            for (int k = 0; k < n; k++) T[n * i + j] += Ad[n * i + k] * P[n * k + j];
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            P[n * i + j] = 0;
            for (int k = 0; k < n; k++) P[n * i + j] += T[n * i + k] * Ad[n * j + k];
        }
}

ct_status ct_trajectory_meet(const ct_trajectory *estimate, const ct_trajectory *truth, ct_se3 *by_estimate,
                             ct_se3 *by_truth, ct_err *err)
{
    ct__mounts m;
    *by_estimate = *by_truth = ct_se3_identity();
    CT_TRY(ct__mounts_meet(estimate, truth, &m, err));
    *by_estimate = m.by_estimate;
    *by_truth = m.by_truth;
    return CT_OK;
}
