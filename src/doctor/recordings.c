/* recordings.c: do the faults of recordings differ?
 *
 * phi is fitted in CT__PARTS parts of each recording, at equal numbers of samples, with v_ih its value in part h of
 * recording i and w_ih = 1/C, C the variance of v if errors were independent. One-way analysis of variance, with m_i
 * the mean of a recording weighted by w, W_i = sum_h w_ih, and m the mean of all, or 0:
 *
 *     F = [sum_i W_i (m_i - m)^2 / a] / [sum_ih w_ih (v_ih - m_i)^2 / b],     ICC = (F - 1) / (F - 1 + parts)
 *
 * with a the number of recordings, less one where m is fitted, and b = (parts - 1) x recordings. The intraclass
 * correlation ICC is what recordings differ by, of all that parts differ by. An error that wanders looks like another
 * fault in each recording, and like others again in its parts; a standard error from one recording, which is a few
 * lifetimes of such an error long, does not show that. A part has CT__SAMPLES_LEAST samples or more: the sigma of
 * fewer, beside a dozen parameters, is far too small now and then, and such a part would outweigh the others.
 *
 * A fault that recordings have in common may differ between them: by chi-square of their standard errors, and with an
 * ICC of ALIKE. One that is none in the mean is believed if F passes the level, about 0, and ICC is ALONE. */
#include "doctor/fault_table.h"

#include <math.h>

#define CAUTION 0.02 /* of the level, where many small samples are tested together                  */
#define ALIKE   0.3  /* least intraclass correlation of parts of recordings                         */
#define ALONE   0.4  /* of a fault that is none in the mean, for which nothing else speaks            */

void ct__by_recording_free(ct__by_recording *b)
{
    free(b->recording);
    free(b->fault);
    free(b->error);
}

/* ---- Analysis of variance -------------------------------------------------------------------- */

/* Sums over recordings of one parameter. */
typedef struct {
    int recordings;
    double weight, first, second; /* sums of W_i, W_i m_i, W_i m_i^2 */
    double within;                /* sum of w_ih (v_ih - m_i)^2      */
    double effect;                /* sum of squared effects, in sigmas */
} variance;

static void add_recording(variance *a, const double v[CT__PARTS], const double plain[CT__PARTS], int32_t samples)
{
    double weight = 0, mean = 0;
    for (int h = 0; h < CT__PARTS; h++) {
        if (!(plain[h] > 0) || !isfinite(plain[h]) || !isfinite(v[h])) return;
        weight += 1 / (plain[h] * plain[h]);
        mean += v[h] / (plain[h] * plain[h]);
    }
    mean /= weight;
    for (int h = 0; h < CT__PARTS; h++) a->within += pow((v[h] - mean) / plain[h], 2);
    a->recordings++;
    a->weight += weight;
    a->first += weight * mean;
    a->second += weight * mean * mean;
    a->effect += weight * mean * mean / samples;
}

static double within(const variance *a) { return a->within / ((CT__PARTS - 1) * a->recordings); }

/* F about the mean of recordings, or about 0. */
static double variance_ratio(const variance *a, int about_zero)
{
    const int degrees = a->recordings - !about_zero;
    if (degrees < 1) return 0;
    const double between = (a->second - (about_zero ? 0 : a->first * a->first / a->weight)) / degrees;
    return between / fmax(within(a), 1e-300);
}

static double intraclass(double f) { return f > 1 ? (f - 1) / (f - 1 + CT__PARTS) : 0; }

/* Of every parameter: of those in use, beyond f; with `screen` of those that are not, beside those in use. */
static ct_status analyse(ct__table *all, int screen, const ct__fit *fit, const ct__fault *f,
                         variance out[CT__PARAMS_MAX], ct_err *err)
{
    const int params = all->s->params;
    ct__table t = {.e = all->e, .s = all->s};
    ct_status status = ct__table_new(&t, err);
    memset(out, 0, CT__PARAMS_MAX * sizeof *out);
    for (int32_t i = 0; status == CT_OK && i < all->e->recordings; i++) {
        double v[CT__PARAMS_MAX][CT__PARTS], plain[CT__PARAMS_MAX][CT__PARTS];
        int32_t samples = 0;
        t.recording = i;
        for (int h = 0; status == CT_OK && h < CT__PARTS; h++) {
            ct__fit own = *fit;
            own.e = own.weight = NULL;
            memset(own.plain, 0, sizeof own.plain);
            t.part = h + 1;
            ct__table_fill(&t, f);
            samples += t.count;
            if (t.count >= CT__SAMPLES_LEAST) status = ct__table_regress(&t, screen, &own, err);
            ct__fit_free(&own);
            for (int j = 0; j < params; j++) {
                v[j][h] = fit->use[j] ? own.phi[j] : own.alone[j];
                plain[j][h] = own.plain[j];
            }
        }
        for (int j = 0; status == CT_OK && j < params; j++)
            if (screen ? !fit->use[j] : fit->use[j]) add_recording(&out[j], v[j], plain[j], samples);
    }
    ct__table_free(&t);
    return status;
}

