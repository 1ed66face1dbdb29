/* test_attach_truth.c: truth and times from another sequence. */
#define _XOPEN_SOURCE 700
#include <covtune/simulate.h>
#include "data_test.h"

/* ---- two sequences ---- */

static void read_or_end(run *r, ct_format format, const char *text)
{
    if (read_text(r, format, text) == CT_OK) return;
    fprintf(stderr, "%s\n", r->err.text);
    exit(1);
}

/* Three poses in the plane and a point; x1 is fixed. */
static const char PLANE[] =
    "covtune-sequence 1\nvar x0 SE2 0 0 0 t=10\nvar x1 SE2 5 6 1 t=11 fixed\nvar l R2 1 1\nvar x2 SE2 2 0 0 t=12\n";
/* Four in space, turned by 0, 0.2, ... about z, at other times. */
static const char TUM[] = "9.99 1 2 3 0 0 0 1\n10.5 1.5 2 3 0 0 0 1\n11.01 2 2 3 0 0 0.09983341664682815 "
                          "0.9950041652780258\n12.004 3 2 3 0 0 0.19866933079506122 0.9800665778412416\n";

static ct_status attach(run *r, run *truth, ct_attach_options how, ct_attach_result *found)
{
    r->err.text[0] = 0;
    return ct_sequence_attach_truth(r->seq, truth ? truth->seq : NULL, &how, found, &r->err);
}

static const double *truth_of(const run *r, const char *name)
{
    return r->seq->truth + ct_graph_offset(r->seq->graph, ct_graph_find(r->seq->graph, name));
}

static unsigned known_of(const run *r, const char *name) { return r->seq->known[ct_graph_find(r->seq->graph, name)]; }

static void refused(run *r, run *truth, ct_attach_options how, const char *words)
{
    const double *before = r->seq->truth;
    CHECK_REFUSED(attach(r, truth, how, NULL), r->err, words);
    CHECK(r->seq->truth == before);
}

/* ---- which is whose ---- */

static void test_by_time_the_nearest_within_the_tolerance_counts(void)
{
    run               r, t;
    ct_attach_result  found;
    ct_attach_options how = ct_attach_defaults();
    read_or_end(&r, CT_FORMAT_COVTUNE, PLANE);
    read_or_end(&t, CT_FORMAT_TUM, TUM);
    CHECK_OK(attach(&r, &t, how, &found), r.err);
    CHECK(found.by == CT_ATTACH_TIME && found.matched == 3 && found.poses == 3 && found.points == 0 &&
          found.first == 0 && !found.unturned);
    CHECK_NEAR(found.gap_s, 0.01, 1e-12);
    CHECK(truth_of(&r, "x0")[0] == 1 && truth_of(&r, "x1")[0] == 2 && truth_of(&r, "x2")[0] == 3 &&
          known_of(&r, "l") == 0);
    how.tolerance_s = 0.005;
    CHECK_OK(attach(&r, &t, how, &found), r.err);
    CHECK(found.matched == 1 && known_of(&r, "x0") == 0 && known_of(&r, "x2") == 7 &&
          found.first == ct_graph_find(r.seq->graph, "x2"));
    how.tolerance_s = 1e-4;
    refused(&r, &t, how,
            "by time: no pose is within 0.0001 s of a true one: the graph's poses are from 10 s to 12 s, the true ones "
            "from 9.99 s to 12.004 s");
    run_free(&r);
    read_or_end(&r, CT_FORMAT_COVTUNE, "covtune-sequence 1\nvar x0 SE2 0 0 0\n");
    how.by = CT_ATTACH_TIME;
    refused(&r, &t, how, "no pose of the graph has a time");
    run_free(&r);
    run_free(&t);
}

