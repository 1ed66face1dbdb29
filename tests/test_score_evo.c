/* test_score_evo.c: figures of recorded trajectories are evo's. The trajectories and evo's figures lie beside the
 * project. */
#include "ct_test.h"

#include <covtune/covtune.h>
#include <jansson.h>

#define TOLERANCE 1e-6 /* absolute and relative */

static double number(const json_t *object, const char *key) { return json_number_value(json_object_get(object, key)); }

static void check_figures(const json_t *golden, const char *key, ct_error_figures f)
{
    const json_t *g = json_object_get(golden, key);
    const double pairs[][2] = {{number(g, "rmse"), f.rmse},
                               {number(g, "mean"), f.mean},
                               {number(g, "median"), f.median},
                               {number(g, "max"), f.max}};
    CHECK(g != NULL);
    for (int i = 0; g && i < 4; i++) CHECK_NEAR(pairs[i][1], pairs[i][0], TOLERANCE * fmax(1, fabs(pairs[i][0])));
}

static ct_trajectory *read_shared(const char *name)
{
    char path[256];
    ct_trajectory *t = NULL;
    ct_err err = {0};
    snprintf(path, sizeof path, "data/evo/%s.txt", name);
    const char *found = ct_test_shared(path);
    CHECK(found != NULL);
    if (found) CHECK_OK(ct_trajectory_read(found, NULL, &t, &err), err);
    return t;
}

static void check_pair(const json_t *golden)
{
    const char *pair = json_string_value(json_object_get(golden, "pair"));
    const int kitti = !strncmp(pair, "KITTI", 5);
    ct_trajectory *estimate = read_shared(pair);
    ct_trajectory *truth = read_shared(kitti ? "KITTI_00_gt" : "freiburg1_xyz-groundtruth");
    ct_score_options o = ct_score_defaults();
    ct_score score;
    ct_err err = {0};
    o.align = (ct_alignment)ct_alignment_find(json_string_value(json_object_get(golden, "align")));
    for (int metres = 0; metres < 2 && estimate && truth; metres++) {
        o.delta_unit = metres ? CT_DELTA_METRES : CT_DELTA_FRAMES;
        o.delta = metres ? number(json_object_get(golden, "rpe_metres_translation_m"), "delta") : 1;
        CHECK_OK(ct_score_trajectory(estimate, truth, &o, &score, &err), err);
        CHECK(score.poses == (int64_t)number(golden, "poses"));
        if (json_object_get(golden, "scale")) CHECK_NEAR(score.scale, number(golden, "scale"), TOLERANCE);
        check_figures(golden, "ape_translation_m", score.ape_translation);
        check_figures(golden, "ape_rotation_rad", score.ape_rotation);
        check_figures(golden, metres ? "rpe_metres_translation_m" : "rpe_1_frame_translation_m", score.rpe_translation);
        check_figures(golden, metres ? "rpe_metres_rotation_rad" : "rpe_1_frame_rotation_rad", score.rpe_rotation);
    }
    CHECK(estimate && estimate->timed == !kitti && estimate->rotations && !estimate->planar);
    ct_trajectory_free(estimate);
    ct_trajectory_free(truth);
}

static void test_figures_are_those_of_evo(void)
{
    const char *path = ct_test_shared("golden/evo.json");
    json_t *all = path ? json_load_file(path, 0, NULL) : NULL;
    if (!all) SKIP("no ../shared/golden/evo.json");
    CHECK(json_array_size(all) == 9);
    for (size_t i = 0; i < json_array_size(all); i++) check_pair(json_array_get(all, i));
    json_decref(all);
}

/* ---- bags ---- */

static ct_trajectory *read_bag(const char *name, const char *topic, const char *each)
{
    char path[512];
    ct_trajectory *t = NULL;
    ct_err err = {0};
    ct_trajectory_options o = ct_trajectory_defaults();
    const char *base = ct_test_shared("data/evo/README.md");
    snprintf(path, sizeof path, "%.*s%s", base ? (int)(strlen(base) - strlen("README.md")) : 0, base ? base : "", name);
    o.source.topic = topic;
    o.source.each = each;
    CHECK_OK(ct_trajectory_read(path, &o, &t, &err), err);
    return t;
}

/* Transforms in a ROS 1 bag and in SQLite are the same; odometry and its filter have rotations, and the pose's
 * covariance where it is one. */
static void test_messages_with_poses(void)
{
    if (!ct_test_shared("data/evo/tf_example.bag")) SKIP("no ../shared/data/evo");
    ct_trajectory *a = read_bag("tf_example.bag", "/tf", "transforms"),
                  *b = read_bag("tf_example", "/tf", "transforms");
    ct_trajectory *odom = read_bag("nav2_turtlebot.mcap", "/odom", NULL);
    ct_trajectory *amcl = read_bag("nav2_turtlebot.mcap", "/amcl_pose", NULL);
    ct_score s;
    ct_err err = {0};
    CHECK(a && b && odom && amcl);
    if (a && b && odom && amcl) {
        CHECK(a->poses == 517 && a->rotations && a->timed && !a->covariance);
        CHECK_OK(ct_score_trajectory(a, b, NULL, &s, &err), err);
        CHECK(s.poses == 517 && s.ape_translation.max == 0 && s.ape_rotation.max == 0);
        CHECK(odom->poses == 2639 && odom->covariance_dim == 6 && amcl->poses == 135 && amcl->covariance_dim == 6);
        CHECK(amcl->covariance[6 * 3 + 3] > 0 && amcl->covariance[6 * 2 + 2] > 0); /* x, and the turn about z */
        ct_score_options o = ct_score_defaults();
        o.associate = CT_ASSOCIATE_INTERPOLATE;
        o.align = CT_ALIGNMENT_SE2;
        CHECK_OK(ct_score_trajectory(amcl, odom, &o, &s, &err), err);
        CHECK(s.poses == 134 && s.ape_rotation.max < 0.2); /* both are headings of one robot */
    }
    ct_trajectory_free(a);
    ct_trajectory_free(b);
    ct_trajectory_free(odom);
    ct_trajectory_free(amcl);
}

int main(void)
{
    RUN(test_figures_are_those_of_evo);
    RUN(test_messages_with_poses);
    return ct_test_end();
}
