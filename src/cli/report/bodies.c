/* bodies.c: the bodies of a sequence, such as an object and the finger that pushes it. Errors of both together mean
 * little, so that each has its own numbers. Lengths are in a unit that suits their size. */
#include "cli/push/contact.h"
#include "cli/report/report.h"

#include <math.h>
#include <string.h>

/* m from a decimetre on, cm from a centimetre on, else mm. */
static report_unit unit_of(double metres)
{
    if (!(metres < 0.1)) return (report_unit){1, "m"}; /* NaN */
    return metres < 0.01 ? (report_unit){1000, "mm"} : (report_unit){100, "cm"};
}

/* The name of a variable without the number at its end. */
static void stem(const ct_sequence *seq, int32_t v, char out[CT_BODY_NAME_MAX])
{
    char name[256];
    ct_graph_name(seq->graph, v, name, sizeof name);
    size_t n = strlen(name);
    while (n && name[n - 1] >= '0' && name[n - 1] <= '9') n--;
    snprintf(out, CT_BODY_NAME_MAX, "%.*s", (int)n, name);
}

void report_find_bodies(report_job *job)
{
    for (int side = BEFORE; side <= AFTER; side++) {
        job->bodies = job->overall[side].bodies;
        memcpy(job->body[side], job->overall[side].body, sizeof job->body[side]);
    }
    for (int32_t i = 0; i < job->count && !*job->object; i++) {
        contacts c = contacts_of(job->track[i].seq);
        if (c.steps) {
            stem(job->track[i].seq, c.object[0], job->object);
            stem(job->track[i].seq, c.finger[0], job->finger);
        }
        contacts_free(&c);
    }
    job->unit = unit_of(report_mean_of(job, AFTER, job->bodies > 1 && *job->object ? job->object : NULL).translation);
}

const char *report_body(const report_job *job, const char *name, char buf[64])
{
    buf[0] = 0;
    if (name)
        snprintf(buf, 64,
                 *job->object && !strcmp(name, job->object)   ? "object (%s)"
                 : *job->finger && !strcmp(name, job->finger) ? "finger (%s)"
                                                              : "poses %s",
                 name);
    return buf;
}

static ct_accuracy find(int count, const ct_body *body, const char *name)
{
    for (int k = 0; k < count; k++)
        if (!strcmp(body[k].name, name)) return body[k].accuracy;
    return (ct_accuracy){.translation = NAN, .rotation = NAN, .ape_translation = NAN};
}

ct_accuracy report_accuracy_in(const ct_evaluation *a, const char *body)
{
    if (!ct_evaluation_has_estimate(a)) return find(0, NULL, "");
    return body ? find(a->bodies, a->body, body) : a->accuracy;
}

ct_accuracy report_accuracy_of(const report_job *job, int side, int32_t i, const char *body)
{
    return report_accuracy_in(&job->of[side][i], body);
}

ct_accuracy report_mean_of(const report_job *job, int side, const char *body)
{
    const double *mean = job->mean[side];
    return body ? find(job->bodies, job->body[side], body)
                : (ct_accuracy){.translation = mean[EVAL_TRANSLATION],
                                .rotation = mean[EVAL_ROTATION],
                                .ape_translation = mean[EVAL_APE]};
}

int report_each_body(const report_job *job, const char *name[CT_BODIES_MAX])
{
    name[0] = NULL;
    for (int k = 0; job->bodies > 1 && k < job->bodies; k++) name[k] = job->body[AFTER][k].name;
    return job->bodies > 1 ? job->bodies : 1;
}

const char *report_length(const report_job *job, double metres, char buf[48])
{
    char number[32];
    snprintf(buf, 48, "%s %s", report_number(metres * job->unit.per_m, number), job->unit.name);
    return buf;
}
