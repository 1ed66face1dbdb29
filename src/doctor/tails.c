/* tails.c: are errors normal? Lengths d of whitened errors of n rows, under
 *
 *     normal          N(0, s^2 I)
 *     contaminated    (1 - c) N(0, s^2 I) + c N(0, k^2 s^2 I)        by expectation and maximisation
 *     Student         of v degrees, by the same
 *
 * If one of the two beats the normal one by a likelihood ratio that chance does not give, it is named: outliers or
 * heavy tails. The kernel that a model is to have is the one, of Huber and Cauchy and over widths, whose density
 * exp(-rho(d/s)) / (Z s^n) is the most likely. */
#include "doctor/doctor.h"

#include <math.h>

#define ITERATIONS  200
#define SHARE_LEAST 0.002
#define GAIN_LEAST  0.003 /* nats a measurement                                          */
#define SIZE_LEAST  2.5   /* of outliers, times the noise                                */
#define DEGREES     15.0  /* of Student's distribution: more is nearly normal            */
#define SAMPLES     3000  /* for kernels                                                 */
#define AT_REST     1e-12 /* squared sigmas                                              */
#define LOG_2PI     1.8378770664093453

typedef struct {
    int32_t n;
    int     rows;
    double *d2;
} sample;

typedef struct {
    double likelihood, s2, share, size, degrees;
} shape;

static shape fit_normal(const sample *q)
{
    shape  f = {0};
    double sum = 0;
    for (int32_t k = 0; k < q->n; k++) sum += q->d2[k];
    f.s2 = sum / ((double)q->n * q->rows);
    f.likelihood = -0.5 * q->n * q->rows * (LOG_2PI + log(f.s2) + 1);
    return f;
}

static shape fit_contaminated(const sample *q)
{
    const double n = q->rows;
    double       share = 0.05, s2 = 1, k2 = 25;
    shape        f = {0};
    for (int i = 0; i < ITERATIONS; i++) {
        double in = 0, in_d2 = 0, out = 0, out_d2 = 0, likelihood = 0;
        for (int32_t k = 0; k < q->n; k++) {
            const double a = log1p(-share) - 0.5 * n * log(s2) - 0.5 * q->d2[k] / s2;
            const double b = log(share) - 0.5 * n * log(s2 * k2) - 0.5 * q->d2[k] / (s2 * k2);
            const double top = fmax(a, b), sum = top + log(exp(a - top) + exp(b - top)), p = exp(b - sum);
            likelihood += sum - 0.5 * n * LOG_2PI;
            out += p, out_d2 += p * q->d2[k];
            in += 1 - p, in_d2 += (1 - p) * q->d2[k];
        }
        f = (shape){likelihood, s2, share, sqrt(k2), 0};
        if (!(out > 1e-9) || !(in > 1e-9)) break;
        share = fmin(0.5, fmax(1e-6, out / q->n));
        s2 = in_d2 / (in * n);
        k2 = fmax(1.01, out_d2 / (out * n) / s2);
    }
    return f;
}

static shape fit_student(const sample *q)
{
    static const double DEGREE[] = {1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30};
    const double        n = q->rows;
    shape               best = {.likelihood = -INFINITY};
    double              s2 = 1;
    for (size_t j = 0; j < sizeof DEGREE / sizeof *DEGREE; j++) {
        const double v = DEGREE[j], pi = 3.141592653589793;
        const double constant = lgamma((v + n) / 2) - lgamma(v / 2) - 0.5 * n * log(v * pi);
        double       likelihood = 0;
        for (int i = 0; i < 40; i++) {
            double sum = 0;
            likelihood = 0;
            for (int32_t k = 0; k < q->n; k++) {
                sum += (v + n) / (v + q->d2[k] / s2) * q->d2[k];
                likelihood += constant - 0.5 * n * log(s2) - 0.5 * (v + n) * log1p(q->d2[k] / (s2 * v));
            }
            const double next = sum / (q->n * n);
            if (fabs(next - s2) < 1e-6 * s2) break;
            s2 = next;
        }
        if (likelihood > best.likelihood) best = (shape){likelihood, s2, 0, 0, v};
    }
    return best;
}

/* ---- Kernels ---------------------------------------------------------------------------------- */

static double kernel_likelihood(const sample *q, ct_robust kernel, double s)
{
    double sum = -(q->rows * (log(s) + 0.5 * LOG_2PI) + ct_robust_log_normaliser(kernel, q->rows)) * q->n;
    for (int32_t k = 0; k < q->n; k++) sum -= ct_robust_error(kernel, q->d2[k] / (s * s), NULL);
    return sum;
}

/* Over s by golden section. */
static double best_scale(const sample *q, ct_robust kernel)
{
    const double golden = 0.6180339887498949;
    double       a = log(0.15), b = log(4), c = b - golden * (b - a), d = a + golden * (b - a);
    double       fc = kernel_likelihood(q, kernel, exp(c)), fd = kernel_likelihood(q, kernel, exp(d));
    for (int i = 0; i < 14; i++) {
        if (fc > fd) b = d, d = c, fd = fc, c = b - golden * (b - a), fc = kernel_likelihood(q, kernel, exp(c));
        else a = c, c = d, fc = fd, d = a + golden * (b - a), fd = kernel_likelihood(q, kernel, exp(d));
    }
    return fmax(fc, fd);
}

