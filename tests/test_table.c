/* test_table.c: tables say what was put into them: to the bit to programs, to the asked digits to people, at any
 * width, whatever the names are made of. */
#include "page_test.h"

#include <jansson.h>

/* Any double that is finite: all exponents. */
static double any_number(ct_rng *rng)
{
    double value = NAN;
    while (!isfinite(value)) {
        const uint64_t bits = ct_rng_bits(rng);
        memcpy(&value, &bits, sizeof value);
    }
    return value;
}

static int same_bits(double a, double b) { return !memcmp(&a, &b, sizeof a); }

#define ROWS 200
static const char *const WORD[] = {"plain", "with, comma", "with \"quotes\"",   "two\nlines",
                                   "",      " blanks ",    "\xc3\xa9t\xc3\xa9", "=1+1"};
#define WORDS 8

/* Columns: text, number, deviation; every seventh number is missing. */
static ct_table *big_table(double value[ROWS][3])
{
    ct_rng    rng = ct_rng_seed(5);
    ct_table *t = NULL;
    ct_err    err = {0};
    CHECK_OK(ct_table_new("big", &t, &err), err);
    ct_table_column(t, "name", "name", NULL, 0);
    ct_table_column(t, "value", "value", "m", 3);
    ct_table_column(t, "learned", "learned", "m", 3);
    for (int i = 0; i < ROWS; i++) {
        for (int k = 0; k < 3; k++) value[i][k] = any_number(&rng);
        if (i % 7 == 3) value[i][0] = NAN;
        ct_table_row(t, i % 5 == 0);
        ct_table_text(t, "%s", WORD[i % WORDS]);
        ct_table_number(t, value[i][0]);
        ct_table_deviation(t, value[i][1], value[i][2]);
        ct_table_mark(t, i % 3);
    }
    ct_table_note(t, "not for %s", "programs");
    CHECK(ct_table_rows(t) == ROWS);
    return t;
}

/* The next field of a CSV, its quotes taken off; *p is behind the comma or the line's end. */
static void next_field(const char **p, char out[64])
{
    int n = 0;
    if (**p == '"') {
        for ((*p)++; **p && (**p != '"' || (*p)[1] == '"'); (*p)++) {
            if (**p == '"') (*p)++;
            out[n++] = **p;
        }
        (*p)++;
    } else {
        while (**p != ',' && **p != '\n') out[n++] = *(*p)++;
    }
    CHECK(**p == ',' || **p == '\n');
    (*p)++;
    out[n] = 0;
}

static void test_csv_reads_back_to_the_same_bits(void)
{
    static double value[ROWS][3];
    ct_table     *t = big_table(value);
    char         *text = table_text(t, CT_TABLE_CSV, 0), field[64];
    const char   *p = text, head[] = "name,value,learned,learned_sd\n";
    CHECK(!strncmp(p, head, strlen(head)));
    p += strlen(head);
    for (int i = 0; i < ROWS; i++) {
        next_field(&p, field);
        CHECK(!strcmp(field, WORD[i % WORDS]));
        for (int k = 0; k < 3; k++) {
            next_field(&p, field);
            CHECK(isnan(value[i][k]) ? !*field : same_bits(strtod(field, NULL), value[i][k]));
        }
    }
    CHECK(!*p);
    free(text);
    ct_table_free(t);
}

static void test_json_reads_back_to_the_same_bits(void)
{
    static double value[ROWS][3];
    ct_table     *t = big_table(value);
    char         *text = table_text(t, CT_TABLE_JSON, 0);
    json_t       *root = json_loads(text, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, NULL);
    CHECK(json_array_size(root) == ROWS);
    for (size_t i = 0; i < json_array_size(root); i++) {
        static const char *const KEY[] = {"value", "learned", "learned_sd"};
        const json_t            *row = json_array_get(root, i);
        CHECK(json_object_size(row) == 4 && !strcmp(json_string_value(json_object_get(row, "name")), WORD[i % WORDS]));
        for (int k = 0; k < 3; k++) {
            const json_t *cell = json_object_get(row, KEY[k]);
            CHECK(isnan(value[i][k]) ? json_is_null(cell) : same_bits(json_real_value(cell), value[i][k]));
        }
    }
    json_decref(root);
    free(text);
    ct_table_free(t);
}

