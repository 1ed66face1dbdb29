/* linear_factors.c: linearised factors.
 *
 * A factor is stored whitened at its linearisation points, r + J delta. Eliminating it again needs no evaluation.
 *
 * A marginalised variable leaves a quadratic prior in its neighbours' coordinates about their points x0 at that time:
 *
 *     1/2 d'Lambda d + eta'd,   d_i = Log(x0_i^-1 o x_i).
 *
 * The prior is a factor. When a neighbour's point moves, the prior is transformed: H = T'Lambda T,
 * g = T'(Lambda d + eta), with T the inverse right Jacobians at d. While no point has moved, T = I and the prior is
 * exactly the Schur complement. */
#include "smooth/smooth.h"
#include "function/function.h"
#include "graph/whiten.h"

#include <math.h>

int64_t ct__z_numbers(const ct__smooth_factor *f)
{
    if (f->ops) return ct_factor_z_size(f->ops) + f->features;
    return (int64_t)CT_SIZE_MAX * f->members + (int64_t)f->n * f->n + f->n;
}

int64_t ct__linear_numbers(const ct__smooth_factor *f)
{
    return f->ops ? (int64_t)f->ops->rows * (f->n + 1) : (int64_t)f->n * (f->n + 1);
}

static int all_finite(const double *x, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += fabs(x[i]);
    return isfinite(sum);
}

/* Jr(d)^-1, dim x dim. */
static void inverse_jacobian(ct_kind kind, const double *d, double *J)
{
    const int n = ct_kind_dim(kind);
    switch (kind) {
    case CT_SO3: ct_so3_jr_inv(d, J); return;
    case CT_SE2: ct_se2_jr_inv(d, J); return;
    case CT_SE3: ct_se3_jr_inv(d, J); return;
    default:
        memset(J, 0, (size_t)(n * n) * sizeof *J);
        for (int i = 0; i < n; i++) J[i * n + i] = 1;
    }
}

/* v <- T'v and H <- T'H: for the member whose scalars begin at `at`. */
static void turn_rows(int dim, const double *T, int32_t at, int32_t n, double *H, double *v)
{
    double old[CT_DIM_MAX];
    for (int i = 0; i < dim; i++) old[i] = v[at + i];
    for (int i = 0; i < dim; i++) {
        v[at + i] = 0;
        for (int k = 0; k < dim; k++) v[at + i] += T[k * dim + i] * old[k];
    }
    for (int32_t j = 0; j < n; j++) {
        for (int i = 0; i < dim; i++) old[i] = H[(int64_t)(at + i) * n + j];
        for (int i = 0; i < dim; i++) {
            double sum = 0;
            for (int k = 0; k < dim; k++) sum += T[k * dim + i] * old[k];
            H[(int64_t)(at + i) * n + j] = sum;
        }
    }
}

/* H <- H T, the columns of one member. */
static void turn_columns(int dim, const double *T, int32_t at, int32_t n, double *H)
{
    for (int32_t i = 0; i < n; i++) {
        double *row = H + (int64_t)i * n + at, old[CT_DIM_MAX];
        for (int k = 0; k < dim; k++) old[k] = row[k];
        for (int j = 0; j < dim; j++) {
            row[j] = 0;
            for (int k = 0; k < dim; k++) row[j] += old[k] * T[k * dim + j];
        }
    }
}

