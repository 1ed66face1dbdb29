/* many.c: models that evaluate all their factors in one call (ct_factor_ops.eval_many).
 *
 * A call has a cost of its own where the model is written in another language: some 10 us, as much as a hundred factors
 * of a built-in model. So the factors of such a model are evaluated together, and whoever visits them one by one reads
 * the results. They are kept with the values that they were evaluated at. An item whose values differ from those has
 * the whole batch evaluated at the new x: every visitor gets the results at its own x, and a sweep over all items at
 * one x costs one call, in whatever order it goes.
 *
 * Numeric Jacobians and second derivatives are differences as of one factor (factor.c, curvature.c), with a step for
 * each factor, and one or two calls a coordinate. Second derivatives are kept apart by rows, T_a = d2 r_a / dd2, so
 * that K = sum_a u_a T_a for any u: rows n^2 numbers a factor. */
#include "solve/many.h"
#include "base/base.h"
#include "graph/graph.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct ct__many {
    const ct_factor_ops *ops;
    int32_t              n;
    int                  numbers;                         /* of a measurement                                  */
    int                  size[CT_ARITY_MAX], dim[CT_ARITY_MAX], side;
    int                  variable[CT__SIDE_MAX], coordinate[CT__SIDE_MAX]; /* of each unknown                  */
    double              *z;
    const void         **context;
    double              *x[CT_ARITY_MAX];                 /* where r, J and T are                              */
    double              *r, *J[CT_ARITY_MAX], *T;
    int                  has_r, has_J, has_T;
    int                  ahead;                           /* 1: J is evaluated with r, before it is wanted     */
    double              *h, *moved[2], *other, *K[CT_ARITY_MAX]; /* scratch of differences                     */
};

/* ---- Memory ---------------------------------------------------------------------------------- */

void ct__many_free(ct__many *m)
{
    if (!m) return;
    void *const owned[] = {m->z, m->r, m->T, m->h, m->moved[0], m->moved[1], m->other};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
    for (int i = 0; i < CT_ARITY_MAX; i++) {
        free(m->x[i]);
        free(m->J[i]);
        free(m->K[i]);
    }
    free((void *)m->context);
    free(m);
}

static double *numbers(int32_t n, int each) { return ct__zalloc((int64_t)n * CT_MAX(each, 1), sizeof(double)); }

/* Room for all but T and what only T needs. 0: no memory. */
static int allocate(ct__many *m)
{
    const ct_factor_ops *ops = m->ops;
    const int            numeric = ops->jacobian == CT_JACOBIAN_NUMERIC;
    m->z = numbers(m->n, m->numbers);
    m->context = ct__zalloc(m->n, sizeof *m->context);
    m->r = numbers(m->n, ops->rows);
    m->h = numbers(m->n, 1);
    int ok = m->z && m->context && m->r && m->h;
    for (int i = 0; ok && i < ops->arity; i++) {
        m->x[i] = numbers(m->n, m->size[i]);
        m->J[i] = numbers(m->n, ops->rows * m->dim[i]);
        ok = m->x[i] && m->J[i];
    }
    for (int k = 0; ok && numeric && k < 2; k++) ok = (m->moved[k] = numbers(m->n, CT_SIZE_MAX)) != NULL;
    if (ok && numeric) ok = (m->other = numbers(m->n, 2 * ops->rows)) != NULL;
    return ok;
}

ct_status ct__many_new(const ct_solver *solver, const ct__batch *batch, ct__many **out, ct_err *err)
{
    const ct_factor_ops *ops = batch->ops;
    ct__many            *m = ct__zalloc(1, sizeof *m);
    *out = m;
    if (!m) return ct__no_memory(err, "factors", 1);
    m->ops = ops;
    m->n = batch->end - batch->first;
    m->numbers = ct_factor_z_size(ops);
    for (int i = 0; i < ops->arity; i++) {
        m->size[i] = ct_kind_size(ops->kind[i]);
        m->dim[i] = ct_kind_dim(ops->kind[i]);
        for (int c = 0; c < m->dim[i]; c++, m->side++) m->variable[m->side] = i, m->coordinate[m->side] = c;
    }
    if (!allocate(m)) return ct__no_memory(err, "factors", m->n);
    for (int32_t k = 0; k < m->n; k++) {
        const ct__item *item = &solver->item[batch->first + k];
        memcpy(m->z + (int64_t)k * m->numbers, item->z, (size_t)m->numbers * sizeof *m->z);
        m->context[k] = item->context;
    }
    return CT_OK;
}

