/* regression.c: gamma regression with a logarithmic link, robust and with a ridge.
 *
 * A squared residual s of variance e^eta, eta = b_i + sum_j w_j phi_j(x), has the negative log likelihood
 *
 *     1/2 (eta + rho(s e^-eta)),     rho(z) = z up to CT__CLIP, then CT__CLIP (1 + log(z / CT__CLIP)):
 *
 * Gaussian noise whose outliers count as 3.5 sigma. The ridge adds N lambda / 2 |w|^2. Its gradient is
 * 1/2 sum (1 - psi) d, d = (e_i, phi), and its Fisher information 1/2 sum d d' does not depend on the parameters: every
 * step of Fisher scoring uses the same factor. Each output has a regression of its own: one row, or all rows with an
 * intercept each. Standard errors are the larger of those of the information and of the scatter of gradients over
 * recordings. */
#include "conditional/conditional.h"

#include <math.h>

#define ITERATIONS 100
#define STEP       1e-9
#define FOLDS      5

static const double RIDGE[] = {0, 1e-4, 1e-3, 1e-2, 1e-1};

typedef struct {
    const ct_function *f;
    const ct__squares *s;
    const uint8_t     *part;
    int                row[CT_FUNCTION_ROWS_MAX], rows; /* of an output                            */
    int                n;     /* unknowns: an intercept a row, then weights */
    int64_t            count; /* squares that take part                     */
    double             ridge;
    double            *phi;            /* samples x terms */
    double            *A, *L;          /* n x n: information, and the factor of it with the ridge */
} regression;

static int takes_part(const uint8_t *part, int32_t sequence) { return !part || part[sequence]; }

int ct__lower_factor(int n, const double *A, double *L)
{
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++) {
            double sum = A[i * n + j];
            for (int k = 0; k < j; k++) sum -= L[i * n + k] * L[j * n + k];
            if (i == j && !(sum > 0)) return 0;
            L[i * n + j] = i == j ? sqrt(sum) : sum / L[j * n + j];
        }
    return 1;
}

void ct__lower_solve(int n, const double *L, double *b)
{
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++) b[i] -= L[i * n + k] * b[k];
        b[i] /= L[i * n + i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) b[i] -= L[k * n + i] * b[k];
        b[i] /= L[i * n + i];
    }
}

static double rho(double z, double *psi)
{
    *psi = fmin(z, CT__CLIP);
    return z <= CT__CLIP ? z : CT__CLIP * (1 + log(z / CT__CLIP));
}

/* Mean objective at q; gradient (n; may be NULL) per square; of samples of one group alone if group >= 0, without the
 * ridge and as a sum. */
static double value(const regression *r, const double *q, double *gradient, const int32_t *group, int32_t only)
{
    const int terms = r->f->terms;
    double    sum = 0;
    for (int i = 0; gradient && i < r->n; i++) gradient[i] = 0;
    for (int64_t k = 0; k < r->s->count; k++) {
        if (!takes_part(r->part, r->s->sequence[k]) || (only >= 0 && group[r->s->sequence[k]] != only)) continue;
        const double *phi = r->phi + k * terms;
        double        u = 0, all = 0;
        for (int j = 0; j < terms; j++) u += q[r->rows + j] * phi[j];
        for (int i = 0; i < r->rows; i++) {
            const double eta = q[i] + u;
            double       psi;
            sum += 0.5 * (eta + rho(r->s->square[k * r->s->dim + r->row[i]] * exp(-eta), &psi));
            if (gradient) gradient[i] += 0.5 * (1 - psi);
            all += 0.5 * (1 - psi);
        }
        for (int j = 0; gradient && j < terms; j++) gradient[r->rows + j] += all * phi[j];
    }
    if (only >= 0) return sum;
    sum /= (double)r->count;
    for (int i = 0; gradient && i < r->n; i++) gradient[i] /= (double)r->count;
    for (int j = r->rows; j < r->n; j++) {
        sum += 0.5 * r->ridge * q[j] * q[j];
        if (gradient) gradient[j] += r->ridge * q[j];
    }
    return sum;
}

