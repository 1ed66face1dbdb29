/* gauss_newton.c: full steps, halved while the error rises.
 *
 * Linearising at the new point gives its error as well, so a good step costs one linearisation, one
 * factorisation and one back-substitution, nothing else. */
#include "solve/solve.h"

#include <math.h>

#define HALVINGS_MAX 30

/* Moves to x o Exp(alpha dx) for the first alpha = 1, 1/2, 1/4 ... that does not raise the error. A rise
 * within rounding of the sum counts as none. Returns alpha, 0 if there is none. */
static double take_step(ct__run_state *run)
{
    double alpha = 1;
    for (int k = 0; k < HALVINGS_MAX; k++, alpha /= 2) {
        ct__retract(run->solver, run->x, alpha, run->solver->dx, run->solver->trial);
        const double error = ct__run_linearise(run, run->solver->trial);
        if (!(error <= run->error * (1 + CT_ROUNDING) + 1e-300)) continue;
        ct__run_accept(run, error);
        return alpha;
    }
    return 0;
}

/* What the model says a further step dx brings, g being that of the last linearisation: -g'dx / 2. */
static double promised(const ct__run_state *run)
{
    const double *g = ct_sparse_gradient(run->solver->system);
    double        sum = 0;
    for (int32_t i = 0; i < run->solver->scalars; i++) sum -= g[i] * run->solver->dx[i];
    return 0.5 * sum;
}

/* A shortened step that changes as little as a full one would at the minimum: there is no use in more. */
static int no_progress(const ct__run_state *run, double before)
{
    const double fall = before - run->error;
    return fall <= run->options->relative * before || fall <= run->options->absolute;
}

void ct__gauss_newton(ct__run_state *run)
{
    ct_solver *s = run->solver;
    while (run->result->iterations < run->options->max_iterations) {
        if (ct__run_not_finite(run)) return;
        if (ct__run_loose(run, ct__run_factor(run, 0, NULL))) {
            ct__run_stop(run, CT_STOP_RANK);
            return;
        }
        ct__run_step(run, s->dx);
        const double before = run->error, step = ct__largest(s->dx, s->scalars);
        if (!isfinite(step)) {
            ct__run_stop(run, CT_STOP_NOT_FINITE);
            return;
        }
        run->result->iterations++;
        const double alpha = take_step(run);
        if (alpha == 0) {
            ct__run_linearise(run, run->x);
            ct__run_given_up(run, step, promised(run), 1);
            return;
        }
        if (ct__run_report(run, 1, alpha * step, 0)) return;
        if (alpha == 1 && ct__run_converged(run, before, step)) return;
        if (alpha < 1 && no_progress(run, before) && ct__run_given_up(run, step, promised(run), 1)) return;
    }
    ct__run_stop(run, CT_STOP_ITERATIONS);
}
