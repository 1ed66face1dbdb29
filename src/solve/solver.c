/* solver.c: lays a graph out for solving. Everything a solve needs is allocated here. */
#include "graph/graph.h"
#include "noise/noise.h"
#include "solve/many.h"
#include "solve/solve.h"
#include "solve/solver_pool.h"
#include "sparse/sparse.h"


static ct_status number_blocks(ct_solver *s, const ct_graph *graph, ct_err *err)
{
    const int32_t n = graph->variables;
    s->block_of = ct__zalloc(n, sizeof *s->block_of);
    s->variable_of = ct__zalloc(n, sizeof *s->variable_of);
    s->column = ct__zalloc((int64_t)n + 1, sizeof *s->column);
    s->undetermined = ct__zalloc(n, sizeof *s->undetermined);
    if (!s->block_of || !s->variable_of || !s->column || !s->undetermined) return ct__no_memory(err, "variables", n);
    int64_t scalars = 0;
    for (int32_t v = 0; v < n; v++) {
        s->block_of[v] = -1;
        if (graph->fixed[v]) continue;
        s->column[s->blocks] = (int32_t)scalars;
        s->variable_of[s->blocks] = v;
        s->block_of[v] = s->blocks++;
        scalars += ct_kind_dim(graph->kind[v]);
        if (scalars > INT32_MAX) return ct_fail(err, CT_E_LIMIT, "more than %d unknowns", INT32_MAX);
    }
    s->scalars = s->column[s->blocks] = (int32_t)scalars;
    return CT_OK;
}

/* Stable counting sort of factors by model, in order of each model's first appearance. */
static ct_status batch_factors(ct_solver *s, const ct_graph *graph, ct_err *err)
{
    const int32_t n = graph->factors;
    int64_t       capacity = 0;
    int32_t      *batch_of = ct__zalloc(n, sizeof *batch_of);
    s->item = ct__zalloc(n, sizeof *s->item);
    s->factor_of = ct__zalloc(n, sizeof *s->factor_of);
    s->items = n;
    ct_status status = batch_of && s->item && s->factor_of ? CT_OK : ct__no_memory(err, "factors", n);
    for (int32_t f = 0, b = 0; f < n && status == CT_OK; f++) {
        const ct_factor_ops *ops = graph->factor[f].ops;
        if (b >= s->batches || s->batch[b].ops != ops)
            for (b = 0; b < s->batches && s->batch[b].ops != ops;) b++;
        if (b == s->batches) {
            if ((status = ct__grow(&s->batch, &capacity, b + 1, sizeof *s->batch, "measurement models", err)) != CT_OK)
                break;
            s->batch[s->batches++] = (ct__batch){.ops = ops};
            s->approximate = s->approximate || ops->jacobian == CT_JACOBIAN_APPROXIMATE;
        }
        batch_of[f] = b;
        s->batch[b].end++;
    }
    for (int32_t b = 0, first = 0; status == CT_OK && b < s->batches; b++) {
        const int32_t count = s->batch[b].end;
        s->batch[b].first = s->batch[b].end = first;
        first += count;
    }
    for (int32_t f = 0; status == CT_OK && f < n; f++) s->factor_of[s->batch[batch_of[f]].end++] = f;
    free(batch_of);
    return status;
}

/* Fills the items and lists the system's edges: of the estimated variables of each factor the pieces that it depends
 * on. */
static ct_status list_edges(ct_solver *s, const ct_graph *graph, const int32_t *dim, int64_t **out_start,
                            int32_t **out_member, int32_t **out_rows, int64_t *edges, ct_err *err)
{
    const int64_t most = s->piece[s->blocks] == s->blocks ? 1 : CT_DIM_MAX; /* pieces of a variable */
    int64_t      *start = *out_start = ct__zalloc((int64_t)s->items + 1, sizeof *start);
    int32_t      *member = *out_member = ct__zalloc(most * graph->var_used, sizeof *member);
    int32_t      *rows = *out_rows = ct__zalloc(s->items, sizeof *rows);
    if (!start || !member || !rows) return ct__no_memory(err, "factors", s->items);
    *edges = 0;
    for (int32_t k = 0; k < s->items; k++) {
        const ct_factor factor = ct_graph_factor(graph, s->factor_of[k]);
        ct__item       *item = &s->item[k];
        *item = (ct__item){.z = factor.z, .context = factor.context, .edge = -1};
        int64_t end = start[*edges];
        for (int i = 0; i < factor.ops->arity; i++) {
            const int32_t block = s->block_of[factor.var[i]];
            item->at[i] = graph->offset[factor.var[i]];
            if (block < 0) continue;
            item->moves = (uint8_t)(item->moves | 1u << i);
            item->cut = item->cut || s->piece[block + 1] - s->piece[block] > 1;
            end += ct__pieces_in(s, dim, block, ct__depends(factor.ops, i), member + end);
        }
        if (!item->moves) continue;
        item->edge = (int32_t)*edges;
        rows[*edges] = factor.ops->rows;
        start[++*edges] = end;
    }
    return CT_OK;
}

