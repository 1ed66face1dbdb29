/* recipe_schema.h: the keys of a recipe: one table for checking, filling, suggestions and the published JSON Schema. */
#ifndef CT_RECIPE_SCHEMA_H
#define CT_RECIPE_SCHEMA_H

#include "recipe/recipe.h"
#include "recipe/yaml_tree.h"

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

typedef enum {
#define X(constant, name, heading) constant,
    CT__SECTION_LIST(X)
#undef X
    CT__SECTION_COUNT,
    CT__SECTION_NONE
} ct__section;

/* What a value may look like; several may be allowed. */
enum {
    CT__FORM_TEXT = 1,      /* a word, an expression or a pattern: any scalar that is not empty              */
    CT__FORM_EMPTY = 2,     /* a scalar that may be ""                                                       */
    CT__FORM_TEXTS = 4,     /* a list of them, least .. most                                                 */
    CT__FORM_NUMBER = 8,    /* in [low, high]; with CT__OPEN_LOW not low itself                              */
    CT__FORM_NUMBERS = 16,  /* a list of them, least .. most                                                 */
    CT__FORM_INTEGER = 32,  /* in [low, high]                                                                */
    CT__FORM_BOOL = 64,     /* true or false                                                                 */
    CT__FORM_CHOICE = 128,  /* one of `words`                                                                */
    CT__FORM_FRACTION = 256,/* 1/3, or 0.33: in [low, high]                                                  */
    CT__FORM_KERNEL = 512,  /* huber, huber:1.5                                                              */
    CT__FORM_SECTION = 1024,/* a mapping with the keys of `of`                                               */
    CT__FORM_ITEMS = 2048,  /* a mapping from names to such mappings                                         */
    CT__FORM_LIST = 4096,   /* a list of such mappings                                                       */
    CT__OPEN_LOW = 8192,
    CT__REQUIRED = 16384,
    CT__SHORT = 32768       /* items may be a text or a list of texts: the value of their first key          */
};

/* Where a value goes, at an offset of the section's struct. */
typedef enum {
    CT__STORE_NONE,    /* by code of its own                            */
    CT__STORE_TEXT,    /* const char *                                  */
    CT__STORE_LIST,    /* ct__list                                      */
    CT__STORE_NUMBERS, /* ct__numbers                                   */
    CT__STORE_DOUBLE,  /* double                                        */
    CT__STORE_INT64,   /* int64_t                                       */
    CT__STORE_INT,     /* int or an enum: a bool, the place of a choice */
    CT__STORE_SECTION  /* the struct of section `of`                    */
} ct__store;

typedef struct {
    ct__section section;
    const char *key;
    unsigned    forms;
    ct__store   store;
    size_t      place;
    double      low, high;
    int         least, most;
    const char *words;   /* of a choice, with blanks between                */
    ct__section of;
    const char *fallback; /* the default in words; NULL: none, or required  */
    const char *text;     /* the meaning, for the JSON Schema               */
} ct__key;

extern const ct__key ct__recipe_keys[];
extern const int     ct__recipe_key_count;

const char    *ct__section_name(ct__section section);
const ct__key *ct__key_find(ct__section section, const char *key); /* NULL: none */
/* The place of a word in a list with blanks between, or -1. */
int ct__word_find(const char *words, const char *word);
/* Keys of a section for ct_nearest: list is the ct__section. */
const char *ct__key_name_at(const void *section, int i);

#endif
