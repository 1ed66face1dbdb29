/* truth_residuals.c: what factors say at the truth: samples of their models' noise, r / sqrt(m) for a factor whose
 * covariance is m times the model's. A factor gives one if its residual there depends on nothing that the truth does
 * not know. */
#include "evaluate/evaluate.h"
#include "graph/whiten.h"

#include <math.h>

/* The value of a variable at the truth, and which of its coordinates are not known there; NULL if none is. */
static const double *truth_of(const ct_sequence *seq, int32_t v, unsigned *unknown)
{
    const ct_graph *graph = seq->graph;
    const unsigned  all = (1u << ct_kind_dim(ct_graph_kind(graph, v))) - 1;
    *unknown = seq->truth ? all & ~(unsigned)seq->known[v] : all;
    if (*unknown != all) return seq->truth + ct_graph_offset(graph, v);
    *unknown = 0;
    return ct_graph_fixed(graph, v) ? ct_graph_initial_const(graph) + ct_graph_offset(graph, v) : NULL;
}

/* Does the residual depend on what is not known? A GPS position does not on a heading, unless the antenna is off the
 * middle. */
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

int ct__truth_residual(const ct_sequence *seq, int32_t factor, double r[CT_ROWS_MAX])
{
    const ct__factor *f = &seq->graph->factor[factor];
    const int32_t    *var = seq->graph->var_pool + f->var;
    const double     *x[CT_ARITY_MAX];
    unsigned          unknown[CT_ARITY_MAX], any = 0;
    for (int i = 0; i < f->ops->arity; i++) {
        if (!(x[i] = truth_of(seq, var[i], &unknown[i]))) return 0;
        any |= unknown[i];
    }
    if (any && depends(seq, f, x, unknown)) return 0;
    f->ops->eval(seq->graph->z_pool + f->z, f->context, x, r, NULL);
    ct__divide_by_multiplier(f->multiplier, f->ops->rows, r, 0, NULL, NULL);
    for (int i = 0; i < f->ops->rows; i++)
        if (!isfinite(r[i])) return 0;
    return 1;
}

/* In sigmas of the factor; a multiplier is divided out already. */
static void whiten(const ct_graph *g, const ct_noise *noise, int32_t k, double *r)
{
    const ct_noise_model *m = ct_noise_get(noise, g->factor[k].noise);
    ct__divide_by_function(g, noise, k, r);
    ct__apply_sqrt_info(m, m->dim, 1, r);
}

int64_t ct_truth_residuals(const ct_sequence *seq, int32_t model, const ct_noise *noise, int64_t most, double *r)
{
    int64_t count = 0;
    if (noise && !ct_noise_get(noise, model)) return 0;
    for (int32_t k = 0; k < seq->graph->factors; k++) {
        const int rows = seq->graph->factor[k].ops->rows;
        double    one[CT_ROWS_MAX];
        if (seq->graph->factor[k].noise != model || !ct__truth_residual(seq, k, one)) continue;
        if (r && count < most) {
            if (noise) whiten(seq->graph, noise, k, one);
            memcpy(r + count * rows, one, (size_t)rows * sizeof *one);
        }
        count++;
    }
    return count;
}
