/* covtune/sparse.h: symmetric block systems, solved by elimination on a tree of dense fronts.
 *
 *     H = sum_e J_e' J_e,   g = sum_e J_e' r_e,   (H + lambda D) dx = -g
 *
 * The unknowns are blocks (a pose, a point). An edge e ties a few blocks: it contributes the dense
 * rows J_e. The engine knows nothing else: no factors, no manifolds, no noise.
 *
 * Structure is analysed once (ct_sparse_new): an order of elimination, the elimination tree, its
 * fronts, and where every number goes. After that nothing allocates. H is kept apart from its
 * factor R (R'R = H + lambda D), so one assembly serves many dampings and products with H.
 *
 * A front is a dense matrix over its pivots (eliminated here) and its separator (eliminated in
 * fronts above). What it leaves behind on the separator goes to its parent, and nowhere else:
 * that is what lets the top of the tree be taken off and eliminated again on its own.
 *
 * Vectors are in the caller's order of blocks: block b begins at the sum of the dims before it.
 */
#ifndef COVTUNE_SPARSE_H
#define COVTUNE_SPARSE_H

#include <covtune/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ct_sparse ct_sparse;

/* X(constant, name) */
#define CT_ORDER_LIST(X)                                                                           \
    X(CT_ORDER_AMD, "amd")         /* approximate minimum degree of H's pattern: the default */    \
    X(CT_ORDER_CCOLAMD, "ccolamd") /* the same idea on the edges' pattern, as in iSAM2 */          \
    X(CT_ORDER_NATURAL, "natural") /* as the caller numbered the blocks */

typedef enum {
#define X(constant, name) constant,
    CT_ORDER_LIST(X)
#undef X
    CT_ORDER_COUNT
} ct_order;

const char *ct_order_name(ct_order order);
int         ct_order_find(const char *name); /* a ct_order, or -1 */

typedef struct {
    ct_order       order;
    const int32_t *stage; /* per block, >= 0: blocks of a higher stage are eliminated later; NULL: no wish */
    /* Per edge, the most rows it will have; NULL: unknown. Where a subtree's edges have no more rows than it has
     * unknowns, and it is regular, they are used up by it: nothing is left for its separator, exactly. Saying so
     * spares work, and on long open chains the rounding that would stand in for that nothing. */
    const int32_t *rows;
} ct_sparse_options;

/* Analyse a structure of `blocks` unknowns of dim[b] >= 1 scalars and `edges` edges, edge e tying
 * member[start[e]] .. member[start[e + 1] - 1], all different. Copies what it needs. CT_E_ARGUMENT if
 * blocks or edges are not so, CT_E_LIMIT if the factor would not fit in memory's index range. */
ct_status ct_sparse_new(int32_t blocks, const int32_t dim[], int64_t edges, const int64_t start[],
                        const int32_t member[], const ct_sparse_options *options, ct_sparse **out, ct_err *err);
void      ct_sparse_free(ct_sparse *sparse);

/* What the analysis found. */
typedef struct {
    int32_t scalars, fronts;
    int32_t largest_front;  /* rows of the largest dense matrix        */
    int32_t tree_height;
    int64_t h_nonzeros;     /* stored entries of H's upper triangle, by blocks  */
    int64_t r_nonzeros;     /* entries of R                            */
    double  flops;          /* multiplications and additions to factor */
    int64_t bytes;          /* everything held                         */
} ct_sparse_info;

ct_sparse_info ct_sparse_describe(const ct_sparse *sparse);

/* ---- numbers in ------------------------------------------------------------------------------ */

/* H = 0, g = 0. */
void ct_sparse_clear(ct_sparse *sparse);

/* Add edge e's rows: J[i] is rows x dim[member i] row-major, r has `rows` entries.
 * H += J'J, g += J'r. */
void ct_sparse_add(ct_sparse *sparse, int64_t edge, int rows, const double *const J[], const double *r);

/* Add a symmetric matrix to edge e's blocks of H: K is n x n row-major over its members one after the other (n the
 * sum of their dims). It need not be positive semidefinite; H should be, in the end. Rows of a subtree with such an
 * edge do not count as used up. */
void ct_sparse_add_symmetric(ct_sparse *sparse, int64_t edge, const double *K);

/* g; to read, or to replace before factoring. */
double *ct_sparse_gradient(ct_sparse *sparse);
/* d = diag(H). */
void ct_sparse_diagonal(const ct_sparse *sparse, double *d);
/* y = H x. */
void ct_sparse_multiply(const ct_sparse *sparse, const double *x, double *y);

/* ---- factor and solve ------------------------------------------------------------------------ */

/* Factor H + lambda diag(scale), scale >= 0 per scalar (NULL: ones), and carry -g along.
 * A pivot that elimination has brought below 1e-10 of what it was is *weak* and remembered; one that
 * is no longer positive is weak as well, and its unknown is held at zero. Returns the number of
 * weak pivots. */
int32_t ct_sparse_factor(ct_sparse *sparse, double lambda, const double *scale);

/* How many there were the last time. */
int32_t ct_sparse_weak_count(const ct_sparse *sparse);
/* Weak pivot i (in order of elimination): its scalar index in the caller's order, the direction z,
 * z[scalar] = 1, in which the factored matrix is small, and whether the unknown was held at zero.
 * z and held may be NULL. */
int32_t ct_sparse_weak(ct_sparse *sparse, int32_t i, double *z, int *held);

/* dx of the system factored last: (H + lambda D) dx = -g. Back-substitution only. */
void ct_sparse_step(ct_sparse *sparse, double *dx);

/* X <- (H + lambda D)^-1 X for m right-hand sides at once; X is scalars x m, row-major. Allocates only where m is
 * larger than it has been. */
ct_status ct_sparse_solve(ct_sparse *sparse, double *X, int32_t m, ct_err *err);

/* X <- R^-1 X for m columns at once, R'R = H + lambda D: standard normals in, draws of N(0, (H + lambda D)^-1) out.
 * X is scalars x m, row-major, rows in the caller's order before and after. Unknowns held at zero are zero. Three
 * fifths of a solve. Allocates only where m is larger than it has been. */
ct_status ct_sparse_draw(ct_sparse *sparse, double *X, int32_t m, ct_err *err);

/* Blocks of the inverse of the factored matrix. Block (a[k], b[k]) goes to out[k], dim a x dim b,
 * row-major; a[k] == b[k] gives the marginal. Looks only at the fronts above the blocks asked for,
 * each once for all marginals and pairs that share a front; other pairs cost a path each. */
ct_status ct_sparse_covariance(const ct_sparse *sparse, int64_t count, const int32_t a[], const int32_t b[],
                               double *const out[], ct_err *err);

#ifdef __cplusplus
}
#endif
#endif
