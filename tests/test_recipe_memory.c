/* test_recipe_memory.c: no memory at any moment: reading, correcting and drafting say so, and leak nothing. */
#include "recipe_test.h"
#include "memory_test.h"

static const ct_correction C[] = {{.sensor = "odom", .kind = CT_CORRECT_SCALE, .count = 3, .value = {1, 2, 3}},
                                  {.sensor = "seen", .recording = "a", .kind = CT_CORRECT_DELAY, .count = 1}};

static ct_status work(int which, const char *path, ct_err *err)
{
    ct_recipe *recipe = NULL;
    char *text = NULL;
    ct_status status = CT_OK;
    if (which == 0)
        status = ct_recipe_parse(PLANAR, "r.yaml", "folder", &recipe, err);
    else if (which == 1) {
        status = ct_recipe_parse(PLANAR, "r.yaml", NULL, &recipe, err);
        if (status == CT_OK) status = ct_recipe_correct(recipe, C, 2, &text, err);
    } else if (which == 2)
        status = ct_recipe_schema(&text, err);
    else
        status = ct_recipe_draft(&path, 1, &text, err);
    CHECK(status == CT_OK || !text);
    ct_recipe_free(recipe);
    free(text);
    return status;
}

static void fail_each(int which, const char *path)
{
    int64_t k = 0;
    for (int through = 0; !through && k < 20000; k++) {
        ct_err err = {0};
        left = k;
        const ct_status status = work(which, path, &err);
        through = left >= 0;
        left = -1;
        if (through)
            CHECK_OK(status, err);
        else if (status != CT_E_MEMORY || err.status != CT_E_MEMORY) {
            printf("  %d, allocation %lld: %d %s\n", which, (long long)k, (int)status, err.text);
            CHECK(!"out of memory");
        }
    }
    CHECK(k < 20000);
}

static void test_reading_survives_the_failure_of_every_allocation(void) { fail_each(0, NULL); }
static void test_correcting_survives_the_failure_of_every_allocation(void) { fail_each(1, NULL); }
static void test_the_schema_survives_the_failure_of_every_allocation(void) { fail_each(2, NULL); }

static void test_a_draft_survives_the_failure_of_every_allocation(void)
{
    static const char TEXT[] = "t,v,omega\n0,1,0.1\n0.1,1,0.1\n0.2,1,0.1\n";
    ct_err err = {0};
    char path[512];
    snprintf(path, sizeof path, "%s/odometry.csv", ct_test_folder());
    CHECK_OK(ct_file_replace(path, TEXT, strlen(TEXT), &err), err);
    fail_each(3, path);
}

/* A list of mistakes that cannot be kept is no memory, not a recipe without mistakes. */
static void test_mistakes_are_not_lost(void)
{
    for (int64_t k = 0, through = 0; !through && k < 5000; k++) {
        ct_err err = {0};
        ct_recipe *recipe = NULL;
        left = k;
        const ct_status status = ct_recipe_parse("format: x\nversion: 7\nfoo: 1\n", "r.yaml", NULL, &recipe, &err);
        through = left >= 0;
        left = -1;
        CHECK(!recipe && status == (through ? CT_E_PARSE : CT_E_MEMORY));
    }
}

int main(void)
{
    RUN(test_reading_survives_the_failure_of_every_allocation);
    RUN(test_correcting_survives_the_failure_of_every_allocation);
    RUN(test_the_schema_survives_the_failure_of_every_allocation);
    RUN(test_a_draft_survives_the_failure_of_every_allocation);
    RUN(test_mistakes_are_not_lost);
    return ct_test_end();
}
