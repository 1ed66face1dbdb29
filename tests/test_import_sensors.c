/* test_import_sensors.c: every type of sensor, measured between states by a mounted sensor on a moving body, has no
 * residual at the truth: the motion between state and measurement is part of the sensor's pose. */
#include "import_test.h"

#define START 1700000000000000001LL
#define GRID  300000000LL
#define TOL   1e-8

static const ct_se3 IDENTITY = {0, 0, 0, 0, 0, 0, 1};
static const double POST[3][3] = {{8, 3, 1}, {-2, 6, 2}, {4, -7, -1}};

static ct_se3 sensor_mount(ct_kind kind)
{
    return ct_se3_make((const double[]){0.3, -0.2, kind == CT_SE3 ? 0.4 : 0},
                       ct_so3_exp((const double[]){kind == CT_SE3 ? 0.3 : 0, kind == CT_SE3 ? -0.2 : 0, 0.7}));
}

/* As a recipe writes it: the pose, or the position alone. */
static const char *mount_text(ct_kind kind, ct_se3 a, int position)
{
    static char text[256];
    if (position)
        snprintf(text, sizeof text, kind == CT_SE2 ? "[%.17g, %.17g]" : "[%.17g, %.17g, %.17g]", a.x, a.y, a.z);
    else if (kind == CT_SE2)
        snprintf(text, sizeof text, "[%.17g, %.17g, %.17g]", a.x, a.y, yaw_of(a));
    else
        snprintf(text, sizeof text, "[%.17g, %.17g, %.17g, %.17g, %.17g, %.17g, %.17g]", a.x, a.y, a.z, a.qx, a.qy,
                 a.qz, a.qw);
    return text;
}

static void write_posts(ct_kind kind)
{
    FILE *file = table_open("posts.csv", "id,x,y,z");
    for (int i = 0; i < 3; i++)
        fprintf(file, "p%d,%.17g,%.17g,%.17g\n", i, POST[i][0], POST[i][1], kind == CT_SE3 ? POST[i][2] : 0);
    fclose(file);
}

/* Point i in the frame of the sensor at t. */
static void see(const world *w, ct_se3 mount, ct_ns t, int i, double p[3])
{
    const double at[3] = {POST[i][0], POST[i][1], w->kind == CT_SE3 ? POST[i][2] : 0};
    ct_se3_act(ct_se3_inverse(ct_se3_compose(world_at(w, t), mount, NULL, NULL), NULL), at, p, NULL, NULL);
}

/* seen.csv: everything that can be said of a post, at times between states. */
static void write_seen(const world *w, ct_se3 mount)
{
    FILE *file = table_open("seen.csv", "t,id,range,bearing,elevation,px,py,pz,u,v,ul,vl,ur,vr");
    int i = 0;
    for (ct_ns t = w->start + 70000000; t < w->start + WORLD_STEPS * WORLD_STEP_NS; t += 110000000, i++) {
        double p[3];
        see(w, mount, t, i % 3, p);
        const double range = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]), u = 400 * p[0] / p[2] + 320;
        const double v = 410 * p[1] / p[2] + 240, ur = 400 * (p[0] - 0.25) / p[2] + 320;
        fprintf(file, "%lld,p%d,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g\n",
                (long long)t, i % 3, range, atan2(p[1], p[0]), atan2(p[2], hypot(p[0], p[1])), p[0], p[1], p[2], u, v,
                u, v, ur, v);
    }
    fclose(file);
}

static void write_absolute(const world *w, ct_se3 mount)
{
    FILE *file = table_open("absolute.csv", "t,x,y,z,qx,qy,qz,qw,yaw");
    for (ct_ns t = w->start + 40000000; t < w->start + WORLD_STEPS * WORLD_STEP_NS; t += 170000000) {
        const ct_se3 a = ct_se3_compose(world_at(w, t), mount, NULL, NULL);
        put_row(file, t, 8, (const double[]){a.x, a.y, a.z, a.qx, a.qy, a.qz, a.qw, yaw_of(a)});
    }
    fclose(file);
}

static const char HEAD[] = "format: covtune-recipe\nversion: 1\n"
                           "sources:\n"
                           "  odometry: {files: odometry.csv, time: t in ns}\n"
                           "  mocap: {files: truth.csv, time: t in ns}\n";

