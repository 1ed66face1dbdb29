/* sites.c: the times of one log at which estimates are compared with the truth.
 *
 * Residual vectors of different runs must agree entry by entry, so the times are those of the first estimate, and where
 * it has none, of the truth. A site knows its true pose. Pairs of sites (relative loss, RPE) are chosen by the truth.
 * */
#include "score/sites.h"

#include <math.h>

#define USUAL_GAP_S 0.5
#define USUAL_STEPS 2.5 /* of a slow estimate: one record may be missing */

/* ---- options ---- */

static const char *const names[CT_TRACK_LOSS_COUNT] = {
#define X(constant, name, description) [constant] = name,
    CT_TRACK_LOSS_LIST(X)
#undef X
};

const char *ct_track_loss_name(ct_track_loss loss) { return ct__name_at(names, CT_TRACK_LOSS_COUNT, (int)loss); }

int ct_track_loss_find(const char *name) { return ct__find_name(name, names, CT_TRACK_LOSS_COUNT); }

ct_track_options ct_track_defaults(void)
{
    return (ct_track_options){
        .type = CT_TRACK_LOCAL,
        .delta = 1,
        .delta_unit = CT_DELTA_FRAMES,
        .translation = 1,
        .rotation = 1,
        .lost = 100,
        .gap_s = CT_GAP_USUAL,
    };
}

static ct_status check_options(const ct_track_options *o, int timed, ct_err *err)
{
    if ((unsigned)o->type >= CT_TRACK_LOSS_COUNT || (unsigned)o->align >= CT_ALIGNMENT_COUNT ||
        (unsigned)o->robust.kind >= CT_ROBUST_COUNT)
        return ct_fail(err, CT_E_ARGUMENT, "loss %d, alignment %d or kernel %d is none", (int)o->type, (int)o->align,
                       (int)o->robust.kind);
    if (o->robust.kind != CT_ROBUST_NONE && !(o->robust.width > 0 && isfinite(o->robust.width)))
        return ct_fail(err, CT_E_ARGUMENT, "kernel %s has width %g: it must be positive",
                       ct_robust_name(o->robust.kind), o->robust.width);
    const double weight[] = {o->translation, o->rotation, o->lost, o->nees, o->skip_s, o->gap_s};
    static const char *const what[] = {"weight of translations",
                                       "weight of rotations",
                                       "penalty of lost poses",
                                       "weight of NEES",
                                       "time to skip",
                                       "gap"};
    for (int i = 0; i < (o->gap_s == CT_GAP_USUAL ? 5 : 6); i++)
        if (!(weight[i] >= 0) || !isfinite(weight[i]))
            return ct_fail(err, CT_E_ARGUMENT, "%s %g: it must be finite and not negative", what[i], weight[i]);
    if (!isfinite(o->offset_s)) return ct_fail(err, CT_E_ARGUMENT, "offset %g s: it must be finite", o->offset_s);
    if (o->skip_s > 0 && !timed)
        return ct_fail(err, CT_E_ARGUMENT, "%g s at the beginning cannot be skipped: the trajectories have no times",
                       o->skip_s);
    return ct__check_delta(o->delta, o->delta_unit, timed, err);
}

static ct_status check_times(const ct_trajectory *truth, const ct_trajectory *first, ct_err *err)
{
    if (truth->poses <= 0 || first->poses <= 0)
        return ct_fail(err, CT_E_EMPTY, "the estimate has %lld poses and the truth %lld", (long long)first->poses,
                       (long long)truth->poses);
    if (truth->timed != first->timed)
        return ct_fail(err, CT_E_ARGUMENT,
                       "the %s has no times, the %s has: say which column of the %s is the time, as in time: \"#1\"; "
                       "KITTI and g2o files have none, and are compared with a truth that has none",
                       truth->timed ? "estimate" : "truth", truth->timed ? "truth" : "estimate",
                       truth->timed ? "estimate" : "truth");
    const int64_t a = first->poses + first->dropped, b = truth->poses + truth->dropped;
    if (!truth->timed && a != b)
        return ct_fail(err, CT_E_ARGUMENT,
                       "the estimate has %lld poses and the truth %lld: without times both need as many", (long long)a,
                       (long long)b);
    return CT_OK;
}

/* ---- times ---- */

/* Median interval of a trajectory; `single` of a single pose. */
static ct_status median_interval(const ct_trajectory *t, double single, double *out, ct_err *err)
{
    double *interval = ct__zalloc(t->poses, sizeof *interval);
    if (!interval) return ct__no_memory(err, "intervals", t->poses);
    for (int64_t i = 1; i < t->poses; i++) interval[i - 1] = ct__seconds(t->stamp[i - 1], t->stamp[i]);
    *out = t->poses > 1 ? ct_median(t->poses - 1, interval) : single;
    free(interval);
    return CT_OK;
}

