/* pilot_log.c: one training log that stands for all of them while a search is far from its end.
 *
 * A trajectory has thousands of residuals. Far from the minimum those of one log tell the direction as well as those of
 * all of them, at a fraction of the runs: subsampled Gauss-Newton (Byrd, Chin, Neveitt and Nocedal 2011). The minimum of
 * one log is that of all but for its sampling error. So a search begins on a pilot log, is compared with the others on
 * the way, and ends on all of them. */
#include "tune/search.h"

#include <math.h>

#define LEAST_LOGS 3 /* with fewer of them a Jacobian of one log saves half at most */

static int ascending(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Of the logs that are not short, the one whose loss is nearest to the mean loss at p, as a ratio. */
static int32_t nearest_to_mean(const ct__tuner *t, const ct__tune_point *p, int64_t least_rows)
{
    int32_t best = -1;
    double  nearest = INFINITY;
    for (int32_t l = 0; l < t->problem->logs; l++) {
        if (t->problem->log[l].test || t->rows[l] < least_rows) continue;
        const double far = fabs(log((p->figures[l].loss + 1e-300) / (p->whole + 1e-300)));
        if (!(far < nearest)) continue;
        nearest = far;
        best = l;
    }
    return best;
}

int32_t ct__choose_pilot(const ct__tuner *t, const ct__tune_point *first)
{
    int64_t *rows = t->trains < LEAST_LOGS ? NULL : ct__zalloc(t->trains, sizeof *rows);
    int32_t  count = 0;
    if (!rows) return -1; /* all of them: a search that costs more */
    for (int32_t l = 0; l < t->problem->logs; l++)
        if (!t->problem->log[l].test) rows[count++] = t->rows[l];
    qsort(rows, (size_t)count, sizeof *rows, ascending);
    const int64_t median = rows[count / 2];
    free(rows);
    return nearest_to_mean(t, first, median);
}
