/* test_read_pyfg.c: PyFactorGraph's text format: covariances, times, truth. */
#define _XOPEN_SOURCE 700
#include "data_test.h"

static const char PLANE[] = "VERTEX_SE2 0.5 A0 1 2 0.25\n"
                            "VERTEX_SE2 1.5 A1 2 2 0.5\n"
                            "VERTEX_XY L0 4 5\n"
                            "VERTEX_SE2:PRIOR 0.5 A0 1 2 0.25 0.01 0 0 0.01 0 0.001\n"
                            "VERTEX_XY:PRIOR 0 L0 4 5 0.5 0.125 0.5\n"
                            "EDGE_SE2 1.5 A0 A1 1 0.125 0.25 0.01 0.001 0 0.02 0 0.0004\n"
                            "EDGE_SE2_XY 1.5 A1 L0 2 3 0.25 0 0.25\n"
                            "EDGE_RANGE 0.5 A0 L0 4.25 0.09\n";

static const char SPACE[] =
    "VERTEX_SE3:QUAT 0.5 A0 1 2 3 0 0 0 1\n"
    "VERTEX_SE3:QUAT 1.5 A1 2 2 3 0.5 0.5 0.5 0.5\n"
    "VERTEX_XYZ L0 4 5 6\n"
    "VERTEX_SE3:QUAT:PRIOR 0.5 A0 1 2 3 0 0 0 1 0.01 0 0 0 0 0 0.01 0 0 0 0 0.01 0 0 0 0.04 0 0 0.04 0 0.04\n"
    "VERTEX_XYZ:PRIOR 0 L0 4 5 6 0.5 0 0 0.5 0 0.5\n"
    "EDGE_SE3:QUAT 1.5 A0 A1 1 0 0 0.5 0.5 0.5 0.5 1 0 0 0 0 0.25 2 0 0 0 0 3 0 0 0 4 0 0 5 0 6\n"
    "EDGE_SE3_XYZ 1.5 A1 L0 1 2 3 0.25 0 0 0.25 0 0.25\n"
    "EDGE_RANGE 0.5 A0 L0 4.25 0.09\n";

static void test_what_is_written_again_is_the_same_text(void)
{
    CHECK_SAME_TEXT(CT_FORMAT_PYFG, PLANE);
    CHECK_SAME_TEXT(CT_FORMAT_PYFG, SPACE);
    CHECK_SAME_TEXT(CT_FORMAT_PYFG, "");
}

static void test_vertices_are_truth_and_have_times(void)
{
    run r;
    MUST_READ(&r, CT_FORMAT_PYFG, PLANE);
    const ct_graph *g = r.seq->graph;
    CHECK(ct_graph_variables(g) == 3 && ct_graph_factors(g) == 5 && ct_graph_find(g, "A1") == 1 &&
          ct_graph_kind(g, 2) == CT_R2);
    CHECK(r.seq->truth && same_bits(r.seq->truth, ct_graph_initial_const(g), ct_graph_size(g)));
    CHECK(r.seq->known[0] == 7 && r.seq->known[2] == 3);
    CHECK(r.seq->stamp[0] == 0.5 && r.seq->stamp[1] == 1.5 && isnan(r.seq->stamp[2]));
    CHECK(!strcmp(r.seq->note, "the file holds true values alone: the initial values are the true ones"));
    const ct_factor edge = ct_graph_factor(g, 2), range = ct_graph_factor(g, 4);
    CHECK(edge.ops == &ct_between_se2 && edge.z[1] == 0.125 && edge.z[3] == sin(0.25));
    CHECK(range.ops == &ct_range_se2_r2 && range.z[0] == 4.25 && range.z[1] == 0);
    CHECK(ct_noise_get(r.noise, range.noise)->covariance[0] == 0.09);
    run_free(&r);
}

