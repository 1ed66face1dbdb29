/* sparse.h: the tree of fronts and its storage.
 *
 * Positions number the blocks in their order of elimination; scalars in that order are called
 * eliminated scalars. A front's pivots are consecutive positions, its separator a sorted list of
 * later ones. Its dense matrix has p pivot rows and columns
 *
 *        pivots   separator   rhs
 *      [  R_pp       R_ps      d_p ]   panel:  p rows x (p + s + 1), row-major, kept
 *      [             U_ss      u_s ]   update: s rows x (s + 1), row-major upper, given to the parent
 *
 * An edge belongs to the front that eliminates its first member, with everything it contributes to H,
 * the separator's part included. So U_ss is the whole information of a subtree on its separator, and
 * positive semidefinite. (Only g is not split: -g is added where its unknown is a pivot, and u_s is the change.)
 *
 * Fronts are numbered children before parents, so a loop is a traversal and nothing recurses.
 */
#ifndef CT_SPARSE_PRIVATE_H
#define CT_SPARSE_PRIVATE_H

#include "base/base.h"
#include "base/team.h"

#include <covtune/sparse.h>
#include <math.h>

/* Rows [from, from + len) of a child's separator are rows [to, to + len) of its parent's matrix. */
typedef struct {
    int32_t from, to, len;
} ct__interval;

/* A block of H: the contribution of the edges of one front to a pair of positions row <= col. Stored rows x cols
 * row-major at h[at]; copied to entry `to` of the front's panel or update. */
typedef struct {
    int64_t at;
    int32_t row, col;
    int32_t to;
    uint8_t rows, cols;
    uint8_t in_update;
} ct__hessian_block;

typedef struct {
    int32_t first, pivots;            /* positions first .. first + pivots - 1            */
    int32_t p, s;                     /* scalars of pivots and separator                  */
    int32_t scalar;                   /* first eliminated scalar of the pivots            */
    int32_t parent;                   /* front, or -1                                     */
    int32_t child, sibling;           /* first child, next child of the same parent; -1   */
    int32_t separators;               /* blocks in the separator                          */
    int32_t intervals, gathers;
    uint8_t update_fed;               /* edges or children add to the update, not only to the panel    */
    uint8_t zero_update;              /* undamped, its update is exactly zero: ct_sparse_options.rows   */
    uint8_t curved;                   /* a symmetric matrix was added to one of its edges               */
    uint8_t whole;                    /* in the last factorisation its update was computed in any case  */
    uint8_t planar_chain;             /* one pose above one pose in a chain in the plane: planar_chain.c */
    uint8_t stack;                    /* a ct__stack: where its update is                               */
    int64_t separator;                /* its positions: separator[separator ...]          */
    int64_t panel, update;            /* first number of each                             */
    int64_t interval;                 /* its first ct__interval, into the parent          */
    int64_t gather;                   /* its first ct__interval: separator scalars <- eliminated scalars */
    int64_t block;                    /* its first ct__hessian_block, sorted; the next front's follow    */
} ct__front;

/* Stacks of updates, which fronts of one kind share. */
typedef enum {
    CT__STACK_SHARED,                 /* of fronts above all branches                     */
    CT__STACK_BRANCH,                 /* of its branch                                    */
    CT__STACK_PART,                   /* of the thread, below the root of a part          */
    CT__STACK_NONE                    /* a place of its own: the root of a part or branch */
} ct__stack;

/* Fronts first .. last: whole subtrees, which no other front but those above them depends on (partition.c). */
typedef struct {
    int32_t first, last;
    int32_t weak;                     /* pivots, in the last factorisation                */
    int32_t branch;                   /* that waits for it, or -1                         */
} ct__part;

/* A front above the parts. */
typedef struct {
    int32_t front;
    int32_t weak;
    int32_t branch;                   /* -1: above all branches                           */
} ct__top_front;

/* Fronts above the parts of a larger subtree: top[first .. last]. */
typedef struct {
    int32_t    first, last;
    int32_t    parts;                 /* in its subtree                                   */
    atomic_int left;                  /* of them, in the factorisation under way          */
} ct__branch;

/* The memory of one thread. */
typedef struct {
    double  *stack;                   /* updates inside of parts                          */
    double  *local;                   /* widest front: gathered separator, pivots         */
    double  *tiles;                   /* a strip of the widest front, packed              */
    int32_t *weak;                    /* where weak pivots are noted                      */
    int32_t  weak_count;
} ct__worker;

