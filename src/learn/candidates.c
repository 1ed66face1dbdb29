/* candidates.c: how the answer is chosen among candidates.
 *
 * Candidates are the start values, the reference (the closed form or the maximum of the likelihood), and minima of the
 * loss under priors of decreasing weight towards the reference. Each is evaluated on held-out recordings
 * (cross_validation.c). a beats b if
 *   - the mean log ratio of losses (paired.c) is below zero by more than one standard error, and by half a percent.
 *     With two recordings this asks that both gain. Or it is no worse, a halves the loss of some recording, and none is
 *     worse by a quarter: where one run alone tells two candidates apart, no standard error sees it;
 *   - neither translation nor rotation errors are worse by more than one standard error and three percent: in the loss
 *     one of them may be invisible beside the other; and
 *   - it does not fail on more sequences.
 *
 * The incumbent is what the user gave, the start values; without given values it is the reference. It stays unless the
 * other of the two beats it. A minimum under a prior is fitted to the loss of a few sequences, and several are tried.
 * So it is chosen only if it beats both by the standard error of a t distribution, and by two percent or a gain in
 * translation or rotation, on three recordings or more. Of those that do, it is the one with the strongest prior that
 * the best of them does not beat. Where residuals at the truth are what the reference says (right_models.c), the
 * maximum of the likelihood is best, and what such a minimum gains is chance: it is not chosen at all. Start values
 * that residuals then refute are replaced by the reference unless it is worse by more than a standard error. What the
 * data cannot tell apart is thus left as the user had it. Where estimates do not depend on the noise at all (odometry
 * and nothing else), losses say nothing: the reference, which is made of residuals, is then the incumbent, so that
 * covariances are right.
 *
 * The final answer is learned from all sequences, so it has no held-out loss. It is validated on the training
 * sequences, estimated as in deployment. If the reference or the start values beat it there, they replace it. */
#include "learn/learn.h"

#include <math.h>

#define LEAST_GAIN 5e-3 /* of losses: below it a change is not worth its risk */
#define LEAST_UNITS 3  /* recordings that a minimum of the loss has to prove itself on */
#define LEARNED_GAIN 0.02 /* the same of a minimum of the loss: chance makes gains of a percent */
#define LEAST_LOSS 0.03 /* of errors: below it they are not worse             */
#define HALF       0.69 /* log 2                                              */
#define EQUAL      1e-5 /* of log losses: estimates are the same              */
#define QUARTER    0.22 /* log 1.25                                           */

int ct__start_is_better(const ct__learning *l)
{
    return l->objective.result->loss_start < l->objective.result->loss_closed_form;
}

int ct__start_is_incumbent(const ct__learning *l)
{
    return l->objective.options->given || !isfinite(l->objective.result->loss_closed_form);
}

int ct__closed_form_is_complete(const ct__learning *l)
{
    for (int32_t i = 0; i < l->objective.outer->m; i++)
        if (!l->samples[i]) return 0;
    return 1;
}

double ct__mean_loss(int64_t n, const double *loss)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += loss[i];
    return sum / (double)n;
}

/* Is a worse than b in that metric? */
static int is_worse(const ct__scores *s, int a, int b, ct__metric metric)
{
    const ct__paired d = ct__compare(s, a, b, metric);
    return d.mean > LEAST_LOSS && (d.units < 2 || d.mean > d.error);
}

/* Is a worse than b in an error that matters, and by more than the loss makes up for? gain: -log of losses. */
static int is_vetoed(const ct__scores *s, int a, int b, ct__metric metric, double gain)
{
    if (s->unweighted >> metric & 1 || !is_worse(s, a, b, metric)) return 0;
    return !s->traded || 2 * ct__compare(s, a, b, metric).mean > gain;
}

