/* test_import.c: recipes to datasets. Tables without noise give factors without residual at the truth: integration,
 * interpolation, mounts, motion between states, corrections. */
#include "import_test.h"

#define HEAD "format: covtune-recipe\nversion: 1\n"
#define PLANE                                                                                                          \
    "states: {type: SE2, every: 0.3}\n"                                                                                \
    "truth: {source: mocap, position: [x, y], yaw: yaw}\n"
#define SPACE                                                                                                          \
    "states: {type: SE3, every: 0.3}\n"                                                                                \
    "truth: {source: mocap, position: [x, y, z], quaternion: [qx, qy, qz, qw]}\n"
#define MOCAP   "sources:\n  mocap: {files: truth.csv, time: t in ns}\n"
#define SOURCES MOCAP "  odometry: {files: odometry.csv, time: t in ns}\n"
#define ODOM2   "sensors:\n  odom: {type: odometry, source: odometry, velocity: [vx, vy, wz]}\n"
#define ODOM3                                                                                                          \
    "sensors:\n  odom: {type: odometry, source: odometry, velocity: [vx, vy, vz], angular_velocity: [wx, wy, wz]}\n"

#define START 1600000000123456789LL /* ns since 1970: no double holds it */
#define GRID  300000000LL
#define TOL   1e-9

static const ct_se3 IDENTITY = {0, 0, 0, 0, 0, 0, 1};

static world begin_world(const char *name, ct_kind kind)
{
    const world w = world_make(kind, START);
    import_begin(name);
    write_velocities(&w, "odometry.csv", IDENTITY);
    write_poses(&w, "truth.csv", IDENTITY, 0, GRID);
    return w;
}

static void test_velocities_are_integrated_exactly(void)
{
    for (int space = 0; space < 2; space++) {
        ct_import_result result;
        begin_world("velocities", space ? CT_SE3 : CT_SE2);
        MUST_IMPORT(d, space ? HEAD SOURCES SPACE ODOM3 : HEAD SOURCES PLANE ODOM2, &result);
        int n = 0;
        const ct_sequence *seq = d->train[0];
        CHECK(d->trains == 1 && d->tests == 1 && d->train[0] == d->test[0]);
        CHECK(states_of(seq) == 34 && ct_graph_factors(seq->graph) == 34 && result.states == 34);
        CHECK(worst_residual(d, seq, "odom", &n) < TOL && n == 33);
        CHECK(worst_residual(d, seq, "first_pose", &n) < TOL && n == 1);
        CHECK(result.counts == 2 && result.count[0].records == WORLD_STEPS + 1 && result.count[0].factors == 33);
        CHECK(result.count[1].factors == 34 && !strcmp(result.count[1].name, "truth"));
        CHECK_NEAR(result.count[0].rate_hz, 20, 1e-9);
        CHECK_NEAR(seq->stamp[1] - seq->stamp[0], 0.3, 1e-6);
        CHECK(!strcmp(seq->name, "test") && !strcmp(seq->recording, "test"));
        ct_dataset_free(d);
        ct_import_result_free(&result);
    }
}

static ct_se3 mount_of(ct_kind kind)
{
    return ct_se3_make((const double[]){0.3, -0.2, kind == CT_SE3 ? 0.4 : 0},
                       ct_so3_exp((const double[]){kind == CT_SE3 ? 0.3 : 0, kind == CT_SE3 ? -0.2 : 0, 0.7}));
}

static void mount_text(ct_kind kind, char text[256])
{
    const ct_se3 a = mount_of(kind);
    if (kind == CT_SE2)
        snprintf(text, 256, "[%.17g, %.17g, %.17g]", a.x, a.y, yaw_of(a));
    else
        snprintf(text, 256, "[%.17g, %.17g, %.17g, %.17g, %.17g, %.17g, %.17g]", a.x, a.y, a.z, a.qx, a.qy, a.qz, a.qw);
}

static void test_odometry_of_a_mounted_sensor_is_the_bodys(void)
{
    for (int space = 0; space < 2; space++) {
        const ct_kind kind = space ? CT_SE3 : CT_SE2;
        const world w = begin_world("mounted", kind);
        char mount[256], text[2048];
        write_velocities(&w, "odometry.csv", mount_of(kind));
        mount_text(kind, mount);
        snprintf(text, sizeof text, "%ssensors: {odom: {type: odometry, source: odometry, %s, mount: %s}}\n",
                 space ? HEAD SOURCES SPACE : HEAD SOURCES PLANE,
                 space ? "velocity: [vx, vy, vz], angular_velocity: [wx, wy, wz]" : "velocity: [vx, vy, wz]", mount);
        MUST_IMPORT(d, text, NULL);
        CHECK(worst_residual(d, d->train[0], NULL, NULL) < TOL);
        ct_dataset_free(d);
    }
}

/* Poses every 50 ms, where velocity changes: between them the motion is Exp of the difference. States lie between. */
static void test_differences_of_poses_are_interpolated_on_the_group(void)
{
    for (int space = 0; space < 2; space++) {
        const ct_kind kind = space ? CT_SE3 : CT_SE2;
        const world w = begin_world("poses", kind);
        char mount[256], text[2048];
        write_poses(&w, "poses.csv", mount_of(kind), 0, WORLD_STEP_NS);
        write_poses(&w, "truth.csv", IDENTITY, 20000000, GRID); /* begins between records */
        mount_text(kind, mount);
        snprintf(text, sizeof text,
                 "%s  poses: {files: poses.csv, time: t in ns}\n%ssensors: {odom: {type: odometry, source: poses, %s, "
                 "mount: %s}}\n",
                 HEAD MOCAP, space ? SPACE : PLANE,
                 space ? "position: [x, y, z], quaternion: [qx, qy, qz, qw]" : "position: [x, y], yaw: yaw", mount);
        int n = 0;
        MUST_IMPORT(d, text, NULL);
        CHECK(worst_residual(d, d->train[0], "odom", &n) < TOL && n == 33);
        ct_dataset_free(d);
    }
}

