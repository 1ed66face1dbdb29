/* message_idl.c: message types from IDL, as ROS 2 bags carry it ("ros2idl").
 *
 * Read is what rosidl writes: modules, structs, typedefs, enums, constants, annotations, sequences, bounded text,
 * arrays. Unions, bit sets, maps, interfaces, inheritance and optional members have other layouts and are refused.
 * Reference: OMG IDL 4.2, "IDL interface definition" of the ROS 2 documentation. */
#include "source/message.h"

#include "base/text.h"

typedef struct {
    char *name;      /* with its modules, normalised            */
    ct__member type; /* of a typedef or an enum: what it stands for; type_name NULL: a constant */
    int64_t number;  /* of a constant                            */
} alias;

typedef struct {
    ct__definition *d;
    const char *root, *text;
    size_t size, at;
    int64_t line;
    const char *word; /* the current token; its length is 0 at the end */
    size_t length;
    ct__text scope; /* "geometry_msgs/msg/" */
    alias *alias;
    int64_t aliases, capacity;
} parser;

/* ---- Tokens ---- */

static int is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static void skip_line(parser *p)
{
    while (p->at < p->size && p->text[p->at] != '\n') p->at++;
}

static void skip_comment(parser *p)
{
    for (p->at += 2; p->at < p->size; p->at++) {
        if (p->text[p->at] == '\n') p->line++;
        if (p->text[p->at] == '/' && p->text[p->at - 1] == '*') break;
    }
    if (p->at < p->size) p->at++;
}

/* Blanks, comments, preprocessor lines, and the lines "=====" and "IDL: name" between files. */
static void skip_blank(parser *p)
{
    for (; p->at < p->size; p->at++) {
        const char c = p->text[p->at], next = p->at + 1 < p->size ? p->text[p->at + 1] : 0;
        if (c == '\n') {
            p->line++;
        } else if ((c == '/' && next == '/') || c == '#' || (c == '=' && next == '=') ||
                   (c == 'I' && p->size - p->at > 4 && !memcmp(p->text + p->at, "IDL:", 4) &&
                    (!p->at || p->text[p->at - 1] == '\n'))) {
            skip_line(p);
            p->at--;
        } else if (c == '/' && next == '*') {
            skip_comment(p);
            p->at--;
        } else if (c != ' ' && c != '\t' && c != '\r') {
            return;
        }
    }
}

static void advance(parser *p)
{
    skip_blank(p);
    p->word = p->text + p->at;
    p->length = 0;
    if (p->at >= p->size) return;
    const size_t left = p->size - p->at;
    const char c = *p->word;
    size_t n = 1;
    if (is_letter(c) || (c == ':' && left > 1 && p->word[1] == ':')) {
        n = 0;
        while (n < left && (is_letter(p->word[n]) || (n + 1 < left && p->word[n] == ':' && p->word[n + 1] == ':')))
            n += is_letter(p->word[n]) ? 1 : 2;
    } else if (c == '"' || c == '\'') {
        while (n < left && p->word[n] != c) n += p->word[n] == '\\' ? 2 : 1;
        n = n < left ? n + 1 : left;
        for (size_t i = 0; i < n; i++) p->line += p->word[i] == '\n';
    }
    p->length = n;
    p->at += n;
}

static int is(const parser *p, const char *word)
{
    return p->length == strlen(word) && !memcmp(p->word, word, p->length);
}

static ct_status refuse(const parser *p, const char *what, ct_err *err)
{
    return ct_fail(err, CT_E_PARSE, "definition of %s, line %lld: %s, found \"%.*s\"", p->root, (long long)p->line,
                   what, (int)CT_MIN(p->length, 60), p->word);
}

static ct_status expect(parser *p, const char *word, ct_err *err)
{
    char what[64];
    if (!is(p, word)) {
        snprintf(what, sizeof what, "\"%s\" is expected", word);
        return refuse(p, what, err);
    }
    advance(p);
    return CT_OK;
}

static int is_identifier(const parser *p) { return p->length && (is_letter(*p->word) || *p->word == ':'); }

/* What stands between brackets, with brackets inside. */
static ct_status skip_brackets(parser *p, char open, char close, ct_err *err)
{
    int64_t depth = 0;
    do {
        if (!p->length) return refuse(p, "a bracket is not closed", err);
        if (p->length == 1) depth += *p->word == open ? 1 : *p->word == close ? -1 : 0;
        advance(p);
    } while (depth);
    return CT_OK;
}

static ct_status skip_annotations(parser *p, ct_err *err)
{
    while (is(p, "@")) {
        advance(p);
        if (is(p, "optional") || is(p, "mutable"))
            return refuse(p, "optional and mutable members are not decoded", err);
        if (!is_identifier(p)) return refuse(p, "an annotation has a name", err);
        advance(p);
        if (is(p, "(")) CT_TRY(skip_brackets(p, '(', ')', err));
    }
    return CT_OK;
}

