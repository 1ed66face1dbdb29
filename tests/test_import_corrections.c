/* test_import_corrections.c: tables with a known fault, and the correction that mends it: no residual at the truth with
 * it, and a large one without. Truth in other frames, axes, times and units. */
#include "import_test.h"

#define START 5000000000LL
#define GRID  300000000LL
#define TOL   1e-8

static const ct_se3 IDENTITY = {0, 0, 0, 0, 0, 0, 1};

#define HEAD                                                                                                           \
    "format: covtune-recipe\nversion: 1\nsources:\n"                                                                   \
    "  odometry: {files: odometry.csv, time: t in ns}\n  mocap: {files: truth.csv, time: t in ns}\n"                   \
    "  gps: {files: gps.csv, time: t in ns}\n"
#define PLANE                                                                                                          \
    "states: {type: SE2, every: 0.3}\ntruth: {source: mocap, position: [x, y], yaw: yaw}\n"                            \
    "sensors:\n  odom: {type: odometry, source: odometry, velocity: [vx, vy, wz]}\n"                                   \
    "  gps: {type: position, source: gps, position: [x, y]}\n"
#define SPACE                                                                                                          \
    "states: {type: SE3, every: 0.3}\n"                                                                                \
    "truth: {source: mocap, position: [x, y, z], quaternion: [qx, qy, qz, qw]}\n"                                      \
    "sensors:\n  odom: {type: odometry, source: odometry, velocity: [vx, vy, vz], angular_velocity: [wx, wy, wz]}\n"   \
    "  gps: {type: position, source: gps, position: [x, y, z]}\n"

/* ---- tables ---- */

typedef struct {
    ct_ns shift;  /* of the stamps      */
    double drift; /* of the clock       */
    int axes[6];  /* 0: as it is        */
    double scale[6], bias[6];
} fault;

static const fault NONE = {.scale = {1, 1, 1, 1, 1, 1}};

/* A row as a sensor with the fault gives it: the inverse of what the correction does. */
static void spoil(const fault *f, int n, const double v[], double out[])
{
    for (int i = 0; i < n; i++) {
        const double raw = (v[i] + f->bias[i]) / f->scale[i];
        const int axis = f->axes[i] ? f->axes[i] : i + 1;
        out[abs(axis) - 1] = axis > 0 ? raw : -raw;
    }
}

static ct_ns spoil_stamp(const fault *f, ct_ns t)
{
    return START + (ct_ns)llround((double)(t - START) / (1 + f->drift)) - f->shift;
}

/* Rows of the recipe: vx vy omega, or wx wy wz vx vy vz. */
static void write_odometry(const world *w, const fault *f)
{
    FILE *file = table_open("odometry.csv", w->kind == CT_SE2 ? "t,vx,vy,wz" : "t,wx,wy,wz,vx,vy,vz");
    const int n = w->kind == CT_SE2 ? 3 : 6;
    for (int i = 0; i <= WORLD_STEPS; i++) {
        const double *u = w->twist[i < WORLD_STEPS ? i : WORLD_STEPS - 1], planar[3] = {u[3], u[4], u[2]};
        double row[6];
        spoil(f, n, n == 3 ? planar : u, row);
        put_row(file, spoil_stamp(f, START + i * WORLD_STEP_NS), n, row);
    }
    fclose(file);
}

static void write_gps(const world *w, const fault *f)
{
    FILE *file = table_open("gps.csv", "t,x,y,z");
    for (ct_ns t = START; t < START + WORLD_STEPS * WORLD_STEP_NS; t += 130000000) {
        const ct_se3 a = world_at(w, t);
        double row[3] = {0, 0, 0};
        spoil(f, w->kind == CT_SE2 ? 2 : 3, (const double[]){a.x, a.y, a.z}, row);
        put_row(file, spoil_stamp(f, t), 3, row);
    }
    fclose(file);
}

static world begin(const char *name, ct_kind kind)
{
    const world w = world_make(kind, START);
    import_begin(name);
    write_odometry(&w, &NONE);
    write_gps(&w, &NONE);
    write_poses(&w, "truth.csv", IDENTITY, 0, GRID);
    return w;
}