/* A recipe of odometry and one more sensor. */
static const char *recipe_of(ct_kind kind, const char *sources, const char *sensor)
{
    static char text[4096];
    const int space = kind == CT_SE3;
    snprintf(text, sizeof text,
             "%s%sstates: {type: %s, every: 0.3}\ntruth: {source: mocap, %s}\n"
             "sensors:\n  odom: {type: odometry, source: odometry, %s}\n  it: %s\n",
             HEAD, sources, space ? "SE3" : "SE2",
             space ? "position: [x, y, z], quaternion: [qx, qy, qz, qw]" : "position: [x, y], yaw: yaw",
             space ? "velocity: [vx, vy, vz], angular_velocity: [wx, wy, wz]" : "velocity: [vx, vy, wz]", sensor);
    return text;
}

static world begin(const char *name, ct_kind kind, ct_se3 mount)
{
    const world w = world_make(kind, START);
    import_begin(name);
    write_velocities(&w, "odometry.csv", IDENTITY);
    write_poses(&w, "truth.csv", IDENTITY, 0, GRID);
    write_posts(kind);
    write_seen(&w, mount);
    write_absolute(&w, mount);
    return w;
}

#define ABSOLUTE "  absolute: {files: absolute.csv, time: t in ns}\n"
#define SEEN                                                                                                           \
    "  seen: {files: seen.csv, time: t in ns}\n  map: posts.csv\n"                                                     \
    "landmarks: {posts: {source: map, id: id, position: %s}}\n"

typedef struct {
    const char *type, *plane, *space; /* NULL: not there */
    int position, pixel;              /* mount is a position; a camera */
} sensor_case;

static const sensor_case TARGETS[] = {
    {"range", "range: range", "range: range", 1, 0},
    {"bearing", "bearing: bearing", "bearing: bearing, elevation: elevation", 0, 0},
    {"bearing", NULL, "direction: [px, py, pz]", 0, 0},
    {"range_bearing", "range: range, bearing: bearing", "range: range, bearing: bearing, elevation: elevation", 0, 0},
    {"point", "point: [px, py]", "point: [px, py, pz]", 0, 0},
    {"pixel", NULL, "pixel: [u, v], intrinsics: [400, 410, 320, 240]", 0, 1},
    {"stereo", NULL, "pixel: [ul, vl, ur, vr], intrinsics: [400, 410, 320, 240, 0.25]", 0, 1},
};

static void check_target(const sensor_case *c, ct_kind kind)
{
    const ct_se3 mount = sensor_mount(kind);
    char sources[512], sensor[1024];
    const char *fields = kind == CT_SE3 ? c->space : c->plane;
    ct_import_result result;
    if (!fields) return;
    snprintf(sources, sizeof sources, SEEN, kind == CT_SE3 ? "[x, y, z]" : "[x, y]");
    snprintf(sensor, sizeof sensor, "{type: %s, source: seen, landmarks: posts, id: id, %s, mount: %s%s}", c->type,
             fields, mount_text(kind, mount, c->position), c->pixel ? ", where: pz > 0.3 * range" : "");
    MUST_IMPORT(d, recipe_of(kind, sources, sensor), &result);
    int n = 0;
    const double worst = worst_residual(d, d->train[0], "it", &n);
    if (!(worst < (c->pixel ? 1e-5 : TOL)) || n < (c->pixel ? 10 : 88))
        CT_TEST_SAY("%s in %s: %g, %d factors\n", c->type, ct_kind_name(kind), worst, n);
    CHECK(result.count[1].factors == n);
    ct_dataset_free(d);
    ct_import_result_free(&result);
}

static void test_sights_between_states_fit_the_truth(void)
{
    for (int space = 0; space < 2; space++) {
        begin("sights", space ? CT_SE3 : CT_SE2, sensor_mount(space ? CT_SE3 : CT_SE2));
        for (size_t i = 0; i < sizeof TARGETS / sizeof *TARGETS; i++)
            check_target(&TARGETS[i], space ? CT_SE3 : CT_SE2);
    }
}

static void test_positions_poses_and_headings_between_states_fit_the_truth(void)
{
    static const char *const FIELDS[5][3] = {
        {"position", "position: [x, y]", "position: [x, y, z]"},
        {"pose", "position: [x, y], yaw: yaw", "position: [x, y, z], quaternion: [qx, qy, qz, qw]"},
        {"heading", "yaw: yaw", NULL},
        {"heading", "quaternion: [qx, qy, qz, qw]", "quaternion: [qx, qy, qz, qw]"},
        {"height", NULL, "height: z"}};
    for (int space = 0; space < 2; space++)
        for (int i = 0; i < 5; i++) {
            const ct_kind kind = space ? CT_SE3 : CT_SE2;
            const ct_se3 mount = sensor_mount(kind);
            char sensor[1024];
            int n = 0;
            if (!FIELDS[i][1 + space]) continue;
            begin("absolute", kind, mount);
            snprintf(sensor, sizeof sensor, "{type: %s, source: absolute, %s, mount: %s}", FIELDS[i][0],
                     FIELDS[i][1 + space], mount_text(kind, mount, i == 0 || i == 4));
            MUST_IMPORT(d, recipe_of(kind, ABSOLUTE, sensor), NULL);
            const double worst = worst_residual(d, d->train[0], "it", &n);
            if (!(worst < TOL) || n != 59)
                CT_TEST_SAY("%s in %s: %g, %d factors\n", FIELDS[i][0], ct_kind_name(kind), worst, n);
            ct_dataset_free(d);
        }
}

