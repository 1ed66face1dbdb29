/* unused_options.c: options on the command line of learn that would have no effect are refused. A config.yaml holds all
 * options, also those without effect, so it is not checked. */
#include "cli/learn/learn.h"

#include <string.h>

static const char NEEDS_INCREMENTAL[] =
    "--entry is where a new pose starts in incremental estimates; it needs --inner isam2 or --deployment isam2";
static const char NEEDS_START[] =
    "--deployment-start is where batch estimates start; isam2 uses it only with --entry motion or --entry given, and "
    "with --entry previous starts a new pose at the previous one";

/* --check-gradient evaluates derivatives once and learns nothing. */
static cli_exit check_gradient_options(const cli_io *io, int argc, char **argv)
{
    static const char *const OF_LEARNING[] = {
        "method", "from",     "iterations", "space", "samples",    "rate",             "decay", "seed",
        "M",      "gradient", "prior",      "folds", "deployment", "deployment-start", "scale", "checkpoint-every"};
    for (size_t i = 0; i < sizeof OF_LEARNING / sizeof *OF_LEARNING; i++)
        if (cli_option_given(argc, argv, OF_LEARNING[i]))
            return cli_misuse(io, "--check-gradient learns nothing: --%s has no effect on it", OF_LEARNING[i]);
    return CLI_GO;
}

/* Without truth there is no loss and no NEES. */
static cli_exit check_truthless_options(const cli_io *io, int argc, char **argv)
{
    static const char *const OF_TRUTH[] = {"scale", "scale-from", "truth-sigma", "loss", "weights", "prior", "folds"};
    for (size_t i = 0; i < sizeof OF_TRUTH / sizeof *OF_TRUTH; i++)
        if (cli_option_given(argc, argv, OF_TRUTH[i]))
            return cli_misuse(io, "--%s needs truth, and --truth none uses none; leave one of them out", OF_TRUTH[i]);
    return CLI_GO;
}

cli_exit learn_refuse_unused(const cli_io *io, learn_request *r, int argc, char **argv)
{
    const char *method = ct_learn_method_name((ct_learn_method)r->method);
    r->entry_given = cli_option_given(argc, argv, "entry");
    r->start_given = cli_option_given(argc, argv, "deployment-start");
    if (r->check_gradient) return check_gradient_options(io, argc, argv);
    if (r->no_truth == 1 && check_truthless_options(io, argc, argv) != CLI_GO) return CLI_MISUSED;
    if (cli_option_given(argc, argv, "from") && r->method == CT_LEARN_LIKELIHOOD)
        return cli_misuse(io, "--from has no effect on likelihood: it starts from the start values");
    if (cli_option_given(argc, argv, "iterations") && !ct_learn_method_get_info((ct_learn_method)r->method)->iterations)
        return cli_misuse(io, "--iterations is for methods that iterate; %s does not", method);
    if (cli_option_given(argc, argv, "gradient") && !ct_learn_method_has((ct_learn_method)r->method, CT_LEARN_GRADIENT))
        return cli_misuse(
            io, "--gradient is for methods that use derivatives of the loss, such as lm and fw; %s does not", method);
    if (cli_option_given(argc, argv, "folds") && r->folds > 0 && r->prior && strcmp(r->prior, "auto"))
        return cli_misuse(io, "--folds chooses the prior by cross-validation, and --prior %s gives it; use one of them",
                          r->prior);
    if (cli_option_given(argc, argv, "folds") && r->folds > 0 && r->from == 1)
        return cli_misuse(io, "--folds chooses the prior by cross-validation, and --from table has no prior");
    if (r->entry_given && !r->inner && !r->deployment) return cli_misuse(io, "%s", NEEDS_INCREMENTAL);
    if (r->start_given && r->deployment == 1 && r->entry == CT_ENTRY_PREVIOUS) return cli_misuse(io, "%s", NEEDS_START);
    return CLI_GO;
}

ct_status learn_check_deployment(const learn_request *r, const learn_job *job, ct_err *err)
{
    ct_inference deployment = job->options.deployment;
    if (r->deployment != CT_INFERENCE_AUTO || (!r->entry_given && !r->start_given)) return CT_OK;
    const ct_status status = ct_inference_choose(job->dataset->trains, job->dataset->train, &deployment, err);
    if (status != CT_OK) return status;
    if (r->entry_given && !r->inner && !deployment.incremental)
        return ct_fail(err, CT_E_ARGUMENT,
                       "%s; --deployment auto is batch here: measurements determine the poses of these sequences",
                       NEEDS_INCREMENTAL);
    if (r->start_given && deployment.incremental && deployment.replay.entry == CT_ENTRY_PREVIOUS)
        return ct_fail(err, CT_E_ARGUMENT,
                       "%s; --deployment auto is isam2 here: measurements do not determine the poses of these "
                       "sequences",
                       NEEDS_START);
    return CT_OK;
}