static void add_site(ct_sites *s, ct_ns stamp, ct_se3 truth)
{
    const ct_se3 at = s->mounts.mounted ? ct_se3_compose(truth, s->mounts.by_truth, NULL, NULL) : truth;
    s->stamp[s->count] = stamp;
    s->truth[s->count++] = s->planar ? ct__flat(at) : at;
}

/* Stamps of the truth after the last site (or `from`), at most one in `step_s`, and half a step before `to`. */
static void fill_stretch(ct_sites *s, const ct_trajectory *truth, int64_t *g, ct_ns from, ct_ns to, int closed,
                         double step_s)
{
    ct_ns last = from;
    for (; *g < truth->poses && truth->stamp[*g] < to; ++*g) {
        const ct_ns t = truth->stamp[*g];
        if (t < from || (closed && ct__seconds(last, t) < step_s)) continue;
        if (to < INT64_MAX && ct__seconds(t, to) < 0.5 * step_s) continue;
        add_site(s, t, truth->pose[*g]);
        last = t;
        closed = 1;
    }
}

/* What is compared begins skip_s after both have begun. */
static ct_ns begin_of(const ct_sites *s, const ct_trajectory *truth, const ct_trajectory *first)
{
    const ct_ns a = truth->stamp[0], b = ct__stamp_plus(first->stamp[0], s->options.offset_s);
    return ct__stamp_plus(s->options.whole ? a : CT_MAX(a, b), s->options.skip_s);
}

/* Sites in the order of time: stamps of the estimate that the truth covers, in gaps of at most true_gap_s, and of the
 * truth where the estimate has a gap; before its beginning and after its end only with `whole`. */
static void choose_times(ct_sites *s, const ct_trajectory *truth, const ct_trajectory *first, double step_s,
                         double true_gap_s)
{
    const double gap_s = fmax(s->options.gap_s, 1.5 * step_s), offset_s = s->options.offset_s;
    const ct_ns  begin = begin_of(s, truth, first);
    ct__cursor   cursor = {truth, 0};
    int64_t      g = 0;
    ct_ns        last = begin;
    int          closed = 0;                     /* is `last` a stamp of the estimate? */
    int          inside = s->options.whole != 0; /* has the estimate begun?            */
    for (int64_t i = 0; i < first->poses; i++) {
        const ct_ns t = ct__stamp_plus(first->stamp[i], offset_s);
        ct_se3      pose;
        if (t >= begin) {
            if (inside && ct__seconds(last, t) > gap_s) fill_stretch(s, truth, &g, last, t, closed, step_s);
            if (ct__cursor_at(&cursor, t, true_gap_s, &pose, NULL) &&
                (s->count == 0 || s->stamp[s->count - 1] < t))
                add_site(s, t, pose);
            last = t;
            closed = 1;
            while (g < truth->poses && truth->stamp[g] <= t) g++;
        }
        inside = 1;
    }
    const ct_ns end = truth->stamp[truth->poses - 1];
    if (s->options.whole && last < end && ct__seconds(last, end) > gap_s)
        fill_stretch(s, truth, &g, last, INT64_MAX, closed, step_s);
}

/* Stamps of the truth while the estimate lasts; with `whole` all of them. */
static void choose_true_times(ct_sites *s, const ct_trajectory *truth, const ct_trajectory *first)
{
    const ct_ns begin = begin_of(s, truth, first);
    const ct_ns end = s->options.whole ? INT64_MAX
                                       : ct__stamp_plus(first->stamp[first->poses - 1], s->options.offset_s);
    for (int64_t g = 0; g < truth->poses; g++) {
        const ct_ns t = truth->stamp[g];
        if (t >= begin && t <= end && (s->count == 0 || s->stamp[s->count - 1] < t)) add_site(s, t, truth->pose[g]);
    }
}

/* A truth that is too slow to be interpolated, as one of surveyed points, says itself where it is compared. Where the
 * estimate is slower still, as one of keyframes, the truth is interpolated: chords of the estimate would be errors. */
static void choose_slower(ct_sites *s, const ct_trajectory *truth, const ct_trajectory *first, double step_s,
                          double true_step_s)
{
    const int usual = s->options.gap_s == CT_GAP_USUAL;
    double    true_gap_s = usual ? USUAL_GAP_S : s->options.gap_s;
    const int slow = true_step_s > true_gap_s;
    if (usual) s->options.gap_s = fmax(USUAL_GAP_S, first->poses > 1 ? USUAL_STEPS * step_s : 0);
    if (usual && slow) true_gap_s = USUAL_STEPS * true_step_s;
    if (!slow || step_s > true_step_s) choose_times(s, truth, first, step_s, true_gap_s);
    if (slow && s->count == 0) choose_true_times(s, truth, first);
}

/* Stamps of poses, and of records that are no poses after the first of them: an estimator that fails in between, or
 * until the end, has lost these. all->stamp: for the caller to free. */