ct_status ct__choose_by_recording(ct__table *all, ct__fit *fit, const ct__fault *f, int *found, ct_err *err)
{
    const ct__sensor *s = all->s;
    variance a[CT__PARAMS_MAX];
    int best = -1;
    double least = CAUTION * all->e->alpha;
    *found = 0;
    if (all->e->recordings < 2 || all->e->options.brief) return CT_OK;
    CT_TRY(analyse(all, 1, fit, f, a, err));
    for (int j = 0; j < s->params; j++) {
        const ct__fault_kind kind = s->param[j].kind;
        const int n = a[j].recordings;
        const double ratio = variance_ratio(&a[j], 1);
        if (fit->use[j] || (kind != CT__FAULT_DELAY && kind != CT__FAULT_BIAS && kind != CT__FAULT_SCALE)) continue;
        if (!ct__table_open(s, j) || n < 2 || intraclass(ratio) < ALONE) continue;
        if (sqrt(a[j].effect / n) < 3 * ct__least_effect(s)) continue;
        const double p = ct__variance_ratio_tail(ratio, n, (CT__PARTS - 1) * n);
        if (p > least) continue;
        least = p;
        best = j;
    }
    if (best < 0) return CT_OK;
    fit->use[best] = 3;
    *found = 1;
    return CT_OK;
}

/* ---- Faults of each recording ---------------------------------------------------------------- */

static ct_status fit_recordings(ct__table *all, const ct__fit *fit, const ct__fault *f, ct__by_recording *b,
                                ct_err *err)
{
    const ct__sensor *s = all->s;
    const int32_t most = all->e->recordings;
    ct__table t = {.e = all->e, .s = all->s};
    b->recording = ct__zalloc(most, sizeof *b->recording);
    b->fault = ct__zalloc(most, sizeof *b->fault);
    b->error = ct__zalloc((int64_t)most * CT__PARAMS_MAX, sizeof *b->error);
    if (!b->recording || !b->fault || !b->error) return ct__no_memory(err, "recordings", most);
    ct_status status = ct__table_new(&t, err);
    for (int32_t i = 0; status == CT_OK && i < most; i++) {
        ct__fit own = *fit;
        ct__fault fault = *f;
        int good = 1;
        own.e = own.weight = NULL;
        t.recording = i;
        ct__table_fill(&t, &fault);
        if (t.count < CT__SAMPLES_LEAST) continue;
        status = ct__table_settle(&t, 0, &own, &fault, err);
        ct__fit_free(&own);
        for (int j = 0; j < s->params; j++) good &= !fit->use[j] || isfinite(own.error[j]);
        if (status != CT_OK || !good) continue;
        memcpy(b->error + (int64_t)b->recordings * CT__PARAMS_MAX, own.error, sizeof own.error);
        b->fault[b->recordings] = fault;
        b->recording[b->recordings++] = i;
    }
    ct__table_free(&t);
    return status;
}

/* Errors under each recording's own faults. */
void ct__take_errors(const ct__table *t, const ct__by_recording *b, ct__fit *fit)
{
    const ct__sensor *s = t->s;
    for (int32_t k = 0; k < t->count; k++) {
        const ct__sample *q = &s->sample[t->from[k]];
        double r[CT_ROWS_MAX];
        for (int32_t i = 0; i < b->recordings; i++) {
            if (t->e->sequence[q->sequence].recording != b->recording[i]) continue;
            if (ct__sample_row(t->e, s, q, &b->fault[i], r, NULL, NULL))
                memcpy(fit->e + (int64_t)k * s->rows, r, (size_t)s->rows * sizeof *r);
        }
    }
}

/* Mean of a fault over recordings, its error and the spread beyond errors; 1: recordings differ. */
static int compare_recordings(const ct__table *t, const ct__fit *fit, ct__by_recording *b, int j)
{
    double sum = 0, weight = 0, chi = 0, scatter = 0, noise = 0, mean = 0;
    for (int32_t i = 0; i < b->recordings; i++) {
        const double error = b->error[(int64_t)i * CT__PARAMS_MAX + j], v = ct__fault_value(t->s, &b->fault[i], j);
        sum += v / (error * error);
        weight += 1 / (error * error);
        mean += v / b->recordings;
        noise += error * error / b->recordings;
    }
    for (int32_t i = 0; i < b->recordings; i++) {
        const double error = b->error[(int64_t)i * CT__PARAMS_MAX + j], v = ct__fault_value(t->s, &b->fault[i], j);
        chi += (v - sum / weight) * (v - sum / weight) / (error * error);
        scatter += (v - mean) * (v - mean) / (b->recordings - 1);
    }
    b->mean[j] = mean;
    b->mean_error[j] = sqrt(fmax(scatter, noise) / b->recordings);
    b->spread[j] = sqrt(fmax(0, scatter - noise));
    return ct__chi_squared_tail(chi * fmin(1, fit->degrees / (fit->degrees + 2)), b->recordings - 1) < t->e->alpha;
}

ct_status ct__split_recordings(ct__table *t, ct__fit *fit, const ct__fault *f, ct__by_recording *b, ct_err *err)
{
    variance a[CT__PARAMS_MAX];
    int apart[CT__PARAMS_MAX] = {0}, any = 0, differ = 0;
    if (t->e->recordings < 2) return CT_OK;
    CT_TRY(fit_recordings(t, fit, f, b, err));
    for (int j = 0; b->recordings > 1 && j < t->s->params; j++) {
        if (!fit->use[j]) continue;
        any |= apart[j] = compare_recordings(t, fit, b, j);
        differ |= fit->use[j] == 3;
    }
    if (any && !differ) CT_TRY(analyse(t, 0, fit, f, a, err));
    for (int j = 0; any && !differ && j < t->s->params; j++)
        differ = apart[j] && intraclass(variance_ratio(&a[j], 0)) >= ALIKE;
    if (!differ) b->recordings = 0;
    for (int j = 0; differ && j < t->s->params; j++) /* and stay so in later imports */
        if (fit->use[j] && t->s->param[j].kind != CT__FAULT_FRAME) fit->use[j] = 3;
    return CT_OK;
}
