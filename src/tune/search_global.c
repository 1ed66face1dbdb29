/* search_global.c: a local method, restarts from other places of the bounds where it is stuck, and points far away.
 *
 * An estimator may fall into other minima of its own where parameters are far off: residuals then jump, and no local
 * model holds. A restart begins at the best of n + 1 points that are drawn uniformly within the bounds. The best answer
 * of all searches counts. */
#include "tune/search.h"

#include <math.h>

#define NEARLY     2.0  /* times the loss: points of a hypercube that come so near are worth as many more  */
#define FLAT       0.003 /* of the loss: curvature of a coordinate that hardly changes the residuals        */
#define LEAST_POINTS 6  /* of a hypercube: each sixth of the range of every coordinate has one            */
#define LEAST_ROOM 2.0  /* log variance: nearer to a bound a model would see it                            */
#define REVIEWS    3    /* of coordinates without effect: a search may free one after the other         */
#define RESTARTS   4    /* from a random point of twelve decades about four in five reach the minimum */

static ct_status run_method(ct__tuner *t, ct__tune_point *from, ct__tune_point **answer, ct_tune_stop *stop)
{
    switch (t->options.method) {
    case CT_TUNE_DFGN: return ct__tune_dfgn(t, from, answer, stop);
    case CT_TUNE_LM: return ct__tune_lm(t, from, answer, stop);
    case CT_TUNE_FW: return ct__tune_fw(t, from, answer, stop);
    case CT_TUNE_RANDOM: return ct__tune_random(t, from, answer, stop);
    default: return ct__tune_nlopt(t, from, answer, stop);
    }
}

/* ---- Points far away -------------------------------------------------------------------------- */

/* best <- the best of the points, if any has estimates on all training logs. */
static ct_status evaluate_best(ct__tuner *t, int64_t count, ct__tune_point *const *point, ct__tune_point **best)
{
    CT_TRY(ct__evaluate(t, count, point, CT__TRAIN, t->repeats));
    for (int64_t i = 0; i < count && !t->cancelled; i++)
        if (ct__is_done(point[i]) && (!*best || point[i]->loss < (*best)->loss)) *best = point[i];
    return CT_OK;
}

/* n + 1 points of a Latin hypercube, within the radius of base: the range of each coordinate is cut into n + 1 equal
 * parts, and each part has one point (McKay, Beckman and Conover 1979). With few coordinates there are more. */
ct_status ct__points_around(ct__tuner *t, ct_rng *rng, const ct__tune_point *base, double radius, ct__tune_point **best)
{
    const int32_t n = t->c.n, count = CT_MAX(n + 1, LEAST_POINTS);
    const int64_t have = CT_MIN(count, ct__points_left(t));
    ct__tune_point **point = ct__zalloc(count, sizeof *point);
    double *x = ct__zalloc(count * (int64_t)n, sizeof *x);
    ct_status status = point && x ? CT_OK : ct__no_memory(t->err, "points", count);
    for (int32_t k = 0; k < n && status == CT_OK; k++) {
        for (int32_t i = 0; i < count; i++) { /* shuffled inside out */
            const int32_t j = CT_MIN(i, (int32_t)(ct_rng_uniform(rng) * (i + 1)));
            x[i * n + k] = x[j * n + k];
            x[j * n + k] = i;
        }
        const double low = CT_MAX(t->c.lower[k], base->x[k] - radius);
        const double part = (CT_MIN(t->c.upper[k], base->x[k] + radius) - low) / count;
        for (int32_t i = 0; i < count; i++) x[i * n + k] = low + part * (x[i * n + k] + ct_rng_uniform(rng));
    }
    for (int64_t i = 0; i < have && status == CT_OK; i++) status = ct__point_at(t, x + i * n, &point[i]);
    if (status == CT_OK) status = evaluate_best(t, have, point, best);
    free(point);
    free(x);
    return status;
}

ct_status ct__coarse_points(ct__tuner *t, ct_rng *rng, const ct__tune_point *base, ct__tune_point **best)
{
    CT_TRY(ct__points_around(t, rng, base, INFINITY, best));
    if (!*best || !((*best)->loss < NEARLY * base->loss) || t->cancelled) return CT_OK;
    return ct__points_around(t, rng, base, INFINITY, best);
}

/* The base with one coordinate half of the way to a bound; NULL: that is near. */
static ct_status axis_point(ct__tuner *t, const ct__tune_point *base, int32_t k, int up, ct__tune_point **out)
{
    const ct__coordinates *c = &t->c;
    const double room = up ? c->upper[k] - base->x[k] : base->x[k] - c->lower[k];
    *out = NULL;
    if (ct__coordinates_held(c, k) || room < LEAST_ROOM) return CT_OK;
    memcpy(c->work, base->x, (size_t)c->n * sizeof *base->x);
    c->work[k] += up ? 0.5 * room : -0.5 * room;
    return ct__point_at(t, c->work, out);
}

