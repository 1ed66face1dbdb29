/* table_guess.c: separator, header and types of a table, from its first lines.
 *
 * Separator: ";", "|" or "," if the lines (two of three: there may be a title) have the same number of columns, at
 * least two; a tab, unless blanks find more numbers; else blanks. Header: the first line, if none of its words is a
 * number and later lines have numbers; or the last comment before the first line, if it has as many words as the line
 * has columns. A line of units below the header has no values. */
#include "source/decimal.h"
#include "source/table.h"

#define ROWS  50                    /* lines with values that are looked at ...     */
#define BYTES ((int64_t)256 * 1024) /* ... or so many bytes, and at least two lines */

typedef struct {
    int64_t at, length, line; /* at: after the beginning of what is kept */
    int comment;
} sample_row;

typedef struct {
    ct__table *t;
    sample_row *row;
    int64_t rows, capacity;
    int64_t first, values; /* first: the first that is no comment; values: how many are none */
} sample;

static const char *text_of(const sample *s, const sample_row *r) { return s->t->rows.buffer + s->t->rows.kept + r->at; }

/* ---- the first lines ---- */

static ct_status skip_lines(ct__table *t, ct_err *err)
{
    const char *row = "";
    int64_t length;
    for (int64_t i = 0; i < t->skip && row; i++) CT_TRY(ct__rows_next(&t->rows, &row, &length, err));
    return CT_OK;
}

static int is_empty(const char *row, int64_t length)
{
    while (length > 0 && (*row == ' ' || *row == '\t')) row++, length--;
    return length == 0;
}

static ct_status collect(sample *s, ct_err *err)
{
    ct__table *t = s->t;
    int64_t bytes = 0;
    CT_TRY(skip_lines(t, err));
    ct__rows_keep(&t->rows);
    while (s->values < ROWS && (bytes < BYTES || s->values < 2)) {
        const char *row;
        sample_row r = {0};
        CT_TRY(ct__rows_next(&t->rows, &row, &r.length, err));
        if (!row) break;
        if (is_empty(row, r.length)) continue;
        if (memchr(row, '\r', (size_t)r.length))
            return ct__table_bad(t, err, "a carriage return within the line: lines end in LF or CR LF");
        bytes += r.length;
        r.at = row - (t->rows.buffer + t->rows.kept);
        r.line = t->rows.line;
        r.comment = ct__table_is_comment(t, row, r.length);
        CT_TRY(ct__grow(&s->row, &s->capacity, s->rows + 1, sizeof r, "lines", err));
        if (!r.comment && s->values++ == 0) s->first = s->rows;
        s->row[s->rows++] = r;
    }
    if (s->values == 0) s->first = s->rows;
    return CT_OK;
}

/* ---- words ---- */

static ct__words words_of(const sample *s, const sample_row *r, char separator)
{
    const char *text = text_of(s, r);
    return (ct__words){.at = text, .end = text + r->length, .separator = separator, .scratch = s->t->scratch};
}

static int is_number(const ct__cell *cell, char separator)
{
    double number;
    return ct__decimal(cell->text, (size_t)cell->length, &number) || ct__decimal_comma(cell, separator);
}

/* Columns of a line without an empty one after the last separator; *numbers of them are numbers. 0: bad quotes. */
static int64_t count_words(const sample *s, const sample_row *r, char separator, int64_t *numbers)
{
    ct__words words = words_of(s, r, separator);
    ct__cell cell = {0};
    int64_t count = 0;
    int state;
    *numbers = 0;
    while ((state = ct__words_next(&words, &cell)) > 0) count++, *numbers += is_number(&cell, separator);
    if (state < 0) return 0;
    return count > 1 && separator != CT__BLANK && cell.length == 0 ? count - 1 : count;
}

/* ---- separator ---- */

typedef struct {
    int64_t fewest, most, numbers; /* columns of the lines; numbers in all of them but the first            */
    int64_t words;                 /* in all of them but the first                                          */
    int same;                      /* 1: two of three have the same number of columns, which is two or more */
} division;

static division divide(const sample *s, char separator)
{
    division d = {.fewest = INT64_MAX};
    int64_t count[ROWS], seen = 0;
    for (int64_t i = s->first; i < s->rows && seen < ROWS; i++) {
        if (s->row[i].comment) continue;
        int64_t numbers;
        const int64_t columns = count_words(s, &s->row[i], separator, &numbers);
        if (columns == 0) continue; /* told when it is read */
        d.fewest = CT_MIN(d.fewest, columns);
        d.most = CT_MAX(d.most, columns);
        if (seen > 0 || s->values == 1) d.numbers += numbers, d.words += columns;
        count[seen++] = columns;
    }
    for (int64_t i = 0; i < seen && !d.same; i++) {
        int64_t alike = 0;
        for (int64_t k = 0; k < seen; k++) alike += count[k] == count[i];
        d.same = count[i] > 1 && 3 * alike >= 2 * seen;
    }
    return d;
}

