/* solve.h: private structures of the solvers: the graph laid out for linearising, and the state of a solve. */
#ifndef CT_SOLVE_PRIVATE_H
#define CT_SOLVE_PRIVATE_H

#include "base/base.h"
#include "base/team.h"
#include "function/function.h"

#include <covtune/solve.h>

/* A factor with its indices resolved. */
typedef struct {
    const double *z;
    const void   *context;
    int64_t       at[CT_ARITY_MAX]; /* where its variables lie in the values */
    int32_t       noise;
    int32_t       edge;             /* in the sparse system, -1 if every variable is fixed */
    uint8_t       moves;            /* bit i: variable i is estimated */
    uint8_t       cut;              /* its edge is not a block a variable: see variable_blocks.c */
    uint8_t       multiplied;       /* its covariance is not its model's: CT__SCALED_*           */
} ct__item;

enum { CT__SCALED_NOT, CT__SCALED_BY_MULTIPLIER, CT__SCALED_BY_FUNCTION, CT__SCALED_BY_MATRIX };

/* Functions of features at the factors: function_scales.c. */
typedef struct {
    double        *u;           /* per item and output: u before cuts                  */
    int64_t        u_capacity;
    int            outputs;     /* numbers an item in `u`                              */
    double        *inverse;     /* per item and row: 1 / s                             */
    ct__scaling     *matrix;      /* per item: T of matrix functions; NULL: there are none */
    ct__spectrum  *spectrum;    /* per item: of U before cuts                          */
    double        *kept;        /* per item: layers of networks (solver->keep_layers)  */
    int64_t        kept_capacity;
    int            stride;      /* numbers an item in `kept`                           */
    int32_t       *of;          /* per item: the model it was evaluated for, plus 1    */
    unsigned char *key, *fresh; /* the functions that u was computed with; room for others */
    size_t         key_size;
    int64_t        key_capacity, fresh_capacity, feature_changes;
} ct__function_cache;

typedef struct ct__many ct__many;

/* Items [first, end) are of one model. */
typedef struct {
    const ct_factor_ops *ops;
    int32_t              first, end;
    ct__many            *many; /* results of a model that evaluates all items at once (many.h); NULL: it does not */
} ct__batch;

/* share.c: what several threads need to linearise one graph. A group is the items of consecutive fronts: no other item
 * adds to their blocks of H. What is added to g and to the diagonal is kept for each item, and added up at the end. */
typedef struct {
    int32_t   groups;
    int32_t  *first_front;  /* per group (+1)                                              */
    int32_t  *first_item;   /* per group (+1), into list                                   */
    int32_t  *list;         /* items, group by group, ascending                            */
    uint8_t  *curved;       /* per group: a symmetric matrix was added                     */
    double   *error;        /* per item                                                    */
    double   *terms;        /* per edge and member: CT_TERMS times its scalars             */
    int64_t  *terms_start;  /* per edge (+1)                                               */
    int64_t  *term;         /* per block of the system and edge with it: its terms         */
    int64_t  *term_start;   /* per block (+1), into term                                   */
} ct__share;

/* Some items of a batch: list[first .. end). */
typedef struct {
    const int32_t *list;
    int32_t        first, end;
    uint8_t       *curved;
} ct__group;

struct ct_solver {
    const ct_graph *graph;
    ct_sparse      *system;
    int32_t         blocks;      /* estimated variables                       */
    int32_t        *block_of;    /* per variable, -1 if fixed                 */
    int32_t        *variable_of; /* per block                                 */
    int32_t        *column;      /* per block (+1): its first scalar in the system */
    /* per block (+1): its first block in the system, which has pieces of variables for blocks (variable_blocks.c) */
    int32_t        *piece;
    int32_t         scalars;
    ct__item       *item;
    ct__batch      *batch;
    int32_t        *factor_of;   /* per item: its factor in the graph         */
    int32_t         items, batches;
    double          least_multiplier; /* of all factors; at most 1            */
    ct__function_cache *functions;    /* NULL: no table had any so far        */
    int             keep_layers; /* of networks, for gradients by their weights */
    int             approximate; /* a model's Jacobians are                   */
    double         *trial;       /* values                                    */
    double         *start, *aside; /* values at the start of a solve; values it may return to */
    double         *dx, *scale, *direction, *newton, *product; /* scalars     */
    uint8_t        *undetermined; /* per variable: CT_UNDETERMINED_* bits    */
    int32_t         undetermined_count;
    int             ready;       /* the undamped system is factored           */
    int             exact;       /* CT_EXACT_*: what the system holds         */
    ct__share      *share;       /* NULL: one thread so far                   */
    void           *of_pool;     /* its place in a pool (solver_pool.h); NULL: it is of none */
};

