/* time_constants.c: time constants of Gauss-Markov biases by likelihood.
 *
 * tau enters a step's residual (c - f b) / sqrt(1 - f^2), f = exp(-dt / tau), and its normaliser: the density of c
 * given b has a further sqrt(1 - f^2) a row, so that
 *
 *     L has  sum over steps of  rows / 2 log(1 - f^2)
 *
 * beside what it has of other factors. L is minimised over log tau with the other parameters at their minimum for each
 * value (a profile): steps that halve, then a parabola through the best value and its neighbours, whose curvature is
 * the information on log tau with the other parameters unknown. Estimates hardly depend on less than 5 % of tau. */
#include "graph/graph.h"
#include "likelihood/likelihood.h"

#include <math.h>

#define FIRST_STEP 1.1 /* of log tau                                      */
#define LAST_STEP  0.25
#define TOLERANCE  1e-2 /* of L under a tau, nats                          */
#define ROUNDS     3    /* over several time constants                     */
#define SHORTEST   0.1  /* of the shortest step: states are independent    */
#define LONGEST    30.0 /* of the longest chain: the bias is constant      */

static int is_markov(const ct_factor_ops *ops)
{
    return ops == &ct_gauss_markov_r1 || ops == &ct_gauss_markov_r2 || ops == &ct_gauss_markov_r3;
}

double ct__likelihood_steps(const ct_graph *g)
{
    double sum = 0;
    for (int32_t f = 0; f < g->factors; f++) {
        const double *z = g->z_pool + g->factor[f].z;
        if (is_markov(g->factor[f].ops)) sum += 0.5 * g->factor[f].ops->rows * log(-expm1(-2 * z[0] / z[1]));
    }
    return sum;
}

static void put_tau(ct_graph *g, int32_t model, double tau)
{
    for (int32_t f = 0; f < g->factors; f++)
        if (g->factor[f].noise == model && is_markov(g->factor[f].ops)) g->z_pool[g->factor[f].z + 1] = tau;
}

static ct_status check_model(const ct_likelihood *l, int32_t model, ct_err *err)
{
    const ct_noise_model *m = model < l->models ? ct_noise_get(l->noise, model) : NULL;
    if (m && m->bias && m->bias->process == CT_BIAS_GAUSS_MARKOV) return CT_OK;
    return ct_fail(err, CT_E_ARGUMENT, "noise model %d is not the strength of a Gauss-Markov bias", model);
}

ct_status ct_likelihood_set_time_constant(ct_likelihood *l, int32_t model, double tau, double log_error, ct_err *err)
{
    CT_TRY(check_model(l, model, err));
    ct_bias bias = *ct_noise_get(l->noise, model)->bias;
    bias.tau = tau;
    bias.tau_error = log_error;
    CT_TRY(ct_noise_set_bias(l->noise, model, &bias, err));
    for (int32_t i = 0; i < l->count; i++) {
        ct__likelihood_sequence *s = &l->sequence[i];
        put_tau(s->whole, model, tau);
        if (s->graph != s->whole) put_tau(s->graph, model, tau);
        s->steps = ct__likelihood_steps(s->graph);
    }
    return CT_OK;
}

double ct_likelihood_time_constant(const ct_likelihood *l, int32_t model, double *log_error)
{
    const int good = check_model(l, model, NULL) == CT_OK;
    if (log_error) *log_error = good ? ct_noise_get(l->noise, model)->bias->tau_error : NAN;
    return good ? ct_noise_get(l->noise, model)->bias->tau : NAN;
}

/* ---- The profile ----------------------------------------------------------------------------- */

typedef struct {
    ct_likelihood *l;
    int32_t model;
    const uint8_t *part;
    const ct_maximise_options *options;
    double *p, *trial; /* the best, and that of the last value */
    double least, most;
    int cancelled;
    ct_err *err;
} profile;

/* The range of tau: from independent states to a constant. */
static void find_range(profile *s)
{
    double shortest = INFINITY, longest = 0;
    for (int32_t i = 0; i < s->l->count; i++) {
        const ct_graph *g = s->l->sequence[i].graph;
        double sum = 0;
        for (int32_t f = 0; f < g->factors; f++) {
            const double dt = g->z_pool[g->factor[f].z];
            if (g->factor[f].noise != s->model || !is_markov(g->factor[f].ops)) continue;
            shortest = fmin(shortest, dt);
            sum += dt;
        }
        longest = fmax(longest, sum);
    }
    s->least = log(SHORTEST * shortest);
    s->most = log(LONGEST * longest);
}

