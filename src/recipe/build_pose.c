/* build_pose.c: poses of recorded sensors.
 *
 * Axes. A body (or sensor) may have camera axes, x right, y down, z ahead, or x ahead, y right, z down ("ned"). With
 * C the rotation from these to x ahead, y left, z up, and W that of the world's axes, a pose T of it is W T C^-1.
 * For a camera W = C: its world is the first camera's frame. For ned W takes north, east, down to east, north, up.
 *
 * Mount. If S is the pose of a sensor on the body, and the sensor moves by Exp(u), the body moves by S Exp(u) S^-1 =
 * Exp(Ad(S) u). */
#include "recipe/build.h"

#include <math.h>

#define ROOT_HALF 0.70710678118654752440

ct_se3 ct__planar(double x, double y, double yaw) { return (ct_se3){x, y, 0, 0, 0, sin(yaw / 2), cos(yaw / 2)}; }

double ct__yaw(ct_se3 a) { return atan2(2 * (a.qw * a.qz + a.qx * a.qy), 1 - 2 * (a.qy * a.qy + a.qz * a.qz)); }

ct_se3 ct__flatten(ct_se3 a)
{
    if (a.z == 0 && a.qx == 0 && a.qy == 0) return a;
    return ct__planar(a.x, a.y, ct__yaw(a));
}

ct_se2 ct__to_se2(ct_se3 a) { return ct_se2_make(a.x, a.y, ct__yaw(a)); }

ct_so3 ct__body_axes(ct__axes axes)
{
    if (axes == CT__AXES_CAMERA) return (ct_so3){-0.5, 0.5, -0.5, 0.5}; /* x = z_c, y = -x_c, z = -y_c */
    if (axes == CT__AXES_NED) return (ct_so3){1, 0, 0, 0};              /* half a turn about x         */
    return ct_so3_identity();
}

ct_so3 ct__world_axes(ct__axes axes)
{
    if (axes == CT__AXES_NED) return (ct_so3){ROOT_HALF, ROOT_HALF, 0, 0}; /* half a turn about x = y */
    return ct__body_axes(axes);
}

int ct__pose_of_numbers(ct_kind kind, const double value[], int count, ct_se3 *pose, int *in_space)
{
    *pose = ct_se3_identity();
    *in_space = 0;
    for (int i = 0; i < count; i++)
        if (!isfinite(value[i])) return 0;
    if (count == 7) {
        double x[CT_SIZE_MAX];
        if (!ct_kind_from_fields(CT_SE3, value, x)) return 0;
        *pose = (ct_se3){x[0], x[1], x[2], x[3], x[4], x[5], x[6]};
        *in_space = 1;
        return 1;
    }
    if (kind == CT_SE2 && count == 3)
        *pose = ct__planar(value[0], value[1], value[2]);
    else if (kind == CT_SE2 && count == 2)
        *pose = ct__planar(value[0], value[1], 0);
    else if (kind == CT_SE3 && count == 3)
        *pose = ct_se3_make(value, ct_so3_identity());
    else
        return 0;
    return 1;
}

void ct__correct_rows(const ct__corrected *c, int n, double v[])
{
    double old[6];
    memcpy(old, v, (size_t)n * sizeof *v);
    for (int i = 0; i < n; i++) {
        const int axis = c->axes[i];
        if (axis != 0 && abs(axis) <= n) v[i] = axis > 0 ? old[axis - 1] : -old[-axis - 1];
        v[i] = v[i] * c->scale[i] - c->bias[i];
    }
}

void ct__move_twist(ct_se3 mount, double twist[6])
{
    double Ad[36], old[6];
    ct_se3_adjoint(mount, Ad);
    memcpy(old, twist, sizeof old);
    for (int i = 0; i < 6; i++) {
        twist[i] = 0;
        for (int j = 0; j < 6; j++) twist[i] += Ad[6 * i + j] * old[j];
    }
}

ct_se3 ct__exp_part(const double twist[6], double dt_s)
{
    double v[6];
    for (int i = 0; i < 6; i++) v[i] = twist[i] * dt_s;
    return ct_se3_exp(v);
}

void ct__twist_rows(ct_kind kind, const double twist[6], double row[6])
{
    if (kind == CT_SE3) {
        memcpy(row, twist, 6 * sizeof *row);
        return;
    }
    const double planar[3] = {twist[3], twist[4], twist[2]};
    memcpy(row, planar, sizeof planar);
}

void ct__rows_twist(ct_kind kind, const double row[6], double twist[6])
{
    if (kind == CT_SE3) {
        memcpy(twist, row, 6 * sizeof *row);
        return;
    }
    const double spatial[6] = {0, 0, row[2], row[0], row[1], 0};
    memcpy(twist, spatial, sizeof spatial);
}
