/* bounded_step.c: a damped quadratic step inside the feasible set.
 *
 *     (B + mu T) d = -g      on the free coordinates;   p <- projection of p + d into the set
 *
 * Coordinates are rotated so that each bound of the set bounds one coordinate (theta.h). A coordinate at a bound is
 * held if -g points outside. A coordinate that d would move past its bound is set to the bound, and the others are
 * solved again. All coordinates are log variances of similar scale, so T is the diagonal of B plus its mean times the
 * identity. */
#include "theta/bounded_step.h"

#include "base/base.h"

#include <math.h>

#define STEP_MAX   8.0 /* of one log variance in one step: a factor of 3000                     */
#define HELD_ROUND 8   /* rounds of setting coordinates to bounds and solving for the others    */

ct_status ct__bounded_step_new(const ct_theta *theta, ct__bounded_step *s, ct_err *err)
{
    const int64_t m = ct_theta_count(theta);
    *s = (ct__bounded_step){.theta = theta, .m = (int32_t)m};
    s->g = ct__zalloc(6 * m + 2 * m * m, sizeof *s->g);
    s->active = ct__zalloc(2 * m, sizeof *s->active);
    if (!s->g || !s->active) return ct__no_memory(err, "parameters", m);
    s->d = s->g + m;
    s->low = s->d + m;
    s->high = s->low + m;
    s->unit = s->high + m;
    s->p = s->unit + m;
    s->B = s->p + m;
    s->L = s->B + m * m;
    s->held = s->active + m;
    return CT_OK;
}

void ct__bounded_step_free(ct__bounded_step *s)
{
    free(s->g);
    free(s->active);
}

/* g and B in rotated coordinates, T'g and T'B T, and the active bounds. */
static void rotate(ct__bounded_step *s)
{
    const int32_t m = s->m;
    ct_theta_to_eigenbasis(s->theta, s->p, s->g);
    for (int side = 0; side < 2; side++) { /* the matrix is symmetric: rows, then columns */
        for (int32_t i = 0; i < m; i++) ct_theta_to_eigenbasis(s->theta, s->p, s->B + (int64_t)i * m);
        for (int32_t i = 0; i < m; i++)
            for (int32_t j = 0; j < i; j++) {
                const double t = s->B[(int64_t)i * m + j];
                s->B[(int64_t)i * m + j] = s->B[(int64_t)j * m + i];
                s->B[(int64_t)j * m + i] = t;
            }
    }
    ct_theta_active(s->theta, s->p, s->active);
}

/* Cholesky factor of B + mu T on the free coordinates, and the step. 0: not positive definite. */
static int solve(ct__bounded_step *s, double mu)
{
    const int32_t m = s->m;
    double        mean = 0;
    for (int32_t i = 0; i < m; i++) mean += s->B[(int64_t)i * m + i] / m;
    for (int32_t i = 0; i < m; i++) {
        if (s->held[i]) continue;
        double v = -s->g[i];
        for (int32_t j = 0; j <= i; j++) {
            if (s->held[j]) {
                v -= s->B[(int64_t)i * m + j] * s->d[j];
                continue;
            }
            double sum = s->B[(int64_t)i * m + j] + (i == j ? mu * (mean + s->B[(int64_t)i * m + i]) : 0);
            for (int32_t k = 0; k < j; k++)
                if (!s->held[k]) sum -= s->L[(int64_t)i * m + k] * s->L[(int64_t)j * m + k];
            if (i != j) s->L[(int64_t)i * m + j] = sum / s->L[(int64_t)j * m + j];
            else if (!(sum > 0)) return 0;
            else s->L[(int64_t)i * m + i] = sqrt(sum);
        }
        for (int32_t j = i + 1; j < m; j++)
            if (s->held[j]) v -= s->B[(int64_t)i * m + j] * s->d[j];
        for (int32_t k = 0; k < i; k++)
            if (!s->held[k]) v -= s->L[(int64_t)i * m + k] * s->d[k];
        s->d[i] = v / s->L[(int64_t)i * m + i];
    }
    for (int32_t i = m - 1; i >= 0; i--) {
        if (s->held[i]) continue;
        double v = s->d[i];
        for (int32_t k = i + 1; k < m; k++)
            if (!s->held[k]) v -= s->L[(int64_t)k * m + i] * s->d[k];
        s->d[i] = v / s->L[(int64_t)i * m + i];
    }
    return 1;
}

