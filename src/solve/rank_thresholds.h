/* rank_thresholds.h: when a direction z counts as undetermined, in batch solves and in the smoother. */
#ifndef CT_RANK_THRESHOLDS_H
#define CT_RANK_THRESHOLDS_H

/* Of |J z|^2 to z'diag(H)z: after all refinements; ... */
#define UNDETERMINED         1e-22
/* ... without more refinement. Rings of 100,000 poses gave at most 4e-19 for an undetermined direction. */
#define CLEARLY_UNDETERMINED 1e-27
#define CLEARLY_DETERMINED   1e-15
#define REFINEMENTS          4
/* Refinement ends if the response stays above NOT_FALLING of the last one and above TOO_FAR times UNDETERMINED: three
 * more refinements at that rate do not reach it. */
#define NOT_FALLING          0.5
#define TOO_FAR              1e3

#endif
