/* dataset_evaluate.c: evaluate a noise table on a part of a dataset. */
#include "base/base.h"

#include <covtune/api.h>

static int contains(int32_t count, ct_sequence *const seq[], const ct_sequence *one)
{
    for (int32_t i = 0; i < count; i++)
        if (seq[i] == one) return 1;
    return 0;
}

int32_t ct_dataset_sequences(const ct_dataset *d, ct_dataset_part part, ct_sequence *out[])
{
    const int train = part & CT_DATASET_TRAIN, test = part & CT_DATASET_TEST;
    int32_t   n = 0;
    for (int32_t i = 0; d && train && i < d->trains; i++, n++)
        if (out) out[n] = d->train[i];
    for (int32_t i = 0; d && test && i < d->tests; i++) {
        if (train && contains(d->trains, d->train, d->test[i])) continue;
        if (out) out[n] = d->test[i];
        n++;
    }
    return n;
}

static ct_status check(int32_t n, ct_sequence *const seq[], const ct_noise *noise, int innovations, ct_err *err)
{
    const ct_loss all = ct_loss_defaults();
    if (!n) return ct_fail(err, CT_E_ARGUMENT, "the dataset has no sequences of that part");
    for (int32_t i = 0; i < n; i++) {
        if (!innovations && !ct_loss_terms(&all, seq[i]))
            return ct_fail(err, CT_E_ARGUMENT,
                           "sequence %s has no truth to compare with; options.innovations evaluates it without",
                           ct_sequence_label(seq[i]));
        CT_TRY(ct_graph_check_noise(seq[i]->graph, noise, err));
    }
    return CT_OK;
}

ct_status ct_dataset_evaluate(const ct_dataset *dataset, ct_dataset_part part, const ct_noise *noise,
                              const ct_evaluate_options *options, ct_summary *out, ct_err *err)
{
    const ct_evaluate_options defaults = ct_evaluate_defaults();
    CT_TRY(ct_summarise(0, NULL, NULL, out, err));
    if (!dataset) return ct_fail(err, CT_E_ARGUMENT, "there is no dataset to evaluate on");
    if (part < CT_DATASET_TRAIN || part > CT_DATASET_ALL)
        return ct_fail(err, CT_E_ARGUMENT, "part %d of a dataset is not one", (int)part);
    const int64_t most = (int64_t)dataset->trains + dataset->tests;
    ct_sequence **seq = ct__zalloc(most + 1, sizeof *seq);
    if (!seq) return ct__no_memory(err, "sequences", most);
    const int32_t n = ct_dataset_sequences(dataset, part, seq);
    if (!noise) noise = dataset->noise;
    ct_status status = check(n, seq, noise, options && options->innovations, err);
    if (status == CT_OK) status = ct_evaluate(n, seq, noise, options ? options : &defaults, NULL, out, err);
    free(seq);
    return status;
}
