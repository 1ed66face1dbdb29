/* theta.h: blocks, the pieces in which parameters are learned.
 *
 * A block is a symmetric matrix of dimension d, dim (dim + 1) / 2 parameters: a full covariance, or, with d = 1, a
 * variance. Both are treated alike: a number is a matrix of one row, whose eigenvalue it is. Coordinates of models
 * refer to blocks; tied ones to the same, so a block counts once however many models use it. Blocks, bounds and
 * windows are all in units of the rows (U^-1 Sigma U^-1); only values.c and jacobian.c, which go between blocks and
 * tables, multiply by them. */
#ifndef CT_THETA_PRIVATE_H
#define CT_THETA_PRIVATE_H

#include <covtune/theta.h>

#define CT__BLOCK_MAX (CT_NOISE_DIM_MAX * CT_NOISE_DIM_MAX)
#define CT__PACKED_MAX (CT_NOISE_DIM_MAX * (CT_NOISE_DIM_MAX + 1) / 2)

typedef struct {
    int     dim;          /* of the matrix; 1 for a variance          */
    double  lower, upper; /* of its eigenvalues, as variances in units */
    int32_t first;        /* of its parameters                        */
    int32_t uses;         /* places in models that refer to it        */
    int32_t model;        /* the first of them ...                    */
    int     coordinate;   /* ... and which; -1: the model as a whole  */
} ct__block;

/* block[c] is the block of coordinate c, -1: frozen. A model learned as isotropic or full has one, block[0]. */
typedef struct {
    int64_t       name, rows; /* into text; rows: dim names of 16 bytes, or -1 */
    int           dim;
    ct_noise_kind kind;       /* as it is learned, if it is */
    int32_t       block[CT_NOISE_DIM_MAX];
    double        unit[CT_NOISE_DIM_MAX]; /* a sigma per row */
} ct__theta_model;

struct ct_theta {
    ct__theta_model *model;
    ct__block       *block, *spare; /* room for a block per coordinate of the table, and one model more */
    int32_t         *map;           /* scratch of renumbering */
    char            *text;
    int64_t          text_size;
    int32_t          models, blocks, room, count;
    int32_t          beyond; /* no model from this one on is learned */
    double           spread;
};

static inline int ct__packed(int dim) { return dim * (dim + 1) / 2; }

/* What entry (r, s) of a covariance is divided by to be in units. */
static inline double ct__unit2(const ct__theta_model *m, int r, int s) { return m->unit[r] * m->unit[s]; }

/* Do all rows have the same unit? */
static inline int ct__one_unit(const ct__theta_model *m)
{
    for (int c = 1; c < m->dim; c++)
        if (m->unit[c] != m->unit[0]) return 0;
    return 1;
}

/* The block of parameter i. */
const ct__block *ct__theta_block_of(const ct_theta *theta, int32_t i);

/* "odom.x", or "odom" for coordinate -1. Returns buf. */
const char *ct__theta_label(const ct_theta *theta, int32_t model, int coordinate, char *buf, size_t size);

/* ---- Matrices as vectors (matrix.c) ---------------------------------------------------------- */

/* x: upper triangle row by row, entries off the diagonal times sqrt 2. X: dim x dim, symmetric to the bit. */
void ct__sym_unpack(int dim, const double *x, double *X);
void ct__sym_pack(int dim, const double *X, double *x);
/* x = V diag(lambda) V'. */
void ct__sym_spectrum(int dim, const double *x, double lambda[CT_NOISE_DIM_MAX], double V[CT__BLOCK_MAX]);
/* X = V diag(lambda) V', symmetric to the bit. */
void ct__sym_recompose(int dim, const double *lambda, const double *V, double *X);
/* x <- V' x V, or back, V x V'. */
void ct__sym_turn(int dim, const double *V, int back, double *x);
/* x <- f(x) = V diag(f(lambda)) V' for f = exp or log. A log of what rounding made negative is that of the largest
 * eigenvalue's rounding. */
void ct__sym_exp(int dim, double *x);
void ct__sym_log(int dim, double *x);
/* x <- D exp(L)[x], the derivative of exp at L = V diag(lambda) V' in direction x; or its inverse. Both are their
 * own transposes. */
void ct__sym_dexp(int dim, const double *lambda, const double *V, int inverse, double *x);

/* ---- The set, reduced to eigenvalues (spread.c) ---------------------------------------------- */

/* What the spread leaves to every eigenvalue, in the space's own numbers: floor <= lambda <= top. */
typedef struct {
    double floor, top;
} ct__window;

void ct__block_bounds(const ct__block *block, ct_space space, double *lower, double *upper);

/* The window of the projection of q, that of the minimum of g's. `forgive` leaves the spread alone where it is
 * exceeded by no more than the rounding of a matrix' eigenvalues. */
ct__window ct__window_project(const ct_theta *theta, ct_space space, const double *q, int forgive);
ct__window ct__window_minimise(const ct_theta *theta, ct_space space, const double *g);

/* How far off eigenvalues of a matrix are whose largest is `norm` in absolute value, computed or as stored; a number
 * is not off. */
double ct__block_rounding(int dim, double norm);

#endif
