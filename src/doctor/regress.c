/* regress.c: robust regression with standard errors for errors that last.
 *
 *     minimise sum_k rho(|S^-1 (r_k + D_k phi)|)     over the parameters in use
 *
 * by reweighting: Huber's weights first, then Tukey's, which give gross outliers none. S = diag(sigma) has the robust
 * sigma of every row, 1.4826 times the median of |e|, of each model. With A = sum D'WD and scores s_k = D_k' W e_k
 *
 *     cov phi = A^-1 B A^-1 / kappa^2,
 *     B = sum over lags l < L of (1 - l/L) sum_k (s_k s_(k+l)' + s_(k+l) s_k')          (Newey and West 1987)
 *
 * kappa is the mean of the derivative of the weighted residual over the mean weight: weights fall with the residual.
 * L follows from how long scores correlate (below). Where it is large, scores are summed over blocks first. B has about
 * 1.5 n/L degrees of freedom, so errors follow Student's distribution.
 *
 * Screening: sigmas, weights and B are those of the fit of all parameters, so that a fault does not hide another by
 * passing for noise. For a parameter that is not in use, `wald` is its ratio phi / error with those in use.
 */
#include "doctor/doctor.h"

#include <math.h>

#define HUBER_STEPS 5
#define TUKEY_STEPS 5
#define LAGS_MOST   24    /* beyond, scores are summed in blocks                                   */
#define WINDOW      6     /* mean lifetimes, over which autocovariances are summed                 */
#define SIGNIFICANT 2.5   /* standard errors of that sum: less is white noise                      */
#define REACH       4     /* lifetimes that the kernel spans at least                              */
#define SHORTEST    6.0   /* of all samples: the longest kernel                                    */
#define BLOCKS_LEAST 60   /* of which autocovariances are taken                                    */
#define RIDGE       1e-8  /* of the diagonal of A, where all parameters are fitted                 */
#define FLOOR       0.4   /* of the row's sigma, for that of a group                               */
#define PLAIN       15.0  /* sigmas of a row, beyond which least squares give less weight          */
#define LEAST       0.9   /* of the variance that independent errors would have: less is chance     */
#define INFLATION   1e6   /* of a variance by other parameters, beyond which it is not determined  */

double ct__robust_sigma(int64_t n, double *x)
{
    for (int64_t i = 0; i < n; i++) x[i] = fabs(x[i]);
    return 1.482602218505602 * ct__median(n, x);
}

int ct__invert(int n, double *A)
{
    double L[CT__PARAMS_MAX * CT__PARAMS_MAX], X[CT__PARAMS_MAX * CT__PARAMS_MAX];
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = A[i * n + j];
            for (int k = 0; k < j; k++) sum -= L[i * n + k] * L[j * n + k];
            if (i == j && !(sum > 0)) return 0;
            L[i * n + j] = i == j ? sqrt(sum) : sum / L[j * n + j];
        }
    for (int c = 0; c < n; c++) {
        for (int i = 0; i < n; i++) {
            double sum = i == c;
            for (int k = 0; k < i; k++) sum -= L[i * n + k] * X[k * n + c];
            X[i * n + c] = sum / L[i * n + i];
        }
        for (int i = n - 1; i >= 0; i--) {
            for (int k = i + 1; k < n; k++) X[i * n + c] -= L[k * n + i] * X[k * n + c];
            X[i * n + c] /= L[i * n + i];
        }
    }
    memcpy(A, X, (size_t)(n * n) * sizeof *A);
    return 1;
}

/* ---- Fit -------------------------------------------------------------------------------------- */

typedef struct {
    const ct__regression *g;
    ct__fit              *fit;
    double               *room; /* samples */
    double                kappa;
    double                A[CT__PARAMS_MAX * CT__PARAMS_MAX], B[CT__PARAMS_MAX * CT__PARAMS_MAX], b[CT__PARAMS_MAX];
} work;

static const double *scale_of(const work *w, int32_t k)
{
    return w->fit->scale[w->g->group ? w->g->group[k] : 0];
}