/* CT_CHOICE_CHOSEN if a beats b; else why not. learned: a is fitted to the loss. */
static ct_choice duel(const ct__scores *s, int a, int b, int learned)
{
    const ct__paired d = ct__compare(s, a, b, CT_METRIC_LOSS);
    const double bar = d.units > 1 ? (learned ? ct__standard_errors(d.units) : 1) * d.error : 0;
    if (d.mean > bar && d.mean > LEAST_GAIN) return CT_CHOICE_WORSE;
    if (learned && d.units < LEAST_UNITS) return CT_CHOICE_FEW;
    const int halves = !learned && d.mean < LEAST_GAIN && d.best < -HALF && d.worst < QUARTER;
    const int visible = is_worse(s, b, a, CT_METRIC_TRANSLATION) || is_worse(s, b, a, CT_METRIC_ROTATION);
    const double gain = learned && !visible ? LEARNED_GAIN : LEAST_GAIN;
    if (!(d.mean < -gain && d.mean < -bar) && !halves)
        return learned && d.mean < -bar && d.mean < -LEAST_GAIN ? CT_CHOICE_SMALL : CT_CHOICE_NOT_BETTER;
    if (ct__count_failed(s, a) > ct__count_failed(s, b)) return CT_CHOICE_FAILS;
    if (is_vetoed(s, a, b, CT_METRIC_TRANSLATION, -d.mean)) return CT_CHOICE_TRANSLATION;
    if (is_vetoed(s, a, b, CT_METRIC_ROTATION, -d.mean)) return CT_CHOICE_ROTATION;
    return CT_CHOICE_CHOSEN;
}

static int beats(const ct__scores *s, int a, int b) { return duel(s, a, b, 0) == CT_CHOICE_CHOSEN; }

/* 1: all candidates give the same estimates of all sequences. */
static int are_equal(const ct__scores *s)
{
    for (int k = 1; k < s->candidates; k++) {
        const ct__paired d = ct__compare(s, k, 0, CT_METRIC_LOSS);
        if (!(fabs(d.best) < EQUAL && fabs(d.worst) < EQUAL)) return 0;
        if (ct__count_failed(s, k) != ct__count_failed(s, 0)) return 0;
    }
    return 1;
}

/* Does the best of those that beat the incumbent beat k? Where errors are traded, one of them may veto the best, and
 * another candidate that is nearly as good is not vetoed. */
static int is_beaten(const ct__scores *s, const ct_choice *verdict, int best, int k)
{
    int beaten = 0;
    if (!s->traded) return beats(s, best, k);
    for (int j = k + 1; j < s->candidates; j++)
        beaten |= verdict[j] == CT_CHOICE_WEAKER_PRIOR && beats(s, j, k);
    return beaten;
}

int ct__choose_candidate(const ct__scores *s, int reference, int start, int given, ct_choice *verdict)
{
    const int kept = given && !are_equal(s);
    const int incumbent = kept ? start : reference, other = kept ? reference : start;
    int best = -1, chosen = -1;
    verdict[other] = duel(s, other, incumbent, 0);
    verdict[incumbent] = duel(s, incumbent, other, 0);
    for (int k = 0; k < s->candidates; k++) {
        if (k == start || k == reference) continue;
        verdict[k] = duel(s, k, incumbent, 1);
        if (s->right && verdict[k] != CT_CHOICE_WORSE) verdict[k] = CT_CHOICE_NEEDLESS;
        if (verdict[k] == CT_CHOICE_CHOSEN && duel(s, k, other, 1) != CT_CHOICE_CHOSEN) verdict[k] = CT_CHOICE_OTHER;
        if (verdict[k] != CT_CHOICE_CHOSEN) continue;
        verdict[k] = CT_CHOICE_WEAKER_PRIOR;
        if (best < 0 || ct__compare(s, k, best, CT_METRIC_LOSS).mean < 0) best = k;
    }
    for (int k = 0; best >= 0 && k < s->candidates && chosen < 0; k++)
        if (verdict[k] == CT_CHOICE_WEAKER_PRIOR && k != start && k != reference &&
            (k == best || !is_beaten(s, verdict, best, k)))
            chosen = k;
    const int refuted = s->refuted && verdict[reference] != CT_CHOICE_WORSE && verdict[reference] != CT_CHOICE_FAILS;
    if (chosen < 0) chosen = verdict[other] == CT_CHOICE_CHOSEN ? other : incumbent;
    if (refuted) chosen = reference;
    for (int k = 0; k < s->candidates; k++) { /* against the chosen one */
        const int lost = verdict[k] != CT_CHOICE_CHOSEN && verdict[k] != CT_CHOICE_WEAKER_PRIOR;
        if (lost && k != incumbent && k != other) continue;
        if (duel(s, k, chosen, 0) == CT_CHOICE_WORSE) verdict[k] = CT_CHOICE_WORSE;
        else if (verdict[k] == CT_CHOICE_CHOSEN || (!lost && k < chosen)) verdict[k] = CT_CHOICE_NOT_BETTER;
    }
    if (refuted && verdict[start] != CT_CHOICE_WORSE) verdict[start] = CT_CHOICE_REFUTED;
    verdict[chosen] = CT_CHOICE_CHOSEN;
    return chosen;
}