static int32_t find_root(int32_t *up, int32_t b)
{
    while (up[b] != b) b = up[b] = up[up[b]];
    return b;
}

/* One variable of every connected part that is tied to the world (or to a fixed variable) is eliminated last. Then
 * every pivot is the information of a variable given those above it, towards that anchor, and does not shrink with
 * the distance from it, as the information of the far end of a chain would. */
static ct_status stage_anchors(const ct_solver *s, const ct_graph *graph, int32_t **stage, ct_err *err)
{
    int32_t *up = ct__zalloc(s->blocks, sizeof *up); /* disjoint sets, by path halving */
    *stage = ct__zalloc(s->blocks, sizeof **stage);
    if (!*stage || !up) {
        free(up);
        return ct__no_memory(err, "variables", s->blocks);
    }
    for (int32_t b = 0; b < s->blocks; b++) up[b] = b;
    for (int pass = 0; pass < 2; pass++) /* join, then choose; 2 marks the root of a part that has its anchor */
        for (int32_t f = 0; f < graph->factors; f++) {
            const ct_factor factor = ct_graph_factor(graph, f);
            int             tied = factor.ops->absolute;
            int32_t         first = -1;
            for (int i = 0; i < factor.ops->arity; i++) {
                const int32_t block = s->block_of[factor.var[i]];
                if (block < 0) tied = 1;
                else if (first < 0) first = block;
                else if (pass == 0) up[find_root(up, block)] = find_root(up, first);
            }
            if (pass == 0 || !tied || first < 0) continue;
            const int32_t root = find_root(up, first);
            if (!((*stage)[root] & 2)) (*stage)[first] |= 1, (*stage)[root] |= 2;
        }
    for (int32_t b = 0; b < s->blocks; b++) (*stage)[b] &= 1;
    free(up);
    return CT_OK;
}

/* The caller's stages are per variable. */
static ct_status stage_blocks(const ct_solver *s, const int32_t *of_variable, int32_t **stage, ct_err *err)
{
    *stage = ct__zalloc(s->blocks, sizeof **stage);
    if (!*stage) return ct__no_memory(err, "variables", s->blocks);
    for (int32_t b = 0; b < s->blocks; b++) (*stage)[b] = of_variable[s->variable_of[b]];
    return CT_OK;
}

/* From blocks to pieces. */
static ct_status stage_pieces(const ct_solver *s, const int32_t *of_block, int32_t **stage, ct_err *err)
{
    *stage = ct__zalloc(s->piece[s->blocks], sizeof **stage);
    if (!*stage) return ct__no_memory(err, "variables", s->blocks);
    for (int32_t b = 0; b < s->blocks; b++)
        for (int32_t p = s->piece[b]; p < s->piece[b + 1]; p++) (*stage)[p] = of_block[b];
    return CT_OK;
}

static ct_status new_many(ct_solver *s, ct_err *err)
{
    for (int32_t b = 0; b < s->batches; b++)
        if (s->batch[b].ops->eval_many) CT_TRY(ct__many_new(s, &s->batch[b], &s->batch[b].many, err));
    return CT_OK;
}

static ct_status analyse(ct_solver *s, const ct_graph *graph, const ct_sparse_options *options, ct_err *err)
{
    int64_t          *start = NULL, edges = 0;
    int32_t          *member = NULL, *of_block = NULL, *stage = NULL, *rows = NULL, *dim = NULL;
    ct_sparse_options wanted = options ? *options : (ct_sparse_options){.order = CT_ORDER_AMD};
    ct_status         status = batch_factors(s, graph, err);
    if (status == CT_OK) status = ct__cut_pieces(s, &dim, err);
    if (status == CT_OK) status = list_edges(s, graph, dim, &start, &member, &rows, &edges, err);
    if (status == CT_OK)
        status = wanted.stage ? stage_blocks(s, wanted.stage, &of_block, err) : stage_anchors(s, graph, &of_block, err);
    if (status == CT_OK) status = stage_pieces(s, of_block, &stage, err);
    wanted.stage = stage;
    wanted.rows = rows;
    if (status == CT_OK)
        status = ct_sparse_new(s->piece[s->blocks], dim, edges, start, member, &wanted, &s->system, err);
    free(start);
    free(member);
    free(rows);
    free(of_block);
    free(stage);
    free(dim);
    return status;
}

