/* dfgn_pilot.c: the search begins on one of several training logs (pilot_logs.c), and with one point less.
 *
 * Most estimates follow from ratios of variances, so that the model takes a common factor to change nothing. That point
 * is added after the first step, or when that does not gain. The first step that gains is run on all logs: if they lose
 * by it, the log does not stand for them. When the logs that are used promise no more, others are added, at the best
 * point by all of them: perturbed runs are of the added logs alone, at last of all of them.
 *
 * Where residuals jump the search ends anywhere. On the first log another one costs little: it begins at the best of
 * points of the whole bounds. Every end is run on all logs, and the best by all of them counts: ends that are far apart
 * differ by less on one log than its sampling error. */
#include "tune/dfgn.h"

#include <math.h>

#define PILOT_ENDS   0.02 /* of the loss: a decrease on one log that is less is within its sampling error  */
#define CONFIRMED    0.05 /* of the loss: while the first log promises more than that, no other log is run */
#define UNCONFIRMED  3    /* steps that gain on the first log, at most, before all logs are run            */
#define LEAST_VARIANCES 3 /* with fewer, a common factor may well be all that there is to learn            */
#define JUMPS        3    /* of steps; then a search on the first log begins again                         */
#define RESTARTS     3    /* of these searches                                                             */

/* Most estimates follow from ratios of variances: a common factor on all of them changes nothing. So the last of three
 * or more is not moved before the first step: its slope is the one that makes this true. */
int32_t ct__dfgn_put_off(const ct__tuner *t)
{
    int32_t variances = 0, last = -1;
    for (int32_t k = 0; k < t->c.n; k++)
        if (t->problem->parameter[t->c.parameter[k]].quantity != CT_QUANTITY_NUMBER) variances++, last = k;
    return variances < LEAST_VARIANCES ? -1 : last;
}

/* What was put off until after the first step: is there noise, and which parameters have no effect? */
static ct_status examine(ct__dfgn *d)
{
    ct__tuner *t = d->t;
    CT_TRY(ct__dfgn_complete_first(d));
    if (t->cancelled) return CT_OK;
    if (!t->noise_known) CT_TRY(ct__find_noise(t, d->base));
    t->phase = "search";
    return t->cancelled ? CT_OK : ct__find_effects(t, d->from, d->first);
}

/* The base on all logs. *gains 0: it is not the best by all of them. */
static ct_status confirm(ct__dfgn *d, int *gains)
{
    const ct__tune_point *before = d->t->best;
    CT_TRY(ct__evaluate(d->t, 1, &d->base, CT__TRAIN_ALL, d->t->repeats));
    *gains = d->t->best != before || d->t->best == d->base;
    return CT_OK;
}

/* Among jumps: another search on the first log, from the best of some points of the whole bounds. */
static ct_status restart_pilot(ct__dfgn *d, int *ends)
{
    ct__tuner      *t = d->t;
    ct__tune_point *best = NULL;
    if (!t->effects_known) CT_TRY(examine(d));
    if (t->cancelled || t->used_to > d->used) return CT_OK;
    CT_TRY(ct__coarse_points(t, &d->rng, d->base, &best));
    if (!best || t->cancelled) return CT_OK;
    CT_TRY(ct__evaluate(t, 1, &d->base, CT__TRAIN_ALL, t->repeats));
    if (t->cancelled) return CT_OK;
    *ends = 0;
    d->base = best;
    d->radius = CT__FIRST_RADIUS;
    d->restarts++;
    d->jumps = 0;
    CT_TRY(ct__dfgn_refresh(d, CT__FIRST_STEP));
    d->fresh = INFINITY;
    return CT_OK;
}

/* The first log promises no more. A plateau is left, or a search among jumps begins again: cheaper here than on all
 * logs. *ends 0: the search goes on. */
