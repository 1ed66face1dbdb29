/* test_source.c: tables as streams of records. */
#include "source_test.h"

static ct_err err;
static records r;

/* The records of a text with the default options. */
static ct_status read_text(const char *text, const char *const expression[], const char *name)
{
    return read_records(write_text("in.csv", text), NULL, expression, name, &r, &err);
}

static int same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

/* ---- dialects ---- */

static void test_every_dialect_gives_the_same_records(void)
{
    static const char *const text[] = {
        "t,x,name\n1,0.5,a b\n2,-3e2,c\n",                             /* comma            */
        "t;x;name\n1;0.5;a b\n2;-3e2;c\n",                             /* semicolon        */
        "t\tx\tname\n1\t0.5\ta b\n2\t-3e2\tc\n",                       /* tab              */
        "t|x|name\n1|0.5|a b\n2|-3e2|c\n",                             /* bar              */
        "t x name\n1 0.5 \"a b\"\n2 -3e2 c\n",                         /* blanks           */
        "  t   x \t name\n  1   0.5\t\"a b\"  \n2\t-3e2 \t c",         /* many, no last LF */
        "t,x,name\r\n1,0.5,a b\r\n2,-3e2,c\r\n",                       /* CR LF            */
        "\xef\xbb\xbft,x,name\n1,0.5,a b\n2,-3e2,c\n",                 /* byte order mark  */
        "t,x,name,\n1,0.5,a b,\n2,-3e2,c,\n",                          /* separator at end */
        "t,x,name\n1,0.5,a b,\n2,-3e2,c,\n",                           /* ... not in header */
        "t , x , name\n 1 , 0.5 , a b \n\n\n2,-3e2,c\n\n",             /* blanks, empty lines */
        "# a log\n\nt,x,name\n# middle\n1,0.5,a b\n2,-3e2,c\n# end\n", /* comments */
        "\"t\",\"x\",\"name\"\n\"1\",\"0.5\",\"a b\"\n2,-3e2,\"c\"\n", /* quotes */
        "#t,x,name\n1,0.5,a b\n2,-3e2,c\n",                            /* names in a comment */
        "% made by hand\n%%\n%   t   x   name\n1 0.5 \"a b\"\n2 -3e2 c\n",
        "// made by hand\n//t,x,name\n1,0.5,a b\n2,-3e2,c\n",
        "%t,x,name\n1,0.5,a b\n2,-3e2,c\n",
        "# t x name\n1 0.5 \"a b\"\n2 -3e2 c\n",
        "#! made by hand\n# Time [s]    x [m]   name\n1\t0.5\ta b\n2\t-3e2\tc\n",
    };
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        err.text[0] = 0;
        CHECK_OK(read_text(text[i], NAMES("x"), "name"), err);
        const int good = r.count == 2 && r.value[0][0] == 0.5 && r.value[1][0] == -300 && r.stamp[0] == 1000000000 &&
                         r.stamp[1] == 2000000000 && !strcmp(r.text[0], "a b") && !strcmp(r.text[1], "c");
        CHECK(good);
        if (!good)
            fprintf(stderr, "text %zu: %d records, %g %g %s\n", i, r.count, r.value[0][0], r.value[1][0], r.text[0]);
    }
}

static void test_quotes_hold_separators_quotes_and_nothing(void)
{
    CHECK_OK(read_text("a,b,c\n\"x, y\",\"say \"\"hi\"\"\",1\n\"\",b\"c,2\n", NAMES("c"), "b"), err);
    CHECK(r.count == 2 && !strcmp(r.text[0], "say \"hi\"") && !strcmp(r.text[1], "b\"c") && r.value[1][0] == 2);
    CHECK_REFUSED(read_text("a,b\n\"x,1\n", NAMES("b"), NULL), err,
                  "in.csv:2: column 1: a quoted word has no closing quote");
    CHECK_REFUSED(read_text("a,b\n\"x\"y,1\n", NAMES("b"), NULL), err, "in.csv:2: column 1: a quoted word");
}

