/* residuals.c: the residual vector of an estimate at the sites of a log.
 *
 * With g the truth and x the aligned estimate of a site, i and j the ends of a pair:
 *
 *     local      r = Log(g^-1 x)
 *     left       r = Log(x g^-1)
 *     relative   r = Log((g_i^-1 g_j)^-1 (x_i^-1 x_j))
 *
 * in the tangent order of SE(2) or SE(3); of positions x - g. Rows are multiplied by the roots of the weights, and all
 * rows of a site by sqrt(2 rho(d)) / d with d = |r|, so that half the square sum is the sum of rho. At a turn of pi the
 * sign of a rotation row jumps; the squares do not. */
#include "score/sites.h"

#include <math.h>

void ct__found_free(ct__found *f)
{
    ct__sides_free(&f->sides);
    free(f->place);
}

/* ---- estimates at the sites ---- */

static ct_status check_estimate(const ct_sites *s, const ct_trajectory *estimate, ct_err *err)
{
    if (estimate->poses <= 0) return ct_fail(err, CT_E_EMPTY, "the estimate has no poses");
    if (estimate->timed != s->timed || (s->rotations && !estimate->rotations) || (!s->planar && estimate->planar))
        return ct_fail(err, CT_E_ARGUMENT, "the estimate has no %s, the first estimate of this log had",
                       estimate->timed != s->timed            ? "times"
                       : s->rotations && !estimate->rotations ? "rotations"
                                                              : "z");
    if (!s->timed && estimate->stamp[estimate->poses - 1] > s->stamp[s->count - 1])
        return ct_fail(err, CT_E_ARGUMENT,
                       "the estimate has %lld poses and the truth %lld: without times an estimate cannot have more",
                       (long long)(estimate->poses + estimate->dropped), (long long)s->count);
    if (s->options.nees > 0 && !estimate->covariance)
        return ct_fail(err, CT_E_ARGUMENT, "NEES has weight %g in the loss, and the estimate has no covariances",
                       s->options.nees);
    return CT_OK;
}

static ct_status no_site(const ct_sites *s, const ct_trajectory *estimate, ct_err *err)
{
    const ct_trajectory truth = {.poses = s->count, .stamp = s->stamp};
    return ct__no_overlap(estimate, &truth, s->options.offset_s, "where they are compared",
                          "a larger gap may find more", err);
}

ct_status ct__sites_find(const ct_sites *s, const ct_trajectory *estimate, ct__found *out, ct_err *err)
{
    const ct_trajectory sites = {.rotations = s->rotations, .planar = s->planar, .mounted = s->mounts.mounted,
                                 .mount = s->mounts.at};
    *out = (ct__found){.score = {.motion = ct_se3_identity(), .scale = 1, .nees = NAN}};
    CT_TRY(check_estimate(s, estimate, err));
    CT_TRY(ct__sides_new(s->count, estimate, &sites, &out->sides, err));
    if (!(out->place = ct__zalloc(s->count, sizeof *out->place))) return ct__no_memory(err, "sites", s->count);
    ct__cursor cursor = {estimate, 0};
    for (int64_t i = 0; i < s->count; i++) {
        const ct_ns t = ct__stamp_plus(s->stamp[i], -s->options.offset_s);
        ct_se3 x;
        int64_t from;
        out->place[i] = -1;
        if (!ct__cursor_at(&cursor, t, s->timed ? s->options.gap_s : 0, &x, &from)) continue;
        if (estimate->stamp[cursor.at] != t && /* between two poses: is one in between that failed? */
            ct__broken_within(estimate, estimate->stamp[cursor.at - 1], estimate->stamp[cursor.at])) continue;
        out->place[i] = out->sides.count;
        ct__sides_add(&out->sides, s->stamp[i], x, s->truth[i], from);
    }
    if (out->sides.count == 0) return no_site(s, estimate, err);
    CT_TRY(ct__align(&out->sides, s->options.align, &out->score.motion, &out->score.scale, err));
    out->score.poses = out->sides.count;
    out->score.lost = s->count - out->sides.count;
    out->score.covered = (double)out->sides.count / (double)s->count;
    ct__score_nees(&out->sides, estimate, &out->score);
    return CT_OK;
}

/* ---- rows ---- */

/* Log of a difference, or of positions the difference itself. */
static void log_of(const ct_sites *s, ct_se3 e, double r[6])
{
    if (!s->rotations)
        r[0] = e.x, r[1] = e.y, r[2] = e.z;
    else if (s->planar)
        ct__planar_log(e, r);
    else
        ct_se3_log(e, r);
}

static ct_se3 difference(const ct_sites *s, const ct__sides *f, int64_t i, int64_t j)
{
    if (s->options.type == CT_TRACK_RELATIVE)
        return ct__relative(f->truth[i], f->truth[j], f->estimate[i], f->estimate[j]);
    if (s->options.type == CT_TRACK_LEFT && s->rotations)
        return ct_se3_compose(f->estimate[j], ct_se3_inverse(f->truth[j], NULL), NULL, NULL);
    return ct_se3_between(f->truth[j], f->estimate[j], NULL, NULL);
}

