/* default_bounds.c: bounds from the data where nobody gave any.
 *
 * The default bounds, 1e-10 to 1e6, hold every variance in m and rad. Frank-Wolfe's first step goes to a corner of
 * them, and a random search draws in all of them: sequences have no estimate there, or one that is useless. Such
 * methods get bounds of two decades each way of the closed form. Rows that have none take their value of maximum
 * likelihood; where that cannot be had, the start value. */
#include "learn/learn.h"

#include <covtune/likelihood.h>
#include <math.h>

#define TWO_DECADES 100.0

/* p <- the maximum of the likelihood, from p. What cannot be done leaves p as it is. */
static ct_status maximise(const ct_outer *o, double *p, ct_err *err)
{
    const ct_sequence    **seq = ct__zalloc(o->count, sizeof *seq);
    ct_likelihood_options  options = ct_likelihood_defaults();
    ct_maximise_options    how = ct_maximise_defaults();
    ct_likelihood         *likelihood = NULL;
    ct_maximise_result     result = {0};
    ct_err                 why = {0};
    double                *q = ct__zalloc(o->m, sizeof *q);
    ct_status              status = seq && q ? CT_OK : CT_E_MEMORY;
    options.jobs = o->options.jobs;
    options.comm = o->options.comm;
    for (int32_t i = 0; seq && i < o->count; i++) seq[i] = o->inner[i].seq;
    if (status == CT_OK) memcpy(q, p, (size_t)o->m * sizeof *q);
    if (status == CT_OK)
        status = ct_likelihood_new(o->count, seq, o->base, o->theta, &options, &likelihood, &why);
    if (status == CT_OK) status = ct_likelihood_maximise(likelihood, NULL, &how, q, &result, &why);
    if (status == CT_OK) memcpy(p, q, (size_t)o->m * sizeof *q);
    ct_maximise_result_free(&result);
    ct_likelihood_free(likelihood);
    free(seq);
    free(q);
    if (status == CT_E_LIMIT) return ct_fail(err, status, "%s", why.text);
    return status == CT_E_MEMORY ? ct__no_memory(err, "sequences", o->count) : CT_OK;
}

static int has_default_bounds(const ct_theta *theta)
{
    for (int32_t i = 0; i < ct_theta_count(theta); i++)
        if (ct_theta_bound_origin(theta, i) == CT_BOUND_DEFAULT) return 1;
    return 0;
}

ct_status ct_learn_default_bounds(const ct_outer *outer, ct_learn_method method, ct_theta *theta, ct_err *err)
{
    const int32_t m = ct_theta_count(theta);
    if (!ct_learn_method_has(method, CT_LEARN_CORNERS) || !has_default_bounds(theta)) return CT_OK;
    if (m != outer->m) return ct_fail(err, CT_E_ARGUMENT, "theta has %d parameters, the outer problem %d", m, outer->m);
    double   *p = ct__zalloc(2 * (int64_t)m, sizeof *p), *q = p + m;
    int64_t  *samples = ct__zalloc(m, sizeof *samples);
    ct_status status = p && samples ? ct_outer_closed_form(outer, NULL, p, samples, err)
                                    : ct__no_memory(err, "parameters", m);
    int       missing = 0;
    for (int32_t i = 0; status == CT_OK && i < m; i++) missing |= !samples[i];
    if (status == CT_OK && missing) {
        memcpy(q, p, (size_t)m * sizeof *p);
        status = maximise(outer, q, err);
        for (int32_t i = 0; i < m; i++)
            if (!samples[i] && isfinite(q[i])) p[i] = q[i];
    }
    ct_err why; /* a spread that these bounds cannot satisfy: the wide ones stay */
    if (status == CT_OK) ct_theta_bound_around(theta, p, TWO_DECADES, NULL, &why);
    free(p);
    free(samples);
    return status;
}

ct_status ct__diagnose_bounds(ct__learning *l)
{
    const ct_theta *theta = l->objective.outer->theta;
    int             any = 0;
    for (int pass = 0; pass < 2; pass++) /* which ones, then the numbers of each */
        for (int32_t i = 0; i < l->objective.outer->m; i++) {
            double lower, upper;
            if (!ct_theta_is_scale(theta, i) || ct_theta_bound_origin(theta, i) != CT_BOUND_FROM_DATA) continue;
            ct_theta_bounds(theta, i, &lower, &upper);
            const double unit = ct_theta_unit_squared(theta, i);
            if (pass) CT_TRY(ct__find(l, CT_FINDING_BOUNDS_USED, CT__VALUES(unit * lower, unit * upper)));
            else if (!any++) CT_TRY(ct__find(l, CT_FINDING_BOUNDS_FROM_DATA, CT__NO_VALUES));
            CT_TRY(ct__find_parameter(l, i, 0));
        }
    return CT_OK;
}
