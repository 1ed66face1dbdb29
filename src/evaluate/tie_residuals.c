/* tie_residuals.c: do measurements that tie the graph to the world contradict the truth by more than their noise?
 *
 * They do if a rigid motion M of the truth makes their residuals much smaller:
 *
 *     of five or more factors of a model, in some row:   median |r(truth)| > 5 median |r(M truth)|
 *     of fewer:                                          |r(truth)| > 10 sigma, and |r(M truth)| < |r(truth)| / 5
 *
 * Noise that measurements share by chance (the mean error of a few GPS fixes) is not much smaller after a motion. A
 * fixed variable is a measurement without noise: its value against its truth. */
#include "evaluate/evaluate.h"

#include <math.h>

#define MANY   5
#define RATIO  5.0
#define SIGMAS 10.0

typedef struct {
    const ct_sequence *seq;
    const double      *truth, *moved; /* values, fixed variables as they are */
    const ct_noise    *noise;
} tied;

static int is_tie(const ct_graph *g, const ct__factor *f)
{
    int fixed = 0, free = 0;
    for (int i = 0; i < f->ops->arity; i++) *(g->fixed[g->var_pool[f->var + i]] ? &fixed : &free) = 1;
    return free && (fixed || f->ops->absolute);
}

/* Does the residual depend on coordinates whose truth is not known? */
static int is_unknown(const tied *t, const ct__factor *f, double r[CT_ROWS_MAX])
{
    const ct_graph *g = t->seq->graph;
    const double   *x[CT_ARITY_MAX];
    double          space[CT_ARITY_MAX][CT_ROWS_MAX * CT_DIM_MAX], *J[CT_ARITY_MAX];
    for (int i = 0; i < f->ops->arity; i++) {
        x[i] = t->truth + g->offset[g->var_pool[f->var + i]];
        J[i] = space[i];
    }
    ct_factor_eval(f->ops, g->z_pool + f->z, f->context, x, r, J);
    for (int i = 0; i < f->ops->arity; i++) {
        const int32_t  v = g->var_pool[f->var + i];
        const int      cols = ct_kind_dim(f->ops->kind[i]);
        const unsigned unknown = g->fixed[v] ? 0 : ct__all_of(f->ops->kind[i]) & ~ct__known(t->seq, v);
        for (int k = 0; k < f->ops->rows * cols; k++)
            if (unknown >> (k % cols) & 1 && J[i][k] != 0) return 1;
    }
    return 0;
}

/* |r| at the truth and at the moved truth, by row. 0: not known. */
static int residuals(const tied *t, const ct__factor *f, double at[CT_ROWS_MAX], double moved[CT_ROWS_MAX])
{
    const ct_graph *g = t->seq->graph;
    const double   *x[CT_ARITY_MAX];
    if (!is_tie(g, f) || is_unknown(t, f, at)) return 0;
    for (int i = 0; i < f->ops->arity; i++) x[i] = t->moved + g->offset[g->var_pool[f->var + i]];
    f->ops->eval(g->z_pool + f->z, f->context, x, moved, NULL);
    for (int i = 0; i < f->ops->rows; i++) {
        at[i] = fabs(at[i]);
        moved[i] = fabs(moved[i]);
        if (!isfinite(at[i]) || !isfinite(moved[i])) return 0;
    }
    return 1;
}

/* The factors of one model: list[0 .. n). */
static int model_contradicts(const tied *t, int32_t n, const int32_t *list, double *a, double *b)
{
    const ct_graph       *g = t->seq->graph;
    const ct_noise_model *m = ct_noise_get(t->noise, g->factor[list[0]].noise);
    for (int row = 0; row < m->dim; row++) {
        double  at[CT_ROWS_MAX], moved[CT_ROWS_MAX];
        int64_t count = 0;
        for (int32_t k = 0; k < n; k++) {
            if (!residuals(t, &g->factor[list[k]], at, moved)) continue;
            a[count] = at[row];
            b[count++] = moved[row];
            if (n < MANY && at[row] > SIGMAS * ct_noise_sigma(m, row) && at[row] > RATIO * moved[row]) return 1;
        }
        if (count >= MANY && ct_median(count, a) > RATIO * ct_median(count, b)) return 1;
    }
    return 0;
}

/* A fixed pose whose value is far from its truth, and near after the motion. */
static int fixed_contradict(const tied *t)
{
    const ct_graph *g = t->seq->graph;
    for (int32_t v = 0; v < g->variables; v++) {
        const ct_kind kind = (ct_kind)g->kind[v];
        const double *x = g->initial + g->offset[v], *p = t->seq->truth + g->offset[v];
        if (!g->fixed[v] || !ct__is_pose(kind) || ct__known(t->seq, v) != ct__all_of(kind)) continue;
        const double *q = t->moved + g->offset[v];
        double        at = 0, moved = 0;
        for (int i = 0; i < (kind == CT_SE2 ? 2 : 3); i++) {
            at += (x[i] - p[i]) * (x[i] - p[i]);
            moved += (x[i] - q[i]) * (x[i] - q[i]);
        }
        if (at > RATIO * RATIO * moved) return 1;
    }
    return 0;
}

static int any_contradicts(const tied *t, int32_t *list, int32_t *start, double *room)
{
    const ct_graph *g = t->seq->graph;
    const int32_t   models = ct_noise_count(t->noise);
    for (int32_t f = 0; f < g->factors; f++) start[g->factor[f].noise + 1]++;
    for (int32_t m = 0; m < models; m++) start[m + 1] += start[m];
    for (int32_t f = 0; f < g->factors; f++) list[start[g->factor[f].noise]++] = f; /* start is now the end of each */
    for (int32_t m = 0; m < models; m++) {
        const int32_t from = m ? start[m - 1] : 0, n = start[m] - from;
        if (n && model_contradicts(t, n, list + from, room, room + n)) return 1;
    }
    return 0;
}

ct_status ct__ties_contradict(const ct_sequence *seq, const ct_noise *noise, ct_se3 M, int *out, ct_err *err)
{
    const ct_graph *g = seq->graph;
    double         *values = ct__zalloc(2 * g->size, sizeof *values), *moved = values + g->size;
    int32_t        *list = ct__zalloc(g->factors, sizeof *list);
    int32_t        *start = ct__zalloc((int64_t)ct_noise_count(noise) + 1, sizeof *start);
    double         *room = ct__zalloc(2 * (int64_t)g->factors, sizeof *room);
    ct_status       status = values && list && start && room ? CT_OK : ct__no_memory(err, "values", g->size);
    if (status == CT_OK) {
        const tied t = {.seq = seq, .truth = values, .moved = moved, .noise = noise};
        for (int32_t v = 0; v < g->variables; v++)
            ct__move((ct_kind)g->kind[v], M, seq->truth + g->offset[v], moved + g->offset[v]);
        *out = fixed_contradict(&t);
        memcpy(values, seq->truth, (size_t)g->size * sizeof *values);
        for (int32_t v = 0; v < g->variables; v++) {
            const size_t bytes = (size_t)ct_kind_size((ct_kind)g->kind[v]) * sizeof *values;
            if (!g->fixed[v]) continue;
            memcpy(values + g->offset[v], g->initial + g->offset[v], bytes);
            memcpy(moved + g->offset[v], g->initial + g->offset[v], bytes);
        }
        *out = *out || any_contradicts(&t, list, start, room);
    }
    free(values);
    free(list);
    free(start);
    free(room);
    return status;
}
