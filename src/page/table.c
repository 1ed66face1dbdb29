/* table.c: tables, built cell by cell. Failures while building are recorded and returned when the table is printed, so
 * that callers need no checks in between. */
#include "page/table.h"
#include "base/base.h"

#include <math.h>

static const char *const NAME[] = {
#define X(constant, name, what) name,
    CT_TABLE_LIST(X)
#undef X
};

const char *ct_table_format_name(ct_table_format format) { return format < CT_TABLE_COUNT ? NAME[format] : "unknown"; }

int ct_table_format_find(const char *name) { return ct__find_name(name, NAME, CT_TABLE_COUNT); }

/* ---- building ---- */

ct_status ct_table_new(const char *title, ct_table **out, ct_err *err)
{
    ct_table *t = ct__zalloc(1, sizeof *t);
    *out = NULL;
    if (t && title) t->title = ct__strdup(title);
    if (!t || (title && !t->title)) {
        ct_table_free(t);
        return ct__no_memory(err, "tables", 1);
    }
    *out = t;
    return CT_OK;
}

void ct_table_free(ct_table *table)
{
    if (!table) return;
    for (int64_t i = 0; i < table->columns; i++) {
        free(table->column[i].key);
        free(table->column[i].heading);
        free(table->column[i].unit);
    }
    for (int64_t i = 0; i < table->rows * table->columns; i++) free(table->cell[i].text);
    for (int64_t i = 0; i < table->notes; i++) free(table->note[i]);
    free(table->title);
    free(table->column);
    free(table->cell);
    free(table->rule);
    free(table->note);
    free(table);
}

/* Record a failure. Returns whether there is one. */
static int failed(ct_table *t, int now)
{
    if (now) t->failed = 1;
    return t->failed;
}

/* The same for a misused call; the first is reported. */
static void refuse(ct_table *t, const char *why)
{
    if (!t->misuse) t->misuse = why;
}

static int has_key(const ct_table *t, const char *key)
{
    for (int64_t i = 0; i < t->columns; i++)
        if (!strcmp(t->column[i].key, key)) return 1;
    return 0;
}

void ct_table_column(ct_table *table, const char *key, const char *heading, const char *unit, int digits)
{
    if (table->rows) refuse(table, "a column was added after the first row");
    if (digits < 0 || digits > 17) refuse(table, "a column shows 0 to 17 digits");
    if (has_key(table, key)) refuse(table, "two columns have the same key");
    if (table->misuse) return;
    if (failed(table, ct__grow(&table->column, &table->columns_capacity, table->columns + 1, sizeof *table->column,
                               "columns", NULL) != CT_OK))
        return;
    ct__column c = {.key = ct__strdup(key),
                    .heading = ct__strdup(heading),
                    .unit = unit ? ct__strdup(unit) : NULL,
                    .digits = digits};
    if (failed(table, !c.key || !c.heading || (unit && !c.unit))) {
        free(c.key);
        free(c.heading);
        free(c.unit);
        return;
    }
    table->column[table->columns++] = c;
}

void ct_table_row(ct_table *table, int rule)
{
    const int64_t used = table->rows * table->columns;
    table->said++;
    if (failed(table, ct__grow(&table->cell, &table->cells_capacity, used + table->columns, sizeof *table->cell,
                               "cells", NULL) != CT_OK))
        return;
    if (failed(table, ct__grow(&table->rule, &table->rules_capacity, table->rows + 1, sizeof *table->rule, "rows",
                               NULL) != CT_OK))
        return;
    for (int64_t i = 0; i < table->columns; i++) table->cell[used + i] = (ct__cell){0};
    table->rule[table->rows++] = rule != 0;
    table->next = used;
}

/* The next cell of the row, NULL if memory failed. */
static ct__cell *say(ct_table *t, ct__cell_kind kind)
{
    if (t->failed || t->misuse) return NULL;
    if (!t->rows || t->next >= t->rows * t->columns) {
        refuse(t, t->rows ? "a row has more cells than there are columns" : "a cell was put before the first row");
        return NULL;
    }
    t->cell[t->next].kind = kind;
    return &t->cell[t->next++];
}

/* A formatted copy; NULL without memory. */
static char *print_own(const char *fmt, va_list args)
{
    ct__text text = {0};
    ct__text_vprintf(&text, fmt, args);
    if (!text.failed) return text.bytes;
    ct__text_free(&text);
    return NULL;
}

void ct_table_text(ct_table *table, const char *fmt, ...)
{
    ct__cell *cell = say(table, CT__CELL_TEXT);
    va_list   args;
    if (!cell) return;
    va_start(args, fmt);
    cell->text = print_own(fmt, args);
    va_end(args);
    failed(table, !cell->text);
}

