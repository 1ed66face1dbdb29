/* test_import_folder.c: what is in the folder of an imported dataset, whatever happens; latitude and longitude; graphs
 * of other programs; a file that is larger than the memory that an import may take. */
#define _DEFAULT_SOURCE
#include "import_test.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define START 1000000000LL

static const ct_se3 IDENTITY = {0, 0, 0, 0, 0, 0, 1};

#define TEXT                                                                                                           \
    "format: covtune-recipe\nversion: 1\nsources:\n"                                                                   \
    "  odometry: {files: odometry.csv, time: t in ns}\n  mocap: {files: truth.csv, time: t in ns}\n"                   \
    "states: {type: SE2, every: 0.3}\ntruth: {source: mocap, position: [x, y], yaw: yaw}\n"                            \
    "sensors:\n  odom: {type: odometry, source: odometry, velocity: [vx, vy, wz]}\n"

static ct_status import_to(const char *text, const char *out, ct_import_options *options, ct_err *err)
{
    ct_recipe *recipe = NULL;
    ct_status status = ct_recipe_parse(text, "test.yaml", import_folder, &recipe, err);
    if (status == CT_OK) status = ct_recipe_import(recipe, options, out, NULL, err);
    ct_recipe_free(recipe);
    return status;
}

static int sequences_in(const char *folder)
{
    ct_dataset *d = NULL;
    ct_err err = {0};
    const int n = ct_dataset_read(folder, CT_DATASET_ALL, &d, &err) == CT_OK ? d->trains + d->tests : -1;
    ct_dataset_free(d);
    return n;
}

static void test_a_folder_with_other_files_is_refused(void)
{
    ct_err err = {0};
    import_robot("other_files", START);
    mkdir(import_path("mine"), 0777);
    write_text_file("mine/thesis.tex", "years of work\n");
    CHECK_REFUSED(import_to(TEXT, import_path("mine"), NULL, &err), err, "there is something in this folder");
    CHECK(access(import_path("mine/.covtune-lock"), F_OK) != 0);
    mkdir(import_path("edited"), 0777);
    write_text_file("edited/dataset.yaml", "format: covtune-dataset\n");
    CHECK_REFUSED(import_to(TEXT, import_path("edited"), NULL, &err), err, "was not written by covtune");
    CHECK_REFUSED(import_to(TEXT, import_path("odometry.csv"), NULL, &err), err, "it is a file");
    CHECK_REFUSED(import_to(TEXT, import_path("a/b/c"), NULL, &err), err, "cannot be made");
}

/* A part of one recording and another recording must not take each other's file. */
static void test_sequences_of_one_name_are_refused(void)
{
    ct_err err = {0};
    const world w = import_robot("names", START);
    write_velocities(&w, "odo-a.csv", IDENTITY);
    write_velocities(&w, "odo-a-seg00.csv", IDENTITY);
    mkdir(import_path("other"), 0777);
    FILE *file = table_open("odo-a.csv", "t,wx,wy,wz,vx,vy,vz"); /* with a gap: a-seg00, a-seg01 */
    for (int i = 0; i < 100; i++) fprintf(file, "%lld,0,0,0,1,0,0\n", START + i * 50000000LL + (i > 50) * 5000000000LL);
    fclose(file);
    CHECK_REFUSED(
        import_to("format: covtune-recipe\nversion: 1\nsources: {odometry: {files: 'odo-{n}.csv', time: t in ns}}\n"
                  "states: {type: SE2, every: 0.3}\nsensors: {odom: {type: odometry, source: odometry, velocity: "
                  "[vx, vy, wz]}}\n",
                  import_path("other"), NULL, &err),
        err, "two sequences are called \"a-seg00\"");
    CHECK_REFUSED(
        import_to("format: covtune-recipe\nversion: 1\nsources: {odometry: {files: odo-a.csv, time: t in ns}}\n"
                  "states: {type: SE2, every: 0.00000001}\nsensors: {odom: {type: odometry, source: odometry, "
                  "velocity: [vx, vy, wz]}}\n",
                  import_path("other"), NULL, &err),
        err, "more than 1000000 states between two records");
}

