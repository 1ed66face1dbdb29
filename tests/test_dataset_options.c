/* test_dataset_options.c: what options say about all sequences or models of a dataset: the sigma of the truth. */
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

int main(void)
{
    RUN(test_the_sigma_of_the_truth_is_one_number_or_two);
    RUN(test_the_sigma_of_the_truth_is_set_in_every_sequence);
    return ct_test_end();
}
