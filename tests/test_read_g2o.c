/* test_read_g2o.c: g2o files: what the types mean, what comes back, how variables without a vertex are
 * placed, and GTSAM's errors on public pose graphs. */
#define _XOPEN_SOURCE 700
#include "data_test.h"

#define SHARED "../shared/data/posegraph/"

/* Written as g2o orders it: parameters, vertices, FIX, edges. */
static const char PLANE[] = "PARAMS_SE2OFFSET 0 0.25 0 0.5\n"
                            "VERTEX_SE2 0 0 0 0\n"
                            "VERTEX_SE2 7 1 0.5 0.1\n"
                            "VERTEX_XY 3 2.5 -1\n"
                            "VERTEX_XY 4 2 2\n"
                            "FIX 0\n"
                            "EDGE_SE2 0 7 1.01 0.02 0.1 100 1 2 50 3 400\n"
                            "EDGE_SE2_XY 0 3 2.5 -1 25 0 16\n"
                            "EDGE_SE2_POINTXY_OFFSET 7 3 0 1 -1 25 1 16\n"
                            "EDGE_BEARING_SE2_XY 7 4 0.5 44.4444\n"
                            "EDGE_POINTXY 3 4 -0.5 3 1 0 1\n"
                            "EDGE_PRIOR_SE2 7 1 0.5 0.1 4 0 0 4 0 9\n"
                            "EDGE_PRIOR_SE2_XY 7 1 0.5 0.1 0 0.1\n"
                            "EDGE_PRIOR_XY 4 2 2 0.3 0.01 0.3\n";

static const char SPACE[] = "PARAMS_SE3OFFSET 0 0.1 0 0 0 0 0 1\n"
                            "PARAMS_SE3OFFSET 1 0 0 0 0 0 0 1\n"
                            "VERTEX_SE3:QUAT 1 0 0 0 0 0 0 1\n"
                            "VERTEX_SE3:QUAT 2 1 2 3 0.5 -0.5 0.5 0.5\n"
                            "VERTEX_TRACKXYZ 9 4 5 6\n"
                            "VERTEX_TRACKXYZ 10 4 5 7\n"
                            "EDGE_SE3:QUAT 1 2 1 2 3 0.5 -0.5 0.5 0.5 1 0 0 0 0 0.25 2 0 0 0 0 3 0 0 0 4 0 0 5 0 6\n"
                            "EDGE_SE3_TRACKXYZ 2 9 0 1 1 1 100 0 0 100 0 50\n"
                            "EDGE_SE3_PRIOR 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 1 0 0 0 0 1 0 0 0 2 0 0 2 0 2\n"
                            "EDGE_SE3_XYZ_PRIOR 2 1 1 2 3 7 0 0 7 0 7\n"
                            "EDGE_POINTXYZ 9 10 0 0 1 1 0 0 1 0 1\n"
                            "EDGE_POINTXYZ_PRIOR 9 4 5 6 2 0 0 2 0 2\n";

static void test_what_is_written_again_is_the_same_text(void)
{
    CHECK_SAME_TEXT(CT_FORMAT_G2O, PLANE);
    CHECK_SAME_TEXT(CT_FORMAT_G2O, SPACE);
    CHECK_SAME_TEXT(CT_FORMAT_G2O, "VERTEX_SE2 8646911284551352320 0 0 0\n");
}

static void test_types_of_the_plane_mean_what_g2o_means(void)
{
    run r;
    MUST_READ(&r, CT_FORMAT_G2O, PLANE);
    const ct_graph *g = r.seq->graph;
    CHECK(ct_graph_variables(g) == 4 && ct_graph_factors(g) == 8);
    CHECK(ct_graph_find(g, "x7") == 1 && ct_graph_find(g, "x3") == 2 && ct_graph_kind(g, 2) == CT_R2);
    CHECK(ct_graph_fixed(g, 0) && !ct_graph_fixed(g, 1));
    const ct_factor edge = ct_graph_factor(g, 0), offset = ct_graph_factor(g, 2), bearing = ct_graph_factor(g, 3);
    CHECK(edge.ops == &ct_between_se2 && edge.z[0] == 1.01 && edge.z[3] == sin(0.1));
    CHECK(offset.ops == &ct_point_se2_r2 && offset.z[1] == -1 && offset.z[2] == 0.25 && offset.z[5] == sin(0.5));
    CHECK(bearing.ops == &ct_bearing_se2_r2 && bearing.z[0] == cos(0.5) && bearing.z[4] == 1);
    /* [100 1 2; 1 50 3; 2 3 400] times the model's covariance is the identity */
    const double          A[9] = {100, 1, 2, 1, 50, 3, 2, 3, 400};
    const ct_noise_model *m = ct_noise_get(r.noise, edge.noise);
    CHECK(m->kind == CT_NOISE_FULL && !strcmp(m->name, "between_se2"));
    for (int i = 0; i < 9; i++) {
        double sum = 0;
        for (int k = 0; k < 3; k++) sum += A[i / 3 * 3 + k] * m->covariance[k * 3 + i % 3];
        CHECK_NEAR(sum, i / 3 == i % 3, 1e-14);
    }
    run_free(&r);
}

