/* test_page_memory.c: no memory at any moment of a report. Every allocation is failed once, each in a run of its
 * own: building goes on as if nothing were, and whoever writes says it and leaves no file. Programs called *_memory
 * are linked so that the library's allocations pass through here. */
#include "page_test.h"
#include "memory_test.h"

#define POINTS 2500 /* enough to be thinned */

static double x[POINTS + 1], y[POINTS], spread[POINTS];

static void fill_table(ct_table *t)
{
    ct_table_column(t, "name", "name", NULL, 0);
    ct_table_column(t, "value", "value", "m", 3);
    for (int i = 0; i < 20; i++) {
        ct_table_row(t, i == 3);
        ct_table_text(t, "row %d, in some words", i);
        ct_table_deviation(t, 0.5 + i, 0.1);
        ct_table_mark(t, i % 3);
    }
    ct_table_note(t, "a note of %d", 1);
}

static void fill_page(ct_page *page, const ct_table *table)
{
    static const char *const NAME[] = {"a", "b"};
    ct_series                s[5];
    for (int i = 0; i < 5; i++)
        s[i] = (ct_series){"series", (ct_role)(CT_ROLE_FIRST + i), (ct_mark)i, i == CT_MARK_BARS ? 20 : POINTS, x, y,
                           spread};
    const ct_plot plot = {.id = "p", .title = "p", .count = 5, .series = s, .zoom = 1},
                  names = {.id = "n", .count = 1, .series = s, .x_names = NAME, .names = 2};
    static const double BOX[] = {0, 0, 1, 0, 0, 1};
    const ct_scene_body       body[] = {{"body", CT_ROLE_BEFORE, 3, BOX, 0, x}, {NULL, CT_ROLE_AFTER, 0, NULL, 0, x}};
    const ct_scene      scene = {.id = "m", .title = "m", .frames = 60, .time_s = x, .count = 2, .body = body};
    ct_page_section(page, "s", "s");
    ct_page_text(page, "text %d", 1);
    ct_page_code(page, "code\nlines");
    ct_page_tile(page, "a", "b", "c");
    ct_page_table(page, table);
    ct_page_plot(page, &plot);
    ct_page_scene(page, &scene);
    ct_page_choices(page, "c", "c", 2, NAME);
    ct_page_choice(page, 0);
    ct_page_warn(page, "text");
    ct_page_choice(page, 1);
    ct_page_plot(page, &names);
    ct_page_choices_end(page);
}

/* A table without rows is left out of a page; one that had no memory for its rows must not be taken for one. */
static void test_rows_without_memory_are_rows(void)
{
    ct_table *table = NULL;
    ct_err    err = {0};
    CHECK_OK(ct_table_new("t", &table, &err), err);
    ct_table_column(table, "name", "name", NULL, 0);
    left = 0;
    ct_table_row(table, 0);
    left = -1;
    ct_table_text(table, "a row");
    CHECK(ct_table_rows(table) == 1);
    char *text;
    CHECK(ct_table_string(table, CT_TABLE_CSV, 0, &text, &err) == CT_E_MEMORY && !text &&
          strstr(err.text, "out of memory"));
    ct_table_free(table);
}

/* All with allocation k failing. Returns 1 when there is no such allocation any more. */
static int report_once(int64_t k)
{
    ct_err    err = {0};
    ct_table *table = NULL;
    ct_page  *page = NULL;
    const char *const path = test_path("memory.html");
    left = k;
    ct_status status = ct_table_new("t", &table, &err);
    if (status == CT_OK) {
        fill_table(table);
        status = ct_page_new("p", "q", &page, &err);
    }
    if (status == CT_OK) {
        fill_page(page, table);
        status = ct_page_write(page, path, &err);
    }
    for (int f = 0; status == CT_OK && f < CT_TABLE_COUNT; f++)
        status = ct_table_write(table, (ct_table_format)f, path, &err);
    const int through = left >= 0;
    left = -1;
    if (through) CHECK_OK(status, err);
    else CHECK(status == CT_E_MEMORY && err.status == status && strstr(err.text, "out of memory"));
    ct_table_free(table);
    ct_page_free(page);
    remove(path);
    return through;
}

static void test_a_report_survives_the_failure_of_every_allocation(void)
{
    int64_t k = 0;
    while (!report_once(k) && k < 100000) k++;
    CHECK(k > 100 && k < 100000);
}

/* A plot (0) or a scene (1). */
static ct_status write_picture(int kind, const char *path, ct_err *err)
{
    static const double BOX[] = {0, 0, 1, 0, 0, 1};
    const ct_series     s = {"s", CT_ROLE_AFTER, CT_MARK_LINE, POINTS, x, y, NULL};
    const ct_plot       plot = {.title = "p", .count = 1, .series = &s};
    const ct_scene_body       body = {"t", CT_ROLE_AFTER, 3, BOX, 0, x};
    const ct_scene      scene = {.title = "p", .frames = POINTS / 3, .count = 1, .body = &body};
    return kind ? ct_scene_write(&scene, path, err) : ct_plot_write(&plot, path, err);
}

static void nothing_is_written_of_what_is_not_whole(int kind)
{
    for (int64_t k = 0; k < 1000; k++) {
        ct_err err = {0};
        left = k;
        const ct_status status = write_picture(kind, test_path("memory.svg"), &err);
        const int       through = left >= 0;
        left = -1;
        FILE *f = fopen(test_path("memory.svg"), "r");
        CHECK(through ? status == CT_OK && f : status == CT_E_MEMORY && !f);
        if (f) fclose(f);
        remove(test_path("memory.svg"));
        if (through) return;
    }
    CHECK(!"there is an end to it");
}

static void test_nothing_is_written_of_a_plot_that_is_not_whole(void) { nothing_is_written_of_what_is_not_whole(0); }
static void test_nothing_is_written_of_a_scene_that_is_not_whole(void) { nothing_is_written_of_what_is_not_whole(1); }

int main(void)
{
    for (int i = 0; i < POINTS; i++) x[i] = i, y[i] = sin(0.01 * i), spread[i] = 0.1;
    x[POINTS] = POINTS;
    RUN(test_rows_without_memory_are_rows);
    RUN(test_a_report_survives_the_failure_of_every_allocation);
    RUN(test_nothing_is_written_of_a_plot_that_is_not_whole);
    RUN(test_nothing_is_written_of_a_scene_that_is_not_whole);
    return ct_test_end();
}
