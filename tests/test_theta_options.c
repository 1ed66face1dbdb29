/* test_theta_options.c: which parameters a dataset and options define, and what is refused. */
#define _XOPEN_SOURCE 700
#include "dataset_test.h"

#include <locale.h>

/* "name lower upper" of every parameter, a line each. */
static const char *list_parameters(const ct_theta *theta)
{
    static char text[2000];
    int         n = 0;
    text[0] = 0;
    for (int32_t i = 0; i < ct_theta_count(theta); i++) {
        char   name[64];
        double lower, upper;
        ct_theta_bounds(theta, i, &lower, &upper);
        n += snprintf(text + n, sizeof text - (size_t)n, "%s %g %g\n", ct_theta_name(theta, i, name, sizeof name),
                      lower, upper);
    }
    return text;
}

/* odom@0 and odom@1 (x, y, yaw), gps (x, y), first_pose, and `late`, which the test part alone uses. */
static ct_dataset *read_robot(void)
{
    const char *text = "covtune-sequence 1\nnoise first_pose isotropic 3 1e-6\nnoise odom@0 diagonal 1 2 3\n"
                       "noise odom@1 diagonal 1 2 3\nnoise gps diagonal 1 1\nnoise late isotropic 2 1\n"
                       "var a SE2 0 0 0\nvar b SE2 1 0 0\nfactor prior_se2 first_pose a 0 0 0\n"
                       "factor between_se2 odom@0 a b 1 0 0\nfactor between_se2 odom@1 a b 1 0 0\n"
                       "factor position_se2 %s b 1 0\n";
    char        file[1000];
    begin();
    folder("train");
    folder("test");
    snprintf(file, sizeof file, text, "gps");
    put("train/1.ctseq", file);
    snprintf(file, sizeof file, text, "late");
    put("test/1.ctseq", file);
    put("dataset.yaml", HEAD "train: [train/1.ctseq]\ntest: [test/1.ctseq]\n"
                             "groups: [{name: odom, bounds: [1, 2]}, {name: gps, learn: false}]\n");
    return must_read(at(""), CT_DATASET_ALL);
}

static void check_parameters(const ct_dataset *d, const ct_theta_options *options, const char *wanted)
{
    ct_theta *theta = NULL;
    ct_err    err = {0};
    CHECK_OK(ct_dataset_theta(d, options, &theta, &err), err);
    if (theta && strcmp(list_parameters(theta), wanted)) {
        ct_test_failed_checks++;
        fprintf(stderr, "wanted\n%sfound\n%s", wanted, list_parameters(theta));
    }
    ct_theta_free(theta);
}

static void check_refusal(const ct_dataset *d, const ct_theta_options *options, const char *wanted)
{
    ct_theta *theta = NULL;
    ct_err    err = {0};
    CHECK(ct_dataset_theta(d, options, &theta, &err) == CT_E_ARGUMENT && !theta);
    if (strcmp(err.text, wanted)) {
        ct_test_failed_checks++;
        fprintf(stderr, "wanted\n%s\nfound\n%s\n", wanted, err.text);
    }
}

static void test_defaults_are_the_datasets_own(void)
{
    ct_dataset            *d = read_robot();
    const ct_theta_options defaults = ct_theta_defaults(), zero = {0};
    const char            *wanted = "odom@0.x 1 2\nodom@0.y 1 2\nodom@0.yaw 1 2\n"
                                    "odom@1.x 1 2\nodom@1.y 1 2\nodom@1.yaw 1 2\n";
    check_parameters(d, NULL, wanted);
    check_parameters(d, &defaults, wanted);
    check_parameters(d, &zero, wanted);
    ct_dataset_free(d);
}

