/* scale_from_chi.c: the common scale of all learned variances from chi-square. With the factor s the residuals of
 * learned rows have their expected size (ct_model_fit),
 *
 *     chi-square(s) = rows - leverage(s)
 *
 * Without frozen models chi-square is proportional to 1/s, leverage does not depend on s, and one evaluation gives s.
 * With them the equation is solved by the secant method on g(u) = log(chi-square / (rows - leverage)), u = log s. Its
 * root is the restricted maximum-likelihood estimate (REML) of the variance component s, with the information
 *
 *     1/2 degrees,     degrees = rows - 2 leverage + tr(H_ll^2) = rows - leverage + d leverage / du
 *
 * H_ll the learned part of the hat matrix. So log s scatters by sqrt(2 / degrees).
 *
 * Kernels: their widths are in sigmas. When variances are multiplied by s, widths are divided by sqrt(s), so that
 * rho -> rho / s, and estimates do not change. With frozen models estimates depend on the factor. */
#include "learn/learn.h"

#include <math.h>

#define FROZEN   1e-9 /* share of unknowns that frozen rows determine, below which there is none */
#define SECANTS  15   /* at most; three to five are usual                                        */
#define EXACT    0.01 /* of the standard error of log s: where the secant method stops           */
#define LEAST    0.05 /* first step of the secant method: long enough for the slope of leverage  */
#define FARTHEST 3.0  /* its longest step: a factor of 20                                        */
#define LEFT     1e-6 /* degrees a factor below which a row is determined by itself alone        */
#define END      14.0 /* of log s: where frozen models leave no factor that is consistent        */

/* Is the variance of a row learned? */
static int row_is_learned(const ct_outer *o, int32_t g, int row)
{
    if (o->slot[g] < 0) return 0;
    return ct_noise_get(o->noise, g)->kind != CT_NOISE_DIAGONAL || ct_theta_find(o->theta, g, row) >= 0;
}

/* Chi-square of the learned rows, each divided by its kernel's mean; rows less leverage; leverage of frozen rows. */
typedef struct {
    double u, chi, degrees, frozen, g; /* g = log(chi / degrees)          */
    int kernels;                       /* a learned model has one         */
} fit_sum;

/* The kernel of a model whose variances are multiplied by a factor. */
static ct_robust scaled_kernel(const ct_outer *o, int32_t g, double factor)
{
    ct_robust robust = ct_noise_get(o->base, g)->robust;
    if (o->slot[g] >= 0) robust.width /= sqrt(factor);
    return robust;
}

/* E[2 rho] of a residual whose variance is v, the mean of 1 - leverage over the rows, over v. Residuals far below the
 * width have no use of the kernel: odometry between rare fixes is such. */
static double kernel_mean(ct_robust robust, int dim, const ct_model_fit *fit)
{
    double v = 1;
    for (int i = 0; i < dim; i++) v -= fit->leverage[i] / (fit->factors * dim);
    robust.width /= sqrt(CT_MAX(v, 1e-9));
    return ct__kernel_mean(robust, dim);
}

double ct_model_fit_chi(const ct_noise_model *model, const ct_model_fit *fit, int row, double *degrees)
{
    double chi = 0, rows = 0;
    for (int i = 0; i < model->dim; i++) {
        if (row >= 0 && i != row) continue;
        chi += fit->chi_squared[i];
        rows += fit->factors - fit->leverage[i];
    }
    if (degrees) *degrees = rows;
    return rows > LEFT * fit->factors ? chi / (rows * kernel_mean(model->robust, model->dim, fit)) : NAN;
}

/* Sums at variances times exp(u), from the fit at variances times exp(at). The two differ only where nothing is frozen:
 * estimates are then the same, and 2 rho is multiplied by exp(at - u). */
static void sum_fit(const ct_outer *o, const ct_model_fit *fit, double at, double u, fit_sum *to)
{
    *to = (fit_sum){.u = u};
    for (int32_t g = 0; g < o->models; g++) {
        const int dim = ct_noise_get(o->noise, g)->dim;
        const ct_robust robust = scaled_kernel(o, g, exp(u));
        if (fit[g].factors == 0) continue;
        const double mean = kernel_mean(robust, dim, &fit[g]);
        for (int i = 0; i < dim; i++) {
            if (!row_is_learned(o, g, i)) {
                to->frozen += fit[g].leverage[i];
                continue;
            }
            to->chi += exp(at - u) * fit[g].chi_squared[i] / mean;
            to->degrees += fit[g].factors - fit[g].leverage[i];
            to->kernels |= robust.kind != CT_ROBUST_NONE;
        }
    }
    to->g = to->degrees > 0 && to->chi > 0 ? log(to->chi / to->degrees) : NAN;
}

