/* nlopt.c: NLopt's gradient methods in log theta. They know boxes alone. What they are given is log F: the loss of a bad start is a hundred times that of the
 * answer, and line searches do better on its logarithm. */
#include "learn/learn.h"

#include <math.h>
#include <nlopt.h>

#define LARGE 1e3 /* for log F where there is none */

typedef struct {
    ct__effort *effort;
    ct__point   at;
    double     *best; /* m */
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
    default: return NLOPT_LD_LBFGS;
    }
}

/* Where inner solves fail NLopt is told a large loss and no slope. */
static double objective(unsigned n, const double *p, double *gradient, void *user)
{
    nlopt_run *r = user;
    memcpy(r->at.p, p, n * sizeof *p);
    if (r->status == CT_OK) r->status = ct__effort_evaluate(r->effort, &r->at);
    if (r->status == CT_OK && !r->at.failed) r->status = ct__effort_accept(r->effort);
    if (r->status != CT_OK || ct__effort_cancelled(r->effort)) nlopt_force_stop(r->opt);
    const int bad = r->status != CT_OK || r->at.failed || !isfinite(r->at.F);
    for (unsigned i = 0; gradient && i < n; i++) gradient[i] = bad ? 0 : r->at.gradient[i] / r->at.F;
    if (!bad && r->at.F < r->best_F) {
        r->best_F = r->at.F;
        memcpy(r->best, p, n * sizeof *p);
    }
    return bad ? LARGE : log(r->at.F);
}

static ct_learn_stop stop_of(const ct__effort *e, nlopt_result result)
{
    if (ct__effort_cancelled(e)) return CT_LEARN_STOP_CANCELLED;
    if (result == NLOPT_FTOL_REACHED) return CT_LEARN_STOP_LOSS;
    if (result == NLOPT_XTOL_REACHED) return CT_LEARN_STOP_STEP;
    if (result == NLOPT_MAXEVAL_REACHED) return CT_LEARN_STOP_ITERATIONS;
    return result > 0 ? CT_LEARN_STOP_GRADIENT : CT_LEARN_STOP_STUCK;
}

static ct_status run(nlopt_run *r, int max_iterations, double *p, ct_learn_stop *stop)
{
    const ct__effort *e = r->effort;
    const int32_t     m = e->outer->m;
    double            F;
    for (int32_t i = 0; i < m; i++) { /* log bounds lie in at.gradient and at.p until the first evaluation */
        double lower, upper;
        ct_theta_bounds(e->outer->theta, i, &lower, &upper);
        r->at.p[i] = log(lower);
        r->at.gradient[i] = log(upper);
        p[i] = CT_MAX(r->at.p[i], CT_MIN(r->at.gradient[i], p[i]));
    }
    memcpy(r->best, p, (size_t)m * sizeof *p);
    int bad = nlopt_set_lower_bounds(r->opt, r->at.p) < 0 || nlopt_set_upper_bounds(r->opt, r->at.gradient) < 0;
    bad = bad || nlopt_set_min_objective(r->opt, objective, r) < 0 || nlopt_set_maxeval(r->opt, max_iterations) < 0;
    bad = bad || nlopt_set_ftol_abs(r->opt, e->options->relative) < 0 || nlopt_set_xtol_abs1(r->opt, e->options->step) < 0;
    if (bad) return ct_fail(e->err, CT_E_MEMORY, "NLopt refused its settings");
    const nlopt_result result = nlopt_optimize(r->opt, p, &F);
    CT_TRY(r->status);
    if (result == NLOPT_OUT_OF_MEMORY) return ct__no_memory(e->err, "parameters", m);
    *stop = stop_of(e, result);
    memcpy(p, r->best, (size_t)m * sizeof *p); /* some of its methods end elsewhere */
    ct_theta_project(e->outer->theta, CT_SPACE_LOG, p);
    return CT_OK;
}

ct_status ct__learn_nlopt(ct__effort *e, ct_learn_method method, int max_iterations, double *p, ct_learn_stop *stop)
{
    nlopt_run r = {.effort = e, .best_F = INFINITY, .status = CT_OK};
    CT_TRY(ct__box_check(e, method));
    ct__effort_begin(e);
    ct_status status = ct__point_new(e, 0, &r.at, e->err);
    r.opt = nlopt_create(algorithm_of(method), (unsigned)e->outer->m);
    r.best = ct__zalloc(e->outer->m, sizeof *r.best);
    if (status == CT_OK && (!r.opt || !r.best)) status = ct__no_memory(e->err, "parameters", e->outer->m);
    if (status == CT_OK) status = run(&r, max_iterations, p, stop);
    nlopt_destroy(r.opt);
    free(r.best);
    ct__point_free(&r.at);
    return status;
}