/* Covariances, not information; translation first in the file, rotation first in covtune. */
static void test_covariances_are_taken_as_they_are_and_turned(void)
{
    run r;
    MUST_READ(&r, CT_FORMAT_PYFG, PLANE);
    const double *plane = ct_noise_get(r.noise, ct_graph_factor(r.seq->graph, 2).noise)->covariance;
    CHECK(plane[0] == 0.01 && plane[1] == 0.001 && plane[3] == 0.001 && plane[4] == 0.02 && plane[8] == 0.0004);
    run_free(&r);
    MUST_READ(&r, CT_FORMAT_PYFG, SPACE);
    const double       *space = ct_noise_get(r.noise, ct_graph_factor(r.seq->graph, 2).noise)->covariance;
    static const double want[6] = {4, 5, 6, 1, 2, 3};
    for (int i = 0; i < 36; i++)
        CHECK(space[i] == (i / 6 == i % 6 ? want[i / 6] : i == 2 * 6 + 3 || i == 3 * 6 + 2 ? 0.25 : 0));
    CHECK(ct_graph_factor(r.seq->graph, 4).ops == &ct_range_se3_r3);
    run_free(&r);
}

/* Robots measure their distance from each other; what is written is read again. */
static void test_a_range_may_be_to_the_pose_of_another_robot(void)
{
    run r;
    MUST_READ(&r, CT_FORMAT_PYFG, "VERTEX_SE2 0 A0 0 0 0\nVERTEX_SE2 0 B0 3 4 1\nEDGE_RANGE 0 A0 B0 5.5 0.25\n");
    const ct_factor range = ct_graph_factor(r.seq->graph, 0);
    CHECK(range.ops == &ct_range_se2_se2 && range.z[0] == 5.5 && range.var[1] == 1);
    CHECK_NEAR(ct_graph_error(r.seq->graph, r.noise, ct_graph_initial_const(r.seq->graph)), 0.5, 1e-15);
    char *text = write_text(&r, CT_FORMAT_PYFG, NULL, 0, NULL);
    CHECK(text && strstr(text, "EDGE_RANGE 0 A0 B0 5.5 0.25\n"));
    free(text);
    run_free(&r);
    MUST_READ(&r, CT_FORMAT_PYFG, "VERTEX_SE3:QUAT 0 A0 0 0 0 0 0 0 1\nVERTEX_SE3:QUAT 0 B0 3 4 0 0 0 0 1\n"
                                  "EDGE_RANGE 0 A0 B0 5.5 0.25\n");
    CHECK(ct_graph_factor(r.seq->graph, 0).ops == &ct_range_se3_se3);
    run_free(&r);
}

/* |(4, 5) - (1, 2)| = sqrt(18), measured 4.25 with variance .09; the point seen from A1 by hand. */
static void test_the_error_checked_by_hand(void)
{
    run r;
    MUST_READ(&r, CT_FORMAT_PYFG, PLANE);
    const double range = sqrt(18) - 4.25, c = cos(0.5), s = sin(0.5);
    const double px = c * 2 + s * 3 - 2, py = -s * 2 + c * 3 - 3;                     /* R'((4, 5) - (2, 2)) - (2, 3) */
    const double ab[2] = {cos(0.25), -sin(0.25)}, d[2] = {ab[0] - 1, ab[1] - 0.125};  /* A0^-1 A1 against (1, .125) */
    /* no turn is left: the Log is e, 0 */
    const double e[2] = {cos(0.25) * d[0] + sin(0.25) * d[1], -sin(0.25) * d[0] + cos(0.25) * d[1]};
    const double odom = (0.02 * e[0] * e[0] - 2 * 0.001 * e[0] * e[1] + 0.01 * e[1] * e[1]) / (0.01 * 0.02 - 1e-6);
    const double want = 0.5 * (range * range / 0.09 + (px * px + py * py) / 0.25 + odom);
    CHECK_NEAR(ct_graph_error(r.seq->graph, r.noise, ct_graph_initial_const(r.seq->graph)), want, 1e-12 * want);
    run_free(&r);
}

