/* test_import_split.c: states by grid, stamp and distance; gaps; segments; train and test; recordings and bodies;
 * landmarks that are not known; regimes; counts of what became nothing. */
#include "import_test.h"

#define START 1000000000LL
#define GRID  300000000LL
#define TOL   1e-8

static const ct_se3 IDENTITY = {0, 0, 0, 0, 0, 0, 1};

#define HEAD   "format: covtune-recipe\nversion: 1\n"
#define TABLES "  odometry: {files: odometry.csv, time: t in ns}\n  mocap: {files: truth.csv, time: t in ns}\n"
#define TRUTH  "truth: {source: mocap, position: [x, y], yaw: yaw}\n"
#define ODOM   "sensors:\n  odom: {type: odometry, source: odometry, velocity: [vx, vy, wz]}\n"

/* ---- gaps ---- */

/* Odometry without the records from 4 to 6 s. */
static void write_with_gap(const world *w)
{
    FILE *file = table_open("odometry.csv", "t,vx,vy,wz");
    for (int i = 0; i <= WORLD_STEPS; i++) {
        const double *u = w->twist[i < WORLD_STEPS ? i : WORLD_STEPS - 1];
        if (i > 80 && i < 120) continue;
        put_row(file, START + i * WORLD_STEP_NS, 3, (const double[]){u[3], u[4], u[2]});
    }
    fclose(file);
}

static void test_a_gap_in_the_odometry_ends_a_sequence(void)
{
    const world w = import_robot("gap", START);
    ct_import_result result;
    write_with_gap(&w);
    write_poses(&w, "gps.csv", IDENTITY, 20000000, 100000000);
    MUST_IMPORT(d,
                HEAD "sources:\n" TABLES
                     "  gps: {files: gps.csv, time: t in ns}\nstates: {type: SE2, every: 0.3}\n" TRUTH ODOM
                     "  gps: {type: position, source: gps, position: [x, y]}\n",
                &result);
    CHECK(d->trains == 1 && d->tests == 1); /* of two segments of one recording */
    const ct_sequence *a = d->train[0], *b = d->test[0];
    CHECK(!strcmp(a->name, "test-seg00") && !strcmp(b->name, "test-seg01") && !strcmp(b->recording, "test"));
    CHECK_NEAR(a->stamp[states_of(a) - 1], 1 + 3.9, 1e-9);
    CHECK_NEAR(b->stamp[0], 1 + 6, 1e-9);
    CHECK(worst_residual(d, a, NULL, NULL) < TOL && worst_residual(d, b, NULL, NULL) < TOL);
    CHECK(result.count[1].dropped[CT_DROP_GAP] == 20);
    CHECK(result.count[1].factors + 20 + result.count[1].dropped[CT_DROP_OUTSIDE] == result.count[1].records);
    const int32_t i = ct_findings_find(&result.findings, CT_FINDING_ODOMETRY_GAPS);
    CHECK(i >= 0 && result.findings.item[i].value[0] == 1 && fabs(result.findings.item[i].value[2] - 2) < 1e-9);
    ct_dataset_free(d);
    ct_import_result_free(&result);
}

static void test_a_longer_gap_may_be_allowed(void)
{
    const world w = import_robot("gap_allowed", START);
    write_with_gap(&w);
    MUST_IMPORT(d, HEAD "sources:\n" TABLES "states: {type: SE2, every: 0.3, gap: 2.5}\n" TRUTH ODOM, NULL);
    CHECK(d->train[0] == d->test[0] && states_of(d->train[0]) == 34 && !strcmp(d->train[0]->name, "test"));
    ct_dataset_free(d);
}

/* A clock that jumps by fifty years makes no billion of states. */
static void test_a_jump_of_the_clock_is_a_gap(void)
{
    import_robot("jump", START);
    FILE *file = table_open("odometry.csv", "t,vx,vy,wz"), *truth = table_open("truth.csv", "t,x,y,yaw");
    for (int part = 0; part < 2; part++)
        for (int i = 0; i < 40; i++) {
            const ct_ns t = part * 1600000000000000000LL + i * 100000000LL;
            put_row(file, t, 3, (const double[]){1, 0, 0});
            put_row(truth, t, 3, (const double[]){0.1 * i, 0, 0});
        }
    fclose(file);
    fclose(truth);
    MUST_IMPORT(d, HEAD "sources:\n" TABLES "states: {type: SE2, every: 0.01}\n" TRUTH ODOM, NULL);
    CHECK(d->trains == 1 && d->tests == 1 && states_of(d->train[0]) == 391 && states_of(d->test[0]) == 391);
    ct_dataset_free(d);
}

