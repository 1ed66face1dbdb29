/* test_config.c: places in templates, YAML and files of key = value; numbers as they are written. */
#include "config_test.h"

#include <locale.h>

#include "config/config.h"

/* ---- numbers ---- */

static void test_numbers_are_read_back_as_the_same_double(void)
{
    ct_rng rng = ct_rng_seed(3);
    char buf[40];
    for (int i = 0; i < 200000; i++) {
        const uint64_t bits = ct_rng_bits(&rng);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (i & 1) value = ct_rng_normal(&rng) * pow(10, 20 * ct_rng_uniform(&rng) - 10);
        if (!isfinite(value)) continue;
        CHECK(strtod(ct__config_format_number(value, buf), NULL) == value);
        /* digits, a point, digits, and an exponent with its sign: YAML 1.1, TOML, JSON, C, Python */
        size_t at = buf[0] == '-';
        const size_t whole = strspn(buf + at, "0123456789");
        CHECK(whole > 0 && buf[at + whole] == '.');
        at += whole + 1;
        const size_t part = strspn(buf + at, "0123456789");
        CHECK(part > 0);
        at += part;
        if (buf[at])
            CHECK(buf[at] == 'e' && strchr("+-", buf[at + 1]) &&
                  strspn(buf + at + 2, "0123456789") == strlen(buf + at + 2));
    }
    CHECK(!strcmp(ct__config_format_number(1e-5, buf), "1.0e-05"));
    CHECK(!strcmp(ct__config_format_number(3, buf), "3.0"));
    CHECK(!strcmp(ct__config_format_number(-1e22, buf), "-1.0e+22"));
    CHECK(!strcmp(ct__config_format_number(0.1, buf), "0.1"));
    CHECK(!strcmp(ct__config_format_number(2.5e-300, buf), "2.5e-300"));
}

static int number(ct_config_format format, const char *text, double wanted)
{
    double value = NAN;
    return ct__config_is_number(format, text, strlen(text), &value) && value == wanted;
}

static void test_what_is_a_number(void)
{
    double value;
    CHECK(number(CT_CONFIG_YAML, "1_000.5", 1000.5) && number(CT_CONFIG_TOML, "1_0", 10));
    CHECK(number(CT_CONFIG_INI, "007", 7) && number(CT_CONFIG_INI, "+.5", 0.5) && number(CT_CONFIG_INI, "5.", 5));
    CHECK(number(CT_CONFIG_YAML, "1e-5", 1e-5) && number(CT_CONFIG_YAML, "0.10", 0.1) &&
          number(CT_CONFIG_YAML, "0", 0));
    static const char *const NONE[] = {"",    "nan",  "inf", ".inf", "1e999", "0x10", "1:30", "true",       "1,5",
                                       "1 2", "0.1f", "e5",  ".",    "1e",    "--1",  "1_",   "2020-01-01", "{{q}}"};
    for (size_t i = 0; i < sizeof NONE / sizeof *NONE; i++)
        CHECK(!ct__config_is_number(CT_CONFIG_YAML, NONE[i], strlen(NONE[i]), &value));
    CHECK(!ct__config_is_number(CT_CONFIG_YAML, "010", 3, &value)); /* 8 or 10 */
    CHECK(!ct__config_is_number(CT_CONFIG_INI, "1_000", 5, &value));
}

static void test_a_locale_changes_nothing(void)
{
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8") && !setlocale(LC_NUMERIC, "fr_FR.UTF-8")) SKIP("no locale with a comma");
    CHECK_SET(CT_CONFIG_YAML, "q: 0.5\n", "q", 0.25, "q: 0.25\n");
    CHECK_SET(CT_CONFIG_YAML, "q: 0.50\n", "q", 0.5, "q: 0.50\n");
    setlocale(LC_NUMERIC, "C");
}

/* ---- formats ---- */

static ct_config_format detected(const char *name, const char *text)
{
    ct_err err = {0};
    ct_config *c = NULL;
    if (ct_config_parse(text, strlen(text), name, CT_CONFIG_AUTO, &c, &err) != CT_OK) return CT_CONFIG_AUTO;
    const ct_config_format format = ct_config_format_of(c);
    ct_config_free(c);
    return format;
}

