/* start_values.c: where an estimate starts from. */
#include "evaluate/evaluate.h"

static const char *const names[CT_START_COUNT] = {
#define X(constant, name, what) [constant] = name,
    CT_START_LIST(X)
#undef X
};

const char *ct_start_name(ct_start start) { return ct__name_at(names, CT_START_COUNT, (int)start); }

int ct_start_find(const char *name) { return ct__find_name(name, names, CT_START_COUNT); }

/* Stored values of `kind` <- the truth's, where known: coordinates of a position or a point one by one, a rotation
 * whole. */
static void take_known(ct_kind kind, unsigned known, const double *truth, double *x)
{
    const unsigned turns = ct__turns[kind];
    const int      dim = ct_kind_dim(kind), turn_dims = kind == CT_SE3 || kind == CT_SO3 ? 3 : turns ? 1 : 0;
    const int      lengths = dim - turn_dims, first = kind == CT_SE3 ? 3 : 0;
    for (int i = 0; i < lengths; i++)
        if (known >> (first + i) & 1) x[i] = truth[i];
    if (turns && (known & turns) == turns)
        for (int i = lengths; i < ct_kind_size(kind); i++) x[i] = truth[i];
}

ct_status ct_start_values(const ct_sequence *seq, ct_start start, double *x, ct_err *err)
{
    const ct_graph *graph = seq->graph;
    if ((unsigned)start >= CT_START_COUNT)
        return ct_fail(err, CT_E_ARGUMENT, "start %d of an estimate is not one", (int)start);
    if (start == CT_START_MEASURED || start == CT_START_ODOMETRY)
        return ct_sequence_initialise(seq, start == CT_START_MEASURED, x, err);
    if (graph->size) memcpy(x, graph->initial, (size_t)graph->size * sizeof *x);
    for (int32_t v = 0; start == CT_START_TRUTH && seq->truth && v < graph->variables; v++)
        if (!graph->fixed[v])
            take_known((ct_kind)graph->kind[v], ct__known(seq, v), seq->truth + graph->offset[v], x + graph->offset[v]);
    return CT_OK;
}