static void test_options_override_the_guess(void)
{
    ct_source_options options = ct_source_defaults();
    const char *path = write_text("in.csv", "junk\n1;2,3;4\n% note\n5;6,7;8\n-9;10,11;12\n");
    options.separator = ",";
    options.skip = 1;
    options.comment = "%";
    options.header = 0;
    CHECK_OK(read_records(path, &options, NULL, "#2", &r, &err), err);
    CHECK(r.count == 3 && !strcmp(r.text[0], "3;4") && r.line[0] == 2 && r.line[1] == 4);
    options.separator = ";";
    options.columns = 3;
    options.column = NAMES("t", "pair", "z");
    CHECK_OK(read_records(path, &options, NAMES("z"), "pair", &r, &err), err);
    CHECK(r.count == 3 && r.value[2][0] == 12 && r.stamp[0] == 1000000000 && !strcmp(r.text[2], "10,11"));
    options.missing = NAMES("8", "-9.0");
    options.missings = 2;
    CHECK_OK(read_records(path, &options, NAMES("z", "t"), NULL, &r, &err), err);
    CHECK(r.count == 3 && isnan(r.value[1][0]) && r.value[0][0] == 4 && isnan(r.value[2][1]));
    options.separator = "::";
    CHECK_REFUSED(ct_source_open(path, &options, &(ct_source *){0}, &err), err, "the separator is one character");
    options = ct_source_defaults();
    options.constants = -1;
    CHECK_REFUSED(ct_source_open(path, &options, &(ct_source *){0}, &err), err, "negative");
}

static void test_the_header_is_guessed_or_told(void)
{
    ct_source_options options = ct_source_defaults();
    CHECK_OK(read_text("1,2\n3,4\n", NAMES("#1", "#2"), NULL), err); /* numbers: no header */
    CHECK(r.count == 2 && r.value[0][0] == 1 && r.value[1][1] == 4 && r.stamp[1] == 1000000000);
    CHECK_OK(read_text("ODOM 1 2\nODOM 3 4\n", NAMES("#2"), "#1"), err); /* a number in the first line: none */
    CHECK(r.count == 2 && !strcmp(r.text[0], "ODOM"));
    CHECK_OK(read_text("name,kind\na,b\n", NULL, "kind"), err); /* words alone: a header */
    CHECK(r.count == 1 && !strcmp(r.text[0], "b"));
    CHECK_OK(read_text("a,b\n", NAMES("a"), NULL), err);
    CHECK(r.count == 0);
    options.header = 1;
    CHECK_OK(read_records(write_text("in.csv", "1,2\n3,4\n"), &options, NAMES("`1`", "`2`"), NULL, &r, &err), err);
    CHECK(r.count == 1 && r.value[0][1] == 4);
    options.header = 0;
    CHECK_OK(read_records(write_text("in.csv", "a,b\nc,d\n"), &options, NULL, "#2", &r, &err), err);
    CHECK(r.count == 2 && !strcmp(r.text[0], "b"));
    options.header = -1; /* words alone, and the caller names the columns: records */
    options.columns = 2;
    options.column = NAMES("u", "v");
    CHECK_OK(read_records(write_text("in.csv", "a,b\nc,d\n"), &options, NULL, "v", &r, &err), err);
    CHECK(r.count == 2 && !strcmp(r.text[1], "d"));
    CHECK_OK(read_records(write_text("in.csv", "a,b\n1,2\n"), &options, NAMES("v"), NULL, &r, &err), err);
    CHECK(r.count == 1 && r.value[0][0] == 2);
}

/* ---- columns ---- */

static void test_units_of_the_header_are_told_and_not_applied(void)
{
    ct_source *s = NULL;
    const char *path = write_text("in.csv", "#timestamp [ns],p_RS_R_x [m],speed (km/h),yaw(rad),note (x)\n"
                                            "1403636579763555584,1,3.6,2,hello\n");
    ct_source_options options = ct_source_defaults();
    options.format = CT_SOURCE_TABLE;
    CHECK_OK(ct_source_open(path, &options, &s, &err), err);
    if (!s) return;
    static const char *const name[] = {"timestamp", "p_RS_R_x", "speed", "yaw", "note (x)"};
    static const char *const type[] = {"number [ns]", "number [m]", "number [km/h]", "number [rad]", "text"};
    CHECK(ct_source_fields(s) == 5 && !ct_source_field_at(s, 5) && !ct_source_field_at(s, -1));
    for (int i = 0; i < 5; i++)
        CHECK(!strcmp(ct_source_field_at(s, i)->name, name[i]) && !strcmp(ct_source_field_at(s, i)->type, type[i]));
    ct_source_free(s);
    CHECK_OK(
        read_records(path, &options, NAMES("speed", "`speed (km/h)` in km/h", "#2", "`p_RS_R_x [m]`"), NULL, &r, &err),
        err);
    CHECK(r.stamp[0] == 1403636579763555584 && r.value[0][0] == 3.6 && r.value[0][1] == 1 && r.value[0][2] == 1 &&
          r.value[0][3] == 1);
}