/* ---- Differences ----------------------------------------------------------------------------- */

static void call(const ct__many *m, const double *const x[], double *r, double *const J[])
{
    m->ops->eval_many(m->n, m->z, m->context, x, r, J);
}

/* h <- (eps X)^power of each factor, X the largest of its values, at least 1. */
static void choose_steps(ct__many *m, double power)
{
    for (int32_t k = 0; k < m->n; k++) {
        double largest = 1;
        for (int i = 0; i < m->ops->arity; i++)
            for (int j = 0; j < m->size[i]; j++) largest = fmax(largest, fabs(m->x[i][(int64_t)k * m->size[i] + j]));
        m->h[k] = power == 0.25 ? pow(DBL_EPSILON * largest, 0.25) : cbrt(DBL_EPSILON * largest);
    }
}

/* x <- the variables with unknowns a and b (-1: none) moved by sign h. */
static void move(const ct__many *m, int a, int b, double sign, const double *x[CT_ARITY_MAX])
{
    const int i = m->variable[a], j = b < 0 ? i : m->variable[b];
    for (int v = 0; v < m->ops->arity; v++) x[v] = m->x[v];
    for (int v = 0; v < (i == j ? 1 : 2); v++) {
        const int at = v ? j : i;
        for (int32_t k = 0; k < m->n; k++) {
            const int64_t place = (int64_t)k * m->size[at];
            double        d[CT_DIM_MAX] = {0};
            if (!v) d[m->coordinate[a]] = sign * m->h[k];
            if (b >= 0 && j == at) d[m->coordinate[b]] = sign * m->h[k];
            ct_kind_retract(m->ops->kind[at], m->x[at] + place, d, m->moved[v] + place);
        }
        x[at] = m->moved[v];
    }
}

static double largest_change(int rows, const double *a, const double *b)
{
    double change = 0;
    for (int row = 0; row < rows; row++) change = fmax(change, fabs(a[row] - b[row]));
    return change;
}

