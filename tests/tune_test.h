/* tune_test.h: estimators for tests of tuning that are functions: parameter values in, residuals out. Their queue holds
 * several runs, and gives them back in an order of its own. */
#ifndef TUNE_TEST_H
#define TUNE_TEST_H

#include "ct_test.h"

#include <covtune/tune.h>

#define TOY_SLOTS 16

/* r: `rows` residuals of a log, of the logarithms of values (of linear parameters the values). */
typedef struct toy toy;
struct toy {
    int64_t rows;
    void (*residual)(const toy *t, const double *value, int32_t log, double *r);
    int (*fails)(const toy *t, const double *value, int32_t log); /* NULL: never                    */
    double   noise;    /* standard deviation of a residual from run to run                          */
    double   scaled;   /* standard deviation of a factor on all residuals of a run, less one        */
    double   seeded;   /* the same, of a seed: equal at all values                                  */
    double   crashes;  /* share of runs that crash                                                  */
    int      order;    /* 0: first in, first out; else the seed of the order                        */
    int32_t  m;
    /* what is under way */
    int             running;
    int64_t         ticket[TOY_SLOTS];
    ct_tune_outcome outcome[TOY_SLOTS];
    int64_t         runs, wrong; /* wrong: values outside the bounds of the problem */
    const ct_tune_problem *problem;
    ct_rng          rng;
    ct_tune_queue   queue;
};

static uint64_t toy_bits(const toy *t, const ct_tune_request *q)
{
    uint64_t h = 0x9e3779b97f4a7c15u ^ (uint64_t)q->log << 40 ^ (uint64_t)q->repeat << 20;
    for (int32_t i = 0; i < t->m; i++) {
        uint64_t bits;
        memcpy(&bits, &q->value[i], sizeof bits);
        h = (h ^ bits) * 0xbf58476d1ce4e5b9u;
        h ^= h >> 31;
    }
    return h;
}

static ct_status toy_submit(void *user, const ct_tune_request *q, ct_err *err)
{
    toy *t = user;
    ct_rng rng = ct_rng_seed(toy_bits(t, q));
    ct_tune_outcome *o = &t->outcome[t->running];
    if (t->running == TOY_SLOTS) return ct_fail(err, CT_E_LIMIT, "more runs than slots");
    *o = (ct_tune_outcome){.translation = NAN, .rotation = NAN, .nees = NAN, .seconds = 0.001};
    t->ticket[t->running++] = q->ticket;
    t->runs++;
    for (int32_t i = 0; i < t->m; i++)
        t->wrong += !(q->value[i] >= t->problem->parameter[i].lower && q->value[i] <= t->problem->parameter[i].upper);
    if (ct_rng_uniform(&rng) < t->crashes || (t->fails && t->fails(t, q->value, q->log))) {
        o->end = CT_TUNE_CRASHED;
        return CT_OK;
    }
    o->rows = t->rows;
    o->residual = malloc((size_t)t->rows * sizeof *o->residual);
    if (!o->residual) return ct_fail(err, CT_E_MEMORY, "no memory for residuals");
    t->residual(t, q->value, q->log, o->residual);
    for (int64_t i = 0; i < t->rows; i++) o->residual[i] += t->noise * ct_rng_normal(&rng);
    const double factor = t->scaled > 0 ? 1 + t->scaled * ct_rng_normal(&rng) : 1;
    for (int64_t i = 0; i < t->rows; i++) o->residual[i] *= factor;
    ct_rng seed = ct_rng_seed((uint64_t)(1 + q->repeat % CT_TUNE_SAME_SEED) << 20 | (uint64_t)q->log);
    for (int64_t i = 0; i < t->rows && t->seeded > 0; i++) o->residual[i] += t->seeded * ct_rng_normal(&seed);
    return CT_OK;
}

static ct_status toy_collect(void *user, double wait_s, int64_t *ticket, ct_tune_outcome *outcome, ct_err *err)
{
    toy *t = user;
    (void)wait_s;
    if (!t->running) return ct_fail(err, CT_E_ARGUMENT, "nothing is under way");
    const int k = t->order ? (int)(ct_rng_bits(&t->rng) % (uint64_t)t->running) : 0;
    *ticket = t->ticket[k];
    *outcome = t->outcome[k];
    t->running--;
    for (int i = k; i < t->running; i++) {
        t->ticket[i] = t->ticket[i + 1];
        t->outcome[i] = t->outcome[i + 1];
    }
    return CT_OK;
}

static void toy_abandon(void *user)
{
    toy *t = user;
    for (int i = 0; i < t->running; i++) ct_tune_outcome_free(&t->outcome[i]);
    t->running = 0;
}

static void toy_begin(toy *t, const ct_tune_problem *problem)
{
    t->problem = problem;
    t->m = problem->parameters;
    t->rng = ct_rng_seed((uint64_t)t->order);
    t->queue = (ct_tune_queue){t, TOY_SLOTS, toy_submit, toy_collect, toy_abandon, NULL};
}

/* A parameter in its logarithm, a thousand times up and down. */
static inline ct_tune_parameter toy_parameter(const char *name, double start)
{
    ct_tune_parameter p = {.start = start, .lower = 1e-3 * start, .upper = 1e3 * start, .log = 1};
    p.tie = p.group = -1;
    p.quantity = CT_QUANTITY_VARIANCE;
    snprintf(p.name, sizeof p.name, "%s", name);
    return p;
}

/* Normal, of standard deviation 1, the same for a log, a row and a sensor. */
static inline double toy_noise(int32_t log_, int64_t i, int k)
{
    ct_rng rng = ct_rng_seed((uint64_t)((int64_t)log_ * 1000003 + i * 17 + k));
    return ct_rng_normal(&rng);
}

static inline ct_tune_result toy_tune(toy *t, const ct_tune_problem *problem, const ct_tune_options *options)
{
    ct_tune_result result = {0};
    ct_err err = {0};
    toy_begin(t, problem);
    CHECK_OK(ct_tune(problem, options, &t->queue, &result, &err), err);
    CHECK(!t->running && !t->wrong);
    CHECK(result.runs == t->runs);
    return result;
}

/* Mean over logs from .. to - 1, without noise of runs. */
static inline double toy_loss(const toy *t, const double *value, int32_t from, int32_t to)
{
    double sum = 0, *r = malloc((size_t)t->rows * sizeof *r);
    for (int32_t l = from; l < to; l++) {
        t->residual(t, value, l, r);
        for (int64_t i = 0; i < t->rows; i++) sum += 0.5 * r[i] * r[i] / (double)t->rows / (to - from);
    }
    free(r);
    return sum;
}

#endif
