/* method_lm.c: bounded Levenberg-Marquardt with numerical Jacobians.
 *
 *     (J'J + mu (D + mean of D)) s = -J'r,  D = diag(J'J),  within bounds and spreads
 *
 * J is of differences of n perturbed runs in one batch. Between Jacobians the model takes the new points in, as
 * Broyden's update does; a step without gain asks for a new Jacobian. Differences are forward, and central where the
 * forward ones' error hides the gradient.
 *
 * Step of differences. With errors e of r (noise, rounding, six digits of output) and second derivatives r'', a forward
 * difference errs by h r'' / 2 + 2 e / h, least at h = 2 sqrt(e / r''), where it is 2 sqrt(e r''). Both are measured
 * along one direction: e by a table of differences of seven points (More and Wild, ECNoise), or by the repeated run if
 * the program has noise; r'' by a second difference. */
#include "tune/search.h"

#include <math.h>

#define TABLE     7     /* points of the table                                     */
#define SPACING   1e-4  /* of them, in log variance                                */
#define CURVATURE 0.3   /* of the second difference                                */
#define MU_FIRST  1e-3
#define MU_MOST   1e6
#define RADIUS    8.0

typedef struct {
    ct__tuner        *t;
    int32_t           n;
    ct__linear_model  model;
    ct__tune_point   *base, **first;
    double           *x, *s, *H, *work;
    double            mu, step, error; /* of differences: step; error of a derivative that it promises */
    int               fresh, central;
    ct_tune_stop      stop;
} lm;

static ct_status begin(lm *d)
{
    const int64_t n = d->n;
    CT_TRY(ct__model_new(d->n, 3 * d->n + 6, &d->model, d->t->err));
    d->x = ct__zalloc(10 * n + 3 * n * n, sizeof *d->x);
    d->first = ct__zalloc(2 * n, sizeof *d->first);
    if (!d->x || !d->first) return ct__no_memory(d->t->err, "parameters", n);
    d->s = d->x + n;
    d->H = d->s + n;
    d->work = d->H + n * n;
    return CT_OK;
}

static void end(lm *d)
{
    ct__model_free(&d->model);
    free(d->x);
    free(d->first);
}

/* Square norm, per row, of the k-th difference of consecutive points. */
static double difference2(const ct__tuner *t, ct__tune_point *const *p, int k)
{
    double sum = 0;
    for (int32_t l = 0; l < t->problem->logs; l++) {
        double own = 0;
        for (int64_t r = 0; !t->problem->log[l].test && r < t->rows[l]; r++) {
            double d = 0, binomial = 1;
            for (int i = 0; i <= k; i++) {
                d += (i % 2 ? -1 : 1) * binomial * p[i]->residual[l][r];
                binomial *= (double)(k - i) / (i + 1);
            }
            own += d * d;
        }
        if (!t->problem->log[l].test) sum += own / (double)(t->rows[l] * t->trains);
    }
    return sum;
}

/* The level of the table at which noise^2 = (k!)^2 / (2k)! mean of squares no longer falls. */
static double table_noise(const ct__tuner *t, ct__tune_point *const *p)
{
    double factor = 1, last = INFINITY;
    for (int k = 1; k < TABLE - 1; k++) {
        double mean = 0;
        factor *= (double)k * k / ((2.0 * k) * (2.0 * k - 1)); /* (k!)^2 / (2 k)! */
        for (int i = 0; i + k < TABLE; i++) mean += difference2(t, p + i, k) / (TABLE - k);
        const double level = factor * mean;
        if (level > 0.25 * last) return level;
        last = level;
    }
    return last;
}

ct_status ct__difference_step(ct__tuner *t, ct__tune_point *from, double *step, double *error)
{
    ct__tune_point *p[TABLE + 2] = {from};
    const int32_t n = t->c.n;
    for (int i = 1; i < TABLE + 2; i++) {
        const double along = i < TABLE ? i * SPACING : i == TABLE ? CURVATURE : -CURVATURE;
        for (int32_t k = 0; k < n; k++) {
            const int sign = k % 2 ? -1 : 1, room = from->x[k] + sign * CURVATURE <= t->c.upper[k] &&
                                                    from->x[k] + sign * CURVATURE >= t->c.lower[k];
            t->c.work[k] = from->x[k] + (room ? sign : -sign) * along / sqrt(n);
        }
        CT_TRY(ct__point_at(t, t->c.work, &p[i]));
    }
    *step = 0.1;
    *error = NAN;
    t->base = from;
    if (ct__points_left(t) < TABLE + 1) return CT_OK;
    CT_TRY(ct__evaluate(t, TABLE + 1, p + 1, CT__TRAIN, t->repeats));
    for (int i = 0; i < TABLE + 2; i++)
        if (t->cancelled || !ct__is_done(p[i])) return CT_OK;
    ct__tune_point *const bend[3] = {p[TABLE], from, p[TABLE + 1]};
    const double second = sqrt(difference2(t, bend, 2)) / (CURVATURE * CURVATURE);
    const double noise = sqrt(fmax(table_noise(t, p), t->noise));
    if (!(second > 0)) return CT_OK;
    *step = fmax(1e-5, fmin(1, 2 * sqrt(noise / second)));
    *error = 0.5 * *step * second + 2 * noise / *step;
    return CT_OK;
}

