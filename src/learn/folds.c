/* folds.c: how far to trust the loss of a few training runs.
 *
 * The closed form uses every residual of every run; the loss of a handful of runs is a noisy judge of the few things that the closed form cannot know (models
 * that are wrong, errors that are not Gaussian). So the answer is looked for on a path
 *
 *     p(nu) = argmin of L(p) + nu/2 sum_i weight_i (p_i - closed_i)^2,     nu = infinity (the closed form itself), 1, 0.1, 0.01, 0.001, 0
 *     weight_i = 2 L(closed) N_i / mean N,   N_i the samples that closed_i rests on
 *
 * walked from the strongest prior to weaker ones, on folds of the training runs; each p(nu) is judged on the fold's own held-out runs, with the inference that will
 * be used in the field. Walking on ends when the held-out loss has risen twice in a row: an early stop. The weight chosen is the strongest whose held-out loss is
 * within two standard errors (of paired differences, over runs) of the best: what the runs cannot tell apart is decided for the closed form. If the start values
 * were better than that by as much, they stay. */
#include "learn/learn.h"

#include <math.h>

static const double PATH[] = {INFINITY, 1, 0.1, 0.01, 0.001, 0};
#define STOPS           ((int)(sizeof PATH / sizeof *PATH))
#define ERRORS          2 /* standard errors: of five runs, one in ten or so is worth that by chance */
#define WALK_ITERATIONS 4 /* on the way; the last stop of a path has as many as the options say */

typedef struct {
    ct__learning *l;
    int           folds;
    uint8_t      *train, *held;    /* folds x sequences: who takes part     */
    double       *p, *closed;      /* folds x STOPS x m; folds x m          */
    double       *loss;            /* STOPS x sequences, each held out once */
    double       *start_loss;      /* sequences: under the start values     */
    double        mean[STOPS];
    int           stops;           /* that were walked to                   */
    ct_assessment *seen;           /* per sequence: scratch                 */
} folding;

ct_status ct__learn_path(ct__effort *e, double nu, double *p, ct_learn_stop *stop)
{
    const int most = e->options->max_iterations ? e->options->max_iterations : 50;
    int       k = 1;
    for (; k < STOPS - 1 && PATH[k] > nu; k++) {
        e->nu = PATH[k];
        CT_TRY(ct__learn_lm(e, CT_MIN(WALK_ITERATIONS, most), p, stop));
        if (*stop == CT_LEARN_STOP_CANCELLED || *stop == CT_LEARN_STOP_STUCK) return CT_OK;
    }
    e->nu = nu;
    return ct__learn_lm(e, most, p, stop);
}

static ct_status begin(folding *f, ct_err *err)
{
    const int64_t n = f->l->effort.outer->count, m = f->l->effort.outer->m, k = f->folds;
    f->train = ct__zalloc(2 * k * n, sizeof *f->train);
    f->p = ct__zalloc(k * STOPS * m + k * m + (STOPS + 1) * n, sizeof *f->p);
    f->seen = ct__zalloc(n, sizeof *f->seen);
    if (!f->train || !f->p || !f->seen) return ct__no_memory(err, "folds", k);
    f->held = f->train + k * n;
    f->closed = f->p + k * STOPS * m;
    f->loss = f->closed + k * m;
    f->start_loss = f->loss + STOPS * n;
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
}

static double *place(const folding *f, int fold, int stop) { return f->p + ((int64_t)fold * STOPS + stop) * f->l->effort.outer->m; }

/* One fold's p at a stop of the path, from the stop before it; and its held-out losses. */
static ct_status walk(folding *f, int fold, int stop)
{
    ct__effort    effort = f->l->effort;
    ct_outer     *o = effort.outer;
    const int64_t n = o->count, m = o->m;
    double       *p = place(f, fold, stop), *closed = f->closed + fold * m;
    ct_learn_stop why;
    effort.part = f->train + fold * n;
    effort.centre = closed;
    effort.weight = f->l->weight;
    effort.nu = PATH[stop];
    if (stop == 0) {
        CT_TRY(ct__closed_start(o, effort.part, f->l->rescale, closed, NULL, effort.err));
        memcpy(p, closed, (size_t)m * sizeof *p);
    } else {
        memcpy(p, place(f, fold, stop - 1), (size_t)m * sizeof *p);
        CT_TRY(ct__learn_lm(&effort, WALK_ITERATIONS, p, &why));
    }
    CT_TRY(ct_outer_judge(o, p, f->held + fold * n, &effort.options->field, 0, f->seen, effort.err));
    for (int64_t i = 0; i < n; i++)
        if (f->held[fold * n + i]) f->loss[stop * n + i] = isfinite(f->seen[i].loss) ? f->seen[i].loss : INFINITY;
    return CT_OK;
}