static void find_residuals(work *w)
{
    const ct__regression *g = w->g;
    for (int64_t i = 0; i < (int64_t)g->samples * g->rows; i++) {
        double e = g->r[i];
        for (int j = 0; j < g->params; j++) e += g->D[i * g->params + j] * w->fit->phi[j];
        w->fit->e[i] = e;
    }
}

/* The root mean square of the smaller nine tenths of row i, over all groups. */
static double trimmed_rms(work *w, int i)
{
    const ct__regression *g = w->g;
    const int32_t         keep = CT_MAX(1, (int32_t)(0.9 * g->samples));
    double                sum = 0;
    for (int32_t k = 0; k < g->samples; k++) w->room[k] = fabs(w->fit->e[(int64_t)k * g->rows + i]);
    ct__nth_smallest(g->samples, w->room, keep - 1);
    for (int32_t k = 0; k < keep; k++) sum += w->room[k] * w->room[k];
    return sqrt(sum / keep);
}

/* Robust sigmas. Those of a group are not below a fraction of the row's: steps of a robot at rest, which have hardly
 * any error, would decide all. Where more than half of the residuals are zero: the root mean square, or 1. */
static void find_scales(work *w)
{
    const ct__regression *g = w->g;
    double                floor_of[CT_ROWS_MAX];
    for (int i = 0; i < g->rows; i++) floor_of[i] = (g->plain ? 1 : FLOOR) * trimmed_rms(w, i);
    for (int m = 0; m < (g->group ? CT__GROUPS_MAX : 1); m++)
        for (int i = 0; i < g->rows; i++) {
            int64_t n = 0;
            double  square = 0;
            for (int32_t k = 0; k < g->samples; k++) {
                if ((g->group ? g->group[k] : 0) != m) continue;
                w->room[n++] = w->fit->e[(int64_t)k * g->rows + i];
                square += w->room[n - 1] * w->room[n - 1];
            }
            double sigma = !n ? 1 : g->plain ? floor_of[i] : ct__robust_sigma(n, w->room);
            if (!(sigma > 1e-6 * sqrt(square / (double)CT_MAX(1, n)))) sigma = sqrt(square / (double)CT_MAX(1, n));
            sigma = fmax(sigma, floor_of[i]);
            w->fit->scale[m][i] = sigma > 0 ? sigma : 1;
        }
}

static void find_weights(work *w, int tukey)
{
    const ct__regression *g = w->g;
    const double          k2 = ct_chi_squared_quantile(0.95, g->rows), c2 = 5.6 * k2;
    double                sum = 0, slope = 0;
    for (int32_t k = 0; k < g->samples; k++) {
        const double *s = scale_of(w, k);
        double        d2 = 0;
        for (int i = 0; i < g->rows; i++) {
            const double u = w->fit->e[(int64_t)k * g->rows + i] / s[i];
            d2 += u * u;
        }
        if (g->plain) w->fit->weight[k] = d2 <= PLAIN * PLAIN * g->rows ? 1 : PLAIN * sqrt(g->rows / d2);
        else if (!tukey) w->fit->weight[k] = d2 <= k2 ? 1 : sqrt(k2 / d2);
        else w->fit->weight[k] = d2 < c2 ? (1 - d2 / c2) * (1 - d2 / c2) : 0;
        sum += w->fit->weight[k];
        slope += !g->plain && tukey && d2 < c2 ? -4 * (1 - d2 / c2) * d2 / (c2 * g->rows) : 0;
    }
    w->kappa = sum > 0 ? fmax(0.2, (sum + slope) / sum) : 1;
}

