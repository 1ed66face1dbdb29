/* test_export_rounding.c: exports have as many digits as mean something. */
#define _XOPEN_SOURCE 700
#include "export_test.h"

/* Seventeen digits of a variance that is known to some percent are noise; a rounded matrix must still be the same
 * one. */
static void test_digits_that_mean_nothing_are_left_out(void)
{
    for (uint64_t seed = 0; seed < 60; seed++) {
        ct_err    err = {0};
        ct_noise *noise = one_model("edge", "x y yaw", 3, (ct_noise_kind)(seed % 3), seed);
        const double near[9] = {
            1, 1 - pow(10, -1.0 - (double)seed / 6), 0, 1 - pow(10, -1.0 - (double)seed / 6), 1, 0, 0, 0, 1.0 / 3};
        if (seed % 3 == CT_NOISE_FULL) CHECK_OK(ct_noise_set_covariance(noise, 0, near, &err), err);
        const ct_noise_model *m = ct_noise_get(noise, 0);
        char                 *text = export_with(noise, &(ct_export_options){.digits = 6}, CT_EXPORT_C, &err);
        double                v[16], S[9];
        CHECK(text && numbers_between(text, "_variance[3] = {", "}", 3, v) == 3);
        for (int i = 0; i < 3; i++) {
            char six[32];
            snprintf(six, sizeof six, "%.5e", entry(m, i, i));
            CHECK(v[i] == strtod(six, NULL));
        }
        if (seed % 3 == CT_NOISE_FULL) {
            CHECK(text && numbers_between(text, "_covariance[9] = {", "}", 9, S) == 9);
            /* the variance of x - y, which lives in the last digits */
            CHECK_NEAR((S[0] - S[1]) / (near[0] - near[1]), 1, 2e-4);
        }
        free(text);
        ct_noise_free(noise);
    }
}

int main(void)
{
    RUN(test_digits_that_mean_nothing_are_left_out);
    return ct_test_end();
}
