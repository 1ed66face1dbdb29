/* factor_position.c: position_P, the world position of a point of the body (a GPS antenna).
 *
 *     r = t + R l - z        l: lever arm in the body frame, zero unless given
 *
 * in world axes, so the noise is the receiver's east and north, not the body's ahead and left.
 */
#include <covtune/graph.h>

#include "lie/se2_inline.h"
#include "lie/se3_inline.h"

static void eval_se2(const double *z, const void *context, const double *const x[], double *r, double *const J[])
{
    (void)context;
    ct_se2_act(ct__se2_load(x[0]), z + 2, r, J ? J[0] : NULL, NULL);
    ct_rn_between(2, z, r, r);
}

static void eval_se3(const double *z, const void *context, const double *const x[], double *r, double *const J[])
{
    (void)context;
    ct_se3_act(ct__se3_load(x[0]), z + 3, r, J ? J[0] : NULL, NULL);
    ct_rn_between(3, z, r, r);
}

const ct_factor_ops ct_position_se2 = {
    .name = "position_se2",
    .rows = 2,
    .arity = 1,
    .kind = {CT_SE2},
    .fields = 2,
    .required = 1,
    .field = {CT_R2, CT_R2},
    .absolute = 1,
    .eval = eval_se2,
    .coordinate = {"x", "y"},
    .unit = {"m", "m"},
};

const ct_factor_ops ct_position_se3 = {
    .name = "position_se3",
    .rows = 3,
    .arity = 1,
    .kind = {CT_SE3},
    .fields = 2,
    .required = 1,
    .field = {CT_R3, CT_R3},
    .absolute = 1,
    .eval = eval_se3,
    .coordinate = {"x", "y", "z"},
    .unit = {"m", "m", "m"},
};
