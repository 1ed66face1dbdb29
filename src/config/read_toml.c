/* read_toml.c: TOML 1.0: tables, arrays of tables, dotted keys, inline tables, arrays over several lines, four kinds of
 * strings. What is written twice is not refused here but where a path leads there. */
#include "config/config.h"

#include <stdio.h>

typedef struct {
    ct_config *c;
    int32_t at;
    int32_t table;      /* that of the last header                                  */
    ct__names children; /* "parent key" of tables and arrays of tables, for finding */
    int32_t *child;
    int64_t child_capacity;
    ct__text key; /* the last key, decoded                                         */
    ct_err *err;
} reader;

static int at_end(const reader *r) { return (size_t)r->at >= r->c->size; }
static char now(const reader *r) { return at_end(r) ? 0 : r->c->text[r->at]; }
static int at_break(const reader *r) { return at_end(r) || now(r) == '\n' || now(r) == '\r'; }

static ct_status bad(const reader *r, const char *rule)
{
    char shown[CT__CONFIG_SHOWN];
    size_t length = 0;
    const char *text = r->c->text + r->at;
    while (length < 20 && text[length] && !strchr("\r\n", text[length])) length++;
    return ct__config_bad(r->c, r->at, r->err, "not TOML: %s, found %s%s%s", rule, length ? "\"" : "",
                          length ? ct__config_shown(text, length, shown) : "the end of the line", length ? "\"" : "");
}

static void skip_blanks(reader *r)
{
    while (now(r) == ' ' || now(r) == '\t') r->at++;
}

/* Blanks, line ends and comments. */
static void skip_lines(reader *r)
{
    for (;;) {
        while (now(r) && strchr(" \t\r\n", now(r))) r->at++;
        if (now(r) != '#') return;
        while (!at_break(r)) r->at++;
    }
}

/* ---- strings and keys ---- */

/* \uXXXX or \UXXXXXXXX at text; returns the digits used, 0: none. */
static int code_point(const char *text, uint32_t *code)
{
    const int digits = text[0] == 'u' ? 4 : text[0] == 'U' ? 8 : 0;
    *code = 0;
    for (int i = 0; i < digits; i++) {
        const char c = text[1 + i];
        const int value = c >= '0' && c <= '9'                     ? c - '0'
                          : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                                   : -1;
        if (value < 0) return 0;
        *code = *code << 4 | (uint32_t)value;
    }
    return digits;
}

/* The string in [begin, end), escapes decoded, into r->key. */
static ct_status decode(reader *r, int32_t begin, int32_t end, int escapes)
{
    static const char FROM[] = "btnfr\"\\", TO[] = "\b\t\n\f\r\"\\";
    const char *text = r->c->text;
    r->key.used = 0;
    ct__text_bytes(&r->key, "", 0);
    for (int32_t i = begin; i < end; i++) {
        uint32_t code;
        char bytes[4];
        const char *known;
        int digits;
        if (!escapes || text[i] != '\\') {
            ct__text_bytes(&r->key, text + i, 1);
            continue;
        }
        i++;
        if ((known = text[i] ? strchr(FROM, text[i]) : NULL) != NULL)
            ct__text_bytes(&r->key, TO + (known - FROM), 1);
        else if ((digits = code_point(text + i, &code)) > 0) {
            ct__text_bytes(&r->key, bytes, (size_t)ct__config_utf8(code, bytes));
            i += digits;
        } else {
            r->at = i;
            return bad(r, "after a backslash comes an escape");
        }
    }
    return r->key.failed ? ct__no_memory(r->err, "bytes of a key", r->key.used) : CT_OK;
}

/* A string of any kind: *begin, *end are within its quotes. */
static ct_status take_string(reader *r, int32_t *begin, int32_t *end, int *escapes)
{
    const char *text = r->c->text, quote = now(r);
    const int32_t from = r->at;
    const int many = text[from + 1] == quote && text[from + 2] == quote; /* the text is ended by 0 */
    r->at += many ? 3 : 1;
    *begin = r->at;
    *escapes = 0;
    for (;; r->at++) {
        if (at_end(r) || (!many && at_break(r))) {
            r->at = from;
            return bad(r, "a string is not closed");
        }
        if (now(r) == '\\' && quote == '"') {
            *escapes = 1;
            r->at++;
        } else if (now(r) == quote && (!many || (text[r->at + 1] == quote && text[r->at + 2] == quote)))
            break;
    }
    *end = r->at;
    r->at += many ? 3 : 1;
    for (int i = 0; many && i < 2 && now(r) == quote; i++) r->at++, ++*end; /* quotes before the closing three */
    return CT_OK;
}

