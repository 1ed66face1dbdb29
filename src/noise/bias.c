/* bias.c: the description of a bias: names and checks. */
#include "base/base.h"
#include "noise/noise.h"

#include <math.h>

static const char *const PROCESS[CT_BIAS_PROCESS_COUNT] = {
#define X(constant, name) [constant] = name,
    CT_BIAS_PROCESS_LIST(X)
#undef X
};
static const char *const EFFECT[CT_BIAS_EFFECT_COUNT] = {
#define X(constant, name) [constant] = name,
    CT_BIAS_EFFECT_LIST(X)
#undef X
};

const char *ct_bias_process_name(ct_bias_process process)
{
    return ct__name_at(PROCESS, CT_BIAS_PROCESS_COUNT, (int)process);
}

int ct_bias_process_find(const char *name) { return ct__find_name(name, PROCESS, CT_BIAS_PROCESS_COUNT); }

const char *ct_bias_effect_name(ct_bias_effect effect)
{
    return ct__name_at(EFFECT, CT_BIAS_EFFECT_COUNT, (int)effect);
}

int ct_bias_effect_find(const char *name) { return ct__find_name(name, EFFECT, CT_BIAS_EFFECT_COUNT); }

static ct_status check_rows(const char *model, int dim, const ct_bias *b, ct_err *err)
{
    if (b->rows < 1 || b->rows > CT_BIAS_ROWS_MAX || b->rows != dim)
        return ct_fail(err, CT_E_NOISE,
                       "noise model \"%s\": a bias acts on 1 to %d rows, as many as its model has (%d)", model,
                       CT_BIAS_ROWS_MAX, dim);
    for (int i = 0; i < b->rows; i++) {
        if (!b->row[i][0] || !memchr(b->row[i], 0, sizeof b->row[i]))
            return ct_fail(err, CT_E_NOISE, "noise model \"%s\": row %d of its bias has no name of 1 to 15 bytes",
                           model, i);
        for (int k = 0; k < i; k++)
            if (!strcmp(b->row[i], b->row[k]))
                return ct_fail(err, CT_E_NOISE, "noise model \"%s\": its bias acts on row %s twice", model, b->row[i]);
    }
    return CT_OK;
}

ct_status ct__bias_check(const char *model, int dim, const ct_bias *b, ct_err *err)
{
    if ((unsigned)b->process >= CT_BIAS_PROCESS_COUNT || (unsigned)b->effect >= CT_BIAS_EFFECT_COUNT)
        return ct_fail(err, CT_E_NOISE, "noise model \"%s\": process %d or effect %d of its bias is not one", model,
                       (int)b->process, (int)b->effect);
    if (!b->sensor[0] || !memchr(b->sensor, 0, sizeof b->sensor))
        return ct_fail(err, CT_E_NOISE, "noise model \"%s\": it is the strength of a bias of no sensor", model);
    CT_TRY(check_rows(model, dim, b, err));
    if (!(b->every >= 0 && b->every <= CT_BIAS_TAU_MAX))
        return ct_fail(err, CT_E_NOISE,
                       "noise model \"%s\": the time between two states of a bias is 0 to %g, found %g", model,
                       CT_BIAS_TAU_MAX, b->every);
    const int swings = b->process == CT_BIAS_OSCILLATION, markov = b->process == CT_BIAS_GAUSS_MARKOV || swings;
    if (markov && !(b->tau >= CT_BIAS_TAU_MIN && b->tau <= CT_BIAS_TAU_MAX))
        return ct_fail(err, CT_E_NOISE, "noise model \"%s\": the time constant of its bias is %g to %g, found %g",
                       model, CT_BIAS_TAU_MIN, CT_BIAS_TAU_MAX, b->tau);
    if (!markov && b->tau != 0)
        return ct_fail(err, CT_E_NOISE, "noise model \"%s\": a %s bias has no time constant, found %g", model,
                       ct_bias_process_name(b->process), b->tau);
    if (swings && !(b->period >= CT_BIAS_TAU_MIN && b->period <= CT_BIAS_TAU_MAX))
        return ct_fail(err, CT_E_NOISE, "noise model \"%s\": the period of its bias is %g to %g, found %g", model,
                       CT_BIAS_TAU_MIN, CT_BIAS_TAU_MAX, b->period);
    if (!swings && b->period != 0)
        return ct_fail(err, CT_E_NOISE, "noise model \"%s\": a %s bias has no period, found %g", model,
                       ct_bias_process_name(b->process), b->period);
    return CT_OK;
}
