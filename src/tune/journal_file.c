/* journal_file.c: records of completed runs: opened, found, appended. */
#define _GNU_SOURCE
#include "learn/digest.h"
#include "tune/journal.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOGS_MAX (1 << 24)
#define SYNC_S 5.0 /* a power cut costs the runs of the last seconds; a kill costs none */

static const char     TITLE[24] = "covtune journal 5\n";
#define FAMILY 16 /* bytes of the title that all versions share */
static const uint64_t ORDER = 0x0102030405060708u;
#define HEADER ((int64_t)(sizeof TITLE + sizeof ORDER))

typedef struct {
    char     magic[8];
    uint64_t head_sum;    /* of what follows in this struct, and the values */
    uint64_t tail_sum;    /* of message and residuals                       */
    uint64_t digest;
    int64_t  size;        /* of the whole record, bytes                     */
    int32_t  log, repeat, parameters, end, code, message; /* message: bytes, with padding; 0: none */
    int64_t  rows, poses, lost, broken, unordered;
    double   translation, rotation, rpe_translation, rpe_rotation, nees, covered, seconds;
    ct_conventions conventions;
} record;

static const char MAGIC[8] = "record1\n";

/* ---- Checksums and keys ----------------------------------------------------------------------- */

/* FNV-1a over words of eight bytes: an eighth of the multiplications. size is a multiple of 8. */
static uint64_t sum_words(uint64_t h, const void *bytes, size_t size)
{
    const char *at = bytes;
    for (size_t i = 0; i < size; i += 8) {
        uint64_t word;
        memcpy(&word, at + i, 8);
        h = (h ^ word) * 0x100000001b3u;
        h ^= h >> 29;
    }
    return h;
}

static uint64_t head_sum(const record *r, const double *value)
{
    const size_t   from = offsetof(record, tail_sum);
    const uint64_t h = sum_words(CT__DIGEST_SEED, (const char *)r + from, sizeof *r - from);
    return sum_words(h, value, (size_t)r->parameters * sizeof *value);
}

/* 0 is kept for empty places. */
static uint64_t key_hash(const ct__journal_key *key)
{
    const uint64_t fixed[2] = {key->digest, (uint64_t)(uint32_t)key->log << 32 | (uint32_t)key->repeat};
    uint64_t       h = sum_words(CT__DIGEST_SEED, fixed, sizeof fixed);
    for (int32_t i = 0; i < key->parameters; i++) {
        const double value = key->value[i] + 0.0; /* -0 is 0 */
        h = sum_words(h, &value, sizeof value);
    }
    return h ? h : 1;
}

static int same_values(const double *a, const double *b, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        const double x = a[i] + 0.0, y = b[i] + 0.0;
        if (memcmp(&x, &y, sizeof x)) return 0;
    }
    return 1;
}

/* ---- The table -------------------------------------------------------------------------------- */

static void put(uint64_t *hash, int64_t *offset, int64_t capacity, uint64_t h, int64_t at)
{
    int64_t i = (int64_t)(h & (uint64_t)(capacity - 1));
    while (hash[i] && hash[i] != h) i = (i + 1) & (capacity - 1);
    hash[i] = h;
    offset[i] = at;
}

/* At most half of the places are taken. */
static ct_status make_room(ct__journal_file *j, ct_err *err)
{
    if (2 * (j->runs + 1) <= j->capacity) return CT_OK;
    const int64_t capacity = CT_MAX(1024, 2 * j->capacity);
    uint64_t     *hash = ct__zalloc(capacity, sizeof *hash);
    int64_t      *offset = ct__zalloc(capacity, sizeof *offset);
    if (!hash || !offset) {
        free(hash);
        free(offset);
        return ct__no_memory(err, "runs", capacity);
    }
    for (int64_t i = 0; i < j->capacity; i++)
        if (j->hash[i]) put(hash, offset, capacity, j->hash[i], j->offset[i]);
    free(j->hash);
    free(j->offset);
    j->hash = hash;
    j->offset = offset;
    j->capacity = capacity;
    return CT_OK;
}

