/* dataset_schema.c: the keys of dataset.yaml and their types, as a libcyaml schema, and its errors as sentences.
 *
 * libcyaml reports errors through a log: a cause, then its locations from the inside out, each with a line. The
 * first location is used. Aliases are refused, so that a small file cannot expand to a large one. */
#define _POSIX_C_SOURCE 200809L
#include "data/data.h"
#include "data/locale.h"

#include <cyaml/cyaml.h>
#include <stdarg.h>

/* ---- schema ---- */

static const cyaml_strval_t KINDS[] = {
    {"isotropic", CT_NOISE_ISOTROPIC + 1}, {"diagonal", CT_NOISE_DIAGONAL + 1}, {"full", CT_NOISE_FULL + 1}};
static const cyaml_strval_t BOOLS[] = {{"true", 1}, {"false", 2}};

#define NUMBER_MAX (CT_NOISE_DIM_MAX * CT_NOISE_DIM_MAX)
#define TEXT_MAX   4096
#define LIST(key, what, member, count, entry, least, most)                                                             \
    CYAML_FIELD_SEQUENCE_COUNT(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, what, member, count, entry, least, most)

static const cyaml_schema_value_t NUMBER = {CYAML_VALUE_FLOAT(CYAML_FLAG_DEFAULT, double)};
static const cyaml_schema_value_t TEXT = {CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char *, 1, TEXT_MAX)};

#define X(constant, name) {name, constant + 1},
static const cyaml_strval_t PROCESSES[] = {CT_BIAS_PROCESS_LIST(X)}, EFFECTS[] = {CT_BIAS_EFFECT_LIST(X)};
#undef X
static const cyaml_strval_t PERS[] = {{"sensor", 1}, {"target", 2}};

static const cyaml_schema_field_t BIAS_FIELDS[] = {
    CYAML_FIELD_ENUM("process", CYAML_FLAG_STRICT, ct__yaml_bias, process, PROCESSES, CT_BIAS_PROCESS_COUNT),
    LIST("rows", ct__yaml_bias, row, rows, &TEXT, 1, CT_BIAS_ROWS_MAX),
    CYAML_FIELD_ENUM("as", CYAML_FLAG_STRICT | CYAML_FLAG_OPTIONAL, ct__yaml_bias, effect, EFFECTS,
                     CT_BIAS_EFFECT_COUNT),
    CYAML_FIELD_ENUM("per", CYAML_FLAG_STRICT | CYAML_FLAG_OPTIONAL, ct__yaml_bias, per, PERS, 2),
    CYAML_FIELD_FLOAT_PTR("tau", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, ct__yaml_bias, tau),
    CYAML_FIELD_FLOAT_PTR("period", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, ct__yaml_bias, period),
    CYAML_FIELD_FLOAT_PTR("every", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, ct__yaml_bias, every),
    LIST("sigma", ct__yaml_bias, sigma, sigmas, &NUMBER, 1, CT_BIAS_ROWS_MAX),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t GROUP_FIELDS[] = {
    CYAML_FIELD_STRING_PTR("name", CYAML_FLAG_POINTER, ct__yaml_group, name, 1, 255),
    CYAML_FIELD_ENUM("kind", CYAML_FLAG_STRICT | CYAML_FLAG_OPTIONAL, ct__yaml_group, kind, KINDS, 3),
    CYAML_FIELD_ENUM("learn", CYAML_FLAG_STRICT | CYAML_FLAG_OPTIONAL, ct__yaml_group, learn, BOOLS, 2),
    LIST("variance", ct__yaml_group, variance, variances, &NUMBER, 1, CT_NOISE_DIM_MAX),
    LIST("covariance", ct__yaml_group, covariance, covariances, &NUMBER, 1, NUMBER_MAX),
    LIST("bounds", ct__yaml_group, bounds, bounds_count, &NUMBER, 2, 2),
    LIST("lower", ct__yaml_group, lower, lowers, &NUMBER, 1, CT_NOISE_DIM_MAX),
    LIST("upper", ct__yaml_group, upper, uppers, &NUMBER, 1, CT_NOISE_DIM_MAX),
    LIST("unit", ct__yaml_group, unit, units, &NUMBER, 1, CT_NOISE_DIM_MAX),
    CYAML_FIELD_STRING_PTR("model", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, ct__yaml_group, model, 1, 1000),
    CYAML_FIELD_MAPPING_PTR("bias", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, ct__yaml_group, bias, BIAS_FIELDS),
    CYAML_FIELD_ENUM("arbitrary", CYAML_FLAG_STRICT | CYAML_FLAG_OPTIONAL, ct__yaml_group, arbitrary, BOOLS, 2),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t GROUP = {CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, ct__yaml_group, GROUP_FIELDS)};

static const cyaml_schema_field_t SIGMA_FIELDS[] = {
    CYAML_FIELD_FLOAT_PTR("translation", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, ct__yaml_sigma, translation),
    CYAML_FIELD_FLOAT_PTR("rotation", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, ct__yaml_sigma, rotation),
    CYAML_FIELD_END,
};
#define SIGMA(what)                                                                                                    \
    CYAML_FIELD_MAPPING_PTR("truth_sigma", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, what, truth_sigma, SIGMA_FIELDS)

static const cyaml_schema_field_t RECORDING_FIELDS[] = {
    CYAML_FIELD_STRING_PTR("name", CYAML_FLAG_POINTER, ct__yaml_recording, name, 1, 255),
    LIST("files", ct__yaml_recording, file, files, &TEXT, 0, CYAML_UNLIMITED),
    SIGMA(ct__yaml_recording),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t RECORDING = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, ct__yaml_recording, RECORDING_FIELDS)};

