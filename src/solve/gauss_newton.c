/* gauss_newton.c: full steps, halved while the error rises.
 *
 * Linearising at the new point gives its error as well, so a good step costs one linearisation, one
 * factorisation and one back-substitution, nothing else. */
#include "solve/solve.h"

#include <math.h>

#define HALVINGS_MAX 30

/* Moves to x o Exp(alpha dx) for the first alpha = 1, 1/2, 1/4 ... that does not raise the error. A rise
 * within rounding of the sum counts as none. Returns alpha, 0 if there is none. */
static double take_step(ct__solve_state *run)
{
    double alpha = 1;
    for (int k = 0; k < HALVINGS_MAX; k++, alpha /= 2) {
        ct__retract(run->solver, run->x, alpha, run->solver->dx, run->solver->trial);
        const double error = ct__solve_linearise(run, run->solver->trial);
        if (!(error <= run->error * (1 + CT_ROUNDING) + 1e-300)) continue;
        ct__solve_accept(run, error);
        return alpha;
    }
    return 0;
}

/* A shortened step that changes as little as a full one would at the minimum: there is no use in more. */
static int no_progress(const ct__solve_state *run, double before)
{
    const double fall = before - run->error;
    return fall <= run->options->relative * before || fall <= run->options->absolute;
}

/* One iteration from x, where the system is. 1 if the run is over. */
static int iterate(ct__solve_state *run)
{
    ct_solver *s = run->solver;
    if (ct__solve_not_finite(run)) return 1;
    if (ct__solve_loose(run, ct__solve_factor(run, 0, NULL))) return ct__solve_singular(run);
    ct__solve_step(run, s->dx);
    const double before = run->error, step = ct__largest(s->dx, s->scalars), hoped = ct__promised(s);
    if (!isfinite(step)) return ct__solve_stop(run, CT_STOP_NOT_FINITE);
    run->result->iterations++;
    const double alpha = take_step(run);
    if (alpha == 0) {
        ct__solve_linearise(run, run->x);
        return ct__solve_given_up(run, step, hoped, 1, 1);
    }
    if (ct__solve_report(run, 1, alpha * step, 0)) return 1;
    if (alpha == 1) return ct__solve_converged(run, before, step, hoped, 1);
    ct__distance_unknown(run);
    return no_progress(run, before) && ct__solve_given_up(run, step, ct__promised(s), 1, 1);
}

void ct__gauss_newton(ct__solve_state *run)
{
    int over = 0;
    while (!over && run->result->iterations < run->options->max_iterations) over = iterate(run);
    if (!over) ct__solve_stop(run, CT_STOP_ITERATIONS);
}

/* ---- restart ---- */

int ct__restart_undamped(ct__solve_state *run)
{
    ct_solver     *s = run->solver;
    const size_t   bytes = (size_t)ct_graph_size(s->graph) * sizeof *run->x;
    const double   error = run->error;
    const int left = run->options->max_iterations - run->result->iterations,
              last = run->result->iterations + left * 3 / 4;
    int            over = 0;
    memcpy(s->aside, run->x, bytes);
    memcpy(run->x, s->start, bytes);
    ct__distance_unknown(run);
    run->error = ct__solve_linearise(run, run->x);
    while (!over && run->result->iterations < last) over = iterate(run);
    if (over && run->result->stop == CT_STOP_CANCELLED) return 1;
    if (run->error < error && (!over || ct_stop_converged(run->result->stop))) {
        if (!over) ct__distance_unknown(run);
        return over;
    }
    if (run->result->stop == CT_STOP_RANK) ct__forget_loose(run);
    run->result->stop = CT_STOP_NONE;
    run->unproven = 0;
    memcpy(run->x, s->aside, bytes);
    run->error = error;
    ct__distance_unknown(run);
    return 0;
}
