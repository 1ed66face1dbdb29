/* paired.c: candidates compared on the same sequences. Sequences differ more than candidates do, so the comparison is
 * by paired log ratios, d_i = log(a_i / b_i), of loss, translation and rotation error.
 *
 *   - A sequence without an estimate under one of the two counts as a ratio of FAILURE, a fixed loss: it is neither
 *     left out nor does it rule. The same bounds every ratio.
 *   - Units are recordings: the mean of the sequences of one recording. With one recording they are its sequences.
 *   - The mean over units is Huber's M-estimate at 1.345 deviations (median absolute deviation), from four units on.
 *     One bad run moves it by a bounded amount. Its standard error is
 *
 *         s sqrt(sum psi^2) / sum psi' sqrt(n / (n - 1)). */
#include "learn/learn.h"

#include <math.h>

#define FAILURE    10.0  /* of losses; of errors its root         */
#define HUBER      1.345 /* 95 % efficient                        */
#define ITERATIONS 50
#define ROBUST     4 /* units from which the mean is robust   */

double ct__score_of(const ct__score *s, ct__metric metric)
{
    if (s->failed) return INFINITY;
    return metric == CT_METRIC_LOSS ? s->loss : metric == CT_METRIC_TRANSLATION ? s->translation : s->rotation;
}

/* NaN: the metric is not known. */
static double log_ratio(const ct__score *a, const ct__score *b, ct__metric metric)
{
    const double x = ct__score_of(a, metric), y = ct__score_of(b, metric);
    const double most = log(FAILURE) * (metric == CT_METRIC_LOSS ? 1 : 0.5);
    if (isnan(x) || isnan(y)) return NAN;
    if (x == y) return 0; /* also if both failed */
    return CT_MAX(-most, CT_MIN(most, log(x / y)));
}

/* Huber's mean and its standard error. work: n. */
static void huber_mean(int32_t n, const double *d, double *work, ct__paired *out)
{
    double mean = 0, square = 0, s, psi2 = 0, inside = 0;
    for (int32_t i = 0; i < n; i++) mean += d[i] / n;
    for (int32_t i = 0; i < n; i++) square += (d[i] - mean) * (d[i] - mean);
    out->mean = mean;
    out->error = n > 1 ? sqrt(square / ((double)n * (n - 1))) : NAN;
    if (n < ROBUST) return;
    memcpy(work, d, (size_t)n * sizeof *work);
    const double median = ct_median(n, work);
    for (int32_t i = 0; i < n; i++) work[i] = fabs(d[i] - median);
    s = 1.4826 * ct_median(n, work);
    if (!(s > 1e-12)) s = sqrt(square / (n - 1)); /* half of the units are equal */
    if (!(s > 1e-12)) return;
    mean = median;
    for (int k = 0; k < ITERATIONS; k++) {
        double sum = 0, weight = 0;
        for (int32_t i = 0; i < n; i++) {
            const double z = fabs(d[i] - mean) / s, w = z > HUBER ? HUBER / z : 1;
            sum += w * d[i];
            weight += w;
        }
        mean = sum / weight;
    }
    for (int32_t i = 0; i < n; i++) {
        const double z = (d[i] - mean) / s, psi = CT_MAX(-HUBER, CT_MIN(HUBER, z));
        psi2 += psi * psi;
        inside += fabs(z) < HUBER;
    }
    out->mean = mean;
    out->error = s * sqrt(psi2) / CT_MAX(1, inside) * sqrt(n / (n - 1.0));
}

ct__paired ct__compare(const ct__scores *s, int a, int b, ct__metric metric)
{
    ct__paired out = {.mean = NAN, .error = NAN, .best = INFINITY, .worst = -INFINITY};
    const int64_t n = s->n;
    double       *sum = s->work, *count = s->work + n; /* per unit */
    for (int64_t g = 0; g < 2 * n; g++) s->work[g] = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t unit = s->groups > 1 ? s->group[i] : i;
        const double  d = log_ratio(&s->score[a * n + i], &s->score[b * n + i], metric);
        if (isnan(d)) continue;
        sum[unit] += d;
        count[unit]++;
    }
    for (int64_t g = 0; g < (s->groups > 1 ? s->groups : n); g++) {
        if (!(count[g] > 0)) continue;
        const double mean = sum[g] / count[g];
        out.best = CT_MIN(out.best, mean);
        out.worst = CT_MAX(out.worst, mean);
        s->work[out.units++] = mean; /* units <= g: its sum is not needed any more */
    }
    if (out.units) huber_mean(out.units, s->work, s->work + s->n, &out);
    return out;
}

int ct__count_failed(const ct__scores *s, int a)
{
    int failed = 0;
    for (int32_t i = 0; i < s->n; i++) failed += s->score[a * s->n + i].failed;
    return failed;
}

double ct__standard_errors(int units)
{
    /* t with P(|T| <= t) = 0.683, units - 1 degrees */
    static const double T[] = {1.84, 1.32, 1.20, 1.14, 1.11, 1.09, 1.08, 1.07, 1.06, 1.05};
    if (units < 2) return INFINITY;
    return units - 2 < (int)(sizeof T / sizeof *T) ? T[units - 2] : 1;
}
