/* tune_conventions.c: estimates that differ from the truth by a convention, as findings.
 *
 * A frame, a body, a clock or a unit that is another makes errors that no noise parameter takes away. It is told where
 * one constant takes away most of the errors of most logs, and tuning did not. */
#include "tune/search.h"

#include <math.h>

#define MOST 3    /* times smaller: noise alone, or a filter that is far off, has no such constant               */
#define UNIT 1.2  /* times, at least: units are 1000, 57.3, 3.28 apart; wheels and gyroscopes are up to 10 % off */
#define NONE 1e-3 /* of an axis: no part of it                                                                   */

typedef enum { NO_POSITION, FRAME, SCALE, CLOCK, LEVER, REFLECTION } positions;
typedef enum { NO_ROTATION, BODY, SIGN, DEGREES } rotations;

/* Degrees that are taken for rad: they are above a turn and within 360, and the rotation is of chance, whose root mean
 * square is pi / sqrt(3). A yaw in rad that counts turns is right. */
#define TURN   6.3
#define ROUND  360.5
#define CHANCE 1.0

static int explains(double left, double all) { return all > 0 && isfinite(all) && MOST * left < all; }

/* The constant that leaves least, of those that take away most; fewer numbers are preferred. */
static positions of_positions(const ct_conventions *c)
{
    const double all = c->translation;
    positions best = NO_POSITION;
    double left = INFINITY;
    if (explains(c->shifted, all)) best = CLOCK, left = c->shifted / 2;
    if (explains(c->levered, all) && c->levered < left) best = LEVER, left = c->levered / 2;
    if (explains(c->moved, all) && c->moved < left) best = FRAME, left = c->moved / 2;
    const int unit = fabs(log(c->scale)) > log(UNIT) && explains(c->scaled, c->rigid);
    if (unit && explains(c->scaled, all) && c->scaled < left) best = SCALE, left = c->scaled;
    if (explains(c->reflected, c->rigid) && explains(c->reflected, all) && c->reflected < left) best = REFLECTION;
    return best;
}

static rotations of_rotations(const ct_conventions *c)
{
    if (of_positions(c) != NO_POSITION) return NO_ROTATION; /* what mends positions may turn rotations, too */
    if (explains(c->mirrored, c->rotation) && explains(c->mirrored, c->turned)) return SIGN;
    if (explains(c->turned, c->rotation)) return BODY;
    return c->rotation > CHANCE && c->largest_yaw > TURN && c->largest_yaw < ROUND ? DEGREES : NO_ROTATION;
}

/* Angle and axis of a turn. The largest part of the axis is positive, and none is -0. */
static void put_turn(const double turn[3], double angle_axis[4])
{
    const double angle = sqrt(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2]);
    int most = 0;
    for (int k = 1; k < 3; k++)
        if (fabs(turn[k]) > fabs(turn[most])) most = k;
    angle_axis[0] = copysign(angle, turn[most]);
    for (int k = 0; k < 3; k++) {
        const double part = turn[k] / angle_axis[0];
        angle_axis[k + 1] = fabs(part) > NONE ? part : 0;
    }
}

/* Its quaternion. */
static void put_quaternion(const double turn[3], double q[4])
{
    const ct_so3 r = ct_so3_exp(turn);
    const double part[4] = {r.x, r.y, r.z, r.w};
    for (int k = 0; k < 4; k++) q[k] = fabs(part[k]) > NONE * NONE ? part[k] : 0;
}

/* before, after, and the constant of a finding; returns how many. */
static int put_values(const ct_conventions *c, int turns, int kind, double value[CT_FINDING_VALUES_MAX])
{
    const double position[] = {NAN, c->moved, c->scaled, c->shifted, c->levered, c->reflected};
    const double rotation[] = {NAN, c->turned, c->mirrored, c->largest_yaw};
    value[0] = turns ? c->rotation : c->translation;
    value[1] = turns ? rotation[kind] : position[kind];
    if (turns && kind == BODY) {
        put_turn(c->turn, &value[2]);
        put_quaternion(c->turn, &value[6]);
        return 10;
    }
    if (turns || kind == FRAME || kind == REFLECTION) return 2;
    if (kind == LEVER) {
        memcpy(&value[2], c->lever, sizeof c->lever);
        return 5;
    }
    value[2] = kind == SCALE ? c->scale : -c->late_s;
    return 3;
}

/* A finding with the numbers of the log that has most, if more than half of the logs that were compared are so. */
static ct_status add(const ct_tune_problem *problem, const ct_conventions *of, int turns, int kind, ct_findings *list,
                     ct_err *err)
{
    static const ct_finding_code CODE[2][6] = {
        {0, CT_FINDING_ESTIMATE_FRAME, CT_FINDING_ESTIMATE_UNIT, CT_FINDING_ESTIMATE_CLOCK,
         CT_FINDING_ESTIMATE_LEVER, CT_FINDING_ESTIMATE_REFLECTED},
        {0, CT_FINDING_ESTIMATE_BODY, CT_FINDING_ESTIMATE_MIRRORED, CT_FINDING_ESTIMATE_DEGREES}};
    const ct_conventions *most = NULL;
    int32_t are = 0, compared = 0;
    for (int32_t l = 0; l < problem->logs; l++) {
        const ct_conventions *c = &of[l];
        compared += c->translation > 0 || c->rotation > 0;
        if ((turns ? (int)of_rotations(c) : (int)of_positions(c)) != kind) continue;
        are++;
        if (!most || c->translation > most->translation) most = c;
    }
    if (!most || 2 * are <= compared) return CT_OK;
    double value[CT_FINDING_VALUES_MAX];
    const int values = put_values(most, turns, kind, value);
    CT_TRY(ct_findings_add(list, CODE[turns][kind], values, value, err));
    for (int32_t l = 0; l < problem->logs; l++)
        if ((turns ? (int)of_rotations(&of[l]) : (int)of_positions(&of[l])) == kind)
            CT_TRY(ct_findings_add_subject(list, CT_SUBJECT_SEQUENCE, l, 0, problem->log[l].name, err));
    return CT_OK;
}

ct_status ct_tune_note_conventions(const ct_tune_problem *problem, const ct_conventions of[], ct_findings *list,
                                   ct_err *err)
{
    for (int kind = FRAME; kind <= REFLECTION; kind++) CT_TRY(add(problem, of, 0, kind, list, err));
    for (int kind = BODY; kind <= DEGREES; kind++) CT_TRY(add(problem, of, 1, kind, list, err));
    return CT_OK;
}

ct_status ct__note_conventions(ct__tuner *t)
{
    const ct_tune_result *r = t->result;
    for (int32_t l = 0; l < t->problem->logs; l++) {
        ct_conventions *c = &t->conventions[l];
        if (explains(r->after[l].translation, r->before[l].translation))
            c->moved = c->scaled = c->shifted = c->levered = c->reflected = NAN;
        if (explains(r->after[l].rotation, r->before[l].rotation)) c->turned = c->mirrored = c->largest_yaw = NAN;
    }
    return ct_tune_note_conventions(t->problem, t->conventions, &t->result->findings, t->err);
}
