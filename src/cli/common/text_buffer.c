/* text_buffer.c: growing text, and opening files. The program ends when memory runs out (cli_check_alloc). A stream in
 * memory (open_memstream) is not used: it loses text then, and reports that neither in its error flag nor by fclose. */
#define _POSIX_C_SOURCE 200809L
#include "cli/common/cli.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Room for n more bytes and a terminating zero. */
static void reserve(cli_buffer *m, size_t n)
{
    if (m->used + n < m->capacity) return;
    m->capacity = 2 * (m->used + n) + 64;
    m->text = cli_check_alloc(realloc(m->text, m->capacity));
}

void cli_buffer_put(cli_buffer *m, const char *bytes, size_t n)
{
    reserve(m, n);
    memcpy(m->text + m->used, bytes, n);
    m->used += n;
    m->text[m->used] = 0;
}

void cli_buffer_printf(cli_buffer *m, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    const int n = vsnprintf(NULL, 0, fmt, args);
    if (n < 0) cli_check_alloc(NULL); /* memory is the only cause with these formats */
    reserve(m, (size_t)n);
    vsnprintf(m->text + m->used, (size_t)n + 1, fmt, again);
    m->used += (size_t)n;
    va_end(again);
    va_end(args);
}

char *cli_buffer_text(cli_buffer *m)
{
    cli_buffer_put(m, "", 0);
    return m->text;
}

/* ---- files ---- */

/* The program ends if memory was the cause of the failure. */
static void *opened(void *p)
{
    if (!p && errno == ENOMEM) cli_check_alloc(NULL);
    return p;
}

FILE *cli_open(const char *path, const char *mode) { return opened(fopen(path, mode)); }

ssize_t cli_getline(char **line, size_t *size, FILE *file)
{
    errno = 0;
    const ssize_t n = getline(line, size, file);
    if (n < 0 && errno == ENOMEM) cli_check_alloc(NULL);
    return n;
}

DIR *cli_open_folder(const char *path) { return opened(opendir(path)); }

json_t *cli_load_json(const char *path, json_error_t *why)
{
    FILE *file = cli_open(path, "rb");
    if (!file && why) snprintf(why->text, sizeof why->text, "%s", strerror(errno));
    json_t *root = file ? json_loadf(file, 0, why) : NULL;
    if (file) fclose(file);
    return root;
}

/* ---- jansson ---- */

/* jansson 2.14 does not check that the buffer of its reader grew: a number then loses a digit, or an assertion inside
 * jansson fails. */
static void *need_bytes(size_t size) { return cli_check_alloc(malloc(size ? size : 1)); }

void cli_json_init(void) { json_set_alloc_funcs(need_bytes, free); }
