/* test_score_mount.c: trajectories of sensors on the body are compared at one point of it. */
#include "score_test.h"

#include <covtune/tune.h>

static const ct_se3 ANTENNA = {0.8, -0.3, 1.1, 0, 0, 0, 1};

static ct_se3 camera(void)
{
    const double w[3] = {-1.2, 1.1, -0.9}, p[3] = {0.4, 0.2, -0.7};
    return ct_se3_make(p, ct_so3_exp(w));
}

/* What a sensor at m of the body tracks. */
static ct_trajectory *tracked(const ct_trajectory *body, ct_se3 m)
{
    ct_trajectory *t = copy_of(body);
    for (int64_t i = 0; i < t->poses; i++) t->pose[i] = ct_se3_compose(body->pose[i], m, NULL, NULL);
    t->mounted = 1;
    t->mount = m;
    return t;
}

/* Positions alone: the rotations are another's. */
static void forget_rotations(ct_trajectory *t)
{
    t->rotations = 0;
    for (int64_t i = 0; i < t->poses; i++) t->pose[i] = (ct_se3){t->pose[i].x, t->pose[i].y, t->pose[i].z, 0, 0, 0, 1};
}

static ct_score score_of(const ct_trajectory *estimate, const ct_trajectory *truth, ct_alignment align)
{
    ct_score_options o = ct_score_defaults();
    ct_score s = {0};
    ct_err err = {0};
    o.align = align;
    o.associate = CT_ASSOCIATE_INTERPOLATE;
    CHECK_OK(ct_score_trajectory(estimate, truth, &o, &s, &err), err);
    return s;
}

static void check_same(const ct_score *a, const ct_score *b)
{
    CHECK_NEAR(a->ape_translation.rmse, b->ape_translation.rmse, 1e-12);
    if (a->ape_rotation.count) CHECK_NEAR(a->ape_rotation.rmse, b->ape_rotation.rmse, 1e-12);
    CHECK_NEAR(a->rpe_translation.rmse, b->rpe_translation.rmse, 1e-12);
    CHECK(a->poses == b->poses && a->ape_rotation.count == b->ape_rotation.count);
}

/* ---- one comparison ---- */

static void test_poses_of_sensors_are_compared_as_bodies(void)
{
    for (int planar = 0; planar < 2; planar++) {
        const ct_se3 turned = {0.8, -0.3, 0, 0, 0, sin(0.6), cos(0.6)}, m = planar ? turned : camera();
        ct_trajectory *truth = winding_path(300, planar), *estimate = noisy(truth, 0.1, 0.05, 3);
        ct_trajectory *seen = tracked(truth, m), *seen_estimate = tracked(estimate, planar ? ANTENNA : turned);
        for (int k = 0; k < 2; k++) {
            const ct_alignment align = k ? CT_ALIGNMENT_YAW : CT_ALIGNMENT_NONE;
            const ct_score bodies = score_of(estimate, truth, align);
            const ct_score of_truth = score_of(estimate, seen, align), of_both = score_of(seen_estimate, seen, align);
            check_same(&of_truth, &bodies);
            check_same(&of_both, &bodies);
        }
        seen->mounted = 0; /* the test can fail */
        CHECK(score_of(estimate, seen, CT_ALIGNMENT_NONE).ape_translation.rmse > 0.5);
        ct_trajectory_free(truth);
        ct_trajectory_free(estimate);
        ct_trajectory_free(seen);
        ct_trajectory_free(seen_estimate);
    }
}

