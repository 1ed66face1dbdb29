/* levenberg_marquardt.c: bounded Levenberg-Marquardt in log theta.
 *
 *     (B + mu T) d = -g      on the free coordinates;   p <- projection of p + d into the set
 *
 * B = mean of A'A, plus the prior's matrix; g is the gradient. Coordinates are rotated so that each bound of the set
 * bounds one coordinate (theta.h). A coordinate at a bound is held if -g points outside. A coordinate that d would move
 * past its bound is set to the bound, and the others are solved again. All coordinates are log variances of similar
 * scale, so T is the diagonal of B plus its mean times the identity. The first step may be long (STEP_MAX): with a
 * small initial trust radius the method gets stuck at bad starts. */
#include "learn/learn.h"

#include <math.h>

#define STEP_MAX   8.0   /* of one log variance in one step: a factor of 3000                       */
#define MU_FIRST   1e-3
#define MU_LEAST   1e-9
#define MU_MOST    1e9
#define HELD_ROUND 8     /* rounds of setting coordinates to bounds and solving for the others       */

typedef struct {
    ct__objective *objective;
    int32_t     m;
    ct__point   at, trial;
    double     *g, *B, *L, *d; /* rotated gradient and matrix; Cholesky factor; step */
    double     *low, *high;    /* limits of d for each rotated coordinate            */
    int8_t     *active, *held;
    double      mu;
} lm;

static ct_status allocate(lm *s, ct_err *err)
{
    const int64_t m = s->m;
    CT_TRY(ct__point_new(s->objective, 1, &s->at, err));
    CT_TRY(ct__point_new(s->objective, 1, &s->trial, err));
    s->g = ct__zalloc(4 * m + 2 * m * m, sizeof *s->g);
    s->active = ct__zalloc(2 * m, sizeof *s->active);
    if (!s->g || !s->active) return ct__no_memory(err, "parameters", m);
    s->d = s->g + m;
    s->low = s->d + m;
    s->high = s->low + m;
    s->B = s->high + m;
    s->L = s->B + m * m;
    s->held = s->active + m;
    return CT_OK;
}

static void release(lm *s)
{
    ct__point_free(&s->at);
    ct__point_free(&s->trial);
    free(s->g);
    free(s->active);
}

/* g and B in rotated coordinates, T'g and T'B T, and the active bounds. */
static void rotate(lm *s)
{
    const ct_theta *theta = s->objective->outer->theta;
    const int32_t   m = s->m;
    memcpy(s->g, s->at.gradient, (size_t)m * sizeof *s->g);
    memcpy(s->B, s->at.matrix, (size_t)(m * m) * sizeof *s->B);
    ct_theta_to_eigenbasis(theta, s->at.p, s->g);
    for (int side = 0; side < 2; side++) { /* the matrix is symmetric: rows, then columns */
        for (int32_t i = 0; i < m; i++) ct_theta_to_eigenbasis(theta, s->at.p, s->B + (int64_t)i * m);
        for (int32_t i = 0; i < m; i++)
            for (int32_t j = 0; j < i; j++) {
                const double t = s->B[(int64_t)i * m + j];
                s->B[(int64_t)i * m + j] = s->B[(int64_t)j * m + i];
                s->B[(int64_t)j * m + i] = t;
            }
    }
    ct_theta_active(theta, s->at.p, s->active);
}

/* Cholesky factor of B + mu T on the free coordinates, and the step. 0: not positive definite. */
static int solve(lm *s)
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
            double sum = s->B[(int64_t)i * m + j] + (i == j ? s->mu * (mean + s->B[(int64_t)i * m + i]) : 0);
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
static void find_limits(lm *s)
{
    const ct_theta *theta = s->objective->outer->theta;
    const int32_t   m = s->m;
    double         *unit = s->trial.gradient; /* free until the trial is evaluated */
    for (int32_t i = 0; i < m; i++) {
        s->low[i] = -STEP_MAX;
        s->high[i] = STEP_MAX;
        if (!ct_theta_is_scale(theta, i)) continue;
        double lower, upper, at = 0;
        memset(unit, 0, (size_t)m * sizeof *unit);
        unit[i] = 1;
        ct_theta_from_eigenbasis(theta, s->at.p, unit);
        for (int32_t k = 0; k < m; k++) at += unit[k] * s->at.p[k]; /* coordinate i of the rotated p */
        ct_theta_bounds(theta, i, &lower, &upper);
        s->low[i] = CT_MAX(s->low[i], CT_MIN(0, log(lower) - at));
        s->high[i] = CT_MIN(s->high[i], CT_MAX(0, log(upper) - at));
    }
}

