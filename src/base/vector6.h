/* vector6.h: rows of six numbers (a spatial pose's tangent) as a vector of four and one of two, and the attribute
 * that makes bounds constant where a function is inlined. Sums are taken in the order of the plain loops they stand
 * for. */
#ifndef CT_SIX_H
#define CT_SIX_H

#include <string.h>

#define CT_INLINE static inline __attribute__((always_inline))

typedef struct {
    double lo __attribute__((vector_size(32)));
    double hi __attribute__((vector_size(16)));
} ct__six;

CT_INLINE void ct__six_load(ct__six *v, const double *from)
{
    memcpy(&v->lo, from, sizeof v->lo);
    memcpy(&v->hi, from + 4, sizeof v->hi);
}

CT_INLINE void ct__six_store(const ct__six *v, double *to)
{
    memcpy(to, &v->lo, sizeof v->lo);
    memcpy(to + 4, &v->hi, sizeof v->hi);
}

CT_INLINE void ct__six_scale(ct__six *v, double f)
{
    v->lo *= f;
    v->hi *= f;
}

/* v += f w. */
CT_INLINE void ct__six_add(ct__six *v, double f, const ct__six *w)
{
    v->lo += f * w->lo;
    v->hi += f * w->hi;
}

#endif
