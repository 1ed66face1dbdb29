/* alignment.c: the estimate moved as a whole onto the truth, before errors are measured.
 *
 * Minimised is sum |q_i - (s R p_i + t)|^2 over positions p of the estimate and q of the truth. With both less their
 * means and S = sum p q',
 *
 *     yaw, se2   R turns about z by atan2(S_xy - S_yx, S_xx + S_yy)
 *     se3, sim3  R is the unit quaternion of the largest eigenvalue of Horn's 4 x 4 matrix of S (Horn 1987); it is the
 *                rotation of Umeyama's singular value decomposition
 *     sim3       s = sum q' R p / sum |p|^2 (Umeyama 1991)
 *
 * and t takes the mean s R p to that of q; se2 leaves z alone. Planar comparisons turn about z alone, with a scale for
 * sim3. first: the first poses are made equal; of positions the first positions, without a rotation. */
#include "score/score.h"
#include "base/eigen.h"

#include <math.h>

/* Relative to sum |p| |q|: below, positions do not determine the rotation. Rounding leaves 1e-16 of it. */
#define DETERMINED 1e-9

static const char *const names[CT_ALIGNMENT_COUNT] = {
#define X(constant, name, description) [constant] = name,
    CT_ALIGNMENT_LIST(X)
#undef X
};

const char *ct_alignment_name(ct_alignment alignment) { return ct__name_at(names, CT_ALIGNMENT_COUNT, (int)alignment); }

int ct_alignment_find(const char *name) { return ct__find_name(name, names, CT_ALIGNMENT_COUNT); }

typedef struct {
    double from[3], to[3]; /* means                                  */
    double S[9];
    double square, size; /* sum |p|^2, of |p| |q|                  */
} moments;

static void point(ct_se3 a, double p[3]) { p[0] = a.x, p[1] = a.y, p[2] = a.z; }

/* flat: z does not take part in the rotation */
static moments gather(const ct__sides *s, int flat)
{
    moments m = {0};
    for (int pass = 0; pass < 2; pass++)
        for (int64_t i = 0; i < s->count; i++) {
            double p[3], q[3];
            point(s->estimate[i], p);
            point(s->truth[i], q);
            for (int k = 0; !pass && k < 3; k++) { /* running means: sums of large coordinates lose digits */
                m.from[k] += (p[k] - m.from[k]) / (double)(i + 1);
                m.to[k] += (q[k] - m.to[k]) / (double)(i + 1);
            }
            if (!pass) continue;
            for (int k = 0; k < 3; k++) p[k] -= m.from[k], q[k] -= m.to[k];
            if (flat) p[2] = q[2] = 0;
            const double pp = p[0] * p[0] + p[1] * p[1] + p[2] * p[2], qq = q[0] * q[0] + q[1] * q[1] + q[2] * q[2];
            for (int k = 0; k < 9; k++) m.S[k] += p[k / 3] * q[k % 3];
            m.square += pp;
            m.size += sqrt(pp * qq);
        }
    return m;
}

static int about_z(const moments *m, ct_so3 *q)
{
    const double cosine = m->S[0] + m->S[4], sine = m->S[1] - m->S[3];
    if (!(hypot(cosine, sine) > DETERMINED * m->size)) return 0;
    const double half = 0.5 * atan2(sine, cosine);
    *q = (ct_so3){0, 0, sin(half), cos(half)};
    return 1;
}

static int in_space(const moments *m, ct_so3 *q)
{
    const double *S = m->S, yz = S[5] - S[7], zx = S[6] - S[2], xy = S[1] - S[3];
    double N[16] = {S[0] + S[4] + S[8],
                    yz,
                    zx,
                    xy, /* w, x, y, z */
                    yz,
                    S[0] - S[4] - S[8],
                    S[1] + S[3],
                    S[6] + S[2],
                    zx,
                    S[1] + S[3],
                    S[4] - S[0] - S[8],
                    S[5] + S[7],
                    xy,
                    S[6] + S[2],
                    S[5] + S[7],
                    S[8] - S[0] - S[4]};
    double lambda[4], V[16];
    ct__eigen_symmetric(4, N, lambda, V);
    if (!(lambda[3] - lambda[2] > DETERMINED * m->size)) return 0;
    *q = ct_so3_normalize((ct_so3){V[7], V[11], V[15], V[3]});
    return 1;
}

static ct_status not_determined(const ct__sides *s, ct_alignment alignment, int flat, ct_err *err)
{
    return ct_fail(err, CT_E_SINGULAR,
                   "alignment %s: the positions of the %lld compared poses do not determine a rotation%s: they are all "
                   "equal%s; align %s",
                   ct_alignment_name(alignment), (long long)s->count, flat ? " about z" : "",
                   flat ? " from above, or their errors hide the path" : " or on one line",
                   flat ? "none or first" : "yaw, first or none");
}

static ct_status least_squares(const ct__sides *s, ct_alignment alignment, ct_se3 *T, double *scale, ct_err *err)
{
    const int flat = s->planar || alignment == CT_ALIGNMENT_YAW || alignment == CT_ALIGNMENT_SE2;
    const moments m = gather(s, flat);
    ct_so3 q;
    double t[3];
    if (!(flat ? about_z(&m, &q) : in_space(&m, &q))) return not_determined(s, alignment, flat, err);
    if (alignment == CT_ALIGNMENT_SIM3) {
        double R[9], sum = 0;
        ct_so3_matrix(q, R);
        for (int k = 0; k < 9; k++) sum += R[3 * (k % 3) + k / 3] * m.S[k]; /* q' R p = sum R_ji p_i q_j */
        *scale = sum / m.square;
        if (!(*scale > 0) || !isfinite(*scale)) return not_determined(s, alignment, flat, err);
    }
    ct_so3_act(q, m.from, t, NULL, NULL);
    for (int k = 0; k < 3; k++) t[k] = m.to[k] - *scale * t[k];
    if (alignment == CT_ALIGNMENT_SE2) t[2] = 0;
    *T = ct_se3_make(t, q);
    return CT_OK;
}

ct_status ct__align(ct__sides *s, ct_alignment alignment, ct_se3 *motion, double *scale, ct_err *err)
{
    *motion = ct_se3_identity();
    *scale = 1;
    if (alignment == CT_ALIGNMENT_NONE || s->count == 0) return CT_OK;
    if (alignment == CT_ALIGNMENT_FIRST)
        *motion = ct_se3_compose(s->truth[0], ct_se3_inverse(s->estimate[0], NULL), NULL, NULL);
    else
        CT_TRY(least_squares(s, alignment, motion, scale, err));
    for (int64_t i = 0; i < s->count; i++) {
        ct_se3 x = s->estimate[i];
        x.x *= *scale, x.y *= *scale, x.z *= *scale;
        s->estimate[i] = ct_se3_compose(*motion, x, NULL, NULL);
        if (s->rotations) continue;
        const ct_se3 p = s->estimate[i];
        s->estimate[i] = (ct_se3){p.x, p.y, p.z, 0, 0, 0, 1};
    }
    return CT_OK;
}
