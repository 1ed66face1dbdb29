/* vector6.h: rows of six numbers (the tangent of a pose in space) as a vector of four and one of two, and the attribute
 * that forces inlining, so that loop bounds are constants. Sums have the order of the plain loops they replace. */
#ifndef CT_VECTOR6_H
#define CT_VECTOR6_H

#include <string.h>

#define CT_INLINE static inline __attribute__((always_inline))

typedef struct {
    double lo __attribute__((vector_size(32)));
    double hi __attribute__((vector_size(16)));
} ct__vector6;

CT_INLINE void ct__vector6_load(ct__vector6 *v, const double *from)
{
    memcpy(&v->lo, from, sizeof v->lo);
    memcpy(&v->hi, from + 4, sizeof v->hi);
}

CT_INLINE void ct__vector6_store(const ct__vector6 *v, double *to)
{
    memcpy(to, &v->lo, sizeof v->lo);
    memcpy(to + 4, &v->hi, sizeof v->hi);
}

CT_INLINE void ct__vector6_scale(ct__vector6 *v, double f)
{
    v->lo *= f;
    v->hi *= f;
}

/* v += f w. */
CT_INLINE void ct__vector6_add(ct__vector6 *v, double f, const ct__vector6 *w)
{
    v->lo += f * w->lo;
    v->hi += f * w->hi;
}

#endif
