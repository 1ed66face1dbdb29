/* resident.c: see resident.h. Arrays that come and go on several threads leave the allocator with twice what is in use:
 * free pages between blocks that are not free. malloc_trim gives these back. */
#define _DEFAULT_SOURCE
#include "base/resident.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

int64_t ct__memory_resident(void)
{
    long  whole = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file) return 0;
    const int read = fscanf(file, "%ld %ld", &whole, &resident);
    fclose(file);
    return read == 2 ? (int64_t)resident * sysconf(_SC_PAGESIZE) : 0;
}

void ct__memory_trim(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}
