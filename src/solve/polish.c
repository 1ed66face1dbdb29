/* polish.c: the end of a run on a graph with approximate Jacobians (CT_JACOBIAN_APPROXIMATE).
 *
 * There J'r is not the error's gradient, but off by a term of order |r|^2. Close to J'r = 0 that term
 * decides whether the error rises or falls along a step, so a method that watches the error stops
 * somewhere around, and where depends on the way it came. What does not depend on it is the point where
 * J'r = 0: full steps x <- x o Exp(-H^-1 J'r) contract to it, by a factor of order |r| each. */
#include "solve/solve.h"

#include <math.h>

#define CONTRACTION 0.5  /* a step must be shorter than this much of the one before, or that is taken back */
#define RISE_MAX    1e-3 /* of the error: what moves it by more is no matter of the last few digits      */

void ct__settle(ct__solve_state *run)
{
    ct_solver *s = run->solver;
    double     last = INFINITY, error_before = run->error;
    ct__solve_linearise(run, run->x);
    for (;;) {
        if (ct__solve_factor(run, 0, NULL) && ct__find_loose(s, run->noise, run->x)) {
            ct__solve_stop(run, CT_STOP_RANK);
            return;
        }
        ct__solve_step(run, s->dx);
        const double step = ct__largest(s->dx, s->scalars);
        if (!(step < CONTRACTION * last)) {
            if (last < INFINITY) ct__solve_accept(run, error_before);
            return;
        }
        if (step < run->options->step && ct__solve_stop(run, CT_STOP_STEP)) return;
        if (run->result->iterations == run->options->max_iterations) {
            ct__solve_stop(run, CT_STOP_ITERATIONS);
            return;
        }
        /* trial keeps where this step comes from; accepting it again takes the step back */
        memcpy(s->trial, run->x, (size_t)ct_graph_size(s->graph) * sizeof *run->x);
        ct__retract(s, run->x, 1, s->dx, run->x);
        error_before = run->error;
        run->error = ct__solve_linearise(run, run->x);
        run->result->iterations++;
        last = step;
        if (!(run->error <= (1 + RISE_MAX) * error_before)) {
            ct__solve_accept(run, error_before);
            return;
        }
        if (ct__solve_report(run, 1, step, 0)) return;
    }
}
