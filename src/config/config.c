/* config.c: a configuration file read, its places found and told. */
#include "config/config.h"

#include <stdio.h>

static const char *const NAME[] = {
#define X(constant, name, description) name,
    CT_CONFIG_FORMAT_LIST(X)
#undef X
};

const char *ct_config_format_name(ct_config_format format)
{
    return ct__name_at(NAME, CT_CONFIG_FORMAT_COUNT, (int)format);
}

int ct_config_format_find(const char *name) { return ct__find_name(name, NAME, CT_CONFIG_FORMAT_COUNT); }

ct_config_format ct_config_format_of(const ct_config *config) { return config->format; }

/* ---- reading ---- */

void ct_config_free(ct_config *config)
{
    if (!config) return;
    for (int64_t i = 0; i < config->places; i++) free(config->place[i].text);
    free(config->name);
    free(config->text);
    free(config->line);
    free(config->node);
    ct__text_free(&config->strings);
    ct__names_free(&config->placeholders);
    ct__names_free(&config->paths);
    free(config->range);
    free(config->place);
    free(config);
}

/* Lines end with LF, CR LF or CR. */
static ct_status find_lines(ct_config *c, ct_err *err)
{
    const size_t size = c->size;
    size_t at = 0;
    do {
        CT_TRY(ct__grow(&c->line, &c->line_capacity, c->lines + 1, sizeof *c->line, "lines of a configuration", err));
        c->line[c->lines++] = (int32_t)at;
        while (at < size && c->text[at] != '\n' && c->text[at] != '\r') at++;
        if (at + 1 < size && c->text[at] == '\r' && c->text[at + 1] == '\n') at++;
    } while (++at < size);
    return CT_OK;
}

static ct_status choose_format(ct_config *c, ct_config_format format, ct_err *err)
{
    if (format == CT_CONFIG_AUTO) {
        const int found = ct__config_detect(c->name, c->text, c->size);
        if (found < 0)
            return ct_fail(
                err, CT_E_PARSE,
                "%s: its format cannot be told by {{name}}, ending or content; say which: template, yaml, json, "
                "toml, ini or xml",
                c->name);
        format = (ct_config_format)found;
    }
    c->format = format;
    const unsigned char *text = (const unsigned char *)c->text;
    if (c->size >= 2 && ((text[0] == 0xff && text[1] == 0xfe) || (text[0] == 0xfe && text[1] == 0xff)))
        return ct_fail(err, CT_E_PARSE, "%s:1: it is in UTF-16; save it in UTF-8", c->name);
    c->start = c->size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
    return CT_OK;
}

static ct_status read_all(ct_config *c, ct_config_format format, ct_err *err)
{
    CT_TRY(find_lines(c, err));
    CT_TRY(choose_format(c, format, err));
    switch (c->format) {
    case CT_CONFIG_TEMPLATE: return ct__config_read_template(c, err);
    case CT_CONFIG_YAML: return ct__config_read_yaml(c, err);
    case CT_CONFIG_INI: return ct__config_read_ini(c, err);
    case CT_CONFIG_JSON: return ct__config_read_json(c, err);
    case CT_CONFIG_TOML: return ct__config_read_toml(c, err);
    default: return ct__config_read_xml(c, err);
    }
}

ct_status ct_config_parse(const char *text, size_t size, const char *name, ct_config_format format, ct_config **out,
                          ct_err *err)
{
    *out = NULL;
    if ((unsigned)format > CT_CONFIG_AUTO || format == CT_CONFIG_FORMAT_COUNT)
        return ct_fail(err, CT_E_ARGUMENT, "%s: there is no format %d of configuration files", name, (int)format);
    if (size > CT__CONFIG_BYTES)
        return ct_fail(err, CT_E_LIMIT, "%s: a configuration file has at most %d bytes, found %zu", name,
                       CT__CONFIG_BYTES, size);
    ct_config *c = ct__zalloc(1, sizeof *c);
    if (!c) return ct__no_memory(err, "configurations", 1);
    c->size = size;
    c->name = ct__strdup(name);
    c->text = ct__zalloc((int64_t)size + 1, 1);
    ct_status status = c->name && c->text ? CT_OK : ct__no_memory(err, "bytes of a configuration", (int64_t)size);
    if (status == CT_OK) {
        if (size) memcpy(c->text, text, size);
        status = read_all(c, format, err);
    }
    if (status == CT_OK)
        *out = c;
    else
        ct_config_free(c);
    return status;
}

