/* key_path.c: key paths as steps.
 *
 *     YAML, JSON, TOML    key.key[0].'any key'[diagonal]      quotes are doubled within quotes
 *     XML                 a/b[@name='x'][2]/@value[0]         [2] of elements from 1, [0] of numbers in a text from 0
 *     INI                 section.key[0]                      keys may have dots: find_ini.c matches the whole
 *     templates           name, {{name}}
 */
#include "config/config.h"

#include <stdio.h>

typedef struct {
    ct__key_path *path;
    const char *name; /* of the file */
    const char *at;
    int xml, ini;
    ct_err *err;
} parser;

static ct_status bad(const parser *p, const char *rule)
{
    char shown[CT__CONFIG_SHOWN];
    return ct_fail(p->err, CT_E_ARGUMENT, "%s: key path \"%s\": %s (character %d)", p->name,
                   ct__config_shown(p->path->text, strlen(p->path->text), shown), rule,
                   (int)(p->at - p->path->text) + 1);
}

static ct_status add_string(parser *p, const char *text, size_t length, int32_t *out)
{
    ct__text *strings = &p->path->strings;
    *out = (int32_t)strings->used;
    ct__text_bytes(strings, text, length);
    ct__text_bytes(strings, "", 1);
    return strings->failed ? ct__no_memory(p->err, "bytes of a key path", (int64_t)length) : CT_OK;
}

static ct_status add_step(parser *p, ct__step step)
{
    ct__key_path *path = p->path;
    step.end = (int32_t)(p->at - path->text);
    CT_TRY(ct__grow(&path->step, &path->step_capacity, path->steps + 1, sizeof step, "steps of a key path", p->err));
    path->step[path->steps++] = step;
    return CT_OK;
}

static ct_status add_entry(parser *p, int32_t value)
{
    ct__key_path *path = p->path;
    CT_TRY(ct__grow(&path->entry, &path->entry_capacity, path->entries + 1, sizeof value, "entries of a key path",
                    p->err));
    path->entry[path->entries++] = value;
    return CT_OK;
}

static void skip_blanks(parser *p)
{
    while (*p->at == ' ') p->at++;
}

/* A text in quotes; a doubled quote stands for one. */
static ct_status take_quoted(parser *p, int32_t *out)
{
    const char quote = *p->at;
    const char *begin = ++p->at;
    ct__text *strings = &p->path->strings;
    *out = (int32_t)strings->used;
    for (;; p->at++) {
        if (!*p->at) {
            p->at = begin - 1;
            return bad(p, "the quote is not closed");
        }
        if (*p->at != quote) continue;
        ct__text_bytes(strings, begin, (size_t)(p->at - begin));
        if (p->at[1] != quote) break;
        begin = ++p->at;
    }
    p->at++;
    ct__text_bytes(strings, "", 1);
    return strings->failed ? ct__no_memory(p->err, "bytes of a key path", 1) : CT_OK;
}

/* A key up to one of the characters that end it. */
static ct_status take_key(parser *p)
{
    ct__step step = {.kind = CT__STEP_KEY, .begin = (int32_t)(p->at - p->path->text)};
    if (!p->xml && (*p->at == '\'' || *p->at == '"')) {
        CT_TRY(take_quoted(p, &step.name));
        if (*p->at && *p->at != '.' && *p->at != '[') return bad(p, "after a quoted key come . or [");
        return add_step(p, step);
    }
    const size_t length = strcspn(p->at, p->xml ? "/[]" : ".[]");
    if (!length) return bad(p, "a key is missing; a key with other characters is in quotes");
    CT_TRY(add_string(p, p->at, length, &step.name));
    p->at += length;
    return add_step(p, step);
}

static ct_status take_number(parser *p, int32_t *value)
{
    int64_t v = 0;
    if (*p->at < '0' || *p->at > '9') return bad(p, "within [] are entries such as 0 or 0, 7, 14, or diagonal, or all");
    for (; *p->at >= '0' && *p->at <= '9'; p->at++)
        if (v < INT32_MAX) v = v * 10 + (*p->at - '0');
    if (v > INT32_MAX) return bad(p, "an entry is too large");
    *value = (int32_t)v;
    return CT_OK;
}

static ct_status take_entries(parser *p, ct__step *step)
{
    int32_t value = 0;
    step->kind = CT__STEP_ENTRIES;
    step->entry = (int32_t)p->path->entries;
    for (;;) {
        CT_TRY(take_number(p, &value));
        for (int32_t i = 0; i < step->count; i++)
            if (p->path->entry[step->entry + i] == value) return bad(p, "an entry is there twice");
        CT_TRY(add_entry(p, value));
        step->count++;
        skip_blanks(p);
        if (*p->at != ',') return CT_OK;
        p->at++;
        skip_blanks(p);
    }
}

