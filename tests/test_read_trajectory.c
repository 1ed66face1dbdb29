/* test_read_trajectory.c: TUM and KITTI trajectories. */
#define _XOPEN_SOURCE 700
#include "data_test.h"

#include <unistd.h>

static ct_sequence *get(ct_format format, const char *text)
{
    run r;
    CHECK_OK(read_text(&r, format, text), r.err);
    ct_noise_free(r.noise);
    return r.seq;
}

static ct_se3 pose_at(const ct_sequence *seq, int32_t v)
{
    ct_se3 pose;
    memcpy(&pose, ct_graph_initial_const(seq->graph) + ct_graph_offset(seq->graph, v), sizeof pose);
    return pose;
}

static void random_rotation(ct_rng *rng, double R[9])
{
    const double w[3] = {ct_rng_normal(rng), ct_rng_normal(rng), ct_rng_normal(rng)};
    ct_so3_matrix(ct_so3_exp(w), R);
}

/* A sequence of random SE3 poses, with times where wanted. */
static ct_sequence *random_trajectory(int poses, int times)
{
    ct_rng       rng = ct_rng_seed(4);
    ct_sequence *seq = NULL;
    ct_err       err = {0};
    CHECK_OK(ct_sequence_new(NULL, &seq, &err), err);
    if (times) seq->stamp = calloc((size_t)poses, sizeof *seq->stamp);
    for (int i = 0; i < poses; i++) {
        double value[7], d[6];
        for (int k = 0; k < 6; k++) d[k] = ct_rng_normal(&rng);
        ct_kind_identity(CT_SE3, value);
        ct_kind_retract(CT_SE3, value, d, value);
        CHECK_OK(ct_graph_add_variable(seq->graph, NULL, CT_SE3, value, NULL, &err), err);
        if (times) seq->stamp[i] = 1e9 + 0.1 * i;
    }
    return seq;
}

/* Written with nothing lost, and read again. */
static ct_sequence *through_file(ct_sequence *seq, ct_format format)
{
    run r = {.seq = seq};
    ct_noise_new(&r.noise, &r.err);
    char        *text = write_text(&r, format, NULL, 0, NULL);
    ct_sequence *again = text ? get(format, text) : NULL;
    CHECK(again != NULL);
    free(text);
    ct_noise_free(r.noise);
    return again;
}

static void check_losses(run *r, ct_format format, int64_t losses, const char *part)
{
    int64_t dropped = 0;
    CHECK(write_text(r, format, NULL, 0, NULL) == NULL && r->err.status == CT_E_UNSUPPORTED);
    CHECK(strstr(r->err.text, part));
    char *text = write_text(r, format, NULL, 1, &dropped);
    CHECK(text && dropped == losses);
    free(text);
}

/* ---- TUM ------------------------------------------------------------------------------------- */

static void test_a_tum_file_is_poses_with_times(void)
{
    ct_sequence *seq =
        get(CT_FORMAT_TUM, "# time x y z qx qy qz qw\n0.5 1 2 3 0 0 0 1\n\n0.7 4 5 6 0.7071 0 0 0.7071 # turned\n");
    CHECK(ct_graph_variables(seq->graph) == 2 && ct_graph_factors(seq->graph) == 0);
    CHECK(ct_graph_kind(seq->graph, 1) == CT_SE3 && ct_graph_find(seq->graph, "x1") == 1);
    CHECK(seq->stamp[0] == 0.5 && seq->stamp[1] == 0.7);
    const ct_se3 pose = pose_at(seq, 1);
    CHECK(pose.x == 4 && pose.z == 6);
    CHECK_NEAR(pose.qx, sqrt(0.5), 1e-15);
    CHECK(!memcmp(seq->truth, ct_graph_initial(seq->graph), 14 * sizeof(double)) && seq->known[0] == 63 &&
          seq->known[1] == 63);
    CHECK(strstr(seq->note, "both initial values and truth"));
    ct_sequence_free(seq);
}