static void test_lists_choose_models_rows_kinds_and_bounds(void)
{
    ct_dataset *d = read_robot();
    check_parameters(d, &(ct_theta_options){.learn = "gps"}, "gps.x 1e-10 1e+06\ngps.y 1e-10 1e+06\n");
    check_parameters(d, &(ct_theta_options){.learn = "gps,odom@1", .freeze = "odom@1.yaw,gps.0", .bounds = "tight"},
                     "odom@1.x 0.1 10\nodom@1.y 0.1 10\ngps.y 0.1 10\n");
    check_parameters(d, &(ct_theta_options){.freeze = "odom@0", .isotropic = "odom"}, "odom@1 1 2\n");
    check_parameters(d, &(ct_theta_options){.learn = "gps", .full = "all", .bounds = "0.5:8"},
                     "gps[x,x] 0.5 8\ngps[x,y] 0.5 8\ngps[y,y] 0.5 8\n");
    check_parameters(d, &(ct_theta_options){.freeze = "odom@1", .bounds = "loose", .bound = "odom=3:4,odom@0.y=5:6"},
                     "odom@0.x 3 4\nodom@0.y 5 6\nodom@0.yaw 3 4\n");
    /* full, then diagonal, then isotropic: the later list holds */
    check_parameters(d, &(ct_theta_options){.learn = "gps", .full = "gps", .diagonal = "gps"},
                     "gps.x 1e-10 1e+06\ngps.y 1e-10 1e+06\n");
    ct_dataset_free(d);
}

static void test_ties_give_one_parameter(void)
{
    ct_dataset *d = read_robot();
    check_parameters(d, &(ct_theta_options){.tie = "odom@0=odom@1"},
                     "odom@0.x=odom@1.x 1 2\nodom@0.y=odom@1.y 1 2\nodom@0.yaw=odom@1.yaw 1 2\n");
    check_parameters(d, &(ct_theta_options){.learn = "odom@0,gps", .tie = "odom@0.x=odom@0.y=gps.x"},
                     "odom@0.x=odom@0.y=gps.x 1 2\nodom@0.yaw 1 2\ngps.y 1e-10 1e+06\n");
    check_parameters(d, &(ct_theta_options){.learn = "odom,gps", .freeze = "odom.yaw,odom.y", .tie = "odom.x=gps.y"},
                     "odom@0.x=odom@1.x=gps.y 1 2\ngps.x 1e-10 1e+06\n");
    ct_dataset_free(d);
}

static void test_the_spread_is_set(void)
{
    ct_dataset *d = read_robot();
    ct_theta   *theta = NULL;
    ct_err      err = {0};
    CHECK_OK(ct_dataset_theta(d, &(ct_theta_options){.spread = 1.5}, &theta, &err), err);
    CHECK(theta && ct_theta_spread_limit(theta) == 1.5);
    ct_theta_free(theta);
    CHECK_OK(ct_dataset_theta(d, NULL, &theta, &err), err);
    CHECK(theta && isinf(ct_theta_spread_limit(theta)));
    ct_theta_free(theta);
    check_refusal(d, &(ct_theta_options){.spread = 2, .bound = "odom@0.x=1:1,odom@1.y=100:100"},
                  "odom@1.y is at least 100 and odom@0.x at most 1: that is further apart than the spread, 2");
    ct_dataset_free(d);
}

static void test_names_that_select_nothing_are_refused(void)
{
    ct_dataset *d = read_robot();
    const char *there = "first_pose, odom@0, odom@1, gps";
    char        wanted[300];
    snprintf(wanted, sizeof wanted, "learn odmo: there is no such noise model; did you mean odom? There are %s", there);
    check_refusal(d, &(ct_theta_options){.learn = "odmo"}, wanted);
    snprintf(wanted, sizeof wanted, "--freeze lidar: there is no such noise model; there are %s", there);
    check_refusal(d, &(ct_theta_options){.freeze = "lidar.x", .option_prefix = "--"}, wanted);
    snprintf(wanted, sizeof wanted,
             "full late: no factor of the training sequences uses that noise model; there are %s", there);
    check_refusal(d, &(ct_theta_options){.full = "late"}, wanted);
    check_refusal(d, &(ct_theta_options){.freeze = "odom.z"},
                  "freeze odom.z: odom@0 has no row z; its rows are x, y, yaw");
    check_refusal(d, &(ct_theta_options){.learn = "odom.x", .option_prefix = "--"},
                  "--learn odom.x: this option takes whole noise models; --freeze leaves out rows");
    check_refusal(d, &(ct_theta_options){.isotropic = "odom.x"},
                  "isotropic odom.x: this option takes whole noise models, not a row");
    check_refusal(d, &(ct_theta_options){.full = "odom", .bound = "odom.x=1:2"},
                  "bound odom.x: the rows of odom@0 have one bound for all, as it is learned as a full covariance");
    check_refusal(d, &(ct_theta_options){.tie = "odom@0.x=odom@1"},
                  "tie odom@0.x=odom@1: two rows can be tied, or two noise models, not one to the other");
    ct_dataset_free(d);
}

