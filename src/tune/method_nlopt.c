/* method_nlopt.c: methods of NLopt on the loss, for comparison and where linear models do not hold, and random search.
 * They see one number per point, its logarithm: the loss at a bad start may be a hundred times that of the answer. */
#include "tune/search.h"

#include <math.h>
#include <nlopt.h>

#define LARGE      1e3 /* log loss of a point without estimates                   */
#define FIRST_STEP 1.0 /* of local methods, in log variance                       */
#define KNOWN_MOST 500 /* points in a row that were evaluated before: PRAXIS asks for one at a bound for ever */

typedef struct {
    ct__tuner      *t;
    ct__tune_point *best;
    nlopt_opt       opt;
    ct_tune_method  method;
    int64_t         most;  /* points                           */
    int             known; /* points in a row that are not new */
    ct_status       status;
} nlopt_run;

static nlopt_algorithm algorithm_of(ct_tune_method method)
{
    return method == CT_TUNE_BOBYQA        ? NLOPT_LN_BOBYQA
           : method == CT_TUNE_NELDER_MEAD ? NLOPT_LN_NELDERMEAD
           : method == CT_TUNE_POWELL      ? NLOPT_LN_PRAXIS
                                           : NLOPT_GN_DIRECT_L;
}

/* PRAXIS asks for NaN where a start is near a bound. */
static int is_finite(unsigned n, const double *x)
{
    for (unsigned k = 0; k < n; k++)
        if (!isfinite(x[k])) return 0;
    return 1;
}

static double objective(unsigned n, const double *x, double *gradient, void *user)
{
    nlopt_run *r = user;
    ct__tune_point *p = NULL;
    (void)gradient;
    const int64_t before = r->t->points;
    if (!is_finite(n, x)) {
        if (++r->known > KNOWN_MOST) nlopt_force_stop(r->opt);
        return LARGE;
    }
    if (r->status == CT_OK && ct__points_left(r->t) && r->most > 0) r->status = ct__point_at(r->t, x, &p);
    if (r->status == CT_OK && p) r->status = ct__evaluate(r->t, 1, &p, CT__TRAIN, r->t->repeats);
    r->known = r->t->points > before ? 0 : r->known + 1;
    r->most -= r->t->points > before;
    if (r->status != CT_OK || !p || r->t->cancelled || r->known > KNOWN_MOST) {
        nlopt_force_stop(r->opt);
        return LARGE;
    }
    if (!ct__is_done(p)) return LARGE;
    if (p->loss < r->best->loss) r->best = p;
    return log(p->loss > 0 ? p->loss : 1e-300);
}

static int set_up(nlopt_run *r, double *step)
{
    const ct__tuner *t = r->t;
    const ct_tune_method method = r->method;
    int bad = nlopt_set_lower_bounds(r->opt, t->c.lower) < 0 || nlopt_set_upper_bounds(r->opt, t->c.upper) < 0;
    for (int32_t k = 0; k < t->c.n; k++) {
        step[k] = CT_MIN(FIRST_STEP, 0.25 * (t->c.upper[k] - t->c.lower[k])); /* BOBYQA needs two inside the box */
        if (!(step[k] > 0)) step[k] = FIRST_STEP;                             /* NLopt removes the coordinate    */
    }
    bad = bad || nlopt_set_min_objective(r->opt, objective, r) < 0;
    if (method != CT_TUNE_GLOBAL) {
        bad = bad || nlopt_set_initial_step(r->opt, step) < 0 || nlopt_set_xtol_abs1(r->opt, t->options.step) < 0;
        if (method != CT_TUNE_BOBYQA) bad = bad || nlopt_set_ftol_abs(r->opt, 0.01 * t->options.relative) < 0;
    }
    nlopt_srand((unsigned long)t->options.seed);
    return !bad;
}

