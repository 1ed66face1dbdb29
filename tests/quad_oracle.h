/* quad_oracle.h: distance from the minimum, dense and in quadruple precision, of graphs of priors and betweens on
 * R1, SE2 and SE3.
 *
 * Nothing of the library's mathematics is used. Residuals are Log(z^-1 a^-1 b) by their own formulas, Jacobians are
 * central differences (relative error 1e-22), and H = J'J + sum_i r_i d2 r_i, the last by differences of J. With g
 * and H at x the minimum is x o Exp(-H^-1 g), and
 *
 *     distance = max_i |(H^-1 g)_i| / sqrt((H^-1)_ii). */
#ifndef CT_QUAD_ORACLE_H
#define CT_QUAD_ORACLE_H

#include <covtune/covtune.h>
#include <quadmath.h>
#include <stdlib.h>
#include <string.h>

typedef __float128 quad;

typedef struct {
    quad t[3], q[4]; /* position; unit quaternion x, y, z, w */
} quad_pose;

static inline quad_pose quad_compose(const quad_pose *a, const quad_pose *b)
{
    const quad *q = a->q, *p = b->t;
    quad_pose   c;
    /* q p q^-1 = p + 2 w (v x p) + 2 v x (v x p) */
    const quad u[3] = {q[1] * p[2] - q[2] * p[1], q[2] * p[0] - q[0] * p[2], q[0] * p[1] - q[1] * p[0]};
    const quad v[3] = {q[1] * u[2] - q[2] * u[1], q[2] * u[0] - q[0] * u[2], q[0] * u[1] - q[1] * u[0]};
    for (int i = 0; i < 3; i++) c.t[i] = a->t[i] + p[i] + 2 * (q[3] * u[i] + v[i]);
    const quad *r = b->q;
    c.q[0] = q[3] * r[0] + q[0] * r[3] + q[1] * r[2] - q[2] * r[1];
    c.q[1] = q[3] * r[1] + q[1] * r[3] + q[2] * r[0] - q[0] * r[2];
    c.q[2] = q[3] * r[2] + q[2] * r[3] + q[0] * r[1] - q[1] * r[0];
    c.q[3] = q[3] * r[3] - q[0] * r[0] - q[1] * r[1] - q[2] * r[2];
    return c;
}

static inline quad_pose quad_inverse(const quad_pose *a)
{
    const quad_pose turn = {.q = {-a->q[0], -a->q[1], -a->q[2], a->q[3]}},
                    shift = {.t = {-a->t[0], -a->t[1], -a->t[2]}, .q = {0, 0, 0, 1}};
    return quad_compose(&turn, &shift);
}

/* V p, V = I + b [w] + c [w]^2. */
static inline void quad_apply(const quad w[3], quad b, quad c, const quad p[3], quad out[3])
{
    const quad u[3] = {w[1] * p[2] - w[2] * p[1], w[2] * p[0] - w[0] * p[2], w[0] * p[1] - w[1] * p[0]};
    const quad v[3] = {w[1] * u[2] - w[2] * u[1], w[2] * u[0] - w[0] * u[2], w[0] * u[1] - w[1] * u[0]};
    for (int i = 0; i < 3; i++) out[i] = p[i] + b * u[i] + c * v[i];
}

static inline quad_pose quad_exp(const quad w[3], const quad rho[3])
{
    const quad n2 = w[0] * w[0] + w[1] * w[1] + w[2] * w[2], n = sqrtq(n2);
    const int  small = n < (quad)1e-4;
    const quad half = small ? (quad)0.5 - n2 / 48 + n2 * n2 / 3840 - n2 * n2 * n2 / 645120 : sinq(n / 2) / n;
    const quad b = small ? (quad)0.5 - n2 / 24 + n2 * n2 / 720 - n2 * n2 * n2 / 40320 : (1 - cosq(n)) / n2;
    const quad c = small ? 1 / (quad)6.0 - n2 / 120 + n2 * n2 / 5040 - n2 * n2 * n2 / 362880 : (n - sinq(n)) / (n2 * n);
    quad_pose  x = {.q = {half * w[0], half * w[1], half * w[2], cosq(n / 2)}};
    quad_apply(w, b, c, rho, x.t);
    return x;
}