/* ---- Validation of the answer ---------------------------------------------------------------- */

void ct__score_evaluation(const ct_evaluation *e, ct__score *out)
{
    *out = (ct__score){.loss = ct__deployment_loss(e),
                       .translation = e->accuracy.translation,
                       .rotation = e->accuracy.rotation,
                       .failed = !isfinite(ct__deployment_loss(e))};
}

ct_status ct__scores_new(const ct_outer *o, int candidates, ct__scores *s, ct_err *err)
{
    *s = (ct__scores){.n = o->count, .candidates = candidates};
    s->score = ct__zalloc((int64_t)candidates * o->count, sizeof *s->score);
    s->group = ct__zalloc(o->count, sizeof *s->group);
    s->work = ct__zalloc(2 * (int64_t)o->count, sizeof *s->work);
    if (!s->score || !s->group || !s->work) return ct__no_memory(err, "sequences", o->count);
    return ct__outer_groups(o, s->group, &s->groups, err);
}

void ct__scores_free(ct__scores *s)
{
    free(s->score);
    free(s->group);
    free(s->work);
}

/* Scores of candidate k on all training sequences under p, estimated as in deployment. */
static ct_status score_training(ct__learning *l, const double *p, ct_evaluation *seen, ct__scores *s, int k)
{
    ct__objective *e = &l->objective;
    CT_TRY(ct_outer_validate(e->outer, p, NULL, &e->options->deployment, 0, seen, e->err));
    for (int32_t i = 0; i < s->n; i++) ct__score_evaluation(&seen[i], &s->score[k * s->n + i]);
    return CT_OK;
}

static double mean_score(const ct__scores *s, int k)
{
    double sum = 0;
    for (int32_t i = 0; i < s->n; i++) sum += s->score[k * s->n + i].loss / s->n;
    return sum;
}

enum { ANSWER, REFERENCE, START, VALIDATED };

/* The reference or the start values replace an answer that they beat. The consistency on held-out sequences, which is
 * that of the answer's folds, is dropped with it. */
static ct_status replace_if_beaten(ct__learning *l, ct_evaluation *seen, ct__scores *s)
{
    ct__objective *e = &l->objective;
    ct_learn_result    *r = e->result;
    const double *const place[] = {l->p, l->closed, l->start};
    const char *const name[] = {"", ct_reference_name(e->outer->reference), "start values"};
    const double        weight = r->prior;
    int taken = ANSWER;
    ct_outer_value      value = {0};
    CT_TRY(ct_outer_evaluate(e->outer, l->p, NULL, &value, e->err));
    for (int k = 0; k < VALIDATED; k++) CT_TRY(score_training(l, place[k], seen, s, k));
    for (int k = REFERENCE; k < VALIDATED; k++)
        if (beats(s, k, taken)) taken = k;
    r->loss_deployment = mean_score(s, taken);
    if (taken == ANSWER) return CT_OK;
    memcpy(l->p, place[taken], (size_t)e->outer->m * sizeof *l->p);
    r->stop = taken == START ? CT_LEARN_STOP_START : ct__reference_stop(l);
    r->prior = taken == START ? NAN : INFINITY;
    ct__choose_recorded(r, r->prior);
    r->loss_heldout = taken == START ? r->loss_heldout_start : r->loss_heldout_closed_form;
    r->heldout = taken == START; /* the start values were not learned from these sequences */
    l->held.folds = 0;
    CT_TRY(ct__find(l, CT_FINDING_ANSWER_REPLACED,
                    CT__VALUES(weight, value.loss, mean_score(s, ANSWER), r->loss_deployment)));
    return ct_findings_add_subject(&r->findings, CT_SUBJECT_CANDIDATE, -1, 0, name[taken], e->err);
}

