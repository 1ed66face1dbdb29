/* reference.c: the candidate that does not look at the tracking loss.
 *
 * Residuals at the truth are samples of the noise, so their second moments (closed_form.c) are its maximum-likelihood
 * estimate where the truth determines every residual and is exact, and noise is Gaussian. Elsewhere the maximum of
 * the likelihood of measurements and truth (likelihood.h) takes their place: where truth is partial, has a sigma of its
 * own, or is not used at all, and where models have kernels. */
#include "graph/biased.h"
#include "learn/learn.h"

#include <math.h>

#define TAG   65   /* in the checkpoint: a maximum of the likelihood                             */
#define KERNEL_TAG 66 /* widths of kernels */
#define EVIDENCE_TAG 67
#define HEAD  5    /* numbers before the parameters in its record                                */
#define LEAST 0.1  /* of the mean: the least weight of a parameter, in samples                   */

static int is_complete(int32_t m, const int64_t *samples)
{
    for (int32_t i = 0; i < m; i++)
        if (!samples[i]) return 0;
    return 1;
}

static int truth_has_sigma(const ct_outer *o)
{
    for (int32_t i = 0; i < o->count; i++)
        if (o->inner[i].seq->truth_sigma[0] > 0 || o->inner[i].seq->truth_sigma[1] > 0) return 1;
    return 0;
}

/* Does a learned model have a kernel? Its closed form is an M-estimate that is consistent for Gaussian noise. The
 * likelihood has the scale that belongs to the kernel. */
static int has_kernels(const ct_outer *o)
{
    for (int32_t g = 0; g < o->models; g++)
        if (o->slot[g] >= 0 && ct_noise_get(o->base, g)->robust.kind != CT_ROBUST_NONE) return 1;
    return 0;
}

/* Does the reference of that kind use the truth? */
static int uses_truth(const ct_outer *o, ct_reference kind)
{
    return kind != CT_REFERENCE_EVIDENCE && !o->options.no_truth;
}

ct_likelihood *ct__likelihood_of(const ct_outer *o) { return o->likelihood[uses_truth(o, o->reference)]; }

static ct_status need_likelihood(ct_outer *o, ct_reference kind, ct_err *err)
{
    ct_likelihood_options options = ct_likelihood_defaults();
    const int             truth = uses_truth(o, kind);
    if (o->likelihood[truth]) return CT_OK;
    const int32_t       count = o->count + o->extras;
    const ct_sequence **seq = ct__zalloc(count, sizeof *seq);
    if (!seq) return ct__no_memory(err, "sequences", count);
    for (int32_t i = 0; i < count; i++) seq[i] = i < o->count ? o->inner[i].seq : o->extra[i - o->count];
    options.truth = truth;
    options.jobs = o->options.jobs;
    options.comm = o->options.comm;
    const ct_status status = ct_likelihood_new(count, seq, o->base, o->theta, &options, &o->likelihood[truth], err);
    free(seq);
    return status;
}

ct_status ct__choose_reference(ct__learning *l)
{
    ct__objective        *e = &l->objective;
    ct_outer             *o = e->outer;
    const ct_learn_method method = e->options->method;
    ct_err                why;
    o->reference = CT_REFERENCE_CLOSED_FORM;
    if (method == CT_LEARN_CLOSED_FORM) return CT_OK;
    if (method == CT_LEARN_LIKELIHOOD) {
        o->reference = CT_REFERENCE_LIKELIHOOD;
        return need_likelihood(o, CT_REFERENCE_LIKELIHOOD, e->err);
    }
    CT_TRY(ct_outer_closed_form(o, NULL, l->p, l->samples, e->err));
    const int complete = l->complete = is_complete(o->m, l->samples);
    if (complete && !truth_has_sigma(o) && !o->extras && !has_kernels(o)) return CT_OK;
    const ct_status status = need_likelihood(o, CT_REFERENCE_LIKELIHOOD, &why);
    if (status == CT_E_MEMORY) return ct__no_memory(e->err, "sequences", o->count);
    if (status == CT_E_LIMIT) return ct_fail(e->err, status, "%s", why.text); /* another answer would be worse */
    if (status == CT_OK) o->reference = CT_REFERENCE_LIKELIHOOD;
    else if (!complete) { /* a kernel without normaliser, approximate Jacobians */
        CT_TRY(ct__find(l, CT_FINDING_NO_LIKELIHOOD, CT__NO_VALUES));
        return ct_findings_add_subject(&e->result->findings, CT_SUBJECT_CANDIDATE, -1, 0, why.text, e->err);
    }
    return CT_OK;
}