static void test_the_format_is_told_by_placeholders_then_ending_then_content(void)
{
    CHECK(detected("a.yaml", "q: {{q}}\n") == CT_CONFIG_TEMPLATE);
    CHECK(detected("a.yaml", "q: 1\n") == CT_CONFIG_YAML && detected("A.YML", "q: 1\n") == CT_CONFIG_YAML);
    CHECK(detected("a.conf", "q =1\n") == CT_CONFIG_INI && detected("a.cfg", "{\"q\": 1}") == CT_CONFIG_JSON);
    CHECK(detected("a", "<q/>") == CT_CONFIG_XML && detected("a.launch", "<q/>") == CT_CONFIG_XML);
    CHECK(detected("a.toml", "q = 1") == CT_CONFIG_TOML && detected("a", "// c\n{}") == CT_CONFIG_JSON);
    CHECK(detected("a", "# c\n\nq = 1\n") == CT_CONFIG_INI && detected("a", "[s]\nq: 1\n") == CT_CONFIG_INI);
    CHECK(detected("a.txt", "# c\nq: 1\n") == CT_CONFIG_YAML &&
          detected("a.txt", "%YAML:1.0\n---\nq: 1\n") == CT_CONFIG_YAML);
    CHECK(detected("a.txt", "a word\n") == CT_CONFIG_AUTO && detected("a.txt", "") == CT_CONFIG_AUTO);
    for (int f = 0; f < CT_CONFIG_FORMAT_COUNT; f++)
        CHECK(ct_config_format_find(ct_config_format_name((ct_config_format)f)) == f);
    CHECK(ct_config_format_find("none") == -1 && !strcmp(ct_config_format_name(CT_CONFIG_AUTO), "?"));
    ct_err err = {0};
    ct_config *c;
    CHECK_REFUSED(ct_config_parse("a", 1, "n", CT_CONFIG_FORMAT_COUNT, &c, &err), err, "no format");
    CHECK_REFUSED(ct_config_parse("\xff\xfe"
                                  "a",
                                  3, "n", CT_CONFIG_YAML, &c, &err),
                  err, "UTF-16");
    CHECK_REFUSED(ct_config_read("/nowhere/a.yaml", CT_CONFIG_AUTO, &c, &err), err, "/nowhere/a.yaml");
}

/* ---- templates ---- */

static void test_placeholders_are_replaced_wherever_they_are(void)
{
    static const char TEXT[] =
        "double q[2][2] = {{1, 0}, {0, {{q-odom}}}};\r\nstd::array<double, 2> a = {{ 1.0, 2.0 }};\n"
        "b({{ gps.x }}, {{q-odom}});";
    ct_err err = {0};
    ct_config *c = config_of(TEXT, CT_CONFIG_TEMPLATE);
    int32_t first, count, place[3];
    const double value[3] = {7, 1e-9, 7};
    char *text = NULL;
    size_t size;
    int line;
    CHECK(!strcmp(ct_config_placeholder(c, 0), "q-odom") && !strcmp(ct_config_placeholder(c, 1), "gps.x"));
    CHECK(!ct_config_placeholder(c, 2) && !ct_config_placeholder(c, -1));
    CHECK_OK(ct_config_find(c, "{{q-odom}}", &first, &count, &err), err);
    CHECK(count == 2);
    place[0] = first, place[2] = first + 1;
    CHECK(!strcmp(ct_config_text(c, first + 1, &line), "{{q-odom}}") && line == 3);
    double present;
    CHECK(ct_config_number(c, first, &present, &err) == CT_E_PARSE);
    CHECK_OK(ct_config_find(c, "gps.x", &first, &count, &err), err);
    CHECK(count == 1);
    place[1] = first;
    CHECK_REFUSED(ct_config_write(c, 2, place, value, &text, &size, &err), err, "in.cfg:3: the placeholder {{q-odom}}");
    CHECK(!text);
    CHECK_OK(ct_config_write(c, 3, place, value, &text, &size, &err), err);
    CHECK(text && !strcmp(text, "double q[2][2] = {{1, 0}, {0, 7.0}};\r\nstd::array<double, 2> a = {{ 1.0, 2.0 }};\n"
                                "b(1.0e-09, 7.0);"));
    free(text);
    ct_config_free(c);
    CHECK_NOT_FOUND(CT_CONFIG_TEMPLATE, TEXT, "q-odo", CT_E_EMPTY,
                    "no {{q-odo}} in it; the nearest is \"q-odom\" in line 1");
    CHECK_BAD(CT_CONFIG_TEMPLATE, "a\nb {{gps sigma}}\n", "in.cfg:2: a placeholder's name");
}

