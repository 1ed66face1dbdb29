/* candidates.c: what cross-validation measured of every candidate, kept for the result.
 *
 * Sequences differ more than candidates do. So candidates are compared by paired differences: with l_ik the held-out
 * loss of sequence i under candidate k and c the chosen one,
 *
 *     d_ik = log(l_ik / l_ic),   log_ratio_k = mean_i d_ik,   log_ratio_error_k = sd_i(d_ik) / sqrt(n). */
#include "learn/learn.h"

#include <math.h>

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