/* g2o has x y z and then the rotation, covtune the rotation and then x y z. */
static void test_information_of_poses_in_space_is_turned(void)
{
    run r;
    MUST_READ(&r, CT_FORMAT_G2O, SPACE);
    const ct_factor       edge = ct_graph_factor(r.seq->graph, 0), track = ct_graph_factor(r.seq->graph, 1);
    const ct_noise_model *m = ct_noise_get(r.noise, edge.noise);
    double                info[36] = {0};
    for (int i = 0; i < 36; i++)
        for (int k = 0; k < 6; k++) info[i] += m->sqrt_info[k * 6 + i / 6] * m->sqrt_info[k * 6 + i % 6];
    static const double want[6] = {4, 5, 6, 1, 2, 3}; /* rx ry rz x y z */
    for (int i = 0; i < 36; i++)
        CHECK_NEAR(info[i], i / 6 == i % 6 ? want[i / 6] : i == 2 * 6 + 3 || i == 3 * 6 + 2 ? 0.25 : 0, 1e-14);
    CHECK(edge.z[0] == 1 && edge.z[3] == 0.5 && edge.z[4] == -0.5);
    CHECK(track.ops == &ct_point_se3_r3 && track.z[3] == 0.1 && track.z[9] == 1);
    run_free(&r);
}

/* r = z^-1 a^-1 b by hand: a at the origin, b at (1, 1) turned by 90 degrees, z = (1, 0, 0):
 * r has translation (0, 1), angle pi/2; its Log has (pi/4)[1 1; -1 1](0, 1) = (pi/4, pi/4). */
static void test_the_error_of_an_edge_checked_by_hand(void)
{
    run r;
    MUST_READ(&r, CT_FORMAT_G2O,
              "VERTEX_SE2 0 0 0 0\nVERTEX_SE2 1 1 1 1.5707963267948966\nEDGE_SE2 0 1 1 0 0 1 0 0 2 0 3\n");
    const double q = M_PI / 4, want = 0.5 * (1 * q * q + 2 * q * q + 3 * (2 * q) * (2 * q));
    CHECK_NEAR(ct_graph_error(r.seq->graph, r.noise, ct_graph_initial_const(r.seq->graph)), want, 1e-14);
    run_free(&r);
}

static int in_g2o(const ct_factor_ops *ops)
{
    const ct_factor_ops *list[] = {&ct_between_se2, &ct_between_se3, &ct_between_r2, &ct_between_r3, &ct_point_se2_r2,
                                   &ct_point_se3_r3, &ct_prior_se2, &ct_prior_se3, &ct_prior_r2, &ct_prior_r3};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (ops == list[i]) return 1;
    return 0;
}

/* Angles of products have no decimal: a first pass through the file settles them. From then on
 * g2o -> covtune -> g2o is the identity, in text, in every number, and in the error. */
