/* nlopt.c: methods of NLopt in log theta, with and without gradients. They support box bounds only.
 *
 * They minimise log F. The loss at a bad start may be a hundred times that of the answer, and line searches and
 * quadratic models work better on its logarithm.
 *
 * They require F to be a function of p alone, so inner solves always start at the truth. A start at the last solution
 * could follow a bad trial into another minimum; F at the best point would then change. */
#include "learn/learn.h"

#include <math.h>
#include <nlopt.h>

#define LARGE      1e3 /* log F if an inner solve fails */
/* of local methods without gradients, in log variances: a usual error of the closed form. They lengthen it if needed */
#define FIRST_STEP 0.5

typedef struct {
    ct__objective *objective;
    ct__point   at;
    double     *best; /* m */
    double     *box;  /* 3 m: log bounds, first steps */
    double      best_F;
    nlopt_opt   opt;
    ct_status   status;
} nlopt_run;

static nlopt_algorithm algorithm_of(ct_learn_method method)
{
    switch (method) {
    case CT_LEARN_TNEWTON: return NLOPT_LD_TNEWTON_PRECOND_RESTART;
    case CT_LEARN_MMA: return NLOPT_LD_MMA;
    case CT_LEARN_SLSQP: return NLOPT_LD_SLSQP;
    case CT_LEARN_BOBYQA: return NLOPT_LN_BOBYQA;
    case CT_LEARN_SUBPLEX: return NLOPT_LN_SBPLX;
    case CT_LEARN_CRS: return NLOPT_GN_CRS2_LM;
    default: return NLOPT_LD_LBFGS;
    }
}

static int has_gradient(ct_learn_method method) { return ct_learn_method_has(method, CT_LEARN_GRADIENT); }

/* Local methods stop at small steps. crs samples the whole box. */
static int is_local_without_gradient(ct_learn_method method) { return !has_gradient(method) && method != CT_LEARN_CRS; }

/* Counts the point as an iteration and marks the checkpoint. */
static ct_status count_point(const nlopt_run *r)
{
    ct__objective_step(r->objective);
    return ct__outer_checkpoint(r->objective->outer, r->objective->err);
}

/* If inner solves fail, NLopt receives LARGE and a zero gradient. So it does after an interrupt: crs asks for all of
 * its first points before it looks whether it was stopped. */
static double objective(unsigned n, const double *p, double *gradient, void *user)
{
    nlopt_run *r = user;
    if (ct__objective_cancelled(r->objective)) {
        for (unsigned i = 0; gradient && i < n; i++) gradient[i] = 0;
        return LARGE;
    }
    memcpy(r->at.p, p, n * sizeof *p);
    if (r->status == CT_OK) r->status = ct__objective_evaluate(r->objective, &r->at);
    if (r->status == CT_OK && !r->at.failed) r->status = count_point(r);
    if (r->status != CT_OK || ct__objective_cancelled(r->objective)) nlopt_force_stop(r->opt);
    const int bad = r->status != CT_OK || r->at.failed || !isfinite(r->at.F);
    for (unsigned i = 0; gradient && i < n; i++) gradient[i] = bad ? 0 : r->at.gradient[i] / r->at.F;
    if (!bad && r->at.F < r->best_F) {
        r->best_F = r->at.F;
        memcpy(r->best, p, n * sizeof *p);
    }
    return bad ? LARGE : log(r->at.F);
}

static ct_learn_stop stop_of(const ct__objective *e, nlopt_result result)
{
    if (ct__objective_cancelled(e)) return CT_LEARN_STOP_CANCELLED;
    if (result == NLOPT_FTOL_REACHED) return CT_LEARN_STOP_LOSS;
    if (result == NLOPT_XTOL_REACHED) return CT_LEARN_STOP_STEP;
    if (result == NLOPT_MAXEVAL_REACHED) return CT_LEARN_STOP_ITERATIONS;
    if (result > 0) return has_gradient(e->options->method) ? CT_LEARN_STOP_GRADIENT : CT_LEARN_STOP_STEP;
    return CT_LEARN_STOP_STUCK;
}

