/* converge.c: the distance of x from the minimum, and the last steps to it.
 *
 * The error alone does not show a minimum. If a few residuals are a million sigmas, the possible decrease of a weak
 * measurement is below the last digits of the sum. The Newton decrement
 *
 *     d = sqrt(g'H^-1 g) = sqrt(2 * predicted decrease of the undamped step)
 *
 * is invariant to that, and to units. In the metric of H it is the length of the step, so |dx_i| <= d sigma_i for every
 * coordinate with its standard deviation sigma_i. A step leaves e d of it, and e is estimated in two ways:
 *
 *     model         e = sqrt(|1 - decrease / predicted|)  a relative error e of the step costs e^2 of its decrease, a
 *                                                         relative error e of H costs e: the root bounds both
 *     contraction   e = q / (1 - q), q = d / d_before     linear convergence continues at its rate
 *
 * The smaller one is used. The first is limited by the rounding of the error. The second assumes that all directions
 * converge alike. So it takes the larger ratio of three steps. It is not used if a pivot is weak, where the step's own
 * rounding decides, nor in small graphs, where one slow direction is a large part and a further step costs little.
 *
 * The decrement is only as accurate as g. If g is the remainder of terms that cancel, J'r with |r| of a million sigmas,
 * its rounding may be many standard deviations of a weak direction. ct__reach_minimum measures that:
 *
 *     floor = sqrt(e'H^-1 e),  e_i = eps * sqrt(sum_k (J_ki r_k)^2) with random signs
 *
 * over the factors whose Jacobians are rounded. Those of vector spaces are exact. */
#include "solve/solve.h"
#include "sparse/sparse.h"

#include <math.h>

#define SMALL_GRAPH    100.0 /* unknowns: below, a single one may have the whole distance */
#define CONTRACTS_FROM 1000  /* unknowns */
#define HALVINGS_MAX   30
#define EPS            2.3e-16
#define ENOUGH         0.1
/* rounding error of a Jacobian's entry, in EPS; confirmed against quadruple precision */
#define JACOBIAN_EPS   1.0
#define FLOOR_DRAWS    3     /* the largest of so many draws is used            */
#define WEAKEST        1e-10 /* of a pivot to its original value; below it is weak (CT_WEAK_RATIO) */

double ct__decrement(double promised) { return promised >= 0 ? sqrt(2 * promised) : INFINITY; }

double ct__promised(const ct_solver *s)
{
    const double *g = ct_sparse_gradient(s->system);
    double        sum = 0;
    for (int32_t i = 0; i < s->scalars; i++) sum -= g[i] * s->dx[i];
    return 0.5 * sum;
}

double ct__distance_allowed(const ct__solve_state *state)
{
    const double n = state->solver->scalars;
    return state->options->distance * CT_MAX(1, CT_MIN(pow(n / SMALL_GRAPH, 1.5), 2 * sqrt(n)));
}

double ct__distance_left(ct__solve_state *state, double decrement, double before, double promised)
{
    const double missed = CT_MAX(fabs(before - state->error - promised), CT_ROUNDING * before);
    const double by_model = missed < promised ? sqrt(missed / promised) : 1;
    const double ratio = decrement / state->decrement, q = CT_MAX(ratio, state->ratio); /* ratio 0: no step before */
    const int regular = state->solver->scalars > CONTRACTS_FROM && state->decrement < INFINITY && state->ratio > 0 &&
                        ct_sparse_weak_count(state->solver->system) == 0;
    const double by_contraction = regular && q < 1 ? q / (1 - q) : 1;
    state->stalls = decrement < CT_STALLED * state->least ? 0 : state->stalls + 1;
    state->least = CT_MIN(state->least, decrement);
    state->decrement = decrement;
    state->ratio = ratio;
    return decrement > 0 ? decrement * CT_MIN(CT_MIN(by_contraction, by_model), 1) : 0;
}

void ct__distance_unknown(ct__solve_state *state)
{
    state->decrement = INFINITY;
    state->ratio = 0;
    state->result->distance = NAN;
}

int ct__is_rounding_limited(const ct__solve_state *state)
{
    const ct_solver *s = state->solver;
    if (state->options->distance == 0 || s->approximate || !ct_stop_converged(state->result->stop) || !s->scalars)
        return 0;
    if (ct__decrement(state->error) <= ct__distance_allowed(state)) return 0; /* no step gains more than the error */
    /* e'H^-1 e <= eps^2 sum_i H_ii Cov_ii sum_k r_k^2, and H_ii Cov_ii is what elimination takes away of a pivot */
    const double g_floor = JACOBIAN_EPS * EPS * sqrt(2 * state->error * s->scalars / WEAKEST);
    return ct_sparse_weak_count(s->system) > 0 || g_floor > ct__distance_allowed(state) ||
           state->residual_rounding > state->options->distance;
}