static void test_chains_of_conversions_end_where_they_began(void)
{
    for (uint64_t seed = 1; seed <= 30; seed++) {
        run made, first, second, third;
        random_run(&made, seed, 1u << CT_R2 | 1u << CT_R3 | 1u << CT_SE2 | 1u << CT_SE3, in_g2o, 0);
        char *a = write_text(&made, CT_FORMAT_G2O, NULL, 0, NULL);
        CHECK(a);
        if (!a) return;
        CHECK_OK(read_text(&first, CT_FORMAT_G2O, a), first.err);
        char *b = write_text(&first, CT_FORMAT_COVTUNE, NULL, 0, NULL);
        CHECK_OK(read_text(&second, CT_FORMAT_COVTUNE, b), second.err);
        check_same_run(&first, &second, 1);
        char *c = write_text(&second, CT_FORMAT_G2O, NULL, 0, NULL);
        CHECK_OK(read_text(&third, CT_FORMAT_G2O, c), third.err);
        check_same_run(&first, &third, 1);
        char *d = write_text(&first, CT_FORMAT_G2O, NULL, 0, NULL);
        CHECK(!strcmp(c, d));
        const double error = ct_graph_error(first.seq->graph, first.noise, ct_graph_initial_const(first.seq->graph));
        CHECK(error == ct_graph_error(third.seq->graph, third.noise, ct_graph_initial_const(third.seq->graph)));
        CHECK_NEAR(ct_graph_error(made.seq->graph, made.noise, ct_graph_initial_const(made.seq->graph)), error,
                   1e-12 * error);
        free(a), free(b), free(c), free(d);
        run_free(&made), run_free(&first), run_free(&second), run_free(&third);
    }
}

/* What has more digits than files have comes back to rounding. */
static void test_long_matrices_come_back_to_rounding(void)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        run    made, read;
        ct_rng rng = ct_rng_seed(seed);
        random_run(&made, seed, 1u << CT_SE3, in_g2o, 0);
        for (int32_t i = 0; i < ct_noise_count(made.noise); i++) {
            double S[36];
            random_covariance(&rng, 6, S);
            for (int k = 0; k < 36; k++) S[k] *= 1e-3 * M_PI;
            CHECK_OK(ct_noise_set_covariance(made.noise, i, S, &made.err), made.err);
        }
        char *text = write_text(&made, CT_FORMAT_G2O, NULL, 0, NULL);
        CHECK(text);
        if (!text) return;
        CHECK_OK(read_text(&read, CT_FORMAT_G2O, text), read.err);
        for (int32_t f = 0; read.seq && f < ct_graph_factors(read.seq->graph); f++) {
            const double *a = ct_noise_get(made.noise, ct_graph_factor(made.seq->graph, f).noise)->covariance;
            const double *b = ct_noise_get(read.noise, ct_graph_factor(read.seq->graph, f).noise)->covariance;
            for (int k = 0; k < 36; k++) CHECK_NEAR(a[k], b[k], 1e-14 * sqrt(a[k / 6 * 7] * a[k % 6 * 7]));
        }
        free(text);
        run_free(&made), run_free(&read);
    }
}

static void test_equal_matrices_are_one_model(void)
{
    run r;
    MUST_READ(&r, CT_FORMAT_G2O,
              "EDGE_SE2 0 1 1 0 0 4 0 0 4 0 9\nEDGE_SE2 1 2 1 0 0 4 0 -0 4 0 9\nEDGE_SE2 2 3 1 0 0 4 0 0 4 0 8\n"
              "EDGE_SE2 3 4 1 0 0 4 1 0 4 0 8\nEDGE_SE2 4 5 1 0 0 4 0 0 4 0 8\nEDGE_PRIOR_SE2 0 0 0 0 4 0 0 4 0 9\n");
    CHECK(ct_noise_count(r.noise) == 4);
    static const char *const want[] = {"between_se2",   "between_se2",   "between_se2#1",
                                       "between_se2#2", "between_se2#1", "prior_se2"};
    for (int i = 0; i < 6; i++)
        CHECK(!strcmp(ct_noise_get(r.noise, ct_graph_factor(r.seq->graph, i).noise)->name, want[i]));
    /* another file, same table */
    const char  *more = "EDGE_SE2 0 1 1 0 0 4 1 0 4 0 8\nEDGE_SE2 1 2 1 0 0 5 0 0 5 0 5\n";
    FILE        *file = fmemopen((void *)(uintptr_t)more, strlen(more), "rb");
    ct_sequence *seq;
    CHECK_OK(ct__sequence_read_stream(file, "t", CT_FORMAT_G2O, NULL, r.noise, &seq, &r.err), r.err);
    CHECK(ct_noise_count(r.noise) == 5 && seq &&
          ct_graph_factor(seq->graph, 0).noise == ct_noise_find(r.noise, "between_se2#2"));
    CHECK(ct_noise_find(r.noise, "between_se2#3") == 4);
    ct_sequence_free(seq);
    fclose(file);
    run_free(&r);
}

