/* test_report_memory.c: no memory at any moment of a report. Every allocation is failed once, each in a run of its own: building goes on as if nothing were, and whoever writes says it and
 * leaves no file. Programs called *_memory are linked so that the library's allocations pass through here. */
#include "report_test.h"
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
    for (int i = 0; i < 5; i++) s[i] = (ct_series){"series", (ct_role)(CT_ROLE_FIRST + i), (ct_mark)i, i == CT_MARK_BARS ? 20 : POINTS, x, y, spread};
    const ct_plot plot = {.id = "p", .title = "p", .count = 5, .series = s, .zoom = 1}, names = {.id = "n", .count = 1, .series = s, .x_names = NAME, .names = 2};
    ct_page_section(page, "s", "s");
    ct_page_text(page, "text %d", 1);
    ct_page_code(page, "code\nlines");
    ct_page_tile(page, "a", "b", "c");
    ct_page_table(page, table);
    ct_page_plot(page, &plot);
    ct_page_choices(page, "c", "c", 2, NAME);
    ct_page_choice(page, 0);
    ct_page_warn(page, "text");
    ct_page_choice(page, 1);
    ct_page_plot(page, &names);
    ct_page_choices_end(page);
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
    for (int f = 0; status == CT_OK && f < CT_TABLE_COUNT; f++) status = ct_table_write(table, (ct_table_format)f, path, &err);
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

static void test_nothing_is_written_of_what_is_not_whole(void)
{
    const ct_series s = {"s", CT_ROLE_AFTER, CT_MARK_LINE, POINTS, x, y, NULL};
    const ct_plot   plot = {.title = "p", .count = 1, .series = &s};
    for (int64_t k = 0; k < 1000; k++) {
        ct_err err = {0};
        left = k;
        const ct_status status = ct_plot_write(&plot, test_path("memory.svg"), &err);
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

int main(void)
{
    for (int i = 0; i < POINTS; i++) x[i] = i, y[i] = sin(0.01 * i), spread[i] = 0.1;
    x[POINTS] = POINTS;
    RUN(test_a_report_survives_the_failure_of_every_allocation);
    RUN(test_nothing_is_written_of_what_is_not_whole);
    return ct_test_end();
}
