/* memory_test.h: allocations that fail when told to. Programs called *_memory are linked so that the library's own
 * pass through here; sanitizers do not mind. */
#ifndef MEMORY_TEST_H
#define MEMORY_TEST_H

#include <stdint.h>
#include <stdlib.h>

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);

static int64_t left = -1; /* allocations until one fails; negative: none does */

static int fails(void) { return left >= 0 && left-- == 0; }

void *__wrap_malloc(size_t size) { return fails() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) { return fails() ? NULL : __real_calloc(count, size); }
void *__wrap_realloc(void *old, size_t size) { return fails() ? NULL : __real_realloc(old, size); }

#endif
