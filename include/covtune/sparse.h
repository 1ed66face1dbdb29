/* covtune/sparse.h: symmetric block systems, solved by elimination on a tree of dense fronts.
 *
 *     H = sum_e J_e' J_e,   g = sum_e J_e' r_e,   (H + lambda D) dx = -g
 *
 * The unknowns are blocks (a pose, a point). An edge e connects a few blocks and contributes the dense rows J_e.
 * Factors, manifolds and noise do not occur here.
 *
 * Structure is analysed once (ct_sparse_new): elimination order, elimination tree, fronts, and the place of every
 * number. After that nothing allocates. H is stored apart from its factor R (R'R = H + lambda D), so one assembly
 * serves many dampings and products with H.
 *
 * A front is a dense matrix over its pivots (eliminated here) and its separator (eliminated in fronts above). Its
 * Schur complement on the separator is added to its parent only. So the top of the tree can be removed and eliminated
 * again by itself (smooth.h).
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
    const int32_t *stage; /* per block, >= 0: blocks of a higher stage are eliminated later; NULL: none */
    /* Per edge, the largest number of rows it will have; NULL: unknown. If the edges of a regular subtree have no more
     * rows than it has unknowns, its Schur complement is exactly zero. It is then not computed, which saves work and,
     * on long open chains, rounding. */
    const int32_t *rows;
} ct_sparse_options;

/* Analyse a structure of `blocks` unknowns of dim[b] >= 1 scalars and `edges` edges, edge e tying
 * member[start[e]] .. member[start[e + 1] - 1], all different. Copies its arguments. CT_E_ARGUMENT if they do not
 * satisfy this, CT_E_LIMIT if the factor exceeds the index range. */
ct_status ct_sparse_new(int32_t blocks, const int32_t dim[], int64_t edges, const int64_t start[],
                        const int32_t member[], const ct_sparse_options *options, ct_sparse **out, ct_err *err);
void      ct_sparse_free(ct_sparse *sparse);

/* Results of the analysis. */
typedef struct {
    int32_t scalars, fronts;
    int32_t largest_front;  /* rows of the largest dense matrix        */
    int32_t tree_height;
    int64_t h_nonzeros;     /* stored entries of H's upper triangle, by blocks  */
    int64_t r_nonzeros;     /* entries of R                            */
    double  flops;          /* multiplications and additions to factor */
    int64_t bytes;          /* total memory                            */
} ct_sparse_info;

ct_sparse_info ct_sparse_describe(const ct_sparse *sparse);

/* ---- numbers in ------------------------------------------------------------------------------ */

/* H = 0, g = 0. */
void ct_sparse_clear(ct_sparse *sparse);

/* Add edge e's rows: J[i] is rows x dim[member i] row-major, r has `rows` entries.
 * H += J'J, g += J'r. */
void ct_sparse_add(ct_sparse *sparse, int64_t edge, int rows, const double *const J[], const double *r);

/* Add a symmetric matrix to edge e's blocks of H: K is n x n row-major over its members in order, n the sum of their
 * dims. K may be indefinite; the final H should not be. The Schur complement of a subtree with such an edge is always
 * computed (ct_sparse_options.rows). */
void ct_sparse_add_symmetric(ct_sparse *sparse, int64_t edge, const double *K);

/* g; to read, or to replace before factoring. */
double *ct_sparse_gradient(ct_sparse *sparse);
/* d = diag(H). */
void ct_sparse_diagonal(const ct_sparse *sparse, double *d);
/* y = H x. */
void ct_sparse_multiply(const ct_sparse *sparse, const double *x, double *y);

/* ---- factor and solve ------------------------------------------------------------------------ */

/* Factor H + lambda diag(scale), scale >= 0 per scalar (NULL: ones), with right-hand side -g. A pivot is *weak* if
 * elimination reduced it below 1e-10 of its original value, or if it is not positive; in the latter case its unknown is
 * held at zero. Returns the number of weak pivots. */
int32_t ct_sparse_factor(ct_sparse *sparse, double lambda, const double *scale);

/* Weak pivots of the last factorisation. */
int32_t ct_sparse_weak_count(const ct_sparse *sparse);
/* Weak pivot i (in order of elimination): its scalar index in the caller's order, the direction z,
 * z[scalar] = 1, in which the factored matrix is small, and whether the unknown was held at zero.
 * z and held may be NULL. */
int32_t ct_sparse_weak(ct_sparse *sparse, int32_t i, double *z, int *held);

/* dx of the system factored last: (H + lambda D) dx = -g. Back-substitution only. */
void ct_sparse_step(ct_sparse *sparse, double *dx);

/* X <- (H + lambda D)^-1 X for m right-hand sides at once; X is scalars x m, row-major. Allocates only if m is
 * larger than before. */
ct_status ct_sparse_solve(ct_sparse *sparse, double *X, int32_t m, ct_err *err);

/* X <- R^-1 X for m columns at once, R'R = H + lambda D: standard normals in, draws of N(0, (H + lambda D)^-1) out.
 * X is scalars x m, row-major, rows in the caller's order before and after. Unknowns held at zero are zero. Costs
 * three fifths of a solve. Allocates only if m is larger than before. */
ct_status ct_sparse_draw(ct_sparse *sparse, double *X, int32_t m, ct_err *err);

/* Blocks of the inverse of the factored matrix. Block (a[k], b[k]) goes to out[k], dim a x dim b,
 * row-major; a[k] == b[k] gives the marginal. Visits only the fronts above the requested blocks, each once for all
 * marginals and pairs that share a front; other pairs cost one path to the root each. */
ct_status ct_sparse_covariance(const ct_sparse *sparse, int64_t count, const int32_t a[], const int32_t b[],
                               double *const out[], ct_err *err);

/* log det of the factored matrix: 2 sum log R_kk. NaN if a pivot was not positive. */
double ct_sparse_log_determinant(const ct_sparse *sparse);

/* The joint covariance of the members of every edge, from one sweep over the fronts: as much work as a few
 * factorisations. fn receives the edge and S, n x n row-major over its members in order, n the sum of their dims; S is
 * borrowed until fn returns. Edges come in the order of the tree. */
typedef void (*ct_sparse_edge_fn)(void *user, int64_t edge, int n, const double *S);
ct_status ct_sparse_edge_covariances(const ct_sparse *sparse, ct_sparse_edge_fn fn, void *user, ct_err *err);

#ifdef __cplusplus
}
#endif
#endif
