/* maximise.c: the minimum of L plus a weak prior, by damped steps with the average information
 * (bounded_step.c), and standard errors.
 *
 *     F(p) = L(p) + sum_i log(1 + (p_i - centre_i)^2 / (2 deviation^2))
 *
 * Near its centre the prior is normal with that deviation. Its tails are heavy: a start that is far off pulls no more
 * than one that is near. Its matrix is V^-1, V_i = deviation^2 + (p_i - centre_i)^2 / 2.
 *
 * Standard errors are the larger of two: diag (A + V^-1)^-1, which assumes that the models are right; and
 * diag K^-1 G K^-1 with G the scatter of the gradients of recordings, which does not. */
#include "base/eigen.h"
#include "base/name_table.h"
#include "theta/bounded_step.h"
#include "likelihood/likelihood.h"

#include <math.h>

#define MU_FIRST      1e-3
#define MU_LEAST      1e-9
#define MU_MOST       1e9
#define FAR           0.5 /* change of a log variance above which a solve may have another lowest minimum */
#define RECORDINGS    3   /* fewer do not show a scatter                                              */
#define PRIOR_TELLS   0.5 /* share of the prior's variance above which the data tell less than it does */

ct_maximise_options ct_maximise_defaults(void)
{
    return (ct_maximise_options){.prior_deviation = log(100), .tolerance = 1e-4, .max_iterations = 100};
}

void ct_maximise_result_free(ct_maximise_result *r)
{
    if (!r) return;
    free(r->standard_error);
    free(r->information);
    *r = (ct_maximise_result){0};
}

typedef struct {
    double *p, *gradient, *information; /* m, m, m x m: one block */
    double  value, F;
} point;

typedef struct {
    ct_likelihood             *l;
    const ct_maximise_options *options;
    ct_maximise_result        *result;
    const double              *centre; /* of the prior */
    uint8_t                   *part;
    point                      at, trial;
    double                    *gradients;
    ct__bounded_step           step;
    double                     mu;
    int                        cancelled;
    ct_err                    *err;
} search;

static ct_status new_point(int64_t m, point *p, ct_err *err)
{
    p->p = ct__zalloc(2 * m + m * m, sizeof *p->p);
    if (!p->p) return ct__no_memory(err, "parameters", m);
    p->gradient = p->p + m;
    p->information = p->gradient + m;
    return CT_OK;
}

static double prior_variance(const search *s, double away)
{
    return s->options->prior_deviation * s->options->prior_deviation + 0.5 * away * away;
}

/* F, its gradient and its matrix at p. */
static ct_status evaluate(search *s, point *at)
{
    const int32_t       m = s->l->m;
    ct_likelihood_value value = {
        .gradient = at->gradient, .information = at->information, .gradients = s->gradients};
    CT_TRY(ct_likelihood_evaluate(s->l, at->p, s->part, &value, s->err));
    s->result->evaluations++;
    s->result->inner_solves += value.solves;
    at->value = at->F = value.value;
    for (int32_t i = 0; i < m; i++) {
        const double away = at->p[i] - s->centre[i], variance = prior_variance(s, away);
        if (isfinite(variance)) at->F += log(variance / prior_variance(s, 0));
        at->gradient[i] += away / variance;
        at->information[(int64_t)i * m + i] += 1 / variance;
    }
    if (s->options->progress && s->options->progress(s->options->user, s->result->iterations,
                                                     CT_MIN(at->value, s->at.value), at->p))
        s->cancelled = 1;
    return CT_OK;
}

static void swap_points(search *s)
{
    const point t = s->at;
    s->at = s->trial;
    s->trial = t;
}

/* One accepted step, or *stop. */
static ct_status advance(search *s, ct_maximise_stop *stop)
{
    int refused = 0;
    ct__bounded_step_at(&s->step, s->at.p, s->at.gradient, s->at.information);
    if (ct__bounded_step_remaining(&s->step) <= s->options->tolerance) {
        *stop = CT_MAXIMISE_CONVERGED;
        return CT_OK;
    }
    for (; s->mu <= MU_MOST; s->mu *= 8) {
        double change, fall;
        if (!ct__bounded_step_try(&s->step, s->mu, s->trial.p, &change, &fall)) continue;
        if (fall <= s->options->tolerance) {
            *stop = refused ? CT_MAXIMISE_STUCK : CT_MAXIMISE_CONVERGED;
            return CT_OK;
        }
        CT_TRY(evaluate(s, &s->trial));
        const double gain = isfinite(s->trial.F) ? (s->at.F - s->trial.F) / fall : -1;
        if (gain > 1e-3) {
            swap_points(s);
            ct_likelihood_accept(s->l);
            s->l->both = change > FAR;
            s->mu = CT_MAX(MU_LEAST, s->mu * (gain > 0.75 ? 0.1 : gain > 0.25 ? 0.5 : 2));
            return CT_OK;
        }
        if (s->cancelled) return CT_OK;
        refused = 1;
    }
    *stop = CT_MAXIMISE_STUCK;
    return CT_OK;
}