/* ---- states ---- */

static void test_states_by_distance_lie_that_far_apart(void)
{
    import_robot("distance", START);
    MUST_IMPORT(d,
                HEAD
                "sources:\n" TABLES "states: {type: SE2, distance: 0.25, turn: 0.2}\n" TRUTH
                "sensors:\n  odom: {type: odometry, source: odometry, velocity: [vx, vy, wz], noise: {per: metre}}\n",
                NULL);
    const ct_sequence *seq = d->train[0];
    int by_way = 0, by_turn = 0;
    for (int32_t f = 0; f < ct_graph_factors(seq->graph); f++) {
        const ct_factor e = ct_graph_factor(seq->graph, f);
        if (e.ops != &ct_between_se2) continue;
        const double turn = fabs(atan2(e.z[3], e.z[2]));
        CHECK(turn < 0.2 + 1e-6 && e.multiplier < 0.25 + 1e-6);
        by_way += fabs(e.multiplier - 0.25) < 1e-6;
        by_turn += fabs(turn - 0.2) < 1e-6;
        CHECK(hypot(e.z[0], e.z[1]) <= e.multiplier + 1e-9);
    }
    CHECK(by_way > 20 && by_turn >= 1 && by_way + by_turn >= ct_graph_factors(seq->graph) - 4);
    CHECK(worst_residual(d, seq, "odom", NULL) < 2e-3); /* the truth is interpolated linearly */
    ct_dataset_free(d);
}

static void test_states_at_the_stamps_of_a_sensor_are_there(void)
{
    const world w = import_robot("at", START);
    write_poses(&w, "gps.csv", IDENTITY, 150000000, 350000000);
    MUST_IMPORT(d,
                HEAD "sources:\n" TABLES
                     "  gps: {files: gps.csv, time: t in ns}\nstates: {type: SE2, at: gps, from: 1, to: 5}\n" TRUTH ODOM
                     "  gps: {type: position, source: gps, position: [x, y]}\n",
                NULL);
    const ct_sequence *seq = d->train[0];
    CHECK(states_of(seq) == 11);
    CHECK_NEAR(seq->stamp[0], 1 + 1.2, 1e-9);
    for (int32_t f = 0; f < ct_graph_factors(seq->graph); f++) { /* no lever arm: no motion in between */
        const ct_factor e = ct_graph_factor(seq->graph, f);
        if (e.ops == &ct_position_se2 && !strcmp(ct_noise_get(d->noise, e.noise)->name, "gps"))
            CHECK(e.z[2] == 0 && e.z[3] == 0);
    }
    CHECK(worst_residual(d, seq, "odom", NULL) < TOL);
    ct_dataset_free(d);
}

/* ---- train and test ---- */

static void write_runs(void)
{
    static const char *const NAME[] = {"a", "b", "10", "9"};
    const world w = import_robot("runs", START);
    for (int i = 0; i < 4; i++) {
        char name[64];
        snprintf(name, sizeof name, "odometry-%s.csv", NAME[i]);
        write_velocities(&w, name, IDENTITY);
        snprintf(name, sizeof name, "truth-%s.csv", NAME[i]);
        write_poses(&w, name, IDENTITY, 0, GRID);
    }
}

#define RUNS                                                                                                           \
    HEAD "recording: run{run}\nsources:\n  odometry: {files: 'odometry-{run}.csv', time: t in ns}\n"                   \
         "  mocap: {files: 'truth-{run}.csv', time: t in ns}\nstates: {type: SE2, every: 0.3}\n" TRUTH ODOM

static void check_names(const ct_dataset *d, const char *train, const char *test, int line)
{
    char text[2][512] = {"", ""};
    for (int32_t i = 0; i < d->trains + d->tests; i++) {
        const int t = i >= d->trains;
        const ct_sequence *seq = t ? d->test[i - d->trains] : d->train[i];
        snprintf(text[t] + strlen(text[t]), sizeof text[t] - strlen(text[t]), "%s ", seq->name);
    }
    if (strcmp(text[0], train) || strcmp(text[1], test)) CT_TEST_SAY("line %d: %s| %s\n", line, text[0], text[1]);
}

