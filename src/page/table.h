/* table.h: shared by the formats of a table. */
#ifndef CT_REPORT_TABLE_H
#define CT_REPORT_TABLE_H

#include "page/escape.h"

#include <covtune/page.h>

typedef enum { CT__CELL_EMPTY, CT__CELL_TEXT, CT__CELL_NUMBER, CT__CELL_DEVIATION } ct__cell_kind;

typedef struct {
    ct__cell_kind kind;
    int           mark; /* 1 best, 2 warning */
    double        value, deviation;
    char         *text; /* owned */
} ct__cell;

typedef struct {
    char *key, *heading, *unit; /* owned; unit may be NULL                            */
    int   digits;               /* 0: text                                            */
    int   deviates;             /* some cell has a deviation                          */
    int   fraction;             /* some number is no integer: then all have decimals  */
} ct__column;

struct ct_table {
    char       *title; /* may be NULL */
    ct__column *column;
    ct__cell   *cell; /* rows x columns */
    int8_t     *rule; /* of each row    */
    char      **note;
    int64_t     columns, columns_capacity, cells_capacity, rows, rules_capacity, notes, notes_capacity;
    int64_t     next; /* the next cell to set */
    int32_t     said; /* rows begun, also without memory */
    int         failed;
    const char *misuse; /* the first misused call; NULL: none */
};

static inline const ct__cell *ct__table_cell(const ct_table *t, int64_t row, int64_t column)
{
    return &t->cell[row * t->columns + column];
}

/* A cell for people, unescaped, with `sign` for the +-; "" if empty. out: room for what is not text. */
const char *ct__table_words(const ct_table *t, int64_t row, int64_t column, const char *sign, char out[CT__NUMBER]);

/* How much of a number stands before its point: digits, a sign, a parenthesis. All of it if it has no point, up to
 * an exponent or a deviation. */
size_t ct__table_before_point(const char *words);

/* Marks that a table explains below itself: bit 0 best, bit 1 warnings. */
int ct__table_marks(const ct_table *t);

void ct__table_text(const ct_table *t, int width, ct__text *out);
void ct__table_csv(const ct_table *t, ct__text *out);
void ct__table_json(const ct_table *t, ct__text *out);
void ct__table_markdown(const ct_table *t, ct__text *out);
/* A <figure>. A table that failed makes the text fail. */
void ct__table_html(const ct_table *t, ct__text *out);

#endif
