/* net_train.c: Adam (Kingma and Ba 2015) on mini-batches, with early stopping.
 *
 *     g = gradient of a batch's mean 1/2 |y - t|^2 / v  +  decay W
 *     m <- b1 m + (1 - b1) g,   s <- b2 s + (1 - b2) g^2
 *     w <- w - rate (m / (1 - b1^k)) / (sqrt(s / (1 - b2^k)) + eps)
 *
 * The last examples are held out as a block: neighbours in time are alike, so examples held out one by one would not
 * test generalisation. The weights of the epoch with the least held-out loss are kept. All memory is allocated
 * before the first weight changes. */
#include "push/net.h"

#include <math.h>

static const double B1 = 0.9, B2 = 0.999, EPS = 1e-8; /* the authors' values */

ct_net_options ct_net_defaults(void)
{
    return (ct_net_options){
        .epochs = 200, .batch = 32, .patience = 20, .rate = 1e-3, .decay = 1e-4, .heldout = 0.2, .seed = 1};
}

/* ---- What is refused ------------------------------------------------------------------------- */

static ct_status check_options(const ct_net_options *o, ct_err *err)
{
    if (o->epochs < 1) return ct_fail(err, CT_E_ARGUMENT, "epochs is %d; a network is trained in 1 or more", o->epochs);
    if (o->batch < 1) return ct_fail(err, CT_E_ARGUMENT, "batch is %d; a step takes 1 or more examples", o->batch);
    if (o->patience < 1) return ct_fail(err, CT_E_ARGUMENT, "patience is %d; it is 1 or more epochs", o->patience);
    if (!(o->rate > 0) || isinf(o->rate))
        return ct_fail(err, CT_E_ARGUMENT, "rate is %g; it must be positive and finite", o->rate);
    if (!(o->decay >= 0) || isinf(o->decay))
        return ct_fail(err, CT_E_ARGUMENT, "decay is %g; it must be finite and not negative", o->decay);
    if (!(o->heldout >= 0 && o->heldout < 1))
        return ct_fail(err, CT_E_ARGUMENT, "heldout is %g; it is a share in [0, 1)", o->heldout);
    return CT_OK;
}

static ct_status check_numbers(const char *what, int64_t count, int32_t width, const double *x, ct_err *err)
{
    for (int64_t i = 0; i < count * width; i++)
        if (!isfinite(x[i]))
            return ct_fail(err, CT_E_ARGUMENT, "%s %d of example %lld is %g; a network is trained on finite numbers",
                           what, (int)(i % width), (long long)(i / width), x[i]);
    return CT_OK;
}

/* Means and deviations of columns; the deviation of a constant column is 1. */
static ct_status measure(const char *what, int64_t count, int32_t width, const double *x, double *mean,
                         double *deviation, ct_err *err)
{
    for (int32_t j = 0; j < width; j++) {
        double sum = 0, squares = 0;
        for (int64_t i = 0; i < count; i++) sum += x[i * width + j];
        mean[j] = sum / (double)count;
        for (int64_t i = 0; i < count; i++) squares += (x[i * width + j] - mean[j]) * (x[i * width + j] - mean[j]);
        deviation[j] = squares > 0 ? sqrt(squares / (double)count) : 1;
        if (!isfinite(mean[j]) || !isfinite(deviation[j]))
            return ct_fail(err, CT_E_ARGUMENT, "%s %d is too large for its variance to be a number", what, (int)j);
    }
    return CT_OK;
}

/* ---- Training -------------------------------------------------------------------------------- */

typedef struct {
    ct_net               *net;
    const ct_net_options *o;
    int64_t               count, train, batch; /* examples; for training; per step */
    const double         *x, *t;
    double                variance;            /* v: mean variance of the outputs */
    ct_rng                rng;
    int64_t              *order;
    double               *room, *gradient, *m, *s, *best, *scale; /* scale: mean, deviation */
    ct__net_work          work;
    int64_t               steps;
} trainer;

static void release(trainer *r)
{
    free(r->order);
    free(r->room);
    free(r->gradient);
}

static ct_status allocate(trainer *r, ct_err *err)
{
    const int64_t w = r->net->weights, scaled = 2 * ((int64_t)r->net->width[0] + ct_net_outputs(r->net));
    r->order = ct__zalloc(r->count, sizeof *r->order);
    r->room = ct__zalloc(ct__net_place(r->net, r->batch, NULL, NULL), sizeof *r->room);
    r->gradient = ct__zalloc(4 * w + scaled, sizeof *r->gradient);
    if (!r->order || !r->room || !r->gradient) return ct__no_memory(err, "weights", w);
    r->m = r->gradient + w;
    r->s = r->m + w;
    r->best = r->s + w;
    r->scale = r->best + w;
    ct__net_place(r->net, r->batch, r->room, &r->work);
    for (int64_t i = 0; i < r->count; i++) r->order[i] = i;
    return CT_OK;
}