static ct_status merge_broken(const ct_trajectory *first, ct_trajectory *all, ct_err *err)
{
    int64_t i = 0, b = 0;
    *all = *first;
    all->poses = 0;
    all->stamp = ct__zalloc(first->poses + first->broken, sizeof *all->stamp);
    if (!all->stamp) return ct__no_memory(err, "poses", first->poses + first->broken);
    while (b < first->broken && first->broken_stamp[b] < first->stamp[0]) b++;
    while (i < first->poses || b < first->broken) {
        const int pose = b >= first->broken || (i < first->poses && first->stamp[i] <= first->broken_stamp[b]);
        all->stamp[all->poses++] = pose ? first->stamp[i++] : first->broken_stamp[b++];
    }
    return CT_OK;
}

/* ---- choice ---- */

/* Does any pose of the first estimate lie in the time of the truth that is compared? */
static int overlaps(const ct_sites *s, const ct_trajectory *truth, const ct_trajectory *first)
{
    const ct_ns begin = begin_of(s, truth, first), end = truth->stamp[truth->poses - 1];
    const ct_ns a = ct__stamp_plus(first->stamp[0], s->options.offset_s);
    const ct_ns b = ct__stamp_plus(first->stamp[first->poses - 1], s->options.offset_s);
    return begin <= end && a <= end && b >= begin;
}

static ct_status choose(ct_sites *s, const ct_trajectory *truth, const ct_trajectory *first, ct_err *err)
{
    double step_s = 0, true_step_s = 0;
    s->rotations = truth->rotations && first->rotations;
    s->planar = truth->planar || first->planar;
    s->timed = truth->timed;
    CT_TRY(ct__mounts_meet(first, truth, &s->mounts, err));
    s->dim = s->rotations ? s->planar ? 3 : 6 : s->planar ? 2 : 3;
    const int64_t room = truth->poses + first->poses + first->broken;
    s->stamp = ct__zalloc(room, sizeof *s->stamp);
    s->truth = ct__zalloc(room, sizeof *s->truth);
    if (!s->stamp || !s->truth) return ct__no_memory(err, "sites", room);
    if (s->timed && overlaps(s, truth, first)) {
        ct_trajectory all;
        CT_TRY(median_interval(first, fmax(s->options.gap_s, USUAL_GAP_S), &step_s, err));
        CT_TRY(median_interval(truth, INFINITY, &true_step_s, err));
        CT_TRY(merge_broken(first, &all, err));
        choose_slower(s, truth, &all, step_s, true_step_s);
        free(all.stamp);
    }
    for (int64_t i = 0; i < truth->poses && !s->timed; i++) add_site(s, truth->stamp[i], truth->pose[i]);
    if (s->count == 0) return ct__no_overlap(first, truth, s->options.offset_s, "", "a larger gap may find more", err);
    if (s->options.nees > 0 && !first->covariance)
        return ct_fail(err, CT_E_ARGUMENT, "NEES has weight %g in the loss, and the estimate has no covariances",
                       s->options.nees);
    CT_TRY(ct__pairs_from_all(s->count, s->truth, s->stamp, s->options.delta, s->options.delta_unit, &s->pairs, err));
    if (s->options.type == CT_TRACK_RELATIVE && s->pairs.count == 0)
        return ct_fail(
            err, CT_E_EMPTY, "a relative loss over %g %s: no two of the %lld compared poses are so far apart",
            s->options.delta, (const char *[]){"frames", "s", "m"}[s->options.delta_unit], (long long)s->count);
    return ct__sites_penalty(s, first, err);
}

ct_status ct_sites_choose(const ct_trajectory *truth, const ct_trajectory *first, const ct_track_options *options,
                          ct_sites **out, ct_err *err)
{
    const ct_track_options defaults = ct_track_defaults();
    *out = NULL;
    if (!options) options = &defaults;
    CT_TRY(check_options(options, truth->timed && first->timed, err));
    CT_TRY(check_times(truth, first, err));
    ct_sites *s = ct__zalloc(1, sizeof *s);
    if (!s) return ct__no_memory(err, "sites", 1);
    s->options = *options;
    const ct_status status = choose(s, truth, first, err);
    if (status == CT_OK)
        *out = s;
    else
        ct_sites_free(s);
    return status;
}

void ct_sites_free(ct_sites *s)
{
    if (!s) return;
    free(s->stamp);
    free(s->truth);
    ct__pairs_free(&s->pairs);
    free(s);
}

/* ---- rows ---- */

int64_t ct_sites_count(const ct_sites *s) { return s->count; }

int64_t ct__sites_blocks(const ct_sites *s) { return s->options.type == CT_TRACK_RELATIVE ? s->pairs.count : s->count; }

int64_t ct_sites_rows(const ct_sites *s) { return s->dim * ct__sites_blocks(s) + (s->options.nees > 0); }

double ct_sites_time(const ct_sites *s, int64_t row)
{
    if (row < 0 || row >= s->dim * ct__sites_blocks(s)) return NAN;
    const int64_t block = row / s->dim;
    return ct__seconds(s->stamp[0], s->stamp[s->options.type == CT_TRACK_RELATIVE ? s->pairs.second[block] : block]);
}
