/* table_row.c: a line to words, words to values.
 *
 * Only columns that are wanted are converted. The rest of a line is searched for separators eight bytes at a time, so
 * that a table of thirty columns of which three are used is read nearly as fast as its bytes arrive. All separators are
 * counted: a line that was cut short must not pass for one. */
#include "source/decimal.h"
#include "source/table.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

ct_status ct__table_bad(const ct__table *t, ct_err *err, const char *fmt, ...)
{
    char text[sizeof err->text];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return ct_fail(err, CT_E_PARSE, "%s:%lld: %s", t->path, (long long)t->rows.line, text);
}

/* ---- lines ---- */

static int is_blank(char c) { return c == ' ' || c == '\t'; }

/* "#", "%" before a blank (of MATLAB, RTKLIB; "%time" is a name), "//". */
static int is_usual_comment(const char *row, int64_t length)
{
    if (length == 0) return 0;
    if (row[0] == '%') return length == 1 || is_blank(row[1]) || row[1] == '%';
    return row[0] == '#' || (length > 1 && row[0] == '/' && row[1] == '/');
}

int ct__table_is_comment(const ct__table *t, const char *row, int64_t length)
{
    while (length > 0 && is_blank(*row)) row++, length--;
    if (!t->comment) return is_usual_comment(row, length);
    return t->comment_length > 0 && (size_t)length >= t->comment_length && !memcmp(row, t->comment, t->comment_length);
}

ct_status ct__table_row(ct__table *t, const char **row, int64_t *length, ct_err *err)
{
    for (;;) {
        CT_TRY(ct__rows_next(&t->rows, row, length, err));
        if (!*row) return CT_OK;
        const char *at = *row, *const end = *row + *length;
        while (at < end && is_blank(*at)) at++;
        if (at < end && !ct__table_is_comment(t, *row, *length)) return CT_OK;
    }
}

/* ---- words ---- */

/* Separators of a line, one after the other: eight bytes are compared at once, and each is read once. Reads up to 7
 * bytes beyond the end (CT__SLACK). */
typedef struct {
    const char *at, *end;
    uint64_t pattern, hits; /* hits: 0x80 in every byte of the eight before `at` that is a separator still to come */
} separators;

