/* checkpoint.c: the values that a method received, in order: recorded, replayed, written to a file.
 *
 * A method is a deterministic function of these values: its random numbers come from a seed, and it reads no clock. A
 * run is resumed by starting the method again and replaying the recorded values, which takes no time. After the last
 * record it continues. The state of a method need not be saved, NLopt's included.
 *
 * A value depends on the solutions that its inner solves started from. These change only at marks (ct_outer_accept).
 * The file holds the records up to the last mark and the starts at that mark. Later records are computed again.
 *
 * File, in 64-bit words of native byte order: magic, key, records, numbers, starts; then the records, each as tag,
 * number count, digest of p and part, numbers; then the starts; then a checksum of all. */
#include "base/file.h"
#include "learn/digest.h"
#include "learn/learn.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#define MAGIC  0x31726567646c7463u /* "ctldger1" */
#define HEADER 5                   /* words      */
#define RECORD 3                   /* words before a record's numbers */

struct ct_checkpoint {
    char     *path;
    uint64_t  key;
    double    every_s, written_s;
    uint64_t *word; /* records, concatenated */
    int64_t   used, capacity;
    int64_t   at;      /* the next record to replay; == given: none is left                  */
    int64_t   given;   /* words read from the file                                           */
    int64_t   mark;    /* words up to the last mark                                          */
    int64_t   replayed;
    double   *start;   /* starts of all inner problems at the mark, concatenated                    */
    int64_t   starts;
};

static uint64_t call_digest(const ct_outer *o, const double *p, const uint8_t *part)
{
    uint64_t h = ct__digest(CT__DIGEST_SEED, p, (size_t)o->m * sizeof *p);
    return part ? ct__digest(h, part, (size_t)o->count) : h;
}

ct_status ct__checkpoint_take(ct_checkpoint *l, const ct_outer *o, int32_t tag, const double *p, const uint8_t *part,
                              int64_t numbers, double *number, int *taken, ct_err *err)
{
    *taken = 0;
    if (l->at >= l->given) return CT_OK;
    const uint64_t *record = l->word + l->at;
    if (record[0] != (uint64_t)tag || record[1] != (uint64_t)numbers || record[2] != call_digest(o, p, part))
        return ct_fail(
            err, CT_E_ARGUMENT,
            "%s was written by another version, or on a machine that rounds differently: it cannot be resumed here",
            l->path);
    memcpy(number, record + RECORD, (size_t)numbers * sizeof *number);
    l->at += RECORD + numbers;
    l->replayed++;
    *taken = 1;
    return CT_OK;
}

ct_status ct__checkpoint_put(ct_checkpoint *l, const ct_outer *o, int32_t tag, const double *p, const uint8_t *part,
                             int64_t numbers, const double *number, ct_err *err)
{
    CT_TRY(ct__grow(&l->word, &l->capacity, l->used + RECORD + numbers, sizeof *l->word, "values", err));
    uint64_t *record = l->word + l->used;
    record[0] = (uint64_t)tag;
    record[1] = (uint64_t)numbers;
    record[2] = call_digest(o, p, part);
    memcpy(record + RECORD, number, (size_t)numbers * sizeof *number);
    l->used += RECORD + numbers;
    return CT_OK;
}

/* Copies starts from the inner problems, or to them. */
static void copy_starts(ct_checkpoint *l, ct_outer *o, int to_outer)
{
    double *at = l->start;
    for (int32_t i = 0; i < o->count; i++) {
        const int64_t n = ct_graph_size(o->inner[i].seq->graph);
        memcpy(to_outer ? o->inner[i].start : at, to_outer ? at : o->inner[i].start, (size_t)n * sizeof *at);
        at += n;
    }
}

ct_status ct__checkpoint_mark(ct_checkpoint *l, ct_outer *o, ct_err *err)
{
    int64_t starts = 0;
    for (int32_t i = 0; i < o->count; i++) starts += ct_graph_size(o->inner[i].seq->graph);
    if (l->at < l->given) return CT_OK;
    if (l->given && l->mark == l->given && l->used == l->given) { /* the replay ends here */
        if (l->starts != starts)
            return ct_fail(err, CT_E_PARSE, "%s holds %lld start values, the sequences have %lld", l->path,
                           (long long)l->starts, (long long)starts);
        copy_starts(l, o, 1);
        return CT_OK;
    }
    if (!l->start) {
        l->start = ct__zalloc(starts, sizeof *l->start);
        if (!l->start) return ct__no_memory(err, "start values", starts);
        l->starts = starts;
    }
    l->mark = l->used;
    copy_starts(l, o, 0);
    return ct_now_s() - l->written_s < l->every_s ? CT_OK : ct_checkpoint_write(l, err);
}

/* ---- The file -------------------------------------------------------------------------------- */

static int put_words(FILE *file, const void *words, int64_t count, uint64_t *sum)
{
    *sum = ct__digest(*sum, words, (size_t)count * sizeof(uint64_t));
    return count == 0 || fwrite(words, sizeof(uint64_t), (size_t)count, file) == (size_t)count;
}

