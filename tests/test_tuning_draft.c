/* test_tuning_draft.c: a first TUNE.yaml: what sounds like noise is proposed, and the file has no mistakes. */
#define _GNU_SOURCE
#include "tune/draft.h"
#include "tuning_test.h"

#include <locale.h>

static void check_class(const char *path, int sure, ct_quantity quantity)
{
    ct_quantity found = CT_QUANTITY_NUMBER;
    const int is = ct__draft_classify(path, &found);
    if (is != sure || (is && found != quantity)) printf("  %s: %d, %s\n", path, is, ct_quantity_name(found));
    CHECK(is == sure && (!is || found == quantity));
}

static void test_keys_are_told_by_their_words(void)
{
    check_class("noise.odom", 2, CT_QUANTITY_SIGMA);
    check_class("gps.sigma_xy", 2, CT_QUANTITY_SIGMA);
    check_class("imu.gyroscope_noise_density", 2, CT_QUANTITY_DENSITY);
    check_class("accelerometer_random_walk", 2, CT_QUANTITY_DENSITY);
    check_class("ekf_filter_node.ros__parameters.process_noise_covariance", 2, CT_QUANTITY_VARIANCE);
    check_class("ekf.initial_estimate_covariance", 1, CT_QUANTITY_VARIANCE);
    check_class("measurementNoiseStd", 2, CT_QUANTITY_SIGMA);
    check_class("filter.Q", 1, CT_QUANTITY_VARIANCE);
    check_class("odometry.information", 2, CT_QUANTITY_INFORMATION);
    check_class("weights.odometry", 2, CT_QUANTITY_INFORMATION);
    check_class("robot.weight", 1, CT_QUANTITY_INFORMATION);
    check_class("stats-errphase", 1, CT_QUANTITY_SIGMA);
    check_class("launch/node[@name='ekf']/param[@name='gps_variance']/@value", 2, CT_QUANTITY_VARIANCE);
    check_class("noise.seed", 0, CT_QUANTITY_SIGMA);
    check_class("publish_rate", 0, CT_QUANTITY_SIGMA);
    check_class("noise.rate", 0, CT_QUANTITY_SIGMA);
    check_class("noise.odom.turn_rate", 2, CT_QUANTITY_SIGMA);
    check_class("noise.yawRate", 2, CT_QUANTITY_SIGMA);
    check_class("noise_threshold", 0, CT_QUANTITY_SIGMA);
    check_class("wheel.radius", 0, CT_QUANTITY_SIGMA);
    check_class("gps_covariance.rows", 0, CT_QUANTITY_SIGMA); /* of a matrix of OpenCV */
    check_class("noise.huberWidth", 1, CT_QUANTITY_NUMBER);
    check_class("uwb.gate", 1, CT_QUANTITY_NUMBER);
    check_class("kernel_type", 0, CT_QUANTITY_NUMBER);
}

static char *draft(const ct_tuning_draft_options *o)
{
    ct_err err = {0};
    char *text = NULL;
    CHECK_OK(ct_tuning_draft(o, &text, &err), err);
    return text;
}

/* The text as a file has no mistakes; *out is what it says. */
static ct_tuning *accepted(const char *text)
{
    ct_err err = {0};
    ct_tuning *t = NULL;
    if (!text) return NULL;
    put_file("first.yaml", text);
    CHECK_OK(ct_tuning_read(in_folder("first.yaml"), &t, &err), err);
    return t;
}

static void test_a_first_file_has_no_mistakes(void)
{
    char params[768], log[768], truth[768], test[768], test_truth[768];
    snprintf(params, sizeof params, "%s", in_folder("ekf.yaml"));
    snprintf(log, sizeof log, "%s", in_folder("train/*.csv"));
    snprintf(truth, sizeof truth, "%s", in_folder("train/*.tum"));
    snprintf(test, sizeof test, "%s", in_folder("test/*.csv"));
    snprintf(test_truth, sizeof test_truth, "%s", in_folder("test/*.tum"));
    const ct_tuning_draft_options o = {.command = "sh run --config={params} '{log}' \"{estimate}\"",
                                       .params = params,
                                       .log = log,
                                       .truth = truth,
                                       .test = test,
                                       .test_truth = test_truth,
                                       .format = "tum",
                                       .folder = folder_path};
    char *text = draft(&o);
    ct_tuning *t = accepted(text);
    if (t) {
        const ct_tune_problem *p = ct_tuning_problem(t);
        CHECK(p->logs == 3 && t->log[2].test);
        CHECK(p->parameters == 7); /* odom, gps, Q[0..2], P[0..1] */
        CHECK(!strcmp(p->parameter[0].name, "odom") && p->parameter[0].start == 0.1);
        CHECK(!strcmp(p->parameter[2].name, "Q[0]") && !strcmp(p->parameter[6].name, "P[1]"));
        CHECK(strstr(text, "noise.P[diagonal]") && !strstr(text, "bias"));
        CHECK(t->command.count == 5 && !strcmp(t->command.word[3], "{log}"));
        CHECK(strstr(text, "\"train/{run}.csv\"") != NULL);
    }
    ct_tuning_free(t);
    free(text);
}

