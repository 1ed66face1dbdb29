/* words.c: the words of a line, one after the other, with quotes. For the first lines of a table, and for lines that
 * have quotes; others are split faster (table_row.c). */
#include "source/table.h"

static int is_blank(char c) { return c == ' ' || c == '\t'; }

static int by_blanks(const ct__words *w) { return w->separator == CT__BLANK || w->separator == CT__WIDE; }

static int ends(const ct__words *w, const char *at)
{
    if (at >= w->end) return 1;
    if (w->separator == CT__WIDE) return *at == '\t' || (*at == ' ' && (at + 1 == w->end || is_blank(at[1])));
    return w->separator == CT__BLANK ? is_blank(*at) : *at == w->separator;
}

/* Blanks at `at` that are no separator. */
static const char *skip_blanks(const ct__words *w, const char *at)
{
    while (at < w->end && is_blank(*at) && (by_blanks(w) || *at != w->separator)) at++;
    return at;
}

/* The word in quotes at w->at: to the closing quote; two quotes are one. */
static int quoted(ct__words *w, ct__cell *cell)
{
    const char *const begin = w->at + 1;
    const char *at = begin;
    int doubled = 0;
    for (;; at++) {
        if (at >= w->end) return -1;
        if (*at != '"') continue;
        if (at + 1 >= w->end || at[1] != '"') break;
        doubled = 1;
        at++;
    }
    *cell = (ct__cell){.text = begin, .length = at - begin};
    if (doubled) {
        char *out = w->scratch;
        for (const char *c = begin; c < at; c++) {
            *out++ = *c;
            c += *c == '"';
        }
        *cell = (ct__cell){.text = w->scratch, .length = out - w->scratch};
        w->scratch = out;
    }
    w->at = skip_blanks(w, at + 1);
    return ends(w, at + 1) || ends(w, w->at) ? 1 : -1;
}

int ct__words_next(ct__words *w, ct__cell *cell)
{
    const int blank = by_blanks(w);
    if (w->ended) return 0;
    if (w->begun && !blank) w->at++; /* the separator */
    w->begun = 1;
    w->at = skip_blanks(w, w->at);
    if (blank && w->at >= w->end) return 0;
    int state = 1;
    if (w->at < w->end && *w->at == '"')
        state = quoted(w, cell);
    else {
        const char *const begin = w->at;
        while (!ends(w, w->at)) w->at++;
        const char *end = w->at;
        while (end > begin && is_blank(end[-1])) end--;
        *cell = (ct__cell){.text = begin, .length = end - begin};
    }
    w->ended = w->at >= w->end;
    return state;
}
