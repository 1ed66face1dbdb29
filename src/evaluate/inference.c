/* inference.c: how estimates are made where nothing else is asked for: the defaults, and batch or incremental. */
#include "evaluate/evaluate.h"

/* Accuracy and loss are linear in the distance from the minimum, and the error is quadratic in it. Six digits of them
 * take an error that is stationary to twelve. */
ct_inference ct_inference_defaults(void)
{
    ct_inference inference = {.start = CT_START_MEASURED,
                              .solve = ct_solve_defaults(),
                              .incremental = CT_INFERENCE_AUTO,
                              .replay = ct_replay_defaults()};
    inference.solve.relative = 1e-12;
    inference.replay.entry = CT_ENTRY_AUTO;
    inference.replay.extra_updates = 5; /* a new pose may be a quarter turn from the one before */
    inference.replay.extent = 10;
    return inference;
}

#define UNPLACED_OK 0.1 /* share of the poses: a part or two without a prior, a gap */

ct_status ct__sequence_unplaced(const ct_sequence *seq, int *out, ct_err *err)
{
    const ct_graph *g = seq->graph;
    int32_t         unplaced, poses = 0;
    CT_TRY(ct_sequence_uninitialised(seq, &unplaced, err));
    for (int32_t v = 0; v < ct_graph_variables(g); v++)
        poses += ct_graph_kind(g, v) == CT_SE2 || ct_graph_kind(g, v) == CT_SE3;
    *out = unplaced > 1 && unplaced > UNPLACED_OK * poses;
    return CT_OK;
}

void ct__inference_resolve(int unplaced, ct_inference *inference)
{
    if (inference->incremental == CT_INFERENCE_AUTO) inference->incremental = unplaced;
    if (inference->replay.entry == CT_ENTRY_AUTO)
        inference->replay.entry = unplaced ? CT_ENTRY_PREVIOUS : CT_ENTRY_MOTION;
}

ct_status ct_inference_choose(int32_t count, ct_sequence *const seq[], ct_inference *inference, ct_err *err)
{
    int undetermined = 0;
    const int ask = inference->incremental == CT_INFERENCE_AUTO ||
                    (inference->incremental && inference->replay.entry == CT_ENTRY_AUTO);
    for (int32_t i = 0; ask && i < count && !undetermined; i++) {
        CT_TRY(ct_sequence_acquire(seq[i], err));
        const ct_status status = ct__sequence_unplaced(seq[i], &undetermined, err);
        ct_sequence_release(seq[i]);
        CT_TRY(status);
    }
    ct__inference_resolve(undetermined, inference);
    return CT_OK;
}
