/* table_terminal.c: tables for a terminal, in ASCII except for names.
 *
 *   model   sigma x  sigma y      Numbers are aligned at their points. On a narrow terminal columns are narrowed one
 *               (m)      (m)      place at a time, the widest first; headings and texts are wrapped at blanks. If that
 *   ------  -------  -------      is not enough, columns move into a block below, which repeats the first column.
 *   odom     0.176*    0.20
 */
#include "page/table.h"
#include "base/base.h"

#define GAP        2  /* blanks between columns                            */
#define TEXT_LEAST 12 /* texts are wrapped to no fewer places                */

typedef struct {
    const ct_table *t;
    ct__text       *out;
    struct shape {
        int width, least;  /* places taken; as few as can be           */
        int before, after; /* places of numbers, before and from the point on */
    } *shape;
    int64_t from, to; /* columns of the block, besides the first */
} layout;

static const char *const MARK[] = {"", "*", "!"};

/* ---- wrapping ---- */

/* The longest word of a text. */
static int longest_word(const char *s)
{
    int longest = 0, n = 0;
    while (*s) {
        n = ct__text_next(&s) == ' ' ? 0 : n + 1;
        longest = CT_MAX(longest, n);
    }
    return longest;
}

typedef struct {
    const char *s;
    size_t      bytes;
    int         places;
} piece;

/* The part of a text that goes on a line of so many places: up to the last blank that fits, or as much as fits of a
 * word that is too long. *s moves behind it and the blanks that follow. */
static piece take_line(const char **s, int places)
{
    const char *begin = *s, *p = begin, *end = begin;
    int         taken = 0, kept = 0;
    while (*p && taken < places) {
        const char *before = p;
        if (ct__text_next(&p) == ' ' && taken) end = before, kept = taken;
        taken++;
    }
    if (!*p || *p == ' ' || !kept) end = p, kept = taken;
    *s = end;
    while (**s == ' ') (*s)++;
    return (piece){begin, (size_t)(end - begin), kept};
}

static int lines_of(const char *s, int places)
{
    int lines = 0;
    for (; *s; lines++) take_line(&s, places);
    return lines;
}

/* Line `line` of a text that is wrapped; blanks where it has none. */
static void put_line(ct__text *out, const char *s, int line, int places, int right)
{
    piece p = {0};
    for (int i = 0; i <= line; i++) p = *s ? take_line(&s, places) : (piece){0};
    ct__text_repeat(out, " ", right ? places - p.places : 0);
    ct__text_bytes(out, p.bytes ? p.s : "", p.bytes);
    ct__text_repeat(out, " ", right ? 0 : places - p.places);
}

/* ---- shape ---- */

static void measure_column(const ct_table *t, int64_t j, struct shape *shape)
{
    const ct__column *c = &t->column[j];
    char              buf[CT__NUMBER];
    int               text = 0;
    for (int64_t i = 0; i < t->rows; i++) {
        const ct__cell *cell = ct__table_cell(t, i, j);
        const char     *words = ct__table_words(t, i, j, "+-", buf);
        const int all = ct__text_columns(words) + (cell->mark && *words), before = (int)ct__table_before_point(words);
        if (cell->kind == CT__CELL_TEXT || !c->digits) {
            text = CT_MAX(text, all);
            continue;
        }
        shape->before = CT_MAX(shape->before, before);
        shape->after = CT_MAX(shape->after, all - before);
    }
    const int numbers = shape->before + shape->after, unit = c->unit && *c->unit ? ct__text_columns(c->unit) + 2 : 0;
    shape->least = CT_MAX(CT_MAX(numbers, unit), CT_MAX(longest_word(c->heading), CT_MIN(text, TEXT_LEAST)));
    shape->width = CT_MAX(CT_MAX(shape->least, ct__text_columns(c->heading)), text);
}

static int width_of(const layout *l, int64_t from, int64_t to)
{
    int width = l->t->columns ? l->shape[0].width : 0;
    for (int64_t j = from; j < to; j++) width += GAP + l->shape[j].width;
    return width;
}

/* Narrow the widest columns until all fit; whether they do. */
static int narrow(layout *l, int64_t columns, int width)
{
    while (width_of(l, 1, columns) > width) {
        struct shape *widest = NULL;
        for (int64_t j = 0; j < columns; j++)
            if (l->shape[j].width > l->shape[j].least && (!widest || l->shape[j].width > widest->width))
                widest = &l->shape[j];
        if (!widest) return 0;
        widest->width--;
    }
    return 1;
}

/* ---- lines ---- */

/* Column k of the block is column 0, or from + k - 1. */
static int64_t column_of(const layout *l, int64_t k) { return k ? l->from + k - 1 : 0; }

/* Without blanks at the end of a line. */
static void end_line(ct__text *out)
{
    while (!out->failed && out->used && out->bytes[out->used - 1] == ' ') out->used--;
    ct__text_put(out, "\n");
}

static void put_dashes(const layout *l)
{
    for (int64_t k = 0; k <= l->to - l->from; k++) {
        ct__text_repeat(l->out, " ", k ? GAP : 0);
        ct__text_repeat(l->out, "-", l->shape[column_of(l, k)].width);
    }
    end_line(l->out);
}

