/* curvature.c: second derivatives of any model's residual, K = sum_i u_i d2 r_i / dd2, for the exact Hessian.
 *
 * A model may provide K. For others with exact Jacobians K is computed by central differences of J: row j is
 * (J(x o Exp(h e_j))'u - J(x o Exp(-h e_j))'u) / 2h. Each J is in the frame of its own point, which turns with the
 * step. That adds only an antisymmetric term, 1/2 [e_j, .] of the group, so the symmetric part is K. If Jacobians are
 * numeric or approximate, K is computed by second differences of the residual. */
#include <covtune/graph.h>
#include <float.h>
#include <math.h>
#include <string.h>

#define UNKNOWNS_MAX (CT_ARITY_MAX * CT_DIM_MAX)

/* A factor and its multipliers. Unknown k is coordinate[k] of variable[k]. */
typedef struct {
    const ct_factor_ops *ops;
    const double        *z;
    const void          *context;
    const double *const *x;
    const double        *u;
    int                  n;
    int                  variable[UNKNOWNS_MAX], coordinate[UNKNOWNS_MAX];
} place;

static place place_of(const ct_factor_ops *ops, const double *z, const void *context, const double *const x[],
                      const double *u)
{
    place at = {.ops = ops, .z = z, .context = context, .x = x, .u = u};
    for (int i = 0; i < ops->arity; i++)
        for (int j = 0; j < ct_kind_dim(ops->kind[i]); j++, at.n++) {
            at.variable[at.n] = i;
            at.coordinate[at.n] = j;
        }
    return at;
}

/* The largest number among the variables, at least 1. Rounding is relative to it. */
static double largest_value(const place *at)
{
    double largest = 1;
    for (int i = 0; i < at->ops->arity; i++)
        for (int j = 0; j < ct_kind_size(at->ops->kind[i]); j++) largest = fmax(largest, fabs(at->x[i][j]));
    return largest;
}

/* The variables with unknowns j and k (which may be the same, or -1: none) moved by h. */
typedef struct {
    double        value[2][CT_SIZE_MAX];
    const double *x[CT_ARITY_MAX];
} moved;

static void move(const place *at, int j, int k, double h, moved *m)
{
    double d[2][CT_DIM_MAX] = {{0}};
    memcpy(m->x, at->x, (size_t)at->ops->arity * sizeof *m->x);
    const int a = at->variable[j], b = k < 0 ? a : at->variable[k];
    d[0][at->coordinate[j]] = h;
    if (k >= 0) d[a != b][at->coordinate[k]] = h;
    ct_kind_retract(at->ops->kind[a], at->x[a], d[0], m->value[0]);
    m->x[a] = m->value[0];
    if (a == b) return;
    ct_kind_retract(at->ops->kind[b], at->x[b], d[1], m->value[1]);
    m->x[b] = m->value[1];
}

/* c = J'u with unknown j moved by h. */
static void gradient(const place *at, int j, double h, double *c)
{
    double r[CT_ROWS_MAX], space[CT_ARITY_MAX][CT_ROWS_MAX * CT_DIM_MAX], *J[CT_ARITY_MAX];
    moved  m;
    move(at, j, -1, h, &m);
    for (int i = 0; i < at->ops->arity; i++) J[i] = space[i];
    at->ops->eval(at->z, at->context, m.x, r, J);
    for (int k = 0; k < at->n; k++) {
        const int     dim = ct_kind_dim(at->ops->kind[at->variable[k]]);
        const double *column = J[at->variable[k]] + at->coordinate[k];
        c[k] = 0;
        for (int row = 0; row < at->ops->rows; row++) c[k] += at->u[row] * column[row * dim];
    }
}

/* Truncation h^2 against rounding eps X / h, X the largest number involved: 1e-10 for numbers of order one. */
static void by_gradients(const place *at, double *K)
{
    const double h = cbrt(DBL_EPSILON * largest_value(at));
    const int    n = at->n;
    for (int j = 0; j < n; j++) {
        double ahead[UNKNOWNS_MAX], behind[UNKNOWNS_MAX];
        gradient(at, j, h, ahead);
        gradient(at, j, -h, behind);
        for (int k = 0; k < n; k++) K[j * n + k] = (ahead[k] - behind[k]) / (2 * h);
    }
    for (int j = 0; j < n; j++)
        for (int k = 0; k < j; k++) K[j * n + k] = K[k * n + j] = (K[j * n + k] + K[k * n + j]) / 2;
}

/* u'(r - r0) with unknowns j and k moved by h, summed over both signs of h. */
static double second_difference(const place *at, int j, int k, double h, const double *r0)
{
    double sum = 0;
    for (int side = 0; side < 2; side++) {
        double r[CT_ROWS_MAX];
        moved  m;
        move(at, j, k, side ? -h : h, &m);
        at->ops->eval(at->z, at->context, m.x, r, NULL);
        for (int row = 0; row < at->ops->rows; row++) sum += at->u[row] * (r[row] - r0[row]);
    }
    return sum;
}

/* With q(v) = v'Kv h^2 from both sides of v: K_jj = q(e_j) / h^2, K_jk = (q(e_j + e_k) - q(e_j) - q(e_k)) / 2h^2.
 * Truncation h^2 against rounding eps X / h^2: 1e-8. */
static void by_residuals(const place *at, double *K)
{
    const double h = pow(DBL_EPSILON * largest_value(at), 0.25);
    const int    n = at->n;
    double       r0[CT_ROWS_MAX], q[UNKNOWNS_MAX];
    at->ops->eval(at->z, at->context, at->x, r0, NULL);
    for (int j = 0; j < n; j++) {
        q[j] = second_difference(at, j, -1, h, r0);
        K[j * n + j] = q[j] / (h * h);
        for (int k = 0; k < j; k++)
            K[j * n + k] = K[k * n + j] = (second_difference(at, j, k, h, r0) - q[j] - q[k]) / (2 * h * h);
    }
}

void ct_factor_curvature(const ct_factor_ops *ops, const double *z, const void *context, const double *const x[],
                         const double *u, double *K)
{
    int flat = 1;
    for (int row = 0; row < ops->rows; row++) flat = flat && u[row] == 0;
    flat = flat || ops->flat;
    if (!flat && ops->curvature) {
        ops->curvature(z, context, x, u, K);
        return;
    }
    const place at = place_of(ops, z, context, x, u);
    if (flat) memset(K, 0, (size_t)(at.n * at.n) * sizeof *K);
    else if (ops->jacobian == CT_JACOBIAN_ANALYTIC) by_gradients(&at, K);
    else by_residuals(&at, K);
}