static void test_recordings_are_split_by_lists_and_fractions(void)
{
    static const struct {
        const char *split, *train, *test;
    } CASE[] = {
        {"", "run9 run10 runa ", "runb "},
        {"split: {test: 1/2}\n", "run9 run10 ", "runa runb "},
        {"split: {test: [run9, run?]}\n", "run10 ", "run9 runa runb "},
        {"split: {train: [runa]}\n", "runa ", "run9 run10 runb "},
        {"split: {train: [runa], test: [runb]}\n", "runa ", "runb "},
        {"split: {segment: 5.4, test: [run9]}\n",
         "run10-seg00 run10-seg01 runa-seg00 runa-seg01 runb-seg00 runb-seg01 ", "run9-seg00 run9-seg01 "},
        {"split: {segment: {states: 15}, test: [run9], train: [runa]}\n", "runa-seg00 runa-seg01 ",
         "run9-seg00 run9-seg01 "},
    };
    write_runs();
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        char text[2048];
        snprintf(text, sizeof text, "%s%s", RUNS, CASE[i].split);
        MUST_IMPORT(d, text, NULL);
        check_names(d, CASE[i].train, CASE[i].test, __LINE__);
        ct_dataset_free(d);
    }
    ct_err err;
    CHECK(!import_text(RUNS "split: {test: [run7]}\n", NULL, &err) &&
          strstr(err.text, "test.yaml:11: split: test: no recording"));
}

static void test_some_recordings_can_be_imported_alone(void)
{
    ct_recipe *recipe = NULL;
    ct_dataset *d = NULL;
    ct_err err = {0};
    ct_import_options options = ct_import_defaults();
    write_runs();
    CHECK_OK(ct_recipe_parse(RUNS "split: {test: [runb]}\n", "test.yaml", "nowhere", &recipe, &err), err);
    options.only = "run10,runb";
    options.folder = import_folder;
    CHECK_OK(ct_recipe_dataset(recipe, &options, &d, NULL, &err), err);
    if (d) check_names(d, "run10 ", "runb ", __LINE__);
    ct_dataset_free(d);
    options.only = "run11";
    CHECK_REFUSED(ct_recipe_dataset(recipe, &options, &d, NULL, &err), err, "there is no recording \"run11\"");
    ct_recipe_free(recipe);
}

static void test_a_recording_without_odometry_is_told(void)
{
    ct_import_result result;
    ct_err err;
    write_runs();
    remove(import_path("odometry-a.csv"));
    MUST_IMPORT(d, RUNS, &result);
    check_names(d, "run9 run10 ", "runb ", __LINE__);
    const int32_t i = ct_findings_find(&result.findings, CT_FINDING_FILES_MISSING);
    CHECK(i >= 0 && result.findings.item[i].value[0] == 1 && !strcmp(result.findings.item[i].subject[1].name, "runa"));
    ct_dataset_free(d);
    ct_import_result_free(&result);
    write_text_file("truth-b.csv", "t,x,y,yaw\n500000000000,1,2,0\n501000000000,1,2,0\n");
    d = import_text(RUNS, &result, &err);
    const int32_t k = ct_findings_find(&result.findings, CT_FINDING_RECORDING_EMPTY); /* runb, then runa */
    CHECK(d && d->trains + d->tests == 2 && k >= 0 && isnan(result.findings.item[k + 1].value[0]));
    CHECK(k >= 0 && fabs(result.findings.item[k].value[0] - 1) < 1e-9 &&
          fabs(result.findings.item[k].value[2] - 500) < 1e-6);
    ct_dataset_free(d);
    ct_import_result_free(&result);
    remove(import_path("truth-b.csv")); /* a recording without truth is one without truth */
    d = import_text(RUNS, &result, &err);
    CHECK(d && d->tests == 1 && !d->test[0]->truth && states_of(d->test[0]) == 34);
    ct_dataset_free(d);
    ct_import_result_free(&result);
}