static void test_writing_refuses_what_is_no_place_or_number(void)
{
    ct_err err = {0};
    ct_config *c = config_of("a: [1, 2]\n", CT_CONFIG_YAML);
    int32_t first, count, other, place[2];
    double value[2] = {1, NAN};
    char *text;
    size_t size;
    CHECK_OK(ct_config_find(c, "a[all]", &first, &count, &err), err);
    CHECK(first == 0 && count == 2);
    CHECK_OK(ct_config_find(c, "a[1]", &other, &count, &err), err);
    CHECK(other == 2 && count == 1);
    CHECK_OK(ct_config_find(c, "a[all]", &first, &count, &err), err);
    CHECK(first == 0 && count == 2);
    place[0] = 0, place[1] = 1;
    CHECK_REFUSED(ct_config_write(c, 2, place, value, &text, &size, &err), err, "finite");
    value[1] = 1;
    place[1] = 3;
    CHECK_REFUSED(ct_config_write(c, 2, place, value, &text, &size, &err), err, "no place 3");
    place[0] = 1, place[1] = 2; /* the same value by two paths */
    CHECK_REFUSED(ct_config_write(c, 2, place, value, &text, &size, &err), err, "given twice");
    CHECK(!text && size == 0 && !ct_config_text(c, 9, NULL));
    ct_config_free(c);
}

/* ---- YAML ---- */

static void test_yaml_keeps_every_other_byte(void)
{
    static const char FLOW[] = "a:   0.10   # c\r\nb: {c: [1,2 , 3], d: '4'}";
    CHECK_CHANGED(CT_CONFIG_YAML, FLOW, "a", 0.2, "0.10", "0.2");
    CHECK_CHANGED(CT_CONFIG_YAML, FLOW, "b.c[1]", 1e-5, "2", "1.0e-05");
    CHECK_CHANGED(CT_CONFIG_YAML, FLOW, "b.d", 5, "'4'", "'5.0'");
    static const char UTF8[] = "\xef\xbb\xbfgr\xc3\xbc\xc3\x9f"
                               "e: \"1\" # \xe2\x82\xac\nq: 1";
    CHECK_CHANGED(CT_CONFIG_YAML, UTF8, "q", 2, "q: 1", "q: 2.0");
    CHECK_CHANGED(CT_CONFIG_YAML, UTF8,
                  "gr\xc3\xbc\xc3\x9f"
                  "e",
                  2, "\"1\"", "\"2.0\"");
    static const char ROS[] = "'/**':\n  ros__parameters:\n    a.b: 1\n    'it''s': 2\n";
    CHECK_CHANGED(CT_CONFIG_YAML, ROS, "/**.ros__parameters.'a.b'", 0.5, "a.b: 1", "a.b: 0.5");
    CHECK_CHANGED(CT_CONFIG_YAML, ROS, "'/**'.ros__parameters.'it''s'", 0.5, ": 2", ": 0.5");
    CHECK_CHANGED(CT_CONFIG_YAML, ROS, "/**.ros__parameters.a.b", 0.5, "a.b: 1", "a.b: 0.5");
    static const char DOTS[] = "%YAML:1.0 # c\na.b: 1\t# tab\na: {b: 2}\nIMU.Noise.x: 3\n"
                               "IMU.Noise: {y.z: [{p.q: 4}]}\n";
    CHECK_CHANGED(CT_CONFIG_YAML, DOTS, "a.b", 9, "b: 2", "b: 9.0");
    CHECK_CHANGED(CT_CONFIG_YAML, DOTS, "'a.b'", 9, "b: 1", "b: 9.0");
    CHECK_CHANGED(CT_CONFIG_YAML, DOTS, "IMU.Noise.x", 9, "x: 3", "x: 9.0");
    CHECK_CHANGED(CT_CONFIG_YAML, DOTS, "IMU.Noise.y.z[0].p.q", 9, "q: 4", "q: 9.0");
    CHECK_NOT_FOUND(CT_CONFIG_YAML, DOTS, "IMU.Nois.x", CT_E_EMPTY, "there is no key \"IMU\"; the nearest is");
    CHECK_SET(CT_CONFIG_YAML, "q: !!float 1 # c\n", "q", 2.5, "q: !!float 2.5 # c\n");
    CHECK_SET(CT_CONFIG_YAML, "q: &a !!float '1'\n", "q", 2.5, "q: &a !!float '2.5'\n");
    CHECK_SET(CT_CONFIG_YAML, "- 1\n- - 2\n  - 3\n", "[1][1]", 9, "- 1\n- - 2\n  - 9.0\n");
    CHECK_SET(CT_CONFIG_YAML, "- {n: 1}\n- {n: 2}\n", "[all].n", 9, "- {n: 9.0}\n- {n: 9.0}\n");
    CHECK_SET(CT_CONFIG_YAML, "m: [[1, 2], [3, 4]]\n", "m[diagonal]", 0, "m: [[0.0, 2], [3, 0.0]]\n");
    CHECK_SET(CT_CONFIG_YAML, "m: [[1, 2], [3, 4]]\n", "m[all]", 0, "m: [[0.0, 0.0], [0.0, 0.0]]\n");
    CHECK_SET(CT_CONFIG_YAML, "m:\n- 1\n-   2\n# c\n- 3\n- 4", "m[0, 3]", -1, "m:\n- -1.0\n-   2\n# c\n- 3\n- -1.0");
    CHECK_SET(CT_CONFIG_YAML, "a: 1\n---\nb: 2\n", "b", 3, "a: 1\n---\nb: 3.0\n");
    CHECK_SET(CT_CONFIG_YAML, "? [x, y]\n: 1\n? z\n: 2\n", "z", 3, "? [x, y]\n: 1\n? z\n: 3.0\n");
    /* equal numbers keep their text */
    CHECK_SET(CT_CONFIG_YAML, "a: 1e-05\n", "a", 1e-5, "a: 1e-05\n");
    CHECK_SET(CT_CONFIG_YAML, "a: 100\n", "a", 100, "a: 100\n");
    CHECK_SET(CT_CONFIG_YAML, "a: 0\n", "a", -0.0, "a: -0.0\n");
}

