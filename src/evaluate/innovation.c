/* innovation.c: held-out measurements predicted from the rest.
 *
 *     nu = r at the minimum of the rest,   S = J P J' + m Sigma,   log p(nu) = -1/2 (nu' S^-1 nu + log |2 pi S|)
 *
 * m is the known multiple of the model's covariance; r and J come divided by sqrt(m) (factor_sweep.h), so sums are of
 * r / sqrt(m) and S / m. */
#include "evaluate/evaluate.h"
#include "evaluate/factor_sweep.h"
#include "evaluate/hold_out.h"

#include <math.h>

#define LOG_TWO_PI  1.8378770664093453
#define FAR_OUT     3.0  /* sigmas                                                                            */
#define OUTLIERS    0.01 /* share of outliers in the density of kernels that have no integral ...             */
#define OUTLIER_VAR 100.0 /* ... and the factor on their variances                                            */

/* ---- One measurement ------------------------------------------------------------------------- */

/* S = J P J' + Sigma, rows x rows. */
static void predict(const ct__factor_at *f, const ct_noise_model *model, double *S)
{
    const int rows = f->ops->rows, n = f->n;
    double    JP[CT_ROWS_MAX * CT__SIDE_MAX];
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < n; k++) {
            JP[i * n + k] = 0;
            for (int j = 0; j < n; j++) JP[i * n + k] += f->J[i * n + j] * f->P[j * n + k];
        }
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < rows; k++) {
            S[i * rows + k] = ct_noise_covariance(model, i, k);
            for (int j = 0; j < n; j++) S[i * rows + k] += JP[i * n + j] * f->J[k * n + j];
        }
}

/* d^2 = nu' S^-1 nu and log |S| by Cholesky, in place. */
static double normalise(int n, double *S, const double *nu, double *log_det)
{
    double y[CT_ROWS_MAX], sum = 0;
    *log_det = 0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            for (int k = 0; k < j; k++) S[i * n + j] -= S[i * n + k] * S[j * n + k];
            S[i * n + j] = j < i ? S[i * n + j] / S[j * n + j] : sqrt(S[i * n + i]);
        }
        y[i] = nu[i];
        for (int k = 0; k < i; k++) y[i] -= S[i * n + k] * y[k];
        y[i] /= S[i * n + i];
        sum += y[i] * y[i];
        *log_det += 2 * log(S[i * n + i]);
    }
    return sum;
}

static double log_density(ct_robust robust, int rows, double d2, double log_det)
{
    const double gauss = -0.5 * (rows * LOG_TWO_PI + log_det), Z = ct_robust_log_normaliser(robust, rows);
    if (isfinite(Z)) return gauss - Z - ct_robust_error(robust, d2, NULL);
    const double inlier = log1p(-OUTLIERS) - 0.5 * d2,
                 outlier = log(OUTLIERS) - 0.5 * rows * log(OUTLIER_VAR) - 0.5 * d2 / OUTLIER_VAR,
                 most = CT_MAX(inlier, outlier);
    return gauss + most + log(exp(inlier - most) + exp(outlier - most));
}

typedef struct {
    const ct_noise *noise; /* as given */
    int32_t         models;
    ct_innovation  *each;
    double         *density; /* per factor */
} prediction;

static void add_measurement(void *user, ct__factor_at *f)
{
    const prediction     *p = user;
    const int32_t         g = f->noise - p->models;
    const ct_noise_model *model = ct_noise_get(p->noise, g);
    ct_innovation        *to = &p->each[g];
    const int             rows = f->ops->rows;
    double                S[CT_ROWS_MAX * CT_ROWS_MAX], log_det;
    predict(f, model, S);
    for (int i = 0; i < rows; i++) {
        const double ratio = f->r[i] * f->r[i] / S[i * rows + i];
        const int    beyond = ratio > FAR_OUT * FAR_OUT;
        to->row_square[i] += f->raw[i] * f->raw[i];
        to->row_ratio[i] += ratio;
        to->row_beyond[i] += beyond;
        to->beyond += beyond;
    }
    const double d2 = normalise(rows, S, f->r, &log_det), log_scale = -ct__scale_log_det(&f->scale, rows);
    p->density[f->factor] = log_density(model->robust, rows, d2, log_det + 2 * log_scale);
    to->measurements++;
    to->rows += rows;
    to->normalised += d2;
    to->log_density += p->density[f->factor];
}

/* ---- All of them ----------------------------------------------------------------------------- */

void ct_innovation_add(const ct_innovation *from, ct_innovation *to)
{
    if (!from->measurements) return;
    if (!to->measurements) to->log_density = 0;
    to->measurements += from->measurements;
    to->rows += from->rows;
    to->normalised += from->normalised;
    to->log_density += from->log_density;
    to->beyond += from->beyond;
    for (int i = 0; i < CT_ROWS_MAX; i++) {
        to->row_square[i] += from->row_square[i];
        to->row_ratio[i] += from->row_ratio[i];
        to->row_beyond[i] += from->row_beyond[i];
    }
    for (int b = 0; b < CT_INNOVATION_BLOCKS; b++) {
        to->block_log_density[b] += from->block_log_density[b];
        to->block_measurements[b] += from->block_measurements[b];
    }
}

