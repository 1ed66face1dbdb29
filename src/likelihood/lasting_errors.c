/* lasting_errors.c: autocorrelation of whitened residuals of one target.
 *
 * Residuals at the minimum have covariance Sigma - J P J'. If errors are white, P correlates them by a little, and
 * negatively: what one measurement says has moved the estimate that its neighbour is compared with. A positive
 * correlation is not white noise's. */
#include "graph/graph.h"
#include "graph/whiten.h"
#include "likelihood/likelihood.h"

#include <math.h>

#define CLIP            3.0 /* sigmas: an outlier neither makes a correlation nor hides one      */
#define STANDARD_ERRORS 3.0 /* that a correlation must exceed; its standard error is 1 / sqrt(pairs) */

/* Measurements of a model in one sequence, with their residuals. */
typedef struct {
    ct__measurement *m;
    double          *u; /* per measurement: CT_ROWS_MAX */
    int32_t          count;
} track;

typedef struct {
    int64_t pairs;
    double  lag, ab[CT_ROWS_MAX], aa[CT_ROWS_MAX], bb[CT_ROWS_MAX];
} bin;

static void clear_track(track *t)
{
    free(t->m);
    free(t->u);
    *t = (track){0};
}

/* u <- R r / sqrt(m), clipped. */
static void residual(const ct_graph *g, const ct_noise *noise, int32_t f, const double *x, double *u)
{
    const ct_factor       k = ct_graph_factor(g, f);
    const ct_noise_model *model = ct_noise_get(noise, k.noise);
    const double         *arg[CT_ARITY_MAX];
    double                r[CT_ROWS_MAX];
    const int             n = k.ops->rows;
    for (int i = 0; i < k.ops->arity; i++) arg[i] = x + ct_graph_offset(g, k.var[i]);
    ct_factor_eval(k.ops, k.z, k.context, arg, r, NULL);
    ct__divide_by_factor_scale(g, noise, f, r, 0, NULL, NULL);
    for (int i = 0; i < n; i++) {
        u[i] = model->kind == CT_NOISE_FULL ? 0 : model->sqrt_info[i] * r[i];
        for (int j = i; model->kind == CT_NOISE_FULL && j < n; j++) u[i] += model->sqrt_info[i * n + j] * r[j];
        u[i] = fmax(-CLIP, fmin(CLIP, u[i]));
    }
}

static ct_status fill_open(const ct_likelihood *l, const ct__likelihood_sequence *s, int32_t model, int seconds,
                           track *t, ct_err *err)
{
    CT_TRY(ct__list_measurements(s->seq, s->graph, model, seconds, &t->m, &t->count, err));
    t->u = ct__zalloc((int64_t)t->count * CT_ROWS_MAX, sizeof *t->u);
    if (!t->u) return ct__no_memory(err, "factors", t->count);
    for (int32_t k = 0; k < t->count; k++)
        residual(s->graph, l->noise, t->m[k].factor, s->x, t->u + (int64_t)k * CT_ROWS_MAX);
    return CT_OK;
}

