/* matrix_regression.c: the likelihood of residuals whose covariance is e^L in units of their rows, L(x) a symmetric
 * matrix that is linear in weights, robust and with a ridge.
 *
 *     1/2 (tr L + rho(<e^-L, Z>)),    Z = D^-1 r r'D^-1, or its expectation;  rho clips as regression.c, at the same
 * tail
 *
 * With L = V diag(l) V' the gradient by L is 1/2 (I - rho' Dexp(-L)[Z]), and the Fisher information, in the basis of V,
 * is diagonal: 1/2 (sinh(g/2) / (g/2))^2, g = li - lj, for the coordinate ij. Fisher scoring takes it at every
 * iterate. The ridge is on all terms but the constant one. */
#include "conditional/conditional.h"

#include <math.h>

#define ITERATIONS 60
#define STEP       1e-8
#define PACKED     CT__SYM_PACKED_MAX

/* The quantile of chi-square with dim degrees that 3.5 sigma is of one (Wilson and Hilferty). */
static double clip_of(int dim)
{
    const double s = 2 / (9.0 * dim), root = 1 - s + 3.31 * sqrt(s);
    return dim * root * root * root;
}

double ct__matrix_loss(int dim, const double *L, const double *Z, double *gradient, double *information)
{
    const int    n = ct__packed(dim);
    const double clip = clip_of(dim);
    double       lambda[CT__SYM_DIM_MAX], V[CT__SYM_MAX], z[PACKED], square = 0, trace = 0, weight[PACKED];
    ct__sym_spectrum(dim, L, lambda, V);
    memcpy(z, Z, (size_t)n * sizeof *z);
    ct__sym_rotate(dim, V, 0, z);
    for (int i = 0, at = 0; i < dim; at += dim - i++) { /* entries of the diagonal */
        square += exp(-lambda[i]) * z[at];
        trace += lambda[i];
    }
    const double inside = square <= clip ? 1 : clip / square;
    for (int i = 0, at = 0; gradient && i < dim; i++)
        for (int j = i; j < dim; j++, at++) {
            const double g = lambda[i] - lambda[j], s = g == 0 ? 1 : sinh(0.5 * g) / (0.5 * g);
            gradient[at] = 0.5 * ((i == j) - inside * ct__exp_difference(-lambda[i], -lambda[j]) * z[at]);
            weight[at] = 0.5 * s * s;
        }
    if (gradient) ct__sym_rotate(dim, V, 1, gradient);
    for (int a = 0; information && a < n; a++) { /* V diag(weight) V' on coordinates */
        double unit[PACKED] = {0};
        unit[a] = 1;
        ct__sym_rotate(dim, V, 0, unit);
        for (int k = 0; k < n; k++) unit[k] *= weight[k];
        ct__sym_rotate(dim, V, 1, unit);
        memcpy(information + a * n, unit, (size_t)n * sizeof *unit);
    }
    return 0.5 * (trace + (square <= clip ? square : clip * (1 + log(square / clip))));
}

void ct__matrix_constant(const ct_function *f, const double *L, double *weight)
{
    if (f->kind == CT_FUNCTION_NETWORK) memcpy(weight + f->weights - f->outputs, L, (size_t)f->outputs * sizeof *L);
    for (int o = 0; f->kind != CT_FUNCTION_NETWORK && o < f->outputs; o++) weight[o * f->terms] = L[o];
}

int64_t ct__mean_moment(const ct__squares *s, const uint8_t *part, double *mean)
{
    const int n = ct__packed(s->dim);
    int64_t   count = 0;
    memset(mean, 0, (size_t)n * sizeof *mean);
    for (int64_t k = 0; k < s->count; k++) {
        if (part && !part[s->sequence[k]]) continue;
        for (int o = 0; o < n; o++) mean[o] += s->moment[k * n + o];
        count++;
    }
    for (int o = 0; o < n; o++) mean[o] /= (double)CT_MAX(1, count);
    return count;
}

/* ---- Fisher scoring ---------------------------------------------------------------------------- */

typedef struct {
    const ct_function *f;
    const ct__squares *s;
    const uint8_t     *part;
    const double      *phi; /* samples x terms */
    int                n;   /* weights         */
    double             ridge;
    double            *A, *L;
} scoring;

/* Mean objective at q, with gradient and information unless NULL; samples of one group alone if only >= 0: their sum,
 * without the ridge. */