ct_status ct__minimise_loss(ct__tuner *t, ct_tune_method method, int64_t points, ct__tune_point *from,
                            ct__tune_point **answer, ct_tune_stop *stop)
{
    nlopt_run r = {.t = t, .best = from, .method = method, .most = points};
    double *x = ct__zalloc(2 * (int64_t)t->c.n, sizeof *x), F;
    nlopt_result result = NLOPT_FAILURE;
    r.opt = nlopt_create(algorithm_of(method), (unsigned)t->c.n);
    if (!x || !r.opt) r.status = ct__no_memory(t->err, "parameters", t->c.n);
    if (r.status == CT_OK) {
        memcpy(x, from->x, (size_t)t->c.n * sizeof *x);
        if (!set_up(&r, x + t->c.n)) r.status = ct__no_memory(t->err, "settings of NLopt", 1);
    }
    if (r.status == CT_OK) result = nlopt_optimize(r.opt, x, &F);
    if (r.status == CT_OK && result == NLOPT_OUT_OF_MEMORY) r.status = ct__no_memory(t->err, "parameters", t->c.n);
    *answer = r.best;
    *stop = t->cancelled                     ? CT_TUNE_STOP_CANCELLED
            : r.known > KNOWN_MOST           ? CT_TUNE_STOP_STEP
            : result == NLOPT_FORCED_STOP    ? CT_TUNE_STOP_POINTS
            : result == NLOPT_FTOL_REACHED   ? CT_TUNE_STOP_LOSS
            : result > 0                     ? CT_TUNE_STOP_STEP
                                             : CT_TUNE_STOP_STUCK;
    nlopt_destroy(r.opt);
    free(x);
    return r.status;
}

ct_status ct__tune_nlopt(ct__tuner *t, ct__tune_point *from, ct__tune_point **answer, ct_tune_stop *stop)
{
    return ct__minimise_loss(t, t->options.method, INT64_MAX, from, answer, stop);
}

/* batch <- those of its points that have an estimate of the log. */
static ct_status keep_estimated(ct__tuner *t, int64_t *count, ct__tune_point **batch, int32_t log)
{
    int64_t  kept = 0;
    int32_t *same = ct__zalloc(CT_MAX(1, *count), sizeof *same);
    if (!same) return ct__no_memory(t->err, "points", *count);
    for (int64_t i = 0; i < *count; i++) same[i] = log;
    const ct_status status = ct__evaluate_log(t, *count, batch, same, t->repeats);
    for (int64_t i = 0; i < *count; i++)
        if (batch[i]->runs[log]) batch[kept++] = batch[i];
    *count = kept;
    free(same);
    return status;
}

ct_status ct__random_points(ct__tuner *t, ct_rng *rng, const double *centre, double width, int64_t count, int32_t log,
                            ct__tune_point **best)
{
    const int32_t n = t->c.n;
    ct__tune_point **batch = ct__zalloc(CT_MAX(1, count), sizeof *batch);
    ct_status status = batch ? CT_OK : ct__no_memory(t->err, "points", count);
    count = CT_MIN(count, ct__points_left(t));
    for (int64_t i = 0; i < count && status == CT_OK; i++) {
        for (int32_t k = 0; k < n; k++) {
            const double low = CT_MAX(t->c.lower[k], centre[k] - width),
                         high = CT_MIN(t->c.upper[k], centre[k] + width);
            t->c.work[k] = low + (high - low) * ct_rng_uniform(rng);
        }
        status = ct__point_at(t, t->c.work, &batch[i]);
    }
    if (status == CT_OK && log >= 0) status = keep_estimated(t, &count, batch, log);
    if (status == CT_OK && !t->cancelled) status = ct__evaluate(t, count, batch, CT__TRAIN, t->repeats);
    for (int64_t i = 0; i < count && status == CT_OK && !t->cancelled; i++)
        if (ct__is_done(batch[i]) && (!*best || batch[i]->loss < (*best)->loss)) *best = batch[i];
    free(batch);
    return status;
}

ct_status ct__tune_random(ct__tuner *t, ct__tune_point *from, ct__tune_point **answer, ct_tune_stop *stop)
{
    ct_rng rng = ct__rng_stream(t->options.seed, 2, 0);
    *answer = from;
    while (ct__points_left(t) && !t->cancelled)
        CT_TRY(ct__random_points(t, &rng, from->x, INFINITY, t->c.n + 1, -1, answer));
    *stop = t->cancelled ? CT_TUNE_STOP_CANCELLED : CT_TUNE_STOP_POINTS;
    return CT_OK;
}
