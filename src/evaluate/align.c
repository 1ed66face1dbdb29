/* align.c: an estimate moved as a whole onto the truth, y_v = T x_v, before errors are measured.
 *
 * rigid: T minimises sum_v |t(T x_v) - t(truth_v)|^2 over rotations and translations, without a scale. With p_v and q_v
 * the estimated and true positions less their means and S = sum_v p_v q_v',
 *
 *     in the plane   yaw = atan2(S_xy - S_yx, S_xx + S_yy)
 *     in space       the unit quaternion that belongs to the largest eigenvalue of Horn's 4 x 4 matrix of S
 *                    (Horn, "Closed-form solution of absolute orientation using unit quaternions", 1987),
 *
 * and the translation takes one mean to the other. Umeyama's SVD gives the same T. first: T = truth_0 x_0^-1. */
#include "evaluate/evaluate.h"
#include "base/base.h"
#include "base/eigen.h"

#include <math.h>
#include <string.h>

/* Relative to the size of S: below, the rotation is not determined (all positions equal, or in space on one line).
 * Rounding leaves 1e-16 of it. */
#define DETERMINED 1e-9

const char *ct_align_name(ct_align_kind kind)
{
    static const char *const NAME[] = {
#define X(constant, name, what) name,
        CT_ALIGN_LIST(X)
#undef X
    };
    return (int)kind >= 0 && kind < CT_ALIGN_COUNT ? NAME[kind] : "?";
}

int ct_align_find(const char *name)
{
    for (int k = 0; k < CT_ALIGN_COUNT; k++)
        if (name && !strcmp(name, ct_align_name((ct_align_kind)k))) return k;
    return -1;
}

typedef struct {
    int64_t count;
    double  from[3], to[3]; /* means */
    double  S[9], size;     /* size: sum of |p| |q| */
    int     spatial;
} moments;

static int position_known(const ct_sequence *seq, int32_t v)
{
    const ct_kind  kind = (ct_kind)seq->graph->kind[v];
    const unsigned bits = kind == CT_SE2 ? 0x3 : 0x38;
    return ct__is_pose(kind) && (ct__known(seq, v) & bits) == bits;
}

static moments gather(const ct_sequence *seq, const double *x)
{
    const ct_graph *g = seq->graph;
    moments         m = {0};
    for (int pass = 0; pass < 2; pass++)
        for (int32_t v = 0; v < g->variables; v++) {
            if (!position_known(seq, v)) continue;
            const double *a = x + g->offset[v], *b = seq->truth + g->offset[v];
            const int     n = g->kind[v] == CT_SE2 ? 2 : 3;
            double        p[3] = {0}, q[3] = {0};
            for (int i = 0; i < n; i++) p[i] = a[i] - m.from[i], q[i] = b[i] - m.to[i];
            for (int i = 0; pass && i < 9; i++) m.S[i] += p[i / 3] * q[i % 3];
            m.size += pass ? sqrt((p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) * (q[0] * q[0] + q[1] * q[1] + q[2] * q[2]))
                           : 0;
            if (pass) continue;
            m.spatial = m.spatial || n == 3;
            m.count++;
            for (int i = 0; i < n; i++) m.from[i] += (a[i] - m.from[i]) / (double)m.count;
            for (int i = 0; i < n; i++) m.to[i] += (b[i] - m.to[i]) / (double)m.count;
        }
    return m;
}

/* The rotation of least squares; 0: not determined. */
static int rotation_in_plane(const moments *m, ct_so3 *q)
{
    const double cosine = m->S[0] + m->S[4], sine = m->S[1] - m->S[3];
    if (!(hypot(cosine, sine) > DETERMINED * m->size)) return 0;
    const double half = 0.5 * atan2(sine, cosine);
    *q = (ct_so3){0, 0, sin(half), cos(half)};
    return 1;
}

static int rotation_in_space(const moments *m, ct_so3 *q)
{
    const double *S = m->S, yz = S[5] - S[7], zx = S[6] - S[2], xy = S[1] - S[3];
    double        N[16] = {S[0] + S[4] + S[8], yz, zx, xy, /* w, x, y, z */
                           yz, S[0] - S[4] - S[8], S[1] + S[3], S[6] + S[2],
                           zx, S[1] + S[3], S[4] - S[0] - S[8], S[5] + S[7],
                           xy, S[6] + S[2], S[5] + S[7], S[8] - S[0] - S[4]};
    double        lambda[4], V[16];
    ct__eigen_symmetric(4, N, lambda, V);
    if (!(lambda[3] - lambda[2] > DETERMINED * m->size)) return 0;
    *q = ct_so3_normalize((ct_so3){V[7], V[11], V[15], V[3]});
    return 1;
}

