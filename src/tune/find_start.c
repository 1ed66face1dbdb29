/* find_start.c: what has to be known before a search: a point with estimates on all training logs, and whether runs
 * differ from one to the next. */
#include "tune/search.h"

#include <math.h>

#define TRIES    4     /* times n + 1 points, at most, for a start without estimates                     */
#define WIDEST   4.0   /* of those points, from the start, in log variance: fifty times in variance      */
#define RENEW    0.5   /* of the loss where noise was measured: it is measured again                     */
#define VERY_NEAR 0.02 /* in log variance: residuals are straight there, but for noise                   */
#define COMMON   0.05  /* of the noise of a seed: less than that is not noise                            */

/* ---- The first point -------------------------------------------------------------------------- */

static ct_status name_failed_logs(ct__tuner *t, const ct__tune_point *p)
{
    for (int32_t l = 0; l < t->problem->logs; l++)
        if (!t->problem->log[l].test && !p->runs[l])
            CT_TRY(ct_findings_add_subject(&t->result->findings, CT_SUBJECT_SEQUENCE, l, 0, t->problem->log[l].name,
                                           t->err));
    return CT_OK;
}

/* Random points around the start, in batches of n + 1, further and further away. What is wrong is mostly so on every
 * log: points are run on one log that failed, and those with an estimate there on the others. */
static ct_status search_first(ct__tuner *t, ct__tune_point **first, int64_t *tried)
{
    ct_rng rng = ct__rng_stream(t->options.seed, 1, 0);
    int32_t failed = -1;
    for (int32_t l = t->problem->logs - 1; l >= 0; l--)
        if (!t->problem->log[l].test && !t->start->runs[l]) failed = l;
    for (int round = 0; round < TRIES && !*first && !t->cancelled && ct__points_left(t); round++) {
        const double width = WIDEST * (round + 1) / TRIES;
        CT_TRY(ct__random_points(t, &rng, t->start->x, width, t->c.n + 1, failed, first));
        *tried += t->c.n + 1;
    }
    return CT_OK;
}

ct_status ct__find_first(ct__tuner *t, ct__tune_point **first)
{
    int64_t tried = 0;
    double  farthest = 0;
    *first = ct__is_done(t->start) ? t->start : NULL;
    if (*first || t->cancelled) return CT_OK;
    CT_TRY(search_first(t, first, &tried));
    for (int32_t k = 0; *first && k < t->c.n; k++) farthest = fmax(farthest, fabs((*first)->x[k]));
    const double value[] = {(double)tried, exp(farthest)};
    CT_TRY(*first ? ct_findings_add(&t->result->findings, CT_FINDING_START_FAILS, 2, value, t->err)
                  : ct_findings_add(&t->result->findings, CT_FINDING_NO_ESTIMATE, 1, value, t->err));
    return name_failed_logs(t, t->start);
}

/* ---- Noise ------------------------------------------------------------------------------------ */

