/* tune_conventions.c: estimates that differ from the truth by a convention, as findings.
 *
 * A frame, a body, a clock or a unit that is another makes errors that no noise parameter takes away. It is told where
 * one constant takes away most of the errors of most logs. */
#include "tune/search.h"

#include <math.h>

#define MOST 3 /* times smaller: noise alone, or a filter that is far off, has no such constant */

typedef enum { NO_POSITION, FRAME, UNIT, CLOCK } positions;
typedef enum { NO_ROTATION, BODY, SIGN } rotations;

static int explains(double left, double all) { return all > 0 && isfinite(all) && MOST * left < all; }

/* The constant that leaves least, of those that take away most; fewer numbers are preferred. */
static positions of_positions(const ct_conventions *c)
{
    const double all = c->translation;
    positions best = NO_POSITION;
    double left = INFINITY;
    if (explains(c->shifted, all)) best = CLOCK, left = c->shifted / 2;
    if (explains(c->moved, all) && c->moved < left) best = FRAME, left = c->moved / 2;
    if (explains(c->scaled, all) && c->scaled < left && explains(c->scaled, isnan(c->moved) ? all : c->moved))
        best = UNIT;
    return best;
}

static rotations of_rotations(const ct_conventions *c)
{
    if (of_positions(c) != NO_POSITION) return NO_ROTATION; /* what mends positions may turn rotations, too */
    if (explains(c->mirrored, c->rotation) && c->mirrored < c->turned) return SIGN;
    return explains(c->turned, c->rotation) ? BODY : NO_ROTATION;
}

/* A finding with the numbers of the log that has most, if more than half of the logs that were compared are so. */
static ct_status add(const ct_tune_problem *problem, const ct_conventions *of, int turns, int kind, ct_findings *list,
                     ct_err *err)
{
    static const ct_finding_code CODE[2][4] = {
        {0, CT_FINDING_ESTIMATE_FRAME, CT_FINDING_ESTIMATE_UNIT, CT_FINDING_ESTIMATE_CLOCK},
        {0, CT_FINDING_ESTIMATE_BODY, CT_FINDING_ESTIMATE_MIRRORED}};
    const ct_conventions *most = NULL;
    int32_t are = 0, compared = 0;
    for (int32_t l = 0; l < problem->logs; l++) {
        const ct_conventions *c = &of[l];
        compared += c->translation > 0;
        if ((turns ? (int)of_rotations(c) : (int)of_positions(c)) != kind) continue;
        are++;
        if (!most || c->translation > most->translation) most = c;
    }
    if (!most || 2 * are <= compared) return CT_OK;
    const double all = turns ? most->rotation : most->translation;
    const double value[] = {all,
                            turns          ? kind == BODY ? most->turned : most->mirrored
                            : kind == FRAME ? most->moved
                            : kind == UNIT  ? most->scaled
                                            : most->shifted,
                            turns ? most->turn[0] : kind == UNIT ? most->scale : -most->late_s, most->turn[1],
                            most->turn[2]};
    const int values = turns && kind == BODY ? 5 : turns || kind == FRAME ? 2 : 3;
    CT_TRY(ct_findings_add(list, CODE[turns][kind], values, value, err));
    for (int32_t l = 0; l < problem->logs; l++)
        if ((turns ? (int)of_rotations(&of[l]) : (int)of_positions(&of[l])) == kind)
            CT_TRY(ct_findings_add_subject(list, CT_SUBJECT_SEQUENCE, l, 0, problem->log[l].name, err));
    return CT_OK;
}

ct_status ct_tune_note_conventions(const ct_tune_problem *problem, const ct_conventions of[], ct_findings *list,
                                   ct_err *err)
{
    for (int kind = FRAME; kind <= CLOCK; kind++) CT_TRY(add(problem, of, 0, kind, list, err));
    for (int kind = BODY; kind <= SIGN; kind++) CT_TRY(add(problem, of, 1, kind, list, err));
    return CT_OK;
}
