/* config.h: a configuration file as a tree of values that know their bytes.
 *
 * A reader of a format (read_<format>.c) makes the tree. It records where the text of each scalar begins and ends and
 * changes nothing. follow.c follows key paths in the tree, write.c replaces texts. No reader recurses: open containers
 * are found by their parents. To add a format: a row in CT_CONFIG_FORMAT_LIST, a reader here, its case in config.c.
 */
#ifndef CT_CONFIG_PRIVATE_H
#define CT_CONFIG_PRIVATE_H

#include "base/base.h"
#include "base/name_table.h"
#include "base/text.h"

#include <covtune/config.h>

#define CT__CONFIG_BYTES  (64 << 20) /* of a file: offsets are 32 bits                                    */
#define CT__CONFIG_VALUES 2000000    /* of a file: some 100 MB of tree                                    */
#define CT__CONFIG_PATH   4000       /* bytes of a key path: 225 entries one by one, and keys            */

typedef enum {
    CT__CONFIG_SCALAR,
    CT__CONFIG_LIST,
    CT__CONFIG_MAP,  /* of XML: an element; its members are "@name", elements, and the list "text()" */
    CT__CONFIG_ALIAS /* of YAML                                                                       */
} ct__config_type;

typedef struct {
    uint8_t type;
    uint8_t split;   /* a list: the words of one text; with one word it is that word                      */
    uint8_t fixed;   /* a scalar: its bytes are no plain text, such as a block or one with escapes        */
    uint8_t has_key; /* a mapping of YAML that is being read: pending is the key of its next value        */
    int32_t parent, first, last, next; /* -1: none                                                        */
    int32_t count;
    int32_t key;     /* a member of a mapping: offset in ct_config.strings; -1: none                      */
    int32_t pending;
    int32_t shared;  /* an alias: the node it stands for; others: number of aliases of it                 */
    int32_t begin, end; /* a scalar: the bytes to replace; others: begin is where they begin, for lines   */
} ct__config_node;

typedef struct {
    int32_t node;
    char   *text;
} ct__config_place;

typedef struct {
    int32_t first, count;
} ct__config_range;

struct ct_config {
    char            *name;
    ct_config_format format;
    char            *text; /* ended by 0 */
    size_t           size;
    int32_t          start; /* bytes of the byte order mark */
    int32_t         *line;  /* where lines begin            */
    int64_t          lines, line_capacity;
    ct__config_node *node;  /* the first one is the list of documents */
    int64_t          nodes, node_capacity;
    ct__text         strings;
    ct__names        placeholders;
    /* what was found */
    ct__names         paths;
    ct__config_range *range; /* of each path */
    int64_t           range_capacity;
    ct__config_place *place;
    int64_t           places, place_capacity;
};

/* ---- tree ---- */

/* A node at the end of parent's members; parent -1: the first of all. key may be NULL. */
ct_status ct__config_add(ct_config *c, int32_t parent, ct__config_type type, const char *key, size_t key_length,
                         int32_t *out, ct_err *err);
/* A text in strings, NUL replaced: its offset. */
ct_status   ct__config_string(ct_config *c, const char *text, size_t length, int32_t *out, ct_err *err);
const char *ct__config_key(const ct_config *c, int32_t node); /* "" if it has none */
int         ct__config_line(const ct_config *c, int32_t offset);
/* CT_E_PARSE with "name:line: " and a sentence. */
ct_status ct__config_bad(const ct_config *c, int64_t offset, ct_err *err, const char *fmt, ...) CT_PRINTF(4, 5);
/* Bytes of a file in a message: at most 60, control characters and what is no UTF-8 replaced. Returns buf. */
#define CT__CONFIG_SHOWN 72
const char *ct__config_shown(const char *text, size_t length, char buf[CT__CONFIG_SHOWN]);
/* Scalars for the words of c->text[begin..end), appended to a list. Blanks, commas, semicolons, brackets and quotes
 * separate them. */
