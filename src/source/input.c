/* input.c: bytes of plain and of gzip files. Gzip members follow each other; zlib checks length and CRC of each. */
#define _POSIX_C_SOURCE 200809L
#include "source/input.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#if COVTUNE_HAS_ZLIB
#include <zlib.h>
#endif

#define PIECE ((size_t)1 << 16) /* bytes of a compressed file that are read at once */

struct ct__input {
    char *path;
    int file;
    int64_t read, size;
    char first[16]; /* the first bytes of the file, not given out yet: [first_at, first_size) */
    size_t first_at, first_size;
    int gzip, ended;
#if COVTUNE_HAS_ZLIB
    z_stream stream;
    int inflating, in_member; /* in_member: its end was not seen */
    unsigned char *piece;
#endif
};

/* Files that look like text to nobody, by their first bytes. */
static const struct {
    const char *bytes;
    int count;
    const char *sentence;
} other[] = {
    {"BZh", 3, "compressed by bzip2; text is read plain or as gzip: run bunzip2 on it first"},
    {"\xfd"
     "7zXZ",
     5, "compressed by xz; text is read plain or as gzip: run unxz on it first"},
    {"\x28\xb5\x2f\xfd", 4, "compressed by zstd; text is read plain or as gzip: run unzstd on it first"},
    {"\x04\x22\x4d\x18", 4, "compressed by lz4; text is read plain or as gzip: run unlz4 on it first"},
    {"PK\x03\x04", 4, "a zip archive (or a spreadsheet); unpack it, or save it as CSV, first"},
    {"\xff\xfe", 2, "text in UTF-16; convert it first: iconv -f UTF-16 -t UTF-8"},
    {"\xfe\xff", 2, "text in UTF-16; convert it first: iconv -f UTF-16 -t UTF-8"},
};

static ct_status check_kind(const ct__input *in, ct_err *err)
{
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        if (in->first_size >= (size_t)other[i].count && !memcmp(in->first, other[i].bytes, (size_t)other[i].count))
            return ct_fail(err, CT_E_PARSE, "%s: %s", in->path, other[i].sentence);
    return CT_OK;
}

/* read(2), again where a signal interrupts it. */
static ct_status read_file(ct__input *in, void *buf, size_t room, size_t *got, ct_err *err)
{
    ssize_t n;
    do n = read(in->file, buf, room);
    while (n < 0 && errno == EINTR);
    if (n < 0) return ct_fail(err, CT_E_IO, "%s: %s", in->path, strerror(errno));
    *got = (size_t)n;
    in->read += n;
    return CT_OK;
}

/* ---- gzip ---- */

#if COVTUNE_HAS_ZLIB
static ct_status begin_gzip(ct__input *in, ct_err *err)
{
    in->piece = malloc(PIECE);
    if (!in->piece) return ct__no_memory(err, "bytes of a compressed file", (int64_t)PIECE);
    if (inflateInit2(&in->stream, 15 + 16) != Z_OK) return ct__no_memory(err, "decompressor", 1);
    in->inflating = in->in_member = 1;
    memcpy(in->piece, in->first, in->first_size);
    in->stream.next_in = in->piece;
    in->stream.avail_in = (uInt)in->first_size;
    in->first_at = in->first_size;
    return CT_OK;
}

static void end_gzip(ct__input *in)
{
    if (in->inflating) inflateEnd(&in->stream);
    free(in->piece);
}

/* After a member: the next one begins, or what follows is no gzip. */
static ct_status next_member(ct__input *in, ct_err *err)
{
    if (in->stream.avail_in > 0 && in->stream.next_in[0] != 0x1f)
        return ct_fail(err, CT_E_PARSE, "%s: bytes that are no gzip follow the compressed text", in->path);
    if (inflateReset(&in->stream) != Z_OK) return ct__no_memory(err, "decompressor", 1);
    in->in_member = 1;
    return CT_OK;
}

