/* covtune/solve.h: the estimate, argmin_x sum_k rho(|R_k r_k(x)|), and its covariance.
 *
 * A ct_solver holds the symbolic analysis of one graph and all memory that solving needs. It is made once, then solves
 * under any noise table, from any start, any number of times, without allocating. It borrows the graph, whose structure
 * must not change while the solver exists. Several solvers of one graph may run in different threads.
 */
#ifndef COVTUNE_SOLVE_H
#define COVTUNE_SOLVE_H

#include <covtune/base.h>
#include <covtune/graph.h>
#include <covtune/noise.h>
#include <covtune/sparse.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ct_solver ct_solver;

/* newton: lm until the minimum is near or progress is slow, then steps with the exact Hessian; lm only if Jacobians are
 * approximate. X(constant, name) */
#define CT_METHOD_LIST(X)                                                                          \
    X(CT_LEVENBERG_MARQUARDT, "lm")                                                                \
    X(CT_GAUSS_NEWTON, "gn")                                                                       \
    X(CT_DOGLEG, "dogleg")                                                                         \
    X(CT_NEWTON, "newton")

typedef enum {
#define X(constant, name) constant,
    CT_METHOD_LIST(X)
#undef X
    CT_METHOD_COUNT
} ct_method;

/* Every stop has a name. X(constant, name, what it means) */
#define CT_STOP_LIST(X)                                                                            \
    X(CT_STOP_NONE, "none", "nothing was solved")                                                   \
    X(CT_STOP_ERROR, "error", "the error no longer decreases")                                     \
    X(CT_STOP_STEP, "step", "the step is smaller than asked for")                                  \
    X(CT_STOP_GRADIENT, "gradient", "the gradient is smaller than asked for")                      \
    X(CT_STOP_ITERATIONS, "iterations", "the limit of iterations is reached")                      \
    X(CT_STOP_STUCK, "stuck", "no step decreases the error")                                       \
    X(CT_STOP_ROUNDING, "rounding", "double precision does not resolve the minimum")               \
    X(CT_STOP_RANK, "rank", "the measurements leave something undetermined")                       \
    X(CT_STOP_NOT_FINITE, "not_finite", "the error is not a finite number")                        \
    X(CT_STOP_CANCELLED, "cancelled", "the caller said stop")

typedef enum {
#define X(constant, name, meaning) constant,
    CT_STOP_LIST(X)
#undef X
    CT_STOP_COUNT
} ct_stop;

const char *ct_method_name(ct_method method);
int         ct_method_find(const char *name);               /* a ct_method, or -1 */
const char *ct_stop_name(ct_stop stop);
const char *ct_stop_meaning(ct_stop stop);
/* 1 for stops at a minimum: error, step, gradient. */
int ct_stop_converged(ct_stop stop);

/* Called after every iteration; return non-zero to cancel. */
typedef struct {
    int    iteration;    /* 0 is the start                                   */
    int    accepted;     /* the step was taken                               */
    double error;        /* at the current values                            */
    double step;         /* largest |dx|                                     */
    double gradient;     /* largest |g|                                      */
    double damping;      /* lambda (lm), trust radius (dogleg), else 0       */
    double seconds;
} ct_progress;
typedef int (*ct_progress_fn)(void *user, const ct_progress *progress);

typedef struct {
    ct_method method;
    int       max_iterations;
    /* Converged when one accepted step reduces the error by less than relative * error or absolute, or no step is
     * accepted and the linear model predicts no larger decrease; or the largest |dx| is below step; or the largest |g|
     * is below gradient. 0: rule not used. With approximate Jacobians (graph.h) full steps follow, until they are below
     * step. */
    double    relative, absolute, step, gradient;
    /* And only if x is within this many standard deviations of the minimum. A few large residuals can satisfy the rules
     * above while many small ones still decrease. The distance is the Newton decrement sqrt(g'H^-1 g) of the last
     * undamped step, times the fraction that such a step leaves. It bounds the distance of every coordinate in its own
     * standard deviation. The limit grows beyond 100 unknowns n, from 1600 on with 2 sqrt(n): it is then per unknown.
     * Farther away the solve continues with undamped steps. 0: not used. Not used with approximate Jacobians, whose
     * J'r is not a gradient. */
    double    distance;
    double    lambda;        /* lm, newton: initial damping, relative to diag(H); 0: none until a step fails */
    double    radius;        /* dogleg: initial trust radius, in scaled units     */
    /* Threads for one large graph (1; 0: all processors; at most 64 are used). Their number changes no bit. Graphs that
     * are solved in less than some ten milliseconds are solved by the caller's thread alone. Linearisation,
     * factorisation, substitution, errors and steps are shared; ordering, analysis and covariances are not. */
    int       threads;
    ct_progress_fn progress; /* may be NULL */
    void          *user;
} ct_solve_options;

