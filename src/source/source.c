/* source.c: what all sources have in common: selected values, conditions, stamps and counts.
 *
 * A reader gives records as slots of values (source.h). Here they become what the caller asked for: each expression is
 * compiled against the reader's fields when it is selected, and runs on every record. */
#define _POSIX_C_SOURCE 200809L
#include "source/expression.h"

#include <math.h>
#include <stdio.h>

typedef struct {
    int32_t slot; /* -1: a constant, which is in text */
    char *text;
    int64_t capacity;
} text_column;

struct ct_source {
    char *path;
    const ct__reader_ops *ops;
    void *reader;
    char **constant; /* pairs */
    int32_t constants;
    int32_t fields;

    ct__expression *where; /* NULL: all records         */
    ct__expression *time;  /* NULL: the slot below      */
    int32_t stamp;         /* -1: records are numbered  */
    int stamp_digits;

    ct__expression **column;
    double *value;
    int64_t columns, column_capacity, value_capacity;
    text_column *text;
    const char **text_value;
    int64_t texts, text_capacity, text_value_capacity;

    int begun, ended;
    ct_source_counts count;
    int64_t record; /* read, with those left out */
};

ct_source_options ct_source_defaults(void) { return (ct_source_options){.format = CT_SOURCE_AUTO, .header = -1}; }

/* ---- names ---- */

static const char *name_at(const void *user, int i)
{
    const ct_source *s = user;
    const ct_source_field *field = s->ops->field(s->reader, i);
    return field ? field->name : NULL;
}

/* Up to five names of fields, for a message. */
static void list_names(const ct_source *s, char *buf, size_t size)
{
    size_t used = 0;
    snprintf(buf, size, "nothing");
    for (int32_t i = 0; i < CT_MIN(s->fields, 5) && used < size; i++) {
        const char *name = name_at(s, i);
        const int n = snprintf(buf + used, size - used, "%s%.40s", i == 0 ? "" : ", ", name ? name : "");
        used += (size_t)CT_MAX(n, 0);
    }
    if (s->fields > 5 && used < size) snprintf(buf + used, size - used, ", ...");
}

/* Can it stand in an expression without backquotes? */
static int is_plain(const char *name)
{
    const ct__token token = ct__token_at(name, 0, 1);
    if (!strcmp(name, "in") || !strcmp(name, "and") || !strcmp(name, "or") || !strcmp(name, "not")) return 0;
    return token.kind == CT__TOKEN_NAME && token.begin == 0 && !name[token.end];
}

static ct_status no_field(const ct_source *s, const char *name, ct_err *err)
{
    char list[240];
    const char *nearest = ct_nearest(name, name_at, s);
    if (nearest && !is_plain(nearest))
        return ct_fail(err, CT_E_ARGUMENT, "%s: there is no \"%.80s\"; is it `%.80s`, written with these backquotes?",
                       s->path, name, nearest);
    if (nearest)
        return ct_fail(err, CT_E_ARGUMENT, "%s: there is no \"%.80s\"; is it \"%.80s\"?", s->path, name, nearest);
    list_names(s, list, sizeof list);
    return ct_fail(err, CT_E_ARGUMENT, "%s: there is no \"%.80s\"; there is %s", s->path, name, list);
}

static ct_status scope_bind(void *user, const char *name, ct__as as, int32_t *slot, ct_err *err)
{
    ct_source *s = user;
    if (as == CT__AS_NUMBER && s->ops->typed && s->ops->is_text(s->reader, name))
        return ct_fail(err, CT_E_ARGUMENT, "%s: \"%.80s\" is text: it can only be compared (== or !=)", s->path, name);
    CT_TRY(s->ops->bind(s->reader, name, as, slot, err));
    return *slot < 0 ? no_field(s, name, err) : CT_OK;
}

static int scope_is_text(void *user, const char *name)
{
    const ct_source *s = user;
    return s->ops->is_text(s->reader, name);
}

static int has_field(const ct_source *s, const char *name)
{
    for (int32_t i = 0; i < s->fields; i++)
        if (!strcmp(name_at(s, i), name)) return 1;
    return 0;
}

static ct_status scope_constant(void *user, const char *name, const char **value, ct_err *err)
{
    const ct_source *s = user;
    *value = NULL;
    for (int32_t i = 0; i < s->constants && !*value; i++)
        if (!strcmp(s->constant[2 * i], name)) *value = s->constant[2 * i + 1];
    if (*value && has_field(s, name))
        return ct_fail(err, CT_E_ARGUMENT,
                       "\"%.80s\" is a constant and also a field of %s: give the constant another name", name, s->path);
    return CT_OK;
}

static int knows(const ct_source *s, const char *name)
{
    return s->ops->knows ? s->ops->knows(s->reader, name) : has_field(s, name);
}

