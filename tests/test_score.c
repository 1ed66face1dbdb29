/* test_score.c: association, alignment, errors of two trajectories. */
#include "score_test.h"

#include <covtune/covtune.h>

static ct_score score_of(const ct_trajectory *estimate, const ct_trajectory *truth, const ct_score_options *options)
{
    ct_score score = {0};
    ct_err err = {0};
    CHECK_OK(ct_score_trajectory(estimate, truth, options, &score, &err), err);
    return score;
}

/* ---- names ---- */

static void test_names(void)
{
    double delta;
    ct_delta_unit unit;
    for (int i = 0; i < CT_ALIGNMENT_COUNT; i++) CHECK(ct_alignment_find(ct_alignment_name((ct_alignment)i)) == i);
    for (int i = 0; i < CT_ASSOCIATE_COUNT; i++) CHECK(ct_associate_find(ct_associate_name((ct_associate)i)) == i);
    CHECK(ct_alignment_find("rigid") == -1 && ct_associate_find(NULL) == -1);
    CHECK(!strcmp(ct_alignment_name((ct_alignment)-1), "?") && !strcmp(ct_associate_name((ct_associate)99), "?"));
    CHECK(ct_delta_find("10f", &delta, &unit) && delta == 10 && unit == CT_DELTA_FRAMES);
    CHECK(ct_delta_find("0.5 s", &delta, &unit) && delta == 0.5 && unit == CT_DELTA_SECONDS);
    CHECK(ct_delta_find("100m", &delta, &unit) && delta == 100 && unit == CT_DELTA_METRES);
    CHECK(ct_delta_find("1.5 km", &delta, &unit) && delta == 1500 && unit == CT_DELTA_METRES);
    const char *const bad[] = {"", "m", "10", "-1m", "0m", "1.5f", "1..5m", "10 parsecs", "1e3m", "m10", "nan s", ".m"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) CHECK(!ct_delta_find(bad[i], &delta, &unit));
    CHECK(!ct_delta_find(NULL, &delta, &unit));
}

/* ---- alignment ---- */

/* Exactly moved copies are moved back; the motion is the inverse. */
static void test_moved_copies_are_moved_back(void)
{
    ct_rng rng = ct_rng_seed(3);
    ct_trajectory *truth = winding_path(200, 0);
    for (int align = CT_ALIGNMENT_FIRST; align < CT_ALIGNMENT_COUNT; align++) {
        const ct_se3 level = planar_pose(30, -20, 2.5), raised = {30, -20, 4, 0, 0, level.qz, level.qw};
        const ct_se3 motion = align == CT_ALIGNMENT_SE2   ? level
                              : align == CT_ALIGNMENT_YAW ? raised
                                                          : random_pose(&rng, 30, 2);
        const double scale = align == CT_ALIGNMENT_SIM3 ? 0.4 : 1;
        ct_trajectory *estimate = copy_of(truth);
        ct_score_options o = ct_score_defaults();
        o.align = (ct_alignment)align;
        move_all(estimate, motion, scale);
        const ct_score s = score_of(estimate, truth, &o);
        CHECK(s.ape_translation.max < 1e-11 && s.ape_rotation.max < 1e-12 && s.poses == 200);
        CHECK_NEAR(s.scale, 1 / scale, 1e-13 / scale);
        const ct_se3 both = ct_se3_compose(s.motion, motion, NULL, NULL);
        CHECK_NEAR(fabs(both.qx) + fabs(both.qy) + fabs(both.qz), 0, 1e-13);
        ct_trajectory_free(estimate);
    }
    ct_trajectory_free(truth);
}

/* Squared distances of the aligned positions do not fall under any small motion that the alignment has. */
static double squares(const ct_trajectory *estimate, const ct_trajectory *truth, ct_se3 motion, double scale)
{
    double sum = 0;
    for (int64_t i = 0; i < truth->poses; i++) {
        const ct_se3 x = estimate->pose[i], g = truth->pose[i];
        const double p[3] = {scale * x.x, scale * x.y, scale * x.z};
        double q[3];
        ct_se3_act(motion, p, q, NULL, NULL);
        sum += (q[0] - g.x) * (q[0] - g.x) + (q[1] - g.y) * (q[1] - g.y) + (q[2] - g.z) * (q[2] - g.z);
    }
    return sum;
}

