/* extreme_eigenvalues.h: the ends of the spectrum of a sparse system. */
#ifndef CT_EXTREME_H
#define CT_EXTREME_H

#include "base/base.h"

#include <covtune/sparse.h>

/* The largest, or smallest, l of H v = l S v, to 1e-6 of itself, where that is more than rounding. H is what is
 * assembled, S = diag(scale), all above zero (NULL: the identity). u (scalars) <- sqrt(S) v, |u| = 1: an eigenvector
 * of S^-1/2 H S^-1/2, or a mix of those that share its eigenvalue. For the smallest H must be regular. H stays; what
 * was factored does not. */
ct_status ct__extreme(ct_sparse *sparse, int largest, const double *scale, double *u, double *value, ct_err *err);

#endif