static int report(void *user, int iteration, double value, const double *p)
{
    ct__objective *e = user;
    (void)iteration;
    (void)value;
    ct__objective_report(e, p, NAN);
    return ct__objective_cancelled(e);
}

/* ---- Kernels --------------------------------------------------------------------------------- */

/* Model g has this kernel from now on, in every table of the outer problem. */
static ct_status set_kernel(ct__learning *l, int32_t g, double width, double ratio)
{
    ct_outer       *o = l->objective.outer;
    const ct_robust before = ct_noise_get(o->base, g)->robust, robust = {before.kind, width, ratio};
    if (width == before.width && ratio == before.ratio) return CT_OK;
    CT_TRY(ct_noise_set_robust(o->base, g, robust, l->objective.err));
    CT_TRY(ct_noise_set_robust(o->noise, g, robust, l->objective.err));
    for (int k = 0; k < 2; k++)
        if (o->likelihood[k]) CT_TRY(ct_likelihood_set_robust(o->likelihood[k], g, robust, l->objective.err));
    CT_TRY(ct__find(l, CT_FINDING_KERNEL_LEARNED, CT__VALUES(before.width, width)));
    return ct_findings_add_subject(&l->objective.result->findings, CT_SUBJECT_MODEL, g, 0,
                                   ct_noise_get(o->base, g)->name, l->objective.err);
}

ct_status ct__learn_kernels(ct__learning *l)
{
    ct__objective      *e = &l->objective;
    ct_outer           *o = e->outer;
    ct_maximise_options options = ct_maximise_defaults();
    int                 taken = 0;
    options.progress = report;
    options.user = e;
    if (!has_kernels(o))
        return ct_fail(e->err, CT_E_ARGUMENT,
                       "widths of kernels are to be learned, but no learned noise model has a kernel");
    const int truth = uses_truth(o, CT_REFERENCE_LIKELIHOOD);
    CT_TRY(need_likelihood(o, CT_REFERENCE_LIKELIHOOD, e->err));
    const int32_t numbers = 2 * o->models; /* width and ratio of each */
    double *width = ct__zalloc((int64_t)numbers + o->m, sizeof *width), *p = width ? width + numbers : NULL;
    ct_status status = width ? CT_OK : ct__no_memory(e->err, "noise models", o->models);
    if (status == CT_OK && o->checkpoint)
        status = ct__checkpoint_take(o->checkpoint, o, KERNEL_TAG, l->start, NULL, numbers, width, &taken, e->err);
    if (status == CT_OK && !taken) {
        memcpy(p, l->start, (size_t)o->m * sizeof *p);
        status = ct_likelihood_learn_kernels(o->likelihood[truth], NULL, &options, p, e->err);
        for (int32_t g = 0; g < o->models; g++) {
            const ct_robust robust = ct_likelihood_robust(o->likelihood[truth], g);
            width[2 * g] = robust.width;
            width[2 * g + 1] = robust.ratio;
        }
        if (status == CT_OK && o->checkpoint && !ct__objective_cancelled(e))
            status = ct__checkpoint_put(o->checkpoint, o, KERNEL_TAG, l->start, NULL, numbers, width, e->err);
    }
    for (int32_t g = 0; status == CT_OK && g < o->models; g++)
        if (o->slot[g] >= 0 && ct_noise_get(o->base, g)->robust.kind != CT_ROBUST_NONE)
            status = set_kernel(l, g, width[2 * g], width[2 * g + 1]);
    free(width);
    return status == CT_OK ? ct__outer_checkpoint(o, e->err) : status;
}

