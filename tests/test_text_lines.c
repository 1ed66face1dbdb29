/* test_text_lines.c: text files as lines of words: what is accepted, what is refused and where. */
#define _XOPEN_SOURCE 700
#include "data_test.h"

#include <locale.h>

static ct__lines open_bytes(const char *bytes, size_t size, ct_err *err)
{
    return (ct__lines){.file = fmemopen((void *)(uintptr_t)bytes, size, "rb"), .path = "f", .err = err};
}

static void close_lines(ct__lines *in)
{
    fclose(in->file);
    ct__lines_free(in);
}

static void test_lines_end_in_any_of_three_ways_and_comments_do_not_count(void)
{
    const char *text = "\xef\xbb\xbf" "a b\r\n\n  # nothing\n\tc#d  e # f\nlast";
    ct_err      err = {0};
    ct__lines   in = open_bytes(text, strlen(text), &err);
    int         more;
    CHECK_OK(ct__lines_next(&in, &more), err);
    CHECK(more && in.line == 1 && in.words == 2 && !strcmp(in.word[0], "a") && !strcmp(in.word[1], "b"));
    CHECK_OK(ct__lines_next(&in, &more), err);
    CHECK(more && in.line == 4 && in.words == 2 && !strcmp(in.word[0], "c#d") && !strcmp(in.word[1], "e"));
    CHECK_OK(ct__lines_next(&in, &more), err);
    CHECK(more && in.line == 5 && in.words == 1 && !strcmp(in.word[0], "last"));
    CHECK_OK(ct__lines_next(&in, &more), err);
    CHECK(!more);
    CHECK_OK(ct__lines_next(&in, &more), err);
    CHECK(!more);
    close_lines(&in);
}

/* A megabyte of lines, so that every way a line can lie across the edge of a read occurs. */
static void test_long_files_come_out_as_they_are(void)
{
    ct_rng rng = ct_rng_seed(1);
    char  *text = malloc(1 << 20);
    size_t size = 0;
    int    lines = 0, more;
    while (size + 5000 < 1 << 20) {
        const int length = (int)(ct_rng_bits(&rng) % 4000);
        size += (size_t)sprintf(text + size, "%d ", lines++);
        memset(text + size, 'x', (size_t)length);
        size += (size_t)length;
        text[size++] = '\n';
    }
    ct_err    err = {0};
    ct__lines in = open_bytes(text, size, &err);
    for (int i = 0; i < lines; i++) {
        int64_t number = -1;
        CHECK_OK(ct__lines_next(&in, &more), err);
        CHECK_OK(ct__word_integer(&in, 0, "number", 0, 1 << 20, &number), err);
        CHECK(more && number == i && in.line == i + 1);
    }
    CHECK_OK(ct__lines_next(&in, &more), err);
    CHECK(!more);
    close_lines(&in);
    free(text);
}

static void test_a_line_may_have_65536_bytes_and_no_more(void)
{
    char *text = malloc(CT__LINE_MAX + 20);
    for (int extra = 0; extra < 2; extra++) {
        ct_err err = {0};
        int    more;
        strcpy(text, "a\n");
        memset(text + 2, 'x', CT__LINE_MAX + 1);
        text[2 + CT__LINE_MAX + extra] = '\n';
        ct__lines in = open_bytes(text, (size_t)(2 + CT__LINE_MAX + extra + 1), &err);
        CHECK_OK(ct__lines_next(&in, &more), err);
        if (extra) {
            CHECK_REFUSED(ct__lines_next(&in, &more), err, "f:2: line is longer than 65536 bytes");
        } else {
            CHECK_OK(ct__lines_next(&in, &more), err);
            CHECK(more && strlen(in.word[0]) == CT__LINE_MAX);
        }
        close_lines(&in);
    }
    free(text);
}

static void test_binary_files_and_lines_of_many_words_are_refused(void)
{
    ct_err    err = {0};
    int       more;
    ct__lines in = open_bytes("a b\n\0c\n", 7, &err);
    CHECK_OK(ct__lines_next(&in, &more), err);
    CHECK_REFUSED(ct__lines_next(&in, &more), err, "f:2: a NUL byte: this is not a text file");
    close_lines(&in);
    char many[2 * CT__WORDS_MAX + 3] = {0};
    for (int i = 0; i <= CT__WORDS_MAX; i++) memcpy(many + 2 * i, "1 ", 2);
    in = open_bytes(many, strlen(many), &err);
    CHECK_REFUSED(ct__lines_next(&in, &more), err, "f:1: more than 128 words in a line");
    close_lines(&in);
}

static void test_words_that_are_no_finite_decimal_number_are_refused(void)
{
    static const char *const bad[] = {"nan", "inf", "-inf", "0x10", "1e999", "",    "1.2.3",
                                      "1e",  "--1", "1,5",  "1d3",  "e5",    "+-1", "."};
    static const struct {
        const char *text;
        double      value;
    } good[] = {{"1", 1},  {"-0.5", -0.5}, {"+3e-2", 0.03}, {".25", 0.25},
                {"5.", 5}, {"1E3", 1000},  {"1e-400", 0},   {"4.9e-324", 4.9e-324}};
    double value;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) CHECK(!ct__is_number(bad[i], &value));
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        CHECK(ct__is_number(good[i].text, &value) && value == good[i].value);
}

