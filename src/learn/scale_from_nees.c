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

/* The mean after the cut at so many medians; NaN of none. Changes the order. */
static double cut_mean(int32_t count, double *value, double cut)
{
    const double most = cut * ct_median(count, value);
    double       sum = 0;
    for (int32_t i = 0; i < count; i++) sum += CT_MIN(value[i], most);
    return count ? sum / count : NAN;
}

/* Values of groups: with several recordings the mean of each after the cut, else each sequence is a group. */
typedef struct {
    int32_t  groups, count; /* count: of those that have a value                */
    double   cut;           /* of the mean over them                            */
    double  *value;         /* per group; NaN: none                             */
    double  *sorted, *room; /* count of the values, ascending; scratch of n     */
    int32_t *first, *member; /* per group (+1): its sequences in member         */
} units;

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void fill_units(units *u, int32_t n, const double *nees, const int32_t *group, int32_t recordings)
{
    for (int32_t i = 0; i < n; i++) u->first[group[i] + 1]++;
    for (int32_t g = 0; g < u->groups; g++) u->first[g + 1] += u->first[g];
    for (int32_t i = 0; i < n; i++) u->member[u->first[group[i]]++] = i;
    for (int32_t g = u->groups; g > 0; g--) u->first[g] = u->first[g - 1];
    u->first[0] = 0;
    for (int32_t g = 0; g < u->groups; g++) {
        int32_t count = 0;
        for (int32_t k = u->first[g]; k < u->first[g + 1]; k++)
            if (!isnan(nees[u->member[k]])) u->room[count++] = nees[u->member[k]];
        u->value[g] = recordings < 2 ? nees[u->member[u->first[g]]] : cut_mean(count, u->room, CUT);
        if (!isnan(u->value[g])) u->sorted[u->count++] = u->value[g];
    }
    u->cut = recordings < 2 ? CUT : CUT_RECORDING;
    qsort(u->sorted, (size_t)u->count, sizeof *u->sorted, ascending);
}

/* Entry k of the sorted values without that of rank `without`. */
static double left(const units *u, int32_t k, int32_t without) { return u->sorted[k + (k >= without)]; }

/* The mean over groups other than g, after a cut at their median. The sum over all groups under that cut is kept: few
 * cuts occur, as the median without one value is one of three. */
static double mean_of_others(const units *u, int32_t g, double *cut_at, double *sum)
{
    const int32_t n = u->count - 1, half = n / 2;
    int32_t       rank = 0, above = u->count - 1;
    if (n < 1) return NAN;
    while (rank < above) { /* the first that is not smaller */
        const int32_t middle = rank + (above - rank) / 2;
        if (u->sorted[middle] < u->value[g]) rank = middle + 1;
        else above = middle;
    }
    const double median =
        n % 2 ? left(u, half, rank) : 0.5 * left(u, half - 1, rank) + 0.5 * left(u, half, rank);
    const double most = u->cut * median;
    if (most != *cut_at) {
        *cut_at = most;
        *sum = 0;
        for (int32_t k = 0; k < u->count; k++) *sum += CT_MIN(u->sorted[k], most);
    }
    return (*sum - CT_MIN(u->value[g], most)) / n;
}

/* Over groups: the standard error of the mean, relative to it; and the mean after each group was divided by the mean of
 * the others, which is what a factor from the others leaves. With one group each sequence is one. */
static void compare_groups(const units *u, const double *nees, ct__nees_measure *out)
{
    double  sum = 0, square = 0, crossed = 0, cut_at = NAN, total = 0;
    int32_t count = 0, sequences = 0;
    for (int32_t g = 0; g < u->groups; g++) {
        const double others = isnan(u->value[g]) ? NAN : mean_of_others(u, g, &cut_at, &total);
        double       own = 0;
        int32_t      members = 0;
        for (int32_t k = u->first[g]; k < u->first[g + 1]; k++) {
            const double one = nees[u->member[k]];
            if (isnan(one)) continue;
            own += one;
            members++;
            crossed += CT_MIN(one / (isnan(others) ? one : others), CUT);
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

/* `recordings` is the number of groups; 1: each sequence counts as one. */
static ct_status measure(int32_t n, const double *nees, int32_t *group, int32_t recordings, ct__nees_measure *out,
                         ct_err *err)
{
    units u = {.groups = recordings < 2 ? n : recordings};
    u.value = ct__zalloc(u.groups + 2 * (int64_t)n, sizeof *u.value);
    u.first = ct__zalloc(u.groups + 1 + (int64_t)n, sizeof *u.first);
    if (!u.value || !u.first) {
        free(u.value);
        free(u.first);
        return ct__no_memory(err, "sequences", n);
    }
    u.sorted = u.value + u.groups;
    u.room = u.sorted + n;
    u.member = u.first + u.groups + 1;
    for (int32_t i = 0; recordings < 2 && i < n; i++) group[i] = i;
    fill_units(&u, n, nees, group, recordings);
    memcpy(u.room, u.sorted, (size_t)u.count * sizeof *u.room);
    out->nees = cut_mean(u.count, u.room, u.cut);
    compare_groups(&u, nees, out);
    free(u.value);
    free(u.first);
    return CT_OK;
}

/* Relative standard deviation of the mean over groups of means over their sequences, if the models are right. */
static ct_status chance(int32_t n, const ct_evaluation *seen, const int32_t *group, double *out, ct_err *err)
{
    int32_t *members = ct__zalloc(n, sizeof *members), groups = 0;
    double   sum = 0;
    if (!members && n) return ct__no_memory(err, "sequences", n);
    for (int32_t i = 0; i < n; i++)
        if (!isnan(nees_of(&seen[i])) && !members[group[i]]++) groups++;
    for (int32_t i = 0; i < n; i++) {
        const ct_consistency *c = &seen[i].consistency;
        if (isnan(nees_of(&seen[i]))) continue;
        const double one = c->nees_deviation / (double)c->nees_degrees / members[group[i]] / groups;
        sum += one * one;
    }
    *out = sqrt(sum);
    free(members);
    return CT_OK;
}

/* Every sequence under the values of its fold times the factor. nees: as ct_evaluate_options has it. */
static ct_status validate_scaled(ct__learning *l, double factor, int nees, ct_evaluation *out)
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
                                   nees, out, e->err);
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
    double *nees = ct__zalloc(n, sizeof *nees);
    int32_t *group = ct__zalloc(n, sizeof *group), groups = 0;
    ct_summary summary;
    ct_status status = seen && nees && group ? CT_OK : ct__no_memory(e->err, "sequences", n);
    if (status == CT_OK) status = ct__outer_groups(e->outer, group, &groups, e->err);
    if (status == CT_OK) status = validate_scaled(l, factor, diagnose ? 2 : 1, seen);
    if (status == CT_OK) status = ct_summarise(n, seen, NULL, &summary, e->err);
    if (status == CT_OK && diagnose) status = ct__diagnose_divergence(l, seen);
    for (int32_t i = 0; status == CT_OK && i < n; i++) {
        nees[i] = nees_of(&seen[i]);
        loss[i] = ct__deployment_loss(&seen[i]);
    }
    if (status == CT_OK) {
        *out = (ct__nees_measure){.chi_squared = summary.chi_squared};
        status = measure(n, nees, group, groups, out, e->err);
        if (status == CT_OK) status = chance(n, seen, group, &out->deviation, e->err);
    }
    free(seen);
    free(nees);
    free(group);
    return status;
}
