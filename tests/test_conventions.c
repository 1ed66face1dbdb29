/* test_conventions.c: what a frame, unit, clock, body or sign that is another leaves of errors; what is said of it. */
#include "score_test.h"

#include <covtune/tune.h>

static ct_conventions conventions_of(const ct_trajectory *truth, const ct_trajectory *estimate,
                                     const ct_track_options *options)
{
    ct_conventions c = {0};
    ct_sites *sites = NULL;
    ct_err err = {0};
    CHECK_OK(ct_sites_choose(truth, estimate, options, &sites, &err), err);
    if (sites) CHECK_OK(ct_sites_conventions(sites, estimate, &c, &err), err);
    ct_sites_free(sites);
    return c;
}

/* The only finding that two of three logs have, and none if one has it alone; NULL: none. */
static const ct_finding *finding_of(const ct_conventions *odd, const ct_conventions *plain, ct_findings *list)
{
    static const ct_tune_log LOGS[] = {{"a", "a", 0}, {"b", "b", 0}, {"c", "c", 1}};
    const ct_tune_problem problem = {.logs = 3, .log = LOGS};
    const ct_conventions two[] = {*odd, *plain, *odd}, one[] = {*plain, *odd, *plain};
    ct_err err = {0};
    *list = (ct_findings){0};
    CHECK_OK(ct_tune_note_conventions(&problem, one, list, &err), err);
    CHECK(list->count == 0);
    CHECK_OK(ct_tune_note_conventions(&problem, two, list, &err), err);
    CHECK(list->count <= 1);
    return list->count ? &list->item[0] : NULL;
}

static void check_finding(const ct_conventions *odd, const ct_conventions *plain, ct_finding_code code)
{
    ct_findings list;
    const ct_finding *f = finding_of(odd, plain, &list);
    CHECK(f && f->code == code);
    if (f && f->code != code) printf("  it is %d\n", (int)f->code);
    ct_findings_free(&list);
}

static void test_noise_alone_has_no_convention(void)
{
    for (int planar = 0; planar < 2; planar++) {
        ct_trajectory *truth = winding_path(300, planar), *estimate = noisy(truth, 0.3, 0.2, 4);
        const ct_conventions c = conventions_of(truth, estimate, NULL);
        ct_findings list;
        CHECK(c.translation > 0.2 && c.rotation > 0.1);
        CHECK(c.moved > 0.9 * c.translation && c.shifted > 0.9 * c.translation && c.turned > 0.8 * c.rotation);
        CHECK(!finding_of(&c, &c, &list));
        ct_findings_free(&list);
        ct_trajectory_free(truth);
        ct_trajectory_free(estimate);
    }
}

static void test_another_frame_is_a_motion(void)
{
    for (int planar = 0; planar < 2; planar++) {
        ct_trajectory *truth = winding_path(300, planar), *estimate = noisy(truth, 0.1, 0.1, 4);
        const ct_conventions plain = conventions_of(truth, estimate, NULL);
        ct_track_options o = ct_track_defaults();
        move_all(estimate, planar_pose(40, -20, 1.2), 1);
        const ct_conventions c = conventions_of(truth, estimate, NULL);
        CHECK(c.translation > 20 && c.moved < 0.3);
        check_finding(&c, &plain, CT_FINDING_ESTIMATE_FRAME);
        o.align = CT_ALIGNMENT_SE3;
        CHECK(isnan(conventions_of(truth, estimate, &o).moved));
        move_all(estimate, planar_pose(0, 0, 0), 0.001);
        const ct_conventions km = conventions_of(truth, estimate, NULL);
        CHECK_NEAR(km.scale, 1000, 20);
        check_finding(&km, &plain, CT_FINDING_ESTIMATE_UNIT);
        ct_trajectory_free(truth);
        ct_trajectory_free(estimate);
    }
}

static void test_late_stamps_are_a_clock(void)
{
    ct_trajectory *truth = winding_path(300, 1), *estimate = noisy(truth, 0.02, 0.02, 4);
    const ct_conventions plain = conventions_of(truth, estimate, NULL);
    for (int early = 0; early < 2; early++) {
        for (int64_t i = 0; i < estimate->poses; i++) estimate->stamp[i] += (early ? -24 : 12) * (SECOND / 10);
        const ct_conventions c = conventions_of(truth, estimate, NULL);
        CHECK_NEAR(c.late_s, early ? -1.2 : 1.2, 0.02);
        CHECK(c.shifted < 0.1);
        check_finding(&c, &plain, CT_FINDING_ESTIMATE_CLOCK);
    }
    ct_trajectory_free(truth);
    ct_trajectory_free(estimate);
}

/* Turned by a right angle about z; a heading that runs clockwise from north. Positions are right. */
static void test_headings_that_are_no_yaws(void)
{
    ct_trajectory *truth = winding_path(300, 1), *estimate = noisy(truth, 0.1, 0.05, 4);
    const ct_conventions plain = conventions_of(truth, estimate, NULL);
    for (int mirrored = 0; mirrored < 2; mirrored++) {
        ct_trajectory *other = copy_of(estimate);
        for (int64_t i = 0; i < other->poses; i++) {
            const ct_se3 p = estimate->pose[i];
            const double yaw = 2 * atan2(p.qz, p.qw);
            other->pose[i] = planar_pose(p.x, p.y, mirrored ? 1.5707963 - yaw : yaw + 1.5707963);
        }
        const ct_conventions c = conventions_of(truth, other, NULL);
        if (!mirrored) CHECK_NEAR(c.turn[2], -1.5708, 0.02);
        CHECK(c.rotation > 1 && (mirrored ? c.mirrored : c.turned) < 0.1);
        check_finding(&c, &plain, mirrored ? CT_FINDING_ESTIMATE_MIRRORED : CT_FINDING_ESTIMATE_BODY);
        ct_trajectory_free(other);
    }
    ct_trajectory_free(truth);
    ct_trajectory_free(estimate);
}

int main(void)
{
    RUN(test_noise_alone_has_no_convention);
    RUN(test_another_frame_is_a_motion);
    RUN(test_late_stamps_are_a_clock);
    RUN(test_headings_that_are_no_yaws);
    return ct_test_end();
}
