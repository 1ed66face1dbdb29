/* byte_stream.c: a part of a file as a stream of bytes, decompressed by bzip2, lz4 or zstd.
 *
 * Chunks of bags are never held whole: their size is the writer's choice, and a damaged one may say anything. Two
 * buffers of a quarter megabyte serve all parts. */
#define _POSIX_C_SOURCE 200809L
#include "source/bag.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#if COVTUNE_HAS_BZIP2
#include <bzlib.h>
#endif
#if COVTUNE_HAS_LZ4
#include <lz4frame.h>
#endif
#if COVTUNE_HAS_ZSTD
#include <zstd.h>
#endif

#define BUFFER (256 << 10)

struct ct__stream {
    const ct__bag_file *in;
    ct__codec codec;
    int64_t from, left; /* the next byte of the file, and how many of the part are not read yet */
    int64_t begin;      /* of the part, for messages                                             */
    uint8_t *packed, *out;
    size_t packed_at, packed_end; /* bytes in `packed` that are not decompressed yet */
    size_t at, end;               /* bytes in `out` that are not given out yet       */
    int64_t given;
    int done; /* the compressed stream has ended */
    int sum;
    uint32_t crc;
#if COVTUNE_HAS_BZIP2
    bz_stream bz2;
    int bz2_open;
#endif
#if COVTUNE_HAS_LZ4
    LZ4F_dctx *lz4;
#endif
#if COVTUNE_HAS_ZSTD
    ZSTD_DStream *zstd;
#endif
};

static const char *const CODEC[] = {"none", "bz2", "lz4", "zstd"};

int ct__codec_find(const char *name, size_t length)
{
    if (!length) return CT__STORED;
    for (int i = 0; i < CT__CODECS; i++)
        if (strlen(CODEC[i]) == length && !memcmp(name, CODEC[i], length)) return i;
    return -1;
}

const char *ct__codec_name(ct__codec codec) { return ct__name_at(CODEC, CT__CODECS, (int)codec); }

/* ---- Files ---- */

ct_status ct__bag_file_open(ct__bag_file *in, const char *path, const char *file, ct_err *err)
{
    struct stat entry;
    *in = (ct__bag_file){.path = ct__strdup(path), .file = ct__strdup(file), .fd = -1};
    if (!in->path || !in->file) return ct__no_memory(err, "paths", 1);
    in->fd = open(file, O_RDONLY | O_CLOEXEC);
    if (in->fd < 0 || fstat(in->fd, &entry) != 0)
        return ct_fail(err, ct__io_status(), "%s: cannot be read: %s", path, strerror(errno));
    if (!S_ISREG(entry.st_mode)) return ct_fail(err, CT_E_IO, "%s: is no regular file", path);
    in->size = (int64_t)entry.st_size;
    return CT_OK;
}

void ct__bag_file_close(ct__bag_file *in)
{
    if (in->fd >= 0) close(in->fd);
    free(in->path);
    free(in->file);
    *in = (ct__bag_file){.fd = -1};
}

ct_status ct__bag_file_read(const ct__bag_file *in, int64_t at, void *bytes, int64_t size, ct_err *err)
{
    uint8_t *to = bytes;
    while (size > 0) {
        const ssize_t n = pread(in->fd, to, (size_t)size, (off_t)at);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return ct_fail(err, CT_E_IO, "%s: cannot be read: %s", in->path, strerror(errno));
        if (n == 0) return ct_fail(err, CT_E_IO, "%s: became shorter while it was read", in->path);
        to += n;
        at += n;
        size -= n;
    }
    return CT_OK;
}

/* ---- Decompression ---- */

ct_status ct__stream_new(ct__stream **out, ct_err *err)
{
    ct__stream *s = ct__zalloc(1, sizeof *s);
    *out = NULL;
    if (s) s->out = malloc(BUFFER);
    if (!s || !s->out) {
        ct__stream_free(s);
        return ct__no_memory(err, "a buffer", BUFFER);
    }
    *out = s;
    return CT_OK;
}

void ct__stream_free(ct__stream *s)
{
    if (!s) return;
#if COVTUNE_HAS_BZIP2
    if (s->bz2_open) BZ2_bzDecompressEnd(&s->bz2);
#endif
#if COVTUNE_HAS_LZ4
    LZ4F_freeDecompressionContext(s->lz4);
#endif
#if COVTUNE_HAS_ZSTD
    ZSTD_freeDStream(s->zstd);
#endif
    free(s->packed);
    free(s->out);
    free(s);
}

/* The decompressor, new or reset. 0: no memory, -1: not in this build. */
static int begin_codec(ct__stream *s)
{
    switch (s->codec) {
    case CT__STORED: return 1;
#if COVTUNE_HAS_BZIP2
    case CT__BZ2:
        if (s->bz2_open) BZ2_bzDecompressEnd(&s->bz2);
        s->bz2 = (bz_stream){0};
        s->bz2_open = BZ2_bzDecompressInit(&s->bz2, 0, 0) == BZ_OK;
        return s->bz2_open;
#endif
#if COVTUNE_HAS_LZ4
    case CT__LZ4:
        if (!s->lz4 && LZ4F_isError(LZ4F_createDecompressionContext(&s->lz4, LZ4F_VERSION))) {
            s->lz4 = NULL;
            return 0;
        }
        LZ4F_resetDecompressionContext(s->lz4);
        return 1;
#endif
#if COVTUNE_HAS_ZSTD
    case CT__ZSTD:
        if (!s->zstd && !(s->zstd = ZSTD_createDStream())) return 0;
        return !ZSTD_isError(ZSTD_initDStream(s->zstd));
#endif
    default: return -1;
    }
}

