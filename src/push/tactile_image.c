/* tactile_image.c: what the finger's pad sees of the contact: a soft pad with a camera behind it, 8 x 12 pixels.
 *
 * A round pad of radius R that is tilted by a against the surface is touched R a beside its middle. So the patch's
 * place tells the tilt, and the change between two images how much the finger turned on the object; not quite, as an
 * outline is round itself, and
 *
 *     u = G a + 0.8 a^3 + 0.1 shear + drift + glitch,       the patch is at R u, along the columns
 *
 * for a pad that is stretched: a gain G that differs from push to push, skin that gives further out, a patch dragged
 * along by friction, a drift, and now and then a glitch (of Student's t with 3 degrees of freedom). As far as the
 * load goes, indentation and size of the patch follow Hertz: depth ~ load^(2/3), radius ~ load^(1/3). Shear leaves a
 * tail on one side.
 *
 * These constants are not measured. They were chosen, by looking at test pushes of seeds 11 to 16, so that a small
 * network (8 hidden units) trained on four pushes makes of two images about what the sensor of the paper's second
 * study does. Over seeds 1 to 40 and both objects: errors of 0.045 rad (0.035 to 0.069) where the signal is 0.10
 * rad, a run's mean off by 0.012 rad, attenuated to 0.77, of kurtosis 5, and alike over neighbouring windows. */
#include <covtune/push.h>
#include "push/push.h"

#include <math.h>

#define PITCH     1.25e-3 /* m a column or row: the pad is seen over 15 mm x 10 mm      */
#define WIDTH     2.0e-3  /* m: deviation of the patch along the columns at full load   */
#define HEIGHT    2.5e-3  /* m: along the rows, the object being higher than the pad    */
#define KEEP      0.9     /* of wanderings, from step to step: they forget in 10 steps  */

/* A wandering with a stationary deviation. */
static double wander(ct_rng *rng, double before, double deviation)
{
    return KEEP * before + sqrt(1 - KEEP * KEEP) * deviation * ct_rng_normal(rng);
}

/* Student's t with 3 degrees of freedom, made to have variance 1. */
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
