/* find_start.c: what has to be known before a search: a point with estimates on all training logs, whether runs differ
 * from one to the next, and which parameters have an effect. */
#include "tune/search.h"

#include <math.h>

#define TRIES    4     /* times n + 1 points, at most, for a start without estimates                     */
#define WIDEST   4.0   /* of those points, from the start, in log variance: fifty times in variance      */
#define FARTHER  7.0   /* the change in log variance that must have an effect: a thousand times          */
#define QUIET    1e-18 /* of the squared residuals: changes below are rounding                           */
#define BEYOND   4.0   /* of the expected difference of two runs: changes below are noise                */

/* ---- The first point -------------------------------------------------------------------------- */

static ct_status name_failed_logs(ct__tuner *t, const ct__tune_point *p)
{
    for (int32_t l = 0; l < t->problem->logs; l++)
        if (!t->problem->log[l].test && !p->runs[l])
            CT_TRY(ct_findings_add_subject(&t->result->findings, CT_SUBJECT_SEQUENCE, l, 0, t->problem->log[l].name,
                                           t->err));
    return CT_OK;
}

/* Random points around the start, in batches of n + 1, further and further away. */
static ct_status search_first(ct__tuner *t, ct__tune_point **first, int64_t *tried)
{
    ct_rng rng = ct__rng_stream(t->options.seed, 1, 0);
    const int64_t before = t->result->points;
    for (int round = 0; round < TRIES && !*first && !t->cancelled; round++)
        CT_TRY(ct__random_points(t, &rng, t->start->x, WIDEST * (round + 1) / TRIES, t->c.n + 1, first));
    *tried = t->result->points - before;
    return CT_OK;
}

ct_status ct__find_first(ct__tuner *t, ct__tune_point **first)
{
    int64_t tried = 0;
    double  farthest = NAN;
    *first = ct__is_done(t->start) ? t->start : NULL;
    if (*first || t->cancelled) return CT_OK;
    CT_TRY(search_first(t, first, &tried));
    for (int32_t k = 0; *first && k < t->c.n; k++) farthest = fmax(farthest, fabs((*first)->x[k]));
    const double value[] = {(double)tried, exp(farthest)};
    CT_TRY(ct_findings_add(&t->result->findings, CT_FINDING_START_FAILS, 2, value, t->err));
    return name_failed_logs(t, t->start);
}

/* ---- Noise ------------------------------------------------------------------------------------ */

/* Square sum of the differences of two runs of p on a log, per row, and the difference of their losses. */
static ct_status run_twice(ct__tuner *t, ct__tune_point *p, int32_t count, const int32_t *log, double *square,
                           double *loss)
{
    ct_status status = CT_OK;
    double  **before = ct__zalloc(count, sizeof *before), *own = ct__zalloc(count, sizeof *own);
    ct__tune_point **point = ct__zalloc(count, sizeof *point);
    if (!before || !own || !point) status = ct__no_memory(t->err, "logs", count);
    for (int32_t i = 0; i < count && status == CT_OK; i++) {
        const size_t bytes = (size_t)t->rows[log[i]] * sizeof **before;
        before[i] = malloc(bytes);
        if (!before[i]) status = ct__no_memory(t->err, "residuals", t->rows[log[i]]);
        else memcpy(before[i], p->residual[log[i]], bytes);
        own[i] = p->figures[log[i]].loss;
        point[i] = p;
    }
    const int32_t runs = t->repeats;
    if (status == CT_OK) status = ct__evaluate_log(t, count, point, log, runs + 1);
    for (int32_t i = 0; i < count && status == CT_OK && !t->cancelled; i++) {
        square[i] = loss[i] = 0;
        if (p->runs[log[i]] <= runs) continue; /* the second one failed */
        for (int64_t r = 0; r < t->rows[log[i]]; r++) {
            const double d = (runs + 1) * (p->residual[log[i]][r] - before[i][r]); /* the new run less the old mean */
            square[i] += d * d / (double)t->rows[log[i]];
        }
        loss[i] = (runs + 1) * (p->figures[log[i]].loss - own[i]);
    }
    for (int32_t i = 0; before && i < count; i++) free(before[i]);
    free(before);
    free(own);
    free(point);
    return status;
}