static void test_what_is_not_finite_or_not_said_has_a_place(void)
{
    ct_table *t = NULL;
    ct_table_new(NULL, &t, NULL);
    ct_table_column(t, "a", "a", NULL, 3);
    ct_table_column(t, "b", "b", NULL, 3);
    ct_table_row(t, 0);
    ct_table_number(t, INFINITY);
    ct_table_row(t, 0);
    ct_table_deviation(t, 1.5, NAN);
    ct_table_text(t, "none");
    char *csv = table_text(t, CT_TABLE_CSV, 0), *json = table_text(t, CT_TABLE_JSON, 0),
         *text = table_text(t, CT_TABLE_TEXT, 0);
    CHECK(!strcmp(csv, "a,a_sd,b\ninf,,\n1.5,,none\n"));
    CHECK(!strcmp(
        json, "[\n {\"a\": null, \"a_sd\": null, \"b\": null},\n {\"a\": 1.5, \"a_sd\": null, \"b\": \"none\"}\n]\n"));
    CHECK(strstr(text, "inf") && strstr(text, "1.50") && strstr(text, "none") && !strstr(text, "nan"));
    free(csv);
    free(json);
    free(text);
    ct_table_free(t);
}

/* ---- For people -------------------------------------------------------------------------------- */

#define MANY 9 /* columns */

/* Cells that are found again: "r3c4", and in columns of numbers 3004. */
static ct_table *grid_table(void)
{
    ct_table *t = NULL;
    ct_table_new("A table of cells", &t, NULL);
    for (int j = 0; j < MANY; j++) {
        char key[16], heading[64];
        snprintf(key, sizeof key, "k%d", j);
        snprintf(heading, sizeof heading, "heading of %d", j);
        ct_table_column(t, key, heading, j % 3 ? "m" : NULL, j % 2 ? 4 : 0);
    }
    for (int i = 0; i < 6; i++) {
        ct_table_row(t, i == 2);
        for (int j = 0; j < MANY; j++) {
            if (j % 2) ct_table_number(t, 1000 * (i + 1) + j);
            else ct_table_text(t, "some words then r%dc%d", i, j);
        }
    }
    ct_table_note(t, "a note of some length, which is wrapped where it has to be");
    return t;
}

static void test_every_cell_is_there_at_every_width(void)
{
    ct_table *t = grid_table();
    int       natural = 0, blocks = 0;
    for (int width = 0; width < 220; width++) {
        char *text = table_text(t, CT_TABLE_TEXT, width), cell[32];
        const int dashes = (int)strcspn(strstr(text, "\n---") + 1, "\n");
        if (width == 0) natural = dashes;
        blocks += count_of(text, "\n---") / 2;
        /* one block: the head's and a rule; all the room is used */
        if (width && count_of(text, "\n---") == 2) CHECK(dashes == (width < natural ? width : natural));
        for (int i = 0; i < 6; i++)
            for (int j = 0; j < MANY; j++) {
                snprintf(cell, sizeof cell, j % 2 ? "%d" : "r%dc%d", j % 2 ? 1000 * (i + 1) + j : i, j);
                CHECK(strstr(text, cell) != NULL);
            }
        /* two columns of 12 and what is between */
        for (const char *p = text; width >= 26 && *p; p += strcspn(p, "\n") + 1) CHECK((int)strcspn(p, "\n") <= width);
        CHECK(!strstr(text, " \n"));
        CHECK((width > 0 && width < 4) || strstr(text, "note")); /* in four places a word of four letters */
        free(text);
    }
    /* widths of all kinds were seen: enough room, less, too little */
    CHECK(natural > 150 && natural < 200 && blocks > 250);
    ct_table_free(t);
}

static void test_numbers_have_the_digits_that_were_asked_for(void)
{
    ct_rng rng = ct_rng_seed(8);
    for (int n = 0; n < 4000; n++) {
        const int    digits = 1 + n % 6;
        const double value = (n & 1 ? -1 : 1) * pow(10, 24 * ct_rng_uniform(&rng) - 12);
        ct_table    *t = NULL;
        ct_table_new(NULL, &t, NULL);
        ct_table_column(t, "a", "a", NULL, digits);
        ct_table_row(t, 0);
        ct_table_number(t, value);
        ct_table_number(t, (ct_table_row(t, 0), 0.5)); /* so that the column has fractions */
        char        *text = table_text(t, CT_TABLE_MARKDOWN, 0), *after;
        const char  *p = strstr(text, "|---:|\n| ") + strlen("|---:|\n| ");
        const double shown = strtod(p, &after), unit = pow(10, floor(log10(fabs(value))) - digits + 1);
        const int    fixed = !memchr(p, 'e', (size_t)(after - p));
        int          significant = 0;
        CHECK(fabs(shown - value) <= unit * 0.5000001 || (fixed && fabs(shown - value) <= 0.5));
        CHECK(fixed == (fabs(shown) >= 1e-3 && fabs(shown) < 1e5) || fabs(fabs(shown) / 1e5 - 1) < 1e-9 ||
              fabs(fabs(shown) / 1e-3 - 1) < 1e-9);
        for (const char *q = p; q < after && *q != 'e'; q++)
            significant += *q >= '0' && *q <= '9' && (significant || *q != '0');
        CHECK(significant == digits || (significant > digits && !memchr(p, '.', (size_t)(after - p))));
        free(text);
        ct_table_free(t);
    }
}

