/* test_dataset_theta.c: what a dataset says is learned. */
#define _XOPEN_SOURCE 700
#include "dataset_test.h"

/* What theta says of its parameters: "name lower upper" a line. */
static const char *told(const ct_theta *theta)
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

static void check_theta(const char *yaml, const char *wanted)
{
    ct_theta *theta = NULL;
    ct_err    err = {0};
    if (yaml) put("dataset.yaml", yaml);
    ct_dataset *d = must_read(at(""), CT_DATASET_ALL);
    CHECK_OK(ct_dataset_theta(d, NULL, &theta, &err), err);
    if (theta && strcmp(told(theta), wanted)) {
        ct_test_failed_checks++;
        fprintf(stderr, "wanted\n%sfound\n%s", wanted, told(theta));
    }
    ct_theta_free(theta);
    ct_dataset_free(d);
}

/* Every kind, a model of test runs alone, one that nothing uses, and the prior that is no sensor's. */
static void put_models(void)
{
    const char *text = "covtune-sequence 1\nnoise first_pose isotropic 3 1e-6\nnoise odom@0 diagonal 1 2 3\nnoise gps "
                       "full 1 0.5 0.5 1\nnoise unused isotropic 2 1\n%s"
                       "var a SE2 0 0 0\nvar b SE2 1 0 0\nfactor prior_se2 first_pose a 0 0 0\nfactor between_se2 "
                       "odom@0 a b 1 0 0\nfactor position_se2 gps b 1 0\n%s";
    char        one[1000];
    begin();
    folder("train");
    folder("test");
    snprintf(one, sizeof one, text, "noise range isotropic 1 1\nvar l R2 0 0\n", "factor range_se2_r2 range a l 2\n");
    put("train/1.ctseq", one);
    snprintf(one, sizeof one, text, "noise late isotropic 2 1\n", "factor position_se2 late a 1 0\n");
    put("test/2.ctseq", one);
}

static void test_rows_are_named_from_the_factors_of_both_parts(void)
{
    put_models();
    ct_dataset *d = must_read(at(""), CT_DATASET_ALL);
    for (int32_t i = 0; i < ct_noise_count(d->noise); i++)
        CHECK(!ct_noise_get(d->noise, i)->row == !strcmp(ct_noise_get(d->noise, i)->name, "unused"));
    const ct_noise_model *late = ct_noise_get(d->noise, ct_noise_find(d->noise, "late"));
    CHECK(!strcmp(late->row[1].name, "y") && !strcmp(late->row[1].unit, "m"));
    ct_dataset_free(d);
}

static void test_what_training_runs_use_is_learned_as_it_is(void)
{
    put_models();
    check_theta(NULL, "odom@0.x 1e-10 1e+06\nodom@0.y 1e-10 1e+06\nodom@0.yaw 1e-10 1e+06\ngps[x,x] 1e-10 "
                      "1e+06\ngps[x,y] 1e-10 1e+06\ngps[y,y] 1e-10 1e+06\nrange 1e-10 1e+06\n");
}

static void test_a_dataset_says_what_is_learned_as_what_and_between_which_bounds(void)
{
    put_models();
    check_theta(HEAD "train: [train/1.ctseq]\ngroups: [{name: odom, lower: [1e-3, 1e-2, 1e-1], kind: diagonal}, {name: "
                     "gps, learn: false}, {name: range, learn: false}]\n",
                "odom@0.x 0.001 1e+06\nodom@0.y 0.01 1e+06\nodom@0.yaw 0.1 1e+06\n");
    check_theta(HEAD "train: [train/1.ctseq]\ngroups: [{name: odom, lower: [1e-3, 1e-4, 1e-1], upper: [7, 8, 9], kind: "
                     "isotropic}, {name: gps, kind: diagonal, bounds: [1, 2]},"
                     " {name: range, learn: false}, {name: first_pose}]\n",
                "first_pose 1e-10 1e+06\nodom@0 0.0001 9\ngps.x 1 2\ngps.y 1 2\n");
    put("dataset.yaml", HEAD "train: [train/1.ctseq]\ngroups: [{name: odom, lower: [1e7]}]\n");
    ct_dataset *d = must_read(at(""), CT_DATASET_ALL);
    ct_theta   *theta = NULL;
    ct_err      err = {0};
    CHECK_REFUSED(ct_dataset_theta(d, NULL, &theta, &err), err, "odom@0: lower bound 1e+07 is above upper bound 1e+06");
    CHECK(!theta);
    ct_dataset_free(d);
}