static ct_status fill_track(const ct_likelihood *l, int32_t i, int32_t model, int seconds, track *t, ct_err *err)
{
    const ct__likelihood_sequence *s = &l->sequence[i];
    if (!s->took_part || !isfinite(s->value) || t->m) return CT_OK;
    CT_TRY(ct__likelihood_open(l, i, err));
    const ct_status status = fill_open(l, s, model, seconds, t, err);
    const ct_status closed = ct__likelihood_close(l, i, 0, status == CT_OK ? err : NULL);
    return status == CT_OK ? closed : status;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void add_gaps(const track *t, double *gap, int64_t *n)
{
    for (int32_t k = 1; k < t->count; k++)
        if (ct__same_target(&t->m[k - 1], &t->m[k]) && t->m[k].t > t->m[k - 1].t)
            gap[(*n)++] = t->m[k].t - t->m[k - 1].t;
}

/* The median distance of neighbours; 0 if there are none. Tracks of sequences that are in a cache are not kept. */
static ct_status find_spacing(const ct_likelihood *l, int32_t model, int seconds, track *t, double *spacing,
                              ct_err *err)
{
    const int64_t most = ct_likelihood_factors(l, model, NULL), bytes = most * (int64_t)sizeof(double);
    int64_t       n = 0;
    if (l->store) CT_TRY(ct__store_reserve(l->store, bytes, l->options.jobs, "times between measurements", err));
    double   *gap = ct__zalloc(most, sizeof *gap);
    ct_status status = gap ? CT_OK : ct__no_memory(err, "factors", most);
    for (int32_t i = 0; status == CT_OK && i < l->count; i++) {
        status = fill_track(l, i, model, seconds, &t[i], err);
        if (status == CT_OK) add_gaps(&t[i], gap, &n);
        if (l->store) clear_track(&t[i]);
    }
    if (status == CT_OK) {
        qsort(gap, (size_t)n, sizeof *gap, compare);
        *spacing = n ? gap[n / 2] : 0;
    }
    free(gap);
    if (l->store) (void)ct__store_reserve(l->store, -bytes, 0, "", NULL);
    return status;
}

static void add_pair(const track *t, int32_t i, int32_t j, int rows, bin *b)
{
    const double *u = t->u + (int64_t)i * CT_ROWS_MAX, *v = t->u + (int64_t)j * CT_ROWS_MAX;
    b->pairs++;
    b->lag += t->m[j].t - t->m[i].t;
    for (int r = 0; r < rows; r++) {
        b->ab[r] += u[r] * v[r];
        b->aa[r] += u[r] * u[r];
        b->bb[r] += v[r] * v[r];
    }
}

/* Measurements first .. end - 1 are of one target. For each and every bin the first partner in it. */
static void add_target(const track *t, int32_t first, int32_t end, double spacing, int rows, bin *bins)
{
    for (int b = 0; b < CT_LASTING_BINS; b++) {
        const double least = b ? spacing * pow(2, b - 0.5) : 0, most = spacing * pow(2, b + 0.5);
        for (int32_t i = first, j = first; i < end; i++) {
            if (j <= i) j = i + 1;
            while (j < end && t->m[j].t - t->m[i].t < least) j++;
            if (j < end && t->m[j].t - t->m[i].t < most) add_pair(t, i, j, rows, &bins[b]);
        }
    }
}

static void add_track(const track *t, double spacing, int rows, bin *bins)
{
    for (int32_t first = 0, end; first < t->count; first = end) {
        for (end = first + 1; end < t->count && ct__same_target(&t->m[first], &t->m[end]);) end++;
        add_target(t, first, end, spacing, rows, bins);
    }
}

/* ---- Conclusions ------------------------------------------------------------------------------ */

static int counts(const ct_lasting_errors *e, int b) { return e->pairs[b] >= CT_LASTING_PAIRS; }

/* The lag at which a row falls below `level`, linear in log lag between bins; INFINITY: nowhere. */
static double find_crossing(const ct_lasting_errors *e, int row, int from, double level)
{
    for (int b = from + 1, last = from; b < CT_LASTING_BINS; b++) {
        if (!counts(e, b)) continue;
        const double before = e->rho_of[last][row], rho = e->rho_of[b][row];
        if (rho < level) {
            const double share = (before - level) / (before - rho);
            return exp((1 - share) * log(e->lag_of[last]) + share * log(e->lag_of[b]));
        }
        last = b;
    }
    return INFINITY;
}

/* Neighbours at an estimate that follows lasting errors may correlate less than those next to them do. */
static int first_bin(const ct_lasting_errors *e, int row)
{
    return counts(e, 1) && (!counts(e, 0) || e->rho_of[1][row] > e->rho_of[0][row]);
}

static void conclude_row(int row, ct_lasting_errors *e)
{
    const int b = first_bin(e, row);
    if (!counts(e, b)) return;
    const double rho = e->rho_of[b][row];
    if (e->row < 0 || rho > e->rho) {
        e->row = row;
        e->rho = rho;
    }
    if (rho <= CT_LASTING_RHO || rho <= STANDARD_ERRORS / sqrt((double)e->pairs[b])) return;
    double lag = find_crossing(e, row, b, CT_LASTING_OVER);
    if (isinf(lag)) lag = find_crossing(e, row, b, 0.5 * rho);
    e->lag = fmax(e->lag, lag);
}

static void conclude(const bin *bins, int rows, ct_lasting_errors *out)
{
    for (int b = 0; b < CT_LASTING_BINS; b++) {
        out->pairs[b] = bins[b].pairs;
        out->lag_of[b] = bins[b].pairs ? bins[b].lag / (double)bins[b].pairs : 0;
        for (int r = 0; r < rows; r++) {
            const double square = bins[b].aa[r] * bins[b].bb[r];
            out->rho_of[b][r] = square > 0 ? bins[b].ab[r] / sqrt(square) : 0;
        }
    }
    for (int r = 0; r < rows; r++) conclude_row(r, out);
}

ct_status ct_likelihood_lasting_errors(const ct_likelihood *l, int32_t model, ct_lasting_errors *out, ct_err *err)
{
    bin    bins[CT_LASTING_BINS] = {0};
    double spacing = 0;
    *out = (ct_lasting_errors){.row = -1, .rho = NAN};
    if (model < 0 || model >= l->models || l->slot[model] < 0)
        return ct_fail(err, CT_E_ARGUMENT, "noise model %d is not learned: it has no residuals to be diagnosed", model);
    const int rows = ct_noise_get(l->noise, model)->dim;
    CT_TRY(ct__has_times(l, &out->seconds, err));
    track    *t = ct__zalloc(l->count, sizeof *t);
    ct_status status = t ? CT_OK : ct__no_memory(err, "sequences", l->count);
    if (status == CT_OK) status = find_spacing(l, model, out->seconds, t, &spacing, err);
    for (int32_t i = 0; status == CT_OK && spacing > 0 && i < l->count; i++) {
        status = fill_track(l, i, model, out->seconds, &t[i], err);
        add_track(&t[i], spacing, rows, bins);
        if (l->store) clear_track(&t[i]);
    }
    if (status == CT_OK) conclude(bins, rows, out);
    for (int32_t i = 0; t && i < l->count; i++) clear_track(&t[i]);
    free(t);
    return status;
}
