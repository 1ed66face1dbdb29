/* cross_validation.c: how far to trust the loss of a few training runs.
 *
 * The closed form uses every residual of every run; the loss of a handful of runs is a noisy judge of the few things
 * that the closed form cannot know (models that are wrong, errors that are not Gaussian). So the answer is looked
 * for on a path
 *
 *     p(nu) = argmin of L(p) + nu/2 sum_i weight_i (p_i - closed_i)^2,     nu = infinity (the closed form itself),
 *                                                                          1, 0.1, 0.01, 0.001, 0.0001
 *     weight_i = 2 L(closed) N_i / mean N,   N_i the samples that closed_i rests on
 *
 * walked from the strongest prior to weaker ones, on folds of the training runs; each p(nu) is judged on the fold's
 * own held-out runs, with the inference that will be used in deployment. Walking on ends when the held-out loss has
 * risen twice in a row: an early stop. The weight chosen is the strongest that no other candidate, the start values
 * among them, is better than by one standard error (of the logarithms of paired losses) and half a percent: what the
 * runs cannot tell apart is decided for the closed form. One run of five that ends in a wrong minimum is never
 * beyond a standard error, however wrong: so a candidate is also out if another has half its mean loss. If the start
 * values are better than all, they stay.
 *
 * All that takes the closed form for a good guess, as it is where models are right. They are not where, under it,
 * estimates err by more than they claim (NEES; whatever the bounds, and from the truth), or where the start values
 * track the training runs better than it does: errors that last do not show in second moments. Then nothing is
 * decided in its favour: the best of all on held-out runs is chosen. And where it was the start values that told, a
 * walk from them without prior is a candidate as well.
 *
 * The weakest prior is not none: what the loss does not feel would walk off to the bounds, however far those are.
 *
 * What is learned in the end, from all runs, has been judged by nobody. It was found by estimates that start from
 * the truth; if it does not hold as estimates are made in deployment, on the runs it was learned from at that, it is
 * not the answer: the closed form is, or the start values.
 *
 * A parameter without samples has no closed form: its prior has no weight, and nothing is decided in its favour. One
 * that a fold's runs have no samples of, because one run alone does, takes the closed form of all: a fold that knew
 * nothing of it would be judged by the table's guess. */
#include "learn/learn.h"

#include <math.h>

static const double PATH[] = {INFINITY, 1, 0.1, 0.01, 0.001, 0.0001};
#define WEIGHTS         ((int)(sizeof PATH / sizeof *PATH))
#define STOPS           (WEIGHTS + 1) /* and the walk from the start values                                  */
#define ERRORS          1    /* standard errors                                                             */
#define LEAST_GAIN      5e-3 /* of a loss, below which leaving the simpler is not worth the risk              */
#define RUIN            2.0  /* times another's mean loss: out                                               */
#define DISHONEST       2.0  /* NEES under the closed form, from which on models are wrong                   */
#define WALK_ITERATIONS 12   /* from stop to stop; they are near each other                                  */
#define WALK_RELATIVE   1e-4 /* and need not be found to the last digit                                      */
#define WALK_STEP       1e-2

typedef struct {
    ct__learning *l;
    int           folds;
    uint8_t      *train, *held;    /* folds x sequences: who takes part     */
    double       *p, *closed;      /* folds x STOPS x m; folds x m          */
    double       *loss;            /* STOPS x sequences, each held out once */
    double       *start_loss;      /* sequences: under the start values     */
    double        mean[STOPS];
    int           stops;           /* that were walked to                   */
    int           alone;           /* the one of them that is from the start values, or -1 */
    int           doubt;           /* models are wrong: the closed form is but one candidate */
    ct_evaluation *seen;           /* 2 x sequences: scratch                */
    int64_t      *few;             /* m: samples of a fold                  */
} folding;

/* Levenberg-Marquardt as the walk has it. */
static ct_status walk_lm(ct__objective *e, int most, double *p, ct_learn_stop *stop)
{
    const ct_learn_options *options = e->options;
    ct_learn_options        loose = *options;
    loose.relative = CT_MAX(loose.relative, WALK_RELATIVE);
    loose.step = CT_MAX(loose.step, WALK_STEP);
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
        CT_TRY(walk_lm(e, CT_MIN(WALK_ITERATIONS, most), p, stop));
        if (*stop == CT_LEARN_STOP_CANCELLED || *stop == CT_LEARN_STOP_STUCK) return CT_OK;
    }
    e->nu = nu;
    return ct__learn_lm(e, most, p, stop);
}

/* Do the start values track better than the closed form? */
static int start_is_better(const ct__learning *l)
{
    return l->objective.result->loss_start < l->objective.result->loss_closed_form;
}

static int is_complete(const ct__learning *l)
{
    for (int32_t i = 0; i < l->objective.outer->m; i++)
        if (!l->samples[i]) return 0;
    return 1;
}