/* -1: none. */
static int64_t offset_of(const ct__journal_file *j, uint64_t h)
{
    if (!j->capacity) return -1;
    int64_t i = (int64_t)(h & (uint64_t)(j->capacity - 1));
    while (j->hash[i] && j->hash[i] != h) i = (i + 1) & (j->capacity - 1);
    return j->hash[i] ? j->offset[i] : -1;
}

static int has_residuals(int end) { return end == CT_TUNE_DONE || end == CT_TUNE_SHORT; }

/* All runs of a log have as many residuals. */
static ct_status check_rows(ct__journal_file *j, const record *r, ct_err *err)
{
    if (!has_residuals(r->end)) return CT_OK;
    const int64_t had = j->logs_capacity;
    CT_TRY(ct__grow(&j->rows, &j->logs_capacity, (int64_t)r->log + 1, sizeof *j->rows, "logs", err));
    memset(j->rows + had, 0, (size_t)(j->logs_capacity - had) * sizeof *j->rows);
    if (!j->rows[r->log]) j->rows[r->log] = r->rows;
    if (j->rows[r->log] == r->rows) return CT_OK;
    return ct_fail(err, CT_E_ARGUMENT,
                   "%s: a run of log %ld has %lld residuals, earlier ones have %lld; they are compared at other times, "
                   "and cannot go on together: begin anew", j->path, (long)r->log, (long long)r->rows,
                   (long long)j->rows[r->log]);
}

static ct_status add(ct__journal_file *j, const record *r, const double *value, int64_t at, ct_err *err)
{
    if (r->digest != j->digest) return CT_OK;
    const ct__journal_key key = {r->digest, r->log, r->repeat, r->parameters, value};
    const uint64_t        h = key_hash(&key);
    CT_TRY(check_rows(j, r, err));
    CT_TRY(make_room(j, err));
    j->runs += offset_of(j, h) < 0; /* a later one replaces one that was damaged */
    put(j->hash, j->offset, j->capacity, h, at);
    return CT_OK;
}

/* ---- Reading ---------------------------------------------------------------------------------- */

/* All bytes; CT_E_EMPTY: the file ends before. */
static ct_status read_at(const ct__journal_file *j, void *bytes, size_t size, int64_t at, ct_err *err)
{
    for (char *into = bytes; size;) {
        const ssize_t n = pread(j->file, into, size, at);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return ct_fail(err, CT_E_IO, "%s: cannot be read: %s", j->path, strerror(errno));
        if (n == 0) return CT_E_EMPTY;
        into += n;
        at += n;
        size -= (size_t)n;
    }
    return CT_OK;
}

static int64_t tail_bytes(const record *r) { return r->message + r->rows * (int64_t)sizeof(double); }

static int is_sane(const record *r)
{
    return !memcmp(r->magic, MAGIC, sizeof MAGIC) && r->parameters >= 0 && r->rows >= 0 && r->message >= 0 &&
           r->message % 8 == 0 && r->log >= 0 && r->log < LOGS_MAX && r->end >= 0 && r->end < CT_TUNE_END_COUNT &&
           r->rows < INT64_MAX / 16 &&
           r->size == (int64_t)sizeof *r + r->parameters * (int64_t)sizeof(double) + tail_bytes(r);
}

/* The fixed part and the values of the record at an offset. *value grows. Without a sentence: CT_E_PARSE, there is
 * none; CT_E_EMPTY, the file ends in it. */
static ct_status read_head(const ct__journal_file *j, int64_t at, record *r, double **value, int64_t *capacity,
                           ct_err *err)
{
    CT_TRY(read_at(j, r, sizeof *r, at, err));
    if (!is_sane(r)) return CT_E_PARSE;
    struct stat entry;
    if (fstat(j->file, &entry)) return ct_fail(err, CT_E_IO, "%s: cannot be read: %s", j->path, strerror(errno));
    if (r->size > entry.st_size - at) return CT_E_EMPTY;
    CT_TRY(ct__grow(value, capacity, r->parameters, sizeof **value, "parameters", err));
    CT_TRY(read_at(j, *value, (size_t)r->parameters * sizeof **value, at + (int64_t)sizeof *r, err));
    return head_sum(r, *value) == r->head_sum ? CT_OK : CT_E_PARSE;
}

