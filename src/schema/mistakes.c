/* mistakes.c: what is wrong with a file, by line; and its text. */
#define _POSIX_C_SOURCE 200809L
#include "base/file.h"
#include "base/text.h"
#include "schema/schema.h"

#include <errno.h>
#include <stdarg.h>

static void append(char *buf, size_t size, const char *text)
{
    const size_t used = strlen(buf);
    snprintf(buf + used, size - used, "%s", text);
}

/* "sensors.odom.velocity[2]" */
static void path_of(const ct__node *node, char *buf, size_t size)
{
    const ct__node *chain[CT__TREE_DEPTH + 1];
    int depth = 0;
    for (const ct__node *n = node; n && n->parent && depth <= CT__TREE_DEPTH; n = n->parent) chain[depth++] = n;
    buf[0] = 0;
    while (depth--) {
        char part[128];
        int place = 1;
        for (const ct__node *n = chain[depth]->parent->first; n != chain[depth]; n = n->next) place++;
        if (chain[depth]->key)
            snprintf(part, sizeof part, "%s%.60s", buf[0] ? "." : "", chain[depth]->key);
        else
            snprintf(part, sizeof part, "[%d]", place);
        append(buf, size, part);
    }
}

void ct__mistake(ct__schema_reader *r, ct__node *at, const char *fmt, ...)
{
    char path[320], sentence[512], text[900];
    va_list args;
    if (at) at->bad = 1;
    if (r->mistakes >= CT__MISTAKES_MAX) {
        r->uncounted++;
        return;
    }
    va_start(args, fmt);
    vsnprintf(sentence, sizeof sentence, fmt, args);
    va_end(args);
    if (at)
        path_of(at, path, sizeof path);
    else
        path[0] = 0;
    snprintf(text, sizeof text, "%s%s%s", path, path[0] ? ": " : "", sentence);
    for (char *p = text; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f) *p = '?';
    if (r->mistakes == r->capacity) {
        const ct_status status =
            ct__grow(&r->mistake, &r->capacity, r->mistakes + 1, sizeof *r->mistake, "mistakes", NULL);
        if (status != CT_OK) {
            r->status = status;
            return;
        }
    }
    char *kept = ct__strdup(text);
    if (kept)
        r->mistake[r->mistakes++] = (ct_mistake){at ? at->line : 1, at ? at->column : 1, kept};
    else
        r->status = CT_E_MEMORY;
}

void *ct__schema_alloc(ct__schema_reader *r, int64_t count, size_t size)
{
    void *at = ct__tree_alloc(r->tree, count, size);
    if (!at) r->status = CT_E_MEMORY;
    return at;
}

static int by_line(const void *a, const void *b)
{
    const ct_mistake *p = a, *q = b;
    if (p->line != q->line) return p->line < q->line ? -1 : 1;
    return p->column < q->column ? -1 : p->column > q->column;
}

ct_status ct__mistakes_status(ct__schema_reader *r, ct_err *err)
{
    char more[64] = "";
    const int64_t others = r->mistakes - 1 + r->uncounted;
    if (r->mistakes > 1) qsort(r->mistake, (size_t)r->mistakes, sizeof *r->mistake, by_line);
    if (r->status != CT_OK) return ct__no_memory(err, "values of a file", r->tree->nodes);
    if (!r->mistakes) return CT_OK;
    if (others) snprintf(more, sizeof more, " (and %lld more mistake%s)", (long long)others, others == 1 ? "" : "s");
    return ct_fail(err, CT_E_PARSE, "%s:%d: %.380s%s", r->name, r->mistake[0].line, r->mistake[0].text, more);
}

void ct__mistakes_take(ct__schema_reader *r, ct_mistakes *out)
{
    ct_mistakes found = {(int32_t)r->mistakes, r->mistake, r->uncounted};
    r->mistake = NULL;
    r->mistakes = r->capacity = r->uncounted = 0;
    if (out)
        *out = found;
    else
        ct__mistakes_free(&found);
}

void ct__mistakes_free(ct_mistakes *mistakes)
{
    if (!mistakes) return;
    for (int32_t i = 0; i < mistakes->count; i++) free(mistakes->mistake[i].text);
    free(mistakes->mistake);
    *mistakes = (ct_mistakes){0};
}

/* ---- files ---- */

char *ct__schema_join(const char *folder, const char *path)
{
    if (path[0] == '/' || !strcmp(folder, ".")) return ct__strdup(path);
    char *out = ct__zalloc((int64_t)(strlen(folder) + strlen(path) + 2), 1);
    if (out) sprintf(out, "%s/%s", folder, path);
    return out;
}

static ct_status load(const char *path, const char *way_out, ct__text *text, ct_err *err)
{
    char bytes[4096];
    FILE *file = fopen(path, "rb");
    if (!file) {
        const int none = errno == ENOENT;
        return ct_fail(err, ct__io_status(), "%s: %s%s%s", path, strerror(errno), none ? "; " : "",
                       none ? way_out : "");
    }
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, file)) > 0 && text->used <= CT__TREE_BYTES;)
        ct__text_bytes(text, bytes, n);
    const int failed = ferror(file), why = errno;
    fclose(file);
    if (failed && why == EISDIR) return ct_fail(err, CT_E_IO, "%s: this is a folder, not a file; %s", path, way_out);
    if (failed) return ct_fail(err, CT_E_IO, "%s: %s", path, strerror(why));
    if (text->failed) return ct__no_memory(err, "bytes of text", CT__TREE_BYTES);
    if (text->used && memchr(text->bytes, 0, (size_t)text->used))
        return ct_fail(err, CT_E_PARSE, "%s: not a text: it contains the character NUL", path);
    return CT_OK;
}

ct_status ct__schema_load(const char *path, const char *way_out, char **out, ct_err *err)
{
    ct__text text = {0};
    *out = NULL;
    ct_status status = load(path, way_out, &text, err);
    if (status == CT_OK) ct__text_put(&text, "");
    if (status == CT_OK) status = ct__text_take(&text, out, err);
    ct__text_free(&text);
    return status;
}
