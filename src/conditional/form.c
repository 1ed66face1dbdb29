/* form.c: the form of a function as text, and what of it follows from the factors: mean, deviation and range of every
 * feature, knots at quantiles. Features that cannot be told apart are refused. */
#include "base/coordinate.h"
#include "conditional/conditional.h"
#include "graph/graph.h"

#include <math.h>

#define KNOTS      5     /* of piecewise functions                                       */
#define KNOTS_MAX  16
#define WIDTH      16    /* of the hidden layer of a network                             */
#define SHARED     -1    /* outputs, until the form is read                              */
#define SAME       1e-9  /* 1 - |correlation| of features that are one                    */
#define CONSTANT   1e-12 /* deviation of a feature, relative to its size, that is constant */
#define TAIL       0.025 /* share of values beyond each of the quantiles that tell the spread of a feature */
#define FAR        20    /* spreads from the median: 40 sigma of a normal feature. 99.99 where hdop is 1 to 2, -1 or 1e6
                            where a value is unknown, are no situations, and would set mean, deviation and slope */

typedef struct {
    const char  *text, *model;
    ct_err      *err;
    ct_function *f;
    int          knots;
} form;

static ct_status wrong(const form *w, const char *what)
{
    return ct_fail(w->err, CT_E_ARGUMENT,
                   "noise model %s: \"%.100s\" %s; write linear:A,B, piecewise:A/5 or network:A,B/16x16", w->model,
                   w->text, what);
}

/* The number of a feature by name, which is added if it is new; -1: too many. */
static int feature_of(form *w, const char *name, size_t n)
{
    ct_function *f = w->f;
    for (int i = 0; i < f->features; i++)
        if (strlen(f->feature[i].name) == n && !strncmp(f->feature[i].name, name, n)) return i;
    if (f->features == CT_FUNCTION_FEATURES_MAX) return -1;
    memcpy(f->feature[f->features].name, name, n);
    f->feature[f->features].name[n] = 0;
    return f->features++;
}

static ct_status add_term(form *w, const char *name, size_t n)
{
    ct_function *f = w->f;
    const char  *star = memchr(name, '*', n);
    const size_t first = star ? (size_t)(star - name) : n;
    const size_t last = star ? n - first - 1 : 1;
    if (first < 1 || last < 1) return wrong(w, "lacks the name of a feature");
    if (first > CT_FEATURE_NAME_MAX || last > CT_FEATURE_NAME_MAX)
        return wrong(w, "names a feature of more than 31 bytes");
    const int before = f->features, a = feature_of(w, name, first), b = star ? feature_of(w, star + 1, last) : -1;
    int       twice = f->kind != CT_FUNCTION_LINEAR && a >= 0 && a < before;
    if (a < 0 || (star && b < 0)) return wrong(w, "names more than 16 features");
    for (int j = 0; j < f->terms; j++)
        twice |= (f->term[j].a == a && f->term[j].b == b) || (f->term[j].a == b && f->term[j].b == a);
    if (twice) return wrong(w, "has a feature, or a product, twice");
    if (star && f->kind != CT_FUNCTION_LINEAR) return wrong(w, "has a product, which only linear functions have");
    if (f->kind != CT_FUNCTION_LINEAR) return CT_OK;
    if (f->terms == CT_FUNCTION_TERMS_MAX) return wrong(w, "has too many terms");
    f->term[f->terms++] = (ct_function_term){.a = a, .b = b};
    return CT_OK;
}