/* ---- Names ---- */

/* The scope (its first `length` bytes) and the name, normalised. */
static char *full_name(const parser *p, int64_t length, const char *name, size_t n)
{
    ct__text text = {0};
    char *full = NULL;
    if (n >= 2 && !memcmp(name, "::", 2)) name += 2, n -= 2, length = 0;
    ct__text_bytes(&text, p->scope.bytes ? p->scope.bytes : "", (size_t)length);
    ct__text_bytes(&text, name, n);
    if (!text.failed) full = ct__type_name_normalise(text.bytes ? text.bytes : "", (size_t)text.used);
    ct__text_free(&text);
    return full;
}

static const alias *find_alias(const parser *p, const char *full)
{
    for (int64_t i = 0; i < p->aliases; i++)
        if (!strcmp(p->alias[i].name, full)) return &p->alias[i];
    return NULL;
}

/* *found <- the alias or constant of this name, in the innermost scope that has it, or NULL. *full <- the name as the
 * innermost scope has it, or as it is if it names its modules; the caller frees it. */
static ct_status look_up(const parser *p, const char *name, size_t n, const alias **found, char **full, ct_err *err)
{
    *found = NULL;
    *full = NULL;
    for (int64_t length = p->scope.used; length >= 0;) {
        char *candidate = full_name(p, length, name, n);
        if (!candidate) return ct__no_memory(err, "names", 1);
        *found = find_alias(p, candidate);
        if (*found || ct__definition_find(p->d, candidate) >= 0) {
            free(*full);
            *full = candidate;
            return CT_OK;
        }
        free(candidate);
        if (!length) break;
        for (length--; length && p->scope.bytes[length - 1] != '/';) length--;
    }
    const int scoped = memchr(name, ':', n) != NULL;
    *full = full_name(p, scoped ? 0 : p->scope.used, name, n);
    return *full ? CT_OK : ct__no_memory(err, "names", 1);
}

static ct_status add_alias(parser *p, const char *name, size_t n, ct__member type, int64_t number, ct_err *err)
{
    char *full = full_name(p, p->scope.used, name, n);
    if (!full || p->aliases >= CT__MEMBERS_MAX ||
        ct__grow(&p->alias, &p->capacity, p->aliases + 1, sizeof *p->alias, "names", NULL) != CT_OK) {
        free(full);
        free(type.type_name);
        return ct__no_memory(err, "names", p->aliases);
    }
    p->alias[p->aliases++] = (alias){full, type, number};
    return CT_OK;
}

/* ---- Types ---- */

/* A positive number or the name of a constant. */
static ct_status parse_count(parser *p, int64_t *count, ct_err *err)
{
    const alias *constant = NULL;
    char *full = NULL;
    *count = 0;
    if (!is_identifier(p)) return refuse(p, "a number of elements is expected", err);
    if (*p->word >= '0' && *p->word <= '9') {
        for (size_t i = 0; i < p->length; i++) {
            if (p->word[i] < '0' || p->word[i] > '9' || *count > CT__SIZE_MAX / 16)
                return refuse(p, "a number of elements is expected", err);
            *count = *count * 10 + (p->word[i] - '0');
        }
    } else {
        CT_TRY(look_up(p, p->word, p->length, &constant, &full, err));
        free(full);
        if (!constant || constant->type.type_name || constant->number < 0)
            return refuse(p, "a number or a constant before it is expected", err);
        *count = constant->number;
    }
    advance(p);
    return CT_OK;
}

static ct_status simple(ct__member *m, const char *name, ct_err *err)
{
    m->type_name = ct__strdup(name);
    return m->type_name ? CT_OK : ct__no_memory(err, "members", 1);
}

/* Words of IDL that are numbers: the name that .msg has for them, NULL: none. *words <- how many words it takes. */
static ct_status parse_number_type(parser *p, ct__member *m, int *done, ct_err *err)
{
    static const char *const ONE[][2] = {{"short", "int16"}, {"float", "float32"}, {"double", "float64"}};
    *done = 1;
    for (size_t i = 0; i < sizeof ONE / sizeof *ONE; i++)
        if (is(p, ONE[i][0])) {
            advance(p);
            return simple(m, ONE[i][1], err);
        }
    const int is_unsigned = is(p, "unsigned");
    if (is_unsigned) advance(p);
    if (is_unsigned && is(p, "short")) {
        advance(p);
        return simple(m, "uint16", err);
    }
    if (is(p, "long")) {
        advance(p);
        if (is(p, "double")) return refuse(p, "long double is not decoded", err);
        const int longer = is(p, "long");
        if (longer) advance(p);
        return simple(m, is_unsigned ? (longer ? "uint64" : "uint32") : (longer ? "int64" : "int32"), err);
    }
    *done = 0;
    return is_unsigned ? refuse(p, "unsigned short or long is expected", err) : CT_OK;
}