static void test_names_with_brackets_and_of_other_encodings(void)
{
    CHECK_OK(read_text("t,ranges[0],ranges[1],omega[rad/s],x [a b]\n1,2,3,4,5\n",
                       NAMES("ranges[0]", "ranges[1]", "omega", "x"), NULL),
             err);
    for (int i = 0; i < 4; i++) CHECK(r.value[0][i] == i + 2);
    CHECK_OK(read_text("t;Gr\xf6\xdf"
                       "e [m]\n1;2\n",
                       NAMES("Gr\xc3\xb6\xc3\x9f"
                             "e"),
                       NULL),
             err); /* Latin-1 */
    CHECK(r.value[0][0] == 2);
    CHECK_OK(read_text("t;Gr\xc3\xb6\xc3\x9f"
                       "e [m]\n1;2\n",
                       NAMES("Gr\xc3\xb6\xc3\x9f"
                             "e"),
                       NULL),
             err);
    CHECK(r.value[0][0] == 2);
}

static void test_names_that_are_not_there_are_refused_with_the_nearest(void)
{
    CHECK_REFUSED(read_text("t,speed,omega\n1,2,3\n", NAMES("sped"), NULL), err,
                  "there is no \"sped\"; is it \"speed\"?");
    CHECK_REFUSED(read_text("t,speed,omega\n1,2,3\n", NAMES("heading"), NULL), err, "there is t, speed, omega");
    CHECK_REFUSED(read_text("t,speed,omega\n1,2,3\n", NAMES("#4"), NULL), err, "there is no \"#4\"");
    CHECK_REFUSED(read_text("t,speed,omega\n1,2,3\n", NULL, "omeg"), err, "is it \"omega\"?");
    CHECK_REFUSED(read_text("x,x\n1,2\n", NAMES("x"), NULL), err, "two columns are called \"x\": write #1 or #2");
    CHECK_OK(read_text("x,x [m],x [deg]\n1,2,3\n", NAMES("x", "`x [deg]`"), NULL), err); /* as written */
    CHECK(r.value[0][0] == 1 && r.value[0][1] == 3);
    CHECK_REFUSED(read_text("x [m],x [deg]\n2,3\n", NAMES("x"), NULL), err, "two columns are called");
}

static void test_names_of_several_words_need_no_backquotes_where_they_stand_alone(void)
{
    const char *text = "Time [s],forward velocity [m/s],std-dev,x\n1,3.6,2,5\n";
    CHECK_OK(read_text(text,
                       NAMES("forward velocity", "forward velocity in km/h", "std-dev", "`std-dev` + x",
                             "forward velocity [m/s]"),
                       "`std-dev`"),
             err);
    CHECK(r.value[0][0] == 3.6 && r.value[0][1] == 1 && r.value[0][2] == 2 && r.value[0][3] == 7 &&
          r.value[0][4] == 3.6);
    CHECK(!strcmp(r.text[0], "2"));
    CHECK_REFUSED(read_text(text, NAMES("std"), NULL), err,
                  "there is no \"std\"; is it `std-dev`, written with these backquotes?");
    CHECK_REFUSED(read_text(text, NAMES("forward velocty"), NULL), err, "is it `forward velocity`");
    ct_source_options options = ct_source_defaults();
    options.time = "std-dev in ms";
    options.constants = 1;
    options.constant = NAMES("robot", "07");
    CHECK_OK(read_records(write_text("in.csv", text), &options, NAMES("x"), "robot", &r, &err), err);
    CHECK(r.stamp[0] == 2000000 && !strcmp(r.text[0], "7")); /* a constant as text */
    options.time = "std-dev + 1";
    CHECK_REFUSED(read_records(write_text("in.csv", text), &options, NAMES("x"), "robot", &r, &err), err,
                  "there is no \"std\"");
}

/* A line of units below the header has no values. */
static void test_a_line_of_units_is_skipped(void)
{
    CHECK_OK(read_text("t,x,yaw,n\ns,[m],(deg),-\n1,2,3,4\n2,3,4,5\n", NAMES("x", "yaw in deg"), NULL), err);
    CHECK(r.count == 2 && r.line[0] == 3 && r.value[0][0] == 2);
    CHECK_OK(read_text("t,x\nms,mm\n1,2\n2,3\n", NAMES("x"), NULL), err); /* and has the unit of the stamp */
    CHECK(r.count == 2 && r.stamp[1] == 2000000);
    CHECK_REFUSED(read_text("t,x,yaw\ns,lots,deg\n1,2,3\n2,3,4\n", NAMES("x"), NULL), err,
                  "in.csv:2: column \"x\": expected a number, found \"lots\"");
    CHECK_OK(read_text("name,kind\nm,s\n", NULL, "name"), err); /* nothing but words: values */
    CHECK(r.count == 1);
}

