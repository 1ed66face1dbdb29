/* nelder_mead.c: the simplex method of Nelder and Mead (1965), with the adaptive coefficients of Gao and Han (2012),
 * clipped to a box.
 *
 *     vertices x_0 .. x_n, best first; c the mean of all but the worst; x(t) = (1 + t) c - t x_n
 *     x(1) is the reflection, x(1 + 2/n) the expansion, x(+-psi) the outside and inside contraction,
 *     psi = 3/4 - 1/2n. A shrink moves all vertices towards x_0 by the factor 1 - 1/n
 *
 * Rules, limits, tolerances and the order of operations are those of SciPy's
 * minimize(method="Nelder-Mead", adaptive=True, bounds=...): the same simplex gives the same path. The first simplex
 * counts as an iteration. Differences:
 *   - A vertex of the first simplex that would leave the box goes the other way. Clipped to a bound that the start is
 *     on, it would equal the start, and the simplex would lose that direction.
 *   - Parameters with equal bounds are no dimensions.
 *   - In one dimension the coefficients are those of two: 1 - 1/n is 0 for n = 1, and the first shrink would end it.
 *   - Clipping can collapse the simplex onto a face of the box, where it then converges. At the end one vertex inside
 *     each such face is evaluated. If the loss is smaller there, the answer is no minimum; objective->collapsed
 *     counts these faces. The method does not restart there. A restart finds up to a fifth less loss for two thirds
 *     more evaluations, and would no longer be the baseline method. */
#include "learn/derivative_free.h"

#include <limits.h>
#include <math.h>

#define X_TOLERANCE 1e-4    /* of the extent of the simplex, absolute, in its coordinates, and   */
#define F_TOLERANCE 1e-4    /* of its values; both must hold                                     */
#define FIRST       0.05    /* size of the first simplex, relative to the start                  */
#define FIRST_AT_0  0.00025 /* the same, if the start is 0                                       */

typedef struct {
    ct__search search;
    int32_t    n;
    double   **vertex; /* n + 1, ascending in F    */
    double    *F;      /* n + 1                    */
    double    *numbers;
    double    *centre, *trial, *other; /* n        */
    double     expand, contract, shrink;
} simplex;

static ct_status allocate(simplex *s, ct_err *err)
{
    const int64_t n = s->n;
    s->vertex = ct__zalloc(n + 1, sizeof *s->vertex);
    s->numbers = ct__zalloc((n + 1) * n + n + 1 + 3 * n, sizeof *s->numbers);
    if (!s->vertex || !s->numbers) return ct__no_memory(err, "parameters", n);
    for (int64_t i = 0; i <= n; i++) s->vertex[i] = s->numbers + i * n;
    s->F = s->numbers + (n + 1) * n;
    s->centre = s->F + n + 1;
    s->trial = s->centre + n;
    s->other = s->trial + n;
    return CT_OK;
}

/* Coordinate k of a first vertex: x plus a step; if that leaves the box, x minus the step, or the farther bound. */
static double beside(const simplex *s, int32_t k, double x)
{
    const double lower = s->search.lower[k], upper = s->search.upper[k];
    /* the logarithm of a variance near 1 is near 0 without a meaning */
    const int    at_0 = x == 0 || (s->search.space == CT_SPACE_LOG && fabs(FIRST * x) < FIRST_AT_0);
    const double ahead = at_0 ? x + FIRST_AT_0 : (1 + FIRST) * x, back = at_0 ? x - FIRST_AT_0 : (1 - FIRST) * x;
    if (ahead >= lower && ahead <= upper) return ahead;
    if (back >= lower && back <= upper) return back;
    return upper - x > x - lower ? upper : lower;
}

static void swap(double **a, double **b)
{
    double *t = *a;
    *a = *b;
    *b = t;
}

/* Insertion sort, stable. */
static void sort(simplex *s)
{
    for (int32_t i = 1; i <= s->n; i++)
        for (int32_t k = i; k > 0 && s->F[k] < s->F[k - 1]; k--) {
            const double F = s->F[k];
            s->F[k] = s->F[k - 1];
            s->F[k - 1] = F;
            swap(&s->vertex[k], &s->vertex[k - 1]);
        }
}

static int begin(simplex *s)
{
    for (int32_t i = 0; i <= s->n; i++) {
        double *x = s->vertex[i];
        memcpy(x, s->search.start, (size_t)s->n * sizeof *x);
        if (i) x[i - 1] = beside(s, i - 1, x[i - 1]);
        if (!ct__search_loss(&s->search, x, &s->F[i])) return 0;
        if (i == 0) ct__objective_step(s->search.objective);
    }
    sort(s);
    return 1;
}

static int is_small(const simplex *s)
{
    double extent = 0;
    for (int32_t i = 1; i <= s->n; i++)
        for (int32_t k = 0; k < s->n; k++) extent = CT_MAX(extent, fabs(s->vertex[i][k] - s->vertex[0][k]));
    return extent <= X_TOLERANCE && s->F[s->n] - s->F[0] <= F_TOLERANCE; /* false if both are infinite */
}