const double *ct__path_start(const ct__learning *l, const double *closed)
{
    const ct_learn_result *r = l->objective.result;
    return is_complete(l) || r->loss_closed_form <= r->loss_start ? closed : l->start;
}

static ct_status begin(folding *f, ct_err *err)
{
    const int64_t n = f->l->objective.outer->count, m = f->l->objective.outer->m, k = f->folds;
    f->train = ct__zalloc(2 * k * n, sizeof *f->train);
    f->p = ct__zalloc(k * STOPS * m + k * m + (STOPS + 2) * n, sizeof *f->p);
    f->seen = ct__zalloc(2 * n, sizeof *f->seen);
    f->few = ct__zalloc(m, sizeof *f->few);
    if (!f->train || !f->p || !f->seen || !f->few) return ct__no_memory(err, "folds", k);
    f->held = f->train + k * n;
    f->closed = f->p + k * STOPS * m;
    f->loss = f->closed + k * m;
    f->start_loss = f->loss + (STOPS + 1) * n;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < k; j++) {
            f->held[j * n + i] = i % k == j;
            f->train[j * n + i] = i % k != j;
        }
    return CT_OK;
}

static void end(folding *f)
{
    free(f->train);
    free(f->p);
    free(f->seen);
    free(f->few);
}

static double *place(const folding *f, int fold, int stop)
{
    return f->p + ((int64_t)fold * STOPS + stop) * f->l->objective.outer->m;
}

/* One fold's p at a stop of the path, from the stop before it; and its held-out losses. */
static ct_status walk(folding *f, int fold, int stop)
{
    ct__objective    objective = f->l->objective;
    ct_outer     *o = objective.outer;
    const int64_t n = o->count, m = o->m;
    double       *p = place(f, fold, stop), *closed = f->closed + fold * m;
    ct_learn_stop why;
    objective.part = f->train + fold * n;
    objective.centre = closed;
    objective.weight = f->l->weight;
    objective.nu = stop == f->alone ? 0 : PATH[stop];
    if (stop == f->alone) {
        memcpy(p, f->l->start, (size_t)m * sizeof *p);
        CT_TRY(walk_lm(&objective, 2 * WALK_ITERATIONS, p, &why));
    } else if (stop == 0) {
        CT_TRY(ct__closed_start(o, objective.part, f->l->rescale, closed, f->few, objective.err));
        for (int64_t i = 0; i < m; i++)
            if (!f->few[i] && f->l->samples[i]) closed[i] = f->l->closed[i];
        memcpy(p, closed, (size_t)m * sizeof *p);
    } else {
        memcpy(p, stop == 1 ? ct__path_start(f->l, closed) : place(f, fold, stop - 1), (size_t)m * sizeof *p);
        CT_TRY(walk_lm(&objective, WALK_ITERATIONS, p, &why));
    }
    CT_TRY(ct_outer_validate(o, p, f->held + fold * n, &objective.options->deployment, 0, f->seen, objective.err));
    for (int64_t i = 0; i < n; i++)
        if (f->held[fold * n + i]) f->loss[stop * n + i] = ct__deployment_loss(&f->seen[i]);
    return CT_OK;
}

/* Mean loss; runs that could not be estimated make it infinite. */
static double mean_of(int64_t n, const double *loss)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += loss[i];
    return sum / (double)n;
}

/* All folds walk to a stop: the mean of its held-out losses. */
static ct_status walk_to(folding *f, int stop)
{
    ct__objective   *e = &f->l->objective;
    const int64_t n = e->outer->count;
    for (int fold = 0; fold < f->folds; fold++) {
        if (ct__objective_cancelled(e)) return CT_OK;
        e->fold_iteration = stop * f->folds + fold;
        e->iterations = STOPS * f->folds;
        e->done_from = e->done_to = 0.05 + 0.65 * e->fold_iteration / e->iterations;
        CT_TRY(walk(f, fold, stop));
    }
    if (ct__objective_cancelled(e)) return CT_OK;
    f->mean[stop] = mean_of(n, f->loss + stop * n);
    f->stops = stop + 1;
    e->heldout = f->mean[stop];
    return CT_OK;
}

ct_status ct__detect_mismatch(ct__learning *l, ct_evaluation *seen, double *p, int *doubt)
{
    ct__objective  *e = &l->objective;
    ct_inference inference = e->options->deployment;
    ct_summary   summary;
    inference.start = CT_START_TRUTH;
    inference.incremental = 0;
    *doubt = start_is_better(l);
    if (*doubt || !is_complete(l)) return CT_OK;
    CT_TRY(ct_outer_closed_form(e->outer, NULL, p, NULL, e->err));
    CT_TRY(ct_outer_validate(e->outer, p, NULL, &inference, 1, seen, e->err));
    CT_TRY(ct_summarise(e->outer->count, seen, NULL, &summary, e->err));
    *doubt = summary.nees > DISHONEST;
    return CT_OK;
}

