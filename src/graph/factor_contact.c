/* factor_contact.c: contact_se2, a finger that touches an object of known outline.
 *
 *     q = R'(e - o),  r = d(q) - z        d: signed distance of the shape; z: radius of the finger, zero unless given;
 *                                         R: rotation of o
 *
 * The distance is signed, so the residual is differentiable at the outline. With g and H those of d at q, Q = R'R_e,
 * S = [0 -1; 1 0], and (rho, theta) the perturbations of o and e:
 *
 *     dq = -rho_o - theta_o S q + Q rho_e,   dr = g'dq
 *     d2r = dq'H dq + second order of q:  -theta_o^2/2 g'q + theta_o (S g)'(Q rho_e - rho_o/2) - theta_e/2 (S g)'Q
 *                                         rho_e */
#include <covtune/graph.h>

#include "graph/curvature_inline.h"

typedef struct {
    double q[2];
    ct_so2 Q;
} touch;

static touch touch_of(const double *o, const double *e)
{
    const double x = e[0] - o[0], y = e[1] - o[1], c = o[2], s = o[3];
    return (touch){.q = {c * x + s * y, c * y - s * x}, .Q = ct__so2_between(ct__so2_load(o + 2), ct__so2_load(e + 2))};
}

static void eval_contact(const double *z, const void *context, const double *const x[], double *r, double *const J[])
{
    const touch t = touch_of(x[0], x[1]);
    double      gradient[2], *g = J ? gradient : NULL;
    r[0] = ct_shape_distance(context, t.q, g, NULL) - z[0];
    if (!J) return;
    if (J[0]) J[0][0] = -g[0], J[0][1] = -g[1], J[0][2] = g[0] * t.q[1] - g[1] * t.q[0];
    if (J[1]) J[1][0] = g[0] * t.Q.c + g[1] * t.Q.s, J[1][1] = g[1] * t.Q.c - g[0] * t.Q.s, J[1][2] = 0;
}

static void curve_contact(const double *z, const void *context, const double *const x[], const double *u, double *K)
{
    (void)z;
    const touch t = touch_of(x[0], x[1]);
    double      g[2], H[4];
    ct_shape_distance(context, t.q, g, H);
    const double D[2][6] = {{-1, 0, t.q[1], t.Q.c, -t.Q.s, 0}, {0, -1, -t.q[0], t.Q.s, t.Q.c, 0}}; /* dq */
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            K[6 * i + j] =
                u[0] * (D[0][i] * (H[0] * D[0][j] + H[1] * D[1][j]) + D[1][i] * (H[2] * D[0][j] + H[3] * D[1][j]));
    /* S g, in o's frame and in e's */
    const double G[2] = {-u[0] * g[1], u[0] * g[0]}, E[2] = {G[0] * t.Q.c + G[1] * t.Q.s, G[1] * t.Q.c - G[0] * t.Q.s};
    K[14] -= u[0] * (g[0] * t.q[0] + g[1] * t.q[1]);
    for (int i = 0; i < 2; i++) {
        K[6 * 2 + i] -= G[i] / 2, K[6 * i + 2] -= G[i] / 2;
        K[6 * 2 + 3 + i] += E[i], K[6 * (3 + i) + 2] += E[i];
        K[6 * 5 + 3 + i] -= E[i] / 2, K[6 * (3 + i) + 5] -= E[i] / 2;
    }
}

static const char *refuse(const double *z) { return z[0] >= 0 ? NULL : "radius must not be negative"; }

const ct_factor_ops ct_contact_se2 = {
    .name = "contact_se2",
    .rows = 1,
    .arity = 2,
    .kind = {CT_SE2, CT_SE2},
    .fields = 1,
    .required = 0,
    .field = {CT_R1},
    .eval = eval_contact,
    .refuse = refuse,
    .curvature = curve_contact,
    .shaped = 1,
    .coordinate = {"distance"},
    .unit = {"m"},
};