static const cyaml_schema_field_t ROOT_FIELDS[] = {
    CYAML_FIELD_STRING_PTR("format", CYAML_FLAG_POINTER, ct__yaml, format, 1, TEXT_MAX),
    CYAML_FIELD_INT("version", CYAML_FLAG_DEFAULT, ct__yaml, version),
    LIST("groups", ct__yaml, group, groups, &GROUP, 0, CYAML_UNLIMITED),
    LIST("recordings", ct__yaml, recording, recordings, &RECORDING, 0, CYAML_UNLIMITED),
    SIGMA(ct__yaml),
    LIST("train", ct__yaml, train, trains, &TEXT, 0, CYAML_UNLIMITED),
    LIST("test", ct__yaml, test, tests, &TEXT, 0, CYAML_UNLIMITED),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t ROOT = {CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, ct__yaml, ROOT_FIELDS)};

/* ---- complaints ---- */

typedef struct {
    char cause[256];
    char key[64]; /* of the innermost mapping; "" if unknown */
    int  line;    /* 0: unknown                                      */
    int  placed;
    const cyaml_schema_field_t *fields; /* keys where it is; NULL: those of the file */
} complaint;

/* "  in mapping field 'variance' (line: 5, column: 15)" */
static void take_place(complaint *c, const char *text)
{
    const char *line = strstr(text, "(line: ");
    if (!c->fields) /* from the inside out: the first that has keys of its own */
        c->fields = strstr(text, "'truth_sigma'")  ? SIGMA_FIELDS
                    : strstr(text, "'bias'")       ? BIAS_FIELDS
                    : strstr(text, "'recordings'") ? RECORDING_FIELDS
                    : strstr(text, "'groups'")     ? GROUP_FIELDS
                                                   : NULL;
    if (c->placed) return;
    if (line && !c->line) c->line = atoi(line + strlen("(line: "));
    if (!strstr(text, "in mapping")) return; /* a list entry: the list itself comes next */
    c->placed = 1;
    sscanf(text, "  in mapping field '%63[^']'", c->key);
}