/* ---- variables without vertices ---- */

static const double *value(const run *r, const char *name)
{
    const ct_graph *g = r->seq->graph;
    return ct_graph_initial_const(g) + ct_graph_offset(g, ct_graph_find(g, name));
}

static void test_edges_place_variables_that_have_no_vertex(void)
{
    run r;
    MUST_READ(&r, CT_FORMAT_G2O, "EDGE_SE2 10 11 1 0 1.5707963267948966 1 0 0 1 0 1\n"
                                 "EDGE_SE2 12 11 1 0 0 1 0 0 1 0 1\n"  /* backwards: x12 = x11 o z^-1             */
                                 "EDGE_SE2 20 21 5 5 0 1 0 0 1 0 1\n"  /* not reached yet                         */
                                 "EDGE_SE2 11 20 2 0 0 1 0 0 1 0 1\n"  /* now it is                               */
                                 "EDGE_SE2_XY 11 30 1 1 1 0 1\n"       /* a point                                 */
                                 "EDGE_SE2 40 41 3 0 0 1 0 0 1 0 1\n"  /* hangs together with nothing             */
                                 "EDGE_BEARING_SE2_XY 41 31 0.1 1\n"); /* no way to tell how far                  */
    CHECK(value(&r, "x10")[0] == 0 && value(&r, "x10")[2] == 1);
    CHECK_NEAR(value(&r, "x12")[0], 1, 1e-15);
    CHECK_NEAR(value(&r, "x12")[1], -1, 1e-15);
    CHECK_NEAR(value(&r, "x20")[1], 2, 1e-15);
    CHECK_NEAR(value(&r, "x21")[0], -4, 1e-14);
    CHECK_NEAR(value(&r, "x21")[1], 7, 1e-14);
    CHECK_NEAR(value(&r, "x30")[0], 0, 1e-15);
    CHECK_NEAR(value(&r, "x30")[1], 1, 1e-15);
    CHECK(value(&r, "x40")[0] == 0 && value(&r, "x41")[0] == 3 && value(&r, "x31")[0] == 0);
    CHECK(!strcmp(r.seq->note,
                  "9 variables have no value in the file: 6 were placed along the edges, 3 at the identity"));
    run_free(&r);
}

static void test_vertices_count_wherever_they_stand_and_priors_anchor(void)
{
    run r;
    MUST_READ(&r, CT_FORMAT_G2O,
              "EDGE_SE2 0 1 1 0 0 1 0 0 1 0 1\nEDGE_SE2 1 2 1 0 0 1 0 0 1 0 1\nVERTEX_SE2 1 5 0 0\n");
    CHECK(value(&r, "x0")[0] == 4 && value(&r, "x1")[0] == 5 && value(&r, "x2")[0] == 6);
    run_free(&r);
    MUST_READ(&r, CT_FORMAT_G2O, "EDGE_SE2 0 1 1 0 0 1 0 0 1 0 1\nEDGE_PRIOR_SE2 1 9 0 0 1 0 0 1 0 1\n");
    CHECK(value(&r, "x0")[0] == 8 && value(&r, "x1")[0] == 9);
    run_free(&r);
}

/* The worst order for a repeated walk: each edge reaches the one before it. */
static void test_placing_takes_linear_time(void)
{
    const int n = 20000;
    char     *text = malloc((size_t)n * 64);
    size_t    size = 0;
    /* n models */
    for (int i = n; i > 0; i--)
        size += (size_t)sprintf(text + size, "EDGE_SE2 %d %d 1 0 0 1 0 0 1 0 %d\n", i - 1, i, i);
    run          r;
    const double start = ct_now_s();
    CHECK_OK(read_bytes(&r, CT_FORMAT_G2O, text, size), r.err);
    CHECK(ct_now_s() - start < 5); /* quadratic would be minutes under a sanitizer */
    if (r.seq) {
        CHECK_NEAR(value(&r, "x0")[0] - value(&r, "x20000")[0], -n, 1e-6);
        CHECK(ct_noise_count(r.noise) == n && ct_noise_find(r.noise, "between_se2#19999") >= 0);
    }
    run_free(&r);
    free(text);
}

/* ---- what is refused ---- */

