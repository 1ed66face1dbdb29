/* finding.c: lists of findings, and the lines of CT_FINDING_LIST. */
#include <covtune/finding.h>

#include "base/base.h"

#include <math.h>

#define X(constant, name) name,
static const char *const SEVERITY[] = {CT_SEVERITY_LIST(X)};
static const char *const TOPIC[] = {CT_TOPIC_LIST(X)};
static const char *const SUBJECT[] = {CT_SUBJECT_LIST(X)};
#undef X

#define X(constant, name, severity, topic, text, ...) {name, severity, topic, text, {__VA_ARGS__}},
static const ct_finding_info INFO[] = {CT_FINDING_LIST(X)};
#undef X

static const char *at(const char *const list[], int count, int i) { return i >= 0 && i < count ? list[i] : "?"; }

const char *ct_severity_name(ct_severity severity) { return at(SEVERITY, CT_SEVERITY_COUNT, (int)severity); }
const char *ct_topic_name(ct_topic topic) { return at(TOPIC, CT_TOPIC_COUNT, (int)topic); }
const char *ct_subject_kind_name(ct_subject_kind kind) { return at(SUBJECT, CT_SUBJECT_COUNT, (int)kind); }

const ct_finding_info *ct_finding_get_info(ct_finding_code code)
{
    return (unsigned)code < CT_FINDING_COUNT ? &INFO[code] : NULL;
}

int ct_finding_code_find(const char *name)
{
    for (int i = 0; name && i < CT_FINDING_COUNT; i++)
        if (!strcmp(name, INFO[i].name)) return i;
    return -1;
}

static int count_values(ct_finding_code code)
{
    int n = 0;
    while (INFO[code].value[n]) n++;
    return n;
}

ct_status ct_findings_add(ct_findings *list, ct_finding_code code, int values, const double value[], ct_err *err)
{
    if ((unsigned)code >= CT_FINDING_COUNT)
        return ct_fail(err, CT_E_ARGUMENT, "finding %d is none; there are %d, numbered from 0", (int)code,
                       CT_FINDING_COUNT);
    if (values != count_values(code))
        return ct_fail(err, CT_E_ARGUMENT, "finding %s has %d values, found %d", INFO[code].name, count_values(code),
                       values);
    CT_TRY(ct__grow(&list->item, &list->capacity, (int64_t)list->count + 1, sizeof *list->item, "findings", err));
    ct_finding *f = &list->item[list->count++];
    *f = (ct_finding){.code = code};
    for (int i = 0; i < CT_FINDING_VALUES_MAX; i++) f->value[i] = i < values ? value[i] : NAN;
    return CT_OK;
}

ct_status ct_findings_add_subject(ct_findings *list, ct_subject_kind kind, int32_t index, int sign, const char *name,
                                  ct_err *err)
{
    if (!list->count || (unsigned)kind >= CT_SUBJECT_COUNT || !name)
        return ct_fail(err, CT_E_ARGUMENT, "a subject needs a finding, a kind and a name");
    ct_finding *f = &list->item[list->count - 1];
    CT_TRY(ct__grow(&f->subject, &f->capacity, (int64_t)f->subjects + 1, sizeof *f->subject, "subjects", err));
    char *copy = ct__strdup(name);
    if (!copy) return ct__no_memory(err, "subjects", f->subjects + 1);
    f->subject[f->subjects++] = (ct_subject){.kind = kind, .index = index, .sign = sign, .name = copy};
    return CT_OK;
}

int32_t ct_findings_find(const ct_findings *list, ct_finding_code code)
{
    for (int32_t i = 0; i < list->count; i++)
        if (list->item[i].code == code) return i;
    return -1;
}

/* Equal to two significant digits, or both NaN. */
static int same_number(double a, double b)
{
    if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
    if (a == b) return 1;
    if (!isfinite(a) || !isfinite(b) || a == 0 || b == 0) return 0;
    const double unit = pow(10, floor(log10(fabs(a))) - 1);
    return round(a / unit) == round(b / unit);
}

static int differs_in_subject_alone(const ct_finding *a, const ct_finding *b)
{
    if (a->code != b->code || a->subjects != 1 || b->subjects != 1) return 0;
    if (a->subject->kind != b->subject->kind || a->subject->sign != b->subject->sign) return 0;
    for (int i = 0; i < CT_FINDING_VALUES_MAX; i++)
        if (!same_number(a->value[i], b->value[i])) return 0;
    return 1;
}

/* The subjects of a finding, appended to the last one of a list. */
static ct_status take_subjects(ct_findings *to, const ct_finding *from, ct_err *err)
{
    for (int32_t i = 0; i < from->subjects; i++) {
        const ct_subject *s = &from->subject[i];
        CT_TRY(ct_findings_add_subject(to, s->kind, s->index, s->sign, s->name, err));
    }
    return CT_OK;
}

/* Findings `first` and later that differ from it in their subject alone. */
static ct_status join_from(const ct_findings *list, int32_t first, uint8_t *done, ct_findings *out, ct_err *err)
{
    const ct_finding *f = &list->item[first];
    CT_TRY(ct_findings_add(out, f->code, count_values(f->code), f->value, err));
    CT_TRY(take_subjects(out, f, err));
    for (int32_t k = first + 1; k < list->count; k++) {
        if (done[k] || !differs_in_subject_alone(f, &list->item[k])) continue;
        CT_TRY(take_subjects(out, &list->item[k], err));
        done[k] = 1;
    }
    return CT_OK;
}

ct_status ct_findings_join(const ct_findings *list, ct_findings *out, ct_err *err)
{
    uint8_t  *done = ct__zalloc(list->count, sizeof *done);
    ct_status status = done ? CT_OK : ct__no_memory(err, "findings", list->count);
    *out = (ct_findings){0};
    for (int32_t i = 0; status == CT_OK && i < list->count; i++)
        if (!done[i]) status = join_from(list, i, done, out, err);
    free(done);
    if (status != CT_OK) ct_findings_free(out);
    return status;
}

void ct_findings_free(ct_findings *list)
{
    if (!list) return;
    for (int32_t i = 0; i < list->count; i++) {
        for (int32_t k = 0; k < list->item[i].subjects; k++) free(list->item[i].subject[k].name);
        free(list->item[i].subject);
    }
    free(list->item);
    *list = (ct_findings){0};
}
