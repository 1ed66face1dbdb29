/* places.c: the samples of a sensor by sequence and target, in their order: neighbours measure one thing. */
#include "doctor/doctor.h"

static int compare(const void *a, const void *b)
{
    const ct__place *x = a, *y = b;
    if (x->sequence != y->sequence) return x->sequence < y->sequence ? -1 : 1;
    if (x->target != y->target) return x->target < y->target ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

ct__place *ct__order_by_target(const ct__sensor *s)
{
    ct__place *p = ct__zalloc(s->samples, sizeof *p);
    for (int32_t k = 0; p && k < s->samples; k++) p[k] = (ct__place){s->sample[k].sequence, s->sample[k].target, k};
    if (p) qsort(p, (size_t)s->samples, sizeof *p, compare);
    return p;
}

int ct__same_place(const ct__place *a, const ct__place *b)
{
    return a->sequence == b->sequence && a->target == b->target;
}
