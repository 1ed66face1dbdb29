/* trace.c: the incumbents of a method over time.
 *
 * The incumbent is the answer if learning were stopped: the best parameters that were evaluated on all sequences,
 * or the last ones of a method that does not descend. ct_learn evaluates the closed form and the table's values first
 * (phase "start"). The one that the method starts from is its first point; the other is dropped. Evaluations on folds
 * use part of the sequences and are no incumbents; they take time. The last point is the answer.
 */
#include "trial/trial.h"

#include <math.h>

#define KEPT 400  /* points at most; a plot shows fewer                                              */
#define SAME 1e-9 /* log variances that differ by less are the same but for rounding                 */

double ct__tracer_seconds(const ct__tracer *t) { return ct_now_s() - t->start_s - t->away_s; }

static int32_t parameters(const ct__tracer *t) { return ct_theta_count(ct_outer_theta(t->outer)); }

/* ---- During learning ------------------------------------------------------------------------- */

static void keep(ct__tracer *t, const double *p)
{
    const int64_t m = parameters(t), used = t->count * m;
    if (t->status == CT_OK)
        t->status = ct__grow(&t->point, &t->point_capacity, (int64_t)t->count + 1, sizeof *t->point, "points", &t->err);
    if (t->status == CT_OK) t->status = ct__grow(&t->p, &t->p_capacity, used + m, sizeof *t->p, "parameters", &t->err);
    if (t->status != CT_OK) return;
    memcpy(t->p + used, p, (size_t)m * sizeof *p);
    t->point[t->count++] = t->now;
}

static int is_incumbent(const ct__tracer *t, double loss)
{
    if (!ct_learn_method_has(t->options->learn.method, CT_LEARN_DESCENDS)) return 1;
    return t->count == t->starts ? isfinite(loss) : loss < t->point[t->count - 1].loss;
}

static int cancelled(const ct__tracer *t) { return t->options->cancel && t->options->cancel(t->options->user); }

int ct__tracer_progress(void *user, const ct_learn_progress *progress)
{
    ct__tracer   *t = user;
    const double  entered = ct_now_s();
    const int     starting = progress->phase == CT_LEARN_PHASE_START;
    const int     learning = progress->phase == CT_LEARN_PHASE_LEARN;
    t->now = (ct_trace_point){.seconds = entered - t->start_s - t->away_s,
                              .solves = ct_outer_solves(t->outer),
                              .evaluations = t->result->evaluations,
                              .loss = progress->train,
                              .translation = NAN,
                              .rotation = NAN};
    if (t->trace && (starting || (learning && is_incumbent(t, progress->train)))) keep(t, progress->p);
    if (starting) t->starts = t->count;
    const ct_learn_options *learn = &t->options->learn;
    int stop = t->status != CT_OK;
    stop = (learn->progress && learn->progress(learn->user, progress)) || stop;
    stop = cancelled(t) || stop;
    t->away_s += ct_now_s() - entered;
    return stop;
}

/* ---- After learning -------------------------------------------------------------------------- */

/* Are q and p, times exp(s), the same? */
static int same(const ct__tracer *t, const double *p, double s, const double *q)
{
    const ct_theta *theta = ct_outer_theta(t->outer);
    for (int32_t i = 0; i < parameters(t); i++)
        if (!(fabs(q[i] - p[i] - (ct_theta_is_scale(theta, i) ? s : 0)) <= SAME)) return 0;
    return 1;
}

static void move(ct__tracer *t, int32_t from, int32_t to)
{
    const int64_t m = parameters(t);
    t->point[to] = t->point[from];
    memmove(t->p + to * m, t->p + from * m, (size_t)m * sizeof *t->p);
}

/* The point of the start phase that the method started from. If no method was run: the answer. -1: none. If learning
 * ends with the values of the table, its incumbent until then is the closed form. */
static int32_t find_start(const ct__tracer *t, double s)
{
    const int64_t m = parameters(t);
    const int     stayed = t->count == t->starts, started_again = stayed && t->result->stop == CT_LEARN_STOP_START;
    int32_t       found = -1;
    for (int32_t k = 0; k < t->starts - started_again; k++) { /* the values of the table are the last */
        const double *p = t->p + k * m;
        if (started_again ? found < 0 || t->point[k].loss < t->point[found].loss
            : stayed      ? same(t, p, s, t->result->p)
                          : same(t, p, 0, t->p + t->starts * m))
            found = k;
    }
    return found;
}