static void test_a_second_import_replaces_the_first(void)
{
    ct_err err = {0};
    import_robot("twice", START);
    CHECK_OK(import_to(TEXT "split: {segment: 1.2}\n", import_path("data"), NULL, &err), err);
    CHECK(sequences_in(import_path("data")) == 8 && access(import_path("data/train/test-seg00.ctseq"), F_OK) == 0);
    write_text_file("data/notes.txt", "mine\n"); /* files of others stay */
    CHECK_OK(import_to(TEXT, import_path("data"), NULL, &err), err);
    CHECK(sequences_in(import_path("data")) == 2); /* one sequence, in both parts */
    CHECK(access(import_path("data/train/test-seg00.ctseq"), F_OK) != 0 && access(import_path("data/test"), F_OK) != 0);
    CHECK(access(import_path("data/notes.txt"), F_OK) == 0 && access(import_path("data/.covtune-lock"), F_OK) != 0);
}

static int stop_at_once(void *user, int64_t done, int64_t all)
{
    CHECK(done >= 0 && all > 0 && done <= all);
    return ++*(int *)user >= 2;
}

static void write_long(int rows)
{
    FILE *file = table_open("odometry.csv", "t,vx,vy,wz"), *truth = table_open("truth.csv", "t,x,y,yaw");
    for (int i = 0; i < rows; i++) {
        put_row(file, START + i * 5000000LL, 3, (const double[]){1.0000000001, 0, 0});
        if (i % 20 == 0) put_row(truth, START + i * 5000000LL, 3, (const double[]){0.005 * i, 0, 0});
    }
    fclose(file);
    fclose(truth);
}

static void test_what_is_stopped_or_fails_leaves_the_old_dataset(void)
{
    ct_err err = {0};
    int calls = 0;
    ct_import_options options = ct_import_defaults();
    import_robot("stopped", START);
    CHECK_OK(import_to(TEXT "split: {segment: 1.2}\n", import_path("data"), NULL, &err), err);
    write_long(20000);
    options.progress = stop_at_once;
    options.user = &calls;
    CHECK(import_to(TEXT, import_path("data"), &options, &err) == CT_E_EMPTY && calls == 2);
    CHECK(sequences_in(import_path("data")) == 8);
    write_text_file("truth.csv", "t,x,y,yaw\n1000000000,1,2,3\n1100000000,1,two,3\n");
    CHECK(import_to(TEXT, import_path("data"), NULL, &err) == CT_E_PARSE && strstr(err.text, "truth.csv:3"));
    CHECK(sequences_in(import_path("data")) == 8);
    CHECK(import_to(TEXT, import_path("new"), NULL, &err) == CT_E_PARSE && access(import_path("new"), F_OK) != 0);
}

/* A process that may write no more than this many bytes a file ends in a sentence. */
static void test_a_full_disk_leaves_the_old_dataset(void)
{
    ct_err err = {0};
    import_robot("full", START);
    CHECK_OK(import_to(TEXT "split: {segment: 1.2}\n", import_path("data"), NULL, &err), err);
    const pid_t child = fork();
    if (child == 0) {
        const struct rlimit small = {1000, 1000};
        ct_err inner = {0};
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &small);
        _exit(import_to(TEXT, import_path("data"), NULL, &inner) == CT_E_IO && strstr(inner.text, "File too large")
                  ? 7
                  : 8);
    }
    int how = 0;
    CHECK(waitpid(child, &how, 0) == child && WIFEXITED(how) && WEXITSTATUS(how) == 7);
    CHECK(sequences_in(import_path("data")) == 8);
}

/* Killed at any time: the old dataset or the new one, complete; the next import removes what is left. */
static void test_a_kill_leaves_a_complete_dataset(void)
{
    ct_err err = {0};
    import_robot("kill", START);
    CHECK_OK(import_to(TEXT "split: {segment: 1.2}\n", import_path("data"), NULL, &err), err);
    for (int i = 0; i < 12; i++) {
        const pid_t child = fork();
        if (child == 0)
            for (int k = 0;; k++) {
                ct_err inner = {0};
                if (import_to(k % 2 ? TEXT "split: {segment: 1.2}\n" : TEXT "split: {segment: 0.9}\n",
                              import_path("data"), NULL, &inner) != CT_OK)
                    _exit(1);
            }
        int how = 0;
        usleep(3000u * (unsigned)(1 + i * i));
        kill(child, SIGKILL);
        CHECK(waitpid(child, &how, 0) == child && WIFSIGNALED(how));
        const int n = sequences_in(import_path("data"));
        if (n != 8 && n != 11) CT_TEST_SAY("round %d: %d sequences\n", i, n);
    }
    CHECK_OK(import_to(TEXT, import_path("data"), NULL, &err), err);
    CHECK(sequences_in(import_path("data")) == 2);
    char command[1200];
    snprintf(command, sizeof command, "test -z \"$(ls -A '%s' | grep covtune-)\"", import_path("data"));
    CHECK(system(command) == 0);
}