static int in_pyfg(const ct_factor_ops *ops)
{
    const ct_factor_ops *list[] = {&ct_between_se2, &ct_between_se3, &ct_prior_se2,
                                   &ct_prior_se3,   &ct_prior_r2,    &ct_prior_r3};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (ops == list[i]) return 1;
    return 0;
}

/* Without truth of its own a graph is written with its values in the place of truth. Covariances come
 * back to the bit, angles once they are through a file. */
static void test_graphs_come_back(void)
{
    for (uint64_t seed = 1; seed <= 30; seed++) {
        run made, first, second;
        random_run(&made, seed, 1u << CT_R2 | 1u << CT_R3 | 1u << CT_SE2 | 1u << CT_SE3, in_pyfg, 0);
        char *a = write_text(&made, CT_FORMAT_PYFG, NULL, 0, NULL);
        CHECK(a);
        if (!a) return;
        CHECK_OK(read_text(&first, CT_FORMAT_PYFG, a), first.err);
        for (int32_t f = 0; first.seq && f < ct_graph_factors(made.seq->graph); f++) {
            const ct_noise_model *p = ct_noise_get(made.noise, ct_graph_factor(made.seq->graph, f).noise);
            const ct_noise_model *q = ct_noise_get(first.noise, ct_graph_factor(first.seq->graph, f).noise);
            CHECK(same_bits(p->covariance, q->covariance, p->kind == CT_NOISE_FULL ? p->dim * p->dim : p->dim));
        }
        char *b = first.seq ? write_text(&first, CT_FORMAT_PYFG, NULL, 0, NULL) : NULL;
        CHECK(b);
        if (b) {
            CHECK_OK(read_text(&second, CT_FORMAT_PYFG, b), second.err);
            if (second.seq) check_same_run(&first, &second, 1);
            run_free(&second);
        }
        free(a), free(b);
        run_free(&made), run_free(&first);
    }
}

static void test_every_mistake_is_named_with_its_line(void)
{
#define BAD(line, words)                                                                                               \
    CHECK_MESSAGE(CT_FORMAT_PYFG, "VERTEX_SE2 0 A0 0 0 0\nVERTEX_XY L0 1 1\n" line "\n", "t.txt:3: " words)
    BAD("VERTEX_SE2 0", "VERTEX_SE2 needs 2 words: time and name, found 1");
    BAD("VERTEX_XY", "VERTEX_XY needs 1 word: its name, found 0");
    BAD("VERTEX_SE2 soon A1 0 0 0", "expected a finite number for the time, found \"soon\"");
    BAD("VERTEX_SE2 0 A1 0 0", "VERTEX_SE2 needs 3 numbers for SE2, found 2");
    BAD("VERTEX_SE2 0 A1 0 0 0 0", "expected the end of the line, found \"0\"");
    BAD("VERTEX_SE2 0 A0 0 0 0", "variable A0 is there already");
    BAD("EDGE_SE2 0 A0", "EDGE_SE2 needs 3 words: time and names, found 2");
    BAD("EDGE_SE2 0 A0 A1 0 0 0 1 0 0 1 0 1", "there is no vertex \"A1\" above");
    BAD("EDGE_SE2 0 A0 L0 0 0 0 1 0 0 1 0 1", "factor 0 (between_se2): L0 is R2, it must be SE2");
    BAD("EDGE_RANGE 0 A0 A0 1 1", "factor 0 (range_se2_se2): A0 is named twice");
    BAD("EDGE_RANGE 0 L0 A0 1 1", "factor 0 (range_se2_r2): L0 is R2, it must be SE2");
    BAD("EDGE_RANGE 0 A0 L0 1", "EDGE_RANGE needs 1 covariance entries, found 0");
    BAD("EDGE_RANGE 0 A0 L0 1 nan", "expected a finite number for covariance entry (1, 1), found \"nan\"");
    BAD("EDGE_BEARING 0 A0 L0 1 1", "covtune does not know the PyFactorGraph type \"EDGE_BEARING\"");
#undef BAD
    run r;
    CHECK(read_text(&r, CT_FORMAT_PYFG, "VERTEX_SE2 0 A0 0 0 0\nVERTEX_XY L0 1 1\nEDGE_RANGE 0 A0 L0 1 -1\n") ==
              CT_E_NOISE &&
          !strncmp(r.err.text, "t.txt:3: ", 9));
    run_free(&r);
}

