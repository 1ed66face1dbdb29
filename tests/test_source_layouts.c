/* test_source_layouts.c: TUM, EuRoC, KITTI, g2o, gzip, and the recorded files of others. */
#include "source_test.h"

static ct_err err;
static records r;

static ct_status read_as(const char *text, ct_source_format format, const char *const expression[], const char *name)
{
    ct_source_options options = ct_source_defaults();
    options.format = format;
    return read_records(write_text("in.txt", text), &options, expression, name, &r, &err);
}

#define TUM                                                                                                            \
    "# ground truth\n# timestamp tx ty tz qx qy qz qw\n1305031098.6659 1.5 -2 3 0.6 0 0 0.8\n1305031098.7 1 2 3 0 0 "  \
    "0 1\n"

static void test_tum_columns_have_names(void)
{
    for (int format = 0; format < 2; format++) {
        CHECK_OK(
            read_as(TUM, format ? CT_SOURCE_AUTO : CT_SOURCE_TUM, NAMES("x", "y", "z", "qx", "qw", "tx", "ty"), NULL),
            err);
        CHECK(r.count == 2 && r.stamp[0] == 1305031098665900000 && r.value[0][0] == 1.5 && r.value[0][1] == -2);
        CHECK(r.value[0][3] == 0.6 && r.value[0][4] == 0.8 && r.value[0][5] == 1.5 && r.value[1][6] == 2);
    }
    CHECK_REFUSED(read_as("1 2 3 4\n", CT_SOURCE_TUM, NULL, NULL), err, "has 4 columns; format tum has 8");
    CHECK_REFUSED(read_as(TUM "1 2 3\n", CT_SOURCE_TUM, NULL, NULL), err,
                  "in.txt:5: the line has 3 columns, the table has 8");
    /* names of the file's own header are known as well */
    CHECK_OK(read_as("# stamp px py pz q1 q2 q3 q4\n1 2 3 4 0 0 0 1\n", CT_SOURCE_AUTO, NAMES("py", "q4", "x"), NULL),
             err);
    CHECK(r.value[0][0] == 3 && r.value[0][1] == 1 && r.value[0][2] == 2 && r.stamp[0] == 1000000000);
    /* eight numbers that are no pose are a table */
    CHECK_OK(read_as("1 2 3 4 5 6 7 8\n", CT_SOURCE_AUTO, NAMES("#8"), NULL), err);
    CHECK(r.stamp[0] == 0 && r.value[0][0] == 8);
    ct_source_options options = ct_source_defaults();
    options.format = CT_SOURCE_TUM;
    options.columns = 1;
    options.column = NAMES("a");
    CHECK_REFUSED(ct_source_open(write_text("in.txt", TUM), &options, &(ct_source *){0}, &err), err,
                  "names its columns itself");
}

static void test_euroc_stamps_are_in_ns(void)
{
    static const char *const text[] = {"#timestamp [ns],w_RS_S_x [rad s^-1],a_RS_S_x [m "
                                       "s^-2]\n1403636579758555392,-0.5,8.25\n1403636579763555584,1,2\n",
                                       "#timestamp, w_RS_S_x [rad s^-1], a_RS_S_x [m "
                                       "s^-2]\r\n1403636579758555392,-0.5,8.25\r\n1403636579763555584,1,2\r\n"};
    for (int i = 0; i < 4; i++) {
        CHECK_OK(read_as(text[i % 2], i < 2 ? CT_SOURCE_AUTO : CT_SOURCE_EUROC,
                         NAMES("w_RS_S_x", "a_RS_S_x", "t in ns"), NULL),
                 err);
        CHECK(r.count == 2 && r.stamp[0] == 1403636579758555392 && r.stamp[1] == 1403636579763555584);
        CHECK(r.value[0][0] == -0.5 && r.value[0][1] == 8.25);
        CHECK_NEAR(r.value[0][2], 1403636579.758555392, 1e-6);
    }
}

/* Of simulators and robots without a clock. Whole seconds since 1970 are no ns. */
static void test_euroc_stamps_may_count_from_any_moment(void)
{
    static const char HEADER[] = "#timestamp, p_RS_R_x [m], p_RS_R_y [m], p_RS_R_z [m]\n";
    char text[300];
    snprintf(text, sizeof text, "%s5000000000000,1,2,3\n5000050000000,1,2,3\n", HEADER);
    CHECK_OK(read_as(text, CT_SOURCE_AUTO, NAMES("p_RS_R_x"), NULL), err);
    CHECK(r.count == 2 && r.stamp[0] == 5000000000000 && r.stamp[1] == 5000050000000);
    snprintf(text, sizeof text, "%s1403636579,1,2,3\n1403636580,1,2,3\n", HEADER);
    CHECK_OK(read_as(text, CT_SOURCE_AUTO, NAMES("p_RS_R_x"), NULL), err);
    CHECK(r.count == 2 && r.stamp[1] - r.stamp[0] == 1000000000);
}

