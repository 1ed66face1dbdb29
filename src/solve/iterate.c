/* iterate.c: ct_solver_run, the steps that all methods share, and covariances. */
#include "graph/graph.h"
#include "solve/solve.h"
#include "sparse/sparse.h"

#include <math.h>

#define USABLE 1e-2 /* standard deviations */

/* ---- names ---- */

static const char *const method_names[] = {
#define X(constant, name) name,
    CT_METHOD_LIST(X)
#undef X
};
static const char *const stop_names[] = {
#define X(constant, name, meaning) name,
    CT_STOP_LIST(X)
#undef X
};
static const char *const stop_meanings[] = {
#define X(constant, name, meaning) meaning,
    CT_STOP_LIST(X)
#undef X
};

const char *ct_method_name(ct_method method) { return ct__name_at(method_names, CT_METHOD_COUNT, (int)method); }
const char *ct_stop_name(ct_stop stop) { return ct__name_at(stop_names, CT_STOP_COUNT, (int)stop); }
const char *ct_stop_meaning(ct_stop stop) { return ct__name_at(stop_meanings, CT_STOP_COUNT, (int)stop); }
int ct_stop_converged(ct_stop stop)
{
    return stop == CT_STOP_ERROR || stop == CT_STOP_STEP || stop == CT_STOP_GRADIENT;
}

int ct_solve_usable(const ct_solve_result *r)
{
    return ct_stop_converged(r->stop) || (r->stop == CT_STOP_ROUNDING && r->distance <= USABLE);
}

int ct_method_find(const char *name) { return ct__find_name(name, method_names, CT_METHOD_COUNT); }

/* No damping at first, and a large trust region: pose graphs have directions a million times weaker than diag(H), which
 * a lambda of 1e-4 would slow convergence down for thirty iterations, and a failed step is detected at once. */
ct_solve_options ct_solve_defaults(void)
{
    return (ct_solve_options){.method = CT_LEVENBERG_MARQUARDT,
                              .max_iterations = 300,
                              .relative = 1e-9,
                              .absolute = 1e-12,
                              .step = 1e-9,
                              .distance = 1e-6,
                              .lambda = 0,
                              .radius = 1e8,
                              .threads = 1};
}

/* ---- steps ---- */

/* Of the error: a fall that need not be there to be found. Coordinates of 1e7 m and sigmas of a millimetre cost
 * each residual 1e-6 sigmas of rounding, and the error as much of itself. */
#define LOST_IN_ROUNDING 1e-6
double ct__largest(const double *v, int32_t n)
{
    double largest = 0, poison = 0; /* 0 * v is NaN where v is NaN or infinite */
    for (int32_t i = 0; i < n; i++) {
        const double size = fabs(v[i]);
        largest = size > largest ? size : largest;
        poison += 0 * size;
    }
    return largest + poison;
}

double ct__solve_linearise(ct__solve_state *state, const double *x)
{
    const double begin = ct_now_s(), error = ct__linearise(state->solver, state->noise, x);
    state->result->gradient = ct__largest(ct_sparse_gradient(state->solver->system), state->solver->scalars);
    state->result->linearisations++;
    state->result->linearise_s += ct_now_s() - begin;
    return error;
}

double ct__solve_linearise_exact(ct__solve_state *state, const double *x)
{
    const double begin = ct_now_s(), error = ct__linearise_exact(state->solver, state->noise, x);
    state->result->gradient = ct__largest(ct_sparse_gradient(state->solver->system), state->solver->scalars);
    state->result->linearisations++;
    state->result->linearise_s += ct_now_s() - begin;
    return error;
}

int32_t ct__solve_factor(ct__solve_state *state, double lambda, const double *scale)
{
    const double  begin = ct_now_s();
    const int32_t weak = ct_sparse_factor(state->solver->system, lambda, scale);
    state->result->factorisations++;
    state->result->factor_s += ct_now_s() - begin;
    return weak;
}

void ct__solve_step(ct__solve_state *state, double *dx)
{
    const double begin = ct_now_s();
    ct_sparse_step(state->solver->system, dx);
    state->result->solve_s += ct_now_s() - begin;
}

