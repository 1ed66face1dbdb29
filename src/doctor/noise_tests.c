/* noise_tests.c: errors of rows that correlate, errors that last, and two kinds of measurements in one model.
 *
 * Rows: R is the correlation of whitened errors with the weights of the fit. A full covariance gains -1/2 log det R
 * nats a measurement; N of them give a likelihood ratio, chi-square of n (n - 1) / 2 degrees. Rows and frame are those
 * of noise_rows.c.
 *
 * Errors that last: rho(l) of measurements of one target that are l apart, errors clipped at 3 sigmas. With
 * tau = 1 + 2 sum rho(l), over the lags at which rho is above chance, tau measurements count as one: NEES of an
 * estimator that takes them for independent is up to tau times too large. */
#include "doctor/doctor.h"

#include <math.h>
#include <stdio.h>

#define RHO_ROWS   0.15 /* a smaller correlation does not matter                                 */
#define RHO_LAST   0.15
#define LAGS       64
#define STEPS      2.0  /* an error that lasts for fewer measurements is hardly known at the next */
#define SHARED     0.5  /* of rho: other targets correlate as much where the error is the sensor's */
#define CLIP       3.0
#define GAP        3.0  /* usual times between measurements: a longer one is a gap               */
#define RATIO      1.3  /* of sigmas of two populations                                          */
#define LOOPS      20   /* least number of relative poses that are no odometry                   */

static double whitened(const ct__sensor *s, int32_t k, int i)
{
    return s->fit->e[(int64_t)k * s->rows + i] / s->fit->white[s->sample[k].model][i];
}

/* ---- Errors that last ------------------------------------------------------------------------- */

static double clip(double u) { return fmax(-CLIP, fmin(CLIP, u)); }

/* rho[l] for l = 1 .. LAGS of row i; pairs: of neighbours. */
static void correlate(const ct__sensor *s, const ct__place *p, int i, double *rho, int64_t *pairs)
{
    for (int l = 1; l <= LAGS; l++) {
        double  ab = 0, aa = 0, bb = 0;
        int64_t n = 0;
        for (int32_t k = l; k < s->samples; k++) {
            if (!ct__same_place(&p[k], &p[k - l])) continue;
            const double a = clip(whitened(s, p[k].at, i)), b = clip(whitened(s, p[k - l].at, i));
            ab += a * b, aa += a * a, bb += b * b;
            n++;
        }
        rho[l] = n > 20 && aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : 0;
        if (l == 1) *pairs = n;
        if (l > 1 && rho[l] < 2 / sqrt((double)CT_MAX(1, *pairs))) {
            for (int m = l; m <= LAGS; m++) rho[m] = 0;
            return;
        }
    }
}

/* The mean time between measurements. Several may be at one state: then most are 0. Gaps do not count. */
static double find_spacing(const ct__sensor *s, const ct__place *p, double *room)
{
    int64_t n = 0, pairs = 0;
    double  sum = 0;
    for (int32_t k = 1; k < s->samples; k++) {
        const double d = s->sample[p[k].at].t - s->sample[p[k - 1].at].t;
        if (ct__same_place(&p[k], &p[k - 1]) && d > 0) room[n++] = d;
    }
    const double usual = n ? ct__median(n, room) : 0;
    for (int32_t k = 1; k < s->samples; k++) {
        const double d = s->sample[p[k].at].t - s->sample[p[k - 1].at].t;
        if (ct__same_place(&p[k], &p[k - 1]) && d < GAP * usual) sum += d, pairs++;
    }
    return pairs ? sum / (double)pairs : 0;
}

/* Is the error that of one target? Then measurements of different targets at about the same time do not share it. */
static int is_of_target(const ct__sensor *s, int i, double rho, double spacing)
{
    double  ab = 0, aa = 0, bb = 0;
    int64_t n = 0;
    for (int32_t k = 1; k < s->samples; k++) {
        const ct__sample *x = &s->sample[k - 1], *y = &s->sample[k];
        if (x->sequence != y->sequence || x->target == y->target || fabs(y->t - x->t) > spacing) continue;
        const double a = clip(whitened(s, k - 1, i)), b = clip(whitened(s, k, i));
        ab += a * b, aa += a * a, bb += b * b;
        n++;
    }
    return n >= CT__SAMPLES_LEAST && aa > 0 && bb > 0 && ab < SHARED * rho * sqrt(aa * bb);
}

