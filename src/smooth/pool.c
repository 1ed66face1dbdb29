/* pool.c: blocks of numbers in one array that grows by doubling.
 *
 * Sizes are rounded up to a class, four per octave. A freed block goes to the front of its class's free list and is the
 * next of that class to be allocated. Cliques of one smoother have a few dozen sizes, so the array stops growing when
 * the graph does. A free block stores the place of the next one. */
#include "smooth/smooth.h"

/* The class of n elements, and how many that class has: 1 .. 8, then 10, 12, 14, 16, 20, 24 ... */
static int class_of(int64_t n, int64_t *size)
{
    if (n < 8) {
        *size = n;
        return (int)n;
    }
    const int     e = 61 - __builtin_clzll((unsigned long long)(n - 1)); /* n - 1 has e + 3 bits */
    const int64_t q = ((n - 1) >> e) - 3;                                /* 1 .. 4 */
    *size = (4 + q) << e;
    return (int)(8 + 4 * e + q - 1);
}

ct_status ct__pool_take(ct__pool *pool, int64_t n, int64_t *at, ct_err *err)
{
    int64_t   size;
    const int k = class_of(CT_MAX(n, 2), &size); /* two elements hold a place */
    if (pool->head[k]) {
        *at = pool->head[k] - 1;
        memcpy(&pool->head[k], pool->data + (size_t)*at * pool->unit, sizeof pool->head[k]);
        return CT_OK;
    }
    CT_TRY(ct__grow(&pool->data, &pool->capacity, pool->used + size, pool->unit, "numbers of the smoother", err));
    *at = pool->used;
    pool->used += size;
    return CT_OK;
}

void ct__pool_give(ct__pool *pool, int64_t at, int64_t n)
{
    int64_t   size;
    const int k = class_of(CT_MAX(n, 2), &size);
    memcpy(pool->data + (size_t)at * pool->unit, &pool->head[k], sizeof pool->head[k]);
    pool->head[k] = at + 1;
}