static ct_status walk_all(folding *f)
{
    ct__objective *e = &f->l->objective;
    int         rises = 0;
    e->phase = "folds";
    for (int stop = 0; stop < WEIGHTS && rises < 2; stop++) {
        CT_TRY(walk_to(f, stop));
        if (ct__objective_cancelled(e)) return CT_OK;
        rises = stop > 0 && !(f->mean[stop] < f->mean[stop - 1]) ? rises + 1 : 0;
    }
    if (!start_is_better(f->l)) return CT_OK;
    f->alone = f->stops;
    return walk_to(f, f->alone);
}

/* Is b better than a beyond chance? By the logarithms of paired losses, so that every run counts alike whatever its
 * length or luck: their mean difference against its standard error. */
static int better_beyond_chance(int64_t n, const double *a, const double *b)
{
    double mean = 0, square = 0;
    int    infinite = 0; /* runs that only one of them could estimate */
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(a[i]) || !isfinite(b[i])) infinite += (isfinite(b[i]) != 0) - (isfinite(a[i]) != 0);
        else mean += log(a[i] / b[i]) / (double)n;
    }
    if (infinite) return infinite > 0;
    for (int64_t i = 0; i < n; i++)
        if (isfinite(a[i]) && isfinite(b[i])) square += (log(a[i] / b[i]) - mean) * (log(a[i] / b[i]) - mean);
    return mean > LEAST_GAIN && mean > ERRORS * sqrt(square / (double)(n * (n - 1)));
}

static int beaten(int64_t n, const double *by, const double *loss)
{
    const double theirs = mean_of(n, by);
    return better_beyond_chance(n, loss, by) || (isfinite(theirs) && mean_of(n, loss) > RUIN * theirs);
}

/* The losses of the start values. Nobody learned them from these runs, so all are held out. */
static ct_status judge_start(folding *f)
{
    ct__objective   *e = &f->l->objective;
    const int64_t n = e->outer->count;
    double        mean = 0;
    CT_TRY(ct_outer_validate(e->outer, f->l->start, NULL, &e->options->deployment, 0, f->seen, e->err));
    for (int64_t i = 0; i < n; i++) {
        f->start_loss[i] = ct__deployment_loss(&f->seen[i]);
        mean += f->start_loss[i] / (double)n;
    }
    e->result->loss_heldout_start = mean;
    return CT_OK;
}

int ct__choose_candidate(int64_t n, int first, int stops, const double *loss, const double *start, int doubt)
{
    int best = first;
    for (int k = first; k < stops && !doubt; k++) {
        int out = beaten(n, start, loss + k * n);
        for (int j = 0; j < stops; j++) out = out || (j != k && beaten(n, loss + j * n, loss + k * n));
        if (!out) return k;
    }
    for (int k = first; k < stops; k++) /* or each is beaten by some other */
        if (mean_of(n, loss + k * n) * (1 + LEAST_GAIN) < mean_of(n, loss + best * n)) best = k;
    return mean_of(n, loss + best * n) <= mean_of(n, start) ? best : stops;
}

/* A closed form that lacks samples of a parameter is passed over, unless there is nothing else. */
static int choose(const folding *f)
{
    return ct__choose_candidate(f->l->objective.outer->count, is_complete(f->l) || f->stops == 1 ? 0 : 1, f->stops,
                                f->loss, f->start_loss, f->doubt);
}

/* Consistency of the runs held out, under the p of their fold, before and after its own scale. */
static ct_status measure(folding *f, int stop)
{
    ct__objective      *e = &f->l->objective;
    ct_learn_result *r = e->result;
    const int64_t    n = e->outer->count;
    ct_summary       summary[2];
    for (int fold = 0; fold < f->folds; fold++) {
        double *p = place(f, fold, stop), factor, loss;
        CT_TRY(ct__scale_wanted(e->outer, p, f->train + fold * n, &factor, NULL, &loss, e->err));
        for (int after = 0; after < 2; after++) {
            if (after && isfinite(factor)) ct__scale_apply(e->outer->theta, e->options->scale, factor, p);
            CT_TRY(ct_outer_validate(e->outer, p, f->held + fold * n, &e->options->deployment, 1, f->seen + after * n,
                                  e->err));
        }
    }
    for (int after = 0; after < 2; after++)
        CT_TRY(ct_summarise(e->outer->count, f->seen + after * n, NULL, &summary[after], e->err));
    r->heldout = 1;
    r->chi_before = summary[0].chi_squared;
    r->chi_after = summary[1].chi_squared;
    r->nees_before = summary[0].nees;
    r->nees_after = summary[1].nees;
    return CT_OK;
}