/* A prior at the linearisation points: H and g. */
static void carry_prior(const ct_smoother *s, const ct__smooth_factor *f, double *H, double *g)
{
    const double *x0 = ct__numbers(s, f->z), *Lambda = x0 + (int64_t)CT_SIZE_MAX * f->members,
                 *eta = Lambda + (int64_t)f->n * f->n;
    memcpy(g, eta, (size_t)f->n * sizeof *g);
    memcpy(H, Lambda, (size_t)f->n * (size_t)f->n * sizeof *H);
    for (int pass = 0; pass < 2; pass++) /* eta + Lambda d of all, then T */
        for (int32_t i = 0, at = 0; i < f->members; i++) {
            const ct__var *var = &s->var[ct__nodes(s, f->node + i)->var];
            double         d[CT_DIM_MAX], T[CT_DIM_MAX * CT_DIM_MAX];
            const int moved =
                memcmp(x0 + (int64_t)CT_SIZE_MAX * i, var->point, (size_t)ct_kind_size(var->kind) * sizeof *x0) != 0;
            ct_kind_local(var->kind, x0 + (int64_t)CT_SIZE_MAX * i, var->point, d);
            if (moved && pass == 0)
                for (int32_t r = 0; r < f->n; r++)
                    for (int k = 0; k < var->dim; k++) g[r] += Lambda[(int64_t)r * f->n + at + k] * d[k];
            if (moved && pass == 1) {
                inverse_jacobian(var->kind, d, T);
                turn_rows(var->dim, T, at, f->n, H, g);
                turn_columns(var->dim, T, at, f->n, H);
            }
            at += var->dim;
        }
}

/* r and J of a factor times T: its covariance is then its model's. */
static void divide_by_scale(const ct_smoother *s, const ct__smooth_factor *f, double *r, int blocks, double *const J[],
                            const int cols[])
{
    const ct_noise_model *model = ct_noise_get(s->noise, f->noise);
    const int             rows = f->ops->rows;
    ct__scaling             T = {.full = 0};
    ct__divide_by_multiplier(f->multiplier, f->ops->rows, r, blocks, J, cols);
    if (!model->function && !f->features) return;
    const int same = model->function && model->function->features == f->features; /* the table may have changed */
    if (same) ct__function_scale(model->function, rows, ct__numbers(s, f->z) + ct_factor_z_size(f->ops), -1, &T);
    for (int i = 0; !same && i < rows; i++) T.t[i] = NAN;
    ct__apply_scale(&T, rows, r, blocks, J, cols);
}

static ct_status linearise_rows(const ct_smoother *s, const ct__smooth_factor *f, double *out, ct_err *err)
{
    const ct_factor_ops *ops = f->ops;
    const double        *x[CT_ARITY_MAX];
    double              *J[CT_ARITY_MAX], *r = out + (int64_t)ops->rows * f->n;
    int                  cols[CT_ARITY_MAX];
    for (int i = 0, at = 0; i < ops->arity; i++) {
        x[i] = s->var[ct__nodes(s, f->node + i)->var].point;
        cols[i] = ct_kind_dim(ops->kind[i]);
        J[i] = out + at;
        at += ops->rows * cols[i];
    }
    ct_factor_eval(ops, ct__numbers(s, f->z), f->context, x, r, J);
    divide_by_scale(s, f, r, ops->arity, J, cols);
    ct__whiten(ct_noise_get(s->noise, f->noise), ops->rows, r, ops->arity, J, cols);
    char name[64];
    if (!all_finite(out, ct__linear_numbers(f)))
        return ct_fail(err, CT_E_ARGUMENT, "factor %d (%s on %s): its residual or Jacobian is not finite", f->index,
                       ops->name, ct__var_name(s, ct__nodes(s, f->node)->var, name));
    return CT_OK;
}

ct_status ct__linearise_factor(ct_smoother *s, int32_t slot, ct_err *err)
{
    ct__change *c = &s->change;
    ct__smooth_factor   *f = &s->factor[slot];
    int64_t     at;
    if (f->redone == s->stamp) return CT_OK;
    if (f->linear != CT_NONE) CT_TRY(ct__unprove_group_of(s, f, err));
    CT_TRY(ct__grow(&c->linear, &c->linear_capacity, c->linears + 1, sizeof *c->linear, "factors of an update", err));
    CT_TRY(ct__pool_take(&s->numbers, ct__linear_numbers(f), &at, err));
    if (f->linear != CT_NONE) c->linear[c->linears++] = (ct__saved_linear){.factor = slot, .linear = f->linear};
    f->linear = at;
    f->redone = s->stamp;
    double *out = ct__numbers(s, at);
    if (f->ops) return linearise_rows(s, f, out, err);
    carry_prior(s, f, out, out + (int64_t)f->n * f->n);
    return all_finite(out, ct__linear_numbers(f))
               ? CT_OK
               : ct_fail(err, CT_E_ARGUMENT, "what marginalised variables left is not finite any more");
}

