/* closed_form.c: maximum-likelihood theta in closed form. Residuals at the truth are samples of the noise. Their second
 * moments are
 *
 *     Sigma_g = 1/N sum_k r_k r_k'      over the factors of model g whose variables have known truth
 *
 * A model with a robust kernel expects outliers. For any kernel its Sigma is Maronna's M-estimator of scatter (Maronna
 * 1976, with Huber's second proposal):
 *
 *     Sigma_g = 1/(N kappa) sum_k min(1, c^2 / d_k^2) r_k r_k',   d_k^2 = r_k' Sigma_g^-1 r_k
 *     kappa = E[min(d^2, c^2)] / n,   d^2 ~ chi-square of n degrees
 *
 * No residual counts more than one at c sigmas. kappa makes Sigma_g consistent for Gaussian noise. The equation has one
 * solution; fixed-point iteration from medians finds it. Weights of the kernel itself are not used: with a redescending
 * kernel zero is a solution too.
 *
 * Tied parameters pool their samples. Means are not subtracted: the model has to cover a bias as well. */
#include "learn/learn.h"

#include <math.h>

#define ENTRIES       (CT_NOISE_DIM_MAX * CT_NOISE_DIM_MAX)
#define ROBUST_PASSES 100
#define CONVERGED     1e-6 /* relative change of every variance                                        */
#define MAD           0.674489750196082 /* median |r| of a normal number of variance 1                  */

typedef struct {
    double  sum[ENTRIES]; /* of w r r' / kappa */
    int64_t count;
} moments;

typedef struct {
    const ct_outer *outer;
    const uint8_t  *part;
    ct_noise       *noise;  /* estimate so far */
    moments        *model;  /* per learned model     */
} closed;

/* ---- Sums ------------------------------------------------------------------------------------ */

/* E[f(d)] / n for d^2 chi-square of n degrees, density d^(n-1) exp(-d^2/2), by the trapezoidal rule on [0, 12]. The
 * integrand is negligible at both ends. */
static double mean_of(int n, double (*f)(const void *, double), const void *context)
{
    double sum = 0, mass = 0;
    for (int i = 0; i < 4000; i++) {
        const double d = 0.003 * i, density = pow(d, n - 1) * exp(-0.5 * d * d) * (i ? 1 : 0.5);
        sum += density * f(context, d);
        mass += density;
    }
    return sum / (n * mass);
}

static double twice_error(const void *robust, double d)
{
    return 2 * ct_robust_error(*(const ct_robust *)robust, d * d, NULL);
}
static double cut_square(const void *c2, double d) { return CT_MIN(d * d, *(const double *)c2); }

double ct__kernel_mean(ct_robust robust, int n)
{
    return robust.kind == CT_ROBUST_NONE ? 1 : mean_of(n, twice_error, &robust);
}

/* c^2. About 5 % of Gaussian noise is above it. */
static double cut_at(int n) { return n + 2 * sqrt(2.0 * n); }

static double squared_norm(const ct_noise_model *model, const double *r)
{
    const int n = model->dim;
    double    d2 = 0;
    for (int i = 0; i < n; i++) {
        double u = 0;
        if (model->kind != CT_NOISE_FULL) u = model->sqrt_info[i] * r[i];
        else
            for (int k = i; k < n; k++) u += model->sqrt_info[i * n + k] * r[k];
        d2 += u * u;
    }
    return d2;
}

/* kappa = 1: plain second moments, which are sums of those of the sequences. */
static void gather_model(const closed *c, int32_t g, double kappa)
{
    const ct_outer       *o = c->outer;
    const ct__samples    *s = &o->samples[o->slot[g]];
    const ct_noise_model *model = ct_noise_get(c->noise, g);
    moments              *to = &c->model[o->slot[g]];
    const int             n = s->dim;
    const double          c2 = cut_at(n);
    memset(to, 0, sizeof *to);
    for (int32_t i = 0; i < o->count; i++) {
        if (c->part && !c->part[i]) continue;
        for (int k = 0; kappa == 1 && k < n * n; k++) to->sum[k] += s->sum[(int64_t)i * n * n + k];
        for (int64_t k = s->first[i]; kappa != 1 && k < s->first[i + 1]; k++) {
            const double *r = s->r + k * n;
            const double  d2 = squared_norm(model, r), w = d2 > c2 ? c2 / d2 : 1;
            for (int a = 0; a < n; a++)
                for (int b = 0; b < n; b++) to->sum[a * n + b] += w / kappa * r[a] * r[b];
        }
        to->count += s->first[i + 1] - s->first[i];
    }
}

/* ---- From sums to models --------------------------------------------------------------------- */

