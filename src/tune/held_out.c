/* held_out.c: which values are chosen: those of the start, the minimum, or minima under a prior towards the start.
 *
 * Candidates are compared on logs that they were not learned from. To learn again for every fold would cost as many
 * runs as the search. The linear model of the residuals at the minimum p is known log by log, so a fold's answer is one
 * Gauss-Newton step with the rows of the other logs,
 *
 *     p_-k minimises   1/2 |r + J (x - p)|^2 over the logs that are not held out + prior L / 2 |x|^2,
 *
 * x log variances from the start, L the loss at the minimum. That is a prediction, and estimates may jump or fail at
 * p_-k. So runs on the fold's own logs have to confirm it: of each fold the answer that is farthest from the minimum is
 * run on them. If its loss there is the least of all points that were run on these logs, the others, which are nearer,
 * are taken as they are. Else all of the fold are run there, and where one has more loss the best point by the fold's
 * own logs takes its place. Then one run on the held-out logs tells the loss. A point that took the place of a fold's
 * answer was found with the held-out logs. What their loss gains by that is taken from the model, or from the run of
 * the answer that it replaced, if that is less, and added before it is compared with that of the start values.
 *
 * The comparison is that of `learn` (learn/paired.c, learn/candidates.c): robust means of log ratios over recordings;
 * the start values stay unless they are beaten. The user's loss weighs translations and rotations. So one error may get
 * worse: its square by less than the loss gets better, or any if it has no weight. With fewer recordings than three,
 * parts of logs take their place. */
#include "tune/search.h"
#include "learn/learn.h"

#include <math.h>

#define LEAST_RECORDINGS 3   /* what candidates.c asks of a minimum of the loss                            */
#define LEAST_PARTS      6   /* in all, where parts are held out                                           */
#define DAMPING          1e-4
#define WORSE            0.01/* of the loss: what an answer may lose beyond its model, or the best point    */
#define NOISE            3.0 /* times that of the loss: what noise may add to it                           */
#define UNTOLD           0.005 /* of the loss: what answers under two priors differ by                          */
#define RADIUS           3.0 /* of a fold's step from the minimum: the model holds near it                 */
#define STEPS            6   /* from there to the minimum under a prior, at most                           */
#define LITTLE           0.01 /* of the loss: a step that promises less is not run                         */
#define SHORTER          0.25 /* the radius after the first step without gain; the second is the last        */

static const double PRIOR[] = {0.003, 0.0003, 0}; /* a factor of ten on six variances costs 5 %, 0.5 %, 0 of the loss */
#define PRIORS ((int)(sizeof PRIOR / sizeof *PRIOR))

/* What is held out together: rows of a training log. */
typedef struct {
    int32_t log;
    int64_t from, to;
    int     fold;
} held_part;

typedef struct {
    ct__tuner        *t;
    ct__tune_point   *best;
    ct__linear_model  model;
    int32_t           parts, recordings;
    held_part        *part;
    int               folds, candidates;
    double            prior[CT_TUNE_CANDIDATES_MAX];
    ct__tune_point  **point;    /* candidates x folds                                   */
    ct__tune_point  **replaced; /* the same: the answer of which a point took the place; NULL: none did */
    int8_t           *doubted;  /* folds: the farthest answer was not confirmed           */
    ct__scores        scores;   /* per part                                             */
    double           *H, *g, *s, *work;
    double           *H_part, *g_part, *with, *without;
} held_out;

/* group[log] <- the recording's number. */
static int32_t number_recordings(const ct_tune_problem *problem, int32_t *group)
{
    int32_t count = 0;
    for (int32_t l = 0; l < problem->logs; l++) {
        group[l] = -1;
        if (problem->log[l].test) continue;
        const char *own = problem->log[l].recording ? problem->log[l].recording : problem->log[l].name;
        for (int32_t k = 0; k < l && group[l] < 0; k++) {
            const char *other = problem->log[k].recording ? problem->log[k].recording : problem->log[k].name;
            if (!problem->log[k].test && !strcmp(own, other)) group[l] = group[k];
        }
        if (group[l] < 0) group[l] = count++;
    }
    return count;
}

