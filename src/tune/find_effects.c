/* find_effects.c: which parameters have an effect.
 *
 * A coordinate whose first point has the residuals of the start is silent: it is moved further, and if nothing changes
 * it keeps its value, so that points are not spent on it. That is known at the start values alone: a gate rejects
 * nothing while variances are far too large. So at the end of a search silent coordinates are moved again, from its
 * answer; those that have an effect there are free from then on, and the search goes on. */
#include "tune/search.h"

#include <math.h>

#define FARTHER  7.0   /* the change in log variance that must have an effect: a thousand times          */
#define BEYOND   1.1   /* of the expected square of the difference of two runs: changes below are noise  */
#define MOVES    4     /* points that silent coordinates are moved to                                    */

/* Standard deviations that chance exceeds once in 370 times (both sides), where they are estimated from df squares:
 * Student's t, of which three is the limit. One or two squares tell nothing: they may be zero nearly. */
static double beyond_chance(int32_t df)
{
    static const double T[] = {INFINITY, INFINITY, 9.22, 6.62, 5.51, 4.90, 4.53, 4.28, 4.09, 3.96};
    return df < 1 ? INFINITY : (size_t)df <= sizeof T / sizeof *T ? T[df - 1] : 3 + 9.5 / df;
}

/* The noise of runs may be of many independent entries, or one factor on all of them. So whether residuals of two
 * points differ by more than noise is seen from the spread of their energy, in units of the noise's, over blocks:
 *     z = log(mean square of the difference / expected of noise),   effect: mean z above what chance gives */
static int beyond_noise(const ct__tuner *t, const ct__tune_point *a, const ct__tune_point *b, double runs)
{
    double  sum = 0, square = 0, share;
    int32_t count = 0;
    for (int32_t l = 0; l < t->problem->logs; l++)
        for (int32_t k = 0; k < t->blocks && ct__is_active(t, l); k++) {
            const double noise = t->noise_block[l * t->blocks + k];
            if (!a->residual[l] || !b->residual[l]) return 1;
            if (!(noise > 0)) continue;
            const double z = log(1e-300 + ct__block_distance(t, l, k, a->residual[l], b->residual[l], &share)) -
                             log(runs * noise);
            sum += z;
            square += z * z;
            count++;
        }
    if (count < 2) return 1;
    const double mean = sum / count, error = sqrt(fmax(0, square / count - mean * mean) / (count - 1));
    return mean > fmax(log(BEYOND), beyond_chance(count - 1) * error);
}

/* Two points differ by more than noise if their residuals do, or their losses. */
static int has_effect(const ct__tuner *t, const ct__tune_point *from, const ct__tune_point *p)
{
    if (!p || p == from || !ct__is_done(p)) return p && p != from; /* it fails: an effect */
    const double runs = 1.0 / ct__runs_of(t, p) + 1.0 / ct__runs_of(t, from);
    if (!(t->noise > 0)) return ct__distance2(t, p, from) > CT__QUIET * (1e-300 + ct__distance2(t, from, NULL));
    return beyond_noise(t, p, from, runs) ||
           fabs(p->loss - from->loss) > beyond_chance(t->noise_pairs) * sqrt(runs) * t->noise_loss;
}

/* The change of coordinate k that must have an effect. A number with a logarithm is a power of itself. */
static double farther(const ct__tuner *t, int32_t k)
{
    const int number = t->problem->parameter[t->c.parameter[k]].quantity == CT_QUANTITY_NUMBER;
    return FARTHER * (number && t->c.power[k] != 0 ? fabs(t->c.power[k]) : 1);
}

/* moved <- points with all listed coordinates moved by FARTHER, evaluated: one down and up; several all down, all up,
 * and in turn up and down, both ways, because a common factor may change nothing. The effect of a ratio that is so far
 * off is below any noise of runs. */
static ct_status go_farther(ct__tuner *t, const ct__tune_point *from, int32_t count, const int32_t *k,
                            ct__tune_point *moved[MOVES])
{
    const int moves = count > 1 && !(t->noise > 0) ? MOVES : 2;
    for (int way = 0; way < MOVES; way++) {
        moved[way] = NULL;
        memcpy(t->c.work, from->x, (size_t)t->c.n * sizeof *from->x);
        for (int32_t i = 0; i < count; i++)
            t->c.work[k[i]] += (way + (way > 1 ? i : 0)) % 2 ? farther(t, k[i]) : -farther(t, k[i]);
        if (way < moves) CT_TRY(ct__point_at(t, t->c.work, &moved[way]));
    }
    return ct__evaluate(t, moves, moved, CT__TRAIN, t->repeats);
}

static int is_silent(const ct__tuner *t, const ct__tune_point *from, ct__tune_point *const moved[MOVES])
{
    if (t->cancelled) return 0;
    for (int way = 0; way < MOVES; way++)
        if (moved[way] && has_effect(t, from, moved[way])) return 0;
    return 1;
}