static ct_status read_bytes(const char *path, ct__text *text, ct_err *err)
{
    char bytes[8192];
    FILE *file = fopen(path, "rb");
    if (!file) return ct_fail(err, ct__io_status(), "%s: %s", path, strerror(errno));
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, file)) > 0 && text->used <= CT__CONFIG_BYTES;)
        ct__text_bytes(text, bytes, n);
    const int failed = ferror(file), number = errno;
    fclose(file);
    if (failed) return ct_fail(err, CT_E_IO, "%s: %s", path, strerror(number));
    return text->failed ? ct__no_memory(err, "bytes of a configuration", text->used) : CT_OK;
}

ct_status ct_config_read(const char *path, ct_config_format format, ct_config **out, ct_err *err)
{
    ct__text text = {0};
    *out = NULL;
    ct_status status = read_bytes(path, &text, err);
    if (status == CT_OK) status = ct_config_parse(text.bytes, (size_t)text.used, path, format, out, err);
    ct__text_free(&text);
    return status;
}

/* ---- places ---- */

static ct_status refuse(const ct_config *c, const char *key, int32_t node, ct_err *err, const char *sentence)
{
    char shown[CT__CONFIG_SHOWN];
    return ct_fail(err, CT_E_ARGUMENT, "%s:%d: %s %s", c->name, ct__config_line(c, c->node[node].begin),
                   ct__config_shown(key, strlen(key), shown), sentence);
}

/* A node that has no text of its own. */
static ct_status refuse_container(const ct_config *c, const char *key, int32_t node, ct_err *err)
{
    const ct__config_node *n = &c->node[node];
    char sentence[160];
    if (n->type == CT__CONFIG_ALIAS) {
        snprintf(sentence, sizeof sentence,
                 "is an alias of the value in line %d; write a number here, or make the file a template with {{name}}",
                 ct__config_line(c, c->node[n->shared].begin));
        return refuse(c, key, node, err, sentence);
    }
    if (n->type == CT__CONFIG_MAP)
        return refuse(c, key, node, err,
                      c->format == CT_CONFIG_XML ? "has no text; an attribute is /@name"
                                                 : "has keys of its own; go on with .key");
    if (!n->count) return refuse(c, key, node, err, "has no value; write a number there first");
    snprintf(sentence, sizeof sentence,
             "has %d entries; say which, numbered from 0: %s[0], [0, 1], [diagonal] or [all]", n->count,
             c->format == CT_CONFIG_XML && *ct__config_key(c, node) == 't' ? "/text()" : "");
    return refuse(c, key, node, err, sentence);
}

/* The scalar of a node, if its text is a number of its own. */
static ct_status check_node(const ct_config *c, const char *key, int32_t *node, ct_err *err)
{
    char sentence[200], shown[CT__CONFIG_SHOWN];
    double value;
    *node = ct__config_value_of(c, *node);
    if (c->node[*node].split && c->node[*node].count == 1) *node = c->node[*node].first;
    const ct__config_node *n = &c->node[*node];
    const size_t length = (size_t)(n->end - n->begin);
    if (n->type != CT__CONFIG_SCALAR) return refuse_container(c, key, *node, err);
    for (int32_t a = *node; a >= 0 && c->format == CT_CONFIG_YAML; a = c->node[a].parent)
        if (c->node[a].type != CT__CONFIG_ALIAS && c->node[a].shared > 0)
            return refuse(c, key, a, err,
                          "has an anchor (&) that an alias (*) uses: a change here would change that too; "
                          "write the number at both, or make the file a template with {{name}}");
    if (c->format == CT_CONFIG_TEMPLATE) return CT_OK;
    if (!length && !n->fixed) return refuse(c, key, *node, err, "has no value; write a number there first");
    if (!n->fixed && ct__config_is_number(c->format, c->text + n->begin, length, &value)) return CT_OK;
    snprintf(sentence, sizeof sentence, "is \"%s\", no decimal number; write one there first",
             ct__config_shown(c->text + n->begin, length, shown));
    return refuse(c, key, *node, err, sentence);
}