static ct_status rigid(const ct_sequence *seq, const double *x, ct_se3 *T, ct_err *err)
{
    const moments m = gather(seq, x);
    ct_so3        q;
    double        turned[3];
    if (!m.count) return ct_fail(err, CT_E_ARGUMENT, "alignment: no true position is known");
    if (!(m.spatial ? rotation_in_space(&m, &q) : rotation_in_plane(&m, &q)))
        return ct_fail(err, CT_E_SINGULAR, "alignment: the positions of %lld poses do not determine a rotation",
                       (long long)m.count);
    ct_so3_act(q, m.from, turned, NULL, NULL);
    const double t[3] = {m.to[0] - turned[0], m.to[1] - turned[1], m.to[2] - turned[2]};
    *T = ct_se3_make(t, q);
    return CT_OK;
}

static ct_se2 in_plane(ct_se3 T) { return ct_se2_make(T.x, T.y, 2 * atan2(T.qz, T.qw)); }

static ct_status first_pose(const ct_sequence *seq, const double *x, ct_se3 *T, ct_err *err)
{
    const ct_graph *g = seq->graph;
    for (int32_t v = 0; v < g->variables; v++) {
        const ct_kind kind = (ct_kind)g->kind[v];
        const double *a = x + g->offset[v], *b = seq->truth ? seq->truth + g->offset[v] : NULL;
        if (!ct__is_pose(kind) || ct__known(seq, v) != ct__all_of(kind)) continue;
        if (kind == CT_SE3) {
            const ct_se3 from = {a[0], a[1], a[2], a[3], a[4], a[5], a[6]};
            const ct_se3 to = {b[0], b[1], b[2], b[3], b[4], b[5], b[6]};
            *T = ct_se3_compose(to, ct_se3_inverse(from, NULL), NULL, NULL);
        } else {
            const ct_se2 from = {a[0], a[1], a[2], a[3]}, to = {b[0], b[1], b[2], b[3]};
            const ct_se2 move = ct_se2_compose(to, ct_se2_inverse(from, NULL), NULL, NULL);
            const double half = 0.5 * ct_se2_yaw(move);
            *T = (ct_se3){move.x, move.y, 0, 0, 0, sin(half), cos(half)};
        }
        return CT_OK;
    }
    return ct_fail(err, CT_E_ARGUMENT, "alignment: no pose's truth is known in full");
}

void ct__move(ct_kind kind, ct_se3 T, const double *x, double *y)
{
    const ct_se2 flat = in_plane(T);
    switch (kind) {
    case CT_SE2: {
        const ct_se2 a = ct_se2_compose(flat, (ct_se2){x[0], x[1], x[2], x[3]}, NULL, NULL);
        memcpy(y, (double[]){a.x, a.y, a.c, a.s}, 4 * sizeof *y);
        break;
    }
    case CT_SE3: {
        const ct_se3 a = ct_se3_compose(T, (ct_se3){x[0], x[1], x[2], x[3], x[4], x[5], x[6]}, NULL, NULL);
        memcpy(y, (double[]){a.x, a.y, a.z, a.qx, a.qy, a.qz, a.qw}, 7 * sizeof *y);
        break;
    }
    case CT_SO2: {
        const ct_so2 a = ct_so2_compose((ct_so2){flat.c, flat.s}, (ct_so2){x[0], x[1]});
        memcpy(y, (double[]){a.c, a.s}, 2 * sizeof *y);
        break;
    }
    case CT_SO3: {
        const ct_so3 a = ct_so3_compose(ct_se3_rotation(T), (ct_so3){x[0], x[1], x[2], x[3]}, NULL, NULL);
        memcpy(y, (double[]){a.x, a.y, a.z, a.w}, 4 * sizeof *y);
        break;
    }
    case CT_R2: ct_se2_act(flat, (const double[]){x[0], x[1]}, y, NULL, NULL); break;
    case CT_R3: ct_se3_act(T, (const double[]){x[0], x[1], x[2]}, y, NULL, NULL); break;
    default: memmove(y, x, (size_t)ct_kind_size(kind) * sizeof *y);
    }
}

ct_status ct_align(const ct_sequence *seq, ct_align_kind kind, const double *x, double *y, ct_se3 *T, ct_err *err)
{
    const ct_graph *g = seq->graph;
    ct_se3          found = ct_se3_identity();
    if ((int)kind < 0 || kind >= CT_ALIGN_COUNT)
        return ct_fail(err, CT_E_ARGUMENT, "alignment %d: there is none of that number", (int)kind);
    int plane = 0, space = 0;
    for (int32_t v = 0; v < g->variables; v++) plane += g->kind[v] == CT_SE2, space += g->kind[v] == CT_SE3;
    if (kind != CT_ALIGN_NONE && plane && space)
        return ct_fail(err, CT_E_UNSUPPORTED, "alignment: some poses are in the plane and some in space");
    if (kind == CT_ALIGN_FIRST) CT_TRY(first_pose(seq, x, &found, err));
    if (kind == CT_ALIGN_RIGID) CT_TRY(rigid(seq, x, &found, err));
    if (T) *T = found;
    if (kind == CT_ALIGN_NONE) memmove(y, x, (size_t)ct_graph_size(g) * sizeof *y);
    for (int32_t v = 0; kind != CT_ALIGN_NONE && v < g->variables; v++)
        ct__move((ct_kind)g->kind[v], found, x + g->offset[v], y + g->offset[v]);
    return CT_OK;
}
