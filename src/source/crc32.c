/* crc32.c: the checksum of MCAP (ISO 3309, polynomial 0xedb88320 reflected), eight bytes at a time. */
#include "source/bag.h"

#include <pthread.h>

static uint32_t TABLE[8][256];
static pthread_once_t ONCE = PTHREAD_ONCE_INIT;

static void fill(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++) c = (c >> 1) ^ (c & 1 ? 0xedb88320u : 0);
        TABLE[0][i] = c;
    }
    for (int t = 1; t < 8; t++)
        for (int i = 0; i < 256; i++) TABLE[t][i] = (TABLE[t - 1][i] >> 8) ^ TABLE[0][TABLE[t - 1][i] & 255];
}

uint32_t ct__crc32(uint32_t crc, const void *bytes, size_t size)
{
    const uint8_t *b = bytes;
    pthread_once(&ONCE, fill);
    crc = ~crc;
    for (; size >= 8; size -= 8, b += 8) {
        const uint32_t low = ct__le32(b) ^ crc, high = ct__le32(b + 4);
        crc = TABLE[7][low & 255] ^ TABLE[6][low >> 8 & 255] ^ TABLE[5][low >> 16 & 255] ^ TABLE[4][low >> 24] ^
              TABLE[3][high & 255] ^ TABLE[2][high >> 8 & 255] ^ TABLE[1][high >> 16 & 255] ^ TABLE[0][high >> 24];
    }
    for (; size; size--, b++) crc = (crc >> 8) ^ TABLE[0][(crc ^ *b) & 255];
    return ~crc;
}
