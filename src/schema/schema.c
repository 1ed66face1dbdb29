/* schema.c: questions about a table of keys. */
#include "schema/schema.h"

const char *ct__schema_section(const ct__schema *schema, ct__section section)
{
    return section >= 0 && section < schema->sections ? schema->section[section] : "?";
}

const ct__key *ct__schema_find(const ct__schema *schema, ct__section section, const char *key)
{
    for (int i = 0; i < schema->keys; i++)
        if (schema->key[i].section == section && !strcmp(schema->key[i].key, key)) return &schema->key[i];
    return NULL;
}

const char *ct__schema_owner(const ct__schema *schema, const char *key)
{
    const char *owner = NULL;
    for (int i = 0; i < schema->keys; i++) {
        if (strcmp(schema->key[i].key, key) != 0) continue;
        if (owner) return NULL;
        owner = ct__schema_section(schema, schema->key[i].section);
    }
    return owner;
}

typedef struct {
    const ct__schema *schema;
    ct__section       section;
} keys;

static const char *name_at(const void *list, int i)
{
    const keys *of = list;
    for (int k = 0; k < of->schema->keys; k++)
        if (of->schema->key[k].section == of->section && !i--) return of->schema->key[k].key;
    return NULL;
}

const char *ct__schema_near(const ct__schema *schema, ct__section section, const char *key)
{
    const keys of = {schema, section};
    return ct_nearest(key, name_at, &of);
}

int ct__schema_missing(const ct__schema *schema, const ct__node *map, ct__section section, const char *key)
{
    if (ct__node_member(map, key)) return 0;
    for (const ct__node *n = map->type == CT__NODE_MAP ? map->first : NULL; n; n = n->next) {
        const char *near =
            ct__schema_find(schema, section, n->key) ? NULL : ct__schema_near(schema, section, n->key);
        if (near && !strcmp(near, key)) return 0;
    }
    return 1;
}

int ct__word_find(const char *words, const char *word)
{
    const size_t length = strlen(word);
    int          i = 0;
    for (const char *at = words; *at; at += strcspn(at, " "), at += strspn(at, " "), i++)
        if (strcspn(at, " ") == length && !memcmp(at, word, length)) return i;
    return -1;
}