ct_status ct__stream_begin(ct__stream *s, const ct__bag_file *in, int64_t at, int64_t size, ct__codec codec,
                           ct_err *err)
{
    s->in = in;
    s->codec = codec;
    s->from = s->begin = at;
    s->left = size;
    s->packed_at = s->packed_end = s->at = s->end = 0;
    s->given = 0;
    s->done = s->sum = 0;
    s->crc = 0;
    if (codec != CT__STORED && !s->packed && !(s->packed = malloc(BUFFER)))
        return ct__no_memory(err, "a buffer", BUFFER);
    const int ready = begin_codec(s);
    if (ready < 0)
        return ct_fail(err, CT_E_UNSUPPORTED, "%s: is compressed by %s, and covtune was built without that library",
                       in->path, ct__codec_name(codec));
    return ready ? CT_OK : ct__no_memory(err, "a decompressor", 1);
}

/* Decompress from s->packed into s->out; *why is set on failure. */
static void unpack(ct__stream *s, const char **why)
{
    const size_t have = s->packed_end - s->packed_at;
    switch (s->codec) {
#if COVTUNE_HAS_BZIP2
    case CT__BZ2: {
        s->bz2.next_in = (char *)s->packed + s->packed_at;
        s->bz2.avail_in = (unsigned)have;
        s->bz2.next_out = (char *)s->out;
        s->bz2.avail_out = BUFFER;
        const int status = BZ2_bzDecompress(&s->bz2);
        if (status != BZ_OK && status != BZ_STREAM_END) *why = "bzip2 cannot decompress it";
        s->done = status == BZ_STREAM_END;
        s->packed_at = s->packed_end - s->bz2.avail_in;
        s->end = BUFFER - s->bz2.avail_out;
        return;
    }
#endif
#if COVTUNE_HAS_LZ4
    case CT__LZ4: {
        size_t got = BUFFER, used = have;
        const size_t hint = LZ4F_decompress(s->lz4, s->out, &got, s->packed + s->packed_at, &used, NULL);
        if (LZ4F_isError(hint)) {
            *why = LZ4F_getErrorName(hint);
            return;
        }
        s->packed_at += used;
        s->end = got;
        s->done = hint == 0 && s->packed_at == s->packed_end && !s->left;
        return;
    }
#endif
#if COVTUNE_HAS_ZSTD
    case CT__ZSTD: {
        ZSTD_inBuffer from = {s->packed, s->packed_end, s->packed_at};
        ZSTD_outBuffer to = {s->out, BUFFER, 0};
        const size_t hint = ZSTD_decompressStream(s->zstd, &to, &from);
        if (ZSTD_isError(hint)) {
            *why = ZSTD_getErrorName(hint);
            return;
        }
        s->packed_at = from.pos;
        s->end = to.pos;
        s->done = hint == 0 && s->packed_at == s->packed_end && !s->left;
        return;
    }
#endif
    default:
        (void)have;
        *why = "its compression is unknown";
        return;
    }
}

static ct_status fill_packed(ct__stream *s, ct_err *err)
{
    const int64_t n = CT_MIN(s->left, BUFFER);
    CT_TRY(ct__bag_file_read(s->in, s->from, s->packed, n, err));
    s->from += n;
    s->left -= n;
    s->packed_at = 0;
    s->packed_end = (size_t)n;
    return CT_OK;
}

/* More bytes in s->out; none are left at the end of the part. */
static ct_status fill(ct__stream *s, ct_err *err)
{
    s->at = s->end = 0;
    if (s->codec == CT__STORED) {
        const int64_t n = CT_MIN(s->left, BUFFER);
        CT_TRY(ct__bag_file_read(s->in, s->from, s->out, n, err));
        s->from += n;
        s->left -= n;
        s->end = (size_t)n;
        return CT_OK;
    }
    while (!s->end && !s->done) {
        const char *why = NULL;
        if (s->packed_at == s->packed_end && s->left) CT_TRY(fill_packed(s, err));
        const size_t before = s->packed_at;
        const int dry = s->packed_at == s->packed_end;
        unpack(s, &why);
        if (!why && !s->end && !s->done && dry && before == s->packed_at) why = "the compressed bytes end early";
        if (why)
            return ct_fail(err, CT_E_PARSE, "%s: byte %lld: the %s-compressed part that begins here is damaged: %s",
                           s->in->path, (long long)s->begin, ct__codec_name(s->codec), why);
    }
    return CT_OK;
}

void ct__stream_sum(ct__stream *s) { s->sum = 1; }
uint32_t ct__stream_crc(const ct__stream *s) { return s->crc; }
int64_t ct__stream_at(const ct__stream *s) { return s->given; }

ct_status ct__stream_read(ct__stream *s, void *bytes, int64_t n, int *whole, ct_err *err)
{
    uint8_t *to = bytes;
    *whole = 1;
    /* What is skipped of an uncompressed part need not be read. */
    if (!to && s->codec == CT__STORED && !s->sum && n > (int64_t)(s->end - s->at)) {
        const int64_t beyond = n - (int64_t)(s->end - s->at);
        *whole = beyond <= s->left;
        if (!*whole) return CT_OK;
        s->at = s->end;
        s->from += beyond;
        s->left -= beyond;
        s->given += n;
        return CT_OK;
    }
    while (n > 0) {
        if (s->at == s->end) CT_TRY(fill(s, err));
        if (s->at == s->end) {
            *whole = 0;
            return CT_OK;
        }
        const size_t k = (size_t)CT_MIN(n, (int64_t)(s->end - s->at));
        if (s->sum) s->crc = ct__crc32(s->crc, s->out + s->at, k);
        if (to) {
            memcpy(to, s->out + s->at, k);
            to += k;
        }
        s->at += k;
        s->given += (int64_t)k;
        n -= (int64_t)k;
    }
    return CT_OK;
}
