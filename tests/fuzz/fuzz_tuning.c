/* fuzz_tuning.c: any bytes as TUNE.yaml, in a folder with a configuration, a log and its truth. They are refused with a
 * sentence that names the file, or make a problem that ct_tune accepts. */
#include "fuzz.h"

#include <covtune/tune.h>
#include <string.h>

static void put_file(const char *path, const char *text)
{
    FUZZ_LAW(ct_file_replace(path, text, strlen(text), NULL) == CT_OK);
}

static void make_folder(void)
{
    static int made;
    if (made++) return;
    put_file("ekf.yaml", "noise:\n  odom: 0.1\n  gps: 0.5\n  Q: [0.1, 0, 0, 0.2]\n");
    put_file("ekf.tpl", "gate = {{gate}}\n");
    put_file("a.csv", "t,v\n0,1\n");
    put_file("a.tum", "0 0 0 0 0 0 0 1\n1 1 0 0 0 0 0 1\n");
    put_file("b.csv", "t,v\n0,1\n");
    put_file("b.tum", "0 0 0 0 0 0 0 1\n1 1 0 0 0 0 0 1\n");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ct_err err = {0};
    ct_tuning *t = NULL;
    ct_recipe_mistakes list;
    if (memchr(data, '/', size)) return 0; /* files of others are not for us */
    make_folder();
    FUZZ_LAW(ct_file_replace("in.yaml", data, size, NULL) == CT_OK);
    const ct_status status = ct_tuning_read("in.yaml", &t, &err);
    FUZZ_LAW((status == CT_OK) == (t != NULL));
    if (status == CT_OK)
        FUZZ_LAW(ct_tune_check(ct_tuning_problem(t), &err) == CT_OK);
    else
        FUZZ_LAW(!strncmp(err.text, "in.yaml:", 8));
    ct_tuning_free(t);
    if (ct_tuning_check("in.yaml", &list, &err) == CT_OK) {
        FUZZ_LAW((list.count > 0) == (status != CT_OK));
        for (int32_t i = 0; i < list.count; i++) FUZZ_LAW(list.mistake[i].text[0] && list.mistake[i].line > 0);
        ct_recipe_mistakes_free(&list);
    } else
        FUZZ_LAW(status != CT_OK);
    return 0;
}
