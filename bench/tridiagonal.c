/* tridiagonal.c: what a chain of planar poses costs when nothing else has to be solved: the loop that
 * one would write by hand, as the measure of what generality costs.
 *
 * Pose k has a prior and is tied to pose k + 1 by odometry; noise is diagonal. One sweep along the
 * chain linearises at x and eliminates. With r the whitened residual and J its derivatives,
 *
 *     A_k = Jp'Jp + Ja'Ja + C_k,   B_k = Ja'Jb,   b_k = Jp'rp + Ja'ra + c_k
 *     L L' = A_k,  Y_k = L^-1 B_k,  y_k = L^-1 b_k,  C_k+1 = Jb'Jb - Y'Y,  c_k+1 = Jb'ra - Y'y
 *
 * and a second one goes back: L' dx_k = -y_k - Y_k dx_k+1. Residuals are Log(z^-1 x) and
 * Log(z^-1 a^-1 b) with exact Jacobians, and it stops where covtune would. Gauss-Newton alone. */
#include "peer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    double z[4], weight[3]; /* measured pose, inverse sigmas */
} measurement;

/* What elimination leaves of a pose. */
typedef struct {
    double L[6];  /* lower triangle; inverses on its diagonal */
    double Y[9];
    double y[3];
} row;

typedef struct {
    int32_t      poses;
    int          max_iterations;
    measurement *prior, *odom; /* per pose; odom[k] from k to k + 1 */
    row         *row;
    double      *trial;        /* values */
} chain;

/* r = W Log(e), J = W Jr^-1 = W [j -h p; h j q; 0 0 1]; returns |r|^2. */
static inline double log_and_jacobian(const double e[4], const double w[3], double r[3], double J[9])
{
    const double theta = atan2(e[3], e[2]), h = theta / 2;
    const double num = e[2] >= 0 ? 1 + e[2] : e[3], den = e[2] >= 0 ? e[3] : 1 - e[2];
    const double j = den != 0 ? h * num / den : 1;
    const double t2 = theta * theta, D = t2 < 1e-4 ? 1.0 / 12 + t2 / 720 : (1 - j) / t2;
    const double x = j * e[0] + h * e[1], y = j * e[1] - h * e[0];
    r[0] = w[0] * x, r[1] = w[1] * y, r[2] = w[2] * theta;
    J[0] = w[0] * j, J[1] = -w[0] * h, J[2] = w[0] * (theta * D * x + y / 2);
    J[3] = w[1] * h, J[4] = w[1] * j, J[5] = w[1] * (theta * D * y - x / 2);
    J[6] = 0, J[7] = 0, J[8] = w[2];
    return r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
}

/* d = a^-1 b. */
static inline void between(const double a[4], const double b[4], double d[4])
{
    const double x = b[0] - a[0], y = b[1] - a[1];
    d[0] = a[2] * x + a[3] * y, d[1] = a[2] * y - a[3] * x;
    d[2] = a[2] * b[2] + a[3] * b[3], d[3] = a[2] * b[3] - a[3] * b[2];
}

/* Ja = -J Ad(d^-1), Ad(d^-1) = [c s m; -s c n; 0 0 1]. */
static inline void left_jacobian(const double d[4], const double J[9], double Ja[9])
{
    const double c = d[2], s = d[3], m = s * d[0] - c * d[1], n = c * d[0] + s * d[1];
    for (int i = 0; i < 2; i++) {
        Ja[3 * i] = J[3 * i + 1] * s - J[3 * i] * c;
        Ja[3 * i + 1] = -J[3 * i] * s - J[3 * i + 1] * c;
        Ja[3 * i + 2] = -J[3 * i] * m - J[3 * i + 1] * n - J[3 * i + 2];
    }
    Ja[6] = 0, Ja[7] = 0, Ja[8] = -J[8];
}