/* The information of one square on average, and its factor with the ridge. */
static ct_status fill_information(regression *r, const char *what, ct_err *err)
{
    const int n = r->n, terms = r->f->terms;
    memset(r->A, 0, (size_t)(n * n) * sizeof *r->A);
    r->count = 0;
    for (int64_t k = 0; k < r->s->count; k++) {
        if (!takes_part(r->part, r->s->sequence[k])) continue;
        const double *phi = r->phi + k * terms;
        for (int j = 0; j < terms; j++)
            for (int l = 0; l <= j; l++) r->A[(r->rows + j) * n + r->rows + l] += 0.5 * r->rows * phi[j] * phi[l];
        for (int i = 0; i < r->rows; i++) {
            r->A[i * n + i] += 0.5;
            for (int j = 0; j < terms; j++) r->A[(r->rows + j) * n + i] += 0.5 * phi[j];
        }
        r->count += r->rows;
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) r->A[i * n + j] /= (double)CT_MAX(1, r->count), r->A[j * n + i] = r->A[i * n + j];
    for (int i = r->rows; i < n; i++) r->A[i * n + i] += r->ridge + 1e-12;
    const int good = r->count > n && ct__lower_factor(n, r->A, r->L);
    for (int i = r->rows; i < n; i++) r->A[i * n + i] -= r->ridge + 1e-12;
    if (good) return CT_OK;
    return ct_fail(err, CT_E_ARGUMENT, "%s: %lld squared residuals do not determine a function of %d terms", what,
                   (long long)r->count, terms);
}

static void iterate(const regression *r, double *q, double *g, double *trial)
{
    double F = value(r, q, g, NULL, -1);
    for (int k = 0; k < ITERATIONS; k++) {
        double step = 1, largest = 0, next = INFINITY;
        ct__lower_solve(r->n, r->L, g);
        for (int i = 0; i < r->n; i++) largest = fmax(largest, fabs(g[i]));
        if (largest > 3) step = 3 / largest; /* e^3: far starts */
        for (int half = 0; half < 30; half++, step *= 0.5) {
            for (int i = 0; i < r->n; i++) trial[i] = q[i] - step * g[i];
            next = value(r, trial, NULL, NULL, -1);
            if (next <= F) break;
        }
        if (!(next <= F)) return;
        memcpy(q, trial, (size_t)r->n * sizeof *q);
        F = value(r, q, g, NULL, -1);
        if (step * largest < STEP) return;
    }
}

/* Standard errors of q: information, and scatter of gradients over groups. */
static void set_errors(const regression *r, const double *q, const int32_t *group, double *room, double *error)
{
    const int n = r->n;
    int32_t   groups = 0, counted = 0;
    double   *e = room, *g = room + n;
    for (int64_t k = 0; k < r->s->count; k++) groups = CT_MAX(groups, group[r->s->sequence[k]] + 1);
    for (int i = 0; i < n; i++) error[i] = 0;
    for (int32_t only = 0; only < groups; only++) {
        if (value(r, q, g, group, only) == 0) continue;
        ct__lower_solve(n, r->L, g);
        for (int i = 0; i < n; i++) error[i] += g[i] * g[i] / ((double)r->count * (double)r->count);
        counted++;
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) e[j] = i == j;
        ct__lower_solve(n, r->L, e);
        const double own = e[i] / (double)r->count, scatter = counted > 1 ? error[i] * counted / (counted - 1.0) : 0;
        error[i] = sqrt(fmax(own, scatter));
    }
}

static ct_status fit_output(regression *r, int output, const int32_t *group, const char *what, ct__fit *fit,
                            ct_err *err)
{
    const int n = r->n, terms = r->f->terms;
    double   *room = ct__zalloc(6 * (int64_t)n + 2 * (int64_t)n * n, sizeof *room);
    if (!room) return ct__no_memory(err, "unknowns", n);
    double *q = room, *g = q + n, *trial = g + n, *error = trial + n;
    r->A = room + 6 * n;
    r->L = r->A + n * n;
    ct_status status = fill_information(r, what, err);
    if (status == CT_OK) {
        for (int i = 0; i < r->rows; i++) {
            double  sum = 0;
            int64_t m = 0;
            for (int64_t k = 0; k < r->s->count; k++)
                if (takes_part(r->part, r->s->sequence[k])) sum += r->s->square[k * r->s->dim + r->row[i]], m++;
            q[i] = log(fmax(sum / (double)CT_MAX(1, m), 1e-300));
        }
        iterate(r, q, g, trial);
        for (int i = 0; i < r->rows; i++) fit->log_v[r->row[i]] = q[i];
        memcpy(fit->weight + (int64_t)output * terms, q + r->rows, (size_t)terms * sizeof *q);
        fit->deviance += value(r, q, NULL, NULL, -1) * r->rows;
        if (fit->error && group) {
            set_errors(r, q, group, g, error); /* g, trial: room */
            memcpy(fit->error + (int64_t)output * terms, error + r->rows, (size_t)terms * sizeof *error);
        }
    }
    free(room);
    return status;
}