/* A line of texts, one a column, wrapped; those that take fewer lines begin at the first one or end at the last. */
static void put_lines(const layout *l, const ct__text *word, int bottom)
{
    int most = 1;
    for (int64_t k = 0; k <= l->to - l->from; k++)
        most = CT_MAX(most, lines_of(word[column_of(l, k)].bytes, l->shape[column_of(l, k)].width));
    for (int line = 0; line < most; line++) {
        for (int64_t k = 0; k <= l->to - l->from; k++) {
            const int64_t j = column_of(l, k);
            const int     first = bottom ? most - lines_of(word[j].bytes, l->shape[j].width) : 0;
            ct__text_repeat(l->out, " ", k ? GAP : 0);
            put_line(l->out, word[j].bytes, line - first, l->shape[j].width, l->t->column[j].digits > 0);
        }
        end_line(l->out);
    }
}

/* A cell as it stands in its column: numbers with blanks around them, so that all have their point at the same
 * place. */
static void set_cell(const layout *l, int64_t i, int64_t j, ct__text *word)
{
    const ct__cell *cell = ct__table_cell(l->t, i, j);
    char            buf[CT__NUMBER];
    const char     *words = ct__table_words(l->t, i, j, "+-", buf), *mark = *words ? MARK[cell->mark] : "";
    const int number = cell->kind != CT__CELL_TEXT && l->t->column[j].digits,
              before = (int)ct__table_before_point(words);
    if (number) ct__text_repeat(word, " ", l->shape[j].before - before);
    ct__text_plain(word, words);
    ct__text_put(word, mark);
    if (number) ct__text_repeat(word, " ", l->shape[j].after - ((int)strlen(words) + (int)strlen(mark) - before));
}

/* One row of texts: -2 headings, -1 units, else the table's. word: one a column, to be used again. */
static void put_row(const layout *l, int64_t i, ct__text *word)
{
    for (int64_t j = 0; j < l->t->columns; j++) {
        const ct__column *c = &l->t->column[j];
        word[j].used = 0;
        ct__text_put(&word[j], i == -1 && c->unit && *c->unit ? "(" : "");
        if (i == -2) ct__text_plain(&word[j], c->heading);
        else if (i == -1) ct__text_plain(&word[j], c->unit ? c->unit : "");
        else set_cell(l, i, j, &word[j]);
        ct__text_put(&word[j], i == -1 && c->unit && *c->unit ? ")" : "");
        if (word[j].failed) l->out->failed = 1;
    }
    if (!l->out->failed) put_lines(l, word, i < 0);
}

static void put_block(const layout *l, ct__text *word)
{
    int units = 0;
    for (int64_t k = 0; k <= l->to - l->from; k++)
        units = units || (l->t->column[column_of(l, k)].unit && *l->t->column[column_of(l, k)].unit);
    put_row(l, -2, word);
    if (units) put_row(l, -1, word);
    put_dashes(l);
    for (int64_t i = 0; i < l->t->rows; i++) {
        if (l->t->rule[i] && i) put_dashes(l);
        put_row(l, i, word);
    }
}

static void put_blocks(layout *l, int width, ct__text *word)
{
    const int64_t columns = l->t->columns;
    for (int64_t j = 0; j < columns; j++) measure_column(l->t, j, &l->shape[j]);
    if (width <= 0 || narrow(l, columns, width)) {
        l->from = 1, l->to = columns;
        put_block(l, word);
        return;
    }
    for (l->from = 1; l->from < columns || l->from == 1; l->from = l->to) {
        l->to = CT_MIN(l->from + 1, columns);
        while (l->to < columns && width_of(l, l->from, l->to + 1) <= width) l->to++;
        ct__text_put(l->out, l->from > 1 ? "\n" : "");
        put_block(l, word);
        if (l->to == columns) break;
    }
}

/* A note, wrapped. */
static void put_sentence(ct__text *out, const char *sentence, int width)
{
    ct__text plain = {0};
    ct__text_plain(&plain, sentence);
    if (plain.failed) out->failed = 1;
    for (const char *s = plain.bytes; !out->failed && s && *s; ct__text_put(out, "\n")) {
        const piece p = take_line(&s, width > 0 ? width : INT32_MAX);
        ct__text_bytes(out, p.s, p.bytes);
    }
    ct__text_free(&plain);
}

void ct__table_text(const ct_table *t, int width, ct__text *out)
{
    static const char *const MEANING[] = {"", "* best", "! warning", "* best, ! warning"};
    ct__text                *word = ct__zalloc(t->columns, sizeof *word);
    layout                   l = {.t = t, .out = out, .shape = ct__zalloc(t->columns, sizeof *l.shape)};
    if (!word || !l.shape) out->failed = 1;
    if (t->title) put_sentence(out, t->title, width), ct__text_put(out, "\n");
    if (!out->failed && t->columns) put_blocks(&l, width, word);
    if (t->notes || ct__table_marks(t)) ct__text_put(out, "\n");
    if (ct__table_marks(t)) put_sentence(out, MEANING[ct__table_marks(t)], width);
    for (int64_t i = 0; i < t->notes; i++) put_sentence(out, t->note[i], width);
    for (int64_t j = 0; word && j < t->columns; j++) ct__text_free(&word[j]);
    free(word);
    free(l.shape);
}
