/* brent.c: the minimum of a function of one variable on an interval (Brent 1973, chapter 5).
 *
 *     three points are remembered, the best x, the second best w, the one before v: a parabola through them has its
 *     minimum at x + p/q,
 *     p = (x - v)^2 (F(x) - F(w)) - (x - w)^2 (F(x) - F(v)),   q = 2 ((x - v) (F(x) - F(w)) - (x - w) (F(x) - F(v)))
 *                                                              up to sign
 *
 * A parabola is trusted if it leads inside and moves less than half of what the move before last did; else the
 * larger part is cut by the golden section. Ends are approached, never evaluated. Operations are in the order of
 * SciPy's bounded search, so that points are the same to the bit. */
#include "learn/derivative_free.h"

#include <math.h>

/* sqrt(2.2e-16): closer than that, values of a smooth function cannot be told apart */
#define ROOT_OF_ROUNDING 1.4832396974191326e-08

typedef struct {
    double t, F;
} sample;

typedef struct {
    double a, b;          /* where the minimum is      */
    sample x, w, v;       /* best, second, one before  */
    double step, before;  /* the last two moves        */
    double tolerance, near; /* the least move, at x      */
} bracket;

static void set_near(bracket *s) { s->near = ROOT_OF_ROUNDING * fabs(s->x.t) + s->tolerance / 3; }

/* s->step <- to the parabola's minimum; 0 if it is not to be trusted. Values that are not finite make no parabola. */
static int try_parabola(bracket *s)
{
    const double middle = 0.5 * (s->a + s->b), x = s->x.t;
    if (!(fabs(s->before) > s->near)) return 0;
    double r = (x - s->w.t) * (s->x.F - s->v.F), q = (x - s->v.t) * (s->x.F - s->w.F);
    double p = (x - s->v.t) * q - (x - s->w.t) * r;
    q = 2 * (q - r);
    if (q > 0) p = -p;
    q = fabs(q);
    r = s->before;
    s->before = s->step;
    if (!(fabs(p) < fabs(0.5 * q * r) && p > q * (s->a - x) && p < q * (s->b - x))) return 0;
    s->step = p / q;
    const double to = x + s->step;
    if (to - s->a < 2 * s->near || s->b - to < 2 * s->near) s->step = middle >= x ? s->near : -s->near;
    return 1;
}

static void cut(bracket *s)
{
    const double golden = 0.5 * (3 - sqrt(5.0));
    s->before = s->x.t >= 0.5 * (s->a + s->b) ? s->a - s->x.t : s->b - s->x.t;
    s->step = golden * s->before;
}

static void take(bracket *s, sample u)
{
    if (u.F <= s->x.F) {
        *(u.t >= s->x.t ? &s->a : &s->b) = s->x.t;
        s->v = s->w;
        s->w = s->x;
        s->x = u;
        return;
    }
    *(u.t < s->x.t ? &s->a : &s->b) = u.t;
    if (u.F <= s->w.F || s->w.t == s->x.t) {
        s->v = s->w;
        s->w = u;
    } else if (u.F <= s->v.F || s->v.t == s->x.t || s->v.t == s->w.t) s->v = u;
}

int ct__brent(double a, double b, double tolerance, int most, int (*f)(void *user, double t, double *F), void *user,
              double *t, double *F)
{
    bracket s = {.a = a, .b = b, .tolerance = tolerance};
    s.x.t = a + 0.5 * (3 - sqrt(5.0)) * (b - a);
    if (!f(user, s.x.t, &s.x.F)) return 0;
    s.w = s.v = s.x;
    set_near(&s);
    for (int n = 1; n < most && fabs(s.x.t - 0.5 * (s.a + s.b)) > 2 * s.near - 0.5 * (s.b - s.a); n++) {
        if (!try_parabola(&s)) cut(&s);
        const double length = CT_MAX(fabs(s.step), s.near);
        sample       u = {.t = s.x.t + (s.step >= 0 ? length : -length)};
        if (!f(user, u.t, &u.F)) return 0;
        take(&s, u);
        set_near(&s);
    }
    *t = s.x.t;
    *F = s.x.F;
    return 1;
}
