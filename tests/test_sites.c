/* test_sites.c: residual vectors of estimates at fixed times of a log: the loss of evaluate, what alignments and
 * motions leave alone, lost poses, kernels, NEES. */
#include "score_test.h"

#include <covtune/covtune.h>

typedef struct {
    ct_sites *sites;
    double *r;
    int64_t rows;
    ct_score score;
} residuals;

static residuals residuals_of(const ct_trajectory *truth, const ct_trajectory *first, const ct_trajectory *estimate,
                              const ct_track_options *options)
{
    residuals out = {0};
    ct_err err = {0};
    CHECK_OK(ct_sites_choose(truth, first, options, &out.sites, &err), err);
    if (!out.sites) return out;
    out.rows = ct_sites_rows(out.sites);
    out.r = calloc((size_t)out.rows, sizeof *out.r);
    CHECK_OK(ct_sites_residuals(out.sites, estimate, out.r, &out.score, &err), err);
    return out;
}

static double loss_of(const residuals *a)
{
    double sum = 0;
    for (int64_t i = 0; i < a->rows; i++) sum += a->r[i] * a->r[i] / 2;
    return sum;
}

static void drop(residuals *a)
{
    ct_sites_free(a->sites);
    free(a->r);
    *a = (residuals){0};
}

static double loss_with(const ct_trajectory *truth, const ct_trajectory *estimate, const ct_track_options *options)
{
    residuals a = residuals_of(truth, estimate, estimate, options);
    const double loss = loss_of(&a);
    drop(&a);
    return loss;
}

/* ---- the loss is that of evaluate ---- */

static ct_sequence *sequence_of(const ct_trajectory *truth)
{
    ct_graph *graph = NULL;
    ct_sequence *seq = NULL;
    ct_err err = {0};
    CHECK_OK(ct_graph_new(&graph, &err), err);
    for (int64_t i = 0; i < truth->poses; i++) {
        const ct_se3 p = truth->pose[i];
        const double spatial[7] = {p.x, p.y, p.z, p.qx, p.qy, p.qz, p.qw};
        const double planar[4] = {p.x, p.y, p.qw * p.qw - p.qz * p.qz, 2 * p.qw * p.qz};
        int32_t v;
        char name[24];
        snprintf(name, sizeof name, "x%d", (int)i);
        CHECK_OK(ct_graph_add_variable(graph, name, truth->planar ? CT_SE2 : CT_SE3, truth->planar ? planar : spatial,
                                       &v, &err),
                 err);
    }
    CHECK_OK(ct_sequence_new(graph, &seq, &err), err);
    seq->truth = calloc((size_t)ct_graph_size(graph), sizeof(double));
    seq->known = calloc((size_t)truth->poses, 1);
    memcpy(seq->truth, ct_graph_initial(graph), (size_t)ct_graph_size(graph) * sizeof(double));
    memset(seq->known, truth->planar ? 7 : 63, (size_t)truth->poses);
    return seq;
}

static void test_loss_is_that_of_evaluate(void)
{
    for (int k = 0; k < 8; k++) {
        const int planar = k & 1, left = k >> 1 & 1, weighed = k >> 2;
        ct_trajectory *truth = winding_path(50, planar), *estimate = noisy(truth, 0.3, 0.2, (uint64_t)k);
        ct_track_options o = ct_track_defaults();
        ct_loss loss = ct_loss_defaults();
        o.type = left ? CT_TRACK_LEFT : CT_TRACK_LOCAL;
        loss.difference = left ? CT_DIFFERENCE_LEFT : CT_DIFFERENCE_LOCAL;
        if (weighed) o.translation = loss.translation = 2.5, o.rotation = loss.rotation = 0.3;
        ct_sequence *seq = sequence_of(truth), *other = sequence_of(estimate);
        const double want = ct_loss_value(&loss, seq, ct_graph_initial(other->graph));
        CHECK_NEAR(loss_with(truth, estimate, &o), want, 1e-10 * want);
        CHECK(want > 0.1);
        residuals a = residuals_of(truth, estimate, estimate, &o);
        for (int32_t v = 0; v < 50; v++) { /* entry by entry */
            double e[CT_DIM_MAX];
            const int dim = planar ? 3 : 6;
            ct_loss_variable(&loss, seq, v, ct_graph_initial(other->graph) + ct_graph_offset(other->graph, v), e, NULL);
            for (int i = 0; i < dim; i++) CHECK_NEAR(a.r[v * dim + i], e[i], 1e-10);
            CHECK_NEAR(ct_sites_time(a.sites, v * dim), 0.1 * v, 1e-9);
        }
        drop(&a);
        ct_sequence_free(seq);
        ct_sequence_free(other);
        ct_trajectory_free(truth);
        ct_trajectory_free(estimate);
    }
}