static ct_status continue_pilot(ct__dfgn *d, int *ends)
{
    const ct__tune_point *before = d->base;
    ct__tuner *t = d->t;
    if (!t->options.global || d->used > ct__first_logs(t)) return CT_OK;
    if (!(d->base->loss >= CT__REFRESHED * d->probed)) {
        if (!t->effects_known) CT_TRY(examine(d)); /* it needs the first points, which change below */
        if (t->cancelled || t->used_to > d->used) return CT_OK;
        CT_TRY(ct__dfgn_probe_flat(d));
        if (t->cancelled) return CT_OK;
        if (d->base != before) {
            *ends = 0;
            return ct__dfgn_refresh(d, CT__FIRST_STEP);
        }
    }
    return d->jumps >= JUMPS && d->restarts < RESTARTS ? restart_pilot(d, ends) : CT_OK;
}

/* The first steps that gain are run on all logs as soon as the first log promises little more. *gains 0: these lose. */
static ct_status confirm_first(ct__dfgn *d, int *gains)
{
    double predicted;
    CT_TRY(ct__dfgn_minimise(d, &predicted, NULL));
    if (predicted > CONFIRMED * d->base->loss && ++d->unconfirmed < UNCONFIRMED) return CT_OK;
    d->confirmed = 1;
    return confirm(d, gains);
}

/* One step, or points far away. *ends 1: the logs that are used promise no more; 2: they do not stand for others. */
static ct_status advance_pilot(ct__dfgn *d, int *ends)
{
    const ct__tune_point *before = d->base;
    ct__tuner *t = d->t;
    double predicted, size;
    int    gains = 1;
    CT_TRY(ct__renew_noise(t, d->base));
    if (t->cancelled) return CT_OK;
    if (ct__dfgn_is_far(d)) return ct__dfgn_search_bounds(d);
    CT_TRY(ct__dfgn_minimise(d, &predicted, &size));
    *ends = predicted <= fmax(PILOT_ENDS / d->used * d->base->loss, CT__NOISE * t->noise_loss) ||
            size <= t->options.step || d->bad > CT__MOST_BAD;
    if (*ends) return continue_pilot(d, ends);
    CT_TRY(ct__dfgn_step(d, predicted, size));
    if (d->bad) CT_TRY(ct__dfgn_complete_first(d));
    if (!d->confirmed && d->base != before && !t->cancelled) {
        CT_TRY(confirm_first(d, &gains));
        if (!d->confirmed) return CT_OK;
    }
    if (!t->cancelled && !t->effects_known) CT_TRY(examine(d));
    if (!gains || t->used_to > d->used) *ends = 2;
    return CT_OK;
}

/* More logs, and their Jacobians at the best point by all logs. */
static ct_status add_logs(ct__dfgn *d, int all)
{
    ct__tuner    *t = d->t;
    const int32_t to = all ? t->trains : ct__more_logs(t, d->used);
    int gains;
    CT_TRY(confirm(d, &gains));
    if (t->cancelled) return CT_OK;
    d->base = t->best;
    ct__use_logs(t, to < t->trains ? d->used : 0, to); /* error bars and held-out logs need slopes near the minimum */
    CT_TRY(ct__first_points(t, d->base, gains ? ct__dfgn_second_step(d) : CT__FIRST_STEP, d->first));
    ct__use_logs(t, 0, d->used = to);
    CT_TRY(ct__extend_noise(t, d->base));
    d->radius = gains ? 1 : CT__FIRST_RADIUS;
    d->fresh = gains ? d->base->loss : INFINITY;
    d->fresh_at = d->base;
    d->probed = INFINITY;
    d->bad = d->small = 0;
    return CT_OK;
}

ct_status ct__dfgn_pilot(ct__dfgn *d)
{
    while (d->used < d->t->trains && d->stop == CT_TUNE_STOP_NONE) {
        int ends = 0;
        while (d->stop == CT_TUNE_STOP_NONE && !ends) {
            CT_TRY(advance_pilot(d, &ends));
            ct__dfgn_note_stop(d);
        }
        if (!d->t->cancelled && !d->t->effects_known) CT_TRY(examine(d));
        if (!d->t->cancelled) CT_TRY(add_logs(d, ends != 1));
        ct__dfgn_note_stop(d);
    }
    return CT_OK;
}