/* A (00 10 11 20 21 22) += J'J, b += J'r, for J whose last row is (0 0 J8). */
static inline void add_square(const double J[9], const double r[3], double A[6], double b[3])
{
    A[0] += J[0] * J[0] + J[3] * J[3];
    A[1] += J[1] * J[0] + J[4] * J[3];
    A[2] += J[1] * J[1] + J[4] * J[4];
    A[3] += J[2] * J[0] + J[5] * J[3];
    A[4] += J[2] * J[1] + J[5] * J[4];
    A[5] += J[2] * J[2] + J[5] * J[5] + J[8] * J[8];
    b[0] += J[0] * r[0] + J[3] * r[1];
    b[1] += J[1] * r[0] + J[4] * r[1];
    b[2] += J[2] * r[0] + J[5] * r[1] + J[8] * r[2];
}

/* L L' = A; 1/L_ii on the diagonal. */
static inline void cholesky(const double A[6], double L[6])
{
    L[0] = 1 / sqrt(A[0]);
    L[1] = A[1] * L[0], L[3] = A[3] * L[0];
    L[2] = 1 / sqrt(A[2] - L[1] * L[1]);
    L[4] = (A[4] - L[3] * L[1]) * L[2];
    L[5] = 1 / sqrt(A[5] - L[3] * L[3] - L[4] * L[4]);
}

/* Linearises at x and eliminates towards the end of the chain. Returns the error at x. */
static double sweep(const chain *w, const double *x)
{
    double A[6] = {0}, b[3] = {0}, error = 0;
    for (int32_t k = 0; k < w->poses; k++, x += 4) {
        double e[4], d[4], r[3], J[9], Ja[9];
        row   *out = &w->row[k];
        between(w->prior[k].z, x, e);
        error += log_and_jacobian(e, w->prior[k].weight, r, J);
        add_square(J, r, A, b);
        const int last = k + 1 == w->poses;
        if (!last) {
            between(x, x + 4, d);
            between(w->odom[k].z, d, e);
            error += log_and_jacobian(e, w->odom[k].weight, r, J);
            left_jacobian(d, J, Ja);
            add_square(Ja, r, A, b);
        }
        double *L = out->L, *Y = out->Y, *y = out->y;
        cholesky(A, L);
        y[0] = b[0] * L[0], y[1] = (b[1] - L[1] * y[0]) * L[2], y[2] = (b[2] - L[3] * y[0] - L[4] * y[1]) * L[5];
        if (last) break;
        for (int j = 0; j < 3; j++) {
            const double B0 = Ja[0] * J[j] + Ja[3] * J[3 + j], B1 = Ja[1] * J[j] + Ja[4] * J[3 + j];
            const double B2 = Ja[2] * J[j] + Ja[5] * J[3 + j] + Ja[8] * J[6 + j];
            Y[j] = B0 * L[0], Y[3 + j] = (B1 - L[1] * Y[j]) * L[2],
            Y[6 + j] = (B2 - L[3] * Y[j] - L[4] * Y[3 + j]) * L[5];
        }
        for (int i = 0, t = 0; i < 3; i++) {
            b[i] = -(Y[i] * y[0] + Y[3 + i] * y[1] + Y[6 + i] * y[2]);
            for (int j = 0; j <= i; j++) A[t++] = -(Y[i] * Y[j] + Y[3 + i] * Y[3 + j] + Y[6 + i] * Y[6 + j]);
        }
        add_square(J, r, A, b);
    }
    return error / 2;
}

/* to = from o Exp(dx), from the end of the chain back. Returns the largest |dx|. */
static double step_back(const chain *w, const double *from, double *to)
{
    double v[3] = {0}, largest = 0;
    for (int32_t k = w->poses - 1; k >= 0; k--) {
        const double *L = w->row[k].L, *Y = w->row[k].Y, *y = w->row[k].y, *x = from + 4 * (int64_t)k;
        double       *out = to + 4 * (int64_t)k, u[3];
        for (int i = 0; i < 3; i++) u[i] = -y[i] - (Y[3 * i] * v[0] + Y[3 * i + 1] * v[1] + Y[3 * i + 2] * v[2]);
        v[2] = u[2] * L[5], v[1] = (u[1] - L[4] * v[2]) * L[2], v[0] = (u[0] - L[1] * v[1] - L[3] * v[2]) * L[0];
        for (int i = 0; i < 3; i++) largest = fmax(largest, fabs(v[i]));
        const double h = v[2] / 2, sh = sin(h), ch = cos(h), q = h != 0 ? sh / h : 1;
        const double ex = q * (ch * v[0] - sh * v[1]), ey = q * (sh * v[0] + ch * v[1]), c = 1 - 2 * sh * sh,
                     s = 2 * sh * ch;
        out[0] = x[0] + x[2] * ex - x[3] * ey, out[1] = x[1] + x[3] * ex + x[2] * ey;
        out[2] = x[2] * c - x[3] * s, out[3] = x[3] * c + x[2] * s;
    }
    return largest;
}

