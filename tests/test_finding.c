/* test_finding.c: findings are data; sentences are made of them. */
#include <covtune/finding.h>

#include "ct_test.h"

static void test_every_code_has_a_name_of_its_own_and_is_found_by_it(void)
{
    for (int i = 0; i < CT_FINDING_COUNT; i++) {
        const ct_finding_info *info = ct_finding_get_info((ct_finding_code)i);
        CHECK(info && ct_finding_code_find(info->name) == i);
        CHECK(strspn(info->name, "abcdefghijklmnopqrstuvwxyz_") == strlen(info->name));
        CHECK(strcmp(ct_severity_name(info->severity), "?") && strcmp(ct_topic_name(info->topic), "?"));
    }
    CHECK(!ct_finding_get_info(CT_FINDING_COUNT));
    CHECK(ct_finding_code_find("none") == -1 && ct_finding_code_find(NULL) == -1);
    CHECK(!strcmp(ct_severity_name(CT_SEVERITY_COUNT), "?") && !strcmp(ct_topic_name(CT_TOPIC_COUNT), "?") &&
          !strcmp(ct_subject_kind_name(CT_SUBJECT_COUNT), "?"));
}

static int count_values(int code)
{
    int n = 0;
    while (ct_finding_get_info((ct_finding_code)code)->value[n]) n++;
    return n;
}

/* A place of a template that names no number would stay empty; a number that no place names would be lost. */
static void test_every_sentence_has_all_numbers_and_subjects_and_nothing_else(void)
{
    static const double VALUE[CT_FINDING_VALUES_MAX] = {11, 22, 33, 44, 55, 66};
    for (int code = 0; code < CT_FINDING_COUNT; code++) {
        const ct_finding_info *info = ct_finding_get_info((ct_finding_code)code);
        ct_findings            list = {0};
        ct_err                 err = {0};
        char                   text[2048], number[32];
        int                    places = 0;
        CHECK_OK(ct_findings_add(&list, (ct_finding_code)code, count_values(code), VALUE, &err), err);
        CHECK_OK(ct_findings_add_subject(&list, CT_SUBJECT_PARAMETER, 0, 1, "UP", &err), err);
        CHECK_OK(ct_findings_add_subject(&list, CT_SUBJECT_PARAMETER, 1, -1, "DOWN", &err), err);
        CHECK(ct_finding_text(list.item, text, sizeof text) == (int)strlen(text));
        CHECK(!strpbrk(text, "{}%\n") || strstr(info->text, "%"));
        for (int i = 0; i < count_values(code); i++) {
            snprintf(number, sizeof number, "%g", VALUE[i]);
            CHECK(strstr(text, number));
        }
        for (const char *at = info->text; (at = strchr(at, '{')); at++) {
            int known = !strncmp(at + 1 + (at[1] == '+' || at[1] == '-'), "subjects}", 9);
            for (int i = 0; i < count_values(code); i++) {
                const size_t n = strlen(info->value[i]);
                known = known || (!strncmp(at + 1, info->value[i], n) && strchr(":}", at[1 + n]));
            }
            CHECK(known);
            places++;
        }
        CHECK((strstr(info->text, "subjects}") != NULL) == (strstr(text, "UP") && strstr(text, "DOWN")));
        CHECK(places >= count_values(code));
        ct_findings_free(&list);
    }
}

static void test_the_sentence_names_subjects_by_their_sign(void)
{
    ct_findings list = {0};
    ct_err      err = {0};
    char        text[256], head[8];
    CHECK_OK(ct_findings_add(&list, CT_FINDING_RATIO_UNDETERMINED, 1, (double[]){0.0123}, &err), err);
    CHECK_OK(ct_findings_add_subject(&list, CT_SUBJECT_PARAMETER, 2, -1, "gps.yaw", &err), err);
    CHECK_OK(ct_findings_add_subject(&list, CT_SUBJECT_PARAMETER, 0, 1, "odom.x", &err), err);
    CHECK_OK(ct_findings_add_subject(&list, CT_SUBJECT_PARAMETER, 1, 1, "odom.y", &err), err);
    const int length = ct_finding_text(list.item, text, sizeof text);
    CHECK(!strncmp(text, "odom.x, odom.y against gps.yaw: ", 32) && strstr(text, " 0.012 %"));
    CHECK(ct_finding_text(list.item, head, sizeof head) == length && !strcmp(head, "odom.x,"));
    CHECK(ct_finding_text(list.item, NULL, 0) == length);
    for (int i = 0; i < 20; i++)
        CHECK_OK(ct_findings_add_subject(&list, CT_SUBJECT_PARAMETER, 3 + i, 1, "b", &err), err);
    ct_finding_text(list.item, text, sizeof text);
    CHECK(strstr(text, " and 10 more against gps.yaw"));
    ct_findings_free(&list);
    CHECK(list.count == 0 && !list.item);
    ct_findings_free(&list);
    ct_findings_free(NULL);
}

