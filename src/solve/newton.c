/* newton.c: H dx = -g with the exact Hessian H, where that is near enough a minimum; Levenberg-Marquardt where it is
 * not.
 *
 * J'J leaves out what residuals bend by. Where they are large that is a good part of H, and steps shrink by a
 * constant factor each: sixty iterations to the last digit are usual on a path with poor odometry. With the exact H
 * the error of a step is the square of the one before. But H need not be positive definite, and far from a minimum
 * it is not: so steps there, and those after one that H could not give, are Levenberg-Marquardt's. A start from the
 * solution of a similar problem, as learning has it, is near; one whose first step promises to take away most of the
 * error is not.
 *
 * Where a residual has a kink, J'J can creep for ever: of fingers at the corner of a box each sees a side at one
 * point and the corner at the next, and steps zigzag between the two, a thousandth of the way each. The exact H
 * knows how a corner bends. So a run that is not over after many iterations goes on with H, damped until it is
 * positive definite. (From the start that would be the slower way on smooth graphs: J'J is a good H where it is far
 * from one.) */
#include "graph/graph.h"
#include "solve/solve.h"

#include <math.h>

#define LM_STEPS 4    /* that many steps taken at first, or ...                                   */
#define LM_SLOW  0.02 /* ... one by which the error fell less than this much of itself            */
#define NEAR     0.25 /* of the error, that a first Newton step may promise to take away         */
#define MORE_MAX 4    /* after a Newton step that failed: 1 step, then 2, 4, ... up to this many */
#define CREEPING 50   /* iterations after which J'J is given up: runs on smooth graphs need 5 to 40 */

/* Factors H. 1 if it is positive definite and nothing is suspect, or all that is has been found innocent before. */
static int definite(ct__solve_state *run)
{
    const int32_t weak = ct__solve_factor(run, 0, NULL);
    if (!weak) return 1;
    if (ct__negative_pivot(run->solver) >= 0) return 0;
    if (!ct__solve_loose(run, weak)) return 1;
    ct__forget_loose(run); /* Levenberg-Marquardt will look for itself */
    return 0;
}

/* Newton steps for as long as they are good, from x, where the system is H; a first one that promises more than
 * `most` of the error is not taken. Linearising at the new point gives its error as well. Returns 1 if the run is
 * over. */
static int newton_steps(ct__solve_state *run, ct__lm *lm, double most)
{
    ct_solver *s = run->solver;
    while (run->result->iterations < run->options->max_iterations) {
        if (ct__solve_not_finite(run)) return 1;
        if (!definite(run)) return 0;
        lm->regular = 1;
        ct__solve_step(run, s->dx);
        const double before = run->error, step = ct__largest(s->dx, s->scalars), hoped = ct__promised(s);
        if (!isfinite(step) || hoped > most * before) return 0;
        most = INFINITY;
        ct__retract(s, run->x, 1, s->dx, s->trial);
        run->result->iterations++;
        const double error = ct__solve_linearise_exact(run, s->trial);
        const int    accepted = error <= before || ct__solve_gain(run, error, hoped, 1) > 0;
        if (accepted) ct__solve_accept(run, error);
        else s->exact = CT_EXACT_NOT; /* at x, that is */
        if (ct__solve_report(run, accepted, step, 0)) return 1;
        if (!accepted) return 0;
        if (step <= CT_SAME_PLACE) s->exact = CT_EXACT_FACTORED;
        if (ct__solve_converged(run, before, step, hoped, 1)) return 1;
    }
    return 0;
}

/* Levenberg-Marquardt until `steps` were taken or one of them was slower than `slow`. Returns 1 if the run is over. */
static int approach(ct__solve_state *run, ct__lm *lm, int steps, double slow)
{
    for (int taken = 0; taken < steps && run->result->iterations < run->options->max_iterations;) {
        const double before = run->error;
        if (ct__lm_iterate(run, lm)) return 1;
        taken += lm->accepted;
        if (lm->accepted && before - run->error < slow * before) return 0;
    }
    return 0;
}

/* Levenberg-Marquardt found a minimum to the tolerance asked for, by steps that shrink slowly: Newton's last step,
 * if it can be had, makes it one. */
static void finish(ct__solve_state *run, ct__lm *lm)
{
    const ct_stop stop = run->result->stop;
    if (!ct_stop_converged(stop) || run->result->iterations >= run->options->max_iterations) return;
    ct__solve_linearise_exact(run, run->x);
    if (!newton_steps(run, lm, INFINITY)) run->result->stop = stop;
}

void ct__newton(ct__solve_state *run)
{
    ct__lm lm = ct__lm_begin(run);
    int    over = 0, more = 1;
    if (run->solver->approximate) {
        ct__levenberg_marquardt(run);
        return;
    }
    lm.fresh = 0; /* the system is H, not J'J */
    over = newton_steps(run, &lm, NEAR);
    int by_lm = !over;
    if (!over) over = approach(run, &lm, LM_STEPS, LM_SLOW);
    while (!over && run->result->iterations < CT_MIN(CREEPING, run->options->max_iterations)) {
        ct__solve_linearise_exact(run, run->x);
        over = newton_steps(run, &lm, INFINITY);
        by_lm = !over;
        lm.fresh = 0; /* the system is H, or that of a step not taken */
        if (!over) over = approach(run, &lm, more, 0);
        more = CT_MIN(2 * more, MORE_MAX);
    }
    lm.exact = 1, lm.fresh = 0;
    if (!over && run->result->iterations < run->options->max_iterations) over = ct__restart_undamped(run), lm.fresh = 0;
    while (!over && run->result->iterations < run->options->max_iterations) over = ct__lm_iterate(run, &lm);
    if (!over) ct__solve_stop(run, CT_STOP_ITERATIONS);
    else if (by_lm) finish(run, &lm);
    ct__lm_end(run, &lm);
}