/* "/6", "/16x16", "/shared", "/matrix" */
static ct_status read_option(form *w, const char *at, size_t n)
{
    ct_function *f = w->f;
    char         word[32];
    int          used = 0;
    snprintf(word, sizeof word, "%.*s", (int)CT_MIN(n, sizeof word - 1), at);
    if (!strcmp(word, "shared") || !strcmp(word, "matrix")) {
        if (f->matrix || f->outputs == SHARED) return wrong(w, "is shared, or a matrix, twice or both");
        f->matrix = !strcmp(word, "matrix");
        f->outputs = f->matrix ? f->outputs : SHARED;
        return CT_OK;
    }
    if (f->kind == CT_FUNCTION_PIECEWISE && sscanf(word, "%d%n", &w->knots, &used) == 1 && !word[used] &&
        w->knots >= 2 && w->knots <= KNOTS_MAX)
        return CT_OK;
    if (f->kind != CT_FUNCTION_NETWORK) return wrong(w, "has an option that it cannot have: knots are 2 to 16");
    f->layers = 0;
    for (const char *c = word; *c;) {
        if (f->layers == CT_FUNCTION_LAYERS_MAX || sscanf(c, "%d%n", &f->width[f->layers], &used) != 1 ||
            f->width[f->layers] < 1 || f->width[f->layers] > CT_FUNCTION_WIDTH_MAX)
            return wrong(w, "has hidden layers that cannot be: at most 3, of 1 to 128 units");
        f->layers++;
        c += used;
        if (*c == 'x' && c[1]) c++;
        else if (*c) return wrong(w, "has hidden layers that cannot be: at most 3, of 1 to 128 units");
    }
    return CT_OK;
}

static ct_status parse(form *w, int dim)
{
    ct_function *f = w->f;
    const char  *colon = strchr(w->text, ':'), *end = colon ? colon + 1 + strcspn(colon + 1, "/") : NULL;
    char         kind[16];
    snprintf(kind, sizeof kind, "%.*s", colon ? (int)CT_MIN(colon - w->text, 15) : 0, w->text);
    const int k = ct_function_kind_find(kind);
    if (k < 0) return wrong(w, "is no form of a function");
    f->kind = (ct_function_kind)k;
    f->outputs = dim;
    f->layers = 1;
    f->width[0] = WIDTH;
    w->knots = KNOTS;
    for (const char *c = colon + 1; c <= end;) {
        const size_t n = strcspn(c, ",/");
        CT_TRY(add_term(w, c, n));
        c += n + 1;
    }
    for (const char *c = end; *c == '/';) {
        const size_t n = strcspn(c + 1, "/");
        CT_TRY(read_option(w, c + 1, n));
        c += n + 1;
    }
    if (f->kind != CT_FUNCTION_NETWORK) f->layers = 0;
    if (f->outputs == SHARED) f->outputs = 1;
    if (!f->matrix) return CT_OK;
    f->outputs = ct__packed(dim);
    if (dim < 2) return wrong(w, "is a matrix, and the model has one row; leave /matrix out");
    return CT_OK;
}

/* The constant part of a matrix: the model's own numbers have no place for its correlations. */
static ct_status add_constant(const form *w)
{
    ct_function *f = w->f;
    if (!f->matrix || f->kind == CT_FUNCTION_NETWORK) return CT_OK;
    if (f->terms == CT_FUNCTION_TERMS_MAX) return wrong(w, "has too many terms");
    memmove(f->term + 1, f->term, (size_t)f->terms++ * sizeof *f->term);
    f->term[0] = (ct_function_term){.a = -1, .b = -1};
    return CT_OK;
}

/* ---- From the factors ------------------------------------------------------------------------- */

typedef struct {
    double *x; /* features x count */
    int64_t count, capacity;
} values;

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static ct_status collect_sequence(const form *w, const ct_sequence *seq, int32_t model, values *v)
{
    const ct_function *f = w->f;
    const ct_graph    *g = seq->graph;
    int                column[CT_FUNCTION_FEATURES_MAX];
    ct__feature_columns(g, f, column);
    for (int32_t k = 0; k < g->factors; k++) {
        double x[CT_FUNCTION_FEATURES_MAX];
        if (g->factor[k].noise != model) continue;
        ct__factor_features(g, k, f, column, x);
        for (int j = 0; j < f->features; j++)
            if (isnan(x[j]))
                return ct_fail(w->err, CT_E_ARGUMENT,
                               "noise model %s is to depend on %s, which factor %d (%s) of sequence %s has not; "
                               "its line needs %s=NUMBER, or its sensor a feature of that name in the recipe",
                               w->model, f->feature[j].name, k, g->factor[k].ops->name, ct_sequence_label(seq),
                               f->feature[j].name);
        CT_TRY(ct__grow(&v->x, &v->capacity, (v->count + 1) * f->features, sizeof *v->x, "features", w->err));
        memcpy(v->x + v->count++ * f->features, x, (size_t)f->features * sizeof *x);
    }
    return CT_OK;
}

