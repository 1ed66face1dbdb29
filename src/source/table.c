/* table.c: the reader of tables: opening, columns by name, slots. */
#include "source/decimal.h"
#include "source/table.h"

#include <math.h>
#include <stdio.h>

/* ---- opening ---- */

static ct_status copy_missing(ct__table *t, const ct_source_options *options, ct_err *err)
{
    t->missing = ct__zalloc(options->missings, sizeof *t->missing);
    t->missing_number = ct__zalloc(options->missings, sizeof *t->missing_number);
    if (!t->missing || !t->missing_number) return ct__no_memory(err, "words", options->missings);
    t->missings = options->missings;
    for (int32_t i = 0; i < t->missings; i++) {
        if (!(t->missing[i] = ct__strdup(options->missing[i]))) return ct__no_memory(err, "words", options->missings);
        if (!ct__decimal(t->missing[i], strlen(t->missing[i]), &t->missing_number[i])) t->missing_number[i] = NAN;
    }
    return CT_OK;
}

static ct_status copy_dialect(ct__table *t, const ct_source_options *options, ct_err *err)
{
    const char *separator = options->separator;
    if (options->comment) {
        t->comment = ct__strdup(options->comment);
        if (!t->comment) return ct__no_memory(err, "comment", 1);
        t->comment_length = strlen(t->comment);
    }
    t->skip = options->skip;
    if (separator && !strcmp(separator, "blank"))
        t->separator = CT__BLANK;
    else if (separator && !strcmp(separator, "tab"))
        t->separator = '\t';
    else if (separator && (strlen(separator) != 1 || strchr("\"\n\r.+-eE0123456789", separator[0])))
        return ct_fail(err, CT_E_ARGUMENT, "%s: the separator is one character or \"blank\", not \"%.20s\"", t->path,
                       separator);
    else if (separator)
        t->separator = separator[0];
    return copy_missing(t, options, err);
}

static ct_status set_up(ct__table *t, const ct_source_options *options, ct_err *err)
{
    if (t->format != CT_SOURCE_TABLE && options->columns > 0)
        return ct_fail(err, CT_E_ARGUMENT,
                       "%s: format %s names its columns itself: leave out the columns, or use "
                       "format table",
                       t->path, ct_source_format_name(t->format));
    CT_TRY(copy_dialect(t, options, err));
    CT_TRY(ct__input_open(t->path, &t->input, err));
    t->rows = (ct__rows){.input = t->input, .path = t->path};
    CT_TRY(ct__table_guess(t, options, err));
    ct__layout_stamp(t);
    return CT_OK;
}

static void table_free(void *reader)
{
    ct__table *t = reader;
    if (!t) return;
    for (int32_t i = 0; i < t->missings; i++) free(t->missing[i]);
    free(t->missing);
    free(t->missing_number);
    free(t->comment);
    free(t->field);
    free(t->written);
    free(t->type);
    free(t->names);
    free(t->slot);
    free(t->value);
    free(t->cell);
    free(t->order);
    free(t->scratch);
    ct__rows_free(&t->rows);
    ct__input_free(t->input);
    free(t->path);
    free(t);
}

static ct_status table_open(const char *path, ct_source_format format, const ct_source_options *options, void **reader,
                            ct_err *err)
{
    *reader = NULL;
    ct__table *t = ct__zalloc(1, sizeof *t);
    if (!t || !(t->path = ct__strdup(path))) {
        free(t);
        return ct__no_memory(err, "table", 1);
    }
    t->format = format;
    t->stamp = -1;
    const ct_status status = set_up(t, options, err);
    if (status == CT_OK)
        *reader = t;
    else
        table_free(t);
    return status;
}

/* ---- columns ---- */

static const ct_source_field *table_field(const void *reader, int32_t i)
{
    const ct__table *t = reader;
    return i < 0 || i >= t->columns ? NULL : &t->field[i];
}

/* "#3" is column 2, else -1. */
static int32_t column_of_number(const char *name)
{
    int64_t number;
    if (name[0] != '#' || !ct__decimal_integer(name + 1, strlen(name + 1), &number)) return -1;
    return number >= 1 && number <= INT32_MAX ? (int32_t)number - 1 : -1;
}

/* *column <- the only column with that name among `names`, -1: none. */
static ct_status find_among(const ct__table *t, int as_written, const char *name, int32_t *column, ct_err *err)
{
    *column = -1;
    for (int32_t i = 0; i < t->columns; i++) {
        if (strcmp(as_written ? t->written[i] : t->field[i].name, name) != 0) continue;
        if (*column >= 0)
            return ct_fail(err, CT_E_ARGUMENT, "%s: two columns are called \"%.80s\": write #%d or #%d", t->path, name,
                           *column + 1, i + 1);
        *column = i;
    }
    return CT_OK;
}