static void test_every_mistake_is_named_with_its_line(void)
{
#define BAD(line, words)                                                                                               \
    CHECK_MESSAGE(CT_FORMAT_G2O, "VERTEX_SE2 0 0 0 0\nVERTEX_XY 5 0 0\nPARAMS_SE3OFFSET 2 1 0 0 0 0 0 1\n" line "\n",  \
                  "t.txt:4: " words)
    BAD("EDGE_SE2 0 1 0 0 0 1 0 0 1", "EDGE_SE2 needs 6 information entries, found 4");
    BAD("EDGE_SE2 0 1 0 0 nan 1 0 0 1 0 1", "expected a finite number for yaw, found \"nan\"");
    BAD("EDGE_SE2 0 1 0 0 0 1 0 0 1 0 inf", "expected a finite number for information entry (3, 3), found \"inf\"");
    BAD("EDGE_SE2 0 1 0 0", "EDGE_SE2 needs 3 numbers for SE2, found 2");
    BAD("EDGE_SE2 0", "EDGE_SE2 needs 2 vertices, found 1");
    BAD("EDGE_SE2 0 -1 0 0 0 1 0 0 1 0 1", "expected an integer from 0 to 9223372034707292160 for an id, found \"-1\"");
    BAD("EDGE_SE2 0 1e18 0 0 0 1 0 0 1 0 1",
        "expected an integer from 0 to 9223372034707292160 for an id, found \"1e18\"");
    BAD("EDGE_SE2 0 99999999999999999999 0 0 0 1 0 0 1 0 1",
        "expected an integer from 0 to 9223372034707292160 for an id, found \"99999999999999999999\"");
    BAD("EDGE_SE2 0 0 0 0 0 1 0 0 1 0 1", "factor 0 (between_se2): x0 is named twice");
    BAD("EDGE_SE2 0 5 0 0 0 1 0 0 1 0 1", "factor 0 (between_se2): x5 is R2, it must be SE2");
    BAD("EDGE_SE2 0 1 0 0 0 1 0 0 1 0 1 7", "expected the end of the line, found \"7\"");
    BAD("EDGE_WHAT 0 1", "covtune does not know the g2o type \"EDGE_WHAT\"");
    BAD("VERTEX_SE2 0 1 1 1", "variable x0 is there already");
    BAD("VERTEX_SE2 1 0 0 x", "expected a finite number for yaw, found \"x\"");
    BAD("VERTEX_SE2 1 0 0 0 0", "expected the end of the line, found \"0\"");
    BAD("VERTEX_SE3:QUAT 1 0 0 0 0 0 0 0", "the quaternion is zero");
    BAD("VERTEX_SE2", "VERTEX_SE2 needs an integer for an id, the line ends");
    BAD("FIX", "FIX needs 1 vertex, found 0");
    BAD("FIX 0 6", "there is no vertex 6 above");
    BAD("PARAMS_SE2OFFSET 2 0 0 0", "parameter 2 is there already");
    BAD("EDGE_SE3_TRACKXYZ 1 6 3 0 0 0 1 0 0 1 0 1", "there is no parameter 3 above");
    BAD("EDGE_SE2_POINTXY_OFFSET 0 5 2 0 0 1 0 1", "parameter 2 is SE3, EDGE_SE2_POINTXY_OFFSET needs SE2");
    BAD("EDGE_SE3_PRIOR 1 2 0 0 0 0 0 0 1 1 0 0 0 0 0 1 0 0 0 0 1 0 0 0 2 0 0 2 0 2",
        "EDGE_SE3_PRIOR with an offset (parameter 2) has no counterpart here");
#undef BAD
    CHECK_MESSAGE(CT_FORMAT_G2O, "EDGE_SE2 0 1 1e308 0 0 1 0 0 1 0 1\nEDGE_SE2 1 2 1e308 0 0 1 0 0 1 0 1\n",
                  "t.txt: composing the edges up to x2 gives a number that is not finite");
    CHECK_MESSAGE(CT_FORMAT_G2O, "EDGE_SE2 0 1 0 0 0 1 0 0 1 0 1\nVERTEX_XY 1 0 0\n",
                  "t.txt:2: x1 is R2 here, an edge above has it as SE2");
    run r;
    CHECK(read_text(&r, CT_FORMAT_G2O, "EDGE_SE2 0 1 0 0 0 1 2 0 1 0 1\n") == CT_E_NOISE &&
          !strncmp(r.err.text, "t.txt:1: ", 9) && strstr(r.err.text, "information is not positive definite"));
    run_free(&r);
    CHECK(read_text(&r, CT_FORMAT_G2O, "EDGE_SE2 0 1 0 0 0 1 0 0 0 0 1\n") == CT_E_NOISE &&
          strstr(r.err.text, "it must be positive"));
    run_free(&r);
}

