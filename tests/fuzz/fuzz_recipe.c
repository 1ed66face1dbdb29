/* fuzz_recipe.c: any bytes as a recipe. They are refused with a sentence that has a line, or make a recipe whose text
 * takes corrections and is read back with them. */
#include "fuzz.h"

#include <covtune/recipe.h>
#include <string.h>

/* A correction of the first sensor is read back, and the second time changes nothing. */
static void check_correction(const ct_recipe *recipe)
{
    ct_err err = {0};
    char *text = NULL, *again = NULL;
    ct_recipe *next = NULL;
    ct_correction c = {.recording = "run \"7\"", .kind = CT_CORRECT_DELAY, .count = 1, .value = {-0.1}};
    if (!ct_recipe_sensor(recipe, 0)) return;
    snprintf(c.sensor, sizeof c.sensor, "%s", ct_recipe_sensor(recipe, 0));
    if (ct_recipe_correct(recipe, &c, 1, &text, &err) != CT_OK) {
        FUZZ_LAW(err.text[0] && !text);
        return;
    }
    FUZZ_LAW(ct_recipe_parse(text, "next.yaml", NULL, &next, &err) == CT_OK);
    int found = 0;
    for (int32_t i = 0; ct_recipe_correction(next, i); i++) {
        const ct_correction *o = ct_recipe_correction(next, i);
        found += o->kind == c.kind && !strcmp(o->recording, c.recording) && o->value[0] == c.value[0];
    }
    FUZZ_LAW(found == 1);
    FUZZ_LAW(ct_recipe_correct(next, &c, 1, &again, &err) == CT_OK && !strcmp(text, again));
    ct_recipe_free(next);
    free(again);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ct_err err = {0};
    ct_recipe *recipe = NULL;
    char *text = malloc(size + 1);
    FUZZ_LAW(text);
    if (size) memcpy(text, data, size);
    text[size] = 0;
    if (ct_recipe_parse(text, "in.yaml", NULL, &recipe, &err) == CT_OK) {
        FUZZ_LAW(!strcmp(ct_recipe_text(recipe), text));
        check_correction(recipe);
    } else
        FUZZ_LAW(err.text[0] && !recipe && !strncmp(err.text, "in.yaml:", 8));
    ct_recipe_free(recipe);
    free(text);
    return 0;
}