/* An application may have set a locale that writes 0.5 as 0,5; skipped where there is none. */
static void test_bounds_of_a_first_file_have_points_in_any_locale(void)
{
    char params[768];
    put_file("gate.yaml", "noise: {odom: 0.1}\ngps: {gate: 0.5}\n");
    snprintf(params, sizeof params, "%s", in_folder("gate.yaml"));
    const ct_tuning_draft_options o = {.command = "sh run {params} {log} {estimate}",
                                       .params = params,
                                       .log = "train/*.csv",
                                       .truth = "train/*.tum",
                                       .folder = folder_path};
    char *usual = draft(&o);
    CHECK(usual && strstr(usual, "lower: 0.005, upper: 50"));
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8")) {
        free(usual);
        SKIP("no locale with a comma");
    }
    char *text = draft(&o);
    setlocale(LC_NUMERIC, "C");
    CHECK(usual && text && !strcmp(text, usual));
    free(text);
    free(usual);
}

/* Where no key sounds like noise, all numbers are offered. */
static void test_numbers_without_names_of_noise_are_offered(void)
{
    char params[768], log[768], truth[768];
    put_file("plain.ini", "[odometry]\nvx = 0.1\nomega = 0.03\nrate = 0\n[gps]\nposition = 2.0\n");
    snprintf(params, sizeof params, "%s", in_folder("plain.ini"));
    snprintf(log, sizeof log, "%s", in_folder("train/*.csv"));
    snprintf(truth, sizeof truth, "%s", in_folder("train/*.tum"));
    const ct_tuning_draft_options o = {.command = "sh run {params} {log} {estimate}",
                                       .params = params,
                                       .log = log,
                                       .truth = truth,
                                       .folder = folder_path};
    char *text = draft(&o);
    ct_tuning *t = accepted(text);
    if (t) CHECK(ct_tuning_problem(t)->parameters == 3 && !strcmp(ct_tuning_problem(t)->parameter[2].name, "position"));
    CHECK(text && strstr(text, "No name sounds like noise"));
    ct_tuning_free(t);
    free(text);
}

/* Without a configuration file, placeholders of the command are parameters; a pipe needs a shell. */
static void test_parameters_of_a_launch_file_have_their_names(void)
{
    char params[768], log[768], truth[768];
    put_file("plain.launch", "<launch>\n<node name=\"a\"><param name=\"alpha\" value=\"0.9\"/>"
                             "<param name=\"beta\" value=\"2\"/></node>\n"
                             "<node name=\"b\"><param name=\"beta\" value=\"3\"/></node>\n</launch>\n");
    snprintf(params, sizeof params, "%s", in_folder("plain.launch"));
    snprintf(log, sizeof log, "%s", in_folder("train/*.csv"));
    snprintf(truth, sizeof truth, "%s", in_folder("train/*.tum"));
    const ct_tuning_draft_options o = {.command = "sh run {params} {log} {estimate}",
                                       .params = params,
                                       .log = log,
                                       .truth = truth,
                                       .folder = folder_path};
    char *text = draft(&o);
    ct_tuning *t = accepted(text);
    if (t) {
        const ct_tune_problem *p = ct_tuning_problem(t);
        CHECK(p->parameters == 3 && !strcmp(p->parameter[0].name, "alpha") && !strcmp(p->parameter[1].name, "beta"));
        CHECK(p->parameters == 3 && strcmp(p->parameter[2].name, "beta") && strstr(p->parameter[2].name, "beta"));
    }
    ct_tuning_free(t);
    free(text);
}