/* A comma that separates nothing is that of a decimal, also of stamps. */
static void test_decimal_commas_are_read_where_the_separator_is_another(void)
{
    static const char *const text[] = {
        "t;x;y\n1600000000,25;-0,5;1e3\n1600000000,5;0,25;2,5\n",
        "t\tx\ty\n1600000000,25\t-0,5\t1e3\n1600000000,5\t0,25\t2,5\n",
        "t x y\n1600000000,25 -0,5 1e3\n1600000000,5 0,25 2,5\n",
        "t;x;y\n\"1600000000,25\";\"-0,5\";1e3\n1600000000,5;0.25;2,5\n",
    };
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        CHECK_OK(read_text(text[i], NAMES("x", "y", "t - 1600000000"), NULL), err);
        CHECK(r.count == 2 && r.stamp[0] == 1600000000250000000 && r.stamp[1] == 1600000000500000000);
        CHECK(r.value[0][0] == -0.5 && r.value[1][0] == 0.25 && r.value[0][1] == 1000 && r.value[1][1] == 2.5);
        CHECK(r.value[0][2] == 0.25);
    }
}

/* A title above the header: the separator is still found, and the sentence says how to go on. */
static void test_lines_before_the_table_are_told(void)
{
    const char *text = "Run of today\nt,x,y\n1,2,3\n2,3,4\n3,4,5\n4,5,6\n5,6,7\n";
    CHECK_REFUSED(read_text(text, NULL, NULL), err,
                  "in.csv:2: the line has 3 columns, the header in line 1 has 1; `skip`");
    ct_source_options options = ct_source_defaults();
    options.skip = 1;
    CHECK_OK(read_records(write_text("in.csv", text), &options, NAMES("y"), NULL, &r, &err), err);
    CHECK(r.count == 5 && r.value[4][0] == 7 && r.line[0] == 3);
}

static void test_missing_values_are_nan(void)
{
    CHECK_OK(read_text("t,x,y\n1,,2\n2,nan,NaN\n3,NA,3\n4,inf,-Infinity\n", NAMES("x", "y", "x + y"), NULL), err);
    CHECK(r.count == 4 && isnan(r.value[0][0]) && r.value[0][1] == 2 && isnan(r.value[1][1]) && isnan(r.value[2][0]));
    CHECK(isnan(r.value[0][2]) && isinf(r.value[3][0]) && r.value[3][1] == -INFINITY);
    CHECK_OK(read_text("t,x\n1,2\nNA,3\n,4\n", NAMES("x"), NULL), err); /* records without a stamp are counted */
    CHECK(r.count == 1 && r.counts.no_stamp == 2 && r.counts.records == 1);
    CHECK_REFUSED(read_text("t,x\n1,N/A\n2,3\n", NAMES("x"), NULL), err,
                  "in.csv:2: column \"x\": expected a number, found \"N/A\"");
    CHECK_REFUSED(read_text("t,x\n1,\xff\xfe\xc3\xa9\n", NAMES("x"), NULL), err, "found \"??\xc3\xa9\"");
    CHECK_REFUSED(read_text("t;x\n1;0,5,5\n", NAMES("x"), NULL), err, "expected a number, found \"0,5,5\"");
}

static void test_lines_with_other_widths_are_refused_with_their_number(void)
{
    CHECK_REFUSED(read_text("t,x,y\n1,2,3\n2,3\n", NAMES("x"), NULL), err,
                  "in.csv:3: the line has 2 columns, the table has 3: it is cut short");
    CHECK_REFUSED(read_text("t,x,y\n1,2,3\n2,3,4,5\n", NAMES("x"), NULL), err,
                  "in.csv:3: the line has 4 columns, the table has 3");
    CHECK_REFUSED(read_text("1 2 3\n2 3\n", NAMES("#1"), NULL), err, "in.csv:2: the line has 2 columns");
    CHECK_REFUSED(read_text("t,x\n1,2\n3\n", NAMES("x"), NULL), err,
                  "in.csv:3: the line has 1 column, the table has 2");
    CHECK_REFUSED(read_text("t,x\n3\n", NAMES("x"), NULL), err,
                  "in.csv:2: the line has 1 column, the header in line 1 has 2");
    CHECK_REFUSED(read_text("t,x,y\n1,2,3\n2,3,4,,\n", NAMES("x"), NULL), err, "has 5 columns");
    CHECK_REFUSED(read_text("t,x,y\n1,\"2\",3\n2,\"3\"\n", NAMES("x"), NULL), err, "in.csv:3: the line has 2 columns");
    CHECK_REFUSED(read_text("t,x\n1,2\n3,4x\n", NAMES("x"), NULL), err,
                  "in.csv:3: column \"x\": expected a number, found \"4x\"");
    CHECK_OK(read_text("t,x\n1,2\n3,4x\n", NAMES("t"), NULL), err); /* columns that nobody wants are not converted */
}

