/* test_warnings.c: findings that no user of a result may miss. */
#include "learn/learn.h"
#include "learn_test.h"

static double value_of(const ct_learn_result *r, ct_finding_code code, int k)
{
    const int32_t i = ct_findings_find(&r->findings, code);
    return i < 0 ? NAN : r->findings.item[i].value[k];
}

/* Runs named as parts of one recording are one, and folds are blocks of it. */
static void test_sequences_of_one_recording_are_told_of(void)
{
    for (int parts = 0; parts < 2; parts++) {
        lesson l = begin("D1", 4, 60, 5, 1e-6, 1e6);
        for (int i = 0; i < l.runs; i++) {
            char name[32];
            snprintf(name, sizeof name, parts ? "drive-part%d" : "drive%d", i);
            free(l.seq[i]->name);
            l.seq[i]->name = memcpy(malloc(sizeof name), name, sizeof name);
        }
        ct_learn_result r = learn(&l, NULL);
        CHECK(r.recordings == (parts ? 1 : 4));
        const double told = value_of(&r, CT_FINDING_ONE_RECORDING, 0);
        CHECK(parts ? told == 4 : isnan(told));
        ct_learn_result_free(&r);
        lesson_free(&l);
    }
}

/* A result with numbers set by hand. */
static ct_learn_result warned(lesson *l, ct_learn_result r, double standard_error)
{
    ct_learn_options options = ct_learn_defaults();
    double           errors[6] = {standard_error, 0.1, 0.1, 0.1, NAN, 0.1};
    r.parameters = 6;
    r.standard_error = errors;
    ct__learning m = {.objective = {.outer = l->outer, .options = &options, .result = &r, .err = &l->err}};
    CHECK_OK(ct__warn(&m), l->err);
    r.standard_error = NULL;
    return r;
}

/* Start values chosen or not: the gain over them is within its standard error, or not. */
static void test_a_gain_within_its_error_is_told_of(void)
{
    lesson l = begin("D1", 3, 40, 5, 1e-6, 1e6);
    for (int k = 0; k < 4; k++) {
        const int       kept = k < 2;
        const double    gain = k % 2 ? 0.3 : 0.05, error = 0.1;
        ct_learn_result r = {.candidates = 2};
        r.candidate[0] = (ct_learn_candidate){.prior = INFINITY, .chosen = !kept, .log_ratio = kept ? -gain : 0};
        r.candidate[1] = (ct_learn_candidate){.prior = NAN, .chosen = kept, .log_ratio = kept ? 0 : gain};
        r.candidate[!kept].log_ratio_error = error;
        r = warned(&l, r, 0.1);
        if (k % 2) CHECK(isnan(value_of(&r, CT_FINDING_GAIN_WITHIN_ERROR, 0)));
        else {
            CHECK_NEAR(value_of(&r, CT_FINDING_GAIN_WITHIN_ERROR, 0), 100 * (1 - exp(-gain)), 1e-9);
            CHECK_NEAR(value_of(&r, CT_FINDING_GAIN_WITHIN_ERROR, 1), 100 * exp(-gain) * error, 1e-9);
        }
        ct_findings_free(&r.findings);
    }
    lesson_free(&l);
}

static void test_large_error_bars_and_too_many_parameters_are_told_of(void)
{
    lesson          l = begin("D1", 3, 40, 5, 1e-6, 1e6);
    ct_learn_result small = warned(&l, (ct_learn_result){0}, 0.9), r = {0};
    CHECK(ct_findings_find(&small.findings, CT_FINDING_LARGE_ERROR_BARS) < 0);
    CHECK(ct_findings_find(&small.findings, CT_FINDING_TOO_MANY_PARAMETERS) < 0);
    CHECK_OK(ct_findings_add(&r.findings, CT_FINDING_RATIO_UNDETERMINED, 1, (const double[]){0.1}, &l.err), l.err);
    r = warned(&l, r, 1.4);
    const int32_t i = ct_findings_find(&r.findings, CT_FINDING_LARGE_ERROR_BARS);
    CHECK(i >= 0 && r.findings.item[i].subjects == 1 && r.findings.item[i].subject->index == 0);
    CHECK_NEAR(value_of(&r, CT_FINDING_LARGE_ERROR_BARS, 0), 70, 1e-12);
    CHECK(value_of(&r, CT_FINDING_TOO_MANY_PARAMETERS, 0) == 5 && value_of(&r, CT_FINDING_TOO_MANY_PARAMETERS, 1) == 6);
    ct_findings_free(&small.findings);
    ct_findings_free(&r.findings);
    lesson_free(&l);
}

/* Errors that last, under the scale of residuals. */
static void test_nees_above_three_after_the_scale_is_told_of(void)
{
    lesson           l = biased_lesson(6, 0, 0.02);
    ct_learn_options options = ct_learn_defaults();
    options.scale_from = CT_SCALE_FROM_CHI2;
    options.method = CT_LEARN_CLOSED_FORM;
    ct_learn_result r = learn(&l, &options);
    CHECK(r.nees_after > 3);
    /* residuals may have their expected size or not */
    const int mismatch = ct_findings_find(&r.findings, CT_FINDING_MODEL_MISMATCH) >= 0;
    CHECK_NEAR(value_of(&r, mismatch ? CT_FINDING_MODEL_MISMATCH : CT_FINDING_SCALE_IS_OFF, 1), r.nees_after, 1e-9);
    ct_learn_result_free(&r);
    lesson_free(&l);
}

int main(void)
{
    RUN(test_sequences_of_one_recording_are_told_of);
    RUN(test_a_gain_within_its_error_is_told_of);
    RUN(test_large_error_bars_and_too_many_parameters_are_told_of);
    RUN(test_nees_above_three_after_the_scale_is_told_of);
    return ct_test_end();
}
