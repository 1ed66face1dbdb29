/* test_start_bodies.c: start values where two robots measure each other, and where cameras see points. A solve from
 * them ends where one from the truth does. */
#include "ct_test.h"

#include <covtune/evaluate.h>

enum { POSES = 120, POINTS = 40 };

typedef struct {
    ct_graph    *graph;
    ct_noise    *noise;
    ct_sequence *seq;
    double      *x, *truth; /* truth: stored values of all variables */
    ct_rng       rng;
    ct_err       err;
} world;

static world world_new(uint64_t seed)
{
    world w = {.rng = ct_rng_seed(seed)};
    CHECK_OK(ct_graph_new(&w.graph, &w.err), w.err);
    CHECK_OK(ct_noise_new(&w.noise, &w.err), w.err);
    w.truth = calloc(4000, sizeof *w.truth);
    return w;
}

static void world_free(world *w)
{
    ct_sequence_free(w->seq);
    ct_noise_free(w->noise);
    free(w->x);
    free(w->truth);
}

/* A variable without a value; its truth is remembered. */
static int32_t add(world *w, ct_kind kind, const double *truth)
{
    int32_t v = -1;
    CHECK_OK(ct_graph_add_variable(w->graph, NULL, kind, NULL, &v, &w->err), w->err);
    memcpy(w->truth + ct_graph_offset(w->graph, v), truth, (size_t)ct_kind_size(kind) * sizeof *truth);
    return v;
}

static int32_t model(world *w, const char *name, int rows, double sigma)
{
    int32_t i = ct_noise_find(w->noise, name);
    if (i < 0) CHECK_OK(ct_noise_add_isotropic(w->noise, name, rows, sigma * sigma, &i, &w->err), w->err);
    return i;
}

static void odometry(world *w, int32_t a, int32_t b, double sigma)
{
    const ct_kind kind = ct_graph_kind(w->graph, a);
    double        d[6], one[7], z[7];
    ct_kind_local(kind, w->truth + ct_graph_offset(w->graph, a), w->truth + ct_graph_offset(w->graph, b), d);
    for (int i = 0; i < ct_kind_dim(kind); i++) d[i] += sigma * ct_rng_normal(&w->rng);
    ct_kind_identity(kind, one);
    ct_kind_retract(kind, one, d, z);
    CHECK_OK(ct_graph_add_between(w->graph, a, b, z, model(w, "odom", ct_kind_dim(kind), sigma), &w->err), w->err);
}

static void finish(world *w)
{
    w->x = calloc((size_t)ct_graph_size(w->graph), sizeof *w->x);
    CHECK_OK(ct_sequence_new(w->graph, &w->seq, &w->err), w->err);
}

/* Largest distance of a variable's position from the truth. */
static double off(const world *w, const double *x, int32_t from, int32_t to)
{
    double worst = 0;
    for (int32_t v = from; v < to; v++) {
        const ct_kind kind = ct_graph_kind(w->graph, v);
        const double *p = x + ct_graph_offset(w->graph, v), *q = w->truth + ct_graph_offset(w->graph, v);
        double        sum = 0;
        for (int i = 0; i < (kind == CT_SE2 || kind == CT_R2 ? 2 : 3); i++) sum += (p[i] - q[i]) * (p[i] - q[i]);
        worst = fmax(worst, sqrt(sum));
    }
    return worst;
}

/* The start is within `near` of the truth, nothing is unplaced, and both starts lead to one minimum. */
static void check_start(world *w, int absolute, double near, const char *what)
{
    ct_solver             *solver = NULL;
    ct_solve_result        a, b;
    int32_t                unplaced;
    const ct_solve_options how = ct_solve_defaults();
    CHECK_OK(ct_sequence_initialise(w->seq, absolute, w->x, &w->err), w->err);
    const double error = off(w, w->x, 0, ct_graph_variables(w->graph));
    if (!(error < near)) CT_TEST_SAY("%s: the start is off by %g m\n", what, error);
    CHECK_OK(ct_sequence_uninitialised(w->seq, &unplaced, &w->err), w->err);
    CHECK(unplaced == 0 || near > 10);
    CHECK_OK(ct_solver_new(w->graph, NULL, &solver, &w->err), w->err);
    CHECK_OK(ct_solver_run(solver, w->noise, w->x, &how, &a, &w->err), w->err);
    double *x = calloc((size_t)ct_graph_size(w->graph), sizeof *x);
    memcpy(x, w->truth, (size_t)ct_graph_size(w->graph) * sizeof *x);
    CHECK_OK(ct_solver_run(solver, w->noise, x, &how, &b, &w->err), w->err);
    CHECK(ct_solve_usable(&a) && ct_solve_usable(&b));
    if (ct_solve_usable(&b)) { /* with exact Hessians, so with every curvature, there is the same minimum */
        ct_solve_options newton = how;
        ct_solve_result  c;
        newton.method = CT_NEWTON;
        memcpy(x, w->x, (size_t)ct_graph_size(w->graph) * sizeof *x);
        CHECK_OK(ct_solver_run(solver, w->noise, x, &newton, &c, &w->err), w->err);
        CHECK_NEAR(c.final_error, a.final_error, 1e-6 * (1 + a.final_error));
        CHECK(c.iterations <= 10);
    }
    if (!(fabs(a.final_error - b.final_error) < 1e-4 * b.final_error))
        CT_TEST_SAY("%s: the error is %.9g, from the truth %.9g\n", what, a.final_error, b.final_error);
    ct_solver_free(solver);
    free(x);
}

