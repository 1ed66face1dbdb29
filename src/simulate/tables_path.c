/* tables_path.c: a path in continuous time.
 *
 * The position is a figure of eight with smaller waves on it,
 *     x = A sin u + sum_k a_k sin(w_k t + p_k),   y = B sin(2 u + d) + sum_k ...,   u = w t + p,
 * the course c = atan2(y', x'), and the heading c - s, with a slip s that is a sum of waves too. So pose and velocity
 * in the body's frame are smooth functions of t:
 *     vx = v cos s,   vy = v sin s,   omega = (x' y'' - y' x'') / v^2 - s',   v^2 = x'^2 + y'^2.
 * In space height, roll a and pitch b are waves, and R = Rz(yaw) Ry(b) Rx(a). The velocity is R' (x', y', z'), and with
 * the rates of the three angles
 *     w = (a' - yaw' sin b,  b' cos a + yaw' cos b sin a,  -b' sin a + yaw' cos b cos a).
 *
 * The course is smooth where v > 0. With |d| <= 0.4 the figure alone has v > 0.95 m/s (0.06 rad/s, 30 m, 12 m), and the
 * waves on an axis have at most SMALL = 0.3 m/s together, so that v > 0.5 m/s. */
#include "simulate/tables.h"
#include "base/base.h"

#include <math.h>

#define LENGTH 30.0 /* m: A                                               */
#define DEPTH  12.0 /* m: B                                               */
#define RATE   0.06 /* rad/s: w, of a figure in 105 s; up to a fifth more */
#define SMALL  0.3  /* m/s: speed of the small waves of an axis, together */
#define SLIP   0.3  /* rad: of the waves of the slip, together            */

#define CLIMB  1.0  /* m: of the waves of the height, together            */
#define SWAY   0.3  /* rad: of the waves of roll, and of pitch            */

enum { STREAM_TABLES_PATH = 16, STREAM_TABLES_SPACE = 32 }; /* streams of nav.c and tables.c are others */

static const double TWO_PI = 6.28318530717958647692;

/* Three waves with periods of about 30, 13 and 6 s, of `together` in all. */
static void draw_waves(ct_rng *rng, double together, ct__wave wave[CT__WAVES])
{
    for (int k = 0; k < CT__WAVES; k++) {
        const double w = 0.2 * pow(2.2, k) * (1 + 0.3 * ct_rng_uniform(rng));
        wave[k] = (ct__wave){together / CT__WAVES, w, TWO_PI * ct_rng_uniform(rng)};
    }
}

ct__tables_path ct__tables_path_draw(ct_kind kind, uint64_t seed, uint64_t number)
{
    ct_rng          rng = ct__rng_stream(seed, number, STREAM_TABLES_PATH);
    ct_rng          space = ct__rng_stream(seed, number, STREAM_TABLES_SPACE);
    ct__tables_path p = {.kind = kind};
    const double    rate = RATE * (1 + 0.2 * ct_rng_uniform(&rng)), phase = TWO_PI * ct_rng_uniform(&rng);
    p.axis[0][0] = (ct__wave){LENGTH, rate, phase};
    p.axis[1][0] = (ct__wave){DEPTH, 2 * rate, 2 * phase + 0.8 * (ct_rng_uniform(&rng) - 0.5)};
    for (int i = 0; i < 2; i++) {
        draw_waves(&rng, SMALL, p.axis[i] + 1);
        for (int k = 1; k <= CT__WAVES; k++) p.axis[i][k].amplitude /= p.axis[i][k].rate; /* SMALL is a speed */
    }
    draw_waves(&rng, SLIP, p.slip);
    draw_waves(&space, CLIMB, p.height);
    draw_waves(&space, SWAY, p.roll);
    draw_waves(&space, SWAY, p.pitch);
    return p;
}

/* d[n] += n-th derivative of the wave at t, n = 0, 1, 2. */
static void add_wave(const ct__wave *w, double t, double d[3])
{
    const double s = sin(w->rate * t + w->phase), c = cos(w->rate * t + w->phase);
    d[0] += w->amplitude * s;
    d[1] += w->amplitude * w->rate * c;
    d[2] -= w->amplitude * w->rate * w->rate * s;
}

/* The planar pose (x y yaw, yaw rate `omega`) in space. */
static void lift(const ct__tables_path *path, double t, const double x[2], const double v[2], double yaw, double omega,
                 double pose[CT_SIZE_MAX], double velocity[CT_DIM_MAX])
{
    double z[3] = {0}, a[3] = {0}, b[3] = {0};
    for (int k = 0; k < CT__WAVES; k++) {
        add_wave(&path->height[k], t, z);
        add_wave(&path->roll[k], t, a);
        add_wave(&path->pitch[k], t, b);
    }
    const ct_so3 Rz = ct_so3_exp((const double[3]){0, 0, yaw}), Ry = ct_so3_exp((const double[3]){0, b[0], 0}),
                 Rx = ct_so3_exp((const double[3]){a[0], 0, 0});
    const ct_so3 R = ct_so3_normalize(ct_so3_compose(ct_so3_compose(Rz, Ry, NULL, NULL), Rx, NULL, NULL));
    const ct_se3 element = ct_se3_make((const double[3]){x[0], x[1], z[0]}, R);
    if (pose) ct_kind_to_fields(CT_SE3, (const double *)&element, pose);
    if (!velocity) return;
    velocity[0] = a[1] - omega * sin(b[0]);
    velocity[1] = b[1] * cos(a[0]) + omega * cos(b[0]) * sin(a[0]);
    velocity[2] = -b[1] * sin(a[0]) + omega * cos(b[0]) * cos(a[0]);
    ct_so3_act(ct_so3_inverse(R, NULL), (const double[3]){v[0], v[1], z[1]}, velocity + 3, NULL, NULL);
}

void ct__tables_path_at(const ct__tables_path *path, double t, double pose[CT_SIZE_MAX], double velocity[CT_DIM_MAX])
{
    double x[3] = {0}, y[3] = {0}, slip[3] = {0};
    for (int k = 0; k <= CT__WAVES; k++) {
        add_wave(&path->axis[0][k], t, x);
        add_wave(&path->axis[1][k], t, y);
        if (k) add_wave(&path->slip[k - 1], t, slip);
    }
    const double speed = hypot(x[1], y[1]), yaw = atan2(y[1], x[1]) - slip[0];
    const double omega = (x[1] * y[2] - y[1] * x[2]) / (speed * speed) - slip[1];
    if (path->kind == CT_SE3) {
        lift(path, t, (const double[2]){x[0], y[0]}, (const double[2]){x[1], y[1]}, yaw, omega, pose, velocity);
        return;
    }
    if (pose) pose[0] = x[0], pose[1] = y[0], pose[2] = atan2(sin(yaw), cos(yaw));
    if (velocity) velocity[0] = speed * cos(slip[0]), velocity[1] = speed * sin(slip[0]), velocity[2] = omega;
}

void ct_tables_truth(const ct_tables_options *options, uint64_t number, double t, double pose[CT_SIZE_MAX],
                     double velocity[CT_DIM_MAX])
{
    const ct__tables_path path = ct__tables_path_draw(options->kind, options->seed, number);
    ct__tables_path_at(&path, t, pose, velocity);
}
