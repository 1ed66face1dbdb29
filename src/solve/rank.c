/* rank.c: what the measurements leave undetermined, and how to say so.
 *
 * Elimination shrinks the pivot of a loose unknown to rounding, but that of a merely poorly known one as
 * well. What tells them apart is the direction z belonging to the pivot: along a loose one no
 * residual changes, |J z|^2 is the square of rounding, 1e-30 of z'diag(H)z; along a poor one it is what the
 * pivot said, 1e-15 and up. So weak pivots are only suspects, and J z decides. */
#include "graph/graph.h"
#include "solve/solve.h"

#include <math.h>
#include <stdio.h>

#define LOOSE_RESPONSE 1e-20 /* of |J z|^2 to z'diag(H)z: half way, in exponents, with a margin for long sums */
#define SUSPECTS_MIN   200   /* looked at in full, and as many more as ...                */
#define SCALARS_LOOKED 1e8   /* ... scalars (about a second) allow; beyond, the pivot itself has to do */
#define MOVES          1e-6  /* of the largest entry of z: what counts as moving          */

static int rotation_coordinate(ct_kind kind, int i)
{
    switch (kind) {
    case CT_SO2:
    case CT_SO3: return 1;
    case CT_SE2: return i == 2;
    case CT_SE3: return i < 3;
    default: return 0;
    }
}

/* Marks the variables that z moves. */
static void mark_moving(ct_solver *s, const double *z)
{
    const double least = MOVES * ct__largest(z, s->scalars);
    for (int32_t b = 0; b < s->blocks; b++) {
        const int32_t v = s->variable_of[b];
        const ct_kind kind = s->graph->kind[v];
        for (int i = 0; i < ct_kind_dim(kind); i++)
            if (fabs(z[s->column[b] + i]) > least)
                s->loose[v] = (uint8_t)(s->loose[v] | (rotation_coordinate(kind, i) ? CT_LOOSE_ROTATION : CT_LOOSE_POSITION));
    }
}

static int is_loose(ct_solver *s, const ct_noise *noise, const double *x, const double *z, const double *diagonal)
{
    double size = 0;
    for (int32_t i = 0; i < s->scalars; i++) size += z[i] * z[i] * diagonal[i];
    return ct__squared_response(s, noise, x, z) <= LOOSE_RESPONSE * size;
}

int32_t ct__find_loose(ct_solver *s, const ct_noise *noise, const double *x)
{
    double       *z = s->direction, *diagonal = s->scale;
    const int32_t suspects = ct_sparse_weak_count(s->system);
    const double  in_full = CT_MAX(SUSPECTS_MIN, SCALARS_LOOKED / CT_MAX(s->scalars, 1));
    memset(s->loose, 0, (size_t)s->graph->variables);
    s->loose_count = 0;
    if (!suspects) return 0;
    ct_sparse_diagonal(s->system, diagonal);
    for (int32_t i = 0; i < suspects; i++) {
        int       held;
        const int full = i < in_full;
        if (!full) memset(z, 0, (size_t)s->scalars * sizeof *z);
        const int32_t scalar = ct_sparse_weak(s->system, i, full ? z : NULL, &held);
        if (!full) z[scalar] = 1;
        if (held || (full && is_loose(s, noise, x, z, diagonal))) mark_moving(s, z);
    }
    for (int32_t v = 0; v < s->graph->variables; v++) s->loose_count += s->loose[v] != 0;
    return s->loose_count;
}

int ct_solver_loose(const ct_solver *s, int32_t var) { return s->loose[var] != 0; }

const char *ct_solver_loose_text(const ct_solver *s, char *buf, size_t size)
{
    char    name[128];
    int32_t first = -1;
    int     what = 0, space = 0;
    for (int32_t v = s->graph->variables - 1; v >= 0; v--) {
        if (!s->loose[v]) continue;
        first = v;
        what |= s->loose[v];
        space = space || s->graph->kind[v] == CT_SE3 || s->graph->kind[v] == CT_SO3;
    }
    if (first < 0) {
        snprintf(buf, size, "nothing is loose");
        return buf;
    }
    ct_graph_name(s->graph, first, name, sizeof name);
    const char *rotation = space ? "orientation" : "heading";
    const char *position = what & CT_LOOSE_POSITION ? "position" : "", *both = what == 3 ? " and " : "";
    const char *turn = what & CT_LOOSE_ROTATION ? rotation : "";
    if (s->loose_count == 1) snprintf(buf, size, "%s: no factor fixes its %s%s%s", name, position, both, turn);
    else
        snprintf(buf, size, "%s and %d other%s: no factor fixes their %s%s%s", name, s->loose_count - 1, s->loose_count == 2 ? "" : "s", position, both, turn);
    return buf;
}
