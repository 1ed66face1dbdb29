/* test_expression.c: expressions over the fields of a record. */
#include "ct_test.h"
#include "source/expression.h"

/* Fields x = 3, y = -2, n missing, id 7 (integer), tag "ODOM" (text). */
static const char *const field[] = {"x", "y", "n", "id", "tag", "Time [s]", "^.t", "#3", "a.b[2].c"};
static const ct__value value[] = {{.kind = CT__VALUE_NUMBER, .number = 3},
                                  {.kind = CT__VALUE_NUMBER, .number = -2},
                                  {.kind = CT__VALUE_MISSING},
                                  {.kind = CT__VALUE_INTEGER, .integer = 7},
                                  {.kind = CT__VALUE_TEXT, .length = 4, .text = "ODOM and more"},
                                  {.kind = CT__VALUE_NUMBER, .number = 11},
                                  {.kind = CT__VALUE_TIME, .integer = 1500000000},
                                  {.kind = CT__VALUE_NUMBER, .number = 33},
                                  {.kind = CT__VALUE_NUMBER, .number = 0.5}};
#define FIELDS (int)(sizeof field / sizeof *field)

static ct_status bind(void *user, const char *name, ct__as as, int32_t *slot, ct_err *err)
{
    (void)user;
    if (as == CT__AS_NUMBER && !strcmp(name, "tag")) return ct_fail(err, CT_E_ARGUMENT, "\"tag\" is text");
    *slot = ct__find_name(name, field, FIELDS);
    return *slot < 0 ? ct_fail(err, CT_E_ARGUMENT, "no field %s", name) : CT_OK;
}

static int is_text(void *user, const char *name)
{
    (void)user;
    return !strcmp(name, "tag");
}

static ct_status constant(void *user, const char *name, const char **out, ct_err *err)
{
    (void)user, (void)err;
    *out = !strcmp(name, "robot") ? "7" : !strcmp(name, "kind") ? "ODOM" : NULL;
    return CT_OK;
}

static const ct__scope scope = {NULL, bind, is_text, constant};

static double eval(const char *text)
{
    ct_err err = {0};
    ct__expression *e = NULL;
    double out = -12345;
    CHECK_OK(ct__expression_new(text, &scope, &e, &err), err);
    if (e) CHECK_OK(ct__expression_value(e, value, &out, &err), err);
    ct__expression_free(e);
    return out;
}

static void test_operators_have_the_precedence_of_the_header(void)
{
    CHECK(eval("1 + 2 * 3") == 7 && eval("(1 + 2) * 3") == 9 && eval("8 / 4 / 2") == 1 && eval("8 - 4 - 2") == 2);
    CHECK(eval("-2^2") == -4 && eval("2^-1") == 0.5 && eval("2^3^2") == 512 && eval("(-2)^2") == 4 &&
          eval("- -3") == 3);
    CHECK(eval("not 1 == 2") == 1 && eval("not 0 and 0") == 0 && eval("1 or 0 and 0") == 1 && eval("1 + 1 == 2") == 1);
    CHECK(eval("x") == 3 && eval("x*y") == -6 && eval("x*-y") == 6 && eval("-x^2") == -9 && eval("+x") == 3);
    CHECK(eval("7 % 3") == 1 && eval("-7 % 3") == 2 && eval("7 % -3") == -2 && eval("5.5 % 2") == 1.5);
    CHECK(eval("x < 4 and y < 0") == 1 && eval("x >= 3") == 1 && eval("x > 3") == 0 && eval("x != 3") == 0);
}

static void test_names_are_columns_paths_and_what_backquotes_hold(void)
{
    CHECK(eval("`Time [s]` + 1") == 12 && eval("^.t") == 1.5 && eval("x^.5") == sqrt(3) && eval("#3") == 33);
    CHECK(eval("x * ^.t") == 4.5 && eval("a.b[2].c") == 0.5 && eval("id") == 7 && eval("`x`") == 3);
    CHECK(eval("pi") == 3.14159265358979323846 && eval("robot * 2") == 14);
}

static void test_functions(void)
{
    CHECK(eval("abs(y)") == 2 && eval("sqrt(4)") == 2 && eval("min(3, 1, 2)") == 1 && eval("max(1, 5, 2, 4)") == 5);
    CHECK(eval("hypot(3, 4)") == 5 && eval("atan2(1, -1)") == atan2(1, -1) && eval("round(2.5)") == 3);
    CHECK(eval("floor(-0.5)") == -1 && eval("exp(log(2))") == exp(log(2)) && eval("isnan(n)") == 1 &&
          eval("isnan(x)") == 0);
    CHECK(eval("sin(1)^2 + cos(1)^2 - tan(asin(0)) - acos(1) - atan(0)") == sin(1) * sin(1) + cos(1) * cos(1));
}

static void test_missing_values_make_nan_and_false_comparisons(void)
{
    CHECK(isnan(eval("n")) && isnan(eval("n + 1")) && isnan(eval("n^0")) && isnan(eval("1^n")) &&
          isnan(eval("min(n, 1)")));
    CHECK(isnan(eval("hypot(n, 1/0)")) && isnan(eval("not n")) && isnan(eval("n and 0")));
    CHECK(eval("n < 1") == 0 && eval("n == n") == 0 && eval("n != 1") == 0 && eval("not (n < 1)") == 1);
}

