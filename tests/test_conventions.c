/* test_conventions.c: what a frame, unit, clock, body or sign that is another leaves of errors; what is said of it. */
#include "score_test.h"
#include "tune_test.h"

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

static void check_nothing(const ct_conventions *c)
{
    ct_findings list;
    const ct_finding *f = finding_of(c, c, &list);
    CHECK(!f);
    if (f) printf("  it is %d, of %g m and %g rad\n", (int)f->code, c->translation, c->rotation);
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

/* The truth is an antenna's, with or without rotations. */
static void test_a_truth_of_an_antenna_is_a_mount(void)
{
    const ct_se3 at = {0.9, -0.4, 1.2, 0, 0, 0, 1};
    for (int planar = 0; planar < 2; planar++) {
        ct_trajectory *body = winding_path(300, planar), *estimate = noisy(body, 0.1, 0.05, 4), *truth = copy_of(body);
        const ct_conventions plain = conventions_of(body, estimate, NULL);
        check_nothing(&plain);
        for (int64_t i = 0; i < 300; i++) truth->pose[i] = ct_se3_compose(body->pose[i], at, NULL, NULL);
        for (int positions = 0; positions < 2; positions++) {
            if (positions) truth->rotations = 0;
            const ct_conventions c = conventions_of(truth, estimate, NULL);
            CHECK_NEAR(c.lever[0], 0.9, 0.05);
            CHECK_NEAR(c.lever[1], -0.4, 0.05);
            CHECK_NEAR(c.lever[2], planar ? 0 : 1.2, 0.05);
            CHECK(c.levered < 0.3 && c.translation > 0.9);
            check_finding(&c, &plain, CT_FINDING_ESTIMATE_LEVER);
            truth->mounted = 1, truth->mount = at;
            const ct_conventions mended = conventions_of(truth, estimate, NULL);
            CHECK(isnan(mended.levered) && mended.translation < 0.3);
            check_nothing(&mended);
            truth->mounted = 0;
        }
        ct_trajectory_free(body);
        ct_trajectory_free(truth);
        ct_trajectory_free(estimate);
    }
}

/* An estimate beside the truth on a straight road may be in another frame, and that is what is said. */
static void test_a_shift_without_turns_is_a_frame(void)
{
    ct_trajectory *truth = winding_path(300, 1), *estimate = copy_of(truth);
    for (int64_t i = 0; i < 300; i++) truth->pose[i] = planar_pose(0.1 * (double)i, 0, 0);
    for (int64_t i = 0; i < 300; i++) estimate->pose[i] = planar_pose(0.1 * (double)i, 0.02 * toy_noise(0, i, 0), 0);
    const ct_conventions plain = conventions_of(truth, estimate, NULL);
    move_all(estimate, planar_pose(0, 5, 0), 1);
    const ct_conventions c = conventions_of(truth, estimate, NULL);
    CHECK(isnan(c.levered));
    check_finding(&c, &plain, CT_FINDING_ESTIMATE_FRAME);
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

/* x and y in each other's place: no motion mends it, whatever the alignment. */
static void test_exchanged_axes_are_a_reflection(void)
{
    for (int planar = 0; planar < 2; planar++) {
        ct_trajectory *truth = winding_path(300, planar), *estimate = noisy(truth, 0.1, 0.05, 4);
        const ct_conventions plain = conventions_of(truth, estimate, NULL);
        ct_track_options o = ct_track_defaults();
        for (int64_t i = 0; i < estimate->poses; i++) {
            const double x = estimate->pose[i].x;
            estimate->pose[i].x = estimate->pose[i].y;
            estimate->pose[i].y = x;
        }
        const ct_conventions c = conventions_of(truth, estimate, NULL);
        CHECK(c.reflected < 0.3 && c.rigid > 1 && plain.reflected > 1);
        check_finding(&c, &plain, CT_FINDING_ESTIMATE_REFLECTED);
        o.align = CT_ALIGNMENT_SE3;
        const ct_conventions aligned = conventions_of(truth, estimate, &o);
        check_finding(&aligned, &plain, CT_FINDING_ESTIMATE_REFLECTED);
        ct_trajectory_free(truth);
        ct_trajectory_free(estimate);
    }
}

/* Headings of 0 to 360 degrees without `in deg`. A yaw that counts turns is right, however large. */
static void test_degrees_that_are_taken_for_radians(void)
{
    ct_trajectory *truth = winding_path(300, 1), *estimate = noisy(truth, 0.1, 0.05, 4);
    const ct_conventions plain = conventions_of(truth, estimate, NULL);
    for (int turns = 0; turns < 2; turns++) {
        ct_trajectory *other = copy_of(estimate);
        for (int64_t i = 0; i < other->poses; i++) {
            const ct_se3 p = estimate->pose[i];
            const double yaw = 2 * atan2(p.qz, p.qw), degrees = fmod(360 + yaw * 180 / acos(-1), 360);
            const double read = turns ? yaw + 20 * acos(-1) : degrees;
            other->pose[i] = planar_pose(p.x, p.y, read);
            other->largest_yaw = fmax(other->largest_yaw, fabs(read));
        }
        const ct_conventions c = conventions_of(truth, other, NULL);
        CHECK(c.largest_yaw > 60);
        if (!turns) check_finding(&c, &plain, CT_FINDING_ESTIMATE_DEGREES);
        ct_findings none;
        CHECK(!turns || !finding_of(&c, &plain, &none));
        if (turns) ct_findings_free(&none);
        ct_trajectory_free(other);
    }
    ct_trajectory_free(truth);
    ct_trajectory_free(estimate);
}

/* ---- Odometry of a road ---- */

#define POSES 3000 /* 10 Hz at 15 m/s: 4.5 km */

/* Hardly a bend: its heading stays within 0.1 rad of `ahead`. */
static ct_trajectory *straight_road(double ahead)
{
    ct_trajectory *t = winding_path(POSES, 1);
    double x = 0, y = 0;
    for (int64_t i = 0; i < POSES; i++) {
        const double yaw = ahead + 0.1 * sin(0.002 * (double)i);
        t->pose[i] = planar_pose(x, y, yaw);
        const double step = 1.5 + 0.8 * sin(0.01 * (double)i);
        x += step * cos(yaw), y += step * sin(yaw);
    }
    return t;
}

typedef struct {
    double   speed;      /* times the true one               */
    double   turn, walk; /* of the heading, rad, rad of a step */
    uint64_t seed;
} drift;

/* The truth's steps one after the other, with drift, from its first pose or from zero. */
static ct_trajectory *odometry(const ct_trajectory *truth, drift d, int from_zero)
{
    ct_trajectory *c = copy_of(truth);
    ct_rng rng = ct_rng_seed(d.seed);
    if (from_zero) c->pose[0] = planar_pose(0, 0, 0);
    for (int64_t i = 1; i < c->poses; i++) {
        ct_se3 step = ct_se3_between(truth->pose[i - 1], truth->pose[i], NULL, NULL);
        step.x *= d.speed, step.y *= d.speed;
        step = ct_se3_compose(step, planar_pose(0, 0, d.turn + d.walk * ct_rng_normal(&rng)), NULL, NULL);
        c->pose[i] = ct_se3_compose(c->pose[i - 1], step, NULL, NULL);
    }
    return c;
}

static const drift DRIFT[] = {
    {1.03, 0, 0, 0}, {1, 2e-4, 0, 0}, {1.03, 1e-4, 0, 0}, {0.97, -1e-4, 0, 0},
    {1, 0, 5e-3, 1}, {1, 0, 5e-3, 2}, {1.01, 0, 5e-3, 3}, {1, 0, 5e-3, 4}, {1.1, 0, 1e-3, 5}, {0.95, 1e-4, 1e-3, 6},
};
#define DRIFTS ((int)(sizeof DRIFT / sizeof *DRIFT))

/* A motion, a turn, a delay and a scale fit most of it, and none of them goes on. */
static void test_no_alarm_on_drift_of_a_straight_road(void)
{
    static const ct_alignment ALIGN[] = {CT_ALIGNMENT_NONE, CT_ALIGNMENT_YAW, CT_ALIGNMENT_SE3, CT_ALIGNMENT_SIM3};
    ct_trajectory *truth = straight_road(0.7);
    for (int k = 0; k < DRIFTS; k++) {
        ct_trajectory *estimate = odometry(truth, DRIFT[k], 0);
        for (int a = 0; a < 4; a++) {
            ct_track_options o = ct_track_defaults();
            o.align = ALIGN[a];
            const ct_conventions c = conventions_of(truth, estimate, &o);
            if (!a) CHECK(c.translation > 10);
            check_nothing(&c);
        }
        ct_trajectory_free(estimate);
    }
    ct_trajectory_free(truth);
}

/* Its frame is arbitrary: odometry begins at zero. A unit is one all the same. */
static void test_a_relative_loss_has_units_and_no_frame(void)
{
    ct_track_options o = ct_track_defaults();
    o.type = CT_TRACK_RELATIVE;
    ct_trajectory *truth = straight_road(1.5);
    move_all(truth, planar_pose(500, -700, 0), 1);
    for (int k = 0; k < DRIFTS; k++) {
        ct_trajectory *estimate = odometry(truth, DRIFT[k], 1);
        const ct_conventions c = conventions_of(truth, estimate, &o);
        check_nothing(&c);
        ct_trajectory_free(estimate);
    }
    ct_trajectory *mm = odometry(truth, (drift){1.03, 0, 0, 0}, 1), *plain = odometry(truth, DRIFT[0], 1);
    move_all(mm, planar_pose(0, 0, 0), 1000);
    const ct_conventions c = conventions_of(truth, mm, &o), other = conventions_of(truth, plain, &o);
    CHECK(isnan(c.moved));
    check_finding(&c, &other, CT_FINDING_ESTIMATE_UNIT);
    ct_trajectory_free(mm);
    ct_trajectory_free(plain);
    ct_trajectory_free(truth);
}

/* Of the straight road and a winding path, with drift of a third of what a second makes, or less. */
static void test_conventions_are_found_in_spite_of_drift(void)
{
    static const ct_finding_code CODE[] = {CT_FINDING_ESTIMATE_FRAME, CT_FINDING_ESTIMATE_UNIT,
                                           CT_FINDING_ESTIMATE_CLOCK, CT_FINDING_ESTIMATE_BODY};
    for (int winding = 0; winding < 2; winding++) {
        ct_trajectory *truth = winding ? winding_path(POSES, 1) : straight_road(0.7);
        const drift small = {1.0002, 1e-6, 0, 0};
        ct_trajectory *base = odometry(truth, small, 0);
        const ct_conventions plain = conventions_of(truth, base, NULL);
        check_nothing(&plain);
        for (int k = 0; k < 4; k++) {
            ct_trajectory *estimate = copy_of(base);
            if (k == 0) move_all(estimate, planar_pose(400, 5000, -1), 1);
            if (k == 1) move_all(estimate, planar_pose(0, 0, 0), 1000);
            for (int64_t i = 0; i < POSES; i++) {
                if (k == 2) estimate->stamp[i] += SECOND;
                if (k == 3)
                    estimate->pose[i] = ct_se3_compose(estimate->pose[i], planar_pose(0, 0, 1.5707963), NULL, NULL);
            }
            const ct_conventions c = conventions_of(truth, estimate, NULL);
            check_finding(&c, &plain, CODE[k]);
            ct_trajectory_free(estimate);
        }
        ct_trajectory_free(base);
        ct_trajectory_free(truth);
    }
}

/* In space a quarter of a straight road leaves the turn about it open: the frame is that of a camera (z ahead, y down),
 * or another of the world, with each axis up. */
static void test_a_frame_in_space_is_found_on_a_straight_road(void)
{
    ct_trajectory *truth = straight_road(0.7);
    truth->planar = 0;
    for (int64_t i = 0; i < POSES; i++) { /* then a bend, over hills */
        const double u = 1e-3 * (double)(i > POSES / 2 ? i - POSES / 2 : 0);
        truth->pose[i].x = 1.5 * (double)i, truth->pose[i].y = 800 * u * u, truth->pose[i].z = 20 * sin(4 * u);
    }
    ct_trajectory *base = noisy(truth, 0.3, 0.01, 4);
    const ct_conventions plain = conventions_of(truth, base, NULL);
    check_nothing(&plain);
    for (int k = 0; k < 7; k++) {
        static const double AXIS[7][3] = {{0, 0, 1.6}, {3.1416, 0, 0}, {1.5708, 0, 0}, {-1.5708, 0, 0},
                                          {0, 1.5708, 0}, {0, -1.5708, 0}, {-1.2092, 1.2092, -1.2092}};
        const double t[3] = {10, -20, 5};
        for (int mm = 0; mm < 2; mm++) {
            ct_trajectory *estimate = copy_of(base);
            move_all(estimate, ct_se3_make(t, ct_so3_exp(AXIS[k])), mm ? 1000 : 1);
            const ct_conventions c = conventions_of(truth, estimate, NULL);
            check_finding(&c, &plain, mm ? CT_FINDING_ESTIMATE_UNIT : CT_FINDING_ESTIMATE_FRAME);
            ct_trajectory_free(estimate);
        }
    }
    ct_trajectory_free(base);
    ct_trajectory_free(truth);
}

/* A motion with a scale fits the positions of two sites exactly. */
static void test_few_poses_say_nothing(void)
{
    for (int64_t poses = 2; poses < 10; poses++) {
        ct_trajectory *truth = winding_path(poses, 1), *estimate = noisy(truth, 0.3, 0.2, 4);
        truth->rotations = estimate->rotations = 0;
        const ct_conventions c = conventions_of(truth, estimate, NULL);
        CHECK(isnan(c.translation) && isnan(c.moved) && isnan(c.scaled) && isnan(c.shifted) && isnan(c.turned));
        check_nothing(&c);
        ct_trajectory_free(truth);
        ct_trajectory_free(estimate);
    }
}

/* One angle and an axis without -0. */
static void test_a_turn_is_told_without_negative_zeros(void)
{
    ct_trajectory *truth = winding_path(300, 1), *exact = noisy(truth, 0, 1e-3, 4), *estimate = copy_of(exact);
    for (int64_t i = 0; i < 300; i++)
        estimate->pose[i] = ct_se3_compose(estimate->pose[i], planar_pose(0, 0, 0.299), NULL, NULL);
    const ct_conventions c = conventions_of(truth, estimate, NULL), plain = conventions_of(truth, exact, NULL);
    ct_findings list;
    const ct_finding *f = finding_of(&c, &plain, &list);
    char text[1024] = "";
    if (f) ct_finding_text(f, text, sizeof text);
    CHECK(strstr(text, "turn of -0.299 rad about the axis (0, 0, 1)"));
    CHECK(strstr(text, "`mount: [0, 0, 0, 0, 0, -0.14") && strstr(text, "0.98"));
    ct_findings_free(&list);
    ct_trajectory_free(truth);
    ct_trajectory_free(exact);
    ct_trajectory_free(estimate);
}

/* ---- A search ---- */

#define BAD_START 100.0

/* Logarithm of the value, from its minimum at 1: errors are far smaller there. */
static void from_one(const toy *t, const double *value, int32_t log_, double *r)
{
    for (int64_t i = 0; i < t->rows; i++) r[i] = log(value[0]) + 0.01 * toy_noise(log_, i, 0);
}

/* 1: errors have a part that no search mends. In either case a motion takes them away at the start. */
static int lasting;

static ct_status framed_submit(void *user, const ct_tune_request *q, ct_err *err)
{
    toy *t = user;
    const int k = t->running;
    const ct_status status = toy_submit(user, q, err);
    if (status != CT_OK) return status;
    t->outcome[k].translation = fabs(log(q->value[0])) + 0.1 + (lasting ? 100 : 0);
    t->outcome[k].conventions = (ct_conventions){.translation = t->outcome[k].translation, .moved = 0.1, .rigid = 0.1,
                                                 .scaled = 0.1, .scale = 1, .shifted = NAN, .turned = NAN,
                                                 .mirrored = NAN, .reflected = NAN, .rotation = NAN,
                                                 .levered = NAN};
    return CT_OK;
}

static void test_what_tuning_mends_is_no_convention(void)
{
    static const ct_tune_log LOGS[] = {{"a", "a", 0}, {"b", "b", 0}, {"c", "c", 0}, {"d", "d", 1}};
    ct_tune_parameter p = toy_parameter("sigma", BAD_START);
    const ct_tune_problem problem = {1, 4, 0, &p, LOGS, NULL};
    for (lasting = 0; lasting < 2; lasting++) {
        toy t = {.rows = 50, .residual = from_one};
        ct_tune_result r = {0};
        ct_err err = {0};
        toy_begin(&t, &problem);
        t.queue.submit = framed_submit;
        CHECK_OK(ct_tune(&problem, NULL, &t.queue, &r, &err), err);
        CHECK(fabs(log(r.value[0])) < 0.1);
        CHECK((ct_findings_find(&r.findings, CT_FINDING_ESTIMATE_FRAME) >= 0) == lasting);
        ct_tune_result_free(&r);
    }
}

int main(void)
{
    RUN(test_noise_alone_has_no_convention);
    RUN(test_another_frame_is_a_motion);
    RUN(test_late_stamps_are_a_clock);
    RUN(test_a_truth_of_an_antenna_is_a_mount);
    RUN(test_a_shift_without_turns_is_a_frame);
    RUN(test_headings_that_are_no_yaws);
    RUN(test_exchanged_axes_are_a_reflection);
    RUN(test_degrees_that_are_taken_for_radians);
    RUN(test_no_alarm_on_drift_of_a_straight_road);
    RUN(test_a_relative_loss_has_units_and_no_frame);
    RUN(test_conventions_are_found_in_spite_of_drift);
    RUN(test_a_frame_in_space_is_found_on_a_straight_road);
    RUN(test_few_poses_say_nothing);
    RUN(test_a_turn_is_told_without_negative_zeros);
    RUN(test_what_tuning_mends_is_no_convention);
    return ct_test_end();
}
