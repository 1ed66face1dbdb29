/* conjugate_gradient.c: H v = b, H = J'J, where elimination loses weak measurements to rounding.
 *
 * Elimination computes a pivot as a difference. Beside measurements 1e8 times as strong, with lever arms, no digit of a
 * weak one is left. J z does not lose it: along a motion that stiff factors allow, their rows are zero to rounding, and
 * the rows of the weak ones remain. So H v = b is solved by conjugate gradients with products J'(J z), factor by
 * factor. The preconditioner is the factor of H + lambda diag(H). All but the weak directions then have eigenvalues
 * within lambda of one, and each weak direction takes an iteration or two. */
#include "solve/solve.h"
#include "sparse/sparse.h"

#include <math.h>

#define DAMPING    1e-8  /* keeps pivots above the weak ones (CT_WEAK_RATIO) */
#define QUIET      12    /* iterations without progress after which it ends ...        */
#define NOTHING    1e-14 /* ... relative to the total progress, or absolute            */
#define MOST       400

int ct__conjugate_begin(ct__solve_state *state)
{
    ct_solver *s = state->solver;
    ct_sparse_diagonal(s->system, s->scale);
    const double least = 1e-16 * ct__largest(s->scale, s->scalars);
    for (int32_t i = 0; i < s->scalars; i++) s->scale[i] = CT_MAX(s->scale[i], CT_MAX(least, 1e-300));
    ct__solve_factor(state, DAMPING, s->scale);
    return ct__negative_pivot(s) < 0;
}

/* z = (H + lambda D)^-1 r. */
static double precondition(ct_solver *s, const double *r, double *z)
{
    double sum = 0;
    memcpy(z, r, (size_t)s->scalars * sizeof *z);
    ct__sparse_solve_one(s->system, z, s->system->work);
    for (int32_t i = 0; i < s->scalars; i++) sum += r[i] * z[i];
    return sum;
}

double ct__conjugate_solve(ct__solve_state *state, const double *b, double *v)
{
    ct_solver   *s = state->solver;
    double      *r = s->newton, *z = s->scale, *p = s->direction, *Hp = s->product, gained = 0;
    const size_t bytes = (size_t)s->scalars * sizeof *v;
    memcpy(r, b, bytes);
    memset(v, 0, bytes);
    double rz = precondition(s, r, z);
    memcpy(p, z, bytes);
    for (int k = 0, quiet = 0; k < MOST && quiet < QUIET && rz > 0; k++) {
        const double pHp = ct__response(s, state->noise, state->x, p, INFINITY, Hp);
        if (!(pHp > 0)) break;
        const double alpha = rz / pHp, gain = alpha * rz;
        for (int32_t i = 0; i < s->scalars; i++) {
            v[i] += alpha * p[i];
            r[i] -= alpha * Hp[i];
        }
        gained += gain;
        quiet = gain <= NOTHING * CT_MAX(gained, 1) ? quiet + 1 : 0;
        const double last = rz;
        rz = precondition(s, r, z);
        for (int32_t i = 0; i < s->scalars; i++) p[i] = z[i] + rz / last * p[i];
    }
    return gained;
}
