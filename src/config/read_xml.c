/* read_xml.c: XML 1.0 without validation. Names keep their prefixes. Entities are decoded in attributes, for
 * [@name='value']; the bytes of numbers are the file's own. A document type is skipped. */
#include "config/config.h"

#include <strings.h>

typedef struct {
    ct_config *c;
    int32_t at;
    int32_t open; /* the element that is being filled; its pending is the list of its words */
    int32_t glue; /* the last word, where text after a comment would continue it; -1: none   */
    int roots;
    ct__text value; /* the last attribute, decoded */
    ct_err *err;
} reader;

static int is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
static char now(const reader *r) { return r->c->text[r->at]; } /* the text is ended by 0 */

static ct_status bad(const reader *r, int32_t at, const char *rule)
{
    char shown[CT__CONFIG_SHOWN];
    const char *text = r->c->text + at;
    size_t length = 0;
    while (length < 20 && text[length] && !strchr("\r\n", text[length])) length++;
    return ct__config_bad(r->c, at, r->err, "not XML: %s, found %s%s%s", rule, length ? "\"" : "",
                          length ? ct__config_shown(text, length, shown) : "the end of the line", length ? "\"" : "");
}

static int begins(const reader *r, const char *text) { return !strncmp(r->c->text + r->at, text, strlen(text)); }

/* To behind the next `end`. */
static ct_status skip_to(reader *r, const char *end, const char *what)
{
    const char *found = strstr(r->c->text + r->at, end);
    if (!found) return bad(r, r->at, what);
    r->at = (int32_t)(found - r->c->text) + (int32_t)strlen(end);
    return CT_OK;
}

static void skip_blanks(reader *r)
{
    while (is_blank(now(r))) r->at++;
}

/* ---- text ---- */

/* Words of a text. Where it has entities its bytes are not its characters, and no word is a number to replace. */
static ct_status split(ct_config *c, int32_t list, int32_t begin, int32_t end, ct_err *err)
{
    const int64_t before = c->nodes;
    CT_TRY(ct__config_split(c, list, begin, end, err));
    if (!memchr(c->text + begin, '&', (size_t)(end - begin))) return CT_OK;
    for (int64_t i = before; i < c->nodes; i++) c->node[i].fixed = 1;
    return CT_OK;
}

/* Words of [begin, end) are numbers of the open element. A word that a comment divides is no number. */
static ct_status take_text(reader *r, int32_t begin, int32_t end)
{
    ct_config *c = r->c;
    int32_t at = begin;
    while (at < end && is_blank(c->text[at])) at++;
    if (begin == end) return CT_OK;
    if (at == end) {
        r->glue = -1;
        return CT_OK;
    }
    if (c->node[r->open].type != CT__CONFIG_MAP || r->open == 1)
        return bad(r, at, r->roots ? "there is no text after the root element" : "an element is expected");
    if (c->node[r->open].pending < 0) {
        int32_t list;
        CT_TRY(ct__config_add(c, r->open, CT__CONFIG_LIST, "text()", 6, &list, r->err));
        c->node[list].split = 1;
        c->node[list].begin = at;
        c->node[r->open].pending = list;
    }
    const int32_t list = c->node[r->open].pending, before = (int32_t)c->nodes;
    CT_TRY(split(c, list, begin, end, r->err));
    const int32_t last = (int32_t)c->nodes - 1;
    if (last >= before && r->glue >= 0 && c->node[before].begin == begin)
        c->node[before].fixed = c->node[r->glue].fixed = 1;
    r->glue = last >= before && c->node[last].end == end ? last : -1;
    return CT_OK;
}

/* ---- names and attributes ---- */

static int is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':' || (unsigned char)c >= 0x80;
}

static ct_status take_name(reader *r, int32_t *begin, int32_t *end)
{
    *begin = r->at;
    if (!is_name_start(now(r))) return bad(r, r->at, "a name is expected");
    while (is_name_start(now(r)) || (now(r) >= '0' && now(r) <= '9') || now(r) == '-' || now(r) == '.') r->at++;
    *end = r->at;
    return CT_OK;
}

