/* without_truth.c: functions learned by EM: without truth over the measurements' likelihood, with it where residuals
 * depend on states that it does not know.
 *
 * Expectation: squares of residuals given the measurements under the present model (samples.c). Maximisation: the
 * regression of those squares. Each iteration increases energy and normaliser together, p(z | v, w), to the accuracy of
 * Laplace's approximation. The function stays if squares of held-out recordings are more likely under it than under
 * constant variances, by a standard error over recordings. */
#include "conditional/conditional.h"

#include <math.h>

#define ITERATIONS 15
#define STATES     8 /* iterations with truth: states of a bias have many measurements each */

typedef struct {
    const ct_outer           *outer;
    int32_t                   count;
    const ct_sequence *const *seq;
    const int32_t            *group;
    int32_t                   groups;
    uint64_t                  seed;
    ct_noise                 *noise;
    ct_err                   *err;
    int                       truth; /* 1: given the truth of what it knows */
} truthless;

static ct_status fit_model(const truthless *t, const ct_function *f, const ct__squares *s, const uint8_t *part,
                           ct__fit *fit)
{
    if (f->kind == CT_FUNCTION_NETWORK)
        return ct__fit_network(f, s, part, t->group, t->groups, t->seed, fit, t->err);
    return ct__fit_bases(f, s, part, t->group, 1e-4, fit, t->err);
}

/* Variances and weights of a model after a maximisation step. */
static ct_status put_fit(const truthless *t, int32_t model, const ct__fit *fit)
{
    const ct_noise_model *m = ct_noise_get(t->noise, model);
    double                variance[CT_NOISE_DIM_MAX], mean = 0;
    CT_TRY(ct_noise_set_weights(t->noise, model, fit->weight, t->err));
    if (m->function->matrix) return ct__matrix_base(t->noise, model, t->err);
    if (m->kind == CT_NOISE_FULL) return CT_OK; /* its own numbers stay: the method learns them */
    for (int i = 0; i < m->dim; i++) mean += fit->log_v[i] / m->dim;
    for (int i = 0; i < m->dim; i++) variance[i] = exp(m->kind == CT_NOISE_ISOTROPIC ? mean : fit->log_v[i]);
    return ct_noise_set_variance(t->noise, model, variance, t->err);
}

/* Mean and standard error over groups of what the function gains in deviance on squares that it was not fitted to. */
static ct_status held_out_gain(const truthless *t, const ct_function *f, const ct__squares *s, double *mean,
                               double *error)
{
    const int32_t n = t->groups > 1 ? t->groups : t->count;
    uint8_t      *part = ct__zalloc(2 * (int64_t)t->count, 1);
    double       *weight = ct__zalloc(2 * (int64_t)f->weights, sizeof *weight), sum = 0, square = 0;
    int           used = 0;
    ct_status     status = part && weight ? CT_OK : ct__no_memory(t->err, "weights", f->weights);
    for (int32_t g = 0; status == CT_OK && g < n && n > 1; g++) {
        ct__fit fit = {.weight = weight};
        double  log_v[CT_FUNCTION_ROWS_MAX] = {0};
        int64_t count = 0;
        for (int32_t i = 0; i < t->count; i++) {
            part[t->count + i] = (t->groups > 1 ? t->group[i] : i) == g;
            part[i] = !part[t->count + i];
        }
        status = fit_model(t, f, s, part, &fit);
        for (int64_t k = 0; k < s->count; k++) {
            if (!part[s->sequence[k]]) continue;
            for (int i = 0; i < s->dim; i++) log_v[i] += s->square[k * s->dim + i];
            count++;
        }
        for (int i = 0; i < s->dim; i++) log_v[i] = log(fmax(log_v[i] / (double)CT_MAX(1, count), 1e-300));
        if (f->matrix) { /* constant: the log of the mean moment */
            double mean_moment[CT__SYM_PACKED_MAX];
            ct__mean_moment(s, part, mean_moment);
            ct__sym_log(s->dim, mean_moment);
            ct__matrix_constant(f, mean_moment, weight + f->weights);
        }
        const double with = ct__deviance(f, s, part + t->count, fit.log_v, weight);
        const double without = ct__deviance(f, s, part + t->count, log_v, weight + f->weights); /* else zeros */
        if (status != CT_OK || isnan(with - without)) continue;
        sum += with - without;
        square += (with - without) * (with - without);
        used++;
    }
    *mean = used ? sum / used : 0;
    *error = used > 1 ? sqrt(fmax(0, square - sum * sum / used) / (used * (used - 1.0))) : INFINITY;
    free(part);
    free(weight);
    return status;
}

