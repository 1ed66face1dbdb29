/* associate.c: poses of an estimate and of the truth side by side.
 *
 * nearest is evo's rule: for each pose of the trajectory with fewer poses (of equally many: of the estimate) the pose
 * of the other that is nearest in time, the earlier of two as near, if it is within the tolerance. A pose of the longer
 * one may be taken twice. Stamps rise, so that one pass through both finds them. */
#include "score/score.h"

#include <math.h>
#include <stdio.h>

/* ---- names ---- */

static const char *const names[CT_ASSOCIATE_COUNT] = {
#define X(constant, name, description) [constant] = name,
    CT_ASSOCIATE_LIST(X)
#undef X
};

const char *ct_associate_name(ct_associate associate) { return ct__name_at(names, CT_ASSOCIATE_COUNT, (int)associate); }

int ct_associate_find(const char *name) { return ct__find_name(name, names, CT_ASSOCIATE_COUNT); }

/* ---- side by side ---- */

ct_status ct__sides_new(int64_t room, const ct_trajectory *estimate, const ct_trajectory *truth, ct__sides *out,
                        ct_err *err)
{
    ct__mounts mounts;
    *out = (ct__sides){0};
    CT_TRY(ct__mounts_meet(estimate, truth, &mounts, err));
    *out = (ct__sides){
        .mounts = mounts,
        .rotations = estimate->rotations && truth->rotations,
        .planar = estimate->planar || truth->planar,
        .estimate = ct__zalloc(room, sizeof *out->estimate),
        .truth = ct__zalloc(room, sizeof *out->truth),
        .stamp = ct__zalloc(room, sizeof *out->stamp),
        .from = ct__zalloc(room, sizeof *out->from),
    };
    if (out->estimate && out->truth && out->stamp && out->from) return CT_OK;
    ct__sides_free(out);
    return ct__no_memory(err, "poses", room);
}

void ct__sides_free(ct__sides *s)
{
    free(s->estimate);
    free(s->truth);
    free(s->stamp);
    free(s->from);
    *s = (ct__sides){0};
}

/* A pose as it is compared. Without rotations it is a point: its motions are differences. */
static ct_se3 compared(const ct__sides *s, ct_se3 pose)
{
    if (s->planar) pose = ct__flat(pose);
    return s->rotations ? pose : (ct_se3){pose.x, pose.y, pose.z, 0, 0, 0, 1};
}

void ct__sides_add(ct__sides *s, ct_ns stamp, ct_se3 estimate, ct_se3 truth, int64_t from)
{
    const ct__mounts *m = &s->mounts;
    s->estimate[s->count] = compared(s, m->mounted ? ct_se3_compose(estimate, m->by_estimate, NULL, NULL) : estimate);
    s->truth[s->count] = compared(s, m->mounted ? ct_se3_compose(truth, m->by_truth, NULL, NULL) : truth);
    s->stamp[s->count] = stamp;
    s->from[s->count++] = from;
}

/* ---- intervals that do not meet ---- */

/* The offset that makes the beginnings equal, where the durations are alike: clocks with another origin. */
static int constant_offset(const ct_trajectory *estimate, const ct_trajectory *truth, double *offset_s)
{
    const double length = ct__seconds(estimate->stamp[0], estimate->stamp[estimate->poses - 1]);
    const double whole = ct__seconds(truth->stamp[0], truth->stamp[truth->poses - 1]);
    *offset_s = (double)truth->stamp[0] * 1e-9 - (double)estimate->stamp[0] * 1e-9;
    return length > 0.5 * whole && length < 2 * whole;
}

ct_status ct__no_overlap(const ct_trajectory *estimate, const ct_trajectory *truth, double offset_s, const char *rule,
                         const char *nearer, ct_err *err)
{
    char way[160] = "are the clocks the same, and are the times in seconds?";
    double offset = 0;
    const double from = (double)estimate->stamp[0] * 1e-9 + offset_s,
                 to = (double)estimate->stamp[estimate->poses - 1] * 1e-9 + offset_s,
                 begin = (double)truth->stamp[0] * 1e-9, end = (double)truth->stamp[truth->poses - 1] * 1e-9;
    const int apart = to < begin || end < from;
    if (apart && constant_offset(estimate, truth, &offset))
        snprintf(way, sizeof way, "they last about as long: if both begin together, the offset is %.3f s", offset);
    else if (!apart)
        snprintf(way, sizeof way, "%s", nearer);
    return ct_fail(err, CT_E_EMPTY,
                   "no pose of the estimate (%.3f to %.3f s%s) meets one of the truth (%.3f to %.3f s)%s%s; %s", from,
                   to, offset_s != 0 ? " with the offset" : "", begin, end, rule[0] ? " " : "", rule, way);
}

/* ---- rules ---- */

/* Is `a` in the time of the other trajectory, whose stamps are moved by shift_s? */
static int within(const ct_trajectory *other, double shift_s, ct_ns a)
{
    return a >= ct__stamp_plus(other->stamp[0], shift_s) &&
           a <= ct__stamp_plus(other->stamp[other->poses - 1], shift_s);
}