static void test_kitti_with_and_without_time(void)
{
    const char *row = "1 0 0 1.5 0 1 0 2.5 0 0 1 3.5\n";
    char text[200];
    snprintf(text, sizeof text, "%s%s", row, row);
    for (int format = 0; format < 2; format++) {
        CHECK_OK(read_as(text, format ? CT_SOURCE_AUTO : CT_SOURCE_KITTI, NAMES("m11", "m14", "m24", "m34"), NULL),
                 err);
        CHECK(r.count == 2 && r.stamp[1] == 1000000000 && r.value[1][0] == 1 && r.value[1][1] == 1.5 &&
              r.value[1][3] == 3.5);
    }
    snprintf(text, sizeof text, "0.5 %s0.75 %s", row, row);
    for (int format = 0; format < 2; format++) {
        CHECK_OK(read_as(text, format ? CT_SOURCE_AUTO : CT_SOURCE_KITTI, NAMES("m11", "m14", "m24", "m34"), NULL),
                 err);
        CHECK(r.count == 2 && r.stamp[1] == 750000000 && r.value[1][0] == 1 && r.value[1][1] == 1.5 &&
              r.value[1][3] == 3.5);
    }
    CHECK_REFUSED(read_as("1 2 3\n", CT_SOURCE_KITTI, NULL, NULL), err, "format kitti has 12, or 13 with t first");
}

static void test_g2o_columns_depend_on_the_tag(void)
{
    const char *text =
        "VERTEX_SE2 7 1 2 3\nEDGE_SE2 1 2 0.5 0.25 0.125 1 0 0 1 0 1\nFIX 7\n"
        "VERTEX_SE3:QUAT 8 1 2 3 0 0 0 1\nEDGE_SE3:QUAT 3 4 1 2 3 0.1 0.2 0.3 0.4 1 0 0\nPARAMS_OURS 1\n";
    CHECK_OK(read_as(text, CT_SOURCE_AUTO, NAMES("i", "j", "x", "yaw", "z", "qw"), "tag"), err);
    CHECK(r.count == 6 && !strcmp(r.text[1], "EDGE_SE2") && !strcmp(r.text[5], "PARAMS_OURS"));
    CHECK(r.value[0][0] == 7 && isnan(r.value[0][1]) && r.value[0][2] == 1 && r.value[0][3] == 3);
    CHECK(r.value[1][1] == 2 && r.value[1][2] == 0.5 && r.value[1][3] == 0.125 && isnan(r.value[1][4]));
    CHECK(r.value[2][0] == 7 && isnan(r.value[2][2]) && r.value[3][5] == 1 && isnan(r.value[3][1]));
    CHECK(r.value[4][1] == 4 && r.value[4][4] == 3 && r.value[4][5] == 0.4 && isnan(r.value[5][0]));
    ct_source_options options = ct_source_defaults();
    options.where = "tag == 'EDGE_SE2' and j == i + 1";
    CHECK_OK(read_records(write_text("in.txt", text), &options, NAMES("yaw in deg"), NULL, &r, &err), err);
    CHECK(r.count == 1 && r.counts.left_out == 5);
    CHECK_REFUSED(read_as("EDGE_SE2 1 2 0.5\n", CT_SOURCE_G2O, NAMES("i"), NULL), err,
                  "in.txt:1: EDGE_SE2 has 5 words after the tag, found 3");
    CHECK_REFUSED(read_as("EDGE_SE2 1 2 0.5 x 1\n", CT_SOURCE_G2O, NAMES("y"), NULL), err,
                  "in.txt:1: column \"y\": expected a number");
}

/* ---- gzip ---- */

static uint32_t crc_of(const unsigned char *bytes, size_t size)
{
    uint32_t crc = 0xffffffff;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int k = 0; k < 8; k++) crc = crc & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
    }
    return ~crc;
}

/* A gzip member with its content stored (RFC 1952, RFC 1951 3.2.4): ours, so that the test needs no program. */
static size_t gzip_member(const char *text, unsigned char *out)
{
    const size_t n = strlen(text);
    const uint32_t crc = crc_of((const unsigned char *)text, n);
    unsigned char *at = out;
    memcpy(at, "\x1f\x8b\x08\0\0\0\0\0\0\xff\x01", 11);
    at += 11;
    *at++ = (unsigned char)n, *at++ = (unsigned char)(n >> 8);
    *at++ = (unsigned char)~n, *at++ = (unsigned char)(~n >> 8);
    memcpy(at, text, n);
    at += n;
    for (int i = 0; i < 4; i++) *at++ = (unsigned char)(crc >> 8 * i);
    for (int i = 0; i < 4; i++) *at++ = (unsigned char)(n >> 8 * i);
    return (size_t)(at - out);
}

