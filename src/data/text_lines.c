/* text_lines.c: text files as lines of words, and words as numbers.
 *
 * The file is read in large pieces. A line is found with memchr and split in place, so a word costs no copy and no
 * allocation. Memory does not depend on the file: a line longer than CT__LINE_MAX is an error. */
#define _POSIX_C_SOURCE 200809L
#include "data/data.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>

#define BUFFER_SIZE ((int64_t)2 * CT__LINE_MAX) /* a whole line fits after any remainder */

/* ---- messages ---- */

/* "path:line: " or, before the first line, "path: " */
static void place(const ct__lines *in, char *buf, size_t size)
{
    if (in->line > 0) snprintf(buf, size, "%s:%lld: ", in->path, (long long)in->line);
    else snprintf(buf, size, "%s: ", in->path);
}

ct_status ct__lines_bad(const ct__lines *in, const char *fmt, ...)
{
    char    text[sizeof in->err->text];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    ct_fail(in->err, CT_E_PARSE, "%s", text);
    return ct__lines_place(in, CT_E_PARSE);
}

ct_status ct__lines_place(const ct__lines *in, ct_status status)
{
    if (status == CT_OK || !in->err) return status;
    char where[sizeof in->err->text], text[sizeof in->err->text];
    place(in, where, sizeof where);
    memcpy(text, in->err->text, sizeof text);
    return ct_fail(in->err, status, "%s%s", where, text);
}

const char *ct__quote(const char *word, char buf[CT__QUOTE_MAX])
{
    int n = 0;
    buf[n++] = '"';
    for (; *word && n < CT__QUOTE_MAX - 5; word++) buf[n++] = *word >= ' ' && *word <= '~' ? *word : '?';
    strcpy(buf + n, *word ? "...\"" : "\"");
    return buf;
}

/* ---- lines ---- */

/* Moves the remainder to the front and reads more after it. */
static ct_status refill(ct__lines *in)
{
    if (!in->buffer) in->buffer = malloc((size_t)BUFFER_SIZE);
    if (!in->buffer) return ct__no_memory(in->err, "bytes of text", BUFFER_SIZE);
    memmove(in->buffer, in->buffer + in->begin, (size_t)(in->end - in->begin));
    in->end -= in->begin;
    in->begin = 0;
    const size_t got = fread(in->buffer + in->end, 1, (size_t)(BUFFER_SIZE - 1 - in->end), in->file);
    in->end += (int64_t)got;
    in->ended = got == 0;
    if (ferror(in->file)) return ct_fail(in->err, CT_E_IO, "%s: %s", in->path, strerror(errno));
    return CT_OK;
}

/* The next line as a string; NULL at the end of the file. */
static ct_status next_line(ct__lines *in, char **line)
{
    *line = NULL;
    char   *newline = NULL;
    int64_t searched = 0;
    for (;;) {
        const int64_t have = in->end - in->begin;
        if (have > searched) newline = memchr(in->buffer + in->begin + searched, '\n', (size_t)(have - searched));
        searched = have;
        if (newline || in->ended || have > CT__LINE_MAX) break;
        CT_TRY(refill(in));
    }
    const int64_t length = newline ? newline - (in->buffer + in->begin) : in->end - in->begin;
    if (!newline && length == 0) return CT_OK;
    in->line++;
    if (length > CT__LINE_MAX) return ct__lines_bad(in, "line is longer than %d bytes", CT__LINE_MAX);
    *line = in->buffer + in->begin;
    in->begin += length + (newline != NULL);
    if (memchr(*line, 0, (size_t)length)) return ct__lines_bad(in, "a NUL byte: this is not a text file");
    (*line)[length] = 0;
    return CT_OK;
}

static int is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static ct_status too_many(const ct__lines *in)
{
    return ct__lines_bad(in, "more than %d words in a line", CT__WORDS_MAX);
}

/* Words between commas. A blank line, or one that starts with '#', has none. */
static ct_status split_at_commas(ct__lines *in, char *at)
{
    while (is_blank(*at)) at++;
    if (!*at || *at == '#') return CT_OK;
    for (char *next = at; next; at = next) {
        char *end = at + strcspn(at, ",");
        if (in->words == CT__WORDS_MAX) return too_many(in);
        next = *end ? end + 1 : NULL;
        while (end > at && is_blank(end[-1])) end--;
        *end = 0;
        while (is_blank(*at)) at++;
        in->word[in->words++] = at;
    }
    return CT_OK;
}