/* ---- motions ---- */

static void test_motions_that_leave_the_loss_alone(void)
{
    ct_rng rng = ct_rng_seed(5);
    for (int planar = 0; planar < 2; planar++) {
        ct_trajectory *truth = winding_path(80, planar), *estimate = noisy(truth, 0.3, 0.2, 7);
        ct_track_options o = ct_track_defaults();
        const ct_se3 motion = planar ? planar_pose(3, -2, 2) : random_pose(&rng, 3, 1);
        const double local = loss_with(truth, estimate, &o);
        o.type = CT_TRACK_RELATIVE;
        const double relative = loss_with(truth, estimate, &o);
        o.type = CT_TRACK_LEFT;
        const double left = loss_with(truth, estimate, &o);
        ct_trajectory *moved_truth = copy_of(truth), *moved = copy_of(estimate);
        move_all(moved_truth, motion, 1);
        move_all(moved, motion, 1);
        o.type = CT_TRACK_LOCAL;
        CHECK_NEAR(loss_with(moved_truth, moved, &o), local, 1e-9 * local);
        CHECK(fabs(loss_with(truth, moved, &o) - local) > 0.1 * local);
        o.type = CT_TRACK_RELATIVE;
        CHECK_NEAR(loss_with(truth, moved, &o), relative, 1e-9 * relative);
        o.type = CT_TRACK_LEFT;
        CHECK(fabs(loss_with(moved_truth, moved, &o) - left) > 1e-3 * left);
        o.type = CT_TRACK_LOCAL;
        for (int align = CT_ALIGNMENT_FIRST; align < CT_ALIGNMENT_COUNT; align++) {
            /* motions that the alignment knows */
            const ct_se3 level = planar_pose(3, -2, 2), raised = {3, -2, 4, 0, 0, level.qz, level.qw};
            const ct_se3 own = planar || align == CT_ALIGNMENT_SE2 ? level
                               : align == CT_ALIGNMENT_YAW         ? raised
                                                                   : motion;
            o.align = (ct_alignment)align;
            const double want = loss_with(truth, estimate, &o);
            ct_trajectory *other = copy_of(estimate);
            move_all(other, own, align == CT_ALIGNMENT_SIM3 ? 1.7 : 1);
            CHECK_NEAR(loss_with(truth, other, &o), want, 1e-8 * want);
            CHECK(align == CT_ALIGNMENT_FIRST || want < 1.5 * local);
            ct_trajectory_free(other);
        }
        ct_trajectory_free(truth);
        ct_trajectory_free(estimate);
        ct_trajectory_free(moved);
        ct_trajectory_free(moved_truth);
    }
}

/* ---- lost poses ---- */

static int64_t count_equal(const residuals *a, double value)
{
    int64_t n = 0;
    for (int64_t i = 0; i < a->rows; i++) n += a->r[i] == value;
    return n;
}