/* A recorder that loses power leaves a part of a line, or of a number's word. */
static void test_a_last_line_that_is_cut_short_is_left_out(void)
{
    static const char *const TEXT[] = {"t,x,y\n1,2,3\n2,3", "t,x,y\n1,2,3\n2,3,-", "t,x,y\n1,2,3\n2,1e,", "1 2 3\n2 3"};
    for (int i = 0; i < 4; i++) {
        CHECK_OK(read_text(TEXT[i], i < 3 ? NAMES("x", "y") : NAMES("#1", "#2"), NULL), err);
        CHECK(r.count == 1 && r.value[0][1] == (i < 3 ? 3 : 2));
        CHECK(r.counts.damaged == (int64_t)strlen(strrchr(TEXT[i], '\n') + 1));
    }
    CHECK_OK(read_text("t,x,y\n1,2,3\n2,3,4", NAMES("x", "y"), NULL), err); /* whole, but for the end of the line */
    CHECK(r.count == 2 && r.counts.damaged == 0);
    CHECK_REFUSED(read_text("t,x,y\n1,2", NAMES("x"), NULL), err, "in.csv:2: the line has 2 columns");
}

/* Lines of several kinds in one file: those that are left out need not have the columns. */
static void test_kinds_of_lines_are_told_apart_by_where(void)
{
    ct_source_options options = ct_source_defaults();
    const char *path =
        write_text("in.txt", "range 0.1 2.5 7\nodom 0.1 1 2 3 4\nrange 0.2 2.6 8\nbeep\nodom 0.2 a 2 3 4\n");
    options.where = "#1 == 'range'";
    options.time = "#2";
    CHECK_OK(read_records(path, &options, NAMES("#3"), "#4", &r, &err), err);
    CHECK(r.count == 2 && r.value[1][0] == 2.6 && !strcmp(r.text[0], "7") && r.counts.left_out == 3);
    options.where = "#1 == 'odom'";
    CHECK_REFUSED(read_records(path, &options, NAMES("#3"), "#4", &r, &err), err,
                  "in.txt:5: column \"#3\": expected a number, found \"a\"");
    options.where = "#1 == 'beep'";
    CHECK_REFUSED(read_records(path, &options, NAMES("#3"), "#4", &r, &err), err,
                  "in.txt:4: the line has 1 column, column");
    options.where = "#1 == 'range' or #1 == 'beep'";
    options.time = NULL;
    CHECK_REFUSED(read_records(path, &options, NAMES("#3"), NULL, &r, &err), err,
                  "in.txt:4: the line has 1 column, the table has 4: it is cut short");
    options.columns = 4;
    options.column = NAMES("kind", "t", "range", "id");
    options.time = NULL;
    options.where = "kind == 'range' and id == robot";
    options.constants = 1;
    options.constant = NAMES("robot", "8");
    CHECK_OK(read_records(path, &options, NAMES("range"), NULL, &r, &err), err);
    CHECK(r.count == 1 && r.stamp[0] == 200000000 && r.counts.left_out == 4);
    options.columns = 2; /* names of the first columns alone */
    options.column = NAMES("kind", "t");
    options.where = "kind == 'odom' and t < 0.15";
    CHECK_OK(read_records(path, &options, NAMES("#6"), NULL, &r, &err), err);
    CHECK(r.count == 1 && r.value[0][0] == 4);
    options.columns = 4;
    options.column = NAMES("kind", "t", "range", "id");
    options.where = "kind == 'beep'";
    CHECK_REFUSED(read_records(path, &options, NULL, NULL, &r, &err), err,
                  "in.txt:4: the line has 1 column, 4 are named");
    options.constant = NAMES("id", "8");
    options.where = "id == 8";
    CHECK_REFUSED(read_records(path, &options, NAMES("range"), NULL, &r, &err), err,
                  "\"id\" is a constant and also a field");
}

static void test_texts_of_numbers_are_equal_however_they_are_written(void)
{
    CHECK_OK(read_text("id,x\n7,1\n7.0,1\n07,1\n+7,1\n70e-1,1\n9007199254740993,1\nab,1\n,1\n0.1,1\n", NULL, "id"),
             err);
    for (int i = 0; i < 5; i++) CHECK(!strcmp(r.text[i], "7"));
    CHECK(!strcmp(r.text[5], "9007199254740993") && !strcmp(r.text[6], "ab") && !strcmp(r.text[7], "") &&
          !strcmp(r.text[8], "0.1"));
}

