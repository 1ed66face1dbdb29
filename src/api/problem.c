/* problem.c: a graph, its noise models and its values in one handle; batch and incremental.
 *
 * Both estimate the same graph. `x` has the values of the last solve or update. The solver is made when it is first
 * needed and again after the graph has changed; the smoother lives on, and takes what was added since. */
#include "base/base.h"
#include "graph/graph.h"

#include <covtune/api.h>

#include <math.h>

struct ct_problem {
    ct_noise    *noise;
    ct_sequence *seq;   /* owns the graph and its shapes if it was read from a file, else NULL */
    ct_graph    *graph;
    double      *x;
    int64_t      capacity, used; /* doubles in x: room, and those that variables have */
    ct_solver   *solver;         /* NULL: to be made                                  */
    int          linearised;     /* the solver, at x                                  */
    ct_smoother *smoother;       /* NULL: no update yet                               */
    int32_t      variables, factors; /* that the smoother has                         */
    int          incremental;    /* the last of solve and update was an update        */
};

static ct_status no_problem(ct_err *err) { return ct_fail(err, CT_E_ARGUMENT, "there is no problem"); }

static ct_status check_variable(const ct_problem *p, int32_t v, ct_err *err)
{
    const int32_t n = ct_graph_variables(p->graph);
    if (v < 0 || v >= n) return ct_fail(err, CT_E_ARGUMENT, "variable %d is not one of the %d there are", v, n);
    return CT_OK;
}

/* ---- Building -------------------------------------------------------------------------------- */

/* x <- the initial values of variables that are new in the graph. */
static ct_status extend(ct_problem *p, ct_err *err)
{
    const int64_t size = ct_graph_size(p->graph);
    CT_TRY(ct__grow(&p->x, &p->capacity, size, sizeof *p->x, "values", err));
    for (; p->used < size; p->used++) p->x[p->used] = ct_graph_initial_const(p->graph)[p->used];
    return CT_OK;
}

/* The graph has changed: what was analysed no longer fits. */
static void forget(ct_problem *p)
{
    ct_solver_free(p->solver);
    p->solver = NULL;
    p->linearised = 0;
}

ct_status ct_problem_new(ct_problem **out, ct_err *err)
{
    *out = NULL;
    ct_problem *p = ct__zalloc(1, sizeof *p);
    ct_status   status = p ? ct_noise_new(&p->noise, err) : ct__no_memory(err, "problems", 1);
    if (status == CT_OK) status = ct_graph_new(&p->graph, err);
    if (status == CT_OK) *out = p;
    else ct_problem_free(p);
    return status;
}

ct_status ct_problem_read(const char *path, ct_problem **out, ct_err *err)
{
    *out = NULL;
    if (!path) return ct_fail(err, CT_E_ARGUMENT, "there is no path to read from");
    ct_problem *p = ct__zalloc(1, sizeof *p);
    ct_status   status = p ? ct_noise_new(&p->noise, err) : ct__no_memory(err, "problems", 1);
    if (status == CT_OK) status = ct_sequence_read(path, CT_FORMAT_AUTO, p->noise, &p->seq, err);
    if (status == CT_OK) {
        p->graph = p->seq->graph;
        status = extend(p, err);
    }
    if (status == CT_OK) *out = p;
    else ct_problem_free(p);
    return status;
}

void ct_problem_free(ct_problem *p)
{
    if (!p) return;
    ct_smoother_free(p->smoother);
    ct_solver_free(p->solver);
    if (p->seq) ct_sequence_free(p->seq);
    else ct_graph_free(p->graph);
    ct_noise_free(p->noise);
    free(p->x);
    free(p);
}

ct_status ct_problem_add_noise(ct_problem *p, const char *name, int dim, const double sigma[], int32_t *index,
                               ct_err *err)
{
    double variance[CT_NOISE_DIM_MAX];
    if (!p) return no_problem(err);
    if (!sigma) return ct_fail(err, CT_E_ARGUMENT, "noise model %s has no sigmas", name ? name : "without a name");
    if (dim < 1 || dim > CT_NOISE_DIM_MAX)
        return ct_fail(err, CT_E_ARGUMENT, "a noise model has 1 to %d rows, not %d", CT_NOISE_DIM_MAX, dim);
    for (int i = 0; i < dim; i++) {
        if (!(sigma[i] > 0)) return ct_fail(err, CT_E_NOISE, "sigma %d is %g, and must be above zero", i, sigma[i]);
        variance[i] = sigma[i] * sigma[i];
    }
    return ct_noise_add_diagonal(p->noise, name, dim, variance, index, err);
}

