/* hold_out.h: measurements that are held out of a graph, to be predicted from the rest. */
#ifndef CT_HOLD_OUT_H
#define CT_HOLD_OUT_H

#include "evaluate/evaluate.h"

/* A copy of a graph whose held-out factors have no weight: they have model g + models in place of g. Noise tables are
 * extended to match (ct__hold_out_table). The structure is that of the whole graph, so that the joint covariance of a
 * held-out factor's variables comes with the others. */
typedef struct {
    ct_graph *graph;
    uint8_t  *held;  /* per factor */
    int32_t   count; /* of held    */
    int32_t   models;
} ct__hold_out;

/* Chooses a tenth of the measurements that are not odometry, spread over the sequence: of every group of models ("loop"
 * of loop#1, loop#2), with an offset from the seed. Of groups of 4 to 9 it takes one, of smaller ones none. What leaves
 * a variable undetermined at x is not held out. The choice does not depend on the variances in the table. count is 0 if
 * nothing can be held out. The caller frees *out with ct__hold_out_free, also on failure. */
ct_status ct__hold_out_choose(const ct_graph *graph, const ct_noise *noise, const double *x, uint64_t seed,
                              ct__hold_out *out, ct_err *err);
/* *out <- the table with a second model for each, of a weight that is no weight. The caller frees it. */
ct_status ct__hold_out_table(const ct_noise *noise, ct_noise **out, ct_err *err);
void      ct__hold_out_free(ct__hold_out *held);

#endif
