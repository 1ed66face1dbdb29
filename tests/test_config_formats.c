/* test_config_formats.c: places in JSON, TOML and XML. */
#include "config_test.h"

/* ---- JSON ---- */

static void test_json_keeps_every_other_byte(void)
{
    static const char T[] =
        "// params\r\n{\r\n  \"imu\": {\"acc\\u0065l\": 1e-2, /* \"q\": 3 */ \"q\": \"7\"},\r\n"
        "  \"cov\": [[1, 0], [0, 2.50],],\r\n  \"a.b\": -1, \"e\": {}, \"f\": [], \"s\": \"1\\u0030\"\r\n}";
    CHECK_CHANGED(CT_CONFIG_JSON, T, "imu.accel", 0.03, "1e-2", "0.03");
    CHECK_CHANGED(CT_CONFIG_JSON, T, "imu.q", 0.03, "\"7\"", "\"0.03\"");
    CHECK_CHANGED(CT_CONFIG_JSON, T, "cov[diagonal]", 4, "[[1, 0], [0, 2.50],]", "[[4.0, 0], [0, 4.0],]");
    CHECK_CHANGED(CT_CONFIG_JSON, T, "cov[1][1]", 2.5, "2.50", "2.50");
    CHECK_CHANGED(CT_CONFIG_JSON, T, "'a.b'", 1, "-1", "1.0");
    CHECK_SET(CT_CONFIG_JSON, "\xef\xbb\xbf[1, 2]", "[1]", 1e-7, "\xef\xbb\xbf[1, 1.0e-07]");
    CHECK_NOT_FOUND(CT_CONFIG_JSON, T, "imu.accell", CT_E_EMPTY,
                    "in.cfg:3: there is no key \"accell\" in imu; the nearest is \"accel\" in line 3");
    CHECK_NOT_FOUND(CT_CONFIG_JSON, T, "s", CT_E_ARGUMENT, "no decimal number");
    CHECK_NOT_FOUND(CT_CONFIG_JSON, T, "f[all]", CT_E_ARGUMENT, "in.cfg:5: f is an empty list");
    CHECK_NOT_FOUND(CT_CONFIG_JSON, "{\"a\": 1,\n\"a\": 2}", "a", CT_E_ARGUMENT, "there twice: first in line 1");
    CHECK_NOT_FOUND(CT_CONFIG_JSON, "3", "a", CT_E_ARGUMENT, "the file is a value and has no keys");
    CHECK_NOT_FOUND(CT_CONFIG_JSON, "{\"\\ud83d\\ude00\": true}", "\xf0\x9f\x98\x80", CT_E_ARGUMENT, "is \"true\"");
}

static void test_what_json_refuses(void)
{
    CHECK_BAD(CT_CONFIG_JSON, "{\"a\": 1", "in.cfg:1: not JSON: , or } is expected");
    CHECK_BAD(CT_CONFIG_JSON, "{\n\"a\" 1}", "in.cfg:2: not JSON: after a key comes :, found \"1}\"");
    CHECK_BAD(CT_CONFIG_JSON, "{a: 1}", "a key in double quotes");
    CHECK_BAD(CT_CONFIG_JSON, "{\"a\": \"b}\n", "a string is not closed");
    CHECK_BAD(CT_CONFIG_JSON, "{\"a\": \"\\q\"}", "after a backslash");
    CHECK_BAD(CT_CONFIG_JSON, "[1, , 2]", "a value is expected");
    CHECK_BAD(CT_CONFIG_JSON, "[1] 2", "the text ends after its value");
    CHECK_BAD(CT_CONFIG_JSON, "[1 /* 2]", "a comment is not closed");
    CHECK_BAD(CT_CONFIG_JSON, "[1}", ", or ] is expected");
    CHECK_BAD(CT_CONFIG_JSON, "", "a value is expected");
}

/* ---- TOML ---- */

