/* build_clocks.c: clocks that were set, or began again, while they recorded.
 *
 * Stamps of a sensor step by s_k, further than JUMP_S and JUMP_STEPS of its mean steps; g is the sum of these. A sensor
 * that was off for a time has such a step as well. It then ends when others do. With a clock that was set it ends g
 * later than they do, and without the steps together with them. Steps forward and back that make no sum are a clock
 * that was wrong for a time: a sensor that is off never goes back. */
#include "recipe/build.h"

#include <math.h>

#define JUMP_S      3.0  /* s */
#define JUMP_STEPS  10.0 /* mean steps */
#define ORDINARY    10   /* steps that say what is ordinary */
#define AGREE       0.1  /* of g: ends that agree           */
#define APART       0.5  /* of g: ends that do not          */

void ct__clock_note(ct__clock *clock, ct_ns stamp)
{
    const double step = ((double)stamp - (double)clock->last) * 1e-9;
    if (clock->records && fabs(step) <= JUMP_S)
        clock->ordinary_s += fabs(step), clock->ordinary++;
    else if (clock->records && clock->jumps++ < CT__JUMPS) {
        clock->jump[clock->jumps - 1] = step;
        clock->from[clock->jumps - 1] = (double)clock->last * 1e-9;
    }
    clock->last = stamp;
    clock->records++;
}

typedef struct {
    int    count, back;
    double sum, largest, smallest, from; /* s; largest, smallest: lengths */
} jumps;

/* Steps that are none of the sensor's own; 0: there are none, or steps are never even. */
static int gather(const ct__clock *clock, jumps *j)
{
    *j = (jumps){.smallest = INFINITY};
    if (clock->jumps > CT__JUMPS || clock->ordinary < ORDINARY) return 0;
    const double mean = clock->ordinary_s / (double)clock->ordinary;
    for (int i = 0; i < clock->jumps; i++) {
        const double length = fabs(clock->jump[i]);
        if (!(length > JUMP_STEPS * mean)) continue;
        if (!j->count++) j->from = clock->from[i];
        j->sum += clock->jump[i];
        j->back |= clock->jump[i] < 0;
        j->largest = fmax(j->largest, length);
        j->smallest = fmin(j->smallest, length);
    }
    return j->count;
}

/* Does it end with others without its steps, and with none of them as it is? */
static int is_set(const ct__import *imp, const ct__channel *c, const jumps *j)
{
    const double end = (double)c->clock.last * 1e-9, size = fabs(j->sum);
    int          agree = 0;
    if (!(size > JUMP_S)) return 0;
    for (int32_t i = 0; i < imp->channels; i++) {
        const ct__clock *other = &imp->channel[i].clock;
        const double     its = (double)other->last * 1e-9;
        jumps            its_jumps;
        if (c == &imp->channel[i] || other->ordinary < ORDINARY) continue;
        if (gather(other, &its_jumps) && fabs(its_jumps.sum - j->sum) < AGREE * size) continue; /* it was set, too */
        if (fabs(end - its) <= APART * size) return 0;
        agree += fabs(end - j->sum - its) < AGREE * size;
    }
    return agree > 0;
}

ct_status ct__clocks_find(ct__import *imp)
{
    const ct_recipe *recipe = imp->recipe;
    const char      *recording = imp->plan.recording[imp->r].name;
    for (int32_t i = 0; i < imp->channels; i++) {
        const ct__channel *c = &imp->channel[i];
        jumps              j;
        if (!gather(&c->clock, &j)) continue;
        const int wrong_for_a_time = c->steady && j.back && fabs(j.sum) < AGREE * j.largest;
        if (!wrong_for_a_time && !is_set(imp, c, &j)) continue;
        const double value[4] = {j.count > 1 ? j.largest : j.sum, j.count, j.from, j.smallest / 2};
        const char  *name = c->number < recipe->sensors ? recipe->sensor[c->number].name : "truth";
        CT_TRY(ct_findings_add(&imp->result.findings, CT_FINDING_CLOCK_JUMPS, 4, value, imp->err));
        CT_TRY(ct_findings_add_subject(&imp->result.findings, CT_SUBJECT_SENSOR, c->number, 1, name, imp->err));
        CT_TRY(ct_findings_add_subject(&imp->result.findings, CT_SUBJECT_SEQUENCE, imp->r, -1, recording, imp->err));
    }
    return CT_OK;
}