/* Segments share no state and no step; a remainder of less than half is left out. */
static void test_segments_divide_the_states(void)
{
    ct_import_result result;
    import_robot("segments", START);
    MUST_IMPORT(
        d, HEAD "sources:\n" TABLES "states: {type: SE2, every: 0.3}\n" TRUTH ODOM "split: {segment: {states: 10}}\n",
        &result);
    CHECK(d->trains == 2 && d->tests == 1 && result.states == 30);
    for (int i = 0; i < 3; i++) {
        const ct_sequence *seq = i < 2 ? d->train[i] : d->test[0];
        CHECK(states_of(seq) == 10 && ct_graph_factors(seq->graph) == 10);
        CHECK_NEAR(seq->stamp[0], 1 + 3. * i, 1e-9);
        CHECK(worst_residual(d, seq, NULL, NULL) < TOL);
    }
    const int32_t k = ct_findings_find(&result.findings, CT_FINDING_SHORT_SEQUENCES);
    CHECK(k >= 0 && result.findings.item[k].value[1] == 4);
    ct_dataset_free(d);
    ct_import_result_free(&result);
}

/* ---- bodies ---- */

/* Two robots of one recording that measure the range and bearing of each other, between states. */
static void test_bodies_that_see_each_other_fit_the_truth(void)
{
    world other = world_make(CT_SE2, START);
    import_robot("bodies", START);
    const world w = other;
    for (int i = 0; i <= WORLD_STEPS; i++)
        other.pose[i] = ct_se3_compose((ct_se3){5, 3, 0, 0, 0, sin(0.6), cos(0.6)}, other.pose[i], NULL, NULL);
    const ct_se3 mount = ct_se3_make((const double[]){0.2, 0.1, 0}, ct_so3_exp((const double[]){0, 0, -0.3}));
    write_velocities(&w, "odometry-1.csv", IDENTITY);
    write_velocities(&other, "odometry-2.csv", IDENTITY);
    write_poses(&w, "truth-1.csv", IDENTITY, 0, GRID);
    write_poses(&other, "truth-2.csv", IDENTITY, 0, GRID);
    for (int b = 1; b <= 2; b++) {
        FILE *file = table_open(b == 1 ? "seen-1.csv" : "seen-2.csv", "t,code,range,bearing");
        for (ct_ns t = START + 120000000; t < START + 9900000000LL; t += 170000000) {
            double p[2], q[3];
            const ct_se3 me = ct_se3_compose(world_at(b == 1 ? &w : &other, t), mount, NULL, NULL);
            ct_se3_act(world_at(b == 1 ? &other : &w, t), (const double[]){-0.1, 0.3, 0}, q, NULL, NULL);
            double r[3];
            ct_se3_act(ct_se3_inverse(me, NULL), q, r, NULL, NULL);
            p[0] = hypot(r[0], r[1]), p[1] = atan2(r[1], r[0]);
            fprintf(file, "%lld,%d,%.17g,%.17g\n", (long long)t, b == 1 ? 52 : 51, p[0], p[1]);
        }
        fprintf(file, "%lld,99,1,1\n", START + 9950000000LL); /* nobody */
        fclose(file);
    }
    write_text_file("codes.csv", "code,robot\n51,1\n52,2\n");
    ct_import_result result;
    MUST_IMPORT(
        d,
        HEAD
        "bodies: robot\nsources:\n  odometry: {files: 'odometry-{robot}.csv', time: t in ns}\n"
        "  mocap: {files: 'truth-{robot}.csv', time: t in ns}\n  seen: {files: 'seen-{robot}.csv', time: t in ns}\n"
        "  codes: codes.csv\nstates: {type: SE2, every: 0.3}\n" TRUTH ODOM
        "  sight: {type: range_bearing, source: seen, to_body: code, ids: {source: codes, from: code, to: robot}, "
        "range: range, bearing: bearing, mount: [0.2, 0.1, -0.3], target_mount: [-0.1, 0.3]}\n",
        &result);
    const ct_sequence *seq = d->train[0];
    int n = 0;
    CHECK(d->trains == 1 && states_of(seq) == 68 && ct_graph_find(seq->graph, "x1_33") >= 0 &&
          ct_graph_find(seq->graph, "x2_0") >= 0);
    CHECK(worst_residual(d, seq, "sight", &n) < TOL && n == 116);
    CHECK(worst_residual(d, seq, "odom", &n) < TOL && n == 66);
    CHECK(worst_residual(d, seq, "first_pose", &n) < TOL && n == 2);
    CHECK(result.count[1].dropped[CT_DROP_LANDMARK] == 2);
    ct_dataset_free(d);
    ct_import_result_free(&result);
}

/* ---- landmarks, regimes ---- */

