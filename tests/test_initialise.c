/* test_initialise.c: values composed from measurements alone. */
#define _XOPEN_SOURCE 700
#include "data_test.h"

#define HEAD "covtune-sequence 1\nnoise n isotropic 3 1\nnoise p isotropic 2 1\n"

/* Reads a sequence of SE2 poses and gives the x of each after reaching. */
static void reach(const char *text, double x[], double y[])
{
    run r;
    MUST_READ(&r, CT_FORMAT_COVTUNE, text);
    double *values = calloc((size_t)ct_graph_size(r.seq->graph), sizeof *values);
    CHECK_OK(ct_sequence_initialise(r.seq, 0, values, &r.err), r.err);
    for (int32_t v = 0; v < ct_graph_variables(r.seq->graph); v++) {
        x[v] = values[ct_graph_offset(r.seq->graph, v)];
        if (y) y[v] = values[ct_graph_offset(r.seq->graph, v) + 1];
    }
    free(values);
    run_free(&r);
}

static void test_a_chain_begins_at_its_first_prior_and_follows_odometry(void)
{
    double x[3];
    reach(HEAD "var a SE2 9 9 9\nvar b SE2 9 9 9\nvar c SE2 9 9 9\ntruth b 77 0 0\n"
               "factor prior_se2 n c 50 0 0\nfactor prior_se2 n a 1 0 0\nfactor prior_se2 n a 2 0 0\n"
               "factor between_se2 n a b 1 0 0\nfactor between_se2 n b c 1 0 0\n", x, NULL);
    CHECK(x[0] == 1 && x[1] == 2 && x[2] == 3); /* the first variable's first prior; c's own places nothing */
}

static void test_what_is_measured_absolutely_begins_there(void)
{
    run    r;
    double x[16];
    MUST_READ(&r, CT_FORMAT_COVTUNE,
              HEAD "var a SE2 9 9 9\nvar b SE2 9 9 9\nvar c SE2 9 9 9\nvar d SE2 9 9 9\n"
                   "factor prior_se2 n a 1 0 0\nfactor between_se2 n a b 1 0 0\nfactor between_se2 n b c 1 0 0\n"
                   "factor prior_se2 n c 50 0 0\nfactor between_se2 n c d 1 0 0\n");
    CHECK_OK(ct_sequence_initialise(r.seq, 1, x, &r.err), r.err);
    CHECK(x[0] == 1 && x[4] == 2 && x[8] == 50 && x[12] == 51);
    CHECK_OK(ct_sequence_initialise(r.seq, 0, x, &r.err), r.err);
    CHECK(x[0] == 1 && x[4] == 2 && x[8] == 3 && x[12] == 4);
    run_free(&r);
}

static void test_edges_are_walked_backwards_too(void)
{
    double x[3];
    reach(HEAD "var a SE2 9 9 9\nvar b SE2 9 9 9\nvar c SE2 9 9 9\n"
               "factor between_se2 n a b 1 0 0\nfactor between_se2 n b c 1 0 0\nfactor prior_se2 n c 10 0 0\n",
          x, NULL);
    CHECK(x[0] == 8 && x[1] == 9 && x[2] == 10);
}

static void test_fixed_variables_are_where_they_are(void)
{
    double x[3];
    reach(HEAD "var a SE2 9 0 0\nvar b SE2 5 0 0 fixed\nvar c SE2 9 9 9\n"
               "factor prior_se2 n a 1 0 0\nfactor between_se2 n a b 1 0 0\nfactor between_se2 n b c 1 0 0\n", x, NULL);
    CHECK(x[0] == 4 && x[1] == 5 && x[2] == 6);
}

static void test_parts_begin_each_at_a_prior_or_at_their_first_pose(void)
{
    double x[6];
    reach(HEAD "var a SE2 3 0 0\nvar b SE2 9 9 9\nvar c SE2 9 9 9\nvar d SE2 9 9 9\nvar e SE2 7 0 0\nvar f SE2 9 9 9\n"
               "factor between_se2 n a b 1 0 0\nfactor between_se2 n c d 1 0 0\nfactor prior_se2 n d 21 0 0\nfactor "
               "between_se2 n e f 2 0 0\n",
          x, NULL);
    CHECK(x[0] == 3 && x[1] == 4 && x[2] == 20 && x[3] == 21 && x[4] == 7 && x[5] == 9);
}

