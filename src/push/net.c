/* net.c: a fully connected network, its value and its gradient.
 *
 *     a_0 = (x - mean) / deviation,   z_k = W_k a_k + b_k,   a_k+1 = tanh z_k (the last: z_k)
 *     y = mean + deviation a_n
 *
 * and backwards, with g_k = d loss / d z_k,
 *
 *     d loss / d W_k = g_k a_k',   d loss / d b_k = g_k,   g_k-1 = (W_k' g_k) (1 - a_k^2)
 *
 * Sums over examples use eight lanes, which the compiler may vectorise at any length without changing a bit. */
#include "push/net.h"

#include <math.h>

#define LANES 8

/* ---- Making ---------------------------------------------------------------------------------- */

static int64_t layer_size(const int32_t width[], int k) { return (int64_t)width[k + 1] * width[k] + width[k + 1]; }

int64_t ct__net_offset(const ct_net *net, int k)
{
    int64_t at = 0;
    for (int i = 0; i < k; i++) at += layer_size(net->width, i);
    return at;
}

static ct_status check(int layers, const int32_t width[], ct_err *err)
{
    if (layers < 1 || layers > CT_NET_LAYERS_MAX)
        return ct_fail(err, CT_E_ARGUMENT, "a network has 1 to %d layers of weights, %d were asked for",
                       CT_NET_LAYERS_MAX, layers);
    for (int k = 0; k <= layers; k++)
        if (width[k] < 1 || width[k] > CT_NET_WIDTH_MAX)
            return ct_fail(err, CT_E_ARGUMENT, "a network's %s are 1 to %d, %d were asked for (width %d)",
                           k == 0        ? "inputs"
                           : k == layers ? "outputs"
                                         : "hidden units",
                           CT_NET_WIDTH_MAX, width[k], k);
    return CT_OK;
}

ct_status ct__net_alloc(int layers, const int32_t width[], ct_net **out, ct_err *err)
{
    *out = NULL;
    CT_TRY(check(layers, width, err));
    const int64_t scaled = (int64_t)width[0] + width[layers];
    ct_net       *net = ct__zalloc(1, sizeof *net);
    if (!net) return ct__no_memory(err, "networks", 1);
    net->layers = layers;
    memcpy(net->width, width, (size_t)(layers + 1) * sizeof *width);
    net->weights = ct__net_offset(net, layers);
    net->value = ct__zalloc(net->weights + 2 * scaled, sizeof *net->value);
    if (!net->value) {
        const int64_t weights = net->weights;
        free(net);
        return ct__no_memory(err, "weights", weights);
    }
    net->mean = net->value + net->weights;
    net->deviation = net->mean + scaled;
    for (int64_t i = 0; i < scaled; i++) net->deviation[i] = 1;
    *out = net;
    return CT_OK;
}

/* Uniform within sqrt(6 / (inputs + outputs)), which preserves the scale of activations and gradients from layer to
 * layer (Glorot and Bengio 2010). */
ct_status ct_net_new(int layers, const int32_t width[], uint64_t seed, ct_net **out, ct_err *err)
{
    CT_TRY(ct__net_alloc(layers, width, out, err));
    ct_rng rng = ct_rng_seed(seed);
    for (int k = 0; k < layers; k++) {
        double      *W = (*out)->value + ct__net_offset(*out, k);
        const double bound = sqrt(6.0 / ((double)width[k] + width[k + 1]));
        for (int64_t i = 0; i < (int64_t)width[k + 1] * width[k]; i++) W[i] = bound * (2 * ct_rng_uniform(&rng) - 1);
    }
    return CT_OK;
}

ct_status ct_net_extend(const ct_net *net, int32_t outputs, ct_net **out, ct_err *err)
{
    int32_t   width[CT_NET_LAYERS_MAX + 1];
    const int last = net->layers - 1;
    *out = NULL;
    if (outputs < 0)
        return ct_fail(err, CT_E_ARGUMENT, "a network cannot be extended by %d outputs; 0 or more can", outputs);
    memcpy(width, net->width, sizeof width);
    width[net->layers] += outputs;
    CT_TRY(ct__net_alloc(net->layers, width, out, err));
    const int64_t at = ct__net_offset(net, last), W = (int64_t)net->width[last] * net->width[last + 1];
    const int32_t in = net->width[0], old = net->width[net->layers];
    double       *value = (*out)->value, *bias = value + at + (int64_t)width[last] * width[last + 1];
    memcpy(value, net->value, (size_t)(at + W) * sizeof *value); /* rows of W before those of new outputs */
    memcpy(bias, net->value + at + W, (size_t)old * sizeof *value);
    memcpy((*out)->mean, net->mean, (size_t)(in + old) * sizeof *value);
    memcpy((*out)->deviation, net->deviation, (size_t)(in + old) * sizeof *value);
    return CT_OK;
}

