/* lasting_errors.c: learning without truth where errors of measurements last.
 *
 * Models whose residuals correlate are thinned until those of neighbours do not, and the likelihood is maximised again.
 * The estimate then follows these errors less, so their correlation is seen better: after each maximum it is computed
 * anew, and lags may grow.
 *
 * Sigmas learned from a share s of the measurements are those of independent errors. Estimates use all measurements. So
 * covariances are divided by s and widths of kernels multiplied by sqrt(s): the error of a factor is then s times what
 * it was, and the information of all measurements is that of the share. */
#include "learn/learn.h"

#include <math.h>

#define ROUNDS 3
#define GROWS  1.1 /* a lag that is longer by less does not change what is learned                 */
#define LEAST  50  /* measurements that must remain of a model: a sigma from 50 is known to 10 %   */

typedef struct {
    ct__learning *l;
    double       *lag, *rho;     /* per model */
    int           seconds;
    double       *shift, *from;  /* per parameter: log of the factor on its variance; scratch */
} thinning;

static ct_status add_finding(ct__learning *l, int32_t model)
{
    return ct_findings_add_subject(&l->objective.result->findings, CT_SUBJECT_MODEL, model, 0,
                                   ct_noise_get(l->objective.outer->base, model)->name, l->objective.err);
}

static ct_status evaluate(ct__learning *l, const double *p)
{
    ct_likelihood_value value = {0};
    CT_TRY(ct_likelihood_evaluate(ct__likelihood_of(l->objective.outer), p, NULL, &value, l->objective.err));
    l->objective.outer->solves += value.solves;
    return CT_OK;
}

ct_status ct__diagnose_lasting_errors(ct__learning *l, const double *p)
{
    ct__objective  *e = &l->objective;
    const ct_outer *o = e->outer;
    if (ct__objective_cancelled(e)) return CT_OK;
    CT_TRY(evaluate(l, p));
    for (int32_t g = 0; g < o->models; g++) {
        ct_lasting_errors found;
        if (o->slot[g] < 0) continue;
        CT_TRY(ct_likelihood_lasting_errors(ct__likelihood_of(o), g, &found, e->err));
        if (!(found.lag > 0)) continue;
        CT_TRY(ct__find(l, CT_FINDING_ERRORS_LAST, CT__VALUES(found.rho)));
        CT_TRY(add_finding(l, g));
    }
    return CT_OK;
}

/* ---- Thinning ---------------------------------------------------------------------------------- */

/* Lags of the models at the maximum p. *grown <- 1 if one is longer than before. */
static ct_status find_lags(thinning *t, const double *p, int *grown)
{
    const ct_outer *o = t->l->objective.outer;
    *grown = 0;
    CT_TRY(evaluate(t->l, p));
    for (int32_t g = 0; g < o->models; g++) {
        ct_lasting_errors found;
        if (o->slot[g] < 0) continue;
        CT_TRY(ct_likelihood_lasting_errors(ct__likelihood_of(o), g, &found, t->l->objective.err));
        t->seconds = found.seconds;
        if (found.lag > 0) t->rho[g] = found.rho;
        if (!isfinite(found.lag) || !(found.lag > GROWS * t->lag[g])) continue;
        t->lag[g] = found.lag;
        *grown = 1;
    }
    return CT_OK;
}

/* Thins with lags that leave enough. */
static ct_status thin(thinning *t)
{
    const ct_outer *o = t->l->objective.outer;
    ct_likelihood  *likelihood = ct__likelihood_of(o);
    for (int short_of = 1; short_of;) {
        short_of = 0;
        CT_TRY(ct_likelihood_thin(likelihood, t->lag, t->l->objective.err));
        for (int32_t g = 0; g < o->models; g++) {
            int64_t all;
            if (!(t->lag[g] > 0) || ct_likelihood_factors(likelihood, g, &all) >= CT_MIN(LEAST, all)) continue;
            t->lag[g] *= 0.5;
            short_of = 1;
        }
    }
    return CT_OK;
}