/* 1: model h has its function in common with model g, the first of those. */
static int is_of(const truthless *t, int32_t g, int32_t h)
{
    const ct_outer *o = t->outer;
    return o->weight_of[h] >= 0 && ct__tied_model(o->theta, o->base, h) == g;
}

static ct_status expect(const truthless *t, int32_t model, ct__squares *s)
{
    ct__squares_begin(t->outer->theta, t->noise, model, s);
    for (int32_t h = model; h < t->outer->models; h++)
        if (is_of(t, model, h))
            CT_TRY(ct__squares_expected(t->count, t->seq, t->noise, h, t->truth, s, t->err));
    return CT_OK;
}

static ct_status learn_model(const truthless *t, int32_t model, ct_conditional_result *result, int *kept)
{
    double   *room = NULL, mean = 0, error = INFINITY;
    ct_status status = CT_OK;
    for (int k = 0; status == CT_OK && k <= ITERATIONS; k++) {
        const ct_function *f = ct_noise_get(t->noise, model)->function;
        ct__squares        s = {0};
        status = expect(t, model, &s);
        if (status == CT_OK && s.count == 0)
            status = ct_fail(t->err, CT_E_SINGULAR, "no sequence has a unique estimate");
        if (!room) room = ct__zalloc(CT_MAX(1, f->weights), sizeof *room);
        ct__fit fit = {.weight = room};
        if (status == CT_OK && !room) status = ct__no_memory(t->err, "weights", f->weights);
        if (status == CT_OK && k < ITERATIONS) status = fit_model(t, f, &s, NULL, &fit);
        for (int32_t h = model; status == CT_OK && k < ITERATIONS && h < t->outer->models; h++)
            if (is_of(t, model, h)) status = put_fit(t, h, &fit);
        if (status == CT_OK && k == ITERATIONS) status = held_out_gain(t, f, &s, &mean, &error);
        ct__squares_free(&s);
    }
    free(room);
    *kept = mean < -error;
    result->log_ratio[CT_CONDITIONAL_REGRESSION] = mean;
    result->log_ratio_error[CT_CONDITIONAL_REGRESSION] = error;
    for (int32_t h = model; status == CT_OK && !*kept && h < t->outer->models; h++)
        if (is_of(t, model, h)) status = ct_noise_set_function(t->noise, h, NULL, t->err);
    return status;
}

ct_status ct__learn_without_truth_functions(const ct_outer *o, const ct_sequence *const seq[], const int32_t *group,
                                            int32_t groups, uint64_t seed, ct_noise *noise,
                                            ct_conditional_result *result, ct_err *err)
{
    const truthless t = {o, o->count, seq, group, groups, seed, noise, err, 0};
    result->chosen = CT_CONDITIONAL_CONSTANT;
    for (int32_t g = 0; g < o->models; g++) {
        int kept = 0;
        if (o->weight_of[g] < 0 || ct__tied_model(o->theta, o->base, g) != g) continue;
        CT_TRY(learn_model(&t, g, result, &kept));
        result->models++;
        if (kept) result->chosen = CT_CONDITIONAL_REGRESSION;
    }
    return CT_OK;
}

ct_status ct__squares_with_states(const ct_outer *o, const ct_sequence *const seq[], const int32_t *group,
                                  int32_t groups, uint64_t seed, int32_t model, ct__squares *s, ct_err *err)
{
    truthless t = {o, o->count, seq, group, groups, seed, NULL, err, 1};
    CT_TRY(ct_noise_copy(o->base, &t.noise, err));
    const ct_function *f = ct_noise_get(t.noise, model)->function;
    ct__fit            fit = {.weight = ct__zalloc(CT_MAX(1, f->weights), sizeof *fit.weight)};
    ct_status          status = fit.weight ? CT_OK : ct__no_memory(err, "weights", f->weights);
    for (int k = 0; status == CT_OK && k <= STATES; k++) {
        ct__squares_free(s);
        status = expect(&t, model, s);
        if (s->count == 0 || k == STATES) break;
        if (status == CT_OK) status = fit_model(&t, ct_noise_get(t.noise, model)->function, s, NULL, &fit);
        for (int32_t h = model; status == CT_OK && h < o->models; h++)
            if (is_of(&t, model, h)) status = put_fit(&t, h, &fit);
    }
    free(fit.weight);
    ct_noise_free(t.noise);
    return status;
}
