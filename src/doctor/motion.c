/* motion.c: steps of odometry at which the body rests.
 *
 * A robot that waits measures noise about 0 there, whatever its units, axes and conventions are. Where it waits for
 * half of the time, robust sigmas are those of the noise at rest, and tell nothing about them: such steps are left out
 * of comparisons. A step is at rest if the true motion, with lengths and angles as one number, is less than REST of
 * what nine tenths of the steps are below. Rest is rest under any reading of the truth. */
#include "doctor/doctor.h"

#include <math.h>

#define REST 0.05
#define TURN 4.0 /* m^2 a rad^2 */

static double motion_of(const ct__exam *e, const ct__sensor *s, const ct__sample *q)
{
    double    r[CT_ROWS_MAX], h[CT_ROWS_MAX], sum = 0;
    ct__fault none;
    ct__fault_none(s, &none);
    if (!ct__sample_row(e, s, q, &none, r, NULL, h)) return -1;
    for (int i = 0; i < s->rows; i++) sum += (ct__row_turns(s, i) ? TURN : 1) * h[i] * h[i];
    return sqrt(sum);
}

ct_status ct__mark_rest(const ct__exam *e, ct__sensor *s, ct_err *err)
{
    if (!s->odometry || !s->samples) return CT_OK;
    double *motion = ct__zalloc(2 * (int64_t)s->samples, sizeof *motion), *sorted = motion + s->samples;
    int32_t n = 0, moves = 0;
    if (!motion) return ct__no_memory(err, "samples", s->samples);
    for (int32_t k = 0; k < s->samples; k++) {
        motion[k] = motion_of(e, s, &s->sample[k]);
        if (motion[k] >= 0) sorted[n++] = motion[k];
    }
    const int32_t at = CT_MAX(0, CT_MIN(n - 1, (int32_t)(0.9 * n)));
    if (n) ct__nth_smallest(n, sorted, at);
    const double least = REST * sorted[at];
    for (int32_t k = 0; k < s->samples; k++) moves += motion[k] > least;
    for (int32_t k = 0; k < s->samples; k++)
        s->sample[k].rest = moves >= CT__SAMPLES_LEAST && motion[k] >= 0 && motion[k] <= least;
    free(motion);
    return CT_OK;
}
