/* source.h: what the readers of recordings share.
 *
 *   ct_source     options, selected values, conditions, stamps           source.c
 *   readers       a table of functions for each kind of file             reader_table.c
 *     tables      delimited text, TUM, EuRoC, KITTI, g2o                 table*.c
 *   expressions   compiled once, evaluated on every record               expression*.c, unit.c
 *   numbers       decimal text, rounded exactly                          decimal.c
 *   patterns      files by pattern                                       match.c
 *
 * To add a kind of file: a file with a `const ct__reader_ops`, its row in reader_table.c, a seed in tests/fuzz/corpus.
 * Nothing here depends on the locale. */
#ifndef CT_SOURCE_PRIVATE_H
#define CT_SOURCE_PRIVATE_H

#include "base/base.h"

#include <covtune/source.h>

/* ---- Values ----------------------------------------------------------------------------------- */

typedef enum {
    CT__VALUE_MISSING,
    CT__VALUE_NUMBER,
    CT__VALUE_INTEGER, /* an unsigned 64-bit integer beyond INT64_MAX is a CT__VALUE_NUMBER */
    CT__VALUE_TIME,    /* ns, in `integer`; a number of seconds where a number is needed    */
    CT__VALUE_TEXT     /* not ended by 0                                                    */
} ct__value_kind;

/* A field of a record as its reader has it. The core converts: to a double, to text, to a stamp. */
typedef struct {
    ct__value_kind kind;
    int32_t        length; /* of text, in bytes */
    union {
        double      number;
        int64_t     integer;
        const char *text; /* valid until the next record */
    };
} ct__value;

/* What a field is wanted for. A reader of typed records may ignore it and give the value as it is. A reader of text
 * gives for NUMBER a number (or fails with the line), for TEXT the word, for STAMP the word. */
typedef enum { CT__AS_NUMBER, CT__AS_TEXT, CT__AS_STAMP } ct__as;

/* ---- Readers ---------------------------------------------------------------------------------- */

/* The beginning of a file, for detection. */
typedef struct {
    const char *path;
    int         folder; /* 1: a folder; bytes is empty */
    const char *bytes;  /* the first CT__HEAD_MAX at most; of a gzip file those of its content */
    size_t      size;
} ct__head;
#define CT__HEAD_MAX 4096

typedef struct {
    /* The format that the file has, or -1. The table is asked in order; delimited text is last and takes all files. */
    int (*detect)(const ct__head *head);
    /* *reader <- a new reader at the first record. Options that concern records (time, where, constants) are the
     * core's. On failure *reader is NULL, and err has a sentence with the path. */
    ct_status (*open)(const char *path, ct_source_format format, const ct_source_options *options, void **reader,
                      ct_err *err);
    void (*free)(void *reader); /* NULL: nothing */

    /* The fields, as ct_source_field_at gives them; NULL beyond the last. */
    const ct_source_field *(*field)(const void *reader, int32_t i);
    /* May be NULL. 1: `bind` knows the name. NULL: it is one of the names of `field`. */
    int (*knows)(const void *reader, const char *name);
    /* 1: the field (any name that `bind` knows) is text, so that comparisons with it are of text. */
    int (*is_text)(const void *reader, const char *name);
    int typed; /* 1: types are known for all records, so that text cannot become a number in a later one */
    /* *slot <- the place of this field in the values of each record; -1: there is no such field (the core then says
     * so, with the nearest name). Called any number of times before the first `next`, also twice for one name. The
     * slots are numbered 0, 1, 2 ... */
    ct_status (*bind)(void *reader, const char *name, ct__as as, int32_t *slot, ct_err *err);
    /* *slot <- the place of the stamp that records have if the caller names none (kind TIME, or for tables TEXT;
     * *digits as in ct__stamp_of); -1: none, records are numbered. */
    ct_status (*bind_stamp)(void *reader, int32_t *slot, int *digits, ct_err *err);

    /* *more <- 1 and the next record: (*value)[slot], valid until the next call, and its line (of a bag: number of the
     * message); or 0 at the end. */
    ct_status (*next)(void *reader, const ct__value **value, int64_t *line, int *more, ct_err *err);
    /* May be NULL. Called for records that `where` takes, or all if there is none: complete the slots that were bound
     * after `bind_rest`, so that lines of another kind, which are left out, need not have them. */
    ct_status (*complete)(void *reader, ct_err *err);
    /* May be NULL. Slots bound from now on are those of `complete`. */
    void (*bind_rest)(void *reader);
    /* "file:line" or "file: /topic, message 17" of the last record. */
    void (*where)(const void *reader, char *buf, size_t size);
    void (*progress)(const void *reader, int64_t *bytes, int64_t *size); /* as in ct_source_counts */
    int64_t   (*damaged)(const void *reader); /* bytes of a file that was cut short; NULL: none */
    int       (*cut)(void *reader); /* is a record that was refused the last of the file, without its end? It counts as
                                       damaged then; NULL: never */
} ct__reader_ops;

/* Row f reads format f; NULL: not in this build (the core says so). Rows may be equal. */
extern const ct__reader_ops *const ct__reader_table[CT_SOURCE_FORMAT_COUNT];
extern const ct__reader_ops        ct__table_reader, ct__bag_reader;

/* The format of a file or folder by its content. */
ct_status ct__source_detect(const char *path, ct_source_format *format, ct_err *err);

/* ---- Conversions ------------------------------------------------------------------------------ */

/* A value as a double: integers rounded, times in s, missing as NaN. *ok <- 0 and NaN if it is text. */
double ct__value_number(const ct__value *value, int *ok);
/* As text into buf: numbers by %.15g with a point, integers exactly, words that are numbers likewise; missing as "".
 * Returns the length that it would have, as snprintf does. */
size_t ct__value_text(const ct__value *value, char *buf, size_t size);
/* As ns: a time as it is; numbers, integers and decimal words times 10^digits (9: they are in s; 0: in ns), rounded to
 * the nearest. *found <- 0 if it is missing or NaN. CT_E_PARSE without a place: no number, or beyond 64 bits. */
ct_status ct__stamp_of(const ct__value *value, int digits, ct_ns *stamp, int *found, ct_err *err);

/* hi + lo seconds in ns; *found <- 0 if it is NaN. */
ct_status ct__stamp_of_seconds(double hi, double lo, ct_ns *stamp, int *found, ct_err *err);

int ct__is_utf8(const char *text, size_t length);
/* A word in quotes for messages, at most 40 characters of it, only printable ones. Returns buf. */
#define CT__SHOW_MAX 48
const char *ct__show(const char *text, size_t length, char buf[CT__SHOW_MAX]);

/* ---- The core --------------------------------------------------------------------------------- */

/* How many values and texts are selected: the lengths of ct_record.value and .text. */
void ct__source_selected(const ct_source *s, int64_t *values, int64_t *texts);
/* ct_source_count without bytes and damage. */
const ct_source_counts *ct__source_counted(const ct_source *s);

#endif
