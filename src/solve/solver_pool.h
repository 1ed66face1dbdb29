/* solver_pool.h: solvers for many graphs, of which those of equal structure share solvers.
 *
 * Structure is what the analysis depends on: kinds of variables, which are fixed, models of the factors and their
 * variables. It is compared itself, not by its digest alone. A solver that is taken is bound to its graph: its numbers
 * are those of a new one. So a thousand graphs of one structure need as many solvers as there are threads. */
#ifndef CT_SOLVER_POOL_H
#define CT_SOLVER_POOL_H

#include "solve/solve.h"

typedef struct ct__solver_pool ct__solver_pool;

/* limit, most: bytes and number of solvers that nobody uses, the longest unused leave first; 0: all stay. own: solvers
 * stay with their graph, and keep what they know of it (functions of features); equal structures share nothing. */
ct_status ct__solver_pool_new(int64_t limit, int most, int own, ct__solver_pool **out, ct_err *err);
void      ct__solver_pool_free(ct__solver_pool *pool); /* with all solvers that were given back */
/* A solver of the graph, until it is given back. Any thread may call these. */
ct_status ct__solver_pool_take(ct__solver_pool *pool, const ct_graph *graph, ct_solver **out, ct_err *err);
void      ct__solver_pool_give(ct__solver_pool *pool, ct_solver *solver);
/* Bytes of the largest solver so far. */
int64_t   ct__solver_pool_largest(ct__solver_pool *pool);

/* solver.c: the solver is one of a graph of equal structure from now on. */
ct_status ct__solver_bind(ct_solver *solver, const ct_graph *graph, ct_err *err);
int64_t   ct__solver_bytes(const ct_solver *solver);

#endif
