/* examine.c: the doctor's examination in brief, while learning goes on: what no covariance mends would be learned as
 * noise. It has a thread and a noise table of its own, and its findings are added at the end. */
#include "cli/learn/learn.h"

#include <pthread.h>
#include <stdlib.h>

struct learn_examination {
    pthread_t         thread;
    int               apart; /* it has a thread */
    ct_dataset        dataset;
    ct_doctor_options options;
    ct_diagnosis     *diagnosis;
    ct_status         status;
    ct_err            reason;
};

static void *examine(void *user)
{
    learn_examination *e = user;
    e->status = ct_doctor_examine(&e->dataset, &e->options, &e->diagnosis, &e->reason);
    return NULL;
}

ct_status learn_examine_begin(const learn_request *request, learn_job *job, ct_err *err)
{
    if (request->no_doctor || request->no_truth == 1) return CT_OK;
    learn_examination *e = job->examination = cli_alloc(1, sizeof *e);
    e->dataset = *job->dataset; /* borrows all but the table, which learning changes */
    e->dataset.noise = NULL;
    e->options = ct_doctor_defaults();
    e->options.brief = 1;
    e->options.threads = 1;
    const ct_status status = ct_noise_copy(job->dataset->noise, &e->dataset.noise, err);
    if (status != CT_OK) return status;
    e->apart = pthread_create(&e->thread, NULL, examine, e) == 0;
    if (!e->apart) examine(e);
    return CT_OK;
}

/* A diagnosis is no condition of learning: where there is none (too little data, no truth) learning goes on. */
ct_status learn_examine_end(learn_job *job, ct_err *err)
{
    learn_examination *e = job->examination;
    if (!e) return CT_OK;
    if (e->apart) pthread_join(e->thread, NULL);
    const ct_status status = e->status == CT_E_MEMORY ? ct_fail(err, e->status, "%s", e->reason.text) : CT_OK;
    job->diagnosis = e->diagnosis;
    job->examination = NULL;
    ct_noise_free(e->dataset.noise);
    free(e);
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
