/* fault_table.c: rows of a regression on faults, from the samples of a sensor. */
#include "doctor/fault_table.h"

#include <math.h>

#define STEPS       8    /* of Gauss-Newton                                  */
#define SETTLED     0.02 /* standard errors                                  */
#define EFFECT      0.1  /* sigmas: a smaller error does not matter          */
#define EFFECT_STEP 0.03 /* of odometry, whose errors add up                 */

void ct__table_free(ct__table *t)
{
    free(t->r);
    free(t->D);
    free(t->w);
    free(t->run);
    free(t->group);
    free(t->room);
    free(t->from);
}

ct_status ct__table_new(ct__table *t, ct_err *err)
{
    const int64_t n = t->s->samples, rows = t->s->rows;
    t->r = ct__zalloc(n * rows, sizeof *t->r);
    t->w = ct__zalloc(n * CT_ROWS_MAX, sizeof *t->w);
    t->D = ct__zalloc(n * rows * CT_MAX(1, t->s->params), sizeof *t->D);
    t->run = ct__zalloc(n, sizeof *t->run);
    t->group = ct__zalloc(n, sizeof *t->group);
    t->room = ct__zalloc(2 * (int64_t)n, sizeof *t->room);
    t->from = ct__zalloc(n, sizeof *t->from);
    if (!t->r || !t->D || !t->w || !t->run || !t->group || !t->room || !t->from) {
        ct__table_free(t);
        *t = (ct__table){0};
        return ct__no_memory(err, "samples", n);
    }
    return CT_OK;
}

/* May parameter j be looked for? Scales of rows that are constant are none, nor biases of rows that are not measured.
 * Without turns the place of a mount does nothing to motion: where they are not measured it would explain them.
 * Where the truth does not know headings, residuals at the estimate show delays and scales of lengths alone; of sensors
 * that place the body in the world, where the truth knows positions, their frame as well. Commanded velocities are zero
 * at rest: they have no bias. */
int ct__table_open(const ct__sensor *s, int j)
{
    const ct__fault_kind kind = s->param[j].kind;
    if (s->closed[j]) return 0;
    if (kind == CT__FAULT_SCALE && (s->still[s->param[j].row] || s->held[s->param[j].row])) return 0;
    if (kind == CT__FAULT_BIAS && s->held[s->param[j].row]) return 0;
    if (kind == CT__FAULT_MOUNT && ct__turns_unseen(s) && !(ct__turns[s->pose] >> s->param[j].row & 1)) return 0;
    if (s->exact && kind == CT__FAULT_MOUNT) return 0;
    if (s->exact && kind == CT__FAULT_BIAS && !ct__row_turns(s, s->param[j].row)) return 0;
    if (!s->estimated) return 1;
    if (kind == CT__FAULT_FRAME) return s->tied && s->placed;
    return kind == CT__FAULT_DELAY || (kind == CT__FAULT_SCALE && !ct__row_turns(s, s->param[j].row));
}

/* Is the sequence one that faults are fitted to? Training sequences are. A recording without any, whose faults are
 * asked for, is taken by itself. */
static int is_fitted(const ct__table *t, const ct__exam_sequence *q)
{
    if (t->recording < 0) return q->train;
    return q->recording == t->recording && (q->train || !t->e->trained[t->recording]);
}

static void take_part(ct__table *t)
{
    const int32_t n = t->count / CT__PARTS, rows = t->s->rows;
    const int64_t wide = rows * t->s->params, first = (int64_t)n * (t->part - 1);
    t->count = n;
    memmove(t->r, t->r + first * rows, (size_t)(n * rows) * sizeof *t->r);
    memmove(t->D, t->D + first * wide, (size_t)(n * wide) * sizeof *t->D);
    memmove(t->w, t->w + first * CT_ROWS_MAX, (size_t)(n * CT_ROWS_MAX) * sizeof *t->w);
    memmove(t->run, t->run + first, (size_t)n * sizeof *t->run);
    memmove(t->from, t->from + first, (size_t)n * sizeof *t->from);
}

void ct__table_fill(ct__table *t, const ct__fault *f)
{
    const ct__sensor *s = t->s;
    t->count = 0;
    for (int32_t k = 0; k < s->samples; k++) {
        const ct__sample *q = &s->sample[k];
        const int64_t n = t->count;
        if (!is_fitted(t, &t->e->sequence[q->sequence])) continue;
        if (!ct__sample_row(t->e, s, q, f, t->r + n * s->rows, t->D + n * s->rows * s->params, t->w + n * CT_ROWS_MAX))
            continue;
        t->run[n] = q->sequence;
        t->from[n] = k;
        t->count++;
    }
    if (t->part) take_part(t);
    if (s->exact) ct__use_measured(t->e, s, f, t->count, t->from, t->D);
    for (int64_t n = 0; n < (int64_t)t->count * s->rows; n++)
        for (int j = 0; j < s->params; j++)
            if (!ct__table_open(s, j)) t->D[n * s->params + j] = 0;
    ct__group_samples(t->e, s, t->count, t->from, t->w, t->room, t->group);
}

ct__regression ct__table_regression(const ct__table *t)
{
    return (ct__regression){.samples = t->count,
                            .rows = t->s->rows,
                            .params = t->s->params,
                            .r = t->r,
                            .D = t->D,
                            .run = t->run,
                            .plain = t->s->exact,
                            .group = t->group};
}

ct__trial ct__table_trial(const ct__table *t, const ct__fit *fit)
{
    return (ct__trial){.e = t->e, .s = t->s, .fit = fit, .count = t->count, .from = t->from, .group = t->group};
}

ct_status ct__table_regress(const ct__table *t, int screen, ct__fit *fit, ct_err *err)
{
    const ct__regression g = ct__table_regression(t);
    return screen ? ct__screen(&g, fit, err) : ct__regress(&g, fit, err);
}

/* Fit the parameters in use; f <- the faults. */
ct_status ct__table_settle(ct__table *t, int screen, ct__fit *fit, ct__fault *f, ct_err *err)
{
    for (int i = 0; i < STEPS; i++) {
        double most = 0;
        ct__table_fill(t, f);
        CT_TRY(ct__table_regress(t, screen, fit, err));
        for (int j = 0; j < t->s->params; j++)
            if (fit->use[j]) most = fmax(most, fabs(fit->phi[j]) / fit->error[j]);
        const ct__trial trial = ct__table_trial(t, fit);
        if (most < SETTLED || !ct__try_step(&trial, most, f)) break;
    }
    return CT_OK;
}

double ct__least_effect(const ct__sensor *s) { return s->odometry ? EFFECT_STEP : EFFECT; }