static char guess_separator(const sample *s)
{
    static const char order[] = ";|,";
    if (s->values == 0) return ',';
    const division tab = divide(s, '\t'), blank = divide(s, CT__BLANK);
    for (const char *c = order; *c; c++) {
        const division d = divide(s, *c);
        if (!d.same) continue;
        if (*c != ',' || d.numbers == d.words) return *c; /* commas may be those of decimals: "0,5 <tab> 1,5" */
        if (tab.same && tab.numbers == tab.words) return '\t';
        return blank.same && blank.numbers == blank.words ? CT__BLANK : *c;
    }
    if (tab.same && tab.numbers >= blank.numbers) return '\t';
    if (blank.same) return CT__BLANK;
    for (const char *c = order; *c; c++) { /* lines of several kinds, or the only line was cut short */
        const division d = divide(s, *c);
        if (d.fewest > 1 || (d.most > 1 && blank.most == 1)) return *c;
    }
    return tab.fewest > 1 && tab.numbers >= blank.numbers ? '\t' : CT__BLANK;
}

/* ---- header ---- */

/* Has the first line names? */
static int guess_header(const sample *s, int named)
{
    int64_t numbers, later = 0;
    if (s->values == 0) return 0;
    if (count_words(s, &s->row[s->first], s->t->separator, &numbers) == 0 || numbers > 0) return 0;
    for (int64_t i = s->first + 1; i < s->rows && later == 0; i++)
        if (!s->row[i].comment) count_words(s, &s->row[i], s->t->separator, &later);
    return later > 0 || !named; /* nothing but words: names, unless the caller has given them */
}

/* A comment as names: without its mark. */
static sample_row without_mark(const sample *s, sample_row r)
{
    const char *text = text_of(s, &r);
    int64_t n = 0;
    while (n < r.length && (text[n] == ' ' || text[n] == '\t')) n++;
    n += r.comment ? (int64_t)s->t->comment_length : 0;
    while (n < r.length && strchr("#% \t/", text[n]) && (text[n] != '/' || r.comment)) n++;
    r.at += n;
    r.length -= n;
    return r;
}

/* Units alone, in brackets or not, and "-" or nothing, also in brackets, where there is none. What is in brackets need
 * not be known. */
static int is_line_of_units(const sample *s, const sample_row *r)
{
    ct__words words = words_of(s, r, s->t->separator);
    ct__cell cell;
    int units = 0, state;
    while ((state = ct__words_next(&words, &cell)) > 0) {
        if (cell.length == 0) continue;
        const char first = cell.text[0], last = cell.text[cell.length - 1];
        const int brackets = cell.length > 1 && ((first == '[' && last == ']') || (first == '(' && last == ')'));
        const ct__cell inside = {.text = cell.text + brackets, .length = cell.length - 2 * brackets};
        if (inside.length == 0 || (inside.length == 1 && inside.text[0] == '-')) continue;
        if (!brackets && !ct__is_unit(&inside)) return 0;
        units += !(inside.length == 1 && (inside.text[0] == '1' || inside.text[0] == '%')); /* numbers are no units */
    }
    return state == 0 && units > 0;
}

/* The comment before the first line, if it has a name for each of its columns: *separator of the names. */
static int comment_header(const sample *s, int64_t columns, sample_row *header, char *separator)
{
    if (s->values == 0 || s->first == 0 || !s->row[s->first - 1].comment) return 0;
    *header = without_mark(s, s->row[s->first - 1]);
    const char own = s->t->separator, way[] = {own, own == CT__BLANK || own == '\t' ? CT__WIDE : own};
    for (int i = 0; i < 2; i++) {
        int64_t numbers;
        *separator = way[i];
        if (count_words(s, header, *separator, &numbers) == columns && numbers == 0) return 1;
    }
    return 0;
}

/* ---- types ---- */

