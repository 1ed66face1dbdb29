/* test_config_memory.c: no memory at any moment: reading, finding and writing say so, and leak nothing. */
#include "config_test.h"
#include "memory_test.h"

static const struct {
    ct_config_format format;
    const char *text, *key, *missing;
} CASE[] = {
    {CT_CONFIG_TEMPLATE, "a {{q}} b {{q}} c {{q}}\n", "q", "r"},
    {CT_CONFIG_YAML, "%YAML:1.0\na: &x {b: 1, c: [[1, 2], [3, 4]]}\nd: &y 5\ne: *y\n", "a.c[diagonal]", "a.d"},
    {CT_CONFIG_JSON, "{\"a\": {\"b\\u0063\": [1, 2, 3, 4]}, \"d\": \"5\"}", "a.bc[0, 3]", "a.b"},
    {CT_CONFIG_TOML, "[a.b]\n\"c\\u0064\" = [1, 2]\n[[e]]\nf = {g.h = 1}\n", "e[0].f.g.h", "e[0].f.g.i"},
    {CT_CONFIG_INI, "q = 1\n[s]\nr = 1 2\n  3 4\n", "s.r[all]", "s.q"},
    {CT_CONFIG_XML, "<a><b n='x &amp; y' v='1 2'>3 4</b><b n='z' v='5'/></a>", "a/b[@n='x & y'][1]/@v[1]",
     "a/b[@n='u']"},
};

static ct_status work(int which, ct_err *err)
{
    ct_config *c = NULL;
    char *text = NULL;
    size_t size;
    int32_t first, count, place[8];
    double value[8];
    ct_status status =
        ct_config_parse(CASE[which].text, strlen(CASE[which].text), "in.cfg", CASE[which].format, &c, err);
    CHECK((status == CT_OK) == (c != NULL));
    if (status == CT_OK) {
        status = ct_config_find(c, CASE[which].missing, &first, &count, err);
        CHECK(status != CT_OK);
        if (status == CT_E_EMPTY) status = CT_OK;
    }
    if (status == CT_OK) status = ct_config_find(c, CASE[which].key, &first, &count, err);
    if (status == CT_OK) {
        for (int32_t i = 0; i < count; i++) place[i] = first + i, value[i] = 7.5;
        status = ct_config_write(c, count, place, value, &text, &size, err);
        CHECK((status == CT_OK) == (text != NULL));
    }
    /* after a failure the same is found */
    const int64_t before = left;
    left = -1;
    ct_err again = {0};
    if (c) CHECK_OK(ct_config_find(c, CASE[which].key, &first, &count, &again), again);
    left = before;
    free(text);
    ct_config_free(c);
    return status;
}

static void test_every_format_survives_the_failure_of_every_allocation(void)
{
    for (int which = 0; which < (int)(sizeof CASE / sizeof *CASE); which++) {
        int64_t k = 0;
        for (int through = 0; !through && k < 5000; k++) {
            ct_err err = {0};
            left = k;
            const ct_status status = work(which, &err);
            through = left >= 0;
            left = -1;
            /* the list of names near to one that is missing may be cut short */
            if (status != CT_OK && (status != CT_E_MEMORY || err.status != CT_E_MEMORY)) {
                printf("  %d, allocation %lld: %d %s\n", which, (long long)k, (int)status, err.text);
                CHECK(!"out of memory");
            }
            if (through) CHECK_OK(status, err);
        }
        CHECK(k > 5 && k < 5000);
    }
}

static void test_a_file_survives_the_failure_of_every_allocation(void)
{
    char path[512];
    ct_err err = {0};
    snprintf(path, sizeof path, "%s/a.yaml", ct_test_folder());
    CHECK_OK(ct_file_replace(path, "q: 1\n", 5, &err), err);
    for (int64_t k = 0, through = 0; !through && k < 5000; k++) {
        ct_config *c = NULL;
        left = k;
        const ct_status status = ct_config_read(path, CT_CONFIG_AUTO, &c, &err);
        through = left >= 0;
        left = -1;
        CHECK(status == (through ? CT_OK : CT_E_MEMORY) && (status == CT_OK) == (c != NULL));
        ct_config_free(c);
    }
}

int main(void)
{
    RUN(test_every_format_survives_the_failure_of_every_allocation);
    RUN(test_a_file_survives_the_failure_of_every_allocation);
    return ct_test_end();
}
