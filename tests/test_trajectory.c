/* test_trajectory.c: trajectories from files of every kind hold the poses that were written, in the order of time. */
#include "score_test.h"

#include <covtune/covtune.h>

static ct_trajectory *read_text(const char *name, const char *text, const ct_trajectory_options *options)
{
    ct_trajectory *t = NULL;
    ct_err err = {0};
    CHECK_OK(ct_trajectory_read(write_text(name, text), options, &t, &err), err);
    return t;
}

static ct_status fail_text(const char *name, const char *text, const ct_trajectory_options *options, ct_err *err)
{
    ct_trajectory *t = (ct_trajectory *)err;
    const ct_status status = ct_trajectory_read(write_text(name, text), options, &t, err);
    CHECK(status != CT_OK && t == NULL);
    return status;
}

static void check_pose(const ct_trajectory *t, int64_t i, ct_ns stamp, ct_se3 want)
{
    CHECK(t && i < t->poses);
    if (!t || i >= t->poses) return;
    CHECK(t->stamp[i] == stamp);
    const ct_se3 p = t->pose[i];
    CHECK_NEAR(p.x, want.x, 1e-12);
    CHECK_NEAR(p.y, want.y, 1e-12);
    CHECK_NEAR(p.z, want.z, 1e-12);
    double w[3];
    ct_so3_log(ct_so3_between(ct_se3_rotation(want), ct_se3_rotation(p), NULL, NULL), w);
    CHECK_NEAR(fabs(w[0]) + fabs(w[1]) + fabs(w[2]), 0, 1e-9);
}

/* ---- formats ---- */

static void test_tum(void)
{
    ct_trajectory *t =
        read_text("a.tum", "# t x y z q\n1305031102.1758 1 2 3 0 0 0.6 0.8\n1305031102.2 2 2 3 0 0 0 1\n", NULL);
    CHECK(t && t->poses == 2 && t->timed && t->rotations && !t->planar && !t->covariance && !t->dropped);
    check_pose(t, 0, INT64_C(1305031102175800000), (ct_se3){1, 2, 3, 0, 0, 0.6, 0.8});
    ct_trajectory_free(t);
}

static void test_euroc(void)
{
    ct_trajectory *t =
        read_text("a.csv",
                  "#timestamp, p_RS_R_x [m], p_RS_R_y [m], p_RS_R_z [m], q_RS_w [], q_RS_x [], q_RS_y [], q_RS_z [], "
                  "v_RS_R_x [m s^-1]\n"
                  "1403636580838555648,4.5,-1.5,0.75,0.8,0.6,0,0,0.1\n1403636580843555328,4.6,-1.5,0.75,1,0,0,0,0.1\n",
                  NULL);
    CHECK(t && t->poses == 2 && t->timed && t->rotations);
    check_pose(t, 0, INT64_C(1403636580838555648), (ct_se3){4.5, -1.5, 0.75, 0.6, 0, 0, 0.8});
    ct_trajectory_free(t);
}

static void test_kitti_has_no_times(void)
{
    const char *text = "1 0 0 1 0 1 0 2 0 0 1 3\n0 -1 0 4 1 0 0 5 0 0 1 6\n";
    ct_trajectory *t = read_text("a.txt", text, NULL);
    const double half = sqrt(0.5);
    CHECK(t && t->poses == 2 && !t->timed && t->rotations);
    check_pose(t, 1, SECOND, (ct_se3){4, 5, 6, 0, 0, half, half});
    ct_trajectory_free(t);
    ct_trajectory_options o = ct_trajectory_defaults();
    o.camera = 1;
    t = read_text("a.txt", text, &o);
    /* ahead is z, left is -x, up is -y; a turn about the camera's z is one about the robot's x */
    check_pose(t, 0, 0, (ct_se3){3, -1, -2, 0, 0, 0, 1});
    check_pose(t, 1, SECOND, (ct_se3){6, -4, -5, half, 0, 0, half});
    ct_trajectory_free(t);
}