/* Tolerances. BOBYQA stops by its radius only: two of its values may be nearly equal far from the minimum. crs is
 * global and stops at its limit of evaluations. */
static int set_stops(nlopt_run *r, ct_learn_method method, int max_iterations)
{
    const ct_learn_options *o = r->objective->options;
    int                     bad = nlopt_set_maxeval(r->opt, max_iterations) < 0;
    if (method != CT_LEARN_CRS) bad = bad || nlopt_set_xtol_abs1(r->opt, o->step) < 0;
    if (method != CT_LEARN_CRS && method != CT_LEARN_BOBYQA) bad = bad || nlopt_set_ftol_abs(r->opt, o->relative) < 0;
    return !bad;
}

/* Sets the box and first steps, and clips p to the box. */
static int set_up(nlopt_run *r, ct_learn_method method, double *p)
{
    const ct__objective *e = r->objective;
    const int32_t     m = e->outer->m;
    double           *lower = r->box, *upper = lower + m, *step = upper + m;
    for (int32_t i = 0; i < m; i++) {
        ct_theta_bounds(e->outer->theta, i, &lower[i], &upper[i]);
        lower[i] = log(lower[i]);
        upper[i] = log(upper[i]);
        step[i] = CT_MIN(FIRST_STEP, 0.25 * (upper[i] - lower[i])); /* BOBYQA needs two steps inside the box */
        /* NLopt removes parameters with equal bounds, but requires a step that is not zero */
        if (step[i] == 0) step[i] = FIRST_STEP;
        p[i] = CT_MAX(lower[i], CT_MIN(upper[i], p[i]));
    }
    int bad = nlopt_set_lower_bounds(r->opt, lower) < 0 || nlopt_set_upper_bounds(r->opt, upper) < 0;
    bad = bad || nlopt_set_min_objective(r->opt, objective, r) < 0;
    if (is_local_without_gradient(method)) bad = bad || nlopt_set_initial_step(r->opt, step) < 0;
    if (method == CT_LEARN_CRS) nlopt_srand((unsigned long)e->options->seed); /* the generator of NLopt is per thread */
    return !bad;
}

static ct_status run(nlopt_run *r, ct_learn_method method, int max_iterations, double *p, ct_learn_stop *stop)
{
    const ct__objective *e = r->objective;
    const int32_t     m = e->outer->m;
    double            F;
    if (!set_up(r, method, p) || !set_stops(r, method, max_iterations))
        return ct__no_memory(e->err, "settings of NLopt", 1);
    memcpy(r->best, p, (size_t)m * sizeof *p);
    const nlopt_result result = nlopt_optimize(r->opt, p, &F);
    CT_TRY(r->status);
    if (result == NLOPT_OUT_OF_MEMORY) return ct__no_memory(e->err, "parameters", m);
    *stop = stop_of(e, result);
    memcpy(p, r->best, (size_t)m * sizeof *p); /* some methods do not return their best point */
    ct_theta_project(e->outer->theta, CT_SPACE_LOG, p);
    return CT_OK;
}

ct_status ct__learn_nlopt(ct__objective *e, ct_learn_method method, int max_iterations, double *p, ct_learn_stop *stop)
{
    nlopt_run r = {.objective = e, .best_F = INFINITY, .status = CT_OK};
    CT_TRY(ct__box_check(e->outer, method, e->err));
    CT_TRY(ct__outer_start_over(e->outer, e->err));
    ct__objective_begin(e);
    ct_status status = ct__point_new(e, 0, &r.at, e->err);
    r.opt = nlopt_create(algorithm_of(method), (unsigned)e->outer->m);
    r.best = ct__zalloc(4 * (int64_t)e->outer->m, sizeof *r.best);
    r.box = r.best ? r.best + e->outer->m : NULL;
    if (!has_gradient(method)) r.at.gradient = NULL;
    if (status == CT_OK && (!r.opt || !r.best)) status = ct__no_memory(e->err, "parameters", e->outer->m);
    if (status == CT_OK) status = run(&r, method, max_iterations, p, stop);
    nlopt_destroy(r.opt);
    free(r.best);
    ct__point_free(&r.at);
    return status;
}
