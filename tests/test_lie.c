/* test_lie.c: the groups obey their laws, from angle 0 to pi.
 *
 * The reference is not the closed forms again: Exp is checked against the power series of the matrix
 * exponential, Jl against sum ad^k/(k+1)!, both in long double; derivatives against eighth-order
 * central differences, whose error at the step used here is near 1e-13.
 */
#include <covtune/lie.h>
#include <float.h>

#include "ct_test.h"
#include "lie/se2_inline.h"
#include "lie/se3_inline.h"

typedef long double real;

#define PI 3.14159265358979323846

static const double angles[] = {0,    1e-300, 1e-160, 1e-12, 1e-9,      1e-6,      1e-3,      0.1,        0.2499,
                                0.25, 0.2501, 1,      2,     PI - 1e-3, PI - 1e-6, PI - 1e-9, PI - 1e-12, PI};
enum { ANGLES = sizeof angles / sizeof *angles, DRAWS = 20 };

/* ---- The groups behind one set of functions on stored doubles ----------------------------------- */

typedef struct {
    const char *name;
    ct_kind     kind;
    int         n; /* homogeneous matrices are n x n */
    void (*exp)(const double *v, double *x);
    void (*log)(const double *x, double *v);
    void (*compose)(const double *a, const double *b, double *c, double *Ja, double *Jb);
    void (*between)(const double *a, const double *b, double *c, double *Ja, double *Jb);
    void (*inverse)(const double *a, double *c, double *Ja);
    void (*adjoint)(const double *a, double *Ad);
    void (*jl)(const double *v, double *J), (*jr)(const double *v, double *J);
    void (*jl_inv)(const double *v, double *J), (*jr_inv)(const double *v, double *J);
} group;

#define ADAPT(G)                                                                                   \
    static void G##_exp(const double *v, double *x)                                                \
    {                                                                                              \
        const ct_##G a = ct_##G##_exp(v);                                                          \
        memcpy(x, &a, sizeof a);                                                                   \
    }                                                                                              \
    static void G##_log(const double *x, double *v) { ct_##G##_log(ct__##G##_load(x), v); }        \
    static void G##_compose(const double *a, const double *b, double *c, double *Ja, double *Jb)   \
    {                                                                                              \
        const ct_##G r = ct_##G##_compose(ct__##G##_load(a), ct__##G##_load(b), Ja, Jb);           \
        memcpy(c, &r, sizeof r);                                                                   \
    }                                                                                              \
    static void G##_between(const double *a, const double *b, double *c, double *Ja, double *Jb)   \
    {                                                                                              \
        const ct_##G r = ct_##G##_between(ct__##G##_load(a), ct__##G##_load(b), Ja, Jb);           \
        memcpy(c, &r, sizeof r);                                                                   \
    }                                                                                              \
    static void G##_inverse(const double *a, double *c, double *Ja)                                \
    {                                                                                              \
        const ct_##G r = ct_##G##_inverse(ct__##G##_load(a), Ja);                                  \
        memcpy(c, &r, sizeof r);                                                                   \
    }                                                                                              \
    static void G##_adjoint(const double *a, double *Ad) { ct_##G##_adjoint(ct__##G##_load(a), Ad); }
ADAPT(so3)
ADAPT(se2)
ADAPT(se3)
#define GROUP(G, kind, n)                                                                          \
    {#G, kind, n, G##_exp, G##_log, G##_compose, G##_between, G##_inverse, G##_adjoint,            \
     ct_##G##_jl, ct_##G##_jr, ct_##G##_jl_inv, ct_##G##_jr_inv}

static const group groups[] = {GROUP(so3, CT_SO3, 3), GROUP(se2, CT_SE2, 3), GROUP(se3, CT_SE3, 4)};
enum { GROUPS = sizeof groups / sizeof *groups };

/* ---- Reference: small matrices in long double --------------------------------------------------- */

static void multiply(int n, const real *A, const real *B, real *C)
{
    real T[36];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            T[n * i + j] = 0;
            for (int k = 0; k < n; k++) T[n * i + j] += A[n * i + k] * B[n * k + j];
        }
    memcpy(C, T, (size_t)(n * n) * sizeof *C);
}

/* S = sum over k of A^k / (k + first)!; first = 0 is exp(A). Norms here are below 20. */
static void series(int n, const real *A, int first, real *S)
{
    real term[36] = {0};
    for (int i = 0; i < n; i++) term[(n + 1) * i] = 1;
    memcpy(S, term, (size_t)(n * n) * sizeof *S);
    for (int k = 1; k < 150; k++) {
        multiply(n, term, A, term);
        for (int i = 0; i < n * n; i++) S[i] += term[i] /= k + first;
    }
}