/* The name of a list in a text is the element's param. */
static void test_a_list_of_a_launch_file_has_the_name_of_its_param(void)
{
    char params[768], log[768], truth[768];
    put_file("list.launch", "<launch><node name=\"a\">\n<rosparam param=\"process_noise_covariance\">[1, 0,\n 0, 4]"
                            "</rosparam></node></launch>\n");
    snprintf(params, sizeof params, "%s", in_folder("list.launch"));
    snprintf(log, sizeof log, "%s", in_folder("train/*.csv"));
    snprintf(truth, sizeof truth, "%s", in_folder("train/*.tum"));
    const ct_tuning_draft_options o = {.command = "sh run {params} {log} {estimate}",
                                       .params = params,
                                       .log = log,
                                       .truth = truth,
                                       .folder = folder_path};
    char *text = draft(&o);
    ct_tuning *t = accepted(text);
    CHECK(text && strstr(text, "\n  process_noise_covariance: {key: "
                               "\"launch/node[@name='a']/rosparam/text()[diagonal]\", is: variance, separate: true}"));
    ct_tuning_free(t);
    free(text);
}

static void test_arguments_and_shells(void)
{
    char log[768], truth[768];
    snprintf(log, sizeof log, "%s", in_folder("train/*.csv"));
    snprintf(truth, sizeof truth, "%s", in_folder("train/*.tum"));
    const ct_tuning_draft_options o = {
        .command = "ekf --odom {odom} --gps {gps} --again {odom} {log} | tee {estimate}",
        .log = log,
        .truth = truth,
        .folder = folder_path};
    char *text = draft(&o);
    ct_tuning *t = accepted(text);
    if (t) CHECK(t->shell && ct_tuning_problem(t)->parameters == 2 && ct_tuning_problem(t)->parameter[0].start == 1);
    ct_tuning_free(t);
    free(text);
}

/* Learned as drafted, a matrix got 1.7 rows. Lines in comments are right as they are. */
static void test_sizes_of_matrices_are_no_noise(void)
{
    char params[768], log[768], truth[768];
    put_file("lag.yaml", "%YAML:1.0\n---\ngps_covariance: !!opencv-matrix\n   rows: 2\n   cols: 2\n   dt: d\n"
                         "   data: [25.0, 0.0, 0.0, 16.0]\nhuber_width: 10.0\n");
    snprintf(params, sizeof params, "%s", in_folder("lag.yaml"));
    snprintf(log, sizeof log, "%s", in_folder("train/*.csv"));
    snprintf(truth, sizeof truth, "%s", in_folder("train/*.tum"));
    const ct_tuning_draft_options o = {.command = "sh run {params} {log} {estimate}",
                                       .params = params,
                                       .log = log,
                                       .truth = truth,
                                       .folder = folder_path};
    char *text = draft(&o), *line = text ? strstr(text, "# huber_width") : NULL;
    CHECK(line != NULL);
    if (line) memmove(line, line + 2, strlen(line + 2) + 1);
    ct_tuning *t = accepted(text);
    if (t) {
        const ct_tune_problem *p = ct_tuning_problem(t);
        CHECK(p->parameters == 3 && !strcmp(p->parameter[0].name, "gps_covariance_data[0]"));
        CHECK(p->parameters == 3 && p->parameter[1].start == 16 && p->parameter[2].upper == 1000);
    }
    ct_tuning_free(t);
    free(text);
}

/* The shell is started in the run's folder, where no script of the command is. */
static void test_files_of_a_shell_command_get_their_folder(void)
{
    char log[768], truth[768], *here = getcwd(NULL, 0);
    put_file("gate.py", "print()\n");
    put_file("out.csv", "1\n");
    snprintf(log, sizeof log, "%s", in_folder("train/*.csv"));
    snprintf(truth, sizeof truth, "%s", in_folder("train/*.tum"));
    const ct_tuning_draft_options o = {
        .command = "A=1 python3 gate.py '{log}' {q}|./run \"./gate.py\" >out.csv; run && mv out.csv {estimate}",
        .log = log,
        .truth = truth};
    CHECK(here && chdir(folder_path) == 0);
    char *text = draft(&o);
    CHECK(text && strstr(text, "A=1 python3 {here}/gate.py '{log}' {q}|{here}/run "
                               "\\\"{here}/gate.py\\\" >out.csv; run"));
    CHECK(here && chdir(here) == 0);
    free(here);
    free(text);
}

