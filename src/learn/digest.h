/* digest.h: FNV-1a, 64 bits. Detects accidental changes of data. */
#ifndef CT_DIGEST_H
#define CT_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#define CT__DIGEST_SEED 0xcbf29ce484222325u

static inline uint64_t ct__digest(uint64_t h, const void *bytes, size_t count)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < count; i++) h = (h ^ p[i]) * 0x100000001b3u;
    return h;
}

#endif
