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

/* Column j of A of sequence i. */
static void perturb(const numeric *n, int32_t i, int32_t j, ct_solver *solver, ct__scratch *scratch)
{
    ct_outer                *o = n->outer;
    const ct__inner_problem *inner = &o->inner[i];
    const int64_t            task = (int64_t)i * o->m + j;
    memcpy(scratch->x, inner->x, (size_t)ct_graph_size(inner->seq->graph) * sizeof *scratch->x);
    const ct_stop stop =
        ct__inner_estimate(o, inner, solver, n->noise[j], scratch->x, &n->solves[task], &n->status[task]);
    if (n->status[task] != CT_E_MEMORY && !ct_stop_converged(stop)) n->status[task] = CT_E_SINGULAR;
    if (n->status[task] != CT_OK) return;
    ct__inner_residual(o, inner->seq, solver, scratch->x, scratch->e);
    for (int32_t k = 0; k < inner->scalars; k++)
        n->A[i][(int64_t)k * o->m + j] = (scratch->e[k] - n->e[i][k]) / o->options.step;
}

static void perturbed(void *user, int64_t task, int worker)
{
    const numeric *n = user;
    ct_outer      *o = n->outer;
    const int32_t  i = (int32_t)(task / o->m), j = (int32_t)(task % o->m);
    ct__scratch   *scratch = &o->scratch[worker];
    if (!n->A[i]) return;
    n->status[task] = solver_for(o, scratch, i, NULL);
    if (n->status[task] == CT_OK) perturb(n, i, j, scratch->solver, scratch);
}

static int takes_part(const ct_outer *o, int32_t i)
{
    return o->inner[i].took_part && ct__outer_owns(o, i) && isfinite(o->inner[i].loss);
}

static ct_status prepare(numeric *n, const double *p, ct_err *err)
{
    ct_outer     *o = n->outer;
    const int64_t m = o->m, tasks = m * o->count; /* 8 bytes each: the plan of memory has three numbers a parameter */
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
    free(q);
    return status;
}

static ct_status make_room(const numeric *n, int32_t i, ct_err *err)
{
    const int64_t scalars = n->outer->inner[i].scalars, m = n->outer->m;
    n->A[i] = ct__zalloc(scalars * m, sizeof **n->A);
    n->e[i] = ct__zalloc(scalars, sizeof **n->e);
    return n->A[i] && n->e[i] ? CT_OK : ct__no_memory(err, "differences", scalars * m);
}

static void free_room(const numeric *n, int32_t i)
{
    free(n->A[i]);
    free(n->e[i]);
    n->A[i] = n->e[i] = NULL;
}

static ct_status find_residuals(const numeric *n, ct_err *err)
{
    ct_outer *o = n->outer;
    for (int32_t i = 0; i < o->count; i++) {
        if (!takes_part(o, i)) continue;
        CT_TRY(make_room(n, i, err));
        CT_TRY(solver_for(o, &o->scratch[0], i, err));
        ct__inner_residual(o, o->inner[i].seq, o->scratch[0].solver, o->inner[i].x, n->e[i]);
    }
    return CT_OK;
}

/* Gradient and matrix of sequence i from its differences. */
static ct_status add_up(const numeric *n, int32_t i, ct_err *err)
{
    ct_outer *o = n->outer;
    ct__inner_problem *inner = &o->inner[i];
    for (int64_t t = (int64_t)i * o->m; t < (int64_t)(i + 1) * o->m; t++) {
        if (n->status[t] == CT_E_MEMORY) return ct__no_memory(err, "solvers", 1);
        if (n->status[t] != CT_OK) { /* no derivative: the sequence fails */
            inner->loss = INFINITY;
            inner->stop = CT_STOP_STUCK;
        }
        inner->iterations += n->solves[t];
        inner->solves++;
    }
    if (!isfinite(inner->loss)) return CT_OK;
    ct__add_normal(o->m, inner->scalars, n->A[i], n->e[i], inner->matrix, inner->gradient);
    for (int32_t a = 0; a < o->m; a++)
        for (int32_t b = 0; b < a; b++) inner->matrix[(int64_t)a * o->m + b] = inner->matrix[(int64_t)b * o->m + a];
    return CT_OK;
}

/* Sequences of a cache: one after the other on a thread, all parameters while it is open. */
static void differentiate(void *user, int64_t i, int worker)
{
    const numeric     *n = user;
    ct_outer          *o = n->outer;
    ct__inner_problem *inner = &o->inner[i];
    ct_err             err = {0};
    if (ct__inner_open(o, (int32_t)i, worker) != CT_OK) return;
    ct_status status = ct__inner_get(o, (int32_t)i, 1, inner->x, &err);
    if (status == CT_OK) status = make_room(n, (int32_t)i, &err);
    if (status == CT_OK) {
        ct__inner_residual(o, inner->seq, inner->solver, inner->x, n->e[i]);
        for (int32_t j = 0; j < o->m; j++) perturb(n, (int32_t)i, j, inner->solver, &o->scratch[worker]);
        status = add_up(n, (int32_t)i, &err);
    }
    free_room(n, (int32_t)i);
    if (status != CT_OK) ct__outer_tell(o, (int32_t)i, status, &err);
    ct__inner_close(o, (int32_t)i, worker);
}

static int is_wanted(const void *user, int64_t i) { return takes_part(((const numeric *)user)->outer, (int32_t)i); }

static ct_status run(const numeric *n, ct_err *err)
{
    ct_outer *o = n->outer;
    if (o->store) {
        const ct__spread spread = {.comm = o->options.comm,
                                   .owner = o->owner,
                                   .jobs = o->scratches,
                                   .count = o->count,
                                   .task = differentiate,
                                   .user = (void *)(uintptr_t)n,
                                   .wanted = is_wanted};
        return ct__outer_spread_run(o, &spread, err);
    }
    CT_TRY(find_residuals(n, err));
    ct__parallel(o->scratches, (int64_t)o->count * o->m, perturbed, (void *)(uintptr_t)n);
    for (int32_t i = 0; i < o->count; i++)
        if (n->A[i]) CT_TRY(add_up(n, i, err));
    return CT_OK;
}

ct_status ct__numeric_derivatives(ct_outer *o, const double *p, ct_err *err)
{
    numeric   n = {.outer = o};
    ct_status status = prepare(&n, p, err);
    if (status == CT_OK) status = run(&n, err);
    for (int32_t k = 0; k < o->scratches; k++) {
        if (o->scratch[k].solver) ct__solver_pool_give(o->pool, o->scratch[k].solver);
        o->scratch[k].solver = NULL;
        o->scratch[k].solver_of = -1;
    }
    for (int32_t j = 0; n.noise && j < o->m; j++) ct_noise_free(n.noise[j]);
    for (int32_t i = 0; n.A && n.e && i < o->count; i++) free_room(&n, i);
    void *const owned[] = {n.noise, n.A, n.e, n.status, n.solves};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
    return status;
}