/* x <- stored values of a kind; NULL fields: the identity. */
static ct_status from_fields(ct_kind kind, const double *fields, double *x, ct_err *err)
{
    if (!fields) ct_kind_identity(kind, x);
    else if (!ct_kind_from_fields(kind, fields, x))
        return ct_fail(err, CT_E_ARGUMENT, "the fields are not a value of kind %s", ct_kind_name(kind));
    return CT_OK;
}

ct_status ct_problem_add_variable(ct_problem *p, const char *name, const char *kind, const double fields[], int fixed,
                                  int32_t *index, ct_err *err)
{
    double  value[CT_SIZE_MAX];
    int32_t v;
    if (!p) return no_problem(err);
    const int found = ct_kind_find(kind);
    if (found < 0) return ct_fail(err, CT_E_ARGUMENT, "\"%s\" is not a kind of variable", kind ? kind : "");
    CT_TRY(from_fields((ct_kind)found, fields, value, err));
    CT_TRY(ct__grow(&p->x, &p->capacity, p->used + CT_SIZE_MAX, sizeof *p->x, "values", err));
    CT_TRY(ct_graph_add_variable(p->graph, name, (ct_kind)found, value, &v, err));
    if (fixed) ct_graph_fix(p->graph, v, 1);
    forget(p);
    if (index) *index = v;
    return extend(p, err);
}

ct_status ct_problem_add_factor(ct_problem *p, const char *model, int count, const int32_t variable[], int numbers,
                                const double measurement[], int32_t noise, ct_err *err)
{
    double z[CT_FIELDS_MAX * CT_SIZE_MAX];
    int    used = 0, part = 0;
    if (!p) return no_problem(err);
    const ct_factor_ops *ops = ct_factor_find(model);
    if (!ops) return ct_fail(err, CT_E_ARGUMENT, "\"%s\" is not a factor", model ? model : "");
    if (count != ops->arity || !variable)
        return ct_fail(err, CT_E_ARGUMENT, "%s has %d variables, not %d", model, ops->arity, count);
    for (double *at = z; part < ops->fields; at += ct_kind_size(ops->field[part++])) {
        const int here = ct_kind_fields(ops->field[part]), given = measurement && used + here <= numbers;
        if (!given && (part < ops->required || used < numbers)) break;
        CT_TRY(from_fields(ops->field[part], given ? measurement + used : NULL, at, err));
        used += given ? here : 0;
    }
    if (part < ops->fields || used != numbers)
        return ct_fail(err, CT_E_ARGUMENT, "a measurement of %d numbers does not fit %s", numbers, model);
    CT_TRY(ct_graph_add_factor(p->graph, ops, variable, z, NULL, noise, err));
    forget(p);
    return CT_OK;
}

ct_status ct_problem_set_multiplier(ct_problem *p, int32_t factor, double m, ct_err *err)
{
    if (!p) return no_problem(err);
    if (factor >= 0 && factor < p->factors)
        return ct_fail(err, CT_E_ARGUMENT, "factor %d: an update has brought it in, its multiplier stays", factor);
    CT_TRY(ct_graph_set_multiplier(p->graph, factor, m, err));
    p->linearised = 0;
    return CT_OK;
}

/* ---- Estimating ------------------------------------------------------------------------------ */

static ct_status need_solver(ct_problem *p, ct_err *err)
{
    if (p->solver) return CT_OK;
    return ct_solver_new(p->graph, NULL, &p->solver, err);
}

ct_status ct_problem_solve(ct_problem *p, const ct_solve_options *options, ct_solve_result *result, ct_err *err)
{
    ct_solve_result found = {0};
    if (result) *result = found;
    if (!p) return no_problem(err);
    CT_TRY(ct_graph_check_noise(p->graph, p->noise, err));
    CT_TRY(need_solver(p, err));
    p->linearised = p->incremental = 0;
    const ct_status status = ct_solver_run(p->solver, p->noise, p->x, options, &found, err);
    if (result) *result = found;
    return status;
}

