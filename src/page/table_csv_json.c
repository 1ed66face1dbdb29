/* table_csv_json.c: tables for other programs: CSV (quoted as RFC 4180 has it, lines ended by \n) and JSON. Numbers
 * with the fewest of 15 to 17 digits that read back to the same bits; a column with a deviation in some
 * cell is followed by one of deviations. Values that are not finite are empty or inf in CSV, null in JSON. */
#include "page/table.h"
#include "base/base.h"
#include "base/file.h"

#include <math.h>

/* In quotes where a reader would take a part of it for something else; blanks at the ends are quoted, because some
 * readers strip them. */
static void put_csv(ct__text *out, const char *s)
{
    const size_t n = strlen(s);
    if (n && !strpbrk(s, ",\"\r\n") && s[0] != ' ' && s[n - 1] != ' ') {
        ct__text_put(out, s);
        return;
    }
    ct__text_put(out, n ? "\"" : "");
    for (; *s; s++) ct__text_bytes(out, *s == '"' ? "\"\"" : s, *s == '"' ? 2 : 1);
    ct__text_put(out, n ? "\"" : "");
}

static void put_csv_number(ct__text *out, double value)
{
    char buf[32];
    if (!isnan(value)) ct__text_put(out, ct__format_double(value, buf));
}

void ct__table_csv(const ct_table *t, ct__text *out)
{
    for (int64_t j = 0; j < t->columns; j++) {
        const ct__column *c = &t->column[j];
        ct__text_put(out, j ? "," : "");
        put_csv(out, c->key);
        if (!c->deviates) continue;
        ct__text_put(out, ",");
        ct__text key = {0};
        ct__text_printf(&key, "%s_sd", c->key);
        if (key.failed) out->failed = 1;
        else put_csv(out, key.bytes);
        ct__text_free(&key);
    }
    ct__text_put(out, "\n");
    for (int64_t i = 0; i < t->rows; i++) {
        for (int64_t j = 0; j < t->columns; j++) {
            const ct__cell *cell = ct__table_cell(t, i, j);
            ct__text_put(out, j ? "," : "");
            if (cell->kind == CT__CELL_TEXT) put_csv(out, cell->text);
            else if (cell->kind != CT__CELL_EMPTY) put_csv_number(out, cell->value);
            if (t->column[j].deviates) ct__text_put(out, ",");
            if (cell->kind == CT__CELL_DEVIATION) put_csv_number(out, cell->deviation);
        }
        ct__text_put(out, "\n");
    }
}

static void put_json_number(ct__text *out, double value)
{
    char buf[32];
    ct__text_put(out, isfinite(value) ? ct__format_double(value, buf) : "null");
}

static void put_json_cell(const ct_table *t, int64_t row, int64_t column, ct__text *out)
{
    const ct__cell *cell = ct__table_cell(t, row, column);
    ct__text        key = {0};
    ct__text_put(out, column ? ", " : "{");
    ct__text_json(out, t->column[column].key);
    ct__text_put(out, ": ");
    if (cell->kind == CT__CELL_TEXT) ct__text_json(out, cell->text);
    else put_json_number(out, cell->kind == CT__CELL_EMPTY ? NAN : cell->value);
    if (!t->column[column].deviates) return;
    ct__text_printf(&key, "%s_sd", t->column[column].key);
    ct__text_put(out, ", ");
    if (key.failed) out->failed = 1;
    else ct__text_json(out, key.bytes);
    ct__text_put(out, ": ");
    put_json_number(out, cell->kind == CT__CELL_DEVIATION ? cell->deviation : NAN);
    ct__text_free(&key);
}

void ct__table_json(const ct_table *t, ct__text *out)
{
    ct__text_put(out, "[");
    for (int64_t i = 0; i < t->rows; i++) {
        ct__text_put(out, i ? ",\n " : "\n ");
        for (int64_t j = 0; j < t->columns; j++) put_json_cell(t, i, j, out);
        ct__text_put(out, t->columns ? "}" : "{}");
    }
    ct__text_put(out, "\n]\n");
}
