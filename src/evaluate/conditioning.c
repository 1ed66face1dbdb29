/* conditioning.c: the extreme eigenvalues of the whitened system, and which noise models contribute to them.
 *
 *     A: the rows sqrt(w) R_k J_k of all factors, as the solver linearises them;   H = A'A,  D = diag H
 *     plain: H v = l v, |v| = 1      scaled: H v = l D v, v'Dv = 1
 *     l = v'Hv = sum over factors and their rows of (row v)^2,  by noise model and row
 *
 * Whitening by a full covariance mixes rows. R is upper triangular: row i of such a model is its coordinate i given
 * those after it. l is computed as the sum over rows: squares do not cancel, whereas v'Hv of the smallest eigenvalue
 * would be rounding errors of the largest.
 */
#include "evaluate/evaluate.h"
#include "evaluate/extreme_eigenvalues.h"
#include "graph/whiten.h"

typedef struct {
    const ct_graph  *graph;
    const ct_noise  *noise;
    ct_solver       *solver;
    const double    *x;
    double          *u, *v;  /* eigenvector as extreme_eigenvalues.h has it, and as dx: scalars of the system */
    double          *scale;  /* D, ones where it is zero: a variable without factors              */
    double          *part;   /* of l, by model and row                                            */
} state;

/* part <- (row v)^2 of every row, summed by model and row; returns their sum. */
static double split_by_row(const state *l)
{
    double       total = 0;
    const size_t parts = (size_t)ct_noise_count(l->noise) * CT_NOISE_DIM_MAX;
    memset(l->part, 0, parts * sizeof *l->part);
    for (int32_t k = 0; k < l->graph->factors; k++) {
        const ct__factor    *f = &l->graph->factor[k];
        const int32_t       *var = l->graph->var_pool + f->var;
        const ct_factor_ops *ops = f->ops;
        double               r[CT_ROWS_MAX], space[CT_ARITY_MAX][CT_ROWS_MAX * CT_DIM_MAX], *J[CT_ARITY_MAX];
        const double        *x[CT_ARITY_MAX];
        int                  cols[CT_ARITY_MAX];
        for (int i = 0; i < ops->arity; i++) {
            x[i] = l->x + l->graph->offset[var[i]];
            J[i] = l->graph->fixed[var[i]] ? NULL : space[i];
            cols[i] = ct_kind_dim(ops->kind[i]);
        }
        ct_factor_eval(ops, l->graph->z_pool + f->z, f->context, x, r, J);
        ct__divide_by_factor_scale(l->graph, l->noise, k, r, ops->arity, J, cols);
        ct__whiten(ct_noise_get(l->noise, f->noise), ops->rows, r, ops->arity, J, cols);
        for (int row = 0; row < ops->rows; row++) {
            double sum = 0;
            for (int i = 0; i < ops->arity; i++)
                for (int c = 0; J[i] && c < cols[i]; c++)
                    sum += J[i][row * cols[i] + c] * l->v[ct_solver_column(l->solver, var[i]) + c];
            l->part[f->noise * CT_NOISE_DIM_MAX + row] += sum * sum;
        }
    }
    for (size_t i = 0; i < parts; i++) total += l->part[i];
    return total;
}

/* The largest parts first; parts of zero are left out. */
static void list_contributions(const state *l, double total, ct_contribution out[CT_CONTRIBUTIONS])
{
    const int32_t parts = ct_noise_count(l->noise) * CT_NOISE_DIM_MAX;
    for (int k = 0; k < CT_CONTRIBUTIONS; k++) {
        int32_t most = 0;
        for (int32_t i = 1; i < parts; i++)
            if (l->part[i] > l->part[most]) most = i;
        if (!(l->part[most] > 0)) return;
        out[k] = (ct_contribution){
            .model = most / CT_NOISE_DIM_MAX, .row = most % CT_NOISE_DIM_MAX, .share = l->part[most] / total};
        l->part[most] = 0;
    }
}

