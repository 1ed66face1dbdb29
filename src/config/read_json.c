/* read_json.c: JSON, also with comments (// and slash-star) and a comma after the last item. */
#include "config/config.h"

typedef struct {
    ct_config *c;
    int32_t at, open; /* open: the container that is being filled */
    ct__text string;  /* the last string, decoded                 */
    ct_err *err;
} reader;

static int at_end(const reader *r) { return (size_t)r->at >= r->c->size; }
static char now(const reader *r) { return at_end(r) ? 0 : r->c->text[r->at]; }

static ct_status bad(const reader *r, const char *rule)
{
    char shown[CT__CONFIG_SHOWN];
    const size_t left = r->c->size - (size_t)r->at;
    size_t length = 0;
    while (length < left && length < 20 && !strchr("\r\n", r->c->text[(size_t)r->at + length])) length++;
    return ct__config_bad(r->c, r->at, r->err, "not JSON: %s, found %s%s%s", rule, length ? "\"" : "",
                          length ? ct__config_shown(r->c->text + r->at, length, shown) : "the end of the line",
                          length ? "\"" : "");
}

/* Blanks and comments. */
static ct_status skip(reader *r)
{
    const char *text = r->c->text;
    for (;;) {
        while (now(r) && strchr(" \t\r\n", now(r))) r->at++;
        if (now(r) != '/') return CT_OK;
        const char next = text[r->at + 1]; /* the text is ended by 0 */
        if (next == '/')
            while (!at_end(r) && now(r) != '\n' && now(r) != '\r') r->at++;
        else if (next == '*') {
            const char *end = strstr(text + r->at + 2, "*/");
            if (!end) return bad(r, "a comment is not closed");
            r->at = (int32_t)(end - text) + 2;
        } else
            return bad(r, "a value is expected");
    }
}

/* Four hexadecimal digits; -1: they are not. */
static int32_t hexadecimal(const char *text)
{
    int32_t code = 0;
    for (int i = 0; i < 4; i++) {
        const char *digit = text[i] ? strchr("0123456789abcdef", text[i] | 0x20) : NULL;
        if (!digit) return -1;
        code = code * 16 + (int32_t)(digit - "0123456789abcdef");
    }
    return code;
}

/* What follows a backslash; *at is behind it afterwards. 0: no escape. */
static int take_escape(const char *text, int32_t *at, ct__text *out)
{
    static const char FROM[] = "\"\\/bfnrt", TO[] = "\"\\/\b\f\n\r\t";
    const char *known = text[*at] ? strchr(FROM, text[*at]) : NULL;
    char bytes[4];
    if (known) {
        ct__text_bytes(out, TO + (known - FROM), 1);
        ++*at;
        return 1;
    }
    int32_t code = text[*at] == 'u' ? hexadecimal(text + *at + 1) : -1;
    if (code < 0) return 0;
    *at += 5;
    const int32_t low =
        code >= 0xd800 && code < 0xdc00 && text[*at] == '\\' && text[*at + 1] == 'u' ? hexadecimal(text + *at + 2) : -1;
    if (low >= 0xdc00 && low < 0xe000) code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00), *at += 6;
    ct__text_bytes(out, bytes, (size_t)ct__config_utf8((uint32_t)code, bytes));
    return 1;
}

/* The string that begins here, into r->string; at is behind its quote afterwards. *plain: it has no escapes. */
static ct_status take_string(reader *r, int *plain)
{
    const char *text = r->c->text;
    const int32_t begin = r->at++;
    r->string.used = 0;
    ct__text_bytes(&r->string, "", 0);
    *plain = 1;
    for (;;) {
        if (at_end(r) || now(r) == '\n' || now(r) == '\r') {
            r->at = begin;
            return bad(r, "a string is not closed");
        }
        if (now(r) == '"') break;
        if (now(r) == '\\') {
            *plain = 0;
            r->at++;
            if (!take_escape(text, &r->at, &r->string)) return bad(r, "after a backslash comes an escape");
        } else
            ct__text_bytes(&r->string, text + r->at++, 1);
    }
    r->at++;
    return r->string.failed ? ct__no_memory(r->err, "bytes of a string", r->string.used) : CT_OK;
}

/* A string, a number, true, false, null. */
static ct_status take_scalar(reader *r, int32_t node)
{
    ct_config *c = r->c;
    int plain = 1;
    const int32_t begin = r->at;
    if (now(r) == '"') {
        CT_TRY(take_string(r, &plain));
        c->node[node].begin = begin + 1;
        c->node[node].end = r->at - 1;
        c->node[node].fixed = !plain;
        return CT_OK;
    }
    while (now(r) && !strchr(" \t\r\n,:[]{}/\"'", now(r))) r->at++;
    if (r->at == begin) return bad(r, "a value is expected");
    c->node[node].begin = begin;
    c->node[node].end = r->at;
    return CT_OK;
}

/* A value, with the key before it in a mapping. A container is then open. */
static ct_status take_value(reader *r)
{
    const int in_map = r->c->node[r->open].type == CT__CONFIG_MAP;
    int32_t node;
    int plain;
    const int32_t key = r->at;
    if (in_map) {
        if (now(r) != '"') return bad(r, "a key in double quotes is expected");
        CT_TRY(take_string(r, &plain));
        CT_TRY(skip(r));
        if (now(r) != ':') return bad(r, "after a key comes :");
        r->at++;
        CT_TRY(skip(r));
    }
    const ct__config_type type = now(r) == '{' ? CT__CONFIG_MAP : now(r) == '[' ? CT__CONFIG_LIST : CT__CONFIG_SCALAR;
    CT_TRY(ct__config_add(r->c, r->open, type, in_map ? r->string.bytes : NULL, (size_t)r->string.used, &node, r->err));
    r->c->node[node].begin = key;
    if (type == CT__CONFIG_SCALAR) return take_scalar(r, node);
    r->open = node;
    r->at++;
    return CT_OK;
}

/* Closes what ends here; then there is a comma, or the end of the text. *more: a value follows. */
static ct_status take_ends(reader *r, int opened, int *more)
{
    for (*more = 1;; opened = 0) {
        CT_TRY(skip(r));
        if (r->open == 0) {
            *more = 0;
            return at_end(r) ? CT_OK : bad(r, "the text ends after its value");
        }
        const char close = r->c->node[r->open].type == CT__CONFIG_MAP ? '}' : ']';
        if (now(r) == ',' && !opened) {
            r->at++;
            CT_TRY(skip(r));
            if (now(r) != close) return CT_OK;
        }
        if (now(r) != close) return opened ? CT_OK : bad(r, close == '}' ? ", or } is expected" : ", or ] is expected");
        r->at++;
        r->open = r->c->node[r->open].parent;
    }
}

static ct_status read_all(reader *r)
{
    CT_TRY(skip(r));
    for (int more = 1; more;) {
        const int32_t before = r->open;
        CT_TRY(take_value(r));
        CT_TRY(take_ends(r, r->open != before, &more));
    }
    return CT_OK;
}

ct_status ct__config_read_json(ct_config *c, ct_err *err)
{
    reader r = {.c = c, .at = c->start, .err = err};
    int32_t root;
    CT_TRY(ct__config_add(c, -1, CT__CONFIG_LIST, NULL, 0, &root, err));
    const ct_status status = read_all(&r);
    ct__text_free(&r.string);
    return status;
}
