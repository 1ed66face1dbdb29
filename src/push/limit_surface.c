/* limit_surface.c: quasi-static pushing by a rounded finger.
 *
 * The limit surface of the friction under the object is an ellipsoid in the space of force and moment about the
 * centre of friction f0 (Goyal, Ruina and Papadopoulos 1991; as an ellipsoid Howe and Cutkosky 1996). In the frame
 * of the object
 *
 *     V = A f,   w = m / c^2,   m = r x f,   r = p - f0,   A = diag(a, 1/a)
 *
 * for a force f at the contact p, up to a positive factor that quasi-static motion does not determine: f is in units
 * of the velocity V of f0. The object's material at p moves by
 *
 *     V + w S r = M f,    M = A + (S r)(S r)' / c^2,    S = [0 -1; 1 0]
 *
 * Let n be the normal into the object, t = S n, and v the motion of the finger's material at p. The finger sticks if
 * the required force lies in the friction cone, and else slides along its edge:
 *
 *     f = M^-1 v                                        if  |f.t| <= mu f.n
 *     f = u (n.v) / (n.M u),   u = n + s mu t,          else, s the sign of f.t;
 *                                                       then n.(M f - v) = 0 and s t.(v - M f) >= 0
 *
 * Such a force always exists for n.v > 0 (no jamming). Let f = a n + b t be the sticking force; n.v = a n.M n + b
 * n.M t. If a > 0 and |b| > mu a, then n.M u is at least n.v / a or n.M n; if a <= 0, then b n.M t > 0 and n.M u >=
 * n.M n.
 *
 * Steps are small (a quarter of a millimetre). The twist (V, w) is integrated exactly; the hand closes the remaining
 * gap along the normal. */
#include "push/push.h"

#include <math.h>

static double dot(const double a[2], const double b[2]) { return a[0] * b[0] + a[1] * b[1]; }
static double cross(const double a[2], const double b[2]) { return a[0] * b[1] - a[1] * b[0]; }

/* Directions into a frame, and out of it. */
static void into(ct_se2 T, const double p[2], double q[2])
{
    q[0] = T.c * p[0] + T.s * p[1];
    q[1] = T.c * p[1] - T.s * p[0];
}

const char *ct__push_touch(const ct__push_table *table, ct__push_state *x, ct__push_contact *contact)
{
    const double away[2] = {x->finger.x - x->object.x, x->finger.y - x->object.y};
    double       q[2], g[2], side[2], world[2];
    into(x->object, away, q);
    const double d = ct_shape_distance(table->shape, q, g, NULL);
    if (!(d > 0)) return "is inside the object";
    contact->gap = d - CT__PUSH_REACH;
    if (!(fabs(contact->gap) <= CT__PUSH_REACH)) return "does not touch the object";
    for (int i = 0; i < 2; i++) {
        q[i] -= contact->gap * g[i];
        contact->normal[i] = -g[i];
        contact->point[i] = q[i] - CT__PUSH_REACH * g[i];
    }
    ct_se2_act(x->object, q, world, NULL, NULL);
    x->finger.x = world[0];
    x->finger.y = world[1];
    /* in the pad's frame: along y if it faces the surface */
    into(ct_se2_between(x->object, x->finger, NULL, NULL), contact->normal, side);
    contact->tilt = atan2(-side[0], side[1]);
    return fabs(contact->tilt) <= CT__PUSH_TILT ? NULL : "is turned too far away from the surface";
}

/* y = M f. */
static void respond(const ct__push_table *table, const double r[2], const double f[2], double y[2])
{
    const double w = cross(r, f) / (table->c * table->c);
    y[0] = table->stretch * f[0] - w * r[1];
    y[1] = f[1] / table->stretch + w * r[0];
}

const char *ct__push_solve(const ct__push_table *table, const ct__push_contact *contact, double mu, const double v[2],
                           ct__push_motion *motion)
{
    const double *n = contact->normal, t[2] = {-n[1], n[0]}, c2 = table->c * table->c;
    const double  r[2] = {contact->point[0] - table->centre[0], contact->point[1] - table->centre[1]};
    if (!(dot(n, v) > 0.05 * sqrt(dot(v, v)))) return "moves along the surface or away from it"; /* within 3 degrees */
    const double M[3] = {table->stretch + r[1] * r[1] / c2, -r[0] * r[1] / c2, 1 / table->stretch + r[0] * r[0] / c2},
                 det = M[0] * M[2] - M[1] * M[1];
    double      *f = motion->force, y[2];
    f[0] = (M[2] * v[0] - M[1] * v[1]) / det; /* f = M^-1 v; det >= 1 */
    f[1] = (M[0] * v[1] - M[1] * v[0]) / det;
    motion->sliding = !(fabs(dot(f, t)) <= mu * dot(f, n));
    if (motion->sliding) {
        const double s = dot(f, t) > 0 ? 1 : -1, u[2] = {n[0] + s * mu * t[0], n[1] + s * mu * t[1]};
        respond(table, r, u, y);
        for (int i = 0; i < 2; i++) f[i] = u[i] * dot(n, v) / dot(n, y); /* n.M u > 0, see above */
    }
    respond(table, r, f, y);
    motion->slip = dot(t, v) - dot(t, y);
    motion->shear = dot(f, t) / dot(f, n);
    motion->load = dot(f, n) / sqrt(dot(f, y)); /* f.M f is the norm of f on the limit surface */
    motion->twist[0] = table->stretch * f[0];
    motion->twist[1] = f[1] / table->stretch;
    motion->twist[2] = cross(r, f) / c2;
    return NULL;
}

const char *ct__push_advance(const ct__push_table *table, const ct__push_contact *contact, const double step[2],
                             double turn, ct__push_state *x, ct__push_motion *motion)
{
    const double mu = table->mu * (1 + table->ripple * sin(table->phase + table->wave * x->travelled));
    double       v[2];
    into(x->object, step, v);
    v[0] -= turn * CT__PUSH_REACH * contact->normal[1]; /* + turn S (p - centre) */
    v[1] += turn * CT__PUSH_REACH * contact->normal[0];
    const char *why = ct__push_solve(table, contact, mu, v, motion);
    if (why) return why;
    const ct_se2 centre = {table->centre[0], table->centre[1], 1, 0},
                 moved = ct_se2_compose(centre, ct_se2_exp(motion->twist), NULL, NULL);
    const ct_se2 by = ct_se2_compose(moved, ct_se2_inverse(centre, NULL), NULL, NULL), turned = ct_se2_make(0, 0, turn);
    x->object = ct_se2_normalize(ct_se2_compose(x->object, by, NULL, NULL));
    x->finger = ct_se2_normalize(ct_se2_compose(x->finger, turned, NULL, NULL));
    x->finger.x += step[0];
    x->finger.y += step[1];
    x->travelled += sqrt(dot(step, step));
    return NULL;
}