static int is_there(const ct__smooth_factor *f) { return f->node != CT_NONE && !f->gone; }

static double error_of(const ct_smoother *s, const ct__smooth_factor *f)
{
    double        value[CT_ARITY_MAX][CT_SIZE_MAX], r[CT_ROWS_MAX];
    const double *x[CT_ARITY_MAX];
    for (int i = 0; i < f->members; i++) {
        ct_smoother_estimate(s, s->var[ct__nodes(s, f->node + i)->var].index, value[i]);
        x[i] = value[i];
    }
    f->ops->eval(ct__numbers(s, f->z), f->context, x, r, NULL);
    divide_by_scale(s, f, r, 0, NULL, NULL);
    return ct__whiten(ct_noise_get(s->noise, f->noise), f->ops->rows, r, 0, NULL, NULL);
}

double ct_smoother_error(const ct_smoother *s)
{
    double error = 0;
    for (int64_t k = 0; k < s->factors; k++)
        if (is_there(&s->factor[k]) && s->factor[k].ops) error += error_of(s, &s->factor[k]);
    return error;
}

/* One factor's part of ct__smoother_response. */
static double response_rows(const ct_smoother *s, const ct__smooth_factor *f, const double *z, double *back,
                            double *size)
{
    const int rows = f->ops->rows;
    double    total = 0;
    for (int row = 0; row < rows; row++) {
        double sum = 0;
        for (int pass = 0; pass < 2 && (pass == 0 || sum != 0); pass++) { /* z moves few factors */
            const double *J = ct__numbers(s, f->linear);
            for (int i = 0; i < f->members; i++) {
                const int32_t var = ct__nodes(s, f->node + i)->var;
                const int     cols = s->var[var].dim;
                for (int k = 0; k < cols && !s->var[var].fixed; k++) {
                    const int64_t at = (int64_t)CT_DIM_MAX * var + k;
                    const double  a = J[row * cols + k];
                    if (pass == 0) sum += a * z[at], *size += a * a * z[at] * z[at];
                    else back[at] += a * sum;
                }
                J += rows * cols;
            }
        }
        total += sum * sum;
    }
    return total;
}

static double response_prior(const ct_smoother *s, const ct__smooth_factor *f, const double *z, double *back,
                             double *size)
{
    const double *H = ct__numbers(s, f->linear);
    double        total = 0;
    for (int32_t i = 0, row = 0; i < f->members; i++) {
        const int32_t a = ct__nodes(s, f->node + i)->var;
        for (int k = 0; k < s->var[a].dim; k++, row++) {
            const double za = z[(int64_t)CT_DIM_MAX * a + k];
            double       sum = 0;
            for (int32_t j = 0, column = 0; j < f->members; j++) {
                const int32_t b = ct__nodes(s, f->node + j)->var;
                for (int l = 0; l < s->var[b].dim; l++, column++)
                    sum += H[(int64_t)row * f->n + column] * z[(int64_t)CT_DIM_MAX * b + l];
            }
            back[(int64_t)CT_DIM_MAX * a + k] += sum;
            total += za * sum;
            *size += za * za * H[(int64_t)row * f->n + row];
        }
    }
    return total;
}

double ct__smoother_response(const ct_smoother *s, const double *z, double *back, double *size)
{
    double total = 0;
    *size = 0;
    for (int64_t k = 0; k < s->factors; k++) {
        const ct__smooth_factor *f = &s->factor[k];
        if (!is_there(f) || f->linear == CT_NONE) continue;
        total += f->ops ? response_rows(s, f, z, back, size) : response_prior(s, f, z, back, size);
    }
    return total;
}
