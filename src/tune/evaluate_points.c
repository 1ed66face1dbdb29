/* evaluate_points.c: points evaluated by runs of a queue.
 *
 * A batch is all runs of some points on some logs. It ends when all of them have ended. Which came first changes
 * nothing, because outcomes are taken in the order of the requests. A failed run is asked for again, with another
 * repeat number, as long as that has helped before: some programs crash at random. The first failures may be those of
 * values at which the program always fails. So a run that fails at values that have an estimate of another log is asked
 * for again once, too, until that was in vain too often. Time and memory limits are not tried again. */
#include "tune/search.h"

#include <math.h>

#define WAIT_S   0.1 /* between looks at the caller's wish to cancel                                 */
#define MOST_NUMBERS ((int64_t)1 << 27) /* of residuals in memory: 1 GiB */
#define BESIDE   3   /* points beside those of a Jacobian: start, base, the next                     */
#define BLOCKS   8   /* of a log: what their spread is estimated from                                */
#define USUAL    5   /* times n + 1 points of a search                                              */
#define RETRIES  3   /* of one run; and of all runs, until the first that helped                     */
#define LOG_RETRIES 8 /* of runs whose values have an estimate of another log, until the first that helped:
                      * where a tenth of runs crash at random, all eight fail again by a chance of 1e-8 */

/* One run that is wanted, and how it ended. */
typedef struct {
    ct__tune_point *point;
    int32_t         log, repeat;
    ct_tune_outcome outcome;
    int             ended;
} wanted_run;

typedef struct {
    wanted_run *run;
    int64_t     count, capacity;
} batch;

ct_status ct__tuner_new(const ct_tune_problem *problem, const ct_tune_options *options, ct_tune_queue *queue,
                        ct_tune_result *result, ct__tuner *t, ct_err *err)
{
    *t = (ct__tuner){.problem = problem, .options = *options, .queue = queue, .result = result, .err = err};
    t->repeats = CT_MAX(1, options->repeats);
    t->most_numbers = MOST_NUMBERS;
    t->put_off = -1;
    t->phase = "start";
    t->start_s = ct_now_s();
    t->rows = ct__zalloc(problem->logs, sizeof *t->rows);
    t->covered = ct__zalloc(problem->logs, sizeof *t->covered);
    t->lost = ct__zalloc(problem->logs, sizeof *t->lost);
    t->conventions = ct__zalloc(problem->logs, sizeof *t->conventions);
    t->rank = ct__zalloc(problem->logs, sizeof *t->rank);
    t->silent = ct__zalloc(problem->parameters, sizeof *t->silent);
    t->broken = ct__zalloc(2 * (int64_t)problem->logs, sizeof *t->broken);
    if (!t->rows || !t->covered || !t->lost || !t->conventions || !t->rank || !t->silent || !t->broken)
        return ct__no_memory(err, "logs", problem->logs);
    for (int32_t i = 0; i < problem->logs; i++) {
        t->rows[i] = -1;
        t->covered[i] = NAN;
        t->rank[i] = t->trains;
        t->trains += !problem->log[i].test;
    }
    t->used_to = t->trains;
    t->unordered = t->broken + problem->logs;
    t->blocks = BLOCKS;
    t->noise_block = ct__zalloc((int64_t)problem->logs * t->blocks, sizeof *t->noise_block);
    if (!t->noise_block) return ct__no_memory(err, "logs", problem->logs);
    for (int64_t i = 0; i < (int64_t)problem->logs * t->blocks; i++) t->noise_block[i] = NAN;
    return ct__coordinates_new(problem, &t->c, err);
}

static void point_free(const ct__tuner *t, ct__tune_point *p)
{
    for (int32_t i = 0; p && p->residual && i < t->problem->logs; i++) free(p->residual[i]);
    if (p) {
        free(p->x);
        free(p->figures);
        free(p->residual);
        free(p->runs);
    }
    free(p);
}

void ct__tuner_free(ct__tuner *t)
{
    for (int64_t i = 0; i < t->points; i++) point_free(t, t->point[i]);
    free(t->point);
    free(t->rows);
    free(t->covered);
    free(t->lost);
    free(t->conventions);
    free(t->rank);
    free(t->broken);
    free(t->silent);
    free(t->noise_block);
    ct__coordinates_free(&t->c);
}

