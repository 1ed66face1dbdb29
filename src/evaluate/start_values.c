/* start_values.c: where an estimate starts from.
 *
 * The truth may be partial: positions alone, gaps, no landmarks. What it does not say comes from the measurements: a
 * rotation from the start by measurements, a pose in a gap by the motion m of that start since the pose before,
 *
 *     x_v = x_u o m_u^-1 o m_v,
 *
 * and points from the poses that see them. */
#include "data/start.h"
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

/* 1 if the truth says all of what is not fixed. */
static int truth_is_complete(const ct_sequence *seq)
{
    const ct_graph *g = seq->graph;
    for (int32_t v = 0; seq->truth && v < g->variables; v++)
        if (!g->fixed[v] && ct__known(seq, v) != ct__all_of((ct_kind)g->kind[v])) return 0;
    return seq->truth != NULL;
}

/* x has the start by measurements: the truth replaces what it knows, and poses without truth move along. */
static void put_truth(const ct_sequence *seq, const double *measured, double *x)
{
    const ct_graph *g = seq->graph;
    int32_t         before[CT_KIND_COUNT]; /* the pose before, of each kind, with a start value now */
    for (int k = 0; k < CT_KIND_COUNT; k++) before[k] = -1;
    for (int32_t v = 0; v < g->variables; v++) {
        const ct_kind  kind = (ct_kind)g->kind[v];
        const int64_t  at = g->offset[v];
        const unsigned known = ct__known(seq, v);
        const int32_t  u = before[kind];
        if (!g->fixed[v] && known) take_known(kind, known, seq->truth + at, x + at);
        if (!ct__is_pose(kind)) continue;
        if (!g->fixed[v] && !known && u >= 0) {
            double d[CT_DIM_MAX];
            ct_kind_local(kind, measured + g->offset[u], measured + at, d);
            ct_kind_retract(kind, x + g->offset[u], d, x + at);
        }
        if (known || g->fixed[v] || u >= 0) before[kind] = v;
    }
}

static ct_status start_from_truth(const ct_sequence *seq, double *x, ct_err *err)
{
    const ct_graph *g = seq->graph;
    double         *measured = ct__zalloc(g->size, sizeof *measured);
    uint8_t        *unknown = ct__zalloc(g->variables, 1);
    ct_status status = measured && unknown ? CT_OK : ct__no_memory(err, "values", g->size);
    if (status == CT_OK) status = ct_sequence_initialise(seq, 1, measured, err);
    if (status == CT_OK) {
        int points = 0;
        memcpy(x, measured, (size_t)g->size * sizeof *x);
        put_truth(seq, measured, x);
        for (int32_t v = 0; v < g->variables; v++) {
            unknown[v] = !g->fixed[v] && (g->kind[v] == CT_R2 || g->kind[v] == CT_R3) && !ct__known(seq, v);
            points |= unknown[v];
        }
        if (points) status = ct__replace_points(g, unknown, x, err);
    }
    free(measured);
    free(unknown);
    return status;
}

ct_status ct_start_values(const ct_sequence *seq, ct_start start, double *x, ct_err *err)
{
    const ct_graph *graph = seq->graph;
    if ((unsigned)start >= CT_START_COUNT)
        return ct_fail(err, CT_E_ARGUMENT, "start %d of an estimate is not one", (int)start);
    if (start == CT_START_MEASURED || start == CT_START_ODOMETRY)
        return ct_sequence_initialise(seq, start == CT_START_MEASURED, x, err);
    if (start == CT_START_TRUTH && seq->truth && !truth_is_complete(seq)) return start_from_truth(seq, x, err);
    if (graph->size) memcpy(x, graph->initial, (size_t)graph->size * sizeof *x);
    for (int32_t v = 0; start == CT_START_TRUTH && seq->truth && v < graph->variables; v++)
        if (!graph->fixed[v])
            take_known((ct_kind)graph->kind[v], ct__known(seq, v), seq->truth + graph->offset[v], x + graph->offset[v]);
    return CT_OK;
}