/* Without the correction the model does not fit, with it everything does. */
static void check_mended(const char *text, const char *model, const char *correction, int line)
{
    char whole[4096];
    ct_err err;
    for (int mended = 0; mended < 2; mended++) {
        snprintf(whole, sizeof whole, "%s%s%s", text, mended ? "corrections:\n  - " : "", mended ? correction : "");
        ct_dataset *d = import_text(whole, NULL, &err);
        if (!d) {
            CT_TEST_SAY("line %d: %s\n", line, err.text);
            return;
        }
        const double worst = worst_residual(d, d->train[0], mended ? NULL : model, NULL);
        if (mended ? !(worst < TOL) : !(worst > 1e-3))
            CT_TEST_SAY("line %d: %s: residual %g\n", line, mended ? correction : "none", worst);
        ct_dataset_free(d);
    }
}
#define CHECK_MENDED(text, model, correction) check_mended(text, model, correction, __LINE__)

static void test_odometry_is_mended_row_by_row(void)
{
    const world w = begin("mend_odometry", CT_SE2);
    const fault scaled = {.scale = {0.944, 1, 0.91}, .bias = {0.01, -0.02, 0.03}};
    const fault turned = {.scale = {1, 1, 1}, .axes = {2, -1, -3}};
    const fault late = {.scale = {1, 1, 1}, .shift = 175000000};
    const fault drifting = {.scale = {1, 1, 1}, .drift = 0.02};
    write_odometry(&w, &scaled);
    CHECK_MENDED(HEAD PLANE, "odom", "{sensor: odom, scale: [0.944, 1, 0.91], bias: [0.01, -0.02, 0.03]}\n");
    CHECK_MENDED(HEAD PLANE, "odom",
                 "{sensor: odom, recording: test, scale: [0.944, 1, 0.91], bias: [0.01, -0.02, 0.03]}\n"
                 "  - {sensor: odom, scale: [2, 2, 2]}\n");
    write_odometry(&w, &turned);
    CHECK_MENDED(HEAD PLANE, "odom", "{sensor: odom, axes: [2, -1, -3]}\n");
    write_odometry(&w, &late);
    CHECK_MENDED(HEAD PLANE, "odom", "{sensor: odom, delay: 0.175}\n");
    write_odometry(&w, &drifting);
    CHECK_MENDED(HEAD PLANE, "odom", "{sensor: odom, drift: 0.02}\n");
}

static void test_odometry_in_space_is_mended_row_by_row(void)
{
    const world w = begin("mend_space", CT_SE3);
    const fault f = {.scale = {1.1, 0.9, 1.05, 0.95, 1.02, 0.97},
                     .bias = {.01, .02, -.03, .04, -.05, .06},
                     .axes = {2, -1, 3, 5, -4, 6}};
    write_odometry(&w, &f);
    CHECK_MENDED(HEAD SPACE, "odom",
                 "{sensor: odom, axes: [2, -1, 3, 5, -4, 6], scale: [1.1, 0.9, 1.05, 0.95, 1.02, 0.97], "
                 "bias: [.01, .02, -.03, .04, -.05, .06]}\n");
}

static void test_positions_are_mended(void)
{
    const world w = begin("mend_gps", CT_SE2);
    const fault f = {.scale = {0.001, 0.001}, .bias = {3, -4}, .axes = {-2, 1}},
                late = {.scale = {1, 1}, .shift = -90000000};
    write_gps(&w, &f);
    CHECK_MENDED(HEAD PLANE, "gps", "{sensor: gps, axes: [-2, 1], scale: [0.001, 0.001], bias: [3, -4]}\n");
    write_gps(&w, &late);
    CHECK_MENDED(HEAD PLANE, "gps", "{sensor: gps, delay: -0.09}\n");
    /* the antenna is elsewhere, and the world's frame is another */
    FILE *file = table_open("gps.csv", "t,x,y,z");
    const ct_se3 frame = ct_se3_make((const double[]){10, 20, 0}, ct_so3_exp((const double[]){0, 0, 0.5}));
    const ct_se3 mount = {0.4, 0.1, 0, 0, 0, 0, 1};
    for (ct_ns t = START; t < START + WORLD_STEPS * WORLD_STEP_NS; t += 130000000) {
        const ct_se3 a =
            ct_se3_compose(ct_se3_inverse(frame, NULL), ct_se3_compose(world_at(&w, t), mount, NULL, NULL), NULL, NULL);
        put_row(file, t, 3, (const double[]){a.x, a.y, 0});
    }
    fclose(file);
    CHECK_MENDED(HEAD PLANE, "gps", "{sensor: gps, frame: [10, 20, 0.5], mount: [0.4, 0.1]}\n");
}

