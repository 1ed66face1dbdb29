/* first_points.c: one point along each coordinate, for a Jacobian of forward differences.
 *
 * A point that fails is tried on the other side, then nearer: a quarter of the step, a sixteenth, ... */
#include "tune/search.h"

#include <math.h>

#define SHORTER 4 /* sizes of the step: each a quarter of the one before, where runs fail */

ct_status ct__first_points(ct__tuner *t, const ct__tune_point *from, double step, ct__tune_point **point)
{
    const int32_t n = t->c.n;
    t->base = from;
    for (int32_t k = 0; k < n; k++) point[k] = NULL;
    for (int round = 0; round < 2 * SHORTER && !t->cancelled; round++) {
        const double h = step * pow(0.25, round / 2);
        ct__tune_point **fresh = point + n;
        int32_t count = 0;
        for (int32_t k = 0; k < n; k++) {
            if (ct__coordinates_held(&t->c, k) || k == t->put_off || (point[k] && ct__is_done(point[k]))) continue;
            if (count >= ct__points_left(t)) break;
            const int up = from->x[k] + h <= t->c.upper[k] || t->c.upper[k] - from->x[k] >= from->x[k] - t->c.lower[k];
            memcpy(t->c.work, from->x, (size_t)n * sizeof *from->x);
            t->c.work[k] += up == !(round % 2) ? h : -h;
            CT_TRY(ct__point_at(t, t->c.work, &point[k]));
            if (point[k] != from) fresh[count++] = point[k];
        }
        if (!count) break;
        CT_TRY(ct__evaluate(t, count, fresh, CT__TRAIN, t->repeats));
    }
    return CT_OK;
}