static void test_gzip_is_read_as_its_text(void)
{
    unsigned char bytes[1000];
    size_t size = gzip_member("t,x\n1,2\n3,", bytes);
    size += gzip_member("4\n5,6\n", bytes + size); /* two members are one text */
    const ct_status status = read_records(write_bytes("in.csv.gz", bytes, size), NULL, NAMES("x"), NULL, &r, &err);
    if (status == CT_E_UNSUPPORTED) SKIP("built without zlib");
    CHECK_OK(status, err);
    CHECK(r.count == 3 && r.value[2][0] == 6 && r.line[2] == 4 && r.counts.bytes == (int64_t)size &&
          r.counts.size == (int64_t)size);
    for (size_t cut = 3; cut < size; cut++) { /* cut anywhere: never silently fewer records, but between members */
        const ct_status is = read_records(write_bytes("in.csv.gz", bytes, cut), NULL, NAMES("x"), NULL, &r, &err);
        if (is == CT_OK)
            CHECK(cut == gzip_member("t,x\n1,2\n3,", bytes));
        else
            CHECK(strstr(err.text, "cut short") || strstr(err.text, "there is no"));
    }
    size = gzip_member("t,x\n1,2\n3,4\n", bytes);
    bytes[size - 6] ^= 1;
    CHECK_REFUSED(read_records(write_bytes("in.csv.gz", bytes, size), NULL, NAMES("x"), NULL, &r, &err), err,
                  "damaged: incorrect data check");
    bytes[size - 6] ^= 1;
    bytes[size - 1] ^= 1;
    CHECK_REFUSED(read_records(write_bytes("in.csv.gz", bytes, size), NULL, NAMES("x"), NULL, &r, &err), err,
                  "damaged: incorrect length");
    bytes[size - 1] ^= 1;
    bytes[size] = 'x';
    CHECK_REFUSED(read_records(write_bytes("in.csv.gz", bytes, size + 1), NULL, NAMES("x"), NULL, &r, &err), err,
                  "bytes that are no gzip follow");
    size = gzip_member(TUM, bytes); /* the layout is found inside */
    CHECK_OK(read_records(write_bytes("in.gz", bytes, size), NULL, NAMES("qw"), NULL, &r, &err), err);
    CHECK(r.count == 2 && r.value[0][0] == 0.8);
}

/* ---- recorded files ---- */

/* Number of records, and the sum of an expression, of a file of the reference data. */
static void recorded(const char *name, const char *where, const char *expression, int count, ct_ns first, double value)
{
    ct_source_options options = ct_source_defaults();
    const char *path = ct_test_shared(name);
    options.where = where;
    CHECK_OK(read_records(path, &options, NAMES(expression), NULL, &r, &err), err);
    CHECK(r.count == count && r.stamp[0] == first && r.value[0][0] == value);
    if (r.count != count)
        fprintf(stderr, "%s: %d records, %lld, %.17g\n", name, r.count, (long long)r.stamp[0], r.value[0][0]);
}

static void test_recorded_files_are_read_without_options(void)
{
    if (!ct_test_shared("data/README.md")) SKIP("../shared/data is not there");
    recorded("data/evo/freiburg1_xyz-groundtruth.txt", NULL, "x", 3000, 1305031098665900000, 1.3563);
    recorded("data/evo/KITTI_00_gt.txt", NULL, "m11", 4541, 0, 1);
    recorded("data/kitti/gt_00.txt", NULL, "m11", 4541, 0, 1);
    recorded("data/kitti/kitti_00.g2o", "tag == 'EDGE_SE2' and j == i + 1", "x", 4540, 0, 0.686993);
    recorded("data/mrclam6/Robot1_Odometry.dat", NULL, "`forward velocity`", 17738, 1248444187156000000, 0.086);
    recorded("data/plaza1/range.csv", "sender == 2", "range", 3529, 3858062000000, 65.4660078);
    recorded("data/labyrinth/Indoor_UWB_Input.txt", "#1 == 'range2'", "#3", 233, 0, 2.95522014829822);
}

int main(void)
{
    RUN(test_tum_columns_have_names);
    RUN(test_euroc_stamps_are_in_ns);
    RUN(test_euroc_stamps_may_count_from_any_moment);
    RUN(test_kitti_with_and_without_time);
    RUN(test_g2o_columns_depend_on_the_tag);
    RUN(test_gzip_is_read_as_its_text);
    RUN(test_recorded_files_are_read_without_options);
    return ct_test_end();
}
