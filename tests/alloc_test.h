/* alloc_test.h: memory that runs out when told to. Including it replaces malloc and its kin for the whole
 * program, so that what the C library and SuiteSparse ask for is refused as well. One library gets what it asks for,
 * because it does not look: jansson 2.14 loses a byte where its reader's buffer cannot grow, and then stops the
 * program itself.
 * For glibc, first thing in one source file of a program, and not together with a sanitizer. */
#ifndef ALLOC_TEST_H
#define ALLOC_TEST_H

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void  __libc_free(void *p);

/* Volatile, because compilers know that malloc changes no variable of a program. */
static volatile long alloc_live;      /* blocks that are allocated                                */
static volatile long alloc_calls;     /* calls for memory since alloc_from_now                    */
static volatile long alloc_fail = -1; /* the one to refuse, counted from 0; -1: none, nor counted */
static volatile int  alloc_onwards;   /* refuse all after it as well                              */

static int alloc_refuse(const void *caller)
{
    Dl_info who;
    if (alloc_fail < 0) return 0;
    if (dladdr(caller, &who) && strstr(who.dli_fname, "jansson")) return 0;
    const long k = alloc_calls;
    alloc_calls = k + 1;
    if (k < alloc_fail || (k > alloc_fail && !alloc_onwards)) return 0;
    errno = ENOMEM;
    return 1;
}

static void *alloc_count(void *p)
{
    alloc_live = alloc_live + (p != NULL);
    return p;
}

void *malloc(size_t size)
{
    return alloc_refuse(__builtin_return_address(0)) ? NULL : alloc_count(__libc_malloc(size));
}
void *calloc(size_t count, size_t size)
{
    return alloc_refuse(__builtin_return_address(0)) ? NULL : alloc_count(__libc_calloc(count, size));
}
void *memalign(size_t alignment, size_t size);
void *memalign(size_t alignment, size_t size)
{
    return alloc_refuse(__builtin_return_address(0)) ? NULL : alloc_count(__libc_memalign(alignment, size));
}
void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **p, size_t alignment, size_t size);
int posix_memalign(void **p, size_t alignment, size_t size)
{
    void *found = memalign(alignment, size);
    if (!found) return ENOMEM;
    *p = found;
    return 0;
}

void *realloc(void *old, size_t size)
{
    if (alloc_refuse(__builtin_return_address(0))) return NULL;
    void *p = __libc_realloc(old, size);
    alloc_live = alloc_live + (p && !old);
    return p;
}

void free(void *p)
{
    alloc_live = alloc_live - (p != NULL);
    __libc_free(p);
}

/* Whether calls do come here: under valgrind they do not. */
static inline int alloc_works(void)
{
    void *volatile p;
    const long before = alloc_live;
    p = malloc(1);
    const int here = alloc_live == before + 1;
    free(p);
    return here;
}

/* Refuse call k from now on (and all after it); -1: none. */
static inline void alloc_from_now(long k, int onwards)
{
    alloc_calls = 0;
    alloc_fail = k;
    alloc_onwards = onwards;
}

#endif
