/* biased.c: measurement models with an error that lasts, made of the models without it.
 *
 *     biased_M_rk         variables of M, b in R^k     z: that of M, k rows, k coefficients
 *
 *         r[row_j] = r_M[row_j] + c_j b_j
 *
 *     world_biased_P_rk   the same for a pose P in the world (prior_se2, prior_se3, ..): b shifts its position there
 *
 *         r = r_P(x + sum_j c_j b_j e_j),   e_j the axis of row j
 *
 * r is what is predicted less what is measured, so b is the error of the measurement. A pose is measured in its own
 * frame; an offset of a receiver stays in the world while the body turns. (T_b^-1 z)^-1 x = z^-1 (T_b x): shifting what
 * is measured back is shifting the pose. With y = T_b x the derivative by x is that of r_P at y, and db moves y by the
 * right perturbation (rotation 0, translation R'db), so dr/db = J_translation R' C.
 *
 * The curvature of biased_M is that of M: b enters linearly. The descriptions follow from those of M; they are filled
 * in once, at the first call. */
#include "graph/biased.h"
#include "lie/se2_inline.h"
#include "lie/se3_inline.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#define BIAS_MAX 3

/* ---- Kernels --------------------------------------------------------------------------------- */

static void eval_biased(const ct_factor_ops *inner, int k, const double *z, const void *context,
                        const double *const x[], double *r, double *const J[])
{
    const int     n = inner->arity;
    const double *b = x[n], *row = z + ct_factor_z_size(inner), *c = row + k;
    double       *D = J ? J[n] : NULL;
    inner->eval(z, context, x, r, J);
    if (D) memset(D, 0, (size_t)(inner->rows * k) * sizeof *D);
    for (int j = 0; j < k; j++) {
        r[(int)row[j]] += c[j] * b[j];
        if (D) D[(int)row[j] * k + j] = c[j];
    }
}

static void curve_biased(const ct_factor_ops *inner, int k, const double *z, const void *context,
                         const double *const x[], const double *u, double *K)
{
    double M[CT_ARITY_MAX * CT_DIM_MAX * CT_ARITY_MAX * CT_DIM_MAX];
    int    n = 0;
    for (int i = 0; i < inner->arity; i++) n += ct_kind_dim(inner->kind[i]);
    ct_factor_curvature(inner, z, context, x, u, M);
    memset(K, 0, (size_t)((n + k) * (n + k)) * sizeof *K);
    for (int i = 0; i < n; i++) memcpy(K + i * (n + k), M + i * n, (size_t)n * sizeof *K);
}

/* R e_axis' of the world's axis in the frame of pose y. */
static void axis_in_body(ct_kind kind, const double *y, int axis, double v[3])
{
    const double e[3] = {axis == 0, axis == 1, axis == 2};
    v[2] = 0;
    if (kind == CT_SE3) ct__so3_rotate(ct__so3_inverse(ct__se3_rotation(ct__se3_load(y))), e, v);
    else v[0] = y[2] * e[0] + y[3] * e[1], v[1] = y[2] * e[1] - y[3] * e[0];
}

static void eval_world(const ct_factor_ops *inner, int k, const double *z, const void *context, const double *const x[],
                       double *r, double *const J[])
{
    const ct_kind kind = inner->kind[0];
    const int     dim = ct_kind_dim(kind), n = kind == CT_SE2 ? 2 : 3, first = kind == CT_SE2 ? 0 : 3;
    const double *row = z + ct_factor_z_size(inner), *c = row + k, *moved[] = {NULL};
    double        y[CT_SIZE_MAX], own[CT_ROWS_MAX * CT_DIM_MAX], *D = J ? J[1] : NULL;
    double       *to[] = {J && J[0] ? J[0] : own};
    memcpy(y, x[0], (size_t)ct_kind_size(kind) * sizeof *y);
    for (int j = 0; j < k; j++) y[(int)row[j] - first] += c[j] * x[1][j];
    moved[0] = y;
    inner->eval(z, context, moved, r, J ? to : NULL);
    for (int j = 0; D && j < k; j++) {
        double v[3];
        axis_in_body(kind, y, (int)row[j] - first, v);
        for (int i = 0; i < inner->rows; i++) {
            D[i * k + j] = 0;
            for (int t = 0; t < n; t++) D[i * k + j] += c[j] * to[0][i * dim + first + t] * v[t];
        }
    }
}

static const char *refuse_biased(const ct_factor_ops *inner, int k, int least, int most, const double *z)
{
    const double *row = z + ct_factor_z_size(inner);
    for (int j = 0; j < k; j++) {
        if (!(row[j] >= least && row[j] <= most && row[j] == floor(row[j])))
            return "the rows that a bias acts on are whole numbers, and rows of the residual";
        for (int i = 0; i < j; i++)
            if (row[i] == row[j]) return "a bias acts on a row once";
    }
    return inner->refuse ? inner->refuse(z) : NULL;
}

/* ---- Models ---------------------------------------------------------------------------------- */

typedef struct {
    const ct_factor_ops *inner;
    int                  k, world;
    const char          *name;
    void (*eval)(const double *z, const void *context, const double *const x[], double *r, double *const J[]);
    void (*curvature)(const double *z, const void *context, const double *const x[], const double *u, double *K);
    const char *(*refuse)(const double *z);
} recipe;

