/* time_constants.c: time constants and periods of biases, learned before the variances are.
 *
 * The truth does not know a bias, so there is no closed form of its process. The likelihood of measurements and truth
 * determines it (likelihood.h). The tracking loss hardly does: estimates change little within a factor of two of tau,
 * and the strength makes up for what remains. */
#include "learn/learn.h"

#include <math.h>

static int is_learned(const ct_noise *noise, const ct_theta *theta, int32_t g)
{
    const ct_bias *bias = ct_noise_get(noise, g)->bias;
    return bias && bias->tau > 0 && ct_theta_learns(theta, g);
}

static ct_status learn(ct_likelihood *l, int32_t count, ct_sequence *const seq[], ct_noise *noise,
                       const ct_theta *theta, int32_t *learned, ct_err *err)
{
    const int32_t m = ct_theta_count(theta);
    double *p = ct__zalloc(m, sizeof *p);
    if (!p) return ct__no_memory(err, "parameters", m);
    ct_theta_get(theta, noise, p);
    ct_theta_project(theta, CT_SPACE_LOG, p);
    ct_status status = ct_likelihood_learn_time_constants(l, NULL, NULL, p, err);
    free(p);
    for (int32_t g = 0; status == CT_OK && g < ct_noise_count(noise); g++) {
        if (!is_learned(noise, theta, g)) continue;
        ct_bias bias = *ct_noise_get(noise, g)->bias;
        bias.tau = ct_likelihood_time_constant(l, g, &bias.tau_error);
        if (bias.period > 0) bias.period = ct_likelihood_period(l, g, &bias.period_error);
        status = ct_noise_set_bias(noise, g, &bias, err);
        ++*learned;
    }
    for (int32_t i = 0; status == CT_OK && i < count; i++) {
        status = ct_sequence_acquire(seq[i], err);
        if (status != CT_OK) break;
        status = ct_sequence_apply_biases(seq[i], noise, err);
        ct_sequence_release(seq[i]);
    }
    return status;
}

ct_status ct_learn_time_constants(int32_t count, ct_sequence *const seq[], ct_noise *noise, const ct_theta *theta,
                                  const ct_outer_options *options, int32_t *learned, ct_err *err)
{
    ct_likelihood_options how = ct_likelihood_defaults();
    ct_likelihood *l = NULL;
    int32_t wanted = 0, done = 0;
    if (learned) *learned = 0;
    for (int32_t g = 0; g < ct_noise_count(noise); g++) wanted += is_learned(noise, theta, g);
    if (!wanted) return CT_OK;
    how.truth = !options->no_truth;
    how.jobs = options->jobs;
    ct_status status = ct_likelihood_new(count, (const ct_sequence *const *)seq, noise, theta, &how, &l, err);
    if (status == CT_OK) status = learn(l, count, seq, noise, theta, &done, err);
    ct_likelihood_free(l);
    if (learned) *learned = done;
    return status == CT_E_NOISE || status == CT_E_UNSUPPORTED || status == CT_E_SINGULAR ? CT_OK : status;
}
