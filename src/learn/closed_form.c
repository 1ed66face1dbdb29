/* closed_form.c: with the truth known, residuals at the truth are samples of the noise, and their second moments
 *
 *     Sigma_g = 1/N sum_k w_k r_k r_k'      over the factors of model g whose variables' truth is known
 *
 * are theta of most likelihood, in milliseconds. w is the robust weight at the Sigma found so far (1 without a kernel), iterated: the scatter that the
 * kernel itself believes in. Tied parameters pool their samples. Means are not taken off: a bias is an error that the model has to answer for. */
#include "graph/graph.h"
#include "learn/learn.h"

#include <math.h>

#define ENTRIES       (CT_NOISE_DIM_MAX * CT_NOISE_DIM_MAX)
#define ROBUST_PASSES 30 /* the scatter converges linearly; this is to 1e-4 or so with few outliers */

typedef struct {
    double  sum[ENTRIES]; /* of w r r' */
    int64_t count;
} moments;

typedef struct {
    const ct_outer *outer;
    const uint8_t  *part;
    ct_noise       *noise;  /* what was found so far */
    moments        *model;  /* per learned model     */
} closed;

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

static void add_factor(const closed *c, const ct_sequence *seq, const ct__factor *f, moments *to)
{
    const ct_noise_model *model = ct_noise_get(c->noise, f->noise);
    const int             n = model->dim;
    const int32_t        *var = seq->graph->var_pool + f->var;
    const double         *x[CT_ARITY_MAX];
    double                r[CT_ROWS_MAX], w = 1;
    unsigned              unknown[CT_ARITY_MAX], any = 0;
    for (int i = 0; i < f->ops->arity; i++) {
        if (!(x[i] = truth_of(seq, var[i], &unknown[i]))) return;
        any |= unknown[i];
    }
    if (any && depends(seq, f, x, unknown)) return;
    f->ops->eval(seq->graph->z_pool + f->z, f->context, x, r, NULL);
    for (int i = 0; i < n; i++)
        if (!isfinite(r[i])) return;
    if (model->robust.kind != CT_ROBUST_NONE) {
        double d2 = 0;
        for (int i = 0; i < n; i++) {
            double u = 0;
            if (model->kind != CT_NOISE_FULL) u = model->sqrt_info[i] * r[i];
            else
                for (int k = i; k < n; k++) u += model->sqrt_info[i * n + k] * r[k];
            d2 += u * u;
        }
        ct_robust_error(model->robust, d2, &w);
    }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) to->sum[i * n + k] += w * r[i] * r[k];
    to->count++;
}

static void gather(closed *c)
{
    const ct_outer *o = c->outer;
    memset(c->model, 0, (size_t)o->slots * sizeof *c->model);
    for (int32_t i = 0; i < o->count; i++) {
        const ct_sequence *seq = o->seat[i].seq;
        if (c->part && !c->part[i]) continue;
        for (int32_t f = 0; f < seq->graph->factors; f++) {
            const int32_t slot = o->slot[seq->graph->factor[f].noise];
            if (slot >= 0) add_factor(c, seq, &seq->graph->factor[f], &c->model[slot]);
        }
    }
}

/* Variances of parameter j, pooled over all coordinates that it scales; 0 where there is no sample. */
static double pooled_variance(const closed *c, int32_t j, int64_t *count)
{
    const ct_outer        *o = c->outer;
    const ct_theta_slopes *s = o->slopes;
    double                 sum = 0;
    *count = 0;
    for (int32_t g = 0; g < o->models; g++)
        for (int32_t t = s->first[g]; t < s->first[g + 1]; t++) {
            const moments *m = &c->model[o->slot[g]];
            const int      n = ct_noise_get(c->noise, g)->dim;
            if (s->parameter[t] != j || s->coordinate[t] == -1) continue;
            for (int i = 0; i < n; i++) {
                if (s->coordinate[t] >= 0 && s->coordinate[t] != i) continue;
                sum += m->sum[i * n + i];
                *count += m->count;
            }
        }
    return *count ? sum / (double)*count : 0;
}

/* Sigma of the full block whose first parameter is j, pooled over models. */
static void pooled_matrix(const closed *c, int32_t j, moments *out)
{
    const ct_outer        *o = c->outer;
    const ct_theta_slopes *s = o->slopes;
    memset(out, 0, sizeof *out);
    for (int32_t g = 0; g < o->models; g++) {
        if (o->slot[g] < 0 || s->coordinate[s->first[g]] != -1 || s->parameter[s->first[g]] != j) continue;
        for (int i = 0; i < ENTRIES; i++) out->sum[i] += c->model[o->slot[g]].sum[i];
        out->count += c->model[o->slot[g]].count;
    }
    for (int i = 0; i < ENTRIES && out->count; i++) out->sum[i] /= (double)out->count;
}

/* The model's numbers <- what was found. samples (per parameter, may be NULL) are noted. */
static void take_over(closed *c, int32_t g, int64_t *samples)
{
    const ct_outer        *o = c->outer;
    const ct_theta_slopes *s = o->slopes;
    const ct_noise_model  *model = ct_noise_get(c->noise, g);
    const int32_t          first = s->first[g], end = s->first[g + 1];
    int64_t                count;
    if (s->coordinate[first] == -1) {
        moments m;
        pooled_matrix(c, s->parameter[first], &m);
        const int fits = m.count > model->dim && ct_noise_set_covariance(c->noise, g, m.sum, NULL) == CT_OK;
        for (int32_t t = first; samples && t < end; t++) samples[s->parameter[t]] = fits ? m.count : 0;
        return;
    }
    double variance[CT_NOISE_DIM_MAX];
    for (int i = 0; i < model->dim; i++) variance[i] = model->covariance[model->kind == CT_NOISE_FULL ? i * model->dim + i : i];
    for (int32_t t = first; t < end; t++) {
        const double v = pooled_variance(c, s->parameter[t], &count);
        const int    fits = v > 0 && isfinite(v);
        for (int i = 0; fits && i < model->dim; i++)
            if (s->coordinate[t] == -2 || s->coordinate[t] == i) variance[i] = v;
        if (samples) samples[s->parameter[t]] = fits ? count : 0;
    }
    ct_noise_set_variance(c->noise, g, variance, NULL); /* out of range: stays as it was */
}

static int any_robust(const ct_outer *o)
{
    for (int32_t g = 0; g < o->models; g++)
        if (o->slot[g] >= 0 && ct_noise_get(o->noise, g)->robust.kind != CT_ROBUST_NONE) return 1;
    return 0;
}

ct_status ct_outer_closed_form(const ct_outer *o, const uint8_t *part, double *p, int64_t *samples, ct_err *err)
{
    closed c = {.outer = o, .part = part, .model = ct__zalloc(o->slots, sizeof *c.model)};
    if (!c.model) return ct__no_memory(err, "noise models", o->slots);
    const ct_status status = ct_noise_copy(o->base, &c.noise, err);
    if (status == CT_OK) {
        const int passes = any_robust(o) ? ROBUST_PASSES : 1;
        for (int pass = 0; pass < passes; pass++) {
            gather(&c);
            for (int32_t g = 0; g < o->models; g++)
                if (o->slot[g] >= 0) take_over(&c, g, samples);
        }
        ct_theta_get(o->theta, c.noise, p);
    }
    ct_noise_free(c.noise);
    free(c.model);
    return status;
}
