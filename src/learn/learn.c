/* learn.c: a run of ct_learn in order: start values and closed form, cross-validation, method, common scale, error
 * bars, noise table. */
#include "learn/learn.h"
#include "theta/check_noise.h"

#include <math.h>
#include <stdio.h>

ct_learn_options ct_learn_defaults(void)
{
    return (ct_learn_options){.method = CT_LEARN_LM,
                              .relative = 1e-6,
                              .step = 1e-4,
                              .M = 2,
                              .from_table = -1,
                              .space = CT_SPACE_VARIANCE,
                              .leo = {10, 0.1, 0.95, 1e-3, 1e-4},
                              .seed = 1,
                              .prior = NAN,
                              .folds = 5,
                              .given = 1,
                              .deployment = ct_inference_defaults(),
                              .scale = CT_SCALE_FIT,
                              .scale_from = CT_SCALE_FROM_NEES};
}

void ct_learn_result_free(ct_learn_result *r)
{
    if (!r) return;
    void *const owned[] = {r->p, r->closed_form, r->standard_error, r->covariance, r->at_bound, r->fit};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
    ct_findings_free(&r->findings);
    *r = (ct_learn_result){0};
}

/* ---- Starts ---------------------------------------------------------------------------------- */

/* Squared distance of p, with variances times exp(s), from the set. */
static double distance(const ct_theta *theta, const double *p, double s, double *q)
{
    double sum = 0;
    for (int32_t i = 0; i < ct_theta_count(theta); i++) q[i] = p[i] + (ct_theta_is_scale(theta, i) ? s : 0);
    ct_theta_project(theta, CT_SPACE_LOG, q);
    for (int32_t i = 0; i < ct_theta_count(theta); i++) {
        const double d = q[i] - p[i] - (ct_theta_is_scale(theta, i) ? s : 0);
        sum += d * d;
    }
    return sum;
}

/* The s of least distance, by ternary search: the distance is convex in s. If it is zero on an interval, the end
 * nearest to 0. */
static double best_factor(const ct_theta *theta, const double *p, double *q)
{
    double low = -700, high = 700, least;
    for (int i = 0; i < 200; i++) {
        const double a = low + (high - low) / 3, b = high - (high - low) / 3;
        const double da = distance(theta, p, a, q), db = distance(theta, p, b, q);
        if (da < db || (da == db && fabs(a) < fabs(b))) high = b;
        else low = a;
    }
    least = distance(theta, p, 0.5 * (low + high), q);
    if (distance(theta, p, 0, q) <= least) return 0;
    return 0.5 * (low + high);
}

ct_status ct__enter_set(const ct_theta *theta, int rescale, double *p, ct_err *err)
{
    if (rescale) {
        double *q = ct__zalloc(ct_theta_count(theta), sizeof *q);
        if (!q) return ct__no_memory(err, "parameters", ct_theta_count(theta));
        const double s = best_factor(theta, p, q);
        for (int32_t i = 0; i < ct_theta_count(theta); i++) p[i] += ct_theta_is_scale(theta, i) ? s : 0;
        free(q);
    }
    ct_theta_project(theta, CT_SPACE_LOG, p);
    return CT_OK;
}

static ct_status loss_at(ct__objective *e, const double *p, double *loss)
{
    ct_outer_value value = {0};
    CT_TRY(ct_outer_evaluate(e->outer, p, NULL, &value, e->err));
    e->result->evaluations++;
    *loss = value.loss;
    ct__objective_report(e, p, value.loss);
    e->iteration++;
    return CT_OK;
}

/* The closed form, projected into the set. If it lies outside, it is projected with and without a common factor; the
 * one of smaller loss is used. */