int ct__solve_stop(ct__solve_state *state, ct_stop stop)
{
    state->result->stop = stop;
    return 1;
}

void ct__solve_accept(ct__solve_state *state, double error)
{
    memcpy(state->x, state->solver->trial, (size_t)state->solver->graph->size * sizeof *state->x);
    state->error = error;
}

#define CONVERGING 0.5 /* of a decrement to the one before */

/* Ends the solve at a minimum if it is near enough. Else it goes on, where undamped steps come nearer, or that is left
 * to ct__reach_minimum. */
static int stop_at_minimum(ct__solve_state *state, ct_stop stop, int near)
{
    if (!near && state->ratio > 0 && state->ratio < CONVERGING && ct_sparse_weak_count(state->solver->system) == 0)
        return 0;
    state->unproven = !near;
    return ct__solve_stop(state, stop);
}

int ct__solve_converged(ct__solve_state *state, double before, double step, double promised, int undamped)
{
    const ct_solve_options *o = state->options;
    const double            fall = before - state->error;
    if (undamped) state->result->distance = ct__distance_left(state, ct__decrement(promised), before, promised);
    else ct__distance_unknown(state);
    /* no step decreases the error by more */
    if (ct__decrement(state->error) < state->result->distance) state->result->distance = ct__decrement(state->error);
    const int near =
        o->distance == 0 || state->solver->approximate || state->result->distance <= ct__distance_allowed(state);
    if (state->result->gradient < o->gradient) return stop_at_minimum(state, CT_STOP_GRADIENT, near);
    if (step < o->step) return stop_at_minimum(state, CT_STOP_STEP, near);
    if (o->relative > 0 && fall <= o->relative * before) return stop_at_minimum(state, CT_STOP_ERROR, near);
    if (o->absolute > 0 && fall <= o->absolute) return stop_at_minimum(state, CT_STOP_ERROR, near);
    if (state->stalls >= CT_STALLS_MAX && fall <= CT_STANDS_STILL * before)
        return stop_at_minimum(state, CT_STOP_STEP, near);
    return 0;
}

double ct__error_rounding(const ct__solve_state *state, double error)
{
    return CT_ROUNDING * error + sqrt(2 * error) * state->residual_rounding;
}

/* Largest |coordinate| times largest 1 / sigma, sigma of a factor: sqrt(m) times its model's. */
static double find_residual_rounding(const ct_solver *solver, const ct_noise *noise, const double *x)
{
    double finest = 0;
    for (int32_t k = 0; k < ct_noise_count(noise); k++) {
        const ct_noise_model *m = ct_noise_get(noise, k);
        const int             step = m->kind == CT_NOISE_FULL ? m->dim + 1 : 1;
        for (int i = 0; i < m->dim; i++) finest = CT_MAX(finest, m->sqrt_info[i * step]);
    }
    finest /= sqrt(solver->least_multiplier);
    return CT_RESIDUAL_ROUNDING * ct__largest(x, (int32_t)CT_MIN(solver->graph->size, INT32_MAX)) * finest;
}

double ct__solve_gain(const ct__solve_state *state, double error, double promised, int whole)
{
    if (!isfinite(error) || !(promised > 0)) return -1;
    const double rounding = ct__error_rounding(state, state->error), fall = state->error - error;
    return whole && promised <= rounding && fall >= -rounding ? 1 : fall / promised;
}

int ct__solve_is_rank_deficient(ct__solve_state *state, int32_t weak)
{
    if (weak == state->weak_but_determined) return 0;
    state->weak_but_determined = weak;
    return ct__find_undetermined(state->solver, state->noise, state->x) > 0;
}

int ct__solve_singular(ct__solve_state *state)
{
    int deficient = state->options->distance == 0 || state->solver->approximate;
    for (int32_t v = 0; v < state->solver->graph->variables; v++)
        deficient |= state->solver->undetermined[v] & CT_UNDETERMINED_ANY;
    if (deficient) return ct__solve_stop(state, CT_STOP_RANK);
    ct__forget_undetermined(state);
    state->unproven = 1;
    return ct__solve_stop(state, CT_STOP_STUCK);
}