static void test_unknown_landmarks_are_variables(void)
{
    const world w = import_robot("unknown", START);
    ct_import_result result;
    FILE *file = table_open("seen.csv", "t,post,range");
    for (int i = 1; i < 60; i++) {
        const ct_se3 a = world_at(&w, START + i * 150000000LL);
        fprintf(file, "%lld,%s,%.17g\n", START + i * 150000000LL,
                i == 7  ? "once"
                : i % 2 ? "A 1"
                        : "B",
                i % 2 ? hypot(a.x - 4, a.y - 4) : hypot(a.x + 1, a.y - 3));
    }
    fclose(file);
    write_text_file("map.csv", "name,x,y\nB,-1,3\n");
    MUST_IMPORT(d,
                HEAD "sources:\n" TABLES
                     "  seen: {files: seen.csv, time: t in ns}\n  map: map.csv\nstates: {type: SE2, every: 0.3}\n" TRUTH
                     "landmarks: {posts: {source: map, id: name, position: [x, y], unknown: estimate}}\n" ODOM
                     "  radio: {type: range, source: seen, landmarks: posts, id: post, range: range}\n",
                &result);
    const ct_sequence *seq = d->train[0];
    const int32_t v = ct_graph_find(seq->graph, "posts_A_1");
    CHECK(v >= 0 && ct_graph_kind(seq->graph, v) == CT_R2 && result.landmarks == 1 && seq->known[v] == 0);
    CHECK(ct_graph_find(seq->graph, "posts_once") < 0 && result.count[1].dropped[CT_DROP_LANDMARK] == 1);
    CHECK(ct_findings_find(&result.findings, CT_FINDING_POINTS_LEFT_OUT) >= 0 && result.count[1].factors == 58);
    int seen = 0;
    for (int32_t f = 0; f < ct_graph_factors(seq->graph); f++)
        seen += ct_graph_factor(seq->graph, f).ops == &ct_range_se2_r2;
    CHECK(seen == 29);
    if (v >= 0) { /* placed where it is, from the start values */
        const double *x = ct_graph_initial_const(seq->graph) + ct_graph_offset(seq->graph, v);
        CHECK(hypot(x[0] - 4, x[1] - 4) < 0.5);
    }
    ct_dataset_free(d);
    ct_import_result_free(&result);
}

static void test_regimes_have_models_of_their_own(void)
{
    import_robot("regimes", START);
    write_text_file("gps.csv", "t,x,y,mode\n2000000000,1,2,0\n3000000000,1,2,1\n4000000000,1,2,\n5000000000,1,2,1\n");
    MUST_IMPORT(
        d,
        HEAD "sources:\n" TABLES "  gps: {files: gps.csv, time: t in ns}\nstates: {type: SE2, every: 0.3}\n" TRUTH
             "sensors:\n  odom: {type: odometry, source: odometry, velocity: [vx, vy, wz], noise: {learn: false}, "
             "regimes: [{from: 3, to: 6, name: gravel}]}\n"
             "  gps: {type: position, source: gps, position: [x, y], regime: mode, noise: {sigma: 2, kernel: huber}}\n",
        NULL);
    int n[5];
    const ct_sequence *seq = d->train[0];
    worst_residual(d, seq, "gps@0", &n[0]);
    worst_residual(d, seq, "gps@1", &n[1]);
    worst_residual(d, seq, "gps", &n[2]);
    worst_residual(d, seq, "odom@gravel", &n[3]);
    worst_residual(d, seq, "odom", &n[4]);
    CHECK(n[0] == 1 && n[1] == 2 && n[2] == 1 && n[3] == 10 && n[4] == 23);
    const ct_noise_model *m = ct_noise_get(d->noise, ct_noise_find(d->noise, "gps@1"));
    CHECK(m->covariance[0] == 4 && m->robust.kind == CT_ROBUST_HUBER && m->robust.width == 1.345);
    const ct_dataset_group g = ct_dataset_group_of(d, ct_noise_find(d->noise, "odom@gravel"));
    CHECK(g.learn == 0 && ct_dataset_group_of(d, ct_noise_find(d->noise, "gps")).learn);
    ct_dataset_free(d);
}

/* ---- what became nothing ---- */