static ct_status start_closed(ct__learning *l)
{
    ct__objective   *e = &l->objective;
    ct_outer     *o = e->outer;
    const size_t  bytes = (size_t)o->m * sizeof *l->p;
    double        plain = INFINITY, scaled = INFINITY;
    CT_TRY(ct__choose_reference(l));
    e->result->reference = o->reference;
    CT_TRY(ct__reference(l, NULL, 1, l->start, l->closed, l->samples, l->error));
    if (o->reference == CT_REFERENCE_CLOSED_FORM) CT_TRY(ct__reference(l, NULL, 0, l->start, l->p, NULL, NULL));
    else {
        memcpy(l->p, l->closed, bytes);
        CT_TRY(ct__diagnose_likelihood(l));
        CT_TRY(ct__diagnose_lasting_errors(l, l->closed));
    }
    CT_TRY(loss_at(e, l->closed, &scaled));
    l->rescale = memcmp(l->p, l->closed, bytes) != 0;
    if (l->rescale) CT_TRY(loss_at(e, l->p, &plain));
    if (l->rescale && plain < scaled) {
        l->rescale = 0;
        memcpy(l->closed, l->p, bytes);
    }
    e->result->loss_closed_form = CT_MIN(plain, scaled);
    CT_TRY(ct__diagnose_missing_samples(l));
    return CT_OK;
}

/* weight_i = 2 L(closed) N_i / mean N. */
void ct__set_weights(ct__learning *l)
{
    const int32_t m = l->objective.outer->m;
    double        mean = 0;
    for (int32_t i = 0; i < m; i++) mean += (double)l->samples[i] / m;
    for (int32_t i = 0; i < m; i++)
        l->weight[i] = mean > 0 ? 2 * l->objective.result->loss_closed_form * (double)l->samples[i] / mean : 0;
}

static ct_status find_starts(ct__learning *l, const ct_noise *noise)
{
    ct__objective *e = &l->objective;
    ct_outer   *o = e->outer;
    char        name[64];
    ct_theta_get(o->theta, noise, l->start);
    if (ct_theta_project(o->theta, CT_SPACE_LOG, l->start))
        CT_TRY(ct__find(l, CT_FINDING_START_OUTSIDE_BOUNDS, CT__NO_VALUES));
    if (e->options->learn_kernels) CT_TRY(ct__learn_kernels(l));
    CT_TRY(start_closed(l));
    CT_TRY(loss_at(e, l->start, &e->result->loss_start));
    if (isfinite(e->result->loss_closed_form)) ct__set_weights(l);
    else if (!isfinite(e->result->loss_start)) {
        ct_outer_value value = {0};
        CT_TRY(ct_outer_evaluate(o, l->start, NULL, &value, e->err));
        snprintf(name, sizeof name, "number %d", value.which);
        return ct_fail(e->err, CT_E_SINGULAR,
                       "sequence %s has no estimate under the start values or the %s, even from the truth: %s",
                       o->inner[value.which].seq->name ? o->inner[value.which].seq->name : name,
                       ct_reference_name(o->reference), ct_stop_meaning(value.stop));
    } else {
        CT_TRY(ct__find(l, CT_FINDING_CLOSED_FORM_FAILED, CT__NO_VALUES));
        return ct_findings_add_subject(&e->result->findings, CT_SUBJECT_CANDIDATE, -1, 0,
                                       ct_reference_name(o->reference), e->err);
    }
    return CT_OK;
}

/* ---- The method ------------------------------------------------------------------------------ */

/* Does the method start from the values of the table? Where the reference has no estimates, only cross-validation,
 * which compares with the start values, is of use without them. */
static int starts_from_table(const ct__learning *l)
{
    const ct_learn_options *o = l->objective.options;
    const int compares = o->method == CT_LEARN_LM && isnan(o->prior) && o->from_table < 1;
    if (!isfinite(l->objective.result->loss_closed_form) && !compares) return 1;
    return o->from_table >= 0 ? o->from_table : ct_learn_method_get_info(o->method)->start == CT_LEARN_FROM_TABLE;
}