static void test_text_is_compared(void)
{
    CHECK(eval("tag == 'ODOM'") == 1 && eval("'ODOM' == tag") == 1 && eval("tag != 'ODOM'") == 0 &&
          eval("tag == \"EDGE\"") == 0);
    CHECK(eval("tag == kind") == 1 && eval("tag == tag") == 1 && eval("id == '7'") == 1 && eval("id == '7.0'") == 1);
    CHECK(eval("id == '07'") == 1 && eval("id == '8'") == 0 && eval("id == robot") == 1 && eval("tag == robot") == 0);
    CHECK(eval("n == ''") == 1 && eval("tag == 'ODOM' and x == 3") == 1 && eval("'a' == 'a'") == 1 &&
          eval("tag == 7") == 0);
}

static void test_units_multiply(void)
{
    CHECK(eval("x in deg") == 3 * 0.017453292519943295 && eval("x + 1 in km/h") == 4 * (1000.0 / 3600));
    CHECK_NEAR(eval("1 in m/s^2"), 1, 0);
    CHECK_NEAR(eval("1 in km^2"), 1e6, 0);
    CHECK_NEAR(eval("1 in s^-1"), 1, 0);
    CHECK_NEAR(eval("36 in km*h^-1"), 10, 1e-14);
    CHECK_NEAR(eval("2 in g"), 19.6133, 1e-14);
    CHECK_NEAR(eval("50 in %"), 0.5, 0);
    CHECK_NEAR(eval("3 in 1/min"), 0.05, 1e-17);
    CHECK_NEAR(eval("(x in mm) + (x in km)"), 3000.003, 1e-12);
    CHECK_NEAR(eval("hypot(x in cm, 4 in cm)"), 0.05, 1e-17);
    CHECK_NEAR(eval("1 in in"), 0.0254, 0);
}

static void refused(const char *text, const char *part)
{
    ct_err err = {0};
    ct__expression *e = NULL;
    CHECK_REFUSED(ct__expression_new(text, &scope, &e, &err), err, part);
    CHECK(!e);
}

static void test_mistakes_are_named_with_their_place(void)
{
    refused("", "character 1: expected a value, found the end");
    refused("1 +* 2", "character 4: expected a value, found \"*\"");
    refused("(1 + 2", "expected an operator or \")\", found the end");
    refused("1 2", "character 3: expected an operator or the end, found \"2\"");
    refused("x = 3", "character 3: expected an operator or the end, found \"=\"; equality is ==");
    refused("sinn(1)", "no function \"sinn\"; is it \"sin\"?");
    refused("sin(1, 2)", "sin takes 1 argument, found 2");
    refused("atan2(1)", "atan2 takes 2 arguments, found 1");
    refused("min(1)", "min takes at least 2 arguments, found 1");
    refused("x in degg", "no unit \"degg\"; is it \"deg\"?");
    refused("x in", "a unit is missing");
    refused("x in m^x", "the power of a unit");
    refused("x in m^2.5", "the power of a unit");
    refused("x in m m", "expected an operator or the end");
    refused("tag + 1", "\"tag\" is text");
    refused("tag", "\"tag\" is text");
    refused("'a' + 1", "a number is needed here");
    refused("tag == 1 + 1", "not with what is computed");
    refused("tag < 'a'", "is text");
    refused("`x", "without its partner");
    refused("'x", "without its partner");
    refused("1 < 2 < 3", "joined by \"and\"");
    refused("nope", "no field nope");
    refused("x ? 1", "found \"?\"");
    refused("x and", "expected a value, found the end");
    refused("in m", "expected a value, found \"in\"");
}

/* A thousand brackets are refused, not a stack overflow; what is within the limit is computed. */
static void test_nesting_has_a_limit(void)
{
    for (int depth = 1; depth <= 3000; depth = depth * 3 / 2 + 1) {
        char open[] = "(-~^";
        for (int kind = 0; kind < 4; kind++) {
            char text[CT__EXPRESSION_MAX * 4], *at = text;
            for (int i = 0; i < depth; i++) at += sprintf(at, "%s", (const char *[]){"(", "-", "1+(", "1^"}[kind]);
            at += sprintf(at, "1");
            for (int i = 0; i < depth && (open[kind] == '(' || open[kind] == '~'); i++) *at++ = ')';
            *at = 0;
            ct_err err = {0};
            ct__expression *e = NULL;
            double out;
            if (ct__expression_new(text, &scope, &e, &err) == CT_OK)
                CHECK_OK(ct__expression_value(e, value, &out, &err), err);
            else
                CHECK(depth > 20 && (strstr(err.text, "deep") || strstr(err.text, "longer than")));
            CHECK(depth > 20 || e);
            ct__expression_free(e);
        }
    }
}

int main(void)
{
    RUN(test_operators_have_the_precedence_of_the_header);
    RUN(test_names_are_columns_paths_and_what_backquotes_hold);
    RUN(test_functions);
    RUN(test_missing_values_make_nan_and_false_comparisons);
    RUN(test_text_is_compared);
    RUN(test_units_multiply);
    RUN(test_mistakes_are_named_with_their_place);
    RUN(test_nesting_has_a_limit);
    return ct_test_end();
}
