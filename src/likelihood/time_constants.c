/* time_constants.c: time constants of Gauss-Markov biases, and periods of oscillations, by likelihood.
 *
 * tau enters a step's residual (c - f b) / sqrt(1 - f^2), f = exp(-dt / tau), and its normaliser: the density of c
 * given b has a further sqrt(1 - f^2) a row, so that
 *
 *     L has  sum over steps of  rows / 2 log(1 - f^2)
 *
 * beside what it has of other factors. L is minimised over log tau with the other parameters at their minimum for each
 * value (a profile): steps that halve, then a parabola through the best value and its neighbours, whose curvature is
 * the information on log tau with the other parameters unknown. Estimates hardly depend on less than 5 % of tau.
 *
 * An oscillation has a period as well. L has a minimum for each frequency that the data seem to hold, of a width
 * period / (2 pi tau) in log period. So a period that nobody gave is first looked for on a grid, with tau as short as
 * the period, where minima are wider than the grid; then period and tau are searched in turn. */
#include "graph/graph.h"
#include "likelihood/likelihood.h"

#include <math.h>

#define FIRST_STEP 1.1 /* of log tau                                      */
#define LAST_STEP  0.25
#define TOLERANCE  1e-2 /* of L under a tau, nats                          */
#define COARSE     0.5  /* the same of the grid of periods                 */
#define ROUNDS     3    /* over several time constants                     */
#define TURNS      4    /* of period and tau, of one oscillation           */
#define GRID       0.34 /* of log period: a minimum is 0.32 wide           */
#define SHORTEST   0.1  /* of the shortest step: states are independent    */
#define LONGEST    30.0 /* of the longest chain: the bias is constant      */
#define TWO_PI     6.283185307179586
#define FASTEST    3.0  /* steps of the shortest period                    */

static int swings(const ct_factor_ops *ops)
{
    return ops == &ct_oscillation_r1 || ops == &ct_oscillation_r2 || ops == &ct_oscillation_r3;
}

static int has_tau(const ct_factor_ops *ops)
{
    return ops == &ct_gauss_markov_r1 || ops == &ct_gauss_markov_r2 || ops == &ct_gauss_markov_r3 || swings(ops);
}

double ct__likelihood_steps(const ct_graph *g)
{
    double sum = 0;
    for (int32_t f = 0; f < g->factors; f++) {
        const double *z = g->z_pool + g->factor[f].z;
        if (has_tau(g->factor[f].ops)) sum += 0.5 * g->factor[f].ops->rows * log(-expm1(-2 * z[0] / z[1]));
    }
    return sum;
}

static void put_times(ct_graph *g, int32_t model, const ct_bias *bias)
{
    for (int32_t f = 0; f < g->factors; f++) {
        double *z = g->z_pool + g->factor[f].z;
        if (g->factor[f].noise != model || !has_tau(g->factor[f].ops)) continue;
        z[1] = bias->tau;
        if (swings(g->factor[f].ops)) z[2] = copysign(bias->period, z[2]);
    }
}

void ct__likelihood_put_times(const ct_likelihood *l, ct_graph *graph)
{
    for (int32_t g = 0; g < l->models; g++)
        if (l->retimed[g]) put_times(graph, g, ct_noise_get(l->noise, g)->bias);
}

static ct_status check_model(const ct_likelihood *l, int32_t model, int period, ct_err *err)
{
    const ct_noise_model *m = model >= 0 && model < l->models ? ct_noise_get(l->noise, model) : NULL;
    if (m && m->bias && m->bias->process == CT_BIAS_OSCILLATION) return CT_OK;
    if (m && m->bias && m->bias->process == CT_BIAS_GAUSS_MARKOV && !period) return CT_OK;
    return ct_fail(err, CT_E_ARGUMENT, "noise model %d is not the strength of %s bias", model,
                   period ? "an oscillating" : "a Gauss-Markov or oscillating");
}

static ct_status set_bias(ct_likelihood *l, int32_t model, const ct_bias *bias, ct_err *err)
{
    CT_TRY(ct_noise_set_bias(l->noise, model, bias, err));
    l->retimed[model] = 1;
    for (int32_t i = 0; !l->store && i < l->count; i++) {
        ct__likelihood_sequence *s = &l->sequence[i];
        put_times(s->whole, model, bias);
        if (s->graph != s->whole) put_times(s->graph, model, bias);
        s->steps = ct__likelihood_steps(s->graph);
    }
    return CT_OK;
}