static void sum_up(const ct__hold_out *h, const prediction *p, ct_innovation *total)
{
    int64_t k = 0;
    for (int32_t g = 0; g < p->models; g++) ct_innovation_add(&p->each[g], total);
    memset(total->row_square, 0, sizeof total->row_square);
    memset(total->row_ratio, 0, sizeof total->row_ratio);
    memset(total->row_beyond, 0, sizeof total->row_beyond);
    for (int32_t f = 0; f < h->graph->factors; f++) {
        if (!h->held[f]) continue;
        const int64_t b = k++ * CT_INNOVATION_BLOCKS / h->count;
        total->block_log_density[b] += p->density[f];
        total->block_measurements[b]++;
    }
    if (isfinite(total->log_density) && isfinite(total->normalised)) return;
    *total = (ct_innovation){.log_density = NAN};
}

/* x <- the minimum without the held-out factors; then their innovations. Without a minimum there are none. */
static ct_status predict_held(const ct__hold_out *h, const ct_noise *table, const prediction *p,
                              const ct_solve_options *options, double *x, ct_innovation *total, ct_err *err)
{
    ct_solver      *solver = NULL;
    ct_solve_result result;
    CT_TRY(ct_solver_new(h->graph, NULL, &solver, err));
    ct_status status = ct_solver_run(solver, table, x, options, &result, err);
    if (status == CT_OK && ct_solve_usable(&result)) {
        status = ct__factor_sweep(solver, table, x, h->held, add_measurement, (void *)p, err);
        if (status == CT_OK) sum_up(h, p, total);
        if (status == CT_E_SINGULAR) status = CT_OK;
    }
    ct_solver_free(solver);
    return status;
}

ct_status ct_innovations(const ct_graph *graph, const ct_noise *noise, const double *x, uint64_t seed,
                         const ct_solve_options *options, ct_innovation each[], ct_innovation *total, ct_err *err)
{
    const int64_t size = ct_graph_size(graph), models = ct_noise_count(noise);
    ct__hold_out  h;
    ct_noise     *table = NULL;
    double       *values = ct__zalloc(size, sizeof *values);
    prediction    p = {.noise = noise, .models = (int32_t)models, .each = ct__zalloc(models, sizeof *p.each)};
    p.density = ct__zalloc(graph->factors, sizeof *p.density);
    *total = (ct_innovation){.log_density = NAN};
    ct_status status = ct__hold_out_choose(graph, noise, x, seed, &h, err);
    if (status == CT_OK && !(values && p.each && p.density)) status = ct__no_memory(err, "values", size);
    if (status == CT_OK && h.count) status = ct__hold_out_table(noise, &table, err);
    if (status == CT_OK && h.count) {
        memcpy(values, x, (size_t)size * sizeof *values);
        status = predict_held(&h, table, &p, options, values, total, err);
    }
    for (int64_t g = 0; each && g < models; g++)
        each[g] = status == CT_OK && total->measurements ? p.each[g] : (ct_innovation){.log_density = NAN};
    ct__hold_out_free(&h);
    ct_noise_free(table);
    free(values);
    free(p.each);
    free(p.density);
    return status;
}

/* ---- Two tables ------------------------------------------------------------------------------ */

typedef struct {
    int32_t n;
    double  sum, square;
} paired;

static void add_pair(paired *p, double a, int64_t of_a, double b, int64_t of_b)
{
    const double d = a / (double)of_a - b / (double)of_b;
    if (!of_a || of_a != of_b || !isfinite(d)) return;
    p->n++;
    p->sum += d;
    p->square += d * d;
}

ct_score_difference ct_innovation_compare(int32_t count, const ct_innovation a[], const ct_innovation b[])
{
    paired p = {0};
    for (int32_t i = 0; i < count; i++)
        add_pair(&p, a[i].log_density, a[i].measurements, b[i].log_density, b[i].measurements);
    ct_score_difference d = {.pairs = p.n, .difference = p.n ? p.sum / p.n : NAN, .standard_error = NAN};
    if (count == 1 && p.n == 1) {
        p = (paired){0};
        for (int k = 0; k < CT_INNOVATION_BLOCKS; k++)
            add_pair(&p, a->block_log_density[k], a->block_measurements[k], b->block_log_density[k],
                     b->block_measurements[k]);
        d.pairs = p.n;
        d.of_blocks = 1;
    }
    if (p.n < 2) return d;
    const double mean = p.sum / p.n;
    d.standard_error = sqrt(fmax(0, p.square / p.n - mean * mean) / (p.n - 1));
    return d;
}