/* ---- Two robots --------------------------------------------------------------------------------- */

static void robot_pose(int space, int robot, int k, double x[7])
{
    const double s = 0.05 * k, yaw = robot ? 2.4 + 1.1 * s : 0.9 * s, h = yaw / 2;
    const double t[3] = {robot ? 14 + 5 * sin(1.1 * s) : 6 * sin(0.9 * s),
                         robot ? 3 - 5 * cos(1.1 * s) : 6 - 6 * cos(0.9 * s), space ? sin(s + robot) : 0};
    const double plane[4] = {t[0], t[1], cos(yaw), sin(yaw)}, full[7] = {t[0], t[1], t[2], 0, 0, sin(h), cos(h)};
    memcpy(x, space ? full : plane, (space ? 7 : 4) * sizeof *x);
}

typedef enum { MEET_BOTH, MEET_RANGE, MEET_BEARING } meeting;

/* Pose a sees the antenna of pose b, 0.2 m ahead of it; the sensor is 0.3 m ahead on a. */
static void meet(world *w, int space, meeting what, int32_t a, int32_t b)
{
    static const ct_factor_ops *const MODEL[3][2] = {{&ct_range_bearing_se2_se2, &ct_range_bearing_se3_se3},
                                                     {&ct_range_se2_se2, &ct_range_se3_se3},
                                                     {&ct_bearing_se2_se2, &ct_bearing_se3_se3}};
    const ct_factor_ops *ops = MODEL[what][space];
    const double *x = w->truth + ct_graph_offset(w->graph, a), *y = w->truth + ct_graph_offset(w->graph, b);
    const double  c[3] = {0.2, 0, 0}, s[3] = {0.3, 0, 0};
    double        p[3], q[3], z[24] = {0}, *to = z;
    if (space) {
        ct_se3_act(*(const ct_se3 *)y, c, p, NULL, NULL);
        ct_se3_act(ct_se3_inverse(*(const ct_se3 *)x, NULL), p, q, NULL, NULL);
    } else {
        ct_se2_act(*(const ct_se2 *)y, c, p, NULL, NULL);
        ct_se2_act(ct_se2_inverse(*(const ct_se2 *)x, NULL), p, q, NULL, NULL);
    }
    const int n = space ? 3 : 2;
    double    range = 0;
    for (int i = 0; i < n; i++) q[i] -= s[i], range += q[i] * q[i];
    range = sqrt(range);
    const double turn = 0.01 * ct_rng_normal(&w->rng),
                 d[3] = {q[0] - turn * q[1], q[1] + turn * q[0], n == 3 ? q[2] : 0};
    const double length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    if (what != MEET_BEARING) *to++ = fmax(0, range + 0.05 * ct_rng_normal(&w->rng));
    for (int i = 0; what != MEET_RANGE && i < n; i++) *to++ = d[i] / length;
    memcpy(to, s, (size_t)n * sizeof *to);
    to += n;
    if (what != MEET_RANGE) {
        to[n == 2 ? 0 : 3] = 1;
        to += n == 2 ? 2 : 4;
    }
    memcpy(to, c, (size_t)n * sizeof *to);
    const char *name = what == MEET_BOTH ? "both" : what == MEET_RANGE ? "range" : "bearing";
    const int32_t noise = model(w, name, ops->rows, 0.03);
    CHECK_OK(ct_graph_add_factor(w->graph, ops, (const int32_t[]){a, b}, z, NULL, noise, &w->err), w->err);
}