/* Limits of d for each rotated coordinate. Off-diagonal coordinates of full blocks have no bounds. */
static void find_limits(ct__bounded_step *s)
{
    const ct_theta *theta = s->theta;
    const int32_t   m = s->m;
    double         *unit = s->unit;
    for (int32_t i = 0; i < m; i++) {
        s->low[i] = -STEP_MAX;
        s->high[i] = STEP_MAX;
        if (!ct_theta_is_scale(theta, i)) continue;
        double lower, upper, at = 0;
        memset(unit, 0, (size_t)m * sizeof *unit);
        unit[i] = 1;
        ct_theta_from_eigenbasis(theta, s->p, unit);
        for (int32_t k = 0; k < m; k++) at += unit[k] * s->p[k]; /* coordinate i of the rotated p */
        ct_theta_bounds(theta, i, &lower, &upper);
        s->low[i] = CT_MAX(s->low[i], CT_MIN(0, log(lower) - at));
        s->high[i] = CT_MIN(s->high[i], CT_MAX(0, log(upper) - at));
    }
}

/* The step: active bounds are held, bounds that d would pass are reached. 0: no step. */
static int step(ct__bounded_step *s, double mu)
{
    const int32_t m = s->m;
    for (int32_t i = 0; i < m; i++) {
        s->held[i] = (s->active[i] > 0 && s->g[i] < 0) || (s->active[i] < 0 && s->g[i] > 0);
        s->d[i] = 0;
    }
    for (int round = 0; round < HELD_ROUND; round++) {
        int more = 0;
        if (!solve(s, mu)) return 0;
        for (int32_t i = 0; i < m; i++) {
            const double d = CT_MAX(s->low[i], CT_MIN(s->high[i], s->d[i]));
            if (s->held[i] || d == s->d[i]) continue;
            s->held[i] = 1;
            s->d[i] = d;
            more = 1;
        }
        if (!more) break;
    }
    for (int32_t i = 0; i < m; i++) s->d[i] = CT_MAX(s->low[i], CT_MIN(s->high[i], s->d[i]));
    return 1;
}

/* trial <- projection of p + d; d <- the projected step. Returns the largest change of a coordinate. */
static double move(ct__bounded_step *s, double *trial)
{
    double largest = 0;
    memcpy(trial, s->d, (size_t)s->m * sizeof *s->d);
    ct_theta_from_eigenbasis(s->theta, s->p, trial);
    for (int32_t i = 0; i < s->m; i++) trial[i] += s->p[i];
    ct_theta_project(s->theta, CT_SPACE_LOG, trial);
    for (int32_t i = 0; i < s->m; i++) {
        s->d[i] = trial[i] - s->p[i];
        largest = CT_MAX(largest, fabs(s->d[i]));
    }
    ct_theta_to_eigenbasis(s->theta, s->p, s->d);
    return largest;
}

/* The decrease that the quadratic model predicts for d. */
static double predicted_decrease(const ct__bounded_step *s)
{
    const int32_t m = s->m;
    double        fall = 0;
    for (int32_t i = 0; i < m; i++) {
        double Bd = 0;
        for (int32_t j = 0; j < m; j++) Bd += s->B[(int64_t)i * m + j] * s->d[j];
        fall -= s->d[i] * (s->g[i] + 0.5 * Bd);
    }
    return fall;
}

double ct__bounded_step_remaining(const ct__bounded_step *s)
{
    double fall = 0;
    for (int32_t i = 0; i < s->m; i++) {
        const double g = s->g[i], b = s->B[(int64_t)i * s->m + i];
        const double d = b > 0 ? CT_MAX(s->low[i], CT_MIN(s->high[i], -g / b)) : g > 0 ? s->low[i] : s->high[i];
        if ((s->active[i] > 0 && g < 0) || (s->active[i] < 0 && g > 0)) continue;
        fall -= d * (g + 0.5 * b * d);
    }
    return fall;
}

void ct__bounded_step_at(ct__bounded_step *s, const double *p, const double *gradient, const double *matrix)
{
    memcpy(s->p, p, (size_t)s->m * sizeof *p);
    memcpy(s->g, gradient, (size_t)s->m * sizeof *s->g);
    memcpy(s->B, matrix, (size_t)s->m * (size_t)s->m * sizeof *s->B);
    rotate(s);
    find_limits(s);
}

int ct__bounded_step_try(ct__bounded_step *s, double mu, double *trial, double *change, double *decrease)
{
    if (!step(s, mu)) return 0;
    *change = move(s, trial);
    *decrease = predicted_decrease(s);
    return 1;
}