static void test_deviations_have_one_or_two_digits(void)
{
    ct_rng rng = ct_rng_seed(9);
    for (int n = 0; n < 3000; n++) {
        const double value = pow(10, 14 * ct_rng_uniform(&rng) - 7),
                     deviation = value * pow(10, 5.5 * ct_rng_uniform(&rng) - 5);
        ct_table    *t = NULL;
        ct_table_new(NULL, &t, NULL);
        ct_table_column(t, "a", "a", NULL, 3);
        ct_table_row(t, 0);
        ct_table_deviation(t, value, deviation);
        char *text = table_text(t, CT_TABLE_TEXT, 0), *p = strchr(text, '-') ? strstr(text, "-\n") + 2 : text, *after;
        p += strspn(p, " (");
        const double a = strtod(p, &after);
        CHECK(!strncmp(after, " +- ", 4));
        const char  *q = after + 4;
        const double b = strtod(q, &after), scale = *after == ')' ? pow(10, atof(after + 2)) : 1;
        /* one digit at least: within a half */
        CHECK(fabs(b * scale - deviation) <= 0.5000001 * fmax(deviation * 0.999, 0));
        CHECK(fabs(a * scale - value) <= fmax(deviation, 0.0051 * value));
        int significant = 0;
        for (; q < after; q++) significant += *q >= '0' && *q <= '9' && (significant || *q != '0');
        CHECK(significant >= 1 && (significant <= 2 || b >= 100));
        free(text);
        ct_table_free(t);
    }
}

static void test_points_stand_below_each_other(void)
{
    ct_table *t = NULL;
    ct_rng    rng = ct_rng_seed(10);
    int       column = -1, lines = 0;
    ct_table_new(NULL, &t, NULL);
    ct_table_column(t, "a", "a heading longer than numbers are", "m", 3);
    for (int i = 0; i < 40; i++) {
        ct_table_row(t, 0);
        ct_table_number(t, pow(10, 5 * ct_rng_uniform(&rng) - 3) + 1e-9);
        ct_table_mark(t, i % 3);
    }
    char *text = table_text(t, CT_TABLE_TEXT, 0), *p = strstr(text, "--\n") + 3;
    for (; *p != '\n'; p += strcspn(p, "\n") + 1, lines++) {
        const int point = (int)strcspn(p, ".\n");
        if (p[point] != '.') continue;
        CHECK(column < 0 || column == point);
        column = point;
    }
    CHECK(lines == 40 && column > 0);
    free(text);
    ct_table_free(t);
}

static void test_marks_and_notes_are_for_people_alone(void)
{
    ct_table *t = NULL;
    ct_table_new("T", &t, NULL);
    ct_table_column(t, "a", "a", NULL, 3);
    for (int mark = 0; mark < 3; mark++) {
        ct_table_row(t, 0);
        ct_table_number(t, mark + 0.25);
        ct_table_mark(t, mark);
    }
    ct_table_note(t, "said of it");
    char *text = table_text(t, CT_TABLE_TEXT, 0), *markdown = table_text(t, CT_TABLE_MARKDOWN, 0),
         *csv = table_text(t, CT_TABLE_CSV, 0), *json = table_text(t, CT_TABLE_JSON, 0);
    CHECK(strstr(text, "0.250\n") && strstr(text, "1.25*") && strstr(text, "2.25!") && strstr(text, "said of it") &&
          strstr(text, "* best"));
    CHECK(strstr(markdown, "| 0.250 |") && strstr(markdown, "| **1.25** |") && strstr(markdown, "| *2.25* |") &&
          strstr(markdown, "\n\nsaid of it\n"));
    CHECK(!strcmp(csv, "a\n0.25\n1.25\n2.25\n"));
    CHECK(!strpbrk(json, "*!") && !strstr(json, "said"));
    free(text);
    free(markdown);
    free(csv);
    free(json);
    ct_table_free(t);
}

