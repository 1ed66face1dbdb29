/* covtune/net.h: small fully connected networks, trained at run time.
 *
 *     y = W_n s(W_n-1 ... s(W_1 x + b_1) ... + b_n-1) + b_n,   s = tanh
 *     minimise   mean 1/2 |y - t|^2 / v + decay/2 |W|^2        by Adam
 *
 * Inputs and outputs are standardised by their means and deviations in the training set, which are stored with the
 * weights. v is the mean variance of the outputs, so that rate and decay do not depend on units. Made for measurements
 * from images: a few hundred inputs and a few thousand examples train in a second on one core.
 */
#ifndef COVTUNE_NET_H
#define COVTUNE_NET_H

#include <covtune/base.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CT_NET_LAYERS_MAX 8
#define CT_NET_WIDTH_MAX  1024

typedef struct ct_net ct_net;

/* width[0] inputs, ..., width[layers] outputs. Weights are drawn (Glorot), biases are zero. CT_E_ARGUMENT for widths
 * below 1 or above 1024, fewer than 1 or more than 8 layers. */
ct_status ct_net_new(int layers, const int32_t width[], uint64_t seed, ct_net **out, ct_err *err);
void      ct_net_free(ct_net *net);
/* A copy with further outputs, 0 or more, whose weights are zero and whose scale is 1: they share the hidden layers. */
ct_status ct_net_extend(const ct_net *net, int32_t outputs, ct_net **out, ct_err *err);
int32_t   ct_net_inputs(const ct_net *net);
int32_t   ct_net_outputs(const ct_net *net);
int64_t   ct_net_weights(const ct_net *net); /* number of weights and biases */

/* y <- net(x). No allocation; may be called from several threads. */
void ct_net_predict(const ct_net *net, const double *x, double *y);
/* The same for count examples: x is count x inputs, y count x outputs; the same bits. */
void ct_net_predict_all(const ct_net *net, int64_t count, const double *x, double *y);
/* Backward pass from derivatives dy (count x outputs) of any loss by the outputs: gradient (ct_net_weights) += sum over
 * examples of dy_i' dy_i/dweights. No allocation; costs two to three forward passes. */
void ct_net_backward(const ct_net *net, int64_t count, const double *x, const double *dy, double *gradient);

/* An output y as the multiplier of a covariance: m = e^(c tanh(y / c)), c = log CT_NET_MULTIPLIER_MAX, so that sigmas
 * stay within a factor of 10 both ways. *slope (may be NULL) <- dlog m/dy. */
#define CT_NET_MULTIPLIER_MAX 100.0
double ct_net_multiplier(double y, double *slope);

typedef struct {
    int      epochs;   /* at most                                                                          */
    int      batch;    /* examples per step                                                                */
    int      patience; /* stops after this many epochs without a better held-out loss                      */
    double   rate;     /* of Adam                                                                          */
    double   decay;    /* weight of |W|^2                                                                  */
    double   heldout;  /* share of examples held out, in [0, 1): the last ones, so that sequences stay whole. 0: none,
                          all epochs are done and the last weights kept */
    uint64_t seed;     /* of the order of examples                                                         */
} ct_net_options;

ct_net_options ct_net_defaults(void);

typedef struct {
    int    epochs;         /* done                                                                          */
    int    best;           /* the epoch whose weights are kept: least held-out loss; 0: the initial weights */
    double train, heldout; /* mean 1/2 |y - t|^2 at these weights; heldout is NaN without held-out examples */
} ct_net_result;

/* x: count x inputs, t: count x outputs. Starts from the current weights. Same input, same bits. CT_E_ARGUMENT for
 * numbers that are not finite, options outside their domain, or fewer than two examples; the net is then unchanged.
 * result may be NULL. */
ct_status ct_net_train(ct_net *net, int64_t count, const double *x, const double *t, const ct_net_options *options,
                       ct_net_result *result, ct_err *err);

/* mean 1/2 |y - t|^2 over count > 0 examples and its gradient by all weights (may be NULL; ct_net_weights doubles),
 * for gradient checks. No allocation. */
double ct_net_loss(const ct_net *net, int64_t count, const double *x, const double *t, double *gradient);
/* All weights, which may be changed: per layer W (outputs x inputs, row-major), then b. */
double *ct_net_values(ct_net *net);

/* JSON: widths, scaling, weights (src/push/net_file.c); numbers round-trip to the bit. CT_E_PARSE for weights of
 * the wrong shape, naming the layer, the expected and the found shape. */
ct_status ct_net_write(const ct_net *net, const char *path, ct_err *err);
ct_status ct_net_read(const char *path, ct_net **out, ct_err *err);

#ifdef __cplusplus
}
#endif
#endif