/* The other one is moved to the point. */
static void test_positions_are_compared_where_they_are_tracked(void)
{
    ct_trajectory *truth = winding_path(300, 0), *estimate = noisy(truth, 0.1, 0.05, 3);
    for (int of_truth = 0; of_truth < 2; of_truth++) {
        ct_trajectory *at_antenna[2] = {tracked(estimate, ANTENNA), tracked(truth, ANTENNA)};
        ct_trajectory *at_camera = tracked(of_truth ? estimate : truth, camera());
        forget_rotations(at_antenna[of_truth]);
        at_antenna[0]->mounted = at_antenna[1]->mounted = 0;
        const ct_score by_hand = score_of(at_antenna[0], at_antenna[1], CT_ALIGNMENT_SE3);
        at_antenna[of_truth]->mounted = 1;
        const ct_score s = of_truth ? score_of(at_camera, at_antenna[1], CT_ALIGNMENT_SE3)
                                    : score_of(at_antenna[0], at_camera, CT_ALIGNMENT_SE3);
        check_same(&s, &by_hand);
        for (int k = 0; k < 2; k++) ct_trajectory_free(at_antenna[k]);
        ct_trajectory_free(at_camera);
    }
    ct_trajectory_free(truth);
    ct_trajectory_free(estimate);
}

static void test_positions_alone_know_no_direction(void)
{
    ct_trajectory *truth = winding_path(50, 0), *estimate = noisy(truth, 0.1, 0, 3);
    ct_score s;
    ct_se3 by[2];
    ct_err err = {0};
    forget_rotations(truth);
    forget_rotations(estimate);
    truth->mounted = 1, truth->mount = ANTENNA;
    CHECK(ct_score_trajectory(estimate, truth, NULL, &s, &err) == CT_E_ARGUMENT);
    CHECK(strstr(err.text, "mounts are 1.393 m apart") && strstr(err.text, "rotations"));
    CHECK(ct_trajectory_meet(estimate, truth, &by[0], &by[1], &err) == CT_E_ARGUMENT);
    estimate->mounted = 1, estimate->mount = ANTENNA;
    CHECK_OK(ct_score_trajectory(estimate, truth, NULL, &s, &err), err);
    CHECK_OK(ct_trajectory_meet(estimate, truth, &by[0], &by[1], &err), err);
    CHECK(by[0].x == 0 && by[1].z == 0 && by[1].qw == 1);
    ct_trajectory_free(truth);
    ct_trajectory_free(estimate);
}

/* ---- covariances ---- */

/* A covariance of each pose, drawn. */
static void draw_covariances(ct_trajectory *t, int n, uint64_t seed)
{
    ct_rng rng = ct_rng_seed(seed);
    t->covariance_dim = n;
    t->covariance = calloc((size_t)(t->poses * n * n), sizeof(double));
    for (int64_t i = 0; i < t->poses; i++) {
        double A[36], *P = t->covariance + i * n * n;
        for (int k = 0; k < n * n; k++) A[k] = 0.1 * ct_rng_normal(&rng);
        for (int r = 0; r < n; r++)
            for (int c = 0; c < n; c++) {
                P[n * r + c] = r == c ? 0.001 : 0;
                for (int k = 0; k < n; k++) P[n * r + c] += A[n * r + k] * A[n * c + k];
            }
    }
}

/* Log of A^-1 E A is Ad(A^-1) Log E, and the covariance goes with it: NEES is that of any point of the body. */
static void test_nees_does_not_depend_on_the_point(void)
{
    for (int planar = 0; planar < 2; planar++) {
        const ct_se3 turned = {0.8, -0.3, 0, 0, 0, sin(0.6), cos(0.6)};
        ct_trajectory *truth = winding_path(100, planar), *estimate = noisy(truth, 0.1, 0.05, 3);
        draw_covariances(estimate, planar ? 3 : 6, 5);
        const ct_score as_they_are = score_of(estimate, truth, CT_ALIGNMENT_NONE);
        truth->mounted = estimate->mounted = 1;
        truth->mount = estimate->mount = planar ? turned : camera();
        const ct_score elsewhere = score_of(estimate, truth, CT_ALIGNMENT_NONE);
        CHECK(as_they_are.covariances == 100 && as_they_are.nees > 0.1);
        CHECK_NEAR(elsewhere.nees / as_they_are.nees, 1, 1e-9);
        CHECK(fabs(elsewhere.ape_translation.rmse - as_they_are.ape_translation.rmse) > 1e-3);
        ct_trajectory_free(truth);
        ct_trajectory_free(estimate);
    }
}

