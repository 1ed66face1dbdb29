/* message_definition.c: message types from .msg text.
 *
 * A definition is the text of a .msg file, followed by those of all types that it needs, each after a line of '=' and a
 * line "MSG: package/Type". A line is "type name", with a default value or, for constants, "=value" behind. References:
 * the bag format 2.0 and msg pages of the ROS 1 wiki, "Interfaces" of the ROS 2 documentation, MCAP's registry of
 * schema encodings. */
#include "source/message.h"

#include "base/text.h"

void ct__definition_free(ct__definition *d)
{
    if (!d) return;
    for (int64_t t = 0; t < d->types; t++) {
        for (int64_t m = 0; m < d->type[t].members; m++) {
            free(d->type[t].member[m].name);
            free(d->type[t].member[m].type_name);
        }
        free(d->type[t].member);
        free(d->type[t].name);
    }
    free(d->type);
    free(d);
}

static char *copy(const char *text, size_t length)
{
    char *s = ct__zalloc((int64_t)length + 1, 1);
    if (s && length) memcpy(s, text, length);
    return s;
}

char *ct__type_name_normalise(const char *name, size_t length)
{
    char *s = copy(name, length);
    size_t n = 0;
    if (!s) return NULL;
    for (size_t i = 0; i < length; i++) {
        if (name[i] == ':' && i + 1 < length && name[i + 1] == ':') {
            s[n++] = '/';
            i++;
        } else {
            s[n++] = (unsigned char)name[i] < 32 || name[i] == 127 ? '?' : name[i]; /* names are shown on terminals */
        }
    }
    s[n] = 0;
    for (const char *const *kind = (const char *const[]){"/msg/", "/srv/", "/action/", NULL}; *kind; kind++) {
        char *inner = strstr(s, *kind);
        if (inner) memmove(inner, inner + strlen(*kind) - 1, strlen(inner + strlen(*kind) - 1) + 1);
    }
    return s;
}

ct_status ct__definition_add_type(ct__definition *d, const char *name, size_t length, ct__type **out, ct_err *err)
{
    if (d->types >= CT__TYPES_MAX)
        return ct_fail(err, CT_E_LIMIT, "the definition has more than %d types", CT__TYPES_MAX);
    CT_TRY(ct__grow(&d->type, &d->capacity, d->types + 1, sizeof *d->type, "message types", err));
    char *own = ct__type_name_normalise(name, length);
    if (!own) return ct__no_memory(err, "message types", 1);
    d->type[d->types] = (ct__type){.name = own};
    *out = &d->type[d->types++];
    return CT_OK;
}

ct_status ct__definition_add_member(ct__definition *d, ct__type *type, const char *name, size_t length,
                                    ct__member member, ct_err *err)
{
    ct_status status = CT_OK;
    if (d->members >= CT__MEMBERS_MAX)
        status = ct_fail(err, CT_E_LIMIT, "the definition has more than %d members", CT__MEMBERS_MAX);
    if (status == CT_OK)
        status = ct__grow(&type->member, &type->capacity, type->members + 1, sizeof *type->member, "members", err);
    if (status == CT_OK && !(member.name = copy(name, length))) status = ct__no_memory(err, "members", 1);
    if (status != CT_OK) {
        free(member.type_name);
        return status;
    }
    type->member[type->members++] = member;
    d->members++;
    return CT_OK;
}

int32_t ct__definition_find(const ct__definition *d, const char *name)
{
    for (int64_t t = 0; t < d->types; t++)
        if (!strcmp(d->type[t].name, name)) return (int32_t)t;
    return -1;
}

/* ---- .msg text ---- */

typedef struct {
    const char *text;
    size_t length;
} word;

static int is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
static int is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* A word up to a blank; `line` is what is left. */
static word take(word *line)
{
    while (line->length && is_blank(*line->text)) line->text++, line->length--;
    word w = {line->text, 0};
    while (w.length < line->length && !is_blank(w.text[w.length]) && w.text[w.length] != '#') w.length++;
    line->text += w.length;
    line->length -= w.length;
    return w;
}

/* Digits as a number of at most CT__SIZE_MAX; -1: other characters. */
static int64_t to_count(const char *text, size_t length)
{
    int64_t n = 0;
    if (!length) return -1;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9') return -1;
        n = n * 10 + (text[i] - '0');
        if (n > CT__SIZE_MAX) return -1;
    }
    return n;
}