/* ---- The reference of a part ------------------------------------------------------------------ */

int ct__closed_form_exists(const ct__learning *l) { return l->complete; }

/* Variables of all measurements, but for their biases, are known in full and exactly. */
static int lacks_biases_alone(const ct_sequence *seq)
{
    for (int32_t k = 0; k < ct_graph_factors(seq->graph); k++) {
        const ct_factor f = ct__without_bias(ct_graph_factor(seq->graph, k));
        for (int a = 0; !ct__is_process(f.ops) && a < f.ops->arity; a++) {
            const unsigned all = (1u << ct_kind_dim(f.ops->kind[a])) - 1;
            if (!ct_graph_fixed(seq->graph, f.var[a]) && !(seq->known && seq->known[f.var[a]] == all)) return 0;
        }
    }
    return 1;
}

int ct__truth_lacks_biases_alone(const ct_outer *o)
{
    if (o->extras || truth_has_sigma(o)) return 0;
    for (int32_t i = 0; i < o->count; i++) {
        if (ct_sequence_acquire(o->inner[i].seq, NULL) != CT_OK) return 0;
        const int is = lacks_biases_alone(o->inner[i].seq);
        ct_sequence_release(o->inner[i].seq);
        if (!is) return 0;
    }
    return 1;
}

ct_status ct__need_evidence(ct__learning *l, int *possible)
{
    ct_err          why;
    const ct_status status = need_likelihood(l->objective.outer, CT_REFERENCE_EVIDENCE, &why);
    *possible = status == CT_OK;
    if (status == CT_E_LIMIT) return ct_fail(l->objective.err, status, "%s", why.text);
    return status == CT_E_MEMORY ? ct__no_memory(l->objective.err, "sequences", l->objective.outer->count) : CT_OK;
}

/* Effective samples: those of a mean square with the same standard error, 2 / N. */
static void count_samples(int32_t m, const double *error, int64_t *samples)
{
    double mean = 0;
    for (int32_t i = 0; i < m; i++) mean += (isfinite(error[i]) ? 2 / (error[i] * error[i]) : 0) / m;
    for (int32_t i = 0; i < m; i++)
        samples[i] = (int64_t)ceil(CT_MAX(isfinite(error[i]) ? 2 / (error[i] * error[i]) : 0, LEAST * mean));
}

/* A maximum as a list of numbers, for the checkpoint: out 0 fills the list, 1 reads it. */
static void pack(int out, ct_maximise_result *r, int32_t m, double *p, double *error, double *number)
{
    const size_t bytes = (size_t)m * sizeof *p;
    if (!out) {
        const double head[HEAD] = {r->stop, r->iterations, r->evaluations, (double)r->inner_solves, r->left_out};
        memcpy(number, head, sizeof head);
        memcpy(number + HEAD, p, bytes);
        memcpy(number + HEAD + m, error, bytes);
        return;
    }
    r->stop = (ct_maximise_stop)number[0];
    r->iterations = (int)number[1];
    r->evaluations = (int)number[2];
    r->inner_solves = (int64_t)number[3];
    r->left_out = (int32_t)number[4];
    memcpy(p, number + HEAD, bytes);
    memcpy(error, number + HEAD + m, bytes);
}

/* Sequences without truth always take part. */
static ct_status maximise_part(ct__learning *l, const uint8_t *part, const ct_maximise_options *options, double *p,
                               ct_maximise_result *result)
{
    const ct_outer *o = l->objective.outer;
    uint8_t        *with = ct__zalloc(o->count + o->extras, sizeof *with);
    if (!with) return ct__no_memory(l->objective.err, "sequences", o->count);
    for (int32_t i = 0; i < o->count + o->extras; i++) with[i] = i >= o->count || !part || part[i];
    ct_likelihood  *likelihood = ct__likelihood_of(o);
    const ct_status status = ct_likelihood_maximise(likelihood, with, options, p, result, l->objective.err);
    free(with);
    return status;
}

