/* test_export_ros.c: what ROS is told. Matrices are read back, and no pose is mistaken for a step between poses. */
#define _XOPEN_SOURCE 700
#include "export_test.h"

#include <unistd.h>

static const struct {
    const char *rows;
    int         dim, twist, slot[6];
} ROS[] = {
    {"x y yaw", 3, 0, {0, 1, 5}},
    {"rx ry rz x y z", 6, 0, {3, 4, 5, 0, 1, 2}},
    {"x y", 2, 0, {0, 1}},
    {"x y z", 3, 0, {0, 1, 2}},
    {"yaw", 1, 0, {5}},
    {"theta", 1, 0, {5}}, /* before 0.2 */
    {"rx ry rz", 3, 0, {3, 4, 5}},
    {"vx vy omega", 3, 1, {0, 1, 5}},
    {"wx wy wz vx vy vz", 6, 1, {3, 4, 5, 0, 1, 2}},
    {"yaw roll pitch", 3, 0, {5, 3, 4}},
};

/* Every number of the text has a point: 1e-05 is a string to YAML, and 0 an integer. */
static void check_points(const char *list)
{
    for (const char *p = strchr(list, '[') + 1; *p && *p != ']'; p += strcspn(p, ",]") + (p[strcspn(p, ",]")] == ',')) {
        const size_t n = strcspn(p, ",]"), mantissa = strcspn(p, "e,]");
        CHECK(memchr(p, '.', mantissa < n ? mantissa : n) != NULL);
    }
}

static void test_ros_matrices_hold_the_model_in_their_order(void)
{
    ct_err err = {0};
    for (size_t k = 0; k < sizeof ROS / sizeof *ROS; k++) {
        for (int kind = 0; kind < 3; kind++) {
            ct_noise             *noise = one_model("\"odd\"@1", ROS[k].rows, ROS[k].dim, (ct_noise_kind)kind, 7 + k);
            const ct_noise_model *m = ct_noise_get(noise, 0);
            char                 *text = export_text(noise, NULL, CT_EXPORT_ROS, &err);
            double                S[37], want[36];
            for (int i = 0; i < 36; i++) want[i] = i % 7 ? 0 : 1e6;
            for (int i = 0; i < m->dim * m->dim; i++)
                want[ROS[k].slot[i / m->dim] * 6 + ROS[k].slot[i % m->dim]] = entry(m, i / m->dim, i % m->dim);
            CHECK(text &&
                  strstr(text, ROS[k].twist ? "\n\"\\\"odd\\\"@1\":\n  twist:\n" : "\n\"\\\"odd\\\"@1\":\n  pose:\n"));
            CHECK(text && numbers_between(text, "    covariance: [", "]", 37, S) == 36 &&
                  !memcmp(S, want, sizeof want));
            if (text) check_points(strstr(text, "    covariance: ["));
            free(text);
            ct_noise_free(noise);
        }
    }
}

/* A table with one model that is used by a measurement. */
static ct_noise *measured(const char *name, const char *rows, int dim, ct_noise_kind kind, const char *measurement)
{
    ct_noise *noise = one_model(name, rows, dim, kind, 9);
    ct_noise_set_measurement(noise, 0, measurement);
    return noise;
}

static void test_positions_are_fixes_along_east_north_up(void)
{
    ct_err err = {0};
    for (int dim = 2; dim <= 3; dim++) {
        for (int kind = 0; kind < 3; kind++) {
            ct_noise *noise = measured("gps", dim == 2 ? "x y" : "x y z", dim, (ct_noise_kind)kind,
                                       dim == 2 ? "position_se2" : "position_se3");
            const ct_noise_model *m = ct_noise_get(noise, 0);
            char                 *text = export_text(noise, NULL, CT_EXPORT_ROS, &err);
            double                P[10], type = 0, want[9] = {0, 0, 0, 0, 0, 0, 0, 0, 1e6};
            for (int i = 0; i < dim * dim; i++) want[i / dim * 3 + i % dim] = entry(m, i / dim, i % dim);
            CHECK(text && strstr(text, "East, North, Up") && strstr(text, "\n  pose:\n"));
            CHECK(text && numbers_between(text, "\n  position_covariance: [", "]", 10, P) == 9 &&
                  !memcmp(P, want, sizeof want));
            CHECK(text && numbers_between(text, "position_covariance_type: ", "#", 1, &type) == 1 &&
                  type == (kind == CT_NOISE_FULL ? 3 : 2));
            if (text) check_points(strstr(text, "position_covariance: ["));
            free(text);
            ct_noise_set_measurement(noise, 0, "prior_r3");
            text = export_text(noise, NULL, CT_EXPORT_ROS, &err);
            CHECK(text && !strstr(text, "position_covariance"));
            free(text);
            ct_noise_free(noise);
        }
    }
}