struct ct_sparse {
    /* structure */
    int32_t   blocks, scalars, fronts;
    int32_t  *dim;                    /* per block                                        */
    int32_t  *column;                 /* per block (+1): first scalar, caller's order     */
    int32_t  *order;                  /* block at each position                           */
    int32_t  *position;               /* position of each block                           */
    int32_t  *scalar;                 /* per position (+1): first eliminated scalar       */
    int32_t  *front_of;               /* per position                                     */
    ct__front *front;                 /* fronts + 1: the last one only ends the lists     */
    int32_t  *separator;
    ct__interval  *interval, *gather;
    ct__hessian_block *block;                 /* H, front by front                                */
    int64_t   block_count;
    /* edges */
    int64_t   edges;
    int64_t  *edge_start;             /* edges + 1, into member                           */
    int32_t  *member;
    int64_t  *slot_start;             /* edges + 1, into slot                             */
    int64_t  *slot;                   /* pairs i <= j of members: 2 * place in h + flipped */
    /* numbers */
    double   *h;
    int64_t   h_size;
    double   *g;
    double   *panel;
    int64_t   panel_size;
    double   *stack;                  /* updates of all fronts but those inside of parts  */
    int64_t   stack_size;
    double   *diagonal;               /* of H, caller's order                             */
    double   *inverse;                /* 1 / R_kk, eliminated order                       */
    double   *work;                   /* scalars: solution in eliminated order            */
    /* threads */
    int32_t    parts, tops, branches; /* 0, 0, 0: too little work to divide               */
    ct__part  *part;
    ct__top_front *top;
    ct__branch *branch;
    int32_t    workers;               /* at least 1                                       */
    ct__worker *worker;
    int64_t    worker_stack;          /* numbers in the stack of each                     */
    ct__team  *team;                  /* of the call under way; NULL: one thread          */
    int        threads;               /* wanted by calls that have no team                */
    int32_t  *weak;                   /* eliminated scalars of weak pivots; ~scalar where held at zero */
    int32_t   weak_count;
    double    lambda;                 /* damping of the last factoring                    */
    uint8_t   any_zero_update;                /* a front is zero_update                                 */
    uint8_t   curved;                 /* a front is                                       */
    double   *many;                   /* right-hand sides in eliminated order; grows      */
    int64_t   many_capacity;
    int32_t   largest, height;
    double    flops;
    int64_t   bytes;
};

#define CT_WEAK_RATIO 1e-10
#define CT_STRIP      48 /* pivots at a time in large fronts: 48 rows of 8 columns stay in the first cache */

/* Steps of the analysis, in their order; each frees nothing on failure (ct_sparse_free does). */

/* Distinct pairs a < b of blocks that share an edge, as lists: pair[start[a] .. start[a + 1]). */
ct_status ct__pattern(int32_t blocks, int64_t edges, const int64_t edge_start[], const int32_t member[],
                      int64_t **start, int32_t **pair, ct_err *err);
/* order[k] = block eliminated k-th. */
ct_status ct__order(const ct_sparse *sp, const int64_t *start, const int32_t *pair, const ct_sparse_options *options,
                    int32_t *order, ct_err *err);
/* From an order to fronts: tree, counts, supernodes, amalgamation. Changes sp->order to an
 * equivalent one in which each front's pivots are consecutive; fills front, separator. */
ct_status ct__symbolic(ct_sparse *sp, const int64_t *start, const int32_t *pair, ct_err *err);
/* Places for every number: panels, updates, H, intervals, scatters, slots. */
ct_status ct__layout(ct_sparse *sp, const int32_t *edge_rows, ct_err *err);

/* partition.c. Divides the fronts into parts, branches and tops, by the operations of their subtrees; into none if
 * there are few. The division does not depend on the number of threads, so neither do sums that follow it. */
ct_status ct__partition(ct_sparse *sp, ct_err *err);
/* Room for so many threads in sp->worker; fewer if memory is short. At least one after the first call, or an error. */
ct_status ct__sparse_workers(ct_sparse *sp, int threads, ct_err *err);
/* A call that may be inside of another one with a team: begins one in `own` if threads are wanted and pay. Returns the
 * team to use, NULL: none; ct__sparse_leave ends what was begun. */
ct__team *ct__sparse_enter(ct_sparse *sp, ct__team *own);
void      ct__sparse_leave(ct_sparse *sp, ct__team *own);

/* Where a front's update is. */
static inline double *ct__update_of(const ct_sparse *sp, const ct__front *front, const ct__worker *w)
{
    return (front->stack == CT__STACK_PART ? w->stack : sp->stack) + front->update;
}

/* One assembled front as the dense kernels see it: p pivot rows and the s rows that follow them. */
typedef struct {
    double       *A;        /* the panel, p x (p + s + 1)                                              */
    int32_t       p, s;
    const double *original; /* the pivots before any elimination                                       */
    double       *inverse;  /* p: receives 1 / R_kk                                                    */
    double       *tiles;    /* room for CT_STRIP x (p + s + 17)                                        */
    int32_t       scalar;   /* what pivot 0 is called in `weak`                                        */
    int32_t      *weak;     /* room for p more; ~pivot where it is held at zero                        */
    int32_t       weak_count;
    ct__team     *team;     /* threads for a large front; NULL: the caller's alone                     */
} ct__dense;

/* Pivots are factored and the update formed, on top of what U holds if keep; U may be NULL: not wanted. Weak pivots
 * are noted. */
