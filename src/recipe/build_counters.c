/* build_counters.c: counters of wheels that begin again though the recipe does not say where.
 *
 * From one record to the next the way is s. Where a counter of W begins again it reads s - W, or s + W backwards: a
 * leap. The longest steps are kept; leaps are those that are LONGER times as long as all others, and differ by what
 * ordinary steps make. s is about the step before, so W = |read - before|, in the mean over all leaps. A single wrong
 * count makes two steps in turn, there and back: it is none. */
#include "recipe/build.h"

#include <math.h>

#define LONGER 20.0 /* times the longest ordinary step                */
#define LIKE   4.0  /* ordinary steps by which leaps differ           */
#define LEAST  50   /* steps that say what is ordinary                */

static void remember(ct__counters *n, int wheel, double d, double before)
{
    const double way = fabs(d);
    int          least = 0;
    for (int i = 1; i < n->leaps; i++)
        if (n->way[i] < n->way[least]) least = i;
    if (n->leaps < CT__LEAPS)
        least = n->leaps++;
    else if (way > LONGER * n->ordinary && n->way[least] > LONGER * n->ordinary && n->ordinary > 0) {
        n->more++; /* all that are listed are leaps */
        return;
    } else if (way <= n->way[least]) {
        n->ordinary = fmax(n->ordinary, way);
        return;
    } else
        n->ordinary = fmax(n->ordinary, n->way[least]);
    n->way[least] = way;
    n->around[least] = fabs(d - before);
    n->number[least] = 2 * n->steps + wheel;
}

void ct__counters_note(ct__counters *n, const double d[2], const double before[2])
{
    for (int i = 0; i < 2; i++) remember(n, i, d[i], before[i]);
    n->steps++;
}

/* The longest step that is below the limit. */
static double longest_below(const ct__counters *n, double limit)
{
    double longest = n->ordinary;
    for (int i = 0; i < n->leaps; i++)
        if (n->way[i] < limit) longest = fmax(longest, n->way[i]);
    return longest;
}

/* Leaps are the steps of at least this length; 0: there are none. */
static double find_leaps(const ct__counters *n)
{
    double shortest = 0;
    for (int i = 0; i < n->leaps; i++) {
        const double below = longest_below(n, n->way[i]);
        if (n->way[i] > LONGER * below && below > 0 && (!(shortest > 0) || n->way[i] < shortest)) shortest = n->way[i];
    }
    return shortest;
}

double ct__counters_wrap(const ct__counters *n, int *times)
{
    const double shortest = find_leaps(n), ordinary = longest_below(n, shortest);
    double       sum = 0;
    *times = 0;
    if (!(shortest > 0) || n->steps < LEAST) return 0;
    for (int i = 0; i < n->leaps; i++) {
        if (n->way[i] < shortest) continue;
        if (n->way[i] > shortest + LIKE * ordinary) return *times = 0, 0;
        for (int k = 0; k < n->leaps; k++)
            if (n->way[k] >= shortest && n->number[k] == n->number[i] + 2) return *times = 0, 0;
        sum += n->around[i];
        ++*times;
    }
    const double wrap = sum / *times;
    *times += (int)CT_MIN(n->more, 1000000);
    return wrap;
}