static ct_status run_lm(ct__learning *l)
{
    ct__objective             *e = &l->objective;
    const ct_learn_options *o = e->options;
    ct_learn_result        *r = e->result;
    const int               table = starts_from_table(l);
    const size_t            bytes = (size_t)e->outer->m * sizeof *l->p;
    r->prior = isnan(o->prior) ? 0 : o->prior;
    if (table && !isfinite(r->loss_closed_form)) r->prior = 0;
    memcpy(l->p, table ? l->start : l->closed, bytes);
    memcpy(r->closed_form, l->closed, bytes);
    if (!table && isnan(o->prior)) CT_TRY(ct__choose_prior(l));
    /* the reference may be another one now */
    if (!table) memcpy(l->p, isfinite(r->loss_closed_form) ? l->closed : l->start, bytes);
    e->fold_iteration = -1;
    if (ct__objective_cancelled(e)) {
        r->stop = CT_LEARN_STOP_CANCELLED;
        return CT_OK;
    }
    if (r->stop == CT_LEARN_STOP_START) {
        memcpy(l->p, l->start, bytes);
        return CT_OK;
    }
    e->centre = l->closed;
    e->weight = l->weight;
    e->phase = CT_LEARN_PHASE_LEARN;
    e->done_from = 0.7;
    e->done_to = 0.95;
    if (isinf(r->prior)) {
        r->stop = ct__reference_stop(l);
        return CT_OK;
    }
    e->iterations = o->max_iterations ? o->max_iterations : ct_learn_method_iterations(CT_LEARN_LM, e->outer->m);
    if (!table) {
        memcpy(l->p, l->alone ? l->start : ct__path_start(l, l->closed), bytes);
        CT_TRY(l->alone ? ct__learn_lm(e, e->iterations, l->p, &r->stop) : ct__learn_path(e, r->prior, l->p, &r->stop));
        if (l->alone) CT_TRY(ct__find(l, CT_FINDING_START_WITHOUT_PRIOR, CT__NO_VALUES));
        return isnan(o->prior) && r->stop != CT_LEARN_STOP_CANCELLED ? ct__validate_answer(l) : CT_OK;
    }
    e->nu = r->prior;
    return ct__learn_lm(e, e->iterations, l->p, &r->stop);
}

static ct_status check_method(ct_learn_method method, ct_err *err)
{
    if ((unsigned)method < CT_LEARN_COUNT) return CT_OK;
    return ct_fail(err, CT_E_ARGUMENT, "method %d is not one; there are %d, numbered from 0", (int)method,
                   CT_LEARN_COUNT);
}

ct_status ct_learn_check(const ct_outer *outer, ct_learn_method method, ct_err *err)
{
    CT_TRY(check_method(method, err));
    if (outer->options.no_truth && !ct_learn_method_has(method, CT_LEARN_TRUTHLESS))
        return ct_fail(err, CT_E_ARGUMENT, "method %s needs truth; without truth, %s learns",
                       ct_learn_method_name(method), ct_learn_method_name(CT_LEARN_LIKELIHOOD));
    if (method == CT_LEARN_LEO) return ct__leo_check(outer, err);
    return ct_learn_method_has(method, CT_LEARN_BOX_ONLY) ? ct__box_check(outer, method, err) : CT_OK;
}