/* ---- robot_localization ------------------------------------------------------------------------------ */

/* How a model of pose rows is written: as which input, differential or not, with a diagonal or none. */
static const struct {
    const char *measurement;
    double      dt;
    const char *input, *differential;
    int         twist, diagonal;
} KIND[] = {
    {"prior_se2", 0, "pose0", "false", 0, 1},
    {"position_se2", 0.1, "pose0", "false", 0, 1},
    {"between_se2", 0, "odom0", "true", 0, 0},
    {"between_se2", 0.5, "odom0", "false", 1, 1},
    {"gtsam_between_se3", 0, "odom0", "true", 0, 0},
    {"gtsam_prior_se2", 0, "pose0", "false", 0, 1},
    {NULL, 0, NULL, NULL, 0, 0},
    {"my_own", 0.5, NULL, NULL, 0, 0},
};

/* The 15 booleans of the input are true where the model measures. */
static void check_config(const char *text, const char *input, unsigned measured_states)
{
    char name[64], list[400] = "";
    int  n = 0;
    snprintf(name, sizeof name, "\n    %s_config: [", input);
    const char *config = strstr(text, name);
    CHECK(config != NULL);
    if (config) snprintf(list, sizeof list, "%.*s", (int)strcspn(config + strlen(name), "]"), config + strlen(name));
    for (char *word = strtok(list, ", \n"); word; word = strtok(NULL, ", \n"), n++)
        CHECK(!strcmp(word, measured_states >> n & 1 ? "true" : "false"));
    CHECK(n == 15);
}

static void check_robot_localization(size_t r, size_t k)
{
    ct_err    err = {0};
    ct_noise *noise = measured("odom@1", ROS[r].rows, ROS[r].dim, k % 2 ? CT_NOISE_DIAGONAL : CT_NOISE_ISOTROPIC,
                               KIND[k].measurement);
    const ct_noise_model   *m = ct_noise_get(noise, 0);
    ct_findings             findings = {0};
    const ct_export_options options = {.dt_s = KIND[k].dt, .findings = &findings};
    const char             *input = ROS[r].twist ? "twist0" : KIND[k].input;
    const int               twist = ROS[r].twist || KIND[k].twist, diagonal = ROS[r].twist || KIND[k].diagonal;
    char                   *text = export_with(noise, &options, CT_EXPORT_ROBOT_LOCALIZATION, &err), line[128];
    double                  v[7], want[6] = {1e6, 1e6, 1e6, 1e6, 1e6, 1e6};
    unsigned                states = 0;
    for (int i = 0; i < m->dim; i++) {
        want[ROS[r].slot[i]] = m->covariance[i] / (!ROS[r].twist && KIND[k].twist ? KIND[k].dt * KIND[k].dt : 1);
        states |= 1u << (ROS[r].slot[i] + (twist ? 6 : 0));
    }
    CHECK(text != NULL);
    if (text && input) check_config(text, input, states);
    const int32_t unset = ct_findings_find(&findings, CT_FINDING_MEASUREMENT_UNKNOWN);
    CHECK((unset >= 0) == !input && (findings.count > 0) == !input); /* exported in three ways */
    if (unset >= 0) CHECK(findings.item[unset].subjects == 1 && findings.item[unset].subject->index == 0);
    ct_findings_free(&findings);
    if (text && !input)
        CHECK(strstr(text, "ros__parameters: {}\n") &&
              strstr(text, "\"measurement\": \"prior_se2\" or \"between_se2\"") && !strstr(text, "_differential: "));
    snprintf(line, sizeof line, "\n    %s_differential: %s\n", input ? input : "",
             KIND[k].differential ? KIND[k].differential : "");
    if (text && !ROS[r].twist && input) CHECK(strstr(text, line) != NULL);
    snprintf(line, sizeof line, "\npublisher_of_noise_odom_1:\n  ros__parameters:\n    %s_covariance_diagonal: [",
             twist ? "twist" : "pose");
    /* a diagonal that would be wrong is in comments alone */
    if (text) CHECK(!strstr(text, "publisher_of_noise") == !diagonal);
    if (text)
        CHECK(numbers_between(text, diagonal ? line : "\n# variances", "]", 7, v) == 6 &&
              !memcmp(v, want, sizeof want));
    if (text && diagonal) check_points(strstr(text, line));
    free(text);
    ct_noise_free(noise);
}

