/* graph_image.c: the arrays of a graph as bytes, for graphs that leave memory for a while.
 *
 * Image: flags (8 bytes), then arrays one after the other, each at a multiple of 8 bytes. It belongs to this process:
 * measurement models and shapes are pointers. A graph without its arrays keeps its counts, its uses of noise models and
 * the names of its features. Offsets and places in the pools follow from kinds and models, so they are not in it. */
#include "graph/graph.h"

enum { HAS_CONTEXT = 1, HAS_MULTIPLIER = 2 };

typedef struct {
    void  **at;
    int64_t bytes;
} array;

#define ARRAYS (8 + CT_FEATURES_MAX)

/* The arrays that are copied as they are. */
static int list_arrays(ct_graph *g, array out[ARRAYS])
{
    const array fixed[] = {{(void **)&g->kind, g->variables},
                           {(void **)&g->fixed, g->variables},
                           {(void **)&g->initial, g->size * (int64_t)sizeof *g->initial},
                           {(void **)&g->var_pool, g->var_used * (int64_t)sizeof *g->var_pool},
                           {(void **)&g->z_pool, g->z_used * (int64_t)sizeof *g->z_pool},
                           {(void **)&g->names.text, g->names.text_used},
                           {(void **)&g->names.at, g->names.count * (int64_t)sizeof *g->names.at},
                           {(void **)&g->names.slot, g->names.slots * (int64_t)sizeof *g->names.slot}};
    int         n = sizeof fixed / sizeof *fixed;
    memcpy(out, fixed, sizeof fixed);
    for (int64_t c = 0; c < g->feature_names.count; c++)
        out[n++] = (array){(void **)&g->feature[c].value, g->feature[c].count * (int64_t)sizeof *g->feature[c].value};
    return n;
}

static int64_t padded(int64_t bytes) { return (bytes + 7) / 8 * 8; }

static uint64_t flags_of(const ct_graph *g)
{
    uint64_t flags = 0;
    for (int32_t f = 0; f < g->factors; f++) {
        if (g->factor[f].context) flags |= HAS_CONTEXT;
        if (g->factor[f].multiplier != 1) flags |= HAS_MULTIPLIER;
    }
    return flags;
}

int64_t ct__graph_image_bytes(const ct_graph *graph)
{
    array          list[ARRAYS];
    const uint64_t flags = flags_of(graph);
    const int      n = list_arrays((ct_graph *)(uintptr_t)graph, list);
    int64_t        bytes = 8 + padded(4 * (int64_t)graph->factors);
    bytes += 8 * (int64_t)graph->factors * (1 + !!(flags & HAS_CONTEXT) + !!(flags & HAS_MULTIPLIER));
    for (int i = 0; i < n; i++) bytes += padded(list[i].bytes);
    return bytes;
}

int64_t ct__graph_bytes(const ct_graph *g)
{
    array     list[ARRAYS];
    const int n = list_arrays((ct_graph *)(uintptr_t)g, list);
    int64_t   bytes = (int64_t)sizeof *g->factor * g->factors + (int64_t)sizeof *g->offset * g->variables;
    for (int i = 0; i < n; i++) bytes += list[i].bytes;
    return bytes;
}

void ct__graph_pack(const ct_graph *graph, void *image)
{
    ct_graph      *g = (ct_graph *)(uintptr_t)graph; /* list_arrays is for both directions; nothing is changed here */
    char          *to = image;
    array          list[ARRAYS];
    const uint64_t flags = flags_of(g);
    const int      n = list_arrays(g, list);
    memcpy(to, &flags, 8);
    to += 8;
    for (int32_t f = 0; f < g->factors; f++) {
        const ct__factor *k = &g->factor[f];
        memcpy(to, &k->ops, 8);
        to += 8;
        if (flags & HAS_CONTEXT) memcpy(to, &k->context, 8), to += 8;
        if (flags & HAS_MULTIPLIER) memcpy(to, &k->multiplier, 8), to += 8;
    }
    for (int32_t f = 0; f < g->factors; f++) memcpy(to + 4 * (int64_t)f, &g->factor[f].noise, 4);
    if (g->factors % 2) memset(to + 4 * (int64_t)g->factors, 0, 4);
    to += padded(4 * (int64_t)g->factors);
    for (int i = 0; i < n; i++) {
        if (list[i].bytes) memcpy(to, *list[i].at, (size_t)list[i].bytes);
        memset(to + list[i].bytes, 0, (size_t)(padded(list[i].bytes) - list[i].bytes));
        to += padded(list[i].bytes);
    }
}

static const char *unpack_factors(ct_graph *g, const char *from)
{
    uint64_t flags;
    int64_t  var = 0, z = 0;
    memcpy(&flags, from, 8);
    from += 8;
    for (int32_t f = 0; f < g->factors; f++) {
        ct__factor *k = &g->factor[f];
        *k = (ct__factor){.multiplier = 1, .var = var, .z = z};
        memcpy(&k->ops, from, 8);
        from += 8;
        if (flags & HAS_CONTEXT) memcpy(&k->context, from, 8), from += 8;
        if (flags & HAS_MULTIPLIER) memcpy(&k->multiplier, from, 8), from += 8;
        var += k->ops->arity;
        z += ct_factor_z_size(k->ops);
    }
    for (int32_t f = 0; f < g->factors; f++) memcpy(&g->factor[f].noise, from + 4 * (int64_t)f, 4);
    return from + padded(4 * (int64_t)g->factors);
}

ct_status ct__graph_unpack(ct_graph *g, const void *image, ct_err *err)
{
    array     list[ARRAYS];
    const int n = list_arrays(g, list);
    int       ok = 1;
    g->factor = ct__zalloc(g->factors, sizeof *g->factor);
    g->offset = ct__zalloc(g->variables, sizeof *g->offset);
    for (int i = 0; i < n && ok; i++) ok = (*list[i].at = malloc((size_t)CT_MAX(1, list[i].bytes))) != NULL;
    if (!ok || !g->factor || !g->offset) {
        ct__graph_drop(g);
        return ct__no_memory(err, "factors", g->factors);
    }
    const char *from = unpack_factors(g, image);
    for (int i = 0; i < n; i++) {
        if (list[i].bytes) memcpy(*list[i].at, from, (size_t)list[i].bytes);
        from += padded(list[i].bytes);
    }
    for (int64_t v = 0, at = 0; v < g->variables; v++) {
        g->offset[v] = at;
        at += ct_kind_size(g->kind[v]);
    }
    return CT_OK;
}

void ct__graph_drop(ct_graph *g)
{
    array     list[ARRAYS];
    const int n = list_arrays(g, list);
    for (int i = 0; i < n; i++) {
        free(*list[i].at);
        *list[i].at = NULL;
    }
    free(g->factor);
    free(g->offset);
    g->factor = NULL;
    g->offset = NULL;
    /* what is brought back has room for its elements and no more */
    g->kind_capacity = g->fixed_capacity = g->offset_capacity = g->variables;
    g->initial_capacity = g->size;
    g->factor_capacity = g->factors;
    g->var_capacity = g->var_used;
    g->z_capacity = g->z_used;
    g->names.text_capacity = g->names.text_used;
    g->names.at_capacity = g->names.count;
    for (int64_t c = 0; c < g->feature_names.count; c++) g->feature[c].capacity = g->feature[c].count;
}
