/* tables_path.c: a path in continuous time.
 *
 * The position is a figure of eight with smaller waves on it,
 *     x = A sin u + sum_k a_k sin(w_k t + p_k),   y = B sin(2 u + d) + sum_k ...,   u = w t + p,
 * the course c = atan2(y', x'), and the heading c - s, with a slip s that is a sum of waves too. So pose and velocity
 * in the body's frame are smooth functions of t:
 *     vx = v cos s,   vy = v sin s,   omega = (x' y'' - y' x'') / v^2 - s',   v^2 = x'^2 + y'^2.
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

enum { STREAM_TABLES_PATH = 16 }; /* streams of nav.c come before */

static const double TWO_PI = 6.28318530717958647692;

ct__tables_path ct__tables_path_draw(uint64_t seed, uint64_t number)
{
    ct_rng          rng = ct__rng_stream(seed, number, STREAM_TABLES_PATH);
    ct__tables_path p;
    const double    rate = RATE * (1 + 0.2 * ct_rng_uniform(&rng)), phase = TWO_PI * ct_rng_uniform(&rng);
    p.axis[0][0] = (ct__wave){LENGTH, rate, phase};
    p.axis[1][0] = (ct__wave){DEPTH, 2 * rate, 2 * phase + 0.8 * (ct_rng_uniform(&rng) - 0.5)};
    for (int k = 0; k < CT__WAVES; k++) { /* periods of about 30, 13 and 6 s */
        for (int i = 0; i < 2; i++) {
            const double w = 0.2 * pow(2.2, k) * (1 + 0.3 * ct_rng_uniform(&rng));
            p.axis[i][k + 1] = (ct__wave){SMALL / CT__WAVES / w, w, TWO_PI * ct_rng_uniform(&rng)};
        }
        const double w = 0.25 * pow(2.2, k) * (1 + 0.3 * ct_rng_uniform(&rng));
        p.slip[k] = (ct__wave){SLIP / CT__WAVES, w, TWO_PI * ct_rng_uniform(&rng)};
    }
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

void ct__tables_path_at(const ct__tables_path *path, double t, double pose[3], double velocity[3])
{
    double x[3] = {0}, y[3] = {0}, slip[3] = {0};
    for (int k = 0; k <= CT__WAVES; k++) {
        add_wave(&path->axis[0][k], t, x);
        add_wave(&path->axis[1][k], t, y);
        if (k) add_wave(&path->slip[k - 1], t, slip);
    }
    const double speed = hypot(x[1], y[1]), yaw = atan2(y[1], x[1]) - slip[0];
    if (pose) pose[0] = x[0], pose[1] = y[0], pose[2] = atan2(sin(yaw), cos(yaw));
    if (!velocity) return;
    velocity[0] = speed * cos(slip[0]);
    velocity[1] = speed * sin(slip[0]);
    velocity[2] = (x[1] * y[2] - y[1] * x[2]) / (speed * speed) - slip[1];
}

void ct_tables_truth(const ct_tables_options *options, uint64_t number, double t, double pose[3], double velocity[3])
{
    const ct__tables_path path = ct__tables_path_draw(options->seed, number);
    ct__tables_path_at(&path, t, pose, velocity);
}
