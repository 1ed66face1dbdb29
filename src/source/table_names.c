/* table_names.c: names, units and types of the columns of a table. */
#include "source/expression.h"
#include "source/table.h"

#include <stdio.h>

/* ---- a name and its unit ---- */

static int is_blank(char c) { return c == ' ' || c == '\t'; }

static ct__cell trimmed(const char *text, int64_t length)
{
    while (length > 0 && is_blank(text[0])) text++, length--;
    while (length > 0 && is_blank(text[length - 1])) length--;
    return (ct__cell){.text = text, .length = length};
}

int ct__is_unit(const ct__cell *cell)
{
    char text[32];
    int at = 0;
    double factor;
    if (cell->length == 0 || cell->length >= (int64_t)sizeof text) return 0;
    memcpy(text, cell->text, (size_t)cell->length);
    text[cell->length] = 0;
    return ct__unit_read(text, &at, &factor, NULL) == CT_OK && !text[at];
}

static int is_number(const ct__cell *cell)
{
    for (int64_t i = 0; i < cell->length; i++)
        if (cell->text[i] < '0' || cell->text[i] > '9') return 0;
    return cell->length > 0; /* "q_RS_w []" has no unit */
}

/* "p_RS_R_x [m]" is "p_RS_R_x" in m; "speed (km/h)" and "omega[rad/s]" likewise, if it is a unit that is in brackets.
 * "ranges[0]" is all name. */
static void take_unit(ct__cell written, ct__cell *name, ct__cell *unit)
{
    *name = written;
    *unit = (ct__cell){.text = ""};
    if (written.length < 3) return;
    const char last = written.text[written.length - 1], open = last == ']' ? '[' : last == ')' ? '(' : 0;
    int64_t at = written.length - 2;
    while (at > 0 && written.text[at] != open) at--;
    if (!open || at == 0) return;
    const ct__cell inside = trimmed(written.text + at + 1, written.length - at - 2);
    const ct__cell before = trimmed(written.text, at);
    const int apart = open == '[' && is_blank(written.text[at - 1]) && !is_number(&inside);
    if (before.length == 0 || (!apart && (is_number(&inside) || !ct__is_unit(&inside)))) return;
    *name = before;
    *unit = inside;
}

/* ---- the column of the stamp ---- */

static int same_word(const ct__cell *cell, const char *word)
{
    const int64_t n = (int64_t)strlen(word);
    if (cell->length != n) return 0;
    for (int64_t i = 0; i < n; i++)
        if ((cell->text[i] | 0x20) != word[i]) return 0;
    return 1;
}

/* Place in the list of names that a stamp has, the best first; -1: none. */
static int stamp_rank(const ct__cell *name)
{
    static const char *const known[] = {"t", "time", "timestamp", "stamp"};
    for (int i = 0; i < 4; i++)
        if (same_word(name, known[i])) return i;
    return -1;
}

/* One of the unit is 10^digits ns; -1: it is none of those. */
static int stamp_digits(const ct__cell *unit)
{
    static const struct {
        const char *unit;
        int digits;
    } known[] = {{"", 9},     {"s", 9},  {"sec", 9},  {"secs", 9},      {"second", 9}, {"seconds", 9}, {"ms", 6},
                 {"msec", 6}, {"us", 3}, {"usec", 3}, {"\xc2\xb5s", 3}, {"ns", 0},     {"nsec", 0}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (same_word(unit, known[i].unit)) return known[i].digits;
    return -1;
}

/* "timestamp_ns": a known name and a unit behind it. Rank after all names that stand alone; -1: none. */
static int suffixed_rank(const ct__cell *name, ct__cell *unit)
{
    int64_t n = name->length;
    while (n > 0 && name->text[n - 1] != '_') n--;
    if (n < 2 || n == name->length) return -1;
    const ct__cell base = {.text = name->text, .length = n - 1};
    const ct__cell rest = {.text = name->text + n, .length = name->length - n};
    const int rank = stamp_rank(&base);
    if (rank < 0 || stamp_digits(&rest) < 0) return -1;
    *unit = rest;
    return 4 + rank;
}

/* ---- laying out ---- */

/* Puts text and its 0 at to + *used, if `to` is there. What is no UTF-8 is taken as Latin-1. */
static char *put(char *to, size_t *used, const char *text, int64_t length)
{
    char *at = to ? to + *used : NULL;
    const int latin = !ct__is_utf8(text, (size_t)length);
    size_t n = 0;
    for (int64_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)text[i];
        const int two = latin && c >= 128;
        if (at && two) at[n] = (char)(0xc0 | c >> 6), at[n + 1] = (char)(0x80 | (c & 0x3f));
        else if (at) at[n] = text[i];
        n += two ? 2 : 1;
    }
    if (at) at[n] = 0;
    *used += n + 1;
    return at;
}

