/* cross_validation.c: held-out losses of the candidates, by folds of the training sequences.
 *
 * The closed form uses every residual. The loss of a few sequences is a noisier criterion, but it shows what second
 * moments do not: wrong models, errors that are not Gaussian. A prior weighs one against the other:
 *
 *     p(nu) = argmin of L(p) + nu/2 sum_i weight_i (p_i - closed_i)^2,     nu = infinity (the closed form itself),
 *                                                                          1, 0.1, 0.01, 0.001, 0.0001
 *     weight_i = 2 L(closed) N_i / mean N,   N_i the samples of parameter i
 *
 * Each fold minimises along this path, from the strongest prior to weaker ones, and each p(nu) is validated on the
 * held-out sequences of the fold, estimated as in deployment. The path ends when held-out losses have risen twice in a
 * row. If the start values have a smaller loss than the closed form, there is one more candidate: the minimum from the
 * start values, without a prior. If the closed form has no estimates, that is the only one beside the start values.
 * candidates.c chooses.
 *
 * Sequences of one recording are held out together. With one recording alone, folds are contiguous blocks of its
 * sequences.
 *
 * The weakest prior is not zero: parameters that the loss does not determine would move to their bounds.
 *
 * Models that residuals show to be right have HELD times the weight (right_models.c): they stay at the closed form.
 *
 * A parameter without samples has no closed form, and its prior has no weight. A parameter without samples in the
 * training part of a fold takes the closed form of all sequences. */
#include "learn/learn.h"

#include <math.h>

static const double PATH[] = {INFINITY, 1, 0.1, 0.01, 0.001, 0.0001};
#define WEIGHTS             ((int)(sizeof PATH / sizeof *PATH))
#define CANDIDATES          (WEIGHTS + 1) /* and the minimum from the start values, without prior    */
#define PATH_ITERATIONS     12   /* from one weight to the next: the minima are near each other      */
#define PATH_RELATIVE       1e-4 /* tolerances on the path: candidates need no more digits           */
#define PATH_STEP           1e-2

typedef struct {
    ct__learning  *l;
    int            folds;
    uint8_t       *train, *held;     /* folds x sequences: 1 where a sequence takes part           */
    double        *p, *closed;       /* folds x CANDIDATES x m; folds x m                          */
    ct__scores scores;               /* of CANDIDATES and the start values, which are the last     */
    int            candidates;       /* that were evaluated                                        */
    int            from_start;       /* the one of them without prior, or -1                       */
    ct_evaluation *evaluation;       /* sequences: scratch                                         */
    int64_t       *samples;          /* m: samples in the training part of a fold                  */
} cross_validation;

/* Levenberg-Marquardt with the tolerances of the path. */
static ct_status minimise_loosely(ct__objective *e, int most, double *p, ct_learn_stop *stop)
{
    const ct_learn_options *options = e->options;
    ct_learn_options        loose = *options;
    loose.relative = CT_MAX(loose.relative, PATH_RELATIVE);
    loose.step = CT_MAX(loose.step, PATH_STEP);
    e->options = &loose;
    const ct_status status = ct__learn_lm(e, most, p, stop);
    e->options = options;
    return status;
}

ct_status ct__learn_path(ct__objective *e, double nu, double *p, ct_learn_stop *stop)
{
    const int most = e->options->max_iterations ? e->options->max_iterations
                                                : ct_learn_method_iterations(CT_LEARN_LM, e->outer->m);
    int       k = 1;
    for (; k < WEIGHTS - 1 && PATH[k] > nu; k++) {
        e->nu = PATH[k];
        CT_TRY(minimise_loosely(e, CT_MIN(PATH_ITERATIONS, most), p, stop));
        if (*stop == CT_LEARN_STOP_CANCELLED || *stop == CT_LEARN_STOP_STUCK) return CT_OK;
    }
    e->nu = nu;
    return ct__learn_lm(e, most, p, stop);
}

const double *ct__path_start(const ct__learning *l, const double *closed)
{
    const ct_learn_result *r = l->objective.result;
    return ct__closed_form_is_complete(l) || r->loss_closed_form <= r->loss_start ? closed : l->start;
}

/* The fold that holds a sequence out. */
static int64_t fold_of(const cross_validation *f, int64_t i)
{
    const ct__scores *s = &f->scores;
    return s->groups > 1 ? s->group[i] % f->folds : i * f->folds / s->n;
}