static ct_status take_attribute(parser *p, ct__step *step)
{
    const size_t length = strcspn(p->at, "=]/[ ");
    step->kind = CT__STEP_ATTRIBUTE;
    CT_TRY(add_string(p, p->at, length, &step->name));
    p->at += length;
    skip_blanks(p);
    if (length < 2 || *p->at != '=') return bad(p, "an attribute is tested as [@name='value']");
    p->at++;
    skip_blanks(p);
    if (*p->at != '\'' && *p->at != '"') return bad(p, "the value of an attribute is in quotes: [@name='value']");
    return take_quoted(p, &step->value);
}

static int word(parser *p, const char *text)
{
    const size_t n = strlen(text);
    if (strncmp(p->at, text, n) || (p->at[n] != ']' && p->at[n] != ' ')) return 0;
    p->at += n;
    return 1;
}

static ct_status take_brackets(parser *p)
{
    ct__step step = {.begin = (int32_t)(p->at - p->path->text)};
    const ct__step *before = p->path->steps ? &p->path->step[p->path->steps - 1] : NULL;
    const char *key = before && before->kind == CT__STEP_KEY ? ct__key_path_name(p->path, before) : "";
    /* of XML, brackets after an attribute or text() are of its numbers, others of elements */
    const int of_text = *key == '@' || !strcmp(key, "text()");
    p->at++;
    skip_blanks(p);
    if (p->xml && *p->at == '@')
        CT_TRY(take_attribute(p, &step));
    else if (word(p, "diagonal"))
        step.kind = CT__STEP_DIAGONAL;
    else if (word(p, "all"))
        step.kind = CT__STEP_ALL;
    else {
        CT_TRY(take_entries(p, &step));
        if (p->xml && !of_text && step.count == 1) step.kind = CT__STEP_POSITION;
        if (step.kind == CT__STEP_POSITION && p->path->entry[step.entry] == 0)
            return bad(p, "elements count from 1; the first number of a text is text()[0]");
    }
    skip_blanks(p);
    if (*p->at != ']') return bad(p, "the ] is missing");
    p->at++;
    return add_step(p, step);
}

/* "section.key" whole, up to brackets at the end; quoted keys are steps of their own. */
static ct_status take_ini(parser *p)
{
    const char *text = p->path->text;
    if (*text == '\'' || *text == '"') {
        CT_TRY(take_key(p));
        if (*p->at != '.') return CT_OK;
        p->at++;
        return take_key(p);
    }
    size_t length = strlen(text);
    if (length && text[length - 1] == ']') {
        size_t open = length - 1;
        while (open && text[open] != '[') open--;
        const char *in = text + open + 1;
        if (text[open] == '[' &&
            (strspn(in, "0123456789, ") == strlen(in) - 1 || !strcmp(in, "all]") || !strcmp(in, "diagonal]")))
            length = open;
    }
    ct__step step = {.kind = CT__STEP_KEY};
    if (!length) return bad(p, "a key is missing");
    CT_TRY(add_string(p, text, length, &step.name));
    p->at += length;
    return add_step(p, step);
}

static ct_status take_template(parser *p)
{
    const char *text = p->path->text;
    size_t begin, end, name[2], length = strlen(text);
    ct__step step = {.kind = CT__STEP_KEY};
    const int braces = ct__config_next_placeholder(text, length, 0, &begin, &end, name) == 1 && !begin && end == length;
    if (!length) return bad(p, "the name of a placeholder is missing");
    CT_TRY(add_string(p, braces ? text + name[0] : text, braces ? name[1] - name[0] : length, &step.name));
    p->at += length;
    return add_step(p, step);
}

static ct_status take_all(parser *p)
{
    if (p->ini) CT_TRY(take_ini(p));
    if (p->xml && *p->at == '/') p->at++;
    if (!p->ini && (*p->at != '[' || p->xml)) CT_TRY(take_key(p));
    while (*p->at) {
        if (*p->at == '[')
            CT_TRY(take_brackets(p));
        else if (*p->at == (p->xml ? '/' : '.') && !p->ini) {
            p->at++;
            CT_TRY(take_key(p));
        } else
            return bad(p, p->ini   ? "after a key comes ["
                          : p->xml ? "after a step come / or ["
                                   : "after a step come . or [");
    }
    return CT_OK;
}

ct_status ct__key_path_parse(const char *text, ct_config_format format, const char *name, ct__key_path *out,
                             ct_err *err)
{
    parser p = {.path = out, .name = name, .at = text, .err = err};
    *out = (ct__key_path){.text = text};
    p.xml = format == CT_CONFIG_XML;
    p.ini = format == CT_CONFIG_INI;
    if (strlen(text) > CT__CONFIG_PATH)
        return ct_fail(err, CT_E_ARGUMENT, "%s: a key path has at most %d bytes, found %zu", name, CT__CONFIG_PATH,
                       strlen(text));
    return format == CT_CONFIG_TEMPLATE ? take_template(&p) : take_all(&p);
}

void ct__key_path_free(ct__key_path *path)
{
    ct__text_free(&path->strings);
    free(path->step);
    free(path->entry);
    *path = (ct__key_path){0};
}

const char *ct__key_path_name(const ct__key_path *path, const ct__step *step)
{
    return path->strings.bytes + step->name;
}