/* A = D'WD and b = D'W r, of the parameters in use or of all. */
static void accumulate(work *w, int all)
{
    const ct__regression *g = w->g;
    const int             p = g->params;
    int                   list[CT__PARAMS_MAX], n = 0;
    for (int j = 0; j < p; j++)
        if (all || w->fit->use[j]) list[n++] = j;
    memset(w->A, 0, sizeof w->A);
    memset(w->b, 0, sizeof w->b);
    for (int32_t k = 0; k < g->samples; k++) {
        const double *s = scale_of(w, k);
        for (int i = 0; i < g->rows; i++) {
            const int64_t at = (int64_t)k * g->rows + i;
            const double  weight = w->fit->weight[k] / (s[i] * s[i]), *D = g->D + at * p;
            for (int a = 0; a < n; a++) {
                const double d = weight * D[list[a]];
                if (d == 0) continue;
                w->b[list[a]] += d * g->r[at];
                for (int c = 0; c <= a; c++) w->A[list[a] * p + list[c]] += d * D[list[c]];
            }
        }
    }
    for (int a = 0; a < p; a++)
        for (int c = 0; c < a; c++) w->A[c * p + a] = w->A[a * p + c];
}

/* The inverse of a part of A, scaled to a unit diagonal first, with a ridge; 0: singular. C is n x n. */
static int invert_part(const work *w, int n, const int *list, double ridge, double *C)
{
    double    d[CT__PARAMS_MAX];
    const int p = w->g->params;
    for (int i = 0; i < n; i++) {
        d[i] = sqrt(w->A[list[i] * p + list[i]]);
        if (!(d[i] > 0)) return 0;
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) C[i * n + j] = w->A[list[i] * p + list[j]] / (d[i] * d[j]) + (i == j ? ridge : 0);
    if (!ct__invert(n, C)) return 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) C[i * n + j] /= d[i] * d[j];
    for (int i = 0; i < n && ridge == 0; i++)
        if (C[i * n + i] * d[i] * d[i] > INFLATION) return 0;
    return 1;
}

static int list_used(const ct__fit *fit, int extra, int *list)
{
    int n = 0;
    for (int j = 0; j < fit->params; j++)
        if (fit->use[j] || j == extra) list[n++] = j;
    return n;
}

/* Those that some residual depends on. */
static int list_all(const work *w, int *list)
{
    int n = 0;
    for (int j = 0; j < w->g->params; j++)
        if (w->A[j * w->g->params + j] > 0) list[n++] = j;
    return n;
}

static void solve(work *w, int all)
{
    int       list[CT__PARAMS_MAX];
    double    C[CT__PARAMS_MAX * CT__PARAMS_MAX];
    const int n = all ? list_all(w, list) : list_used(w->fit, -1, list);
    for (int j = 0; j < w->g->params; j++) w->fit->phi[j] = 0;
    if (!n || !invert_part(w, n, list, all ? RIDGE : 0, C)) return;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) w->fit->phi[list[i]] -= C[i * n + j] * w->b[list[j]];
}

/* ---- Standard errors --------------------------------------------------------------------------- */

/* Scores of all parameters at sample k. */
static void score(const work *w, int32_t k, double *s)
{
    const ct__regression *g = w->g;
    const double         *scale = scale_of(w, k);
    for (int j = 0; j < g->params; j++) s[j] = 0;
    for (int i = 0; i < g->rows; i++) {
        const int64_t at = (int64_t)k * g->rows + i;
        const double  u = w->fit->weight[k] * w->fit->e[at] / (scale[i] * scale[i]);
        for (int j = 0; j < g->params; j++) s[j] += u * g->D[at * g->params + j];
    }
}

/* How long errors of a score last: q = sum_l |l| c_l / sum_l c_l over lags of either sign, c the autocovariance, summed
 * up to the lag M = WINDOW (1/2 + sum_(l <= M) c_l/c_0) (Sokal). The correlation of neighbours alone would not do: a
 * slow error under white noise has a small c_1 and a long tail. NAN: it lasts beyond the lags of c. */
static double persistence(const double *c, int lags, int stride, double n)
{
    double sum = 0, moment = 0;
    for (int l = 1; l <= lags; l++) {
        sum += c[l * stride] / c[0];
        moment += l * c[l * stride] / c[0];
        if (l < WINDOW * (0.5 + sum)) continue;
        return sum > SIGNIFICANT * sqrt(l / n) ? fmax(0, 2 * moment / (1 + 2 * sum)) : 0;
    }
    return NAN;
}