void ct__forget_undetermined(ct__solve_state *state)
{
    memset(state->solver->undetermined, 0, (size_t)state->solver->graph->variables);
    state->solver->undetermined_count = state->weak_but_determined = 0;
}

int ct__solve_not_finite(ct__solve_state *state)
{
    return isfinite(state->error) && isfinite(state->result->gradient) ? 0 : ct__solve_stop(state, CT_STOP_NOT_FINITE);
}

int ct__solve_given_up(ct__solve_state *state, double step, double promised, int undamped, int exhausted)
{
    const ct_solve_options *o = state->options;
    const int               free = o->distance == 0 || state->solver->approximate;
    const int               near = free || (undamped && ct__decrement(promised) <= ct__distance_allowed(state));
    if (near && undamped) state->result->distance = ct__decrement(promised);
    if (promised > 0 && promised <= CT_MAX(o->relative * state->error, o->absolute))
        return stop_at_minimum(state, CT_STOP_ERROR, near);
    if (!exhausted) return 0;
    if (free)
        return ct__solve_stop(state, step < o->step || promised <= LOST_IN_ROUNDING * state->error ? CT_STOP_STEP
                                                                                               : CT_STOP_STUCK);
    return stop_at_minimum(state, near ? CT_STOP_STEP : CT_STOP_STUCK, near);
}

int ct__solve_report(ct__solve_state *state, int accepted, double step, double damping)
{
    if (!state->options->progress) return 0;
    const ct_progress p = {.iteration = state->result->iterations,
                           .accepted = accepted,
                           .error = state->error,
                           .step = step,
                           .gradient = state->result->gradient,
                           .damping = damping,
                           .seconds = ct_now_s() - state->start_s};
    return state->options->progress(state->options->user, &p) ? ct__solve_stop(state, CT_STOP_CANCELLED) : 0;
}

/* ---- the whole ---- */

static ct_status check_options(const ct_solve_options *o, ct_err *err)
{
    const struct {
        const char *name;
        double      value;
    } rule[] = {{"relative", o->relative}, {"absolute", o->absolute}, {"step", o->step},    {"gradient", o->gradient},
                {"distance", o->distance}, {"lambda", o->lambda},     {"radius", o->radius}};
    for (size_t i = 0; i < sizeof rule / sizeof *rule; i++)
        if (!(rule[i].value >= 0 && isfinite(rule[i].value)))
            return ct_fail(err, CT_E_ARGUMENT, "option %s is %g; it must be finite and not negative", rule[i].name,
                           rule[i].value);
    if (o->method == CT_DOGLEG && !(o->radius > 0))
        return ct_fail(err, CT_E_ARGUMENT, "option radius is %g; dogleg needs a positive one", o->radius);
    if ((unsigned)o->method >= CT_METHOD_COUNT)
        return ct_fail(err, CT_E_ARGUMENT, "there is no method %d", (int)o->method);
    if (o->threads < 0)
        return ct_fail(err, CT_E_ARGUMENT, "option threads is %d; it must be 1 or more, or 0 for all processors",
                       o->threads);
    return CT_OK;
}

static void run_method(ct__solve_state *state)
{
    ct_solver       *solver = state->solver;
    ct_solve_result *result = state->result;
    const int        exact = state->options->method == CT_NEWTON && !solver->approximate;
    state->error = exact ? ct__solve_linearise_exact(state, state->x) : ct__solve_linearise(state, state->x);
    result->initial_error = state->error;
    if (!ct__solve_not_finite(state) && !solver->scalars) ct__solve_stop(state, CT_STOP_GRADIENT);
    else if (result->stop == CT_STOP_NONE && !ct__solve_report(state, 1, 0, 0)) switch (state->options->method) {
        case CT_GAUSS_NEWTON: ct__gauss_newton(state); break;
        case CT_DOGLEG: ct__dogleg(state); break;
        case CT_NEWTON: ct__newton(state); break;
        default: ct__levenberg_marquardt(state); break;
        }
    if (ct__is_rounding_limited(state)) state->unproven = 1;
    if (state->unproven && (ct_stop_converged(result->stop) || result->stop == CT_STOP_STUCK)) ct__reach_minimum(state);
    if (solver->approximate && (ct_stop_converged(result->stop) || result->stop == CT_STOP_STUCK)) ct__polish(state);
}

