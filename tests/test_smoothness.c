/* test_smoothness.c: second differences of trajectories. */
#include "ct_test.h"

#include <covtune/covtune.h>

/* x = t^2 / 2 + t has an acceleration of 1, yaw = 0.05 t^2 one of 0.1, at any times. Without times, at t = k, the
 * same. */
static void test_second_differences_by_hand(void)
{
    for (int timed = 0; timed < 2; timed++) {
        ct_graph    *graph = NULL;
        ct_sequence *seq = NULL;
        ct_err       err = {0};
        CHECK_OK(ct_graph_new(&graph, &err), err);
        CHECK_OK(ct_sequence_new(graph, &seq, &err), err);
        seq->stamp = timed ? malloc(16 * sizeof *seq->stamp) : NULL;
        for (int k = 0; k < 8; k++) {
            char         name[16];
            const double t = timed ? 0.3 * k + 0.05 * (k % 3) : k;
            snprintf(name, sizeof name, "a%d", k);
            CHECK_OK(ct_graph_add_se2(graph, name, ct_se2_make(0.5 * t * t + t, 3, 0.05 * t * t), NULL, &err), err);
            snprintf(name, sizeof name, "b%d", k); /* a second body that stands still */
            CHECK_OK(ct_graph_add_se2(graph, name, ct_se2_make(1, 1, 1), NULL, &err), err);
            if (timed) seq->stamp[2 * k] = seq->stamp[2 * k + 1] = t;
        }
        const ct_smoothness s = ct_smoothness_of(seq, ct_graph_initial(graph));
        CHECK(s.triples == 12 && s.timed == timed);
        CHECK_NEAR(s.translation, sqrt(0.5), 1e-12); /* half of the triples are of a body that stands still */
        CHECK_NEAR(s.rotation, 0.1 * sqrt(0.5), 1e-12);
        if (timed) seq->stamp[6] = NAN; /* one is missing: steps */
        CHECK(!ct_smoothness_of(seq, ct_graph_initial(graph)).timed);
        ct_sequence_free(seq);
    }
}

static void test_turns_are_smooth_past_pi_and_two_poses_have_no_second_difference(void)
{
    ct_graph    *graph = NULL;
    ct_sequence *seq = NULL;
    ct_err       err = {0};
    CHECK_OK(ct_graph_new(&graph, &err), err);
    CHECK_OK(ct_sequence_new(graph, &seq, &err), err);
    for (int k = 0; k < 30; k++) {
        CHECK_OK(ct_graph_add_se2(graph, NULL, ct_se2_make(0, 0, 0.5 * k), NULL, &err), err);
        const ct_smoothness s = ct_smoothness_of(seq, ct_graph_initial(graph));
        if (k < 2) CHECK(s.triples == 0 && isnan(s.translation) && isnan(s.rotation));
        else CHECK(s.triples == k - 1 && s.rotation < 1e-12 && s.translation == 0);
    }
    ct_sequence_free(seq);
}

int main(void)
{
    RUN(test_second_differences_by_hand);
    RUN(test_turns_are_smooth_past_pi_and_two_poses_have_no_second_difference);
    return ct_test_end();
}