/* A point at m of a body with the covariance P of (rotation, translation) has J P J' in the world, J = R [-[m]x, 1]. */
static double nees_of_points(const ct_trajectory *estimate, const ct_trajectory *truth, const double m[3])
{
    const double cross[9] = {0, m[2], -m[1], -m[2], 0, m[0], m[1], -m[0], 0}; /* -[m]x */
    double sum = 0;
    for (int64_t i = 0; i < estimate->poses; i++) {
        double R[9], J[18], S[9] = {0}, at[3], e[3];
        ct_so3_matrix(ct_se3_rotation(estimate->pose[i]), R);
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 6; c++) {
                J[6 * r + c] = 0;
                for (int k = 0; k < 3; k++) J[6 * r + c] += R[3 * r + k] * (c < 3 ? cross[3 * k + c] : k == c - 3);
            }
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++)
                for (int k = 0; k < 6; k++)
                    for (int l = 0; l < 6; l++)
                        S[3 * r + c] += J[6 * r + k] * estimate->covariance[36 * i + 6 * k + l] * J[6 * c + l];
        ct_se3_act(estimate->pose[i], m, at, NULL, NULL);
        e[0] = at[0] - truth->pose[i].x, e[1] = at[1] - truth->pose[i].y, e[2] = at[2] - truth->pose[i].z;
        const double det = S[0] * (S[4] * S[8] - S[5] * S[7]) - S[1] * (S[3] * S[8] - S[5] * S[6]) +
                           S[2] * (S[3] * S[7] - S[4] * S[6]);
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) { /* cofactors of the symmetric S */
                const int a = (r + 1) % 3, b = (r + 2) % 3, x = (c + 1) % 3, y = (c + 2) % 3;
                sum += e[r] * (S[3 * a + x] * S[3 * b + y] - S[3 * a + y] * S[3 * b + x]) / det * e[c] / 3;
            }
    }
    return sum / (double)estimate->poses;
}

static void test_covariances_of_poses_at_an_antenna(void)
{
    const double m[3] = {ANTENNA.x, ANTENNA.y, ANTENNA.z};
    ct_trajectory *body = winding_path(100, 0), *estimate = noisy(body, 0.1, 0.05, 3), *truth = tracked(body, ANTENNA);
    ct_score s;
    ct_err err = {0};
    forget_rotations(truth);
    draw_covariances(estimate, 6, 5);
    s = score_of(estimate, truth, CT_ALIGNMENT_NONE);
    CHECK_NEAR(s.nees / nees_of_points(estimate, truth, m), 1, 1e-9);
    free(estimate->covariance); /* of positions: the rotation's part of the error is not known */
    draw_covariances(estimate, 3, 5);
    CHECK(ct_score_trajectory(estimate, truth, NULL, &s, &err) == CT_E_ARGUMENT && strstr(err.text, "positions alone"));
    ct_trajectory_free(body);
    ct_trajectory_free(estimate);
    ct_trajectory_free(truth);
}

/* ---- residuals ---- */

static double *residuals_of(const ct_trajectory *truth, const ct_trajectory *estimate, const ct_track_options *o,
                            int64_t *rows)
{
    ct_sites *sites = NULL;
    ct_err err = {0};
    CHECK_OK(ct_sites_choose(truth, estimate, o, &sites, &err), err);
    *rows = sites ? ct_sites_rows(sites) : 0;
    double *r = calloc((size_t)*rows + 1, sizeof *r);
    if (sites) CHECK_OK(ct_sites_residuals(sites, estimate, r, NULL, &err), err);
    ct_sites_free(sites);
    return r;
}

