/* define_theta.c: the parameters of a run, from its dataset and options. */
#include "cli/learn/learn.h"

#include <stdlib.h>

/* The files give factors covariances of their own; one is learned for each group. */
static ct_status pool(const cli_io *io, const ct_theta_options *options, ct_dataset *dataset, ct_err *err)
{
    int32_t        *model, count;
    const ct_status status = ct_dataset_pool_learned(dataset, options, &model, &count, err);
    for (int32_t i = 0; i < count; i++)
        cli_remark(io,
                   "%s: the files give factors of \"%s\" covariances of their own; one is learned for all, their mean "
                   "the start",
                   dataset->path, ct_noise_get(dataset->noise, model[i])->name);
    free(model);
    return status;
}

static void remark(void *io, const char *sentence) { cli_remark(io, "%s", sentence); }

ct_status learn_theta(const cli_io *io, const learn_request *request, learn_job *job, ct_err *err)
{
    ct_theta_options options = request->theta;
    cli_io           out = *io;
    options.remark = remark;
    options.user = &out;
    ct_status status = pool(io, &options, job->dataset, err);
    if (status == CT_OK && request->noise)
        status = cli_read_noise(io, request->noise, request->path, job->dataset->noise, err);
    if (status == CT_OK) status = ct_bias_list_apply(request->bias, "--", job->dataset, err);
    if (status == CT_OK) status = ct_dataset_apply_biases(job->dataset, err);
    if (status == CT_OK) status = ct_robust_list_apply(request->robust, "--", job->dataset->noise, err);
    if (status == CT_OK) status = ct_dataset_theta(job->dataset, &options, &job->theta, err);
    return status;
}