static ct__tune_point *point_new(const ct__tuner *t)
{
    const int64_t n = t->c.n, m = t->problem->parameters, logs = t->problem->logs;
    ct__tune_point *p = ct__zalloc(1, sizeof *p);
    if (!p) return NULL;
    p->x = ct__zalloc(n + m, sizeof *p->x);
    p->figures = ct__zalloc(logs, sizeof *p->figures);
    p->residual = ct__zalloc(logs, sizeof *p->residual);
    p->runs = ct__zalloc(3 * logs, sizeof *p->runs);
    if (!p->x || !p->figures || !p->residual || !p->runs) {
        point_free(t, p);
        return NULL;
    }
    p->value = p->x + n;
    p->tried = p->runs + logs;
    p->good = p->tried + logs;
    p->loss = p->whole = NAN;
    for (int64_t i = 0; i < logs; i++)
        p->figures[i] = (ct_tune_figures){CT_TUNE_END_COUNT, NAN, NAN, NAN, NAN};
    return p;
}

/* The point with these values, made if there is none. */
static ct_status point_with(ct__tuner *t, ct__tune_point *fresh, ct__tune_point **out)
{
    const size_t bytes = (size_t)t->problem->parameters * sizeof *fresh->value;
    for (int64_t i = 0; i < t->points; i++)
        if (!memcmp(t->point[i]->value, fresh->value, bytes)) {
            *out = t->point[i];
            point_free(t, fresh);
            return CT_OK;
        }
    const ct_status status = ct__grow(&t->point, &t->capacity, t->points + 1, sizeof *t->point, "points", t->err);
    if (status != CT_OK) {
        point_free(t, fresh);
        return status;
    }
    *out = t->point[t->points++] = fresh;
    return CT_OK;
}

ct_status ct__point_at(ct__tuner *t, const double *x, ct__tune_point **out)
{
    ct__tune_point *p = point_new(t);
    if (!p) return ct__no_memory(t->err, "points", 1);
    memcpy(p->x, x, (size_t)t->c.n * sizeof *x);
    ct__coordinates_project(&t->c, p->x);
    ct__coordinates_values(&t->c, p->x, p->value);
    return point_with(t, p, out);
}

int ct__is_done(const ct__tune_point *p) { return isfinite(p->loss); }

int ct__is_active(const ct__tuner *t, int32_t log)
{
    return !t->problem->log[log].test && t->rank[log] >= t->used_from && t->rank[log] < t->used_to;
}

int32_t ct__actives(const ct__tuner *t) { return CT_MAX(1, t->used_to - t->used_from); }

int64_t ct__points_left(const ct__tuner *t) { return CT_MAX(0, (t->limit * t->trains - t->spent) / ct__actives(t)); }

double ct__distance2(const ct__tuner *t, const ct__tune_point *a, const ct__tune_point *b)
{
    double sum = 0;
    for (int32_t l = 0; l < t->problem->logs; l++) {
        double own = 0;
        if (!ct__is_active(t, l)) continue;
        if (!a->residual[l] || (b && !b->residual[l])) return INFINITY;
        for (int64_t i = 0; i < t->rows[l]; i++) {
            const double d = a->residual[l][i] - (b ? b->residual[l][i] : 0);
            own += d * d;
        }
        sum += own / (double)(CT_MAX(1, t->rows[l]) * ct__actives(t));
    }
    return sum;
}

/* ---- Batches ---------------------------------------------------------------------------------- */

static ct_status want_repeat(batch *b, ct__tune_point *p, int32_t log, int32_t repeat, ct_err *err)
{
    CT_TRY(ct__grow(&b->run, &b->capacity, b->count + 1, sizeof *b->run, "runs", err));
    b->run[b->count++] = (wanted_run){.point = p, .log = log, .repeat = repeat};
    return CT_OK;
}

static ct_status want(batch *b, ct__tune_point *p, int32_t log, ct_err *err)
{
    return want_repeat(b, p, log, p->tried[log]++, err);
}

static void batch_free(batch *b)
{
    for (int64_t i = 0; i < b->count; i++) ct_tune_outcome_free(&b->run[i].outcome);
    free(b->run);
    *b = (batch){0};
}

/* Runs that are still to come, as searches usually go: those of the search, of folds on their own and the held-out logs
 * under three priors, of start and answer on test logs. A search that takes longer goes on for a tenth. */