static void autocovariances(const double *s, int32_t n, int p, const int32_t *run, double *c)
{
    memset(c, 0, (size_t)((LAGS_MOST + 1) * p) * sizeof *c);
    for (int l = 0; l <= LAGS_MOST; l++)
        for (int32_t k = l; k < n; k++) {
            if (run[k] != run[k - l]) continue;
            const double *a = s + (int64_t)k * p, *b = s + (int64_t)(k - l) * p;
            for (int j = 0; j < p; j++) c[l * p + j] += a[j] * b[j];
        }
}

/* Sums of consecutive scores of one run; returns how many there are. */
static int32_t sum_blocks(double *s, int32_t n, int p, int32_t *run, int32_t length)
{
    int32_t out = 0, used = 0;
    for (int32_t k = 0; k < n; k++) {
        const int fresh = !out || run[out - 1] != run[k] || used == length;
        const int32_t here = run[k];
        if (fresh) {
            if (out != k) memmove(s + (int64_t)out * p, s + (int64_t)k * p, (size_t)p * sizeof *s);
            run[out++] = here;
            used = 1;
            continue;
        }
        for (int j = 0; j < p; j++) s[(int64_t)(out - 1) * p + j] += s[(int64_t)k * p + j];
        used++;
    }
    return out;
}

static void sum_lags(work *w, const double *s, int32_t n, const int32_t *run, int lags)
{
    const int p = w->g->params;
    for (int l = 0; l <= lags; l++) {
        const double weight = 1 - l / (lags + 1.0);
        for (int32_t k = l; k < n; k++) {
            if (run[k] != run[k - l]) continue;
            const double *a = s + (int64_t)k * p, *b = s + (int64_t)(k - l) * p;
            for (int i = 0; i < p; i++)
                for (int j = 0; j <= i; j++)
                    w->B[i * p + j] += weight * (l ? a[i] * b[j] + b[i] * a[j] : a[i] * b[j]);
        }
    }
    for (int i = 0; i < p; i++)
        for (int j = 0; j < i; j++) w->B[j * p + i] = w->B[i * p + j];
}

/* Samples that the errors of each score last for; scores become sums over blocks where that is long. */
static void find_persistence(double *s, int32_t n, int p, int32_t *run, double *q)
{
    double c[(LAGS_MOST + 1) * CT__PARAMS_MAX];
    for (int j = 0; j < p; j++) q[j] = NAN;
    for (int32_t length = 1; n > BLOCKS_LEAST; length *= 4) {
        int open = 0;
        autocovariances(s, n, p, run, c);
        for (int j = 0; j < p; j++) {
            if (!isnan(q[j])) continue;
            q[j] = c[j] > 0 ? length * persistence(c + j, LAGS_MOST, p, n) : 0;
            open |= isnan(q[j]);
        }
        if (!open) return;
        n = sum_blocks(s, n, p, run, 4);
    }
}

/* Lags L of the kernel: the best for the mean square error, 1.1447 (q^2 n)^(1/3) (Andrews 1991), and no less than
 * REACH q, because what the kernel leaves out makes errors too small. It leaves out q/(L + 1) of B to first order,
 * which is put back (`loss`). */
static double choose_lags(int32_t n, int p, const double *q, double *loss)
{
    const double most = n / SHORTEST;
    double       lags = 0;
    for (int j = 0; j < p; j++)
        lags = fmax(lags, isnan(q[j]) ? most : fmax(1.1447 * cbrt(q[j] * q[j] * n), REACH * q[j]));
    lags = fmin(lags, most);
    for (int j = 0; j < p; j++) loss[j] = isnan(q[j]) ? 0.5 : fmin(0.5, q[j] / (lags + 1));
    return lags;
}

