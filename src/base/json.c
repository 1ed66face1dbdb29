/* json.c: JSON files. */
#include "base/json.h"
#include "base/base.h"
#include "base/file.h"

#include <errno.h>

ct_status ct__json_load(FILE *file, const char *path, json_t **root, ct_err *err)
{
    json_error_t what;
    *root = json_loadf(file, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &what);
    if (*root) return CT_OK;
    if (ferror(file)) return ct_fail(err, CT_E_IO, "%s: cannot be read: %s", path, strerror(errno));
    if (!what.text[0]) return ct__no_memory(err, "JSON values", 1); /* what jansson leaves when it has none */
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

static void new_line(FILE *out, int indent) { fprintf(out, "\n%*s", indent, ""); }

/* Strings, integers, true, false and null are jansson's business: it knows how to escape. */
static ct_status print_word(FILE *out, const json_t *value, ct_err *err)
{
    char buf[32];
    if (json_is_real(value)) fputs(ct__format_double(json_real_value(value), buf), out);
    else if (json_dumpf(value, out, JSON_ENCODE_ANY) && !ferror(out)) return ct__no_memory(err, "JSON text", 1);
    return CT_OK;
}

static ct_status print_key(FILE *out, const char *key, ct_err *err)
{
    json_t *string = json_string(key);
    if (!string) return ct__no_memory(err, "JSON text", 1); /* a key of an object is UTF-8 */
    const ct_status status = print_word(out, string, err);
    json_decref(string);
    fputs(": ", out);
    return status;
}

static ct_status print(FILE *out, const json_t *value, int depth, int lines, ct_err *err)
{
    int first = 1;
    if (json_is_array(value)) {
        putc('[', out);
        for (size_t i = 0; i < json_array_size(value); i++) {
            fputs(i ? ", " : "", out);
            CT_TRY(print(out, json_array_get(value, i), depth + 1, lines, err));
        }
        putc(']', out);
        return CT_OK;
    }
    if (!json_is_object(value)) return print_word(out, value, err);
    putc('{', out);
    for (void *it = json_object_iter((json_t *)(uintptr_t)value); it; it = json_object_iter_next((json_t *)(uintptr_t)value, it)) { /* only reads */
        if (!first) fputs(depth < lines ? "," : ", ", out);
        if (depth < lines) new_line(out, depth + 1);
        first = 0;
        CT_TRY(print_key(out, json_object_iter_key(it), err));
        CT_TRY(print(out, json_object_iter_value(it), depth + 1, lines, err));
    }
    if (!first && depth < lines) new_line(out, depth);
    putc('}', out);
    return CT_OK;
}

ct_status ct__json_print(FILE *out, const json_t *value, int lines, ct_err *err) { return print(out, value, 0, lines, err); }

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