/* Decimals are read eight at once: what stands behind the word does not count, and what is no digit is refused. */
static void test_decimals_of_any_number_of_places(void)
{
    CHECK_OK(read_text("x,y\n.5,1\n5.,1\n-.5,9\n-5.25,99999999\n1.12345678,7\n1.123456789,7\n12345678.5,7\n"
                       "\"0.25\",7\n+0.0625,7\n-0.0,7\n7.5\t,3\n0.1,3.5\n",
                       NAMES("x", "y"), NULL),
             err);
    static const double x[] = {.5, 5., -.5, -5.25, 1.12345678, 1.123456789, 12345678.5, .25, .0625, -0., 7.5, .1};
    CHECK(r.count == 12);
    for (int i = 0; i < 12; i++) CHECK(r.value[i][0] == x[i]);
    CHECK(r.value[3][1] == 99999999 && r.value[11][1] == 3.5 && signbit(r.value[9][0]));
    static const char *const wrong[] = {"1.2.3", "1.-2", "1.23a", ".", "-", "1.2 3", "1.2/4", "1.2:4", "1.\xb0"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[64];
        snprintf(text, sizeof text, "x,y\n%s,1\n", wrong[i]);
        CHECK_REFUSED(read_text(text, NAMES("x"), NULL), err, "expected a number");
    }
}

/* ---- stamps ---- */

static void stamp_is(const char *word, const char *time, ct_ns expected)
{
    char text[200];
    ct_source_options options = ct_source_defaults();
    options.time = time;
    snprintf(text, sizeof text, "a,x\n%s,1\n", word);
    CHECK_OK(read_records(write_text("in.csv", text), &options, NAMES("x"), NULL, &r, &err), err);
    CHECK(r.count == 1 && r.stamp[0] == expected);
    if (r.stamp[0] != expected) fprintf(stderr, "%s (%s): %lld\n", word, time, (long long)r.stamp[0]);
}

static void test_stamps_are_exact(void)
{
    stamp_is("1403636579.763555527", "a", 1403636579763555527);
    stamp_is("1403636579763555527", "a in ns", 1403636579763555527);
    stamp_is("1403636579763555.527", "a in us", 1403636579763555527);
    stamp_is("1403636579763.555527", "a in ms", 1403636579763555527);
    stamp_is("1.403636579763555527e9", "a in s", 1403636579763555527);
    stamp_is("1403636579.76355552749999999", "a", 1403636579763555527);
    stamp_is("1403636579.7635555275", "a", 1403636579763555528);
    stamp_is("-1.5", "a", -1500000000);
    stamp_is("0.0000000004", "a", 0);
    stamp_is("-0.0000000005", "a", -1);
    stamp_is("9223372036854775807", "a in ns", INT64_MAX);
    stamp_is("3", "a in min", 180000000000);
    stamp_is("2", "a + 0.5", 2500000000);
    stamp_is("1e3", "a in ms", 1000000000);
    stamp_is("1403636579", "a + 763555527 * 1e-9", 1403636579763555527); /* sums keep all digits */
    stamp_is("763555527", "1403636579 + (a in ns)", 1403636579763555527);
    stamp_is("763555527", "1403636580 - (1000000000 - a) * 1e-9", 1403636579763555527);
    stamp_is("1403636579", "-(0 - a) + 1e-9", 1403636579000000001);
    stamp_is("1403636579", "a * 2 / 2", 1403636579000000000);
    stamp_is("0e99999999999", "a", 0);
    ct_source_options options = ct_source_defaults();
    options.time = "a";
    const char *path = write_text("in.csv", "a,x\n1403636579763555527,1\n");
    CHECK_REFUSED(read_records(path, &options, NAMES("x"), NULL, &r, &err), err,
                  "in.csv:2: the stamp \"1403636579763555527\"");
    CHECK(strstr(err.text, "in ns"));
    path = write_text("in.csv", "a,x\nsoon,1\n");
    CHECK_REFUSED(read_records(path, &options, NAMES("x"), NULL, &r, &err), err,
                  "in.csv:2: expected a number for the stamp, or a date with a time, found \"soon\"");
    path = write_text("in.csv", "Time [min],x\n1,1\n");
    CHECK_REFUSED(read_records(path, NULL, NAMES("x"), NULL, &r, &err), err, "is no stamp in s, ms, us or ns");
}

