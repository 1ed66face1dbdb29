/* recordings.c: sequences in groups. Sequences of one recording share the robot, the place and the day, so their errors
 * are not independent: they are held out together, and standard errors are over recordings. */
#include "base/name_table.h"
#include "learn/learn.h"

#include <math.h>

#define NAME_MAX_LENGTH 256

ct_status ct__outer_groups(const ct_outer *o, int32_t *group, int32_t *groups, ct_err *err)
{
    ct__names names = {0};                                       /* of the recordings so far, ... */
    int32_t  *of_name = ct__zalloc(o->count, sizeof *of_name);   /* ... and their groups */
    ct_status status = of_name ? CT_OK : ct__no_memory(err, "sequences", o->count);
    *groups = 0;
    for (int32_t i = 0; status == CT_OK && i < o->count; i++) {
        char own[NAME_MAX_LENGTH];
        ct_sequence_recording(o->inner[i].seq, own, sizeof own);
        const int32_t known = own[0] ? ct__names_find(&names, own) : -1;
        group[i] = known >= 0 ? of_name[known] : (*groups)++;
        if (known >= 0 || !own[0]) continue;
        of_name[names.count] = group[i];
        status = ct__names_add(&names, own, err);
    }
    ct__names_free(&names);
    free(of_name);
    return status;
}

double ct__t_quantile(int n)
{
    static const double T[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228};
    const int degrees = n - 1, tabled = (int)(sizeof T / sizeof *T);
    if (degrees < 1) return INFINITY;
    /* 1.96 (1 + 1.25 / degrees) is within 1 % from ten degrees on */
    return degrees <= tabled ? T[degrees - 1] : 1.96 * (1 + 1.25 / degrees);
}
