/* evaluate.h: which coordinates of a variable's truth count, for the files of this module; the residual of a factor at
 * the truth and the empty summary, for later modules. */
#ifndef CT_EVALUATE_PRIVATE_H
#define CT_EVALUATE_PRIVATE_H

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

/* align.c: y = T x of one variable; y may be x. */
void ct__move(ct_kind kind, ct_se3 T, const double *x, double *y);

/* tie_residuals.c: do the factors that tie the graph to the world contradict the truth, where they do not contradict
 * the truth moved by M? Fixed variables have their values. */
ct_status ct__ties_contradict(const ct_sequence *seq, const ct_noise *noise, ct_se3 M, int *out, ct_err *err);
/* divergence.c: e->diverged, of one estimate; of those that are enormous beside the others. */
ct_status ct__find_divergence(const ct_sequence *seq, const ct_noise *noise, ct_solver *solver, const double *x,
                              ct_evaluation *e, ct_err *err);
ct_status ct__compare_divergence(int32_t count, ct_evaluation each[], ct_err *err);

/* truth_frame.c: findings of sequences whose differences are known. */
ct_status ct__truth_frame_report(int32_t count, const ct_sequence *const seq[], const ct_frame_difference difference[],
                                 ct_findings *out, ct_err *err);
/* inference.c: 1 if measurements do not determine nine in ten of its poses; what that means for choices left open. */
ct_status ct__sequence_unplaced(const ct_sequence *seq, int *out, ct_err *err);
void      ct__inference_resolve(int unplaced, ct_inference *inference);

/* summary.c: of no sequences. */
ct_summary ct__summary_none(void);

#endif
