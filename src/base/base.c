/* base.c: messages, memory, clock. */
#define _POSIX_C_SOURCE 200809L
#include "base/base.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

const char *ct_status_text(ct_status status)
{
    switch (status) {
#define X(code, text)                                                                              \
    case code: return text;
        CT_STATUS_LIST(X)
#undef X
    }
    return "unknown status";
}

ct_status ct_fail(ct_err *err, ct_status status, const char *fmt, ...)
{
    if (!err) return status;
    err->status = status;
    va_list args;
    va_start(args, fmt);
    const int n = vsnprintf(err->text, sizeof err->text, fmt, args);
    va_end(args);
    if (n >= (int)sizeof err->text) memcpy(err->text + sizeof err->text - 4, "...", 4);
    return status;
}

void *ct__zalloc(int64_t count, size_t size)
{
    if (count < 0 || (uint64_t)count > PTRDIFF_MAX / size) return NULL;
    return calloc(count ? (size_t)count : 1, size);
}

ct_status ct__no_memory(ct_err *err, const char *what, int64_t count)
{
    return ct_fail(err, CT_E_MEMORY, "out of memory for %lld %s", (long long)count, what);
}

ct_status ct__grow(void *array, int64_t *capacity, int64_t need, size_t size, const char *what, ct_err *err)
{
    if (need <= *capacity) return CT_OK;
    const int64_t wanted = CT_MAX(CT_MAX(need, 16), *capacity > INT64_MAX / 2 ? need : 2 * *capacity);
    if ((uint64_t)wanted > PTRDIFF_MAX / size) return ct__no_memory(err, what, wanted);
    void *old;
    memcpy(&old, array, sizeof old); /* array is the address of some T *: read it without aliasing it */
    void *grown = realloc(old, (size_t)wanted * size);
    if (!grown) return ct__no_memory(err, what, wanted);
    memcpy(array, &grown, sizeof grown);
    *capacity = wanted;
    return CT_OK;
}

char *ct__strdup(const char *text)
{
    const size_t n = strlen(text) + 1;
    char *copy = malloc(n);
    if (copy) memcpy(copy, text, n);
    return copy;
}

double ct_now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

const char *ct_version(void) { return CT_VERSION; }

int ct__find_name(const char *name, const char *const list[], int count)
{
    for (int i = 0; name && i < count; i++)
        if (!strcmp(name, list[i])) return i;
    return -1;
}

const char *ct__name_at(const char *const list[], int count, int i) { return i >= 0 && i < count ? list[i] : "?"; }

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double ct_median(int64_t count, double value[])
{
    if (count < 1) return NAN;
    qsort(value, (size_t)count, sizeof *value, ascending);
    return count % 2 ? value[count / 2] : 0.5 * value[count / 2 - 1] + 0.5 * value[count / 2];
}