/* The next separator, or the end. */
static inline const char *next_separator(separators *s)
{
    while (!s->hits) {
        if (s->at >= s->end) return s->end;
        uint64_t v;
        memcpy(&v, s->at, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        v = __builtin_bswap64(v);
#endif
        v ^= s->pattern;
        s->hits = ~(((v & 0x7f7f7f7f7f7f7f7fU) + 0x7f7f7f7f7f7f7f7fU) | v) & 0x8080808080808080U;
        s->at += 8;
    }
    const char *hit = s->at - 8 + __builtin_ctzll(s->hits) / 8;
    s->hits &= s->hits - 1;
    return hit < s->end ? hit : s->end;
}

static int64_t count_bytes(const char *at, const char *end, char c)
{
    int64_t count = 0;
    while (at < end) {
        const char *const stop = end - at > 255 ? at + 255 : end;
        unsigned char few = 0; /* so that a vector of bytes counts */
        for (; at < stop; at++) few = (unsigned char)(few + (*at == c));
        count += few;
    }
    return count;
}

static void absent_from(ct__table *t, int64_t k)
{
    for (; k < t->slots; k++) t->cell[t->order[k]] = (ct__cell){0};
}

/* Words between separators, where no word has quotes. */
static void split_separated(ct__table *t, const char *row, int64_t length)
{
    const char *const end = row + length;
    separators s = {.at = row, .end = end, .pattern = 0x0101010101010101U * (unsigned char)t->separator};
    const char *at = row, *stop_of = NULL; /* the word of `column`, and its end if that was looked for */
    int64_t column = 0, k = 0;
    for (; k < t->slots; k++) {
        ct__cell *cell = &t->cell[t->order[k]];
        const int64_t wanted = t->slot[t->order[k]].column;
        if (k > 0 && wanted == t->slot[t->order[k - 1]].column) {
            *cell = t->cell[t->order[k - 1]];
            continue;
        }
        for (; column < wanted; column++) {
            const char *stop = stop_of ? stop_of : next_separator(&s);
            stop_of = NULL;
            if (stop == end) {
                at = end;
                break;
            }
            at = stop + 1;
        }
        if (column < wanted) break;
        const char *begin = at, *stop = stop_of = next_separator(&s);
        while (begin < stop && is_blank(*begin)) begin++;
        while (stop > begin && is_blank(stop[-1])) stop--;
        *cell = (ct__cell){.text = begin, .length = stop - begin};
    }
    absent_from(t, k);
    t->found = column + 1 + count_bytes(stop_of ? stop_of : at, end, t->separator);
    t->open_end = length > 0 && end[-1] == t->separator;
}

/* Words between blanks, where no word has quotes. */
static void split_blank(ct__table *t, const char *row, int64_t length)
{
    const char *const end = row + length;
    const char *at = row;
    int64_t k = 0;
    for (t->found = 0;; t->found++) {
        while (at < end && is_blank(*at)) at++;
        if (at == end) break;
        const char *const begin = at;
        while (at < end && !is_blank(*at)) at++;
        for (; k < t->slots && t->slot[t->order[k]].column == t->found; k++)
            t->cell[t->order[k]] = (ct__cell){.text = begin, .length = at - begin};
    }
    absent_from(t, k);
    t->open_end = 0;
}

ct_status ct__table_scratch(ct__table *t, int64_t length, ct_err *err)
{
    return ct__grow(&t->scratch, &t->scratch_capacity, length + 1 + CT__DECIMAL_SLACK, 1, "characters of a line", err);
}

static ct_status split_quoted(ct__table *t, const char *row, int64_t length, ct_err *err)
{
    CT_TRY(ct__table_scratch(t, length, err));
    ct__words words = {.at = row, .end = row + length, .separator = t->separator, .scratch = t->scratch};
    ct__cell cell = {0};
    int64_t k = 0;
    int state;
    for (t->found = 0; (state = ct__words_next(&words, &cell)) > 0; t->found++)
        for (; k < t->slots && t->slot[t->order[k]].column == t->found; k++) t->cell[t->order[k]] = cell;
    absent_from(t, k);
    t->open_end = t->found > 0 && cell.length == 0;
    if (state == 0) return CT_OK;
    return ct__table_bad(t, err, "column %lld: a quoted word has no closing quote before the separator",
                         (long long)t->found + 1);
}

ct_status ct__table_split(ct__table *t, const char *row, int64_t length, ct_err *err)
{
    t->begin = row;
    t->end = row + length;
    if (t->format == CT_SOURCE_G2O) return ct__g2o_split(t, row, length, err);
    if (memchr(row, '"', (size_t)length)) return split_quoted(t, row, length, err);
    if (t->separator == CT__BLANK)
        split_blank(t, row, length);
    else
        split_separated(t, row, length);
    return CT_OK;
}

/* Lines without header have as many columns as the first of them that is taken, and at least those that are named. */
ct_status ct__table_width(ct__table *t, ct_err *err)
{
    if (t->format == CT_SOURCE_G2O) return CT_OK;
    const int64_t words = t->found - t->open_end; /* without what follows the last separator */
    if (t->width == 0 && words >= t->named) t->width = words;
    if (t->found == t->width || words == t->width) return t->taken = 1, CT_OK;
    if (t->width == 0)
        return ct__table_bad(t, err, "the line has %lld column%s, %d are named: it is cut short", (long long)t->found,
                             t->found == 1 ? "" : "s", t->named);
    if (t->header > 0 && !t->taken)
        return ct__table_bad(t, err,
                             "the line has %lld column%s, the header in line %lld has %lld; `skip` leaves out "
                             "lines before the table",
                             (long long)t->found, t->found == 1 ? "" : "s", (long long)t->header, (long long)t->width);
    return ct__table_bad(t, err, "the line has %lld column%s, the table has %lld%s", (long long)t->found,
                         t->found == 1 ? "" : "s", (long long)t->width, t->found < t->width ? ": it is cut short" : "");
}

/* ---- values ---- */

const char *ct__table_column(const ct__table *t, int32_t column, char buf[CT__SHOW_MAX])
{
    if (column < t->columns) return ct__show(t->field[column].name, strlen(t->field[column].name), buf);
    snprintf(buf, CT__SHOW_MAX, "\"#%d\"", column + 1);
    return buf;
}

static int is_word(const ct__cell *cell, const char *word)
{
    return cell->length == (int64_t)strlen(word) && !memcmp(cell->text, word, (size_t)cell->length);
}

/* nan as C libraries write it: "nan", "-nan", "NaN", "-nan(ind)", "nan(0x8000000000000)". */
int ct__is_nan(const char *text, int64_t length)
{
    const int64_t sign = length > 0 && (text[0] == '-' || text[0] == '+');
    const char   *word = text + sign;
    const int64_t n = length - sign;
    if (n < 3 || (word[0] | 0x20) != 'n' || (word[1] | 0x20) != 'a' || (word[2] | 0x20) != 'n') return 0;
    return n == 3 || (word[3] == '(' && word[n - 1] == ')');
}

int ct__is_missing(const ct__table *t, const ct__cell *cell)
{
    if (cell->length == 0 || is_word(cell, "NA") || ct__is_nan(cell->text, cell->length)) return 1;
    for (int32_t i = 0; i < t->missings; i++)
        if (is_word(cell, t->missing[i])) return 1;
    return 0;
}

/* The comma of "1,5", where commas separate nothing; NULL: the word is no such number. */
static char *comma_of(const ct__cell *cell, char separator)
{
    char copy[64 + CT__DECIMAL_SLACK];
    double number;
    char *comma = separator == ',' ? NULL : memchr(cell->text, ',', (size_t)cell->length);
    if (!comma || cell->length > 64) return NULL;
    memcpy(copy, cell->text, (size_t)cell->length);
    copy[comma - cell->text] = '.';
    return ct__decimal(copy, (size_t)cell->length, &number) ? comma : NULL;
}

int ct__decimal_comma(const ct__cell *cell, char separator) { return comma_of(cell, separator) != NULL; }

/* Decimals have points from here on: the line is in a buffer of the reader's own. */
static void put_point(const ct__table *t, const ct__cell *cell)
{
    char *comma = comma_of(cell, t->separator);
    if (comma) *comma = '.';
}

static ct_status no_number(const ct__table *t, int32_t column, const ct__cell *cell, ct_err *err)
{
    char show[CT__SHOW_MAX], name[CT__SHOW_MAX];
    const int below = t->header > 0 && t->rows.line == t->header + 1 && cell->length > 0;
    if (below && (strchr("[(", cell->text[0]) || ct__is_unit(cell)))
        return ct__table_bad(t, err,
                             "column %s: expected a number, found %s; the line looks like one of units, which has "
                             "units, words in brackets or - in all columns. To leave it out: skip: %lld, header: "
                             "false, and columns: [NAMES]",
                             ct__table_column(t, column, name), ct__show(cell->text, (size_t)cell->length, show),
                             (long long)t->rows.line);
    return ct__table_bad(t, err, "column %s: expected a number, found %s%s", ct__table_column(t, column, name),
                         ct__show(cell->text, (size_t)cell->length, show),
                         "; words for missing values can be listed (missing)");
}

static ct_status number_of(const ct__table *t, int32_t column, const ct__cell *cell, ct__value *value, ct_err *err)
{
    value->kind = CT__VALUE_NUMBER;
    int number = ct__decimal_padded(cell->text, (size_t)cell->length, &value->number);
    if (!number && cell->length) {
        put_point(t, cell);
        number = ct__decimal_padded(cell->text, (size_t)cell->length, &value->number);
    }
    if (!number) {
        if (!ct__is_missing(t, cell)) return no_number(t, column, cell, err);
        value->kind = CT__VALUE_MISSING;
        return CT_OK;
    }
    for (int32_t i = 0; i < t->missings; i++)
        if (value->number == t->missing_number[i]) value->kind = CT__VALUE_MISSING;
    return CT_OK;
}

static int is_digit(char c) { return c >= '0' && c <= '9'; }

/* A date whose time of day is the next column, "2005/04/02 00:00:30.000" between blanks: the stamp is both. */
static ct__cell with_time_of_day(const ct__table *t, const ct__cell *cell)
{
    const char *at = cell->text + cell->length, *const end = t->end;
    const int in_row = cell->text >= t->begin && cell->text < end; /* or it was in quotes with quotes */
    if (!in_row || cell->length != 10 || !is_digit(cell->text[0]) || !strchr("-/", cell->text[4])) return *cell;
    while (at < end && (is_blank(*at) || *at == t->separator)) at++;
    if (end - at < 5 || !is_digit(at[0]) || !is_digit(at[1]) || at[2] != ':' || !is_digit(at[3])) return *cell;
    while (at < end && (is_digit(*at) || *at == ':' || *at == '.')) at++;
    return (ct__cell){.text = cell->text, .length = at - cell->text};
}

ct_status ct__table_convert(ct__table *t, int rest, ct_err *err)
{
    for (int64_t i = 0; i < t->slots; i++) {
        const ct__table_slot *slot = &t->slot[i];
        const ct__cell *cell = &t->cell[i];
        ct__value *value = &t->value[i];
        if (slot->rest != rest) continue;
        if (!cell->text) {
            char name[CT__SHOW_MAX];
            if (rest && t->format != CT_SOURCE_G2O)
                return ct__table_bad(t, err, "the line has %lld column%s, column %s is wanted", (long long)t->found,
                                     t->found == 1 ? "" : "s", ct__table_column(t, slot->column, name));
            value->kind = CT__VALUE_MISSING;
        } else if (slot->as == CT__AS_NUMBER)
            CT_TRY(number_of(t, slot->column, cell, value, err));
        else if (ct__is_missing(t, cell))
            value->kind = CT__VALUE_MISSING;
        else {
            if (slot->as == CT__AS_STAMP) put_point(t, cell);
            const ct__cell text = slot->as == CT__AS_STAMP ? with_time_of_day(t, cell) : *cell;
            value->kind = CT__VALUE_TEXT;
            value->text = text.text;
            value->length = (int32_t)text.length;
        }
    }
    return CT_OK;
}
