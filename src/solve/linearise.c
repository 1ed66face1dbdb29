/* linearise.c: the linear system of a graph at x; the innermost loop of every solve.
 *
 *     r_k <- sqrt(w) R_k r_k(x),  J_k <- sqrt(w) R_k J_k,  H += J_k'J_k,  g += J_k'r_k
 *
 * and for the exact Hessian, with u = w R'R r of the raw residual and w' = dw/d(d^2):
 *
 *     H += sum_i u_i d2 r_i / dd2 + 2 w'/w^2 (J_k'r_k)(J_k'r_k)'
 *
 * A factor with another covariance (multiplier, function) enters as T r and T J; its u is w T'R'R T r.
 * Factors are evaluated model by model, which keeps a model's code and branch history in the caches. Each reads its
 * own 64-byte item, its measurement and its variables. Nothing is allocated or searched. */
#include "graph/graph.h"
#include "graph/whiten.h"
#include "solve/many.h"
#include "solve/solve.h"
#include "sparse/add_inline.h"

#include <math.h>

#define BLOCK_MAX (CT_ROWS_MAX * CT_DIM_MAX)
#define SIDE_MAX  (CT_ARITY_MAX * CT_DIM_MAX)
#define RETRACTED 2048  /* variables a thread retracts at a time */
#define NO_CURVE  1e-13 /* relative to J'J: curvature below it is rounding of a zero residual */

/* A factor whose covariance is not its model's. Kept out of the loops: most are not. */
static void divide(const ct_solver *solver, const ct_factor_ops *ops, const ct__item *item, double *r, double **J)
{
    int cols[CT_ARITY_MAX];
    for (int i = 0; i < ops->arity; i++) cols[i] = ct_kind_dim(ops->kind[i]);
    if (item->multiplied == CT__SCALED_BY_MATRIX)
        ct__apply_scale(&solver->functions->matrix[item - solver->item], ops->rows, r, J ? ops->arity : 0, J, cols);
    else if (item->multiplied == CT__SCALED_BY_FUNCTION)
        ct__multiply_rows(solver->functions->inverse + (item - solver->item) * CT_ROWS_MAX, ops->rows, r,
                          J ? ops->arity : 0, J, cols);
    else ct__divide_by_multiplier(ct__item_multiplier_of(solver, item), ops->rows, r, J ? ops->arity : 0, J, cols);
}

/* u <- T'u. */
static void divide_back(const ct_solver *solver, const ct_factor_ops *ops, const ct__item *item, double *u)
{
    if (item->multiplied == CT__SCALED_BY_MATRIX)
        ct__apply_scale_back(&solver->functions->matrix[item - solver->item], ops->rows, u);
    else divide(solver, ops, item, u, NULL);
}

/* Evaluates one item into r and J; blocks of fixed variables are not wanted. J[i] points into space. */
CT_INLINE void evaluate(const ct_solver *solver, const ct__batch *batch, int arity, int32_t k, const double *x,
                        double *r, double **J, double *space)
{
    const ct_factor_ops *ops = batch->ops;
    const ct__item *item = &solver->item[k];
    const double *arg[CT_ARITY_MAX];
    for (int i = 0; i < arity; i++) {
        arg[i] = x + item->at[i];
        J[i] = item->moves >> i & 1 ? space + i * BLOCK_MAX : NULL;
    }
    if (batch->many) ct__many_eval(solver, batch, k, x, r, J);
    else if (ops->jacobian != CT_JACOBIAN_NUMERIC) ops->eval(item->z, item->context, arg, r, J);
    else ct_factor_eval(ops, item->z, item->context, arg, r, J);
    if (item->multiplied) divide(solver, ops, item, r, J);
}

/* A factor after whitening: what its second derivatives are made from. */
typedef struct {
    const double *r, *const *J;
    const int    *cols;
    double        d2, w;
    unsigned      keep[CT_ARITY_MAX]; /* of each variable the coordinates that are estimated and depended on, as bits */
} whitened;

/* K += 2 w'/w^2 (J'r)(J'r)', n x n over all variables; fixed ones have no J and no part in it. */
CT_INLINE void add_kernel_slope(const ct_noise_model *model, int rows, int arity, int n, const whitened *at, double *K)
{
    const double slope = ct_robust_slope(model->robust, at->d2);
    if (slope == 0 || at->w == 0) return;
    double t[SIDE_MAX];
    for (int i = 0, k = 0; i < arity; i++)
        for (int c = 0; c < at->cols[i]; c++, k++) {
            t[k] = 0;
            for (int row = 0; at->J[i] && row < rows; row++) t[k] += at->J[i][row * at->cols[i] + c] * at->r[row];
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) K[i * n + j] += 2 * slope / (at->w * at->w) * t[i] * t[j];
}