/* Mean held-out loss of every stop walked to, early stop included. */
static ct_status walk_all(folding *f)
{
    ct__effort   *e = &f->l->effort;
    const int64_t n = e->outer->count;
    int           rises = 0;
    e->phase = "folds";
    for (int stop = 0; stop < STOPS && rises < 2 && !ct__effort_cancelled(e); stop++) {
        f->mean[stop] = 0;
        for (int fold = 0; fold < f->folds && !ct__effort_cancelled(e); fold++) {
            e->done_from = e->done_to = 0.05 + 0.65 * (stop * f->folds + fold) / (STOPS * f->folds);
            CT_TRY(walk(f, fold, stop));
        }
        if (ct__effort_cancelled(e)) return CT_OK;
        for (int64_t i = 0; i < n; i++) f->mean[stop] += f->loss[stop * n + i] / (double)n;
        f->stops = stop + 1;
        rises = stop > 0 && !(f->mean[stop] < f->mean[stop - 1]) ? rises + 1 : 0;
        e->heldout = f->mean[stop];
    }
    return CT_OK;
}

/* Standard error of the mean of paired differences. */
static double error_of_mean(int64_t n, const double *a, const double *b)
{
    double mean = 0, square = 0;
    for (int64_t i = 0; i < n; i++) mean += (a[i] - b[i]) / (double)n;
    for (int64_t i = 0; i < n; i++) square += (a[i] - b[i] - mean) * (a[i] - b[i] - mean);
    return sqrt(square / (double)(n * (n - 1)));
}

/* The strongest prior within ERRORS standard errors of the best. */
static int choose(const folding *f)
{
    const int64_t n = f->l->effort.outer->count;
    int           best = 0;
    for (int k = 1; k < f->stops; k++)
        if (f->mean[k] < f->mean[best]) best = k;
    for (int k = 0; k < best; k++)
        if (f->mean[k] - f->mean[best] <= ERRORS * error_of_mean(n, f->loss + k * n, f->loss + best * n)) return k; /* false where one of them is infinite */
    return best;
}

/* Were the start values, which somebody may have tuned, better than the choice? They have seen none of the runs, so all are held out. */
static ct_status judge_start(folding *f, int chosen, int *better)
{
    ct__effort   *e = &f->l->effort;
    const int64_t n = e->outer->count;
    double       *loss = f->start_loss, mean = 0;
    CT_TRY(ct_outer_judge(e->outer, f->l->start, NULL, &e->options->field, 0, f->seen, e->err));
    for (int64_t i = 0; i < n; i++) {
        loss[i] = isfinite(f->seen[i].loss) ? f->seen[i].loss : INFINITY;
        mean += loss[i] / (double)n;
    }
    e->result->loss_heldout_start = mean;
    *better = isfinite(mean) && (!isfinite(f->mean[chosen]) || f->mean[chosen] - mean > ERRORS * error_of_mean(n, f->loss + chosen * n, loss));
    return CT_OK;
}

/* Consistency of the runs held out, under the p of their fold, before and after its own scale. */
static ct_status measure(folding *f, int stop)
{
    ct__effort      *e = &f->l->effort;
    ct_learn_result *r = e->result;
    const int64_t    n = e->outer->count;
    double           chi[2] = {0}, nees[2] = {0}, degrees = 0, nees_degrees[2] = {0};
    for (int fold = 0; fold < f->folds; fold++) {
        double *p = place(f, fold, stop), factor, loss;
        CT_TRY(ct__scale_wanted(e->outer, p, f->train + fold * n, &factor, &loss, e->err));
        for (int after = 0; after < 2; after++) {
            if (after && isfinite(factor)) ct__scale_apply(e->outer->theta, e->options->scale, factor, p);
            CT_TRY(ct_outer_judge(e->outer, p, f->held + fold * n, &e->options->field, 1, f->seen, e->err));
            for (int64_t i = 0; i < n; i++) {
                if (!f->held[fold * n + i]) continue;
                const ct_consistency *c = &f->seen[i].consistency;
                chi[after] += c->chi_squared;
                degrees += after ? 0 : (double)c->degrees;
                nees[after] += c->nees_degrees ? c->nees : 0;
                nees_degrees[after] += (double)c->nees_degrees;
            }
        }
    }
    r->heldout = 1;
    r->chi_before = chi[0] / degrees;
    r->chi_after = chi[1] / degrees;
    r->nees_before = nees[0] / nees_degrees[0];
    r->nees_after = nees[1] / nees_degrees[1];
    return CT_OK;
}

ct_status ct__choose_prior(ct__learning *l)
{
    ct__effort      *e = &l->effort;
    ct_learn_result *r = e->result;
    folding          f = {.l = l, .folds = CT_MIN(e->options->folds, e->outer->count)};
    int              better = 0;
    r->prior = CT__PRIOR_ALONE;
    if (f.folds < 2) return CT_OK;
    ct_status status = begin(&f, e->err);
    if (status == CT_OK) status = walk_all(&f);
    if (status == CT_OK && f.stops > 0) {
        const int k = choose(&f);
        r->prior = PATH[k];
        r->loss_heldout = e->heldout = f.mean[k];
        r->loss_heldout_closed_form = f.mean[0];
        if (!ct__effort_cancelled(e)) status = judge_start(&f, k, &better);
        if (better) {
            r->stop = CT_LEARN_STOP_START;
            r->loss_heldout = e->heldout = r->loss_heldout_start;
            r->prior = NAN;
        } else if (status == CT_OK && !ct__effort_cancelled(e)) {
            status = measure(&f, k);
        }
    }
    end(&f);
    return status;
}