static void see_fraction(ct_table *t, double value)
{
    if (isfinite(value) && value != floor(value)) t->column[(t->next - 1) % t->columns].fraction = 1;
}

void ct_table_number(ct_table *table, double value)
{
    ct__cell *cell = say(table, isnan(value) ? CT__CELL_EMPTY : CT__CELL_NUMBER);
    if (!cell) return;
    cell->value = value;
    see_fraction(table, value);
}

void ct_table_deviation(ct_table *table, double value, double deviation)
{
    ct__cell *cell = say(table, isnan(value)       ? CT__CELL_EMPTY
                                : isnan(deviation) ? CT__CELL_NUMBER
                                                   : CT__CELL_DEVIATION);
    if (!cell) return;
    cell->value = value;
    cell->deviation = deviation;
    table->column[(table->next - 1) % table->columns].deviates = 1;
    see_fraction(table, value);
}

void ct_table_mark(ct_table *table, int mark)
{
    if (mark < 0 || mark > 2) refuse(table, "a mark is 0, 1 or 2");
    if (!table->failed && !(table->rows && table->next > (table->rows - 1) * table->columns))
        refuse(table, "a mark was put before the first cell of a row");
    if (table->failed || table->misuse) return;
    table->cell[table->next - 1].mark = mark;
}

void ct_table_note(ct_table *table, const char *fmt, ...)
{
    va_list args;
    if (failed(table, ct__grow(&table->note, &table->notes_capacity, table->notes + 1, sizeof *table->note, "notes",
                               NULL) != CT_OK))
        return;
    va_start(args, fmt);
    char *text = print_own(fmt, args);
    va_end(args);
    if (!failed(table, !text)) table->note[table->notes++] = text;
}

int32_t ct_table_rows(const ct_table *table) { return table->said; }

/* ---- shared by the formats ---- */

const char *ct__table_words(const ct_table *t, int64_t row, int64_t column, const char *sign, char out[CT__NUMBER])
{
    const ct__cell   *cell = ct__table_cell(t, row, column);
    const ct__column *c = &t->column[column];
    const int         digits = c->digits ? c->digits : 6;
    out[0] = 0;
    if (cell->kind == CT__CELL_TEXT) return cell->text;
    if (cell->kind == CT__CELL_DEVIATION) ct__number_deviation(cell->value, cell->deviation, digits, sign, out);
    if (cell->kind == CT__CELL_NUMBER && c->fraction) ct__number_format(cell->value, digits, out);
    if (cell->kind == CT__CELL_NUMBER && !c->fraction) ct__number_whole(cell->value, out);
    return out;
}

size_t ct__table_before_point(const char *words) { return strspn(words, "(+-0123456789"); }

int ct__table_marks(const ct_table *t)
{
    int marks = 0;
    for (int64_t i = 0; i < t->rows * t->columns; i++) marks |= t->cell[i].mark;
    return marks;
}

/* ---- printing ---- */

static ct_status check(const ct_table *t, ct_table_format format, ct_err *err)
{
    if (t->misuse) return ct_fail(err, CT_E_ARGUMENT, "table \"%s\": %s", t->title ? t->title : "", t->misuse);
    if ((unsigned)format < CT_TABLE_COUNT) return CT_OK;
    return ct_fail(err, CT_E_ARGUMENT, "table format %d is not one; there are %d, numbered from 0", (int)format,
                   CT_TABLE_COUNT);
}

static void print(const ct_table *t, ct_table_format format, int width, ct__text *out)
{
    out->failed = t->failed;
    if (t->failed) return;
    if (format == CT_TABLE_TEXT) ct__table_text(t, width, out);
    if (format == CT_TABLE_CSV) ct__table_csv(t, out);
    if (format == CT_TABLE_JSON) ct__table_json(t, out);
    if (format == CT_TABLE_MARKDOWN) ct__table_markdown(t, out);
}

ct_status ct_table_print(const ct_table *table, ct_table_format format, int width, FILE *out, ct_err *err)
{
    ct__text text = {0};
    CT_TRY(check(table, format, err));
    print(table, format, width, &text);
    const ct_status status = ct__text_write(&text, out, err);
    ct__text_free(&text);
    return status;
}

ct_status ct_table_string(const ct_table *table, ct_table_format format, int width, char **out, ct_err *err)
{
    ct__text text = {0};
    print(table, format, width, &text);
    return ct__text_take(&text, out, err);
}

ct_status ct_table_write(const ct_table *table, ct_table_format format, const char *path, ct_err *err)
{
    ct__text text = {0};
    CT_TRY(check(table, format, err));
    print(table, format, 0, &text);
    const ct_status status = ct__text_save(&text, path, err);
    ct__text_free(&text);
    return status;
}