/* Rows of a block whose sites are i and j; returns their square sum. */
static double block_rows(const ct_sites *s, const ct__sides *f, int64_t i, int64_t j, double r[6])
{
    const unsigned turns = !s->rotations ? 0 : s->planar ? 4 : 7;
    const double metres = sqrt(s->options.translation), radians = sqrt(s->options.rotation);
    double d2 = 0;
    log_of(s, difference(s, f, i, j), r);
    for (int k = 0; k < s->dim; k++) {
        r[k] *= turns >> k & 1 ? radians : metres;
        d2 += r[k] * r[k];
    }
    if (s->options.robust.kind == CT_ROBUST_NONE || !(d2 > 0)) return d2;
    const double twice = 2 * ct_robust_error(s->options.robust, d2, NULL), factor = sqrt(twice / d2);
    for (int k = 0; k < s->dim; k++) r[k] *= factor;
    return twice;
}

/* Places of a block's sites among those that were found; 0: one is lost. A site is both ends of its block. */
static int ends_of(const ct_sites *s, const ct__found *f, int64_t block, int64_t *i, int64_t *j)
{
    const int relative = s->options.type == CT_TRACK_RELATIVE;
    *i = f->place[relative ? s->pairs.first[block] : block];
    *j = f->place[relative ? s->pairs.second[block] : block];
    return *i >= 0 && *j >= 0;
}

static void fill_rows(const ct_sites *s, const ct__found *f, double residual[])
{
    const int64_t blocks = ct__sites_blocks(s);
    const double lost = sqrt(s->lost_square / s->dim);
    for (int64_t b = 0; b < blocks; b++) {
        int64_t i, j;
        double r[6];
        const int here = ends_of(s, f, b, &i, &j);
        if (here) block_rows(s, &f->sides, i, j, r);
        for (int k = 0; k < s->dim; k++) residual[b * s->dim + k] = here ? r[k] : lost;
    }
    if (!(s->options.nees > 0)) return;
    const double root = sqrt(s->options.nees * (double)s->count);
    residual[blocks * s->dim] = root * log(f->score.nees);
}

ct_status ct__sites_penalty(ct_sites *s, const ct_trajectory *first, ct_err *err)
{
    const int64_t blocks = ct__sites_blocks(s);
    double *square = ct__zalloc(blocks, sizeof *square);
    ct__found f = {0};
    ct_status status = square ? ct__sites_find(s, first, &f, err) : ct__no_memory(err, "residuals", blocks);
    if (status == CT_OK) {
        int64_t n = 0, i, j;
        double r[6];
        for (int64_t b = 0; b < blocks; b++)
            if (ends_of(s, &f, b, &i, &j)) square[n++] = block_rows(s, &f.sides, i, j, r);
        const double median = n ? ct_median(n, square) : 0;
        s->lost_square = s->options.lost * (median > 0 ? median : 1);
    }
    ct__found_free(&f);
    free(square);
    return status;
}

/* ---- errors ---- */

/* RPE of the pairs whose sites both have an estimate. */
static ct_status score_of(const ct_sites *s, ct__found *f, ct_err *err)
{
    ct__pairs pairs = {
        .first = ct__zalloc(s->pairs.count, sizeof *pairs.first),
        .second = ct__zalloc(s->pairs.count, sizeof *pairs.second),
    };
    ct_status status = pairs.first && pairs.second ? CT_OK : ct__no_memory(err, "pairs of poses", s->pairs.count);
    for (int64_t k = 0; status == CT_OK && k < s->pairs.count; k++) {
        const int64_t i = f->place[s->pairs.first[k]], j = f->place[s->pairs.second[k]];
        if (i < 0 || j < 0) continue;
        pairs.first[pairs.count] = i;
        pairs.second[pairs.count++] = j;
    }
    if (status == CT_OK) status = ct__errors(&f->sides, &pairs, &f->score, err);
    for (int64_t i = 1; i < s->count; i++) f->score.length_m += ct__distance(s->truth[i - 1], s->truth[i]);
    ct__pairs_free(&pairs);
    return status;
}

ct_status ct_sites_residuals(const ct_sites *s, const ct_trajectory *estimate, double residual[], ct_score *score,
                             ct_err *err)
{
    ct__found f;
    ct_status status = ct__sites_find(s, estimate, &f, err);
    if (status == CT_OK && s->options.nees > 0 && !(f.score.nees > 0))
        status =
            ct_fail(err, CT_E_ARGUMENT,
                    "NEES has weight %g in the loss, and no covariance of the estimate is positive definite (or all "
                    "errors are 0)",
                    s->options.nees);
    if (status == CT_OK && score) status = score_of(s, &f, err);
    if (status == CT_OK) fill_rows(s, &f, residual);
    if (status == CT_OK && score) *score = f.score;
    ct__found_free(&f);
    return status;
}