static ct_status add_place(ct_config *c, int32_t node, ct_err *err)
{
    const ct__config_node *n = &c->node[node];
    const int64_t length = n->end - n->begin;
    CT_TRY(ct__grow(&c->place, &c->place_capacity, c->places + 1, sizeof *c->place, "places", err));
    char *text = ct__zalloc(length + 1, 1);
    if (!text) return ct__no_memory(err, "bytes of a place", length);
    memcpy(text, c->text + n->begin, (size_t)length);
    c->place[c->places++] = (ct__config_place){.node = node, .text = text};
    return CT_OK;
}

static ct_status add_places(ct_config *c, const char *key, const ct__config_set *set, ct_err *err)
{
    const int64_t first = c->places;
    ct_status status = ct__grow(&c->range, &c->range_capacity, c->paths.count + 1, sizeof *c->range, "key paths", err);
    for (int64_t i = 0; status == CT_OK && i < set->count; i++) {
        int32_t node = set->node[i];
        status = check_node(c, key, &node, err);
        if (status == CT_OK && c->places >= INT32_MAX)
            status = ct_fail(err, CT_E_LIMIT, "%s: too many places", c->name);
        if (status == CT_OK) status = add_place(c, node, err);
    }
    if (status == CT_OK) status = ct__names_add(&c->paths, key, err);
    if (status == CT_OK) {
        c->range[c->paths.count - 1] =
            (ct__config_range){.first = (int32_t)first, .count = (int32_t)(c->places - first)};
        return CT_OK;
    }
    while (c->places > first) free(c->place[--c->places].text);
    return status;
}

ct_status ct_config_find(ct_config *config, const char *key, int32_t *first, int32_t *count, ct_err *err)
{
    ct__key_path path = {0};
    ct__config_set set = {0};
    int32_t known = ct__names_find(&config->paths, key);
    *first = *count = 0;
    if (known < 0) {
        ct_status status = ct__key_path_parse(key, config->format, config->name, &path, err);
        if (status == CT_OK) status = ct__config_follow(config, &path, &set, err);
        if (status == CT_OK) status = add_places(config, key, &set, err);
        ct__key_path_free(&path);
        free(set.node);
        CT_TRY(status);
        known = (int32_t)config->paths.count - 1;
    }
    *first = config->range[known].first;
    *count = config->range[known].count;
    return CT_OK;
}

const char *ct_config_placeholder(const ct_config *config, int32_t i)
{
    return i >= 0 && i < config->placeholders.count ? ct__names_get(&config->placeholders, i) : NULL;
}

const char *ct_config_text(const ct_config *config, int32_t place, int *line)
{
    const int there = place >= 0 && place < config->places;
    if (line) *line = there ? ct__config_line(config, config->node[config->place[place].node].begin) : 0;
    return there ? config->place[place].text : NULL;
}

ct_status ct_config_number(const ct_config *config, int32_t place, double *value, ct_err *err)
{
    char shown[CT__CONFIG_SHOWN];
    int line;
    const char *text = ct_config_text(config, place, &line);
    *value = 0;
    if (!text) return ct_fail(err, CT_E_ARGUMENT, "%s: there is no place %d", config->name, place);
    if (ct__config_is_number(config->format, text, strlen(text), value)) return CT_OK;
    *value = 0;
    return ct_fail(err, CT_E_PARSE, "%s:%d: \"%s\" is no number", config->name, line,
                   ct__config_shown(text, strlen(text), shown));
}
