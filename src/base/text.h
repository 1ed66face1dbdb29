/* text.h: text that grows.
 *
 * A failed allocation sets `failed`; later calls do nothing. Callers check `failed` once, before the text is used. A
 * file is opened only when its text is complete. */
#ifndef CT_BASE_TEXT_H
#define CT_BASE_TEXT_H

#include <covtune/base.h>
#include <stdarg.h>
#include <stdio.h>

/* All zero is an empty text. bytes is NULL or ended by 0. */
typedef struct {
    char   *bytes;
    int64_t used, capacity;
    int     failed;
} ct__text;

void ct__text_free(ct__text *text);
void ct__text_put(ct__text *text, const char *s);
void ct__text_bytes(ct__text *text, const char *s, size_t n);
void ct__text_repeat(ct__text *text, const char *s, int count); /* none if count <= 0 */
/* For words and integers; numbers with a decimal point have their own functions, because a locale may write 0,5. */
void ct__text_printf(ct__text *text, const char *fmt, ...) CT_PRINTF(2, 3);
void ct__text_vprintf(ct__text *text, const char *fmt, va_list args);

/* The text as a stream's next bytes; CT_E_MEMORY if it is not whole, and then nothing is written. CT_E_IO if the
 * stream does not take it: one in memory (open_memstream) sets no error flag. */
ct_status ct__text_write(const ct__text *text, FILE *out, ct_err *err);
/* As a file, replaced atomically. */
ct_status ct__text_save(const ct__text *text, const char *path, ct_err *err);
/* As a string, which the caller frees; *out is NULL on failure. The text is empty afterwards. */
ct_status ct__text_take(ct__text *text, char **out, ct_err *err);

#endif
