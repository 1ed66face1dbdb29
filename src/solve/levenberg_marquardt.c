/* levenberg_marquardt.c: (H + lambda D) dx = -g, D = diag(H) held away from zero.
 *
 * The damping follows Nielsen: with rho the ratio of actual to predicted decrease, a good step
 * multiplies lambda by max(1/10, 1 - (2 rho - 1)^3), a bad one by 2, 4, 8 ... The predicted
 * decrease is (lambda dx'D dx - g'dx) / 2.
 *
 * With the exact Hessian in place of J'J (lm->exact, for newton.c) D is its diagonal's size, and damping grows until
 * the matrix is positive definite.
 *
 * Damping begins with the first step that fails, unless options ask for it at once; most graphs never need it. Damping
 * hides rank deficiency: if the last system was damped, it is factored once more without damping and tested. */
#include "solve/solve.h"

#include <math.h>

#define SCALE_MIN  1e-9  /* of the largest diagonal entry: an undetermined unknown is still damped */
#define LAMBDA_MIN 1e-12 /* below this, damping is lost in H's own rounding: use none      */
#define LAMBDA_MAX 1e16
#define LAMBDA_FIRST 1e-5 /* after an undamped step that failed */
#define INDEFINITE 4.0   /* factor of damping while an exact Hessian is indefinite          */
#define DAMPED     1.0   /* from here on damping limits the step                       */

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
    for (int32_t i = 0; i < s->scalars; i++) s->scale[i] = fabs(s->scale[i]); /* negative only in an exact Hessian */
    const double least = SCALE_MIN * ct__largest(s->scale, s->scalars);
    for (int32_t i = 0; i < s->scalars; i++) s->scale[i] = CT_MAX(s->scale[i], CT_MAX(least, 1e-300));
}

/* The result of a trial step. */
typedef struct {
    double step;      /* largest |dx| */
    double error;     /* at x o Exp(dx), whose values are left in trial */
    double predicted; /* decrease */
    double gain;      /* actual over predicted decrease; -1 if either is not finite */
} trial_step;

static trial_step try_step(ct__solve_state *state, double lambda)
{
    ct_solver *s = state->solver;
    trial_step    v = {.step = ct__largest(s->dx, s->scalars), .predicted = predicted_decrease(s, lambda)};
    ct__retract(s, state->x, 1, s->dx, s->trial);
    v.error = ct__error(s, state->noise, s->trial);
    v.gain = ct__solve_gain(state, v.error, v.predicted, lambda < DAMPED);
    return v;
}

/* Factors with damping *lambda. A rank-deficient system without damping is factored with the first damping instead.
 * Returns 1 if the system was regular without damping. */
static int factor_damped(ct__solve_state *state, double *lambda, int *rank_deficient)
{
    const int32_t weak = ct__solve_factor(state, *lambda, state->solver->scale);
    if (*lambda > 0) return 0;
    if (!weak) return 1;
    /* weakly determined: damping would slow convergence in that direction */
    if (!*rank_deficient && !ct__solve_is_rank_deficient(state, weak)) return 1;
    *rank_deficient = 1;                /* tested once */
    ct__forget_undetermined(state);     /* damping continues; ct__lm_end tests again */
    scale_from_diagonal(state->solver); /* ct__solve_is_rank_deficient used its memory */
    *lambda = LAMBDA_FIRST;
    ct__solve_factor(state, *lambda, state->solver->scale);
    return 0;
}

/* Factors an exact Hessian with the least damping from *lambda on that makes it positive definite. Returns 1 if that
 * is none. */
static int factor_definite(ct__solve_state *state, double *lambda)
{
    while (ct__solve_factor(state, *lambda, state->solver->scale) > 0 && *lambda <= LAMBDA_MAX)
        *lambda = *lambda > 0 ? INDEFINITE * *lambda : LAMBDA_FIRST;
    return *lambda == 0;
}

ct__lm ct__lm_begin(const ct__solve_state *state)
{
    return (ct__lm){.lambda = state->options->lambda, .growth = 2, .fresh = 1};
}

int ct__lm_iterate(ct__solve_state *state, ct__lm *lm)
{
    ct_solver *s = state->solver;
    if (!lm->fresh && lm->exact) ct__solve_linearise_exact(state, state->x);
    else if (!lm->fresh) ct__solve_linearise(state, state->x);
    if (!lm->fresh || !lm->tries) scale_from_diagonal(s);
    if (!lm->fresh) lm->tries = 0;
    lm->fresh = 1;
    if (ct__solve_not_finite(state)) return 1;
    lm->regular =
        lm->exact ? factor_definite(state, &lm->lambda) : factor_damped(state, &lm->lambda, &lm->rank_deficient);
    ct__solve_step(state, s->dx);
    state->result->iterations++;
    const double  before = state->error;
    const trial_step v = try_step(state, lm->lambda);
    const int     whole = lm->lambda < DAMPED; /* else a small decrease only shows that the step was short */
    const int     undamped = lm->lambda == 0;
    lm->accepted = v.gain > 1e-4;
    if (lm->tries++ == 0) {
        lm->first_step = whole ? v.step : INFINITY;
        lm->first_promised = whole ? v.predicted : INFINITY;
        lm->first_undamped = undamped;
    }
    if (lm->accepted) {
        ct__solve_accept(state, v.error);
        s->exact = CT_EXACT_NOT; /* at x */
        lm->lambda *= CT_MAX(0.1, 1 - pow(2 * v.gain - 1, 3));
        if (lm->lambda < LAMBDA_MIN) lm->lambda = 0;
        lm->growth = 2;
        lm->fresh = 0;
    } else {
        lm->lambda = lm->lambda > 0 ? lm->lambda * lm->growth : LAMBDA_FIRST;
        lm->growth *= 2;
    }
    if (ct__solve_report(state, lm->accepted, v.step, lm->lambda)) return 1;
    const int exhausted = v.step < state->options->step || lm->lambda > LAMBDA_MAX;
    return lm->accepted ? whole && ct__solve_converged(state, before, v.step, v.predicted, undamped)
                        : ct__solve_given_up(state, lm->first_step, lm->first_promised, lm->first_undamped, exhausted);
}

/* The result is a minimum only if the undamped system has full rank. Weak pivots are tested at x, so the system must
 * be the one at x, not the one that the last step was computed from. */
void ct__lm_end(ct__solve_state *state, const ct__lm *lm)
{
    const ct_stop stop = state->result->stop;
    if (lm->regular || stop == CT_STOP_CANCELLED || stop == CT_STOP_NOT_FINITE) return;
    if (!ct__solve_factor(state, 0, NULL)) return;
    ct__solve_linearise(state, state->x);
    if (ct__solve_factor(state, 0, NULL) && ct__find_undetermined(state->solver, state->noise, state->x))
        ct__solve_singular(state);
}

void ct__levenberg_marquardt(ct__solve_state *state)
{
    ct__lm lm = ct__lm_begin(state);
    int    over = 0, attempts = 1;
    while (!over && state->result->iterations < state->options->max_iterations) {
        if (state->result->iterations < CT_RESTART_AFTER || attempts > 1) over = ct__lm_iterate(state, &lm);
        else over = ct__restart_undamped(state), attempts++, lm.fresh = 0;
    }
    if (!over) ct__solve_stop(state, CT_STOP_ITERATIONS);
    ct__lm_end(state, &lm);
}
