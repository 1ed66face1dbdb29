/* test_truth_frame.c: a truth in another frame than the measurements is found, drift and noise are not taken for it. */
#include "ct_test.h"

#include <covtune/covtune.h>

/* truth <- T truth, T a rotation about z and a shift. */
static void move_truth(ct_sequence *seq, double x, double y, double angle)
{
    for (int32_t v = 0; v < ct_graph_variables(seq->graph); v++) {
        double *t = seq->truth + ct_graph_offset(seq->graph, v);
        if (ct_graph_kind(seq->graph, v) == CT_SE2) {
            const ct_se2 moved = ct_se2_compose(ct_se2_make(x, y, angle), (ct_se2){t[0], t[1], t[2], t[3]}, NULL, NULL);
            memcpy(t, &moved, sizeof moved);
        } else {
            const ct_se3 T = {x, y, 0, 0, 0, sin(angle / 2), cos(angle / 2)};
            const ct_se3 moved = ct_se3_compose(T, (ct_se3){t[0], t[1], t[2], t[3], t[4], t[5], t[6]}, NULL, NULL);
            memcpy(t, &moved, sizeof moved);
        }
    }
}

static ct_sequence *simulate(ct_kind kind, uint64_t number, ct_noise *noise)
{
    ct_nav_options options;
    ct_sequence   *seq = NULL;
    ct_err         err = {0};
    CHECK(ct_nav_preset("D1", kind, &options));
    CHECK_OK(ct_simulate_nav(&options, number, noise, &seq, &err), err);
    return seq;
}

static void test_a_moved_truth_is_found_with_its_offset(void)
{
    const ct_kind KINDS[] = {CT_SE2, CT_SE3};
    for (int k = 0; k < 2; k++) {
        ct_noise           *noise = NULL;
        ct_err              err = {0};
        ct_frame_difference d;
        CHECK_OK(ct_noise_new(&noise, &err), err);
        ct_sequence *seq = simulate(KINDS[k], 3, noise);
        CHECK_OK(ct_truth_frame(seq, noise, &d, &err), err);
        CHECK(!d.differs && d.before < 5);
        move_truth(seq, 1000, 500, 0);
        CHECK_OK(ct_truth_frame(seq, noise, &d, &err), err);
        CHECK(d.differs);
        CHECK_NEAR(d.shift[0], 1000, 1);
        CHECK_NEAR(d.shift[1], 500, 1);
        CHECK_NEAR(d.angle, 0, 0.05);
        CHECK_NEAR(d.before, hypot(1000, 500), 3);
        CHECK(d.after < 5);
        move_truth(seq, 0, 0, 0.7);
        CHECK_OK(ct_truth_frame(seq, noise, &d, &err), err);
        CHECK(d.differs);
        CHECK_NEAR(d.angle, 0.7, 0.05);
        ct_sequence_free(seq);
        ct_noise_free(noise);
    }
}

/* Odometry with loop closures from a known first pose drifts: that is no other frame. */
static void test_noise_and_drift_are_not_taken_for_another_frame(void)
{
    ct_err              err = {0};
    ct_frame_difference d;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        ct_pose_graph_options options = ct_pose_graph_defaults(seed % 2 ? CT_SE2 : CT_SE3);
        ct_noise             *noise = NULL;
        ct_sequence          *seq = NULL;
        options.poses = 100 + 10 * (int32_t)seed;
        options.seed = seed;
        options.loop_chance = seed % 3 ? 0.5 : 0;
        CHECK_OK(ct_noise_new(&noise, &err), err);
        CHECK_OK(ct_simulate_pose_graph(&options, noise, &seq, &err), err);
        CHECK_OK(ct_truth_frame(seq, noise, &d, &err), err);
        CHECK(!d.differs && d.before > 0);
        ct_sequence_free(seq);
        ct_noise_free(noise);
        CHECK_OK(ct_noise_new(&noise, &err), err);
        seq = simulate(seed % 2 ? CT_SE2 : CT_SE3, seed, noise);
        CHECK_OK(ct_truth_frame(seq, noise, &d, &err), err);
        CHECK(!d.differs && d.before > 0);
        ct_sequence_free(seq);
        ct_noise_free(noise);
    }
}

static void test_what_cannot_be_told_is_not_found(void)
{
    ct_noise           *noise = NULL;
    ct_err              err = {0};
    ct_frame_difference d;
    CHECK_OK(ct_noise_new(&noise, &err), err);
    ct_sequence *seq = simulate(CT_SE2, 1, noise);
    move_truth(seq, 1000, 0, 0);
    for (int32_t v = 4; v < ct_graph_variables(seq->graph); v++) seq->known[v] = 4; /* four positions, then headings */
    CHECK_OK(ct_truth_frame(seq, noise, &d, &err), err);
    CHECK(!d.differs && isnan(d.before));
    seq->known[4] = 3;
    CHECK_OK(ct_truth_frame(seq, noise, &d, &err), err);
    CHECK(d.differs);
    free(seq->truth);
    free(seq->known);
    seq->truth = NULL;
    seq->known = NULL;
    CHECK_OK(ct_truth_frame(seq, noise, &d, &err), err);
    CHECK(!d.differs);
    ct_sequence_free(seq);
    ct_noise_free(noise);
}

