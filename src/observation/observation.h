/* observation.h: what the files of this module share.
 *
 *   observe.c   measurements of a network into graphs
 *   problem.c   the loss of many sequences by the weights of a network
 *   train.c     Adam over batches of sequences, early stopping, the choice
 */
#ifndef CT_OBSERVATION_PRIVATE_H
#define CT_OBSERVATION_PRIVATE_H

#include "base/base.h"
#include "learn/learn.h"
#include "push/net.h"

#include <covtune/observation.h>

/* Coordinates of the first part of the measurements; CT_E_ARGUMENT with a sentence as ct_observe. */
ct_status ct__observation_check(const ct_net *net, const ct_observation *o, int *dim, ct_err *err);
/* The same as ct_observe for outputs y (count x outputs) that are known. */
ct_status ct__observation_set(const ct_observation *o, int dim, int outputs, const double *y, ct_err *err);

/* Sequences with measurements of a network. */
typedef struct {
    int32_t                  count;
    const ct_observation    *of;
    int                      dim, outputs; /* of a measurement, of the network                     */
    ct_outer                *outer;
    ct_measurement_gradient *by;           /* per sequence                                         */
    double                  *y, *dy;       /* of the longest sequence x outputs                    */
    double                  *numbers;      /* that `by` points to                                  */
} ct__observed;

ct_status ct__observed_new(int32_t count, const ct_observation of[], const ct_noise *noise, const ct_theta *theta,
                           const ct_outer_options *outer, const ct_net *net, ct__observed *out, ct_err *err);
void      ct__observed_free(ct__observed *s);
/* Measurements of the sequences of a part <- those of the network. */
ct_status ct__observed_apply(ct__observed *s, const ct_net *net, const uint8_t *part, ct_err *err);
/* After ct__observed_apply: value, and with a gradient by p (value->gradient) that by weights (may be NULL). */
ct_status ct__observed_value(ct__observed *s, const ct_net *net, const double *p, const uint8_t *part,
                             ct_outer_value *value, double *gradient, ct_err *err);

#endif