static inline void quad_log(const quad_pose *x, quad w[3], quad rho[3])
{
    const quad sign = x->q[3] < 0 ? -1 : 1, s = sqrtq(x->q[0] * x->q[0] + x->q[1] * x->q[1] + x->q[2] * x->q[2]);
    const quad n = 2 * atan2q(s, sign * x->q[3]), scale = s > (quad)1e-30 ? sign * n / s : 2 * sign;
    for (int i = 0; i < 3; i++) w[i] = scale * x->q[i];
    const quad n2 = n * n, d = n < (quad)1e-4 ? 1 / (quad)12.0 + n2 / 720 + n2 * n2 / 30240 + n2 * n2 * n2 / 1209600
                                              : (1 - n / 2 / tanq(n / 2)) / n2;
    quad_apply(w, -(quad)0.5, d, x->t, rho);
}

/* A stored value of any of the three kinds as a pose; a number lies on the x axis. */
static inline quad_pose quad_load(ct_kind kind, const double *x)
{
    quad_pose p = {.q = {0, 0, 0, 1}};
    if (kind == CT_R1) p.t[0] = x[0];
    if (kind == CT_SE2) {
        const quad turn = atan2q(x[3], x[2]);
        p = (quad_pose){.t = {x[0], x[1]}, .q = {0, 0, sinq(turn / 2), cosq(turn / 2)}};
    }
    if (kind == CT_SE3) {
        quad n = 0;
        for (int i = 0; i < 4; i++) n += (quad)x[3 + i] * x[3 + i];
        for (int i = 0; i < 3; i++) p.t[i] = x[i];
        for (int i = 0; i < 4; i++) p.q[i] = x[3 + i] / sqrtq(n);
    }
    return p;
}

/* x o Exp(h e_i). */
static inline quad_pose quad_nudge(ct_kind kind, const quad_pose *x, int i, quad h)
{
    quad w[3] = {0}, rho[3] = {0};
    if (kind == CT_R1) rho[0] = h;
    else if (kind == CT_SE2) *(i < 2 ? &rho[i] : &w[2]) = h;
    else *(i < 3 ? &w[i] : &rho[i - 3]) = h;
    const quad_pose d = quad_exp(w, rho);
    return quad_compose(x, &d);
}

/* Log(z^-1 x), in the kind's order of coordinates. */
static inline void quad_local(ct_kind kind, const quad_pose *z, const quad_pose *x, quad *r)
{
    quad            w[3], rho[3];
    const quad_pose inverse = quad_inverse(z), d = quad_compose(&inverse, x);
    quad_log(&d, w, rho);
    if (kind == CT_R1) r[0] = rho[0];
    else if (kind == CT_SE2) r[0] = rho[0], r[1] = rho[1], r[2] = w[2];
    else
        for (int i = 0; i < 3; i++) r[i] = w[i], r[i + 3] = rho[i];
}

typedef struct {
    const ct_graph *graph;
    const ct_noise *noise; /* diagonal or isotropic, no kernels */
    int             n;     /* unknowns */
    quad_pose      *x;
    quad           *g, *H;
    quad            r[64][6]; /* whitened residuals of at most 64 factors */
} quad_problem;

/* The whitened residual of a factor with its variables at a and b (b NULL: a prior). */
static inline int quad_residual(const quad_problem *p, ct_factor f, const quad_pose *a, const quad_pose *b, quad *r)
{
    const ct_kind         kind = ct_graph_kind(p->graph, f.var[0]);
    const ct_noise_model *m = ct_noise_get(p->noise, f.noise);
    const quad_pose       z = quad_load(kind, f.z);
    quad_pose             d = *a;
    if (b) {
        const quad_pose inverse = quad_inverse(a);
        d = quad_compose(&inverse, b);
    }
    quad_local(kind, &z, &d, r);
    for (int i = 0; i < m->dim; i++) r[i] /= sqrtq((quad)m->covariance[i]);
    return m->dim;
}

/* g = J(x)'r and, if it is not NULL, H = J'J. The residuals r are kept if `fresh`, else those of an earlier call are
 * used. */
