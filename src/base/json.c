/* json.c: JSON files. */
#include "base/json.h"
#include "base/base.h"
#include "base/file.h"

#include <errno.h>

ct_status ct__json_load(FILE *file, const char *path, json_t **root, ct_err *err)
{
    json_error_t what;
    errno = 0;
    *root = json_loadf(file, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &what);
    if (*root) return CT_OK;
    if (ferror(file)) return ct_fail(err, CT_E_IO, "%s: cannot be read: %s", path, strerror(errno));
    /* jansson has no text, or names the wrong token */
    if (!what.text[0] || errno == ENOMEM) return ct__no_memory(err, "JSON values", 1);
    return ct_fail(err, CT_E_PARSE, "%s:%d:%d: not JSON: %s", path, what.line, what.column, what.text);
}

const char *ct__json_describe(const json_t *value, char buf[CT__JSON_WORDS])
{
    if (!value) return strcpy(buf, "nothing");
    if (json_is_object(value)) return strcpy(buf, "an object");
    if (json_is_array(value)) {
        snprintf(buf, CT__JSON_WORDS, "a list of %zu", json_array_size(value));
        return buf;
    }
    const size_t room = CT__JSON_WORDS - 4, n = json_dumpb(value, buf, room, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    strcpy(buf + CT_MIN(n, room), n > room ? "..." : "");
    return buf;
}

/* ---- writing ---- */

static void new_line(ct__text *out, int indent)
{
    ct__text_put(out, "\n");
    ct__text_repeat(out, " ", indent);
}

/* As jansson writes it: UTF-8 stays. jansson itself allocates to write one word. */
static void put_string(ct__text *out, const char *s)
{
    ct__text_put(out, "\"");
    for (; *s; s++) {
        static const char PLAIN[] = "\"\\\b\f\n\r\t", NAMED[] = "\"\\bfnrt";
        const char       *at = strchr(PLAIN, *s);
        if (at) ct__text_printf(out, "\\%c", NAMED[at - PLAIN]);
        else if ((unsigned char)*s < ' ') ct__text_printf(out, "\\u%04X", (unsigned)*s);
        else ct__text_bytes(out, s, 1);
    }
    ct__text_put(out, "\"");
}

static void put_word(ct__text *out, const json_t *value)
{
    char buf[32];
    if (json_is_real(value)) ct__text_put(out, ct__format_double(json_real_value(value), buf));
    else if (json_is_integer(value)) ct__text_printf(out, "%lld", (long long)json_integer_value(value));
    else if (json_is_string(value)) put_string(out, json_string_value(value));
    else ct__text_put(out, json_is_true(value) ? "true" : json_is_false(value) ? "false" : "null");
}

static void print(ct__text *out, const json_t *value, int depth, int lines)
{
    int first = 1;
    if (json_is_array(value)) {
        ct__text_put(out, "[");
        for (size_t i = 0; i < json_array_size(value); i++) {
            ct__text_put(out, i ? ", " : "");
            print(out, json_array_get(value, i), depth + 1, lines);
        }
        ct__text_put(out, "]");
        return;
    }
    if (!json_is_object(value)) {
        put_word(out, value);
        return;
    }
    ct__text_put(out, "{");
    /* only reads */
    for (void *it = json_object_iter((json_t *)(uintptr_t)value); it;
         it = json_object_iter_next((json_t *)(uintptr_t)value, it)) {
        if (!first) ct__text_put(out, depth < lines ? "," : ", ");
        if (depth < lines) new_line(out, depth + 1);
        first = 0;
        put_string(out, json_object_iter_key(it));
        ct__text_put(out, ": ");
        print(out, json_object_iter_value(it), depth + 1, lines);
    }
    if (!first && depth < lines) new_line(out, depth);
    ct__text_put(out, "}");
}

void ct__json_print(ct__text *out, const json_t *value, int lines) { print(out, value, 0, lines); }

int ct__json_sequence(const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    const int n = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 0;
    for (int i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80) return 0; /* the string's end included */
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f)) return 0;
    if ((p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f)) return 0;
    return n;
}

int ct__json_is_utf8(const char *text)
{
    while (*text) {
        const int n = ct__json_sequence(text);
        if (!n) return 0;
        text += n;
    }
    return 1;
}