static int64_t runs_left(const ct__tuner *t)
{
    const ct_tune_options *o = &t->options;
    const int64_t most = t->limit * t->trains, tests = 2 * (t->problem->logs - t->trains);
    const int64_t folds = CT_MIN(o->folds, t->trains), held_out = folds < 2 ? 0 : (folds + 2) * t->trains;
    const int64_t usual = CT_MIN(most, USUAL * (t->c.n + 1) * t->trains);
    const int64_t search = CT_MIN(CT_MAX(usual - t->spent, t->spent / 10), most - t->spent);
    if (!t->searched) return CT_MAX(CT_MAX(0, search), t->waiting) + held_out + tests;
    const int64_t folds_left = CT_MAX(0, held_out - (t->result->runs - t->searched_at));
    return t->testing ? t->waiting : CT_MAX(t->waiting, folds_left) + tests;
}

/* Tells the caller; notes a wish to cancel. */
static void report(ct__tuner *t, const ct_tune_request *request, const ct_tune_outcome *outcome)
{
    const ct_tune_result *r = t->result;
    int64_t failed = 0;
    if (!t->options.progress) return;
    for (int i = 1; i < CT_TUNE_END_COUNT; i++) failed += r->failed[i];
    ct_tune_progress p = {
        .phase = t->phase,
        .runs = r->runs,
        .running = t->running,
        .failed = failed,
        .cached = r->cached,
        .expected = r->runs + t->running + runs_left(t),
        .loss_start = t->start ? t->start->whole : NAN,
        .loss = t->best ? t->best->whole : NAN,
        .seconds = ct_now_s() - t->start_s,
        .left_s = NAN,
        .value = t->best ? t->best->value : NULL,
        .request = request,
        .outcome = outcome,
    };
    if (r->runs > r->cached) p.left_s = p.seconds * (double)(p.expected - p.runs) / (double)(r->runs - r->cached);
    if (t->options.progress(t->options.user, &p)) t->cancelled = 1;
}

/* A run has ended. */
static void note_end(ct__tuner *t, int64_t ticket, wanted_run *w, const ct_tune_outcome *outcome)
{
    ct_tune_result *r = t->result;
    w->outcome = *outcome;
    w->ended = 1;
    t->broken[w->log] = CT_MAX(t->broken[w->log], outcome->broken);
    t->unordered[w->log] = CT_MAX(t->unordered[w->log], outcome->unordered);
    if (w->outcome.end == CT_TUNE_DONE)
        for (int64_t i = 0; i < w->outcome.rows && w->outcome.end == CT_TUNE_DONE; i++)
            if (!isfinite(w->outcome.residual[i])) w->outcome.end = CT_TUNE_NOT_FINITE;
    t->running--;
    r->runs++;
    r->cached += w->outcome.cached != 0;
    r->run_seconds += w->outcome.seconds;
    if ((unsigned)w->outcome.end < CT_TUNE_END_COUNT) r->failed[w->outcome.end] += w->outcome.end != CT_TUNE_DONE;
    const ct_tune_request request = {ticket, w->log, w->repeat, w->point->value};
    report(t, &request, &w->outcome);
}

static ct_status check_outcome(const ct__tuner *t, const batch *b, int64_t ticket, const ct_tune_outcome *o)
{
    if (ticket < 0 || ticket >= b->count || b->run[ticket].ended)
        return ct_fail(t->err, CT_E_ARGUMENT, "the queue of runs answers ticket %lld, which is not under way",
                       (long long)ticket);
    if ((unsigned)o->end >= CT_TUNE_END_COUNT || (o->end == CT_TUNE_DONE && (o->rows < 1 || !o->residual)))
        return ct_fail(t->err, CT_E_ARGUMENT, "the queue of runs answers with end %d and %lld rows", (int)o->end,
                       (long long)o->rows);
    return CT_OK;
}

/* Runs all of the batch, at most queue->slots at once. */
static ct_status run_all(ct__tuner *t, batch *b)
{
    const int slots = CT_MAX(1, t->queue->slots);
    int64_t next = 0, ended = 0;
    t->running = 0;
    while (ended < b->count && !t->cancelled) {
        for (; next < b->count && t->running < slots; next++, t->running++) {
            t->waiting = b->count - next - 1;
            const wanted_run *w = &b->run[next];
            const ct_tune_request request = {next, w->log, w->repeat, w->point->value};
            CT_TRY(t->queue->submit(t->queue->user, &request, t->err));
        }
        int64_t ticket = -1;
        ct_tune_outcome outcome = {0};
        CT_TRY(t->queue->collect(t->queue->user, WAIT_S, &ticket, &outcome, t->err));
        if (ticket == -1) {
            report(t, NULL, NULL);
            continue;
        }
        const ct_status status = check_outcome(t, b, ticket, &outcome);
        if (status != CT_OK) {
            ct_tune_outcome_free(&outcome);
            return status;
        }
        note_end(t, ticket, &b->run[ticket], &outcome);
        ended++;
    }
    return CT_OK;
}

