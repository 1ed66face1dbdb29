/* outside_features.c: a remark where features of the measurements lie outside of what a function was learned from. */
#include <covtune/conditional.h>
#include "cli/common/cli.h"

static void remark_feature(const cli_io *io, const char *path, int32_t count, const ct_sequence *const seq[],
                           const ct_noise *noise, int32_t model, int feature)
{
    const ct_noise_model      *m = ct_noise_get(noise, model);
    const ct_function_feature *range = &m->function->feature[feature];
    ct_feature_outside         found = {0};
    for (int32_t i = 0; i < count; i++) {
        if (ct_sequence_acquire(seq[i], NULL) != CT_OK) continue; /* reading it again fails with a sentence */
        ct_feature_count_outside(seq[i]->graph, noise, model, feature, &found);
        ct_sequence_release(seq[i]);
    }
    if (found.outside)
        cli_remark(io,
                   "%s: feature %s of noise model %s is outside of the range that its function was learned in, %g to "
                   "%g, in %lld of %lld measurements (%g to %g); the function has its value at the end of the range "
                   "there",
                   path, range->name, m->name, range->low, range->high, (long long)found.outside,
                   (long long)found.factors, found.low, found.high);
}

void cli_remark_outside(const cli_io *io, const char *path, int32_t count, const ct_sequence *const seq[],
                        const ct_noise *noise)
{
    for (int32_t g = 0; g < ct_noise_count(noise); g++) {
        const ct_function *f = ct_noise_get(noise, g)->function;
        for (int j = 0; f && j < f->features; j++) remark_feature(io, path, count, seq, noise, g, j);
    }
}