static void test_lost_poses_count_as_the_penalty(void)
{
    ct_trajectory *truth = winding_path(101, 1), *first = noisy(truth, 0.3, 0.2, 1), *later = copy_of(first);
    ct_track_options o = ct_track_defaults();
    o.gap_s = 0.15; /* a missing pose is not interpolated */
    residuals whole = residuals_of(truth, first, first, &o);
    double square[101];
    for (int i = 0; i < 101; i++)
        square[i] = whole.r[3 * i] * whole.r[3 * i] + whole.r[3 * i + 1] * whole.r[3 * i + 1] +
                    whole.r[3 * i + 2] * whole.r[3 * i + 2];
    const double gone = square[10] + square[50] + square[100], median = ct_median(101, square);
    CHECK(whole.score.lost == 0 && whole.score.covered == 1 && whole.score.poses == 101);
    drop_pose(later, 100);
    drop_pose(later, 50);
    drop_pose(later, 10);
    residuals less = residuals_of(truth, first, later, &o);
    CHECK(less.rows == whole.rows && less.score.lost == 3 && less.score.poses == 98);
    CHECK_NEAR(loss_of(&less) - loss_of(&whole), (3 * 100 * median - gone) / 2, 1e-9);
    CHECK(count_equal(&less, sqrt(100 * median / 3)) == 9);
    for (int i = 0; i < 3 * 101; i++)
        if (i / 3 != 10 && i / 3 != 50 && i / 3 != 100) CHECK(less.r[i] == whole.r[i]);
    o.gap_s = 0.5; /* now two of them are between others */
    residuals between = residuals_of(truth, first, later, &o);
    CHECK(between.score.lost == 1 && between.score.poses == 100);
    drop(&whole);
    drop(&less);
    drop(&between);
    ct_trajectory_free(truth);
    ct_trajectory_free(first);
    ct_trajectory_free(later);
}

/* The first estimate lacks 3 s in the middle: sites are there, at its rate. It lacks the last 2 s: there are sites if
 * the whole truth counts. */
static void test_sites_where_the_first_estimate_has_none(void)
{
    ct_trajectory *truth = winding_path(1001, 1), *first = copy_of(truth);
    for (int64_t i = 0; i < truth->poses; i++) truth->stamp[i] = 100 * SECOND + i * SECOND / 100; /* 100 Hz, 10 s */
    int64_t n = 0;
    for (int64_t i = 0; i < truth->poses; i += 10) { /* 10 Hz */
        const double t = (double)i / 100;
        if ((t > 4 && t < 7) || t > 8) continue;
        first->stamp[n] = truth->stamp[i] + 3 * SECOND;
        first->pose[n++] = truth->pose[i];
    }
    first->poses = n;
    ct_track_options o = ct_track_defaults();
    o.offset_s = -3;
    residuals a = residuals_of(truth, first, first, &o);
    CHECK(ct_sites_count(a.sites) == 81 && a.score.lost == 29 && a.score.poses == 52);
    drop(&a);
    o.whole = 1;
    a = residuals_of(truth, first, first, &o);
    CHECK(n == 52 && ct_sites_count(a.sites) == 101 && a.score.lost == 49);
    double last = -1;
    for (int64_t row = 0; row < a.rows; row += 3) {
        CHECK(ct_sites_time(a.sites, row) > last);
        last = ct_sites_time(a.sites, row);
    }
    CHECK_NEAR(last, 10, 1e-9);
    CHECK(isnan(ct_sites_time(a.sites, a.rows)) && isnan(ct_sites_time(a.sites, -1)));
    drop(&a);
    o.skip_s = 5;
    a = residuals_of(truth, first, first, &o);
    CHECK(ct_sites_count(a.sites) == 51 && a.score.poses == 11);
    drop(&a);
    ct_trajectory_free(truth);
    ct_trajectory_free(first);
}

static void slow_down(ct_trajectory *t, int64_t every, ct_ns later)
{
    int64_t n = 0;
    for (int64_t i = 0; i < t->poses; i += every) {
        t->stamp[n] = t->stamp[i] + later;
        t->pose[n++] = t->pose[i];
    }
    t->poses = n;
}