/* *F <- L at log tau, with the parameters at their maximum from p. INFINITY: out of range, or no estimate. */
static ct_status try_tau(profile *s, double log_tau, double *F)
{
    ct_maximise_result result;
    *F = INFINITY;
    if (!(log_tau >= s->least && log_tau <= s->most) || s->cancelled) return CT_OK;
    CT_TRY(ct_likelihood_set_time_constant(s->l, s->model, exp(log_tau), NAN, s->err));
    memcpy(s->trial, s->p, (size_t)s->l->m * sizeof *s->trial);
    const ct_status status = ct_likelihood_maximise(s->l, s->part, s->options, s->trial, &result, s->err);
    s->cancelled = status == CT_OK && result.stop == CT_MAXIMISE_CANCELLED;
    if (status == CT_OK && !s->cancelled) *F = result.value;
    ct_maximise_result_free(&result);
    return status == CT_E_SINGULAR ? CT_OK : status;
}

/* The minimum of the parabola through F at -h, 0 and h, as far as it is within 1.5 h; *curvature <- its second
 * derivative. */
static double parabola(double h, double below, double at, double above, double *curvature)
{
    *curvature = (below - 2 * at + above) / (h * h);
    if (!isfinite(*curvature) || !(*curvature > 0)) return 0;
    return fmax(-1.5 * h, fmin(1.5 * h, (below - above) / (2 * h * *curvature)));
}

static ct_status search(profile *s)
{
    double log_tau = log(ct_noise_get(s->l->noise, s->model)->bias->tau), at, F, below, above, curvature;
    find_range(s);
    log_tau = fmax(s->least, fmin(s->most, log_tau));
    CT_TRY(try_tau(s, log_tau, &at));
    if (!isfinite(at)) return CT_OK;
    memcpy(s->p, s->trial, (size_t)s->l->m * sizeof *s->p);
    for (double step = FIRST_STEP; fabs(step) >= LAST_STEP;) {
        int moved = 0;
        for (int side = 0; side < 2 && !moved; side++, step = moved ? step : -step) {
            CT_TRY(try_tau(s, log_tau + step, &F));
            if (!(F < at - TOLERANCE)) continue;
            memcpy(s->p, s->trial, (size_t)s->l->m * sizeof *s->p);
            log_tau += step;
            at = F;
            moved = 1;
        }
        if (!moved) step *= 0.5;
    }
    CT_TRY(try_tau(s, log_tau - LAST_STEP, &below));
    CT_TRY(try_tau(s, log_tau + LAST_STEP, &above));
    const double better = log_tau + parabola(LAST_STEP, below, at, above, &curvature);
    const int told = isfinite(curvature) && curvature > TOLERANCE / (LAST_STEP * LAST_STEP);
    const double error = told ? 1 / sqrt(curvature) : INFINITY; /* at an end of the range it is not told either */
    CT_TRY(try_tau(s, better, &F));
    const int taken = F < at;
    if (taken) memcpy(s->p, s->trial, (size_t)s->l->m * sizeof *s->p);
    return ct_likelihood_set_time_constant(s->l, s->model, exp(taken ? better : log_tau), error, s->err);
}

ct_status ct_likelihood_learn_time_constants(ct_likelihood *l, const uint8_t *part, const ct_maximise_options *options,
                                             double *p, ct_err *err)
{
    ct_maximise_options loose = options ? *options : ct_maximise_defaults();
    double *trial = ct__zalloc(2 * (int64_t)l->m, sizeof *trial);
    int constants = 0;
    ct_status status = trial ? CT_OK : ct__no_memory(err, "parameters", l->m);
    loose.tolerance = CT_MAX(loose.tolerance, TOLERANCE / 4);
    if (trial && !loose.centre) loose.centre = memcpy(trial + l->m, p, (size_t)l->m * sizeof *p);
    for (int32_t g = 0; g < l->models; g++) constants += l->slot[g] >= 0 && check_model(l, g, NULL) == CT_OK;
    for (int round = 0; round < (constants > 1 ? ROUNDS : 1); round++)
        for (int32_t g = 0; status == CT_OK && g < l->models; g++) {
            profile s = {.l = l, .model = g, .part = part, .options = &loose, .p = p, .trial = trial, .err = err};
            if (l->slot[g] >= 0 && check_model(l, g, NULL) == CT_OK) status = search(&s);
        }
    free(trial);
    return status;
}