static void test_integers_stay_in_their_range(void)
{
    const char *text = "0 9223372036854775807 9223372036854775808 -1 1.0 7x";
    ct_err      err = {0};
    ct__lines   in = open_bytes(text, strlen(text), &err);
    int         more;
    int64_t     value;
    CHECK_OK(ct__lines_next(&in, &more), err);
    CHECK_OK(ct__word_integer(&in, 1, "id", 0, INT64_MAX, &value), err);
    CHECK(value == INT64_MAX);
    CHECK_REFUSED(ct__word_integer(&in, 2, "id", 0, INT64_MAX, &value), err,
                  "f:1: expected an integer from 0 to 9223372036854775807 for id, found \"9223372036854775808\"");
    CHECK_REFUSED(ct__word_integer(&in, 3, "id", 0, 9, &value), err, "found \"-1\"");
    CHECK_REFUSED(ct__word_integer(&in, 4, "id", 0, 9, &value), err, "found \"1.0\"");
    CHECK_REFUSED(ct__word_integer(&in, 5, "id", 0, 9, &value), err, "found \"7x\"");
    CHECK_REFUSED(ct__word_integer(&in, 6, "id", 0, 9, &value), err, "0 needs an integer for id, the line ends");
    close_lines(&in);
}

static void test_a_message_shows_odd_bytes_as_question_marks_and_cuts_long_words(void)
{
    char buf[CT__QUOTE_MAX], word[200];
    CHECK(!strcmp(ct__quote("a\x1b[2Jb\xff", buf), "\"a?[2Jb?\""));
    memset(word, 'w', sizeof word);
    word[sizeof word - 1] = 0;
    ct__quote(word, buf);
    CHECK(strlen(buf) == CT__QUOTE_MAX - 1 && !strcmp(buf + CT__QUOTE_MAX - 5, "...\""));
}

static void test_angles_come_back_to_the_bit_or_say_that_they_do_not(void)
{
    ct_rng rng = ct_rng_seed(5);
    int    products = 0;
    for (int i = 0; i < 20000; i++) {
        char         text[32];
        const double drawn = (2 * ct_rng_uniform(&rng) - 1) * 3.1415926535 * pow(10, -(double)(ct_rng_bits(&rng) % 12));
        const int digits = 1 + (int)(ct_rng_bits(&rng) % 17);
        snprintf(text, sizeof text, "%.*g", digits, drawn);
        const double theta = strtod(text, NULL);
        const ct_so2 a = ct_so2_exp(theta);
        double       back;
        CHECK(ct__angle(a.c, a.s, &back));
        const ct_so2 again = ct_so2_exp(back), product = ct_so2_compose(a, ct_so2_exp(drawn));
        CHECK(a.c == again.c && a.s == again.s);
        if (digits <= 15) CHECK(back == theta); /* with more, two angles may have one cos and sin */
        products += !ct__angle(product.c, product.s, &back);
        CHECK_NEAR(ct_so2_log(ct_so2_between(product, ct_so2_exp(back))), 0, 1e-15);
    }
    CHECK(products > 0);
}

/* An application may run under a locale that writes 0.5 as 0,5. */
static void test_files_do_not_depend_on_the_locale(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE.utf8", "fr_FR.utf8", "de_DE", "fr_FR"};
    const char              *found = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !found; i++) found = setlocale(LC_NUMERIC, names[i]);
    if (!found) SKIP("no locale with a decimal comma is installed");
    CHECK_SAME_TEXT(CT_FORMAT_COVTUNE, "covtune-sequence 1\nvar x0 R2 0.5 -2.25e-09 t=1.5\n");
    CHECK(!strcmp(localeconv()->decimal_point, ","));
    setlocale(LC_NUMERIC, "C");
}

