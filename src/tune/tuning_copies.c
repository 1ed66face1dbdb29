/* tuning_copies.c: logs that are listed twice, under the same name, another, or as a copy.
 *
 * Of a thousand logs there are half a million pairs. So each log first gets a number that copies have in common, made
 * of sizes and of samples of its files; only logs with one number are compared byte by byte. */
#define _POSIX_C_SOURCE 200809L
#include "learn/digest.h"
#include "tune/tuning.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define COPY_LEAST   256 /* bytes */
#define SAMPLES      3   /* at the beginning, in the middle, at the end */
#define SAMPLE_BYTES 4096

static int same_content(const char *a, const char *b)
{
    char  x[4096], y[4096];
    FILE *f = fopen(a, "rb"), *g = fopen(b, "rb");
    int   same = f && g, more = same;
    while (same && more) {
        const size_t n = fread(x, 1, sizeof x, f);
        same = fread(y, 1, sizeof y, g) == n && !memcmp(x, y, n) && !ferror(f) && !ferror(g);
        more = n > 0;
    }
    if (f) fclose(f);
    if (g) fclose(g);
    return same;
}

/* One file under two names, or a copy. Files of a few bytes, such as names of scenarios, are alike by chance. */
static int same_file(const char *a, const char *b)
{
    struct stat x, y;
    if (!a || !b) return 0;
    if (!strcmp(a, b)) return 1;
    if (stat(a, &x) || stat(b, &y)) return 0;
    if (x.st_dev == y.st_dev && x.st_ino == y.st_ino) return 1;
    if (!S_ISREG(x.st_mode) || !S_ISREG(y.st_mode) || x.st_size != y.st_size || x.st_size < COPY_LEAST) return 0;
    return same_content(a, b);
}

/* Are all files of two logs, and their truths, the same? */
static int same_log(const ct__tune_log *a, const ct__tune_log *b)
{
    if ((a->truth || b->truth) && !same_file(a->truth, b->truth)) return 0;
    if (a->files != b->files) return 0;
    for (int32_t f = 0; f < a->files; f++)
        if (!same_file(a->file_path[f], b->file_path[f])) return 0;
    return 1;
}

/* Adds to h what copies of a file have in common: size and samples; of what is no file, which one it is. */
static uint64_t add_file(uint64_t h, const char *path)
{
    struct stat entry;
    char        bytes[SAMPLE_BYTES];
    if (!path || stat(path, &entry)) return ct__digest(h, "", 1);
    if (!S_ISREG(entry.st_mode)) {
        h = ct__digest(h, &entry.st_dev, sizeof entry.st_dev);
        return ct__digest(h, &entry.st_ino, sizeof entry.st_ino);
    }
    const int     file = open(path, O_RDONLY | O_CLOEXEC);
    const int64_t size = entry.st_size, last = CT_MAX(0, size - SAMPLE_BYTES);
    h = ct__digest(h, &size, sizeof size);
    for (int i = 0; file >= 0 && i < SAMPLES; i++) {
        const ssize_t n = pread(file, bytes, sizeof bytes, last * i / (SAMPLES - 1));
        if (n > 0) h = ct__digest(h, bytes, (size_t)n);
    }
    if (file >= 0) close(file);
    return h;
}

typedef struct {
    uint64_t number;
    int32_t  log;
} numbered;

static int by_number(const void *a, const void *b)
{
    const numbered *x = a, *y = b;
    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    return (x->log > y->log) - (x->log < y->log);
}

/* The first log that has the files of one before it, and that one. 0: there is none. */
static int find_copy(const ct_tuning *t, const numbered *list, int32_t *copy, int32_t *of)
{
    int found = 0;
    for (int32_t begin = 0, end; begin < t->problem.logs; begin = end) {
        for (end = begin + 1; end < t->problem.logs && list[end].number == list[begin].number;) end++;
        for (int32_t i = begin + 1; i < end && (!found || list[i].log < *copy); i++)
            for (int32_t k = begin; k < i; k++) {
                if (!same_log(&t->log[list[i].log], &t->log[list[k].log])) continue;
                *copy = list[i].log;
                *of = list[k].log;
                found = 1;
                break;
            }
    }
    return found;
}

void ct__check_copies(ct__tuning_reader *r)
{
    const ct_tuning *t = r->t;
    int32_t          copy, of;
    numbered        *list = ct__schema_alloc(&r->base, t->problem.logs, sizeof *list);
    if (r->base.status != CT_OK) return;
    for (int32_t i = 0; i < t->problem.logs; i++) {
        const ct__tune_log *log = &t->log[i];
        uint64_t            h = add_file(CT__DIGEST_SEED, log->truth);
        for (int32_t f = 0; f < log->files; f++) h = add_file(h, log->file_path[f]);
        list[i] = (numbered){h, i};
    }
    if (t->problem.logs) qsort(list, (size_t)t->problem.logs, sizeof *list, by_number);
    if (!find_copy(t, list, &copy, &of)) return;
    ct__mistake(&r->base, r->log[copy], "the %s log %.60s has the files of the %s log %.60s; a log may be there once",
                t->log[copy].test ? "test" : "training", t->log[copy].name, t->log[of].test ? "test" : "training",
                t->log[of].name);
}
