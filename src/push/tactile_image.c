/* tactile_image.c: the tactile image: a soft pad with a camera behind it, 8 x 12 pixels.
 *
 * A round pad of radius R that is tilted by a against a flat surface has its contact R a beside its centre. So the
 * position of the patch measures the tilt, and its change between two images the rotation of the finger relative to
 * the object. This is approximate because the outline is curved, and
 *
 *     u = G a + 0.8 a^3 + 0.1 shear + drift + glitch,       the patch is at R u, along the columns
 *
 * with a gain G that differs per push, skin that yields more towards the edge, a patch that is dragged along by
 * friction, a drift, and rare glitches (Student's t with 3 degrees of freedom). Depth and size of the patch follow
 * Hertz: depth ~ load^(2/3), radius ~ load^(1/3). Shear leaves a tail on one side.
 *
 * The constants are not measured. They were chosen on test pushes of seeds 11 to 16, such that a small network (8
 * hidden units) trained on four pushes has about the errors of the sensor in the paper's second study. Over seeds 1
 * to 40 and both objects: errors of 0.045 rad (0.035 to 0.069) for a signal of 0.10 rad, a mean of 0.012 rad per
 * sequence, an attenuation to 0.77, a kurtosis of 5, and correlation over neighbouring windows. */
#include <covtune/push.h>
#include "push/push.h"

#include <math.h>

#define PITCH     1.25e-3 /* m per column or row: the image covers 15 mm x 10 mm        */
#define WIDTH     2.0e-3  /* m: width of the patch along the columns at full load       */
#define HEIGHT    2.5e-3  /* m: along the rows; the object is higher than the pad       */
#define KEEP      0.9     /* per step, of slow processes: a time constant of 10 steps   */

/* A first-order Gauss-Markov process with this stationary deviation. */
static double wander(ct_rng *rng, double before, double deviation)
{
    return KEEP * before + sqrt(1 - KEEP * KEEP) * deviation * ct_rng_normal(rng);
}

/* Student's t with 3 degrees of freedom, scaled to variance 1. */
static double glitch(ct_rng *rng)
{
    double squares = 0;
    for (int i = 0; i < 3; i++) {
        const double n = ct_rng_normal(rng);
        squares += n * n;
    }
    return ct_rng_normal(rng) / sqrt(squares);
}

ct__push_pad ct__push_pad_draw(ct_rng rng)
{
    ct__push_pad pad = {.rng = rng};
    pad.gain = 1 + 0.12 * ct_rng_normal(&pad.rng);
    return pad;
}

void ct__push_render(ct__push_pad *pad, double tilt, double shear, double load, double image[CT_PUSH_PIXELS])
{
    ct_rng *rng = &pad->rng;
    pad->drift = wander(rng, pad->drift, 0.012);
    pad->height = wander(rng, pad->height, 0.3e-3);
    pad->brightness = wander(rng, pad->brightness, 0.05);
    pad->ground = wander(rng, pad->ground, 0.03);
    const double u = pad->gain * tilt + 0.8 * tilt * tilt * tilt + 0.1 * shear + pad->drift + 0.015 * glitch(rng);
    const double x = CT__PUSH_RADIUS * u, depth = (1 + pad->brightness) * pow(load, 2.0 / 3), size = cbrt(load);
    for (int row = 0; row < CT_PUSH_IMAGE_ROWS; row++) {
        for (int column = 0; column < CT_PUSH_IMAGE_COLUMNS; column++) {
            const double dx = (PITCH * (column - 0.5 * (CT_PUSH_IMAGE_COLUMNS - 1)) - x) / (WIDTH * size);
            const double dy = (PITCH * (row - 0.5 * (CT_PUSH_IMAGE_ROWS - 1)) - pad->height) / (HEIGHT * size);
            const double patch = exp(-0.5 * (dx * dx + dy * dy)) * (1 + 0.3 * tanh(shear * dx));
            image[row * CT_PUSH_IMAGE_COLUMNS + column] = pad->ground + depth * patch + 0.02 * ct_rng_normal(rng);
        }
    }
}