/* Message and residuals. CT_E_PARSE: damaged. */
static ct_status read_tail(const ct__journal_file *j, int64_t at, const record *r, char **bytes, ct_err *err)
{
    const int64_t size = tail_bytes(r);
    *bytes = ct__zalloc(size, 1);
    if (!*bytes) return ct__no_memory(err, "residuals", r->rows);
    ct_status status = read_at(j, *bytes, (size_t)size, at + r->size - size, err);
    if (status == CT_OK && sum_words(CT__DIGEST_SEED, *bytes, (size_t)size) != r->tail_sum) status = CT_E_PARSE;
    if (status == CT_E_EMPTY) status = CT_E_PARSE;
    if (status != CT_OK) {
        free(*bytes);
        *bytes = NULL;
    }
    return status;
}

ct_status ct__journal_find(ct__journal_file *j, const ct__journal_key *key, int *found, ct_tune_outcome *outcome,
                           ct_err *err)
{
    const int64_t at = offset_of(j, key_hash(key));
    record        r;
    double       *value = NULL;
    int64_t       capacity = 0;
    char         *tail = NULL;
    *found = 0;
    *outcome = (ct_tune_outcome){0};
    if (at < 0) return CT_OK;
    ct_status status = read_head(j, at, &r, &value, &capacity, err);
    const int same = status == CT_OK && r.log == key->log && r.repeat == key->repeat &&
                     r.parameters == key->parameters && same_values(value, key->value, r.parameters);
    if (same) status = read_tail(j, at, &r, &tail, err);
    free(value);
    if (status == CT_E_PARSE || status == CT_E_EMPTY) return CT_OK; /* damaged: it is run again */
    if (status != CT_OK || !same) return status;
    *outcome = (ct_tune_outcome){.end = (ct_tune_end)r.end, .rows = r.rows, .poses = r.poses, .lost = r.lost,
                                 .broken = r.broken, .unordered = r.unordered,
                                 .translation = r.translation, .rotation = r.rotation,
                                 .rpe_translation = r.rpe_translation, .rpe_rotation = r.rpe_rotation, .nees = r.nees,
                                 .covered = r.covered, .conventions = r.conventions, .seconds = r.seconds,
                                 .cached = 1, .code = r.code};
    if (r.message) outcome->message = ct__strdup(tail);
    if (r.rows) outcome->residual = ct__zalloc(r.rows, sizeof(double));
    if ((r.message && !outcome->message) || (r.rows && !outcome->residual)) {
        ct_tune_outcome_free(outcome);
        free(tail);
        return ct__no_memory(err, "residuals", r.rows);
    }
    if (r.rows) memcpy(outcome->residual, tail + r.message, (size_t)r.rows * sizeof(double));
    free(tail);
    *found = 1;
    return CT_OK;
}

/* ---- Writing ---------------------------------------------------------------------------------- */

/* Does the file end where it was left? Somebody may have removed, cut or written it since: it is locked against covtune
 * alone, and what is appended to such a file is lost. */
static ct_status check_end(const ct__journal_file *j, ct_err *err)
{
    struct stat entry;
    if (fstat(j->file, &entry)) return ct_fail(err, CT_E_IO, "%s: cannot be read: %s", j->path, strerror(errno));
    if (entry.st_nlink && entry.st_size == j->size) return CT_OK;
    return ct_fail(err, CT_E_IO, "%s: was %s while it was in use; resume, and lost runs are made again", j->path,
                   entry.st_nlink ? "changed by another program" : "removed");
}

/* All bytes at the end, or none. */
static ct_status write_end(ct__journal_file *j, const char *bytes, int64_t size, ct_err *err)
{
    CT_TRY(check_end(j, err));
    for (int64_t done = 0; done < size;) {
        const ssize_t n = pwrite(j->file, bytes + done, (size_t)(size - done), j->size + done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            const int why = n < 0 ? errno : ENOSPC;
            (void)!ftruncate(j->file, j->size); /* if even this fails, opening cuts it off */
            return ct_fail(err, CT_E_IO, "%s: cannot be written: %s; runs up to here are in it: make room, and resume",
                           j->path, strerror(why));
        }
        done += n;
    }
    j->size += size;
    if (ct_now_s() > j->synced + SYNC_S) {
        (void)fdatasync(j->file);
        j->synced = ct_now_s();
    }
    return CT_OK;
}

