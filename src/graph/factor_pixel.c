/* factor_pixel.c: pixel_*, stereo_*, the image of a point in one camera or two.
 *
 *     m = (x o s)^-1 p,    r = (fu X(m) + cu - u, fv Y(m) + cv - v),    (X, Y) = (m0, m1) / m2
 *
 * s: the camera's pose in the body frame; its axes are x right, y down, z ahead. Lenses without distortion. The right
 * camera sees m - (baseline, 0, 0).
 *
 * The projection has a pole at m2 = 0, and is a wrong image behind it: there a step of a solver would come to rest with
 * points behind the camera. With f = |(m0, m1)| and a = atan2(f, m2) the image radius is tan a. Beyond tan a = T it
 * goes on at the slope that it has there:
 *
 *     (X, Y) = psi(a) (m0, m1)/f,    psi = tan a  up to atan T,    psi = T + (1 + T^2) (a - atan T)  beyond
 *
 * psi is continuous with its derivative and grows all the way to a = pi, so that descent leads to the front. T = 10 is
 * ten focal lengths from the centre: no image without distortion is that wide.
 *
 * Exactly behind (f = 0, m2 < 0) the image may be in any direction: along x is given, with derivative 0 across it. At
 * the camera (m = 0) there is no image: residual and derivatives are 0, without information, as for bearings.
 */
#include "graph/sight_model_inline.h"

#include <float.h>

#define T_MAX 10.0
#define SLOPE (1 + T_MAX * T_MAX)

/* psi(a) - SLOPE a beyond T. */
static double intercept(void) { return T_MAX - SLOPE * atan(T_MAX); }

static int is_ahead(const double m[3])
{
    return m[2] > 0 && m[0] * m[0] + m[1] * m[1] <= T_MAX * T_MAX * m[2] * m[2];
}

/* P = (X, Y) and, where G is not NULL, its derivative (2 x 3). 0 at the camera. */
static int project(const double m[3], double P[2], double *G)
{
    const double f2 = m[0] * m[0] + m[1] * m[1], N = f2 + m[2] * m[2];
    if (!(N >= DBL_MIN)) return 0;
    if (is_ahead(m)) {
        const double k = 1 / m[2];
        P[0] = k * m[0], P[1] = k * m[1];
        if (!G) return 1;
        G[0] = G[4] = k, G[1] = G[3] = 0, G[2] = -k * P[0], G[5] = -k * P[1];
        return 1;
    }
    const double f = sqrt(f2), e[2] = {f > 0 ? m[0] / f : 1, f > 0 ? m[1] / f : 0};
    const double psi = intercept() + SLOPE * atan2(f, m[2]);
    P[0] = psi * e[0], P[1] = psi * e[1];
    if (!G) return 1;
    const double across = f > 0 ? psi / f : 0, along = SLOPE * m[2] / N, down = -SLOPE * f / N;
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) G[3 * i + j] = (along - across) * e[i] * e[j] + (i == j ? across : 0);
        G[3 * i + 2] = down * e[i];
    }
    return 1;
}

/* B = sum w_i d2P_i/dm2. */
static void project_bend(const double m[3], const double w[2], double B[9])
{
    const double f2 = m[0] * m[0] + m[1] * m[1], N = f2 + m[2] * m[2];
    memset(B, 0, 9 * sizeof *B);
    if (!(N >= DBL_MIN)) return;
    if (is_ahead(m)) {
        const double k = 1 / m[2];
        for (int i = 0; i < 2; i++) B[3 * i + 2] = B[6 + i] = -k * k * w[i];
        B[8] = 2 * k * k * k * (w[0] * m[0] + w[1] * m[1]);
        return;
    }
    if (!(f2 >= DBL_EPSILON * DBL_EPSILON * N)) return; /* exactly behind */
    const double f = sqrt(f2), psi = intercept() + SLOPE * atan2(f, m[2]);
    ct__radial_bend(SLOPE, (SLOPE * m[2] / N - psi / f) / f2, m, w, B);
}

/* The point in the axes of a camera that is `shift` along x from the first; R = Rs'. */
static void to_camera(const double R[9], const double *d, double shift, double m[3])
{
    for (int i = 0; i < 3; i++) m[i] = ct__dot3(R + 3 * i, d);
    m[0] -= shift;
}

/* Two rows of a camera: seen (u, v), lens (fu, fv, cu, cv). */
static void camera(const double *seen, const double *lens, const double R[9], const double m[3], double *r, double *G)
{
    double    P[2], D[6];
    const int image = project(m, P, G ? D : NULL);
    for (int i = 0; i < 2; i++) r[i] = image ? lens[i] * P[i] + lens[2 + i] - seen[i] : 0;
    for (int i = 0; G && i < 2; i++)
        for (int j = 0; j < 3; j++)
            G[3 * i + j] = image ? lens[i] * (D[3 * i] * R[j] + D[3 * i + 1] * R[3 + j] + D[3 * i + 2] * R[6 + j]) : 0;
}