/* Coordinate k changes nothing: it keeps its value. */
static void hold_silent(ct__tuner *t, const ct__tune_point *from, int32_t k, ct__tune_point *const moved[MOVES])
{
    ct__coordinates *c = &t->c;
    t->silent[k] = (moved[1]->x[k] - moved[0]->x[k]) / fmax(1e-300, c->upper[k] - c->lower[k]);
    ct__coordinates_hold(c, k, from->x[k]);
}

/* Coordinates that seem silent are moved further away, all at once, and where that has an effect, one by one. If it is
 * none of them alone, they matter only with each other: none is held. */
static ct_status find_silent(ct__tuner *t, const ct__tune_point *from, int32_t count, const int32_t *k)
{
    ct__tune_point *(*moved)[MOVES] = ct__zalloc(count, sizeof *moved);
    if (!moved) return ct__no_memory(t->err, "parameters", count);
    ct_status status = go_farther(t, from, count, k, moved[0]);
    const int all = status == CT_OK && is_silent(t, from, moved[0]);
    int32_t   silent = 0;
    for (int32_t i = 0; i < count && status == CT_OK && !t->cancelled; i++) {
        if (all) memcpy(moved[i], moved[0], sizeof *moved);
        else if (count > 1) status = go_farther(t, from, 1, &k[i], moved[i]);
        if (status == CT_OK) silent += is_silent(t, from, moved[i]);
    }
    const int together = !all && silent == count;
    for (int32_t i = 0; i < count && status == CT_OK && !t->cancelled && !together; i++)
        if (is_silent(t, from, moved[i])) hold_silent(t, from, k[i], moved[i]);
    free(moved);
    return status;
}

static int32_t list_silent(const ct__tuner *t, const ct__tune_point *from, ct__tune_point **point, int32_t *k)
{
    int32_t count = 0;
    for (int32_t i = 0; i < t->c.n; i++)
        if (!ct__coordinates_held(&t->c, i) && !has_effect(t, from, point[i])) k[count++] = i;
    return count;
}

/* What is silent on the pilot log is run on the others. k, count <- those that are silent there, too. */
static ct_status ask_other_logs(ct__tuner *t, ct__tune_point *from, ct__tune_point **point, int32_t *k, int32_t *count)
{
    const int32_t silent = *count, used = t->used_to;
    ct__tune_point **listed = ct__zalloc(silent, sizeof *listed);
    int64_t have = 0;
    if (!listed) return ct__no_memory(t->err, "parameters", silent);
    ct__use_logs(t, 0, t->trains);
    for (int32_t i = 0; i < silent; i++)
        if (point[k[i]] && point[k[i]] != from) listed[have++] = point[k[i]];
    ct_status status = ct__extend_noise(t, from);
    if (status == CT_OK && !t->cancelled) status = ct__evaluate(t, have, listed, CT__TRAIN, t->repeats);
    for (int32_t i = *count = 0; i < silent && !t->cancelled; i++)
        if (!has_effect(t, from, point[k[i]])) k[(*count)++] = k[i];
    if (status == CT_OK && !t->cancelled && *count) status = find_silent(t, from, *count, k);
    if (*count == silent) ct__use_logs(t, 0, used);
    free(listed);
    return status;
}

ct_status ct__find_effects(ct__tuner *t, ct__tune_point *from, ct__tune_point **point)
{
    if (t->effects_known) return CT_OK;
    t->effects_known = 1;
    int32_t *k = ct__zalloc(t->c.n, sizeof *k);
    if (!k) return ct__no_memory(t->err, "parameters", t->c.n);
    int32_t count = list_silent(t, from, point, k);
    const ct_status status = !count           ? CT_OK
                             : t->used_to < t->trains ? ask_other_logs(t, from, point, k, &count)
                                                      : find_silent(t, from, count, k);
    free(k);
    return status;
}

ct_status ct__review_effects(ct__tuner *t, ct__tune_point *answer, int *released)
{
    int32_t *k = ct__zalloc(t->c.n, sizeof *k), count = 0;
    *released = 0;
    if (!k) return ct__no_memory(t->err, "parameters", t->c.n);
    for (int32_t i = 0; i < t->c.n && answer != t->start; i++)
        if (t->silent[i] > 0) k[count++] = i;
    for (int32_t i = 0; i < count; i++) {
        t->silent[k[i]] = 0;
        ct__coordinates_release(&t->c, k[i]);
    }
    const ct_status status = count ? find_silent(t, answer, count, k) : CT_OK;
    for (int32_t i = 0; i < count; i++) *released += !(t->silent[k[i]] > 0);
    free(k);
    return status;
}

ct_status ct__note_silent(ct__tuner *t)
{
    ct_tune_result *r = t->result;
    for (int32_t k = 0; k < t->c.n; k++) {
        const double  value[] = {100 * t->silent[k]};
        const int32_t i = t->c.parameter[k];
        const char   *name = t->problem->parameter[i].name;
        if (!(t->silent[k] > 0)) continue;
        CT_TRY(ct_findings_add(&r->findings, CT_FINDING_PARAMETER_WITHOUT_EFFECT, 1, value, t->err));
        CT_TRY(ct_findings_add_subject(&r->findings, CT_SUBJECT_PARAMETER, i, 0, name, t->err));
        r->standard_error[i] = INFINITY;
    }
    return CT_OK;
}