/* Of K the rows and columns that are to be kept; returns how many those are. */
static int keep_some(int arity, const whitened *w, int n, double *K)
{
    int at[SIDE_MAX], kept = 0;
    for (int i = 0, k = 0; i < arity; i++)
        for (int c = 0; c < w->cols[i]; c++, k++)
            if (w->keep[i] >> c & 1) at[kept++] = k;
    for (int i = 0; i < kept; i++)
        for (int j = 0; j < kept; j++)
            K[i * kept + j] = K[at[i] * n + at[j]]; /* in place: entries are read before they are overwritten */
    return kept;
}

/* Where every entry of K is nothing beside J'J. Only open chains ask: there it decides whether their rows are used
 * up. */
static int negligible(int rows, int arity, int n, const whitened *at, const double *K)
{
    double square[SIDE_MAX];
    int    m = 0;
    for (int i = 0; i < arity; i++)
        for (int c = 0; c < at->cols[i]; c++) {
            if (!(at->keep[i] >> c & 1)) continue;
            square[m] = 0;
            for (int row = 0; row < rows; row++)
                square[m] += at->J[i][row * at->cols[i] + c] * at->J[i][row * at->cols[i] + c];
            m++;
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            if (!(K[i * n + j] * K[i * n + j] <= NO_CURVE * NO_CURVE * square[i] * square[j])) return 0;
    return 1;
}

static int members_of(const ct_sparse *sp, int64_t edge)
{
    return (int)(sp->edge_start[edge + 1] - sp->edge_start[edge]);
}

/* The second derivatives of one factor, into H. */
CT_INLINE void add_curvature(ct_solver *solver, const ct__batch *batch, int32_t k, const ct_noise_model *model,
                             const double *x, int rows, int arity, int d, whitened *at, double *terms, uint8_t *curved)
{
    const ct_factor_ops *ops = batch->ops;
    const ct__item *item = &solver->item[k];
    if (ops->flat && model->robust.kind == CT_ROBUST_NONE) return;
    const double *arg[CT_ARITY_MAX];
    double        u[CT_ROWS_MAX], K[SIDE_MAX * SIDE_MAX];
    const double  sqrt_w = sqrt(at->w);
    int           n = d * arity, side;
    for (int i = 0; i < arity; i++) {
        arg[i] = x + item->at[i];
        if (!d) n += at->cols[i];
        at->keep[i] = item->moves >> i & 1 ? ct__depends(ops, i) : 0;
    }
    for (int row = 0; row < rows; row++) u[row] = sqrt_w * at->r[row];
    ct__apply_sqrt_info_back(model, rows, u);
    if (item->multiplied) divide_back(solver, ops, item, u);
    if (ops->curvature) ops->curvature(item->z, item->context, arg, u, K);
    else if (batch->many) ct__many_curvature(solver, batch, k, x, u, K);
    else ct_factor_curvature(ops, item->z, item->context, arg, u, K);
    if (model->robust.kind != CT_ROBUST_NONE) add_kernel_slope(model, rows, arity, n, at, K);
    const int all = item->moves == (1 << arity) - 1 && !item->cut;
    side = all ? n : keep_some(arity, at, n, K);
    if (solver->system->any_zero_update && negligible(rows, arity, side, at, K)) return;
    const int members = all ? arity : members_of(solver->system, item->edge);
    if (all) ct__sparse_add_symmetric(solver->system, item->edge, arity, n, d, K, terms, curved);
    else if (side) ct__sparse_add_symmetric(solver->system, item->edge, members, side, 0, K, terms, curved);
}

/* J'J and J'r of a factor whose edge is pieces of its variables: J's columns are taken apart as those are. */
static void add_pieces(ct_solver *solver, const ct_factor_ops *ops, const ct__item *item, const int *cols,
                       double *const J[], const double *r, double *terms)
{
    const ct_sparse *sp = solver->system;
    const int32_t   *member = sp->member + sp->edge_start[item->edge];
    const double    *part[SIDE_MAX];
    double           space[CT_ROWS_MAX * SIDE_MAX], *at = space;
    int              parts = 0;
    for (int i = 0; i < ops->arity; i++) {
        const unsigned depends = item->moves >> i & 1 ? ct__depends(ops, i) : 0;
        for (int c = 0, width; c < cols[i]; c += width) {
            width = 1;
            if (!(depends >> c & 1)) continue;
            width = sp->dim[member[parts]];
            part[parts++] = at;
            for (int row = 0; row < ops->rows; row++)
                for (int k = 0; k < width; k++) *at++ = J[i][row * cols[i] + c + k];
        }
    }
    ct__sparse_add(solver->system, item->edge, parts, ops->rows, 0, part, r, terms);
}

/* Where a model depends on one coordinate of each variable: which. 0 if it does not. */
static int single_coordinates(const ct_factor_ops *ops, int coordinate[CT_ARITY_MAX])
{
    for (int i = 0; i < ops->arity; i++) {
        const unsigned depends = ct__depends(ops, i);
        if (depends & (depends - 1)) return 0;
        for (coordinate[i] = 0; !(depends >> coordinate[i] & 1);) coordinate[i]++;
    }
    return 1;
}

/* Items first .. end - 1 of a batch, or of its list, of a model of `rows` rows on `arity` variables. d > 0: all have
 * that dimension, and with constants passed everything but the model's own code is unrolled here. Returns the sum of
 * errors; group: several threads do this for groups of items (share.c), each item's error and terms are kept apart. */
CT_INLINE double linearise_batch(ct_solver *solver, const ct__batch *batch, const ct_noise *noise, const double *x,
                                 int exact, int rows, int arity, int d, const ct__group *group)
{
    const ct_factor_ops *ops = batch->ops;
    int                  cols[CT_ARITY_MAX], coordinate[CT_ARITY_MAX];
    double               error = 0;
    uint8_t             *curved = group ? group->curved : &solver->system->curved;
    const int            single = rows == 1 && single_coordinates(ops, coordinate);
    for (int i = 0; i < arity; i++) cols[i] = d ? d : ct_kind_dim(ops->kind[i]);
    for (int32_t at = group ? group->first : batch->first; at < (group ? group->end : batch->end); at++) {
        const int32_t         k = group ? group->list[at] : at;
        const ct__item       *item = &solver->item[k];
        const ct_noise_model *model = ct_noise_get(noise, item->noise);
        double                r[CT_ROWS_MAX], space[CT_ARITY_MAX * BLOCK_MAX], *J[CT_ARITY_MAX], d2, w;
        double               *terms = group && item->moves ? ct__terms_of(solver->share, item->edge) : NULL;
        evaluate(solver, batch, arity, k, x, r, J, space);
        const double own = ct__whiten_weighed(model, rows, r, arity, J, cols, &d2, &w);
        if (group) solver->share->error[k] = own;
        else error += own;
        if (exact && item->moves && d2 > 0)
            add_curvature(solver, batch, k, model, x, rows, arity, d,
                          &(whitened){.r = r, .J = (const double *const *)J, .cols = cols, .d2 = d2, .w = w}, terms,
                          curved);
        const int all = item->moves == (1 << arity) - 1;
        if (item->cut && single && all) {
            for (int i = 0; i < arity; i++) J[i] += coordinate[i];
            ct__sparse_add(solver->system, item->edge, arity, 1, 1, (const double *const *)J, r, terms);
        } else if (item->cut) add_pieces(solver, ops, item, cols, J, r, terms);
        else if (all) ct__sparse_add(solver->system, item->edge, arity, rows, d, (const double *const *)J, r, terms);
        else if (item->moves) {
            int moving = 0;
            for (int i = 0; i < arity; i++)
                if (J[i]) J[moving++] = J[i];
            ct__sparse_add(solver->system, item->edge, moving, rows, 0, (const double *const *)J, r, terms);
        }
    }
    return error;
}

/* The dimension of all variables of a model, 0 if they differ. */
static int common_dimension(const ct_factor_ops *ops)
{
    const int d = ct_kind_dim(ops->kind[0]);
    for (int i = 1; i < ops->arity; i++)
        if (ct_kind_dim(ops->kind[i]) != d) return 0;
    return d;
}

CT_INLINE double linearise_some(ct_solver *solver, const ct__batch *batch, const ct_noise *noise, const double *x,
                                int exact, const ct__group *group)
{
    const ct_factor_ops *ops = batch->ops;
    const int            d = common_dimension(ops);
#define SHAPE(r, a, k)                                                                                                 \
    if (ops->rows == r && ops->arity == a && d == k)                                                                   \
    return linearise_batch(solver, batch, noise, x, exact, r, a, k, group)
    SHAPE(3, 1, 3);
    SHAPE(3, 2, 3);
    SHAPE(6, 1, 6);
    SHAPE(6, 2, 6);
    SHAPE(1, 4, 3);
#undef SHAPE
    return linearise_batch(solver, batch, noise, x, exact, ops->rows, ops->arity, 0, group);
}

CT_CLONES static double linearise_first(ct_solver *solver, const ct__batch *batch, const ct_noise *noise,
                                        const double *x, const ct__group *group)
{
    return linearise_some(solver, batch, noise, x, 0, group);
}
CT_CLONES static double linearise_second(ct_solver *solver, const ct__batch *batch, const ct_noise *noise,
                                         const double *x, const ct__group *group)
{
    return linearise_some(solver, batch, noise, x, 1, group);
}

double ct__linearise_items(ct_solver *solver, const ct__batch *batch, const ct_noise *noise, const double *x, int exact,
                           const ct__group *group)
{
    return exact ? linearise_second(solver, batch, noise, x, group) : linearise_first(solver, batch, noise, x, group);
}

static double linearise_all(ct_solver *solver, const ct_noise *noise, const double *x, int exact)
{
    double error = 0;
    solver->ready = 0;
    solver->exact = exact ? CT_EXACT_ASSEMBLED : CT_EXACT_NOT;
    if (ct__is_shared(solver)) return ct__linearise_shared(solver, noise, x, exact);
    ct_sparse_clear(solver->system);
    for (int32_t b = 0; b < solver->batches; b++)
        error += ct__linearise_items(solver, &solver->batch[b], noise, x, exact, NULL);
    return error;
}

double ct__linearise(ct_solver *solver, const ct_noise *noise, const double *x)
{
    return linearise_all(solver, noise, x, 0);
}
double ct__linearise_exact(ct_solver *solver, const ct_noise *noise, const double *x)
{
    return linearise_all(solver, noise, x, 1);
}

/* The same for the error alone, of items first .. end - 1; their sum, or each for itself into `each`. */
CT_INLINE double error_batch(const ct_solver *solver, const ct__batch *batch, const ct_noise *noise, const double *x,
                             int rows, int arity, int32_t first, int32_t end, double *each)
{
    double error = 0;
    for (int32_t k = first; k < end; k++) {
        const ct__item *item = &solver->item[k];
        const double   *arg[CT_ARITY_MAX];
        double          r[CT_ROWS_MAX];
        for (int i = 0; i < arity; i++) arg[i] = x + item->at[i];
        if (batch->many) ct__many_eval(solver, batch, k, x, r, NULL);
        else batch->ops->eval(item->z, item->context, arg, r, NULL);
        if (item->multiplied) divide(solver, batch->ops, item, r, NULL);
        const double own = ct__whiten(ct_noise_get(noise, item->noise), rows, r, 0, NULL, NULL);
        if (each) each[k] = own;
        else error += own;
    }
    return error;
}

CT_INLINE double error_some(const ct_solver *solver, const ct__batch *batch, const ct_noise *noise, const double *x,
                            int32_t first, int32_t end, double *each)
{
    const ct_factor_ops *ops = batch->ops;
    if (ops->rows == 3 && ops->arity == 2) return error_batch(solver, batch, noise, x, 3, 2, first, end, each);
    if (ops->rows == 6 && ops->arity == 2) return error_batch(solver, batch, noise, x, 6, 2, first, end, each);
    return error_batch(solver, batch, noise, x, ops->rows, ops->arity, first, end, each);
}

double ct__error(const ct_solver *solver, const ct_noise *noise, const double *x)
{
    double error = 0;
    if (ct__is_shared(solver)) return ct__error_shared(solver, noise, x);
    for (int32_t b = 0; b < solver->batches; b++)
        error += error_some(solver, &solver->batch[b], noise, x, solver->batch[b].first, solver->batch[b].end, NULL);
    return error;
}

void ct__error_range(const ct_solver *solver, const ct__batch *batch, const ct_noise *noise, const double *x,
                     int32_t first, int32_t end, double *each)
{
    error_some(solver, batch, noise, x, first, end, each);
}

/* Whether z moves any of a factor's variables; where each one's entries of z begin, into column. */
static int moved_by(const ct_solver *solver, const ct_factor_ops *ops, int32_t factor, const int *cols, const double *z,
                    int32_t column[CT_ARITY_MAX])
{
    const int32_t *var = ct_graph_factor(solver->graph, factor).var;
    int            moved = 0;
    for (int i = 0; i < ops->arity; i++) {
        const int32_t b = solver->block_of[var[i]];
        column[i] = b < 0 ? 0 : solver->column[b];
        for (int c = 0; b >= 0 && c < cols[i]; c++) moved |= z[column[i] + c] != 0;
    }
    return moved;
}

double ct__response(const ct_solver *solver, const ct_noise *noise, const double *x, const double *z, double enough,
                    double *back)
{
    double total = 0;
    memset(back, 0, (size_t)solver->scalars * sizeof *back);
    for (int32_t b = 0; b < solver->batches; b++) {
        const ct_factor_ops *ops = solver->batch[b].ops;
        int                  cols[CT_ARITY_MAX];
        for (int i = 0; i < ops->arity; i++) cols[i] = ct_kind_dim(ops->kind[i]);
        for (int32_t k = solver->batch[b].first; k < solver->batch[b].end && !(total > enough); k++) {
            const ct__item *item = &solver->item[k];
            int32_t         column[CT_ARITY_MAX];
            double          r[CT_ROWS_MAX], space[CT_ARITY_MAX * BLOCK_MAX], *J[CT_ARITY_MAX];
            if (!moved_by(solver, ops, solver->factor_of[k], cols, z, column)) continue;
            evaluate(solver, &solver->batch[b], ops->arity, k, x, r, J, space);
            ct__whiten(ct_noise_get(noise, item->noise), ops->rows, r, ops->arity, J, cols);
            for (int row = 0; row < ops->rows; row++) {
                double sum = 0;
                for (int i = 0; i < ops->arity; i++)
                    for (int c = 0; J[i] && c < cols[i]; c++) sum += J[i][row * cols[i] + c] * z[column[i] + c];
                total += sum * sum;
                for (int i = 0; i < ops->arity; i++)
                    for (int c = 0; J[i] && c < cols[i]; c++) back[column[i] + c] += J[i][row * cols[i] + c] * sum;
            }
        }
    }
    return total;
}

/* high + low += a b, the product and the sum to the last bit. */
CT_INLINE void add_exactly(double a, double b, double *high, double *low)
{
    const double p = a * b, rest = fma(a, b, -p), sum = *high + p, back = sum - *high;
    *low += (*high - (sum - back)) + (p - back) + rest;
    *high = sum;
}

void ct__gradient_refined(const ct_solver *solver, const ct_noise *noise, const double *x, double *g, double *low,
                          double *square)
{
    memset(g, 0, (size_t)solver->scalars * sizeof *g);
    memset(low, 0, (size_t)solver->scalars * sizeof *low);
    memset(square, 0, (size_t)solver->scalars * sizeof *square);
    for (int32_t b = 0; b < solver->batches; b++) {
        const ct_factor_ops *ops = solver->batch[b].ops;
        int                  cols[CT_ARITY_MAX];
        for (int i = 0; i < ops->arity; i++) cols[i] = ct_kind_dim(ops->kind[i]);
        for (int32_t k = solver->batch[b].first; k < solver->batch[b].end; k++) {
            const ct__item *item = &solver->item[k];
            const int32_t  *var = ct_graph_factor(solver->graph, solver->factor_of[k]).var;
            double          r[CT_ROWS_MAX], space[CT_ARITY_MAX * BLOCK_MAX], *J[CT_ARITY_MAX];
            evaluate(solver, &solver->batch[b], ops->arity, k, x, r, J, space);
            ct__whiten(ct_noise_get(noise, item->noise), ops->rows, r, ops->arity, J, cols);
            for (int i = 0; i < ops->arity; i++)
                for (int n = J[i] ? ops->rows * cols[i] : 0, e = 0; e < n; e++) {
                    const int32_t at = solver->column[solver->block_of[var[i]]] + e % cols[i];
                    const double  term = J[i][e] * r[e / cols[i]];
                    add_exactly(J[i][e], r[e / cols[i]], &g[at], &low[at]);
                    if (!ops->flat) square[at] += term * term;
                }
        }
    }
    for (int32_t i = 0; i < solver->scalars; i++) g[i] += low[i];
}

typedef struct {
    const ct_solver *solver;
    const double    *x, *dx;
    double           alpha, *y;
} move;

static void retract_range(void *user, int64_t first, int64_t end)
{
    const move      *m = user;
    const ct_solver *solver = m->solver;
    const ct_graph  *graph = solver->graph;
    for (int32_t b = (int32_t)first; b < (int32_t)end; b++) {
        const int32_t v = solver->variable_of[b];
        const ct_kind kind = graph->kind[v];
        double        step[CT_DIM_MAX];
        for (int i = 0; i < ct_kind_dim(kind); i++) step[i] = m->alpha * m->dx[solver->column[b] + i];
        ct_kind_retract(kind, m->x + graph->offset[v], step, m->y + graph->offset[v]);
    }
}

void ct__retract(const ct_solver *solver, const double *x, double alpha, const double *dx, double *y)
{
    move m = {.solver = solver, .x = x, .dx = dx, .alpha = alpha, .y = y};
    ct__team_ranges(solver->system->team, solver->blocks, RETRACTED, retract_range, &m);
}
