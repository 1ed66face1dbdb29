/* symmetric.h: small symmetric matrices as vectors, whose Euclidean norm is the Frobenius norm. */
#ifndef CT_SYMMETRIC_H
#define CT_SYMMETRIC_H

#define CT__SYM_DIM_MAX    6
#define CT__SYM_MAX        (CT__SYM_DIM_MAX * CT__SYM_DIM_MAX)
#define CT__SYM_PACKED_MAX (CT__SYM_DIM_MAX * (CT__SYM_DIM_MAX + 1) / 2)

static inline int ct__packed(int dim) { return dim * (dim + 1) / 2; }

/* x: upper triangle row by row, entries off the diagonal times sqrt 2. X: dim x dim, symmetric to the bit. */
void ct__sym_unpack(int dim, const double *x, double *X);
void ct__sym_pack(int dim, const double *X, double *x);
/* x = V diag(lambda) V'. */
void ct__sym_spectrum(int dim, const double *x, double lambda[CT__SYM_DIM_MAX], double V[CT__SYM_MAX]);
/* X = V diag(lambda) V', symmetric to the bit. */
void ct__sym_recompose(int dim, const double *lambda, const double *V, double *X);
/* x <- V' x V, or back, V x V'. */
void ct__sym_rotate(int dim, const double *V, int back, double *x);
/* x <- f(x) = V diag(f(lambda)) V' for f = exp or log. log replaces eigenvalues <= 0, which are due to rounding, by
 * DBL_EPSILON times the largest. */
void ct__sym_exp(int dim, double *x);
void ct__sym_log(int dim, double *x);
/* x <- D exp(L)[x], the derivative of exp at L = V diag(lambda) V' in direction x, or its inverse. Both maps are
 * symmetric. */
void ct__sym_dexp(int dim, const double *lambda, const double *V, int inverse, double *x);
/* (e^a - e^b) / (a - b); e^a where they are equal. */
double ct__exp_difference(double a, double b);

#endif