ct_status ct__journal_append(ct__journal_file *j, const ct__journal_key *key, const ct_tune_outcome *o, ct_err *err)
{
    const size_t text = o->message ? strlen(o->message) + 1 : 0, values = (size_t)key->parameters * sizeof(double);
    record       r = {.digest = key->digest, .log = key->log, .repeat = key->repeat, .parameters = key->parameters,
                      .end = (int32_t)o->end, .code = o->code, .message = (int32_t)((text + 7) / 8 * 8),
                      .rows = o->residual ? o->rows : 0, .poses = o->poses, .lost = o->lost,
                      .broken = o->broken, .unordered = o->unordered,
                      .translation = o->translation, .rotation = o->rotation,
                      .rpe_translation = o->rpe_translation, .rpe_rotation = o->rpe_rotation, .nees = o->nees,
                      .covered = o->covered, .conventions = o->conventions, .seconds = o->seconds};
    memcpy(r.magic, MAGIC, sizeof MAGIC);
    if (r.log < 0 || r.log >= LOGS_MAX || text > 1 << 20)
        return ct_fail(err, CT_E_ARGUMENT, "%s: a run of log %ld with a message of %zu bytes", j->path, (long)r.log,
                       text);
    CT_TRY(check_rows(j, &r, err));
    CT_TRY(make_room(j, err));
    r.size = (int64_t)(sizeof r + values) + tail_bytes(&r);
    char *bytes = ct__zalloc(r.size, 1);
    if (!bytes) return ct__no_memory(err, "residuals", r.rows);
    char *tail = bytes + sizeof r + values;
    if (values) memcpy(bytes + sizeof r, key->value, values);
    if (text) memcpy(tail, o->message, text);
    if (r.rows) memcpy(tail + r.message, o->residual, (size_t)r.rows * sizeof(double));
    r.tail_sum = sum_words(CT__DIGEST_SEED, tail, (size_t)tail_bytes(&r));
    r.head_sum = head_sum(&r, key->value);
    memcpy(bytes, &r, sizeof r);
    const int64_t at = j->size;
    ct_status     status = write_end(j, bytes, r.size, err);
    free(bytes);
    return status == CT_OK ? add(j, &r, key->value, at, err) : status;
}

/* ---- Opening ---------------------------------------------------------------------------------- */

static ct_status write_header(ct__journal_file *j, ct_err *err)
{
    char header[sizeof TITLE + sizeof ORDER];
    memcpy(header, TITLE, sizeof TITLE);
    memcpy(header + sizeof TITLE, &ORDER, sizeof ORDER);
    j->size = 0;
    if (ftruncate(j->file, 0)) return ct_fail(err, CT_E_IO, "%s: cannot be written: %s", j->path, strerror(errno));
    return write_end(j, header, HEADER, err);
}

/* Is it a journal? An empty file, or one that was cut in its header, becomes one. */
static ct_status check_header(ct__journal_file *j, int64_t bytes, ct_err *err)
{
    char          header[sizeof TITLE + sizeof ORDER] = {0};
    uint64_t      order;
    const int64_t have = CT_MIN(bytes, HEADER);
    CT_TRY(read_at(j, header, (size_t)have, 0, err));
    if (have == HEADER && !memcmp(header, TITLE, FAMILY) && memcmp(header, TITLE, sizeof TITLE))
        return ct_fail(err, CT_E_PARSE, "%s: is of another version of covtune; begin anew in another folder", j->path);
    if (memcmp(header, TITLE, (size_t)CT_MIN(have, (int64_t)sizeof TITLE)))
        return ct_fail(err, CT_E_PARSE, "%s: is no journal of runs; name another file, or remove it", j->path);
    if (have < HEADER) return write_header(j, err);
    memcpy(&order, header + sizeof TITLE, sizeof order);
    if (order != ORDER)
        return ct_fail(err, CT_E_PARSE, "%s: is of a machine with another order of bytes; begin anew", j->path);
    j->size = HEADER;
    return CT_OK;
}