/* Against the plain search over all, with times that repeat. */
static void test_the_nearest_time_is_that_of_a_search_over_all(void)
{
    ct_rng rng = ct_rng_seed(3);
    run    r, t;
    char   text[8000] = "covtune-sequence 1\n", truth[8000] = "covtune-sequence 1\n";
    double at[40], true_at[40];
    for (int i = 0; i < 40; i++) {
        at[i] = floor(100 * ct_rng_uniform(&rng)) / 10;
        true_at[i] = floor(60 * ct_rng_uniform(&rng)) / 6;
        sprintf(text + strlen(text), "var a%d SE2 0 0 0 t=%.17g\n", i, at[i]);
        sprintf(truth + strlen(truth), "var b%d SE2 %d 0 0 t=%.17g\n", i, i, true_at[i]);
    }
    read_or_end(&r, CT_FORMAT_COVTUNE, text);
    read_or_end(&t, CT_FORMAT_COVTUNE, truth);
    ct_attach_options how = ct_attach_defaults();
    how.tolerance_s = 0.1;
    CHECK_OK(attach(&r, &t, how, NULL), r.err);
    for (int i = 0; i < 40; i++) {
        double least = INFINITY;
        for (int j = 0; j < 40; j++) least = fmin(least, fabs(true_at[j] - at[i]));
        CHECK((r.seq->known[i] == 7) == (least <= 0.1));
        if (r.seq->known[i]) CHECK_NEAR(fabs(true_at[(int)r.seq->truth[4 * i]] - at[i]), least, 0);
    }
    run_free(&r);
    run_free(&t);
}

static void test_by_index_there_must_be_as_many(void)
{
    run               r, t;
    ct_attach_options how = {.by = CT_ATTACH_INDEX};
    ct_attach_result  found;
    read_or_end(&r, CT_FORMAT_COVTUNE, PLANE);
    read_or_end(&t, CT_FORMAT_TUM, TUM);
    refused(&r, &t, how, "by index: the graph has 3 poses, the truth 4");
    run_free(&t);
    read_or_end(&t, CT_FORMAT_KITTI, "1 0 0 7 0 1 0 8 0 0 1 9\n1 0 0 8 0 1 0 8 0 0 1 9\n1 0 0 9 0 1 0 8 0 0 1 9\n");
    CHECK_OK(attach(&r, &t, how, &found), r.err);
    CHECK(found.by == CT_ATTACH_INDEX && found.matched == 3 && truth_of(&r, "x2")[0] == 9 && found.unturned);
    run_free(&r);
    run_free(&t);
}

static void test_by_name_points_take_part(void)
{
    run               r, t;
    ct_attach_options how = ct_attach_defaults();
    ct_attach_result  found;
    read_or_end(&r, CT_FORMAT_COVTUNE, "covtune-sequence 1\nvar x0 SE2 0 0 0\nvar x7 SE2 0 0 0\nvar x9 R2 1 1\n");
    read_or_end(&t, CT_FORMAT_G2O, "VERTEX_SE2 7 1 2 0.5\nVERTEX_XY 9 3 4\n");
    refused(&r, &t, how,
            "1 of the graph's 2 poses have names of the other file's 1; choose whether to match by name");
    how.by = CT_ATTACH_NAME;
    CHECK_OK(attach(&r, &t, how, &found), r.err);
    CHECK(found.by == CT_ATTACH_NAME && found.matched == 1 && found.poses == 2 && found.points == 1 &&
          known_of(&r, "x0") == 0 && known_of(&r, "x7") == 7 && known_of(&r, "x9") == 3);
    CHECK(truth_of(&r, "x9")[1] == 4 && truth_of(&r, "x7")[2] == cos(0.5) && found.first == 1);
    run_free(&t);
    read_or_end(&t, CT_FORMAT_G2O, "VERTEX_SE2 1 1 2 0.5\n");
    refused(&r, &t, how,
            "by name: no variable is called as one of the other file: the graph's are from x0 to x9, the other file's "
            "from x1 to x1");
    run_free(&t);
    read_or_end(&t, CT_FORMAT_G2O, "VERTEX_SE2 9 1 2 0.5\n");
    refused(&r, &t, how, "variable x9 is R2, its truth SE2, which does not tell");
    run_free(&r);
    run_free(&t);
}

static void test_truth_of_a_sequence_comes_before_its_values(void)
{
    run               r, t;
    ct_attach_options how = {.by = CT_ATTACH_NAME};
    read_or_end(&r, CT_FORMAT_COVTUNE, PLANE);
    read_or_end(&t, CT_FORMAT_COVTUNE,
                "covtune-sequence 1\nvar x0 SE2 1 1 1\ntruth x0 2 2 2 known=y\nvar x1 SE2 1 1 1\n");
    CHECK_OK(attach(&r, &t, how, NULL), r.err);
    CHECK(truth_of(&r, "x0")[0] == 2 && known_of(&r, "x0") == 2 && known_of(&r, "x1") == 0);
    CHECK_OK(attach(&r, NULL, how, NULL), r.err); /* its own values, and the truth before is gone */
    CHECK(known_of(&r, "x0") == 7 && known_of(&r, "l") == 3 &&
          same_bits(r.seq->truth, ct_graph_initial_const(r.seq->graph), ct_graph_size(r.seq->graph)));
    run_free(&r);
    run_free(&t);
}

