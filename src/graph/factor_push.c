/* factor_push.c: push_se2, quasi-static pushing of an object over a table by a finger.
 *
 * Quasi-static: the friction under the object balances the force of the finger at every moment; the object stops with
 * the finger. The forces (fx, fy) and moments m that friction can just resist form the limit surface. It is nearly an
 * ellipsoid, (fx^2 + fy^2) + (m / c)^2 = constant. The object moves along its normal at the acting force: v ~ f,
 * omega ~ m / c^2. c is a length, about the mean distance of the support from its centre (ct_shape_moments). The force
 * acts at the contact P, so m = P x f. With v for f:
 *
 *     P x v = c^2 omega                            the moment of the force turns the object
 *     v + omega S P = v_contact                    the contact point moves with the finger (sticking contact)
 *
 * A step leads from object o and finger e to object p and finger f. In the frame of p, with R its rotation,
 * S = [0 -1; 1 0] and z = c^2:
 *
 *     v = R'(p - o),  V = R'(f - e),  P = R'(f - p),  w = angle from o to p,  u = v - V
 *     r = [ u + w S P;  P x v - c^2 w ]
 *
 * With Q_x = R'R_x, a perturbation (rho, theta) of x moves it by Q_x (rho + theta S rho / 2 + ...). theta of p
 * rotates the frame, so all terms turn by -theta. Rows x and y:
 *
 *     do: -Q_o, -S P     de: Q_e, 0     dp: I - w S, S (P - u) + w P     df: (w S - I) Q_f, 0
 *
 * Row of the moment: -(S P)'Q_o, c^2 | 0, 0 | (S v + S P)', -c^2 | -(S v)'Q_f, 0. The curvature has the terms of
 * second order. */
#include <covtune/graph.h>

#include "graph/curvature_inline.h"

/* Displacements in the frame of p; Q of o, e and f. */
typedef struct {
    double v[2], u[2], P[2], w;
    ct_so2 o, e, f;
} step;

static void turned(ct_so2 R, double x, double y, double out[2]) /* R'(x, y) */
{
    out[0] = R.c * x + R.s * y;
    out[1] = R.c * y - R.s * x;
}

static step step_of(const double *const x[])
{
    const double *o = x[0], *e = x[1], *p = x[2], *f = x[3];
    const ct_so2  R = ct__so2_load(p + 2);
    step t = {.o = ct__so2_between(R, ct__so2_load(o + 2)),
              .e = ct__so2_between(R, ct__so2_load(e + 2)),
              .f = ct__so2_between(R, ct__so2_load(f + 2))};
    double        V[2];
    turned(R, p[0] - o[0], p[1] - o[1], t.v);
    turned(R, f[0] - e[0], f[1] - e[1], V);
    turned(R, f[0] - p[0], f[1] - p[1], t.P);
    t.u[0] = t.v[0] - V[0];
    t.u[1] = t.v[1] - V[1];
    t.w = -ct__so2_log(t.o);
    return t;
}

static void eval_push(const double *z, const void *context, const double *const x[], double *r, double *const J[])
{
    (void)context;
    const step   t = step_of(x);
    const double c2 = z[0], w = t.w, *v = t.v, *u = t.u, *P = t.P;
    r[0] = u[0] - w * P[1];
    r[1] = u[1] + w * P[0];
    r[2] = P[0] * v[1] - P[1] * v[0] - c2 * w;
    if (!J) return;
    if (J[0]) {
        double *j = J[0];
        j[0] = -t.o.c, j[1] = t.o.s, j[2] = P[1];
        j[3] = -t.o.s, j[4] = -t.o.c, j[5] = -P[0];
        j[6] = P[1] * t.o.c - P[0] * t.o.s, j[7] = -P[1] * t.o.s - P[0] * t.o.c, j[8] = c2;
    }
    if (J[1]) {
        double *j = J[1];
        j[0] = t.e.c, j[1] = -t.e.s, j[2] = 0;
        j[3] = t.e.s, j[4] = t.e.c, j[5] = 0;
        j[6] = j[7] = j[8] = 0;
    }
    if (J[2]) {
        double *j = J[2];
        j[0] = 1, j[1] = w, j[2] = u[1] - P[1] + w * P[0];
        j[3] = -w, j[4] = 1, j[5] = P[0] - u[0] + w * P[1];
        j[6] = -v[1] - P[1], j[7] = v[0] + P[0], j[8] = -c2;
    }
    if (J[3]) {
        double *j = J[3], c = t.f.c, s = t.f.s;
        j[0] = -c - w * s, j[1] = s - w * c, j[2] = 0;
        j[3] = w * c - s, j[4] = -w * s - c, j[5] = 0;
        j[6] = v[1] * c - v[0] * s, j[7] = -v[1] * s - v[0] * c, j[8] = 0;
    }
}

