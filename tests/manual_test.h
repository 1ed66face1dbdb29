/* manual_test.h: the keys of a schema compared with the document that is its manual. */
#ifndef CT_MANUAL_TEST_H
#define CT_MANUAL_TEST_H

#include "schema/schema.h"

#include "ct_test.h"

typedef struct {
    const ct__schema  *schema;
    const char *const *heading; /* of each section       */
    const char        *path;    /* of the document       */
    char              *text;    /* NULL: it is not here  */
} manual_of;

static void manual_read(manual_of *m)
{
    FILE *file = fopen(m->path, "rb");
    m->text = NULL;
    if (!file) return;
    m->text = calloc(1, 1 << 18);
    const size_t size = m->text ? fread(m->text, 1, (1 << 18) - 1, file) : 0;
    fclose(file);
    CHECK(size > 0);
}

/* The text of a section of the manual: from its heading to the next; the caller frees it. */
static char *manual_section(const manual_of *m, const char *heading)
{
    char line[80];
    snprintf(line, sizeof line, "\n## %s\n", heading);
    const char *at = strstr(m->text, line);
    if (!at) return NULL;
    at += strlen(line);
    const char *end = strstr(at, "\n## ");
    return strndup(at, end ? (size_t)(end - at) : strlen(at));
}

/* Is the key there in backquotes: `key`, `key: ...`, {key, ...}? */
static int manual_mentions(const char *text, const char *key)
{
    for (const char *at = text; (at = strstr(at, key)); at++) {
        const char before = at > text ? at[-1] : ' ', after = at[strlen(key)];
        if (strchr("`{ ", before) && strchr("`:,}", after)) return 1;
    }
    return 0;
}

static void manual_has_every_key(const manual_of *m)
{
    for (int i = 0; i < m->schema->keys; i++) {
        const ct__key *k = &m->schema->key[i];
        char *text = manual_section(m, m->heading[k->section]);
        if (!text || !manual_mentions(text, k->key))
            printf("  %s, %s: %s is missing\n", m->path, m->heading[k->section], k->key);
        CHECK(text && manual_mentions(text, k->key));
        free(text);
    }
}

static int manual_is_key(const manual_of *m, const char *heading, const char *key)
{
    for (int i = 0; i < m->schema->keys; i++)
        if (!strcmp(m->heading[m->schema->key[i].section], heading) && !strcmp(m->schema->key[i].key, key)) return 1;
    return 0;
}

/* First cells of the tables whose head is "key": every word in backquotes is a key. */
static void manual_check_cells(const manual_of *m, const char *heading, const char *text)
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
            if (!manual_is_key(m, heading, key))
                printf("  %s, %s: the reader has no key %s\n", m->path, heading, key);
            CHECK(manual_is_key(m, heading, key));
            at += 1 + strcspn(at + 1, "`");
            at += *at == '`';
        }
    }
}

static void manual_has_no_other_keys(const manual_of *m)
{
    for (int s = 0; s < m->schema->sections; s++) {
        char *text = manual_section(m, m->heading[s]);
        if (text) manual_check_cells(m, m->heading[s], text);
        free(text);
    }
}

/* What every row of a table has. */
static void schema_rows_are_complete(const ct__schema *schema)
{
    for (int i = 0; i < schema->keys; i++) {
        const ct__key *k = &schema->key[i];
        CHECK(ct__schema_find(schema, k->section, k->key) == k); /* no key twice */
        CHECK((k->fallback != NULL) == !(k->forms & CT__REQUIRED));
        CHECK(!(k->forms & CT__FORM_CHOICE) || k->words[0]);
        CHECK(!(k->forms & (CT__FORM_NUMBER | CT__FORM_NUMBERS | CT__FORM_INTEGER)) || k->low <= k->high);
        CHECK(!(k->forms & (CT__FORM_TEXTS | CT__FORM_NUMBERS)) || (k->least >= 1 && k->most >= k->least));
        CHECK(!(k->forms & (CT__FORM_SECTION | CT__FORM_ITEMS | CT__FORM_LIST)) == (k->of == CT__SECTION_NONE));
    }
}

#endif