/* The start. Sequences without an estimate there are left out. */
static ct_status begin(search *s)
{
    ct_likelihood_value value = {.each = s->gradients};
    int32_t             left = 0;
    CT_TRY(ct_likelihood_evaluate(s->l, s->at.p, s->part, &value, s->err));
    for (int32_t i = 0; i < s->l->count; i++) {
        if (!s->part[i]) continue;
        s->part[i] = isfinite(s->gradients[i]) != 0;
        left += s->part[i];
        s->result->left_out += !s->part[i];
    }
    if (!left)
        return ct_fail(s->err, CT_E_SINGULAR, "none of the %d sequences has an estimate under the start values: %s",
                       s->result->left_out, ct_stop_meaning(value.stop));
    ct_likelihood_accept(s->l);
    CT_TRY(evaluate(s, &s->at));
    s->result->value_start = s->at.value;
    return CT_OK;
}

/* Where the search ends, solves run from their first start as well. It goes on if that has a lower F. */
static ct_status try_other_minima(search *s, ct_maximise_stop *stop)
{
    s->l->both = 1;
    memcpy(s->trial.p, s->at.p, (size_t)s->l->m * sizeof *s->at.p);
    CT_TRY(evaluate(s, &s->trial));
    s->l->both = 0;
    if (!(s->trial.F < s->at.F - s->options->tolerance)) return CT_OK;
    swap_points(s);
    ct_likelihood_accept(s->l);
    s->mu = MU_FIRST;
    *stop = CT_MAXIMISE_NONE;
    return CT_OK;
}

static ct_status run(search *s)
{
    ct_maximise_stop *stop = &s->result->stop;
    CT_TRY(begin(s));
    while (*stop == CT_MAXIMISE_NONE) {
        if (s->cancelled) *stop = CT_MAXIMISE_CANCELLED;
        else if (s->result->iterations == s->options->max_iterations) *stop = CT_MAXIMISE_ITERATIONS;
        else {
            CT_TRY(advance(s, stop));
            s->result->iterations += *stop == CT_MAXIMISE_NONE;
        }
        if (*stop == CT_MAXIMISE_CONVERGED || *stop == CT_MAXIMISE_STUCK) CT_TRY(try_other_minima(s, stop));
    }
    s->result->value = s->at.value;
    return CT_OK;
}

/* ---- Standard errors ------------------------------------------------------------------------- */

/* K <- its inverse on the coordinates that are not held by a bound, zero elsewhere. V, lambda: scratch. */
static void invert(int32_t m, const int8_t *held, double *K, double *lambda, double *V)
{
    for (int32_t i = 0; i < m; i++)
        for (int32_t j = 0; j < m; j++)
            if (held[i] || held[j]) K[(int64_t)i * m + j] = i == j;
    ct__eigen_symmetric(m, K, lambda, V);
    for (int32_t i = 0; i < m; i++)
        for (int32_t j = 0; j < m; j++) {
            double sum = 0;
            for (int32_t k = 0; k < m; k++)
                if (lambda[k] > 0) sum += V[(int64_t)i * m + k] * V[(int64_t)j * m + k] / lambda[k];
            K[(int64_t)i * m + j] = held[i] || held[j] ? 0 : sum;
        }
}

/* v_i' G v_i, G = R / (R - 1) sum over recordings of g g', v_i row i of K^-1; 0 with fewer than RECORDINGS. sum:
 * scratch, a number per sequence. */
static double scatter(const search *s, const double *row, const int32_t *recording, int32_t recordings, double *sum)
{
    const int32_t m = s->l->m;
    double        total = 0;
    if (recordings < RECORDINGS) return 0;
    memset(sum, 0, (size_t)recordings * sizeof *sum);
    for (int32_t i = 0; i < s->l->count; i++)
        for (int32_t k = 0; s->part[i] && k < m; k++) sum[recording[i]] += row[k] * s->gradients[(int64_t)i * m + k];
    for (int32_t r = 0; r < recordings; r++) total += sum[r] * sum[r];
    return total * recordings / (recordings - 1);
}