enum {
    CT_EXACT_NOT,       /* J'J                                                                             */
    CT_EXACT_ASSEMBLED, /* the exact Hessian at the values it was last linearised at                       */
    CT_EXACT_FACTORED   /* and what is factored is that as well, at values no further off than CT_SAME_PLACE */
};
#define CT_SAME_PLACE 1e-10 /* largest |dx|: less than moves a Hessian in its tenth digit */

#define CT_UNDETERMINED_POSITION 1
#define CT_UNDETERMINED_ROTATION 2
#define CT_UNDETERMINED_ANY      3
#define CT_LOST_SHIFT     2 /* the same two bits, this much higher: determined, but lost to rounding */

/* The coordinates of variable i that a model depends on, as bits. */
static inline unsigned ct__depends(const ct_factor_ops *ops, int i)
{
    return ops->depends[i] ? ops->depends[i] : (1u << ct_kind_dim(ops->kind[i])) - 1;
}

/* variable_blocks.c: cuts blocks into pieces. Fills solver->piece; *dim receives the scalars of each piece, for the
 * caller to free, also on failure. */
ct_status ct__cut_pieces(ct_solver *solver, int32_t **dim, ct_err *err);
/* The pieces of a block that lie in `depends`, into member; returns how many. */
int ct__pieces_in(const ct_solver *solver, const int32_t *dim, int32_t block, unsigned depends, int32_t *member);
/* Covariance of blocks a[k] and b[k], to out[k]. */
ct_status ct__covariance(const ct_solver *solver, int64_t count, const int32_t *a, const int32_t *b,
                         double *const out[], ct_err *err);

#define CT__SIDE_MAX (CT_ARITY_MAX * CT_DIM_MAX) /* columns of a factor's Jacobian */
/* edges.c. item_of[e] <- the item of edge e of the system. */
void ct__map_edges(const ct_solver *solver, int32_t *item_of);
/* The batch of an item. */
const ct__batch *ct__batch_of(const ct_solver *solver, int32_t item);
/* out <- the columns of an item's Jacobians, NULL for fixed variables, that its edge has: rows x n. place[k]: index of
 * column k in the factor's perturbation. Returns n, at most CT__SIDE_MAX. */
int ct__edge_jacobian(const ct_factor_ops *ops, double *const J[], double *out, int place[]);

/* Updates noise indices and scales of items: factors may be given others after ct_solver_new, and functions other
 * weights. noise NULL: without functions. */
ct_status ct__refresh_noise(ct_solver *solver, const ct_noise *noise, ct_err *err);
/* function_scales.c: the same for items whose models have functions. */
ct_status ct__refresh_functions(ct_solver *solver, const ct_noise *noise, ct_err *err);
void      ct__function_cache_free(ct__function_cache *cache);
/* T of an item, so that T Sigma_k T' is its model's covariance; 0: it is I. */
int ct__item_scale(const ct_solver *solver, const ct__item *item, ct__scaling *T);
/* m of an item, whose covariance is m times its model's, unless that has a function. Whoever evaluates an item
 * multiplies residual and Jacobians by T (ct__item_scale) before the model is applied. */
double ct__item_multiplier_of(const ct_solver *solver, const ct__item *item);
static inline double ct__item_multiplier(const ct_solver *solver, const ct__item *item)
{
    return item->multiplied ? ct__item_multiplier_of(solver, item) : 1;
}

#define CT_ROUNDING 1e-12 /* relative rounding error of the error's sum, at least */
#define CT_RESIDUAL_ROUNDING    1e-15 /* relative rounding error of a residual by its coordinates             */

/* A solve under way. */
typedef struct {
    ct_solver              *solver;
    const ct_noise         *noise;
    const ct_solve_options *options;
    ct_solve_result        *result;
    double                 *x;     /* the caller's values                 */
    double                  error; /* at x                                */
    double                  start_s;
    /* sqrt(g'H^-1 g) of the last undamped step taken; INFINITY: there was none */
    double                  decrement;
    double                  ratio;      /* of that to the one before; 0: there was none                         */
    double                  least;      /* of all of them                                                         */
    int                     stalls;     /* undamped steps in a row that came no closer than `least`               */
    /* a rule ended the solve, but the distance from the minimum is not small or not known */
    int                     unproven;
    double                  residual_rounding;    /* what a whitened residual is rounded by at the most, in sigmas */
    int32_t                 weak_but_determined; /* weak pivots whose directions residuals determine */
} ct__solve_state;

/* linearise.c: H = J'J and g at x, returns the error; the same with the exact H; the error alone; |J z|^2, and J'(J
 * z) in back. Factors that z does not move are skipped. Once the sum exceeds `enough` it is returned
 * incomplete, and back is undefined. */
