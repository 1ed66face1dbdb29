/* schema.h: files of keys with values (recipes, TUNE.yaml): a table of keys for checking, filling, suggestions and the
 * published JSON Schema.
 *
 *     text -> ct__tree -> ct__fill by the table -> struct of the section, and mistakes with their lines
 *
 * A format is a ct__schema: sections, and the keys of each with the form of their values and their place in the
 * section's struct. What a table cannot say (references, keys that exclude each other) is code of the format. */
#ifndef CT_SCHEMA_H
#define CT_SCHEMA_H

#include "schema/yaml_tree.h"

#include <covtune/noise.h>

/* ---- values ---- */

typedef struct {
    const char *text; /* NULL: not given */
    int         line;
} ct__words; /* a scalar: an expression, a name, a pattern */

typedef struct {
    int32_t    count;
    ct__words *item;
    int        line;
} ct__list;

typedef struct {
    int    count; /* 0: not given */
    double value[36];
    int    line;
} ct__numbers;

/* ---- the table ---- */

typedef int ct__section; /* a number from 0, of the format's own enum */
#define CT__SECTION_NONE (-1)

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
    CT__FORM_NAMED_TEXTS = 8192,    /* a mapping from names to texts                                         */
    CT__FORM_NAMED_NUMBERS = 16384, /* a mapping from names to numbers in [low, high]                        */
    CT__FORM_END = 32768,
    /* flags */
    CT__OPEN_LOW = 1 << 16,
    CT__REQUIRED = 1 << 17,
    CT__SHORT = 1 << 18     /* items may be a text or a list of texts: the value of their first key          */
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

typedef struct {
    const char        *title; /* of the JSON Schema; section 0 is the whole file */
    int                sections;
    const char *const *section; /* names */
    int                keys;
    const ct__key     *key;
} ct__schema;

const char    *ct__schema_section(const ct__schema *schema, ct__section section);
const ct__key *ct__schema_find(const ct__schema *schema, ct__section section, const char *key); /* NULL: none */
/* The key of a section that is nearest to a misspelt one; NULL: none is similar. */
const char *ct__schema_near(const ct__schema *schema, ct__section section, const char *key);
/* The only section that has a key; NULL: none has it, or several. */
const char *ct__schema_owner(const ct__schema *schema, const char *key);
/* Is there no such key, and no unknown key for which it would be suggested? */
int ct__schema_missing(const ct__schema *schema, const ct__node *map, ct__section section, const char *key);
/* The JSON Schema (draft 2020-12); for the caller to free. */
ct_status ct__schema_json(const ct__schema *schema, char **text, ct_err *err);
/* The place of a word in a list with blanks between, or -1. */
int ct__word_find(const char *words, const char *word);

/* ---- reading ---- */

#define CT__MISTAKES_MAX 200 /* kept: nobody reads more */

typedef struct {
    const ct__schema *schema;
    const char       *name;   /* of the file, for messages */
    ct__tree         *tree;
    ct_mistake       *mistake;
    int64_t           mistakes, capacity;
    int64_t           uncounted; /* mistakes beyond those that are kept  */
    ct_status         status;    /* CT_E_MEMORY: everything is void      */
} ct__schema_reader;

/* A whole file as text of at most CT__TREE_BYTES and a few; CT_E_PARSE: it contains NUL. way_out: said where there is
 * no such file. For the caller to free. */
ct_status ct__schema_load(const char *path, const char *way_out, char **text, ct_err *err);
/* "a/b" of a folder and a path in it; the path alone if it is absolute, or the folder is ".". NULL: no memory. */
char *ct__schema_join(const char *folder, const char *path);

/* A mistake at a node. The sentence begins with the path of the node, "sensors.odom.noise.sigma: ". */
void ct__mistake(ct__schema_reader *r, ct__node *at, const char *fmt, ...) CT_PRINTF(3, 4);
/* Sorts mistakes by line. CT_E_PARSE: there are some; err has the first, and how many more. */
ct_status ct__mistakes_status(ct__schema_reader *r, ct_err *err);
/* The mistakes, which the reader no longer has; out NULL: freed. */
void ct__mistakes_take(ct__schema_reader *r, ct_mistakes *out);
void ct__mistakes_free(ct_mistakes *mistakes);

/* Memory of the tree; NULL with r->status set. */
void *ct__schema_alloc(ct__schema_reader *r, int64_t count, size_t size);

/* Check the members of a mapping against the keys of a section, and store them in the section's struct (NULL: sections
 * whose values are not stored by the table). Unknown and missing keys are mistakes. */
void ct__fill(ct__schema_reader *r, ct__node *map, ct__section section, void *target);
/* Check one value; 0: it has a mistake, which was reported. */
int ct__node_check(ct__schema_reader *r, ct__node *node, const ct__key *key);

/* A member that is there and has no mistake of its own; else NULL. */
ct__node *ct__sound(const ct__node *map, const char *key);
/* Numbers of a node that was checked. */
int  ct__node_number(const ct__node *node, double *value); /* 0: no number */
void ct__node_numbers(const ct__node *node, ct__numbers *out);
int  ct__node_fraction(const ct__node *node, double *value); /* 0: no fraction */
void ct__node_texts(ct__schema_reader *r, const ct__node *node, ct__list *out);
/* "huber:1.5"; 0: not a kernel, with the reason in why. */
int ct__node_kernel(const ct__node *node, ct_robust *out, char why[160]);
int ct__node_bool(const ct__node *node);

#endif
