/* score.c: two trajectories compared once. */
#include "score/score.h"

#include <math.h>

ct_score_options ct_score_defaults(void)
{
    return (ct_score_options){.associate = -1, .tolerance_s = 0.01, .gap_s = 0.5, .delta = 1, .delta_tolerance = 0.1};
}

static ct_status check(const ct_trajectory *estimate, const ct_trajectory *truth, const ct_score_options *o,
                       ct_err *err)
{
    if (o->associate < -1 || o->associate >= CT_ASSOCIATE_COUNT || (unsigned)o->align >= CT_ALIGNMENT_COUNT)
        return ct_fail(err, CT_E_ARGUMENT, "association %d or alignment %d is none", o->associate, (int)o->align);
    if (!(o->tolerance_s >= 0) || !(o->gap_s >= 0) || !isfinite(o->offset_s) || !(o->delta_tolerance >= 0))
        return ct_fail(
            err, CT_E_ARGUMENT,
            "tolerance %g s, gap %g s, offset %g s, tolerance of delta %g: the offset must be finite, the others "
            "not negative",
            o->tolerance_s, o->gap_s, o->offset_s, o->delta_tolerance);
    if (estimate->poses <= 0 || truth->poses <= 0)
        return ct_fail(err, CT_E_EMPTY, "the estimate has %lld poses and the truth %lld", (long long)estimate->poses,
                       (long long)truth->poses);
    return ct__check_delta(o->delta, o->delta_unit, truth->timed && estimate->timed, err);
}

/* Share of the truth's duration between associated poses that are close enough; by index all of it. */
static ct_status coverage(const ct__sides *s, const ct_trajectory *truth, double gap_s, double *covered, ct_err *err)
{
    const double whole = ct__seconds(truth->stamp[0], truth->stamp[truth->poses - 1]);
    *covered = 1;
    if (!(whole > 0) || !truth->timed) return CT_OK;
    double *interval = ct__zalloc(s->count, sizeof *interval);
    if (!interval) return ct__no_memory(err, "intervals", s->count);
    int64_t n = 0;
    for (int64_t i = 1; i < s->count; i++)
        if (s->stamp[i] > s->stamp[i - 1]) interval[n++] = ct__seconds(s->stamp[i - 1], s->stamp[i]);
    const double limit = n ? fmax(gap_s, 2 * ct_median(n, interval)) : 0;
    double sum = 0;
    for (int64_t i = 0; i < n && interval[i] <= limit; i++) sum += interval[i]; /* sorted by the median */
    free(interval);
    *covered = fmin(1, sum / whole);
    return CT_OK;
}

static double length_of(int64_t count, const ct_se3 pose[])
{
    double sum = 0;
    for (int64_t i = 1; i < count; i++) sum += ct__distance(pose[i - 1], pose[i]);
    return sum;
}

static ct_status compare(ct__sides *s, const ct_trajectory *estimate, const ct_trajectory *truth,
                         const ct_score_options *o, ct_score *out, ct_err *err)
{
    ct__pairs pairs;
    out->poses = s->count;
    out->length_m = length_of(s->count, s->truth);
    CT_TRY(coverage(s, truth, o->gap_s, &out->covered, err));
    CT_TRY(ct__align(s, o->align, &out->motion, &out->scale, err));
    CT_TRY(ct__pairs_choose(s->count, s->estimate, s->stamp, o, &pairs, err));
    const ct_status status = ct__errors(s, &pairs, out, err);
    ct__pairs_free(&pairs);
    ct__score_nees(s, estimate, out);
    return status;
}

ct_status ct_score_trajectory(const ct_trajectory *estimate, const ct_trajectory *truth,
                              const ct_score_options *options, ct_score *out, ct_err *err)
{
    const ct_score_options defaults = ct_score_defaults();
    ct__sides sides;
    const ct_score_options *o = options ? options : &defaults;
    ct_score score = {.motion = ct_se3_identity(), .scale = 1, .nees = NAN};
    CT_TRY(check(estimate, truth, o, err));
    CT_TRY(ct__associate(estimate, truth, o, &sides, &score, err));
    const ct_status status = compare(&sides, estimate, truth, o, &score, err);
    ct__sides_free(&sides);
    if (status == CT_OK) *out = score;
    return status;
}