static ct_status collect(const form *w, int32_t count, const ct_sequence *const seq[], int32_t model, values *v)
{
    for (int32_t i = 0; i < count; i++) {
        CT_TRY(ct_sequence_acquire(seq[i], w->err));
        const ct_status status = collect_sequence(w, seq[i], model, v);
        ct_sequence_release(seq[i]);
        CT_TRY(status);
    }
    if (v->count > 1) return CT_OK;
    return ct_fail(w->err, CT_E_ARGUMENT, "noise model %s: %lld measurements are too few for a function", w->model,
                   (long long)v->count);
}

/* sorted <- the values of a feature. */
static void sort_feature(const form *w, const values *v, int j, double *sorted)
{
    for (int64_t i = 0; i < v->count; i++) sorted[i] = v->x[i * w->f->features + j];
    qsort(sorted, (size_t)v->count, sizeof *sorted, ascending);
}

static double quantile(const values *v, const double *sorted, double share)
{
    return sorted[(int64_t)llround(share * (double)(v->count - 1))];
}

/* The range of each feature: its extremes, but for values FAR spreads from the median, which are set to the end as
 * those outside of the range are in use. Without a spread (0 but for a few ones) nothing is far. */
static ct_status find_ranges(const form *w, values *v)
{
    const int n = w->f->features;
    double   *sorted = ct__zalloc(v->count, sizeof *sorted);
    if (!sorted) return ct__no_memory(w->err, "features", v->count);
    for (int j = 0; j < n; j++) {
        ct_function_feature *k = &w->f->feature[j];
        sort_feature(w, v, j, sorted);
        const double middle = quantile(v, sorted, 0.5);
        const double spread = fmax(middle - quantile(v, sorted, TAIL), quantile(v, sorted, 1 - TAIL) - middle);
        int64_t      first = 0, last = v->count - 1;
        while (spread > 0 && sorted[first] < middle - FAR * spread) first++;
        while (spread > 0 && sorted[last] > middle + FAR * spread) last--;
        k->low = sorted[first];
        k->high = sorted[last];
        for (int64_t i = 0; i < v->count; i++) v->x[i * n + j] = fmin(fmax(v->x[i * n + j], k->low), k->high);
    }
    free(sorted);
    return CT_OK;
}

static ct_status standardise(const form *w, const values *v)
{
    ct_function *f = w->f;
    const int    n = f->features;
    for (int j = 0; j < n; j++) {
        ct_function_feature *k = &f->feature[j];
        double               mean = 0, square = 0;
        for (int64_t i = 0; i < v->count; i++) mean += v->x[i * n + j] / (double)v->count;
        for (int64_t i = 0; i < v->count; i++) square += (v->x[i * n + j] - mean) * (v->x[i * n + j] - mean);
        k->mean = mean;
        k->deviation = sqrt(square / (double)v->count);
        if (!(k->deviation > CONSTANT * fmax(fabs(k->low), fabs(k->high))))
            return ct_fail(w->err, CT_E_ARGUMENT,
                           "noise model %s: feature %s is %g in all %lld measurements, so that nothing can depend on "
                           "it; leave it out",
                           w->model, k->name, k->low, (long long)v->count);
    }
    return CT_OK;
}

/* Has a linear function a term that is the feature itself? */
static int is_term(const ct_function *f, int a)
{
    for (int j = 0; j < f->terms; j++)
        if (f->kind == CT_FUNCTION_LINEAR && f->term[j].a == a && f->term[j].b < 0) return 1;
    return 0;
}

/* Refuses two features that are one, and among the terms of a linear function one that is a sum of multiples of others.
 * L: Cholesky factor of the correlations of such terms, row by row; its diagonal squared is the share of a feature that
 * those before lack. */
