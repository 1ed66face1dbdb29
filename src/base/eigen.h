/* eigen.h: eigenvalues and eigenvectors of small symmetric matrices. */
#ifndef CT_EIGEN_H
#define CT_EIGEN_H

/* A = V diag(lambda) V', n x n row-major; column k of V is the unit eigenvector of lambda[k], and lambda ascends. A
 * must be symmetric and is used up. A diagonal A gives its entries to the bit and a permutation. NaN in, NaN out.
 * Cost: some 10 n^3 multiplications for each of about 6 sweeps. */
void ct__eigen_symmetric(int n, double *A, double *lambda, double *V);

#endif
