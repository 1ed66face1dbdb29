/* complete.c: values at which residuals are taken: the truth. Coordinates that it does not know are estimated, with the
 * truth as a measurement of the others, as the likelihood does. */
#include "doctor/doctor.h"
#include "likelihood/likelihood.h"

#include <math.h>

/* Marks what the truth knows in full; 1 if that is all. */
static int take_truth(ct__exam_sequence *s)
{
    const ct_sequence *seq = s->seq;
    const ct_graph    *g = seq->graph;
    int                all = 1;
    for (int32_t v = 0; v < g->variables; v++) {
        const ct_kind kind = (ct_kind)g->kind[v];
        const int     known = seq->truth && ct__known(seq, v) == ct__all_of(kind);
        const double *from = known ? seq->truth + g->offset[v] : g->initial + g->offset[v];
        s->whole[v] = known || g->fixed[v];
        if (s->whole[v]) memcpy(s->x + g->offset[v], from, (size_t)ct_kind_size(kind) * sizeof *from);
        all &= s->whole[v];
    }
    return all;
}

static void free_likelihood_sequence(ct__likelihood_sequence *l)
{
    ct_graph_free(l->whole);
    free(l->truth);
}

/* x <- the minimum of graph and truth. The truth of the rest stays as it is. */
static ct_status estimate(ct__exam *e, ct__exam_sequence *s, ct_err *err)
{
    ct__likelihood_sequence l = {.seq = s->seq};
    ct_likelihood_options   options = ct_likelihood_defaults();
    ct_noise               *noise = NULL;
    ct_solver              *solver = NULL;
    ct_solve_result         result;
    ct_err                  why;
    const int64_t           size = ct_graph_size(s->seq->graph);
    double                 *x = ct__zalloc(size, sizeof *x);
    ct_status               status = x ? CT_OK : ct__no_memory(err, "values", size);
    if (status == CT_OK) status = ct_noise_copy(e->dataset->noise, &noise, err);
    if (status == CT_OK) status = ct__add_truth_models(&l, &options, s->index, noise, err);
    if (status == CT_OK) status = ct__add_truth(&l, err);
    if (status == CT_OK) status = ct_start_values(s->seq, s->seq->truth ? CT_START_TRUTH : CT_START_MEASURED, x, err);
    if (status == CT_OK) status = ct_solver_new(l.whole, NULL, &solver, err);
    if (status == CT_OK) {
        ct_solve_options solve = ct_solve_defaults();
        const ct_status  solved = ct_solver_run(solver, noise, x, &solve, &result, &why);
        if (solved == CT_E_MEMORY) status = ct_fail(err, solved, "%s", why.text);
        const int usable = solved == CT_OK && isfinite(ct_graph_error(s->seq->graph, noise, x));
        for (int32_t v = 0; status == CT_OK && usable && v < s->seq->graph->variables; v++) {
            const int64_t at = s->seq->graph->offset[v];
            if (s->whole[v]) continue;
            memcpy(s->x + at, x + at, (size_t)ct_kind_size((ct_kind)s->seq->graph->kind[v]) * sizeof *x);
            s->whole[v] = 2;
        }
    }
    ct_solver_free(solver);
    ct_noise_free(noise);
    free_likelihood_sequence(&l);
    free(x);
    return status;
}

ct_status ct__exam_complete(ct__exam *e, ct_err *err)
{
    for (int32_t i = 0; i < e->sequences; i++)
        if (!take_truth(&e->sequence[i])) CT_TRY(estimate(e, &e->sequence[i], err));
    return CT_OK;
}