static ct_status allocate(held_out *h, int32_t each)
{
    const int64_t n = h->t->c.n, parts = (int64_t)each * h->t->trains, folds = h->folds;
    CT_TRY(ct__model_new(h->t->c.n, 3 * h->t->c.n + 6, &h->model, h->t->err));
    h->part = ct__zalloc(parts, sizeof *h->part);
    h->point = ct__zalloc(2 * CT_TUNE_CANDIDATES_MAX * folds, sizeof *h->point);
    h->doubted = ct__zalloc(folds, sizeof *h->doubted);
    h->scores.score = ct__zalloc(CT_TUNE_CANDIDATES_MAX * parts, sizeof *h->scores.score);
    h->scores.group = ct__zalloc(parts, sizeof *h->scores.group);
    h->scores.work = ct__zalloc(2 * parts, sizeof *h->scores.work);
    h->H = ct__zalloc(4 * n * n + 13 * n, sizeof *h->H);
    if (!h->part || !h->point || !h->doubted || !h->scores.score || !h->scores.group || !h->scores.work || !h->H)
        return ct__no_memory(h->t->err, "folds", folds);
    h->replaced = h->point + CT_TUNE_CANDIDATES_MAX * folds;
    h->g = h->H + n * n;
    h->s = h->g + n;
    h->work = h->s + n;
    h->H_part = h->work + 2 * n * n + 8 * n;
    h->g_part = h->H_part + n * n;
    h->with = h->g_part + n;
    h->without = h->with + n;
    return CT_OK;
}

static void release(held_out *h)
{
    ct__model_free(&h->model);
    ct__scores_free(&h->scores);
    free(h->part);
    free(h->point);
    free(h->doubted);
    free(h->H);
}

/* Parts, their folds and groups. group: recordings of logs. */
static void set_parts(held_out *h, int32_t each, const int32_t *group)
{
    const ct__tuner *t = h->t;
    for (int32_t l = 0; l < t->problem->logs; l++)
        for (int32_t k = 0; !t->problem->log[l].test && k < each; k++) {
            const int32_t i = h->parts++;
            h->part[i] = (held_part){l, t->rows[l] * k / each, t->rows[l] * (k + 1) / each, 0};
            h->part[i].fold = (each > 1 ? i : group[l]) % h->folds;
            h->scores.group[i] = each > 1 ? 0 : group[l];
        }
    h->scores.traded = 1;
    h->scores.unweighted = (t->options.free_translation != 0) << CT_METRIC_TRANSLATION |
                           (t->options.free_rotation != 0) << CT_METRIC_ROTATION;
    h->scores.n = h->parts;
    h->scores.groups = each > 1 ? 1 : h->recordings;
    h->scores.candidates = h->candidates;
}

/* x <- p_-fold under a prior; fold -1: from all logs. */
static void fold_answer(held_out *h, int fold, double prior, double *x)
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
    ct__bounded_quadratic(c, h->H, h->g, h->best->x, prior > 0 ? 1e3 : RADIUS, h->s, h->work);
    for (int32_t i = 0; i < n; i++) x[i] = h->best->x[i] + h->s[i];
}

static ct__score score_of(const held_out *h, const ct__tune_point *p, const held_part *part)
{
    const ct_tune_figures *f = &p->figures[part->log];
    const int64_t rows = part->to - part->from;
    double sum = 0;
    if (!p->runs[part->log]) return (ct__score){INFINITY, NAN, NAN, 1};
    if (rows == h->t->rows[part->log]) return (ct__score){f->loss, f->translation, f->rotation, 0};
    for (int64_t i = part->from; i < part->to; i++) sum += p->residual[part->log][i] * p->residual[part->log][i];
    return (ct__score){0.5 * sum / (double)CT_MAX(1, rows), NAN, NAN, 0};
}