ct_solve_options ct_solve_defaults(void);

typedef struct {
    ct_stop stop;
    int     iterations, linearisations, factorisations;
    double  initial_error, final_error;
    double  gradient;                         /* largest |g| at the last linearisation    */
    /* estimated distance from the minimum, in standard deviations; NaN: unknown */
    double  distance;
    double  linearise_s, factor_s, solve_s;   /* linearise; factor; back-substitute       */
    double  seconds;                          /* total                                    */
    int32_t undetermined;                     /* stop == rank: variables left undetermined */
} ct_solve_result;

/* 1 if the estimate can be used as the minimum: it converged (ct_stop_converged), or it stopped for rounding within a
 * hundredth of a standard deviation of the minimum. */
int ct_solve_usable(const ct_solve_result *result);

/* Analyse a graph for solving. options may be NULL: AMD. options->stage is per variable of the graph; fixed ones are
 * not ordered. */
ct_status ct_solver_new(const ct_graph *graph, const ct_sparse_options *options, ct_solver **out, ct_err *err);
void      ct_solver_free(ct_solver *solver);

/* Solve from values x (changed in place; fixed variables stay). The outcome is in *result. The status is not CT_OK only
 * if the noise table does not fit the graph or an option is out of range. Allocates only where a large graph is solved
 * by more threads than before; without that memory fewer threads share less of the work. */
ct_status ct_solver_run(ct_solver *solver, const ct_noise *noise, double *x, const ct_solve_options *options,
                        ct_solve_result *result, ct_err *err);

/* Distance of values x from the nearest minimum, in standard deviations: the larger of the Newton decrement at x and
 * the effect of rounding of the gradient. NaN if a variable is undetermined. Costs about one iteration; does not
 * allocate. Fails as ct_solver_run does. */
ct_status ct_solver_distance(ct_solver *solver, const ct_noise *noise, const double *x, double *distance, ct_err *err);

/* The variables that a solve that stopped for rank left undetermined, as a sentence: "x17 and 3 others: no factor fixes
 * their position". Returns buf. */
const char *ct_solver_undetermined_text(const ct_solver *solver, char *buf, size_t size);
/* 1 if the last solve that stopped for rank found this variable undetermined. */
int ct_solver_undetermined(const ct_solver *solver, int32_t var);

/* Linearise at x and factor the undamped system, for the calls below. CT_E_SINGULAR with the sentence above if a
 * variable is undetermined. After ct_solver_run the calls below use an undamped system as well. */
ct_status ct_solver_linearise(ct_solver *solver, const ct_noise *noise, const double *x, ct_err *err);

/* The same with the exact Hessian of the error instead of J'J: it includes second derivatives of residuals and kernels,
 * as the implicit function theorem requires at a minimum. CT_E_SINGULAR also if it is not positive definite: x is then
 * not a minimum. CT_E_UNSUPPORTED if a model's Jacobians are approximate. Afterwards ct_sparse_step is the Newton step,
 * and covariances are blocks of the exact inverse. */
ct_status ct_solver_hessian(ct_solver *solver, const ct_noise *noise, const double *x, ct_err *err);

/* Covariance of variables var[0..count) (tangent, local frame): out[k] is dim x dim. */
ct_status ct_solver_marginals(const ct_solver *solver, int32_t count, const int32_t var[], double *const out[],
                              ct_err *err);
/* Cross covariance of a and b: out is dim a x dim b. */
ct_status ct_solver_cross(const ct_solver *solver, int32_t a, int32_t b, double *out, ct_err *err);

/* The solver's linear system, and the first scalar of a variable in it (-1: fixed). */
ct_sparse *ct_solver_system(ct_solver *solver);
int32_t    ct_solver_column(const ct_solver *solver, int32_t var);

#ifdef __cplusplus
}
#endif
#endif