/* "forward velocity" and "forward velocity in km/h" are written without backquotes where that is the name of a field:
 * *text <- the expression with them, for the caller to free; NULL: it has another form. */
static ct_status quote_name(const ct_source *s, const char *expression, char **text, ct_err *err)
{
    *text = NULL;
    const size_t length = strlen(expression);
    if (is_plain(expression) || strchr(expression, '`') || length > CT__EXPRESSION_MAX) return CT_OK;
    const char *in = NULL;
    for (const char *next = expression; (next = strstr(next, " in ")); next++) in = next;
    char *copy = malloc(length + 3);
    if (!copy) return ct__no_memory(err, "characters of an expression", (int64_t)length);
    for (int cut = 0; cut < 1 + (in != NULL) && !*text; cut++) {
        const size_t n = cut ? (size_t)(in - expression) : length;
        memcpy(copy + 1, expression, n);
        copy[1 + n] = 0;
        if (is_plain(copy + 1) || !knows(s, copy + 1)) continue;
        copy[0] = '`';
        copy[1 + n] = '`';
        strcpy(copy + 2 + n, expression + n);
        *text = copy;
    }
    if (!*text) free(copy);
    return CT_OK;
}

static ct__scope scope_of(ct_source *s)
{
    return (ct__scope){.user = s, .bind = scope_bind, .is_text = scope_is_text, .constant = scope_constant};
}

/* ct__expression_new, with names of several words. */
static ct_status compile(ct_source *s, const char *expression, ct__expression **out, ct_err *err)
{
    const ct__scope scope = scope_of(s);
    char *quoted;
    CT_TRY(quote_name(s, expression, &quoted, err));
    const ct_status status = ct__expression_new(quoted ? quoted : expression, &scope, out, err);
    free(quoted);
    return status;
}

/* ---- opening ---- */

static ct_status copy_constants(ct_source *s, const ct_source_options *options, ct_err *err)
{
    s->constant = ct__zalloc(2 * (int64_t)options->constants, sizeof *s->constant);
    if (!s->constant) return ct__no_memory(err, "constants", options->constants);
    s->constants = options->constants;
    for (int32_t i = 0; i < 2 * options->constants; i++)
        if (!(s->constant[i] = ct__strdup(options->constant[i] ? options->constant[i] : "")))
            return ct__no_memory(err, "constants", options->constants);
    return CT_OK;
}

static ct_status compile_stamp(ct_source *s, const char *time, ct_err *err)
{
    char *name;
    const char *constant = NULL;
    if (!time) return s->ops->bind_stamp(s->reader, &s->stamp, &s->stamp_digits, err);
    char *quoted;
    CT_TRY(quote_name(s, time, &quoted, err));
    ct_status status = ct__expression_stamp(quoted ? quoted : time, &name, &s->stamp_digits, err);
    free(quoted);
    if (status == CT_OK && name) status = scope_constant(s, name, &constant, err);
    if (status == CT_OK && name && !constant)
        status = scope_bind(s, name, CT__AS_STAMP, &s->stamp, err);
    else if (status == CT_OK)
        status = compile(s, time, &s->time, err);
    free(name);
    return status;
}

static ct_status set_up(ct_source *s, const ct_source_options *options, ct_err *err)
{
    const ct__scope scope = scope_of(s);
    while (s->ops->field(s->reader, s->fields)) s->fields++;
    CT_TRY(copy_constants(s, options, err));
    if (options->where && options->where[0]) CT_TRY(ct__expression_new(options->where, &scope, &s->where, err));
    if (s->ops->bind_rest) s->ops->bind_rest(s->reader);
    return compile_stamp(s, options->time, err);
}

static ct_status open_reader(ct_source *s, const ct_source_options *options, ct_err *err)
{
    ct_source_format format = options->format;
    if (format == CT_SOURCE_AUTO) {
        CT_TRY(ct__source_detect(s->path, &format, err));
        /* who describes the columns means a table */
        if (format <= CT_SOURCE_G2O && (options->columns > 0 || options->separator)) format = CT_SOURCE_TABLE;
    }
    if (format < 0 || format >= CT_SOURCE_FORMAT_COUNT)
        return ct_fail(err, CT_E_ARGUMENT, "%s: format %d is none of the %d", s->path, (int)format,
                       CT_SOURCE_FORMAT_COUNT);
    s->ops = ct__reader_table[format];
    if (!s->ops)
        return ct_fail(err, CT_E_UNSUPPORTED, "%s: this build has no reader of format %s", s->path,
                       ct_source_format_name(format));
    return s->ops->open(s->path, format, options, &s->reader, err);
}