/* J by central differences; where an angle wraps within the step, by the side that does not jump (factor.c). */
static void differentiate(ct__many *m)
{
    const int rows = m->ops->rows;
    double   *r[2] = {m->other, m->other + (int64_t)m->n * rows};
    choose_steps(m, 1.0 / 3);
    for (int u = 0; u < m->side; u++) {
        const int dim = m->dim[m->variable[u]];
        for (int side = 0; side < 2; side++) {
            const double *x[CT_ARITY_MAX];
            move(m, u, -1, side ? -1 : 1, x);
            call(m, x, r[side], NULL);
        }
        for (int32_t k = 0; k < m->n; k++) {
            const int64_t at = (int64_t)k * rows;
            const double *r0 = m->r + at, *ahead = r[0] + at, *behind = r[1] + at;
            const double  up = largest_change(rows, ahead, r0), down = largest_change(rows, behind, r0);
            double       *J = m->J[m->variable[u]] + at * dim + m->coordinate[u], span = 2 * m->h[k];
            const int     jump_up = up > 1 && up > 1e3 * down, jump_down = down > 1 && down > 1e3 * up;
            if (jump_up) ahead = r0;
            if (jump_down) behind = r0;
            if (jump_up || jump_down) span = m->h[k];
            for (int row = 0; row < rows; row++) J[row * dim] = (ahead[row] - behind[row]) / span;
        }
    }
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* Does the item lie at the values that the results are of? */
static int same_values(const ct__many *m, int32_t k, const ct__item *item, const double *x)
{
    for (int i = 0; i < m->ops->arity; i++)
        if (memcmp(m->x[i] + (int64_t)k * m->size[i], x + item->at[i], (size_t)m->size[i] * sizeof *x)) return 0;
    return 1;
}

/* r, and with `jacobians` J, of all factors at x.
 *
 * A solver compares errors first, and linearises where the error decreased: r, then r and J at one x. A model that has
 * derivatives of its own shares most of its work between both, so J is evaluated at once, as long as those of the last
 * x were wanted in the end. */
static void refresh(ct__many *m, const ct_solver *solver, const ct__batch *batch, int32_t k, const double *x,
                    int jacobians)
{
    const int here = (m->has_r || m->has_J) && same_values(m, k, &solver->item[batch->first + k], x);
    if (jacobians) m->ahead = 1;
    if (here && (m->has_J || !jacobians)) return;
    const int numeric = m->ops->jacobian == CT_JACOBIAN_NUMERIC, both = jacobians || (m->ahead && !numeric);
    m->ahead = jacobians;
    if (!here) m->has_r = m->has_J = m->has_T = 0;
    for (int32_t f = 0; !here && f < m->n; f++)
        for (int i = 0; i < m->ops->arity; i++)
            memcpy(m->x[i] + (int64_t)f * m->size[i], x + solver->item[batch->first + f].at[i],
                   (size_t)m->size[i] * sizeof *x);
    const double *arg[CT_ARITY_MAX];
    for (int i = 0; i < m->ops->arity; i++) arg[i] = m->x[i];
    if (!m->has_r || !numeric) call(m, arg, m->r, both && !numeric ? m->J : NULL);
    m->has_r = 1;
    if (both && numeric) differentiate(m);
    m->has_J = m->has_J || both;
}

void ct__many_eval(const ct_solver *solver, const ct__batch *batch, int32_t k, const double *x, double *r,
                   double *const J[])
{
    ct__many     *m = batch->many;
    const int     rows = m->ops->rows;
    const int32_t at = k - batch->first;
    int           jacobians = 0;
    for (int i = 0; J && i < m->ops->arity; i++) jacobians |= J[i] != NULL;
    refresh(m, solver, batch, at, x, jacobians);
    memcpy(r, m->r + (int64_t)at * rows, (size_t)rows * sizeof *r);
    for (int i = 0; jacobians && i < m->ops->arity; i++) {
        const int count = rows * m->dim[i];
        if (J[i]) memcpy(J[i], m->J[i] + (int64_t)at * count, (size_t)count * sizeof **J);
    }
}

/* ---- Second derivatives ---------------------------------------------------------------------- */

/* T_a[u][v] = (dr_a/dv at +h e_u - at -h e_u) / 2h, made symmetric. */
static void by_gradients(ct__many *m)
{
    const int rows = m->ops->rows, n = m->side;
    choose_steps(m, 1.0 / 3);
    for (int u = 0; u < n; u++)
        for (int side = 0; side < 2; side++) {
            const double *x[CT_ARITY_MAX];
            move(m, u, -1, side ? -1 : 1, x);
            call(m, x, m->other, m->K);
            for (int32_t k = 0; k < m->n; k++) {
                const double scale = (side ? -1 : 1) / (2 * m->h[k]);
                for (int row = 0; row < rows; row++) {
                    double *T = m->T + ((int64_t)k * rows + row) * n * n + u * n;
                    for (int v = 0; v < n; v++) {
                        const int i = m->variable[v];
                        const double entry =
                            scale * m->K[i][((int64_t)k * rows + row) * m->dim[i] + m->coordinate[v]];
                        T[v] = side ? T[v] + entry : entry;
                    }
                }
            }
        }
    for (int64_t a = 0; a < (int64_t)m->n * rows; a++)
        for (int u = 0; u < n; u++)
            for (int v = 0; v < u; v++) {
                double *T = m->T + a * n * n;
                T[u * n + v] = T[v * n + u] = (T[u * n + v] + T[v * n + u]) / 2;
            }
}

/* With q(v) = r(v h) + r(-v h) - 2 r(0): T_uu = q(e_u) / h^2, T_uv = (q(e_u + e_v) - q(e_u) - q(e_v)) / 2 h^2. */
static void by_residuals(ct__many *m)
{
    const int rows = m->ops->rows, n = m->side;
    choose_steps(m, 0.25);
    for (int u = 0; u < n; u++)
        for (int v = u; v >= 0; v--) { /* the diagonal of u is there before it is used */
            const double *x[CT_ARITY_MAX];
            double       *r[2] = {m->other, m->other + (int64_t)m->n * rows};
            for (int side = 0; side < 2; side++) {
                move(m, u, v == u ? -1 : v, side ? -1 : 1, x);
                call(m, x, r[side], NULL);
            }
            for (int64_t a = 0; a < (int64_t)m->n * rows; a++) {
                const double h2 = m->h[a / rows] * m->h[a / rows], q = (r[0][a] + r[1][a] - 2 * m->r[a]) / h2;
                double      *T = m->T + a * n * n;
                if (u == v) T[u * n + u] = q;
                else T[u * n + v] = T[v * n + u] = (q - T[u * n + u] - T[v * n + v]) / 2;
            }
        }
}

/* 0: no memory. */
static int second_derivatives(ct__many *m)
{
    const int rows = m->ops->rows;
    int       ok = 1;
    if (!m->T) ok = (m->T = numbers(m->n, rows * m->side * m->side)) != NULL;
    for (int k = 0; ok && k < 2; k++)
        if (!m->moved[k]) ok = (m->moved[k] = numbers(m->n, CT_SIZE_MAX)) != NULL;
    if (ok && !m->other) ok = (m->other = numbers(m->n, 2 * rows)) != NULL;
    for (int i = 0; ok && m->ops->jacobian == CT_JACOBIAN_ANALYTIC && i < m->ops->arity; i++)
        if (!m->K[i]) ok = (m->K[i] = numbers(m->n, rows * m->dim[i])) != NULL;
    if (!ok) return 0;
    if (m->ops->jacobian == CT_JACOBIAN_ANALYTIC) by_gradients(m);
    else by_residuals(m);
    return m->has_T = 1;
}

void ct__many_curvature(const ct_solver *solver, const ct__batch *batch, int32_t k, const double *x, const double *u,
                        double *K)
{
    ct__many       *m = batch->many;
    const ct__item *item = &solver->item[k];
    const int       rows = m->ops->rows, n = m->side * m->side;
    const int32_t   at = k - batch->first;
    int             flat = 1;
    for (int row = 0; row < rows; row++) flat = flat && u[row] == 0;
    if (!flat && !m->ops->flat && !m->ops->curvature) {
        refresh(m, solver, batch, at, x, 0);
        if (m->has_T || second_derivatives(m)) {
            memset(K, 0, (size_t)n * sizeof *K);
            for (int row = 0; row < rows; row++)
                for (int e = 0; e < n; e++) K[e] += u[row] * m->T[((int64_t)at * rows + row) * n + e];
            return;
        }
    }
    const double *arg[CT_ARITY_MAX];
    for (int i = 0; i < m->ops->arity; i++) arg[i] = x + item->at[i];
    ct_factor_curvature(m->ops, item->z, item->context, arg, u, K);
}

/* ---- Items of any model ---------------------------------------------------------------------- */

static void arguments(const ct__batch *batch, const ct__item *item, const double *x, const double *arg[CT_ARITY_MAX])
{
    for (int i = 0; i < batch->ops->arity; i++) arg[i] = x + item->at[i];
}

void ct__item_eval(const ct_solver *solver, const ct__batch *batch, int32_t k, const double *x, double *r,
                   double *const J[])
{
    const ct__item *item = &solver->item[k];
    const double   *arg[CT_ARITY_MAX];
    arguments(batch, item, x, arg);
    if (batch->many) ct__many_eval(solver, batch, k, x, r, J);
    else ct_factor_eval(batch->ops, item->z, item->context, arg, r, J);
}

void ct__item_curvature(const ct_solver *solver, const ct__batch *batch, int32_t k, const double *x, const double *u,
                        double *K)
{
    const ct__item *item = &solver->item[k];
    const double   *arg[CT_ARITY_MAX];
    arguments(batch, item, x, arg);
    if (batch->many) ct__many_curvature(solver, batch, k, x, u, K);
    else ct_factor_curvature(batch->ops, item->z, item->context, arg, u, K);
}