static int solve(void *problem, double *x, bench_outcome *out)
{
    const chain           *w = problem;
    const ct_solve_options rule = ct_solve_defaults();
    const double           begin = ct_now_s();
    double                 error = sweep(w, x);
    int                    iterations = 0, converged = 0;
    while (iterations < w->max_iterations && !converged) {
        const double step = step_back(w, x, w->trial), before = error;
        error = sweep(w, w->trial);
        iterations++;
        if (!(error <= before * (1 + 1e-12))) return 0;
        memcpy(x, w->trial, 4 * (size_t)w->poses * sizeof *x);
        converged = step < rule.step || before - error <= rule.relative * before || before - error <= rule.absolute;
    }
    *out = (bench_outcome){.seconds = ct_now_s() - begin,
                           .iterations = iterations,
                           .final_error = error,
                           .analyse_s = -1,
                           .linearise_s = -1,
                           .factor_s = -1,
                           .backsub_s = -1};
    return converged;
}

/* ---- from the graph ---- */

static void close_problem(void *problem)
{
    chain *w = problem;
    free(w->prior);
    free(w->odom);
    free(w->row);
    free(w->trial);
    free(w);
}

/* 0 if the factor has no place in such a chain, or its place is taken. */
static int take_factor(chain *w, const ct_factor *factor, const ct_noise_model *model)
{
    const int between_next = factor->ops == &ct_between_se2 && factor->var[1] == factor->var[0] + 1;
    if (!between_next && factor->ops != &ct_prior_se2) return 0;
    if (model->kind == CT_NOISE_FULL || model->robust.kind != CT_ROBUST_NONE) return 0;
    measurement *to = (between_next ? w->odom : w->prior) + factor->var[0];
    if (to->weight[0] != 0) return 0;
    memcpy(to->z, factor->z, sizeof to->z);
    memcpy(to->weight, model->sqrt_info, sizeof to->weight);
    return 1;
}

static void *open_problem(const ct_graph *graph, const ct_noise *noise, ct_method method, int max_iterations)
{
    const int32_t n = ct_graph_variables(graph);
    if (method != CT_GAUSS_NEWTON || n < 1 || ct_graph_factors(graph) != 2 * n - 1) return NULL;
    for (int32_t v = 0; v < n; v++)
        if (ct_graph_kind(graph, v) != CT_SE2 || ct_graph_fixed(graph, v)) return NULL;
    chain *w = calloc(1, sizeof *w);
    if (!w) return NULL;
    *w = (chain){.poses = n, .max_iterations = max_iterations};
    w->prior = calloc((size_t)n, sizeof *w->prior);
    w->odom = calloc((size_t)n, sizeof *w->odom);
    w->row = calloc((size_t)n, sizeof *w->row);
    w->trial = calloc(4 * (size_t)n, sizeof *w->trial);
    int good = w->prior && w->odom && w->row && w->trial;
    for (int32_t f = 0; good && f < 2 * n - 1; f++) {
        const ct_factor factor = ct_graph_factor(graph, f);
        good = take_factor(w, &factor, ct_noise_get(noise, factor.noise));
    }
    if (good) return w;
    close_problem(w);
    return NULL;
}

const bench_peer bench_tridiagonal = {"by hand", "", 1, open_problem, solve, close_problem};