static void test_the_truth_is_mended(void)
{
    const world w = begin("mend_truth", CT_SE2);
    const ct_se3 frame = ct_se3_make((const double[]){-3, 7, 0}, ct_so3_exp((const double[]){0, 0, 1.1}));
    FILE *file = table_open("truth.csv", "t,x,y,yaw");
    for (ct_ns t = START; t <= START + WORLD_STEPS * WORLD_STEP_NS; t += GRID)
        put_pose(file, t - 40000000, CT_SE2, ct_se3_compose(ct_se3_inverse(frame, NULL), world_at(&w, t), NULL, NULL));
    fclose(file);
    CHECK_MENDED(HEAD PLANE, "gps", "{sensor: truth, frame: [-3, 7, 1.1], delay: 0.04}\n");
    file = table_open("truth.csv", "t,x,y,yaw");
    for (ct_ns t = START; t <= START + WORLD_STEPS * WORLD_STEP_NS; t += GRID) {
        const ct_se3 a = world_at(&w, t);
        put_row(file, t, 3, (const double[]){1000 * a.x, -1000 * a.y, yaw_of(a) - 0.2});
    }
    fclose(file);
    CHECK_MENDED(HEAD PLANE, "gps", "{sensor: truth, scale: [0.001, -0.001, 1], bias: [0, 0, -0.2]}\n");
}

static void test_the_truth_in_space_is_mended(void)
{
    const world w = begin("mend_truth_space", CT_SE3);
    const double zero[3] = {0, 0, 0};
    const ct_se3 C =
        ct_se3_make(zero, (ct_so3){-0.5, 0.5, -0.5, 0.5}); /* from camera axes: x = z_c, y = -x_c, z = -y_c */
    FILE *file = table_open("truth.csv", "t,x,y,z,qx,qy,qz,qw");
    for (ct_ns t = START; t <= START + WORLD_STEPS * WORLD_STEP_NS; t += GRID) {
        const ct_se3 a = world_at(&w, t);
        put_row(file, t, 7, (const double[]){a.x, a.y, a.z, a.qw, a.qx, a.qy, a.qz});
    }
    fclose(file);
    CHECK_MENDED(HEAD SPACE, "odom", "{sensor: truth, quaternion: scalar_first}\n");
    double forward[3];
    ct_se3_act(C, (const double[]){0, 0, 1}, forward, NULL, NULL);
    CHECK_NEAR(forward[0], 1, 1e-15);
    file = table_open("truth.csv", "t,x,y,z,qx,qy,qz,qw");
    for (ct_ns t = START; t <= START + WORLD_STEPS * WORLD_STEP_NS; t += GRID)
        put_pose(file, t, CT_SE3,
                 ct_se3_compose(ct_se3_inverse(C, NULL), ct_se3_compose(world_at(&w, t), C, NULL, NULL), NULL, NULL));
    fclose(file);
    CHECK_MENDED(HEAD SPACE, "odom", "{sensor: truth, camera: true}\n");
}