ct_status ct_checkpoint_write(ct_checkpoint *l, ct_err *err)
{
    const uint64_t header[HEADER] = {MAGIC, l->key, (uint64_t)l->mark, (uint64_t)l->starts, 0};
    uint64_t       sum = CT__DIGEST_SEED;
    ct__file       file;
    l->written_s = ct_now_s();
    CT_TRY(ct__file_begin(&file, l->path, err));
    const int ok = put_words(file.stream, header, HEADER, &sum) && put_words(file.stream, l->word, l->mark, &sum) &&
                   put_words(file.stream, l->start, l->starts, &sum) && fwrite(&sum, sizeof sum, 1, file.stream) == 1;
    if (ok) return ct__file_commit(&file, err);
    ct__file_abort(&file);
    return ct_fail(err, CT_E_IO, "%s: %s", l->path, strerror(errno));
}

static int get_words(FILE *file, void *words, int64_t count, uint64_t *sum)
{
    if (count && fread(words, sizeof(uint64_t), (size_t)count, file) != (size_t)count) return 0;
    *sum = ct__digest(*sum, words, (size_t)count * sizeof(uint64_t));
    return 1;
}

/* Checks that the lengths of the records add up to the length of the file. */
static int well_formed(const ct_checkpoint *l)
{
    int64_t at = 0;
    while (at + RECORD <= l->given && l->word[at + 1] <= (uint64_t)(l->given - at - RECORD))
        at += RECORD + (int64_t)l->word[at + 1];
    return at == l->given;
}

static ct_status read_body(ct_checkpoint *l, FILE *file, int64_t bytes, ct_err *err)
{
    uint64_t header[HEADER], sum = CT__DIGEST_SEED, found;
    if (!get_words(file, header, HEADER, &sum) || header[0] != MAGIC)
        return ct_fail(err, CT_E_PARSE, "%s is not a checkpoint of covtune", l->path);
    const uint64_t most = (uint64_t)bytes / sizeof(uint64_t);
    if (header[2] > most || header[3] > most || header[2] + header[3] + HEADER + 1 != most)
        return ct_fail(err, CT_E_PARSE, "%s is damaged: its length does not match its header", l->path);
    if (header[1] != l->key)
        return ct_fail(err, CT_E_ARGUMENT, "%s was made from other data or with other options; --resume needs the same",
                       l->path);
    l->starts = (int64_t)header[3];
    if (l->starts) l->start = ct__zalloc(l->starts, sizeof *l->start);
    if (l->starts && !l->start) return ct__no_memory(err, "start values", l->starts);
    CT_TRY(ct__grow(&l->word, &l->capacity, (int64_t)header[2], sizeof *l->word, "values", err));
    l->given = l->used = l->mark = (int64_t)header[2];
    if (!get_words(file, l->word, l->given, &sum) || !get_words(file, l->start, l->starts, &sum) ||
        fread(&found, sizeof found, 1, file) != 1 || found != sum || !well_formed(l))
        return ct_fail(err, CT_E_PARSE, "%s is damaged: its checksum is wrong", l->path);
    return CT_OK;
}

static ct_status read_file(ct_checkpoint *l, ct_err *err)
{
    FILE *file = fopen(l->path, "rb");
    if (!file && errno == ENOENT) return CT_OK; /* killed before the first write: start a new one */
    if (!file) return ct_fail(err, ct__io_status(), "%s: %s", l->path, strerror(errno));
    ct_status status = CT_OK;
    long      bytes = 0;
    if (fseek(file, 0, SEEK_END) || (bytes = ftell(file)) < 0 || fseek(file, 0, SEEK_SET))
        status = ct_fail(err, CT_E_IO, "%s: %s", l->path, strerror(errno));
    if (status == CT_OK) status = read_body(l, file, bytes, err);
    fclose(file);
    return status;
}

ct_status ct_checkpoint_open(const char *path, int resume, uint64_t key, double every_s, ct_checkpoint **out,
                             ct_err *err)
{
    *out = NULL;
    ct_checkpoint *l = ct__zalloc(1, sizeof *l);
    if (!l) return ct__no_memory(err, "checkpoints", 1);
    l->path = ct__strdup(path);
    l->key = key;
    l->every_s = every_s;
    l->written_s = ct_now_s();
    ct_status status = l->path ? CT_OK : ct__no_memory(err, "names", 1);
    if (status == CT_OK && resume) status = read_file(l, err);
    /* the file has its key before the first mark, so a run killed before that can resume */
    if (status == CT_OK && !l->given) status = ct_checkpoint_write(l, err);
    if (status == CT_OK) *out = l;
    else ct_checkpoint_free(l);
    return status;
}

void ct_checkpoint_free(ct_checkpoint *l)
{
    if (!l) return;
    free(l->path);
    free(l->word);
    free(l->start);
    free(l);
}

int64_t ct_checkpoint_replayed(const ct_checkpoint *l) { return l->replayed; }

int ct_checkpoint_replays(const ct_checkpoint *l) { return l->at < l->given; }

int ct_checkpoint_is(const char *path)
{
    uint64_t magic = 0;
    FILE    *file = fopen(path, "rb");
    if (!file) return 0;
    const int read = fread(&magic, sizeof magic, 1, file) == 1;
    fclose(file);
    return read && magic == MAGIC;
}