/* What the graph has beyond p->variables and p->factors, in the smoother's terms. */
static void describe(const ct_problem *p, ct_new_variable *variable, ct_new_factor *factor, char (*name)[64],
                     const double *feature)
{
    for (int32_t v = p->variables; v < ct_graph_variables(p->graph); v++) {
        const int32_t k = v - p->variables;
        variable[k] = (ct_new_variable){.kind = ct_graph_kind(p->graph, v),
                                        .value = p->x + ct_graph_offset(p->graph, v),
                                        .name = ct_graph_name(p->graph, v, name[k], sizeof name[k]),
                                        .fixed = ct_graph_fixed(p->graph, v)};
    }
    for (int32_t f = p->factors; f < ct_graph_factors(p->graph); f++) {
        const ct_factor one = ct_graph_factor(p->graph, f);
        factor[f - p->factors] = (ct_new_factor){.ops = one.ops,
                                                 .var = one.var,
                                                 .z = one.z,
                                                 .context = one.context,
                                                 .noise = one.noise,
                                                 .multiplier = one.multiplier};
        if (feature)
            factor[f - p->factors].feature = feature + (int64_t)(f - p->factors) * CT_FUNCTION_FEATURES_MAX;
    }
}

static ct_status bring(ct_problem *p, ct_smoother_stats *stats, ct_err *err)
{
    const int32_t variables = ct_graph_variables(p->graph), factors = ct_graph_factors(p->graph);
    ct_increment  increment = {.variables = variables - p->variables, .factors = factors - p->factors};

    ct_new_variable *variable = ct__zalloc(increment.variables + 1, sizeof *variable);
    ct_new_factor   *factor = ct__zalloc(increment.factors + 1, sizeof *factor);
    char(*name)[64] = ct__zalloc(increment.variables + 1, sizeof *name);
    double *feature = NULL;
    ct_status status = variable && factor && name ? CT_OK : ct__no_memory(err, "variables", increment.variables);
    if (status == CT_OK) status = ct__graph_gather_features(p->graph, p->noise, p->factors, factors, &feature, err);
    if (status == CT_OK) {
        describe(p, variable, factor, name, feature);
        increment.variable = variable;
        increment.factor = factor;
        status = ct_smoother_update(p->smoother, &increment, stats, err);
    }
    if (status == CT_OK) {
        p->variables = variables;
        p->factors = factors;
    }
    free(variable);
    free(factor);
    free(name);
    free(feature);
    return status;
}

ct_status ct_problem_update(ct_problem *p, ct_smoother_stats *stats, ct_err *err)
{
    if (stats) *stats = (ct_smoother_stats){0};
    if (!p) return no_problem(err);
    CT_TRY(ct_graph_check_noise(p->graph, p->noise, err));
    if (!p->smoother) CT_TRY(ct_smoother_new(p->noise, NULL, &p->smoother, err));
    CT_TRY(bring(p, stats, err));
    for (int32_t v = 0; v < p->variables; v++)
        ct_smoother_estimate(p->smoother, v, p->x + ct_graph_offset(p->graph, v));
    p->linearised = 0;
    p->incremental = 1;
    return CT_OK;
}

/* ---- Results --------------------------------------------------------------------------------- */

ct_status ct_problem_value(const ct_problem *p, int32_t variable, double fields[], ct_err *err)
{
    if (!p) return no_problem(err);
    CT_TRY(check_variable(p, variable, err));
    ct_kind_to_fields(ct_graph_kind(p->graph, variable), p->x + ct_graph_offset(p->graph, variable), fields);
    return CT_OK;
}

ct_status ct_problem_marginal(ct_problem *p, int32_t variable, double covariance[], ct_err *err)
{
    if (!p) return no_problem(err);
    CT_TRY(check_variable(p, variable, err));
    const int dim = ct_kind_dim(ct_graph_kind(p->graph, variable));
    if (p->incremental && variable < p->variables) return ct_smoother_marginal(p->smoother, variable, covariance, err);
    if (ct_graph_fixed(p->graph, variable)) {
        for (int i = 0; i < dim * dim; i++) covariance[i] = 0;
        return CT_OK;
    }
    CT_TRY(ct_graph_check_noise(p->graph, p->noise, err));
    CT_TRY(need_solver(p, err));
    if (!p->linearised) CT_TRY(ct_solver_linearise(p->solver, p->noise, p->x, err));
    p->linearised = 1;
    return ct_solver_marginals(p->solver, 1, &variable, &covariance, err);
}