static ct_status read_gzip(ct__input *in, char *buf, size_t room, size_t *got, ct_err *err)
{
    z_stream *z = &in->stream;
    z->next_out = (unsigned char *)buf;
    z->avail_out = (uInt)CT_MIN(room, (size_t)1 << 30);
    const uInt wanted = z->avail_out;
    while (z->avail_out == wanted && !in->ended) {
        if (z->avail_in == 0) {
            size_t n = 0;
            CT_TRY(read_file(in, in->piece, PIECE, &n, err));
            z->next_in = in->piece;
            z->avail_in = (uInt)n;
            in->ended = n == 0;
            if (in->ended && in->in_member)
                return ct_fail(err, CT_E_PARSE, "%s: the gzip file ends early: it was cut short", in->path);
            if (in->ended) break;
        }
        if (!in->in_member) CT_TRY(next_member(in, err));
        const int state = inflate(z, Z_NO_FLUSH);
        if (state == Z_STREAM_END)
            in->in_member = 0;
        else if (state == Z_MEM_ERROR)
            return ct__no_memory(err, "decompressor", 1);
        else if (state != Z_OK && state != Z_BUF_ERROR)
            return ct_fail(err, CT_E_PARSE, "%s: the gzip file is damaged: %s", in->path, z->msg ? z->msg : "bad data");
    }
    *got = wanted - z->avail_out;
    return CT_OK;
}
#else
static ct_status begin_gzip(ct__input *in, ct_err *err)
{
    return ct_fail(err, CT_E_UNSUPPORTED, "%s: a gzip file, and covtune was built without zlib: run gunzip on it first",
                   in->path);
}
static void end_gzip(ct__input *in) { (void)in; }
static ct_status read_gzip(ct__input *in, char *buf, size_t room, size_t *got, ct_err *err)
{
    (void)buf, (void)room, (void)got;
    return begin_gzip(in, err);
}
#endif

/* ---- any file ---- */

static ct_status begin(ct__input *in, ct_err *err)
{
    struct stat info;
    in->file = open(in->path, O_RDONLY | O_CLOEXEC);
    if (in->file < 0) return ct_fail(err, ct__io_status(), "%s: %s", in->path, strerror(errno));
    if (fstat(in->file, &info) != 0) return ct_fail(err, CT_E_IO, "%s: %s", in->path, strerror(errno));
    if (S_ISDIR(info.st_mode)) return ct_fail(err, CT_E_IO, "%s: a folder, not a file", in->path);
    in->size = S_ISREG(info.st_mode) ? info.st_size : 0;
    for (size_t got = 1; got > 0 && in->first_size < sizeof in->first; in->first_size += got)
        CT_TRY(read_file(in, in->first + in->first_size, sizeof in->first - in->first_size, &got, err));
    CT_TRY(check_kind(in, err));
    in->gzip = in->first_size >= 2 && in->first[0] == 0x1f && (unsigned char)in->first[1] == 0x8b;
    return in->gzip ? begin_gzip(in, err) : CT_OK;
}

ct_status ct__input_open(const char *path, ct__input **out, ct_err *err)
{
    *out = NULL;
    ct__input *in = ct__zalloc(1, sizeof *in);
    if (!in || !(in->path = ct__strdup(path))) {
        free(in);
        return ct__no_memory(err, "file", 1);
    }
    in->file = -1;
    const ct_status status = begin(in, err);
    if (status == CT_OK)
        *out = in;
    else
        ct__input_free(in);
    return status;
}

void ct__input_free(ct__input *in)
{
    if (!in) return;
    end_gzip(in);
    if (in->file >= 0) close(in->file);
    free(in->path);
    free(in);
}

ct_status ct__input_read(ct__input *in, char *buf, size_t room, size_t *got, ct_err *err)
{
    *got = 0;
    if (in->gzip) return read_gzip(in, buf, room, got, err);
    if (in->first_at < in->first_size) {
        *got = CT_MIN(room, in->first_size - in->first_at);
        memcpy(buf, in->first + in->first_at, *got);
        in->first_at += *got;
        return CT_OK;
    }
    return read_file(in, buf, room, got, err);
}

void ct__input_progress(const ct__input *in, int64_t *bytes, int64_t *size)
{
    *bytes = in->read;
    *size = in->size;
#if COVTUNE_HAS_ZLIB
    if (in->gzip) *bytes -= in->stream.avail_in;
#endif
}
