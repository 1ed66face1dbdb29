/* levenberg_marquardt.c: (H + lambda D) dx = -g, D = diag(H) held away from zero.
 *
 * The damping follows Nielsen: with rho the ratio of actual to predicted decrease, a good step
 * multiplies lambda by max(1/10, 1 - (2 rho - 1)^3), a bad one by 2, 4, 8 ... The predicted
 * decrease is (lambda dx'D dx - g'dx) / 2.
 *
 * Unless asked for, damping begins with the first step that fails: most graphs never need it. Damping hides rank deficiency; where the last
 * system was damped, it is factored once more without and looked at. */
#include "solve/solve.h"

#include <math.h>

#define SCALE_MIN  1e-9  /* of the largest diagonal entry: a loose unknown is still damped */
#define LAMBDA_MIN 1e-12 /* below this, damping is lost in H's own rounding: use none      */
#define LAMBDA_MAX 1e16
#define LAMBDA_FIRST 1e-5 /* after an undamped step that failed */
#define DAMPED     1.0   /* from here on it is the damping that keeps the step short   */

static double predicted_decrease(const ct_solver *s, double lambda)
{
    const double *g = ct_sparse_gradient(s->system);
    double        sum = 0;
    for (int32_t i = 0; i < s->scalars; i++) sum += s->dx[i] * (lambda * s->scale[i] * s->dx[i] - g[i]);
    return 0.5 * sum;
}

static void scale_from_diagonal(ct_solver *s)
{
    ct_sparse_diagonal(s->system, s->scale);
    const double least = SCALE_MIN * ct__largest(s->scale, s->scalars);
    for (int32_t i = 0; i < s->scalars; i++) s->scale[i] = CT_MAX(s->scale[i], CT_MAX(least, 1e-300));
}

/* The answer stands only if nothing is loose in the system without damping. Suspects are judged at x, so the system
 * must be that at x, and not the one that the last step came from. */
static void check_rank(ct__run_state *run)
{
    if (!ct__run_factor(run, 0, NULL)) return;
    ct__run_linearise(run, run->x);
    if (ct__run_factor(run, 0, NULL) && ct__find_loose(run->solver, run->noise, run->x)) ct__run_stop(run, CT_STOP_RANK);
}

/* What a trial step was worth. */
typedef struct {
    double step;      /* largest |dx| */
    double error;     /* at x o Exp(dx), whose values are left in trial */
    double predicted; /* decrease */
    double gain;      /* actual over predicted; -1 where that makes no sense */
} verdict;

static verdict try_step(ct__run_state *run, double lambda)
{
    ct_solver *s = run->solver;
    verdict    v = {.step = ct__largest(s->dx, s->scalars), .predicted = predicted_decrease(s, lambda)};
    ct__retract(s, run->x, 1, s->dx, s->trial);
    v.error = ct__error(s, run->noise, s->trial);
    v.gain = ct__run_gain(run, v.error, v.predicted, lambda < DAMPED);
    return v;
}

/* Factors with damping *lambda; if that is none and something is weak, with the first one instead. Returns 1 if the
 * system was regular without any. */
static int factor_damped(ct__run_state *run, double *lambda)
{
    const int weak = ct__run_factor(run, *lambda, run->solver->scale) > 0;
    if (*lambda > 0) return 0;
    if (!weak) return 1;
    *lambda = LAMBDA_FIRST;
    ct__run_factor(run, *lambda, run->solver->scale);
    return 0;
}

void ct__levenberg_marquardt(ct__run_state *run)
{
    ct_solver *s = run->solver;
    double     lambda = run->options->lambda, growth = 2;
    int        regular = 0;
    verdict    first = {0}; /* the least damped step since x was linearised at */
    int        tries = 0;
    scale_from_diagonal(s);
    ct__run_stop(run, CT_STOP_ITERATIONS);
    while (run->result->iterations < run->options->max_iterations) {
        if (ct__run_not_finite(run)) return;
        regular = factor_damped(run, &lambda);
        ct__run_step(run, s->dx);
        run->result->iterations++;
        const double  before = run->error;
        const verdict v = try_step(run, lambda);
        const int     accepted = v.gain > 1e-4;
        const int     whole = lambda < DAMPED; /* else a short fall says nothing but that the step was short */
        if (tries++ == 0) first = whole ? v : (verdict){.step = INFINITY, .predicted = INFINITY};
        if (accepted) {
            ct__run_accept(run, v.error);
            lambda *= CT_MAX(0.1, 1 - pow(2 * v.gain - 1, 3));
            if (lambda < LAMBDA_MIN) lambda = 0;
            growth = 2;
        } else {
            lambda = lambda > 0 ? lambda * growth : LAMBDA_FIRST;
            growth *= 2;
        }
        if (ct__run_report(run, accepted, v.step, lambda)) return;
        const int exhausted = v.step < run->options->step || lambda > LAMBDA_MAX;
        if (accepted ? whole && ct__run_converged(run, before, v.step) : ct__run_given_up(run, first.step, first.predicted, exhausted)) break;
        if (accepted && run->result->iterations < run->options->max_iterations) {
            ct__run_linearise(run, run->x);
            scale_from_diagonal(s);
            tries = 0;
        }
    }
    if (!regular) check_rank(run);
}
