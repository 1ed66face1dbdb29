/* test_right_models.c: residuals at the truth that are what the reference says: then gains of a minimum of the loss are
 * chance, and residuals decide between start values and reference. */
#include "learn_test.h"
#include "learn/learn.h"

/* A few short runs of independent Gaussian noise under the noise that they were drawn with. */
static lesson right_lesson(int runs, int poses, uint64_t seed)
{
    lesson l = lesson_of("D1", CT_SE2, runs, poses, seed);
    learn_all(&l, CT_NOISE_DIAGONAL, 1e-6, 1e6);
    return l;
}

static int is_minimum_of_the_loss(const ct_learn_result *r) { return isfinite(r->prior); }

/* Sixty sets of three to five runs: with residuals as the models say, held-out losses of so few runs chose a minimum of
 * the loss in some sets, and it was worse on others. Residuals are tested at one in twenty. */
static void test_right_sigmas_are_not_replaced_by_gains_of_chance(void)
{
    int chosen = 0, replaced = 0;
    for (int set = 0; set < 60; set++) {
        lesson l = right_lesson(3 + set % 3, 30 + 10 * (set % 4), 500 + (uint64_t)set);
        open_outer(&l, NULL);
        ct_learn_result r = learn(&l, NULL);
        chosen += is_minimum_of_the_loss(&r);
        replaced += r.stop != CT_LEARN_STOP_START;
        ct_learn_result_free(&r);
        lesson_free(&l);
    }
    printf("  60 sets: %d replaced, %d by a minimum of the loss\n", replaced, chosen);
    CHECK(chosen <= 1);
}

/* A variance that is wrong by a factor of four costs a few percent, which three runs hardly show. Residuals do. */
static void test_sigmas_that_residuals_refute_are_replaced(void)
{
    int kept = 0;
    for (int set = 0; set < 20; set++) {
        lesson       l = right_lesson(3, 50, 900 + (uint64_t)set);
        const int32_t gps = ct_noise_find(l.noise, "gps");
        double       variance[3];
        for (int a = 0; a < 3; a++) variance[a] = ct_noise_covariance(ct_noise_get(l.noise, gps), a, a) * (a ? 1 : 4);
        CHECK_OK(ct_noise_set_variance(l.noise, gps, variance, &l.err), l.err);
        open_outer(&l, NULL);
        ct_learn_result r = learn(&l, NULL);
        kept += r.stop == CT_LEARN_STOP_START;
        for (int k = 0; k < r.candidates; k++)
            if (isnan(r.candidate[k].prior) && !r.candidate[k].chosen)
                CHECK(r.candidate[k].verdict == CT_CHOICE_REFUTED || r.candidate[k].verdict == CT_CHOICE_WORSE);
        ct_learn_result_free(&r);
        lesson_free(&l);
    }
    printf("  20 sets: start values kept in %d\n", kept);
    CHECK(kept <= 4);
}

/* Odometry that turns with every step has residuals with a mean: models are wrong, and losses decide as ever. */
static void test_wrong_models_are_learned_by_their_loss(void)
{
    lesson          l = biased_lesson(6, 0, 0.05);
    ct_learn_result r = learn(&l, NULL);
    CHECK(is_minimum_of_the_loss(&r));
    for (int k = 0; k < r.candidates; k++)
        CHECK(r.candidate[k].verdict != CT_CHOICE_NEEDLESS && r.candidate[k].verdict != CT_CHOICE_REFUTED);
    ct_learn_result_free(&r);
    lesson_free(&l);
}

/* A model that is not learned may be wrong, and learned ones make up for it: residuals of these alone say nothing. */
static void test_frozen_models_leave_the_choice_to_losses(void)
{
    lesson        l = lesson_of("D1", CT_SE2, 4, 60, 3);
    const int32_t odom = ct_noise_find(l.noise, "odom");
    CHECK_OK(ct_theta_new(l.noise, &l.theta, &l.err), l.err);
    CHECK_OK(ct_theta_learn(l.theta, odom, CT_NOISE_DIAGONAL, 1e-6, 1e6, &l.err), l.err);
    open_outer(&l, NULL);
    ct_learn_result r = learn(&l, NULL);
    for (int k = 0; k < r.candidates; k++) CHECK(r.candidate[k].verdict != CT_CHOICE_NEEDLESS);
    ct_learn_result_free(&r);
    lesson_free(&l);
}

/* Odometry that turns with every step is wrong, GPS is right. The loss of six runs traded rows of GPS against each
 * other by chance: variances went apart by up to a factor of two, where residuals know them to a few percent. */
static void test_a_right_sensor_keeps_its_sigmas_beside_a_wrong_one(void)
{
    int learned = 0;
    for (int set = 0; set < 8; set++) {
        lesson        l = biased_lesson(6, 40 * (uint64_t)set, 0.05);
        const int32_t gps = ct_noise_find(l.noise, "gps");
        double        true_ratio[2], ratio[2];
        for (int a = 0; a < 2; a++)
            true_ratio[a] = ct_noise_covariance(ct_noise_get(l.noise, gps), a, a) /
                            ct_noise_covariance(ct_noise_get(l.noise, gps), 2, 2);
        ct_learn_result r = learn(&l, NULL);
        learned += is_minimum_of_the_loss(&r);
        for (int a = 0; a < 2; a++) {
            ratio[a] = ct_noise_covariance(ct_noise_get(l.noise, gps), a, a) /
                       ct_noise_covariance(ct_noise_get(l.noise, gps), 2, 2);
            printf("  set %d: variance of row %d over that of yaw, %.3f of the true one\n", set, a,
                   ratio[a] / true_ratio[a]);
            CHECK(fabs(log(ratio[a] / true_ratio[a])) < 0.3); /* of 1200 residuals each: 0.06 */
        }
        ct_learn_result_free(&r);
        lesson_free(&l);
    }
    printf("  8 sets: %d by a minimum of the loss\n", learned);
    CHECK(learned >= 3); /* the odometry still gets what its loss asks for, as often as with open sigmas of GPS */
}

int main(void)
{
    RUN(test_right_sigmas_are_not_replaced_by_gains_of_chance);
    RUN(test_sigmas_that_residuals_refute_are_replaced);
    RUN(test_wrong_models_are_learned_by_their_loss);
    RUN(test_frozen_models_leave_the_choice_to_losses);
    RUN(test_a_right_sensor_keeps_its_sigmas_beside_a_wrong_one);
    return ct_test_end();
}
