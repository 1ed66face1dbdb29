/* trial.c: runs and times a method on training sequences under bounds, and evaluates it on test sequences. */
#include "trial/trial.h"
#include "evaluate/evaluate.h"
#include "theta/check_noise.h"


ct_trial_options ct_trial_defaults(void)
{
    ct_trial_options options = {.outer = ct_outer_defaults(),
                                .learn = ct_learn_defaults(),
                                .test = ct_evaluate_defaults(),
                                .trace = 1};
    options.test.conditioning = 1;
    return options;
}

void ct_trial_free(ct_trial *trial)
{
    if (!trial) return;
    ct_noise_free(trial->noise);
    ct_learn_result_free(&trial->result);
    free(trial->trace);
    *trial = (ct_trial){.train = ct__summary_none(), .test = ct__summary_none()};
}

static ct_status learn(ct__tracer *tracer, ct_noise *noise, ct_trial *out, ct_err *err)
{
    ct_learn_options how = tracer->options->learn;
    how.progress = ct__tracer_progress;
    how.user = tracer;
    CT_TRY(ct_learn(tracer->outer, &how, noise, &out->result, err));
    out->seconds = ct__tracer_seconds(tracer);
    CT_TRY(ct__tracer_finish(tracer, err));
    const ct_inference inference = ct_outer_inference(&tracer->options->outer);
    return tracer->options->errors ? ct__tracer_errors(tracer, &inference, err) : CT_OK;
}

static ct_status learn_in_time(int32_t count, ct_sequence *const seq[], ct_noise *noise, const ct_theta *theta,
                               const ct_trial_options *options, ct_trial *out, ct_err *err)
{
    ct__tracer tracer = {.options = options, .result = &out->result, .start_s = ct_now_s(), .trace = options->trace};
    ct_theta  *own = NULL; /* bounds from the data are those of one method */
    CT_TRY(ct_theta_copy(theta, &own, err));
    ct_status status =
        ct_outer_new(count, (const ct_sequence *const *)seq, noise, own, &options->outer, &tracer.outer, err);
    if (status == CT_OK) status = ct_learn_default_bounds(tracer.outer, options->learn.method, own, err);
    if (status == CT_OK) status = learn(&tracer, noise, out, err);
    ct__tracer_end(&tracer, status == CT_OK ? out : NULL);
    ct_outer_free(tracer.outer);
    ct_theta_free(own);
    return status;
}

static int on_progress(void *user, int32_t done, int32_t count)
{
    const ct_trial_options *options = user;
    (void)done;
    (void)count;
    return options->cancel(options->user);
}

static ct_status run(int32_t trains, ct_sequence *const train[], int32_t tests, ct_sequence *const test[],
                     const ct_noise *noise, const ct_theta *theta, const ct_trial_options *options, ct_trial *out,
                     ct_err *err)
{
    ct_evaluate_options evaluation = options->test, outer;
    if (!evaluation.progress && options->cancel) {
        evaluation.progress = on_progress;
        evaluation.user = (void *)options;
    }
    outer = evaluation;
    outer.inference = ct_outer_inference(&options->outer);
    outer.loss = options->outer.loss;
    CT_TRY(ct_noise_copy(noise, &out->noise, err));
    CT_TRY(learn_in_time(trains, train, out->noise, theta, options, out, err));
    CT_TRY(ct_evaluate(trains, train, out->noise, &outer, NULL, &out->train, err));
    return ct_evaluate(tests, test, out->noise, &evaluation, NULL, &out->test, err);
}

ct_status ct_trial_run(int32_t trains, ct_sequence *const train[], int32_t tests, ct_sequence *const test[],
                       const ct_noise *noise, const ct_theta *theta, const ct_trial_options *options, ct_trial *out,
                       ct_err *err)
{
    *out = (ct_trial){.train = ct__summary_none(), .test = ct__summary_none()};
    const ct_status status = run(trains, train, tests, test, noise, theta, options, out, err);
    if (status != CT_OK) ct_trial_free(out);
    return status;
}

int ct_fits(const ct_noise *noise, const ct_theta *theta)
{
    double  low, high;
    if (!ct__theta_matches(theta, noise)) return 0;
    double *p = ct__zalloc(ct_theta_count(theta), sizeof *p);
    if (!p) return -1;
    ct_theta_get(theta, noise, p);
    ct_theta_scale_range(theta, p, &low, &high);
    free(p);
    return low <= high;
}