/* Each pose of `few` with the nearest of `many`; stamps of the estimate are moved by offset_s. */
static void nearest(const ct_trajectory *estimate, const ct_trajectory *truth, const ct_score_options *o,
                    ct__sides *out, int64_t *lost)
{
    const int by_truth = estimate->poses > truth->poses; /* the truth has fewer */
    const ct_trajectory *few = by_truth ? truth : estimate, *many = by_truth ? estimate : truth;
    const double few_s = by_truth ? 0 : o->offset_s, many_s = by_truth ? o->offset_s : 0;
    int64_t j = 0;
    for (int64_t i = 0; i < few->poses; i++) {
        const ct_ns t = ct__stamp_plus(few->stamp[i], few_s);
        while (j < many->poses && ct__stamp_plus(many->stamp[j], many_s) < t) j++;
        const double before = j > 0 ? ct__seconds(ct__stamp_plus(many->stamp[j - 1], many_s), t) : INFINITY;
        const double after = j < many->poses ? ct__seconds(t, ct__stamp_plus(many->stamp[j], many_s)) : INFINITY;
        const int64_t k = before <= after ? j - 1 : j;
        if (!(fmin(before, after) <= o->tolerance_s)) {
            *lost += within(many, many_s, t);
            continue;
        }
        const int64_t e = by_truth ? k : i, g = by_truth ? i : k;
        ct__sides_add(out, truth->stamp[g], estimate->pose[e], truth->pose[g], e);
    }
}

static void interpolate(const ct_trajectory *estimate, const ct_trajectory *truth, const ct_score_options *o,
                        ct__sides *out, int64_t *lost)
{
    ct__cursor cursor = {truth, 0};
    for (int64_t i = 0; i < estimate->poses; i++) {
        const ct_ns t = ct__stamp_plus(estimate->stamp[i], o->offset_s);
        ct_se3 g;
        if (ct__cursor_at(&cursor, t, o->gap_s, &g, NULL))
            ct__sides_add(out, t, estimate->pose[i], g, i);
        else
            *lost += within(truth, 0, t);
    }
}

/* Number of pose i among the records; records that were no poses count. */
static int64_t number_of(const ct_trajectory *t, int64_t i) { return t->timed ? i : t->stamp[i] / CT__NUMBERED; }

static int64_t records_of(const ct_trajectory *t) { return t->timed ? t->poses : t->poses + t->dropped; }

static ct_status by_index(const ct_trajectory *estimate, const ct_trajectory *truth, ct__sides *out, int64_t *lost,
                          ct_err *err)
{
    if (records_of(estimate) != records_of(truth))
        return ct_fail(err, CT_E_ARGUMENT, "the estimate has %lld poses and the truth %lld: by index both need as many",
                       (long long)records_of(estimate), (long long)records_of(truth));
    int64_t g = 0;
    for (int64_t i = 0; i < estimate->poses; i++) {
        const int64_t n = number_of(estimate, i);
        while (g < truth->poses && number_of(truth, g) < n) g++;
        if (g == truth->poses || number_of(truth, g) != n) continue;
        ct__sides_add(out, truth->stamp[g], estimate->pose[i], truth->pose[g], i);
    }
    *lost = CT_MIN(estimate->poses, truth->poses) - out->count;
    return CT_OK;
}

/* ---- choice ---- */

static ct_status choose(const ct_trajectory *estimate, const ct_trajectory *truth, int associate, ct_associate *out,
                        ct_err *err)
{
    *out = associate >= 0                    ? (ct_associate)associate
           : estimate->timed || truth->timed ? CT_ASSOCIATE_NEAREST
                                             : CT_ASSOCIATE_INDEX;
    if (*out == CT_ASSOCIATE_INDEX || (estimate->timed && truth->timed)) return CT_OK;
    if (!estimate->timed && !truth->timed)
        return ct_fail(err, CT_E_ARGUMENT, "neither trajectory has times: associate them by index");
    return ct_fail(err, CT_E_ARGUMENT,
                   "the %s has no times, the %s has: say which column is the time, or associate by index if they have "
                   "the same poses (%lld and %lld)",
                   estimate->timed ? "truth" : "estimate", estimate->timed ? "estimate" : "truth",
                   (long long)estimate->poses, (long long)truth->poses);
}

ct_status ct__associate(const ct_trajectory *estimate, const ct_trajectory *truth, const ct_score_options *o,
                        ct__sides *out, ct_score *score, ct_err *err)
{
    ct_associate rule;
    char how[64];
    int64_t *const lost = &score->lost;
    *lost = 0;
    *out = (ct__sides){0};
    CT_TRY(choose(estimate, truth, o->associate, &rule, err));
    score->associate = rule;
    CT_TRY(ct__sides_new(rule == CT_ASSOCIATE_NEAREST ? CT_MIN(estimate->poses, truth->poses) : estimate->poses,
                         estimate, truth, out, err));
    ct_status status = CT_OK;
    if (rule == CT_ASSOCIATE_NEAREST)
        nearest(estimate, truth, o, out, lost);
    else if (rule == CT_ASSOCIATE_INTERPOLATE)
        interpolate(estimate, truth, o, out, lost);
    else
        status = by_index(estimate, truth, out, lost, err);
    if (status == CT_OK && out->count == 0) {
        const int by_nearest = rule == CT_ASSOCIATE_NEAREST;
        if (by_nearest)
            snprintf(how, sizeof how, "within %g s", o->tolerance_s);
        else
            snprintf(how, sizeof how, "in gaps of at most %g s", o->gap_s);
        status = ct__no_overlap(estimate, truth, o->offset_s, how,
                                by_nearest ? "a larger tolerance, or association by interpolation, may find more"
                                           : "a larger gap may find more",
                                err);
    }
    if (status != CT_OK) ct__sides_free(out);
    return status;
}
