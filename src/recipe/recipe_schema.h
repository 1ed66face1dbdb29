/* recipe_schema.h: the keys of a recipe: one table for checking, filling, suggestions and the published JSON Schema. */
#ifndef CT_RECIPE_SCHEMA_H
#define CT_RECIPE_SCHEMA_H

#include "recipe/recipe.h"
#include "schema/schema.h"

/* Sections. X(constant, name, heading of docs/import.md that has its keys) */
#define CT__SECTION_LIST(X)                                                                                            \
    X(CT__SECTION_TOP, "recipe", "Top level")                                                                          \
    X(CT__SECTION_SOURCE, "source", "sources")                                                                         \
    X(CT__SECTION_STATES, "states", "states")                                                                          \
    X(CT__SECTION_SENSOR, "sensor", "sensors")                                                                         \
    X(CT__SECTION_NOISE, "noise", "sensors")                                                                           \
    X(CT__SECTION_INTERVAL, "interval", "sensors")                                                                     \
    X(CT__SECTION_LANDMARKS, "landmarks", "landmarks")                                                                 \
    X(CT__SECTION_IDS, "ids", "landmarks")                                                                             \
    X(CT__SECTION_TRUTH, "truth", "truth")                                                                             \
    X(CT__SECTION_ANCHOR, "anchor", "anchor")                                                                          \
    X(CT__SECTION_CORRECTION, "correction", "corrections")                                                             \
    X(CT__SECTION_SEQUENCES, "sequences", "sequences")                                                                 \
    X(CT__SECTION_SPLIT, "split", "split")                                                                             \
    X(CT__SECTION_SEGMENT, "segment", "split")

enum { /* ct__section */
#define X(constant, name, heading) constant,
    CT__SECTION_LIST(X)
#undef X
    CT__SECTION_COUNT
};

extern const ct__key    ct__recipe_keys[];
extern const int        ct__recipe_key_count;
extern const ct__schema ct__recipe_schema;

const char    *ct__section_name(ct__section section);
const ct__key *ct__key_find(ct__section section, const char *key); /* NULL: none */
/* Is there no such key, and no unknown key for which it would be suggested? */
int ct__key_missing(const ct__node *map, ct__section section, const char *key);

#endif