static void skew(int n, const double w[3], real *A)
{
    A[0] = A[n + 1] = A[2 * n + 2] = 0;
    A[1] = -w[2], A[2] = w[1], A[n] = w[2], A[n + 2] = -w[0], A[2 * n] = -w[1], A[2 * n + 1] = w[0];
}

static void hat(const group *g, const double *v, real A[16])
{
    memset(A, 0, 16 * sizeof *A);
    if (g->kind == CT_SE2) {
        A[1] = -v[2], A[3] = v[2], A[2] = v[0], A[5] = v[1];
        return;
    }
    skew(g->n, v, A);
    for (int i = 0; g->kind == CT_SE3 && i < 3; i++) A[4 * i + 3] = v[3 + i];
}

static void little_ad(const group *g, const double *v, real A[36])
{
    memset(A, 0, 36 * sizeof *A);
    if (g->kind == CT_SE2) {
        A[1] = -v[2], A[3] = v[2], A[2] = v[1], A[5] = -v[0];
    } else if (g->kind == CT_SO3) {
        skew(3, v, A);
    } else {
        skew(6, v, A), skew(6, v, A + 21), skew(6, v + 3, A + 18);
    }
}

static void matrix(const group *g, const double *x, real M[16])
{
    memset(M, 0, 16 * sizeof *M);
    if (g->kind == CT_SE2) {
        M[0] = M[4] = x[2], M[1] = -x[3], M[3] = x[3], M[2] = x[0], M[5] = x[1], M[8] = 1;
        return;
    }
    const int  n = g->n;
    const real qx = x[n == 4 ? 3 : 0], qy = x[n == 4 ? 4 : 1], qz = x[n == 4 ? 5 : 2], qw = x[n == 4 ? 6 : 3];
    M[0] = 1 - 2 * (qy * qy + qz * qz), M[1] = 2 * (qx * qy - qw * qz), M[2] = 2 * (qx * qz + qw * qy);
    M[n] = 2 * (qx * qy + qw * qz), M[n + 1] = 1 - 2 * (qx * qx + qz * qz), M[n + 2] = 2 * (qy * qz - qw * qx);
    M[2 * n] = 2 * (qx * qz - qw * qy), M[2 * n + 1] = 2 * (qy * qz + qw * qx),
          M[2 * n + 2] = 1 - 2 * (qx * qx + qy * qy);
    for (int i = 0; n == 4 && i < 3; i++) M[4 * i + 3] = x[i];
    if (n == 4) M[15] = 1;
}

static double max_difference(int count, const real *a, const real *b)
{
    real worst = 0;
    for (int i = 0; i < count; i++) worst = fmaxl(worst, isnan(a[i] - b[i]) ? INFINITY : fabsl(a[i] - b[i]));
    return (double)worst;
}

static double max_difference_double(int count, const double *a, const double *b)
{
    double worst = 0;
    for (int i = 0; i < count; i++) worst = fmax(worst, isnan(a[i] - b[i]) ? INFINITY : fabs(a[i] - b[i]));
    return worst;
}

/* The largest entry of the difference of two elements as matrices: blind to the sign of q. */
static double distance(const group *g, const double *x, const double *y)
{
    real X[16], Y[16];
    matrix(g, x, X);
    matrix(g, y, Y);
    return max_difference(g->n * g->n, X, Y);
}

static void widen(int count, const double *a, real *b)
{
    for (int i = 0; i < count; i++) b[i] = a[i];
}

/* ---- Draws --------------------------------------------------------------------------------------- */

/* A tangent with rotation angle exactly `angle` (to rounding) and translation of a few metres. */
static void draw_tangent(ct_rng *rng, const group *g, double angle, double *v)
{
    const int dim = ct_kind_dim(g->kind), planar = g->kind == CT_SE2;
    for (int i = 0; i < dim; i++) v[i] = 2 * ct_rng_normal(rng);
    if (planar) {
        v[2] = v[2] < 0 ? -angle : angle;
        return;
    }
    const double n = hypot(hypot(v[0], v[1]), v[2]);
    for (int i = 0; i < 3; i++) v[i] *= angle / n;
}

static void draw_element(ct_rng *rng, const group *g, double *x)
{
    double v[6];
    draw_tangent(rng, g, PI * ct_rng_uniform(rng), v);
    g->exp(v, x);
}