static void test_toml_keeps_every_other_byte(void)
{
    static const char T[] =
        "title = 'x = 1' # q = 2\nq = 1_000.5\n\n[filter.noise]\nodom.sigma = 1e-2 # m\n"
        "'odd key' = \"7\"\ncov = [ 1, 2, # c ]\n  3,\n  4, ]\n\n[[sensor]]\nname = \"a\"\nnoise = +1\n"
        "[[sensor]]\nnoise = { x = 2, y.z = [ [ 3 ], [] ], t = {} }\nd = 1979-05-27 07:32:00\n"
        "[sensor.more]\nq = \"\"\"\n1 = [\"\"\"\nr = '''\n'''\ns = 6\n";
    CHECK_CHANGED(CT_CONFIG_TOML, T, "q", 2000, "1_000.5", "2000.0");
    CHECK_CHANGED(CT_CONFIG_TOML, T, "q", 1000.5, "1_000.5", "1_000.5");
    CHECK_CHANGED(CT_CONFIG_TOML, T, "filter.noise.odom.sigma", 0.5, "1e-2", "0.5");
    CHECK_CHANGED(CT_CONFIG_TOML, T, "filter.noise.odd key", 0.5, "\"7\"", "\"0.5\"");
    CHECK_CHANGED(CT_CONFIG_TOML, T, "filter.noise.cov[diagonal]", 0.5, "1, 2, # c ]\n  3,\n  4, ]",
                  "0.5, 2, # c ]\n  3,\n  0.5, ]");
    CHECK_CHANGED(CT_CONFIG_TOML, T, "sensor[0].noise", 3, "+1", "3.0");
    CHECK_CHANGED(CT_CONFIG_TOML, T, "sensor[1].noise.x", 3, "x = 2", "x = 3.0");
    CHECK_CHANGED(CT_CONFIG_TOML, T, "sensor[1].noise.y.z[0][0]", 4, "[ 3 ]", "[ 4.0 ]");
    CHECK_CHANGED(CT_CONFIG_TOML, T, "sensor[1].more.s", 4, "s = 6", "s = 4.0");
    CHECK_SET(CT_CONFIG_TOML, "\"a\\u0062\".'c' = 1\r\n\"d.e\"=2", "ab.c", 3, "\"a\\u0062\".'c' = 3.0\r\n\"d.e\"=2");
    CHECK_SET(CT_CONFIG_TOML, "\"a\\u0062\".'c' = 1\r\n\"d.e\"=2", "'d.e'", 3, "\"a\\u0062\".'c' = 1\r\n\"d.e\"=3.0");
    CHECK_SET(CT_CONFIG_TOML, "a = \"\"\"\"\"q\"\"\"\"\"\nb = 1", "b", 2, "a = \"\"\"\"\"q\"\"\"\"\"\nb = 2.0");
    CHECK_NOT_FOUND(CT_CONFIG_TOML, T, "sensor.noise", CT_E_ARGUMENT, "in.cfg:11: sensor is a list; which entry?");
    CHECK_NOT_FOUND(CT_CONFIG_TOML, T, "sensor[2].noise", CT_E_ARGUMENT, "sensor has no entry 2: its 2 entries");
    CHECK_NOT_FOUND(CT_CONFIG_TOML, T, "sensor[1].d", CT_E_ARGUMENT, "is \"1979-05-27 07:32:00\"");
    CHECK_NOT_FOUND(CT_CONFIG_TOML, T, "filter.nose", CT_E_EMPTY, "the nearest is \"noise\" in line 4");
    CHECK_NOT_FOUND(CT_CONFIG_TOML, "a = 1\na = 2\n", "a", CT_E_ARGUMENT, "in.cfg:2: the key a is there twice");
}