/* The most likely kernel; *gain: nats a measurement over the normal distribution. */
static ct_robust find_kernel(const sample *all, double *gain)
{
    static const double WIDTH[] = {0.6, 0.8, 1, 1.345, 1.7, 2.1, 2.6};
    static const double TIMES[] = {1.1, 1.25, 1.45, 1.7, 2, 2.4, 3, 4};
    sample              q = *all;
    ct_robust           best = {CT_ROBUST_HUBER, 1.345, 0};
    double              most = -INFINITY;
    q.n = CT_MIN(q.n, SAMPLES);
    for (int i = 0; i < 7; i++) {
        const ct_robust kernel = {CT_ROBUST_HUBER, WIDTH[i], 0};
        const double    l = best_scale(&q, kernel);
        if (l > most) most = l, best = kernel;
    }
    for (int i = 0; i < 8; i++) {
        const ct_robust kernel = {CT_ROBUST_CAUCHY, TIMES[i] * sqrt(q.rows), 0};
        const double    l = best_scale(&q, kernel);
        if (l > most) most = l, best = kernel;
    }
    *gain = (most - fit_normal(&q).likelihood) / q.n;
    return best;
}

/* ---- The test --------------------------------------------------------------------------------- */

/* Samples that count for as many independent ones: squared errors that last are fewer. */
static double independent(const sample *q)
{
    double aa = 0, ab = 0;
    for (int32_t k = 1; k < q->n; k++) {
        const double a = fmin(q->d2[k], 9.0 * q->rows) - q->rows, b = fmin(q->d2[k - 1], 9.0 * q->rows) - q->rows;
        aa += a * a;
        ab += a * b;
    }
    const double rho = fmax(0, fmin(0.95, aa > 0 ? ab / aa : 0));
    return (1 - rho) / (1 + rho);
}

static ct_status report(ct__exam *e, const ct__sensor *s, const sample *q, const shape *bad, const shape *tail,
                        ct_err *err)
{
    double          gain;
    const ct_robust kernel = find_kernel(q, &gain);
    const double    value[] = {(double)kernel.kind, kernel.width};
    if (bad) {
        const double v[] = {100 * bad->share, bad->size, sqrt(bad->s2) * s->fit->white[0][0], gain, kernel.width};
        CT_TRY(ct__report(e, s, -1, CT_FINDING_OUTLIERS, 5, v, err));
    } else {
        const double v[] = {tail->degrees, gain, kernel.width};
        CT_TRY(ct__report(e, s, -1, CT_FINDING_HEAVY_TAILS, 3, v, err));
    }
    if (s->odometry && !bad) return CT_OK; /* its noise depends on motion, as a rule: a kernel would break chains */
    return ct__report_correction(e, s, -1, CT_CORRECT_KERNEL, 2, value, 0, err);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Sorted lengths over those of a normal distribution. */
static ct_status show(ct__exam *e, sample *q, double s2, ct_err *err)
{
    double *x = ct__zalloc(q->n, sizeof *x), *y = ct__zalloc(q->n, sizeof *y), line[2] = {0, 0};
    ct_status status = x && y ? CT_OK : ct__no_memory(err, "samples", q->n);
    if (status == CT_OK) qsort(q->d2, (size_t)q->n, sizeof *q->d2, compare);
    for (int32_t k = 0; status == CT_OK && k < q->n; k++) {
        x[k] = sqrt(ct_chi_squared_quantile((k + 0.5) / q->n, q->rows));
        y[k] = sqrt(q->d2[k] / s2);
        line[1] = x[k];
    }
    if (status == CT_OK)
        status = ct__report_evidence(e, "length of errors, if they were normal", "length of errors, sigmas", q->n, x, y,
                                     2, line, line, err);
    free(x);
    free(y);
    return status;
}

/* Squared lengths, of rows that are not mute. Errors of 0 in all rows are no noise. */
static void take_lengths(const ct__sensor *s, sample *q)
{
    q->n = 0;
    for (int32_t k = 0; k < s->samples; k++) {
        double d2 = 0;
        for (int i = 0; i < s->rows; i++)
            if (!s->mute[i]) d2 += pow(s->fit->e[(int64_t)k * s->rows + i] / s->fit->white[s->sample[k].model][i], 2);
        if (d2 > AT_REST) q->d2[q->n++] = d2;
    }
}

ct_status ct__test_tails(ct__exam *e, ct__sensor *s, ct_err *err)
{
    sample q = {.rows = ct__noise_row_count(s), .d2 = ct__zalloc(CT_MAX(1, s->samples), sizeof *q.d2)};
    if (!q.d2) return ct__no_memory(err, "samples", s->samples);
    take_lengths(s, &q);
    ct_status status = CT_OK;
    if (q.rows && q.n >= CT__SAMPLES_LEAST) {
        const shape  normal = fit_normal(&q), bad = fit_contaminated(&q), tail = fit_student(&q);
        const double best = fmax(bad.likelihood, tail.likelihood);
        const double ratio = 2 * (best - normal.likelihood) * independent(&q);
        const int    robust = ct_noise_get(e->dataset->noise, s->model[0])->robust.kind != CT_ROBUST_NONE;
        const int outliers = bad.likelihood >= tail.likelihood && bad.size >= SIZE_LEAST && bad.share >= SHARE_LEAST;
        const int tails = tail.degrees <= DEGREES;
        if (!robust && ct__chi_squared_tail(ratio, 2) < e->alpha && (best - normal.likelihood) / q.n > GAIN_LEAST &&
            (outliers || tails)) {
            status = report(e, s, &q, outliers ? &bad : NULL, &tail, err);
            if (status == CT_OK) status = show(e, &q, outliers ? bad.s2 : tail.s2, err);
        }
    }
    free(q.d2);
    return status;
}