/* p, error <- the maximum from `from`, another array; or what the checkpoint holds of it. */
static ct_status maximise(ct__learning *l, const uint8_t *part, const double *from, double *p, double *error,
                          double *number)
{
    ct__objective      *e = &l->objective;
    ct_outer           *o = e->outer;
    const int64_t       numbers = HEAD + 2 * (int64_t)o->m;
    const int32_t       tag = o->reference == CT_REFERENCE_EVIDENCE ? EVIDENCE_TAG : TAG;
    ct_maximise_options options = ct_maximise_defaults();
    ct_maximise_result  result = {0};
    int                 taken = 0;
    ct_status           status = CT_OK;
    if (e->options->method == CT_LEARN_LIKELIHOOD && e->options->max_iterations)
        options.max_iterations = e->options->max_iterations;
    options.centre = l->start;
    options.progress = report;
    options.user = e;
    if (o->checkpoint) CT_TRY(ct__checkpoint_take(o->checkpoint, o, tag, from, part, numbers, number, &taken, e->err));
    if (taken) pack(1, &result, o->m, p, error, number);
    else {
        memcpy(p, from, (size_t)o->m * sizeof *p);
        status = maximise_part(l, part, &options, p, &result);
        if (status == CT_OK) {
            memcpy(error, result.standard_error, (size_t)o->m * sizeof *error);
            pack(0, &result, o->m, p, error, number);
        }
        if (status == CT_OK && o->checkpoint && !ct__objective_cancelled(e))
            status = ct__checkpoint_put(o->checkpoint, o, tag, from, part, numbers, number, e->err);
    }
    e->result->evaluations += result.evaluations;
    e->steps += result.iterations;
    o->solves += result.inner_solves;
    l->left_out = result.left_out;
    l->search = result.stop;
    ct_maximise_result_free(&result);
    return status == CT_OK ? ct__outer_checkpoint(o, e->err) : status;
}

ct_status ct__reference(ct__learning *l, const uint8_t *part, int rescale, const double *from, double *p,
                        int64_t *samples, double *error)
{
    ct_outer     *o = l->objective.outer;
    const int32_t m = o->m;
    if (o->reference == CT_REFERENCE_CLOSED_FORM) {
        CT_TRY(ct_outer_closed_form(o, part, p, samples, l->objective.err));
        return ct__enter_set(o->theta, rescale, p, l->objective.err);
    }
    double *number = ct__zalloc(HEAD + 3 * (int64_t)m, sizeof *number);
    if (!number) return ct__no_memory(l->objective.err, "parameters", m);
    double *bars = error ? error : number + HEAD + 2 * m;
    const ct_status status = maximise(l, part, from, p, bars, number);
    if (status == CT_OK && samples) count_samples(m, bars, samples);
    free(number);
    return status;
}

ct_learn_stop ct__reference_stop(const ct__learning *l)
{
    return l->objective.outer->reference == CT_REFERENCE_CLOSED_FORM ? CT_LEARN_STOP_CLOSED_FORM
                                                                     : CT_LEARN_STOP_LIKELIHOOD;
}

/* ---- Findings -------------------------------------------------------------------------------- */

ct_learn_stop ct__likelihood_stop(const ct__learning *l)
{
    if (ct__objective_cancelled(&l->objective)) return CT_LEARN_STOP_CANCELLED;
    return l->search == CT_MAXIMISE_ITERATIONS ? CT_LEARN_STOP_ITERATIONS : CT_LEARN_STOP_LIKELIHOOD;
}