/* Bounds are said in units and stay the numbers that they are; what is frozen has none. */
static void test_a_dataset_says_units(void)
{
    put_models();
    put("dataset.yaml", HEAD "train: [train/1.ctseq]\ngroups: [{name: odom, unit: [0.1, 0.2, 0.3], bounds: [0.1, 10]}, "
                             "{name: gps, unit: [0.5]}, {name: range, learn: false, unit: [3]}]\n");
    ct_dataset *d = must_read(at(""), CT_DATASET_ALL);
    ct_theta   *theta = NULL;
    ct_err      err = {0};
    CHECK_OK(ct_dataset_theta(d, NULL, &theta, &err), err);
    const int32_t odom = ct_noise_find(d->noise, "odom@0"), gps = ct_noise_find(d->noise, "gps"),
                  range = ct_noise_find(d->noise, "range");
    CHECK(!strcmp(told(theta), "odom@0.x 0.1 10\nodom@0.y 0.1 10\nodom@0.yaw 0.1 10\ngps[x,x] 1e-10 1e+06\ngps[x,y] "
                               "1e-10 1e+06\ngps[y,y] 1e-10 1e+06\n"));
    CHECK(ct_theta_unit(theta, odom, 0) == 0.1 && ct_theta_unit(theta, odom, 2) == 0.3 &&
          ct_theta_unit(theta, gps, 1) == 0.5 && ct_theta_unit(theta, range, 0) == 1 && ct_theta_has_units(theta));
    CHECK(ct_dataset_group_of(d, odom).unit[1] == 0.2 &&
          ct_dataset_group_of(d, ct_noise_find(d->noise, "first_pose")).unit[0] == 1);
    ct_theta_free(theta);
    ct_dataset_free(d);
    put("dataset.yaml", HEAD "train: [train/1.ctseq]\ngroups: [{name: odom, unit: [1e-60]}]\n");
    d = must_read(at(""), CT_DATASET_ALL);
    CHECK_REFUSED(ct_dataset_theta(d, NULL, &theta, &err), err,
                  "odom@0.x: its unit is 1e-60; it must lie between 1e-50 and 1e+50");
    CHECK(!theta);
    ct_dataset_free(d);
}

static void test_what_a_dataset_says_of_a_model_has_no_gaps(void)
{
    put_models();
    put("dataset.yaml", HEAD "train: [train/1.ctseq]\ngroups: [{name: odom, lower: [1, 2, 3]}]\n");
    ct_dataset            *d = must_read(at(""), CT_DATASET_ALL);
    const ct_dataset_group odom = ct_dataset_group_of(d, ct_noise_find(d->noise, "odom@0")),
                           first = ct_dataset_group_of(d, ct_noise_find(d->noise, "first_pose"));
    CHECK(odom.name == d->group[0].name && odom.learn && odom.kind == CT_NOISE_DIAGONAL && odom.lower[2] == 3 &&
          odom.lower[3] == CT_BOUND_WIDE_LOWER && odom.upper[0] == CT_BOUND_WIDE_UPPER);
    CHECK(!first.name && !first.learn && first.kind == CT_NOISE_ISOTROPIC && first.lower[0] == CT_BOUND_WIDE_LOWER);
    ct_dataset_free(d);
}

int main(void)
{
    RUN(test_rows_are_named_from_the_factors_of_both_parts);
    RUN(test_what_training_runs_use_is_learned_as_it_is);
    RUN(test_a_dataset_says_what_is_learned_as_what_and_between_which_bounds);
    RUN(test_a_dataset_says_units);
    RUN(test_what_a_dataset_says_of_a_model_has_no_gaps);
    return ct_test_end();
}