static ct_status begin(cross_validation *f, ct_err *err)
{
    const ct_outer *o = f->l->objective.outer;
    const int64_t n = o->count, m = o->m;
    CT_TRY(ct__scores_new(o, CANDIDATES + 1, &f->scores, err));
    if (f->scores.groups > 1) f->folds = CT_MIN(f->folds, f->scores.groups);
    const int64_t k = f->folds;
    f->train = ct__zalloc(2 * k * n, sizeof *f->train);
    f->p = ct__zalloc(k * CANDIDATES * m + k * m, sizeof *f->p);
    f->evaluation = ct__zalloc(n, sizeof *f->evaluation);
    f->samples = ct__zalloc(m, sizeof *f->samples);
    if (!f->train || !f->p || !f->evaluation || !f->samples) return ct__no_memory(err, "folds", k);
    f->held = f->train + k * n;
    f->closed = f->p + k * CANDIDATES * m;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < k; j++) {
            f->held[j * n + i] = fold_of(f, i) == j;
            f->train[j * n + i] = fold_of(f, i) != j;
        }
    return CT_OK;
}

static void end(cross_validation *f)
{
    ct__scores_free(&f->scores);
    free(f->train);
    free(f->p);
    free(f->evaluation);
    free(f->samples);
}

static double *candidate_p(const cross_validation *f, int fold, int candidate)
{
    return f->p + ((int64_t)fold * CANDIDATES + candidate) * f->l->objective.outer->m;
}

/* A candidate of one fold, from the candidate before it, and its held-out losses. */
static ct_status learn_fold(cross_validation *f, int fold, int candidate)
{
    ct__objective    objective = f->l->objective;
    ct_outer     *o = objective.outer;
    const int64_t n = o->count, m = o->m;
    double       *p = candidate_p(f, fold, candidate), *closed = f->closed + fold * m;
    ct_learn_stop why;
    objective.part = f->train + fold * n;
    objective.centre = closed;
    objective.weight = f->l->weight;
    objective.nu = candidate == f->from_start ? 0 : PATH[candidate];
    if (candidate == f->from_start) {
        memcpy(p, f->l->start, (size_t)m * sizeof *p);
        CT_TRY(minimise_loosely(&objective, 2 * PATH_ITERATIONS, p, &why));
    } else if (candidate == 0) {
        CT_TRY(ct__reference(f->l, objective.part, f->l->rescale, f->l->closed, closed, f->samples, NULL));
        for (int64_t i = 0; i < m; i++)
            if (!f->samples[i] && f->l->samples[i]) closed[i] = f->l->closed[i];
        memcpy(p, closed, (size_t)m * sizeof *p);
    } else {
        const double *from = candidate == 1 ? ct__path_start(f->l, closed) : candidate_p(f, fold, candidate - 1);
        memcpy(p, from, (size_t)m * sizeof *p);
        CT_TRY(minimise_loosely(&objective, PATH_ITERATIONS, p, &why));
    }
    CT_TRY(
        ct_outer_validate(o, p, f->held + fold * n, &objective.options->deployment, 0, f->evaluation, objective.err));
    for (int64_t i = 0; i < n; i++)
        if (f->held[fold * n + i]) ct__score_evaluation(&f->evaluation[i], &f->scores.score[candidate * n + i]);
    return CT_OK;
}

/* Mean held-out loss of a candidate. */
static double mean_loss(const cross_validation *f, int candidate)
{
    double sum = 0;
    for (int32_t i = 0; i < f->scores.n; i++)
        sum += f->scores.score[(int64_t)candidate * f->scores.n + i].loss / f->scores.n;
    return sum;
}

/* A candidate in all folds. */
static ct_status evaluate_candidate(cross_validation *f, int candidate)
{
    ct__objective *e = &f->l->objective;
    for (int fold = 0; fold < f->folds; fold++) {
        if (ct__objective_cancelled(e)) return CT_OK;
        e->fold_iteration = candidate * f->folds + fold;
        e->iterations = CANDIDATES * f->folds;
        e->done_from = e->done_to = 0.05 + 0.65 * e->fold_iteration / e->iterations;
        CT_TRY(learn_fold(f, fold, candidate));
    }
    if (ct__objective_cancelled(e)) return CT_OK;
    f->candidates = candidate + 1;
    e->heldout = mean_loss(f, candidate);
    return CT_OK;
}

/* Exchanges the reference of the run and of its folds with what is kept aside: l->closed, l->samples, l->error, the
 * training loss, and per fold the closed form. */