/* How the undamped step is found. */
typedef enum {
    BY_HESSIAN,  /* the exact one                                  */
    BY_JACOBIAN, /* J'J                                            */
    BY_CONJUGATE /* J'J, where elimination loses a weak direction  */
} step_solver;

/* The undamped step at x, into dx, and its predicted decrease. The gradient is summed without rounding.
 * Begins with *by, and goes on to the next way where that is no good. 0 if there is none: the solve is over. */
static int undamped_step(ct__solve_state *state, step_solver *by, double *promised)
{
    ct_solver *s = state->solver;
    double    *g = ct_sparse_gradient(s->system);
    for (;; ++*by) {
        if (*by == BY_HESSIAN) ct__solve_linearise_exact(state, state->x);
        else if (*by == BY_JACOBIAN) ct__solve_linearise(state, state->x);
        if (ct__solve_not_finite(state)) return 0;
        if (*by != BY_CONJUGATE) {
            ct__gradient_refined(s, state->noise, state->x, g, s->newton, s->scale);
            const int32_t weak = ct__solve_factor(state, 0, NULL);
            if (weak && *by == BY_HESSIAN) continue;
            if (weak && ct__find_undetermined(s, state->noise, state->x) && ct__solve_singular(state) &&
                !state->unproven)
                return 0;
            if (weak) continue;
            ct__solve_step(state, s->dx);
            *promised = ct__promised(s);
        } else {
            state->unproven = 0;
            if (!ct__conjugate_begin(state)) return !ct__solve_stop(state, CT_STOP_ROUNDING);
            *promised = 0.5 * ct__conjugate_solve(state, g, s->dx);
            for (int32_t i = 0; i < s->scalars; i++) s->dx[i] = -s->dx[i];
        }
        if (*by == BY_HESSIAN) s->exact = CT_EXACT_FACTORED;
        if (isfinite(ct__largest(s->dx, s->scalars)) && *promised >= 0) return 1;
        if (*by == BY_CONJUGATE) return !ct__solve_stop(state, CT_STOP_STUCK);
    }
}

/* The effect of g's rounding at x, in standard deviations, with steps computed the same way. */
static double rounding_floor(ct__solve_state *state, step_solver by)
{
    ct_solver *s = state->solver;
    double    *e = s->aside, *v = s->dx, worst = 0; /* there are at least as many values as scalars */
    ct_rng     rng = ct_rng_seed(1);
    ct__gradient_refined(s, state->noise, state->x, v, s->newton, e);
    for (int32_t i = 0; i < s->scalars; i++) e[i] = JACOBIAN_EPS * EPS * sqrt(e[i]);
    for (int draw = 0; draw < FLOOR_DRAWS; draw++) {
        double sum = 0;
        for (int32_t i = 0; i < s->scalars; i++) e[i] = ct_rng_uniform(&rng) < 0.5 ? -e[i] : e[i];
        if (by == BY_CONJUGATE) ct__conjugate_solve(state, e, v);
        else {
            memcpy(v, e, (size_t)s->scalars * sizeof *v);
            ct__sparse_solve_one(s->system, v, s->system->work);
        }
        for (int32_t i = 0; i < s->scalars; i++) sum += e[i] * v[i];
        worst = CT_MAX(worst, sum);
    }
    return sqrt(worst);
}

/* Moves x along dx by the first of 1, 1/2, 1/4 ... that does not raise the error. A whole step that promises less
 * than the error is uncertain by need not be seen to lower it. Returns that, 0 if there is none. */
static double line_search(ct__solve_state *state, double promised)
{
    const double rounding = ct__error_rounding(state, state->error);
    double       alpha = 1;
    for (int k = 0; k < HALVINGS_MAX; k++, alpha /= 2) {
        ct__retract(state->solver, state->x, alpha, state->solver->dx, state->solver->trial);
        const double error = ct__error(state->solver, state->noise, state->solver->trial);
        if (!(error <= state->error + (promised <= rounding ? rounding : CT_ROUNDING * state->error))) continue;
        ct__solve_accept(state, error);
        return alpha;
    }
    return 0;
}

/* Pivots of the last factoring that were not positive. */
static int32_t lost_pivots(const ct_solver *s)
{
    int32_t lost = 0;
    for (int32_t i = 0; i < s->system->weak_count; i++) lost += s->system->weak[i] < 0;
    return lost;
}

/* J'r = 0 at x, by steps of J'J, which do not see whether that is a saddle. It is where the exact Hessian has a
 * pivot that is not positive; where J'J has lost one to rounding, nobody can tell. */
