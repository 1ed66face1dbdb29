/* test_source_memory.c: no memory at any moment. Every allocation that reading a table or matching a pattern makes is
 * failed once, each in a run of its own: the run ends in CT_E_MEMORY with nothing lost, which the sanitizers see. */
#define _POSIX_C_SOURCE 200809L
#include "memory_test.h"
#include "source_test.h"

#include <sys/stat.h>

static const struct {
    const char *text, *where, *value, *name;
    int named, format; /* format 0: g2o, whose first column is text */
} table[] = {
    {"# a comment\nTime [s],x [m],tag\n1,2,\"a \"\"b\"\"\"\n2,3,c\n", "tag != 'd' and x > 0",
     "hypot(x, min(x, 3, robot)) in mm", "tag", 0, 1},
    {"1 2 abc\n3 4 d\n", "t > 0 and c == 'abc'", "v + 1", "c", 1, 1},
    {"1 0 0 0 0 0 0 1\n2 0 0 0 0 0 0 1\n", NULL, "tx", "qw", 0, 1},
    {"EDGE_SE2 0 1 1 0 0 1 0 0 1 0 1\n", "tag == 'EDGE_SE2'", "yaw in deg", "tag", 0, 0},
    {"#timestamp [ns],a [m]\n1403636579758555392,2\n", NULL, "a", "a", 0, 1},
};

static int read_once(int i, int64_t k, const char *path)
{
    ct_err err = {0};
    records r;
    ct_source_options options = ct_source_defaults();
    options.where = table[i].where;
    options.columns = table[i].named ? 3 : 0;
    options.column = NAMES("t", "v", "c");
    options.missing = NAMES("-", "-999");
    options.missings = table[i].named ? 2 : 0;
    options.constant = NAMES("robot", "7");
    options.constants = 1;
    left = k;
    const ct_status status =
        read_records(path, &options, NAMES(table[i].value, table[i].format ? "#1 + 0" : "j"), table[i].name, &r, &err);
    const int through = left >= 0;
    left = -1;
    CHECK(through ? status == CT_OK && r.count > 0 : status == CT_E_MEMORY && strstr(err.text, "memory"));
    if (through && status != CT_OK) fprintf(stderr, "%s\n", err.text);
    return through;
}

static void test_reading_survives_the_failure_of_every_allocation(void)
{
    for (int i = 0; i < (int)(sizeof table / sizeof *table); i++) {
        const char *path = write_text("memory.csv", table[i].text);
        int64_t k = 0;
        while (k < 1000 && !read_once(i, k, path)) k++;
        CHECK(k > 10 && k < 1000);
    }
}

static void test_long_lines_survive_the_failure_of_every_allocation(void)
{
    static char text[600001];
    for (int i = 0; i < 600000; i++) text[i] = i == 300000 ? '\n' : i % 2 ? ',' : '1';
    const char *path = write_text("memory.csv", text);
    int64_t k = 0;
    for (int through = 0; !through && k < 1000; k++) {
        ct_err err = {0};
        records r;
        left = k;
        const ct_status status = read_records(path, NULL, NAMES("#1"), NULL, &r, &err);
        through = left >= 0;
        left = -1;
        CHECK(through ? status == CT_OK && r.count == 2 : status == CT_E_MEMORY);
    }
    CHECK(k > 10 && k < 1000);
}

static void test_matching_survives_the_failure_of_every_allocation(void)
{
    char folder[600], path[700];
    snprintf(folder, sizeof folder, "%s/memory", ct_test_folder());
    mkdir(folder, 0777);
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/run%d", folder, i);
        mkdir(path, 0777);
        snprintf(path, sizeof path, "memory/run%d/run%d.csv", i, i);
        write_text(path, "");
    }
    for (int found = 0; found < 2; found++) {
        int64_t k = 0;
        for (int through = 0; !through && k < 1000; k++) {
            ct_err err = {0};
            ct_matches *m = NULL;
            left = k;
            const ct_status status = ct_files_match(folder, found ? "{run}/{run}.csv" : "{run}/{run}.txt", &m, &err);
            through = left >= 0;
            left = -1;
            if (through)
                CHECK(status == (found ? CT_OK : CT_E_EMPTY));
            else
                CHECK(status == CT_E_MEMORY && !m);
            ct_matches_free(m);
        }
        CHECK(k > 10 && k < 1000);
    }
}

int main(void)
{
    RUN(test_reading_survives_the_failure_of_every_allocation);
    RUN(test_long_lines_survive_the_failure_of_every_allocation);
    RUN(test_matching_survives_the_failure_of_every_allocation);
    return ct_test_end();
}
