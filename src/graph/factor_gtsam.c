/* factor_gtsam.c: gtsam_prior_P and gtsam_between_P, measurements of poses as in the default build of GTSAM.
 *
 * GTSAM's PriorFactor and BetweenFactor compute the residual by `Local` of the group and leave out its
 * derivative. For Pose2 `Local` is a chart, not the logarithm: chart(x, y, theta) = (x, y, theta).
 *
 *     between_se2   d = a^-1 b,  r = chart(z^-1 d),   dr/db taken as I, dr/da as -Ad(d^-1)
 *     between_se3   d = a^-1 b,  r = Log(z^-1 d),     the same
 *     prior_se2     r = -chart(x^-1 z),               dr/dx taken as I
 *     prior_se3     r = -Log(x^-1 z) = Log(z^-1 x),   the same
 *
 * The factor left out is a rotation by the angle of r, or Jr^-1(r). It is the identity at r = 0 and differs
 * from it by |r|. Iterations end at sum J'Wr = 0 with this J, near the minimum but not at it
 * (docs/gtsam.md).
 */
#include "graph/graph.h"

#include "lie/se2_inline.h"
#include "lie/se3_inline.h"

static void identity(int n, double *J)
{
    for (int i = 0; J && i < n * n; i++) J[i] = i % (n + 1) == 0;
}

static inline void prior_se2(const double *z, const double *x, double *r, double *J)
{
    const ct_se2 e = ct__se2_between(ct__se2_load(x), ct__se2_load(z));
    r[0] = -e.x, r[1] = -e.y, r[2] = -atan2(e.s, e.c);
    identity(3, J);
}

static inline void prior_se3(const double *z, const double *x, double *r, double *J)
{
    const ct__se3_chart at = ct__se3_chart_at(ct__se3_between(ct__se3_load(z), ct__se3_load(x)));
    ct__se3_chart_tangent(&at, r);
    identity(6, J);
}

static inline void between_se2(const double *z, const double *a, const double *b, double *r, double *Ja, double *Jb)
{
    const ct_se2 d = ct__se2_between(ct__se2_load(a), ct__se2_load(b)), e = ct__se2_between(ct__se2_load(z), d);
    r[0] = e.x, r[1] = e.y, r[2] = atan2(e.s, e.c);
    if (Ja) ct__se2_adjoint(ct__se2_inverse(d), Ja);
    for (int i = 0; Ja && i < 9; i++) Ja[i] = -Ja[i];
    identity(3, Jb);
}

static inline void between_se3(const double *z, const double *a, const double *b, double *r, double *Ja, double *Jb)
{
    const ct_se3        d = ct__se3_between(ct__se3_load(a), ct__se3_load(b));
    const ct__se3_chart at = ct__se3_chart_at(ct__se3_between(ct__se3_load(z), d));
    ct__se3_chart_tangent(&at, r);
    if (Ja) {
        double M[9], N[9];
        ct__se3_adjoint_inverse_blocks(d, M, N);
        ct__se3_blocks(M, N, Ja);
        for (int i = 0; i < 36; i++) Ja[i] = -Ja[i];
    }
    identity(6, Jb);
}

#define GTSAM(k, K, dim, ...)                                                                                          \
    static void eval_prior_##k(const double *z, const void *context, const double *const x[], double *r,               \
                               double *const J[])                                                                      \
    {                                                                                                                  \
        (void)context;                                                                                                 \
        prior_##k(z, x[0], r, J ? J[0] : NULL);                                                                        \
    }                                                                                                                  \
    static void eval_between_##k(const double *z, const void *context, const double *const x[], double *r,             \
                                 double *const J[])                                                                    \
    {                                                                                                                  \
        (void)context;                                                                                                 \
        between_##k(z, x[0], x[1], r, J ? J[0] : NULL, J ? J[1] : NULL);                                               \
    }                                                                                                                  \
    const ct_factor_ops ct_gtsam_prior_##k = {                                                                         \
        .name = "gtsam_prior_" #k,                                                                                     \
        .rows = dim,                                                                                                   \
        .arity = 1,                                                                                                    \
        .kind = {K},                                                                                                   \
        .fields = 1,                                                                                                   \
        .required = 1,                                                                                                 \
        .field = {K},                                                                                                  \
        .absolute = 1,                                                                                                 \
        .jacobian = CT_JACOBIAN_APPROXIMATE,                                                                           \
        .eval = eval_prior_##k,                                                                                        \
        __VA_ARGS__,                                                                                                   \
    };                                                                                                                 \
    const ct_factor_ops ct_gtsam_between_##k = {                                                                       \
        .name = "gtsam_between_" #k,                                                                                   \
        .rows = dim,                                                                                                   \
        .arity = 2,                                                                                                    \
        .kind = {K, K},                                                                                                \
        .fields = 1,                                                                                                   \
        .required = 1,                                                                                                 \
        .field = {K},                                                                                                  \
        .jacobian = CT_JACOBIAN_APPROXIMATE,                                                                           \
        .eval = eval_between_##k,                                                                                      \
        __VA_ARGS__,                                                                                                   \
    };

GTSAM(se2, CT_SE2, 3, .coordinate = {"x", "y", "yaw"}, .unit = {"m", "m", "rad"})
GTSAM(se3, CT_SE3, 6, .coordinate = {"rx", "ry", "rz", "x", "y", "z"}, .unit = {"rad", "rad", "rad", "m", "m", "m"})

ct_status ct_graph_like_gtsam(ct_graph *g, ct_err *err)
{
    static const struct {
        const ct_factor_ops *ours, *theirs;
    } pair[] = {
        {&ct_prior_se2, &ct_gtsam_prior_se2},
        {&ct_prior_se3, &ct_gtsam_prior_se3},
        {&ct_between_se2, &ct_gtsam_between_se2},
        {&ct_between_se3, &ct_gtsam_between_se3},
    };
    for (int32_t f = 0; f < g->factors; f++) {
        const ct_factor_ops *ops = g->factor[f].ops;
        if (ops == &ct_prior_so3 || ops == &ct_between_so3)
            return ct_fail(err, CT_E_UNSUPPORTED,
                           "factor %d (%s on %s): there is no model of GTSAM's derivative for it", f, ops->name,
                           ct__names_get(&g->names, g->var_pool[g->factor[f].var]));
    }
    for (int32_t f = 0; f < g->factors; f++)
        for (size_t i = 0; i < sizeof pair / sizeof *pair; i++)
            if (g->factor[f].ops == pair[i].ours) g->factor[f].ops = pair[i].theirs;
    return CT_OK;
}