/* Robot A begins at a prior, or nothing does; robot B, listed first if so, is measured by A, or measures A. */
typedef struct {
    int     space, b_first, from_b, prior;
    meeting what;
    double  near;
} robots;

static void check_robots(const robots *o, uint64_t seed)
{
    world   w = world_new(seed);
    int32_t first[2];
    for (int i = 0; i < 2; i++) {
        const int robot = o->b_first ? 1 - i : i;
        first[robot] = i * POSES;
        for (int k = 0; k < POSES; k++) {
            double x[7];
            robot_pose(o->space, robot, k, x);
            const int32_t v = add(&w, o->space ? CT_SE3 : CT_SE2, x);
            if (k) odometry(&w, v - 1, v, 0.003);
        }
    }
    if (o->prior)
        CHECK_OK(ct_graph_add_prior(w.graph, first[0], w.truth + ct_graph_offset(w.graph, first[0]),
                                    model(&w, "prior", o->space ? 6 : 3, 0.01), &w.err), w.err);
    for (int k = 0; k < POSES; k += 3) {
        const int32_t a = first[0] + k, b = first[1] + k;
        meet(&w, o->space, o->what, o->from_b ? b : a, o->from_b ? a : b);
    }
    finish(&w);
    for (int absolute = 0; absolute < 2; absolute++) check_start(&w, absolute, o->near, "two robots");
    world_free(&w);
}

static void test_a_second_robot_starts_where_the_first_measures_it(void)
{
    for (int space = 0; space < 2; space++)
        for (int b_first = 0; b_first < 2; b_first++)
            for (int from_b = 0; from_b < 2; from_b++)
                for (int what = 0; what < 3; what++) {
                    /* odometry alone is off by 1 m at the end; bearings alone hardly tell how far the other is */
                    static const double NEAR[2][3] = {{1.5, 3.5, 12}, {3.5, 0, 12}};
                    const robots        o = {space, b_first, from_b, 1, (meeting)what, NEAR[space][what]};
                    if (space && what == MEET_RANGE) continue; /* mirrored paths fit as well */
                    check_robots(&o, 1 + (uint64_t)(2 * what + from_b));
                }
}

static ct_status start_floating(world *w, int32_t *unplaced)
{
    CHECK_OK(ct_sequence_initialise(w->seq, 1, w->x, &w->err), w->err);
    return ct_sequence_uninitialised(w->seq, unplaced, &w->err);
}

/* Without a prior the first robot is the reference, and one pose is unplaced, as of a single robot. */
static void test_without_an_anchor_the_first_robot_is_the_reference(void)
{
    world w = world_new(5);
    for (int robot = 0; robot < 2; robot++)
        for (int k = 0; k < POSES; k++) {
            double x[7];
            robot_pose(0, robot, k, x);
            const int32_t v = add(&w, CT_SE2, x);
            if (k) odometry(&w, v - 1, v, 0.003);
        }
    for (int k = 0; k < POSES; k += 4) meet(&w, 0, MEET_BOTH, k, POSES + k);
    finish(&w);
    int32_t unplaced = -1;
    CHECK_OK(start_floating(&w, &unplaced), w.err);
    CHECK(unplaced == 1);
    for (int k = 0; k < POSES; k += 10) { /* the second as the first sees it, in truth and at the start */
        double d[3], e[3];
        const int64_t a = ct_graph_offset(w.graph, k), b = ct_graph_offset(w.graph, POSES + k);
        ct_kind_local(CT_SE2, w.truth + a, w.truth + b, d);
        ct_kind_local(CT_SE2, w.x + a, w.x + b, e);
        const ct_se2 p = ct_se2_exp(d), q = ct_se2_exp(e);
        CHECK(hypot(p.x - q.x, p.y - q.y) < 0.6);
    }
    world_free(&w);
}

/* ---- Headings ----------------------------------------------------------------------------------- */

/* A position holds the first pose; its yaw, 2.5 rad from that of the begin, is known by headings alone, a tenth of them
 * wrong. The sensor is turned by 0.4 rad. */