static const char *in_folder(const char *name)
{
    static char path[1024];
    snprintf(path, sizeof path, "%s/%s", ct_test_folder(), name);
    return path;
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void test_a_format_is_known_by_ending_or_by_first_line(void)
{
    static const struct {
        const char *name, *text;
        ct_format   format;
    } list[] = {
        {"a.ctseq", "", CT_FORMAT_COVTUNE},
        {"a.g2o", "", CT_FORMAT_G2O},
        {"a.json", "", CT_FORMAT_LEO},
        {"a.txt", "# c\ncovtune-sequence 1\n", CT_FORMAT_COVTUNE},
        {"a.txt", "{\"poses_gt\": []}", CT_FORMAT_LEO},
        {"a.txt", "VERTEX_SE2 0 0 0 0\n", CT_FORMAT_G2O},
        {"a.txt", "EDGE_SE3:QUAT 0 1 0 0 0 0 0 0 1\n", CT_FORMAT_G2O},
        {"a.txt", "FIX 0\n", CT_FORMAT_G2O},
        {"a.txt", "VERTEX_SE2 0.5 A0 0 0 0\n", CT_FORMAT_PYFG},
        {"a.txt", "VERTEX_XY L0 0 0\n", CT_FORMAT_PYFG},
        {"a.txt", "EDGE_RANGE 1 A0 L0 1 1\n", CT_FORMAT_PYFG},
        {"a.txt", "ODOMETRY 0 1 1 0 0 1 0 0 1 0 1\n", CT_FORMAT_ISAM},
        {"a.txt", "EDGE3 0 1 1 0 0 1 0 0\n", CT_FORMAT_ISAM},
        {"a.txt", "1.5 0 0 0 0 0 0 1\n", CT_FORMAT_TUM},
        {"a.txt", "1 0 0 0 0 1 0 0 0 0 1 0\n", CT_FORMAT_KITTI},
    };
    ct_format format;
    ct_err    err = {0};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        const char *path = in_folder(list[i].name);
        write_file(path, list[i].text);
        CHECK_OK(ct_format_guess(path, 1, &format, &err), err);
        CHECK(format == list[i].format);
        remove(path);
    }
    write_file(in_folder("a.txt"), "hello\n");
    CHECK_REFUSED(ct_format_guess(in_folder("a.txt"), 1, &format, &err), err,
                  "a.txt: the format is not known from its ending or first line");
    remove(in_folder("a.txt"));
    CHECK_REFUSED(ct_format_guess("no/such/file", 1, &format, &err), err, "no/such/file: No such file or directory");
    CHECK_REFUSED(ct_format_guess("out.xyz", 0, &format, &err), err,
                  "out.xyz: its ending is not known; the endings are .ctseq .g2o");
    for (int i = 0; i < CT_FORMAT_COUNT; i++) CHECK(ct_format_find(ct_format_name((ct_format)i)) == i);
    CHECK(ct_format_find("tcl") == -1 && !strcmp(ct_format_name(CT_FORMAT_AUTO), "auto"));
}

static void test_files_are_read_and_replaced_by_path(void)
{
    const char *path = in_folder("run7.ctseq");
    run         r = {0};
    write_file(path, "covtune-sequence 1\nvar a R1 4\n");
    ct_noise_new(&r.noise, &r.err);
    CHECK_OK(ct_sequence_read(path, CT_FORMAT_AUTO, r.noise, &r.seq, &r.err), r.err);
    if (r.seq) {
        CHECK(!strcmp(r.seq->name, "run7") && ct_graph_variables(r.seq->graph) == 1);
        CHECK_OK(ct_sequence_write(r.seq, r.noise, (const double[]){7}, CT_FORMAT_AUTO, 0, path, NULL, &r.err), r.err);
        CHECK_REFUSED(ct_sequence_write(r.seq, r.noise, (const double[]){NAN}, CT_FORMAT_AUTO, 0, path, NULL, &r.err),
                      r.err, "variable a: its value is not finite");
        CHECK_REFUSED(
            ct_sequence_write(r.seq, r.noise, NULL, CT_FORMAT_AUTO, 0, "no/such/folder/a.ctseq", NULL, &r.err), r.err,
            "no/such/folder/a.ctseq");
    }
    run_free(&r);
    r = (run){0};
    ct_noise_new(&r.noise, &r.err);
    CHECK_OK(ct_sequence_read(path, CT_FORMAT_COVTUNE, r.noise, &r.seq, &r.err), r.err);
    if (r.seq) CHECK(ct_graph_initial_const(r.seq->graph)[0] == 7);
    ct_sequence_free(r.seq);
    remove(path);
    CHECK_REFUSED(ct_sequence_read(path, CT_FORMAT_COVTUNE, r.noise, &r.seq, &r.err), r.err,
                  "run7.ctseq: No such file or directory");
    CHECK_REFUSED(ct_sequence_read(ct_test_folder(), CT_FORMAT_COVTUNE, r.noise, &r.seq, &r.err), r.err,
                  ": Is a directory");
    CHECK(!r.seq);
    run_free(&r);
}

int main(void)
{
    RUN(test_lines_end_in_any_of_three_ways_and_comments_do_not_count);
    RUN(test_long_files_come_out_as_they_are);
    RUN(test_a_line_may_have_65536_bytes_and_no_more);
    RUN(test_binary_files_and_lines_of_many_words_are_refused);
    RUN(test_words_that_are_no_finite_decimal_number_are_refused);
    RUN(test_integers_stay_in_their_range);
    RUN(test_a_message_shows_odd_bytes_as_question_marks_and_cuts_long_words);
    RUN(test_angles_come_back_to_the_bit_or_say_that_they_do_not);
    RUN(test_files_do_not_depend_on_the_locale);
    RUN(test_a_format_is_known_by_ending_or_by_first_line);
    RUN(test_files_are_read_and_replaced_by_path);
    return ct_test_end();
}