static void test_alignments_are_minima(void)
{
    ct_rng rng = ct_rng_seed(8);
    ct_trajectory *truth = winding_path(100, 0), *estimate = noisy(truth, 1, 0.1, 3);
    move_all(estimate, random_pose(&rng, 5, 1), 1.3);
    for (int align = CT_ALIGNMENT_YAW; align < CT_ALIGNMENT_COUNT; align++) {
        ct_score_options o = ct_score_defaults();
        o.align = (ct_alignment)align;
        const ct_score s = score_of(estimate, truth, &o);
        const double least = squares(estimate, truth, s.motion, s.scale);
        const int flat = align == CT_ALIGNMENT_YAW || align == CT_ALIGNMENT_SE2;
        CHECK_NEAR(s.ape_translation.rmse, sqrt(least / 100), 1e-10);
        CHECK((align == CT_ALIGNMENT_SIM3) == (s.scale != 1));
        CHECK(!flat || (s.motion.qx == 0 && s.motion.qy == 0));
        CHECK(align != CT_ALIGNMENT_SE2 || s.motion.z == 0);
        for (int k = 0; k < 2 * 7; k++) {
            const double step = k % 2 ? 1e-4 : -1e-4;
            double v[6] = {0}, scale = s.scale;
            if (k / 2 < 6)
                v[k / 2] = step;
            else
                scale *= 1 + step;
            if (k / 2 == 6 && align != CT_ALIGNMENT_SIM3) continue;
            if (flat && (k / 2 < 2 || (k / 2 == 5 && align == CT_ALIGNMENT_SE2))) continue;
            const ct_se3 moved = ct_se3_compose(ct_se3_exp(v), s.motion, NULL, NULL);
            CHECK(squares(estimate, truth, moved, scale) > least);
        }
    }
    ct_trajectory_free(truth);
    ct_trajectory_free(estimate);
}

/* What does not determine an alignment is a sentence; what does, in the plane, is aligned. */
static void test_degenerate_alignments(void)
{
    ct_trajectory *line = winding_path(20, 0), *still = winding_path(20, 0);
    ct_score_options o = ct_score_defaults();
    ct_score s;
    ct_err err = {0};
    for (int i = 0; i < 20; i++) {
        line->pose[i] = (ct_se3){i, 2.0 * i, 0, 0, 0, 0, 1};
        still->pose[i] = (ct_se3){3, 4, 5, 0, 0, 0, 1};
    }
    ct_trajectory *turned = copy_of(line);
    move_all(turned, planar_pose(5, 6, 1), 1);
    for (int align = CT_ALIGNMENT_YAW; align < CT_ALIGNMENT_COUNT; align++) {
        const int space = align >= CT_ALIGNMENT_SE3;
        o.align = (ct_alignment)align;
        CHECK(ct_score_trajectory(still, line, &o, &s, &err) == CT_E_SINGULAR && strstr(err.text, "equal"));
        CHECK(ct_score_trajectory(line, still, &o, &s, &err) == CT_E_SINGULAR);
        const ct_status status = ct_score_trajectory(turned, line, &o, &s, &err);
        CHECK(status == (space ? CT_E_SINGULAR : CT_OK));
        if (!space) CHECK(s.ape_translation.max < 1e-12);
    }
    line->planar = turned->planar = 1; /* planar trajectories turn about z alone */
    o.align = CT_ALIGNMENT_SE3;
    CHECK_OK(ct_score_trajectory(turned, line, &o, &s, &err), err);
    CHECK(s.ape_translation.max < 1e-12);
    ct_trajectory_free(line);
    ct_trajectory_free(still);
    ct_trajectory_free(turned);
}

/* ---- association ---- */