/* Surveyed points every second, and a filter that writes ten times as often, at other stamps. */
static void test_truth_that_is_slow_is_compared_at_its_own_stamps(void)
{
    ct_trajectory *truth = winding_path(101, 1), *first = copy_of(truth);
    slow_down(truth, 10, 0);
    for (int64_t i = 0; i < first->poses; i++) first->stamp[i] += 3 * SECOND / 100;
    ct_track_options o = ct_track_defaults();
    residuals a = residuals_of(truth, first, first, &o);
    CHECK(ct_sites_count(a.sites) == 10 && a.score.lost == 0); /* the first point is before the first pose */
    CHECK_NEAR(ct_sites_time(a.sites, 3), 1, 1e-9);
    drop(&a);
    o.whole = 1;
    a = residuals_of(truth, first, first, &o);
    CHECK(ct_sites_count(a.sites) == 11 && a.score.lost == 1);
    drop(&a);
    o.whole = 0;
    o.gap_s = 3; /* said: the truth is interpolated */
    a = residuals_of(truth, first, first, &o);
    CHECK(ct_sites_count(a.sites) == 100 && a.score.lost == 0);
    drop(&a);
    truth->poses = 1; /* where it ended, and nothing else */
    truth->stamp[0] = first->stamp[50] + SECOND / 100;
    a = residuals_of(truth, first, first, NULL);
    CHECK(ct_sites_count(a.sites) == 1 && a.score.lost == 0);
    drop(&a);
    ct_trajectory_free(truth);
    ct_trajectory_free(first);
}

/* A radar turns once a second and misses some turns: half a second was a gap, and a fifth of the poses was lost. */
static void test_missing_record_of_a_slow_estimate_is_bridged(void)
{
    ct_trajectory *truth = winding_path(501, 1), *first = copy_of(truth);
    slow_down(first, 10, 0);
    for (int64_t i = 45; i > 0; i -= 5) drop_pose(first, i);
    for (int slow = 0; slow < 2; slow++) {
        if (slow) slow_down(truth, 10, 0);
        residuals a = residuals_of(truth, first, first, NULL);
        CHECK(a.score.lost == 0 && ct_sites_count(a.sites) == (slow ? 51 : 42));
        drop(&a);
    }
    for (int64_t i = 20; i < 25; i++) drop_pose(first, 20); /* now there is none from 24 to 30 s */
    residuals a = residuals_of(truth, first, first, NULL);
    CHECK(a.score.lost == 7); /* what is longer is a gap */
    drop(&a);
    ct_trajectory_free(truth);
    ct_trajectory_free(first);
}

/* Keyframes of a truth that is slow itself were compared between them, where they are chords: by metres. */
static void test_estimate_that_is_slower_than_a_slow_truth_is_compared_at_its_own_stamps(void)
{
    ct_trajectory *truth = winding_path(3001, 1), *first = copy_of(truth);
    slow_down(truth, 10, 0);
    slow_down(first, 100, 0);
    residuals a = residuals_of(truth, first, first, NULL);
    CHECK(ct_sites_count(a.sites) == 31 && a.score.lost == 0);
    CHECK_NEAR(a.score.ape_translation.rmse, 0, 1e-9);
    drop(&a);
    for (int64_t i = 0; i < first->poses; i++) first->stamp[i] += 3 * SECOND / 10; /* between stamps of the truth */
    a = residuals_of(truth, first, first, NULL);
    CHECK(ct_sites_count(a.sites) == 30 && a.score.lost == 0);
    drop(&a);
    ct_trajectory_free(truth);
    ct_trajectory_free(first);
}