static void test_robot_localization_tells_poses_steps_and_twists_apart(void)
{
    for (size_t r = 0; r < sizeof ROS / sizeof *ROS; r++)
        for (size_t k = 0; k < sizeof KIND / sizeof *KIND; k++) check_robot_localization(r, k);
}

/* The same numbers, as a parser of YAML sees them, and the names that ROS would look for. */
static const char PARSER[] =
    "import sys, yaml\n"
    "class Strict(yaml.SafeLoader): pass\n"
    "def pairs(loader, node):\n"
    "    keys = [loader.construct_object(k) for k, v in node.value]\n"
    "    assert len(keys) == len(set(keys)), keys\n"
    "    return {loader.construct_object(k): loader.construct_object(v, True) for k, v in node.value}\n"
    "Strict.add_constructor('tag:yaml.org,2002:map', pairs)\n"
    "for node, inner in yaml.load(sys.stdin, Strict).items():\n"
    "    assert list(inner) == ['ros__parameters']\n"
    "    for key, value in inner['ros__parameters'].items():\n"
    "        assert not isinstance(value, list) or len(value) in (6, 15) and len({type(x) for x in value}) == 1\n"
    "        print(node + '.' + key)\n";

static void test_robot_localization_is_a_file_of_parameters(void)
{
    if (system("python3 -c 'import yaml' >/dev/null 2>&1")) SKIP("there is no python3 with yaml");
    ct_noise *noise = measured("odom@0", "x y yaw", 3, CT_NOISE_DIAGONAL, "between_se2");
    ct_err    err = {0};
    char      folder[512], path[600], command[2000], found[1000] = "";
    const char *const name[] = {"odom@1", "gps@a", "gps@b", "fix", "wheel", "who"}, *const by[] = {
                                                                                        "between_se2",  "prior_se2",
                                                                                        "prior_se2",    "position_se2",
                                                                                        "velocity_se2", NULL};
    const char *const rows[][3] = {{"x", "y", "yaw"}, {"x", "y", "yaw"},   {"x", "y", "yaw"},
                                   {"x", "y"},          {"vx", "vy", "omega"}, {"x", "y"}};
    for (int i = 0; i < 6; i++) {
        CHECK_OK(ct_noise_add_isotropic(noise, name[i], rows[i][2] ? 3 : 2, 0.1 + i, NULL, &err), err);
        ct_noise_set_rows(noise, i + 1, rows[i], NULL);
        ct_noise_set_measurement(noise, i + 1, by[i]);
    }
    snprintf(folder, sizeof folder, "%s/export_ros_XXXXXX", ct_test_folder());
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/ekf.yaml", folder);
    CHECK_OK(ct_export_write(noise, CT_EXPORT_ROBOT_LOCALIZATION, NULL, path, &err), err);
    snprintf(path, sizeof path, "%s/parse.py", folder);
    FILE *script = fopen(path, "w");
    CHECK(script != NULL);
    if (script) fputs(PARSER, script), fclose(script);
    snprintf(command, sizeof command, "cd '%s' && python3 parse.py <ekf.yaml", folder);
    FILE *pipe = popen(command, "r");
    if (pipe) found[fread(found, 1, sizeof found - 1, pipe)] = 0;
    CHECK(pipe && pclose(pipe) == 0);
    CHECK(!strcmp(
        found,
        "ekf_filter_node.odom0_config\nekf_filter_node.odom0_differential\nekf_filter_node.pose0_config\nekf_filter_"
        "node.pose0_differential\n"
        "ekf_filter_node.pose1_config\nekf_filter_node.pose1_differential\nekf_filter_node.twist0_config\n"
        "publisher_of_noise_gps_a.pose_covariance_diagonal\npublisher_of_noise_gps_b.pose_covariance_diagonal\n"
        "publisher_of_noise_fix.pose_covariance_diagonal\npublisher_of_noise_wheel.twist_covariance_diagonal\n"));
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    CHECK(system(command) == 0);
    ct_noise_free(noise);
}