/* The loss of p by the rows that a fold is learned from, and the prior's part. INFINITY: p was not run on them all. */
static double own_loss(const held_out *h, const ct__tune_point *p, int fold, double prior)
{
    double  sum = 0, square = 0;
    int32_t count = 0;
    for (int32_t i = 0; i < h->t->c.n; i++) square += p->x[i] * p->x[i];
    for (int32_t i = 0; i < h->parts; i++) {
        if (h->part[i].fold == fold) continue;
        if (!p->residual[h->part[i].log]) return INFINITY;
        sum += score_of(h, p, &h->part[i]).loss;
        count++;
    }
    return sum / CT_MAX(1, count) + 0.5 * prior * h->best->loss * square;
}

/* The best of all points by a fold's own rows, under a prior; fold -1: by all rows. */
static ct__tune_point *best_of_fold(const held_out *h, double prior, int fold, double *least)
{
    ct__tune_point *best = h->best;
    *least = own_loss(h, best, fold, prior);
    for (int64_t i = 0; i < h->t->points; i++) {
        const double own = own_loss(h, h->t->point[i], fold, prior);
        if (!(own < *least)) continue;
        *least = own;
        best = h->t->point[i];
    }
    return best;
}

/* Does the answer of a fold have the least loss on the fold's own logs? *best <- what has it. */
static int is_confirmed(const held_out *h, int k, int fold, ct__tune_point **best)
{
    double least;
    *best = best_of_fold(h, h->prior[k], fold, &least);
    return own_loss(h, h->point[k * h->folds + fold], fold, h->prior[k]) <=
           least + WORSE * h->best->loss + NOISE * h->t->noise_loss;
}

/* The candidate whose answer is farthest from the minimum. */
static int farthest_of_fold(const held_out *h, int fold)
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
static ct_status confirm_folds(held_out *h, ct__tune_point **room)
{
    ct__tuner      *t = h->t;
    ct__tune_point *best;
    int64_t         count = 0;
    for (int f = 0; f < h->folds; f++) room[f] = h->point[farthest_of_fold(h, f) * h->folds + f];
    CT_TRY(ct__evaluate(t, h->folds, room, CT__TRAIN, t->repeats));
    const int fails = has_failures(t);
    for (int f = 0; f < h->folds && !t->cancelled; f++) {
        h->doubted[f] = !is_confirmed(h, farthest_of_fold(h, f), f, &best);
        for (int k = 1; k < h->candidates && (h->doubted[f] || fails); k++) room[count++] = h->point[k * h->folds + f];
    }
    if (!count || t->cancelled) return CT_OK;
    CT_TRY(ct__evaluate(t, count, room, CT__TRAIN, t->repeats));
    for (int f = 0; f < h->folds && !t->cancelled; f++)
        for (int k = 1; k < h->candidates; k++) {
            const int at = k * h->folds + f;
            if (is_confirmed(h, k, f, &best) || (!h->doubted[f] && !isinf(h->point[at]->loss))) continue;
            h->replaced[at] = h->point[at];
            h->point[at] = best;
        }
    return CT_OK;
}

/* Runs the answers of all folds on what they were not learned from. */
static ct_status run_held_out(held_out *h, ct__tune_point **point, int32_t *log)
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
    return ct__evaluate_log(h->t, count, point, log, ct__last_repeats(h->t));
}

static ct_status run_folds(held_out *h)
{
    ct__tuner *t = h->t;
    const int64_t most = (int64_t)h->candidates * CT_MAX(h->parts, h->folds);
    ct__tune_point **point = ct__zalloc(most, sizeof *point);
    int32_t *log = ct__zalloc(most, sizeof *log);
    ct_status status = point && log ? CT_OK : ct__no_memory(t->err, "runs", most);
    for (int k = 1; k < h->candidates && status == CT_OK; k++)
        for (int f = 0; f < h->folds && status == CT_OK; f++) {
            fold_answer(h, f, h->prior[k], t->c.work);
            status = ct__point_at(t, t->c.work, &h->point[k * h->folds + f]);
        }
    if (status == CT_OK) status = confirm_folds(h, point);
    if (status == CT_OK && !t->cancelled) status = run_held_out(h, point, log);
    free(point);
    free(log);
    return status;
}