/* ---- Outcomes become figures ------------------------------------------------------------------ */

static double running_mean(double mean, double next, int32_t n) { return n == 1 ? next : mean + (next - mean) / n; }

static ct_status take_done(ct__tuner *t, wanted_run *w)
{
    ct__tune_point  *p = w->point;
    ct_tune_outcome *o = &w->outcome;
    ct_tune_figures *f = &p->figures[w->log];
    double sum = 0;
    if (t->rows[w->log] < 0) t->rows[w->log] = o->rows;
    if (t->rows[w->log] != o->rows)
        return ct_fail(t->err, CT_E_ARGUMENT, "log %s: a run has %lld residuals, and others have %lld",
                       t->problem->log[w->log].name, (long long)o->rows, (long long)t->rows[w->log]);
    for (int64_t i = 0; i < o->rows; i++) sum += o->residual[i] * o->residual[i];
    const int32_t n = ++p->runs[w->log];
    if (n == 1 && p == t->start) {
        t->covered[w->log] = o->covered;
        t->conventions[w->log] = o->conventions;
        t->lost[w->log] = (double)o->lost / (double)CT_MAX(1, o->poses + o->lost);
    }
    if (n == 1 || !p->residual[w->log]) {
        p->residual[w->log] = o->residual;
        o->residual = NULL;
    } else {
        for (int64_t i = 0; i < o->rows; i++)
            p->residual[w->log][i] = running_mean(p->residual[w->log][i], o->residual[i], n);
    }
    p->good[w->log] = w->repeat % CT_TUNE_SAME_SEED;
    f->end = CT_TUNE_DONE;
    f->loss = running_mean(f->loss, 0.5 * sum / (double)o->rows, n);
    f->translation = running_mean(f->translation, o->translation, n);
    f->rotation = running_mean(f->rotation, o->rotation, n);
    f->nees = running_mean(f->nees, o->nees, n);
    return CT_OK;
}

/* Have these values an estimate of another log? */
static int works_elsewhere(const ct__tuner *t, const wanted_run *w)
{
    for (int32_t l = 0; l < t->problem->logs; l++)
        if (l != w->log && w->point->runs[l]) return 1;
    return 0;
}

/* May another try help? Counts it if so. */
static int may_retry(ct__tuner *t, const wanted_run *w, int round)
{
    const ct_tune_end end = w->outcome.end;
    if (end == CT_TUNE_DONE || end == CT_TUNE_TIME || end == CT_TUNE_MEMORY || end == CT_TUNE_SHORT) return 0;
    if (t->recovered) return round < 2 * RETRIES;
    if (round < RETRIES && t->retried < RETRIES) return ++t->retried;
    return round == 0 && t->log_retries < LOG_RETRIES && works_elsewhere(t, w) ? ++t->log_retries : 0;
}

/* Means over active logs, and over training logs. */
static void set_loss(const ct__tuner *t, ct__tune_point *p)
{
    p->loss = p->whole = 0;
    for (int32_t l = 0; l < t->problem->logs; l++) {
        if (t->problem->log[l].test) continue;
        const double own = p->figures[l].end == CT_TUNE_END_COUNT ? NAN /* not run yet */
                           : p->runs[l]                           ? p->figures[l].loss
                                                                  : INFINITY;
        p->whole += own / t->trains;
        if (ct__is_active(t, l)) p->loss += own / ct__actives(t);
    }
}

void ct__use_logs(ct__tuner *t, int32_t from, int32_t to)
{
    const double before = ct__actives(t);
    t->used_from = from;
    t->used_to = to;
    t->noise_loss *= sqrt(before / ct__actives(t));
    for (int64_t i = 0; i < t->points; i++) set_loss(t, t->point[i]);
}