static ct_status split(ct__lines *in, char *at)
{
    in->words = 0;
    if (in->commas) return split_at_commas(in, at);
    for (;;) {
        while (is_blank(*at)) at++;
        if (!*at || *at == '#') return CT_OK;
        if (in->words == CT__WORDS_MAX) return too_many(in);
        in->word[in->words++] = at;
        while (*at && !is_blank(*at)) at++;
        if (*at) *at++ = 0;
    }
}

ct_status ct__lines_next(ct__lines *in, int *more)
{
    char *line;
    if (in->wants_ahead) ct__lines_ahead_begin(in);
    if (in->ahead) return ct__lines_ahead_next(in, more);
    *more = 0;
    in->words = 0;
    do {
        CT_TRY(next_line(in, &line));
        if (!line) return CT_OK;
        if (in->line == 1 && !strncmp(line, "\xef\xbb\xbf", 3)) line += 3; /* byte order mark */
        CT_TRY(split(in, line));
    } while (!in->words);
    *more = 1;
    return CT_OK;
}

void ct__lines_free(ct__lines *in)
{
    ct__lines_ahead_end(in);
    free(in->buffer);
    in->buffer = NULL;
    in->begin = in->end = 0;
}

/* ---- words ---- */

/* strtod alone would accept "nan", "inf" and "0x1p3". A loop, because strspn takes longer than the rest of reading a
 * line. */
int ct__is_number(const char *text, double *value)
{
    for (const char *c = text; *c; c++)
        if ((*c < '0' || *c > '9') && *c != '.' && *c != '-' && *c != '+' && *c != 'e' && *c != 'E') return 0;
    if (!*text) return 0;
    char *end;
    *value = strtod(text, &end);
    return !*end && isfinite(*value);
}

ct_status ct__word_number(const ct__lines *in, int w, const char *what, double *value)
{
    char quote[CT__QUOTE_MAX];
    if (w >= in->words) return ct__lines_bad(in, "%s needs a number for %s, the line ends", in->word[0], what);
    int is_number = in->ahead ? in->is_number[w] : CT__NOT_READ;
    if (is_number == 1) *value = in->number[w];
    else if (is_number == CT__NOT_READ) is_number = ct__is_number(in->word[w], value);
    if (!is_number)
        return ct__lines_bad(in, "expected a finite number for %s, found %s", what, ct__quote(in->word[w], quote));
    return CT_OK;
}

ct_status ct__word_numbers(const ct__lines *in, int w, int n, const char *what, double value[])
{
    for (int i = 0; i < n; i++) CT_TRY(ct__word_number(in, w + i, what, &value[i]));
    return CT_OK;
}

ct_status ct__word_integer(const ct__lines *in, int w, const char *what, int64_t low, int64_t high, int64_t *value)
{
    char quote[CT__QUOTE_MAX], *end;
    if (w >= in->words) return ct__lines_bad(in, "%s needs an integer for %s, the line ends", in->word[0], what);
    const char *text = in->word[w];
    errno = 0;
    const long long number = strtoll(text, &end, 10);
    if (*end || end == text || errno || number < low || number > high)
        return ct__lines_bad(in, "expected an integer from %lld to %lld for %s, found %s", (long long)low,
                             (long long)high, what, ct__quote(text, quote));
    *value = number;
    return CT_OK;
}

ct_status ct__word_need(const ct__lines *in, int w, int n, const char *what)
{
    const int found = CT_MAX(in->words - w, 0);
    char      quote[CT__QUOTE_MAX];
    if (found >= n) return CT_OK;
    ct__quote(in->word[0], quote);
    return ct__lines_bad(in, "%.*s needs %d %s, found %d", (int)strlen(quote) - 2, quote + 1, n, what, found);
}

ct_status ct__word_end(const ct__lines *in, int w)
{
    char quote[CT__QUOTE_MAX];
    if (in->words <= w) return CT_OK;
    return ct__lines_bad(in, "expected the end of the line, found %s", ct__quote(in->word[w], quote));
}