static void test_files_of_opencv_are_yaml(void)
{
    static const char VINS[] = "%YAML:1.0\n---\nacc_n: 0.1 # m/s^2\nT: !!opencv-matrix\n   rows: 2\n   cols: 2\n"
                               "   dt: d\n   data: [1., 0.,\n          0., 1.0000000000000000e-02]\n";
    CHECK_CHANGED(CT_CONFIG_YAML, VINS, "acc_n", 0.08, "0.1", "0.08");
    CHECK_CHANGED(CT_CONFIG_YAML, VINS, "T.data[diagonal]", 1, "1.0000000000000000e-02", "1.0");
    CHECK_SET(CT_CONFIG_YAML, "%YAML:1.0\na: 1\n", "a", 2, "%YAML:1.0\na: 2.0\n");
    CHECK_SET(CT_CONFIG_YAML, "%YAML 1.0\n---\na: 1\n", "a", 2, "%YAML 1.0\n---\na: 2.0\n");
}

#define ROS "ekf_node.ros__parameters"

static void test_what_yaml_refuses(void)
{
    static const char T[] = "ekf_node:\n  ros__parameters:\n    frequency: 30.0\n    list: [1, 2, 3]\n    word: high\n"
                            "    none:\n    block: |\n      1\n    base: &b {q: 1}\n    other: *b\n"
                            "    more: {<<: *b, r: 2}\n    r: 1\n    r: 2\n    x: &x 1\n    y: *x\n"
                            "    esc: \"1\\x30\"\n    oct: 010\n";
    static const struct {
        const char *key;
        ct_status status;
        const char *sentence;
    } CASE[] = {
        {ROS ".frequeny", CT_E_EMPTY,
         "in.cfg:3: there is no key \"frequeny\" in " ROS "; the nearest is \"frequency\" in line 3"},
        {"frequency", CT_E_EMPTY, "line 3 has " ROS ".frequency"},
        {ROS ".list", CT_E_ARGUMENT, "in.cfg:4: " ROS ".list has 3 entries"},
        {ROS ".list[3]", CT_E_ARGUMENT, "has no entry 3: its 3 entries are numbered from 0"},
        {ROS ".list[diagonal]", CT_E_ARGUMENT, "not n x n"},
        {ROS ".list.q", CT_E_ARGUMENT, "is a list"},
        {ROS ".word.q", CT_E_ARGUMENT, "has no keys"},
        {ROS ".word", CT_E_ARGUMENT, "in.cfg:5: " ROS ".word is \"high\", no decimal number"},
        {ROS ".word[0]", CT_E_ARGUMENT, "is no list"},
        {ROS ".none", CT_E_ARGUMENT, "in.cfg:6: " ROS ".none has no value"},
        {ROS ".block", CT_E_ARGUMENT, "no decimal number"},
        {ROS ".esc", CT_E_ARGUMENT, "no decimal number"},
        {ROS ".oct", CT_E_ARGUMENT, "no decimal number"},
        {ROS, CT_E_ARGUMENT, "has keys of its own"},
        {ROS ".base.q", CT_E_ARGUMENT, "has an anchor (&) that an alias (*) uses"},
        {ROS ".x", CT_E_ARGUMENT, "has an anchor (&) that an alias (*) uses"},
        {ROS ".y", CT_E_ARGUMENT, "in.cfg:15: " ROS ".y is an alias of the value in line 14"},
        {ROS ".other.q", CT_E_ARGUMENT, "alias of the value in line 9"},
        {ROS ".more.q", CT_E_ARGUMENT, "comes by << from line 9"},
        {ROS ".r", CT_E_ARGUMENT, "in.cfg:13: the key " ROS ".r is there twice: first in line 12"},
        {"a[", CT_E_ARGUMENT, "within []"},
        {"a[0", CT_E_ARGUMENT, "the ] is missing"},
        {"a[0, 0]", CT_E_ARGUMENT, "there twice"},
        {"a..b", CT_E_ARGUMENT, "a key is missing"},
        {"", CT_E_ARGUMENT, "a key is missing"},
        {"'a", CT_E_ARGUMENT, "not closed"},
        {"a[99999999999]", CT_E_ARGUMENT, "too large"},
    };
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++)
        CHECK_NOT_FOUND(CT_CONFIG_YAML, T, CASE[i].key, CASE[i].status, CASE[i].sentence);
    CHECK_NOT_FOUND(CT_CONFIG_YAML, "a: 1\n---\na: 2\n", "a", CT_E_ARGUMENT, "several documents");
    CHECK_NOT_FOUND(CT_CONFIG_YAML, "", "a", CT_E_EMPTY, "nothing in it");
    CHECK_BAD(CT_CONFIG_YAML, "a: [1\nb: 2\n", "in.cfg:2: not YAML");
    CHECK_BAD(CT_CONFIG_YAML, "a: 1\nb: \x01\n", "in.cfg:2: not YAML in UTF-8");
    CHECK_BAD(CT_CONFIG_YAML, "a: 1\nb: *c\n", "in.cfg:2: there is no anchor &c");
}