/* Run `law` over groups, angles and draws. */
static void for_all(uint64_t seed, void (*law)(const group *g, ct_rng *rng, double angle))
{
    ct_rng rng = ct_rng_seed(seed);
    for (int i = 0; i < GROUPS; i++)
        for (int j = 0; j < ANGLES; j++)
            for (int k = 0; k < DRAWS; k++) law(&groups[i], &rng, angles[j]);
}

/* ---- Laws ----------------------------------------------------------------------------------------- */

static void exp_is_the_matrix_exponential(const group *g, ct_rng *rng, double angle)
{
    double v[6], x[7];
    real   A[16], E[16], X[16];
    draw_tangent(rng, g, angle, v);
    g->exp(v, x);
    hat(g, v, A);
    series(g->n, A, 0, E);
    matrix(g, x, X);
    CHECK_NEAR(max_difference(g->n * g->n, X, E), 0, 2e-14);
}
static void test_exp_is_the_matrix_exponential(void) { for_all(1, exp_is_the_matrix_exponential); }

/* Beyond pi - 1e-9 rounding of x may put it across pi, where v and its opposite meet. */
static void log_undoes_exp(const group *g, ct_rng *rng, double angle)
{
    double v[6], x[7], w[6], y[7];
    draw_tangent(rng, g, angle, v);
    g->exp(v, x);
    g->log(x, w);
    g->exp(w, y);
    CHECK_NEAR(distance(g, x, y), 0, 4e-14);
    if (angle < PI - 1e-15) CHECK_NEAR(max_difference_double(ct_kind_dim(g->kind), v, w), 0, 4e-14);
    const double found = g->kind == CT_SE2 ? fabs(w[2]) : hypot(hypot(w[0], w[1]), w[2]);
    CHECK_NEAR(found, angle, 8 * DBL_EPSILON * angle); /* relative, however small */
    CHECK(found <= PI * (1 + DBL_EPSILON));
}
static void test_log_undoes_exp(void) { for_all(2, log_undoes_exp); }

static void exp_undoes_log(const group *g, ct_rng *rng, double angle)
{
    (void)angle;
    double x[7], v[6], y[7];
    draw_element(rng, g, x);
    for (int i = g->kind == CT_SO3 ? 0 : 3; g->kind != CT_SE2 && i < ct_kind_size(g->kind); i++) x[i] = -x[i]; /* -q */
    g->log(x, v);
    g->exp(v, y);
    CHECK_NEAR(distance(g, x, y), 0, 4e-14);
}
static void test_exp_undoes_log(void) { for_all(3, exp_undoes_log); }

static void group_axioms(const group *g, ct_rng *rng, double angle)
{
    double v[6], a[7], b[7], c[7], l[7], r[7], e[7];
    draw_tangent(rng, g, angle, v);
    g->exp(v, a);
    draw_element(rng, g, b);
    draw_element(rng, g, c);
    g->compose(a, b, l, NULL, NULL);
    g->compose(l, c, l, NULL, NULL);
    g->compose(b, c, r, NULL, NULL);
    g->compose(a, r, r, NULL, NULL);
    CHECK_NEAR(distance(g, l, r), 0, 2e-14); /* (a b) c = a (b c) */
    ct_kind_identity(g->kind, e);
    g->compose(a, e, l, NULL, NULL);
    CHECK_NEAR(distance(g, l, a), 0, 1e-15); /* a e = a */
    g->inverse(a, l, NULL);
    g->compose(l, a, r, NULL, NULL);
    CHECK_NEAR(distance(g, r, e), 0, 2e-14); /* a^-1 a = e */
    g->compose(a, l, r, NULL, NULL);
    CHECK_NEAR(distance(g, r, e), 0, 2e-14); /* a a^-1 = e */
    g->compose(l, b, r, NULL, NULL);
    g->between(a, b, l, NULL, NULL);
    CHECK_NEAR(distance(g, l, r), 0, 2e-14); /* between = a^-1 b */
}
static void test_group_axioms(void) { for_all(4, group_axioms); }

/* x Exp(v) = Exp(Ad v) x. */
static void adjoint_moves_a_perturbation_to_the_left(const group *g, ct_rng *rng, double angle)
{
    const int dim = ct_kind_dim(g->kind);
    double    x[7], v[6], e[7], l[7], r[7], Ad[36], w[6] = {0};
    draw_element(rng, g, x);
    draw_tangent(rng, g, angle, v);
    g->adjoint(x, Ad);
    for (int i = 0; i < dim; i++)
        for (int j = 0; j < dim; j++) w[i] += Ad[dim * i + j] * v[j];
    g->exp(v, e);
    g->compose(x, e, l, NULL, NULL);
    g->exp(w, e);
    g->compose(e, x, r, NULL, NULL);
    CHECK_NEAR(distance(g, l, r), 0, 1e-13);
}
static void test_adjoint_moves_a_perturbation_to_the_left(void)
{
    for_all(5, adjoint_moves_a_perturbation_to_the_left);
}

