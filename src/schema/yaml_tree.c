/* yaml_tree.c: libyaml's events as a tree. No recursion: open containers are found by their parents. */
#include "schema/yaml_tree.h"

#include <stdio.h>
#include <yaml.h>

/* ---- memory ---- */

#define CHUNK 8192

typedef struct chunk {
    struct chunk *next;
    size_t used, size;
    max_align_t bytes[];
} chunk;

void *ct__tree_alloc(ct__tree *tree, int64_t count, size_t size)
{
    chunk *c = tree->pool;
    if (count < 0 || (size && (size_t)count > SIZE_MAX / 4 / size)) return NULL;
    const size_t bytes = CT_MAX((size_t)count * size, 1), align = sizeof(max_align_t);
    const size_t need = (bytes + align - 1) / align * align;
    if (!c || c->size - c->used < need) {
        const size_t room = CT_MAX(need, (size_t)CHUNK);
        c = ct__zalloc((int64_t)(sizeof *c + room), 1);
        if (!c) return NULL;
        *c = (chunk){.next = tree->pool, .size = room};
        tree->pool = c;
    }
    void *at = (char *)c->bytes + c->used;
    c->used += need;
    return at;
}

void ct__tree_free(ct__tree *tree)
{
    if (!tree) return;
    for (chunk *c = tree->pool, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    free(tree);
}

static const char *copy(ct__tree *tree, const char *text, size_t length)
{
    char *to = ct__tree_alloc(tree, (int64_t)length + 1, 1);
    if (to && length) memcpy(to, text, length);
    return to;
}

/* ---- questions ---- */

ct__node *ct__node_member(const ct__node *map, const char *key)
{
    if (!map || map->type != CT__NODE_MAP) return NULL;
    for (ct__node *n = map->first; n; n = n->next)
        if (!strcmp(n->key, key)) return n;
    return NULL;
}

int ct__node_is_null(const ct__node *node)
{
    return node->type == CT__NODE_SCALAR && !node->quoted &&
           (!node->text[0] || !strcmp(node->text, "~") || !strcmp(node->text, "null"));
}

/* Bytes of the line break at p: YAML has LF, CR, CR LF, NEL, LS and PS. */
static size_t line_break(const char *p, size_t left)
{
    if (*p == '\r') return left > 1 && p[1] == '\n' ? 2 : 1;
    if (*p == '\n') return 1;
    if (left > 1 && !memcmp(p, "\xc2\x85", 2)) return 2;
    return left > 2 && (!memcmp(p, "\xe2\x80\xa8", 3) || !memcmp(p, "\xe2\x80\xa9", 3)) ? 3 : 0;
}

size_t ct__tree_line_offset(const char *text, size_t size, int line)
{
    size_t at = 0;
    for (int now = 1; now < line; now++) {
        size_t n = 0;
        while (at < size && !(n = line_break(text + at, size - at))) at++;
        if (at >= size) return size;
        at += n;
    }
    return at;
}

size_t ct__tree_byte_offset(const char *text, size_t size, size_t character)
{
    size_t at = size > 2 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0; /* libyaml does not count the byte order mark */
    for (; character && at < size; character--) {
        at++;
        while (at < size && ((unsigned char)text[at] & 0xc0) == 0x80) at++;
    }
    return at;
}

/* ---- from events ---- */

typedef struct {
    yaml_parser_t parser;
    ct__tree *tree;
    const char *name;
    ct_err *err;
    ct__node *open; /* the container that is being filled */
    int depth, documents;
    const char *key; /* read, and waiting for its value    */
    int key_line, key_column;
} reader;

static ct_status fail_at(const reader *r, yaml_mark_t mark, const char *sentence)
{
    return ct_fail(r->err, CT_E_PARSE, "%s:%zu: %s", r->name, mark.line + 1, sentence);
}

static ct_status no_memory(const reader *r) { return ct__no_memory(r->err, "values of a file", r->tree->nodes + 1); }

/* What libyaml says of bytes that are no YAML. */
static ct_status fail_syntax(const reader *r)
{
    const yaml_parser_t *p = &r->parser;
    const char *problem = p->problem ? p->problem : "";
    if (p->error == YAML_MEMORY_ERROR || !p->problem) return no_memory(r);
    if (p->error == YAML_READER_ERROR)
        return ct_fail(r->err, CT_E_PARSE, "%s: not UTF-8 text: %s at byte %zu", r->name, problem, p->problem_offset);
    const char *hint = "", *context = p->context ? p->context : "";
    /* what is open too long has its mistake where it begins */
    const int begun = strstr(context, "flow") || strstr(context, "quoted");
    if (strstr(problem, "alphabetic"))
        hint = "; quote a pattern that begins with *: \"*.csv\"";
    else if (strstr(problem, "cannot start any token"))
        hint = "; indent by blanks, not by tabs, and quote a text that begins with @, ` or %";
    else if (strstr(problem, "mapping values"))
        hint = "; quote a text that contains a colon and a blank";
    else if (strstr(context, "flow"))
        hint = "; within [] and {}, quote a text that contains one of , [ ] { }";
    return ct_fail(r->err, CT_E_PARSE, "%s:%zu: not YAML: %s%s%s in line %zu%s", r->name,
                   (begun ? p->context_mark : p->problem_mark).line + 1, context, *context ? ": " : "", problem,
                   p->problem_mark.line + 1, hint);
}

/* The next node, appended to the open container; *out is it. */
static ct_status add(reader *r, ct__node_type type, const yaml_event_t *event, ct__node **out)
{
    ct__node *open = r->open, *n;
    *out = NULL;
    if (r->tree->nodes >= CT__TREE_NODES)
        return ct_fail(r->err, CT_E_LIMIT, "%s:%zu: a file has at most %d values", r->name,
                       event->start_mark.line + 1, CT__TREE_NODES);
    if (open && open->type == CT__NODE_MAP && open->count >= CT__TREE_KEYS)
        return ct_fail(r->err, CT_E_LIMIT, "%s:%zu: a mapping has at most %d keys", r->name,
                       event->start_mark.line + 1, CT__TREE_KEYS);
    if (!(n = ct__tree_alloc(r->tree, 1, sizeof *n))) return no_memory(r);
    *n = (ct__node){.type = type,
                    .line = r->key ? r->key_line : (int)event->start_mark.line + 1,
                    .column = r->key ? r->key_column : (int)event->start_mark.column + 1,
                    .end_line = (int)event->end_mark.line + 1,
                    .begin = event->start_mark.index,
                    .end = event->end_mark.index,
                    .text = "",
                    .key = r->key,
                    .parent = open};
    r->key = NULL;
    r->tree->nodes++;
    if (!open)
        r->tree->root = n;
    else if (open->last)
        open->last->next = n;
    else
        open->first = n;
    if (open) open->last = n, open->count++;
    *out = n;
    return CT_OK;
}

static ct_status take_key(reader *r, const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;
    const ct__node *before = ct__node_member(r->open, text);
    if (before)
        return ct_fail(r->err, CT_E_PARSE, "%s:%zu: the key %.100s is there twice: first in line %d", r->name,
                       event->start_mark.line + 1, text, before->line);
    if (!*text) return fail_at(r, event->start_mark, "a key is empty");
    r->key = copy(r->tree, text, event->data.scalar.length);
    r->key_line = (int)event->start_mark.line + 1;
    r->key_column = (int)event->start_mark.column + 1;
    return r->key ? CT_OK : no_memory(r);
}

static ct_status take_scalar(reader *r, const yaml_event_t *event)
{
    ct__node *n;
    if (event->data.scalar.anchor)
        return fail_at(r, event->start_mark, "anchors (&name) are not read; quote a text that begins with &");
    if (event->data.scalar.tag)
        return fail_at(r, event->start_mark, "tags (!name) are not read; quote a text that begins with !");
    if (memchr(event->data.scalar.value, 0, event->data.scalar.length))
        return fail_at(r, event->start_mark, "a text contains the character NUL");
    if (r->open && r->open->type == CT__NODE_MAP && !r->key) return take_key(r, event);
    CT_TRY(add(r, CT__NODE_SCALAR, event, &n));
    n->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    n->text = copy(r->tree, (const char *)event->data.scalar.value, event->data.scalar.length);
    return n->text ? CT_OK : no_memory(r);
}

static ct_status open_container(reader *r, const yaml_event_t *event, ct__node_type type)
{
    const int list = type == CT__NODE_LIST;
    ct__node *n;
    if (list ? event->data.sequence_start.anchor != NULL : event->data.mapping_start.anchor != NULL)
        return fail_at(r, event->start_mark, "anchors (&name) are not read");
    if (list ? event->data.sequence_start.tag != NULL : event->data.mapping_start.tag != NULL)
        return fail_at(r, event->start_mark, "tags (!name) are not read");
    if (r->open && r->open->type == CT__NODE_MAP && !r->key)
        return fail_at(r, event->start_mark, list ? "a list cannot be a key" : "a mapping cannot be a key");
    if (++r->depth > CT__TREE_DEPTH)
        return ct_fail(r->err, CT_E_LIMIT, "%s:%zu: lists and mappings are at most %d deep", r->name,
                       event->start_mark.line + 1, CT__TREE_DEPTH);
    CT_TRY(add(r, type, event, &n));
    n->flow = list ? event->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE
                   : event->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE;
    r->open = n;
    return CT_OK;
}

static void close_container(reader *r, const yaml_event_t *event)
{
    ct__node *n = r->open;
    /* a block ends where the next begins: its last line is that of its last value */
    const ct__node *last = n->flow ? NULL : n->last;
    n->end_line = last ? last->end_line : (int)event->end_mark.line + 1;
    n->end = last ? last->end : event->end_mark.index;
    r->open = n->parent;
    r->depth--;
}

static ct_status take(reader *r, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (r->documents++) return fail_at(r, event->start_mark, "a second document begins; there is to be one");
        return CT_OK;
    case YAML_ALIAS_EVENT:
        return fail_at(r, event->start_mark,
                       "aliases (*name) are not read; quote a pattern that begins with *: \"*.csv\"");
    case YAML_SCALAR_EVENT: return take_scalar(r, event);
    case YAML_SEQUENCE_START_EVENT: return open_container(r, event, CT__NODE_LIST);
    case YAML_MAPPING_START_EVENT: return open_container(r, event, CT__NODE_MAP);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT: close_container(r, event); return CT_OK;
    default: return CT_OK;
    }
}

static ct_status take_all(reader *r)
{
    for (int end = 0; !end;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&r->parser, &event)) return fail_syntax(r);
        const ct_status status = take(r, &event);
        end = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
        CT_TRY(status);
    }
    return r->tree->root ? CT_OK : ct_fail(r->err, CT_E_PARSE, "%s: there is nothing in it", r->name);
}

ct_status ct__tree_parse(const char *text, size_t size, const char *name, ct__tree **out, ct_err *err)
{
    reader r = {.name = name, .err = err};
    *out = NULL;
    if (size > CT__TREE_BYTES)
        return ct_fail(err, CT_E_LIMIT, "%s: a file has at most %d bytes, found %zu", name, CT__TREE_BYTES, size);
    if (!(r.tree = ct__zalloc(1, sizeof *r.tree))) return ct__no_memory(err, "trees of YAML", 1);
    if (!yaml_parser_initialize(&r.parser)) {
        ct__tree_free(r.tree);
        return ct__no_memory(err, "YAML parsers", 1);
    }
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, size);
    const ct_status status = take_all(&r);
    yaml_parser_delete(&r.parser);
    if (status == CT_OK)
        *out = r.tree;
    else
        ct__tree_free(r.tree);
    return status;
}
