/* test_read_isam.c: iSAM's text format: square-root information, roll pitch yaw, and the noise that public
 * files were made with. */
#define _XOPEN_SOURCE 700
#include "data_test.h"

#define SHARED "../shared/data/posegraph/"

static const char EXAMPLE[] = "EDGE2 0 1 1 0 0.1 10 0 0 10 0 50\n"
                              "EDGE2 1 2 1 0.5 -0.1 10 1 2 10 3 50\n"
                              "LANDMARK 1 0 3 4 5 0.5 2\n"
                              "EDGE3 7 8 1 2 3 0.1 0.2 0.3 10 0 0 0 0 0 10 0 0 0 0 10 0 0 0 100 0 0 100 0 25\n"
                              "POINT3 8 3 1 2 3 10 0 0 10 0 20\n";

static void test_what_is_written_again_is_the_same_text(void)
{
    CHECK_SAME_TEXT(CT_FORMAT_ISAM, EXAMPLE);
}

static void test_odometry_is_another_word_for_edge2(void)
{
    run a, b;
    MUST_READ(&a, CT_FORMAT_ISAM, "EDGE2 0 1 1 0 0.1 10 0 0 10 0 50\n");
    CHECK_OK(read_text(&b, CT_FORMAT_ISAM, "ODOMETRY 0 1 1 0 0.1 10 0 0 10 0 50\n"), b.err);
    if (b.seq) check_same_run(&a, &b, 1);
    run_free(&a), run_free(&b);
}

/* S = [10 1 2; 0 10 3; 0 0 50]: S'S = [100 10 20; 10 101 32; 20 32 2513]. */
static void test_the_matrix_is_the_square_root_of_the_information(void)
{
    run r;
    MUST_READ(&r, CT_FORMAT_ISAM, EXAMPLE);
    const double          want[9] = {100, 10, 20, 10, 101, 32, 20, 32, 2513};
    const ct_factor       f = ct_graph_factor(r.seq->graph, 1);
    const ct_noise_model *m = ct_noise_get(r.noise, f.noise);
    for (int i = 0; i < 9; i++) {
        double sum = 0;
        for (int k = 0; k < 3; k++) sum += want[i / 3 * 3 + k] * m->covariance[k * 3 + i % 3];
        CHECK_NEAR(sum, i / 3 == i % 3, 1e-14);
    }
    const ct_noise_model *m3 = ct_noise_get(r.noise, ct_graph_factor(r.seq->graph, 3).noise); /* roll pitch yaw x y z */
    static const double   sigma[6] = {0.01, 0.01, 0.04, 0.1, 0.1, 0.1};
    for (int i = 0; i < 6; i++) CHECK_NEAR(m3->covariance[i], sigma[i] * sigma[i], 1e-17);
    run_free(&r);
}

static void test_angles_turn_about_z_then_y_then_x(void)
{
    run r;
    MUST_READ(&r, CT_FORMAT_ISAM, EXAMPLE);
    const double *z = ct_graph_factor(r.seq->graph, 3).z;
    const ct_so3 x = ct_so3_exp((const double[]){0.1, 0, 0}), y = ct_so3_exp((const double[]){0, 0.2, 0}),
                 yaw = ct_so3_exp((const double[]){0, 0, 0.3});
    const ct_so3  q = ct_so3_compose(yaw, ct_so3_compose(y, x, NULL, NULL), NULL, NULL);
    CHECK_NEAR(z[3], q.x, 1e-16);
    CHECK_NEAR(z[4], q.y, 1e-16);
    CHECK_NEAR(z[5], q.z, 1e-16);
    CHECK_NEAR(z[6], q.w, 2e-16);
    run_free(&r);
}

static void test_poses_and_points_are_numbered_apart_and_placed(void)
{
    run r;
    MUST_READ(&r, CT_FORMAT_ISAM, EXAMPLE);
    const ct_graph *g = r.seq->graph;
    const double   *x = ct_graph_initial_const(g);
    CHECK(ct_graph_variables(g) == 7 && ct_graph_find(g, "x0") == 0 && ct_graph_find(g, "l0") == 3 &&
          ct_graph_kind(g, 3) == CT_R2);
    CHECK_NEAR(x[ct_graph_offset(g, 3)], 1 + 3 * cos(0.1) - 4 * sin(0.1), 1e-15);
    CHECK_NEAR(x[ct_graph_offset(g, 3) + 1], 3 * sin(0.1) + 4 * cos(0.1), 1e-15);
    CHECK(x[ct_graph_offset(g, ct_graph_find(g, "x8")) + 2] == 3);
    CHECK(!strcmp(r.seq->note,
                  "7 variables have no value in the file: 5 were placed along the edges, 2 at the identity"));
    run_free(&r);
}