double ct__linearise(ct_solver *solver, const ct_noise *noise, const double *x);
double ct__linearise_exact(ct_solver *solver, const ct_noise *noise, const double *x);
double ct__error(const ct_solver *solver, const ct_noise *noise, const double *x);
double ct__response(const ct_solver *solver, const ct_noise *noise, const double *x, const double *z, double enough,
                    double *back);
/* g = J'r, summed without rounding, and square[i] = sum_k (J_ki r_k)^2 over the factors that are not flat; `low` is
 * room for as many. */
void ct__gradient_refined(const ct_solver *solver, const ct_noise *noise, const double *x, double *g, double *low,
                          double *square);
/* Parts of the above: a batch, or a group of its items. */
double ct__linearise_items(ct_solver *solver, const ct__batch *batch, const ct_noise *noise, const double *x, int exact,
                           const ct__group *group);
void ct__error_range(const ct_solver *solver, const ct__batch *batch, const ct_noise *noise, const double *x,
                     int32_t first, int32_t end, double *each);

/* share.c. Room for so many threads (0: all processors), where they pay; they are remembered for later calls. Then,
 * with their team, what linearising needs. Without the memory for it, or with models that evaluate all their factors in
 * one call, less is shared; the bits are the same. */
void ct__share_work(ct_solver *solver, int threads);
void ct__share_prepare(ct_solver *solver);
void ct__share_free(ct__share *share);
/* Whether threads linearise now: there is a team, and what it needs. */
int    ct__is_shared(const ct_solver *solver);
double ct__linearise_shared(ct_solver *solver, const ct_noise *noise, const double *x, int exact);
double ct__error_shared(const ct_solver *solver, const ct_noise *noise, const double *x);
/* Where the terms of an edge are kept; they are zeroed. */
static inline double *ct__terms_of(const ct__share *share, int64_t edge)
{
    double *terms = share->terms + share->terms_start[edge];
    memset(terms, 0, (size_t)(share->terms_start[edge + 1] - share->terms_start[edge]) * sizeof *terms);
    return terms;
}

/* y = x o Exp(alpha dx) on every estimated variable; fixed ones are left as they are in y. */
void ct__retract(const ct_solver *solver, const double *x, double alpha, const double *dx, double *y);

/* Whether something is undetermined, given the number of weak pivots of the undamped factor at state->x. If all of
 * them were found determined before, they are not tested again. */
int     ct__solve_is_rank_deficient(ct__solve_state *state, int32_t weak);
/* After ct__solve_is_rank_deficient: returns 1 and stops the solve (rank) if something is undetermined. Pivots lost
 * to rounding do not count: the solve stops unproven, and ct__reach_minimum continues with another method. */
int     ct__solve_singular(ct__solve_state *state);
/* Clears the marks of ct__solve_is_rank_deficient, for a method that continues in another way. */
void    ct__forget_undetermined(ct__solve_state *state);

/* rank_deficiency.c: tests the weak pivots of the undamped factor at x. Returns how many variables are
 * undetermined, and marks them. */
int32_t ct__find_undetermined(ct_solver *solver, const ct_noise *noise, const double *x);
/* The variable that a scalar of the system belongs to. */
int32_t ct__variable_of_scalar(const ct_solver *solver, int32_t scalar);

/* hessian.c: ct_solver_hessian at the values that the last solve ended with, under the same noise: does only what that
 * has not left done. */
ct_status ct__solver_hessian_here(ct_solver *solver, const ct_noise *noise, const double *x, ct_err *err);
/* The scalar of the first pivot of the last factoring that was not positive, -1: none. */
int32_t ct__negative_pivot(const ct_solver *solver);

/* iterate.c: the steps every method is made of, timed and counted. */
double  ct__solve_linearise(ct__solve_state *state, const double *x);
double  ct__solve_linearise_exact(ct__solve_state *state, const double *x);
int32_t ct__solve_factor(ct__solve_state *state, double lambda, const double *scale);
void    ct__solve_step(ct__solve_state *state, double *dx);
double  ct__largest(const double *v, int32_t n); /* max |v_i|; NaN if one is not finite */
/* After an accepted step: 1 if the solve is over, and records why. `before` is the error before it, `step` its largest
 * |dx|, `promised` the decrease that the model predicts. `undamped`: the step solved H dx = -g; else the distance from
 * the minimum is unknown. */
