/* test_message.c: definitions of messages and values by path, against messages laid out by hand. */
#include "bag_writer.h"

#include "source/message.h"

/* A definition and a plan with up to eight paths. */
typedef struct {
    ct__definition *d;
    ct__plan *plan;
    ct__value value[8];
    int slots;
    ct_err err;
} message;

static message define(const char *type, const char *encoding, const char *text, const char *each)
{
    message m = {0};
    CHECK_OK(ct__definition_new(type, encoding, text, strlen(text), &m.d, &m.err), m.err);
    if (m.d) CHECK_OK(ct__plan_new(m.d, each, &m.plan, &m.err), m.err);
    return m;
}

static void want(message *m, const char *path)
{
    int found = 0;
    CHECK_OK(ct__plan_bind(m->plan, path, m->slots++, &found, &m->err), m->err);
    CHECK(found);
}

static void clear(message *m)
{
    ct__plan_free(m->plan);
    ct__definition_free(m->d);
    *m = (message){0};
}

static int begin(message *m, const bw *b)
{
    return ct__plan_begin(m->plan, b->b, b->n, m->value, m->slots, &m->err) == CT_OK;
}

static int next(message *m)
{
    int more = 0;
    CHECK_OK(ct__plan_next(m->plan, m->value, &more, &m->err), m->err);
    return more;
}

static double number(const message *m, int slot)
{
    int ok = 1;
    const double v = ct__value_number(&m->value[slot], &ok);
    CHECK(ok);
    return v;
}

static int is_text(const message *m, int slot, const char *text)
{
    const ct__value *v = &m->value[slot];
    return v->kind == CT__VALUE_TEXT && (size_t)v->length == strlen(text) && !memcmp(v->text, text, strlen(text));
}

/* ---- .msg ---- */

static const char MIXED[] = "# comment with = and [\n"
                            "uint8 KIND_A=1   # constant\n"
                            "string GREETING = hello # no comment\n"
                            "float32 HALF=0.5\r\n"
                            "  bool flag true\n"
                            "int16 small -7 # default\n"
                            "string<=10 word \"a # b\"\n"
                            "uint8[] bytes [1, 2]\n"
                            "int64 big\n"
                            "Inner[2] pair\n"
                            "float32[<=3] few\n"
                            "string[] names\n"
                            "uint64 last\n"
                            "===\nMSG: test_msgs/Inner\nint8 a\nfloat64 b\n";

static void put_mixed(bw *b, bag_encoding e)
{
    bag_begin(b, e);
    bag_bits(b, e, 1, 1);
    bag_bits(b, e, (uint64_t)(uint16_t)-7, 2);
    bag_text(b, e, "word");
    bag_bits(b, e, 3, 4);
    for (unsigned i = 0; i < 3; i++) bag_bits(b, e, 250 + i, 1);
    bag_bits(b, e, (uint64_t)INT64_MIN + 5, 8);
    for (int i = 0; i < 2; i++) {
        bag_bits(b, e, (uint64_t)(uint8_t)(-1 - i), 1);
        bag_f64(b, e, 1.5 + i);
    }
    bag_bits(b, e, 2, 4);
    bag_f32(b, e, 0.25f);
    bag_f32(b, e, -3);
    bag_bits(b, e, 3, 4);
    bag_text(b, e, "one");
    bag_text(b, e, "");
    bag_text(b, e, "three");
    bag_bits(b, e, UINT64_MAX, 8);
}