ct_status ct_likelihood_set_time_constant(ct_likelihood *l, int32_t model, double tau, double log_error, ct_err *err)
{
    CT_TRY(check_model(l, model, 0, err));
    ct_bias bias = *ct_noise_get(l->noise, model)->bias;
    bias.tau = tau;
    bias.tau_error = log_error;
    return set_bias(l, model, &bias, err);
}

double ct_likelihood_time_constant(const ct_likelihood *l, int32_t model, double *log_error)
{
    const int good = check_model(l, model, 0, NULL) == CT_OK;
    if (log_error) *log_error = good ? ct_noise_get(l->noise, model)->bias->tau_error : NAN;
    return good ? ct_noise_get(l->noise, model)->bias->tau : NAN;
}

ct_status ct_likelihood_set_period(ct_likelihood *l, int32_t model, double period, double log_error, ct_err *err)
{
    CT_TRY(check_model(l, model, 1, err));
    ct_bias bias = *ct_noise_get(l->noise, model)->bias;
    bias.period = period;
    bias.period_error = log_error;
    return set_bias(l, model, &bias, err);
}

double ct_likelihood_period(const ct_likelihood *l, int32_t model, double *log_error)
{
    const int good = check_model(l, model, 1, NULL) == CT_OK;
    if (log_error) *log_error = good ? ct_noise_get(l->noise, model)->bias->period_error : NAN;
    return good ? ct_noise_get(l->noise, model)->bias->period : NAN;
}

/* ---- The profile ----------------------------------------------------------------------------- */

typedef struct {
    ct_likelihood *l;
    int32_t model;
    const uint8_t *part;
    const ct_maximise_options *options;
    double *p, *trial;        /* the best, and that of the last value */
    int period;               /* what is searched: 0 tau, 1 the period */
    double least[2], most[2]; /* of log tau, of log period */
    double longest;           /* chain */
    int cancelled;
    ct_err *err;
} profile;

static const ct_bias *bias_of(const profile *s) { return ct_noise_get(s->l->noise, s->model)->bias; }

/* The range of tau: from independent states to a constant; of periods: from a few steps to the longest chain. */
static ct_status find_range(profile *s)
{
    double shortest = INFINITY;
    s->longest = 0;
    for (int32_t i = 0; i < s->l->count; i++) {
        const ct_sequence *seq = s->l->sequence[i].seq;
        const ct_graph    *g = s->l->store ? seq->graph : s->l->sequence[i].graph;
        CT_TRY(ct_sequence_acquire(seq, s->err));
        double sum = 0;
        int sides = 1;
        for (int32_t f = 0; f < g->factors; f++) {
            const double dt = g->z_pool[g->factor[f].z];
            if (g->factor[f].noise != s->model || !has_tau(g->factor[f].ops)) continue;
            if (swings(g->factor[f].ops)) sides = 2; /* a step has two factors */
            shortest = fmin(shortest, dt);
            sum += dt;
        }
        s->longest = fmax(s->longest, sum / sides);
        ct_sequence_release(seq);
    }
    s->least[0] = log(SHORTEST * shortest);
    s->most[0] = log(LONGEST * s->longest);
    s->least[1] = log(FASTEST * shortest);
    s->most[1] = fmax(s->least[1], log(s->longest));
    return CT_OK;
}

static double value_of(const profile *s) { return log(s->period ? bias_of(s)->period : bias_of(s)->tau); }

static ct_status put(profile *s, double log_value, double error)
{
    return s->period ? ct_likelihood_set_period(s->l, s->model, exp(log_value), error, s->err)
                     : ct_likelihood_set_time_constant(s->l, s->model, exp(log_value), error, s->err);
}