static int is_bare(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           (unsigned char)c >= 0x80;
}

/* One part of a dotted key, into r->key. */
static ct_status take_part(reader *r)
{
    int32_t begin = r->at, end;
    int escapes = 0;
    skip_blanks(r);
    if (now(r) == '"' || now(r) == '\'') {
        CT_TRY(take_string(r, &begin, &end, &escapes));
    } else {
        begin = r->at;
        while (is_bare(now(r))) r->at++;
        end = r->at;
        if (begin == end) return bad(r, "a key is expected");
    }
    const int32_t at = r->at;
    CT_TRY(decode(r, begin, end, escapes));
    r->at = at;
    skip_blanks(r);
    return CT_OK;
}

/* ---- tables ---- */

/* The container of that key (r->key) in a table, made where it is not there. */
static ct_status enter(reader *r, int32_t parent, ct__config_type type, int32_t begin, int32_t *out)
{
    char *name = ct__zalloc(r->key.used + 16, 1);
    if (!name) return ct__no_memory(r->err, "bytes of a key", r->key.used);
    snprintf(name, (size_t)r->key.used + 16, "%d %s", parent, r->key.bytes);
    const int32_t known = ct__names_find(&r->children, name);
    ct_status status = CT_OK;
    if (known >= 0)
        *out = r->child[known];
    else {
        status = ct__grow(&r->child, &r->child_capacity, r->children.count + 1, sizeof *r->child, "tables", r->err);
        if (status == CT_OK) status = ct__names_add(&r->children, name, r->err);
        if (status == CT_OK)
            status = ct__config_add(r->c, parent, type, r->key.bytes, (size_t)r->key.used, out, r->err);
        if (status == CT_OK) {
            r->child[r->children.count - 1] = *out;
            r->c->node[*out].begin = begin;
        }
    }
    free(name);
    return status;
}

/* The table that a part of a header or of a dotted key names: the last one of an array of tables. */
static ct_status descend(reader *r, int32_t begin, int32_t *table)
{
    int32_t found = *table;
    CT_TRY(enter(r, *table, CT__CONFIG_MAP, begin, &found));
    *table = r->c->node[found].type == CT__CONFIG_LIST ? r->c->node[found].last : found;
    return CT_OK;
}

/* [a.b] or [[a.b]] */
static ct_status take_header(reader *r)
{
    const int32_t begin = r->at;
    const int array = r->c->text[r->at + 1] == '[';
    int32_t table = 1;
    r->at += array ? 2 : 1;
    for (;;) {
        CT_TRY(take_part(r));
        if (now(r) != '.') break;
        CT_TRY(descend(r, begin, &table));
        r->at++;
    }
    if (now(r) != ']' || (array && r->c->text[r->at + 1] != ']'))
        return bad(r, array ? "an array of tables ends with ]]" : "a table ends with ]");
    r->at += array ? 2 : 1;
    if (!array) {
        CT_TRY(descend(r, begin, &table));
        r->table = table;
        return CT_OK;
    }
    int32_t list = -1;
    CT_TRY(enter(r, table, CT__CONFIG_LIST, begin, &list));
    if (r->c->node[list].type != CT__CONFIG_LIST) return bad(r, "the name is that of a table already");
    CT_TRY(ct__config_add(r->c, list, CT__CONFIG_MAP, NULL, 0, &r->table, r->err));
    r->c->node[r->table].begin = begin;
    return CT_OK;
}

/* ---- values ---- */

/* "a.b =": *table is that of the last part, which is in r->key. */
static ct_status take_key(reader *r, int32_t *table)
{
    const int32_t begin = r->at;
    for (;;) {
        CT_TRY(take_part(r));
        if (now(r) != '.') break;
        CT_TRY(descend(r, begin, table));
        r->at++;
    }
    if (now(r) != '=') return bad(r, "after a key comes =");
    r->at++;
    skip_blanks(r);
    return CT_OK;
}