static void find_centre(simplex *s)
{
    for (int32_t k = 0; k < s->n; k++) {
        s->centre[k] = 0;
        for (int32_t i = 0; i < s->n; i++) s->centre[k] += s->vertex[i][k];
        s->centre[k] /= s->n;
    }
}

/* x <- x(t) clipped to the box; *F <- the loss there. */
static int try_at(simplex *s, double t, double *x, double *F)
{
    for (int32_t k = 0; k < s->n; k++) x[k] = (1 + t) * s->centre[k] - t * s->vertex[s->n][k];
    return ct__search_loss(&s->search, x, F);
}

static int replace_worst(simplex *s, double **x, double F)
{
    swap(&s->vertex[s->n], x);
    s->F[s->n] = F;
    return 1;
}

static int shrink(simplex *s)
{
    for (int32_t i = 1; i <= s->n; i++) {
        for (int32_t k = 0; k < s->n; k++)
            s->vertex[i][k] = s->vertex[0][k] + s->shrink * (s->vertex[i][k] - s->vertex[0][k]);
        if (!ct__search_loss(&s->search, s->vertex[i], &s->F[i])) return 0;
    }
    return 1;
}

static int advance(simplex *s)
{
    double reflected, other;
    find_centre(s);
    if (!try_at(s, 1, s->trial, &reflected)) return 0;
    if (reflected < s->F[0]) {
        if (!try_at(s, s->expand, s->other, &other)) return 0;
        return other < reflected ? replace_worst(s, &s->other, other) : replace_worst(s, &s->trial, reflected);
    }
    if (reflected < s->F[s->n - 1]) return replace_worst(s, &s->trial, reflected);
    const int outside = reflected < s->F[s->n];
    if (!try_at(s, outside ? s->contract : -s->contract, s->other, &other)) return 0;
    return (outside ? other <= reflected : other < s->F[s->n]) ? replace_worst(s, &s->other, other) : shrink(s);
}

/* Is coordinate k the same bound in every vertex? */
static int is_collapsed(const simplex *s, int32_t k)
{
    const double x = s->vertex[0][k];
    if (x != s->search.lower[k] && x != s->search.upper[k]) return 0;
    for (int32_t i = 1; i <= s->n; i++)
        if (s->vertex[i][k] != x) return 0;
    return 1;
}

/* Evaluates the loss inside every bound that the simplex collapsed onto. */
static int evaluate_inside(simplex *s)
{
    ct__objective  *e = s->search.objective;
    const double least = s->F[0];
    for (int32_t k = 0; k < s->n && s->search.evaluations < s->search.most; k++) {
        double F;
        if (!is_collapsed(s, k)) continue;
        memcpy(s->trial, s->vertex[0], (size_t)s->n * sizeof *s->trial);
        s->trial[k] = beside(s, k, s->trial[k]);
        if (!ct__search_loss(&s->search, s->trial, &F)) return 0;
        if (!(F < least - F_TOLERANCE)) continue;
        if (!e->collapsed++ || F < e->collapsed_loss) {
            e->collapsed_parameter = s->search.parameter[k];
            e->collapsed_loss = F;
        }
    }
    return 1;
}

/* Iterates until *stop is set. 0: the search has ended. */
static int iterate(simplex *s, int max_iterations, ct_learn_stop *stop)
{
    ct__objective *e = s->search.objective;
    if (!begin(s)) return 0;
    if (isinf(s->F[0])) *stop = CT_LEARN_STOP_STUCK;
    for (int i = 1; *stop == CT_LEARN_STOP_NONE; i++) {
        ct__objective_step(e);
        if (s->search.evaluations >= s->search.most || i >= max_iterations) *stop = CT_LEARN_STOP_ITERATIONS;
        else if (is_small(s)) *stop = CT_LEARN_STOP_STEP;
        else if (!advance(s)) return 0;
        sort(s);
    }
    return *stop != CT_LEARN_STOP_STEP || evaluate_inside(s);
}

ct_status ct__learn_nelder_mead(ct__objective *e, ct_space space, int max_iterations, double *p, ct_learn_stop *stop)
{
    simplex   s = {0};
    ct_status status = ct__search_begin(e, space, e->options->max_iterations ? INT_MAX : max_iterations, p, &s.search);
    s.n = s.search.n;
    const double dimension = CT_MAX(2, s.n);
    s.expand = 1 + 2 / dimension;
    s.contract = 0.75 - 1 / (2 * dimension);
    s.shrink = 1 - 1 / dimension;
    *stop = s.n ? CT_LEARN_STOP_NONE : CT_LEARN_STOP_GRADIENT; /* all bounds are equal */
    if (status == CT_OK) status = allocate(&s, e->err);
    if (status == CT_OK && s.n && !iterate(&s, max_iterations, stop)) {
        status = s.search.status;
        *stop = s.search.stop;
    }
    ct__search_end(&s.search, p);
    free(s.vertex);
    free(s.numbers);
    return status;
}