static void test_a_written_tum_file_is_read_back_to_the_bit(void)
{
    ct_sequence *seq = random_trajectory(200, 1);
    ct_sequence *again = through_file(seq, CT_FORMAT_TUM);
    CHECK(ct_graph_size(again->graph) == ct_graph_size(seq->graph));
    CHECK(!memcmp(ct_graph_initial(seq->graph), ct_graph_initial(again->graph), 200 * 7 * sizeof(double)));
    CHECK(!memcmp(seq->stamp, again->stamp, 200 * sizeof(double)));
    ct_sequence_free(seq);
    ct_sequence_free(again);
}

static void test_without_times_tum_counts_poses(void)
{
    ct_sequence *seq = random_trajectory(3, 0);
    ct_sequence *again = through_file(seq, CT_FORMAT_TUM);
    CHECK(again->stamp[0] == 0 && again->stamp[2] == 2);
    ct_sequence_free(seq);
    ct_sequence_free(again);
}

/* ---- KITTI ----------------------------------------------------------------------------------- */

static void test_a_written_kitti_file_is_read_back_to_rounding(void)
{
    ct_sequence *seq = random_trajectory(200, 0);
    ct_sequence *again = through_file(seq, CT_FORMAT_KITTI);
    CHECK(ct_graph_variables(again->graph) == 200 && again->stamp == NULL);
    for (int32_t v = 0; v < 200; v++) {
        double d[6];
        ct_kind_local(CT_SE3, ct_graph_initial(seq->graph) + 7 * v, ct_graph_initial(again->graph) + 7 * v, d);
        for (int i = 0; i < 6; i++) CHECK_NEAR(d[i], 0, 1e-14);
    }
    ct_sequence_free(seq);
    ct_sequence_free(again);
}

static void test_a_leading_thirteenth_number_is_the_time(void)
{
    ct_sequence *seq = get(CT_FORMAT_KITTI, "0.25 1 0 0 7 0 1 0 8 0 0 1 9\n0.5 0 -1 0 7 1 0 0 8 0 0 1 9\n");
    CHECK(ct_graph_variables(seq->graph) == 2 && seq->stamp[0] == 0.25 && seq->stamp[1] == 0.5);
    const ct_se3 pose = pose_at(seq, 1);
    CHECK(pose.x == 7 && pose.y == 8 && pose.z == 9);
    CHECK_NEAR(pose.qz, sqrt(0.5), 1e-15);
    ct_sequence_free(seq);
}

/* The nearest rotation to R + E is that from which no small turn goes nearer: R'(R + E) symmetric. */
static void test_a_rounded_matrix_becomes_the_nearest_rotation(void)
{
    ct_rng rng = ct_rng_seed(8);
    for (int trial = 0; trial < 50; trial++) {
        double M[9], R[9];
        char   text[512];
        random_rotation(&rng, M);
        for (int i = 0; i < 9; i++) M[i] += 1e-4 * (2 * ct_rng_uniform(&rng) - 1);
        snprintf(text, sizeof text, "%.17g %.17g %.17g 0 %.17g %.17g %.17g 0 %.17g %.17g %.17g 0\n", M[0], M[1], M[2],
                 M[3], M[4], M[5], M[6], M[7], M[8]);
        ct_sequence *seq = get(CT_FORMAT_KITTI, text);
        ct_so3_matrix(ct_se3_rotation(pose_at(seq, 0)), R);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < i; j++) {
                double a = 0, b = 0;
                for (int k = 0; k < 3; k++) a += R[3 * k + i] * M[3 * k + j], b += R[3 * k + j] * M[3 * k + i];
                CHECK_NEAR(a, b, 1e-14);
            }
        ct_sequence_free(seq);
    }
}