/* "float64", "string<=10", "Pose[]", "float64[36]", "int32[<=5]". */
static ct_status parse_type(word w, ct__member *m, ct_err *err)
{
    const char *bracket = memchr(w.text, '[', w.length);
    size_t base = bracket ? (size_t)(bracket - w.text) : w.length;
    *m = (ct__member){.array = CT__ONE};
    if (bracket) {
        const char *inner = bracket + 1;
        size_t n = w.length - base - 2;
        if (w.length < base + 2 || w.text[w.length - 1] != ']') goto malformed;
        m->array = n == 0 || *inner == '<' ? CT__SEQUENCE : CT__FIXED;
        if (m->array == CT__FIXED && (m->length = to_count(inner, n)) < 0) goto malformed;
        if (n && *inner == '<' && (n < 2 || to_count(inner + 2, n - 2) < 0)) goto malformed;
    }
    const char *bound = memchr(w.text, '<', base);
    if (bound) base = (size_t)(bound - w.text);
    if (!base) goto malformed;
    for (size_t i = 0; i < base; i++)
        if (!is_name(w.text[i]) && w.text[i] != '/') goto malformed;
    m->type_name = ct__type_name_normalise(w.text, base);
    return m->type_name ? CT_OK : ct__no_memory(err, "members", 1);
malformed:
    return ct_fail(err, CT_E_PARSE, "%.*s is no type", (int)CT_MIN(w.length, 60), w.text);
}

/* A line of a .msg file: a member is added to the type; constants, comments and empty lines are not. */
static ct_status parse_line(ct__definition *d, ct__type *type, word line, ct_err *err)
{
    const word type_word = take(&line);
    ct__member member;
    if (!type_word.length) return CT_OK;
    while (line.length && is_blank(*line.text)) line.text++, line.length--;
    word name = {line.text, 0};
    while (name.length < line.length && is_name(name.text[name.length])) name.length++;
    if (!name.length)
        return ct_fail(err, CT_E_PARSE, "a line has \"type name\", found \"%.*s\"", (int)CT_MIN(type_word.length, 60),
                       type_word.text);
    line.text += name.length;
    line.length -= name.length;
    while (line.length && is_blank(*line.text)) line.text++, line.length--;
    if (line.length && *line.text == '=') return CT_OK;
    CT_TRY(parse_type(type_word, &member, err));
    return ct__definition_add_member(d, type, name.text, name.length, member, err);
}

static int is_separator(word line)
{
    size_t n = 0;
    while (n < line.length && line.text[n] == '=') n++;
    return n >= 3;
}

ct_status ct__definition_parse_msg(ct__definition *d, const char *root, const char *text, size_t size, ct_err *err)
{
    ct__type *type = NULL;
    int64_t number = 0;
    int after_separator = 0;
    CT_TRY(ct__definition_add_type(d, root, strlen(root), &type, err));
    for (size_t at = 0; at < size;) {
        const char *end = memchr(text + at, '\n', size - at);
        word line = {text + at, end ? (size_t)(end - text) - at : size - at};
        const size_t next = at + line.length + 1;
        ct_err why = {0};
        number++;
        if (is_separator(line)) {
            after_separator = 1;
        } else if (after_separator && line.length > 4 && !memcmp(line.text, "MSG:", 4)) {
            line.text += 4;
            line.length -= 4;
            const word name = take(&line);
            CT_TRY(ct__definition_add_type(d, name.text, name.length, &type, err));
            after_separator = 0;
        } else {
            const ct_status status = parse_line(d, type, line, &why);
            if (status != CT_OK)
                return ct_fail(err, status, "definition of %s, line %lld: %s", root, (long long)number, why.text);
        }
        at = next;
    }
    return CT_OK;
}

/* ---- Types of the members ---- */

static const struct {
    const char *name;
    ct__base base;
} BASES[] = {
    {"bool", CT__BOOL},       {"boolean", CT__BOOL},    {"int8", CT__INT8},       {"uint8", CT__UINT8},
    {"char", CT__UINT8},      {"octet", CT__UINT8},     {"int16", CT__INT16},     {"uint16", CT__UINT16},
    {"int32", CT__INT32},     {"uint32", CT__UINT32},   {"int64", CT__INT64},     {"uint64", CT__UINT64},
    {"float32", CT__FLOAT32}, {"float64", CT__FLOAT64}, {"string", CT__TEXT},     {"wstring", CT__WIDE_TEXT},
    {"float", CT__FLOAT32},   {"double", CT__FLOAT64},  {"wchar", CT__WIDE_TEXT},
};

/* The base of a type name, CT__STRUCT if it is none of the simple ones. */
static ct__base find_base(const ct__definition *d, const char *name)
{
    for (size_t i = 0; i < sizeof BASES / sizeof *BASES; i++)
        if (!strcmp(name, BASES[i].name)) return BASES[i].base;
    if (!strcmp(name, "byte")) return d->ros1 ? CT__INT8 : CT__UINT8;
    if (d->ros1)
        return !strcmp(name, "time") ? CT__TIME_UNSIGNED : !strcmp(name, "duration") ? CT__TIME_SIGNED : CT__STRUCT;
    if (!strcmp(name, "builtin_interfaces/Time") || !strcmp(name, "builtin_interfaces/Duration") ||
        !strcmp(name, "time") || !strcmp(name, "duration"))
        return CT__TIME;
    return CT__STRUCT;
}