static void test_residuals_are_of_the_point_that_is_compared(void)
{
    ct_trajectory *body = winding_path(120, 0), *estimate = noisy(body, 0.1, 0.05, 3);
    for (int loss = 0; loss < CT_TRACK_LOSS_COUNT; loss++)
        for (int positions = 0; positions < 2; positions++) {
            ct_track_options o = ct_track_defaults();
            ct_trajectory *truth = tracked(body, ANTENNA);
            ct_trajectory *by_hand = positions ? tracked(body, ANTENNA) : copy_of(body);
            ct_trajectory *moved = positions ? tracked(estimate, ANTENNA) : copy_of(estimate);
            int64_t rows, other;
            o.type = (ct_track_loss)loss;
            o.align = loss ? CT_ALIGNMENT_YAW : CT_ALIGNMENT_NONE;
            if (positions) forget_rotations(truth), forget_rotations(by_hand);
            by_hand->mounted = moved->mounted = 0;
            double *r = residuals_of(truth, estimate, &o, &rows), *hand = residuals_of(by_hand, moved, &o, &other);
            CHECK(rows == other && rows > 300);
            for (int64_t i = 0; i < rows && rows == other; i++) CHECK_NEAR(r[i], hand[i], 1e-9);
            free(r);
            free(hand);
            ct_trajectory_free(truth);
            ct_trajectory_free(by_hand);
            ct_trajectory_free(moved);
        }
    ct_trajectory_free(body);
    ct_trajectory_free(estimate);
}

/* ---- files ---- */

static void check_mount(int planar, int count, const double number[7], const ct_se3 *expected)
{
    ct_trajectory_options o = ct_trajectory_defaults();
    ct_trajectory *t = NULL;
    ct_err err = {0};
    const char *path = write_text("track.csv", planar ? "t,x,y,yaw\n0,0,0,0\n1,1,0,0.5\n"
                                                         : "t,x,y,z,qx,qy,qz,qw\n0,0,0,0,0,0,0,1\n1,1,0,0,0,0,0,1\n");
    memcpy(o.mount, number, sizeof o.mount);
    o.mounts = count;
    if (!expected) {
        CHECK(ct_trajectory_read(path, &o, &t, &err) == CT_E_ARGUMENT && !t && strstr(err.text, "mount"));
        return;
    }
    CHECK_OK(ct_trajectory_read(path, &o, &t, &err), err);
    if (!t) return;
    const ct_se3 off = ct_se3_between(*expected, t->mount, NULL, NULL);
    CHECK(t->mounted && fabs(off.x) + fabs(off.y) + fabs(off.z) + fabs(off.qx) + fabs(off.qy) + fabs(off.qz) < 1e-12);
    ct_trajectory_free(t);
}

static void test_mounts_are_read_as_in_recipes(void)
{
    const double flat[7] = {1, 2, 0.6}, pose[7] = {1, 2, 3, 0, 0, 0.6004, 0.8}, off[7] = {1, 2, 3, 0, 0, 0.6, 0.9},
                 nan_[7] = {1, NAN};
    const ct_se3 yawed = {1, 2, 0, 0, 0, sin(0.3), cos(0.3)}, up = {1, 2, 0.6, 0, 0, 0, 1}, xy = {1, 2, 0, 0, 0, 0, 1};
    ct_so3 q = ct_so3_normalize((ct_so3){0, 0, 0.6004, 0.8});
    const double at[3] = {1, 2, 3};
    const ct_se3 whole = ct_se3_make(at, q);
    for (int planar = 0; planar < 2; planar++) {
        check_mount(planar, 2, flat, &xy);
        check_mount(planar, 3, flat, planar ? &yawed : &up);
        check_mount(planar, 7, pose, &whole);
        check_mount(planar, 4, pose, NULL);
        check_mount(planar, 7, off, NULL);
        check_mount(planar, 2, nan_, NULL);
    }
}

int main(void)
{
    RUN(test_poses_of_sensors_are_compared_as_bodies);
    RUN(test_positions_are_compared_where_they_are_tracked);
    RUN(test_positions_alone_know_no_direction);
    RUN(test_nees_does_not_depend_on_the_point);
    RUN(test_covariances_of_poses_at_an_antenna);
    RUN(test_residuals_are_of_the_point_that_is_compared);
    RUN(test_mounts_are_read_as_in_recipes);
    return ct_test_end();
}