static void test_headings_turn_a_path(void)
{
    for (int space = 0; space < 2; space++) {
        const ct_factor_ops *ops = space ? &ct_heading_se3 : &ct_heading_se2;
        const double         mount[4] = {space ? 0 : cos(0.4), space ? 0 : sin(0.4), sin(0.2), cos(0.2)};
        world                w = world_new(3);
        for (int32_t k = 0; k < POSES; k++) {
            double x[7];
            robot_pose(space, 1, k, x);
            add(&w, space ? CT_SE3 : CT_SE2, x);
            if (k) odometry(&w, k - 1, k, 0.003);
            const double yaw = 2.4 + 0.055 * k + 0.4 + (k % 10 ? 0.02 * ct_rng_normal(&w.rng) : 1);
            double       z[6] = {cos(yaw), sin(yaw), mount[0], mount[1], mount[2], mount[3]};
            CHECK_OK(ct_graph_add_factor(w.graph, ops, &k, z, NULL, model(&w, "heading", 1, 0.02), &w.err), w.err);
            if (k) continue;
            CHECK_OK(ct_graph_add_position(w.graph, k, x, model(&w, "place", space ? 3 : 2, 0.01), &w.err), w.err);
        }
        finish(&w);
        CHECK_OK(ct_sequence_initialise(w.seq, 1, w.x, &w.err), w.err);
        const double error = off(&w, w.x, 0, POSES);
        if (!(error < 1.5)) CT_TEST_SAY("space %d: the start is off by %g m\n", space, error);
        CHECK_OK(ct_sequence_initialise(w.seq, 0, w.x, &w.err), w.err);
        CHECK(off(&w, w.x, 0, POSES) > 5);
        world_free(&w);
    }
}

/* Odometry of a vehicle that has a Doppler log and a compass: it does not measure turns. Without the headings every
 * pose has the first one's yaw. The first pose is known, or not. */
static void test_a_path_follows_headings_where_odometry_has_no_turns(void)
{
    for (int space = 0; space < 2; space++)
        for (int anchored = 0; anchored < 2; anchored++) {
            const ct_factor_ops *ops = space ? &ct_heading_se3 : &ct_heading_se2;
            const double         none[4] = {space ? 0 : 1, 0, 0, 1};
            world                w = world_new(5);
            for (int32_t k = 0; k < POSES; k++) {
                double x[7], a[7], d[CT_DIM_MAX], z[7];
                robot_pose(space, 1, k, x);
                robot_pose(space, 1, k - 1, a);
                add(&w, space ? CT_SE3 : CT_SE2, x);
                const double yaw = 2.4 + 0.055 * k + (k % 10 == 7 ? 1 : 0.02 * ct_rng_normal(&w.rng));
                const double h[6] = {cos(yaw), sin(yaw), none[0], none[1], none[2], none[3]};
                CHECK_OK(ct_graph_add_factor(w.graph, ops, &k, h, NULL, model(&w, "heading", 1, 0.02), &w.err), w.err);
                if (k == 0 && anchored)
                    CHECK_OK(ct_graph_add_prior(w.graph, k, x, model(&w, "first", space ? 6 : 3, 0.01), &w.err), w.err);
                if (k == 0 && !anchored)
                    CHECK_OK(ct_graph_add_position(w.graph, k, x, model(&w, "place", space ? 3 : 2, 0.01), &w.err),
                             w.err);
                if (k == 0) continue;
                const ct_kind kind = space ? CT_SE3 : CT_SE2;
                ct_kind_local(kind, a, x, d);
                d[2] = 0; /* the turn about z, in either kind */
                ct_kind_identity(kind, z);
                ct_kind_retract(kind, z, d, z);
                CHECK_OK(ct_graph_add_between(w.graph, k - 1, k, z, model(&w, "odom", space ? 6 : 3, 0.1), &w.err),
                         w.err);
            }
            finish(&w);
            CHECK_OK(ct_sequence_initialise(w.seq, 1, w.x, &w.err), w.err);
            const double error = off(&w, w.x, 0, POSES);
            if (!(error < 1.5))
                CT_TEST_SAY("space %d, anchored %d: the start is off by %g m\n", space, anchored, error);
            CHECK_OK(ct_sequence_initialise(w.seq, 0, w.x, &w.err), w.err);
            CHECK(off(&w, w.x, 0, POSES) > 5);
            world_free(&w);
        }
}

/* ---- Cameras ------------------------------------------------------------------------------------ */

#define FOCAL    400.0
#define BASELINE 0.4
static const double MOUNT[7] = {0.1, 0, 0.2, -0.5, 0.5, -0.5, 0.5}; /* looks along the body's x */

static void body_pose(int k, double x[7])
{
    const double s = 0.04 * k, h = s / 2;
    const double t[7] = {4 * sin(s), 4 - 4 * cos(s), 0.3 * sin(3 * s), 0, 0, sin(h), cos(h)};
    memcpy(x, t, sizeof t);
}

