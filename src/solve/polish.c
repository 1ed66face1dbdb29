/* polish.c: the last steps on a graph with approximate Jacobians (CT_JACOBIAN_APPROXIMATE).
 *
 * There J'r is the error's gradient up to a term of order |r|^2. Close to J'r = 0 that term decides whether the error
 * rises or falls along a step. So a method that requires a decrease stops at a point that depends on its path. The
 * point where J'r = 0 does not: full steps x <- x o Exp(-H^-1 J'r) converge to it, by a factor of order |r| each. */
#include "solve/solve.h"

#include <math.h>

#define CONTRACTION 0.5  /* a step must be shorter than this fraction of the one before, which is else undone */
#define RISE_MAX    1e-3 /* of the error: a larger change is not a matter of the last digits                  */

void ct__polish(ct__solve_state *state)
{
    ct_solver *s = state->solver;
    double     last = INFINITY, error_before = state->error;
    ct__solve_linearise(state, state->x);
    for (;;) {
        if (ct__solve_factor(state, 0, NULL) && ct__find_undetermined(s, state->noise, state->x)) {
            ct__solve_stop(state, CT_STOP_RANK);
            return;
        }
        ct__solve_step(state, s->dx);
        const double step = ct__largest(s->dx, s->scalars);
        if (!(step < CONTRACTION * last)) {
            if (last < INFINITY) ct__solve_accept(state, error_before);
            return;
        }
        if (step < state->options->step && ct__solve_stop(state, CT_STOP_STEP)) return;
        if (state->result->iterations == state->options->max_iterations) {
            ct__solve_stop(state, CT_STOP_ITERATIONS);
            return;
        }
        /* trial holds the values before this step; accepting them undoes it */
        memcpy(s->trial, state->x, (size_t)ct_graph_size(s->graph) * sizeof *state->x);
        ct__retract(s, state->x, 1, s->dx, state->x);
        error_before = state->error;
        state->error = ct__solve_linearise(state, state->x);
        state->result->iterations++;
        last = step;
        if (!(state->error <= (1 + RISE_MAX) * error_before)) {
            ct__solve_accept(state, error_before);
            return;
        }
        if (ct__solve_report(state, 1, step, 0)) return;
    }
}
