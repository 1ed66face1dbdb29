/* sequence_state.c: what the likelihood has of a sequence in memory, and when.
 *
 * Sequences in memory are always open: each has its graph with the truth, its solver and its values. Sequences of a
 * cache (data/store.h) are open while a thread works on them. Graphs are then made again from the sequence, solvers are
 * of a pool that equal structures share, and values are in the file. */
#include "graph/graph.h"
#include "likelihood/likelihood.h"
#include "solve/solve.h"
#include "sparse/sparse.h"

#include <math.h>

#define TIMES   8   /* a sequence with its graphs and solver takes about so many times the memory of the sequence */
#define SOLVERS 4   /* one part in so many of the memory that is left is for solvers that nobody uses             */
#define MODEL   640 /* bytes of a noise model with its name                                                     */

/* ---- The plan -------------------------------------------------------------------------------- */

static ct_status reserve(ct_likelihood *l, int64_t bytes, const char *what, ct_err *err)
{
    CT_TRY(ct__store_reserve(l->store, bytes, l->options.jobs, what, err));
    l->reserved += bytes;
    return CT_OK;
}

ct_status ct__likelihood_plan(ct_likelihood *l, ct_err *err)
{
    const int64_t m = l->m;
    int64_t       fixed = 0;
    l->store = ct__store_of(l->sequence[0].seq);
    if (!l->store) return CT_OK;
    for (int32_t i = 0; i < l->count; i++)
        fixed += (int64_t)sizeof *l->sequence + (m + m * m + m) * (int64_t)sizeof(double) + MODEL +
                 l->sequence[i].seq->graph->factors + l->sequence[i].seq->graph->variables;
    CT_TRY(ct__store_spill(l->store, &l->spill, err));
    CT_TRY(reserve(l, fixed, "results of the likelihood", err));
    CT_TRY(reserve(l, TIMES * l->options.jobs * ct__store_largest(l->store), "graphs and solvers of the likelihood",
                   err));
    const int64_t limit = CT_MAX(1, ct__store_room(l->store) / SOLVERS);
    CT_TRY(reserve(l, limit, "solvers of the likelihood", err));
    for (int32_t i = 0; i < l->count; i++)
        for (int k = 0; k < 3; k++)
            l->sequence[i].place[k] = ct__spill_take(l->spill, l->sequence[i].size * (int64_t)sizeof(double));
    return ct__solver_pool_new(limit, 0, 0, &l->pool, err);
}

/* ---- Solvers --------------------------------------------------------------------------------- */

static void drop_solver(const ct_likelihood *l, ct__likelihood_sequence *s)
{
    if (!s->solver) return;
    if (l->pool) ct__solver_pool_give(l->pool, s->solver);
    else ct_solver_free(s->solver);
    s->solver = NULL;
}

ct_status ct__likelihood_build_solver(const ct_likelihood *l, ct__likelihood_sequence *s, ct_err *err)
{
    drop_solver(l, s);
    free(s->item_of);
    s->item_of = NULL;
    CT_TRY(l->pool ? ct__solver_pool_take(l->pool, s->graph, &s->solver, err)
                   : ct_solver_new(s->graph, NULL, &s->solver, err));
    const int64_t edges = s->solver->system->edges;
    s->item_of = ct__zalloc(edges, sizeof *s->item_of);
    if (!s->item_of) return ct__no_memory(err, "factors", edges);
    ct__map_edges(s->solver, s->item_of);
    s->steps = ct__likelihood_steps(s->graph);
    return CT_OK;
}

/* ---- Open and close -------------------------------------------------------------------------- */

void ct__likelihood_release(const ct_likelihood *l, ct__likelihood_sequence *s)
{
    drop_solver(l, s);
    if (s->graph != s->whole) ct_graph_free(s->graph);
    ct_graph_free(s->whole);
    s->graph = s->whole = NULL;
    void *const owned[] = {s->truth, s->item_of, s->first};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
    s->truth = NULL;
    s->item_of = NULL;
    s->first = s->start = s->x = s->other = NULL;
}