static void keep(void *sentence, const char *text) { snprintf(sentence, 200, "%s", text); }

static void test_row_names_of_earlier_versions_are_understood(void)
{
    ct_dataset *d = read_robot();
    char        sentence[200] = "";
    check_parameters(d, &(ct_theta_options){.freeze = "odom.theta,odom@0", .remark = keep, .user = sentence},
                     "odom@1.x 1 2\nodom@1.y 1 2\n");
    CHECK(!strcmp(sentence, "freeze odom.theta: row \"theta\" is now called \"yaw\"; write odom.yaw"));
    check_parameters(d, &(ct_theta_options){.freeze = "odom.theta,odom@0"}, "odom@1.x 1 2\nodom@1.y 1 2\n");
    ct_dataset_free(d);
}

static void test_ties_of_unequal_groups_are_refused(void)
{
    begin();
    put("1.ctseq", "covtune-sequence 1\nnoise a@0 isotropic 1 1\nnoise a@1 isotropic 1 1\nnoise b@0 isotropic 1 1\n"
                   "noise b@1 isotropic 1 1\nnoise b@2 isotropic 1 1\nvar x R1 0\nfactor prior_r1 a@0 x 0\n"
                   "factor prior_r1 a@1 x 0\nfactor prior_r1 b@0 x 0\nfactor prior_r1 b@1 x 0\n"
                   "factor prior_r1 b@2 x 0\n");
    ct_dataset *d = must_read(at(""), CT_DATASET_ALL);
    check_refusal(d, &(ct_theta_options){.tie = "a=b"},
                  "tie a=b: a is 2 noise models, b 3; name them one by one");
    ct_dataset_free(d);
}

static void check_syntax(const ct_theta_options *options, const char *wanted)
{
    ct_err err = {0};
    CHECK(ct_theta_options_check(options, &err) == CT_E_ARGUMENT);
    if (!strstr(err.text, wanted)) {
        ct_test_failed_checks++;
        fprintf(stderr, "wanted\n%s\nfound\n%s\n", wanted, err.text);
    }
}

static void test_syntax_is_checked_without_a_dataset(void)
{
    char   item[3000];
    ct_err err = {0};
    CHECK_OK(ct_theta_options_check(NULL, &err), err);
    CHECK_OK(ct_theta_options_check(&(ct_theta_options){.bound = "a=1:2,b.c=1e-3:1", .tie = "a=b=c", .learn = "a,b",
                                                        .bounds = "0.1:10", .spread = 1},
                                    &err),
             err);
    check_syntax(&(ct_theta_options){.bound = "a=2:1"},
                 "bound is a list of NAME=LO:HI with 0 < LO <= HI, found \"a=2:1\"");
    check_syntax(&(ct_theta_options){.bound = "=1:2"},
                 "bound is a list of NAME=LO:HI with 0 < LO <= HI, found \"=1:2\"");
    check_syntax(&(ct_theta_options){.tie = "a=", .option_prefix = "--"}, "--tie is a list of NAME=NAME, found \"a=\"");
    check_syntax(&(ct_theta_options){.isotropic = "a,,b"}, "isotropic is a list of names, found \"\"");
    check_syntax(&(ct_theta_options){.freeze = "a=b"}, "freeze is a list of names, found \"a=b\"");
    check_syntax(&(ct_theta_options){.bounds = "narrow"},
                 "bounds is dataset, wide, loose, tight or LO:HI with 0 < LO <= HI, found \"narrow\"");
    check_syntax(&(ct_theta_options){.spread = 0.5}, "spread is 0.5; it must be at least 1, infinite for none");
    check_syntax(&(ct_theta_options){.spread = NAN}, "spread is nan");
    memset(item, 'a', sizeof item - 1);
    item[sizeof item - 1] = 0;
    check_syntax(&(ct_theta_options){.learn = item},
                 "learn: an item of the list has at most 2047 bytes, found 2999; name things one by one: \"aaaa");
}

