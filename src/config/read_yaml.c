/* read_yaml.c: YAML by libyaml's events.
 *
 * libyaml's marks count characters, and a scalar with a tag or an anchor begins at these. The bytes to replace are
 * therefore found from the end of the scalar: a number's text is its value, in quotes or not. Where the bytes are
 * something else (a block of text, escapes), the scalar is fixed.
 *
 * OpenCV begins its files with "%YAML:1.0", which is no directive of YAML: libyaml gets it as a comment. */
#include "config/config.h"

#include <stdio.h>
#include <yaml.h>

typedef struct {
    yaml_parser_t parser;
    ct_config *c;
    ct_err *err;
    int32_t open;           /* the container that is being filled          */
    size_t character, byte; /* the same place, for offsets of later marks  */
    ct__names anchors;
    int32_t *anchored; /* the last node of each anchor */
    int64_t anchored_capacity;
} reader;

/* Offset of a mark. Marks of scalars come in their order. */
static int32_t offset_of(reader *r, yaml_mark_t mark)
{
    const char *text = r->c->text;
    const size_t size = r->c->size;
    if (mark.index < r->character) r->character = 0, r->byte = (size_t)r->c->start;
    for (; r->character < mark.index && r->byte < size; r->character++) {
        r->byte++;
        while (r->byte < size && ((unsigned char)text[r->byte] & 0xc0) == 0x80) r->byte++;
    }
    return (int32_t)r->byte;
}

static ct_status fail_syntax(reader *r)
{
    const yaml_parser_t *p = &r->parser;
    const char *context = p->context ? p->context : "";
    if (p->error == YAML_MEMORY_ERROR || !p->problem) return ct__no_memory(r->err, "values of YAML", r->c->nodes + 1);
    if (p->error == YAML_READER_ERROR)
        return ct__config_bad(r->c, (int64_t)p->problem_offset + r->c->start, r->err, "not YAML in UTF-8: %s",
                              p->problem);
    return ct__config_bad(r->c, offset_of(r, p->problem_mark), r->err, "not YAML: %s%s%s", context,
                          *context ? ": " : "", p->problem);
}

static ct_status remember_anchor(reader *r, const yaml_char_t *anchor, int32_t node)
{
    const char *name = (const char *)anchor;
    if (!name) return CT_OK;
    if (ct__names_find(&r->anchors, name) < 0) {
        CT_TRY(ct__grow(&r->anchored, &r->anchored_capacity, r->anchors.count + 1, sizeof *r->anchored, "anchors",
                        r->err));
        CT_TRY(ct__names_add(&r->anchors, name, r->err));
    }
    r->anchored[ct__names_find(&r->anchors, name)] = node;
    return CT_OK;
}

/* A node with the key that was read before it. A mapping or list that is a key itself has none, and another one follows
 * as its value. */
static ct_status add(reader *r, ct__config_type type, int32_t begin, int32_t *out)
{
    ct_config *c = r->c;
    CT_TRY(ct__config_add(c, r->open, type, NULL, 0, out, r->err));
    ct__config_node *n = &c->node[*out], *open = &c->node[r->open];
    n->begin = n->end = begin;
    if (open->type != CT__CONFIG_MAP) return CT_OK;
    if (open->has_key) n->key = open->pending;
    open->has_key = !open->has_key;
    open->pending = -1;
    return CT_OK;
}

/* The bytes of a scalar that ends at `end`. */
static void place_scalar(const ct_config *c, ct__config_node *n, const yaml_event_t *event, int32_t end)
{
    const char *value = (const char *)event->data.scalar.value;
    const yaml_scalar_style_t style = event->data.scalar.style;
    const int quoted = style == YAML_SINGLE_QUOTED_SCALAR_STYLE || style == YAML_DOUBLE_QUOTED_SCALAR_STYLE;
    const int32_t length = (int32_t)event->data.scalar.length, stop = end - quoted, begin = stop - length;
    n->begin = CT_MAX(n->begin, begin);
    n->end = end;
    n->fixed = (style != YAML_PLAIN_SCALAR_STYLE && !quoted) || begin < n->begin ||
               memcmp(c->text + begin, value, (size_t)length) != 0 ||
               (quoted && (begin < 1 || c->text[begin - 1] != c->text[stop]));
    if (n->fixed) return;
    n->begin = begin;
    n->end = stop;
}

