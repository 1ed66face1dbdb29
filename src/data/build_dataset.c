/* build_dataset.c: datasets and sequences from a program's own arrays. */
#include "base/base.h"
#include "graph/graph.h"

#include <covtune/data.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void *copy_of(const void *bytes, int64_t count, size_t size)
{
    void *copy = ct__zalloc(CT_MAX(count, 1), size);
    if (copy && count > 0) memcpy(copy, bytes, (size_t)count * size);
    return copy;
}

/* The first known coordinate of the truth that is not finite is an error: it would become the loss. */
static ct_status check_truth(const ct_graph *g, const double *x, const uint8_t *known, ct_err *err)
{
    for (int32_t v = 0; v < g->variables; v++) {
        const int dim = ct_kind_dim(g->kind[v]);
        if (known[v] >> dim)
            return ct_fail(err, CT_E_ARGUMENT, "variable %s has %d coordinates, its truth has bit %d and above",
                           ct__names_get(&g->names, v), dim, dim);
        if (known[v]) CT_TRY(ct__check_value(ct__names_get(&g->names, v), g->kind[v], x + g->offset[v], err));
    }
    return CT_OK;
}

ct_status ct_sequence_set_truth(ct_sequence *seq, const double *x, const uint8_t *known, ct_err *err)
{
    const ct_graph *g = seq->graph;
    CT_TRY(check_truth(g, x, known, err));
    double  *truth = copy_of(x, g->size, sizeof *truth);
    uint8_t *bits = copy_of(known, g->variables, sizeof *bits);
    if (!truth || !bits) {
        free(truth);
        free(bits);
        return ct__no_memory(err, "variables", g->variables);
    }
    free(seq->truth);
    free(seq->known);
    seq->truth = truth;
    seq->known = bits;
    return CT_OK;
}

ct_status ct_sequence_set_times(ct_sequence *seq, const double *stamp, ct_err *err)
{
    for (int32_t v = 0; v < seq->graph->variables; v++)
        if (isinf(stamp[v])) return ct_fail(err, CT_E_ARGUMENT, "time %d is infinite; NaN stands for unknown", v);
    double *copy = copy_of(stamp, seq->graph->variables, sizeof *copy);
    if (!copy) return ct__no_memory(err, "variables", seq->graph->variables);
    free(seq->stamp);
    seq->stamp = copy;
    return CT_OK;
}

ct_status ct_sequence_set_name(ct_sequence *seq, const char *name, const char *recording, ct_err *err)
{
    char *a = name ? ct__strdup(name) : NULL, *b = recording ? ct__strdup(recording) : NULL;
    if ((name && !a) || (recording && !b)) {
        free(a);
        free(b);
        return ct__no_memory(err, "names", 2);
    }
    free(seq->name);
    free(seq->recording);
    seq->name = a;
    seq->recording = b;
    return CT_OK;
}

ct_status ct_dataset_add(ct_dataset *dataset, ct_sequence *seq, ct_dataset_part part, ct_err *err)
{
    if (part != CT_DATASET_TRAIN && part != CT_DATASET_TEST)
        return ct_fail(err, CT_E_ARGUMENT, "a sequence is added to the training or the test part, found part %d",
                       (int)part);
    CT_TRY(ct_graph_check_noise(seq->graph, dataset->noise, err));
    ct_sequence ***list = part == CT_DATASET_TRAIN ? &dataset->train : &dataset->test;
    int32_t       *count = part == CT_DATASET_TRAIN ? &dataset->trains : &dataset->tests;
    ct_sequence  **grown = realloc(*list, ((size_t)*count + 1) * sizeof *grown);
    if (!grown) return ct__no_memory(err, "sequences", *count + 1);
    *list = grown;
    grown[(*count)++] = seq;
    ct_graph_name_rows(seq->graph, dataset->noise);
    return CT_OK;
}