/* An application may have set a locale that writes 0.5 as 0,5; skipped where there is none. */
static void test_bounds_are_parsed_in_any_locale(void)
{
    for (int pass = 0; pass < 2; pass++) {
        double lower = -1, upper = -1;
        if (pass && !setlocale(LC_NUMERIC, "de_DE.UTF-8")) continue;
        CHECK(ct_bounds_parse("wide", &lower, &upper) && lower == CT_BOUND_WIDE_LOWER && upper == CT_BOUND_WIDE_UPPER);
        CHECK(ct_bounds_parse("loose", &lower, &upper) && lower == 1e-3 && upper == 1e3);
        CHECK(ct_bounds_parse("tight", &lower, &upper) && lower == 0.1 && upper == 10);
        CHECK(ct_bounds_parse("0.25:4.5e1", &lower, &upper) && lower == 0.25 && upper == 45);
        static const char *const bad[] = {"",    "dataset", "1",     "1:",    ":1",  "2:1",
                                          "0:1", "-1:1",    "1:inf", "nan:1", "1:2x"};
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) CHECK(!ct_bounds_parse(bad[i], &lower, &upper));
        CHECK(lower == 0.25 && upper == 45); /* as they were */
    }
    setlocale(LC_NUMERIC, "C");
}

/* Numbered models of three groups: a is learned, b frozen by the dataset, c by an option. */
static void test_pooling_takes_the_groups_that_are_learned(void)
{
    begin();
    put("1.ctseq", "covtune-sequence 1\nnoise a#1 isotropic 1 1\nnoise a#2 isotropic 1 3\nnoise b#1 isotropic 1 1\n"
                   "noise c#1 isotropic 1 1\nnoise d#x isotropic 1 1\nvar x R1 0\nfactor prior_r1 a#1 x 0\n"
                   "factor prior_r1 a#2 x 0\nfactor prior_r1 b#1 x 0\nfactor prior_r1 c#1 x 0\n"
                   "factor prior_r1 d#x x 0\n");
    put("dataset.yaml", HEAD "train: [1.ctseq]\ngroups: [{name: b, learn: false}]\n");
    const ct_theta_options options = {.freeze = "c"};
    ct_dataset            *d = must_read(at(""), CT_DATASET_ALL);
    ct_err                 err = {0};
    int32_t               *model = NULL, count = 0;
    CHECK_OK(ct_dataset_pool_learned(d, &options, &model, &count, &err), err);
    CHECK(count == 1 && model && !strcmp(ct_noise_get(d->noise, model[0])->name, "a") &&
          ct_noise_get(d->noise, model[0])->covariance[0] == 2);
    free(model);
    check_parameters(d, &options, "d#x 1e-10 1e+06\na.x 1e-10 1e+06\n");
    CHECK_OK(ct_dataset_pool_learned(d, &options, &model, &count, &err), err);
    CHECK(count == 0 && !model); /* nothing is left to pool */
    CHECK_REFUSED(ct_dataset_pool_learned(d, &(ct_theta_options){.tie = "x"}, &model, &count, &err), err,
                  "tie is a list");
    CHECK(count == 0 && !model);
    ct_dataset_free(d);
}

int main(void)
{
    RUN(test_defaults_are_the_datasets_own);
    RUN(test_lists_choose_models_rows_kinds_and_bounds);
    RUN(test_ties_give_one_parameter);
    RUN(test_the_spread_is_set);
    RUN(test_names_that_select_nothing_are_refused);
    RUN(test_row_names_of_earlier_versions_are_understood);
    RUN(test_ties_of_unequal_groups_are_refused);
    RUN(test_syntax_is_checked_without_a_dataset);
    RUN(test_bounds_are_parsed_in_any_locale);
    RUN(test_pooling_takes_the_groups_that_are_learned);
    return ct_test_end();
}