/* An output of a row that is tied to an earlier one. */
static void copy_output(const ct_function *f, int from, int to, int errors, ct__fit *fit)
{
    const size_t bytes = (size_t)f->terms * sizeof *fit->weight;
    memcpy(fit->weight + (int64_t)to * f->terms, fit->weight + (int64_t)from * f->terms, bytes);
    if (fit->error && errors)
        memcpy(fit->error + (int64_t)to * f->terms, fit->error + (int64_t)from * f->terms, bytes);
}

ct_status ct__fit_bases(const ct_function *f, const ct__squares *s, const uint8_t *part, const int32_t *group,
                        double ridge, ct__fit *fit, ct_err *err)
{
    regression r = {.f = f, .s = s, .part = part, .ridge = ridge};
    char       what[64];
    snprintf(what, sizeof what, "noise model number %d", s->model);
    r.phi = ct__zalloc(CT_MAX(1, s->count * f->terms), sizeof *r.phi);
    if (!r.phi) return ct__no_memory(err, "terms", s->count * f->terms);
    for (int64_t k = 0; k < s->count; k++) ct__function_terms(f, s->x + k * s->features, r.phi + k * f->terms);
    ct_status status = f->matrix ? ct__fit_matrix(f, s, part, group, r.phi, ridge, what, fit, err) : CT_OK;
    if (!f->matrix) fit->deviance = 0;
    for (int o = 0; status == CT_OK && !f->matrix && o < f->outputs; o++) {
        const int first = f->outputs == 1 ? o : s->same_row[o];
        r.rows = 0;
        for (int i = 0; i < s->dim; i++)
            if (f->outputs == 1 || s->same_row[i] == o) r.row[r.rows++] = i;
        r.n = r.rows + f->terms;
        if (first == o) status = fit_output(&r, o, group, what, fit, err);
        else copy_output(f, first, o, group != NULL, fit);
    }
    fit->deviance /= s->dim;
    free(r.phi);
    return status;
}

double ct__deviance(const ct_function *f, const ct__squares *s, const uint8_t *part, const double log_v[],
                    const double weight[])
{
    ct_function with = *f;
    double      sum = 0, psi;
    int64_t     count = 0;
    with.weight = (double *)weight;
    for (int64_t k = 0; k < s->count; k++) {
        double u[CT_FUNCTION_OUTPUTS_MAX];
        if (!takes_part(part, s->sequence[k])) continue;
        ct_function_evaluate(&with, s->x + k * s->features, u);
        if (f->matrix) sum += ct__matrix_loss(s->dim, u, s->moment + k * f->outputs, NULL, NULL);
        for (int i = 0; !f->matrix && i < s->dim; i++) {
            const double eta = log_v[i] + u[f->outputs == 1 ? 0 : i];
            sum += 0.5 * (eta + rho(s->square[k * s->dim + i] * exp(-eta), &psi));
        }
        count += s->dim;
    }
    return count ? sum / (double)count : NAN;
}

ct_status ct__choose_ridge(const ct_function *f, const ct__squares *s, const uint8_t *part, const int32_t *group,
                           int32_t groups, double *ridge, ct_err *err)
{
    const int folds = CT_MIN(FOLDS, groups), n = (int)(sizeof RIDGE / sizeof *RIDGE);
    double    best = INFINITY;
    int32_t   sequences = 0;
    *ridge = RIDGE[1];
    if (folds < 2) return CT_OK;
    for (int64_t k = 0; k < s->count; k++) sequences = CT_MAX(sequences, s->sequence[k] + 1);
    uint8_t  *train = ct__zalloc(2 * (int64_t)sequences, 1);
    double   *weight = ct__zalloc(f->weights, sizeof *weight);
    ct_status status = train && weight ? CT_OK : ct__no_memory(err, "sequences", sequences);
    for (int k = 0; k < n && status == CT_OK; k++) {
        double sum = 0;
        for (int fold = 0; fold < folds && status == CT_OK; fold++) {
            ct__fit fit = {.weight = weight};
            ct_err  quiet;
            for (int32_t i = 0; i < sequences; i++) {
                const int in = takes_part(part, i);
                train[i] = (uint8_t)(in && group[i] % folds != fold);
                train[sequences + i] = (uint8_t)(in && group[i] % folds == fold);
            }
            if (ct__fit_bases(f, s, train, NULL, RIDGE[k], &fit, &quiet) != CT_OK) continue;
            const double d = ct__deviance(f, s, train + sequences, fit.log_v, weight);
            if (!isnan(d)) sum += d;
        }
        if (sum < best - 1e-6 * fabs(best) || isinf(best)) best = sum, *ridge = RIDGE[k];
    }
    free(train);
    free(weight);
    return status;
}
