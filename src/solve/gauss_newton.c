/* gauss_newton.c: full steps, halved while the error rises.
 *
 * Linearising at the new point gives its error as well, so a good step costs one linearisation, one
 * factorisation and one back-substitution, nothing else. */
#include "solve/solve.h"

#include <math.h>

#define HALVINGS_MAX 30

/* Moves to x o Exp(alpha dx) for the first alpha = 1, 1/2, 1/4 ... that does not raise the error. A rise
 * within rounding of the sum counts as none. Returns alpha, 0 if there is none. */
static double take_step(ct__solve_state *state)
{
    double alpha = 1;
    for (int k = 0; k < HALVINGS_MAX; k++, alpha /= 2) {
        ct__retract(state->solver, state->x, alpha, state->solver->dx, state->solver->trial);
        const double error = ct__solve_linearise(state, state->solver->trial);
        if (!(error <= state->error * (1 + CT_ROUNDING) + 1e-300)) continue;
        ct__solve_accept(state, error);
        return alpha;
    }
    return 0;
}

/* A shortened step that changes as little as a full step at the minimum: further ones are useless. */
static int no_progress(const ct__solve_state *state, double before)
{
    const double fall = before - state->error;
    return fall <= state->options->relative * before || fall <= state->options->absolute;
}

/* One iteration from x, where the system is. 1 if the solve is over. */
static int iterate(ct__solve_state *state)
{
    ct_solver *s = state->solver;
    if (ct__solve_not_finite(state)) return 1;
    if (ct__solve_is_rank_deficient(state, ct__solve_factor(state, 0, NULL))) return ct__solve_singular(state);
    ct__solve_step(state, s->dx);
    const double before = state->error, step = ct__largest(s->dx, s->scalars), hoped = ct__promised(s);
    if (!isfinite(step)) return ct__solve_stop(state, CT_STOP_NOT_FINITE);
    state->result->iterations++;
    const double alpha = take_step(state);
    if (alpha == 0) {
        ct__solve_linearise(state, state->x);
        return ct__solve_given_up(state, step, hoped, 1, 1);
    }
    if (ct__solve_report(state, 1, alpha * step, 0)) return 1;
    if (alpha == 1) return ct__solve_converged(state, before, step, hoped, 1);
    ct__distance_unknown(state);
    return no_progress(state, before) && ct__solve_given_up(state, step, ct__promised(s), 1, 1);
}

void ct__gauss_newton(ct__solve_state *state)
{
    int over = 0;
    while (!over && state->result->iterations < state->options->max_iterations) over = iterate(state);
    if (!over) ct__solve_stop(state, CT_STOP_ITERATIONS);
}

/* ---- restart ---- */

int ct__restart_undamped(ct__solve_state *state)
{
    ct_solver     *s = state->solver;
    const size_t   bytes = (size_t)ct_graph_size(s->graph) * sizeof *state->x;
    const double   error = state->error;
    const int left = state->options->max_iterations - state->result->iterations,
              last = state->result->iterations + left * 3 / 4;
    int            over = 0;
    memcpy(s->aside, state->x, bytes);
    memcpy(state->x, s->start, bytes);
    ct__distance_unknown(state);
    state->error = ct__solve_linearise(state, state->x);
    while (!over && state->result->iterations < last) over = iterate(state);
    if (over && state->result->stop == CT_STOP_CANCELLED) return 1;
    if (state->error < error && (!over || ct_stop_converged(state->result->stop))) {
        if (!over) ct__distance_unknown(state);
        return over;
    }
    if (state->result->stop == CT_STOP_RANK) ct__forget_undetermined(state);
    state->result->stop = CT_STOP_NONE;
    state->unproven = 0;
    memcpy(state->x, s->aside, bytes);
    state->error = error;
    ct__distance_unknown(state);
    return 0;
}