static void test_counts_are_whole(void)
{
    ct_table *t = NULL;
    ct_table_new(NULL, &t, NULL);
    ct_table_column(t, "n", "n", NULL, 3);
    for (double n = 7; n < 1e9; n *= 321) ct_table_row(t, 0), ct_table_number(t, n);
    char *text = table_text(t, CT_TABLE_MARKDOWN, 0);
    CHECK(strstr(text, "| 7 |") && strstr(text, "| 2247 |") && strstr(text, "| 721287 |") &&
          strstr(text, "| 231533127 |"));
    free(text);
    ct_table_free(t);
}

static void test_no_name_breaks_out_of_its_cell(void)
{
    ct_table *t = NULL;
    ct_table_new(EVIL, &t, NULL);
    ct_table_column(t, EVIL, EVIL, EVIL, 0);
    ct_table_column(t, "b", "b", NULL, 2);
    ct_table_row(t, 0);
    ct_table_text(t, "%s", EVIL);
    ct_table_number(t, 1);
    ct_table_note(t, "%s", EVIL);
    char *markdown = table_text(t, CT_TABLE_MARKDOWN, 0), *text = table_text(t, CT_TABLE_TEXT, 0),
         *json = table_text(t, CT_TABLE_JSON, 0);
    for (const char *p = strstr(markdown, "\n| "); p && p[1] == '|'; p = strchr(p + 1, '\n')) {
        int bars = 0;
        for (const char *q = p + 1; *q != '\n'; q++) bars += *q == '|' && q[-1] != '\\';
        CHECK(bars == 3);
    }
    CHECK(!strchr(markdown, '<') && !strchr(markdown, 0x1b) && ct__json_is_utf8(markdown));
    CHECK(!strchr(text, 0x1b) && ct__json_is_utf8(text) && !strstr(text, "\xe2\x80\xae"));
    json_t *root = json_loads(json, 0, NULL);
    CHECK(json_array_size(root) == 1);
    json_decref(root);
    free(markdown);
    free(text);
    free(json);
    ct_table_free(t);
}

static void test_a_file_has_what_is_printed(void)
{
    ct_err    err = {0};
    ct_table *t = grid_table();
    for (int format = 0; format < CT_TABLE_COUNT; format++) {
        CHECK_OK(ct_table_write(t, (ct_table_format)format, test_path("table"), &err), err);
        char *file = test_read_file(test_path("table")), *text = table_text(t, (ct_table_format)format, 0);
        CHECK(file && !strcmp(file, text));
        free(file);
        free(text);
        CHECK(ct_table_format_find(ct_table_format_name((ct_table_format)format)) == format);
    }
    CHECK(ct_table_format_find("html") == -1);
    CHECK_REFUSED(ct_table_write(t, CT_TABLE_CSV, ct_test_folder(), &err), err, "it is a folder");
    remove(test_path("table"));
    ct_table_free(t);
    ct_table_free(NULL);
}

static void test_empty_tables_are_tables(void)
{
    ct_table *t = NULL;
    ct_table_new(NULL, &t, NULL);
    ct_table_column(t, "a", "a", "m", 3);
    char *text = table_text(t, CT_TABLE_TEXT, 80), *csv = table_text(t, CT_TABLE_CSV, 0),
         *json = table_text(t, CT_TABLE_JSON, 0);
    CHECK(!strcmp(text, "  a\n(m)\n---\n") && !strcmp(csv, "a\n") && !strcmp(json, "[\n]\n"));
    free(text);
    free(csv);
    free(json);
    ct_table_free(t);
}

int main(void)
{
    RUN(test_csv_reads_back_to_the_same_bits);
    RUN(test_json_reads_back_to_the_same_bits);
    RUN(test_what_is_not_finite_or_not_said_has_a_place);
    RUN(test_every_cell_is_there_at_every_width);
    RUN(test_numbers_have_the_digits_that_were_asked_for);
    RUN(test_deviations_have_one_or_two_digits);
    RUN(test_points_stand_below_each_other);
    RUN(test_marks_and_notes_are_for_people_alone);
    RUN(test_counts_are_whole);
    RUN(test_no_name_breaks_out_of_its_cell);
    RUN(test_a_file_has_what_is_printed);
    RUN(test_empty_tables_are_tables);
    return ct_test_end();
}
