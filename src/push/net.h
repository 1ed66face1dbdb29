/* net.h: the layout of a network, and its forward and backward pass over a batch.
 *
 * Examples are columns: a layer's activations are width x n, row-major. The inner loops run along the examples, and
 * each example is summed in the same order for any n. So one example gives the same bits alone as in a batch. */
#ifndef CT_NET_PRIVATE_H
#define CT_NET_PRIVATE_H

#include "base/base.h"

#include <covtune/net.h>

struct ct_net {
    int      layers;
    int32_t  width[CT_NET_LAYERS_MAX + 1];
    int64_t  weights;
    double  *value;            /* layer by layer: W (outputs x inputs, row-major), b      */
    double  *mean, *deviation; /* of the inputs, then of the outputs; beside value, in one block */
};

/* Activations of every layer, and the derivative of the loss by the inputs of two of them. */
typedef struct {
    double *a[CT_NET_LAYERS_MAX + 1], *delta[2];
} ct__net_work;

/* The number of doubles for a batch of n, placed in `room` unless it is NULL. */
int64_t ct__net_place(const ct_net *net, int64_t n, double *room, ct__net_work *work);

/* Offset of layer k's W in the values; its b is width[k + 1] x width[k] further. */
int64_t ct__net_offset(const ct_net *net, int k);

/* Weights of the last layer. */
static inline int64_t ct__net_last(const ct_net *net)
{
    return net->weights - ct__net_offset(net, net->layers - 1);
}

/* Columns 0 .. n-1 of work->a[0] <- scaled examples `order`[0 .. n-1] of x (NULL: 0 .. n-1). */
void ct__net_gather(const ct_net *net, int64_t n, const int64_t *order, const double *x, const ct__net_work *work);
/* All activations from the scaled inputs. The outputs are scaled. */
void ct__net_forward(const ct_net *net, int64_t n, const ct__net_work *work);
/* After a forward pass: sum of 1/2 |y - t|^2 over the examples; gradient (may be NULL) += factor times its
 * derivative. */
double ct__net_backward(const ct_net *net, int64_t n, const int64_t *order, const double *t, double factor,
                        const ct__net_work *work, double *gradient);

/* All zero except the deviations, which are one. */
ct_status ct__net_alloc(int layers, const int32_t width[], ct_net **out, ct_err *err);

#endif