/* Is everything from an offset on zero? A file system that lost power leaves that. */
static int is_zero_from(const ct__journal_file *j, int64_t at, int64_t end)
{
    char buf[65536];
    for (; at < end; at += (int64_t)sizeof buf) {
        const size_t n = (size_t)CT_MIN(end - at, (int64_t)sizeof buf);
        if (read_at(j, buf, n, at, NULL) != CT_OK || buf[0] || memcmp(buf, buf + 1, n - 1)) return 0;
    }
    return 1;
}

/* Index all records. What was cut is removed. */
static ct_status survey(ct__journal_file *j, int64_t bytes, ct_err *err)
{
    record    r;
    double   *value = NULL;
    int64_t   capacity = 0, at = HEADER;
    ct_status status = CT_OK;
    for (; status == CT_OK && at < bytes; at = status == CT_OK ? at + r.size : at) {
        status = read_head(j, at, &r, &value, &capacity, err);
        if (status == CT_OK && at + r.size == bytes) { /* the last: are its residuals there? */
            char *tail;
            status = read_tail(j, at, &r, &tail, err);
            free(tail);
            if (status == CT_E_PARSE) status = CT_E_EMPTY;
        }
        if (status == CT_OK) status = add(j, &r, value, at, err);
    }
    free(value);
    if (status == CT_E_PARSE && is_zero_from(j, at, bytes)) status = CT_E_EMPTY;
    if (status == CT_E_PARSE)
        return ct_fail(err, CT_E_PARSE,
                       "%s: is damaged at byte %lld; remove it to begin anew, or cut it there (`truncate -s %lld`) to "
                       "keep the %lld runs before", j->path, (long long)at, (long long)at, (long long)j->runs);
    if (status != CT_OK && status != CT_E_EMPTY) return status;
    j->size = at;
    if (status == CT_E_EMPTY && ftruncate(j->file, at))
        return ct_fail(err, CT_E_IO, "%s: cannot be written: %s", j->path, strerror(errno));
    return CT_OK;
}

static ct_status open_file(ct__journal_file *j, int resume, ct_err *err)
{
    struct stat entry;
    j->file = open(j->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (j->file < 0) return ct_fail(err, ct__io_status(), "%s: cannot be opened: %s", j->path, strerror(errno));
    if (fstat(j->file, &entry)) return ct_fail(err, CT_E_IO, "%s: cannot be read: %s", j->path, strerror(errno));
    if (!S_ISREG(entry.st_mode)) return ct_fail(err, CT_E_PARSE, "%s: is no file; name another", j->path);
    if (!resume && entry.st_size > 0)
        return ct_fail(err, CT_E_ARGUMENT, "%s: is there already; resume it, or choose another folder", j->path);
    if (entry.st_size == 0) return write_header(j, err);
    CT_TRY(check_header(j, entry.st_size, err));
    return survey(j, entry.st_size, err);
}

ct_status ct__journal_open(const char *path, uint64_t digest, int resume, ct__journal_file *j, ct_err *err)
{
    const size_t size = strlen(path) + sizeof ".lock";
    char        *lock = malloc(size);
    *j = (ct__journal_file){.file = -1, .digest = digest, .path = ct__strdup(path), .synced = ct_now_s()};
    ct_status status = lock && j->path ? CT_OK : ct__no_memory(err, "file names", 1);
    if (status == CT_OK) {
        snprintf(lock, size, "%s.lock", path);
        status = ct__lock_take(lock, path, "covtune tune", &j->lock, err);
    }
    if (status == CT_OK) status = open_file(j, resume, err);
    free(lock);
    if (status != CT_OK) ct__journal_close(j);
    return status;
}

void ct__journal_close(ct__journal_file *j)
{
    if (j->file >= 0) close(j->file);
    ct__lock_drop(&j->lock);
    free(j->path);
    free(j->hash);
    free(j->offset);
    free(j->rows);
    *j = (ct__journal_file){.file = -1};
}
