/* track.c: a body between its states: x(t) = x_j o Exp(d(t)), x_j the state nearest to t, d the polynomial through
 * Log(x_j^-1 x_k) of the five states around it. Delays are fractions of a step; a straight line between states would
 * smooth the motion and change its size.
 *
 * The number of states is odd for the sake of delays. Truth has errors n_k. Those of x(t) are sum l_k n_k, l Lagrange's
 * polynomials, of size sum l_k^2: 1 at a state and less beside it. With an even number that has a kink at every state,
 * (sum l_k^2)' = -+1, so any small delay would seem to fit better than none. Here it is flat: sum l_k l_k' = 0 there,
 * and the velocity of the body at a state does not depend on the error of that state. */
#include "doctor/doctor.h"

#include <math.h>

#define BESIDE 1.0 /* steps beyond the first or last state that are extrapolated */
#define NODES  5

/* Lagrange's polynomials of `count` nodes at t. */
static void lagrange(int count, const double *node, double t, double *l)
{
    for (int i = 0; i < count; i++) {
        l[i] = 1;
        for (int k = 0; k < count; k++)
            if (k != i) l[i] *= (t - node[k]) / (node[i] - node[k]);
    }
}

/* The state of the track that is nearest to t, starting from state `at`. */
static int32_t find_nearest(const ct__exam_sequence *s, int32_t first, int32_t end, int32_t at, double t)
{
    const int32_t *o = s->order;
    while (at > first && s->t[o[at]] + s->t[o[at - 1]] > 2 * t) at--;
    while (at + 1 < end && s->t[o[at]] + s->t[o[at + 1]] <= 2 * t) at++;
    return at;
}

static void interpolate(const ct__exam_sequence *s, int32_t base, int count, const int32_t *state, double t, double *x)
{
    const ct_graph *g = s->seq->graph;
    const ct_kind   kind = (ct_kind)g->kind[base];
    double          node[NODES], l[NODES], d[CT_DIM_MAX] = {0}, e[CT_DIM_MAX];
    for (int i = 0; i < count; i++) node[i] = s->t[state[i]];
    lagrange(count, node, t, l);
    for (int i = 0; i < count; i++) {
        ct_kind_local(kind, s->x + g->offset[base], s->x + g->offset[state[i]], e);
        for (int k = 0; k < ct_kind_dim(kind); k++) d[k] += l[i] * e[k];
    }
    ct_kind_retract(kind, s->x + g->offset[base], d, x);
}

int ct__pose_at(const ct__exam_sequence *s, int32_t v, double t, double *x, double *twist)
{
    const ct_graph *g = s->seq->graph;
    const int32_t   body = s->bodies.body[v], first = s->first[body], end = s->first[body + 1];
    const ct_kind   kind = (ct_kind)g->kind[v];
    const int       count = CT_MIN(NODES, end - first);
    const int32_t   at = find_nearest(s, first, end, s->place[v], t);
    const int32_t   from = CT_MAX(first, CT_MIN(at - NODES / 2, end - count)), last = end - 1;
    if (end - first < 2) return 0;
    const double step = (s->t[s->order[last]] - s->t[s->order[first]]) / (last - first);
    if (t < s->t[s->order[first]] - BESIDE * step || t > s->t[s->order[last]] + BESIDE * step) return 0;
    for (int i = 0; i < count; i++)
        if (!s->whole[s->order[from + i]]) return 0;
    const int32_t base = s->order[at];
    if (t == s->t[base]) memcpy(x, s->x + g->offset[base], (size_t)ct_kind_size(kind) * sizeof *x);
    else interpolate(s, base, count, s->order + from, t, x);
    if (!twist) return 1;
    double       before[CT_SIZE_MAX], after[CT_SIZE_MAX];
    const double h = 1e-3 * step;
    interpolate(s, base, count, s->order + from, t - h, before);
    interpolate(s, base, count, s->order + from, t + h, after);
    ct_kind_local(kind, before, after, twist);
    for (int k = 0; k < ct_kind_dim(kind); k++) twist[k] /= 2 * h;
    return 1;
}
