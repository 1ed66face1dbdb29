/* nav_path.c: smooth random paths inside an area.
 *
 * In the plane a path consists of steps of v metres along circles of curvature c,
 *     x <- x o Exp(v, 0, v c),     |c| <= 1 / R,
 * so that the heading is along the path. Speed and curvature are white noise after two low-pass filters. Where the
 * point AHEAD leaves the inner area, the curvature is changed towards the side of the centre.
 *
 * That alone would sometimes leave the area. An invariant keeps the path inside: of the two circles of radius R that
 * touch the path at a pose, left and right, at least one lies in the area. A step that violates this is not taken;
 * the path then follows the circle that lies in the area, which does not move.
 *
 * In space the same path has the height z(s) = H/2 + sum_k A_k sin(s / L_k + p_k) over the planar distance s, pitch
 * = atan z' along it, roll in curves and small roll oscillations. */
#include "data/data.h"

#include <math.h>

#define WIDTH  100.0 /* m: x of the area */
#define DEPTH  50.0  /* m: y             */
#define HEIGHT 10.0  /* m: z, in space   */

#define RADIUS 5.0   /* m: of the tightest curve                                                  */
#define EDGE   0.5   /* m: distance of circles from the edge of the area, far more than rounding */
#define AHEAD  14.0  /* m: look-ahead distance                                                    */
#define MARGIN 7.0   /* m: margin of the inner area                                               */

#define SLOWEST 0.3  /* m per pose */
#define FASTEST 1.0
#define KEEP    0.9  /* of a low-pass filter: a time constant of 1 / (1 - KEEP) poses */
#define BEND    0.08 /* 1/m: typical curvature */
#define HURRY   0.3  /* share of the curvature error that is corrected per step */
#define LEAN    2.0  /* m: roll times radius of a curve: 0.4 rad in the tightest */

static const double TWO_PI = 6.28318530717958647692;

/* White noise after two low-pass filters; about unit variance. */
typedef struct {
    double first, second;
} smooth;

static double smooth_next(smooth *s, ct_rng *rng)
{
    /* The variance of first <- k first + e is 1 / (1 - k^2); of the second stage (1 + k^2) / (1 - k^2)^3. */
    const double k2 = KEEP * KEEP, scale = sqrt((1 - k2) * (1 - k2) * (1 - k2) / (1 + k2));
    s->first = KEEP * s->first + ct_rng_normal(rng);
    s->second = KEEP * s->second + s->first;
    return scale * s->second;
}

/* Maps the reals to (-1, 1). */
static double squash(double u) { return u / sqrt(1 + u * u); }

/* Distance of the circle left (side 1) or right (-1) of the pose from the edge of the area; negative: outside. */
static double room(ct_se2 x, int side)
{
    const double cx = x.x - side * RADIUS * x.s, cy = x.y + side * RADIUS * x.c;
    return CT_MIN(CT_MIN(cx, WIDTH - cx), CT_MIN(cy, DEPTH - cy)) - RADIUS - EDGE;
}

static int is_safe(ct_se2 x) { return room(x, 1) >= 0 || room(x, -1) >= 0; }

/* 0 if the point ahead is well inside, 1 if it is far outside. */
static double urgency(ct_se2 x)
{
    const double qx = x.x + AHEAD * x.c, qy = x.y + AHEAD * x.s;
    const double inside = CT_MIN(CT_MIN(qx, WIDTH - qx), CT_MIN(qy, DEPTH - qy));
    return CT_MIN(1, CT_MAX(0, (MARGIN - inside) / MARGIN));
}

static ct_se2 step(ct_se2 x, double v, double c)
{
    return ct_se2_normalize(ct_se2_compose(x, ct_se2_exp((const double[3]){v, 0, v * c}), NULL, NULL));
}

/* The curvature of the next step of v metres. */
static double steer(ct_se2 x, double v, double before, double wish)
{
    const double u = urgency(x);
    const double middle = x.c * (DEPTH / 2 - x.y) - x.s * (WIDTH / 2 - x.x); /* > 0: to the left */
    const double wanted = (1 - u) * wish + u * (middle > 0 ? 1 : -1) / RADIUS;
    const double c = CT_MAX(-1 / RADIUS, CT_MIN(1 / RADIUS, before + HURRY * (wanted - before)));
    if (is_safe(step(x, v, c))) return c;
    return (room(x, 1) > room(x, -1) ? 1 : -1) / RADIUS;
}

/* Two height waves, and roll oscillation. */
typedef struct {
    double amplitude[2], length[2], phase[3];
} hills;

static hills draw_hills(ct_rng *rng)
{
    hills h;
    for (int k = 0; k < 2; k++) {
        h.amplitude[k] = 0.1 * HEIGHT * (1 + ct_rng_uniform(rng)); /* their sum stays below HEIGHT / 2 */
        h.length[k] = 6 + 6 * ct_rng_uniform(rng);
    }
    for (int k = 0; k < 3; k++) h.phase[k] = TWO_PI * ct_rng_uniform(rng);
    return h;
}

/* The planar pose in space: R = Rz(yaw) Ry(-pitch) Rx(roll). */
static ct_se3 lift(const hills *h, ct_se2 x, double s, double lean)
{
    double z = HEIGHT / 2, slope = 0;
    for (int k = 0; k < 2; k++) {
        z += h->amplitude[k] * sin(s / h->length[k] + h->phase[k]);
        slope += h->amplitude[k] / h->length[k] * cos(s / h->length[k] + h->phase[k]);
    }
    const double roll = lean + 0.1 * sin(s / 4 + h->phase[2]);
    const ct_so3 heading = ct_so3_exp((const double[3]){0, 0, ct_se2_yaw(x)});
    const ct_so3 pitch = ct_so3_exp((const double[3]){0, -atan(slope), 0}),
                 bank = ct_so3_exp((const double[3]){roll, 0, 0});
    const ct_so3 q = ct_so3_compose(ct_so3_compose(heading, pitch, NULL, NULL), bank, NULL, NULL);
    return ct_se3_make((const double[3]){x.x, x.y, z}, ct_so3_normalize(q));
}

void ct__nav_path(ct_kind kind, int32_t poses, ct_rng *rng, double *truth)
{
    const double inset = 2 * RADIUS + EDGE; /* both circles are inside for any heading */
    const double x0 = inset + (WIDTH - 2 * inset) * ct_rng_uniform(rng),
                 y0 = inset + (DEPTH - 2 * inset) * ct_rng_uniform(rng);
    const hills  h = draw_hills(rng);
    ct_se2       x = ct_se2_make(x0, y0, TWO_PI * ct_rng_uniform(rng));
    smooth       speed = {0}, bend = {0};
    double       s = 0, c = 0, lean = 0;
    for (int32_t i = 0; i < poses; i++) {
        const ct_se3 lifted = lift(&h, x, s, lean);
        if (kind == CT_SE2) memcpy(truth + (int64_t)4 * i, &x, sizeof x);
        else memcpy(truth + (int64_t)7 * i, &lifted, sizeof lifted);
        const double v = (SLOWEST + FASTEST) / 2 + (FASTEST - SLOWEST) / 2 * squash(smooth_next(&speed, rng));
        c = steer(x, v, c, BEND * smooth_next(&bend, rng));
        lean += HURRY * (LEAN * c - lean);
        x = step(x, v, c);
        s += v;
    }
}
