/* kernels.c: widths of robust kernels by likelihood.
 *
 * exp(-rho) is normalised, so a narrow kernel has a price: L falls with the width only as far as the tails of the
 * residuals ask for it. Widths are searched one at a time, in log k, by steps of a factor that halve (bracket and
 * parabola would cost as much: L is known to the tolerance of its inner maximum only). For every width the other
 * parameters are at their maximum. */
#include "likelihood/likelihood.h"

#include <math.h>

#define FIRST_STEP 0.5  /* of log k                                                          */
#define LAST_STEP  0.1  /* widths are known to 10 %: estimates hardly depend on less         */
#define WIDEST     20.0 /* in sigmas: no residual of Gaussian noise is beyond                */
#define NARROWEST  0.2
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

/* F under a width, at the maximum from p; best <- that maximum. INFINITY: no such kernel. */
static ct_status try_width(ct_likelihood *l, int32_t model, double width, const uint8_t *part,
                           const ct_maximise_options *options, const double *p, double *best, double *F, ct_err *err)
{
    const ct_robust    before = ct_noise_get(l->noise, model)->robust, robust = {before.kind, width};
    ct_maximise_result result;
    *F = INFINITY;
    if (width > WIDEST || width < NARROWEST ||
        !isfinite(ct_robust_log_normaliser(robust, ct_noise_get(l->noise, model)->dim)))
        return CT_OK;
    CT_TRY(ct_likelihood_set_robust(l, model, robust, err));
    memcpy(best, p, (size_t)l->m * sizeof *best);
    const ct_status status = ct_likelihood_maximise(l, part, options, best, &result, err);
    if (status == CT_OK && result.stop != CT_MAXIMISE_CANCELLED) *F = result.value;
    ct_maximise_result_free(&result);
    return status == CT_E_SINGULAR ? CT_OK : status; /* no estimate under it */
}

/* Steps of log k in the direction that lowers L, halved where neither does. */
static ct_status search(ct_likelihood *l, int32_t model, const uint8_t *part, const ct_maximise_options *options,
                        double *p, double *trial, ct_err *err)
{
    const ct_robust_kind kind = ct_noise_get(l->noise, model)->robust.kind;
    double               width = ct_noise_get(l->noise, model)->robust.width, F, at;
    CT_TRY(try_width(l, model, width, part, options, p, trial, &at, err));
    if (!isfinite(at)) return CT_OK;
    for (double step = FIRST_STEP; fabs(step) >= LAST_STEP;) {
        int moved = 0;
        for (int side = 0; side < 2 && !moved; side++, step = moved ? step : -step) {
            CT_TRY(try_width(l, model, width * exp(step), part, options, p, trial, &F, err));
            if (!(F < at - TOLERANCE)) continue;
            memcpy(p, trial, (size_t)l->m * sizeof *p);
            width *= exp(step);
            at = F;
            moved = 1;
        }
        if (!moved) step *= 0.5;
    }
    return ct_likelihood_set_robust(l, model, (ct_robust){kind, width}, err);
}

ct_status ct_likelihood_learn_kernels(ct_likelihood *l, const uint8_t *part, const ct_maximise_options *options,
                                      double *p, ct_err *err)
{
    ct_maximise_options loose = options ? *options : ct_maximise_defaults();
    double             *trial = ct__zalloc(2 * (int64_t)l->m, sizeof *trial);
    int                 kernels = 0;
    ct_status           status = trial ? CT_OK : ct__no_memory(err, "parameters", l->m);
    loose.tolerance = CT_MAX(loose.tolerance, TOLERANCE);
    if (trial && !loose.centre) loose.centre = memcpy(trial + l->m, p, (size_t)l->m * sizeof *p);
    for (int32_t g = 0; g < l->models; g++)
        kernels += l->slot[g] >= 0 && ct_noise_get(l->noise, g)->robust.kind != CT_ROBUST_NONE;
    for (int round = 0; round < (kernels > 1 ? ROUNDS : 1); round++)
        for (int32_t g = 0; status == CT_OK && g < l->models; g++)
            if (l->slot[g] >= 0 && ct_noise_get(l->noise, g)->robust.kind != CT_ROBUST_NONE)
                status = search(l, g, part, &loose, p, trial, err);
    free(trial);
    return status;
}

ct_robust ct_likelihood_robust(const ct_likelihood *l, int32_t model)
{
    return model >= 0 && model < l->models ? ct_noise_get(l->noise, model)->robust : (ct_robust){0};
}