/* The step: active bounds are held, bounds that d would pass are reached. 0: no step. */
static int step(lm *s)
{
    const int32_t m = s->m;
    for (int32_t i = 0; i < m; i++) {
        s->held[i] = (s->active[i] > 0 && s->g[i] < 0) || (s->active[i] < 0 && s->g[i] > 0);
        s->d[i] = 0;
    }
    for (int round = 0; round < HELD_ROUND; round++) {
        int more = 0;
        if (!solve(s)) return 0;
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

/* trial.p <- projection of p + d; d <- the projected step. Returns the largest change of a coordinate. */
static double move(lm *s)
{
    const ct_theta *theta = s->objective->outer->theta;
    double          largest = 0;
    memcpy(s->trial.p, s->d, (size_t)s->m * sizeof *s->d);
    ct_theta_from_eigenbasis(theta, s->at.p, s->trial.p);
    for (int32_t i = 0; i < s->m; i++) s->trial.p[i] += s->at.p[i];
    ct_theta_project(theta, CT_SPACE_LOG, s->trial.p);
    for (int32_t i = 0; i < s->m; i++) {
        s->d[i] = s->trial.p[i] - s->at.p[i];
        largest = CT_MAX(largest, fabs(s->d[i]));
    }
    ct_theta_to_eigenbasis(theta, s->at.p, s->d);
    return largest;
}

/* The decrease of F that the quadratic model predicts for d. */
static double predicted_decrease(const lm *s)
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

/* An estimate of the decrease still possible: the sum of the predicted decreases along single coordinates. */
static double remaining_decrease(const lm *s)
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

/* One accepted step from s->at, or *stop. */
static ct_status advance(lm *s, ct_learn_stop *stop)
{
    const ct_learn_options *o = s->objective->options;
    rotate(s);
    find_limits(s);
    if (remaining_decrease(s) <= 0.1 * o->relative * s->at.F) {
        *stop = CT_LEARN_STOP_GRADIENT;
        return CT_OK;
    }
    int refused = 0;
    for (; s->mu <= MU_MOST; s->mu *= 8) {
        if (!step(s)) continue;
        const double change = move(s), fall = predicted_decrease(s);
        if (change <= o->step) {
            /* stuck: longer steps were refused */
            *stop = refused ? CT_LEARN_STOP_STUCK : CT_LEARN_STOP_STEP;
            return CT_OK;
        }
        if (!(fall > 0)) continue; /* the projection turned a long step uphill: try a shorter one */
        CT_TRY(ct__objective_evaluate(s->objective, &s->trial));
        if (ct__objective_cancelled(s->objective)) *stop = CT_LEARN_STOP_CANCELLED;
        const double gain = s->trial.failed || !isfinite(s->trial.F) ? -1 : (s->at.F - s->trial.F) / fall;
        if (gain > 1e-3) {
            const double before = s->at.F;
            ct__point_swap(&s->at, &s->trial);
            CT_TRY(ct__objective_accept(s->objective));
            s->mu = CT_MAX(MU_LEAST, s->mu * (gain > 0.75 ? 0.1 : gain > 0.25 ? 0.5 : 2));
            if (!*stop && before - s->at.F <= o->relative * before) *stop = CT_LEARN_STOP_LOSS;
            return CT_OK;
        }
        if (*stop) return CT_OK;
        refused = 1;
    }
    *stop = CT_LEARN_STOP_STUCK;
    return CT_OK;
}

static ct_status run(lm *s, int max_iterations, const double *p, ct_learn_stop *stop)
{
    ct__objective_begin(s->objective);
    memcpy(s->at.p, p, (size_t)s->m * sizeof *p);
    CT_TRY(ct__objective_evaluate(s->objective, &s->at));
    if (s->at.failed) {
        *stop = CT_LEARN_STOP_STUCK;
        return CT_OK;
    }
    CT_TRY(ct__objective_accept(s->objective));
    if (ct__objective_cancelled(s->objective)) *stop = CT_LEARN_STOP_CANCELLED;
    for (int i = 0; *stop == CT_LEARN_STOP_NONE; i++) {
        if (i == max_iterations) *stop = CT_LEARN_STOP_ITERATIONS;
        else CT_TRY(advance(s, stop));
    }
    return CT_OK;
}

ct_status ct__learn_lm(ct__objective *objective, int max_iterations, double *p, ct_learn_stop *stop)
{
    lm        s = {.objective = objective, .m = objective->outer->m, .mu = MU_FIRST};
    ct_status status = allocate(&s, objective->err);
    *stop = CT_LEARN_STOP_NONE;
    if (status == CT_OK) status = run(&s, max_iterations, p, stop);
    if (status == CT_OK) memcpy(p, s.at.p, (size_t)s.m * sizeof *p);
    release(&s);
    return status;
}