/* Variance of parameter j, in units, pooled over all coordinates that it scales. 0: no samples. */
static double pooled_variance(const closed *c, int32_t j, int64_t *count)
{
    const ct_outer        *o = c->outer;
    const ct_theta_jacobian *s = o->slopes;
    double                 sum = 0;
    *count = 0;
    for (int32_t g = 0; g < o->models; g++)
        for (int32_t t = s->first[g]; t < s->first[g + 1]; t++) {
            const moments *m = &c->model[o->slot[g]];
            const int      n = ct_noise_get(c->noise, g)->dim;
            if (s->parameter[t] != j || s->coordinate[t] == -1) continue;
            for (int i = 0; i < n; i++) {
                if (s->coordinate[t] >= 0 && s->coordinate[t] != i) continue;
                sum += m->sum[i * n + i] / (ct_theta_unit(o->theta, g, i) * ct_theta_unit(o->theta, g, i));
                *count += m->count;
            }
        }
    return *count ? sum / (double)*count : 0;
}

/* Sigma of the full block whose first parameter is j, pooled over models. */
static void pooled_matrix(const closed *c, int32_t j, moments *out)
{
    const ct_outer        *o = c->outer;
    const ct_theta_jacobian *s = o->slopes;
    memset(out, 0, sizeof *out);
    for (int32_t g = 0; g < o->models; g++) {
        if (o->slot[g] < 0 || s->coordinate[s->first[g]] != -1 || s->parameter[s->first[g]] != j) continue;
        for (int i = 0; i < ENTRIES; i++) out->sum[i] += c->model[o->slot[g]].sum[i];
        out->count += c->model[o->slot[g]].count;
    }
    for (int i = 0; i < ENTRIES && out->count; i++) out->sum[i] /= (double)out->count;
}

/* Writes the estimate into model g. samples (may be NULL): number of samples per parameter. */
static void take_over(closed *c, int32_t g, int64_t *samples)
{
    const ct_outer        *o = c->outer;
    const ct_theta_jacobian *s = o->slopes;
    const ct_noise_model  *model = ct_noise_get(c->noise, g);
    const int32_t          first = s->first[g], end = s->first[g + 1];
    int64_t                count;
    if (s->coordinate[first] == -1) {
        moments m;
        pooled_matrix(c, s->parameter[first], &m);
        const int fits = m.count > model->dim && ct_noise_set_covariance(c->noise, g, m.sum, NULL) == CT_OK;
        for (int32_t t = first; samples && t < end; t++) samples[s->parameter[t]] = fits ? m.count : 0;
        return;
    }
    double variance[CT_NOISE_DIM_MAX];
    for (int i = 0; i < model->dim; i++)
        variance[i] = ct_noise_covariance(model, i, i);
    for (int32_t t = first; t < end; t++) {
        const double v = pooled_variance(c, s->parameter[t], &count);
        const int    fits = v > 0 && isfinite(v);
        for (int i = 0; fits && i < model->dim; i++)
            if (s->coordinate[t] == -2 || s->coordinate[t] == i)
                variance[i] = v * (ct_theta_unit(o->theta, g, i) * ct_theta_unit(o->theta, g, i));
        if (samples) samples[s->parameter[t]] = fits ? count : 0;
    }
    ct_noise_set_variance(c->noise, g, variance, NULL); /* out of range: unchanged */
}

/* ---- Robust ---------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Initial variances of a robust model, from medians of |r|. A variance whose median is zero is unchanged. scratch has
 * room for all samples of the model. */
static void take_medians(closed *c, int32_t g, double *scratch)
{
    const ct_outer       *o = c->outer;
    const ct__samples    *s = &o->samples[o->slot[g]];
    const ct_noise_model *model = ct_noise_get(c->noise, g);
    const int             n = s->dim;
    double                S[ENTRIES] = {0};
    for (int a = 0; a < n; a++) {
        int64_t count = 0;
        for (int32_t i = 0; i < o->count; i++)
            for (int64_t k = s->first[i]; (!c->part || c->part[i]) && k < s->first[i + 1]; k++)
                scratch[count++] = fabs(s->r[k * n + a]);
        qsort(scratch, (size_t)count, sizeof *scratch, ascending);
        const double sigma = count ? scratch[count / 2] / MAD : 0;
        S[a * n + a] = sigma > 0 ? sigma * sigma : ct_noise_covariance(model, a, a);
    }
    if (model->kind == CT_NOISE_FULL) ct_noise_set_covariance(c->noise, g, S, NULL);
    else {
        for (int a = 0; a < n; a++) S[a] = S[a * n + a];
        ct_noise_set_variance(c->noise, g, S, NULL);
    }
}

/* Iterates the scatter of a robust model to convergence. */
static ct_status iterate_scatter(closed *c, int32_t g, int64_t *samples, ct_err *err)
{
    const ct__samples    *s = &c->outer->samples[c->outer->slot[g]];
    const ct_noise_model *model = ct_noise_get(c->noise, g);
    const double          c2 = cut_at(model->dim), kappa = mean_of(model->dim, cut_square, &c2);
    double                before[CT_NOISE_DIM_MAX], *scratch = ct__zalloc(s->count, sizeof *scratch);
    if (!scratch) return ct__no_memory(err, "residuals", s->count);
    take_medians(c, g, scratch);
    free(scratch);
    for (int pass = 0, moved = 1; moved && pass < ROBUST_PASSES; pass++) {
        for (int a = 0; a < model->dim; a++) before[a] = ct_noise_covariance(model, a, a);
        gather_model(c, g, kappa);
        take_over(c, g, samples);
        moved = 0;
        for (int a = 0; a < model->dim; a++)
            moved = moved || fabs(ct_noise_covariance(model, a, a) - before[a]) > CONVERGED * before[a];
    }
    return CT_OK;
}