enum { O = 0, E = 3, P_ = 6, F = 9, N = 12 }; /* first coordinate of each variable */

static void both(double *K, int i, int j, double value)
{
    K[N * i + j] += value;
    if (i != j) K[N * j + i] += value;
}

/* theta at i times the translation that begins at j: k times Q'a. */
static void both_turn(double *K, int i, int j, double k, ct_so2 Q, const double a[2])
{
    both(K, i, j, k * (Q.c * a[0] + Q.s * a[1]));
    both(K, i, j + 1, k * (Q.c * a[1] - Q.s * a[0]));
}

/* Translations that begin at i and j: -k A'S B, which is k times the vector product of what they move. */
static void both_cross(double *K, int i, int j, double k, ct_so2 A, ct_so2 B)
{
    const ct_so2 Q = ct__so2_between(A, B); /* A'S B = S Q */
    both(K, i, j, k * Q.s), both(K, i, j + 1, k * Q.c);
    both(K, i + 1, j, -k * Q.c), both(K, i + 1, j + 1, k * Q.s);
}

/* Second order, with l the multipliers of x and y, L = S l, and k that of the moment; translations m_x = Q_x rho_x,
 * b = m_f - m_p:
 *     x, y:    -theta_p^2/2 l'(u + w S P) + theta_p (theta_p - theta_o) l'P + theta_p L'(m_p - m_o - m_f + m_e) +
 *              theta_p w l'b - (theta_p - theta_o) L'b
 *              + theta_f/2 (L - w l)'m_f - theta_p/2 (L - w l)'m_p + theta_o/2 L'm_o - theta_e/2 L'm_e
 *     moment:  b x (m_p - m_o) - theta_f/2 v'm_f + theta_p/2 (v + P)'m_p - theta_o/2 P'm_o */
static void curve_push(const double *z, const void *context, const double *const x[], const double *u, double *K)
{
    (void)z, (void)context;
    const step   t = step_of(x);
    const ct_so2 I = {1, 0};
    const double w = t.w, k = u[2], l[2] = {u[0], u[1]}, L[2] = {-u[1], u[0]}, lP = l[0] * t.P[0] + l[1] * t.P[1],
                 LP = L[0] * t.P[0] + L[1] * t.P[1];
    memset(K, 0, N * N * sizeof *K);
    both(K, P_ + 2, P_ + 2, 2 * lP - (l[0] * t.u[0] + l[1] * t.u[1] - w * LP)); /* l'S P = -L'P */
    both(K, P_ + 2, O + 2, -lP);
    both_turn(K, P_ + 2, O, -1, t.o, L);
    both_turn(K, P_ + 2, E, 1, t.e, L);
    both_turn(K, P_ + 2, F, -2, t.f, L);
    both_turn(K, P_ + 2, F, w, t.f, l);
    both_turn(K, P_ + 2, P_, 1.5, I, L);
    both_turn(K, P_ + 2, P_, -w / 2, I, l);
    both_turn(K, O + 2, F, 1, t.f, L);
    both_turn(K, O + 2, P_, -1, I, L);
    both_turn(K, F + 2, F, 0.5, t.f, L);
    both_turn(K, F + 2, F, -w / 2, t.f, l);
    both_turn(K, O + 2, O, 0.5, t.o, L);
    both_turn(K, E + 2, E, -0.5, t.e, L);
    both_cross(K, F, P_, k, t.f, I);
    both_cross(K, F, O, -k, t.f, t.o);
    both_cross(K, P_, O, k, I, t.o);
    both_turn(K, F + 2, F, -k / 2, t.f, t.v);
    both_turn(K, P_ + 2, P_, k / 2, I, t.v);
    both_turn(K, P_ + 2, P_, k / 2, I, t.P);
    both_turn(K, O + 2, O, -k / 2, t.o, t.P);
}

static const char *refuse(const double *z) { return z[0] > 0 ? NULL : "c2 must be positive"; }

const ct_factor_ops ct_push_se2 = {
    .name = "push_se2",
    .rows = 3,
    .arity = 4,
    .kind = {CT_SE2, CT_SE2, CT_SE2, CT_SE2},
    .fields = 1,
    .required = 1,
    .field = {CT_R1},
    .eval = eval_push,
    .refuse = refuse,
    .curvature = curve_push,
    .coordinate = {"x", "y", "moment"},
    .unit = {"m", "m", "m^2"},
};