static void test_steps_over_a_known_time_are_twists(void)
{
    ct_noise               *noise = measured("odom", "rx ry rz x y z", 6, CT_NOISE_FULL, "between_se3");
    const ct_noise_model   *m = ct_noise_get(noise, 0);
    const ct_export_options options = {.dt_s = 0.25};
    ct_err                  err = {0};
    char                   *text = export_with(noise, &options, CT_EXPORT_ROS, &err);
    double                  S[36];
    CHECK(text && strstr(text, "\n  twist:\n") && numbers_between(text, "    covariance: [", "]", 36, S) == 36);
    /* translation first */
    for (int i = 0; text && i < 36; i++) CHECK(S[i] == entry(m, (i / 6 + 3) % 6, (i % 6 + 3) % 6) * 16);
    free(text);
    ct_noise_free(noise);
}

static void test_points_and_correlations_have_no_place_in_robot_localization(void)
{
    ct_err            err = {0};
    ct_export_options options = ct_export_defaults();
    ct_noise         *noise = measured("tree", "x y", 2, CT_NOISE_FULL, "point_se2_r2");
    CHECK(!export_text(noise, NULL, CT_EXPORT_ROBOT_LOCALIZATION, &err) && err.status == CT_E_UNSUPPORTED &&
          strstr(err.text, "noise model \"tree\": robot_localization has no place for point_se2_r2"));
    ct_noise_set_measurement(noise, 0, "between_r2");
    CHECK(!export_text(noise, NULL, CT_EXPORT_ROBOT_LOCALIZATION, &err) &&
          strstr(err.text, "has no place for between_r2"));
    ct_noise_set_measurement(noise, 0, "position_se2");
    CHECK(!export_text(noise, NULL, CT_EXPORT_ROBOT_LOCALIZATION, &err) &&
          strstr(err.text, "no place for its correlations; the option diagonal leaves them out"));
    options.diagonal = 1;
    char  *text = export_with(noise, &options, CT_EXPORT_ROBOT_LOCALIZATION, &err);
    double v[2];
    CHECK(text && strstr(text, "# its correlations are left out\n") &&
          numbers_between(text, "pose_covariance_diagonal: [", "]", 2, v) == 6);
    CHECK(text && v[0] == entry(ct_noise_get(noise, 0), 0, 0) && v[1] == entry(ct_noise_get(noise, 0), 1, 1));
    CHECK(ct_noise_get(noise, 0)->kind == CT_NOISE_FULL); /* the table is as it was */
    free(text);
    ct_noise_free(noise);
}

int main(void)
{
    RUN(test_ros_matrices_hold_the_model_in_their_order);
    RUN(test_positions_are_fixes_along_east_north_up);
    RUN(test_robot_localization_tells_poses_steps_and_twists_apart);
    RUN(test_robot_localization_is_a_file_of_parameters);
    RUN(test_steps_over_a_known_time_are_twists);
    RUN(test_points_and_correlations_have_no_place_in_robot_localization);
    return ct_test_end();
}