static void test_all_kinds_of_fields(void)
{
    for (bag_encoding e = BAG_ROS1; e <= BAG_CDR_BIG; e++) {
        message m = define("test_msgs/msg/Mixed", e == BAG_ROS1 ? "ros1msg" : "ros2msg", MIXED, NULL);
        bw b = {0};
        put_mixed(&b, e);
        if (!m.plan) return;
        want(&m, "last");
        want(&m, "names[2]");
        want(&m, "few[1]");
        want(&m, "few[2]");
        want(&m, "pair[1].b");
        want(&m, "pair[0].a");
        want(&m, "bytes[2]");
        want(&m, "small");
        CHECK(begin(&m, &b) && next(&m) && !next(&m));
        CHECK(number(&m, 0) == 18446744073709551615.0);
        CHECK(is_text(&m, 1, "three"));
        CHECK(number(&m, 2) == -3 && m.value[3].kind == CT__VALUE_MISSING);
        CHECK(number(&m, 4) == 2.5 && number(&m, 5) == -1 && number(&m, 6) == 252 && number(&m, 7) == -7);
        clear(&m);
        m = define("test_msgs/Mixed", e == BAG_ROS1 ? "ros1msg" : "ros2msg", MIXED, NULL);
        want(&m, "big");
        want(&m, "word");
        want(&m, "flag");
        CHECK(begin(&m, &b) && next(&m));
        CHECK(m.value[0].kind == CT__VALUE_INTEGER && m.value[0].integer == INT64_MIN + 5);
        CHECK(is_text(&m, 1, "word") && number(&m, 2) == 1);
        clear(&m);
        /* cut anywhere before the last wanted field: refused */
        m = define("test_msgs/Mixed", e == BAG_ROS1 ? "ros1msg" : "ros2msg", MIXED, NULL);
        want(&m, "last");
        for (size_t n = b.n, k = 0; k < n; k++) {
            b.n = k;
            CHECK(!begin(&m, &b) && m.err.text[0]);
        }
        clear(&m);
        free(b.b);
    }
}

static void test_elements_as_records(void)
{
    bw b = {0};
    message m = define("test_msgs/Mixed", "ros2msg", MIXED, "pair");
    put_mixed(&b, BAG_CDR);
    want(&m, "b");
    want(&m, "^.last");
    want(&m, "^.pair[1].a");
    CHECK(begin(&m, &b) && next(&m) && number(&m, 0) == 1.5 && number(&m, 1) > 1e19 && number(&m, 2) == -2);
    CHECK(next(&m) && number(&m, 0) == 2.5 && number(&m, 2) == -2 && !next(&m));
    clear(&m);
    m = define("test_msgs/Mixed", "ros2msg", MIXED, "names");
    want(&m, "value");
    CHECK(begin(&m, &b) && next(&m) && is_text(&m, 0, "one") && next(&m) && is_text(&m, 0, "") && next(&m));
    CHECK(is_text(&m, 0, "three") && !next(&m));
    clear(&m);
    free(b.b);
}

static void test_paths_that_lead_nowhere(void)
{
    message m = define("test_msgs/Mixed", "ros2msg", MIXED, NULL);
    int found;
    for (const char *const *p =
             (const char *const[]){"nothing", "small.x", "pair[0].c", "pair[-1].a", "pair[0", "pair[]", "", ".",
                                   "pair[0].", "big[0]", "word.sec", "pair[0]a", NULL};
         *p; p++) {
        m.err.text[0] = 0;
        const ct_status status = ct__plan_bind(m.plan, *p, 0, &found, &m.err);
        CHECK((status == CT_OK && !found) || m.err.text[0]);
        CHECK(ct__plan_base(m.plan, *p) == CT__STRUCT);
    }
    CHECK_REFUSED(ct__plan_bind(m.plan, "pair", 0, &found, &m.err), m.err, "each: pair");
    CHECK_REFUSED(ct__plan_bind(m.plan, "pair[0]", 0, &found, &m.err), m.err, "pair[0].a");
    CHECK_REFUSED(ct__plan_bind(m.plan, "pair[2].a", 0, &found, &m.err), m.err, "has 2 elements");
    clear(&m);
}

/* ---- IDL ---- */