ct_status ct_solver_new(const ct_graph *graph, const ct_sparse_options *options, ct_solver **out, ct_err *err)
{
    *out = NULL;
    ct_solver *s = ct__zalloc(1, sizeof *s);
    if (!s) return ct__no_memory(err, "solver", 1);
    s->graph = graph;
    ct_status status = number_blocks(s, graph, err);
    if (status == CT_OK) status = analyse(s, graph, options, err);
    if (status == CT_OK) status = new_many(s, err);
    if (status == CT_OK) {
        (void)ct__refresh_noise(s, NULL, err);
        s->trial = ct__zalloc(graph->size, sizeof *s->trial);
        s->start = ct__zalloc(graph->size, sizeof *s->start);
        s->aside = ct__zalloc(graph->size, sizeof *s->aside);
        s->dx = ct__zalloc(s->scalars, sizeof *s->dx);
        s->scale = ct__zalloc(s->scalars, sizeof *s->scale);
        s->direction = ct__zalloc(s->scalars, sizeof *s->direction);
        s->newton = ct__zalloc(s->scalars, sizeof *s->newton);
        s->product = ct__zalloc(s->scalars, sizeof *s->product);
        if (!s->trial || !s->start || !s->aside || !s->dx || !s->scale || !s->direction || !s->newton || !s->product)
            status = ct__no_memory(err, "values", graph->size);
    }
    if (status != CT_OK) {
        ct_solver_free(s);
        return status;
    }
    *out = s;
    return CT_OK;
}

void ct_solver_free(ct_solver *s)
{
    if (!s) return;
    ct_sparse_free(s->system);
    ct__share_free(s->share);
    ct__function_cache_free(s->functions);
    for (int32_t b = 0; b < s->batches; b++) ct__many_free(s->batch[b].many);
    void *const owned[] = {s->block_of,  s->variable_of, s->column, s->piece,  s->undetermined, s->item,
                           s->factor_of, s->batch,       s->trial,  s->start,  s->aside, s->dx,
                           s->scale,     s->direction,   s->newton, s->product};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
    free(s);
}

ct_status ct__solver_bind(ct_solver *s, const ct_graph *graph, ct_err *err)
{
    s->graph = graph;
    for (int32_t k = 0; k < s->items; k++) {
        const ct__factor *f = &graph->factor[s->factor_of[k]];
        s->item[k].z = graph->z_pool + f->z;
        s->item[k].context = f->context;
    }
    ct__function_cache_free(s->functions);
    s->functions = NULL;
    for (int32_t b = 0; b < s->batches; b++) {
        if (!s->batch[b].many) continue;
        ct__many_free(s->batch[b].many);
        s->batch[b].many = NULL;
        CT_TRY(ct__many_new(s, &s->batch[b], &s->batch[b].many, err));
    }
    if (graph->variables) memset(s->undetermined, 0, (size_t)graph->variables * sizeof *s->undetermined);
    s->undetermined_count = 0;
    s->keep_layers = s->ready = 0;
    s->exact = CT_EXACT_NOT;
    return ct__refresh_noise(s, NULL, err);
}

int64_t ct__solver_bytes(const ct_solver *s)
{
    const int64_t variables = s->graph->variables, values = s->graph->size;
    return s->system->bytes + s->items * (int64_t)(sizeof *s->item + sizeof *s->factor_of) +
           (4 * variables + 3 * values + 5 * (int64_t)s->scalars) * (int64_t)sizeof(double);
}

ct_sparse *ct_solver_system(ct_solver *s) { return s->system; }

int32_t ct_solver_column(const ct_solver *s, int32_t var)
{
    if (var < 0 || var >= s->graph->variables) return -1;
    return s->block_of[var] < 0 ? -1 : s->column[s->block_of[var]];
}

ct_status ct__refresh_noise(ct_solver *s, const ct_noise *noise, ct_err *err)
{
    s->least_multiplier = 1;
    for (int32_t k = 0; k < s->items; k++) {
        const ct__factor *f = &s->graph->factor[s->factor_of[k]];
        s->item[k].noise = f->noise;
        s->item[k].multiplied = f->multiplier != 1;
        s->least_multiplier = CT_MIN(s->least_multiplier, f->multiplier);
    }
    return noise && ct__noise_functions(noise) ? ct__refresh_functions(s, noise, err) : CT_OK;
}

double ct__item_multiplier_of(const ct_solver *s, const ct__item *item)
{
    return s->graph->factor[s->factor_of[item - s->item]].multiplier;
}
