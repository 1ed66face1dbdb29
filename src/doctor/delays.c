/* delays.c: where to look for a delay that is longer than the step between states.
 *
 * Derivatives by a delay hold for a fraction of a step. Beyond it another fault may seem to explain more, as a drift of
 * the clock, and is then fitted to what the delay does. So delays up to REACH steps of either sign are applied exactly
 * to some of the samples, and compared by
 *
 *     L(d) = sum over rows of log sigma_i(d),   sigma_i the robust sigma of the residuals under the delay d,
 *
 * about their median where they place the body in the world: frames are other faults. */
#include "doctor/doctor.h"

#include <math.h>

#define REACH   20   /* steps of the states               */
#define FINE    2    /* trials a step                     */
#define SAMPLES 600
#define BLOCK   50   /* samples that are neighbours       */
#define GAIN    0.1  /* nats a sample                     */
#define LEAST   1e-9 /* of a row that has no errors       */

double ct__state_step(const ct__exam *e)
{
    double  sum = 0;
    int64_t n = 0;
    for (int32_t i = 0; i < e->sequences; i++) {
        const ct__exam_sequence *q = &e->sequence[i];
        for (int32_t b = 0; b < q->bodies.count; b++) {
            const int32_t first = q->first[b], last = q->first[b + 1] - 1;
            if (last > first) sum += q->t[q->order[last]] - q->t[q->order[first]], n += last - first;
        }
    }
    return n ? sum / (double)n : 1;
}

/* Samples in motion, of training sequences, in blocks that are spread over all. */
static int32_t take_samples(const ct__exam *e, const ct__sensor *s, int32_t *from)
{
    int32_t n = 0, moving = 0, seen = 0;
    for (int32_t k = 0; k < s->samples; k++) moving += !s->sample[k].rest && e->sequence[s->sample[k].sequence].train;
    const int32_t every = CT_MAX(1, (moving + SAMPLES - 1) / SAMPLES);
    for (int32_t k = 0; k < s->samples && n < SAMPLES; k++) {
        if (s->sample[k].rest || !e->sequence[s->sample[k].sequence].train) continue;
        if (seen++ / BLOCK % every == 0) from[n++] = k;
    }
    return n;
}

/* L of a delay; NAN: too many samples have no residual. */
static double loss_of(const ct__exam *e, const ct__sensor *s, int32_t count, const int32_t *from, double delay,
                      double *r)
{
    const int  absolute = s->tied && s->ops->arity == 1;
    double    *room = r + (int64_t)SAMPLES * CT_ROWS_MAX, sum = 0;
    int32_t    n = 0;
    ct__fault  f = s->fault;
    f.delay = delay;
    for (int32_t k = 0; k < count; k++)
        n += ct__sample_row(e, s, &s->sample[from[k]], &f, r + (int64_t)n * CT_ROWS_MAX, NULL, NULL);
    if (n < CT__SAMPLES_LEAST || 2 * n < count) return NAN;
    for (int i = 0; i < s->rows; i++) {
        for (int32_t k = 0; k < n; k++) room[k] = r[(int64_t)k * CT_ROWS_MAX + i];
        const double middle = absolute && !ct__row_turns(s, i) ? ct__median(n, room) : 0;
        for (int32_t k = 0; k < n; k++) room[k] = r[(int64_t)k * CT_ROWS_MAX + i] - middle;
        sum += log(fmax(LEAST, ct__robust_sigma(n, room)));
    }
    return sum;
}

ct_status ct__scan_delay(const ct__exam *e, const ct__sensor *s, double *delay, ct_err *err)
{
    const double step = ct__state_step(e) / FINE;
    double      *r = ct__zalloc((int64_t)SAMPLES * (CT_ROWS_MAX + 1), sizeof *r), least = INFINITY;
    int32_t     *from = ct__zalloc(SAMPLES, sizeof *from), count = 0;
    int          best = 0;
    ct_status    status = r && from ? CT_OK : ct__no_memory(err, "samples", SAMPLES);
    *delay = NAN;
    if (status == CT_OK) count = take_samples(e, s, from);
    const double none = status == CT_OK ? loss_of(e, s, count, from, 0, r) : NAN;
    for (int k = -REACH * FINE; k <= REACH * FINE && isfinite(none); k++) {
        const double loss = loss_of(e, s, count, from, k * step, r);
        if (loss < least) least = loss, best = k;
    }
    if (best && least < none - GAIN) *delay = best * step;
    free(r);
    free(from);
    return status;
}