static const char IDL[] =
    "// generated\n#include \"std_msgs/msg/Header.idl\"\n"
    "module test_msgs { module msg {\n"
    "  typedef double double__9[9];\n  typedef test_msgs::msg::Leaf Leaf__2[2];\n"
    "  module Odd_Constants { const string NAME = \"a } b\"; const unsigned long SIZE = 2; const double X = 1.0e3; };\n"
    "  /* a comment\n over lines */\n"
    "  enum Colour { @value(1) RED, GREEN };\n"
    "  @verbatim (language=\"comment\", text=\n    \"Text with ) and ; and \\\" in it\" \"more\")\n"
    "  struct Odd {\n"
    "    std_msgs::msg::Header header;\n"
    "    @default (value=TRUE)\n    boolean flag;\n"
    "    @unit(value=\"m\") sequence<double, 4> few;\n"
    "    double__9 nine;\n    Leaf__2 leaves;\n    string<12> word;\n"
    "    sequence<test_msgs::msg::Leaf> more;\n    unsigned long long big;\n    Colour colour;\n"
    "    long grid[2][3];\n    octet raw, raw2[Odd_Constants::SIZE];\n    unsigned short tail;\n  };\n"
    "}; };\n"
    "================================================================================\nIDL: test_msgs/msg/Leaf\n"
    "module test_msgs { module msg { struct Leaf { int8 a; float b; }; }; };\n"
    "================================================================================\nIDL: std_msgs/msg/Header\n"
    "module std_msgs { module msg { struct Header { builtin_interfaces::msg::Time stamp; string frame_id; }; }; };\n"
    "================================================================================\nIDL: "
    "builtin_interfaces/msg/Time\n"
    "module builtin_interfaces { module msg { struct Time { long sec; unsigned long nanosec; }; }; };\n";

static void put_odd(bw *b, bag_encoding e)
{
    bag_begin(b, e);
    bag_header(b, e, 1234567890987654321LL, "map");
    bag_bits(b, e, 1, 1);
    bag_bits(b, e, 2, 4);
    bag_f64(b, e, 0.5);
    bag_f64(b, e, 1.5);
    for (int i = 0; i < 9; i++) bag_f64(b, e, i);
    for (int i = 0; i < 2; i++) {
        bag_bits(b, e, (uint64_t)i + 1, 1);
        bag_f32(b, e, (float)i);
    }
    bag_text(b, e, "twelve");
    bag_bits(b, e, 1, 4);
    bag_bits(b, e, 77, 1);
    bag_f32(b, e, 7.5f);
    bag_bits(b, e, 1ull << 60, 8);
    bag_bits(b, e, 1, 4);
    for (unsigned i = 0; i < 6; i++) bag_bits(b, e, i * 10, 4);
    bag_bits(b, e, 200, 1);
    bag_bits(b, e, 201, 1);
    bag_bits(b, e, 202, 1);
    bag_bits(b, e, 65535, 2);
}

static void test_idl(void)
{
    for (bag_encoding e = BAG_CDR; e <= BAG_CDR_BIG; e++) {
        message m = define("test_msgs/msg/Odd", "ros2idl", IDL, NULL);
        bw b = {0};
        put_odd(&b, e);
        if (!m.plan) return;
        want(&m, "header.stamp");
        want(&m, "header.stamp.nanosec");
        want(&m, "nine[8]");
        want(&m, "leaves[1].b");
        want(&m, "more[0].a");
        want(&m, "grid[5]");
        want(&m, "raw2[1]");
        want(&m, "tail");
        CHECK(begin(&m, &b) && next(&m));
        CHECK(m.value[0].kind == CT__VALUE_TIME && m.value[0].integer == 1234567890987654321LL);
        CHECK(number(&m, 1) == 987654321 && number(&m, 2) == 8 && number(&m, 3) == 1 && number(&m, 4) == 77);
        CHECK(number(&m, 5) == 50 && number(&m, 6) == 202 && number(&m, 7) == 65535);
        clear(&m);
        free(b.b);
    }
}

