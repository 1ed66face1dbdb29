/* dfgn_average.c: the last points of a search, run several times, where runs differ.
 *
 * With noise the smallest loss is that of a lucky run, and steps from there fail for that alone: their radius says
 * little. So it begins anew. The minimum of the model and the base are run several times. What that tells refines the
 * model, so that its next minimum is a candidate, too. So do points on both sides of the base, as long as the model
 * promises more. */
#include "tune/dfgn.h"

#include <math.h>

#define LEAST_ROUNDS  3
#define LAST_ROUNDS   6     /* at most                                                       */
#define LAST_DECREASE 0.005 /* of the loss: a round whose model promises no more is the last */
#define LAST_RADIUS   1.0   /* after a gain                                                  */

/* More points around the base, one for each coordinate: up or down, at a distance at which its slope is above the
 * noise. Those that have no estimate are left out. */
static ct_status add_points(ct__dfgn *d, int up)
{
    ct__tuner *t = d->t;
    int64_t    count = 0;
    for (int32_t k = 0; k < d->n && count < ct__points_left(t); k++) {
        const double slope = fmax(1e-300, d->model.H[k * d->n + k]);
        const double h = CT_MIN(CT__FIRST_STEP, CT_MAX(CT__SECOND_STEP, CT__ABOVE_NOISE * sqrt(t->noise / slope)));
        if (ct__coordinates_held(&t->c, k)) continue;
        memcpy(d->x, d->base->x, (size_t)d->n * sizeof *d->x);
        const int room = up ? d->x[k] + h <= t->c.upper[k] : d->x[k] - h >= t->c.lower[k];
        d->x[k] += up == room ? h : -h;
        CT_TRY(ct__point_at(t, d->x, &d->first[count++]));
    }
    CT_TRY(ct__evaluate(t, count, d->first, CT__TRAIN, t->repeats));
    return CT_OK;
}

ct_status ct__dfgn_average(ct__dfgn *d)
{
    ct__tuner    *t = d->t;
    const int32_t repeats = ct__last_repeats(t);
    double predicted = INFINITY, size;
    d->radius = LAST_RADIUS;
    for (int round = 0; round < LAST_ROUNDS && t->noise > 0 && !t->cancelled; round++) {
        ct__tune_point *pair[2] = {d->base, NULL};
        if (round >= LEAST_ROUNDS && !(predicted > LAST_DECREASE * d->base->loss)) break;
        CT_TRY(ct__dfgn_minimise(d, &predicted, &size));
        if (round) CT_TRY(add_points(d, round % 2));
        if (t->cancelled) break;
        if (round) CT_TRY(ct__dfgn_minimise(d, &predicted, &size));
        for (int32_t i = 0; i < d->n; i++) d->x[i] = d->base->x[i] + d->s[i];
        CT_TRY(ct__point_at(t, d->x, &pair[1]));
        CT_TRY(ct__evaluate(t, 2, pair, CT__TRAIN, repeats));
        if (t->cancelled) break;
        const int gains = ct__is_done(pair[1]) && pair[1]->loss < d->base->loss;
        d->radius = gains ? LAST_RADIUS : 0.5 * size;
        if (gains) d->base = pair[1];
    }
    return CT_OK;
}