ct_status ct_source_open(const char *path, const ct_source_options *options, ct_source **out, ct_err *err)
{
    const ct_source_options defaults = ct_source_defaults();
    if (!options) options = &defaults;
    *out = NULL;
    if (options->constants < 0 || options->columns < 0 || options->missings < 0 || options->skip < 0)
        return ct_fail(err, CT_E_ARGUMENT, "%s: a count in the options of a source is negative", path);
    ct_source *s = ct__zalloc(1, sizeof *s);
    if (!s || !(s->path = ct__strdup(path))) {
        free(s);
        return ct__no_memory(err, "source", 1);
    }
    s->stamp = -1;
    ct_status status = open_reader(s, options, err);
    if (status == CT_OK) status = set_up(s, options, err);
    if (status == CT_OK)
        *out = s;
    else
        ct_source_free(s);
    return status;
}

void ct_source_free(ct_source *s)
{
    if (!s) return;
    for (int64_t i = 0; i < s->columns; i++) ct__expression_free(s->column[i]);
    for (int64_t i = 0; i < s->texts; i++) free(s->text[i].text);
    for (int32_t i = 0; i < 2 * s->constants; i++) free(s->constant[i]);
    ct__expression_free(s->where);
    ct__expression_free(s->time);
    if (s->ops && s->reader) s->ops->free(s->reader);
    free(s->column);
    free(s->value);
    free(s->text);
    free(s->text_value);
    free(s->constant);
    free(s->path);
    free(s);
}

/* ---- selecting ---- */

static ct_status not_begun(const ct_source *s, ct_err *err)
{
    if (!s->begun) return CT_OK;
    return ct_fail(err, CT_E_ARGUMENT, "%s: values are selected before the first record is read", s->path);
}

/* "file: " before a sentence that is about an expression. */
static ct_status with_path(const ct_source *s, ct_status status, ct_err *err)
{
    if (status != CT_E_ARGUMENT || !err || !strncmp(err->text, s->path, strlen(s->path))) return status;
    char text[sizeof err->text];
    memcpy(text, err->text, sizeof text);
    return ct_fail(err, status, "%s: %s", s->path, text);
}

ct_status ct_source_select(ct_source *s, const char *expression, int32_t *index, ct_err *err)
{
    CT_TRY(not_begun(s, err));
    CT_TRY(ct__grow(&s->column, &s->column_capacity, s->columns + 1, sizeof *s->column, "values", err));
    CT_TRY(ct__grow(&s->value, &s->value_capacity, s->columns + 1, sizeof *s->value, "values", err));
    CT_TRY(with_path(s, compile(s, expression, &s->column[s->columns], err), err));
    *index = (int32_t)s->columns++;
    return CT_OK;
}

/* A field or a constant as text. */
static ct_status bind_text(ct_source *s, const char *name, text_column *column, ct_err *err)
{
    const char *constant;
    CT_TRY(scope_constant(s, name, &constant, err));
    CT_TRY(ct__grow(&column->text, &column->capacity, constant ? (int64_t)strlen(constant) + 64 : 64, 1, "characters",
                    err));
    column->slot = -1;
    if (!constant) return scope_bind(s, name, CT__AS_TEXT, &column->slot, err);
    const ct__value value = {.kind = CT__VALUE_TEXT, .length = (int32_t)strlen(constant), .text = constant};
    ct__value_text(&value, column->text, (size_t)column->capacity);
    return CT_OK;
}

ct_status ct_source_select_text(ct_source *s, const char *name, int32_t *index, ct_err *err)
{
    text_column column = {0};
    const size_t length = strlen(name);
    const int quoted = length > 2 && name[0] == '`' && name[length - 1] == '`';
    CT_TRY(not_begun(s, err));
    CT_TRY(ct__grow(&s->text, &s->text_capacity, s->texts + 1, sizeof *s->text, "texts", err));
    CT_TRY(ct__grow(&s->text_value, &s->text_value_capacity, s->texts + 1, sizeof *s->text_value, "texts", err));
    char *plain = ct__strdup(name + quoted);
    if (!plain) return ct__no_memory(err, "characters of a name", (int64_t)length);
    if (quoted) plain[length - 2] = 0;
    const ct_status status = bind_text(s, plain, &column, err);
    free(plain);
    if (status != CT_OK) {
        free(column.text);
        return status;
    }
    s->text[s->texts] = column;
    *index = (int32_t)s->texts++;
    return CT_OK;
}

/* ---- records ---- */

/* "file:line: " before a sentence about a value of the record. */
static ct_status at_record(const ct_source *s, ct_status status, ct_err *err)
{
    if (status == CT_OK || status == CT_E_MEMORY || !err) return status;
    char text[sizeof err->text], where[sizeof err->text];
    memcpy(text, err->text, sizeof text);
    s->ops->where(s->reader, where, sizeof where);
    return ct_fail(err, status, "%s: %s", where, text);
}

