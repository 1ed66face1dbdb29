/* examine.c: the doctor's examination in brief, before learning: what no covariance mends would be learned as noise. */
#include "cli/learn/learn.h"

/* A diagnosis is no condition of learning: where there is none (too little data, no truth) learning goes on. */
ct_status learn_examine(const learn_request *request, learn_job *job, ct_err *err)
{
    ct_doctor_options options = ct_doctor_defaults();
    ct_err            reason = {0};
    if (request->no_doctor || request->no_truth == 1) return CT_OK;
    options.brief = 1;
    options.threads = request->jobs;
    const ct_status status = ct_doctor_examine(job->dataset, &options, &job->diagnosis, &reason);
    if (status != CT_E_MEMORY) return CT_OK;
    *err = reason;
    return status;
}

static ct_status copy(const ct_finding *from, ct_findings *to, ct_err *err)
{
    const ct_finding_info *info = ct_finding_get_info(from->code);
    int                    values = 0;
    while (info->value[values]) values++;
    ct_status status = ct_findings_add(to, from->code, values, from->value, err);
    for (int32_t i = 0; status == CT_OK && i < from->subjects; i++) {
        const ct_subject *s = &from->subject[i];
        status = ct_findings_add_subject(to, s->kind, s->index, s->sign, s->name, err);
    }
    return status;
}

/* Learning itself looks at the frame of the truth, of whole sequences. */
static int is_said(const learn_job *job, ct_finding_code code)
{
    return code == CT_FINDING_SENSOR_IN_OTHER_FRAME &&
           ct_findings_find(&job->result.findings, CT_FINDING_TRUTH_IN_OTHER_FRAME) >= 0;
}

ct_status learn_add_diagnosis(learn_job *job, ct_err *err)
{
    const ct_findings *found = job->diagnosis ? &job->diagnosis->findings : NULL;
    ct_status          status = CT_OK;
    for (int32_t i = 0; found && status == CT_OK && i < found->count; i++) {
        const ct_finding *f = &found->item[i];
        if (ct_finding_get_info(f->code)->severity == CT_SEVERITY_INFO || is_said(job, f->code)) continue;
        status = copy(f, &job->result.findings, err);
        job->mistakes++;
    }
    return status;
}