/* Does a date stand before a blank and a time: 1979-05-27 07:32:00? */
static int is_date(const char *text, int32_t length)
{
    return length == 10 && text[4] == '-' && text[7] == '-' && text[10] == ' ' && text[11] >= '0' && text[11] <= '9' &&
           text[12] >= '0' && text[12] <= '9' && text[13] == ':';
}

static ct_status take_scalar(reader *r, int32_t node)
{
    ct_config *c = r->c;
    int32_t begin = r->at, end;
    int escapes = 0;
    if (now(r) == '"' || now(r) == '\'')
        CT_TRY(take_string(r, &begin, &end, &escapes));
    else {
        for (;; r->at++) {
            while (now(r) && !strchr(" \t\r\n,[]{}#=\"'", now(r))) r->at++;
            if (!is_date(c->text + begin, r->at - begin)) break;
        }
        end = r->at;
        if (begin == end) return bad(r, "a value is expected");
    }
    c->node[node].begin = begin;
    c->node[node].end = end;
    c->node[node].fixed = (uint8_t)escapes;
    return CT_OK;
}

/* After a value: what ends here is closed. *open: the container with a next item, -1: none is open. */
static ct_status take_ends(reader *r, int opened, int32_t *open)
{
    for (; *open >= 0; opened = 0) {
        const int list = r->c->node[*open].type == CT__CONFIG_LIST;
        skip_lines(r);
        if (now(r) == ',' && !opened) {
            r->at++;
            skip_lines(r);
            if (now(r) != (list ? ']' : '}')) return CT_OK;
        }
        if (now(r) != (list ? ']' : '}'))
            return opened ? CT_OK : bad(r, list ? ", or ] is expected" : ", or } is expected");
        r->at++;
        *open = r->c->node[*open].pending;
    }
    return CT_OK;
}

/* The value of r->key in a table, with all that is in it. An open container knows the one around it: pending. */
static ct_status take_value(reader *r, int32_t table, int32_t begin)
{
    ct_config *c = r->c;
    int32_t open = -1, parent = table, node;
    do {
        const int in_list = open >= 0 && c->node[open].type == CT__CONFIG_LIST;
        if (open >= 0) {
            parent = open;
            begin = r->at;
            if (!in_list) CT_TRY(take_key(r, &parent));
        }
        const ct__config_type type = now(r) == '['   ? CT__CONFIG_LIST
                                     : now(r) == '{' ? CT__CONFIG_MAP
                                                     : CT__CONFIG_SCALAR;
        CT_TRY(ct__config_add(c, parent, type, in_list ? NULL : r->key.bytes, (size_t)r->key.used, &node, r->err));
        c->node[node].begin = begin;
        if (type == CT__CONFIG_SCALAR)
            CT_TRY(take_scalar(r, node));
        else {
            c->node[node].pending = open;
            open = node;
            r->at++;
        }
        CT_TRY(take_ends(r, type != CT__CONFIG_SCALAR, &open));
    } while (open >= 0);
    return CT_OK;
}

static ct_status read_all(reader *r)
{
    for (skip_lines(r); !at_end(r); skip_lines(r)) {
        const int32_t begin = r->at;
        int32_t table = r->table;
        if (now(r) == '[')
            CT_TRY(take_header(r));
        else {
            CT_TRY(take_key(r, &table));
            CT_TRY(take_value(r, table, begin));
        }
        skip_blanks(r);
        if (!at_break(r) && now(r) != '#') return bad(r, "the line is to end here");
    }
    return CT_OK;
}

ct_status ct__config_read_toml(ct_config *c, ct_err *err)
{
    reader r = {.c = c, .at = c->start, .err = err};
    int32_t root;
    const char *nul = memchr(c->text, 0, c->size);
    if (nul) return ct__config_bad(c, nul - c->text, err, "not TOML: it contains the character NUL");
    CT_TRY(ct__config_add(c, -1, CT__CONFIG_LIST, NULL, 0, &root, err));
    CT_TRY(ct__config_add(c, root, CT__CONFIG_MAP, NULL, 0, &r.table, err));
    const ct_status status = read_all(&r);
    ct__names_free(&r.children);
    free(r.child);
    ct__text_free(&r.key);
    return status;
}
