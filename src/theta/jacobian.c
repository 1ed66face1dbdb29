/* jacobian.c: derivatives of covariances by parameters, and conversion of gradients between the spaces.
 *
 *   variance v = e^p       dv/dp = v
 *   full, Sigma = e^L      dSigma/dp_k = D exp(L)[E_k], E_k the k-th basis matrix: e_i e_i', or
 *                          (e_i e_j' + e_j e_i') / sqrt 2
 *
 * These are in units; the table has U dSigma U, U = diag(u). The gradient in log space is D exp(L) applied to that in
 * variance space. */
#include "theta/theta.h"
#include "base/base.h"

#include <math.h>

static int32_t terms_of(const ct_theta *theta, int32_t model)
{
    const ct__theta_model *m = &theta->model[model];
    int32_t                terms = 0;
    for (int c = 0; c < m->dim; c++)
        if (m->block[c] >= 0) terms += ct__packed(theta->block[m->block[c]].dim);
    return terms;
}

ct_status ct_theta_jacobian_new(const ct_theta *theta, ct_theta_jacobian **out, ct_err *err)
{
    /* one allocation, widest alignment first: the struct, dSigma, first, parameter, coordinate */
    int64_t terms = 0;
    *out = NULL;
    for (int32_t i = 0; i < theta->models; i++) terms += terms_of(theta, i);
    if (terms > INT32_MAX) return ct_fail(err, CT_E_LIMIT, "more than %d derivatives of covariances", INT32_MAX);
    const size_t n = (size_t)terms, models = (size_t)theta->models;
    const size_t matrices = n * sizeof(double[CT__BLOCK_MAX]),
                 integers = (models + 1 + n) * sizeof(int32_t) + n * sizeof(int);
    char        *memory = ct__zalloc((int64_t)(sizeof **out + matrices + integers), 1);
    if (!memory) return ct__no_memory(err, "derivatives of covariances", terms);

    ct_theta_jacobian *jacobian = (ct_theta_jacobian *)(void *)memory;
    int32_t           *first = (int32_t *)(void *)(memory + sizeof *jacobian + matrices);
    int32_t           *parameter = first + models + 1;
    for (int32_t i = 0; i < theta->models; i++) first[i + 1] = first[i] + terms_of(theta, i);
    jacobian->models = theta->models;
    jacobian->terms = (int32_t)terms;
    jacobian->first = first;
    jacobian->parameter = parameter;
    jacobian->coordinate = (int *)(void *)(parameter + n);
    jacobian->dSigma = (const double(*)[CT__BLOCK_MAX])(void *)(memory + sizeof *jacobian);
    *out = jacobian;
    return CT_OK;
}

/* The terms of coordinate c of a model, from term t on. Returns the term after them. */
static int32_t fill(const ct_theta *theta, const ct__theta_model *m, int c, const double *p,
                    const ct_theta_jacobian *jacobian, int32_t t)
{
    int32_t         *parameter = (int32_t *)jacobian->parameter; /* const for callers only */
    int             *coordinate = (int *)jacobian->coordinate;
    double(*const dSigma)[CT__BLOCK_MAX] = (double(*)[CT__BLOCK_MAX])jacobian->dSigma;
    const ct__theta_block *block = &theta->block[m->block[c]];
    double           lambda[CT_NOISE_DIM_MAX], V[CT__BLOCK_MAX];
    ct__sym_spectrum(block->dim, p + block->first, lambda, V);
    for (int k = 0; k < ct__packed(block->dim); k++, t++) {
        double x[CT__PACKED_MAX] = {0};
        x[k] = 1;
        ct__sym_dexp(block->dim, lambda, V, 0, x);
        parameter[t] = block->first + k;
        coordinate[t] = m->kind == CT_NOISE_DIAGONAL ? c : m->kind == CT_NOISE_FULL ? -1 : -2;
        if (m->kind == CT_NOISE_FULL) {
            ct__sym_unpack(m->dim, x, dSigma[t]);
            for (int i = 0; i < m->dim * m->dim; i++) dSigma[t][i] *= ct__unit2(m, i / m->dim, i % m->dim);
        } else {
            memset(dSigma[t], 0, sizeof dSigma[t]);
            for (int i = 0; i < m->dim; i++)
                if (m->kind == CT_NOISE_ISOTROPIC || i == c) dSigma[t][i * m->dim + i] = x[0] * ct__unit2(m, i, i);
        }
    }
    return t;
}

/* 1 if it was made for theta as it is now. */
static int matches(const ct_theta_jacobian *jacobian, const ct_theta *theta)
{
    int same = jacobian->models == theta->models;
    for (int32_t i = 0; same && i < theta->models; i++)
        same = jacobian->first[i + 1] - jacobian->first[i] == terms_of(theta, i);
    return same;
}

void ct_theta_jacobian_at(const ct_theta *theta, const double *p, ct_theta_jacobian *jacobian)
{
    int32_t t = 0;
    if (!matches(jacobian, theta)) {
        double *all = (double *)jacobian->dSigma; /* const for callers only */
        for (int64_t i = 0; i < (int64_t)jacobian->terms * CT__BLOCK_MAX; i++) all[i] = NAN;
        return;
    }
    for (int32_t i = 0; i < theta->models; i++)
        for (int c = 0; c < theta->model[i].dim; c++)
            if (theta->model[i].block[c] >= 0) t = fill(theta, &theta->model[i], c, p, jacobian, t);
}

void ct_theta_convert_gradient(const ct_theta *theta, const double *p, ct_space to, const double *in, double *out)
{
    for (int32_t i = 0; i < theta->count; i++) out[i] = in[i];
    for (int32_t b = 0; b < theta->blocks; b++) {
        const ct__theta_block *block = &theta->block[b];
        double           lambda[CT_NOISE_DIM_MAX], V[CT__BLOCK_MAX];
        ct__sym_spectrum(block->dim, p + block->first, lambda, V);
        ct__sym_dexp(block->dim, lambda, V, to == CT_SPACE_VARIANCE, out + block->first);
    }
}
