/* residual_samples.c: residuals at the truth of all factors of learned models, by sequence: samples of their noise.
 * Collected once. Second moments over any part of the sequences are sums over them. */
#include "evaluate/evaluate.h"
#include "graph/graph.h"
#include "learn/learn.h"

ct_status ct__collect_samples(ct_outer *o, ct_err *err)
{
    o->samples = ct__zalloc(o->slots, sizeof *o->samples);
    if (!o->samples) return ct__no_memory(err, "noise models", o->slots);
    for (int32_t g = 0; g < o->models; g++) {
        if (o->slot[g] < 0) continue;
        ct__samples *s = &o->samples[o->slot[g]];
        s->dim = ct_noise_get(o->base, g)->dim;
        s->first = ct__zalloc((int64_t)o->count + 1, sizeof *s->first);
        if (!s->first) return ct__no_memory(err, "sequences", o->count);
    }
    for (int32_t i = 0; i < o->count; i++) {
        const ct_sequence *seq = o->inner[i].seq;
        for (int32_t k = 0; k < seq->graph->factors; k++) {
            const int32_t slot = o->slot[seq->graph->factor[k].noise];
            double        r[CT_ROWS_MAX];
            if (slot < 0 || !ct__truth_residual(seq, k, r)) continue;
            ct__divide_by_function(seq->graph, o->base, k, r);
            ct__samples *s = &o->samples[slot];
            CT_TRY(ct__grow(&s->r, &s->capacity, (s->count + 1) * s->dim, sizeof *s->r, "residuals", err));
            memcpy(s->r + s->count++ * s->dim, r, (size_t)s->dim * sizeof *r);
        }
        for (int32_t slot = 0; slot < o->slots; slot++) o->samples[slot].first[i + 1] = o->samples[slot].count;
    }
    return CT_OK;
}

void ct__free_samples(ct_outer *o)
{
    for (int32_t slot = 0; o->samples && slot < o->slots; slot++) {
        free(o->samples[slot].r);
        free(o->samples[slot].first);
    }
    free(o->samples);
}
