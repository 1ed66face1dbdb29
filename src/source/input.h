/* input.h: the bytes of a text file, decompressed if it is a gzip file, and its lines. */
#ifndef CT_SOURCE_INPUT_H
#define CT_SOURCE_INPUT_H

#include "source/source.h"

/* ---- Bytes ------------------------------------------------------------------------------------- */

typedef struct ct__input ct__input;

/* Refuses folders and, with a sentence that names them, other compressed files. */
ct_status ct__input_open(const char *path, ct__input **out, ct_err *err);
void      ct__input_free(ct__input *input);
/* *got <- bytes read into buf, at most `room`; 0 at the end. */
ct_status ct__input_read(ct__input *input, char *buf, size_t room, size_t *got, ct_err *err);
/* Bytes of the file itself, compressed or not; size 0: unknown (a pipe). */
void ct__input_progress(const ct__input *input, int64_t *bytes, int64_t *size);

/* ---- Lines ------------------------------------------------------------------------------------- */

#define CT__ROW_MAX ((int64_t)1 << 24) /* bytes of a line: a million columns with 16 digits each */
#define CT__SLACK   64                 /* bytes that may be read beyond the end of a line            */

/* All zero but for `input` and `path`, both borrowed, is a file at its beginning. */
typedef struct {
    ct__input  *input;
    const char *path;
    int64_t     line; /* number of the last line, from 1 */
    char       *buffer;
    int64_t     capacity, begin, end; /* begin: the next line */
    int64_t     nul;                  /* place of the first NUL byte in the buffer; -1: none. Set when a line is read */
    int         ended;
    int         open; /* 1: the last line that was read has no end: it is the last of the file, or was cut short */
    int         keeping;
    int64_t     kept, kept_line; /* where ct__rows_rewind goes, if keeping is 1 */
} ct__rows;

/* *row <- the next line, of *length bytes without its line end (LF or CR LF), NULL at the end of the file. It is
 * valid until the next call, and CT__SLACK bytes after it can be read. CT_E_PARSE: a NUL byte, a line that is too
 * long. */
ct_status ct__rows_next(ct__rows *rows, const char **row, int64_t *length, ct_err *err);
/* From now on lines stay in memory, until ct__rows_rewind makes the next of them the next line again. */
void ct__rows_keep(ct__rows *rows);
void ct__rows_rewind(ct__rows *rows);
void ct__rows_free(ct__rows *rows);

#endif
