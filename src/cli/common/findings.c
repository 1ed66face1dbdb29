/* findings.c: findings of a result as JSON and as rows for people. */
#include "cli/common/findings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static json_t *text_of(const ct_finding *f)
{
    char text[CLI_FINDING_TEXT];
    ct_finding_text(f, text, sizeof text);
    return cli_text(text);
}

static json_t *subjects_json(const ct_finding *f)
{
    json_t *list = cli_array();
    for (int32_t i = 0; i < f->subjects; i++) {
        const ct_subject *s = &f->subject[i];
        json_t           *o = cli_object();
        cli_put(o, "kind", cli_text(ct_subject_kind_name(s->kind)));
        cli_put(o, "name", cli_text(s->name));
        cli_put(o, "index", s->index < 0 ? json_null() : cli_integer(s->index));
        if (s->sign) cli_put(o, "sign", cli_integer(s->sign));
        cli_append(list, o);
    }
    return list;
}

static json_t *finding_json(const ct_finding *f)
{
    const ct_finding_info *info = ct_finding_get_info(f->code);
    json_t                *o = cli_object(), *values = cli_object();
    for (int i = 0; info->value[i]; i++) cli_put(values, info->value[i], cli_number(f->value[i]));
    cli_put(o, "code", cli_text(info->name));
    cli_put(o, "severity", cli_text(ct_severity_name(info->severity)));
    cli_put(o, "topic", cli_text(ct_topic_name(info->topic)));
    cli_put(o, "subjects", subjects_json(f));
    cli_put(o, "values", values);
    cli_put(o, "text", text_of(f));
    return o;
}

json_t *cli_findings_json(const ct_findings *findings)
{
    json_t *list = cli_array();
    for (int32_t i = 0; i < findings->count; i++) cli_append(list, finding_json(&findings->item[i]));
    return list;
}

json_t *cli_findings_texts(const ct_findings *findings, ct_topic topic, int other)
{
    json_t *list = cli_array();
    for (int32_t i = 0; i < findings->count; i++)
        if ((ct_finding_get_info(findings->item[i].code)->topic == topic) != other)
            cli_append(list, text_of(&findings->item[i]));
    return list;
}

static ct_subject_kind kind_of(const json_t *subject)
{
    const char *name = json_string_value(json_object_get(subject, "kind"));
    int         kind = 0;
    while (name && kind < CT_SUBJECT_COUNT - 1 && strcmp(name, ct_subject_kind_name((ct_subject_kind)kind))) kind++;
    return (ct_subject_kind)kind;
}

static void read_one(const json_t *o, ct_findings *out)
{
    const int code = ct_finding_code_find(json_string_value(json_object_get(o, "code")));
    double    value[CT_FINDING_VALUES_MAX];
    int       n = 0;
    if (code < 0) return;
    const ct_finding_info *info = ct_finding_get_info((ct_finding_code)code);
    for (; info->value[n]; n++) {
        const json_t *number = json_object_get(json_object_get(o, "values"), info->value[n]);
        value[n] = json_is_number(number) ? json_number_value(number) : NAN;
    }
    ct_status     status = ct_findings_add(out, (ct_finding_code)code, n, value, NULL);
    const json_t *subjects = json_object_get(o, "subjects");
    for (size_t i = 0; status == CT_OK && i < json_array_size(subjects); i++) {
        const json_t *s = json_array_get(subjects, i), *index = json_object_get(s, "index");
        const char   *name = json_string_value(json_object_get(s, "name"));
        if (!name) continue;
        const int32_t at = json_is_integer(index) ? (int32_t)json_integer_value(index) : -1;
        const int     sign = (int)json_integer_value(json_object_get(s, "sign"));
        status = ct_findings_add_subject(out, kind_of(s), at, sign, name, NULL);
    }
    if (status != CT_OK) cli_check_alloc(NULL);
}

void cli_findings_read(const json_t *list, ct_findings *out)
{
    for (size_t i = 0; i < json_array_size(list); i++) read_one(json_array_get(list, i), out);
}

ct_findings cli_findings_join(const ct_findings *findings)
{
    ct_findings joined;
    if (ct_findings_join(findings, &joined, NULL) != CT_OK) cli_check_alloc(NULL);
    return joined;
}

void cli_findings_print(const char *label, const ct_findings *findings, ct_topic topic, int other, int except)
{
    ct_findings joined = cli_findings_join(findings);
    for (int32_t i = 0; i < joined.count; i++) {
        const ct_finding *f = &joined.item[i];
        char              text[CLI_FINDING_TEXT];
        if ((ct_finding_get_info(f->code)->topic == topic) == other || (int)f->code == except) continue;
        ct_finding_text(f, text, sizeof text);
        cli_row(label, "%s", text);
        label = "";
    }
    ct_findings_free(&joined);
}