static ct_status find_meat(work *w, ct_err *err)
{
    const ct__regression *g = w->g;
    const int             p = CT_MAX(1, g->params);
    double               *s = ct__zalloc((int64_t)g->samples * p, 2 * sizeof *s), *copy = s + (int64_t)g->samples * p;
    int32_t              *run = ct__zalloc(g->samples, 2 * sizeof *run), *copy_run = run + g->samples, n = 0;
    double                q[CT__PARAMS_MAX], loss[CT__PARAMS_MAX];
    memset(w->B, 0, sizeof w->B);
    if (!s || !run) {
        free(s);
        free(run);
        return ct__no_memory(err, "samples", g->samples);
    }
    for (int32_t k = 0; k < g->samples; k++) {
        if (w->fit->weight[k] == 0) continue;
        score(w, k, s + (int64_t)n * p);
        run[n++] = g->run[k];
    }
    memcpy(copy, s, (size_t)n * (size_t)p * sizeof *s);
    memcpy(copy_run, run, (size_t)n * sizeof *run);
    find_persistence(copy, n, p, copy_run, q);
    const double lags = g->params ? choose_lags(n, p, q, loss) : 0;
    w->fit->degrees = fmax(3, 1.5 * n / (lags + 1));
    if (lags > LAGS_MOST) {
        const int32_t length = (int32_t)ceil(2 * lags / LAGS_MOST);
        n = sum_blocks(s, n, p, run, length);
        sum_lags(w, s, n, run, LAGS_MOST / 2 + 1);
    } else sum_lags(w, s, n, run, (int)ceil(lags));
    for (int i = 0; i < g->params; i++)
        for (int j = 0; j < g->params; j++) w->B[i * g->params + j] /= sqrt((1 - loss[i]) * (1 - loss[j]));
    free(s);
    free(run);
    return CT_OK;
}

/* C B C of one entry. */
static double sandwich(const work *w, int n, const int *list, const double *C, int i, int j)
{
    const int p = w->g->params;
    double    sum = 0;
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) sum += C[i * n + a] * w->B[list[a] * p + list[b]] * C[b * n + j];
    return sum / (w->kappa * w->kappa);
}

/* Errors of the parameters in use. */
static void find_errors(work *w)
{
    ct__fit  *fit = w->fit;
    int       list[CT__PARAMS_MAX];
    double    C[CT__PARAMS_MAX * CT__PARAMS_MAX];
    const int n = list_used(fit, -1, list), p = w->g->params;
    memset(fit->covariance, 0, sizeof fit->covariance);
    for (int j = 0; j < p; j++) fit->error[j] = INFINITY;
    if (!n || !invert_part(w, n, list, 0, C)) return;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) fit->covariance[list[i] * p + list[j]] = sandwich(w, n, list, C, i, j);
    for (int i = 0; i < n; i++) {
        const double least = LEAST * C[i * n + i];
        fit->plain[list[i]] = sqrt(C[i * n + i]);
        fit->error[list[i]] = sqrt(fmax(least, fit->covariance[list[i] * p + list[i]]));
    }
}

/* The information of the parameters in use, A B^-1 A kappa^2: the inverse of the covariance where there is one, and
 * nothing in directions that the samples do not determine. Scaled to a unit diagonal of A. */
static void find_information(work *w)
{
    ct__fit  *fit = w->fit;
    int       list[CT__PARAMS_MAX];
    double    d[CT__PARAMS_MAX], M[CT__PARAMS_MAX * CT__PARAMS_MAX], T[CT__PARAMS_MAX * CT__PARAMS_MAX];
    const int n = list_used(fit, -1, list), p = w->g->params;
    memset(fit->information, 0, sizeof fit->information);
    for (int i = 0; i < n; i++) {
        d[i] = sqrt(w->A[list[i] * p + list[i]]);
        if (!(d[i] > 0)) return;
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            M[i * n + j] = w->B[list[i] * p + list[j]] / (d[i] * d[j]) + (i == j ? RIDGE : 0);
    if (!ct__invert(n, M)) return;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            T[i * n + j] = 0;
            for (int k = 0; k < n; k++)
                T[i * n + j] += w->A[list[i] * p + list[k]] / (d[i] * d[k]) * M[k * n + j];
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++) sum += T[i * n + k] * w->A[list[k] * p + list[j]] / (d[k] * d[j]);
            fit->information[list[i] * p + list[j]] = sum * d[i] * d[j] * w->kappa * w->kappa;
        }
}

