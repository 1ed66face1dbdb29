/* held_out_folds.c: answers of folds, and their runs on held-out logs.
 *
 * To learn again for every fold would cost as many runs as the search. The linear model of the residuals at the minimum
 * p is known log by log, so a fold's answer is one Gauss-Newton step with the rows of the other logs,
 *
 *     p_-k minimises   1/2 |r + J (x - p)|^2 over the logs that are not held out + prior L / 2 |x|^2,
 *
 * x log variances from the start, L the loss at the minimum. That is a prediction, and estimates may jump or fail at
 * p_-k. So runs on the fold's own logs have to confirm it: of each fold the answer that is farthest from the minimum is
 * run on them. If its loss there is the least of all points that were run on these logs, the others, which are nearer,
 * are taken as they are. Else all of the fold are run there, and where one has more loss the best point by the fold's
 * own logs takes its place. Then one run on the held-out logs tells the loss. */
#include "tune/held_out.h"

#include <math.h>

#define DAMPING 1e-4

void ct__fold_answer(ct__held_out *h, int fold, double prior, double *x)
{
    const ct__coordinates *c = &h->t->c;
    const int32_t n = c->n;
    double weight = 0, trace = 0;
    memset(h->H, 0, (size_t)(n * n) * sizeof *h->H);
    memset(h->g, 0, (size_t)n * sizeof *h->g);
    for (int32_t i = 0; i < h->parts; i++) weight += h->part[i].fold != fold;
    for (int32_t i = 0; i < h->parts; i++)
        if (h->part[i].fold != fold)
            ct__model_add(&h->model, h->part[i].log, h->part[i].from, h->part[i].to,
                          1 / (weight * (double)CT_MAX(1, h->part[i].to - h->part[i].from)), h->H, h->g, NULL);
    ct__model_remove_noise(&h->model, h->t, h->H, h->g);
    for (int32_t i = 0; i < n; i++) trace += h->H[i * n + i] / n;
    for (int32_t i = 0; i < n; i++) {
        h->H[i * n + i] += DAMPING * trace + prior * h->best->loss + 1e-300;
        h->g[i] += prior * h->best->loss * h->best->x[i];
    }
    ct__bounded_quadratic(c, h->H, h->g, h->best->x, prior > 0 ? 1e3 : CT__HELD_RADIUS, h->s, h->work);
    for (int32_t i = 0; i < n; i++) x[i] = h->best->x[i] + h->s[i];
}

ct__score ct__held_score(const ct__held_out *h, const ct__tune_point *p, const ct__held_part *part)
{
    const ct_tune_figures *f = &p->figures[part->log];
    const int64_t rows = part->to - part->from;
    double sum = 0;
    if (!p->runs[part->log]) return (ct__score){INFINITY, NAN, NAN, 1};
    if (rows == h->t->rows[part->log]) return (ct__score){f->loss, f->translation, f->rotation, 0};
    if (!p->residual[part->log]) return (ct__score){INFINITY, NAN, NAN, 1}; /* it could not be run again */
    for (int64_t i = part->from; i < part->to; i++) sum += p->residual[part->log][i] * p->residual[part->log][i];
    return (ct__score){0.5 * sum / (double)CT_MAX(1, rows), NAN, NAN, 0};
}

double ct__fold_loss(const ct__held_out *h, const ct__tune_point *p, int fold, double prior)
{
    double  sum = 0, square = 0;
    int32_t count = 0;
    for (int32_t i = 0; i < h->t->c.n; i++) square += p->x[i] * p->x[i];
    for (int32_t i = 0; i < h->parts; i++) {
        if (h->part[i].fold == fold) continue;
        if (!p->residual[h->part[i].log]) return INFINITY;
        sum += ct__held_score(h, p, &h->part[i]).loss;
        count++;
    }
    return sum / CT_MAX(1, count) + 0.5 * prior * h->best->loss * square;
}

ct__tune_point *ct__best_of_fold(const ct__held_out *h, double prior, int fold, double *least)
{
    ct__tune_point *best = h->best;
    *least = ct__fold_loss(h, best, fold, prior);
    for (int64_t i = 0; i < h->t->points; i++) {
        const double own = ct__fold_loss(h, h->t->point[i], fold, prior);
        if (!(own < *least)) continue;
        *least = own;
        best = h->t->point[i];
    }
    return best;
}

