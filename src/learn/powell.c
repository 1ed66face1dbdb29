/* powell.c: Powell's direction set method (1964), in a box.
 *
 *     pass:   for each direction d_i:  x <- argmin over t of F(x + t d_i) inside the box
 *     then:   d = x - (x after the previous pass), F0 and F the values before and after the pass, D the largest
 *             decrease along one direction, F2 = F(x + d).
 *             If F2 < F0 and 2 (F0 - 2 F + F2) (F0 - F - D)^2 < D (F0 - F2)^2:
 *             x <- argmin along d; the last direction replaces that of the largest decrease; d becomes the last
 *
 * Rules, limits, tolerances and the order of operations are those of SciPy's minimize(method="Powell", bounds=...).
 * Differences:
 *   - Brent's search may end at a point worse than its start if a line has several minima. Then x stays.
 *   - Points are clipped to the box. Rounding can move x + t d out of it.
 *   - Parameters with equal bounds are no directions. Lines of length zero are not evaluated.
 *   - If inner solves fail at the start, the first pass has no decrease to compare. The next pass starts from its
 *     result. */
#include "learn/derivative_free.h"

#include <limits.h>
#include <math.h>

#define X_TOLERANCE 1e-4 /* of t along a direction                             */
#define F_TOLERANCE 1e-4 /* of the decrease in a pass, relative to mean values */
#define LINE_MOST   500  /* evaluations on one line                            */

typedef struct {
    ct__search search;
    int32_t    n;
    double    *x, *before, *trial, *move; /* n; before: x after the last pass */
    double    *set;                       /* n x n, a direction a row         */
    double     F;
    const double *along;                  /* direction of the current line    */
} powell;

static ct_status allocate(powell *s, ct_err *err)
{
    const int64_t n = s->n;
    s->x = ct__zalloc(CT_MAX(1, 4 * n + n * n), sizeof *s->x);
    if (!s->x) return ct__no_memory(err, "parameters", n);
    s->before = s->x + n;
    s->trial = s->before + n;
    s->move = s->trial + n;
    s->set = s->move + n;
    for (int64_t i = 0; i < n; i++) s->set[i * n + i] = 1;
    memcpy(s->x, s->search.start, (size_t)n * sizeof *s->x);
    memcpy(s->before, s->x, (size_t)n * sizeof *s->x);
    return CT_OK;
}

/* The interval of t for which x + t d is in the box. 0: only t = 0. */
static int find_interval(const powell *s, const double *d, double *from, double *to)
{
    *from = -INFINITY;
    *to = INFINITY;
    for (int32_t k = 0; k < s->n; k++) {
        if (d[k] == 0) continue;
        const double a = (s->search.lower[k] - s->x[k]) / d[k], b = (s->search.upper[k] - s->x[k]) / d[k];
        *from = CT_MAX(*from, CT_MIN(a, b));
        *to = CT_MIN(*to, CT_MAX(a, b));
    }
    return *from < *to && isfinite(*from) && isfinite(*to);
}

static int loss_on_line(void *user, double t, double *F)
{
    powell *s = user;
    for (int32_t k = 0; k < s->n; k++) s->trial[k] = s->x[k] + t * s->along[k];
    return ct__search_loss(&s->search, s->trial, F);
}

/* x <- the best point found along d, unless it is worse. *moved <- its t. 0: the search has ended. */
static int search_line(powell *s, const double *d, double *moved)
{
    double from, to, t, F;
    *moved = 0;
    if (!find_interval(s, d, &from, &to)) return 1;
    s->along = d;
    if (!ct__brent(from, to, X_TOLERANCE, LINE_MOST, loss_on_line, s, &t, &F)) return 0;
    if (!(F <= s->F) || isinf(F)) return 1;
    *moved = t;
    for (int32_t k = 0; k < s->n; k++)
        s->x[k] = CT_MIN(CT_MAX(s->x[k] + t * d[k], s->search.lower[k]), s->search.upper[k]);
    s->F = F;
    return 1;
}

/* Line searches along all directions. *largest: the largest decrease; *steepest: its direction. */
static int pass(powell *s, double *largest, int32_t *steepest)
{
    *largest = 0;
    *steepest = 0;
    for (int32_t i = 0; i < s->n; i++) {
        const double before = s->F;
        double       moved;
        if (!search_line(s, s->set + (int64_t)i * s->n, &moved)) return 0;
        if (before - s->F > *largest) {
            *largest = before - s->F;
            *steepest = i;
        }
    }
    return 1;
}

/* Powell's test above: is d, the displacement of the pass, a better direction? */
static int test_displacement(powell *s, double before, double largest, int *better)
{
    double from, to, F;
    *better = 0;
    for (int32_t k = 0; k < s->n; k++) s->move[k] = s->x[k] - s->before[k];
    memcpy(s->before, s->x, (size_t)s->n * sizeof *s->x);
    if (!find_interval(s, s->move, &from, &to)) return 1;
    s->along = s->move;
    if (!loss_on_line(s, CT_MIN(to, 1), &F)) return 0;
    const double rest = before - s->F - largest, fall = before - F;
    *better = fall > 0 && 2 * (before + F - 2 * s->F) * (rest * rest) - largest * fall * fall < 0;
    return 1;
}

static int replace_direction(powell *s, int32_t steepest)
{
    const size_t bytes = (size_t)s->n * sizeof *s->set;
    double      *last = s->set + (int64_t)(s->n - 1) * s->n, moved;
    if (!search_line(s, s->move, &moved)) return 0;
    if (moved == 0) return 1;
    memmove(s->set + (int64_t)steepest * s->n, last, bytes);
    for (int32_t k = 0; k < s->n; k++) last[k] = moved * s->move[k];
    return 1;
}

/* Iterates until *stop is set. 0: the search has ended. */
static int iterate(powell *s, int max_iterations, ct_learn_stop *stop)
{
    if (!ct__search_loss(&s->search, s->x, &s->F)) return 0;
    ct__objective_step(s->search.objective);
    for (int i = 1;; i++) {
        const double before = s->F;
        double       largest;
        int32_t      steepest;
        int          better;
        if (!pass(s, &largest, &steepest)) return 0;
        ct__objective_step(s->search.objective);
        if (isinf(s->F)) *stop = CT_LEARN_STOP_STUCK;
        else if (isfinite(before) && 2 * (before - s->F) <= F_TOLERANCE * (before + s->F) + 1e-20)
            *stop = CT_LEARN_STOP_LOSS;
        else if (s->search.evaluations >= s->search.most || i >= max_iterations) *stop = CT_LEARN_STOP_ITERATIONS;
        if (*stop) return 1;
        if (isinf(before)) {
            memcpy(s->before, s->x, (size_t)s->n * sizeof *s->x);
            continue;
        }
        if (!test_displacement(s, before, largest, &better)) return 0;
        if (better && !replace_direction(s, steepest)) return 0;
    }
}

ct_status ct__learn_powell(ct__objective *e, ct_space space, int max_iterations, double *p, ct_learn_stop *stop)
{
    powell    s = {0};
    ct_status status = ct__search_begin(e, space, e->options->max_iterations ? INT_MAX : max_iterations, p, &s.search);
    s.n = s.search.n;
    *stop = s.n ? CT_LEARN_STOP_NONE : CT_LEARN_STOP_GRADIENT; /* all bounds are equal */
    if (status == CT_OK) status = allocate(&s, e->err);
    if (status == CT_OK && s.n && !iterate(&s, max_iterations, stop)) {
        status = s.search.status;
        *stop = s.search.stop;
    }
    ct__search_end(&s.search, p);
    free(s.x);
    return status;
}
