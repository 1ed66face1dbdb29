/* read_ini.c: lines of "key = value" or "key: value", in sections "[name]" or not.
 *
 * Lines that begin with # or ; are comments, and so is what follows a blank and # or ; in a value. An indented line
 * without = and : continues the value above it, as in Python's configparser. Other lines are left alone. */
#include "config/config.h"

typedef struct {
    ct_config *c;
    int32_t map;   /* the section */
    int32_t value; /* the last key's list, -1: none */
} reader;

static int is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

static void trim(const char *text, int32_t *begin, int32_t *end)
{
    while (*begin < *end && is_blank(text[*begin])) ++*begin;
    while (*end > *begin && is_blank(text[*end - 1])) --*end;
}

/* Where the value in [begin, end) ends: before a comment. Quotes hold the signs of comments. */
static int32_t value_end(const char *text, int32_t begin, int32_t end)
{
    char quote = 0;
    for (int32_t i = begin; i < end; i++) {
        if (quote) {
            if (text[i] == quote) quote = 0;
        } else if ((text[i] == '"' || text[i] == '\'') && memchr(text + i + 1, text[i], (size_t)(end - i - 1)))
            quote = text[i];
        else if ((text[i] == '#' || text[i] == ';') && (i == begin || is_blank(text[i - 1])))
            return i;
    }
    return end;
}

/* Is it a row of a matrix, "[0, 1.5]," rather than a section? */
static int is_row(const char *text, size_t length)
{
    size_t i = 0;
    while (i < length && text[i] != '#' && text[i] != ';' && strchr("0123456789+-.eE, \t[]()", text[i])) i++;
    return i == length || text[i] == '#' || text[i] == ';';
}

static ct_status take_section(reader *r, int32_t begin, int32_t end, ct_err *err)
{
    const char *close = memchr(r->c->text + begin, ']', (size_t)(end - begin));
    char shown[CT__CONFIG_SHOWN];
    if (!close)
        return ct__config_bad(r->c, begin, err, "a section is [name]; the ] is missing in \"%s\"",
                              ct__config_shown(r->c->text + begin, (size_t)(end - begin), shown));
    int32_t name = begin + 1, name_end = (int32_t)(close - r->c->text);
    trim(r->c->text, &name, &name_end);
    CT_TRY(ct__config_add(r->c, 1, CT__CONFIG_MAP, r->c->text + name, (size_t)(name_end - name), &r->map, err));
    r->c->node[r->map].begin = begin;
    r->value = -1;
    return CT_OK;
}

static ct_status take_line(reader *r, int32_t begin, int32_t end, ct_err *err)
{
    ct_config *c = r->c;
    const int32_t line = begin;
    int32_t sign;
    trim(c->text, &begin, &end);
    if (begin == end || c->text[begin] == '#' || c->text[begin] == ';') return CT_OK;
    if (c->text[begin] == '[' && (begin == line || r->value < 0 || !is_row(c->text + begin, (size_t)(end - begin))))
        return take_section(r, begin, end, err);
    const int32_t stop = value_end(c->text, begin, end);
    for (sign = begin; sign < stop && c->text[sign] != '=' && c->text[sign] != ':';) sign++;
    if (sign == stop) {
        if (begin > line && r->value >= 0) return ct__config_split(c, r->value, begin, stop, err);
        r->value = -1;
        return CT_OK;
    }
    int32_t key = begin, key_end = sign, from = sign + 1;
    trim(c->text, &key, &key_end);
    CT_TRY(ct__config_add(c, r->map, CT__CONFIG_LIST, c->text + key, (size_t)(key_end - key), &r->value, err));
    c->node[r->value].split = 1;
    c->node[r->value].begin = begin;
    trim(c->text, &from, &end);
    return ct__config_split(c, r->value, from, value_end(c->text, from, end), err);
}

ct_status ct__config_read_ini(ct_config *c, ct_err *err)
{
    int32_t root;
    reader r = {.c = c, .value = -1};
    CT_TRY(ct__config_add(c, -1, CT__CONFIG_LIST, NULL, 0, &root, err));
    CT_TRY(ct__config_add(c, root, CT__CONFIG_MAP, NULL, 0, &r.map, err));
    for (int64_t i = 0; i < c->lines; i++) {
        const int32_t begin = i ? c->line[i] : c->start, end = i + 1 < c->lines ? c->line[i + 1] : (int32_t)c->size;
        int32_t stop = end;
        while (stop > begin && (c->text[stop - 1] == '\n' || c->text[stop - 1] == '\r')) stop--;
        CT_TRY(take_line(&r, begin, stop, err));
    }
    return CT_OK;
}