/* Jl = sum ad^k/(k+1)!, Jr(v) = Jl(-v), and the inverses undo them. */
static void exponential_jacobians_are_their_series(const group *g, ct_rng *rng, double angle)
{
    const int dim = ct_kind_dim(g->kind);
    double    v[6], J[36], Ji[36];
    real      A[36], S[36], W[36], P[36], I[36] = {0};
    for (int i = 0; i < dim; i++) I[(dim + 1) * i] = 1;
    draw_tangent(rng, g, angle, v);
    for (int side = 0; side < 2; side++) {
        little_ad(g, v, A);
        for (int i = 0; side && i < 36; i++) A[i] = -A[i];
        series(dim, A, 1, S);
        (side ? g->jr : g->jl)(v, J);
        (side ? g->jr_inv : g->jl_inv)(v, Ji);
        widen(dim * dim, J, W);
        CHECK_NEAR(max_difference(dim * dim, W, S), 0, 2e-14);
        widen(dim * dim, Ji, W);
        multiply(dim, W, S, P);
        CHECK_NEAR(max_difference(dim * dim, P, I), 0, 1e-13);
    }
}
static void test_exponential_jacobians_are_their_series(void) { for_all(6, exponential_jacobians_are_their_series); }

static void left_jacobian_is_adjoint_times_right(const group *g, ct_rng *rng, double angle)
{
    const int dim = ct_kind_dim(g->kind);
    double    v[6], x[7], Jl[36], Jr[36], Ad[36];
    real      L[36], R[36], A[36];
    draw_tangent(rng, g, angle, v);
    g->exp(v, x);
    g->adjoint(x, Ad), g->jl(v, Jl), g->jr(v, Jr);
    widen(dim * dim, Jl, L), widen(dim * dim, Jr, R), widen(dim * dim, Ad, A);
    multiply(dim, A, R, A);
    CHECK_NEAR(max_difference(dim * dim, A, L), 0, 4e-14);
}
static void test_left_jacobian_is_adjoint_times_right(void) { for_all(7, left_jacobian_is_adjoint_times_right); }

/* The charts that factors use carry into jr_inv what log has computed: same answer as from v alone. */
static void chart_gives_the_same_jacobian_as_the_tangent(const group *g, ct_rng *rng, double angle)
{
    const int dim = ct_kind_dim(g->kind);
    double    v[6], x[7], J[36], K[36], B[18];
    draw_tangent(rng, g, angle, v);
    g->exp(v, x);
    g->log(x, v);
    g->jr_inv(v, J);
    if (g->kind == CT_SE2) {
        const ct__se2_chart at = ct__se2_chart_at(ct__se2_load(x));
        ct__se2_jr_inv(&at, K);
    } else if (g->kind == CT_SO3) {
        const ct__so3_chart at = ct__so3_chart_at(ct__so3_load(x));
        ct__so3_jr_inv(&at, K);
    } else {
        const ct__se3_chart at = ct__se3_chart_at(ct__se3_load(x));
        ct__se3_jr_inv_blocks(&at, B, B + 9);
        ct__se3_blocks(B, B + 9, K);
    }
    CHECK_NEAR(max_difference_double(dim * dim, J, K), 0, 4e-14);
}
static void test_chart_gives_the_same_jacobian_as_the_tangent(void)
{
    for_all(8, chart_gives_the_same_jacobian_as_the_tangent);
}

/* ---- Derivatives by differences -------------------------------------------------------------------- */

typedef struct {
    const group  *g;
    const double *a, *b;
    int           which; /* see element_at */
} curve;

/* The function under test with its argument moved by d. */
static void element_at(const curve *c, const double *d, double *y)
{
    const group *g = c->g;
    double       e[7], m[7], v[6];
    g->exp(d, e);
    switch (c->which) {
    case 0: g->compose(c->a, e, m, NULL, NULL), g->compose(m, c->b, y, NULL, NULL); break;
    case 1: g->compose(c->b, e, m, NULL, NULL), g->compose(c->a, m, y, NULL, NULL); break;
    case 2: g->compose(c->a, e, m, NULL, NULL), g->between(m, c->b, y, NULL, NULL); break;
    case 3: g->compose(c->b, e, m, NULL, NULL), g->between(c->a, m, y, NULL, NULL); break;
    case 4: g->compose(c->a, e, m, NULL, NULL), g->inverse(m, y, NULL); break;
    default: /* Exp at Log(a), moved in the tangent space: its derivative is Jr */
        g->log(c->a, v);
        for (int i = 0; i < ct_kind_dim(g->kind); i++) v[i] += d[i];
        g->exp(v, y);
    }
}

