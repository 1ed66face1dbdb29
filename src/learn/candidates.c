/* candidates.c: how the answer is chosen among candidates.
 *
 * Candidates are the closed form, minima of the loss under priors of decreasing weight, and the start values. Each has
 * a held-out loss per sequence (cross_validation.c). Candidates are ordered: the strongest prior first.
 *
 * Models right. The chosen candidate is the first that no other candidate, the start values included, beats. b beats a
 * if
 *   - the mean of log(a_i / b_i) over sequences exceeds one standard error, and half a percent. Logarithms of paired
 *     losses give each sequence the same weight, whatever its length; or
 *   - the mean loss of a is more than twice that of b. One sequence of five in a wrong minimum never exceeds a
 *     standard error, so the first rule misses it.
 * What the data cannot distinguish is decided for the strongest prior.
 *
 * Model mismatch. Second moments do not show biases and slow errors. There is mismatch if the start values track better
 * than the closed form, or if the NEES under the closed form (estimated from the truth, without bounds) exceeds 2. Then
 * the candidate with the smallest mean held-out loss is chosen.
 *
 * If the start values beat all candidates, they are the answer.
 *
 * The final answer is learned from all sequences, so it has no held-out loss. It is validated on the training
 * sequences, estimated as in deployment. If the closed form or the start values beat it there, they replace it. */
#include "learn/learn.h"

#include <math.h>

#define STANDARD_ERRORS 1    /* that a difference must exceed                                         */
#define LEAST_GAIN      5e-3 /* relative gain below which a weaker prior is not worth its risk        */
#define RUIN            2.0  /* ratio of mean losses above which a candidate is out                   */
#define NEES_MOST       2.0  /* under the closed form, above which there is model mismatch            */

int ct__start_is_better(const ct__learning *l)
{
    return l->objective.result->loss_start < l->objective.result->loss_closed_form;
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

ct_status ct__detect_mismatch(ct__learning *l, ct_evaluation *seen, double *p, int *mismatch)
{
    ct__objective  *e = &l->objective;
    ct_inference inference = e->options->deployment;
    ct_summary   summary;
    inference.start = CT_START_TRUTH;
    inference.incremental = 0;
    *mismatch = ct__start_is_better(l);
    if (*mismatch || !ct__closed_form_is_complete(l)) return CT_OK;
    if (e->outer->reference == CT_REFERENCE_CLOSED_FORM) CT_TRY(ct_outer_closed_form(e->outer, NULL, p, NULL, e->err));
    else memcpy(p, l->closed, (size_t)e->outer->m * sizeof *p);
    CT_TRY(ct_outer_validate(e->outer, p, NULL, &inference, 1, seen, e->err));
    CT_TRY(ct_summarise(e->outer->count, seen, NULL, &summary, e->err));
    *mismatch = summary.nees > NEES_MOST;
    return CT_OK;
}

/* Is b better than a by more than the standard error of the mean log ratio? */
static int exceeds_standard_error(int64_t n, const double *a, const double *b)
{
    double mean = 0, square = 0;
    int    infinite = 0; /* sequences that only one of them could estimate */
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(a[i]) || !isfinite(b[i])) infinite += (isfinite(b[i]) != 0) - (isfinite(a[i]) != 0);
        else mean += log(a[i] / b[i]) / (double)n;
    }
    if (infinite) return infinite > 0;
    for (int64_t i = 0; i < n; i++)
        if (isfinite(a[i]) && isfinite(b[i])) square += (log(a[i] / b[i]) - mean) * (log(a[i] / b[i]) - mean);
    return mean > LEAST_GAIN && mean > STANDARD_ERRORS * sqrt(square / (double)(n * (n - 1)));
}

static int is_beaten(int64_t n, const double *by, const double *loss)
{
    const double theirs = ct__mean_loss(n, by);
    return exceeds_standard_error(n, loss, by) || (isfinite(theirs) && ct__mean_loss(n, loss) > RUIN * theirs);
}

int ct__choose_candidate(int64_t n, int first, int candidates, const double *loss, const double *start, int mismatch)
{
    int best = first;
    for (int k = first; k < candidates && !mismatch; k++) {
        int out = is_beaten(n, start, loss + k * n);
        for (int j = 0; j < candidates; j++) out = out || (j != k && is_beaten(n, loss + j * n, loss + k * n));
        if (!out) return k;
    }
    for (int k = first; k < candidates; k++) /* each is beaten by another, or there is mismatch */
        if (ct__mean_loss(n, loss + k * n) * (1 + LEAST_GAIN) < ct__mean_loss(n, loss + best * n)) best = k;
    return ct__mean_loss(n, loss + best * n) <= ct__mean_loss(n, start) ? best : candidates;
}

/* ---- Validation of the answer ---------------------------------------------------------------- */

