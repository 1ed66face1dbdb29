/* newton.c: H dx = -g with the exact Hessian H near a minimum, Levenberg-Marquardt elsewhere.
 *
 * J'J omits the second derivatives of residuals. Where residuals are large these are a large part of H, and
 * Gauss-Newton steps shrink by a constant factor: sixty iterations to the last digit are usual on a path with poor
 * odometry. With the exact H convergence is quadratic. H need not be positive definite far from a minimum. Steps there,
 * and steps after one for which H was not positive definite, are Levenberg-Marquardt's. A start from the solution of a
 * similar problem, as in learning, is near. A start whose first step promises to remove most of the error is not.
 *
 * Where a residual has a kink, J'J can converge arbitrarily slowly. Example: fingers at the corner of a box see a side
 * at one point and the corner at the next, and steps alternate between the two, a thousandth of the way each. The exact
 * H contains the curvature of the corner. So a solve that needs many iterations continues with H, damped until it is
 * positive definite. From the start that would be slower on smooth graphs: J'J is the better model far away. */
#include "graph/graph.h"
#include "solve/solve.h"

#include <math.h>

#define LM_STEPS 4    /* steps of lm at first, or ...                                             */
#define LM_SLOW  0.02 /* ... until one decreases the error by less than this fraction             */
#define NEAR     0.25 /* fraction of the error that a first Newton step may predict to remove    */
#define MORE_MAX 4    /* after a Newton step that failed: 1 step, then 2, 4, ... up to this many */
#define CREEPING 50   /* iterations after which J'J is given up: solves on smooth graphs need 5 to 40 */

/* Factors H. 1 if it is positive definite and no pivot is weak, or all weak ones were found determined before. */
static int definite(ct__solve_state *state)
{
    const int32_t weak = ct__solve_factor(state, 0, NULL);
    if (!weak) return 1;
    if (ct__negative_pivot(state->solver) >= 0) return 0;
    if (!ct__solve_is_rank_deficient(state, weak)) return 1;
    ct__forget_undetermined(state); /* Levenberg-Marquardt tests again */
    return 0;
}

/* Newton steps while they succeed, from x, where the system is H; a first one that promises more than
 * `most` of the error is not taken. Linearising at the new point gives its error as well. Returns 1 if the solve is
 * over. */
static int newton_steps(ct__solve_state *state, ct__lm *lm, double most)
{
    ct_solver *s = state->solver;
    while (state->result->iterations < state->options->max_iterations) {
        if (ct__solve_not_finite(state)) return 1;
        if (!definite(state)) return 0;
        lm->regular = 1;
        ct__solve_step(state, s->dx);
        const double before = state->error, step = ct__largest(s->dx, s->scalars), hoped = ct__promised(s);
        if (!isfinite(step) || hoped > most * before) return 0;
        most = INFINITY;
        ct__retract(s, state->x, 1, s->dx, s->trial);
        state->result->iterations++;
        const double error = ct__solve_linearise_exact(state, s->trial);
        const int    accepted = error <= before || ct__solve_gain(state, error, hoped, 1) > 0;
        if (accepted) ct__solve_accept(state, error);
        else s->exact = CT_EXACT_NOT; /* at x */
        if (ct__solve_report(state, accepted, step, 0)) return 1;
        if (!accepted) return 0;
        if (step <= CT_SAME_PLACE) s->exact = CT_EXACT_FACTORED;
        if (ct__solve_converged(state, before, step, hoped, 1)) return 1;
    }
    return 0;
}

/* Levenberg-Marquardt until `steps` were taken, or one reduced the error by less than `slow` of itself. Returns 1 if
 * the solve is over. */
static int approach(ct__solve_state *state, ct__lm *lm, int steps, double slow)
{
    for (int taken = 0; taken < steps && state->result->iterations < state->options->max_iterations;) {
        const double before = state->error;
        if (ct__lm_iterate(state, lm)) return 1;
        taken += lm->accepted;
        if (lm->accepted && before - state->error < slow * before) return 0;
    }
    return 0;
}

/* Levenberg-Marquardt found a minimum to the tolerance asked for, by steps that shrink slowly: Newton's last step,
 * if it can be had, makes it one. */
static void finish(ct__solve_state *state, ct__lm *lm)
{
    const ct_stop stop = state->result->stop;
    if (!ct_stop_converged(stop) || state->result->iterations >= state->options->max_iterations) return;
    ct__solve_linearise_exact(state, state->x);
    if (!newton_steps(state, lm, INFINITY)) state->result->stop = stop;
}

void ct__newton(ct__solve_state *state)
{
    ct__lm lm = ct__lm_begin(state);
    int    over = 0, more = 1;
    if (state->solver->approximate) {
        ct__levenberg_marquardt(state);
        return;
    }
    lm.fresh = 0; /* the system is H, not J'J */
    over = newton_steps(state, &lm, NEAR);
    int by_lm = !over;
    if (!over) over = approach(state, &lm, LM_STEPS, LM_SLOW);
    while (!over && state->result->iterations < CT_MIN(CREEPING, state->options->max_iterations)) {
        ct__solve_linearise_exact(state, state->x);
        over = newton_steps(state, &lm, INFINITY);
        by_lm = !over;
        lm.fresh = 0; /* the system is H, or that of a step not taken */
        if (!over) over = approach(state, &lm, more, 0);
        more = CT_MIN(2 * more, MORE_MAX);
    }
    lm.exact = 1, lm.fresh = 0;
    if (!over && state->result->iterations < state->options->max_iterations)
        over = ct__restart_undamped(state), lm.fresh = 0;
    while (!over && state->result->iterations < state->options->max_iterations) over = ct__lm_iterate(state, &lm);
    if (!over) ct__solve_stop(state, CT_STOP_ITERATIONS);
    else if (by_lm) finish(state, &lm);
    ct__lm_end(state, &lm);
}
