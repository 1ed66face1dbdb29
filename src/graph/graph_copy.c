/* graph_copy.c: copies of graphs, whole or without some factors.
 *
 * A whole copy has the arrays of the original as they are. Nothing is checked again, and no name is looked up. */
#include "graph/graph.h"

/* *to <- a copy of `count` elements; NULL stays NULL. 0 without memory. */
static int duplicate(void *to, const void *from, int64_t count, size_t size)
{
    if (!from) return 1;
    void *copy = ct__zalloc(count, size);
    if (!copy) return 0;
    if (count) memcpy(copy, from, (size_t)count * size);
    memcpy(to, &copy, sizeof copy); /* `to` is the address of some T * */
    return 1;
}

static int copy_names(const ct__names *from, ct__names *to)
{
    *to = (ct__names){.text_used = from->text_used,
                      .text_capacity = from->text ? from->text_used : 0,
                      .count = from->count,
                      .at_capacity = from->at ? from->count : 0,
                      .slots = from->slots};
    return duplicate(&to->text, from->text, from->text_used, 1) &&
           duplicate(&to->at, from->at, from->count, sizeof *to->at) &&
           duplicate(&to->slot, from->slot, from->slots, sizeof *to->slot);
}

static int copy_features(const ct_graph *from, ct_graph *to)
{
    if (!from->feature) return 1;
    to->feature = ct__zalloc(CT_MAX(1, from->feature_names.count), sizeof *to->feature);
    if (!to->feature) return 0;
    to->feature_capacity = from->feature_names.count;
    if (!copy_names(&from->feature_names, &to->feature_names)) return 0;
    for (int64_t c = 0; c < from->feature_names.count; c++) {
        const ct__feature_column *column = &from->feature[c];
        if (!duplicate(&to->feature[c].value, column->value, column->count, sizeof *column->value)) return 0;
        to->feature[c].count = to->feature[c].capacity = column->value ? column->count : 0;
    }
    return 1;
}

static int copy_arrays(const ct_graph *from, ct_graph *to)
{
    to->variables = from->variables;
    to->size = from->size;
    to->factors = from->factors;
    to->var_used = from->var_used;
    to->z_used = from->z_used;
    to->noise_count = from->noise_count;
    to->feature_changes = from->feature_changes;
    to->kind_capacity = from->kind ? from->variables : 0;
    to->fixed_capacity = from->fixed ? from->variables : 0;
    to->offset_capacity = from->offset ? from->variables : 0;
    to->initial_capacity = from->initial ? from->size : 0;
    to->factor_capacity = from->factor ? from->factors : 0;
    to->var_capacity = from->var_pool ? from->var_used : 0;
    to->z_capacity = from->z_pool ? from->z_used : 0;
    to->noise_capacity = from->noise_use ? from->noise_count : 0;
    return copy_names(&from->names, &to->names) && copy_features(from, to) &&
           duplicate(&to->kind, from->kind, from->variables, sizeof *to->kind) &&
           duplicate(&to->fixed, from->fixed, from->variables, sizeof *to->fixed) &&
           duplicate(&to->offset, from->offset, from->variables, sizeof *to->offset) &&
           duplicate(&to->initial, from->initial, from->size, sizeof *to->initial) &&
           duplicate(&to->factor, from->factor, from->factors, sizeof *to->factor) &&
           duplicate(&to->var_pool, from->var_pool, from->var_used, sizeof *to->var_pool) &&
           duplicate(&to->z_pool, from->z_pool, from->z_used, sizeof *to->z_pool) &&
           duplicate(&to->noise_use, from->noise_use, from->noise_count, sizeof *to->noise_use);
}

ct_status ct_graph_copy(const ct_graph *graph, ct_graph **out, ct_err *err)
{
    ct_graph *g;
    *out = NULL;
    CT_TRY(ct_graph_new(&g, err));
    if (!copy_arrays(graph, g)) {
        ct_graph_free(g);
        return ct__no_memory(err, "factors", graph->factors);
    }
    *out = g;
    return CT_OK;
}

ct_status ct__graph_copy_without(const ct_graph *graph, const uint8_t *left_out, ct_graph **out, ct_err *err)
{
    ct_graph *g;
    *out = NULL;
    if (!left_out) return ct_graph_copy(graph, out, err);
    CT_TRY(ct_graph_new(&g, err));
    ct_status status = CT_OK;
    for (int32_t v = 0; v < graph->variables && status == CT_OK; v++) {
        status = ct_graph_add_variable(g, ct__names_get(&graph->names, v), graph->kind[v],
                                       graph->initial + graph->offset[v], NULL, err);
        if (status == CT_OK) g->fixed[v] = graph->fixed[v];
    }
    for (int32_t f = 0; f < graph->factors && status == CT_OK; f++) {
        const ct_factor k = ct_graph_factor(graph, f);
        if (left_out[f]) continue;
        status = ct_graph_add_factor(g, k.ops, k.var, k.z, k.context, k.noise, err);
        if (status != CT_OK) break;
        g->factor[g->factors - 1].multiplier = k.multiplier;
        status = ct__graph_copy_features(g, g->factors - 1, graph, f, err);
    }
    if (status != CT_OK) {
        ct_graph_free(g);
        return status;
    }
    *out = g;
    return CT_OK;
}