/* Takes the batch in order; what may be tried again goes into `again`. */
static ct_status take_all(ct__tuner *t, batch *b, int round, batch *again)
{
    for (int64_t i = 0; i < b->count; i++) {
        wanted_run *w = &b->run[i];
        if (w->outcome.end == CT_TUNE_DONE) {
            CT_TRY(take_done(t, w));
            t->recovered += round > 0;
            continue;
        }
        if (!w->point->runs[w->log]) w->point->figures[w->log].end = w->outcome.end;
    }
    for (int64_t i = 0; i < b->count; i++) {
        if (!may_retry(t, &b->run[i], round)) continue;
        CT_TRY(want(again, b->run[i].point, b->run[i].log, t->err));
    }
    return CT_OK;
}

static ct_status run_rounds(ct__tuner *t, batch *b)
{
    for (int round = 0; b->count; round++) {
        batch again = {0};
        CT_TRY(run_all(t, b));
        if (t->cancelled) return CT_OK;
        const ct_status status = take_all(t, b, round, &again);
        batch_free(b);
        *b = again;
        CT_TRY(status);
    }
    return CT_OK;
}

/* Runs the batch. On failure or cancelling nothing stays under way. */
static ct_status run_batch(ct__tuner *t, batch *b)
{
    const ct_status status = run_rounds(t, b);
    if ((status != CT_OK || t->cancelled) && t->queue->abandon) t->queue->abandon(t->queue->user);
    t->running = 0;
    batch_free(b);
    return status;
}

/* Training logs that p has been run on, or has failed on. */
static int32_t logs_of(const ct__tuner *t, const ct__tune_point *p)
{
    int32_t count = 0;
    for (int32_t l = 0; l < t->problem->logs; l++)
        count += !t->problem->log[l].test && p->figures[l].end != CT_TUNE_END_COUNT;
    return count;
}

/* New points count against the limit, those of few logs in proportion; the best is noted. */
static void note_points(ct__tuner *t, int64_t count, ct__tune_point *const point[])
{
    for (int64_t i = 0; i < count; i++) {
        ct__tune_point *p = point[i];
        set_loss(t, p);
        if (isnan(p->loss)) continue;
        const int32_t logs = logs_of(t, p);
        t->result->points += !p->counted && !t->searched;
        t->spent += t->searched ? 0 : logs - p->counted;
        p->counted = logs;
        if (isfinite(p->whole) && (!t->best || p->whole < t->best->whole)) t->best = p;
    }
}

/* Numbers of residuals that may stay: as many as a Jacobian needs, at least. */
static int64_t most_numbers(const ct__tuner *t)
{
    int64_t rows = 0;
    for (int32_t l = 0; l < t->problem->logs; l++)
        if (ct__is_active(t, l)) rows += CT_MAX(0, t->rows[l]);
    return CT_MAX(t->most_numbers, (t->c.n + BESIDE) * rows);
}

/* Residuals of the worst points are dropped where all of them take more memory than that: models do without. */
static void drop_residuals(ct__tuner *t, int64_t count, ct__tune_point *const point[])
{
    const int64_t most = most_numbers(t);
    for (;;) {
        int64_t numbers = 0;
        ct__tune_point *worst = NULL;
        for (int64_t i = 0; i < t->points; i++) {
            ct__tune_point *p = t->point[i];
            int kept = p == t->start || p == t->best || p == t->base, any = 0;
            for (int64_t k = 0; k < count && !kept; k++) kept = point[k] == p;
            for (int32_t l = 0; l < t->problem->logs; l++)
                if (p->residual[l]) numbers += t->rows[l], any = 1;
            if (any && !kept && (!worst || !(p->loss <= worst->loss))) worst = p;
        }
        if (numbers <= most || !worst) return;
        for (int32_t l = 0; l < t->problem->logs; l++) {
            free(worst->residual[l]);
            worst->residual[l] = NULL;
        }
    }
}

static int wants(const ct__tuner *t, int32_t log, ct__log_set logs)
{
    return logs == CT__TRAIN ? ct__is_active(t, log) : (logs == CT__TEST) == (t->problem->log[log].test != 0);
}

/* Runs that the point still needs on a log: all of `repeats`, if none has failed for good. */
static ct_status want_missing(ct__tuner *t, batch *b, ct__tune_point *p, int32_t log, int32_t repeats)
{
    const ct_tune_end end = p->figures[log].end;
    if (end != CT_TUNE_END_COUNT && end != CT_TUNE_DONE) return CT_OK;
    for (int32_t k = p->runs[log]; k < repeats; k++) CT_TRY(want(b, p, log, t->err));
    return CT_OK;
}