static void test_every_record_is_used_or_counted(void)
{
    ct_import_result result;
    import_robot("counts", START);
    write_text_file("gps.csv", "t,x,y,ok\n1500000000,1,2,1\n1600000000,,2,1\n1700000000,1,inf,1\n1800000000,1,2,0\n"
                               "2900000000,1,2,1\n2800000000,1,2,1\n2800000000,1,2,1\n99000000000,1,2,1\n");
    MUST_IMPORT(d,
                HEAD "sources:\n" TABLES
                     "  gps: {files: gps.csv, time: t in ns}\nstates: {type: SE2, every: 0.3}\n" TRUTH ODOM
                     "  gps: {type: position, source: gps, position: [x, y], where: ok == 1}\n",
                &result);
    const ct_import_count *n = &result.count[1];
    CHECK(n->records == 8 && n->factors == 4 && n->dropped[CT_DROP_MISSING] == 1 &&
          n->dropped[CT_DROP_NOT_FINITE] == 1);
    CHECK(n->dropped[CT_DROP_CONDITION] == 1 && n->dropped[CT_DROP_OUTSIDE] == 1);
    CHECK(ct_findings_find(&result.findings, CT_FINDING_RECORDS_UNORDERED) >= 0);
    ct_dataset_free(d);
    ct_import_result_free(&result);
}

static void test_nothing_in_common_is_a_sentence(void)
{
    ct_err err;
    import_robot("apart", START);
    write_text_file("truth.csv", "t,x,y,yaw\n100000000000,1,2,0\n101000000000,1,2,0\n");
    CHECK(!import_text(HEAD "sources:\n" TABLES "states: {type: SE2, every: 0.3}\n" TRUTH ODOM, NULL, &err));
    CHECK(err.status == CT_E_EMPTY &&
          strstr(err.text, "the truth runs from 100.000 to 101.000 s, sensor odom from 1.000 to 11.000 s"));
    import_robot("apart", START);
    write_text_file("gps.csv", "t,x,y\n90000000000,1,2\n91000000000,1,2\n");
    ct_import_result result;
    MUST_IMPORT(d,
                HEAD "sources:\n" TABLES
                     "  gps: {files: gps.csv, time: t in ns}\nstates: {type: SE2, every: 0.3}\n" TRUTH ODOM
                     "  gps: {type: position, source: gps, position: [x, y]}\n",
                &result);
    const int32_t i = ct_findings_find(&result.findings, CT_FINDING_NO_COMMON_TIME),
                  k = ct_findings_find(&result.findings, CT_FINDING_SENSOR_UNUSED);
    CHECK(i >= 0 && result.findings.item[i].value[0] == 90 && result.findings.item[i].value[3] == 11);
    CHECK(result.findings.item[i].value[4] == -89);
    CHECK(k >= 0 && result.findings.item[k].value[0] == 2);
    ct_dataset_free(d);
    ct_import_result_free(&result);
}

/* The delay that is proposed is a whole number of quarters of an hour, where that makes stamps meet. */
static void test_a_sensor_in_another_time_zone_is_said_to_be(void)
{
    import_robot("zone", START);
    write_text_file("gps.csv", "t,x,y\n3605000000000,1,2\n3606000000000,1,2\n");
    ct_import_result result;
    MUST_IMPORT(d,
                HEAD "sources:\n" TABLES
                     "  gps: {files: gps.csv, time: t in ns}\nstates: {type: SE2, every: 0.3}\n" TRUTH ODOM
                     "  gps: {type: position, source: gps, position: [x, y]}\n",
                &result);
    const int32_t i = ct_findings_find(&result.findings, CT_FINDING_NO_COMMON_TIME);
    CHECK(i >= 0 && result.findings.item[i].value[4] == -3600);
    ct_dataset_free(d);
    ct_import_result_free(&result);
}

int main(void)
{
    RUN(test_a_gap_in_the_odometry_ends_a_sequence);
    RUN(test_a_longer_gap_may_be_allowed);
    RUN(test_a_jump_of_the_clock_is_a_gap);
    RUN(test_states_by_distance_lie_that_far_apart);
    RUN(test_states_at_the_stamps_of_a_sensor_are_there);
    RUN(test_recordings_are_split_by_lists_and_fractions);
    RUN(test_some_recordings_can_be_imported_alone);
    RUN(test_a_recording_without_odometry_is_told);
    RUN(test_segments_divide_the_states);
    RUN(test_bodies_that_see_each_other_fit_the_truth);
    RUN(test_unknown_landmarks_are_variables);
    RUN(test_regimes_have_models_of_their_own);
    RUN(test_every_record_is_used_or_counted);
    RUN(test_nothing_in_common_is_a_sentence);
    RUN(test_a_sensor_in_another_time_zone_is_said_to_be);
    return ct_test_end();
}