/* The type of a member: *m without name. The caller frees m->type_name. */
static ct_status parse_type(parser *p, ct__member *m, ct_err *err)
{
    int done;
    const alias *other = NULL;
    *m = (ct__member){.array = CT__ONE};
    CT_TRY(parse_number_type(p, m, &done, err));
    if (done) return CT_OK;
    for (const char *const *word = (const char *const[]){"union", "bitset", "bitmask", "map", "fixed", "any", NULL};
         *word; word++)
        if (is(p, *word)) return refuse(p, "this kind of type is not decoded", err);
    if (is(p, "sequence")) {
        int64_t bound;
        advance(p);
        CT_TRY(expect(p, "<", err));
        if (is(p, "sequence")) return refuse(p, "sequences of sequences are not decoded", err);
        CT_TRY(parse_type(p, m, err));
        if (m->array != CT__ONE) return refuse(p, "sequences of arrays are not decoded", err);
        m->array = CT__SEQUENCE;
        if (is(p, ",")) {
            advance(p);
            CT_TRY(parse_count(p, &bound, err));
        }
        return expect(p, ">", err);
    }
    if (is(p, "string") || is(p, "wstring")) {
        int64_t bound;
        CT_TRY(simple(m, is(p, "string") ? "string" : "wstring", err));
        advance(p);
        if (!is(p, "<")) return CT_OK;
        advance(p);
        CT_TRY(parse_count(p, &bound, err));
        return expect(p, ">", err);
    }
    if (!is_identifier(p)) return refuse(p, "a type is expected", err);
    static const char *const PLAIN[] = {"boolean", "octet",  "char",  "wchar",  "int8",  "uint8",
                                        "int16",   "uint16", "int32", "uint32", "int64", "uint64"};
    for (size_t i = 0; i < sizeof PLAIN / sizeof *PLAIN; i++)
        if (is(p, PLAIN[i])) {
            advance(p);
            return simple(m, PLAIN[i], err);
        }
    CT_TRY(look_up(p, p->word, p->length, &other, &m->type_name, err));
    advance(p);
    if (!other) return CT_OK;
    if (!other->type.type_name) return refuse(p, "a constant is no type", err);
    free(m->type_name);
    *m = other->type;
    return simple(m, other->type.type_name, err);
}

/* "name[3][4]": arrays of arrays lie in the message as one array. */
static ct_status parse_dimensions(parser *p, ct__member *m, ct_err *err)
{
    while (is(p, "[")) {
        int64_t n;
        advance(p);
        CT_TRY(parse_count(p, &n, err));
        CT_TRY(expect(p, "]", err));
        if (m->array == CT__SEQUENCE) return refuse(p, "arrays of sequences are not decoded", err);
        const int64_t old = m->array == CT__FIXED ? m->length : 1;
        if (n && old > CT__SIZE_MAX / n) return refuse(p, "an array has at most 2^40 elements", err);
        m->array = CT__FIXED;
        m->length = old * n;
    }
    return CT_OK;
}

/* One declaration "type name [, name] ;": of members, or of aliases if type is NULL. */
static ct_status parse_declaration(parser *p, ct__type *type, ct_err *err)
{
    ct__member m;
    ct_status status = parse_type(p, &m, err);
    while (status == CT_OK) {
        const char *name = p->word;
        const size_t n = p->length;
        ct__member own = m;
        if (!is_identifier(p)) status = refuse(p, "a name is expected", err);
        if (status == CT_OK) advance(p);
        if (status == CT_OK) status = skip_annotations(p, err);
        if (status == CT_OK) status = parse_dimensions(p, &own, err);
        own.type_name = NULL;
        if (status == CT_OK) status = simple(&own, m.type_name, err);
        if (status == CT_OK)
            status =
                type ? ct__definition_add_member(p->d, type, name, n, own, err) : add_alias(p, name, n, own, 0, err);
        if (status != CT_OK || !is(p, ",")) break;
        advance(p);
    }
    free(m.type_name);
    return status == CT_OK ? expect(p, ";", err) : status;
}

/* ---- Declarations of a module ---- */

