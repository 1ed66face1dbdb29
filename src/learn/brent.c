/* brent.c: the minimum of a function of one variable on an interval (Brent 1973, chapter 5).
 *
 * x is the best point, w the second best, v the previous w. The parabola through them has its minimum at x + p/q,
 *
 *     p = (x - v)^2 (F(x) - F(w)) - (x - w)^2 (F(x) - F(v)),
 *     q = 2 ((x - v) (F(x) - F(w)) - (x - w) (F(x) - F(v)))       up to sign
 *
 * This step is taken if it stays inside and is shorter than half of the step before the last. Otherwise the larger part
 * is divided by the golden section. The ends are approached and never evaluated. Operations have the order of SciPy's
 * bounded search, so points are equal to the bit. */
#include "learn/derivative_free.h"

#include <math.h>

/* sqrt(2.2e-16): values of a smooth function at closer points are equal up to rounding */
#define ROOT_OF_ROUNDING 1.4832396974191326e-08

typedef struct {
    double t, F;
} sample;

typedef struct {
    double a, b;          /* interval of the minimum   */
    sample x, w, v;       /* see above                 */
    double step, before;  /* the last two steps        */
    double tolerance, near; /* the least step, at x      */
} bracket;

static void set_near(bracket *s) { s->near = ROOT_OF_ROUNDING * fabs(s->x.t) + s->tolerance / 3; }

/* s->step <- to the minimum of the parabola. 0: the step is not acceptable, or a value is not finite. */
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
