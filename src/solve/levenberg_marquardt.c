/* levenberg_marquardt.c: (H + lambda D) dx = -g, D = diag(H) held away from zero.
 *
 * The damping follows Nielsen: with rho the ratio of actual to predicted decrease, a good step
 * multiplies lambda by max(1/10, 1 - (2 rho - 1)^3), a bad one by 2, 4, 8 ... The predicted
 * decrease is (lambda dx'D dx - g'dx) / 2.
 *
 * With the exact Hessian in place of J'J (lm->exact, for newton.c) D is its diagonal's size, and damping grows until
 * the matrix is positive definite.
 *
 * Unless asked for, damping begins with the first step that fails: most graphs never need it. Damping hides rank
 * deficiency; where the last system was damped, it is factored once more without and looked at. */
#include "solve/solve.h"

#include <math.h>

#define SCALE_MIN  1e-9  /* of the largest diagonal entry: a loose unknown is still damped */
#define LAMBDA_MIN 1e-12 /* below this, damping is lost in H's own rounding: use none      */
#define LAMBDA_MAX 1e16
#define LAMBDA_FIRST 1e-5 /* after an undamped step that failed */
#define INDEFINITE 4.0   /* what damping grows by that leaves an exact Hessian indefinite */
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
    for (int32_t i = 0; i < s->scalars; i++) s->scale[i] = fabs(s->scale[i]); /* below zero in an exact Hessian alone */
    const double least = SCALE_MIN * ct__largest(s->scale, s->scalars);
    for (int32_t i = 0; i < s->scalars; i++) s->scale[i] = CT_MAX(s->scale[i], CT_MAX(least, 1e-300));
}

/* What a trial step was worth. */
typedef struct {
    double step;      /* largest |dx| */
    double error;     /* at x o Exp(dx), whose values are left in trial */
    double predicted; /* decrease */
    double gain;      /* actual over predicted; -1 where that makes no sense */
} verdict;

static verdict try_step(ct__solve_state *run, double lambda)
{
    ct_solver *s = run->solver;
    verdict    v = {.step = ct__largest(s->dx, s->scalars), .predicted = predicted_decrease(s, lambda)};
    ct__retract(s, run->x, 1, s->dx, s->trial);
    v.error = ct__error(s, run->noise, s->trial);
    v.gain = ct__solve_gain(run, v.error, v.predicted, lambda < DAMPED);
    return v;
}

/* Factors with damping *lambda; if that is none and something is loose, with the first one instead. Returns 1 if the
 * system was regular without any. */
static int factor_damped(ct__solve_state *run, double *lambda, int *loose)
{
    const int32_t weak = ct__solve_factor(run, *lambda, run->solver->scale);
    if (*lambda > 0) return 0;
    if (!weak) return 1;
    if (!*loose && !ct__solve_loose(run, weak)) return 1; /* weakly determined: damping would hold that back for good */
    *loose = 1;                              /* asked once */
    ct__forget_loose(run);                   /* damping goes on; ct__lm_end asks again */
    scale_from_diagonal(run->solver);        /* ct__solve_loose has used its memory */
    *lambda = LAMBDA_FIRST;
    ct__solve_factor(run, *lambda, run->solver->scale);
    return 0;
}

/* Factors an exact Hessian with the least damping from *lambda on that makes it positive definite. Returns 1 if that
 * is none. */
static int factor_definite(ct__solve_state *run, double *lambda)
{
    while (ct__solve_factor(run, *lambda, run->solver->scale) > 0 && *lambda <= LAMBDA_MAX)
        *lambda = *lambda > 0 ? INDEFINITE * *lambda : LAMBDA_FIRST;
    return *lambda == 0;
}

ct__lm ct__lm_begin(const ct__solve_state *run)
{
    return (ct__lm){.lambda = run->options->lambda, .growth = 2, .fresh = 1};
}

int ct__lm_iterate(ct__solve_state *run, ct__lm *lm)
{
    ct_solver *s = run->solver;
    if (!lm->fresh && lm->exact) ct__solve_linearise_exact(run, run->x);
    else if (!lm->fresh) ct__solve_linearise(run, run->x);
    if (!lm->fresh || !lm->tries) scale_from_diagonal(s);
    if (!lm->fresh) lm->tries = 0;
    lm->fresh = 1;
    if (ct__solve_not_finite(run)) return 1;
    lm->regular = lm->exact ? factor_definite(run, &lm->lambda) : factor_damped(run, &lm->lambda, &lm->loose);
    ct__solve_step(run, s->dx);
    run->result->iterations++;
    const double  before = run->error;
    const verdict v = try_step(run, lm->lambda);
    const int     whole = lm->lambda < DAMPED; /* else a short fall says nothing but that the step was short */
    const int     undamped = lm->lambda == 0;
    lm->accepted = v.gain > 1e-4;
    if (lm->tries++ == 0) {
        lm->first_step = whole ? v.step : INFINITY;
        lm->first_promised = whole ? v.predicted : INFINITY;
        lm->first_undamped = undamped;
    }
    if (lm->accepted) {
        ct__solve_accept(run, v.error);
        s->exact = CT_EXACT_NOT; /* at x, that is */
        lm->lambda *= CT_MAX(0.1, 1 - pow(2 * v.gain - 1, 3));
        if (lm->lambda < LAMBDA_MIN) lm->lambda = 0;
        lm->growth = 2;
        lm->fresh = 0;
    } else {
        lm->lambda = lm->lambda > 0 ? lm->lambda * lm->growth : LAMBDA_FIRST;
        lm->growth *= 2;
    }
    if (ct__solve_report(run, lm->accepted, v.step, lm->lambda)) return 1;
    const int exhausted = v.step < run->options->step || lm->lambda > LAMBDA_MAX;
    return lm->accepted ? whole && ct__solve_converged(run, before, v.step, v.predicted, undamped)
                        : ct__solve_given_up(run, lm->first_step, lm->first_promised, lm->first_undamped, exhausted);
}

/* The answer stands only if nothing is loose in the system without damping. Suspects are judged at x, so the system
 * must be that at x, and not the one that the last step came from. */
void ct__lm_end(ct__solve_state *run, const ct__lm *lm)
{
    const ct_stop stop = run->result->stop;
    if (lm->regular || stop == CT_STOP_CANCELLED || stop == CT_STOP_NOT_FINITE) return;
    if (!ct__solve_factor(run, 0, NULL)) return;
    ct__solve_linearise(run, run->x);
    if (ct__solve_factor(run, 0, NULL) && ct__find_loose(run->solver, run->noise, run->x)) ct__solve_singular(run);
}

void ct__levenberg_marquardt(ct__solve_state *run)
{
    ct__lm lm = ct__lm_begin(run);
    int    over = 0, attempts = 1;
    while (!over && run->result->iterations < run->options->max_iterations) {
        if (run->result->iterations < CT_RESTART_AFTER || attempts > 1) over = ct__lm_iterate(run, &lm);
        else over = ct__restart_undamped(run), attempts++, lm.fresh = 0;
    }
    if (!over) ct__solve_stop(run, CT_STOP_ITERATIONS);
    ct__lm_end(run, &lm);
}
