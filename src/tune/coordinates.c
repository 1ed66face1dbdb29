/* coordinates.c: parameters as coordinates of the search (search.h). */
#include "tune/search.h"

#include <math.h>

#define UNITS  8.0   /* of a linear parameter's range: a first step is a quarter of it         */
#define OF_NUMBERS 2 /* power of numbers with a logarithm: most are widths and thresholds, which are like sigmas */
#define PASSES 200   /* of a search over one floor: more than the bits of a double, twice      */
#define ROUNDS 200   /* over the groups: one suffices but for ties of parameters in two groups */
#define NEAR   1e-14 /* relative: exp and log round the coordinate of a bound to within it     */

double ct__quantity_power(ct_quantity quantity)
{
    static const double POWER[] = {
#define X(constant, name, power, description) power,
        CT_QUANTITY_LIST(X)
#undef X
    };
    return POWER[quantity];
}

static double power_of(const ct_tune_parameter *p)
{
    if (!p->log) return 0;
    return p->quantity == CT_QUANTITY_NUMBER ? OF_NUMBERS : ct__quantity_power(p->quantity);
}

static double coordinate_of(double power, double scale, double start, double value)
{
    return power != 0 ? power * log(value / start) : (value - start) / scale;
}

void ct__tied_bounds(const ct_tune_problem *problem, int32_t i, double *lower, double *upper)
{
    *lower = problem->parameter[i].lower;
    *upper = problem->parameter[i].upper;
    for (int32_t k = i + 1; k < problem->parameters; k++) {
        const ct_tune_parameter *p = &problem->parameter[k];
        if (p->tie != i) continue;
        const double a = p->lower / p->factor, b = p->upper / p->factor;
        *lower = CT_MAX(*lower, CT_MIN(a, b));
        *upper = CT_MIN(*upper, CT_MAX(a, b));
    }
}

static void add_coordinate(ct__coordinates *c, int32_t i)
{
    const ct_tune_parameter *p = &c->problem->parameter[i];
    double lower, upper;
    ct__tied_bounds(c->problem, i, &lower, &upper);
    if (p->tie >= 0 || !(lower < upper)) return;
    const int32_t k = c->n++;
    c->parameter[k] = i;
    c->power[k] = power_of(p);
    c->scale[k] = (upper - lower) / UNITS;
    const double a = coordinate_of(c->power[k], c->scale[k], p->start, lower),
                 b = coordinate_of(c->power[k], c->scale[k], p->start, upper);
    c->lower[k] = CT_MIN(CT_MIN(a, b), 0); /* rounding must not exclude the start */
    c->upper[k] = CT_MAX(CT_MAX(a, b), 0);
}

static void add_member(ct__coordinates *c, int32_t i)
{
    const ct_tune_parameter *p = &c->problem->parameter[i];
    const int32_t own = p->tie >= 0 ? p->tie : i;
    const double  start = p->tie >= 0 ? p->factor * c->problem->parameter[own].start : p->start;
    ct__spread_member m = {p->group, -1, power_of(p) * log(start)};
    if (p->group < 0 || isinf(c->problem->spread[p->group])) return;
    for (int32_t k = 0; k < c->n; k++)
        if (c->parameter[k] == own) m.coordinate = k;
    c->member[c->members++] = m;
}

ct_status ct__coordinates_new(const ct_tune_problem *problem, ct__coordinates *c, ct_err *err)
{
    const int64_t m = problem->parameters;
    *c = (ct__coordinates){.problem = problem};
    c->parameter = ct__zalloc(m, sizeof *c->parameter);
    c->power = ct__zalloc(10 * m, sizeof *c->power);
    c->member = ct__zalloc(m, sizeof *c->member);
    if (!c->parameter || !c->power || !c->member) return ct__no_memory(err, "parameters", m);
    c->scale = c->power + m;
    c->lower = c->scale + m;
    c->upper = c->lower + m;
    c->limit = c->upper + m;
    c->work = c->limit + 2 * m;
    for (int32_t i = 0; i < m; i++) add_coordinate(c, i);
    for (int32_t i = 0; i < m; i++) add_member(c, i);
    memcpy(c->limit, c->lower, 2 * (size_t)m * sizeof *c->limit);
    return CT_OK;
}

void ct__coordinates_free(ct__coordinates *c)
{
    free(c->parameter);
    free(c->power);
    free(c->member);
}

/* The value within bounds; a bound itself where they differ by rounding: files have 0.5, not 0.49999999999999994. */
static double within(double value, double lower, double upper)
{
    if (fabs(value - lower) <= NEAR * fabs(lower)) return lower;
    if (fabs(value - upper) <= NEAR * fabs(upper)) return upper;
    return CT_MAX(lower, CT_MIN(upper, value));
}