static void test_edges_in_space_may_leave_the_matrix_out(void)
{
    run r;
    MUST_READ(&r, CT_FORMAT_ISAM, "EDGE3 0 1 1 2 3 0 0 0\nPOINT3 1 0 1 1 1\n");
    CHECK(ct_noise_get(r.noise, 0)->covariance[5] == 1 && ct_noise_get(r.noise, 1)->covariance[2] == 1);
    CHECK(!strncmp(r.seq->note,
                   "2 edges have no matrix in the file: their information is the identity, as iSAM has it; ", 86));
    run_free(&r);
}

static int in_isam(const ct_factor_ops *ops)
{
    return ops == &ct_between_se2 || ops == &ct_between_se3;
}

/* Rotations pass through three angles, so they come back to rounding; the rest comes back to the bit,
 * and once it is through the file all of it. */
static void test_a_graph_comes_back(void)
{
    for (uint64_t seed = 1; seed <= 30; seed++) {
        run made, read, again;
        random_run(&made, seed, 1u << CT_SE2 | 1u << CT_SE3, in_isam, 0);
        char *a = write_text(&made, CT_FORMAT_ISAM, NULL, 0, NULL);
        CHECK(a);
        if (!a) return;
        CHECK_OK(read_text(&read, CT_FORMAT_ISAM, a), read.err);
        for (int32_t f = 0; read.seq && f < ct_graph_factors(made.seq->graph); f++) {
            const ct_factor p = ct_graph_factor(made.seq->graph, f), q = ct_graph_factor(read.seq->graph, f);
            double          d[6];
            ct_kind_local(p.ops->field[0], p.z, q.z, d);
            for (int i = 0; i < p.ops->rows; i++) CHECK_NEAR(d[i], 0, 2e-15);
            for (int i = 0; i < p.ops->rows; i++)
                CHECK_NEAR(ct_noise_get(made.noise, p.noise)->covariance[i],
                           ct_noise_get(read.noise, q.noise)->covariance[i], 1e-14);
        }
        char *b = read.seq ? write_text(&read, CT_FORMAT_COVTUNE, NULL, 0, NULL) : NULL;
        CHECK(b);
        if (b) {
            CHECK_OK(read_text(&again, CT_FORMAT_COVTUNE, b), again.err);
            if (again.seq) check_same_run(&read, &again, 1);
            run_free(&again);
        }
        free(a), free(b);
        run_free(&made), run_free(&read);
    }
}

static void test_a_pitch_of_90_degrees_is_written_and_read(void)
{
    run made, read;
    MUST_READ(&made, CT_FORMAT_ISAM, "EDGE3 0 1 0 0 0 0.4 1.5707963267948966 0.9\n");
    char *text = write_text(&made, CT_FORMAT_ISAM, NULL, 0, NULL);
    CHECK_OK(read_text(&read, CT_FORMAT_ISAM, text), read.err);
    double d[6];
    ct_kind_local(CT_SE3, ct_graph_factor(made.seq->graph, 0).z, ct_graph_factor(read.seq->graph, 0).z, d);
    for (int i = 0; i < 3; i++) CHECK_NEAR(d[i], 0, 1e-12);
    free(text);
    run_free(&made), run_free(&read);
}