static ct_status find_column(const ct__table *t, const char *name, int32_t *column, ct_err *err)
{
    const char *alias = ct__layout_alias(t, name);
    CT_TRY(find_among(t, !t->given, t->given && alias ? alias : name, column, err)); /* names that were given first */
    if (*column < 0) CT_TRY(find_among(t, t->given, !t->given && alias ? alias : name, column, err));
    if (*column < 0) *column = column_of_number(name);
    if (*column >= t->columns && *column >= t->most) *column = -1;
    return CT_OK;
}

static int table_knows(const void *reader, const char *name)
{
    int32_t column;
    return find_column(reader, name, &column, NULL) == CT_OK && column >= 0;
}

static int table_is_text(const void *reader, const char *name)
{
    const ct__table *t = reader;
    int32_t column;
    return find_column(t, name, &column, NULL) == CT_OK && column >= 0 && column < t->columns &&
           t->type[column] >= CT__COLUMN_TIME;
}

static ct_status bind_column(ct__table *t, int32_t column, ct__as as, int32_t *slot, ct_err *err)
{
    for (int64_t i = 0; i < t->slots; i++)
        if (t->slot[i].column == column && t->slot[i].as == as && t->slot[i].rest <= t->rest)
            return *slot = (int32_t)i, CT_OK;
    const int64_t n = t->slots + 1;
    CT_TRY(ct__grow(&t->slot, &t->slot_capacity, n, sizeof *t->slot, "columns", err));
    CT_TRY(ct__grow(&t->value, &t->value_capacity, n, sizeof *t->value, "columns", err));
    CT_TRY(ct__grow(&t->cell, &t->cell_capacity, n, sizeof *t->cell, "columns", err));
    CT_TRY(ct__grow(&t->order, &t->order_capacity, n, sizeof *t->order, "columns", err));
    int64_t k = t->slots;
    for (; k > 0 && t->slot[t->order[k - 1]].column > column; k--) t->order[k] = t->order[k - 1];
    t->order[k] = (int32_t)t->slots;
    t->slot[t->slots] = (ct__table_slot){.column = column, .as = as, .rest = t->rest};
    *slot = (int32_t)t->slots++;
    return CT_OK;
}

static ct_status table_bind(void *reader, const char *name, ct__as as, int32_t *slot, ct_err *err)
{
    ct__table *t = reader;
    int32_t column;
    *slot = -1;
    CT_TRY(find_column(t, name, &column, err));
    return column < 0 ? CT_OK : bind_column(t, column, as, slot, err);
}

static ct_status table_bind_stamp(void *reader, int32_t *slot, int *digits, ct_err *err)
{
    ct__table *t = reader;
    *slot = -1;
    *digits = t->stamp_digits;
    if (t->stamp >= 0 && t->stamp_digits < 0)
        return ct_fail(err, CT_E_ARGUMENT,
                       "%s: column \"%s\" is no stamp in s, ms, us or ns: say which one is the stamp", t->path,
                       t->written[t->stamp]);
    return t->stamp < 0 ? CT_OK : bind_column(t, t->stamp, CT__AS_STAMP, slot, err);
}

static void table_bind_rest(void *reader) { ((ct__table *)reader)->rest = 1; }

/* ---- records ---- */

static ct_status table_next(void *reader, const ct__value **value, int64_t *line, int *more, ct_err *err)
{
    ct__table *t = reader;
    const char *row;
    int64_t length;
    *more = 0;
    CT_TRY(ct__table_row(t, &row, &length, err));
    if (!row) return CT_OK;
    CT_TRY(ct__table_split(t, row, length, err));
    CT_TRY(ct__table_convert(t, 0, err));
    *value = t->value;
    *line = t->rows.line;
    *more = 1;
    return CT_OK;
}

static ct_status table_complete(void *reader, ct_err *err)
{
    ct__table *t = reader;
    CT_TRY(ct__table_width(t, err));
    return ct__table_convert(t, 1, err);
}

static int table_cut(void *reader)
{
    ct__table *t = reader;
    if (t->rows.open) t->damaged = t->end - t->begin;
    return t->rows.open;
}

static int64_t table_damaged(const void *reader) { return ((const ct__table *)reader)->damaged; }

static void table_where(const void *reader, char *buf, size_t size)
{
    const ct__table *t = reader;
    snprintf(buf, size, "%s:%lld", t->path, (long long)t->rows.line);
}

static void table_progress(const void *reader, int64_t *bytes, int64_t *size)
{
    ct__input_progress(((const ct__table *)reader)->input, bytes, size);
}

const ct__reader_ops ct__table_reader = {
    .detect = ct__layout_detect,
    .open = table_open,
    .free = table_free,
    .field = table_field,
    .knows = table_knows,
    .is_text = table_is_text,
    .bind = table_bind,
    .bind_stamp = table_bind_stamp,
    .bind_rest = table_bind_rest,
    .next = table_next,
    .complete = table_complete,
    .damaged = table_damaged,
    .cut = table_cut,
    .where = table_where,
    .progress = table_progress,
};
