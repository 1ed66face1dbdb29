/* function_scales.c: T of the factors whose models have functions, for a solver (graph/factor_scale.c): 1 / s of every
 * row, or a matrix.
 *
 * Features are evaluated once for a set of weights, not in every iteration: u is kept with the functions that it was
 * computed with, and computed again if one of them or a feature has changed. Cuts follow from the variances, which
 * change in every step of learning; they are applied to u at each solve. Graphs and tables without functions have none
 * of this. */
#include "graph/graph.h"
#include "noise/noise.h"
#include "solve/solve.h"

#include <math.h>

#define ROWS CT_ROWS_MAX

/* A function as bytes, without its cuts and pointers. */
static size_t key_size(const ct_function *f)
{
    return sizeof *f + (size_t)f->terms * sizeof *f->term + (size_t)f->weights * sizeof *f->weight;
}

static void put_key(const ct_function *f, unsigned char *key)
{
    ct_function plain;
    memcpy(&plain, f, sizeof plain);
    plain.term = NULL;
    plain.weight = NULL;
    memset(plain.u_low, 0, sizeof plain.u_low);
    memset(plain.u_high, 0, sizeof plain.u_high);
    memset(plain.lower, 0, sizeof plain.lower);
    memset(plain.upper, 0, sizeof plain.upper);
    memcpy(key, &plain, sizeof plain);
    key += sizeof plain;
    if (f->terms) memcpy(key, f->term, (size_t)f->terms * sizeof *f->term);
    if (f->weights) memcpy(key + (size_t)f->terms * sizeof *f->term, f->weight, (size_t)f->weights * sizeof *f->weight);
}

/* Whether u was computed with these functions and features; notes them if not. */
static ct_status is_current(ct_solver *s, const ct_noise *noise, int *current, ct_err *err)
{
    ct__function_cache *c = s->functions;
    size_t              size = 0, at = 0;
    *current = c->feature_changes == s->graph->feature_changes;
    for (int32_t i = 0; i < ct_noise_count(noise); i++) {
        const ct_function *f = ct_noise_get(noise, i)->function;
        if (f) size += sizeof i + key_size(f);
    }
    CT_TRY(ct__grow(&c->fresh, &c->fresh_capacity, (int64_t)size, 1, "weights", err));
    CT_TRY(ct__grow(&c->key, &c->key_capacity, (int64_t)size, 1, "weights", err));
    for (int32_t i = 0; i < ct_noise_count(noise); i++) {
        const ct_function *f = ct_noise_get(noise, i)->function;
        if (!f) continue;
        memcpy(c->fresh + at, &i, sizeof i);
        put_key(f, c->fresh + at + sizeof i);
        at += sizeof i + key_size(f);
    }
    *current = *current && c->key_size == size && !memcmp(c->key, c->fresh, size);
    memcpy(c->key, c->fresh, size);
    c->key_size = size;
    c->feature_changes = s->graph->feature_changes;
    return CT_OK;
}

/* Room for the outputs of the widest function, and for matrices. */
static ct_status need_outputs(ct_solver *s, const ct_noise *noise, int *current, ct_err *err)
{
    ct__function_cache *c = s->functions;
    int                 outputs = ROWS, matrix = 0;
    for (int32_t i = 0; i < ct_noise_count(noise); i++) {
        const ct_function *f = ct_noise_get(noise, i)->function;
        if (f && f->matrix) matrix = 1, outputs = CT_MAX(outputs, f->outputs);
    }
    if (outputs != c->outputs) *current = 0;
    c->outputs = outputs;
    CT_TRY(ct__grow(&c->u, &c->u_capacity, (int64_t)s->items * outputs, sizeof *c->u, "outputs of functions", err));
    if (!matrix || c->matrix) return CT_OK;
    *current = 0;
    c->matrix = ct__zalloc(s->items, sizeof *c->matrix);
    c->spectrum = ct__zalloc(s->items, sizeof *c->spectrum);
    if (c->matrix && c->spectrum) return CT_OK;
    free(c->matrix);
    free(c->spectrum);
    c->matrix = NULL;
    c->spectrum = NULL;
    return ct__no_memory(err, "matrices of factors", s->items);
}

static ct_status need_cache(ct_solver *s, ct_err *err)
{
    if (s->functions) return CT_OK;
    ct__function_cache *c = ct__zalloc(1, sizeof *c);
    if (!c) return ct__no_memory(err, "functions of noise models", 1);
    c->inverse = ct__zalloc((int64_t)s->items * ROWS, sizeof *c->inverse);
    c->of = ct__zalloc(s->items, sizeof *c->of);
    s->functions = c;
    if (c->inverse && c->of) return CT_OK;
    ct__function_cache_free(c);
    s->functions = NULL;
    return ct__no_memory(err, "scales of factors", s->items);
}

