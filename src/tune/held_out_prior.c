/* held_out_prior.c: the answer of all logs under a prior towards the start. */
#include "tune/held_out.h"

#include <math.h>

#define STEPS   6    /* from the model's answer to the minimum under a prior, at most                */
#define LITTLE  0.01 /* of the loss: a step that promises less is not run                            */
#define SHORTER 0.25 /* the radius after the first step without gain; the second is the last        */

/* *answer <- the minimum of the loss and the prior's part, by steps of Gauss-Newton from the best point by both. */
ct_status ct__prior_minimum(ct__held_out *h, double prior, ct__tune_point **answer)
{
    ct__tuner    *t = h->t;
    const int32_t n = t->c.n;
    const double  weight = prior * h->best->loss;
    double        radius = CT__HELD_RADIUS, least;
    int           bad = 0;
    for (int round = 0; round < STEPS && bad < 2 && !t->cancelled; round++) {
        ct__tune_point *at = ct__best_of_fold(h, prior, -1, &least), *p;
        CT_TRY(ct__model_fit(&h->model, t, at));
        memcpy(h->H, h->model.H, (size_t)(n * n) * sizeof *h->H);
        for (int32_t i = 0; i < n; i++) {
            h->H[i * n + i] += weight + 1e-300;
            h->g[i] = h->model.g[i] + weight * at->x[i];
        }
        const double decrease = ct__bounded_quadratic(&t->c, h->H, h->g, at->x, radius, h->s, h->work);
        if (!(decrease > LITTLE * least)) break;
        for (int32_t i = 0; i < n; i++) t->c.work[i] = at->x[i] + h->s[i];
        CT_TRY(ct__point_at(t, t->c.work, &p));
        CT_TRY(ct__evaluate(t, 1, &p, CT__TRAIN, t->repeats));
        if (ct__fold_loss(h, p, -1, prior) < least) continue;
        radius = SHORTER * CT__HELD_RADIUS;
        bad++;
    }
    *answer = ct__best_of_fold(h, prior, -1, &least);
    return CT_OK;
}

/* The answer under a prior may be far from the minimum, where the model does not hold. It is run, where the program has
 * noise as often as the minimum. Where it has more loss than the model allows, or than folds had on logs that they were
 * not learned from, half of the way is tried. Of all points the one with the least loss, the prior's part included, is
 * taken: the rule of folds. */
ct_status ct__prior_answer(ct__held_out *h, int chosen, ct__tune_point **answer)
{
    ct__tuner    *t = h->t;
    const int32_t n = t->c.n, repeats = ct__last_repeats(t);
    const double  prior = h->prior[chosen], unseen = t->result->candidate[chosen].heldout;
    const double  noise = t->noise_loss / sqrt(repeats);
    ct__fold_answer(h, -1, prior, t->c.work);
    memcpy(h->work, t->c.work, (size_t)n * sizeof *h->work);
    for (int tries = 0; tries < 2 && !t->cancelled; tries++) {
        double allowed = 0;
        for (int32_t i = 0; i < n; i++) {
            h->s[i] = (tries ? 0.5 : 1) * (h->work[i] - h->best->x[i]);
            t->c.work[i] = h->best->x[i] + h->s[i];
        }
        for (int32_t i = 0; i < n; i++)
            for (int32_t k = 0; k < n; k++) allowed += 0.5 * h->s[i] * h->model.H[i * n + k] * h->s[k];
        CT_TRY(ct__point_at(t, t->c.work, answer));
        CT_TRY(ct__evaluate(t, 1, answer, CT__TRAIN, repeats));
        if (!isnan(t->options.prior) && ct__is_done(*answer)) { /* as the user wants it */
            if (t->noise > 0) return CT_OK;
            break;
        }
        const double most = fmin(unseen, h->best->loss * (1 + CT__HELD_WORSE) + 2 * allowed) + 2 * noise;
        if (!((*answer)->loss <= most)) continue;
        if (t->noise > 0) return CT_OK; /* the least of all is that of a lucky run */
    }
    if (!(t->noise > 0)) return ct__prior_minimum(h, prior, answer);
    *answer = h->strong ? t->start : h->best; /* the minimum was vetoed */
    return CT_OK;
}