/* Memory does not grow with the file: 20 s or 2000 s. */
static void test_memory_does_not_grow_with_the_file(void)
{
    long used[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        import_robot("large", START);
        write_long(i ? 400000 : 4000);
        struct rusage usage;
        const pid_t child = fork();
        if (child == 0) {
            ct_err inner = {0};
            _exit(import_to(TEXT "split: {segment: 10}\n", import_path("data"), NULL, &inner) != CT_OK);
        }
        int how = 0;
        CHECK(wait4(child, &how, 0, &usage) == child && WIFEXITED(how) && WEXITSTATUS(how) == 0);
        used[i] = usage.ru_maxrss;
    }
    if (!ct_test_slow() && used[1] > used[0] + 3000) CT_TEST_SAY("%ld KB, then %ld KB\n", used[0], used[1]);
}

/* ---- geodetic ---- */

/* East, north, up by the equations of the ellipsoid WGS 84. */
static void closed_form(const double o[3], const double g[3], double p[3])
{
    const double a = 6378137, f = 1 / 298.257223563, e2 = f * (2 - f), deg = 3.14159265358979323846 / 180;
    double X[2][3];
    for (int i = 0; i < 2; i++) {
        const double *q = i ? g : o, sl = sin(q[0] * deg), cl = cos(q[0] * deg), N = a / sqrt(1 - e2 * sl * sl);
        X[i][0] = (N + q[2]) * cl * cos(q[1] * deg);
        X[i][1] = (N + q[2]) * cl * sin(q[1] * deg);
        X[i][2] = (N * (1 - e2) + q[2]) * sl;
    }
    const double d[3] = {X[1][0] - X[0][0], X[1][1] - X[0][1], X[1][2] - X[0][2]};
    const double s = sin(o[0] * deg), c = cos(o[0] * deg), sl = sin(o[1] * deg), cl = cos(o[1] * deg);
    p[0] = -sl * d[0] + cl * d[1];
    p[1] = -s * cl * d[0] - s * sl * d[1] + c * d[2];
    p[2] = c * cl * d[0] + c * sl * d[1] + s * d[2];
}

static void test_latitude_and_longitude_are_in_the_tangent_frame(void)
{
    static const double FIX[3][3] = {{48.1, 11.5, 520}, {48.1012, 11.5034, 533}, {48.0871, 11.4811, 498}};
    for (int given = 0; given < 2; given++) {
        import_robot("geodetic", START);
        FILE *file = table_open("gps.csv", "t,lat,lon,h");
        for (int i = 0; i < 3; i++) put_row(file, START + i * 300000000LL, 3, FIX[i]);
        fclose(file);
        char text[2048];
        snprintf(text, sizeof text,
                 "format: covtune-recipe\nversion: 1\nsources:\n  odometry: {files: odometry.csv, time: t in ns}\n"
                 "  gps: {files: gps.csv, time: t in ns}\nstates: {type: SE3, every: 0.3}\nsensors:\n"
                 "  odom: {type: odometry, source: odometry, velocity: [vx, vy, vz], angular_velocity: [wx, wy, wz]}\n"
                 "  gps: {type: geodetic, source: gps, geodetic: [lat, lon, h]%s}\n",
                 given ? ", origin: [48, 11, 100]" : "");
        ct_err err;
        ct_dataset *d = import_text(text, NULL, &err);
        if (!d && err.status == CT_E_UNSUPPORTED) SKIP(err.text);
        if (!d) CT_TEST_SAY("%s\n", err.text);
        if (!d) return;
        const double origin[3] = {48, 11, 100};
        int k = 0;
        for (int32_t f = 0; f < ct_graph_factors(d->train[0]->graph); f++) {
            const ct_factor e = ct_graph_factor(d->train[0]->graph, f);
            double p[3];
            if (e.ops != &ct_position_se3) continue;
            closed_form(given ? origin : FIX[0], FIX[k++], p);
            for (int i = 0; i < 3; i++) CHECK_NEAR(e.z[i], p[i], 1e-6);
        }
        CHECK(k == 3);
        ct_dataset_free(d);
    }
}

/* A receiver that gives the truth: position on the earth, heading clockwise from north. The origin is that of the
 * sensor. */
