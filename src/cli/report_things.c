/* report_things.c: what a run estimates may be several things, an object and the finger that pushes it. Numbers of both together say little of either, so that they are said apart; and in a unit
 * that errors have a few digits before or after the point in. */
#include "contact.h"
#include "report.h"

#include <math.h>
#include <string.h>

/* Errors of a decimetre and more are said in m, of a centimetre and more in cm. */
static report_unit unit_of(double metres)
{
    if (!(metres < 0.1)) return (report_unit){1, "m"}; /* NaN */
    return metres < 0.01 ? (report_unit){1000, "mm"} : (report_unit){100, "cm"};
}

/* The name of a variable without the number at its end. */
static void stem(const ct_sequence *seq, int32_t v, char out[CT_THING_NAME_MAX])
{
    char name[256];
    ct_graph_name(seq->graph, v, name, sizeof name);
    size_t n = strlen(name);
    while (n && name[n - 1] >= '0' && name[n - 1] <= '9') n--;
    snprintf(out, CT_THING_NAME_MAX, "%.*s", (int)n, name);
}

void report_find_things(report_job *job)
{
    for (int side = BEFORE; side <= AFTER; side++) job->things = eval_sum_things(job->of[side], job->count, job->use, job->thing[side]);
    for (int32_t i = 0; i < job->count && !*job->object; i++) {
        contacts c = contacts_of(job->track[i].seq);
        if (c.steps) {
            stem(job->track[i].seq, c.object[0], job->object);
            stem(job->track[i].seq, c.finger[0], job->finger);
        }
        contacts_free(&c);
    }
    job->unit = unit_of(report_mean_of(job, AFTER, job->things > 1 && *job->object ? job->object : NULL).translation);
}

const char *report_thing(const report_job *job, const char *name, char buf[64])
{
    buf[0] = 0;
    if (name) snprintf(buf, 64, *job->object && !strcmp(name, job->object) ? "object (%s)" : *job->finger && !strcmp(name, job->finger) ? "finger (%s)" : "poses %s", name);
    return buf;
}

static ct_accuracy find(int count, const ct_thing *thing, const char *name)
{
    for (int k = 0; k < count; k++)
        if (!strcmp(thing[k].name, name)) return thing[k].accuracy;
    return (ct_accuracy){.translation = NAN, .rotation = NAN, .ape_translation = NAN};
}

ct_accuracy report_accuracy_of(const report_job *job, int side, int32_t i, const char *thing)
{
    const ct_assessment *a = &job->of[side][i];
    if (!eval_usable(a)) return find(0, NULL, "");
    return thing ? find(a->things, a->thing, thing) : a->accuracy;
}

ct_accuracy report_mean_of(const report_job *job, int side, const char *thing)
{
    const double *mean = job->mean[side];
    return thing ? find(job->things, job->thing[side], thing) : (ct_accuracy){.translation = mean[EVAL_TRANSLATION], .rotation = mean[EVAL_ROTATION], .ape_translation = mean[EVAL_APE]};
}

int report_each_thing(const report_job *job, const char *name[CT_THINGS_MAX])
{
    name[0] = NULL;
    for (int k = 0; job->things > 1 && k < job->things; k++) name[k] = job->thing[AFTER][k].name;
    return job->things > 1 ? job->things : 1;
}

const char *report_length(const report_job *job, double metres, char buf[48])
{
    char number[32];
    snprintf(buf, 48, "%s %s", report_number(metres * job->unit.per_m, number), job->unit.name);
    return buf;
}
