/* trial.c: is a fault one when it is applied? Derivatives hold near by. Residuals under a fault are computed anew, the
 * truth at the shifted time, and their loss is compared with that under another fault. */
#include "doctor/doctor.h"

#include <math.h>

#define LONG_STEP  5.0  /* standard errors: the loss must fall                            */
#define HALVINGS   6
#define STEPS_NEAR 3.0  /* steps of the states: a delay beyond must be the best of many   */
#define GROSS      15.0 /* sigmas that count at most, where the fit is by least squares   */

/* The loss of a sample under a fault, which still grows far from the minimum; -1: there is none. Errors are in the unit
 * in which the noise is: that of measured values, unless these are exact. */
static double loss(const ct__trial *t, int32_t k, const ct__fault *f)
{
    const ct__sensor *s = t->s;
    double            r[CT_ROWS_MAX], d2 = 0;
    if (!ct__sample_row(t->e, s, &s->sample[t->from[k]], f, r, NULL, NULL)) return -1;
    for (int i = 0; i < s->rows; i++) {
        const double u = r[i] * (s->exact ? 1 : f->scale[i]) / t->fit->scale[t->group[k]][i];
        d2 += u * u;
    }
    return s->exact ? 0.5 * fmin(d2, GROSS * GROSS * s->rows) : sqrt(1 + d2) - 1;
}

/* By how much the loss falls from fault a to b, both applied exactly, over samples that have errors under both.
 * Negative if b leaves half of them without. */
double ct__gain(const ct__trial *t, const ct__fault *a, const ct__fault *b)
{
    double  sum = 0;
    int32_t n = 0;
    for (int32_t k = 0; k < t->count; k++) {
        const double x = loss(t, k, a), y = x < 0 ? -1 : loss(t, k, b);
        if (y < 0) continue;
        sum += x - y;
        n++;
    }
    return 2 * n > t->count ? sum : -INFINITY;
}

/* A long step is halved until the loss falls; 0: it does not. */
int ct__try_step(const ct__trial *t, double ratio, ct__fault *f)
{
    double phi[CT__PARAMS_MAX];
    memcpy(phi, t->fit->phi, sizeof phi);
    for (int i = 0; i < HALVINGS; i++) {
        ct__fault next = *f;
        ct__fault_step(t->s, phi, &next);
        if (ratio < LONG_STEP || ct__gain(t, f, &next) > 0) {
            *f = next;
            return 1;
        }
        ratio /= 2;
        for (int j = 0; j < t->s->params; j++) phi[j] /= 2;
    }
    return 0;
}

/* Is the delay one that the errors really have? Derivatives hold for a few steps. A larger delay must be better than
 * others, each applied exactly. Where headings are an estimate, they follow the odometry: none beyond is believed. No
 * clock drifts by CT__DRIFT_MOST: values of that sensor have nothing to do with the truth. */
int ct__delay_holds(const ct__trial *t, const ct__fault *f)
{
    static const double other[] = {-1, 0, 0.25, 0.5, 0.75, 1.25, 1.5, 2};
    if (fabs(f->drift) >= CT__DRIFT_MOST) return 0;
    if (fabs(f->delay) <= STEPS_NEAR * ct__state_step(t->e)) return 1;
    if (t->s->estimated) return 0;
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        ct__fault g = *f;
        g.delay *= other[i];
        if (ct__gain(t, f, &g) > 0) return 0;
    }
    return 1;
}