/* A barometer whose axis points down, 3 m too low. */
static void test_heights_are_corrected(void)
{
    begin("depth", CT_SE3, IDENTITY);
    char text[4096];
    snprintf(text, sizeof text, "%scorrections: [{sensor: it, bias: -3}]\n",
             recipe_of(CT_SE3, ABSOLUTE, "{type: height, source: absolute, axes: ned, height: 3 - z}"));
    MUST_IMPORT(d, text, NULL);
    CHECK(worst_residual(d, d->train[0], "it", NULL) < TOL);
    ct_dataset_free(d);
}

/* Without the motion in between the same positions do not fit. */
static void test_the_nearest_state_alone_does_not_fit(void)
{
    begin("nearest", CT_SE2, IDENTITY);
    MUST_IMPORT(d, recipe_of(CT_SE2, ABSOLUTE, "{type: position, source: absolute, position: [x, y], attach: nearest}"),
                NULL);
    CHECK(worst_residual(d, d->train[0], "it", NULL) > 0.1);
    ct_dataset_free(d);
}

static void test_a_tolerance_leaves_out_what_is_farther(void)
{
    ct_import_result result;
    begin("tolerance", CT_SE2, IDENTITY);
    MUST_IMPORT(d, recipe_of(CT_SE2, ABSOLUTE, "{type: position, source: absolute, position: [x, y], tolerance: 0.05}"),
                &result);
    CHECK(result.count[1].dropped[CT_DROP_FAR] > 20 && result.count[1].factors > 15);
    CHECK(result.count[1].dropped[CT_DROP_FAR] + result.count[1].dropped[CT_DROP_OUTSIDE] + result.count[1].factors ==
          result.count[1].records);
    ct_dataset_free(d);
    ct_import_result_free(&result);
}

/* Counters of two wheels, 0.4 m apart, in counts of 2 mm; a body without sideways motion. Counters begin again after
 * 4 m. The left one counts 1.25 times its way, which is corrected. */
static void test_counts_of_wheels_are_odometry(void)
{
    const ct_se3 mount = ct_se3_make((const double[]){-0.1, 0.05, 0}, ct_so3_exp((const double[]){0, 0, 0.2}));
    for (int which = 0; which < 3; which++) {
        const int wrapped = which == 1, long_way = which == 2;
        world  w = world_make(CT_SE2, START);
        double left = 3.9, right = 0.1; /* so far */
        double Ad[36], pose[6];
        int    n = 0;
        char   text[2048];
        ct_se3_adjoint(mount, Ad);
        import_begin("wheels");
        FILE *file = table_open("odometry.csv", "t,left,right");
        for (int i = 0; i <= WORLD_STEPS; i++) {
            fprintf(file, "%lld,%.17g,%.17g\n", (long long)(w.start + i * WORLD_STEP_NS),
                    500 * (wrapped ? fmod(left + 80, 4) : long_way ? 1.25 * left : left),
                    500 * (wrapped ? fmod(right + 80, 4) : right));
            if (i == WORLD_STEPS) break;
            const double ahead = 0.6 * cos(0.04 * i), turn = 0.5 * sin(0.07 * i), axle[6] = {0, 0, turn, ahead, 0, 0};
            left += 0.05 * (ahead - 0.2 * turn), right += 0.05 * (ahead + 0.2 * turn);
            for (int r = 0; r < 6; r++) { /* the body's velocity from that of the axle */
                w.twist[i][r] = 0;
                for (int c = 0; c < 6; c++) w.twist[i][r] += Ad[6 * r + c] * axle[c];
                pose[r] = 0.05 * w.twist[i][r];
            }
            w.pose[i + 1] = ct_se3_compose(w.pose[i], ct_se3_exp(pose), NULL, NULL);
        }
        fclose(file);
        write_poses(&w, "truth.csv", IDENTITY, 0, GRID);
        snprintf(text, sizeof text,
                 "%sstates: {type: SE2, every: 0.3}\ntruth: {source: mocap, position: [x, y], yaw: yaw}\nsensors:\n"
                 "  odom: {type: odometry, source: odometry, wheels: [left * 0.002, right * 2 in mm], track: 0.4%s, "
                 "mount: %s}\n%s",
                 HEAD, wrapped ? ", wrap: 4" : "", mount_text(CT_SE2, mount, 0),
                 long_way ? "corrections: [{sensor: odom, wheels: [0.8, 1]}]\n" : "");
        MUST_IMPORT(d, text, NULL);
        const double worst = worst_residual(d, d->train[0], "odom", &n);
        if (!(worst < TOL) || n != 33) CT_TEST_SAY("wheels %d: %g, %d factors\n", which, worst, n);
        ct_dataset_free(d);
    }
}