/* *answer <- the minimum of the loss and the prior's part, by steps of Gauss-Newton from the best point by both. */
static ct_status refine(held_out *h, double prior, ct__tune_point **answer)
{
    ct__tuner    *t = h->t;
    const int32_t n = t->c.n;
    const double  weight = prior * h->best->loss;
    double        radius = RADIUS, least;
    int           bad = 0;
    for (int round = 0; round < STEPS && bad < 2 && !t->cancelled; round++) {
        ct__tune_point *at = best_of_fold(h, prior, -1, &least), *p;
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
        if (own_loss(h, p, -1, prior) < least) continue;
        radius = SHORTER * RADIUS;
        bad++;
    }
    *answer = best_of_fold(h, prior, -1, &least);
    return CT_OK;
}

/* The answer under a prior may be far from the minimum, where the model does not hold. It is run, where the program has
 * noise as often as the minimum. Where it has more loss than the model allows, or than folds had on logs that they were
 * not learned from, half of the way is tried. Of all points the one with the least loss, the prior's part included, is
 * taken: the rule of folds. */
static ct_status prior_answer(held_out *h, int chosen, ct__tune_point **answer)
{
    ct__tuner    *t = h->t;
    const int32_t n = t->c.n, repeats = ct__last_repeats(t);
    const double  prior = h->prior[chosen], unseen = t->result->candidate[chosen].heldout;
    const double  noise = t->noise_loss / sqrt(repeats);
    fold_answer(h, -1, prior, t->c.work);
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
        if (!((*answer)->loss <= fmin(unseen, h->best->loss * (1 + WORSE) + 2 * allowed) + 2 * noise)) continue;
        if (t->noise > 0) return CT_OK; /* the least of all is that of a lucky run */
    }
    if (!(t->noise > 0)) return refine(h, prior, answer);
    *answer = h->best;
    return CT_OK;
}

/* The loss of a part at x less that at the minimum, by the model. */
static double increase(const held_out *h, const double *x)
{
    const int32_t n = h->t->c.n;
    double sum = 0;
    for (int32_t i = 0; i < n; i++) {
        double slope = h->g_part[i];
        for (int32_t k = 0; k < n; k++) slope += 0.5 * h->H_part[i * n + k] * (x[k] - h->best->x[k]);
        sum += slope * (x[i] - h->best->x[i]);
    }
    return sum;
}

/* The share of its loss that a part gains by having been learned from, by the model: the loss under the answer of its
 * fold, h->without, less that under the answer of all logs, h->with. Far from the minimum a model says too much, so it
 * is at most what the run of the fold's answer, p, says. */
static double optimism(held_out *h, const held_part *part, const ct__tune_point *p)
{
    const int64_t n = h->t->c.n;
    const double  least = 1e-300 + score_of(h, h->best, part).loss;
    const double  run = p->residual[part->log] ? CT_MAX(0, score_of(h, p, part).loss - least) : INFINITY;
    memset(h->H_part, 0, (size_t)(n * n) * sizeof *h->H_part);
    memset(h->g_part, 0, (size_t)n * sizeof *h->g_part);
    ct__model_add(&h->model, part->log, part->from, part->to, 1 / (double)CT_MAX(1, part->to - part->from), h->H_part,
                  h->g_part, NULL);
    return CT_MIN(run, CT_MAX(0, increase(h, h->without) - increase(h, h->with))) / least;
}

/* Losses of candidate k where a point that was found with the held-out logs took the place of a fold's answer. A model
 * that runs do not confirm is off by a lot for single parts: the median share is added to all of them. */
static void add_optimism(held_out *h, int k)
{
    ct__tune_point *const *replaced = h->replaced + k * h->folds;
    double *share = h->scores.work;
    int32_t count = 0;
    fold_answer(h, -1, h->prior[k], h->with);
    for (int f = 0; f < h->folds; f++) {
        if (!replaced[f]) continue;
        fold_answer(h, f, h->prior[k], h->without);
        for (int32_t i = 0; i < h->parts; i++)
            if (h->part[i].fold == f) share[count++] = optimism(h, &h->part[i], replaced[f]);
    }
    const double median = count ? ct_median(count, share) : 0;
    for (int32_t i = 0; i < h->parts; i++)
        if (replaced[h->part[i].fold]) h->scores.score[k * h->parts + i].loss *= 1 + median;
}