/* A chain of 20 poses with odometry of a millimetre, and positions of `fixes` of them with a sigma of 1 m: their mean
 * error is the same for all poses, and far above what a shift leaves. That is noise. */
static ct_sequence *precise_chain(uint64_t seed, int fixes)
{
    ct_graph    *graph = NULL;
    ct_sequence *seq = NULL;
    ct_err       err = {0};
    ct_rng       rng = ct_rng_seed(seed);
    CHECK_OK(ct_graph_new(&graph, &err), err);
    CHECK_OK(ct_sequence_new(graph, &seq, &err), err);
    seq->truth = calloc(80, sizeof *seq->truth);
    seq->known = malloc(20);
    memset(seq->known, 7, 20);
    for (int k = 0; k < 20; k++) {
        const ct_se2 truth = ct_se2_make(0.5 * k, 0.02 * k * k, 0.05 * k);
        memcpy(seq->truth + 4 * k, &truth, sizeof truth);
        CHECK_OK(ct_graph_add_se2(graph, NULL, truth, NULL, &err), err);
        const double z[2] = {truth.x + ct_rng_normal(&rng), truth.y + ct_rng_normal(&rng)};
        if (k < fixes) CHECK_OK(ct_graph_add_position(graph, k, z, 1, &err), err);
        const double e[3] = {1e-3 * ct_rng_normal(&rng), 1e-3 * ct_rng_normal(&rng), 1e-4 * ct_rng_normal(&rng)};
        const ct_se2 before = ct_se2_make(0.5 * (k - 1), 0.02 * (k - 1) * (k - 1), 0.05 * (k - 1)),
                     step = ct_se2_compose(ct_se2_between(before, truth, NULL, NULL), ct_se2_exp(e), NULL, NULL);
        if (k) CHECK_OK(ct_graph_add_between_se2(graph, k - 1, k, step, 0, &err), err);
    }
    const double prior[3] = {ct_rng_normal(&rng), ct_rng_normal(&rng), 1e-4};
    if (!fixes)
        CHECK_OK(ct_graph_add_prior_se2(graph, 0, ct_se2_make(prior[0], prior[1], prior[2]), 2, &err), err);
    return seq;
}

static void test_the_mean_error_of_measurements_is_not_taken_for_another_frame(void)
{
    ct_noise *noise = NULL;
    ct_err    err = {0};
    int       shared = 0;
    CHECK_OK(ct_noise_new(&noise, &err), err);
    CHECK_OK(ct_noise_add_diagonal(noise, "odom", 3, (const double[]){1e-6, 1e-6, 1e-8}, NULL, &err), err);
    CHECK_OK(ct_noise_add_isotropic(noise, "gps", 2, 1, NULL, &err), err);
    CHECK_OK(ct_noise_add_diagonal(noise, "prior", 3, (const double[]){1, 1, 1e-8}, NULL, &err), err);
    for (uint64_t seed = 1; seed <= 60; seed++) {
        ct_frame_difference d;
        ct_sequence        *seq = precise_chain(seed, seed % 3 ? 20 : 0);
        CHECK_OK(ct_truth_frame(seq, noise, &d, &err), err);
        CHECK(!d.differs);
        shared += d.before > 10 * d.after;
        move_truth(seq, 100, 0, 0.3);
        CHECK_OK(ct_truth_frame(seq, noise, &d, &err), err);
        CHECK(d.differs);
        ct_sequence_free(seq);
    }
    CHECK(shared > 10); /* the case is there */
    ct_noise_free(noise);
}

static void test_findings_name_the_sequences(void)
{
    ct_noise    *noise = NULL;
    ct_err       err = {0};
    ct_findings  list = {0};
    ct_sequence *seq[3];
    CHECK_OK(ct_noise_new(&noise, &err), err);
    for (int i = 0; i < 3; i++) seq[i] = simulate(CT_SE2, (uint64_t)i, noise);
    move_truth(seq[1], -20, 300, 0);
    CHECK_OK(ct_truth_frame_findings(3, (const ct_sequence *const *)seq, noise, &list, &err), err);
    CHECK(list.count == 1 && list.item[0].code == CT_FINDING_TRUTH_IN_OTHER_FRAME);
    CHECK(list.item[0].subject[0].index == 1 && list.item[0].value[1] == 300 && list.item[0].value[0] == -20);
    ct_findings_free(&list);
    for (int i = 0; i < 3; i++) ct_sequence_free(seq[i]);
    ct_noise_free(noise);
}

int main(void)
{
    RUN(test_a_moved_truth_is_found_with_its_offset);
    RUN(test_noise_and_drift_are_not_taken_for_another_frame);
    RUN(test_what_cannot_be_told_is_not_found);
    RUN(test_the_mean_error_of_measurements_is_not_taken_for_another_frame);
    RUN(test_findings_name_the_sequences);
    return ct_test_end();
}