static double value(const scoring *r, const double *q, double *gradient, double *A, const int32_t *group, int32_t only)
{
    const int terms = r->f->terms, outputs = r->f->outputs, n = r->n;
    double    sum = 0, count = 0;
    if (gradient) memset(gradient, 0, (size_t)n * sizeof *gradient);
    if (A) memset(A, 0, (size_t)n * (size_t)n * sizeof *A);
    for (int64_t k = 0; k < r->s->count; k++) {
        const int32_t in = r->s->sequence[k];
        double        L[PACKED] = {0}, d[PACKED], info[PACKED * PACKED];
        if ((r->part && !r->part[in]) || (only >= 0 && group[in] != only)) continue;
        const double *phi = r->phi + k * terms;
        for (int o = 0; o < outputs; o++)
            for (int j = 0; j < terms; j++) L[o] += q[o * terms + j] * phi[j];
        sum += ct__matrix_loss(r->s->dim, L, r->s->moment + k * outputs, gradient ? d : NULL, A ? info : NULL);
        count++;
        for (int o = 0; gradient && o < outputs; o++)
            for (int j = 0; j < terms; j++) gradient[o * terms + j] += d[o] * phi[j];
        for (int o = 0; A && o < outputs; o++)
            for (int i = 0; i < terms; i++)
                for (int u = 0; u <= o; u++)
                    for (int j = 0; j < terms; j++)
                        A[(o * terms + i) * n + u * terms + j] += info[o * outputs + u] * phi[i] * phi[j];
    }
    if (only >= 0) return sum;
    count = fmax(1, count);
    for (int i = 0; A && i < n; i++)
        for (int j = 0; j < n; j++) A[i * n + j] /= count;
    for (int i = 0; i < n; i++) {
        const double ridge = i % terms ? r->ridge : 0;
        sum += 0.5 * count * ridge * q[i] * q[i];
        if (gradient) gradient[i] = gradient[i] / count + ridge * q[i];
        if (A) A[i * n + i] += ridge + 1e-12;
    }
    return sum / count;
}

static ct_status iterate(const scoring *r, double *q, double *g, double *trial, const char *what, ct_err *err)
{
    double F = value(r, q, g, r->A, NULL, -1);
    for (int k = 0; k < ITERATIONS; k++) {
        double step = 1, largest = 0, next = INFINITY;
        if (!ct__lower_factor(r->n, r->A, r->L))
            return ct_fail(err, CT_E_ARGUMENT, "%s: %lld residuals do not determine a matrix function of %d terms",
                           what, (long long)r->s->count, r->f->terms);
        ct__lower_solve(r->n, r->L, g);
        for (int i = 0; i < r->n; i++) largest = fmax(largest, fabs(g[i]));
        if (largest > 3) step = 3 / largest; /* e^3: far starts */
        for (int half = 0; half < 30; half++, step *= 0.5) {
            for (int i = 0; i < r->n; i++) trial[i] = q[i] - step * g[i];
            next = value(r, trial, NULL, NULL, NULL, -1);
            if (next <= F) break;
        }
        if (!(next <= F)) return CT_OK;
        memcpy(q, trial, (size_t)r->n * sizeof *q);
        F = value(r, q, g, r->A, NULL, -1);
        if (step * largest < STEP) return CT_OK;
    }
    return CT_OK;
}

/* Standard errors: the larger of information and scatter of gradients over groups. */
static void set_errors(const scoring *r, const double *q, const int32_t *group, double *g, double *error)
{
    const int n = r->n;
    int32_t   groups = 0, counted = 0;
    double    count = 0;
    for (int64_t k = 0; k < r->s->count; k++) {
        groups = CT_MAX(groups, group[r->s->sequence[k]] + 1);
        count += !r->part || r->part[r->s->sequence[k]];
    }
    for (int i = 0; i < n; i++) error[i] = 0;
    for (int32_t only = 0; only < groups; only++) {
        if (value(r, q, g, NULL, group, only) == 0) continue;
        ct__lower_solve(n, r->L, g);
        for (int i = 0; i < n; i++) error[i] += g[i] * g[i] / (count * count);
        counted++;
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) g[j] = i == j;
        ct__lower_solve(n, r->L, g);
        error[i] = sqrt(fmax(g[i] / count, counted > 1 ? error[i] * counted / (counted - 1.0) : 0));
    }
}

ct_status ct__fit_matrix(const ct_function *f, const ct__squares *s, const uint8_t *part, const int32_t *group,
                         const double *phi, double ridge, const char *what, ct__fit *fit, ct_err *err)
{
    const int64_t n = f->weights;
    double       *room = ct__zalloc(3 * n + 2 * n * n, sizeof *room), start[PACKED];
    if (!room) return ct__no_memory(err, "unknowns", n);
    scoring r = {.f = f, .s = s, .part = part, .phi = phi, .n = f->weights, .ridge = ridge, .A = room + 3 * n,
                 .L = room + 3 * n + n * n};
    double *q = room, *g = room + n, *trial = g + n;
    if (ct__mean_moment(s, part, start) * s->dim > n) {
        ct__sym_log(s->dim, start);
        ct__matrix_constant(f, start, q);
    }
    ct_status status = iterate(&r, q, g, trial, what, err);
    if (status == CT_OK) {
        memcpy(fit->weight, q, (size_t)n * sizeof *q);
        fit->deviance = value(&r, q, NULL, NULL, NULL, -1);
        for (int i = 0; i < s->dim; i++) fit->log_v[i] = 0;
        if (fit->error && group) set_errors(&r, q, group, g, fit->error);
    }
    free(room);
    return status;
}
