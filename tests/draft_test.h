/* draft_test.h: folders of tables, and the recipes that are drafted for them. */
#ifndef CT_DRAFT_TEST_H
#define CT_DRAFT_TEST_H

#include "recipe_test.h"

#include "recipe/draft.h"

#include <sys/stat.h>

static char folder[600];

static void new_folder(const char *name)
{
    char command[800];
    snprintf(folder, sizeof folder, "%s/draft-%s", ct_test_folder(), name);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    CHECK(system(command) == 0 && mkdir(folder, 0777) == 0);
}

/* A table: a header, and lines of `value` with t = first + i * step. */
static void write_table(const char *name, const char *header, double first, double step, int lines, const char *value)
{
    char path[800];
    ct_err err = {0};
    ct__text text = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    for (char *slash = strchr(path + strlen(folder) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(path, 0777);
        *slash = '/';
    }
    ct__text_printf(&text, "%s\n", header);
    for (int i = 0; i < lines; i++) ct__text_printf(&text, "%.15g,%s\n", first + i * step, value);
    CHECK_OK(ct_file_replace(path, text.bytes, strlen(text.bytes), &err), err);
    ct__text_free(&text);
}

/* The draft of the folder, which is a recipe; NULL otherwise. */
static inline ct_recipe *draft(const char *const part[], int parts)
{
    ct_err err = {0};
    char *text = NULL;
    ct_recipe *recipe = NULL;
    const char *path = folder;
    CHECK_OK(ct_recipe_draft(&path, 1, &text, &err), err);
    if (!text) return NULL;
    CHECK_OK(ct_recipe_parse(text, "draft.yaml", NULL, &recipe, &err), err);
    int all = recipe != NULL;
    for (int i = 0; i < parts; i++) {
        if (!strstr(text, part[i])) printf("  \"%s\" is not in it\n", part[i]), all = 0;
    }
    CHECK(all);
    if (!all) printf("%s", text);
    free(text);
    return recipe;
}

#define DRAFT(...)                                                                                                     \
    draft((const char *const[]){__VA_ARGS__}, (int)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)))

/* Import what was drafted, in memory: so many recordings and states. */
static inline void import(ct_recipe *recipe, int32_t recordings, int64_t states)
{
    ct_err err = {0};
    ct_dataset *dataset = NULL;
    ct_import_result result = {0};
    ct_import_options options = ct_import_defaults();
    options.folder = folder;
    if (!recipe) return;
    CHECK_OK(ct_recipe_dataset(recipe, &options, &dataset, &result, &err), err);
    CHECK(result.recordings == recordings && result.states == states);
    if (result.states != states) printf("  %d recordings, %lld states\n", result.recordings, (long long)result.states);
    ct_import_result_free(&result);
    ct_dataset_free(dataset);
    ct_recipe_free(recipe);
}

/* The text of a draft, whether it can be imported or not. */
static inline void check_text(const char *const part[], int parts, const char *absent)
{
    ct_err      err = {0};
    char       *text = NULL;
    const char *path = folder;
    CHECK_OK(ct_recipe_draft(&path, 1, &text, &err), err);
    for (int i = 0; text && i < parts; i++) {
        CHECK(strstr(text, part[i]) != NULL);
        if (!strstr(text, part[i])) printf("  \"%s\" is not in it\n%s", part[i], text);
    }
    CHECK(text && (!absent || !strstr(text, absent)));
    free(text);
}

#define TEXT(absent, ...)                                                                                              \
    check_text((const char *const[]){__VA_ARGS__}, (int)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)), \
               absent)

#endif