static void test_what_toml_refuses(void)
{
    CHECK_BAD(CT_CONFIG_TOML, "a = 1\nb = \n", "in.cfg:2: not TOML: a value is expected, found the end of the line");
    CHECK_BAD(CT_CONFIG_TOML, "a 1\n", "after a key comes =, found \"1\"");
    CHECK_BAD(CT_CONFIG_TOML, "a = 1 2\n", "the line is to end here, found \"2\"");
    CHECK_BAD(CT_CONFIG_TOML, "[a\n", "a table ends with ]");
    CHECK_BAD(CT_CONFIG_TOML, "[[a]\n", "an array of tables ends with ]]");
    CHECK_BAD(CT_CONFIG_TOML, "a = [1, 2\nb = 3\n", "in.cfg:2: not TOML: , or ] is expected");
    CHECK_BAD(CT_CONFIG_TOML, "a = {b = 1\n", ", or } is expected");
    CHECK_BAD(CT_CONFIG_TOML, "a = 'b\n'", "a string is not closed");
    CHECK_BAD(CT_CONFIG_TOML, "a = \"\"\"b", "a string is not closed");
    CHECK_BAD(CT_CONFIG_TOML, "\"\\q\" = 1", "after a backslash");
    CHECK_BAD(CT_CONFIG_TOML, "= 1", "a key is expected");
    CHECK_BAD(CT_CONFIG_TOML, "[a]\n[[a]]\n", "in.cfg:2: not TOML: the name is that of a table already");
}

/* ---- XML ---- */

static const char LAUNCH[] =
    "<?xml version=\"1.0\" encoding='utf-8'?>\r\n<!DOCTYPE launch [ <!ENTITY e \"<]>\"> <!-- > --> ]>\r\n<launch>\n"
    "  <node pkg=\"robot_localization\" name=\"ekf\">\n    <param name=\"frequency\" value=\"30\"/> <!-- Hz -->\n"
    "    <param name='gps &amp; more' value = '0.5' />\n    <rosparam param=\"q\">[0.05, 0,\n       0, "
    "0.06]</rosparam>\n"
    "  </node>\n  <node name=\"other\"><param name=\"frequency\" value=\"10\"/></node>\n"
    "  <s:noise type=\"g\"><s:stddev> 1e-2\n</s:stddev><t><![CDATA[3]]></t><u>4<!-- c -->5</u><v>&#49;.5 "
    "2</v></s:noise>\n"
    "  <p xyz=\"1 2 3\"/>\n</launch>\n<!-- end -->\n";

static void test_xml_keeps_every_other_byte(void)
{
    CHECK_CHANGED(CT_CONFIG_XML, LAUNCH, "launch/node[@name='ekf']/param[@name='frequency']/@value", 50, "\"30\"",
                  "\"50.0\"");
    CHECK_CHANGED(CT_CONFIG_XML, LAUNCH, "/launch/node[1]/param[2]/@value", 0.25, "'0.5'", "'0.25'");
    CHECK_CHANGED(CT_CONFIG_XML, LAUNCH, "launch/node/param[@name='gps & more']/@value", 0.25, "'0.5'", "'0.25'");
    CHECK_CHANGED(CT_CONFIG_XML, LAUNCH, "launch/node[2]/param/@value", 20, "\"10\"", "\"20.0\"");
    CHECK_CHANGED(CT_CONFIG_XML, LAUNCH, "launch/node/rosparam[diagonal]", 0.1, "[0.05, 0,\n       0, 0.06]",
                  "[0.1, 0,\n       0, 0.1]");
    CHECK_CHANGED(CT_CONFIG_XML, LAUNCH, "launch/node/rosparam/text()[3]", 0.1, "0.06", "0.1");
    CHECK_CHANGED(CT_CONFIG_XML, LAUNCH, "launch/node/rosparam[0, 3]", 0.06, "0.05", "0.06");
    CHECK_CHANGED(CT_CONFIG_XML, LAUNCH, "launch/s:noise/s:stddev", 0.02, "1e-2", "0.02");
    CHECK_CHANGED(CT_CONFIG_XML, LAUNCH, "launch/s:noise[@type=\"g\"]/t", 0.02, "CDATA[3]", "CDATA[0.02]");
    CHECK_CHANGED(CT_CONFIG_XML, LAUNCH, "launch/p/@xyz[1]", 0.5, "1 2 3", "1 0.5 3");
    CHECK_CHANGED(CT_CONFIG_XML, LAUNCH, "launch/p/@xyz[all]", 0.5, "1 2 3", "0.5 0.5 0.5");
}