static ct_status report_lasting(ct__exam *e, const ct__sensor *s, int row, const double *rho, double spacing,
                                ct_err *err)
{
    double tau = 1, steps = LAGS, lag[LAGS + 1];
    for (int l = 1; l <= LAGS; l++) tau += 2 * rho[l];
    for (int l = 0; l <= LAGS; l++) lag[l] = l;
    for (int l = 1; l <= LAGS; l++)
        if (rho[l] < exp(-1)) { /* between the two lags, as an exponential */
            const double before = l > 1 ? rho[l - 1] : 1, after = fmax(rho[l], 0.01);
            steps = l - 1 + (log(before) + 1) / (log(before) - log(after));
            break;
        }
    const double value[] = {rho[1], steps, s->timed ? steps * spacing : NAN, tau}, level[2] = {exp(-1), exp(-1)};
    const double ends[2] = {0, LAGS};
    CT_TRY(ct__report(e, s, row, CT_FINDING_ERRORS_AUTOCORRELATED, 4, value, err));
    CT_TRY(ct__report_evidence(e, "measurements apart", "correlation of errors", LAGS + 1, lag, rho, 2, ends, level,
                               err));
    if (s->odometry || !s->timed || steps < STEPS) return CT_OK; /* no state helps with what is nearly over by then */
    const int each = is_of_target(s, row, rho[1], spacing);
    return ct__report_correction(e, s, -1, each ? CT_CORRECT_LASTING_EACH : CT_CORRECT_LASTING, 1, &value[2], 0, err);
}

/* Does a state describe what lasts already? */
static int has_bias(const ct_noise *noise, const char *sensor)
{
    for (int32_t g = 0; g < ct_noise_count(noise); g++)
        if (ct_noise_get(noise, g)->bias && !strcmp(ct_noise_get(noise, g)->bias->sensor, sensor)) return 1;
    return 0;
}

/* Is row i of the residuals at the truth? At an estimate errors are smooth: what it makes of white ones lasts. A truth
 * of positions is enough for lengths that are measured from the world. */
static int is_at_truth(const ct__sensor *s, int i)
{
    return !s->estimated || (s->tied && s->placed && !ct__row_turns(s, i));
}

static ct_status test_lasting(ct__exam *e, ct__sensor *s, const ct__place *p, ct_err *err)
{
    double best[LAGS + 1] = {1}, room_rho[LAGS + 1] = {1};
    int    row = -1;
    if (s->odometry && s->estimated) return CT_OK;
    for (int i = 0; i < s->rows; i++) {
        int64_t pairs = 0;
        if (s->mute[i] || !is_at_truth(s, i)) continue;
        correlate(s, p, i, room_rho, &pairs);
        const double z = room_rho[1] * sqrt((double)pairs);
        if (pairs < CT__SAMPLES_LEAST || room_rho[1] < RHO_LAST || erfc(z / sqrt(2)) > e->alpha) continue;
        if (row >= 0 && room_rho[1] <= best[1]) continue;
        memcpy(best, room_rho, sizeof best);
        row = i;
    }
    if (row < 0 || has_bias(e->dataset->noise, s->name)) return CT_OK;
    double *room = ct__zalloc(s->samples, sizeof *room);
    if (!room) return ct__no_memory(err, "samples", s->samples);
    const double spacing = find_spacing(s, p, room);
    free(room);
    return report_lasting(e, s, row, best, spacing, err);
}

/* ---- Correlation of rows ---------------------------------------------------------------------- */

static ct_status report_rows(ct__exam *e, const ct__sensor *s, int a, int b, double rho, double gain, ct_err *err)
{
    const double value[] = {rho, gain}, one = 1;
    double       line_x[2] = {-3, 3}, line_y[2] = {-3 * rho, 3 * rho};
    CT_TRY(ct__report(e, s, -1, CT_FINDING_ROWS_CORRELATED, 2, value, err));
    double *x = ct__zalloc(s->samples, sizeof *x), *y = ct__zalloc(s->samples, sizeof *y);
    ct_status status = x && y ? CT_OK : ct__no_memory(err, "samples", s->samples);
    for (int32_t k = 0; status == CT_OK && k < s->samples; k++) x[k] = whitened(s, k, a), y[k] = whitened(s, k, b);
    if (status == CT_OK)
        status = ct__report_evidence(e, s->ops->coordinate[a] ? s->ops->coordinate[a] : "a row, sigmas",
                                     s->ops->coordinate[b] ? s->ops->coordinate[b] : "another row, sigmas",
                                     s->samples, x, y, 2, line_x, line_y, err);
    free(x);
    free(y);
    if (status != CT_OK) return status;
    return ct__report_correction(e, s, -1, CT_CORRECT_FULL, 1, &one, 0, err);
}