/* f' = (4/5 D1 - 1/5 D2 + 4/105 D3 - 1/280 D4)/h with Dk = f(kh) - f(-kh), error h^8 f^(9)/630. */
static void differentiate(const curve *c, double *J)
{
    static const double weight[] = {4. / 5, -1. / 5, 4. / 105, -1. / 280};
    const double        h = 0.01;
    const int           dim = ct_kind_dim(c->g->kind);
    double              zero[6] = {0}, y0[7];
    element_at(c, zero, y0);
    for (int j = 0; j < dim; j++) {
        double sum[6] = {0};
        for (int k = 1; k <= 4; k++)
            for (int sign = -1; sign <= 1; sign += 2) {
                double d[6] = {0}, y[7], r[6];
                d[j] = sign * k * h;
                element_at(c, d, y);
                ct_kind_local(c->g->kind, y0, y, r);
                for (int i = 0; i < dim; i++) sum[i] += sign * weight[k - 1] * r[i] / h;
            }
        for (int i = 0; i < dim; i++) J[dim * i + j] = sum[i];
    }
}

static void jacobians_agree_with_differences(const group *g, ct_rng *rng, double angle)
{
    const int dim = ct_kind_dim(g->kind);
    double    v[6], a[7], b[7], y[7], J[6][36], D[36];
    draw_tangent(rng, g, angle, v);
    g->exp(v, a);
    draw_element(rng, g, b);
    g->compose(a, b, y, J[0], J[1]);
    g->between(a, b, y, J[2], J[3]);
    g->inverse(a, y, J[4]);
    g->log(a, v);
    g->jr(v, J[5]);
    for (int which = 0; which < 6; which++) {
        differentiate(&(curve){g, a, b, which}, D);
        CHECK_NEAR(max_difference_double(dim * dim, J[which], D), 0, 1e-10);
    }
}
static void test_jacobians_agree_with_differences(void) { for_all(9, jacobians_agree_with_differences); }

/* q = x p: by the matrix, and its derivatives by a right perturbation exactly (R [e_j] p, R e_j). */
static void action_is_the_matrix_product(const group *g, ct_rng *rng, double angle)
{
    const int dim = ct_kind_dim(g->kind), n = g->kind == CT_SE2 ? 2 : 3, m = g->n;
    double    v[6], x[7], q[3], Ja[18], Jp[9];
    double    p[4] = {ct_rng_normal(rng), ct_rng_normal(rng), ct_rng_normal(rng), 1};
    real      M[16], A[16], P[16];
    draw_tangent(rng, g, angle, v);
    g->exp(v, x);
    p[n] = 1;
    if (g->kind == CT_SE2) ct_se2_act(ct__se2_load(x), p, q, Ja, Jp);
    else if (g->kind == CT_SO3) ct_so3_act(ct__so3_load(x), p, q, Ja, Jp);
    else ct_se3_act(ct__se3_load(x), p, q, Ja, Jp);
    matrix(g, x, M);
    for (int j = -1; j < dim; j++) { /* j = -1: the value */
        double e[6] = {0};
        if (j >= 0) e[j] = 1;
        hat(g, e, A);
        multiply(m, M, A, P);
        for (int i = 0; i < n; i++) {
            real sum = 0;
            for (int k = 0; k < m; k++) sum += (j < 0 ? M : P)[m * i + k] * p[k];
            CHECK_NEAR((double)sum, j < 0 ? q[i] : Ja[dim * i + j], 1e-14);
        }
    }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) CHECK_NEAR((double)M[m * i + k], Jp[n * i + k], 1e-15);
}
static void test_action_is_the_matrix_product(void) { for_all(10, action_is_the_matrix_product); }

int main(void)
{
    RUN(test_exp_is_the_matrix_exponential);
    RUN(test_log_undoes_exp);
    RUN(test_exp_undoes_log);
    RUN(test_group_axioms);
    RUN(test_adjoint_moves_a_perturbation_to_the_left);
    RUN(test_exponential_jacobians_are_their_series);
    RUN(test_left_jacobian_is_adjoint_times_right);
    RUN(test_chart_gives_the_same_jacobian_as_the_tangent);
    RUN(test_jacobians_agree_with_differences);
    RUN(test_action_is_the_matrix_product);
    return ct_test_end();
}