static void fill_scores(held_out *h)
{
    for (int k = 0; k < h->candidates; k++)
        for (int32_t i = 0; i < h->parts; i++) {
            const ct__tune_point *p = k ? h->point[k * h->folds + h->part[i].fold] : h->t->start;
            h->scores.score[k * h->parts + i] = score_of(h, p, &h->part[i]);
        }
}

/* Answers owe the held-out logs about alike, so among them that does not decide. Whether one replaces the start values
 * is decided with what it owes. With noise of runs slopes of single logs are mostly noise, and tell too much. */
static int choose_answer(held_out *h, ct_choice *verdict)
{
    fill_scores(h);
    const int chosen = ct__choose_candidate(&h->scores, 0, 0, 1, verdict);
    if (chosen == 0 || h->t->noise > 0) return chosen;
    for (int k = 1; k < h->candidates; k++) add_optimism(h, k);
    if (ct__choose_candidate(&h->scores, 0, 0, 1, verdict) == 0) return 0;
    fill_scores(h);
    return ct__choose_candidate(&h->scores, 0, 0, 1, verdict);
}

/* Where one of both fails on every part, errors have no ratio: that of the scores is only their limit. */
static double accuracy_ratio(const held_out *h, int k, ct__metric metric)
{
    const int none = k && (ct__count_failed(&h->scores, 0) == h->parts || ct__count_failed(&h->scores, k) == h->parts);
    return none ? NAN : exp(ct__compare(&h->scores, k, 0, metric).mean);
}

static void record(const held_out *h, const ct_choice *verdict, int chosen)
{
    ct_tune_result *r = h->t->result;
    r->candidates = h->candidates;
    r->recordings = h->recordings;
    for (int k = 0; k < h->candidates; k++) {
        const ct__paired d = ct__compare(&h->scores, k, 0, CT_METRIC_LOSS);
        double sum = 0;
        for (int32_t i = 0; i < h->parts; i++) sum += h->scores.score[k * h->parts + i].loss / h->parts;
        r->candidate[k] = (ct_tune_candidate){
            .prior = h->prior[k],
            .heldout = sum,
            .log_ratio = d.mean,
            .log_ratio_error = d.error,
            .translation_ratio = accuracy_ratio(h, k, CT_METRIC_TRANSLATION),
            .rotation_ratio = accuracy_ratio(h, k, CT_METRIC_ROTATION),
            .failed = ct__count_failed(&h->scores, k),
            .chosen = k == chosen,
            .verdict = verdict[k],
        };
    }
}

/* The best of the others has less loss, and more error of one kind. */
static ct_status note_trade(const held_out *h, const ct_tune_candidate *c)
{
    const int    turns = c->verdict == CT_CHOICE_ROTATION;
    const double value[] = {exp(c->log_ratio), turns ? c->rotation_ratio : c->translation_ratio};
    ct_findings *list = &h->t->result->findings;
    CT_TRY(ct_findings_add(list, CT_FINDING_START_KEPT_OTHERS_TRADE, 2, value, h->t->err));
    return ct_findings_add_subject(list, CT_SUBJECT_CAUSE, -1, 0, turns ? "rotation" : "translation", h->t->err);
}

/* The best of the others, for the user who keeps the start values. */
static ct_status note_kept(const held_out *h)
{
    const ct_tune_result *r = h->t->result;
    int best = 1;
    for (int k = 2; k < h->candidates; k++)
        if (r->candidate[k].log_ratio < r->candidate[best].log_ratio) best = k;
    const ct_tune_candidate *c = &r->candidate[best];
    if (c->verdict == CT_CHOICE_TRANSLATION || c->verdict == CT_CHOICE_ROTATION) return note_trade(h, c);
    const double value[] = {exp(c->log_ratio), c->log_ratio_error};
    const double failed[] = {c->failed, h->parts};
    if (c->failed > r->candidate[0].failed)
        return ct_findings_add(&h->t->result->findings, CT_FINDING_START_KEPT_OTHERS_FAIL, 2, failed, h->t->err);
    return ct_findings_add(&h->t->result->findings, CT_FINDING_START_KEPT, 2, value, h->t->err);
}

