/* outside.c: features outside of the range that a function was learned in. Its ends are the extremes of a sample, which
 * others of the same situations exceed now and then: by less than NEAR of the range that is no other situation. */
#include <covtune/conditional.h>

#include <math.h>

#define NEAR 0.1

void ct_feature_count_outside(const ct_graph *graph, const ct_noise *noise, int32_t model, int feature,
                              ct_feature_outside *out)
{
    const ct_function *f = ct_noise_get(noise, model)->function;
    if (!f || feature < 0 || feature >= f->features) return;
    const ct_function_feature *range = &f->feature[feature];
    const double               near = NEAR * (range->high - range->low);
    const int                  column = ct_graph_find_feature(graph, range->name);
    for (int32_t k = 0; column >= 0 && k < ct_graph_factors(graph); k++) {
        if (ct_graph_factor(graph, k).noise != model) continue;
        const double x = ct_graph_feature(graph, k, column);
        out->factors++;
        if (!(x < range->low - near || x > range->high + near)) continue;
        out->low = out->outside ? fmin(out->low, x) : x;
        out->high = out->outside ? fmax(out->high, x) : x;
        out->outside++;
    }
}