/* ---- kinds and coordinates ---- */

static void test_a_pose_in_the_plane_takes_x_y_and_yaw(void)
{
    run               r, t;
    ct_attach_options how = {.by = CT_ATTACH_NAME};
    double            w[3] = {0.1, -0.2, 2}, R[9];
    char              text[300];
    const ct_so3      q = ct_so3_exp(w);
    ct_so3_matrix(q, R);
    read_or_end(&r, CT_FORMAT_COVTUNE, "covtune-sequence 1\nvar x0 SE2 0 0 0\n");
    sprintf(text, "0 1 2 3 %.17g %.17g %.17g %.17g\n", q.x, q.y, q.z, q.w);
    read_or_end(&t, CT_FORMAT_TUM, text);
    CHECK_OK(attach(&r, &t, how, NULL), r.err);
    CHECK_NEAR(atan2(r.seq->truth[3], r.seq->truth[2]), atan2(R[3], R[0]), 1e-12);
    CHECK(r.seq->truth[0] == 1 && r.seq->truth[1] == 2 && r.seq->known[0] == 7);
    run_free(&t);
    read_or_end(&t, CT_FORMAT_TUM, "0 1 2 3 0.7071067811865476 0 0 0.7071067811865476\n"); /* on its side */
    refused(&r, &t, how, "variable x0: its truth is tilted by more than 60 degrees");
    how.known = "x,y";
    CHECK_OK(attach(&r, &t, how, NULL), r.err);
    CHECK(r.seq->known[0] == 3);
    run_free(&r);
    read_or_end(&r, CT_FORMAT_COVTUNE, "covtune-sequence 1\nvar x0 SE3 0 0 0 0 0 0 1\n");
    run_free(&t);
    read_or_end(&t, CT_FORMAT_G2O, "VERTEX_SE2 0 1 2 0.5\n");
    how.known = NULL;
    refused(&r, &t, how, "variable x0 is SE3, its truth SE2, which does not tell");
    run_free(&r);
    run_free(&t);
}

static void test_known_names_coordinates_of_the_variables(void)
{
    run               r;
    ct_attach_options how = {.known = "x,y,z"};
    ct_attach_result  found;
    read_or_end(&r, CT_FORMAT_COVTUNE, PLANE);
    refused(&r, NULL, how, "\"z\" is no coordinate of the variables that have one; there are x, y, yaw; x, y");
    how.known = "x,,y";
    refused(&r, NULL, how, "\"\" is no coordinate");
    how.known = "yaw";
    CHECK_OK(attach(&r, NULL, how, &found), r.err);
    CHECK(known_of(&r, "x0") == 4 && known_of(&r, "l") == 0 && found.points == 0 && found.first == -1);
    how.known = "x,theta"; /* yaw, before 0.2 */
    CHECK_OK(attach(&r, NULL, how, &found), r.err);
    CHECK(known_of(&r, "x0") == 5);
    how.known = "a_coordinate_of_a_name_far_too_long";
    refused(&r, NULL, how, "\"a_coordinate_of_a_name_far_too_long\" is no coordinate");
    run_free(&r);
    read_or_end(&r, CT_FORMAT_COVTUNE, "covtune-sequence 1\nvar x0 SE3 0 0 0 0 0 0 1\n");
    how.known = "x,rz";
    refused(&r, NULL, how, "rx, ry and rz count together");
    how.known = "x,y,z";
    CHECK_OK(attach(&r, NULL, how, NULL), r.err);
    CHECK(r.seq->known[0] == 56);
    how.known = "all";
    CHECK_OK(attach(&r, NULL, how, NULL), r.err);
    CHECK(r.seq->known[0] == 63);
    run_free(&r);
}

