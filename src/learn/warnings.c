/* warnings.c: what a user of the result must know: that it is of one recording, that its gain or its variances are
 * within their errors, that it has more parameters than the data support. Each is a finding with its numbers. */
#include "learn/learn.h"

#include <math.h>
#include <stdio.h>

#define LARGE 1.0 /* standard error of a log variance: 50 % of sigma */

static ct_status warn_of_recording(ct__learning *l)
{
    const ct_outer *o = l->objective.outer;
    int32_t *group = ct__zalloc(o->count, sizeof *group), groups = 0;
    ct_status status = group ? CT_OK : ct__no_memory(l->objective.err, "sequences", o->count);
    if (status == CT_OK) status = ct__outer_groups(o, group, &groups, l->objective.err);
    free(group);
    if (status != CT_OK || groups > 1) return status;
    char name[256];
    ct_sequence_recording(o->inner[0].seq, name, sizeof name);
    CT_TRY(ct__find(l, CT_FINDING_ONE_RECORDING, CT__VALUES(o->count)));
    return ct_findings_add_subject(&l->objective.result->findings, CT_SUBJECT_SEQUENCE, 0, 0,
                                   name[0] ? name : "without a name", l->objective.err);
}

/* The chosen candidate against the start values; if those are chosen, the best of the others. */
static ct_status warn_of_gain(ct__learning *l)
{
    ct_learn_result *r = l->objective.result;
    const ct_learn_candidate *start = NULL, *other = NULL;
    double gain, error;
    char name[32];
    for (int k = 0; k < r->candidates; k++)
        if (isnan(r->candidate[k].prior)) start = &r->candidate[k];
    if (!start) return CT_OK;
    for (int k = 0; k < r->candidates; k++) {
        const ct_learn_candidate *c = &r->candidate[k];
        if (c != start && (c->chosen || (start->chosen && (!other || c->log_ratio < other->log_ratio)))) other = c;
    }
    if (!other) return CT_OK;
    gain = start->chosen ? -other->log_ratio : start->log_ratio;
    error = start->chosen ? other->log_ratio_error : start->log_ratio_error;
    if (!(gain > 0) || gain > error) return CT_OK;
    if (isinf(other->prior))
        snprintf(name, sizeof name, "%s", ct_reference_name(l->objective.outer->reference));
    else
        snprintf(name, sizeof name, "prior %g", other->prior);
    CT_TRY(ct__find(l, CT_FINDING_GAIN_WITHIN_ERROR, CT__VALUES(-100 * expm1(-gain), 100 * exp(-gain) * error)));
    return ct_findings_add_subject(&r->findings, CT_SUBJECT_CANDIDATE, -1, 0, name, l->objective.err);
}

static ct_status warn_of_error_bars(ct__learning *l)
{
    const ct_learn_result *r = l->objective.result;
    double largest = 0;
    for (int32_t i = 0; i < r->parameters; i++)
        if (ct_theta_is_scale(l->objective.outer->theta, i)) largest = fmax(largest, r->standard_error[i]);
    if (!(largest > LARGE)) return CT_OK;
    CT_TRY(ct__find(l, CT_FINDING_LARGE_ERROR_BARS, CT__VALUES(50 * largest)));
    for (int32_t i = 0; i < r->parameters; i++)
        if (ct_theta_is_scale(l->objective.outer->theta, i) && r->standard_error[i] > LARGE)
            CT_TRY(ct__find_parameter(l, i, 0));
    return CT_OK;
}

/* Every direction that the loss does not determine is a parameter too many; the common scale is not one. */
static ct_status warn_of_parameters(ct__learning *l)
{
    const ct_learn_result *r = l->objective.result;
    int undetermined = 0;
    for (int32_t i = 0; i < r->findings.count; i++) {
        const ct_finding_code code = r->findings.item[i].code;
        undetermined += code == CT_FINDING_PARAMETER_UNDETERMINED || code == CT_FINDING_PRODUCT_UNDETERMINED ||
                        code == CT_FINDING_RATIO_UNDETERMINED;
    }
    if (!undetermined) return CT_OK;
    return ct__find(l, CT_FINDING_TOO_MANY_PARAMETERS, CT__VALUES(r->parameters - undetermined, r->parameters));
}

ct_status ct__warn(ct__learning *l)
{
    CT_TRY(warn_of_recording(l));
    CT_TRY(warn_of_gain(l));
    CT_TRY(warn_of_error_bars(l));
    return warn_of_parameters(l);
}
