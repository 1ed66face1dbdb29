/* fuzz.h: what every fuzzer shares. Where a reader reads nothing but paths, the bytes go through a file
 * in the working folder. */
#ifndef CT_FUZZ_H
#define CT_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A law that must hold whatever the input: unlike assert it cannot be compiled away. */
#define FUZZ_LAW(cond)                                                                             \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #cond);                     \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

static inline void fuzz_write(const char *path, const uint8_t *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    FUZZ_LAW(file);
    FUZZ_LAW(fwrite(data, 1, size, file) == size);
    FUZZ_LAW(fclose(file) == 0);
}

#endif