static void test_the_ground_truth_of_kitti_is_read(void)
{
    const char *path = "../shared/data/kitti/gt_00.txt";
    if (access(path, R_OK)) path = "../../shared/data/kitti/gt_00.txt";
    if (access(path, R_OK)) SKIP("the shared data are not here");
    ct_noise    *noise = NULL;
    ct_sequence *seq = NULL;
    ct_err       err = {0};
    CHECK_OK(ct_noise_new(&noise, &err), err);
    CHECK_OK(ct_sequence_read(path, CT_FORMAT_AUTO, noise, &seq, &err), err);
    ct_noise_free(noise);
    CHECK(ct_graph_variables(seq->graph) == 4541);
    CHECK(seq->stamp[1] == 0.1037359 && pose_at(seq, 1).z == 0.8586941);
    ct_sequence_free(seq);
}

/* ---- What is refused ------------------------------------------------------------------------- */

static void test_bad_lines_are_refused_with_their_number(void)
{
    static const struct {
        ct_format   format;
        const char *text, *part;
    } bad[] = {
        {CT_FORMAT_TUM, "", "t.txt: no poses"},
        {CT_FORMAT_TUM, "# nothing\n", "t.txt: no poses"},
        {CT_FORMAT_TUM, "0 1 2 3 0 0 0 1\n1 1 2 3 0 0 0\n",
         "t.txt:2: a TUM pose is 8 numbers (time x y z qx qy qz qw); found 7"},
        {CT_FORMAT_TUM, "0 1 2 x 0 0 0 1\n", "t.txt:1: expected a finite number for a coordinate, found \"x\""},
        {CT_FORMAT_TUM, "0 1 2 nan 0 0 0 1\n", "t.txt:1: expected a finite number"},
        {CT_FORMAT_TUM, "t 1 2 3 0 0 0 1\n", "for a time, found \"t\""},
        {CT_FORMAT_TUM, "0 1 2 3 0 0 0 0\n", "t.txt:1: not a rotation: the quaternion's length is 0"},
        {CT_FORMAT_TUM, "0 1 2 3 0 0 0 1.01\n", "length is 1.01"},
        {CT_FORMAT_KITTI, "\n", "t.txt: no poses"},
        {CT_FORMAT_KITTI, "1 0 0 0 0 1 0 0 0 0 1\n",
         "t.txt:1: a KITTI pose is 12 numbers, or 13 with a time before them; found 11"},
        {CT_FORMAT_KITTI, "1 0 0 0 0 1 0 0 0 0 1 0\n0 1 0 0 0 0 1 0 0 0 0 1 0\n",
         "t.txt:2: 13 numbers, the lines before have 12"},
        {CT_FORMAT_KITTI, "1 0 0 0 0 1 0 0 0 0 1.01 0\n",
         "t.txt:1: not a rotation: R R' is off the identity by 0.0201"},
        {CT_FORMAT_KITTI, "1e300 0 0 0 0 1 0 0 0 0 1 0\n", "not a rotation"},
        {CT_FORMAT_KITTI, "1 0 0 0 0 1 0 0 0 0 -1 0\n", "t.txt:1: not a rotation but a reflection"},
        {CT_FORMAT_KITTI, "1 0 0 z 0 1 0 0 0 0 1 0\n", "for an entry of [R t], found \"z\""},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        run r;
        CHECK_REFUSED(read_text(&r, bad[i].format, bad[i].text), r.err, bad[i].part);
        CHECK(r.seq == NULL && r.err.status == CT_E_PARSE);
        run_free(&r);
    }
}