/* Editors of Windows begin a file with one. Its format was then not known by its numbers. */
static void test_a_byte_order_mark_hides_no_format(void)
{
    static const char *const TEXTS[] = {"0 1 2 3 0 0 0 1\n1 2 2 3 0 0 0 1\n", "1 0 0 1 0 1 0 2 0 0 1 3\n",
                                        "#timestamp [ns],x [m],y [m],z [m],qw [],qx [],qy [],qz []\n"
                                        "1403636580838555648,1,2,3,1,0,0,0\n"};
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++) {
        char marked[200];
        snprintf(marked, sizeof marked, "\xef\xbb\xbf%s", TEXTS[i]);
        ct_trajectory *t = read_text("a.txt", marked, NULL);
        CHECK(t && t->rotations && t->timed == (i != 1));
        if (t) check_pose(t, 0, t->stamp[0], (ct_se3){1, 2, 3, 0, 0, 0, 1});
        ct_trajectory_free(t);
    }
}

static void test_tables_by_name_with_units(void)
{
    ct_trajectory *t =
        read_text("a.csv", "time [ms],x [mm],y [cm],yaw [deg],speed\n1000,1500,-50,90,7\n2000,0,0,0,7\n", NULL);
    CHECK(t && t->poses == 2 && t->timed && t->rotations && t->planar);
    check_pose(t, 0, SECOND, planar_pose(1.5, -0.5, acos(0)));
    ct_trajectory_free(t);
    t = read_text("a.csv", "x,y,z\n1,2,3\n4,5,6\n", NULL);
    CHECK(t && t->poses == 2 && !t->timed && !t->rotations && !t->planar);
    check_pose(t, 1, SECOND, (ct_se3){4, 5, 6, 0, 0, 0, 1});
    ct_trajectory_free(t);
}

static void test_tables_by_number(void)
{
    ct_trajectory_options o = ct_trajectory_defaults();
    o.source.time = "#1";
    o.position[0] = "#3 in km";
    o.position[1] = "-#2";
    o.yaw = "#4 in deg";
    ct_trajectory *t = read_text("a.dat", "5 2 1 180\n6 2 1 0\n", &o);
    CHECK(t && t->planar && t->rotations && t->timed);
    check_pose(t, 0, 5 * SECOND, planar_pose(1000, -2, 2 * acos(0)));
    ct_trajectory_free(t);
}

/* What RTKLIB writes: dates in two columns, or week and seconds. */
static void test_rtklib(void)
{
    const char *text =
        "% program   : rnx2rtkp ver.2.4.3\n% ref pos   : -3957205.6370  3310203.0890  3737911.9070\n%\n"
        "%  GPST                      x-ecef(m)      y-ecef(m)      z-ecef(m)   Q  ns   sdx(m)   sdy(m)   sdz(m)\n"
        "2005/04/02 00:00:00.000  -3976219.1234   3382372.5000   3652513.0539   2   7   0.1   0.2   0.3\n"
        "2005/04/02 00:00:30.500  -3976219.5000   3382372.5000   3652513.0539   2   7   0.1   0.2   0.3\n";
    ct_trajectory_options o = ct_trajectory_defaults();
    const char *const column[] = {"#3", "#4", "#5"}, *const sigma[] = {"#8 ^ 2", "#9 ^ 2", "#10 ^ 2"};
    memcpy(o.position, column, sizeof column);
    memcpy(o.covariance, sigma, sizeof sigma);
    o.covariances = 3;
    o.source.time = "#1";
    ct_trajectory *t = read_text("a.pos", text, &o);
    CHECK(t && t->poses == 2 && t->timed && !t->rotations && t->covariance_dim == 3);
    check_pose(t, 0, INT64_C(1112400000) * SECOND, (ct_se3){-3976219.1234, 3382372.5, 3652513.0539, 0, 0, 0, 1});
    if (t) CHECK(t->stamp[1] - t->stamp[0] == 30500000000);
    if (t) CHECK_NEAR(t->covariance[9 + 4], 0.04, 1e-15);
    ct_trajectory_free(t);
    o.source.time = "#1 * 604800 + #2";
    o.covariances = 0;
    t = read_text("a.pos", "%  GPST  x\n1316 518400.000 1 2 3 2 7\n1316 518430.250 1 2 3 2 7\n", &o);
    check_pose(t, 1, (INT64_C(1316) * 604800 + 518430) * SECOND + SECOND / 4, (ct_se3){1, 2, 3, 0, 0, 0, 1});
    ct_trajectory_free(t);
}