/* Scaling by the training examples; stored in the net once nothing can fail. */
static ct_status scale(trainer *r, ct_err *err)
{
    const int32_t in = r->net->width[0], out = ct_net_outputs(r->net);
    double       *mean = r->scale, *deviation = mean + in + out;
    CT_TRY(measure("input", r->train, in, r->x, mean, deviation, err));
    CT_TRY(measure("output", r->train, out, r->t, mean + in, deviation + in, err));
    for (int32_t j = 0; j < out; j++) r->variance += deviation[in + j] * deviation[in + j] / out;
    memcpy(r->net->mean, mean, (size_t)(2 * (in + out)) * sizeof *mean);
    return CT_OK;
}

static void shuffle(trainer *r)
{
    for (int64_t i = r->train - 1; i > 0; i--) {
        const int64_t j = (int64_t)(ct_rng_uniform(&r->rng) * (double)(i + 1)), kept = r->order[i];
        r->order[i] = r->order[j];
        r->order[j] = kept;
    }
}

/* gradient += decay W, for weights only; biases are not penalised. */
static void add_decay(trainer *r)
{
    for (int k = 0; k < r->net->layers; k++) {
        const int64_t at = ct__net_offset(r->net, k), n = (int64_t)r->net->width[k + 1] * r->net->width[k];
        for (int64_t i = at; i < at + n; i++) r->gradient[i] += r->o->decay * r->net->value[i];
    }
}

static void step(trainer *r)
{
    const double k = (double)++r->steps, first = 1 - pow(B1, k), second = 1 - pow(B2, k), rate = r->o->rate;
    double       *restrict w = r->net->value, *restrict m = r->m, *restrict s = r->s;
    const double *restrict g = r->gradient;
    for (int64_t i = 0; i < r->net->weights; i++) {
        m[i] = B1 * m[i] + (1 - B1) * g[i];
        s[i] = B2 * s[i] + (1 - B2) * g[i] * g[i];
        w[i] -= rate * (m[i] / first) / (sqrt(s[i] / second) + EPS);
    }
}

static void pass(trainer *r)
{
    shuffle(r);
    for (int64_t from = 0; from < r->train; from += r->batch) {
        const int64_t n = CT_MIN(r->batch, r->train - from);
        memset(r->gradient, 0, (size_t)r->net->weights * sizeof *r->gradient);
        ct__net_gather(r->net, n, r->order + from, r->x, &r->work);
        ct__net_forward(r->net, n, &r->work);
        ct__net_backward(r->net, n, r->order + from, r->t, 1 / ((double)n * r->variance), &r->work, r->gradient);
        add_decay(r);
        step(r);
    }
}

/* Mean loss of the examples in [from, to). */
static double loss_of(trainer *r, int64_t from, int64_t to)
{
    const int32_t in = r->net->width[0], out = ct_net_outputs(r->net);
    double        loss = 0;
    for (int64_t at = from; at < to; at += r->batch) {
        const int64_t n = CT_MIN(r->batch, to - at);
        ct__net_gather(r->net, n, NULL, r->x + at * in, &r->work);
        ct__net_forward(r->net, n, &r->work);
        loss += ct__net_backward(r->net, n, NULL, r->t + at * out, 0, &r->work, NULL);
    }
    return loss / (double)(to - from);
}

static void run(trainer *r, ct_net_result *result)
{
    const size_t size = (size_t)r->net->weights * sizeof *r->best;
    const int    validates = r->train < r->count;
    *result = (ct_net_result){.heldout = validates ? loss_of(r, r->train, r->count) : NAN};
    memcpy(r->best, r->net->value, size);
    while (result->epochs < r->o->epochs && (!validates || result->epochs - result->best < r->o->patience)) {
        pass(r);
        result->epochs++;
        const double heldout = validates ? loss_of(r, r->train, r->count) : NAN;
        if (validates && !(heldout < result->heldout)) continue;
        result->best = result->epochs;
        result->heldout = heldout;
        memcpy(r->best, r->net->value, size);
    }
    memcpy(r->net->value, r->best, size);
    result->train = loss_of(r, 0, r->train);
}

ct_status ct_net_train(ct_net *net, int64_t count, const double *x, const double *t, const ct_net_options *options,
                       ct_net_result *result, ct_err *err)
{
    CT_TRY(check_options(options, err));
    if (count < 2)
        return ct_fail(err, CT_E_ARGUMENT, "a network is trained on 2 examples or more, found %lld", (long long)count);
    CT_TRY(check_numbers("input", count, net->width[0], x, err));
    CT_TRY(check_numbers("output", count, ct_net_outputs(net), t, err));
    const int64_t wanted = (int64_t)ceil(options->heldout * (double)count), heldout = CT_MIN(wanted, count - 1);
    trainer r = {.net = net,
                 .o = options,
                 .count = count,
                 .train = count - heldout,
                 .x = x,
                 .t = t,
                 .rng = ct_rng_seed(options->seed)};
    r.batch = CT_MIN(options->batch, count);
    ct_net_result done;
    ct_status     status = allocate(&r, err);
    if (status == CT_OK) status = scale(&r, err);
    if (status == CT_OK) run(&r, result ? result : &done);
    release(&r);
    return status;
}