static void test_the_truth_has_latitude_and_longitude(void)
{
    static const double FIX[3][4] = {
        {48.1, 11.5, 520, 0.3}, {48.10001, 11.50001, 520, 0.2}, {48.10002, 11.50003, 521, 2}};
    const double        first[3] = {48.09, 11.49, 500};
    import_robot("truth-geodetic", START);
    FILE *file = table_open("rtk.csv", "t,lat,lon,h,heading");
    for (int i = 0; i < 3; i++) put_row(file, START + i * 300000000LL, 4, FIX[i]);
    fclose(file);
    file = table_open("gps.csv", "t,lat,lon,h");
    put_row(file, START, 3, first);
    fclose(file);
    ct_err      err;
    ct_dataset *d = import_text(
        "format: covtune-recipe\nversion: 1\nsources:\n  odometry: {files: odometry.csv, time: t in ns}\n"
        "  gps: {files: gps.csv, time: t in ns}\n  rtk: {files: rtk.csv, time: t in ns}\n"
        "states: {type: SE2, at: truth}\nsensors:\n"
        "  odom: {type: odometry, source: odometry, velocity: [vx, vy, wz]}\n"
        "  gps: {type: geodetic, source: gps, geodetic: [lat, lon, h]}\n"
        "truth: {source: rtk, geodetic: [lat, lon, h], yaw: heading, axes: ned, gap: 1}\n",
        NULL, &err);
    if (!d && err.status == CT_E_UNSUPPORTED) SKIP(err.text);
    if (!d) CT_TEST_SAY("%s\n", err.text);
    if (!d) return;
    const ct_sequence *seq = d->train[0];
    CHECK(states_of(seq) == 3);
    for (int32_t v = 0; v < states_of(seq); v++) {
        const double *x = seq->truth + ct_graph_offset(seq->graph, v);
        double        p[3];
        closed_form(first, FIX[v], p);
        CHECK_NEAR(x[0], p[0], 1e-6);
        CHECK_NEAR(x[1], p[1], 1e-6);
        CHECK_NEAR(atan2(x[3], x[2]), 3.14159265358979323846 / 2 - FIX[v][3], 1e-12);
    }
    ct_dataset_free(d);
}

/* ---- start values ---- */

/* Sigmas that the recipe does not have are nobody's choice, in the dataset and in its folder. */
static void test_default_sigmas_are_arbitrary(void)
{
    for (int given = 0; given < 2; given++) {
        char        text[1024];
        ct_err      err = {0};
        ct_recipe  *recipe = NULL;
        ct_dataset *d = NULL;
        import_robot("arbitrary", START);
        snprintf(text, sizeof text,
                 "format: covtune-recipe\nversion: 1\nsources:\n  odometry: {files: odometry.csv, time: t in ns}\n"
                 "  mocap: {files: truth.csv, time: t in ns}\nstates: {type: SE2, every: 0.3}\nsensors:\n"
                 "  odom: {type: odometry, source: odometry, velocity: [vx, vy, wz]%s}\n"
                 "  gps: {type: position, source: mocap, position: [x, y], noise: {sigma: 1}}\n"
                 "truth: {source: mocap, position: [x, y], yaw: yaw}\n",
                 given ? ", noise: {sigma: 0.1}" : "");
        CHECK_OK(ct_recipe_parse(text, "test.yaml", import_folder, &recipe, &err), err);
        CHECK_OK(ct_recipe_import(recipe, NULL, import_path("arbitrary-out"), NULL, &err), err);
        CHECK_OK(ct_dataset_read(import_path("arbitrary-out"), CT_DATASET_ALL, &d, &err), err);
        if (!d) return;
        CHECK(ct_dataset_start_given(d) == given);
        for (int32_t m = 0; m < ct_noise_count(d->noise); m++) {
            const ct_dataset_group g = ct_dataset_group_of(d, m);
            const char            *name = ct_noise_get(d->noise, m)->name;
            CHECK(g.arbitrary == (!strcmp(name, "odom") && !given) && g.learn == (strcmp(name, "first_pose") != 0));
        }
        ct_dataset_free(d);
        ct_recipe_free(recipe);
    }
}

/* ---- graphs ---- */

