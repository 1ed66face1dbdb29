/* read_ahead.c: see read_ahead.h. */
#define _POSIX_C_SOURCE 200809L
#include "data/read_ahead.h"
#include "base/parallel.h"
#include "comm/comm.h"

#include <sys/stat.h>

#define FILES_A_THREAD 16
#define TABLE_MAX      1000 /* models: copies of larger tables take longer than what they save */
#define GROWTH         3    /* a sequence in memory takes at most about so many times its file */
#define SHARE          4    /* of the limit of memory, for a batch */

typedef struct {
    ct__read_ahead    *ahead;
    const char *const *path;   /* of the batch */
    ct_noise         **table;  /* per thread; NULL: to be copied */
} batch;

static void read_one(void *user, int64_t k, int worker)
{
    const batch    *b = user;
    ct__read_ahead *a = b->ahead;
    ct_noise      **table = &b->table[worker];
    ct_sequence    *seq = NULL;
    if (ct__names_find(a->known, b->path[k]) >= 0 || !ct__reading_is_mine(a, b->path[k], k)) return;
    if (!*table && ct_noise_copy(a->noise, table, NULL) != CT_OK) return;
    const ct_status status =
        ct__sequence_read_shared(b->path[k], CT_FORMAT_AUTO, *table, a->policy, a->how, &seq, NULL);
    if (status == CT_OK && ct_noise_count(*table) == ct_noise_count(a->noise)) {
        a->ready[k] = seq;
        return;
    }
    ct_sequence_free(seq);
    ct_noise_free(*table);
    *table = NULL;
}

/* How many files the batch has from here on: few enough for the limit of memory. */
static int64_t length_of(const ct__read_ahead *a, int64_t count, const char *const path[])
{
    const int64_t most = a->how->memory ? a->how->memory / SHARE / GROWTH : INT64_MAX;
    int64_t       n = 0, bytes = 0;
    const int64_t threads = CT_MAX(1, a->how->jobs) * (ct__reading_is_shared(a) ? (int64_t)a->how->comm->size : 1);
    for (; n < CT_MIN(count, FILES_A_THREAD * threads); n++) {
        struct stat info;
        bytes += stat(path[n], &info) == 0 ? (int64_t)info.st_size : 0;
        if (bytes > most) break;
    }
    return n;
}

static void read_batch(ct__read_ahead *a, int64_t count, const char *const path[])
{
    const int jobs = CT_MAX(1, a->how->jobs);
    int64_t   n = length_of(a, count, path);
    batch     b = {.ahead = a, .path = path, .table = ct__zalloc(jobs, sizeof *b.table)};
    a->status = ct_comm_give(a->how->comm, &n, sizeof n, &a->err); /* ranks have the same batches */
    a->ready = ct__zalloc(n, sizeof *a->ready);
    a->end = a->first;
    if (!b.table || !a->ready || n < 2 || a->status != CT_OK) {
        free(b.table);
        return;
    }
    ct__parallel(jobs, n, read_one, &b);
    if (ct__reading_is_shared(a)) a->status = ct__reading_share(a, n, path, &a->err);
    int64_t again = 0;
    for (int64_t k = 0; k < n; k++) again += !a->ready[k];
    unsigned char over = 2 * again > n;
    if (a->status == CT_OK) a->status = ct_comm_give(a->how->comm, &over, 1, &a->err);
    a->over = over;
    a->end = a->first + n;
    for (int w = 0; w < jobs; w++) ct_noise_free(b.table[w]);
    free(b.table);
}

ct_sequence *ct__read_ahead_take(ct__read_ahead *a, int64_t count, const char *const path[], int64_t i)
{
    if (!a->how || (a->how->jobs < 2 && !ct__reading_is_shared(a)) || i == 0)
        return NULL; /* the first brings the models of all */
    if (i >= a->end && !a->over && ct_noise_count(a->noise) <= TABLE_MAX) {
        ct__read_ahead_free(a);
        a->first = i;
        read_batch(a, count - i, path + i);
    }
    if (i < a->first || i >= a->end) return NULL;
    ct_sequence *seq = a->ready[i - a->first];
    a->ready[i - a->first] = NULL;
    return seq;
}

void ct__read_ahead_free(ct__read_ahead *a)
{
    for (int64_t k = 0; a->ready && k < a->end - a->first; k++) ct_sequence_free(a->ready[k]);
    free(a->ready);
    a->ready = NULL;
    a->first = a->end = 0;
}