static void exchange(cross_validation *f, double *closed, int64_t *samples, double *error, double *loss, double *folds)
{
    ct__learning   *l = f->l;
    const int64_t   m = l->objective.outer->m;
    ct_learn_result *r = l->objective.result;
    for (int64_t i = 0; i < m; i++) {
        CT__SWAP(double, l->closed[i], closed[i]);
        CT__SWAP(int64_t, l->samples[i], samples[i]);
        CT__SWAP(double, l->error[i], error[i]);
    }
    CT__SWAP(double, r->loss_closed_form, *loss);
    for (int64_t i = 0; i < f->folds * m; i++) CT__SWAP(double, f->closed[i], folds[i]);
    for (int fold = 0; fold < f->folds; fold++)
        memcpy(candidate_p(f, fold, 0), f->closed + fold * m, (size_t)m * sizeof *f->closed);
}

/* The scores of candidate a, to b. */
static void copy_scores(cross_validation *f, int a, int b)
{
    const int64_t n = f->scores.n;
    memcpy(f->scores.score + b * n, f->scores.score + a * n, (size_t)n * sizeof *f->scores.score);
}

/* The evidence in place of the likelihood, if held-out losses are smaller. Row CANDIDATES of the scores is free. */
static ct_status compare_evidence(cross_validation *f, double *room, int64_t *samples)
{
    ct__learning *l = f->l;
    ct_outer     *o = l->objective.outer;
    double       *closed = room, *error = room + o->m, *folds = room + 2 * (int64_t)o->m, loss = INFINITY;
    ct_outer_value value = {0};
    copy_scores(f, 0, CANDIDATES);
    o->reference = CT_REFERENCE_EVIDENCE;
    CT_TRY(ct__reference(l, NULL, 0, l->start, closed, samples, error));
    CT_TRY(ct_outer_evaluate(o, closed, NULL, &value, l->objective.err));
    loss = value.loss;
    exchange(f, closed, samples, error, &loss, folds);
    if (isfinite(l->objective.result->loss_closed_form)) CT_TRY(evaluate_candidate(f, 0));
    if (ct__objective_cancelled(&l->objective)) return CT_OK;
    const ct__paired d = ct__compare(&f->scores, 0, CANDIDATES, CT_METRIC_LOSS);
    if (isfinite(l->objective.result->loss_closed_form) && d.mean < 0)
        return isfinite(loss) ? ct__find(l, CT_FINDING_EVIDENCE, CT__VALUES(exp(d.mean), d.error))
                              : ct__find(l, CT_FINDING_EVIDENCE_ALONE, CT__NO_VALUES);
    exchange(f, closed, samples, error, &loss, folds);
    copy_scores(f, CANDIDATES, 0);
    o->reference = CT_REFERENCE_LIKELIHOOD;
    return CT_OK;
}

static ct_status try_evidence(cross_validation *f)
{
    ct__learning   *l = f->l;
    const ct_outer *o = l->objective.outer;
    int             possible = 0;
    if (o->reference != CT_REFERENCE_LIKELIHOOD || ct__closed_form_exists(l)) return CT_OK;
    if (ct__truth_lacks_biases_alone(o)) return CT_OK; /* measurements alone know less */
    CT_TRY(ct__need_evidence(l, &possible));
    if (!possible) return CT_OK;
    double   *room = ct__zalloc((f->folds + 2) * (int64_t)o->m, sizeof *room);
    int64_t  *samples = ct__zalloc(o->m, sizeof *samples);
    ct_status status =
        room && samples ? compare_evidence(f, room, samples) : ct__no_memory(l->objective.err, "parameters", o->m);
    free(room);
    free(samples);
    if (status != CT_OK) return status;
    l->objective.result->reference = o->reference;
    memcpy(l->objective.result->closed_form, l->closed, (size_t)o->m * sizeof *l->closed);
    if (isfinite(l->objective.result->loss_closed_form)) ct__set_weights(l);
    return CT_OK;
}

/* The reference: likelihood or evidence, whichever is better. One under which a training sequence has no estimate, even
 * from the truth, counts as failed on all of them. */
static ct_status evaluate_reference(cross_validation *f)
{
    const ct__objective *e = &f->l->objective;
    CT_TRY(evaluate_candidate(f, 0));
    if (ct__objective_cancelled(e)) return CT_OK;
    for (int32_t i = 0; i < f->scores.n && !isfinite(e->result->loss_closed_form); i++)
        f->scores.score[i] = (ct__score){INFINITY, NAN, NAN, 1};
    return try_evidence(f);
}

