/* consistency.h: chi-square and NEES of an estimate. */
#ifndef CT_CONSISTENCY_H
#define CT_CONSISTENCY_H

#include "evaluate/evaluate.h"

/* Chi-square of an estimate with that error, and its degrees; nees is NaN. */
ct_consistency ct__fit(const ct_graph *graph, double error);

/* Sets nees and nees_degrees at x. They stay as they are where the system is singular, or nothing of the truth is
 * known. */
ct_status ct__nees(const ct_sequence *seq, const ct_noise *noise, ct_solver *solver, const double *x,
                   ct_consistency *out, ct_err *err);

#endif