ct_status ct_solver_run(ct_solver *solver, const ct_noise *noise, double *x, const ct_solve_options *options,
                        ct_solve_result *result, ct_err *err)
{
    const ct_solve_options defaults = ct_solve_defaults();
    ct__solve_state state = {.solver = solver,
                           .noise = noise,
                           .options = options ? options : &defaults,
                           .result = result,
                           .x = x,
                           .start_s = ct_now_s(),
                           .decrement = INFINITY,
                           .least = INFINITY};
    *result = (ct_solve_result){.distance = NAN};
    CT_TRY(check_options(state.options, err));
    CT_TRY(ct_graph_check_noise(solver->graph, noise, err));
    CT_TRY(ct__refresh_noise(solver, noise, err));
    state.residual_rounding = find_residual_rounding(solver, noise, x);
    if (solver->graph->variables) memset(solver->undetermined, 0, (size_t)solver->graph->variables);
    solver->undetermined_count = 0;
    if (solver->graph->size) {
        memcpy(solver->trial, x, (size_t)solver->graph->size * sizeof *x); /* so that fixed variables are in both */
        memcpy(solver->start, x, (size_t)solver->graph->size * sizeof *x);
    }
    ct__team own;
    ct__share_work(solver, state.options->threads);
    ct__sparse_enter(solver->system, &own);
    ct__share_prepare(solver);
    run_method(&state);
    ct__sparse_leave(solver->system, &own);
    result->final_error = state.error;
    result->undetermined = solver->undetermined_count;
    result->seconds = ct_now_s() - state.start_s;
    return CT_OK;
}

ct_status ct_solver_linearise(ct_solver *solver, const ct_noise *noise, const double *x, ct_err *err)
{
    char text[256];
    CT_TRY(ct_graph_check_noise(solver->graph, noise, err));
    CT_TRY(ct__refresh_noise(solver, noise, err));
    ct__team own;
    ct__sparse_enter(solver->system, &own);
    const int finite = isfinite(ct__linearise(solver, noise, x));
    if (finite) ct_sparse_factor(solver->system, 0, NULL);
    const int32_t undetermined = finite ? ct__find_undetermined(solver, noise, x) : 0;
    ct__sparse_leave(solver->system, &own);
    if (!finite) return ct_fail(err, CT_E_ARGUMENT, "the error at these values is not finite");
    if (undetermined)
        return ct_fail(err, CT_E_SINGULAR, "%s", ct_solver_undetermined_text(solver, text, sizeof text));
    solver->ready = 1;
    return CT_OK;
}

static ct_status check_ready(const ct_solver *solver, int32_t var, ct_err *err)
{
    char name[128];
    if (!solver->ready || solver->system->lambda != 0)
        return ct_fail(err, CT_E_ARGUMENT, "covariances need ct_solver_linearise first");
    if (var < 0 || var >= solver->graph->variables)
        return ct_fail(err, CT_E_ARGUMENT, "variable %d of %d does not exist", var, solver->graph->variables);
    if (solver->block_of[var] < 0)
        return ct_fail(err, CT_E_ARGUMENT, "%s is fixed: it has no covariance",
                       ct_graph_name(solver->graph, var, name, sizeof name));
    return CT_OK;
}

ct_status ct_solver_marginals(const ct_solver *solver, int32_t count, const int32_t var[], double *const out[],
                              ct_err *err)
{
    for (int32_t k = 0; k < count; k++) CT_TRY(check_ready(solver, var[k], err));
    int32_t *block = ct__zalloc(count, sizeof *block);
    if (!block) return ct__no_memory(err, "marginals", count);
    for (int32_t k = 0; k < count; k++) block[k] = solver->block_of[var[k]];
    const ct_status status = ct__covariance(solver, count, block, block, out, err);
    free(block);
    return status;
}

ct_status ct_solver_cross(const ct_solver *solver, int32_t a, int32_t b, double *out, ct_err *err)
{
    CT_TRY(check_ready(solver, a, err));
    CT_TRY(check_ready(solver, b, err));
    return ct__covariance(solver, 1, &solver->block_of[a], &solver->block_of[b], &out, err);
}
