/* residuals.c: what every factor of a learned model says at the truth: samples of its noise, run by run. Taken once; second moments of any part of the runs are sums over them. */
#include "graph/graph.h"
#include "learn/learn.h"

#include <math.h>

/* The value of a variable at the truth, and which of its coordinates are not known there; NULL if none is. */
static const double *truth_of(const ct_sequence *seq, int32_t v, unsigned *unknown)
{
    const ct_graph *graph = seq->graph;
    const unsigned  all = (1u << ct_kind_dim(ct_graph_kind(graph, v))) - 1;
    *unknown = all & ~(unsigned)seq->known[v];
    if (*unknown != all) return seq->truth + ct_graph_offset(graph, v);
    *unknown = 0;
    return ct_graph_fixed(graph, v) ? ct_graph_initial_const(graph) + ct_graph_offset(graph, v) : NULL;
}

/* Does the residual depend on what is not known? A GPS position does not on a heading, unless the antenna is off the middle. */
static int depends(const ct_sequence *seq, const ct__factor *f, const double *const x[], const unsigned unknown[])
{
    double r[CT_ROWS_MAX], space[CT_ARITY_MAX][CT_ROWS_MAX * CT_DIM_MAX], *J[CT_ARITY_MAX];
    for (int i = 0; i < CT_ARITY_MAX; i++) J[i] = space[i];
    ct_factor_eval(f->ops, seq->graph->z_pool + f->z, f->context, x, r, J);
    for (int i = 0; i < f->ops->arity; i++) {
        const int cols = ct_kind_dim(f->ops->kind[i]);
        for (int k = 0; k < f->ops->rows * cols; k++)
            if (unknown[i] >> (k % cols) & 1 && J[i][k] != 0) return 1;
    }
    return 0;
}

/* The residual at the truth; 0 where that is not known well enough, or is not a number. */
static int residual(const ct_sequence *seq, const ct__factor *f, double r[CT_ROWS_MAX])
{
    const int32_t *var = seq->graph->var_pool + f->var;
    const double  *x[CT_ARITY_MAX];
    unsigned       unknown[CT_ARITY_MAX], any = 0;
    for (int i = 0; i < f->ops->arity; i++) {
        if (!(x[i] = truth_of(seq, var[i], &unknown[i]))) return 0;
        any |= unknown[i];
    }
    if (any && depends(seq, f, x, unknown)) return 0;
    f->ops->eval(seq->graph->z_pool + f->z, f->context, x, r, NULL);
    for (int i = 0; i < f->ops->rows; i++)
        if (!isfinite(r[i])) return 0;
    return 1;
}

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
        const ct_sequence *seq = o->seat[i].seq;
        for (int32_t k = 0; k < seq->graph->factors; k++) {
            const ct__factor *f = &seq->graph->factor[k];
            double            r[CT_ROWS_MAX];
            if (o->slot[f->noise] < 0 || !residual(seq, f, r)) continue;
            ct__samples *s = &o->samples[o->slot[f->noise]];
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