static void test_truth_is_interpolated(void)
{
    ct_trajectory *truth = winding_path(200, 0), *estimate = winding_path(199, 0);
    for (int64_t i = 0; i < 199; i++) { /* half way between, of the clock that is 5 s late */
        CHECK(ct_trajectory_at(truth, truth->stamp[i] + SECOND / 20, 1, &estimate->pose[i]));
        estimate->stamp[i] = truth->stamp[i] + SECOND / 20 + 5 * SECOND;
    }
    ct_score_options o = ct_score_defaults();
    o.associate = CT_ASSOCIATE_INTERPOLATE;
    o.offset_s = -5;
    ct_score s = score_of(estimate, truth, &o);
    CHECK(s.poses == 199 && s.lost == 0 && s.ape_translation.max < 1e-12 && s.ape_rotation.max < 1e-12);
    CHECK(s.associate == CT_ASSOCIATE_INTERPOLATE);
    for (int i = 0; i < 20; i++) drop_pose(truth, 100); /* a gap of 2.1 s */
    s = score_of(estimate, truth, &o);
    CHECK(s.poses == 178 && s.lost == 21);
    CHECK_NEAR(s.covered, (19.9 - 0.1 - 2.2) / 19.9, 1e-9);
    ct_trajectory_free(truth);
    ct_trajectory_free(estimate);
}

/* If one side is planar, x, y and yaw are compared; if one has no rotations, positions. */
static void test_what_both_have_is_compared(void)
{
    ct_trajectory *truth = winding_path(50, 1), *space = copy_of(truth);
    space->planar = 0;
    for (int64_t i = 0; i < 50; i++) { /* lifted and tilted: the heading stays */
        const double tilt[3] = {0.1, 0, 0};
        space->pose[i].z = 3;
        ct_so3 q = ct_so3_compose(ct_se3_rotation(space->pose[i]), ct_so3_exp(tilt), NULL, NULL);
        space->pose[i] = ct_se3_make((const double[3]){space->pose[i].x, space->pose[i].y, 3}, q);
    }
    ct_score s = score_of(space, truth, NULL);
    CHECK(s.ape_translation.max < 1e-12 && s.ape_rotation.max < 1e-12 && s.ape_rotation.count == 50);
    truth->planar = 0;
    s = score_of(space, truth, NULL);
    CHECK_NEAR(s.ape_translation.mean, 3, 1e-12);
    CHECK_NEAR(s.ape_rotation.mean, 0.1, 1e-9);
    truth->rotations = 0;
    s = score_of(space, truth, NULL);
    CHECK(s.ape_rotation.count == 0 && isnan(s.ape_rotation.rmse) && s.rpe_rotation.count == 0);
    CHECK_NEAR(s.ape_translation.mean, 3, 1e-12);
    CHECK(s.rpe_translation.max < 1e-12); /* motions of positions are differences in the world */
    ct_trajectory_free(truth);
    ct_trajectory_free(space);
}

static void test_refusals(void)
{
    ct_trajectory *a = winding_path(5, 0), *b = winding_path(6, 0);
    ct_score s;
    ct_err err = {0};
    ct_score_options o = ct_score_defaults();
    o.associate = CT_ASSOCIATE_INDEX;
    CHECK(ct_score_trajectory(a, b, &o, &s, &err) == CT_E_ARGUMENT && strstr(err.text, "5 poses and the truth 6"));
    o.associate = -1;
    a->timed = 0;
    CHECK(ct_score_trajectory(a, b, &o, &s, &err) == CT_E_ARGUMENT && strstr(err.text, "estimate has no times"));
    CHECK(ct_score_trajectory(b, a, &o, &s, &err) == CT_E_ARGUMENT && strstr(err.text, "truth has no times"));
    b->timed = 0;
    o.associate = CT_ASSOCIATE_NEAREST;
    CHECK(ct_score_trajectory(a, b, &o, &s, &err) == CT_E_ARGUMENT && strstr(err.text, "neither"));
    a->timed = b->timed = 1;
    for (int k = 0; k < 7; k++) {
        o = ct_score_defaults();
        if (k == 0) o.associate = CT_ASSOCIATE_COUNT;
        if (k == 1) o.align = CT_ALIGNMENT_COUNT;
        if (k == 2) o.tolerance_s = -1;
        if (k == 3) o.offset_s = INFINITY;
        if (k == 4) o.delta = -1;
        if (k == 5) o.delta_unit = CT_DELTA_COUNT;
        if (k == 6) o.gap_s = NAN;
        CHECK(ct_score_trajectory(a, b, &o, &s, &err) == CT_E_ARGUMENT);
    }
    a->poses = 0;
    CHECK(ct_score_trajectory(a, b, NULL, &s, &err) == CT_E_EMPTY);
    ct_trajectory_free(a);
    ct_trajectory_free(b);
}