static ct_status decide(held_out *h, ct__tune_point **answer)
{
    ct__tuner *t = h->t;
    ct_choice verdict[CT_TUNE_CANDIDATES_MAX];
    CT_TRY(ct__model_fit(&h->model, t, h->best));
    CT_TRY(run_folds(h));
    if (t->cancelled) return CT_OK;
    const int chosen = choose_answer(h, verdict);
    record(h, verdict, chosen);
    if (chosen == 0) {
        *answer = t->start;
        return note_kept(h);
    }
    /* an answer of a fold may be better on all logs than what the search found */
    const double less = h->best->loss * (1 - WORSE) - NOISE * t->noise_loss;
    if (t->best && t->best->loss < less) h->best = t->best;
    *answer = h->best;
    if (h->prior[chosen] == 0) return CT_OK;
    return prior_answer(h, chosen, answer);
}

/* The minimum under the prior that was asked for, without folds. */
static ct_status without_folds(held_out *h, ct__tune_point **answer)
{
    ct__tuner *t = h->t;
    *answer = h->best;
    CT_TRY(ct_findings_add(&t->result->findings, CT_FINDING_NOT_HELD_OUT, 0, NULL, t->err));
    if (!(t->options.prior > 0)) return CT_OK;
    CT_TRY(ct__model_fit(&h->model, t, h->best));
    fold_answer(h, -1, t->options.prior, t->c.work);
    CT_TRY(ct__point_at(t, t->c.work, answer));
    CT_TRY(ct__evaluate(t, 1, answer, CT__TRAIN, t->repeats));
    if (!ct__is_done(*answer)) *answer = h->best;
    return t->noise > 0 || t->cancelled ? CT_OK : refine(h, t->options.prior, answer);
}

/* Do runs differ so much that held-out losses of answers under two priors cannot be told apart? */
static int is_noisy(const held_out *h)
{
    const ct__tuner *t = h->t;
    return t->noise_loss * sqrt(2.0 / ct__last_repeats(t)) > UNTOLD * h->best->loss;
}

static ct_status choose(held_out *h, const int32_t *group, ct__tune_point **answer)
{
    ct__tuner *t = h->t;
    const int parts = h->recordings < LEAST_RECORDINGS;
    const int32_t each = parts ? CT_MAX(2, (LEAST_PARTS + t->trains - 1) / t->trains) : 1;
    h->folds = CT_MAX(1, CT_MIN(t->options.folds, parts ? each * t->trains : h->recordings));
    CT_TRY(allocate(h, each));
    set_parts(h, each, group);
    if (t->options.folds < 2) return without_folds(h, answer);
    h->prior[0] = NAN;
    h->candidates = 1;
    for (int k = is_noisy(h) ? PRIORS - 1 : 0; k < PRIORS && isnan(t->options.prior); k++)
        h->prior[h->candidates++] = PRIOR[k];
    if (!isnan(t->options.prior)) h->prior[h->candidates++] = t->options.prior;
    h->scores.candidates = h->candidates;
    if (parts) {
        const double value[] = {h->recordings, h->parts};
        CT_TRY(ct_findings_add(&t->result->findings, CT_FINDING_FEW_RECORDINGS, 2, value, t->err));
    }
    return decide(h, answer);
}

ct_status ct__choose_held_out(ct__tuner *t, ct__tune_point *best, ct__tune_point **answer)
{
    held_out h = {.t = t, .best = best};
    int32_t *group = ct__zalloc(t->problem->logs, sizeof *group);
    if (!group) return ct__no_memory(t->err, "logs", t->problem->logs);
    t->phase = "heldout";
    t->base = best;
    h.recordings = t->result->recordings = number_recordings(t->problem, group);
    *answer = best;
    const ct_status status = choose(&h, group, answer);
    release(&h);
    free(group);
    return status;
}