static const char *last_part(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

/* A name without package is of the package of its type, or std_msgs/Header, or the only one that ends so. */
static ct_status resolve_name(ct__definition *d, int64_t of, const char *name, char **full, ct_err *err)
{
    const char *own = d->type[of].name;
    const size_t package = (size_t)(last_part(own) - own);
    ct__text text = {0};
    int same = 0;
    *full = NULL;
    if (!strchr(name, '/')) ct__text_bytes(&text, own, package);
    ct__text_put(&text, name);
    CT_TRY(ct__text_take(&text, full, err));
    if (ct__definition_find(d, *full) >= 0) return CT_OK;
    const char *other = !strcmp(name, "Header") ? "std_msgs/Header" : NULL;
    for (int64_t t = 0; t < d->types && !other && !strchr(name, '/'); t++)
        if (!strcmp(last_part(d->type[t].name), name)) other = d->type[t].name, same++;
    if (!other || same > 1) return CT_OK;
    free(*full);
    *full = ct__strdup(other);
    return *full ? CT_OK : ct__no_memory(err, "members", 1);
}

/* A type that the text does not define: one of the well-known types of ROS 2, added to the definition. */
static ct_status add_standard(ct__definition *d, const char *name, const char *of, const char *member, ct_err *err)
{
    const char *text = d->ros1 ? NULL : ct__standard_message(name);
    if (text) return ct__definition_parse_msg(d, name, text, strlen(text), err);
    return ct_fail(err, CT_E_PARSE, "type %s of %s.%s is not defined in the bag, and not among the types known here",
                   name, of, member);
}

/* Find what the type names stand for. Types that are added go to the end, and are visited too. */
static ct_status resolve(ct__definition *d, ct_err *err)
{
    for (int64_t t = 0; t < d->types; t++)
        for (int64_t i = 0; i < d->type[t].members; i++) {
            ct__member *m = &d->type[t].member[i];
            char *full = NULL;
            m->base = find_base(d, m->type_name);
            if (m->base != CT__STRUCT) continue;
            ct_status status = resolve_name(d, t, m->type_name, &full, err);
            if (status == CT_OK && find_base(d, full) != CT__STRUCT) {
                m->base = find_base(d, full);
            } else if (status == CT_OK) {
                if (ct__definition_find(d, full) < 0) status = add_standard(d, full, d->type[t].name, m->name, err);
                m = &d->type[t].member[i];
                if (status == CT_OK) m->type = ct__definition_find(d, full);
            }
            free(m->type_name);
            m->type_name = full;
            CT_TRY(status);
        }
    return CT_OK;
}

/* In CDR a struct without members has one byte, which ROS 2's definitions do not show. */
static ct_status fill_empty(ct__definition *d, ct_err *err)
{
    static const char NAME[] = "structure_needs_at_least_one_member";
    for (int64_t t = 0; t < d->types; t++) {
        ct__member m = {.base = CT__UINT8};
        if (d->ros1 || d->type[t].members) continue;
        if (!(m.type_name = ct__strdup("uint8"))) return ct__no_memory(err, "members", 1);
        CT_TRY(ct__definition_add_member(d, &d->type[t], NAME, sizeof NAME - 1, m, err));
    }
    return CT_OK;
}

static ct_status parse_text(ct__definition *d, const char *type, const char *encoding, const char *text, size_t size,
                            ct_err *err)
{
    char *root = ct__type_name_normalise(type, strlen(type));
    if (!root) return ct__no_memory(err, "message types", 1);
    ct_status status;
    const char *known = ct__standard_message(root);
    if (!strcmp(encoding, "ros2idl") && size) {
        status = ct__definition_parse_idl(d, root, text, size, err);
    } else if (size || d->ros1) { /* ROS 1's always have their text, which may be empty */
        status = ct__definition_parse_msg(d, root, text, size, err);
    } else if (known) {
        status = ct__definition_parse_msg(d, root, known, strlen(known), err);
    } else {
        status = ct_fail(err, CT_E_PARSE,
                         "the bag has no definition of type %s, and it is not among the types known "
                         "here",
                         type);
    }
    free(root);
    return status;
}

ct_status ct__definition_new(const char *type, const char *encoding, const char *text, size_t size,
                             ct__definition **out, ct_err *err)
{
    ct__definition *d = ct__zalloc(1, sizeof *d);
    *out = NULL;
    if (!d) return ct__no_memory(err, "message types", 1);
    d->ros1 = !strcmp(encoding, "ros1msg");
    ct_status status = parse_text(d, type, encoding, text, size, err);
    if (status == CT_OK) status = resolve(d, err);
    if (status == CT_OK) status = fill_empty(d, err);
    if (status == CT_OK) status = ct__definition_layout(d, err);
    if (status != CT_OK) {
        ct__definition_free(d);
        return status;
    }
    *out = d;
    return CT_OK;
}
