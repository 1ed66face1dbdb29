/* check_gradient.c: all derivatives against Richardson-extrapolated central differences of the loss:
 *
 *     d = (4 D(h/2) - D(h)) / 3,   D(h) = (L(p + h) - L(p - h)) / 2h,   error O(h^4) + rounding / h */
#include "learn/learn.h"

#include <math.h>

/* of a log variance: h^4 is 2e-11, rounding / h is 1e-13. With ten times that, solves at a bad theta may end in another
 * minimum */
#define H 2e-3

static ct_status loss_at(ct_outer *o, double *q, int32_t j, double at, double *loss, ct_err *err)
{
    ct_outer_value value = {0};
    const double   kept = q[j];
    q[j] = at;
    const ct_status status = ct_outer_evaluate(o, q, NULL, &value, err);
    q[j] = kept;
    *loss = value.loss;
    if (status != CT_OK || !value.failed) return status;
    return ct_fail(err, CT_E_ARGUMENT,
                   "the gradient cannot be checked here: an inner solve at a perturbed theta ended with %s",
                   ct_stop_meaning(value.stop));
}

static ct_status differences(ct_outer *o, double *p, double *d, ct_err *err)
{
    for (int32_t j = 0; j < o->m; j++) {
        double D[2];
        for (int half = 0; half < 2; half++) {
            const double h = half ? H / 2 : H;
            double       up, down;
            CT_TRY(loss_at(o, p, j, p[j] + h, &up, err));
            CT_TRY(loss_at(o, p, j, p[j] - h, &down, err));
            D[half] = (up - down) / (2 * h);
        }
        d[j] = (4 * D[1] - D[0]) / 3;
    }
    return CT_OK;
}

static double norm(int32_t m, const double *a, const double *b)
{
    double sum = 0;
    for (int32_t i = 0; i < m; i++) sum += (a[i] - (b ? b[i] : 0)) * (a[i] - (b ? b[i] : 0));
    return sqrt(sum);
}

static ct_status compare(ct_outer *o, const double *p, const double *d, double *g, ct_gradient_check *out, ct_err *err)
{
    const ct_outer_options kept = o->options;
    ct_status              status = CT_OK;
    for (int i = 0; status == CT_OK && i < CT_GRADIENT_COUNT; i++)
        for (int h = 0; status == CT_OK && h < CT_HESSIAN_COUNT; h++) {
            ct_outer_value value = {.gradient = g};
            out->error[i][h] = NAN;
            if (i == CT_GRADIENT_NUMERIC && h) continue;
            o->options.gradient = (ct_gradient)i;
            o->options.hessian = (ct_hessian)h;
            status = ct_outer_evaluate(o, p, NULL, &value, err);
            if (status == CT_OK && !value.failed && !value.inexact)
                out->error[i][h] = norm(o->m, g, d) / (out->difference_norm > 0 ? out->difference_norm : 1);
        }
    o->options = kept;
    return status;
}

ct_status ct_outer_check(ct_outer *o, const double *p, ct_gradient_check *out, ct_err *err)
{
    const int32_t m = o->m;
    double       *q = ct__zalloc(3 * (int64_t)m, sizeof *q), *d = q ? q + m : NULL, sum = 0, size = 0;
    if (!q) return ct__no_memory(err, "parameters", m);
    memcpy(q, p, (size_t)m * sizeof *q);
    ct_outer_value here = {0};
    ct_status      status = ct_outer_evaluate(o, p, NULL, &here, err);
    if (status == CT_OK && here.failed)
        status = ct_fail(err, CT_E_ARGUMENT, "the gradient cannot be checked here: an inner solve ended with %s",
                         ct_stop_meaning(here.stop));
    /* perturbed solves start at this minimum, so they do not change to another one */
    if (status == CT_OK) status = ct_outer_accept(o, err);
    if (status == CT_OK) status = differences(o, q, d, err);
    out->difference_norm = norm(m, d, NULL);
    if (status == CT_OK) status = compare(o, p, d, q + 2 * (int64_t)m, out, err);
    for (int32_t i = 0; i < m; i++) {
        if (!ct_theta_is_scale(o->theta, i)) continue;
        sum += d[i];
        size += fabs(d[i]);
    }
    out->invariance = size > 0 ? fabs(sum) / size : 0;
    free(q);
    if (status == CT_OK) status = ct__outer_start_over(o, err); /* discards the starts accepted above */
    return status;
}