ct_status ct__find_noise(ct__tuner *t, ct__tune_point *p)
{
    const int32_t logs = t->problem->logs;
    int32_t *log = ct__zalloc(logs, sizeof *log), count = 0;
    double  *d = ct__zalloc(2 * logs, sizeof *d), square = 0, loss = 0;
    ct_status status = log && d ? CT_OK : ct__no_memory(t->err, "logs", logs);
    t->phase = "noise";
    for (int32_t l = 0; l < logs && status == CT_OK; l++)
        if (!t->problem->log[l].test) log[count++] = l;
    if (status == CT_OK) status = run_twice(t, p, 1, log, d, d + logs);
    if (status == CT_OK && !t->cancelled && d[0] > 0 && count > 1) /* the others as well: how much? */
        status = run_twice(t, p, count - 1, log + 1, d + 1, d + logs + 1);
    const double one = 1 / (1 + 1.0 / t->repeats); /* variance of a run from that of the difference to a mean */
    for (int32_t i = 0; i < count && status == CT_OK && d[0] > 0; i++) {
        square += one * d[i] / t->trains;
        loss += one * d[logs + i] * d[logs + i] / ((double)t->trains * t->trains);
    }
    free(log);
    free(d);
    if (status != CT_OK || t->cancelled) return status;
    t->noise = square;
    t->noise_loss = sqrt(loss);
    t->result->noise = t->noise_loss / p->loss;
    if (!(square > 0)) return CT_OK;
    const double value[] = {100 * t->result->noise, ct__last_repeats(t)};
    return ct_findings_add(&t->result->findings, CT_FINDING_ESTIMATOR_NOISY, 2, value, t->err);
}

int32_t ct__last_repeats(const ct__tuner *t)
{
    if (t->options.repeats || !(t->noise > 0)) return t->repeats;
    const double share = t->noise_loss / (t->start->loss > 0 ? t->start->loss : 1);
    return share > 0.02 ? 5 : share > 0.005 ? 3 : 2;
}

/* ---- Effects ---------------------------------------------------------------------------------- */

static int has_effect(const ct__tuner *t, const ct__tune_point *from, const ct__tune_point *p)
{
    if (!p || p == from || !ct__is_done(p)) return p && p != from; /* it fails: an effect */
    return ct__distance2(t, p, from) > fmax(QUIET * (1e-300 + ct__distance2(t, from, NULL)), BEYOND * 2 * t->noise);
}

/* Points further away, on both sides, for coordinates without effect so far. */
static ct_status go_farther(ct__tuner *t, const ct__tune_point *from, ct__tune_point **point, ct__tune_point **far)
{
    const int32_t n = t->c.n;
    int64_t count = 0;
    for (int32_t k = 0; k < n; k++) {
        if (ct__coordinates_held(&t->c, k) || has_effect(t, from, point[k])) continue;
        for (int side = -1; side < 2; side += 2) {
            memcpy(t->c.work, from->x, (size_t)n * sizeof *from->x);
            t->c.work[k] += side * FARTHER;
            CT_TRY(ct__point_at(t, t->c.work, &far[2 * k + (side > 0)]));
            if (far[2 * k + (side > 0)] != from) far[2 * n + count++] = far[2 * k + (side > 0)];
        }
    }
    return count ? ct__evaluate(t, count, far + 2 * n, CT__TRAIN, t->repeats) : CT_OK;
}

static ct_status hold_silent(ct__tuner *t, const ct__tune_point *from, ct__tune_point **point, ct__tune_point **far)
{
    const ct__coordinates *c = &t->c;
    for (int32_t k = 0; k < c->n && !t->cancelled; k++) {
        const int any = has_effect(t, from, point[k]) || has_effect(t, from, far[2 * k]) ||
                        has_effect(t, from, far[2 * k + 1]);
        if (ct__coordinates_held(c, k) || any) continue;
        const double most = fmax(far[2 * k + 1] ? far[2 * k + 1]->x[k] - from->x[k] : 0,
                                 far[2 * k] ? from->x[k] - far[2 * k]->x[k] : 0);
        const double value[] = {c->power[k] != 0 ? exp(most / fabs(c->power[k])) : NAN,
                                100 * most / fmax(1e-300, c->upper[k] - c->lower[k])};
        const int32_t i = c->parameter[k];
        CT_TRY(ct_findings_add(&t->result->findings, CT_FINDING_PARAMETER_WITHOUT_EFFECT, 2, value, t->err));
        CT_TRY(ct_findings_add_subject(&t->result->findings, CT_SUBJECT_PARAMETER, i, 0,
                                       t->problem->parameter[i].name, t->err));
        t->result->standard_error[i] = INFINITY;
        ct__coordinates_hold(&t->c, k, from->x[k]);
    }
    return CT_OK;
}

ct_status ct__find_effects(ct__tuner *t, const ct__tune_point *from, ct__tune_point **point)
{
    if (t->effects_known) return CT_OK;
    t->effects_known = 1;
    ct__tune_point **far = ct__zalloc(4 * (int64_t)t->c.n, sizeof *far);
    if (!far) return ct__no_memory(t->err, "parameters", t->c.n);
    ct_status status = go_farther(t, from, point, far);
    if (status == CT_OK) status = hold_silent(t, from, point, far);
    free(far);
    return status;
}