/* plain: second moments of the part, per slot; NULL: they are gathered. */
static ct_status estimate(const ct_outer *o, const uint8_t *part, const moments *plain, double *p, int64_t *samples,
                          ct_err *err)
{
    closed    c = {.outer = o, .part = part, .model = ct__zalloc(o->slots, sizeof *c.model)};
    ct_status status = c.model ? ct_noise_copy(o->base, &c.noise, err) : ct__no_memory(err, "noise models", o->slots);
    if (status == CT_OK && plain) memcpy(c.model, plain, (size_t)o->slots * sizeof *plain);
    for (int32_t g = 0; status == CT_OK && !plain && g < o->models; g++)
        if (o->slot[g] >= 0) gather_model(&c, g, 1);
    for (int32_t g = 0; status == CT_OK && g < o->models; g++) {
        if (o->slot[g] < 0) continue;
        if (ct_noise_get(c.noise, g)->robust.kind == CT_ROBUST_NONE) take_over(&c, g, samples);
        else status = iterate_scatter(&c, g, samples, err);
    }
    if (status == CT_OK) ct_theta_get(o->theta, c.noise, p);
    ct_noise_free(c.noise);
    free(c.model);
    return status;
}

ct_status ct_outer_closed_form(const ct_outer *o, const uint8_t *part, double *p, int64_t *samples, ct_err *err)
{
    return estimate(o, part, NULL, p, samples, err);
}

/* ---- Without a block of sequences ------------------------------------------------------------ */

typedef struct {
    const ct_outer *outer;
    int64_t         blocks;
    moments        *sum;     /* blocks x slots: of the sequences outside of the block */
    double         *p;       /* blocks x m                                            */
    int64_t        *samples; /* the same                                              */
    ct_status      *status;  /* per block                                             */
} left_out;

static void add_moments(const moments *from, moments *to)
{
    for (int i = 0; i < ENTRIES; i++) to->sum[i] += from->sum[i];
    to->count += from->count;
}

/* sum_k <- those before block k plus those behind it: n + blocks additions a number, and none is subtracted. */
static void sum_others(const left_out *j, int32_t slot, moments *own)
{
    const ct_outer    *o = j->outer;
    const ct__samples *s = &o->samples[slot];
    const int64_t      blocks = j->blocks, n = (int64_t)s->dim * s->dim;
    moments            before = {0}, behind = {0};
    memset(own, 0, (size_t)blocks * sizeof *own);
    for (int64_t i = 0; i < o->count; i++) {
        moments *m = &own[i * blocks / o->count];
        for (int64_t k = 0; k < n; k++) m->sum[k] += s->sum[i * n + k];
        m->count += s->first[i + 1] - s->first[i];
    }
    for (int64_t k = 0; k < blocks; k++) {
        j->sum[k * o->slots + slot] = before;
        add_moments(&own[k], &before);
    }
    for (int64_t k = blocks - 1; k >= 0; k--) {
        add_moments(&behind, &j->sum[k * o->slots + slot]);
        add_moments(&own[k], &behind);
    }
}

static void leave_out(void *user, int64_t k, int worker)
{
    const left_out *j = user;
    const int64_t   n = j->outer->count, m = j->outer->m;
    uint8_t        *part = ct__zalloc(n, sizeof *part); /* for models with kernels, which are no sums */
    (void)worker;
    j->status[k] = CT_E_MEMORY;
    if (!part) return;
    for (int64_t i = 0; i < n; i++) part[i] = i * j->blocks / n != k;
    j->status[k] = estimate(j->outer, part, j->sum + k * j->outer->slots, j->p + k * m, j->samples + k * m, NULL);
    free(part);
}

ct_status ct__closed_forms_left_out(const ct_outer *o, int64_t blocks, double *p, int64_t *samples, ct_err *err)
{
    left_out  j = {.outer = o,
                   .blocks = blocks,
                   .sum = ct__zalloc(blocks * o->slots, sizeof *j.sum),
                   .p = p,
                   .samples = samples,
                   .status = ct__zalloc(blocks, sizeof *j.status)};
    moments  *own = ct__zalloc(blocks, sizeof *own);
    ct_status status = j.sum && j.status && own ? CT_OK : ct__no_memory(err, "blocks of sequences", blocks);
    for (int32_t slot = 0; status == CT_OK && slot < o->slots; slot++) sum_others(&j, slot, own);
    if (status == CT_OK) ct__parallel(o->scratches, blocks, leave_out, &j);
    for (int64_t k = 0; status == CT_OK && k < blocks; k++)
        if (j.status[k] != CT_OK) status = ct__no_memory(err, "closed forms", blocks);
    free(j.sum);
    free(j.status);
    free(own);
    return status;
}
