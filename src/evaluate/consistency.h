/* consistency.h: chi-square and NEES of an estimate. */
#ifndef CT_CONSISTENCY_H
#define CT_CONSISTENCY_H

#include "evaluate/evaluate.h"

/* Chi-square of an estimate with that error, and its degrees; nees is NaN. */
ct_consistency ct__fit(const ct_graph *graph, double error);

/* ct_nees_each into nees and degrees (ct_graph_variables each), and their sums into *out. The sums stay as they are if
 * the system is singular, or no truth is known. deviation: 1: nees_deviation, too. Fails without memory alone. */
ct_status ct__nees(const ct_sequence *seq, const ct_noise *noise, ct_solver *solver, const double *x, int deviation,
                   double *nees, int *degrees, ct_consistency *out, ct_err *err);

#endif
