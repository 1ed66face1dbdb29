/* rank_deficiency.c: what the measurements leave undetermined, and how to say so.
 *
 * Elimination shrinks the pivot of a loose unknown to rounding, but that of a merely poorly known one as well. What
 * tells them apart is the direction z belonging to the pivot: along a loose one no residual changes, |J z|^2 is the
 * square of rounding; along a poor one it is what the pivot should have been. z itself is only as good as the
 * factor, so it is refined by z <- z - H^-1 J'(J z), the pivot's own entry kept: that brings a loose direction down
 * to 1e-28 of z'diag(H)z and below, and does not move a determined one. Weak pivots are only suspects; J z decides.
 *
 * A determined unknown whose pivot nevertheless came out as nothing has its information lost to rounding, beside
 * measurements 1e16 times as strong. The run cannot go on with it either, but says so in other words. */
#include "graph/graph.h"
#include "solve/solve.h"
#include "sparse/sparse.h"

#include <math.h>
#include <stdio.h>

#define LOOSE_RESPONSE  1e-22 /* of |J z|^2 to z'diag(H)z, after refining */
/* no need to refine: rings of 100,000 poses gave 4e-19 for a loose direction at the worst */
#define CLEARLY_LOOSE   1e-27
#define CLEARLY_FIXED   1e-15
#define REFINEMENTS     4
#define STANDS          0.5   /* of the response before it: not falling ...                                        */
#define HOPELESS        1e3   /* ... and further off than that, as three more such refinements cannot bridge it    */
#define SUSPECTS_MIN    50    /* looked at in full, and as many more as ... */
/* ... scalars (about a second) allow; of those beyond, the ones that came out as nothing are named alone */
#define SCALARS_LOOKED  1e7
#define MOVES           1e-6  /* of the largest entry of z: what counts as moving */

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

static int what_moves(ct_kind kind, int i)
{
    return rotation_coordinate(kind, i) ? CT_LOOSE_ROTATION : CT_LOOSE_POSITION;
}

/* Marks the variables that z moves: as loose, or as lost to rounding. */
static void mark_moving(ct_solver *s, const double *z, int lost)
{
    const double least = MOVES * ct__largest(z, s->scalars);
    for (int32_t b = 0; b < s->blocks; b++) {
        const int32_t v = s->variable_of[b];
        const ct_kind kind = s->graph->kind[v];
        for (int i = 0; i < ct_kind_dim(kind); i++)
            if (fabs(z[s->column[b] + i]) > least)
                s->loose[v] = (uint8_t)(s->loose[v] | what_moves(kind, i) << (lost ? CT_LOST_SHIFT : 0));
    }
}

/* The block that a scalar belongs to. */
static int32_t block_of_scalar(const ct_solver *s, int32_t scalar)
{
    int32_t low = 0, high = s->blocks - 1;
    while (low < high) {
        const int32_t middle = low + (high - low + 1) / 2;
        if (s->column[middle] <= scalar) low = middle;
        else high = middle - 1;
    }
    return low;
}

int32_t ct__variable_of_scalar(const ct_solver *s, int32_t scalar)
{
    return s->variable_of[block_of_scalar(s, scalar)];
}

static void mark_scalar(ct_solver *s, int32_t scalar)
{
    const int32_t b = block_of_scalar(s, scalar), v = s->variable_of[b];
    s->loose[v] = (uint8_t)(s->loose[v] | what_moves(s->graph->kind[v], scalar - s->column[b]));
}

/* Refines z and says whether it is loose. Refining shrinks what is loose by the factor's relative error each time,
 * and what is determined not at all: what falls too slowly to get there is not pursued. */
static int is_loose(ct_solver *s, const ct_noise *noise, const double *x, double *z, const double *diagonal)
{
    double before = 0;
    for (int k = 0;; k++) {
        double size = 0;
        for (int32_t i = 0; i < s->scalars; i++) size += z[i] * z[i] * diagonal[i];
        const double response = ct__response(s, noise, x, z, CLEARLY_FIXED * size, s->product);
        if (response <= CLEARLY_LOOSE * size) return 1; /* also where nothing is measured at all */
        if (response > CLEARLY_FIXED * size) return 0;
        if (k == REFINEMENTS) return response <= LOOSE_RESPONSE * size;
        if (k > 0 && response > STANDS * before && response > HOPELESS * LOOSE_RESPONSE * size) return 0;
        before = response;
        ct__sparse_correct(s->system, s->product);
        for (int32_t i = 0; i < s->scalars; i++) z[i] -= s->product[i];
    }
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
        int           held;
        const int     full = i < in_full;
        const int32_t scalar = ct_sparse_weak(s->system, i, full ? z : NULL, &held);
        if (!full) {
            if (held) mark_scalar(s, scalar);
        } else if (is_loose(s, noise, x, z, diagonal)) mark_moving(s, z, 0);
        else if (held) mark_moving(s, z, 1);
    }
    /* where something is loose for good, elimination has gone on without it, and what it then lost proves nothing */
    int any = 0;
    for (int32_t v = 0; v < s->graph->variables; v++) any |= s->loose[v] & CT_LOOSE_ANY;
    for (int32_t v = 0; v < s->graph->variables; v++) {
        if (any) s->loose[v] &= CT_LOOSE_ANY;
        s->loose_count += s->loose[v] != 0;
    }
    return s->loose_count;
}

int ct_solver_loose(const ct_solver *s, int32_t var) { return var >= 0 && var < s->graph->variables &&
                                                      s->loose[var] != 0; }

const char *ct_solver_loose_text(const ct_solver *s, char *buf, size_t size)
{
    char    name[128], others[32] = "";
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
    const int   rounding = !(what & CT_LOOSE_ANY);
    if (rounding) what >>= CT_LOST_SHIFT;
    const char *position = what & CT_LOOSE_POSITION ? "position" : "";
    const char *turn = !(what & CT_LOOSE_ROTATION) ? "" : space ? "orientation" : "heading";
    const char *both = *position && *turn ? " and " : "", *their = s->loose_count == 1 ? "its" : "their";
    if (s->loose_count > 1)
        snprintf(others, sizeof others, " and %d other%s", s->loose_count - 1, s->loose_count == 2 ? "" : "s");
    ct_graph_name(s->graph, first, name, sizeof name);
    if (rounding)
        snprintf(buf, size, "%s%s: what fixes %s %s%s%s is lost to rounding, beside measurements 1e16 times as strong",
                 name, others, their, position, both, turn);
    else snprintf(buf, size, "%s%s: no factor fixes %s %s%s%s", name, others, their, position, both, turn);
    return buf;
}