static void test_every_mistake_is_named_with_its_line(void)
{
#define BAD(line, words) CHECK_MESSAGE(CT_FORMAT_ISAM, "EDGE2 0 1 1 0 0 1 0 0 1 0 1\n" line "\n", "t.txt:2: " words)
    BAD("EDGE2 0", "EDGE2 needs 2 ids, found 1");
    BAD("EDGE2 1 2 1 0", "EDGE2 needs 3 numbers for SE2, found 2");
    BAD("EDGE2 1 2 1 0 0 1 0 0 1", "EDGE2 needs 6 square-root information entries, found 4");
    BAD("EDGE2 1 2 1 0 0", "EDGE2 needs 6 square-root information entries, found 0");
    BAD("EDGE2 1 2 1 0 0 1 0 0 1 0 1 1", "expected the end of the line, found \"1\"");
    BAD("EDGE2 1 2 1 0 nan 1 0 0 1 0 1", "expected a finite number for yaw, found \"nan\"");
    BAD("EDGE2 1 2 1 0 0 1 0 0 1 0 inf", "expected a finite number for square-root information, found \"inf\"");
    BAD("EDGE2 1 1 1 0 0 1 0 0 1 0 1", "factor 1 (between_se2): x1 is named twice");
    BAD("EDGE2 1 x 1 0 0 1 0 0 1 0 1", "expected an integer from 0 to 9223372034707292160 for an id, found \"x\"");
    BAD("EDGE3 1 2 0 0 0", "EDGE3 needs 6 numbers: x y z roll pitch yaw, found 3");
    BAD("EDGE3 0 1 0 0 0 0 0 0", "factor 1 (between_se3): x0 is SE2, it must be SE3");
    BAD("EDGE3 2 3 0 0 0 0 0 0 1 1", "EDGE3 needs 21 square-root information entries, found 2");
    BAD("EDGE4 0 1", "covtune does not know the iSAM type \"EDGE4\"");
#undef BAD
    run r;
    CHECK(read_text(&r, CT_FORMAT_ISAM, "EDGE2 0 1 1 0 0 1 0 0 0 0 1\n") == CT_E_NOISE &&
          !strncmp(r.err.text, "t.txt:1: ", 9));
    run_free(&r);
}

static void test_what_isam_cannot_hold_is_refused_or_counted(void)
{
    static const struct {
        const char *text, *words;
    } list[] = {
        {"var x0 SE2 0 0 0 fixed\n", "variable x0: iSAM cannot hold a variable at its value"},
        {"var x0 SE2 0 0 0 t=1\n", "variable x0: iSAM has no place for its time"},
        {"var x0 SE2 0 0 0\ntruth x0 0 0 0\n", "variable x0: iSAM has no place for its true value"},
        {"noise n isotropic 3 1\nvar x0 SE2 0 0 0\nfactor prior_se2 n x0 0 0 0\n",
         "factor 0 (prior_se2 on x0): iSAM has no edge for it"},
        {"noise n isotropic 2 1\nvar x0 SE2 0 0 0\nvar p R2 0 0\nfactor point_se2_r2 n x0 p 1 1 1 0 0\n",
         "factor 0 (point_se2_r2 on x0): iSAM has no edge for it"},
        {"noise n isotropic 3 1 cauchy 1\nvar x0 SE2 0 0 0\nvar x1 SE2 0 0 0\nfactor between_se2 n x0 x1 0 0 0\n",
         "factor 0 (between_se2): iSAM has no place for the kernel of noise model n"},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char    text[512];
        run     r;
        int64_t dropped = 0;
        snprintf(text, sizeof text, "covtune-sequence 1\n%s", list[i].text);
        MUST_READ(&r, CT_FORMAT_COVTUNE, text);
        char *none = write_text(&r, CT_FORMAT_ISAM, NULL, 0, NULL);
        CHECK(!none && r.err.status == CT_E_UNSUPPORTED && !strcmp(r.err.text, list[i].words));
        char *some = write_text(&r, CT_FORMAT_ISAM, NULL, 1, &dropped);
        CHECK(some && dropped == 1);
        free(none), free(some);
        none = write_text(&r, CT_FORMAT_ISAM, ct_graph_initial_const(r.seq->graph), 0, NULL);
        CHECK(!none && r.err.status == CT_E_UNSUPPORTED);
        free(none);
        run_free(&r);
    }
}

/* ---- public files, where they are: each edge's noise-free value is known ---- */

typedef struct {
    int32_t from, to, factor;
} edge;

static int by_ends(const void *a, const void *b)
{
    const edge *p = a, *q = b;
    return p->from != q->from ? p->from - q->from : p->to != q->to ? p->to - q->to : p->factor - q->factor;
}

static int32_t number(const ct_graph *g, int32_t var)
{
    char name[32];
    return (int32_t)strtol(ct_graph_name(g, var, name, sizeof name) + 1, NULL, 10);
}

static edge *sorted_edges(const ct_graph *g)
{
    edge *e = malloc((size_t)ct_graph_factors(g) * sizeof *e);
    for (int32_t i = 0; i < ct_graph_factors(g); i++) {
        const ct_factor f = ct_graph_factor(g, i);
        e[i] = (edge){number(g, f.var[0]), number(g, f.var[1]), i};
    }
    qsort(e, (size_t)ct_graph_factors(g), sizeof *e, by_ends);
    return e;
}

