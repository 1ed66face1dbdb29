/* test_recipe_files.c: the recipes of the tree are recipes. tests/check_recipes imports by them. */
#define _XOPEN_SOURCE 700
#include "ct_test.h"

#include <covtune/recipe.h>
#include <dirent.h>

static void test_every_recipe_is_accepted(void)
{
    DIR                 *dir = opendir("recipes");
    const struct dirent *e;
    int                  recipes = 0;
    CHECK(dir != NULL);
    while (dir && (e = readdir(dir))) {
        char       path[512];
        ct_err     err = {0};
        ct_recipe *recipe = NULL;
        const char *end = strrchr(e->d_name, '.');
        if (!end || strcmp(end, ".yaml")) continue;
        snprintf(path, sizeof path, "recipes/%s", e->d_name);
        CHECK_OK(ct_recipe_read(path, &recipe, &err), err);
        if (recipe) {
            int lines = 0;
            for (const char *c = ct_recipe_text(recipe); *c; c++) lines += *c == '\n';
            CHECK(lines <= 42);
        }
        ct_recipe_free(recipe);
        recipes++;
    }
    if (dir) closedir(dir);
    CHECK(recipes >= 10);
}

int main(void)
{
    RUN(test_every_recipe_is_accepted);
    return ct_test_end();
}