static ct_status run_method(ct__learning *l)
{
    ct__objective             *e = &l->objective;
    const ct_learn_options *o = e->options;
    ct_learn_stop          *stop = &e->result->stop;
    const int               most =
        o->max_iterations ? o->max_iterations : ct_learn_method_iterations(o->method, e->outer->m);
    e->iteration = 0;
    if (o->method == CT_LEARN_LM) return run_lm(l);
    const int reference = o->method == CT_LEARN_CLOSED_FORM || o->method == CT_LEARN_LIKELIHOOD;
    memcpy(l->p, !reference && starts_from_table(l) ? l->start : l->closed, (size_t)e->outer->m * sizeof *l->p);
    e->phase = CT_LEARN_PHASE_LEARN;
    e->iterations = most;
    e->done_from = 0.05;
    e->done_to = 0.95;
    switch (o->method) {
    case CT_LEARN_CLOSED_FORM: *stop = CT_LEARN_STOP_CLOSED_FORM; return CT_OK;
    case CT_LEARN_LIKELIHOOD: *stop = ct__likelihood_stop(l); return CT_OK;
    case CT_LEARN_FRANK_WOLFE:
    case CT_LEARN_FRANK_WOLFE_LOG:
        return ct__learn_frank_wolfe(e, ct_learn_method_get_info(o->method)->space, most, l->p, stop);
    case CT_LEARN_PROJECTED_GRADIENT: return ct__learn_projected_gradient(e, most, l->p, stop);
    case CT_LEARN_LEO: return ct__learn_leo(e, most, l->p, stop);
    case CT_LEARN_NELDER_MEAD: return ct__learn_nelder_mead(e, o->space, most, l->p, stop);
    case CT_LEARN_POWELL: return ct__learn_powell(e, o->space, most, l->p, stop);
    default: return ct__learn_nlopt(e, o->method, most, l->p, stop);
    }
}

/* Spread, scale, consistency and error bars of the answer. After a cancellation only the spread. */
static ct_status finish(ct__learning *l)
{
    ct__objective      *e = &l->objective;
    ct_learn_result *r = e->result;
    const size_t     bytes = (size_t)e->outer->m * sizeof *l->p;
    e->phase = CT_LEARN_PHASE_SCALE;
    e->nu = 0;
    memcpy(l->start, l->p, bytes); /* start is free now: holds the answer before the scale */
    CT_TRY(ct__scale(l));
    if (!ct__objective_cancelled(e)) {
        CT_TRY(ct__error_bars(l));
        CT_TRY(ct__diagnose_deployment(l));
        CT_TRY(ct__diagnose_inconsistency(l));
        CT_TRY(ct__warn(l));
    }
    r->spread = ct_theta_spread(e->outer->theta, l->p);
    ct_theta_active(e->outer->theta, l->start, r->at_bound); /* before the scale is applied */
    memcpy(r->p, l->p, bytes);
    return CT_OK;
}

/* Kernel widths of learned models, which the scale has changed. */
static ct_status scale_widths(const ct_outer *o, ct_noise *noise, ct_err *err)
{
    for (int32_t g = 0; g < o->models; g++)
        if (o->slot[g] >= 0) CT_TRY(ct_noise_set_robust(noise, g, ct_noise_get(o->noise, g)->robust, err));
    return CT_OK;
}