/* *F <- L at a value, with the parameters at their maximum from p. INFINITY: out of range, or no estimate. */
static ct_status try_value(profile *s, double log_value, double *F)
{
    ct_maximise_result result;
    *F = INFINITY;
    if (!(log_value >= s->least[s->period] && log_value <= s->most[s->period]) || s->cancelled) return CT_OK;
    CT_TRY(put(s, log_value, NAN));
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

/* The minimum over one value, from where it is, by steps from `first` down to `last`. */
static ct_status search(profile *s, double first, double last)
{
    double log_value = fmax(s->least[s->period], fmin(s->most[s->period], value_of(s)));
    double at, F, below, above, curvature;
    CT_TRY(try_value(s, log_value, &at));
    if (!isfinite(at)) return CT_OK;
    memcpy(s->p, s->trial, (size_t)s->l->m * sizeof *s->p);
    for (double step = first; fabs(step) >= last;) {
        int moved = 0;
        for (int side = 0; side < 2 && !moved; side++, step = moved ? step : -step) {
            CT_TRY(try_value(s, log_value + step, &F));
            if (!(F < at - TOLERANCE)) continue;
            memcpy(s->p, s->trial, (size_t)s->l->m * sizeof *s->p);
            log_value += step;
            at = F;
            moved = 1;
        }
        if (!moved) step *= 0.5;
    }
    CT_TRY(try_value(s, log_value - last, &below));
    CT_TRY(try_value(s, log_value + last, &above));
    const double better = log_value + parabola(last, below, at, above, &curvature);
    const int told = isfinite(curvature) && curvature > TOLERANCE / (last * last);
    const double error = told ? 1 / sqrt(curvature) : INFINITY; /* at an end of the range it is not told either */
    CT_TRY(try_value(s, better, &F));
    const int taken = F < at;
    if (taken) memcpy(s->p, s->trial, (size_t)s->l->m * sizeof *s->p);
    return put(s, taken ? better : log_value, error);
}

/* The best period of a grid, each with a tau as long as itself. */
static ct_status scan_periods(profile *s)
{
    const ct_maximise_options *options = s->options;
    ct_maximise_options coarse = *options;
    coarse.tolerance = COARSE;
    s->options = &coarse;
    double least = INFINITY, best = value_of(s);
    double *kept = ct__zalloc(s->l->m, sizeof *kept);
    if (!kept) return ct__no_memory(s->err, "parameters", s->l->m);
    memcpy(kept, s->p, (size_t)s->l->m * sizeof *kept);
    ct_status status = CT_OK;
    for (double at = s->least[1]; status == CT_OK && at <= s->most[1] && !s->cancelled; at += GRID) {
        double F;
        status = ct_likelihood_set_time_constant(s->l, s->model, exp(at), NAN, s->err);
        if (status == CT_OK) status = try_value(s, at, &F);
        if (status != CT_OK || !isfinite(F)) continue;
        memcpy(s->p, s->trial, (size_t)s->l->m * sizeof *s->p); /* where the neighbour starts */
        if (!(F < least)) continue;
        least = F;
        best = at;
        memcpy(kept, s->trial, (size_t)s->l->m * sizeof *kept);
    }
    memcpy(s->p, kept, (size_t)s->l->m * sizeof *s->p);
    free(kept);
    s->options = options;
    CT_TRY(status);
    CT_TRY(ct_likelihood_set_time_constant(s->l, s->model, exp(best), NAN, s->err));
    return ct_likelihood_set_period(s->l, s->model, exp(best), NAN, s->err);
}

static ct_status learn_oscillation(profile *s)
{
    s->period = 1;
    if (isinf(bias_of(s)->period_error)) CT_TRY(scan_periods(s));
    for (int turn = 0; turn < TURNS && !s->cancelled; turn++) {
        const double before = bias_of(s)->tau;
        const double width = bias_of(s)->period / (TWO_PI * fmin(before, s->longest));
        s->period = 1;
        CT_TRY(search(s, fmin(width, GRID), fmin(width, GRID) / 4));
        s->period = 0;
        CT_TRY(search(s, turn ? 2 * LAST_STEP : FIRST_STEP, LAST_STEP));
        if (fabs(log(bias_of(s)->tau / before)) < LAST_STEP) break;
    }
    return CT_OK;
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
    for (int32_t g = 0; g < l->models; g++) constants += l->slot[g] >= 0 && check_model(l, g, 0, NULL) == CT_OK;
    for (int round = 0; round < (constants > 1 ? ROUNDS : 1); round++)
        for (int32_t g = 0; status == CT_OK && g < l->models; g++) {
            profile s = {.l = l, .model = g, .part = part, .options = &loose, .p = p, .trial = trial, .err = err};
            if (l->slot[g] < 0 || check_model(l, g, 0, NULL) != CT_OK) continue;
            status = find_range(&s);
            if (status != CT_OK) break;
            status = bias_of(&s)->process == CT_BIAS_OSCILLATION ? learn_oscillation(&s)
                                                                 : search(&s, FIRST_STEP, LAST_STEP);
        }
    free(trial);
    return status;
}
