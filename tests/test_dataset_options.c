/* test_dataset_options.c: what options say about all sequences or models of a dataset: the sigma of the truth, robust
 * kernels. */
#include "ct_test.h"

#include <covtune/covtune.h>

/* ---- the sigma of the truth ------------------------------------------------------------------ */

static void test_the_sigma_of_the_truth_is_one_number_or_two(void)
{
    double sigma[2];
    ct_err err = {0};
    CHECK_OK(ct_truth_sigma_parse("0.02", "truth-sigma", sigma, &err), err);
    CHECK(sigma[0] == 0.02 && isnan(sigma[1]));
    CHECK_OK(ct_truth_sigma_parse("0,1e-3", "truth-sigma", sigma, &err), err);
    CHECK(sigma[0] == 0 && sigma[1] == 1e-3);
    const char *const BAD[] = {"", ",", "a", "1,", "1,a", "-1", "1,-1", "nan", "1,nan", "inf", "1,2,3", "1 2", "1,2 "};
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        sigma[0] = 7;
        CHECK(ct_truth_sigma_parse(BAD[i], "truth-sigma", sigma, &err) == CT_E_ARGUMENT);
        CHECK(sigma[0] == 7 && strstr(err.text, "truth-sigma is M or M,RAD") && strstr(err.text, BAD[i]));
    }
}

static void test_the_sigma_of_the_truth_is_set_in_every_sequence(void)
{
    ct_dataset *d = NULL;
    ct_err      err = {0};
    CHECK_OK(ct_dataset_new(&d, &err), err);
    d->train = malloc(2 * sizeof *d->train);
    d->test = malloc(1 * sizeof *d->test);
    for (int i = 0; i < 2; i++) CHECK_OK(ct_sequence_new(NULL, &d->train[i], &err), err);
    CHECK_OK(ct_sequence_new(NULL, &d->test[0], &err), err);
    d->trains = 2;
    d->tests = 1;
    d->train[1]->truth_sigma[1] = 0.25;
    CHECK_OK(ct_dataset_set_truth_sigma(d, (const double[]){0.5, NAN}, &err), err);
    for (int i = 0; i < 2; i++) CHECK(d->train[i]->truth_sigma[0] == 0.5);
    CHECK(d->test[0]->truth_sigma[0] == 0.5);
    CHECK(d->train[0]->truth_sigma[1] == 0 && d->train[1]->truth_sigma[1] == 0.25); /* kept */
    CHECK(ct_dataset_set_truth_sigma(d, (const double[]){0.1, -1}, &err) == CT_E_ARGUMENT);
    CHECK(ct_dataset_set_truth_sigma(d, (const double[]){INFINITY, 1}, &err) == CT_E_ARGUMENT);
    CHECK(d->train[0]->truth_sigma[0] == 0.5 && d->train[1]->truth_sigma[1] == 0.25);
    ct_dataset_free(d);
}

/* ---- robust kernels -------------------------------------------------------------------------- */

static ct_noise *make_table(void)
{
    static const char *const NAMES[] = {"odom", "odom@0", "odom#7", "odometer", "gps"};
    ct_noise                *noise = NULL;
    ct_err                   err = {0};
    CHECK_OK(ct_noise_new(&noise, &err), err);
    for (int i = 0; i < 5; i++) CHECK_OK(ct_noise_add_isotropic(noise, NAMES[i], 2, 1, NULL, &err), err);
    CHECK_OK(ct_noise_set_robust(noise, 4, (ct_robust){CT_ROBUST_CAUCHY, 3, 0}, &err), err);
    return noise;
}

/* "h" huber, "c" cauchy, "g" geman_mcclure, "t" tukey, "n" none, of the five. */
static void check_kernels(const char *list, const char *wanted, double width)
{
    ct_noise *noise = make_table();
    ct_err    err = {0};
    CHECK_OK(ct_robust_list_check(list, "--", &err), err);
    CHECK_OK(ct_robust_list_apply(list, "--", noise, &err), err);
    for (int i = 0; i < 5; i++) CHECK(ct_robust_name(ct_noise_get(noise, i)->robust.kind)[0] == wanted[i]);
    CHECK(ct_noise_get(noise, 0)->robust.width == width);
    ct_noise_free(noise);
}

static void test_kernels_are_given_by_model_by_group_and_to_all(void)
{
    check_kernels(NULL, "nnnnc", 0);
    check_kernels("odom=huber:2.5", "hhhnc", 2.5);
    check_kernels("odom=huber", "hhhnc", 1.345);
    check_kernels("odom@0=Tukey", "ntnnc", 0);
    check_kernels("geman-mcclure:0.5", "ggggg", 0.5);
    check_kernels("all=cauchy:1,odom=none", "nnncc", 0);
    check_kernels("odom=none,all=cauchy:1", "ccccc", 1);
    check_kernels("odom=huber:1e6,odometer=tukey:1e-6,gps=none", "hhhtn", 1e6);
}

static void check_refused(const char *list, int syntax, const char *sentence)
{
    ct_noise *noise = make_table();
    ct_err    err = {0};
    CHECK(ct_robust_list_check(list, "--", &err) == (syntax ? CT_E_ARGUMENT : CT_OK));
    CHECK(ct_robust_list_apply(list, "--", noise, &err) == CT_E_ARGUMENT);
    if (strcmp(err.text, sentence)) printf("  found \"%s\"\n", err.text);
    CHECK(!strcmp(err.text, sentence));
    if (syntax) CHECK(ct_noise_get(noise, 0)->robust.kind == CT_ROBUST_NONE); /* nothing was applied */
    ct_noise_free(noise);
}

static void test_a_kernel_list_that_means_nothing_is_refused_with_a_sentence(void)
{
    check_refused("all=huber,odom=hubert", 1,
                  "--robust is one of none, huber, cauchy, geman_mcclure, tukey, max_mixture, found \"hubert\"");
    check_refused("all=huber,odom=tukey:0", 1, "--robust tukey takes a width of 1e-06 to 1e+06 sigmas, found \"0\"");
    check_refused("odom=tukey:nan", 1, "--robust tukey takes a width of 1e-06 to 1e+06 sigmas, found \"nan\"");
    check_refused("odom=huber:1x", 1, "--robust huber takes a width of 1e-06 to 1e+06 sigmas, found \"1x\"");
    check_refused("odom=none:1", 1, "--robust none takes no width, found \"1\"");
    check_refused("=huber", 1, "--robust is a list of NAME=KERNEL[:WIDTH[:RATIO]], found \"=huber\"");
    check_refused("odom=", 1, "--robust is a list of NAME=KERNEL[:WIDTH[:RATIO]], found \"odom=\"");
    check_refused("huber,,cauchy", 1, "--robust is a list of NAME=KERNEL[:WIDTH[:RATIO]], found \"\"");
    check_refused("gp=huber", 0,
                  "--robust gp: there is no such noise model; did you mean gps? There are odom, odom@0, odometer, gps");
    check_refused("gps.0=huber", 0, "--robust gps.0: a kernel is of all rows of a model; name the model");
}

int main(void)
{
    RUN(test_the_sigma_of_the_truth_is_one_number_or_two);
    RUN(test_the_sigma_of_the_truth_is_set_in_every_sequence);
    RUN(test_kernels_are_given_by_model_by_group_and_to_all);
    RUN(test_a_kernel_list_that_means_nothing_is_refused_with_a_sentence);
    return ct_test_end();
}