static void test_increments_are_divided_in_proportion_to_time(void)
{
    for (int space = 0; space < 2; space++) {
        const ct_kind kind = space ? CT_SE3 : CT_SE2;
        const world w = begin_world("increments", kind);
        FILE *file = table_open("steps.csv", space ? "t,x,y,z,qx,qy,qz,qw" : "t,x,y,yaw");
        write_poses(&w, "truth.csv", IDENTITY, 20000000, GRID);
        for (int i = 0; i <= WORLD_STEPS; i++) /* the first has no record before it: its value is of no meaning */
            put_pose(file, w.start + i * WORLD_STEP_NS, kind,
                     i ? ct_se3_between(w.pose[i - 1], w.pose[i], NULL, NULL) : w.pose[0]);
        fclose(file);
        char text[2048];
        snprintf(text, sizeof text,
                 "%s  steps: {files: steps.csv, time: t in ns}\n%ssensors: {odom: {type: odometry, source: steps, "
                 "increment: %s, noise: {per: second}}}\n",
                 HEAD MOCAP, space ? SPACE : PLANE, space ? "[x, y, z, qx, qy, qz, qw]" : "[x, y, yaw]");
        int n = 0;
        MUST_IMPORT(d, text, NULL);
        CHECK(worst_residual(d, d->train[0], "odom", &n) < TOL && n == 33);
        for (int32_t f = 0; f < 3; f++)
            CHECK(ct_graph_factor(d->train[0]->graph, f).ops->arity != 2 ||
                  fabs(ct_graph_factor(d->train[0]->graph, f).multiplier - 0.3) < 1e-12);
        ct_dataset_free(d);
    }
}

static int count_progress(void *user, int64_t done, int64_t all)
{
    (void)done, (void)all;
    return ++*(int *)user > 1000000;
}

/* What is written reads back as what is made in memory. */
static void test_a_folder_holds_what_memory_does(void)
{
    static const char text[] = HEAD SOURCES PLANE ODOM2 "split: {segment: 2.1}\n";
    ct_recipe *recipe = NULL, *copy = NULL;
    ct_dataset *made = NULL, *read = NULL;
    ct_import_result result;
    ct_import_options options = ct_import_defaults();
    ct_err err = {0};
    int calls = 0;
    begin_world("folder", CT_SE2);
    options.progress = count_progress;
    options.user = &calls;
    CHECK_OK(ct_recipe_parse(text, "test.yaml", import_folder, &recipe, &err), err);
    for (int again = 0; again < 2; again++) { /* the second replaces the first */
        CHECK_OK(ct_recipe_import(recipe, &options, import_path("data"), &result, &err), err);
        CHECK(result.trains == 3 && result.tests == 2 && result.recordings == 1);
        ct_import_result_free(&result);
    }
    CHECK_OK(ct_recipe_dataset(recipe, NULL, &made, NULL, &err), err);
    CHECK_OK(ct_dataset_read(import_path("data"), CT_DATASET_ALL, &read, &err), err);
    CHECK_OK(ct_recipe_of_dataset(import_path("data"), &copy, &err), err);
    if (made && read && made->trains == read->trains && made->tests == read->tests)
        for (int32_t i = 0; i < made->trains; i++) {
            const ct_sequence *a = made->train[i], *b = read->train[i];
            const int64_t n = ct_graph_size(a->graph);
            CHECK(!strcmp(a->name, b->name) && !strcmp(a->recording, b->recording) && n == ct_graph_size(b->graph));
            CHECK(!memcmp(ct_graph_initial_const(a->graph), ct_graph_initial_const(b->graph), (size_t)n * 8));
            CHECK(!memcmp(a->truth, b->truth, (size_t)n * 8));
            CHECK(ct_graph_factors(a->graph) == ct_graph_factors(b->graph));
        }
    else
        CHECK(!"the same number of sequences");
    ct_dataset_free(read);
    read = NULL;
    if (copy) CHECK_OK(ct_recipe_dataset(copy, NULL, &read, NULL, &err), err); /* of the same name and files */
    CHECK(read && read->trains == 3 && !strcmp(read->train[0]->name, "test-seg00"));
    CHECK(copy && access(import_path("data/train/test-seg00.ctseq"), R_OK) == 0);
    ct_dataset_free(made);
    ct_dataset_free(read);
    ct_recipe_free(recipe);
    ct_recipe_free(copy);
}

static void test_reasons_have_names(void)
{
    for (int i = 0; i < CT_DROP_COUNT; i++) CHECK(strlen(ct_drop_text((ct_drop)i)) > strlen(ct_drop_name((ct_drop)i)));
    CHECK(!strcmp(ct_drop_name(CT_DROP_COUNT), "?") && !strcmp(ct_drop_text((ct_drop)-1), "?"));
}

int main(void)
{
    RUN(test_velocities_are_integrated_exactly);
    RUN(test_odometry_of_a_mounted_sensor_is_the_bodys);
    RUN(test_differences_of_poses_are_interpolated_on_the_group);
    RUN(test_increments_are_divided_in_proportion_to_time);
    RUN(test_a_folder_holds_what_memory_does);
    RUN(test_reasons_have_names);
    return ct_test_end();
}
