/* levenberg_marquardt.c: bounded Levenberg-Marquardt in log theta (bounded_step.c). B = mean of A'A, plus the prior's
 * matrix. The first step may be long: with a small initial trust radius the method gets stuck at bad starts. */
#include "theta/bounded_step.h"
#include "learn/learn.h"

#include <math.h>

#define MU_FIRST 1e-3
#define MU_LEAST 1e-9
#define MU_MOST  1e9

typedef struct {
    ct__objective   *objective;
    int32_t          m;
    ct__point        at, trial;
    ct__bounded_step step;
    double           mu;
} lm;

static ct_status allocate(lm *s, ct_err *err)
{
    CT_TRY(ct__point_new(s->objective, 1, &s->at, err));
    CT_TRY(ct__point_new(s->objective, 1, &s->trial, err));
    return ct__bounded_step_new(s->objective->outer->theta, &s->step, err);
}

static void release(lm *s)
{
    ct__point_free(&s->at);
    ct__point_free(&s->trial);
    ct__bounded_step_free(&s->step);
}

/* One accepted step from s->at, or *stop. */
static ct_status advance(lm *s, ct_learn_stop *stop)
{
    const ct_learn_options *o = s->objective->options;
    ct__bounded_step_at(&s->step, s->at.p, s->at.gradient, s->at.matrix);
    if (ct__bounded_step_remaining(&s->step) <= 0.1 * o->relative * s->at.F) {
        *stop = CT_LEARN_STOP_GRADIENT;
        return CT_OK;
    }
    int refused = 0;
    for (; s->mu <= MU_MOST; s->mu *= 8) {
        double change, fall;
        if (!ct__bounded_step_try(&s->step, s->mu, s->trial.p, &change, &fall)) continue;
        if (change <= o->step) {
            /* stuck: longer steps were refused */
            *stop = refused ? CT_LEARN_STOP_STUCK : CT_LEARN_STOP_STEP;
            return CT_OK;
        }
        if (!(fall > 0)) continue; /* the projection turned a long step uphill: try a shorter one */
        CT_TRY(ct__objective_evaluate(s->objective, &s->trial));
        if (ct__objective_cancelled(s->objective)) *stop = CT_LEARN_STOP_CANCELLED;
        const double gain = s->trial.failed || !isfinite(s->trial.F) ? -1 : (s->at.F - s->trial.F) / fall;
        if (gain > 1e-3) {
            const double before = s->at.F;
            ct__point_swap(&s->at, &s->trial);
            CT_TRY(ct__objective_accept(s->objective));
            s->mu = CT_MAX(MU_LEAST, s->mu * (gain > 0.75 ? 0.1 : gain > 0.25 ? 0.5 : 2));
            if (!*stop && before - s->at.F <= o->relative * before) *stop = CT_LEARN_STOP_LOSS;
            return CT_OK;
        }
        if (*stop) return CT_OK;
        refused = 1;
    }
    *stop = CT_LEARN_STOP_STUCK;
    return CT_OK;
}

static ct_status run(lm *s, int max_iterations, const double *p, ct_learn_stop *stop)
{
    ct__objective_begin(s->objective);
    memcpy(s->at.p, p, (size_t)s->m * sizeof *p);
    CT_TRY(ct__objective_evaluate(s->objective, &s->at));
    if (s->at.failed) {
        *stop = CT_LEARN_STOP_STUCK;
        return CT_OK;
    }
    CT_TRY(ct__objective_accept(s->objective));
    if (ct__objective_cancelled(s->objective)) *stop = CT_LEARN_STOP_CANCELLED;
    for (int i = 0; *stop == CT_LEARN_STOP_NONE; i++) {
        if (i == max_iterations) *stop = CT_LEARN_STOP_ITERATIONS;
        else CT_TRY(advance(s, stop));
    }
    return CT_OK;
}

ct_status ct__learn_lm(ct__objective *objective, int max_iterations, double *p, ct_learn_stop *stop)
{
    lm        s = {.objective = objective, .m = objective->outer->m, .mu = MU_FIRST};
    ct_status status = allocate(&s, objective->err);
    *stop = CT_LEARN_STOP_NONE;
    if (status == CT_OK) status = run(&s, max_iterations, p, stop);
    if (status == CT_OK) memcpy(p, s.at.p, (size_t)s.m * sizeof *p);
    release(&s);
    return status;
}