/* Samples whose products of two rows count as independent, of errors whose neighbours correlate. */
static double independent(const ct__sensor *s, const ct__place *p)
{
    double most = 0;
    for (int i = 0; i < s->rows; i++) {
        double ab = 0, aa = 0;
        if (s->mute[i]) continue;
        for (int32_t k = 1; k < s->samples; k++) {
            const double a = clip(whitened(s, p[k].at, i)), b = clip(whitened(s, p[k - 1].at, i));
            aa += a * a;
            if (ct__same_place(&p[k], &p[k - 1])) ab += a * b;
        }
        if (aa > 0) most = fmax(most, fmin(0.99, ab / aa));
    }
    return (1 - most * most) / (1 + most * most);
}

static ct_status test_rows(ct__exam *e, ct__sensor *s, const ct__place *p, ct_err *err)
{
    if (ct_dataset_group_of(e->dataset, s->model[0]).kind == CT_NOISE_FULL) return CT_OK;
    const ct__row_correlation c = ct__correlate_rows(s, s->fit->e);
    const double              ratio = 2 * c.gain * c.count * independent(s, p);
    if (c.rows < 2 || fabs(c.rho) < RHO_ROWS) return CT_OK;
    if (ct__chi_squared_tail(ratio, c.rows * (c.rows - 1) / 2.0) > e->alpha) return CT_OK;
    return report_rows(e, s, c.a, c.b, c.rho, c.gain, err);
}

/* ---- Two populations -------------------------------------------------------------------------- */

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Sizes of the errors of a row, in order. */
static double *sort_errors(const ct__sensor *s, int row)
{
    double *e = ct__zalloc(CT_MAX(1, s->samples), sizeof *e);
    for (int32_t k = 0; e && k < s->samples; k++) e[k] = fabs(s->fit->e[(int64_t)k * s->rows + row]);
    if (e) qsort(e, (size_t)s->samples, sizeof *e, compare_doubles);
    return e;
}

/* Quantiles of one population over those of the other. */
static ct_status show_populations(ct__exam *e, const ct__sensor *s, const ct__sensor *loops, int row, double ratio,
                                  ct_err *err)
{
    ct__picture p = {0};
    double     *a = sort_errors(s, row), *b = sort_errors(loops, row);
    ct_status   status = a && b ? CT_OK : ct__no_memory(err, "samples", s->samples);
    for (int32_t k = 0; status == CT_OK && k < loops->samples; k++)
        status = ct__picture_add(&p, a[(int64_t)k * s->samples / loops->samples], b[k], err);
    ct__picture_slope(&p, ratio);
    char        x_label[64], y_label[64];
    const char *unit = s->ops->unit[row] && *s->ops->unit[row] ? s->ops->unit[row] : "1";
    snprintf(x_label, sizeof x_label, "errors of odometry, in order (%.8s)", unit);
    snprintf(y_label, sizeof y_label, "errors of the others, in order (%.8s)", unit);
    if (status == CT_OK) status = ct__picture_report(e, &p, x_label, y_label, err);
    ct__picture_free(&p);
    free(a);
    free(b);
    return status;
}

/* Sigmas of relative poses of one model, of neighbours and of others. The logarithm of a robust sigma of N samples has
 * the standard error 1.17 / sqrt(N), 1.65 times that of a standard deviation. */
static ct_status test_populations(ct__exam *e, const ct__sensor *s, ct_err *err)
{
    const ct__sensor *loops = NULL;
    double            most = 0;
    int               row = 0;
    for (int32_t i = 0; i < e->sensors; i++)
        if (e->sensor[i].loops && e->sensor[i].fit && !strcmp(e->sensor[i].name, s->name)) loops = &e->sensor[i];
    if (!loops || loops->samples < LOOPS) return CT_OK;
    for (int i = 0; i < s->rows; i++) {
        const double ratio = log(loops->fit->sigma[0][i] / s->fit->sigma[0][i]);
        const double error = 1.17 * sqrt(1.0 / s->samples + 1.0 / loops->samples);
        if (erfc(fabs(ratio) / error / sqrt(2)) < e->alpha && fabs(ratio) > fabs(most))
            most = ratio, row = i;
    }
    if (fabs(most) < log(RATIO)) return CT_OK;
    const double all = (double)(s->all + loops->all), value[] = {exp(most), 100 * (double)loops->all / all};
    CT_TRY(ct__report(e, s, -1, CT_FINDING_TWO_POPULATIONS, 2, value, err));
    return show_populations(e, s, loops, row, exp(most), err);
}

ct_status ct__test_noise(ct__exam *e, ct__sensor *s, ct_err *err)
{
    ct__place    *p = ct__order_by_target(s);
    ct_status status = p ? CT_OK : ct__no_memory(err, "samples", s->samples);
    if (status == CT_OK) status = test_rows(e, s, p, err);
    if (status == CT_OK) status = test_lasting(e, s, p, err);
    if (status == CT_OK && s->odometry) status = test_populations(e, s, err);
    free(p);
    return status;
}