ct_status ct__validate_answer(ct__learning *l)
{
    ct__objective *e = &l->objective;
    ct_evaluation *seen = ct__zalloc(e->outer->count, sizeof *seen);
    ct__scores s = {0};
    ct_status status = seen ? CT_OK : ct__no_memory(e->err, "sequences", e->outer->count);
    if (status == CT_OK) status = ct__scores_new(e->outer, VALIDATED, &s, e->err);
    if (status == CT_OK) status = replace_if_beaten(l, seen, &s);
    free(seen);
    ct__scores_free(&s);
    return status;
}

ct_status ct__choose_without_folds(ct__learning *l)
{
    ct__objective *e = &l->objective;
    ct_learn_result *r = e->result;
    ct_evaluation *seen = ct__zalloc(e->outer->count, sizeof *seen);
    ct__scores s = {0};
    ct_choice verdict[2];
    ct_status status = seen ? CT_OK : ct__no_memory(e->err, "sequences", e->outer->count);
    if (status == CT_OK) status = ct__scores_new(e->outer, 2, &s, e->err);
    if (status == CT_OK) status = score_training(l, l->closed, seen, &s, 0);
    if (status == CT_OK) status = score_training(l, l->start, seen, &s, 1);
    if (status == CT_OK) {
        /* one sequence has no standard error: the smaller loss is chosen */
        const int other = s.n > 1 ? ct__choose_candidate(&s, 0, 1, ct__start_is_incumbent(l), verdict) == 1
                                  : ct__compare(&s, 0, 1, CT_METRIC_LOSS).mean > 0;
        const int start = other || !isfinite(r->loss_closed_form);
        r->prior = start ? NAN : INFINITY;
        if (start) r->stop = CT_LEARN_STOP_START;
    }
    free(seen);
    ct__scores_free(&s);
    return status;
}

/* ---- The table of candidates ----------------------------------------------------------------- */

static double mean_of(const ct__scores *s, int k, ct__metric metric, double *error)
{
    double sum = 0, square = 0;
    int32_t n = 0;
    for (int32_t i = 0; i < s->n; i++) {
        const double v = ct__score_of(&s->score[k * s->n + i], metric);
        if (!isfinite(v)) continue;
        sum += v;
        square += v * v;
        n++;
    }
    if (error) *error = n > 1 ? sqrt(CT_MAX(0, square - sum * sum / n) / (n * (n - 1.0))) : NAN;
    return n ? sum / n : NAN;
}

void ct__record_candidates(ct_learn_result *r, const ct__scores *s, const double *prior, const ct_choice *verdict,
                           int chosen)
{
    r->candidates = CT_MIN(s->candidates, CT_LEARN_CANDIDATES_MAX);
    r->recordings = s->groups;
    for (int k = 0; k < r->candidates; k++) {
        ct_learn_candidate *c = &r->candidate[k];
        const ct__paired loss = ct__compare(s, k, chosen, CT_METRIC_LOSS);
        *c = (ct_learn_candidate){.prior = prior[k], .chosen = k == chosen, .verdict = verdict[k]};
        c->heldout = mean_of(s, k, CT_METRIC_LOSS, &c->heldout_error);
        c->translation = mean_of(s, k, CT_METRIC_TRANSLATION, NULL);
        c->rotation = mean_of(s, k, CT_METRIC_ROTATION, NULL);
        c->log_ratio = loss.mean;
        c->log_ratio_error = loss.error;
        c->translation_ratio = exp(ct__compare(s, k, chosen, CT_METRIC_TRANSLATION).mean);
        c->rotation_ratio = exp(ct__compare(s, k, chosen, CT_METRIC_ROTATION).mean);
        c->failed = ct__count_failed(s, k);
    }
}

void ct__choose_recorded(ct_learn_result *r, double prior)
{
    for (int k = 0; k < r->candidates; k++) {
        const double own = r->candidate[k].prior;
        r->candidate[k].chosen = isnan(prior) ? isnan(own) : own == prior;
        if (r->candidate[k].chosen)
            r->candidate[k].verdict = CT_CHOICE_CHOSEN;
        else if (r->candidate[k].verdict == CT_CHOICE_CHOSEN)
            r->candidate[k].verdict = CT_CHOICE_TRAINING;
    }
}
