/* edges.c: from an edge of the system, which is what ct_sparse_edge_covariances visits, to its factor and back. */
#include "solve/solve.h"

void ct__map_edges(const ct_solver *solver, int32_t *item_of)
{
    for (int32_t k = 0; k < solver->items; k++)
        if (solver->item[k].edge >= 0) item_of[solver->item[k].edge] = k;
}

const ct__batch *ct__batch_of(const ct_solver *solver, int32_t item)
{
    int32_t low = 0, high = solver->batches - 1;
    while (low < high) {
        const int32_t middle = (low + high) / 2;
        if (solver->batch[middle].end <= item) low = middle + 1;
        else high = middle;
    }
    return &solver->batch[low];
}

int ct__edge_jacobian(const ct_factor_ops *ops, double *const J[], double *out, int place[])
{
    int n = 0, first = 0, cols[CT_ARITY_MAX];
    for (int i = 0; i < ops->arity; first += cols[i++]) {
        cols[i] = ct_kind_dim(ops->kind[i]);
        for (int c = 0; J[i] && c < cols[i]; c++)
            if (ct__depends(ops, i) >> c & 1) place[n++] = first + c;
    }
    first = 0;
    for (int i = 0, k = 0; i < ops->arity; first += cols[i++])
        for (; k < n && place[k] < first + cols[i]; k++)
            for (int row = 0; row < ops->rows; row++) out[row * n + k] = J[i][row * cols[i] + place[k] - first];
    return n;
}