static ct_status stamp_of(ct_source *s, const ct__value *value, ct_ns *stamp, int *found, ct_err *err)
{
    *found = 1;
    if (s->time) {
        double hi, lo;
        CT_TRY(ct__expression_seconds(s->time, value, &hi, &lo, err));
        return ct__stamp_of_seconds(hi, lo, stamp, found, err);
    }
    if (s->stamp >= 0) return ct__stamp_of(&value[s->stamp], s->stamp_digits, stamp, found, err);
    *stamp = (s->record - 1) * INT64_C(1000000000);
    return CT_OK;
}

static ct_status fill_texts(ct_source *s, const ct__value *value, ct_err *err)
{
    for (int64_t i = 0; i < s->texts; i++) {
        text_column *t = &s->text[i];
        s->text_value[i] = t->text;
        if (t->slot < 0) continue;
        const size_t length = ct__value_text(&value[t->slot], t->text, (size_t)t->capacity);
        if ((int64_t)length >= t->capacity) {
            CT_TRY(ct__grow(&t->text, &t->capacity, (int64_t)length + 1, 1, "characters", err));
            ct__value_text(&value[t->slot], t->text, (size_t)t->capacity);
        }
        s->text_value[i] = t->text;
    }
    return CT_OK;
}

/* *wanted <- 0: left out by `where`. */
static ct_status meets_condition(ct_source *s, const ct__value *value, int *wanted, ct_err *err)
{
    double condition = 1;
    if (s->where) CT_TRY(ct__expression_value(s->where, value, &condition, err));
    *wanted = condition != 0 && !isnan(condition);
    s->count.left_out += !*wanted;
    return CT_OK;
}

/* *wanted <- 0: it has no stamp. */
static ct_status convert(ct_source *s, const ct__value *value, ct_record *record, int *wanted, ct_err *err)
{
    CT_TRY(stamp_of(s, value, &record->stamp, wanted, err));
    if (!*wanted) return s->count.no_stamp++, CT_OK;
    for (int64_t i = 0; i < s->columns; i++) CT_TRY(ct__expression_value(s->column[i], value, &s->value[i], err));
    return fill_texts(s, value, err);
}

/* Was a record refused because the file was cut short within it, as a table whose recorder lost power? What is before
 * it is used. A file that has nothing else is no such file. */
static int is_cut(ct_source *s, ct_status status, ct_err *err)
{
    if (status != CT_E_PARSE || s->count.records == 0 || !s->ops->cut || !s->ops->cut(s->reader)) return 0;
    *err = (ct_err){0};
    return 1;
}

ct_status ct_source_next(ct_source *s, ct_record *record, int *more, ct_err *err)
{
    s->begun = 1;
    *more = 0;
    *record = (ct_record){.value = s->value, .text = s->text_value};
    while (!s->ended) {
        const ct__value *value;
        int wanted = 0;
        ct_status status = s->ops->next(s->reader, &value, &record->line, &wanted, err);
        if (is_cut(s, status, err)) wanted = 0, status = CT_OK;
        CT_TRY(status);
        if (!wanted) {
            s->ended = 1;
            break;
        }
        s->record++;
        CT_TRY(at_record(s, meets_condition(s, value, &wanted, err), err));
        if (!wanted) continue;
        if (s->ops->complete) status = s->ops->complete(s->reader, err);
        if (is_cut(s, status, err)) {
            s->ended = 1;
            break;
        }
        CT_TRY(status);
        CT_TRY(at_record(s, convert(s, value, record, &wanted, err), err));
        if (!wanted) continue;
        s->count.records++;
        *more = 1;
        break;
    }
    return CT_OK;
}

/* ---- looking ---- */

ct_source_counts ct_source_count(const ct_source *s)
{
    ct_source_counts count = s->count;
    s->ops->progress(s->reader, &count.bytes, &count.size);
    if (s->ops->damaged) count.damaged = s->ops->damaged(s->reader);
    return count;
}

void ct__source_selected(const ct_source *s, int64_t *values, int64_t *texts)
{
    *values = s->columns;
    *texts = s->texts;
}

const ct_source_counts *ct__source_counted(const ct_source *s) { return &s->count; }

int ct_source_timed(const ct_source *s) { return s->time || s->stamp >= 0; }

const char *ct_source_where(const ct_source *s, char *buf, size_t size)
{
    s->ops->where(s->reader, buf, size);
    return buf;
}

int32_t ct_source_fields(const ct_source *s) { return s->fields; }

const ct_source_field *ct_source_field_at(const ct_source *s, int32_t i)
{
    return i < 0 || i >= s->fields ? NULL : s->ops->field(s->reader, i);
}