static ct_status run(ct__learning *l, ct_noise *noise)
{
    ct__objective      *e = &l->objective;
    ct_learn_result *r = e->result;
    const int64_t    m = e->outer->m;
    r->parameters = (int32_t)m;
    r->p = ct__zalloc(m, sizeof *r->p);
    r->closed_form = ct__zalloc(m, sizeof *r->closed_form);
    r->standard_error = ct__zalloc(m, sizeof *r->standard_error);
    r->covariance = ct__zalloc(m * m, sizeof *r->covariance);
    r->at_bound = ct__zalloc(m, sizeof *r->at_bound);
    r->fit = ct__zalloc(e->outer->models, sizeof *r->fit);
    r->models = e->outer->models;
    l->p = ct__zalloc(5 * m, sizeof *l->p);
    l->samples = ct__zalloc(m, sizeof *l->samples);
    if (!r->p || !r->closed_form || !r->standard_error || !r->covariance || !r->at_bound || !r->fit || !l->p ||
        !l->samples)
        return ct__no_memory(e->err, "parameters", m);
    CT_TRY(ct__memo_new((int32_t)m, &l->memo, e->err));
    e->memo = &l->memo;
    l->closed = l->p + m;
    l->weight = l->closed + m;
    l->start = l->weight + m;
    l->error = l->start + m;
    for (int64_t i = 0; i < m; i++) r->standard_error[i] = NAN;
    for (int64_t i = 0; i < m * m; i++) r->covariance[i] = NAN;
    CT_TRY(ct__diagnose_duplicates(l));
    if (e->outer->options.no_truth) return ct__learn_without_truth(l, noise);
    CT_TRY(ct__diagnose_bounds(l));
    CT_TRY(ct__diagnose_frames(l));
    CT_TRY(find_starts(l, noise));
    memcpy(r->closed_form, l->closed, (size_t)m * sizeof *r->closed_form);
    CT_TRY(run_method(l));
    r->iterations = e->steps;
    CT_TRY(finish(l));
    if (r->stop == CT_LEARN_STOP_ITERATIONS && e->best > 0 && r->loss_train > 1.01 * e->best)
        CT_TRY(ct__find(l, CT_FINDING_LAST_ITERATE, CT__VALUES(e->best_iteration, e->best)));
    CT_TRY(ct__diagnose_collapse(l));
    if (r->stop != CT_LEARN_STOP_CANCELLED && r->loss_train > 1.01 * r->loss_closed_form &&
        !(r->loss_heldout < r->loss_heldout_closed_form))
        CT_TRY(ct__find(l, CT_FINDING_CLOSED_FORM_IS_BETTER, CT__VALUES(r->loss_closed_form)));
    const int beyond = e->options->scale == CT_SCALE_FREE && r->scale_applied != 1; /* outside of the bounds */
    CT_TRY(scale_widths(e->outer, noise, e->err));
    return beyond ? ct_theta_apply_unprojected(e->outer->theta, r->p, noise, e->err)
                  : ct_theta_apply(e->outer->theta, r->p, noise, e->err);
}

ct_status ct_learn(ct_outer *outer, const ct_learn_options *options, ct_noise *noise, ct_learn_result *result,
                   ct_err *err)
{
    ct_learn_options how = options ? *options : ct_learn_defaults();
    const int64_t    solves = outer->solves;
    ct_checkpoint       *checkpoint = outer->checkpoint; /* a cancelled run detaches it; restored below */
    int              cancelled = 0;
    *result = (ct_learn_result){.loss_heldout = NAN,
                                .loss_heldout_closed_form = NAN,
                                .loss_heldout_start = NAN,
                                .loss_deployment = NAN,
                                .prior = 0,
                                .scale_wanted = NAN,
                                .scale_applied = 1,
                                .scale_chi = NAN,
                                .scale_nees = NAN,
                                .chi_before = NAN,
                                .chi_after = NAN,
                                .nees_before = NAN,
                                .nees_after = NAN};
    ct__learning l = {.objective = {.outer = outer,
                                    .options = &how,
                                    .result = result,
                                    .phase = CT_LEARN_PHASE_START,
                                    .fold_iteration = -1,
                                    .heldout = NAN,
                                    .cancelled = &cancelled,
                                    .err = err}};
    l.objective.start_s = ct_now_s();
    result->method = l.objective.options->method;
    ct_status status = ct__theta_check_noise(outer->theta, noise, err);
    if (status == CT_OK) status = check_method(how.method, err);
    if (status == CT_OK && outer->options.no_truth) status = ct_learn_check(outer, how.method, err);
    if (status == CT_OK) status = ct__outer_deployment(outer, &how.deployment, err);
    result->incremental = how.deployment.incremental;
    if (status == CT_OK) status = run(&l, noise);
    ct_outer_set_checkpoint(outer, checkpoint);
    result->inner_solves = outer->solves - solves;
    result->seconds = ct_now_s() - l.objective.start_s;
    ct__scale_kernels(outer, 1);
    ct__memo_free(&l.memo);
    free(l.held.part);
    free(l.held.p);
    free(l.p);
    free(l.samples);
    return status;
}