static void take_log(cyaml_log_t level, void *context, const char *fmt, va_list args)
{
    complaint *c = context;
    char       text[256];
    (void)level;
    vsnprintf(text, sizeof text, fmt, args);
    text[strcspn(text, "\n")] = 0;
    if (!strncmp(text, "  in ", 5)) take_place(c, text);
    else if (!c->cause[0] && strcmp(text, "Load: Backtrace:"))
        snprintf(c->cause, sizeof c->cause, "%s", text + (strncmp(text, "Load: ", 6) ? 0 : 6));
}

static void *memory(void *context, void *old, size_t size)
{
    (void)context;
    if (size) return realloc(old, size);
    free(old);
    return NULL;
}

/* The rest of `text` after this prefix, or NULL. */
static const char *after(const char *text, const char *begin)
{
    return strncmp(text, begin, strlen(begin)) ? NULL : text + strlen(begin);
}

/* libcyaml's name of a type in words. */
static const char *thing(const char *theirs)
{
    static const struct {
        const char *theirs, *words;
    } THING[] = {{"SEQUENCE", "a list"}, {"MAPPING", "keys with values"}, {"SCALAR", "a word"}, {"STRING", "a word"},
                 {"INT", "a whole number"}, {"FLOAT", "a number"}, {"ENUM", "a word"}, {"ALIAS", "an alias"}};
    for (size_t i = 0; i < sizeof THING / sizeof *THING; i++)
        if (after(theirs, THING[i].theirs)) return THING[i].words;
    return "something else";
}

/* Keys of dataset.yaml, of its groups and recordings, and of truth_sigma. */
static const char *key_at(const void *fields, int i) { return ((const cyaml_schema_field_t *)fields)[i].key; }

static void describe_no_key(const complaint *c, const char *key, char *out, size_t size)
{
    const char *near = ct_nearest(key, key_at, c->fields ? c->fields : ROOT_FIELDS);
    if (near) snprintf(out, size, "there is no key %s; did you mean %s?", key, near);
    else snprintf(out, size, "there is no key %s", key);
}

#define QUOTE "quote a pattern that begins with *: \"*.ctseq\"" /* which YAML takes for an alias */

/* The cause as a sentence; *keyed is 0 if it contains the key. */
static void describe(const complaint *c, cyaml_err_t code, char *out, size_t size, int *keyed)
{
    char        want[24], found[24];
    const char *rest, *choice = !strcmp(c->key, "kind")      ? "isotropic, diagonal or full"
                                : !strcmp(c->key, "process") ? "constant, random-walk, gauss-markov or oscillation"
                                : !strcmp(c->key, "as")      ? "offset, rate or scale"
                                : !strcmp(c->key, "per")     ? "sensor or target"
                                                             : "true or false";
    *keyed = 1;
    if ((rest = after(c->cause, "Unexpected key: "))) *keyed = 0, describe_no_key(c, rest, out, size);
    else if ((rest = after(c->cause, "Missing required mapping field: ")))
        *keyed = 0, snprintf(out, size, "%s is missing", rest);
    else if ((rest = after(c->cause, "Mapping field already seen: ")))
        *keyed = 0, snprintf(out, size, "%s is there twice", rest);
    else if ((rest = after(c->cause, "Invalid ENUM value: ")))
        snprintf(out, size, "expected %s, found %s", choice, rest);
    else if ((rest = after(c->cause, "Invalid FLOAT value: ")))
        snprintf(out, size, "expected a number, found %s", rest);
    else if ((rest = after(c->cause, "Invalid INT value: ")))
        snprintf(out, size, "expected a whole number, found %s", rest);
    else if (after(c->cause, "STRING length < ")) snprintf(out, size, "expected a word, found nothing");
    else if (sscanf(c->cause, "Expecting %23[^,], got event: %23s", want, found) == 2)
        snprintf(out, size, "expected %s, found %s", thing(want), thing(found));
    else if ((rest = after(c->cause, "libyaml: ")))
        *keyed = 0, snprintf(out, size, "not YAML: %s%s", rest, strstr(rest, "alphabetic") ? "; " QUOTE : "");
    else if ((rest = after(c->cause, "Ignoring documents")))
        *keyed = 0, snprintf(out, size, "a second document begins; there is to be one");
    else if (code == CYAML_ERR_ALIAS)
        snprintf(out, size, "aliases (*name) are not read here; " QUOTE);
    else snprintf(out, size, "%s", c->cause[0] ? c->cause : cyaml_strerror(code));
}