/* north, east, down; x ahead, y right, z down */
static void test_ned_is_turned(void)
{
    const world w = begin("ned", CT_SE3);
    const double zero[3] = {0, 0, 0};
    const double W[9] = {0, 1, 0, 1, 0, 0, 0, 0, -1}, B[9] = {1, 0, 0, 0, -1, 0, 0, 0, -1};
    const ct_se3 Wi = ct_se3_inverse(ct_se3_make(zero, ct_so3_from_matrix(W)), NULL),
                 C = ct_se3_make(zero, ct_so3_from_matrix(B));
    FILE *file = table_open("truth.csv", "t,x,y,z,qx,qy,qz,qw");
    for (ct_ns t = START; t <= START + WORLD_STEPS * WORLD_STEP_NS; t += GRID)
        put_pose(file, t, CT_SE3, ct_se3_compose(Wi, ct_se3_compose(world_at(&w, t), C, NULL, NULL), NULL, NULL));
    fclose(file);
    MUST_IMPORT(d,
                HEAD "states: {type: SE3, every: 0.3}\n"
                     "truth: {source: mocap, position: [x, y, z], quaternion: [qx, qy, qz, qw], axes: ned}\n"
                     "sensors:\n  odom: {type: odometry, source: odometry, velocity: [vx, -vy, -vz], "
                     "angular_velocity: [wx, -wy, -wz], axes: ned}\n"
                     "  gps: {type: position, source: gps, position: [y, x, -z], axes: ned}\n",
                NULL);
    CHECK(worst_residual(d, d->train[0], NULL, NULL) < TOL);
    ct_dataset_free(d);
}

/* ---- conventions of poses ---- */

/* What a file has of a pose. */
typedef ct_se3 (*reading)(ct_se3 pose);

static ct_se3 inverse(ct_se3 a) { return ct_se3_inverse(a, NULL); }

/* A body with x ahead, y right, z down in the world north, east, down, by matrices. */
static ct_se3 to_ned(ct_se3 a)
{
    const double zero[3] = {0, 0, 0}, W[9] = {0, 1, 0, 1, 0, 0, 0, 0, -1}, B[9] = {1, 0, 0, 0, -1, 0, 0, 0, -1};
    const ct_se3 turn = ct_se3_make(zero, ct_so3_from_matrix(W)), body = ct_se3_make(zero, ct_so3_from_matrix(B));
    return ct_se3_compose(ct_se3_inverse(turn, NULL), ct_se3_compose(a, body, NULL, NULL), NULL, NULL);
}

static ct_se3 to_compass(ct_se3 a)
{
    return ct_se3_make((const double[]){a.x, a.y, a.z}, ct_se3_rotation(to_ned(a)));
}

static void write_truth(const world *w, reading read)
{
    FILE *file = table_open("truth.csv", w->kind == CT_SE2 ? "t,x,y,yaw" : "t,x,y,z,qx,qy,qz,qw");
    for (ct_ns t = START; t <= START + WORLD_STEPS * WORLD_STEP_NS; t += GRID)
        put_pose(file, t, w->kind, read(world_at(w, t)));
    fclose(file);
}

static void test_inverse_and_turned_poses_of_the_truth_are_mended(void)
{
    for (int space = 0; space < 2; space++) {
        const world w = begin(space ? "conventions_space" : "conventions", space ? CT_SE3 : CT_SE2);
        const char *text = space ? HEAD SPACE : HEAD PLANE;
        write_truth(&w, inverse);
        CHECK_MENDED(text, "odom", "{sensor: truth, inverse: true}\n");
        write_truth(&w, to_ned);
        CHECK_MENDED(text, "odom", "{sensor: truth, ned: true}\n");
        write_truth(&w, to_compass);
        CHECK_MENDED(text, "odom", "{sensor: truth, compass: true}\n");
    }
}

/* In the plane a compass counts clockwise from north: y. */
static void test_a_compass_is_clockwise_from_north(void)
{
    const world w = begin("compass", CT_SE2);
    FILE *file = table_open("truth.csv", "t,x,y,yaw");
    for (ct_ns t = START; t <= START + WORLD_STEPS * WORLD_STEP_NS; t += GRID) {
        const ct_se3 a = world_at(&w, t);
        const double heading = 90 - 57.29577951308232 * yaw_of(a);
        put_row(file, t, 3, (const double[]){a.x, a.y, heading < 0 ? heading + 360 : heading});
    }
    fclose(file);
    CHECK_MENDED(HEAD PLANE, "odom", "{sensor: truth, compass: true, degrees: true}\n");
    MUST_IMPORT(d,
                HEAD "states: {type: SE2, every: 0.3}\ntruth: {source: mocap, position: [x, y], yaw: 90 - yaw in deg}\n"
                     "sensors:\n  odom: {type: odometry, source: odometry, velocity: [vx, vy, wz]}\n"
                     "  compass: {type: heading, source: mocap, yaw: yaw}\n"
                     "  gps: {type: position, source: gps, position: [x, y]}\n"
                     "corrections:\n  - {sensor: compass, degrees: true, compass: true}\n",
                NULL);
    CHECK(worst_residual(d, d->train[0], NULL, NULL) < TOL);
    ct_dataset_free(d);
}