/* The Earth's axes: the pole is at b = a (1 - f), the point (0, 90 deg, 100 m) at y = a + 100; a surveyed station. */
static void test_geodetic_positions(void)
{
    ct_trajectory_options o = ct_trajectory_defaults();
    const char *const column[] = {"#1", "#2", "#3"};
    memcpy(o.position, column, sizeof column);
    o.geodetic = 1;
    ct_trajectory *t = read_text("a.dat", "90 0 0\n0 90 100\n35.160874 139.613706 70.0\n", &o);
    CHECK(t && t->poses == 3);
    if (t) {
        CHECK_NEAR(t->pose[0].z, 6356752.3142, 1e-3);
        CHECK_NEAR(t->pose[1].y, 6378237, 1e-6);
        /* back: tan(lat) = z / (p (1 - e2 N / (N + h))) by iteration */
        const double p = hypot(t->pose[2].x, t->pose[2].y), e2 = 0.00669437999014;
        double lat = atan2(t->pose[2].z, p), h = 0;
        for (int k = 0; k < 20; k++) {
            const double N = 6378137 / sqrt(1 - e2 * sin(lat) * sin(lat));
            h = p / cos(lat) - N;
            lat = atan2(t->pose[2].z, p * (1 - e2 * N / (N + h)));
        }
        CHECK_NEAR(lat * 180 / acos(-1), 35.160874, 1e-10);
        CHECK_NEAR(h, 70, 1e-6);
        CHECK_NEAR(atan2(t->pose[2].y, t->pose[2].x) * 180 / acos(-1), 139.613706, 1e-10);
    }
    ct_trajectory_free(t);
}

/* ---- graphs ---- */

static void test_graphs(void)
{
    ct_trajectory *t =
        read_text("a.g2o", "VERTEX_SE2 0 1 2 0.5\nVERTEX_SE2 1 2 2 1\nEDGE_SE2 0 1 1 0 0.5 1 0 0 1 0 1\n", NULL);
    CHECK(t && t->poses == 2 && t->planar && t->rotations && !t->timed);
    check_pose(t, 1, SECOND, planar_pose(2, 2, 1));
    ct_trajectory_free(t);
}