int     ct__solve_converged(ct__solve_state *state, double before, double step, double promised, int undamped);
/* Calls the progress function; 1 if it cancels. */
int     ct__solve_report(ct__solve_state *state, int accepted, double step, double damping);
int     ct__solve_stop(ct__solve_state *state, ct_stop stop); /* records it; returns 1 */
void    ct__solve_accept(ct__solve_state *state, double error); /* x <- trial, where the error is this */
/* Gain ratio: the decrease from state->error to `error` over the predicted one; -1 if either is not finite. A predicted
 * decrease of a whole step (not shortened by damping or radius) below the rounding of the error cannot be checked and
 * is accepted. */
double  ct__solve_gain(const ct__solve_state *state, double error, double promised, int whole);
/* Rounding error of `error`: that of the sum and of each residual. */
double  ct__error_rounding(const ct__solve_state *state, double error);
/* Stops the solve, and returns 1, if the error or the gradient at x is not finite. */
int     ct__solve_not_finite(ct__solve_state *state);
/* After a step that was not taken: whether to stop. `step` and `promised` are the largest |dx| and the model's
 * promise of the least damped step tried from here. A promise below what was asked for is the end (error); so is
 * it, if all steps are exhausted, where rounding would hide what was promised (step); else something is wrong (stuck).
 * `undamped` as above. */
int     ct__solve_given_up(ct__solve_state *state, double step, double promised, int undamped, int exhausted);

/* Levenberg-Marquardt, one step per call, for methods that combine it with other steps. */
typedef struct {
    double lambda, growth;
    int    fresh;                      /* the system is that at x                               */
    int    exact;                      /* the system is the exact Hessian's, not J'J            */
    int    accepted;                   /* the last step was                                     */
    int    regular;                    /* the last system was so without damping                */
    int    rank_deficient;             /* the last system was so without damping                */
    int    tries;                      /* from here                                             */
    double first_step, first_promised; /* of the least damped step tried from here              */
    int    first_undamped;             /* which had no damping at all                           */
} ct__lm;

ct__lm ct__lm_begin(const ct__solve_state *state);
/* Tries one step. 1 if the solve is over. */
int    ct__lm_iterate(ct__solve_state *state, ct__lm *lm);
/* The last thing to do in a solve that ended with such steps: whether something is undetermined. */
void   ct__lm_end(ct__solve_state *state, const ct__lm *lm);

/* gauss_newton.c. In a narrow curved valley (stiff links far from their place) damping bends what would be a rigid
 * motion, and steps are short for ever; shortened undamped steps from the start often do not end there. For methods
 * that are not over after CT_RESTART_AFTER iterations: Gauss-Newton from the start, with three quarters of the
 * iterations that are left. 1 if the solve is over. Else x is where the error is lower, and the system is not that at
 * x. */
#define CT_RESTART_AFTER 30 /* ordinary graphs are done by then */
int ct__restart_undamped(ct__solve_state *state);

/* One file each. They set state->result->stop. */
void ct__gauss_newton(ct__solve_state *state);
void ct__levenberg_marquardt(ct__solve_state *state);
void ct__dogleg(ct__solve_state *state);
void ct__newton(ct__solve_state *state);
/* From where a method stopped to J'r = 0, for approximate Jacobians. */
void ct__polish(ct__solve_state *state);

/* conjugate_gradient.c: for the system J'J at state->x. _begin factors it damped, 0 if that is no good; then _solve:
 * H v = b, v and b apart, returns b'v. They use direction, newton, product and scale. */
int    ct__conjugate_begin(ct__solve_state *state);
double ct__conjugate_solve(ct__solve_state *state, const double *b, double *v);

/* converge.c: the distance from the minimum. Undamped steps in a row that do not bring the decrement below
 * CT_STALLED of the least so far, with the error standing still to this much of itself: rounding moves the values,
 * and not the model. */
#define CT_STALLED      0.9
#define CT_STALLS_MAX   5
#define CT_STANDS_STILL 1e-9
/* of a promise 1/2 g'H^-1 g; INFINITY if that is below zero or NaN */
double ct__decrement(double promised);
/* -g'dx / 2: what the model promises of the undamped step dx */
double ct__promised(const ct_solver *solver);
double ct__distance_allowed(const ct__solve_state *state);
/* What a whole undamped step of that decrement leaves of it. Remembers it for the next one. */
double ct__distance_left(ct__solve_state *state, double decrement, double before, double promised);
/* After a step that was not of that kind. */
void   ct__distance_unknown(ct__solve_state *state);
/* Whether what is called a minimum may be so by rounding alone: a weak pivot, large residuals, or sigmas near the
 * spacing of numbers. */
int    ct__is_rounding_limited(const ct__solve_state *state);
/* The end of a solve that is unproven: undamped steps from x to the minimum, or a stop with the reason. */
void   ct__reach_minimum(ct__solve_state *state);

#endif
