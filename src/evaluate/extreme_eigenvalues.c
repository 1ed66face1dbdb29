/* extreme_eigenvalues.c: the largest and the smallest eigenvalue of a sparse system, by Lanczos, verified by a
 * factorisation.
 *
 *     H v = l S v,  S = diag(scale):   an ordinary problem in u = sqrt(S) v,  K u = l u,  K = S^-1/2 H S^-1/2
 *
 * Both ends are the lower end of P = sign K: sign +1 for the smallest, -1 for the largest. A few Lanczos steps with K,
 * or with its inverse, find an end that is well separated. On a long chain eigenvalues cluster at the end, (pi / n)^2
 * apart, and hundreds of steps would be needed. The iteration then continues with
 *
 *     (P + shift)^-1,   shift = l (gap - sign),  l the end as far as it is known
 *
 * whose eigenvalues near the end are well separated if the gap is small. It needs a factorisation of sign H + shift S.
 * If that matrix is positive definite, no eigenvalue lies beyond l (1 -+ gap). With gap = TOLERANCE this proves that
 * the end is found, and the search stops.
 *
 * From u a Rayleigh quotient: with w = (P + shift)^-1 u, that of w is u'w / w'w - shift, without the cancellation
 * that w'Pw has at the small end of a wide spectrum.
 */
#include "evaluate/extreme_eigenvalues.h"
#include "base/eigen.h"
#include "sparse/sparse.h"

#define STEPS     16    /* of Lanczos before it starts again                                                       */
/* not reached in practice: 1 if the end is separated, 2 to 4 if eigenvalues cluster, up to 20,000 unknowns */
#define ROUNDS    8
#define TOLERANCE 5e-7  /* half of the accuracy that the header states                                           */
#define WIDER     30    /* factor on the gap if an eigenvalue lies beyond it                                     */
#define WIDEST    1e6   /* limit of that factor: H is not positive semidefinite, against the caller's word        */
#define INVARIANT 1e-13 /* of the largest product: below it is rounding, and the Krylov space is invariant         */
#define SEED      1     /* of the start vector, random so that it is not orthogonal to the eigenvector            */

typedef struct {
    ct_sparse    *sparse; /* P = sign H is assembled                                 */
    int32_t       n;
    int           sign;
    const double *scale;
    double       *root;   /* of scale                                                */
    int           inverse;
    double        shift;  /* what is factored: sign H + shift S                      */
    double       *Q;      /* STEPS vectors                                           */
    double       *w;
} search;

/* out <- (P + shift)^-1 in, or, as long as nothing is factored, -P in. */
static ct_status apply(search *s, const double *in, double *out, ct_err *err)
{
    if (s->inverse) {
        for (int32_t i = 0; i < s->n; i++) out[i] = in[i] * s->root[i];
        CT_TRY(ct_sparse_solve(s->sparse, out, 1, err));
        for (int32_t i = 0; i < s->n; i++) out[i] *= s->root[i];
        return CT_OK;
    }
    double *v = s->Q + (int64_t)STEPS * s->n;
    for (int32_t i = 0; i < s->n; i++) v[i] = in[i] / s->root[i];
    ct_sparse_multiply(s->sparse, v, out);
    for (int32_t i = 0; i < s->n; i++) out[i] /= -s->root[i];
    return CT_OK;
}

/* w <- what of it is orthogonal to the first k vectors; twice is enough. Returns its length. */
static double orthogonal(const search *s, int k)
{
    for (int pass = 0; pass < 2; pass++)
        for (int j = 0; j < k; j++) {
            const double *q = s->Q + (int64_t)j * s->n;
            ct__axpy(s->n, -ct__dot(s->n, q, s->w), q, s->w);
        }
    return sqrt(ct__dot(s->n, s->w, s->w));
}