static double count_weights(const work *w)
{
    double count = 0;
    for (int32_t k = 0; k < w->g->samples; k++) count += w->fit->weight[k] > 0;
    return fmax(1, count);
}

/* What a parameter that is not in use would be with those that are. */
static void find_candidates(work *w)
{
    ct__fit     *fit = w->fit;
    const double count = count_weights(w);
    for (int j = 0; j < w->g->params; j++) {
        int       list[CT__PARAMS_MAX], at = 0;
        double    C[CT__PARAMS_MAX * CT__PARAMS_MAX], phi = 0;
        const int n = list_used(fit, j, list);
        fit->wald[j] = fit->effect[j] = 0;
        if (fit->use[j] || !invert_part(w, n, list, 0, C)) continue;
        while (list[at] != j) at++;
        for (int i = 0; i < n; i++) phi -= C[at * n + i] * w->b[list[i]];
        const double variance = fmax(LEAST * C[at * n + at], sandwich(w, n, list, C, at, at));
        fit->wald[j] = phi / sqrt(variance);
        fit->alone[j] = phi;
        fit->plain[j] = sqrt(C[at * n + at]);
        fit->effect[j] = fabs(phi) / sqrt(count * C[at * n + at]); /* of what the others do not explain */
    }
}

/* Effects of one unit of a parameter. */
static void find_unit_effects(work *w)
{
    const double count = count_weights(w);
    for (int j = 0; j < w->g->params; j++)
        w->fit->unit_effect[j] = sqrt(w->A[j * w->g->params + j] / count);
}

static ct_status begin(work *w, ct_err *err)
{
    ct__fit              *fit = w->fit;
    const ct__regression *g = w->g;
    ct__fit_free(fit);
    fit->samples = g->samples;
    fit->rows = g->rows;
    fit->params = g->params;
    memset(fit->phi, 0, sizeof fit->phi);
    fit->e = ct__zalloc((int64_t)g->samples * g->rows, sizeof *fit->e);
    fit->weight = ct__zalloc(g->samples, sizeof *fit->weight);
    w->room = ct__zalloc(g->samples, sizeof *w->room);
    if (!fit->e || !fit->weight || !w->room) return ct__no_memory(err, "samples", g->samples);
    find_residuals(w);
    return CT_OK;
}

static void reweight(work *w, int all)
{
    for (int i = 0; i < HUBER_STEPS + TUKEY_STEPS; i++) {
        find_scales(w);
        find_weights(w, i >= HUBER_STEPS);
        accumulate(w, all);
        solve(w, all);
        find_residuals(w);
    }
    find_scales(w);
    find_weights(w, 1);
    accumulate(w, 1);
}

ct_status ct__regress(const ct__regression *g, ct__fit *fit, ct_err *err)
{
    work      w = {.g = g, .fit = fit};
    ct_status status = begin(&w, err);
    if (status == CT_OK) reweight(&w, 0);
    if (status == CT_OK) status = find_meat(&w, err);
    if (status == CT_OK) find_errors(&w);
    if (status == CT_OK) find_information(&w);
    if (status == CT_OK) find_unit_effects(&w);
    free(w.room);
    return status;
}

ct_status ct__screen(const ct__regression *g, ct__fit *fit, ct_err *err)
{
    work      w = {.g = g, .fit = fit};
    ct_status status = begin(&w, err);
    if (status == CT_OK) reweight(&w, 1);
    if (status == CT_OK) status = find_meat(&w, err);
    if (status == CT_OK) {
        find_errors(&w);
        find_candidates(&w);
        find_unit_effects(&w);
        solve(&w, 0);
    }
    free(w.room);
    return status;
}

void ct__fit_free(ct__fit *fit)
{
    free(fit->e);
    free(fit->weight);
    fit->e = fit->weight = NULL;
}
