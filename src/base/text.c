/* text.c: text that grows. */
#include "base/text.h"
#include "base/base.h"
#include "base/file.h"

#include <errno.h>

void ct__text_free(ct__text *text)
{
    free(text->bytes);
    *text = (ct__text){0};
}

void ct__text_bytes(ct__text *text, const char *s, size_t n)
{
    if (text->failed) return;
    if (ct__grow(&text->bytes, &text->capacity, text->used + (int64_t)n + 1, 1, "bytes of text", NULL) != CT_OK) {
        text->failed = 1;
        return;
    }
    memcpy(text->bytes + text->used, s, n);
    text->used += (int64_t)n;
    text->bytes[text->used] = 0;
}

void ct__text_put(ct__text *text, const char *s) { ct__text_bytes(text, s, strlen(s)); }

void ct__text_repeat(ct__text *text, const char *s, int count)
{
    for (int i = 0; i < count; i++) ct__text_put(text, s);
}

void ct__text_vprintf(ct__text *text, const char *fmt, va_list args)
{
    va_list again;
    va_copy(again, args);
    const int n = vsnprintf(NULL, 0, fmt, args);
    if (n < 0 || text->failed ||
        ct__grow(&text->bytes, &text->capacity, text->used + n + 1, 1, "bytes of text", NULL) != CT_OK)
        text->failed = 1;
    if (!text->failed) {
        vsnprintf(text->bytes + text->used, (size_t)n + 1, fmt, again);
        text->used += n;
    }
    va_end(again);
}

void ct__text_printf(ct__text *text, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    ct__text_vprintf(text, fmt, args);
    va_end(args);
}

ct_status ct__text_write(const ct__text *text, FILE *out, ct_err *err)
{
    if (text->failed) return ct__no_memory(err, "bytes of text", text->used + 1);
    errno = 0;
    if (!text->used || fwrite(text->bytes, 1, (size_t)text->used, out) == (size_t)text->used) return CT_OK;
    return ct_fail(err, CT_E_IO, "%lld bytes of text could not be written: %s", (long long)text->used,
                   errno ? strerror(errno) : "the stream does not take them");
}

ct_status ct__text_save(const ct__text *text, const char *path, ct_err *err)
{
    ct__file file;
    if (text->failed) return ct__no_memory(err, "bytes of text", text->used + 1);
    CT_TRY(ct__file_begin(&file, path, err));
    if (ct__text_write(text, file.stream, NULL) == CT_OK) return ct__file_commit(&file, err);
    const char *why = errno ? strerror(errno) : "the disk may be full";
    ct__file_abort(&file);
    return ct_fail(err, CT_E_IO, "%s: could not be written: %s", path, why);
}

ct_status ct__text_take(ct__text *text, char **out, ct_err *err)
{
    ct__text_bytes(text, "", 0); /* an empty text is a string too */
    const int failed = text->failed;
    *out = failed ? NULL : text->bytes;
    if (failed) free(text->bytes);
    *text = (ct__text){0};
    return failed ? ct__no_memory(err, "bytes of text", 1) : CT_OK;
}