static void test_angles_in_degrees_are_mended(void)
{
    const world w = begin("degrees", CT_SE3);
    FILE *file = table_open("truth.csv", "t,x,y,z,rx,ry,rz");
    for (ct_ns t = START; t <= START + WORLD_STEPS * WORLD_STEP_NS; t += GRID) {
        const ct_se3 a = world_at(&w, t);
        double r[3];
        ct_so3_log(ct_se3_rotation(a), r);
        put_row(file, t, 6, (const double[]){a.x, a.y, a.z, r[0] * 57.29577951308232, r[1] * 57.29577951308232,
                                             r[2] * 57.29577951308232});
    }
    fclose(file);
    CHECK_MENDED(HEAD "states: {type: SE3, every: 0.3}\n"
                      "truth: {source: mocap, position: [x, y, z], rotation_vector: [rx, ry, rz]}\n"
                      "sensors:\n  odom: {type: odometry, source: odometry, velocity: [vx, vy, vz], "
                      "angular_velocity: [wx, wy, wz]}\n"
                      "  gps: {type: position, source: gps, position: [x, y, z]}\n",
                 "odom", "{sensor: truth, degrees: true}\n");
    const world plane = begin("degrees_plane", CT_SE2);
    const fault turns = {.scale = {1, 1, 0.017453292519943295}};
    write_odometry(&plane, &turns);
    CHECK_MENDED(HEAD PLANE, "odom", "{sensor: odom, degrees: true}\n");
}

/* Increments and relative poses of the earlier pose in the later one's frame; poses of the world in the body's. */
static void test_inverse_motion_is_mended(void)
{
    for (int space = 0; space < 2; space++) {
        const world w = begin(space ? "inverse_space" : "inverse_plane", space ? CT_SE3 : CT_SE2);
        const char *states = space ? "states: {type: SE3, every: 0.3}\n" : "states: {type: SE2, every: 0.3}\n";
        const char *pose = space ? "position: [x, y, z], quaternion: [qx, qy, qz, qw]" : "position: [x, y], yaw: yaw";
        const char *step = space ? "[x, y, z, qx, qy, qz, qw]" : "[x, y, yaw]";
        const char *gps = space ? "  gps: {type: position, source: gps, position: [x, y, z]}\n"
                                : "  gps: {type: position, source: gps, position: [x, y]}\n";
        char text[2048];
        for (int steps = 0; steps < 2; steps++) {
            FILE *file = table_open("odometry.csv", space ? "t,x,y,z,qx,qy,qz,qw" : "t,x,y,yaw");
            for (int i = 0; i <= WORLD_STEPS; i++) {
                const ct_se3 a = steps ? ct_se3_between(w.pose[i ? i - 1 : 0], w.pose[i], NULL, NULL) : w.pose[i];
                put_pose(file, START + i * WORLD_STEP_NS, w.kind, inverse(a));
            }
            fclose(file);
            snprintf(text, sizeof text, HEAD "%struth: {source: mocap, %s}\n"
                     "sensors:\n%s  odom: {type: odometry, source: odometry, %s%s}\n", states, pose,
                     gps, steps ? "increment: " : pose, steps ? step : "");
            CHECK_MENDED(text, "odom", "{sensor: odom, inverse: true}\n");
            snprintf(text, sizeof text, HEAD "%struth: {source: mocap, %s}\n"
                     "sensors:\n%s  odom: {type: odometry, source: odometry, inverse: true, %s%s}\n", states, pose,
                     gps, steps ? "increment: " : pose, steps ? step : "");
            MUST_IMPORT(d, text, NULL);
            CHECK(worst_residual(d, d->train[0], NULL, NULL) < TOL);
            ct_dataset_free(d);
        }
    }
}

