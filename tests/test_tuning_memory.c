/* test_tuning_memory.c: no memory at any moment: reading TUNE.yaml and a first file say so, and leak nothing. */
#define _GNU_SOURCE
#include "tuning_test.h"
#include "memory_test.h"

static ct_status work(int which, const char *path, ct_err *err)
{
    static char params[768], log[768], truth[768];
    ct_tuning *t = NULL;
    ct_recipe_mistakes list = {0};
    char *text = NULL;
    ct_status status = CT_OK;
    snprintf(params, sizeof params, "%s", in_folder("ekf.yaml"));
    snprintf(log, sizeof log, "%s", in_folder("train/*.csv"));
    snprintf(truth, sizeof truth, "%s", in_folder("train/*.tum"));
    const ct_tuning_draft_options o = {
        .command = "sh run {params} {log} {estimate}", .params = params, .log = log, .truth = truth};
    if (which == 0)
        status = ct_tuning_read(path, &t, err);
    else if (which == 1)
        status = ct_tuning_check(path, &list, err);
    else if (which == 2)
        status = ct_tuning_schema(&text, err);
    else
        status = ct_tuning_draft(&o, &text, err);
    CHECK(status == CT_OK || (!text && !t));
    ct_tuning_free(t);
    ct_recipe_mistakes_free(&list);
    free(text);
    return status;
}

static void fail_each(int which, const char *name)
{
    char path[768] = "";
    if (name) snprintf(path, sizeof path, "%s", name);
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
    CHECK(k > 3 && k < 20000);
}

static void test_reading_survives_the_failure_of_every_allocation(void) { fail_each(0, in_folder("tune.yaml")); }

static void test_mistakes_survive_the_failure_of_every_allocation(void)
{
    put_file("wrong.yaml", "format: covtune-tune\nversion: 3\n"
                           "command: [./run, \"{parms}\"]\nfiles: {params: ekf.yaml}\n"
                           "parameters:\n  odom: {key: noise.odm, uper: 3}\nlogs:\n  train: {log: \"train/*.csv\"}\n");
    fail_each(1, in_folder("wrong.yaml"));
}

static void test_the_schema_survives_the_failure_of_every_allocation(void) { fail_each(2, NULL); }
static void test_a_first_file_survives_the_failure_of_every_allocation(void) { fail_each(3, NULL); }

int main(void)
{
    make_folder();
    RUN(test_reading_survives_the_failure_of_every_allocation);
    RUN(test_mistakes_survive_the_failure_of_every_allocation);
    RUN(test_the_schema_survives_the_failure_of_every_allocation);
    RUN(test_a_first_file_survives_the_failure_of_every_allocation);
    return ct_test_end();
}
