/* test_multiplier_files.c: multiples of models' covariances in files: covtune's own keep them, those with a matrix on
 * every edge hold the product, LEO's have no place for them. */
#define _XOPEN_SOURCE 700
#include "data_test.h"

#include <covtune/api.h>

#define MODELS "noise a diagonal 0.01 0.02 0.0004\nnoise b full 2 0.5 0 0.5 3 0 0 0 1\nnoise c isotropic 2 0.25\n"
#define POSES  "var x0 SE2 0 0 0\nvar x1 SE2 1 0 0.1\nvar l0 R2 3 1\n"

static const char TEXT[] = "covtune-sequence 2\n" MODELS POSES
                           "factor between_se2 a x0 x1 multiplier=2.5 1 0 0.1\n"
                           "factor between_se2 b x0 x1 multiplier=0.125 1 0 0.1\n"
                           "factor between_se2 b x1 x0 -1 0 -0.1\n"
                           "factor point_se2_r2 c x0 l0 multiplier=1e-12 3 1\n";

static void test_files_keep_multipliers(void)
{
    run r;
    CHECK_SAME_TEXT(CT_FORMAT_COVTUNE, TEXT);
    MUST_READ(&r, CT_FORMAT_COVTUNE, TEXT);
    CHECK(ct_graph_factor(r.seq->graph, 0).multiplier == 2.5);
    CHECK(ct_graph_factor(r.seq->graph, 1).multiplier == 0.125);
    CHECK(ct_graph_factor(r.seq->graph, 2).multiplier == 1);
    CHECK(ct_graph_factor(r.seq->graph, 3).multiplier == 1e-12);
    run_free(&r);
    /* a multiplier of 1 is none, and needs no version 2 to be written */
    MUST_READ(&r, CT_FORMAT_COVTUNE,
              "covtune-sequence 2\n" MODELS POSES "factor point_se2_r2 c x0 l0 multiplier=1 3 1\n");
    char *text = write_text(&r, CT_FORMAT_COVTUNE, NULL, 0, NULL);
    CHECK(text && !strncmp(text, "covtune-sequence 1\n", 19) && !strstr(text, "multiplier"));
    free(text);
    run_free(&r);
}

static void test_refusals_of_files_name_the_line(void)
{
#define LINE(version, word)                                                                                           \
    "covtune-sequence " version "\nnoise c isotropic 2 0.25\n" POSES "factor point_se2_r2 c x0 l0 " word " 3 1\n"
    CHECK_MESSAGE(CT_FORMAT_COVTUNE, LINE("1", "multiplier=2"),
                  "t.txt:6: multiplier= is of version 2; the first line must then be \"covtune-sequence 2\"");
    CHECK_MESSAGE(CT_FORMAT_COVTUNE, LINE("2", "multiplier=two"),
                  "t.txt:6: expected multiplier= and a finite number, found \"multiplier=two\"");
    CHECK_MESSAGE(CT_FORMAT_COVTUNE, LINE("2", "multiplier=0"),
                  "t.txt:6: factor 0 (point_se2_r2): its covariance must be 1e-12 to 1e+12 times its model's, not 0");
    CHECK_MESSAGE(CT_FORMAT_COVTUNE, LINE("4", ""),
                  "t.txt:1: the file is of version \"4\"; this covtune reads versions 1 to 3");
#undef LINE
}

/* Formats with a matrix on every edge hold m Sigma: the graph read back has the same error anywhere. */
static void test_formats_with_a_matrix_on_every_edge_hold_the_product(void)
{
    static const ct_format FORMAT[] = {CT_FORMAT_G2O, CT_FORMAT_PYFG, CT_FORMAT_ISAM};
    for (int i = 0; i < 3; i++) {
        run r, again;
        MUST_READ(&r, CT_FORMAT_COVTUNE, TEXT);
        char *text = write_text(&r, FORMAT[i], NULL, 0, NULL);
        CHECK(text);
        if (!text) fprintf(stderr, "%s\n", r.err.text);
        CHECK_OK(read_text(&again, FORMAT[i], text ? text : ""), again.err);
        const double x[] = {0.1, 0, 1, 0, 1.2, 0.3, cos(0.2), sin(0.2), 3.1, 1.2};
        const double error = ct_graph_error(r.seq->graph, r.noise, x);
        CHECK_NEAR(again.seq ? ct_graph_error(again.seq->graph, again.noise, x) : NAN, error, 1e-9 * error);
        for (int32_t f = 0; again.seq && f < 4; f++) CHECK(ct_graph_factor(again.seq->graph, f).multiplier == 1);
        free(text);
        run_free(&r);
        run_free(&again);
    }
}