/* Mean square of a - b over block k of a log's rows, and its share of the rows. */
double ct__block_distance(const ct__tuner *t, int32_t log, int32_t k, const double *a, const double *b, double *share)
{
    const int64_t from = t->rows[log] * k / t->blocks, to = t->rows[log] * (k + 1) / t->blocks;
    double sum = 0;
    for (int64_t i = from; i < to; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
    *share = (double)(to - from) / (double)CT_MAX(1, t->rows[log]);
    return to > from ? sum / (double)(to - from) : 0;
}

/* One run more of p on each of the logs, and what it tells: the mean over n runs and that over N differ by d, so that
 * a run has the variance n N / (N - n) d^2. square: of residuals, mean over rows; loss: of the log's loss. 0: the run
 * failed. same: with the seeds that p was run with. */
static ct_status run_again(ct__tuner *t, ct__tune_point *p, int32_t count, const int32_t *log, int same,
                           double *square, double *loss)
{
    ct_status status = CT_OK;
    double  **before = ct__zalloc(count, sizeof *before), *own = ct__zalloc(count, sizeof *own), share;
    ct__tune_point **point = ct__zalloc(count, sizeof *point);
    if (!before || !own || !point) status = ct__no_memory(t->err, "logs", count);
    for (int32_t i = 0; i < count && status == CT_OK; i++) {
        const size_t bytes = (size_t)t->rows[log[i]] * sizeof **before;
        before[i] = malloc(bytes);
        if (!before[i]) status = ct__no_memory(t->err, "residuals", t->rows[log[i]]);
        else memcpy(before[i], p->residual[log[i]], bytes);
        own[i] = p->figures[log[i]].loss;
        point[i] = p;
    }
    for (int32_t i = 0; i < count && status == CT_OK; i++) square[i] = p->runs[log[i]];
    if (status == CT_OK)
        status = same ? ct__evaluate_again(t, count, point, log) : ct__evaluate_log(t, count, point, log, 0);
    for (int32_t i = 0; i < count && status == CT_OK && !t->cancelled; i++) {
        const double d = p->figures[log[i]].loss - own[i], runs = square[i], all = p->runs[log[i]];
        const double factor = all > runs ? runs * all / (all - runs) : 0; /* 0: it failed */
        square[i] = loss[i] = 0;
        if (!(factor > 0)) continue;
        for (int32_t k = 0; k < t->blocks; k++) {
            const double noise = factor * ct__block_distance(t, log[i], k, p->residual[log[i]], before[i], &share);
            t->noise_block[log[i] * t->blocks + k] = noise;
            square[i] += noise * share;
        }
        loss[i] = factor * d * d;
        if (square[i] <= CT__QUIET * 2 * own[i]) square[i] = loss[i] = 0; /* rounding of means */
    }
    for (int32_t i = 0; before && i < count; i++) free(before[i]);
    free(before);
    free(own);
    free(point);
    return status;
}

/* t->noise, t->noise_loss at p. */
static ct_status measure_noise(ct__tuner *t, ct__tune_point *p)
{
    const int32_t logs = t->problem->logs;
    int here;
    CT_TRY(ct__recall(t, p, &here));
    if (!here) return CT_OK;
    int32_t *log = ct__zalloc(logs, sizeof *log), count = 0, known = 0;
    double  *d = ct__zalloc(2 * logs, sizeof *d), square = 0, loss = 0;
    ct_status status = log && d ? CT_OK : ct__no_memory(t->err, "logs", logs);
    for (int32_t l = 0; l < logs && status == CT_OK; l++)
        if (ct__is_active(t, l)) log[count++] = l;
    if (status == CT_OK) status = run_again(t, p, count, log, 0, d, d + logs);
    for (int32_t i = 0; i < count && status == CT_OK; i++) {
        square += d[i];
        loss += d[logs + i];
        known += d[i] > 0;
    }
    free(log);
    free(d);
    if (status != CT_OK || t->cancelled || !known) return status;
    t->noise = square / known;
    t->noise_loss = sqrt(loss / known / ct__actives(t));
    t->noise_pairs = known;
    t->noise_at = p->loss;
    t->result->noise = t->noise_loss / p->loss;
    return CT_OK;
}

/* Noise on one log that points very near p on both sides tell: r+ - 2 r + r- has six times its variance. Neighbours go
 * up and down, as a common factor may change nothing. INFINITY: one of them fails. */
static ct_status nearby_noise(ct__tuner *t, const ct__tune_point *p, int32_t log, double *square)
{
    ct__tune_point *side[2] = {NULL};
    for (int k = 0; k < 2; k++) {
        for (int32_t i = 0; i < t->c.n; i++) {
            const int inside = p->x[i] + VERY_NEAR <= t->c.upper[i] && p->x[i] - VERY_NEAR >= t->c.lower[i];
            t->c.work[i] = p->x[i] + inside * (i % 2 == k ? VERY_NEAR : -VERY_NEAR);
        }
        CT_TRY(ct__point_at(t, t->c.work, &side[k]));
    }
    CT_TRY(ct__evaluate_log(t, 2, side, (int32_t[]){log, log}, t->repeats));
    const double *up = side[0]->residual[log], *at = p->residual[log], *down = side[1]->residual[log];
    double sum = 0;
    *square = INFINITY;
    if (t->cancelled || !up || !down) return CT_OK;
    for (int64_t i = 0; i < t->rows[log]; i++) sum += (up[i] - 2 * at[i] + down[i]) * (up[i] - 2 * at[i] + down[i]);
    *square = sum / (6 * (double)CT_MAX(1, t->rows[log]));
    return CT_OK;
}

/* A run with another seed differs by `noise` on a log. All points have the same seeds. *common 1: runs with equal
 * seeds are equal, and are straight where values hardly differ. Then the noise is the same at all points, and
 * differences between them have none. */
static ct_status has_common_noise(ct__tuner *t, ct__tune_point *p, int32_t log, double noise, int *common)
{
    double square = 0, loss = 0;
    const int32_t runs = p->runs[log];
    CT_TRY(run_again(t, p, 1, &log, 1, &square, &loss));
    *common = 0;
    if (!(square > 0)) p->runs[log] = runs; /* equal runs are one */
    if (t->cancelled || square > 0) return CT_OK;
    CT_TRY(nearby_noise(t, p, log, &square));
    *common = square < COMMON * noise;
    return CT_OK;
}

/* p on a log is run once more with another seed, which does not become part of its mean. *noise: what that tells. */
static ct_status run_other_seed(ct__tuner *t, ct__tune_point *p, int32_t log, double *noise)
{
    const size_t bytes = (size_t)t->rows[log] * sizeof(double);
    const ct_tune_figures figures = p->figures[log];
    const int32_t runs = p->runs[log], good = p->good[log];
    double *residual = malloc(bytes), loss;
    if (!residual) return ct__no_memory(t->err, "residuals", t->rows[log]);
    memcpy(residual, p->residual[log], bytes);
    const ct_status status = run_again(t, p, 1, &log, 0, noise, &loss);
    memcpy(p->residual[log], residual, bytes);
    free(residual);
    p->figures[log] = figures;
    p->runs[log] = runs;
    p->good[log] = good;
    return status;
}

/* Is the noise that of the seed alone near p, or of every run? */
static ct_status classify_noise(ct__tuner *t, ct__tune_point *p)
{
    double  noise = 0;
    int32_t log = 0;
    int     here;
    while (!ct__is_active(t, log)) log++;
    CT_TRY(ct__recall(t, p, &here));
    if (!here) return CT_OK;
    t->noise_common = 0;
    t->noise_at = p->loss;
    CT_TRY(run_other_seed(t, p, log, &noise));
    if (noise > 0 && !t->cancelled) CT_TRY(has_common_noise(t, p, log, noise, &t->noise_common));
    if (noise > 0 && !t->cancelled && !t->noise_common) CT_TRY(measure_noise(t, p));
    if (t->cancelled || !(t->noise > 0)) return CT_OK;
    const double value[] = {100 * t->result->noise, ct__last_repeats(t)};
    return ct_findings_add(&t->result->findings, CT_FINDING_ESTIMATOR_NOISY, 2, value, t->err);
}

ct_status ct__find_noise(ct__tuner *t, ct__tune_point *p)
{
    t->phase = "noise";
    t->noise_known = 1;
    return classify_noise(t, p);
}

ct_status ct__extend_noise(ct__tuner *t, ct__tune_point *p)
{
    return t->noise > 0 && !t->cancelled ? measure_noise(t, p) : CT_OK;
}

ct_status ct__renew_noise(ct__tuner *t, ct__tune_point *p)
{
    const double noise = t->noise, at = t->noise_at;
    if (!(p->loss < RENEW * at)) return CT_OK;
    if (t->noise_common) return classify_noise(t, p);
    if (!(noise > 0)) return CT_OK;
    CT_TRY(measure_noise(t, p));
    if (t->noise_at < at) t->noise_power = CT_MIN(1, CT_MAX(0, log(t->noise / noise) / log(t->noise_at / at)));
    return CT_OK;
}

double ct__noise_of(const ct__tuner *t, const ct__tune_point *p, int32_t log)
{
    const double ratio = t->noise > 0 && t->noise_at > 0 ? p->figures[log].loss / t->noise_at : 1;
    return t->noise * pow(ratio, t->noise_power) / CT_MAX(1, p->runs[log]);
}

int32_t ct__last_repeats(const ct__tuner *t)
{
    if (t->options.repeats || !(t->noise > 0)) return t->repeats;
    const double share = t->noise_loss / (t->noise_at > 0 ? t->noise_at : 1);
    return share > 0.02 ? 5 : share > 0.005 ? 3 : 2;
}