static void refused(const ct_tuning_draft_options *o, ct_status status, const char *sentence)
{
    ct_err err = {0};
    char *text = NULL;
    CHECK(ct_tuning_draft(o, &text, &err) == status && !text);
    if (!strstr(err.text, sentence)) printf("  %s\n", err.text);
    CHECK(strstr(err.text, sentence) != NULL);
}

/* {gps} next to logs odometry-a.csv is gps-a.csv, and a number of the file may have the same name. */
static void test_further_files_of_a_log_are_found_beside_it(void)
{
    char params[768], log[768], truth[768];
    put_file("cf.toml", "[noise]\nodom = 0.5\ngps = 0.05\n");
    put_file("odometry-a.csv", "t,v\n0,1\n");
    put_file("gps-a.csv", "t,x,y\n0,1,2\n");
    put_file("truth-a.tum", "0 0 0 0 0 0 0 1\n");
    snprintf(params, sizeof params, "%s", in_folder("cf.toml"));
    snprintf(log, sizeof log, "%s", in_folder("odometry-*.csv"));
    snprintf(truth, sizeof truth, "%s", in_folder("truth-*.tum"));
    const ct_tuning_draft_options o = {.command = "sh run {params} {log} {gps} {speed} {estimate}", .params = params,
                                       .log = log, .truth = truth, .folder = folder_path};
    char *text = draft(&o);
    ct_tuning *t = accepted(text);
    CHECK(t && t->problem.parameters == 3); /* speed, odom, gps */
    CHECK(t && t->log[0].files == 2 && strstr(t->log[0].file_path[1], "gps-a.csv"));
    ct_tuning_free(t);
    free(text);
}

static void test_what_is_missing_is_said(void)
{
    ct_tuning_draft_options o = {.command = "ekf {log} {estimate}", .log = "*.csv", .truth = "*.tum"};
    refused(&o, CT_E_EMPTY, "there is no positive number");
    o.command = "ekf {estimate} {sigma}";
    refused(&o, CT_E_ARGUMENT, "{log}");
    o.command = "ekf {log} {sigma}";
    refused(&o, CT_E_ARGUMENT, "{estimate}");
    o.command = "ekf {log} {estimate} {sigma}";
    o.format = "tumm";
    refused(&o, CT_E_ARGUMENT, "tumm");
    o.format = NULL;
    o.params = "ekf.yaml";
    refused(&o, CT_E_ARGUMENT, "neither {params} nor ekf.yaml");
    o.command = "ekf {params} {log} {estimate}";
    o.params = "nowhere.yaml";
    refused(&o, CT_E_IO, "nowhere.yaml");
    o.log = NULL;
    refused(&o, CT_E_ARGUMENT, "logs");
    o.command = NULL;
    refused(&o, CT_E_ARGUMENT, "command");
}

static void test_names_are_those_of_the_lists(void)
{
    for (int i = 0; i < CT_QUANTITY_COUNT; i++) CHECK(ct_quantity_find(ct_quantity_name((ct_quantity)i)) == i);
    CHECK(ct_quantity_find("speed") == -1);
    for (int i = 0; i < CT_TUNE_METHOD_COUNT; i++)
        CHECK(ct_tune_method_find(ct_tune_method_name((ct_tune_method)i)) == i);
    for (int i = 0; i < CT_TUNE_STOP_COUNT; i++) CHECK(strlen(ct_tune_stop_meaning((ct_tune_stop)i)) > 5);
}

int main(void)
{
    make_folder();
    RUN(test_keys_are_told_by_their_words);
    RUN(test_a_first_file_has_no_mistakes);
    RUN(test_bounds_of_a_first_file_have_points_in_any_locale);
    RUN(test_numbers_without_names_of_noise_are_offered);
    RUN(test_parameters_of_a_launch_file_have_their_names);
    RUN(test_a_list_of_a_launch_file_has_the_name_of_its_param);
    RUN(test_arguments_and_shells);
    RUN(test_sizes_of_matrices_are_no_noise);
    RUN(test_files_of_a_shell_command_get_their_folder);
    RUN(test_further_files_of_a_log_are_found_beside_it);
    RUN(test_what_is_missing_is_said);
    RUN(test_names_are_those_of_the_lists);
    return ct_test_end();
}