static ct_stop check_minimum(ct__solve_state *state, ct_stop ruled)
{
    ct__solve_linearise(state, state->x);
    ct__solve_factor(state, 0, NULL);
    if (lost_pivots(state->solver)) return CT_STOP_ROUNDING;
    ct__solve_linearise_exact(state, state->x);
    ct__solve_factor(state, 0, NULL);
    state->solver->exact = CT_EXACT_NOT;
    return lost_pivots(state->solver) ? CT_STOP_STUCK : ruled;
}

/* Apparently at a minimum: checks that rounding allows the conclusion. */
static void check_rounding(ct__solve_state *state, ct_stop ruled, double left, step_solver by)
{
    const double floor = rounding_floor(state, by);
    state->result->distance = CT_MAX(left, floor);
    if (floor > ct__distance_allowed(state)) ct__solve_stop(state, CT_STOP_ROUNDING);
    else ct__solve_stop(state, by == BY_CONJUGATE ? check_minimum(state, ruled) : ruled);
}

/* No progress: either rounding hides the predicted decrease, or the model is wrong, as at a kink. */
static void stop_without_progress(ct__solve_state *state, double promised)
{
    ct__solve_stop(state, promised <= ct__error_rounding(state, state->error) ? CT_STOP_ROUNDING : CT_STOP_STUCK);
}

/* Steps of J'J converge slowly where residuals are large, those of the exact Hessian do not; but that need not be
 * positive definite. So it is tried at first, and after it failed again after 1, 2, 4, ... steps of J'J. */
void ct__reach_minimum(ct__solve_state *state)
{
    ct_solver    *s = state->solver;
    const ct_stop ruled = state->result->stop == CT_STOP_STUCK ? CT_STOP_ERROR : state->result->stop;
    const double  allowed = ct__distance_allowed(state);
    int           wait = 0, next_wait = 1, last = 0;
    state->unproven = state->stalls = 0;
    state->least = INFINITY;
    ct__distance_unknown(state);
    for (;;) {
        const int wanted = wait == 0;
        step_solver by = wanted ? BY_HESSIAN : BY_JACOBIAN;
        double    promised = 0;
        if (!undamped_step(state, &by, &promised)) return;
        const double d = ct__decrement(promised), before = state->error, step = ct__largest(s->dx, s->scalars);
        const int    exact = by == BY_HESSIAN;
        state->result->distance = d;
        if (d <= ENOUGH * allowed || (d <= allowed && last)) {
            check_rounding(state, ruled, d, by);
            return;
        }
        last = d <= allowed; /* one more step costs little, and is a margin for the estimate */
        if (state->result->iterations >= state->options->max_iterations && ct__solve_stop(state, CT_STOP_ITERATIONS))
            return;
        state->result->iterations++;
        const double alpha = line_search(state, promised);
        if (wanted && !(exact && alpha == 1)) wait = next_wait, next_wait *= 2; /* the exact H does not help here */
        else if (wait > 0) wait--;
        if (alpha == 0 && exact) continue;
        if (alpha == 0) {
            stop_without_progress(state, promised);
            return;
        }
        s->exact = CT_EXACT_NOT;
        if (ct__solve_report(state, 1, alpha * step, 0)) return;
        ct__distance_left(state, d, before, promised);
        if (alpha < 1) ct__distance_unknown(state);
        state->result->distance = d;
        if (state->stalls >= CT_STALLS_MAX && before - state->error <= CT_STANDS_STILL * before) {
            stop_without_progress(state, promised);
            return;
        }
    }
}

ct_status ct_solver_distance(ct_solver *solver, const ct_noise *noise, const double *x, double *distance, ct_err *err)
{
    const ct_solve_options usual = ct_solve_defaults();
    ct_solve_result        result = {.distance = NAN};
    /* x is evaluated, not changed */
    ct__solve_state state = {.solver = solver,
                           .noise = noise,
                           .options = &usual,
                           .result = &result,
                           .x = (double *)(uintptr_t)x,
                           .start_s = ct_now_s()};
    double        promised = 0;
    step_solver by = solver->approximate ? BY_JACOBIAN : BY_HESSIAN;
    *distance = NAN;
    CT_TRY(ct_graph_check_noise(solver->graph, noise, err));
    CT_TRY(ct__refresh_noise(solver, noise, err));
    ct__team own;
    ct__sparse_enter(solver->system, &own);
    if (!solver->scalars) *distance = 0;
    else if (undamped_step(&state, &by, &promised)) {
        const double d = ct__decrement(promised), floor = rounding_floor(&state, by);
        *distance = CT_MAX(d, floor);
    }
    ct__sparse_leave(solver->system, &own);
    return CT_OK;
}
