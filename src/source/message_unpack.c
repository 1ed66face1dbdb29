/* message_unpack.c: messages that are compressed one by one, as ROS 2 bags may have them. */
#include "source/bag.h"

#if COVTUNE_HAS_ZSTD
#include <zstd.h>

void ct__unpacker_free(ct__unpacker *u)
{
    ZSTD_freeDStream(u->stream);
    free(u->bytes);
    *u = (ct__unpacker){0};
}

ct_status ct__unpacker_unpack(ct__unpacker *u, const char *path, ct__message *message, ct_err *err)
{
    ZSTD_inBuffer in = {message->bytes, (size_t)message->size, 0};
    size_t have = 0, left = 1;
    if (!u->stream && !(u->stream = ZSTD_createDStream())) return ct__no_memory(err, "a decompressor", 1);
    if (ZSTD_isError(ZSTD_initDStream(u->stream))) return ct__no_memory(err, "a decompressor", 1);
    while (left) {
        if (have >= (size_t)CT__HELD_MAX)
            return ct_fail(err, CT_E_LIMIT, "%s: a message has more than %lld MB", path,
                           (long long)(CT__HELD_MAX >> 20));
        CT_TRY(ct__grow(&u->bytes, &u->room, (int64_t)have + 4096, 1, "bytes of messages", err));
        ZSTD_outBuffer out = {u->bytes, (size_t)u->room, have};
        left = ZSTD_decompressStream(u->stream, &out, &in);
        const int stuck = out.pos == have && in.pos == in.size;
        have = out.pos;
        if (ZSTD_isError(left) || (left && stuck))
            return ct_fail(err, CT_E_PARSE, "%s: a message that is compressed by zstd is damaged: %s", path,
                           ZSTD_isError(left) ? ZSTD_getErrorName(left) : "it ends early");
    }
    message->bytes = u->bytes;
    message->size = (int64_t)have;
    return CT_OK;
}

#else

void ct__unpacker_free(ct__unpacker *u) { (void)u; }

ct_status ct__unpacker_unpack(ct__unpacker *u, const char *path, ct__message *message, ct_err *err)
{
    (void)u;
    (void)message;
    return ct_fail(err, CT_E_UNSUPPORTED,
                   "%s: its messages are compressed by zstd, and covtune was built without that "
                   "library",
                   path);
}

#endif