static ct_status check_independent(const form *w, const values *v)
{
    const ct_function *f = w->f;
    const int          n = f->features;
    double             L[CT_FUNCTION_FEATURES_MAX][CT_FUNCTION_FEATURES_MAX] = {{0}};
    for (int a = 0; a < n; a++) {
        double left = 1;
        for (int b = 0; b < a; b++) {
            double both = 0;
            for (int64_t i = 0; i < v->count; i++)
                both += (v->x[i * n + a] - f->feature[a].mean) * (v->x[i * n + b] - f->feature[b].mean);
            both /= (double)v->count * f->feature[a].deviation * f->feature[b].deviation;
            if (1 - fabs(both) < SAME)
                return ct_fail(w->err, CT_E_ARGUMENT,
                               "noise model %s: features %s and %s are one up to scale and offset, so that their "
                               "effects cannot be told apart; leave one out",
                               w->model, f->feature[b].name, f->feature[a].name);
            for (int k = 0; k < b; k++) both -= L[a][k] * L[b][k];
            L[a][b] = is_term(f, a) && is_term(f, b) ? both / L[b][b] : 0;
            left -= L[a][b] * L[a][b];
        }
        if (left < SAME)
            return ct_fail(w->err, CT_E_ARGUMENT,
                           "noise model %s: feature %s is a sum of multiples of those before it and a constant, so "
                           "that their effects cannot be told apart; leave one out",
                           w->model, f->feature[a].name);
        L[a][a] = sqrt(left);
    }
    return CT_OK;
}

/* Hats at quantiles; the one in the middle is left out: u is zero there. */
static ct_status add_hats(const form *w, const values *v)
{
    ct_function *f = w->f;
    double      *sorted = ct__zalloc(v->count, sizeof *sorted);
    if (!sorted) return ct__no_memory(w->err, "features", v->count);
    for (int j = 0; j < f->features; j++) {
        double knot[KNOTS_MAX];
        int    n = 0;
        sort_feature(w, v, j, sorted);
        for (int k = 0; k < w->knots; k++) {
            const double q = sorted[(int64_t)llround((double)k * (double)(v->count - 1) / (w->knots - 1))];
            if (n == 0 || q > knot[n - 1]) knot[n++] = q;
        }
        for (int k = 0; k < n && f->terms < CT_FUNCTION_TERMS_MAX; k++)
            if (k != n / 2)
                f->term[f->terms++] = (ct_function_term){.a = j, .b = -1, .hat = 1, .left = k ? knot[k - 1] : -INFINITY,
                                                         .at = knot[k], .right = k + 1 < n ? knot[k + 1] : INFINITY};
    }
    free(sorted);
    return CT_OK;
}

static ct_status fill(form *w, int32_t count, const ct_sequence *const seq[], int32_t model)
{
    values    v = {0};
    ct_status status = collect(w, count, seq, model, &v);
    if (status == CT_OK) status = find_ranges(w, &v);
    if (status == CT_OK) status = standardise(w, &v);
    if (status == CT_OK) status = check_independent(w, &v);
    if (status == CT_OK && w->f->kind == CT_FUNCTION_PIECEWISE) status = add_hats(w, &v);
    free(v.x);
    if (status == CT_OK) status = add_constant(w);
    if (status != CT_OK) return status;
    w->f->weights = ct_function_weights(w->f);
    w->f->weight = ct__zalloc(w->f->weights, sizeof *w->f->weight);
    return w->f->weight ? CT_OK : ct__no_memory(w->err, "weights", w->f->weights);
}

ct_status ct_conditional_form(int32_t count, const ct_sequence *const seq[], ct_noise *noise, int32_t model,
                              const char *text, const double lower[], const double upper[], ct_err *err)
{
    const ct_noise_model *m = ct_noise_get(noise, model);
    if (!m) return ct_fail(err, CT_E_ARGUMENT, "there is no noise model number %d", model);
    ct_function f = {.term = ct__zalloc(CT_FUNCTION_TERMS_MAX, sizeof *f.term)};
    form        w = {.text = text, .model = m->name, .err = err, .f = &f};
    ct_status   status = f.term ? parse(&w, m->dim) : ct__no_memory(err, "terms", CT_FUNCTION_TERMS_MAX);
    for (int i = 0; i < m->dim; i++) {
        f.lower[i] = lower ? lower[i] : 0;
        f.upper[i] = upper ? upper[i] : INFINITY;
        f.unit[i] = f.matrix ? ct_noise_sigma(m, i) : 0;
    }
    if (status == CT_OK) status = fill(&w, count, seq, model);
    if (status == CT_OK) status = ct_noise_set_function(noise, model, &f, err);
    free(f.term);
    free(f.weight);
    return status;
}