/* Velocities as factors: the mean over a step of several records is no exact measurement of it, but nearly. At the
 * stamps of the records it is exact. */
static void test_velocities_at_their_stamps_fit_the_truth(void)
{
    for (int space = 0; space < 2; space++) {
        const world w = begin("rates", space ? CT_SE3 : CT_SE2, IDENTITY);
        char text[2048];
        int n = 0;
        write_poses(&w, "truth.csv", IDENTITY, 0, WORLD_STEP_NS);
        snprintf(text, sizeof text,
                 "%sstates: {type: %s, at: rate}\ntruth: {source: mocap, %s}\nsensors: {rate: {type: velocity, source: "
                 "odometry, %s}}\n",
                 HEAD, space ? "SE3" : "SE2",
                 space ? "position: [x, y, z], quaternion: [qx, qy, qz, qw]" : "position: [x, y], yaw: yaw",
                 space ? "velocity: [vx, vy, vz], angular_velocity: [wx, wy, wz]" : "velocity: [vx, vy, wz]");
        MUST_IMPORT(d, text, NULL);
        CHECK(worst_residual(d, d->train[0], "rate", &n) < 1e-7 && n == WORLD_STEPS);
        CHECK(states_of(d->train[0]) == WORLD_STEPS + 1);
        ct_dataset_free(d);
    }
}

/* Loop closures between any two times, from sensor frame to sensor frame. */
static void test_relative_poses_by_stamp_fit_the_truth(void)
{
    for (int space = 0; space < 2; space++) {
        const ct_kind kind = space ? CT_SE3 : CT_SE2;
        const ct_se3 mount = sensor_mount(kind);
        const world w = begin("loops", kind, mount);
        char sensor[1024];
        int n = 0;
        FILE *file = table_open("loops.csv", space ? "t,from,to,x,y,z,qx,qy,qz,qw" : "t,from,to,x,y,yaw");
        for (int i = 0; i < 12; i++) {
            const ct_ns a = w.start + 810000000LL * (11 - i) % 9000000000LL + 33000000,
                        b = w.start + 9700000000LL - i * 770000000LL;
            const ct_se3 z = ct_se3_between(ct_se3_compose(world_at(&w, a), mount, NULL, NULL),
                                            ct_se3_compose(world_at(&w, b), mount, NULL, NULL), NULL, NULL);
            fprintf(file, "%d,%lld,%lld,%.17g,%.17g,", i, (long long)a, (long long)b, z.x, z.y);
            if (space)
                fprintf(file, "%.17g,%.17g,%.17g,%.17g,%.17g\n", z.z, z.qx, z.qy, z.qz, z.qw);
            else
                fprintf(file, "%.17g\n", yaw_of(z));
        }
        fclose(file);
        snprintf(sensor, sizeof sensor,
                 "{type: relative_pose, source: loops, from: from in ns, to: to in ns, %s, mount: %s}",
                 space ? "position: [x, y, z], quaternion: [qx, qy, qz, qw]" : "position: [x, y], yaw: yaw",
                 mount_text(kind, mount, 0));
        MUST_IMPORT(d, recipe_of(kind, "  loops: {files: loops.csv}\n", sensor), NULL);
        CHECK(worst_residual(d, d->train[0], "it", &n) < 1e-5); /* stamps as double: 1e-7 s */
        CHECK(n == 12);
        ct_dataset_free(d);
    }
}

int main(void)
{
    RUN(test_sights_between_states_fit_the_truth);
    RUN(test_positions_poses_and_headings_between_states_fit_the_truth);
    RUN(test_heights_are_corrected);
    RUN(test_counts_of_wheels_are_odometry);
    RUN(test_the_nearest_state_alone_does_not_fit);
    RUN(test_a_tolerance_leaves_out_what_is_farther);
    RUN(test_velocities_at_their_stamps_fit_the_truth);
    RUN(test_relative_poses_by_stamp_fit_the_truth);
    return ct_test_end();
}