#define REFUSED(sensors, correction, part)                                                                             \
    CHECK_REFUSED(ct_recipe_parse(HEAD "states: {type: SE2, every: 0.3}\n"                                             \
                                       "truth: {source: mocap, position: [x, y]}\nsensors:\n" sensors                  \
                                       "corrections:\n  - " correction,                                                \
                                  "r.yaml", NULL, &recipe, &err),                                                      \
                  err, part)

static void test_a_convention_of_what_a_sensor_has_not_is_refused(void)
{
    ct_recipe *recipe = NULL;
    ct_err err;
#define ODOM "  odom: {type: odometry, source: odometry, velocity: [vx, vy, wz]}\n"
    REFUSED(ODOM, "{sensor: odom, compass: true}\n", "r.yaml:12: corrections[1].compass: odom measures no heading");
    REFUSED(ODOM, "{sensor: odom, wheels: [1, 0.96]}\n", "r.yaml:12: corrections[1].wheels: odom has no wheels");
    REFUSED(ODOM, "{sensor: odom, inverse: true}\n", "r.yaml:12: corrections[1].inverse: odom has no poses");
    REFUSED(ODOM, "{sensor: truth, inverse: true}\n", "r.yaml:12: corrections[1].inverse: truth has no poses");
    REFUSED(ODOM, "{sensor: truth, degrees: true}\n", "r.yaml:12: corrections[1].degrees: truth has no angles");
    REFUSED(ODOM, "{sensor: truth, ned: 3}\n", "r.yaml:12: corrections[1].ned");
    REFUSED("  odom: {type: odometry, source: odometry, velocity: [vx, vy, wz], inverse: true}\n",
            "{sensor: odom, delay: 1}\n", "r.yaml:10: sensors.odom.inverse: is of poses and increments");
    REFUSED(ODOM "  gps: {type: position, source: gps, position: [x, y], inverse: true}\n",
            "{sensor: odom, delay: 1}\n", "r.yaml:11: sensors.gps.inverse: is no key of the type position");
    CHECK_REFUSED(ct_recipe_parse(HEAD "states: {type: SE2, every: 0.3}\n"
                                       "truth: {source: mocap, position: [x, y], inverse: true}\nsensors:\n" ODOM,
                                  "r.yaml", NULL, &recipe, &err),
                  err, "r.yaml:8: truth.inverse: the inverse of a pose needs its rotation");
#undef ODOM
}
#undef REFUSED

static void test_noise_models_are_corrected(void)
{
    begin("mend_noise", CT_SE2);
    MUST_IMPORT(d, HEAD PLANE "corrections:\n  - {sensor: gps, kernel: 'cauchy:2'}\n  - {sensor: odom, full: true}\n",
                NULL);
    const ct_noise_model *gps = ct_noise_get(d->noise, ct_noise_find(d->noise, "gps"));
    CHECK(gps->robust.kind == CT_ROBUST_CAUCHY && gps->robust.width == 2);
    CHECK(ct_noise_get(d->noise, ct_noise_find(d->noise, "odom"))->kind == CT_NOISE_FULL);
    ct_dataset_free(d);
}

/* ---- truth ---- */

static void test_truth_in_a_gap_is_unknown(void)
{
    const world w = begin("truth_gap", CT_SE2);
    FILE *file = table_open("truth.csv", "t,x,y,yaw");
    for (int i = 0; i <= WORLD_STEPS; i++)
        if (i < 60 || i > 100) put_pose(file, START + i * WORLD_STEP_NS, CT_SE2, w.pose[i]);
    fclose(file);
    MUST_IMPORT(d, HEAD PLANE, NULL);
    const ct_sequence *seq = d->train[0];
    int unknown = 0;
    for (int32_t v = 0; v < ct_graph_variables(seq->graph); v++) {
        const double t = seq->stamp[v] - START * 1e-9;
        CHECK((seq->known[v] == 0) == (t > 2.96 && t < 5.04));
        unknown += !seq->known[v];
    }
    CHECK(unknown == 7 && states_of(seq) == 34);
    CHECK(worst_residual(d, seq, NULL, NULL) < TOL);
    ct_dataset_free(d);
}