static ct_status learn_rounds(thinning *t)
{
    ct__learning  *l = t->l;
    ct__objective *e = &l->objective;
    int            grown;
    for (int round = 0; round < ROUNDS; round++) {
        if (ct__objective_cancelled(e)) return CT_OK;
        CT_TRY(find_lags(t, l->p, &grown));
        if (!grown) return CT_OK;
        CT_TRY(thin(t));
        memcpy(t->from, l->p, (size_t)e->outer->m * sizeof *l->p);
        CT_TRY(ct__reference(l, NULL, 0, t->from, l->p, l->samples, e->result->standard_error));
    }
    return CT_OK;
}

/* ---- Sigmas for all measurements --------------------------------------------------------------- */

/* log of all measurements of a model over those that took part. */
static double excess(const ct_outer *o, int32_t model)
{
    int64_t       all;
    const int64_t some = ct_likelihood_factors(ct__likelihood_of(o), model, &all);
    return some ? log((double)all / (double)some) : 0;
}

/* shift <- per parameter: the excess of its model; of a tied one the least of its models. */
static void find_shifts(thinning *t, const ct_theta_jacobian *slopes)
{
    const ct_outer *o = t->l->objective.outer;
    for (int32_t i = 0; i < o->m; i++) t->shift[i] = INFINITY;
    for (int32_t g = 0; g < o->models; g++) {
        const double k = o->slot[g] < 0 ? 0 : excess(o, g);
        for (int32_t term = slopes->first[g]; term < slopes->first[g + 1]; term++) {
            double *shift = &t->shift[slopes->parameter[term]];
            *shift = fmin(*shift, k);
        }
    }
}

/* The least shift of a model's parameters: what its kernel scales with. */
static double shift_of(const thinning *t, const ct_theta_jacobian *slopes, int32_t g)
{
    double least = INFINITY;
    for (int32_t term = slopes->first[g]; term < slopes->first[g + 1]; term++)
        least = fmin(least, t->shift[slopes->parameter[term]]);
    return isfinite(least) ? least : 0;
}

static ct_status weigh(thinning *t, const ct_theta_jacobian *slopes)
{
    ct__learning *l = t->l;
    ct_outer     *o = l->objective.outer;
    find_shifts(t, slopes);
    for (int32_t g = 0; g < o->models; g++) {
        const double factor = exp(0.5 * shift_of(t, slopes, g));
        ct_robust    robust = ct_noise_get(o->base, g)->robust;
        if (!(t->rho[g] > 0)) continue;
        if (t->lag[g] > 0)
            CT_TRY(ct__find(l, t->seconds ? CT_FINDING_MEASUREMENTS_THINNED : CT_FINDING_POSES_THINNED,
                            CT__VALUES(t->rho[g], t->lag[g], factor)));
        else CT_TRY(ct__find(l, CT_FINDING_ERRORS_LAST, CT__VALUES(t->rho[g])));
        CT_TRY(add_finding(l, g));
        robust.width /= factor;
        if (robust.kind != CT_ROBUST_NONE) CT_TRY(ct_noise_set_robust(o->noise, g, robust, l->objective.err));
    }
    for (int32_t i = 0; i < o->m; i++)
        if (ct_theta_is_scale(o->theta, i) && isfinite(t->shift[i])) l->p[i] += t->shift[i];
    ct_theta_project(o->theta, CT_SPACE_LOG, l->p);
    memset(t->lag, 0, (size_t)o->models * sizeof *t->lag);
    return ct_likelihood_thin(ct__likelihood_of(o), t->lag, l->objective.err);
}

ct_status ct__learn_thinned(ct__learning *l)
{
    ct__objective     *e = &l->objective;
    const int64_t      models = e->outer->models, m = e->outer->m;
    ct_theta_jacobian *slopes = NULL;
    thinning           t = {.l = l, .lag = ct__zalloc(2 * models + 2 * m, sizeof *t.lag)};
    if (!t.lag) return ct__no_memory(e->err, "noise models", models);
    t.rho = t.lag + models;
    t.shift = t.rho + models;
    t.from = t.shift + m;
    ct_status status = learn_rounds(&t);
    if (status == CT_OK) status = ct_theta_jacobian_new(e->outer->theta, &slopes, e->err);
    if (status == CT_OK) {
        ct_theta_jacobian_at(e->outer->theta, l->p, slopes);
        status = weigh(&t, slopes);
    }
    free(slopes);
    free(t.lag);
    return status;
}
