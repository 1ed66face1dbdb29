/* check_problem.c: is a problem of tuning well posed? */
#include "tune/search.h"

#include <math.h>

static ct_status check_numbers(const ct_tune_parameter *p, ct_err *err)
{
    if ((unsigned)p->quantity >= CT_QUANTITY_COUNT)
        return ct_fail(err, CT_E_ARGUMENT, "parameter %s: %d is not a quantity", p->name, (int)p->quantity);
    if (!isfinite(p->start) || !isfinite(p->lower) || !isfinite(p->upper))
        return ct_fail(err, CT_E_ARGUMENT,
                       "parameter %s: start and bounds must be finite numbers, found %g in [%g, %g]", p->name, p->start,
                       p->lower, p->upper);
    if (p->log && !(p->lower > 0))
        return ct_fail(err, CT_E_ARGUMENT,
                       "parameter %s is searched in its logarithm, and its lower bound %g is not positive; give a "
                       "positive bound, or scale: linear",
                       p->name, p->lower);
    if (p->lower > p->upper)
        return ct_fail(err, CT_E_ARGUMENT, "parameter %s: no number is in [%g, %g]", p->name, p->lower, p->upper);
    if (p->tie < 0 && (p->start < p->lower || p->start > p->upper))
        return ct_fail(err, CT_E_ARGUMENT, "parameter %s: the start value %g is outside the bounds [%g, %g]", p->name,
                       p->start, p->lower, p->upper);
    return CT_OK;
}

static ct_status check_tie(const ct_tune_problem *problem, int32_t i, ct_err *err)
{
    const ct_tune_parameter *p = &problem->parameter[i];
    if (p->tie < 0) return CT_OK;
    if (p->tie >= i)
        return ct_fail(err, CT_E_ARGUMENT, "parameter %s is tied to one that does not come before it", p->name);
    const ct_tune_parameter *to = &problem->parameter[p->tie];
    if (to->tie >= 0)
        return ct_fail(err, CT_E_ARGUMENT, "parameter %s is tied to %s, which is tied itself; tie it to %s", p->name,
                       to->name, problem->parameter[to->tie].name);
    if (!isfinite(p->factor) || p->factor == 0 || (p->log && !(p->factor > 0)))
        return ct_fail(err, CT_E_ARGUMENT, "parameter %s: %g times %s is not possible", p->name, p->factor, to->name);
    const double value = p->factor * to->start;
    if (value < p->lower || value > p->upper)
        return ct_fail(err, CT_E_ARGUMENT, "parameter %s: %g times the start value of %s is %g, outside [%g, %g]",
                       p->name, p->factor, to->name, value, p->lower, p->upper);
    return CT_OK;
}

static ct_status check_group(const ct_tune_problem *problem, int32_t i, ct_err *err)
{
    const ct_tune_parameter *p = &problem->parameter[i];
    if (p->group < 0) return CT_OK;
    if (p->group >= problem->spreads)
        return ct_fail(err, CT_E_ARGUMENT, "parameter %s: there is no group %d of spreads", p->name, (int)p->group);
    if (p->quantity == CT_QUANTITY_NUMBER || !p->log)
        return ct_fail(err, CT_E_ARGUMENT, "parameter %s has a spread, and is no variance that is searched in its "
                       "logarithm", p->name);
    if (p->tie >= 0 && problem->parameter[p->tie].quantity != p->quantity)
        return ct_fail(err, CT_E_ARGUMENT, "parameter %s has a spread, and is tied to %s, which is another quantity",
                       p->name, problem->parameter[p->tie].name);
    return CT_OK;
}

static double log_variance(const ct_tune_parameter *p, double value)
{
    return ct__quantity_power(p->quantity) * log(value);
}