/* Linear in position, along the arc in rotation; nearest takes records as they are. */
static void test_truth_is_interpolated(void)
{
    begin("truth_between", CT_SE2);
    write_text_file("truth.csv",
                    "t,x,y,yaw\n4900000000,1,2,3.0\n5200000000,2,4,-3.0\n5500000000,0,0,0\n15100000000,0,0,0\n");
    for (int nearest = 0; nearest < 2; nearest++) {
        char text[2048];
        snprintf(
            text, sizeof text,
            "%sstates: {type: SE2, every: 0.1}\ntruth: {source: mocap, position: [x, y], yaw: yaw, known: [x, yaw], "
            "interpolate: %s, sigma: [0.01, 0.002]}\nsensors:\n  odom: {type: odometry, source: odometry, velocity: "
            "[vx, vy, wz]}\n  gps: {type: position, source: gps, position: [x, y]}\n",
            HEAD, nearest ? "nearest" : "linear");
        MUST_IMPORT(d, text, NULL);
        const ct_sequence *seq = d->train[0];
        const ct_se2 a = ct_graph_se2(seq->graph, seq->truth, 0);
        CHECK(seq->known[0] == 5 && seq->truth_sigma[0] == 0.01 && seq->truth_sigma[1] == 0.002);
        CHECK_NEAR(a.x, nearest ? 1 : 1 + 1 / 3., 1e-12);
        CHECK_NEAR(a.y, nearest ? 2 : 2 + 2 / 3., 1e-12);
        CHECK_NEAR(ct_se2_yaw(a), nearest ? 3 : 3 + (2 * 3.14159265358979323846 - 6) / 3, 1e-12);
        ct_dataset_free(d);
    }
}

static void test_the_first_state_has_a_truth(void)
{
    const world w = begin("truth_first", CT_SE2);
    FILE *file = table_open("truth.csv", "t,x,y,yaw");
    put_pose(file, START, CT_SE2, w.pose[0]); /* one record, then a gap */
    for (int i = 30; i <= WORLD_STEPS; i++) put_pose(file, START + i * WORLD_STEP_NS, CT_SE2, w.pose[i]);
    fclose(file);
    MUST_IMPORT(d,
                HEAD "states: {type: SE2, every: 0.3, from: 0.1}\ntruth: {source: mocap, position: [x, y], yaw: yaw}\n"
                     "sensors:\n  odom: {type: odometry, source: odometry, velocity: [vx, vy, wz]}\n"
                     "  gps: {type: position, source: gps, position: [x, y]}\n",
                NULL);
    CHECK(d->train[0]->known[0] == 7);
    CHECK_NEAR(d->train[0]->stamp[0], START * 1e-9 + 1.6, 1e-9);
    CHECK(worst_residual(d, d->train[0], NULL, NULL) < TOL);
    ct_dataset_free(d);
}

int main(void)
{
    RUN(test_odometry_is_mended_row_by_row);
    RUN(test_odometry_in_space_is_mended_row_by_row);
    RUN(test_positions_are_mended);
    RUN(test_the_truth_is_mended);
    RUN(test_the_truth_in_space_is_mended);
    RUN(test_ned_is_turned);
    RUN(test_inverse_and_turned_poses_of_the_truth_are_mended);
    RUN(test_a_compass_is_clockwise_from_north);
    RUN(test_angles_in_degrees_are_mended);
    RUN(test_inverse_motion_is_mended);
    RUN(test_a_convention_of_what_a_sensor_has_not_is_refused);
    RUN(test_noise_models_are_corrected);
    RUN(test_truth_in_a_gap_is_unknown);
    RUN(test_truth_is_interpolated);
    RUN(test_the_first_state_has_a_truth);
    return ct_test_end();
}
