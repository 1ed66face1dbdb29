/* held_out.c: which values are chosen: those of the start, the minimum, or minima under a prior towards the start.
 *
 * Candidates are compared on logs that they were not learned from (held_out_folds.c). A point that took the place of a
 * fold's answer was found with the held-out logs. What their loss gains by that is taken from the model, or from the
 * run of the answer that it replaced, if that is less, and added before it is compared with that of the start values.
 *
 * The comparison is that of `learn` (learn/paired.c, learn/candidates.c): robust means of log ratios over recordings;
 * the start values stay unless they are beaten. The user's loss weighs translations and rotations. So one error may get
 * worse: its square by less than the loss gets better, or any if it has no weight. Where that alone keeps the start
 * values, stronger priors are tried: what the loss hardly sees stays nearer to the start. With fewer recordings than
 * three, parts of logs take their place. */
#include "tune/held_out.h"

#include <math.h>

#define LEAST_RECORDINGS 3   /* what candidates.c asks of a minimum of the loss                            */
#define LEAST_PARTS      6   /* in all, where parts are held out                                           */
#define UNTOLD           0.005 /* of the loss: what answers under two priors differ by                          */

/* A factor of ten on six variances costs five times the loss, 50 %, 5 %, 0.5 %, 0. */
static const double PRIOR[] = {0.3, 0.03, 0.003, 0.0003, 0};
#define PRIORS ((int)(sizeof PRIOR / sizeof *PRIOR))
#define USUAL  2 /* the first of those that are tried at once */
#define REFUTED 10.0 /* times the least loss: a start that has more gets no prior */

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