static void test_dates_are_stamps(void)
{
    stamp_is("1970-01-01T00:00:00Z", "a", 0);
    stamp_is("2009-07-22T14:31:12.841Z", "a", 1248273072841000000); /* date -d ... +%s */
    stamp_is("2009-07-22 14:31:12.841", "a", 1248273072841000000);
    stamp_is("2009/07/22 16:31:12.841+02:00", "a", 1248273072841000000);
    stamp_is("2009-07-22T09:01:12.841000000-0530", "a", 1248273072841000000);
    stamp_is("2000-02-29T23:59:59.9999999996Z", "a", 951868800000000000);
    stamp_is("2100-03-01T00:00Z", "a", 4107542400000000000);
    stamp_is("1969-12-31T23:59:59.5Z", "a", -500000000);
    static const char *const apart[] = {"% GPST lat lon\n2005/04/02 00:00:30.500  35.1 139.6\n",
                                        "2005-04-02,00:00:30.5,35.1,139.6\n",
                                        "2005/04/02\t 00:00:30.500\t35.1\t139.6\n"};
    for (int i = 0; i < 3; i++) { /* the time of day in the next column */
        ct_source_options in_two = ct_source_defaults();
        in_two.time = "#1";
        CHECK_OK(read_records(write_text("in.pos", apart[i]), &in_two, NAMES("#3", "#4"), NULL, &r, &err), err);
        CHECK(r.count == 1 && r.stamp[0] == 1112400030500000000 && r.value[0][0] == 35.1 && r.value[0][1] == 139.6);
    }
    static const char *const bad[] = {"2009-02-29T00:00:00Z",
                                      "2009-13-01T00:00:00Z",
                                      "2009-07-22T24:00:00Z",
                                      "2009-07-22T10:00:00X",
                                      "2009-07-22",
                                      "2009-07-22T10:60:00",
                                      "12:30:00"};
    ct_source_options options = ct_source_defaults();
    options.time = "a";
    for (int i = 0; i < 7; i++) {
        char text[100];
        snprintf(text, sizeof text, "a,x\n%s,1\n", bad[i]);
        CHECK_REFUSED(read_records(write_text("in.csv", text), &options, NAMES("x"), NULL, &r, &err), err,
                      "in.csv:2: expected a number for the stamp, or a date with a time");
    }
    ct_source *s = NULL;
    CHECK_OK(ct_source_open(write_text("in.csv", "time,x\n2009-07-22T14:31:12Z,1\n"), NULL, &s, &err), err);
    if (s) CHECK(!strcmp(ct_source_field_at(s, 0)->type, "time"));
    ct_source_free(s);
}

static void test_the_stamp_is_found_by_its_name(void)
{
    CHECK_OK(read_text("x,timestamp_ns\n7,1700000000123456789\n", NAMES("x"), NULL), err); /* with its unit behind */
    CHECK(r.count == 1 && r.stamp[0] == 1700000000123456789);
    CHECK_OK(read_text("x,time_ms,t\n7,5,6\n", NAMES("x"), NULL), err); /* a plain name first */
    CHECK(r.count == 1 && r.stamp[0] == 6000000000);
    CHECK_OK(read_text("x,time_us\n7,5\n", NAMES("x"), NULL), err);
    CHECK(r.count == 1 && r.stamp[0] == 5000);
    static const char *const header[] = {"x,t",        "x,Time", "x,TIMESTAMP", "x,stamp",
                                         "x,Time [s]", "Time,t", "%x,stamp(s)"};
    for (int i = 0; i < 7; i++) {
        char text[100];
        snprintf(text, sizeof text, "%s\n4,5\n", header[i]);
        CHECK_OK(read_text(text, NAMES("#1"), NULL), err);
        CHECK(r.stamp[0] == 5000000000);
    }
    CHECK_OK(read_text("x,time [ms]\n4,5\n", NAMES("x"), NULL), err);
    CHECK(r.stamp[0] == 5000000);
    CHECK_OK(read_text("x,y\n4,5\n4,5\n", NAMES("x"), NULL), err); /* none: numbered */
    CHECK(r.stamp[0] == 0 && r.stamp[1] == 1000000000);
}

/* ---- files ---- */