static void refuse_definition(const char *encoding, const char *text, const char *part)
{
    ct__definition *d = NULL;
    ct_err err = {0};
    CHECK_REFUSED(ct__definition_new("a/msg/T", encoding, text, strlen(text), &d, &err), err, part);
    CHECK(d == NULL);
}

static void test_definitions_that_are_refused(void)
{
    refuse_definition("ros2msg", "T next\n", "a/T contains itself");
    refuse_definition("ros2msg", "B b\n===\nMSG: a/B\nC[] c\n===\nMSG: a/C\nT t\n", "contains itself");
    refuse_definition("ros2msg", "Nope n\n", "type a/Nope of a/T.n is not defined");
    refuse_definition("ros2msg", "float64\n", "line 1: a line has \"type name\"");
    refuse_definition("ros2msg", "int32 a\nfloat64[x] y\n", "line 2: float64[x] is no type");
    refuse_definition("ros2msg", "float64[9999999999999999] y\n", "is no type");
    refuse_definition("ros2msg", "float64[900000000000] y\n", "more than 2^40 bytes");
    refuse_definition("ros2msg", "", "no definition of type a/msg/T");
    refuse_definition("ros2idl", "module a { module msg { union T switch(long) { case 1: long x; }; }; };",
                      "line 1: module, struct");
    refuse_definition("ros2idl", "module a { module msg { struct T { map<string, long> x; }; }; };", "not decoded");
    refuse_definition("ros2idl", "module a { module msg { struct T { @optional long x; }; }; };", "optional");
    refuse_definition("ros2idl", "module a { module msg {\n struct T : B { long x; }; }; };", "line 2: inheritance");
    refuse_definition("ros2idl", "module a { module msg { struct U { long x; }; }; };", "no struct of this name");
    refuse_definition("ros2idl", "module a { module msg { struct T { long x; ", "found \"\"");
    refuse_definition("ros2idl", "module a { module msg { struct T { sequence<sequence<long>> x; }; }; };",
                      "sequences of sequences");
}

#define DEEP5 "r.r.r.r.r."
#define DEEP  DEEP5 DEEP5 DEEP5 DEEP5 DEEP5 DEEP5

/* A type of 2^30 members, none of which takes a byte, or all: neither time nor memory goes with their number. */
static void test_hostile_nesting(void)
{
    for (int way = 0; way < 3; way++) {
        bw b = {0};
        char line[128];
        int found;
        message m = {0};
        for (int k = 0; k < 30; k++) {
            if (k) snprintf(line, sizeof line, "===\nMSG: a/N%d\n", k - 1), bw_put(&b, line, strlen(line));
            snprintf(line, sizeof line, "N%d l\nN%d r\n", k, k);
            bw_put(&b, line, strlen(line));
        }
        const char *leaf = (const char *const[]){"", "uint8 x\n", "string s\n"}[way];
        snprintf(line, sizeof line, "===\nMSG: a/N29\n%s", leaf);
        bw_put(&b, line, strlen(line));
        bw_put(&b, "===\nMSG: a/Z\n", 13);
        CHECK_OK(ct__definition_new("a/T", "ros1msg", (char *)b.b, b.n, &m.d, &m.err), m.err);
        if (m.d) {
            ct__fields fields = {0};
            CHECK_OK(ct__plan_new(m.d, NULL, &m.plan, &m.err), m.err);
            CHECK_OK(ct__definition_fields(m.d, NULL, &fields, &m.err), m.err);
            CHECK(fields.count <= CT__FIELDS_MAX);
            ct__fields_free(&fields);
            CHECK_REFUSED(ct__plan_bind(m.plan, "r.r.r.l", 0, &found, &m.err), m.err, "name a field of it");
            b.n = 100;
            if (way) want(&m, way == 1 ? DEEP "x" : DEEP "s");
            CHECK(begin(&m, &b) == (way == 0));
        }
        clear(&m);
        free(b.b);
    }
    bw deep = {0};
    for (int k = 0; k < 40; k++) {
        char line[64];
        snprintf(line, sizeof line, "D%d x\n===\nMSG: a/D%d\n", k, k);
        bw_put(&deep, line, strlen(line));
    }
    bw_put(&deep, "int8 y\n\0", 8);
    refuse_definition("ros2msg", (char *)deep.b, "nested more than 32 deep");
    free(deep.b);
}