/* KITTI: X = (t_z, -t_x), yaw = atan2(-R13, R33). */
static void test_a_camera_s_axes_become_a_body_s(void)
{
    run               r, t;
    ct_attach_options how = {.by = CT_ATTACH_NAME, .camera = 1};
    read_or_end(&r, CT_FORMAT_COVTUNE, "covtune-sequence 1\nvar x0 SE2 0 0 0\n");
    read_or_end(&t, CT_FORMAT_KITTI, "0 0 -1 5 0 1 0 0.5 1 0 0 7\n"); /* looks along -x: to the left */
    CHECK_OK(attach(&r, &t, how, NULL), r.err);
    CHECK_NEAR(r.seq->truth[0], 7, 1e-15);
    CHECK_NEAR(r.seq->truth[1], -5, 1e-15);
    CHECK_NEAR(atan2(r.seq->truth[3], r.seq->truth[2]), acos(-1) / 2, 1e-15);
    run_free(&t);
    read_or_end(&t, CT_FORMAT_G2O, "VERTEX_SE2 0 1 2 0.5\n");
    refused(&r, &t, how, "a camera's axes are those of SE3 and R3, it is SE2");
    run_free(&t);
    run_free(&r);
    read_or_end(&r, CT_FORMAT_COVTUNE, "covtune-sequence 1\nvar a R3 0 0 0\n");
    read_or_end(&t, CT_FORMAT_COVTUNE, "covtune-sequence 1\nvar a R3 0 0 0\ntruth a 1 2 3 known=z\n");
    CHECK_OK(attach(&r, &t, how, NULL), r.err);
    CHECK(r.seq->truth[0] == 3 && r.seq->truth[1] == -1 && r.seq->truth[2] == -2 && r.seq->known[0] == 1);
    run_free(&r);
    run_free(&t);
}

/* ---- frames ---- */

/* g <- x0 g0^-1 g: what is between two true poses stays, and the anchor is where the graph has it. */
static void test_aligned_truth_begins_where_the_graph_does(void)
{
    run               r, t;
    ct_attach_options how = {.by = CT_ATTACH_NAME, .align = 1};
    read_or_end(&r, CT_FORMAT_COVTUNE, PLANE);
    read_or_end(&t, CT_FORMAT_COVTUNE,
                "covtune-sequence 1\nvar x0 SE2 1 2 3\nvar x1 SE2 3 -4 0.5\nvar x2 SE2 0 1 -2\nvar l R2 7 8\n");
    CHECK_OK(attach(&r, &t, how, NULL), r.err);
    CHECK(same_bits(truth_of(&r, "x1"), ct_graph_initial_const(r.seq->graph) + 4, 4)); /* the fixed one */
    const double *was = ct_graph_initial_const(t.seq->graph);
    double        before[3], after[3];
    ct_kind_local(CT_SE2, was, was + 8, before);
    ct_kind_local(CT_SE2, truth_of(&r, "x0"), truth_of(&r, "x2"), after);
    for (int i = 0; i < 3; i++) CHECK_NEAR(before[i], after[i], 1e-12);
    const double *x0 = truth_of(&r, "x0"), *l = truth_of(&r, "l");
    CHECK_NEAR(hypot(l[0] - x0[0], l[1] - x0[1]), hypot(was[12] - was[0], was[13] - was[1]), 1e-12);
    how.known = "x,y";
    refused(&r, &t, how, "cannot be moved to where the graph begins: of no pose it is known in full");
    run_free(&t);
    read_or_end(&t, CT_FORMAT_COVTUNE,
                "covtune-sequence 1\nvar x0 SE2 1 2 3\ntruth x0 1 2 3\nvar x2 SE2 0 1 -2\ntruth x2 0 1 -2 known=x\n");
    how.known = NULL;
    refused(&r, &t, how, "variable x2: a truth whose position is known in part cannot be moved");
    run_free(&r);
    run_free(&t);
    read_or_end(&r, CT_FORMAT_COVTUNE,
                "covtune-sequence 1\nvar x0 SE3 1 0 0 0 0 0 1\nvar x1 SE3 0 0 0 0 0 0 1\nvar p R3 0 0 0\n");
    read_or_end(&t, CT_FORMAT_COVTUNE,
                "covtune-sequence 1\nvar x0 SE3 0 0 0 0 0 0.7071067811865476 0.7071067811865476\nvar x1 SE3 0 2 0 0 0 "
                "0 1\nvar p R3 0 3 1\n");
    CHECK_OK(attach(&r, &t, how, NULL), r.err);
    CHECK_NEAR(truth_of(&r, "x1")[0], 3, 1e-12);
    CHECK_NEAR(truth_of(&r, "x1")[1], 0, 1e-12);
    CHECK_NEAR(truth_of(&r, "p")[0], 4, 1e-12);
    CHECK_NEAR(truth_of(&r, "p")[2], 1, 1e-12);
    run_free(&r);
    run_free(&t);
}