/* The start values come last, after the stops that were walked to. */
static void record(folding *f, int chosen)
{
    const int64_t n = f->l->objective.outer->count;
    double        prior[STOPS + 1];
    for (int k = 0; k < f->stops; k++) prior[k] = k == f->alone ? 0 : PATH[k];
    prior[f->stops] = NAN;
    memcpy(f->loss + f->stops * n, f->start_loss, (size_t)n * sizeof *f->loss);
    ct__record_candidates(f->l->objective.result, n, f->stops + 1, prior, f->loss, chosen);
}

ct_status ct__choose_prior(ct__learning *l)
{
    ct__objective      *e = &l->objective;
    ct_learn_result *r = e->result;
    folding          f = {.l = l, .folds = CT_MIN(e->options->folds, e->outer->count), .alone = -1};
    r->prior = CT__PRIOR_ALONE;
    if (f.folds < 2) return CT_OK;
    ct_status status = begin(&f, e->err);
    if (status == CT_OK) status = ct__detect_mismatch(l, f.seen, f.p, &f.doubt);
    if (status == CT_OK) status = walk_all(&f);
    if (status == CT_OK && f.stops > 0 && !ct__objective_cancelled(e)) status = judge_start(&f);
    if (status == CT_OK && f.stops > 0) {
        const int k = ct__objective_cancelled(e) ? 0 : choose(&f);
        r->loss_heldout_closed_form = f.mean[0];
        r->loss_heldout = e->heldout = k < f.stops ? f.mean[k] : r->loss_heldout_start;
        r->prior = k == f.stops ? NAN : k == f.alone ? 0 : PATH[k];
        l->alone = k == f.alone;
        if (!ct__objective_cancelled(e)) record(&f, k);
        if (k == f.stops) r->stop = CT_LEARN_STOP_START;
        else if (!ct__objective_cancelled(e)) status = measure(&f, k);
    }
    end(&f);
    return status;
}

/* ---- the answer ---- */

/* loss <- of each run under p, estimated as in deployment. */
static ct_status field_losses(ct__objective *e, const double *p, ct_evaluation *seen, double *loss)
{
    CT_TRY(ct_outer_validate(e->outer, p, NULL, &e->options->deployment, 0, seen, e->err));
    for (int32_t i = 0; i < e->outer->count; i++) loss[i] = ct__deployment_loss(&seen[i]);
    return CT_OK;
}

/* The answer against the two that were there before. What was measured on held-out runs was measured under the
 * answer's folds, and goes with it. */
static ct_status stand(ct__learning *l, ct_evaluation *seen, double *loss)
{
    ct__objective         *e = &l->objective;
    ct_learn_result    *r = e->result;
    const int64_t       n = e->outer->count;
    double             *answer = loss, *other = loss + n;
    const double *const place[] = {l->closed, l->start};
    static const char  *const name[] = {"closed form", "start values"};
    const double        weight = r->prior;
    int                 taken = -1;
    ct_outer_value      value = {0};
    CT_TRY(ct_outer_evaluate(e->outer, l->p, NULL, &value, e->err));
    CT_TRY(field_losses(e, l->p, seen, answer));
    const double mine = mean_of(n, answer);
    for (int k = 0; k < 2; k++) {
        CT_TRY(field_losses(e, place[k], seen, other));
        if (!beaten(n, other, answer) || !(mean_of(n, other) < mean_of(n, answer))) continue;
        memcpy(l->p, place[k], (size_t)e->outer->m * sizeof *l->p);
        memcpy(answer, other, (size_t)n * sizeof *answer);
        r->stop = k ? CT_LEARN_STOP_START : CT_LEARN_STOP_CLOSED_FORM;
        r->prior = k ? NAN : INFINITY;
        ct__choose_recorded(r, r->prior);
        r->loss_heldout = k ? r->loss_heldout_start : r->loss_heldout_closed_form;
        r->heldout = 0;
        taken = k;
    }
    r->loss_deployment = mean_of(n, answer);
    if (taken < 0) return CT_OK;
    CT_TRY(ct__find(l, CT_FINDING_ANSWER_REPLACED, CT__VALUES(weight, value.loss, mine, r->loss_deployment)));
    return ct_findings_add_subject(&r->findings, CT_SUBJECT_CANDIDATE, -1, 0, name[taken], e->err);
}

ct_status ct__validate_answer(ct__learning *l)
{
    const int64_t  n = l->objective.outer->count;
    ct_evaluation *seen = ct__zalloc(n, sizeof *seen);
    double        *loss = ct__zalloc(2 * n, sizeof *loss);
    const ct_status status = seen && loss ? stand(l, seen, loss) : ct__no_memory(l->objective.err, "sequences", n);
    free(seen);
    free(loss);
    return status;
}