void ct__function_cache_free(ct__function_cache *c)
{
    if (!c) return;
    free(c->u);
    free(c->matrix);
    free(c->spectrum);
    free(c->kept);
    free(c->inverse);
    free(c->of);
    free(c->key);
    free(c->fresh);
    free(c);
}

/* u of an item before cuts, by output; of a matrix function its eigenvalues and eigenvectors as well. */
static void evaluate_item(ct_solver *s, int32_t k, int dim, const ct_function *f, const int column[])
{
    double x[CT_FUNCTION_FEATURES_MAX];
    ct__function_cache *c = s->functions;
    double             *u = c->u + (int64_t)k * c->outputs;
    ct__factor_features(s->graph, s->factor_of[k], f, column, x);
    if (s->keep_layers && f->kind == CT_FUNCTION_NETWORK)
        ct__function_evaluate_kept(f, x, u, c->kept + (int64_t)k * c->stride);
    else ct_function_evaluate(f, x, u);
    if (f->matrix) ct__function_spectrum(dim, u, &c->spectrum[k]);
}

/* T of an item from its outputs. */
static void set_scale(ct_solver *s, int32_t k, const ct_noise_model *m)
{
    const ct_function *f = m->function;
    const double       multiplier = s->graph->factor[s->factor_of[k]].multiplier;
    const double       root = multiplier == 1 ? 1 : 1 / sqrt(multiplier);
    const double      *u = s->functions->u + (int64_t)k * s->functions->outputs;
    s->item[k].multiplied = f->matrix ? CT__SCALED_BY_MATRIX : CT__SCALED_BY_FUNCTION;
    if (f->matrix) {
        ct__scaling *T = &s->functions->matrix[k];
        T->full = 1;
        ct__function_root(f, m->dim, &s->functions->spectrum[k], -1, T->t);
        for (int i = 0; root != 1 && i < m->dim * m->dim; i++) T->t[i] *= root;
        s->least_multiplier = fmin(s->least_multiplier,
                                   multiplier * exp(ct__function_least(f, &s->functions->spectrum[k])));
        return;
    }
    for (int i = 0; i < m->dim; i++) {
        const double cut = fmin(fmax(u[f->outputs == 1 ? 0 : i], f->u_low[i]), f->u_high[i]);
        s->functions->inverse[(int64_t)k * ROWS + i] = root * exp(-0.5 * cut);
        s->least_multiplier = fmin(s->least_multiplier, multiplier * exp(cut));
    }
}

/* Room for the layers of networks. */
static ct_status need_layers(ct_solver *s, const ct_noise *noise, int *current, ct_err *err)
{
    int stride = 0;
    for (int32_t i = 0; s->keep_layers && i < ct_noise_count(noise); i++) {
        const ct_function *f = ct_noise_get(noise, i)->function;
        if (f) stride = CT_MAX(stride, ct__function_kept(f));
    }
    if (stride != s->functions->stride) *current = 0;
    s->functions->stride = stride;
    return ct__grow(&s->functions->kept, &s->functions->kept_capacity, (int64_t)stride * s->items, sizeof(double),
                    "layers of networks", err);
}

ct_status ct__refresh_functions(ct_solver *s, const ct_noise *noise, ct_err *err)
{
    int            current, column[CT_FUNCTION_FEATURES_MAX];
    const ct_function *last = NULL;
    CT_TRY(need_cache(s, err));
    CT_TRY(is_current(s, noise, &current, err));
    CT_TRY(need_outputs(s, noise, &current, err));
    CT_TRY(need_layers(s, noise, &current, err));
    for (int32_t k = 0; k < s->items; k++) {
        const ct_noise_model *m = ct_noise_get(noise, s->item[k].noise);
        const ct_function    *f = m->function;
        if (!f) continue;
        if (f != last) ct__feature_columns(s->graph, f, column);
        last = f;
        if (!current || s->functions->of[k] != s->item[k].noise + 1) evaluate_item(s, k, m->dim, f, column);
        s->functions->of[k] = s->item[k].noise + 1;
        set_scale(s, k, m);
    }
    return CT_OK;
}

int ct__item_scale(const ct_solver *s, const ct__item *item, ct__scaling *T)
{
    if (item->multiplied == CT__SCALED_BY_MATRIX) {
        *T = s->functions->matrix[item - s->item];
        return 1;
    }
    T->full = 0;
    if (item->multiplied == CT__SCALED_BY_FUNCTION) {
        memcpy(T->t, s->functions->inverse + (item - s->item) * ROWS, ROWS * sizeof *T->t);
        return 1;
    }
    const double m = ct__item_multiplier(s, item), root = m == 1 ? 1 : 1 / sqrt(m);
    for (int i = 0; i < ROWS; i++) T->t[i] = root;
    return m != 1;
}
