/* thin.c: graphs in which the measurements of a target are apart. */
#include "graph/graph.h"
#include "likelihood/likelihood.h"
#include "solve/solve.h"

#include <math.h>

/* left_out <- 1 where a measurement follows another of its target by less than the model's lag. */
static ct_status choose(const ct_likelihood *l, const ct_sequence *seq, const double *lag, int seconds,
                        uint8_t *left_out, int32_t *count, ct_err *err)
{
    ct__measurement *m = NULL;
    int32_t          n = 0, kept = 0;
    *count = 0;
    const ct_status status = ct__list_measurements(seq, seq->graph, -1, seconds, &m, &n, err);
    for (int32_t k = 0; status == CT_OK && k < n; k++) {
        const int32_t g = m[k].model;
        if (k && g < l->models && lag[g] > 0 && ct__same_target(&m[kept], &m[k]) && m[k].t - m[kept].t < lag[g]) {
            left_out[m[k].factor] = 1;
            ++*count;
        } else {
            kept = k;
        }
    }
    free(m);
    return status;
}

/* Takes back the factors of undetermined variables. Returns how many. */
static int32_t put_back(const ct__likelihood_sequence *s, uint8_t *left_out)
{
    const ct_graph *g = s->seq->graph;
    int32_t         count = 0;
    for (int32_t f = 0; f < g->factors; f++) {
        int loose = 0;
        for (int i = 0; left_out[f] && i < g->factor[f].ops->arity; i++)
            loose |= ct_solver_undetermined(s->solver, g->var_pool[g->factor[f].var + i]);
        count += loose;
        if (loose) left_out[f] = 0;
    }
    return count;
}

static ct_status rebuild(const ct_likelihood *l, ct__likelihood_sequence *s, const uint8_t *left_out, ct_err *err)
{
    if (s->graph != s->whole) ct_graph_free(s->graph);
    s->graph = s->whole;
    if (left_out) CT_TRY(ct__graph_copy_without(s->whole, left_out, &s->graph, err));
    return ct__likelihood_build_solver(l, s, err);
}

static ct_status thin_sequence(const ct_likelihood *l, ct__likelihood_sequence *s, const double *lag, int seconds,
                               ct_err *err)
{
    const double *x = s->took_part && isfinite(s->value) ? s->x : s->first;
    int32_t       count = 0;
    ct_err        why;
    uint8_t      *left_out = ct__zalloc(s->whole->factors, 1);
    ct_status     status = left_out ? choose(l, s->seq, lag, seconds, left_out, &count, err)
                                    : ct__no_memory(err, "factors", s->whole->factors);
    if (status == CT_OK) status = rebuild(l, s, count ? left_out : NULL, err);
    while (status == CT_OK && count > 0) {
        const ct_status found = ct_solver_linearise(s->solver, l->noise, x, &why);
        if (found == CT_OK) break;
        if (found == CT_E_MEMORY) status = ct_fail(err, found, "%s", why.text);
        const int32_t back = put_back(s, left_out);
        count = back ? count - back : 0;
        if (status == CT_OK) status = rebuild(l, s, count ? left_out : NULL, err);
    }
    for (int32_t f = 0; status == CT_OK && count && f < s->whole->factors; f++)
        if (left_out[f]) l->thinned[s->whole->factor[f].noise]++;
    if (!l->store || status != CT_OK || !count) {
        free(left_out);
        left_out = NULL;
    }
    free(s->left_out);
    s->left_out = left_out;
    return status;
}

ct_status ct_likelihood_thin(ct_likelihood *l, const double *lag, ct_err *err)
{
    int seconds = 1;
    CT_TRY(ct__has_times(l, &seconds, err));
    memset(l->thinned, 0, (size_t)l->models * sizeof *l->thinned);
    for (int32_t i = 0; i < l->count; i++) {
        CT_TRY(ct__likelihood_open(l, i, err));
        const ct_status status = thin_sequence(l, &l->sequence[i], lag, seconds, err);
        const ct_status closed = ct__likelihood_close(l, i, 0, status == CT_OK ? err : NULL);
        CT_TRY(status);
        CT_TRY(closed);
    }
    ct_likelihood_start_over(l);
    return CT_OK;
}

int64_t ct_likelihood_factors(const ct_likelihood *l, int32_t model, int64_t *all)
{
    int64_t whole = 0;
    for (int32_t i = 0; i < l->count; i++) {
        const ct_graph *g = l->sequence[i].seq->graph;
        if (model >= 0 && model < g->noise_count) whole += g->noise_use[model].factors;
    }
    if (all) *all = whole;
    return whole - (model >= 0 && model < l->models ? l->thinned[model] : 0);
}