/* A simulated log: its truth, and with `estimate` its values. */
static void test_sequences_have_truth_and_values(void)
{
    ct_noise *noise = NULL;
    ct_graph *graph = NULL;
    ct_sequence *seq = NULL;
    ct_err err = {0};
    int32_t v[2];
    CHECK_OK(ct_noise_new(&noise, &err), err);
    CHECK_OK(ct_graph_new(&graph, &err), err);
    const ct_se2 a = ct_se2_make(1, 2, 0.3), b = ct_se2_make(2, 3, 3.1);
    CHECK_OK(ct_graph_add_variable(graph, "x0", CT_SE2, &a.x, &v[0], &err), err);
    CHECK_OK(ct_graph_add_variable(graph, "x1", CT_SE2, &b.x, &v[1], &err), err);
    CHECK_OK(ct_sequence_new(graph, &seq, &err), err);
    seq->truth = calloc(8, sizeof(double));
    seq->known = calloc(2, 1);
    seq->stamp = calloc(2, sizeof(double));
    seq->stamp[0] = 10, seq->stamp[1] = 10.5;
    seq->known[0] = seq->known[1] = 7;
    const ct_se2 g[2] = {ct_se2_make(1.5, 2, 0.25), ct_se2_make(2, 2.5, -3)};
    memcpy(seq->truth, g, sizeof g);
    const char *path = scratch_path("a.ctseq");
    CHECK_OK(ct_sequence_write(seq, noise, NULL, CT_FORMAT_COVTUNE, 0, path, NULL, &err), err);
    for (int estimate = 0; estimate < 2; estimate++) {
        ct_trajectory_options o = ct_trajectory_defaults();
        ct_trajectory *t = NULL;
        o.estimate = estimate;
        CHECK_OK(ct_trajectory_read(path, &o, &t, &err), err);
        CHECK(t && t->poses == 2 && t->planar && t->timed && t->rotations);
        check_pose(t, 1, 10 * SECOND + SECOND / 2, estimate ? planar_pose(2, 3, 3.1) : planar_pose(2, 2.5, -3));
        ct_trajectory_free(t);
        o.body = "y";
        CHECK(ct_trajectory_read(path, &o, &t, &err) == CT_E_ARGUMENT && strstr(err.text, "there is x"));
    }
    ct_sequence_free(seq);
    ct_noise_free(noise);
}

/* ---- order, missing values ---- */

static void test_unsorted_records_are_sorted_and_counted_and_of_equal_stamps_the_last_counts(void)
{
    ct_trajectory *t = read_text("a.csv", "t,x,y\n3,3,0\n1,1,0\n2,9,9\n2,2,0\n4,4,0\n", NULL);
    CHECK(t && t->poses == 4 && t->reordered == 1 && t->dropped == 1);
    for (int i = 0; t && i < 4; i++) check_pose(t, i, (i + 1) * SECOND, (ct_se3){i + 1, 0, 0, 0, 0, 0, 1});
    ct_trajectory_free(t);
}

static void test_what_is_not_finite_is_dropped_and_counted(void)
{
    ct_trajectory *t = read_text("a.txt",
                                 "1 nan nan nan nan nan nan nan\n2 -nan -nan -nan -nan -nan -nan -nan(ind)\n"
                                 "3 1 2 3 0 0 0 1\n4 inf 0 0 0 0 0 1\n6 1 2 3 0 0 0 1\n",
                                 NULL);
    CHECK(t && t->poses == 2 && t->dropped == 3 && t->timed);
    check_pose(t, 1, 6 * SECOND, (ct_se3){1, 2, 3, 0, 0, 0, 1});
    ct_trajectory_free(t);
    ct_trajectory_options o = ct_trajectory_defaults();
    o.source.format = CT_SOURCE_TUM; /* a quaternion of zeros was never set */
    t = read_text("a.txt", "1 0 0 0 0 0 0 0\n2 1 2 3 0 0 0 1\n", &o);
    CHECK(t && t->poses == 1 && t->dropped == 1);
    ct_trajectory_free(t);
    ct_err err = {0};
    CHECK(fail_text("a.txt", "1 nan nan nan nan nan nan nan\n", NULL, &err) == CT_E_EMPTY);
    CHECK(strstr(err.text, "none of its 1 records"));
    const char *const empty[] = {"", "# only a comment\n", "%  GPST  x-ecef(m)\n", "\n\n"};
    o = ct_trajectory_defaults();
    o.position[0] = "#2", o.position[1] = "#3", o.source.time = "#1";
    for (int i = 0; i < 8; i++) {
        CHECK(fail_text("a.txt", empty[i / 2], i % 2 ? &o : NULL, &err) == CT_E_EMPTY);
        CHECK(strstr(err.text, "no records"));
    }
}

