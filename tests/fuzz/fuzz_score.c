/* fuzz_score.c: any bytes as an estimate and a truth. The first line has digits for the association, the alignment, the
 * loss and the unit of delta, then 'c' for camera axes; a line "---" divides the files. They are refused with a
 * sentence, or
 *   stamps rise, poses are finite and rotations unit;
 *   the trajectory against itself has no error;
 *   figures are ordered, counts add up, residuals are as many as announced, and finite where coordinates are small. */
#include "fuzz.h"

#include <covtune/score.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int digit(const uint8_t *data, size_t size, size_t i, int count)
{
    return i < size && data[i] >= '0' && data[i] < '0' + count ? data[i] - '0' : 0;
}

static ct_trajectory *read_one(const char *path, int camera)
{
    ct_trajectory_options o = ct_trajectory_defaults();
    ct_trajectory        *t = NULL;
    ct_err                err = {0};
    o.camera = camera;
    const ct_status status = ct_trajectory_read(path, &o, &t, &err);
    FUZZ_LAW(status == CT_OK ? t != NULL : !t && err.text[0]);
    for (int64_t i = 0; t && i < t->poses; i++) {
        const ct_se3 p = t->pose[i];
        FUZZ_LAW(i == 0 || t->stamp[i] > t->stamp[i - 1]);
        FUZZ_LAW(isfinite(p.x) && isfinite(p.y) && isfinite(p.z));
        FUZZ_LAW(fabs(p.qx * p.qx + p.qy * p.qy + p.qz * p.qz + p.qw * p.qw - 1) < 1e-9);
        FUZZ_LAW(!t->planar || (p.z == 0 && p.qx == 0 && p.qy == 0));
    }
    return t;
}

/* Are squares of all coordinates and covariances far from overflow? */
static int small(const ct_trajectory *t)
{
    const int64_t n = t->covariance ? t->poses * t->covariance_dim * t->covariance_dim : 0;
    for (int64_t i = 0; i < t->poses; i++)
        if (!(fabs(t->pose[i].x) + fabs(t->pose[i].y) + fabs(t->pose[i].z) < 1e60)) return 0;
    for (int64_t i = 0; i < n; i++)
        if (!(fabs(t->covariance[i]) < 1e60)) return 0;
    return 1;
}

static void check_figures(ct_error_figures f)
{
    if (f.count == 0) FUZZ_LAW(isnan(f.rmse) && isnan(f.max));
    else FUZZ_LAW(f.min >= 0 && f.min <= f.median && f.median <= f.max && f.mean <= f.rmse * (1 + 1e-9) && f.sd >= 0);
}

static void check_score(const ct_trajectory *estimate, const ct_trajectory *truth, const ct_score_options *o)
{
    ct_score        s;
    ct_err          err = {0};
    const ct_status status = ct_score_trajectory(estimate, truth, o, &s, &err);
    FUZZ_LAW(status == CT_OK || err.text[0]);
    if (status != CT_OK || !small(estimate) || !small(truth)) return;
    FUZZ_LAW(s.poses > 0 && s.lost >= 0 && s.covered >= 0 && s.covered <= 1 && s.ape_translation.count == s.poses);
    FUZZ_LAW(s.rpe_translation.count < s.poses && s.scale > 0);
    check_figures(s.ape_translation);
    check_figures(s.ape_rotation);
    check_figures(s.rpe_translation);
    check_figures(s.rpe_rotation);
}

static void check_self(const ct_trajectory *t)
{
    ct_score s;
    ct_err   err = {0};
    FUZZ_LAW(ct_score_trajectory(t, t, NULL, &s, &err) == CT_OK && s.poses == t->poses && s.lost == 0);
    FUZZ_LAW(!small(t) || (s.ape_translation.max == 0 && !(s.ape_rotation.max > 1e-7)));
}

static void check_sites(const ct_trajectory *truth, const ct_trajectory *estimate, const ct_track_options *o)
{
    ct_sites       *sites = NULL;
    ct_err          err = {0};
    const ct_status status = ct_sites_choose(truth, estimate, o, &sites, &err);
    FUZZ_LAW(status == CT_OK ? sites != NULL : !sites && err.text[0]);
    if (!sites) return;
    const int64_t rows = ct_sites_rows(sites);
    double       *r = calloc((size_t)rows + 1, sizeof *r);
    ct_score      s;
    if (!r) abort();
    r[rows] = 12345;
    FUZZ_LAW(ct_sites_residuals(sites, estimate, r, &s, &err) == CT_OK && r[rows] == 12345);
    FUZZ_LAW(s.poses > 0 && s.poses + s.lost == ct_sites_count(sites));
    for (int64_t i = 0; i < rows && small(truth) && small(estimate); i++) FUZZ_LAW(isfinite(r[i]));
    for (int64_t i = 1; i < rows; i++) FUZZ_LAW(ct_sites_time(sites, i) >= ct_sites_time(sites, i - 1));
    ct_sites_free(sites);
    free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ct_score_options  o = ct_score_defaults();
    ct_track_options  track = ct_track_defaults();
    const char *const text = (const char *)data;
    const char       *line = size ? memchr(text, '\n', size) : NULL;
    if (!line) return 0;
    const size_t begin = (size_t)(line - text) + 1;
    size_t       end = begin, next = size;
    for (size_t i = begin; i + 4 <= size; i++)
        if (!memcmp(text + i, "---\n", 4) && (i == begin || text[i - 1] == '\n')) {
            end = i, next = i + 4;
            break;
        }
    if (next == size) end = size;
    o.associate = digit(data, begin, 0, CT_ASSOCIATE_COUNT + 1) - 1;
    o.align = track.align = (ct_alignment)digit(data, begin, 1, CT_ALIGNMENT_COUNT);
    track.type = (ct_track_loss)digit(data, begin, 2, CT_TRACK_LOSS_COUNT);
    o.delta_unit = track.delta_unit = (ct_delta_unit)digit(data, begin, 3, CT_DELTA_COUNT);
    o.all_pairs = begin > 4 && data[4] == 'a';
    fuzz_write("estimate.txt", data + begin, end - begin);
    fuzz_write("truth.txt", data + next, size - next);
    ct_trajectory *estimate = read_one("estimate.txt", begin > 5 && data[5] == 'c');
    ct_trajectory *truth = estimate ? read_one("truth.txt", 0) : NULL;
    if (estimate) check_self(estimate);
    if (truth) {
        check_score(estimate, truth, &o);
        check_sites(truth, estimate, &track);
    }
    ct_trajectory_free(estimate);
    ct_trajectory_free(truth);
    return 0;
}
