/* kernels.c: widths of robust kernels, shares and ratios of max-mixtures, by likelihood.
 *
 * exp(-rho) is normalised, so a narrow kernel has a price: L falls with the width only as far as the tails of the
 * residuals ask for it. Widths, and share and ratio of max-mixtures, are searched one at a time, in logarithms, by
 * steps of a factor that halve (bracket and parabola would cost as much: L is known to the tolerance of its inner
 * maximum only). For every trial the other parameters are at their maximum. */
#include "likelihood/likelihood.h"

#include <math.h>

#define FIRST_STEP 0.5  /* of log k                                                          */
#define LAST_STEP  0.1  /* widths are known to 10 %: estimates hardly depend on less         */
#define WIDEST     20.0 /* in sigmas: no residual of Gaussian noise is beyond                */
#define NARROWEST  0.2
#define LEAST_RATIO 1.1 /* below, the wide component is no other                             */
#define MOST_RATIO 1e3  /* flat within any recording                                         */
#define TOLERANCE  1e-2 /* of L under a width, nats                                          */
#define ROUNDS     2

ct_status ct_likelihood_set_robust(ct_likelihood *l, int32_t model, ct_robust robust, ct_err *err)
{
    if (model < 0 || model >= l->models)
        return ct_fail(err, CT_E_ARGUMENT, "there is no noise model %d: the table has %d", model, l->models);
    const ct_noise_model *at = ct_noise_get(l->noise, model);
    const double          normaliser = ct_robust_log_normaliser(robust, at->dim);
    if (l->slot[model] >= 0 && !isfinite(normaliser)) return ct__no_normaliser(at, robust, err);
    CT_TRY(ct_noise_set_robust(l->noise, model, robust, err));
    l->normaliser[model] = normaliser;
    return CT_OK;
}

/* F under a kernel, at the maximum from p; best <- that maximum. INFINITY: no such kernel. */
static ct_status try_kernel(ct_likelihood *l, int32_t model, ct_robust robust, const uint8_t *part,
                            const ct_maximise_options *options, const double *p, double *best, double *F, ct_err *err)
{
    ct_maximise_result result;
    *F = INFINITY;
    if (!(robust.width <= WIDEST) || robust.width < NARROWEST || robust.ratio > MOST_RATIO ||
        (robust.ratio > 0 && robust.ratio < LEAST_RATIO) ||
        !isfinite(ct_robust_log_normaliser(robust, ct_noise_get(l->noise, model)->dim)))
        return CT_OK;
    CT_TRY(ct_likelihood_set_robust(l, model, robust, err));
    memcpy(best, p, (size_t)l->m * sizeof *best);
    const ct_status status = ct_likelihood_maximise(l, part, options, best, &result, err);
    if (status == CT_OK && result.stop != CT_MAXIMISE_CANCELLED) *F = result.value;
    ct_maximise_result_free(&result);
    return status == CT_E_SINGULAR ? CT_OK : status; /* no estimate under it */
}

/* Width times the factor. Of a max-mixture the odds of the share, or the ratio at that share: the share depends on the
 * width by exp(k^2/2), so that steps of the width are too coarse. */
static ct_robust changed(ct_robust robust, int rows, int ratio, double factor)
{
    if (robust.kind == CT_ROBUST_MAX_MIXTURE) {
        const double share = ct_robust_share(robust, rows), odds = share / (1 - share) * (ratio ? 1 : factor);
        return ct_robust_of_share(odds / (1 + odds), robust.ratio * (ratio ? factor : 1), rows);
    }
    robust.width *= factor;
    return robust;
}

/* Steps of the logarithm in the direction that lowers L, halved where neither does. */
static ct_status search(ct_likelihood *l, int32_t model, int ratio, const uint8_t *part,
                        const ct_maximise_options *options, double *p, double *trial, ct_err *err)
{
    ct_robust robust = ct_noise_get(l->noise, model)->robust;
    const int rows = ct_noise_get(l->noise, model)->dim;
    double    F, at;
    CT_TRY(try_kernel(l, model, robust, part, options, p, trial, &at, err));
    if (!isfinite(at)) return CT_OK;
    for (double step = FIRST_STEP; fabs(step) >= LAST_STEP;) {
        int moved = 0;
        for (int side = 0; side < 2 && !moved; side++, step = moved ? step : -step) {
            CT_TRY(try_kernel(l, model, changed(robust, rows, ratio, exp(step)), part, options, p, trial, &F, err));
            if (!(F < at - TOLERANCE)) continue;
            memcpy(p, trial, (size_t)l->m * sizeof *p);
            robust = changed(robust, rows, ratio, exp(step));
            at = F;
            moved = 1;
        }
        if (!moved) step *= 0.5;
    }
    return ct_likelihood_set_robust(l, model, robust, err);
}

ct_status ct_likelihood_learn_kernels(ct_likelihood *l, const uint8_t *part, const ct_maximise_options *options,
                                      double *p, ct_err *err)
{
    ct_maximise_options loose = options ? *options : ct_maximise_defaults();
    double             *trial = ct__zalloc(2 * (int64_t)l->m, sizeof *trial);
    int                 numbers = 0; /* to be searched, in turn */
    ct_status           status = trial ? CT_OK : ct__no_memory(err, "parameters", l->m);
    loose.tolerance = CT_MAX(loose.tolerance, TOLERANCE);
    if (trial && !loose.centre) loose.centre = memcpy(trial + l->m, p, (size_t)l->m * sizeof *p);
    for (int32_t g = 0; g < l->models; g++) {
        const ct_robust robust = ct_noise_get(l->noise, g)->robust;
        if (l->slot[g] >= 0) numbers += (robust.width > 0) + (robust.ratio > 0);
    }
    for (int round = 0; round < (numbers > 1 ? ROUNDS : 1); round++)
        for (int32_t g = 0; status == CT_OK && g < l->models; g++) {
            const ct_robust robust = ct_noise_get(l->noise, g)->robust;
            if (l->slot[g] < 0 || robust.kind == CT_ROBUST_NONE) continue;
            status = search(l, g, 0, part, &loose, p, trial, err);
            if (status == CT_OK && robust.ratio > 0) status = search(l, g, 1, part, &loose, p, trial, err);
        }
    free(trial);
    return status;
}

ct_robust ct_likelihood_robust(const ct_likelihood *l, int32_t model)
{
    return model >= 0 && model < l->models ? ct_noise_get(l->noise, model)->robust : (ct_robust){0};
}
