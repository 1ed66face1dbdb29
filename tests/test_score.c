/* test_score.c: association, alignment, errors of two trajectories. */
#include "score_test.h"

#include <covtune/covtune.h>

static ct_score score_of(const ct_trajectory *estimate, const ct_trajectory *truth, const ct_score_options *options)
{
    ct_score score = {0};
    ct_err err = {0};
    CHECK_OK(ct_score_trajectory(estimate, truth, options, &score, &err), err);
    return score;
}

/* ---- names ---- */

static void test_names(void)
{
    double delta;
    ct_delta_unit unit;
    for (int i = 0; i < CT_ALIGNMENT_COUNT; i++) CHECK(ct_alignment_find(ct_alignment_name((ct_alignment)i)) == i);
    for (int i = 0; i < CT_ASSOCIATE_COUNT; i++) CHECK(ct_associate_find(ct_associate_name((ct_associate)i)) == i);
    CHECK(ct_alignment_find("rigid") == -1 && ct_associate_find(NULL) == -1);
    CHECK(!strcmp(ct_alignment_name((ct_alignment)-1), "?") && !strcmp(ct_associate_name((ct_associate)99), "?"));
    CHECK(ct_delta_find("10f", &delta, &unit) && delta == 10 && unit == CT_DELTA_FRAMES);
    CHECK(ct_delta_find("0.5 s", &delta, &unit) && delta == 0.5 && unit == CT_DELTA_SECONDS);
    CHECK(ct_delta_find("100m", &delta, &unit) && delta == 100 && unit == CT_DELTA_METRES);
    CHECK(ct_delta_find("1.5 km", &delta, &unit) && delta == 1500 && unit == CT_DELTA_METRES);
    const char *const bad[] = {"", "m", "10", "-1m", "0m", "1.5f", "1..5m", "10 parsecs", "1e3m", "m10", "nan s", ".m"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) CHECK(!ct_delta_find(bad[i], &delta, &unit));
    CHECK(!ct_delta_find(NULL, &delta, &unit));
}

/* ---- alignment ---- */

/* Exactly moved copies are moved back; the motion is the inverse. */
static void test_moved_copies_are_moved_back(void)
{
    ct_rng rng = ct_rng_seed(3);
    ct_trajectory *truth = winding_path(200, 0);
    for (int align = CT_ALIGNMENT_FIRST; align < CT_ALIGNMENT_COUNT; align++) {
        const ct_se3 level = planar_pose(30, -20, 2.5), raised = {30, -20, 4, 0, 0, level.qz, level.qw};
        const ct_se3 motion = align == CT_ALIGNMENT_SE2   ? level
                              : align == CT_ALIGNMENT_YAW ? raised
                                                          : random_pose(&rng, 30, 2);
        const double scale = align == CT_ALIGNMENT_SIM3 ? 0.4 : 1;
        ct_trajectory *estimate = copy_of(truth);
        ct_score_options o = ct_score_defaults();
        o.align = (ct_alignment)align;
        move_all(estimate, motion, scale);
        const ct_score s = score_of(estimate, truth, &o);
        CHECK(s.ape_translation.max < 1e-11 && s.ape_rotation.max < 1e-12 && s.poses == 200);
        CHECK_NEAR(s.scale, 1 / scale, 1e-13 / scale);
        const ct_se3 both = ct_se3_compose(s.motion, motion, NULL, NULL);
        CHECK_NEAR(fabs(both.qx) + fabs(both.qy) + fabs(both.qz), 0, 1e-13);
        ct_trajectory_free(estimate);
    }
    ct_trajectory_free(truth);
}

int main(void)
{
    RUN(test_names);
    RUN(test_moved_copies_are_moved_back);
    return ct_test_end();
}