static void test_graphs_get_their_truth_from_a_table(void)
{
    import_begin("graphs");
    write_text_file(
        "run1.g2o",
        "EDGE_SE2 0 1 1 0 0 1 0 0 1 0 1\nEDGE_SE2 1 2 1 0 0.5 1 0 0 1 0 1\nEDGE_SE2 0 2 2 0 0.5 4 0 0 4 0 4\n");
    write_text_file("run2.g2o", "EDGE_SE2 0 1 1 0 0 1 0 0 1 0 1\nEDGE_SE2 1 2 1 0 0.5 1 0 0 1 0 1\n");
    for (int i = 1; i <= 2; i++)
        write_text_file(i == 1 ? "truth1.csv" : "truth2.csv", "t,x,y,yaw\n10,0,0,0\n11,1000,0,0\n12,2000,100,0.5\n");
    ct_import_result result;
    MUST_IMPORT(d,
                "format: covtune-recipe\nversion: 1\nrecording: r{n}\nsources: {mocap: 'truth{n}.csv'}\n"
                "sequences: {files: 'run{n}.g2o'}\ntruth: {source: mocap, position: [x in mm, y in mm], yaw: yaw}\n",
                &result);
    CHECK(d->trains == 1 && d->tests == 1 && !strcmp(d->test[0]->name, "r2") && result.recordings == 2 &&
          result.states == 6);
    const ct_sequence *seq = d->train[0];
    CHECK(seq->stamp && seq->stamp[2] == 12 && seq->known[1] == 7);
    CHECK_NEAR(ct_graph_se2(seq->graph, seq->truth, 2).y, 0.1, 1e-12);
    CHECK(ct_graph_factors(seq->graph) == 4 && ct_graph_factor(seq->graph, 3).ops == &ct_prior_se2);
    ct_dataset_free(d);
    ct_import_result_free(&result);
    ct_err err;
    write_text_file("truth2.csv", "t,x,y,yaw\n10,0,0,0\n11,1000,0,0\n");
    CHECK(!import_text("format: covtune-recipe\nversion: 1\nrecording: r{n}\nsources: {mocap: 'truth{n}.csv'}\n"
                       "sequences: {files: 'run{n}.g2o'}\ntruth: {source: mocap, position: [x, y], yaw: yaw}\n",
                       NULL, &err) &&
          strstr(err.text, "recording r2 has 2 records and its graph 3 poses"));
}

static void test_loops_of_graphs_have_a_model_of_their_own(void)
{
    import_begin("split_loops");
    write_text_file("run1.g2o", "EDGE_SE2 0 1 1 0 0 1 0 0 1 0 1\nEDGE_SE2 1 2 1 0 0.5 1 0 0 1 0 1\n"
                                "EDGE_SE2 0 2 2 0 0.5 1 0 0 1 0 1\n");
    write_text_file("run2.g2o", "EDGE_SE2 0 1 1 0 0 4 0 0 4 0 4\nEDGE_SE2 1 2 1 0 0.5 4 0 0 4 0 4\n"
                                "EDGE_SE2 0 2 2 0 0.5 1 0 0 1 0 1\n");
    MUST_IMPORT(d, "format: covtune-recipe\nversion: 1\nsequences: {files: 'run{n}.g2o', split_loops: true}\n", NULL);
    CHECK(d->trains == 1 && d->tests == 1 && !strcmp(d->train[0]->name, "1"));
    for (int i = 0; i < 2; i++) {
        const ct_sequence *seq = i ? d->test[0] : d->train[0];
        int n[3] = {0};
        for (int32_t f = 0; f < ct_graph_factors(seq->graph); f++) {
            const ct_factor e = ct_graph_factor(seq->graph, f);
            const char *name = ct_noise_get(d->noise, e.noise)->name;
            n[0] += !strncmp(name, "between_se2", 11);
            n[1] += !strcmp(name, "loop");
            n[2] += !strcmp(name, "first_pose");
            if (!strncmp(name, "between_se2", 11))
                CHECK(ct_noise_covariance(ct_noise_get(d->noise, e.noise), 0, 0) == (i ? 0.25 : 1));
        }
        CHECK(n[0] == 2 && n[1] == 1 && n[2] == 1);
    }
    ct_dataset_free(d);
}

int main(void)
{
    RUN(test_a_folder_with_other_files_is_refused);
    RUN(test_sequences_of_one_name_are_refused);
    RUN(test_a_second_import_replaces_the_first);
    RUN(test_what_is_stopped_or_fails_leaves_the_old_dataset);
    RUN(test_a_full_disk_leaves_the_old_dataset);
    RUN(test_a_kill_leaves_a_complete_dataset);
    RUN(test_memory_does_not_grow_with_the_file);
    RUN(test_latitude_and_longitude_are_in_the_tangent_frame);
    RUN(test_the_truth_has_latitude_and_longitude);
    RUN(test_default_sigmas_are_arbitrary);
    RUN(test_graphs_get_their_truth_from_a_table);
    RUN(test_loops_of_graphs_have_a_model_of_their_own);
    return ct_test_end();
}