/* A truth of a whole day, an estimate of a part of it: what is compared, and skipped, is the part. */
static void test_truth_may_be_longer_than_the_log(void)
{
    ct_trajectory *truth = winding_path(1000, 1), *first = noisy(truth, 0.1, 0.1, 6);
    memmove(first->stamp, first->stamp + 400, 101 * sizeof *first->stamp);
    memmove(first->pose, first->pose + 400, 101 * sizeof *first->pose);
    first->poses = 101;
    ct_track_options o = ct_track_defaults();
    residuals a = residuals_of(truth, first, first, &o);
    CHECK(ct_sites_count(a.sites) == 101 && a.score.lost == 0 && a.score.covered == 1);
    drop(&a);
    o.skip_s = 2;
    a = residuals_of(truth, first, first, &o);
    CHECK(ct_sites_count(a.sites) == 81 && a.score.lost == 0);
    first->poses = 50; /* a later run that stops early loses the rest */
    double r[3 * 81];
    ct_err err = {0};
    CHECK_OK(ct_sites_residuals(a.sites, first, r, &a.score, &err), err);
    CHECK(a.score.lost == 51);
    drop(&a);
    ct_trajectory_free(truth);
    ct_trajectory_free(first);
}

static void test_without_times_poses_are_compared_by_number(void)
{
    ct_trajectory *truth = winding_path(20, 0), *first, *later;
    truth->timed = 0;
    for (int64_t i = 0; i < 20; i++) truth->stamp[i] = i * SECOND;
    first = noisy(truth, 0.1, 0.1, 3);
    later = copy_of(first);
    drop_pose(later, 4); /* what could not be read */
    drop_pose(later, 17);
    residuals a = residuals_of(truth, first, first, NULL), b = residuals_of(truth, first, later, NULL);
    CHECK(a.rows == 120 && b.rows == 120 && b.score.lost == 2);
    for (int i = 0; i < 120; i++)
        if (i / 6 != 4 && i / 6 != 18) CHECK(a.r[i] == b.r[i]);
    ct_sites *sites = NULL;
    ct_err err = {0};
    CHECK(ct_sites_choose(truth, later, NULL, &sites, &err) == CT_E_ARGUMENT && !sites && strstr(err.text, "18"));
    drop(&a);
    drop(&b);
    ct_trajectory_free(truth);
    ct_trajectory_free(first);
    ct_trajectory_free(later);
}

/* ---- kernels, pairs, NEES ---- */

static void test_half_the_squares_are_the_kernels(void)
{
    ct_trajectory *truth = winding_path(60, 1), *estimate = noisy(truth, 1, 0.5, 9);
    for (int kind = CT_ROBUST_HUBER; kind < CT_ROBUST_COUNT; kind++) {
        ct_track_options o = ct_track_defaults();
        residuals plain = residuals_of(truth, estimate, estimate, &o);
        o.robust = (ct_robust){(ct_robust_kind)kind, 0.7, 0};
        residuals robust = residuals_of(truth, estimate, estimate, &o);
        double want = 0;
        for (int i = 0; i < 60; i++) {
            const double *r = plain.r + 3 * i, d2 = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
            want += ct_robust_error(o.robust, d2, NULL);
            CHECK_NEAR(robust.r[3 * i] * r[1], robust.r[3 * i + 1] * r[0], 1e-12); /* the same direction */
        }
        CHECK_NEAR(loss_of(&robust), want, 1e-10 * want);
        CHECK(want < 0.95 * loss_of(&plain));
        drop(&plain);
        drop(&robust);
    }
    ct_trajectory_free(truth);
    ct_trajectory_free(estimate);
}

