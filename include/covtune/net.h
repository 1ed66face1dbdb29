/* covtune/net.h: small fully connected networks, trained on the spot.
 *
 *     y = W_n s(W_n-1 ... s(W_1 x + b_1) ... + b_n-1) + b_n,   s = tanh;   minimise mean 1/2 |y - t|^2 / v + decay/2
 *                                                                          |W|^2 by Adam
 *
 * Inputs and outputs are scaled by their means and deviations in the training set, which belong to the weights; v is
 * the mean variance of the outputs there, so that rate and decay mean the same whatever the units. For measurements
 * that come from images: a few hundred inputs, a few thousand examples, a second of one core.
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

/* width[0] inputs, ..., width[layers] outputs. Weights are drawn (Glorot), biases zero. CT_E_ARGUMENT for widths
 * below 1 or above 1024, fewer than 1 or more than 8 layers. */
ct_status ct_net_new(int layers, const int32_t width[], uint64_t seed, ct_net **out, ct_err *err);
void      ct_net_free(ct_net *net);
int32_t   ct_net_inputs(const ct_net *net);
int32_t   ct_net_outputs(const ct_net *net);
int64_t   ct_net_weights(const ct_net *net); /* how many numbers are learned */

/* y <- net(x). No allocation; may be called from several threads. */
void ct_net_predict(const ct_net *net, const double *x, double *y);

typedef struct {
    /* at most so many passes; examples a step; passes without a better held-out loss after which it stops */
    int      epochs, batch, patience;
    /* of Adam; weight of |W|^2 */
    double   rate, decay;
    /* share of the examples (the last ones, so that runs stay whole) that are held out, in [0, 1). 0: none, all passes
     * are done and the last weights kept */
    double   heldout;
    /* of the order of examples */
    uint64_t seed;
} ct_net_options;

ct_net_options ct_net_defaults(void);

typedef struct {
    /* done; the one whose weights are kept: least held-out loss (0: those it began with) */
    int    epochs, best;
    /* mean 1/2 |y - t|^2 there, of the examples learned from and those held out (NaN if none) */
    double train, heldout;
} ct_net_result;

/* x: count x inputs, t: count x outputs. Begins at the weights there are. Same input, same bits. CT_E_ARGUMENT for
 * numbers that are not finite, options outside their domain, or fewer than two examples; the net is then as it was.
 * result may be NULL. */
ct_status ct_net_train(ct_net *net, int64_t count, const double *x, const double *t, const ct_net_options *options,
                       ct_net_result *result, ct_err *err);

/* mean 1/2 |y - t|^2 over count > 0 examples and its gradient by all weights (may be NULL; ct_net_weights doubles),
 * for those who check. No allocation. */
double ct_net_loss(const ct_net *net, int64_t count, const double *x, const double *t, double *gradient);
/* all weights, to read or change: layer by layer W (outputs x inputs, row-major), b */
double *ct_net_values(ct_net *net);

/* JSON: widths, scaling, weights (src/push/net_file.c); numbers come back to the bit. Reading refuses weights of the
 * wrong shape, naming the layer, what is expected and what was found. */
ct_status ct_net_write(const ct_net *net, const char *path, ct_err *err);
ct_status ct_net_read(const char *path, ct_net **out, ct_err *err);

#ifdef __cplusplus
}
#endif
#endif
