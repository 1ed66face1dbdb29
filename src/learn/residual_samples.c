/* residual_samples.c: residuals at the truth of all factors of learned models, by sequence: samples of their noise.
 * Collected once. Second moments over any part of the sequences are sums over those of single sequences; the residuals
 * themselves are needed where a model has a robust kernel. With a limit of memory they are kept for such models
 * alone. */
#include "evaluate/evaluate.h"
#include "graph/graph.h"
#include "learn/learn.h"

static int64_t factors_of(const ct_sequence *seq, int32_t g)
{
    return g < seq->graph->noise_count ? seq->graph->noise_use[g].factors : 0;
}

/* Room for all factors of the model; samples_end closes the gaps of those without residual. */
static ct_status make_room(ct_outer *o, int32_t g, ct__samples *s, ct_err *err)
{
    s->robust = ct_noise_get(o->base, g)->robust.kind != CT_ROBUST_NONE;
    const int kept = s->robust || (!o->store && !o->owner); /* over ranks, too, each has those of robust models alone */
    s->dim = ct_noise_get(o->base, g)->dim;
    s->first = ct__zalloc((int64_t)o->count + 1, sizeof *s->first);
    s->sum = ct__zalloc((int64_t)o->count * s->dim * s->dim, sizeof *s->sum);
    s->shape = ct__zalloc((int64_t)o->count * s->dim * CT__SHAPE, sizeof *s->shape);
    if (!s->first || !s->sum || !s->shape) return ct__no_memory(err, "sequences", o->count);
    for (int32_t i = 0; i < o->count; i++) s->first[i + 1] = s->first[i] + factors_of(o->inner[i].seq, g);
    const int64_t numbers = s->first[o->count] * s->dim, bytes = numbers * (int64_t)sizeof *s->r;
    if (!kept) return CT_OK;
    if (o->store) {
        CT_TRY(ct__store_reserve(o->store, bytes, o->scratches, "residuals at the truth, for robust kernels,", err));
        o->reserved += bytes;
    }
    s->r = ct__zalloc(numbers, sizeof *s->r);
    return s->r ? CT_OK : ct__no_memory(err, "residuals", numbers);
}

ct_status ct__samples_begin(ct_outer *o, ct_err *err)
{
    o->samples = ct__zalloc(o->slots, sizeof *o->samples);
    if (!o->samples) return ct__no_memory(err, "noise models", o->slots);
    for (int32_t g = 0; g < o->models; g++)
        if (o->slot[g] >= 0) CT_TRY(make_room(o, g, &o->samples[o->slot[g]], err));
    return CT_OK;
}

/* before: per slot the last CT__LAGS residuals, the n-th at n % CT__LAGS. */
static void add_shape(double *shape, int dim, int64_t n, const double *r, double before[CT__LAGS][CT_ROWS_MAX])
{
    for (int a = 0; a < dim; a++) {
        double *to = shape + a * CT__SHAPE;
        to[0] += r[a];
        to[1] += r[a] * r[a] * r[a] * r[a];
        for (int lag = 1; lag <= CT__LAGS && lag <= n; lag++) to[1 + lag] += r[a] * before[(n - lag) % CT__LAGS][a];
    }
    memcpy(before[n % CT__LAGS], r, (size_t)dim * sizeof *r);
}

ct_status ct__samples_of(ct_outer *o, int32_t i, ct_err *err)
{
    const ct_sequence *seq = o->inner[i].seq;
    int64_t           *count = o->inner[i].samples;
    double (*before)[CT__LAGS][CT_ROWS_MAX] = ct__zalloc(o->slots, sizeof *before);
    if (!before) return ct__no_memory(err, "noise models", o->slots);
    for (int32_t k = 0; k < seq->graph->factors; k++) {
        const int32_t slot = o->slot[seq->graph->factor[k].noise];
        double        r[CT_ROWS_MAX];
        if (slot < 0 || !ct__truth_residual(seq, k, r)) continue;
        ct__divide_by_function(seq->graph, o->base, k, r);
        ct__samples *s = &o->samples[slot];
        const int    n = s->dim;
        double      *sum = s->sum + (int64_t)i * n * n;
        for (int a = 0; a < n; a++)
            for (int b = 0; b < n; b++) sum[a * n + b] += r[a] * r[b];
        add_shape(s->shape + (int64_t)i * n * CT__SHAPE, n, count[slot], r, before[slot]);
        if (s->r) memcpy(s->r + (s->first[i] + count[slot]) * n, r, (size_t)n * sizeof *r);
        count[slot]++;
    }
    free(before);
    return CT_OK;
}

/* Of every slot: the number of samples, their moments, and of robust models themselves. */
int64_t ct__samples_bytes(const ct_outer *o, int32_t i)
{
    int64_t numbers = 0;
    for (int32_t slot = 0; slot < o->slots; slot++) {
        const ct__samples *s = &o->samples[slot];
        numbers += 1 + (int64_t)s->dim * (s->dim + CT__SHAPE);
        if (s->robust) numbers += (s->first[i + 1] - s->first[i]) * s->dim;
    }
    return numbers * (int64_t)sizeof(double);
}

static char *copy_block(char *record, void *block, int64_t numbers, int out)
{
    const size_t bytes = (size_t)numbers * sizeof(double);
    if (bytes) memcpy(out ? record : block, out ? block : record, bytes);
    return record + bytes;
}

void ct__samples_copy(ct_outer *o, int32_t i, char *record, int out)
{
    for (int32_t slot = 0; slot < o->slots; slot++) {
        ct__samples  *s = &o->samples[slot];
        const int64_t square = (int64_t)s->dim * s->dim, room = s->first[i + 1] - s->first[i];
        record = copy_block(record, &o->inner[i].samples[slot], 1, out);
        record = copy_block(record, s->sum + i * square, square, out);
        record = copy_block(record, s->shape + (int64_t)i * s->dim * CT__SHAPE, (int64_t)s->dim * CT__SHAPE, out);
        if (s->robust) record = copy_block(record, s->r + s->first[i] * s->dim, room * s->dim, out);
    }
}

ct_status ct__samples_end(ct_outer *o, ct_err *err)
{
    (void)err;
    for (int32_t slot = 0; slot < o->slots; slot++) {
        ct__samples *s = &o->samples[slot];
        for (int32_t i = 0; i < o->count; i++) {
            const int64_t from = s->first[i], count = o->inner[i].samples[slot];
            if (s->r && from != s->count)
                memmove(s->r + s->count * s->dim, s->r + from * s->dim, (size_t)(count * s->dim) * sizeof *s->r);
            s->first[i] = s->count;
            s->count += count;
        }
        s->first[o->count] = s->count;
    }
    for (int32_t i = 0; i < o->count; i++) {
        free(o->inner[i].samples);
        o->inner[i].samples = NULL;
    }
    return CT_OK;
}

void ct__free_samples(ct_outer *o)
{
    for (int32_t slot = 0; o->samples && slot < o->slots; slot++) {
        free(o->samples[slot].r);
        free(o->samples[slot].first);
        free(o->samples[slot].sum);
        free(o->samples[slot].shape);
    }
    for (int32_t i = 0; o->inner && i < o->count; i++) free(o->inner[i].samples);
    free(o->samples);
}