/* A column has text if a word of it is neither a number nor missing; times if all such words are dates with a time. */
static void find_types(const sample *s, int64_t begin)
{
    ct__table *t = s->t;
    int64_t ns;
    for (int64_t i = begin; i < s->rows; i++) {
        if (s->row[i].comment) continue;
        ct__words words = words_of(s, &s->row[i], t->separator);
        ct__cell cell;
        for (int32_t k = 0; k < t->columns && ct__words_next(&words, &cell) > 0; k++) {
            if (t->format == CT_SOURCE_G2O && k > 0) break; /* the tag alone has the same place in every line */
            if (ct__is_missing(t, &cell)) continue;
            const int number = is_number(&cell, t->separator);
            const int time = !number && ct__calendar(cell.text, (size_t)cell.length, &ns);
            const char type = number ? CT__COLUMN_NUMBER : time ? CT__COLUMN_TIME : CT__COLUMN_TEXT;
            if (t->type[k] == CT__COLUMN_UNKNOWN)
                t->type[k] = type;
            else if (t->type[k] != type)
                t->type[k] = CT__COLUMN_TEXT;
        }
    }
}

/* ---- all of it ---- */

/* *header <- the line with names; its length is -1 if there is none. *begin <- the first line with values. *units <- a
 * line of units between them, or NULL. */
static void find_header(const sample *s, const ct_source_options *options, sample_row *header, char *separator,
                        int64_t *begin, const sample_row **units)
{
    const int named = options->columns > 0;
    int64_t numbers;
    *begin = s->first;
    *separator = s->t->separator;
    header->length = -1;
    if (options->header == 1 && s->rows > 0) {
        *header = without_mark(s, s->row[0]);
        *begin = s->row[0].comment ? s->first : s->first + 1;
    } else if (options->header < 0 && guess_header(s, named)) {
        *header = without_mark(s, s->row[s->first]);
        *begin = s->first + 1;
        const int more = s->first + 2 < s->rows && !s->row[s->first + 1].comment && !s->row[s->first + 2].comment;
        if (more && is_line_of_units(s, &s->row[s->first + 1])) {
            count_words(s, &s->row[s->first + 2], s->t->separator, &numbers);
            *begin += numbers > 0;
            if (numbers > 0) *units = &s->row[s->first + 1];
        }
    } else if (options->header != 0) {
        const int64_t columns = s->values > 0 ? count_words(s, &s->row[s->first], s->t->separator, &numbers) : 0;
        if (!comment_header(s, columns, header, separator)) header->length = -1;
    }
}

static ct_status guess(sample *s, const ct_source_options *options, ct_err *err)
{
    ct__table *t = s->t;
    sample_row header = {.length = -1};
    int64_t begin, numbers, longest = 0;
    char separator;
    const sample_row *units = NULL;
    CT_TRY(collect(s, err));
    for (int64_t i = 0; i < s->rows; i++) longest = CT_MAX(longest, s->row[i].length);
    CT_TRY(ct__table_scratch(t, longest, err));
    if (!t->separator) t->separator = guess_separator(s);
    find_header(s, options, &header, &separator, &begin, &units);
    const char *const *given = options->columns > 0 ? options->column : NULL;
    int64_t columns = options->columns;
    if (columns == 0 && header.length >= 0) columns = count_words(s, &header, separator, &numbers);
    if (columns == 0 && begin < s->rows) columns = count_words(s, &s->row[begin], t->separator, &numbers);
    t->named = options->columns;
    t->columns = (int32_t)columns; /* a line has fewer bytes than an int32_t counts */
    if (header.length >= 0) t->width = count_words(s, &header, separator, &numbers);
    if (header.length >= 0) t->header = header.line;
    if (t->width > 0 && t->width < columns)
        return ct_fail(err, CT_E_PARSE, "%s:%lld: the header has %lld columns, %lld are named", t->path,
                       (long long)header.line, (long long)t->width, (long long)columns);
    t->most = t->width > 0 ? t->width : options->where && options->where[0] ? INT32_MAX : divide(s, t->separator).most;
    CT_TRY(ct__layout_names(t, &given, err));
    t->type = ct__zalloc(t->columns, 1);
    if (!t->type) return ct__no_memory(err, "columns", t->columns);
    find_types(s, begin);
    ct__words words = {.ended = 1}, unit_words = {.ended = 1};
    if (header.length >= 0) words = words_of(s, &header, separator);
    if (units) unit_words = words_of(s, units, t->separator);
    CT_TRY(ct__table_name(t, given, &words, &unit_words, err));
    /* go on at the first line with values */
    const int64_t to = begin > 0 && begin <= s->rows && s->rows > 0 ? s->row[begin - 1].line : 0;
    ct__rows_rewind(&t->rows);
    const char *row = "";
    int64_t length;
    while (t->rows.line < to && row) CT_TRY(ct__rows_next(&t->rows, &row, &length, err));
    return CT_OK;
}

ct_status ct__table_guess(ct__table *t, const ct_source_options *options, ct_err *err)
{
    sample s = {.t = t};
    const ct_status status = guess(&s, options, err);
    free(s.row);
    return status;
}