/* libcyaml reports the line before an unknown key. The key's own line is the first from there that starts with it. */
static int line_of_key(const complaint *c, const char *text, size_t size)
{
    const char  *key = after(c->cause, "Unexpected key: "), *end = text + size;
    const size_t length = key ? strlen(key) : 0;
    int          line = 1;
    for (const char *at = text; key && at < end; line++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end;
        while (at < stop && (*at == ' ' || *at == '-' || *at == '{')) at++;
        if (line >= c->line && (size_t)(stop - at) > length && !memcmp(at, key, length)) return line;
        at = stop + 1;
    }
    return c->line;
}

static ct_status complain(const complaint *c, cyaml_err_t code, const char *text, size_t size, const char *path,
                          ct_err *err)
{
    char where[24] = "", sentence[400];
    int  keyed;
    const int silent = !strcmp(c->cause, "libyaml: (null)"); /* the one libyaml error without a text */
    if (code == CYAML_ERR_OOM || code == CYAML_ERR_LIBYAML_PARSER_INIT || silent)
        return ct__no_memory(err, "YAML values", 1);
    describe(c, code, sentence, sizeof sentence, &keyed);
    const int line = line_of_key(c, text, size);
    if (line) snprintf(where, sizeof where, ":%d", line);
    for (char *p = sentence; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f) *p = '?';
    return ct_fail(err, CT_E_PARSE, "%s%s: %s%s%s", path, where, keyed ? c->key : "", keyed && c->key[0] ? ": " : "",
                   sentence);
}

static cyaml_config_t config(complaint *c)
{
    return (cyaml_config_t){.log_fn = take_log,
                            .log_ctx = c,
                            .mem_fn = memory,
                            .log_level = CYAML_LOG_WARNING,
                            .flags = CYAML_CFG_NO_ALIAS};
}

/* ---- the file ---- */

ct_status ct__yaml_parse(const char *text, size_t size, const char *path, ct__yaml **out, ct_err *err)
{
    complaint            c = {0};
    const cyaml_config_t how = config(&c);
    cyaml_data_t        *data = NULL;
    *out = NULL;
    const locale_t before = ct__locale_begin(err);
    if (!before) return CT_E_MEMORY;
    const cyaml_err_t code = cyaml_load_data((const uint8_t *)text, size, &how, &ROOT, &data, NULL);
    ct__locale_end(before);
    if (code == CYAML_OK && data && !c.cause[0]) {
        *out = data;
        (*out)->text = strndup(text, size);
        if ((*out)->text) return CT_OK;
        ct__yaml_free(*out);
        *out = NULL;
        return ct__no_memory(err, "bytes of text", (int64_t)size);
    }
    if (code == CYAML_OK) ct__yaml_free(data);
    if (code == CYAML_OK && !c.cause[0])
        return ct_fail(err, CT_E_PARSE, "%s: there is nothing in it; the first key is to be format: covtune-dataset",
                       path);
    return complain(&c, code, text, size, path, err);
}

void ct__yaml_free(ct__yaml *yaml)
{
    complaint            c = {0};
    const cyaml_config_t how = config(&c);
    if (yaml) ct__names_free(&yaml->index);
    if (yaml) free(yaml->text);
    cyaml_free(&how, &ROOT, yaml, 0);
}
