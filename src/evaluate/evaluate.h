/* evaluate.h: which coordinates of a variable's truth count, for the files of this module; and for those after it,
 * what a factor says there, and estimates looked at. */
#ifndef CT_ASSESS_PRIVATE_H
#define CT_ASSESS_PRIVATE_H

#include "graph/graph.h"

#include <covtune/evaluate.h>

/* Rotation's coordinates in a kind's tangent space, as bits; what else there is are lengths. */
static const uint8_t ct__turns[CT_KIND_COUNT] = {[CT_SO2] = 1, [CT_SO3] = 7, [CT_SE2] = 4, [CT_SE3] = 7};

static inline unsigned ct__all_of(ct_kind kind) { return (1u << ct_kind_dim(kind)) - 1; }
static inline int      ct__is_pose(ct_kind kind) { return kind == CT_SE2 || kind == CT_SE3; }

/* Coordinates of truth that are known. A rotation in space that is known in part is not: which of its logarithm's
 * coordinates are right depends on those that are unknown. */
static inline unsigned ct__known(const ct_sequence *seq, int32_t v)
{
    if (!seq->truth) return 0;
    /* bits beyond mean nothing */
    const unsigned turns = ct__turns[seq->graph->kind[v]],
                   known = seq->known[v] & ct__all_of((ct_kind)seq->graph->kind[v]);
    return (known & turns) == turns ? known : known & ~turns;
}

/* loss.c: that weights and the difference of a loss can be. */
ct_status ct__check_loss(const ct_loss *loss, ct_err *err);

/* truth_residuals.c: r <- the residual of a factor at the truth, as it was measured; 0 where the truth is not known
 * well enough, or r is not a number. */
int ct__truth_residual(const ct_sequence *seq, int32_t factor, double r[CT_ROWS_MAX]);

/* evaluate.c: ct_evaluate_all, and `look` at each estimate, by the thread that made it, unless it was cancelled;
 * NULL: nothing more is done. What look says other than CT_OK ends it all. */
typedef ct_status (*ct__look_fn)(void *user, int32_t sequence, const ct_evaluation *found, ct_solver *solver,
                                 const double *x, ct_err *err);
ct_status ct__assess_all(int32_t count, ct_sequence *const seq[], const ct_noise *noise, const ct_inference *inference,
                         const ct_loss *loss, int nees, int jobs, ct_evaluate_fn progress, void *user, ct__look_fn look,
                         void *looker, ct_evaluation out[], ct_err *err);

#endif