static void camera_bend(const double *lens, const double R[9], const double m[3], const double *u, double *H)
{
    const double w[2] = {u[0] * lens[0], u[1] * lens[1]};
    double       B[9];
    project_bend(m, w, B);
    ct__sight_turn_bend(R, B, H);
}

/* z = u v, fu fv, cu cv. */
CT__KERNEL void pixel(const double *z, const double *sensor, const double *d, double *r, double *G)
{
    double R[9], m[3];
    ct__so3_matrix(ct__so3_inverse(ct__so3_load(sensor + 3)), R);
    to_camera(R, d, 0, m);
    camera(z, z + 2, R, m, r, G);
}

static void pixel_bend(const double *z, const double *sensor, const double *d, const double *u, double *H)
{
    double R[9], m[3];
    ct__so3_matrix(ct__so3_inverse(ct__so3_load(sensor + 3)), R);
    to_camera(R, d, 0, m);
    camera_bend(z + 2, R, m, u, H);
}

/* z = u v left, u v right, fu fv, cu cv, baseline. */
CT__KERNEL void stereo(const double *z, const double *sensor, const double *d, double *r, double *G)
{
    double R[9], m[3];
    ct__so3_matrix(ct__so3_inverse(ct__so3_load(sensor + 3)), R);
    for (int k = 0; k < 2; k++) {
        to_camera(R, d, k * z[8], m);
        camera(z + 2 * k, z + 4, R, m, r + 2 * k, G ? G + 6 * k : NULL);
    }
}

static void stereo_bend(const double *z, const double *sensor, const double *d, const double *u, double *H)
{
    double R[9], m[3];
    ct__so3_matrix(ct__so3_inverse(ct__so3_load(sensor + 3)), R);
    for (int k = 0; k < 2; k++) {
        to_camera(R, d, k * z[8], m);
        camera_bend(z + 4, R, m, u + 2 * k, H);
    }
}

CT__SIGHT_TO_POINTS(pixel, pixel_bend, 2, 6, 3)
CT__SIGHT_TO_POINTS(stereo, stereo_bend, 4, 9, 3)

static const char *refuse_lens(const double *lens)
{
    return lens[0] > 0 && lens[1] > 0 ? NULL : "focal lengths must be positive";
}

static const char *refuse_pixel(const double *z) { return refuse_lens(z + 2); }

static const char *refuse_stereo(const double *z)
{
    return refuse_lens(z + 4) ? refuse_lens(z + 4) : z[8] > 0 ? NULL : "baseline must be positive";
}

const ct_factor_ops ct_pixel_se3_r3 = {
    .name = "pixel_se3_r3",
    .rows = 2,
    .arity = 2,
    .kind = {CT_SE3, CT_R3},
    .fields = 4,
    .required = 3,
    .field = {CT_R2, CT_R2, CT_R2, CT_SE3},
    .eval = pixel_variable,
    .curvature = pixel_variable_curve,
    .refuse = refuse_pixel,
    .coordinate = {"u", "v"},
    .unit = {"px", "px"},
};

const ct_factor_ops ct_pixel_se3_point = {
    .name = "pixel_se3_point",
    .rows = 2,
    .arity = 1,
    .kind = {CT_SE3},
    .fields = 5,
    .required = 4,
    .field = {CT_R2, CT_R2, CT_R2, CT_R3, CT_SE3},
    .absolute = 1,
    .eval = pixel_known,
    .curvature = pixel_known_curve,
    .refuse = refuse_pixel,
    .coordinate = {"u", "v"},
    .unit = {"px", "px"},
};

const ct_factor_ops ct_stereo_se3_r3 = {
    .name = "stereo_se3_r3",
    .rows = 4,
    .arity = 2,
    .kind = {CT_SE3, CT_R3},
    .fields = 6,
    .required = 5,
    .field = {CT_R2, CT_R2, CT_R2, CT_R2, CT_R1, CT_SE3},
    .eval = stereo_variable,
    .curvature = stereo_variable_curve,
    .refuse = refuse_stereo,
    .coordinate = {"u_left", "v_left", "u_right", "v_right"},
    .unit = {"px", "px", "px", "px"},
};

const ct_factor_ops ct_stereo_se3_point = {
    .name = "stereo_se3_point",
    .rows = 4,
    .arity = 1,
    .kind = {CT_SE3},
    .fields = 7,
    .required = 6,
    .field = {CT_R2, CT_R2, CT_R2, CT_R2, CT_R1, CT_R3, CT_SE3},
    .absolute = 1,
    .eval = stereo_known,
    .curvature = stereo_known_curve,
    .refuse = refuse_stereo,
    .coordinate = {"u_left", "v_left", "u_right", "v_right"},
    .unit = {"px", "px", "px", "px"},
};