/* Two parameters of a group that are multiples of one: their variances have a ratio of their own. */
static ct_status check_tied_spread(const ct_tune_problem *problem, int32_t i, ct_err *err)
{
    const ct_tune_parameter *p = &problem->parameter[i];
    for (int32_t k = 0; k < i && p->group >= 0; k++) {
        const ct_tune_parameter *q = &problem->parameter[k];
        const int same = p->tie >= 0 && (p->tie == k || p->tie == q->tie);
        const double ratio = same ? exp(fabs(log_variance(p, p->factor / (q->tie >= 0 ? q->factor : 1)))) : 1;
        if (p->group == q->group && ratio > problem->spread[p->group] * (1 + 1e-9))
            return ct_fail(err, CT_E_ARGUMENT,
                           "a spread of %g cannot be met: %s and %s are tied, and their variances have the ratio %g",
                           problem->spread[p->group], q->name, p->name, ratio);
    }
    return CT_OK;
}

/* Two parameters whose bounds are further apart than the spread. */
static ct_status check_spread(const ct_tune_problem *problem, int32_t group, ct_err *err)
{
    const double spread = problem->spread[group];
    const ct_tune_parameter *least = NULL, *most = NULL;
    double floor = -INFINITY, top = INFINITY; /* the largest lower, the smallest upper log variance */
    if (!(spread >= 1)) return ct_fail(err, CT_E_ARGUMENT, "a spread must be at least 1, found %g", spread);
    for (int32_t i = 0; i < problem->parameters; i++) {
        const ct_tune_parameter *p = &problem->parameter[i];
        if (p->group != group) continue;
        const double times = p->tie >= 0 ? p->factor : 1;
        double       lower, upper;
        ct__tied_bounds(problem, p->tie >= 0 ? p->tie : i, &lower, &upper);
        const double a = log_variance(p, times * lower), b = log_variance(p, times * upper);
        if (CT_MIN(a, b) > floor) floor = CT_MIN(a, b), most = p;
        if (CT_MAX(a, b) < top) top = CT_MAX(a, b), least = p;
    }
    if (most && floor - top > log(spread) + 1e-9)
        return ct_fail(err, CT_E_ARGUMENT, "a spread of %g cannot be met: the bounds of %s and %s are further apart",
                       spread, most->name, least->name);
    return CT_OK;
}

static ct_status check_logs(const ct_tune_problem *problem, ct_err *err)
{
    int32_t trains = 0;
    for (int32_t i = 0; i < problem->logs; i++) {
        if (!problem->log[i].name || !problem->log[i].name[0])
            return ct_fail(err, CT_E_ARGUMENT, "log %d has no name", (int)i);
        for (int32_t k = 0; k < i; k++)
            if (!strcmp(problem->log[i].name, problem->log[k].name))
                return ct_fail(err, CT_E_ARGUMENT, "two logs are called %s", problem->log[i].name);
        trains += !problem->log[i].test;
    }
    if (!trains)
        return ct_fail(err, CT_E_ARGUMENT, "there is no log to learn from: all are test logs, or there are none");
    return CT_OK;
}

ct_status ct_tune_check(const ct_tune_problem *problem, ct_err *err)
{
    if (problem->parameters < 1) return ct_fail(err, CT_E_ARGUMENT, "there is no parameter to learn");
    if (problem->spreads > CT__SPREADS_MAX)
        return ct_fail(err, CT_E_LIMIT, "there are at most %d groups with a spread, found %d", CT__SPREADS_MAX,
                       (int)problem->spreads);
    CT_TRY(check_logs(problem, err));
    for (int32_t i = 0; i < problem->parameters; i++) {
        const ct_tune_parameter *p = &problem->parameter[i];
        if (!p->name[0]) return ct_fail(err, CT_E_ARGUMENT, "parameter %d has no name", (int)i);
        for (int32_t k = 0; k < i; k++)
            if (!strcmp(p->name, problem->parameter[k].name))
                return ct_fail(err, CT_E_ARGUMENT, "two parameters are called %s", p->name);
        CT_TRY(check_numbers(p, err));
        CT_TRY(check_tie(problem, i, err));
        CT_TRY(check_group(problem, i, err));
    }
    for (int32_t g = 0; g < problem->spreads; g++) CT_TRY(check_spread(problem, g, err));
    for (int32_t i = 0; i < problem->parameters; i++) CT_TRY(check_tied_spread(problem, i, err));
    return CT_OK;
}
