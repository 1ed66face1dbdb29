/* search_global.c: a local method, and restarts from other places of the bounds where it is stuck.
 *
 * An estimator may fall into other minima of its own where parameters are far off: residuals then jump, and no local
 * model holds. A restart begins at the best of n + 1 points that are drawn uniformly within the bounds. The best answer
 * of all searches counts. */
#include "tune/search.h"

#include <math.h>

#define RESTARTS 4 /* from a random point of twelve decades about four in five reach the minimum */

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

/* Drops the finding that a search is stuck: another one was not. */
static void drop_stuck(ct_findings *list)
{
    const int32_t i = ct_findings_find(list, CT_FINDING_SEARCH_STUCK);
    if (i < 0) return;
    ct_findings one = {.count = 1, .item = malloc(sizeof *one.item), .capacity = 1};
    if (!one.item) return; /* it stays, which is true of one of the searches */
    one.item[0] = list->item[i];
    memmove(&list->item[i], &list->item[i + 1], (size_t)(list->count - i - 1) * sizeof *list->item);
    list->count--;
    ct_findings_free(&one);
}

static ct_status restart(ct__tuner *t, ct__tune_point **answer, ct_tune_stop *stop)
{
    ct_rng rng = ct__rng_stream(t->options.seed, 3, 0);
    const double  before = (*answer)->loss;
    const int64_t points = t->result->points;
    for (int k = 0; k < RESTARTS && *stop == CT_TUNE_STOP_STUCK && ct__points_left(t) && !t->cancelled; k++) {
        ct__tune_point *from = NULL, *other = NULL;
        ct_tune_stop    how = CT_TUNE_STOP_NONE;
        CT_TRY(ct__random_points(t, &rng, t->start->x, INFINITY, t->c.n + 1, -1, &from));
        if (!from || t->cancelled || !ct__points_left(t)) continue;
        drop_stuck(&t->result->findings);
        CT_TRY(run_method(t, from, &other, &how));
        if (ct__is_done(other) && other->loss < (*answer)->loss) *answer = other;
        if (how != CT_TUNE_STOP_STUCK && *answer == other) *stop = how;
    }
    if (t->cancelled || !((*answer)->loss < before)) return CT_OK;
    const double value[] = {before, (double)(t->result->points - points), (*answer)->loss};
    return ct_findings_add(&t->result->findings, CT_FINDING_SEARCH_GLOBAL, 3, value, t->err);
}

ct_status ct__search(ct__tuner *t, ct__tune_point *first, ct__tune_point **answer, ct_tune_stop *stop)
{
    const int local = t->options.method == CT_TUNE_DFGN || t->options.method == CT_TUNE_LM;
    ct_rng rng = ct__rng_stream(t->options.seed, 4, 0);
    *answer = first;
    if (t->options.global > 0) CT_TRY(ct__random_points(t, &rng, first->x, INFINITY, 2 * (t->c.n + 1), -1, &first));
    if (t->cancelled) return CT_OK;
    CT_TRY(run_method(t, first, answer, stop));
    return local && t->options.global && *stop == CT_TUNE_STOP_STUCK ? restart(t, answer, stop) : CT_OK;
}
