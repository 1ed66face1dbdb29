/* yaml_tree.h: a YAML or JSON document as a tree of nodes that know their lines. */
#ifndef CT_SCHEMA_YAML_TREE_H
#define CT_SCHEMA_YAML_TREE_H

#include "base/base.h"

typedef enum { CT__NODE_SCALAR, CT__NODE_LIST, CT__NODE_MAP } ct__node_type;

typedef struct ct__node ct__node;
struct ct__node {
    ct__node_type type;
    int           line, column; /* from 1; of a member of a mapping: of its key                              */
    int           end_line;     /* the last line of its value                                                */
    size_t        begin, end;   /* of its value, in characters from the beginning of the text                */
    int           flow;         /* written in [] or {}                                                       */
    int           quoted;       /* a scalar in quotes, or a block of text                                    */
    int           bad;          /* has a mistake that was reported                                           */
    const char   *text;         /* of a scalar; ""                                                           */
    const char   *key;          /* of a member of a mapping; NULL: an item of a list, or the root            */
    int32_t       count;        /* members or items                                                          */
    ct__node     *first, *last, *next, *parent;
};

typedef struct {
    ct__node *root;
    int32_t   nodes;
    void     *pool; /* memory of nodes and texts */
} ct__tree;

/* Errors are "name:line: sentence". Refused: aliases, anchors, tags, several documents, keys that are not words or are
 * there twice, NUL in a text, more than CT__TREE_DEPTH levels, CT__TREE_NODES values, CT__TREE_KEYS keys of a
 * mapping or CT__TREE_BYTES bytes. */
#define CT__TREE_DEPTH 24
#define CT__TREE_NODES 50000
#define CT__TREE_KEYS  2000 /* of one mapping: each is compared with those before it */
#define CT__TREE_BYTES (4 << 20)
ct_status ct__tree_parse(const char *text, size_t size, const char *name, ct__tree **out, ct_err *err);
void      ct__tree_free(ct__tree *tree);

/* Zeroed memory that lives as long as the tree; NULL: none. */
void *ct__tree_alloc(ct__tree *tree, int64_t count, size_t size);

ct__node *ct__node_member(const ct__node *map, const char *key); /* NULL: none, or not a mapping */
/* No value, as after "key:". */
int ct__node_is_null(const ct__node *node);
/* Offset of the first byte of a line (from 1), by the rules of YAML; size: there is no such line. */
size_t ct__tree_line_offset(const char *text, size_t size, int line);
/* Offset of the byte where a character begins, for ct__node.begin and end. */
size_t ct__tree_byte_offset(const char *text, size_t size, size_t character);

#endif