/* 15 x 15 numbers, one after another over many lines with comments, as in robot_localization's files. */
static void test_the_diagonal_of_225_entries(void)
{
    char text[6000], wanted[6000];
    int a = 0, b = 0;
    a += sprintf(text + a, "ekf_filter_node:\n    ros__parameters:\n        process_noise_covariance: [");
    b += sprintf(wanted + b, "%s", text);
    for (int i = 0; i < 15; i++) {
        for (int j = 0; j < 15; j++) {
            const char *after = i == 14 && j == 14 ? "]\n" : ",    ";
            a += sprintf(text + a, "%s%s", i == j ? "0.05" : "0.0", after);
            b += sprintf(wanted + b, "%s%s", i == j ? "0.125" : "0.0", after);
        }
        if (i == 14) break;
        a += sprintf(text + a, "# row %d, \xc2\xb5\n              ", i);
        b += sprintf(wanted + b, "# row %d, \xc2\xb5\n              ", i);
    }
    CHECK_SET(CT_CONFIG_YAML, text, "ekf_filter_node.ros__parameters.process_noise_covariance[diagonal]", 0.125,
              wanted);
    CHECK_NOT_FOUND(CT_CONFIG_YAML, text, "ekf_filter_node.ros__parameters.process_noise_covariance[225]",
                    CT_E_ARGUMENT, "225 entries");
}

