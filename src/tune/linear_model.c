/* linear_model.c: a linear model of every residual, fitted to points: of each log to those that were run on it.
 *
 *     r(x_b + s) ~ r_b + D (C_0 + C s),        D = [r_1 - r_b, ..., r_K - r_b],   J = D C
 *
 * The model is a weighted regression over the K points nearest to the base b. A function with curvature k deviates from
 * a line by k d^2 / 2 at distance d, and a run has noise nu, so that point k has the weight
 *
 *     w = 1 / ((kappa d^2 / 2)^2 + nu^2).
 *
 * Without noise the line goes through the base, C_0 = 0, and kappa does not matter. With n points it is interpolation;
 * points that are left behind keep what they say about directions that later ones do not, as in Broyden's update.
 * Before the first step a common factor on all variances stands for one of them (method_dfgn.c). With noise the value
 * at the base is fitted as well: all points average it.
 *
 * J'J and J'r are products of C with the Gram matrix of D and r_b. Jacobians, rows x n, are never stored. */
#include "tune/search.h"

#include <math.h>

#define NEAR   0.02   /* points that are nearer count as if they were so far: their differences are small */
#define RIDGE  1e-12  /* of the largest diagonal entry: directions without points have no slope           */

ct_status ct__model_new(int32_t n, int32_t capacity, ct__linear_model *m, ct_err *err)
{
    const int64_t K = capacity, width = n + 1;
    *m = (ct__linear_model){.n = n, .capacity = capacity, .near = NEAR};
    m->point = ct__zalloc(K, sizeof *m->point);
    m->C = ct__zalloc(K * width + n * (int64_t)n + n, sizeof *m->C);
    m->work = ct__zalloc((K + 1) * (K + 1) + (K + 1) * width + K + 5 * width * width, sizeof *m->work);
    m->noise = ct__zalloc(3 * n * (int64_t)n + 2 * n, sizeof *m->noise);
    if (!m->point || !m->C || !m->work || !m->noise) return ct__no_memory(err, "points of a model", K);
    m->H = m->C + K * width;
    m->g = m->H + n * (int64_t)n;
    return CT_OK;
}

void ct__model_free(ct__linear_model *m)
{
    free(m->point);
    free(m->C);
    free(m->work);
    free(m->noise);
}