/* Does the answer of a fold have the least loss on the fold's own logs? *best <- what has it. */
static int is_confirmed(const ct__held_out *h, int k, int fold, ct__tune_point **best)
{
    double least;
    *best = ct__best_of_fold(h, h->prior[k], fold, &least);
    return ct__fold_loss(h, h->point[k * h->folds + fold], fold, h->prior[k]) <=
           least + CT__HELD_WORSE * h->best->loss + CT__HELD_NOISE * h->t->noise_loss;
}

/* The candidate whose answer is farthest from the minimum. */
static int farthest_of_fold(const ct__held_out *h, int fold)
{
    double most = -1;
    int    far = 1;
    for (int k = 1; k < h->candidates; k++) {
        const ct__tune_point *p = h->point[k * h->folds + fold];
        double square = 0;
        for (int32_t i = 0; i < h->t->c.n; i++) square += (p->x[i] - h->best->x[i]) * (p->x[i] - h->best->x[i]);
        if (square > most) most = square, far = k;
    }
    return far;
}

/* Did runs fail at some values? Then an answer between two that work need not. */
static int has_failures(const ct__tuner *t)
{
    for (int64_t i = 0; i < t->points; i++)
        if (isinf(t->point[i]->loss)) return 1;
    return 0;
}

/* h->point <- answers of folds that runs on the folds' own logs confirm. Where runs fail at some values, all answers
 * are run: one between two that work may fail. room: candidates x folds. */
static ct_status confirm_folds(ct__held_out *h, ct__tune_point **room)
{
    ct__tuner      *t = h->t;
    ct__tune_point *best;
    int64_t         count = 0;
    for (int f = 0; f < h->folds; f++) room[f] = h->point[farthest_of_fold(h, f) * h->folds + f];
    CT_TRY(ct__evaluate(t, h->folds, room, CT__TRAIN, t->repeats));
    const int fails = has_failures(t);
    for (int f = 0; f < h->folds && !t->cancelled; f++) {
        h->unconfirmed[f] = !is_confirmed(h, farthest_of_fold(h, f), f, &best);
        for (int k = 1; k < h->candidates && (h->unconfirmed[f] || fails); k++)
            room[count++] = h->point[k * h->folds + f];
    }
    if (!count || t->cancelled) return CT_OK;
    CT_TRY(ct__evaluate(t, count, room, CT__TRAIN, t->repeats));
    for (int f = 0; f < h->folds && !t->cancelled; f++)
        for (int k = 1; k < h->candidates; k++) {
            const int at = k * h->folds + f;
            if (is_confirmed(h, k, f, &best) || (!h->unconfirmed[f] && !isinf(h->point[at]->loss))) continue;
            h->replaced[at] = h->point[at];
            h->point[at] = best;
        }
    return CT_OK;
}

/* Runs the answers of all folds on what they were not learned from. */
static ct_status run_held_out(ct__held_out *h, ct__tune_point **point, int32_t *log)
{
    int64_t count = 0;
    for (int k = 1; k < h->candidates; k++)
        for (int32_t i = 0; i < h->parts; i++) {
            ct__tune_point *p = h->point[k * h->folds + h->part[i].fold];
            int known = 0;
            for (int64_t j = 0; j < count && !known; j++) known = point[j] == p && log[j] == h->part[i].log;
            if (known) continue;
            point[count] = p;
            log[count++] = h->part[i].log;
        }
    CT_TRY(ct__evaluate_log(h->t, count, point, log, ct__last_repeats(h->t)));
    for (int64_t j = 0; j < count && h->parts > h->t->trains; j++) { /* losses of parts need residuals */
        int here;
        CT_TRY(ct__recall(h->t, point[j], &here));
    }
    return CT_OK;
}

ct_status ct__run_folds(ct__held_out *h)
{
    ct__tuner *t = h->t;
    const int64_t most = (int64_t)h->candidates * CT_MAX(h->parts, h->folds);
    ct__tune_point **point = ct__zalloc(most, sizeof *point);
    int32_t *log = ct__zalloc(most, sizeof *log);
    ct_status status = point && log ? CT_OK : ct__no_memory(t->err, "runs", most);
    for (int k = 1; k < h->candidates && status == CT_OK; k++)
        for (int f = 0; f < h->folds && status == CT_OK; f++) {
            ct__fold_answer(h, f, h->prior[k], t->c.work);
            status = ct__point_at(t, t->c.work, &h->point[k * h->folds + f]);
        }
    if (status == CT_OK) status = confirm_folds(h, point);
    if (status == CT_OK && !t->cancelled) status = run_held_out(h, point, log);
    free(point);
    free(log);
    return status;
}