/* The code of &#10; or &#xa;, or of a name; -1: neither. */
static int32_t entity(const char *text, size_t length)
{
    static const struct {
        const char *name;
        char code;
    } NAMED[] = {{"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}};
    for (size_t i = 0; i < sizeof NAMED / sizeof *NAMED; i++)
        if (length == strlen(NAMED[i].name) && !strncmp(text, NAMED[i].name, length)) return NAMED[i].code;
    if (length < 2 || length > 9 || text[0] != '#') return -1;
    const int hex = text[1] == 'x';
    int32_t code = 0;
    for (size_t i = hex ? 2 : 1; i < length; i++) {
        const char c = text[i];
        const int digit = c >= '0' && c <= '9'                            ? c - '0'
                          : hex && (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                                          : -1;
        if (digit < 0 || code > 0x10ffff) return -1;
        code = code * (hex ? 16 : 10) + digit;
    }
    return length > (hex ? 2u : 1u) ? code : -1;
}

/* The value of an attribute with its entities decoded, into r->value; those of the document type stay. */
static ct_status decode(reader *r, int32_t begin, int32_t end)
{
    const char *text = r->c->text;
    r->value.used = 0;
    ct__text_bytes(&r->value, "", 0);
    for (int32_t i = begin; i < end; i++) {
        const char *close = text[i] == '&' ? memchr(text + i, ';', (size_t)(end - i)) : NULL;
        const int32_t code = close ? entity(text + i + 1, (size_t)(close - text - i - 1)) : -1;
        char bytes[4];
        if (code >= 0) {
            ct__text_bytes(&r->value, bytes, (size_t)ct__config_utf8((uint32_t)code, bytes));
            i = (int32_t)(close - text);
        } else
            ct__text_bytes(&r->value, is_blank(text[i]) ? " " : text + i, 1);
    }
    return r->value.failed ? ct__no_memory(r->err, "bytes of an attribute", r->value.used) : CT_OK;
}

static ct_status take_attribute(reader *r)
{
    ct_config *c = r->c;
    int32_t name, name_end, list, value;
    CT_TRY(take_name(r, &name, &name_end));
    skip_blanks(r);
    if (now(r) != '=') return bad(r, r->at, "after the name of an attribute comes =");
    r->at++;
    skip_blanks(r);
    const char quote = now(r);
    if (quote != '"' && quote != '\'') return bad(r, r->at, "the value of an attribute is in quotes");
    const int32_t begin = ++r->at;
    while (now(r) != quote && now(r) && now(r) != '<') r->at++;
    if (now(r) != quote) return bad(r, begin - 1, "the value of an attribute is not closed");
    const int32_t end = r->at++;
    r->value.used = 0;
    ct__text_put(&r->value, "@");
    ct__text_bytes(&r->value, c->text + name, (size_t)(name_end - name));
    if (r->value.failed) return ct__no_memory(r->err, "bytes of an attribute", name_end - name);
    CT_TRY(ct__config_add(c, r->open, CT__CONFIG_LIST, r->value.bytes, (size_t)r->value.used, &list, r->err));
    CT_TRY(decode(r, begin, end));
    CT_TRY(ct__config_string(c, r->value.bytes, (size_t)r->value.used, &value, r->err));
    c->node[list].split = 1;
    c->node[list].begin = name;
    c->node[list].pending = value;
    return split(c, list, begin, end, r->err);
}

/* ---- elements ---- */

static void close_element(reader *r)
{
    r->open = r->c->node[r->open].parent;
    r->glue = -1;
}

static ct_status take_element(reader *r)
{
    const int32_t begin = r->at++;
    int32_t name, name_end, node;
    CT_TRY(take_name(r, &name, &name_end));
    if (r->open == 1 && r->roots++) return bad(r, begin, "there is one root element");
    CT_TRY(ct__config_add(r->c, r->open, CT__CONFIG_MAP, r->c->text + name, (size_t)(name_end - name), &node, r->err));
    r->c->node[node].begin = begin;
    r->open = node;
    r->glue = -1;
    for (;;) {
        const int32_t before = r->at;
        skip_blanks(r);
        if (now(r) == '>') {
            r->at++;
            return CT_OK;
        }
        if (begins(r, "/>")) {
            r->at += 2;
            close_element(r);
            return CT_OK;
        }
        if (!now(r)) return bad(r, begin, "an element is not closed");
        if (r->at == before) return bad(r, r->at, "a blank, > or /> is expected");
        CT_TRY(take_attribute(r));
    }
}

static ct_status take_end(reader *r)
{
    const int32_t begin = r->at;
    int32_t name, name_end;
    r->at += 2;
    CT_TRY(take_name(r, &name, &name_end));
    skip_blanks(r);
    if (now(r) != '>') return bad(r, begin, "an end is </name>");
    r->at++;
    const char *key = ct__config_key(r->c, r->open);
    if (r->open == 1 || strlen(key) != (size_t)(name_end - name) || strncmp(key, r->c->text + name, strlen(key)))
        return bad(r, begin, r->open == 1 ? "no element is open" : "another element ends here than is open");
    close_element(r);
    return CT_OK;
}

/* ---- the rest ---- */

/* Encodings whose markup and digits are those of ASCII, byte by byte. */
static int is_ascii_like(const char *name, size_t length)
{
    static const char *const BEGIN[] = {"utf-8",     "utf8",  "us-ascii",    "ascii",
                                        "iso-8859-", "latin", "windows-125", "koi8-"};
    for (size_t i = 0; i < sizeof BEGIN / sizeof *BEGIN; i++) {
        const size_t n = strlen(BEGIN[i]);
        if (length >= n && !strncasecmp(name, BEGIN[i], n)) return 1;
    }
    return 0;
}

static ct_status take_declaration(reader *r)
{
    const int32_t begin = r->at;
    char shown[CT__CONFIG_SHOWN];
    const int xml = begins(r, "<?xml") && is_blank(r->c->text[r->at + 5]);
    CT_TRY(skip_to(r, "?>", "what begins with <? is not closed"));
    const char *found = xml ? strstr(r->c->text + begin, "encoding") : NULL;
    if (!found || found >= r->c->text + r->at) return CT_OK;
    const char *name = found + strcspn(found, "\"'?");
    if (*name != '"' && *name != '\'') return CT_OK;
    const char *end = strchr(name + 1, *name);
    const size_t length = end ? (size_t)(end - name - 1) : 0;
    if (is_ascii_like(name + 1, length)) return CT_OK;
    return ct__config_bad(r->c, begin, r->err, "the encoding \"%s\" is not read; save the file in UTF-8",
                          ct__config_shown(name + 1, length, shown));
}

/* <!DOCTYPE ... [ ... ]>: quotes and comments hide its brackets. */
static ct_status skip_doctype(reader *r)
{
    const int32_t begin = r->at;
    int depth = 0;
    for (r->at += 2; now(r); r->at++) {
        if (now(r) == '"' || now(r) == '\'') {
            const char *end = strchr(r->c->text + r->at + 1, now(r));
            if (!end) break;
            r->at = (int32_t)(end - r->c->text);
        } else if (begins(r, "<!--")) {
            CT_TRY(skip_to(r, "-->", "a comment is not closed"));
            r->at--;
        } else if (now(r) == '[' || now(r) == '<')
            depth++;
        else if (now(r) == ']' || (now(r) == '>' && depth))
            depth--;
        else if (now(r) == '>') {
            r->at++;
            return CT_OK;
        }
    }
    return bad(r, begin, "what begins with <! is not closed");
}

static ct_status take_markup(reader *r)
{
    if (begins(r, "<!--")) {
        r->at += 4;
        return skip_to(r, "-->", "a comment is not closed");
    }
    if (begins(r, "<![CDATA[")) {
        const int32_t begin = r->at += 9;
        CT_TRY(skip_to(r, "]]>", "CDATA is not closed"));
        return take_text(r, begin, r->at - 3);
    }
    if (begins(r, "<?")) return take_declaration(r);
    if (begins(r, "<!")) return skip_doctype(r);
    return begins(r, "</") ? take_end(r) : take_element(r);
}

static ct_status read_all(reader *r)
{
    const int32_t size = (int32_t)r->c->size;
    while (r->at < size) {
        const char *next = memchr(r->c->text + r->at, '<', (size_t)(size - r->at));
        const int32_t end = next ? (int32_t)(next - r->c->text) : size;
        CT_TRY(take_text(r, r->at, end));
        r->at = end;
        if (next) CT_TRY(take_markup(r));
    }
    if (r->open != 1) return bad(r, r->c->node[r->open].begin, "an element is not closed");
    return r->roots ? CT_OK : ct__config_bad(r->c, 0, r->err, "not XML: it has no element");
}

ct_status ct__config_read_xml(ct_config *c, ct_err *err)
{
    reader r = {.c = c, .at = c->start, .glue = -1, .err = err};
    int32_t root;
    const char *nul = memchr(c->text, 0, c->size);
    if (nul) return ct__config_bad(c, nul - c->text, err, "not XML: it contains the character NUL");
    CT_TRY(ct__config_add(c, -1, CT__CONFIG_LIST, NULL, 0, &root, err));
    CT_TRY(ct__config_add(c, root, CT__CONFIG_MAP, NULL, 0, &r.open, err));
    const ct_status status = read_all(&r);
    ct__text_free(&r.value);
    return status;
}
