/* share_reading.c: text files of a batch over ranks.
 *
 * A number of text takes ten times as long to read as one of a binary file. So each text file is read by one rank,
 * which sends the sequence to the others as a binary file has it, to the bit. Binary files are read by all. A sequence
 * that has more than its binary file would (notes, repairs, outlines, models of plugins) is read by all, too, in its
 * turn, and so is one that could not be read. */
#define _POSIX_C_SOURCE 200809L
#include "base/parallel.h"
#include "comm/comm.h"
#include "data/read_ahead.h"
#include "graph/graph.h"

#include <stdio.h>

typedef struct {
    ct__read_ahead    *ahead;
    const char *const *path;
    char             **bytes; /* per file: as a binary file, or NULL */
    int64_t           *size;  /* 0: it is not sent                   */
    ct_noise         **table; /* per thread; NULL: to be copied      */
} sharing;

#define ROOM 65536 /* bytes of a binary file beside twice what the graph takes; a larger one is not sent */

static const ct_comm *comm_of(const ct__read_ahead *a) { return a->how ? a->how->comm : NULL; }

int ct__reading_is_shared(const ct__read_ahead *a) { return comm_of(a) && comm_of(a)->size > 1; }

/* By its ending, which is the same on all ranks. */
static int is_sent(const ct__read_ahead *a, const char *path)
{
    static const char BINARY[] = ".ctbin";
    const size_t      n = strlen(path), m = sizeof BINARY - 1;
    return ct__reading_is_shared(a) && (n < m || strcmp(path + n - m, BINARY)) && ct__names_find(a->known, path) < 0;
}

static int is_own(const ct__read_ahead *a, int64_t k) { return k % comm_of(a)->size == comm_of(a)->rank; }

int ct__reading_is_mine(const ct__read_ahead *a, const char *path, int64_t k)
{
    return !is_sent(a, path) || is_own(a, k);
}

static int is_whole(const ct_sequence *seq)
{
    return !seq->note && !seq->repaired && !seq->shapes && !seq->models;
}

static void pack(void *user, int64_t k, int worker)
{
    const sharing     *s = user;
    const ct_sequence *seq = s->ahead->ready[k];
    (void)worker;
    if (!seq || !is_sent(s->ahead, s->path[k]) || !is_own(s->ahead, k) || !is_whole(seq)) return;
    const int64_t room = ROOM + 2 * (ct__graph_bytes(seq->graph) + seq->graph->size * (int64_t)sizeof(double));
    s->bytes[k] = malloc((size_t)room);
    FILE *file = s->bytes[k] ? fmemopen(s->bytes[k], (size_t)room, "wb") : NULL;
    if (!file) return;
    const ct_status status =
        ct__sequence_write_stream(file, seq, s->ahead->noise, NULL, CT_FORMAT_BINARY, 0, NULL, NULL);
    const long size = status == CT_OK && fflush(file) == 0 && !ferror(file) ? ftell(file) : 0;
    if (fclose(file) == 0 && size > 0 && size < room) s->size[k] = size;
}

static void unpack(void *user, int64_t k, int worker)
{
    const sharing  *s = user;
    ct__read_ahead *a = s->ahead;
    ct_noise      **table = &s->table[worker];
    ct_sequence    *seq = NULL;
    if (!s->size[k] || is_own(a, k)) return;
    if (!*table && ct_noise_copy(a->noise, table, NULL) != CT_OK) return;
    FILE *file = fmemopen(s->bytes[k], (size_t)s->size[k], "rb");
    if (!file) return;
    const ct_status status =
        ct__sequence_read_from(file, s->path[k], CT_FORMAT_BINARY, *table, a->policy, a->how, &seq, NULL);
    fclose(file);
    if (status == CT_OK && ct_noise_count(*table) == ct_noise_count(a->noise)) {
        a->ready[k] = seq;
        return;
    }
    ct_sequence_free(seq);
    ct_noise_free(*table);
    *table = NULL;
}

/* ---- Records: the size of each file, then its bytes ---- */

static int size_is_wanted(const void *user, int64_t k)
{
    const sharing *s = user;
    return is_sent(s->ahead, s->path[k]);
}

static int64_t size_of_size(const void *user, int64_t k)
{
    (void)user;
    (void)k;
    return (int64_t)sizeof(int64_t);
}

static void pack_size(const void *user, int64_t k, void *record)
{
    memcpy(record, &((const sharing *)user)->size[k], sizeof(int64_t));
}

static void unpack_size(void *user, int64_t k, const void *record)
{
    memcpy(&((const sharing *)user)->size[k], record, sizeof(int64_t));
}

static int is_wanted(const void *user, int64_t k) { return ((const sharing *)user)->size[k] > 0; }

static int64_t size_of(const void *user, int64_t k) { return ((const sharing *)user)->size[k]; }

static void pack_bytes(const void *user, int64_t k, void *record)
{
    const sharing *s = user;
    memcpy(record, s->bytes[k], (size_t)s->size[k]);
}

static void unpack_bytes(void *user, int64_t k, const void *record)
{
    const sharing *s = user;
    s->bytes[k] = malloc((size_t)s->size[k]);
    if (s->bytes[k]) memcpy(s->bytes[k], record, (size_t)s->size[k]);
    else s->size[k] = 0; /* it is read from the file */
}

static ct_status exchange(sharing *s, int64_t count, ct_err *err)
{
    ct__spread spread = {.comm = comm_of(s->ahead),
                         .count = count,
                         .user = s,
                         .wanted = size_is_wanted,
                         .size = size_of_size,
                         .pack = pack_size,
                         .unpack = unpack_size};
    CT_TRY(ct__spread_exchange(&spread, err));
    spread.wanted = is_wanted;
    spread.size = size_of;
    spread.pack = pack_bytes;
    spread.unpack = unpack_bytes;
    return ct__spread_exchange(&spread, err);
}

ct_status ct__reading_share(ct__read_ahead *a, int64_t count, const char *const path[], ct_err *err)
{
    const int jobs = CT_MAX(1, a->how->jobs);
    sharing   s = {.ahead = a,
                   .path = path,
                   .bytes = ct__zalloc(count, sizeof *s.bytes),
                   .size = ct__zalloc(count, sizeof *s.size),
                   .table = ct__zalloc(jobs, sizeof *s.table)};
    ct_status status = s.bytes && s.size && s.table ? CT_OK : ct__no_memory(err, "files", count);
    if (status == CT_OK) {
        ct__parallel(jobs, count, pack, &s);
        status = exchange(&s, count, err);
    }
    if (status == CT_OK) ct__parallel(jobs, count, unpack, &s);
    for (int64_t k = 0; s.bytes && k < count; k++) free(s.bytes[k]);
    for (int w = 0; s.table && w < jobs; w++) ct_noise_free(s.table[w]);
    free(s.bytes);
    free(s.size);
    free(s.table);
    return status;
}