static ct_status evaluate_candidates(cross_validation *f)
{
    ct__objective *e = &f->l->objective;
    int         rises = 0;
    e->phase = CT_LEARN_PHASE_FOLDS;
    CT_TRY(evaluate_reference(f));
    const int weights = isfinite(e->result->loss_closed_form) ? WEIGHTS : 1;
    for (int candidate = 1; candidate < weights && rises < 2 && !ct__objective_cancelled(e); candidate++) {
        CT_TRY(evaluate_candidate(f, candidate));
        if (ct__objective_cancelled(e)) return CT_OK;
        rises = ct__compare(&f->scores, candidate, candidate - 1, CT_METRIC_LOSS).mean < 0 ? 0 : rises + 1;
    }
    if (ct__objective_cancelled(e)) return CT_OK;
    if (!ct__start_is_better(f->l)) return CT_OK;
    f->from_start = f->candidates;
    return evaluate_candidate(f, f->from_start);
}

/* Losses of the start values, behind the candidates. They were not learned from these sequences: all are held out. */
static ct_status evaluate_start(cross_validation *f)
{
    ct__objective *e = &f->l->objective;
    const int64_t n = e->outer->count;
    CT_TRY(ct_outer_validate(e->outer, f->l->start, NULL, &e->options->deployment, 0, f->evaluation, e->err));
    for (int64_t i = 0; i < n; i++) ct__score_evaluation(&f->evaluation[i], &f->scores.score[f->candidates * n + i]);
    f->scores.candidates = f->candidates + 1;
    e->result->loss_heldout_start = mean_loss(f, f->candidates);
    return CT_OK;
}

/* Keeps the parameters of the chosen candidate in each fold. The start values were not learned from any sequence. */
static ct_status keep_chosen(cross_validation *f, int candidate)
{
    ct__heldout *h = &f->l->held;
    const int64_t n = f->l->objective.outer->count, m = f->l->objective.outer->m, k = f->folds;
    f->l->objective.result->heldout = 1;
    if (candidate == f->candidates) return CT_OK;
    h->part = ct__zalloc(k * n, sizeof *h->part);
    h->p = ct__zalloc(k * m, sizeof *h->p);
    if (!h->part || !h->p) return ct__no_memory(f->l->objective.err, "folds", k);
    h->folds = f->folds;
    memcpy(h->part, f->held, (size_t)(k * n) * sizeof *h->part);
    for (int fold = 0; fold < f->folds; fold++)
        memcpy(h->p + fold * m, candidate_p(f, fold, candidate), (size_t)m * sizeof *h->p);
    return CT_OK;
}

/* Chooses and records; the start values are the last candidate. */
static ct_status choose(cross_validation *f, int *out)
{
    double prior[CANDIDATES + 1];
    ct_choice verdict[CANDIDATES + 1];
    const int start = f->candidates;
    CT_TRY(ct__models_are_right(f->l, &f->scores.right, &f->scores.refuted));
    const int chosen = ct__choose_candidate(&f->scores, 0, start, ct__start_is_incumbent(f->l), verdict);
    for (int k = 0; k < f->candidates; k++) prior[k] = k == f->from_start ? 0 : PATH[k];
    prior[start] = NAN;
    ct__record_candidates(f->l->objective.result, &f->scores, prior, verdict, chosen);
    *out = chosen;
    return CT_OK;
}

ct_status ct__choose_prior(ct__learning *l)
{
    ct__objective *e = &l->objective;
    ct_learn_result *r = e->result;
    cross_validation f = {.l = l, .folds = CT_MIN(e->options->folds, e->outer->count), .from_start = -1};
    if (f.folds < 2) return ct__choose_without_folds(l);
    r->prior = CT__PRIOR_ALONE;
    ct_status status = begin(&f, e->err);
    if (status == CT_OK) status = ct__hold_right_models(l);
    if (status == CT_OK) status = evaluate_candidates(&f);
    if (status == CT_OK && f.candidates > 0 && !ct__objective_cancelled(e)) status = evaluate_start(&f);
    const int cancelled = ct__objective_cancelled(e);
    int       k = 0;
    if (status == CT_OK && f.candidates > 0 && !cancelled) status = choose(&f, &k);
    if (status == CT_OK && f.candidates > 0) {
        r->loss_heldout_closed_form = mean_loss(&f, 0);
        r->loss_heldout = e->heldout = mean_loss(&f, k);
        r->prior = k == f.candidates ? NAN : k == f.from_start ? 0 : PATH[k];
        l->alone = k == f.from_start;
        if (k == f.candidates) r->stop = CT_LEARN_STOP_START;
        if (!cancelled) status = keep_chosen(&f, k);
    }
    end(&f);
    return status;
}