ct_status ct__config_split(ct_config *c, int32_t list, int32_t begin, int32_t end, ct_err *err);
/* A code point as UTF-8; returns its bytes. What is no character becomes U+FFFD. */
int ct__config_utf8(uint32_t code, char buf[4]);

/* ---- readers: fill c->node ---- */

ct_status ct__config_read_template(ct_config *c, ct_err *err);
ct_status ct__config_read_yaml(ct_config *c, ct_err *err);
ct_status ct__config_read_json(ct_config *c, ct_err *err);
ct_status ct__config_read_toml(ct_config *c, ct_err *err);
ct_status ct__config_read_ini(ct_config *c, ct_err *err);
ct_status ct__config_read_xml(ct_config *c, ct_err *err);
/* The next placeholder from `at` on: *begin, *end are with braces, *name within. 0: none; -1: one that is no name. */
int ct__config_next_placeholder(const char *text, size_t size, size_t at, size_t *begin, size_t *end, size_t name[2]);
/* By {{name}}, ending, content; -1: cannot be told. */
int ct__config_detect(const char *name, const char *text, size_t size);

/* ---- key paths ---- */

typedef enum {
    CT__STEP_KEY,
    CT__STEP_ENTRIES,  /* [0], [0, 7]                   */
    CT__STEP_DIAGONAL, /* [diagonal]                    */
    CT__STEP_ALL,      /* [all]                         */
    CT__STEP_POSITION, /* XML: [2], from 1              */
    CT__STEP_ATTRIBUTE /* XML: [@name='value']          */
} ct__step_kind;

typedef struct {
    ct__step_kind kind;
    int32_t       begin, end;   /* in the path; end is where what was followed so far ends       */
    int32_t       name, value;  /* offsets in ct__key_path.strings: key, or "@name" and value    */
    int32_t       entry, count; /* entries: in ct__key_path.entry; position: its number in entry */
} ct__step;

typedef struct {
    const char *text;
    ct__text    strings;
    ct__step   *step;
    int64_t     steps, step_capacity;
    int32_t    *entry;
    int64_t     entries, entry_capacity;
} ct__key_path;

/* name: of the file, for messages. Whatever is returned, free it. */
ct_status   ct__key_path_parse(const char *text, ct_config_format format, const char *name, ct__key_path *out,
                               ct_err *err);
void        ct__key_path_free(ct__key_path *path);
const char *ct__key_path_name(const ct__key_path *path, const ct__step *step);

/* Nodes of a path, as a set that the caller frees. */
typedef struct {
    int32_t *node;
    int64_t  count, capacity;
} ct__config_set;

ct_status ct__config_follow(const ct_config *c, const ct__key_path *path, ct__config_set *out, ct_err *err);
ct_status ct__config_set_add(ct__config_set *set, int32_t node, ct_err *err);
/* The one word of a split text, the text of an element; else the node itself. */
int32_t ct__config_value_of(const ct_config *c, int32_t node);
/* CT_E_EMPTY: the key of a step is not below the node, with the nearest of those that are, or where it is instead. */
ct_status ct__config_missing(const ct_config *c, const ct__key_path *path, const ct__step *step, int32_t node,
                             ct_err *err);
/* The member of a file of key = value, and the steps that it took; CT_E_EMPTY, CT_E_ARGUMENT as ct_config_find. */
ct_status ct__config_find_ini(const ct_config *c, const ct__key_path *path, int64_t *steps, int32_t *out, ct_err *err);
/* The full path of a node, cut to size. Returns buf. */
const char *ct__config_path_of(const ct_config *c, int32_t node, char *buf, size_t size);

/* ---- numbers ---- */

/* Is the text a finite decimal number that all readers of the format read alike? */
int ct__config_is_number(ct_config_format format, const char *text, size_t length, double *value);
/* Shortest digits that read back to the same double, with a point: "0.5", "3.0", "1.0e-05". Returns buf. */
const char *ct__config_format_number(double value, char buf[40]);

#endif