static void test_lengths_in_messages(void)
{
    static const uint32_t LENGTHS[] = {UINT32_MAX, 0x7fffffff, 0x10000, 5};
    static const char *TEXTS[] = {"float64[] x\nint8 y\n", "string x\nint8 y\n",
                                  "E[] x\nint8 y\n===\nMSG: a/E\nstring s\n", "E[] x\nint8 y\n===\nMSG: a/E\n"};
    for (size_t t = 0; t < 4; t++)
        for (size_t k = 0; k < 4; k++) {
            bw b = {0};
            message m = define("a/T", "ros1msg", TEXTS[t], NULL);
            want(&m, "y");
            bw_int(&b, LENGTHS[k], 4);
            bw_int(&b, 0, 3);
            CHECK(!begin(&m, &b) && strstr(m.err.text, "does not fit its type a/T"));
            clear(&m);
            free(b.b);
        }
}

static void test_wide_text(void)
{
    message m = define("a/T", "ros2msg", "int32 before\nwstring wide\nint32 after\n", NULL);
    bw b = {0};
    int found;
    want(&m, "before");
    CHECK_REFUSED(ct__plan_bind(m.plan, "after", 1, &found, &m.err), m.err, "wstring");
    CHECK_REFUSED(ct__plan_bind(m.plan, "wide", 1, &found, &m.err), m.err, "wstring");
    bag_begin(&b, BAG_CDR);
    bag_bits(&b, BAG_CDR, 42, 4);
    CHECK(begin(&m, &b) && next(&m) && number(&m, 0) == 42);
    clear(&m);
    free(b.b);
}

static void test_cdr_headers(void)
{
    message m = define("a/T", "ros2msg", "int8 a\nfloat64 b\n", NULL);
    bw b = {0};
    want(&m, "b");
    bw_put(&b, "\0\7\0\0\1\0\0\0", 8); /* XCDR2: 8 bytes begin at a multiple of 4 */
    const double value = 1 / 3.0;
    bw_put(&b, &value, 8);
    CHECK(begin(&m, &b) && next(&m) && number(&m, 0) == value);
    b.b[1] = 3;
    CHECK(!begin(&m, &b) && strstr(m.err.text, "encoding 0x0003"));
    b.n = 3;
    CHECK(!begin(&m, &b) && strstr(m.err.text, "CDR header"));
    clear(&m);
    /* a struct without members has a byte */
    m = define("a/T", "ros2msg", "E e\nint8 x\n===\nMSG: a/E\n", NULL);
    want(&m, "x");
    b.n = 0;
    bw_put(&b, "\0\1\0\0\5\6", 6);
    CHECK(begin(&m, &b) && next(&m) && number(&m, 0) == 6);
    clear(&m);
    free(b.b);
}

/* ---- Well-known types ---- */

