/* source_test.h: sources from text, for tests. */
#ifndef SOURCE_TEST_H
#define SOURCE_TEST_H

#include "ct_test.h"

#include <covtune/source.h>

/* A file in the scratch folder. Valid until the next call with the same name. */
static inline const char *scratch_path(const char *name)
{
    static char path[4][1400];
    static int next;
    char *p = path[next++ % 4];
    snprintf(p, sizeof path[0], "%s/%s", ct_test_folder(), name);
    return p;
}

static inline const char *write_bytes(const char *name, const void *bytes, size_t size)
{
    const char *path = scratch_path(name);
    FILE *file = fopen(path, "wb");
    CHECK(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
    return path;
}

static inline const char *write_text(const char *name, const char *text)
{
    return write_bytes(name, text, strlen(text));
}

/* All records of a file: values of the expressions, row by row; -1 and err if it fails. */
typedef struct {
    int count, columns;
    double value[64][8];
    ct_ns stamp[64];
    long long line[64];
    char text[64][64];
    ct_source_counts counts;
} records;

static inline ct_status read_records(const char *path, const ct_source_options *options, const char *const expression[],
                                     const char *text, records *out, ct_err *err)
{
    ct_source *source = NULL;
    ct_record record;
    int32_t index = 0, text_index = -1;
    int more = 1;
    memset(out, 0, sizeof *out);
    ct_status status = ct_source_open(path, options, &source, err);
    for (int i = 0; status == CT_OK && expression && expression[i]; i++)
        status = ct_source_select(source, expression[i], &index, err), out->columns = i + 1;
    if (status == CT_OK && text) status = ct_source_select_text(source, text, &text_index, err);
    while (status == CT_OK && (status = ct_source_next(source, &record, &more, err)) == CT_OK && more) {
        const int n = out->count++;
        if (n >= 64) continue;
        out->stamp[n] = record.stamp;
        out->line[n] = (long long)record.line;
        for (int i = 0; i < out->columns; i++) out->value[n][i] = record.value[i];
        if (text) snprintf(out->text[n], sizeof out->text[n], "%s", record.text[text_index]);
    }
    if (source) out->counts = ct_source_count(source);
    ct_source_free(source);
    return status;
}

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

#endif
