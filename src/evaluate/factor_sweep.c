/* factor_sweep.c: every factor at an estimate, with the joint covariance of its variables
 * (ct_sparse_edge_covariances). */
#include "evaluate/factor_sweep.h"
#include "graph/whiten.h"
#include "solve/many.h"

#include <assert.h>

#define BLOCK_MAX (CT_ROWS_MAX * CT_DIM_MAX)

typedef struct {
    const ct_solver *solver;
    const ct_noise  *noise;
    const double    *x;
    const uint8_t   *wanted;
    int32_t         *item_of; /* per edge */
    ct__factor_at_fn fn;
    void            *user;
} sweep;

/* f->J <- the Jacobian of an item on the coordinates of its edge; f->r its residual. */
static void evaluate_item(const sweep *s, const ct__batch *batch, int32_t k, ct__factor_at *f)
{
    const ct_factor_ops *ops = f->ops;
    const ct__item      *item = &s->solver->item[k];
    double               space[CT_ARITY_MAX * BLOCK_MAX], *J[CT_ARITY_MAX];
    int                  cols[CT_ARITY_MAX], place[CT__SIDE_MAX];
    for (int i = 0; i < ops->arity; i++) {
        cols[i] = ct_kind_dim(ops->kind[i]);
        J[i] = item->moves >> i & 1 ? space + i * BLOCK_MAX : NULL;
    }
    ct__item_eval(s->solver, batch, k, s->x, f->r, J);
    memcpy(f->raw, f->r, sizeof f->raw);
    ct__apply_scale(&f->scale, ops->rows, f->r, ops->arity, J, cols);
    f->n = ct__edge_jacobian(ops, J, f->J, place);
}

static void visit(void *user, int64_t edge, int n, const double *P)
{
    const sweep   *s = user;
    const int32_t  k = s->item_of[edge];
    const ct__item *item = &s->solver->item[k];
    const ct__batch *batch = ct__batch_of(s->solver, k);
    ct__factor_at  f;
    if (s->wanted && !s->wanted[s->solver->factor_of[k]]) return;
    f.factor = s->solver->factor_of[k];
    f.noise = item->noise;
    f.ops = batch->ops;
    f.model = ct_noise_get(s->noise, item->noise);
    ct__item_scale(s->solver, item, &f.scale);
    f.P = P;
    evaluate_item(s, batch, k, &f);
    assert(f.n == n);
    (void)n;
    s->fn(s->user, &f);
}

ct_status ct__factor_sweep(ct_solver *solver, const ct_noise *noise, const double *x, const uint8_t *wanted,
                           ct__factor_at_fn fn, void *user, ct_err *err)
{
    sweep s = {.solver = solver, .noise = noise, .x = x, .wanted = wanted, .fn = fn, .user = user};
    s.item_of = ct__zalloc(solver->items, sizeof *s.item_of);
    if (!s.item_of) return ct__no_memory(err, "factors", solver->items);
    ct__map_edges(solver, s.item_of);
    ct_status status = ct_solver_linearise(solver, noise, x, err);
    if (status == CT_OK) status = ct_sparse_edge_covariances(solver->system, visit, &s, err);
    free(s.item_of);
    return status;
}
