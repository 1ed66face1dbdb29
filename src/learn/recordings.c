/* recordings.c: sequences in groups. Sequences of one recording share the robot, the place and the day, so their errors
 * are not independent: they are held out together, and standard errors are over recordings. */
#include "learn/learn.h"

#include <math.h>

#define NAME_MAX_LENGTH 256

int32_t ct__group_sequences(int32_t count, const ct_sequence *const *seq, int32_t *group)
{
    int32_t groups = 0;
    for (int32_t i = 0; i < count; i++) {
        char own[NAME_MAX_LENGTH], other[NAME_MAX_LENGTH];
        ct_sequence_recording(seq[i], own, sizeof own);
        group[i] = -1;
        for (int32_t k = 0; own[0] && k < i && group[i] < 0; k++)
            if (!strcmp(own, ct_sequence_recording(seq[k], other, sizeof other))) group[i] = group[k];
        if (group[i] < 0) group[i] = groups++;
    }
    return groups;
}

ct_status ct__outer_groups(const ct_outer *o, int32_t *group, int32_t *groups, ct_err *err)
{
    const ct_sequence **seq = ct__zalloc(o->count, sizeof *seq);
    if (!seq) return ct__no_memory(err, "sequences", o->count);
    for (int32_t i = 0; i < o->count; i++) seq[i] = o->inner[i].seq;
    *groups = ct__group_sequences(o->count, seq, group);
    free(seq);
    return CT_OK;
}

double ct__t_quantile(int n)
{
    static const double T[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228};
    const int degrees = n - 1, tabled = (int)(sizeof T / sizeof *T);
    if (degrees < 1) return INFINITY;
    /* 1.96 (1 + 1.25 / degrees) is within 1 % from ten degrees on */
    return degrees <= tabled ? T[degrees - 1] : 1.96 * (1 + 1.25 / degrees);
}
