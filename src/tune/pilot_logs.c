/* pilot_logs.c: few training logs that stand for all of them while a search is far from its end.
 *
 * A trajectory has thousands of residuals. Far from the minimum those of one log tell the direction as well as those of
 * all of them, at a fraction of the runs: subsampled Gauss-Newton with samples that grow (Byrd, Chin, Nocedal and Wu,
 * Sample size selection in optimization methods for machine learning, 2012). The minimum of one log is that of all but
 * for its sampling error, which falls with the root of the number of logs. So a search begins on a pilot log, goes on
 * with twice as many, and ends on all of them. */
#include "tune/search.h"

#include <math.h>

#define LEAST_LOGS 3 /* with fewer of them a Jacobian of one log saves half at most */

typedef struct {
    int32_t log;
    int     is_short; /* fewer rows than the median */
    double  far;      /* of its loss from the mean  */
} log_place;

static int by_rows(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int by_place(const void *a, const void *b)
{
    const log_place *x = a, *y = b;
    if (x->is_short != y->is_short) return x->is_short - y->is_short;
    if (x->far != y->far) return x->far < y->far ? -1 : 1;
    return (x->log > y->log) - (x->log < y->log);
}

/* First come logs that are not short, among them those whose loss at p is near to the mean, as a ratio. */
ct_status ct__order_logs(ct__tuner *t, const ct__tune_point *p)
{
    log_place *place = ct__zalloc(t->trains, sizeof *place);
    int64_t   *rows = ct__zalloc(t->trains, sizeof *rows);
    ct_status  status = place && rows ? CT_OK : ct__no_memory(t->err, "logs", t->trains);
    int32_t    count = 0;
    for (int32_t l = 0; l < t->problem->logs && status == CT_OK; l++)
        if (!t->problem->log[l].test) rows[count++] = t->rows[l];
    if (status == CT_OK) qsort(rows, (size_t)count, sizeof *rows, by_rows);
    count = 0;
    for (int32_t l = 0; l < t->problem->logs && status == CT_OK; l++) {
        if (t->problem->log[l].test) continue;
        const double far = fabs(log((p->figures[l].loss + 1e-300) / (p->whole + 1e-300)));
        place[count++] = (log_place){l, t->rows[l] < rows[t->trains / 2], far};
    }
    if (status == CT_OK) qsort(place, (size_t)count, sizeof *place, by_place);
    for (int32_t i = 0; i < count && status == CT_OK; i++) t->rank[place[i].log] = i;
    free(place);
    free(rows);
    return status;
}

int32_t ct__first_logs(const ct__tuner *t) { return t->trains < LEAST_LOGS ? t->trains : 1; }

int32_t ct__more_logs(const ct__tuner *t, int32_t logs) { return 4 * logs > t->trains ? t->trains : 2 * logs; }
