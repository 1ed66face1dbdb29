/* test_page.c: a page is one well-formed file that needs nothing else, says everything that was put into it, and
 * nothing that is put into it becomes anything but text. What it does in a browser is tests/check_page's matter. */
#include "page_test.h"

static const double X[] = {0, 1, 2}, Y[] = {0, 1, 4};

static ct_plot small_plot(const char *id, const ct_series *series)
{
    return (ct_plot){.id = id, .title = id, .count = 1, .series = series, .zoom = 1, .text = "what it shows"};
}

/* A page with every kind of thing, all of whose words are `word`. */
static ct_page *page_of(const char *word, int choices)
{
    ct_err          err = {0};
    ct_page        *page = NULL;
    ct_table       *table = NULL;
    const char     *name[20];
    const ct_series s = {word, CT_ROLE_AFTER, CT_MARK_LINE, 3, X, Y, NULL};
    const ct_plot   plot = small_plot(word, &s);
    for (int i = 0; i < choices; i++) name[i] = word;
    CHECK_OK(ct_page_new(word, word, &page, &err), err);
    ct_page_section(page, word, word);
    ct_page_heading(page, word);
    ct_page_text(page, "%s", word);
    ct_page_warn(page, "%s", word);
    ct_page_verdict(page, CT_VERDICT_WORSE, word, "%s", word);
    ct_page_code(page, word);
    ct_page_tile(page, word, word, word);
    ct_page_tile(page, word, word, NULL);
    ct_page_plot(page, &plot);
    ct_page_plot(page, &plot);
    CHECK_OK(ct_table_new(word, &table, &err), err);
    ct_table_column(table, word, word, word, 0);
    ct_table_column(table, "n", "n", NULL, 3);
    ct_table_row(table, 1);
    ct_table_text(table, "%s", word);
    ct_table_number(table, 0.5);
    ct_table_mark(table, 1);
    ct_table_note(table, "%s", word);
    ct_page_table(page, table);
    ct_page_choices(page, word, word, choices, name);
    for (int i = 0; i < choices; i++) {
        ct_page_choice(page, i);
        ct_page_text(page, "%s", word);
        ct_page_plot(page, &plot);
    }
    ct_page_choices_end(page);
    ct_page_section(page, word, word);
    ct_table_free(table);
    return page;
}

/* As written; the caller frees it. The page is freed. */
static char *written(ct_page *page)
{
    ct_err err = {0};
    CHECK_OK(ct_page_write(page, test_path("page.html"), &err), err);
    ct_page_free(page);
    char *text = test_read_file(test_path("page.html"));
    remove(test_path("page.html"));
    return text;
}

static void test_no_text_becomes_anything_else(void)
{
    for (int choices = 3; choices <= 12; choices += 9) {
        char *evil = written(page_of(EVIL, choices)), *plain = written(page_of("word", choices));
        CHECK_WELL_FORMED(evil);
        CHECK_WELL_FORMED(plain);
        int tags = 0, plain_tags = 0;
        for (const char *p = evil; *p; p++) tags += *p == '<';
        for (const char *p = plain; *p; p++) plain_tags += *p == '<';
        CHECK(tags == plain_tags); /* whatever is said, it is the same page */
        CHECK(count_of(evil, "<script") == 1 && count_of(evil, "</script") == 1 && !strstr(evil, "<img") &&
              !strstr(evil, "\"'"));
        CHECK(count_of(evil, EVIL_HTML) > 20);
        free(evil);
        free(plain);
    }
}

/* Escapes do not depend on who is who: every place where a word stands has it escaped. */
static void test_every_word_is_there(void)
{
    char *page = written(page_of("w<>w", 3)), *other = written(page_of("w__w", 3));
    CHECK(count_of(page, "w&lt;&gt;w") == count_of(other, "w__w") && count_of(page, "w&lt;&gt;w") > 30);
    free(page);
    free(other);
}

static void test_nothing_is_fetched(void)
{
    char *page = written(page_of("word", 3));
    CHECK(strstr(page, "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none';") &&
          strstr(page, "name=\"viewport\""));
    CHECK(count_of(page, "://") == count_of(page, "http://www.w3.org/2000/svg")); /* a name, not a place */
    CHECK(!strstr(page, "src=") && !strstr(page, "@import") && !strstr(page, "<link") &&
          count_of(page, "url(") == count_of(page, "url(#"));
    free(page);
}