void ct__dense_factor(ct__dense *front, double *U, int keep);
void ct__dense_factor_large(ct__dense *front, double *U, int keep); /* the same in strips and chunks: front_large.c */

/* 1 / R_kk for pivot k of value a, noting it if it is weak; 0 where it is no longer positive: anything below a few
 * units in the last place of what it was is rounding. */
static inline double ct__pivot_inverse(ct__dense *front, int32_t k, double a)
{
    const double before = front->original[k];
    if (a > CT_WEAK_RATIO * before) return 1 / sqrt(a);
    const int positive = a > 4 * 2.3e-16 * before;
    front->weak[front->weak_count++] = positive ? front->scalar + k : ~(front->scalar + k);
    return positive ? 1 / sqrt(a) : 0;
}

/* Adds the update of a child, U s x (s + 1) on its s separator rows, to its parent's panel A (p rows) and update:
 * interval by interval, in any order of rows. Row r of the parent is in the panel if r < p, else in the update, whose
 * columns begin at p. */
typedef struct {
    double *A, *U;
    int32_t p, s;
    int     rhs_only;   /* the child's update is zero except for its right-hand side      */
    int     panel_only; /* of the parent's update only the right-hand side is computed    */
} ct__extend;
void ct__extend_add(const ct__extend *parent, const ct__interval *interval, int32_t intervals, const double *U,
                    int32_t s);
/* Appends (from, to, len), or extends the last interval if both sides continue it. No interval straddles the row
 * `boundary`. */
static inline void ct__append_interval(ct__interval *list, int32_t *count, int32_t from, int32_t to, int32_t len,
                                       int32_t boundary)
{
    ct__interval *last = *count ? &list[*count - 1] : NULL;
    if (last && last->from + last->len == from && last->to + last->len == to && to != boundary) last->len += len;
    else list[(*count)++] = (ct__interval){.from = from, .to = to, .len = len};
}

/* a'b, always in the same order of sums. */
double ct__dot(int32_t n, const double *restrict a, const double *restrict b);

/* The assembled front's pivots are factored and its update formed. `original` holds the pivots as they
 * were before any elimination. Weak pivots are noted. team: for a large front; may be NULL. */
void ct__front_factor(ct_sparse *sp, const ct__front *front, ct__worker *w, int zero_update, const double *original,
                      ct__team *team);

/* front_assemble.c: fills a large front from H, lambda and -g, and adds its children's updates, by the threads of a
 * team, rows by rows; the same sums as factorise.c. */
#define CT_SHARED_FRONT 160 /* rows from which on */
void ct__assemble_shared(ct_sparse *sp, const ct__front *front, const ct__worker *w, double lambda, const double *scale,
                         int zero_update, double *original);

/* Whether a front's update is exactly zero as things stand: its rows are used up, undamped, and rows are all its
 * subtree has. */
static inline int ct__has_zero_update(const ct__front *front) { return front->zero_update && !front->whole; }

/* H <- -H, and back again to the bit: damped by more than its largest eigenvalue it can be factored. */
void ct__sparse_negate(ct_sparse *sp);

/* v <- R^-1 R^-T v with the weak pivots' unknowns held at zero. For one vector, in the caller's order; does not
 * allocate. */
void ct__sparse_correct(ct_sparse *sp, double *v);

/* v <- (R'R)^-1 v, in the caller's order; y holds as many numbers. */
void ct__sparse_solve_one(ct_sparse *sp, double *v, double *y);
/* v <- R^-1 v, the same way. */
void ct__sparse_draw_one(ct_sparse *sp, double *v, double *y);

/* target += factor * source, m numbers. */
void ct__axpy(int32_t m, double factor, const double *restrict source, double *restrict target);

/* One front of R' Y = X, children first: X_p <- R_pp^-T X_p, X_s -= R_ps' X_p; m columns, eliminated order. */
void ct__front_up(const ct_sparse *sp, const ct__front *front, double *X, int32_t m);

/* planar_chain.c: fronts of 3 pivots and 3 separators whose edges and children touch nothing else. planar_chain_factor
 * assembles and factors one; it returns 0, having done nothing, where a pivot is weak. */
int  ct__is_planar_chain(const ct_sparse *sp, const ct__front *front);
int  ct__planar_chain_factor(ct_sparse *sp, const ct__front *front, const ct__worker *w, double lambda,
                             const double *scale);
void ct__planar_chain_solve(const ct_sparse *sp, const ct__front *front, double *x);

/* marginal_covariance.c. Row of position j in the front's matrix, or -1. */
int32_t ct__row_in_front(const ct_sparse *sp, const ct__front *front, int32_t j);
/* S, (p + s)^2 and zero before, <- the front's block of the inverse; parent: that of the parent, NULL at a root.
 * G (p x s) and T (p x (p + s), at least 2 p^2) are scratch. */
void ct__front_inverse(const ct_sparse *sp, const ct__front *front, const double *parent, double *S, double *G,
                       double *T);

#endif