static ct_status take_scalar(reader *r, const yaml_event_t *event)
{
    ct_config *c = r->c;
    ct__config_node *open = &c->node[r->open];
    const int32_t begin = offset_of(r, event->start_mark);
    int32_t node;
    if (open->type == CT__CONFIG_MAP && !open->has_key) {
        CT_TRY(ct__config_string(c, (const char *)event->data.scalar.value, event->data.scalar.length, &node, r->err));
        open->pending = node;
        open->has_key = 1;
        return CT_OK;
    }
    CT_TRY(add(r, CT__CONFIG_SCALAR, begin, &node));
    place_scalar(c, &c->node[node], event, offset_of(r, event->end_mark));
    return remember_anchor(r, event->data.scalar.anchor, node);
}

static ct_status take_alias(reader *r, const yaml_event_t *event)
{
    ct__config_node *open = &r->c->node[r->open];
    const int32_t known = ct__names_find(&r->anchors, (const char *)event->data.alias.anchor);
    int32_t node;
    if (known < 0)
        return ct__config_bad(r->c, offset_of(r, event->start_mark), r->err,
                              "there is no anchor &%.100s before *%.100s", (const char *)event->data.alias.anchor,
                              (const char *)event->data.alias.anchor);
    if (open->type == CT__CONFIG_MAP && !open->has_key) {
        open->has_key = 1; /* a key that no path names */
        open->pending = -1;
        return CT_OK;
    }
    CT_TRY(add(r, CT__CONFIG_ALIAS, offset_of(r, event->start_mark), &node));
    r->c->node[node].shared = r->anchored[known];
    r->c->node[r->anchored[known]].shared++;
    return CT_OK;
}

static ct_status open_container(reader *r, const yaml_event_t *event, ct__config_type type)
{
    int32_t node;
    CT_TRY(add(r, type, offset_of(r, event->start_mark), &node));
    r->open = node;
    return remember_anchor(
        r, type == CT__CONFIG_LIST ? event->data.sequence_start.anchor : event->data.mapping_start.anchor, node);
}

static ct_status take(reader *r, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT: ct__names_free(&r->anchors); return CT_OK; /* anchors end with their document */
    case YAML_ALIAS_EVENT: return take_alias(r, event);
    case YAML_SCALAR_EVENT: return take_scalar(r, event);
    case YAML_SEQUENCE_START_EVENT: return open_container(r, event, CT__CONFIG_LIST);
    case YAML_MAPPING_START_EVENT: return open_container(r, event, CT__CONFIG_MAP);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT: r->open = r->c->node[r->open].parent; return CT_OK;
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
    return CT_OK;
}

ct_status ct__config_read_yaml(ct_config *c, ct_err *err)
{
    reader r = {.c = c, .err = err, .byte = (size_t)c->start};
    const size_t start = (size_t)c->start;
    CT_TRY(ct__config_add(c, -1, CT__CONFIG_LIST, NULL, 0, &r.open, err));
    if (!yaml_parser_initialize(&r.parser)) return ct__no_memory(err, "YAML parsers", 1);
    const int directive = c->size >= start + 5 && !memcmp(c->text + start, "%YAML", 5);
    if (directive) c->text[start] = '#';
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)c->text + start, c->size - start);
    const ct_status status = take_all(&r);
    if (directive) c->text[start] = '%';
    yaml_parser_delete(&r.parser);
    ct__names_free(&r.anchors);
    free(r.anchored);
    return status;
}