static void test_what_g2o_cannot_hold_is_refused_or_counted(void)
{
    static const struct {
        const char *text, *words;
        int64_t     dropped;
    } list[] = {
        {"var x0 R1 0\n", "variable x0: g2o has no vertex for R1", 1},
        {"var x0 R2 0 0 t=1\n", "variable x0: g2o has no place for its time", 1},
        {"var x0 R2 0 0\ntruth x0 1 1\n", "variable x0: g2o has no place for its true value", 1},
        {"noise n isotropic 1 1\nvar x0 SE2 0 0 0\nvar x1 R2 1 1\nfactor range_se2_r2 n x0 x1 1\n",
         "factor 0 (range_se2_r2 on x0): g2o has no edge for it", 1},
        {"noise n isotropic 2 1\nvar x0 SE2 0 0 0\nfactor position_se2 n x0 1 1 0.1 0\n",
         "factor 0 (position_se2 on x0): g2o has no edge for it", 1},
        {"noise n isotropic 2 1 huber 1\nvar x0 R2 0 0\nfactor prior_r2 n x0 1 1\nfactor prior_r2 n x0 1 1\n",
         "factor 0 (prior_r2): g2o has no place for the kernel of noise model n", 2},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char    text[512];
        run     r;
        int64_t dropped = 0;
        snprintf(text, sizeof text, "covtune-sequence 1\n%s", list[i].text);
        MUST_READ(&r, CT_FORMAT_COVTUNE, text);
        char *none = write_text(&r, CT_FORMAT_G2O, NULL, 0, NULL);
        CHECK(!none && r.err.status == CT_E_UNSUPPORTED && !strcmp(r.err.text, list[i].words));
        char *some = write_text(&r, CT_FORMAT_G2O, NULL, 1, &dropped);
        CHECK(some && dropped == list[i].dropped);
        free(none), free(some);
        run_free(&r);
    }
}

static void test_names_that_are_no_ids_are_numbered_behind_the_ids(void)
{
    run r;
    MUST_READ(&r, CT_FORMAT_COVTUNE, "covtune-sequence 1\nvar tree R2 1 1\nvar x4 R2 2 2\nvar x007 R2 3 3\n");
    char *text = write_text(&r, CT_FORMAT_G2O, NULL, 0, NULL);
    CHECK(text && !strcmp(text, "VERTEX_XY 5 1 1\nVERTEX_XY 4 2 2\nVERTEX_XY 6 3 3\n"));
    free(text);
    run_free(&r);
}

/* ---- public pose graphs, where they are ---- */

/* The error with GTSAM's residual for poses in the plane: (x, y, theta) of z^-1 a^-1 b, where
 * covtune has its Log. */
static double error_in_chart(const run *r)
{
    double        error = 0;
    const double *x = ct_graph_initial_const(r->seq->graph);
    for (int32_t i = 0; i < ct_graph_factors(r->seq->graph); i++) {
        const ct_factor       f = ct_graph_factor(r->seq->graph, i);
        const ct_noise_model *m = ct_noise_get(r->noise, f.noise);
        const double *a = x + ct_graph_offset(r->seq->graph, f.var[0]),
                     *b = x + ct_graph_offset(r->seq->graph, f.var[1]);
        const ct_se2 ab =
            ct_se2_between((ct_se2){a[0], a[1], a[2], a[3]}, (ct_se2){b[0], b[1], b[2], b[3]}, NULL, NULL);
        const ct_se2          d = ct_se2_between((ct_se2){f.z[0], f.z[1], f.z[2], f.z[3]}, ab, NULL, NULL);
        const double          v[3] = {d.x, d.y, ct_se2_yaw(d)};
        for (int k = 0; k < 3; k++) {
            double w = m->kind == CT_NOISE_FULL ? 0 : m->sqrt_info[k] * v[k];
            for (int j = 0; j < 3 && m->kind == CT_NOISE_FULL; j++) w += m->sqrt_info[k * 3 + j] * v[j];
            error += 0.5 * w * w;
        }
    }
    return error;
}