static inline void quad_contract(quad_problem *p, int fresh, quad *g, quad *H)
{
    const quad    h = (quad)1e-11;
    const ct_kind kind = ct_graph_kind(p->graph, 0);
    const int     dim = ct_kind_dim(kind), n = p->n;
    memset(g, 0, (size_t)n * sizeof *g);
    for (int32_t k = 0; k < ct_graph_factors(p->graph); k++) {
        const ct_factor f = ct_graph_factor(p->graph, k);
        const int       arity = f.ops->arity;
        quad           *r = p->r[k], J[2][6][6], high[6], low[6];
        if (fresh) quad_residual(p, f, &p->x[f.var[0]], arity > 1 ? &p->x[f.var[1]] : NULL, r);
        for (int v = 0; v < arity; v++)
            for (int i = 0; i < dim; i++) {
                const quad_pose up = quad_nudge(kind, &p->x[f.var[v]], i, h),
                                down = quad_nudge(kind, &p->x[f.var[v]], i, -h);
                const quad_pose *other = arity > 1 ? &p->x[f.var[1 - v]] : NULL;
                quad_residual(p, f, v ? other : &up, v ? &up : other, high);
                quad_residual(p, f, v ? other : &down, v ? &down : other, low);
                for (int row = 0; row < dim; row++) {
                    J[v][row][i] = (high[row] - low[row]) / (2 * h);
                    g[f.var[v] * dim + i] += J[v][row][i] * r[row];
                }
            }
        for (int v = 0; H && v < arity; v++)
            for (int u = 0; u < arity; u++)
                for (int i = 0; i < dim; i++)
                    for (int j = 0; j < dim; j++)
                        for (int row = 0; row < dim; row++)
                            H[(f.var[v] * dim + i) * n + f.var[u] * dim + j] += J[v][row][i] * J[u][row][j];
    }
}

/* Inverts the symmetric n x n matrix A in place; 0 if it is not positive definite. */
static inline int quad_invert(int n, quad *A)
{
    for (int k = 0; k < n; k++) { /* Gauss-Jordan with symmetric pivots */
        const quad d = A[k * n + k];
        if (!(d > 0)) return 0;
        A[k * n + k] = 1;
        for (int j = 0; j < n; j++) A[k * n + j] /= d;
        for (int i = 0; i < n; i++) {
            if (i == k) continue;
            const quad f = A[i * n + k];
            A[i * n + k] = 0;
            for (int j = 0; j < n; j++) A[i * n + j] -= f * A[k * n + j];
        }
    }
    return 1;
}

/* The largest |dx_i| / sigma_i of a Newton step from x; INFINITY where the Hessian there is not positive definite.
 * All variables are of one kind. */
static inline double quad_distance(const ct_graph *graph, const ct_noise *noise, const double *x)
{
    const ct_kind kind = ct_graph_kind(graph, 0);
    const int     dim = ct_kind_dim(kind), count = ct_graph_variables(graph), n = dim * count;
    const quad    h = (quad)1e-7;
    quad_problem  p = {.graph = graph, .noise = noise, .n = n};
    p.x = calloc((size_t)count, sizeof *p.x);
    p.g = calloc((size_t)n * 3, sizeof *p.g);
    p.H = calloc((size_t)n * (size_t)n, sizeof *p.H);
    for (int v = 0; v < count; v++) p.x[v] = quad_load(kind, x + ct_graph_offset(graph, v));
    quad_contract(&p, 1, p.g, p.H);
    for (int k = 0; k < n; k++) {
        const quad_pose keep = p.x[k / dim];
        quad           *high = p.g + n, *low = p.g + 2 * n;
        p.x[k / dim] = quad_nudge(kind, &keep, k % dim, h);
        quad_contract(&p, 0, high, NULL);
        p.x[k / dim] = quad_nudge(kind, &keep, k % dim, -h);
        quad_contract(&p, 0, low, NULL);
        p.x[k / dim] = keep;
        for (int i = 0; i < n; i++) p.H[i * n + k] += (high[i] - low[i]) / (2 * h);
    }
    for (int i = 0; i < n; i++) /* at a minimum H is symmetric but for the error of differences */
        for (int j = 0; j < i; j++) p.H[i * n + j] = p.H[j * n + i] = (p.H[i * n + j] + p.H[j * n + i]) / 2;
    double worst = INFINITY;
    if (quad_invert(n, p.H)) {
        worst = 0;
        for (int i = 0; i < n; i++) {
            quad dx = 0;
            for (int j = 0; j < n; j++) dx += p.H[i * n + j] * p.g[j];
            const double d = (double)(fabsq(dx) / sqrtq(p.H[i * n + i]));
            if (!(d <= worst)) worst = d;
        }
    }
    free(p.x);
    free(p.g);
    free(p.H);
    return worst;
}

#endif