double ct_net_multiplier(double y, double *slope)
{
    const double most = log(CT_NET_MULTIPLIER_MAX), t = tanh(y / most);
    if (slope) *slope = 1 - t * t;
    return exp(most * t);
}

void ct_net_free(ct_net *net)
{
    if (!net) return;
    free(net->value);
    free(net);
}

int32_t ct_net_inputs(const ct_net *net) { return net->width[0]; }
int32_t ct_net_outputs(const ct_net *net) { return net->width[net->layers]; }
int64_t ct_net_weights(const ct_net *net) { return net->weights; }
double *ct_net_values(ct_net *net) { return net->value; }

/* ---- The two passes -------------------------------------------------------------------------- */

int64_t ct__net_place(const ct_net *net, int64_t n, double *room, ct__net_work *work)
{
    int64_t at = 0;
    int32_t widest = 0;
    for (int k = 0; k <= net->layers; k++) {
        if (room) work->a[k] = room + at;
        at += n * net->width[k];
        widest = CT_MAX(widest, net->width[k]);
    }
    for (int i = 0; i < 2; i++, at += n * widest)
        if (room) work->delta[i] = room + at;
    return at;
}

void ct__net_gather(const ct_net *net, int64_t n, const int64_t *order, const double *x, const ct__net_work *work)
{
    const int32_t inputs = net->width[0];
    for (int64_t i = 0; i < n; i++) {
        const double *row = x + (order ? order[i] : i) * inputs;
        for (int32_t l = 0; l < inputs; l++) work->a[0][l * n + i] = (row[l] - net->mean[l]) / net->deviation[l];
    }
}

/* y += f x. */
static void add(int64_t n, double f, const double *restrict x, double *restrict y)
{
    for (int64_t i = 0; i < n; i++) y[i] += f * x[i];
}

static double dot(int64_t n, const double *restrict x, const double *restrict y)
{
    double        lane[LANES] = {0}, sum = 0;
    const int64_t whole = n - n % LANES;
    for (int64_t i = 0; i < whole; i += LANES)
        for (int k = 0; k < LANES; k++) lane[k] += x[i + k] * y[i + k];
    for (int64_t i = whole; i < n; i++) lane[i - whole] += x[i] * y[i];
    for (int k = 0; k < LANES; k++) sum += lane[k];
    return sum;
}

void ct__net_forward(const ct_net *net, int64_t n, const ct__net_work *work)
{
    const double *W = net->value;
    for (int k = 0; k < net->layers; k++, W += layer_size(net->width, k - 1)) {
        const int32_t in = net->width[k], out = net->width[k + 1];
        const double *b = W + (int64_t)out * in;
        for (int32_t j = 0; j < out; j++) {
            double *z = work->a[k + 1] + j * n;
            for (int64_t i = 0; i < n; i++) z[i] = b[j];
            for (int32_t l = 0; l < in; l++) add(n, W[(int64_t)j * in + l], work->a[k] + l * n, z); /* z += W a */
            for (int64_t i = 0; i < n && k + 1 < net->layers; i++) z[i] = tanh(z[i]);
        }
    }
}

/* delta <- factor d loss / d z of the last layer; returns the loss. */
static double compare(const ct_net *net, int64_t n, const int64_t *order, const double *t, double factor,
                      const ct__net_work *work, double *delta)
{
    const int32_t outputs = ct_net_outputs(net);
    const double *a = work->a[net->layers], *mean = net->mean + net->width[0],
                 *deviation = net->deviation + net->width[0];
    double        loss = 0;
    for (int64_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < outputs; j++) {
            const double e = mean[j] + deviation[j] * a[j * n + i] - t[(order ? order[i] : i) * outputs + j];
            delta[j * n + i] = factor * deviation[j] * e;
            loss += 0.5 * e * e;
        }
    }
    return loss;
}

/* before <- (W' after) (1 - a^2), through the tanh with values a. */
static void back(int64_t n, int32_t in, int32_t out, const double *W, const double *a, const double *after,
                 double *before)
{
    memset(before, 0, (size_t)(in * n) * sizeof *before);
    for (int32_t j = 0; j < out; j++)
        for (int32_t l = 0; l < in; l++) add(n, W[(int64_t)j * in + l], after + j * n, before + l * n);
    for (int64_t i = 0; i < in * n; i++) before[i] *= 1 - a[i] * a[i];
}