/* loss <- of each sequence under p, estimated as in deployment. */
static ct_status deployment_losses(ct__objective *e, const double *p, ct_evaluation *seen, double *loss)
{
    CT_TRY(ct_outer_validate(e->outer, p, NULL, &e->options->deployment, 0, seen, e->err));
    for (int32_t i = 0; i < e->outer->count; i++) loss[i] = ct__deployment_loss(&seen[i]);
    return CT_OK;
}

/* The closed form or the start values replace an answer that they beat. The consistency on held-out sequences, which is
 * that of the answer's folds, is dropped with it. */
static ct_status replace_if_beaten(ct__learning *l, ct_evaluation *seen, double *loss)
{
    ct__objective         *e = &l->objective;
    ct_learn_result    *r = e->result;
    const int64_t       n = e->outer->count;
    double             *answer = loss, *other = loss + n;
    const double *const place[] = {l->closed, l->start};
    const char *const   name[] = {ct_reference_name(e->outer->reference), "start values"};
    const double        weight = r->prior;
    int                 taken = -1;
    ct_outer_value      value = {0};
    CT_TRY(ct_outer_evaluate(e->outer, l->p, NULL, &value, e->err));
    CT_TRY(deployment_losses(e, l->p, seen, answer));
    const double mine = ct__mean_loss(n, answer);
    for (int k = 0; k < 2; k++) {
        CT_TRY(deployment_losses(e, place[k], seen, other));
        if (!is_beaten(n, other, answer) || !(ct__mean_loss(n, other) < ct__mean_loss(n, answer))) continue;
        memcpy(l->p, place[k], (size_t)e->outer->m * sizeof *l->p);
        memcpy(answer, other, (size_t)n * sizeof *answer);
        r->stop = k ? CT_LEARN_STOP_START : ct__reference_stop(l);
        r->prior = k ? NAN : INFINITY;
        ct__choose_recorded(r, r->prior);
        r->loss_heldout = k ? r->loss_heldout_start : r->loss_heldout_closed_form;
        r->heldout = k; /* the start values were not learned from these sequences */
        l->held.folds = 0;
        taken = k;
    }
    r->loss_deployment = ct__mean_loss(n, answer);
    if (taken < 0) return CT_OK;
    CT_TRY(ct__find(l, CT_FINDING_ANSWER_REPLACED, CT__VALUES(weight, value.loss, mine, r->loss_deployment)));
    return ct_findings_add_subject(&r->findings, CT_SUBJECT_CANDIDATE, -1, 0, name[taken], e->err);
}

ct_status ct__validate_answer(ct__learning *l)
{
    const int64_t  n = l->objective.outer->count;
    ct_evaluation *seen = ct__zalloc(n, sizeof *seen);
    double        *loss = ct__zalloc(2 * n, sizeof *loss);
    const ct_status status =
        seen && loss ? replace_if_beaten(l, seen, loss) : ct__no_memory(l->objective.err, "sequences", n);
    free(seen);
    free(loss);
    return status;
}

/* ---- The table of candidates ----------------------------------------------------------------- */

/* Sequences differ more than candidates do, so candidates are compared by paired differences. With l_ik the held-out
 * loss of sequence i under candidate k and c the chosen one,
 *
 *     d_ik = log(l_ik / l_ic),   log_ratio_k = mean_i d_ik,   log_ratio_error_k = sd_i(d_ik) / sqrt(n). */

/* Mean and its standard error; NaN where an entry is not finite, and the error where n < 2. */
static void mean_and_error(int64_t n, const double *value, const double *over, double *mean, double *error)
{
    double sum = 0, square = 0;
    for (int64_t i = 0; i < n; i++) sum += over ? log(value[i] / over[i]) : value[i];
    *mean = isfinite(sum) ? sum / (double)n : NAN;
    for (int64_t i = 0; i < n; i++) {
        const double d = (over ? log(value[i] / over[i]) : value[i]) - *mean;
        square += d * d;
    }
    *error = n > 1 && isfinite(square) ? sqrt(square / (double)(n * (n - 1))) : NAN;
}

void ct__record_candidates(ct_learn_result *r, int64_t n, int count, const double *prior, const double *loss,
                           int chosen)
{
    r->candidates = CT_MIN(count, CT_LEARN_CANDIDATES_MAX);
    for (int k = 0; k < r->candidates; k++) {
        ct_learn_candidate *c = &r->candidate[k];
        *c = (ct_learn_candidate){.prior = prior[k], .chosen = k == chosen};
        mean_and_error(n, loss + k * n, NULL, &c->heldout, &c->heldout_error);
        mean_and_error(n, loss + k * n, loss + chosen * n, &c->log_ratio, &c->log_ratio_error);
    }
}

void ct__choose_recorded(ct_learn_result *r, double prior)
{
    for (int k = 0; k < r->candidates; k++) {
        const double own = r->candidate[k].prior;
        r->candidate[k].chosen = isnan(prior) ? isnan(own) : own == prior;
    }
}
