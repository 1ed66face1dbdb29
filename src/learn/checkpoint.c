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

#define MAGIC  0x32726567646c7463u /* "ctldger2" */
#define OLDER  0x31726567646c7463u /* "ctldger1", before 0.2 was released: another checksum */
#define HEADER 5                   /* words      */
#define RECORD 3                   /* words before a record's numbers */
#define PIECE  4096                /* words that are read at a time   */

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
    int64_t   starts;  /* numbers of the starts of all inner problems at the mark; they change at marks only */
    ct_outer *outer;   /* which has them; borrowed from the first mark on                                 */
    FILE     *file;    /* at the starts that were read, until the inner problems take them over; or NULL  */
    double    took_s;  /* the last write                                                                  */
    int       sealed;  /* nothing is written any more; how the last write ended: */
    ct_err    last;
};

#define SELDOM 20 /* writing takes at most one part in so many of the time */

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

/* The inner problems take over the starts that were read. */
static ct_status take_starts(ct_checkpoint *l, ct_outer *o, ct_err *err)
{
    int64_t most = 1;
    for (int32_t i = 0; i < o->count; i++) most = CT_MAX(most, o->inner[i].size);
    double   *x = ct__zalloc(most, sizeof *x);
    ct_status status = x ? CT_OK : ct__no_memory(err, "values", most);
    for (int32_t i = 0; status == CT_OK && i < o->count; i++) {
        const size_t n = (size_t)o->inner[i].size;
        if (fread(x, sizeof *x, n, l->file) != n) status = ct_fail(err, CT_E_IO, "%s: it ends too early", l->path);
        else status = ct__inner_put(o, i, 0, x, err);
    }
    free(x);
    fclose(l->file);
    l->file = NULL;
    return status;
}

ct_status ct__checkpoint_mark(ct_checkpoint *l, ct_outer *o, ct_err *err)
{
    int64_t starts = 0;
    for (int32_t i = 0; i < o->count; i++) starts += o->inner[i].size;
    if (l->at < l->given) return CT_OK;
    l->outer = o;
    if (l->given && l->mark == l->given && l->used == l->given) { /* the replay ends here */
        if (l->starts != starts)
            return ct_fail(err, CT_E_PARSE, "%s holds %lld start values, the sequences have %lld", l->path,
                           (long long)l->starts, (long long)starts);
        return l->file ? take_starts(l, o, err) : CT_OK;
    }
    l->starts = starts;
    l->mark = l->used;
    const double  pause = l->every_s > 0 ? CT_MAX(l->every_s, SELDOM * l->took_s) : 0;
    unsigned char early = ct_now_s() - l->written_s < pause;
    CT_TRY(ct_comm_give(o->options.comm, &early, 1, err)); /* the clock of rank 0 */
    return early ? CT_OK : ct_checkpoint_write(l, err);
}

void ct__checkpoint_seal(ct_checkpoint *l)
{
    ct_err          err = {0};
    const ct_status status = ct_checkpoint_write(l, &err);
    l->last = err;
    l->last.status = status;
    l->sealed = 1;
}

/* ---- The file -------------------------------------------------------------------------------- */

/* Word by word, so that it does not matter in which pieces they come. */
static uint64_t add_words(uint64_t sum, const void *words, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        uint64_t word;
        memcpy(&word, (const char *)words + i * (int64_t)sizeof word, sizeof word);
        sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
        sum ^= sum >> 29;
    }
    return sum;
}

static int put_words(FILE *file, const void *words, int64_t count, uint64_t *sum)
{
    *sum = add_words(*sum, words, count);
    return count == 0 || fwrite(words, sizeof(uint64_t), (size_t)count, file) == (size_t)count;
}

/* 1: written. 0: the file's error. -1: an error of another kind, in err. */
static int put_starts(ct_checkpoint *l, FILE *file, uint64_t *sum, ct_err *err)
{
    const ct_outer *o = l->outer;
    int64_t         most = 1;
    int             ok = 1;
    for (int32_t i = 0; l->starts && i < o->count; i++) most = CT_MAX(most, o->inner[i].size);
    double *x = ct__zalloc(most, sizeof *x);
    if (!x) return ct__no_memory(err, "values", most), -1;
    for (int32_t i = 0; ok == 1 && l->starts && i < o->count; i++) {
        if (ct__inner_get(o, i, 0, x, err) != CT_OK) ok = -1;
        else ok = put_words(file, x, o->inner[i].size, sum);
    }
    free(x);
    return ok;
}