static void test_relative_residuals_are_differences_of_motions(void)
{
    const struct {
        double delta;
        ct_delta_unit unit;
    } over[] = {{3, CT_DELTA_FRAMES}, {0.5, CT_DELTA_SECONDS}, {2, CT_DELTA_METRES}};
    ct_trajectory *truth = winding_path(100, 0), *estimate = noisy(truth, 0.1, 0.1, 4);
    for (int k = 0; k < 3; k++) {
        ct_track_options o = ct_track_defaults();
        o.type = CT_TRACK_RELATIVE;
        o.delta = over[k].delta;
        o.delta_unit = over[k].unit;
        residuals a = residuals_of(truth, estimate, estimate, &o);
        int64_t n = 0;
        double squares = 0;
        for (int i = 0; i < 100; i++) { /* the first pose that is far enough */
            double length = 0;
            int j = i;
            while (j < 99 && (k == 0 ? j - i < 3 : k == 1 ? j - i < 5 : length < 2)) {
                const ct_se3 p = truth->pose[j], q = truth->pose[j + 1];
                length += sqrt((q.x - p.x) * (q.x - p.x) + (q.y - p.y) * (q.y - p.y) + (q.z - p.z) * (q.z - p.z));
                j++;
            }
            if (k == 0 ? j - i < 3 : k == 1 ? j - i < 5 : length < 2) break;
            const ct_se3 g = ct_se3_between(truth->pose[i], truth->pose[j], NULL, NULL);
            const ct_se3 x = ct_se3_between(estimate->pose[i], estimate->pose[j], NULL, NULL);
            const ct_se3 e = ct_se3_between(g, x, NULL, NULL);
            double v[6];
            ct_se3_log(e, v);
            for (int m = 0; m < 6 && 6 * n + m < a.rows; m++) CHECK_NEAR(a.r[6 * n + m], v[m], 1e-12);
            CHECK_NEAR(ct_sites_time(a.sites, 6 * n), 0.1 * j, 1e-9);
            squares += e.x * e.x + e.y * e.y + e.z * e.z;
            n++;
        }
        CHECK(a.rows == 6 * n && n > 10 && a.score.rpe_translation.count == n);
        CHECK_NEAR(a.score.rpe_translation.rmse, sqrt(squares / (double)n), 1e-12);
        drop(&a);
    }
    ct_trajectory_free(truth);
    ct_trajectory_free(estimate);
}

/* Errors drawn from the covariance: NEES is 1, and k times smaller if the covariance is k times larger; the row follows
 * its logarithm. */
static void test_nees_row(void)
{
    for (int planar = 0; planar < 2; planar++) {
        ct_trajectory *truth = winding_path(4000, planar), *estimate = noisy(truth, 0.03, 0.02, 11);
        const int dim = planar ? 3 : 6;
        ct_track_options o = ct_track_defaults();
        o.nees = 0.25;
        estimate->covariance_dim = dim;
        estimate->covariance = calloc((size_t)(4000 * dim * dim), sizeof(double));
        for (int k = 1; k < 5; k += 3) {
            for (int64_t i = 0; i < 4000 * dim; i++) {
                const int row = (int)(i % dim), turns = planar ? row == 2 : row < 3;
                estimate->covariance[i / dim * dim * dim + row * (dim + 1)] = k * (turns ? 4e-4 : 9e-4);
            }
            residuals a = residuals_of(truth, estimate, estimate, &o);
            CHECK(a.rows == 4000 * dim + 1 && a.score.covariances == 4000);
            CHECK_NEAR(a.score.nees, 1.0 / k, 0.03 / k); /* sd sqrt(2 / 12000) */
            CHECK_NEAR(a.r[a.rows - 1], sqrt(0.25 * 4000) * log(a.score.nees), 1e-9);
            drop(&a);
        }
        ct_trajectory *bare = copy_of(estimate);
        ct_sites *sites = NULL;
        ct_err err = {0};
        CHECK(ct_sites_choose(truth, bare, &o, &sites, &err) == CT_E_ARGUMENT && strstr(err.text, "covariance"));
        ct_trajectory_free(bare);
        ct_trajectory_free(truth);
        ct_trajectory_free(estimate);
    }
}

/* Errors of rotation through pi: residuals are finite, and the loss is continuous. */
static void test_loss_is_finite_and_continuous_at_pi(void)
{
    ct_trajectory *truth = winding_path(3, 0), *estimate = copy_of(truth);
    double last = 0;
    for (int k = -50; k <= 50; k++) {
        const double w[6] = {0, 0, acos(-1) + k * 1e-8, 0, 0, 0};
        ct_se3 turned = ct_se3_exp(w);
        turned.x = 1, turned.y = 0.5;
        estimate->pose[1] = ct_se3_compose(truth->pose[1], turned, NULL, NULL);
        const double loss = loss_with(truth, estimate, NULL);
        CHECK(isfinite(loss));
        if (k > -50) CHECK_NEAR(loss, last, 1e-6);
        last = loss;
    }
    ct_trajectory_free(truth);
    ct_trajectory_free(estimate);
}