/* The variable that most of |u|^2 lies on. */
static int32_t largest_variable(const state *l)
{
    int32_t most = -1;
    double  largest = -1;
    for (int32_t v = 0; v < l->graph->variables; v++) {
        const int32_t column = ct_solver_column(l->solver, v);
        double        sum = 0;
        if (column < 0) continue;
        for (int i = 0; i < ct_kind_dim((ct_kind)l->graph->kind[v]); i++) sum += l->u[column + i] * l->u[column + i];
        if (sum > largest) largest = sum, most = v;
    }
    return most;
}

static ct_status find_end(state *l, int largest, const double *scale, double *value, int32_t *variable,
                          ct_contribution out[CT_CONTRIBUTIONS], ct_err *err)
{
    ct_sparse    *system = ct_solver_system(l->solver);
    const int32_t n = ct_sparse_describe(system).scalars;
    CT_TRY(ct__extreme(system, largest, scale, l->u, value, err));
    for (int32_t i = 0; i < n; i++) l->v[i] = scale ? l->u[i] / sqrt(scale[i]) : l->u[i];
    *value = split_by_row(l);
    *variable = largest_variable(l);
    list_contributions(l, *value, out);
    return CT_OK;
}

static int32_t first_undetermined(const state *l)
{
    for (int32_t v = 0; v < l->graph->variables; v++)
        if (ct_solver_undetermined(l->solver, v)) return v;
    return -1;
}

static ct_status find_both(state *l, int singular, const double *scale, ct_condition *out, ct_err *err)
{
    CT_TRY(find_end(l, 1, scale, &out->largest, &out->stiff, out->stiffest, err));
    if (singular) out->weak = first_undetermined(l);
    else CT_TRY(find_end(l, 0, scale, &out->smallest, &out->weak, out->weakest, err));
    out->condition = out->smallest > 0 ? sqrt(out->largest / out->smallest) : INFINITY;
    return CT_OK;
}

static ct_condition nothing(double value)
{
    ct_condition c = {.largest = value, .smallest = value, .condition = value, .stiff = -1, .weak = -1};
    for (int k = 0; k < CT_CONTRIBUTIONS; k++) c.stiffest[k].model = c.weakest[k].model = -1;
    return c;
}

ct_status ct_conditioning_at(const ct_graph *graph, const ct_noise *noise, ct_solver *solver, const double *x,
                             ct_conditioning *out, ct_err *err)
{
    ct_sparse    *system = ct_solver_system(solver);
    const int64_t n = ct_sparse_describe(system).scalars;
    ct_err        why = {0};
    *out = (ct_conditioning){.plain = nothing(NAN), .scaled = nothing(NAN)};
    const ct_status regular = ct_solver_linearise(solver, noise, x, &why);
    if (regular != CT_OK && regular != CT_E_SINGULAR) return ct_fail(err, regular, "%s", why.text);
    if (n == 0) return CT_OK;
    state l = {.graph = graph,
                 .noise = noise,
                 .solver = solver,
                 .x = x,
                 .u = ct__zalloc(3 * n, sizeof *l.u),
                 .part = ct__zalloc((int64_t)ct_noise_count(noise) * CT_NOISE_DIM_MAX, sizeof *l.part)};
    ct_status status = l.u && l.part ? CT_OK : ct__no_memory(err, "unknowns", n);
    if (status == CT_OK) {
        *out = (ct_conditioning){.plain = nothing(0), .scaled = nothing(0)};
        l.v = l.u + n;
        l.scale = l.v + n;
        ct_sparse_diagonal(system, l.scale);
        for (int64_t i = 0; i < n; i++) l.scale[i] = l.scale[i] > 0 ? l.scale[i] : 1;
        status = find_both(&l, regular != CT_OK, NULL, &out->plain, err);
    }
    if (status == CT_OK) status = find_both(&l, regular != CT_OK, l.scale, &out->scaled, err);
    if (regular == CT_OK) ct_sparse_factor(system, 0, NULL); /* as ct_solver_linearise left it */
    free(l.u);
    free(l.part);
    return status;
}