static void test_a_remark_with_an_unknown_number_is_left_out(void)
{
    ct_findings  list = {0};
    char         text[512];
    const double known[] = {0.8, 15, 3, 34}, unknown[] = {0.8, 15, NAN, 34};
    CHECK(ct_findings_add(&list, CT_FINDING_ERRORS_AUTOCORRELATED, 4, known, NULL) == CT_OK);
    CHECK(ct_findings_add(&list, CT_FINDING_ERRORS_AUTOCORRELATED, 4, unknown, NULL) == CT_OK);
    ct_finding_text(&list.item[0], text, sizeof text);
    CHECK(strstr(text, "15 measurements (3 s). White"));
    ct_finding_text(&list.item[1], text, sizeof text);
    CHECK(strstr(text, "15 measurements. White"));
    ct_findings_free(&list);
}

static void test_more_than_99_percent_has_no_exponent(void)
{
    static const struct {
        double      share;
        const char *wanted;
    } CASE[] = {{4.44, "varies by 4.4 % "}, {99.9, "varies by 100 % "}, {180, "varies by 180 % "},
                {1e-7, "varies by 1e-07 % "}, {2e9, "varies by 2e+09 % "}};
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        ct_findings list = {0};
        ct_err err = {0};
        char text[512];
        const double value[] = {CASE[i].share, 3};
        CHECK_OK(ct_findings_add(&list, CT_FINDING_ESTIMATOR_NOISY, 2, value, &err), err);
        ct_finding_text(&list.item[0], text, sizeof text);
        CHECK(strstr(text, CASE[i].wanted) != NULL);
        ct_findings_free(&list);
    }
}

static void test_what_is_no_finding_is_refused(void)
{
    ct_findings list = {0};
    ct_err      err = {0};
    CHECK_REFUSED(ct_findings_add(&list, CT_FINDING_COUNT, 0, NULL, &err), err, "is none");
    CHECK_REFUSED(ct_findings_add(&list, CT_FINDING_NOT_A_MINIMUM, 0, NULL, &err), err, "has 1 values, found 0");
    CHECK_REFUSED(ct_findings_add_subject(&list, CT_SUBJECT_MODEL, 0, 0, "a", &err), err, "needs a finding");
    CHECK(list.count == 0 && ct_findings_find(&list, CT_FINDING_NO_SAMPLES) == -1);
}

static ct_status add(ct_findings *list, ct_finding_code code, double value, const char *name, ct_err *err)
{
    const ct_status status = ct_findings_add(list, code, 1, &value, err);
    return status == CT_OK ? ct_findings_add_subject(list, CT_SUBJECT_PARAMETER, -1, 0, name, err) : status;
}

static ct_status fill(ct_findings *list, ct_err *err)
{
    static const struct {
        double      value;
        const char *name;
    } LINE[] = {{0.0121, "a"}, {0.5, "b"}, {0.0119, "c"}, {0.0131, "d"}, {NAN, "e"}, {NAN, "f"}};
    ct_status status = ct_findings_add(list, CT_FINDING_SCALE_UNDETERMINED, 0, NULL, err);
    for (size_t i = 0; status == CT_OK && i < sizeof LINE / sizeof *LINE; i++)
        status = add(list, CT_FINDING_PARAMETER_UNDETERMINED, LINE[i].value, LINE[i].name, err);
    return status;
}

static void test_findings_that_differ_in_their_subject_alone_are_joined(void)
{
    ct_findings list = {0}, joined;
    ct_err      err = {0};
    CHECK_OK(fill(&list, &err), err);
    CHECK_OK(ct_findings_join(&list, &joined, &err), err);
    CHECK(list.count == 7 && joined.count == 5);
    CHECK(joined.item[0].code == CT_FINDING_SCALE_UNDETERMINED && joined.item[0].subjects == 0);
    CHECK(joined.item[1].subjects == 2 && !strcmp(joined.item[1].subject[1].name, "c"));
    CHECK(joined.item[2].subjects == 1 && joined.item[2].value[0] == 0.5);
    CHECK(joined.item[3].subjects == 1 && joined.item[4].subjects == 2);
    CHECK(ct_findings_find(&joined, CT_FINDING_PARAMETER_UNDETERMINED) == 1);
    ct_findings_free(&list);
    ct_findings_free(&joined);
}

int main(void)
{
    RUN(test_every_code_has_a_name_of_its_own_and_is_found_by_it);
    RUN(test_every_sentence_has_all_numbers_and_subjects_and_nothing_else);
    RUN(test_the_sentence_names_subjects_by_their_sign);
    RUN(test_a_remark_with_an_unknown_number_is_left_out);
    RUN(test_more_than_99_percent_has_no_exponent);
    RUN(test_what_is_no_finding_is_refused);
    RUN(test_findings_that_differ_in_their_subject_alone_are_joined);
    return ct_test_end();
}