/* ---- refusals ---- */

static void test_refusals(void)
{
    ct_trajectory *truth = winding_path(50, 0), *far = copy_of(truth);
    ct_sites *sites = NULL;
    ct_err err = {0};
    for (int64_t i = 0; i < 50; i++) far->stamp[i] += INT64_C(1700000000) * SECOND;
    CHECK(ct_sites_choose(truth, far, NULL, &sites, &err) == CT_E_EMPTY && strstr(err.text, "-1700000000.000 s"));
    ct_track_options o = ct_track_defaults();
    o.offset_s = -1.7e9;
    CHECK_OK(ct_sites_choose(truth, far, &o, &sites, &err), err);
    double r[400];
    CHECK(ct_sites_rows(sites) == 300);
    CHECK(ct_sites_residuals(sites, truth, r, NULL, &err) == CT_E_EMPTY && strstr(err.text, "100.000 to 104.900"));
    far->rotations = 0;
    CHECK(ct_sites_residuals(sites, far, r, NULL, &err) == CT_E_ARGUMENT && strstr(err.text, "rotations"));
    ct_sites_free(sites);
    ct_sites_free(NULL);
    far->timed = 0;
    CHECK(ct_sites_choose(truth, far, NULL, &sites, &err) == CT_E_ARGUMENT && strstr(err.text, "no times"));
    const ct_track_options good = ct_track_defaults();
    for (int k = 0; k < 9; k++) {
        o = good;
        if (k == 0) o.translation = -1;
        if (k == 1) o.rotation = NAN;
        if (k == 2) o.lost = INFINITY;
        if (k == 3) o.type = CT_TRACK_LOSS_COUNT;
        if (k == 4) o.align = CT_ALIGNMENT_COUNT;
        if (k == 5) o.robust = (ct_robust){CT_ROBUST_HUBER, 0, 0};
        if (k == 6) o.delta = 0;
        if (k == 7) o.delta = 1.5;
        if (k == 8) o.offset_s = NAN;
        CHECK(ct_sites_choose(truth, truth, &o, &sites, &err) == CT_E_ARGUMENT && !sites);
    }
    o = good;
    o.type = CT_TRACK_RELATIVE, o.delta = 1e6, o.delta_unit = CT_DELTA_METRES;
    CHECK(ct_sites_choose(truth, truth, &o, &sites, &err) == CT_E_EMPTY && strstr(err.text, "1e+06 m"));
    CHECK(ct_track_loss_find("left") == CT_TRACK_LEFT && ct_track_loss_find("right") == -1);
    CHECK(!strcmp(ct_track_loss_name(CT_TRACK_RELATIVE), "relative") &&
          !strcmp(ct_track_loss_name((ct_track_loss)9), "?"));
    ct_trajectory_free(truth);
    ct_trajectory_free(far);
}

int main(void)
{
    RUN(test_loss_is_that_of_evaluate);
    RUN(test_motions_that_leave_the_loss_alone);
    RUN(test_lost_poses_count_as_the_penalty);
    RUN(test_sites_where_the_first_estimate_has_none);
    RUN(test_truth_that_is_slow_is_compared_at_its_own_stamps);
    RUN(test_missing_record_of_a_slow_estimate_is_bridged);
    RUN(test_estimate_that_is_slower_than_a_slow_truth_is_compared_at_its_own_stamps);
    RUN(test_truth_may_be_longer_than_the_log);
    RUN(test_without_times_poses_are_compared_by_number);
    RUN(test_half_the_squares_are_the_kernels);
    RUN(test_relative_residuals_are_differences_of_motions);
    RUN(test_nees_row);
    RUN(test_loss_is_finite_and_continuous_at_pi);
    RUN(test_refusals);
    return ct_test_end();
}