static void note_stop(lm *d)
{
    if (d->t->cancelled) d->stop = CT_TUNE_STOP_CANCELLED;
    else if (!d->stop && !ct__points_left(d->t)) d->stop = CT_TUNE_STOP_POINTS;
}

static ct_status differentiate(lm *d)
{
    const double step = d->central ? cbrt(d->step * d->step) : d->step;
    CT_TRY(ct__first_points(d->t, d->base, step, d->first));
    if (d->central && !d->t->cancelled) CT_TRY(ct__first_points(d->t, d->base, -step, d->first));
    d->fresh = 1;
    note_stop(d);
    return CT_OK;
}

/* s under damping mu; *size <- its largest entry. Returns the decrease of the model. */
static double solve(lm *d, double *size)
{
    const int32_t n = d->n;
    double mean = 0, decrease = 0;
    for (int32_t i = 0; i < n; i++) mean += d->model.H[i * n + i] / n;
    memcpy(d->H, d->model.H, (size_t)(n * n) * sizeof *d->H);
    for (int32_t i = 0; i < n; i++) d->H[i * n + i] += d->mu * (d->model.H[i * n + i] + mean) + 1e-300;
    ct__bounded_quadratic(&d->t->c, d->H, d->model.g, d->base->x, RADIUS, d->s, d->work);
    *size = 0;
    for (int32_t i = 0; i < n; i++) {
        double row = 0;
        for (int32_t k = 0; k < n; k++) row += d->model.H[i * n + k] * d->s[k];
        decrease -= d->s[i] * (d->model.g[i] + 0.5 * row);
        *size = fmax(*size, fabs(d->s[i]));
    }
    return decrease;
}

/* The end, or central differences where forward ones cannot tell. */
static ct_status converge(lm *d, ct_tune_stop stop)
{
    if (!d->fresh) return differentiate(d);
    if (!d->central) {
        d->central = 1;
        return differentiate(d);
    }
    d->stop = stop;
    return CT_OK;
}

static ct_status advance(lm *d)
{
    const ct_tune_options *o = &d->t->options;
    double size;
    ct__tune_point *p;
    CT_TRY(ct__model_fit(&d->model, d->t, d->base));
    const double predicted = solve(d, &size);
    if (predicted <= fmax(0.1 * o->relative * d->base->loss, 0.3 * d->t->noise_loss))
        return converge(d, d->t->noise_loss > 0 ? CT_TUNE_STOP_NOISE : CT_TUNE_STOP_LOSS);
    if (size <= o->step) return converge(d, d->mu > 1 ? CT_TUNE_STOP_STUCK : CT_TUNE_STOP_STEP);
    for (int32_t i = 0; i < d->n; i++) d->x[i] = d->base->x[i] + d->s[i];
    CT_TRY(ct__point_at(d->t, d->x, &p));
    CT_TRY(ct__evaluate(d->t, 1, &p, CT__TRAIN, d->t->repeats));
    note_stop(d);
    if (d->stop == CT_TUNE_STOP_CANCELLED) return CT_OK;
    const double gain = ct__is_done(p) ? (d->base->loss - p->loss) / predicted : -1;
    if (gain > 1e-3) {
        d->base = p;
        d->fresh = 0;
        d->mu = fmax(1e-9, d->mu * (gain > 0.75 ? 0.1 : gain > 0.25 ? 0.5 : 2));
        return gain < 0.25 && !d->stop ? differentiate(d) : CT_OK;
    }
    if (!d->fresh && !d->stop) return differentiate(d);
    d->mu *= 8;
    if (d->mu > MU_MOST) d->stop = CT_TUNE_STOP_STUCK;
    return CT_OK;
}

static ct_status run(lm *d)
{
    CT_TRY(ct__difference_step(d->t, d->base, &d->step, &d->error));
    d->model.near = CT__NEAR_STEP * d->step;
    note_stop(d);
    if (d->stop) return CT_OK;
    CT_TRY(differentiate(d));
    if (!d->t->cancelled) CT_TRY(ct__find_effects(d->t, d->base, d->first));
    note_stop(d);
    while (!d->stop) {
        CT_TRY(advance(d));
        note_stop(d);
    }
    if (d->stop != CT_TUNE_STOP_STUCK) return CT_OK;
    d->mu = MU_FIRST;
    const double predicted = solve(d, &d->x[0]);
    return ct__note_stuck(d->t, d->base, predicted, d->s);
}

ct_status ct__tune_lm(ct__tuner *t, ct__tune_point *from, ct__tune_point **answer, ct_tune_stop *stop)
{
    lm d = {.t = t, .n = t->c.n, .base = from, .mu = MU_FIRST};
    ct_status status = begin(&d);
    if (status == CT_OK) status = run(&d);
    *answer = d.base;
    *stop = d.stop;
    end(&d);
    return status;
}