static void test_truth_of_a_world_comes_back_through_a_trajectory(void)
{
    run              r = {0}, t, g;
    ct_pose_graph_options world = ct_pose_graph_defaults(CT_SE3);
    world.poses = 50;
    CHECK(ct_noise_new(&r.noise, &r.err) == CT_OK);
    CHECK_OK(ct_simulate_pose_graph(&world, r.noise, &r.seq, &r.err), r.err);
    char *tum = write_text(&r, CT_FORMAT_TUM, r.seq->truth, 1, NULL),
         *g2o = write_text(&r, CT_FORMAT_G2O, NULL, 1, NULL);
    read_or_end(&t, CT_FORMAT_TUM, tum);
    read_or_end(&g, CT_FORMAT_G2O, g2o);
    CHECK_OK(ct_sequence_attach_truth(g.seq, t.seq, NULL, NULL, &g.err), g.err);
    CHECK(same_bits(g.seq->truth, r.seq->truth, ct_graph_size(r.seq->graph)) &&
          !memcmp(g.seq->known, r.seq->known, 50));
    free(tum);
    free(g2o);
    run_free(&r);
    run_free(&t);
    run_free(&g);
}

/* ---- times ---- */

static void test_times_come_from_a_trajectory(void)
{
    run     r, t;
    int64_t matched = 0;
    read_or_end(&r, CT_FORMAT_G2O, "VERTEX_SE2 3 0 0 0\nVERTEX_SE2 8 0 0 0\nVERTEX_XY 4 0 0\n");
    read_or_end(&t, CT_FORMAT_TUM, "5 0 0 0 0 0 0 1\n6 0 0 0 0 0 0 1\n");
    CHECK_REFUSED(ct_sequence_attach_times(r.seq, t.seq, CT_ATTACH_AUTO, &matched, &r.err), r.err,
                  "no variable is called as one of the other file");
    CHECK_REFUSED(ct_sequence_attach_times(r.seq, t.seq, CT_ATTACH_TIME, &matched, &r.err), r.err,
                  "by index or by name");
    CHECK(!r.seq->stamp);
    CHECK_OK(ct_sequence_attach_times(r.seq, t.seq, CT_ATTACH_INDEX, &matched, &r.err), r.err);
    CHECK(matched == 2 && r.seq->stamp[0] == 5 && r.seq->stamp[1] == 6 && isnan(r.seq->stamp[2]));
    CHECK_REFUSED(ct_sequence_attach_times(t.seq, r.seq, CT_ATTACH_NAME, &matched, &r.err), r.err, "called as");
    free(r.seq->stamp);
    r.seq->stamp = NULL;
    CHECK_REFUSED(ct_sequence_attach_times(t.seq, r.seq, CT_ATTACH_INDEX, &matched, &r.err), r.err,
                  "no pose of it has a time");
    run_free(&r);
    run_free(&t);
}

int main(void)
{
    RUN(test_by_time_the_nearest_within_the_tolerance_counts);
    RUN(test_the_nearest_time_is_that_of_a_search_over_all);
    RUN(test_by_index_there_must_be_as_many);
    RUN(test_by_name_points_take_part);
    RUN(test_truth_of_a_sequence_comes_before_its_values);
    RUN(test_a_pose_in_the_plane_takes_x_y_and_yaw);
    RUN(test_known_names_coordinates_of_the_variables);
    RUN(test_a_camera_s_axes_become_a_body_s);
    RUN(test_aligned_truth_begins_where_the_graph_does);
    RUN(test_truth_of_a_world_comes_back_through_a_trajectory);
    RUN(test_times_come_from_a_trajectory);
    return ct_test_end();
}
