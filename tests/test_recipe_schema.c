#define _POSIX_C_SOURCE 200809L
/* test_recipe_schema.c: one table of keys: the JSON Schema and docs/import.md have what the reader has. */
#include "recipe_test.h"

#include <jansson.h>

static const char *heading_of(ct__section section)
{
#define X(constant, name, heading) heading,
    static const char *const HEADING[] = {CT__SECTION_LIST(X)};
#undef X
    return HEADING[section];
}

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

static void test_rows_of_the_table_are_complete(void)
{
    for (int i = 0; i < ct__recipe_key_count; i++) {
        const ct__key *k = &ct__recipe_keys[i];
        CHECK(ct__key_find(k->section, k->key) == k); /* no key twice */
        CHECK((k->fallback != NULL) == !(k->forms & CT__REQUIRED));
        CHECK(!(k->forms & CT__FORM_CHOICE) || k->words[0]);
        CHECK(!(k->forms & (CT__FORM_NUMBER | CT__FORM_NUMBERS | CT__FORM_INTEGER)) || k->low <= k->high);
        CHECK(!(k->forms & (CT__FORM_TEXTS | CT__FORM_NUMBERS)) || (k->least >= 1 && k->most >= k->least));
        CHECK(!(k->forms & (CT__FORM_SECTION | CT__FORM_ITEMS | CT__FORM_LIST)) == (k->of == CT__SECTION_NONE));
    }
}

/* ---- the manual ---- */

static char *manual;

/* The text of a section of the manual: from its heading to the next; the caller frees it. */
static char *section_text(const char *heading)
{
    char line[80];
    const char *at = manual;
    snprintf(line, sizeof line, "\n## %s\n", heading);
    at = strstr(manual, line);
    if (!at) return NULL;
    at += strlen(line);
    const char *end = strstr(at, "\n## ");
    return strndup(at, end ? (size_t)(end - at) : strlen(at));
}

/* Is the key there in backquotes: `key`, `key: ...`, {key, ...}? */
static int mentions(const char *text, const char *key)
{
    for (const char *at = text; (at = strstr(at, key)); at++) {
        const char before = at > text ? at[-1] : ' ', after = at[strlen(key)];
        if (strchr("`{ ", before) && strchr("`:,}", after)) return 1;
    }
    return 0;
}

static void test_the_manual_has_every_key_in_its_section(void)
{
    for (int i = 0; i < ct__recipe_key_count; i++) {
        const ct__key *k = &ct__recipe_keys[i];
        char *text = section_text(heading_of(k->section));
        if (!text || !mentions(text, k->key))
            printf("  docs/import.md, %s: %s is missing\n", heading_of(k->section), k->key);
        CHECK(text && mentions(text, k->key));
        free(text);
    }
}

static int is_key_under(const char *heading, const char *key)
{
    for (int i = 0; i < ct__recipe_key_count; i++)
        if (!strcmp(heading_of(ct__recipe_keys[i].section), heading) && !strcmp(ct__recipe_keys[i].key, key)) return 1;
    return 0;
}

/* First cells of the tables whose head is "key": every word in backquotes is a key. */
static void check_first_cells(const char *heading, const char *text)
{
    int keys = 0;
    for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        if (!strncmp(line, "| key |", 7))
            keys = 1;
        else if (line[0] != '|')
            keys = 0;
        if (!keys || line[0] != '|') continue;
        const char *end = strstr(line + 1, " | ");
        for (const char *at = line; end && (at = strchr(at, '`')) && at < end;) {
            char key[64];
            const size_t length = strcspn(at + 1, "`:");
            snprintf(key, sizeof key, "%.*s", (int)length, at + 1);
            if (!is_key_under(heading, key)) printf("  docs/import.md, %s: the reader has no key %s\n", heading, key);
            CHECK(is_key_under(heading, key));
            at += 1 + strcspn(at + 1, "`");
            at += *at == '`';
        }
    }
}

static void test_the_tables_of_the_manual_have_no_other_keys(void)
{
    for (int s = 0; s < CT__SECTION_COUNT; s++) {
        char *text = section_text(heading_of((ct__section)s));
        if (text) check_first_cells(heading_of((ct__section)s), text);
        free(text);
    }
}

/* The recipe at the top of the manual, and its sensor types and formats. */
static void test_the_recipe_of_the_manual_is_read(void)
{
    ct_err err = {0};
    ct_recipe *recipe = NULL;
    const char *begin = strstr(manual, "```yaml\nformat:"), *end = begin ? strstr(begin, "\n```") : NULL;
    CHECK(end != NULL);
    if (!end) return;
    char *text = strndup(begin + strlen("```yaml\n"), (size_t)(end + 1 - begin) - strlen("```yaml\n"));
    CHECK_OK(ct_recipe_parse(text, "docs/import.md", NULL, &recipe, &err), err);
    ct_recipe_free(recipe);
    free(text);
#define X(constant, name)                                                                                              \
    if (!strstr(manual, "| `" name "` |")) printf("  the type %s is missing\n", name);                                 \
    CHECK(strstr(manual, "| `" name "` |") != NULL);
    CT__SENSOR_LIST(X)
#undef X
#define X(constant, name, description) CHECK(strstr(manual, "`" name "`") != NULL);
    CT_SOURCE_FORMAT_LIST(X)
#undef X
}

int main(void)
{
    FILE *file = fopen("docs/import.md", "rb");
    size_t size = 0;
    manual = calloc(1, 1 << 18);
    if (file) size = fread(manual, 1, (1 << 18) - 1, file), fclose(file);
    RUN(test_rows_of_the_table_are_complete);
    RUN(test_the_schema_has_every_key_with_its_meaning);
    if (size) {
        RUN(test_the_manual_has_every_key_in_its_section);
        RUN(test_the_tables_of_the_manual_have_no_other_keys);
        RUN(test_the_recipe_of_the_manual_is_read);
    } else
        printf("skip   docs/import.md is not here\n");
    free(manual);
    return ct_test_end();
}