static int read_shared(run *r, const char *name)
{
    char path[128];
    *r = (run){0};
    snprintf(path, sizeof path, SHARED "%s", name);
    ct_noise_new(&r->noise, &r->err);
    if (ct_sequence_read(path, CT_FORMAT_AUTO, r->noise, &r->seq, &r->err) == CT_OK) return 1;
    run_free(r);
    return 0;
}

/* Standard deviations of Log(true^-1 o measured), by pairs of edges with the same ends. */
static void check_sigmas(const char *noisy_name, const char *true_name, const double sigma[], double tolerance)
{
    run noisy, truth;
    if (!read_shared(&noisy, noisy_name)) SKIP("no " SHARED);
    CHECK(read_shared(&truth, true_name));
    const int32_t n = ct_graph_factors(noisy.seq->graph);
    CHECK(n == ct_graph_factors(truth.seq->graph));
    edge  *a = sorted_edges(noisy.seq->graph), *b = sorted_edges(truth.seq->graph);
    double moment[6] = {0};
    int    dim = 0;
    for (int32_t i = 0; i < n; i++) {
        const ct_factor p = ct_graph_factor(noisy.seq->graph, a[i].factor),
                        q = ct_graph_factor(truth.seq->graph, b[i].factor);
        double          d[6];
        CHECK(a[i].from == b[i].from && a[i].to == b[i].to && p.ops == q.ops);
        dim = p.ops->rows;
        ct_kind_local(p.ops->field[0], q.z, p.z, d);
        for (int k = 0; k < dim; k++) moment[k] += d[k] * d[k] / n;
    }
    for (int k = 0; k < dim; k++) CHECK_NEAR(sqrt(moment[k]), sigma[k], tolerance * sigma[k]);
    free(a), free(b);
    run_free(&noisy), run_free(&truth);
}

/* 5598 edges: five standard errors of a sigma are 5 / sqrt(2 n) = 4.7 %. */
static void test_noise_in_the_manhattan_world_is_what_was_injected(void)
{
    check_sigmas("isam_manhattanOlson3500.txt", "isam_manhattanOlson3500_groundtruth.txt",
                 (const double[]){0.02236, 0.02236, 0.02236}, 0.047);
}

/* roll and pitch .01, yaw .04: the one that catches a wrong order. 4949 edges. */
static void test_noise_on_the_sphere_is_what_was_injected(void)
{
    check_sigmas("isam_sphere2500.txt", "isam_sphere2500_groundtruth.txt",
                 (const double[]){0.01, 0.01, 0.04, 0.1, 0.1, 0.1}, 0.05);
}

/* The same measurements in g2o's file, as quaternions of six digits. */
static void test_angles_of_the_sphere_are_g2os_quaternions(void)
{
    run isam, g2o;
    if (!read_shared(&isam, "isam_sphere2500.txt")) SKIP("no " SHARED);
    CHECK(read_shared(&g2o, "sphere2500.g2o"));
    edge *a = sorted_edges(isam.seq->graph), *b = sorted_edges(g2o.seq->graph);
    for (int32_t i = 0; i < ct_graph_factors(isam.seq->graph); i++) {
        double d[6];
        ct_kind_local(CT_SE3, ct_graph_factor(isam.seq->graph, a[i].factor).z,
                      ct_graph_factor(g2o.seq->graph, b[i].factor).z, d);
        for (int k = 0; k < 6; k++) CHECK_NEAR(d[k], 0, 2e-5);
    }
    free(a), free(b);
    run_free(&isam), run_free(&g2o);
}

int main(void)
{
    RUN(test_what_is_written_again_is_the_same_text);
    RUN(test_odometry_is_another_word_for_edge2);
    RUN(test_the_matrix_is_the_square_root_of_the_information);
    RUN(test_angles_turn_about_z_then_y_then_x);
    RUN(test_poses_and_points_are_numbered_apart_and_placed);
    RUN(test_edges_in_space_may_leave_the_matrix_out);
    RUN(test_a_graph_comes_back);
    RUN(test_a_pitch_of_90_degrees_is_written_and_read);
    RUN(test_every_mistake_is_named_with_its_line);
    RUN(test_what_isam_cannot_hold_is_refused_or_counted);
    RUN(test_noise_in_the_manhattan_world_is_what_was_injected);
    RUN(test_noise_on_the_sphere_is_what_was_injected);
    RUN(test_angles_of_the_sphere_are_g2os_quaternions);
    return ct_test_end();
}
