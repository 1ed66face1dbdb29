/* derivative_free.c: the loss as a function on a box, for methods without derivatives. */
#include "learn/derivative_free.h"

#include <math.h>

/* The set is a box if all parameters are scalars and the spread has no limit. */
ct_status ct__box_check(const ct_outer *o, ct_learn_method method, ct_err *err)
{
    const ct_theta *theta = o->theta;
    char            name[256];
    if (isfinite(ct_theta_spread_limit(theta)))
        return ct_fail(err, CT_E_ARGUMENT,
                       "method %s needs box bounds, and a spread limit is not a box; lm, fw, fw-log and pg support it",
                       ct_learn_method_name(method));
    for (int32_t i = 0; i < o->m; i++)
        if (!ct_theta_is_scale(theta, i))
            return ct_fail(err, CT_E_ARGUMENT,
                           "method %s needs box bounds, and the bounds of the full covariance with %s are not a box; "
                           "lm, fw, fw-log and pg support them",
                           ct_learn_method_name(method), ct_theta_name(theta, i, name, sizeof name));
    return CT_OK;
}

static double clip(double x, double lower, double upper) { return CT_MIN(CT_MAX(x, lower), upper); }

static ct_status allocate(ct__search *s, ct_err *err)
{
    const int64_t m = s->objective->outer->m;
    CT_TRY(ct__point_new(s->objective, 0, &s->at, err));
    s->at.gradient = NULL; /* not wanted */
    s->parameter = ct__zalloc(m, sizeof *s->parameter);
    s->start = ct__zalloc(4 * m, sizeof *s->start);
    if (!s->parameter || !s->start) return ct__no_memory(err, "parameters", m);
    s->lower = s->start + m;
    s->upper = s->lower + m;
    s->best = s->upper + m;
    return CT_OK;
}

/* One coordinate per parameter with lower < upper. A start at the logarithm of a bound is set to the bound itself: the
 * exponential may differ from it by rounding. */
static void find_coordinates(ct__search *s, const double *p)
{
    const ct_theta *theta = s->objective->outer->theta;
    for (int32_t i = 0; i < s->objective->outer->m; i++) {
        double lower, upper;
        ct_theta_bounds(theta, i, &lower, &upper);
        const double low = log(lower), high = log(upper);
        const int    logs = s->space == CT_SPACE_LOG;
        s->at.p[i] = clip(p[i], low, high);
        if (!(logs ? low < high : lower < upper)) continue;
        const int32_t k = s->n++;
        s->parameter[k] = i;
        s->lower[k] = logs ? low : lower;
        s->upper[k] = logs ? high : upper;
        s->start[k] = p[i] <= low    ? s->lower[k]
                      : p[i] >= high ? s->upper[k]
                                     : clip(logs ? p[i] : exp(p[i]), s->lower[k], s->upper[k]);
    }
}

ct_status ct__search_begin(ct__objective *e, ct_space space, int most, const double *p, ct__search *out)
{
    *out = (ct__search){.objective = e, .space = space, .best_F = INFINITY, .most = most};
    CT_TRY(ct__box_check(e->outer, e->options->method, e->err));
    CT_TRY(ct__outer_start_over(e->outer, e->err));
    CT_TRY(allocate(out, e->err));
    find_coordinates(out, p);
    ct__objective_begin(e);
    return CT_OK;
}

void ct__search_end(ct__search *s, double *p)
{
    if (s->best_F < INFINITY) memcpy(p, s->best, (size_t)s->objective->outer->m * sizeof *p);
    ct__point_free(&s->at);
    free(s->parameter);
    free(s->start);
}

int ct__search_loss(ct__search *s, double *q, double *F)
{
    ct__objective  *e = s->objective;
    const size_t bytes = (size_t)e->outer->m * sizeof *s->best;
    if (s->evaluations >= s->most) {
        s->stop = CT_LEARN_STOP_ITERATIONS;
        return 0;
    }
    for (int32_t k = 0; k < s->n; k++) {
        q[k] = clip(q[k], s->lower[k], s->upper[k]);
        s->at.p[s->parameter[k]] = s->space == CT_SPACE_LOG ? q[k] : log(q[k]);
    }
    ct_theta_project(e->outer->theta, CT_SPACE_LOG, s->at.p); /* a logarithm may round beyond that of a bound */
    s->status = ct__objective_evaluate(e, &s->at);
    if (s->status == CT_OK) s->status = ct__outer_checkpoint(e->outer, e->err);
    if (s->status != CT_OK) return 0;
    s->evaluations++;
    *F = s->at.failed || !isfinite(s->at.F) ? INFINITY : s->at.F;
    if (*F < s->best_F) {
        s->best_F = *F;
        memcpy(s->best, s->at.p, bytes);
    }
    if (ct__objective_cancelled(e)) s->stop = CT_LEARN_STOP_CANCELLED;
    return s->stop == CT_LEARN_STOP_NONE;
}
