/* table_html_markdown.c: tables in Markdown and HTML. In HTML numbers are aligned at their points: the part after the
 * point has the width of the longest one of its column. */
#include "page/table.h"
#include "base/base.h"

#define LONG       24         /* letters from which on a text has a minimal width */
#define PLUS_MINUS "\302\261" /* U+00B1 */

/* A heading with its unit, in brackets. */
static void put_heading(const ct__column *c, void (*put)(ct__text *, const char *), const char *before,
                        const char *after, ct__text *out)
{
    put(out, c->heading);
    if (!c->unit || !*c->unit) return;
    ct__text_put(out, before);
    put(out, c->unit);
    ct__text_put(out, after);
}

void ct__table_markdown(const ct_table *t, ct__text *out)
{
    static const char *const OPEN[] = {"", "**", "*"};
    char                     buf[CT__NUMBER];
    if (t->title) {
        ct__text_put(out, "**");
        ct__text_markdown(out, t->title);
        ct__text_put(out, "**\n\n");
    }
    for (int64_t j = 0; j < t->columns; j++) {
        ct__text_put(out, j ? " | " : "| ");
        put_heading(&t->column[j], ct__text_markdown, " (", ")", out);
    }
    ct__text_put(out, " |\n");
    for (int64_t j = 0; j < t->columns; j++) ct__text_put(out, t->column[j].digits ? "|---:" : "|---");
    ct__text_put(out, "|\n");
    for (int64_t i = 0; i < t->rows; i++) {
        for (int64_t j = 0; j < t->columns; j++) {
            const char *words = ct__table_words(t, i, j, PLUS_MINUS, buf),
                       *mark = *words ? OPEN[ct__table_cell(t, i, j)->mark] : "";
            ct__text_put(out, j ? " | " : "| ");
            ct__text_put(out, mark);
            ct__text_markdown(out, words);
            ct__text_put(out, mark);
        }
        ct__text_put(out, " |\n");
    }
    for (int64_t i = 0; i < t->notes; i++) {
        ct__text_put(out, "\n");
        ct__text_markdown(out, t->note[i]);
        ct__text_put(out, "\n");
    }
}

/* ---- HTML ---- */

/* Widths in tenths of a digit, of fonts without serifs. */
static int width_of(const char *s)
{
    int width = 0;
    while (*s) {
        const unsigned long c = ct__text_next(&s);
        width += c == '.' || c == ' ' || c == '(' || c == ')' || c == '-' ? 5 : c == 0xb1 ? 11 : 10;
    }
    return width;
}

/* Of the widest part after a point in a column. */
static int fraction_width(const ct_table *t, int64_t column)
{
    char buf[CT__NUMBER];
    int  widest = 0;
    for (int64_t i = 0; i < t->rows; i++) {
        if (ct__table_cell(t, i, column)->kind == CT__CELL_TEXT) continue;
        const char *words = ct__table_words(t, i, column, PLUS_MINUS, buf);
        widest = CT_MAX(widest, width_of(words + ct__table_before_point(words)));
    }
    return widest;
}

static void put_cell(const ct_table *t, int64_t i, int64_t j, int fraction, ct__text *out)
{
    static const char *const CLASS[] = {"", " best", " warned"};
    char                     buf[CT__NUMBER];
    const ct__cell          *cell = ct__table_cell(t, i, j);
    const char              *words = ct__table_words(t, i, j, PLUS_MINUS, buf), *tag = j ? "td" : "th";
    const char *long_text = cell->kind == CT__CELL_TEXT && ct__text_columns(words) > LONG ? " long" : "",
               *mark = *words ? CLASS[cell->mark] : "";
    ct__text_printf(out, "<%s%s class=\"%s%s%s\">", tag, j ? "" : " scope=\"row\"", t->column[j].digits ? "n" : "t",
                    long_text, mark);
    if (cell->kind == CT__CELL_TEXT || !fraction || !*words) {
        ct__text_html(out, words);
    } else {
        const size_t n = ct__table_before_point(words);
        ct__text_bytes(out, words, n);
        ct__text_printf(out, "<span class=\"f\" style=\"min-width:%d.%dch\">%s</span>", fraction / 10, fraction % 10,
                        words + n);
    }
    ct__text_printf(out, "</%s>", tag);
}

static void put_body(const ct_table *t, ct__text *out)
{
    int *fraction = ct__zalloc(t->columns, sizeof *fraction);
    if (!fraction) {
        out->failed = 1;
        return;
    }
    for (int64_t j = 0; j < t->columns; j++) fraction[j] = t->column[j].digits ? fraction_width(t, j) : 0;
    ct__text_put(out, "<tbody>\n");
    for (int64_t i = 0; i < t->rows; i++) {
        ct__text_put(out, t->rule[i] ? "<tr class=\"rule\">" : "<tr>");
        for (int64_t j = 0; j < t->columns; j++) put_cell(t, i, j, fraction[j], out);
        ct__text_put(out, "</tr>\n");
    }
    ct__text_put(out, "</tbody>");
    free(fraction);
}

void ct__table_html(const ct_table *t, ct__text *out)
{
    if (t->failed) out->failed = 1;
    if (out->failed) return;
    ct__text_put(out, "<figure class=\"table\">\n");
    if (t->title) {
        ct__text_put(out, "<figcaption>");
        ct__text_html(out, t->title);
        ct__text_put(out, "</figcaption>\n");
    }
    ct__text_put(out, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"");
    ct__text_html(out, t->title ? t->title : "Table");
    ct__text_put(out, "\"><table>\n<thead><tr>");
    for (int64_t j = 0; j < t->columns; j++) {
        ct__text_put(out, t->column[j].digits ? "<th scope=\"col\" class=\"n\">" : "<th scope=\"col\" class=\"t\">");
        put_heading(&t->column[j], ct__text_html, " <span class=\"unit\">", "</span>", out);
        ct__text_put(out, "</th>");
    }
    ct__text_put(out, "</tr></thead>\n");
    put_body(t, out);
    ct__text_put(out, "</table></div>\n");
    for (int64_t i = 0; i < t->notes; i++) {
        ct__text_put(out, "<p class=\"note\">");
        ct__text_html(out, t->note[i]);
        ct__text_put(out, "</p>\n");
    }
    ct__text_put(out, "</figure>\n");
}