static ct_status allocate(ct__held_out *h, int32_t each)
{
    const int64_t n = h->t->c.n, parts = (int64_t)each * h->t->trains, folds = h->folds;
    CT_TRY(ct__model_new(h->t->c.n, 3 * h->t->c.n + 6, &h->model, h->t->err));
    h->part = ct__zalloc(parts, sizeof *h->part);
    h->point = ct__zalloc(2 * CT_TUNE_CANDIDATES_MAX * folds, sizeof *h->point);
    h->unconfirmed = ct__zalloc(folds, sizeof *h->unconfirmed);
    h->scores.score = ct__zalloc(CT_TUNE_CANDIDATES_MAX * parts, sizeof *h->scores.score);
    h->scores.group = ct__zalloc(parts, sizeof *h->scores.group);
    h->scores.work = ct__zalloc(2 * parts, sizeof *h->scores.work);
    h->H = ct__zalloc(4 * n * n + 13 * n, sizeof *h->H);
    if (!h->part || !h->point || !h->unconfirmed || !h->scores.score || !h->scores.group || !h->scores.work || !h->H)
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

static void release(ct__held_out *h)
{
    ct__model_free(&h->model);
    ct__scores_free(&h->scores);
    free(h->part);
    free(h->point);
    free(h->unconfirmed);
    free(h->H);
}

/* Parts, their folds and groups. group: recordings of logs. */
static void set_parts(ct__held_out *h, int32_t each, const int32_t *group)
{
    const ct__tuner *t = h->t;
    for (int32_t l = 0; l < t->problem->logs; l++)
        for (int32_t k = 0; !t->problem->log[l].test && k < each; k++) {
            const int32_t i = h->parts++;
            h->part[i] = (ct__held_part){l, t->rows[l] * k / each, t->rows[l] * (k + 1) / each, 0};
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

/* The loss of a part at x less that at the minimum, by the model. */
static double increase(const ct__held_out *h, const double *x)
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
static double optimism(ct__held_out *h, const ct__held_part *part, const ct__tune_point *p)
{
    const int64_t n = h->t->c.n;
    const double  least = 1e-300 + ct__held_score(h, h->best, part).loss;
    const double  run = p->residual[part->log] ? CT_MAX(0, ct__held_score(h, p, part).loss - least) : INFINITY;
    memset(h->H_part, 0, (size_t)(n * n) * sizeof *h->H_part);
    memset(h->g_part, 0, (size_t)n * sizeof *h->g_part);
    ct__model_add(&h->model, part->log, part->from, part->to, 1 / (double)CT_MAX(1, part->to - part->from), h->H_part,
                  h->g_part, NULL);
    return CT_MIN(run, CT_MAX(0, increase(h, h->without) - increase(h, h->with))) / least;
}

/* Losses of candidate k where a point that was found with the held-out logs took the place of a fold's answer. A model
 * that runs do not confirm is off by a lot for single parts: the median share is added to all of them. */
static void add_optimism(ct__held_out *h, int k)
{
    ct__tune_point *const *replaced = h->replaced + k * h->folds;
    double *share = h->scores.work;
    int32_t count = 0;
    ct__fold_answer(h, -1, h->prior[k], h->with);
    for (int f = 0; f < h->folds; f++) {
        if (!replaced[f]) continue;
        ct__fold_answer(h, f, h->prior[k], h->without);
        for (int32_t i = 0; i < h->parts; i++)
            if (h->part[i].fold == f) share[count++] = optimism(h, &h->part[i], replaced[f]);
    }
    const double median = count ? ct_median(count, share) : 0;
    for (int32_t i = 0; i < h->parts; i++)
        if (replaced[h->part[i].fold]) h->scores.score[k * h->parts + i].loss *= 1 + median;
}

static void fill_scores(ct__held_out *h)
{
    for (int k = 0; k < h->candidates; k++)
        for (int32_t i = 0; i < h->parts; i++) {
            const ct__tune_point *p = k ? h->point[k * h->folds + h->part[i].fold] : h->t->start;
            h->scores.score[k * h->parts + i] = ct__held_score(h, p, &h->part[i]);
        }
}

/* Answers owe the held-out logs about alike, so among them that does not decide. Whether one replaces the start values
 * is decided with what it owes. With noise of runs slopes of single logs are mostly noise, and tell too much. */
static int choose_answer(ct__held_out *h, ct_choice *verdict)
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
static double accuracy_ratio(const ct__held_out *h, int k, ct__metric metric)
{
    const int none = k && (ct__count_failed(&h->scores, 0) == h->parts || ct__count_failed(&h->scores, k) == h->parts);
    return none ? NAN : exp(ct__compare(&h->scores, k, 0, metric).mean);
}

static void record(const ct__held_out *h, const ct_choice *verdict, int chosen)
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
static ct_status note_trade(const ct__held_out *h, const ct_tune_candidate *c)
{
    const int    turns = c->verdict == CT_CHOICE_ROTATION;
    const double value[] = {exp(c->log_ratio), turns ? c->rotation_ratio : c->translation_ratio};
    ct_findings *list = &h->t->result->findings;
    CT_TRY(ct_findings_add(list, CT_FINDING_START_KEPT_OTHERS_TRADE, 2, value, h->t->err));
    return ct_findings_add_subject(list, CT_SUBJECT_CAUSE, -1, 0, turns ? "rotation" : "translation", h->t->err);
}

/* The best of the others, for the user who keeps the start values. */
static ct_status note_kept(const ct__held_out *h)
{
    const ct_tune_result *r = h->t->result;
    int best = 1;
    for (int k = 2; k < h->candidates; k++)
        if (r->candidate[k].log_ratio < r->candidate[best].log_ratio) best = k;
    const ct_tune_candidate *c = &r->candidate[best];
    if (c->verdict == CT_CHOICE_TRANSLATION || c->verdict == CT_CHOICE_ROTATION) return note_trade(h, c);
    const double value[] = {exp(c->log_ratio), c->log_ratio_error};
    const double failed[] = {c->failed, h->parts};
    if (value[0] == 1 && value[1] == 0) return CT_OK; /* nothing has an effect, which is told */
    if (c->failed > r->candidate[0].failed)
        return ct_findings_add(&h->t->result->findings, CT_FINDING_START_KEPT_OTHERS_FAIL, 2, failed, h->t->err);
    return ct_findings_add(&h->t->result->findings, CT_FINDING_START_KEPT, 2, value, h->t->err);
}

/* The start values, and the minima under priors from PRIOR[strongest] on, or under the one that was asked for. */
static void set_candidates(ct__held_out *h, int strongest)
{
    h->candidates = 1;
    h->prior[0] = NAN;
    for (int k = strongest; k < PRIORS && isnan(h->t->options.prior); k++) h->prior[h->candidates++] = PRIOR[k];
    if (!isnan(h->t->options.prior)) h->prior[h->candidates++] = h->t->options.prior;
    h->scores.candidates = h->candidates;
}

/* Do the start values stay because positions or rotations would be worse? */
static int is_vetoed(const ct__held_out *h, const ct_choice *verdict)
{
    int vetoed = 0;
    for (int k = 1; k < h->candidates; k++)
        vetoed |= verdict[k] == CT_CHOICE_TRANSLATION || verdict[k] == CT_CHOICE_ROTATION;
    return vetoed && isnan(h->t->options.prior);
}

static ct_status choose_on_folds(ct__held_out *h, ct_choice *verdict, int *chosen)
{
    *chosen = 0;
    CT_TRY(ct__run_folds(h));
    if (h->t->cancelled) return CT_OK;
    *chosen = choose_answer(h, verdict);
    if (*chosen || h->strong || !is_vetoed(h, verdict)) return CT_OK;
    h->strong = 1;
    set_candidates(h, 0);
    memset(h->replaced, 0, (size_t)(CT_TUNE_CANDIDATES_MAX * h->folds) * sizeof *h->replaced);
    return choose_on_folds(h, verdict, chosen);
}

/* The answer of all logs has not the loss that its folds had. */
static ct_status keep_start(ct__held_out *h, int chosen)
{
    ct_tune_candidate *candidate = h->t->result->candidate;
    candidate[chosen].chosen = 0;
    candidate[chosen].verdict = CT_CHOICE_TRAINING;
    candidate[0].chosen = 1;
    candidate[0].verdict = CT_CHOICE_CHOSEN;
    return note_kept(h);
}

static ct_status decide(ct__held_out *h, ct__tune_point **answer)
{
    ct__tuner *t = h->t;
    ct_choice verdict[CT_TUNE_CANDIDATES_MAX];
    int chosen;
    CT_TRY(ct__model_fit(&h->model, t, h->best));
    CT_TRY(choose_on_folds(h, verdict, &chosen));
    if (t->cancelled) return CT_OK;
    record(h, verdict, chosen);
    if (chosen == 0) {
        *answer = t->start;
        return note_kept(h);
    }
    /* an answer of a fold may be better on all logs than what the search found */
    const double less = h->best->loss * (1 - CT__HELD_WORSE) - CT__HELD_NOISE * t->noise_loss;
    if (t->best && t->best->loss < less) {
        h->best = t->best;
        CT_TRY(ct__model_fit(&h->model, t, h->best));
    }
    *answer = h->best;
    if (h->prior[chosen] == 0) return CT_OK;
    CT_TRY(ct__prior_answer(h, chosen, answer));
    return *answer == t->start ? keep_start(h, chosen) : CT_OK;
}

/* The minimum under the prior that was asked for, without folds. */
static ct_status without_folds(ct__held_out *h, ct__tune_point **answer)
{
    ct__tuner *t = h->t;
    *answer = h->best;
    CT_TRY(ct_findings_add(&t->result->findings, CT_FINDING_NOT_HELD_OUT, 0, NULL, t->err));
    if (!(t->options.prior > 0)) return CT_OK;
    CT_TRY(ct__model_fit(&h->model, t, h->best));
    ct__fold_answer(h, -1, t->options.prior, t->c.work);
    CT_TRY(ct__point_at(t, t->c.work, answer));
    CT_TRY(ct__evaluate(t, 1, answer, CT__TRAIN, t->repeats));
    if (!ct__is_done(*answer)) *answer = h->best;
    return t->noise > 0 || t->cancelled ? CT_OK : ct__prior_minimum(h, t->options.prior, answer);
}

/* Do runs differ so much that held-out losses of answers under two priors cannot be told apart? */
static int is_noisy(const ct__held_out *h)
{
    const ct__tuner *t = h->t;
    return t->noise_loss * sqrt(2.0 / ct__last_repeats(t)) > UNTOLD * h->best->loss;
}

/* From a start six decades off, priors make answers worse on unseen logs twice as often as better (docs/study.md). */
static int is_refuted(const ct__held_out *h) { return !(h->t->start->loss <= REFUTED * h->best->loss); }

static ct_status choose(ct__held_out *h, const int32_t *group, ct__tune_point **answer)
{
    ct__tuner *t = h->t;
    const int parts = h->recordings < LEAST_RECORDINGS;
    const int32_t each = parts ? CT_MAX(2, (LEAST_PARTS + t->trains - 1) / t->trains) : 1;
    h->folds = CT_MAX(1, CT_MIN(t->options.folds, parts ? each * t->trains : h->recordings));
    CT_TRY(allocate(h, each));
    set_parts(h, each, group);
    if (t->options.folds < 2) return without_folds(h, answer);
    set_candidates(h, is_noisy(h) || is_refuted(h) ? PRIORS - 1 : USUAL);
    if (parts) {
        const double value[] = {h->recordings, h->parts};
        CT_TRY(ct_findings_add(&t->result->findings, CT_FINDING_FEW_RECORDINGS, 2, value, t->err));
    }
    return decide(h, answer);
}

ct_status ct__choose_held_out(ct__tuner *t, ct__tune_point *best, ct__tune_point **answer)
{
    ct__held_out h = {.t = t, .best = best};
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
