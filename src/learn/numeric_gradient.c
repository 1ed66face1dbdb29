/* numeric_gradient.c: derivatives by finite differences, as in the paper: one perturbed solve per parameter and
 * sequence, warm-started at the solution, in parallel.
 *
 * The residual e is differenced, (e(p + h) - e(p)) / h. This needs no Jacobian of the group's logarithm, whose omission
 * causes an error of up to 10 %. It works with any inner solver, differentiable or not. */
#include "base/parallel.h"
#include "learn/learn.h"
#include "solve/solve.h"

#include <math.h>

typedef struct {
    ct_outer  *outer;
    ct_noise **noise;  /* per parameter: perturbed               */
    double   **A;      /* per sequence: scalars x m              */
    double   **e;      /* per sequence: at the solution          */
    ct_status *status; /* per task                               */
    int       *solves; /* per task: iterations                   */
} numeric;

/* The solver of this thread for sequence i. Tasks are ordered by sequence, so it is seldom rebuilt. */
static ct_status solver_for(ct_outer *o, ct__scratch *scratch, int32_t i, ct_err *err)
{
    if (scratch->solver_of == i) return CT_OK;
    if (scratch->solver) ct__solver_pool_give(o->pool, scratch->solver);
    scratch->solver = NULL;
    scratch->solver_of = -1;
    CT_TRY(ct__solver_pool_take(o->pool, o->inner[i].seq->graph, &scratch->solver, err));
    scratch->solver_of = i;
    return CT_OK;
}

static void perturbed(void *user, int64_t task, int worker)
{
    const numeric  *n = user;
    ct_outer       *o = n->outer;
    const int32_t   i = (int32_t)(task / o->m), j = (int32_t)(task % o->m);
    ct__inner_problem *inner = &o->inner[i];
    ct__scratch    *scratch = &o->scratch[worker];
    if (!n->A[i]) return;
    n->status[task] = solver_for(o, scratch, i, NULL);
    if (n->status[task] != CT_OK) return;
    memcpy(scratch->x, inner->x, (size_t)ct_graph_size(inner->seq->graph) * sizeof *scratch->x);
    const ct_stop stop =
        ct__inner_estimate(o, inner, scratch->solver, n->noise[j], scratch->x, &n->solves[task], &n->status[task]);
    if (n->status[task] != CT_E_MEMORY && !ct_stop_converged(stop)) n->status[task] = CT_E_SINGULAR;
    if (n->status[task] != CT_OK) return;
    ct__inner_residual(o, inner->seq, scratch->solver, scratch->x, scratch->e);
    for (int32_t k = 0; k < inner->scalars; k++)
        n->A[i][(int64_t)k * o->m + j] = (scratch->e[k] - n->e[i][k]) / o->options.step;
}

static ct_status prepare(numeric *n, const double *p, ct_err *err)
{
    ct_outer     *o = n->outer;
    const int64_t m = o->m, tasks = m * o->count;
    double       *q = ct__zalloc(m, sizeof *q);
    n->noise = ct__zalloc(m, sizeof *n->noise);
    n->A = ct__zalloc(o->count, sizeof *n->A);
    n->e = ct__zalloc(o->count, sizeof *n->e);
    n->status = ct__zalloc(tasks, sizeof *n->status);
    n->solves = ct__zalloc(tasks, sizeof *n->solves);
    ct_status status =
        q && n->noise && n->A && n->e && n->status && n->solves ? CT_OK : ct__no_memory(err, "perturbed solves", tasks);
    for (int32_t j = 0; status == CT_OK && j < m; j++) {
        memcpy(q, p, (size_t)m * sizeof *q);
        q[j] += o->options.step;
        status = ct_noise_copy(o->base, &n->noise[j], err);
        if (status == CT_OK) status = ct_theta_apply_unprojected(o->theta, q, n->noise[j], err);
    }
    for (int32_t i = 0; status == CT_OK && i < o->count; i++) {
        const int64_t scalars = o->inner[i].scalars;
        if (!o->inner[i].took_part || !ct__outer_owns(o, i) || !isfinite(o->inner[i].loss)) continue;
        n->A[i] = ct__zalloc(scalars * m, sizeof **n->A);
        n->e[i] = ct__zalloc(scalars, sizeof **n->e);
        if (!n->A[i] || !n->e[i]) status = ct__no_memory(err, "differences", scalars * m);
        else status = solver_for(o, &o->scratch[0], i, err);
        if (status == CT_OK)
            ct__inner_residual(o, o->inner[i].seq, o->scratch[0].solver, o->inner[i].x, n->e[i]);
    }
    free(q);
    return status;
}

static ct_status add_up(const numeric *n, ct_err *err)
{
    ct_outer *o = n->outer;
    for (int32_t i = 0; i < o->count; i++) {
        ct__inner_problem *inner = &o->inner[i];
        if (!n->A[i]) continue;
        for (int64_t t = (int64_t)i * o->m; t < (int64_t)(i + 1) * o->m; t++) {
            if (n->status[t] == CT_E_MEMORY) return ct__no_memory(err, "solvers", 1);
            if (n->status[t] != CT_OK) { /* no derivative: the sequence fails */
                inner->loss = INFINITY;
                inner->stop = CT_STOP_STUCK;
            }
            inner->iterations += n->solves[t];
            inner->solves++;
        }
        if (!isfinite(inner->loss)) continue;
        ct__add_normal(o->m, inner->scalars, n->A[i], n->e[i], inner->matrix, inner->gradient);
        for (int32_t a = 0; a < o->m; a++)
            for (int32_t b = 0; b < a; b++) inner->matrix[(int64_t)a * o->m + b] = inner->matrix[(int64_t)b * o->m + a];
    }
    return CT_OK;
}

ct_status ct__numeric_derivatives(ct_outer *o, const double *p, ct_err *err)
{
    numeric   n = {.outer = o};
    CT_TRY(ct__outer_need_memory(o, "--gradient numeric", err));
    ct_status status = prepare(&n, p, err);
    if (status == CT_OK) {
        ct__parallel(o->scratches, (int64_t)o->count * o->m, perturbed, &n);
        status = add_up(&n, err);
    }
    for (int32_t k = 0; k < o->scratches; k++) {
        if (o->scratch[k].solver) ct__solver_pool_give(o->pool, o->scratch[k].solver);
        o->scratch[k].solver = NULL;
        o->scratch[k].solver_of = -1;
    }
    for (int32_t j = 0; n.noise && j < o->m; j++) ct_noise_free(n.noise[j]);
    for (int32_t i = 0; n.A && n.e && i < o->count; i++) {
        free(n.A[i]);
        free(n.e[i]);
    }
    void *const owned[] = {n.noise, n.A, n.e, n.status, n.solves};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
    return status;
}
