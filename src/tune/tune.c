/* tune.c: a run of ct_tune in order: start values, method, before and after. */
#include "tune/search.h"

#include <math.h>

#define MOST_POINTS INT64_C(1000000000) /* as of TUNE.yaml: times logs it fits into 64 bits */

static int64_t limit_of_points(const ct_tune_options *o, int32_t n)
{
    if (o->points > 0) return CT_MIN(o->points, MOST_POINTS);
    return (o->method == CT_TUNE_DFGN || o->method == CT_TUNE_LM ? 20 : 100) * (int64_t)(n + 1);
}

static ct_status check_options(const ct_tune_options *o, ct_err *err)
{
    if ((unsigned)o->method >= CT_TUNE_METHOD_COUNT)
        return ct_fail(err, CT_E_ARGUMENT, "%d is not a method of tuning", (int)o->method);
    if (o->points < 0 || o->repeats < 0 || o->prior < 0 || !(o->relative >= 0) || !(o->step >= 0))
        return ct_fail(err, CT_E_ARGUMENT, "points, repeats, prior, relative and step must not be negative");
    return CT_OK;
}

static ct_status result_new(const ct_tune_problem *problem, const ct_tune_options *o, ct_tune_result *r, ct_err *err)
{
    const int64_t m = problem->parameters, logs = problem->logs;
    *r = (ct_tune_result){.method = o->method, .parameters = (int32_t)m, .logs = (int32_t)logs};
    r->loss = r->loss_start = NAN;
    r->value = ct__zalloc(m, sizeof *r->value);
    r->standard_error = ct__zalloc(m, sizeof *r->standard_error);
    r->at_bound = ct__zalloc(m, sizeof *r->at_bound);
    r->best = ct__zalloc(m, sizeof *r->best);
    r->before = ct__zalloc(logs, sizeof *r->before);
    r->after = ct__zalloc(logs, sizeof *r->after);
    if (!r->value || !r->standard_error || !r->at_bound || !r->best || !r->before || !r->after)
        return ct__no_memory(err, "parameters", m);
    for (int64_t i = 0; i < m; i++) {
        const ct_tune_parameter *p = &problem->parameter[i];
        r->value[i] = r->best[i] = p->tie >= 0 ? p->factor * problem->parameter[p->tie].start : p->start;
        r->standard_error[i] = NAN;
    }
    for (int64_t i = 0; i < logs; i++)
        r->before[i] = r->after[i] = (ct_tune_figures){CT_TUNE_END_COUNT, NAN, NAN, NAN, NAN};
    return CT_OK;
}

void ct_tune_result_free(ct_tune_result *r)
{
    if (!r) return;
    free(r->value);
    free(r->standard_error);
    free(r->at_bound);
    free(r->best);
    free(r->before);
    free(r->after);
    free(r->sensitivity);
    ct_findings_free(&r->findings);
    *r = (ct_tune_result){0};
}

/* The values of the answer, and which bounds they are at. */
static void take_answer(const ct__tuner *t, const ct__tune_point *answer)
{
    ct_tune_result *r = t->result;
    memcpy(r->value, answer->value, (size_t)r->parameters * sizeof *r->value);
    r->loss = answer->loss;
    for (int32_t k = 0; k < t->c.n; k++) {
        if (ct__coordinates_held(&t->c, k)) continue;
        const double near = 1e-9 * (1 + fabs(answer->x[k]));
        const int    side = answer->x[k] <= t->c.lower[k] + near ? -1 : answer->x[k] >= t->c.upper[k] - near;
        r->at_bound[t->c.parameter[k]] = (int8_t)(t->c.power[k] < 0 ? -side : side);
    }
}

/* Start and answer on all logs. */
static ct_status compare(ct__tuner *t, ct__tune_point *answer)
{
    ct__tune_point *pair[2] = {t->start, answer};
    t->phase = "test";
    t->testing = 1;
    if (!t->cancelled) CT_TRY(ct__evaluate(t, answer == t->start ? 1 : 2, pair, CT__TEST, t->repeats));
    for (int32_t i = 0; i < t->problem->logs; i++) {
        t->result->before[i] = t->start->figures[i];
        t->result->after[i] = answer->figures[i];
    }
    return CT_OK;
}

static ct_status run(ct__tuner *t)
{
    ct__tune_point *answer = NULL, *first = NULL;
    ct_tune_result *r = t->result;
    for (int32_t k = 0; k < t->c.n; k++) t->c.work[k] = 0;
    CT_TRY(ct__point_at(t, t->c.work, &t->start));
    answer = t->start;
    CT_TRY(ct__evaluate(t, 1, &t->start, CT__TRAIN, t->repeats));
    r->loss_start = t->start->loss;
    if (r->loss_start == 0)
        return ct_fail(t->err, CT_E_ARGUMENT,
                       "at the start values the loss is 0 on all training logs: there is nothing to minimise. Is the "
                       "estimate a copy of the truth, or does the loss leave out what differs?");
    CT_TRY(ct__find_first(t, &first));
    if (first && !t->cancelled) CT_TRY(ct__order_logs(t, first));
    const int later = t->options.method == CT_TUNE_DFGN && ct__first_logs(t) < t->trains; /* after a step */
    if (!t->cancelled && first && !later) CT_TRY(ct__find_noise(t, first));
    if (!t->cancelled && first && t->c.n) {
        t->phase = "search";
        CT_TRY(ct__search(t, first, &answer, &r->stop));
    } else if (!t->cancelled) r->stop = t->c.n ? CT_TUNE_STOP_FAILED : CT_TUNE_STOP_NONE;
    if (t->cancelled && t->best) answer = t->best;
    t->searched = 1;
    t->searched_at = r->runs;
    CT_TRY(ct__note_silent(t));
    const int converges = t->options.method != CT_TUNE_RANDOM && t->options.method != CT_TUNE_GLOBAL;
    if (r->stop == CT_TUNE_STOP_POINTS && converges)
        CT_TRY(ct_findings_add(&r->findings, CT_FINDING_SEARCH_UNFINISHED, 1, (double[]){(double)t->limit}, t->err));
    memcpy(r->best, answer->value, (size_t)r->parameters * sizeof *r->best);
    if (!t->cancelled && ct__is_done(answer) && t->c.n) CT_TRY(ct__choose_held_out(t, answer, &answer));
    CT_TRY(ct__tune_error_bars(t, &answer));
    take_answer(t, answer);
    CT_TRY(compare(t, answer));
    if (t->cancelled) r->stop = CT_TUNE_STOP_CANCELLED;
    CT_TRY(ct__note_covered(t));
    CT_TRY(ct__note_lost(t));
    CT_TRY(ct__note_records(t));
    CT_TRY(ct__note_conventions(t));
    CT_TRY(ct__note_test_logs(t));
    return ct__note_failures(t);
}

ct_status ct_tune(const ct_tune_problem *problem, const ct_tune_options *options, ct_tune_queue *queue,
                  ct_tune_result *result, ct_err *err)
{
    const ct_tune_options o = options ? *options : ct_tune_defaults();
    ct__tuner t = {0};
    *result = (ct_tune_result){0};
    CT_TRY(ct_tune_check(problem, err));
    CT_TRY(check_options(&o, err));
    CT_TRY(result_new(problem, &o, result, err));
    ct_status status = ct__tuner_new(problem, &o, queue, result, &t, err);
    t.limit = limit_of_points(&o, t.c.n);
    if (status == CT_OK) status = run(&t);
    result->seconds = ct_now_s() - t.start_s;
    ct__tuner_free(&t);
    return status;
}