/* They are the types of the definitions that bags carry. */
static void test_well_known_types(void)
{
    for (int t = 0; t < BAG_TOPICS; t++) {
        ct__definition *a = NULL, *b = NULL;
        ct__fields x = {0}, y = {0};
        ct_err err = {0};
        CHECK_OK(
            ct__definition_new(BAG_TOPIC[t].type2, "ros2msg", BAG_TOPIC[t].text2, strlen(BAG_TOPIC[t].text2), &a, &err),
            err);
        CHECK_OK(ct__definition_new(BAG_TOPIC[t].type2, "", "", 0, &b, &err), err);
        if (!a || !b) continue;
        CHECK_OK(ct__definition_fields(a, NULL, &x, &err), err);
        CHECK_OK(ct__definition_fields(b, NULL, &y, &err), err);
        CHECK(x.count == y.count);
        for (int64_t i = 0; i < x.count && i < y.count; i++) {
            CHECK(!strcmp(x.field[i].name, y.field[i].name));
            CHECK(!strcmp(x.field[i].type, y.field[i].type));
        }
        ct__fields_free(&x);
        ct__fields_free(&y);
        ct__definition_free(a);
        ct__definition_free(b);
    }
    static const char *const ALL[] = {"sensor_msgs/msg/Imu",
                                      "sensor_msgs/msg/LaserScan",
                                      "sensor_msgs/msg/JointState",
                                      "sensor_msgs/msg/Range",
                                      "sensor_msgs/msg/MagneticField",
                                      "nav_msgs/msg/Path",
                                      "nav_msgs/msg/OccupancyGrid",
                                      "std_msgs/msg/Float64MultiArray",
                                      "std_msgs/msg/Empty",
                                      "geometry_msgs/msg/PolygonStamped",
                                      "sensor_msgs/msg/PointCloud2",
                                      "rcl_interfaces/msg/Log",
                                      "sensor_msgs/msg/CameraInfo"};
    for (size_t i = 0; i < sizeof ALL / sizeof *ALL; i++) {
        ct__definition *d = NULL;
        ct_err err = {0};
        CHECK_OK(ct__definition_new(ALL[i], "", "", 0, &d, &err), err);
        ct__definition_free(d);
    }
}

/* ---- JSON ---- */

static void test_json_messages(void)
{
    static const char TEXT[] = "{\"header\": {\"stamp\": {\"sec\": 1700000000, \"nsec\": 7}, \"frame_id\": \"a\"},"
                               " \"v\": [1, 2.5, true], \"list\": [{\"x\": 1}, {\"y\": 2}]}";
    ct__json_plan *plan = NULL;
    ct__value v[4];
    ct_err err = {0};
    int more;
    CHECK_OK(ct__json_plan_new("list", &plan, &err), err);
    CHECK_OK(ct__json_plan_bind(plan, "^.header.stamp", 0, &err), err);
    CHECK_OK(ct__json_plan_bind(plan, "x", 1, &err), err);
    CHECK_OK(ct__json_plan_bind(plan, "^.v[1]", 2, &err), err);
    CHECK_OK(ct__json_plan_bind(plan, "^.header.frame_id", 3, &err), err);
    CHECK_OK(ct__json_plan_begin(plan, TEXT, strlen(TEXT), v, 4, &err), err);
    CHECK_OK(ct__json_plan_next(plan, v, &more, &err), err);
    CHECK(more && v[0].kind == CT__VALUE_TIME && v[0].integer == 1700000000000000007LL);
    CHECK(v[1].kind == CT__VALUE_INTEGER && v[1].integer == 1 && v[2].number == 2.5 && v[3].kind == CT__VALUE_TEXT);
    CHECK_OK(ct__json_plan_next(plan, v, &more, &err), err);
    CHECK(more && v[1].kind == CT__VALUE_MISSING);
    CHECK_OK(ct__json_plan_next(plan, v, &more, &err), err);
    CHECK(!more);
    CHECK_REFUSED(ct__json_plan_begin(plan, "{]", 2, v, 4, &err), err, "no JSON object");
    ct__json_plan_free(plan);
}

int main(void)
{
    RUN(test_all_kinds_of_fields);
    RUN(test_elements_as_records);
    RUN(test_paths_that_lead_nowhere);
    RUN(test_idl);
    RUN(test_definitions_that_are_refused);
    RUN(test_hostile_nesting);
    RUN(test_lengths_in_messages);
    RUN(test_wide_text);
    RUN(test_cdr_headers);
    RUN(test_well_known_types);
    RUN(test_json_messages);
    return ct_test_end();
}
