/* dogleg.c: Powell's dogleg. In the units u = D dx, D = sqrt(diag(H)), inside a ball of radius Delta:
 *
 *     Cauchy point  u_c = -(|v|^2 / v'Bv) v,   v = D^-1 g,  B = D^-1 H D^-1
 *     Newton point  u_n,  H dx = -g
 *     u = the point where the path 0 -> u_c -> u_n leaves the ball, or u_n if it does not.
 *
 * One factorisation a linearisation, however often the radius shrinks. */
#include "solve/solve.h"

#include <math.h>

#define RADIUS_MIN 1e-14

typedef struct {
    double *newton, *cauchy; /* dx of the two points */
    double  newton_size, cauchy_size;
} path;

static double scaled_norm(const ct_solver *s, const double *dx)
{
    double sum = 0;
    for (int32_t i = 0; i < s->scalars; i++) sum += s->scale[i] * dx[i] * dx[i];
    return sqrt(sum);
}

/* dx = -(|v|^2 / v'Bv) D^-2 g. */
static void cauchy_point(ct_solver *s, double *dx, double *product)
{
    const double *g = ct_sparse_gradient(s->system);
    double        vv = 0, vBv = 0;
    for (int32_t i = 0; i < s->scalars; i++) {
        dx[i] = -g[i] / s->scale[i];
        vv -= g[i] * dx[i];
    }
    ct_sparse_multiply(s->system, dx, product);
    for (int32_t i = 0; i < s->scalars; i++) vBv += dx[i] * product[i];
    const double length = vBv > 0 ? vv / vBv : 0;
    for (int32_t i = 0; i < s->scalars; i++) dx[i] *= length;
}

/* Where the segment from a (inside) to b (outside) leaves the ball: a + t (b - a). */
static double leave_ball(const ct_solver *s, const double *a, const double *b, double radius)
{
    double aa = 0, ad = 0, dd = 0;
    for (int32_t i = 0; i < s->scalars; i++) {
        const double d = b[i] - a[i];
        aa += s->scale[i] * a[i] * a[i];
        ad += s->scale[i] * a[i] * d;
        dd += s->scale[i] * d * d;
    }
    const double c = radius * radius - aa, root = sqrt(ad * ad + dd * CT_MAX(c, 0));
    return ad > 0 ? c / (ad + root) : (root - ad) / dd;
}

static void dogleg_step(const ct_solver *s, const path *w, double radius, double *dx)
{
    if (w->newton_size <= radius) memcpy(dx, w->newton, (size_t)s->scalars * sizeof *dx);
    else if (w->cauchy_size >= radius)
        for (int32_t i = 0; i < s->scalars; i++) dx[i] = radius / w->cauchy_size * w->cauchy[i];
    else {
        const double t = leave_ball(s, w->cauchy, w->newton, radius);
        for (int32_t i = 0; i < s->scalars; i++) dx[i] = w->cauchy[i] + t * (w->newton[i] - w->cauchy[i]);
    }
}

/* -g'dx - dx'H dx / 2. */
static double predicted_decrease(ct_solver *s, const double *dx, double *product)
{
    const double *g = ct_sparse_gradient(s->system);
    double        sum = 0;
    ct_sparse_multiply(s->system, dx, product);
    for (int32_t i = 0; i < s->scalars; i++) sum -= dx[i] * (g[i] + 0.5 * product[i]);
    return sum;
}

/* Both points at the current linearisation; 0 if the system is singular. */
static int make_path(ct__solve_state *state, path *w)
{
    ct_solver *s = state->solver;
    if (ct__solve_is_rank_deficient(state, ct__solve_factor(state, 0, NULL))) return 0;
    ct__solve_step(state, w->newton);
    ct_sparse_diagonal(s->system, s->scale);
    cauchy_point(s, w->cauchy, s->product);
    w->newton_size = scaled_norm(s, w->newton);
    w->cauchy_size = scaled_norm(s, w->cauchy);
    return 1;
}

void ct__dogleg(ct__solve_state *state)
{
    ct_solver *s = state->solver;
    path       w = {.newton = s->newton, .cauchy = s->direction};
    double     radius = state->options->radius, step_first = 0, promised_first = 0;
    int        fresh = 0, tries = 0, attempts = 1;
    while (state->result->iterations < state->options->max_iterations) {
        if (state->result->iterations >= CT_RESTART_AFTER && attempts++ == 1) {
            if (ct__restart_undamped(state)) return;
            ct__solve_linearise(state, state->x);
            fresh = tries = 0;
            continue;
        }
        if (ct__solve_not_finite(state)) return;
        if (!fresh && !make_path(state, &w)) {
            ct__solve_singular(state);
            return;
        }
        fresh = 1;
        /* a small decrease at the boundary only shows that the radius is small */
        const int whole = w.newton_size <= radius;
        dogleg_step(s, &w, radius, s->dx);
        ct__retract(s, state->x, 1, s->dx, s->trial);
        state->result->iterations++;
        const double before = state->error, step = ct__largest(s->dx, s->scalars), size = scaled_norm(s, s->dx);
        const double error = ct__error(s, state->noise, s->trial), promised = predicted_decrease(s, s->dx, s->product);
        const double gain = ct__solve_gain(state, error, promised, whole);
        const int    accepted = gain > 1e-4;
        if (tries++ == 0) step_first = whole ? step : INFINITY, promised_first = whole ? promised : INFINITY;
        if (accepted) {
            ct__solve_accept(state, error);
            if (gain > 0.75) radius = CT_MAX(radius, 3 * size);
            else if (gain < 0.25) radius = 0.5 * size;
            fresh = tries = 0;
        } else radius = 0.25 * CT_MIN(radius, size);
        if (ct__solve_report(state, accepted, step, radius)) return;
        const int exhausted = step < state->options->step || radius < RADIUS_MIN;
        if (accepted ? whole && ct__solve_converged(state, before, step, promised, 1)
                     : ct__solve_given_up(state, step_first, promised_first, 1, exhausted))
            return;
        if (!fresh) ct__solve_linearise(state, state->x);
    }
    ct__solve_stop(state, CT_STOP_ITERATIONS);
}