/* The reader takes ids up to INT64_MAX - INT32_MAX. */
static void test_ids_that_are_written_are_ids_that_are_read(void)
{
    run r, again;
    MUST_READ(&r, CT_FORMAT_COVTUNE,
              "covtune-sequence 1\nnoise g diagonal 1 1 1\nvar x9223372034707292160 SE2 0 0 0\nvar first SE2 1 0 0\n"
                                     "var x1 SE2 2 0 0\nvar second SE2 3 0 0\nvar x9223372036854775807 SE2 4 0 0\n"
                                     "factor between_se2 g x9223372034707292160 first 1 0 0\n");
    char *text = write_text(&r, CT_FORMAT_G2O, NULL, 0, NULL);
    CHECK(text && strstr(text, "VERTEX_SE2 0 1 0 0\n") && strstr(text, "VERTEX_SE2 2 3 0 0\n"));
    CHECK(text && strstr(text, "VERTEX_SE2 3 4 0 0\n"));
    CHECK_OK(read_text(&again, CT_FORMAT_G2O, text ? text : ""), again.err);
    CHECK(again.seq && ct_graph_variables(again.seq->graph) == 5 && ct_graph_find(again.seq->graph,
                                                                                  "x9223372034707292160") == 0);
    free(text);
    run_free(&again);
    run_free(&r);
}

static void test_errors_of_public_pose_graphs_are_gtsams(void)
{
    static const struct {
        const char *name;
        int32_t     poses, edges;
        int         plane;
        double      error;
    } list[] = {
        {"intel.g2o", 1728, 2512, 1, 275.8678654},
        {"manhattan.g2o", 3500, 5453, 1, 1.165926566e+10},
        {"sphere2500.g2o", 2500, 4949, 0, 1305657.712},
        {"parking-garage.g2o", 1661, 6275, 0, 8363.601948},
    };
    FILE *there = fopen(SHARED "intel.g2o", "rb");
    if (!there) SKIP("no " SHARED);
    fclose(there);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char path[128];
        run  r = {0}, again;
        snprintf(path, sizeof path, SHARED "%s", list[i].name);
        ct_noise_new(&r.noise, &r.err);
        CHECK_OK(ct_sequence_read(path, CT_FORMAT_AUTO, r.noise, &r.seq, &r.err), r.err);
        if (r.seq) {
            CHECK(ct_graph_variables(r.seq->graph) == list[i].poses && ct_graph_factors(r.seq->graph) == list[i].edges);
            const double error = ct_graph_error(r.seq->graph, r.noise, ct_graph_initial_const(r.seq->graph));
            CHECK_NEAR(list[i].plane ? error_in_chart(&r) : error, list[i].error, 1e-6 * list[i].error);
            char *text = write_text(&r, CT_FORMAT_G2O, NULL, 0, NULL);
            CHECK_OK(read_text(&again, CT_FORMAT_G2O, text), again.err);
            CHECK_NEAR(ct_graph_error(again.seq->graph, again.noise, ct_graph_initial_const(again.seq->graph)), error,
                       1e-12 * error);
            free(text);
            run_free(&again);
        }
        run_free(&r);
    }
}

int main(void)
{
    RUN(test_what_is_written_again_is_the_same_text);
    RUN(test_types_of_the_plane_mean_what_g2o_means);
    RUN(test_information_of_poses_in_space_is_turned);
    RUN(test_the_error_of_an_edge_checked_by_hand);
    RUN(test_chains_of_conversions_end_where_they_began);
    RUN(test_long_matrices_come_back_to_rounding);
    RUN(test_equal_matrices_are_one_model);
    RUN(test_edges_place_variables_that_have_no_vertex);
    RUN(test_vertices_count_wherever_they_stand_and_priors_anchor);
    RUN(test_placing_takes_linear_time);
    RUN(test_every_mistake_is_named_with_its_line);
    RUN(test_what_g2o_cannot_hold_is_refused_or_counted);
    RUN(test_names_that_are_no_ids_are_numbered_behind_the_ids);
    RUN(test_ids_that_are_written_are_ids_that_are_read);
    RUN(test_errors_of_public_pose_graphs_are_gtsams);
    return ct_test_end();
}