ct_status ct__diagnose_likelihood(ct__learning *l)
{
    const ct__objective *e = &l->objective;
    int                  found = 0;
    if (e->options->method != CT_LEARN_LIKELIHOOD) CT_TRY(ct__find(l, CT_FINDING_LIKELIHOOD, CT__NO_VALUES));
    if (l->left_out)
        CT_TRY(ct__find(l, CT_FINDING_SEQUENCES_LEFT_OUT, CT__VALUES(l->left_out, e->outer->count + e->outer->extras)));
    for (int32_t i = 0; i < e->outer->m; i++) {
        if (!isinf(l->error[i])) continue;
        if (!found++) CT_TRY(ct__find(l, CT_FINDING_LIKELIHOOD_FLAT, CT__NO_VALUES));
        CT_TRY(ct__find_parameter(l, i, 0));
    }
    return CT_OK;
}

/* ---- Without truth --------------------------------------------------------------------------- */

/* Chi-square of estimates as in deployment, before and after. */
static ct_status measure_chi(ct__learning *l, const double *p, double *chi)
{
    ct__objective *e = &l->objective;
    ct_evaluation *seen = ct__zalloc(e->outer->count, sizeof *seen);
    ct_summary     summary;
    ct_status      status = seen ? CT_OK : ct__no_memory(e->err, "sequences", e->outer->count);
    if (status == CT_OK) status = ct_outer_validate(e->outer, p, NULL, &e->options->deployment, 0, seen, e->err);
    if (status == CT_OK) status = ct_summarise(e->outer->count, seen, NULL, &summary, e->err);
    if (status == CT_OK) *chi = summary.chi_squared;
    free(seen);
    return status;
}

ct_status ct__learn_without_truth(ct__learning *l, ct_noise *noise)
{
    ct__objective   *e = &l->objective;
    ct_outer        *o = e->outer;
    ct_learn_result *r = e->result;
    const size_t     bytes = (size_t)o->m * sizeof *l->p;
    r->loss_start = r->loss_closed_form = r->loss_train = r->scale_wanted = NAN;
    r->scale_applied = 1;
    ct_theta_get(o->theta, noise, l->start);
    if (ct_theta_project(o->theta, CT_SPACE_LOG, l->start))
        CT_TRY(ct__find(l, CT_FINDING_START_OUTSIDE_BOUNDS, CT__NO_VALUES));
    e->phase = CT_LEARN_PHASE_LEARN;
    e->done_to = 0.95;
    if (e->options->learn_kernels) CT_TRY(ct__learn_kernels(l));
    CT_TRY(ct__choose_reference(l));
    r->reference = CT_REFERENCE_EVIDENCE;
    CT_TRY(ct__reference(l, NULL, 0, l->start, l->p, l->samples, r->standard_error));
    if (!ct__objective_cancelled(e)) CT_TRY(measure_chi(l, l->start, &r->chi_before));
    CT_TRY(ct__find(l, CT_FINDING_WITHOUT_TRUTH, CT__NO_VALUES));
    CT_TRY(ct__learn_thinned(l));
    r->stop = ct__likelihood_stop(l);
    memcpy(l->error, r->standard_error, bytes);
    CT_TRY(ct__likelihood_covariance(l));
    CT_TRY(ct__diagnose_likelihood(l));
    if (!ct__objective_cancelled(e)) CT_TRY(measure_chi(l, l->p, &r->chi_after));
    r->spread = ct_theta_spread(o->theta, l->p);
    ct_theta_active(o->theta, l->p, r->at_bound);
    r->iterations = e->steps;
    memcpy(r->p, l->p, bytes);
    memcpy(r->closed_form, l->p, bytes);
    for (int32_t g = 0; g < o->models; g++)
        if (o->slot[g] >= 0) CT_TRY(ct_noise_set_robust(noise, g, ct_noise_get(o->noise, g)->robust, e->err));
    return ct_theta_apply(o->theta, r->p, noise, e->err);
}
