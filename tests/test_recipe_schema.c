#define _POSIX_C_SOURCE 200809L
/* test_recipe_schema.c: one table of keys: the JSON Schema and docs/import.md have what the reader has. */
#include "manual_test.h"
#include "recipe_test.h"

#include <jansson.h>

#define X(constant, name, heading) heading,
static const char *const HEADING[] = {CT__SECTION_LIST(X)};
#undef X

static manual_of manual = {&ct__recipe_schema, HEADING, "docs/import.md", NULL};

/* ---- the JSON Schema ---- */

static json_t *load_schema(void)
{
    ct_err err = {0};
    json_error_t why;
    char *text = NULL;
    CHECK_OK(ct_recipe_schema(&text, &err), err);
    json_t *schema = text ? json_loads(text, JSON_REJECT_DUPLICATES, &why) : NULL;
    if (!schema) printf("  line %d: %s\n", why.line, why.text);
    free(text);
    return schema;
}

static void test_the_schema_has_every_key_with_its_meaning(void)
{
    json_t *schema = load_schema();
    CHECK(schema != NULL);
    if (!schema) return;
    json_t *sections = json_object_get(schema, "$defs");
    size_t keys = 0;
    CHECK(json_object_size(sections) == CT__SECTION_COUNT);
    for (int s = 0; s < CT__SECTION_COUNT; s++)
        keys += json_object_size(
            json_object_get(json_object_get(sections, ct__section_name((ct__section)s)), "properties"));
    CHECK(keys == (size_t)ct__recipe_key_count);
    for (int i = 0; i < ct__recipe_key_count; i++) {
        const ct__key *k = &ct__recipe_keys[i];
        json_t *section = json_object_get(sections, ct__section_name(k->section));
        json_t *key = json_object_get(json_object_get(section, "properties"), k->key);
        json_t *forms = json_object_get(key, "anyOf"), *required = json_object_get(section, "required");
        int needed = 0;
        CHECK(json_string_length(json_object_get(key, "description")) > 0 && json_array_size(forms) > 0);
        for (size_t r = 0; r < json_array_size(required); r++)
            needed |= !strcmp(json_string_value(json_array_get(required, r)), k->key);
        CHECK(needed == ((k->forms & CT__REQUIRED) != 0));
        for (size_t f = 0; f < json_array_size(forms); f++) {
            const char *to = json_string_value(json_object_get(json_array_get(forms, f), "$ref"));
            CHECK(!to || (!strncmp(to, "#/$defs/", 8) && json_object_get(sections, to + 8)));
        }
    }
    json_decref(schema);
}

static void test_rows_of_the_table_are_complete(void) { schema_rows_are_complete(&ct__recipe_schema); }

/* ---- the manual ---- */

static void test_the_manual_has_every_key_in_its_section(void) { manual_has_every_key(&manual); }
static void test_the_tables_of_the_manual_have_no_other_keys(void) { manual_has_no_other_keys(&manual); }

/* The recipe at the top of the manual, and its sensor types and formats. */
static void test_the_recipe_of_the_manual_is_read(void)
{
    ct_err err = {0};
    ct_recipe *recipe = NULL;
    const char *begin = strstr(manual.text, "```yaml\nformat:"), *end = begin ? strstr(begin, "\n```") : NULL;
    CHECK(end != NULL);
    if (!end) return;
    char *text = strndup(begin + strlen("```yaml\n"), (size_t)(end + 1 - begin) - strlen("```yaml\n"));
    CHECK_OK(ct_recipe_parse(text, "docs/import.md", NULL, &recipe, &err), err);
    ct_recipe_free(recipe);
    free(text);
#define X(constant, name)                                                                                              \
    if (!strstr(manual.text, "| `" name "` |")) printf("  the type %s is missing\n", name);                            \
    CHECK(strstr(manual.text, "| `" name "` |") != NULL);
    CT__SENSOR_LIST(X)
#undef X
#define X(constant, name, description) CHECK(strstr(manual.text, "`" name "`") != NULL);
    CT_SOURCE_FORMAT_LIST(X)
#undef X
}

int main(void)
{
    manual_read(&manual);
    RUN(test_rows_of_the_table_are_complete);
    RUN(test_the_schema_has_every_key_with_its_meaning);
    if (manual.text) {
        RUN(test_the_manual_has_every_key_in_its_section);
        RUN(test_the_tables_of_the_manual_have_no_other_keys);
        RUN(test_the_recipe_of_the_manual_is_read);
    } else
        printf("skip   docs/import.md is not here\n");
    free(manual.text);
    return ct_test_end();
}