/* Stamps at the ends of their range do not overflow. */
static void test_extreme_stamps(void)
{
    ct_trajectory *a = winding_path(3, 0), *b = winding_path(3, 0);
    ct_score_options o = ct_score_defaults();
    ct_err err = {0};
    ct_score s;
    a->stamp[0] = INT64_MIN, a->stamp[1] = 0, a->stamp[2] = INT64_MAX;
    b->stamp[0] = INT64_MIN, b->stamp[1] = 5, b->stamp[2] = INT64_MAX;
    for (int k = 0; k < 4; k++) {
        o.associate = k % 2 ? CT_ASSOCIATE_INTERPOLATE : CT_ASSOCIATE_NEAREST;
        o.offset_s = k < 2 ? 0 : -1e11;
        o.gap_s = 1e12;
        ct_score_trajectory(a, b, &o, &s, &err);
    }
    o.offset_s = 0;
    CHECK_OK(ct_score_trajectory(a, b, &o, &s, &err), err);
    CHECK(s.poses == 3);
    ct_trajectory_free(a);
    ct_trajectory_free(b);
}

/* ---- NEES ---- */

#define NEES_POSES 2000

static const double body_sigma[6] = {0.1, 0.2, 0.3, 0.01, 0.02, 0.03}; /* x, y, z, rotations, in the body's axes */

/* P <- the covariance, n x n, translation first, in the axes of the body or the world. */
static void covariance_at(ct_se3 pose, int n, int world, double scale, double P[36])
{
    double R[9];
    ct_so3_matrix(ct_se3_rotation(pose), R);
    for (int k = 0; k < 9 && !world; k++) R[k] = k % 4 == 0;
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) {
            P[n * a + b] = 0;
            for (int k = 0; k < 3 && a / 3 == b / 3; k++) {
                const double s = body_sigma[a / 3 * 3 + k] * (a < 3 ? scale : 1);
                P[n * a + b] += R[3 * (a % 3) + k] * R[3 * (b % 3) + k] * s * s;
            }
        }
}

/* A table with poses and `count` columns of their covariances: n of the diagonal or n x n. */
static ct_trajectory *through_a_table(const ct_trajectory *t, int n, int count, int world, double scale)
{
    static char text[NEES_POSES * 1100];
    size_t used = (size_t)sprintf(text, "t,x,y,z,qx,qy,qz,qw");
    for (int k = 0; k < count; k++) used += (size_t)sprintf(text + used, ",c%d", k);
    for (int64_t i = 0; i < t->poses; i++) {
        const ct_se3 p = t->pose[i];
        double P[36];
        covariance_at(p, n, world, scale, P);
        used += (size_t)sprintf(text + used, "\n%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g",
                                (double)t->stamp[i] * 1e-9, p.x, p.y, p.z, p.qx, p.qy, p.qz, p.qw);
        for (int k = 0; k < count; k++) used += (size_t)sprintf(text + used, ",%.17g", P[count == n ? (n + 1) * k : k]);
    }
    char name[36][16];
    ct_trajectory_options o = ct_trajectory_defaults();
    ct_trajectory *out = NULL;
    ct_err err = {0};
    o.covariances = count;
    o.covariance_frame = world ? CT_COVARIANCE_WORLD : CT_COVARIANCE_LOCAL;
    for (int k = 0; k < count; k++) {
        snprintf(name[k], sizeof name[k], "c%d", k);
        o.covariance[k] = name[k];
    }
    CHECK_OK(ct_trajectory_read(write_bytes("nees.csv", text, used), &o, &out, &err), err);
    return out;
}

/* Errors drawn from a covariance have a NEES of 1, whatever the axes and the form of the file, whatever motion and
 * scale the alignment takes away, and if x, y and yaw or positions alone are compared. */