#define BIASED(M, k)                                                                                                   \
    static void eval_##M##_r##k(const double *z, const void *context, const double *const x[], double *r,              \
                                double *const J[])                                                                     \
    {                                                                                                                  \
        eval_biased(&ct_##M, k, z, context, x, r, J);                                                                  \
    }                                                                                                                  \
    static void curve_##M##_r##k(const double *z, const void *context, const double *const x[], const double *u,       \
                                 double *K)                                                                            \
    {                                                                                                                  \
        curve_biased(&ct_##M, k, z, context, x, u, K);                                                                 \
    }                                                                                                                  \
    static const char *refuse_##M##_r##k(const double *z) { return refuse_biased(&ct_##M, k, 0, ct_##M.rows - 1, z); }
#define BIASED_123(M) BIASED(M, 1) BIASED(M, 2) BIASED(M, 3)
CT_FACTOR_LIST(BIASED_123)

#define WORLD(P, k)                                                                                                    \
    static void world_##P##_r##k(const double *z, const void *context, const double *const x[], double *r,             \
                                 double *const J[])                                                                    \
    {                                                                                                                  \
        eval_world(&ct_##P, k, z, context, x, r, J);                                                                   \
    }                                                                                                                  \
    static const char *refuse_world_##P##_r##k(const double *z)                                                        \
    {                                                                                                                  \
        const int se3 = ct_##P.kind[0] == CT_SE3;                                                                      \
        return refuse_biased(&ct_##P, k, se3 ? 3 : 0, se3 ? 5 : 1, z);                                                 \
    }
#define WORLD_LIST(X) X(prior_se2) X(prior_se3) X(gtsam_prior_se2) X(gtsam_prior_se3)
#define WORLD_123(P) WORLD(P, 1) WORLD(P, 2) WORLD(P, 3)
WORLD_LIST(WORLD_123)

static const recipe RECIPE[] = {
#define ROW(M, k) {&ct_##M, k, 0, "biased_" #M "_r" #k, eval_##M##_r##k, curve_##M##_r##k, refuse_##M##_r##k},
#define X(M) ROW(M, 1) ROW(M, 2) ROW(M, 3)
    CT_FACTOR_LIST(X)
#undef X
#undef ROW
#define ROW(P, k) {&ct_##P, k, 1, "world_biased_" #P "_r" #k, world_##P##_r##k, NULL, refuse_world_##P##_r##k},
#define X(P) ROW(P, 1) ROW(P, 2) ROW(P, 3)
    WORLD_LIST(X)
#undef X
#undef ROW
};
enum { RECIPES = sizeof RECIPE / sizeof *RECIPE };

static ct_factor_ops  model[RECIPES]; /* name NULL: there is no such model */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int is_process(const ct_factor_ops *ops)
{
    return ops->arity >= 1 && ops->kind[0] <= CT_R3 && ops != &ct_prior_r1 && ops != &ct_prior_r2 &&
           ops != &ct_prior_r3 && ops != &ct_between_r1 && ops != &ct_between_r2 && ops != &ct_between_r3;
}

/* A bias takes one more variable and two more parts of the measurement, and has no more coordinates than rows. */
static int exists(const recipe *m)
{
    const int translations = m->inner->kind[0] == CT_SE2 ? 2 : 3;
    return m->inner->arity < CT_ARITY_MAX && m->inner->fields + 2 <= CT_FIELDS_MAX && m->inner->rows >= m->k &&
           !m->inner->shaped && !is_process(m->inner) && (!m->world || m->k <= translations);
}

static void fill(void)
{
    static const ct_kind R[BIAS_MAX + 1] = {CT_R1, CT_R1, CT_R2, CT_R3};
    for (int i = 0; i < RECIPES; i++) {
        const recipe *m = &RECIPE[i];
        if (!exists(m)) continue;
        ct_factor_ops ops = *m->inner;
        ops.name = m->name;
        ops.kind[ops.arity++] = R[m->k];
        ops.field[ops.fields++] = R[m->k];
        ops.field[ops.fields++] = R[m->k];
        ops.required = ops.fields;
        ops.eval = m->eval;
        ops.curvature = m->curvature;
        ops.refuse = m->refuse;
        ops.eval_many = NULL;
        model[i] = ops;
    }
}

const ct_factor_ops *ct__biased_find(const char *name)
{
    pthread_once(&once, fill);
    for (int i = 0; name && i < RECIPES; i++)
        if (model[i].name && !strcmp(model[i].name, name)) return &model[i];
    return NULL;
}

const ct_factor_ops *ct_factor_biased(const ct_factor_ops *ops, ct_kind bias, int world)
{
    pthread_once(&once, fill);
    for (int i = 0; i < RECIPES; i++)
        if (RECIPE[i].inner == ops && model[i].name && model[i].kind[ops->arity] == bias && RECIPE[i].world == !!world)
            return &model[i];
    return NULL;
}

const ct_factor_ops *ct_factor_biased_at(int i)
{
    pthread_once(&once, fill);
    for (int at = 0; i >= 0 && at < RECIPES; at++)
        if (model[at].name && i-- == 0) return &model[at];
    return NULL;
}

const ct_factor_ops *ct_factor_unbiased(const ct_factor_ops *ops)
{
    return ops >= model && ops < model + RECIPES ? RECIPE[ops - model].inner : ops;
}

int ct__is_process(const ct_factor_ops *ops) { return ct_factor_unbiased(ops) == ops && is_process(ops); }