ct_status ct__evaluate(ct__tuner *t, int64_t count, ct__tune_point *const point[], ct__log_set logs, int32_t repeats)
{
    batch     b = {0};
    ct_status status = CT_OK;
    for (int64_t i = 0; i < count && status == CT_OK; i++) {
        int twice = 0;
        for (int64_t k = 0; k < i; k++) twice += point[k] == point[i];
        for (int32_t l = 0; l < t->problem->logs && status == CT_OK && !twice; l++)
            if (wants(t, l, logs)) status = want_missing(t, &b, point[i], l, repeats);
    }
    if (status == CT_OK) status = run_batch(t, &b);
    else batch_free(&b);
    if (status != CT_OK || t->cancelled) return status;
    note_points(t, count, point);
    drop_residuals(t, count, point);
    return CT_OK;
}

ct_status ct__evaluate_log(ct__tuner *t, int64_t count, ct__tune_point *const point[], const int32_t log[],
                           int32_t repeats)
{
    batch     b = {0};
    ct_status status = CT_OK;
    for (int64_t i = 0; i < count && status == CT_OK; i++)
        status = want_missing(t, &b, point[i], log[i], repeats ? repeats : point[i]->runs[log[i]] + 1);
    if (status == CT_OK) status = run_batch(t, &b);
    else batch_free(&b);
    return status;
}

ct_status ct__evaluate_again(ct__tuner *t, int64_t count, ct__tune_point *const point[], const int32_t log[])
{
    batch     b = {0};
    ct_status status = CT_OK;
    for (int64_t i = 0; i < count; i++) {
        const int32_t runs = point[i]->runs[log[i]];
        for (int32_t k = 0; k < runs && status == CT_OK; k++)
            status = want_repeat(&b, point[i], log[i], CT_TUNE_SAME_SEED + (runs > 1 ? k : point[i]->good[log[i]]),
                                 t->err);
    }
    if (status == CT_OK) status = run_batch(t, &b);
    else batch_free(&b);
    return status;
}

/* ---- Residuals that were dropped --------------------------------------------------------------- */

static int lacks(const ct__tuner *t, const ct__tune_point *p, int32_t log)
{
    return !t->problem->log[log].test && p->runs[log] && !p->residual[log];
}

/* The runs of p on a log again. */
static ct_status want_same(batch *b, ct__tune_point *p, int32_t log, ct_err *err)
{
    if (p->runs[log] == 1) return want_repeat(b, p, log, p->good[log], err);
    for (int32_t k = 0; k < p->tried[log]; k++) CT_TRY(want_repeat(b, p, log, k, err));
    return CT_OK;
}

static int has_all(const ct__tuner *t, const ct__tune_point *p)
{
    int all = 1;
    for (int32_t l = 0; l < t->problem->logs; l++) all &= !lacks(t, p, l);
    return all;
}

/* The same runs, into means that begin anew. */
static ct_status run_same(ct__tuner *t, ct__tune_point *p)
{
    batch     b = {0};
    ct_status status = CT_OK;
    for (int32_t l = 0; l < t->problem->logs && status == CT_OK; l++) {
        if (!lacks(t, p, l)) continue;
        status = want_same(&b, p, l, t->err);
        p->runs[l] = 0;
    }
    if (status == CT_OK) return run_batch(t, &b);
    batch_free(&b);
    return status;
}

ct_status ct__recall(ct__tuner *t, ct__tune_point *p, int *here)
{
    const int64_t logs = t->problem->logs;
    if ((*here = has_all(t, p))) return CT_OK;
    ct_tune_figures *figures = ct__zalloc(logs, sizeof *figures);
    int32_t         *numbers = ct__zalloc(3 * logs, sizeof *numbers); /* runs, tried, good */
    ct_status        status = figures && numbers ? CT_OK : ct__no_memory(t->err, "logs", logs);
    if (status == CT_OK) {
        memcpy(figures, p->figures, (size_t)logs * sizeof *figures);
        memcpy(numbers, p->runs, 3 * (size_t)logs * sizeof *numbers);
        status = run_same(t, p);
        memcpy(p->figures, figures, (size_t)logs * sizeof *figures);
        memcpy(p->runs, numbers, 3 * (size_t)logs * sizeof *numbers);
    }
    *here = has_all(t, p);
    free(figures);
    free(numbers);
    return status;
}