static void test_nees_whatever_the_form(void)
{
    static const struct {
        int n, count, world, flat;
        double scale;
    } form[] = {{6, 6, 0, 0, 1}, {6, 36, 0, 0, 1}, {6, 36, 1, 0, 1},   {3, 9, 1, 0, 1},
                {3, 9, 0, 0, 1}, {3, 3, 0, 0, 1},  {6, 36, 0, 0, 2.5}, {6, 36, 1, 1, 1}};
    for (int f = 0; f < 8; f++) {
        ct_rng rng = ct_rng_seed(21);
        ct_trajectory *truth = winding_path(NEES_POSES, form[f].flat), *estimate = copy_of(truth);
        estimate->planar = 0;
        for (int64_t i = 0; i < NEES_POSES; i++) {
            double v[6];
            for (int k = 0; k < 6; k++) v[k] = ct_rng_normal(&rng) * body_sigma[(k + 3) % 6];
            estimate->pose[i] = ct_se3_compose(truth->pose[i], ct_se3_exp(v), NULL, NULL);
        }
        if (form[f].scale != 1) move_all(estimate, random_pose(&rng, 4, 1), form[f].scale);
        ct_trajectory *read = through_a_table(estimate, form[f].n, form[f].count, form[f].world, form[f].scale);
        ct_score_options o = ct_score_defaults();
        o.align = form[f].scale != 1 ? CT_ALIGNMENT_SIM3 : CT_ALIGNMENT_NONE;
        for (int positions = 0; positions < 2 && read; positions++) {
            truth->rotations = !positions;
            const ct_score s = score_of(read, truth, &o);
            CHECK(s.covariances == NEES_POSES);
            CHECK_NEAR(s.nees, 1, 0.06); /* sd of 2000 means of two coordinates: 0.022 */
        }
        ct_trajectory_free(read);
        ct_trajectory_free(truth);
        ct_trajectory_free(estimate);
    }
}

/* ---- size ---- */

static void test_a_million_poses_take_seconds(void)
{
    const int64_t n = ct_test_slow() ? 20000 : 1000000;
    ct_trajectory *truth = winding_path(n, 0), *estimate = noisy(truth, 0.1, 0.1, 2);
    const double begin = ct_now_s();
    for (int k = 0; k < 4; k++) {
        ct_score_options o = ct_score_defaults();
        o.associate = k % 2 ? CT_ASSOCIATE_INTERPOLATE : CT_ASSOCIATE_NEAREST;
        o.align = CT_ALIGNMENT_SIM3;
        o.delta = 10, o.delta_unit = CT_DELTA_METRES;
        o.all_pairs = k / 2;
        CHECK(score_of(estimate, truth, &o).poses == n);
    }
    const double seconds = (ct_now_s() - begin) / 4;
    printf("       %.2f s for %lld poses\n", seconds, (long long)n);
    CHECK(seconds < 20);
    ct_trajectory_free(truth);
    ct_trajectory_free(estimate);
}

/* Two stays with ten metres between them: every pose of the first is paired with the first one of the second. */
static void test_a_vehicle_that_stands_takes_no_longer(void)
{
    const int64_t  n = ct_test_slow() ? 4000 : 200000, way = 1000;
    ct_err         err = {0};
    ct_trajectory *t = NULL;
    CHECK_OK(ct_trajectory_new(2 * n + way, 1, &t, &err), err);
    for (int64_t i = 0; i < t->poses; i++) {
        t->stamp[i] = 10000000 * i;
        t->pose[i].x = i < n ? 0 : i < n + way ? 0.01 * (double)(i - n + 1) : 10;
    }
    ct_score_options o = ct_score_defaults();
    o.delta = 10.0005, o.delta_unit = CT_DELTA_METRES;
    o.all_pairs = 1;
    const double   begin = ct_now_s();
    const ct_score s = score_of(t, t, &o);
    const double   seconds = ct_now_s() - begin;
    CHECK(s.rpe_translation.count == n + 99); /* within a tenth: from the first 0.99 m of the way, too */
    CHECK(seconds < 3);
    ct_trajectory_free(t);
}

int main(void)
{
    RUN(test_names);
    RUN(test_moved_copies_are_moved_back);
    RUN(test_alignments_are_minima);
    RUN(test_degenerate_alignments);
    RUN(test_truth_is_interpolated);
    RUN(test_what_both_have_is_compared);
    RUN(test_refusals);
    RUN(test_extreme_stamps);
    RUN(test_nees_whatever_the_form);
    RUN(test_a_million_poses_take_seconds);
    RUN(test_a_vehicle_that_stands_takes_no_longer);
    return ct_test_end();
}