/* gradient += that of the weights, from work->delta[0], the derivative by z of the last layer. */
static void propagate(const ct_net *net, int64_t n, const ct__net_work *work, double *gradient)
{
    double *after = work->delta[0], *before = work->delta[1];
    for (int k = net->layers - 1; k >= 0; k--) {
        const int32_t in = net->width[k], out = net->width[k + 1];
        double       *dW = gradient + ct__net_offset(net, k), *db = dW + (int64_t)out * in;
        for (int32_t j = 0; j < out; j++) {
            /* dW += g a' */
            for (int32_t l = 0; l < in; l++) dW[(int64_t)j * in + l] += dot(n, after + j * n, work->a[k] + l * n);
            for (int64_t i = 0; i < n; i++) db[j] += after[j * n + i];
        }
        if (k == 0) break;
        back(n, in, out, net->value + ct__net_offset(net, k), work->a[k], after, before);
        double *const swap = after;
        after = before;
        before = swap;
    }
}

double ct__net_backward(const ct_net *net, int64_t n, const int64_t *order, const double *t, double factor,
                        const ct__net_work *work, double *gradient)
{
    const double loss = compare(net, n, order, t, factor, work, work->delta[0]);
    if (gradient) propagate(net, n, work, gradient);
    return loss;
}

/* ---- Of one example at a time ---------------------------------------------------------------- */

#define ROOM ((CT_NET_LAYERS_MAX + 1 + 2) * CT_NET_WIDTH_MAX) /* numbers per example, at most: 88 KB */

void ct_net_predict(const ct_net *net, const double *x, double *y)
{
    double       room[ROOM];
    ct__net_work work;
    ct__net_place(net, 1, room, &work);
    ct__net_gather(net, 1, NULL, x, &work);
    ct__net_forward(net, 1, &work);
    const double *mean = net->mean + net->width[0], *deviation = net->deviation + net->width[0];
    for (int32_t j = 0; j < ct_net_outputs(net); j++) y[j] = mean[j] + deviation[j] * work.a[net->layers][j];
}

/* ---- Of many, in batches that fit on the stack ------------------------------------------------ */

static int64_t batch_in(const ct_net *net) { return CT_MAX(1, ROOM / ct__net_place(net, 1, NULL, NULL)); }

/* Activations of n examples from x on. */
static void forward_batch(const ct_net *net, int64_t n, const double *x, double *room, ct__net_work *work)
{
    ct__net_place(net, n, room, work);
    ct__net_gather(net, n, NULL, x, work);
    ct__net_forward(net, n, work);
}

void ct_net_predict_all(const ct_net *net, int64_t count, const double *x, double *y)
{
    const int32_t in = net->width[0], out = ct_net_outputs(net);
    const double *mean = net->mean + in, *deviation = net->deviation + in;
    double        room[ROOM];
    ct__net_work  work;
    for (int64_t from = 0, n; from < count; from += n) {
        n = CT_MIN(batch_in(net), count - from);
        forward_batch(net, n, x + from * in, room, &work);
        for (int64_t i = 0; i < n; i++)
            for (int32_t j = 0; j < out; j++)
                y[(from + i) * out + j] = mean[j] + deviation[j] * work.a[net->layers][j * n + i];
    }
}

void ct_net_backward(const ct_net *net, int64_t count, const double *x, const double *dy, double *gradient)
{
    const int32_t in = net->width[0], out = ct_net_outputs(net);
    const double *deviation = net->deviation + in;
    double        room[ROOM];
    ct__net_work  work;
    for (int64_t from = 0, n; from < count; from += n) {
        n = CT_MIN(batch_in(net), count - from);
        forward_batch(net, n, x + from * in, room, &work);
        for (int32_t j = 0; j < out; j++)
            for (int64_t i = 0; i < n; i++) work.delta[0][j * n + i] = deviation[j] * dy[(from + i) * out + j];
        propagate(net, n, &work, gradient);
    }
}

/* ---- Of one example at a time, for checks ------------------------------------------------------ */

double ct_net_loss(const ct_net *net, int64_t count, const double *x, const double *t, double *gradient)
{
    double       room[ROOM], loss = 0;
    ct__net_work work;
    ct__net_place(net, 1, room, &work);
    if (gradient) memset(gradient, 0, (size_t)net->weights * sizeof *gradient);
    if (count < 1) return NAN;
    for (int64_t i = 0; i < count; i++) {
        ct__net_gather(net, 1, &i, x, &work);
        ct__net_forward(net, 1, &work);
        loss += ct__net_backward(net, 1, &i, t, 1 / (double)count, &work, gradient);
    }
    return loss / (double)count;
}