static void test_points_and_velocities_are_followed(void)
{
    double x[4], y[4];
    reach(HEAD "var a SE2 9 9 9\nvar b SE2 9 9 9\nvar l R2 9 9\nvar m R2 8 8\n"
               "factor prior_se2 n a 1 2 0\nfactor velocity_se2 n a b 2 0 0 0.5\nfactor point_se2_r2 p b l 1 1\n",
          x, y);
    CHECK(x[1] == 2 && y[1] == 2 && x[2] == 3 && y[2] == 3);
    CHECK(x[3] == 8 && y[3] == 8); /* nothing reaches it */
}

static void test_a_graph_measured_as_gtsam_does_is_reached_as_well(void)
{
    run    r;
    double a[8], b[8];
    MUST_READ(&r, CT_FORMAT_COVTUNE,
              HEAD "var a SE2 9 9 9\nvar b SE2 9 9 9\nfactor prior_se2 n a 1 0 0.5\nfactor between_se2 n a b 1 0 1\n");
    CHECK_OK(ct_sequence_initialise(r.seq, 0, a, &r.err), r.err);
    CHECK_OK(ct_graph_like_gtsam(r.seq->graph, &r.err), r.err);
    CHECK_OK(ct_sequence_initialise(r.seq, 0, b, &r.err), r.err);
    CHECK(same_bits(a, b, 8) && a[0] == 1);
    run_free(&r);
}

static void test_initial_values_may_be_replaced_in_place(void)
{
    run    r;
    double x[8];
    MUST_READ(&r, CT_FORMAT_COVTUNE,
              HEAD "var a SE2 9 9 9\nvar b SE2 9 9 9\nfactor prior_se2 n a 1 0 0.5\nfactor between_se2 n a b 1 0 1\n");
    CHECK_OK(ct_sequence_initialise(r.seq, 0, x, &r.err), r.err);
    CHECK_OK(ct_sequence_initialise(r.seq, 0, ct_graph_initial(r.seq->graph), &r.err), r.err);
    CHECK(same_bits(x, ct_graph_initial_const(r.seq->graph), 8));
    run_free(&r);
}

static void test_sums_that_leave_the_numbers_are_refused_by_name(void)
{
    run    r;
    double x[8];
    MUST_READ(
        &r, CT_FORMAT_COVTUNE,
        HEAD
        "var a SE2 0 0 0\nvar b SE2 0 0 0\nfactor prior_se2 n a 1.7e308 0 0\nfactor between_se2 n a b 1.7e308 0 0\n");
    CHECK_REFUSED(ct_sequence_initialise(r.seq, 0, x, &r.err), r.err,
                  "composing the edges up to b gives a number that is not finite");
    run_free(&r);
}

static void test_an_empty_graph_has_nothing_to_reach(void)
{
    ct_sequence *seq = NULL;
    ct_err       err = {0};
    double       x[1];
    CHECK_OK(ct_sequence_new(NULL, &seq, &err), err);
    CHECK_OK(ct_sequence_initialise(seq, 0, x, &err), err);
    ct_sequence_free(seq);
}

int main(void)
{
    RUN(test_a_chain_begins_at_its_first_prior_and_follows_odometry);
    RUN(test_what_is_measured_absolutely_begins_there);
    RUN(test_edges_are_walked_backwards_too);
    RUN(test_fixed_variables_are_where_they_are);
    RUN(test_parts_begin_each_at_a_prior_or_at_their_first_pose);
    RUN(test_points_and_velocities_are_followed);
    RUN(test_a_graph_measured_as_gtsam_does_is_reached_as_well);
    RUN(test_initial_values_may_be_replaced_in_place);
    RUN(test_sums_that_leave_the_numbers_are_refused_by_name);
    RUN(test_an_empty_graph_has_nothing_to_reach);
    return ct_test_end();
}