/* A problem read from a file is updated to where it is solved. */
static void test_problems_keep_multipliers(void)
{
    ct_problem *batch = NULL, *incremental = NULL;
    ct_err      err;
    char        path[512];
    double      a[3], b[3], P[9], Q[9];
    snprintf(path, sizeof path, "%s/multiplier.ctseq", ct_test_folder());
    FILE *file = fopen(path, "w");
    fprintf(file, "covtune-sequence 2\n" MODELS POSES "factor prior_se2 a x0 0 0 0\n"
                  "factor between_se2 a x0 x1 multiplier=2.5 1 0 0.1\n"
                  "factor between_se2 b x0 x1 multiplier=0.01 1.5 0 0.3\nfactor point_se2_r2 c x0 l0 3 1\n");
    fclose(file);
    CHECK_OK(ct_problem_read(path, &batch, &err), err);
    CHECK_OK(ct_problem_read(path, &incremental, &err), err);
    CHECK_OK(ct_problem_solve(batch, NULL, NULL, &err), err);
    for (int i = 0; i < 10; i++) CHECK_OK(ct_problem_update(incremental, NULL, &err), err);
    CHECK_OK(ct_problem_value(batch, 1, a, &err), err);
    CHECK_OK(ct_problem_value(incremental, 1, b, &err), err);
    CHECK_OK(ct_problem_marginal(batch, 1, P, &err), err);
    CHECK_OK(ct_problem_marginal(incremental, 1, Q, &err), err);
    for (int i = 0; i < 3; i++) CHECK_NEAR(a[i], b[i], 0.02); /* of 0.5 m between the two measurements */
    for (int i = 0; i < 9; i++) CHECK_NEAR(P[i], Q[i], 0.05 * P[0]);
    CHECK_REFUSED(ct_problem_set_multiplier(incremental, 1, 2, &err), err, "an update has brought it in");
    CHECK_REFUSED(ct_problem_set_multiplier(batch, 9, 2, &err), err, "there is no factor 9");
    CHECK_REFUSED(ct_problem_set_multiplier(batch, 1, 0, &err), err, "must be 1e-12 to 1e+12 times");
    CHECK_REFUSED(ct_problem_set_multiplier(NULL, 1, 2, &err), err, "there is no problem");
    /* with the second measurement nearly ignored the first one holds */
    CHECK_OK(ct_problem_set_multiplier(batch, 2, 1e12, &err), err);
    CHECK_OK(ct_problem_solve(batch, NULL, NULL, &err), err);
    CHECK_OK(ct_problem_value(batch, 1, a, &err), err);
    CHECK_NEAR(a[0], 1, 1e-6);
    ct_problem_free(batch);
    ct_problem_free(incremental);
    remove(path);
}

static void test_leo_logs_have_no_place_for_multipliers(void)
{
    run     r;
    int64_t dropped = 0;
    MUST_READ(&r, CT_FORMAT_COVTUNE,
              "covtune-sequence 2\nnoise odom diagonal 1 1 1\nvar x0 SE2 0 0 0\ntruth x0 0 0 0\nvar x1 SE2 1 0 0\n"
              "truth x1 1 0 0\nfactor between_se2 odom x0 x1 multiplier=4 1 0 0\n");
    CHECK(!write_text(&r, CT_FORMAT_LEO, NULL, 0, NULL));
    CHECK(!strcmp(r.err.text, "factor 0: a LEO log has no place for the multiplier 4 of noise model \"odom\""));
    char *text = write_text(&r, CT_FORMAT_LEO, NULL, 1, &dropped);
    CHECK(text && dropped == 1);
    free(text);
    run_free(&r);
}

int main(void)
{
    RUN(test_files_keep_multipliers);
    RUN(test_refusals_of_files_name_the_line);
    RUN(test_formats_with_a_matrix_on_every_edge_hold_the_product);
    RUN(test_problems_keep_multipliers);
    RUN(test_leo_logs_have_no_place_for_multipliers);
    return ct_test_end();
}