static ct_status write_file(ct_checkpoint *l, double begin, ct_err *err)
{
    const uint64_t header[HEADER] = {MAGIC, l->key, (uint64_t)l->mark, (uint64_t)l->starts, 0};
    uint64_t       sum = CT__DIGEST_SEED;
    ct__file       file;
    CT_TRY(ct__file_begin(&file, l->path, err));
    int ok = put_words(file.stream, header, HEADER, &sum) && put_words(file.stream, l->word, l->mark, &sum);
    if (ok) ok = put_starts(l, file.stream, &sum, err);
    if (ok == 1) ok = fwrite(&sum, sizeof sum, 1, file.stream) == 1;
    l->written_s = ct_now_s();
    l->took_s = l->written_s - begin;
    if (ok == 1) return ct__file_commit(&file, err);
    ct__file_abort(&file);
    if (ok < 0) return err ? err->status : CT_E_IO;
    return ct_fail(err, CT_E_IO, "%s: %s", l->path, strerror(errno));
}

ct_status ct_checkpoint_write(ct_checkpoint *l, ct_err *err)
{
    if (l->sealed && l->last.status != CT_OK) return ct_fail(err, l->last.status, "%s", l->last.text);
    if (l->file || l->sealed) return CT_OK; /* the file is what it should be */
    if (l->starts) {
        const double begin = ct_now_s();
        CT_TRY(ct__outer_gather_starts(l->outer, err));
        if (l->outer->options.comm && l->outer->options.comm->rank > 0) return CT_OK;
        return write_file(l, begin, err);
    }
    return write_file(l, ct_now_s(), err);
}

static int get_words(FILE *file, void *words, int64_t count, uint64_t *sum)
{
    if (count && fread(words, sizeof(uint64_t), (size_t)count, file) != (size_t)count) return 0;
    *sum = add_words(*sum, words, count);
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
    const int whole = get_words(file, header, HEADER, &sum);
    if (whole && header[0] == OLDER)
        return ct_fail(err, CT_E_ARGUMENT, "%s was written by an older version of covtune: it cannot be resumed here",
                       l->path);
    if (!whole || header[0] != MAGIC)
        return ct_fail(err, CT_E_PARSE, "%s is not a checkpoint of covtune", l->path);
    const uint64_t most = (uint64_t)bytes / sizeof(uint64_t);
    if (header[2] > most || header[3] > most || header[2] + header[3] + HEADER + 1 != most)
        return ct_fail(err, CT_E_PARSE, "%s is damaged: its length does not match its header", l->path);
    if (header[1] != l->key)
        return ct_fail(err, CT_E_ARGUMENT, "%s was made from other data or with other options; --resume needs the same",
                       l->path);
    l->starts = (int64_t)header[3];
    CT_TRY(ct__grow(&l->word, &l->capacity, (int64_t)header[2], sizeof *l->word, "values", err));
    l->given = l->used = l->mark = (int64_t)header[2];
    int ok = get_words(file, l->word, l->given, &sum);
    const long at = ftell(file);
    for (int64_t left = l->starts; ok && left > 0; left -= PIECE) {
        uint64_t piece[PIECE];
        ok = get_words(file, piece, CT_MIN(left, PIECE), &sum);
    }
    if (!ok || fread(&found, sizeof found, 1, file) != 1 || found != sum || !well_formed(l))
        return ct_fail(err, CT_E_PARSE, "%s is damaged: its checksum is wrong", l->path);
    return at >= 0 && fseek(file, at, SEEK_SET) == 0 ? CT_OK
                                                     : ct_fail(err, CT_E_IO, "%s: %s", l->path, strerror(errno));
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
    if (status == CT_OK && l->given) l->file = file; /* replaced while it is open, it can still be read */
    else fclose(file);
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
    if (l->file) fclose(l->file);
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
    return read && (magic == MAGIC || magic == OLDER);
}