static void test_refusals(void)
{
    ct_err err = {0};
    ct_trajectory_options o = ct_trajectory_defaults();
    CHECK(fail_text("a.csv", "t,a,b\n1,2,3\n", NULL, &err) == CT_E_ARGUMENT && strstr(err.text, "t, a, b"));
    CHECK(fail_text("a.csv", "t,x,y,z,qx,qy,qz,qw\n1,2,3,4,0,0,0,0.5\n", NULL, &err) == CT_E_PARSE);
    CHECK(strstr(err.text, "a.csv:2") && strstr(err.text, "0.5"));
    o.position[0] = "x";
    CHECK(fail_text("a.csv", "t,x,y\n1,2,3\n", &o, &err) == CT_E_ARGUMENT && strstr(err.text, "two or three"));
    o.position[1] = "why";
    CHECK(fail_text("a.csv", "t,x,y\n1,2,3\n", &o, &err) == CT_E_ARGUMENT && strstr(err.text, "why"));
    o.position[1] = "y";
    o.quaternion[0] = "x";
    CHECK(fail_text("a.csv", "t,x,y\n1,2,3\n", &o, &err) == CT_E_ARGUMENT && strstr(err.text, "four"));
    o.quaternion[0] = NULL;
    o.covariances = 5;
    CHECK(fail_text("a.csv", "t,x,y\n1,2,3\n", &o, &err) == CT_E_ARGUMENT && strstr(err.text, "5"));
    o.covariances = 0;
    o.geodetic = 1;
    CHECK(fail_text("a.csv", "t,x,y\n1,2,3\n", &o, &err) == CT_E_ARGUMENT && strstr(err.text, "height"));
    o = ct_trajectory_defaults();
    o.matrix[0] = "x";
    CHECK(fail_text("a.csv", "t,x,y\n1,2,3\n", &o, &err) == CT_E_ARGUMENT && strstr(err.text, "12"));
    ct_trajectory *t = NULL;
    CHECK(ct_trajectory_read("no/such/file.tum", NULL, &t, &err) == CT_E_IO && !t);
    CHECK(ct_trajectory_new(-1, 0, &t, &err) == CT_E_ARGUMENT && !t);
    ct_trajectory_free(NULL);
}

/* ---- between stamps ---- */

static void test_poses_between_stamps(void)
{
    ct_trajectory *t = read_text("a.csv", "t,x,y,yaw\n0,0,0,3\n1,2,4,-3\n3,4,4,-3\n", NULL);
    ct_se3 p;
    double w[3];
    CHECK(t != NULL);
    if (!t) return;
    CHECK(ct_trajectory_at(t, SECOND, 0, &p) && p.x == 2);
    CHECK(ct_trajectory_at(t, SECOND / 4, 1, &p));
    CHECK_NEAR(p.x, 0.5, 1e-12);
    CHECK_NEAR(p.y, 1, 1e-12);
    const double pi = acos(-1), turn = 2 * pi - 6; /* from 3 to -3 through pi */
    ct_so3_log(ct_se3_rotation(p), w);
    CHECK_NEAR(w[2], 3 + turn / 4, 1e-12);
    CHECK(!ct_trajectory_at(t, -1, 10, &p) && !ct_trajectory_at(t, 3 * SECOND + 1, 10, &p));
    CHECK(!ct_trajectory_at(t, 2 * SECOND, 1.9, &p) && ct_trajectory_at(t, 2 * SECOND, 2, &p));
    CHECK_NEAR(p.x, 3, 1e-12);
    ct_trajectory_free(t);
}

int main(void)
{
    RUN(test_tum);
    RUN(test_euroc);
    RUN(test_kitti_has_no_times);
    RUN(test_a_byte_order_mark_hides_no_format);
    RUN(test_tables_by_name_with_units);
    RUN(test_tables_by_number);
    RUN(test_rtklib);
    RUN(test_geodetic_positions);
    RUN(test_graphs);
    RUN(test_sequences_have_truth_and_values);
    RUN(test_unsorted_records_are_sorted_and_counted_and_of_equal_stamps_the_last_counts);
    RUN(test_what_is_not_finite_is_dropped_and_counted);
    RUN(test_refusals);
    RUN(test_poses_between_stamps);
    return ct_test_end();
}