static double distance(int32_t n, const double *a, const double *b)
{
    double sum = 0;
    for (int32_t i = 0; i < n; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

/* Points that differ in a coordinate that is held say nothing new: they are copies of others, and would count twice. */
static int usable(const ct__tuner *t, const ct__tune_point *p, int32_t log)
{
    for (int32_t k = 0; k < t->c.n; k++)
        if (ct__coordinates_held(&t->c, k) && p->x[k] != t->c.lower[k]) return 0;
    return p->counted && !isinf(p->loss) && p->residual[log] && p->runs[log]; /* none that failed on another log */
}

/* The nearest points of the log, nearest first; of equals the earlier. d: K distances. */
static void choose_points(ct__linear_model *m, const ct__tuner *t, int32_t log, double *d)
{
    m->count = 0;
    for (int64_t i = 0; i < t->points; i++) {
        ct__tune_point *p = t->point[i];
        if (p == m->base || !usable(t, p, log)) continue;
        const double own = distance(m->n, p->x, m->base->x);
        if (own == 0) continue; /* differs in what has no coordinate */
        int32_t at = m->count;
        if (at == m->capacity && !(own < d[at - 1])) continue;
        if (at == m->capacity) at--;
        else m->count++;
        for (; at > 0 && own < d[at - 1]; at--) {
            d[at] = d[at - 1];
            m->point[at] = m->point[at - 1];
        }
        d[at] = own;
        m->point[at] = p;
    }
}

static double weight_of(double near, double d, double kappa, double nu2)
{
    const double far = d * d + near * near;
    return nu2 > 0 ? 1 / (0.25 * kappa * kappa * far * far + nu2) : 1 / (far * far);
}

int32_t ct__runs_of(const ct__tuner *t, const ct__tune_point *p)
{
    int32_t least = INT32_MAX;
    for (int32_t l = 0; l < t->problem->logs; l++)
        if (ct__is_active(t, l)) least = CT_MIN(least, p->runs[l]);
    return CT_MAX(1, least);
}

/* N <- more by a point that is not run: a common factor on all variances, by which residuals stay as they are. */
static void add_common_factor(const ct__linear_model *m, const ct__tuner *t, double *a, double *N)
{
    const int32_t n = m->n, width = n + 1;
    double        square = 0;
    a[0] = 0;
    for (int32_t i = 0; i < n; i++) {
        a[1 + i] = t->problem->parameter[t->c.parameter[i]].quantity != CT_QUANTITY_NUMBER;
        square += a[1 + i];
    }
    const double w = weight_of(m->near, sqrt(square), m->kappa, 0);
    for (int32_t i = 1; i < width; i++)
        for (int32_t j = 1; j < width; j++) N[i * width + j] += w * a[i] * a[j];
}

/* C <- W A (A'WA)^-1 with rows (1, s_k) of A; without noise the first column is left out. */
static int fit_coefficients(ct__linear_model *m, const ct__tuner *t, int32_t log, const double *d)
{
    const int     noisy = m->noisy;
    const double  kappa = m->kappa;
    const int32_t n = m->n, width = n + 1;
    double *A = m->work + (m->capacity + 1) * (int64_t)(m->capacity + 1) + m->capacity, most = 0;
    double *N = A + (m->capacity + 1) * (int64_t)width;
    memset(N, 0, (size_t)(width * width) * sizeof *N);
    for (int32_t k = 0; k < m->count; k++) {
        const double w = weight_of(m->near, d[k], kappa, noisy ? ct__noise_of(t, m->point[k], log) : 0);
        double *a = A + k * width, *c = m->C + k * width;
        a[0] = noisy;
        for (int32_t i = 0; i < n; i++) a[1 + i] = m->point[k]->x[i] - m->base->x[i];
        for (int32_t i = 0; i < width; i++) {
            c[i] = w * a[i];
            for (int32_t j = 0; j < width; j++) N[i * width + j] += c[i] * a[j];
        }
    }
    if (t->put_off >= 0) add_common_factor(m, t, A + m->count * (int64_t)width, N);
    N[0] += noisy ? weight_of(m->near, 0, kappa, ct__noise_of(t, m->base, log)) : 1;
    for (int32_t i = 1; i < width; i++) most = CT_MAX(most, N[i * width + i]);
    for (int32_t i = 1; i < width; i++) N[i * width + i] += RIDGE * most + (most == 0);
    if (!ct__cholesky(width, N)) return 0;
    for (int32_t k = 0; k < m->count; k++) ct__cholesky_solve(width, N, m->C + k * width);
    return 1;
}

#define TOGETHER 4 /* sums under way: one alone waits for each of its additions */

/* sum[j] <- sum of (u - b) (v_j - b), each in the order of rows: how many are together changes no bit. */
static void sum_products(const double *u, const double *b, const double *const v[TOGETHER], int64_t from, int64_t to,
                         double sum[TOGETHER])
{
    double s[TOGETHER] = {0};
    for (int64_t r = from; r < to; r++) {
        const double base = b[r], d = u[r] - base;
        for (int j = 0; j < TOGETHER; j++) s[j] += d * (v[j][r] - base);
    }
    memcpy(sum, s, sizeof s);
}

/* Products of residuals of one log: entry 0 is r_b, entry k + 1 is r_k - r_b. */
static void gram(const ct__linear_model *m, int32_t log, int64_t from, int64_t to, double *G)
{
    const int32_t width = m->count + 1;
    const double *b = m->base->residual[log];
    G[0] = 0;
    for (int64_t r = from; r < to; r++) G[0] += b[r] * b[r];
    for (int32_t i = 1; i < width; i++) {
        const double *u = m->point[i - 1]->residual[log];
        double sum = 0;
        for (int64_t r = from; r < to; r++) sum += (u[r] - b[r]) * b[r];
        G[i * width] = G[i] = sum;
        for (int32_t j = 1; j <= i; j += TOGETHER) {
            const double *v[TOGETHER];
            double        sums[TOGETHER];
            for (int k = 0; k < TOGETHER; k++) v[k] = m->point[CT_MIN(j + k, i) - 1]->residual[log];
            sum_products(u, b, v, from, to, sums);
            for (int k = 0; k < TOGETHER && j + k <= i; k++) G[i * width + j + k] = G[(j + k) * width + i] = sums[k];
        }
    }
}

void ct__model_use_log(ct__linear_model *m, int32_t log)
{
    double *d = m->work + (m->capacity + 1) * (int64_t)(m->capacity + 1);
    m->count = 0;
    if (!m->base->residual[log]) return;
    choose_points(m, m->t, log, d);
    if (!fit_coefficients(m, m->t, log, d)) m->count = 0;
}

void ct__model_add(ct__linear_model *m, int32_t log, int64_t from, int64_t to, double weight, double *H,
                   double *g, double *half)
{
    ct__model_use_log(m, log);
    if (!m->base->residual[log]) return; /* it could not be run again */
    const int32_t n = m->n, K = m->count, w = n + 1, gw = K + 1;
    double *G = m->work, *T = G + (m->capacity + 1) * (int64_t)(m->capacity + 1) + m->capacity; /* T: K x w */
    gram(m, log, from, to, G);
    for (int32_t k = 0; k < K; k++)
        for (int32_t i = 0; i < w; i++) {
            double sum = i ? 0 : G[(k + 1) * gw];
            for (int32_t j = 0; j < K; j++) sum += G[(k + 1) * gw + j + 1] * m->C[j * w + i];
            T[k * w + i] = sum; /* D'(r_b + D C_0), D'D C */
        }
    double own = G[0];
    for (int32_t k = 0; k < K; k++) own += m->C[k * w] * (T[k * w] + G[(k + 1) * gw]);
    if (half) *half += 0.5 * weight * own;
    for (int32_t i = 0; i < n; i++) {
        for (int32_t k = 0; k < K; k++) g[i] += weight * m->C[k * w + i + 1] * T[k * w];
        for (int32_t j = 0; j < n; j++)
            for (int32_t k = 0; k < K; k++) H[i * n + j] += weight * m->C[k * w + i + 1] * T[k * w + j + 1];
    }
}

static void fill(ct__linear_model *m, const ct__tuner *t)
{
    memset(m->H, 0, (size_t)(m->n * m->n) * sizeof *m->H);
    memset(m->g, 0, (size_t)m->n * sizeof *m->g);
    m->half = 0;
    for (int32_t l = 0; l < t->problem->logs; l++)
        if (ct__is_active(t, l))
            ct__model_add(m, l, 0, t->rows[l], 1 / ((double)t->rows[l] * ct__actives(t)), m->H, m->g, &m->half);
}

ct_status ct__model_fit(ct__linear_model *m, ct__tuner *t, ct__tune_point *base)
{
    double trace = 0;
    int    here;
    CT_TRY(ct__recall(t, base, &here));
    m->t = t;
    m->base = base;
    m->noisy = 0;
    m->kappa = 0;
    t->base = base;
    fill(m, t);
    if (!(t->noise > 0)) return CT_OK;
    for (int32_t i = 0; i < m->n; i++) trace += m->H[i * m->n + i];
    m->noisy = 1;
    m->kappa = 0.5 * sqrt(trace / m->n); /* slopes are taken to change by half of themselves over a distance of one */
    fill(m, t);
    ct__model_remove_noise(m, t, m->H, m->g);
    return CT_OK;
}