static void test_what_a_trajectory_cannot_hold_is_refused_or_counted(void)
{
    run          r = {.seq = random_trajectory(3, 1)};
    ct_graph    *g = r.seq->graph;
    const double z[7] = {0, 0, 0, 0, 0, 0, 1}, point[2] = {0};
    CHECK_OK(ct_noise_new(&r.noise, &r.err), r.err);
    check_losses(&r, CT_FORMAT_KITTI, 3, "variable x0: a KITTI trajectory has no place for its time");
    CHECK_OK(ct_noise_add_isotropic(r.noise, "odom", 6, 1, NULL, &r.err), r.err);
    CHECK_OK(ct_graph_add_between(g, 0, 1, z, 0, &r.err), r.err);
    check_losses(&r, CT_FORMAT_TUM, 1, "factor 0: a trajectory has no place for between_se3");
    r.seq->stamp = realloc(r.seq->stamp, 4 * sizeof *r.seq->stamp);
    r.seq->stamp[3] = r.seq->stamp[2] = NAN;
    CHECK_OK(ct_graph_add_variable(g, "l0", CT_R2, point, NULL, &r.err), r.err);
    check_losses(&r, CT_FORMAT_TUM, 3, "variable l0: a trajectory has no place for R2");
    ct_graph_fix(g, 0, 1);
    check_losses(&r, CT_FORMAT_TUM, 4, "variable x0: a trajectory cannot mark it as fixed");
    char        *text = write_text(&r, CT_FORMAT_TUM, NULL, 1, NULL);
    ct_sequence *again = get(CT_FORMAT_TUM, text);
    CHECK(ct_graph_variables(again->graph) == 2);
    free(text);
    ct_sequence_free(again);
    run_free(&r);
}

static void test_a_truth_is_lost_only_where_it_differs(void)
{
    run r;
    CHECK_OK(read_text(&r, CT_FORMAT_TUM, "0 1 2 3 0 0 0 1\n1 1 2 3 0 0 0 1\n"), r.err);
    char *text = write_text(&r, CT_FORMAT_TUM, NULL, 0, NULL);
    CHECK(text != NULL);
    free(text);
    ct_graph_initial(r.seq->graph)[7] += 1;
    check_losses(&r, CT_FORMAT_TUM, 1, "variable x1: a trajectory has no place for its true value beside another");
    run_free(&r);
}

static void test_a_pose_in_the_plane_is_written_in_space(void)
{
    ct_sequence *seq = NULL;
    ct_err       err = {0};
    CHECK_OK(ct_sequence_new(NULL, &seq, &err), err);
    for (int i = 0; i < 20; i++) {
        const ct_se2 a = ct_se2_make(i, 2 * i, 0.3 * i);
        CHECK_OK(ct_graph_add_variable(seq->graph, NULL, CT_SE2, &a.x, NULL, &err), err);
    }
    for (int k = 0; k < 2; k++) {
        const ct_format format = k ? CT_FORMAT_TUM : CT_FORMAT_KITTI;
        ct_sequence *again = through_file(seq, format);
        for (int i = 0; i < 20; i++) {
            const ct_se3 pose = pose_at(again, i);
            const double axis[3] = {1, 0, 0};
            double       turned[3];
            ct_so3_act(ct_se3_rotation(pose), axis, turned, NULL, NULL);
            CHECK(pose.x == i && pose.y == 2 * i && pose.z == 0);
            CHECK_NEAR(turned[0], cos(0.3 * i), 1e-15);
            CHECK_NEAR(turned[1], sin(0.3 * i), 1e-15);
        }
        ct_sequence_free(again);
    }
    ct_sequence_free(seq);
}

int main(void)
{
    RUN(test_a_tum_file_is_poses_with_times);
    RUN(test_a_written_tum_file_is_read_back_to_the_bit);
    RUN(test_without_times_tum_counts_poses);
    RUN(test_a_written_kitti_file_is_read_back_to_rounding);
    RUN(test_a_leading_thirteenth_number_is_the_time);
    RUN(test_a_rounded_matrix_becomes_the_nearest_rotation);
    RUN(test_the_ground_truth_of_kitti_is_read);
    RUN(test_bad_lines_are_refused_with_their_number);
    RUN(test_what_a_trajectory_cannot_hold_is_refused_or_counted);
    RUN(test_a_truth_is_lost_only_where_it_differs);
    RUN(test_a_pose_in_the_plane_is_written_in_space);
    return ct_test_end();
}
