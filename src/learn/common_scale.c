/* common_scale.c: the common scale of all learned variances. Multiplying every variance by one factor changes no
 * estimate, so the tracking loss determines ratios alone. Consistency determines the factor: after it, the errors of
 * the inner problems have their expected size,
 *
 *     factor = sum of 2 rho / expected,     expected = their rows less their share of the unknowns
 *
 * over the factors of learned models, each 2 rho divided by the expectation under its kernel. With frozen models or
 * kernels, estimates depend on the factor. It is then applied only if the loss does not rise. */
#include "learn/learn.h"

#include <math.h>

#define OFF_MOST 1.1 /* factor by which sigmas are off above which there is a finding */
#define RISE_MOST 1e-3 /* relative rise of the loss above which the scale is not free */

ct_status ct__scale_wanted(ct_outer *o, const double *p, const uint8_t *part, double *factor, double *degrees,
                           double *loss, ct_err *err)
{
    ct_outer_value value = {0};
    CT_TRY(ct_outer_evaluate(o, p, part, &value, err));
    *loss = value.loss;
    *factor = !value.failed && value.degrees > 0 && value.chi_squared > 0 ? value.chi_squared / value.degrees : NAN;
    if (degrees) *degrees = value.degrees;
    return CT_OK;
}

double ct__scale_apply(const ct_theta *theta, ct_scale scale, double factor, double *p)
{
    const double wanted = log(factor);
    double       low, high, s = wanted;
    if (scale == CT_SCALE_NONE || !isfinite(s)) return 1;
    ct_theta_scale_range(theta, p, &low, &high);
    if (scale == CT_SCALE_FIT) s = low > high ? 0 : CT_MAX(low, CT_MIN(high, s));
    for (int32_t i = 0; i < ct_theta_count(theta); i++)
        if (ct_theta_is_scale(theta, i)) p[i] += s;
    return s == wanted ? factor : exp(s);
}

/* A finding if bounds do not allow the common scale that consistency requires. */
static ct_status diagnose_bounds(ct__learning *l)
{
    const ct_learn_result *r = l->objective.result;
    const double           off = sqrt(r->scale_applied / r->scale_wanted);
    if (l->objective.options->scale != CT_SCALE_FIT || !r->scale_free || !(off > OFF_MOST || off < 1 / OFF_MOST))
        return CT_OK;
    CT_TRY(ct__find(l, off > 1 ? CT_FINDING_SIGMAS_TOO_LARGE : CT_FINDING_SIGMAS_TOO_SMALL,
                    CT__VALUES(off > 1 ? off : 1 / off)));
    ct_theta_active(l->objective.outer->theta, l->p, r->at_bound);
    for (int32_t i = 0; i < l->objective.outer->m; i++)
        if (r->at_bound[i]) CT_TRY(ct__find_parameter(l, i, r->at_bound[i]));
    return CT_OK;
}

ct_status ct__scale(ct__learning *l)
{
    ct__objective      *e = &l->objective;
    ct_learn_result *r = e->result;
    const size_t     bytes = (size_t)e->outer->m * sizeof *l->p;
    double          *q = ct__zalloc(e->outer->m, sizeof *q), loss = NAN, unused;
    if (!q) return ct__no_memory(e->err, "parameters", e->outer->m);
    memcpy(q, l->p, bytes);
    ct_status status = ct__scale_wanted(e->outer, q, NULL, &r->scale_wanted, &l->degrees, &r->loss_train, e->err);
    r->scale_applied = 1;
    r->scale_free = 1;
    if (status == CT_OK && isfinite(r->scale_wanted)) {
        const double applied = ct__scale_apply(e->outer->theta, e->options->scale, r->scale_wanted, q);
        if (applied != 1) status = ct__scale_wanted(e->outer, q, NULL, &unused, NULL, &loss, e->err);
        r->scale_free = applied == 1 || loss <= r->loss_train * (1 + RISE_MOST);
        if (status == CT_OK && r->scale_free && applied != 1) {
            memcpy(l->p, q, bytes);
            r->scale_applied = applied;
            r->loss_train = loss;
        } else if (status == CT_OK && !r->scale_free) {
            r->chi_after = r->chi_before; /* of folds, with the scale of the fold applied */
            r->nees_after = r->nees_before;
            status = ct__find(l, CT_FINDING_SCALE_NOT_APPLIED, CT__VALUES(r->scale_wanted, r->loss_train, loss));
        }
    }
    free(q);
    return status == CT_OK && isfinite(r->scale_wanted) ? diagnose_bounds(l) : status;
}
