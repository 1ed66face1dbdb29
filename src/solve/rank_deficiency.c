/* rank_deficiency.c: which unknowns the measurements leave undetermined, and the message about them.
 *
 * Elimination leaves a pivot of the size of rounding for an undetermined unknown, and also for a poorly determined
 * one. The direction z of the pivot separates the two. Along an undetermined direction no residual changes: |J z|^2 is
 * the square of rounding. Along a poorly determined one |J z|^2 is the exact pivot.
 *
 * z is only as accurate as the factor. It is refined by z <- z - H^-1 J'(J z), with the pivot's own entry kept. This
 * brings an undetermined direction to 1e-28 of z'diag(H)z and below, and does not move a determined one. A weak pivot
 * alone proves nothing; J z decides.
 *
 * A determined unknown may still have a pivot of zero: its information is lost to rounding beside measurements 1e16
 * times as strong. The solve stops there too, with another message. */
#include "graph/graph.h"
#include "solve/rank_thresholds.h"
#include "solve/solve.h"
#include "sparse/sparse.h"

#include <math.h>
#include <stdio.h>

/* TESTED_MIN weak pivots are always tested, more while SCALARS_TESTED scalars (about a second) suffice. Of the others
 * only pivots of zero are reported. */
#define TESTED_MIN           50
#define SCALARS_TESTED       1e7
#define MOVES                1e-6 /* of the largest entry of z: what counts as moving */

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
    return rotation_coordinate(kind, i) ? CT_UNDETERMINED_ROTATION : CT_UNDETERMINED_POSITION;
}

/* Marks the variables that z moves: as undetermined, or as lost to rounding. */
static void mark_moving(ct_solver *s, const double *z, int lost)
{
    const double least = MOVES * ct__largest(z, s->scalars);
    for (int32_t b = 0; b < s->blocks; b++) {
        const int32_t v = s->variable_of[b];
        const ct_kind kind = s->graph->kind[v];
        for (int i = 0; i < ct_kind_dim(kind); i++)
            if (fabs(z[s->column[b] + i]) > least)
                s->undetermined[v] = (uint8_t)(s->undetermined[v] | what_moves(kind, i) << (lost ? CT_LOST_SHIFT : 0));
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
    s->undetermined[v] = (uint8_t)(s->undetermined[v] | what_moves(s->graph->kind[v], scalar - s->column[b]));
}

/* Refines z and returns whether it is undetermined. A refinement shrinks the response of an undetermined direction by
 * the factor's relative error, and that of a determined one not at all. It ends early if the response falls too
 * slowly to reach the threshold. */
static int is_undetermined(ct_solver *s, const ct_noise *noise, const double *x, double *z, const double *diagonal)
{
    double before = 0;
    for (int k = 0;; k++) {
        double size = 0;
        for (int32_t i = 0; i < s->scalars; i++) size += z[i] * z[i] * diagonal[i];
        const double response = ct__response(s, noise, x, z, CLEARLY_DETERMINED * size, s->product);
        if (response <= CLEARLY_UNDETERMINED * size) return 1; /* also if nothing is measured */
        if (response > CLEARLY_DETERMINED * size) return 0;
        if (k == REFINEMENTS) return response <= UNDETERMINED * size;
        if (k > 0 && response > NOT_FALLING * before && response > TOO_FAR * UNDETERMINED * size) return 0;
        before = response;
        ct__sparse_correct(s->system, s->product);
        for (int32_t i = 0; i < s->scalars; i++) z[i] -= s->product[i];
    }
}

int32_t ct__find_undetermined(ct_solver *s, const ct_noise *noise, const double *x)
{
    double       *z = s->direction, *diagonal = s->scale;
    const int32_t weak = ct_sparse_weak_count(s->system);
    const double  in_full = CT_MAX(TESTED_MIN, SCALARS_TESTED / CT_MAX(s->scalars, 1));
    memset(s->undetermined, 0, (size_t)s->graph->variables);
    s->undetermined_count = 0;
    if (!weak) return 0;
    ct_sparse_diagonal(s->system, diagonal);
    for (int32_t i = 0; i < weak; i++) {
        int           held;
        const int     full = i < in_full;
        const int32_t scalar = ct_sparse_weak(s->system, i, full ? z : NULL, &held);
        if (!full) {
            if (held) mark_scalar(s, scalar);
        } else if (is_undetermined(s, noise, x, z, diagonal)) mark_moving(s, z, 0);
        else if (held) mark_moving(s, z, 1);
    }
    /* elimination continued without the undetermined unknowns, so pivots lost to rounding prove nothing */
    int any = 0;
    for (int32_t v = 0; v < s->graph->variables; v++) any |= s->undetermined[v] & CT_UNDETERMINED_ANY;
    for (int32_t v = 0; v < s->graph->variables; v++) {
        if (any) s->undetermined[v] &= CT_UNDETERMINED_ANY;
        s->undetermined_count += s->undetermined[v] != 0;
    }
    return s->undetermined_count;
}

int ct_solver_undetermined(const ct_solver *s, int32_t var) { return var >= 0 && var < s->graph->variables &&
                                                      s->undetermined[var] != 0; }

const char *ct_solver_undetermined_text(const ct_solver *s, char *buf, size_t size)
{
    char    name[128], others[32] = "";
    int32_t first = -1;
    int     what = 0, space = 0;
    for (int32_t v = s->graph->variables - 1; v >= 0; v--) {
        if (!s->undetermined[v]) continue;
        first = v;
        what |= s->undetermined[v];
        space = space || s->graph->kind[v] == CT_SE3 || s->graph->kind[v] == CT_SO3;
    }
    if (first < 0) {
        snprintf(buf, size, "every variable is determined");
        return buf;
    }
    const int   rounding = !(what & CT_UNDETERMINED_ANY);
    if (rounding) what >>= CT_LOST_SHIFT;
    const char *position = what & CT_UNDETERMINED_POSITION ? "position" : "";
    const char *turn = !(what & CT_UNDETERMINED_ROTATION) ? "" : space ? "orientation" : "heading";
    const char *both = *position && *turn ? " and " : "", *their = s->undetermined_count == 1 ? "its" : "their";
    if (s->undetermined_count > 1)
        snprintf(others, sizeof others, " and %d other%s", s->undetermined_count - 1,
                 s->undetermined_count == 2 ? "" : "s");
    ct_graph_name(s->graph, first, name, sizeof name);
    if (rounding)
        snprintf(buf, size, "%s%s: what fixes %s %s%s%s is lost to rounding, beside measurements 1e16 times as strong",
                 name, others, their, position, both, turn);
    else snprintf(buf, size, "%s%s: no factor fixes %s %s%s%s", name, others, their, position, both, turn);
    return buf;
}