/* ---- key = value ---- */

static void test_lines_of_key_and_value(void)
{
    static const char CONF[] = "# rtkpost options\r\n\r\npos1-elmask        =15         # (deg)\r\n"
                               "stats-eratio1      =100\r\nstats-prnaccelh    =10         # (m/s^2)\r\n"
                               "ant1-pos           =1 2,3 # c\r\nfile=\r\n";
    CHECK_CHANGED(CT_CONFIG_INI, CONF, "stats-eratio1", 123.4, "100", "123.4");
    CHECK_CHANGED(CT_CONFIG_INI, CONF, "ant1-pos[0, 2]", 0.5, "1 2,3", "0.5 2,0.5");
    CHECK_NOT_FOUND(CT_CONFIG_INI, CONF, "ant1-pos", CT_E_ARGUMENT, "in.cfg:6: ant1-pos has 3 entries");
    CHECK_NOT_FOUND(CT_CONFIG_INI, CONF, "stats-eratio", CT_E_EMPTY, "the nearest is \"stats-eratio1\" in line 4");
    CHECK_NOT_FOUND(CT_CONFIG_INI, CONF, "file", CT_E_ARGUMENT, "in.cfg:7: file has no value");
}

static void test_sections_of_key_and_value(void)
{
    static const char INI[] = "; c\nq = 1\n[a.b]\n q : 2 ; c\n\n[ c ]\nq=\"3\"\nm =\n   1 2 # c\n   [3, 4]\nn=1\nn=2\n"
                              "u = 5 m\n";
    CHECK_CHANGED(CT_CONFIG_INI, INI, "q", 9, "q = 1", "q = 9.0");
    CHECK_CHANGED(CT_CONFIG_INI, INI, "a.b.q", 9, "q : 2", "q : 9.0");
    CHECK_CHANGED(CT_CONFIG_INI, INI, "'a.b'.q", 9, "q : 2", "q : 9.0");
    CHECK_CHANGED(CT_CONFIG_INI, INI, "c.q", 9, "\"3\"", "\"9.0\"");
    CHECK_CHANGED(CT_CONFIG_INI, INI, "c.m[diagonal]", 9, "1 2 # c\n   [3, 4]", "9.0 2 # c\n   [3, 9.0]");
    CHECK_CHANGED(CT_CONFIG_INI, INI, "c.u[0]", 9, "5 m", "9.0 m");
    CHECK_NOT_FOUND(CT_CONFIG_INI, INI, "c.u[1]", CT_E_ARGUMENT, "c.u[1] is \"m\", no decimal number");
    CHECK_NOT_FOUND(CT_CONFIG_INI, INI, "c.n", CT_E_ARGUMENT,
                    "in.cfg:12: the key \"c.n\" is there twice: first in line 11");
    CHECK_NOT_FOUND(CT_CONFIG_INI, INI, "m", CT_E_EMPTY, "the nearest is \"c.m\" in line 8");
    CHECK_NOT_FOUND(CT_CONFIG_INI, INI, "'a'.'b.q'", CT_E_EMPTY, "no key");
    CHECK_BAD(CT_CONFIG_INI, "q = 1\n[a\n", "in.cfg:2: a section is [name]");
}

int main(void)
{
    RUN(test_numbers_are_read_back_as_the_same_double);
    RUN(test_what_is_a_number);
    RUN(test_a_locale_changes_nothing);
    RUN(test_the_format_is_told_by_placeholders_then_ending_then_content);
    RUN(test_placeholders_are_replaced_wherever_they_are);
    RUN(test_writing_refuses_what_is_no_place_or_number);
    RUN(test_yaml_keeps_every_other_byte);
    RUN(test_files_of_opencv_are_yaml);
    RUN(test_what_yaml_refuses);
    RUN(test_the_diagonal_of_225_entries);
    RUN(test_lines_of_key_and_value);
    RUN(test_sections_of_key_and_value);
    return ct_test_end();
}