ct_status ct__axis_points(ct__tuner *t, const ct__tune_point *base, const double *H, ct__tune_point **best)
{
    const ct__coordinates *c = &t->c;
    const int32_t n = c->n;
    ct__tune_point **point = ct__zalloc(2 * n, sizeof *point);
    ct_status status = point ? CT_OK : ct__no_memory(t->err, "parameters", n);
    int64_t count = 0;
    for (int32_t k = 0; k < n && status == CT_OK; k++) {
        const int farther = c->upper[k] - base->x[k] > base->x[k] - c->lower[k];
        if (H && H[k * n + k] > FLAT * base->loss) continue;
        for (int up = 0; up < 2 && status == CT_OK && count < ct__points_left(t); up++) {
            if (H && up != farther) continue;
            status = axis_point(t, base, k, up, &point[count]);
            count += point[count] && isnan(point[count]->loss);
        }
    }
    if (status == CT_OK) status = evaluate_best(t, count, point, best);
    free(point);
    return status;
}

/* ---- Restarts --------------------------------------------------------------------------------- */

/* Drops a finding that a search is stuck: the first of them, or all later ones. */
static void drop_stuck(ct_findings *list, int first)
{
    for (int32_t i = list->count - 1, at = ct_findings_find(list, CT_FINDING_SEARCH_STUCK); i >= at && at >= 0; i--) {
        if (list->item[i].code != CT_FINDING_SEARCH_STUCK || (i == at) != first) continue;
        ct_findings one = {.count = 1, .item = malloc(sizeof *one.item), .capacity = 1};
        if (!one.item) return; /* it stays, which is true of one of the searches */
        one.item[0] = list->item[i];
        memmove(&list->item[i], &list->item[i + 1], (size_t)(list->count - i - 1) * sizeof *list->item);
        list->count--;
        ct_findings_free(&one);
    }
}

/* from <- the best of n + 1 points, by the pilot log; NULL: it has no estimate of a training log. */
static ct_status random_place(ct__tuner *t, ct_rng *rng, ct__tune_point **from)
{
    if (t->options.method == CT_TUNE_DFGN) ct__use_logs(t, 0, ct__first_logs(t));
    const ct_status status = ct__random_points(t, rng, t->start->x, INFINITY, t->c.n + 1, -1, from);
    ct__use_logs(t, 0, t->trains);
    CT_TRY(status);
    if (*from && !t->cancelled) CT_TRY(ct__evaluate(t, 1, from, CT__TRAIN, t->repeats));
    if (*from && !ct__is_done(*from)) *from = NULL;
    return CT_OK;
}

static ct_status restart(ct__tuner *t, ct__tune_point **answer, ct_tune_stop *stop)
{
    ct_rng rng = ct__rng_stream(t->options.seed, 3, 0);
    const double  before = (*answer)->loss;
    const int64_t points = t->result->points;
    for (int k = 0; k < RESTARTS && *stop == CT_TUNE_STOP_STUCK && ct__points_left(t) && !t->cancelled; k++) {
        ct__tune_point *from = NULL, *other = NULL;
        ct_tune_stop    how = CT_TUNE_STOP_NONE;
        CT_TRY(random_place(t, &rng, &from));
        if (!from || t->cancelled || !ct__points_left(t)) continue;
        CT_TRY(run_method(t, from, &other, &how));
        if (ct__is_done(other) && other->loss < (*answer)->loss) *answer = other;
        drop_stuck(&t->result->findings, *answer == other); /* what stays is of the answer */
        if (how != CT_TUNE_STOP_STUCK && *answer == other) *stop = how;
    }
    if (t->cancelled || !((*answer)->loss < before)) return CT_OK;
    const double value[] = {before, (double)(t->result->points - points), (*answer)->loss};
    return ct_findings_add(&t->result->findings, CT_FINDING_SEARCH_GLOBAL, 3, value, t->err);
}

/* Coordinates without effect at the start may have one at the answer: it is searched again from there. */
static ct_status search_released(ct__tuner *t, ct__tune_point **answer, ct_tune_stop *stop)
{
    for (int k = 0; k < REVIEWS && !t->cancelled && ct__is_done(*answer) && ct__points_left(t); k++) {
        ct__tune_point *other = NULL;
        ct_tune_stop    how = CT_TUNE_STOP_NONE;
        int             released;
        CT_TRY(ct__review_effects(t, *answer, &released));
        if (!released || t->cancelled || !ct__points_left(t)) return CT_OK;
        drop_stuck(&t->result->findings, 1);
        CT_TRY(run_method(t, *answer, &other, &how));
        if (ct__is_done(other) && other->loss < (*answer)->loss) *answer = other;
        *stop = how;
    }
    return CT_OK;
}

ct_status ct__search(ct__tuner *t, ct__tune_point *first, ct__tune_point **answer, ct_tune_stop *stop)
{
    const int local = t->options.method == CT_TUNE_DFGN || t->options.method == CT_TUNE_LM;
    ct_rng rng = ct__rng_stream(t->options.seed, 4, 0);
    *answer = first;
    if (t->options.global > 0) CT_TRY(ct__random_points(t, &rng, first->x, INFINITY, 2 * (t->c.n + 1), -1, &first));
    if (t->cancelled) return CT_OK;
    CT_TRY(run_method(t, first, answer, stop));
    CT_TRY(search_released(t, answer, stop));
    return local && t->options.global && *stop == CT_TUNE_STOP_STUCK ? restart(t, answer, stop) : CT_OK;
}
