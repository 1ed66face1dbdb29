/* json.c: JSON files. */
#include "base/json.h"
#include "base/base.h"

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