void ct__scale_kernels(ct_outer *o, double factor)
{
    for (int32_t g = 0; g < o->models; g++) {
        const ct_robust robust = scaled_kernel(o, g, factor);
        if (o->slot[g] >= 0 && robust.kind != CT_ROBUST_NONE) ct_noise_set_robust(o->noise, g, robust, NULL);
    }
}

/* The fit with learned variances times exp(u). */
static ct_status fit_at(ct_outer *o, const double *p, double u, const uint8_t *part, double *q, ct_model_fit *fit,
                        fit_sum *to, double *loss, ct_err *err)
{
    ct_outer_value value = {.fit = fit};
    for (int32_t i = 0; i < o->m; i++) q[i] = p[i] + (ct_theta_is_scale(o->theta, i) ? u : 0);
    ct__scale_kernels(o, exp(u));
    const ct_status status = ct_outer_evaluate(o, q, part, &value, err);
    if (status == CT_OK) sum_fit(o, fit, u, u, to);
    if (status == CT_OK && value.failed) to->g = NAN;
    ct__scale_kernels(o, 1);
    *loss = value.loss;
    return status;
}

/* The step from b by the line through a and b. g falls by at most 1 for each step of 1 in u, and the less the more
 * frozen models determine. */
static double secant(const fit_sum *a, const fit_sum *b)
{
    const double slope = CT_MIN(-0.01, CT_MAX(-1.5, (b->g - a->g) / (b->u - a->u)));
    return CT_MAX(-FARTHEST, CT_MIN(FARTHEST, -b->g / slope));
}

static ct_status find_factor(ct_outer *o, const double *p, const uint8_t *part, double *q, ct_model_fit *fit,
                             ct__scale_estimate *out, ct_err *err)
{
    fit_sum at[2];
    double loss;
    CT_TRY(fit_at(o, p, 0, part, q, fit, &at[0], &out->loss, err));
    const int frozen = at[0].frozen > FROZEN * (at[0].frozen + at[0].degrees);
    out->factor = exp(at[0].g);
    out->degrees = at[0].degrees;
    if (isnan(at[0].g) || !(frozen || at[0].kernels)) return CT_OK;
    double step = fabs(at[0].g) > LEAST ? CT_MAX(-FARTHEST, CT_MIN(FARTHEST, at[0].g)) : copysign(LEAST, at[0].g);
    for (int k = 0; k < SECANTS; k++) {
        if (frozen)
            CT_TRY(fit_at(o, p, at[0].u + step, part, q, fit, &at[1], &loss, err));
        else
            sum_fit(o, fit, 0, at[0].u + step, &at[1]);
        if (isnan(at[1].g) || fabs(at[1].u) > END) {
            out->factor = NAN;
            return CT_OK;
        }
        /* d leverage / du = -d degrees / du */
        if (frozen) out->degrees = CT_MIN(at[1].degrees, at[1].degrees - (at[1].degrees - at[0].degrees) / step);
        step = secant(&at[0], &at[1]);
        at[0] = at[1];
        if (fabs(step) < EXACT * sqrt(2 / CT_MAX(1, out->degrees))) break;
    }
    out->factor = exp(at[0].u + step);
    return CT_OK;
}

ct_status ct__scale_from_fit(ct_outer *o, const double *p, const uint8_t *part, ct__scale_estimate *out, ct_err *err)
{
    double *q = ct__zalloc(o->m, sizeof *q);
    ct_model_fit *fit = ct__zalloc(o->models, sizeof *fit);
    *out = (ct__scale_estimate){.factor = NAN, .loss = NAN};
    const ct_status status =
        q && fit ? find_factor(o, p, part, q, fit, out, err) : ct__no_memory(err, "noise models", o->models);
    free(q);
    free(fit);
    return status;
}
