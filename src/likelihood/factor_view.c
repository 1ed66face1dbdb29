/* factor_view.c: a factor at given values: residual, Jacobians, information and robust weight. */
#include "likelihood/factor_view.h"

#include "graph/whiten.h"
#include "solve/many.h"

void ct__apply_information(const ct_noise_model *model, int rows, double *v)
{
    const double *R = model->sqrt_info;
    if (model->kind != CT_NOISE_FULL) {
        for (int i = 0; i < rows; i++) v[i] *= R[i] * R[i];
        return;
    }
    double u[CT_ROWS_MAX];
    for (int i = 0; i < rows; i++) {
        u[i] = 0;
        for (int k = i; k < rows; k++) u[i] += R[i * rows + k] * v[k];
    }
    for (int i = 0; i < rows; i++) {
        v[i] = 0;
        for (int k = 0; k <= i; k++) v[i] += R[k * rows + i] * u[k];
    }
}

void ct__view_factor(const ct_solver *solver, const ct_noise *noise, const ct__batch *batch, int32_t k, const double *x,
                     ct__factor_view *f)
{
    const ct_factor_ops *ops = batch->ops;
    const ct__item      *item = &solver->item[k];
    const int32_t       *var = ct_graph_factor(solver->graph, solver->factor_of[k]).var;
    double               d2 = 0;
    f->model = ct_noise_get(noise, item->noise);
    f->rows = ops->rows;
    f->arity = ops->arity;
    for (int i = 0; i < ops->arity; i++) {
        const int32_t block = solver->block_of[var[i]];
        f->cols[i] = ct_kind_dim(ops->kind[i]);
        f->column[i] = block < 0 ? -1 : solver->column[block];
        f->J[i] = block < 0 ? NULL : f->space + i * CT__VIEW_BLOCK;
    }
    const int scaled = ct__item_scale(solver, item, &f->scale);
    f->cuts.count = 0;
    if (item->multiplied >= CT__SCALED_BY_FUNCTION) ct__view_find_cuts(solver, k, f);
    ct__item_eval(solver, batch, k, x, f->r, f->J);
    if (scaled) ct__apply_scale(&f->scale, ops->rows, f->r, ops->arity, f->J, f->cols);
    memcpy(f->y, f->r, sizeof f->y);
    ct__apply_information(f->model, f->rows, f->y);
    for (int i = 0; i < f->rows; i++) d2 += f->r[i] * f->y[i];
    f->w = 1;
    f->slope = 0;
    if (f->model->robust.kind == CT_ROBUST_NONE) return;
    ct_robust_error(f->model->robust, CT_MAX(d2, 0), &f->w);
    f->slope = ct_robust_slope(f->model->robust, CT_MAX(d2, 0));
}

void ct__view_weigh(const ct__factor_view *f, const ct_theta_jacobian *slopes, int32_t t, double q[CT_ROWS_MAX])
{
    double        room[CT_NOISE_DIM_MAX * CT_NOISE_DIM_MAX], ySy = 0;
    const int     rows = f->rows, c = f->cuts.count ? -1 : slopes->coordinate[t];
    const double *dS = ct__view_slope(f, slopes, t, room);
    for (int i = 0; i < rows; i++) q[i] = 0;
    if (c >= 0) q[c] = dS[c * rows + c] * f->y[c];
    else
        for (int i = 0; i < rows; i++)
            for (int k = 0; k < rows; k++) q[i] += dS[i * rows + k] * f->y[k];
    for (int i = 0; i < rows; i++) ySy += f->y[i] * q[i];
    ct__apply_information(f->model, rows, q);
    for (int i = 0; i < rows; i++) q[i] = f->w * q[i] + f->slope * ySy * f->y[i];
}

void ct__view_add_gradient_at_fixed_cuts(const ct__factor_view *f, const double *l, double *G)
{
    const int rows = f->rows;
    double    v[CT_ROWS_MAX], Jly = 0;
    for (int row = 0; row < rows; row++) {
        v[row] = 0;
        for (int i = 0; i < f->arity; i++)
            for (int c = 0; f->J[i] && c < f->cols[i]; c++)
                v[row] += f->J[i][row * f->cols[i] + c] * l[f->column[i] + c];
        Jly += v[row] * f->y[row];
    }
    ct__apply_information(f->model, rows, v);
    const double s = f->slope * Jly;
    if (f->model->kind != CT_NOISE_FULL && !(f->model->function && f->model->function->matrix))
        for (int i = 0; i < rows; i++) G[i * rows + i] += (f->w * v[i] + s * f->y[i]) * f->y[i];
    else
        for (int i = 0; i < rows; i++)
            for (int k = 0; k < rows; k++)
                G[i * rows + k] += f->w * 0.5 * (v[i] * f->y[k] + f->y[i] * v[k]) + s * f->y[i] * f->y[k];
}

void ct__view_add_covariance_gradient(const ct__factor_view *f, const double *l, double *G)
{
    double of_factor[CT_NOISE_DIM_MAX * CT_NOISE_DIM_MAX] = {0};
    if (!f->cuts.count) {
        ct__view_add_gradient_at_fixed_cuts(f, l, G);
        return;
    }
    ct__view_add_gradient_at_fixed_cuts(f, l, of_factor);
    ct__view_add_through_cuts(f, of_factor, G);
}
