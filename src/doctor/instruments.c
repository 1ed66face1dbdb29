/* instruments.c: odometry whose noise is not in what it measures.
 *
 * Commanded velocities have no noise; the body does not follow them exactly, and the truth has noise of its own.
 * Measured on true values, their scale would come out too small: noise in the regressor. True on measured values it is
 * right,
 *
 *     true = c measured - d (rate of measured) + noise,
 *
 * so derivatives by scale, delay and drift are taken from measured values instead of predicted ones, and the fit is by
 * least squares: deviations of a body that starts and stops are no outliers. White noise of
 * sigma in measured values makes differences of neighbours of sqrt 2 sigma at least. Where residuals are much larger
 * than that, their noise cannot be in the measured values. */
#include "doctor/doctor.h"

#include <math.h>

#define EXACT 0.5 /* differences of measured neighbours over residuals, below which noise is not in measured values */

static void measured_value(const ct__exam *e, const ct__sensor *s, const ct__sample *q, double *w)
{
    ct__value_of(s, ct_graph_factor(e->sequence[q->sequence].seq->graph, q->factor).z, w);
}

/* Is sample b the step after a? */
static int follows(const ct__sample *a, const ct__sample *b) { return a->sequence == b->sequence && b->t > a->t; }

int ct__is_exact(const ct__exam *e, const ct__sensor *s, int32_t count, const int32_t *from, const double *residual)
{
    double *d = ct__zalloc(count, sizeof *d), *r = ct__zalloc(count, sizeof *r);
    int     exact = 0;
    for (int i = 0; d && r && s->odometry && i < s->rows; i++) {
        int64_t n = 0;
        if (s->still[i]) continue;
        for (int32_t k = 1; k < count; k++) {
            const ct__sample *a = &s->sample[from[k - 1]], *b = &s->sample[from[k]];
            double            v[CT_ROWS_MAX], w[CT_ROWS_MAX];
            if (!follows(a, b)) continue;
            measured_value(e, s, a, v);
            measured_value(e, s, b, w);
            d[n] = w[i] - v[i];
            r[n++] = residual[(int64_t)k * s->rows + i];
        }
        if (n < CT__SAMPLES_LEAST) continue;
        exact |= ct__robust_sigma(n, d) / sqrt(2) < EXACT * ct__robust_sigma(n, r);
    }
    free(d);
    free(r);
    return exact;
}

void ct__use_measured(const ct__exam *e, const ct__sensor *s, const ct__fault *f, int32_t count,
                      const int32_t *from, double *D)
{
    const int p = s->params;
    for (int32_t k = 0; k < count; k++) {
        const ct__sample *q = &s->sample[from[k]];
        const ct__sample *a = k && follows(&s->sample[from[k - 1]], q) ? &s->sample[from[k - 1]] : q;
        const ct__sample *b = k + 1 < count && follows(q, &s->sample[from[k + 1]]) ? &s->sample[from[k + 1]] : q;
        const double      root = sqrt(ct_graph_factor(e->sequence[q->sequence].seq->graph, q->factor).multiplier);
        double            v[CT_ROWS_MAX], w[CT_ROWS_MAX], u[CT_ROWS_MAX], *row = D + (int64_t)k * s->rows * p;
        measured_value(e, s, a, v);
        measured_value(e, s, b, w);
        measured_value(e, s, q, u);
        for (int j = 0; j < p; j++) {
            const ct__fault_kind kind = s->param[j].kind;
            const double         t = q->t - e->sequence[q->sequence].t0;
            for (int i = 0; i < s->rows; i++) {
                const double rate = b->t > a->t ? (w[i] - v[i]) / (b->t - a->t) : 0;
                if (kind == CT__FAULT_DELAY) row[i * p + j] = rate / root;
                if (kind == CT__FAULT_DRIFT) row[i * p + j] = rate * t / root;
                if (kind == CT__FAULT_SCALE)
                    row[i * p + j] = i == s->param[j].row ? u[i] / (root * f->scale[i] * f->scale[i]) : 0;
            }
        }
    }
}