/* recording[i] <- a number per recording of the sequences that take part; *count <- how many there are. */
static ct_status number_recordings(const search *s, int32_t *recording, int32_t *count)
{
    ct__names names = {0};                                                /* of the recordings so far, ... */
    int32_t  *of_name = ct__zalloc(s->l->count, sizeof *of_name);         /* ... and their numbers */
    ct_status status = of_name ? CT_OK : ct__no_memory(s->err, "sequences", s->l->count);
    *count = 0;
    for (int32_t i = 0; status == CT_OK && i < s->l->count; i++) {
        char mine[256];
        if (!s->part[i]) continue;
        ct_sequence_recording(s->l->sequence[i].seq, mine, sizeof mine);
        const int32_t known = mine[0] ? ct__names_find(&names, mine) : -1;
        recording[i] = known >= 0 ? of_name[known] : (*count)++;
        if (known >= 0 || !mine[0]) continue;
        of_name[names.count] = recording[i];
        status = ct__names_add(&names, mine, s->err);
    }
    ct__names_free(&names);
    free(of_name);
    return status;
}

static ct_status estimate_errors(search *s)
{
    const int32_t m = s->l->m, n = s->l->count;
    double       *K = ct__zalloc(2 * (int64_t)m * m + m + n, sizeof *K);
    int32_t      *recording = ct__zalloc(n, sizeof *recording);
    int8_t       *held = ct__zalloc(m, sizeof *held);
    ct_status     status = K && recording && held ? CT_OK : ct__no_memory(s->err, "parameters", m);
    if (status == CT_OK) status = evaluate(s, &s->at); /* the gradients at the answer */
    int32_t recordings = 0;
    if (status == CT_OK) status = number_recordings(s, recording, &recordings);
    if (status == CT_OK) {
        memcpy(K, s->at.information, (size_t)m * (size_t)m * sizeof *K);
        memcpy(s->result->information, K, (size_t)m * (size_t)m * sizeof *K);
        for (int32_t i = 0; i < m; i++)
            s->result->information[(int64_t)i * (m + 1)] -= 1 / prior_variance(s, s->at.p[i] - s->centre[i]);
        ct_theta_active(s->l->theta, s->at.p, held);
        invert(m, held, K, K + 2 * (int64_t)m * m, K + (int64_t)m * m);
        for (int32_t i = 0; i < m; i++) {
            const double *row = K + (int64_t)i * m, own = row[i];
            const double  between = scatter(s, row, recording, recordings, K + 2 * (int64_t)m * m + m);
            const double  prior = prior_variance(s, s->at.p[i] - s->centre[i]);
            s->result->standard_error[i] = held[i]                     ? NAN
                                           : own > PRIOR_TELLS * prior ? INFINITY
                                                                       : sqrt(CT_MAX(own, between));
        }
    }
    free(K);
    free(recording);
    free(held);
    return status;
}

/* ---- Maximum --------------------------------------------------------------------------------- */

static ct_status allocate(search *s, const double *p, const uint8_t *part)
{
    const int64_t m = s->l->m, n = s->l->count;
    CT_TRY(new_point(m, &s->at, s->err));
    CT_TRY(new_point(m, &s->trial, s->err));
    CT_TRY(ct__bounded_step_new(s->l->theta, &s->step, s->err));
    s->part = ct__zalloc(n, sizeof *s->part);
    s->gradients = ct__zalloc(n * m + n, sizeof *s->gradients);
    s->result->standard_error = ct__zalloc(m, sizeof *s->result->standard_error);
    s->result->information = ct__zalloc(m * m, sizeof *s->result->information);
    if (!s->part || !s->gradients || !s->result->standard_error || !s->result->information)
        return ct__no_memory(s->err, "parameters", m);
    for (int64_t i = 0; i < n; i++) s->part[i] = !part || part[i];
    memcpy(s->at.p, p, (size_t)m * sizeof *p);
    ct_theta_project(s->l->theta, CT_SPACE_LOG, s->at.p);
    return CT_OK;
}

ct_status ct_likelihood_maximise(ct_likelihood *l, const uint8_t *part, const ct_maximise_options *options, double *p,
                                 ct_maximise_result *result, ct_err *err)
{
    const ct_maximise_options defaults = ct_maximise_defaults();
    search s = {.l = l, .options = options ? options : &defaults, .result = result, .err = err};
    s.mu = MU_FIRST;
    *result = (ct_maximise_result){.parameters = l->m};
    s.at.value = INFINITY;
    ct_likelihood_start_over(l);
    l->both = 0;
    ct_status status = allocate(&s, p, part);
    s.at.value = INFINITY;
    s.centre = s.options->centre ? s.options->centre : p;
    if (status == CT_OK) status = run(&s);
    if (status == CT_OK && result->stop != CT_MAXIMISE_CANCELLED) status = estimate_errors(&s);
    if (status == CT_OK) memcpy(p, s.at.p, (size_t)l->m * sizeof *p);
    free(s.at.p);
    free(s.trial.p);
    free(s.part);
    free(s.gradients);
    ct__bounded_step_free(&s.step);
    return status;
}