/* u <- the vector of the largest eigenvalue in the space of u, Tu, TTu, ... */
static ct_status ritz(search *s, double *u, ct_err *err)
{
    double        T[STEPS * STEPS] = {0}, lambda[STEPS], V[STEPS * STEPS], diagonal[STEPS], beside[STEPS], most = 0;
    const int32_t steps = CT_MIN(STEPS, s->n);
    int           m = 0;
    memcpy(s->Q, u, (size_t)s->n * sizeof *u);
    for (;;) {
        CT_TRY(apply(s, s->Q + (int64_t)m * s->n, s->w, err));
        diagonal[m] = ct__dot(s->n, s->w, s->Q + (int64_t)m * s->n);
        beside[m] = orthogonal(s, m + 1);
        most = CT_MAX(most, fabs(diagonal[m]));
        if (m + 1 == steps || !(beside[m] > INVARIANT * most)) break;
        for (int32_t i = 0; i < s->n; i++) s->Q[(m + 1) * (int64_t)s->n + i] = s->w[i] / beside[m];
        m++;
    }
    m++;
    for (int i = 0; i < m; i++) T[i * m + i] = diagonal[i];
    for (int i = 0; i + 1 < m; i++) T[i * m + i + 1] = T[(i + 1) * m + i] = beside[i];
    ct__eigen_symmetric(m, T, lambda, V);
    memset(u, 0, (size_t)s->n * sizeof *u);
    for (int j = 0; j < m; j++) ct__axpy(s->n, V[j * m + m - 1], s->Q + (int64_t)j * s->n, u);
    return CT_OK;
}

/* The Rayleigh quotient l of u; where there is a factor, of one more product with it, which u becomes: that takes
 * out what Lanczos has left of the far end. */
static ct_status rayleigh(search *s, double *u, double *value, ct_err *err)
{
    CT_TRY(apply(s, u, s->w, err));
    const double uw = ct__dot(s->n, u, s->w), ww = ct__dot(s->n, s->w, s->w), uu = ct__dot(s->n, u, u);
    *value = s->inverse ? s->sign * (uw / ww - s->shift) : uw / uu;
    const double *from = s->inverse ? s->w : u, length = sqrt(s->inverse ? ww : uu);
    for (int32_t i = 0; i < s->n; i++) u[i] = from[i] / length;
    return CT_OK;
}

static int positive_definite(const search *s)
{
    const int32_t weak = ct_sparse_factor(s->sparse, s->shift, s->scale);
    for (int32_t i = 0; i < weak; i++) {
        int held;
        ct_sparse_weak(s->sparse, i, NULL, &held);
        if (held) return 0;
    }
    return 1;
}

/* Factors with the smallest gap that nothing lies beyond; 1 if that is the one that was asked for. */
static int factor_beyond(search *s, double value)
{
    s->inverse = 1;
    for (double gap = TOLERANCE;; gap *= WIDER) {
        s->shift = s->sign > 0 && gap >= 1 ? 0 : value * (gap - s->sign);
        if (positive_definite(s)) return gap == TOLERANCE;
        if (gap > WIDEST) return 0;
    }
}

static ct_status find(search *s, double *u, double *value, ct_err *err)
{
    ct_rng rng = ct_rng_seed(SEED);
    for (int32_t i = 0; i < s->n; i++) {
        u[i] = ct_rng_normal(&rng);
        s->root[i] = s->scale ? sqrt(s->scale[i]) : 1;
    }
    const double length = sqrt(ct__dot(s->n, u, u));
    for (int32_t i = 0; i < s->n; i++) u[i] /= length;
    s->inverse = s->sign > 0;
    if (s->inverse) ct_sparse_factor(s->sparse, 0, NULL);
    *value = 0;
    for (int round = 0; round < ROUNDS; round++) {
        const double before = *value;
        CT_TRY(ritz(s, u, err));
        CT_TRY(rayleigh(s, u, value, err));
        /* nothing there, or no more to be had */
        if (!(*value > 0) || fabs(*value - before) <= 1e-3 * TOLERANCE * *value) break;
        if (factor_beyond(s, *value)) break;
    }
    return CT_OK;
}

ct_status ct__extreme(ct_sparse *sparse, int largest, const double *scale, double *u, double *value, ct_err *err)
{
    const int64_t n = sparse->scalars;
    search s = {.sparse = sparse,
                .n = sparse->scalars,
                .sign = largest ? -1 : 1,
                .scale = scale,
                .Q = ct__zalloc((STEPS + 3) * n, sizeof *s.Q)};
    if (!s.Q) return ct__no_memory(err, "vectors", STEPS + 3);
    s.w = s.Q + (STEPS + 1) * n;
    s.root = s.w + n;
    if (largest) ct__sparse_negate(sparse);
    const ct_status status = find(&s, u, value, err);
    if (largest) ct__sparse_negate(sparse);
    free(s.Q);
    return status;
}