static ct_status parse_struct(parser *p, ct_err *err)
{
    ct__type *type = NULL;
    if (!is_identifier(p)) return refuse(p, "a struct has a name", err);
    char *full = full_name(p, p->scope.used, p->word, p->length);
    if (!full) return ct__no_memory(err, "names", 1);
    const ct_status status = ct__definition_add_type(p->d, full, strlen(full), &type, err);
    free(full);
    CT_TRY(status);
    advance(p);
    if (is(p, ":")) return refuse(p, "inheritance of structs is not decoded", err);
    CT_TRY(expect(p, "{", err));
    while (!is(p, "}")) {
        CT_TRY(skip_annotations(p, err));
        CT_TRY(parse_declaration(p, type, err));
    }
    return expect(p, "}", err);
}

/* enum and const: an enum lies in the message as uint32; of constants whole numbers are kept. */
static ct_status parse_enum(parser *p, ct_err *err)
{
    ct__member m = {.array = CT__ONE};
    if (!is_identifier(p)) return refuse(p, "an enum has a name", err);
    const char *name = p->word;
    const size_t n = p->length;
    advance(p);
    CT_TRY(simple(&m, "uint32", err));
    CT_TRY(add_alias(p, name, n, m, 0, err));
    if (!is(p, "{")) return refuse(p, "\"{\" is expected", err);
    return skip_brackets(p, '{', '}', err);
}

static ct_status parse_constant(parser *p, ct_err *err)
{
    ct__member m;
    const ct_status status = parse_type(p, &m, err);
    free(m.type_name);
    CT_TRY(status);
    if (!is_identifier(p)) return refuse(p, "a constant has a name", err);
    const char *name = p->word;
    const size_t n = p->length;
    int64_t number = -1;
    advance(p);
    CT_TRY(expect(p, "=", err));
    if (p->length && *p->word >= '0' && *p->word <= '9') number = 0;
    for (size_t i = 0; i < p->length && number >= 0; i++)
        number =
            p->word[i] >= '0' && p->word[i] <= '9' && number < CT__SIZE_MAX ? number * 10 + (p->word[i] - '0') : -1;
    CT_TRY(add_alias(p, name, n, (ct__member){0}, number, err));
    while (p->length && !is(p, ";")) advance(p);
    return CT_OK;
}

static ct_status parse_module(parser *p, ct_err *err)
{
    if (!is_identifier(p)) return refuse(p, "a module has a name", err);
    if (p->scope.used > 4096) return refuse(p, "modules are nested too deep", err);
    ct__text_bytes(&p->scope, p->word, p->length);
    ct__text_put(&p->scope, "/");
    if (p->scope.failed) return ct__no_memory(err, "names", 1);
    advance(p);
    return expect(p, "{", err);
}

static ct_status close_module(parser *p, ct_err *err)
{
    if (!p->scope.used) return refuse(p, "no module is open", err);
    for (p->scope.used--; p->scope.used && p->scope.bytes[p->scope.used - 1] != '/';) p->scope.used--;
    p->scope.bytes[p->scope.used] = 0;
    return expect(p, "}", err);
}

static ct_status parse_one(parser *p, ct_err *err)
{
    if (is(p, ";")) return expect(p, ";", err);
    if (is(p, "}")) return close_module(p, err);
    if (is(p, "@")) return skip_annotations(p, err);
    const int is_module = is(p, "module"), is_struct = is(p, "struct"), is_typedef = is(p, "typedef"),
              is_enum = is(p, "enum"), is_const = is(p, "const");
    if (!(is_module || is_struct || is_typedef || is_enum || is_const))
        return refuse(p, "module, struct, typedef, enum or const is expected", err);
    advance(p);
    if (is_module) return parse_module(p, err);
    if (is_struct) return parse_struct(p, err);
    if (is_typedef) return parse_declaration(p, NULL, err);
    return is_enum ? parse_enum(p, err) : parse_constant(p, err);
}

/* The type of the message comes first. */
static ct_status put_first(ct__definition *d, const char *root, ct_err *err)
{
    const int32_t t = ct__definition_find(d, root);
    if (t < 0) return ct_fail(err, CT_E_PARSE, "definition of %s: it has no struct of this name", root);
    const ct__type first = d->type[0];
    d->type[0] = d->type[t];
    d->type[t] = first;
    return CT_OK;
}

ct_status ct__definition_parse_idl(ct__definition *d, const char *root, const char *text, size_t size, ct_err *err)
{
    parser p = {.d = d, .root = root, .text = text, .size = size, .line = 1};
    ct_status status = CT_OK;
    advance(&p);
    while (status == CT_OK && p.length) status = parse_one(&p, err);
    for (int64_t i = 0; i < p.aliases; i++) {
        free(p.alias[i].name);
        free(p.alias[i].type.type_name);
    }
    free(p.alias);
    ct__text_free(&p.scope);
    return status == CT_OK ? put_first(d, root, err) : status;
}
