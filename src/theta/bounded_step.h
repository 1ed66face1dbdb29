/* bounded_step.h: a damped quadratic step inside the feasible set of theta. */
#ifndef CT_THETA_BOUNDED_STEP_H
#define CT_THETA_BOUNDED_STEP_H

#include <covtune/theta.h>

typedef struct {
    const ct_theta *theta;
    int32_t         m;
    double         *p;             /* where the step begins                                */
    double         *g, *B, *L, *d; /* rotated gradient and matrix; Cholesky factor; step   */
    double         *low, *high;    /* limits of d for each rotated coordinate              */
    double         *unit;
    int8_t         *active, *held;
} ct__bounded_step;

ct_status ct__bounded_step_new(const ct_theta *theta, ct__bounded_step *step, ct_err *err);
void      ct__bounded_step_free(ct__bounded_step *step);
/* The quadratic model of a function at p (log space, in the set). */
void ct__bounded_step_at(ct__bounded_step *step, const double *p, const double *gradient, const double *matrix);
/* trial <- the end of the step with damping mu >= 0; its largest change of a coordinate, and the decrease that
 * the model predicts. 0: the damped matrix is not positive definite. */
int ct__bounded_step_try(ct__bounded_step *step, double mu, double *trial, double *change, double *decrease);
/* An estimate of the decrease still possible: the sum of the predicted decreases along single coordinates. */
double ct__bounded_step_remaining(const ct__bounded_step *step);

#endif