/* The next id="..." from p on; p moves behind it. */
static int next_id(const char **p, const char *before, char id[128])
{
    *p = strstr(*p, before);
    if (!*p) return 0;
    *p += strlen(before);
    snprintf(id, 128, "%.*s", (int)strcspn(*p, "\""), *p);
    return 1;
}

static void test_ids_are_unique_and_references_lead_somewhere(void)
{
    char *page = written(page_of("one name for all", 5)), id[128], other[128];
    int   ids = 0, references = 0;
    for (const char *p = page; next_id(&p, " id=\"", id); ids++) {
        CHECK(id[0] && strspn(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") == strlen(id));
        for (const char *q = p; next_id(&q, " id=\"", other);) CHECK(strcmp(id, other) != 0);
    }
    static const char *const REFERENCE[] = {"href=\"#", "aria-controls=\"", "role=\"tabpanel\" aria-labelledby=\""};
    for (int k = 0; k < 3; k++)
        for (const char *p = page; next_id(&p, REFERENCE[k], id); references++) {
            int found = 0;
            for (const char *q = page; next_id(&q, " id=\"", other);) found += !strcmp(id, other);
            CHECK(found == 1);
        }
    CHECK(ids > 20 && references == 2 + 5 + 5);
    free(page);
}

static void test_choices_are_buttons_while_they_are_few(void)
{
    char *few = written(page_of("word", 8)), *many = written(page_of("word", 9));
    CHECK(count_of(few, "role=\"tab\"") == 8 && !strstr(few, "<option") &&
          count_of(few, "aria-selected=\"true\"") == 1);
    CHECK(count_of(many, "<option") == 9 && !strstr(many, "role=\"tab\""));
    CHECK(count_of(few, "data-choice=") == 8 && count_of(many, "data-choice=") == 9);
    free(few);
    free(many);
}

static void test_things_of_a_kind_share_a_box(void)
{
    char *page = written(page_of("word", 2));
    CHECK(count_of(page, "<dl class=\"tiles\">") == 1 && count_of(page, "<dt>") == 2);
    /* two together, one in each choice */
    CHECK(count_of(page, "<div class=\"plots\">") == 3 && count_of(page, "<figure class=\"plot\"") == 4);
    CHECK(count_of(page, "<figure class=\"table\">") == 1 && count_of(page, "class=\"n best\"") == 1 &&
          count_of(page, "<tr class=\"rule\">") == 1);
    free(page);
}

static void test_empty_lines_end_paragraphs_and_code_keeps_its_lines(void)
{
    ct_page *page = NULL;
    ct_page_new("t", NULL, &page, NULL);
    ct_page_text(page, "one\nline\n\ntwo");
    ct_page_code(page, "a <b>\n  c & d\n");
    char *text = written(page);
    CHECK_WELL_FORMED(text);
    CHECK(strstr(text, "<p>one line</p>\n<p>two</p>\n") && strstr(text, "<code>a &lt;b&gt;\n  c &amp; d</code>"));
    CHECK(!strstr(text, "<nav")); /* no sections, no contents */
    free(text);
}

static void test_a_page_is_written_whole_or_not_at_all(void)
{
    ct_err   err = {0};
    ct_page *page = page_of("word", 2);
    CHECK_REFUSED(ct_page_write(page, ct_test_folder(), &err), err, "it is a folder");
    CHECK_REFUSED(ct_page_write(page, test_path("no/such/folder.html"), &err), err, "cannot create a file");
    CHECK_OK(ct_page_write(page, test_path("page.html"), &err), err);
    char *first = test_read_file(test_path("page.html"));
    CHECK_OK(ct_page_write(page, test_path("page.html"), &err), err); /* again, the same */
    char *second = test_read_file(test_path("page.html"));
    CHECK(first && second && !strcmp(first, second));
    free(first);
    free(second);
    remove(test_path("page.html"));
    ct_page_free(page);
    ct_page_free(NULL);
}

int main(void)
{
    RUN(test_no_text_becomes_anything_else);
    RUN(test_every_word_is_there);
    RUN(test_nothing_is_fetched);
    RUN(test_ids_are_unique_and_references_lead_somewhere);
    RUN(test_choices_are_buttons_while_they_are_few);
    RUN(test_things_of_a_kind_share_a_box);
    RUN(test_empty_lines_end_paragraphs_and_code_keeps_its_lines);
    RUN(test_a_page_is_written_whole_or_not_at_all);
    return ct_test_end();
}