/* The point in the camera's frame; 0 if it is not in the image of both cameras. */
static int in_camera(const double pose[7], const double p[3], double m[3])
{
    const ct_se3 camera = ct_se3_compose(*(const ct_se3 *)pose, *(const ct_se3 *)MOUNT, NULL, NULL);
    ct_se3_act(ct_se3_inverse(camera, NULL), p, m, NULL, NULL);
    return m[2] > 0.5 && fabs(m[0]) < 0.9 * m[2] && fabs(m[1]) < 0.9 * m[2];
}

/* variable: the point's, or -1: known. */
static void look(world *w, int cameras, int32_t pose, int32_t variable, const double p[3], const double m[3])
{
    static const ct_factor_ops *const MODEL[2][2] = {{&ct_pixel_se3_point, &ct_pixel_se3_r3},
                                                     {&ct_stereo_se3_point, &ct_stereo_se3_r3}};
    const ct_factor_ops *ops = MODEL[cameras - 1][variable >= 0];
    double               z[24], *to = z;
    for (int i = 0; i < cameras; i++) {
        *to++ = 320 + FOCAL * (m[0] - i * BASELINE) / m[2] + 0.5 * ct_rng_normal(&w->rng);
        *to++ = 240 + FOCAL * m[1] / m[2] + 0.5 * ct_rng_normal(&w->rng);
    }
    *to++ = FOCAL, *to++ = FOCAL, *to++ = 320, *to++ = 240;
    if (cameras == 2) *to++ = BASELINE;
    for (int i = 0; variable < 0 && i < 3; i++) *to++ = p[i];
    memcpy(to, MOUNT, sizeof MOUNT);
    CHECK_OK(ct_graph_add_factor(w->graph, ops, (const int32_t[]){pose, variable}, z, NULL,
                                 model(w, "camera", ops->rows, 0.5), &w->err), w->err);
}

/* Known points and no prior, or unknown points and one. */
static void check_cameras(int cameras, int known, uint64_t seed, double near)
{
    world  w = world_new(seed);
    double p[POINTS][3], m[3], x[7];
    for (int k = 0; k < POSES; k++) {
        body_pose(k, x);
        add(&w, CT_SE3, x);
        if (k) odometry(&w, k - 1, k, 0.002);
    }
    if (!known) CHECK_OK(ct_graph_add_prior(w.graph, 0, w.truth, model(&w, "prior", 6, 0.01), &w.err), w.err);
    for (int i = 0; i < POINTS; i++) {
        const double a = 6.2832 * i / POINTS, far = 7 + 4 * ct_rng_uniform(&w.rng);
        int32_t      seen = 0, v = -1;
        p[i][0] = far * cos(a), p[i][1] = 4 + far * sin(a), p[i][2] = 4 * (ct_rng_uniform(&w.rng) - 0.5);
        for (int k = 0; k < POSES; k += 2) seen += in_camera(w.truth + 7 * k, p[i], m);
        if (seen < 4) continue;
        if (!known) v = add(&w, CT_R3, p[i]);
        for (int k = 0; k < POSES; k += 2)
            if (in_camera(w.truth + 7 * k, p[i], m)) look(&w, cameras, k, v, p[i], m);
    }
    finish(&w);
    CHECK(known || ct_graph_variables(w.graph) > POSES + POINTS / 2);
    check_start(&w, 1, near, cameras == 2 ? "stereo" : "pixel");
    world_free(&w);
}

static void test_unknown_points_start_where_cameras_see_them(void)
{
    for (uint64_t seed = 1; seed < 4; seed++) {
        check_cameras(2, 0, seed, 1);
        check_cameras(1, 0, seed, 3);
    }
}

static void test_known_points_in_images_place_a_body(void)
{
    for (uint64_t seed = 1; seed < 4; seed++) {
        check_cameras(2, 1, seed, 1);
        check_cameras(1, 1, seed, 1);
    }
}

int main(void)
{
    RUN(test_a_second_robot_starts_where_the_first_measures_it);
    RUN(test_without_an_anchor_the_first_robot_is_the_reference);
    RUN(test_headings_turn_a_path);
    RUN(test_a_path_follows_headings_where_odometry_has_no_turns);
    RUN(test_unknown_points_start_where_cameras_see_them);
    RUN(test_known_points_in_images_place_a_body);
    return ct_test_end();
}