static char *put_type(char *to, size_t *used, const char *type, const ct__cell *unit)
{
    char *at = put(to, used, type, (int64_t)strlen(type));
    if (unit->length == 0) return at;
    --*used;
    put(to, used, " [", 2);
    --*used;
    put(to, used, unit->text, unit->length);
    --*used;
    put(to, used, "]", 1);
    return at;
}

/* The text of column k in the header, or its number. */
static ct__cell written_name(ct__words *header, int32_t k, char buf[16])
{
    ct__cell cell = {0};
    const int state = ct__words_next(header, &cell);
    cell = state > 0 ? trimmed(cell.text, cell.length) : (ct__cell){0};
    if (cell.length > 0) return cell;
    snprintf(buf, 16, "#%d", k + 1);
    return (ct__cell){.text = buf, .length = (int64_t)strlen(buf)};
}

/* The unit of the next column in a line of units, without brackets; empty: none. */
static ct__cell next_unit(ct__words *units)
{
    ct__cell cell = {0};
    if (ct__words_next(units, &cell) <= 0) return (ct__cell){.text = ""};
    if (cell.length > 2 && strchr("[(", cell.text[0])) cell.text++, cell.length -= 2;
    return ct__is_unit(&cell) && !is_number(&cell) ? cell : (ct__cell){.text = ""};
}

/* Lay out all names and types at `to`; with NULL only the size is computed. */
static size_t lay_out(ct__table *t, const char *const given[], ct__words header, ct__words units, char *to)
{
    size_t used = 0;
    int best = -1;
    t->stamp = -1;
    for (int32_t k = 0; k < t->columns; k++) {
        char number[16];
        const ct__cell written = written_name(&header, k, number);
        ct__cell name, unit;
        take_unit(written, &name, &unit);
        const ct__cell below = next_unit(&units);
        if (unit.length == 0) unit = below;
        if (given) name = (ct__cell){.text = given[k], .length = (int64_t)strlen(given[k])};
        ct__cell stamp_unit = unit;
        int rank = stamp_rank(&name);
        if (rank < 0 && unit.length == 0) rank = suffixed_rank(&name, &stamp_unit);
        if (rank >= 0 && (best < 0 || rank < best)) {
            best = rank;
            t->stamp = k;
            t->stamp_digits = stamp_digits(&stamp_unit);
        }
        ct_source_field *field = to ? &t->field[k] : &(ct_source_field){0};
        field->name = put(to, &used, name.text, name.length);
        field->type = t->type[k] == CT__COLUMN_TEXT   ? put(to, &used, "text", 4)
                      : t->type[k] == CT__COLUMN_TIME ? put(to, &used, "time", 4)
                                                      : put_type(to, &used, "number", &unit);
        if (to) t->written[k] = to + used;
        put(to, &used, written.text, written.length);
    }
    return used;
}

ct_status ct__table_name(ct__table *t, const char *const given[], const ct__words *header, const ct__words *units,
                         ct_err *err)
{
    t->given = given != NULL;
    t->field = ct__zalloc(t->columns, sizeof *t->field);
    t->written = ct__zalloc(t->columns, sizeof *t->written);
    if (!t->field || !t->written) return ct__no_memory(err, "columns", t->columns);
    const size_t size = lay_out(t, given, *header, *units, NULL);
    t->names = ct__zalloc((int64_t)size, 1);
    if (!t->names) return ct__no_memory(err, "characters of names", (int64_t)size);
    lay_out(t, given, *header, *units, t->names);
    return CT_OK;
}