/* Keeps at most one point of the start phase. If learning starts there, its first point is the same and is dropped. */
static void drop_starts(ct__tracer *t, double s)
{
    const int32_t from = find_start(t, s), skip = from >= 0 && t->count > t->starts;
    int32_t       n = 0;
    if (from >= 0) move(t, from, n++);
    for (int32_t k = t->starts + skip; k < t->count; k++) move(t, k, n++);
    t->count = n;
    t->starts = 0;
}

/* Makes the answer the last point: the incumbent with the scale applied, or a new point when the method ended. */
static void end_with_answer(ct__tracer *t, double s)
{
    const ct_learn_result *r = t->result;
    const int64_t          m = parameters(t);
    if (!t->count || !same(t, t->p + (t->count - 1) * m, s, r->p)) {
        if (t->count && !(t->point[t->count - 1].seconds < t->now.seconds)) t->count--;
        t->now.loss = r->loss_train;
        keep(t, r->p);
    }
    if (t->status == CT_OK) memcpy(t->p + (t->count - 1) * m, r->p, (size_t)m * sizeof *t->p);
}

/* Keeps at most KEPT points: the first, and the last in each of KEPT intervals, even in the logarithm of time. */
static void thin(ct__tracer *t)
{
    if (t->count <= KEPT) return;
    const double first = CT_MAX(t->point[0].seconds, 1e-6),
                 octaves = log(CT_MAX(t->point[t->count - 1].seconds, first) / first);
    int32_t      n = 1;
    for (int32_t k = 1; k < t->count; k++) {
        int interval[2] = {0, 0};
        for (int i = 0; i < 2 && octaves > 0; i++) {
            const double along = log(CT_MAX(t->point[CT_MIN(k + i, t->count - 1)].seconds, first) / first) / octaves;
            interval[i] = CT_MIN(KEPT - 2, (int)((KEPT - 1) * along));
        }
        if (k + 1 == t->count || interval[0] != interval[1]) move(t, k, n++);
    }
    t->count = n;
}

ct_status ct__tracer_finish(ct__tracer *t, ct_err *err)
{
    const double s = t->result->scale_applied > 0 ? log(t->result->scale_applied) : 0;
    if (t->trace && t->status == CT_OK) {
        drop_starts(t, s);
        end_with_answer(t, s);
        thin(t);
    }
    return t->status == CT_OK ? CT_OK : ct_fail(err, t->status, "%s", t->err.text);
}

ct_status ct__tracer_errors(ct__tracer *t, const ct_inference *inference, ct_err *err)
{
    const int32_t  count = ct_outer_sequences(t->outer);
    ct_evaluation *seen = ct__zalloc(count, sizeof *seen);
    ct_status      status = seen ? CT_OK : ct__no_memory(err, "sequences", count);
    for (int32_t k = 0; status == CT_OK && k < t->count && !cancelled(t); k++) {
        status = ct_outer_validate(t->outer, t->p + (int64_t)k * parameters(t), NULL, inference, 0, seen, err);
        ct_summary s;
        if (status == CT_OK) status = ct_summarise(count, seen, NULL, &s, err);
        if (status != CT_OK) break;
        t->point[k].translation = s.accuracy.translation;
        t->point[k].rotation = s.accuracy.rotation;
    }
    free(seen);
    return status;
}

void ct__tracer_end(ct__tracer *t, ct_trial *out)
{
    if (out && t->count) {
        out->trace = t->point;
        out->points = t->count;
    } else {
        free(t->point);
    }
    free(t->p);
}

/* ---- Queries --------------------------------------------------------------------------------- */

/* Is value at most (1 + within) times the reference? A NaN reference is not compared. */
static int near(double value, double reference, double within)
{
    return isnan(reference) || value <= reference * (1 + within);
}

int32_t ct_trace_reaches(const ct_trial *trial, double translation, double rotation, double within)
{
    int32_t first = trial->points;
    while (first > 0 && near(trial->trace[first - 1].translation, translation, within) &&
           near(trial->trace[first - 1].rotation, rotation, within))
        first--;
    return first < trial->points ? first : -1;
}
