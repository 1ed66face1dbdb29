/* rows.c: lines of a text. The file is read in large pieces; a line is found by memchr and not copied. Memory does not
 * depend on the file: the buffer grows to the longest line, which has a limit. */
#include "source/input.h"

#define FIRST ((int64_t)1 << 18) /* bytes of the buffer */

/* The first byte that is still needed. */
static int64_t needed(const ct__rows *r) { return r->keeping ? r->kept : r->begin; }

/* Make room after the bytes that are there: move them to the front, or grow. */
static ct_status make_room(ct__rows *r, ct_err *err)
{
    const int64_t from = needed(r);
    if (from > 0) {
        memmove(r->buffer, r->buffer + from, (size_t)(r->end - from));
        r->begin -= from;
        r->end -= from;
        r->kept -= from;
        if (r->nul >= 0) r->nul -= from;
    }
    if (r->capacity > 0 && r->end < r->capacity / 2) return CT_OK;
    const int64_t capacity = CT_MAX(FIRST, r->capacity * 2);
    char *buffer = realloc(r->buffer, (size_t)(capacity + CT__SLACK));
    if (!buffer) return ct__no_memory(err, "bytes of text", capacity);
    r->buffer = buffer;
    r->capacity = capacity;
    return CT_OK;
}

static ct_status refill(ct__rows *r, ct_err *err)
{
    size_t got = 0;
    if (!r->buffer) r->nul = -1;
    CT_TRY(make_room(r, err));
    CT_TRY(ct__input_read(r->input, r->buffer + r->end, (size_t)(r->capacity - r->end), &got, err));
    const char *nul = got > 0 && r->nul < 0 ? memchr(r->buffer + r->end, 0, got) : NULL;
    if (nul) r->nul = nul - r->buffer;
    r->end += (int64_t)got;
    memset(r->buffer + r->end, 0, CT__SLACK);
    r->ended = got == 0;
    return CT_OK;
}

ct_status ct__rows_next(ct__rows *r, const char **row, int64_t *length, ct_err *err)
{
    *row = NULL;
    char *newline = NULL;
    for (int64_t searched = 0;;) {
        const int64_t have = r->end - r->begin;
        if (have > searched) newline = memchr(r->buffer + r->begin + searched, '\n', (size_t)(have - searched));
        searched = have;
        if (newline || r->ended || have > CT__ROW_MAX) break;
        CT_TRY(refill(r, err));
    }
    int64_t n = newline ? newline - (r->buffer + r->begin) : r->end - r->begin;
    if (!newline && n == 0) return CT_OK;
    r->line++;
    r->open = !newline;
    if (r->nul >= 0 && r->nul < r->begin + n)
        return ct_fail(err, CT_E_PARSE, "%s:%lld: a NUL byte: this is no text file", r->path, (long long)r->line);
    if (n > CT__ROW_MAX)
        return ct_fail(err, CT_E_PARSE, "%s:%lld: the line is longer than %lld bytes", r->path, (long long)r->line,
                       (long long)CT__ROW_MAX);
    *row = r->buffer + r->begin;
    r->begin += n + (newline != NULL);
    if (r->line == 1 && n >= 3 && !memcmp(*row, "\xef\xbb\xbf", 3)) *row += 3, n -= 3; /* byte order mark */
    if (n > 0 && (*row)[n - 1] == '\r') n--;
    *length = n;
    return CT_OK;
}

void ct__rows_keep(ct__rows *r)
{
    r->kept = r->begin;
    r->kept_line = r->line;
    r->keeping = 1;
}

void ct__rows_rewind(ct__rows *r)
{
    r->begin = r->kept;
    r->line = r->kept_line;
    r->keeping = 0;
}

void ct__rows_free(ct__rows *r)
{
    free(r->buffer);
    r->buffer = NULL;
    r->begin = r->end = r->capacity = 0;
}
