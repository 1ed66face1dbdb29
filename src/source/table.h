/* table.h: tables as text: what opening, guessing and reading share.
 *
 *   table.c          open, columns by name, slots
 *   table_guess.c    separator, header and types from the first lines
 *   table_names.c    names and units of columns
 *   table_row.c      a line to words, words to values; words.c: with quotes
 *   layout.c         TUM, EuRoC, KITTI and g2o
 */
#ifndef CT_SOURCE_TABLE_H
#define CT_SOURCE_TABLE_H

#include "source/input.h"

#define CT__BLANK ' '    /* the separator of words between which there are any number of blanks and tabs */
#define CT__WIDE  '\001' /* ... at least a tab or two blanks: names with blanks                          */

/* A word of a line: not ended by 0, without quotes and blanks around it. */
typedef struct {
    const char *text; /* NULL: the line ends before it */
    int64_t     length;
} ct__cell;

typedef struct {
    int32_t column; /* from 0                                               */
    ct__as  as;
    int     rest;   /* 1: converted for records that are not left out alone */
} ct__table_slot;

enum { CT__COLUMN_UNKNOWN /* no value was seen: a number */, CT__COLUMN_NUMBER, CT__COLUMN_TIME, CT__COLUMN_TEXT };

typedef struct ct__table ct__table;
struct ct__table {
    char            *path;
    ct_source_format format;
    ct__input       *input;
    ct__rows         rows;
    int64_t          skip;

    /* dialect */
    char    separator;
    char   *comment; /* NULL: the usual ones; "": none */
    size_t  comment_length;
    char  **missing;
    double *missing_number; /* NaN: no number */
    int32_t missings;

    /* columns */
    int32_t          named;     /* by the caller, at the beginning of each line                               */
    int32_t          columns;   /* that have a name or a number                                               */
    int64_t          width;     /* columns that a line must have; 0: as the first that is taken               */
    int64_t          header;    /* line of the header; 0: none                                                */
    int64_t          most;      /* columns that can be asked for by number                                    */
    char            *type;      /* of column k: below                                                         */
    ct_source_field *field;
    const char     **written;   /* names as the header has them, with their units */
    int              given;     /* 1: names are not those of the header                                       */
    char            *names;     /* what field and written point into              */
    int32_t          stamp;     /* the column of the stamp; -1: none              */
    int              stamp_digits;

    /* what is wanted of each line */
    ct__table_slot *slot;
    ct__value      *value;
    ct__cell       *cell;  /* of each slot                 */
    int32_t        *order; /* of the slots, by column      */
    int64_t         slots, slot_capacity, value_capacity, cell_capacity, order_capacity;
    int             rest;  /* of the slots that are bound now */

    /* the last line */
    const char *begin, *end; /* the line */
    int64_t damaged; /* bytes of a last line that was cut short */
    int     taken; /* 1: a line was taken */
    int64_t found; /* its columns */
    int     open_end; /* 1: a separator ends it */
    char   *scratch; /* quoted words with doubled quotes */
    int64_t scratch_capacity;
};

/* ---- Words, one after the other ------------------------------------------------------------------ */

typedef struct {
    const char *at, *end;
    char        separator; /* or CT__BLANK, CT__WIDE */
    int         begun, ended;
    char       *scratch; /* as long as the line; advanced by words with doubled quotes */
} ct__words;

/* *cell <- the next word; 0: there is none; -1: a quote does not end, or something follows it. */
int ct__words_next(ct__words *words, ct__cell *cell);

/* ---- Lines --------------------------------------------------------------------------------------- */

/* The next line that is neither blank nor a comment; *row is NULL at the end. */
ct_status ct__table_row(ct__table *t, const char **row, int64_t *length, ct_err *err);
int       ct__table_is_comment(const ct__table *t, const char *row, int64_t length);
int       ct__is_missing(const ct__table *t, const ct__cell *cell);
/* Is it a number with a decimal comma, "1,5", in a table whose separator is another? */
int       ct__decimal_comma(const ct__cell *cell, char separator);
int       ct__is_nan(const char *text, int64_t length); /* "nan", "-nan", "nan(ind)", ... */
/* Find the cells of the slots in a line; convert those with rest as given. */
ct_status ct__table_split(ct__table *t, const char *row, int64_t length, ct_err *err);
ct_status ct__table_convert(ct__table *t, int rest, ct_err *err);
/* The line has as many columns as the table. */
ct_status ct__table_width(ct__table *t, ct_err *err);
/* "file:line: " and a sentence; CT_E_PARSE. */
ct_status ct__table_bad(const ct__table *t, ct_err *err, const char *fmt, ...) CT_PRINTF(3, 4);
/* The name of a column for messages, in quotes. Returns buf. */
const char *ct__table_column(const ct__table *t, int32_t column, char buf[CT__SHOW_MAX]);
ct_status   ct__table_scratch(ct__table *t, int64_t length, ct_err *err);

/* ---- The first lines ------------------------------------------------------------------------------ */

/* Separator, columns, names and types. The next line is then the first with values. */
ct_status ct__table_guess(ct__table *t, const ct_source_options *options, ct_err *err);
/* Is it a unit of expressions? */
int ct__is_unit(const ct__cell *cell);
/* Name the t->columns columns: as given, or (NULL) as the words of the header, or by number where these end. */
ct_status ct__table_name(ct__table *t, const char *const given[], const ct__words *header, const ct__words *units,
                         ct_err *err);

/* ---- Layouts -------------------------------------------------------------------------------------- */

/* Number and names of the columns of TUM, KITTI and g2o; t->columns are those of the first line. */
ct_status ct__layout_names(ct__table *t, const char *const **given, ct_err *err);
/* The stamp of EuRoC. */
void ct__layout_stamp(ct__table *t);
/* Another name of a column, as other programs have it; NULL: none. */
const char *ct__layout_alias(const ct__table *t, const char *name);
/* ct__table_split of a g2o line: columns depend on the tag. */
ct_status ct__g2o_split(ct__table *t, const char *row, int64_t length, ct_err *err);
/* The format of a text. */
int ct__layout_detect(const ct__head *head);

#endif
