/* function.c: functions of features: bases and networks, their values and their derivatives by weights.
 *
 * x is cut to the range that was seen, then standardised for linear terms, products and networks. Hat functions use the
 * feature's own unit. Forward and backward passes of a network use the stack alone: layers are narrow. */
#include "function/function.h"
#include "base/base.h"

#include <math.h>

#define INPUTS_MAX CT_FUNCTION_FEATURES_MAX
#define LAYER_MAX  CT_FUNCTION_WIDTH_MAX
#define LAYERS     (CT_FUNCTION_LAYERS_MAX + 1) /* with the output layer */

#define X(constant, name) name,
static const char *const NAME[] = {CT_FUNCTION_LIST(X)};
#undef X

const char *ct_function_kind_name(ct_function_kind kind)
{
    return (int)kind >= 0 && kind < CT_FUNCTION_COUNT ? NAME[kind] : "?";
}

int ct_function_kind_find(const char *name)
{
    for (int i = 0; name && i < CT_FUNCTION_COUNT; i++)
        if (!strcmp(name, NAME[i])) return i;
    return -1;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

ct_function *ct_function_copy(const ct_function *from)
{
    ct_function *to = ct__zalloc(1, sizeof *to);
    if (!to) return NULL;
    *to = *from;
    to->term = ct__zalloc(CT_MAX(1, from->terms), sizeof *to->term);
    to->weight = ct__zalloc(CT_MAX(1, from->weights), sizeof *to->weight);
    if (!to->term || !to->weight) {
        ct_function_free(to);
        return NULL;
    }
    if (from->terms) memcpy(to->term, from->term, (size_t)from->terms * sizeof *to->term);
    if (from->weights) memcpy(to->weight, from->weight, (size_t)from->weights * sizeof *to->weight);
    return to;
}

void ct_function_free(ct_function *f)
{
    if (!f) return;
    free(f->term);
    free(f->weight);
    free(f);
}

/* Widths of layer k: inputs and outputs. */
static int inputs_of(const ct_function *f, int k) { return k == 0 ? f->features : f->width[k - 1]; }
static int outputs_of(const ct_function *f, int k) { return k == f->layers ? f->outputs : f->width[k]; }

int ct_function_weights(const ct_function *f)
{
    int count = 0;
    if (f->kind != CT_FUNCTION_NETWORK) return f->outputs * f->terms;
    for (int k = 0; k <= f->layers; k++) count += outputs_of(f, k) * (inputs_of(f, k) + 1);
    return count;
}

/* ---- Bases ----------------------------------------------------------------------------------- */

static double clamped(const ct_function_feature *f, double x) { return isnan(x) ? x : fmin(fmax(x, f->low), f->high); }

static double standardised(const ct_function *f, int i, double x)
{
    return (clamped(&f->feature[i], x) - f->feature[i].mean) / f->feature[i].deviation;
}

/* From 0 at `from` to 1 at `to`; 1 where `from` is infinite. */
static double ramp(double from, double to, double x)
{
    return isinf(from) ? 1 : fmin(1, fmax(0, (x - from) / (to - from)));
}

static double term_value(const ct_function *f, const ct_function_term *t, const double x[])
{
    if (t->hat) {
        const double v = clamped(&f->feature[t->a], x[t->a]);
        if (isnan(v)) return v;
        return v <= t->at ? ramp(t->left, t->at, v) : ramp(-t->right, -t->at, -v);
    }
    if (t->a < 0) return 1;
    const double a = standardised(f, t->a, x[t->a]);
    return t->b < 0 ? a : a * standardised(f, t->b, x[t->b]);
}

void ct__function_terms(const ct_function *f, const double x[], double phi[])
{
    for (int j = 0; j < f->terms; j++) phi[j] = term_value(f, &f->term[j], x);
}

/* ---- Networks -------------------------------------------------------------------------------- */

/* y <- W a + b, and tanh of it unless it is the last layer. */
static void layer(int in, int out, int last, const double *restrict w, const double *restrict a, double *restrict y)
{
    const double *b = w + in * out;
    for (int o = 0; o < out; o++) {
        const double *row = w + o * in;
        double        s0 = b[o], s1 = 0, s2 = 0, s3 = 0; /* four sums, which the processor adds side by side */
        int           i = 0;
        for (; i + 4 <= in; i += 4) {
            s0 += row[i] * a[i];
            s1 += row[i + 1] * a[i + 1];
            s2 += row[i + 2] * a[i + 2];
            s3 += row[i + 3] * a[i + 3];
        }
        for (; i < in; i++) s0 += row[i] * a[i];
        const double sum = (s0 + s1) + (s2 + s3);
        y[o] = last ? sum : tanh(sum);
    }
}

/* Activations of all layers; a[0] are the standardised features. */
static void forward(const ct_function *f, const double x[], double a[LAYERS + 1][LAYER_MAX])
{
    const double *w = f->weight;
    for (int i = 0; i < f->features; i++) a[0][i] = standardised(f, i, x[i]);
    for (int k = 0; k <= f->layers; k++) {
        const int in = inputs_of(f, k), out = outputs_of(f, k);
        layer(in, out, k == f->layers, w, a[k], a[k + 1]);
        w += out * (in + 1);
    }
}

/* gradient += d'du/dw, from the last layer to the first: delta_k = W' delta_k+1 (1 - a^2). */
static void backward(const ct_function *f, double a[LAYERS + 1][LAYER_MAX], const double d[], double *gradient)
{
    double delta[2][LAYER_MAX];
    int    at = f->weights, turn = 0;
    memcpy(delta[0], d, (size_t)f->outputs * sizeof *d);
    for (int k = f->layers; k >= 0; k--, turn = !turn) {
        const int in = inputs_of(f, k), out = outputs_of(f, k);
        at -= out * (in + 1);
        const double *restrict w = f->weight + at, *restrict from = delta[turn], *restrict before = a[k];
        double *restrict g = gradient + at, *restrict to = delta[!turn];
        for (int i = 0; i < in; i++) to[i] = 0;
        for (int o = 0; o < out; o++) {
            if (from[o] == 0) continue;
            for (int i = 0; i < in; i++) {
                g[o * in + i] += from[o] * before[i];
                to[i] += from[o] * w[o * in + i];
            }
            g[in * out + o] += from[o];
        }
        for (int i = 0; k > 0 && i < in; i++) to[i] *= 1 - before[i] * before[i];
    }
}

int ct__function_kept(const ct_function *f)
{
    int count = 0;
    for (int k = 0; f->kind == CT_FUNCTION_NETWORK && k <= f->layers; k++) count += inputs_of(f, k);
    return count;
}

void ct__function_evaluate_kept(const ct_function *f, const double x[], double u[], double kept[])
{
    double a[LAYERS + 1][LAYER_MAX];
    forward(f, x, a);
    memcpy(u, a[f->layers + 1], (size_t)f->outputs * sizeof *u);
    for (int k = 0; k <= f->layers; kept += inputs_of(f, k++))
        memcpy(kept, a[k], (size_t)inputs_of(f, k) * sizeof *kept);
}

void ct__function_gradient_kept(const ct_function *f, const double kept[], const double d[], double gradient[])
{
    double a[LAYERS + 1][LAYER_MAX];
    for (int k = 0; k <= f->layers; kept += inputs_of(f, k++))
        memcpy(a[k], kept, (size_t)inputs_of(f, k) * sizeof *kept);
    backward(f, a, d, gradient);
}

/* ---- Values ---------------------------------------------------------------------------------- */

void ct_function_evaluate(const ct_function *f, const double x[], double u[])
{
    if (f->kind == CT_FUNCTION_NETWORK) {
        double a[LAYERS + 1][LAYER_MAX];
        forward(f, x, a);
        memcpy(u, a[f->layers + 1], (size_t)f->outputs * sizeof *u);
        return;
    }
    for (int o = 0; o < f->outputs; o++) u[o] = 0;
    for (int j = 0; j < f->terms; j++) {
        const double phi = term_value(f, &f->term[j], x);
        for (int o = 0; o < f->outputs; o++) u[o] += f->weight[o * f->terms + j] * phi;
    }
}

void ct_function_gradient(const ct_function *f, const double x[], const double d[], double gradient[])
{
    if (f->kind == CT_FUNCTION_NETWORK) {
        double a[LAYERS + 1][LAYER_MAX];
        forward(f, x, a);
        backward(f, a, d, gradient);
        return;
    }
    for (int j = 0; j < f->terms; j++) {
        const double phi = term_value(f, &f->term[j], x);
        for (int o = 0; o < f->outputs; o++) gradient[o * f->terms + j] += d[o] * phi;
    }
}

void ct__function_rows(const ct_function *f, int dim, const double x[], double u[], int free[])
{
    ct_function_evaluate(f, x, u);
    for (int i = dim - 1; i >= 0; i--) {
        const double value = u[f->outputs == 1 ? 0 : i];
        u[i] = isnan(value) ? value : fmin(fmax(value, f->u_low[i]), f->u_high[i]);
        if (free) free[i] = u[i] == value;
    }
}