static void test_what_is_no_text_is_refused_with_a_sentence(void)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *part;
    } bad[] = {{"t,x\n1,\0002\n", 9, "in.csv:2: a NUL byte"},
               {"\xff\xfet\0,\0", 6, "UTF-16"},
               {"BZh91AY", 7, "bzip2"},
               {"\xfd"
                "7zXZ\0",
                6, "unxz"},
               {"\x28\xb5\x2f\xfd"
                "abc",
                7, "zstd"},
               {"PK\x03\x04....", 8, "zip"},
               {"t,x\r1,2\r", 8, "carriage return"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_REFUSED(read_records(write_bytes("in.csv", bad[i].bytes, bad[i].size), NULL, NAMES("x"), NULL, &r, &err),
                      err, bad[i].part);
    CHECK_REFUSED(read_records(scratch_path("nowhere.csv"), NULL, NAMES("x"), NULL, &r, &err), err, "No such file");
    CHECK_REFUSED(read_records(ct_test_folder(), NULL, NAMES("x"), NULL, &r, &err), err, "a folder");
    CHECK_OK(read_text("", NULL, NULL), err);
    CHECK(r.count == 0);
    CHECK_REFUSED(read_text("", NAMES("x"), NULL), err, "there is no \"x\"; there is nothing");
    CHECK_OK(read_text("# nothing but a comment", NULL, NULL), err);
}

/* A million columns are read; a line beyond the limit is refused with its number. */
static void test_lines_may_be_long(void)
{
    const int columns = 1000000;
    char *text = malloc((size_t)columns * 22 + 100), *at = text;
    CHECK(text);
    if (!text) return;
    for (int row = 0; row < 3; row++) {
        for (int i = 0; i < columns; i++) at += sprintf(at, "%s%d", i ? "," : "", i % 1000 + row);
        *at++ = '\n';
    }
    CHECK_OK(
        read_records(write_bytes("in.csv", text, (size_t)(at - text)), NULL, NAMES("#1000000", "#777"), NULL, &r, &err),
        err);
    CHECK(r.count == 3 && r.value[0][0] == 999 && r.value[2][1] == 778);
    CHECK_REFUSED(read_records(scratch_path("in.csv"), NULL, NAMES("#1000001"), NULL, &r, &err), err,
                  "there is no \"#1000001\"");
    memset(text, '7', (size_t)columns * 22);
    CHECK_REFUSED(read_records(write_bytes("in.csv", text, (size_t)columns * 22), NULL, NULL, NULL, &r, &err), err,
                  "in.csv:1: the line is longer than");
    free(text);
}

static void test_formats_have_names(void)
{
    for (int i = 0; i < CT_SOURCE_FORMAT_COUNT; i++)
        CHECK(ct_source_format_find(ct_source_format_name((ct_source_format)i)) == i);
    CHECK(ct_source_format_find("tables") == -1 && ct_source_format_find(NULL) == -1);
    CHECK(!strcmp(ct_source_format_name(CT_SOURCE_FORMAT_COUNT), "?") &&
          ct_source_format_find("auto") == CT_SOURCE_AUTO);
}

static void test_counts_and_places(void)
{
    ct_source *s = NULL;
    char buf[1000];
    ct_record record;
    int32_t x;
    int more;
    const char *path = write_text("in.csv", "t,x\n1,2\n\n3,4\n");
    CHECK_OK(ct_source_open(path, NULL, &s, &err), err);
    CHECK_OK(ct_source_select(s, "x", &x, &err), err);
    CHECK_OK(ct_source_next(s, &record, &more, &err), err);
    CHECK_OK(ct_source_next(s, &record, &more, &err), err);
    CHECK(more && record.line == 4 && strstr(ct_source_where(s, buf, sizeof buf), "in.csv:4"));
    CHECK_REFUSED(ct_source_select(s, "t", &x, &err), err, "before the first record");
    CHECK_OK(ct_source_next(s, &record, &more, &err), err);
    CHECK(ct_source_timed(s));
    CHECK(!more && ct_source_count(s).bytes == 13 && ct_source_count(s).size == 13 && ct_source_count(s).records == 2);
    ct_source_free(s);
    ct_source_free(NULL);
    CHECK(same(NAN, NAN));
}

int main(void)
{
    RUN(test_every_dialect_gives_the_same_records);
    RUN(test_quotes_hold_separators_quotes_and_nothing);
    RUN(test_options_override_the_guess);
    RUN(test_the_header_is_guessed_or_told);
    RUN(test_units_of_the_header_are_told_and_not_applied);
    RUN(test_names_with_brackets_and_of_other_encodings);
    RUN(test_names_that_are_not_there_are_refused_with_the_nearest);
    RUN(test_names_of_several_words_need_no_backquotes_where_they_stand_alone);
    RUN(test_a_line_of_units_is_skipped);
    RUN(test_decimal_commas_are_read_where_the_separator_is_another);
    RUN(test_lines_before_the_table_are_told);
    RUN(test_missing_values_are_nan);
    RUN(test_lines_with_other_widths_are_refused_with_their_number);
    RUN(test_a_last_line_that_is_cut_short_is_left_out);
    RUN(test_kinds_of_lines_are_told_apart_by_where);
    RUN(test_texts_of_numbers_are_equal_however_they_are_written);
    RUN(test_decimals_of_any_number_of_places);
    RUN(test_stamps_are_exact);
    RUN(test_dates_are_stamps);
    RUN(test_the_stamp_is_found_by_its_name);
    RUN(test_what_is_no_text_is_refused_with_a_sentence);
    RUN(test_lines_may_be_long);
    RUN(test_formats_have_names);
    RUN(test_counts_and_places);
    return ct_test_end();
}