static ct_status read_values(const ct_likelihood *l, const ct__likelihood_sequence *s, int which, double *to,
                             ct_err *err)
{
    return ct__spill_read(l->spill, s->place[which], to, s->size * (int64_t)sizeof *to, err);
}

ct_status ct__likelihood_build(const ct_likelihood *l, ct__likelihood_sequence *s, ct_err *err)
{
    CT_TRY(ct__add_truth(s, err));
    ct__likelihood_put_times(l, s->whole);
    s->graph = s->whole;
    if (s->left_out) CT_TRY(ct__graph_copy_without(s->whole, s->left_out, &s->graph, err));
    CT_TRY(ct__likelihood_build_solver(l, s, err));
    s->first = ct__zalloc(4 * s->size, sizeof *s->first);
    if (!s->first) return ct__no_memory(err, "values", s->size);
    s->start = s->first + s->size;
    s->x = s->start + s->size;
    s->other = s->x + s->size;
    return CT_OK;
}

ct_status ct__likelihood_open(const ct_likelihood *l, int32_t i, ct_err *err)
{
    ct__likelihood_sequence *s = &l->sequence[i];
    if (!l->store) return CT_OK;
    CT_TRY(ct_sequence_acquire(s->seq, err));
    ct_status status = ct__likelihood_build(l, s, err);
    if (status == CT_OK) status = read_values(l, s, 0, s->first, err);
    if (status == CT_OK) status = read_values(l, s, s->start_at, s->start, err);
    if (status == CT_OK) status = read_values(l, s, s->x_at, s->x, err);
    if (status == CT_OK) return CT_OK;
    ct__likelihood_release(l, s);
    ct_sequence_release(s->seq);
    return status;
}

ct_status ct__likelihood_close(const ct_likelihood *l, int32_t i, int solved, ct_err *err)
{
    ct__likelihood_sequence *s = &l->sequence[i];
    ct_status                status = CT_OK;
    if (!l->store) return CT_OK;
    if (solved) {
        s->x_at = s->start_at == 1 ? 2 : 1;
        status = ct__spill_write(l->spill, s->place[s->x_at], s->x, s->size * (int64_t)sizeof *s->x, err);
    }
    ct__likelihood_release(l, s);
    ct_sequence_release(s->seq);
    return status;
}

/* ---- Values ---------------------------------------------------------------------------------- */

ct_status ct__likelihood_keep_first(ct_likelihood *l, ct__likelihood_sequence *s, ct_err *err)
{
    s->start_at = s->x_at = 0;
    if (l->store) return ct__spill_write(l->spill, s->place[0], s->first, s->size * (int64_t)sizeof *s->first, err);
    memcpy(s->start, s->first, (size_t)s->size * sizeof *s->start);
    return CT_OK;
}

ct_status ct__likelihood_copy_x(const ct_likelihood *l, int32_t i, double *record, int out, ct_err *err)
{
    ct__likelihood_sequence *s = &l->sequence[i];
    const int64_t            bytes = s->size * (int64_t)sizeof *record;
    if (!l->store) {
        memcpy(out ? record : s->x, out ? s->x : record, (size_t)bytes);
        return CT_OK;
    }
    if (out) return read_values(l, s, s->x_at, record, err);
    s->x_at = s->start_at == 1 ? 2 : 1;
    return ct__spill_write(l->spill, s->place[s->x_at], record, bytes, err);
}

void ct_likelihood_accept(ct_likelihood *l)
{
    for (int32_t i = 0; i < l->count; i++) {
        ct__likelihood_sequence *s = &l->sequence[i];
        if (!s->took_part || !isfinite(s->value)) continue;
        if (l->store) s->start_at = s->x_at;
        else memcpy(s->start, s->x, (size_t)s->size * sizeof *s->start);
    }
}

void ct_likelihood_start_over(ct_likelihood *l)
{
    for (int32_t i = 0; i < l->count; i++) {
        ct__likelihood_sequence *s = &l->sequence[i];
        if (l->store) s->start_at = 0;
        else memcpy(s->start, s->first, (size_t)s->size * sizeof *s->start);
    }
}