void ct__coordinates_values(const ct__coordinates *c, const double *x, double *value)
{
    const ct_tune_problem *problem = c->problem;
    for (int32_t i = 0; i < problem->parameters; i++) value[i] = problem->parameter[i].start;
    for (int32_t k = 0; k < c->n; k++) {
        const int32_t i = c->parameter[k];
        double lower, upper;
        ct__tied_bounds(problem, i, &lower, &upper);
        const double v =
            c->power[k] != 0 ? value[i] * exp(x[k] / c->power[k]) : value[i] + c->scale[k] * x[k];
        value[i] = x[k] == 0 ? value[i] : within(v, lower, upper);
    }
    for (int32_t i = 0; i < problem->parameters; i++) {
        const ct_tune_parameter *p = &problem->parameter[i];
        if (p->tie >= 0) value[i] = CT_MAX(p->lower, CT_MIN(p->upper, p->factor * value[p->tie]));
    }
}

void ct__coordinates_hold(ct__coordinates *c, int32_t k, double x_k) { c->lower[k] = c->upper[k] = x_k; }

void ct__coordinates_release(ct__coordinates *c, int32_t k)
{
    c->lower[k] = c->limit[k];
    c->upper[k] = c->limit[c->problem->parameters + k];
}

int  ct__coordinates_held(const ct__coordinates *c, int32_t k) { return !(c->lower[k] < c->upper[k]); }

double ct__spread_width(const ct__coordinates *c, int32_t group) { return log(c->problem->spread[group]); }

void ct__coordinates_limits(const ct__coordinates *c, const double *floor, double *lower, double *upper)
{
    for (int32_t k = 0; k < c->n; k++) lower[k] = c->lower[k], upper[k] = c->upper[k];
    for (int32_t j = 0; j < c->members; j++) {
        const ct__spread_member *m = &c->member[j];
        if (m->coordinate < 0 || !isfinite(floor[m->group])) continue;
        const double low = floor[m->group] - m->offset, high = low + ct__spread_width(c, m->group);
        double *a = &lower[m->coordinate], *b = &upper[m->coordinate];
        *a = CT_MIN(CT_MAX(*a, low), *b); /* a floor may miss a bound by rounding: bounds take precedence */
        *b = CT_MAX(CT_MIN(*b, high), *a);
    }
}

/* ---- Projection ------------------------------------------------------------------------------- */

void ct__spread_range(const ct__coordinates *c, int32_t group, const double *x, double *min, double *max)
{
    *min = INFINITY;
    *max = -INFINITY;
    for (int32_t j = 0; j < c->members; j++) {
        const ct__spread_member *m = &c->member[j];
        if (m->group != group) continue;
        const double v = (m->coordinate < 0 ? 0 : x[m->coordinate]) + m->offset;
        *min = CT_MIN(*min, v);
        *max = CT_MAX(*max, v);
    }
}

void ct__spread_floors(const ct__coordinates *c, int32_t group, const double *lower, const double *upper,
                       double *least, double *most)
{
    double unused;
    ct__spread_range(c, group, lower, &unused, least); /* the highest lower bound */
    ct__spread_range(c, group, upper, most, &unused);  /* the lowest upper bound  */
    *least -= ct__spread_width(c, group);
}

/* The derivative by the floor t of half the squared distance from x to the members' interval [t, t + width]. */
static double slope_at(const ct__coordinates *c, int32_t group, const double *x, double t)
{
    const double width = ct__spread_width(c, group);
    double slope = 0;
    for (int32_t j = 0; j < c->members; j++) {
        const ct__spread_member *m = &c->member[j];
        if (m->group != group || m->coordinate < 0) continue;
        const double v = x[m->coordinate] + m->offset;
        if (v < t) slope += t - v;
        if (v > t + width) slope += t + width - v;
    }
    return slope;
}

/* The floor of a group whose window is nearest to x. x is within bounds, so that bounds limit the floor alone. */
static double nearest_floor(const ct__coordinates *c, int32_t group, const double *x, double min, double max)
{
    double least, most, low = min, high = max - ct__spread_width(c, group); /* the slope rises from low to high */
    for (int pass = 0; pass < PASSES && low < high; pass++) {
        const double t = 0.5 * (low + high);
        if (t <= low || t >= high) break;
        if (slope_at(c, group, x, t) < 0) low = t;
        else high = t;
    }
    ct__spread_floors(c, group, c->lower, c->upper, &least, &most);
    return CT_MAX(least, CT_MIN(most, high));
}

void ct__coordinates_project(const ct__coordinates *c, double *x)
{
    for (int32_t k = 0; k < c->n; k++) x[k] = CT_MAX(c->lower[k], CT_MIN(c->upper[k], x[k]));
    for (int round = 0, moved = c->members > 0; moved && round < ROUNDS; round++) {
        moved = 0;
        for (int32_t group = 0; group < c->problem->spreads; group++) {
            double min, max;
            ct__spread_range(c, group, x, &min, &max);
            const double width = ct__spread_width(c, group);
            if (!(max - min > width)) continue;
            const double floor = nearest_floor(c, group, x, min, max);
            moved = max - min > width + 1e-12;
            for (int32_t j = 0; j < c->members; j++) {
                const ct__spread_member *m = &c->member[j];
                if (m->group != group || m->coordinate < 0) continue;
                double *v = &x[m->coordinate];
                *v = CT_MAX(floor - m->offset, CT_MIN(floor + width - m->offset, *v));
                *v = CT_MAX(c->lower[m->coordinate], CT_MIN(c->upper[m->coordinate], *v));
            }
        }
    }
}