static void test_what_is_not_there_in_xml(void)
{
    static const struct {
        const char *key;
        ct_status status;
        const char *sentence;
    } CASE[] = {
        {"launch/node/param[@name='frequency']/@value", CT_E_ARGUMENT, "matches 2 times, first in line 5"},
        {"launch/node[@name='ekf2']/param/@value", CT_E_EMPTY,
         "in.cfg:4: there is no element launch/node[@name='ekf2']; the nearest is \"ekf\""},
        {"launch/node[3]/param/@value", CT_E_EMPTY, "there is no element launch/node[3]: there are 2"},
        {"launch/node[1]/parm", CT_E_EMPTY,
         "no element \"parm\" in launch/node[1]; the nearest is \"param\" in line 5"},
        {"launch/node[1]/param[1]/@valu", CT_E_EMPTY, "no attribute \"@valu\""},
        {"launch/node[1]/param[1]", CT_E_ARGUMENT, "has no text; an attribute is /@name"},
        {"launch/node[1]/rosparam", CT_E_ARGUMENT, "has 4 entries"},
        {"launch/p/@xyz[3]", CT_E_ARGUMENT, "has no entry 3"},
        {"launch/p/@xyz[0]/q", CT_E_ARGUMENT, "is a value"},
        {"launch/s:noise/u", CT_E_ARGUMENT, "has 2 entries"},
        {"launch/s:noise/u[0, 1]", CT_E_ARGUMENT, "no decimal number"},
        {"launch/s:noise/v/text()[1]", CT_E_ARGUMENT, "no decimal number"},
        {"launch/node[0]", CT_E_ARGUMENT, "elements count from 1"},
        {"launch//node", CT_E_ARGUMENT, "a key is missing"},
        {"launch/node[@name=ekf]", CT_E_ARGUMENT, "in quotes"},
        {"launch/node[@name]", CT_E_ARGUMENT, "[@name='value']"},
        {"launch.node", CT_E_EMPTY, "no element \"launch.node\""},
    };
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++)
        CHECK_NOT_FOUND(CT_CONFIG_XML, LAUNCH, CASE[i].key, CASE[i].status, CASE[i].sentence);
}

static void test_what_xml_refuses(void)
{
    CHECK_BAD(CT_CONFIG_XML, "<a>\n<b></a>", "in.cfg:2: not XML: another element ends here than is open");
    CHECK_BAD(CT_CONFIG_XML, "<a>\n<b>", "in.cfg:2: not XML: an element is not closed");
    CHECK_BAD(CT_CONFIG_XML, "<a/><b/>", "there is one root element");
    CHECK_BAD(CT_CONFIG_XML, "<a/>x", "no text after the root element");
    CHECK_BAD(CT_CONFIG_XML, "x", "an element is expected");
    CHECK_BAD(CT_CONFIG_XML, "<!-- x -->", "it has no element");
    CHECK_BAD(CT_CONFIG_XML, "<!-- x", "a comment is not closed");
    CHECK_BAD(CT_CONFIG_XML, "<a b></a>", "comes =");
    CHECK_BAD(CT_CONFIG_XML, "<a b=1></a>", "in quotes");
    CHECK_BAD(CT_CONFIG_XML, "<a b='1></a>", "is not closed");
    CHECK_BAD(CT_CONFIG_XML, "<a b='1'c='2'></a>", "a blank, > or /> is expected");
    CHECK_BAD(CT_CONFIG_XML, "<1/>", "a name is expected");
    CHECK_BAD(CT_CONFIG_XML, "</a>", "no element is open");
    CHECK_BAD(CT_CONFIG_XML, "<?xml version='1.0' encoding='UTF-16'?><a/>", "the encoding \"UTF-16\" is not read");
    CHECK_BAD(CT_CONFIG_XML, "<!DOCTYPE a [ <a/>", "not closed");
}

int main(void)
{
    RUN(test_json_keeps_every_other_byte);
    RUN(test_what_json_refuses);
    RUN(test_toml_keeps_every_other_byte);
    RUN(test_what_toml_refuses);
    RUN(test_xml_keeps_every_other_byte);
    RUN(test_what_is_not_there_in_xml);
    RUN(test_what_xml_refuses);
    return ct_test_end();
}