static void test_what_pyfg_cannot_hold_is_refused_or_counted(void)
{
    static const struct {
        const char *text, *words;
    } list[] = {
        {"var a SO2 0\n", "variable a: PyFactorGraph has no vertex for SO2"},
        {"var a SE2 0 0 0 fixed\n", "variable a: PyFactorGraph cannot hold a variable at its value"},
        {"var a SE2 0 0 0\ntruth a 0 0 0 known=x,y\n",
         "variable a: PyFactorGraph has no place for a truth known in part"},
        {"var a R2 0 0 t=1\n", "variable a: PyFactorGraph has no place for a point's time"},
        {"noise n isotropic 2 1\nvar a SE2 0 0 0\nfactor position_se2 n a 1 1\n",
         "factor 0 (position_se2 on a): PyFactorGraph has no edge for it"},
        {"noise n isotropic 1 1\nvar a SE2 0 0 0\nvar p R2 1 1\nfactor range_se2_r2 n a p 1 0.5 0\n",
         "factor 0 (range_se2_r2 on a): PyFactorGraph has no edge for it"},
        {"noise n isotropic 2 1 tukey 4\nvar p R2 1 1\nfactor prior_r2 n p 1 1\n",
         "factor 0 (prior_r2): PyFactorGraph has no place for the kernel of noise model n"},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char    text[512];
        run     r;
        int64_t dropped = 0;
        snprintf(text, sizeof text, "covtune-sequence 1\n%s", list[i].text);
        MUST_READ(&r, CT_FORMAT_COVTUNE, text);
        char *none = write_text(&r, CT_FORMAT_PYFG, NULL, 0, NULL);
        CHECK(!none && r.err.status == CT_E_UNSUPPORTED && !strcmp(r.err.text, list[i].words));
        char *some = write_text(&r, CT_FORMAT_PYFG, NULL, 1, &dropped);
        CHECK(some && dropped == 1);
        free(none), free(some);
        run_free(&r);
    }
}

static void test_an_estimate_does_not_pass_for_the_truth(void)
{
    run     r;
    int64_t dropped = 0;
    MUST_READ(&r, CT_FORMAT_PYFG, "VERTEX_XY L0 1 2\n");
    char *text = write_text(&r, CT_FORMAT_PYFG, (const double[]){3, 4}, 0, NULL);
    CHECK(!text && !strcmp(r.err.text, "variable L0: PyFactorGraph holds its true value alone, no estimate"));
    text = write_text(&r, CT_FORMAT_PYFG, (const double[]){3, 4}, 1, &dropped);
    CHECK(text && dropped == 1 && !strcmp(text, "VERTEX_XY L0 1 2\n"));
    free(text);
    run_free(&r);
}

int main(void)
{
    RUN(test_what_is_written_again_is_the_same_text);
    RUN(test_vertices_are_truth_and_have_times);
    RUN(test_covariances_are_taken_as_they_are_and_turned);
    RUN(test_a_range_may_be_to_the_pose_of_another_robot);
    RUN(test_the_error_checked_by_hand);
    RUN(test_graphs_come_back);
    RUN(test_every_mistake_is_named_with_its_line);
    RUN(test_what_pyfg_cannot_hold_is_refused_or_counted);
    RUN(test_an_estimate_does_not_pass_for_the_truth);
    return ct_test_end();
}
