/* scale_from_nees.c: the common scale from NEES, the consistency of errors.
 *
 * Chi-square sees residuals. Errors that last (biases, slow drifts, wrong models) move the estimate and leave residuals
 * small, so sigmas that fit residuals claim too much. What a gate or a planner needs is NEES 1: errors as large as
 * claimed, on sequences that the values were not learned from. NEES of P + Q, P the estimate's covariance and Q the
 * truth's own; P is proportional to the factor s where nothing is frozen. So
 *
 *     NEES(s) = 1     by s <- s NEES(s),     one step where Q = 0 and nothing is frozen
 *
 * NEES of a recording is the mean over its sequences, each per coordinate: what a user sees on further ones of it. On
 * recorded logs that predicts theirs better than medians or geometric means do, which are too small by factors of 2 to
 * 6 where sequences differ. One diverged sequence must not rule: none counts as more than CUT medians. Nor must one
 * recording with gross outliers: none counts as more than CUT_RECORDING medians of them. */
#include "learn/learn.h"

#include <math.h>

#define CUT_RECORDING 4.0
#define CUT 30.0 /* medians: the largest ratio in recorded logs without divergence is 23 */

/* NEES per coordinate of a sequence; NaN: there is none. */
static double nees_of(const ct_evaluation *e)
{
    const ct_consistency *c = &e->consistency;
    if (!ct_evaluation_has_estimate(e) || !c->nees_degrees || !isfinite(c->nees)) return NAN;
    return c->nees / (double)c->nees_degrees;
}

/* The mean over sequences of group `only`, or, if that is -1, of groups other than `without`, after the cut. value:
 * scratch. */
static double mean_over(int32_t n, const double *nees, const int32_t *group, int32_t only, int32_t without,
                        double *value)
{
    int32_t count = 0;
    double sum = 0;
    for (int32_t i = 0; i < n; i++)
        if ((only < 0 ? group[i] != without : group[i] == only) && !isnan(nees[i])) value[count++] = nees[i];
    const double most = CUT * ct_median(count, value);
    for (int32_t i = 0; i < count; i++) sum += CT_MIN(value[i], most);
    return count ? sum / count : NAN;
}

/* NEES without a group (-1: of all): with several recordings the mean of theirs after the cut, else the mean over
 * sequences. value: 2 n of scratch. */
static double mean_nees(int32_t n, const double *nees, const int32_t *group, int32_t recordings, int32_t without,
                        double *value)
{
    double  sum = 0, *each = value + n;
    int32_t count = 0;
    if (recordings < 2) return mean_over(n, nees, group, -1, without, value);
    for (int32_t g = 0; g < recordings; g++) {
        const double own = g == without ? NAN : mean_over(n, nees, group, g, -1, value);
        if (!isnan(own)) each[count++] = own;
    }
    const double most = CUT_RECORDING * ct_median(count, each);
    for (int32_t i = 0; i < count; i++) sum += CT_MIN(each[i], most);
    return count ? sum / count : NAN;
}

/* Over groups: the standard error of the mean, relative to it; and the mean after each group was divided by the mean of
 * the others, which is what a factor from the others leaves. With one group each sequence is one. */
static void compare_groups(int32_t n, const double *nees, const int32_t *group, int32_t groups, int32_t recordings,
                           double *value, ct__nees_measure *out)
{
    double sum = 0, square = 0, crossed = 0;
    int32_t count = 0, sequences = 0;
    for (int32_t g = 0; g < groups; g++) {
        const double others = mean_nees(n, nees, group, recordings, g, value);
        double own = 0;
        int32_t members = 0;
        for (int32_t i = 0; i < n; i++) {
            if (group[i] != g || isnan(nees[i])) continue;
            own += nees[i];
            members++;
            crossed += CT_MIN(nees[i] / (isnan(others) ? nees[i] : others), CUT);
        }
        if (!members) continue;
        sequences += members;
        own = CT_MIN(own / members, CUT * out->nees);
        sum += own;
        square += own * own;
        count++;
    }
    out->groups = count;
    out->crossed = count > 1 ? crossed / sequences : out->nees;
    out->error = count > 1 ? sqrt(CT_MAX(0, square - sum * sum / count) / (count * (count - 1.0))) / out->nees : NAN;
}

/* Every sequence under the values of its fold times the factor. */
static ct_status validate_scaled(ct__learning *l, double factor, ct_evaluation *out)
{
    ct__objective *e = &l->objective;
    ct_outer *o = e->outer;
    const ct__heldout *h = &l->held;
    double *q = ct__zalloc(o->m, sizeof *q);
    ct_status status = q ? CT_OK : ct__no_memory(e->err, "parameters", o->m);
    ct__scale_kernels(o, factor);
    for (int fold = 0; status == CT_OK && fold < CT_MAX(1, h->folds); fold++) {
        const double *p = h->folds ? h->p + (int64_t)fold * o->m : l->start;
        for (int32_t i = 0; i < o->m; i++) q[i] = p[i] + (ct_theta_is_scale(o->theta, i) ? log(factor) : 0);
        status = ct_outer_validate(o, q, h->folds ? h->part + (int64_t)fold * o->count : NULL, &e->options->deployment,
                                   1, out, e->err);
    }
    ct__scale_kernels(o, 1);
    free(q);
    return status;
}

ct_status ct__measure_nees(ct__learning *l, double factor, int diagnose, double *loss, ct__nees_measure *out)
{
    ct__objective *e = &l->objective;
    const int32_t n = e->outer->count;
    ct_evaluation *seen = ct__zalloc(n, sizeof *seen);
    double *nees = ct__zalloc(3 * (int64_t)n, sizeof *nees);
    int32_t *group = ct__zalloc(n, sizeof *group), groups = 0;
    ct_summary summary;
    ct_status status = seen && nees && group ? CT_OK : ct__no_memory(e->err, "sequences", n);
    if (status == CT_OK) status = ct__outer_groups(e->outer, group, &groups, e->err);
    if (status == CT_OK) status = validate_scaled(l, factor, seen);
    if (status == CT_OK) status = ct_summarise(n, seen, NULL, &summary, e->err);
    if (status == CT_OK && diagnose) status = ct__diagnose_divergence(l, seen);
    for (int32_t i = 0; status == CT_OK && i < n; i++) {
        nees[i] = nees_of(&seen[i]);
        loss[i] = ct__deployment_loss(&seen[i]);
        if (groups == 1) group[i] = i;
    }
    if (status == CT_OK) {
        *out = (ct__nees_measure){.nees = mean_nees(n, nees, group, groups, -1, nees + n),
                                  .chi_squared = summary.chi_squared};
        compare_groups(n, nees, group, groups == 1 ? n : groups, groups, nees + n, out);
    }
    free(seen);
    free(nees);
    free(group);
    return status;
}
